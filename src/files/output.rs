//! Writing files: one pass over the values, in parallel if there are many.

use std::ops::Range;
use std::path::Path;

use super::byte_order::swap_if_big_endian;
use super::checksum::RunSums;
use super::position::Sink;
use super::{PIECE_BYTES, run_length, zeroed};
use crate::array::Array;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::shape::Shape;

/// Number of bytes that are written at a time if they lie in memory as they do in the file: system calls on one file
/// are serialized, and a few long ones are faster than many short ones.
const WRITE_BYTES: usize = 4 << 20;

/// Values in the order of a file: line by line, where a line is a row, or a column if the file is column-major.
pub(crate) trait Lines<T>: Sync {
    /// Returns the number of lines, and of values in each of them.
    fn shape(&self) -> Shape;
    /// Returns all values, if they are contiguous in memory in this order.
    fn as_slice(&self) -> Option<&[T]>;
    /// Copies consecutive values into `target`.
    fn read(&self, range: Range<usize>, target: &mut [T]) -> Result<()>;
    /// Checks that shape and element type have not changed since the lines were created.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`], [`ErrorKind::ElementTypeMismatch`].
    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }
}

/// A file that is being written, and the caller's path of it.
pub(crate) struct Output<'a, S> {
    pub(crate) sink: &'a S,
    pub(crate) path: &'a Path,
}

impl<S: Sink> Output<'_, S> {
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.sink.write_at(bytes, offset).map_err(|source| Error::io(self.path, source))
    }

    /// Reserves disk space for a file of `length` bytes.
    pub(crate) fn reserve(&self, length: u64) -> Result<()> {
        self.sink.reserve(length).map_err(|source| Error::io(self.path, source))
    }

    /// Begins a file of exactly `length` bytes, all of which are written before it is complete.
    pub(crate) fn begin(&self, length: u64) -> Result<()> {
        self.sink.begin(length).map_err(|source| Error::io(self.path, source))
    }
}

/// The values of a file that is being written.
pub(crate) struct PayloadWriter<'a, S> {
    pub(crate) output: &'a Output<'a, S>,
    /// Where the values begin in the file.
    pub(crate) offset: u64,
    /// Bytes of values per checksum; 0 for none.
    pub(crate) chunk_size: u32,
    pub(crate) meter: Option<&'a Meter>,
}

impl<S: Sink> PayloadWriter<'_, S> {
    /// Writes values from a position in the payload, in parallel if there are many, and returns their checksums.
    pub(crate) fn write<T: Element>(&self, lines: &dyn Lines<T>, position: u64) -> Result<Vec<RunSums>> {
        let count = lines.shape().element_count_of(T::TYPE)?;
        let is_only_written = self.chunk_size == 0 && lines.as_slice().is_some() && !self.output.sink.is_parallel();
        let length = match is_only_written {
            true => count, // several threads would only wait for one another
            false => run_length(count * size_of::<T>()) / size_of::<T>(),
        };
        let runs = (0..count).step_by(length.max(1)).map(|start| start..count.min(start + length)).collect();
        parallel::map(runs, |run| self.write_run(lines, run, position)).into_iter().collect()
    }

    /// Like [`write`](Self::write), and checks that the values have not become others meanwhile.
    pub(crate) fn write_unchanged<T: Element>(&self, lines: &dyn Lines<T>, position: u64) -> Result<Vec<RunSums>> {
        let runs = self.write(lines, position)?;
        lines.check_unchanged()?;
        Ok(runs)
    }

    /// Writes zeros to a short range of positions. Returns their checksums.
    pub(crate) fn write_zeros(&self, range: Range<u64>) -> Result<RunSums> {
        let zeros = zeroed((range.end - range.start) as usize)?;
        let mut sums = RunSums::new(self.chunk_size, range.start, zeros.len())?;
        sums.update(&zeros);
        self.output.write(&zeros, self.offset + range.start)?;
        if let Some(meter) = self.meter {
            meter.add(zeros.len() as u64);
        }
        Ok(sums)
    }

    /// Writes consecutive values piece by piece, and computes their checksums while they are in the cache.
    fn write_run<T: Element>(&self, lines: &dyn Lines<T>, run: Range<usize>, position: u64) -> Result<RunSums> {
        let mut position = position + (run.start * size_of::<T>()) as u64;
        let mut sums = RunSums::new(self.chunk_size, position, run.len() * size_of::<T>())?;
        for_each_piece(lines, run, &mut |bytes| {
            sums.update(bytes);
            self.output.write(bytes, self.offset + position)?;
            position += bytes.len() as u64;
            if let Some(meter) = self.meter {
                meter.add(bytes.len() as u64);
            }
            Ok(())
        })?;
        Ok(sums)
    }
}

/// Calls `take` with the bytes of consecutive values, as they are in files, piece by piece.
pub(crate) fn for_each_piece<T: Element>(
    lines: &dyn Lines<T>,
    run: Range<usize>,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = size_of::<T>();
    let in_memory = lines.as_slice().filter(|_| cfg!(target_endian = "little") || size == 1);
    let (step, mut buffer) = match in_memory {
        Some(_) => (WRITE_BYTES / size, Array::new()),
        None => (PIECE_BYTES / size, Array::<T>::zeros(run.len().min(PIECE_BYTES / size))?),
    };
    for start in run.clone().step_by(step) {
        let piece = start..run.end.min(start + step);
        match in_memory {
            Some(values) => take(bytemuck::cast_slice(&values[piece]))?,
            None => {
                let target = &mut buffer.mutable_data()?[..piece.len()];
                lines.read(piece, target)?;
                let bytes = bytemuck::cast_slice_mut(target);
                swap_if_big_endian(bytes, size);
                take(bytes)?;
            }
        }
    }
    Ok(())
}
