//! CSV files that become much larger in memory: what is compressed, what never ends, and lines of very many fields.

use std::io::Read;

use numeric_table::{
    csv::{CsvOptions, CsvSource},
    prelude::*,
};

use super::counting::measured;
use super::scratch::Scratch;

/// Opens a source, which must be refused, and returns the error. At most this many bytes are in memory at once.
#[track_caller]
fn refused(name: &str, most: usize, open: impl FnOnce() -> Result<CsvSource, Error>) -> String {
    let (result, peak, _) = measured(&|| name.to_owned(), open);
    let error = result.err().unwrap_or_else(|| panic!("{name} was accepted"));
    assert!(matches!(error.kind(), ErrorKind::CsvOption { .. } | ErrorKind::Text { .. }), "{name}: {error:?}");
    assert!(peak <= most, "{name}: {peak} bytes at once");
    error.to_string()
}

#[cfg(feature = "csv-compressed")]
mod compressed {
    use std::io::Write;

    use super::*;

    fn gzip_bomb() -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&[b'7'; 1 << 19]).unwrap();
        // Members may follow each other: a small one many times is as good as a large one.
        encoder.finish().unwrap().repeat(64)
    }

    /// A frame of zstd with a window of 128 MiB, and blocks of one byte that is repeated, of 128 KiB each.
    fn zstd_bomb(blocks: usize, content_size: Option<u64>) -> Vec<u8> {
        let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD];
        frame.push(if content_size.is_some() { 0b1100_0000 } else { 0 });
        frame.push(17 << 3);
        frame.extend(content_size.map(u64::to_le_bytes).iter().flatten());
        for block in 0..blocks {
            let header = (128_u32 << 10) << 3 | 1 << 1 | u32::from(block + 1 == blocks);
            frame.extend(&header.to_le_bytes()[..3]);
            frame.push(b'7');
        }
        frame
    }

    #[test]
    fn a_small_compressed_file_takes_no_more_memory_than_its_size_permits() {
        let scratch = Scratch::new();
        const FREE: usize = 4 << 20;
        let bombs = [
            ("gzip", gzip_bomb()),
            ("zstd", zstd_bomb(200, None)),
            ("zstd with a size", zstd_bomb(200, Some(200 << 17))),
            ("zstd with a size that lies", zstd_bomb(200, Some(1 << 10))),
        ];
        for (name, bomb) in bombs {
            assert!(bomb.len() < 1 << 17, "{name}: {}", bomb.len());
            let most = 6 * FREE.max(128 * bomb.len());
            std::fs::write(&scratch.path, &bomb).unwrap();
            let bytes = bomb.clone();
            let errors = [
                refused(name, most, || CsvSource::open(&scratch.path)),
                refused(name, most, || CsvSource::from_bytes(bytes)),
                refused(name, most, || CsvSource::from_reader(&bomb[..])),
            ];
            for error in errors {
                assert!(error.contains("`CsvOptions::max_decompression_ratio` permits more"), "{name}: {error}");
            }
            // The number of bytes is the other limit.
            let options = CsvOptions::new().max_decompression_ratio(u64::MAX).max_decompressed_bytes(1 << 20);
            let error = refused(name, 6 << 20, || CsvSource::from_bytes_with(bomb.clone(), options));
            assert!(
                error.contains("the limit of 1048576 bytes: `CsvOptions::max_decompressed_bytes` permits more"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_size_that_zstd_claims_is_compared_before_anything_is_decompressed() {
        let _scratch = Scratch::new();
        let bomb = zstd_bomb(2, Some(1 << 40));
        refused("a terabyte", 1 << 20, || CsvSource::from_bytes(bomb));
    }

    #[test]
    fn text_that_the_limits_permit_is_read_whatever_window_its_frame_has() {
        let _scratch = Scratch::new();
        let options = CsvOptions::new().max_decompression_ratio(u64::MAX);
        for content_size in [None, Some(40 << 17)] {
            let source = CsvSource::from_bytes_with(zstd_bomb(40, content_size), options.clone()).unwrap();
            assert_eq!(source.names().len(), 1);
            let exact = options.clone().max_decompressed_bytes(40 << 17);
            assert!(CsvSource::from_bytes_with(zstd_bomb(40, content_size), exact).is_ok());
        }
    }
}

#[test]
fn a_reader_that_never_ends_is_refused_at_the_limit() {
    let _scratch = Scratch::new();
    let options = || CsvOptions::new().max_buffered_bytes(1 << 20);
    let error = refused("endless", 4 << 20, || CsvSource::from_reader_with(std::io::repeat(b'7'), options()));
    assert!(
        error.ends_with("is more than the limit of 1048576 bytes: `CsvOptions::max_buffered_bytes` permits more"),
        "{error}"
    );
    #[cfg(target_os = "linux")]
    {
        let error = refused("a device", 4 << 20, || CsvSource::open_with("/dev/zero", options()));
        assert!(error.starts_with("/dev/zero: ") && error.contains("max_buffered_bytes"), "{error}");
    }
    let just_right = std::io::repeat(b'7').take(1 << 20);
    assert!(CsvSource::from_reader_with(just_right, options()).is_ok());
}

#[test]
fn a_line_of_a_million_fields_is_refused_before_they_are_described() {
    let _scratch = Scratch::new();
    let line = ["1,".repeat(999_999), "1\n".to_owned()].concat().into_bytes();
    let error = refused("a million", 16 << 20, || CsvSource::from_bytes(line.clone()));
    assert!(error.contains("begins a record of more than 65536 fields, which is the limit"), "{error}");
    // As many as are permitted take some hundred bytes each.
    let line = ["1,".repeat(65_535), "1\n".to_owned()].concat().into_bytes();
    let load = || CsvSource::from_bytes(line).unwrap().load_typed().unwrap();
    let (table, peak, _) = measured(&|| "65,536 columns".to_owned(), load);
    assert_eq!(table.column_count(), 65_536);
    assert!(peak <= 65_536 * 1024, "{peak} bytes at once");
}
