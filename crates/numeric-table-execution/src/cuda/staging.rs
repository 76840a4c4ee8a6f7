//! Copies between the device and any memory of the program: in pieces, through a few registered blocks.
//!
//! Copying straight from memory that is not registered is done by one thread of the driver, at a sixth of the link's
//! speed. Here all threads copy a piece to a block while earlier pieces are transferred.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use numeric_table::internal::parallel;

use super::memory::CudaBuffer;
use super::pinned::Pinned;
use super::streams::{Busy, Streams};
use crate::DeviceError;
use crate::control::lock;

/// Number of bytes of a piece. Less pays for each call of the driver; more delays the beginning.
const PIECE: usize = 8 << 20;
/// The smallest block.
const LEAST: usize = 64 << 10;
/// Number of blocks.
const SLOTS: usize = 4;

/// A block of registered memory, and the copy that is using it.
type Slot = Busy<Pinned<u8>>;

/// The blocks of one direction.
pub(super) struct Ring {
    streams: Arc<Streams>,
    slots: Mutex<VecDeque<Slot>>,
}

impl Ring {
    pub(super) fn new(streams: &Arc<Streams>) -> Self {
        Self { streams: streams.clone(), slots: Mutex::default() }
    }

    /// Returns an unused block of `bytes` bytes. Once the maximum number of blocks exists, including those that are
    /// `taken`, it is the oldest one.
    fn take(&self, slots: &mut VecDeque<Slot>, taken: usize, bytes: usize) -> Result<Slot, DeviceError> {
        if slots.len() + taken >= SLOTS
            && let Some(mut slot) = slots.pop_front()
        {
            slot.finish()?;
            if slot.memory.as_ref().len() >= bytes {
                return Ok(slot);
            }
        }
        let refused = |_| DeviceError::Failed { code: 0, what: "allocating memory for copies" };
        let bytes = bytes.next_power_of_two().clamp(LEAST, PIECE);
        Ok(Slot::new(Pinned::zeros(&self.streams, bytes).map_err(refused)?, None, &self.streams))
    }

    /// Copies bytes to a block of the device. On return, the source has been read; the copy may be going on.
    pub(super) fn send(&self, source: &[u8], target: &mut CudaBuffer, at: usize) -> Result<(), DeviceError> {
        let mut slots = lock(&self.slots);
        for (index, piece) in source.chunks(PIECE).enumerate() {
            let mut slot = self.take(&mut slots, 0, piece.len())?;
            let staged = &mut slot.memory.as_mut()[..piece.len()];
            copy(piece, staged);
            // SAFETY: the block belongs to the slot, which neither changes nor frees it before `finish`.
            slot.copy = Some(unsafe { target.start_upload(at + index * PIECE, staged) }?);
            slots.push_back(slot);
        }
        Ok(())
    }

    /// Copies bytes from a block of the device.
    pub(super) fn receive(&self, source: &CudaBuffer, at: usize, target: &mut [u8]) -> Result<(), DeviceError> {
        let mut slots = lock(&self.slots);
        let mut pieces = target.chunks_mut(PIECE);
        let (mut first, mut arriving) = (at, VecDeque::new());
        loop {
            let piece = if arriving.len() < SLOTS { pieces.next() } else { None };
            if let Some(piece) = piece {
                let mut slot = self.take(&mut slots, arriving.len(), piece.len())?;
                // SAFETY: the block belongs to the slot, which neither reads, changes nor frees it before `finish`.
                slot.copy = Some(unsafe { source.start_download(first, &mut slot.memory.as_mut()[..piece.len()]) }?);
                first += piece.len();
                arriving.push_back((slot, piece));
            } else if let Some((mut slot, piece)) = arriving.pop_front() {
                slot.finish()?;
                copy(&slot.memory.as_ref()[..piece.len()], piece);
                slots.push_back(slot);
            } else {
                return Ok(());
            }
        }
    }
}

/// Copies bytes, by all threads if that pays.
fn copy(source: &[u8], target: &mut [u8]) {
    parallel::for_each_chunk_mut(target, &|first, chunk| chunk.copy_from_slice(&source[first..][..chunk.len()]));
}
