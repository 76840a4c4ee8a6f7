//! The cells of a block of rows as text: labels of categories, dates, and numbers with the shortest digits that are
//! read back as the same value. The library's CSV writer spells them.

use numeric_table::csv::CsvWriteOptions;
use numeric_table::{FeatureType, NumericTable, Result, TableOutput};

/// Between cells: a control character that no label has unquoted.
const BETWEEN: u8 = 0x1f;

/// What a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A number, or NaN.
    Number(String),
    /// A label or a date.
    Text(String),
    Missing,
}

impl Cell {
    /// Returns the text that tables show.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Number(text) | Self::Text(text) => text,
            Self::Missing => "null",
        }
    }

    /// Returns the cell as a value of JSON: numbers that JSON cannot spell are strings.
    pub(crate) fn json(&self) -> serde_json::Value {
        match self {
            Self::Missing => serde_json::Value::Null,
            Self::Text(text) => text.clone().into(),
            Self::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| text.clone().into()),
        }
    }
}

/// Returns the rows of a block as cells.
pub(crate) fn cells_of(block: &dyn NumericTable) -> Result<Vec<Vec<Cell>>> {
    if block.shape().columns == 0 {
        return Ok(vec![Vec::new(); block.shape().rows]);
    }
    let mut text = Vec::new();
    let options = CsvWriteOptions::new().delimiter(BETWEEN).header(false).missing("\u{1e}");
    block.write_csv_to(&mut text, options)?;
    let are_words: Vec<bool> = block.dictionary().iter().map(is_text).collect();
    let text = String::from_utf8_lossy(&text);
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut is_word) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' => (is_quoted, is_word) = (!is_quoted, true),
            _ if is_quoted => cell.push(character),
            '\u{1f}' | '\n' => {
                let (text, word) = (std::mem::take(&mut cell), std::mem::take(&mut is_word));
                let column = row.len();
                row.push(match text {
                    text if text == "\u{1e}" && !word => Cell::Missing,
                    text if are_words.get(column) == Some(&true) => Cell::Text(text),
                    text => Cell::Number(text),
                });
                if character == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            _ => cell.push(character),
        }
    }
    Ok(rows)
}

/// Returns whether a column is shown as words or dates.
pub(crate) fn is_text(feature: &numeric_table::Feature) -> bool {
    matches!(feature.feature_type, FeatureType::Time(_)) || is_words(feature)
}

/// Returns whether a column holds words, whose labels may be known only when the rows have been read.
pub(crate) fn is_words(feature: &numeric_table::Feature) -> bool {
    let is_category = feature.feature_type == FeatureType::Categorical;
    feature.label(0).is_some() || (is_category && feature.category_count().is_none_or(|count| count == 0))
}

/// Returns whether words may be added to the labels while rows are read.
pub(crate) fn may_grow(dictionary: &numeric_table::DataDictionary) -> bool {
    dictionary.iter().any(|feature| is_words(feature) && feature.label(0).is_none())
}

/// Returns the names of columns, and their numbers where they have none.
pub(crate) fn names_of(dictionary: &numeric_table::DataDictionary) -> Vec<String> {
    let names = dictionary.names().enumerate();
    names.map(|(column, name)| name.map_or_else(|| column.to_string(), str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use numeric_table::{Feature, SoaNumericTable, array::Validity};

    #[test]
    fn labels_of_any_characters_missing_values_and_nan_are_told_apart() -> Result<()> {
        let mut table = SoaNumericTable::new();
        let words = ["a\"b", "line\nend", "\u{1f}", ""];
        let feature = Feature::new(numeric_table::ElementType::U8)
            .named("word")
            .categorical(numeric_table::dictionary::Categories::from_labels(words)?);
        table.push_nullable(
            feature,
            vec![0_u8, 1, 2, 3, 0],
            Some(Validity::from_flags(&[true, true, true, true, false])?),
        )?;
        table.push_column("size", vec![1.5, f64::NAN, -0.0, 1e300, f64::INFINITY])?;
        let cells = cells_of(&table)?;
        let first: Vec<&str> = cells.iter().map(|row| row[0].shown()).collect();
        assert_eq!(first, ["a\"b", "line\nend", "\u{1f}", "", "null"]);
        assert_eq!(cells[4][0], Cell::Missing);
        assert_eq!(cells[1][1].json(), "NaN");
        assert_eq!(cells[0][1].json(), 1.5);
        Ok(())
    }
}
