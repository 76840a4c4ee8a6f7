//! The loops over windows of values, one generic body for all pairs; each is tested against [`super::rule`].
//!
//! The public face is the sealed trait [`Kernels`]: its methods are not generic, so that all 144 pairs are compiled
//! here, once, and not again in every crate that uses a table.
//! Invariant: a call that returns an error has written nothing that the caller can see.

use std::mem::MaybeUninit;

use super::rule::{self, Loss};
use super::{ConversionPolicy, ConversionReport, WriteRule};
use crate::array::{AnyArray, AnySlice, AnySliceMut, AnyValue, Array, Window, WindowMut, assume_init_mut, write_copy};
use crate::element::{Element, ElementType, match_element, with_elements};
use crate::error::{Error, Result};

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
                match_element!(target, D => report::<Self, D>(window))
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

fn one<S: Element, D: Element>(value: S, policy: ConversionPolicy, origin: Origin) -> Result<D> {
    let mut target = [D::default()];
    read(Window::column(&[value]), &mut target, policy, origin)?;
    Ok(target[0])
}

pub(super) fn read<S: Element, D: Element>(
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

fn to_array<S: Element, D: Element>(
    window: Window<'_, S>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<Array<D>> {
    Array::try_init(window.rows() * window.columns(), |target| fill(window, target, policy, origin))
}

/// Converts the window, row by row, into `target`, which is then initialised.
fn fill<'t, S: Element, D: Element>(
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
        fill_from_slice(values, target);
    } else {
        // Not contiguous, so there are columns.
        for (row, target) in target.chunks_exact_mut(window.columns()).enumerate() {
            match window.row(row) {
                Some(values) => fill_from_slice(values, target),
                None => fill_from_row(window, row, target),
            }
        }
    }
    // SAFETY: every element was written: by the one slice, or by each of the `rows` chunks of `columns` elements.
    Ok(unsafe { assume_init_mut(target) })
}

fn fill_from_slice<S: Element, D: Element>(values: &[S], target: &mut [MaybeUninit<D>]) {
    if S::TYPE == D::TYPE {
        write_copy(target, bytemuck::cast_slice(values));
        return;
    }
    for (target, &value) in target.iter_mut().zip(values) {
        target.write(rule::convert(value));
    }
}

fn fill_from_row<S: Element, D: Element>(window: Window<'_, S>, row: usize, target: &mut [MaybeUninit<D>]) {
    assert!(row < window.rows() && target.len() <= window.columns());
    for (column, target) in target.iter_mut().enumerate() {
        // SAFETY: `row` is below the rows, and `column` below the columns, by the assertion above.
        let value = unsafe { window.get_unchecked(row, column) };
        target.write(super::cast(value));
    }
}

/// Looks for the first value, row by row, that the policy refuses.
fn check_all<S: Element, D: Element>(window: Window<'_, S>, policy: ConversionPolicy, origin: Origin) -> Result<()> {
    if policy == ConversionPolicy::Saturate || S::TYPE == D::TYPE {
        return Ok(());
    }
    for_each_value(window, |row, column, value| check::<S, D>(value, policy, origin, row, column))
}

fn check<S: Element, D: Element>(
    value: S,
    policy: ConversionPolicy,
    origin: Origin,
    row: usize,
    column: usize,
) -> Result<()> {
    if policy.permits(rule::loss::<S, D>(value)) {
        return Ok(());
    }
    Err(Error::ValueNotRepresentable {
        row: origin.row + row,
        column: origin.column + column,
        value: value.into(),
        target: D::TYPE,
    })
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

fn write<T: Element, U: Element>(
    mut window: WindowMut<'_, T>,
    source: &[U],
    rule: WriteRule,
    origin: Origin,
) -> Result<()> {
    let (rows, columns) = (window.rows(), window.columns());
    if source.len() != rows * columns {
        return Err(Error::LengthMismatch { expected: rows * columns, found: source.len() });
    }
    if source.is_empty() {
        return Ok(());
    }
    let is_written =
        |old: T, new: U| T::TYPE == U::TYPE || !rule.keep_unchanged || !rule::convert::<T, U>(old).is_same(new);
    if rule.policy != ConversionPolicy::Saturate && T::TYPE != U::TYPE {
        for_each_value(window.as_window(), |row, column, old| {
            let new = source[row * columns + column];
            if is_written(old, new) { check::<U, T>(new, rule.policy, origin, row, column) } else { Ok(()) }
        })?;
    }
    for (row, values) in source.chunks_exact(columns).enumerate() {
        for (column, &new) in values.iter().enumerate() {
            // SAFETY: there are `rows` chunks of `columns` values each: the length was checked above.
            unsafe {
                if is_written(window.as_window().get_unchecked(row, column), new) {
                    window.set_unchecked(row, column, super::cast(new));
                }
            }
        }
    }
    Ok(())
}

fn report<S: Element, D: Element>(window: Window<'_, S>) -> ConversionReport {
    let mut report = ConversionReport::default();
    let visited = for_each_value(window, |row, column, value| {
        let loss = rule::loss::<S, D>(value);
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
