//! Tables made from a sparse one: slices, the transpose, a dense copy.

use std::ops::{Range, RangeBounds};

use super::CsrNumericTable;
use super::columns::ColumnIndex;
use super::grow::append_numbers;
use super::index::{Index, Indices, array_of, match_index, zeros};
use super::parts::CsrParts;
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element, match_width};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::table::gather::Chosen;
use crate::table::{HomogenNumericTable, MemoryStatus, NumericTable, TableConversion, rows_of};

impl CsrNumericTable {
    /// Returns consecutive rows as a separate table with the same columns. The column indices and the values are
    /// shared, as clones share them. The row offsets are shared if the slice begins at the first row; otherwise they
    /// are copied, since they must begin at 0: O(rows of the slice).
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 3, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3, 4], vec![0, 3, 1, 2], vec![1.5, 2.5, 3.5, 4.5])?;
    /// let slice = table.slice_rows(1..)?;
    /// assert_eq!(slice.offsets().iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// assert_eq!(slice.rows::<f64>(..)?[..], [0.0, 3.5, 0.0, 0.0, 0.0, 0.0, 4.5, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn slice_rows(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = self.rows_in(rows)?;
        let parts = self.parts_of(&rows)?;
        let shape = Shape { rows: rows.len(), ..self.shape };
        Ok(Self { dictionary: self.dictionary.clone(), ..Self::from_checked(shape, parts, self.owner) })
    }

    /// Resolves a range of rows, and checks that they exist.
    pub(super) fn rows_in(&self, rows: impl RangeBounds<usize>) -> Result<Range<usize>> {
        let rows = rows_of(self.shape, rows)?;
        if rows.start <= rows.end && rows.end <= self.shape.rows {
            return Ok(rows);
        }
        Err(Error::new(ErrorKind::RowsOutOfRange { rows, row_count: self.shape.rows }))
    }

    /// Copies the selected rows, which must exist.
    pub(in crate::table) fn chosen(&self, chosen: &Chosen<'_>) -> Result<Self> {
        let too_many =
            || Error::new(ErrorKind::SizeOverflow { shape: Shape { rows: chosen.count, ..self.shape }, element: None });
        let mut ends = zeros(chosen.count)?;
        let (mut end, mut slots) = (0_usize, ends.iter_mut());
        let positions_of = |rows: &Range<usize>| self.pattern().positions(rows);
        chosen.try_for_each_run(|rows| {
            for (row, slot) in rows.zip(&mut slots) {
                end = end.checked_add(positions_of(&(row..row + 1)).len()).ok_or_else(too_many)?;
                *slot = end;
            }
            Ok::<(), Error>(())
        })?;
        let holds_end = match_index!(self.offsets.element_type(), O => O::of(end).is_some(), else false);
        let offset_type = if holds_end { self.offsets.element_type() } else { ElementType::U64 };
        let offsets = array_of(offset_type, chosen.count + 1, std::iter::once(0).chain(ends))?; // rows are in memory
        let copy = |array: &AnyArray| {
            let mut copy = AnyArray::zeros(array.element_type(), end)?;
            match_width!(array.element_type(), B => {
                let (from, mut to) = (array.as_slice().bits::<B>(), copy.need_mutable_data()?.into_bits::<B>());
                chosen.try_for_each_run(|rows| {
                    let from = &from[positions_of(&rows)];
                    let (here, rest) = std::mem::take(&mut to).split_at_mut(from.len());
                    here.copy_from_slice(from);
                    to = rest;
                    Ok::<(), Error>(())
                })?;
            });
            Ok::<AnyArray, Error>(copy)
        };
        let parts = CsrParts { offsets, indices: copy(&self.indices)?, values: copy(&self.values)? };
        let shape = Shape { rows: chosen.count, ..self.shape };
        let new = Self::from_checked(shape, parts, MemoryStatus::InternallyAllocated);
        Ok(Self { dictionary: self.dictionary.clone(), ..new })
    }

    /// Returns the parts of a range of rows.
    fn parts_of(&self, rows: &Range<usize>) -> Result<CsrParts> {
        let positions = self.pattern().positions(rows);
        let offsets = match rows.start {
            0 => part(&self.offsets, 0..rows.end + 1)?,
            start => {
                let bounds = Indices::new(self.offsets().range(start..rows.end + 1).as_slice(), positions.start);
                bounds.to_any(self.offsets.element_type(), 0)?
            }
        };
        let (indices, values) = (part(&self.indices, positions.clone())?, part(&self.values, positions)?);
        Ok(CsrParts { offsets, indices, values })
    }

    /// Removes rows at the end, without a copy, or appends rows without stored values: amortized O(1) per row.
    pub(super) fn set_rows(&mut self, rows: usize) -> Result<()> {
        if rows <= self.shape.rows {
            let CsrParts { offsets, indices, values } = self.parts_of(&(0..rows))?;
            (self.offsets, self.indices, self.values) = (offsets, indices, values);
        } else {
            let shape = Shape { rows, ..self.shape };
            rows.checked_add(1).ok_or_else(|| Error::new(ErrorKind::SizeOverflow { shape, element: None }))?;
            let (added, end) = (rows - self.shape.rows, self.nnz());
            append_numbers(&mut self.offsets, added, std::iter::repeat_n(end, added))?;
            if self.owner == MemoryStatus::NotAllocated {
                self.owner = MemoryStatus::InternallyAllocated;
            }
        }
        self.columns = ColumnIndex::default();
        self.shape.rows = rows;
        Ok(())
    }

    /// Returns the table with rows and columns exchanged. Its arrays are also this table in compressed sparse columns:
    /// offsets of the columns, and the row of each value.
    ///
    /// The offsets keep their type. So do the indices, unless it cannot hold the number of rows: then they become
    /// `u64`. Columns of the result have no names. Cost: O(values + rows + columns) in time and in memory.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 2, 0], vec![1.5, 2.5, 3.5])?;
    /// let columns = table.transpose()?;
    /// assert_eq!(columns.shape(), Shape { rows: 3, columns: 2 });
    /// assert_eq!(columns.offsets().iter().collect::<Vec<_>>(), [0, 2, 2, 3]);
    /// assert_eq!(columns.indices().iter().collect::<Vec<_>>(), [0, 1, 0]); // the row of each value
    /// assert_eq!(columns.values_slice::<f64>()?, [1.5, 3.5, 2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transpose(&self) -> Result<Self> {
        let shape = Shape { rows: self.shape.columns, columns: self.shape.rows };
        let count =
            shape.rows.checked_add(1).ok_or_else(|| Error::new(ErrorKind::SizeOverflow { shape, element: None }))?;
        let holds_rows = match_index!(self.indices.element_type(), I => I::of(shape.columns).is_some(), else false);
        let index_type = if holds_rows { self.indices.element_type() } else { ElementType::U64 };
        // Where the next value of each column goes: in the end, where the column ends.
        let mut next = zeros(shape.rows)?;
        self.indices().for_each(|column| next[column] += 1);
        let mut sum = 0;
        for next in &mut next {
            sum += std::mem::replace(next, sum);
        }
        let mut places = zeros(self.nnz())?;
        let mut slots = places.iter_mut();
        self.indices().for_each(|column| {
            if let Some(place) = slots.next() {
                *place = next[column];
                next[column] += 1;
            }
        });
        let mut rows = zeros(self.nnz())?;
        for row in 0..self.shape.rows {
            self.pattern().positions(&(row..row + 1)).for_each(|position| rows[places[position]] = row);
        }
        let offsets = array_of(self.offsets.element_type(), count, std::iter::once(0).chain(next))?;
        let indices = array_of(index_type, rows.len(), rows.into_iter())?;
        let mut values = AnyArray::zeros(self.values.element_type(), self.nnz())?;
        match_width!(values.element_type(), B => {
            let (from, to) = (self.values.as_slice().bits::<B>(), values.need_mutable_data()?.into_bits::<B>());
            from.iter().zip(places).for_each(|(&value, place)| to[place] = value);
        });
        let new = Self::from_checked(shape, CsrParts { offsets, indices, values }, MemoryStatus::InternallyAllocated);
        trace::record(CopyKind::Gathered, new.size_of_arrays());
        Ok(new)
    }

    /// Returns the size in bytes of the values, the indices and the offsets.
    pub(crate) fn size_of_arrays(&self) -> usize {
        let arrays = [&self.offsets, &self.indices, &self.values];
        arrays.iter().map(|array| array.len() * array.element_type().size_in_bytes()).sum()
    }

    /// Returns a dense copy of the table, converted as [`convert`](HomogenNumericTable::convert) does. The result
    /// equals that of `convert`.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let shape = Shape { rows: 2, columns: 3 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 2, 1], vec![1_u8, 2, 3])?;
    /// assert_eq!(table.to_dense::<f32>()?.as_slice()?, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_dense<T: Element>(&self) -> Result<HomogenNumericTable<T>> {
        (self as &dyn NumericTable).convert::<T>()
    }
}

/// Returns a part of an array that shares its memory.
fn part(array: &AnyArray, range: Range<usize>) -> Result<AnyArray> {
    match_element!(array.element_type(), T => match array.downcast_ref::<T>() {
        Some(array) => Ok(AnyArray::new(array.slice(range)?)),
        None => Ok(AnyArray::default()), // never: `T` is its type
    })
}
