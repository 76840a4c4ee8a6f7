//! Sequences of rows, and all else that NumPy converts to an array.
//!
//! NumPy converts integers among floats to floats; integers that would lose precision are refused.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::base::error::{NotRepresentableError, OrRaise};
use crate::base::memory;
use crate::doors::{self, Answer, Input, arrays};
use crate::table::together;

/// All that NumPy converts to an array: the last door, which declines nothing.
pub(crate) fn from(input: &Input<'_, '_>) -> PyResult<Answer> {
    if let Some(others) = columns_or_list(input.data)? {
        return doors::table_of(&others, input.copy, input.rounds).map(Answer::Table);
    }
    let array = doors::array_by(input, "asarray")?;
    if let Some(objects) = with_strings(input.data, &array)? {
        return arrays::of_array(&objects, input.copy).map(Answer::Table);
    }
    if !input.rounds {
        check(input.data, &array)?;
    }
    arrays::of_array(&array, input.copy).map(Answer::Table)
}

/// Refuses a sequence with integers that `array`, which NumPy has created from it, does not represent exactly.
fn check(data: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_double = array.getattr("dtype")?.getattr("char")?.eq("d")?;
    let depth: usize = array.getattr("ndim")?.extract()?;
    if !is_double || has_array(data)? {
        return Ok(());
    }
    let integer = data.py().import("numpy")?.getattr("integer")?;
    Walk { integer, place: Vec::new() }.items(data, depth)
}

/// Returns a dictionary of columns for a list of dictionaries, or a list for an iterator; `None` for anything else.
fn columns_or_list<'py>(data: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let first = match (data.cast::<PyList>(), data.cast::<PyTuple>()) {
        (Ok(list), _) => list.get_item(0).ok(),
        (_, Ok(tuple)) => tuple.get_item(0).ok(),
        _ => None,
    };
    let has_records = first.is_some_and(|first| first.cast::<PyMapping>().is_ok());
    if !has_records && (!data.hasattr("__next__")? || has_array(data)?) {
        return Ok(None);
    }
    let found = data.py().import("numeric_table._columns")?.call_method1("rows_of", (data,))?;
    Ok(Some(found).filter(|found| !found.is_none()))
}

/// Returns an array of the items of a sequence that has strings among them: NumPy would convert its numbers to strings.
/// `None` if `array`, which NumPy has created from it, has no strings.
fn with_strings<'py>(data: &Bound<'py, PyAny>, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if kind != "U" || has_array(data)? {
        return Ok(None);
    }
    data.py().import("numpy")?.call_method1("asarray", (data, "object")).map(Some)
}

/// Returns whether an object converts itself to an array, as NumPy's numbers do. NumPy does not read its items then.
fn has_array(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        return Ok(false);
    }
    Ok(memory::is_buffer(data)
        || data.hasattr("__array__")?
        || data.hasattr("__array_interface__")?
        || data.hasattr("__array_struct__")?)
}

/// A walk through nested sequences.
struct Walk<'py> {
    /// NumPy's class of integers.
    integer: Bound<'py, PyAny>,
    /// The indices of the current item, of the outermost sequence first.
    place: Vec<usize>,
}

impl<'py> Walk<'py> {
    /// Visits the items of a sequence, which are numbers or, up to `depth`, sequences.
    fn items(&mut self, data: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if depth == 0 {
            return Ok(());
        }
        self.place.push(0);
        if let Ok(list) = data.cast::<PyList>() {
            list.iter().try_for_each(|item| self.item(&item, depth))?;
        } else if let Ok(tuple) = data.cast::<PyTuple>() {
            tuple.iter().try_for_each(|item| self.item(&item, depth))?;
        } else {
            for item in data.try_iter()? {
                self.item(&item?, depth)?;
            }
        }
        self.place.pop();
        Ok(())
    }

    /// Visits one item, and moves on to the next one.
    fn item(&mut self, item: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if !item.is_exact_instance_of::<PyFloat>() {
            self.other(item, depth)?;
        }
        if let Some(last) = self.place.last_mut() {
            *last += 1;
        }
        Ok(())
    }

    fn other(&mut self, item: &Bound<'py, PyAny>, depth: usize) -> PyResult<()> {
        if item.is_instance_of::<PyFloat>() || item.is_instance_of::<PyBool>() {
            return Ok(());
        }
        if item.is_instance_of::<PyInt>() || item.is_instance(&self.integer)? {
            return if is_kept(item)? { Ok(()) } else { Err(self.refused(item, &[])?) };
        }
        if has_array(item)? {
            return self.array(item);
        }
        let is_text = item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>();
        if !is_text && item.hasattr("__len__")? && item.hasattr("__getitem__")? {
            return self.items(item, depth - 1);
        }
        Ok(())
    }

    /// Visits an array among the items.
    fn array(&self, item: &Bound<'py, PyAny>) -> PyResult<()> {
        let numpy = item.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (item,))?;
        let code: String = array.getattr("dtype")?.getattr("char")?.extract()?;
        if !matches!(&*code, "l" | "L" | "q" | "Q") {
            return Ok(()); // float64 has all others
        }
        let values = array.call_method1("reshape", ((-1, 1),))?;
        let table = memory::of_array(&values, None)?;
        let report = together::report(&*table, numeric_table::ElementType::F64).or_raise()?;
        let Some((row, _)) = report.first else { return Ok(()) };
        let within = numpy.call_method1("unravel_index", (row, array.getattr("shape")?))?;
        let within = within.try_iter()?.map(|number| number?.extract()).collect::<PyResult<Vec<usize>>>()?;
        Err(self.refused(&values.get_item((row, 0))?, &within)?)
    }

    fn refused(&self, value: &Bound<'py, PyAny>, within: &[usize]) -> PyResult<PyErr> {
        let place = match [&*self.place, within].concat()[..] {
            [row] => format!("row {row}"),
            [row, column] => format!("row {row}, column {column}"),
            ref other => format!("{other:?}"),
        };
        let value = value.str()?;
        Ok(NotRepresentableError::new_err(format!(
            "the integer {value} at {place} is among floats, and float64 cannot represent it: pass columns with \
             separate types (a frame, or NumPy arrays joined by hstack), or round it with Table(rows, dtype=\"float64\")"
        )))
    }
}

/// Returns whether float64 represents an integer exactly.
fn is_kept(number: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(number) = number.extract::<i64>() {
        return Ok((number as f64) as i128 == i128::from(number));
    }
    if let Ok(number) = number.extract::<u64>() {
        return Ok((number as f64) as u128 == u128::from(number));
    }
    number.eq(number.extract::<f64>()?)
}
