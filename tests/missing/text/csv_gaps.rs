//! Reading CSV files with gaps: columns in their own types, and what the options ask for instead.

use numeric_table::SoaNumericTable;
use numeric_table::csv::{CsvColumnKind, CsvMissing, CsvOptions, CsvSample, CsvSource};
use numeric_table::dictionary::TimeUnit;
use numeric_table::prelude::*;
use test_support::bits::Random;
use test_support::{SmallNumber, for_each_element};

use super::optional;

const BIG: i64 = (1 << 53) + 1;

fn source(text: &str, options: CsvOptions) -> CsvSource {
    CsvSource::from_bytes_with(text.as_bytes().to_vec(), options).unwrap()
}

fn typed(text: &str, options: CsvOptions) -> SoaNumericTable {
    source(text, options).load_typed().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_gap_does_not_change_the_type_of_its_column() {
    let text = "id,big,day,second,word,truth,size,full\n\
                9007199254740993,18446744073709551615,2024-02-29,2024-02-29T12:34:56Z,red,true,1.5,1\n\
                ,,,,,,,2\n\
                NA,1,1969-12-31,NA,blue,NA,nan,3\n\
                -7,NA,NA,1969-12-31T23:59:59Z,NA,false,,4\n";
    let options = CsvOptions::new()
        .kind("day", CsvColumnKind::Time(TimeUnit::Days))
        .kind("second", CsvColumnKind::Time(TimeUnit::Seconds));
    let source = source(text, options);
    let table = source.load_typed().unwrap();
    assert_eq!(optional::<i64>(&table, 0), [Some(BIG), None, None, Some(-7)]);
    assert_eq!(optional::<u64>(&table, 1), [Some(u64::MAX), None, Some(1), None]);
    assert_eq!(optional::<i32>(&table, 2), [Some(19_782), None, Some(-1), None]);
    assert_eq!(optional::<i64>(&table, 3), [Some(1_709_210_096), None, None, Some(-1)]);
    assert_eq!(optional::<u8>(&table, 4), [Some(0), None, Some(1), None]);
    assert_eq!(optional::<u8>(&table, 5), [Some(0), None, None, Some(1)]);
    let sizes = optional::<f64>(&table, 6);
    assert!(sizes[0] == Some(1.5) && sizes[1].is_none() && sizes[2].unwrap().is_nan() && sizes[3].is_none());
    assert_eq!(optional::<i64>(&table, 7), [Some(1), Some(2), Some(3), Some(4)]);
    let nullable: Vec<bool> = table.dictionary().iter().map(|feature| feature.nullable).collect();
    assert_eq!(nullable, [true, true, true, true, true, true, true, false]);
    assert_eq!(table.category_count(4).unwrap(), Some(2), "a missing word is not a category");
    assert_eq!(source.categories(5).unwrap().unwrap(), ["true", "false"]);

    let described = source.describe().unwrap();
    let gaps: Vec<(usize, bool)> = described.columns.iter().map(|column| (column.gaps, column.nullable)).collect();
    assert_eq!(
        gaps,
        [(2, true), (2, true), (2, true), (2, true), (2, true), (2, true), (2, true), (0, false)],
        "{described}"
    );
    for (column, feature) in described.columns.iter().zip(table.dictionary().iter()) {
        assert_eq!(column.element_type, Some(feature.element_type), "{described}");
    }
    assert_eq!(described.columns[0].reason, "\"9007199254740993\" on line 2; only integers; \"\" on line 3 is missing");
    assert_eq!(described.columns[4].reason, "only words; \"\" on line 3 is missing");
}

#[test]
fn what_the_options_ask_for_instead_is_what_it_was() {
    let text = "a,b\n1,x\n,y\n3,NA\n";
    let with = |missing| source(text, CsvOptions::new().missing(missing)).load_typed();
    let nan = with(CsvMissing::Nan).unwrap();
    assert!(nan.column_slice::<f64>(0).unwrap()[1].is_nan() && nan.column_slice::<f64>(1).unwrap()[2].is_nan());
    assert!(!nan.dictionary().has_nullable());
    assert_eq!(with(CsvMissing::Value(-1.0)).unwrap().column_slice::<i64>(0).unwrap(), [1, -1, 3]);
    assert_eq!(with(CsvMissing::SkipRow).unwrap().column_slice::<i64>(0).unwrap(), [1]);
    let error = with(CsvMissing::Error).unwrap_err().to_string();
    assert!(error.starts_with("line 3, column 0 (a): \"\" is missing"), "{error}");
    let mixed = source(text, CsvOptions::new().missing_in("b", CsvMissing::Error)).load_typed().unwrap_err();
    assert!(mixed.to_string().starts_with("line 4, column 1 (b): \"NA\" is missing"), "{mixed}");

    // Tables of one type cannot have missing values.
    for error in [
        source(text, CsvOptions::new()).load::<f64>().unwrap_err(),
        source(text, CsvOptions::new()).load::<i32>().unwrap_err(),
        source(text, CsvOptions::new()).row_blocks::<f64>(9).unwrap().next_block().unwrap_err(),
    ] {
        assert!(error.to_string().starts_with("line 3, column 0 (a): \"\" is missing: `CsvOptions::missing`"));
    }
    let floats = source(text, CsvOptions::new().missing(CsvMissing::Nan));
    assert!(floats.load::<f32>().unwrap().value::<f32>(1, 0).unwrap().is_nan());
    let mut blocks = floats.row_blocks::<f32>(2).unwrap();
    while blocks.next_block().unwrap().is_some() {}
    assert_eq!(blocks.missing_counts(), [1, 1]);
    assert!(!floats.dictionary(ElementType::F32).unwrap().has_nullable());
}

#[test]
fn streams_count_the_missing_values_of_the_rows_they_return() {
    let text = "a,b,w\n1,2,x\nNA,,y\n3,NA,x\n,5,\n6,7,y\n";
    let options = CsvOptions::new().missing(CsvMissing::Value(0.0)).missing_in("b", CsvMissing::SkipRow);
    let options = options.kind("w", CsvColumnKind::OneHot);
    for rows in 1..6 {
        let source = source(text, options.clone());
        let mut blocks = source.row_blocks::<i16>(rows).unwrap();
        let mut count = 0;
        while let Some(block) = blocks.next_block().unwrap() {
            count += block.row_count();
        }
        // Row 2 is skipped, and its missing value in column `a` with it.
        assert_eq!((count, blocks.missing_counts()), (3, &[1, 0, 1, 1][..]));
    }
}

#[test]
fn stated_types_have_gaps_too() {
    fn check<T: SmallNumber>() {
        let options = CsvOptions::new().column_type("a", T::TYPE).column_type("w", T::TYPE);
        let table = typed("a,w\n1,x\nNA,\n,y\n3,NA\n", options);
        let value = |number: u8| Some(T::small(number));
        assert_eq!(optional::<T>(&table, 0), [value(1), None, None, value(3)]);
        assert_eq!(optional::<T>(&table, 1), [value(0), None, value(1), None]);
    }
    for_each_element!(check);
    let days = CsvOptions::new().kind(0, CsvColumnKind::Time(TimeUnit::Days)).column_type(0, ElementType::I64);
    assert_eq!(optional::<i64>(&typed("2024-02-29\nNA\n", days), 0), [Some(19_782), None]);
    let hot = typed("w,n\nx,1\n,2\ny,3\n", CsvOptions::new().kind("w", CsvColumnKind::OneHot));
    assert_eq!(optional::<u8>(&hot, 0), [Some(1), None, Some(0)]);
    assert_eq!(optional::<u8>(&hot, 1), [Some(0), None, Some(1)]);
    assert_eq!((hot.missing_count(0).unwrap(), hot.missing_count(2).unwrap()), (1, 0));
    let custom = CsvColumnKind::custom(|text| text.len().to_string().parse().map_err(|_| String::new()));
    assert_eq!(optional::<f64>(&typed("a\nNA\nx\n", CsvOptions::new().kind(0, custom)), 0), [Some(2.0), Some(1.0)]);
}

#[test]
fn gaps_before_and_after_what_decides_the_type_stay_gaps() {
    let gaps = |count: usize| ",1\n".repeat(count);
    // All rows; late values of each type after gaps; gaps after a change of type.
    let all = typed(&format!("a,b\n{}", gaps(300)), CsvOptions::new());
    assert_eq!(optional::<f64>(&all, 0), vec![None; 300]);
    let late = typed(&format!("a,b\n{}7,1\n", gaps(300)), CsvOptions::new());
    assert_eq!(optional::<i64>(&late, 0)[298..], [None, None, Some(7)]);
    let word = typed(&format!("a,b\n{}x,1\n{}", gaps(300), gaps(2)), CsvOptions::new());
    assert_eq!(optional::<u8>(&word, 0)[299..], [None, Some(0), None, None]);
    let text = format!("a,b\n5,1\n{}0.5,1\n{}18,1\n", gaps(300), gaps(1));
    let real = typed(&text, CsvOptions::new());
    assert_eq!(optional::<f64>(&real, 0)[299..], [None, None, Some(0.5), None, Some(18.0)]);
    assert_eq!((real.missing_count(0).unwrap(), optional::<f64>(&real, 0)[0]), (301, Some(5.0)));
    let huge = typed(&format!("a,b\n{}18446744073709551615,1\n{}", gaps(150), gaps(1)), CsvOptions::new());
    assert_eq!(optional::<u64>(&huge, 0)[149..], [None, Some(u64::MAX), None]);
    // A column that must be f64 still refuses to round.
    let error = source("a,b\n9007199254740993,1\n,1\n0.5,1\n", CsvOptions::new()).load_typed().unwrap_err();
    assert!(error.to_string().contains("the column needs f64 for \"0.5\" on line 4"), "{error}");
    // Decided by a sample.
    let sampled = CsvOptions::new().sample(CsvSample::First(1));
    assert_eq!(optional::<i64>(&typed("a,b\n1,1\nNA,2\n", sampled.clone()), 0), [Some(1), None]);
    assert_eq!(optional::<f64>(&typed("a,b\n,1\n4,2\n", sampled), 0), [None, Some(4.0)]);
    // Nothing but a header.
    assert_eq!(typed("a,b\n", CsvOptions::new()).missing_count(0).unwrap(), 0);
}

#[test]
fn rows_that_are_skipped_leave_no_gaps_and_no_values() {
    let options = || CsvOptions::new().missing_in("s", CsvMissing::SkipRow);
    let table = typed("a,w,s\n1,x,1\n,y,NA\n3,,1\n7,x,\n,y,1\n8,x,NA\n,x,1\n9,,NA\n4,y,1\n", options());
    assert_eq!(optional::<i64>(&table, 0), [Some(1), Some(3), None, None, Some(4)]);
    assert_eq!(optional::<u8>(&table, 1), [Some(0), None, Some(1), Some(0), Some(1)]);
    let (values, _) = table.nullable_column(0).unwrap();
    assert_eq!(
        values.downcast_ref::<i64>().unwrap()[..],
        [1, 3, 0, 0, 4],
        "the bytes of a file decide, not skipped rows"
    );
    // A gap only in a skipped row.
    let table = typed("a,s\n1,1\n,NA\n2,1\n", options());
    assert_eq!(table.column_slice::<i64>(0).unwrap(), [1, 2]);
    assert!(!table.dictionary().has_nullable());
}

#[test]
fn quoted_texts_follow_the_kind_of_the_column() {
    let table = typed("n,w\n\"\",\"\"\n\"5\",red\n,\n\"NA\",\"NA\"\n", CsvOptions::new());
    assert_eq!(optional::<i64>(&table, 0), [None, Some(5), None, None]);
    assert_eq!(optional::<u8>(&table, 1), [Some(0), Some(1), None, Some(2)]);
    let table = typed("n,w\n1,\"\"\n2,red\n", CsvOptions::new().quoted_missing(true));
    assert_eq!(optional::<u8>(&table, 1), [None, Some(0)]);
    let table = typed("n,w\n1,x\n-999,y\n", CsvOptions::new().missing_texts(["-999", "y"]));
    assert_eq!((optional::<i64>(&table, 0), optional::<u8>(&table, 1)), (vec![Some(1), None], vec![Some(0), None]));
    // One column: a line of spaces is a gap, an empty one no row.
    assert_eq!(optional::<i64>(&typed("a\n1\n\n \n2\n\"\"\n", CsvOptions::new()), 0), [Some(1), None, Some(2), None]);
}

#[test]
fn large_files_have_the_same_gaps_in_any_number_of_pieces() {
    let mut random = Random::new(33);
    let rows = 120_000;
    let mut text = String::from("id,day,word,size,rare\n");
    let mut expected: [Vec<bool>; 5] = Default::default();
    for row in 0..rows {
        let mut field = |column: usize, one_in: usize, value: String| {
            let is_missing = random.below(one_in) == 0;
            expected[column].push(!is_missing);
            text += if !is_missing {
                &value
            } else if random.below(2) == 0 {
                ""
            } else {
                "NA"
            };
            text.push(if column == 4 { '\n' } else { ',' });
        };
        field(0, 7, (BIG + row as i64).to_string());
        field(1, 3, format!("20{:02}-0{}-1{}", row % 100, 1 + row % 9, row % 10));
        field(2, 2, format!("\"word, {}\"", row % 300));
        field(3, 11, format!("{}.25", row));
        field(4, 60_000, row.to_string());
    }
    assert!(text.len() > 3 << 20, "several pieces");
    let options = || CsvOptions::new().kind("day", CsvColumnKind::Time(TimeUnit::Days));
    let source = source(&text, options());
    let table = source.load_typed().unwrap();
    assert_eq!(table.row_count(), rows);
    let described = source.describe().unwrap();
    for (column, expected) in expected.iter().enumerate() {
        let found = table.column_validity(column).unwrap();
        let found = found.map_or_else(|| vec![true; rows], |validity| validity.to_flags().unwrap());
        assert!(found == *expected, "column {column}");
        assert_eq!(described.columns[column].gaps, expected.iter().filter(|is_present| !**is_present).count());
    }
    let ids = optional::<i64>(&table, 0);
    assert!(ids.iter().enumerate().all(|(row, id)| id.is_none_or(|id| id == BIG + row as i64)));
    let rare = optional::<i64>(&table, 4);
    assert!(rare.iter().enumerate().all(|(row, value)| value.is_none_or(|value| value == row as i64)));
    // The same with words that are known before.
    let words = source.categories(2).unwrap().unwrap().to_vec();
    let again = typed(&text, options().categories("word", words));
    assert_eq!(optional::<u16>(&again, 2), optional::<u16>(&table, 2));
}
