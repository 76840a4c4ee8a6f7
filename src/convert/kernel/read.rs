//! From a window into row-major memory: the conversion itself, and making sure that a policy permits it.

use super::erased::{ErasedRowsMut, ErasedSlice, ErasedSliceMut, ErasedWindow};
use super::pair::{COUNT_CHUNK, Pair};
use super::store::Store;
use super::tiles::{Scratch, dense, tiles};
use super::{Origin, Scalar};
use crate::array::{Geometry, Window};
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::parallel;

/// What the target is to the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Memory that others see: if a value is refused it stays as it was, so that all are looked at before any is written.
    Visible,
    /// Memory that nobody looks at after an error: values are looked at as they are converted, in one pass.
    Private,
}

/// Converts a window, row by row, into a target of as many elements; all of them are initialised then.
///
/// # Errors
/// [`Error::LengthMismatch`]; the first value in row-major order that the policy refuses.
#[inline]
pub(super) fn read<S: Element>(
    window: Window<'_, S>,
    target: ErasedSliceMut<'_>,
    policy: ConversionPolicy,
    origin: Origin,
    kind: Target,
) -> Result<()> {
    let pair = Pair::of(S::TYPE, target.element());
    match window.as_slice() {
        Some(values) if is_simple(ErasedSlice::new(values), &target) && permits_slice(pair, policy, values) => {
            // SAFETY: the pair was chosen by the two types, and `is_simple` has compared the lengths.
            unsafe { pair.convert_unchecked(Level::chosen(), ErasedSlice::new(values), target) };
            Ok(())
        }
        _ => read_window(window, target, pair, policy, origin, kind),
    }
}

/// Converts dense rows as [`read`] converts a window, and abandons the target on an error.
#[inline]
pub(super) fn read_rows<S: Element>(
    values: &[S],
    columns: usize,
    mut target: ErasedSliceMut<'_>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    let pair = Pair::of(S::TYPE, target.element());
    let erased = ErasedSlice::new(values);
    if is_simple(erased, &target) {
        if !pair.needs_check(policy) {
            // SAFETY: the pair was chosen by the two types, and `is_simple` has compared the lengths.
            unsafe { pair.convert_unchecked(Level::chosen(), erased, target) };
            return Ok(());
        }
        let store = Store { pair, policy, level: Level::chosen(), is_streaming: false };
        if store.put(erased, target.reborrow()) {
            return Ok(());
        }
    }
    let rows = values.len().checked_div(columns).unwrap_or(0);
    let geometry = Geometry { rows, columns, row_stride: columns, column_stride: 1 };
    match Window::new(values, geometry) {
        Some(window) => read_window(window, target, pair, policy, origin, Target::Private),
        None => unreachable!("whole rows"),
    }
}

/// Tells whether there is nothing to cut or to walk over: so are by far the most calls.
#[inline(always)]
fn is_simple(values: ErasedSlice<'_>, target: &ErasedSliceMut<'_>) -> bool {
    const SIMPLE_BYTES: usize = 64 << 10;
    values.count() == target.count() && target.size_in_bytes() < SIMPLE_BYTES
}

/// Tells whether the policy permits every value.
#[inline]
fn permits_slice<S: Element>(pair: &Pair, policy: ConversionPolicy, values: &[S]) -> bool {
    let permits = |chunk| pair.permits(Level::chosen(), policy, ErasedSlice::new(chunk));
    !pair.needs_check(policy) || values.chunks(COUNT_CHUNK).all(permits)
}

#[inline(never)]
fn read_window<S: Element>(
    window: Window<'_, S>,
    target: ErasedSliceMut<'_>,
    pair: &Pair,
    policy: ConversionPolicy,
    origin: Origin,
    kind: Target,
) -> Result<()> {
    let expected = window.rows() * window.columns();
    if target.count() != expected {
        return Err(Error::LengthMismatch { expected, found: target.count() });
    }
    let erased = ErasedWindow::new(window);
    if !pair.needs_check(policy) {
        convert_window(erased, target, pair, ConversionPolicy::Saturate);
    } else if kind == Target::Visible {
        check(window, pair, policy, origin)?;
        convert_window(erased, target, pair, ConversionPolicy::Saturate);
    } else if !convert_window(erased, target, pair, policy) {
        return Err(first_refused(window, pair, policy, origin));
    }
    Ok(())
}

/// Makes sure that the policy permits every value of a window.
///
/// # Errors
/// The first value in row-major order that it refuses.
pub(super) fn check<S: Element>(
    window: Window<'_, S>,
    pair: &Pair,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    let is_permitted = !pair.needs_check(policy) || permits_window(ErasedWindow::new(window), pair, policy);
    if is_permitted { Ok(()) } else { Err(first_refused(window, pair, policy, origin)) }
}

/// A window, and the rows that it becomes.
struct Piece<'s, 't> {
    source: ErasedWindow<'s>,
    target: ErasedRowsMut<'t>,
}

impl<'s, 't> Piece<'s, 't> {
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

/// Converts a window, row by row, in parallel if it is large. Tells whether the policy permits every value.
fn convert_window(window: ErasedWindow<'_>, target: ErasedSliceMut<'_>, pair: &Pair, policy: ConversionPolicy) -> bool {
    let level = Level::chosen();
    let result_bytes = target.size_in_bytes();
    let bytes = window.size_in_bytes() + result_bytes;
    let window = window.in_long_rows();
    let piece = Piece { source: window, target: ErasedRowsMut::new(target, window.rows(), window.columns()) };
    let is_streaming = Store::is_worth_streaming(window.geometry(), result_bytes);
    let store = Store { pair, policy, level, is_streaming };
    match parallel::task_count(bytes) {
        1 => convert_piece(piece, &store),
        tasks => parallel::map(piece.cut(tasks), |piece| convert_piece(piece, &store)).into_iter().all(|fits| fits),
    }
}

fn convert_piece(piece: Piece<'_, '_>, store: &Store<'_>) -> bool {
    let Piece { source, mut target } = piece;
    let mut fits = true;
    if let (Some(values), true) = (source.as_slice(), target.is_contiguous()) {
        fits &= store.put(values, target.as_slice_mut());
    } else {
        let mut scratch = Scratch::new();
        for tile in tiles(source.geometry(), Scratch::capacity(source.element())) {
            let values = dense(source.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
            fits &= store.put_rows(values, &mut target.cut(tile.rows, tile.columns));
        }
    }
    store.finish();
    fits
}

/// Tells whether the policy permits every value of a window; in parallel if it is large.
pub(super) fn permits_window(window: ErasedWindow<'_>, pair: &Pair, policy: ConversionPolicy) -> bool {
    let level = Level::chosen();
    let permits = |part: ErasedWindow<'_>| {
        let mut scratch = Scratch::new();
        tiles(part.geometry(), Scratch::capacity(part.element())).all(|tile| {
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

/// Looks for the first value in row-major order that the policy refuses; there is one.
#[cold]
fn first_refused<S: Element>(window: Window<'_, S>, pair: &Pair, policy: ConversionPolicy, origin: Origin) -> Error {
    let level = Level::chosen();
    let (scalar, columns) = (Scalar::of(pair.target()), window.columns());
    let window = ErasedWindow::new(window).in_long_rows();
    let chunk = Scratch::capacity(S::TYPE);
    let (mut scratch, mut row_scratch) = (Scratch::new(), Scratch::new());
    for tile in tiles(window.geometry(), chunk) {
        let values = dense(window.cut(tile.rows.clone(), tile.columns.clone()), &mut scratch);
        if pair.permits(level, policy, values) {
            continue;
        }
        // Somewhere in this band of rows, but not left of the tile: all of that has been looked at.
        for row in tile.rows {
            for column in (tile.columns.start..window.columns()).step_by(chunk) {
                let end = window.columns().min(column + chunk);
                let values = dense(window.cut(row..row + 1, column..end), &mut row_scratch);
                let mut values = values.as_slice::<S>().iter().copied().enumerate();
                if let Some((index, value)) = values.find(|&(_, value)| !policy.permits(scalar.loss(value))) {
                    return scalar.refusal(value, origin.at(row * window.columns() + column + index, columns));
                }
            }
        }
    }
    unreachable!("a packed loop refuses what the rule permits")
}
