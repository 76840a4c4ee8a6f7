//! Partial results of the rows of many files: those of the library's kinds, and those that are written in Python.
//!
//! Both are computed by the library, and so in the same order of blocks, parts, files and runs. Those of Python's are
//! computed by the thread that asks: a thread of the library's, which waits, may begin with another part meanwhile, and
//! code of the user's would run within code of the user's.

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

use numeric_table::{Error, ErrorKind, NumericTable, Result, Shards};
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::error::{TableTypeError, exception};
use crate::exit;
use crate::partial::{Partial, object};
use crate::progress::{interruptible, watch};
use crate::reading::snapshot_of;
use crate::table::Table;

/// How deep results may be asked for by the code that computes others.
const DEPTH_LIMIT: usize = 32;

/// Some files of a table.
pub(crate) enum Part {
    All,
    One(usize),
    Some(Range<usize>),
}

impl Part {
    /// Computes a result of the rows of the files.
    pub(crate) fn reduce<P: numeric_table::Partial>(self, shards: &Shards, empty: &P) -> Result<P> {
        match self {
            Self::All => shards.reduce(empty),
            Self::One(shard) => shards.reduce_shard(shard, empty),
            Self::Some(range) => shards.reduce_shards(range, empty),
        }
    }
}

/// Computes a result of files: of the question of a partial result, which stays as it is.
pub(crate) fn reduce(shards: &Shards, partial: &Bound<'_, PyAny>, part: Part) -> PyResult<Py<PyAny>> {
    let py = partial.py();
    if let Ok(partial) = partial.cast::<Partial>() {
        let own = partial.get().state(py);
        let found = watch(py, None, None, || own.of_files(shards, part))?;
        return object(py, found);
    }
    let question = Written::new(partial)?;
    let alone = Written { object: question.object.clone_ref(py), nbytes: usize::MAX };
    let found = interruptible(py, || match part {
        Part::All => {
            let mut all = numeric_table::Partial::empty(&alone)?;
            for run in shards.runs(&question) {
                numeric_table::Partial::merge(&mut all, &shards.reduce_shards(run, &alone)?)?;
            }
            Ok(all)
        }
        part => part.reduce(shards, &alone),
    })?;
    found.map(|found| found.object).map_err(|error| raised(py, error))
}

/// Returns the runs of files whose results are merged first.
pub(crate) fn runs(shards: &Shards, partial: &Bound<'_, PyAny>) -> PyResult<Vec<Range<usize>>> {
    match partial.cast::<Partial>() {
        Ok(partial) => Ok(partial.get().state(partial.py()).runs_of(shards)),
        Err(_) => Ok(shards.runs(&Written::new(partial)?).collect()),
    }
}

/// A partial result that is written in Python.
struct Written {
    object: Py<PyAny>,
    /// Its size. The library computes what is larger than its limit by one thread: that which asks.
    nbytes: usize,
}

impl Written {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        for method in ["empty", "update", "merge"] {
            if !object.hasattr(method)? {
                let kind = object.get_type().name()?.to_string();
                let text = format!("a partial result has the methods empty, update and merge: {kind} has no {method}");
                return Err(TableTypeError::new_err(text));
            }
        }
        let nbytes = match object.getattr_opt("nbytes")? {
            Some(size) => size.extract()?,
            None => 0,
        };
        Ok(Self { object: object.clone().unbind(), nbytes })
    }

    fn method<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.object.bind(py).getattr(name)
    }
}

thread_local! {
    /// How many calls of the user's code this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call of the user's code, until it ends.
struct Call;

impl Call {
    /// Begins a call, unless a partial result has asked for another one too often: each takes a part of the stack,
    /// which Python does not count.
    fn begin() -> PyResult<Self> {
        let depth = DEPTH.get();
        if depth == DEPTH_LIMIT {
            let text = format!("partial results within partial results, more than {DEPTH_LIMIT} deep");
            return Err(PyRecursionError::new_err(text));
        }
        DEPTH.set(depth + 1);
        Ok(Self)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Runs code of the user's.
fn attached<R>(work: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R> {
    let call = Call::begin().map_err(Error::other)?;
    let done = exit::attached(work);
    drop(call);
    done.map_err(Error::other)
}

/// Returns the exception that code of the user's has raised, with a note that names the file, or that of the library.
fn raised(py: Python<'_>, error: Error) -> PyErr {
    if !matches!(error.kind(), ErrorKind::Other { .. }) {
        return exception(error);
    }
    let path = error.path().map(Path::to_owned);
    let ErrorKind::Other { source } = error.into_kind() else { unreachable!("it was looked at") };
    match source.downcast::<PyErr>() {
        Ok(own) => {
            if let Some(path) = &path {
                let note = format!("in {}", path.display());
                let _ = own.value(py).call_method1("add_note", (note,)); // what was raised matters more
            }
            *own
        }
        Err(source) => {
            let error = Error::other(source);
            exception(match path {
                Some(path) => error.in_file(path),
                None => error,
            })
        }
    }
}

impl numeric_table::Partial for Written {
    const NAME: &'static str = "python";

    fn empty(&self) -> Result<Self> {
        let object = attached(|py| exit::call(&self.method(py, "empty")?, ()).map(Bound::unbind))?;
        Ok(Self { object, nbytes: self.nbytes })
    }

    fn update_table(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let rows = snapshot_of(rows)?;
        attached(|py| {
            let table = Bound::new(py, Table::new(rows))?;
            exit::call(&self.method(py, "update")?, (table,)).map(drop)
        })
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        attached(|py| exit::call(&self.method(py, "merge")?, (&other.object,)).map(drop))
    }

    fn size_in_bytes(&self) -> usize {
        self.nbytes
    }
}

/// It never leaves the process.
impl Serialize for Written {
    fn serialize<S: Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
        Err(S::Error::custom("a partial result of Python's has no bytes"))
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(D::Error::custom("a partial result of Python's has no bytes"))
    }
}
