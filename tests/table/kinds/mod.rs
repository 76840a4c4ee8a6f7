//! Kinds of tables: one suite that all of them pass, and what each has of its own.

#[cfg(target_pointer_width = "64")] // 32 bits align `f64` to 4
mod aos;
mod borrowed_values;
mod chunked;
mod conformance;
mod csr;
mod csr_dense;
mod csr_hostile;
mod csr_life;
mod gaps;
mod merged;
mod packed;
mod saving;
mod soa;
mod square;

use numeric_table::prelude::*;
use numeric_table::table::{by_mut, by_ref, records_mut, spi::TableKind};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, RowMergedNumericTable, SoaNumericTable, bf16, f16,
    impl_record,
    table::{BorrowedTableMut, RecordLayout},
};
use test_support::SmallNumber;
use test_support::tables::{number, numbered, shape};

use super::custom::{ramp::Ramp, stacked::Stacked};
use conformance::{COLUMNS, ROWS, conformance};

type Boxed = Box<dyn NumericTable>;

/// Some columns of the table that the suite asks for, of one type: homogeneous.
fn part<T: SmallNumber>(rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, layout: DataLayout) -> Boxed {
    let size = shape(rows.len(), columns.len());
    let place = |row: usize, column: usize| number::<T>(COLUMNS, rows.start + row, columns.start + column);
    let values: Vec<T> = match layout {
        DataLayout::RowMajor => {
            (0..size.rows * size.columns).map(|i| place(i / size.columns, i % size.columns)).collect()
        }
        _ => (0..size.rows * size.columns).map(|i| place(i % size.rows, i / size.rows)).collect(),
    };
    Box::new(HomogenNumericTable::from_array_with_layout(values, size, layout).unwrap())
}

/// A column of the table that the suite asks for.
fn column<T: SmallNumber>(column: usize) -> AnyArray {
    AnyArray::from((0..ROWS).map(|row| number::<T>(COLUMNS, row, column)).collect::<Vec<T>>())
}

fn structure_of_arrays() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    for (name, array) in [
        ("a", column::<f32>(0)),
        ("b", column::<u8>(1)),
        ("c", column::<f64>(2)),
        ("d", column::<i16>(3)),
        ("e", column::<f16>(4)),
    ] {
        table.push_column(name, array).unwrap();
    }
    table
}

/// Five types, and padding between them.
#[derive(Clone, Copy)]
#[repr(C, align(8))] // 32 bits align `f64` to 4
struct Mixed {
    a: f32,
    b: u8,
    c: f64,
    d: i16,
    e: f16,
}
impl_record!(Mixed { a: f32, b: u8, c: f64, d: i16, e: f16 });

#[derive(Clone, Copy)]
struct Wide {
    values: [i32; COLUMNS],
}
impl_record!(Wide { values });

fn mixed_records() -> Vec<Mixed> {
    fn at<T: SmallNumber>(row: usize, column: usize) -> T {
        number(COLUMNS, row, column)
    }
    (0..ROWS).map(|row| Mixed { a: at(row, 0), b: at(row, 1), c: at(row, 2), d: at(row, 3), e: at(row, 4) }).collect()
}

fn wide_records() -> Vec<Wide> {
    (0..ROWS).map(|row| Wide { values: std::array::from_fn(|column| number(COLUMNS, row, column)) }).collect()
}

/// Records known at run time: columns out of the order of their offsets, bytes that nobody uses, in groups of two.
fn records_by_layout() -> AosNumericTable {
    let places = [24, 0, 4, 32, 16];
    let types = [ElementType::F64, ElementType::U16, ElementType::U16, ElementType::I64, ElementType::Bf16];
    let layout = types.into_iter().zip(places).try_fold(RecordLayout::new(48), |layout, (element, offset)| {
        layout.field(format!("at {offset}"), element, offset)
    });
    let mut table = AosNumericTable::zeros(&layout.unwrap(), ROWS).unwrap();
    table
        .update_rows::<u8, _>(.., |block| {
            block.copy_from_slice(&test_support::tables::numbers(COLUMNS, 0..ROWS));
            Ok(())
        })
        .unwrap();
    table
}

/// Bytes whose fields are not aligned: they have been copied.
fn packed_records() -> AosNumericTable {
    let layout = RecordLayout::new(19).field("a", ElementType::U8, 0).unwrap();
    let layout = layout.array("b", ElementType::F64, 1, 2).unwrap();
    let layout = layout.array("c", ElementType::U8, 17, 2).unwrap();
    let record = |row: usize| {
        let at = |column: usize| number::<u8>(COLUMNS, row, column);
        let floats = [at(1), at(2)].map(|value| f64::from(value).to_ne_bytes());
        [&[at(0)][..], &floats[0], &floats[1], &[at(3), at(4)]].concat()
    };
    let bytes = (0..ROWS).flat_map(record).collect::<Vec<u8>>();
    AosNumericTable::from_record_bytes(bytes, &layout).unwrap()
}

fn merged() -> MergedNumericTable<'static> {
    let soa = SoaNumericTable::from_columns([("c", column::<u64>(2)), ("d", column::<f32>(3))]).unwrap();
    MergedNumericTable::new([
        part::<f32>(0..ROWS, 0..2, DataLayout::RowMajor),
        Box::new(soa),
        part::<i8>(0..ROWS, 5..5, DataLayout::RowMajor), // no columns
        part::<bf16>(0..ROWS, 4..5, DataLayout::ColumnMajor),
    ])
    .unwrap()
}

fn row_merged() -> RowMergedNumericTable<'static> {
    RowMergedNumericTable::new([
        part::<i32>(0..3, 0..COLUMNS, DataLayout::RowMajor),
        part::<i32>(3..3, 0..COLUMNS, DataLayout::RowMajor), // no rows
        part::<i32>(3..4, 0..COLUMNS, DataLayout::ColumnMajor),
        part::<i32>(4..ROWS, 0..COLUMNS, DataLayout::ColumnMajor),
    ])
    .unwrap()
}

/// Tables end to end, of tables side by side, of a structure of arrays and a table of the user's own.
fn nested() -> RowMergedNumericTable<'static> {
    let rows = |first: u8| [0, 1].map(|column| u8::small(first + column));
    let number_of = |row: usize| (row * COLUMNS + 1) as u8;
    let head = HomogenNumericTable::from_rows(&[rows(number_of(0)), rows(number_of(1))]).unwrap();
    let tail = HomogenNumericTable::from_rows(&[rows(number_of(2)), rows(number_of(3))]).unwrap();
    let mut soa = SoaNumericTable::new();
    for index in 2..COLUMNS {
        soa.push_column("", column::<i64>(index)).unwrap();
    }
    soa.resize(4).unwrap();
    let upper = MergedNumericTable::new([Box::new(Stacked::new(head, tail)) as Boxed, Box::new(soa)]).unwrap();
    let lower = MergedNumericTable::new([
        part::<u8>(4..ROWS, 0..2, DataLayout::ColumnMajor),
        part::<i64>(4..ROWS, 2..COLUMNS, DataLayout::RowMajor),
    ])
    .unwrap();
    RowMergedNumericTable::new([Box::new(upper) as Boxed, Box::new(lower)]).unwrap()
}

/// Sparse, with every cell stored, so that every cell can be written.
fn all_stored() -> CsrNumericTable {
    let offsets = (0..=ROWS).map(|row| (row * COLUMNS) as u64).collect::<Vec<_>>();
    let indices = (0..ROWS * COLUMNS).map(|at| (at % COLUMNS) as i32).collect::<Vec<_>>();
    let values = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| number::<i16>(COLUMNS, row, column)));
    CsrNumericTable::try_new(shape(ROWS, COLUMNS), offsets, indices, values.collect::<Vec<_>>()).unwrap()
}

/// The same as some rows of a larger table, in a float type.
fn slice_of_all_stored() -> CsrNumericTable {
    let rows = |row: usize| if row == 0 { [f16::small(99); COLUMNS] } else { row_of(row - 1) };
    let dense = HomogenNumericTable::from_rows(&(0..ROWS + 2).map(rows).collect::<Vec<_>>()).unwrap();
    CsrNumericTable::from_dense::<f16>(&dense).unwrap().slice_rows(1..=ROWS).unwrap()
}

fn row_of(row: usize) -> [f16; COLUMNS] {
    std::array::from_fn(|column| number::<f16>(COLUMNS, row, column))
}

fn homogeneous(layout: DataLayout) -> Boxed {
    Box::new(numbered::<i16>(ROWS, COLUMNS, layout))
}

/// Lends a value for ever. Its address stays known, so that nobody takes it for a leak.
fn kept<T>(value: T) -> &'static mut T {
    static ADDRESSES: std::sync::Mutex<Vec<usize>> = std::sync::Mutex::new(Vec::new());
    let value = Box::leak(Box::new(value));
    ADDRESSES.lock().unwrap().push(std::ptr::from_mut(value).expose_provenance());
    value
}

conformance!(homogeneous_by_rows: HOMOGENEOUS, resizes: true, || homogeneous(DataLayout::RowMajor));
conformance!(homogeneous_by_columns: HOMOGENEOUS, resizes: true, || homogeneous(DataLayout::ColumnMajor));
conformance!(structure_of_arrays_of_five_types: STRUCTURE_OF_ARRAYS, resizes: true, || {
    Box::new(structure_of_arrays()) as Boxed
});
conformance!(structure_of_arrays_of_one_type: STRUCTURE_OF_ARRAYS, resizes: true, || {
    let columns = (0..COLUMNS).map(|index| ("", column::<i16>(index)));
    Box::new(SoaNumericTable::from_columns(columns).unwrap()) as Boxed
});
conformance!(array_of_structures_of_five_types: ARRAY_OF_STRUCTURES, resizes: true, || {
    Box::new(AosNumericTable::from_records(mixed_records()).unwrap()) as Boxed
});
conformance!(array_of_structures_of_one_piece: ARRAY_OF_STRUCTURES, resizes: true, || {
    Box::new(AosNumericTable::from_records(wide_records()).unwrap()) as Boxed
});
conformance!(array_of_structures_by_layout: ARRAY_OF_STRUCTURES, resizes: true, || {
    Box::new(records_by_layout()) as Boxed
});
conformance!(array_of_structures_packed: ARRAY_OF_STRUCTURES, resizes: true, || Box::new(packed_records()) as Boxed);
conformance!(array_of_structures_shared: ARRAY_OF_STRUCTURES, resizes: true, || {
    Box::new(kept(records_by_layout()).clone()) as Boxed
});
conformance!(borrowed_records: CUSTOM, saved: STRUCTURE_OF_ARRAYS, resizes: false, || {
    records_mut(&mut kept(mixed_records())[..])
});
conformance!(side_by_side: MERGED, saved: STRUCTURE_OF_ARRAYS, resizes: false, || Box::new(merged()) as Boxed);
conformance!(side_by_side_of_one_type: MERGED, saved: HOMOGENEOUS, resizes: false, || {
    let soa = SoaNumericTable::from_columns([("c", column::<i16>(2)), ("d", column::<i16>(3))]).unwrap();
    let [left, right] = [DataLayout::RowMajor, DataLayout::ColumnMajor];
    Box::new(
        MergedNumericTable::new([
            part::<i16>(0..ROWS, 0..0, left), // no columns
            part::<i16>(0..ROWS, 0..2, left),
            Box::new(soa),
            part::<i16>(0..ROWS, 4..5, right),
        ])
        .unwrap(),
    ) as Boxed
});
conformance!(end_to_end: ROW_MERGED, saved: HOMOGENEOUS, resizes: false, || Box::new(row_merged()) as Boxed);
conformance!(end_to_end_of_side_by_side: ROW_MERGED, saved: STRUCTURE_OF_ARRAYS, resizes: false, || {
    Box::new(nested()) as Boxed
});
conformance!(sparse_rows: CSR, resizes: true, || Box::new(all_stored()) as Boxed);
conformance!(some_sparse_rows: CSR, resizes: true, || Box::new(slice_of_all_stored()) as Boxed);
conformance!(borrowed: CUSTOM, saved: HOMOGENEOUS, resizes: false, || {
    by_mut(kept(numbered::<i16>(ROWS, COLUMNS, DataLayout::RowMajor)))
});
conformance!(borrowed_values_by_rows: CUSTOM, saved: HOMOGENEOUS, resizes: false, || {
    Box::new(BorrowedTableMut::from(kept(numbered::<i16>(ROWS, COLUMNS, DataLayout::RowMajor)).view_mut().unwrap()))
        as Boxed
});
conformance!(borrowed_values_by_columns: CUSTOM, saved: HOMOGENEOUS, resizes: false, || {
    Box::new(BorrowedTableMut::from(kept(numbered::<i16>(ROWS, COLUMNS, DataLayout::ColumnMajor)).view_mut().unwrap()))
        as Boxed
});
conformance!(borrowed_values_of_a_larger_table: CUSTOM, saved: HOMOGENEOUS, resizes: false, || {
    let larger = kept(HomogenNumericTable::<i16>::zeros(shape(ROWS + 2, COLUMNS + 3)).unwrap());
    let values = larger.view_mut().unwrap().slice_rows(1..=ROWS).unwrap().slice_columns(2..2 + COLUMNS).unwrap();
    let mut table = BorrowedTableMut::from(values);
    for (row, column) in (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column))) {
        table.set_value(row, column, number::<i16>(COLUMNS, row, column)).unwrap();
    }
    Box::new(table) as Boxed
});
#[cfg(feature = "ndarray")]
conformance!(a_strided_view_of_ndarray: CUSTOM, saved: HOMOGENEOUS, resizes: false, || {
    // Neither stride is one.
    let larger = kept(HomogenNumericTable::<i16>::zeros(shape(COLUMNS * 3, ROWS * 2)).unwrap());
    let array = larger.view_mut().unwrap().into_ndarray().unwrap();
    let mut array = array.slice_move(ndarray::s![1..;3, ..;2]).reversed_axes();
    for ((row, column), value) in array.indexed_iter_mut() {
        *value = number(COLUMNS, row, column);
    }
    Box::new(BorrowedTableMut::try_from(array).unwrap()) as Boxed
});
conformance!(of_the_user: CUSTOM, saved: HOMOGENEOUS, resizes: true, || {
    let rows = |rows: std::ops::Range<usize>| {
        let place = |row: usize, column: usize| number::<u8>(COLUMNS, rows.start + row, column);
        HomogenNumericTable::from_fn(shape(rows.len(), COLUMNS), place).unwrap()
    };
    Box::new(Stacked::new(rows(0..2), rows(2..ROWS))) as Boxed
});

#[test]
fn a_table_that_computes_its_values_is_read_as_a_part_of_others() {
    let ramp = Ramp::new(shape(3, 2)); // 0, 1 | 2, 3 | 4, 5
    let values = HomogenNumericTable::from_rows(&[[0.5_f32], [1.5], [2.5]]).unwrap();
    let side_by_side = MergedNumericTable::new([by_ref(&values), by_ref(&ramp), by_ref(&values)]).unwrap();
    assert_eq!(side_by_side.rows::<f64>(1..).unwrap()[..], [1.5, 2.0, 3.0, 1.5, 2.5, 4.0, 5.0, 2.5]);
    assert_eq!(side_by_side.column::<i32>(2, ..).unwrap()[..], [1, 3, 5]);
    let end_to_end = RowMergedNumericTable::new([by_ref(&ramp), by_ref(&ramp)]).unwrap();
    assert_eq!(end_to_end.rows::<u8>(2..5).unwrap()[..], [4, 5, 0, 1, 2, 3]);
    let mut block = BlockDescriptor::<i8>::with_policy(ConversionPolicy::Exact);
    assert_eq!(end_to_end.read_rows(1..4, &mut block).unwrap(), [2, 3, 4, 5, 0, 1]);
}
