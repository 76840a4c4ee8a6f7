//! Device tables of arrays of other libraries: by DLPack, or by the CUDA array interface of those that have no DLPack.

use numeric_table_execution::cuda::{Cuda, CudaArrayInterface, DlTensor};
use numeric_table_execution::{HandleError, MemoryMismatch};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::error::{CopyRequiredError, OrRaiseOfDevice, TableTypeError};
use crate::base::exit;
use crate::device;
use crate::device::table::{DeviceTable, Outcome};
use crate::device::tensors::Foreign;
use crate::device::values::{AnyValues, Stream, adopted, finish, of_interface};
use crate::doors::devices::{CPU, MANAGED, PINNED, PLAIN, attribute, place, wrong};

/// Creates a table of the memory of an array, or a copy of it on its device.
pub(crate) fn table(array: &Bound<'_, PyAny>, copies: bool) -> PyResult<DeviceTable> {
    let py = array.py();
    let Some((device_type, number)) = place(array)? else {
        return interface(array, copies);
    };
    let ordinal = match device_type {
        PLAIN | MANAGED => usize::try_from(number).unwrap_or(usize::MAX),
        PINNED => 0,
        CPU => return Err(TableTypeError::new_err("the array is in CPU memory: Table(array).to_device() copies it")),
        other => {
            let text = format!("the array is on a device of DLPack's type {other}: tables can be on CUDA devices (2)");
            return Err(TableTypeError::new_err(text));
        }
    };
    let device = device::open(py, ordinal)?;
    let capsule = capsule(array, &device, device_type)?;
    let tensor = Foreign::take(&capsule)?;
    tensor.element_type()?;
    if let Some((shape, strides)) = tensor.geometry() {
        check(shape, strides, copies)?;
    }
    let is_read_only = tensor.is_read_only();
    let device_type = tensor.device().0;
    // SAFETY: the producer of the tensor promises that its memory stays until it is deleted, and has made the stream
    // for adopted memory wait for its work. Later work in the default stream is ordered with that of the table; the
    // documentation asks the caller to order other work.
    let adopt = |tensor: DlTensor| unsafe { adopted(&device, tensor) };
    let make = || own(adopt(tensor.into_tensor()?)?, copies);
    made(py.detach(make).or_raise_of_device()?, copies, is_read_only, device_type)
}

/// Returns the values, or a copy of them, which is complete.
fn own(values: AnyValues, copies: bool) -> Outcome<AnyValues> {
    if !copies {
        return Ok(values);
    }
    let copy = values.converted(values.element(), values.order(), Default::default())?;
    finish(values.cuda())?; // other libraries may write theirs
    Ok(copy)
}

fn made(values: AnyValues, copies: bool, is_read_only: bool, device_type: i32) -> PyResult<DeviceTable> {
    Ok(match copies {
        true => DeviceTable::new_unnamed(values),
        false => DeviceTable::of_foreign(values, is_read_only, device_type),
    })
}

/// Returns a field of the CUDA array interface; a field that is missing is `None`.
fn field<'py, V>(interface: &Bound<'py, PyDict>, name: &str) -> PyResult<V>
where
    V: for<'a> FromPyObject<'a, 'py>,
{
    let found = interface.get_item(name)?;
    let found = found.unwrap_or_else(|| interface.py().None().into_bound(interface.py()));
    let error = match found.extract::<V>() {
        Ok(value) => return Ok(value),
        Err(error) => error.into(),
    };
    Err(wrong(&format!("the field {name:?} of __cuda_array_interface__"), &error))
}

/// Asks an array for the capsule of a tensor, ordered before the work of the device on adopted memory.
fn capsule<'py>(array: &Bound<'py, PyAny>, device: &Cuda, device_type: i32) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let options = PyDict::new(py);
    if device_type != PINNED {
        options.set_item("stream", device.exchange_stream())?;
    }
    let old = options.copy()?;
    options.set_item("max_version", (1, 0))?;
    let export = exit::attribute(array, "__dlpack__")?;
    match exit::call_with(&export, &options) {
        // Producers before version 1.0 do not know the argument. Any other error is the producer's own.
        Err(error) if error.is_instance_of::<PyTypeError>(py) && error.to_string().contains("max_version") => {
            exit::call_with(&export, &old)
        }
        result => result,
    }
}

/// Refuses gaps between values unless they may be copied. The library reports other dimensions and negative numbers.
fn check(shape: &[i64], strides: Option<&[i64]>, copies: bool) -> PyResult<()> {
    let Some(strides) = strides.filter(|_| !copies) else { return Ok(()) };
    let is = |stride: i64, expected: i64, count: i64| stride == expected || count <= 1;
    let is_dense = match (shape, strides) {
        (&[rows], &[down]) => is(down, 1, rows),
        (&[rows, columns], &[down, right]) => {
            let by_rows = is(down, columns, rows) && is(right, 1, columns);
            rows == 0 || columns == 0 || by_rows || is(down, 1, rows) && is(right, rows, columns)
        }
        _ => true,
    };
    if is_dense || strides.iter().any(|&stride| stride < 0) {
        return Ok(());
    }
    let text = format!(
        "a copy is required: values with the shape {shape:?} and the strides {strides:?} are not stored row by row or \
         column by column: copy=True copies them on the device"
    );
    Err(CopyRequiredError::new_err(text))
}

/// Creates a table of an array with `__cuda_array_interface__` only.
fn interface(array: &Bound<'_, PyAny>, copies: bool) -> PyResult<DeviceTable> {
    let py = array.py();
    let Some(found) = attribute(array, "__cuda_array_interface__")? else {
        let text = format!("{} has neither __dlpack__ nor __cuda_array_interface__", array.get_type().name()?);
        return Err(TableTypeError::new_err(text));
    };
    let found = found.cast_into::<PyDict>().map_err(|error| wrong("__cuda_array_interface__", &error.into()))?;
    if field::<Option<Bound<'_, PyAny>>>(&found, "mask")?.is_some() {
        return Err(TableTypeError::new_err("tables have no masks: fill the masked values first"));
    }
    let (address, is_read_only): (u64, bool) = field(&found, "data")?;
    let typestr: String = field(&found, "typestr")?;
    let interface = CudaArrayInterface {
        address,
        is_read_only,
        typestr,
        shape: field(&found, "shape")?,
        strides: field(&found, "strides")?,
        stream: field(&found, "stream")?,
    };
    let Some(element) = interface.element_type() else {
        return Err(TableTypeError::new_err(format!("tables do not support values of the type {}", interface.typestr)));
    };
    let size = element.size_in_bytes() as i64;
    if let Some(strides) = &interface.strides
        && strides.iter().all(|stride| stride % size == 0)
    {
        let strides: Vec<i64> = strides.iter().map(|stride| stride / size).collect();
        check(&interface.shape, Some(&strides), copies)?;
    }
    let adopt = |device: &Cuda| {
        let held = Held(Some(array.clone().unbind()));
        // SAFETY: the array keeps its memory as long as it exists, and the deleter drops it. The rest is as for
        // tensors.
        py.detach(|| own(unsafe { of_interface(device, element, &interface, move || drop(held)) }?, copies))
    };
    // The interface does not state the device; the driver knows it.
    let values = match adopt(&device::open(py, 0)?) {
        Err(HandleError::WrongMemory(MemoryMismatch::Device { actual: found, .. })) => {
            adopt(&device::open(py, found as usize)?)
        }
        result => result,
    };
    made(values.or_raise_of_device()?, copies, is_read_only, PLAIN)
}

/// An array of another library, which is dropped on any thread.
struct Held(Option<Py<PyAny>>);

impl Drop for Held {
    fn drop(&mut self) {
        let array = self.0.take();
        if device::is_forked() {
            std::mem::forget(array); // its memory is that of the parent process
            return;
        }
        let array = std::mem::ManuallyDrop::new(array); // kept if the interpreter has ended
        let _ = exit::attached(|py| {
            let array = std::mem::ManuallyDrop::into_inner(array);
            exit::call_foreign(|| drop(array.map(|array| array.into_bound(py)))); // may run code of the user
            Ok(())
        });
    }
}

/// Returns the stream that a consumer states, `None` for no order.
pub(crate) fn stream_of(stream: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Stream>> {
    let Some(stream) = stream.filter(|stream| !stream.is_none()) else { return Ok(Some(Stream::DEFAULT)) };
    match stream.extract::<i64>()? {
        -1 => Ok(None),
        0 => Err(PyBufferError::new_err("the stream 0 is ambiguous: pass 1 for the legacy default stream")),
        handle => handle_of(handle).map(Some),
    }
}

/// Returns a stream of another library: an object of PyTorch or CuPy, or the number of its handle.
pub(crate) fn stream_object(stream: &Bound<'_, PyAny>) -> PyResult<Stream> {
    for name in ["cuda_stream", "ptr"] {
        if let Some(handle) = stream.getattr_opt(name)? {
            return handle_of(handle.extract()?);
        }
    }
    handle_of(stream.extract()?)
}

fn handle_of(handle: i64) -> PyResult<Stream> {
    let wrong = |_| PyBufferError::new_err(format!("{handle} is not the handle of a stream"));
    match usize::try_from(handle).map_err(wrong)? {
        0 => Ok(Stream::DEFAULT),
        // SAFETY: as every library that exchanges tensors, this relies on the caller, who has the stream.
        handle => Ok(unsafe { Stream::new(handle) }),
    }
}
