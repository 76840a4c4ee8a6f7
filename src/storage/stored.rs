//! A buffer for values in a file's element type that are converted to another type.
//!
//! Compiled once for each stored type, not for each pair of types: the target's type is a run-time value.

use super::byte_order::swap_if_big_endian;
use crate::array::Array;
use crate::base::element::{ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::window::{AnySliceMut, AnyWindow, Geometry, Window};

/// A reusable buffer for values of one element type.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Memory allocated by the library, which is aligned for every element type.
    memory: Array<u8>,
    element_type: ElementType,
}

impl Stored {
    pub(crate) const fn new(element_type: ElementType) -> Self {
        Self { memory: Array::new(), element_type }
    }

    /// Borrows the bytes of `count` values, and allocates more memory if needed.
    pub(crate) fn room(&mut self, count: usize) -> Result<&mut [u8]> {
        let shape = Shape { rows: count, columns: 1 };
        let bytes = shape.element_count_of(self.element_type)? * self.element_type.size_in_bytes();
        if self.memory.len() < bytes {
            self.memory = Array::new(); // frees the old memory first, so that both never exist at once
            self.memory = Array::zeros(bytes)?;
        }
        if bytes == 0 { Ok(&mut []) } else { Ok(&mut self.memory.mutable_data()?[..bytes]) }
    }

    /// Converts values, whose bytes have been read into the buffer column by column, into contiguous rows of `target`.
    pub(crate) fn convert(&mut self, shape: Shape, target: AnySliceMut<'_>) -> Result<()> {
        let Shape { rows, columns } = shape;
        let (element_type, count) = (self.element_type, shape.element_count()?);
        let bytes = self.room(count)?;
        swap_if_big_endian(bytes, element_type.size_in_bytes());
        let geometry = Geometry { rows, columns, row_stride: 1, column_stride: rows };
        match_element!(element_type, S => {
            let values: &[S] = bytemuck::cast_slice(bytes);
            let too_short = || Error::new(ErrorKind::ArrayLength { have: values.len(), need: count });
            let window = Window::new(values, geometry).ok_or_else(too_short)?;
            kernel::read_over(AnyWindow::new(window), target, ConversionPolicy::Saturate, Origin::default())
        })
    }
}
