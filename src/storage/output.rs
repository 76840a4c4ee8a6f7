//! Writing files: one pass over the values, in parallel if there are many.

use std::ops::Range;
use std::path::Path;

use super::byte_order::swap_if_big_endian;
use super::checksum::RunSums;
use super::position::Sink;
use super::{PIECE_BYTES, run_length, zeroed};
use crate::array::AnyArray;
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::range;
use crate::base::shape::Shape;
use crate::window::{AnySlice, AnySliceMut};

/// Number of bytes that are written at a time if the memory has the same order as the file. System calls on one file
/// are serialized, and a few long ones are faster than many short ones. Pieces end at multiples of this in the file, so
/// that the system keeps the bytes in large pages.
const WRITE_BYTES: usize = 4 << 20;

/// Values in the order of a file, line by line. A line is a row, or a column if the file is column-major.
pub(crate) trait Lines: Sync {
    /// Returns the number of lines and the number of values in each line.
    fn shape(&self) -> Shape;
    /// Returns all values if they have this type and are contiguous in memory in this order.
    fn as_slice(&self, element: ElementType) -> Option<AnySlice<'_>>;
    /// Copies consecutive values into `target`, converted to its type.
    fn read(&self, range: Range<usize>, target: AnySliceMut<'_>) -> Result<()>;
    /// Checks that the shape has not changed since the lines were created, and that the element type is the given one,
    /// if either can change.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeMismatch`], [`ErrorKind::ElementTypeMismatch`].
    fn check_unchanged(&self, element: ElementType) -> Result<()> {
        let _ = element;
        Ok(())
    }
}

/// A file that is being written, and its path as the caller wrote it.
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

    /// Begins a file of exactly `length` bytes. All of them are written before it is complete.
    pub(crate) fn begin(&self, length: u64) -> Result<()> {
        self.sink.begin(length).map_err(|source| Error::io(self.path, source))
    }
}

/// The values of a file that is being written.
pub(crate) struct PayloadWriter<'a, S> {
    pub(crate) output: &'a Output<'a, S>,
    /// The position of the values in the file.
    pub(crate) offset: u64,
    /// Bytes of values per checksum; 0 for none.
    pub(crate) chunk_size: u32,
    pub(crate) meter: Option<&'a Meter>,
}

impl<S: Sink> PayloadWriter<'_, S> {
    /// Writes values as an element type from a position in the payload, in parallel if there are many. Returns their
    /// checksums.
    pub(crate) fn write(&self, lines: &dyn Lines, element: ElementType, position: u64) -> Result<Vec<RunSums>> {
        let (count, size) = (lines.shape().element_count_of(element)?, element.size_in_bytes());
        let is_in_memory = lines.as_slice(element).is_some();
        let length = match self.chunk_size == 0 && is_in_memory && !self.output.sink.is_parallel() {
            true => count, // several threads would only wait for one another
            false => run_length(count * size) / size,
        };
        let runs = range::cut(0..count, length).collect();
        parallel::map(runs, |run| self.write_run(lines, element, run, position)).into_iter().collect()
    }

    /// Like [`write`](Self::write), but also checks that the values have not changed meanwhile.
    pub(crate) fn write_unchanged(&self, lines: &dyn Lines, element: ElementType, at: u64) -> Result<Vec<RunSums>> {
        let runs = self.write(lines, element, at)?;
        lines.check_unchanged(element)?;
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
    fn write_run(&self, lines: &dyn Lines, element: ElementType, run: Range<usize>, position: u64) -> Result<RunSums> {
        let size = element.size_in_bytes();
        let mut position = position + (run.start * size) as u64;
        let mut sums = RunSums::new(self.chunk_size, position, run.len() * size)?;
        let before = WRITE_BYTES - ((self.offset + position) % WRITE_BYTES as u64) as usize;
        let first_end = run.start + run.len().min(before / size);
        for part in [run.start..first_end, first_end..run.end] {
            for_each_piece(lines, element, part, &mut |bytes| {
                sums.update(bytes);
                self.output.write(bytes, self.offset + position)?;
                position += bytes.len() as u64;
                if let Some(meter) = self.meter {
                    meter.add(bytes.len() as u64);
                }
                Ok(())
            })?;
        }
        Ok(sums)
    }
}

/// Calls `take` with the bytes of consecutive values of an element type in the form stored in files, piece by piece.
pub(crate) fn for_each_piece(
    lines: &dyn Lines,
    element: ElementType,
    run: Range<usize>,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let size = element.size_in_bytes();
    let in_memory = lines.as_slice(element).filter(|_| cfg!(target_endian = "little") || size == 1);
    let (step, mut buffer) = match in_memory {
        Some(_) => (WRITE_BYTES / size, AnyArray::zeros(element, 0)?),
        None => (PIECE_BYTES / size, AnyArray::zeros(element, run.len().min(PIECE_BYTES / size))?),
    };
    for piece in range::cut(run.clone(), step) {
        match in_memory {
            Some(values) => take(values.range(piece).bytes())?,
            None => {
                let mut target = buffer.need_mutable_data()?.range(0..piece.len());
                lines.read(piece, target.reborrow())?;
                let bytes = target.into_bytes();
                swap_if_big_endian(bytes, size);
                take(bytes)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    struct Floats {
        values: Vec<f32>,
        are_in_memory: bool,
    }

    impl Lines for Floats {
        fn shape(&self) -> Shape {
            Shape { rows: self.values.len(), columns: 1 }
        }

        fn as_slice(&self, _: ElementType) -> Option<AnySlice<'_>> {
            self.are_in_memory.then(|| AnySlice::new(&self.values))
        }

        fn read(&self, range: Range<usize>, target: AnySliceMut<'_>) -> Result<()> {
            target.downcast::<f32>().unwrap().copy_from_slice(&self.values[range]);
            Ok(())
        }
    }

    /// The pieces that were written, with their positions.
    #[derive(Default)]
    struct Pieces(Mutex<Vec<(u64, Vec<u8>)>>);

    impl Sink for Pieces {
        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((offset, bytes.to_vec()));
            Ok(())
        }

        fn reserve(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pieces_hold_all_values_in_order_and_end_at_multiples_in_the_file() {
        const MULTIPLE: usize = WRITE_BYTES / size_of::<f32>();
        for (count, offset) in [(0, 128), (1, 128), (MULTIPLE - 32, 128), (MULTIPLE, 4096), (2 * MULTIPLE + 7, 128)] {
            for (are_in_memory, chunk_size) in [(true, 0), (true, 1 << 20), (false, 0)] {
                let lines = Floats { values: (0..count).map(|index| index as f32).collect(), are_in_memory };
                let sink = Pieces::default();
                let output = Output { sink: &sink, path: Path::new("file") };
                let payload = PayloadWriter { output: &output, offset, chunk_size, meter: None };
                payload.write_unchanged(&lines, ElementType::F32, 0).unwrap();
                let mut pieces = sink.0.into_inner().unwrap();
                pieces.sort();
                let mut end = offset;
                for (start, bytes) in &pieces {
                    assert_eq!(*start, end);
                    end += bytes.len() as u64;
                    assert!(!bytes.is_empty() && *start / WRITE_BYTES as u64 == (end - 1) / WRITE_BYTES as u64);
                }
                let written: Vec<u8> = pieces.into_iter().flat_map(|(_, bytes)| bytes).collect();
                assert!(written == lines.values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>());
            }
        }
    }
}
