//! The model of a block descriptor: what it holds, and what that does to its table.

use std::ops::Range;
use std::rc::Rc;

use numeric_table::prelude::*;
use numeric_table::{block::BlockKind, table::spi::Region};

use super::number::Number;
use super::real::{Cut, Shown};
use super::state::{Expected, Fault, Lease, Storage, Table, edit, unless};

/// A block descriptor.
pub(crate) struct Block {
    pub(crate) element: ElementType,
    policy: Option<ConversionPolicy>,
    held: Option<Held>,
    /// The most values that a converted block ever had.
    pub(crate) capacity: usize,
}

struct Held {
    table: u64,
    kind: BlockKind,
    mode: ReadWriteMode,
    region: Region,
    place: Place,
}

enum Place {
    /// Read in place: keeps what it showed, and a share of the memory.
    Shared(Vec<Number>, #[expect(dead_code, reason = "it counts as an owner")] Rc<Storage>),
    /// A converted copy, with a lease if it goes back.
    Converted(Vec<Number>, Option<Lease>),
    /// Written in place.
    Leased(Vec<usize>, Lease),
}

impl Block {
    pub(crate) fn new(element: ElementType, policy: Option<ConversionPolicy>) -> Self {
        Self { element, policy, held: None, capacity: 0 }
    }

    pub(crate) fn mode(&self) -> Option<ReadWriteMode> {
        self.held.as_ref().map(|held| held.mode)
    }

    pub(crate) fn kind(&self) -> Option<BlockKind> {
        self.held.as_ref().map(|held| held.kind)
    }

    /// Whether the block that is held was taken from this table.
    pub(crate) fn is_of(&self, table: &Table) -> bool {
        self.held.as_ref().is_some_and(|held| held.table == table.id)
    }

    pub(crate) fn shown(&self) -> Shown {
        let Some(held) = &self.held else {
            return Shown { values: Vec::new(), rows: 0..0, columns: 0..0, is_zero_copy: false };
        };
        let values = match &held.place {
            Place::Shared(values, _) | Place::Converted(values, _) => values.clone(),
            Place::Leased(offsets, lease) => {
                let values = lease.storage.values.borrow();
                offsets.iter().map(|&offset| values[offset]).collect()
            }
        };
        let is_zero_copy = !matches!(held.place, Place::Converted(..));
        Shown { values, rows: held.region.rows.clone(), columns: held.region.columns.clone(), is_zero_copy }
    }

    pub(crate) fn edit(&mut self, edits: &[(usize, Number)]) -> Expected<()> {
        let Some(held) = &mut self.held else { return Err(vec![Fault::NoBlock]) };
        if held.mode == ReadWriteMode::ReadOnly {
            return Err(vec![Fault::NotWritable]);
        }
        match &mut held.place {
            Place::Shared(..) => unreachable!("taken for reading"),
            Place::Converted(values, _) => edit(values, edits, self.element),
            Place::Leased(offsets, lease) => {
                let mut storage = lease.storage.values.borrow_mut();
                let mut values: Vec<Number> = offsets.iter().map(|&offset| storage[offset]).collect();
                edit(&mut values, edits, self.element);
                offsets.iter().zip(values).for_each(|(&offset, value)| storage[offset] = value);
            }
        }
        Ok(())
    }

    /// `get_block_of_*`: cut at the last row.
    pub(crate) fn get(
        &mut self,
        table: &mut Table,
        cut: Cut,
        first_row: usize,
        row_count: usize,
        mode: ReadWriteMode,
    ) -> Expected<()> {
        let end = first_row.saturating_add(row_count).min(table.shape.rows);
        let region = self.region(table, cut, first_row..end)?;
        if mode == ReadWriteMode::ReadOnly {
            return self.take_for_reading(table, region, cut.kind());
        }
        let is_in_place = self.element == table.element && Table::is_one_piece(&table.offsets(&region));
        let values = match mode {
            _ if is_in_place => Vec::new(),
            ReadWriteMode::ReadWrite => self.converted(table, &region)?,
            _ => vec![Number::zero(self.element); table.offsets(&region).len()],
        };
        self.held = None;
        table.detach();
        let lease = table.lend();
        let place = if is_in_place {
            Place::Leased(table.offsets(&region), lease)
        } else {
            self.capacity = self.capacity.max(values.len());
            Place::Converted(values, Some(lease))
        };
        self.held = Some(Held { table: table.id, kind: cut.kind(), mode, region, place });
        Ok(())
    }

    /// `read_rows`: the rows must lie inside.
    pub(crate) fn read_rows(&mut self, table: &Table, rows: Range<usize>) -> Expected<Vec<Number>> {
        let region = self.region(table, Cut::AllColumns, rows)?;
        self.take_for_reading(table, region, BlockKind::Rows)?;
        Ok(self.shown().values)
    }

    fn region(&self, table: &Table, cut: Cut, rows: Range<usize>) -> Expected<Region> {
        let region = table.region(cut, rows);
        if self.mode().is_none_or(|mode| mode == ReadWriteMode::ReadOnly) {
            return region;
        }
        let mut faults = region.err().unwrap_or_default();
        faults.push(Fault::Outstanding);
        Err(faults)
    }

    fn take_for_reading(&mut self, table: &Table, region: Region, kind: BlockKind) -> Expected<()> {
        let values = self.converted(table, &region)?;
        let place = if self.element == table.element && Table::is_one_piece(&table.offsets(&region)) {
            Place::Shared(values, table.storage())
        } else {
            self.capacity = self.capacity.max(values.len());
            Place::Converted(values, None)
        };
        self.held = Some(Held { table: table.id, kind, mode: ReadWriteMode::ReadOnly, region, place });
        Ok(())
    }

    fn converted(&self, table: &Table, region: &Region) -> Expected<Vec<Number>> {
        let (target, is_checked) = (self.element, self.policy == Some(ConversionPolicy::Checked));
        let values = table.at(&table.offsets(region));
        let refused = values.iter().position(|value| !value.fits(target));
        if let Some(i) = refused
            && is_checked
            && target != table.element
        {
            let (row, column) = (i / region.columns.len(), i % region.columns.len());
            let (row, column) = (region.rows.start + row, region.columns.start + column);
            return Err(vec![Fault::Value { row, column, value: values[i], target }]);
        }
        Ok(table.converted(region, target))
    }

    pub(crate) fn release(&mut self, table: &Table, kind: BlockKind) -> Expected<()> {
        let Some(held) = &self.held else { return Err(vec![Fault::NoBlock]) };
        let mut faults = Vec::new();
        if held.table != table.id {
            faults.push(Fault::WrongTable);
        }
        if held.kind != kind {
            faults.push(Fault::WrongKind);
        }
        unless(faults)?;
        if let Place::Converted(values, Some(_)) = &held.place {
            let policy = self.policy.unwrap_or(ConversionPolicy::Checked);
            let keeps_unchanged = held.mode == ReadWriteMode::ReadWrite;
            table.write_back(&held.region, values, self.element, policy, keeps_unchanged)?;
        }
        self.held = None;
        Ok(())
    }
}
