//! `info`: what a file or folder holds.

use numeric_table::dictionary::TimeUnit;
use numeric_table::table::spi::TableKind;
use numeric_table::{DataLayout, FeatureType};
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::cells::{Cell, names_of};
use crate::failure::{Outcome, other};
use crate::input::{Body, Input, missing_file};
use crate::print::{self, Grid, count, size};

/// The most columns, and shards, that are listed.
const MOST: usize = 1000;

pub(crate) fn run(args: &InfoArgs, json: bool) -> Outcome {
    let input = Input::open(&args.input)?;
    let dictionary = input.dictionary()?;
    let rows = input.row_count()?;
    let row_bytes: usize = dictionary.iter().map(|feature| feature.element_type.size_in_bytes()).sum();
    let kind = kind(&input);
    let memory = match &input.body {
        Body::Loaded(table) if table.kind() == TableKind::CSR => None,
        _ => Some(row_bytes as u64 * rows as u64),
    };
    let columns: Vec<(String, String, String, String, String)> = names_of(&dictionary)
        .into_iter()
        .zip(dictionary.iter())
        .map(|(name, feature)| {
            let kind = match feature.feature_type {
                FeatureType::Categorical => "words".to_owned(),
                FeatureType::Ordinal => "ordinal".to_owned(),
                FeatureType::Time(unit) => unit_name(unit).to_owned(),
                _ => "numbers".to_owned(),
            };
            let labels: Vec<&str> = (0..4).map_while(|index| feature.label(index)).collect();
            let labels = match (feature.category_count(), labels.len()) {
                (Some(count), 0) if count > 0 && feature.feature_type == FeatureType::Categorical => count.to_string(),
                (Some(count), shown) if shown > 0 => {
                    format!("{count}: {}{}", labels.join(", "), if count > shown { ", ..." } else { "" })
                }
                _ => String::new(),
            };
            let missing = if feature.nullable { "may be missing" } else { "" };
            (name, feature.element_type.to_string(), kind, missing.to_owned(), labels)
        })
        .collect();
    if json {
        print_json(&input, rows, memory, &kind, &columns, &dictionary)?;
        return find_missing_files(&input);
    }
    let mut facts = vec![
        ("file", input.name.clone()),
        ("kind", kind),
        ("shape", format!("{}, {}", count(rows, "row"), count(columns.len(), "column"))),
        ("on disk", size(input.bytes())),
    ];
    if let Some(memory) = memory {
        facts.push(("in memory", size(memory)));
    }
    print::facts(&facts)?;
    if !columns.is_empty() {
        print::note("")?;
        let mut grid = Grid::new(["", "column", "type", "holds", "", "categories"]).left(1..6);
        for (index, (name, element, kind, missing, labels)) in columns.iter().take(MOST).enumerate() {
            let texts = [name, element, kind, missing, labels].map(|text| Cell::Text(text.clone()));
            grid.push([Cell::Number(index.to_string())].into_iter().chain(texts).collect());
        }
        grid.print()?;
        if columns.len() > MOST {
            print::note(&format!("... and {}: --json lists all", count(columns.len() - MOST, "more column")))?;
        }
    }
    if let Body::Shards(shards) = &input.body {
        print::note("")?;
        let mut grid = Grid::new(["shard", "rows", "size", "checksums"]).left([0, 1, 3]);
        for shard in shards.files().take(MOST) {
            let name = shard.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let rows = format!("{}..{}", shard.rows.start, shard.rows.end);
            let [header, values] = shard.checksums;
            grid.push_texts([name, rows, size(shard.bytes), format!("{header:08x} {values:08x}")]);
        }
        grid.print()?;
        if shards.shard_count() > MOST {
            print::note(&format!("... and {}: --json lists all", count(shards.shard_count() - MOST, "more shard")))?;
        }
    }
    find_missing_files(&input)
}

/// Fails if a file that a manifest lists is not there.
fn find_missing_files(input: &Input) -> Outcome {
    let Body::Shards(shards) = &input.body else { return Ok(()) };
    let mut missing = shards.files().filter(|shard| !shard.path.exists());
    let Some(first) = missing.next() else { return Ok(()) };
    match missing.count() {
        0 => Err(missing_file(&first).into()),
        more => Err(other(format!("{}, and {}", missing_file(&first), count(more, "more file"))).into()),
    }
}

fn kind(input: &Input) -> String {
    match &input.body {
        Body::Table(reader) => {
            let layout = if reader.data_layout() == DataLayout::ColumnMajor { "column" } else { "row" };
            format!("table file, all {}, {layout} after {layout}", reader.element_type())
        }
        Body::Shards(shards) => {
            let types = shards.uniform_type().map_or("several types".to_owned(), |element| format!("all {element}"));
            format!("{}, {types}", count(shards.shard_count(), "shard"))
        }
        Body::Csv(_) => "CSV".to_owned(),
        Body::Parquet(source) => {
            format!("Parquet, {}", count(source.row_group_count(), "row group"))
        }
        Body::Arrow(_) => "Arrow IPC".to_owned(),
        Body::Loaded(table) => {
            let kind = match table.kind() {
                TableKind::HOMOGENEOUS => "one type",
                TableKind::STRUCTURE_OF_ARRAYS => "columns of several types",
                TableKind::ARRAY_OF_STRUCTURES => "records",
                TableKind::CSR => "sparse rows",
                TableKind::PACKED_SYMMETRIC => "a symmetric matrix",
                TableKind::PACKED_TRIANGULAR => "a triangular matrix",
                _ => "another kind of table",
            };
            format!("{}, {kind}", input.format.name())
        }
    }
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Days => "dates",
        TimeUnit::Seconds => "times in seconds",
        TimeUnit::Milliseconds => "times in milliseconds",
        TimeUnit::Microseconds => "times in microseconds",
        _ => "times in nanoseconds",
    }
}

fn print_json(
    input: &Input,
    rows: usize,
    memory: Option<u64>,
    kind: &str,
    columns: &[(String, String, String, String, String)],
    dictionary: &numeric_table::DataDictionary,
) -> Outcome {
    let columns: Vec<Value> = columns
        .iter()
        .zip(dictionary.iter())
        .map(|((name, element, kind, missing, _), feature)| {
            let labels: Vec<&str> = (0..).map_while(|index| feature.label(index)).collect();
            let mut column = json!({
                "name": name, "type": element, "holds": kind, "nullable": !missing.is_empty(),
            });
            if !labels.is_empty() {
                column["categories"] = json!(labels);
            }
            column
        })
        .collect();
    let mut document = json!({
        "file": input.name,
        "format": input.format.name(),
        "kind": kind,
        "rows": rows,
        "columns": columns,
        "bytes": input.bytes(),
        "bytes_in_memory": memory,
    });
    if let Body::Shards(shards) = &input.body {
        let shards = shards.files().map(|shard| {
            json!({
                "path": shard.path.to_string_lossy(),
                "rows": [shard.rows.start, shard.rows.end],
                "bytes": shard.bytes,
                "checksums": shard.checksums.map(|sum| format!("{sum:08x}")),
            })
        });
        document["shards"] = shards.collect();
    }
    print::json(&document)
}
