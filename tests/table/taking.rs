//! Rows in another order: taken by number, by flag, sorted.

use numeric_table::prelude::*;
use numeric_table::table::{by_ref, spi::TableKind};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, PackedSymmetricMatrix, SoaNumericTable, bf16, f16,
    table::{RecordLayout, Triangle},
};
use test_support::tables::{LAYOUTS, assert_error, numbered, shape};
use test_support::{SmallNumber, for_each_element};

fn soa() -> SoaNumericTable {
    let columns = [
        ("a", AnyArray::from(vec![1_u8, 2, 3])),
        ("b", vec![1_i64 << 60, -1, 7].into()),
        ("c", vec![0.5_f32; 3].into()),
    ];
    SoaNumericTable::from_columns(columns).unwrap()
}

/// Takes rows, and compares them with those that the table has, bit for bit.
fn check(table: &dyn NumericTable, rows: &[usize]) -> Box<dyn NumericTable> {
    let taken = table.take_rows(rows).unwrap();
    assert_eq!((taken.shape(), taken.dictionary()), (shape(rows.len(), table.column_count()), table.dictionary()));
    for (index, &row) in rows.iter().enumerate() {
        let [found, expected] =
            [(&*taken, index), (table, row)].map(|(table, row)| table.rows::<f64>(row..row + 1).unwrap().to_vec());
        assert_eq!(bytemuck::cast_slice::<f64, u64>(&found), bytemuck::cast_slice::<f64, u64>(&expected), "{row}");
    }
    taken
}

const ORDERS: [&[usize]; 5] = [&[], &[2], &[2, 0, 1], &[1, 1, 1, 1], &[0, 2, 2, 0]];

#[test]
fn rows_of_every_kind_and_type_are_taken_in_any_order() {
    fn of_type<T: SmallNumber>() {
        for (layout, rows) in LAYOUTS.into_iter().flat_map(|layout| ORDERS.map(|rows| (layout, rows))) {
            let table = numbered::<T>(3, 4, layout);
            let taken = check(&table, rows);
            assert_eq!((taken.kind(), taken.uniform_type()), (TableKind::HOMOGENEOUS, Some(T::TYPE)));
            assert!(taken.data_layout() == layout || rows.is_empty());
            check(&*table.select_rows(..).unwrap(), rows);
            check(&table.select_columns([3, 1]).unwrap(), rows);
        }
    }
    for_each_element!(of_type);
    let layout =
        RecordLayout::new(16).field("x", ElementType::F64, 8).unwrap().field("n", ElementType::U16, 2).unwrap();
    let mut records = AosNumericTable::zeros(&layout, 3).unwrap();
    records.set_value(1, 0, 2.5).unwrap();
    let sparse = CsrNumericTable::try_new(shape(3, 4), vec![0, 1, 1, 2], vec![3, 0], vec![1.5_f32, 2.5]).unwrap();
    let packed = vec![1, 2, 3, 4, 5, 6];
    let packed = PackedSymmetricMatrix::from_packed(packed, Triangle::Upper, DataLayout::RowMajor).unwrap();
    let boxes: [Box<dyn NumericTable>; 2] = [Box::new(soa()), Box::new(numbered::<f16>(3, 2, DataLayout::ColumnMajor))];
    let merged = MergedNumericTable::new(boxes).unwrap();
    for rows in ORDERS {
        assert_eq!(check(&soa(), rows).kind(), TableKind::STRUCTURE_OF_ARRAYS);
        check(&records, rows);
        check(&sparse, rows);
        check(&packed, rows);
        check(&merged, rows);
    }
    let taken = soa().take_rows(&[0]).unwrap();
    assert_eq!(taken.value::<i64>(0, 1).unwrap(), 1 << 60); // never through a float
}

#[test]
fn many_rows_are_taken_by_several_threads() {
    for layout in LAYOUTS {
        let count = 400_000;
        let place = |row: usize, column: usize| (row * 3 + column) as u32;
        let table = HomogenNumericTable::from_fn(shape(count, 3), place).unwrap().to_layout(layout).unwrap();
        let rows = (0..count).map(|row| (row * 7919) % count).collect::<Vec<_>>();
        let taken = table.take_rows(&rows).unwrap();
        let block = taken.rows::<u32>(..).unwrap();
        for (&row, values) in rows.iter().zip(block.iter_rows()) {
            assert_eq!(values, [0, 1, 2].map(|column| place(row, column)));
        }
    }
}

#[test]
fn rows_are_kept_by_their_flags() {
    let table = soa();
    let kept = table.filter_rows(&[true, false, true]).unwrap();
    assert_eq!(kept.column::<u8>(0, ..).unwrap()[..], [1, 3]);
    assert_eq!(table.filter_rows(&[false; 3]).unwrap().shape(), shape(0, 3));
    assert_error!(table.filter_rows(&[true; 2]), ErrorKind::LengthMismatch { expected: 3, actual: 2 });
}

/// Sorts a column of some values, each several times, and compares the order with that of the values: NaN last.
fn assert_sorted<T: Element>(values: &[T]) {
    let column: Vec<T> = (0..5 * values.len()).map(|row| values[(row * 7 + row / 3) % values.len()]).collect();
    let mut expected: Vec<usize> = (0..column.len()).collect();
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    expected.sort_by(|&one, &other| {
        let (one, other) = (column[one], column[other]);
        one.partial_cmp(&other).unwrap_or_else(|| is_nan(one).cmp(&is_nan(other)))
    });
    let places = (0..column.len() as u32).collect::<Vec<_>>();
    let columns = [("key", AnyArray::from(column)), ("place", AnyArray::from(places))];
    let sorted = SoaNumericTable::from_columns(columns).unwrap().sort_by("key").unwrap();
    let places = sorted.column_named::<u64>("place", ..).unwrap();
    assert!(places.iter().map(|&place| place as usize).eq(expected), "{}", T::TYPE);
}

#[test]
fn values_of_every_type_are_sorted_as_their_type_orders_them() {
    assert_sorted(&[
        f64::NAN,
        1.0,
        -0.0,
        0.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
        -5e-324,
        f64::MAX,
        -f64::NAN,
    ]);
    assert_sorted(&[f32::NAN, 1.5, -0.0, 0.0, f32::MIN, f32::MAX, f32::INFINITY, 1e-45, -1e-45]);
    assert_sorted(&[f16::NAN, f16::MAX, f16::MIN, f16::NEG_ZERO, f16::ZERO, f16::INFINITY, f16::ONE]);
    assert_sorted(&[bf16::NAN, bf16::MAX, bf16::MIN, bf16::NEG_ZERO, bf16::ZERO, bf16::NEG_INFINITY, bf16::ONE]);
    assert_sorted(&[i64::MIN, i64::MAX, i64::MAX - 1, -1, 0, 1, i64::MIN + 1]);
    assert_sorted(&[u64::MAX, u64::MAX - 1, 0, 1, 1 << 63, (1 << 63) - 1]);
    assert_sorted(&[i32::MIN, i32::MAX, -1, 0]);
    assert_sorted(&[u32::MAX, 0, 1 << 31]);
    assert_sorted(&[i16::MIN, i16::MAX, -1, 0]);
    assert_sorted(&[u16::MAX, 0, 1 << 15]);
    assert_sorted(&[i8::MIN, i8::MAX, -1, 0]);
    assert_sorted(&[u8::MAX, 0, 1 << 7]);
}

#[test]
fn rows_are_sorted_by_what_is_stored_and_equal_ones_stay_in_order() {
    let big = 1_i64 << 53;
    let columns = [("key", AnyArray::from(vec![big + 1, -1, big, big + 1])), ("place", vec![0_u8, 1, 2, 3].into())];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    let places = |table: Box<dyn NumericTable>| table.column::<u8>(1, ..).unwrap().to_vec();
    assert_eq!(places(table.sort_by("key").unwrap()), [1, 2, 0, 3]);
    let floats = [f64::NAN, 0.0, f64::INFINITY, -0.0, f64::NEG_INFINITY, f64::from_bits(0xFFF8_0000_0000_0001), 1e-300];
    let columns = [("key", AnyArray::from(floats.to_vec())), ("place", (0_u8..7).collect::<Vec<_>>().into())];
    let table = SoaNumericTable::from_columns(columns).unwrap();
    assert_eq!(places(table.sort_by(0).unwrap()), [4, 1, 3, 6, 2, 0, 5]);
    assert_error!(table.sort_by("kay"), ErrorKind::UnknownName { what: "column", .. });
    assert_error!(table.sort_by(2), ErrorKind::ColumnOutOfRange { .. });
}

#[test]
fn rows_that_do_not_exist_are_errors_and_rows_without_columns_are_rows() {
    let table = numbered::<u8>(3, 2, DataLayout::RowMajor);
    assert_error!(table.take_rows(&[0, 3, 9]), ErrorKind::RowsOutOfRange { rows, row_count: 3 } if *rows == (3..4));
    assert_error!(table.take_rows(&[usize::MAX]), ErrorKind::RowsOutOfRange { .. });
    let none = numbered::<u8>(3, 0, DataLayout::RowMajor);
    assert_eq!(none.take_rows(&[2, 2, 2, 0]).unwrap().shape(), shape(4, 0));
    let unset = Table::<f32>::new(shape(2, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(unset.take_rows(&[1]), ErrorKind::NotAllocated);
    let wide = HomogenNumericTable::<u8>::zeros(shape(1, 3)).unwrap();
    let wide = MergedNumericTable::new((0..40).map(|_| by_ref(&wide))).unwrap();
    assert_error!(wide.take_rows(&[0, 0, 1]), ErrorKind::RowsOutOfRange { rows, .. } if *rows == (1..2));
}
