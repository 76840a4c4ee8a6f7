//! A table as HTML, for notebooks.

use std::fmt::Write;

use numeric_table::{BlockAccess, MissingValues, NumericTable, Result, Shape, TableDescription};

use crate::base::element::{self, with_type};
use crate::table::labels::has_labels;
use crate::table::sparse;

/// The number of rows shown at each end, and the number of columns shown at each side.
const ROWS: usize = 5;
const COLUMNS: usize = 8;

/// Returns the indices of the items that are shown, with `None` for omitted items.
fn shown(count: usize, at_each_end: usize) -> Vec<Option<usize>> {
    if count <= 2 * at_each_end + 1 {
        return (0..count).map(Some).collect();
    }
    let first = (0..at_each_end).map(Some);
    first.chain([None]).chain((count - at_each_end..count).map(Some)).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A missing value, fainter than a word of this spelling.
const MISSING: &str = "<span style=\"opacity: 0.6\">null</span>";

/// Returns whether a sparse table does not store a value, so that it is zero.
fn is_zero(table: &dyn NumericTable, row: usize, column: usize) -> Result<bool> {
    sparse::of(table).map_or(Ok(false), |sparse| Ok(sparse.get(row, column)?.is_none()))
}

/// Returns an HTML table: names, types, the first and last rows, the shape. A cell that a sparse table does not store is
/// a dot. It states no colors: those of the page, which may be light or dark, apply.
pub(crate) fn table(table: &dyn NumericTable) -> Result<String> {
    let Shape { rows, columns } = table.shape();
    let (shown_rows, shown_columns) = (shown(rows, ROWS), shown(columns, COLUMNS));
    let mut html = String::from("<table>\n<thead>\n<tr><th></th>");
    for column in &shown_columns {
        let _ = match column {
            Some(column) => {
                let feature = table.dictionary().feature(*column)?;
                let name = feature.name.as_deref().map_or_else(|| column.to_string(), escaped);
                let kind = if has_labels(feature) { "category, " } else { "" };
                let element = element::name(feature.element_type);
                let faint = "style=\"font-weight: normal; opacity: 0.7\"";
                write!(html, "<th>{name}<br><small {faint}>{kind}{element}</small></th>")
            }
            None => write!(html, "<th>&hellip;</th>"),
        };
    }
    html.push_str("</tr>\n</thead>\n<tbody>\n");
    for row in &shown_rows {
        let label = row.map_or_else(|| String::from("&hellip;"), |row| row.to_string());
        let _ = write!(html, "<tr><th>{label}</th>");
        for column in &shown_columns {
            let text = match (row, column) {
                (Some(row), Some(column)) if table.is_missing(*row, *column)? => String::from(MISSING),
                (Some(row), Some(column)) if is_zero(table, *row, *column)? => String::from("."),
                (Some(row), Some(column)) => with_type!(table.column_type(*column)?, T => {
                    let value = table.value::<T>(*row, *column)?;
                    let feature = table.dictionary().feature(*column)?;
                    let word = value.to_string().parse().ok().and_then(|place| feature.label(place));
                    word.map_or_else(|| value.to_string(), escaped)
                }),
                _ => String::from("&hellip;"),
            };
            let _ = write!(html, "<td style=\"text-align: right\">{text}</td>");
        }
        html.push_str("</tr>\n");
    }
    let _ = write!(html, "</tbody>\n</table>\n<p>{rows} rows &times; {columns} columns");
    if let Some(sparse) = sparse::of(table) {
        let _ = write!(html, ", {} values stored", sparse.nnz());
    }
    html.push_str("</p>");
    Ok(html)
}
