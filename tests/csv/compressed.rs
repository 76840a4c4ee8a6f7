//! Files compressed with gzip and zstd.

use numeric_table::csv::CsvSource;

/// `a,b\n1,2\n3,4\n` by `gzip -9 -n` and by `zstd --check`, version 1.5.4.
const GZIP: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xd4, 0x49, 0xe2, 0x32, 0xd4, 0x31, 0xe2, 0x32,
    0xd6, 0x31, 0xe1, 0x02, 0x00, 0xe5, 0xe9, 0xd6, 0xce, 0x0c, 0x00, 0x00, 0x00,
];
const ZSTD: &[u8] = &[
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x0c, 0x61, 0x00, 0x00, 0x61, 0x2c, 0x62, 0x0a, 0x31, 0x2c, 0x32, 0x0a, 0x33, 0x2c,
    0x34, 0x0a, 0xe1, 0xb3, 0xcb, 0x2e,
];

#[cfg(not(feature = "csv-compressed"))]
#[test]
fn compressed_files_are_refused_with_the_feature_that_reads_them() {
    for (bytes, name) in [(GZIP, "gzip"), (ZSTD, "zstd")] {
        let expected = format!("begins a file compressed with {name}: `csv-compressed` enables reading it");
        for error in [CsvSource::from_bytes(bytes).unwrap_err(), CsvSource::from_reader(bytes).unwrap_err()] {
            assert!(error.to_string().ends_with(&expected), "{error}");
        }
    }
}

#[cfg(feature = "csv-compressed")]
mod read {
    use std::io::{Read, Write};

    use numeric_table::{
        csv::{CsvMissing, CsvOptions},
        prelude::*,
    };

    use super::*;

    fn load(bytes: Vec<u8>) -> Result<Vec<f64>, Error> {
        Ok(CsvSource::from_bytes(bytes)?.load::<f64>()?.as_slice()?.to_vec())
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// A reader that returns a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }

    #[test]
    fn compressed_text_is_recognized_by_its_bytes_wherever_it_comes_from() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.csv"); // the name does not say so
        for bytes in [GZIP, ZSTD] {
            std::fs::write(&path, bytes).unwrap();
            for source in [
                CsvSource::open(&path).unwrap(),
                CsvSource::from_bytes(bytes).unwrap(),
                CsvSource::from_reader(bytes).unwrap(),
                CsvSource::from_reader(Slow(bytes)).unwrap(),
            ] {
                let table = source.load::<i16>().unwrap();
                assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4]);
                assert_eq!(table.dictionary().index_of("b"), Some(1));
                let mut blocks = source.row_blocks::<i16>(1).unwrap();
                assert_eq!(blocks.next_block().unwrap().unwrap()[..], [1, 2]);
            }
        }
        // Errors name the line of the text.
        std::fs::write(&path, gzip(b"1,2\n3,x\n")).unwrap();
        let error = CsvSource::open(&path).unwrap().load::<f64>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: line 2, column 1: \"x\"", path.display())), "{error}");
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let half = [gzip(b"1,2\n3,"), gzip(b""), gzip(b"4\n")].concat();
        assert_eq!(load(half).unwrap(), [1., 2., 3., 4.]);
        let skippable = |content: &[u8]| [&[0x53, 0x2A, 0x4D, 0x18, content.len() as u8, 0, 0, 0], content].concat();
        let frames = [skippable(b"note"), zstd(b"1,2\n3,"), skippable(b""), zstd(b"4\n")].concat();
        assert_eq!(load(frames).unwrap(), [1., 2., 3., 4.]);
    }

    #[test]
    fn large_text_is_the_same_compressed_and_not() {
        let mut text = String::from("a,b\n");
        (0..200_000_u32).for_each(|row| text += &format!("{row},{}\n", row.wrapping_mul(2_654_435_761) % 1000));
        let plain = load(text.clone().into_bytes()).unwrap();
        assert_eq!(load(gzip(text.as_bytes())).unwrap(), plain);
        assert_eq!(load(zstd(text.as_bytes())).unwrap(), plain);
    }

    #[test]
    fn whatever_is_cut_or_changed_is_an_error_or_leaves_the_text_as_it_was() {
        for bytes in [GZIP, ZSTD] {
            let expected = load(bytes.to_vec()).unwrap();
            for length in 4..bytes.len() {
                let error = load(bytes[..length].to_vec()).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{length}: {error:?}");
            }
            for (at, bit) in (4..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut changed = bytes.to_vec();
                changed[at] ^= 1 << bit;
                match load(changed) {
                    Ok(values) => assert_eq!(values, expected, "bit {bit} of byte {at}"), // a header's time, say
                    Err(error) => {
                        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "bit {bit} of byte {at}: {error:?}");
                    }
                }
            }
            assert!(load([bytes, b"rest"].concat()).is_err());
        }
        let error = load(GZIP[..20].to_vec()).unwrap_err().to_string();
        assert_eq!(error, "the stream failed: the gzip data ends too early");
        let mut changed = ZSTD.to_vec();
        changed[9] ^= 1;
        let error = CsvSource::from_reader(&changed[..]).unwrap_err().to_string();
        assert_eq!(error, "the stream failed: the zstd data is damaged: its checksum differs");
    }

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let text = vec![b'7'; 20 << 20];
        for bytes in [gzip(&text), zstd(&text)] {
            assert!(bytes.len() < 1 << 20);
            let options = CsvOptions::new().max_decompressed_bytes(1 << 20);
            let error = CsvSource::from_bytes_with(bytes, options).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::CsvOption { .. }), "{error:?}");
            let limit = "is more than the limit of 1048576 bytes: `CsvOptions::max_decompressed_bytes` permits more";
            assert!(error.to_string().contains(limit), "{error}");
        }
        let exact = CsvOptions::new().max_decompressed_bytes(12);
        assert!(CsvSource::from_bytes_with(GZIP, exact.clone()).is_ok());
        assert!(CsvSource::from_bytes_with(GZIP, exact.max_decompressed_bytes(11)).is_err());
    }

    #[test]
    fn a_compressed_file_without_text_is_an_empty_file() {
        for bytes in [gzip(b""), zstd(b"")] {
            let options = CsvOptions::new().missing(CsvMissing::Nan);
            assert_eq!(CsvSource::from_bytes_with(bytes, options).unwrap().load::<f64>().unwrap().row_count(), 0);
        }
    }
}
