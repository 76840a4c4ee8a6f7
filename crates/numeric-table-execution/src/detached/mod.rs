//! An emulated device with memory of its own: for tests, and for measuring what a program would copy.
//!
//! This file has the adapter and how it runs kernels; `heap` has its memory, `engine` its copies in the background,
//! `faults` its injected failures, `clock` its virtual time.

mod clock;
mod engine;
mod faults;
mod heap;

pub use clock::EmulatedSpeed;
pub use heap::{EmulatedBuffer, EmulatedTransport};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use numeric_table::internal::parallel;

use super::closures::BytesKernel;
use super::memory::{SeparateMemory, SeparateSpace};
use super::transport::Queue;
use super::{DeviceAdapter, DeviceId, HandleError, Launch, TransferStats, View, ViewMut};

/// An emulated device with memory of its own: a second heap that the program's code cannot confuse with its own memory.
///
/// * Its bytes are scrambled, with a different key for each block, and a new one each time that a block is recycled.
///   Code that skips a copy reads garbage, as it does in fresh and in recycled blocks. Scrambling touches no page.
/// * Failures can be injected: [`fail_allocation`](Self::fail_allocation), [`fail_upload`](Self::fail_upload),
///   [`fail_download`](Self::fail_download), [`fail_kernel`](Self::fail_kernel), [`lose`](Self::lose). Allocations also
///   fail when its [capacity](Self::with_capacity) is used up.
/// * A thread of the device makes the copies of streams while the program packs and runs kernels. A kernel that does
///   not [wait](Queue::wait) for the copy of its block reads the previous content of the block;
///   [`with_copy_delay`](Self::with_copy_delay) makes that certain. All other calls are complete on return.
/// * With a [clock](Self::with_speed) it has a virtual time instead, in which packing, copying and kernels overlap as
///   they would on a device with separate engines. All calls are complete on return; only this clock runs ahead.
///
/// Kernels are Rust closures; only they see the values unscrambled. Clones refer to the same device.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, Kernels};
/// let device = EmulatedDevice::new();
/// let mut handle = ArrayHandle::<f32, _>::empty(&device);
/// device.fill(handle.prepare_for_output(1000)?, 1.5)?;
/// assert_eq!(handle.get_values(&[7])?, [1.5]);
/// assert_eq!(device.stats().downloads.bytes, 4);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone)]
pub struct EmulatedDevice {
    index: u32,
    space: Arc<SeparateSpace<EmulatedTransport>>,
}

impl EmulatedDevice {
    /// Creates a device without a limit and without a clock.
    ///
    /// # Examples
    /// See the type.
    pub fn new() -> Self {
        Self::over(EmulatedTransport::default())
    }

    /// Returns a new, empty device with a capacity of `bytes`, and the same clock rates and delay.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError};
    /// let device = EmulatedDevice::new().with_capacity(100);
    /// let mut handle = ArrayHandle::<f64, _>::empty(&device);
    /// assert!(handle.prepare_for_output(12).is_ok());
    /// let mut other = ArrayHandle::<f64, _>::empty(&device);
    /// assert!(matches!(other.prepare_for_output(1), Err(HandleError::DeviceAlloc { bytes: 8, free: Some(4) })));
    /// # Ok::<(), HandleError>(())
    /// ```
    #[must_use]
    pub fn with_capacity(self, bytes: usize) -> Self {
        Self::over(EmulatedTransport::like(self.transport()).with_capacity(bytes))
    }

    /// Returns a new, empty device with a virtual time, which starts at zero, and the same capacity.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter};
    /// use numeric_table_execution::emulated::EmulatedSpeed;
    /// let device = EmulatedDevice::new().with_speed(EmulatedSpeed { control: 1000, copy: 500, compute: 1000 }); // bytes per second
    /// ArrayHandle::from_container(&device, vec![0_u8; 1000]).prepare_for_input()?;
    /// assert_eq!(device.queue().times().unwrap().total.as_secs(), 2);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    #[must_use]
    pub fn with_speed(self, clock: EmulatedSpeed) -> Self {
        Self::over(EmulatedTransport::like(self.transport()).with_speed(clock))
    }

    /// Returns a new, empty device with the same capacity, on which each background copy begins after the given delay.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use numeric_table::Array;
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter};
    /// use numeric_table_execution::transport::Engine;
    /// let device = EmulatedDevice::new().with_copy_delay(Duration::from_millis(50));
    /// let values = ArrayHandle::from_container(&device, Array::from(vec![7_u32]));
    /// let copied = values.prefetch(&[])?;
    /// assert!(!device.queue().is_complete(copied));
    /// device.queue().wait(Engine::Control, copied);
    /// assert!(device.queue().is_complete(copied));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    #[must_use]
    pub fn with_copy_delay(self, delay: Duration) -> Self {
        Self::over(EmulatedTransport::like(self.transport()).with_copy_delay(delay))
    }

    fn over(transport: EmulatedTransport) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self { index: NEXT.fetch_add(1, Ordering::Relaxed), space: SeparateSpace::new(transport) }
    }

    fn transport(&self) -> &EmulatedTransport {
        self.space.transport()
    }

    /// Returns the number of bytes of all allocated blocks.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
    /// let device = EmulatedDevice::new();
    /// let handle = ArrayHandle::from_container(&device, vec![1_i32, 2]);
    /// handle.prepare_for_input()?;
    /// assert_eq!(device.live_bytes(), 8);
    /// drop(handle);
    /// assert_eq!(device.live_bytes(), 0);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn live_bytes(&self) -> usize {
        self.transport().live_bytes()
    }

    /// Makes one allocation fail: the next one, or a later one after `after` successful ones.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError};
    /// let device = EmulatedDevice::new();
    /// device.fail_allocation(0);
    /// let mut handle = ArrayHandle::from_container(&device, vec![1_i32, 2]);
    /// assert!(matches!(handle.prepare_for_output(5), Err(HandleError::DeviceAlloc { bytes: 20, .. })));
    /// assert_eq!(handle.read_portal()?, [1, 2]); // unchanged
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn fail_allocation(&self, after: usize) {
        self.transport().faults.allocation.arm(after);
    }

    /// Makes one upload fail, counted as in [`fail_allocation`](Self::fail_allocation).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError};
    /// let device = EmulatedDevice::new();
    /// device.fail_upload(0);
    /// let handle = ArrayHandle::from_container(&device, vec![1_i32, 2]);
    /// assert!(matches!(handle.prepare_for_input(), Err(HandleError::Device(_))));
    /// assert!(handle.prepare_for_input().is_ok()); // once only
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn fail_upload(&self, after: usize) {
        self.transport().faults.upload.arm(after);
    }

    /// Makes one download fail, counted as in [`fail_allocation`](Self::fail_allocation).
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<i32, _>::empty(&device);
    /// device.fill(handle.prepare_for_output(2)?, 7)?;
    /// device.fail_download(0);
    /// assert!(matches!(handle.read_portal(), Err(HandleError::Device(_))));
    /// assert_eq!(handle.read_portal()?, [7, 7]); // it was still there
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn fail_download(&self, after: usize) {
        self.transport().faults.download.arm(after);
    }

    /// Makes one kernel fail, counted as in [`fail_allocation`](Self::fail_allocation). The failure is reported later,
    /// by the next call that waits for the device.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError, Kernels};
    /// let device = EmulatedDevice::new();
    /// let mut handle = ArrayHandle::<i32, _>::empty(&device);
    /// device.fail_kernel(0);
    /// device.fill(handle.prepare_for_output(2)?, 7)?; // it has only been started
    /// assert!(matches!(handle.read_portal(), Err(HandleError::EarlierFault(_))));
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn fail_kernel(&self, after: usize) {
        self.transport().faults.kernel.arm(after);
    }

    /// Simulates the loss of the device: every call fails from now on, and the values in its memory are lost.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, EmulatedDevice, HandleError};
    /// let device = EmulatedDevice::new();
    /// let handle = ArrayHandle::from_container(&device, vec![1_i32, 2]);
    /// handle.prepare_for_input()?;
    /// device.lose();
    /// assert!(matches!(handle.prepare_for_input(), Err(HandleError::DeviceLost)));
    /// assert_eq!(handle.read_portal()?, [1, 2]); // control has a copy
    /// # Ok::<(), HandleError>(())
    /// ```
    pub fn lose(&self) {
        self.transport().faults.lose();
    }
}

impl Default for EmulatedDevice {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for EmulatedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmulatedDevice").field("index", &self.index).field("live_bytes", &self.live_bytes()).finish()
    }
}

impl DeviceAdapter for EmulatedDevice {
    type Memory = SeparateMemory<EmulatedTransport>;

    fn memory(&self) -> Self::Memory {
        SeparateMemory::new(&self.space)
    }

    fn id(&self) -> DeviceId {
        DeviceId { kind: "detached", index: self.index }
    }

    fn stats(&self) -> TransferStats {
        self.space.stats()
    }

    fn synchronize(&self) -> Result<(), HandleError> {
        self.space.synchronize()
    }

    fn queue(&self) -> &dyn Queue {
        self.transport()
    }
}

impl Launch for EmulatedDevice {
    fn launch_bytes(
        &self,
        inputs: &[View<'_, u8, Self>],
        mut outputs: Vec<(ViewMut<'_, u8, Self>, usize)>,
        items: usize,
        kernel: &BytesKernel<'_>,
    ) -> Result<(), HandleError> {
        inputs.iter().try_for_each(|input| input.check(&self.space))?;
        outputs.iter().try_for_each(|(output, _)| output.check(&self.space))?;
        let transport = self.transport();
        if transport.start_kernel()? {
            return Ok(()); // it fails, which is reported later
        }
        transport.before_kernel();
        if items == 0 {
            return Ok(());
        }
        let mut bytes = 0;
        let mut plain = Vec::with_capacity(inputs.len());
        for input in inputs {
            bytes += input.len();
            plain.push(input.buffer().reveal(input.byte_range())?);
        }
        let mut results = Vec::with_capacity(outputs.len());
        for (output, _) in &mut outputs {
            bytes += output.len();
            let range = output.byte_range();
            results.push(output.buffer().reveal(range)?);
        }
        let seen: Vec<&[u8]> = plain.iter().map(|bytes| &bytes[..]).collect();
        let written = results.iter_mut().map(|bytes| &mut bytes[..]).collect();
        let result = parallel::serially(|| kernel(0..items, &seen, written));
        for ((output, _), bytes) in outputs.iter_mut().zip(&results) {
            output.buffer().hide(0, bytes)?;
        }
        transport.times.compute(bytes);
        result
    }
}

#[cfg(test)]
mod tests {
    use numeric_table::{Array, HomogenNumericTable};

    use super::*;
    use crate::stream::{StreamOptions, StreamRows};
    use crate::transport::Engine;
    use crate::{ArrayHandle, HandleError};

    fn slow() -> EmulatedDevice {
        EmulatedDevice::new().with_copy_delay(Duration::from_millis(30))
    }

    /// Copies values by a kernel.
    fn seen(device: &EmulatedDevice, values: &ArrayHandle<u32, EmulatedDevice>) -> Result<Vec<u32>, HandleError> {
        let mut seen = ArrayHandle::<u32, _, Vec<u32>>::empty(device);
        let output = seen.prepare_for_output(values.len())?;
        device.launch([values.prepare_for_input()?], output, 1, |_, [values], seen| seen.copy_from_slice(values))?;
        seen.into_container()
    }

    #[test]
    fn a_kernel_that_does_not_wait_for_its_block_reads_something_else() {
        let device = slow();
        let values = ArrayHandle::from_container(&device, Array::from(vec![7_u32; 100]));
        values.upload_async().unwrap();
        assert_ne!(seen(&device, &values).unwrap(), [7; 100]);
        let copied = device.queue().record(Engine::Copy);
        device.queue().wait(Engine::Compute, copied);
        assert_eq!(seen(&device, &values).unwrap(), [7; 100]);
    }

    #[test]
    fn a_kernel_in_place_waits_for_what_went_ahead() {
        let device = slow();
        let mut values = ArrayHandle::from_container(&device, Array::from(vec![7_u32; 100]));
        values.prefetch(&[]).unwrap();
        let add = |_: std::ops::Range<usize>, (): (), values: &mut [u32]| {
            values.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        };
        device.launch((), values.prepare_in_place().unwrap(), 100, add).unwrap();
        assert_eq!(values.read_portal().unwrap(), [8; 100]);
    }

    #[test]
    fn the_program_waits_for_a_copy_by_itself() {
        let device = slow();
        let array = Array::from(vec![7_u32; 100]);
        let mut values = ArrayHandle::from_container(&device, array.clone());
        values.upload_async().unwrap();
        assert_eq!(array.owner_count(), 3);
        // Into the middle of the block; then all of it is read.
        values.store(3, &[1, 2]).unwrap();
        let mut expected = vec![7; 100];
        expected[3..5].copy_from_slice(&[1, 2]);
        assert_eq!(values.read_portal().unwrap(), expected);
        device.synchronize().unwrap();
        drop(values);
        assert_eq!(array.owner_count(), 1);
        // A handle that is dropped meanwhile, and the device itself.
        let values = ArrayHandle::from_container(&device, array.clone());
        values.upload_async().unwrap();
        drop(values);
        assert_eq!(device.live_bytes(), 0);
        drop(device);
        assert_eq!(array.owner_count(), 1);
    }

    #[test]
    fn rows_are_packed_while_others_cross_and_memory_is_used_again() {
        let device = slow();
        let table = HomogenNumericTable::from_rows(&[[1_i64, 2], [3, 4], [5, 6], [7, 8], [9, 10]]).unwrap();
        for slots in [1, 2, 3] {
            let options = StreamOptions { rows: 1, slots, ..Default::default() };
            let mut stream = table.stream_rows::<u32, _>(&device, options).unwrap();
            let (mut found, mut copy) = (Vec::new(), ArrayHandle::<u32, _>::empty(&device));
            while let Some(block) = stream.next().unwrap() {
                let output = copy.prepare_for_output(2).unwrap();
                device.launch([block.view()], output, 1, |_, [values], copy| copy.copy_from_slice(values)).unwrap();
                found.extend_from_slice(copy.read_portal().unwrap());
            }
            assert_eq!(found, (1..=10).collect::<Vec<_>>());
        }
    }
}
