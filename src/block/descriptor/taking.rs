//! Taking a block from a table, and releasing it.
//!
//! A loop over single rows spends its time here. So the usual case of each call is a straight line without calls, and
//! calls for other cases return its result.

use std::ops::Range;

use super::{BlockDescriptor, Held, Place};
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::mode::{BlockKind, ReadWriteMode};
use crate::base::shape::Shape;
use crate::block::values::check_count;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::table::{NumericTable, Region, TableId, Token, lend, record_read, record_written_back};
use crate::window::{AnySlice, AnySliceMut};

impl<U: Element> BlockDescriptor<U> {
    /// Takes a block of a known region, for `get_block_of_*`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::block) fn get<N: NumericTable + ?Sized>(
        &mut self,
        table: &mut N,
        (rows, columns): (Range<usize>, Range<usize>),
        kind: BlockKind,
        mode: ReadWriteMode,
    ) -> Result<()> {
        if mode.is_writable() {
            self.lease(table, (rows, columns), kind, mode)
        } else {
            self.read(table, (rows, columns), kind)
        }
    }

    /// Takes a block for writing. On an error, a held block is kept unless an allocation failed.
    // Ranges are passed in registers; loading a `Region` that was just stored would stall.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lease<N: NumericTable + ?Sized>(
        &mut self,
        table: &mut N,
        (rows, columns): (Range<usize>, Range<usize>),
        kind: BlockKind,
        mode: ReadWriteMode,
    ) -> Result<()> {
        let region = Region { rows: rows.clone(), columns: columns.clone() };
        if self.held.is_some() {
            self.make_way(table, &region.clone())?;
        }
        let is_in_place = match lend::lend_region(table, &region, Some(U::TYPE), &mut self.lease) {
            Ok(is_in_place) => is_in_place,
            Err(error) => return Err(self.refuse(Err(error), &region.clone())),
        };
        let place = if is_in_place {
            if !table.lends_exactly(Token::new()) && !self.has_leased(&region) {
                return Err(self.refuse(Ok(true), &region.clone()));
            }
            Place::Leased
        } else if let Some(count) = self.lease_few(table, &region.clone(), mode) {
            Place::Buffer(count)
        } else {
            return self.lease_converted(table, &region.clone(), kind, mode);
        };
        let region = Region { rows, columns };
        self.held = Some(Held { table: table.id(), kind, mode, region, place });
        Ok(())
    }

    /// Returns whether the lease holds as many values as the region has.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn has_leased(&self, region: &Region) -> bool {
        self.lease.value_count::<U>().is_some_and(|count| rows_times_columns(region) == Some(count))
    }

    /// Drops a block held for reading, since its share of the memory would make the lease copy; but not on an error.
    #[inline(never)]
    fn make_way<N: NumericTable + ?Sized>(&mut self, table: &N, region: &Region) -> Result<()> {
        self.check_free()?;
        if lend::slice_of(table, region, U::TYPE)?.is_some() {
            self.held = None;
        }
        Ok(())
    }

    /// Returns the lent memory to its table, and returns the error: that of the table, or a wrong number of values.
    #[cold]
    fn refuse(&mut self, outcome: Result<bool>, region: &Region) -> Error {
        let actual = self.lease.values::<U>().map_or(0, <[U]>::len);
        self.lease.end();
        match outcome.and_then(|_| region.shape().element_count()) {
            Ok(expected) => Error::new(ErrorKind::LengthMismatch { expected, actual }),
            Err(error) => error,
        }
    }

    /// Converts the region into the buffer, and takes a loan into a lease that has held this memory before, as in a
    /// loop over rows. Returns the number of values; `None` if nothing is lent, and the buffer's values are then
    /// unspecified.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lease_few<N: NumericTable + ?Sized>(
        &mut self,
        table: &mut N,
        region: &Region,
        mode: ReadWriteMode,
    ) -> Option<usize> {
        let count = rows_times_columns(region).filter(|&count| count <= self.buffer.capacity())?;
        if self.held.is_some() || mode != ReadWriteMode::ReadWrite {
            return None;
        }
        let target = AnySliceMut::new(&mut self.buffer.as_mut_slice()[..count]);
        let policy = self.policy.unwrap_or(ConversionPolicy::Saturate);
        let is_lent = table.lend_few(region, target, policy, &mut self.lease, Token::new());
        is_lent.then(|| {
            record_read(table, region, U::TYPE);
            count
        })
    }

    #[inline(never)]
    fn lease_converted<N: NumericTable + ?Sized>(
        &mut self,
        table: &mut N,
        region: &Region,
        kind: BlockKind,
        mode: ReadWriteMode,
    ) -> Result<()> {
        region.check(table.shape())?;
        let count = region.shape().element_count_of(U::TYPE)?;
        if mode.is_readable() {
            self.read_buffer(table, region)?;
        } else {
            self.buffer.clear(count)?;
        }
        if self.held.is_some() {
            table.check_region_writable(region, Token::new())?; // the held block is dropped, but not on an error
            self.held = None;
        }
        self.lease.reset(region); // a table that lends nothing may not have set the region
        if let Err(error) = lend::lend_region(table, region, None, &mut self.lease) {
            return Err(self.refuse(Err(error), region));
        }
        let (table, region, place) = (table.id(), region.clone(), Place::Buffer(count));
        self.held = Some(Held { table, kind, mode, region, place });
        Ok(())
    }

    /// Takes a block for reading.
    // Passes ranges, like `lease`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::block) fn read<N: NumericTable + ?Sized>(
        &mut self,
        table: &N,
        (rows, columns): (Range<usize>, Range<usize>),
        kind: BlockKind,
    ) -> Result<()> {
        self.check_free()?;
        let region = Region { rows: rows.clone(), columns: columns.clone() };
        if let Some((array, range)) = lend::array_of(table, &region, U::TYPE)?
            && let Some(array) = array.downcast::<U>()
        {
            if range.start > range.end || range.end > array.len() {
                return Err(Error::new(ErrorKind::OutOfRange { what: "elements", range, count: array.len() }));
            }
            check_count(&array[range.clone()], region.shape().element_count()?)?;
            self.hold(table, Region { rows, columns }, kind, Place::Shared(array.part(range)));
            return Ok(());
        }
        let count = self.read_buffer(table, &region)?;
        self.hold(table, Region { rows, columns }, kind, Place::Buffer(count));
        Ok(())
    }

    /// Converts the region into the buffer and returns its number of values.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read_buffer<N: NumericTable + ?Sized>(&mut self, table: &N, region: &Region) -> Result<usize> {
        let policy = self.policy.unwrap_or(ConversionPolicy::Saturate);
        let is_needed = matches!(self.held, Some(Held { place: Place::Buffer(_), .. }));
        let count = match rows_times_columns(region) {
            Some(count) if count <= self.buffer.capacity() => {
                let target = AnySliceMut::new(&mut self.buffer.as_mut_slice()[..count]);
                if !is_needed && table.read_few(region, target, policy, Token::new()) {
                    record_read(table, region, U::TYPE);
                    return Ok(count);
                }
                count // the table checks the region
            }
            _ => {
                region.check(table.shape())?;
                region.shape().element_count_of(U::TYPE)?
            }
        };
        self.buffer.read(table, region, count, policy, is_needed)?;
        Ok(count)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn hold<N: NumericTable + ?Sized>(&mut self, table: &N, region: Region, kind: BlockKind, place: Place<U>) {
        self.held = Some(Held { table: table.id(), kind, mode: ReadWriteMode::ReadOnly, region, place });
    }

    /// Releases the block, for `release_block_of_*`. On an error the block is kept.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(in crate::block) fn release<N: NumericTable + ?Sized>(&mut self, table: &mut N, kind: BlockKind) -> Result<()> {
        match &self.held {
            Some(held) if held.table == table.id() && held.kind == kind => {
                if held.mode.is_writable() {
                    let mut is_back = false;
                    if let Place::Buffer(count) = held.place {
                        let policy = self.policy.unwrap_or(ConversionPolicy::Checked);
                        let rule = WriteRule { policy, keep_unchanged: held.mode.is_readable() };
                        let values = AnySlice::new(&self.buffer.as_slice()[..count]);
                        is_back = lend::write_lent(table, &mut self.lease, values, rule)?;
                        record_written_back(count, U::TYPE);
                    }
                    if !is_back {
                        lend::take_back(table, &mut self.lease)?;
                        if !self.lease.is_empty() {
                            self.lease.end(); // a table that says it has taken the memory, and has not, finds it
                        }
                    }
                }
                self.held = None;
                Ok(())
            }
            _ => Err(self.mismatch(table.id(), kind)),
        }
    }

    /// Returns why a block cannot be released.
    #[cold]
    fn mismatch(&self, table: TableId, expected: BlockKind) -> Error {
        let actual = self.held.as_ref().map(|held| held.kind);
        match &self.held {
            Some(held) if held.table != table => Error::new(ErrorKind::WrongTable),
            _ => Error::new(ErrorKind::WrongBlockKind { expected, actual }),
        }
    }

    /// Checks that no writable block is held. The caller must release or discard one first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn check_free(&self) -> Result<()> {
        match &self.held {
            Some(held) if held.mode.is_writable() => {
                Err(Error::new(ErrorKind::BlockOutstanding { rows: held.region.rows.clone() }))
            }
            _ => Ok(()),
        }
    }
}

#[inline]
fn rows_times_columns(region: &Region) -> Option<usize> {
    let Shape { rows, columns } = region.shape();
    rows.checked_mul(columns)
}
