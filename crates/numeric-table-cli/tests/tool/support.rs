//! Running the program in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with `iris.csv`.
pub(crate) struct Room(TempDir);

/// What the program printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Room {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let iris = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/iris.csv");
        std::fs::copy(iris, folder.path().join("iris.csv")).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of the files, without `iris.csv`.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "iris.csv");
        names.sort();
        names
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ntable"));
        command.current_dir(self.0.path()).env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs the program with arguments that have no spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_with(&self, arguments: &[&str]) -> Run {
        self.command().args(arguments).output().unwrap().into()
    }

    /// Runs the program, which must succeed and print nothing to standard error.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments}: {run:?}");
        run.out
    }

    /// Runs a line of a shell, with the program in its path.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let bin = Path::new(env!("CARGO_BIN_EXE_ntable")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("PATH", path).env_remove("RUST_BACKTRACE").current_dir(self.0.path());
        command.output().unwrap().into()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}
