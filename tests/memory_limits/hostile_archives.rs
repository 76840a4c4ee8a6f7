//! Damaged and invented archives: reading one always returns, and takes at most twice its size plus 1 MiB of memory.
//!
//! Archives are put together here, field by field, so that any field can lie; a test makes sure that an honest one is
//! what the library writes. Memory maps are watched on Linux, too.
//! Limits: the crate's documentation of `from_bytes`, and the rules for readers of table files.

use numeric_table::{files, prelude::*};
use test_support::bits::Random;

use super::counting::measured;
use super::scratch::alone;

type Table<T> = HomogenNumericTable<T>;

/// Reads hostile bytes; whatever comes back must be a whole table. Returns whether one came back.
fn read_within_limits<T: Element>(bytes: &[u8], name: &dyn Fn() -> String) -> bool {
    let limit = 2 * bytes.len() + (1 << 20);
    let (result, peak, largest) = measured(name, || Table::<T>::from_bytes(bytes));
    assert!(peak <= limit && largest <= limit, "{}: {peak} bytes at once, {largest} for one request", name());
    let Ok(table) = result else { return false };
    assert_eq!(table.as_slice().unwrap().len(), table.shape().element_count().unwrap(), "{}", name());
    assert_eq!(table.dictionary().len(), table.column_count(), "{}", name());
    true
}

/// As [`read_within_limits`], for a reader that does not know the element type.
fn read_any_within_limits(bytes: &[u8], name: &dyn Fn() -> String) {
    let limit = 2 * bytes.len() + (1 << 20);
    let (_, peak, largest) = measured(name, || files::from_bytes(bytes).map(drop));
    assert!(peak <= limit && largest <= limit, "{}: {peak} bytes at once, {largest} for one request", name());
}

// --- archives, field by field --------------------------------------------------------------------------------------

/// What stands in an archive of `f32`; every number may lie.
#[derive(Clone)]
struct Fields {
    rows: u64,
    columns: u64,
    is_uniform: u8,
    feature_count: u64,
    records: Vec<u8>,
    names: Vec<u8>,
    values: Vec<u8>,
    /// In the place of the true lengths of records, names and values.
    lengths: [Option<u64>; 3],
}

impl Fields {
    /// A table without names.
    fn uniform(rows: u64, columns: u64, values: &[f32]) -> Self {
        let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let records = record(0, 0, 0, 0);
        Self {
            rows,
            columns,
            is_uniform: 1,
            feature_count: columns,
            records,
            names: vec![],
            values,
            lengths: [None; 3],
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = b"NUMTABLE\x02\0\0\0\x0b\0\0\0\0\0\0\0homogeneous".to_vec();
        bytes.extend(b"\x03\0\0\0\0\0\0\0f32\x03\0\0\0\0\0\0\0f32\0\0\0\0");
        bytes.extend(self.rows.to_le_bytes());
        bytes.extend(self.columns.to_le_bytes());
        bytes.push(self.is_uniform);
        bytes.extend(self.feature_count.to_le_bytes());
        for (piece, length) in [&self.records, &self.names, &self.values].into_iter().zip(self.lengths) {
            bytes.extend(length.unwrap_or(piece.len() as u64).to_le_bytes());
            bytes.extend(piece);
        }
        bytes
    }
}

/// A record of a continuous `f32` feature. Flags: 1 for a name, 2 for a number of categories.
fn record(flags: u8, categories: u64, name_start: u64, name_length: u64) -> Vec<u8> {
    let mut record = vec![0, 2, flags, 0, 0, 0, 0, 0];
    record.extend([categories, name_start, name_length].iter().flat_map(|number| number.to_le_bytes()));
    record
}

/// One row of `columns` values; column `i` is named `i`.
fn named_columns(columns: usize) -> Table<f32> {
    let values: Vec<f32> = (0..columns).map(|column| column as f32).collect();
    let mut table = Table::from_array(values, Shape { rows: 1, columns }).unwrap();
    let features = (0..columns).map(|column| Feature::new(ElementType::F32).named(format!("column {column}")));
    table.set_dictionary(features.collect()).unwrap();
    table
}

/// Archives that are in order: small, with names, with many columns, with a large payload.
fn good_archives() -> Vec<(&'static str, Vec<u8>)> {
    let small = Table::from_rows(&[[1.5_f32, -2.0], [f32::NAN, 4.0]]).unwrap();
    let large = Table::full_with_layout(Shape { rows: 128, columns: 128 }, 0.5_f32, DataLayout::ColumnMajor).unwrap(); // 64 KiB
    let tables = [("small", small), ("named", named_columns(5)), ("wide", named_columns(1000)), ("large", large)];
    tables.map(|(name, table)| (name, table.to_bytes().unwrap())).into()
}

#[test]
fn the_archives_of_these_tests_are_those_of_the_library() {
    let _alone = alone();
    let table = Table::from_rows(&[[1.5_f32, -2.0], [0.0, 4.0]]).unwrap();
    assert_eq!(Fields::uniform(2, 2, &[1.5, -2.0, 0.0, 4.0]).to_bytes(), table.to_bytes().unwrap());
    let named = Fields {
        is_uniform: 0,
        records: [record(1, 0, 0, 8), record(1, 0, 8, 8)].concat(),
        names: b"column 0column 1".to_vec(),
        ..Fields::uniform(1, 2, &[0.0, 1.0])
    };
    assert_eq!(named.to_bytes(), named_columns(2).to_bytes().unwrap());
}

// --- damage --------------------------------------------------------------------------------------------------------

#[test]
fn every_truncation_is_an_error() {
    let _alone = alone();
    for (archive, bytes) in good_archives() {
        let values = bytes.len().min(600)..bytes.len().saturating_sub(600).max(600);
        for length in (0..bytes.len()).filter(|length| !values.contains(length) || length % 13 == 0) {
            let name = || format!("{archive}, cut at byte {length}");
            assert!(!read_within_limits::<f32>(&bytes[..length], &name), "{} was read", name());
        }
    }
}

#[test]
fn every_truncation_is_an_error_where_the_type_is_not_known() {
    let _alone = alone();
    for (archive, bytes) in good_archives() {
        for length in (0..bytes.len().min(600)).chain((600..bytes.len()).step_by(997)) {
            read_any_within_limits(&bytes[..length], &|| format!("{archive}, cut at byte {length}"));
        }
    }
}

#[test]
fn every_flipped_bit_is_survived() {
    let _alone = alone();
    let mut random = Random::new(23);
    for (archive, mut bytes) in good_archives() {
        let rest = bytes.len().saturating_sub(600);
        let sample: Vec<usize> = (0..if rest > 0 { 300 } else { 0 }).map(|_| 600 + random.below(rest)).collect();
        for position in (0..bytes.len().min(600)).chain(sample) {
            for bit in 0..8 {
                bytes[position] ^= 1 << bit;
                let name = || format!("{archive}, bit {bit} of byte {position} flipped");
                read_within_limits::<f32>(&bytes, &name);
                read_any_within_limits(&bytes, &name);
                bytes[position] ^= 1 << bit;
            }
        }
        assert!(Table::<f32>::from_bytes(&bytes).is_ok(), "all bits are back");
    }
}

#[test]
fn appended_bytes_are_an_error() {
    let _alone = alone();
    for (archive, bytes) in good_archives() {
        for extra in [1, 4, 8, 4096] {
            let mut longer = bytes.clone();
            longer.resize(bytes.len() + extra, 0);
            let name = || format!("{archive} and {extra} bytes");
            assert!(!read_within_limits::<f32>(&longer, &name), "{} was read", name());
        }
        let twice = bytes.repeat(2);
        assert!(!read_within_limits::<f32>(&twice, &|| format!("{archive} twice")));
    }
}

#[test]
fn random_bytes_are_an_error_with_or_without_a_good_beginning() {
    let _alone = alone();
    let mut random = Random::new(5);
    let good = good_archives().remove(1).1;
    for round in 0..20_000 {
        let mut bytes = good[..random.below(good.len() / 2)].to_vec();
        if round % 2 == 0 {
            bytes.clear();
        }
        let length = random.below(300);
        bytes.extend((0..length).map(|_| random.next() as u8));
        read_within_limits::<f32>(&bytes, &|| format!("round {round}: {bytes:?}"));
    }
}

#[test]
fn extreme_numbers_at_every_position_are_survived() {
    let _alone = alone();
    let extremes = [
        0,
        1,
        1 << 31,
        u64::from(u32::MAX),
        1 << 32,
        1 << 60,
        1 << 62,
        i64::MAX as u64,
        1 << 63,
        u64::MAX - 7,
        u64::MAX,
    ];
    for (archive, bytes) in good_archives() {
        for position in 0..(bytes.len() - 8).min(600) {
            for extreme in extremes {
                let mut bytes = bytes.clone();
                bytes[position..position + 8].copy_from_slice(&extreme.to_le_bytes());
                let name = || format!("{archive}, {extreme} at byte {position}");
                read_within_limits::<f32>(&bytes, &name);
                read_any_within_limits(&bytes, &name);
            }
        }
    }
}

// --- lies ----------------------------------------------------------------------------------------------------------

fn assert_refused(fields: &Fields, lie: &str) {
    assert!(!read_within_limits::<f32>(&fields.to_bytes(), &|| lie.to_owned()), "{lie}: was read");
}

#[test]
fn shapes_that_are_not_those_of_the_values_are_refused() {
    let _alone = alone();
    let good = Fields::uniform(2, 2, &[1.0; 4]);
    assert!(read_within_limits::<f32>(&good.to_bytes(), &|| "good".to_owned()));
    let shapes = [
        (3, 2),
        (2, 3),
        (1, 2),
        (0, 2),
        (2, 0),
        (1 << 60, 2),
        (2, 1 << 60),
        (1 << 32, 1 << 32), // 0 values, where products wrap
        ((1 << 62) + 1, 4), // 4 values, where products wrap
        ((1 << 63) + 2, 2), // 4 values, where products wrap
        (1 << 60, 1 << 2),  // 2^62 values are 0 bytes, where sizes wrap
        (u64::MAX, u64::MAX),
    ];
    for (rows, columns) in shapes {
        let fields = Fields { rows, columns, feature_count: columns, ..good.clone() };
        assert_refused(&fields, &format!("{rows} x {columns}"));
    }
}

#[test]
fn lengths_that_are_not_there_are_refused() {
    let _alone = alone();
    for piece in 0..3 {
        for length in [1 << 20, 1 << 32, 1 << 60, i64::MAX as u64, 1 << 63, u64::MAX - 8, u64::MAX] {
            let mut fields = Fields::uniform(2, 2, &[1.0; 4]);
            fields.lengths[piece] = Some(length);
            assert_refused(&fields, &format!("length {length} of piece {piece}"));
        }
    }
}

#[test]
fn numbers_of_features_that_are_not_there_are_refused() {
    let _alone = alone();
    for is_uniform in [0, 1, 2, 255] {
        for feature_count in [0, 1, 3, 1 << 32, 1 << 60, (1 << 59) + 1, u64::MAX] {
            let fields = Fields { is_uniform, feature_count, ..Fields::uniform(2, 2, &[1.0; 4]) };
            assert_refused(&fields, &format!("{feature_count} features, uniform: {is_uniform}"));
        }
    }
    for records in [vec![], record(0, 0, 0, 0)[..31].to_vec(), record(0, 0, 0, 0).repeat(2), vec![0; 33]] {
        let lie = format!("{} bytes of records", records.len());
        assert_refused(&Fields { records, ..Fields::uniform(2, 2, &[1.0; 4]) }, &lie);
    }
}

#[test]
fn names_that_lie_outside_of_the_names_are_refused() {
    let _alone = alone();
    let named = |start, length| Fields {
        records: record(1, 0, start, length),
        names: b"width".to_vec(),
        ..Fields::uniform(1, 1, &[1.0])
    };
    assert!(read_within_limits::<f32>(&named(0, 5).to_bytes(), &|| "good".to_owned()));
    for (start, length) in
        [(0, 6), (1, 5), (5, 1), (6, 0), (1 << 60, 1), (u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)]
    {
        assert_refused(&named(start, length), &format!("a name at {start}, {length} long"));
    }
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let _alone = alone();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut fields = Fields::uniform(1, 1, &[1.0]);
        change(&mut fields.records);
        fields
    };
    assert_refused(&with(&|record| record[0] = 1), "f64 in a table of f32");
    assert_refused(&with(&|record| record[0] = 10), "an element type that does not exist");
    assert_refused(&with(&|record| record[1] = 8), "a feature type that does not exist");
    assert_refused(&with(&|record| record[2] = 4), "a flag that does not exist");
    assert_refused(&with(&|record| record[5] = 1), "padding that is not zero");
    assert_refused(&with(&|record| record[8] = 1), "categories without the flag for them");
    let unnamed = Fields { records: record(0, 0, 0, 5), names: b"width".to_vec(), ..Fields::uniform(1, 1, &[1.0]) };
    assert_refused(&unnamed, "a name without the flag for it");
    let garbled = Fields { records: record(1, 0, 0, 2), names: vec![0xC3, 0x28], ..Fields::uniform(1, 1, &[1.0]) };
    assert_refused(&garbled, "a name that is not UTF-8");
}

/// Each of 1000 features has the same 64 KiB as its name: 64 MiB of names out of 100 KiB of archive.
#[test]
fn names_that_share_their_text_do_not_multiply_it() {
    let _alone = alone();
    let fields = Fields {
        is_uniform: 0,
        records: record(1, 0, 0, 1 << 16).repeat(1000),
        names: vec![b'n'; 1 << 16],
        ..Fields::uniform(1, 1000, &[0.0; 1000])
    };
    read_within_limits::<f32>(&fields.to_bytes(), &|| "1000 names of 64 KiB".to_owned());
}

/// So many records that what is made of them counts, and not only the 1 MiB that is granted to everybody.
#[test]
fn a_quarter_of_a_million_columns_stay_within_the_limit() {
    let _alone = alone();
    let columns = 1 << 18;
    let records: Vec<u8> = (0..columns).flat_map(|column| record(1, 0, column, 1)).collect();
    let fields =
        Fields { is_uniform: 0, records, names: vec![b'x'; columns as usize], ..Fields::uniform(0, columns, &[]) };
    assert!(read_within_limits::<f32>(&fields.to_bytes(), &|| "a name for each of 2^18 columns".to_owned()));
}

#[test]
fn a_payload_is_copied_once() {
    let _alone = alone();
    let bytes = Table::full(Shape { rows: 1 << 19, columns: 1 }, 1.0_f32).unwrap().to_bytes().unwrap(); // 2 MiB
    let (table, peak, _) = measured(&|| "2 MiB".to_owned(), || Table::<f32>::from_bytes(&bytes));
    assert!(table.is_ok());
    assert!(peak <= bytes.len() + (1 << 16), "{peak} bytes for an archive of {}", bytes.len());
}

/// Large blocks are memory maps, which no allocator counts.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_only_claimed_is_not_mapped() {
    fn largest_address_space() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmPeak:")).unwrap();
        1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    }
    let _alone = alone();
    let before = largest_address_space();
    for rows in [1 << 30, 1 << 32, 1 << 36] {
        let mut fields = Fields::uniform(rows, 2, &[1.0; 4]);
        assert_refused(&fields, &format!("{rows} rows"));
        fields.lengths[2] = Some(rows * 8);
        assert_refused(&fields, &format!("{rows} rows and as long a payload"));
    }
    assert!(largest_address_space() - before < 2 << 30);
}

// --- JSON ----------------------------------------------------------------------------------------------------------

fn read_json(text: &[u8], name: &dyn Fn() -> String) -> bool {
    let (result, ..) = measured(name, || serde_json::from_slice::<Table<f32>>(text));
    result.is_ok_and(|table| {
        assert_eq!(table.as_slice().unwrap().len(), table.shape().element_count().unwrap());
        true
    })
}

#[test]
fn every_truncation_of_json_is_an_error() {
    let _alone = alone();
    let text = serde_json::to_vec(&named_columns(3)).unwrap();
    assert!(read_json(&text, &|| "good".to_owned()));
    for length in 0..text.len() {
        assert!(!read_json(&text[..length], &|| format!("cut at byte {length}")), "cut at byte {length}: was read");
    }
}

#[test]
fn every_changed_byte_of_json_is_survived() {
    let _alone = alone();
    let text = serde_json::to_vec(&named_columns(5)).unwrap();
    for position in 0..text.len() {
        let flipped = (0..8).map(|bit| text[position] ^ 1 << bit);
        for byte in flipped.chain(*b"09-+.eE\"[]{},: nt\\\0\xFF") {
            let mut damaged = text.clone();
            damaged[position] = byte;
            read_json(&damaged, &|| format!("byte {byte} at {position}"));
        }
    }
}

#[test]
fn monstrous_json_is_an_error() {
    let _alone = alone();
    let with_values = |rows: &str, values: &str| {
        let feature = r#"{"element_type":"f32"}"#;
        let kind = r#""element_type":"f32","layout":"row_major""#;
        let dictionary = format!(r#"{{"uniform":{{"feature":{feature},"count":1}}}}"#);
        format!(r#"{{{kind},"rows":{rows},"columns":1,"dictionary":{dictionary},"values":{values}}}"#)
    };
    assert!(read_json(with_values("1", "[1.0]").as_bytes(), &|| "good".to_owned()));
    let monsters = [
        with_values("1", &"[".repeat(100_000)),
        with_values("1", &format!("[{}]", "9".repeat(100_000))),
        with_values("1", "[1e999999999999999999999]"),
        with_values("1152921504606846976", "[1.0]"),
        with_values("18446744073709551616", "[1.0]"),
        with_values("1e3", "[1.0]"),
        "[".repeat(100_000),
        "{\"dictionary\":".repeat(100_000),
    ];
    for monster in monsters {
        assert!(!read_json(monster.as_bytes(), &|| monster[..monster.len().min(200)].to_owned()));
    }
}

#[test]
fn json_numbers_so_small_that_they_are_zero_are_read_as_zero() {
    let _alone = alone();
    let values = serde_json::from_str::<Array<f32>>("[1e-999999999999999999999, -1e-50]").unwrap();
    assert_eq!(values[..], [0.0, -0.0]);
}
