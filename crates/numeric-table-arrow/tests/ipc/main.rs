//! Files and streams in Arrow's IPC format.

use std::path::PathBuf;

use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc, save_ipc_with};

fn mixed(rows: usize) -> SoaNumericTable {
    SoaNumericTable::from_columns([
        ("id", AnyArray::from((0..rows as i64).collect::<Vec<_>>())),
        ("small", AnyArray::from((0..rows).map(|row| (row % 251) as u8).collect::<Vec<_>>())),
        ("size", AnyArray::from((0..rows).map(|row| row as f64 * 0.5 - 3.0).collect::<Vec<_>>())),
    ])
    .unwrap()
}

fn exact() -> ArrowOptions {
    ArrowOptions::new().convert(ConversionPolicy::Exact)
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn files_and_streams_of_any_compression_are_read_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ntb) = (folder.path().join("table.arrow"), folder.path().join("table.ntb"));
    for rows in [0, 1, 300_000] {
        let table = mixed(rows);
        for compression in [IpcCompression::None, IpcCompression::Lz4, IpcCompression::Zstd] {
            for is_stream in [false, true] {
                let options = IpcWriteOptions::new().compression(compression).stream(is_stream);
                save_ipc_with(&path, &table, options).unwrap();
                let source = IpcSource::open(&path).unwrap();
                let columns = source.load_columns().unwrap();
                assert_eq!(columns.dictionary(), table.dictionary());
                assert!(columns.column_slice::<f64>(2).unwrap() == table.column_slice::<f64>(2).unwrap());
                let source = source.options(exact().columns(["size", "id"]));
                let values = source.load::<f64>().unwrap();
                assert_eq!(values.shape(), Shape { rows, columns: 2 });
                let is_it = |(row, values): (usize, &[f64])| values == [row as f64 * 0.5 - 3.0, row as f64];
                assert!(values.as_slice().unwrap().chunks(2).enumerate().all(is_it));
                let blocks: Vec<_> = source.row_blocks::<f64>(90_001).unwrap().map(Result::unwrap).collect();
                let all: Vec<f64> = blocks.iter().flat_map(|block| block.as_slice().unwrap().to_vec()).collect();
                assert!(all == values.as_slice().unwrap());
                assert_eq!(source.save_to::<f64>(&ntb).unwrap(), values.shape());
                assert!(HomogenNumericTable::<f64>::load(&ntb).unwrap() == values);
            }
        }
    }
}

#[test]
fn errors_name_the_file_and_the_row_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.arrow");
    let mut values = vec![1.0; 300_000];
    values[200_001] = f64::NAN;
    let table = SoaNumericTable::from_columns([("a", vec![0.0; 300_000]), ("b", values)]).unwrap();
    save_ipc_with(&path, &table, IpcWriteOptions::new().nan_to_null(true)).unwrap();
    let source = IpcSource::open(&path).unwrap();
    for error in
        [source.load::<f64>().map(drop), source.row_blocks::<f64>(777).unwrap().try_for_each(|block| block.map(drop))]
            .map(Result::unwrap_err)
    {
        let ErrorKind::Unsupported { column: Some(1), reason, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(reason, "nulls, the first in row 200001, and no NaN was requested for them");
        assert_eq!(error.path(), Some(&*path));
    }
    let columns = source.load_columns().unwrap();
    assert!(columns.is_missing(200_001, 1).unwrap() && columns.missing_count(1).unwrap() == 1);
    let source = source.options(ArrowOptions::new().nulls_to(5));
    assert_eq!(source.load::<f64>().unwrap().value::<f64>(200_001, 1).unwrap(), 5.0);
}

#[test]
fn many_batches_of_any_size_stay_in_order() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt8Array};
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let batch = |rows: std::ops::Range<i64>| {
        let small: UInt8Array = rows.clone().map(|row| row as u8).collect();
        let id: ArrayRef = std::sync::Arc::new(rows.collect::<Int64Array>());
        RecordBatch::try_from_iter([("id", id), ("small", std::sync::Arc::new(small) as ArrayRef)]).unwrap()
    };
    let sizes = [0, 1, 70_000, 3, 0, 0, 900_000, 2, 500_000, 65_536, 7, 0];
    for compression in [None, Some(arrow_ipc::CompressionType::LZ4_FRAME)] {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let schema = batch(0..0).schema();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        let mut end = 0;
        for size in sizes.iter().chain(&[11; 300]) {
            writer.write(&batch(end..end + size)).unwrap();
            end += size;
        }
        let bytes = writer.into_inner().unwrap();
        let source = IpcSource::from_bytes(bytes).unwrap();
        let columns = source.load_columns().unwrap();
        assert!(columns.column_slice::<i64>(0).unwrap().iter().copied().eq(0..end));
        assert!(columns.column_slice::<u8>(1).unwrap().iter().copied().eq((0..end).map(|row| row as u8)));
        let source = source.options(ArrowOptions::new().columns(["id"]));
        let mut next = 0;
        for block in source.row_blocks::<i64>(123_457).unwrap() {
            let block = block.unwrap();
            assert!(block.as_slice().unwrap().iter().copied().eq(next..next + block.row_count() as i64));
            next += block.row_count() as i64;
        }
        assert_eq!(next, end);
    }
}

#[test]
fn files_of_pyarrow() {
    for name in ["pyarrow.feather", "pyarrow.arrows"] {
        let options = exact().columns(["id", "share", "color", "is_even"]).nulls_to(-1);
        let table = IpcSource::open(data(name)).unwrap().options(options).load::<f32>().unwrap();
        assert_eq!(table.shape(), Shape { rows: 300, columns: 4 });
        for (row, values) in table.as_slice().unwrap().chunks(4).enumerate() {
            let share = if row % 7 == 3 { -1.0 } else { row as f32 / 8.0 };
            assert_eq!(values, [row as f32, share, (row % 3) as f32, (row % 2 == 0).into()], "{name}");
        }
        let words = table.dictionary().feature(2).unwrap().categories.clone().unwrap();
        assert_eq!(words.labels().collect::<Vec<_>>(), ["red", "green", "blue"]);
    }
}

#[test]
fn damaged_files_are_errors_or_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.arrow");
    for compression in [IpcCompression::None, IpcCompression::Lz4, IpcCompression::Zstd] {
        for is_stream in [false, true] {
            let options = IpcWriteOptions::new().compression(compression).stream(is_stream);
            save_ipc_with(&path, &mixed(50), options).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            let try_all = |bytes: Vec<u8>| {
                let Ok(source) = IpcSource::from_bytes(bytes) else { return };
                let source = source.options(ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(0));
                let _ = source.load::<f64>();
                let _ = source.load_columns();
            };
            let mut state = 0x9E37_79B9_7F4A_7C15_u64; // the seed
            for _ in 0..200 {
                let mut damaged = bytes.clone();
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let bit = (state >> 33) as usize % (8 * damaged.len());
                damaged[bit / 8] ^= 1 << (bit % 8);
                try_all(damaged);
            }
            for length in (0..bytes.len()).step_by(7) {
                try_all(bytes[..length].to_vec());
                if !is_stream {
                    assert!(IpcSource::from_bytes(bytes[..length].to_vec()).is_err(), "{length}");
                }
            }
        }
    }
}

#[test]
fn a_file_is_replaced_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.arrow");
    save_ipc(&path, &mixed(3)).unwrap();
    let bf16 = HomogenNumericTable::from_rows(&[[1.0_f32]]).unwrap().convert::<numeric_table::bf16>().unwrap();
    assert!(save_ipc(&path, &bf16).is_err());
    assert_eq!(IpcSource::open(&path).unwrap().load_columns().unwrap().row_count(), 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(IpcSource::open(folder.path().join("missing")).is_err());
}
