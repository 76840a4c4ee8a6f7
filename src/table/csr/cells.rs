//! The stored cells of consecutive rows, for code that moves sparse rows elsewhere as they are stored.

use std::ops::Range;

use super::CsrNumericTable;
use super::block::Place;
use super::index::Indices;
use crate::window::AnySlice;

/// The stored cells of consecutive rows of a sparse table. All other cells are zero.
#[derive(Clone, Copy, Debug)]
pub struct StoredCells<'t> {
    offsets: Indices<'t>,
    indices: Indices<'t>,
    values: AnySlice<'t>,
}

impl<'t> StoredCells<'t> {
    /// Returns the position of each row's first value, counted from the first value of these rows, and the number of
    /// values.
    pub fn offsets(&self) -> Indices<'t> {
        self.offsets
    }

    /// Returns the column of each value. The columns of a row ascend.
    pub fn indices(&self) -> Indices<'t> {
        self.indices
    }

    /// Returns the values, row by row.
    pub fn values(&self) -> AnySlice<'t> {
        self.values
    }
}

impl CsrNumericTable {
    /// Returns the stored cells of some rows; `None` if there are fewer rows.
    pub(super) fn cells_of(&self, rows: &Range<usize>) -> Option<StoredCells<'_>> {
        if rows.start > rows.end || rows.end > self.shape.rows {
            return None;
        }
        let place = Place::new(self.pattern(), rows.clone());
        let values = self.values.as_slice().range(place.positions.clone());
        Some(StoredCells { offsets: place.offsets(), indices: place.indices(), values })
    }
}
