//! Values of a file whose bytes arrive in pieces of any length.

use crate::base::element::{Element, ElementType};
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::storage::PIECE_BYTES;
use crate::storage::byte_order::swap_if_big_endian;
use crate::storage::checksum::RunSums;
use crate::storage::stored::Stored;
use crate::window::AnySliceMut;

/// Consecutive values that are converted as their bytes arrive. Their checksums are computed in the same pass. Values
/// of the target's type are copied into place; of other types, at most 512 KiB wait to be converted.
#[derive(Debug)]
pub struct Arriving<'t, U> {
    target: &'t mut [U],
    element_type: ElementType,
    /// Number of converted values at the beginning of the target; without conversion, number of bytes.
    done: usize,
    stored: Stored,
    /// Number of bytes in `stored` that have not been converted.
    waiting: usize,
    sums: RunSums,
}

impl<'t, U: Element> Arriving<'t, U> {
    /// Begins to fill a target with values of `element_type`. `position` is the position of the first one among the
    /// bytes of all values. A `chunk_size` of 0 turns checksums off.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn new(target: &'t mut [U], element_type: ElementType, position: u64, chunk_size: u32) -> Result<Self> {
        let sums = RunSums::new(chunk_size, position, target.len() * element_type.size_in_bytes())?;
        Ok(Self { target, element_type, done: 0, stored: Stored::new(element_type), waiting: 0, sums })
    }

    /// Takes the next bytes, up to the end of the target.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.sums.update(bytes);
        if self.element_type == U::TYPE {
            let room = bytemuck::cast_slice_mut::<U, u8>(self.target).get_mut(self.done..).unwrap_or_default();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.done += count;
            return Ok(());
        }
        let size = self.element_type.size_in_bytes();
        while !bytes.is_empty() && self.done < self.target.len() {
            let step = (PIECE_BYTES / size).min(self.target.len() - self.done);
            let room = &mut self.stored.room(step)?[self.waiting..];
            let (now, later) = bytes.split_at(room.len().min(bytes.len()));
            room[..now.len()].copy_from_slice(now);
            (self.waiting, bytes) = (self.waiting + now.len(), later);
            if self.waiting == step * size {
                let target = &mut self.target[self.done..self.done + step];
                self.stored.convert(Shape { rows: step, columns: 1 }, AnySliceMut::new(target))?;
                (self.done, self.waiting) = (self.done + step, 0);
            }
        }
        Ok(())
    }

    /// Finishes after all values have arrived. Returns their checksums.
    pub fn finish(self) -> RunSums {
        if self.element_type == U::TYPE {
            swap_if_big_endian(bytemuck::cast_slice_mut(self.target), size_of::<U>());
        }
        trace::record(CopyKind::Loaded, size_of_val(self.target));
        self.sums
    }
}
