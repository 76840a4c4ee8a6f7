//! A whole table file, laid out and written in one pass.

use super::header;
use super::preamble::{PREAMBLE_BYTES, Preamble};
use crate::base::element::Element;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::files::checksum::{RunSums, merge};
use crate::files::output::{Lines, Output, PayloadWriter};
use crate::files::position::Sink;
use crate::files::progress::{Hook, Meter};
use crate::files::zeroed;
use crate::table::DataLayout;

/// The content of a file to be written.
pub(super) struct TableContent<'a, T> {
    pub(super) lines: &'a dyn Lines<T>,
    pub(super) layout: DataLayout,
    pub(super) dictionary: &'a DataDictionary,
}

/// The layout of a whole file. Everything that can be checked before values are read has been checked.
pub(super) struct FilePlan<'a, T> {
    lines: &'a dyn Lines<T>,
    header: Vec<u8>,
    preamble: Preamble,
}

impl<'a, T: Element> FilePlan<'a, T> {
    /// Lays out a file.
    ///
    /// # Errors
    /// [`Error::Format`] if the dictionary is too long; [`Error::SizeOverflow`], [`Error::DictionaryMismatch`] if a
    /// user's own kind of table contradicts itself; [`Error::OutOfMemory`].
    pub(super) fn new(content: &TableContent<'a, T>, chunk_size: u32) -> Result<Self> {
        let &TableContent { lines, layout, dictionary } = content;
        let shape = match layout {
            DataLayout::RowMajor => lines.shape(),
            DataLayout::ColumnMajor => Shape { rows: lines.shape().columns, columns: lines.shape().rows },
        };
        let payload_length = (shape.element_count_of(T::TYPE)? * size_of::<T>()) as u64;
        dictionary.check(shape.columns, T::TYPE)?;
        let header = header::encode(T::TYPE, layout, shape, dictionary)?;
        let preamble = Preamble::new(&header, payload_length, chunk_size)?;
        Ok(Self { lines, header, preamble })
    }

    /// Writes the file. Its first bytes are written last, so that an incomplete file is never taken for a table.
    pub(super) fn write<S: Sink>(&self, output: &Output<'_, S>, hook: &Hook) -> Result<()> {
        let Self { lines, header, preamble } = self;
        output.reserve(preamble.file_length)?;
        let meter = Meter::start(hook, preamble.payload_length);
        let (offset, chunk_size) = (preamble.payload_offset, preamble.chunk_size);
        let runs = PayloadWriter { output, offset, chunk_size, meter: Some(&meter) }.write(*lines, 0)?;
        write_checksums(output, preamble, runs)?;
        lines.check_unchanged()?;
        write_front(output, preamble, header)
    }
}

/// Writes everything before the values.
pub(super) fn write_front<S: Sink>(output: &Output<'_, S>, preamble: &Preamble, header: &[u8]) -> Result<()> {
    let room = PREAMBLE_BYTES + header.len();
    let mut front = zeroed(preamble.payload_offset as usize)?; // the header is short
    front[..PREAMBLE_BYTES].copy_from_slice(&preamble.encode());
    front[PREAMBLE_BYTES..room].copy_from_slice(header);
    output.write(&front, 0)
}

/// Writes everything after the values: their checksums, from runs that together cover all of them.
pub(super) fn write_checksums<S: Sink>(output: &Output<'_, S>, preamble: &Preamble, runs: Vec<RunSums>) -> Result<()> {
    if preamble.chunk_size == 0 {
        return Ok(());
    }
    let count = preamble.chunk_count();
    let padding = (preamble.checksums_offset() - preamble.payload_end()) as usize;
    let room = (count as usize).saturating_mul(4).saturating_add(padding + 8);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
    bytes.resize(padding, 0);
    bytes.extend(count.to_le_bytes());
    merge(runs, |sum| {
        bytes.extend(sum.to_le_bytes());
        Ok(())
    })?;
    output.write(&bytes, preamble.payload_end())
}
