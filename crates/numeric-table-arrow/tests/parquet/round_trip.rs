//! What is written is read back.

use numeric_table::internal::match_element;
use numeric_table::{
    Feature, Shape,
    dictionary::{Categories, TimeUnit},
    prelude::*,
};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetCompression, ParquetWriteOptions, save_parquet, save_parquet_with};

use crate::common::{file, from_values, mixed, numbered, open};

#[test]
fn every_element_type_in_both_layouts() {
    let (_folder, path) = file();
    for &element in ElementType::ALL.iter().filter(|&&element| element != ElementType::Bf16) {
        match_element!(element, T => {
            let values = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 127]]).unwrap().convert::<T>().unwrap();
            for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
                save_parquet(&path, &values.to_layout(layout).unwrap()).unwrap();
                let source = open(&path).options(ArrowOptions::new().layout(layout));
                let table = source.load::<T>().unwrap();
                assert_eq!((table.data_layout(), &table), (layout, &values.to_layout(layout).unwrap()), "{element}");
                let columns = source.load_columns().unwrap();
                assert_eq!(columns.column_type(1).unwrap(), element);
                assert_eq!(columns.rows::<f64>(..).unwrap()[..], [1.0, 2.0, 3.0, 4.0, 5.0, 127.0]);
            }
        });
    }
}

#[test]
fn bf16_is_refused_and_the_old_file_stays() {
    let (_folder, path) = file();
    save_parquet(&path, &numbered(2)).unwrap();
    let table = numbered(2).convert::<numeric_table::bf16>().unwrap();
    let error = save_parquet(&path, &table).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnsupportedElementType { element: ElementType::Bf16, .. }), "{error}");
    assert_eq!(open(&path).load::<f32>().unwrap(), numbered(2));
}

#[test]
fn every_compression_with_and_without_dictionaries() {
    use ParquetCompression::{Brotli, Gzip, Lz4, None, Snappy, Zstd};
    let (_folder, path) = file();
    let table = mixed(5000);
    for compression in [None, Snappy, Gzip, Lz4, Zstd, Brotli] {
        for has_dictionaries in [false, true] {
            let options = ParquetWriteOptions::new().compression(compression).dictionaries(has_dictionaries);
            save_parquet_with(&path, &table, options.rows_per_row_group(3000)).unwrap();
            let source = open(&path);
            assert_eq!((source.row_group_count(), source.shape().unwrap()), (2, Shape { rows: 5000, columns: 4 }));
            let back = source.load_columns().unwrap();
            assert_eq!(back.column_slice::<i64>(0).unwrap(), table.column_slice::<i64>(0).unwrap());
            assert_eq!(back.column_slice::<f64>(3).unwrap(), table.column_slice::<f64>(3).unwrap());
            assert_eq!(back.dictionary(), table.dictionary());
        }
    }
}

#[test]
fn empty_tables_and_one_row() {
    let (_folder, path) = file();
    for (rows, columns) in [(0, 3), (1, 3), (1, 1), (0, 0)] {
        let table = HomogenNumericTable::<f64>::full(Shape { rows, columns }, 2.5).unwrap();
        save_parquet(&path, &table).unwrap();
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let source = open(&path).options(ArrowOptions::new().layout(layout));
            assert_eq!(source.shape().unwrap(), Shape { rows, columns });
            assert_eq!(source.load::<f64>().unwrap().rows::<f64>(..).unwrap()[..], vec![2.5; rows * columns]);
            assert_eq!(source.load_columns().unwrap().shape(), Shape { rows, columns });
            assert_eq!(source.row_blocks::<f64>(2).unwrap().count(), rows);
        }
    }
}

#[test]
fn many_row_groups_and_steps() {
    let (_folder, path) = file();
    let table = numbered(200_000);
    for rows in [1 << 20, 70_001, 997] {
        save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(rows)).unwrap();
        let source = open(&path);
        assert!(source.load::<f32>().unwrap() == table, "{rows}");
        let columns = source.load_columns().unwrap();
        assert!(columns.column_slice::<f32>(2).unwrap() == &table.column::<f32>(2, ..).unwrap()[..], "{rows}");
    }
}

#[test]
fn words_and_times_are_kept() {
    let (_folder, path) = file();
    let color = Feature::new(ElementType::I64).named("color");
    let color = color.categorical(Categories::from_labels(["red", "green", "blue"]).unwrap());
    let time = Feature::new(ElementType::I64).named("time").time(TimeUnit::Milliseconds);
    let dictionary: DataDictionary = [color, time].into_iter().collect();
    let values: Vec<i64> = (0..3000).flat_map(|row| [row % 3, row * 1000]).collect();
    let table = from_values(values, 2).with_dictionary(dictionary).unwrap();
    save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(700)).unwrap();
    let back = open(&path).load::<i64>().unwrap();
    assert_eq!((&back, back.dictionary()), (&table, table.dictionary()));
    let columns = open(&path).load_columns().unwrap();
    let words = columns.dictionary().feature(0).unwrap().categories.clone().unwrap();
    assert_eq!(words.labels().collect::<Vec<_>>(), ["red", "green", "blue"]);
    assert_eq!(columns.column::<u8>(0, ..4).unwrap()[..], [0, 1, 2, 0]);
    // Numbers again, without the words.
    save_parquet_with(&path, &table, ParquetWriteOptions::new().labels(false)).unwrap();
    assert_eq!(open(&path).load::<i64>().unwrap().as_slice().unwrap(), table.as_slice().unwrap());
}

#[test]
fn a_file_is_replaced_all_or_nothing() {
    let (folder, path) = file();
    save_parquet(&path, &numbered(5)).unwrap();
    let open_before = open(&path);
    save_parquet(&path, &numbered(7)).unwrap();
    assert_eq!(open(&path).load::<f32>().unwrap(), numbered(7));
    #[cfg(unix)]
    assert_eq!(open_before.load::<f32>().unwrap(), numbered(5)); // the file that was opened
    drop(open_before);
    // A value that is no word is found in the middle of the file.
    let color = Feature::new(ElementType::F32).categorical(Categories::from_labels(["red"]).unwrap());
    let bad = from_values((0..100_000).map(|row| (row / 99_999) as f32).collect(), 1);
    let bad = bad.with_dictionary([color].into_iter().collect()).unwrap();
    assert!(save_parquet(&path, &bad).is_err());
    assert_eq!(open(&path).load::<f32>().unwrap(), numbered(7));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1); // nothing is left beside it
    let error = save_parquet(folder.path().join("missing/table.parquet"), &bad).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. } | ErrorKind::Io { .. }), "{error}");
}

#[test]
fn saved_as_a_table_file() {
    let (folder, path) = file();
    let ntb = folder.path().join("table.ntb");
    let table = numbered(150_000);
    save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(40_000)).unwrap();
    assert_eq!(open(&path).save_to::<f32>(&ntb).unwrap(), table.shape());
    assert!(HomogenNumericTable::<f32>::load(&ntb).unwrap() == table);
    let options = ArrowOptions::new().convert(ConversionPolicy::Checked);
    let error = open(&path).options(options).save_to::<u8>(&ntb).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 85, column: 1, .. }), "{error}");
    assert_eq!(HomogenNumericTable::<f32>::load(&ntb).unwrap().shape(), table.shape()); // unchanged
}
