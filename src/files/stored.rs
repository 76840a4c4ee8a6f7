//! Values as they are in a file, on their way to another element type.
//!
//! Compiled once for each stored type, and not for each pair of types: the target's is known at run time only.

use super::byte_order::swap_if_big_endian;
use crate::array::Array;
use crate::base::element::{ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::window::{AnySliceMut, AnyWindow, Geometry, Window};

/// Room for values of any one type, used again and again.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The library's own memory, which is aligned for every element type.
    memory: Array<u8>,
    element_type: ElementType,
}

impl Stored {
    pub(crate) const fn new(element_type: ElementType) -> Self {
        Self { memory: Array::new(), element_type }
    }

    /// Lends room for the bytes of so many values, taking more memory if need be.
    pub(crate) fn room(&mut self, count: usize) -> Result<&mut [u8]> {
        let shape = Shape { rows: count, columns: 1 };
        let bytes = shape.element_count_of(self.element_type)? * self.element_type.size_in_bytes();
        if self.memory.len() < bytes {
            self.memory = Array::new(); // first, so that there are never two
            self.memory = Array::zeros(bytes)?;
        }
        if bytes == 0 { Ok(&mut []) } else { Ok(&mut self.memory.mutable_data()?[..bytes]) }
    }

    /// Converts the values of a shape, whose bytes have been read into the room column by column, into contiguous rows.
    pub(crate) fn convert(&mut self, shape: Shape, target: AnySliceMut<'_>) -> Result<()> {
        let Shape { rows, columns } = shape;
        let (element_type, count) = (self.element_type, shape.element_count()?);
        let bytes = self.room(count)?;
        swap_if_big_endian(bytes, element_type.size_in_bytes());
        let geometry = Geometry { rows, columns, row_stride: 1, column_stride: rows };
        match_element!(element_type, S => {
            let values: &[S] = bytemuck::cast_slice(bytes);
            let window = Window::new(values, geometry).ok_or(Error::ArrayTooShort { have: values.len(), need: count })?;
            kernel::read_over(AnyWindow::new(window), target, ConversionPolicy::Saturate, Origin::default())
        })
    }
}
