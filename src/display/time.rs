//! Formatting dates and times.

use super::number::{DisplayNumber, write_all as write_numbers};
use crate::dictionary::TimeUnit;

/// Formats the dates and times of one column, in UTC. Decimals that all of them do without are left out, and times of
/// day if all are midnight. A number that is not a whole number of units stays a number.
pub(super) fn write_all(numbers: &[DisplayNumber], unit: TimeUnit) -> Vec<String> {
    let mut cells = write_numbers(numbers, None, true);
    let counts = numbers.iter().map(|number| match *number {
        DisplayNumber::Integer(count) => i64::try_from(count).ok(),
        DisplayNumber::Float(count, _) => Some(count as i64).filter(|&whole| whole as f64 == count),
        DisplayNumber::Missing | DisplayNumber::NotStored => None,
    });
    let mut times: Vec<(&mut String, (String, String, String))> =
        (cells.iter_mut().zip(counts)).filter_map(|(cell, count)| Some((cell, parts(&unit.show(count?))))).collect();
    let decimals = times.iter().map(|(_, (.., decimals))| decimals.trim_end_matches('0').len()).max().unwrap_or(0);
    let are_dates = decimals == 0 && times.iter().all(|(_, (_, time, _))| time == "00:00:00" || time.is_empty());
    for (cell, (date, time, fraction)) in &mut times {
        **cell = match decimals {
            _ if are_dates => std::mem::take(date),
            0 => format!("{date} {time}"),
            _ => format!("{date} {time}.{}", &fraction[..decimals]),
        };
    }
    cells
}

/// Cuts the text of a unit into the date, the time of day and the decimals of its seconds.
fn parts(text: &str) -> (String, String, String) {
    let (date, time) = text.trim_end_matches('Z').split_once('T').unwrap_or((text, ""));
    let (time, decimals) = time.split_once('.').unwrap_or((time, ""));
    (date.to_owned(), time.to_owned(), decimals.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unit: TimeUnit, counts: &[i64], expected: &[&str]) {
        let numbers: Vec<DisplayNumber> = counts.iter().map(|&count| DisplayNumber::new(count)).collect();
        assert_eq!(write_all(&numbers, unit), expected);
    }

    #[test]
    fn units_are_shown_as_short_as_their_column_allows() {
        check(TimeUnit::Days, &[19_782, -1, 0], &["2024-02-29", "1969-12-31", "1970-01-01"]);
        check(TimeUnit::Seconds, &[0, 86_400], &["1970-01-01", "1970-01-02"]);
        check(TimeUnit::Seconds, &[0, 1], &["1970-01-01 00:00:00", "1970-01-01 00:00:01"]);
        check(TimeUnit::Nanoseconds, &[0, 86_400_000_000_000], &["1970-01-01", "1970-01-02"]);
        let [first, second] = ["1970-01-01 00:00:00.000", "1970-01-01 00:00:01.025"];
        check(TimeUnit::Microseconds, &[0, 1_025_000], &[first, second]);
        check(TimeUnit::Milliseconds, &[-1], &["1969-12-31 23:59:59.999"]);
        check(TimeUnit::Days, &[], &[]);
    }

    #[test]
    fn what_is_no_date_stays_what_it_is() {
        let numbers = [
            DisplayNumber::Missing,
            DisplayNumber::new(f64::NAN),
            DisplayNumber::new(1.5),
            DisplayNumber::new(1.0),
            DisplayNumber::new(u64::MAX),
            DisplayNumber::NotStored,
        ];
        let cells = write_all(&numbers, TimeUnit::Days);
        assert_eq!(cells, ["null", "NaN", "1.5", "1970-01-02", "18446744073709551615", "."]);
        // Years beyond six digits are shown, too: no count is refused.
        let numbers = [i64::MAX, i64::MIN].map(DisplayNumber::new);
        assert!(write_all(&numbers, TimeUnit::Days).iter().all(|cell| cell.len() > 12));
    }
}
