//! Dense reading of complete rows that are not wide: the usual blocks of rows.
//!
//! The stored values of a group of rows are converted together. A few rows at a time are zeroed, and written while they
//! are in the first-level cache. Meanwhile the processor fetches the indices and the values of the next group.

use super::index::Index;
use super::read::{BATCH, Cells, HERE, TILE, column};
use crate::base::cache::SECOND_LEVEL;
use crate::base::error::Result;
use crate::convert::ConversionPolicy;
use crate::convert::kernel;
use crate::table::Region;
use crate::window::{AnyRows, AnySliceMut, Bits};

/// The number of bytes that are zeroed at a time, if a row does not have more. Fewer than for other regions: indices
/// and values are in the same cache. (Measured on Zen 3: 4 KiB at a time take a ninth longer.)
const ZEROED_BYTES: usize = 2 << 10;

impl Cells<'_> {
    /// Reads complete rows. The target is contiguous, and its rows have at most [`TILE`] values.
    pub(super) fn read_groups<I: Index + Bits, B: Bits>(
        &self,
        region: &Region,
        target: AnyRows<'_>,
        policy: ConversionPolicy,
    ) -> Result<()> {
        let (element, columns, all_rows) = (target.element_type(), target.columns(), region.rows.clone());
        let is_stored = element == self.values.element_type();
        let step = (ZEROED_BYTES / (columns * size_of::<B>())).max(1);
        let indices = self.pattern.indices.bits::<I>();
        let mut target = AnyRows::new(target.into_room(), 1, all_rows.len() * columns);
        let (mut target, mut start, mut first) = (target.row_bits::<B>(0), 0, all_rows.start);
        let (mut buffer, mut ends, mut outcome) = (None, [0; BATCH + 1], Ok(()));
        while first < all_rows.end {
            let count = BATCH.min(all_rows.end - first);
            let ends = self.pattern.offsets.copy_to(first, &mut ends[..=count]);
            // Rows whose values fit the buffer: at least one, because no row has more values than columns.
            let fits = |end: &usize| end - ends[0] <= TILE;
            let count = if is_stored { count } else { (ends.partition_point(fits) - 1).max(1) };
            let group = ends[0]..ends[count];
            let values = if is_stored {
                self.values_at(group.clone()).bits::<B>()
            } else {
                let values = &mut buffer.get_or_insert([B::default(); TILE])[..group.len()];
                let room = AnySliceMut::of_bits(values, element);
                let read = kernel::read_over(column(self.values_at(group.clone())), room, policy, HERE);
                if let (Err(error), Ok(())) = (read, &outcome) {
                    outcome = Err(self.pattern.placed(error, group.start)); // the target's values are lost then
                }
                &*values
            };
            for row in (0..count).step_by(step) {
                let ends = &ends[row..=count.min(row + step)];
                let rows = ends.len() - 1;
                self.fetch(ends[0] + group.len()..ends[rows] + group.len());
                target.zero(start..start + rows * columns);
                for ends in ends.windows(2) {
                    let (indices, values) =
                        (&indices[ends[0]..ends[1]], &values[ends[0] - group.start..ends[1] - group.start]);
                    for (&index, &value) in indices.iter().zip(values) {
                        target.put(start + index.number(), value);
                    }
                    start += columns;
                }
            }
            first += count;
        }
        outcome
    }

    /// Asks the processor to fetch the indices and the values at some positions, as far as there are any.
    fn fetch(&self, positions: std::ops::Range<usize>) {
        self.pattern.indices.fetch::<SECOND_LEVEL>(positions.clone());
        self.values.fetch::<SECOND_LEVEL>(positions.start - self.first..positions.end - self.first);
    }
}
