//! Columns, conversions and nulls.

use arrow_array::{
    Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array, Int32Array, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use numeric_table::{FeatureType, dictionary::TimeUnit, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetWriteOptions, save_parquet, save_parquet_with};
use parquet::file::properties::WriterProperties;

use crate::common::{array, exact, file, from_values, mixed, numbered, open, write};

#[test]
fn columns_are_chosen_by_name_number_and_range_in_any_order() {
    let (_folder, path) = file();
    save_parquet(&path, &mixed(10)).unwrap();
    let load = |options| open(&path).options(options).load_rows::<f64>(5..6).unwrap().as_slice().unwrap().to_vec();
    assert_eq!(load(exact()), [5.0, 5.0, 1.25, -0.5]);
    assert_eq!(load(exact().columns(["size", "id"])), [-0.5, 5.0]);
    assert_eq!(load(exact().columns([2, 2, 0])), [1.25, 1.25, 5.0]);
    assert_eq!(load(exact().columns(1..3).layout(DataLayout::ColumnMajor)), [5.0, 1.25]);
    let columns = open(&path).options(exact().columns(["share", "id"])).load_columns().unwrap();
    assert_eq!((columns.column_slice::<f32>(0).unwrap()[4], columns.column_slice::<i64>(1).unwrap()[4]), (1.0, 4));
    let error = open(&path).options(exact().columns(["sise"])).shape().unwrap_err();
    assert!(error.to_string().contains("similar names: \"size\""), "{error}");
    assert_eq!(error.path(), Some(&*path));
}

#[test]
fn policies_decide_what_becomes_of_values() {
    let (_folder, path) = file();
    save_parquet(&path, &HomogenNumericTable::from_rows(&[[1.0_f64, 2.5], [300.0, -1.0]]).unwrap()).unwrap();
    let load = |options| open(&path).options(options).load::<u8>();
    let convert = |policy| load(ArrowOptions::new().convert(policy));
    assert_eq!(convert(ConversionPolicy::Saturate).unwrap().as_slice().unwrap(), [1, 2, 255, 0]);
    let error = convert(ConversionPolicy::Exact).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 0, column: 1, .. }), "{error}");
    let error = load(ArrowOptions::new()).unwrap_err();
    assert!(error.to_string().contains("f64 values in a table of u8, and no conversion was requested"), "{error}");
    let typed = ArrowOptions::new().column_type(0, ElementType::I16);
    assert_eq!(open(&path).options(typed).load_columns().unwrap().column_slice::<i16>(0).unwrap(), [1, 300]);
}

#[test]
fn a_refused_value_is_named_by_its_row_in_the_file() {
    let (_folder, path) = file();
    let mut values: Vec<f32> = vec![1.0; 3 * 150_000];
    values[3 * 140_001 + 2] = 0.5;
    let table = from_values(values, 3);
    for rows in [1 << 20, 10_000] {
        save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(rows)).unwrap();
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let source = open(&path).options(exact().layout(layout));
            let blocks = || source.row_blocks::<i32>(7777).unwrap().try_for_each(|block| block.map(drop));
            let part = || source.load_rows::<i32>(135_000..145_000).map(drop);
            for error in [source.load::<i32>().map(drop), blocks(), part()].map(Result::unwrap_err) {
                assert!(
                    matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 140_001, column: 2, .. }),
                    "{error}"
                );
                assert_eq!(error.path(), Some(&*path));
            }
        }
    }
}

#[test]
fn nulls_are_missing_values_of_columns_and_errors_of_one_type_that_name_row_and_column() {
    let (_folder, path) = file();
    let numbers: Vec<Option<f32>> = (0..150_000).map(|row| (row != 140_001).then_some(row as f32)).collect();
    let columns =
        vec![("whole", array(Float32Array::from(vec![1.0; 150_000]))), ("holed", array(Float32Array::from(numbers)))];
    write(&path, columns, WriterProperties::builder().set_max_row_group_row_count(Some(20_000)).build());
    let source = open(&path);
    let expected = "nulls, the first in row 140001, and no NaN was requested for them";
    for error in [
        source.load::<f32>().map(drop),
        source.load_rows::<f32>(130_000..).map(drop),
        source.row_blocks::<f32>(999).unwrap().try_for_each(|block| block.map(drop)),
    ]
    .map(Result::unwrap_err)
    {
        let ErrorKind::Unsupported { column, name, reason, .. } = error.kind() else { panic!("{error}") };
        assert_eq!((column, name.as_deref(), &reason[..]), (&Some(1), Some("holed"), expected));
        assert_eq!(error.path(), Some(&*path));
    }
    let columns = source.load_columns().unwrap();
    assert!(columns.is_missing(140_001, 1).unwrap() && columns.missing_count(1).unwrap() == 1);
    assert!(!columns.dictionary().feature(0).unwrap().nullable);
    let table = open(&path).options(ArrowOptions::new().nulls_to_nan(true)).load::<f32>().unwrap();
    assert!(table.value::<f32>(140_001, 1).unwrap().is_nan());
    assert_eq!(table.value::<f32>(140_002, 1).unwrap(), 140_002.0);
    let table = open(&path).options(ArrowOptions::new().nulls_to(-1)).load_columns().unwrap();
    assert_eq!(table.column_slice::<f32>(1).unwrap()[140_000..140_003], [140_000.0, -1.0, 140_002.0]);
    let other = ArrowOptions::new().columns(["whole"]);
    assert_eq!(open(&path).options(other).load::<f32>().unwrap().row_count(), 150_000);
}

#[test]
fn integers_with_nulls_need_a_value_that_they_hold() {
    let (_folder, path) = file();
    let values = Int16Array::from(vec![Some(1), None, Some(3)]);
    write(&path, vec![("a", array(values))], WriterProperties::default());
    let load = |options| open(&path).options(options).load::<i16>();
    assert!(load(ArrowOptions::new().nulls_to_nan(true)).unwrap_err().to_string().contains("i16 has no NaN"));
    assert!(load(ArrowOptions::new().nulls_to(70_000)).is_err());
    assert_eq!(load(ArrowOptions::new().nulls_to(-9)).unwrap().as_slice().unwrap(), [1, -9, 3]);
    let floats = exact().nulls_to_nan(true);
    assert!(open(&path).options(floats).load::<f64>().unwrap().as_slice().unwrap()[1].is_nan());
}

#[test]
fn columns_that_are_not_numbers_are_errors_unless_they_are_not_chosen() {
    let (_folder, path) = file();
    let inner = array(Int32Array::from(vec![1, 2]));
    let field = arrow_schema::Field::new("inner", arrow_schema::DataType::Int32, true);
    let nested = StructArray::from(vec![(std::sync::Arc::new(field), inner)]);
    let columns = vec![
        ("nested", array(nested)),
        ("bytes", array(arrow_array::BinaryArray::from(vec![&b"ab"[..], b"c"]))),
        ("number", array(Int32Array::from(vec![7, 8]))),
    ];
    write(&path, columns, WriterProperties::default());
    for (chosen, name) in [(vec![0, 2], "nested"), (vec![2, 1], "bytes")] {
        let error = open(&path).options(ArrowOptions::new().columns(chosen)).load::<i32>().unwrap_err();
        let ErrorKind::Unsupported { name: found, reason, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(found.as_deref(), Some(name));
        assert!(reason.ends_with("is not an element type of tables"), "{reason}");
    }
    let source = open(&path).options(ArrowOptions::new().columns(["number"]));
    assert_eq!(source.load::<i32>().unwrap().as_slice().unwrap(), [7, 8]);
    assert_eq!(source.load_columns().unwrap().column_slice::<i32>(0).unwrap(), [7, 8]);
}

#[test]
fn dates_timestamps_decimals_and_text() {
    let (_folder, path) = file();
    let price = Decimal128Array::from(vec![1999, -50, 0]).with_precision_and_scale(10, 2).unwrap();
    let columns = vec![
        ("day", array(Date32Array::from(vec![19_000, 19_001, -1]))),
        ("time", array(TimestampMicrosecondArray::from(vec![1, 2, i64::MIN]))),
        ("price", array(price)),
        ("word", array(StringArray::from(vec![Some("b"), None, Some("a")]))),
        ("size", array(Float64Array::from(vec![0.5, 1.5, 2.5]))),
    ];
    write(&path, columns, WriterProperties::default());
    let typed = ArrowOptions::new().nulls_to(1).column_type("price", ElementType::F64);
    let table = open(&path).options(typed).load_columns().unwrap();
    assert_eq!(table.column_slice::<i32>(0).unwrap(), [19_000, 19_001, -1]);
    assert_eq!(table.column_slice::<i64>(1).unwrap(), [1, 2, i64::MIN]);
    assert_eq!(table.column_slice::<f64>(2).unwrap(), [19.99, -0.5, 0.0]);
    assert_eq!(table.column_slice::<u8>(3).unwrap(), [0, 1, 1]);
    let kind = |column| table.dictionary().feature(column).unwrap().feature_type;
    assert_eq!((kind(0), kind(1)), (FeatureType::Time(TimeUnit::Days), FeatureType::Time(TimeUnit::Microseconds)));
    let nan = ArrowOptions::new().convert(ConversionPolicy::Checked).nulls_to_nan(true).columns(["word", "price"]);
    let words = open(&path).options(nan).load::<f64>().unwrap();
    assert_eq!((words.value::<f64>(0, 1).unwrap(), words.value::<f64>(2, 0).unwrap()), (19.99, 1.0));
    assert!(words.value::<f64>(1, 0).unwrap().is_nan());
}

#[test]
fn an_unnamed_column_and_layouts_agree() {
    let (_folder, path) = file();
    save_parquet(&path, &numbered(50)).unwrap();
    let source = open(&path);
    assert_eq!(source.dictionary().unwrap(), *numbered(1).dictionary());
    let columns = source.clone().options(ArrowOptions::new().layout(DataLayout::ColumnMajor));
    let rows = source.load::<f32>().unwrap();
    assert_eq!(columns.load::<f32>().unwrap().to_layout(DataLayout::RowMajor).unwrap(), rows);
}
