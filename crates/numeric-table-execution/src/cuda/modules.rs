//! Compiled kernels: of each unit of source text once in a process, for each device.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, Weak};

use numeric_table::ElementType;

use super::compiler::{self, CompileError};
use super::driver;
use super::kernels::source;
use super::objects::{Context, Function, Module};
use super::streams::Streams;
use crate::DeviceError;
use crate::control::lock;

/// A translation unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// Conversions of a type to another.
    Convert(ElementType, ElementType),
    /// Moves of values of any width.
    Memory,
    /// Sparse rows as dense ones, of values of any width.
    Sparse,
    /// Statistics of values of a type.
    Statistics(ElementType),
    /// Merging statistics.
    Merge,
    /// Standardizing values.
    Standardize,
    /// Sorting, selecting and counting values of any type.
    Sorting,
    /// Reductions and scans of values of any type.
    Reductions,
}

impl Unit {
    fn name(self) -> String {
        match self {
            Self::Convert(from, to) => source::convert_unit(from, to),
            Self::Memory => "memory".into(),
            Self::Sparse => "sparse".into(),
            Self::Statistics(element) => source::statistics_entry(element),
            Self::Merge => source::MERGE_ENTRY.into(),
            Self::Standardize => source::STANDARDIZE_UNIT.into(),
            Self::Sorting => "sorting".into(),
            Self::Reductions => "reductions".into(),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Convert(from, to) => source::convert_source(from, to),
            Self::Memory => source::memory_source(),
            Self::Sparse => source::sparse_source(),
            Self::Statistics(element) => source::statistics_source(element),
            Self::Merge => source::merge_source(),
            Self::Standardize => source::standardize_source(),
            Self::Sorting => source::sorting_source(),
            Self::Reductions => source::reductions_source(),
        }
    }
}

/// The kernels of one device.
pub(super) struct Modules {
    context: Arc<Context>,
    loaded: Mutex<HashMap<Unit, Arc<Module>>>,
    multiprocessors: u32,
}

impl Modules {
    /// Returns the kernels of a device, which all adapters of the device share.
    pub(super) fn of(context: &Arc<Context>) -> Result<Arc<Self>, DeviceError> {
        static ALL: Mutex<Vec<(usize, Weak<Modules>)>> = Mutex::new(Vec::new());
        let mut all = lock(&ALL);
        all.retain(|(_, modules)| modules.strong_count() > 0);
        let found = all.iter().find(|&&(ordinal, _)| ordinal == context.ordinal());
        if let Some(modules) = found.and_then(|(_, modules)| modules.upgrade()) {
            return Ok(modules);
        }
        let failed = driver::failed("asking a device for its multiprocessors");
        let multiprocessors = context.multiprocessors().map_err(failed)?;
        let modules = Arc::new(Self { context: context.clone(), loaded: Mutex::default(), multiprocessors });
        all.push((context.ordinal(), Arc::downgrade(&modules)));
        Ok(modules)
    }

    /// Returns the number of multiprocessors of the device.
    pub(super) fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// Returns a kernel of a unit. Compiles the unit on first use, which takes about 0.1 s.
    pub(super) fn function(&self, streams: &Streams, unit: Unit, name: &str) -> Result<Function, DeviceError> {
        let mut loaded = lock(&self.loaded);
        let module = match loaded.get(&unit) {
            Some(module) => module.clone(),
            None => {
                let module = streams.check("loading kernels", Module::new(&self.context, &compile(unit)?))?;
                loaded.insert(unit, module.clone());
                module
            }
        };
        drop(loaded);
        let name = CString::new(name).map_err(|_| DeviceError::Failed { code: 0, what: "loading a kernel" })?;
        streams.check("loading a kernel", module.function(&name))
    }
}

/// Compiles a unit, or finds it among those that come with the library.
fn compile(unit: Unit) -> Result<CString, DeviceError> {
    let failed = DeviceError::Failed { code: 0, what: "compiling a kernel" };
    if !compiler::is_there() {
        let code = source::ptx(&unit.name());
        let code = code.ok_or(DeviceError::Unavailable { what: "the compiler of kernels (NVRTC)" })?;
        return CString::new(code).map_err(|_| failed);
    }
    let text = CString::new(unit.text()).map_err(|_| failed)?;
    compile_text(&text).map_err(|_| failed)
}

/// Compiles CUDA C.
pub(super) fn compile_text(text: &CStr) -> Result<CString, CompileError> {
    compiler::compile(text, &source::OPTIONS)
}
