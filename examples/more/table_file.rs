//! A table larger than memory: written block by block, verified, mapped and streamed, with a progress bar per step.
//!
//! ```text
//! cargo run --release -p more-examples --example table_file            # 1 GiB, in the system's temporary folder
//! cargo run --release -p more-examples --example table_file 64M /data  # another size, another folder
//! (ulimit -v 262144; target/release/examples/table_file 1G)  # with a quarter of the memory: not mapped
//! ```
//!
//! The library draws nothing: it calls a hook with the number of bytes processed, and `indicatif` draws the bar.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use numeric_table::{
    files::{Progress, SaveOptions, TableReader, TableWriter},
    prelude::*,
};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const COLUMNS: usize = 16;
const BYTES_PER_ROW: usize = COLUMNS * size_of::<f32>();
/// Number of rows in memory at a time: 4 MiB.
const ROWS_PER_BLOCK: usize = (4 << 20) / BYTES_PER_ROW;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let size = match arguments.next() {
        Some(size) => parse_size(&size.to_string_lossy())?,
        None => 1 << 30,
    };
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let rows = size / BYTES_PER_ROW;
    let file = tempfile::Builder::new().suffix(".ntb").tempfile_in(folder)?; // removed when `main` returns
    let path = file.path();

    println!("a table of {rows} x {COLUMNS} f32: {}", in_mib(rows * BYTES_PER_ROW));
    println!("\n{:<10}{:>12}{:>14}", "step", "time, s", "MiB per s");
    let written = step("write", rows, |bar| write(path, rows, &bar))?;
    step("verify", rows, |bar| verify(path, bar))?;
    match step("map", rows, |_| first_and_last(path)) {
        Ok(Some((first, last))) => println!("{:<10}first value {first}, last value {last}", ""),
        Ok(None) => println!("{:<10}left out: the table has no rows", ""),
        Err(error) => println!("{:<10}not mapped: {error}", ""), // the address space is too small
    }
    let read = step("stream", rows, |bar| sums(path, bar))?;

    println!("\nfile: {} bytes; peak of memory: {}", path.metadata()?.len(), peak().map_or("unknown".into(), in_mib));
    let are_equal = written.iter().zip(read).all(|(written, read)| written.to_bits() == read.to_bits());
    println!("column sums while writing and while reading are equal: {}", if are_equal { "yes" } else { "no" });
    if are_equal { Ok(()) } else { Err("what was read is not what was written".into()) }
}

/// Appends blocks from one reused buffer; returns the sums of the columns.
fn write(path: &Path, rows: usize, bar: &ProgressBar) -> Result<[f64; COLUMNS]> {
    let (bar, mut sums) = (bar.clone(), [0.0; COLUMNS]);
    let options = SaveOptions::new().on_progress(move |progress| bar.set_position(progress.done));
    let names = (0..COLUMNS).map(|column| Feature::new(ElementType::F32).named(format!("feature {column}")));
    let dictionary = DataDictionary::from_features(names);
    let mut writer = TableWriter::<f32>::create_with(path, COLUMNS, dictionary, options)?;
    let mut block = vec![0.0_f32; ROWS_PER_BLOCK * COLUMNS];
    for start in (0..rows).step_by(ROWS_PER_BLOCK) {
        let block = &mut block[..ROWS_PER_BLOCK.min(rows - start) * COLUMNS];
        for (row, values) in (start..).zip(block.chunks_exact_mut(COLUMNS)) {
            values.iter_mut().enumerate().for_each(|(column, value)| *value = measurement(row, column));
            add(&mut sums, values);
        }
        writer.append(block)?;
    }
    writer.finish()?; // the file appears only now
    Ok(sums)
}

/// Reads every byte and compares it with its checksum.
fn verify(path: &Path, bar: ProgressBar) -> Result<()> {
    let reader = TableReader::open(path)?.on_progress(move |progress: Progress| bar.set_position(progress.done));
    if reader.verify()? { Ok(()) } else { Err("the file has no checksums".into()) }
}

/// Maps the file and reads only two values.
fn first_and_last(path: &Path) -> Result<Option<(f32, f32)>> {
    // SAFETY: the file is a temporary one of this program, which does not write to it while it is mapped.
    let table = unsafe { HomogenNumericTable::<f32>::map(path) }?;
    let values = table.as_slice()?;
    Ok(values.first().copied().zip(values.last().copied()))
}

/// Reads the table as `f64`, a block at a time, and sums its columns.
fn sums(path: &Path, bar: ProgressBar) -> Result<[f64; COLUMNS]> {
    let reader = TableReader::open(path)?.on_progress(move |progress| bar.set_position(progress.done));
    let (mut sums, mut blocks) = ([0.0; COLUMNS], reader.row_blocks::<f64>(ROWS_PER_BLOCK)?);
    while let Some(block) = blocks.next_block()? {
        block.iter_rows().for_each(|row| add(&mut sums, row));
    }
    Ok(sums)
}

fn add<T: Copy + Into<f64>>(sums: &mut [f64; COLUMNS], row: &[T]) {
    sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value.into());
}

/// Returns a value that is different in every row and column.
fn measurement(row: usize, column: usize) -> f32 {
    let noise = (row * COLUMNS + column).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40; // 24 bits
    column as f32 + noise as f32 / (1 << 24) as f32
}

/// Runs a step with its own bar, and prints its time and speed.
fn step<R>(name: &'static str, rows: usize, run: impl FnOnce(ProgressBar) -> Result<R>) -> Result<R> {
    let style = ProgressStyle::with_template("{msg:<8} {wide_bar} {bytes} of {total_bytes}, {eta} left")?;
    let bar = ProgressBar::new((rows * BYTES_PER_ROW) as u64).with_style(style).with_message(name);
    let start = Instant::now();
    let result = run(bar.clone());
    let time = start.elapsed();
    bar.finish_and_clear();
    if result.is_ok() {
        println!("{name:<10}{:>12.3}{:>14}", time.as_secs_f64(), speed(name, rows, time));
    }
    result
}

/// Formats the speed of a step. Mapping reads almost nothing, and so has no speed.
fn speed(name: &str, rows: usize, time: Duration) -> String {
    let speed = (rows * BYTES_PER_ROW) as f64 / (1 << 20) as f64 / time.as_secs_f64();
    if name == "map" { "-".to_owned() } else { format!("{speed:.0}") }
}

/// Returns the peak of this process's memory in bytes, including mapped files; only on Linux.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<usize>().ok()? << 10)
}

/// Reads `1G`, `64M`, `100K` or a number of bytes.
fn parse_size(text: &str) -> Result<usize> {
    let (digits, factor) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&text[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number: usize = digits.parse().map_err(|_| format!("{text:?} is not a size: 64M, 1G, or a number of bytes"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} is too large").into())
}

fn in_mib(bytes: usize) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}
