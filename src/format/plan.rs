//! The layout of a whole table file, which is written in one pass.

use super::arrays::ArraysPlan;
use super::header::{self, EncodedHeader};
use super::preamble::{PREAMBLE_BYTES, Preamble};
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::{Hook, Meter};
use crate::base::trace::{self, CopyKind};
use crate::lines::AnyLines;
use crate::storage::checksum::{RunSums, merge};
use crate::storage::output::{Output, PayloadWriter};
use crate::storage::position::Sink;
use crate::storage::zeroed;
use crate::table::NumericTable;
use crate::table::content::{Content, Form};

/// The layout of a file. Everything that can be checked before reading values has been checked.
pub(super) enum FilePlan<'t> {
    /// A homogeneous table of this type, line by line.
    Lines { element: ElementType, lines: AnyLines<'t>, header: EncodedHeader, preamble: Preamble },
    /// Any other table.
    Arrays(ArraysPlan<'t>),
}

impl<'t> FilePlan<'t> {
    /// Lays out the file of a table.
    ///
    /// # Errors
    /// The errors of an unreadable table; [`ErrorKind::Format`] if the dictionary is too long;
    /// [`ErrorKind::SizeOverflow`], [`ErrorKind::DictionaryMismatch`] if a user-defined table contradicts itself;
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn new(table: &'t (dyn NumericTable + 't), chunk_size: u32) -> Result<Self> {
        let (element, dictionary) = match Content::of(table)? {
            Form::Arrays(content) => return Ok(Self::Arrays(ArraysPlan::new(content, chunk_size)?)),
            Form::OneType(element, dictionary) => (element, dictionary),
        };
        let lines = AnyLines::in_order(table)?;
        let shape = lines.table_shape();
        let payload_length = (shape.element_count_of(element)? * element.size_in_bytes()) as u64;
        dictionary.check(shape.columns, element)?;
        let header = header::encode(element, lines.layout(), shape, dictionary)?;
        let preamble = Preamble::new(&header, payload_length, chunk_size)?;
        Ok(Self::Lines { element, lines, header, preamble })
    }

    pub(super) fn parts(&self) -> (&Preamble, &EncodedHeader) {
        match self {
            Self::Lines { preamble, header, .. } => (preamble, header),
            Self::Arrays(plan) => (&plan.preamble, &plan.header),
        }
    }

    /// Writes the file. Its first bytes are written last, so that readers refuse an incomplete file.
    pub(super) fn write<S: Sink>(&self, output: &Output<'_, S>, hook: &Hook) -> Result<()> {
        let (preamble, header) = self.parts();
        output.begin(preamble.file_length)?;
        let meter = Meter::start(hook, preamble.payload_length);
        let (offset, chunk_size) = (preamble.payload_offset, preamble.chunk_size);
        let payload = PayloadWriter { output, offset, chunk_size, meter: Some(&meter) };
        let runs = match self {
            Self::Lines { element, lines, .. } => payload.write_unchanged(lines, *element, 0)?,
            Self::Arrays(plan) => plan.write(&payload)?,
        };
        write_checksums(output, preamble, runs).map(drop)?;
        trace::record_long(CopyKind::Saved, preamble.payload_length);
        write_front(output, preamble, header)
    }
}

/// Writes everything before the values.
pub(super) fn write_front<S: Sink>(output: &Output<'_, S>, preamble: &Preamble, header: &[u8]) -> Result<()> {
    output.write(&front(preamble, header)?, 0)
}

/// Returns everything before the values.
pub(super) fn front(preamble: &Preamble, header: &[u8]) -> Result<Vec<u8>> {
    let room = PREAMBLE_BYTES + header.len();
    let mut front = zeroed(preamble.payload_offset as usize)?; // the header is short
    front[..PREAMBLE_BYTES].copy_from_slice(&preamble.encode());
    front[PREAMBLE_BYTES..room].copy_from_slice(header);
    Ok(front)
}

/// Writes everything after the values: their checksums, from runs that together cover all values.
///
/// Returns the checksum of the checksums, like [`OpenedTable::values_checksum`](super::opened::OpenedTable).
pub(super) fn write_checksums<S: Sink>(output: &Output<'_, S>, preamble: &Preamble, runs: Vec<RunSums>) -> Result<u32> {
    if preamble.chunk_size == 0 {
        return Ok(0);
    }
    let bytes = checksums(preamble, runs)?;
    output.write(&bytes, preamble.payload_end())?;
    let sums = bytes.len() - preamble.chunk_count() as usize * 4;
    Ok(crc32fast::hash(&bytes[sums..]))
}

/// Returns everything after the values, if the file has checksums.
pub(super) fn checksums(preamble: &Preamble, runs: Vec<RunSums>) -> Result<Vec<u8>> {
    let count = preamble.chunk_count();
    let padding = (preamble.checksums_offset() - preamble.payload_end()) as usize;
    let room = (count as usize).saturating_mul(4).saturating_add(padding + 8);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| Error::out_of_memory(room))?;
    bytes.resize(padding, 0);
    bytes.extend(count.to_le_bytes());
    merge(runs, |sum| {
        bytes.extend(sum.to_le_bytes());
        Ok(())
    })?;
    Ok(bytes)
}
