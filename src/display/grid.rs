//! Aligned columns of text.
//!
//! Widths are in terminal columns.

use std::fmt::{self, Write};
use std::ops::Range;

use super::number::{DisplayNumber, write_all};
use crate::base::text::{DOTS, label, width};
use crate::dictionary::DataDictionary;

/// The width of the gap between adjacent columns.
pub(super) const SPACE: usize = 2;
/// The largest width of a name or a word, in terminal columns and in characters.
pub(super) const NAME_LIMIT: usize = 24;

/// Lines of cells, with a heading line and a name at the beginning of each line.
pub(crate) struct Grid {
    /// The names of the lines.
    index: TextColumn,
    /// The line before which lines are omitted.
    gap: Option<usize>,
    columns: Vec<TextColumn>,
}

/// One column: all of its cells are written with the same width.
pub(super) struct TextColumn {
    heading: String,
    /// A note below the heading.
    note: String,
    cells: Vec<String>,
    is_left: bool,
}

impl TextColumn {
    pub(super) fn new(heading: String, note: String, cells: Vec<String>) -> Self {
        Self { heading, note, cells, is_left: false }
    }

    /// Creates the placeholder of omitted columns.
    pub(super) fn dots(count: usize) -> Self {
        Self::new(DOTS.to_owned(), String::new(), vec![DOTS.to_owned(); count])
    }

    /// Returns the width of the widest cell.
    fn width(&self) -> usize {
        let texts = self.cells.iter().chain([&self.heading, &self.note]);
        texts.map(|text| width(text)).max().unwrap_or(0)
    }
}

impl Grid {
    /// Creates a grid whose lines have names at the left. Lines are omitted before line `gap`.
    pub(crate) fn new(names: impl Iterator<Item = String>, gap: Option<usize>) -> Self {
        let index = TextColumn { is_left: true, ..TextColumn::new(String::new(), String::new(), names.collect()) };
        Self { index, gap, columns: Vec::new() }
    }

    /// Returns the width of the names.
    pub(super) fn index_width(&self) -> usize {
        self.width_of(&self.index)
    }

    /// Returns the width of a column. Where lines are omitted, every column has dots.
    pub(super) fn width_of(&self, column: &TextColumn) -> usize {
        column.width().max(if self.gap.is_some() { DOTS.len() } else { 0 })
    }

    pub(super) fn add(&mut self, column: TextColumn) {
        self.columns.push(column);
    }

    /// Adds dots in place of omitted columns.
    pub(crate) fn add_dots(&mut self) {
        self.add(TextColumn::dots(self.index.cells.len()));
    }

    pub(crate) fn add_counts(&mut self, heading: &str, counts: impl Iterator<Item = u64>) {
        let cells = counts.map(|count| count.to_string()).collect();
        self.add(TextColumn::new(heading.to_owned(), String::new(), cells));
    }

    pub(crate) fn add_numbers(&mut self, heading: &str, numbers: impl Iterator<Item = f64>, precision: Option<usize>) {
        let numbers: Vec<DisplayNumber> = numbers.map(DisplayNumber::new).collect();
        self.add(TextColumn::new(heading.to_owned(), String::new(), write_all(&numbers, precision, false)));
    }

    /// Writes all lines, without a line break after the last one.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = std::iter::once(&self.index).chain(&self.columns);
        let columns: Vec<(&TextColumn, usize)> = all.map(|column| (column, self.width_of(column))).collect();
        write_line(f, &columns, |column| &column.heading)?;
        if self.columns.iter().any(|column| !column.note.is_empty()) {
            f.write_char('\n')?;
            write_line(f, &columns, |column| &column.note)?;
        }
        let count = self.index.cells.len();
        for line in 0..=count {
            if self.gap == Some(line) {
                f.write_char('\n')?;
                write_line(f, &columns, |_| DOTS)?;
            }
            if line < count {
                f.write_char('\n')?;
                write_line(f, &columns, |column| column.cells.get(line).map_or("", String::as_str))?;
            }
        }
        Ok(())
    }
}

/// Writes one line, without trailing spaces.
fn write_line<'a>(
    f: &mut fmt::Formatter<'_>,
    columns: &[(&'a TextColumn, usize)],
    cell: impl Fn(&'a TextColumn) -> &'a str,
) -> fmt::Result {
    let mut owed = 0;
    for &(column, wide) in columns {
        let text = cell(column);
        let room = wide - width(text).min(wide);
        let (before, behind) = if column.is_left { (0, room) } else { (room, 0) };
        owed += before;
        if !text.is_empty() {
            write_spaces(f, owed)?;
            f.write_str(text)?;
            owed = 0;
        }
        owed += behind + SPACE;
    }
    Ok(())
}

/// Writes `count` spaces. Formatting parameters would limit the width to 65,535.
fn write_spaces(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    const SPACES: &str = "                                ";
    (0..count).step_by(SPACES.len()).try_for_each(|done| f.write_str(&SPACES[..SPACES.len().min(count - done)]))
}

/// Returns the first and the last of `count` lines if they exceed the limit. Otherwise returns all lines, and an empty
/// range.
pub(crate) fn cut_rows(count: usize, limit: usize) -> (Range<usize>, Range<usize>) {
    if count <= limit {
        return (0..count, count..count);
    }
    (0..limit.div_ceil(2), count - limit / 2..count)
}

/// Returns a word truncated and without characters that could harm a terminal.
pub(crate) fn label_of(word: &str) -> String {
    label(word, NAME_LIMIT)
}

/// Returns the label of a column: its name without characters that could harm a terminal, or its index if it has no
/// name.
pub(crate) fn name_of(dictionary: Option<&DataDictionary>, column: usize) -> String {
    let feature = dictionary.and_then(|dictionary| dictionary.feature(column).ok());
    let Some(name) = feature.and_then(|feature| feature.name.as_deref()) else { return column.to_string() };
    label(name, NAME_LIMIT)
}
