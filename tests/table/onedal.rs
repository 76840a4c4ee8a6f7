//! What oneDAL's own tests of its tables say, and an example of DAAL. Comments name the file in oneDAL's source tree.

use numeric_table::files;
use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use AllocationFlag::{DoAllocate, DoNotAllocate};
use DataLayout::{ColumnMajor, RowMajor};
use MemoryStatus::NotAllocated;

/// oneDAL `table/test/homogen.cpp`: "homogen table can be created empty"; here the layout is known from the start.
#[test]
fn empty_table_has_no_data_and_no_sizes() {
    let table = HomogenNumericTable::<f32>::default();
    assert_eq!((table.row_count(), table.column_count()), (0, 0));
    assert_error!(table.array(), ErrorKind::NotAllocated);
}

/// oneDAL `table/test/homogen.cpp`: 3 x 2 row-major float. `Continuous` is oneDAL's ratio (and interval).
#[test]
fn row_major_float_table_keeps_pointer_layout_type_and_metadata() {
    let values = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array(values, shape(3, 2)).unwrap();
    assert_eq!((table.shape(), table.data_layout(), table.element_type()), (shape(3, 2), RowMajor, ElementType::F32));
    assert!((0..2).all(|column| table.feature_type(column).unwrap() == FeatureType::Continuous));
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/homogen.cpp`: 2 x 3 column-major double.
#[test]
fn column_major_double_table_keeps_pointer_layout_type_and_metadata() {
    let values = vec![1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let place = address(&values);
    let table = HomogenNumericTable::from_array_with_layout(values, shape(2, 3), ColumnMajor).unwrap();
    assert_eq!(
        (table.shape(), table.data_layout(), table.element_type()),
        (shape(2, 3), ColumnMajor, ElementType::F64)
    );
    assert!((0..3).all(|column| table.feature_type(column).unwrap() == FeatureType::Continuous));
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/homogen.cpp`: copy.
#[test]
fn copy_has_the_same_shape_pointer_layout_and_metadata() {
    let table = numbered::<f32>(3, 2, ColumnMajor);
    let copy = table.clone();
    assert_eq!((copy.shape(), copy.data_layout(), copy.dictionary()), (shape(3, 2), ColumnMajor, table.dictionary()));
    assert_eq!(address(copy.as_slice().unwrap()), address(table.as_slice().unwrap()));
}

/// oneDAL `table/test/homogen.cpp`: move; the source is empty, the target intact.
#[test]
fn taken_table_leaves_an_empty_one() {
    let mut source = numbered::<f32>(3, 2, RowMajor);
    let target = std::mem::take(&mut source);
    assert_eq!((source.shape(), source.data_memory_status()), (shape(0, 0), NotAllocated));
    assert_eq!(values_of(&target), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

/// oneDAL `table/test/homogen.cpp`: copy- and move-assignment over a table of another shape and type; the type is fixed
/// at compile time here, unless the table is held as `dyn`.
#[test]
fn assigned_table_takes_everything_of_the_new_one() {
    let mut table: Box<dyn NumericTable> = Box::new(numbered::<f32>(3, 2, RowMajor));
    assert_eq!(table.shape(), shape(3, 2));
    table = Box::new(numbered::<i32>(1, 4, ColumnMajor));
    assert_eq!(
        (table.shape(), table.uniform_type(), table.data_layout()),
        (shape(1, 4), Some(ElementType::I32), ColumnMajor)
    );
    let mut assigned = numbered::<f32>(3, 2, RowMajor);
    assert_eq!(assigned.row_count(), 3);
    assigned = numbered::<f32>(2, 4, ColumnMajor);
    assert_eq!((assigned.shape(), assigned.data_layout()), (shape(2, 4), ColumnMajor));
}

/// oneDAL `table/test/homogen.cpp`: upcast to the base table keeps shape, data type and kind.
#[test]
fn upcast_keeps_shape_type_and_layout() {
    let table: Box<dyn NumericTable> = Box::new(numbered::<f64>(3, 2, ColumnMajor));
    assert_eq!(
        (table.shape(), table.uniform_type(), table.data_layout()),
        (shape(3, 2), Some(ElementType::F64), ColumnMajor)
    );
    assert!(format!("{table:?}").contains("3 x 2"));
}

/// oneDAL `table/test/homogen.cpp`: wrong sizes. Negative counts and an unknown layout cannot be written here; what is
/// left of `domain_error` is sizes that do not fit the data, those without columns among them.
#[test]
fn sizes_that_do_not_fit_the_data_are_refused() {
    assert_error!(
        HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(4, 2)),
        ErrorKind::ArrayLength { have, need } if have < need
    );
    assert_error!(
        HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(3, 0)),
        ErrorKind::ArrayLength { have, need } if have > need
    );
    assert!(HomogenNumericTable::from_array(vec![1.0_f32; 6], shape(3, 2)).is_ok());
}

/// oneDAL `table/test/homogen.cpp`: wrap, pointer and shape; the array form that oneDAL prepares and does not use.
#[test]
fn wrapped_data_keeps_pointer_and_shape() {
    static VALUES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let by_slice = HomogenNumericTable::from_array(&VALUES[..], shape(3, 2)).unwrap();
    let by_array = HomogenNumericTable::from_array(Array::from(&VALUES[..]), shape(3, 2)).unwrap();
    for table in [by_slice, by_array] {
        assert_eq!((address(table.as_slice().unwrap()), table.shape()), (address(&VALUES), shape(3, 2)));
    }
}

/// oneDAL `table/test/table_builder.cpp`: a builder that is reset with an array of 3 x 2. Our table is its own builder.
#[test]
fn table_built_from_an_array_keeps_pointer_layout_and_type() {
    let array = Array::from(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let place = address(&array);
    let mut table = HomogenNumericTable::<f32>::new(shape(0, 2), DoNotAllocate).unwrap();
    table.set_array(array, 3).unwrap();
    assert_eq!((table.shape(), table.data_layout(), table.element_type()), (shape(3, 2), RowMajor, ElementType::F32));
    assert_eq!(table.feature_type(1).unwrap(), FeatureType::Continuous);
    assert_eq!(address(table.as_slice().unwrap()), place);
}

/// oneDAL `table/test/table_builder.cpp`: modify through the builder, which oneDAL has commented out.
#[test]
fn table_modified_through_a_block_shows_the_change() {
    let mut table = HomogenNumericTable::<f32>::new(shape(3, 2), DoAllocate).unwrap();
    table.rows_mut::<f32>(1..2).unwrap().copy_from_slice(&[7.0, 8.0]);
    assert_eq!(table.as_slice().unwrap(), [0.0, 0.0, 7.0, 8.0, 0.0, 0.0]);
}

fn round_trips<T: SmallNumber>() {
    for (rows, columns) in [1, 10, 1000].into_iter().flat_map(|rows| [1, 10, 100].map(|columns| (rows, columns))) {
        let values: Vec<T> = (0..rows * columns).map(|i| T::small((i % 101) as u8)).collect();
        let table = HomogenNumericTable::from_array(values.clone(), shape(rows, columns)).unwrap();
        let bytes = table.to_bytes().unwrap();
        let base: Box<dyn NumericTable> = Box::new(table);
        assert_eq!(base.to_bytes().unwrap(), bytes);
        assert_eq!(HomogenNumericTable::<T>::from_bytes(&bytes).unwrap().as_slice().unwrap(), values);
        assert_eq!(&files::from_bytes(&bytes).unwrap().rows::<T>(0..rows).unwrap()[..], values);
    }
}

/// oneDAL `table/test/homogen_serialization.cpp`: sizes and types of oneDAL, typed and base on both sides.
#[test]
fn tables_round_trip_typed_and_base() {
    for_each_element!(round_trips);
}

/// oneDAL `table/test/homogen_serialization.cpp`, `common_serialization.cpp`: an empty table.
#[test]
fn empty_table_round_trips() {
    let bytes = HomogenNumericTable::<f32>::default().to_bytes().unwrap();
    assert_eq!(HomogenNumericTable::<f32>::from_bytes(&bytes).unwrap().shape(), shape(0, 0));
    assert_eq!(files::from_bytes(&bytes).unwrap().shape(), shape(0, 0));
}

/// DAAL `examples/daal/cpp/source/datasource/datastructures_homogen.cpp`, which prints and asserts nothing. The
/// caller's array is the table's while the table lives, so that the edit goes through the table.
#[test]
fn example_datastructures_homogen() {
    let values: Vec<f32> = (0..110).map(|i| i as f32 / 10.0).collect();
    let mut table = HomogenNumericTable::from_array(values, shape(10, 11)).unwrap();
    let mut block = BlockDescriptor::<f32>::new();

    table.get_block_of_rows(2, 3, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_count(), block.column_count(), block.row(0)[0]), (3, 11, 2.2));
    table.release_block_of_rows(&mut block).unwrap();

    table.get_block_of_column_values(2, 0, 10, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!((block.row_count(), block.column_count(), block.as_slice()[9]), (10, 1, 10.1));
    table.release_block_of_column_values(&mut block).unwrap();

    table.as_mut_slice().unwrap()[0] = 999.0;
    assert_eq!(table.array().unwrap()[0], 999.0);

    table.set_array((0..33).map(|i| i as f32).collect::<Vec<_>>(), 3).unwrap();
    table.get_block_of_column_values(1, 0, 10, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert_eq!(block.as_slice(), [1.0, 12.0, 23.0]);
}
