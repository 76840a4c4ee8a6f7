//! Rows whose columns are in separate memory: the windows side by side that together are all of a region.

use super::joined::Member;
use super::{Region, Target};
use crate::convert::{WriteRule, kernel};
use crate::window::{AnySlice, AnyWindow};

/// The number of windows that are listed without an allocation.
const FEW: usize = 4;

/// The initial capacity for more windows: the columns of a typical table.
pub(super) const EXPECTED: usize = 64;

/// Windows from left to right. Each has all rows of the region.
pub(super) struct Across<'w> {
    few: [AnyWindow<'w>; FEW],
    /// All windows, if there are more than [`FEW`].
    many: Vec<AnyWindow<'w>>,
    count: usize,
}

impl<'w> Across<'w> {
    /// Starts without windows. `count` are expected.
    #[inline]
    pub(super) fn with_capacity(count: usize) -> Self {
        let many = if count > FEW { Vec::with_capacity(count.min(EXPECTED)) } else { Vec::new() };
        Self { few: [AnyWindow::of_rows(AnySlice::new::<u8>(&[]), 0, 0); FEW], many, count: 0 }
    }

    /// Looks up regions of tables side by side. Returns `false` if one of them is not in one piece of its table, or not
    /// in memory, or if two of them cannot be read together.
    pub(super) fn push_tables<'t: 'w>(&mut self, mut parts: impl Iterator<Item = (&'w Member<'t>, Region)>) -> bool {
        parts.all(|(table, region)| {
            let piece = table.piece(region.rows.start, region.columns.start).ok().flatten();
            piece.and_then(|piece| piece.window_of(&region)).is_some_and(|window| self.push(window))
        })
    }

    /// Appends a window. Returns `false` if it cannot be read together with the one before it.
    #[inline]
    fn push(&mut self, window: AnyWindow<'w>) -> bool {
        if self.windows().last().is_some_and(|last| !kernel::are_read_together(last, &window)) {
            return false;
        }
        self.append(window);
        true
    }

    /// Appends a column.
    #[inline]
    pub(super) fn push_column(&mut self, values: AnySlice<'w>) {
        self.append(AnyWindow::of_rows(values, values.len(), 1)); // columns are read together
    }

    #[inline]
    fn append(&mut self, window: AnyWindow<'w>) {
        if self.many.capacity() == 0 && self.count < FEW {
            self.few[self.count] = window;
        } else {
            if self.many.is_empty() {
                self.many.extend(&self.few[..self.count]);
            }
            self.many.push(window);
        }
        self.count += 1;
    }

    fn windows(&self) -> &[AnyWindow<'w>] {
        if self.many.is_empty() { &self.few[..self.count] } else { &self.many }
    }

    /// Reads the windows into a target of their shape, if that is one task and nothing needs to be checked before it is
    /// written. Returns whether it did. If not, the target's values are unspecified, or unchanged if they must not be
    /// lost. `rows` is the number of rows of the table.
    pub(super) fn read(&self, target: &mut Target<'_>, rows: usize) -> bool {
        target.is_one_pass() && kernel::read_beside(self.windows(), target.values.reborrow(), target.policy, Some(rows))
    }

    /// Returns whether values of the same shape may be written into the windows. Returns `false` if this is unknown.
    pub(super) fn permits(&self, new: AnyWindow<'_>, rule: WriteRule) -> bool {
        kernel::permits_beside(self.windows(), new, rule)
    }
}
