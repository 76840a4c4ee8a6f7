//! The structure of arrays as a table: its columns are its pieces.

use std::ops::Range;

use super::SoaNumericTable;
use crate::array::{AnyArray, AnyArrayRef, Validity};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::parallel;
use crate::convert::WriteRule;
use crate::convert::kernel;
use crate::dictionary::DataDictionary;
use crate::table::across::{Across, EXPECTED};
use crate::table::lease::Memory;
use crate::table::{
    DataLayout, Lease, Lend, MemoryStatus, NumericTable, Piece, PieceMut, Region, Shape, TableDescription, TableId,
    TableKind, Target, Token, lend, region_mut, tiling,
};
use crate::window::{AnySlice, AnyWindowMut};

impl SoaNumericTable {
    /// Returns the windows of the columns of a region.
    fn across(&self, region: &Region) -> Result<Across<'_>> {
        let mut across = Across::with_capacity(region.columns.len());
        for column in region.columns.clone() {
            across.push_column(self.stored(column)?.as_slice().range(region.rows.clone()));
        }
        Ok(across)
    }

    /// Reads some rows of columns of one type, without a list of them. Returns whether it did.
    fn read_together(&self, region: &Region, target: &mut Target<'_>) -> Result<bool> {
        let is_together = (2..=kernel::TOGETHER).contains(&region.columns.len());
        if !is_together || region.rows.is_empty() || !target.is_one_pass() {
            return Ok(false);
        }
        let element = self.stored(region.columns.start)?.element_type();
        if element.size_in_bytes() > target.element_type().size_in_bytes() {
            return Ok(false); // values are combined into rows while they are of the smaller size
        }
        let mut columns = kernel::Columns::new(element, region.rows.len());
        for column in region.columns.clone() {
            let array = self.stored(column)?;
            if array.element_type() != element {
                return Ok(false);
            }
            columns.push(array.as_slice().range(region.rows.clone()));
        }
        Ok(kernel::read_together(&columns, &mut target.values, target.policy))
    }

    /// Reads some rows of several columns at once. Returns whether it did.
    fn read_beside(&self, region: &Region, target: &mut Target<'_>) -> Result<bool> {
        if self.read_together(region, target)? {
            return Ok(true);
        }
        let are_several = region.columns.len() > 1 && !region.rows.is_empty();
        Ok(are_several && self.across(region)?.read(target, self.shape().rows))
    }

    /// Writes a few rows, if all columns have one type and every value is permitted. Returns whether it did.
    fn write_rows(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<bool> {
        region.check(self.shape())?;
        let new = tiling::new_values(region, values)?;
        let is_one_task = parallel::task_count(new.size_in_bytes().saturating_mul(2)) == 1;
        let is_simple = is_one_task && self.columns.len() > 1 && region.columns.len() == self.columns.len();
        if !is_simple || region.rows.is_empty() || !self.across(region)?.permits(new, rule) {
            return Ok(false);
        }
        let mut windows = Vec::with_capacity(self.columns.len().min(EXPECTED));
        for memory in self.columns.iter_mut().flatten() {
            let values = memory.array_mut()?.need_mutable_data()?.range(region.rows.clone());
            windows.push(AnyWindowMut::of_rows(values, region.rows.len(), 1));
        }
        kernel::write_beside(&mut windows, new, rule);
        Ok(true)
    }
}

impl SoaNumericTable {
    /// Returns the pieces of some columns, for writing.
    fn pieces_of(&mut self, chosen: Range<usize>) -> Result<Vec<PieceMut<'_>>> {
        chosen.clone().try_for_each(|column| self.stored(column).map(drop))?; // before any column is copied
        if !self.gaps.are_none_in(chosen.clone()) {
            return Err(Error::new(ErrorKind::ReadOnlyTable)
                .with_hint(Hint::new("update_row_blocks", "edits columns with missing values"))
                .with_hint(Hint::new("fill_missing", "replaces missing values")));
        }
        let columns = self.columns.iter_mut().enumerate().skip(chosen.start).take(chosen.len());
        let pieces = columns.map(|(column, memory)| {
            let array = memory.as_mut().ok_or_else(|| Error::new(ErrorKind::ColumnNotSet { column }))?.array_mut()?;
            Ok(PieceMut::of_column(column, array.need_mutable_data()?))
        });
        pieces.collect()
    }

    /// Reads a region, with unspecified values where values are missing.
    pub(super) fn read_stored(&self, region: &Region, mut target: Target<'_>) -> Result<()> {
        if self.read_beside(region, &mut target)? {
            return Ok(());
        }
        // A large region; or a value is refused, and this names it.
        let piece = |_: usize, column: usize| Ok(Some(Piece::of_column(column, self.stored(column)?.as_ref())));
        tiling::read_by(&piece, region, target)
    }
}

impl NumericTable for SoaNumericTable {
    fn shape(&self) -> Shape {
        Shape { rows: self.row_count, columns: self.columns.len() }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn kind(&self) -> TableKind {
        TableKind::STRUCTURE_OF_ARRAYS
    }

    fn data_layout(&self) -> DataLayout {
        DataLayout::ColumnMajor
    }

    fn data_memory_status(&self) -> MemoryStatus {
        if self.columns.iter().any(Option::is_none) { MemoryStatus::NotAllocated } else { self.owner }
    }

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
    }

    /// O(columns) for fewer rows, which stay in place. For more rows, columns without spare capacity are copied into
    /// memory that is at least half as large again, and columns without values are allocated.
    fn resize(&mut self, rows: usize) -> Result<()> {
        let (mut moved, count) = (Vec::new(), self.columns.len());
        Shape { rows, columns: count }.element_count()?;
        let bytes = count.saturating_mul(size_of::<Option<AnyArray>>());
        moved.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
        let added = rows.saturating_sub(self.row_count);
        let gaps = self.gaps.resized(rows)?;
        for (column, memory) in self.columns.iter().enumerate() {
            moved.push(match memory {
                Some(_) if added > 0 => self.stored(column)?.with_room(added)?,
                Some(_) => Some(self.stored(column)?.resized(rows)?),
                None => Some(AnyArray::zeros(self.column_type(column)?, rows)?),
            });
        }
        if added > 0 || self.columns.iter().all(Option::is_none) {
            self.owner = MemoryStatus::InternallyAllocated;
        }
        for (memory, moved) in self.columns.iter_mut().zip(moved) {
            if let Some(array) = moved {
                *memory = Some(Memory::new(array));
            }
            if let Some(memory) = memory {
                let array = memory.array_mut()?;
                array.append_zeros(rows.saturating_sub(array.len()))?; // for which there is room
            }
        }
        self.gaps = gaps;
        self.row_count = rows;
        Ok(())
    }

    /// A column with missing values has no piece, so that the values under the gaps are never read.
    fn piece(&self, _: usize, column: usize) -> Result<Option<Piece<'_>>> {
        match self.stored(column) {
            Ok(_) if self.gaps.of(column).is_some() => Ok(None),
            Ok(array) => Ok(Some(Piece::of_column(column, array.as_ref()))),
            Err(error) => match error.kind() {
                ErrorKind::ColumnOutOfRange { .. } => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Rows are read without looking for pieces, since every column is one.
    fn read_region(&self, region: &Region, mut target: Target<'_>) -> Result<()> {
        target.check(region, self.shape())?;
        if !self.gaps.are_none_in(region.columns.clone()) {
            return self.read_with_gaps(region, target);
        }
        if self.read_beside(region, &mut target)? {
            return Ok(());
        }
        tiling::read(self, region, target) // a large region; or a value is refused, and this names it
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        if !self.gaps.are_none_in(region.columns.clone()) || self.may_saturate_gaps(values, rule) {
            return self.write_with_gaps(region, values, rule);
        }
        if self.write_rows(region, values, rule)? {
            return Ok(());
        }
        match region_mut::write(self, region, values, rule) {
            // NaN makes a gap in a nullable column of integers.
            Err(error) if self.may_make_gaps(&error) => self.write_with_gaps(region, values, rule),
            written => written,
        }
    }

    fn validity(&self, column: usize, rows: Range<usize>) -> Result<Option<Validity>> {
        Region { rows: rows.clone(), columns: column..column.saturating_add(1) }.check(self.shape())?;
        self.stored(column)?;
        let here = self.gaps.of(column).map(|validity| validity.slice(rows)).transpose()?;
        Ok(here.filter(Validity::has_missing))
    }

    fn column_array(&self, column: usize, rows: &Range<usize>, _: Token) -> Result<(AnyArray, Option<Validity>)> {
        let validity = self.validity(column, rows.clone())?;
        Ok((self.stored(column)?.as_ref().slice(rows.clone())?, validity))
    }

    fn write_validity(&mut self, column: usize, first_row: usize, validity: &Validity, _: Token) -> Result<()> {
        self.set_rows_validity(column, first_row, validity)
    }

    fn takes_gaps(&self, column: usize, _: Token) -> bool {
        column < self.columns.len()
    }

    fn prepare_write(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule, _: Token) -> Result<()> {
        self.prepare_write_with_gaps(region, values, rule)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.pieces_of(0..self.columns.len())
    }

    /// Columns with missing values do not matter to the others.
    fn pieces_around(&mut self, region: &Region, _: Token) -> Result<Vec<PieceMut<'_>>> {
        self.pieces_of(region.columns.clone())
    }

    fn check_region_writable(&mut self, region: &Region, _: Token) -> Result<()> {
        region.columns.clone().try_for_each(|column| self.stored(column).map(drop))
    }

    fn piece_mut(&mut self, _: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        if column >= self.columns.len() || self.gaps.of(column).is_some() {
            return Ok(None);
        }
        Ok(Some(PieceMut::of_column(column, self.stored_mut(column)?.need_mutable_data()?)))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn as_any_mut(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for SoaNumericTable {
    fn array_of(&self, region: &Region, element: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        if region.columns.len() > 1 {
            return region.check(self.shape()).map(|()| None); // in several arrays
        }
        lend::array_of_piece(self, region, element)
    }

    fn check_block_writable(&mut self) -> Result<()> {
        (0..self.columns.len()).try_for_each(|column| self.stored(column).map(drop))
    }

    /// A block of one column that is written in place takes the array of the column.
    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        region.check(self.shape())?;
        if in_place.is_none() {
            region.columns.clone().try_for_each(|column| self.stored(column).map(drop))?;
            lease.reset(region);
            lease.mark(self.moves);
            return Ok(false);
        }
        let column = region.columns.start;
        if region.columns.len() != 1
            || self.gaps.of(column).is_some()
            || in_place != Some(self.stored(column)?.element_type())
        {
            return Ok(false);
        }
        self.stored_mut(column)?.need_mutable_data()?;
        let Some(memory) = &mut self.columns[column] else { return Ok(false) }; // never: it has an array
        memory.lend(region, Some(region.rows.clone()), lease)?;
        Ok(true)
    }

    fn write_lent(&mut self, lease: &mut Lease, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let region = lease.region().clone();
        if lease.is_empty() {
            return match lease.mark_is(self.moves) {
                true => self.write_region(&region, values, rule),
                false => Err(Error::new(ErrorKind::WrongTable)),
            };
        }
        for memory in self.columns.iter().flatten() {
            if let Ok(array) = memory.lent(lease) {
                let window = PieceMut::of_column(region.columns.start, array.need_mutable_data()?);
                let window = window.into_window_of(&region).ok_or_else(|| Error::new(ErrorKind::WrongTable))?;
                return kernel::write(window, values, rule, region.origin());
            }
        }
        Err(Error::new(ErrorKind::WrongTable))
    }

    /// Finds the column that has lent the memory, even if it has moved.
    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        let expected = lease.region().columns.start;
        lease.return_to_one_of(self.columns.len(), expected, |column, lease| {
            self.columns[column].as_mut().is_some_and(|memory| memory.take_back(lease).is_ok())
        })
    }
}
