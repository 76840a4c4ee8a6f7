//! The user's own kernels: CUDA C, compiled for a device, and launched with views and numbers of any types.

use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::{Element, Error};

use super::compiler::CompileError;
use super::launch::{Argument, Geometry, launch};
use super::memory::CudaBuffer;
use super::modules::compile_text;
use super::objects::{Function, Module};
use super::{Cuda, CudaTransport};
use crate::memory::{DeviceView, DeviceViewMut};
use crate::transport::Transport;
use crate::{DeviceError, HandleError};

/// The messages of the compiler about CUDA C with errors. The source of an [`ErrorKind::Other`].
///
/// # Examples
/// See [`Cuda::compile`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernels cannot be compiled:\n{log}")]
pub struct CudaCompileError {
    /// The compiler's messages, with the numbers of lines.
    pub log: String,
}

/// The user's own kernels, compiled for a device. Created by [`Cuda::compile`].
///
/// # Examples
/// See [`Cuda::compile`].
#[derive(Clone)]
pub struct CudaProgram {
    device: Cuda,
    module: Arc<Module>,
}

/// A kernel of a [`CudaProgram`].
///
/// # Examples
/// See [`Cuda::compile`].
#[derive(Clone)]
pub struct CudaKernel {
    device: Cuda,
    function: Arc<Function>,
}

/// The number of blocks of threads, and of threads in a block, that run a kernel: along three axes.
///
/// # Examples
/// ```
/// use numeric_table_execution::cuda::CudaGrid;
/// assert_eq!(CudaGrid { blocks: [64, 1, 1], threads: [256, 1, 1], shared_bytes: 0 }.threads[0], 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaGrid {
    /// Number of blocks: up to 2^31 - 1 along the first axis, and 65,535 along the others.
    pub blocks: [u32; 3],
    /// Number of threads of a block: up to 1024 in all.
    pub threads: [u32; 3],
    /// Number of bytes of shared memory that each block has besides what the kernel declares.
    pub shared_bytes: u32,
}

/// The launch of a kernel, to which arguments are added in the order of its parameters. Created by
/// [`CudaKernel::over`] and [`CudaKernel::on_grid`].
///
/// # Examples
/// See [`Cuda::compile`].
#[must_use = "nothing is launched before `launch`"]
pub struct CudaLaunch<'l> {
    kernel: &'l CudaKernel,
    geometry: Geometry,
    arguments: Vec<Argument<'l>>,
    is_of_device: bool,
}

impl Cuda {
    /// Compiles CUDA C (C++17, without the headers of the standard library) for this device. Kernels must be `extern
    /// "C"`, so that their names are not mangled. Takes about 0.1 s.
    ///
    /// # Errors
    /// [`CudaCompileError`] in [`ErrorKind::Other`] in [`HandleError::Library`]; [`DeviceError::Unavailable`] in
    /// [`HandleError::Device`] where the library of the compiler (NVRTC) is not installed; what the driver reports.
    ///
    /// # Examples
    /// Of two inputs of different types, a result of a third; and a refusal that the host looks at:
    /// ```
    /// use numeric_table_execution::{ArrayHandle, DeviceError, HandleError};
    /// use numeric_table_execution::cuda::Cuda;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let program = device.compile(r#"
    ///     extern "C" __global__ void scale(const float* x, const unsigned char* by, double* y, size_t count,
    ///                                      unsigned* refused) {
    ///         size_t step = (size_t)gridDim.x * blockDim.x;
    ///         for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
    ///             if (by[i] == 0) atomicAdd(refused, 1u);
    ///             y[i] = (double)x[i] * by[i];
    ///         }
    ///     }
    /// "#);
    /// let program = match program {
    ///     Err(HandleError::Device(DeviceError::Unavailable { .. })) => return Ok(()), // the compiler is missing
    ///     program => program?,
    /// };
    /// let count = 1000;
    /// let x = ArrayHandle::from_container(&device, vec![0.5_f32; count]);
    /// let by = ArrayHandle::from_container(&device, vec![3_u8; count]);
    /// let mut y = ArrayHandle::<f64, _>::empty(&device);
    /// let mut refused = ArrayHandle::from_container(&device, vec![0_u32]);
    /// let scale = program.kernel("scale")?;
    /// let (x, by) = (x.prepare_for_input()?, by.prepare_for_input()?);
    /// let (mut output, mut flag) = (y.prepare_for_output(count)?, refused.prepare_in_place()?);
    /// let launch = scale.over(count).input(&x).input(&by).output(&mut output).number(count as u64).output(&mut flag);
    /// // SAFETY: these are the parameters of `scale`, which reads and writes `count` values of each, and one flag.
    /// unsafe { launch.launch() }?;
    /// assert_eq!(refused.read_portal()?, [0]);
    /// assert!(y.read_portal()?.iter().all(|&y| y == 1.5));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub fn compile(&self, source: &str) -> Result<CudaProgram, HandleError> {
        let refused = |log| HandleError::from(Error::other(CudaCompileError { log }));
        let text =
            CString::new(source).map_err(|_| refused("the source has a byte of zero, which would end it".into()));
        let code = compile_text(&text?).map_err(|error| match error {
            CompileError::Refused(log) => refused(log),
            CompileError::Unavailable => DeviceError::Unavailable { what: "the compiler of kernels (NVRTC)" }.into(),
            CompileError::Failed => DeviceError::Failed { code: 0, what: "compiling kernels" }.into(),
        })?;
        self.streams().enter()?;
        let module = self.streams().check("loading kernels", Module::new(self.streams().context(), &code))?;
        Ok(CudaProgram { device: self.clone(), module })
    }
}

impl CudaProgram {
    /// Returns a kernel.
    ///
    /// # Errors
    /// [`HandleError::Device`] if no kernel has this name.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub fn kernel(&self, name: &str) -> Result<CudaKernel, HandleError> {
        let streams = self.device.streams();
        streams.enter()?;
        let zero = DeviceError::Failed { code: 0, what: "finding a kernel whose name has a byte of zero" };
        let name = CString::new(name).map_err(|_| zero)?;
        let function = streams.check("finding a kernel", self.module.function(&name))?;
        Ok(CudaKernel { device: self.device.clone(), function: Arc::new(function) })
    }
}

impl CudaKernel {
    /// Begins a launch on as many threads as there are items, and on no more than can run at once: a kernel takes its
    /// items in steps of `gridDim.x * blockDim.x`.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub fn over(&self, items: usize) -> CudaLaunch<'_> {
        self.begin(self.device.over(items))
    }

    /// Begins a launch on a grid. [`launch`](CudaLaunch::launch) returns an error if the device does not support it.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table_execution::cuda::{Cuda, CudaGrid, CudaKernel, CudaLaunch};
    /// fn on_one_block(kernel: &CudaKernel) -> CudaLaunch<'_> {
    ///     kernel.on_grid(CudaGrid { blocks: [1, 1, 1], threads: [32, 32, 1], shared_bytes: 0 })
    /// }
    /// ```
    pub fn on_grid(&self, grid: CudaGrid) -> CudaLaunch<'_> {
        let CudaGrid { blocks, threads, shared_bytes } = grid;
        self.begin(Geometry { blocks: blocks.into(), threads: threads.into(), shared_bytes })
    }

    fn begin(&self, geometry: Geometry) -> CudaLaunch<'_> {
        CudaLaunch { kernel: self, geometry, arguments: Vec::new(), is_of_device: true }
    }
}

impl<'l> CudaLaunch<'l> {
    /// Adds the address of values that the kernel reads.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub fn input<T: Element>(mut self, view: &'l DeviceView<'_, T, CudaTransport>) -> Self {
        self.is_of_device &= view.check(&self.kernel.device.space).is_ok();
        self.arguments.push(Argument::Read(view.buffer(), view.byte_range()));
        self
    }

    /// Adds the address of values that the kernel writes, and may read.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub fn output<T: Element>(mut self, view: &'l mut DeviceViewMut<'_, T, CudaTransport>) -> Self {
        self.is_of_device &= view.check(&self.kernel.device.space).is_ok();
        let range = view.byte_range();
        self.arguments.push(Argument::Write(view.buffer(), range));
        self
    }

    /// Adds a number.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub fn number<T: Element>(mut self, number: T) -> Self {
        let mut bits = [0; size_of::<u64>()];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&number));
        self.arguments.push(Argument::Number(u64::from_ne_bytes(bits)));
        self
    }

    /// Launches the kernel, after all work that it depends on, and returns. A failure of the kernel is reported by a
    /// later call that waits.
    ///
    /// # Errors
    /// [`HandleError::WrongDevice`]; [`HandleError::DeviceLost`]; what the driver reports, for instance for a grid that
    /// the device does not support.
    ///
    /// # Safety
    /// * The kernel has as many parameters as arguments were added, each of the type of its argument: a pointer for a
    ///   view, and a number of as many bytes.
    /// * It reads and writes nothing but the values of the views, and writes only those of outputs.
    ///
    /// # Examples
    /// See [`Cuda::compile`].
    pub unsafe fn launch(mut self) -> Result<(), HandleError> {
        if !self.is_of_device {
            return Err(HandleError::WrongDevice);
        }
        let CudaKernel { device, function, .. } = self.kernel;
        // SAFETY: the caller's promise.
        Ok(unsafe { launch(device.streams(), function, self.geometry, &mut self.arguments) }?)
    }

    /// Launches a kernel that can refuse values: its last parameter, after those of the arguments, is `unsigned long
    /// long *refused`. Waits for it, and returns the smallest number that the kernel left there with `atomicMin`, such as
    /// the index of a value; `None` if it left none. The number is `ULLONG_MAX` before.
    ///
    /// Source: the error buffer of VTK-m, into which a kernel's `RaiseError` writes.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch); [`HandleError::EarlierFault`] if the kernel fails.
    ///
    /// # Safety
    /// Those of [`launch`](Self::launch), with that parameter, through which it writes one number.
    ///
    /// # Examples
    /// ```
    /// use numeric_table_execution::{ArrayHandle, DeviceError, HandleError};
    /// use numeric_table_execution::cuda::Cuda;
    /// let Ok(device) = Cuda::new(0) else { return Ok(()) };
    /// let program = device.compile(r#"
    ///     extern "C" __global__ void reciprocals(float* x, size_t count, unsigned long long* refused) {
    ///         size_t step = (size_t)gridDim.x * blockDim.x;
    ///         for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
    ///             if (x[i] == 0.0f) atomicMin(refused, (unsigned long long)i);
    ///             x[i] = 1.0f / x[i];
    ///         }
    ///     }
    /// "#);
    /// let program = match program {
    ///     Err(HandleError::Device(DeviceError::Unavailable { .. })) => return Ok(()), // the compiler is missing
    ///     program => program?,
    /// };
    /// let reciprocals = program.kernel("reciprocals")?;
    /// let mut x = ArrayHandle::from_container(&device, vec![4.0_f32, 0.0, 2.0, 0.0]);
    /// let mut view = x.prepare_in_place()?;
    /// // SAFETY: these are the parameters of `reciprocals`, with the refusal; it reads and writes four values.
    /// let refused = unsafe { reciprocals.over(4).output(&mut view).number(4_u64).launch_checked() }?;
    /// assert_eq!(refused, Some(1));
    /// # Ok::<(), numeric_table_execution::HandleError>(())
    /// ```
    pub unsafe fn launch_checked(self) -> Result<Option<u64>, HandleError> {
        let device = &self.kernel.device;
        let transport = device.space.transport();
        let mut refused = CudaBuffer::allocate(device.streams(), size_of::<u64>())?;
        transport.upload(&u64::MAX.to_le_bytes(), &mut refused, 0)?;
        // SAFETY: the caller's promise; the last parameter is a number in a block of its own.
        unsafe { self.with_refusal(&mut refused) }?;
        let mut number = [0; size_of::<u64>()];
        transport.download(&refused, 0..size_of::<u64>(), &mut number)?;
        Ok(Some(u64::from_le_bytes(number)).filter(|&number| number != u64::MAX))
    }

    /// Launches the kernel with one more argument, which lives for the launch only.
    ///
    /// # Safety
    /// Those of [`launch_checked`](Self::launch_checked).
    unsafe fn with_refusal<'r>(self, refused: &'r mut CudaBuffer) -> Result<(), HandleError>
    where
        'l: 'r,
    {
        let mut launch: CudaLaunch<'r> = self;
        launch.arguments.push(Argument::Write(refused, 0..size_of::<u64>()));
        // SAFETY: the caller's promise.
        unsafe { launch.launch() }
    }
}

impl fmt::Debug for CudaProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaProgram").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for CudaKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaKernel").field("device", &self.device).finish_non_exhaustive()
    }
}

impl fmt::Debug for CudaLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaLaunch").field("arguments", &self.arguments.len()).finish_non_exhaustive()
    }
}
