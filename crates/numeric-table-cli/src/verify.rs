//! `verify`: whether files are as they were written, and where they are not.

use std::path::{Path, PathBuf};

use numeric_table::files;
use numeric_table::shards::Shards;
use numeric_table::{Error, ErrorKind};
use serde_json::{Value, json};

use crate::args::{ReadArgs, VerifyArgs};
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::{Input, missing_file, refuse_unused};
use crate::interrupt;
use crate::print::{self, BAD, GOOD};

/// The finding about one file.
struct Verdict {
    path: PathBuf,
    /// How it was checked, or why it could not be, or the damage.
    result: Outcome<&'static str>,
}

impl Verdict {
    /// Returns the word for the result: a file that cannot be read at all is not known to be damaged.
    fn word(&self) -> &'static str {
        match &self.result {
            Ok(_) => "ok",
            Err(Failure::Usage(_)) => "unread",
            Err(Failure::Data(error)) if is_unread(error) => "unread",
            Err(_) => "damaged",
        }
    }

    fn code(&self) -> u8 {
        match (&self.result, self.word()) {
            (Ok(_), _) => 0,
            (Err(failure), "unread") => failure.code(),
            _ => Failure::No.code(),
        }
    }
}

/// Returns whether the system refuses a file, or has none of this name. Text that ends too early is damage.
fn is_unread(error: &Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        ErrorKind::Io { source, .. } => !matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof),
        _ => false,
    }
}

/// Checks all files, also after one that is damaged or missing.
pub(crate) fn run(args: &VerifyArgs, json: bool, quiet: bool) -> Outcome {
    let mut verdicts = Vec::new();
    let mut formats = Vec::new();
    for path in &args.inputs {
        let format = match args.read.from {
            Some(format) => Ok(format),
            None => Format::of_file(path).map_err(|error| Error::io(path, error)),
        };
        match format {
            Ok(Format::Shards) => shards(path, &mut verdicts),
            Ok(format) => {
                verdicts.push(Verdict { path: path.clone(), result: one(path, format, &args.read) });
                formats.push((path.as_path(), format));
            }
            Err(error) => verdicts.push(Verdict { path: path.clone(), result: Err(error.into()) }),
        }
        if interrupt::is_set() {
            return Err(Failure::Interrupted);
        }
    }
    refuse_unused(&args.read, &formats)?;
    let damaged = verdicts.iter().filter(|verdict| verdict.word() == "damaged").count();
    let unread = verdicts.iter().filter(|verdict| verdict.word() == "unread").count();
    if json {
        let list: Vec<Value> = verdicts
            .iter()
            .map(|verdict| {
                let Verdict { path, result } = verdict;
                let (file, word) = (path.to_string_lossy(), verdict.word());
                let mut file = json!({ "file": file, "ok": result.is_ok(), "result": word });
                match result {
                    Ok(how) => file["checked"] = json!(how),
                    Err(error) => file["error"] = json!(error.to_string()),
                }
                file
            })
            .collect();
        let is_ok = damaged + unread == 0;
        print::json(&json!({ "ok": is_ok, "damaged": damaged, "unread": unread, "files": list }))?;
    } else {
        for verdict in &verdicts {
            let (path, word) = (verdict.path.display(), verdict.word());
            let room = " ".repeat("damaged  ".len() - word.len());
            match &verdict.result {
                Ok(how) if !quiet => print::line(&format!("{GOOD}{word}{GOOD:#}{room}{path}  {how}"))?,
                Ok(_) => {}
                Err(error) => print::line(&format!("{BAD}{word}{BAD:#}{room}{path}  {error}"))?,
            }
        }
    }
    // A file that could not be read counts more than damage, because it may be damaged too.
    match verdicts.iter().map(Verdict::code).max().unwrap_or(0) {
        0 => Ok(()),
        code => Err(Failure::Reported(code)),
    }
}

fn one(path: &Path, format: Format, args: &ReadArgs) -> Outcome<&'static str> {
    if format == Format::Ntb {
        return Ok(match files::verify(path)? {
            true => "all checksums match",
            false => "the header matches; the values have no checksums",
        });
    }
    // Other formats are read to their end.
    let input = Input::open_path(path, &ReadArgs { from: Some(format), ..args.clone() })?;
    for block in input.blocks()? {
        drop(block?);
    }
    Ok(match format {
        Format::Npz => "read to its end; checksums match",
        _ => "read to its end; the format has no checksums, or optional ones",
    })
}

/// Checks each file of a folder, and all of them against the manifest.
fn shards(path: &Path, verdicts: &mut Vec<Verdict>) {
    let shards = match Shards::open(path) {
        Ok(shards) => shards,
        Err(error) => {
            let file = error.path().map_or_else(|| path.to_owned(), Path::to_owned);
            return verdicts.push(Verdict { path: file, result: Err(error.into()) });
        }
    };
    let before = verdicts.len();
    for shard in shards.files() {
        if interrupt::is_set() {
            return;
        }
        let result = match shard.path.exists() {
            true => one(shard.path, Format::Ntb, &ReadArgs::default()),
            false => Err(missing_file(&shard).into()), // a folder without one of its files is damaged
        };
        verdicts.push(Verdict { path: shard.path.to_owned(), result });
    }
    if verdicts[before..].iter().all(|verdict| verdict.result.is_ok()) {
        // Each file is as it was written, and those of the manifest are those that it lists.
        let result = shards.verify().map(|_| "its files are those that it lists").map_err(Failure::from);
        verdicts.push(Verdict { path: path.to_owned(), result });
    }
}
