//! What crosses of sparse and mixed rows, as counters and traces see it; what becomes of them when a call fails; and
//! tables that are larger than the memory of the device.

use numeric_table::files::{TableReader, TableWriter};
use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, copies_of};
use numeric_table::{CsrNumericTable, RowMergedNumericTable, SoaNumericTable, table::by_ref};
use numeric_table_execution::emulated::EmulatedSpeed;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::*;

/// A table of 1000 rows and 1000 columns of `f32` with one value in each row.
fn diagonal() -> CsrNumericTable {
    let (offsets, indices) = ((0..=1000_i64).collect::<Vec<_>>(), (0..1000_i64).collect::<Vec<_>>());
    let values: Vec<f32> = (1..=1000_u16).map(f32::from).collect();
    CsrNumericTable::try_new(Shape { rows: 1000, columns: 1000 }, offsets, indices, values).unwrap()
}

fn mixed() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    table.push_column("a", (0..100_u8).collect::<Vec<_>>()).unwrap();
    table.push_column("b", (0..100_i16).collect::<Vec<_>>()).unwrap();
    table
}

#[test]
fn a_thousand_values_cross_as_eight_thousand_bytes_instead_of_four_million() {
    let (device, table) = (EmulatedDevice::new(), diagonal());
    let (there, report) = copies_of(|| table.to_device::<f32, _>(&device).unwrap());
    // A value and an index of two bytes for each cell, an offset of two bytes for each row and the end.
    assert_eq!(device.stats().uploads, TransferTotals { calls: 1, bytes: 1000 * (4 + 2) + 1001 * 2 });
    assert_eq!(report.of(CopyKind::Uploaded).bytes, 8002);
    let there = there.to_table().unwrap();
    assert!((0..1000).all(|row| there.rows::<f32>(row..row + 1).unwrap()[row] == row as f32 + 1.0));
    assert_eq!(there.as_slice().unwrap().iter().filter(|&&value| value != 0.0).count(), 1000);

    // In blocks of 100 rows: an offset has one byte then.
    let (stats, report) = copies_of(|| {
        let options = StreamOptions { rows: 100, ..Default::default() };
        let mut stream = table.stream_rows::<f32, _>(&device, options).unwrap();
        while stream.next().unwrap().is_some() {}
        stream.finish().unwrap()
    });
    assert_eq!(stats.transfers.uploads, TransferTotals { calls: 10, bytes: 10 * (600 + 101) });
    assert_eq!(report.of(CopyKind::Uploaded).bytes, 7010);
    assert_eq!(stats.transfers.allocations.calls, 3 * 2); // of each slot, what crosses and the block
}

#[test]
fn chosen_rows_and_columns_and_parts_of_merged_tables_cross_as_dense_ones() {
    fn bytes(send: impl Fn(&EmulatedDevice)) -> usize {
        let device = EmulatedDevice::new();
        send(&device);
        device.stats().uploads.bytes
    }
    let (sparse, mixed) = (diagonal(), mixed());
    let sent = |table: &dyn NumericTable| bytes(|device| drop(table.to_device::<f32, _>(device).unwrap()));
    let chosen = |table: &dyn NumericTable| {
        bytes(|device| {
            let mut stream = table.stream_rows_at::<f32, _>(device, &[3, 1], StreamOptions::default()).unwrap();
            while stream.next().unwrap().is_some() {}
        })
    };
    assert_eq!((chosen(&sparse), chosen(&mixed)), (2 * 4000, 2 * 8));
    assert_eq!(sent(&sparse.select_columns(..500).unwrap()), 1000 * 500 * 4);
    assert_eq!(sent(&*sparse.select_rows(..500).unwrap()), 500 * (4 + 2) + 501 * 2);
    let both = RowMergedNumericTable::new(vec![by_ref(&sparse), by_ref(&sparse)]).unwrap();
    assert_eq!(sent(&both), 2 * 4_000_000);
    assert_eq!(sent(&mixed), 100 * 3);
}

#[test]
fn packing_takes_the_time_of_what_crosses() {
    let device = EmulatedDevice::new().with_speed(EmulatedSpeed {
        control: 1_000_000_000,
        copy: 1_000_000_000,
        compute: 1 << 40,
    });
    let table = diagonal();
    let mut stream = table.stream_rows::<f32, _>(&device, StreamOptions::default()).unwrap();
    while stream.next().unwrap().is_some() {}
    let times = stream.finish().unwrap().times;
    assert_eq!((times.pack.as_nanos(), times.copy.as_nanos()), (8002, 8002));
}

/// Streams a table and sends it, with a fault after some calls of a kind. Afterwards, both work.
fn with_faults(rows: &dyn NumericTable, expected: f64) {
    let sum = |device: &EmulatedDevice| -> Result<f64, HandleError> {
        let there = rows.to_device::<f64, _>(device)?;
        let mut sum: f64 = there.to_table()?.as_slice()?.iter().sum();
        let mut stream = rows.stream_rows::<f64, _>(device, StreamOptions { rows: 40, ..Default::default() })?;
        while let Some(block) = stream.next()? {
            let copy = DeviceArray::<f64, _>::allocate(device, block.shape().rows * block.shape().columns)?;
            let mut copy = copy.into_handle();
            device.convert(block.view(), copy.prepare_in_place()?, Default::default())?;
            sum += copy.read_portal()?.iter().sum::<f64>();
        }
        Ok(sum)
    };
    let faults: [fn(&EmulatedDevice, usize); 4] = [
        EmulatedDevice::fail_allocation,
        EmulatedDevice::fail_upload,
        EmulatedDevice::fail_download,
        EmulatedDevice::fail_kernel,
    ];
    for (kind, fail) in faults.into_iter().enumerate() {
        let mut failures = 0;
        for after in 0..100 {
            let device = EmulatedDevice::new();
            fail(&device, after);
            match sum(&device) {
                Ok(found) => {
                    assert_eq!(found, 2.0 * expected);
                    break;
                }
                Err(_) => failures += 1,
            }
            assert_eq!(device.live_bytes(), 0, "fault {kind} after {after}");
            let _ = device.synchronize(); // reports a kernel that failed
            assert_eq!(sum(&device).unwrap(), 2.0 * expected, "fault {kind} after {after}");
        }
        assert!(failures > 2, "fault {kind}");
    }
}

#[test]
fn after_every_failure_rows_can_be_sent_again() {
    let table = diagonal();
    with_faults(&*table.select_rows(..100).unwrap(), 5050.0);
    with_faults(&mixed(), 9900.0);
}

#[test]
fn a_block_that_failed_is_sent_again_by_the_next_call() {
    for table in [&diagonal() as &dyn NumericTable, &mixed()] {
        let device = EmulatedDevice::new();
        let mut stream =
            table.stream_rows::<f64, _>(&device, StreamOptions { rows: 40, ..Default::default() }).unwrap();
        assert_eq!(stream.next().unwrap().unwrap().row_range(), 0..40);
        for _ in 0..2 {
            device.fail_upload(0);
            assert!(stream.next().is_err());
        }
        assert_eq!(stream.next().unwrap().unwrap().row_range(), 40..80);
        device.lose();
        assert!(stream.next().is_err());
    }
}

#[test]
fn a_file_of_distinct_rows_larger_than_the_device_streams_through_it() {
    const ROWS: usize = 100_000;
    const COLUMNS: usize = 8;
    const BLOCK: usize = 500;
    const CAPACITY: usize = 3 * BLOCK * COLUMNS * 8; // three blocks: what the stream has in flight
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.ntb");
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F64), COLUMNS);
    let mut writer = TableWriter::<f64>::create(&path, COLUMNS, dictionary).unwrap();
    let row = |row: usize| (row * COLUMNS..(row + 1) * COLUMNS).map(|number| number as f64); // no value twice
    for first in (0..ROWS).step_by(1000) {
        writer.append(&(first..first + 1000).flat_map(row).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    assert!(path.metadata().unwrap().len() > 60 * CAPACITY as u64);

    let (device, file) = (EmulatedDevice::new().with_capacity(CAPACITY), TableReader::open(&path).unwrap());
    let mut stream = file.stream_rows::<f64, _>(&device, StreamOptions { rows: BLOCK, ..Default::default() }).unwrap();
    let mut next = 0;
    while let Some(block) = stream.next().unwrap() {
        let rows = block.row_range();
        let check = |_: std::ops::Range<usize>, [values]: [&[f64]; 1], ()| {
            let expected = rows.clone().flat_map(row);
            assert!(values.iter().copied().eq(expected), "rows {rows:?}");
        };
        device.launch([block.view()], (), 1, check).unwrap();
        next = block.row_range().end;
        assert!(device.live_bytes() <= CAPACITY);
    }
    let stats = stream.finish().unwrap();
    assert_eq!((next, stats.rows, stats.transfers.uploads.bytes), (ROWS, ROWS, ROWS * COLUMNS * 8));
    assert_eq!(stats.transfers.allocations.calls, 3);
}

#[test]
fn sparse_rows_that_are_larger_than_the_device_as_dense_ones_stream_through_it() {
    let (table, device) = (diagonal(), EmulatedDevice::new().with_capacity(200_000)); // of 8,000,000 bytes
    assert!(matches!(table.to_device::<f64, _>(&device), Err(HandleError::DeviceAlloc { .. })));
    let mut stream = table.stream_rows::<f64, _>(&device, StreamOptions { rows: 7, ..Default::default() }).unwrap();
    let mut sum = 0.0;
    while let Some(block) = stream.next().unwrap() {
        let mut part = ArrayHandle::<f64, _>::empty(&device);
        let add = |_: std::ops::Range<usize>, [values]: [&[f64]; 1], part: &mut [f64]| part[0] = values.iter().sum();
        device.launch([block.view()], part.prepare_for_output(1).unwrap(), 1, add).unwrap();
        sum += part.read_portal().unwrap()[0];
    }
    assert_eq!((sum, stream.finish().unwrap().rows), (500_500.0, 1000));
}
