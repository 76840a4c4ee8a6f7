//! Arrow and tables of columns of several types: shared memory, by addresses; slices, several batches, struct arrays.
//! Nulls and what cannot be taken are in `arrow_refused`; that tables of one type come and go is in `arrow`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type, UInt8Type};
use arrow_array::{
    Array as ArrowArray, ArrayRef, Float16Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array,
    Int64Array, RecordBatch, RecordBatchIterator, RecordBatchOptions, StructArray, UInt8Array, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{ArrowError, Schema};
use numeric_table::table::by_ref;
use numeric_table::{
    AnyArray, MergedNumericTable, RowMergedNumericTable, SoaNumericTable, f16,
    interop::{CopyPolicy, CopyReason},
    prelude::*,
};
use numeric_table_arrow::prelude::*;
use test_support::tables::{address, assert_error, shape};
use test_support::{CountingOwner, DropCount, SmallNumber, for_each_element};

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// One column of each type that Arrow has too, with 5 rows.
fn every_type() -> RecordBatch {
    let halves = [0.5, 1.0, 1.5, 2.0, 2.5].map(f16::from_f32);
    batch(vec![
        ("f16", Arc::new(Float16Array::from(halves.to_vec()))),
        ("f32", Arc::new(Float32Array::from(vec![0.5, 1.0, 1.5, 2.0, 2.5]))),
        ("f64", Arc::new(Float64Array::from(vec![0.1, 0.2, 0.3, 0.4, f64::INFINITY]))),
        ("i8", Arc::new(Int8Array::from(vec![-128, -1, 0, 1, 127]))),
        ("i16", Arc::new(Int16Array::from(vec![i16::MIN, -1, 0, 1, i16::MAX]))),
        ("i32", Arc::new(Int32Array::from(vec![i32::MIN, -1, 0, 1, i32::MAX]))),
        ("i64", Arc::new(Int64Array::from(vec![i64::MIN, -1, 0, 1, i64::MAX]))),
        ("u8", Arc::new(UInt8Array::from(vec![0, 1, 2, 3, 255]))),
        ("u16", Arc::new(UInt16Array::from(vec![0, 1, 2, 3, u16::MAX]))),
        ("u32", Arc::new(UInt32Array::from(vec![0, 1, 2, 3, u32::MAX]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1, 2, 3, u64::MAX]))),
    ])
}

/// Where the values of an Arrow column begin, of any type.
pub(crate) fn arrow_address(array: &dyn ArrowArray) -> usize {
    let data = array.to_data();
    let width = data.data_type().primitive_width().unwrap();
    data.buffers()[0].as_ptr().addr() + data.offset() * width
}

/// Where the values of a table's column begin, of any type.
pub(crate) fn table_address(table: &SoaNumericTable, column: usize) -> usize {
    let array = table.array(column).unwrap();
    let mut found = None;
    for_each_element!(T => if let Some(array) = array.downcast_ref::<T>() {
        found = Some(address(array));
    });
    found.unwrap()
}

pub(crate) fn assert_shared(table: &SoaNumericTable, batch: &RecordBatch) {
    for (column, array) in batch.columns().iter().enumerate() {
        assert_eq!(table_address(table, column), arrow_address(array), "column {column}");
    }
}

fn mixed() -> SoaNumericTable {
    SoaNumericTable::from_columns([
        ("length", AnyArray::from(vec![5.1_f32, 4.9, 6.2])),
        ("count", AnyArray::from(vec![3_u16, 1, 2])),
        ("id", AnyArray::from(vec![i64::MAX, i64::MIN, 0])),
    ])
    .unwrap()
}

// --- sharing -------------------------------------------------------------------------------------------------------

#[test]
fn every_type_comes_in_and_goes_out_on_the_same_memory() {
    let batch = every_type();
    let table = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!((table.shape(), table.data_memory_status()), (shape(5, 11), MemoryStatus::UserAllocated));
    assert_shared(&table, &batch);
    for (column, field) in batch.schema().fields().iter().enumerate() {
        let feature = table.dictionary().feature(column).unwrap();
        assert_eq!(feature.name.as_ref(), Some(field.name()));
        assert_eq!(feature.element_type.name(), field.name());
    }
    assert_eq!(table.column_slice::<i64>(6).unwrap(), [i64::MIN, -1, 0, 1, i64::MAX]);
    assert_eq!(table.column_slice::<u64>(10).unwrap()[4], u64::MAX);
    let out = table.to_record_batch().unwrap();
    assert_shared(&table, &out);
    assert_eq!(out.columns(), batch.columns());
    let again = SoaNumericTable::from_record_batch(&out).unwrap();
    assert_eq!(again.dictionary(), table.dictionary());
    assert_shared(&again, &batch);
}

#[test]
fn slices_of_batches_share_from_where_they_begin() {
    let batch = every_type();
    for (start, count) in [(0, 5), (1, 3), (2, 3), (3, 1), (4, 1)] {
        let part = batch.slice(start, count);
        let table = SoaNumericTable::from_record_batch(&part).unwrap();
        assert_eq!(table.shape(), shape(count, 11));
        assert_shared(&table, &part);
        assert_eq!(table.column_slice::<u16>(8).unwrap(), &[0, 1, 2, 3, u16::MAX][start..start + count]);
        let inner = SoaNumericTable::from_record_batch(&part.slice(count - 1, 1)).unwrap();
        assert_eq!(inner.column_slice::<u8>(7).unwrap(), &[0, 1, 2, 3, 255][start + count - 1..start + count]);
        assert_shared(&table, &table.to_record_batch().unwrap());
    }
}

#[test]
fn buffers_need_no_more_alignment_than_their_values_do() {
    // Arrow recommends 64 bytes; an address that is aligned for the type alone is shared all the same.
    fn check<P: ArrowPrimitiveType>()
    where
        P::Native: Element + SmallNumber,
    {
        let values: Vec<P::Native> = <P::Native as SmallNumber>::counting(100);
        let buffer = Buffer::from_vec(values);
        for first in [1, 3, 7] {
            let values = ScalarBuffer::<P::Native>::new(buffer.clone(), first, 50);
            let array: ArrayRef = Arc::new(arrow_array::PrimitiveArray::<P>::new(values, None));
            let batch = batch(vec![("a", array)]);
            let table = SoaNumericTable::from_record_batch(&batch).unwrap();
            assert_shared(&table, &batch);
            assert_eq!(table.column_slice::<P::Native>(0).unwrap()[0], SmallNumber::small(first as u8));
        }
    }
    check::<UInt8Type>();
    check::<Float32Type>();
    check::<Float64Type>();
    check::<Int64Type>();
    // Less is no array: Arrow makes none of it, so that there is none to be taken.
    let bytes = Buffer::from_vec(vec![0_u8; 64]).slice(1);
    assert!(std::panic::catch_unwind(|| ScalarBuffer::<i64>::new(bytes, 0, 2)).is_err());
}

#[test]
fn a_write_copies_the_column_that_is_written_and_no_other() {
    let batch = every_type();
    let mut table = SoaNumericTable::from_record_batch(&batch).unwrap();
    table.column_slice_mut::<i32>(5).unwrap()[0] = 7;
    assert_eq!(batch.column(5).as_primitive::<arrow_array::types::Int32Type>().value(0), i32::MIN);
    for (column, array) in batch.columns().iter().enumerate() {
        assert_eq!(table_address(&table, column) == arrow_address(array), column != 5, "column {column}");
    }

    let mut table = mixed();
    let out = table.to_record_batch().unwrap();
    table
        .update_rows::<f64, _>(.., |block| {
            block.row_mut(0)[1] = 9.0;
            Ok(())
        })
        .unwrap();
    assert_eq!(table.column_slice::<u16>(1).unwrap(), [9, 1, 2]);
    assert_eq!(out.column(1).as_primitive::<arrow_array::types::UInt16Type>().values()[..], [3, 1, 2]);
    drop(table);
    assert_eq!(out.column(2).as_primitive::<Int64Type>().values()[..], [i64::MAX, i64::MIN, 0]);
}

#[test]
fn an_owner_is_dropped_once_and_not_before_the_last_column() {
    let drops = DropCount::new();
    let mut table = SoaNumericTable::new();
    table.push_column("a", Array::from_owner(CountingOwner::new(vec![1, 2, 3], &drops))).unwrap();
    table.push_column("b", vec![0.5_f64; 3]).unwrap();
    let batch = table.to_record_batch().unwrap();
    drop(table);
    let table = SoaNumericTable::from_record_batch(&batch.slice(1, 2)).unwrap();
    drop(batch);
    assert_eq!((table.column_slice::<i32>(0).unwrap(), drops.get()), (&[2, 3][..], 0));
    std::thread::spawn(move || drop(table)).join().unwrap();
    assert_eq!(drops.get(), 1);
}

#[test]
fn the_copy_policy_decides() {
    let batch = every_type();
    let with = |policy| ArrowOptions::new().copy(policy);
    let shared = SoaNumericTable::from_record_batches([&batch], with(CopyPolicy::Never)).unwrap();
    assert_shared(&shared, &batch);
    let copied = SoaNumericTable::from_record_batches([&batch], with(CopyPolicy::Always)).unwrap();
    assert_eq!(copied.data_memory_status(), MemoryStatus::InternallyAllocated);
    for (column, array) in batch.columns().iter().enumerate() {
        assert_ne!(table_address(&copied, column), arrow_address(array));
    }
    assert_eq!(copied.to_record_batch().unwrap(), shared.to_record_batch().unwrap());
    let (empty, two) = (batch.slice(2, 0), [batch.slice(0, 2), batch.slice(2, 3)]);
    assert_error!(
        SoaNumericTable::from_record_batches(&two, with(CopyPolicy::Never)),
        ErrorKind::CopyRequired { reason: CopyReason::Layout }
    );
    // Batches without rows do no harm.
    let around = SoaNumericTable::from_record_batches([&empty, &batch, &empty], with(CopyPolicy::Never)).unwrap();
    assert_shared(&around, &batch);
    let holes: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.0), None]));
    assert_error!(
        SoaNumericTable::from_record_batches(
            [self::batch(vec![("a", holes)])],
            with(CopyPolicy::Never).nulls_to_nan(true)
        ),
        ErrorKind::CopyRequired { reason: CopyReason::Nulls }
    );

    let table: &dyn NumericTable = &shared;
    assert_shared(&shared, &table.to_record_batch_with(CopyPolicy::Never).unwrap());
    let copy = table.to_record_batch_with(CopyPolicy::Always).unwrap();
    assert_eq!(copy.columns(), batch.columns());
    assert_ne!(arrow_address(copy.column(0)), arrow_address(batch.column(0)));
}

// --- tables of other kinds -----------------------------------------------------------------------------------------

#[test]
fn mixed_tables_of_every_kind_are_shown_column_by_column() {
    let rows = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4], [5, 6]]).unwrap();
    let soa = mixed();
    let merged = MergedNumericTable::new([by_ref(&soa), by_ref(&rows)]).unwrap();
    let merged: &dyn NumericTable = &merged;
    let batch = merged.to_record_batch().unwrap();
    assert_eq!(batch.column(4).as_primitive::<UInt8Type>().values()[..], [2, 4, 6]);
    for column in 0..3 {
        assert_eq!(arrow_address(batch.column(column)), table_address(&soa, column));
    }
    assert_error!(
        merged.to_record_batch_with(CopyPolicy::Never),
        ErrorKind::CopyRequired { reason: CopyReason::Layout }
    );
    let back = SoaNumericTable::from_record_batch(&batch).unwrap();
    assert_eq!(back.dictionary(), merged.dictionary());
    assert_eq!(back.rows::<f64>(..).unwrap()[..], merged.rows::<f64>(..).unwrap()[..]);

    let below = RowMergedNumericTable::new([by_ref(&soa), by_ref(&soa)]).unwrap();
    let below: &dyn NumericTable = &below;
    let batch = below.to_record_batch().unwrap();
    assert_eq!(batch.column(2).as_primitive::<Int64Type>().values()[3..], [i64::MAX, i64::MIN, 0]);
}

#[test]
fn columns_that_have_no_values_or_are_lent_are_errors() {
    let features = [Feature::new(ElementType::F32), Feature::new(ElementType::U8)];
    let dictionary: DataDictionary = features.into_iter().collect();
    let table = SoaNumericTable::from_dictionary(dictionary, 2, AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(table.to_record_batch(), ErrorKind::ColumnNotSet { column: 0 });
    let mut table = mixed();
    let mut block = BlockDescriptor::<u16>::new();
    table.get_block_of_column_values(1, 0, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.to_record_batch(), ErrorKind::BlockOutstanding { .. });
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(table.to_record_batch().unwrap().num_rows(), 3);
}

#[test]
fn names_kinds_and_categories_come_back() {
    let mut table = SoaNumericTable::new();
    let feature = Feature::new(ElementType::U8);
    table.push_feature(feature.clone().named("colour").categorical(7), vec![1_u8]).unwrap();
    table.push_feature(feature.clone(), vec![1.5_f64]).unwrap(); // no name
    table.push_feature(feature.named("").ordinal(), vec![-1_i16]).unwrap();
    let back = SoaNumericTable::from_record_batch(&table.to_record_batch().unwrap()).unwrap();
    assert_eq!(back.dictionary(), table.dictionary());
}

// --- shapes --------------------------------------------------------------------------------------------------------

#[test]
fn rows_without_columns_and_columns_without_rows_are_tables() {
    let options = RecordBatchOptions::new().with_row_count(Some(7));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    let table = SoaNumericTable::from_record_batch(&rows).unwrap();
    assert_eq!(table.shape(), shape(7, 0));
    assert_eq!(table.to_record_batch().unwrap(), rows);
    let two = SoaNumericTable::from_record_batches([&rows, &rows], ArrowOptions::new()).unwrap();
    assert_eq!(two.shape(), shape(14, 0));
    let structs = StructArray::from(rows);
    assert_eq!(SoaNumericTable::from_struct_array(&structs).unwrap().shape(), shape(7, 0));

    let empty = every_type().slice(3, 0);
    for table in [
        SoaNumericTable::from_record_batch(&empty).unwrap(),
        SoaNumericTable::from_record_batches([&empty, &empty], ArrowOptions::new()).unwrap(),
    ] {
        assert_eq!(table.shape(), shape(0, 11));
        assert!(table.column_slice::<f64>(2).unwrap().is_empty());
        let back = table.to_record_batch().unwrap();
        assert_eq!((back.num_rows(), back.schema().field(9).data_type()), (0, empty.schema().field(9).data_type()));
    }
    let none = [] as [RecordBatch; 0];
    assert_eq!(SoaNumericTable::from_record_batches(&none, ArrowOptions::new()).unwrap().shape(), shape(0, 0));
    assert_eq!(RowMergedNumericTable::from_record_batches(&none, ArrowOptions::new()).unwrap().shape(), shape(0, 0));

    let most = RecordBatchOptions::new().with_row_count(Some(usize::MAX));
    let most = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &most).unwrap();
    assert_eq!(SoaNumericTable::from_record_batch(&most).unwrap().row_count(), usize::MAX);
    assert_error!(
        SoaNumericTable::from_record_batches([&most, &most], ArrowOptions::new()),
        ErrorKind::SizeOverflow { .. }
    );
}

#[test]
fn several_batches_are_one_table_copied_or_end_to_end() {
    let batch = every_type();
    let whole = SoaNumericTable::from_record_batch(&batch).unwrap();
    for cuts in [vec![(0, 5)], vec![(0, 2), (2, 3)], vec![(0, 0), (0, 1), (1, 3), (4, 0), (4, 1)]] {
        let parts: Vec<RecordBatch> = cuts.iter().map(|&(start, count)| batch.slice(start, count)).collect();
        let copied = SoaNumericTable::from_record_batches(&parts, ArrowOptions::new()).unwrap();
        assert_eq!(copied.to_record_batch().unwrap(), whole.to_record_batch().unwrap());
        let joined = RowMergedNumericTable::from_record_batches(&parts, ArrowOptions::new()).unwrap();
        assert_eq!((joined.shape(), joined.dictionary()), (whole.shape(), whole.dictionary()));
        assert_eq!(joined.rows::<f64>(..).unwrap()[..], whole.rows::<f64>(..).unwrap()[..]);
        for (table, part) in joined.tables().iter().zip(&parts) {
            let table: &dyn NumericTable = &**table;
            if part.num_rows() > 0 {
                assert_shared(table.downcast_ref::<SoaNumericTable>().unwrap(), part);
            }
        }
    }
    let reader = || RecordBatchIterator::new([Ok(batch.slice(0, 2)), Ok(batch.slice(2, 3))], batch.schema());
    let read = SoaNumericTable::read_record_batches(reader(), ArrowOptions::new()).unwrap();
    assert_eq!(read.to_record_batch().unwrap(), whole.to_record_batch().unwrap());
    let empty = RecordBatchIterator::new(Vec::new(), batch.schema());
    let empty = SoaNumericTable::read_record_batches(empty, ArrowOptions::new()).unwrap();
    assert_eq!((empty.shape(), empty.dictionary()), (shape(0, 11), whole.dictionary()));
    let torn = [Ok(batch.clone()), Err(ArrowError::ParseError("torn".to_owned()))];
    let torn = RecordBatchIterator::new(torn, batch.schema());
    assert!(SoaNumericTable::read_record_batches(torn, ArrowOptions::new()).unwrap_err().to_string().contains("torn"));
}

#[test]
fn large_columns_are_put_together_by_several_threads() {
    let rows = 600_000;
    let ints: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row * 7)));
    let small: ArrayRef = Arc::new(UInt8Array::from_iter_values((0..rows).map(|row| row as u8)));
    let batch = batch(vec![("a", ints), ("b", small)]);
    let parts: Vec<RecordBatch> = (0..6).map(|part| batch.slice(part * 100_000, 100_000)).collect();
    let table = SoaNumericTable::from_record_batches(&parts, ArrowOptions::new()).unwrap();
    assert_eq!(table.to_record_batch().unwrap().columns(), batch.columns());
}

// --- struct arrays -------------------------------------------------------------------------------------------------

#[test]
fn struct_arrays_are_tables_of_their_fields() {
    let batch = every_type();
    let structs = StructArray::from(batch.clone());
    let table = SoaNumericTable::from_struct_array(&structs).unwrap();
    assert_shared(&table, &batch);
    let part = SoaNumericTable::from_struct_array(&structs.slice(2, 2)).unwrap();
    assert_shared(&part, &batch.slice(2, 2));
    let two = SoaNumericTable::from_struct_arrays([structs.slice(0, 2), structs.slice(2, 3)], ArrowOptions::new());
    assert_eq!(two.unwrap().to_record_batch().unwrap().columns(), batch.columns());
    assert_eq!(StructArray::from(table.to_record_batch().unwrap()).columns(), structs.columns());
}

#[test]
fn a_null_struct_is_a_row_of_nulls() {
    let whole: ArrayRef = Arc::new(Int16Array::from(vec![1, 2, 3, 4]));
    let holes: ArrayRef = Arc::new(Float64Array::from(vec![None, Some(2.0), Some(3.0), Some(4.0)]));
    let (fields, columns, _) = StructArray::from(batch(vec![("a", whole), ("b", holes)])).into_parts();
    let structs = StructArray::new(fields, columns, Some(vec![true, true, false, true].into()));
    let table = SoaNumericTable::from_struct_array(&structs).unwrap();
    let missing = |column: usize| {
        let validity = table.column_validity(column).unwrap().unwrap();
        validity.missing_rows().collect::<Vec<_>>()
    };
    assert_eq!([missing(0), missing(1)], [vec![2], vec![0, 2]]);
    let table = SoaNumericTable::from_struct_arrays([&structs], ArrowOptions::new().nulls_to(-1)).unwrap();
    assert_eq!(table.column_slice::<i16>(0).unwrap(), [1, 2, -1, 4]);
    assert_eq!(table.column_slice::<f64>(1).unwrap(), [-1.0, 2.0, -1.0, 4.0]);
    // Rows before and after it have no nulls.
    let tail = SoaNumericTable::from_struct_array(&structs.slice(3, 1)).unwrap();
    assert_eq!((tail.column_slice::<i16>(0).unwrap(), tail.column_slice::<f64>(1).unwrap()), (&[4][..], &[4.0][..]));
    let middle = SoaNumericTable::from_struct_array(&structs.slice(1, 2)).unwrap();
    assert!(middle.is_missing(1, 0).unwrap() && !middle.is_missing(0, 0).unwrap());
}
