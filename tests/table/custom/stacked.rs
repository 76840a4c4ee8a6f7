//! A kind of table that is read and written, and lends its memory: one table on top of another.

use numeric_table::prelude::*;
use numeric_table::table::spi::{Lease, Lend, Piece, PieceMut, Region, TableId};

use super::Result;

/// One table on top of another, of the same type and number of columns.
pub(crate) struct Stacked<T: Element> {
    id: TableId,
    pub(crate) head: HomogenNumericTable<T>,
    pub(crate) tail: HomogenNumericTable<T>,
}

impl<T: Element> Stacked<T> {
    pub(crate) fn new(head: HomogenNumericTable<T>, tail: HomogenNumericTable<T>) -> Self {
        assert_eq!(head.column_count(), tail.column_count());
        Self { id: TableId::new(), head, tail }
    }

    /// Makes sure that all values are here: a block of one part is a block of the table.
    fn check(&self) -> Result<()> {
        self.head.view()?;
        self.tail.view().map(drop).map_err(moved_by(self.head.row_count()))
    }
}

/// Turns rows of the second part into rows of the table.
fn moved_by(seam: usize) -> impl Fn(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::BlockOutstanding { rows } => {
            Error::new(ErrorKind::BlockOutstanding { rows: rows.start + seam..rows.end + seam })
        }
        _ => error,
    }
}

impl<T: Element> NumericTable for Stacked<T> {
    fn shape(&self) -> Shape {
        Shape { rows: self.head.row_count() + self.tail.row_count(), columns: self.head.column_count() }
    }

    fn dictionary(&self) -> &DataDictionary {
        self.head.dictionary()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn data_layout(&self) -> DataLayout {
        self.head.data_layout()
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.head.data_memory_status()
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        self.head.set_dictionary(dictionary)
    }

    /// Rows come and go at the end.
    fn resize(&mut self, rows: usize) -> Result<()> {
        self.check()?;
        self.tail.resize(rows.saturating_sub(self.head.row_count()))?;
        self.head.resize(rows.min(self.head.row_count()))
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        self.check()?;
        match row.checked_sub(self.head.row_count()) {
            None => self.head.piece(row, column),
            Some(row) => Ok(self.tail.piece(row, column)?.map(|piece| piece.moved(self.head.row_count(), 0))),
        }
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.check()?;
        let seam = self.head.row_count();
        let mut pieces = self.head.pieces_mut()?;
        pieces.extend(self.tail.pieces_mut()?.into_iter().map(|piece| piece.moved(seam, 0)));
        Ok(pieces)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl<T: Element> Lend for Stacked<T> {
    /// A block that is written in place is lent by the part that it lies in.
    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        region.check(self.shape())?;
        self.check()?;
        let (seam, rows) = (self.head.row_count(), region.rows.clone());
        match in_place {
            Some(_) if rows.end <= seam => self.head.lend_region(region, in_place, lease),
            Some(_) if rows.start >= seam => {
                let region = Region { rows: rows.start - seam..rows.end - seam, ..region.clone() };
                self.tail.lend_region(&region, in_place, lease)
            }
            Some(_) => Ok(false),
            None => {
                lease.reset(region);
                Ok(false)
            }
        }
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if lease.is_empty() {
            return Ok(());
        }
        self.head.take_back(lease).or_else(|_| self.tail.take_back(lease))
    }
}
