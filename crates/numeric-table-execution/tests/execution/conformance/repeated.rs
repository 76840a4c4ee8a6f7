//! Streams that choose and repeat rows, and results whose number is not known.

use std::collections::BTreeSet;

use numeric_table::files::TableReader;
use numeric_table::prelude::*;
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::stream::{Convert, ResultStream, StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::SmallNumber;
use test_support::bits::Random;
use test_support::tables::{LAYOUTS, assert_fault, number, numbered};

const ROWS: usize = 19;
const COLUMNS: usize = 3;

pub(crate) fn chosen_rows_cross_once_for_each_block<D: Kernels>(device: &D) {
    streamed::<i16, f32, D>(device);
    streamed::<f64, f32, D>(device);
    streamed::<f32, f32, D>(device);
}

fn streamed<S: SmallNumber, T: SmallNumber, D: Kernels>(device: &D) {
    let mut random = Random::new(31);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.ntb");
    numbered::<S>(ROWS, COLUMNS, DataLayout::RowMajor).save(&path).unwrap();
    let file = TableReader::open(&path).unwrap();
    let indices = [
        vec![],
        vec![ROWS - 1],
        vec![4; 30],
        (0..ROWS).collect(),
        (0..ROWS).rev().collect(),
        (0..50).map(|_| random.below(ROWS)).collect::<Vec<_>>(),
        (0..40).map(|i| i / 8 + i % 8).collect(), // the corners of cells
    ];
    for (layout, block_layout) in LAYOUTS.iter().flat_map(|&layout| LAYOUTS.map(|block| (layout, block))) {
        let table = numbered::<S>(ROWS, COLUMNS, layout);
        for (indices, rows) in indices.iter().flat_map(|indices| [1, 7, 100].map(|rows| (indices, rows))) {
            for convert in [Convert::Auto, Convert::Control, Convert::Execution] {
                let options = StreamOptions { rows, layout: block_layout, convert, ..Default::default() };
                check::<S, T, D, _>(device, &table, indices, options);
            }
            check::<S, T, D, _>(
                device,
                &file,
                indices,
                StreamOptions { rows, layout: block_layout, ..Default::default() },
            );
        }
    }
}

fn check<S: SmallNumber, T: SmallNumber, D: Kernels, R: StreamRows>(
    device: &D,
    table: &R,
    indices: &[usize],
    options: StreamOptions,
) {
    let mut stream = table.stream_rows_at::<T, D>(device, indices, options).unwrap();
    let (mut next, mut copy) = (0, ArrayHandle::<T, D>::empty(device));
    while let Some(block) = stream.next().unwrap() {
        assert_eq!((block.row_range().start, block.data_layout()), (next, options.layout));
        next = block.row_range().end;
        let to = copy.prepare_for_output(block.shape().element_count().unwrap()).unwrap();
        device.convert(block.view(), to, Default::default()).unwrap();
        let (found, chosen) = (copy.read_portal().unwrap(), &indices[block.row_range()]);
        let rows = chosen.len();
        assert_eq!(block.shape(), Shape { rows, columns: COLUMNS });
        let expected: Vec<T> = match options.layout {
            DataLayout::RowMajor => {
                chosen.iter().flat_map(|&row| (0..COLUMNS).map(move |column| number(COLUMNS, row, column))).collect()
            }
            _ => (0..COLUMNS).flat_map(|column| chosen.iter().map(move |&row| number(COLUMNS, row, column))).collect(),
        };
        assert_eq!(found, expected, "{indices:?} {options:?}");
    }
    assert_eq!(next, indices.len());
    assert!(stream.next().unwrap().is_none());
    let stats = stream.finish().unwrap();
    assert_eq!((stats.rows, stats.blocks), (indices.len(), indices.len().div_ceil(options.rows)));
    let different = |block: &[usize]| block.iter().collect::<BTreeSet<_>>().len();
    let rows: usize = indices.chunks(options.rows).map(different).sum();
    let size = match options.convert {
        _ if <D::Memory as ExecutionMemory>::IS_SHARED => 0,
        Convert::Auto => size_of::<S>().min(size_of::<T>()),
        Convert::Control => size_of::<T>(),
        _ => size_of::<S>(),
    };
    assert_eq!(stats.transfers.uploads.bytes, rows * COLUMNS * size, "{indices:?} {options:?}");
}

pub(crate) fn chosen_rows_that_are_refused_are_named<D: Kernels>(device: &D) {
    let mut table = numbered::<f32>(6, 3, DataLayout::RowMajor);
    table.set_value(4, 2, -1.0_f32).unwrap();
    table.set_value(5, 0, -1.0_f32).unwrap();
    for (layout, convert) in
        LAYOUTS.iter().flat_map(|&layout| [Convert::Control, Convert::Execution].map(|c| (layout, c)))
    {
        let options =
            StreamOptions { rows: 3, policy: ConversionPolicy::Checked, layout, convert, ..Default::default() };
        let indices = [0, 1, 0, 5, 4, 5];
        let mut stream = table.stream_rows_at::<u32, D>(device, &indices, options).unwrap();
        stream.next().unwrap();
        for _ in 0..2 {
            let error = stream.next().map(drop).unwrap_err(); // and again: no block is skipped
            assert!(error.to_string().starts_with("the value -1 at row 4, column 2"), "{error}");
        }
    }
    let options = StreamOptions::default();
    for row in [6, usize::MAX] {
        let error = table.stream_rows_at::<u32, D>(device, &[1, row], options).map(drop).unwrap_err();
        assert!(error.to_string().contains("are out of range: the table has 6 rows"), "{error}");
    }
    let none = StreamOptions { rows: 0, ..Default::default() };
    assert!(table.stream_rows_at::<u32, D>(device, &[1], none).is_err());
    let nothing =
        HomogenNumericTable::<f32>::new(Shape { rows: 2, columns: 2 }, AllocationFlag::DoNotAllocate).unwrap();
    assert!(nothing.stream_rows_at::<f32, D>(device, &[1], options).is_err());
    let no_columns = HomogenNumericTable::<f32>::zeros(Shape { rows: 2, columns: 0 }).unwrap();
    let mut stream = no_columns.stream_rows_at::<f32, D>(device, &[1, 1, 0], options).unwrap();
    assert_eq!(stream.next().unwrap().unwrap().shape(), Shape { rows: 3, columns: 0 });
}

pub(crate) fn results_of_unknown_number_grow_up_to_a_bound<D: Kernels>(device: &D) {
    let mut handle = ArrayHandle::<f64, D>::empty(device);
    for (guess, most, count) in
        [(0, 0, 0), (0, 10, 0), (0, 10, 10), (3, 10, 3), (3, 10, 4), (10, 10, 1), (99, 10, 10), (1, usize::MAX, 1000)]
    {
        let (mut calls, mut rooms) = (0, Vec::new());
        let before = device.stats();
        let found = handle.compute_growing(guess, most, |output| {
            calls += 1;
            rooms.push(<D::Memory as ExecutionMemory>::count_mut(&output));
            device.fill(output, calls as f64)?;
            Ok(count)
        });
        assert_eq!((found.unwrap(), handle.len()), (count, count));
        assert!(calls <= 2 && rooms.iter().all(|&room| room <= most), "{rooms:?}");
        assert_eq!(handle.read_portal().unwrap(), vec![calls as f64; count]);
        let downloads = (device.stats() - before).downloads.bytes;
        assert_eq!(downloads, if <D::Memory as ExecutionMemory>::IS_SHARED { 0 } else { 8 * count });
    }
    assert_fault!(handle.compute_growing(1, 10, |_| Ok(11)), HandleError::TooManyValues { have: 11, max: 10 });
    assert_eq!(handle.len(), 0);
    assert_fault!(handle.compute_growing(1, usize::MAX, |_| Ok(usize::MAX)), HandleError::LengthOverflow);
    assert_fault!(handle.compute_growing(1, 10, |_| Err(HandleError::ReadOnly)), HandleError::ReadOnly);
    assert_eq!(handle.compute_growing(2, 2, |output| device.fill(output, 7.0).map(|()| 2)).unwrap(), 2);
    assert_eq!(handle.read_portal().unwrap(), [7.0; 2]);

    for slots in [0, 1, 3] {
        let mut taken = Vec::new();
        let mut results = ResultStream::<i64, D, _>::new(device, 2, slots, |rows, values: &[i64]| {
            assert_eq!((rows.len() * 2, rows.start), (values.len(), taken.len() / 2));
            taken.extend_from_slice(values);
            Ok(())
        });
        let counts = [0, 1, 5, 0, 7, 2];
        let mut first = 0;
        for count in counts {
            results.push_growing(3, 7, |output| device.count_up(output, first, 1).map(|()| count)).unwrap();
            first += 2 * count as i64;
        }
        let refused = results.push_growing(3, 7, |output| device.count_up(output, 0, 1).map(|()| 8));
        assert_fault!(refused, HandleError::TooManyValues { have: 16, max: 14 });
        assert_fault!(results.push_growing(usize::MAX, usize::MAX, |_| Ok(0)), HandleError::LengthOverflow);
        assert_eq!(results.finish().unwrap(), 15);
        drop(results);
        assert_eq!(taken, (0..30).collect::<Vec<_>>());
    }
}
