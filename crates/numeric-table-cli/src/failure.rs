//! What can go wrong, as one message and one exit code.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use numeric_table::error::Hint;
use numeric_table::{Error, ErrorKind};

/// Standard input, in errors.
pub(crate) const STDIN: &str = "<stdin>";

/// The file that standard input was copied to.
static COPY: OnceLock<String> = OnceLock::new();

/// Says which file is a copy of standard input: errors name standard input instead.
pub(crate) fn stdin_is_copied_to(path: &Path) {
    let _ = COPY.set(path.display().to_string()); // it is read once
}

/// The long options of the command that runs, such as `--policy`.
static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Says which options the command has: messages name no others.
pub(crate) fn options_are(names: Vec<String>) {
    let _ = COMMAND.set(names); // there is one command
}

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command did its work, and the answer is no: damage, or a difference.
    No,
    /// The command printed what is wrong. This is its exit code.
    Reported(u8),
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
            Self::Reported(code) => *code,
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
            Self::No | Self::Reported(_) | Self::Closed => Ok(()),
            Self::Usage(text) => f.write_str(text),
            Self::Data(error) => f.write_str(&message(error)),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// The options of this program that have the effect of a call of the library: a part of the call, the option, and what
/// it does.
const OPTIONS: [(&str, &str, &str); 13] = [
    ("Saturate", "--policy", "permits losses, `--keep-types` has none"),
    ("Checked", "--policy", "permits rounding"),
    ("convert_with", "--policy", "permits losses, `--keep-types` has none"),
    ("missing_to_nan", "--type", "f64 makes it NaN"),
    ("fill_missing", "--type", "f64 makes it NaN"),
    ("CsvHeader::No", "--no-header", "makes the first line a row"),
    ("CsvHeader::Yes", "--header", "makes the first line the names of the columns"),
    ("CsvOptions::delimiter", "--delimiter", ""),
    ("CsvOptions::decimal", "--decimal", "',' sets a decimal comma"),
    ("CsvOptions::kind", "--words", "reads the column as words"),
    ("Categorical", "--words", "reads the column as words"),
    ("CsvOptions::missing_texts", "--missing", "sets the texts that mean a missing value"),
    ("CsvOptions::sample", "--infer-rows", "sets how many rows decide; without it, all do"),
];

/// Returns the message of an error, with the options of the command in place of the calls of the library.
fn message(error: &Error) -> String {
    let mut text = error.to_string();
    if let Some(rest) = COPY.get().and_then(|copy| text.strip_prefix(copy.as_str())) {
        text = format!("{STDIN}{rest}");
    }
    let hints: Vec<String> = error.hints().iter().map(ToString::to_string).collect();
    let text = match text.strip_suffix(&format!(": {}", hints.join(", "))) {
        Some(text) if !hints.is_empty() => text,
        _ => &text,
    };
    let mut advice: Vec<String> = error.hints().iter().filter_map(|hint| option(hint, error)).collect();
    advice.extend(own_advice(text, error));
    advice.dedup();
    if advice.is_empty() { text.to_owned() } else { format!("{text}: {}", advice.join(", ")) }
}

/// Returns what option of the command stands for a call of the library.
fn option(hint: &Hint, error: &Error) -> Option<String> {
    let (_, option, effect) = OPTIONS.iter().find(|(part, ..)| hint.call().contains(part))?;
    let is_there = COMMAND.get().is_none_or(|options| options.iter().any(|name| name == option));
    let effect = if effect.is_empty() { hint.effect() } else { effect };
    Some(match (*option, error.kind()) {
        ("--words", ErrorKind::Text { column: Some(column), name, .. }) => {
            let is_plain = |name: &&String| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            let column = name.as_ref().filter(is_plain).map_or_else(|| column.to_string(), ToOwned::to_owned);
            format!("`--words {column}` {effect}")
        }
        ("--policy", _) if !is_there => "`ntable convert` has `--policy`, which permits losses".to_owned(),
        ("--type", _) if !is_there => "`ntable convert` has `--type f64`, which makes it NaN".to_owned(),
        _ if !is_there => return None,
        ("--type", _) => "`--type f64` makes it NaN".to_owned(),
        _ => format!("`{option}` {effect}"),
    })
}

/// What helps if a file was cut.
const CUT: &str = "if the file was cut or damaged, write or copy it again";

/// Returns advice about errors for which the library has none.
fn own_advice(text: &str, error: &Error) -> Option<String> {
    match error.kind() {
        ErrorKind::Text { reason, .. } if reason.contains("UTF-8") || reason.contains("UTF-16") => {
            Some("convert the file first, such as by `iconv -f LATIN1 -t UTF-8`".to_owned())
        }
        ErrorKind::Text { text, reason, .. } if reason.contains("representable as f64") && error.hints().is_empty() => {
            Some(format!("`--missing {text}` makes it a missing value, `--words` reads its column as words"))
        }
        ErrorKind::Text { text, reason, .. } if reason.contains("fields, not") && text.contains([';', '\t']) => {
            let delimiter = if text.contains(';') { "';'" } else { "tab" };
            let decimal = if text.contains(',') { ", and `--decimal ,` reads decimal commas" } else { "" };
            Some(format!("`--delimiter {delimiter}` sets what separates fields{decimal}"))
        }
        // Errors of files that end too early, of the library and of those for Parquet, Arrow and zstd.
        ErrorKind::Text { text, reason, .. } if text.is_empty() && reason.contains("should have") => {
            Some(CUT.to_owned())
        }
        ErrorKind::Format { .. } => Some(CUT.to_owned()),
        _ if ["ends too early", "UnexpectedEof", "Corrupt footer"].iter().any(|part| text.contains(part)) => {
            Some(CUT.to_owned())
        }
        _ => None,
    }
}
