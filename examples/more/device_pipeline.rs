//! Standardizes and clusters (k-means) a table of any size on a device, block by block, and for comparison on all
//! threads of this machine. The device is a CUDA device if there is one, and otherwise the emulated one.
//!
//! 1. Statistics: the blocks of the file stream to the device, which computes the moments of the columns.
//! 2. Standardization: `(x - mean) / deviation`; the results stream back, into a table file.
//! 3. k-means: in each pass over that file, the device assigns rows to the nearest centroid and sums the rows of each
//!    cluster, in parts of 256 rows. The program adds the parts in order.
//!
//! All devices therefore add in the same order, and neither the file nor the results need to fit in memory. Only the
//! statistics may differ in their last digits, since a GPU adds in a different order. The program prints the
//! difference.
//!
//! ```text
//! cargo run --release -p more-examples --features cuda --example device_pipeline -- [FILE.csv or FILE.ntb] [CLUSTERS]
//! ```

#[path = "device_pipeline/closures.rs"]
mod closures;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "cuda")]
#[path = "device_pipeline/cuda.rs"]
mod cuda;
#[path = "device_pipeline/steps.rs"]
mod steps;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use closures::Closures;
use common::{heading, load};
use numeric_table::{
    csv::CsvSource,
    files::{TableReader, TableWriter},
    prelude::*,
};
use numeric_table_execution::stream::{ResultStream, StreamOptions, StreamRows};
use numeric_table_execution::{ArrayHandle, DeviceArray, DeviceStatistics, EmulatedDevice, HostParallel, Kernels};
use steps::{PART, Sizes, Steps};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const PASSES: usize = 10;

/// The results of a device.
struct Found {
    centroids: Vec<f64>,
    rows: Vec<u64>,
    inertia: f64,
}

impl Found {
    /// Returns the largest relative difference of two numbers.
    fn difference(&self, other: &Self) -> f64 {
        if self.rows != other.rows {
            return f64::INFINITY;
        }
        let numbers = |found: &Self| found.centroids.iter().copied().chain([found.inertia]).collect::<Vec<_>>();
        let pairs = numbers(self).into_iter().zip(numbers(other));
        let differences = pairs.map(|(a, b)| match a == b || (a.is_nan() && b.is_nan()) {
            true => 0.0,
            false => (a - b).abs() / a.abs().max(b.abs()).max(1e-3),
        });
        differences.fold(0.0, |greatest, found| if found <= greatest { greatest } else { found })
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = tempfile::tempdir()?;
    let file = table_file(arguments.next(), folder.path())?;
    let clusters = arguments.next().map_or(Ok(3), |count| count.parse())?;
    let reader = TableReader::open(&file)?;
    let sizes = Sizes { columns: reader.shape().columns, clusters };
    println!("{} of {}, {clusters} clusters, {PASSES} passes", reader.shape(), reader.element_type());
    if clusters == 0 || sizes.columns == 0 || reader.shape().rows < clusters {
        return Err("there must be a cluster, a row for each, and a column".into());
    }

    let here = run(&HostParallel, &Closures(sizes), sizes, &reader, folder.path())?;
    let there = on_device(sizes, &reader, folder.path())?;
    heading("What they found");
    for (cluster, rows) in here.rows.iter().enumerate() {
        println!("cluster {cluster}: {rows} rows");
    }
    println!("inertia: {:.6}", here.inertia);
    let difference = here.difference(&there);
    println!("the greatest relative difference of the two: {difference:.1e}");
    if difference <= 1e-9 { Ok(()) } else { Err("the devices differ".into()) }
}

/// Returns a table file: the one in the arguments, or one with the values of a CSV file, which is read block by block.
fn table_file(argument: Option<String>, folder: &Path) -> Result<PathBuf> {
    let path = folder.join("table.ntb");
    match argument.map(PathBuf::from) {
        None => load("wine.csv")?.save(&path)?,
        Some(file) if file.extension().is_some_and(|extension| extension == "ntb") => return Ok(file),
        Some(file) => {
            let source = CsvSource::open(&file)?;
            let dictionary = source.dictionary(ElementType::F64)?;
            let mut writer = TableWriter::<f64>::create(&path, dictionary.len(), dictionary)?;
            let mut blocks = source.row_blocks::<f64>(4096)?;
            while let Some(block) = blocks.next_block()? {
                writer.append(&block[..])?;
            }
            writer.finish()?;
        }
    }
    Ok(path)
}

/// Runs on a CUDA device, or on the emulated one.
fn on_device(sizes: Sizes, reader: &TableReader, folder: &Path) -> Result<Found> {
    #[cfg(feature = "cuda")]
    use numeric_table_execution::{DeviceError, HandleError};
    #[cfg(feature = "cuda")]
    match numeric_table_execution::cuda::Cuda::new(0)
        .and_then(|device| Ok((cuda::Compiled::new(&device, sizes)?, device)))
    {
        Ok((kernels, device)) => {
            println!("\nthe CUDA device is {}", device.name()?);
            return run(&device, &kernels, sizes, reader, folder);
        }
        Err(reason @ HandleError::Device(DeviceError::Unavailable { .. })) => println!("\nno CUDA device: {reason}"),
        Err(error) => return Err(error.into()),
    }
    run(&EmulatedDevice::new(), &Closures(sizes), sizes, reader, folder)
}

fn run<D: Kernels>(
    device: &D,
    steps: &impl Steps<D>,
    sizes: Sizes,
    reader: &TableReader,
    folder: &Path,
) -> Result<Found> {
    heading(&format!("On {}", device.id()));
    let options = StreamOptions::default();
    let Sizes { columns, clusters } = sizes;

    let start = Instant::now();
    let mut statistics = DeviceStatistics::new(device, columns);
    let mut stream = reader.stream_rows::<f64, D>(device, options)?;
    while let Some(block) = stream.next()? {
        statistics.update_block(&block)?;
    }
    let statistics = statistics.finish()?;
    let of_columns = (0..columns).map(|column| statistics.column(column));
    let of_columns = of_columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut moments: Vec<f64> = of_columns.iter().map(|column| column.mean()).collect();
    // A column of equal values stays at zero.
    moments.extend(of_columns.iter().map(|column| match column.variance().sqrt() {
        deviation if deviation > 0.0 => 1.0 / deviation,
        _ => 0.0,
    }));
    line("statistics", start.elapsed());

    let start = Instant::now();
    let scaled = folder.join(format!("{}.ntb", device.id()));
    let dictionary = reader.dictionary().with_element_type(ElementType::F32)?;
    let mut writer = TableWriter::<f32>::create(&scaled, columns, dictionary)?;
    let moments = DeviceArray::from_slice(device, &moments)?;
    let mut results = ResultStream::new(device, columns, options.slots, |_, values: &[f32]| Ok(writer.append(values)?));
    let mut stream = reader.stream_rows::<f64, D>(device, options)?;
    while let Some(block) = stream.next()? {
        results.push(block.row_range(), |output| {
            steps.standardize(device, block.row_range().len(), (block.view(), moments.view()?), output)
        })?;
    }
    results.finish()?;
    drop(results);
    writer.finish()?;
    line("standardization, results to a file", start.elapsed());

    let start = Instant::now();
    let scaled = TableReader::open(&scaled)?;
    let step = scaled.shape().rows / clusters;
    let mut found = Found { centroids: Vec::new(), rows: vec![0; clusters], inertia: 0.0 };
    for cluster in 0..clusters {
        let row = scaled.load_rows::<f64>(cluster * step..cluster * step + 1)?;
        found.centroids.extend_from_slice(row.as_slice()?);
    }
    for _ in 0..PASSES {
        pass(device, steps, sizes, &scaled, &mut found)?;
    }
    line("k-means", start.elapsed());
    Ok(found)
}

/// Assigns all rows, and moves the centroids to the means of their rows.
fn pass<D: Kernels>(
    device: &D,
    steps: &impl Steps<D>,
    sizes: Sizes,
    scaled: &TableReader,
    found: &mut Found,
) -> Result<()> {
    let Sizes { columns, clusters } = sizes;
    let of_part = clusters * (columns + 2);
    let centroids = DeviceArray::from_slice(device, &found.centroids)?;
    let (mut labels, mut distances) = (ArrayHandle::<i32, D>::empty(device), ArrayHandle::<f64, D>::empty(device));
    let mut all = vec![0.0; of_part];
    let mut parts = ResultStream::new(device, of_part, 3, |_, parts: &[f64]| {
        let parts = parts.chunks(of_part).flat_map(|part| part.iter().enumerate());
        parts.for_each(|(place, value)| all[place] += value);
        Ok(())
    });
    let mut stream = scaled.stream_rows::<f32, D>(device, StreamOptions::default())?;
    let mut first = 0;
    while let Some(block) = stream.next()? {
        let rows = block.row_range().len();
        let (to, far) = (labels.prepare_for_output(rows)?, distances.prepare_for_output(rows)?);
        steps.assign(device, rows, (block.view(), centroids.view()?), (to, far))?;
        let last = first + rows.div_ceil(PART);
        parts.push(first..last, |output| {
            let inputs = (block.view(), labels.prepare_for_input()?, distances.prepare_for_input()?);
            steps.sum(device, rows, inputs, output)
        })?;
        first = last;
    }
    parts.finish()?;
    drop(parts);

    found.inertia = 0.0;
    for (cluster, sums) in all.chunks(columns + 2).enumerate() {
        let rows = sums[columns];
        found.rows[cluster] = rows as u64;
        found.inertia += sums[columns + 1];
        if rows > 0.0 {
            let centroid = &mut found.centroids[cluster * columns..][..columns];
            centroid.iter_mut().zip(sums).for_each(|(centroid, sum)| *centroid = sum / rows);
        } // otherwise it does not move
    }
    Ok(())
}

fn line(what: &str, time: Duration) {
    println!("{what:<36}{:>10.3} ms", time.as_secs_f64() * 1e3);
}
