//! Records as a table, whoever holds them: what tables that own and tables that borrow have in common.

use std::sync::Arc;

use super::memory::{Borrowed, BorrowedMut, Hold, Records};
use super::places::Places;
use super::{Record, RecordLayout};
use crate::base::error::Result;
use crate::dictionary::DataDictionary;
use crate::table::{MemoryStatus, NumericTable, Piece, PieceMut, Shape, TableId};

/// Records, and what is known of their columns.
pub(super) struct RecordTable<H> {
    pub(super) id: TableId,
    pub(super) records: Records<H>,
    /// Invariant: describes the places of the records.
    pub(super) dictionary: DataDictionary,
    /// Who has allocated the memory.
    pub(super) owner: MemoryStatus,
}

impl<H: Hold> RecordTable<H> {
    pub(super) fn new(records: Records<H>, dictionary: DataDictionary, owner: MemoryStatus) -> Self {
        Self { id: TableId::new(), records, dictionary, owner }
    }
}

/// Returns the places and the dictionary of a type's records.
pub(super) fn describe_records<P: Record>() -> (Arc<Places>, DataDictionary) {
    let layout = RecordLayout::of::<P>();
    let Some(places) = Places::new(&layout, None) else { unreachable!("`RecordField::check` has the sizes") };
    (Arc::new(places), layout.fields().map(|(feature, _)| feature.clone()).collect())
}

/// Returns a table that *is* a slice of records, for reading: writing is refused. Nothing is copied.
///
/// # Examples
/// ```
/// use numeric_table::{BasicStatistics, prelude::*, table::records};
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
/// assert_eq!(BasicStatistics::of(&*table)?.columns()[0].mean(), 2.0);
/// # Ok::<(), Error>(())
/// ```
pub fn records<P: Record>(records: &[P]) -> Box<dyn NumericTable + '_> {
    let (places, dictionary) = describe_records::<P>();
    let records: Records<Borrowed<'_>> = Records::of_slice(records, places);
    Box::new(RecordTable::new(records, dictionary, MemoryStatus::UserAllocated))
}

/// Returns a table that *is* a slice of records, for writing and reading: what is written through it is in the records.
/// Nothing is copied. Its size cannot be changed.
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

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        self.dictionary.check_types(&dictionary)?;
        self.dictionary = dictionary;
        Ok(())
    }

    fn piece(&self, _: usize, column: usize) -> Result<Option<Piece<'_>>> {
        Ok(self.records.window(column).map(|(first, window)| Piece::of_window(first, window)))
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        let windows = self.records.windows_mut(|_| true)?;
        Ok(windows.into_iter().map(|(first, window)| PieceMut::of_window(first, window)).collect())
    }

    fn piece_mut(&mut self, _: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        let windows = self.records.windows_mut(|place| (place.first..place.first + place.width).contains(&column))?;
        Ok(windows.into_iter().next().map(|(first, window)| PieceMut::of_window(first, window)))
    }

    fn check_writable(&mut self) -> Result<()> {
        self.records.check_writable()
    }
}
