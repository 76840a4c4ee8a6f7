//! Damaged and invented table files: whatever reads one returns an error with a reason, and a load that fails takes at
//! most twice the file's real size plus 1 MiB of memory.
//!
//! Files are put together here, field by field, so that any field can lie, with checksums that are right for the lie; a
//! test makes sure that an honest one is what the library writes.
//! Source of the rules: `src/format/README.md`.

use std::fs;
use std::path::Path;

use numeric_table::{
    files::{self, SaveOptions, verify},
    prelude::*,
};
use test_support::bits::Random;

use super::counting::measured;
use super::scratch::Scratch;

type Table<T> = HomogenNumericTable<T>;

/// Reads a file in every way. All must agree. Returns the error, if it is one.
#[track_caller]
fn read(path: &Path, bytes: &[u8], name: &str) -> Option<(u64, String)> {
    fs::write(path, bytes).unwrap();
    let limit = 2 * bytes.len() + (1 << 20);
    let in_limits = |read: &dyn Fn() -> Result<(), Error>| {
        let (result, peak, largest) = measured(&|| name.to_owned(), read);
        assert!(peak <= limit && largest <= limit, "{name}: {peak} bytes at once, {largest} for one request");
        result
    };
    let loaded = in_limits(&|| files::load(path).map(drop));
    let verified = in_limits(&|| verify(path).map(drop));
    let converted = in_limits(&|| Table::<u8>::load_cast(path).map(drop)); // no larger than the file
    match (loaded, verified, converted) {
        (Ok(()), Ok(()), Ok(())) => None,
        (Err(one), Err(two), Err(three)) => {
            assert_eq!([one.to_string(), one.to_string()], [two.to_string(), three.to_string()], "{name}");
            assert_eq!(one.path(), Some(path), "{name}");
            match one.into_kind() {
                ErrorKind::Format { offset, reason } => Some((offset, reason)),
                other => panic!("{name}: {other:?}"),
            }
        }
        other => panic!("{name}: {other:?}"),
    }
}

/// Reads a file that must be refused, with a reason that contains some words.
#[track_caller]
fn refused(path: &Path, bytes: &[u8], name: &str, words: &str) -> u64 {
    let Some((offset, reason)) = read(path, bytes, name) else { panic!("{name}: it was accepted") };
    assert!(reason.contains(words), "{name}: {reason:?} says nothing of {words:?}");
    assert!(offset <= 1 << 63, "{name}: {offset}");
    offset
}

// --- files, field by field -----------------------------------------------------------------------------------------

/// Everything in the file of a table of `i16`; any of it may lie.
#[derive(Clone)]
struct Fields {
    major: u16,
    minor: u16,
    header_length: Option<u32>,
    payload_offset: u64,
    payload_length: u64,
    file_length: Option<u64>,
    header_checksum: Option<u32>,
    chunk_size: u32,
    reserved: [u8; 12],
    header: Vec<u8>,
    payload: Vec<u8>,
    checksum_count: Option<u64>,
}

impl Fields {
    /// The 3 x 2 table of 1, 2 ... 6, whose columns are called `a` and `b`.
    fn honest() -> Self {
        let payload: Vec<u8> = (1..=6_i16).flat_map(i16::to_le_bytes).collect();
        Self {
            major: 2,
            minor: 0,
            header_length: None,
            payload_offset: 4096,
            payload_length: payload.len() as u64,
            file_length: None,
            header_checksum: None,
            chunk_size: 8,
            reserved: [0; 12],
            header: header(8, 0, 3, 2, 0, 2, &[&feature(Some("a"), 2, None), &feature(Some("b"), 0, Some(7))]),
            payload,
            checksum_count: None,
        }
    }

    /// The same table in a file of version 1, which has no name of a kind.
    fn version_1() -> Self {
        let honest = Self::honest();
        Self { major: 1, header: honest.header[KIND.len()..].to_vec(), ..honest }
    }

    fn with_header(header: Vec<u8>) -> Self {
        Self { header, ..Self::honest() }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut body = self.header.clone();
        body.resize((64 + self.header.len()).next_multiple_of(4096) - 64, 0);
        body.extend(&self.payload);
        if self.chunk_size > 0 {
            body.resize(body.len().next_multiple_of(8), 0);
            let chunks = self.payload.chunks(self.chunk_size as usize);
            body.extend(self.checksum_count.unwrap_or(chunks.len() as u64).to_le_bytes());
            body.extend(chunks.flat_map(|chunk| crc32fast::hash(chunk).to_le_bytes()));
        }
        let mut bytes = b"\x89NTB\r\n\x1a\n".to_vec();
        bytes.extend(self.major.to_le_bytes());
        bytes.extend(self.minor.to_le_bytes());
        bytes.extend(self.header_length.unwrap_or(self.header.len() as u32).to_le_bytes());
        bytes.extend(self.payload_offset.to_le_bytes());
        bytes.extend(self.payload_length.to_le_bytes());
        bytes.extend(self.file_length.unwrap_or(64 + body.len() as u64).to_le_bytes());
        bytes.extend(self.header_checksum.unwrap_or(crc32fast::hash(&self.header)).to_le_bytes());
        bytes.extend(self.chunk_size.to_le_bytes());
        bytes.extend(self.reserved);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend(body);
        bytes
    }
}

/// How the header of a homogeneous table begins.
const KIND: &[u8] = b"\x0bhomogeneous";

fn header(element: u8, layout: u8, rows: u64, columns: u64, is_uniform: u8, count: u64, features: &[&[u8]]) -> Vec<u8> {
    let mut bytes = [KIND, &[element, layout]].concat();
    bytes.extend([rows, columns].iter().flat_map(|number| number.to_le_bytes()));
    bytes.push(is_uniform);
    bytes.extend(count.to_le_bytes());
    bytes.extend(features.concat());
    bytes
}

fn feature(name: Option<&str>, kind: u8, categories: Option<u64>) -> Vec<u8> {
    let mut bytes = vec![u8::from(name.is_some())];
    if let Some(name) = name {
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name.as_bytes());
    }
    bytes.extend([kind, u8::from(categories.is_some())]);
    bytes.extend(categories.into_iter().flat_map(u64::to_le_bytes));
    bytes
}

fn honest_table() -> Table<i16> {
    let mut table = Table::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap();
    let [a, b] = ["a", "b"].map(|name| Feature::new(ElementType::I16).named(name));
    table.set_dictionary(DataDictionary::from_features([a, b.categorical(7)])).unwrap();
    table
}

#[test]
fn an_honest_file_is_what_the_library_writes() {
    let scratch = Scratch::new();
    let options = SaveOptions::new().durable(false).checksums(Some(8));
    honest_table().save_with(&scratch.path, options).unwrap();
    assert_eq!(fs::read(&scratch.path).unwrap(), Fields::honest().to_bytes());
    assert_eq!(Table::<i16>::load(&scratch.path).unwrap(), honest_table());
    assert_eq!(read(&scratch.path, &Fields::version_1().to_bytes(), "version 1"), None);
    assert_eq!(Table::<i16>::load(&scratch.path).unwrap(), honest_table());
}

// --- damage --------------------------------------------------------------------------------------------------------

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let scratch = Scratch::new();
    let files = [Fields::honest(), Fields::version_1()].map(|fields| fields.to_bytes());
    for (bytes, length) in files.iter().flat_map(|bytes| (0..bytes.len()).map(move |length| (bytes, length))) {
        let words = match length {
            0 => "empty".to_owned(),
            1..8 => "cut off".to_owned(),
            8..64 => format!("cut off: it has {length} bytes of at least 64"),
            _ => format!("cut off: it has {length} bytes and should have {}", bytes.len()),
        };
        refused(&scratch.path, &bytes[..length], &format!("cut at {length}"), &words);
    }
}

#[test]
fn bytes_past_the_end_are_refused() {
    let scratch = Scratch::new();
    let mut bytes = Fields::honest().to_bytes();
    let end = bytes.len();
    bytes.push(0);
    assert_eq!(refused(&scratch.path, &bytes, "one byte more", "bytes past the end: 1"), end as u64);
    bytes.resize(100_000, 7);
    refused(&scratch.path, &bytes, "many bytes more", "bytes past the end");
}

#[test]
fn every_flipped_bit_of_preamble_and_header_is_seen() {
    let scratch = Scratch::new();
    let files = [Fields::honest(), Fields::version_1()];
    for (fields, bit) in
        files.iter().flat_map(|fields| (0..8 * (64 + fields.header.len())).map(move |bit| (fields, bit)))
    {
        let mut damaged = fields.to_bytes();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let words = match bit / 8 {
            0..8 => "file",
            8..10 if !matches!(damaged[8..10], [1..=3, 0]) => "version",
            8..10 => "checksum of the first 60 bytes", // it is another one that is known
            10..64 => "checksum of the first 60 bytes",
            _ => "checksum of the header",
        };
        refused(&scratch.path, &damaged, &format!("bit {bit}"), words);
    }
}

#[test]
fn every_flipped_bit_of_values_and_checksums_is_seen() {
    let scratch = Scratch::new();
    let bytes = Fields::honest().to_bytes();
    for bit in 8 * 4096..8 * bytes.len() {
        let byte = bit / 8;
        let mut damaged = bytes.clone();
        damaged[byte] ^= 1 << (bit % 8);
        let name = format!("bit {bit}");
        match byte - 4096 {
            0..8 => assert_eq!(refused(&scratch.path, &damaged, &name, "chunk 0 (of 2)"), 4096),
            8..12 => assert_eq!(refused(&scratch.path, &damaged, &name, "chunk 1 (of 2)"), 4104),
            12..16 => assert_eq!(read(&scratch.path, &damaged, &name), None), // padding
            16..24 => assert_eq!(refused(&scratch.path, &damaged, &name, "but its values have 2 chunks"), 4112),
            24..28 => assert_eq!(refused(&scratch.path, &damaged, &name, "chunk 0 (of 2)"), 4096),
            _ => assert_eq!(refused(&scratch.path, &damaged, &name, "chunk 1 (of 2)"), 4104),
        }
    }
}

#[test]
fn damage_in_a_large_file_is_found_and_the_first_is_named() {
    let scratch = Scratch::new();
    let table = Table::<u8>::full(Shape { rows: 5 << 20, columns: 1 }, 3).unwrap();
    table.save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
    let mut bytes = fs::read(&scratch.path).unwrap();
    bytes[4096 + (3 << 20) + 5] ^= 0x10;
    bytes[4096 + (4 << 20)] ^= 1;
    let offset = refused(&scratch.path, &bytes, "two chunks", "chunk 3 (of 5)");
    assert_eq!(offset, 4096 + (3 << 20));
}

// --- files of others -----------------------------------------------------------------------------------------------

#[test]
fn other_files_are_called_what_they_are() {
    let scratch = Scratch::new();
    let archive = honest_table().to_bytes().unwrap();
    let honest = Fields::honest().to_bytes();
    let text: Vec<u8> = [b"\x89NTB\n\x1a\n", &honest[8..]].concat(); // CR LF became LF
    let files: [(&[u8], &str); 9] = [
        (b"\x93NUMPY\x01\0v\0{'descr': '<f4', ", "NumPy"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03 and more", "gzip"),
        (b"\x28\xb5\x2f\xfd\x04\0", "zstd"),
        (b"PK\x03\x04\x14\0", "zip"),
        (&archive, "archive of a table"),
        (&text, "as text"),
        (b"5.1,3.5,1.4,0.2,setosa\n", "not a table file"),
        (&[0; 5000], "not a table file"),
        (&honest[1..], "not a table file"),
    ];
    for (bytes, words) in files {
        assert_eq!(refused(&scratch.path, bytes, words, words), 0);
    }
}

#[test]
fn a_missing_file_and_a_folder_are_errors_with_the_path() {
    let scratch = Scratch::new();
    let folder = scratch.path.parent().unwrap();
    for path in [&*scratch.path, folder, &folder.join("missing/table.ntb"), Path::new("")] {
        let errors = [files::load(path).map(drop), verify(path).map(drop), Table::<f32>::load(path).map(drop)];
        for error in errors {
            assert!(
                error
                    .as_ref()
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::Io { .. }) && error.path().unwrap() == path)
            );
        }
    }
    assert!(verify(folder).unwrap_err().to_string().contains("directory"));
}

#[test]
fn a_newer_major_version_is_refused_and_a_newer_minor_one_is_read() {
    let scratch = Scratch::new();
    let newer = Fields { major: 5, minor: 5, ..Fields::honest() };
    let words = "version 5.5, and this library reads versions 1.0 to 4.0; a newer version";
    assert_eq!(refused(&scratch.path, &newer.to_bytes(), "newer", words), 8);
    refused(&scratch.path, &Fields { major: 0, ..Fields::honest() }.to_bytes(), "older", "version 0.0");
    for honest in [Fields::honest(), Fields::version_1()] {
        let minor = Fields { minor: 1, reserved: [5; 12], ..honest.clone() };
        assert_eq!(read(&scratch.path, &minor.to_bytes(), "newer minor version"), None);
        assert_eq!(Table::<i16>::load(&scratch.path).unwrap(), honest_table());
        let reserved = Fields { reserved: [5; 12], ..honest };
        refused(&scratch.path, &reserved.to_bytes(), "reserved bytes", "reserved bytes are not zero");
    }
}

// --- lies ----------------------------------------------------------------------------------------------------------

#[test]
fn parts_that_overlap_or_reach_outside_are_refused() {
    let scratch = Scratch::new();
    let honest = Fields::honest();
    let end = honest.to_bytes().len() as u64;
    let lies: [(Fields, &str); 15] = [
        (Fields { payload_offset: 0, ..honest.clone() }, "inside the header"),
        (Fields { payload_offset: 4095, ..honest.clone() }, "not a multiple of 4096"),
        (Fields { payload_offset: 64, ..honest.clone() }, "not a multiple of 4096"),
        (Fields { payload_offset: 8192, ..honest.clone() }, "the file at"),
        (Fields { payload_offset: u64::MAX - 4095, ..honest.clone() }, "more than a file can hold"),
        (Fields { payload_length: 4, ..honest.clone() }, "the file at"),
        (Fields { payload_length: u64::MAX, ..honest.clone() }, "more than a file can hold"),
        (Fields { payload_length: u64::MAX - 4096, ..honest.clone() }, "more than a file can hold"),
        (Fields { payload_length: i64::MAX as u64 - 4096, ..honest.clone() }, "more than a file can hold"),
        (Fields { header_length: Some(u32::MAX), ..honest.clone() }, "longer than 16777281"),
        (Fields { header_length: Some((16 << 20) + 1), ..Fields::version_1() }, "longer than 16777216"),
        (Fields { header_length: Some(5000), ..honest.clone() }, "inside the header"),
        (Fields { file_length: Some(end + 1), ..honest.clone() }, "cut off"),
        (Fields { file_length: Some(u64::MAX), ..honest.clone() }, "should have 18446744073709551615"),
        (Fields { file_length: Some(0), ..honest.clone() }, "bytes past the end"),
    ];
    for (fields, words) in lies {
        refused(&scratch.path, &fields.to_bytes(), words, words);
    }
    let mut without = Fields { chunk_size: 0, ..honest }.to_bytes();
    assert_eq!(read(&scratch.path, &without, "no checksums"), None);
    without.truncate(4096);
    refused(&scratch.path, &without, "no values", "cut off");
}

#[test]
fn headers_that_lie_are_refused() {
    let scratch = Scratch::new();
    let (a, b) = (feature(Some("a"), 2, None), feature(Some("b"), 0, Some(7)));
    let both: &[&[u8]] = &[&a, &b];
    let long_name = [&[1][..], &u64::MAX.to_le_bytes(), b"a"].concat();
    let lies: [(Vec<u8>, &str); 22] = [
        (vec![], "ends within"),
        (header(10, 0, 3, 2, 0, 2, both), "unknown element type: 10"),
        (header(8, 2, 3, 2, 0, 2, both), "unknown layout: 2"),
        (header(8, 0, 3, 2, 2, 2, both), "the flag for one feature of all columns is 2"),
        (header(8, 0, 2, 3, 0, 2, both), "describes 2 columns instead of 3"),
        (header(8, 0, 3, 2, 1, 3, &[&a]), "describes 3 columns instead of 2"),
        (header(8, 0, 4, 2, 0, 2, both), "4 x 2 i16 values take 16 bytes, but the file holds 12"),
        (header(0, 0, 3, 2, 0, 2, both), "3 x 2 f32 values take 24 bytes"),
        (header(8, 0, 1 << 60, 2, 0, 2, both), "values take"),
        (header(8, 0, u64::MAX, 2, 0, 2, both), "more than can be counted"),
        (header(8, 0, 1 << 32, 1 << 32, 1, 1 << 32, &[&a]), "more than can be counted"),
        (header(8, 0, 3, 2, 0, 2, &[&a]), "ends within"),
        (header(8, 0, 3, 2, 0, u64::MAX, both), "ends within"),
        (header(8, 0, 3, 2, 0, 1, both), "bytes after the last feature"),
        (header(8, 0, 3, 2, 1, 2, both), "bytes after the last feature"),
        (header(8, 0, 3, 2, 0, 2, &[&a, &feature(Some("b"), 8, None)]), "unknown feature type: 8"),
        (header(8, 0, 3, 2, 0, 2, &[&a, &[2, 2, 0]]), "damaged"),
        (header(8, 0, 3, 2, 0, 2, &[&a, &[0, 2, 9]]), "damaged"),
        (header(8, 0, 3, 2, 0, 2, &[&a, &[1, 1, 0, 0, 0, 0, 0, 0, 0, 0xff, 2, 0]]), "damaged"),
        (header(8, 0, 3, 2, 0, 2, &[&a, &long_name]), "ends within"),
        (header(8, 0, 3, 2, 0, 2, both)[..KIND.len() + 18].to_vec(), "ends within"),
        ([&header(8, 0, 3, 2, 0, 2, both)[..], &[0]].concat(), "bytes after the last feature: 1"),
    ];
    for (header, words) in lies {
        let offset = refused(&scratch.path, &Fields::with_header(header).to_bytes(), words, words);
        assert!((64..200).contains(&offset), "{words}: {offset}");
    }
}

#[test]
fn sixty_four_bytes_that_claim_many_rows_cost_little() {
    let scratch = Scratch::new();
    let bytes = Fields { payload_length: 1 << 60, ..Fields::honest() }.to_bytes();
    refused(&scratch.path, &bytes[..64], "64 bytes", "cut off: it has 64 bytes");
    let claims = header(8, 0, 1 << 60, 1, 1, 1, &[&feature(None, 2, None)]);
    let bytes = Fields::with_header(claims).to_bytes();
    refused(&scratch.path, &bytes, "2^60 rows", "1152921504606846976 x 1 i16 values");
}

#[test]
fn many_features_cost_no_more_than_the_file_until_it_is_found_good() {
    let scratch = Scratch::new();
    // 300,000 features of 11 bytes, each 60 in memory.
    let count = 300_000;
    let mut table = Table::<u8>::full(Shape { rows: 1, columns: count }, 1).unwrap();
    let features = (0..count).map(|i| Feature::new(ElementType::U8).categorical(i));
    table.set_dictionary(features.collect()).unwrap();
    table.save_with(&scratch.path, SaveOptions::new().durable(false)).unwrap();
    let mut bytes = fs::read(&scratch.path).unwrap();
    let value = bytes.len() - 100;
    bytes[value] ^= 1;
    refused(&scratch.path, &bytes, "a value", "chunk 0 (of 1)");
}

#[test]
fn a_header_whose_last_feature_is_damaged_costs_no_more_than_the_file() {
    let scratch = Scratch::new();
    let good: Vec<Vec<u8>> = (0..300_u64).map(|i| feature(None, 0, Some(i))).collect();
    let endings: [(&[u8], &str); 5] = [
        (&[0, 8, 0], "unknown feature type: 8"),
        (&[0, 2, 2], "an optional value has flag 2, not 0 or 1"),
        (&[1, 2, 0, 0, 0, 0, 0, 0, 0, 0xc3, 0x28, 2, 0], "not UTF-8"),
        (&[1, 255, 255, 255, 255, 255, 255, 255, 127, 2, 0], "ends within"),
        (&[0, 2], "ends within"),
    ];
    for (last, words) in endings {
        let count = 200_001;
        let mut bytes = header(8, 0, 0, count, 0, count, &[]);
        good.iter().cycle().take(200_000).for_each(|record| bytes.extend(record));
        bytes.extend(last);
        let header_length = bytes.len();
        let payload_offset = (64 + header_length as u64).next_multiple_of(4096);
        let fields =
            Fields { payload_offset, payload_length: 0, chunk_size: 0, payload: vec![], ..Fields::with_header(bytes) };
        let offset = refused(&scratch.path, &fields.to_bytes(), words, words);
        assert!(offset >= (64 + header_length - last.len()) as u64, "{words}: {offset}");
    }
}

#[test]
fn random_damage_never_does_more_than_be_seen() {
    let scratch = Scratch::new();
    let mut random = Random::new(4);
    let honest = Fields::honest();
    for round in 0..2000 {
        let mut fields = honest.clone();
        for _ in 0..=random.below(3) {
            let number = match random.below(4) {
                0 => random.next(),
                1 => random.below(5000) as u64,
                2 => 1 << random.below(64),
                _ => u64::MAX - random.below(9000) as u64,
            };
            match random.below(7) {
                0 => fields.payload_offset = number,
                1 => fields.payload_length = number,
                2 => fields.file_length = Some(number),
                3 => fields.header_length = Some(number as u32),
                4 => fields.checksum_count = Some(number),
                5 => {
                    let at = random.below(fields.header.len().max(1));
                    fields.header.iter_mut().skip(at).take(1).for_each(|byte| *byte = number as u8);
                }
                _ => fields.header.truncate(random.below(honest.header.len() + 1)),
            }
        }
        read(&scratch.path, &fields.to_bytes(), &format!("round {round}"));
    }
}
