//! Tables with gaps, written as CSV with any options and read again.

use numeric_table::array::Validity;
use numeric_table::csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions, CsvSource, CsvWriteOptions};
use numeric_table::dictionary::{Categories, TimeUnit};
use numeric_table::prelude::*;
use numeric_table::{AnyArray, RowMergedNumericTable, SoaNumericTable};
use test_support::bits::{Random, is_same};
use test_support::for_each_element;

use super::{one, optional};
use test_support::tables::huge;

fn text_of(table: &dyn NumericTable, options: CsvWriteOptions) -> String {
    let mut text = Vec::new();
    table.write_csv_to(&mut text, options).unwrap();
    String::from_utf8(text).unwrap()
}

/// How a table is read back: types and kinds, which text does not carry.
fn options_of(table: &dyn NumericTable) -> CsvOptions {
    let mut options = CsvOptions::new();
    for (column, feature) in table.dictionary().iter().enumerate() {
        options = options.column_type(column, feature.element_type);
        options = match (&feature.categories, feature.feature_type) {
            (Some(words), _) => options.categories(column, words.labels()),
            (None, FeatureType::Time(unit)) => options.kind(column, CsvColumnKind::Time(unit)),
            _ => options.kind(column, CsvColumnKind::Continuous),
        };
    }
    options
}

#[track_caller]
fn assert_same(read: &SoaNumericTable, table: &dyn NumericTable, text: &str) {
    assert_eq!(read.shape(), table.shape(), "{text}");
    for column in 0..table.column_count() {
        assert_eq!(read.column_type(column).unwrap(), table.column_type(column).unwrap());
        for_each_element!(T => if read.column_type(column).unwrap() == T::TYPE {
            let (found, expected) = (optional::<T>(read, column), optional::<T>(table, column));
            let are_same = found.iter().zip(&expected).all(|pair| match pair {
                (Some(found), Some(expected)) => is_same(*found, *expected),
                (None, None) => true,
                _ => false,
            });
            assert!(are_same, "column {column} is {found:?}, not {expected:?}: {text}");
        });
    }
}

const WORDS: [&str; 8] = ["", "NA", "-", "a,b", "say \"a\"", "two\nlines", "\u{e9}t\u{e9}", " space"];

/// A table of random columns: of each element type, of words, of times of each unit, and of booleans.
fn random_table(random: &mut Random, rows: usize, columns: usize) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    for column in 0..columns {
        let kind = random.below(20);
        let (feature, array) = match kind {
            0..12 => {
                let element = ElementType::ALL[kind];
                let mut array = AnyArray::zeros(element, rows).unwrap();
                for_each_element!(T => if element == T::TYPE {
                    array = AnyArray::from(random.values::<T>(rows));
                });
                (Feature::new(element), array)
            }
            12..15 => {
                let codes: Vec<u8> = (0..rows).map(|_| random.below(WORDS.len()) as u8).collect();
                (Feature::new(ElementType::U8).categorical(Categories::from_labels(WORDS).unwrap()), codes.into())
            }
            15 => {
                let truths: Vec<u8> = (0..rows).map(|_| random.below(2) as u8).collect();
                let labels = Categories::from_labels(["false", "true"]).unwrap();
                (Feature::new(ElementType::U8).categorical(labels), truths.into())
            }
            16 => {
                let days: Vec<i32> = (0..rows).map(|_| random.below(1 << 20) as i32 - (1 << 19)).collect();
                (Feature::new(ElementType::I32).time(TimeUnit::Days), days.into())
            }
            _ => {
                let units = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Nanoseconds];
                let times: Vec<i64> = (0..rows).map(|_| random.below(huge(33)) as i64 - (1 << 32)).collect();
                (Feature::new(ElementType::I64).time(units[kind - 17]), times.into())
            }
        };
        let one_in = [1, 2, 3, 10, usize::MAX][random.below(5)];
        let flags: Vec<bool> = (0..rows).map(|_| random.below(one_in) != 0).collect();
        let validity = Some(Validity::from_flags(&flags).unwrap());
        table.push_nullable(feature.named(format!("c{column}")), array, validity).unwrap();
    }
    table
}

#[test]
fn random_tables_come_back_with_all_options() {
    for seed in 0..150 {
        let mut random = Random::quiet(seed);
        let (rows, columns) = (1 + random.below(40), 1 + random.below(6));
        let table = random_table(&mut random, rows, columns);
        let (delimiter, decimal) = [(b',', '.'), (b';', ','), (b'\t', '.')][random.below(3)];
        let missing = ["", "NA", "-", "?"][random.below(4)];
        let nan = ["NaN", "nan"][random.below(2)];
        let has_header = random.below(3) > 0;
        let write = CsvWriteOptions::new().delimiter(delimiter).decimal(decimal).missing(missing).nan(nan);
        let text = text_of(&table, write.header(has_header));
        let text = format!("seed {seed}:\n{text}");
        let text = &text[text.find('\n').unwrap() + 1..];
        let mut read = options_of(&table).delimiter(delimiter).decimal(decimal).missing_texts([missing, "NA"]);
        read = read.header(if has_header { CsvHeader::Yes } else { CsvHeader::No });
        let source = CsvSource::from_bytes_with(text.as_bytes().to_vec(), read.clone()).unwrap();
        let back = source.load_typed().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_same(&back, &table, text);
        let described = source.describe().unwrap();
        for (column, description) in described.columns.iter().enumerate() {
            assert_eq!(description.gaps, table.missing_count(column).unwrap(), "seed {seed}\n{described}");
            assert_eq!(description.nullable, back.dictionary().feature(column).unwrap().nullable);
        }
        // The same file, compressed.
        #[cfg(feature = "csv-compressed")]
        {
            let source = CsvSource::from_bytes_with(gzip(text.as_bytes()), read.clone()).unwrap();
            assert_same(&source.load_typed().unwrap(), &table, text);
        }
        // Blocks have NaN in their place, and count them.
        let source = CsvSource::from_bytes_with(text.as_bytes().to_vec(), read.missing(CsvMissing::Nan)).unwrap();
        let Ok(mut blocks) = source.row_blocks::<f64>(1 + random.below(10)) else { continue };
        let (mut first, mut is_whole) = (0, true);
        loop {
            let Ok(block) = blocks.next_block() else {
                is_whole = false; // not an `f64`
                break;
            };
            let Some(block) = block else { break };
            for (row, values) in block.chunks_exact(columns).enumerate() {
                let is_nan = |column: usize| table.is_missing(first + row, column).unwrap();
                assert!((0..columns).all(|column| !is_nan(column) || values[column].is_nan()), "seed {seed}");
            }
            first += block.row_count();
        }
        if is_whole {
            let expected: Vec<usize> = (0..columns).map(|column| table.missing_count(column).unwrap()).collect();
            assert_eq!(blocks.missing_counts(), expected, "seed {seed}");
        }
    }
}

/// A gzip file of stored blocks.
#[cfg(feature = "csv-compressed")]
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut checksum = u32::MAX;
    for &byte in bytes {
        checksum ^= u32::from(byte);
        for _ in 0..8 {
            checksum = checksum >> 1 ^ if checksum & 1 == 1 { 0xEDB8_8320 } else { 0 };
        }
    }
    let mut file = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];
    let mut blocks = bytes.chunks(0xFFFF).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        file.push(u8::from(blocks.peek().is_none()));
        file.extend(length.to_le_bytes());
        file.extend((!length).to_le_bytes());
        file.extend(block);
    }
    file.extend((!checksum).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}

#[test]
fn gaps_are_written_as_the_chosen_text_and_nan_as_nan() {
    let mut table = one([Some((1_i64 << 53) + 1), None]);
    table.push_optional("b", [None, Some(f64::NAN)]).unwrap();
    assert_eq!(text_of(&table, CsvWriteOptions::new()), "a,b\n9007199254740993,\n,NaN\n");
    let chosen = CsvWriteOptions::new().missing("n/a, none").nan("not a number");
    assert_eq!(text_of(&table, chosen), "a,b\n9007199254740993,\"n/a, none\"\n\"n/a, none\",not a number\n");
    let back = CsvSource::from_bytes(text_of(&table, CsvWriteOptions::new()).into_bytes()).unwrap();
    let back = back.load_typed().unwrap();
    assert_eq!(optional::<i64>(&back, 0), [Some((1 << 53) + 1), None]);
    let floats = optional::<f64>(&back, 1);
    assert!(floats[0].is_none() && floats[1].unwrap().is_nan(), "NaN is not a gap, and a gap is not NaN");
    // A table of one type with gaps, its rows, and such tables end to end.
    let counts = one([Some(1_u8), None, Some(3)]);
    assert_eq!(text_of(&*counts.select_rows(1..3).unwrap(), CsvWriteOptions::new()), "a\nNA\n3\n");
    assert_eq!(text_of(&one::<f32>([None, Some(f32::NAN)]), CsvWriteOptions::new()), "a\nNA\nNaN\n");
    let parts: [Box<dyn NumericTable>; 2] = [Box::new(one([None, Some(1_u8)])), Box::new(counts)];
    let stacked = RowMergedNumericTable::new(parts);
    assert_eq!(text_of(&stacked.unwrap(), CsvWriteOptions::new()), "a\nNA\n1\n1\nNA\n3\n");
}

#[test]
fn a_gap_is_never_an_empty_line_or_a_trailing_delimiter() {
    for missing in ["", "NA"] {
        let table = one([None, Some(7_i16), None]);
        let text = text_of(&table, CsvWriteOptions::new().missing(missing));
        assert_eq!(text, "a\nNA\n7\nNA\n");
        let back = CsvSource::from_bytes(text.into_bytes()).unwrap().load_typed().unwrap();
        assert_eq!(optional::<i64>(&back, 0), [None, Some(7), None]);
    }
    // The last column has no name: after the header's last delimiter there is nothing either.
    let mut table = one([Some(1_u8), Some(2)]);
    let validity = Validity::from_flags(&[false, true]).unwrap();
    table.push_nullable(Feature::new(ElementType::I64), vec![0_i64, 5], Some(validity)).unwrap();
    let text = text_of(&table, CsvWriteOptions::new());
    assert_eq!(text, "a,\n1,NA\n2,5\n");
    let back = CsvSource::from_bytes(text.into_bytes()).unwrap().load_typed().unwrap();
    assert_eq!(optional::<i64>(&back, 1), [None, Some(5)]);
}

#[test]
fn words_that_mean_a_gap_are_in_quotes_and_gaps_are_not() {
    let labels = Categories::from_labels(["", "NA", "-", "x"]).unwrap();
    let validity = Validity::from_flags(&[true, true, true, true, false]).unwrap();
    let mut table = one([Some(1_u8), None, Some(2), Some(3), Some(4)]);
    let feature = Feature::new(ElementType::U8).categorical(labels).named("w");
    table.push_nullable(feature, vec![0_u8, 1, 2, 3, 200], Some(validity)).unwrap(); // 200 is not a category
    assert_eq!(text_of(&table, CsvWriteOptions::new()), "a,w\n1,\"\"\n,\"NA\"\n2,-\n3,x\n4,\n");
    let dash = text_of(&table, CsvWriteOptions::new().missing("-"));
    assert_eq!(dash, "a,w\n1,\"\"\n-,\"NA\"\n2,\"-\"\n3,x\n4,-\n");
    let error = table.write_csv_to(Vec::new(), CsvWriteOptions::new().missing("a,b")).unwrap_err();
    assert!(error.to_string().contains("would be in quotes, so it would be a word"), "{error}");
}
