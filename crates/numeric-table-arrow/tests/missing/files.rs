//! Parquet and IPC files of columns with gaps.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use numeric_table::statistics::BasicStatistics;
use numeric_table::{SoaNumericTable, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc_with};
use numeric_table_arrow::parquet::{
    ParquetCompression, ParquetFiles, ParquetSource, ParquetWriteOptions, save_parquet, save_parquet_with,
};
use numeric_table_arrow::prelude::*;
use test_support::bits::Random;

use crate::{Cell, KINDS, array_of, batch_of, column_cells, random_cells};

/// A table of every type and of words, whose gaps are in some rows only.
fn example(random: &mut Random, rows: usize, with_gaps: std::ops::Range<usize>) -> SoaNumericTable {
    let cells = |kind, random: &mut Random| -> Vec<Cell> {
        let mut cells = random_cells(random, kind, rows, 0);
        let gaps = random_cells(random, kind, rows, 3);
        with_gaps.clone().for_each(|row| cells[row] = cells[row].filter(|_| gaps[row].is_some()));
        cells
    };
    let mut columns: Vec<ArrayRef> = (0..KINDS).map(|kind| array_of(kind, &cells(kind, random))).collect();
    let words = cells(7, random).into_iter().map(|cell| cell.map(|bits| format!("w{}", bits % 5)));
    columns.push(Arc::new(StringArray::from(words.collect::<Vec<_>>())));
    SoaNumericTable::from_record_batch(&batch_of(columns)).unwrap()
}

/// Compares tables. Words may have other indices.
fn assert_same(found: &SoaNumericTable, expected: &SoaNumericTable) {
    assert_eq!(found.shape(), expected.shape());
    for column in 0..KINDS {
        assert_eq!(column_cells(found, column), column_cells(expected, column), "column {column}");
        let of = |table: &SoaNumericTable| table.dictionary().feature(column).unwrap().clone();
        assert_eq!(of(found), of(expected));
    }
    let words = |table: &SoaNumericTable| {
        let feature = table.dictionary().feature(KINDS).unwrap().clone();
        let label = |bits: u64| feature.label(bits as usize).unwrap().to_owned();
        (feature.nullable, column_cells(table, KINDS).into_iter().map(|cell| cell.map(label)).collect::<Vec<_>>())
    };
    assert_eq!(words(found), words(expected));
}

#[test]
fn parquet_files_keep_every_type_with_gaps_in_some_row_groups() {
    let (mut random, folder) = (Random::new(86), tempfile::tempdir().unwrap());
    let path = folder.path().join("a.parquet");
    for (rows, gaps, group) in
        [(200, 70..130, 50), (200, 0..200, 7), (200, 0..0, 50), (1, 0..1, 9), (0, 0..0, 9), (3000, 2999..3000, 1000)]
    {
        let table = example(&mut random, rows, gaps);
        for has_dictionaries in [false, true] {
            for compression in [ParquetCompression::None, ParquetCompression::Snappy] {
                let options = ParquetWriteOptions::new().rows_per_row_group(group).compression(compression);
                save_parquet_with(&path, &table, options.dictionaries(has_dictionaries)).unwrap();
                assert_same(&ParquetSource::open(&path).unwrap().load_columns().unwrap(), &table);
                let files = ParquetFiles::from_paths([&path]).unwrap();
                assert_same(&files.load_columns().unwrap(), &table);
            }
        }
    }
}

#[test]
fn ipc_files_and_streams_keep_every_type_with_gaps() {
    let (mut random, folder) = (Random::new(87), tempfile::tempdir().unwrap());
    let path = folder.path().join("a.arrow");
    for (rows, gaps) in [(300, 70..200), (300, 0..300), (9, 0..0), (1, 0..1), (0, 0..0)] {
        let table = example(&mut random, rows, gaps);
        for compression in [IpcCompression::None, IpcCompression::Lz4, IpcCompression::Zstd] {
            for is_stream in [false, true] {
                let options = IpcWriteOptions::new().compression(compression).stream(is_stream);
                save_ipc_with(&path, &table, options).unwrap();
                assert_same(&IpcSource::open(&path).unwrap().load_columns().unwrap(), &table);
                // Rows of a table begin at any bit.
                let some = table.select_rows(rows.min(3)..).unwrap();
                save_ipc_with(&path, &*some, options).unwrap();
                let loaded = IpcSource::open(&path).unwrap().load_columns().unwrap();
                for column in 0..KINDS {
                    assert_eq!(column_cells(&loaded, column), column_cells(&*some, column));
                }
            }
        }
    }
}

#[test]
fn a_large_file_is_read_in_steps_with_its_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let (parquet, ipc) = (folder.path().join("a.parquet"), folder.path().join("a.arrow"));
    let mut table = SoaNumericTable::new();
    let rows = 400_001_i64;
    table.push_optional("a", (0..rows).map(|row| (row % 1000 != 999).then_some(row))).unwrap();
    table.push_optional("b", (0..rows).map(|row| (row < 300_000).then_some(row as f32))).unwrap();
    let plain = Feature::new(ElementType::I32).named("c");
    table.push_nullable(plain, (0..rows).map(|row| row as i32).collect::<Vec<_>>(), None).unwrap();
    save_parquet(&parquet, &table).unwrap();
    save_ipc_with(&ipc, &table, IpcWriteOptions::new()).unwrap();
    let loaded = [ParquetSource::open(&parquet).unwrap().load_columns(), IpcSource::open(&ipc).unwrap().load_columns()];
    for loaded in loaded.map(Result::unwrap) {
        assert_eq!([0, 1, 2].map(|column| loaded.missing_count(column).unwrap()), [400, 100_001, 0]);
        assert_eq!(loaded.dictionary(), table.dictionary());
        for column in 0..3 {
            assert!(column_cells(&loaded, column) == column_cells(&table, column));
        }
    }
}

#[test]
fn blocks_and_tables_of_one_type_refuse_gaps_or_take_nan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1_i16), None, Some(3)]).unwrap();
    save_parquet(&path, &table).unwrap();
    let source = ParquetSource::open(&path).unwrap();
    assert!(source.dictionary().unwrap().has_nullable());
    assert!(source.load::<i16>().unwrap_err().to_string().contains("the first in row 1"));
    assert!(source.row_blocks::<i16>(2).unwrap().next().unwrap().is_err());
    let nan = ArrowOptions::new().convert(ConversionPolicy::Exact).nulls_to_nan(true);
    let floats = source.options(nan).load::<f32>().unwrap();
    assert!(floats.as_slice().unwrap()[1].is_nan() && !floats.dictionary().has_nullable());
}

#[test]
fn results_of_files_see_the_rows_with_gaps() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.0), None, Some(3.0)]).unwrap();
    save_parquet(folder.path().join("a.parquet"), &table).unwrap();
    let files = ParquetFiles::from_paths([folder.path().join("a.parquet")]).unwrap();
    assert_eq!(files.reduce(&BasicStatistics::new(1).unwrap()).unwrap().row_count(), 3);
}
