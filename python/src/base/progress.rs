//! Progress of long calls: a user function, or a progress bar; and interrupts (Ctrl-C) during the work.
//!
//! The library calls its hook on any thread that works. Only the thread that made the call reports to its caller, to
//! whom signals and exceptions belong; the others continue. An exception unwinds the library's call, which leaves no
//! half-written file.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use numeric_table::files::Progress;
use pyo3::exceptions::{PyImportError, PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use pyo3::{PyTraverseError, PyVisit};

use crate::base::boundary::function;
use crate::base::error::OrRaise;
use crate::base::exit;

/// The interval between checks for signals, in microseconds.
static LOOK: AtomicU64 = AtomicU64::new(10_000);

/// Returns the interval between checks for signals.
pub(crate) fn interval() -> Duration {
    Duration::from_micros(LOOK.load(Relaxed))
}

/// Sets the interval between checks for signals, in microseconds, for tests whose work is short on a fast machine.
#[function]
pub(crate) fn _look_for_signals_every(microseconds: u32) {
    LOOK.store(microseconds.into(), Relaxed);
}

/// The limit on nesting: a progress function may make calls whose progress functions make calls, and so on.
const DEPTH: usize = 32;

/// The listener to the progress of one pass.
pub(crate) struct Listener {
    hears: Hears,
    title: String,
    /// The progress bar, once it exists.
    bar: OnceLock<Py<PyAny>>,
    is_closed: AtomicBool,
}

enum Hears {
    Function(Py<PyAny>),
    /// `tqdm`, which creates progress bars.
    Bar(Py<PyAny>),
}

impl Listener {
    /// Returns the listener to the work on a file, for the argument `progress`: a function, `True` for a progress bar,
    /// or
    /// `None`.
    pub(crate) fn of(progress: Option<&Bound<'_, PyAny>>, path: &Path) -> PyResult<Option<Self>> {
        let Some(progress) = progress else { return Ok(None) };
        let hears = match progress.cast::<PyBool>() {
            Ok(wanted) if !wanted.is_true() => return Ok(None),
            Ok(_) => Hears::Bar(bars(progress.py())?),
            Err(_) if progress.is_callable() => Hears::Function(progress.clone().unbind()),
            Err(_) => return Err(PyTypeError::new_err("progress must be a function of (done, total), True or None")),
        };
        let title = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Some(Self::new(hears, title)))
    }

    fn new(hears: Hears, title: String) -> Self {
        Self { hears, title, bar: OnceLock::new(), is_closed: AtomicBool::new(false) }
    }

    /// Returns a listener to another pass, which has its own progress bar.
    pub(crate) fn again(&self, py: Python<'_>) -> Self {
        let hears = match &self.hears {
            Hears::Function(function) => Hears::Function(function.clone_ref(py)),
            Hears::Bar(class) => Hears::Bar(class.clone_ref(py)),
        };
        Self::new(hears, self.title.clone())
    }

    /// Reports the number of bytes that are done. No lock may be held, because this runs user code.
    ///
    /// # Errors
    /// Those of the user code; `RecursionError` if the calls are nested too deeply.
    pub(crate) fn tell(&self, py: Python<'_>, done: u64, total: Option<u64>) -> PyResult<()> {
        let _told = Told::begin()?;
        let class = match &self.hears {
            Hears::Function(function) => return exit::call(function.bind(py), (done, total)).map(drop),
            Hears::Bar(_) if self.is_closed.load(Relaxed) => return Ok(()),
            Hears::Bar(class) => class,
        };
        let bar = match self.bar.get() {
            Some(bar) => bar.bind(py).clone(),
            None => {
                let options = PyDict::new(py);
                options.set_item("total", total)?;
                options.set_item("desc", &self.title)?;
                options.set_item("unit", "B")?;
                options.set_item("unit_scale", true)?;
                let bar = exit::call_with(class.bind(py), &options)?;
                self.bar.get_or_init(|| bar.unbind()).bind(py).clone()
            }
        };
        let shown: i64 = exit::attribute(&bar, "n")?.extract()?;
        exit::call(&exit::attribute(&bar, "update")?, (done as i64 - shown,)).map(drop)
    }

    /// Leaves the progress bar on the screen unchanged.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.bar.get() {
            Some(bar) if !self.is_closed.swap(true, Relaxed) => bar.call_method0(py, "close").map(drop),
            _ => Ok(()),
        }
    }

    /// Reports the objects held to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let (Hears::Function(object) | Hears::Bar(object)) = &self.hears;
        visit.call(object)?;
        self.bar.get().map_or(Ok(()), |bar| visit.call(bar))
    }
}

impl Drop for Listener {
    /// No progress bar stays open after an error, or after an iterator that is abandoned.
    fn drop(&mut self) {
        if self.bar.get().is_none() || self.is_closed.load(Relaxed) {
            return;
        }
        Python::try_attach(|py| {
            let raised = PyErr::take(py); // the current exception
            let closed = self.close(py);
            closed.unwrap_or_else(|error| error.write_unraisable(py, None));
            raised.into_iter().for_each(|error| error.restore(py));
        });
    }
}

/// A call of a progress function on this thread, until it ends.
struct Told;

impl Told {
    fn begin() -> PyResult<Self> {
        if TOLD.get() >= DEPTH {
            return Err(PyRecursionError::new_err(format!(
                "progress functions are nested more than {DEPTH} levels deep"
            )));
        }
        TOLD.set(TOLD.get() + 1);
        Ok(Self)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        TOLD.set(TOLD.get() - 1);
    }
}

fn bars(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let class = py.import("tqdm.auto").and_then(|module| module.getattr("tqdm"));
    class.map(Bound::unbind).map_err(|error| match error.is_instance_of::<PyImportError>(py) {
        true => PyImportError::new_err(
            "progress=True needs the package tqdm for its bar: install it, or pass a function of (done, total)",
        ),
        false => error,
    })
}

thread_local! {
    /// The watched calls of this thread: the last one works, each other one waits for a function that it called.
    static CALLS: RefCell<Vec<Rc<Call>>> = const { RefCell::new(Vec::new()) };
    /// The last progress on this thread outside of such calls.
    static HEARD: Cell<Option<Progress>> = const { Cell::new(None) };
    /// The number of progress functions that are running.
    static TOLD: Cell<usize> = const { Cell::new(0) };
}

struct Call {
    listener: Option<Listener>,
    heard: Cell<Option<Progress>>,
    looked: Cell<Instant>,
    error: Cell<Option<PyErr>>,
}

impl Call {
    /// Checks for signals from time to time, and reports progress. Returns whether the work is to continue.
    fn hear(&self, progress: Option<Progress>) -> bool {
        if progress.is_some() {
            self.heard.set(progress);
        }
        let news = self.listener.as_ref().zip(progress);
        if news.is_none() && self.looked.get().elapsed() < interval() {
            return true;
        }
        let told = exit::attached(|py| {
            py.check_signals()?;
            news.map_or(Ok(()), |(listener, progress)| listener.tell(py, progress.done, progress.total))
        });
        self.looked.set(Instant::now());
        match told {
            Ok(()) => true,
            Err(error) => {
                self.error.set(Some(error));
                false
            }
        }
    }

    /// Reports completion, if another thread did the last part of the work.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        match (&self.listener, self.heard.get()) {
            (Some(listener), Some(Progress { done, total: Some(total) })) if done != total => {
                listener.tell(py, total, Some(total))
            }
            _ => Ok(()),
        }
    }
}

/// The hook for all calls of the library that have one. Reports to the call that this thread has made, if there is one.
pub(crate) fn hear(progress: Progress) {
    match CALLS.with_borrow(|calls| calls.last().cloned()) {
        Some(call) if !call.hear(Some(progress)) => resume_unwind(Box::new(())), // to `watch`, which has the exception
        Some(_) => {}
        None => HEARD.set(Some(progress)),
    }
}

/// Checks for signals, in watched work that reports no progress. An exception unwinds the work. No lock may be held.
pub(crate) fn look() {
    if let Some(call) = CALLS.with_borrow(|calls| calls.last().cloned())
        && !call.hear(None)
    {
        resume_unwind(Box::new(())); // to `watch`
    }
}

/// Returns the last progress that the hook has received on this thread, one of the library's threads.
pub(crate) fn heard() -> Option<Progress> {
    HEARD.get()
}

/// Works while other Python threads run. An exception from a signal ends work that calls [`hear`] or [`look`].
pub(crate) fn interruptible<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    watch(py, None, None, || Ok(work()))
}

/// Works while other Python threads run, and passes on the progress that is reported to [`hear`]. An exception, also
/// from a signal, ends the work. `bytes` is the amount of work, if the work does not report it.
pub(crate) fn watch<R: Send>(
    py: Python<'_>,
    listener: Option<Listener>,
    bytes: Option<u64>,
    work: impl FnOnce() -> numeric_table::Result<R> + Send,
) -> PyResult<R> {
    let heard = bytes.map(|bytes| Progress { done: 0, total: Some(bytes) });
    let (heard, looked, error) = (Cell::new(heard), Cell::new(Instant::now()), Cell::new(None));
    let call = Rc::new(Call { listener, heard, looked, error });
    if let (Some(listener), Some(bytes)) = (&call.listener, bytes) {
        listener.tell(py, 0, Some(bytes))?;
    }
    CALLS.with_borrow_mut(|calls| calls.push(Rc::clone(&call)));
    let outcome: Result<_, Box<dyn Any + Send>> = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    CALLS.with_borrow_mut(|calls| drop(calls.pop())); // not the last one to hold it
    let result = match (call.error.take(), outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.or_raise(),
        (None, Err(panic)) => resume_unwind(panic),
    };
    let result = result.and_then(|found| call.end(py).map(|()| found));
    let closed = call.listener.as_ref().map_or(Ok(()), |listener| listener.close(py));
    result.and_then(|found| closed.map(|()| found))
}
