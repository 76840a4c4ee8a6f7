//! Tables on devices, and streams of their rows.

use numeric_table::prelude::*;
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::stream::{Convert, StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::SmallNumber;
use test_support::tables::{LAYOUTS, numbered, numbers};

fn is_shared<D: DeviceAdapter>() -> bool {
    <D::Memory as ExecutionMemory>::IS_SHARED
}

/// The bytes that should be copied for `count` values: in the narrower of two types, or none.
fn least_bytes<S, T, D: DeviceAdapter>(values: usize) -> usize {
    if is_shared::<D>() { 0 } else { values * size_of::<S>().min(size_of::<T>()) }
}

pub(crate) fn tables_go_there_and_rows_come_back<D: Kernels>(device: &D) {
    for layout in LAYOUTS {
        pairs::<i16, f32, D>(device, layout);
        pairs::<f64, f32, D>(device, layout);
        pairs::<f32, f32, D>(device, layout);
        pairs::<f32, i32, D>(device, layout);
    }
}

fn pairs<S: SmallNumber, T: SmallNumber, D: Kernels>(device: &D, layout: DataLayout) {
    const ROWS: usize = 9;
    const COLUMNS: usize = 4;
    let whole = numbered::<S>(ROWS + 3, COLUMNS, layout);
    // Rows of a larger table: those of a column-major one do not lie in one piece.
    for (table, first) in [(numbered::<S>(ROWS, COLUMNS, layout), 0), (whole.slice_rows(2..2 + ROWS).unwrap(), 2)] {
        let before = device.stats();
        let there = table.to_device::<T, D>(device).unwrap();
        let uploads = (device.stats() - before).uploads;
        assert_eq!(uploads.bytes, least_bytes::<S, T, D>(ROWS * COLUMNS));
        assert_eq!((there.shape(), there.data_layout()), (table.shape(), layout));
        for rows in [0..ROWS, 2..7, 8..9, 5..5] {
            let before = device.stats();
            let pulled = there.download_rows::<S>(rows.clone()).unwrap();
            let downloads = (device.stats() - before).downloads;
            assert_eq!(downloads.bytes, least_bytes::<S, T, D>(rows.len() * COLUMNS), "{rows:?}");
            assert!(downloads.calls <= 1);
            let expected = numbers::<S>(COLUMNS, rows.start + first..rows.end + first);
            assert_eq!(&pulled.rows::<S>(0..rows.len()).unwrap()[..], expected, "{rows:?}");
            assert_eq!(pulled.data_layout(), layout);
        }
        assert!(there.download_rows::<S>(2..ROWS + 1).is_err());
        let other = if layout == DataLayout::RowMajor { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let turned = there.to_layout(other).unwrap();
        assert_eq!(turned.to_table().unwrap(), table.convert::<T>().unwrap());
        let chosen = turned.select_columns(&[3, 0]).unwrap().to_table().unwrap();
        let expected = numbers::<T>(COLUMNS, first..first + ROWS);
        let expected: Vec<T> = expected.chunks(COLUMNS).flat_map(|row| [row[3], row[0]]).collect();
        assert_eq!(&chosen.rows::<T>(0..ROWS).unwrap()[..], expected);
    }
}

pub(crate) fn a_dictionary_travels_and_tables_without_values_too<D: Kernels>(device: &D) {
    let mut table = numbered::<i16>(2, 2, DataLayout::RowMajor);
    let features = ["a", "b"].map(|name| Feature::new(ElementType::I16).named(name));
    table.set_dictionary(DataDictionary::from_features(features)).unwrap();
    let there = table.to_device::<f64, D>(device).unwrap().select_columns(&[1]).unwrap();
    let back = there.download_rows::<f32>(0..1).unwrap();
    assert_eq!(back.dictionary().feature(0).unwrap().name.as_deref(), Some("b"));
    assert_eq!(back.dictionary().feature(0).unwrap().element_type, ElementType::F32);

    for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
        let table = HomogenNumericTable::<f32>::new(Shape { rows, columns }, AllocationFlag::DoAllocate).unwrap();
        let there = table.to_device::<f64, D>(device).unwrap();
        assert_eq!(there.to_table().unwrap().shape(), table.shape());
        let mut stream = table.stream_rows::<f64, D>(device, StreamOptions { rows: 2, ..Default::default() }).unwrap();
        let mut streamed = 0;
        while let Some(block) = stream.next().unwrap() {
            streamed += block.shape().rows;
        }
        assert_eq!(streamed, rows);
    }
    let nothing =
        HomogenNumericTable::<f32>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoNotAllocate).unwrap();
    assert!(matches!(
        nothing.to_device::<f32,
        D>(device), Err(HandleError::Library(error)) if matches!(error.kind(), ErrorKind::NotAllocated)
    ));
    assert!(nothing.stream_rows::<f32, D>(device, StreamOptions::default()).is_err());
}

pub(crate) fn a_refused_value_is_named_at_its_place_in_the_table<D: Kernels>(device: &D) {
    for layout in LAYOUTS {
        let mut table = numbered::<f32>(6, 3, layout).convert::<f64>().unwrap();
        for (row, column) in [(5, 0), (4, 2), (3, 1)] {
            table.set_value(row, column, 1e300).unwrap();
        }
        let message = "the value 1e300 at row 3, column 1 is not representable as f32: \
             `ConversionPolicy::Saturate` accepts it in calls that take a policy";
        let policy = ConversionPolicy::Checked;
        let error = table.to_device_with::<f32, D>(device, policy).unwrap_err();
        assert_eq!(error.to_string(), message);
        let there = table.to_device::<f64, D>(device).unwrap();
        assert_eq!(there.download_rows_with::<f32>(2..6, policy).unwrap_err().to_string(), message);
        assert_eq!(there.convert::<f32>(policy).unwrap_err().to_string(), message);
        for convert in [Convert::Auto, Convert::Control, Convert::Execution] {
            for block_layout in LAYOUTS {
                let options = StreamOptions { rows: 2, convert, layout: block_layout, policy, ..Default::default() };
                let mut stream = table.stream_rows::<f32, D>(device, options).unwrap();
                assert_eq!(stream.next().unwrap().unwrap().row_range(), 0..2);
                for _ in 0..2 {
                    let error = stream.next().map(|_| ()).unwrap_err(); // and again: no block is skipped
                    assert_eq!(error.to_string(), message, "{convert:?} {block_layout}");
                }
            }
        }
        // Where the values become wider, they are converted on the device.
        let mut table = numbered::<i16>(6, 3, layout);
        table.set_value(4, 2, -1_i16).unwrap();
        table.set_value(5, 0, -1_i16).unwrap();
        let message = "the value -1 at row 4, column 2 is not representable as u32: `ConversionPolicy::Saturate` \
             accepts it in calls that take a policy";
        assert_eq!(table.to_device_with::<u32, D>(device, policy).unwrap_err().to_string(), message);
        let options = StreamOptions { rows: 3, policy, ..Default::default() };
        let mut stream = table.stream_rows::<u32, D>(device, options).unwrap();
        stream.next().unwrap();
        assert_eq!(stream.next().map(|_| ()).unwrap_err().to_string(), message);
    }
}

pub(crate) fn a_stream_lends_every_row_once_and_in_order<D: Kernels>(device: &D) {
    streamed::<i16, f32, D>(device);
    streamed::<f64, f32, D>(device);
    streamed::<f32, f32, D>(device);
    streamed::<f32, i32, D>(device);
}

fn streamed<S: SmallNumber, T: SmallNumber, D: Kernels>(device: &D) {
    const ROWS: usize = 13;
    const COLUMNS: usize = 4;
    for (layout, block_layout) in LAYOUTS.iter().flat_map(|&layout| LAYOUTS.map(|block| (layout, block))) {
        for convert in [Convert::Auto, Convert::Control, Convert::Execution] {
            for (rows, slots) in [(1, 3), (5, 1), (5, 2), (4, 7), (13, 3), (99, 0)] {
                let table = numbered::<S>(ROWS, COLUMNS, layout);
                let options = StreamOptions { rows, slots, convert, layout: block_layout, ..Default::default() };
                let mut stream = table.stream_rows::<T, D>(device, options).unwrap();
                let (mut next, mut copy) = (0, ArrayHandle::<T, D>::empty(device));
                while let Some(block) = stream.next().unwrap() {
                    assert_eq!((block.row_range().start, block.data_layout()), (next, block_layout));
                    next = block.row_range().end;
                    let count = block.shape().element_count().unwrap();
                    let to = copy.prepare_for_output(count).unwrap();
                    device.convert(block.view(), to, Default::default()).unwrap();
                    let array = Array::from(copy.read_portal().unwrap().to_vec());
                    let found =
                        HomogenNumericTable::from_array_with_layout(array, block.shape(), block_layout).unwrap();
                    let expected = numbers::<T>(COLUMNS, block.row_range());
                    assert_eq!(&found.rows::<T>(0..block.row_range().len()).unwrap()[..], expected);
                }
                assert_eq!(next, ROWS);
                let stats = stream.finish().unwrap();
                assert_eq!((stats.blocks, stats.rows), (ROWS.div_ceil(rows), ROWS));
                let size = match convert {
                    _ if is_shared::<D>() => 0,
                    Convert::Auto => size_of::<S>().min(size_of::<T>()),
                    Convert::Control => size_of::<T>(),
                    _ => size_of::<S>(),
                };
                assert_eq!(stats.transfers.uploads.bytes, ROWS * COLUMNS * size);
            }
        }
    }
    let table = numbered::<S>(3, 2, DataLayout::RowMajor);
    let none = StreamOptions { rows: 0, ..Default::default() };
    assert!(matches!(
        table.stream_rows::<T, D>(device, none),
        Err(HandleError::Library(error)) if matches!(error.kind(), ErrorKind::ParameterOutOfRange { .. })
    ));
}
