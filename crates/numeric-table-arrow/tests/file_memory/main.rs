//! Blocks of Parquet files take memory that does not grow with the file, and damaged files take little.
//!
//! The only test of its program, whose allocator counts.

#[path = "../../../../tests/memory_limits/counting.rs"]
mod counting;

use counting::measured;
use numeric_table::prelude::*;
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::ipc::{IpcCompression, IpcSource, IpcWriteOptions, save_ipc_with};
use numeric_table_arrow::parquet::{ParquetCompression, ParquetSource, ParquetWriteOptions, save_parquet_with};

/// Number of bytes that reading a damaged file of a few kilobytes may take.
const MOST: usize = 16 << 20;

fn table(rows: usize) -> HomogenNumericTable<f32> {
    HomogenNumericTable::from_fn(Shape { rows, columns: 4 }, |row, column| (row * 4 + column) as f32).unwrap()
}

fn options() -> ArrowOptions {
    ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(0)
}

#[test]
fn memory_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");

    // One row group each, of 4 and of 32 MB.
    let peaks = [1 << 18, 1 << 21].map(|rows| {
        let write = ParquetWriteOptions::new().rows_per_row_group(usize::MAX);
        save_parquet_with(&path, &table(rows), write.compression(ParquetCompression::None)).unwrap();
        let read = || {
            let source = ParquetSource::open(&path).unwrap();
            source.row_blocks::<f32>(10_000).unwrap().map(|block| block.unwrap().row_count()).sum::<usize>()
        };
        let (count, peak, _) = measured(&|| format!("blocks of {rows} rows"), read);
        assert_eq!(count, rows);
        peak
    });
    assert!(peaks[1] < 20 << 20 && peaks[1] < peaks[0] + (2 << 20), "{peaks:?} bytes");

    let mut state = 0x9E37_79B9_7F4A_7C15_u64; // the seed
    let mut damage = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        for _ in 0..2 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 16) as u8;
        }
        bytes
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {})); // a backtrace takes more memory than the files
    let mut peaks = Vec::new();
    for compression in [ParquetCompression::None, ParquetCompression::Snappy, ParquetCompression::Gzip] {
        let write = ParquetWriteOptions::new().rows_per_row_group(30).compression(compression);
        save_parquet_with(&path, &table(100), write).unwrap();
        let plain = std::fs::read(&path).unwrap();
        save_parquet_with(&path, &table(100), write.dictionaries(true)).unwrap();
        let indices = std::fs::read(&path).unwrap();
        for round in 0..500 {
            let whole = if round % 2 == 0 { &plain } else { &indices };
            let bytes = damage(whole);
            let read = || {
                let Ok(source) = ParquetSource::from_bytes(bytes.clone()) else { return };
                let source = source.options(options());
                let _ = (source.load::<f64>().is_ok(), source.load_columns().is_ok());
            };
            let (_, peak, _) = measured(&|| format!("Parquet, round {round}"), read);
            peaks.push((peak, format!("{compression:?}, round {round}")));
        }
    }
    for compression in [IpcCompression::None, IpcCompression::Lz4, IpcCompression::Zstd] {
        save_ipc_with(&path, &table(100), IpcWriteOptions::new().compression(compression)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for round in 0..250 {
            let bytes = damage(&whole);
            let read = || {
                let Ok(source) = IpcSource::from_bytes(bytes.clone()) else { return };
                let _ = source.options(options()).load::<f64>().is_ok();
            };
            let (_, peak, _) = measured(&|| format!("IPC, round {round}"), read);
            peaks.push((peak, format!("{compression:?}, round {round}")));
        }
    }
    std::panic::set_hook(hook);
    let largest = peaks.iter().max().unwrap();
    assert!(largest.0 < MOST, "{largest:?}");
}
