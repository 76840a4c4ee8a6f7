//! Reading many values, in pieces that stay in the processor's cache while they are read, checked and converted, and in
//! parallel runs of pieces if there are many.

use std::ops::Range;

use super::file::{Run, TableFile};
use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::error::Result;
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::storage::byte_order::swap_if_big_endian;
use crate::storage::checksum::RunSums;
use crate::storage::stored::Stored;
use crate::storage::{PIECE_BYTES, run_length};
use crate::window::AnySliceMut;

/// Values of one type in a file, and the meter that counts them as they are read.
pub(super) struct FileValues<'a> {
    pub(super) file: &'a TableFile,
    /// The element type in the file.
    pub(super) element_type: ElementType,
    /// The position of the first one, relative to the first value of the file.
    pub(super) position: u64,
    pub(super) meter: Option<&'a Meter>,
}

impl FileValues<'_> {
    /// Reads values, beginning with the first one, converted if the file holds another type. Returns their checksums,
    /// which the caller must compare.
    pub(super) fn load<T: Element>(&self, count: usize) -> Result<(Array<T>, Vec<RunSums>)> {
        let mut array = Array::<T>::zeros(count)?;
        let target = AnySliceMut::new(array.mutable_data()?);
        let runs = self.read_runs(0, target, true, &mut Stored::new(self.element_type))?;
        Ok((array, runs))
    }

    /// Reads consecutive values from index `first`, converted if the file holds another type, without verifying
    /// checksums. `stored` is a buffer for the file's values.
    pub(super) fn read(&self, first: usize, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<()> {
        self.read_runs(first, target, false, stored).map(drop)
    }

    /// Reads consecutive values, beginning with the first one, into a target. Otherwise like [`load`](Self::load).
    pub(super) fn read_summed(&self, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<Vec<RunSums>> {
        self.read_runs(0, target, true, stored)
    }

    fn read_runs(
        &self,
        first: usize,
        target: AnySliceMut<'_>,
        are_summed: bool,
        stored: &mut Stored,
    ) -> Result<Vec<RunSums>> {
        let size = self.element_type.size_in_bytes();
        let length = (run_length(target.len() * size) / size).max(1);
        let read_run = |start: usize, target: AnySliceMut<'_>, stored: &mut Stored| -> Result<RunSums> {
            let start = self.position + ((first + start) * size) as u64;
            let mut run = self.file.run(start..start + (target.len() * size) as u64, are_summed)?;
            for (_, piece) in target.pieces(PIECE_BYTES / size) {
                self.read_converted(&mut run, piece, stored)?;
            }
            Ok(run.into_sums())
        };
        if target.len() <= length {
            return Ok(vec![read_run(0, target, stored)?]);
        }
        let pieces = target.pieces(length).collect();
        let runs =
            parallel::map(pieces, |(start, target)| read_run(start, target, &mut Stored::new(self.element_type)));
        runs.into_iter().collect()
    }

    fn read_converted(&self, run: &mut Run<'_>, target: AnySliceMut<'_>, stored: &mut Stored) -> Result<()> {
        if self.element_type == target.element_type() {
            let bytes = target.into_bytes();
            self.read_piece(run, bytes)?;
            swap_if_big_endian(bytes, self.element_type.size_in_bytes());
            return Ok(());
        }
        self.read_piece(run, stored.room(target.len())?)?;
        let shape = Shape { rows: target.len(), columns: 1 };
        stored.convert(shape, target)
    }

    fn read_piece(&self, run: &mut Run<'_>, bytes: &mut [u8]) -> Result<()> {
        run.read(bytes)?;
        if let Some(meter) = self.meter {
            meter.add(bytes.len() as u64);
        }
        Ok(())
    }
}

/// Reads bytes that no value needs, to compute their checksums.
pub(super) fn skip(file: &TableFile, bytes: Range<u64>, meter: Option<&Meter>) -> Result<RunSums> {
    let mut run = file.run(bytes.clone(), true)?;
    run.skip(bytes.end - bytes.start, meter)?;
    Ok(run.into_sums())
}

/// Reads all values of a file and compares their checksums, if there are any. Returns whether there are any.
pub(super) fn verify(file: &TableFile, meter: Option<&Meter>) -> Result<bool> {
    let length = file.payload_length();
    if !file.has_checksums() {
        if let Some(meter) = meter {
            meter.add(length); // nothing to do
        }
        return Ok(false);
    }
    // A file may be longer than `usize::MAX`: its run length is then that of a file half as long.
    let step = run_length(usize::try_from(length).unwrap_or(usize::MAX / 2)).max(1) as u64;
    let starts = (0..length.div_ceil(step)).map(|run| run * step);
    let runs = parallel::map(starts.collect(), |start| skip(file, start..length.min(start + step), meter));
    file.check_sums(runs.into_iter().collect::<Result<_>>()?)?;
    Ok(true)
}
