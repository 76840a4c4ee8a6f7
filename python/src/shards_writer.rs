//! `ShardsWriter`: a table that is written as many files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numeric_table::{Element, Error, NumericTable, Result, SaveOptions};
use pyo3::prelude::*;

use crate::describe::described;
use crate::element::{self, with_type};
use crate::error::{OrRaise, TableError};
use crate::partial::on_table;
use crate::shards::Shards;

/// The largest number that the library takes.
const LAST: usize = 999_999;

/// A writer of files of an element type that is known at run time.
trait AnyWriter: Send + Sync {
    /// Chooses the number of a file, unless it is given.
    fn choose(&self, number: Option<usize>) -> usize;
    /// Writes a file of all rows of a table.
    fn write(&self, number: usize, table: &dyn NumericTable) -> Result<()>;
    /// Says that a file could not be written: the next one is to have its number.
    fn give_back(&self, number: usize);
    /// Returns the writer itself, if nobody else uses it.
    fn alone(self: Arc<Self>) -> std::result::Result<Box<dyn AnyWriter>, Arc<dyn AnyWriter>>;
    fn finish(self: Box<Self>) -> Result<numeric_table::Shards>;
}

struct Typed<T: Element> {
    writer: numeric_table::ShardsWriter<T>,
    columns: usize,
    numbers: Mutex<Numbers>,
}

/// The numbers of files that the writer chooses.
#[derive(Default)]
struct Numbers {
    next: usize,
    /// Those before it whose files could not be written.
    failed: BTreeSet<usize>,
}

fn locked<S>(state: &Mutex<S>) -> MutexGuard<'_, S> {
    state.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics while it is locked
}

impl Numbers {
    fn choose(&mut self, wanted: Option<usize>) -> usize {
        let number = wanted.or_else(|| self.failed.pop_first()).unwrap_or(self.next);
        if number <= LAST {
            self.next = self.next.max(number + 1);
        }
        number
    }
}

impl<T: Element> AnyWriter for Typed<T> {
    fn choose(&self, number: Option<usize>) -> usize {
        locked(&self.numbers).choose(number)
    }

    fn write(&self, number: usize, table: &dyn NumericTable) -> Result<()> {
        let (expected, found) = (self.columns, table.column_count());
        if expected != found {
            return Err(Error::LengthMismatch { expected, found });
        }
        let mut shard = self.writer.shard(number)?;
        shard.append_table(table)?;
        shard.finish()
    }

    fn give_back(&self, number: usize) {
        locked(&self.numbers).failed.insert(number);
    }

    fn alone(self: Arc<Self>) -> std::result::Result<Box<dyn AnyWriter>, Arc<dyn AnyWriter>> {
        match Arc::try_unwrap(self) {
            Ok(own) => Ok(Box::new(own)),
            Err(shared) => Err(shared),
        }
    }

    fn finish(self: Box<Self>) -> Result<numeric_table::Shards> {
        self.writer.finish()
    }
}

/// Writes a table as many files in a folder of their own, ``part-000000.ntb`` and so on, and at the end a manifest, which
/// says that they are a table: :class:`Shards` opens the folder.
///
/// A context manager: the manifest is written when the ``with`` block ends. If it ends with an exception, there are files,
/// and no table. Threads may append at once.
///
/// >>> import numeric_table as nt, tempfile, os
/// >>> folder = os.path.join(tempfile.mkdtemp(), "table")
/// >>> with nt.ShardsWriter.create(folder, ["a", "b"], dtype="float32") as writer:
/// ...     for part in range(3):
/// ...         number = writer.append([[part, 1], [part, 2]])
/// >>> shards = nt.Shards(folder)
/// >>> shards.shape, shards.shard_count, shards.names
/// ((6, 2), 3, ['a', 'b'])
#[pyclass(frozen, module = "numeric_table", name = "ShardsWriter", weakref)]
pub(crate) struct ShardsWriter {
    folder: PathBuf,
    /// `None` when it is finished.
    writer: Mutex<Option<Arc<dyn AnyWriter>>>,
}

fn closed() -> PyErr {
    TableError::new_err("the writer is closed: no file can be added")
}

#[pymethods]
impl ShardsWriter {
    /// Creates the folder, if there is none, for files of columns with these names, of so many without names, or of the
    /// columns of a table, of what :func:`open` returns, or of a source of CSV. A folder that has a manifest is refused.
    #[staticmethod]
    #[pyo3(signature = (folder, columns, dtype = None, *, durable = true))]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        columns: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        durable: bool,
    ) -> PyResult<Self> {
        let wanted = dtype.map(element::of_object).transpose()?;
        let (element, dictionary) = described(columns, wanted)?;
        let (columns, options) = (dictionary.len(), SaveOptions::new().durable(durable));
        let writer: Arc<dyn AnyWriter> = with_type!(element, T => {
            let create = || numeric_table::ShardsWriter::<T>::create_with(&folder, columns, dictionary, options);
            Arc::new(Typed { writer: py.detach(create).or_raise()?, columns, numbers: Mutex::default() })
        });
        Ok(Self { folder, writer: Mutex::new(Some(writer)) })
    }

    /// Writes a file of all rows of a table, and returns its number: the next one, or that which is given. Files become
    /// parts of the table in the order of their numbers.
    ///
    /// Values that the type does not have raise :class:`NotRepresentableError`. A file that could not be written has to
    /// be: the next one gets its number, and without one, the table cannot be finished.
    #[pyo3(signature = (table, number = None))]
    fn append(&self, table: &Bound<'_, PyAny>, number: Option<usize>) -> PyResult<usize> {
        let py = table.py();
        let writer = py.detach(|| locked(&self.writer).clone()).ok_or_else(closed)?;
        let chosen = py.detach(|| writer.choose(number));
        let written = on_table(table, |table| writer.write(chosen, table));
        if written.is_err() && number.is_none() {
            py.detach(|| writer.give_back(chosen));
        }
        written.map(|()| chosen)
    }

    /// Writes the manifest of all files, whole or not at all, and opens the table.
    fn finish(&self, py: Python<'_>) -> PyResult<Shards> {
        let alone = py.detach(|| {
            let mut state = locked(&self.writer);
            match state.take()?.alone() {
                Ok(writer) => Some(Ok(writer)),
                Err(writer) => {
                    *state = Some(writer);
                    Some(Err(()))
                }
            }
        });
        let writer = alone.ok_or_else(closed)?;
        let writer = writer.map_err(|()| TableError::new_err("another thread is still writing a file"))?;
        let shards = py.detach(|| writer.finish()).or_raise()?;
        Shards::of_folder(shards, self.folder.clone())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if exception.is_none() {
            self.finish(py)?;
        } else {
            py.detach(|| drop(locked(&self.writer).take()));
        }
        Ok(false)
    }
}
