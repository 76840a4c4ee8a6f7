//! Records as a table: the code that owning and borrowing tables share.

use std::ops::Range;
use std::sync::Arc;

use super::memory::{Borrowed, BorrowedMut, Hold, Records};
use super::places::Places;
use super::{Record, RecordLayout};
use crate::base::error::Result;
use crate::convert::kernel::{self, OldValues, Origin};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::dictionary::DataDictionary;
use crate::table::{
    MemoryStatus, NumericTable, Piece, PieceMut, Region, RegionMut, Shape, TableId, Target, Token, tiling,
};
use crate::window::{AnySlice, AnyWindow};

/// The size in bytes of a block that stays in the first-level cache while one group after the other is written to it.
const FEW_BYTES: usize = 16 << 10;

/// Records, and the metadata of their columns.
pub(super) struct RecordTable<H> {
    pub(super) id: TableId,
    pub(super) records: Records<H>,
    /// Invariant: describes the places of the records.
    pub(super) dictionary: DataDictionary,
    /// The allocator of the memory.
    pub(super) owner: MemoryStatus,
}

impl<H: Hold> RecordTable<H> {
    pub(super) fn new(records: Records<H>, dictionary: DataDictionary, owner: MemoryStatus) -> Self {
        Self { id: TableId::new(), records, dictionary, owner }
    }
}

impl<H: Hold> RecordTable<H> {
    /// Calls `work` with the columns and the values of each group in a region inside the table.
    fn for_each_group(&self, region: &Region, mut work: impl FnMut(Range<usize>, AnyWindow<'_>)) {
        let mut column = region.columns.start;
        while column < region.columns.end
            && let Some((first, window)) = self.records.window(column)
        {
            let end = (first + window.columns()).min(region.columns.end);
            work(column..end, window.cut(region.rows.clone(), column - first..end - first));
            column = end;
        }
    }

    /// Reads a region inside the table group by group.
    fn read_groups(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let Target { mut values, policy, old } = target;
        let mut outcome = Ok(());
        self.for_each_group(region, |columns, window| {
            let place = columns.start - region.columns.start..columns.end - region.columns.start;
            let mut target = values.cut(0..region.rows.len(), place);
            if kernel::read_narrow(window, target.reborrow(), policy) {
                return;
            }
            let origin = Origin { row: region.rows.start, column: columns.start };
            let read = kernel::read_rows(window, target, policy, origin, old);
            outcome = tiling::earlier(std::mem::replace(&mut outcome, Ok(())), read);
        });
        outcome
    }
}

impl<H: Hold> RecordTable<H> {
    /// Writes a region inside the table group by group, after checking all values.
    fn write_groups(&mut self, region: &Region, new: AnyWindow<'_>, rule: WriteRule) -> Result<()> {
        let mut outcome = Ok(());
        self.for_each_group(region, |columns, window| {
            let place = columns.start - region.columns.start..columns.end - region.columns.start;
            let origin = Origin { row: region.rows.start, column: columns.start };
            let check = kernel::check_write(window, new.cut(0..new.rows(), place), rule, origin);
            outcome = tiling::earlier(std::mem::replace(&mut outcome, Ok(())), check);
        });
        outcome?;
        let mut column = region.columns.start;
        while !new.geometry().is_empty()
            && column < region.columns.end
            && let Some((first, window)) = self.records.window_mut(column)?
        // fails for the first one, or for none
        {
            let end = (first + window.geometry().columns).min(region.columns.end);
            let new = new.cut(0..new.rows(), column - region.columns.start..end - region.columns.start);
            kernel::write_checked(window.cut(region.rows.clone(), column - first..end - first), new, rule);
            column = end;
        }
        Ok(())
    }
}

/// Returns the places and the dictionary of a type's records.
pub(super) fn describe_records<P: Record>() -> (Arc<Places>, DataDictionary) {
    let layout = RecordLayout::of::<P>();
    let Some(places) = Places::new(&layout, None) else { unreachable!("`RecordField::check` has the sizes") };
    (Arc::new(places), layout.fields().map(|(feature, _)| feature.clone()).collect())
}

/// Returns a read-only table that *is* a slice of records. Copies nothing.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, statistics::BasicStatistics, table::records};
/// #[derive(Clone, Copy)]
/// struct Flow {
///     bytes: f32,
///     port: u16,
/// }
/// numeric_table::impl_record!(Flow { bytes, port });
///
/// let flows = [Flow { bytes: 1.5, port: 80 }, Flow { bytes: 2.5, port: 443 }];
/// let table = records(&flows);
/// assert_eq!(table.rows::<f64>(1..)?[..], [2.5, 443.0]);
/// assert_eq!(BasicStatistics::compute(&*table)?.per_column()[0].mean(), 2.0);
/// # Ok::<(), Error>(())
/// ```
pub fn records<P: Record>(records: &[P]) -> Box<dyn NumericTable + '_> {
    let (places, dictionary) = describe_records::<P>();
    let records: Records<Borrowed<'_>> = Records::of_slice(records, places);
    Box::new(RecordTable::new(records, dictionary, MemoryStatus::UserAllocated))
}

/// Returns a table that *is* a slice of records, for reading and writing: writing the table writes the records. Copies
/// nothing. The table cannot be resized.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, table::records_mut};
/// #[derive(Clone, Copy)]
/// struct Flow {
///     bytes: f32,
///     port: u16,
/// }
/// numeric_table::impl_record!(Flow { bytes, port });
///
/// let mut flows = [Flow { bytes: 1.5, port: 80 }, Flow { bytes: 2.5, port: 443 }];
/// records_mut(&mut flows).set_value(1, 1, 8080)?;
/// assert_eq!(flows[1].port, 8080);
/// # Ok::<(), Error>(())
/// ```
pub fn records_mut<P: Record>(records: &mut [P]) -> Box<dyn NumericTable + '_> {
    let (places, dictionary) = describe_records::<P>();
    let records: Records<BorrowedMut<'_>> = Records::of_slice_mut(records, places);
    Box::new(RecordTable::new(records, dictionary, MemoryStatus::UserAllocated))
}

impl<H: Hold> NumericTable for RecordTable<H> {
    fn shape(&self) -> Shape {
        Shape { rows: self.records.rows(), columns: self.records.places().all().len() }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.owner
    }

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn piece(&self, _: usize, column: usize) -> Result<Option<Piece<'_>>> {
        Ok(self.records.window(column).map(|(first, window)| Piece::of_window(first, window)))
    }

    /// A small number of rows of several groups is converted group by group, without splitting the region first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let is_one_pass = target.old == OldValues::Lost || target.policy == ConversionPolicy::Saturate;
        let is_one_group = self.records.group(region.columns.start).is_some_and(|end| end >= region.columns.end);
        if is_one_group || !is_one_pass || target.values.size_in_bytes() > FEW_BYTES {
            return tiling::read(self, region, target);
        }
        target.check(region, self.shape())?;
        self.read_groups(region, target)
    }

    /// A small number of rows is written group by group.
    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape())?;
        let new = tiling::new_values(region, values)?;
        if new.size_in_bytes() <= FEW_BYTES {
            return self.write_groups(region, new, rule);
        }
        tiling::check_write(&|row, column| self.piece(row, column), region, values, rule)?;
        RegionMut::of_pieces(self.pieces_mut()?, region)?.write_checked(values, rule)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        let windows = self.records.windows_mut()?;
        Ok(windows.into_iter().map(|(first, window)| PieceMut::of_window(first, window)).collect())
    }

    fn piece_mut(&mut self, _: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        let window = self.records.window_mut(column)?;
        Ok(window.map(|(first, window)| PieceMut::of_window(first, window)))
    }

    fn check_region_writable(&mut self, _: &Region, _: Token) -> Result<()> {
        self.records.check_writable()
    }
}
