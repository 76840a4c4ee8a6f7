//! What `describe` says of columns, and how it prints.

use std::cmp::Ordering;

use numeric_table::{
    AnyValue,
    csv::{CsvColumnDescription, CsvColumnKind, CsvMissing, CsvOptions, CsvSample},
    dictionary::TimeUnit,
    prelude::*,
};

use super::source;
use super::typed::nan;

fn columns(text: &str, options: CsvOptions) -> Vec<CsvColumnDescription> {
    source(text, options).unwrap().describe().unwrap().columns
}

#[test]
fn every_kind_of_column_is_described() {
    let text = "id,size,word,hot,day,share,big,none\n\
                -3,1.5,red,x,2024-02-29,50%,18446744073709551615,\n\
                7,NA,blue,y,1969-12-31,5%,0,\n";
    let percent = |text: &str| text.trim_end_matches('%').parse().map_err(|_| "is no percentage".to_owned());
    let options = nan()
        .kind("hot", CsvColumnKind::OneHot)
        .kind("day", CsvColumnKind::Time(TimeUnit::Days))
        .kind("share", CsvColumnKind::custom(percent))
        .missing_texts(["NA", ""])
        .exclude_columns("id");
    let shown = source(text, options).unwrap().describe().unwrap().to_string();
    let expected = "\
2 rows, 8 columns
   name   kind         type  gaps  values                     decided by
0  id     left out                                            the options
1  size   Continuous   f64      1  1.5 to 1.5                 \"1.5\" on line 2 is not an integer
2  word   Categorical  u8       0  2: red, blue               only words
3  hot    OneHot       u8       0  2: x, y                    kind set by the options
4  day    Time(Days)   i32      0  1969-12-31 to 2024-02-29   kind set by the options
5  share  Custom       f64      0  5 to 50                    kind set by the options
6  big    Continuous   u64      0  0 to 18446744073709551615  \"18446744073709551615\" on line 2; an integer that i64 does not hold
7  none   Continuous   f64      2                             no values; \"\" on line 2 is missing
";
    assert_eq!(shown, expected);
}

#[test]
fn the_line_that_decides_is_named() {
    let reason = |text: &str, options: CsvOptions| columns(text, options)[0].reason.clone();
    assert_eq!(reason("1\n\n2\n-0\n", CsvOptions::new()), "\"1\" on line 1; \"-0\" on line 4 is not an integer");
    assert_eq!(
        reason("a,b\n\"1\n\",2\n1e3,4\n", CsvOptions::new()),
        "\"1\\n\" on line 2; \"1e3\" on line 4 is not an integer"
    );
    assert_eq!(
        reason("1\n2.5\n", CsvOptions::new().column_type(0, ElementType::F32)),
        "\"1\" on line 1; type set by the options"
    );
    assert_eq!(
        reason("1\n2\n", CsvOptions::new().kind(0, CsvColumnKind::Ordinal)),
        "kind set by the options; only integers"
    );
    let sampled = CsvOptions::new().sample(CsvSample::First(1));
    assert_eq!(reason("1\n2\n", sampled), "the sample; \"1\" on line 1");
    let huge = "-1\n18446744073709551615\n";
    let range = reason(huge, CsvOptions::new().column_type(0, ElementType::F64));
    assert_eq!(range, "\"-1\" on line 1; type set by the options");
    let error = source(huge, CsvOptions::new()).unwrap().describe().unwrap_err().to_string();
    assert_eq!(error, source(huge, CsvOptions::new()).unwrap().load_typed().unwrap_err().to_string());
}

#[test]
fn ranges_and_gaps_are_counted_over_the_rows_of_the_table() {
    let text = "a,b\n1,5\nNA,9\n3,NA\n-2,nan\n";
    let described = source(text, nan().missing_in("a", CsvMissing::SkipRow)).unwrap().describe().unwrap();
    assert_eq!((described.rows, described.left_out_rows), (3, 1));
    let [a, b] = &described.columns[..] else { panic!("{described}") };
    assert_eq!((a.gaps, a.range), (0, Some((AnyValue::from(-2_i64), AnyValue::from(3_i64)))));
    assert_eq!((b.gaps, b.range), (1, Some((AnyValue::from(5.0), AnyValue::from(5.0)))));
    assert!(described.to_string().starts_with("3 rows, 2 columns; 1 row left out\n"));
    let one = columns("1\n300\n", CsvOptions::new().column_type(0, ElementType::F32));
    assert_eq!(one[0].range, Some((AnyValue::from(1_f32), AnyValue::from(300_f32))));
    assert_eq!(
        columns("9223372036854775807\n-9223372036854775808\n", CsvOptions::new())[0].range.unwrap().1,
        AnyValue::from(i64::MAX)
    );
}

#[test]
fn ranges_are_those_of_the_loaded_columns() {
    let wholes = ["5", "-3", "9007199254740992", "0", "12", "-3", "7"];
    let large = ["9223372036854775808", "1", "18446744073709551615", "9223372036854775807", "0"];
    let mixed = ["7", "0.5", "", "-0", "0", "8", "-2.5", "7", "1e300", "-7"];
    let zeros = ["0.0", "", "-0.0", "0", "0.0"];
    let equal = ["3", "3", "3"];
    let one = ["-1.5"];
    for fields in [&wholes[..], &large, &mixed, &zeros, &equal, &one, &["", "NA"]] {
        for first in 0..fields.len() {
            let (tail, head) = (&fields[first..], &fields[..first]);
            let lines = tail.iter().chain(head).map(|field| format!("{field},x\n"));
            let text: String = std::iter::once("a,b\n".to_owned()).chain(lines).collect();
            let (source, described) = (source(&text, nan()).unwrap(), columns(&text, nan()));
            let table = source.load_typed().unwrap();
            let expected = match table.column_type(0).unwrap() {
                ElementType::I64 => ends(table.column_slice::<i64>(0).unwrap().to_vec(), i64::cmp),
                ElementType::U64 => ends(table.column_slice::<u64>(0).unwrap().to_vec(), u64::cmp),
                _ => {
                    let values = table.column_slice::<f64>(0).unwrap().iter().copied();
                    ends(values.filter(|value| !value.is_nan()).collect(), f64::total_cmp)
                }
            };
            assert_eq!(format!("{:?}", described[0].range), format!("{expected:?}"), "{text}");
        }
    }
}

/// Returns the smallest and the largest value.
fn ends<T: Copy + Into<AnyValue>>(mut values: Vec<T>, order: fn(&T, &T) -> Ordering) -> Option<(AnyValue, AnyValue)> {
    values.sort_by(order);
    values.first().zip(values.last()).map(|(&low, &high)| (low.into(), high.into()))
}

#[test]
fn what_does_not_load_is_not_described() {
    for (text, options) in [
        ("1\nx\n", CsvOptions::new()),
        ("1,2\n3\n", CsvOptions::new()),
        ("1\nNA\n", CsvOptions::new().missing(CsvMissing::Error)),
        ("1\n300\n", CsvOptions::new().column_type(0, ElementType::U8)),
        ("1,2\n\n\n3\n\n4\n5\n6\n", CsvOptions::new()), // rows that are too short for all
    ] {
        let error = source(text, options.clone()).unwrap().describe().unwrap_err();
        assert_eq!(error.to_string(), source(text, options).unwrap().load_typed().unwrap_err().to_string());
    }
    assert!(
        source("1\n", CsvOptions::new().column_type(0, ElementType::U8).missing(CsvMissing::Value(0.5)))
            .unwrap()
            .describe()
            .is_err()
    );
}

#[test]
fn wide_files_and_odd_names_print_well() {
    let names: Vec<String> = (0..150).map(|column| format!("c{column}")).collect();
    let text = format!("{}\n{}\n", names.join(","), vec!["1"; 150].join(","));
    let described = source(&text, CsvOptions::new()).unwrap().describe().unwrap();
    let shown = described.to_string();
    assert_eq!(shown.lines().count(), 103);
    assert!(shown.ends_with("\n... and 50 more\n"));
    assert_eq!(format!("{described:#}").lines().count(), 152);
    let words: Vec<String> = (0..500).map(|word| format!("a long word {word}")).collect();
    let text = format!("\"{}\u{202E}\n\"\n{}\n", "n".repeat(100), words.join("\n"));
    let shown = source(&text, CsvOptions::new()).unwrap().describe().unwrap().to_string();
    assert!(shown.lines().all(|line| line.chars().count() < 110 && !line.contains('\u{202E}')), "{shown}");
    assert!(shown.contains("500: a long word 0"));
    assert_eq!(
        source("", CsvOptions::new()).unwrap().describe().unwrap().to_string(),
        "0 rows, 0 columns\n   name  kind  type  gaps  values  decided by\n".replace("   name", "  name")
    );
}
