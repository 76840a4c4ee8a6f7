//! What can go wrong, as one message and one exit code.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use numeric_table::{Error, ErrorKind};

/// Standard input, in errors.
pub(crate) const STDIN: &str = "<stdin>";

/// The file that standard input was copied to.
static COPY: OnceLock<String> = OnceLock::new();

/// Says which file is a copy of standard input: errors name standard input instead.
pub(crate) fn stdin_is_copied_to(path: &Path) {
    let _ = COPY.set(path.display().to_string()); // it is read once
}

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command did its work, and the answer is no: damage, or a difference.
    No,
    /// The arguments ask for something that makes no sense.
    Usage(String),
    /// A file could not be read or written.
    Data(Error),
    /// Standard output was closed, which is not an error.
    Closed,
    /// Ctrl-C.
    Interrupted,
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Returns the exit code: `ntable --help` and the README list them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::No => 1,
            Self::Usage(_) => 2,
            Self::Data(_) => 3,
            Self::Interrupted => 130,
        }
    }

    /// Returns a message about the arguments.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }
}

/// Makes an error of the data from a message.
pub(crate) fn other(text: impl Into<String>) -> Error {
    Error::other(text.into())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if crate::interrupt::is_set() {
            return Self::Interrupted;
        }
        match error.kind() {
            ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => Self::Closed,
            _ if has_closed_pipe(&error) => Self::Closed,
            _ => Self::Data(error),
        }
    }
}

fn has_closed_pipe(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        if source.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return true;
        }
        cause = source.source();
    }
    false
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Data(Error::new(ErrorKind::Io { source: error })),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::No | Self::Closed => Ok(()),
            Self::Usage(text) => f.write_str(text),
            Self::Data(error) => f.write_str(&message(error)),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Returns the message of an error, with the options of this program in place of the calls of the library.
fn message(error: &Error) -> String {
    let mut text = error.to_string();
    if let Some(rest) = COPY.get().and_then(|copy| text.strip_prefix(copy.as_str())) {
        text = format!("{STDIN}{rest}");
    }
    let hints: Vec<String> = error.hints().iter().map(ToString::to_string).collect();
    let Some(text) = text.strip_suffix(&format!(": {}", hints.join(", "))).filter(|_| !hints.is_empty()) else {
        return text;
    };
    let option = |call: &str| -> Option<&'static str> {
        const OPTIONS: [(&str, &str); 11] = [
            ("Saturate", "`--policy` permits losses, `--keep-types` has none"),
            ("Checked", "`--policy checked` permits rounding"),
            ("convert_with", "`--policy` permits losses, `--keep-types` has none"),
            ("CsvHeader::No", "`--no-header` makes the first line a row"),
            ("CsvOptions::delimiter", "`--delimiter` sets another one"),
            ("CsvOptions::kind", "`--words`, `--date` and `--time` set the kind of a column"),
            ("Categorical", "`--words` makes the column one of words"),
            ("CsvOptions::missing_texts", "`--missing` sets the texts that mean a missing value"),
            ("CsvOptions::sample", "without `--infer-rows`, all rows decide"),
            ("missing_to_nan", "`--type f64` makes it NaN"),
            ("fill_missing", "`--type f64` makes it NaN"),
        ];
        OPTIONS.iter().find(|(part, _)| call.contains(part)).map(|(_, option)| *option)
    };
    let mut options: Vec<&str> = error.hints().iter().filter_map(|hint| option(hint.call())).collect();
    options.dedup();
    if options.is_empty() { text.to_owned() } else { format!("{text}: {}", options.join(", ")) }
}
