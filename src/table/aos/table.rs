//! Records as a table: the code that owning and borrowing tables share.

use std::ops::Range;
use std::sync::Arc;

use super::memory::{Borrowed, BorrowedMut, Hold, Records};
use super::places::Places;
use super::{Record, RecordLayout};
use crate::base::error::Result;
use crate::base::parallel;
use crate::convert::kernel::{self, Interleaved, OldValues, Origin};
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
    /// Returns the columns and the values of each group in a region inside the table.
    #[inline]
    fn groups(&self, region: &Region) -> impl Iterator<Item = (Range<usize>, AnyWindow<'_>)> {
        let Region { rows, columns } = region.clone();
        let mut column = columns.start;
        std::iter::from_fn(move || {
            if column >= columns.end {
                return None;
            }
            let (first, window) = self.records.window(column)?;
            let here = column..(first + window.columns()).min(columns.end);
            column = here.end;
            Some((here.clone(), window.cut(rows.clone(), here.start - first..here.end - first)))
        })
    }

    /// Reads a region inside the table that is larger than [`FEW_BYTES`].
    #[inline(never)]
    fn read_bands(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let Target { values: mut rest, policy, old } = target;
        let (mut outcome, mut rows) = (Ok(()), region.rows.clone());
        let height = (FEW_BYTES * rest.rows() / rest.size_in_bytes()).max(1);
        while !rows.is_empty() {
            let band = rows.start..rows.end.min(rows.start + height);
            let (values, later) = rest.split_at(true, band.len());
            (rest, rows.start) = (later, band.end);
            let band = Region { rows: band, columns: region.columns.clone() };
            outcome = tiling::earlier(outcome, self.read_groups(&band, Target { values, policy, old }));
        }
        outcome
    }

    /// Reads a region inside the table: all groups at once, or narrow groups together and others one by one.
    fn read_groups(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let Target { mut values, policy, old } = target;
        let are_all = region.columns.len() == self.records.places().all().len();
        if are_all && self.records.convert(&region.rows, &mut values, policy) {
            return Ok(());
        }
        let (mut outcome, mut together) = (Ok(()), Interleaved::new(values));
        for (columns, window) in self.groups(region) {
            let place = columns.start - region.columns.start..columns.end - region.columns.start;
            if !kernel::read_narrow(window, place.clone(), policy, &mut together) {
                let origin = Origin { row: region.rows.start, column: columns.start };
                let read = kernel::read_rows_of(
                    || self.records.size_in_bytes(),
                    window,
                    together.columns(place),
                    policy,
                    origin,
                    old,
                );
                outcome = tiling::earlier(outcome, read);
            }
        }
        together.convert();
        outcome
    }
}

impl<H: Hold> RecordTable<H> {
    /// Writes a region inside the table group by group, after checking all values.
    fn write_groups(&mut self, region: &Region, new: AnyWindow<'_>, rule: WriteRule) -> Result<()> {
        let mut outcome = Ok(());
        for (columns, window) in self.groups(region) {
            let place = columns.start - region.columns.start..columns.end - region.columns.start;
            let origin = Origin { row: region.rows.start, column: columns.start };
            let check = kernel::check_write(window, new.cut(0..new.rows(), place), rule, origin);
            outcome = tiling::earlier(outcome, check);
        }
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

    /// Rows of several groups are converted group by group, a few rows at a time, without splitting the region first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        let is_one_pass = target.old == OldValues::Lost || target.policy == ConversionPolicy::Saturate;
        let is_one_group = self.records.group(region.columns.start).is_some_and(|end| end >= region.columns.end);
        let bytes = target.values.size_in_bytes();
        if is_one_group || !is_one_pass || (bytes > FEW_BYTES && parallel::task_count(bytes.saturating_mul(2)) > 1) {
            return tiling::read(self, region, target);
        }
        target.check(region, self.shape())?;
        match bytes > FEW_BYTES {
            true => self.read_bands(region, target),
            false => self.read_groups(region, target),
        }
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
