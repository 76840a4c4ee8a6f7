//! Many files as one table.

use numeric_table::{
    Feature, Partial, SoaNumericTable, dictionary::Categories, prelude::*, shards::Shards, statistics::BasicStatistics,
};
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
    assert_eq!((files.shard_count(), files.shape().unwrap()), (3, numbered(1000).shape()));
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
    assert_eq!(none.load_columns().unwrap().shape(), Shape { rows: 0, columns: 0 });
    let path = folder.path().join("empty.parquet");
    save_parquet(&path, &mixed(0)).unwrap();
    let empty = ParquetFiles::from_paths([&path, &path]).unwrap();
    assert_eq!(empty.load_columns().unwrap().dictionary(), mixed(0).dictionary());
    assert_eq!(empty.options(exact()).load::<f64>().unwrap().shape(), Shape { rows: 0, columns: 4 });
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    let folder = three(400_000);
    let files = ParquetFiles::open(folder.path()).unwrap();
    let empty = BasicStatistics::new(3).unwrap();
    let parallel = files.reduce(&empty).unwrap();
    let serial = numeric_table::internal::parallel::serially(|| files.reduce(&empty).unwrap());
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
    let files = ParquetFiles::open(folder.path()).unwrap();
    assert_eq!(files.load_columns().unwrap().column_slice::<u8>(0).unwrap(), [0, 1, 2, 0]);
    let error = files.reduce(&BasicStatistics::new(1).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{error}");
    let table = files.load::<u8>().unwrap();
    assert_eq!(table.as_slice().unwrap(), [0, 1, 2, 0]);
    let words = table.dictionary().feature(0).unwrap().categories.clone().unwrap();
    assert_eq!(words.labels().collect::<Vec<_>>(), ["red", "blue", "green"]);
}

#[test]
fn no_file_stays_open() {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..200 {
        let table = from_values(vec![file as f32; 6], 3);
        save_parquet(folder.path().join(format!("{file:03}.parquet")), &table).unwrap();
    }
    let files = ParquetFiles::open(folder.path()).unwrap();
    let mut blocks = files.row_blocks::<f32>(7).unwrap();
    assert_eq!(blocks.next().unwrap().unwrap().row_count(), 7);
    // Only on Linux is there a list.
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        let is_inside =
            |path: std::path::PathBuf| std::fs::read_link(path).is_ok_and(|to| to.starts_with(folder.path()));
        assert!(open.filter(|entry| is_inside(entry.as_ref().unwrap().path())).count() <= 2);
    }
    assert_eq!(blocks.map(|block| block.unwrap().row_count()).sum::<usize>(), 393);
    let table = files.load::<f32>().unwrap();
    assert!(table.as_slice().unwrap().chunks(6).enumerate().all(|(file, values)| values == [file as f32; 6]));
    let infos: Vec<_> = files.files().map(|file| (file.path.to_owned(), file.rows)).collect();
    assert_eq!((infos.len(), infos[77].1.clone()), (200, 154..156));
    assert_eq!(infos[77].0, folder.path().join("077.parquet"));
}

#[test]
fn a_file_that_has_changed_is_an_error() {
    let folder = three(100);
    let files = ParquetFiles::open(folder.path()).unwrap();
    let path = folder.path().join("b.parquet");
    let empty = BasicStatistics::new(3).unwrap();
    for is_mixed in [false, true] {
        match is_mixed {
            false => save_parquet(&path, &numbered(29)).unwrap(),
            true => save_parquet(&path, &mixed(30)).unwrap(),
        }
        for error in [
            files.load::<f32>().map(drop),
            files.load_columns().map(drop),
            files.row_blocks::<f32>(64).unwrap().try_for_each(|block| block.map(drop)),
            files.reduce(&empty).map(drop),
        ]
        .map(Result::unwrap_err)
        {
            assert!(matches!(error.kind(), ErrorKind::Format { .. }), "{error}");
            assert_eq!(error.path(), Some(&*path));
        }
        assert!(files.load_rows::<f32>(..20).is_ok() && files.reduce_shard(0, &empty).is_ok());
    }
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(files.load::<f32>().unwrap_err().kind(), ErrorKind::Io { .. }));
}

#[test]
fn columns_and_rows_across_files() {
    let folder = tempfile::tempdir().unwrap();
    let all = mixed(1000);
    for (name, rows) in [("a", 0..0), ("b", 0..400), ("c", 400..401), ("d", 401..1000)] {
        let part = all.select_rows(rows).unwrap();
        save_parquet_with(folder.path().join(name).with_extension("parquet"), &*part, groups_of(150)).unwrap();
    }
    let files = ParquetFiles::open(folder.path()).unwrap();
    let columns = files.load_columns().unwrap();
    assert_eq!((columns.dictionary(), columns.shape()), (all.dictionary(), all.shape()));
    assert_eq!(columns.column_slice::<u8>(1).unwrap(), all.column_slice::<u8>(1).unwrap());
    assert_eq!(columns.column_slice::<f64>(3).unwrap(), all.column_slice::<f64>(3).unwrap());
    let files = files.options(exact().columns(["size", "id"]));
    assert_eq!(files.shape().unwrap(), Shape { rows: 1000, columns: 2 });
    for rows in [0..0, 0..1000, 399..402, 400..401, 123..777, 1000..1000] {
        let table = files.load_rows::<f64>(rows.clone()).unwrap();
        let expected = rows.flat_map(|row| [row as f64 * 0.5 - 3.0, row as f64]).collect::<Vec<_>>();
        assert_eq!(table.as_slice().unwrap(), expected);
    }
    let error = files.load_rows::<f64>(5..1001).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 1000, .. }), "{error}");
    assert!(files.clone().options(exact().columns(["width"])).shape().is_err());
}

/// Returns options for row groups of some rows.
fn groups_of(rows: usize) -> ParquetWriteOptions {
    ParquetWriteOptions::new().rows_per_row_group(rows)
}

#[test]
fn results_are_those_of_shards() {
    let (folder, ntb) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let all = numbered(1000);
    for (name, rows) in [("a", 0..400), ("b", 400..1000)] {
        let part = all.slice_rows(rows).unwrap();
        save_parquet_with(folder.path().join(name).with_extension("parquet"), &part, groups_of(1000)).unwrap();
        part.save(ntb.path().join(name).with_extension("ntb")).unwrap();
    }
    let (files, shards) = (ParquetFiles::open(folder.path()).unwrap(), Shards::open(ntb.path()).unwrap());
    assert_eq!((files.shape().unwrap(), files.shard_count()), (shards.shape(), shards.shard_count()));
    assert_eq!(files.load::<f32>().unwrap().as_slice().unwrap(), shards.load::<f32>().unwrap().as_slice().unwrap());
    let rows = |rows: std::ops::Range<usize>| (files.load_rows::<f32>(rows.clone()), shards.load_rows::<f32>(rows));
    let (ours, theirs) = rows(390..410);
    assert_eq!(ours.unwrap().as_slice().unwrap(), theirs.unwrap().as_slice().unwrap());
    let empty = BasicStatistics::new(3).unwrap();
    let bytes = |result: BasicStatistics| result.to_bytes().unwrap();
    assert_eq!(bytes(files.reduce(&empty).unwrap()), bytes(shards.reduce(&empty).unwrap()));
    for shard in 0..2 {
        let (ours, theirs) = (files.reduce_shard(shard, &empty), shards.reduce_shard(shard, &empty));
        assert_eq!(bytes(ours.unwrap()), bytes(theirs.unwrap()));
    }
    assert!(matches!(files.reduce_shard(2, &empty).unwrap_err().kind(), ErrorKind::OutOfRange { count: 2, .. }));
}

#[test]
fn results_of_columns_of_their_own_types() {
    let folder = tempfile::tempdir().unwrap();
    let all = mixed(70_000);
    for (name, rows) in [("a", 0..1000), ("b", 1000..70_000)] {
        let part = all.select_rows(rows).unwrap();
        save_parquet_with(folder.path().join(name).with_extension("parquet"), &*part, groups_of(9000)).unwrap();
    }
    let files = ParquetFiles::open(folder.path()).unwrap();
    let statistics = files.reduce(&BasicStatistics::new(4).unwrap()).unwrap();
    let columns = statistics.per_column();
    assert_eq!((statistics.row_count(), columns[0].maximum(), columns[1].maximum()), (70_000, 69_999.0, 250.0));
    assert_eq!(columns[0].mean(), 34_999.5);
    let as_floats = files.options(ArrowOptions::new().columns(["id"]).column_type("id", ElementType::F32));
    assert_eq!(as_floats.reduce(&BasicStatistics::new(1).unwrap()).unwrap().per_column()[0].maximum(), 69_999.0);
}

#[test]
fn a_result_over_files_names_the_words_that_it_cannot_take() {
    let folder = tempfile::tempdir().unwrap();
    let words = Feature::new(ElementType::U8).named("color").categorical(Categories::from_labels(["red"]).unwrap());
    let mut table = SoaNumericTable::from_columns([("size", vec![1.5])]).unwrap();
    table.push_feature(words, vec![0_u8]).unwrap();
    save_parquet(folder.path().join("a.parquet"), &table).unwrap();
    let files = ParquetFiles::open(folder.path()).unwrap();
    let error = files.reduce(&BasicStatistics::new(2).unwrap()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported { column: Some(1), .. }), "{error}");
    assert_eq!(
        (error.path(), error.hints()[0].call()),
        (Some(&*folder.path().join("a.parquet")), "ArrowOptions::columns")
    );
    let files = files.options(ArrowOptions::new().columns(["size"]));
    assert_eq!(files.reduce(&BasicStatistics::new(1).unwrap()).unwrap().row_count(), 1);
}
