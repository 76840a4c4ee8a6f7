//! IPC.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, NullArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::Schema;
use numeric_table::{Error, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::ipc::{IpcSource, IpcWriteOptions, save_ipc_with};

use crate::{alone, small};

/// Returns a batch as a file and as a stream.
fn bytes_of(batch: &RecordBatch) -> [Vec<u8>; 2] {
    let schema = batch.schema();
    let mut file = FileWriter::try_new(Vec::new(), &schema).unwrap();
    file.write(batch).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    stream.write(batch).unwrap();
    [file.into_inner().unwrap(), stream.into_inner().unwrap()]
}

/// Replaces a number of 8 bytes wherever it is.
fn replaced(bytes: &[u8], from: i64, to: i64) -> Vec<u8> {
    let (mut bytes, from, to) = (bytes.to_vec(), from.to_le_bytes(), to.to_le_bytes());
    let places: Vec<usize> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == from).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at..at + 8].copy_from_slice(&to));
    bytes
}

#[test]
fn nulls_are_those_of_the_bitmap() {
    let _turn = alone();
    let rows = 4321;
    let is_null = |row: usize| row % 7 == 3;
    let numbers: Float64Array = (0..rows).map(|row| (!is_null(row)).then_some(row as f64)).collect();
    let texts: StringArray = (0..rows).map(|row| (!is_null(row)).then_some("word")).collect();
    let count = numbers.null_count() as i64;
    let all: ArrayRef = Arc::new(Float64Array::from(vec![0.5; rows]));
    let columns = [("t", Arc::new(texts) as ArrayRef), ("all", all), ("n", Arc::new(numbers) as ArrayRef)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let load = |bytes: Vec<u8>, options: ArrowOptions| -> Result<HomogenNumericTable<f64>, Error> {
        IpcSource::from_bytes(bytes)?.options(options).load::<f64>()
    };
    let nan = || ArrowOptions::new().nulls_to_nan(true);
    for bytes in bytes_of(&batch) {
        for claimed in [0, count] {
            let bytes = replaced(&bytes, count, claimed);
            let table = load(bytes.clone(), nan()).unwrap();
            for (row, values) in table.as_slice().unwrap().chunks(3).enumerate() {
                assert_eq!(
                    values.iter().map(|value| value.is_nan()).collect::<Vec<_>>(),
                    [is_null(row), false, is_null(row)]
                );
            }
            assert!(load(bytes.clone(), ArrowOptions::new()).is_err());
            let table = IpcSource::from_bytes(bytes).unwrap().load_columns().unwrap();
            for column in [0, 2] {
                let missing = table.column_validity(column).unwrap().unwrap();
                assert!(missing.missing_rows().eq((0..rows).filter(|&row| is_null(row))));
            }
            assert_eq!(table.missing_count(1).unwrap(), 0);
        }
        for claimed in [-1, i64::MIN] {
            let error = load(replaced(&bytes, count, claimed), nan()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Format { .. }), "{error}");
        }
        assert!(load(replaced(&bytes, count, 1 << 40), nan()).is_err());
    }
}

#[test]
fn rows_without_columns_are_one_block() {
    let _turn = alone();
    let options = RecordBatchOptions::new().with_row_count(Some(4321));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    for bytes in bytes_of(&batch) {
        for rows in [1 << 40, 1 << 62] {
            let source = IpcSource::from_bytes(replaced(&bytes, 4321, rows)).unwrap();
            let blocks =
                small("blocks", || source.row_blocks::<f64>(10).unwrap().map(Result::unwrap).collect::<Vec<_>>());
            assert_eq!(blocks.iter().map(|block| block.row_count()).collect::<Vec<_>>(), [rows as usize]);
        }
    }
}

#[test]
fn an_empty_file_is_called_so() {
    let error = IpcSource::from_bytes(Vec::new()).unwrap_err();
    assert!(error.to_string().ends_with("the file is empty"), "{error}");
}

#[test]
fn errors_of_saving_name_the_file_that_is_read() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let [path, ntb] = ["a.arrow", "a.ntb"].map(|name| folder.path().join(name));
    let table = HomogenNumericTable::from_rows(&[[1.5], [f64::NAN]]).unwrap();
    save_ipc_with(&path, &table, IpcWriteOptions::new().nan_to_null(true)).unwrap();
    let source = IpcSource::open(&path).unwrap();
    for error in [
        source.save_to::<f64>(&ntb).unwrap_err(),
        source.clone().options(ArrowOptions::new().columns(["none"])).save_to::<f64>(&ntb).unwrap_err(),
        source.options(ArrowOptions::new().nulls_to(0)).save_to::<f32>(&ntb).unwrap_err(),
    ] {
        assert_eq!(error.path(), Some(&*path), "{error}");
    }
}

#[test]
fn nulls_without_bytes_have_a_bounded_number() {
    let _turn = alone();
    let batch = RecordBatch::try_from_iter([("n", Arc::new(NullArray::new(4321)) as ArrayRef)]).unwrap();
    for bytes in bytes_of(&batch) {
        for (rows, is_right) in [(4321, true), (1 << 30, false), (1 << 62, false)] {
            let source = IpcSource::from_bytes(replaced(&bytes, 4321, rows)).unwrap();
            let found = small("nulls", || source.load_columns().map(|table| table.missing_count(0).unwrap()));
            assert_eq!(found.ok(), is_right.then_some(4321), "{rows}");
            let source = source.options(ArrowOptions::new().nulls_to_nan(true));
            let found = small("nulls", || source.load::<f64>().map(|table| table.row_count()));
            assert_eq!(found.ok(), is_right.then_some(4321), "{rows}");
            assert_eq!(source.row_blocks::<f64>(1000).unwrap().all(|block| block.is_ok()), is_right);
        }
    }
}
