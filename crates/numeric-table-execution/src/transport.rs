//! What a device with memory of its own must implement: copying bytes, and optionally doing so in the background.

use std::ops::Range;
use std::time::Duration;

use numeric_table::{Array, array::MemoryKind};

use super::DeviceError;

/// Moves bytes between the program's memory and a device's, independently of element types and handles.
///
/// This is all that a new device with separate memory needs for its memory;
/// [`SeparateSpace`](crate::memory::SeparateSpace) turns it into execution memory, with caching, counting and error
/// handling. Every bit pattern is a value of every element type, so that a faulty transport leads to wrong numbers and
/// nothing worse.
///
/// # Errors
/// A failed call has no effect, except that the content of a buffer that it was writing to is arbitrary; the buffer can
/// be used again.
///
/// # Examples
/// A device whose memory is a `Vec` elsewhere:
/// ```
/// use std::ops::Range;
/// use numeric_table_execution::DeviceError;
/// use numeric_table_execution::transport::Transport;
///
/// struct Elsewhere;
///
/// impl Transport for Elsewhere {
///     type Buffer = Vec<u8>;
///     fn allocate(&self, bytes: usize) -> Result<Vec<u8>, DeviceError> {
///         Ok(vec![0; bytes])
///     }
///     fn upload(&self, source: &[u8], target: &mut Vec<u8>, at: usize) -> Result<(), DeviceError> {
///         target[at..at + source.len()].copy_from_slice(source);
///         Ok(())
///     }
///     fn download(&self, source: &Vec<u8>, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError> {
///         target.copy_from_slice(&source[range]);
///         Ok(())
///     }
///     fn duplicate(&self, source: &Vec<u8>, bytes: usize) -> Result<Vec<u8>, DeviceError> {
///         Ok(source[..bytes].to_vec())
///     }
///     fn synchronize(&self) -> Result<(), DeviceError> {
///         Ok(())
///     }
/// }
/// let mut buffer = Elsewhere.allocate(4)?;
/// Elsewhere.upload(&[1, 2], &mut buffer, 2)?;
/// let mut bytes = [0; 2];
/// Elsewhere.download(&buffer, 2..4, &mut bytes)?;
/// assert_eq!(bytes, [1, 2]);
/// # Ok::<(), DeviceError>(())
/// ```
pub trait Transport: Send + Sync + 'static {
    /// A block of device memory. Dropping it frees the block, after all work on it is complete.
    type Buffer: Send + Sync + 'static;

    /// Allocates a block, whose content is arbitrary. A block of no bytes is valid.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError>;

    /// Allocates a block of a kind of memory. By default, [`MemoryKind::Device`] is the only one.
    ///
    /// # Errors
    /// Those of [`allocate`](Self::allocate); [`DeviceError::Unavailable`].
    fn allocate_kind(&self, bytes: usize, kind: MemoryKind) -> Result<Self::Buffer, DeviceError> {
        match kind {
            MemoryKind::Device => self.allocate(bytes),
            _ => Err(NO_SUCH_MEMORY),
        }
    }

    /// Returns the kind of a block's memory. By default, [`MemoryKind::Device`].
    fn kind(&self, _buffer: &Self::Buffer) -> MemoryKind {
        MemoryKind::Device
    }

    /// Copies bytes to the device. On return, the source may be changed. The source is not empty, and the target range
    /// is inside the block.
    ///
    /// # Errors
    /// Those of the trait.
    fn upload(&self, source: &[u8], target: &mut Self::Buffer, at: usize) -> Result<(), DeviceError>;

    /// Copies bytes from the device, after all work on them is complete. On return, the target is complete. The range
    /// is inside the block, has the length of the target, and is not empty.
    ///
    /// # Errors
    /// Those of the trait.
    fn download(&self, source: &Self::Buffer, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies the first bytes of a block into a new one, on the device.
    ///
    /// # Errors
    /// Those of the trait; [`DeviceError::OutOfMemory`].
    fn duplicate(&self, source: &Self::Buffer, bytes: usize) -> Result<Self::Buffer, DeviceError>;

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// [`DeviceError::Earlier`] for a failure that has not been reported yet.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Returns whether the device is lost. Must not wait. By default, it never is.
    fn is_lost(&self) -> bool {
        false
    }

    /// Discards the content of a block before the block is filled again. By default, does nothing.
    fn recycle(&self, _buffer: &mut Self::Buffer) {}

    /// Starts to copy bytes to the start of a block. A device that supports it copies in the background, and keeps a
    /// share of the source until then. Kernels see the bytes if they [wait](Queue::wait) for the copy; all other calls
    /// that use the block wait for it by themselves. By default, the copy is complete on return.
    ///
    /// # Errors
    /// Those of [`upload`](Self::upload).
    fn upload_later(&self, source: Array<u8>, target: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.upload(&source, target, 0)
    }

    /// Starts to copy bytes from the device into an unshared array, after all work on them. The range is inside the
    /// block, has the length of the target, and is not empty. The block may be written, or dropped, before the copy is
    /// complete. By default, the copy is complete on return.
    ///
    /// # Errors
    /// Those of [`download`](Self::download).
    fn download_later(
        &self,
        source: &Self::Buffer,
        range: Range<usize>,
        mut target: Array<u8>,
    ) -> Result<Arriving, DeviceError> {
        self.download(source, range, writable(&mut target)?)?;
        Ok(Arriving::new(|| Ok(target)))
    }
}

/// A kind of memory that a device does not have.
pub(super) const NO_SUCH_MEMORY: DeviceError = DeviceError::Unavailable { what: "memory of this kind" };

/// Borrows the array that a copy from a device is for.
pub(super) fn writable(target: &mut Array<u8>) -> Result<&mut [u8], DeviceError> {
    target.mutable_data().map_err(|_| DeviceError::Failed { code: 0, what: "a copy into a shared array" })
}

/// Bytes that are being copied from a device. Dropping it waits until the copy has ended, as [`wait`](Self::wait) does.
///
/// # Examples
/// ```
/// use numeric_table::Array;
/// use numeric_table_execution::DeviceError;
/// use numeric_table_execution::emulated::EmulatedTransport;
/// use numeric_table_execution::transport::{Arriving, Transport};
/// let heap = EmulatedTransport::default();
/// let mut buffer = heap.allocate(3)?;
/// heap.upload(&[1, 2, 3], &mut buffer, 0)?;
/// let arriving: Arriving = heap.download_later(&buffer, 1..3, Array::from(vec![0; 2]))?;
/// assert_eq!(arriving.wait()?[..], [2, 3]);
/// # Ok::<(), DeviceError>(())
/// ```
#[must_use = "it is dropped here"]
pub struct Arriving(Box<dyn FnOnce() -> Result<Array<u8>, DeviceError> + Send>);

impl Arriving {
    /// Creates it from a closure that waits and returns the array. Dropping the closure must wait too.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::Array;
    /// use numeric_table_execution::transport::Arriving;
    /// assert_eq!(Arriving::new(|| Ok(Array::from(vec![7]))).wait().unwrap()[..], [7]);
    /// ```
    pub fn new(wait: impl FnOnce() -> Result<Array<u8>, DeviceError> + Send + 'static) -> Self {
        Self(Box::new(wait))
    }

    /// Waits for the copy, and returns the array.
    ///
    /// # Errors
    /// Those of [`Transport::download`].
    ///
    /// # Examples
    /// See the type.
    pub fn wait(self) -> Result<Array<u8>, DeviceError> {
        (self.0)()
    }
}

impl std::fmt::Debug for Arriving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arriving").finish_non_exhaustive()
    }
}

/// A part of the machine that does a stage of a stream. Each engine works sequentially; different engines work in
/// parallel.
///
/// # Examples
/// ```
/// use numeric_table_execution::{DeviceAdapter, HostSerial};
/// use numeric_table_execution::transport::{Engine, Event};
/// assert_eq!(HostSerial.queue().record(Engine::Copy), Event::DONE); // nothing ever runs later there
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The program itself: it packs blocks.
    Control,
    /// Copies blocks to the device.
    Copy,
    /// Runs kernels.
    Compute,
}

/// A point in the work of an engine: the completion of all work that was submitted before. The number is meaningful
/// only to its device.
///
/// # Examples
/// ```
/// use numeric_table_execution::transport::Event;
/// assert_eq!(Event::default(), Event::DONE);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event(pub u64);

impl Event {
    /// An event that is complete.
    pub const DONE: Self = Self(0);
}

/// Orders the engines of a device that work in parallel. By default, all methods do nothing, which is right for devices
/// whose calls are complete on return.
///
/// # Examples
/// ```
/// use numeric_table_execution::{EmulatedDevice, DeviceAdapter};
/// use numeric_table_execution::emulated::EmulatedSpeed;
/// use numeric_table_execution::transport::Engine;
/// let device = EmulatedDevice::new().with_speed(EmulatedSpeed { control: 1000, copy: 1000, compute: 1000 }); // bytes per second
/// device.queue().packed(500);
/// let packed = device.queue().record(Engine::Control);
/// device.queue().wait(Engine::Copy, packed); // later copies start half a second later
/// assert_eq!(device.queue().times().unwrap().total.as_millis(), 500);
/// ```
pub trait Queue: Send + Sync {
    /// Returns the event of the completion of all work that has been submitted to an engine. Called without a lock, so
    /// it may release the memory of complete copies, which can be the last share of a user's array.
    fn record(&self, _engine: Engine) -> Event {
        Event::DONE
    }

    /// Makes an engine start further work only after an event. [`Engine::Control`] is the caller: it waits.
    fn wait(&self, _engine: Engine, _event: Event) {}

    /// Returns whether an event is complete. Does not wait. An event of another device counts as complete. On a virtual
    /// clock, time passes only during work and waiting.
    fn is_complete(&self, _event: Event) -> bool {
        true
    }

    /// Records that the program has packed a number of bytes.
    fn packed(&self, _bytes: usize) {}

    /// Returns the times since the device was created, if the device has a clock of its own; otherwise streams use
    /// wall-clock time.
    fn times(&self) -> Option<StageTimes> {
        None
    }
}

/// The queue of devices whose calls are complete on return.
pub(super) struct NoQueue;

impl Queue for NoQueue {}

/// The working time of each stage of a stream.
///
/// # Examples
/// ```
/// use numeric_table_execution::transport::StageTimes;
/// assert_eq!(StageTimes::default().total.as_secs(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// The program, packing and converting blocks.
    pub pack: Duration,
    /// The link, copying blocks to the device.
    pub copy: Duration,
    /// The device, running kernels.
    pub kernel: Duration,
    /// From the beginning to the end; less than the sum if stages overlap.
    pub total: Duration,
}
