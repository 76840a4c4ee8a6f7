//! Blocks of rows: an iterator of blocks, a parallel map over blocks, and blocks that are written back.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{Builder, available_parallelism};

use numeric_table::table::spi::Region;
use numeric_table::{BlockAccess, BlockUpdate, Error, ErrorKind, Shape, TableDescription};
use pyo3::exceptions::{PyRecursionError, PyRuntimeError};
use pyo3::prelude::*;

use crate::base::boundary::{guarded, methods};
use crate::base::element::{self, with_type};
use crate::base::error::{OrRaise, TableError};
use crate::base::exit;
use crate::base::memory;
use crate::table::Table;
use crate::table::labels::{lacks_integers, shows_numbers};
use crate::table::reading::Wanted;

/// Blocks of rows of a table, one after another.
#[pyclass(module = "numeric_table")]
pub(crate) struct RowBlocks {
    table: Py<Table>,
    next: usize,
    rows: usize,
    wanted: Wanted,
}

/// Refuses blocks of zero rows.
pub(crate) fn check(rows: usize) -> PyResult<()> {
    match rows {
        0 => Err(TableError::new_err("the number of rows of a block is 0, but must be at least 1")),
        _ => Ok(()),
    }
}

impl RowBlocks {
    pub(crate) fn new(table: Py<Table>, rows: usize, wanted: Wanted) -> PyResult<Self> {
        check(rows)?;
        Ok(Self { table, next: 0, rows, wanted })
    }
}

/// The approximate number of values that an iterator over rows converts at once.
const ITERATED_VALUES: usize = 8 << 10;

#[methods]
impl Table {
    /// Returns an iterator over the rows, each as ``table[row]`` returns it, in the state of the table at this moment.
    ///
    /// >>> import numeric_table as nt
    /// >>> [row.tolist() for row in nt.Table([[1, 2], [3, 4]])]
    /// [[1, 2], [3, 4]]
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let table = Bound::new(py, Self::new(slf.get().snapshot(py)?))?;
        let (Shape { rows, columns }, shows_numbers) = {
            let table = table.get().read(py);
            let Shape { rows, columns } = table.shape();
            let lacks_integers = lacks_integers(&**table, &Region { rows: 0..rows, columns: 0..columns })?;
            (table.shape(), !lacks_integers && table.dictionary().iter().all(shows_numbers))
        };
        if !shows_numbers {
            let builtins = py.import("builtins")?;
            let every = builtins.getattr("range")?.call1((rows,))?;
            return builtins.getattr("map")?.call1((table.getattr("__getitem__")?, every));
        }
        let wanted = table.get().wanted(py, None, None)?;
        let blocks = RowBlocks::new(table.unbind(), (ITERATED_VALUES / columns.max(1)).max(1), wanted)?;
        py.import("itertools")?.getattr("chain")?.call_method1("from_iterable", (blocks,))
    }
}

#[methods]
impl RowBlocks {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let table = self.table.get().read(py);
        let all = table.row_count();
        if self.next >= all {
            return Ok(None);
        }
        let stop = all.min(self.next.saturating_add(self.rows));
        let share = self.wanted.rows(py, &**table, self.next..stop)?;
        drop(table);
        self.next = stop;
        share.into_numpy(py).map(Some)
    }
}

/// The limit on the nesting of `par_map_blocks`: each level takes threads and their stacks.
const DEEPEST: usize = 16;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A function that is called with each block of a table. The threads that call it share it, and none borrows from
/// another: when the interpreter exits, threads stop where they are, or vanish.
struct Job {
    table: Py<Table>,
    f: Py<PyAny>,
    all: usize,
    rows: usize,
    wanted: Wanted,
    /// The nesting depth of the calls.
    depth: usize,
    next: AtomicUsize,
    has_failed: AtomicBool,
}

type Called = Vec<(usize, PyResult<Py<PyAny>>)>;

impl Job {
    fn count(&self) -> usize {
        self.all.div_ceil(self.rows)
    }

    fn call(&self, block: usize) -> PyResult<Py<PyAny>> {
        let first = block * self.rows;
        let range = first..self.all.min(first.saturating_add(self.rows));
        exit::attached(|py| {
            // The table is not locked while `f` runs, which may read and write it.
            let share = self.wanted.rows(py, &**self.table.get().read(py), range)?;
            let block = share.into_numpy(py)?;
            exit::call(self.f.bind(py), (block,)).map(Bound::unbind)
        })
    }

    /// Calls the function with blocks until none are left.
    fn work(&self) -> Called {
        let before = DEPTH.replace(self.depth);
        let mut found = Vec::new();
        while !self.has_failed.load(Relaxed) {
            let block = self.next.fetch_add(1, Relaxed);
            if block >= self.count() {
                break;
            }
            let result = guarded(|| self.call(block)); // on other threads too
            self.has_failed.fetch_or(result.is_err(), Relaxed);
            found.push((block, result));
        }
        DEPTH.set(before);
        found
    }

    /// Shares the work with other threads.
    fn share(self: Arc<Self>) -> Called {
        // A nested call uses no further threads. At the exit, the other threads cannot take the interpreter.
        let is_alone = self.depth > 1 || exit::is_closed();
        let threads = if is_alone { 1 } else { available_parallelism().map_or(1, NonZero::get).min(self.count()) };
        // Separate threads: a pool thread that waits for its part of a conversion may begin another block meanwhile.
        let begin = |_| {
            let job = Arc::clone(&self);
            Builder::new().spawn(move || job.work()).ok()
        };
        let others = (1..threads).filter_map(begin).collect::<Vec<_>>();
        let mut found = self.work();
        for thread in others {
            found.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    }
}

/// Calls a Python function with each block, on all threads.
pub(crate) fn par_map(table: &Bound<'_, Table>, f: Py<PyAny>, rows: usize, wanted: Wanted) -> PyResult<Vec<Py<PyAny>>> {
    check(rows)?;
    let depth = DEPTH.get() + 1;
    if depth > DEEPEST {
        return Err(PyRecursionError::new_err(format!(
            "calls of par_map_blocks are nested more than {DEEPEST} levels deep"
        )));
    }
    let (py, all, table) = (table.py(), table.get().len(table.py()), table.clone().unbind());
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let job = Arc::new(Job { table, f, all, rows, wanted, depth, next, has_failed });
    let mut found = py.detach(|| job.share());
    found.sort_by_key(|&(block, _)| block);
    found.into_iter().map(|(_, result)| result).collect()
}

/// Rows that are borrowed for writing until the `with` block ends.
#[pyclass(module = "numeric_table")]
pub(crate) struct BlockWriter {
    table: Py<Table>,
    rows: Range<usize>,
    wanted: Wanted,
    array: Option<Py<PyAny>>,
}

impl BlockWriter {
    pub(crate) fn new(table: Py<Table>, rows: Range<usize>, wanted: Wanted) -> Self {
        Self { table, rows, wanted, array: None }
    }
}

#[methods]
impl BlockWriter {
    fn __enter__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.is_some() {
            return Err(PyRuntimeError::new_err("the block is already in use"));
        }
        let table = self.table.get().read(py);
        let share = self.wanted.rows(py, &**table, self.rows.clone())?;
        drop(table);
        let array = share.into_numpy(py)?.call_method0("copy")?;
        self.array = Some(array.clone().unbind());
        Ok(array)
    }

    fn __exit__(
        &mut self,
        py: Python<'_>,
        exception: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let Some(array) = self.array.take() else { return Err(PyRuntimeError::new_err("the block is not in use")) };
        if !exception.is_none() {
            return Ok(false); // nothing is written
        }
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("ascontiguousarray", (array, element::dtype(py, self.wanted.element)?))?;
        let edited = memory::of_array(&array, Some(true))?;
        let (rows, edited) = (self.rows.clone(), &*edited);
        // The old values may belong to Python: releasing them runs user code, which needs the lock.
        let written = memory::later(|| {
            let mut table = self.table.get().write(py);
            let table = &mut **table;
            with_type!(self.wanted.element, T => py.detach(|| {
                table.update_rows::<T, _>(rows, |block| {
                    let values = edited.rows::<T>(..)?;
                    let (expected, found) = (block.len(), values.len());
                    if expected != found {
                        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
                    }
                    block.copy_from_slice(&values);
                    Ok(())
                })
            }))
        });
        written.or_raise()?;
        Ok(false)
    }
}
