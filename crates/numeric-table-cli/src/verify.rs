//! `verify`: whether files are as they were written, and where they are not.

use std::path::{Path, PathBuf};

use numeric_table::files;
use numeric_table::shards::Shards;
use numeric_table::{Error, Result};
use serde_json::{Value, json};

use crate::args::{CsvArgs, VerifyArgs};
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::Input;
use crate::interrupt;
use crate::print::{self, BAD, GOOD};

/// The finding about one file.
struct Verdict {
    path: PathBuf,
    /// How it was checked, or the error.
    result: Result<&'static str>,
}

pub(crate) fn run(args: &VerifyArgs, json: bool, quiet: bool) -> Outcome {
    let mut verdicts = Vec::new();
    for path in &args.inputs {
        let format = Format::of_file(path).map_err(|error| Error::io(path, error))?;
        match format {
            Format::Shards => shards(path, &mut verdicts),
            format => verdicts.push(Verdict { path: path.clone(), result: one(path, format) }),
        }
        if interrupt::is_set() {
            return Err(Failure::Interrupted);
        }
    }
    let damaged = verdicts.iter().filter(|verdict| verdict.result.is_err()).count();
    if json {
        let list: Vec<Value> = verdicts
            .iter()
            .map(|Verdict { path, result }| {
                let mut file = json!({ "file": path.to_string_lossy(), "ok": result.is_ok() });
                match result {
                    Ok(how) => file["checked"] = json!(how),
                    Err(error) => file["error"] = json!(error.to_string()),
                }
                file
            })
            .collect();
        print::json(&json!({ "ok": damaged == 0, "damaged": damaged, "files": list }))?;
    } else {
        for Verdict { path, result } in &verdicts {
            match result {
                Ok(how) if !quiet => print::line(&format!("{GOOD}ok{GOOD:#}       {}  {how}", path.display()))?,
                Ok(_) => {}
                Err(error) => print::line(&format!("{BAD}damaged{BAD:#}  {}  {error}", path.display()))?,
            }
        }
    }
    if damaged > 0 { Err(Failure::No) } else { Ok(()) }
}

fn one(path: &Path, format: Format) -> Result<&'static str> {
    if format == Format::Ntb {
        return Ok(match files::verify(path)? {
            true => "all checksums match",
            false => "the header matches; the values have no checksums",
        });
    }
    // Other formats are read to their end.
    let open = || -> Outcome {
        let input = Input::open_path(path, Some(format), &CsvArgs::default(), None)?;
        for block in input.blocks()? {
            drop(block?);
        }
        Ok(())
    };
    match open() {
        Ok(()) if matches!(format, Format::Npz) => Ok("read to its end; checksums match"),
        Ok(()) => Ok("read to its end; the format has no checksums, or optional ones"),
        Err(Failure::Data(error)) => Err(error),
        Err(failure) => Err(Error::other(failure.to_string())),
    }
}

/// Checks each file of a folder, and all of them against the manifest.
fn shards(path: &Path, verdicts: &mut Vec<Verdict>) {
    let shards = match Shards::open(path) {
        Ok(shards) => shards,
        Err(error) => {
            let file = error.path().map_or_else(|| path.to_owned(), Path::to_owned);
            return verdicts.push(Verdict { path: file, result: Err(error) });
        }
    };
    let before = verdicts.len();
    for shard in shards.files() {
        if interrupt::is_set() {
            return;
        }
        verdicts.push(Verdict { path: shard.path.to_owned(), result: one(shard.path, Format::Ntb) });
    }
    if verdicts[before..].iter().all(|verdict| verdict.result.is_ok()) {
        // Each file is as it was written, and those of the manifest are those that it lists.
        let result = shards.verify().map(|_| "its files are those that it lists");
        verdicts.push(Verdict { path: path.to_owned(), result });
    }
}
