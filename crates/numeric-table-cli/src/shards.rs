//! `split`, `join` and `repair`: folders of shards.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::SystemTime;

use numeric_table::files;
use numeric_table::shards::Shards;
use serde_json::json;

use crate::args::{JoinArgs, RepairArgs, SplitArgs};
use crate::cells::may_grow;
use crate::convert;
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::{Block, Blocks, Input, missing_file};
use crate::output::{Output, is_stream};
use crate::print::{self, Grid, count, size};
use crate::progress::Progress;

pub(crate) fn split(args: &SplitArgs, json: bool, quiet: bool) -> Outcome {
    let input = Input::open(&args.input)?;
    let dictionary = input.dictionary_with_labels()?;
    let rows = match (args.rows, args.parts) {
        (Some(0), _) | (_, Some(0)) => return Err(Failure::usage("--rows and --parts need at least 1")),
        (Some(rows), _) => Some(rows),
        (None, Some(parts)) => Some(input.row_count()?.div_ceil(parts).max(1)),
        (None, None) => None,
    };
    let keeps_types = dictionary.uniform_type().is_none() || dictionary.has_nullable();
    let output = Output { keeps_types, rows_per_shard: rows, ..Output::new(args.output.clone(), Format::Shards) };
    let progress = Progress::new("splitting", &input, quiet);
    let blocks = input.blocks()?.inspect(|block| {
        if let Ok(block) = block {
            progress.add(block.shape().rows);
        }
    });
    let written = output.write(Box::new(blocks), &dictionary)?;
    drop(progress);
    let shards = Shards::open(&args.output)?;
    if json {
        let files = shards.files().map(|shard| json!(shard.path.to_string_lossy()));
        let files: Vec<serde_json::Value> = files.collect();
        return print::json(&json!({ "output": args.output.to_string_lossy(), "rows": written.rows, "shards": files }));
    }
    if quiet {
        return Ok(());
    }
    let (rows, files) = (count(written.rows, "row"), count(shards.shard_count(), "shard"));
    print::line(&format!("{}: {rows} in {files}", args.output.display()))
}

/// Writes the rows of several files, one file after the other.
pub(crate) fn join(args: &JoinArgs, json: bool, quiet: bool) -> Outcome {
    let Some((output_path, paths)) = args.files.split_last().filter(|(_, paths)| !paths.is_empty()) else {
        return Err(Failure::usage("join needs a file to read and one to write"));
    };
    let format = convert::target(output_path, args.to)?;
    let inputs = Input::open_several(paths, &args.read)?;
    let first = inputs[0].dictionary()?;
    for input in &inputs[1..] {
        let other = input.dictionary()?;
        let names = |dictionary: &numeric_table::DataDictionary| crate::cells::names_of(dictionary);
        if names(&other) != names(&first) {
            let (one, two) = (&inputs[0].name, &input.name);
            let (left, right) = (names(&first).join(", "), names(&other).join(", "));
            return Err(Failure::usage(format!("{one} and {two} have other columns: {left}; and {right}")));
        }
        let labels = |dictionary: &numeric_table::DataDictionary| -> Vec<Vec<String>> {
            let labels = |feature: &numeric_table::Feature| {
                (0..).map_while(|index| feature.label(index).map(str::to_owned)).collect()
            };
            dictionary.iter().map(labels).collect()
        };
        if labels(&other) != labels(&first) && format != Format::Csv && format != Format::Parquet {
            let name = &input.name;
            return Err(Failure::usage(format!(
                "{name} has other words, or in another order, so their numbers differ: join to CSV, and convert that"
            )));
        }
    }
    let holds_words = matches!(format, Format::Csv | Format::Parquet);
    if inputs.len() > 1 && !holds_words {
        for input in &inputs {
            if may_grow(&input.dictionary()?) {
                let name = &input.name;
                return Err(Failure::usage(format!(
                    "{name} numbers its words in its own order: join to CSV or Parquet, and convert that"
                )));
            }
        }
    }
    // The types of all files decide.
    let mut dictionary = first.clone();
    let mut is_mixed = false;
    for input in &inputs[1..] {
        let other = input.dictionary()?;
        is_mixed |= other.iter().zip(first.iter()).any(|(other, first)| other.element_type != first.element_type);
        let features = dictionary.iter().zip(other.iter()).map(|(one, other)| {
            let pair = [one.clone(), other.clone()].into_iter().collect();
            numeric_table::Feature {
                element_type: crate::element::common(&pair),
                nullable: one.nullable || other.nullable,
                ..one.clone()
            }
        });
        dictionary = features.collect();
    }
    let element = if is_mixed && format != Format::Csv { Some(crate::element::common(&dictionary)) } else { None };
    let output = Output {
        element,
        keeps_types: element.is_none()
            && format == Format::Shards
            && (dictionary.uniform_type().is_none() || dictionary.has_nullable()),
        ..Output::new(output_path.clone(), format)
    };
    let progress = Progress::new("joining", &inputs[0], quiet);
    let mut failed = None;
    let mut blocks: Vec<Blocks<'_>> = Vec::new();
    for input in &inputs {
        match input.blocks() {
            Ok(more) => blocks.push(more),
            Err(error) => failed = Some(error),
        }
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let blocks = blocks.into_iter().flatten().inspect(|block: &numeric_table::Result<Block>| {
        if let Ok(block) = block {
            progress.add(block.shape().rows);
        }
    });
    let written = output.write(Box::new(blocks), &dictionary)?;
    drop(progress);
    if is_stream(output_path) {
        return Ok(());
    }
    if json {
        return print::json(
            &json!({ "output": output_path.to_string_lossy(), "rows": written.rows, "files": inputs.len() }),
        );
    }
    if quiet {
        return Ok(());
    }
    let (rows, files) = (count(written.rows, "row"), count(inputs.len(), "file"));
    print::line(&format!("{}: {rows} of {files}", output_path.display()))
}

/// Lists what interrupted programs left in a folder, and removes it if that is wanted.
pub(crate) fn repair(args: &RepairArgs, json: bool) -> Outcome {
    let folder: &Path = &args.folder;
    let left = files::leftovers(folder)?;
    let age = |time: Option<SystemTime>| {
        let seconds = time.and_then(|time| time.elapsed().ok()).map_or(0, |age| age.as_secs());
        match seconds {
            ..60 => format!("{seconds} s"),
            60..3600 => format!("{} min", seconds / 60),
            3600..86_400 => format!("{} h", seconds / 3600),
            _ => format!("{} days", seconds / 86_400),
        }
    };
    let asked = args.yes;
    let left_count = left.len();
    if !json {
        if left.is_empty() {
            print::line(&format!("{}: nothing is left of interrupted programs", folder.display()))?;
        } else {
            let mut grid = Grid::new(["left", "size", "age"]).left([0]);
            for file in &left {
                grid.push_texts([file.path().display().to_string(), size(file.size_in_bytes()), age(file.modified())]);
            }
            grid.print()?;
        }
    }
    let removes = asked || (left_count > 0 && !json && !args.list && ask(left_count)?);
    let (mut removed, mut list) = (0, Vec::new());
    for file in left {
        list.push(json!({ "path": file.path().to_string_lossy(), "bytes": file.size_in_bytes() }));
        if removes && !args.list && file.remove()? {
            removed += 1;
        }
    }
    // A folder of shards whose manifest is missing or wrong says so.
    let manifest = manifest(folder, args, removes && !args.list)?;
    if json {
        print::json(&json!({ "left": list, "removed": removed, "manifest": manifest }))?;
    } else {
        if removed > 0 {
            print::line(&format!("removed {removed} of {left_count}"))?;
        }
        if let Some(manifest) = &manifest {
            print::line(manifest)?;
        }
    }
    let is_done = removed == left_count && manifest.as_ref().is_none_or(|text| text.contains("written"));
    if is_done { Ok(()) } else { Err(Failure::No) }
}

fn ask(files: usize) -> Outcome<bool> {
    if !std::io::stdin().is_terminal() {
        print::line("nothing was removed: `--yes` removes without a question")?;
        return Ok(false);
    }
    let mut out = print::out();
    let them = if files == 1 { "it" } else { "them" };
    write!(out, "remove {them}? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Looks at the manifest. Writes a new one, if `--manifest` asks for it, over all complete files of the folder.
fn manifest(folder: &Path, args: &RepairArgs, writes: bool) -> Outcome<Option<String>> {
    let path = folder.join(Shards::MANIFEST);
    let has_shards = std::fs::read_dir(folder)
        .map_err(|error| numeric_table::Error::io(folder, error))?
        .filter_map(|file| file.ok())
        .any(|file| file.path().extension().is_some_and(|extension| extension == "ntb"));
    let problem = match (path.exists(), has_shards) {
        (false, false) => return Ok(None),
        (false, true) if !args.manifest => return Ok(None), // a folder of table files needs none
        (false, true) => "there is no manifest".to_owned(),
        (true, _) => match Shards::open(&path) {
            Ok(shards) => match shards.files().find(|shard| !shard.path.exists()) {
                Some(shard) => missing_file(&shard).to_string(),
                None => match shards.verify() {
                    Err(error) => error.to_string(),
                    Ok(_) => return Ok(None),
                },
            },
            Err(error) => error.to_string(),
        },
    };
    if !args.manifest || !(writes || args.yes) || args.list {
        return Ok(Some(format!(
            "{problem}\n`--manifest --yes` writes a manifest over all complete files of the folder, without the rows of \
             others"
        )));
    }
    let mut complete = Vec::new();
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .map_err(|error| numeric_table::Error::io(folder, error))?
        .filter_map(|file| file.ok().map(|file| file.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ntb"))
        .collect();
    names.sort();
    let mut left_out = 0;
    for name in names {
        match files::verify(&name) {
            Ok(_) => complete.push(name),
            Err(_) => left_out += 1,
        }
    }
    let mut shards = Shards::from_paths(&complete)?;
    if path.exists() {
        let kept = folder.join(format!("{}.damaged", Shards::MANIFEST));
        std::fs::rename(&path, &kept).map_err(|error| numeric_table::Error::io(&path, error))?;
    }
    shards.save_manifest(&path)?;
    let text = format!("{problem}\na manifest over {} was written", count(complete.len(), "file"));
    Ok(Some(if left_out > 0 { format!("{text}, without {}", count(left_out, "damaged file")) } else { text }))
}
