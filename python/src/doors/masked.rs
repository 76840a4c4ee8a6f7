//! Masked arrays, from and to NumPy.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::methods;
use crate::doors::columns::of_parts;
use crate::doors::{Answer, Input};
use crate::table::Table;

/// A masked array with masked values.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    if !input.is_array || input.is_plain_array {
        return Ok(Answer::Declined);
    }
    let masked = input.data.py().import("numpy")?.getattr("ma")?.getattr("MaskedArray")?;
    match input.data.is_instance(&masked)? {
        true => of_parts(input.data, input.copy).map(Answer::from),
        false => Ok(Answer::Declined),
    }
}

#[methods]
impl Table {
    /// Returns a column as a ``numpy.ma.MaskedArray`` in its own type, with the missing values masked. Without a
    /// column, returns all of them, in one type that represents their values. The values of one column are shared and
    /// read-only; those under the mask are unspecified. The mask is a copy. NaN is not masked.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[2**53 + 1], [None]]).to_masked(0)
    /// masked_array(data=[9007199254740993, --],
    ///              mask=[False,  True],
    ///        fill_value=999999)
    #[pyo3(signature = (column = None, dtype = None, *, policy = None))]
    fn to_masked<'py>(
        &self,
        py: Python<'py>,
        column: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (values, mask) = match (column, dtype) {
            (Some(column), None) => self.values_and_mask(py, self.column_index(py, column)?)?,
            (Some(column), _) => {
                let column = self.column_index(py, column)?;
                let one = self.selected(py, &[column])?;
                let (values, mask) = one.whole_and_mask(py, one.wanted(py, dtype, policy)?)?;
                let flat = |array: Bound<'py, PyAny>| array.call_method1("reshape", (-1,));
                (flat(values)?, mask.map(flat).transpose()?)
            }
            (None, _) => self.whole_and_mask(py, self.wanted(py, dtype, policy)?)?,
        };
        let masked = py.import("numpy")?.getattr("ma")?;
        let options = PyDict::new(py);
        options.set_item("mask", mask.map_or_else(|| masked.getattr("nomask"), Ok)?)?;
        options.set_item("copy", false)?;
        masked.call_method("MaskedArray", (values,), Some(&options))
    }
}
