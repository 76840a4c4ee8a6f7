//! NVIDIA GPUs: an adapter for the CUDA driver, which is loaded when a program first asks for a device.
//!
//! This file has the adapter. `api`: the functions of the driver and of its compiler; `objects`: the driver's objects
//! and their owners; `driver`: what answers mean; `compiler`: CUDA C; `streams`: the streams of a device and their
//! order; `memory`: its blocks, and copies; `adopt`: memory of other libraries; `places`: where it lies; `strided`,
//! `dlpack` and `interface`: tables of it; `release`: giving it back; `kinds`: managed and pinned blocks; `pinned`:
//! registered memory of the program; `staging`: copies of other memory; `transport` puts these together. `modules`:
//! compiled kernels; `launch`: their arguments; `kernels`: the kernels that every device has; `program`: kernels
//! of the user.
//!
//! `unsafe` code passes addresses to the driver that remain valid until the work has ended.

mod adopt;
mod api;
mod compiler;
mod dlpack;
#[forbid(unsafe_code)]
mod driver;
mod interface;
mod kernels;
mod kinds;
mod launch;
mod memory;
#[forbid(unsafe_code)]
mod modules;
mod objects;
mod pinned;
mod places;
mod program;
#[forbid(unsafe_code)]
mod release;
mod staging;
#[forbid(unsafe_code)]
mod streams;
#[forbid(unsafe_code)]
mod strided;
mod transport;

use std::fmt;
use std::sync::Arc;

pub use adopt::{CudaOrder, CudaRaw, CudaRawMut};
pub use dlpack::DlTensor;
pub use interface::CudaArrayInterface;
pub use memory::CudaBuffer;
pub use pinned::PinnedSlice;
pub use program::{CudaCompileError, CudaGrid, CudaKernel, CudaLaunch, CudaProgram};
pub use transport::CudaTransport;

use modules::Modules;
use numeric_table::{Array, Element, array::MemoryKind};
use pinned::Pinned;
use streams::Streams;

use super::memory::{SeparateMemory, SeparateSpace};
use super::transport::{NO_SUCH_MEMORY, Queue};
use super::{DeviceAdapter, DeviceId, HandleError, TransferStats};

/// A CUDA device: an NVIDIA GPU.
///
/// The crate links no CUDA library: programs with the feature `cuda` build and run everywhere, and [`new`](Self::new)
/// returns [`DeviceError::Unavailable`] if the driver or the device is missing. The driver must have version 11.3 or
/// newer. Kernels are compiled on first use by NVIDIA's compiler (NVRTC) if its library is installed. Otherwise the
/// precompiled kernels of this crate are used.
///
/// * Copies to the device, kernels, and copies from it have one stream each and run concurrently. Events order the
///   work on the same memory, without a call of the program, and other work does not wait.
/// * [`Kernels`](super::Kernels) return when the kernel is launched. A later call that waits reports a failure as
///   [`HandleError::EarlierFault`]. Most such failures make the device unusable for the process:
///   [`HandleError::DeviceLost`].
/// * Freed memory stays in the driver's pool for the next allocation. If an allocation is refused, the idle copies of
///   all handles are freed, and the allocation is tried again.
/// * Memory of the program that is registered ([`pinned`](Self::pinned), [`register`](Self::register)) is copied at
///   the speed of the link. Other memory is copied by all threads to registered blocks of the adapter, 32 MiB for each
///   direction, and from there to the device.
///
/// Each `Cuda` has its own streams and counts. Handles of one cannot be used with the kernels of another, even if both
/// refer to the same GPU. Clones share everything.
///
/// [`DeviceError::Unavailable`]: super::DeviceError::Unavailable
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceError, HandleError, Kernels};
/// use numeric_table_execution::cuda::Cuda;
/// let device = match Cuda::new(0) {
///     Ok(device) => device,
///     Err(HandleError::Device(DeviceError::Unavailable { what })) => return println!("there is not: {what}"),
///     Err(error) => panic!("{error}"),
/// };
/// let input = ArrayHandle::from_container(&device, vec![1.9_f32, -7.0, 1e9]);
/// let mut bytes = ArrayHandle::<u8, _>::empty(&device);
/// let (values, room) = (input.prepare_for_input().unwrap(), bytes.prepare_for_output(3).unwrap());
/// device.convert(values, room, Default::default()).unwrap();
/// assert_eq!(bytes.read_portal().unwrap(), [1, 0, 255]);
/// ```
#[derive(Clone)]
pub struct Cuda {
    ordinal: u32,
    space: Arc<SeparateSpace<CudaTransport>>,
    modules: Arc<Modules>,
}

impl Cuda {
    /// Returns the number of devices: those of the environment variable `CUDA_VISIBLE_DEVICES`, if it is set.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`](super::DeviceError::Unavailable) in [`HandleError::Device`] if the driver is
    /// missing.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::cuda::Cuda;
    /// println!("{} devices", Cuda::count().unwrap_or(0));
    /// ```
    pub fn count() -> Result<usize, HandleError> {
        Ok(driver::count()?)
    }

    /// Opens a device. The first one that a process opens takes about 0.3 s.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`](super::DeviceError::Unavailable) in [`HandleError::Device`] if the driver or the
    /// device is missing; what the driver reports.
    ///
    /// # Examples
    /// See the type.
    pub fn new(ordinal: usize) -> Result<Self, HandleError> {
        let context = driver::context(ordinal)?;
        let modules = Modules::of(&context)?;
        let transport = CudaTransport::new(Arc::new(Streams::new(context)?));
        let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX); // the driver's numbers are of 31 bits
        Ok(Self { ordinal, space: SeparateSpace::new(transport), modules })
    }

    /// Opens all devices.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), of the first device that cannot be opened.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::cuda::Cuda;
    /// for device in Cuda::all().unwrap_or_default() {
    ///     println!("{}", device.name()?);
    /// }
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn all() -> Result<Vec<Self>, HandleError> {
        (0..Self::count()?).map(Self::new).collect()
    }

    /// Returns the name of the device, as reported by the driver.
    ///
    /// # Errors
    /// The errors of the driver.
    ///
    /// # Examples
    /// See [`all`](Self::all).
    pub fn name(&self) -> Result<String, HandleError> {
        Ok(self.streams().check("asking a device for its name", self.streams().context().name())?)
    }

    /// Returns the numbers of free and of all bytes of the device's memory.
    ///
    /// # Errors
    /// The errors of the driver; [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_execution::cuda::Cuda;
    /// if let Ok(device) = Cuda::new(0) {
    ///     let (free, all) = device.memory_info()?;
    ///     assert!(free <= all);
    /// }
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn memory_info(&self) -> Result<(usize, usize), HandleError> {
        self.streams().enter()?;
        Ok(self.streams().check("asking a device for its memory", self.streams().context().memory_info())?)
    }

    /// Returns an array of zeros in program memory that is registered with the driver, so that it is copied to and from
    /// every CUDA device at the speed of the link. All threads touch it first, as in later parallel conversions. The
    /// last owner unregisters and frees it. If the driver cannot register memory, the array is an ordinary one.
    ///
    /// Takes about 60 µs for each MiB, and prevents the memory from being swapped out, so create few such arrays and
    /// reuse them.
    ///
    /// # Errors
    /// [`HandleError::HostAlloc`], [`HandleError::LengthOverflow`], [`HandleError::DeviceLost`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_execution::ArrayHandle;
    /// # use numeric_table_execution::cuda::Cuda;
    /// if let Ok(device) = Cuda::new(0) {
    ///     let mut values = device.pinned::<f32>(1000)?;
    ///     assert_eq!(values.memory_kind(), numeric_table::array::MemoryKind::Pinned);
    ///     values.mutable_data()?.fill(1.5);
    ///     ArrayHandle::from_container(&device, values).prepare_for_input()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pinned<T: Element>(&self, count: usize) -> Result<Array<T>, HandleError> {
        Ok(Pinned::zeros(self.streams(), count)?.into_array())
    }

    /// Registers a slice of the program for the duration of a borrow.
    ///
    /// # Errors
    /// The errors of the driver, for instance for memory that a file is mapped to.
    ///
    /// # Examples
    /// See [`PinnedSlice`].
    pub fn register<'a, T: Element>(&self, values: &'a [T]) -> Result<PinnedSlice<'a, T>, HandleError> {
        PinnedSlice::new(self.streams(), values)
    }

    fn ordinal(&self) -> u32 {
        self.ordinal
    }

    fn streams(&self) -> &Arc<Streams> {
        self.space.transport().streams()
    }
}

impl DeviceAdapter for Cuda {
    type Memory = SeparateMemory<CudaTransport>;

    fn memory(&self) -> Self::Memory {
        SeparateMemory::new(&self.space)
    }

    fn memory_of_kind(&self, kind: MemoryKind) -> Result<Self::Memory, HandleError> {
        match kind {
            MemoryKind::Host => Err(NO_SUCH_MEMORY.into()),
            kind => Ok(SeparateMemory::with_kind(&self.space, kind)),
        }
    }

    fn id(&self) -> DeviceId {
        DeviceId { kind: "cuda", index: self.ordinal }
    }

    fn stats(&self) -> TransferStats {
        self.space.stats()
    }

    fn synchronize(&self) -> Result<(), HandleError> {
        self.space.synchronize()
    }

    fn queue(&self) -> &dyn Queue {
        self.space.transport()
    }

    fn staging<T: Element>(&self, count: usize) -> Result<Array<T>, HandleError> {
        self.pinned(count)
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("ordinal", &self.ordinal).finish()
    }
}
