//! The record of copies, as a context manager.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numeric_table::trace::{CopyCount, Trace as Scope, TraceReport};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::base::boundary::{function, methods};

/// The copies of values that the calls in a ``with`` block make on its thread: how many bytes, and why.
///
/// ``trace()`` creates one. ``copies`` maps each kind of copy that occurred to the number of copies and their bytes.
/// Reading the stored type in place, slices, shared arrays and mapped files copy nothing.
///
/// >>> import numpy as np, numeric_table as nt
/// >>> table = nt.Table(np.ones((1000, 3), dtype="float32"))
/// >>> with nt.trace() as t:
/// ...     single = np.asarray(table)
/// ...     double = table.rows(0, 500, dtype="float64")
/// >>> t.nbytes, t.copies
/// (12000, {'converted': (1, 12000)})
/// >>> print(t)
/// copies of values     count           bytes
/// converted                1           12000
/// total                    1           12000
#[pyclass(frozen, module = "numeric_table")]
pub(crate) struct Trace {
    state: Mutex<State>,
}

enum State {
    New,
    Open(Scope),
    Closed(Box<TraceReport>),
}

impl Trace {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no code of the user runs while it is locked
    }

    fn report(&self) -> TraceReport {
        match &*self.state() {
            State::New => TraceReport::default(),
            State::Open(trace) => trace.report(),
            State::Closed(report) => (**report).clone(),
        }
    }
}

/// Records the copies of values that calls in a ``with`` block make: how many bytes, and why.
#[function]
pub(crate) fn trace() -> Trace {
    Trace { state: Mutex::new(State::New) }
}

#[methods]
impl Trace {
    /// The number of bytes copied.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.report().total().bytes
    }

    /// The number of copies.
    #[getter]
    fn count(&self) -> u64 {
        self.report().total().count
    }

    /// For each kind of copy that occurred: the number of copies, and their bytes.
    #[getter]
    fn copies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let copies = PyDict::new(py);
        for (kind, CopyCount { count, bytes }) in self.report().iter() {
            copies.set_item(kind.name(), (count, bytes))?;
        }
        Ok(copies)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let mut state = slf.get().state();
        if !matches!(*state, State::New) {
            drop(state);
            return Err(PyRuntimeError::new_err("a trace records one with block: call trace() again"));
        }
        *state = State::Open(Scope::start());
        drop(state);
        Ok(slf)
    }

    fn __exit__(&self, _exception: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _traceback: &Bound<'_, PyAny>) {
        let mut state = self.state();
        if let State::Open(trace) = &*state {
            trace.close();
            *state = State::Closed(Box::new(trace.report()));
        }
    }

    fn __str__(&self) -> String {
        self.report().to_string()
    }

    fn __repr__(&self) -> String {
        let CopyCount { count, bytes } = self.report().total();
        format!("<Trace: {count} copies, {bytes} bytes>")
    }
}
