//! CUDA devices: each is opened once in a process, at its first use, which also loads the driver.

pub(crate) mod foreign;
#[forbid(unsafe_code)]
pub(crate) mod methods;
pub(crate) mod table;
pub(crate) mod tensors;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use numeric_table_execution::cuda::Cuda;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::base::error::{DeviceError, OrRaiseOfDevice, TableTypeError};
use crate::base::exit;

/// The devices that are open. They stay open: tables and tensors of other libraries use them until the end.
static OPEN: Mutex<BTreeMap<usize, Cuda>> = Mutex::new(BTreeMap::new());
/// The number of forks before a device was opened.
static FORKS: OnceLock<usize> = OnceLock::new();

/// Returns whether the devices were opened by a parent process. The driver does not work in its children.
pub(crate) fn is_forked() -> bool {
    FORKS.get().is_some_and(|&forks| forks != exit::forks())
}

/// Fails in a process whose parent has opened the devices.
pub(crate) fn check_process() -> PyResult<()> {
    match is_forked() {
        true => Err(DeviceError::new_err(
            "a CUDA device that the parent process has opened cannot be used after a fork: \
             start processes with the method 'spawn'",
        )),
        false => Ok(()),
    }
}

/// Opens a device. Other Python threads run meanwhile.
pub(crate) fn open(py: Python<'_>, ordinal: usize) -> PyResult<Cuda> {
    FORKS.get_or_init(exit::forks);
    check_process()?;
    let open = || {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = open.get(&ordinal) {
            return Ok(device.clone());
        }
        let device = Cuda::new(ordinal)?;
        open.insert(ordinal, device.clone());
        Ok(device)
    };
    py.detach(open).or_raise_of_device()
}

/// Parses a device: its number, or `"cuda"` or `"cuda:1"`, as PyTorch names it.
pub(crate) fn ordinal(device: &Bound<'_, PyAny>) -> PyResult<usize> {
    let wrong = || TableTypeError::new_err(format!("a device is a number, 'cuda' or 'cuda:1', not {device:?}"));
    if device.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    if let Ok(number) = device.extract::<usize>() {
        return Ok(number);
    }
    // `str(torch.device("cuda", 1))` is such a name too.
    let is_text = device.is_instance_of::<PyString>() || device.hasattr("index")?;
    let name = if is_text { device.str()?.to_string_lossy().into_owned() } else { String::new() };
    match name.strip_prefix("cuda") {
        Some("") => Ok(0),
        Some(number) => number.strip_prefix(':').and_then(|number| number.parse().ok()).ok_or_else(wrong),
        None => Err(wrong()),
    }
}
