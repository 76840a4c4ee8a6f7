//! Sparse tables without memory, and with arrays that are replaced.

use numeric_table::prelude::*;
use numeric_table::table::{CsrParts, Rejected};
use numeric_table::{Array, CsrNumericTable};
use test_support::tables::*;

use MemoryStatus::{InternallyAllocated, NotAllocated, UserAllocated};

fn named(columns: usize) -> DataDictionary {
    (0..columns).map(|column| Feature::new(ElementType::F32).named(format!("column {column}"))).collect()
}

fn state(table: &CsrNumericTable) -> (usize, usize, MemoryStatus) {
    (table.row_count(), table.nnz(), table.data_memory_status())
}

#[test]
fn a_table_without_memory_has_columns_and_no_rows() {
    for columns in [0, 1, 4] {
        let table = CsrNumericTable::from_dictionary::<f32>(named(columns)).unwrap();
        assert_eq!((table.shape(), state(&table)), (shape(0, columns), (0, 0, NotAllocated)));
        assert_eq!((table.dictionary(), table.values().element_type()), (&named(columns), ElementType::F32));
        assert!(table.rows::<f64>(..).unwrap().is_empty());
        assert_error!(table.rows::<f64>(0..1), ErrorKind::RowsOutOfRange { .. });
        assert_error!(table.sparse_rows::<f32>(0..1), ErrorKind::RowsOutOfRange { .. });
        assert_eq!(table.sparse_rows::<f32>(..).unwrap().nnz(), 0);
        assert_error!(table.get(0, 0), ErrorKind::RowsOutOfRange { .. } | ErrorKind::ColumnOutOfRange { .. });
        assert_eq!(table.clone().data_memory_status(), NotAllocated);
        let loaded = numeric_table::files::from_bytes(&table.to_bytes().unwrap()).unwrap();
        assert_eq!((loaded.shape(), loaded.dictionary()), (table.shape(), table.dictionary()));
    }
    assert_error!(CsrNumericTable::from_dictionary::<f64>(named(2)), ErrorKind::DictionaryMismatch { .. });
}

#[test]
fn arrays_are_taken_without_a_copy_and_replaced() {
    let mut table = CsrNumericTable::from_dictionary::<f32>(named(4)).unwrap();
    let values = Array::from(vec![1.5_f32, 2.5, 3.5]);
    table.set_arrays(2, vec![0_i32, 2, 3], vec![0_u32, 3, 1], values.clone()).unwrap();
    assert_eq!((state(&table), table.dictionary()), ((2, 3, UserAllocated), &named(4)));
    assert_eq!(address(table.values_slice::<f32>().unwrap()), address(&values));
    assert_eq!(table.rows::<f64>(..).unwrap()[..], [1.5, 0.0, 0.0, 2.5, 0.0, 3.5, 0.0, 0.0]);
    for _ in 0..20 {
        assert_eq!(table.column::<f32>(3, ..).unwrap()[..], [2.5, 0.0]); // with an index of the columns in the end
    }
    table.set_arrays(3, vec![0_u64, 1, 1, 2], vec![3_i64, 2], vec![7.0_f32, 8.0]).unwrap();
    assert_eq!(values.owner_count(), 1);
    for _ in 0..20 {
        assert_eq!(table.column::<f32>(3, ..).unwrap()[..], [7.0, 0.0, 0.0]);
        assert_eq!(table.column::<f32>(2, ..).unwrap()[..], [0.0, 0.0, 8.0]);
    }
    assert_eq!(table.indices().element_type(), ElementType::I64);
}

#[test]
fn refused_arrays_are_returned_and_change_nothing() {
    let mut table = CsrNumericTable::from_dictionary::<f32>(named(4)).unwrap();
    table.set_arrays(1, vec![0, 1], vec![3], vec![1.5_f32]).unwrap();
    let before = (table.clone(), state(&table));
    let mut refuse = |rows: usize, offsets: Vec<i64>, indices: Vec<i64>, values: Vec<f32>| {
        let counts = [offsets.len(), indices.len(), values.len()];
        let Rejected { value, .. } = table.set_arrays(rows, offsets, indices, values).unwrap_err();
        let CsrParts { offsets, indices, values } = value;
        assert_eq!([offsets.len(), indices.len(), values.len()], counts);
        assert_eq!((table.offsets().len(), state(&table)), (2, before.1));
    };
    refuse(2, vec![0, 1], vec![3], vec![1.5]);
    refuse(usize::MAX, vec![0, 1], vec![3], vec![1.5]);
    refuse(1, vec![0, 1], vec![4], vec![1.5]);
    refuse(1, vec![0, 1], vec![-1], vec![1.5]);
    refuse(1, vec![0, 2], vec![1, 1], vec![1.5, 2.5]);
    refuse(1, vec![0, 2], vec![1, 2], vec![1.5]);
    refuse(1, vec![1, 2], vec![1], vec![1.5]);
    refuse(0, vec![], vec![], vec![]);
    let error = table.set_arrays(1, vec![0, 1], vec![3], vec![1.5_f64]).map_err(Rejected::into_error);
    assert_error!(error, ErrorKind::ElementTypeMismatch { expected: ElementType::F32, actual: ElementType::F64, .. });
    assert_eq!(table.rows::<f32>(..).unwrap()[..], before.0.rows::<f32>(..).unwrap()[..]);
}

#[test]
fn memory_is_allocated_by_rows_and_freed() {
    let new = || CsrNumericTable::from_dictionary::<f32>(named(3)).unwrap();
    let mut table = new();
    table.resize(0).unwrap();
    assert_eq!(state(&table), (0, 0, NotAllocated));
    table.resize(2).unwrap();
    assert_eq!((state(&table), &table.rows::<f32>(..).unwrap()[..]), ((2, 0, InternallyAllocated), &[0.0; 6][..]));

    let mut table = new();
    table.push_row(&[2], &[7_u8]).unwrap();
    assert_eq!(
        (state(&table), &table.rows::<f32>(..).unwrap()[..]),
        ((1, 1, InternallyAllocated), &[0.0, 0.0, 7.0][..])
    );

    let mut both = new();
    both.append_table(&table).unwrap();
    assert_eq!(state(&both), (1, 1, InternallyAllocated));

    let values = Array::from(vec![1.5_f32]);
    table.set_arrays(1, vec![0, 1], vec![0], values.clone()).unwrap();
    table.free_data_memory().unwrap();
    assert_eq!((state(&table), values.owner_count(), table.dictionary()), ((0, 0, NotAllocated), 1, &named(3)));
    table.free_data_memory().unwrap(); // again
    table.push_row(&[0], &[4.5_f32]).unwrap();
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [4.5, 0.0, 0.0]);
}
