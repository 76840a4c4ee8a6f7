//! Reading windows: conversion into row-major memory, and checks against a policy.

use std::ops::Range;

use super::interleaved::Interleaved;
use super::pair::{COUNT_CHUNK, Pair};
use super::requesting::RESULTS;
use super::store::Store;
use super::tiles::{Scratch, Tile, dense, first_in_row_order, tiles};
use super::{Origin, Scalar};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnyRows, AnySlice, AnySliceMut, AnyWindow};

/// What happens to the old values of a target if a value is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldValues {
    /// They are kept: all values are checked before the first is written.
    Kept,
    /// They may be lost: values are checked while they are converted, in one pass.
    Lost,
}

/// Converts a window, row by row, into a slice of the same length.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`]; [`ErrorKind::ValueNotRepresentable`] for the first value in row-major order that the
/// policy rejects. On an error the target is unchanged.
#[inline]
pub(crate) fn read(
    window: AnyWindow<'_>,
    target: AnySliceMut<'_>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    read_into(window, target.into_room(), policy, origin, OldValues::Kept)
}

/// Like [`read`], but on an error the target's contents are unspecified.
///
/// # Errors
/// Those of [`read`].
#[inline]
pub(crate) fn read_over(
    window: AnyWindow<'_>,
    target: AnySliceMut<'_>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    read_into(window, target.into_room(), policy, origin, OldValues::Lost)
}

/// Like [`read`], into a target that may be uninitialized. On success all of it is initialized.
///
/// # Errors
/// Those of [`read`].
#[inline]
pub(super) fn read_into(
    window: AnyWindow<'_>,
    target: AnyRoom<'_>,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    let pair = Pair::of(window.element_type(), target.element_type());
    match window.as_slice() {
        Some(values) if is_simple(values, &target) && permits_slice(pair, policy, values) => {
            match pair.needs_check(policy) && FIRST_CACHES.contains(&bytes_of(values, &target)) {
                true => pair.convert_backward(Level::chosen(), values, target),
                // SAFETY: the pair was chosen by the two types, and `is_simple` has compared the lengths.
                false => unsafe { pair.convert_unchecked(Level::chosen(), values, target) },
            }
            Ok(())
        }
        _ => read_room(window, target, pair, policy, origin, old),
    }
}

/// Like [`read_into`], for a part of a slice, as one column. Requests the memory behind a small part: the values of
/// later calls, most often. On success all of the target is initialized.
///
/// # Errors
/// Those of [`read`]. On an error the target's contents are unspecified.
pub(super) fn read_part(
    values: AnySlice<'_>,
    part: Range<usize>,
    target: AnyRoom<'_>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    let pair = Pair::of(values.element_type(), target.element_type());
    let found = values.range(part);
    if pair.needs_check(policy) || !is_simple(found, &target) {
        let column = AnyWindow::of_rows(found, found.len(), 1);
        return read_into(column, target, policy, origin, OldValues::Lost);
    }
    pair.convert_requesting(Level::chosen(), found, target);
    Ok(())
}

/// The limit in bytes on the results of [`read_few`] for values of a slice, which are not requested.
pub(crate) const FEW_OF_SLICE: usize = SIMPLE_BYTES;

/// The limit in bytes on the results of [`read_few`] for values of a table: from this size on, they may be requested.
pub(crate) const FEW_OF_TABLE: usize = RESULTS.start;

/// Converts a slice if the target has the same length, the policy permits the values, and they are few: results below
/// a limit, and if they are checked, at most [`COUNT_CHUNK`] in the first-level cache. Returns whether it did. If the
/// caller knows both types at compile time, the pair is a constant address after inlining. All other cases are for
/// [`read_column`] and [`read_rows_of`].
#[inline(always)]
pub(crate) fn read_few<const LIMIT: usize>(
    values: AnySlice<'_>,
    target: AnySliceMut<'_>,
    policy: ConversionPolicy,
) -> bool {
    let target = target.into_room();
    let pair = Pair::of(values.element_type(), target.element_type());
    let is_permitted = values.len() == target.len()
        && target.size_in_bytes() < LIMIT
        && (!pair.needs_check(policy)
            || (bytes_of(values, &target) < FIRST_CACHES.start && permits_few(pair, policy, values)));
    if is_permitted {
        // SAFETY: the pair was chosen by the two types, and the lengths are the same.
        unsafe { pair.convert_unchecked(Level::chosen(), values, target) };
    }
    is_permitted
}

/// Returns whether the policy permits every value. Returns `false` for more than [`COUNT_CHUNK`] values, which other
/// functions cut.
#[inline(always)]
fn permits_few(pair: &Pair, policy: ConversionPolicy, values: AnySlice<'_>) -> bool {
    values.len() <= COUNT_CHUNK && pair.permits(Level::chosen(), policy, values)
}

/// The numbers of bytes, read and written together, that a small first-level cache does not hold, although a check
/// leaves many of the values there.
const FIRST_CACHES: Range<usize> = (32 << 10) + 1..(64 << 10) + 1;

/// Returns the number of bytes that a conversion reads and writes.
#[inline(always)]
fn bytes_of(values: AnySlice<'_>, target: &AnyRoom<'_>) -> usize {
    values.len() * values.element_type().size_in_bytes() + target.size_in_bytes() // cannot overflow: the memory exists
}

/// Converts a slice as one column: many values, or values that the policy may reject.
///
/// # Errors
/// Those of [`read`]. Positions are indices, as rows of a single column.
#[inline(never)]
pub(crate) fn read_column(values: AnySlice<'_>, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
    let column = AnyWindow::of_rows(values, values.len(), 1);
    read_into(column, target.into_room(), policy, Origin::default(), OldValues::Kept)
}

/// Converts a window into rows of its shape.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] for the first value in row-major order that the policy rejects.
#[inline(always)]
pub(crate) fn read_rows(
    window: AnyWindow<'_>,
    target: AnyRows<'_>,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    let pair = Pair::of(window.element_type(), target.element_type());
    if let Some(values) = window.as_slice()
        && target.is_contiguous()
    {
        let target = target.into_room();
        if is_simple(values, &target) && !pair.needs_check(policy) {
            // SAFETY: the pair was chosen by the two types, and `is_simple` has compared the lengths.
            unsafe { pair.convert_unchecked(Level::chosen(), values, target) };
            return Ok(());
        }
        return read_contiguous(window, values, target, pair, policy, origin, old);
    }
    read_window(window, target, pair, policy, origin, old)
}

/// Like [`read_rows`], for a part of a table that has memory of the given size in bytes. If the second-level cache does
/// not hold that, values are requested where that takes less time.
///
/// # Errors
/// Those of [`read_rows`].
#[inline(always)]
pub(crate) fn read_rows_of(
    memory: impl FnOnce() -> usize,
    window: AnyWindow<'_>,
    target: AnyRows<'_>,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    let pair = Pair::of(window.element_type(), target.element_type());
    if pair.is_requested(policy, target.size_in_bytes(), memory)
        && let Some(values) = window.as_slice()
        && target.is_contiguous()
        && values.len() == target.rows() * target.columns()
    {
        pair.convert_requesting(Level::chosen(), values, target.into_room());
        return Ok(());
    }
    read_rows(window, target, policy, origin, old)
}

/// Adds a window of few columns to others that are converted together, into some columns of their target. Returns
/// `false` if it did nothing, because a value might be refused, or another loop is faster.
#[inline]
pub(crate) fn read_narrow<'a>(
    window: AnyWindow<'a>,
    columns: Range<usize>,
    policy: ConversionPolicy,
    together: &mut Interleaved<'a>,
) -> bool {
    let pair = Pair::of(window.element_type(), together.element_type());
    let store = Store { pair, policy, level: Level::chosen(), is_streaming: false };
    let is_narrow = store.is_by_value(window.geometry());
    if is_narrow {
        together.push(window, columns);
    }
    is_narrow
}

#[inline(never)]
fn read_contiguous(
    window: AnyWindow<'_>,
    values: AnySlice<'_>,
    mut target: AnyRoom<'_>,
    pair: &Pair,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    if is_simple(values, &target) {
        let store = Store { pair, policy, level: Level::chosen(), is_streaming: false };
        let is_put = match old {
            OldValues::Lost => store.put(values, target.reborrow()),
            OldValues::Kept => {
                permits_slice(pair, policy, values)
                    && Store { policy: ConversionPolicy::Saturate, ..store }.put(values, target.reborrow())
            }
        };
        if is_put {
            return Ok(());
        }
    }
    read_room(window, target, pair, policy, origin, old)
}

/// Results below this size in bytes are not cut into tasks or stored past the cache.
const SIMPLE_BYTES: usize = 64 << 10;

/// Returns whether the call is too small to be cut into tasks or stored past the cache, as most calls are.
#[inline(always)]
fn is_simple(values: AnySlice<'_>, target: &AnyRoom<'_>) -> bool {
    values.len() == target.len() && target.size_in_bytes() < SIMPLE_BYTES
}

/// Returns whether the policy permits every value.
#[inline]
fn permits_slice(pair: &Pair, policy: ConversionPolicy, values: AnySlice<'_>) -> bool {
    !pair.needs_check(policy)
        || (0..values.len()).step_by(COUNT_CHUNK).all(|start| {
            let chunk = values.range(start..values.len().min(start + COUNT_CHUNK));
            pair.permits(Level::chosen(), policy, chunk)
        })
}

#[inline(never)]
fn read_room(
    window: AnyWindow<'_>,
    target: AnyRoom<'_>,
    pair: &Pair,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    let expected = window.rows() * window.columns();
    if target.len() != expected {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: target.len() }));
    }
    read_window(window, AnyRows::new(target, window.rows(), window.columns()), pair, policy, origin, old)
}

#[inline(never)]
fn read_window(
    window: AnyWindow<'_>,
    target: AnyRows<'_>,
    pair: &Pair,
    policy: ConversionPolicy,
    origin: Origin,
    old: OldValues,
) -> Result<()> {
    if !pair.needs_check(policy) {
        convert_window(window, target, pair, ConversionPolicy::Saturate);
    } else if old == OldValues::Kept {
        check_pair(window, pair, policy, origin)?;
        convert_window(window, target, pair, ConversionPolicy::Saturate);
    } else if !convert_window(window, target, pair, policy) {
        return Err(first_refused(window, pair, policy, origin));
    }
    Ok(())
}

/// Checks that the policy permits every value of a window in the target type.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] for the first value in row-major order that the policy rejects.
pub(crate) fn check(
    window: AnyWindow<'_>,
    target: ElementType,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    check_pair(window, Pair::of(window.element_type(), target), policy, origin)
}

fn check_pair(window: AnyWindow<'_>, pair: &Pair, policy: ConversionPolicy, origin: Origin) -> Result<()> {
    let is_permitted = !pair.needs_check(policy) || permits_window(window, pair, policy);
    if is_permitted { Ok(()) } else { Err(first_refused(window, pair, policy, origin)) }
}

/// A window, and the rows that it is converted into.
struct Transfer<'s, 't> {
    source: AnyWindow<'s>,
    target: AnyRows<'t>,
}

impl<'s, 't> Transfer<'s, 't> {
    /// Cuts across the longer side.
    fn cut(self, tasks: usize) -> Vec<Self> {
        let (is_tall, length) = (self.source.is_tall(), self.source.length());
        parallel::cut(self, length, tasks, |rest, length| {
            let (source, source_rest) = rest.source.split_at(is_tall, length);
            let (target, target_rest) = rest.target.split_at(is_tall, length);
            (Self { source, target }, Self { source: source_rest, target: target_rest })
        })
    }
}

/// Converts a window into rows of its shape. Large windows are converted in parallel. Returns whether the policy
/// permits every value.
pub(super) fn convert_window(
    window: AnyWindow<'_>,
    target: AnyRows<'_>,
    pair: &Pair,
    policy: ConversionPolicy,
) -> bool {
    assert!(window.rows() == target.rows() && window.columns() == target.columns(), "the shapes are the same");
    let level = Level::chosen();
    let result_bytes = target.size_in_bytes();
    let bytes = window.size_in_bytes() + result_bytes;
    let part = if target.is_contiguous() {
        let source = window.in_long_rows();
        Transfer { source, target: AnyRows::new(target.into_room(), source.rows(), source.columns()) }
    } else {
        Transfer { source: window, target }
    };
    let is_streaming = Store::is_worth_streaming(part.source.geometry(), result_bytes);
    let store = Store { pair, policy, level, is_streaming };
    match parallel::task_count(bytes) {
        1 => transfer_all(part, &store),
        tasks => parallel::map(part.cut(tasks), |part| transfer_all(part, &store)).into_iter().all(|fits| fits),
    }
}

fn transfer_all(part: Transfer<'_, '_>, store: &Store<'_>) -> bool {
    let Transfer { source, mut target } = part;
    let mut fits = true;
    if let (Some(values), true) = (source.as_slice(), target.is_contiguous()) {
        let level = store.pair.level_for(values, store.level);
        fits &= Store { level, ..*store }.put(values, target.into_room());
    } else if store.is_by_value(source.geometry()) {
        store.pair.convert_narrow(source, target);
    } else if source.rows() == 1 && store.is_by_value(source.transposed().geometry()) {
        let (room, count) = (target.into_room(), source.columns());
        store.pair.convert_narrow(source.transposed(), AnyRows::new(room, count, 1)); // one column, as one long row
    } else {
        let mut scratch = Scratch::new();
        for tile in tiles(source.geometry(), Scratch::capacity(source.element_type())) {
            let values = dense(source.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
            fits &= store.put_rows(values, &mut target.cut(tile.rows, tile.columns));
        }
    }
    store.finish();
    fits
}

/// Returns whether the policy permits every value of a window. Large windows are checked in parallel.
pub(super) fn permits_window(window: AnyWindow<'_>, pair: &Pair, policy: ConversionPolicy) -> bool {
    let level = Level::chosen();
    let permits = |part: AnyWindow<'_>| {
        let mut scratch = Scratch::new();
        tiles(part.geometry(), Scratch::capacity(part.element_type())).all(|tile| {
            let values = dense(part.cut(tile.rows, tile.columns), &mut scratch);
            pair.permits(level, policy, values)
        })
    };
    let window = window.in_long_rows();
    match parallel::task_count(window.size_in_bytes()) {
        1 => permits(window),
        tasks => parallel::map(window.parts(tasks), |part| permits(part.window)).into_iter().all(|fits| fits),
    }
}

/// Returns the error for the first value in row-major order that the policy rejects. There must be one.
#[cold]
fn first_refused(window: AnyWindow<'_>, pair: &Pair, policy: ConversionPolicy, origin: Origin) -> Error {
    let level = Level::chosen();
    let (scalar, columns) = (Scalar::of(pair.target()), window.columns());
    let window = window.in_long_rows();
    let mut scratch = Scratch::new();
    let find = |tile: &Tile| {
        let values = dense(window.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
        if pair.permits(level, policy, values) { None } else { scalar.first_refused(values, policy) }
    };
    match first_in_row_order(window.geometry(), Scratch::capacity(window.element_type()), find) {
        Some((index, value)) => scalar.refusal(value, origin.at(index, columns)),
        None => unreachable!("a packed loop refuses what the rule permits"),
    }
}
