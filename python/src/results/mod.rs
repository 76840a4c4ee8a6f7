//! `Partial`: a result of any kind that is computed from some rows at a time and merged.
//!
//! A state is shared and replaced, so that readers hold no lock. `columns`, `products`, `counts`, `groups`, `learning`
//! and `bayes` contain the properties of each kind. `shards` has the results over tables in many files.

#[forbid(unsafe_code)]
pub(crate) mod bayes;
#[forbid(unsafe_code)]
pub(crate) mod columns;
#[forbid(unsafe_code)]
pub(crate) mod counts;
#[forbid(unsafe_code)]
pub(crate) mod describe;
#[forbid(unsafe_code)]
pub(crate) mod group_column;
#[forbid(unsafe_code)]
pub(crate) mod groupby;
#[forbid(unsafe_code)]
pub(crate) mod groups;
#[forbid(unsafe_code)]
pub(crate) mod learning;
#[forbid(unsafe_code)]
pub(crate) mod products;
#[forbid(unsafe_code)]
pub(crate) mod rows;
#[forbid(unsafe_code)]
pub(crate) mod tables;

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, TryLockError};

use numeric_table::table::spi::Region;
use numeric_table::{
    ConversionPolicy, Element, Error, NumericTable, Result, Shape, files::TableReader, shards::Shards,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use pyo3::{IntoPyObjectExt, PyClass, PyTypeInfo};

use crate::base::boundary::methods;
use crate::base::error::{OrRaise, TableTypeError};
use crate::base::memory;
use crate::base::progress::{hear, watch};
use crate::base::share::Share;
use crate::doors;
use crate::table::Table;
use crate::table::reading::read;

/// Some files of a table.
pub(crate) enum Part {
    All,
    One(usize),
    Some(Range<usize>),
}

impl Part {
    /// Computes a result over the rows of the files.
    pub(crate) fn reduce<P: numeric_table::Partial>(self, shards: &Shards, prototype: &P) -> Result<P> {
        match self {
            Self::All => shards.reduce(prototype),
            Self::One(shard) => shards.reduce_shard(shard, prototype),
            Self::Some(range) => shards.reduce_shards(range, prototype),
        }
    }
}

/// A partial result of the library, of a kind that is known at run time.
pub(crate) trait AnyPartial: Any + Send + Sync {
    fn kind(&self) -> &'static str;
    fn rows(&self) -> u64;
    fn bytes_held(&self) -> usize;
    fn without_rows(&self) -> Result<Arc<dyn AnyPartial>>;
    /// Computes the same kind of result for a table.
    fn of_table(&self, table: &dyn NumericTable) -> Result<Arc<dyn AnyPartial>>;
    /// Computes the same kind of result for a table file, block by block.
    fn of_reader(&self, reader: &TableReader) -> Result<Arc<dyn AnyPartial>>;
    /// Computes the same kind of result for files.
    fn of_files(&self, shards: &Shards, part: Part) -> Result<Arc<dyn AnyPartial>>;
    fn runs_of(&self, shards: &Shards) -> Vec<Range<usize>>;
    /// Adds a result of the same kind. An error leaves the result unchanged.
    fn add(&mut self, other: &dyn AnyPartial) -> Result<()>;
    fn copied(&self) -> Arc<dyn AnyPartial>;
    fn written(&self) -> Result<Vec<u8>>;
    /// Creates the Python object, of the class of the kind.
    fn object(&self, py: Python<'_>, own: Partial) -> PyResult<Py<PyAny>>;
}

/// A kind of partial results, and its class.
pub(crate) trait Native: numeric_table::Partial + Clone + 'static {
    type Class: PyTypeInfo;
    fn number_of_rows(&self) -> u64;
    fn make(py: Python<'_>, own: Partial) -> PyResult<Py<PyAny>>;
}

impl<P: Native> AnyPartial for P {
    fn kind(&self) -> &'static str {
        P::NAME
    }

    fn rows(&self) -> u64 {
        self.number_of_rows()
    }

    fn bytes_held(&self) -> usize {
        self.size_in_bytes()
    }

    fn without_rows(&self) -> Result<Arc<dyn AnyPartial>> {
        Ok(Arc::new(self.new_like()?))
    }

    fn of_table(&self, table: &dyn NumericTable) -> Result<Arc<dyn AnyPartial>> {
        Ok(Arc::new(self.compute_over_with_progress(table, hear)?))
    }

    fn of_reader(&self, reader: &TableReader) -> Result<Arc<dyn AnyPartial>> {
        Ok(Arc::new(self.compute_over_file(reader)?))
    }

    fn of_files(&self, shards: &Shards, part: Part) -> Result<Arc<dyn AnyPartial>> {
        Ok(Arc::new(part.reduce(shards, self)?))
    }

    fn runs_of(&self, shards: &Shards) -> Vec<Range<usize>> {
        shards.runs(self).collect()
    }

    fn add(&mut self, other: &dyn AnyPartial) -> Result<()> {
        match (other as &dyn Any).downcast_ref::<P>() {
            Some(other) => self.merge(other),
            None => Err(Error::other(unequal(P::NAME, other.kind()))),
        }
    }

    fn copied(&self) -> Arc<dyn AnyPartial> {
        Arc::new(self.clone())
    }

    fn written(&self) -> Result<Vec<u8>> {
        self.to_bytes()
    }

    fn object(&self, py: Python<'_>, own: Partial) -> PyResult<Py<PyAny>> {
        P::make(py, own)
    }
}

fn unequal(mine: &str, other: &str) -> String {
    format!("a partial result {mine:?} does not merge with one of another kind, {other:?}")
}

/// Declares properties of a class of results, computed from `own`, the result of the library.
macro_rules! properties {
    ($class:ident: |$own:ident: $kind:ty, $py:ident| $($(#[doc = $text:literal])+ $name:ident = $value:expr;)+) => {
        #[$crate::base::boundary::methods]
        impl $class {
            $($(#[doc = $text])+
            #[getter]
            fn $name<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                let ($own, $py) = ($crate::results::state::<$kind>(slf)?, slf.py());
                $value
            })+
        }
    };
}
use properties;

/// The properties of a kind that are known without a result.
struct Kind {
    name: &'static str,
    is_class: fn(&Bound<'_, PyType>) -> bool,
    read: fn(&[u8]) -> Result<Arc<dyn AnyPartial>>,
}

impl Kind {
    const fn of<P: Native>() -> Self {
        Self {
            name: P::NAME,
            is_class: |class| class.is(class.py().get_type::<P::Class>()),
            read: |bytes| Ok(Arc::new(P::from_bytes(bytes)?)),
        }
    }

    /// Returns whether bytes state this kind: after 16 other bytes, the length of the name, and the name.
    fn is_of(&self, bytes: &[u8]) -> bool {
        let name = self.name.as_bytes();
        bytes.get(16..24) == Some(&(name.len() as u64).to_le_bytes()) && bytes[24..].starts_with(name)
    }
}

macro_rules! kinds {
    ($($kind:path => $class:path),* $(,)?) => {
        $(impl Native for $kind {
            type Class = $class;

            fn number_of_rows(&self) -> u64 {
                self.row_count()
            }

            fn make(py: Python<'_>, own: Partial) -> PyResult<Py<PyAny>> {
                Ok(Py::new(py, own.of_class($class))?.into_any())
            }
        })*

        static KINDS: &[Kind] = &[$(Kind::of::<$kind>()),*];
    };
}

kinds! {
    numeric_table::statistics::BasicStatistics => columns::Statistics,
    numeric_table::statistics::Covariance => products::Covariance,
    numeric_table::statistics::GramMatrix => products::GramMatrix,
    numeric_table::statistics::Histogram => counts::Histogram,
    numeric_table::statistics::QuantileSketch => counts::QuantileSketch,
    numeric_table::statistics::GroupStatistics => groups::GroupStatistics,
    numeric_table_learning::KMeansStep => learning::KMeansStep,
    numeric_table_learning::LinearRegression => learning::LinearRegression,
    numeric_table_learning::NaiveBayes => bayes::NaiveBayes,
    numeric_table_learning::GaussianNaiveBayes => bayes::GaussianNaiveBayes,
}

/// A result that is computed from some rows at a time and merged: over tables, files, or several processes.
///
/// The subclasses are the kinds. A result starts without rows. ``update(table)`` adds rows, ``merge(other)`` adds those
/// of another result with the same parameters. Bytes and pickles transfer it between processes. Several threads may use
/// one at once.
///
/// >>> import numeric_table as nt
/// >>> first, last = nt.Covariance(2), nt.Covariance(2)
/// >>> first.update(nt.Table([[1, 7], [3, 9]]))
/// >>> last.update(nt.Table([[5, 5]]))
/// >>> first.merge(nt.Partial.from_bytes(last.to_bytes()))  # as if it came from another process
/// >>> first.row_count, first.covariance.tolist()
/// (3, [[4.0, -2.0], [-2.0, 4.0]])
#[pyclass(frozen, subclass, module = "numeric_table", name = "Partial", weakref)]
pub(crate) struct Partial(RwLock<Arc<dyn AnyPartial>>);

impl Partial {
    pub(crate) fn new(own: impl Native) -> Self {
        Self::shared(Arc::new(own))
    }

    pub(crate) fn shared(own: Arc<dyn AnyPartial>) -> Self {
        Self(RwLock::new(own))
    }

    pub(crate) fn of_class<C: PyClass<BaseType = Self>>(self, class: C) -> PyClassInitializer<C> {
        PyClassInitializer::from(self).add_subclass(class)
    }

    /// Returns the result in its current state, which never changes. While it waits, other Python threads run.
    pub(crate) fn state(&self, py: Python<'_>) -> Arc<dyn AnyPartial> {
        loop {
            match self.0.try_read() {
                Ok(guard) => return Arc::clone(&guard),
                Err(TryLockError::Poisoned(poisoned)) => return Arc::clone(&poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => py.detach(|| drop(self.0.read())),
            }
        }
    }

    /// Adds a result of the same kind.
    fn add(&self, py: Python<'_>, other: &dyn AnyPartial) -> PyResult<()> {
        let merged = py.detach(|| {
            let mut own = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(own) = Arc::get_mut(&mut own) {
                return own.add(other);
            }
            // Another thread still reads it.
            let mut copy = own.copied();
            if let Some(copy) = Arc::get_mut(&mut copy) {
                copy.add(other)?;
            }
            *own = copy;
            Ok(())
        });
        merged.or_raise()
    }
}

/// The content of a pickle: a function, and its arguments.
pub(crate) type Pickled<'py, A> = (Bound<'py, PyAny>, A);

/// Creates the Python object of a result.
pub(crate) fn object(py: Python<'_>, own: Arc<dyn AnyPartial>) -> PyResult<Py<PyAny>> {
    own.object(py, Partial::shared(Arc::clone(&own)))
}

/// Returns the result of a Python object.
pub(crate) fn state<P: Native>(object: &Bound<'_, PyAny>) -> PyResult<Arc<P>> {
    let own: Arc<dyn Any + Send + Sync> = object.cast::<Partial>()?.get().state(object.py());
    own.downcast().map_err(|_| TableTypeError::new_err("the kind of the partial result is not that of its class"))
}

/// Does work on a table, or on data that can be converted to one, while other Python threads run. A signal ends it if
/// it calls [`hear`].
pub(crate) fn on_table<R: Send>(
    data: &Bound<'_, PyAny>,
    work: impl FnOnce(&dyn NumericTable) -> Result<R> + Send,
) -> PyResult<R> {
    let py = data.py();
    if let Ok(table) = data.cast::<Table>() {
        let table = table.get().steady(py)?;
        let table = table.table();
        return watch(py, None, None, || work(table));
    }
    let table = doors::table(data, None)?;
    let whole = &*table;
    watch(py, None, None, || work(whole))
}

/// Returns a number of Python.
pub(crate) fn number<'py>(py: Python<'py>, number: impl IntoPyObjectExt<'py>) -> PyResult<Bound<'py, PyAny>> {
    number.into_bound_py_any(py)
}

/// Returns numbers as a NumPy array.
pub(crate) fn vector<T: Element>(py: Python<'_>, values: impl IntoIterator<Item = T>) -> PyResult<Bound<'_, PyAny>> {
    Share::vector(values.into_iter().collect()).into_numpy(py)
}

/// Returns a table as a NumPy array.
pub(crate) fn matrix<'py, T: Element>(py: Python<'py>, table: &dyn NumericTable) -> PyResult<Bound<'py, PyAny>> {
    let Shape { rows, columns } = table.shape();
    let region = Region { rows: 0..rows, columns: 0..columns };
    read::<T>(py, table, &region, ConversionPolicy::Saturate)?.into_numpy(py)
}

/// Returns a table of one column as a one-dimensional NumPy array.
pub(crate) fn labels<'py>(py: Python<'py>, table: &dyn NumericTable) -> PyResult<Bound<'py, PyAny>> {
    matrix::<i32>(py, table)?.call_method1("reshape", (-1,))
}

#[methods]
impl Partial {
    /// The number of rows.
    #[getter]
    fn row_count(&self, py: Python<'_>) -> u64 {
        self.state(py).rows()
    }

    /// The approximate size of the result in memory, in bytes.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.state(py).bytes_held()
    }

    /// Adds all rows of a table, or of data that can be converted to one, on all threads. An error adds nothing.
    ///
    /// A :class:`TableReader`, a :class:`CsvSource`, :class:`Shards`, or a ``pathlib.Path`` of a table file is read block by
    /// block, so that it may be larger than memory.
    ///
    /// >>> import numeric_table as nt
    /// >>> found = nt.Statistics(2)
    /// >>> found.update(nt.Table([[1, 2], [3, 4]]))
    /// >>> found.update([[5, 6]])
    /// >>> found.mean
    /// array([3., 4.])
    fn update(&self, table: &Bound<'_, PyAny>) -> PyResult<()> {
        let own = self.state(table.py());
        let found = rows::compute(table, &own)?;
        drop(own); // so that it is not copied
        self.add(table.py(), &*found)
    }

    /// Adds the rows of another result with the same parameters. They come after the rows of this one. An error adds
    /// nothing.
    fn merge(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        let py = other.py();
        let found = other.get().state(py);
        let kind = self.state(py).kind();
        if kind != found.kind() {
            return Err(TableTypeError::new_err(unequal(kind, found.kind())));
        }
        self.add(py, &*found)
    }

    /// Returns a result with the same parameters and without rows: the same number of columns, bins, centroids.
    fn new_like(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        object(py, self.state(py).without_rows().or_raise()?)
    }

    /// Returns the result as bytes, with a checksum. Equal results have equal bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let own = self.state(py);
        let bytes = py.detach(|| own.written()).or_raise()?;
        memory::python_bytes(py, &bytes)
    }

    /// Restores a result from bytes, which are checked and may come from an untrusted source. ``Partial.from_bytes``
    /// accepts any kind, a subclass only its own. Invalid bytes raise :class:`FormatError`.
    #[classmethod]
    fn from_bytes(class: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        let py = class.py();
        let of_class = KINDS.iter().find(|kind| (kind.is_class)(class));
        // Bytes of an unknown kind get the error of the first kind.
        let kind = of_class.or_else(|| KINDS.iter().find(|kind| kind.is_of(bytes))).unwrap_or(&KINDS[0]);
        object(py, py.detach(|| (kind.read)(bytes)).or_raise()?)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        object(py, self.state(py))
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.__copy__(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py, (Bound<'py, PyBytes>,)>> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let rows = slf.get().state(slf.py()).rows();
        Ok(format!("<{} of {rows} row{}>", slf.get_type().name()?, if rows == 1 { "" } else { "s" }))
    }
}
