//! Standard output: tables of aligned columns, JSON, and rows.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::cells::Cell;
use crate::failure::Outcome;

/// The style of titles.
const TITLE: Style = Style::new().bold();
/// The style of what is missing, and of notes.
const FAINT: Style = Style::new().dimmed();
/// The style of good news, and of bad.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// The widest cell of a table.
const WIDEST: usize = 40;

/// Standard output without colours, unless it is a terminal that has them.
pub(crate) fn out() -> impl Write {
    io::BufWriter::new(anstream::stdout())
}

/// Prints a message to standard error. One that cannot be printed is lost; the exit code remains.
fn to_stderr(style: Style, kind: &str, message: &str) {
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {message}");
}

/// Prints why a command did not succeed.
pub(crate) fn error(message: &str) {
    to_stderr(BAD.bold(), "error", message);
}

/// Prints what a user should know of a command that succeeded.
pub(crate) fn warning(message: &str) {
    to_stderr(AnsiColor::Yellow.on_default().bold(), "warning", message);
}

/// Whether notes are not wanted.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Sets whether notes are left out: `--quiet`.
pub(crate) fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Returns whether notes are suppressed. Callers then skip work that only a note needs.
pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Prints to standard error what is as it should be, and may still surprise.
pub(crate) fn hint(message: &str) {
    if !is_quiet() {
        to_stderr(AnsiColor::Cyan.on_default().bold(), "note", message);
    }
}

/// Prints a document of JSON.
pub(crate) fn json(value: &Value) -> Outcome {
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// A table of aligned columns.
pub(crate) struct Grid {
    titles: Vec<String>,
    /// Whether a column is aligned to the right.
    is_right: Vec<bool>,
    lines: Vec<Vec<Cell>>,
}

impl Grid {
    pub(crate) fn new(titles: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let titles: Vec<String> = titles.into_iter().map(Into::into).collect();
        Self { is_right: vec![true; titles.len()], titles, lines: Vec::new() }
    }

    /// Aligns some columns to the left.
    pub(crate) fn left(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        for column in columns {
            if let Some(is_right) = self.is_right.get_mut(column) {
                *is_right = false;
            }
        }
        self
    }

    pub(crate) fn push(&mut self, line: Vec<Cell>) {
        self.lines.push(line);
    }

    pub(crate) fn push_texts(&mut self, line: impl IntoIterator<Item = impl Into<String>>) {
        self.lines.push(line.into_iter().map(|text| Cell::Text(text.into())).collect());
    }

    /// Prints the table. In a terminal, columns at the right that do not fit are left out.
    pub(crate) fn print(&self) -> Outcome {
        let cell = |cell: &Cell| clean(cell.shown());
        let lines: Vec<Vec<String>> = self.lines.iter().map(|line| line.iter().map(cell).collect()).collect();
        let titles: Vec<String> = self.titles.iter().map(|title| clean(title)).collect();
        let width_of = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.width());
            cells.chain([titles[column].width()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..titles.len()).map(width_of).collect();
        let shown = shown(&widths);
        let mut out = out();
        let mut print = |cells: &[String], missing: &[bool], style: Option<Style>| -> io::Result<()> {
            let mut line = String::new();
            for (column, &width) in widths.iter().enumerate().take(shown) {
                let text = cells.get(column).map_or("", String::as_str);
                let room = " ".repeat(width.saturating_sub(text.width()));
                let style = style.or(missing.get(column).copied().unwrap_or(false).then_some(FAINT));
                let text = style.map_or_else(|| text.to_owned(), |style| format!("{style}{text}{style:#}"));
                let is_last = column + 1 == shown;
                match self.is_right[column] {
                    true => line.extend([room.as_str(), text.as_str()]),
                    false if is_last => line.push_str(&text),
                    false => line.extend([text.as_str(), room.as_str()]),
                }
                if !is_last {
                    line.push_str("  ");
                }
            }
            writeln!(out, "{}", line.trim_end())
        };
        print(&titles, &[], Some(TITLE))?;
        for (line, cells) in lines.iter().zip(&self.lines) {
            let missing: Vec<bool> = cells.iter().map(|cell| *cell == Cell::Missing).collect();
            print(line, &missing, None)?;
        }
        if shown < titles.len() {
            let more = count(titles.len() - shown, "more column");
            writeln!(out, "{FAINT}... and {more}{FAINT:#}")?;
        }
        Ok(out.flush()?)
    }
}

/// Returns how many columns fit.
fn shown(widths: &[usize]) -> usize {
    let Some((terminal_size::Width(most), _)) = terminal_size::terminal_size_of(io::stdout()) else {
        return widths.len();
    };
    let mut used = 0;
    let fits = widths.iter().take_while(|&&width| {
        used += width + 2;
        used <= usize::from(most) + 2
    });
    fits.count().max(1).min(widths.len())
}

/// Returns a text without control characters, and cut to a readable width.
pub(crate) fn clean(text: &str) -> String {
    let mut clean: String =
        text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect();
    if clean.width() > WIDEST {
        while clean.width() > WIDEST - 1 {
            clean.pop();
        }
        clean.push('\u{2026}');
    }
    clean
}

/// Prints lines of a name and a value.
pub(crate) fn facts(facts: &[(&str, String)]) -> Outcome {
    let mut out = out();
    let width = facts.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in facts {
        let room = " ".repeat(width - name.width());
        writeln!(out, "{TITLE}{name}{TITLE:#}{room}  {value}")?;
    }
    Ok(out.flush()?)
}

/// Prints a line.
pub(crate) fn line(text: &str) -> Outcome {
    let mut out = out();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints a line about what follows, or about what was left out.
pub(crate) fn note(text: &str) -> Outcome {
    let mut out = out();
    writeln!(out, "{FAINT}{text}{FAINT:#}")?;
    Ok(out.flush()?)
}

/// Returns a number of bytes for readers.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Returns a number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of things, such as `1 row` or `1,234 rows`, in the singular if there is one.
pub(crate) fn count(number: impl TryInto<u64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Returns a number with six significant digits.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&exponent) {
        let text = format!("{number:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let decimals = usize::try_from(5 - exponent).unwrap_or(0);
    trimmed(&format!("{number:.decimals$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Returns a result as JSON: `null` if it is undefined (NaN), and a string if it is infinite.
pub(crate) fn number(number: f64) -> Value {
    match serde_json::Number::from_f64(number) {
        Some(number) => Value::Number(number),
        None if number.is_nan() => Value::Null,
        None => number.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_sizes_readable() {
        let shorts = [0.0, 1.0, 5.843333333, -0.000012345678, 123456789.0, 1e20, f64::NAN, 0.1 + 0.2].map(short);
        assert_eq!(shorts, ["0", "1", "5.84333", "-0.0000123457", "123456789", "1e20", "NaN", "0.3"]);
        assert_eq!([0, 1023, 1024, 5 << 30].map(size), ["0 bytes", "1023 bytes", "1.0 KiB", "5.0 GiB"]);
        assert_eq!([7, 1234, 1234567].map(grouped), ["7", "1,234", "1,234,567"]);
        assert_eq!([0, 1, 1234].map(|number: u64| count(number, "row")), ["0 rows", "1 row", "1,234 rows"]);
        assert_eq!([number(f64::NAN), number(f64::INFINITY), number(0.5)], [Value::Null, "inf".into(), 0.5.into()]);
        assert_eq!(clean("a\u{1b}[31m"), "a\u{fffd}[31m");
    }
}
