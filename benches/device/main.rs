//! Timings on a CUDA device: copies, conversions, statistics, algorithms, and calls without a transfer.
//!
//! Prints a line for each job: its name, the median of some runs in milliseconds, and gigabytes (10^9 bytes) per second
//! that cross the link, or that the device reads and writes. `limit/...` are the limits of the machine, measured
//! through the driver. `device/rivals.py` times the same jobs with PyTorch and CuPy; `device/run.sh` runs both.
//! `--distinct 300` streams 300 GiB of computed rows instead.

mod distinct;

use std::time::Instant;

use half::{bf16, f16};
use numeric_table::prelude::*;
use numeric_table::{ConversionPolicy, CsrNumericTable, Element, RowMergedNumericTable};
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::{
    Algorithms, ArrayHandle, DeviceAdapter, DeviceArray, DeviceStatistics, HandleError, Kernels, Reduction,
};

/// 1 GiB of `f32`.
const COUNT: usize = 1 << 28;
const COLUMNS: usize = 16;
/// Number of times that the long table lists the same table of 16 GiB.
const LONG: usize = 18;

fn main() -> Result<(), HandleError> {
    let small = std::env::args().any(|argument| argument == "--test");
    let device = Cuda::new(0)?;
    let (free, all) = device.memory_info()?;
    println!("# {}, {} of {} MiB free", device.name()?, free >> 20, all >> 20);
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--distinct") {
        let gib = arguments.get(at + 1).and_then(|gib| gib.parse().ok()).unwrap_or(1);
        return distinct::stream(&device, gib);
    }
    let count = if small { 1 << 16 } else { COUNT };
    copies(&device, count)?;
    conversions(&device, count)?;
    transposes(&device, count)?;
    statistics(&device, count)?;
    algorithms::<f32>(&device, count)?;
    algorithms::<f64>(&device, count / 2)?;
    algorithms::<i32>(&device, count)?;
    algorithms::<u8>(&device, count)?;
    streams(&device, if small { 1 << 16 } else { 1 << 32 })?;
    nothing(&device)
}

/// Prints the median of some runs. Each run ends when the device has finished.
fn measure(
    device: &Cuda,
    job: &str,
    bytes: usize,
    mut run: impl FnMut() -> Result<(), HandleError>,
) -> Result<(), HandleError> {
    run()?;
    device.synchronize()?;
    let mut times = Vec::new();
    for _ in 0..9 {
        let start = Instant::now();
        run()?;
        device.synchronize()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let median = times[times.len() / 2];
    println!("{job} {:.3} ms {:.1} GB/s", median * 1e3, bytes as f64 / median / 1e9);
    Ok(())
}

fn copies(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let bytes = count * size_of::<f32>();
    let pageable: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let start = Instant::now();
    let mut pinned = device.pinned::<f32>(count)?;
    println!("pin {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    pinned.mutable_data().map_err(HandleError::from)?.copy_from_slice(&pageable);

    let mut target = DeviceArray::<f32, _>::allocate(device, count)?;
    measure(device, "upload/pinned", bytes, || target.copy_from_host(0, &pinned))?;
    measure(device, "upload/pageable", bytes, || target.copy_from_host(0, &pageable))?;
    let start = Instant::now();
    let registered = device.register(&pageable)?;
    println!("register {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    measure(device, "upload/registered", bytes, || target.copy_from_host(0, &pageable))?;
    drop(registered);
    let mut plain = vec![0.0_f32; count];
    measure(device, "download/pageable", bytes, || target.copy_to_host(.., &mut plain))?;
    assert!(plain == pageable, "what comes back is what was sent");
    measure(device, "download/pinned", bytes, || {
        target.copy_to_host(.., pinned.mutable_data().map_err(HandleError::from)?)
    })?;
    // One kibibyte: the cost of a call.
    measure(device, "upload/1_KiB", 1024, || target.copy_from_host(0, &pageable[..256]))?;
    measure(device, "download/1_KiB", 1024, || target.copy_to_host(..256, &mut plain[..256]))
}

fn conversions(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let bytes = 2 * count * size_of::<f32>();
    let source = DeviceArray::from_slice(device, &vec![1.5_f32; count])?;
    measure(device, "limit/device_copy", bytes, || source.clone().view_mut().map(drop))?;
    pair::<f32, f64>(device, count)?;
    pair::<f64, f32>(device, count)?;
    pair::<f32, i32>(device, count)?;
    pair::<i32, f32>(device, count)?;
    pair::<f64, i64>(device, count)?;
    pair::<i64, f64>(device, count)?;
    pair::<u32, f32>(device, count)?;
    pair::<f64, i32>(device, count)?;
    pair::<i16, f32>(device, count)?;
    pair::<f32, i16>(device, count)?;
    pair::<u8, f32>(device, count)?;
    pair::<f32, u8>(device, count)?;
    pair::<f32, f16>(device, count)?;
    pair::<f16, f32>(device, count)?;
    pair::<f64, bf16>(device, count)
}

fn pair<S: Element, T: Element>(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let mut source = ArrayHandle::<S, _>::empty(device);
    device.fill(source.prepare_for_output(count)?, S::default())?;
    let mut target = ArrayHandle::<T, _>::empty(device);
    let bytes = count * (size_of::<S>() + size_of::<T>());
    for policy in [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact] {
        let job = format!("convert/{}_{}/{policy}", S::TYPE, T::TYPE);
        measure(device, &job, bytes, || {
            device.convert(source.prepare_for_input()?, target.prepare_for_output(count)?, policy)
        })?;
    }
    Ok(())
}

fn transposes(device: &Cuda, count: usize) -> Result<(), HandleError> {
    for columns in [4, COLUMNS, 100, 1024] {
        let shape = Shape { rows: count / columns, columns };
        let count = shape.rows * columns;
        let source = DeviceArray::from_slice(device, &vec![1.5_f32; count])?;
        let mut target = ArrayHandle::<f32, _>::empty(device);
        measure(device, &format!("transpose/f32/{columns}_columns"), 2 * count * size_of::<f32>(), || {
            device.transpose(source.view()?, shape, target.prepare_for_output(count)?)
        })?;
    }
    Ok(())
}

/// Statistics of the columns of a table on the device.
fn statistics(device: &Cuda, count: usize) -> Result<(), HandleError> {
    table_statistics::<f32>(device, count)?;
    table_statistics::<f64>(device, count / 2)?;
    table_statistics::<i16>(device, count)
}

fn table_statistics<T: Element>(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let shape = Shape { rows: count / COLUMNS, columns: COLUMNS };
    let table = DeviceArray::<T, _>::zeros(device, count)?;
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        measure(device, &format!("statistics/{}/{layout}", T::TYPE), count * size_of::<T>(), || {
            let mut statistics = DeviceStatistics::new(device, COLUMNS);
            statistics.update(table.view()?, shape, layout)?;
            statistics.finish().map(drop)
        })?;
    }
    Ok(())
}

/// Algorithms on an array of random values. The bytes are those of its values.
fn algorithms<T: Element>(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let bytes = count * size_of::<T>();
    let mut state = 1_u64;
    let random = (0..count).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    });
    let mut values = ArrayHandle::<T, _>::empty(device);
    let mut flags = ArrayHandle::<u8, _>::empty(device);
    {
        let random = DeviceArray::from_slice(device, &random.collect::<Vec<u32>>())?;
        device.convert(random.view()?, values.prepare_for_output(count)?, ConversionPolicy::Saturate)?;
        let bits: Vec<u8> = (0..count).map(|index| (index * 7 / 3 % 2) as u8).collect();
        device.convert(
            DeviceArray::from_slice(device, &bits)?.view()?,
            flags.prepare_for_output(count)?,
            ConversionPolicy::Saturate,
        )?;
    }
    let view = || values.prepare_for_input();
    let name = |job: &str| format!("{job}/{}", T::TYPE);
    let mut order = ArrayHandle::<u64, _>::empty(device);
    let mut output = ArrayHandle::<T, _>::empty(device);
    measure(device, &name("sort_indices"), bytes, || device.sort_indices(view()?, &mut order))?;
    drop(order);
    measure(device, &name("reduce/sum"), bytes, || device.reduce(view()?, Reduction::Sum).map(drop))?;
    measure(device, &name("reduce/min"), bytes, || device.reduce(view()?, Reduction::Min).map(drop))?;
    measure(device, &name("scan_inclusive/sum"), bytes, || {
        device.scan_inclusive(view()?, Reduction::Sum, &mut output)
    })?;
    measure(device, &name("copy_flagged"), bytes, || {
        device.copy_flagged(view()?, flags.prepare_for_input()?, &mut output).map(drop)
    })?;
    measure(device, &name("unique"), bytes, || device.unique(view()?, &mut output).map(drop))?;
    let edges: Vec<f64> = (0..=100).map(|edge| f64::from(edge) * 2_f64.powi(31) / 100.0).collect();
    let mut counts = ArrayHandle::<u64, _>::empty(device);
    measure(device, &name("histogram/100_bins"), bytes, || device.histogram(view()?, &edges, &mut counts))
}

/// Streams rows of 16 columns with the given number of values through the device, which converts them. Then does the
/// same and computes their statistics.
fn streams(device: &Cuda, count: usize) -> Result<(), HandleError> {
    let shape = Shape { rows: count / COLUMNS, columns: COLUMNS };
    let table = HomogenNumericTable::from_fn(shape, |row, column| (row * COLUMNS + column) as f32)?;
    let options = StreamOptions { rows: 1 << 20, ..StreamOptions::default() };
    let bytes = count * size_of::<f32>();
    measure(device, "stream/f32_f32", bytes, || {
        let mut stream = table.stream_rows::<f32, _>(device, options)?;
        while stream.next()?.is_some() {}
        stream.finish().map(drop)
    })?;
    measure(device, "stream/f32_f64", bytes, || {
        let mut stream = table.stream_rows::<f64, _>(device, options)?;
        while stream.next()?.is_some() {}
        stream.finish().map(drop)
    })?;
    // A value in each row, and 999 zeros.
    let rows = shape.rows.min(1 << 22);
    let sparse = CsrNumericTable::try_new(
        Shape { rows, columns: 1000 },
        (0..=rows as u64).collect::<Vec<_>>(),
        (0..rows).map(|row| (row % 1000) as u32).collect::<Vec<_>>(),
        vec![1.5_f32; rows],
    );
    let sparse = sparse.map_err(|refused| refused.error)?;
    measure(device, "stream/sparse_to_dense", rows * 1000 * size_of::<f32>(), || {
        let mut stream = sparse.stream_rows::<f32, _>(device, StreamOptions::default())?;
        while stream.next()?.is_some() {}
        stream.finish().map(drop)
    })?;
    let statistics_of = |table: &dyn NumericTable| {
        let mut statistics = DeviceStatistics::new(device, COLUMNS);
        let mut stream = table.stream_rows::<f32, _>(device, options)?;
        while let Some(block) = stream.next()? {
            statistics.update_block(&block)?;
        }
        stream.finish()?;
        statistics.finish()
    };
    measure(device, "statistics/streamed_16_GiB", bytes, || statistics_of(&table).map(drop))?;

    // The same 16 GiB, listed many times: a long stream, but not a table larger than memory.
    let once = statistics_of(&table)?;
    let tables = (0..LONG).map(|_| Box::new(table.clone()) as Box<dyn NumericTable>);
    let long = RowMergedNumericTable::new(tables)?;
    let start = Instant::now();
    let found = statistics_of(&long)?;
    let seconds = start.elapsed().as_secs_f64();
    let (expected, found) = (once.per_column()[0].mean(), found.per_column()[0].mean());
    assert!((expected - found).abs() <= 1e-12 * expected.abs(), "{found}, not {expected}");
    let speed = (bytes * LONG) as f64 / seconds / 1e9;
    println!("statistics/streamed_16_GiB_{LONG}_times {:.3} ms {speed:.1} GB/s", seconds * 1e3);
    Ok(())
}

/// The cost of a call without a transfer.
fn nothing(device: &Cuda) -> Result<(), HandleError> {
    let handle = ArrayHandle::from_container(device, vec![1.0_f32; 1000]);
    handle.prepare_for_input()?;
    let calls = 1_000_000;
    let start = Instant::now();
    for _ in 0..calls {
        std::hint::black_box(handle.prepare_for_input()?);
    }
    println!("prepare_for_input/nothing {:.1} ns", start.elapsed().as_secs_f64() / f64::from(calls) * 1e9);
    Ok(())
}
