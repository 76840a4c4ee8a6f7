//! Blocks of every kind of table, in every layout, in the stored type and in others.

use numeric_table::prelude::*;
use numeric_table::table::{BorrowedTable, by_ref};
use numeric_table::{
    AnyArray, AosNumericTable, CsrNumericTable, MergedNumericTable, RowMergedNumericTable, SoaNumericTable, f16,
    impl_record,
};
use numeric_table::{table::RecordLayout, trace::CopyKind};
use test_support::SmallNumber;
use test_support::tables::*;

use super::{NOTHING, copies};
use CopyKind::{Converted, Gathered};
use DataLayout::{ColumnMajor, RowMajor};

const ROWS: usize = 5;
const COLUMNS: usize = 3;

/// A table, and what is in place: rows, and the values of the last column.
struct Case {
    name: &'static str,
    table: Box<dyn NumericTable>,
    are_rows_in_place: bool,
    is_column_in_place: bool,
}

fn case(name: &'static str, table: impl NumericTable + 'static, are_rows: bool, is_column: bool) -> Case {
    Case { name, table: Box::new(table), are_rows_in_place: are_rows, is_column_in_place: is_column }
}

fn array<T: SmallNumber>(column: usize) -> AnyArray {
    AnyArray::from((0..ROWS).map(|row| number::<T>(COLUMNS, row, column)).collect::<Vec<T>>())
}

fn columns<T: SmallNumber>() -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    (0..COLUMNS).for_each(|column| table.push_column(format!("{column}"), array::<T>(column)).unwrap());
    table
}

fn records<T: SmallNumber>() -> AosNumericTable {
    let size = T::TYPE.size_in_bytes();
    let layout = (0..COLUMNS).try_fold(RecordLayout::new(4 * size), |layout, column| {
        layout.field(format!("{column}"), T::TYPE, (column + 1) * size) // with a gap at the beginning
    });
    AosNumericTable::zeros(&layout.unwrap(), ROWS).unwrap()
}

fn sparse<T: SmallNumber>() -> CsrNumericTable {
    let (offsets, indices) = ((0..=ROWS as u64).collect::<Vec<_>>(), vec![1_u64; ROWS]);
    CsrNumericTable::try_new(shape(ROWS, COLUMNS), offsets, indices, T::counting(ROWS as u8)).unwrap()
}

/// Tables of `ROWS` x `COLUMNS` values of one type.
fn cases<T: SmallNumber>() -> Vec<Case> {
    let part = |columns, layout| Box::new(numbered::<T>(ROWS, columns, layout)) as Box<dyn NumericTable>;
    let upper = || Box::new(numbered::<T>(3, COLUMNS, RowMajor)) as Box<dyn NumericTable>;
    let lower = || Box::new(numbered::<T>(ROWS - 3, COLUMNS, RowMajor)) as Box<dyn NumericTable>;
    vec![
        case("row-major", numbered::<T>(ROWS, COLUMNS, RowMajor), true, false),
        case("column-major", numbered::<T>(ROWS, COLUMNS, ColumnMajor), false, true),
        case("columns", columns::<T>(), false, true),
        case("records", records::<T>(), false, false),
        case("sparse", sparse::<T>(), false, false),
        case("side by side", MergedNumericTable::new([part(2, RowMajor), part(1, RowMajor)]).unwrap(), false, true),
        case("end to end", RowMergedNumericTable::new([upper(), lower()]).unwrap(), true, false), // rows of one part
    ]
}

/// Checks all calls that read a region of a table as `U`.
fn check<T: SmallNumber, U: SmallNumber>() {
    let (size, is_stored) = (size_of::<U>() as u64, T::TYPE == U::TYPE);
    let expected = |is_in_place: bool, values: usize| match (is_stored, is_in_place) {
        (true, true) => NOTHING.to_vec(),
        (true, false) => vec![(Gathered, 1, values as u64 * size)],
        (false, _) => vec![(Converted, 1, values as u64 * size)],
    };
    for Case { name, mut table, are_rows_in_place, is_column_in_place } in cases::<T>() {
        let what = format!("{name} of {} as {}", T::TYPE, U::TYPE);
        let (table, rows) = (&mut *table, expected(are_rows_in_place, 2 * COLUMNS));
        let column = expected(is_column_in_place, 4);
        assert_eq!(copies(|| table.rows::<U>(0..2).unwrap().len()), rows, "{what}");
        assert_eq!(copies(|| table.column::<U>(2, 0..4).unwrap().len()), column, "{what}");
        let mut block = BlockDescriptor::<U>::new();
        for _ in 0..2 {
            assert_eq!(copies(|| table.read_rows(0..2, &mut block).unwrap().len()), rows, "{what}");
            let mut get = || table.get_block_of_rows(0, 2, ReadWriteMode::ReadOnly, &mut block).unwrap();
            assert_eq!(copies(&mut get), rows, "{what}");
            table.release_block_of_rows(&mut block).unwrap();
            assert_eq!(copies(|| table.read_column(2, 0..4, &mut block).unwrap().len()), column, "{what}");
        }
        // Blocks of two rows, and of the last one. End to end, rows 2 and 3 are in two parts; the fields of one record
        // are contiguous.
        let each = copies(|| table.row_blocks::<U>(2).unwrap().for_each(|block| drop(block.unwrap())));
        let row = COLUMNS as u64 * size;
        let blocks = match (is_stored, name) {
            (false, _) => vec![(Converted, 3, 5 * row)],
            (true, "row-major") => NOTHING.to_vec(),
            (true, "end to end") => vec![(Gathered, 1, 2 * row)],
            (true, "records") => vec![(Gathered, 2, 4 * row)],
            (true, _) => vec![(Gathered, 3, 5 * row)],
        };
        assert_eq!(each, blocks, "{what}");
        assert_eq!(copies(|| table.rows::<U>(0..0).unwrap().len()), NOTHING, "{what}, no rows");
        assert!(copies_of_refused(table).is_empty(), "{what}");
    }
}

fn copies_of_refused(table: &dyn NumericTable) -> Vec<(CopyKind, u64, u64)> {
    copies(|| assert!(table.rows::<f64>(ROWS - 1..ROWS + 1).is_err() && table.column::<f64>(COLUMNS, ..).is_err()))
}

#[test]
fn blocks_in_the_stored_type_are_in_place_or_gathered_and_others_are_converted() {
    check::<f32, f32>();
    check::<f32, f64>();
    check::<f64, f32>();
    check::<i16, f64>();
    check::<u8, u8>();
    check::<f16, f32>();
    check::<i64, u64>();
    check::<u64, u64>();
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Mixed {
    a: f32,
    b: i32,
    c: f64,
}
impl_record!(Mixed { a: f32, b: i32, c: f64 });

#[test]
fn columns_of_several_types_are_converted_if_one_of_them_has_another_type() {
    let records = vec![Mixed { a: 1.0, b: 2, c: 3.0 }; ROWS];
    let table = AosNumericTable::from_records(records).unwrap();
    assert_eq!(copies(|| table.rows::<f32>(..).unwrap().len()), [(Converted, 1, 60)]);
    assert_eq!(copies(|| table.column::<f32>(0, ..).unwrap().len()), [(Gathered, 1, 20)]); // strided
    assert_eq!(copies(|| table.column::<f64>(1, ..).unwrap().len()), [(Converted, 1, 40)]);
    let mut columns = SoaNumericTable::new();
    columns.push_column("a", array::<f32>(0)).unwrap();
    columns.push_column("b", array::<f32>(1)).unwrap();
    columns.push_column("c", array::<i8>(2)).unwrap();
    assert_eq!(copies(|| columns.select_columns(0..2).unwrap().rows::<f32>(..).unwrap().len()), [(Gathered, 1, 40)]);
    assert_eq!(copies(|| columns.rows::<f32>(1..2).unwrap().len()), [(Converted, 1, 12)]);
    assert_eq!(copies(|| columns.column::<i8>(2, ..).unwrap().len()), NOTHING);
}

#[test]
fn borrowed_tables_clones_and_parts_of_tables_are_read_in_place() {
    let table = numbered::<f32>(ROWS, COLUMNS, RowMajor);
    assert_eq!(copies(|| table.clone()), NOTHING);
    assert_eq!(copies(|| table.array().unwrap().slice(1..4).unwrap()), NOTHING);
    assert_eq!(copies(|| table.head(2).unwrap().rows::<f32>(..).unwrap().len()), NOTHING);
    assert_eq!(copies(|| table.tail(2).unwrap().rows::<f32>(1..).unwrap().len()), NOTHING);
    assert_eq!(copies(|| table.vstack(&[&table]).unwrap().rows::<f32>(ROWS..).unwrap().len()), NOTHING);
    assert_eq!(copies(|| by_ref(&table).rows::<f32>(..).unwrap().len()), NOTHING);
    assert_eq!(copies(|| table.view().unwrap().transposed().column(1).unwrap().len()), NOTHING);
    let values = vec![1_i16; 6];
    let borrowed = BorrowedTable::from(TableView::new(&values, shape(2, 3), RowMajor).unwrap());
    assert_eq!(copies(|| borrowed.rows::<i16>(..).unwrap().len()), NOTHING);
    assert_eq!(copies(|| borrowed.rows::<i8>(..).unwrap().len()), [(Converted, 1, 6)]);
    assert_eq!(copies(|| table.value::<f64>(1, 1).unwrap()), NOTHING); // a single value
}

#[test]
fn a_value_that_the_policy_rejects_is_not_recorded() {
    let table = HomogenNumericTable::from_rows(&[[1.0_f64, 0.5]]).unwrap();
    assert_eq!(copies(|| assert!(table.rows_with::<i8>(.., ConversionPolicy::Exact).is_err())), NOTHING);
    let mut block = BlockDescriptor::<i8>::with_policy(ConversionPolicy::Exact);
    assert_eq!(copies(|| assert!(table.read_rows(.., &mut block).is_err())), NOTHING);
    assert_eq!(copies(|| assert!(table.convert_with::<i8>(ConversionPolicy::Exact).is_err())), NOTHING);
}
