//! Compiled kernels: of each unit of source text once in a process, for each device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, DriverError, sys};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};

use super::driver;
use super::kernels::source;
use super::streams::Streams;
use crate::base::element::ElementType;
use crate::execution::DeviceError;
use crate::execution::control::lock;

/// A translation unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// Conversions of a type to another.
    Convert(ElementType, ElementType),
    /// Moves of values of any width.
    Memory,
    /// Statistics of values of a type.
    Statistics(ElementType),
    /// Merging statistics.
    Merge,
}

impl Unit {
    fn name(self) -> String {
        match self {
            Self::Convert(from, to) => source::convert_unit(from, to),
            Self::Memory => "memory".into(),
            Self::Statistics(element) => source::statistics_entry(element),
            Self::Merge => source::MERGE_ENTRY.into(),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Convert(from, to) => source::convert_source(from, to),
            Self::Memory => source::memory_source(),
            Self::Statistics(element) => source::statistics_source(element),
            Self::Merge => source::merge_source(),
        }
    }
}

/// Kernels that are loaded. They are unloaded when the device has nothing to do any more: it may be running one of them.
pub(super) struct Loaded {
    context: Arc<CudaContext>,
    module: Arc<CudaModule>,
}

impl Loaded {
    pub(super) fn new(context: &Arc<CudaContext>, ptx: Ptx) -> Result<Arc<Self>, DriverError> {
        Ok(Arc::new(Self { module: context.load_module(ptx)?, context: context.clone() }))
    }

    /// Returns a kernel. It must be dropped before this is.
    pub(super) fn function(&self, name: &str) -> Result<CudaFunction, DriverError> {
        self.context.bind_to_thread()?; // `cudarc` does not, and this thread may be a new one
        self.module.load_function(name)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // The first error may be that of something that was dropped earlier.
        let _ = self.context.synchronize().or_else(|_| self.context.synchronize());
    }
}

/// The kernels of one device.
pub(super) struct Modules {
    context: Arc<CudaContext>,
    loaded: Mutex<HashMap<Unit, Arc<Loaded>>>,
    multiprocessors: u32,
}

impl Modules {
    /// Returns the kernels of a device, which all adapters of the device share.
    pub(super) fn of(context: &Arc<CudaContext>) -> Result<Arc<Self>, DeviceError> {
        static ALL: Mutex<Vec<(usize, Weak<Modules>)>> = Mutex::new(Vec::new());
        let mut all = lock(&ALL);
        all.retain(|(_, modules)| modules.strong_count() > 0);
        let found = all.iter().find(|&&(ordinal, _)| ordinal == context.ordinal());
        if let Some(modules) = found.and_then(|(_, modules)| modules.upgrade()) {
            return Ok(modules);
        }
        let count = context.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let count = count.map_err(driver::failed("asking a device for its multiprocessors"))?;
        let multiprocessors = u32::try_from(count).unwrap_or(1).max(1);
        let modules = Arc::new(Self { context: context.clone(), loaded: Mutex::default(), multiprocessors });
        all.push((context.ordinal(), Arc::downgrade(&modules)));
        Ok(modules)
    }

    /// Returns the number of multiprocessors of the device.
    pub(super) fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// Returns a kernel of a unit, which is compiled if nobody has asked for it before: that takes about 0.1 s.
    pub(super) fn function(&self, streams: &Streams, unit: Unit, name: &str) -> Result<CudaFunction, DeviceError> {
        let mut loaded = lock(&self.loaded);
        let module = match loaded.get(&unit) {
            Some(module) => module.clone(),
            None => {
                let module = streams.check("loading kernels", Loaded::new(&self.context, compile(unit)?))?;
                loaded.insert(unit, module.clone());
                module
            }
        };
        drop(loaded);
        streams.check("loading a kernel", module.function(name))
    }
}

/// Compiles a unit, or finds it among those that come with the library.
fn compile(unit: Unit) -> Result<Ptx, DeviceError> {
    if !driver::has_compiler() {
        return source::ptx(&unit.name())
            .map(Ptx::from_src)
            .ok_or(DeviceError::Unavailable { what: "the compiler of kernels (NVRTC)" });
    }
    compile_text(&unit.text()).map_err(|_| DeviceError::Failed { code: 0, what: "compiling a kernel" })
}

/// Compiles CUDA C.
pub(super) fn compile_text(text: &str) -> Result<Ptx, CompileError> {
    let options = CompileOptions { options: source::OPTIONS.map(String::from).to_vec(), ..CompileOptions::default() };
    compile_ptx_with_opts(text, options)
}
