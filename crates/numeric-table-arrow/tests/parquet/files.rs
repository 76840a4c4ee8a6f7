//! Many files as one table.

use numeric_table::{Feature, Partial, dictionary::Categories, prelude::*, statistics::BasicStatistics};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetFiles, ParquetWriteOptions, save_parquet, save_parquet_with};

use crate::common::{exact, from_values, mixed, numbered};

/// Writes three files of `numbered` rows, and returns their folder.
fn three(rows: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let all = numbered(rows);
    let (first, second) = (rows / 5, rows / 2);
    for (name, rows) in [("a", 0..first), ("b", first..second), ("c", second..rows)] {
        let rows_per_group = rows.len().div_ceil(7);
        let part = all.slice_rows(rows).unwrap();
        let path = folder.path().join(name).with_extension("parquet");
        save_parquet_with(path, &part, ParquetWriteOptions::new().rows_per_row_group(rows_per_group)).unwrap();
    }
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    std::fs::write(folder.path().join(".hidden.parquet"), "").unwrap();
    folder
}

#[test]
fn all_rows_in_the_order_of_the_files() {
    let folder = three(1000);
    let files = ParquetFiles::open(folder.path()).unwrap();
    assert_eq!((files.file_count(), files.shape().unwrap()), (3, numbered(1000).shape()));
    assert_eq!(files.load::<f32>().unwrap(), numbered(1000));
    let columns = files.clone().options(ArrowOptions::new().layout(DataLayout::ColumnMajor));
    assert_eq!(columns.load::<f32>().unwrap().to_layout(DataLayout::RowMajor).unwrap(), numbered(1000));
    for rows in [1, 199, 200, 333, 5000] {
        let blocks: Vec<_> = files.row_blocks::<f32>(rows).unwrap().map(Result::unwrap).collect();
        assert!(blocks.iter().rev().skip(1).all(|block| block.row_count() == rows));
        let values: Vec<f32> = blocks.iter().flat_map(|block| block.as_slice().unwrap().to_vec()).collect();
        assert!(values == numbered(1000).as_slice().unwrap());
    }
    let none = ParquetFiles::from_paths::<&str>([]).unwrap();
    assert_eq!((none.load::<f32>().unwrap().row_count(), none.row_blocks::<f32>(3).unwrap().count()), (0, 0));
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let folder = three(400_000);
    let files = ParquetFiles::open(folder.path()).unwrap();
    let empty = BasicStatistics::new(3).unwrap();
    let parallel = files.reduce::<f32, _>(&empty).unwrap();
    let serial = numeric_table::internal::parallel::serially(|| files.reduce::<f32, _>(&empty).unwrap());
    assert_eq!(parallel.to_bytes().unwrap(), serial.to_bytes().unwrap());
    assert_eq!(parallel.row_count(), 400_000);
    let columns = parallel.per_column();
    assert_eq!((columns[1].minimum(), columns[2].maximum()), (1.0, 1_199_999.0));
}

#[test]
fn errors_name_the_file_and_the_row_in_it() {
    let folder = three(1000);
    let path = folder.path().join("b.parquet");
    let mut values = vec![1.0_f32; 300];
    values[3 * 44 + 1] = 0.5;
    save_parquet(&path, &from_values(values, 3)).unwrap();
    let files = ParquetFiles::open(folder.path()).unwrap().options(exact());
    for error in
        [files.load::<i32>().map(drop), files.row_blocks::<i32>(77).unwrap().try_for_each(|block| block.map(drop))]
            .map(Result::unwrap_err)
    {
        assert!(matches!(error.kind(), ErrorKind::ValueNotRepresentable { row: 44, column: 1, .. }), "{error}");
        assert_eq!(error.path(), Some(&*path));
    }
    save_parquet(&path, &mixed(3)).unwrap();
    let error = ParquetFiles::open(folder.path()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnequalTables { table: 1, .. }), "{error}");
    assert_eq!(error.path(), Some(&*path));
}

#[test]
fn words_have_one_index_for_all_files() {
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in [("a", ["red", "blue"]), ("b", ["green", "red"])] {
        let color = Feature::new(ElementType::U8).named("color").categorical(Categories::from_labels(words).unwrap());
        let table = HomogenNumericTable::from_rows(&[[0_u8], [1]]).unwrap();
        let table = table.with_dictionary([color].into_iter().collect()).unwrap();
        save_parquet(folder.path().join(name).with_extension("parquet"), &table).unwrap();
    }
    let table = ParquetFiles::open(folder.path()).unwrap().load::<u8>().unwrap();
    assert_eq!(table.as_slice().unwrap(), [0, 1, 2, 0]);
    let words = table.dictionary().feature(0).unwrap().categories.clone().unwrap();
    assert_eq!(words.labels().collect::<Vec<_>>(), ["red", "blue", "green"]);
}
