//! Stages that overlap, on the emulated device's virtual clock: the times are those of a pipeline, to the nanosecond.

use std::ops::Range;
use std::time::Duration;

use numeric_table::prelude::*;
use numeric_table_execution::emulated::EmulatedSpeed;
use numeric_table_execution::stream::{StreamOptions, StreamRows, StreamStats};
use numeric_table_execution::*;

const COLUMNS: usize = 8;

/// The bandwidth in bytes per second at which one `f32` takes the given nanoseconds.
fn rate(nanoseconds: u64) -> u64 {
    4_000_000_000 / nanoseconds
}

/// Streams a table of blocks through a kernel that reads every value once. Returns what it took.
///
/// A column-major table has to be packed. Packing, copying and the kernel take the given nanoseconds for each value.
fn stream(blocks: usize, slots: usize, [pack, copy, kernel]: [u64; 3]) -> StreamStats {
    const ROWS: usize = 100;
    let clock = EmulatedSpeed { control: rate(pack), copy: rate(copy), compute: rate(kernel) };
    let device = EmulatedDevice::new().with_speed(clock);
    let shape = Shape { rows: blocks * ROWS, columns: COLUMNS };
    let table = HomogenNumericTable::full_with_layout(shape, 1.0_f32, DataLayout::ColumnMajor).unwrap();
    let options = StreamOptions { rows: ROWS, slots, ..Default::default() };
    let mut stream = table.stream_rows::<f32, _>(&device, options).unwrap();
    let mut seen = 0;
    while let Some(block) = stream.next().unwrap() {
        let count = std::sync::atomic::AtomicUsize::new(0);
        let look = |_: Range<usize>, [values]: [&[f32]; 1], ()| {
            count.store(values.iter().filter(|&&value| value == 1.0).count(), std::sync::atomic::Ordering::Relaxed);
        };
        device.launch([block.view()], (), 1, look).unwrap();
        seen += count.into_inner();
    }
    assert_eq!(seen, shape.rows * COLUMNS);
    stream.finish().unwrap()
}

/// The nanoseconds for a block, from those for a value.
fn block(nanoseconds: u64) -> u64 {
    nanoseconds * 100 * COLUMNS as u64
}

const TIMES: [[u64; 3]; 7] = [[5, 2, 1], [1, 5, 2], [1, 2, 5], [4, 4, 4], [1, 1, 20], [20, 1, 1], [2, 8, 8]];

#[test]
fn three_slots_take_the_slowest_stage_for_each_block() {
    for times in TIMES {
        for blocks in [1, 2, 3, 10, 50] {
            let [pack, copy, kernel] = times.map(block);
            let stats = stream(blocks, 3, times);
            let slowest = pack.max(copy).max(kernel);
            let expected = pack + copy + kernel + (blocks as u64 - 1) * slowest;
            assert_eq!(stats.times.total, Duration::from_nanos(expected), "{blocks} blocks of {times:?}");
            let sums = [pack, copy, kernel].map(|time| Duration::from_nanos(blocks as u64 * time));
            assert_eq!([stats.times.pack, stats.times.copy, stats.times.kernel], sums);
        }
    }
}

#[test]
fn one_slot_only_packs_while_a_kernel_runs() {
    for times in TIMES {
        let [pack, copy, kernel] = times.map(block);
        let stats = stream(10, 1, times);
        // What is packed for the next block may be packed while the kernel reads this one; it crosses after that.
        let expected = pack + copy + kernel + 9 * (copy + pack.max(kernel));
        assert_eq!(stats.times.total, Duration::from_nanos(expected), "{times:?}");
    }
}

#[test]
fn a_slot_is_allocated_once() {
    let stats = stream(50, 3, [1, 1, 1]);
    assert_eq!(stats.transfers.allocations.calls, 3);
    assert_eq!(stats.transfers.uploads, TransferTotals { calls: 50, bytes: 50 * 100 * COLUMNS * 4 });
    assert_eq!(stats.transfers.downloads, TransferTotals::default());
}

#[test]
fn contiguous_rows_cross_without_being_packed() {
    let device = EmulatedDevice::new().with_speed(EmulatedSpeed { control: 1, copy: 4_000_000_000, compute: 1 << 40 });
    let table = HomogenNumericTable::full(Shape { rows: 1000, columns: COLUMNS }, 1_u8).unwrap();
    let options = StreamOptions { rows: 100, ..Default::default() };
    // As they are, and widened on the device.
    let mut same = table.stream_rows::<u8, _>(&device, options).unwrap();
    while same.next().unwrap().is_some() {}
    let stats = same.finish().unwrap();
    assert_eq!((stats.times.pack, stats.times.copy), (Duration::ZERO, Duration::from_micros(2)));
    let mut wider = table.stream_rows::<f64, _>(&device, options).unwrap();
    while wider.next().unwrap().is_some() {}
    let stats = wider.finish().unwrap();
    assert_eq!((stats.times.pack, stats.transfers.uploads.bytes), (Duration::ZERO, 8000));
    assert!(table.array().unwrap().has_mutable_data()); // nothing keeps a share of it
}

#[test]
fn blocks_of_shared_memory_are_the_table() {
    let table = HomogenNumericTable::full(Shape { rows: 10, columns: 2 }, 1_i16).unwrap();
    let address = table.as_slice().unwrap().as_ptr();
    let options = StreamOptions { rows: 4, ..Default::default() };
    let mut stream = table.stream_rows::<i16, _>(&HostParallel, options).unwrap();
    for first in [0, 4, 8] {
        let block = stream.next().unwrap().unwrap();
        assert_eq!(block.view().as_ptr(), address.wrapping_add(2 * first));
    }
    assert!(stream.next().unwrap().is_none());
    let stats = stream.finish().unwrap();
    assert_eq!((stats.blocks, stats.transfers), (3, TransferStats::default()));
    assert!(stats.times.pack + stats.times.copy + stats.times.kernel <= stats.times.total);
}
