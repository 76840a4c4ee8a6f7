//! Values exported to Python through the buffer protocol, which never change.
//!
//! The exporter is not the table but a share of its memory. A write to the table first copies shared memory, so that a
//! NumPy array keeps its values.

use std::ffi::{c_int, c_void};

use numeric_table::{AnyArray, Array, DataLayout, Element, ElementType, Shape};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::element;
use crate::base::numpy_array::{self, Values};

/// Values that are shared with Python: read-only, of one or two dimensions.
#[pyclass(frozen, module = "numeric_table._native")]
pub(crate) struct Share {
    _array: AnyArray,
    element: ElementType,
    address: usize,
    dimensions: usize,
    shape: [isize; 2],
    /// In bytes.
    strides: [isize; 2],
}

impl Share {
    /// Shares a table of values, in the given order.
    pub(crate) fn table<T: Element>(array: Array<T>, shape: Shape, layout: DataLayout) -> Self {
        let size = size_of::<T>() as isize;
        // Where there are values, all of this is less than `isize::MAX`.
        let [rows, columns] = [shape.rows, shape.columns].map(|count| isize::try_from(count).unwrap_or(isize::MAX));
        let strides = match layout {
            DataLayout::RowMajor => [columns.wrapping_mul(size), size],
            DataLayout::ColumnMajor => [size, rows.wrapping_mul(size)],
        };
        Self::new(array, 2, [rows, columns], strides)
    }

    /// Shares a vector of values.
    pub(crate) fn vector<T: Element>(array: Array<T>) -> Self {
        let (count, size) = (array.len() as isize, size_of::<T>() as isize);
        Self::new(array, 1, [count, 1], [size, size])
    }

    fn new<T: Element>(array: Array<T>, dimensions: usize, shape: [isize; 2], strides: [isize; 2]) -> Self {
        let address = array.as_ptr() as usize;
        Self { element: T::TYPE, address, dimensions, shape, strides, _array: AnyArray::new(array) }
    }

    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Returns the shape, and the strides in bytes.
    pub(crate) fn geometry(&self) -> ([isize; 2], [isize; 2]) {
        (self.shape, self.strides)
    }

    /// Returns a NumPy array over the values.
    pub(crate) fn into_numpy(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let dtype = element::dtype(py, self.element)?;
        let (address, dimensions, shape, strides) = (self.address, self.dimensions, self.shape, self.strides);
        let values = Values { dtype, address, shape: &shape[..dimensions], strides: &strides[..dimensions] };
        let owner = Bound::new(py, self)?.into_any();
        // SAFETY: the share holds values of this type at this address, with this shape. They do not change while they are
        // shared, and live as long as the share.
        unsafe { numpy_array::read_only(values, owner) }
    }

    fn is_c_contiguous(&self) -> bool {
        let size = self.element.size_in_bytes() as isize;
        let is_short = self.shape[0] <= 1 || self.shape[1] <= 1 || self.dimensions == 1;
        is_short || (self.strides == [self.shape[1].wrapping_mul(size), size])
    }

    fn is_fortran_contiguous(&self) -> bool {
        let size = self.element.size_in_bytes() as isize;
        let is_short = self.shape[0] <= 1 || self.shape[1] <= 1 || self.dimensions == 1;
        is_short || (self.strides == [size, self.shape[0].wrapping_mul(size)])
    }
}

#[methods]
impl Share {
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let wants = |flag: c_int| flags & flag == flag;
        if wants(ffi::PyBUF_WRITABLE) {
            return Err(PyBufferError::new_err("the values are shared with a table: they are read-only"));
        }
        let is_c = this.is_c_contiguous();
        if wants(ffi::PyBUF_C_CONTIGUOUS) && !is_c || wants(ffi::PyBUF_F_CONTIGUOUS) && !this.is_fortran_contiguous() {
            return Err(PyBufferError::new_err("the values are not stored in this order"));
        }
        if !wants(ffi::PyBUF_STRIDES) && !is_c {
            return Err(PyBufferError::new_err("the values are stored by columns: request strides"));
        }
        let null: *mut c_void = std::ptr::null_mut();
        let item = this.element.size_in_bytes() as isize;
        // SAFETY: the interpreter's request is valid for writes. What it points to afterwards lives as long as the
        // share, a reference to which it holds: the numbers are fields of the frozen object, the values belong to its
        // array.
        unsafe {
            (*view).buf = this.address as *mut c_void;
            (*view).len = this.shape[0].wrapping_mul(this.shape[1]).wrapping_mul(item);
            (*view).readonly = 1;
            (*view).itemsize = item;
            (*view).format =
                if wants(ffi::PyBUF_FORMAT) { element::format(this.element).as_ptr().cast_mut() } else { null.cast() };
            (*view).ndim = if wants(ffi::PyBUF_ND) { this.dimensions as c_int } else { 1 };
            (*view).shape = if wants(ffi::PyBUF_ND) { this.shape.as_ptr().cast_mut() } else { null.cast() };
            (*view).strides = if wants(ffi::PyBUF_STRIDES) { this.strides.as_ptr().cast_mut() } else { null.cast() };
            (*view).suboffsets = null.cast();
            (*view).internal = null;
            (*view).obj = slf.into_any().into_ptr();
        }
        Ok(())
    }
}
