//! The adapters that share the program's memory: for one thread, or all threads of a rayon pool.

use numeric_table::internal::parallel;

use super::closures::BytesKernel;
use super::memory::SharedMemory;
use super::{DeviceAdapter, DeviceId, HandleError, Launch};

/// Runs kernels on the calling thread, in the program's own memory: nothing is ever copied.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, Kernels, HostSerial};
/// let mut handle = ArrayHandle::<f32, _>::empty(&HostSerial);
/// HostSerial.fill(handle.prepare_for_output(3)?, 1.5)?;
/// assert_eq!(handle.read_portal()?, [1.5; 3]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HostSerial;

/// Runs kernels in the caller's rayon pool, in the program's own memory: nothing is ever copied.
///
/// An output is divided into equal parts, one for each thread, and part `i` is assigned to thread `i`, so that memory
/// stays near the thread that touched it first. If a thread is busy or waits for something else, another thread does
/// its part, so that no call waits for a busy thread. Work on less than 4 MiB, inputs and outputs together, stays on
/// the calling thread. Without the feature `rayon`, all work does.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, Kernels, HostParallel};
/// let mut handle = ArrayHandle::<f32, _>::empty(&HostParallel);
/// HostParallel.fill(handle.prepare_for_output(1 << 20)?, 1.5)?;
/// assert!(handle.read_portal()?.iter().all(|&value| value == 1.5));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HostParallel;

impl DeviceAdapter for HostSerial {
    type Memory = SharedMemory;

    fn memory(&self) -> SharedMemory {
        SharedMemory
    }

    fn id(&self) -> DeviceId {
        DeviceId { kind: "serial", index: 0 }
    }

    fn in_program<R>(&self, work: impl FnOnce() -> R) -> R {
        parallel::serially(work)
    }
}

impl DeviceAdapter for HostParallel {
    type Memory = SharedMemory;

    fn memory(&self) -> SharedMemory {
        SharedMemory
    }

    fn id(&self) -> DeviceId {
        DeviceId { kind: "rayon", index: 0 }
    }
}

impl Launch for HostSerial {
    fn launch_bytes(
        &self,
        inputs: &[&[u8]],
        outputs: Vec<(&mut [u8], usize)>,
        items: usize,
        kernel: &BytesKernel<'_>,
    ) -> Result<(), HandleError> {
        parallel::serially(|| HostParallel.launch_bytes(inputs, outputs, items, kernel))
    }
}

impl Launch for HostParallel {
    fn launch_bytes(
        &self,
        inputs: &[&[u8]],
        mut outputs: Vec<(&mut [u8], usize)>,
        items: usize,
        kernel: &BytesKernel<'_>,
    ) -> Result<(), HandleError> {
        let read: usize = inputs.iter().map(|input| input.len()).sum();
        let written: usize = outputs.iter().map(|(output, _)| output.len()).sum();
        let share = parallel::fixed_share(items, read + written).max(1);
        let mut pieces = Vec::with_capacity(items.div_ceil(share));
        for first in (0..items).step_by(share) {
            let range = first..items.min(first.saturating_add(share));
            let mut piece = Vec::with_capacity(outputs.len());
            for (output, bytes_per_item) in &mut outputs {
                let (head, rest) = std::mem::take(output).split_at_mut(range.len() * *bytes_per_item);
                piece.push(head);
                *output = rest;
            }
            pieces.push((range, piece));
        }
        parallel::map_fixed(pieces, |(range, piece)| kernel(range, inputs, piece)).into_iter().collect()
    }
}
