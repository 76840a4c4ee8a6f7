//! Device adapters: the execution memory of a device, its name, and its queue.

use std::fmt;

use numeric_table::{Array, Element, array::MemoryKind};

use super::memory::ExecutionMemory;
use super::transport::{Engine, Event, NO_SUCH_MEMORY, NoQueue, Queue};
use super::{HandleError, TransferStats};

/// The name of a device.
///
/// # Examples
/// ```
/// use numeric_table_execution::{DeviceAdapter, HostSerial};
/// assert_eq!(HostSerial.id().to_string(), "serial 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId {
    /// The kind of the device.
    pub kind: &'static str,
    /// The number of the device among those of its kind.
    pub index: u32,
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.index)
    }
}

/// A device where kernels run, with its memory. Cloning is cheap, and clones refer to the same device.
///
/// The library has [`HostSerial`](super::HostSerial) and [`HostParallel`](super::HostParallel), which share the
/// program's memory, and [`EmulatedDevice`](super::EmulatedDevice), which does not. A new device with memory of its own
/// implements [`Transport`](crate::transport::Transport), this trait (see
/// [`SeparateSpace`](crate::memory::SeparateSpace)), [`Algorithms`](super::Algorithms) and
/// [`Kernels`](super::Kernels), and must pass the conformance suite in `tests/execution/conformance`.
///
/// Source: Dax `DeviceAdapter`, which here includes `ExecutionAdapter` (the views of its memory).
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice, DeviceAdapter, HandleError, Kernels, HostParallel, HostSerial};
///
/// fn sevens<D: DeviceAdapter + Kernels>(device: &D) -> Result<Vec<f32>, HandleError> {
///     let mut handle = ArrayHandle::<f32, D>::empty(device);
///     device.fill(handle.prepare_for_output(3)?, 7.0)?;
///     Ok(handle.read_portal()?.to_vec())
/// }
/// assert_eq!(sevens(&HostSerial)?, [7.0; 3]);
/// assert_eq!(sevens(&HostParallel)?, [7.0; 3]);
/// assert_eq!(sevens(&EmulatedDevice::new())?, [7.0; 3]);
/// # Ok::<(), HandleError>(())
/// ```
pub trait DeviceAdapter: Clone + Send + Sync + 'static {
    /// The type of the execution side of a handle: [`SharedMemory`](crate::memory::SharedMemory), or
    /// [`SeparateMemory`](crate::memory::SeparateMemory) over the device's transport.
    type Memory: ExecutionMemory;

    /// Creates the execution side of a new handle.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceAdapter, HostSerial};
    /// use numeric_table_execution::memory::SharedMemory;
    /// let _: SharedMemory = HostSerial.memory();
    /// ```
    fn memory(&self) -> Self::Memory;

    /// Creates the execution side of a new handle in a kind of memory. By default, there is the kind of
    /// [`memory`](Self::memory) only, and [`MemoryKind::Host`] as well if that is memory of the program.
    ///
    /// Source: `sycl::usm::alloc`.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`](super::DeviceError::Unavailable) in [`HandleError::Device`] if the device does not
    /// have this kind of memory.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::array::MemoryKind;
    /// use numeric_table_execution::{DeviceAdapter, EmulatedDevice, HostSerial};
    /// assert!(HostSerial.memory_of_kind(MemoryKind::Shared).is_ok());
    /// assert!(EmulatedDevice::new().memory_of_kind(MemoryKind::Shared).is_err());
    /// ```
    fn memory_of_kind(&self, kind: MemoryKind) -> Result<Self::Memory, HandleError> {
        match (kind, Self::Memory::IS_SHARED) {
            (MemoryKind::Device, false) | (MemoryKind::Host | MemoryKind::Shared, true) => Ok(self.memory()),
            _ => Err(NO_SUCH_MEMORY.into()),
        }
    }

    /// Returns the name of the device.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{EmulatedDevice, DeviceAdapter};
    /// assert_ne!(EmulatedDevice::new().id(), EmulatedDevice::new().id());
    /// ```
    fn id(&self) -> DeviceId;

    /// Returns counts of all allocations and copies so far. By default, all counts are zero.
    ///
    /// # Examples
    /// See [`TransferStats`].
    fn stats(&self) -> TransferStats {
        TransferStats::default()
    }

    /// Waits for all work on the device. By default, returns at once.
    ///
    /// # Errors
    /// [`HandleError::EarlierFault`] for a failure that has not been reported yet; [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{EmulatedDevice, DeviceAdapter};
    /// EmulatedDevice::new().synchronize()?;
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn synchronize(&self) -> Result<(), HandleError> {
        Ok(())
    }

    /// Returns the queue that orders the device's engines, if it has several. By default, all work is complete on
    /// return.
    ///
    /// # Examples
    /// See [`Queue`].
    fn queue(&self) -> &dyn Queue {
        &NoQueue
    }

    /// Calls `work`, which launches kernels, so that they run after some events, and returns the event of their
    /// completion. The caller waits for it with [`Queue::wait`]; an event of another device counts as complete.
    ///
    /// Source: `sycl::queue::submit`, with `handler::depends_on`.
    ///
    /// # Errors
    /// Those of `work`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::*;
    /// use numeric_table_execution::transport::Engine;
    /// let device = EmulatedDevice::new();
    /// let input = ArrayHandle::from_container(&device, Array::from(vec![1.9_f32, -7.0]));
    /// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
    /// let copied = input.prefetch(&[])?;
    /// let converted = device.submit(&[copied], |device| {
    ///     device.convert(input.prepare_for_input()?, bytes.prepare_for_output(2)?, Default::default())
    /// })?;
    /// device.queue().wait(Engine::Control, converted);
    /// assert_eq!(bytes.read_portal()?, [1, 0]);
    /// # Ok::<(), HandleError>(())
    /// ```
    fn submit(
        &self,
        after: &[Event],
        work: impl FnOnce(&Self) -> Result<(), HandleError>,
    ) -> Result<Event, HandleError> {
        let queue = self.queue();
        after.iter().for_each(|&event| queue.wait(Engine::Compute, event));
        work(self)?;
        Ok(queue.record(Engine::Compute))
    }

    /// Returns an array of zeros in the kind of program memory that the device copies fastest. By default, ordinary
    /// memory.
    ///
    /// # Errors
    /// [`HandleError::HostAlloc`], [`HandleError::LengthOverflow`]; what the device reports.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{DeviceAdapter, HostSerial};
    /// assert_eq!(HostSerial.staging::<f32>(2)?[..], [0.0, 0.0]);
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    fn staging<T: Element>(&self, count: usize) -> Result<Array<T>, HandleError> {
        Ok(Array::zeros(count)?)
    }

    /// Does work of the program for the device: on all threads, or on the caller's, if the device has no others.
    #[doc(hidden)]
    fn in_program<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// Values on a device, for reading: `&[T]` if memory is shared.
///
/// # Examples
/// ```
/// use numeric_table_execution::{HostSerial, View};
/// let view: View<'_, f32, HostSerial> = &[1.0_f32, 2.0];
/// assert_eq!(view[1], 2.0);
/// ```
pub type View<'a, T, D> = <<D as DeviceAdapter>::Memory as ExecutionMemory>::View<'a, T>;

/// Values on a device, for writing: `&mut [T]` if memory is shared.
///
/// # Examples
/// ```
/// use numeric_table_execution::{HostSerial, ViewMut};
/// let view: ViewMut<'_, f32, HostSerial> = &mut [1.0_f32, 2.0];
/// view[1] = 7.0;
/// ```
pub type ViewMut<'a, T, D> = <<D as DeviceAdapter>::Memory as ExecutionMemory>::ViewMut<'a, T>;
