//! What happens to the calls: which of them fail, how much is written, and what has been done.

mod calls;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A call that touches a file, a directory or a mapping of a file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Call {
    Open,
    Close,
    Read,
    ReadAt,
    Write,
    WriteMany,
    WriteAt,
    Seek,
    Sync,
    SyncData,
    Truncate,
    Allocate,
    CopyRange,
    Map,
    SyncMap,
    Advise,
    Rename,
    Unlink,
    MakeDirectory,
    Link,
    Status,
    FileStatus,
    Lock,
    Mode,
    ReadLink,
    SystemStatus,
    OpenDirectory,
    ReadDirectory,
    RealPath,
}

/// What becomes of one call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// It fails with this number.
    Error(i32),
    /// It reads or writes one byte.
    Short,
}

/// A call that fails: the one with this number, from 0, among those of its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) call: Call,
    pub(crate) number: usize,
    pub(crate) fault: Fault,
}

/// Something that was done to the files of the folder, in order. Files have numbers, names do not last.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A new file got this name.
    Create {
        path: PathBuf,
        file: usize,
    },
    /// A file that existed was opened under this name.
    Find {
        path: PathBuf,
        file: usize,
    },
    MakeDirectory {
        path: PathBuf,
    },
    Write {
        file: usize,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: usize,
        length: u64,
    },
    Sync {
        file: usize,
    },
    /// The names in a directory are on the disk.
    SyncDirectory {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Unlink {
        path: PathBuf,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
}

/// A descriptor of a watched file.
struct Open {
    path: PathBuf,
    file: usize,
    is_directory: bool,
}

#[derive(Default)]
struct State {
    folder: PathBuf,
    open: HashMap<i32, Open>,
    /// Mapped addresses, and streams of directories.
    maps: Vec<(usize, usize)>,
    streams: Vec<usize>,
    counts: BTreeMap<Call, usize>,
    plan: Option<Plan>,
    has_failed: bool,
    /// The number of bytes that the disk still has room for.
    room: Option<u64>,
    events: Option<Vec<Event>>,
    files: HashMap<PathBuf, usize>,
    file_count: usize,
}

static IS_WATCHED: AtomicBool = AtomicBool::new(false);
static STATE: Mutex<Option<State>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls that touched a folder while it was watched.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) counts: BTreeMap<Call, usize>,
    pub(crate) has_failed: bool,
    pub(crate) events: Vec<Event>,
}

/// What to do with the calls that touch a folder.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) plan: Option<Plan>,
    pub(crate) room: Option<u64>,
    pub(crate) records: bool,
}

/// Runs `work` while the files of a folder are watched.
pub(crate) fn watch<R>(folder: &Path, orders: Orders, work: impl FnOnce() -> R) -> (R, Seen) {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_WATCHED.store(false, Ordering::SeqCst);
        }
    }
    *state() = Some(State {
        folder: folder.to_owned(),
        plan: orders.plan,
        room: orders.room,
        events: orders.records.then(Vec::new),
        ..State::default()
    });
    IS_WATCHED.store(true, Ordering::SeqCst);
    let end = End;
    let result = work();
    drop(end);
    let state = state().take().unwrap();
    let seen = Seen { counts: state.counts, has_failed: state.has_failed, events: state.events.unwrap_or_default() };
    (result, seen)
}

impl State {
    /// Counts a call. Returns its fault, if it is to have one.
    fn fault(&mut self, call: Call) -> Option<Fault> {
        let count = self.counts.entry(call).or_default();
        *count += 1;
        let plan = self.plan.filter(|plan| plan.call == call && plan.number + 1 == *count)?;
        self.has_failed = true;
        Some(plan.fault)
    }

    fn record(&mut self, event: impl FnOnce(&mut Self) -> Event) {
        if self.events.is_some() {
            let event = event(self);
            self.events.iter_mut().for_each(|events| events.push(event.clone()));
        }
    }

    /// Returns how much of `count` bytes is written.
    fn take_room(&mut self, count: usize) -> usize {
        match &mut self.room {
            Some(room) => {
                let taken = (*room).min(count as u64);
                *room -= taken;
                taken as usize
            }
            None => count,
        }
    }

    /// Returns the number of the file with a name, a new one if it has none.
    fn file_at(&mut self, path: &Path) -> usize {
        match self.files.get(path) {
            Some(&file) => file,
            None => {
                self.file_count += 1;
                self.files.insert(path.to_owned(), self.file_count);
                self.file_count
            }
        }
    }
}
