//! How the half of a square matrix is packed: the position of each cell's value.
//!
//! The stored half is a list of *lines*, without gaps: its rows, or its columns. A line has one value for each of its
//! *places*, the other index of the cell. There are two forms, and everything else follows from them: lines that begin
//! at place 0 and end at the diagonal (lower by rows, upper by columns), and lines that begin at the diagonal.

use std::ops::Range;

use crate::base::element::{Element, ElementType, match_element, match_width};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range;
use crate::base::shape::Shape;
use crate::base::value::AnyValue;
use crate::table::tiling::earlier;
use crate::table::{DataLayout, Region};
use crate::window::{AnySlice, Bits};

/// The half of a square matrix that is stored, with the diagonal. Its values are packed row after row
/// ([`DataLayout::RowMajor`]), as in DAAL, or column after column ([`DataLayout::ColumnMajor`]), as in LAPACK:
///
/// | stored cells of row `i`, column `j`, counted from 0 | at index | also called |
/// | --- | --- | --- |
/// | lower (`j <= i`), row-major | `i * (i + 1) / 2 + j` | DAAL lower |
/// | upper (`j >= i`), row-major | `i * (2 * n - i - 1) / 2 + j` | DAAL upper |
/// | upper (`i <= j`), column-major | `j * (j + 1) / 2 + i` | LAPACK `'U'` |
/// | lower (`i >= j`), column-major | `j * (2 * n - j - 1) / 2 + i` | LAPACK `'L'` |
///
/// # Examples
/// ```
/// use numeric_table::{PackedTriangularMatrix, prelude::*, table::Triangle};
/// assert_eq!((Triangle::Upper.uplo(), Triangle::Lower.uplo()), (b'U', b'L'));
/// assert_eq!(Triangle::Upper.opposite(), Triangle::Lower);
///
/// let packed = |layout| PackedTriangularMatrix::from_packed(vec![1, 2, 3, 4, 5, 6], Triangle::Lower, layout);
/// assert_eq!(packed(DataLayout::RowMajor)?.rows::<i32>(..)?[..], [1, 0, 0, 2, 3, 0, 4, 5, 6]);
/// assert_eq!(packed(DataLayout::ColumnMajor)?.rows::<i32>(..)?[..], [1, 0, 0, 2, 4, 0, 3, 5, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// Cells whose column is not before their row.
    Upper,
    /// Cells whose column is not after their row.
    Lower,
}

impl Triangle {
    /// Returns the letter that BLAS and LAPACK take as `uplo`: `b'U'` or `b'L'`.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(numeric_table::table::Triangle::Lower.uplo(), b'L');
    /// ```
    pub const fn uplo(self) -> u8 {
        match self {
            Self::Upper => b'U',
            Self::Lower => b'L',
        }
    }

    /// Returns the other half, which is the stored one after transposing the matrix.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::table::Triangle;
    /// assert_eq!(Triangle::Lower.opposite(), Triangle::Upper);
    /// ```
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
        }
    }
}

const fn other_layout(layout: DataLayout) -> DataLayout {
    match layout {
        DataLayout::RowMajor => DataLayout::ColumnMajor,
        DataLayout::ColumnMajor => DataLayout::RowMajor,
    }
}

/// The number of values of a tile: at most 32 KiB. Smaller tiles take longer, because less of each line is fetched at a
/// time.
pub(super) const TILE: usize = 4096;

/// The number of rows and columns of a square tile.
pub(super) const SIDE: usize = 64;

/// The values of cells that are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherHalf {
    Mirrored,
    Zero,
}

/// The stored cells of a square matrix, and their positions.
///
/// Invariant: `dimension * (dimension + 1) / 2` is the length of an array, so at most `isize::MAX`. Neither the index
/// of a cell nor twice that overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packing {
    dimension: usize,
    pub(super) triangle: Triangle,
    pub(super) order: DataLayout,
    pub(super) other: OtherHalf,
}

/// Returns the number of values of a triangle.
fn count_of(dimension: u128) -> u128 {
    dimension * (dimension + 1) / 2
}

impl Packing {
    /// Returns the packing of an array of `count` values.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`].
    pub(super) fn of_length(count: usize, triangle: Triangle, order: DataLayout, other: OtherHalf) -> Result<Self> {
        let found = count as u128; // so that nothing overflows
        let dimension = ((8 * found + 1).isqrt() - 1) / 2;
        let dimension_below = dimension as usize; // less than `count`, or both are 0 or 1
        if count_of(dimension) == found {
            return Ok(Self { dimension: dimension_below, triangle, order, other });
        }
        let [below, above] = [dimension, dimension + 1].map(|n| usize::try_from(count_of(n)).unwrap_or(usize::MAX));
        Err(Error::new(ErrorKind::ParameterOutOfRange {
            name: "the number of values of a packed triangle".into(),
            value: count as f64,
            allowed: format!(
                "dimension {0} has {below}, and dimension {1} has {above}",
                dimension_below,
                dimension_below.saturating_add(1)
            )
            .into(),
        }))
    }

    /// Returns the packing of a matrix of the given dimension.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`].
    pub(super) fn of_dimension(
        dimension: usize,
        element: ElementType,
        triangle: Triangle,
        order: DataLayout,
        other: OtherHalf,
    ) -> Result<Self> {
        let bytes = count_of(dimension as u128).checked_mul(element.size_in_bytes() as u128);
        if bytes.is_some_and(|bytes| bytes <= isize::MAX as u128) {
            return Ok(Self { dimension, triangle, order, other });
        }
        let shape = Shape { rows: dimension, columns: dimension };
        Err(Error::new(ErrorKind::SizeOverflow { shape, element: Some(element) }))
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the packing of the same matrix with another half or in another order.
    pub(super) fn with(self, triangle: Triangle, order: DataLayout) -> Self {
        Self { triangle, order, ..self }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape { rows: self.dimension, columns: self.dimension }
    }

    /// Returns the number of stored values.
    pub(super) fn count(&self) -> usize {
        self.start_of(self.dimension)
    }

    /// Returns the packing of the transposed matrix with the same values in the same positions.
    pub(super) fn transposed(self) -> Self {
        Self { triangle: self.triangle.opposite(), order: other_layout(self.order), ..self }
    }

    /// Returns whether lines begin at place 0, and not at the diagonal.
    pub(super) fn begins_at_zero(&self) -> bool {
        matches!(
            (self.triangle, self.order),
            (Triangle::Lower, DataLayout::RowMajor) | (Triangle::Upper, DataLayout::ColumnMajor)
        )
    }

    /// Returns the places of a line.
    pub(super) fn places(&self, line: usize) -> Range<usize> {
        if self.begins_at_zero() { 0..line + 1 } else { line..self.dimension }
    }

    /// Returns the index of the first value of a line, or the number of all values for the line after the last one.
    fn start_of(&self, line: usize) -> usize {
        if self.begins_at_zero() {
            // One of the two factors is even; the product is at most twice the number of values.
            line * (line + 1) / 2
        } else {
            line * (2 * self.dimension - line + 1) / 2
        }
    }

    /// Returns the indices of places of a line.
    pub(super) fn span(&self, line: usize, places: &Range<usize>) -> Range<usize> {
        let start = self.start_of(line) + places.start - self.places(line).start;
        start..start + places.len()
    }

    /// Returns whether the cell at row `r` and column `c` is in line `r` at place `c`, if that place exists.
    pub(super) fn has_row_lines(&self) -> bool {
        self.order == DataLayout::RowMajor || self.other == OtherHalf::Mirrored
    }

    /// Returns whether the cell at row `r` and column `c` is in line `c` at place `r`, if that place exists.
    pub(super) fn has_column_lines(&self) -> bool {
        self.order == DataLayout::ColumnMajor || self.other == OtherHalf::Mirrored
    }

    /// Returns the index of the value of a cell; `None` if it is zero and not stored.
    pub(super) fn index_of(&self, row: usize, column: usize) -> Option<usize> {
        let (line, place) = match self.order {
            DataLayout::RowMajor => (row, column),
            DataLayout::ColumnMajor => (column, row),
        };
        let (line, place) = match self.other {
            OtherHalf::Mirrored if !self.places(line).contains(&place) => (place, line),
            _ => (line, place),
        };
        self.places(line).contains(&place).then(|| self.span(line, &(place..place + 1)).start)
    }

    /// Returns the stored cells of the line around a cell, and their indices. `None` if the cell is not stored, or is
    /// past the end.
    pub(super) fn line_around(&self, row: usize, column: usize) -> Option<(Region, Range<usize>)> {
        if row >= self.dimension || column >= self.dimension {
            return None;
        }
        let (line, place) = match self.order {
            DataLayout::RowMajor => (row, column),
            DataLayout::ColumnMajor => (column, row),
        };
        let places = self.places(line);
        let span = self.span(line, &places);
        places.contains(&place).then(|| match self.order {
            DataLayout::RowMajor => (Region { rows: line..line + 1, columns: places }, span),
            DataLayout::ColumnMajor => (Region { rows: places, columns: line..line + 1 }, span),
        })
    }

    /// Returns the columns of a row that are zero and not stored.
    fn zeros_of(&self, row: usize) -> Range<usize> {
        match (self.other, self.triangle) {
            (OtherHalf::Mirrored, _) => 0..0,
            (OtherHalf::Zero, Triangle::Upper) => 0..row,
            (OtherHalf::Zero, Triangle::Lower) => row + 1..self.dimension,
        }
    }

    /// Calls `work` with the indices of the packed values of a region, and their positions in it: the index of the
    /// first value, row by row, and the step from one to the next. A diagonal value may occur twice.
    fn for_each_line(&self, region: &Region, mut work: impl FnMut(Range<usize>, usize, usize)) {
        let Region { rows, columns } = region;
        let width = columns.len();
        if self.has_row_lines() {
            for (index, row) in rows.clone().enumerate() {
                let there = common(&self.places(row), columns);
                if !there.is_empty() {
                    work(self.span(row, &there), index * width + there.start - columns.start, 1);
                }
            }
        }
        if self.has_column_lines() {
            for (index, column) in columns.clone().enumerate() {
                let there = common(&self.places(column), rows);
                if !there.is_empty() {
                    work(self.span(column, &there), (there.start - rows.start) * width + index, width);
                }
            }
        }
    }

    /// Copies the cells of a region, row by row, into a tile with the same number of values.
    pub(super) fn gather<B: Bits>(&self, values: &[B], region: &Region, tile: &mut [B]) {
        if self.other == OtherHalf::Zero {
            tile.fill(B::default()); // zeros have no bits set
        }
        self.for_each_line(region, |span, first, step| {
            let values = &values[span];
            if step == 1 {
                tile[first..first + values.len()].copy_from_slice(values);
            } else {
                tile[first..].iter_mut().step_by(step).zip(values).for_each(|(cell, &value)| *cell = value);
            }
        });
    }

    /// Copies the stored cells of a tile into the packed values, the inverse of [`gather`](Self::gather).
    pub(super) fn scatter<B: Bits>(&self, values: &mut [B], region: &Region, tile: &[B]) {
        self.for_each_line(region, |span, first, step| {
            let values = &mut values[span];
            values.iter_mut().zip(tile[first..].iter().step_by(step)).for_each(|(value, &cell)| *value = cell);
        });
    }

    /// Checks that the matrix can represent the values of a region: two cells that share a stored value must be equal,
    /// and cells that are not stored must be zero. Other values are permitted if they become so when stored.
    ///
    /// # Errors
    /// [`ErrorKind::AsymmetricValue`], [`ErrorKind::NotStored`] for the first invalid cell in row-major order.
    pub(super) fn check_new(&self, region: &Region, values: AnySlice<'_>, become_same: BecomeSame<'_>) -> Result<()> {
        let element = values.element_type();
        match self.other {
            OtherHalf::Mirrored => match_width!(element, B => {
                self.check_mirrored(region, values.bits::<B>(), element, become_same)
            }),
            OtherHalf::Zero => match_element!(element, U => {
                self.check_zeros(region, values.as_slice::<U>(), become_same)
            }),
        }
    }

    fn check_zeros<U: Element>(&self, region: &Region, values: &[U], become_same: BecomeSame<'_>) -> Result<()> {
        let Region { rows, columns } = region;
        let zero = U::default();
        for (row, values) in rows.clone().zip(values.chunks_exact(columns.len().max(1))) {
            let zeros = common(&self.zeros_of(row), columns);
            let values = &values[zeros.start - columns.start..zeros.end - columns.start];
            let is_refused = |column: usize, value: U| {
                let pair = [[value], [zero]];
                value != zero && !become_same(row, column, pair.each_ref().map(|value| AnySlice::new(value)))
            };
            if let Some((column, &value)) = zeros.zip(values).find(|&(column, &value)| is_refused(column, value)) {
                return Err(Error::new(ErrorKind::NotStored { row, column, value: Some(value.into()) }));
            }
        }
        Ok(())
    }

    fn check_mirrored<B: Bits>(
        &self,
        region: &Region,
        values: &[B],
        element: ElementType,
        become_same: BecomeSame<'_>,
    ) -> Result<()> {
        let Region { rows, columns } = region;
        let (both, width) = (common(rows, columns), columns.len());
        let value = |row: usize, column: usize| values[(row - rows.start) * width + column - columns.start];
        for band in range::cut(both.clone(), SIDE) {
            let mut outcome = Ok(());
            for tile in range::cut(band.start..both.end, SIDE) {
                let mirrored = |row: usize, column: usize| value(column, row);
                outcome = earlier(outcome, check_pairs(&band, &tile, element, (value, mirrored), become_same));
            }
            outcome?;
        }
        Ok(())
    }
}

/// Returns whether two different values become the same when stored: the value of the cell at a row and a column, and
/// the value that it should have. Each slice has one element.
pub(super) type BecomeSame<'b> = &'b dyn Fn(usize, usize, [AnySlice<'_>; 2]) -> bool;

/// Checks that the values of rows and columns right of the diagonal have the same bits as the mirrored ones.
///
/// # Errors
/// [`ErrorKind::AsymmetricValue`] for the first invalid cell in row-major order.
pub(super) fn check_pairs<B: Bits>(
    rows: &Range<usize>,
    columns: &Range<usize>,
    element: ElementType,
    (value, mirrored): (impl Fn(usize, usize) -> B, impl Fn(usize, usize) -> B),
    become_same: BecomeSame<'_>,
) -> Result<()> {
    for row in rows.clone() {
        for column in columns.start.max(row + 1)..columns.end {
            let pair = [value(row, column), mirrored(row, column)];
            if pair[0] != pair[1] {
                let pair = pair.map(|bits| [bits]);
                check_pair((row, column), pair.each_ref().map(|bits| AnySlice::of_bits(bits, element)), become_same)?;
            }
        }
    }
    Ok(())
}

/// Checks the values of two cells that share a stored value and differ. Each slice has one element.
fn check_pair((row, column): (usize, usize), pair: [AnySlice<'_>; 2], become_same: BecomeSame<'_>) -> Result<()> {
    if become_same(row, column, pair) {
        return Ok(());
    }
    let [value, mirrored] = pair.map(first_of);
    Err(Error::new(ErrorKind::AsymmetricValue { row, column, value, mirror: (column, row), mirrored }))
}

fn first_of(values: AnySlice<'_>) -> AnyValue {
    match_element!(values.element_type(), T => values.as_slice::<T>()[0].into())
}

/// Returns the intersection of two ranges; an empty one begins inside the second.
pub(super) fn common(mine: &Range<usize>, theirs: &Range<usize>) -> Range<usize> {
    let start = mine.start.clamp(theirs.start, theirs.end);
    start..mine.end.clamp(start, theirs.end)
}
