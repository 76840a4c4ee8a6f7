//! Where Python calls Rust: a panic ends there, as an ordinary exception.
//!
//! `methods` and `function` take the places of PyO3's attributes, and put each body into [`guarded`]. A panic is a fault of the
//! library's; it is not the end of a program that catches exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

pub(crate) use numeric_table_python_guard::{function, methods};

/// Runs the body of a function that Python has called.
///
/// # Errors
/// Its own; `RuntimeError` if it panics. Locks that it held are free again, and know of no panic.
pub(crate) fn guarded<R>(body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    // What a panic leaves behind is seen by others in any case: they are other threads.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(exception(&*panic)))
}

fn exception(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("it does not say why");
    PyRuntimeError::new_err(format!("numeric-table has failed, which is a fault of its own: {text}"))
}
