//! All that a device with memory of its own has to bring: moving bytes, and, if it can, doing so while others work.

use std::ops::Range;
use std::time::Duration;

use super::DeviceError;
use crate::array::Array;

/// Moves bytes between the program's memory and a device's. Knows no element type and no handle.
///
/// What is written here is all that a new device with separate memory needs for its memory;
/// [`SeparateSpace`](super::SeparateSpace) makes it into execution memory, with caching, counting and all rules of
/// failure. Every element type holds a value whatever its bits are, so that a wrong transport gives wrong numbers and
/// nothing worse.
///
/// # Errors
/// A failed call has no effect: a buffer that was written to may hold anything then, but it can be used again.
///
/// # Examples
/// A device whose memory is a `Vec` elsewhere:
/// ```
/// use std::ops::Range;
/// use numeric_table::execution::{DeviceError, Transport};
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
    /// A block of device memory. Dropping it frees the block, after all work on it.
    type Buffer: Send + Sync + 'static;

    /// Allocates a block; its content is anything. No bytes are a block too.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, DeviceError>;

    /// Copies bytes to the device. On return the source may be changed. Source and place are inside, and not empty.
    ///
    /// # Errors
    /// As the trait says.
    fn upload(&self, source: &[u8], target: &mut Self::Buffer, at: usize) -> Result<(), DeviceError>;

    /// Copies bytes from the device, after all work on them. On return the target is complete. The range is inside, as
    /// long as the target, and not empty.
    ///
    /// # Errors
    /// As the trait says.
    fn download(&self, source: &Self::Buffer, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies the first bytes of a block into a new one, on the device.
    ///
    /// # Errors
    /// As the trait says; [`DeviceError::OutOfMemory`].
    fn duplicate(&self, source: &Self::Buffer, bytes: usize) -> Result<Self::Buffer, DeviceError>;

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// [`DeviceError::Earlier`] for whatever has failed and was not reported yet.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Returns whether the device is gone. Must not wait. By default it never goes.
    fn is_lost(&self) -> bool {
        false
    }

    /// The content of a block does not count any more; the block is about to be filled anew. By default nothing
    /// happens.
    fn recycle(&self, _buffer: &mut Self::Buffer) {}

    /// Begins to copy bytes to the start of a block. A device that can copies later, and keeps a share of the source
    /// until it has; kernels that are launched later see the bytes. By default the copy is complete on return.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    fn upload_later(&self, source: Array<u8>, target: &mut Self::Buffer) -> Result<(), DeviceError> {
        self.upload(&source, target, 0)
    }
}

/// Where work of a stream of blocks is done; each engine does one thing after another, all at the same time.
///
/// # Examples
/// ```
/// use numeric_table::execution::{DeviceAdapter, Engine, Event, Serial};
/// assert_eq!(Serial.queue().record(Engine::Copy), Event::DONE); // nothing ever runs later there
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The program itself: it packs blocks.
    Control,
    /// What copies blocks to the device.
    Copy,
    /// What runs kernels.
    Compute,
}

/// A moment in the work of an engine: all that it was given before. The number means something to its device only.
///
/// # Examples
/// ```
/// use numeric_table::execution::Event;
/// assert_eq!(Event::default(), Event::DONE);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event(pub u64);

impl Event {
    /// A moment that has passed.
    pub const DONE: Self = Self(0);
}

/// Orders the engines of a device that work at the same time. A device whose calls are complete on return needs
/// nothing: all methods do nothing by default.
///
/// # Examples
/// ```
/// use numeric_table::execution::{Clock, Detached, DeviceAdapter, Engine};
/// let device = Detached::new().with_clock(Clock { control: 1000, copy: 1000, compute: 1000 }); // bytes per second
/// device.queue().packed(500);
/// let packed = device.queue().record(Engine::Control);
/// device.queue().wait(Engine::Copy, packed); // what is copied from now on comes half a second later
/// assert_eq!(device.queue().times().unwrap().total.as_millis(), 500);
/// ```
pub trait Queue: Send + Sync {
    /// Marks the end of the work that an engine has been given.
    fn record(&self, _engine: Engine) -> Event {
        Event::DONE
    }

    /// Lets an engine begin further work after a moment only.
    fn wait(&self, _engine: Engine, _event: Event) {}

    /// The program has packed so many bytes.
    fn packed(&self, _bytes: usize) {}

    /// The times since the device was made, if the device has a clock of its own; otherwise streams look at the wall's.
    fn times(&self) -> Option<StageTimes> {
        None
    }
}

/// The queue of devices that do everything at once.
pub(super) struct NoQueue;

impl Queue for NoQueue {}

/// For how long each stage of a stream has worked.
///
/// # Examples
/// ```
/// use numeric_table::execution::StageTimes;
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
    /// From the first to the last; less than the sum, if stages overlap.
    pub total: Duration,
}
