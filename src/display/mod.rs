//! Tables as human-readable text: an overview of their content for a terminal.
//!
//! `grid`: aligned columns of text. `number`: the numbers of one column. `time`: dates and
//! times. This file: which rows and columns are shown.

mod grid;
mod number;
mod time;

pub(crate) use grid::{Grid, cut_rows, label_of, name_of};

use std::fmt;

use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{ErrorKind, Result};
use crate::base::shape::Shape;
use crate::base::text::{DOTS, label};
use crate::block::BlockAccess;
use crate::dictionary::{DataDictionary, Feature, FeatureType};
use crate::table::aos::AosNumericTable;
use crate::table::borrowed::{BorrowedTable, BorrowedTableMut};
use crate::table::csr::CsrNumericTable;
use crate::table::merged::{MergedNumericTable, RowMergedNumericTable};
use crate::table::packed::{PackedSymmetricMatrix, PackedTriangularMatrix};
use crate::table::soa::SoaNumericTable;
use crate::table::{HomogenNumericTable, MemoryStatus, NumericTable, TableDescription, TableView};
use grid::{NAME_LIMIT, SPACE, TextColumn};
use number::{DECIMALS_LIMIT, DisplayNumber, write_all};

/// A table as text: its shape and type, the names of its columns, its first and last rows. Created by `display()` of
/// tables and views, whose own `Display` uses its defaults.
///
/// Rows in the middle and columns in the middle that do not fit are replaced by `...`. All numbers of a column have the
/// same number of decimals: two with `{:.2}`, by default as many as necessary, up to six digits. `{:120}` sets the line
/// width to 120 terminal columns. Categories are shown by their labels, dates and times as `2024-02-29 12:34:56`, in UTC.
/// A missing value is `null`, as in polars and Arrow. A cell that a sparse table does not
/// store, and which is therefore zero, is `.`.
///
/// `{:#}` shows everything, within limits that always apply: lines of at most a million terminal columns, and about a
/// million numbers, fewer if they have many decimals. For a table without memory, or one that is leased to a writable
/// block, the text reports that instead.
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let mut table = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5, 0.0], [4.9, f32::NAN, 0.0], [6.25, 3.4, 2.0]])?;
/// let features = ["length", "width", "species"].map(|name| Feature::new(ElementType::F32).named(name));
/// let [length, width, species] = features;
/// table.set_dictionary(DataDictionary::from_features([length, width, species.categorical(3)]))?;
/// assert_eq!(table.to_string(), "
/// 3 x 3 f32, row major
///    length  width       species
///                   3 categories
/// 0    5.10    3.5             0
/// 1    4.90    NaN             0
/// 2    6.25    3.4             2
/// ".trim_matches('\n'));
/// assert_eq!(table.display().max_rows(2).width(24).to_string(), "
/// 3 x 3 f32, row major
///      length  ...
/// 0      5.10  ...
/// ...     ...  ...
/// 2      6.25  ...
/// ".trim_matches('\n'));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub struct TableDisplay<'t> {
    source: Box<dyn DisplaySource + 't>,
    rows: usize,
    width: usize,
    precision: Option<usize>,
}

impl<'t> TableDisplay<'t> {
    pub(crate) fn of_table(table: &'t (dyn NumericTable + 't)) -> Self {
        Self::new(table)
    }

    fn new(source: impl DisplaySource + 't) -> Self {
        Self { source: Box::new(source), rows: 10, width: 80, precision: None }
    }

    /// Sets the number of rows to show, from the beginning and the end; 10 by default. At most about a million numbers
    /// are shown.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::<u8>::full(Shape { rows: 100, columns: 1 }, 7)?;
    /// assert_eq!(table.display().max_rows(3).to_string().lines().count(), 1 + 1 + 2 + 1 + 1);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn max_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// Sets the maximum width of a line in terminal columns; 80 by default, at most a million. At least one column is
    /// shown, regardless of its width.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::<u8>::full(Shape { rows: 1, columns: 100 }, 7)?;
    /// let text = table.display().width(27).to_string();
    /// assert!(text.lines().all(|line| line.len() <= 27) && text.ends_with("0  7  7  7  ...   7   7   7"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn width(self, width: usize) -> Self {
        Self { width, ..self }
    }

    /// Sets the number of decimals of floats: at most 1074, the most that an `f64` can have.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[0.123_f64]])?;
    /// assert!(table.display().precision(1).to_string().ends_with("0  0.1"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[must_use]
    pub fn precision(self, decimals: usize) -> Self {
        Self { precision: Some(decimals), ..self }
    }

    /// Formats one column of the shown rows.
    fn column(&self, column: usize, rows: &[usize], precision: Option<usize>) -> TextColumn {
        let dictionary = self.source.dictionary();
        let feature = dictionary.and_then(|dictionary| dictionary.feature(column).ok());
        let kind = feature.map(|feature| feature.feature_type).unwrap_or_default();
        let note = match (kind, feature.and_then(Feature::category_count)) {
            (FeatureType::Categorical, Some(1)) => "1 category".to_owned(),
            (FeatureType::Categorical, Some(count)) => format!("{count} categories"),
            (FeatureType::Categorical, None) => "categories".to_owned(),
            (FeatureType::Ordinal, _) => "ordinal".to_owned(),
            (FeatureType::Continuous, _) => String::new(),
            (FeatureType::Time(unit), _) => unit.to_string(),
        };
        let numbers: Result<Vec<DisplayNumber>> = rows.iter().map(|&row| self.source.number(row, column)).collect();
        let cells = match numbers {
            Ok(numbers) => {
                let mut cells = match kind {
                    FeatureType::Time(unit) => time::write_all(&numbers, unit),
                    _ => write_all(&numbers, precision, kind != FeatureType::Continuous),
                };
                for (cell, number) in cells.iter_mut().zip(&numbers) {
                    if let Some(word) = feature.zip(number.index()).and_then(|(feature, index)| feature.label(index)) {
                        *cell = label(word, NAME_LIMIT);
                    }
                }
                cells
            }
            Err(_) => vec!["?".to_owned(); rows.len()], // a user's kind of table that cannot read all of its values
        };
        TextColumn::new(name_of(dictionary, column), note, cells)
    }

    /// Adds columns from both ends as long as they fit. Always adds the first one.
    fn add_columns(&self, grid: &mut Grid, rows: &[usize], width: usize, precision: Option<usize>) {
        let count = self.source.shape().columns;
        let (mut left, mut right): (Vec<TextColumn>, Vec<TextColumn>) = (Vec::new(), Vec::new());
        let mut used = grid.index_width();
        while left.len() + right.len() < count && (left.is_empty() || used <= width) {
            let is_left = left.len() <= right.len();
            let column = if is_left { left.len() } else { count - 1 - right.len() };
            let column = self.column(column, rows, precision);
            used = used.saturating_add(SPACE + grid.width_of(&column));
            if is_left { left.push(column) } else { right.push(column) }
        }
        let are_all = left.len() + right.len() == count && used <= width;
        // Room for the dots.
        while !are_all && left.len() + right.len() > 1 && used.saturating_add(SPACE + DOTS.len()) > width {
            let last = if left.len() > right.len() { left.pop() } else { right.pop() };
            used -= last.map_or(0, |column| SPACE + grid.width_of(&column));
        }
        let are_hidden = left.len() + right.len() < count;
        left.into_iter().for_each(|column| grid.add(column));
        if are_hidden {
            grid.add(TextColumn::dots(rows.len()));
        }
        right.into_iter().rev().for_each(|column| grid.add(column));
    }
}

impl fmt::Display for TableDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.write_heading(f)?;
        let shape = self.source.shape();
        if shape.columns == 0 {
            return Ok(());
        }
        let (rows, width) = if f.alternate() { (usize::MAX, usize::MAX) } else { (self.rows, self.width) };
        let (width, precision) = (f.width().unwrap_or(width), f.precision().or(self.precision));
        let (rows, width) = limit(shape, rows, width, precision);
        let refusal = if shape.rows == 0 { None } else { self.source.number(0, 0).err() };
        let (first, last) = if refusal.is_some() { (0..0, 0..0) } else { cut_rows(shape.rows, rows) };
        let gap = (refusal.is_none() && first.len() + last.len() < shape.rows).then_some(first.len());
        let shown: Vec<usize> = first.chain(last).collect();
        let mut grid = Grid::new(shown.iter().map(usize::to_string), gap);
        self.add_columns(&mut grid, &shown, width, precision);
        f.write_str("\n")?;
        grid.write(f)?;
        match refusal {
            None => Ok(()),
            Some(error) if matches!(error.kind(), ErrorKind::NotAllocated) => Ok(()), // the heading says so
            Some(error) => write!(f, "\n({error})"),
        }
    }
}

/// Limits the requested number of rows and width. A file of a few bytes may describe a table with more columns than
/// there is memory for their headings.
fn limit(shape: Shape, rows: usize, width: usize, precision: Option<usize>) -> (usize, usize) {
    const NUMBERS: usize = 1 << 20;
    const DECIMALS: usize = 16; // a number with more decimals counts as several
    let width = width.min(NUMBERS);
    let columns = shape.columns.min(width / (SPACE + 1)).max(1);
    let decimals = precision.unwrap_or(0).min(DECIMALS_LIMIT);
    let most = NUMBERS / columns / (1 + decimals / DECIMALS);
    (rows.min(most.max(10)), width)
}

impl fmt::Debug for TableDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, width, precision, .. } = self;
        let mut debug = f.debug_struct("TableDisplay");
        debug.field("rows", rows).field("width", width).field("precision", precision).finish_non_exhaustive()
    }
}

/// A table or view that can be displayed.
trait DisplaySource {
    fn shape(&self) -> Shape;
    fn dictionary(&self) -> Option<&DataDictionary>;
    fn write_heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn number(&self, row: usize, column: usize) -> Result<DisplayNumber>;
}

impl DisplaySource for &(dyn NumericTable + '_) {
    fn shape(&self) -> Shape {
        NumericTable::shape(*self)
    }

    fn dictionary(&self) -> Option<&DataDictionary> {
        Some(NumericTable::dictionary(*self))
    }

    fn write_heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, element_type) =
            (NumericTable::shape(*self), self.uniform_type().map_or("mixed", ElementType::name));
        match self.downcast_ref::<CsrNumericTable>() {
            Some(sparse) => write!(f, "{shape} {element_type}, sparse, {} values stored", sparse.nnz())?,
            None => write!(f, "{shape} {element_type}, {}", self.data_layout())?,
        }
        // Some kinds of tables have values without memory.
        let has_none = || {
            shape.columns == 0 || self.number(0, 0).is_err_and(|error| matches!(error.kind(), ErrorKind::NotAllocated))
        };
        match self.data_memory_status() {
            MemoryStatus::NotAllocated if shape.rows > 0 && has_none() => f.write_str(", not allocated"),
            _ => Ok(()),
        }
    }

    fn number(&self, row: usize, column: usize) -> Result<DisplayNumber> {
        let is_nullable = NumericTable::dictionary(*self).is_nullable(column);
        if is_nullable && self.validity(column, row..row + 1)?.is_some_and(|validity| validity.has_missing()) {
            return Ok(DisplayNumber::Missing);
        }
        if let Some(sparse) = self.downcast_ref::<CsrNumericTable>()
            && sparse.get(row, column)?.is_none()
        {
            return Ok(DisplayNumber::NotStored);
        }
        match_element!(self.column_type(column)?, T => Ok(DisplayNumber::new(self.value::<T>(row, column)?)))
    }
}

impl<T: Element> DisplaySource for TableView<'_, T> {
    fn shape(&self) -> Shape {
        TableView::shape(self)
    }

    fn dictionary(&self) -> Option<&DataDictionary> {
        None
    }

    fn write_heading(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", TableView::shape(self), T::TYPE)
    }

    fn number(&self, row: usize, column: usize) -> Result<DisplayNumber> {
        let value = self.slice_rows(row..row + 1)?.slice_columns(column..column + 1)?;
        Ok(DisplayNumber::new(value.value(0, 0).unwrap_or_default()))
    }
}

impl<'t, T: Element> TableView<'t, T> {
    /// Returns a `Display` of the view with options for the number of rows and the width.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4], [5, 6]])?;
    /// let view = table.view()?.slice_rows(1..3)?;
    /// assert_eq!(view.display().max_rows(1).to_string(), "2 x 2 i32\n       0    1\n0      3    4\n...  ...  ...");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn display(&self) -> TableDisplay<'t> {
        TableDisplay::new(*self)
    }
}

/// Formats like [`TableDisplay`] with its defaults.
impl<T: Element> fmt::Display for HomogenNumericTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TableDisplay::of_table(self).fmt(f)
    }
}

/// Formats like [`TableDisplay`] with its defaults.
impl fmt::Display for dyn NumericTable + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TableDisplay::of_table(self).fmt(f)
    }
}

macro_rules! display_as_tables {
    ($($({$T:ident})? $Table:ty;)*) => {
        $(/// Formats as [`TableDisplay`] with its defaults.
        impl$(<$T: Element>)? fmt::Display for $Table {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                TableDisplay::of_table(self).fmt(f)
            }
        })*
    };
}
display_as_tables! {
    SoaNumericTable;
    AosNumericTable;
    CsrNumericTable;
    PackedSymmetricMatrix;
    PackedTriangularMatrix;
    MergedNumericTable<'_>;
    RowMergedNumericTable<'_>;
    {T} BorrowedTable<'_, T>;
    {T} BorrowedTableMut<'_, T>;
}

/// Formats like [`TableDisplay`] with its defaults.
impl<T: Element> fmt::Display for TableView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display().fmt(f)
    }
}
