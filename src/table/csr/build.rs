//! Constructors that sort, add up duplicates, count from one, or find the values that are not zero.

use std::ops::Range;

use super::check::{self, INDICES};
use super::index::{Index, Indices, array_of, check_type, match_index, zeros};
use super::parts::{CooParts, CsrParts};
use super::read::tiles;
use super::{CsrNumericTable, read::TILE};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::number::{Exact, Loss};
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::base::value::AnyValue;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::table::{MemoryStatus, NumericTable, Region, Rejected, Target, Token};
use crate::window::{AnySliceMut, AnyWindow};

impl CsrNumericTable {
    /// Creates a table from rows whose column indices are in any order and may repeat a column. Sorts them, and adds up
    /// the values of a cell, as SciPy does.
    ///
    /// The sum of integers is exact. The sum of floats is computed in `f64`, in the order of the values, and rounded
    /// once to their type. A sum of zero is stored. If the indices already ascend, nothing is copied.
    /// O(values × log values of a row + rows).
    ///
    /// # Errors
    /// Each error returns the arrays: the errors of [`try_new`](Self::try_new), except for the order of indices;
    /// [`ErrorKind::ValueNotRepresentable`] for the first cell whose sum is out of range for the type of the values, or
    /// overflows to infinity although its terms are finite floats; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, table::Rejected};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::from_unsorted(shape, vec![0, 3, 4], vec![3, 0, 3, 1], vec![1_u8, 2, 40, 7])?;
    /// assert_eq!(table.indices().iter().collect::<Vec<_>>(), [0, 3, 1]);
    /// assert_eq!(table.values_slice::<u8>()?, [2, 41, 7]);
    ///
    /// let too_large = CsrNumericTable::from_unsorted(shape, vec![0, 0, 2], vec![3, 3], vec![200_u8, 100]);
    /// let error = too_large.map_err(Rejected::into_error).unwrap_err();
    /// assert_eq!(error.to_string(), "the value 300 at row 1, column 3 is not representable as u8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "a table is larger than what is given back")]
    pub fn from_unsorted(
        shape: Shape,
        offsets: impl Into<AnyArray>,
        indices: impl Into<AnyArray>,
        values: impl Into<AnyArray>,
    ) -> Result<Self, Rejected<CsrParts>> {
        let parts = CsrParts { offsets: offsets.into(), indices: indices.into(), values: values.into() };
        match sorted(shape, &parts) {
            Ok(None) => Ok(Self::from_checked(shape, parts, MemoryStatus::UserAllocated)),
            Ok(Some(sorted)) => Ok(Self::from_checked(shape, sorted, MemoryStatus::InternallyAllocated)),
            Err(error) => Err(Rejected::new(parts, error)),
        }
    }

    /// Creates a table from a row index, a column index and a value for each cell, in any order, counted from zero.
    /// Other libraries call this COO. Values of the same cell are added up as in
    /// [`from_unsorted`](Self::from_unsorted).
    ///
    /// The column indices keep their type. The row offsets have the same type, or `u64` if it cannot hold the number of
    /// values. O(values × log values of a row + rows).
    ///
    /// # Errors
    /// Each error returns the arrays: [`ErrorKind::LengthMismatch`] if their lengths differ;
    /// [`ErrorKind::SparseStructure`]; [`ErrorKind::ValueNotRepresentable`] as in
    /// [`from_unsorted`](Self::from_unsorted); [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 3, columns: 4 };
    /// let table = CsrNumericTable::from_triplets(shape, vec![2, 0, 2], vec![1, 3, 1], vec![1.5, 2.5, 4.0])?;
    /// assert_eq!(table.offsets().iter().collect::<Vec<_>>(), [0, 1, 1, 2]);
    /// assert_eq!(table.values_slice::<f64>()?, [2.5, 5.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "a table is larger than what is given back")]
    pub fn from_triplets(
        shape: Shape,
        rows: impl Into<AnyArray>,
        columns: impl Into<AnyArray>,
        values: impl Into<AnyArray>,
    ) -> Result<Self, Rejected<CooParts>> {
        let parts = CooParts { rows: rows.into(), columns: columns.into(), values: values.into() };
        match gathered(shape, &parts) {
            Ok(gathered) => Ok(Self::from_checked(shape, gathered, MemoryStatus::InternallyAllocated)),
            Err(error) => Err(Rejected::new(parts, error)),
        }
    }

    /// Creates a table from row offsets and column indices that are counted from one, as in DAAL and Fortran. They are
    /// copied, and the copies are counted from zero. The values are not copied. O(rows + values).
    ///
    /// # Errors
    /// Each error returns the arrays: the errors of [`try_new`](Self::try_new), with the offsets and indices as the
    /// caller supplied them; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, table::Rejected};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::from_one_based(shape, vec![1, 3, 4], vec![1, 4, 2], vec![1.5, 2.5, 3.5])?;
    /// assert_eq!(table.indices().iter().collect::<Vec<_>>(), [0, 3, 1]);
    /// assert_eq!(table.indices().to_array::<i32>(1)?[..], [1, 4, 2]); // and back
    ///
    /// let from_zero = CsrNumericTable::from_one_based(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5, 2.5, 3.5]);
    /// let error = from_zero.map_err(Rejected::into_error).unwrap_err();
    /// assert_eq!(error.to_string(), "the first row offset is 0, not 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "a table is larger than what is given back")]
    pub fn from_one_based(
        shape: Shape,
        offsets: impl Into<AnyArray>,
        indices: impl Into<AnyArray>,
        values: impl Into<AnyArray>,
    ) -> Result<Self, Rejected<CsrParts>> {
        let parts = CsrParts { offsets: offsets.into(), indices: indices.into(), values: values.into() };
        let from_zero = |array: &AnyArray| Indices::new(array.as_slice(), 1).to_any(array.element_type(), 0);
        let rebased =
            check::check(shape, &parts, 1).and_then(|()| Ok((from_zero(&parts.offsets)?, from_zero(&parts.indices)?)));
        match rebased {
            Ok((offsets, indices)) => {
                let parts = CsrParts { offsets, indices, values: parts.values };
                Ok(Self::from_checked(shape, parts, MemoryStatus::UserAllocated))
            }
            Err(error) => Err(Rejected::new(parts, error)),
        }
    }

    /// Creates a table of the nonzero values of another table of any kind, converted to `T` as
    /// [`convert`](crate::HomogenNumericTable::convert) does. Keeps the dictionary.
    ///
    /// A value is omitted if it is zero *after* the conversion. NaN is not zero, and is stored; -0.0 is zero, so its
    /// sign is lost. Offsets and indices are `i32` if they fit, otherwise `i64`, as in SciPy. O(rows × columns); for a
    /// sparse table O(rows + stored values).
    ///
    /// Missing values are read as NaN if `T` is a floating-point type, and refused if it is not.
    ///
    /// # Errors
    /// Those of reading the table, such as [`ErrorKind::MissingValue`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let dense = HomogenNumericTable::from_rows(&[[0_i16, 7, 0], [0, 0, 0], [8, 0, 9]])?;
    /// let table = CsrNumericTable::from_dense::<f32>(&dense)?;
    /// assert_eq!((table.nnz(), table.values_slice::<f32>()?), (3, &[7.0, 8.0, 9.0][..]));
    /// assert_eq!(table.offsets().iter().collect::<Vec<_>>(), [0, 1, 1, 3]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_dense<T: Element>(table: &dyn NumericTable) -> Result<Self> {
        let (shape, table) = (table.shape(), table.borrowed(Token::new()).unwrap_or(table));
        table.dictionary().check_count(shape.columns, || table.uniform_type())?;
        // A user's kind of table may present another table with a different shape.
        let sparse = table.downcast_ref::<Self>().filter(|sparse| sparse.shape() == shape);
        let Found::<T> { ends, indices, values } = match sparse {
            Some(sparse) => Found::stored(sparse)?,
            None => Found::of(table)?,
        };
        let largest = values.len().max(shape.columns);
        let fits = |element: ElementType| match_index!(element, I => I::of(largest).is_some(), else false);
        let known = [ElementType::I32, ElementType::I64].into_iter().find(|&element| fits(element));
        let element = known.unwrap_or(ElementType::U64);
        let offsets = array_of(element, ends.len() + 1, std::iter::once(0).chain(ends))?;
        let indices = array_of(element, indices.len(), indices.into_iter())?;
        let parts = CsrParts { offsets, indices, values: values.into() };
        let mut sparse = Self::from_checked(shape, parts, MemoryStatus::InternallyAllocated);
        sparse.dictionary = table.dictionary().with_element_type(T::TYPE)?;
        let kind = if table.uniform_type() == Some(T::TYPE) { CopyKind::Gathered } else { CopyKind::Converted };
        trace::record(kind, sparse.size_of_arrays());
        Ok(sparse)
    }
}

/// The nonzero values of a table.
struct Found<T> {
    /// For each row, the number of values up to its end.
    ends: Vec<usize>,
    /// The column of each value.
    indices: Vec<usize>,
    values: Vec<T>,
}

impl<T: Element> Found<T> {
    /// Visits the stored values only.
    fn stored(sparse: &CsrNumericTable) -> Result<Self> {
        let (mut ends, mut indices, mut values) = (zeros(sparse.shape.rows)?, Vec::new(), Vec::new());
        let window = AnyWindow::of_rows(sparse.values.as_slice(), sparse.values.len(), 1);
        let converted = kernel::to_array(window, T::TYPE, ConversionPolicy::Saturate, Origin::default())?;
        let (converted, columns) = (converted.as_slice().as_slice::<T>(), sparse.indices());
        for (row, end) in ends.iter_mut().enumerate() {
            for position in sparse.pattern().positions(&(row..row + 1)) {
                if converted[position] != T::default() {
                    push(&mut indices, columns.at(position))?;
                    push(&mut values, converted[position])?;
                }
            }
            *end = values.len();
        }
        Ok(Self { ends, indices, values })
    }

    /// Visits all values.
    fn of(table: &dyn NumericTable) -> Result<Self> {
        let shape = table.shape();
        let (mut ends, mut indices, mut values) = (zeros(shape.rows)?, Vec::new(), Vec::new());
        let mut buffer = [T::default(); TILE];
        let whole = if shape.is_empty() { Region::default() } else { Region::whole(shape) };
        for tile in tiles(&whole) {
            let width = tile.columns.len();
            let cells = &mut buffer[..tile.rows.len() * width];
            let target = Target::new(AnySliceMut::new(cells), tile.shape(), ConversionPolicy::Saturate)?;
            table.read_region(&tile, target.allow_partial_write())?;
            for (row, cells) in tile.rows.clone().zip(cells.chunks_exact(width)) {
                for (column, &value) in tile.columns.clone().zip(cells).filter(|(_, value)| **value != T::default()) {
                    push(&mut indices, column)?;
                    push(&mut values, value)?;
                }
                ends[row] = values.len();
            }
        }
        Ok(Self { ends, indices, values })
    }
}

/// Appends a value to a vector.
fn push<V>(vector: &mut Vec<V>, value: V) -> Result<()> {
    if vector.len() == vector.capacity() {
        let bytes = vector.len().saturating_mul(2).saturating_mul(size_of::<V>());
        vector.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
    }
    vector.push(value);
    Ok(())
}

/// Checks parts whose indices are in any order, and returns sorted ones if they are not sorted yet.
fn sorted(shape: Shape, parts: &CsrParts) -> Result<Option<CsrParts>> {
    check::check_frame(shape, parts, 0)?;
    match check::check_indices(shape, parts, 0) {
        Ok(()) => return Ok(None),
        Err(error) => match error.kind() {
            ErrorKind::SparseStructure { .. } => check::check_range(shape, parts)?,
            _ => return Err(error),
        },
    }
    let offsets = Indices::new(parts.offsets.as_slice(), 0);
    let entries = Entries {
        rows: shape.rows,
        positions: &|row| offsets.at(row)..offsets.at(row + 1),
        order: None,
        columns: Indices::new(parts.indices.as_slice(), 0),
        values: &parts.values,
    };
    entries.sort(parts.offsets.element_type()).map(Some)
}

/// Checks triplets, and returns them sorted.
fn gathered(shape: Shape, parts: &CooParts) -> Result<CsrParts> {
    const ROWS: &str = "row indices";
    let CooParts { rows, columns, values } = parts;
    check_type(ROWS, rows.element_type())?;
    check_type(INDICES, columns.element_type())?;
    let (expected, found) = (values.len(), [rows.len(), columns.len()]);
    if let Some(found) = found.into_iter().find(|&found| found != expected) {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
    }
    check::first_outside(ROWS, rows, &(0..shape.rows))?;
    check::first_outside(INDICES, columns, &(0..shape.columns))?;
    // Where the next value of each row goes: in the end, where the row ends.
    let mut next = zeros(shape.rows)?;
    let rows = Indices::new(rows.as_slice(), 0);
    rows.iter().for_each(|row| next[row] += 1);
    let mut sum = 0;
    for next in &mut next {
        sum += std::mem::replace(next, sum);
    }
    let mut order = zeros(rows.len())?;
    for (position, row) in rows.iter().enumerate() {
        order[next[row]] = position;
        next[row] += 1;
    }
    let entries = Entries {
        rows: shape.rows,
        positions: &|row| row.checked_sub(1).map_or(0, |before: usize| next[before])..next[row],
        order: Some(&order),
        columns: Indices::new(columns.as_slice(), 0),
        values,
    };
    let counts = match_index!(columns.element_type(), I => I::of(values.len()).is_some(), else false);
    entries.sort(if counts { columns.element_type() } else { ElementType::U64 })
}

/// Cells to be sorted.
struct Entries<'p> {
    rows: usize,
    /// The places of a row's cells: positions, or indices of `order`.
    positions: &'p dyn Fn(usize) -> Range<usize>,
    /// The positions, sorted by rows.
    order: Option<&'p [usize]>,
    columns: Indices<'p>,
    values: &'p AnyArray,
}

impl Entries<'_> {
    /// Sorts the cells of each row by columns, and adds up those of one column.
    fn sort(&self, offset_type: ElementType) -> Result<CsrParts> {
        match_element!(self.values.element_type(), T => self.sort_as::<T>(offset_type))
    }

    fn sort_as<T: Element>(&self, offset_type: ElementType) -> Result<CsrParts> {
        let given = self.values.as_slice().as_slice::<T>();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        reserve(&mut columns, given.len())?;
        reserve(&mut values, given.len())?;
        let ends = self.for_each_sorted_row(&mut |row, cells| {
            for same in cells.chunk_by(|one, other| one.0 == other.0) {
                let column = same[0].0;
                let mut terms = same.iter().map(|&(_, position)| given[position]);
                let value = match (terms.next(), same.len()) {
                    (Some(only), 1) => only,
                    (first, _) => sum_of(first.into_iter().chain(terms), row, column)?,
                };
                columns.push(column);
                values.push(value);
            }
            Ok(values.len())
        })?;
        let offsets = array_of(offset_type, self.rows + 1, std::iter::once(0).chain(ends))?; // rows are in memory
        let indices = array_of(self.columns.element_type(), columns.len(), columns.into_iter())?;
        Ok(CsrParts { offsets, indices, values: values.into() })
    }

    /// Calls `work` with each row and its cells: their columns, in order, and the positions of their values. Returns
    /// the results of `work`, one for each row.
    fn for_each_sorted_row(&self, work: Work<'_>) -> Result<Vec<usize>> {
        let (mut results, mut cells) = (zeros(self.rows)?, Vec::new());
        for (row, result) in results.iter_mut().enumerate() {
            cells.clear();
            let places = (self.positions)(row);
            reserve(&mut cells, places.len())?;
            cells.extend(places.map(|place| {
                let position = self.order.map_or(place, |order| order[place]);
                (self.columns.at(position), position)
            }));
            cells.sort_unstable();
            *result = work(row, &cells)?;
        }
        Ok(results)
    }
}

/// The work on a row and its cells.
type Work<'w> = &'w mut dyn FnMut(usize, &[(usize, usize)]) -> Result<usize>;

fn reserve<V>(vector: &mut Vec<V>, more: usize) -> Result<()> {
    let bytes = more.saturating_mul(size_of::<V>());
    vector.try_reserve(more).map_err(|_| Error::out_of_memory(bytes))
}

/// Returns the sum of several values of one cell.
fn sum_of<T: Element>(terms: impl Iterator<Item = T>, row: usize, column: usize) -> Result<T> {
    let (mut integer, mut float, mut is_finite) = (0_i128, 0.0_f64, true);
    for term in terms {
        match term.exact() {
            Exact::Integer(term) => integer += term, // fewer than 2^63 values below 2^64
            Exact::Float(term) => {
                float += term;
                is_finite &= term.is_finite();
            }
        }
    }
    let sum = if T::TYPE.is_float() { Exact::Float(float) } else { Exact::Integer(integer) };
    let has_overflowed = is_finite && !float.is_finite();
    if !has_overflowed && matches!(T::loss(sum), Loss::None | Loss::Inexact) {
        return Ok(T::nearest(sum));
    }
    let value = match (i64::try_from(integer), u64::try_from(integer)) {
        _ if T::TYPE.is_float() => AnyValue::from(float),
        (Ok(sum), _) => AnyValue::from(sum),
        (_, Ok(sum)) => AnyValue::from(sum),
        _ => AnyValue::from(integer as f64),
    };
    Err(Error::new(ErrorKind::ValueNotRepresentable { row, column, value, target: T::TYPE }))
}
