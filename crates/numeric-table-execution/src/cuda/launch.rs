//! Launching a kernel: its arguments, and the order of its work and that of others on the same blocks.

use std::ops::Range;

use super::memory::CudaBuffer;
use super::objects::Function;
use super::streams::{Lane, Streams};
use crate::DeviceError;

/// An argument of a kernel.
pub(super) enum Argument<'a> {
    /// The address of values that it reads.
    Read(&'a CudaBuffer, Range<usize>),
    /// The address of values that it writes, and may read.
    Write(&'a mut CudaBuffer, Range<usize>),
    /// A number of eight bytes, or of fewer: the first ones count.
    Number(u64),
}

/// How many threads run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Number of blocks of threads.
    pub(super) blocks: (u32, u32, u32),
    /// Number of threads of a block.
    pub(super) threads: (u32, u32, u32),
    /// Number of bytes of shared memory whose size the kernel does not say itself.
    pub(super) shared_bytes: u32,
}

/// Launches a kernel in the stream of kernels, after all work that its arguments depend on.
///
/// # Safety
/// The kernel's parameters are those of the arguments, in their order, and of no more bytes; with them it reads and
/// writes nothing but the ranges that it is given.
pub(super) unsafe fn launch(
    streams: &Streams,
    function: &Function,
    geometry: Geometry,
    arguments: &mut [Argument<'_>],
) -> Result<(), DeviceError> {
    streams.enter()?;
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments.iter_mut() {
        values.push(match argument {
            Argument::Read(block, range) => {
                block.before_read(Lane::Compute)?;
                block.address(range)?
            }
            Argument::Write(block, range) => {
                block.before_write(Lane::Compute)?;
                block.address(range)?
            }
            Argument::Number(number) => *number,
        });
    }
    let Geometry { blocks, threads, shared_bytes } = geometry;
    let stream = streams.stream(Lane::Compute);
    // SAFETY: the caller's promise about parameters and ranges; the ranges are inside their blocks, which are alive
    // until their uses have ended: each has the mark below, or the work has ended.
    let launched = unsafe { stream.launch(function, blocks, threads, shared_bytes, &values) };
    streams.check("launching a kernel", launched)?;
    let mark = streams.mark(Lane::Compute)?;
    for argument in arguments {
        match argument {
            Argument::Read(block, _) => block.read_until(&mark),
            Argument::Write(block, _) => block.written_until(&mark),
            Argument::Number(_) => {}
        }
    }
    Ok(())
}
