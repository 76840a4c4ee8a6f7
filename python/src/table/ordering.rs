//! The rows of a table in another order, random ones, and how often values occur.

use numeric_table::table::SortKey;
use numeric_table::{FeatureType, TableSelection};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableError, TableTypeError};
use crate::base::{lists, numbers};
use crate::table::Table;
use crate::table::choose;

type Pair = (Table, Table);

/// Returns the seed of a random choice: the caller's, or one that the system draws.
fn seed_of(py: Python<'_>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    match seed.filter(|seed| !seed.is_none()) {
        Some(seed) => numbers::seed(seed),
        None => numbers::drawn(py),
    }
}

/// Returns a direction for each key. `option` is the name of the option that states them.
fn directions(option: &str, stated: &Bound<'_, PyAny>, keys: usize) -> PyResult<Vec<bool>> {
    if stated.hasattr("__len__")? && !stated.is_instance_of::<PyString>() {
        let stated: Vec<Bound<'_, PyAny>> = lists::items(stated)?;
        if stated.len() != keys {
            return Err(TableError::new_err(format!("{} directions do not match {keys} columns", stated.len())));
        }
        return stated.iter().map(|stated| direction(option, stated)).collect();
    }
    Ok(vec![direction(option, stated)?; keys])
}

/// Parses a direction: a boolean, or as in pandas 0 or 1.
fn direction(option: &str, stated: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(is_stated) = stated.extract() {
        return Ok(is_stated);
    }
    match stated.extract::<u8>() {
        Ok(number @ 0..=1) => Ok(number == 1),
        _ => {
            let text = "is True or False, or a list with one of these for each column";
            Err(TableTypeError::new_err(format!("{option}= {text}, not {}", stated.repr()?)))
        }
    }
}

#[methods]
impl Table {
    /// Returns the rows in the order of a column, or of several: the first one decides, the next ones among equal rows.
    /// ``descending`` is ``True`` or ``False``, or a list with one for each column; ``ascending`` is its opposite, as
    /// in pandas. Rows with equal values keep their order.
    ///
    /// NaN and then missing values come last, also in descending order, as in pandas. Words are in alphabetical order,
    /// like strings in Python. Ordered categories are in their own order, and so are categories without words.
    ///
    /// >>> import numeric_table as nt
    /// >>> table = nt.Table({"year": [2024, 2023, 2024], "price": [10, 30, 20]})
    /// >>> table.sort_by("price")["price"].tolist()
    /// [10, 20, 30]
    /// >>> table.sort_by(["year", "price"], descending=[False, True])["price"].tolist()
    /// [30, 20, 10]
    #[pyo3(signature = (by, *, descending = None, ascending = None))]
    fn sort_by(
        &self,
        py: Python<'_>,
        by: &Bound<'_, PyAny>,
        descending: Option<&Bound<'_, PyAny>>,
        ascending: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let columns = choose::columns(py, self, by)?;
        if columns.is_empty() {
            return Err(TableError::new_err("there is no column to sort by"));
        }
        let directions = match (descending, ascending) {
            (Some(_), Some(_)) => {
                return Err(PyTypeError::new_err("descending= and ascending= are one option: pass one"));
            }
            (Some(stated), None) => directions("descending", stated, columns.len())?,
            (None, Some(stated)) => {
                directions("ascending", stated, columns.len())?.into_iter().map(|is_up| !is_up).collect()
            }
            (None, None) => vec![false; columns.len()],
        };
        let table = self.read(py);
        let dictionary = table.dictionary();
        let key = |(&column, is_descending): (&usize, bool)| {
            let is_ordered = |feature_type| feature_type == FeatureType::Ordinal;
            let by_label = !dictionary.feature(column).is_ok_and(|feature| is_ordered(feature.feature_type));
            SortKey::new(column).descending(is_descending).by_label(by_label)
        };
        let keys: Vec<_> = columns.iter().zip(directions).map(key).collect();
        let table = &**table;
        py.detach(|| table.sort_by_keys(&keys)).or_raise().map(Self::new)
    }

    /// Returns the distinct values of a column and the number of rows with each, as a table of two columns: the values,
    /// with their name, words and unit, and ``count`` (``counts`` if the column has that name). The most frequent value
    /// is first; equally frequent ones are in ascending order, words in alphabetical order. NaN and missing values are
    /// left out, unless ``dropna=False``.
    ///
    /// >>> import numeric_table as nt
    /// >>> counts = nt.Table({"year": [2024, 2023, 2024, None]}).value_counts("year")
    /// >>> counts["year"].tolist(), counts["count"].tolist()
    /// ([2024, 2023], [2, 1])
    #[pyo3(signature = (column, *, dropna = true))]
    fn value_counts(&self, py: Python<'_>, column: &Bound<'_, PyAny>, dropna: bool) -> PyResult<Self> {
        let column = choose::only_column(py, self, column, "value_counts")?;
        let table = self.read(py);
        let table = &**table;
        let counted = py.detach(|| match dropna {
            true => table.value_counts(column),
            false => table.value_counts_with_missing(column),
        });
        Ok(Self::new(Box::new(counted.or_raise()?)))
    }

    /// Returns ``n`` random rows without repetition, in their order. A seed selects the same rows on every machine;
    /// without one, every call selects others.
    ///
    /// >>> import numeric_table as nt
    /// >>> nt.Table([[1], [2], [3], [4]]).sample_rows(2, seed=7).shape
    /// (2, 1)
    #[pyo3(signature = (n, seed = None))]
    fn sample_rows(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::count)] n: usize,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let seed = seed_of(py, seed)?;
        let table = self.read(py);
        let table = &**table;
        py.detach(|| table.sample_rows(n, seed)).or_raise().map(Self::new)
    }

    /// Returns all rows in a random order, determined by the seed; without one, in another order at every call.
    ///
    /// >>> import numeric_table as nt
    /// >>> sorted(nt.Table([[1], [2], [3]]).shuffle_rows(7).column(0).tolist())
    /// [1, 2, 3]
    #[pyo3(signature = (seed = None))]
    fn shuffle_rows(&self, py: Python<'_>, seed: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let seed = seed_of(py, seed)?;
        let table = self.read(py);
        let table = &**table;
        py.detach(|| table.shuffle_rows(seed)).or_raise().map(Self::new)
    }

    /// Returns a random fraction of the rows, determined by the seed, and the other rows, for training and testing.
    /// Without a seed, every call splits the rows in another way. With ``by``, a column, the fraction applies
    /// separately to the rows of each value.
    ///
    /// >>> import numeric_table as nt
    /// >>> training, test = nt.Table([[1], [2], [3], [4]]).split_rows(0.75, seed=7)
    /// >>> len(training), len(test)
    /// (3, 1)
    #[pyo3(signature = (fraction, seed = None, *, by = None))]
    fn split_rows(
        &self,
        py: Python<'_>,
        fraction: f64,
        seed: Option<&Bound<'_, PyAny>>,
        by: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Pair> {
        let seed = seed_of(py, seed)?;
        let by = by.map(|by| self.column_index(py, by)).transpose()?;
        let table = self.read(py);
        let table = &**table;
        let split = py.detach(|| match by {
            Some(column) => table.split_rows_by(column, fraction, seed),
            None => table.split_rows(fraction, seed),
        });
        let (one, other) = split.or_raise()?;
        Ok((Self::new(one), Self::new(other)))
    }
}
