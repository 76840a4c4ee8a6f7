//! Parquet.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use numeric_table::dictionary::Categories;
use numeric_table::{Error, SoaNumericTable, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetCompression, ParquetSource, ParquetWriteOptions, save_parquet_with};

use crate::counting::measured;
use crate::thrift::{Column, Fields, I32, I64, INT64, STRUCT, TEXT, file, footer, root, varint};
use crate::{alone, small};

fn open(name: &str, bytes: Vec<u8>) -> Result<ParquetSource, Error> {
    let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to_nan(true);
    small(name, || ParquetSource::from_bytes(bytes)).map(|source| source.options(options))
}

/// Reads a file in every way. Returns whether all succeed, or none.
fn reads(name: &str, bytes: Vec<u8>) -> bool {
    let source = open(name, bytes).unwrap();
    let results = [
        small(name, || source.load::<f64>().is_ok()),
        small(name, || source.load_columns().is_ok()),
        small(name, || source.load_rows::<f64>(1..3).is_ok()),
        small(name, || source.row_blocks::<f64>(3).unwrap().all(|block| block.is_ok())),
    ];
    assert!(results.iter().all(|&result| result == results[0]), "{name}: {results:?}");
    results[0]
}

/// The head of packed integers: blocks of 128 in 4 parts, the number of all, and the first.
fn packed(count: u64) -> Vec<u8> {
    let mut bytes = vec![0x80, 0x01, 0x04];
    varint(&mut bytes, count);
    bytes.push(0);
    bytes
}

#[test]
fn pages_that_claim_many_lengths_are_errors() {
    let _turn = alone();
    // 4 empty texts: a block of equal lengths of 0, and for prefixes another one.
    let four = [&packed(4)[..], &[0, 0, 0, 0, 0]].concat();
    for encoding in [6, 7] {
        let right = if encoding == 6 { four.clone() } else { [&four[..], &four].concat() };
        assert!(reads("right lengths", TEXT.file(4, &Column::page(4, &right, encoding), 0, &[])));
        for count in [5, 1 << 31, 1 << 36, 1 << 40, 1 << 62] {
            let wrong = [&packed(count)[..], &[0; 40]].concat();
            let name = format!("{count} lengths, encoding {encoding}");
            assert!(!reads(&name, TEXT.file(4, &Column::page(4, &wrong, encoding), 0, &[])));
        }
    }
    // The second list of lengths, after the prefixes.
    let wrong = [&four[..], &packed(1 << 36), &[0; 40]].concat();
    assert!(!reads("suffixes", TEXT.file(4, &Column::page(4, &wrong, 7), 0, &[])));
}

#[test]
fn dictionaries_that_claim_many_values_are_errors() {
    let _turn = alone();
    for (column, size) in [(INT64, 8), (TEXT, 4)] {
        for (count, is_right) in [(2, true), (i64::from(i32::MAX), false), (3, false)] {
            let dictionary = Column::dictionary(count, &vec![0; 2 * size]);
            let pages = [&dictionary[..], &Column::page(4, &[1, 8, 0], 8)].concat(); // 4 times the first
            let name = format!("{count} values of type {}", column.stored);
            assert_eq!(reads(&name, column.file(4, &pages, dictionary.len(), &[])), is_right, "{name}");
        }
    }
}

#[test]
fn long_texts_that_many_rows_repeat_are_errors() {
    let _turn = alone();
    let rows = 60_000;
    let refused = |name: &str, bytes: Vec<u8>| {
        let source = open(name, bytes).unwrap();
        let (is_error, peak, _) = measured(&|| name.to_owned(), || source.load_columns().is_err());
        assert!(is_error && peak < 64 << 20, "{name}: {peak} bytes");
    };
    // One text of 1 MiB, and its index for each row.
    let text = [&(1_u32 << 20).to_le_bytes()[..], &vec![b'a'; 1 << 20]].concat();
    let dictionary = Column::dictionary(1, &text);
    let mut indices = vec![1];
    varint(&mut indices, rows << 1);
    indices.push(0);
    let pages = [&dictionary[..], &Column::page(rows as i64, &indices, 8)].concat();
    refused("an index for each row", TEXT.file(rows as i64, &pages, dictionary.len(), &[]));

    // The first text has 1 MiB, and all others are equal: their prefix is all of it, and the rest of each is empty.
    // The bits of the first block, 21 for each of 128 differences, are those that are set.
    let lengths = |first: u64, least: u64, set: std::ops::Range<usize>| {
        let mut bytes = packed(rows);
        bytes.pop();
        varint(&mut bytes, first << 1);
        varint(&mut bytes, least);
        bytes.extend([21; 4]);
        let mut bits = [0; 128 * 21 / 8];
        set.map(|index| index * 21 + 20).for_each(|bit| bits[bit / 8] |= 1 << (bit % 8));
        bytes.extend(bits);
        bytes.extend(vec![0; 5 * ((rows as usize - 1).div_ceil(128) - 1)]);
        bytes
    };
    let prefixes = lengths(0, 0, 0..1);
    let rest = lengths(1 << 20, (1 << 21) - 1, 1..128); // the least difference is -2^20
    let texts = [&prefixes[..], &rest, &vec![b'a'; 1 << 20]].concat();
    refused("prefixes", TEXT.file(rows as i64, &Column::page(rows as i64, &texts, 7), 0, &[]));
}

#[test]
fn a_page_index_that_claims_many_pages_is_an_error() {
    let _turn = alone();
    let pages = Column::page(4, &[0; 32], 0);
    let place = Fields::default().integer(1, I64, 4).integer(2, I32, pages.len() as i64).integer(3, I64, 0).end();
    for (count, is_right) in [(1, true), (i32::MAX as usize, false)] {
        let index = Fields::default().list(1, STRUCT, std::slice::from_ref(&place), count).end();
        let source = open("index", INT64.file(4, &pages, 0, &index)).unwrap();
        assert_eq!(small("rows", || source.load_rows::<f64>(1..3).is_ok()), is_right, "{count}");
        assert!(source.load::<f64>().is_ok(), "all rows are read without the index");
    }
}

#[test]
fn schemas_that_claim_many_columns_or_are_deep_are_errors() {
    let _turn = alone();
    let schema = |children| footer(&[root(children).end(), INT64.element()], 2, 0, &[], 0);
    assert!(open("one column", file(&[], &schema(1))).is_ok());
    for children in [2, i64::from(i32::MAX), -1, i64::from(i32::MIN)] {
        assert!(open("many columns", file(&[], &schema(children))).is_err(), "{children}");
    }
    let group = Fields::default().integer(3, I32, 0).text(4, "g").integer(5, I32, 1).end();
    for (depth, is_right) in [(100, true), (200, false), (20_000, false), (300_000, false)] {
        let mut elements = vec![root(1).end()];
        elements.resize(depth, group.clone());
        elements.push(INT64.element());
        let bytes = file(&[], &footer(&elements, elements.len(), 0, &[], 0));
        assert_eq!(ParquetSource::from_bytes(bytes).is_ok(), is_right, "{depth} groups");
    }
    // The `parquet` crate reads the number of children of any type: here it would read the 4 bytes of a text.
    let odd = Fields::default().text(4, "r").field(5, 8, &[0xfe, 0xff, 0xff, 0xff, 0x0f]).end();
    assert!(open("odd", file(&[], &footer(&[odd, INT64.element()], 2, 0, &[], 0))).is_err());
    // A second schema, after the one that was checked.
    let twice = Fields::default().integer(1, I32, 1).list(2, STRUCT, &[root(1).end(), INT64.element()], 2);
    let twice = twice.integer(3, I64, 0).list(4, STRUCT, &[], 0).integer(5, I64, 1).end();
    let again = Fields::default().list(2, STRUCT, &[root(i64::from(i32::MAX)).end()], 1).end();
    let twice = [&twice[..twice.len() - 3], &[0x09, 0x04], &again[1..]].concat();
    let _ = open("two schemas", file(&[], &twice));
}

#[test]
fn row_groups_that_there_is_no_room_for_are_an_error() {
    let _turn = alone();
    for count in [1 << 20, i32::MAX as usize] {
        let bytes = file(&[], &footer(&[root(0).end()], 1, 0, &[vec![0; 1 << 20]], count));
        assert!(open("row groups", bytes).is_err(), "{count}");
    }
}

#[test]
fn rows_without_columns_are_one_block() {
    let _turn = alone();
    let rows = 1 << 62;
    let group = Fields::default().list(1, STRUCT, &[], 0).integer(2, I64, 0).integer(3, I64, rows).end();
    let source = open("no columns", file(&[], &footer(&[root(0).end()], 1, rows, &[group], 1))).unwrap();
    let blocks: Vec<usize> = source.row_blocks::<f64>(10).unwrap().map(|block| block.unwrap().row_count()).collect();
    assert_eq!(blocks, [rows as usize]);
}

#[test]
fn memory_grows_with_the_number_of_columns() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.parquet");
    let shape = Shape { rows: 2, columns: 6000 };
    let table =
        HomogenNumericTable::from_fn(shape, |row, column| if row == 0 { column as f64 } else { f64::NAN }).unwrap();
    let write = ParquetWriteOptions::new().nan_to_null(true).compression(ParquetCompression::None);
    save_parquet_with(&path, &table, write).unwrap();
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        let options = ArrowOptions::new().nulls_to_nan(true).layout(layout);
        let source = ParquetSource::open(&path).unwrap().options(options);
        let (table, peak, _) = measured(&|| "wide".to_owned(), || source.load::<f64>().unwrap());
        assert_eq!((table.shape(), table.value::<f64>(0, 5999).unwrap()), (shape, 5999.0));
        assert!(peak < 32 << 20, "{peak} bytes"); // one byte for each pair of columns is more
    }
}

#[test]
fn words_without_values_are_nan_in_columns() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.parquet");
    let words = Feature::new(ElementType::F64).categorical(Categories::from_labels(["red", "blue"]).unwrap());
    let mut table = SoaNumericTable::new();
    table.push_feature(words.named("w"), vec![1.0, f64::NAN, 0.0]).unwrap();
    table.push_feature(Feature::new(ElementType::F64).named("x"), vec![1.0, 2.0, 3.0]).unwrap();
    save_parquet_with(&path, &table, ParquetWriteOptions::new()).unwrap();
    let check = |source: ParquetSource, options: ArrowOptions| {
        let table = source.options(options.nulls_to_nan(true)).load_columns().unwrap();
        let found = table.column_slice::<f64>(0).unwrap();
        assert!(found[0] == 1.0 - found[2] && found[1].is_nan(), "{found:?}");
    };
    check(ParquetSource::open(&path).unwrap(), ArrowOptions::new());
    check(ParquetSource::open(&path).unwrap(), ArrowOptions::new().column_type("w", ElementType::F64));

    // Of a writer that does not store the type of the indices.
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let batch = RecordBatch::try_from_iter_with_nullable([("w", texts, true)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = bytes::Bytes::from(writer.into_inner().unwrap());
    check(ParquetSource::from_bytes(bytes.clone()).unwrap(), ArrowOptions::new());
    let typed = ArrowOptions::new().column_type("w", ElementType::F64);
    check(ParquetSource::from_bytes(bytes).unwrap(), typed);
}

#[test]
fn errors_of_saving_name_the_file_that_is_read() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let [path, ntb] = ["a.parquet", "a.ntb"].map(|name| folder.path().join(name));
    let table = HomogenNumericTable::from_rows(&[[1.5], [f64::NAN]]).unwrap();
    save_parquet_with(&path, &table, ParquetWriteOptions::new().nan_to_null(true)).unwrap();
    let source = ParquetSource::open(&path).unwrap();
    for error in [
        source.save_to::<f64>(&ntb).unwrap_err(),
        source.clone().options(ArrowOptions::new().columns(["none"])).save_to::<f64>(&ntb).unwrap_err(),
        source.options(ArrowOptions::new().nulls_to(0)).save_to::<f32>(&ntb).unwrap_err(),
    ] {
        assert_eq!(error.path(), Some(&*path), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.parquet");
    if std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()) {
        assert!(ParquetSource::open(&path).is_err());
        assert!(numeric_table_arrow::ipc::IpcSource::open(&path).is_err());
    }
}
