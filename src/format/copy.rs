//! Copying rows from one table file to another.
//!
//! If both files have the same element type and contiguous rows, the bytes of the rows are the same in both. The system
//! copies them from file to file if the target has no checksums, or if its chunks are chunks of the source, whose
//! checksums are then copied too, so that damage to the source is also found in the target. Everything else is read and
//! written: parts of chunks at the ends, chunks that begin elsewhere, data that the system does not copy, and converted
//! values.

use std::fs::File;
use std::io;
use std::ops::{Range, RangeBounds};

use super::file::TableFile;
use super::reader::TableReader;
use super::writer::{Draft, TableWriter};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::range;
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::convert::kernel::{self, Origin};
use crate::storage::checksum::RunSums;
use crate::storage::output::PayloadWriter;
use crate::storage::position::copy_in_system;
use crate::storage::stored::Stored;
use crate::storage::{PIECE_BYTES, run_length, zeroed};
use crate::window::AnyWindow;

/// Minimum number of bytes that are converted at a time, if that many are left: enough for several threads.
const BLOCK_BYTES: usize = parallel::MIN_BYTES;

/// Maximum number of bytes that the system is asked to copy at a time, because it handles no signals meanwhile.
const SYSTEM_BYTES: u64 = 1 << 30;

/// Copies bytes between positions of two files inside the system. See [`copy_in_system`].
type SystemCopy<'a> = dyn Fn(&File, u64, &File, u64, usize) -> io::Result<usize> + Sync + 'a;

impl<T: Element> TableWriter<T> {
    /// Appends consecutive rows of another file, all or nothing. Values of another type are converted under
    /// [`ConversionPolicy::Checked`], in blocks of a few MiB.
    ///
    /// If the types are the same and the source is row-major, values are copied without interpretation, and NaN keep
    /// their bits. On Linux, the system copies complete chunks of such rows (`copy_file_range`): they do not pass
    /// through this program's memory, and some file systems need neither time nor space for it. This requires that the
    /// target has no checksums, or that both files have the same [chunk size](crate::files::SaveOptions::checksums) and
    /// the rows begin at the same place of a chunk in both, as at the beginning of both. All other rows are read and
    /// written, in parallel.
    ///
    /// The target's checksums are copied from the source, or computed while the bytes are read. If at least one chunk
    /// is copied, the source's checksums are compared wherever its bytes are read. Damage to the source is therefore
    /// detected: it is either an error now, or the target is damaged like the source, which
    /// [`verify`](crate::files::verify) and loading detect. This does not hold for less than a chunk, for converted
    /// values, and for files without checksums.
    ///
    /// The names and meanings of the columns come from the dictionary that this file was created with. Only the labels
    /// of categories are compared with those of the reader, because other labels would change the meaning of indices.
    /// Progress is reported once all rows are copied.
    ///
    /// # Errors
    /// [`ErrorKind::RowsOutOfRange`]; [`ErrorKind::UnequalTables`] if labels or units of times differ;
    /// [`ErrorKind::ValueNotRepresentable`] with the row in this file; [`ErrorKind::SizeOverflow`]; [`ErrorKind::Io`],
    /// also if the rows would be read from the file that is overwritten [in
    /// place](crate::files::SaveOptions::in_place); [`ErrorKind::Format`] if the source is damaged or has become
    /// shorter; [`ErrorKind::OutOfMemory`]. On error, nothing is appended, and the writer can still be used.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::{TableReader, TableWriter}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let [monday, tuesday, both] = ["1.ntb", "2.ntb", "12.ntb"].map(|name| folder.path().join(name));
    /// HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]])?.save(&monday)?;
    /// HomogenNumericTable::from_rows(&[[5_i64, 6], [7, 8], [9, 10]])?.save(&tuesday)?;
    ///
    /// let (monday, tuesday) = (TableReader::open(&monday)?, TableReader::open(&tuesday)?);
    /// let mut writer = TableWriter::<f32>::create(&both, 2, monday.dictionary().clone())?;
    /// writer.copy_rows(&monday, ..)?; // copied without conversion
    /// writer.copy_rows(&tuesday, 1..)?; // converted
    /// let error = writer.copy_rows(&tuesday, 1..4).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 3, .. }));
    /// writer.finish()?;
    /// assert_eq!(HomogenNumericTable::<f32>::load(&both)?.as_slice()?, [1.5, 2.0, 3.0, 4.0, 7.0, 8.0, 9.0, 10.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copy_rows(&mut self, reader: &TableReader, rows: impl RangeBounds<usize>) -> Result<()> {
        self.copy_rows_by(reader, rows, &copy_in_system)
    }

    fn copy_rows_by(
        &mut self,
        reader: &TableReader,
        rows: impl RangeBounds<usize>,
        system: &SystemCopy<'_>,
    ) -> Result<()> {
        let (rows, file) = (reader.checked_rows(rows)?, &reader.file);
        self.check_columns(file.shape.columns, reader.dictionary())?;
        self.size_with(rows.len())?;
        if self.new.overwrites(file.parts.file(), file.parts.path()) {
            let reason = "the rows are in the file that is overwritten in place";
            let source = io::Error::new(io::ErrorKind::InvalidInput, reason);
            return Err(Error::io(self.new.path(), source));
        }
        if !file.has_rows_of(T::TYPE) {
            let first = self.rows;
            return self
                .append_by(rows.len(), &|payload, to| convert(reader, rows.clone(), (first, T::TYPE), payload, to));
        }
        let bytes = match file.shape.is_empty() {
            true => 0..0,
            false => file.size_of_rows(rows.start)..file.size_of_rows(rows.end),
        };
        self.append_by(rows.len(), &|payload, to| {
            let transfer = Transfer { source: &file.parts, bytes: bytes.clone(), payload, to, system };
            Ok(vec![transfer.run()?])
        })
    }
}

/// Reads rows, converts them to an element type, and writes them into the file, starting with its row `first`.
fn convert(
    reader: &TableReader,
    rows: Range<usize>,
    (first, target): (usize, ElementType),
    payload: &PayloadWriter<'_, Draft<'_>>,
    to: u64,
) -> Result<Vec<RunSums>> {
    let (columns, source, size) = (reader.shape().columns, reader.element_type(), target.size_in_bytes());
    let height = BLOCK_BYTES.div_ceil(columns * source.size_in_bytes().max(size)).min(rows.len());
    let mut sums = RunSums::new(payload.chunk_size, to, rows.len() * columns * size)?;
    let mut values = AnyArray::zeros(source, Shape { rows: height, columns }.element_count_of(source)?)?;
    let mut stored = Stored::new(source);
    for block in range::cut(rows.clone(), height) {
        let (block_rows, done) = (block.len(), block.start - rows.start);
        let read = values.need_mutable_data()?.range(0..block.len() * columns);
        reader.read_into(block, read, &mut stored, None)?;
        let read = values.as_slice().range(0..block_rows * columns);
        let lines = AnyWindow::of_rows(read, block_rows, columns);
        if source != target {
            let origin = Origin { row: first + done, column: 0 };
            kernel::check(lines, target, ConversionPolicy::Checked, origin)?;
        }
        let written = payload.write(&lines, target, to + (done * columns * size) as u64)?;
        written.into_iter().for_each(|run| sums.extend(run));
    }
    Ok(vec![sums])
}

/// Bytes of the values of one file that are copied to the values of another.
struct Transfer<'a> {
    source: &'a TableFile,
    /// Their range among the source's values.
    bytes: Range<u64>,
    payload: &'a PayloadWriter<'a, Draft<'a>>,
    /// Their start among the target's values.
    to: u64,
    system: &'a SystemCopy<'a>,
}

impl Transfer<'_> {
    fn run(&self) -> Result<RunSums> {
        self.source.check_values(self.bytes.clone())?;
        let mut sums = RunSums::new(self.payload.chunk_size, self.to, size(&self.bytes))?;
        let known = self.known();
        self.read_through(self.bytes.start..known.start, &mut sums)?;
        let end = self.copy_in_system(known.clone());
        self.take_over(known.start..end, &mut sums)?;
        self.read_through(end..self.bytes.end, &mut sums)?;
        Ok(sums)
    }

    /// Returns the bytes whose checksums are known or not needed: complete chunks of both files, if there are
    /// checksums.
    fn known(&self) -> Range<u64> {
        let (Range { start, end }, chunk) = (self.bytes.clone(), u64::from(self.payload.chunk_size));
        if chunk == 0 {
            return start..end;
        }
        let (first, last) = (start.next_multiple_of(chunk), end - end % chunk);
        let are_chunks = self.source.chunk_size() == self.payload.chunk_size && start % chunk == self.to % chunk;
        if are_chunks && first < last { first..last } else { start..start }
    }

    /// Returns the position of a byte of the source among the target's values.
    fn place(&self, at: u64) -> u64 {
        self.to + (at - self.bytes.start)
    }

    /// Lets the system copy bytes. Returns the position where it stopped, at a chunk boundary of the target.
    fn copy_in_system(&self, bytes: Range<u64>) -> u64 {
        let Some(new) = self.payload.output.sink.new else { return bytes.end }; // only a trial
        let mut at = bytes.start;
        while at < bytes.end
            && let Ok(target) = new.begun()
        {
            let count = (bytes.end - at).min(SYSTEM_BYTES);
            let (from, to) = (self.source.payload().start + at, self.payload.offset + self.place(at));
            match (self.system)(self.source.file(), from, target, to, count as usize) {
                Ok(copied @ 1..) => at += count.min(copied as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break, // reading and writing the rest reports why
            }
        }
        match u64::from(self.payload.chunk_size) {
            0 => at,
            chunk => at - (at - bytes.start) % chunk, // they begin with a chunk
        }
    }

    /// Copies the checksums of complete chunks.
    fn take_over(&self, bytes: Range<u64>, sums: &mut RunSums) -> Result<()> {
        if self.payload.chunk_size == 0 || bytes.is_empty() {
            return Ok(());
        }
        let chunk = u64::from(self.payload.chunk_size);
        let chunks = bytes.start / chunk..bytes.end / chunk;
        let mut stored = self.source.stored_sums(chunks.start)?;
        for _ in chunks {
            sums.push_known(u32::from_le_bytes(stored.next()?));
        }
        Ok(())
    }

    /// Reads and writes bytes, in parallel if there are many, and appends their checksums.
    fn read_through(&self, bytes: Range<u64>, sums: &mut RunSums) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let chunk = u64::from(self.source.chunk_size());
        let is_compared = chunk > 0 && self.bytes.end - self.bytes.start >= chunk;
        let read = match is_compared {
            true => {
                bytes.start - bytes.start % chunk..bytes.end.next_multiple_of(chunk).min(self.source.payload_length())
            }
            false => bytes.clone(),
        };
        let step = run_length(size(&read)).max(1) as u64;
        let starts = (0..(read.end - read.start).div_ceil(step)).map(|run| read.start + run * step).collect();
        let runs = parallel::map(starts, |start| self.read_run(start..read.end.min(start + step), is_compared, &bytes));
        let mut found = Vec::new();
        for run in runs {
            let (source, target) = run?;
            found.push(source);
            sums.extend(target);
        }
        if is_compared { self.source.check_sums_from(read.start / chunk, found) } else { Ok(()) }
    }

    /// Reads a run of the source and writes its bytes that are `wanted`. Returns the checksums of both.
    fn read_run(&self, run: Range<u64>, is_compared: bool, wanted: &Range<u64>) -> Result<(RunSums, RunSums)> {
        let within = |at: u64| at.clamp(wanted.start, wanted.end);
        let target = within(run.start)..within(run.end);
        let mut sums = RunSums::new(self.payload.chunk_size, self.place(target.start), size(&target))?;
        let mut source = self.source.run(run.clone(), is_compared)?;
        let mut buffer = zeroed(size(&run).min(PIECE_BYTES))?;
        for start in run.clone().step_by(PIECE_BYTES) {
            let end = run.end.min(start + PIECE_BYTES as u64);
            let bytes = &mut buffer[..size(&(start..end))];
            source.read(bytes)?;
            let kept = within(start)..within(end);
            if !kept.is_empty() {
                let bytes = &bytes[size(&(start..kept.start))..size(&(start..kept.end))];
                sums.update(bytes);
                self.payload.output.write(bytes, self.payload.offset + self.place(kept.start))?;
            }
        }
        Ok((source.into_sums(), sums))
    }
}

/// Returns the number of bytes of a range of a file, limited to half of the integer range. Positions beyond the integer
/// range of this machine are never reached, because the table would be refused.
fn size(bytes: &Range<u64>) -> usize {
    usize::try_from(bytes.end - bytes.start).unwrap_or(usize::MAX / 2)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::base::error::ErrorKind;
    use crate::output::TableOutput;
    use crate::storage::position::{Sink, read_at};
    use crate::{
        HomogenNumericTable,
        files::{SaveOptions, verify},
    };

    /// 300 rows of 6 bytes; a chunk ends with every 32nd row.
    const CHUNK: u32 = 64;
    const ROWS: usize = 300;

    fn options(chunk_size: Option<u32>) -> SaveOptions {
        SaveOptions::new().durable(false).checksums(chunk_size)
    }

    fn values() -> Vec<u16> {
        (0..ROWS as u16 * 3).map(|i| i.wrapping_mul(40_503)).collect()
    }

    fn source(folder: &Path, chunk_size: Option<u32>) -> (PathBuf, TableReader) {
        let path = folder.join("source.ntb");
        let table = HomogenNumericTable::from_array(values(), Shape { rows: ROWS, columns: 3 }).unwrap();
        table.save_with(&path, options(chunk_size)).unwrap();
        let reader = TableReader::open(&path).unwrap();
        (path, reader)
    }

    fn by_hand(source: &File, from: u64, target: &File, to: u64, count: usize) -> io::Result<usize> {
        let mut bytes = vec![0; count];
        read_at(source, &mut bytes, from)?;
        target.write_at(&bytes, to)?;
        Ok(count)
    }

    /// Copies parts of a file after existing rows, and compares the file with a saved one.
    fn check_copies(system: &SystemCopy<'_>) {
        let folder = tempfile::tempdir().unwrap();
        let [path, saved] = ["copy.ntb", "saved.ntb"].map(|name| folder.path().join(name));
        for source_chunks in [Some(CHUNK), None] {
            let (_, reader) = source(folder.path(), source_chunks);
            for chunk_size in [Some(CHUNK), None, Some(48), Some(1 << 20)] {
                for (before, rows) in
                    [(0, 0..300), (0, 32..300), (32, 0..300), (5, 37..299), (1, 0..300), (3, 250..251)]
                {
                    let mut writer = TableWriter::<u16>::create_with(&path, 3, None, options(chunk_size)).unwrap();
                    let mut expected = values()[..before * 3].to_vec();
                    writer.append(&expected).unwrap();
                    for rows in [rows.clone(), 300..300, 7..140] {
                        writer.copy_rows_by(&reader, rows.clone(), system).unwrap();
                        expected.extend(&values()[rows.start * 3..rows.end * 3]);
                    }
                    writer.append(&[1_u16, 2, 3]).unwrap();
                    expected.extend([1, 2, 3]);
                    writer.finish().unwrap();
                    let shape = Shape { rows: expected.len() / 3, columns: 3 };
                    let table = HomogenNumericTable::from_array(expected, shape).unwrap();
                    table.save_with(&saved, options(chunk_size)).unwrap();
                    assert!(fs::read(&path).unwrap() == fs::read(&saved).unwrap(), "{chunk_size:?} {before} {rows:?}");
                }
            }
        }
    }

    #[test]
    fn however_much_the_system_copies_the_file_is_the_one_that_is_saved() {
        check_copies(&copy_in_system);
        check_copies(&by_hand);
        for most in [1, 63, 64, 100] {
            check_copies(&|source, from, target, to, count| by_hand(source, from, target, to, count.min(most)));
        }
    }

    #[test]
    fn what_the_system_refuses_is_read_and_written() {
        for kind in [
            io::ErrorKind::Unsupported,
            io::ErrorKind::CrossesDevices,
            io::ErrorKind::InvalidInput,
            io::ErrorKind::Other,
        ] {
            check_copies(&|_, _, _, _, _| Err(kind.into())); // ENOSYS, EXDEV ...
            let calls = AtomicUsize::new(0);
            check_copies(&|source, from, target, to, count| match calls.fetch_add(1, Ordering::Relaxed) % 3 {
                2 => Err(kind.into()),
                _ => by_hand(source, from, target, to, count.min(100)),
            });
        }
        check_copies(&|_, _, _, _, _| Ok(0));
        let calls = AtomicUsize::new(0);
        check_copies(&|source, from, target, to, count| match calls.fetch_add(1, Ordering::Relaxed) % 3 {
            0 => by_hand(source, from, target, to, count.min(70)),
            1 => Err(io::ErrorKind::Interrupted.into()), // which is tried again
            _ => by_hand(source, from, target, to, count),
        });
    }

    #[test]
    fn whole_chunks_at_the_same_place_pass_the_system_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.ntb");
        let (_, reader) = source(folder.path(), Some(CHUNK));
        let copied = |chunk_size, before: usize, rows: Range<usize>| {
            let copied = AtomicUsize::new(0);
            let mut writer = TableWriter::<u16>::create_with(&path, 3, None, options(chunk_size)).unwrap();
            writer.append(&values()[..before * 3]).unwrap();
            let count = |source: &File, from, target: &File, to, count| {
                copied.fetch_add(count, Ordering::Relaxed);
                by_hand(source, from, target, to, count)
            };
            writer.copy_rows_by(&reader, rows, &count).unwrap();
            copied.into_inner()
        };
        assert_eq!(copied(Some(CHUNK), 0, 0..300), 28 * 64); // of 1800 bytes
        assert_eq!(copied(Some(CHUNK), 32, 64..300), 22 * 64); // of 1416 bytes
        assert_eq!(copied(Some(CHUNK), 1, 33..300), 24 * 64); // from row 33, which is within chunk 3
        assert_eq!(copied(Some(CHUNK), 1, 0..300), 0);
        assert_eq!(copied(Some(32), 0, 0..300), 0);
        assert_eq!(copied(None, 1, 0..300), 1800);
        assert_eq!(copied(None, 0, 7..8), 6);
    }

    #[test]
    fn damage_to_the_source_is_an_error_or_damage_to_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.ntb");
        for (chunk_size, damaged, is_refused) in [
            (Some(CHUNK), 130, false), // in chunk 2, which the system copies
            (Some(CHUNK), 1799, true), // in the last one, a part
            (Some(48), 130, true),
            (Some(1 << 20), 0, true),
        ] {
            let (path, reader) = source(folder.path(), Some(CHUNK));
            let mut bytes = fs::read(&path).unwrap();
            bytes[4096 + damaged] ^= 4;
            fs::write(&path, bytes).unwrap();
            let mut writer = TableWriter::<u16>::create_with(&copy, 3, None, options(chunk_size)).unwrap();
            let outcome = writer.copy_rows_by(&reader, .., &by_hand);
            let start = 4096 + damaged as u64 / 64 * 64;
            if is_refused {
                let error = outcome.unwrap_err();
                let ErrorKind::Format { offset, .. } = error.kind() else { panic!("{error:?}") };
                assert_eq!((error.path(), *offset), (Some(path.as_path()), start));
                assert_eq!(writer.shape().rows, 0);
                writer.append(&[1_u16, 2, 3]).unwrap();
                writer.finish().unwrap();
                assert_eq!(HomogenNumericTable::<u16>::load(&copy).unwrap().as_slice().unwrap(), [1, 2, 3]);
            } else {
                outcome.unwrap();
                writer.finish().unwrap();
                assert!(
                    verify(&copy).is_err_and(
                        |error| matches!(error.kind(), ErrorKind::Format { offset, .. } if *offset == start)
                    )
                );
            }
        }
    }

    #[test]
    fn a_source_that_becomes_shorter_while_the_system_copies_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.ntb");
        for most in [0, 64, 1000] {
            for chunk_size in [Some(CHUNK), None] {
                let (path, reader) = source(folder.path(), Some(CHUNK));
                let mut writer = TableWriter::<u16>::create_with(&copy, 3, None, options(chunk_size)).unwrap();
                writer.append(&values()[..96]).unwrap(); // three chunks
                let calls = AtomicUsize::new(0);
                let cut = |source: &File, from, target: &File, to, count: usize| {
                    if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                        OpenOptions::new().write(true).open(&path)?.set_len(from + most)?;
                    }
                    by_hand(source, from, target, to, count.min(most as usize))
                };
                let outcome = writer.copy_rows_by(&reader, 32.., &cut);
                assert!(
                    outcome.as_ref().is_err_and(
                        |error| matches!(error.kind(), ErrorKind::Format { reason, .. } if reason.contains("shorter"))
                    ),
                    "{outcome:?}"
                );
                assert_eq!(writer.shape().rows, 32);
                writer.finish().unwrap();
                assert_eq!(verify(&copy).unwrap(), chunk_size.is_some());
                assert_eq!(HomogenNumericTable::<u16>::load(&copy).unwrap().as_slice().unwrap(), &values()[..96]);
            }
        }
    }
}
