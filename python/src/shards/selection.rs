//! Some rows and columns of a table in many files, summaries of it, and files that are appended.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use numeric_table::files::SaveOptions;
use numeric_table::statistics::{BasicStatistics, QuantileSketch};
use numeric_table::{
    ConversionPolicy, DataDictionary, MissingValues, NumericTable, Result, TableConversion, TableDescription,
    TableOutput, TableSelection,
};
use pyo3::prelude::*;

use crate::base::boundary::methods;
use crate::base::element::with_type;
use crate::base::error::{OrRaise, TableError};
use crate::base::numbers;
use crate::base::progress::{look, watch};
use crate::doors::construct;
use crate::files::brackets::{self, Stored};
use crate::results::describe;
use crate::shards::Shards;
use crate::shards::known::{Known, LastFile, known_of};
use crate::table::Table;
use crate::table::choose::Columns;
use crate::table::describe::labels;
use crate::table::reading::owned;

/// The rows of all files as of now.
struct Files {
    shards: Arc<numeric_table::shards::Shards>,
    /// The properties of the files, once files are loaded as a whole.
    known: OnceLock<Vec<Known>>,
    last: LastFile,
}

impl Columns for Files {
    fn count(&self, _py: Python<'_>) -> PyResult<usize> {
        Ok(self.shards.shape().columns)
    }

    fn named(&self, _py: Python<'_>, name: &str) -> PyResult<usize> {
        self.shards.dictionary().try_index_of(name).or_raise()
    }
}

impl Stored for Files {
    fn row_count(&self) -> usize {
        self.shards.shape().rows
    }

    fn row_bytes(&self) -> usize {
        self.shards.dictionary().iter().map(|feature| feature.type_size()).sum()
    }

    fn load(&self, rows: Range<usize>) -> Result<Box<dyn NumericTable>> {
        let dictionary = self.shards.dictionary();
        if let Some(element) = dictionary.uniform_type().filter(|_| !dictionary.has_nullable()) {
            return with_type!(element, T => Ok(Box::new(self.shards.load_rows::<T>(rows)?)));
        }
        // Columns of several types, or with missing values: files that are loaded as a whole.
        let mut parts: Vec<Box<dyn NumericTable>> = Vec::new();
        let known = self.known.get_or_init(|| known_of(&self.shards));
        for (place, (known, file)) in known.iter().zip(self.shards.files()).enumerate() {
            let (first, part) = (file.rows.start, file.rows.start.max(rows.start)..file.rows.end.min(rows.end));
            let is_asked_for = !part.is_empty() || (rows.is_empty() && parts.is_empty());
            if !is_asked_for {
                continue;
            }
            look();
            let table = self.last.table(place, known)?;
            let part = if part.is_empty() { 0..0 } else { part.start - first..part.end - first };
            parts.push(owned(&*table.select_rows(part)?, &*table)?);
        }
        brackets::joined(parts)
    }
}

/// Returns a table with the columns of the files, if its values can be those exactly. Names are taken from the files if
/// the table has none.
fn fitting(table: &dyn NumericTable, dictionary: &DataDictionary) -> Result<Option<Box<dyn NumericTable>>> {
    let Some(element) = dictionary.uniform_type().filter(|_| !dictionary.has_nullable()) else { return Ok(None) };
    let has_names = table.dictionary().names().any(|name| name.is_some());
    if table.has_missing()? {
        return Ok(None); // stays missing, if the types are those of the files
    }
    if (has_names && table.uniform_type() == Some(element)) || table.column_count() != dictionary.len() {
        return Ok(None);
    }
    let own = match has_names {
        true => table.dictionary().with_element_type(element)?,
        false => dictionary.clone(),
    };
    with_type!(element, T => {
        let table = table.convert_with::<T>(ConversionPolicy::Exact)?;
        Ok(Some(Box::new(table.with_dictionary(own)?)))
    })
}

impl Shards {
    fn stored(&self) -> Files {
        Files { shards: self.files_now(), known: OnceLock::new(), last: LastFile::default() }
    }

    fn some_rows(&self, py: Python<'_>, rows: Range<usize>) -> PyResult<Table> {
        let stored = self.stored();
        watch(py, None, None, || stored.load(rows)).map(Table::new)
    }

    /// Returns the folder for another file.
    fn folder(&self) -> PyResult<PathBuf> {
        match &self.listed_by {
            Some(path) if path.is_dir() => Ok(path.clone()),
            Some(path) => Ok(path.parent().map(Path::to_owned).unwrap_or_default()),
            None => Err(TableError::new_err(
                "files of a list or a pattern have no folder to append to: open the folder or the manifest",
            )),
        }
    }

    /// Writes a file of its own for a table, and adds it.
    fn append_table(&self, folder: &Path, name: u32, table: &dyn NumericTable, options: &SaveOptions) -> Result<()> {
        let _one = self.appends.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shards = (*self.files_now()).clone();
        let fitting = fitting(table, shards.dictionary())?;
        let table = fitting.as_deref().unwrap_or(table);
        // Another program may choose the same number, but not the same name.
        let path = folder.join(format!("part-{:06}-{name:08x}.ntb", shards.shard_count()));
        table.save_with(&path, options.clone())?;
        if let Err(error) = shards.append_with([&path], options.clone()) {
            let _ = std::fs::remove_file(&path); // the error says more
            return Err(error);
        }
        *self.shards.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shards);
        Ok(())
    }
}

#[methods]
impl Shards {
    /// Reads what ``table[key]`` is for a table: ``shards[3]`` is a row, ``shards[2:5]`` and ``shards[[7, 3]]`` are
    /// tables of rows, ``shards["a"]`` is a column, ``shards[:3, "a"]`` some values of one. Columns keep their types.
    /// Memory is needed for the result, which is that of all rows for a column, and for a few MiB of a file, or for one
    /// file if its columns have several types.
    ///
    /// >>> import numeric_table as nt, tempfile, os
    /// >>> folder = tempfile.mkdtemp()
    /// >>> nt.save(nt.Table([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"]), os.path.join(folder, "part-0.ntb"))
    /// >>> nt.save(nt.Table([[5.0, 6.0]], names=["a", "b"]), os.path.join(folder, "part-1.ntb"))
    /// >>> shards = nt.Shards(folder)
    /// >>> shards[-1], shards["a"], shards[1:, "b"]
    /// (array([5., 6.]), array([1., 3., 5.]), array([4., 6.]))
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        brackets::item(py, &self.stored(), key)
    }

    /// The labels of the columns: their names, and the index of a column without a name.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        labels(py, self.names()?)
    }

    /// Reads the first ``n`` rows into a table.
    #[pyo3(signature = (n = 5))]
    fn head(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Table> {
        self.some_rows(py, 0..n.min(self.files_now().shape().rows))
    }

    /// Reads the last ``n`` rows into a table.
    #[pyo3(signature = (n = 5))]
    fn tail(&self, py: Python<'_>, #[pyo3(from_py_with = numbers::count)] n: usize) -> PyResult<Table> {
        let count = self.files_now().shape().rows;
        self.some_rows(py, count - n.min(count)..count)
    }

    /// Returns a summary of the columns, like :meth:`Table.describe`, in two passes over the files and little memory.
    /// The quartiles are those of a :class:`QuantileSketch`: values of the files, exact for few rows, and otherwise
    /// with an error of the rank of about one in a thousand.
    fn describe(&self, py: Python<'_>) -> PyResult<Table> {
        let shards = self.files_now();
        let columns = shards.shape().columns;
        let found = watch(py, None, None, || shards.reduce(&BasicStatistics::new(columns)?))?;
        let sketch = watch(py, None, None, || shards.reduce(&QuantileSketch::new(columns)?))?;
        describe::summary(shards.dictionary(), found.per_column(), describe::sketched(&sketch))
            .or_raise()
            .map(Table::new)
    }

    /// Appends a table, or data that can be converted to one, as a new file in the folder of the table, atomically: if
    /// there is a manifest, it lists the new file. Other objects and programs see it when they open the table. The
    /// columns must be those of the files; data without names takes their names. Values that the type of the files
    /// cannot represent raise an error, which appends nothing. Many small files are slow: append many rows at a time.
    ///
    /// >>> import numeric_table as nt, tempfile
    /// >>> folder = tempfile.mkdtemp()
    /// >>> with nt.ShardsWriter.create(folder, ["a", "b"]) as writer:
    /// ...     number = writer.append([[1, 2], [3, 4]])
    /// >>> shards = nt.Shards(folder)
    /// >>> shards.append([[5, 6]])
    /// >>> shards.shape, shards["a"]
    /// ((3, 2), array([1., 3., 5.]))
    #[pyo3(signature = (table, *, durable = true))]
    fn append(&self, py: Python<'_>, table: &Bound<'_, PyAny>, durable: bool) -> PyResult<()> {
        let folder = self.folder()?;
        let table = construct::table_of(table)?;
        let table = table.get().steady(py)?;
        let name = numbers::drawn(py)? as u32; // some of its bits
        let (table, options) = (table.table(), SaveOptions::new().durable(durable));
        // The work calls no code of the user's, and so cannot begin another one that waits for it.
        py.detach(|| self.append_table(&folder, name, table, &options)).or_raise()
    }
}
