//! The loops over windows of values, one generic body for all pairs; each is tested against [`super::rule`].
//!
//! The public face is the sealed trait [`Kernels`]: its methods are not generic, so that all 144 pairs are compiled
//! here, once, and not again in every crate that uses a table.
//! Invariant: a call that returns an error has written nothing that the caller can see.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::fast::To;
use super::rule::{Exact, Loss};
use super::{ConversionPolicy, ConversionReport, WriteRule, level};
use crate::array::{
    AnyArray, AnySlice, AnySliceMut, AnyValue, Array, Geometry, Window, WindowMut, assume_init_mut, write_copy,
};
use crate::element::{Element, ElementType, match_element, with_elements};
use crate::error::{Error, Result};
use crate::parallel;

/// Where a window lies in its table: the row and the column of its first value. Errors are reported in table positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    pub row: usize,
    pub column: usize,
}

/// What each element type can do with windows of its values.
pub trait Kernels: Sized {
    /// Converts the window, row by row, into a slice of any element type.
    fn read(window: Window<'_, Self>, target: AnySliceMut<'_>, policy: ConversionPolicy, origin: Origin) -> Result<()>;
    /// Converts the window, row by row, into a new array.
    fn to_array(
        window: Window<'_, Self>,
        target: ElementType,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<AnyArray>;
    /// Makes sure that the policy permits every value of the window in the target type.
    fn check(window: Window<'_, Self>, target: ElementType, policy: ConversionPolicy, origin: Origin) -> Result<()>;
    /// Converts a slice of any element type, row by row, into the window: all of it or nothing.
    fn write(window: WindowMut<'_, Self>, source: AnySlice<'_>, rule: WriteRule, origin: Origin) -> Result<()>;
    /// Counts what reading the window as `target` would lose.
    fn report(window: Window<'_, Self>, target: ElementType) -> ConversionReport;
    /// Converts one value of any element type.
    fn from_any(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<Self>;
}

macro_rules! implement_kernels {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {$(
        impl Kernels for $native {
            fn read(
                window: Window<'_, Self>,
                target: AnySliceMut<'_>,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<()> {
                dispatch!(AnySliceMut, target, slice => read(window, slice, policy, origin))
            }

            fn to_array(
                window: Window<'_, Self>,
                target: ElementType,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<AnyArray> {
                match_element!(target, D => Ok(AnyArray::new(to_array::<Self, D>(window, policy, origin)?)))
            }

            fn check(
                window: Window<'_, Self>,
                target: ElementType,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<()> {
                match_element!(target, D => check_all::<Self, D>(window, policy, origin))
            }

            fn write(window: WindowMut<'_, Self>, source: AnySlice<'_>, rule: WriteRule, origin: Origin) -> Result<()> {
                dispatch!(AnySlice, source, slice => write(window, slice, rule, origin))
            }

            fn report(window: Window<'_, Self>, target: ElementType) -> ConversionReport {
                report(window, Target::at_run_time(target))
            }

            fn from_any(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<Self> {
                dispatch!(AnyValue, value, value => one(value, policy, origin))
            }
        }
    )*};
}

/// `dispatch!(AnySlice, any, slice => body)`: the body, compiled for each variant.
macro_rules! dispatch {
    ((@arms $Any:ident, $any:expr, $inner:ident, $body:expr) [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        match $any { $($Any::$variant($inner) => $body,)* }
    };
    ($Any:ident, $any:expr, $inner:ident => $body:expr) => {
        with_elements! { dispatch (@arms $Any, $any, $inner, $body) }
    };
}

with_elements! { implement_kernels () }

fn one<S: Element + To<D>, D: Element>(value: S, policy: ConversionPolicy, origin: Origin) -> Result<D> {
    let mut target = [D::default()];
    read(Window::column(&[value]), &mut target, policy, origin)?;
    Ok(target[0])
}

fn read<S: Element + To<D>, D: Element>(
    window: Window<'_, S>,
    target: &mut [D],
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    let target: *mut [D] = target;
    // SAFETY: `MaybeUninit<D>` has the layout of `D`, and `fill` writes values only, so that the slice stays
    // initialised for its owner.
    fill(window, unsafe { &mut *(target as *mut [MaybeUninit<D>]) }, policy, origin)?;
    Ok(())
}

fn to_array<S: Element + To<D>, D: Element>(
    window: Window<'_, S>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<Array<D>> {
    Array::try_init(window.rows() * window.columns(), |target| fill(window, target, policy, origin))
}

/// Converts the window, row by row, into `target`, which is then initialised.
fn fill<'t, S: Element + To<D>, D: Element>(
    window: Window<'_, S>,
    target: &'t mut [MaybeUninit<D>],
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<&'t mut [D]> {
    let expected = window.rows() * window.columns();
    if target.len() != expected {
        return Err(Error::LengthMismatch { expected, found: target.len() });
    }
    check_all::<S, D>(window, policy, origin)?;
    if let Some(values) = window.as_slice() {
        parallel::for_each_chunk_mut(target, |offset, chunk| fill_from_slice(&values[offset..][..chunk.len()], chunk));
    } else if window.geometry().column_stride == 1 {
        // Not contiguous, so there are columns.
        for (row, target) in target.chunks_exact_mut(window.columns()).enumerate() {
            let Some(values) = window.row(row) else { unreachable!("a row of unit stride is a slice") };
            fill_from_slice(values, target);
        }
    } else {
        fill_in_tiles(window, target);
    }
    // SAFETY: every element was written: by the one slice, by each of the `rows` chunks of `columns` elements (a row of
    // unit stride is always a slice), or by the tiles, which cover the window.
    Ok(unsafe { assume_init_mut(target) })
}

fn fill_from_slice<S: Element + To<D>, D: Element>(values: &[S], target: &mut [MaybeUninit<D>]) {
    assert_eq!(values.len(), target.len(), "as many elements as values");
    if S::TYPE == D::TYPE {
        write_copy(target, bytemuck::cast_slice(values));
        return;
    }
    level::run(|| {
        for (target, &value) in target.iter_mut().zip(values) {
            target.write(value.to());
        }
    });
}

/// Rows and columns of a tile: as many lines of the source, and of the target, stay in the first-level cache.
const TILE: usize = 32;

/// Converts a window whose rows are not slices, tile by tile, so that each line of memory is fetched once.
fn fill_in_tiles<S: Element + To<D>, D: Element>(window: Window<'_, S>, target: &mut [MaybeUninit<D>]) {
    let (rows, columns) = (window.rows(), window.columns());
    assert_eq!(target.len(), rows * columns, "as many elements as values");
    for first_row in (0..rows).step_by(TILE) {
        for first_column in (0..columns).step_by(TILE) {
            for row in first_row..rows.min(first_row + TILE) {
                for column in first_column..columns.min(first_column + TILE) {
                    // SAFETY: both loops stay below the window's counts, and `row * columns + column` below their product,
                    // which is the length of the target.
                    unsafe {
                        let value = window.get_unchecked(row, column);
                        target.get_unchecked_mut(row * columns + column).write(value.to());
                    }
                }
            }
        }
    }
}

/// Values that are checked in one go, before anything is looked at one by one.
const CHECK_CHUNK: usize = 4096;

/// What the slow paths know of the target type. They are compiled once per source type, not once per pair.
#[derive(Clone, Copy)]
struct Target {
    element_type: ElementType,
    loss: fn(Exact) -> Loss,
}

impl Target {
    fn of<D: Element>() -> Self {
        Self { element_type: D::TYPE, loss: D::loss }
    }

    fn at_run_time(element_type: ElementType) -> Self {
        match_element!(element_type, D => Self::of::<D>())
    }

    /// What converting a value loses. Equal types lose nothing.
    fn loss<S: Element>(&self, value: S) -> Loss {
        if S::TYPE == self.element_type { Loss::None } else { (self.loss)(value.exact()) }
    }

    /// Makes sure that a policy permits a value.
    #[inline(never)]
    fn check<S: Element>(&self, value: S, policy: ConversionPolicy, row: usize, column: usize) -> Result<()> {
        if policy.permits(self.loss(value)) {
            return Ok(());
        }
        Err(Error::ValueNotRepresentable { row, column, value: value.into(), target: self.element_type })
    }
}

/// Looks for the first value, row by row, that the policy refuses.
fn check_all<S: Element + To<D>, D: Element>(
    window: Window<'_, S>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    if policy == ConversionPolicy::Saturate || S::TYPE == D::TYPE {
        return Ok(());
    }
    if let Some(values) = window.as_slice()
        && policy == ConversionPolicy::Checked
    {
        let fits = |chunk: &[S]| level::run(|| chunk.iter().fold(true, |fits, value| fits & value.fits()));
        if values.chunks(CHECK_CHUNK).all(fits) {
            return Ok(());
        }
    }
    check_each(window, Target::of::<D>(), policy, origin)
}

fn check_each<S: Element>(
    window: Window<'_, S>,
    target: Target,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    for_each_value(window, |row, column, value| target.check(value, policy, origin.row + row, origin.column + column))
}

/// Visits the values row by row, with their positions in the window, until one visit fails.
fn for_each_value<S: Element>(
    window: Window<'_, S>,
    mut visit: impl FnMut(usize, usize, S) -> Result<()>,
) -> Result<()> {
    if window.geometry().is_empty() {
        return Ok(()); // rows without columns may be too many to count
    }
    for row in 0..window.rows() {
        for column in 0..window.columns() {
            // SAFETY: both loops stay below the window's counts.
            visit(row, column, unsafe { window.get_unchecked(row, column) })?;
        }
    }
    Ok(())
}

/// Values that are written in one go: they and what they become stay in the first-level cache.
const WRITE_CHUNK: usize = 1024;

fn write<T: Element + To<U>, U: Element + To<T>>(
    window: WindowMut<'_, T>,
    source: &[U],
    rule: WriteRule,
    origin: Origin,
) -> Result<()> {
    let Geometry { rows, columns, .. } = window.geometry();
    if source.len() != rows * columns {
        return Err(Error::LengthMismatch { expected: rows * columns, found: source.len() });
    }
    if source.is_empty() {
        return Ok(());
    }
    if T::TYPE == U::TYPE {
        window.copy_from_slice(bytemuck::cast_slice(source));
        return Ok(());
    }
    let mut window = window.in_long_rows();
    if rule.policy != ConversionPolicy::Saturate {
        for chunk in chunks(window.geometry(), source) {
            check_changes(
                window.as_window().cut(chunk.row..chunk.row + 1, chunk.columns),
                chunk.values,
                rule,
                |index| {
                    let index = chunk.start + index;
                    Origin { row: origin.row + index / columns, column: origin.column + index % columns }
                },
            )?;
        }
    }
    for chunk in chunks(window.geometry(), source) {
        write_changes(window.reborrow().cut(chunk.row..chunk.row + 1, chunk.columns), chunk.values, rule);
    }
    Ok(())
}

/// A piece of a row, and the values that are to be written there.
struct Chunk<'s, U> {
    row: usize,
    columns: Range<usize>,
    values: &'s [U],
    /// Where the values begin in the source.
    start: usize,
}

fn chunks<U>(geometry: Geometry, source: &[U]) -> impl Iterator<Item = Chunk<'_, U>> {
    source.chunks_exact(geometry.columns).enumerate().flat_map(move |(row, values)| {
        values.chunks(WRITE_CHUNK).enumerate().map(move |(index, values)| {
            let first = index * WRITE_CHUNK;
            Chunk { row, columns: first..first + values.len(), values, start: row * geometry.columns + first }
        })
    })
}

/// Makes sure that the policy permits every value that will be written; `position` gives a value's place in the table.
fn check_changes<T: Element + To<U>, U: Element + To<T>>(
    old: Window<'_, T>,
    new: &[U],
    rule: WriteRule,
    position: impl Fn(usize) -> Origin,
) -> Result<()> {
    if rule.policy == ConversionPolicy::Checked
        && level::run(|| new.iter().fold(true, |fits, value| fits & value.fits()))
    {
        return Ok(());
    }
    let mut shown = [const { MaybeUninit::uninit() }; WRITE_CHUNK];
    let shown: &[U] = fill_part(old, &mut shown);
    let target = Target::of::<T>();
    for (index, (&new, shown)) in new.iter().zip(shown).enumerate() {
        if !rule.keep_unchanged || !shown.is_same(new) {
            let place = position(index);
            target.check(new, rule.policy, place.row, place.column)?;
        }
    }
    Ok(())
}

/// Writes the values of one chunk.
fn write_changes<T: Element + To<U>, U: Element + To<T>>(window: WindowMut<'_, T>, new: &[U], rule: WriteRule) {
    let mut converted = [const { MaybeUninit::uninit() }; WRITE_CHUNK];
    let converted = &mut converted[..new.len()];
    fill_from_slice(new, converted);
    // SAFETY: `fill_from_slice` has written as many values as there are in `new`.
    let converted: &[T] = unsafe { assume_init_mut(converted) };
    if !rule.keep_unchanged {
        return window.copy_from_slice(converted);
    }
    let mut shown = [const { MaybeUninit::uninit() }; WRITE_CHUNK];
    let shown: &[U] = fill_part(window.as_window(), &mut shown);
    let mut is_changed = [false; WRITE_CHUNK];
    mark_changes(shown, new, &mut is_changed);
    window.copy_marked(converted, &is_changed);
}

/// Converts one piece of a row into the beginning of `target`.
fn fill_part<'t, S: Element + To<D>, D: Element>(
    part: Window<'_, S>,
    target: &'t mut [MaybeUninit<D>; WRITE_CHUNK],
) -> &'t [D] {
    let target = &mut target[..part.rows() * part.columns()];
    match part.as_slice() {
        Some(values) => fill_from_slice(values, target),
        None => fill_in_tiles(part, target),
    }
    // SAFETY: either has written every element.
    unsafe { assume_init_mut(target) }
}

fn mark_changes<U: Element>(shown: &[U], new: &[U], is_changed: &mut [bool; WRITE_CHUNK]) {
    for ((is_changed, &new), shown) in is_changed.iter_mut().zip(new).zip(shown) {
        *is_changed = !shown.is_same(new);
    }
}

fn report<S: Element>(window: Window<'_, S>, target: Target) -> ConversionReport {
    let mut report = ConversionReport::default();
    let visited = for_each_value(window, |row, column, value| {
        let loss = target.loss(value);
        if loss != Loss::None && report.first.is_none() {
            report.first = Some((row, column));
        }
        report.count(loss);
        Ok(())
    });
    debug_assert!(visited.is_ok(), "counting cannot fail");
    report
}

#[cfg(test)]
mod tests;
