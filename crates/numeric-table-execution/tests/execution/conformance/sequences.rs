//! Values that are not one slice: what is read, and what crosses, against a `Vec`.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use numeric_table::prelude::*;
use numeric_table::table::{TableView, TableViewMut};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::sequence::*;
use numeric_table_execution::*;
use test_support::bits::Random;
use test_support::tables::assert_fault;

const fn is_shared<D: DeviceAdapter>() -> bool {
    <D::Memory as ExecutionMemory>::IS_SHARED
}

/// Returns the values that a kernel sees.
fn seen<T: Element, D: Kernels, C: Container<T>>(device: &D, handle: &ArrayHandle<T, D, C>) -> Vec<T> {
    let mut copy = DeviceArray::<T, D>::allocate(device, handle.len()).unwrap();
    device.convert(handle.prepare_for_input().unwrap(), copy.view_mut().unwrap(), Default::default()).unwrap();
    copy.to_array().unwrap().to_vec()
}

/// Checks the values of a sequence, and the number of bytes that cross to a device with memory of its own.
fn check<S: Sequence, D: Kernels>(device: &D, sequence: &S, expected: &[S::Value], bytes: usize)
where
    S::Value: Debug,
{
    let bytes = if is_shared::<D>() { 0 } else { bytes };
    assert_eq!((sequence.count(), sequence.bytes_to_copy::<D>(expected.len())), (expected.len(), bytes));
    let mut handle = ArrayHandle::from_sequence(device, sequence);
    assert_eq!((handle.len(), handle.is_on_host()), (expected.len(), true));
    let uploaded = |before: TransferStats| (device.stats() - before).uploads.bytes;

    let before = device.stats();
    assert_eq!(seen(device, &handle), expected);
    assert_eq!(uploaded(before), bytes);
    assert_eq!(seen(device, &handle), expected);
    assert_eq!(uploaded(before), bytes, "a copy on the device is kept");
    handle.release_execution().unwrap();
    assert_eq!(handle.is_on_device(), is_shared::<D>());

    // On the control side, nothing crosses.
    let before = device.stats();
    let mut copy = vec![S::Value::default(); expected.len()];
    handle.copy_into(&mut copy).unwrap();
    assert_eq!(copy, expected);
    let places: Vec<usize> = (0..expected.len()).rev().step_by(3).collect();
    let chosen: Vec<_> = places.iter().map(|&place| expected[place]).collect();
    assert_eq!(handle.get_values(&places).unwrap(), chosen);
    assert_eq!(handle.read_portal().unwrap(), expected);
    let mut copy = vec![S::Value::default(); expected.len()];
    handle.copy_to(&mut &mut copy[..]).unwrap();
    assert_eq!((copy, device.stats()), (expected.to_vec(), before));

    // It can only be read.
    assert_fault!(handle.prepare_for_output(expected.len()), HandleError::ReadOnly);
    assert_fault!(handle.prepare_in_place(), HandleError::ReadOnly);
    assert_fault!(handle.write_portal(), HandleError::ReadOnly);
    assert_fault!(handle.release_control(), HandleError::ReadOnly);
    assert_eq!(handle.read_portal().unwrap(), expected);

    // Of fewer values, fewer bytes cross.
    let half = expected.len() / 2;
    let mut handle = ArrayHandle::from_sequence(device, sequence);
    handle.truncate(half);
    let before = device.stats();
    assert_eq!(seen(device, &handle), expected[..half]);
    assert_eq!(uploaded(before), sequence.bytes_to_copy::<D>(half));
    assert_eq!(handle.read_portal().unwrap(), &expected[..half]);
    assert_eq!(handle.into_container().unwrap().values(), &expected[..half]);

    // A container alone does not know what the device can compute.
    let handle = ArrayHandle::from_container(device, Lazy::new(sequence));
    let before = device.stats();
    assert_eq!(seen(device, &handle), expected);
    assert_eq!(uploaded(before), if is_shared::<D>() { 0 } else { size_of_val(expected) });
    handle.into_container().unwrap();
}

pub(crate) fn sequences_cross_as_their_table_says<D: Kernels>(device: &D) {
    for count in [0, 1, 2, 7, 1000, 4097] {
        let numbers: Vec<i32> = (0..count as i32).map(|i| i * 3 - 7).collect();
        let (four, eight) = (4 * count, 8 * count);
        check(device, &&numbers[..], &numbers, four);
        check(device, &numbers, &numbers, four);
        check(device, &numeric_table::Array::from(numbers.clone()), &numbers, four);
        check(device, &Constant::new(1.5_f64, count), &vec![1.5; count], 0);
        let counted: Vec<i64> = (0..count as i64).map(|i| 10 - 3 * i).collect();
        check(device, &Counting::new(10, -3, count).unwrap(), &counted, 0);
        check(device, &FromFn::new(count, |i| numbers[i]), &numbers, four);

        let squares: Vec<f32> = numbers.iter().map(|&number| (number as f32).powi(2)).collect();
        check(device, &Transformed::new(&numbers[..], |number| (number as f32).powi(2)), &squares, four);
        let halves: Vec<f64> = (0..count).map(|i| i as f64 * 0.5).collect();
        let computed = Transformed::new(Counting::indices(count), |index| index as f64 * 0.5);
        check(device, &computed, &halves, if D::RUNS_CLOSURES { 0 } else { eight });

        let wide: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
        check(device, &Cast::<_, f64>::new(&numbers[..]), &wide, four);
        let narrow: Vec<u8> = numbers.iter().map(|&number| number.clamp(0, 255) as u8).collect();
        check(device, &Cast::<_, u8>::new(&numbers[..]), &narrow, count);
        check(
            device,
            &Cast::<_, f32>::new(Counting::indices(count)),
            &(0..count).map(|i| i as f32).collect::<Vec<_>>(),
            0,
        );

        let boxed: Box<dyn Sequence<Value = i32>> = Box::new(Constant::new(7, count));
        check(device, &boxed, &vec![7; count], four);
    }
}

pub(crate) fn arranged_values_cross_alone<D: Kernels>(device: &D) {
    for (rows, columns) in [(1, 1), (7, 1), (1, 7), (5, 3), (1000, 9), (3, 2000)] {
        let values: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
        let shape = Shape { rows, columns };
        let table = TableView::new(&values, shape, DataLayout::RowMajor).unwrap();
        check(device, &table, &values, 4 * values.len());
        for column in [0, columns / 2, columns - 1] {
            let expected: Vec<f32> = values[column..].iter().step_by(columns).copied().collect();
            check(device, &table.slice_columns(column..column + 1).unwrap(), &expected, 4 * rows);
        }
        let turned = table.transposed();
        let expected: Vec<f32> = (0..values.len()).map(|i| values[i % rows * columns + i / rows]).collect();
        check(device, &turned, &expected, 4 * values.len());
        let part = table.slice_columns(columns / 3..columns).unwrap().slice_rows(rows / 3..rows).unwrap();
        let expected: Vec<f32> =
            values[rows / 3 * columns..].chunks(columns).flat_map(|row| &row[columns / 3..]).copied().collect();
        check(device, &part, &expected, 4 * expected.len());

        let cut = values.len() / 3;
        let chunks = vec![&values[..cut], &[], &values[cut..]];
        check(device, &Chunked::new(chunks).unwrap(), &values, 4 * values.len());
        let chunks: Vec<_> = (0..columns).map(|column| table.slice_columns(column..column + 1).unwrap()).collect();
        let expected: Vec<f32> = (0..values.len()).map(|i| values[i % rows * columns + i / rows]).collect();
        check(device, &Chunked::new(chunks.clone()).unwrap(), &expected, 4 * values.len());
        let zipped = Zipped::<_, 3>::new([&values[..], &values, &values]).unwrap();
        let expected: Vec<f32> = values.iter().flat_map(|&value| [value; 3]).collect();
        check(device, &zipped, &expected, 12 * values.len());
    }

    // Eight corners of each cell: the points cross once, with an index of one or two bytes for each.
    let points: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.25).collect();
    let corners: Vec<u8> = (0..8 * 193).map(|i| (i / 8 + i % 8) as u8).collect();
    let expected: Vec<f64> = corners.iter().map(|&corner| points[usize::from(corner)]).collect();
    check(device, &Permuted::new(&points[..], &corners[..]), &expected, 8 * points.len() + corners.len());
    let backwards = Permuted::new(&points[..], Counting::new(199, -1, 200).unwrap());
    check(device, &backwards, &points.iter().rev().copied().collect::<Vec<_>>(), 8 * points.len());
    // A few values of many: only they cross.
    let few = Permuted::new(&points[..], &[3_u32, 3, 199][..]);
    check(device, &few, &[points[3], points[3], points[199]], 24);
    let computed = Permuted::new(Counting::new(5, 2, 100).unwrap(), Cast::<_, u16>::new(Counting::indices(50)));
    check(device, &computed, &(0..50).map(|i| 5 + 2 * i).collect::<Vec<_>>(), 0);
    // Of so many computed values that the device should not have all of them, the chosen ones cross.
    for (count, bytes) in [(1 << 17, 12), ((1 << 17) + 1, 24), (usize::MAX, 24)] {
        let of_many = Permuted::new(Counting::indices(count), &[7_u32, 1 << 16, 7][..]);
        check(device, &of_many, &[7, 1 << 16, 7], bytes);
    }
}

pub(crate) fn columns_of_tables_cross_alone<D: Kernels>(device: &D) {
    let rows: Vec<[i16; 3]> = (0..500).map(|row| [row, -row, row * 7 % 100]).collect();
    let table = HomogenNumericTable::from_rows(&rows).unwrap();
    let turned = table.convert_to::<i16>(DataLayout::ColumnMajor, Default::default()).unwrap();
    let columns = table.to_columns().unwrap();
    let merged = columns.select_columns([2, 0, 1]).unwrap();
    let tables: [(&dyn NumericTable, [usize; 3]); 4] =
        [(&table, [0, 1, 2]), (&turned, [0, 1, 2]), (&columns, [0, 1, 2]), (&merged, [2, 0, 1])];
    for (table, order) in tables {
        for (column, &source) in order.iter().enumerate() {
            let expected: Vec<i16> = rows.iter().map(|row| row[source]).collect();
            check(device, &TableColumn::<i16>::new(table, column).unwrap(), &expected, 1000);
            let expected: Vec<f64> = rows.iter().map(|row| f64::from(row[source])).collect();
            check(device, &TableColumn::<f64>::new(table, column).unwrap(), &expected, 1000);
            let expected: Vec<u8> = rows.iter().map(|row| row[source].clamp(0, 255) as u8).collect();
            check(device, &TableColumn::<u8>::new(table, column).unwrap(), &expected, 500);
        }
        assert!(TableColumn::<u8>::new(table, 3).is_err());
    }
    let no_rows = HomogenNumericTable::<f32>::zeros(Shape { rows: 0, columns: 2 }).unwrap();
    check(device, &TableColumn::<f32>::new(&no_rows, 1).unwrap(), &[], 0);
}

pub(crate) fn large_sequences_are_packed_in_pieces<D: Kernels>(device: &D) {
    const COUNT: usize = (3 << 20) + 77; // more than a piece, and than one thread's share
    let values: Vec<f32> = (0..2 * COUNT).map(|i| i as f32).collect();
    let table = TableView::new(&values, Shape { rows: COUNT, columns: 2 }, DataLayout::RowMajor).unwrap();
    let column = table.slice_columns(1..2).unwrap();
    let expected: Vec<f32> = values[1..].iter().step_by(2).copied().collect();
    let before = device.stats();
    let handle = ArrayHandle::from_sequence(device, column);
    assert!(seen(device, &handle) == expected);
    let uploads = (device.stats() - before).uploads;
    assert_eq!(uploads.bytes, if is_shared::<D>() { 0 } else { 4 * COUNT });
    assert!(handle.read_portal().unwrap() == expected);
    // A long run between short ones is not packed.
    let chunks = Chunked::new(vec![&values[..3], &values[3..COUNT], &values[COUNT..COUNT + 5]]).unwrap();
    assert!(seen(device, &ArrayHandle::from_sequence(device, chunks)) == values[..COUNT + 5]);

    // Results go to a column; the other one is not touched.
    let mut results = ArrayHandle::<f32, D>::empty(device);
    device
        .convert(handle.prepare_for_input().unwrap(), results.prepare_for_output(COUNT).unwrap(), Default::default())
        .unwrap();
    let mut target = vec![-1.0_f32; 2 * COUNT];
    let shape = Shape { rows: COUNT, columns: 2 };
    let view = TableViewMut::new(&mut target, shape, DataLayout::RowMajor).unwrap();
    let before = device.stats();
    results.copy_to(&mut view.slice_columns(0..1).unwrap()).unwrap();
    let downloads = (device.stats() - before).downloads;
    assert_eq!(downloads.bytes, if is_shared::<D>() { 0 } else { 4 * COUNT });
    assert!(target.chunks(2).zip(&expected).all(|(row, &value)| row == [value, -1.0]));
}

pub(crate) fn results_are_scattered<D: Kernels>(device: &D) {
    let mut results = ArrayHandle::<i64, D>::empty(device);
    assert_fault!(results.copy_to(&mut Vec::<&mut [i64]>::new()), HandleError::NoValidData);
    device.count_up(results.prepare_for_output(12).unwrap(), 1, 1).unwrap();
    let mut values = [0_i64; 12];
    let (first, rest) = values.split_at_mut(5);
    let (second, third) = rest.split_at_mut(0);
    results.copy_to(&mut vec![first, second, third]).unwrap();
    assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    for (layout, columns) in
        [(DataLayout::RowMajor, 1..4), (DataLayout::ColumnMajor, 1..4), (DataLayout::RowMajor, 0..3)]
    {
        let mut values = [0_i64; 16];
        let view = TableViewMut::new(&mut values, Shape { rows: 4, columns: 4 }, layout).unwrap();
        let mut part = view.slice_columns(columns.clone()).unwrap();
        assert_fault!(
            results.copy_to(&mut part.reborrow().slice_rows(1..3).unwrap()),
            HandleError::LengthMismatch { have: 12, want: 6 }
        );
        results.copy_to(&mut part).unwrap();
        let table = TableView::new(&values, Shape { rows: 4, columns: 4 }, layout).unwrap();
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let expected = if columns.contains(&column) { (row * 3 + column - columns.start + 1) as i64 } else { 0 };
            assert_eq!(table.value(row, column), Some(expected), "{row} {column}");
        }
        // In parts that begin and end inside of rows.
        let mut copy = [0_i64; 16];
        let view = TableViewMut::new(&mut copy, Shape { rows: 4, columns: 4 }, layout).unwrap();
        let mut part = view.slice_columns(columns).unwrap();
        for (first, values) in [(0, &[1, 2, 3, 4, 5][..]), (5, &[6, 7]), (7, &[]), (7, &[8, 9, 10, 11]), (11, &[12])] {
            part.write(first, values).unwrap();
        }
        assert!(part.write(12, &[1]).is_err() && part.write(usize::MAX, &[1]).is_err());
        assert_eq!(copy, values);
    }
}

pub(crate) fn results_go_to_columns_of_tables<D: Kernels>(device: &D) {
    let rows: Vec<[i16; 3]> = (0..500).map(|row| [row, -row, row * 7 % 100]).collect();
    let table = HomogenNumericTable::from_rows(&rows).unwrap();
    let turned = table.convert_to::<i16>(DataLayout::ColumnMajor, Default::default()).unwrap();
    let columns = table.to_columns().unwrap();
    let mut results = ArrayHandle::<f64, D>::empty(device);
    let counted = ArrayHandle::from_sequence(device, Counting::new(3, 2, 500).unwrap());
    let to = results.prepare_for_output(500).unwrap();
    device.convert(counted.prepare_for_input().unwrap(), to, Default::default()).unwrap();
    let tables: [Box<dyn NumericTable>; 3] = [Box::new(table), Box::new(turned), Box::new(columns)];
    for mut table in tables {
        let before = device.stats();
        results.copy_to(&mut TableColumnMut::new(&mut *table, 1).unwrap()).unwrap();
        let downloads = (device.stats() - before).downloads.bytes;
        assert_eq!(downloads, if is_shared::<D>() { 0 } else { 8 * 500 });
        let expected: Vec<i16> = (0..500).flat_map(|row| [row, 3 + 2 * row, row * 7 % 100]).collect();
        assert_eq!(table.rows::<i16>(..).unwrap()[..], expected);
        let mut column = TableColumnMut::new(&mut *table, 1).unwrap();
        assert!(column.write(499, &[1.0, 2.0]).is_err());
        let error = column.write(7, &[1.0, 1e9]).unwrap_err();
        assert!(error.to_string().contains("at row 8, column 1"), "{error}");
        column.write(499, &[1.0]).unwrap(); // it can be written again
        assert_eq!((table.value::<i16>(7, 1).unwrap(), table.value::<i16>(499, 1).unwrap()), (17, 1));
        assert!(TableColumnMut::<f64>::new(&mut *table, 3).is_err());
    }
}

pub(crate) fn sixteen_threads_read_a_sequence_once<D: Kernels>(device: &D) {
    let reads = std::sync::atomic::AtomicUsize::new(0);
    let values = FromFn::new(1000, |index| {
        reads.fetch_add(1, Relaxed);
        index as i32
    });
    let handle = ArrayHandle::from_sequence(device, values);
    let barrier = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(seen(device, &handle)[999], 999);
            });
        }
    });
    assert_eq!(reads.load(Relaxed), 1000);
    assert_eq!(device.stats().uploads.calls, usize::from(!is_shared::<D>()));
    fn is_shared_between_threads<V: Send + Sync>(_: &V) {}
    is_shared_between_threads(&handle);
}

pub(crate) fn sequences_of_any_length_are_refused_or_read<D: Kernels>(device: &D) {
    let most = usize::MAX;
    let huge = ArrayHandle::from_sequence(device, Constant::new(1.5_f64, most));
    assert_fault!(huge.prepare_for_input(), HandleError::LengthOverflow);
    assert_fault!(huge.read_portal(), HandleError::LengthOverflow);
    assert_eq!(huge.get_values(&[0, most - 1]).unwrap(), [1.5, 1.5]);
    let large = ArrayHandle::from_sequence(device, Constant::new(1.5_f64, isize::MAX as usize / 8));
    let refused = |result: Option<HandleError>| {
        assert!(matches!(result, Some(HandleError::HostAlloc { .. } | HandleError::DeviceAlloc { .. })), "{result:?}");
    };
    if cfg!(target_pointer_width = "64") {
        // With 32 bits, these are 2 GiB, which may be there.
        refused(large.prepare_for_input().err());
        refused(large.read_portal().err());
    }
    let cast = ArrayHandle::from_sequence(device, Cast::<_, u8>::new(Constant::new(1.5_f64, most)));
    assert!(cast.prepare_for_input().is_err() && cast.read_portal().is_err());
    assert_eq!(cast.get_values(&[7]).unwrap(), [1]);
    let counted = ArrayHandle::from_sequence(device, Counting::indices(most));
    assert!(counted.prepare_for_input().is_err() && counted.read_portal().is_err());
    assert_fault!(Counting::new(i64::MAX, 1, 2), HandleError::LengthOverflow);
    assert_fault!(Counting::new(i64::MIN, -1, 2), HandleError::LengthOverflow);
    assert_fault!(Counting::new(0, i64::MAX, most), HandleError::LengthOverflow);
    let ends = Counting::new(i64::MIN, i64::MAX, 3).unwrap();
    assert_eq!(seen(device, &ArrayHandle::from_sequence(device, ends)), [i64::MIN, -1, i64::MAX - 1]);
    assert_fault!(Chunked::new(vec![Constant::new(1_u8, most); 2]), HandleError::LengthOverflow);
    assert_fault!(Zipped::new([Constant::new(1_u8, most); 2]), HandleError::LengthOverflow);
    let unequal = Zipped::new([Constant::new(1_u8, 2), Constant::new(1, 3)]);
    assert_fault!(unequal, HandleError::LengthMismatch { have: 3, want: 2 });
    // A sequence that has fewer values than it says.
    struct Liar;
    impl Sequence for Liar {
        type Value = u8;
        fn count(&self) -> usize {
            10
        }
        fn read(&self, first: usize, target: &mut [u8]) -> Result<(), HandleError> {
            (&[1_u8, 2, 3][..]).read(first, target)
        }
    }
    let liar = ArrayHandle::from_sequence(device, Liar);
    assert!(liar.prepare_for_input().is_err() && liar.read_portal().is_err());
    assert_eq!(liar.get_values(&[2]).unwrap(), [3]);
}

pub(crate) fn refused_values_are_named_on_every_side<D: Kernels>(device: &D) {
    let error = |result: Result<(), HandleError>| result.unwrap_err().to_string();
    fn both<S: Sequence, D: Kernels>(device: &D, sequence: S) -> [Result<(), HandleError>; 2] {
        let handle = ArrayHandle::from_sequence(device, sequence);
        let mut values = vec![S::Value::default(); handle.len()];
        [handle.prepare_for_input().map(drop), handle.copy_into(&mut values)]
    }
    let mut values = vec![1.5_f32; 5000];
    values[4321] = 1e30;
    values[4999] = f32::NAN;
    let fault = "at row 4321, column ";
    for result in both(device, Cast::<_, i64>::with_policy(&values[..], ConversionPolicy::Checked)) {
        let error = error(result);
        assert!(error.contains(&format!("{fault}0 is not representable as i64")), "{error}");
    }
    for result in both(device, Cast::<_, i16>::with_policy(&values[..], ConversionPolicy::Checked)) {
        let error = error(result);
        assert!(error.contains(&format!("{fault}0 is not representable as i16")), "{error}");
    }
    let table = HomogenNumericTable::from_rows(&values.iter().map(|&value| [0.0, value]).collect::<Vec<_>>()).unwrap();
    for result in both(device, TableColumn::<i64>::with_policy(&table, 1, ConversionPolicy::Checked).unwrap()) {
        let error = error(result);
        assert!(error.contains(&format!("{fault}1 is not representable as i64")), "{error}");
    }
    let points = [1.5_f64, 2.5];
    let mut corners = vec![1_i8; 1000];
    (corners[700], corners[900]) = (2, -1);
    for result in both(device, Permuted::new(&points[..], &corners[..])) {
        // The side decides what is checked first: all indices, or one after another.
        let error = error(result);
        let expected = ["index 2 is out of range: there are 2 elements", "the value -1 at row 900"];
        assert!(expected.iter().any(|expected| error.starts_with(expected)), "{error}");
    }
    corners[900] = 0;
    for result in both(device, Permuted::new(&points[..], &corners[..])) {
        assert_eq!(error(result), "index 2 is out of range: there are 2 elements");
    }
    let far = [u64::MAX, 5];
    for result in both(device, Permuted::new(&points[..], &far[..])) {
        let expected = format!("elements {0}..{0} are out of range", usize::MAX); // with 32 bits, the largest index
        let error = error(result);
        assert!(error.starts_with(&expected), "{error}");
    }
    // The kernel itself, with lengths that do not match.
    let input = ArrayHandle::from_container(device, vec![1_u16, 2, 3]);
    let indices = ArrayHandle::from_container(device, vec![2_u64, 0]);
    let mut output = ArrayHandle::<u16, D>::empty(device);
    let mut gather = |count| {
        let output = output.prepare_for_output(count).unwrap();
        device.gather(input.prepare_for_input().unwrap(), indices.prepare_for_input().unwrap(), output)
    };
    assert_fault!(gather(3), HandleError::LengthMismatch { have: 3, want: 2 });
    gather(2).unwrap();
    assert_eq!(output.read_portal().unwrap(), [3, 1]);
}

pub(crate) fn a_closure_that_panics_leaves_the_handle_as_it_was<D: Kernels>(device: &D) {
    fn check<S: Sequence, D: Kernels>(device: &D, panics: &AtomicBool, sequence: S, expected: &[S::Value])
    where
        S::Value: Debug,
    {
        let handle = ArrayHandle::from_sequence(device, sequence);
        panics.store(true, Relaxed);
        assert!(catch_unwind(AssertUnwindSafe(|| handle.prepare_for_input().map(drop))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| handle.read_portal().map(drop))).is_err());
        assert!(!handle.is_on_device() || is_shared::<D>());
        panics.store(false, Relaxed);
        assert_eq!(seen(device, &handle), expected);
        assert_eq!(handle.read_portal().unwrap(), expected);
    }
    let panics = AtomicBool::new(false);
    let value = |index: i64| {
        assert!(index != 77 || !panics.load(Relaxed), "on purpose");
        index as f32
    };
    let expected: Vec<f32> = (0..300).map(|index| index as f32).collect();
    check(device, &panics, FromFn::new(300, |index| value(index as i64)), &expected);
    check(device, &panics, Transformed::new(Counting::indices(300), value), &expected);
}

pub(crate) fn random_sequences_are_those_of_a_model<D: Kernels>(device: &D) {
    let mut random = Random::new(29);
    for _ in 0..60 {
        let (rows, columns) = (random.below(40) + 1, random.below(5) + 1);
        let values: Vec<i16> = (0..rows * columns).map(|_| random.next() as i16).collect();
        let table = TableView::new(&values, Shape { rows, columns }, DataLayout::RowMajor).unwrap();
        // Parts of some columns, end to end.
        let (mut chunks, mut chained) = (Vec::new(), Vec::new());
        for _ in 0..random.below(4) + 1 {
            let (column, first) = (random.below(columns), random.below(rows));
            let end = first + random.below(rows - first + 1);
            chunks.push(table.slice_columns(column..column + 1).unwrap().slice_rows(first..end).unwrap());
            chained.extend((first..end).map(|row| values[row * columns + column]));
        }
        let chunks = Chunked::new(chunks).unwrap();
        check(device, &chunks, &chained, 2 * chained.len());
        let indices: Vec<u32> = match chained.len() {
            0 => Vec::new(),
            count => (0..random.below(200)).map(|_| random.below(count) as u32).collect(),
        };
        let chosen: Vec<i16> = indices.iter().map(|&index| chained[index as usize]).collect();
        let permuted = Permuted::new(&chunks, &indices[..]);
        check(device, &permuted, &chosen, 2 * chosen.len());
        let wide: Vec<f64> = chosen.iter().map(|&value| f64::from(value)).collect();
        let both = 2 * chained.len() + 4 * indices.len();
        check(device, &Cast::<_, f64>::new(&permuted), &wide, 2 * chosen.len());
        let wide_first = Permuted::new(Cast::<_, f64>::new(&chunks), &indices[..]);
        check(device, &wide_first, &wide, both.min(8 * indices.len()));
        let changed: Vec<f64> = wide.iter().map(|value| value * 0.5 + 1.0).collect();
        let there = if D::RUNS_CLOSURES { both.min(8 * indices.len()) } else { 8 * indices.len() };
        check(device, &Transformed::new(&wide_first, |value| value * 0.5 + 1.0), &changed, there);
        let pairs: Vec<f64> = changed.iter().zip(&wide).flat_map(|(&one, &other)| [one, other]).collect();
        let parts: [&dyn Sequence<Value = f64>; 2] = [&&changed[..], &wide_first];
        check(device, &Zipped::new(parts).unwrap(), &pairs, 16 * wide.len());
    }
}
