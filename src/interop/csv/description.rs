//! The decisions for the columns of a file, as values and as text.

use std::fmt;

use super::CsvColumnKind;
use crate::base::element::ElementType;
use crate::base::text::{label, width};
use crate::base::value::AnyValue;
use crate::dictionary::TimeUnit;

/// The decisions for the columns of a CSV file: see [`CsvSource::describe`](super::CsvSource::describe).
///
/// It prints as a table with a line for each column: the first 100 columns, or all of them with `{:#}`.
///
/// # Examples
/// ```
/// use numeric_table::{csv::CsvSource, prelude::*};
/// let description = CsvSource::from_bytes(&b"size,colour\n1,red\n2,blue\n"[..])?.describe()?;
/// assert_eq!((description.rows, description.left_out_rows), (2, 0));
/// assert_eq!(description.columns[1].name.as_deref(), Some("colour"));
/// assert_eq!(description.columns[1].categories.as_deref(), Some(&["red".to_owned(), "blue".to_owned()][..]));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CsvDescription {
    /// Number of rows of the table.
    pub rows: usize,
    /// Number of rows that are [skipped](super::CsvMissing::SkipRow). The other fields do not count them.
    pub left_out_rows: usize,
    /// All columns of the file, in file order.
    pub columns: Vec<CsvColumnDescription>,
}

/// The decisions for one column of a CSV file.
///
/// # Examples
/// ```
/// use numeric_table::{AnyValue, csv::{CsvMissing, CsvOptions, CsvSource}, prelude::*};
/// let options = CsvOptions::new().missing_in(1, CsvMissing::Nan);
/// let description = CsvSource::from_bytes_with(&b"1,2,3\n3,NA,\n"[..], options)?.describe()?;
/// let [first, second, third] = &description.columns[..] else { panic!("there are three") };
/// assert_eq!((first.element_type, first.gaps, first.nullable), (Some(ElementType::I64), 0, false));
/// assert_eq!(first.range, Some((AnyValue::from(1_i64), AnyValue::from(3_i64))));
/// assert_eq!((second.element_type, second.gaps, second.nullable), (Some(ElementType::F64), 1, false));
/// assert_eq!(second.reason, "\"2\" on line 1; \"NA\" on line 2 is missing");
/// assert_eq!((third.element_type, third.gaps, third.nullable), (Some(ElementType::I64), 1, true));
/// assert_eq!(third.reason, "\"3\" on line 1; only integers; \"\" on line 2 is missing");
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CsvColumnDescription {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its kind, which is never [`Automatic`](CsvColumnKind::Automatic); `None` if the column is excluded.
    pub kind: Option<CsvColumnKind>,
    /// The element type in tables of [`load_typed`](super::CsvSource::load_typed); `None` if the column is excluded.
    pub element_type: Option<ElementType>,
    /// The reason: what the options set, or the first field that shows the kind, and what decides the type. Strings of
    /// the file are cut to 40 characters.
    pub reason: String,
    /// Number of its missing values, before they are replaced.
    pub gaps: usize,
    /// Whether its column in tables of [`load_typed`](super::CsvSource::load_typed) has missing values: some are
    /// missing, and [stay so](super::CsvMissing::Keep).
    pub nullable: bool,
    /// The smallest and the largest number, without missing values and NaN, in the element type; `None` if there are
    /// none.
    pub range: Option<(AnyValue, AnyValue)>,
    /// Its categories, in the order of their indices, if it is a column of words.
    pub categories: Option<Vec<String>>,
}

impl CsvColumnDescription {
    /// Returns its values in short form: the range, or the categories.
    fn values(&self) -> String {
        const MOST: usize = 36;
        let time = |value: &AnyValue, unit: TimeUnit| match *value {
            AnyValue::I32(count) => unit.show(count.into()),
            AnyValue::I64(count) => unit.show(count),
            AnyValue::F64(count) => unit.show(count as i64), // a whole number
            _ => value.to_string(),
        };
        match (&self.categories, &self.range, &self.kind) {
            (Some(words), ..) => {
                // Each word takes at least one character, and the text is cut at the limit.
                let first: Vec<&str> = words.iter().take(MOST).map(String::as_str).collect();
                label(&format!("{}: {}", words.len(), first.join(", ")), MOST)
            }
            (None, Some((low, high)), Some(CsvColumnKind::Time(unit))) => {
                format!("{} to {}", time(low, *unit), time(high, *unit))
            }
            (None, Some((low, high)), _) => format!("{low} to {high}"),
            (None, None, _) => String::new(),
        }
    }

    /// Returns the cells of the column's line.
    fn cells(&self, index: usize) -> [String; 7] {
        const MOST: usize = 24;
        let name = self.name.as_deref().map_or_else(String::new, |name| label(name, MOST));
        let (kind, element, gaps) = match (&self.kind, self.element_type) {
            (Some(kind), Some(element)) => (format!("{kind:?}"), element.to_string(), self.gaps.to_string()),
            _ => ("left out".to_owned(), String::new(), String::new()),
        };
        [index.to_string(), name, kind, element, gaps, self.values(), self.reason.clone()]
    }
}

impl fmt::Display for CsvDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 100;
        const TITLES: [&str; 7] = ["", "name", "kind", "type", "gaps", "values", "decided by"];
        const TO_THE_RIGHT: [usize; 2] = [0, 4];
        let shown = if f.alternate() { self.columns.len() } else { self.columns.len().min(MOST) };
        let mut lines = vec![TITLES.map(str::to_owned)];
        lines.extend(self.columns[..shown].iter().enumerate().map(|(index, column)| column.cells(index)));
        let widths: [usize; 7] =
            std::array::from_fn(|cell| lines.iter().map(|cells| width(&cells[cell])).max().unwrap_or(0));
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (rows, columns) = (self.rows, self.columns.len());
        write!(f, "{rows} row{}, {columns} column{}", plural(rows), plural(columns))?;
        match self.left_out_rows {
            0 => writeln!(f)?,
            count => writeln!(f, "; {count} row{} left out", plural(count))?,
        }
        for cells in &lines {
            let mut line = String::new();
            for (cell, text) in cells.iter().enumerate() {
                let room = " ".repeat(widths[cell] - width(text));
                let (before, after) = if TO_THE_RIGHT.contains(&cell) { (&room[..], "") } else { ("", &room[..]) };
                line.extend([before, text, after, "  "]);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        if shown < columns { writeln!(f, "... and {} more", columns - shown) } else { Ok(()) }
    }
}
