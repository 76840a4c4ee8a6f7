//! The parent, the children, and the shapes.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use numeric_table::prelude::*;
use tempfile::TempDir;
use test_support::tables::{LAYOUTS, huge};
use test_support::test_name;

use super::calls::CALLS;

pub(crate) type Table<T> = HomogenNumericTable<T>;

/// Set in a child: the name of the call to make.
const CHILD: &str = "NUMERIC_TABLE_EXTREME_CALL";
/// Set in a child: the folder that it may write in.
const FOLDER: &str = "NUMERIC_TABLE_EXTREME_FOLDER";
/// What a child prints before it goes on to the next shape.
const MARK: &str = "[shape] ";

/// The address space of a child.
const MEMORY_KIB: usize = 768 << 10;
/// What a child takes at most for all shapes, on a slow machine; each takes milliseconds.
const TIME: Duration = Duration::from_secs(240);

/// The numbers of rows and of columns that are combined.
const SIDES: [usize; 6] = [0, 1, 3, huge(40), huge(62), usize::MAX];

/// One public call, or a few that belong together.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) with_f32: fn(&mut Table<f32>, &Path),
    pub(crate) with_u8: fn(&mut Table<u8>, &Path),
}

/// Defines calls, each for two element types, and lists them.
macro_rules! calls {
    ($($(#[$attribute:meta])* fn $name:ident($table:ident, $folder:ident) $body:block)*) => {
        $($(#[$attribute])* fn $name<T: Element>($table: &mut Table<T>, $folder: &Path) $body)*
        pub(super) const CALLS: &[Call] = &[$(
            $(#[$attribute])* Call { name: stringify!($name), with_f32: $name::<f32>, with_u8: $name::<u8> },
        )*];
    };
}
pub(crate) use calls;

#[test]
fn every_call_returns_on_every_extreme_shape() {
    if let Some(name) = std::env::var_os(CHILD) {
        let folder = std::env::var_os(FOLDER).unwrap();
        let call = CALLS.iter().find(|call| *call.name == *name).unwrap();
        return run(call, Path::new(&folder));
    }
    let mut failures = Vec::new();
    let mut running: Vec<(&Call, Child, TempDir, Instant)> = Vec::new();
    let mut waiting = CALLS.iter();
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    loop {
        while running.len() < at_once {
            let Some(call) = waiting.next() else { break };
            let folder = tempfile::tempdir().unwrap();
            running.push((call, start(call, folder.path()), folder, Instant::now()));
        }
        if running.is_empty() {
            break;
        }
        running.retain_mut(|(call, child, _, begun)| {
            let exit = child.try_wait().unwrap();
            let has_succeeded = exit.is_some_and(|status| status.success());
            let status = match exit {
                Some(status) => status.to_string(),
                None if begun.elapsed() < TIME => return true,
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    format!("not done after {TIME:?}")
                }
            };
            let (mut out, mut err) = (String::new(), String::new());
            child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            if has_succeeded && out.contains("1 passed") {
                return false;
            }
            let shape =
                out.lines().filter_map(|line| line.split(MARK).nth(1)).next_back().unwrap_or("before the first");
            let said: String = err.chars().take(600).collect();
            failures.push(format!("{} on {shape}: {status}\n{said}", call.name));
            false
        });
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(failures.is_empty(), "{} of {} calls:\n{}", failures.len(), CALLS.len(), failures.join("\n"));
}

/// Starts this test as a child for one call. Under AddressSanitizer, which reserves terabytes, without a limit of
/// memory.
fn start(call: &Call, folder: &Path) -> Child {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let reserved_kib =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next()?.parse().ok());
    let limit = match reserved_kib {
        Some(0..1_000_000_000_u64) => format!("ulimit -v {MEMORY_KIB};"),
        _ => String::new(),
    };
    Command::new("sh")
        .args(["-c", &format!("{limit} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test_name!("every_call_returns_on_every_extreme_shape"), "--nocapture", "--test-threads=1"])
        .env(CHILD, call.name)
        .env(FOLDER, folder)
        .env("RAYON_NUM_THREADS", "2")
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Makes one call on tables of every shape, allocated and not, of two element types, in both layouts.
fn run(call: &Call, folder: &Path) {
    for rows in SIDES {
        for columns in SIDES {
            for allocation in [AllocationFlag::DoAllocate, AllocationFlag::DoNotAllocate] {
                for layout in LAYOUTS {
                    let shape = Shape { rows, columns };
                    println!("{MARK}{shape} {allocation:?} {layout:?}");
                    if let Ok(mut table) = HomogenNumericTable::<f32>::new_with_layout(shape, allocation, layout) {
                        (call.with_f32)(&mut table, folder);
                    }
                    if let Ok(mut table) = HomogenNumericTable::<u8>::new_with_layout(shape, allocation, layout) {
                        (call.with_u8)(&mut table, folder);
                    }
                }
            }
        }
    }
}
