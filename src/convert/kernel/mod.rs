//! The loops over windows of values. Every pair of element types is tested against
//! [`Number`](crate::base::number::Number).
//!
//! All calls are functions over windows and slices whose element type is known only at run time. They are compiled
//! once, in this crate; crates that use it compile no loops.
//! * `pair`: the vectorized loops, the only code here that is compiled for each of the 144 pairs;
//! * `records`: whole records of several types as rows of `f64`, for processors with AVX-512;
//! * `tiles`: the order of reading a window, which fetches memory only once;
//! * `store`: how results are written to memory;
//! * `read`, `write`, `few`, `beside`, `gaps`, `report`: the calls for other modules.
//!
//! Invariant: a call that returns an error has not written anything that is visible to the caller.

mod beside;
mod few;
mod gaps;
mod interleaved;
mod pair;
mod read;
#[cfg(target_arch = "x86_64")]
mod records;
mod register_tiles;
mod report;
mod requesting;
mod store;
mod tiles;
mod transpose;
mod write;

pub(crate) use beside::{
    are_read_together, are_written_together, permits_beside, read_beside, read_lines, read_together, write_beside,
};
pub(crate) use few::FewPairs;
pub(crate) use gaps::{mark_nan, overlay_missing};
pub(crate) use interleaved::Interleaved;
pub(crate) use read::{
    FEW_OF_SLICE, FEW_OF_TABLE, OldValues, check, read, read_column, read_few, read_narrow, read_over, read_rows,
    read_rows_of,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use records::RecordLoop;
pub(crate) use report::report;
pub(crate) use transpose::{Columns, TOGETHER};
pub(crate) use write::{check_write, write, write_checked};

use std::mem::MaybeUninit;
use std::ops::Range;

use super::ConversionPolicy;
use crate::array::{AnyArray, Array, assume_init_mut};
use crate::base::element::{Element, ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::number::{Exact, Loss, Number};
use crate::base::value::{AnyValue, match_value};
use crate::window::{AnyRoom, AnySlice, AnySliceMut, AnyWindow, Window};

/// The position of a window in its table: the row and the column of its first value. Errors report table positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Origin {
    /// Returns the table position of the value with row-major index `index` in a window of `columns` columns.
    fn at(self, index: usize, columns: usize) -> Self {
        Self { row: self.row + index / columns, column: self.column + index % columns }
    }
}

/// Converts one value of any element type.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] if the policy rejects the value.
pub(crate) fn value_as<D: Element>(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<D> {
    let mut target = [D::default()];
    let any = AnySliceMut::new(&mut target);
    match_value!(value, value => read(AnyWindow::new(Window::column(&[value])), any, policy, origin))?;
    Ok(target[0])
}

/// Converts a window, row by row, into a new array.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`]; [`ErrorKind::ValueNotRepresentable`] for the first value in row-major order that the
/// policy rejects.
pub(crate) fn to_array(
    window: AnyWindow<'_>,
    target: ElementType,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<AnyArray> {
    let count = window.rows() * window.columns();
    // SAFETY: `read_into` writes every element.
    unsafe { new_array(count, target, |room| read::read_into(window, room, policy, origin, OldValues::Lost)) }
}

/// Like [`to_array`], for a part of a slice. Meanwhile requests the memory behind it, a few lines at a time.
///
/// # Errors
/// Those of [`to_array`].
pub(crate) fn part_to_array(
    values: AnySlice<'_>,
    part: Range<usize>,
    target: ElementType,
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<AnyArray> {
    // SAFETY: `read_part` writes every element.
    unsafe { new_array(part.len(), target, |room| read::read_part(values, part, room, policy, origin)) }
}

/// Creates an array of values that `read` writes.
///
/// # Safety
/// If `read` succeeds, it has written every element.
unsafe fn new_array(
    count: usize,
    target: ElementType,
    read: impl FnOnce(AnyRoom<'_>) -> Result<()>,
) -> Result<AnyArray> {
    match_element!(target, D => {
        let array = Array::try_init(count, |target: &mut [MaybeUninit<D>]| {
            read(AnyRoom::new(target))?;
            // SAFETY: the caller's promise.
            Ok(unsafe { assume_init_mut(target) })
        })?;
        Ok(AnyArray::new(array))
    })
}

/// The rule for single values with a target type known only at run time, for errors and rare cases.
#[derive(Clone, Copy)]
struct Scalar {
    target: ElementType,
    loss: fn(Exact) -> Loss,
}

impl Scalar {
    fn of(target: ElementType) -> Self {
        match_element!(target, D => Self { target, loss: <D as Number>::loss })
    }

    /// Returns the loss of converting a value. Equal types lose nothing.
    fn loss<S: Element>(&self, value: S) -> Loss {
        if S::TYPE == self.target { Loss::None } else { (self.loss)(value.exact()) }
    }

    /// Returns the first value that loses more than the policy permits, and its index.
    fn first_refused(&self, values: AnySlice<'_>, policy: ConversionPolicy) -> Option<(usize, AnyValue)> {
        match_element!(values.element_type(), S => {
            let mut values = values.as_slice::<S>().iter().enumerate();
            let refused = values.find(|&(_, &value)| !policy.permits(self.loss(value)));
            refused.map(|(index, &value)| (index, value.into()))
        })
    }

    /// Returns the index of the first value with a loss.
    fn first_lost(&self, values: AnySlice<'_>) -> Option<usize> {
        match_element!(values.element_type(), S => {
            values.as_slice::<S>().iter().position(|&value| self.loss(value) != Loss::None)
        })
    }

    fn refusal(&self, value: AnyValue, place: Origin) -> Error {
        let Origin { row, column } = place;
        Error::not_representable(row, column, value, self.target)
    }
}

#[cfg(test)]
mod tests;
