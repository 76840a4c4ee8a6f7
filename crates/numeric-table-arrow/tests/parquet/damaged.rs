//! Damaged files: every one is an error or a table, and none is a panic.

use numeric_table::prelude::*;
use numeric_table_arrow::ArrowOptions;
use numeric_table_arrow::parquet::{ParquetCompression, ParquetSource, ParquetWriteOptions, save_parquet_with};

use crate::common::{file, mixed};

/// Returns a small file with several row groups.
fn small(compression: ParquetCompression) -> Vec<u8> {
    let (_folder, path) = file();
    let options = ParquetWriteOptions::new().compression(compression).rows_per_row_group(40).dictionaries(true);
    save_parquet_with(&path, &mixed(100), options).unwrap();
    std::fs::read(&path).unwrap()
}

/// Reads bytes in every way. Returns whether all succeed.
fn try_all(bytes: Vec<u8>) -> bool {
    let Ok(source) = ParquetSource::from_bytes(bytes) else { return false };
    let options = ArrowOptions::new().convert(ConversionPolicy::Saturate).nulls_to(0);
    let source = source.options(options);
    let is_whole = source.load::<f64>().is_ok();
    let has_columns = source.load_columns().is_ok();
    let has_rows = source.load_rows::<f32>(source.shape().map_or(0, |shape| shape.rows / 2)..).is_ok();
    let has_blocks = source.row_blocks::<f64>(30).is_ok_and(|mut blocks| blocks.all(|block| block.is_ok()));
    is_whole && has_columns && has_rows && has_blocks
}

#[test]
fn truncated_files_are_errors() {
    let bytes = small(ParquetCompression::Snappy);
    assert!(try_all(bytes.clone()));
    for length in (0..bytes.len()).step_by(3).chain(bytes.len() - 12..bytes.len()) {
        assert!(ParquetSource::from_bytes(bytes[..length].to_vec()).is_err(), "{length}");
    }
}

#[test]
fn flipped_bits_are_errors_or_other_values() {
    let seed = 0x9E37_79B9_7F4A_7C15_u64;
    println!("seed {seed}");
    for compression in [ParquetCompression::None, ParquetCompression::Snappy, ParquetCompression::Zstd] {
        let bytes = small(compression);
        let mut state = seed;
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..=state % 3 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let bit = (state >> 33) as usize % (8 * damaged.len());
                damaged[bit / 8] ^= 1 << (bit % 8);
            }
            try_all(damaged);
        }
    }
}

#[test]
fn damaged_pages_of_pyarrow_are_errors_or_other_values() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64; // the seed
    for name in ["pages-1.parquet", "pages-2.parquet"] {
        let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/").to_owned() + name).unwrap();
        assert!(try_all(bytes.clone()));
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Most of the first pages, where a bit is a length or an index.
            let bit = (state >> 33) as usize % (8 * damaged.len()) / (1 + (state % 4) as usize * 8);
            damaged[bit / 8] ^= 1 << (bit % 8);
            try_all(damaged);
        }
        for length in (0..bytes.len()).step_by(97) {
            assert!(ParquetSource::from_bytes(bytes[..length].to_vec()).is_err(), "{length}");
        }
    }
}

#[test]
fn every_byte_of_the_footer_may_be_wrong() {
    let bytes = small(ParquetCompression::None);
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    for at in (bytes.len() - 8 - footer..bytes.len()).step_by(2) {
        for value in [0xff, bytes[at].wrapping_add(2)] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            try_all(damaged);
        }
    }
}

#[test]
fn foreign_bytes_are_errors_that_name_the_file() {
    let (_folder, path) = file();
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"length,width\n1,2\n3,4\n"] {
        std::fs::write(&path, bytes).unwrap();
        let error = ParquetSource::open(&path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        assert_eq!(error.path(), Some(&*path));
    }
    let error = ParquetSource::open(path.with_extension("missing")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
    assert!(ParquetSource::open(path.parent().unwrap()).is_err());
}
