//! The rows of a CSV file of mixed types. Each has a number of 13 digits, a date, a word with a comma and accents in
//! quotes, a measurement and a count that are sometimes missing, and yes or no.

use std::fmt::Write as _;
use std::path::Path;

use numeric_table::csv::{CsvColumnKind, CsvOptions, CsvSource, CsvWriteOptions};
use numeric_table::dictionary::TimeUnit;
use numeric_table::prelude::*;

const CITIES: [&str; 20] = [
    "Zürich",
    "Malmö",
    "Łódź",
    "Córdoba",
    "Besançon",
    "Tromsø",
    "Kraków",
    "Münster",
    "Évora",
    "Plzeň",
    "Győr",
    "Iași",
    "Kütahya",
    "Århus",
    "Cádiz",
    "Nîmes",
    "Šiauliai",
    "Põlva",
    "Žilina",
    "Tórshavn",
];

/// The values of a row.
pub(crate) struct Row {
    pub(crate) id: i64,
    /// Year, month and day.
    pub(crate) date: [i64; 3],
    pub(crate) city: &'static str,
    pub(crate) district: usize,
    pub(crate) price: Option<f64>,
    pub(crate) count: Option<u32>,
    pub(crate) answer: &'static str,
}

impl Row {
    pub(crate) fn new(index: usize) -> Self {
        let hash = (index as u64).wrapping_mul(2_654_435_761) & 0xFFFF_FFFF;
        let part = |shift: u32, count: u64| ((hash >> shift) % count) as usize;
        Self {
            id: 1_700_000_000_000 + index as i64 * 7919,
            date: [1990 + part(3, 35) as i64, 1 + part(7, 12) as i64, 1 + part(11, 28) as i64],
            city: CITIES[part(5, 20)],
            district: part(9, 50),
            price: (!index.is_multiple_of(11)).then(|| (part(2, 200_001) as f64 - 50_000.0) / 100.0),
            count: (!index.is_multiple_of(7)).then(|| part(6, 10_000) as u32),
            answer: if part(13, 3) == 0 { "no" } else { "yes" },
        }
    }

    pub(crate) fn word(&self) -> String {
        format!("{}, {}", self.city, self.district)
    }
}

/// Returns the text of a file with the given number of rows.
pub(crate) fn text(rows: usize) -> String {
    let mut text = "id,day,place,price,count,answer\n".to_owned();
    for row in (0..rows).map(Row::new) {
        let Row { id, date: [year, month, day], answer, .. } = row;
        let price = row.price.map(|price| price.to_string()).unwrap_or_default();
        let count = row.count.map(|count| count.to_string()).unwrap_or_default();
        let word = row.word();
        writeln!(text, "{id},{year}-{month:02}-{day:02},\"{word}\",{price},{count},{answer}").expect("it is in memory");
    }
    text
}

/// Opens a file of such rows, with days as times. Gaps stay gaps.
pub(crate) fn open(path: &Path) -> Result<CsvSource, Error> {
    let options = CsvOptions::new().kind("day", CsvColumnKind::Time(TimeUnit::Days));
    CsvSource::open_with(path, options)
}

/// Returns the options that write such a file with the same bytes.
pub(crate) fn write_options() -> CsvWriteOptions {
    CsvWriteOptions::new().durable(false)
}
