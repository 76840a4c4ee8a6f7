//! Dates and times as whole numbers since 1970.

use numeric_table::{
    csv::{CsvColumnKind, CsvHeader, CsvMissing, CsvOptions},
    dictionary::TimeUnit,
    prelude::*,
};

use super::typed::{F64, I64, assert_column, typed, types};
use super::{assert_values, load, source};

fn times(unit: TimeUnit) -> CsvOptions {
    CsvOptions::new().header(CsvHeader::No).kind(.., CsvColumnKind::Time(unit))
}

fn error(text: &str, unit: TimeUnit) -> String {
    typed(text, times(unit)).unwrap_err().to_string()
}

#[test]
fn times_are_counted_exactly_in_every_unit() {
    // numpy.datetime64(text, unit).astype(int)
    let text = "2024-02-29T12:34:56\n1969-12-31T23:59:59Z\n0001-01-01\n9999-12-31 23:59:59+00:00\n";
    for (unit, scale) in
        [(TimeUnit::Seconds, 1), (TimeUnit::Milliseconds, 1_000), (TimeUnit::Microseconds, 1_000_000_i64)]
    {
        let table = typed(text, times(unit)).unwrap();
        let seconds = [1_709_210_096, -1, -62_135_596_800, 253_402_300_799];
        assert_column(&table, 0, &seconds.map(|seconds| seconds * scale));
    }
    let table = typed("2024-02-29T12:34:56.123456789Z,1969-12-31T23:59:59.999999999\n", times(TimeUnit::Nanoseconds));
    let table = table.unwrap();
    assert_column(&table, 0, &[1_709_210_096_123_456_789_i64]);
    assert_column(&table, 1, &[-1_i64]);
    let days = typed("1970-01-01,2000-03-01,1582-10-04,+012024-02-29\n", times(TimeUnit::Days)).unwrap();
    assert_eq!(types(&days), [ElementType::I32; 4]);
    // datetime.date(..).toordinal() - 719163; the last is 10000 years, 25 cycles of 400, after 2024-02-29.
    for (column, expected) in [0, 11_017, -141_438, 19_782 + 25 * 146_097].into_iter().enumerate() {
        assert_column(&days, column, &[expected]);
    }
}

#[test]
fn the_ends_of_the_range_are_exact() {
    let nanoseconds = |text: &str| typed(text, times(TimeUnit::Nanoseconds));
    let ends = "1677-09-21T00:12:43.145224192\n2262-04-11T23:47:16.854775807\n";
    assert_column(&nanoseconds(ends).unwrap(), 0, &[i64::MIN, i64::MAX]);
    let reason = "is more nanoseconds from 1970 than i64 holds: a coarser TimeUnit reaches further";
    for text in ["1677-09-21T00:12:43.145224191", "2262-04-11T23:47:16.854775808", "9999-12-31", "-999999-01-01"] {
        let error = nanoseconds(&format!("2024-01-01\n{text}\n")).unwrap_err().to_string();
        assert_eq!(error, format!("line 2, column 0: {text:?} {reason}"));
        let (seconds, _) = text.split_once('.').unwrap_or((text, ""));
        typed(seconds, times(TimeUnit::Milliseconds)).unwrap();
    }
}

#[test]
fn what_is_no_time_is_refused_with_its_line_and_why() {
    for (text, unit, reason) in [
        ("2023-02-29", TimeUnit::Days, "has a day that its month does not have"),
        ("2024-13-01", TimeUnit::Days, "has a month that is not from 01 to 12"),
        ("2016-12-31T23:59:60Z", TimeUnit::Seconds, "has a leap second, which has no number in Unix time"),
        ("2024-01-01T25:00", TimeUnit::Seconds, "has a time of day that is not from 00:00 to 23:59:59"),
        ("2024-01-01T00:00+99:00", TimeUnit::Seconds, "has an offset that is not from -23:59 to +23:59"),
        (
            "01.02.2024",
            TimeUnit::Days,
            "is not a date like 2024-02-29, or a date and a time like 2024-02-29T12:34:56.789Z",
        ),
        (
            "2024-01-01T12:00",
            TimeUnit::Days,
            "is not the beginning of a day in UTC: `TimeUnit::Seconds` and finer units keep the time of day",
        ),
        (
            "2024-01-01T12:00:00.5",
            TimeUnit::Seconds,
            "is not a whole number of seconds: a finer TimeUnit keeps the fraction",
        ),
        (
            "2024-01-01T12:00:00.0000005",
            TimeUnit::Microseconds,
            "is not a whole number of microseconds: a finer TimeUnit keeps the fraction",
        ),
        (
            "2024-01-01T12:00:00.0000000001",
            TimeUnit::Nanoseconds,
            "has a fraction of a nanosecond, which no TimeUnit keeps",
        ),
    ] {
        let expected = format!("line 2, column 1: {text:?} {reason}");
        assert_eq!(error(&format!("2024-01-01,2024-01-01\n2024-01-01,{text}\n"), unit), expected);
    }
    // Whatever the policy.
    let saturate = times(TimeUnit::Seconds).policy(ConversionPolicy::Saturate);
    assert!(typed("2024-01-01T00:00:00.5", saturate).is_err());
}

#[test]
fn tables_of_one_type_hold_times_exactly_or_not_at_all() {
    let text = "2024-02-29\n1970-01-02\n";
    assert_values(&load::<f32>(text, times(TimeUnit::Days)).unwrap(), &[19_782., 1.]);
    assert_values(&load::<u16>(text, times(TimeUnit::Days)).unwrap(), &[19_782, 1]);
    assert_values(&load::<f64>(text, times(TimeUnit::Milliseconds)).unwrap(), &[1_709_164_800_000., 86_400_000.]);
    let expected = "line 1, column 0: \"2024-02-29\" is 19782 since 1970, which u8 does not hold exactly";
    for policy in [ConversionPolicy::Exact, ConversionPolicy::Checked, ConversionPolicy::Saturate] {
        let error = load::<u8>(text, times(TimeUnit::Days).policy(policy)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let odd = "2024-02-29T12:34:57\n"; // an odd number of seconds, which f32 rounds
    let error = load::<f32>(odd, times(TimeUnit::Seconds)).unwrap_err().to_string();
    assert!(error.ends_with("is 1709210097 since 1970, which f32 does not hold exactly"), "{error}");
    let mut rows = 0;
    let days = source(text, times(TimeUnit::Days)).unwrap();
    let mut blocks = days.row_blocks::<i32>(1).unwrap();
    while let Some(block) = blocks.next_block().unwrap() {
        rows += block.len();
    }
    assert_eq!(rows, 2);
}

#[test]
fn gaps_among_times_follow_the_options() {
    let text = "2024-02-29\nNA\n";
    let nan = typed(text, times(TimeUnit::Seconds).missing(CsvMissing::Nan)).unwrap();
    assert_column(&nan, 0, &[1_709_164_800., f64::NAN]);
    let zero = typed(text, times(TimeUnit::Days).missing(CsvMissing::Value(-1.0))).unwrap();
    assert_column(&zero, 0, &[19_782_i32, -1]);
    let half = typed(text, times(TimeUnit::Days).missing(CsvMissing::Value(0.5))).unwrap();
    assert_eq!(types(&half), [F64]);
    assert_column(&half, 0, &[19_782., 0.5]);
    let skipped = typed(text, times(TimeUnit::Days).missing(CsvMissing::SkipRow)).unwrap();
    assert_column(&skipped, 0, &[19_782_i32]);
    // A column that needs f64, which does not hold all of its times.
    let text = "2024-02-29T00:00:00.000000001\nNA\n";
    let error = typed(text, times(TimeUnit::Nanoseconds).missing(CsvMissing::Nan)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1, column 0: \"2024-02-29T00:00:00.000000001\" is a number of nanoseconds that f64 does not hold, and \
         the column needs f64 for the missing value on line 2: `CsvOptions::missing_in` can replace missing \
         values by a number"
    );
    let stated = times(TimeUnit::Nanoseconds).missing(CsvMissing::Value(0.0));
    assert_eq!(types(&typed(text, stated).unwrap()), [I64]);
}

#[test]
fn the_first_line_is_no_header_if_it_has_a_date_where_dates_are_stated() {
    let options = |columns: usize| CsvOptions::new().kind(columns, CsvColumnKind::Time(TimeUnit::Days));
    assert_eq!(typed("2024-01-01,red\n2024-01-02,blue\n", options(0)).unwrap().row_count(), 2);
    let named = CsvOptions::new().kind("day", CsvColumnKind::Time(TimeUnit::Days));
    assert_eq!(typed("day,colour\n2024-01-01,red\n", named).unwrap().row_count(), 1);
    // Dates are fine names of columns of numbers.
    assert_eq!(typed("2024-01-01,2024-01-02\n1,2\n", CsvOptions::new()).unwrap().row_count(), 1);
}
