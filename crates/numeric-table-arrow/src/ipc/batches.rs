//! The record batches of a file or a stream.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, StreamReader};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, Fields, SchemaRef};
use numeric_table::Result;
use numeric_table::internal::parallel::{map, task_count};

use super::check::{decoded_size, footer_bytes};
use super::nulls::{NullCounts, correct, in_range};
use crate::blocks::guarded;
use crate::error::failed;
use crate::input::{Input, zeroed};

/// The name of the library in errors.
pub(super) const LIBRARY: &str = "the arrow-ipc crate";
/// Number of bytes, after decompression, of the batches of a file that are decoded together.
const GROUP_BYTES: u64 = 16 << 20;
/// Number of bytes of batches that are decoded on the calling thread.
const SERIAL_BYTES: u64 = 256 << 10;

/// Readers of both formats.
pub(super) enum Batches {
    File(FileBatches),
    Stream(StreamReader<BufReader<InputReader>>),
}

impl Batches {
    /// Opens a file or a stream. `columns` are those to decode, in increasing order.
    pub(super) fn open(
        input: &Input,
        is_file: bool,
        null_counts: &Arc<NullCounts>,
        columns: Option<Vec<usize>>,
    ) -> Result<Self> {
        let open = || match is_file {
            true => FileBatches::open(input, null_counts.clone(), columns).map(Self::File),
            false => {
                let reader =
                    BufReader::new(InputReader { input: input.clone(), null_counts: null_counts.clone(), at: 0 });
                StreamReader::try_new(reader, columns).map(Self::Stream)
            }
        };
        guarded(LIBRARY, open)?.map_err(failed)
    }

    /// Returns all columns that a reader without a choice of columns decodes.
    pub(super) fn fields(&self) -> Fields {
        match self {
            Self::File(batches) => batches.schema.fields().clone(),
            Self::Stream(reader) => reader.schema().fields().clone(),
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self {
            Self::File(batches) => batches.next(),
            Self::Stream(reader) => guarded(LIBRARY, || reader.next())?.transpose().map_err(failed),
        }
    }
}

/// The batches of a file, whose footer has their positions. Several are decoded at the same time.
pub(super) struct FileBatches {
    input: Input,
    null_counts: Arc<NullCounts>,
    decoder: FileDecoder,
    schema: SchemaRef,
    /// The batches that are not decoded.
    blocks: VecDeque<Block>,
    /// Batches that are decoded. An error is the last.
    ready: VecDeque<Result<Option<RecordBatch>>>,
}

impl FileBatches {
    fn open(input: &Input, null_counts: Arc<NullCounts>, columns: Option<Vec<usize>>) -> Result<Self, ArrowError> {
        let missing = |what: &str| ArrowError::ParseError(format!("the footer has no {what}"));
        let bytes = footer_bytes(input).map_err(|error| ArrowError::ParseError(error.to_string()))?;
        let footer = root_as_footer(&bytes).map_err(|error| ArrowError::ParseError(error.to_string()))?;
        let blocks = footer.recordBatches().ok_or_else(|| missing("record batches"))?;
        let schema = footer.schema().ok_or_else(|| missing("schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(ArrowError::IpcError("the file has a different byte order than this machine".to_owned()));
        }
        let schema = Arc::new(try_fb_to_schema(schema)?);
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        if let Some(columns) = columns {
            schema.project(&columns)?;
            decoder = decoder.with_projection(columns);
        }
        for block in footer.dictionaries().into_iter().flatten() {
            decoder.read_dictionary(block, &block_of(input, block, &null_counts)?)?;
        }
        let blocks = blocks.iter().copied().collect();
        Ok(Self { input: input.clone(), null_counts, decoder, schema, blocks, ready: VecDeque::new() })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.ready.is_empty() {
            self.decode_group();
        }
        let batch = self.ready.pop_front().unwrap_or(Ok(None));
        if !matches!(batch, Ok(Some(_))) {
            (self.ready, self.blocks) = Default::default();
        }
        batch
    }

    /// Decodes the next batches: one, or as many as are small together.
    fn decode_group(&mut self) {
        let (mut group, mut bytes, most) = (Vec::new(), 0_u64, task_count(usize::MAX));
        while let Some(block) = self.blocks.front() {
            let together = bytes.saturating_add(decoded_size(&self.input, block));
            if !group.is_empty() && (together > GROUP_BYTES || group.len() >= most) {
                break;
            }
            bytes = together;
            group.extend(self.blocks.pop_front());
        }
        let decode = |block: Block| {
            let decode = || self.decoder.read_record_batch(&block, &block_of(&self.input, &block, &self.null_counts)?);
            guarded(LIBRARY, decode)?.map_err(failed)
        };
        self.ready = match bytes {
            ..SERIAL_BYTES => group.into_iter().map(decode).collect(),
            _ => map(group, decode).into(),
        };
    }
}

/// Reads a message and its body.
fn block_of(input: &Input, block: &Block, null_counts: &NullCounts) -> Result<Buffer, ArrowError> {
    let negative = |_| ArrowError::ParseError("a block has a negative position or length".to_owned());
    let start = u64::try_from(block.offset()).map_err(negative)?;
    let head = usize::try_from(block.metaDataLength()).map_err(negative)?;
    let length = usize::try_from(block.bodyLength()).map_err(negative)?.saturating_add(head);
    let failed = |error: io::Error| ArrowError::IoError(error.to_string(), error);
    if in_range(start, length, null_counts).is_empty() {
        return input.bytes_at(start, length).map(Buffer::from).map_err(failed);
    }
    input.check(start, length).map_err(failed)?;
    let mut bytes = zeroed(length).map_err(failed)?;
    input.read_at(start, &mut bytes).map_err(failed)?;
    correct(&mut bytes, start, null_counts);
    Ok(Buffer::from(bytes))
}

/// Reads from a position of its own.
pub(super) struct InputReader {
    input: Input,
    null_counts: Arc<NullCounts>,
    at: u64,
}

impl Read for InputReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let length = self.input.length().saturating_sub(self.at).min(target.len() as u64) as usize;
        self.input.read_at(self.at, &mut target[..length])?;
        correct(&mut target[..length], self.at, &self.null_counts);
        self.at += length as u64;
        Ok(length)
    }
}
