//! Draws the distribution of each feature of a table, before and after standardization, by class.
//!
//! ```text
//! cargo run --release -p more-examples --example distributions                         # data/iris.csv
//! cargo run --release -p more-examples --example distributions data/wine.csv wine.svg  # another file and target
//! ```
//!
//! The picture is an SVG file. If a column of the file has a few different words, each gets its own color.

#[path = "../common/standardize.rs"]
mod standardize;

use std::path::{Path, PathBuf};

use numeric_table::{csv::CsvSource, prelude::*, statistics::BasicStatistics};
use plotters::coord::Shift;
use plotters::prelude::*;
use standardize::standardize;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
type Panel<'p> = DrawingArea<SVGBackend<'p>, Shift>;

const BINS: usize = 24;
const COLOURS: [RGBColor; 6] = [
    RGBColor(0x2F, 0x6F, 0xB7),
    RGBColor(0xE0, 0x7B, 0x28),
    RGBColor(0x3A, 0x97, 0x5B),
    RGBColor(0xB9, 0x3F, 0x4B),
    RGBColor(0x7C, 0x5A, 0xA6),
    RGBColor(0x6B, 0x6B, 0x6B),
];
/// Sizes in points: of one panel, of the heading, and of the legend.
const PANEL: (u32, u32) = (360, 150);
const HEADING: u32 = 34;
const LEGEND: u32 = 30;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let path = arguments.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/iris.csv").into());
    let picture = arguments.next().unwrap_or_else(|| std::env::temp_dir().join("numeric-table-distributions.svg"));

    let source = CsvSource::open(&path)?;
    let before: HomogenNumericTable<f32> = source.load()?;
    let classes = Classes::of(&source, &before)?;
    let mut after = before.clone(); // shares the values, until the first write
    standardize(&mut after, &BasicStatistics::compute(&before)?)?;

    draw(&picture, &before, &after, &classes)?;
    let columns = continuous(&before).count();
    println!("{}: {columns} features of {} rows, {}", picture.display(), before.row_count(), classes);
    Ok(())
}

/// The classes of the rows of a table: the last column with few enough words for each to have a color.
struct Classes {
    names: Vec<String>,
    /// The class of each row.
    of_row: Vec<usize>,
}

impl Classes {
    fn of(source: &CsvSource, table: &HomogenNumericTable<f32>) -> Result<Self> {
        for column in (0..table.column_count()).rev() {
            if let Some(names) = source.categories(column)?.filter(|names| names.len() <= COLOURS.len()) {
                let indices = table.column::<u32>(column, 0..table.row_count())?;
                return Ok(Self {
                    names: names.to_vec(),
                    of_row: indices.iter().map(|&index| index as usize).collect(),
                });
            }
        }
        Ok(Self { names: vec!["all rows".to_owned()], of_row: vec![0; table.row_count()] })
    }
}

impl std::fmt::Display for Classes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.names.join(", "))
    }
}

fn continuous(table: &HomogenNumericTable<f32>) -> impl Iterator<Item = (usize, &Feature)> {
    let features = table.dictionary().iter().enumerate();
    features.filter(|(_, feature)| feature.feature_type == FeatureType::Continuous)
}

/// Draws one line of two panels for each feature.
fn draw(
    path: &Path,
    before: &HomogenNumericTable<f32>,
    after: &HomogenNumericTable<f32>,
    classes: &Classes,
) -> Result<()> {
    let lines = continuous(before).count() as u32;
    if lines == 0 {
        return Err("the table has no continuous column to draw".into());
    }
    let size = (2 * PANEL.0, HEADING + lines * PANEL.1 + LEGEND);
    let whole = SVGBackend::new(path, size).into_drawing_area();
    whole.fill(&WHITE)?;
    let (heading, rest) = whole.split_vertically(HEADING);
    let (panels, legend) = rest.split_vertically(lines * PANEL.1);
    for (column, text) in heading.split_evenly((1, 2)).iter().zip(["as measured", "standardized"]) {
        column.draw_text(text, &("sans-serif", 18).into_text_style(column), (24, 10))?;
    }
    let panels = panels.split_evenly((lines as usize, 2));
    for ((column, feature), pair) in continuous(before).zip(panels.chunks(2)) {
        for (panel, table) in pair.iter().zip([before, after]) {
            let name = feature.name.clone().unwrap_or_else(|| format!("column {column}"));
            let values = table.column::<f64>(column, 0..table.row_count())?;
            draw_panel(panel, &name, &values, classes)?;
        }
    }
    draw_legend(&legend, classes)?;
    whole.present()?;
    Ok(())
}

/// Draws the histogram of one feature, with a translucent layer per class. NaN and infinities are skipped.
fn draw_panel(panel: &Panel<'_>, name: &str, values: &[f64], classes: &Classes) -> Result<()> {
    let finite = || values.iter().zip(&classes.of_row).filter(|(value, _)| value.is_finite());
    let low = finite().map(|(&value, _)| value).reduce(f64::min).unwrap_or(0.0);
    let high = finite().map(|(&value, _)| value).reduce(f64::max).unwrap_or(0.0);
    let width = if high > low { (high - low) / BINS as f64 } else { 1.0 };
    let mut counts = vec![[0_u32; BINS]; classes.names.len()];
    for (value, &class) in finite() {
        let bin = (value - low) / width + 1e-5; // keeps values at the edge of a bin on its side after rounding
        counts[class][(bin as usize).min(BINS - 1)] += 1;
    }
    let highest = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let mut chart = ChartBuilder::on(panel)
        .margin(8)
        .caption(name, ("sans-serif", 13))
        .x_label_area_size(20)
        .y_label_area_size(32)
        .build_cartesian_2d(low..low + width * BINS as f64, 0..highest + highest / 10 + 1)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(7)
        .y_labels(4)
        .label_style(("sans-serif", 11))
        .draw()?;
    for (counts, colour) in counts.iter().zip(COLOURS) {
        chart.draw_series(counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, &count)| {
            let left = low + width * bin as f64;
            Rectangle::new([(left, 0), (left + width, count)], colour.mix(0.55).filled())
        }))?;
    }
    Ok(())
}

fn draw_legend(legend: &Panel<'_>, classes: &Classes) -> Result<()> {
    let style = ("sans-serif", 13).into_text_style(legend);
    let mut left = 24;
    for (name, colour) in classes.names.iter().zip(COLOURS) {
        legend.draw(&Rectangle::new([(left, 9), (left + 12, 21)], colour.mix(0.55).filled()))?;
        legend.draw_text(name, &style, (left + 18, 8))?;
        left += 40 + 8 * name.chars().count() as i32;
    }
    Ok(())
}
