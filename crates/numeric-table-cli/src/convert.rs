//! `convert`: from any format to any other.

use std::path::Path;

use numeric_table::{ConversionPolicy, CsrNumericTable, ElementType, NumericTable, TableOutput};
use numeric_table_arrow::parquet::ParquetCompression;
use serde_json::json;

use crate::args::{ConvertArgs, Policy};
use crate::choice::Chooser;
use crate::columns;
use crate::failure::{Failure, Outcome};
use crate::format::Format;
use crate::input::{Block, Blocks, Body, Input};
use crate::output::{Output, Written, is_stream, note_lost_names};
use crate::print::{self, count, size};
use crate::progress::Progress;

pub(crate) fn run(args: &ConvertArgs, json: bool, quiet: bool) -> Outcome {
    let format = target(&args.output, args.to)?;
    let element = args.r#type.as_deref().map(element).transpose()?;
    if args.keep_types && element.is_some() {
        return Err(Failure::usage("--keep-types and --type exclude each other"));
    }
    refuse_unused(args, format, element)?;
    let input = Input::open_all(&args.input)?;
    let all = if format == Format::Shards { input.dictionary_with_labels()? } else { input.dictionary()? };
    let chooser = Chooser::new(&args.choice, &all)?;
    if chooser.is_all()
        && element.is_none()
        && let Some(written) = sparse(&input, &args.output, format)?
    {
        return report(args, &written, all.len(), json, quiet);
    }
    let dictionary = chooser.dictionary(&all);
    let output = Output {
        path: args.output.clone(),
        format,
        element,
        keeps_types: args.keep_types,
        policy: match args.policy {
            Policy::Exact => ConversionPolicy::Exact,
            Policy::Checked => ConversionPolicy::Checked,
            Policy::Saturate => ConversionPolicy::Saturate,
        },
        label: args.label.as_deref().map(|label| columns::one(label, &dictionary)).transpose()?,
        rows_per_shard: args.rows_per_shard,
        compression: args.compression.map(|compression| match compression {
            crate::args::Compression::None => ParquetCompression::None,
            crate::args::Compression::Snappy => ParquetCompression::Snappy,
            crate::args::Compression::Gzip => ParquetCompression::Gzip,
            crate::args::Compression::Zstd => ParquetCompression::Zstd,
        }),
    };
    let progress = Progress::new("converting", &input, quiet);
    let blocks = input.blocks()?.map(|block| {
        let block = block?;
        progress.add(block.shape().rows);
        chooser.apply(block)
    });
    let blocks = blocks
        .filter(|block: &numeric_table::Result<Block>| block.as_ref().map_or(true, |block| block.shape().rows > 0));
    let written = output.write(Box::new(blocks) as Blocks<'_>, &dictionary)?;
    drop(progress);
    report(args, &written, dictionary.len(), json, quiet)
}

/// Refuses options that have no effect on files of the format that is written.
fn refuse_unused(args: &ConvertArgs, format: Format, element: Option<ElementType>) -> Outcome {
    if args.rows_per_shard == Some(0) {
        return Err(Failure::usage("--rows-per-shard needs at least 1"));
    }
    let has_one_type = matches!(format, Format::Npy | Format::Mtx | Format::Svmlight);
    let is_f64 = element.is_none_or(|element| element == ElementType::F64);
    let unused = [
        ("--label", args.label.is_some() && format != Format::Svmlight, "svmlight files have labels"),
        ("--rows-per-shard", args.rows_per_shard.is_some() && format != Format::Shards, "folders have shards"),
        ("--compression", args.compression.is_some() && format != Format::Parquet, "it is for Parquet files"),
        ("--keep-types", args.keep_types && has_one_type, "such files have one type for all columns"),
        ("--type", format == Format::Svmlight && !is_f64, "such files have numbers as text, which are written as f64"),
    ];
    match unused.iter().find(|(_, is_unused, _)| *is_unused) {
        Some((option, _, why)) => {
            let format = format.name();
            Err(Failure::usage(format!("{option} has no effect on output of the format {format}: {why}")))
        }
        None => Ok(()),
    }
}

/// Returns the format of the target: what the user named, or what its name says.
pub(crate) fn target(path: &Path, format: Option<Format>) -> Outcome<Format> {
    match format.or_else(|| Format::of_name(path)) {
        Some(format) => Ok(format),
        None if is_stream(path) => Ok(Format::Csv),
        None if path.is_dir() || path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR) => Ok(Format::Shards),
        None => {
            let path = path.display();
            Err(Failure::usage(format!("{path}: the end of the name says no format: add --to, such as `--to ntb`")))
        }
    }
}

pub(crate) fn element(name: &str) -> Outcome<ElementType> {
    let all = ElementType::ALL;
    all.iter().copied().find(|element| element.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        Failure::usage(format!("--type {name}: the types are {}", names.join(", ")))
    })
}

/// Writes sparse rows without their zeros, if both formats have such.
fn sparse(input: &Input, path: &Path, format: Format) -> Outcome<Option<Written>> {
    let Body::Loaded(table) = &input.body else { return Ok(None) };
    let Some(sparse) = table.as_any().and_then(|any| any.downcast_ref::<CsrNumericTable>()) else {
        return Ok(None);
    };
    if is_stream(path) {
        return Ok(None);
    }
    match format {
        Format::Ntb => sparse.save(path)?,
        Format::Npz => sparse.save_npz(path)?,
        Format::Mtx => sparse.save_mtx(path)?,
        _ => return Ok(None),
    }
    note_lost_names(path, format, sparse.dictionary());
    Ok(Some(Written { rows: sparse.shape().rows, element: sparse.uniform_type(), ..Written::default() }))
}

fn report(args: &ConvertArgs, written: &Written, columns: usize, json: bool, quiet: bool) -> Outcome {
    let path = &args.output;
    if is_stream(path) {
        if written.losses.count() > 0 && !quiet {
            print::warning(&written.losses.text());
        }
        return Ok(());
    }
    let bytes = match std::fs::read_dir(path) {
        Ok(files) => files.filter_map(|file| file.ok()?.metadata().ok()).map(|data| data.len()).sum(),
        Err(_) => std::fs::metadata(path).map_or(0, |data| data.len()),
    };
    if json {
        return print::json(&json!({
            "output": path.to_string_lossy(),
            "rows": written.rows,
            "columns": columns,
            "type": written.element.map(|element| element.to_string()),
            "bytes": bytes,
            "changed_values": {
                "rounded": written.losses.rounded,
                "clamped": written.losses.clamped,
                "nan_to_zero": written.losses.nan_to_zero,
                "infinite": written.losses.infinite,
                "first": written.losses.first.map(|(row, column)| [row, column]),
            },
        }));
    }
    if written.losses.count() > 0 {
        print::warning(&written.losses.text());
    }
    if quiet {
        return Ok(());
    }
    let element = written.element.map_or_else(String::new, |element| format!(" of {element}"));
    let (rows, columns) = (count(written.rows, "row"), count(columns, "column"));
    print::line(&format!("{}: {rows}, {columns}{element}, {}", path.display(), size(bytes)))
}
