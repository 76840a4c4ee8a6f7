//! The exit of the interpreter, and of a forked process: which threads may still take the interpreter.
//!
//! A daemon thread that takes the interpreter during its exit never returns. Before Python 3.14 the system unwinds its
//! stack, or just discards it; since then the thread sleeps for ever. Neither of the first two may happen below a call
//! of the library on which its other threads rely. So code that runs Python within such a call goes through
//! [`attached`]. When the interpreter is about to exit ([`close`], an exit handler), it admits no more threads, and
//! they sleep where they are. Threads inside get a moment to leave. [`call`] calls user code, which may run for longer:
//! then the thread sleeps instead of being unwound.

use std::cell::Cell;
use std::hint::black_box;
use std::mem::{forget, transmute};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use crate::base::boundary::function;
use pyo3::types::{PyDict, PyString, PyTuple};

/// How long the exit waits for user code that runs within calls of the library, on daemon threads.
const GRACE: Duration = Duration::from_millis(250);

/// Nothing here takes a lock, because a fork would leave it locked.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The number of forks between the first process and this one.
static FORKS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread ends the interpreter, and so may use it until the end.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the interpreter is about to exit. Threads other than the one that ends it then do nothing more.
pub(crate) fn is_closed() -> bool {
    IS_CLOSED.load(SeqCst)
}

/// Returns the number of forks between the first process and this one.
pub(crate) fn forks() -> usize {
    FORKS.load(SeqCst)
}

/// Sleeps until the process exits. Detached threads do not delay the exit.
fn sleep_for_ever() -> ! {
    loop {
        thread::park();
    }
}

/// Sleeps instead of being unwound, when dropped.
struct Hang;

impl Drop for Hang {
    fn drop(&mut self) {
        sleep_for_ever();
    }
}

/// A thread that runs Python code within a call of the library.
struct Inside(usize);

impl Inside {
    fn enter() -> Self {
        INSIDE.fetch_add(1, SeqCst);
        let inside = Self(FORKS.load(SeqCst));
        if is_closed() && !ENDS.get() {
            drop(inside);
            sleep_for_ever();
        }
        inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0 == FORKS.load(SeqCst) {
            INSIDE.fetch_sub(1, SeqCst);
        }
    }
}

/// Attaches a detached thread to the interpreter within a call of the library. Does not return if the interpreter is
/// about to exit.
pub(crate) fn attached<R>(work: impl FnOnce(Python<'_>) -> PyResult<R>) -> PyResult<R> {
    let inside = Inside::enter();
    let done = Python::try_attach(work);
    drop(inside);
    done.unwrap_or_else(|| Err(PyRuntimeError::new_err("Python is shutting down")))
}

type Declared = unsafe extern "C" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type Call = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject) -> *mut PyObject;
type DeclaredWithOptions = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
type CallWithOptions = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls user code within a call of the library.
pub(crate) fn call<'py, A>(function: &Bound<'py, PyAny>, arguments: A) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    let arguments = arguments.into_pyobject(function.py())?;
    // pyo3 declares the function as one that never unwinds. An optimizer that sees which function is called trusts
    // that, and omits `hang`. `black_box` hides the function.
    let declared = black_box::<Declared>(ffi::PyObject_CallObject);
    // SAFETY: the two types have the same ABI; that of `Call` says that the function may be unwound.
    let call = unsafe { transmute::<Declared, Call>(declared) };
    let hang = Hang;
    // SAFETY: both objects are alive, and the thread is attached.
    let result = unsafe { call(function.as_ptr(), arguments.as_ptr()) };
    forget(hang);
    // SAFETY: the function returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(function.py(), result) }
}

/// Like [`call`], with keyword arguments and no others.
pub(crate) fn call_with<'py>(
    function: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyTuple::empty(function.py());
    let declared = black_box::<DeclaredWithOptions>(ffi::PyObject_Call);
    // SAFETY: as in `call`.
    let call = unsafe { transmute::<DeclaredWithOptions, CallWithOptions>(declared) };
    let hang = Hang;
    // SAFETY: the three objects are alive, and the thread is attached.
    let result = unsafe { call(function.as_ptr(), arguments.as_ptr(), options.as_ptr()) };
    forget(hang);
    // SAFETY: the function returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(function.py(), result) }
}

/// Calls a function of another library within a call of this one, which may run Python code and be unwound.
pub(crate) fn call_foreign(function: impl FnOnce()) {
    let hang = Hang;
    function();
    forget(hang);
}

/// Returns an attribute within a call of the library. Reading it may run user code.
pub(crate) fn attribute<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(object.py(), name);
    let declared = black_box::<Declared>(ffi::PyObject_GetAttr);
    // SAFETY: as in `call`.
    let get = unsafe { transmute::<Declared, Call>(declared) };
    let hang = Hang;
    // SAFETY: both objects are alive, and the thread is attached.
    let result = unsafe { get(object.as_ptr(), name.as_ptr()) };
    forget(hang);
    // SAFETY: the function returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), result) }
}

/// Admits no more threads except this one, and waits a moment for those that are inside.
fn close() {
    ENDS.set(true);
    IS_CLOSED.store(true, SeqCst);
    let begin = Instant::now();
    while INSIDE.load(SeqCst) > 0 && begin.elapsed() < GRACE {
        thread::sleep(Duration::from_millis(1));
    }
}

/// The handler for the exit of the interpreter.
#[function]
pub(crate) fn _at_exit(py: Python<'_>) {
    py.detach(close);
}

/// The handler for a forked process, in which only the calling thread exists.
#[function]
pub(crate) fn _after_fork() {
    FORKS.fetch_add(1, SeqCst);
    INSIDE.store(0, SeqCst);
}

/// Registers the two handlers.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    py.import("atexit")?.call_method1("register", (module.getattr("_at_exit")?,))?;
    if let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? {
        let options = PyDict::new(py);
        options.set_item("after_in_child", module.getattr("_after_fork")?)?;
        register.call((), Some(&options))?;
    }
    Ok(())
}
