//! Parts of tables, borrowed as tables.

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, CsrNumericTable, PackedSymmetricMatrix, SoaNumericTable, statistics::BasicStatistics, table::Triangle,
};
use test_support::tables::{LAYOUTS, assert_error, huge, numbered, numbers, shape};

fn mixed() -> SoaNumericTable {
    let columns = [
        ("a", AnyArray::from(vec![1_u8, 2, 3])),
        ("b", vec![10_i64, 20, 30].into()),
        ("c", vec![0.5_f32, 1.5, 2.5].into()),
    ];
    SoaNumericTable::from_columns(columns).unwrap()
}

#[test]
fn columns_are_chosen_by_number_name_and_range_in_any_order() {
    let table = mixed();
    let all = |chosen: Result<numeric_table::MergedNumericTable<'_>, Error>| {
        let chosen = chosen.unwrap();
        (chosen.names().flatten().collect::<String>(), chosen.rows::<f64>(2..).unwrap().to_vec())
    };
    assert_eq!(all(table.select_columns(["c", "a"])), ("ca".to_owned(), vec![2.5, 3.0]));
    assert_eq!(all(table.select_columns(vec!["b".to_owned(), "b".to_owned()])), ("bb".to_owned(), vec![30.0, 30.0]));
    assert_eq!(all(table.select_columns([2, 1, 0])), ("cba".to_owned(), vec![2.5, 30.0, 3.0]));
    assert_eq!(all(table.select_columns(&[0, 1][..])), ("ab".to_owned(), vec![3.0, 30.0]));
    assert_eq!(all(table.select_columns(1..)), ("bc".to_owned(), vec![30.0, 2.5]));
    assert_eq!(all(table.select_columns(..=1)), ("ab".to_owned(), vec![3.0, 30.0]));
    assert_eq!(all(table.drop_columns(["b"])), ("ac".to_owned(), vec![3.0, 2.5]));
    assert_eq!(all(table.drop_columns([2, 0, 2])), ("b".to_owned(), vec![30.0]));
    let types = table.select_columns(["c", "b"]).unwrap();
    assert_eq!((types.column_type(0).unwrap(), types.uniform_type()), (ElementType::F32, None));
    assert!(types.column::<i64>(1, ..).unwrap().is_zero_copy());
    let empty: [usize; 0] = [];
    assert_eq!(table.select_columns(empty).unwrap().shape(), shape(3, 0));
    assert_eq!(table.drop_columns(..).unwrap().shape(), shape(3, 0));
    assert_error!(table.select_columns(["d"]), ErrorKind::UnknownName { what: "column", .. });
    assert_error!(table.select_columns([3]), ErrorKind::ColumnOutOfRange { column: 3, column_count: 3 });
    assert_error!(table.select_columns(1..5), ErrorKind::OutOfRange { what: "columns", .. });
    assert_error!(table.drop_columns(["a", "z"]), ErrorKind::UnknownName { what: "column", .. });
}

#[test]
fn rows_are_those_of_the_table_in_any_layout_and_type() {
    for layout in LAYOUTS {
        let table = numbered::<i16>(7, 3, layout);
        let middle = table.select_rows(2..5).unwrap();
        assert_eq!(middle.rows::<f32>(..).unwrap()[..], numbers::<f32>(3, 2..5));
        assert_eq!(middle.rows::<i16>(1..).unwrap().is_zero_copy(), layout == DataLayout::RowMajor);
        assert!(middle.column::<i16>(1, ..).unwrap().is_zero_copy() || layout == DataLayout::RowMajor);
        assert_eq!(table.head(2).unwrap().rows::<u8>(..).unwrap()[..], numbers::<u8>(3, 0..2));
        assert_eq!(table.tail(2).unwrap().rows::<u8>(..).unwrap()[..], numbers::<u8>(3, 5..7));
        assert_eq!((table.head(99).unwrap().row_count(), table.tail(usize::MAX).unwrap().row_count()), (7, 7));
        assert_error!(table.select_rows(5..8), ErrorKind::RowsOutOfRange { row_count: 7, .. });
        assert_error!(middle.rows::<f32>(1..4), ErrorKind::RowsOutOfRange { row_count: 3, .. });
        let corner = middle.select_columns([2, 0]).unwrap();
        assert_eq!(corner.rows::<f64>(..).unwrap()[..], [9.0, 7.0, 12.0, 10.0, 15.0, 13.0]);
        assert_eq!(BasicStatistics::compute(&corner).unwrap().per_column()[0].mean(), 12.0);
        let kept: Table<f32> = corner.convert().unwrap();
        assert_eq!(kept.as_slice().unwrap(), [9.0, 7.0, 12.0, 10.0, 15.0, 13.0]);
    }
}

#[test]
fn parts_of_parts_end_at_a_limit() {
    let whole = numbered::<u8>(100, 1, DataLayout::RowMajor);
    fn deeper(table: &dyn NumericTable, levels: usize) -> Result<u8, Error> {
        let part = table.select_rows(1..)?;
        if levels == 1 { part.value(0, 0) } else { deeper(&*part, levels - 1) }
    }
    assert_eq!(deeper(&whole, 64).unwrap(), 65);
    assert_error!(
        deeper(&whole, 65),
        ErrorKind::LimitExceeded { what: "levels of tables within tables", limit: 64, .. }
    );
}

#[test]
fn errors_name_places_in_the_part_and_writing_is_refused() {
    let wide = HomogenNumericTable::from_rows(&[[1, 2, 3], [4, 5, 6], [7, 8, 900]]).unwrap();
    let part = wide.select_rows(1..).unwrap();
    let mut part = part.select_columns(1..).unwrap();
    assert_error!(
        part.rows_with::<u8>(.., ConversionPolicy::Checked),
        ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. }
    );
    assert_error!(part.set_value(0, 0, 1), ErrorKind::ReadOnlyTable);
    assert_error!(part.resize(1), ErrorKind::ReadOnlyTable);
}

#[test]
#[cfg_attr(target_pointer_width = "32", ignore = "its numbers need 64 bits")]
fn tables_that_compute_or_store_few_values_have_parts_too() {
    let shape = Shape { rows: 3, columns: huge(40) };
    let values = vec![1.5, 2.5];
    let sparse = CsrNumericTable::try_new(shape, vec![0, 1, 1, 2], vec![7_u64, 1 << 39], values).unwrap();
    let rest = sparse.drop_columns([7]).unwrap();
    assert_eq!(rest.shape().columns, (huge(40)) - 1);
    assert_eq!(rest.value::<f64>(2, (huge(39)) - 1).unwrap(), 2.5);
    let few = sparse.select_columns([huge(39), 7]).unwrap();
    assert_eq!(few.rows::<f32>(..).unwrap()[..], [0.0, 1.5, 0.0, 0.0, 2.5, 0.0]);
    let packed = vec![1, 2, 3, 4, 5, 6];
    let packed = PackedSymmetricMatrix::from_packed(packed, Triangle::Lower, DataLayout::RowMajor).unwrap();
    let part = packed.select_columns([2, 0]).unwrap();
    assert_eq!(part.rows::<i64>(1..).unwrap()[..], [5, 2, 6, 4]);
}
