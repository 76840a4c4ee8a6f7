//! Blocks of rows: an iterator of them, a function over them on all threads, and blocks that are written back.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::Builder;

use numeric_table::{BlockAccess, BlockUpdate, ConversionPolicy, ElementType, Error};
use pyo3::exceptions::{PyRecursionError, PyRuntimeError};
use pyo3::prelude::*;

use crate::element::{self, with_type};
use crate::error::{OrRaise, TableError};
use crate::source;
use crate::table::Table;

/// Blocks of rows of a table, one after another.
#[pyclass(module = "numeric_table")]
pub(crate) struct RowBlocks {
    table: Py<Table>,
    next: usize,
    rows: usize,
    element: ElementType,
    policy: ConversionPolicy,
}

/// Refuses blocks of no rows.
pub(crate) fn check(rows: usize) -> PyResult<()> {
    if rows == 0 { Err(TableError::new_err(Error::EmptyBlocks.to_string())) } else { Ok(()) }
}

impl RowBlocks {
    pub(crate) fn new(table: Py<Table>, rows: usize, element: ElementType, policy: ConversionPolicy) -> PyResult<Self> {
        check(rows)?;
        Ok(Self { table, next: 0, rows, element, policy })
    }
}

#[pymethods]
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
        let share = Table::rows_of(py, &**table, self.next..stop, self.element, self.policy)?;
        drop(table);
        self.next = stop;
        share.into_numpy(py).map(Some)
    }
}

/// How deep functions that are called with blocks may call them with blocks: each level takes threads and their stacks.
const DEEPEST: usize = 16;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Calls a function of Python's with each block, on all threads.
pub(crate) fn par_map(
    py: Python<'_>,
    table: &Table,
    f: &Py<PyAny>,
    rows: usize,
    element: ElementType,
    policy: ConversionPolicy,
) -> PyResult<Vec<Py<PyAny>>> {
    check(rows)?;
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return Err(PyRecursionError::new_err(format!("par_map_blocks calls itself more than {DEEPEST} deep")));
    }
    let all = table.len(py);
    let call = |block: usize| {
        let first = block * rows;
        let range = first..all.min(first.saturating_add(rows));
        // Not while the interpreter shuts down.
        let called = Python::try_attach(|py| {
            // The table is not locked while `f` runs, which may read and write it.
            let share = Table::rows_of(py, &**table.read(py), range, element, policy)?;
            let block = share.into_numpy(py)?;
            f.call1(py, (block,))
        });
        called.unwrap_or_else(|| Err(PyRuntimeError::new_err("Python shuts down")))
    };
    // Threads of their own: one of a pool, which waits for its part of a conversion, may begin another block meanwhile.
    let (count, next, has_failed) = (all.div_ceil(rows), AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let before = DEPTH.replace(depth + 1);
        let mut found = Vec::new();
        while !has_failed.load(Relaxed) {
            let block = next.fetch_add(1, Relaxed);
            if block >= count {
                break;
            }
            let result = call(block);
            has_failed.fetch_or(result.is_err(), Relaxed);
            found.push((block, result));
        }
        DEPTH.set(before);
        found
    };
    let mut found = py.detach(|| {
        // A function that is called on all threads, and calls others, has no further ones.
        let threads =
            if depth > 0 { 1 } else { std::thread::available_parallelism().map_or(1, NonZero::get).min(count) };
        std::thread::scope(|scope| {
            let others = (1..threads).filter_map(|_| Builder::new().spawn_scoped(scope, work).ok()).collect::<Vec<_>>();
            let mut found = work();
            found.extend(
                others.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))),
            );
            found
        })
    });
    found.sort_by_key(|&(block, _)| block);
    found.into_iter().map(|(_, result)| result).collect()
}

/// Rows that are lent for writing, until the `with` block ends.
#[pyclass(module = "numeric_table")]
pub(crate) struct BlockWriter {
    table: Py<Table>,
    rows: Range<usize>,
    element: ElementType,
    array: Option<Py<PyAny>>,
}

impl BlockWriter {
    pub(crate) fn new(table: Py<Table>, rows: Range<usize>, element: ElementType) -> Self {
        Self { table, rows, element, array: None }
    }
}

#[pymethods]
impl BlockWriter {
    fn __enter__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.is_some() {
            return Err(PyRuntimeError::new_err("the block is lent already"));
        }
        let table = self.table.get().read(py);
        let share = Table::rows_of(py, &**table, self.rows.clone(), self.element, ConversionPolicy::Saturate)?;
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
        let Some(array) = self.array.take() else { return Err(PyRuntimeError::new_err("the block is not lent")) };
        if !exception.is_none() {
            return Ok(false); // nothing is written
        }
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("ascontiguousarray", (array, element::dtype(py, self.element)?))?;
        let edited = source::table(&array, Some(true))?;
        let (rows, edited) = (self.rows.clone(), &*edited);
        // The old values may be Python's: letting go of them runs code of the user's, which needs the lock.
        let written = source::later(|| {
            let mut table = self.table.get().write(py);
            let table = &mut **table;
            with_type!(self.element, T => py.detach(|| {
                table.update_rows::<T, _>(rows, |block| {
                    let values = edited.rows::<T>(..)?;
                    let (expected, found) = (block.len(), values.len());
                    if expected != found {
                        return Err(Error::LengthMismatch { expected, found });
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
