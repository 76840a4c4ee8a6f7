//! The boundary where Python calls Rust: a panic ends there, as an ordinary exception.
//!
//! `methods` and `function` replace PyO3's attributes, and wrap each body in [`guarded`]. A panic is a bug in the
//! library, but must not end a program that catches exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

pub(crate) use numeric_table_python_guard::{function, methods};

/// Runs the body of a function that Python has called.
///
/// # Errors
/// Those of the body; `RuntimeError` if it panics. Locks that it held are released, and not poisoned.
pub(crate) fn guarded<R>(body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    // Other threads can see state that a panic leaves behind in any case.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(exception(&*panic)))
}

fn exception(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error in numeric-table: {text}"))
}
