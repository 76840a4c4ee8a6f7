//! A record of copies: how many bytes of values were copied, and why.
//!
//! A [`Trace`] belongs to the thread that starts it. Library calls record their copies in the innermost trace of the
//! thread, and in all traces around it. The library hands the trace of a call to the threads that help with it
//! ([`TraceContext`]).
//! Without an open trace, a copy costs one relaxed load and a branch; reading in place costs nothing. Everything else
//! here is cold.
//! Invariant: `OPEN` is the number of scopes that are not closed. Each thread has a list of scopes, the innermost last;
//! closed scopes may stay in it until the thread looks at it again, and receive nothing.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

macro_rules! copy_kinds {
    ($($(#[$page:meta])* $Kind:ident $name:literal,)*) => {
        /// Why values were copied.
        ///
        /// The bytes of a copy are the size of the copy: of the block, the array or the new table that was filled, in
        /// its own element type.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::trace::CopyKind;
        /// assert_eq!(CopyKind::WrittenBack.to_string(), "written_back");
        /// assert!(CopyKind::ALL.contains(&CopyKind::Converted));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum CopyKind {
            $($(#[$page])* $Kind,)*
        }

        impl CopyKind {
            /// All kinds of copies, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$Kind),*];

            /// Returns the name of the kind, as reports print it and Python uses it.
            ///
            /// # Examples
            /// ```
            /// assert_eq!(numeric_table::trace::CopyKind::Converted.name(), "converted");
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Kind => $name,)*
                }
            }
        }

        const KINDS: usize = CopyKind::ALL.len();
    };
}

copy_kinds! {
    /// Read in an element type that the table does not store. To avoid it, store the table in that type, or read it in
    /// the stored type.
    Converted "converted",
    /// Read in the stored type, but the values are not contiguous in row-major order: in another layout, in several
    /// arrays, in records, sparse, packed or computed. To avoid it, choose the layout or the kind of table.
    Gathered "gathered",
    /// Copied for an edit that changes the table only if it succeeds, although the values are contiguous and of the
    /// requested type. To avoid it, edit in place, for example with
    /// [`update_rows_in_place`](crate::BlockUpdate::update_rows_in_place).
    Staged "staged",
    /// An edited copy, written back into its table. Counts the entire block, changed or not.
    WrittenBack "written_back",
    /// Copied before a write because the memory is shared or immutable (copy on write). To avoid it, drop the clone or
    /// the slice that shares the memory.
    Unshared "unshared",
    /// Moved to larger memory because rows or columns were added. To avoid it, reserve the memory first.
    Grown "grown",
    /// Rows that were taken, filtered, sorted, sampled or split, in a new table.
    Selected "selected",
    /// Copied by a call whose purpose is a copy: [`Array::copy_of`](crate::Array::copy_of), or an array of a block.
    Requested "requested",
    /// Copied from an object of another library, or into one, whose memory cannot be shared.
    Exchanged "exchanged",
    /// Values that were read from a file or an archive into memory. Mapping a file reads nothing.
    Loaded "loaded",
    /// Values that were written to a file or an archive.
    Saved "saved",
    /// Copied from the program's memory to a device.
    Uploaded "uploaded",
    /// Copied from a device to the program's memory.
    Downloaded "downloaded",
    /// Copied within the memory of a device.
    OnDevice "on_device",
}

impl fmt::Display for CopyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One copy, as the hook of a trace receives it.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, trace::{CopyKind, Trace}};
/// let trace = Trace::with_hook(|event| assert_eq!((event.kind(), event.bytes()), (CopyKind::Requested, 3)));
/// Array::copy_of(&[1_u8, 2, 3])?;
/// trace.finish();
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyEvent {
    kind: CopyKind,
    bytes: u64,
}

impl CopyEvent {
    /// Returns why the values were copied.
    pub fn kind(&self) -> CopyKind {
        self.kind
    }

    /// Returns the size of the copy in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for CopyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} bytes", self.kind, self.bytes)
    }
}

/// The number of copies of one kind, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyCount {
    /// The number of copies.
    pub count: u64,
    /// The size of all copies in bytes.
    pub bytes: u64,
}

/// The copies that a [`Trace`] has recorded. Prints as a table.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, trace::{CopyKind, copies_of}};
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5], [3.5, 4.5]])?;
/// let (_, report) = copies_of(|| table.rows::<f64>(..));
/// assert_eq!(report.of(CopyKind::Converted).bytes, 32);
/// assert_eq!(report.to_string(), "\
/// copies of values     count           bytes
/// converted                1              32
/// total                    1              32");
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceReport {
    counts: [CopyCount; KINDS],
}

impl TraceReport {
    /// Returns the copies of one kind.
    pub fn of(&self, kind: CopyKind) -> CopyCount {
        self.counts[kind as usize]
    }

    /// Returns the copies of all kinds.
    pub fn total(&self) -> CopyCount {
        self.counts.iter().fold(CopyCount::default(), |all, one| CopyCount {
            count: all.count.saturating_add(one.count),
            bytes: all.bytes.saturating_add(one.bytes),
        })
    }

    /// Returns whether nothing was copied.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|one| one.count == 0)
    }

    /// Returns the kinds of copies that occurred.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{Array, trace::copies_of};
    /// let (_, report) = copies_of(|| Array::copy_of(&[1_u8, 2, 3]));
    /// assert_eq!(report.iter().map(|(kind, copies)| (kind.name(), copies.bytes)).collect::<Vec<_>>(), [("requested", 3)]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (CopyKind, CopyCount)> + '_ {
        CopyKind::ALL.iter().map(|&kind| (kind, self.of(kind))).filter(|(_, copies)| copies.count > 0)
    }
}

impl fmt::Display for TraceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18}{:>8}{:>16}", "copies of values", "count", "bytes")?;
        let mut line = |name, CopyCount { count, bytes }| write!(f, "\n{name:<18}{count:>8}{bytes:>16}");
        for (kind, copies) in self.iter() {
            line(kind.name(), copies)?;
        }
        line("total", self.total())
    }
}

/// A scope that records the copies of values by library calls: which bytes were copied, and why.
///
/// A trace records the calls of the thread that starts it, until it is [finished](Self::finish) or dropped, including
/// the work that the library does for them on other threads. Traces nest: an inner trace also reports to the outer
/// ones. Threads that the program starts have no trace: hand them a [`TraceContext`].
///
/// A parallel iterator of the library, such as `par_row_blocks`, belongs to the traces of the thread that creates it,
/// wherever it runs. The closures that a program passes to it run on threads of Rayon, which have no trace: library
/// calls in them are recorded if they run in a [`TraceContext`].
///
/// Most calls record a copy when it is complete. Reading in place, clones, slices, sub-tables and mapped files record
/// nothing. Not recorded either: single values (`value`, `set_value`), values that the caller passes to be written or
/// appended, working memory of the library, serde and Parquet.
///
/// Cost without a trace: a load and a branch for each copy.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, trace::{CopyKind, Trace}};
/// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
/// let trace = Trace::start();
/// table.rows::<i16>(..)?;                                   // the stored type: in place
/// assert!(trace.report().is_empty());
/// let shared = table.clone();
/// table.set_value(0, 0, 7_i16)?;                            // the clone shares the memory: all 8 bytes are copied
/// let report = trace.finish();
/// assert_eq!((report.total().bytes, report.of(CopyKind::Unshared).count), (8, 1));
/// # assert_eq!(shared.as_slice()?[0], 1);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a trace that is dropped at once records nothing"]
pub struct Trace {
    scope: Arc<Scope>,
}

impl Trace {
    /// Starts a trace on this thread.
    pub fn start() -> Self {
        Self::open(None)
    }

    /// Starts a trace that also calls a hook after each copy, on the thread that has copied. A breakpoint or a backtrace
    /// in the hook shows the call that copies.
    ///
    /// Copies that the hook makes are not recorded. It must not use the table or the array that the call copies: they
    /// may be locked. If it panics, that call goes on, the hook is not called again, and [`finish`](Self::finish) resumes
    /// the panic.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, trace::Trace};
    /// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
    /// let trace = Trace::with_hook(|event| panic!("{event}: {}", std::backtrace::Backtrace::force_capture()));
    /// table.rows::<i16>(..)?; // in place: the hook is not called
    /// trace.finish();
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn with_hook(hook: impl Fn(&CopyEvent) + Send + Sync + 'static) -> Self {
        Self::open(Some(Box::new(hook)))
    }

    fn open(hook: Option<Box<Hook>>) -> Self {
        let scope = Arc::new(Scope {
            is_open: AtomicBool::new(true),
            counts: Default::default(),
            hook,
            has_panicked: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        OPEN.fetch_add(1, Ordering::Relaxed);
        let mut scopes = current();
        scopes.push(Arc::clone(&scope));
        set_current(scopes);
        Self { scope }
    }

    /// Returns the copies so far.
    pub fn report(&self) -> TraceReport {
        let mut report = TraceReport::default();
        for (copies, (count, bytes)) in report.counts.iter_mut().zip(&self.scope.counts) {
            *copies = CopyCount { count: count.load(Ordering::Relaxed), bytes: bytes.load(Ordering::Relaxed) };
        }
        report
    }

    /// Ends the trace and returns its copies. It may end on another thread than it began on, and before an inner trace.
    ///
    /// # Panics
    /// If the hook has panicked.
    pub fn finish(self) -> TraceReport {
        self.close();
        let panic = self.scope.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        self.report()
    }

    /// Ends the trace and keeps its report.
    pub fn close(&self) {
        if self.scope.is_open.swap(false, Ordering::Relaxed) {
            OPEN.fetch_sub(1, Ordering::Relaxed);
        }
        drop(current()); // which forgets closed scopes
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.close();
    }
}

/// Calls `work` and returns its result and the copies that it made.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, trace::copies_of};
/// let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]])?;
/// let (columns, report) = copies_of(|| table.select_columns([1]));
/// assert!(report.is_empty(), "{report}");
/// # columns?;
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn copies_of<R>(work: impl FnOnce() -> R) -> (R, TraceReport) {
    let trace = Trace::start();
    let result = work();
    (result, trace.finish())
}

/// The traces of a thread, for another thread that works for it.
///
/// # Examples
/// ```
/// use numeric_table::{Array, trace::{Trace, TraceContext}};
/// let trace = Trace::start();
/// let context = TraceContext::current();
/// std::thread::spawn(move || context.run(|| Array::copy_of(&[1_u8, 2, 3]).is_ok())).join().unwrap();
/// assert_eq!(trace.finish().total().bytes, 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct TraceContext(Vec<Arc<Scope>>);

impl TraceContext {
    /// Returns the traces of this thread.
    #[inline]
    pub fn current() -> Self {
        if is_on() { Self(current()) } else { Self(Vec::new()) }
    }

    /// Calls `work`, whose copies count for these traces, and not for those of the thread that calls it. A trace that
    /// `work` starts and does not end goes on when this returns.
    #[inline]
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.0.is_empty() && !is_on() {
            return work();
        }
        let _restore = Restore { before: set_current(self.0.clone()), entered: &self.0 };
        work()
    }

    /// Calls `work`, whose copies count for the traces of the thread or, if it has none, for these.
    pub(crate) fn run_unless_traced<R>(&self, work: impl FnOnce() -> R) -> R {
        if self.0.is_empty() || !current().is_empty() { work() } else { self.run(work) }
    }
}

/// Sets the traces of the thread when dropped, even if it unwinds: those of before, and those that were started since
/// and are still open.
struct Restore<'c> {
    before: Vec<Arc<Scope>>,
    entered: &'c [Arc<Scope>],
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        let mut scopes = std::mem::take(&mut self.before);
        let is_entered = |scope: &Arc<Scope>| self.entered.iter().any(|entered| Arc::ptr_eq(entered, scope));
        scopes.extend(current().into_iter().filter(|scope| !is_entered(scope)));
        set_current(scopes);
    }
}

type Hook = dyn Fn(&CopyEvent) + Send + Sync;

/// The counts of one trace.
struct Scope {
    is_open: AtomicBool,
    /// Counts and bytes, in the order of [`CopyKind::ALL`].
    counts: [(AtomicU64, AtomicU64); KINDS],
    hook: Option<Box<Hook>>,
    has_panicked: AtomicBool,
    /// The panic of the hook.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl Scope {
    fn add(&self, event: &CopyEvent) {
        if !self.is_open.load(Ordering::Relaxed) {
            return;
        }
        let (count, bytes) = &self.counts[event.kind as usize];
        count.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(event.bytes, Ordering::Relaxed);
        if let Some(hook) = &self.hook
            && !self.has_panicked.load(Ordering::Relaxed)
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| hook(event)))
        {
            self.has_panicked.store(true, Ordering::Relaxed);
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match *first {
                None => *first = Some(panic),
                Some(_) => std::mem::forget(panic), // dropping it could panic
            }
        }
    }
}

/// The number of open scopes in the program.
static OPEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The scopes of this thread, the innermost last.
    static CURRENT: RefCell<Vec<Arc<Scope>>> = const { RefCell::new(Vec::new()) };
}

/// Returns the open scopes of this thread, and forgets the closed ones.
#[cold]
#[inline(never)]
fn current() -> Vec<Arc<Scope>> {
    let mut scopes = set_current(Vec::new());
    scopes.retain(|scope| scope.is_open.load(Ordering::Relaxed));
    set_current(scopes.clone());
    scopes
}

/// Sets the scopes of this thread, and returns those before. Nothing is dropped in the cell: what a hook owns may use
/// the library when it is dropped. A thread that ends has no scopes.
fn set_current(scopes: Vec<Arc<Scope>>) -> Vec<Arc<Scope>> {
    CURRENT.try_with(|current| current.replace(scopes)).unwrap_or_default()
}

/// Returns whether any trace is open in the program.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    OPEN.load(Ordering::Relaxed) != 0
}

/// Records a copy.
#[inline(always)]
pub fn record(kind: CopyKind, bytes: usize) {
    record_long(kind, bytes as u64);
}

/// Records a copy of a length that may exceed memory.
#[inline(always)]
pub(crate) fn record_long(kind: CopyKind, bytes: u64) {
    if is_on() {
        record_now(kind, bytes);
    }
}

/// Records a copy while a trace is open. Copies of nothing are not recorded.
#[cold]
#[inline(never)]
pub(crate) fn record_now(kind: CopyKind, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let scopes = current();
    if scopes.is_empty() {
        return; // the trace of another thread
    }
    let _restore = Restore { before: set_current(Vec::new()), entered: &[] }; // copies of the hooks are not recorded
    let event = CopyEvent { kind, bytes };
    scopes.iter().rev().for_each(|scope| scope.add(&event));
}
