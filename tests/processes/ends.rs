//! A test in a process of its own, with a time limit: a call that never ends fails its test and no more.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Set in the process that a test runs in.
const CHILD: &str = "NUMERIC_TABLE_BUSY_POOLS_TEST";
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a test with this full name in a process of its own.
pub(crate) fn ends(name: &str, test: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("RUST_BACKTRACE", "0")])
        // A pool that counts the thread which made it is never freed by rayon.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("a call has not ended within {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(status.success() && printed.contains("1 passed"), "{status}: {printed}");
}
