//! Dates as days since 1970-01-01. Days are counted as in "chrono-Compatible Low-Level Date Algorithms" by H. Hinnant.

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Returns the year, the month and the day of the date the given number of days after 1970-01-01. All but the year fits
/// 32 bits, which take less time to divide.
#[inline(always)]
pub(crate) fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097) as u32);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (i64::from(year_of_era) + era * 400 + i64::from(month <= 2), month, day)
}

/// Formats the date the given number of days after 1970-01-01, in the form in which it is read.
pub(crate) fn show_date(days: i64) -> String {
    match date_of(days) {
        (year @ 0..=9999, month, day) => format!("{year:04}-{month:02}-{day:02}"),
        (year, month, day) => format!("{year:+07}-{month:02}-{day:02}"),
    }
}
