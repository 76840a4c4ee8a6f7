//! Finding the values of some rows and columns in a file, and reading them into contiguous rows.

use std::ops::Range;

use super::reader::TableReader;
use crate::array::AnyArray;
use crate::base::element::match_element;
use crate::base::error::Result;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::storage::stored::Stored;
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, Region, Target, record_read};
use crate::window::AnySliceMut;

/// Number of bytes of a column-major file that are gathered at a time, from all columns or as many as fit.
const COLUMNS_BYTES: usize = 2 << 20;

/// Minimum number of bytes of one column that are read at a time, if enough rows are requested. With many columns,
/// fewer columns are gathered at a time. Reading one byte costs as much as reading a few thousand.
const COLUMN_BYTES: usize = 16 << 10;

impl TableReader {
    /// Reads rows, which must be in range, into a target of the same size. `stored` is a buffer for the file's values.
    pub(crate) fn read_into(
        &self,
        rows: Range<usize>,
        target: AnySliceMut<'_>,
        stored: &mut Stored,
        meter: Option<&Meter>,
    ) -> Result<()> {
        let (columns, bytes) = (self.file.shape.columns, size_of_target(&target));
        if target.is_empty() {
            return Ok(());
        }
        match self.file.layout {
            DataLayout::RowMajor => self.file.values(meter).read(rows.start * columns, target, stored)?,
            DataLayout::ColumnMajor => self.read_of_columns(rows, target, stored, meter)?,
        }
        trace::record(CopyKind::Loaded, bytes);
        Ok(())
    }

    /// Reads all rows into a target of the same size, and compares the checksums of the file.
    pub(crate) fn read_verified(
        &self,
        target: AnySliceMut<'_>,
        stored: &mut Stored,
        meter: Option<&Meter>,
    ) -> Result<()> {
        if self.file.layout == DataLayout::RowMajor {
            let bytes = size_of_target(&target);
            let runs = self.file.values(meter).read_summed(target, stored)?;
            self.file.parts.check_sums(runs)?;
            trace::record(CopyKind::Loaded, bytes);
            return Ok(());
        }
        let (shape, layout, element) = (self.file.shape, self.file.layout, target.element_type());
        match_element!(element, U => {
            let table = HomogenNumericTable::internal(self.file.load::<U>(meter)?, shape, layout);
            let target = Target::new(target, shape, ConversionPolicy::Saturate)?;
            table.read_region(&Region::whole(shape), target.allow_partial_write())?;
            record_read(&table, &Region::whole(shape), element);
            Ok(())
        })
    }

    /// Gathers rows of a column-major file, which must be in range, tile by tile. Pieces of columns are as few and as
    /// long as the buffer permits.
    fn read_of_columns(
        &self,
        rows: Range<usize>,
        target: AnySliceMut<'_>,
        stored: &mut Stored,
        meter: Option<&Meter>,
    ) -> Result<()> {
        let columns = self.file.shape.columns;
        let (element, value) = (target.element_type(), target.element_type().size_in_bytes());
        let size = self.file.element_type.size_in_bytes().max(value);
        let height = (COLUMNS_BYTES / size / columns).max(COLUMN_BYTES / size).min(rows.len());
        let width = (COLUMNS_BYTES / size / height).min(columns);
        let mut tile = AnyArray::zeros(element, if width < columns { height * width } else { 0 })?;
        for ((_, mut lines), start) in target.pieces(height * columns).zip(rows.clone().step_by(height)) {
            for first in (0..columns).step_by(width) {
                let columns = first..columns.min(first + width);
                let region = Region { rows: start..rows.end.min(start + height), columns };
                if width == self.file.shape.columns {
                    self.read_tile(&region, lines.reborrow(), stored)?;
                } else {
                    let mut tile = tile.need_mutable_data()?.range(0..region.shape().element_count()?);
                    self.read_tile(&region, tile.reborrow(), stored)?;
                    let pieces = tile.into_bytes().chunks_exact(region.columns.len() * value);
                    let lines = lines.reborrow().into_bytes().chunks_exact_mut(self.file.shape.columns * value);
                    let place = region.columns.start * value..region.columns.end * value;
                    lines.zip(pieces).for_each(|(line, piece)| line[place.clone()].copy_from_slice(piece));
                }
                if let Some(meter) = meter {
                    meter.add((region.shape().element_count()? * self.file.element_type.size_in_bytes()) as u64);
                }
            }
        }
        Ok(())
    }

    /// Reads some rows of some columns of a column-major file into contiguous rows.
    fn read_tile(&self, region: &Region, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<()> {
        let (shape, row_count) = (region.shape(), self.file.shape.rows);
        let size = self.file.element_type.size_in_bytes();
        let room = stored.room(shape.element_count()?)?;
        // Complete columns are contiguous.
        let piece = if shape.rows == row_count { room.len() } else { shape.rows * size };
        for (column, values) in region.columns.clone().zip(room.chunks_exact_mut(piece)) {
            let first = column * row_count + region.rows.start;
            self.file.parts.read_payload(values, (first * size) as u64)?;
        }
        stored.convert(shape, target)
    }

    /// Reads a region, which must be in range, into contiguous rows. `stored` is a buffer for the file's values. In a
    /// row-major file each row is read separately, unless the region has all columns; in a column-major file, each
    /// column is.
    pub(crate) fn read_region(&self, region: &Region, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<()> {
        let columns = self.file.shape.columns;
        if target.is_empty() {
            return Ok(());
        }
        let bytes = size_of_target(&target);
        if self.file.layout == DataLayout::ColumnMajor {
            self.read_tile(region, target, stored)?;
        } else if region.columns.len() == columns {
            self.file.values(None).read(region.rows.start * columns, target, stored)?;
        } else {
            self.read_lines(region, target, stored)?;
        }
        trace::record(CopyKind::Loaded, bytes);
        Ok(())
    }

    /// Reads some rows of some columns of a row-major file into contiguous rows.
    fn read_lines(&self, region: &Region, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<()> {
        let (columns, size) = (self.file.shape.columns, self.file.element_type.size_in_bytes());
        let lines = stored.room(target.len())?.chunks_exact_mut(region.columns.len() * size);
        for (row, line) in region.rows.clone().zip(lines) {
            let first = row * columns + region.columns.start;
            self.file.parts.read_payload(line, (first * size) as u64)?;
        }
        stored.convert(Shape { rows: target.len(), columns: 1 }, target)
    }
}

fn size_of_target(target: &AnySliceMut<'_>) -> usize {
    target.len() * target.element_type().size_in_bytes() // it is in memory
}
