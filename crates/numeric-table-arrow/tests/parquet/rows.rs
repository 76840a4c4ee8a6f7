//! Some rows, and rows a block at a time.

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetWriteOptions, save_parquet_with};

use crate::common::{exact, file, mixed, numbered, open};

#[test]
fn some_rows_are_those_of_the_whole_table() {
    let (_folder, path) = file();
    let table = numbered(1000);
    save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(100)).unwrap();
    let source = open(&path);
    let values = table.as_slice().unwrap();
    for rows in [0..0, 0..1, 99..101, 100..200, 199..200, 0..1000, 250..251, 250..750, 999..1000, 1000..1000, 150..850]
    {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let source = source.clone().options(ArrowOptions::new().layout(layout));
            let part = source.load_rows::<f32>(rows.clone()).unwrap();
            assert_eq!(part.rows::<f32>(..).unwrap()[..], values[3 * rows.start..3 * rows.end], "{rows:?}");
        }
    }
    let backwards = Range { start: 5, end: 4 };
    for rows in [0..1001, 1001..1001, backwards] {
        let error = source.load_rows::<f32>(rows.clone()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 1000, .. }), "{error}");
    }
}

#[test]
fn blocks_of_any_size_have_all_rows_in_order() {
    let (_folder, path) = file();
    let table = numbered(3000);
    save_parquet_with(&path, &table, ParquetWriteOptions::new().rows_per_row_group(700)).unwrap();
    let source = open(&path);
    for rows in [1, 699, 700, 701, 2999, 3000, 5000, usize::MAX] {
        let (mut all, mut sizes) = (Vec::new(), Vec::new());
        for block in source.row_blocks::<f32>(rows).unwrap() {
            let block = block.unwrap();
            assert_eq!(block.dictionary(), table.dictionary());
            sizes.push(block.row_count());
            all.extend_from_slice(block.as_slice().unwrap());
        }
        assert!(all == table.as_slice().unwrap(), "{rows}");
        assert!(sizes.iter().rev().skip(1).all(|&size| size == rows), "{sizes:?}");
    }
    let error = source.row_blocks::<f32>(0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ParameterOutOfRange { .. }), "{error}");
}

#[test]
fn blocks_larger_than_a_step() {
    let (_folder, path) = file();
    save_parquet_with(&path, &mixed(200_000), ParquetWriteOptions::new()).unwrap();
    let source = open(&path).options(exact().columns(["id", "size"]));
    let mut row = 0;
    for block in source.row_blocks::<f64>(90_000).unwrap() {
        for values in block.unwrap().as_slice().unwrap().chunks(2) {
            assert_eq!(values, [row as f64, row as f64 * 0.5 - 3.0]);
            row += 1;
        }
    }
    assert_eq!(row, 200_000);
}

#[test]
fn an_error_ends_the_blocks() {
    let (_folder, path) = file();
    save_parquet_with(&path, &numbered(300), ParquetWriteOptions::new()).unwrap();
    let source = open(&path).options(exact());
    let mut blocks = source.row_blocks::<u8>(50).unwrap();
    assert!(blocks.next().unwrap().is_ok());
    assert!(blocks.next().unwrap().is_err());
    assert!(blocks.next().is_none());
}
