//! Values as they are in a file, on their way to another element type.
//!
//! Compiled once for each stored type, and not for each pair of types: the target's is known at run time only.

use super::swap_if_big_endian;
use crate::array::Array;
use crate::base::element::{ElementType, match_element};
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::Origin;
use crate::table::{DataLayout, TableView};
use crate::window::AnySliceMut;

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
        if self.memory.count() < bytes {
            self.memory = Array::new(); // first, so that there are never two
            self.memory = Array::zeros(bytes)?;
        }
        if bytes == 0 { Ok(&mut []) } else { Ok(&mut self.memory.mutable_data()?[..bytes]) }
    }

    /// Converts the values of a shape, whose bytes have been read into the room, into rows one after another.
    pub(crate) fn convert(&mut self, shape: Shape, layout: DataLayout, target: AnySliceMut<'_>) -> Result<()> {
        let (element_type, count) = (self.element_type, shape.element_count()?);
        let bytes = self.room(count)?;
        swap_if_big_endian(bytes, element_type.size_in_bytes());
        match_element!(element_type, S => {
            let view = TableView::<S>::new(bytemuck::cast_slice(bytes), shape, layout)?;
            view.read_over(target, ConversionPolicy::Saturate, Origin::default())
        })
    }
}
