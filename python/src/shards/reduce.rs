//! Partial results over the rows of many files: the library's kinds, and those written in Python.
//!
//! The library computes both, in the same order of blocks, parts, files and runs. The calling thread computes those
//! written in Python: a waiting thread of the library may begin another part meanwhile, and then user code would run
//! within user code.

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

use numeric_table::{Error, ErrorKind, NumericTable, Result, shards::Shards};
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::base::error::{TableTypeError, exception};
use crate::base::exit;
use crate::base::progress::{interruptible, watch};
use crate::results::{Part, Partial, object};
use crate::table::Table;
use crate::table::reading::snapshot_of;

/// The limit on the nesting of results that the code of other results computes.
const DEPTH_LIMIT: usize = 32;

/// Computes a result over files, with the parameters of a partial result, which does not change.
pub(crate) fn reduce(shards: &Shards, partial: &Bound<'_, PyAny>, part: Part) -> PyResult<Py<PyAny>> {
    let py = partial.py();
    if let Ok(partial) = partial.cast::<Partial>() {
        let own = partial.get().state(py);
        let found = watch(py, None, None, || own.of_files(shards, part))?;
        return object(py, found);
    }
    let prototype = Written::new(partial)?;
    let alone = Written { object: prototype.object.clone_ref(py), nbytes: usize::MAX };
    let found = interruptible(py, || match part {
        Part::All => {
            let mut all = numeric_table::Partial::new_like(&alone)?;
            for run in shards.runs(&prototype) {
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
    /// Its size. The library uses one thread, the caller's, for results above its size limit.
    nbytes: usize,
}

impl Written {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        for method in ["new_like", "update", "merge"] {
            if !object.hasattr(method)? {
                let kind = object.get_type().name()?.to_string();
                let text =
                    format!("a partial result has the methods new_like, update and merge: {kind} has no {method}");
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
    /// The nesting depth of calls of user code on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A call of user code, until it ends.
struct Call;

impl Call {
    /// Begins a call, unless the nesting is too deep: each level takes a part of the stack, which Python does not
    /// count.
    fn begin() -> PyResult<Self> {
        let depth = DEPTH.get();
        if depth == DEPTH_LIMIT {
            let text = format!("partial results are nested more than {DEPTH_LIMIT} deep");
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

/// Runs user code.
fn attached<R>(work: impl FnOnce(Python<'_>) -> PyResult<R>) -> Result<R> {
    let call = Call::begin().map_err(Error::other)?;
    let done = exit::attached(work);
    drop(call);
    done.map_err(Error::other)
}

/// Returns the exception that user code has raised, with a note that names the file, or that of the library.
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
                let _ = own.value(py).call_method1("add_note", (note,)); // the original exception matters more
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

    fn new_like(&self) -> Result<Self> {
        let object = attached(|py| exit::call(&self.method(py, "new_like")?, ()).map(Bound::unbind))?;
        Ok(Self { object, nbytes: self.nbytes })
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
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
        Err(S::Error::custom("a partial result written in Python has no bytes"))
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(D::Error::custom("a partial result written in Python has no bytes"))
    }
}
