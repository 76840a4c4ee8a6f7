//! The loops over windows of values; each pair of element types is tested against [`super::rule`].
//!
//! The public face is the sealed trait [`Kernels`]. Behind it:
//! * `pair`: the packed loops of each of the 144 pairs, the only thing here that is compiled for every pair;
//! * `erased`: slices and windows whose element type is a value, so that everything else is compiled once;
//! * `tiles`: how a window is walked over so that no memory is fetched twice;
//! * `store`: how results reach memory;
//! * `read`, `write`, `report`: what callers ask for.
//!
//! Invariant: a call that returns an error has written nothing that the caller can see.

mod erased;
mod pair;
mod read;
mod report;
mod store;
mod tiles;
mod transpose;
mod write;

use std::mem::MaybeUninit;

use self::erased::ErasedSliceMut;
use self::pair::Pair;
use self::read::Target;
use super::rule::{Exact, Loss};
use super::{ConversionPolicy, ConversionReport, WriteRule};
use crate::array::{AnyArray, AnySlice, AnySliceMut, AnyValue, Array, Window, WindowMut, assume_init_mut};
use crate::element::{Element, ElementType, match_element, with_elements};
use crate::error::{Error, Result};

/// Where a window lies in its table: the row and the column of its first value. Errors are reported in table positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    pub row: usize,
    pub column: usize,
}

impl Origin {
    /// The place of a value in a window of so many columns, by its row-major index there.
    fn at(self, index: usize, columns: usize) -> Self {
        Self { row: self.row + index / columns, column: self.column + index % columns }
    }
}

/// What each element type can do with windows of its values.
pub trait Kernels: Sized {
    /// Converts the window, row by row, into a slice of any element type.
    fn read(window: Window<'_, Self>, target: AnySliceMut<'_>, policy: ConversionPolicy, origin: Origin) -> Result<()>;
    /// Converts the window, row by row, into a slice whose old values nobody needs: on an error it holds anything.
    fn read_over(
        window: Window<'_, Self>,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<()>;
    /// Converts dense rows of so many values, as `read_over` does.
    fn read_rows_over(
        values: &[Self],
        columns: usize,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<()>;
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

/// `dispatch!(AnySlice, any, slice => body)`: the body, compiled for each variant.
macro_rules! dispatch {
    ((@arms $Any:ident, $any:expr, $inner:ident, $body:expr) [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        match $any { $($Any::$variant($inner) => $body,)* }
    };
    ($Any:ident, $any:expr, $inner:ident => $body:expr) => {
        $crate::element::with_elements! { dispatch (@arms $Any, $any, $inner, $body) }
    };
}
use dispatch;

macro_rules! implement_kernels {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {$(
        impl Kernels for $native {
            #[inline]
            fn read(
                window: Window<'_, Self>,
                target: AnySliceMut<'_>,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<()> {
                read::read(window, ErasedSliceMut::over_any(target), policy, origin, Target::Visible)
            }

            #[inline]
            fn read_over(
                window: Window<'_, Self>,
                target: AnySliceMut<'_>,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<()> {
                read::read(window, ErasedSliceMut::over_any(target), policy, origin, Target::Private)
            }

            #[inline]
            fn read_rows_over(
                values: &[Self],
                columns: usize,
                target: AnySliceMut<'_>,
                policy: ConversionPolicy,
                origin: Origin,
            ) -> Result<()> {
                read::read_rows(values, columns, ErasedSliceMut::over_any(target), policy, origin)
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
                read::check(window, Pair::of(Self::TYPE, target), policy, origin)
            }

            fn write(window: WindowMut<'_, Self>, source: AnySlice<'_>, rule: WriteRule, origin: Origin) -> Result<()> {
                write::write(window, source, rule, origin)
            }

            fn report(window: Window<'_, Self>, target: ElementType) -> ConversionReport {
                report::report(window, target)
            }

            fn from_any(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<Self> {
                dispatch!(AnyValue, value, value => one(value, policy, origin))
            }
        }
    )*};
}
with_elements! { implement_kernels () }

fn one<S: Element, D: Element>(value: S, policy: ConversionPolicy, origin: Origin) -> Result<D> {
    let mut target = [D::default()];
    read::read(Window::column(&[value]), ErasedSliceMut::over(&mut target), policy, origin, Target::Visible)?;
    Ok(target[0])
}

fn to_array<S: Element, D: Element>(
    window: Window<'_, S>,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<Array<D>> {
    Array::try_init(window.rows() * window.columns(), |target: &mut [MaybeUninit<D>]| {
        read::read(window, ErasedSliceMut::new(target), policy, origin, Target::Private)?;
        // SAFETY: `read` has written every element.
        Ok(unsafe { assume_init_mut(target) })
    })
}

/// The rule for single values with a target type that is known at run time: for errors, and whatever is rare.
#[derive(Clone, Copy)]
struct Scalar {
    target: ElementType,
    loss: fn(Exact) -> Loss,
}

impl Scalar {
    fn of(target: ElementType) -> Self {
        match_element!(target, D => Self { target, loss: <D as super::rule::Number>::loss })
    }

    /// What converting a value loses. Equal types lose nothing.
    fn loss<S: Element>(&self, value: S) -> Loss {
        if S::TYPE == self.target { Loss::None } else { (self.loss)(value.exact()) }
    }

    fn refusal<S: Element>(&self, value: S, place: Origin) -> Error {
        self.refusal_of(value.into(), place)
    }

    fn refusal_of(&self, value: AnyValue, place: Origin) -> Error {
        let Origin { row, column } = place;
        Error::ValueNotRepresentable { row, column, value, target: self.target }
    }
}

#[cfg(test)]
mod tests;
