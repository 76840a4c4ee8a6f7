//! Python's NumPy, if there is one: what reads and writes its files is compared with it.

use std::process::Command;

/// Runs a script; gives what it prints, or nothing if there is no NumPy. Another interpreter than `python3` can be named by
/// the environment variable `NUMERIC_TABLE_PYTHON`.
pub(crate) fn run_numpy(script: &str, arguments: &[&str]) -> Option<String> {
    let python = std::env::var("NUMERIC_TABLE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success());
    if !has_numpy {
        println!("skipped: {python} has no NumPy");
        return None;
    }
    let run = Command::new(&python).args(["-c", script]).args(arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8(run.stdout).unwrap())
}
