//! Checks of the sizes that compressed buffers claim, before the `arrow-ipc` crate allocates memory for them.

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    Block, CompressionType, MessageHeader, MetadataVersion, RecordBatch, Schema, root_as_footer, root_as_message,
};
use arrow_schema::{DataType, Fields};
use numeric_table::{Error, ErrorKind, Result};

use super::nulls::{BatchPlace, NullCounts};
use crate::input::Input;

/// The first and last bytes of a file.
pub(super) const MAGIC: &[u8] = b"ARROW1";
/// Stands before the length of a message.
const CONTINUATION: u32 = u32::MAX;
/// Number of bytes that a buffer may have, however few it is made of.
const MIN_BUFFER: i64 = 1 << 20;

/// Checks all messages of a file or a stream. Returns the wrong numbers of nulls.
///
/// # Errors
/// [`ErrorKind::Format`].
pub(super) fn check(input: &Input, is_file: bool) -> Result<NullCounts> {
    let mut found = Found::default();
    if input.length() == 0 {
        return Err(damaged(0, "the file is empty"));
    }
    if !is_file {
        let mut at = 0;
        while let Some(message) = check_message(input, at, &mut found)? {
            at = message.end;
        }
        return Ok(found.sorted());
    }
    let bytes = footer_bytes(input)?;
    let footer = root_as_footer(&bytes).map_err(|_| refused())?;
    found.set_schema(footer.schema());
    found.is_known = true;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let at = u64::try_from(block.offset()).map_err(|_| refused())?;
        let sizes = (i64::from(block.metaDataLength()), block.bodyLength());
        let size = sizes.0.checked_add(sizes.1).filter(|_| sizes.0 >= 0 && sizes.1 >= 0);
        let last = size.and_then(|size| at.checked_add(size as u64));
        if last.is_none_or(|last| last > input.length()) {
            return Err(damaged(at, "a block is not in the file"));
        }
        // The reader looks for the body where the footer says that it is, not where the message does.
        let message = check_message(input, at, &mut found)?.ok_or_else(|| damaged(at, "a block has no message"))?;
        if (message.body - at, message.end - message.body) != (sizes.0 as u64, sizes.1 as u64) {
            return Err(damaged(at, "the footer and a message contradict each other"));
        }
    }
    Ok(found.sorted())
}

/// Reads the footer of a file.
///
/// # Errors
/// [`ErrorKind::Format`] if the file does not end with one.
pub(super) fn footer_bytes(input: &Input) -> Result<bytes::Bytes> {
    let end = input.length().checked_sub(10).ok_or_else(refused)?;
    let tail = read(input, end, 10)?;
    let length = tail.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let start = end.checked_sub(length).filter(|_| tail.ends_with(MAGIC)).ok_or_else(refused)?;
    read(input, start, length as usize)
}

fn refused() -> Error {
    damaged(0, "the footer is damaged")
}

/// The properties of the messages so far.
#[derive(Default)]
struct Found {
    /// The columns of record batches.
    fields: Fields,
    /// Whether the footer has them: schemas in messages then have no effect.
    is_known: bool,
    null_counts: NullCounts,
}

impl Found {
    fn set_schema(&mut self, schema: Option<Schema<'_>>) {
        if let Some(Ok(schema)) = schema.map(try_fb_to_schema).filter(|_| !self.is_known) {
            self.fields = schema.fields; // an error is that of the reader
        }
    }

    /// Returns the wrong numbers of nulls. Blocks may be in any order, and repeated.
    fn sorted(mut self) -> NullCounts {
        self.null_counts.sort_unstable();
        self.null_counts.dedup();
        self.null_counts
    }
}

/// The positions of a message's body, and the size of its buffers after decompression.
struct Message {
    body: u64,
    end: u64,
    decoded: u64,
}

/// Checks a message; returns `None` at the end.
fn check_message(input: &Input, at: u64, found: &mut Found) -> Result<Option<Message>> {
    let left = input.length().saturating_sub(at);
    if left < 4 {
        return Ok(None);
    }
    let number = |at| Ok::<_, Error>(read(input, at, 4)?.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)));
    // Files of old versions have no mark before the length.
    let (length, start) = match number(at)? {
        CONTINUATION => (number(at + 4)?, at + 8),
        length => (length, at + 4),
    };
    if length == 0 {
        return Ok(None);
    }
    let bytes = read(input, start, length as usize)?;
    let message = root_as_message(&bytes).map_err(|_| damaged(at, "a message is damaged"))?;
    let body = start + u64::from(length);
    let size = u64::try_from(message.bodyLength()).map_err(|_| damaged(at, "a message is damaged"))?;
    let end = body.checked_add(size).filter(|&end| end <= input.length());
    let end = end.ok_or_else(|| damaged(at, "a message is cut off"))?;
    found.set_schema(message.header_as_schema());
    let (batch, is_dictionary) = match message.header_type() {
        MessageHeader::RecordBatch => (message.header_as_record_batch(), false),
        MessageHeader::DictionaryBatch => (message.header_as_dictionary_batch().and_then(|batch| batch.data()), true),
        _ => (None, false),
    };
    let mut decoded = size;
    if let Some(batch) = batch {
        decoded = check_buffers(input, batch, body, end)?;
        let is_old = message.version() < MetadataVersion::V5;
        let place = BatchPlace { input, batch, message: &bytes, start, body, is_old };
        // The values of a dictionary are one column, whose first buffer is its bitmap.
        let Found { fields, null_counts, .. } = found;
        match is_dictionary {
            true => place.count_nulls([&DataType::Utf8].into_iter(), null_counts)?,
            false => place.count_nulls(fields.iter().map(|field| field.data_type()), null_counts)?,
        }
    }
    Ok(Some(Message { body, end, decoded }))
}

/// Checks the sizes that stand before compressed buffers. Returns the size of all buffers after decompression.
fn check_buffers(input: &Input, batch: RecordBatch<'_>, body: u64, end: u64) -> Result<u64> {
    let ratio = match batch.compression().map(|compression| compression.codec()) {
        None => return Ok(end - body),
        Some(CompressionType::LZ4_FRAME) => 256,
        Some(_) => 1 << 16,
    };
    let mut decoded = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, length) = (buffer.offset(), buffer.length());
        if length < 8 {
            continue; // an empty one, or an error of the reader
        }
        let start = u64::try_from(offset).ok().and_then(|offset| body.checked_add(offset));
        let last = start.and_then(|start| start.checked_add(length as u64));
        let (Some(start), Some(_)) = (start, last.filter(|&last| last <= end)) else {
            return Err(damaged(body, "a buffer is not in its message"));
        };
        let claimed = read(input, start, 8)?.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if claimed > length.saturating_mul(ratio).max(MIN_BUFFER) {
            return Err(damaged(start, format!("a buffer claims that {length} bytes become {claimed}")));
        }
        // A negative number says that the buffer is not compressed.
        decoded = decoded.saturating_add(u64::try_from(claimed).unwrap_or(length.unsigned_abs()));
    }
    Ok(decoded)
}

/// Returns the size of the buffers of a batch after decompression; `u64::MAX` if its message is damaged.
pub(super) fn decoded_size(input: &Input, block: &Block) -> u64 {
    let at = u64::try_from(block.offset()).unwrap_or(u64::MAX);
    match check_message(input, at, &mut Found::default()) {
        Ok(Some(message)) => message.decoded,
        _ => u64::MAX,
    }
}

pub(super) fn read(input: &Input, at: u64, length: usize) -> Result<bytes::Bytes> {
    input.bytes_at(at, length).map_err(|_| damaged(at, "a part of the file is missing"))
}

/// Returns the error of damaged bytes.
pub(super) fn damaged(offset: u64, reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Format { offset, reason: reason.into() })
}
