//! The loops over windows of values; each pair of element types is tested against [`Number`](crate::base::number::Number).
//!
//! All calls are plain functions over windows and slices whose element type is a value, so that they are compiled once, and
//! here: crates that use this one compile no loop, only the few instructions that lead to one where nothing can be refused.
//! * `pair`: the packed loops of each of the 144 pairs, the only thing here that is compiled for every pair;
//! * `tiles`: how a window is walked over so that no memory is fetched twice;
//! * `store`: how results reach memory;
//! * `read`, `write`, `report`: what callers ask for.
//!
//! Invariant: a call that returns an error has written nothing that the caller can see.

mod pair;
mod read;
mod report;
mod store;
mod tiles;
mod transpose;
mod write;

pub(crate) use read::{OldValues, check, read, read_over, read_rows, read_slice};
pub(crate) use report::report;
pub(crate) use write::{check_write, write, write_checked};

use std::mem::MaybeUninit;

use super::ConversionPolicy;
use crate::array::{AnyArray, Array, assume_init_mut};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::base::number::{Exact, Loss, Number};
use crate::base::value::{AnyValue, match_value};
use crate::window::{AnyRoom, AnySlice, AnySliceMut, AnyWindow, Window};

/// Where a window lies in its table: the row and the column of its first value. Errors are reported in table positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Origin {
    /// The place of a value in a window of so many columns, by its row-major index there.
    fn at(self, index: usize, columns: usize) -> Self {
        Self { row: self.row + index / columns, column: self.column + index % columns }
    }
}

/// Converts one value of any element type.
///
/// # Errors
/// The value, if the policy refuses it.
pub(crate) fn value_as<D: Element>(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<D> {
    let mut target = [D::default()];
    let any = AnySliceMut::new(&mut target);
    match_value!(value, value => read(AnyWindow::new(Window::column(&[value])), any, policy, origin))?;
    Ok(target[0])
}

/// Converts a window, row by row, into a new array.
///
/// # Errors
/// [`Error::OutOfMemory`]; the first value in row-major order that the policy refuses.
pub(crate) fn to_array(
    window: AnyWindow<'_>,
    target: ElementType,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<AnyArray> {
    match_element!(target, D => {
        let array = Array::try_init(window.rows() * window.columns(), |target: &mut [MaybeUninit<D>]| {
            read::read_into(window, AnyRoom::new(target), policy, origin, OldValues::Lost)?;
            // SAFETY: `read_into` has written every element.
            Ok(unsafe { assume_init_mut(target) })
        })?;
        Ok(AnyArray::new(array))
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
        match_element!(target, D => Self { target, loss: <D as Number>::loss })
    }

    /// What converting a value loses. Equal types lose nothing.
    fn loss<S: Element>(&self, value: S) -> Loss {
        if S::TYPE == self.target { Loss::None } else { (self.loss)(value.exact()) }
    }

    /// The first value that loses more than the policy permits, and where it stands.
    fn first_refused(&self, values: AnySlice<'_>, policy: ConversionPolicy) -> Option<(usize, AnyValue)> {
        match_element!(values.element_type(), S => {
            let mut values = values.as_slice::<S>().iter().enumerate();
            let refused = values.find(|&(_, &value)| !policy.permits(self.loss(value)));
            refused.map(|(index, &value)| (index, value.into()))
        })
    }

    /// Where the first value stands that loses anything.
    fn first_lost(&self, values: AnySlice<'_>) -> Option<usize> {
        match_element!(values.element_type(), S => {
            values.as_slice::<S>().iter().position(|&value| self.loss(value) != Loss::None)
        })
    }

    fn refusal(&self, value: AnyValue, place: Origin) -> Error {
        let Origin { row, column } = place;
        Error::ValueNotRepresentable { row, column, value, target: self.target }
    }
}

#[cfg(test)]
mod tests;
