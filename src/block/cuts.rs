//! Cutting a table into blocks of rows, for one or several threads.

use std::ops::Range;

use super::BlockMut;
#[cfg(feature = "rayon")]
use super::update::WRITE_BACK;
#[cfg(feature = "rayon")]
use super::values::Buffer;
use super::values::ValuesMut;
use crate::base::element::Element;
use crate::base::error::{Error, Result};
#[cfg(feature = "rayon")]
use crate::convert::ConversionPolicy;
#[cfg(feature = "rayon")]
use crate::table::record_written_back;
use crate::table::{NumericTable, Region, RegionMut};
#[cfg(feature = "rayon")]
use crate::window::AnySlice;

/// The rows of a table, cut into blocks of equal length. The last block may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuts {
    rows: usize,
    rows_per_block: usize,
}

impl Cuts {
    pub(crate) fn new(rows: usize, rows_per_block: usize) -> Result<Self> {
        if rows_per_block == 0 { Err(Error::empty_blocks()) } else { Ok(Self { rows, rows_per_block }) }
    }

    pub(crate) fn count(&self) -> usize {
        self.rows.div_ceil(self.rows_per_block)
    }

    /// Returns the rows of one block. `index` is less than the number of blocks, so nothing overflows.
    pub(crate) fn block(&self, index: usize) -> Range<usize> {
        let start = index * self.rows_per_block;
        start..start.saturating_add(self.rows_per_block).min(self.rows)
    }
}

/// The remainder of a table that is lent block by block for writing.
pub(super) struct BlocksMut<'t> {
    /// `None` once all rows are lent.
    rest: Option<RegionMut<'t>>,
    cuts: Cuts,
}

impl<'t> BlocksMut<'t> {
    pub(super) fn new<N: NumericTable + ?Sized>(table: &'t mut N, rows_per_block: usize) -> Result<Self> {
        let region = Region::whole(table.shape());
        let cuts = Cuts::new(region.rows.len(), rows_per_block)?;
        Ok(Self { rest: Some(RegionMut::of_pieces(table.pieces_mut()?, &region)?), cuts })
    }

    fn split(self, blocks: usize) -> (Self, Self) {
        let rows = blocks.saturating_mul(self.cuts.rows_per_block).min(self.cuts.rows);
        let (head, tail) = match self.rest.map(|rest| rest.split_at_row(rows)) {
            Some((head, tail)) => (Some(head), Some(tail)),
            None => (None, None),
        };
        let part = |rest, rows| Self { rest, cuts: Cuts { rows, ..self.cuts } };
        (part(head, rows), part(tail, self.cuts.rows - rows))
    }

    /// Returns the remaining rows as one block.
    pub(super) fn into_block<U: Element>(self) -> Result<BlockMut<'t, U>> {
        let rest = self.rest.ok_or_else(Error::empty_blocks)?;
        let region = rest.region().clone();
        Ok(BlockMut::new(ValuesMut::of_region(rest)?, region))
    }
}

#[cfg(feature = "rayon")]
impl BlocksMut<'_> {
    /// Returns whether the blocks contain any values.
    pub(super) fn have_values(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| !rest.region().shape().is_empty())
    }

    /// Calls `edit` with a copy of the remaining rows, and writes it back on success.
    pub(super) fn update<U: Element>(self, edit: impl FnOnce(&mut BlockMut<'_, U>) -> Result<()>) -> Result<()> {
        let mut rest = self.rest.ok_or_else(Error::empty_blocks)?;
        let region = rest.region().clone();
        let count = region.shape().element_count()?;
        let mut buffer = Buffer::from_any(rest.copy(U::TYPE, ConversionPolicy::Saturate)?, count)?;
        edit(&mut BlockMut::staged(buffer.as_mut_slice(), region))?;
        rest.write(AnySlice::new(buffer.as_slice()), WRITE_BACK)?;
        record_written_back(count, U::TYPE);
        Ok(())
    }
}

/// An iterator that maps the items of another one, but, unlike `map`, does not compute skipped items.
pub(super) struct Made<I, F> {
    of: I,
    make: F,
}

impl<I, F> Made<I, F> {
    pub(super) fn new(of: I, make: F) -> Self {
        Self { of, make }
    }
}

impl<T, I: Iterator, F: FnMut(I::Item) -> T> Iterator for Made<I, F> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.of.next().map(&mut self.make)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.of.size_hint()
    }

    fn nth(&mut self, skipped: usize) -> Option<T> {
        self.of.nth(skipped).map(&mut self.make)
    }

    fn last(self) -> Option<T> {
        self.of.last().map(self.make)
    }

    fn count(self) -> usize {
        self.of.count()
    }
}

impl<T, I: DoubleEndedIterator, F: FnMut(I::Item) -> T> DoubleEndedIterator for Made<I, F> {
    fn next_back(&mut self) -> Option<T> {
        self.of.next_back().map(&mut self.make)
    }

    fn nth_back(&mut self, skipped: usize) -> Option<T> {
        self.of.nth_back(skipped).map(&mut self.make)
    }
}

impl<T, I: ExactSizeIterator, F: FnMut(I::Item) -> T> ExactSizeIterator for Made<I, F> {}

impl<'t> Iterator for BlocksMut<'t> {
    type Item = Self;

    fn next(&mut self) -> Option<Self> {
        if self.cuts.count() == 0 {
            return None;
        }
        let all = Self { rest: self.rest.take(), cuts: self.cuts };
        let (first, rest) = all.split(1);
        *self = rest;
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.cuts.count(), Some(self.cuts.count()))
    }

    fn nth(&mut self, skipped: usize) -> Option<Self> {
        let all = Self { rest: self.rest.take(), cuts: self.cuts };
        *self = all.split(skipped.min(self.cuts.count())).1;
        self.next()
    }

    fn last(mut self) -> Option<Self> {
        self.nth(self.cuts.count().checked_sub(1)?)
    }

    fn count(self) -> usize {
        self.cuts.count()
    }
}

impl ExactSizeIterator for BlocksMut<'_> {}

#[cfg(feature = "rayon")]
impl crate::base::parallel::Pieces for BlocksMut<'_> {
    fn piece_count(&self) -> usize {
        self.cuts.count()
    }

    fn split_at(self, pieces: usize) -> (Self, Self) {
        self.split(pieces)
    }
}
