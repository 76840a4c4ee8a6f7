//! Times sorting, quantiles, filters, rows by number and statistics at several numbers of threads: our part of
//! `scale.py`, which runs polars at the same jobs.
//!
//! Prints a line `job<TAB>threads<TAB>peer<TAB>seconds<TAB>bytes` for each: the median of several samples, and the
//! bytes that the job has to read and write. `memcpy` copies the table at the same number of threads. Arguments:
//! `--rows N` (default 1 Mi), `--threads 1,2,4` (default: powers of two up to the number of processors), and parts of
//! names of jobs. Without `--bench`, every job runs once on few rows: a test.

use std::hint::black_box;
use std::time::{Duration, Instant};

use numeric_table::prelude::*;
use numeric_table::statistics::{BasicStatistics, Quantiles};

const COLUMNS: usize = 16;
const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];
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
    for (job, bytes, work) in jobs::<T>(&table, name, &order, &flags) {
        if !options.jobs.is_empty() && !options.jobs.iter().any(|part| job.contains(part.as_str())) {
            continue;
        }
        for &threads in &options.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            match options.is_test {
                true => pool.install(&*work),
                false => println!("{job}\t{threads}\tours\t{:e}\t{bytes}", time(&pool, &*work)),
            }
        }
    }
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
    run::<f64>(&options, DataLayout::RowMajor, "f64/row_major")
}
