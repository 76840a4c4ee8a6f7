//! Lending memory: a block that is in one of the tables is lent by that table.

use std::ops::Range;

use super::Joined;
use crate::array::AnyArrayRef;
use crate::base::element::ElementType;
use crate::base::error::Result;
use crate::table::{Lease, Lend, Region, lend};
use crate::window::{AnySlice, AnySliceMut};

impl Lend for Joined<'_> {
    fn slice_of(&self, region: &Region, element: ElementType) -> Result<Option<AnySlice<'_>>> {
        region.check(self.shape)?;
        let Some((table, there)) = self.only_table_of(region) else { return Ok(None) };
        lend::slice_of(&*self.tables[table], &there, element).map_err(self.moved(table))
    }

    fn slice_of_mut(&mut self, region: &Region, element: ElementType) -> Result<Option<AnySliceMut<'_>>> {
        region.check(self.shape)?;
        let Some((table, there)) = self.only_table_of(region) else { return Ok(None) };
        let moved = self.moved(table);
        lend::slice_of_mut(&mut *self.tables[table], &there, element).map_err(moved)
    }

    fn array_of(&self, region: &Region, element: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        region.check(self.shape)?;
        let Some((table, there)) = self.only_table_of(region) else { return Ok(None) };
        lend::array_of(&*self.tables[table], &there, element).map_err(self.moved(table))
    }

    fn check_block_writable(&mut self) -> Result<()> {
        (0..self.tables.len()).try_for_each(|table| {
            let moved = self.moved(table);
            lend::check_writable(&mut *self.tables[table]).map_err(moved)
        })
    }

    /// A block that is written in place comes from the table that holds it.
    fn lend_region(&mut self, region: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        region.check(self.shape)?;
        if in_place.is_none() {
            self.check_tables_of(region)?;
            lease.reset(region);
            return Ok(false);
        }
        let Some((table, there)) = self.only_table_of(region) else { return Ok(false) };
        let moved = self.moved(table);
        let is_lent = lend::lend_region(&mut *self.tables[table], &there, in_place, lease).map_err(moved)?;
        if is_lent {
            lease.move_by(self.offset_of(table));
        }
        Ok(is_lent)
    }

    /// Normally the table at the block's position has lent the memory. A user's kind of table may have moved the
    /// region.
    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        let (row, column) = lease.position();
        let expected = self.table_at(self.axis.at(row, column)).unwrap_or_default();
        lease.return_to_one_of(self.tables.len(), expected, |table, lease| {
            let (rows, columns) = self.offset_of(table);
            lease.move_by((rows.wrapping_neg(), columns.wrapping_neg()));
            let is_back = lend::take_back(&mut *self.tables[table], lease).is_ok() && lease.is_empty();
            if !is_back {
                lease.move_by((rows, columns));
            }
            is_back
        })
    }
}
