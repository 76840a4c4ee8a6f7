//! The rows of a result: of a table, of what `Table(x)` accepts, or of files, block by block.

use std::path::PathBuf;
use std::sync::Arc;

use numeric_table::files::TableReader;
use numeric_table::statistics::{BasicStatistics, StatisticsOptions};
use numeric_table::{ErrorKind, NumericTable};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::base::error::OrRaise;
use crate::base::progress::{hear, watch};
use crate::files::csv::Csv;
use crate::files::reader::Reader;
use crate::results::columns::Statistics;
use crate::results::{AnyPartial, Partial, object, on_table};
use crate::table::Table;

/// The number of values of a block of a CSV file.
const BLOCK_VALUES: usize = 1 << 20;

/// An object that has rows.
enum Rows<'a, 'py> {
    /// A table, or data that can be converted to one.
    Table(Bound<'py, PyAny>),
    File(&'a Bound<'py, Reader>),
    /// A table file.
    Opened(TableReader),
    Csv(&'a Bound<'py, Csv>),
    /// A table in many files, or another object that computes results of its rows.
    Reducing(&'a Bound<'py, PyAny>),
}

impl<'a, 'py> Rows<'a, 'py> {
    /// `takes_names` states that a string is the path of a file.
    fn of(data: &'a Bound<'py, PyAny>, takes_names: bool) -> PyResult<Self> {
        let py = data.py();
        if data.is_instance_of::<Table>() {
            return Ok(Self::Table(data.clone()));
        }
        if let Ok(reader) = data.cast::<Reader>() {
            return Ok(Self::File(reader));
        }
        if let Ok(source) = data.cast::<Csv>() {
            return Ok(Self::Csv(source));
        }
        if (takes_names && data.is_instance_of::<PyString>()) || data.hasattr("__fspath__")? {
            let path: PathBuf = data.extract()?;
            return match py.detach(|| TableReader::open(&path)) {
                Err(error) if matches!(error.kind(), ErrorKind::TableKindMismatch { .. }) => {
                    let table = watch(py, None, None, || numeric_table::files::load(&path))?;
                    Ok(Self::Table(Bound::new(py, Table::new(table))?.into_any()))
                }
                opened => Ok(Self::Opened(opened.or_raise()?.on_progress(hear))),
            };
        }
        // Shards, which are in a later layer.
        match data.hasattr("reduce_shards")? {
            true => Ok(Self::Reducing(data)),
            false => Ok(Self::Table(data.clone())),
        }
    }
}

/// Computes the same kind of result as a partial one, of all rows of an object.
pub(crate) fn compute(data: &Bound<'_, PyAny>, prototype: &Arc<dyn AnyPartial>) -> PyResult<Arc<dyn AnyPartial>> {
    let py = data.py();
    match Rows::of(data, false)? {
        Rows::Table(table) => on_table(&table, |table| prototype.of_table(table)),
        Rows::File(reader) => reader.get().compute(py, |reader| prototype.of_reader(reader)),
        Rows::Opened(reader) => watch(py, None, None, || prototype.of_reader(&reader)),
        Rows::Csv(source) => {
            let mut all = prototype.without_rows().or_raise()?;
            source.get().for_each_block(py, BLOCK_VALUES, |table: &dyn NumericTable| {
                let found = prototype.of_table(table)?;
                Arc::get_mut(&mut all).map_or(Ok(()), |all| all.add(&*found)) // no other reference exists
            })?;
            Ok(all)
        }
        Rows::Reducing(data) => {
            let found = data.call_method1("reduce", (object(py, Arc::clone(prototype))?,))?;
            Ok(found.cast::<Partial>()?.get().state(py))
        }
    }
}

/// Returns the statistics of all rows of an object.
pub(crate) fn statistics(data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = data.py();
    let found = match Rows::of(data, true)? {
        Rows::Table(table) => {
            let options = StatisticsOptions::new().on_progress(hear);
            on_table(&table, |table| BasicStatistics::compute_with(table, options))?
        }
        Rows::File(reader) => reader.get().compute(py, BasicStatistics::compute_file)?,
        Rows::Opened(reader) => watch(py, None, None, || BasicStatistics::compute_file(&reader))?,
        Rows::Csv(_) | Rows::Reducing(_) => {
            let columns = data.getattr("names")?.len()?;
            let prototype: Arc<dyn AnyPartial> = Arc::new(BasicStatistics::new(columns).or_raise()?);
            return object(py, compute(data, &prototype)?);
        }
    };
    Ok(Py::new(py, Partial::new(found).of_class(Statistics))?.into_any())
}
