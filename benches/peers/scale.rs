//! Times sorting, quantiles, filters, rows by number, statistics, merged tables and a CSV file of mixed types at several
//! numbers of threads: our part of `scale.py`, which runs polars at the same jobs.
//!
//! Prints a line `job<TAB>threads<TAB>peer<TAB>seconds<TAB>bytes` for each: the median of several samples, and the
//! bytes that the job has to read and write. `memcpy` copies the table at the same number of threads. Arguments:
//! `--rows N` (default 1 Mi), `--threads 1,2,4` (default: powers of two up to the number of processors), and parts of
//! names of jobs. The CSV file is created at the path in `MESSY_CSV`, or in a temporary folder. Without `--bench`, every
//! job runs once on few rows: a test.

#[path = "ours/messy_rows.rs"]
mod messy_rows;

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use numeric_table::prelude::*;
use numeric_table::statistics::{BasicStatistics, Quantiles};
use numeric_table::{AnyArray, MergedNumericTable, RowMergedNumericTable, SoaNumericTable};

const COLUMNS: usize = 16;
const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];
const DISK: &str = "the folder can be read and written";
/// Minimum and maximum number of samples; between them, sampling ends after `BUDGET`.
const SAMPLES: (usize, usize) = (7, 31);
const BUDGET: Duration = Duration::from_millis(600);

struct Options {
    rows: usize,
    threads: Vec<usize>,
    jobs: Vec<String>,
    is_test: bool,
}

impl Options {
    fn from_arguments(arguments: impl Iterator<Item = String>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, Into::into);
        let powers = std::iter::successors(Some(1), |threads| Some(threads * 2)).take_while(|&n| n < processors);
        let mut found = Self { rows: 1 << 20, threads: powers.collect(), jobs: Vec::new(), is_test: true };
        found.threads.push(processors);
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value follows");
            match argument.as_str() {
                "--rows" => found.rows = value().parse().expect("a number of rows"),
                "--threads" => {
                    let numbers = value();
                    found.threads = numbers.split(',').map(|n| n.parse().expect("numbers of threads")).collect();
                }
                "--bench" => found.is_test = false,
                flag if flag.starts_with("--") => {}
                _ => found.jobs.push(argument),
            }
        }
        if found.is_test {
            found.rows = found.rows.min(10_000);
        }
        found
    }

    fn wants(&self, job: &str) -> bool {
        self.jobs.is_empty() || self.jobs.iter().any(|part| job.contains(part.as_str()))
    }
}

/// Returns a number that looks random, from 0 on and less than 1, with 24 binary digits: equal in `scale.py`.
fn value(row: usize, column: usize) -> f64 {
    let mut bits = (row * COLUMNS + column) as u64;
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits >> 40) as f64 / (1 << 24) as f64
}

/// Returns every row number once, in an order that looks random: a linear congruential generator modulo a power of two,
/// without the numbers past the end.
fn shuffled(rows: usize) -> Vec<usize> {
    let (mut order, modulus, mut row) = (Vec::with_capacity(rows), rows.next_power_of_two(), 1);
    while order.len() < rows {
        row = (row * 0x9E37_79B1 + 0x7F4A_7C15) % modulus;
        if row < rows {
            order.push(row);
        }
    }
    order
}

/// A job: its name, the bytes that it has to read and write, and the work.
type Job<'a> = (String, usize, Box<dyn Fn() + Sync + Send + 'a>);

/// Returns the jobs on a table.
fn jobs<'a, T: Element>(
    table: &'a (dyn NumericTable + 'a),
    name: &str,
    order: &'a [usize],
    flags: &'a [bool],
) -> Vec<Job<'a>> {
    let bytes = table.row_count() * COLUMNS * size_of::<T>();
    let kept = flags.iter().filter(|&&flag| flag).count() * COLUMNS * size_of::<T>();
    let job = |kind: &str, bytes: usize, run: Box<dyn Fn() + Sync + Send + 'a>| (format!("{kind}/{name}"), bytes, run);
    vec![
        job("sort", 2 * bytes, Box::new(|| drop(black_box(table.sort_by(0).expect("there is memory"))))),
        job("quartiles", bytes, Box::new(|| drop(black_box(Quantiles::compute(table, &QUARTILES))))),
        job("filter", bytes + kept, Box::new(|| drop(black_box(table.filter_rows(flags).expect("there is memory"))))),
        job("take", 2 * bytes, Box::new(|| drop(black_box(table.take_rows(order).expect("there is memory"))))),
        job("statistics", bytes, Box::new(|| drop(black_box(BasicStatistics::compute(table))))),
    ]
}

/// Compares some results with results that are computed in another way.
fn check(table: &dyn NumericTable, order: &[usize], flags: &[bool]) -> Result<(), Error> {
    let rows = table.row_count();
    let mut column: Vec<f64> = (0..rows).map(|row| value(row, 0)).collect();
    let mut expected: Vec<usize> = (0..rows).collect();
    expected.sort_by(|&one, &other| column[one].total_cmp(&column[other])); // stable
    let sorted = table.sort_by(0)?;
    let taken = table.take_rows(order)?;
    let kept: Vec<usize> = (0..rows).filter(|&row| flags[row]).collect();
    let filtered = table.filter_rows(flags)?;
    for (found, expected) in [(sorted, &expected[..]), (taken, order), (filtered, &kept[..])] {
        assert_eq!(found.row_count(), expected.len());
        for at in (0..expected.len()).step_by(expected.len() / 1000 + 1) {
            let same =
                (0..COLUMNS).all(|column| found.value::<f64>(at, column).ok() == Some(value(expected[at], column)));
            assert!(same, "row {at}");
        }
    }
    column.sort_by(f64::total_cmp);
    let median = QuantileOf { sorted: &column }.at(0.5);
    assert_eq!(Quantiles::compute(table, &QUARTILES)?.value(0, 1)?, median);
    assert_eq!(BasicStatistics::compute(table)?.column(0)?.maximum(), column[rows - 1]);
    Ok(())
}

struct QuantileOf<'a> {
    sorted: &'a [f64],
}

impl QuantileOf<'_> {
    fn at(&self, probability: f64) -> f64 {
        let place = probability * (self.sorted.len() - 1) as f64;
        let (lower, higher) = (self.sorted[place.floor() as usize], self.sorted[place.ceil() as usize]);
        lower + (higher - lower) * place.fract()
    }
}

/// Returns the median time of the work in a pool, after an untimed call.
fn time(pool: &rayon::ThreadPool, run: &(dyn Fn() + Sync)) -> f64 {
    pool.install(run);
    let (mut samples, end) = (Vec::new(), Instant::now() + BUDGET);
    while samples.len() < SAMPLES.0 || (samples.len() < SAMPLES.1 && Instant::now() < end) {
        samples.push(pool.install(|| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        }));
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Times copying memory that is mapped, in one part for each thread.
fn memcpy(pool: &rayon::ThreadPool, bytes: usize) -> Result<f64, Error> {
    let source = Array::full(bytes, 1_u8)?;
    let target = std::sync::Mutex::new(Array::full(bytes, 2_u8)?);
    Ok(time(pool, &|| {
        let mut target = target.lock().expect("no copy panics");
        let target = black_box(target.mutable_data().expect("the array is not shared"));
        let part = bytes.div_ceil(rayon::current_num_threads()).max(1);
        rayon::scope(|scope| {
            for (source, target) in black_box(&source[..]).chunks(part).zip(target.chunks_mut(part)) {
                scope.spawn(move |_| target.copy_from_slice(source));
            }
        });
    }))
}

fn run<T: Element>(options: &Options, layout: DataLayout, name: &str) -> Result<(), Error> {
    let shape = Shape { rows: options.rows, columns: COLUMNS };
    let of_value = |row, column| numeric_table::convert::cast::<f64, T>(value(row, column));
    let table = HomogenNumericTable::from_fn(shape, of_value)?.to_layout(layout)?;
    let (order, flags) = (shuffled(shape.rows), (0..shape.rows).map(|row| value(row, 5) < 0.5).collect::<Vec<_>>());
    check(&table, &order, &flags)?;
    measure(options, &jobs::<T>(&table, name, &order, &flags));
    Ok(())
}

/// Times jobs at every number of threads.
fn measure(options: &Options, jobs: &[Job<'_>]) {
    for (job, bytes, work) in jobs.iter().filter(|(job, ..)| options.wants(job)) {
        for &threads in &options.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            match options.is_test {
                true => pool.install(work),
                false => println!("{job}\t{threads}\tours\t{:e}\t{bytes}", time(&pool, work)),
            }
        }
    }
}

/// Returns a whole number that `f32`, `f64` and `i32` hold.
fn whole(row: usize, column: usize) -> f64 {
    value(row, column) * f64::from(1 << 24)
}

/// Returns columns of one type as a table, one array for each.
fn arrays<T: Element>(rows: std::ops::Range<usize>, columns: impl Iterator<Item = usize>) -> Result<AnyColumns, Error> {
    let array = |column| {
        Array::from_fn(rows.len(), |row| numeric_table::convert::cast::<f64, T>(whole(rows.start + row, column)))
    };
    columns.map(|column| Ok(("", array(column)?.into()))).collect()
}

type AnyColumns = Vec<(&'static str, AnyArray)>;

/// Converts tables of different kinds that are merged to one table of `f64`: eight columns of `f32` in one block beside
/// four of `i32` and four of `f64` in an array each; and rows of `f32` in one block, in columns and in arrays.
fn merged(options: &Options) -> Result<(), Error> {
    let [beside, below] = ["merged/f32_i32_f64_to_f64", "row_merged/f32_to_f64"];
    if !options.wants(beside) && !options.wants(below) {
        return Ok(());
    }
    let (rows, half) = (options.rows, COLUMNS / 2);
    let block = |rows: std::ops::Range<usize>, columns| {
        let shape = Shape { rows: rows.len(), columns };
        HomogenNumericTable::from_fn(shape, |row, column| whole(rows.start + row, column) as f32)
    };
    let mut columns = arrays::<i32>(0..rows, half..half + half / 2)?;
    columns.extend(arrays::<f64>(0..rows, half + half / 2..COLUMNS)?);
    let parts: [Box<dyn NumericTable>; 2] =
        [Box::new(block(0..rows, half)?), Box::new(SoaNumericTable::from_columns(columns)?)];
    let side_by_side = MergedNumericTable::new(parts)?;
    let (first, last) = (rows / 3, rows - rows / 3);
    let parts: [Box<dyn NumericTable>; 3] = [
        Box::new(block(0..first, COLUMNS)?),
        Box::new(block(first..last, COLUMNS)?.to_layout(DataLayout::ColumnMajor)?),
        Box::new(SoaNumericTable::from_columns(arrays::<f32>(last..rows, 0..COLUMNS)?)?),
    ];
    let end_to_end = RowMergedNumericTable::new(parts)?;
    let convert = |table: &dyn NumericTable| table.convert::<f64>().expect("there is memory");
    for table in [&side_by_side as &dyn NumericTable, &end_to_end] {
        let found = convert(table);
        let is_equal = |row: usize, found: &[f64]| (0..COLUMNS).all(|column| found[column] == whole(row, column));
        assert!(found.as_slice()?.chunks(COLUMNS).enumerate().all(|(row, found)| is_equal(row, found)));
    }
    let (of_parts, of_result) = (size_of::<f32>() * 3 / 4 + size_of::<f64>() / 4, size_of::<f64>());
    measure(
        options,
        &[
            (
                beside.to_owned(),
                rows * COLUMNS * (of_parts + of_result),
                Box::new(|| drop(black_box(convert(&side_by_side)))),
            ),
            (
                below.to_owned(),
                rows * COLUMNS * (size_of::<f32>() + of_result),
                Box::new(|| drop(black_box(convert(&end_to_end)))),
            ),
        ],
    );
    Ok(())
}

/// Loads a CSV file of mixed types, which it creates, and writes the table to another file.
fn messy_csv(options: &Options) -> Result<(), Error> {
    let [load_job, write_job] = ["csv_load/messy", "csv_write/messy"];
    if !options.wants(load_job) && !options.wants(write_job) {
        return Ok(());
    }
    let own = tempfile::tempdir().expect(DISK);
    let path = std::env::var_os("MESSY_CSV").map_or_else(|| own.path().join("messy.csv"), PathBuf::from);
    let written = path.with_extension("written.csv");
    let text = messy_rows::text(options.rows);
    fs::write(&path, &text).and_then(|()| fs::File::open(&path)?.sync_all()).expect(DISK);
    let load = || messy_rows::open(&path).and_then(|source| source.load_typed()).expect("the file is as it was made");
    let table = load();
    let write = || table.write_csv_with(&written, messy_rows::write_options()).expect(DISK);
    write();
    assert!(fs::read(&written).expect(DISK) == text.as_bytes(), "the file differs");
    measure(
        options,
        &[
            (load_job.to_owned(), text.len(), Box::new(|| drop(black_box(load())))),
            (write_job.to_owned(), text.len(), Box::new(write)),
        ],
    );
    fs::remove_file(written).expect(DISK);
    Ok(())
}

fn main() -> Result<(), Error> {
    let options = Options::from_arguments(std::env::args().skip(1));
    let bytes = options.rows * COLUMNS * size_of::<f32>();
    for &threads in &options.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let seconds = memcpy(&pool, bytes)?;
        if !options.is_test {
            println!("memcpy\t{threads}\tmemcpy\t{seconds:e}\t{}", 2 * bytes);
        }
    }
    run::<f32>(&options, DataLayout::RowMajor, "f32/row_major")?;
    run::<f32>(&options, DataLayout::ColumnMajor, "f32/column_major")?;
    run::<f64>(&options, DataLayout::RowMajor, "f64/row_major")?;
    merged(&options)?;
    messy_csv(&options)
}
