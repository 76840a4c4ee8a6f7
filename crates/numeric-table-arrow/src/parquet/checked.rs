//! One column for the `parquet` crate, whose pages are checked before it decodes them.
//!
//! The crate allocates as many values as a page claims to have. The sizes of pages are checked before, in
//! [`input`](super::input), and their numbers of values here, after decompression. The crate gets a schema of this one
//! column: with the schema of the file, opening all columns would take time and memory with the square of their number.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups, RowSelection};
use ::parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use ::parquet::basic::Encoding::{self, PLAIN_DICTIONARY};
use ::parquet::basic::Type as StoredType;
use ::parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::SerializedPageReader;
use ::parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};
use arrow_schema::Fields;
use bytes::Bytes;

use super::input::{Pages, varint, zigzag};
use super::runs::{Integers, Runs};

type Result<T> = std::result::Result<T, ParquetError>;

/// Number of values that any page may claim to have, and number for each of its bytes: writers have at least 5 bytes
/// for 128 lengths.
const MIN_COUNT: usize = 64 << 10;
const MAX_RATIO: usize = 256;
/// Number of bytes of texts that dictionaries and prefixes may repeat at once, and number that a row adds to it.
const MAX_TEXT: u64 = 1 << 30;
const ROW_TEXT: u64 = 16 << 10;

/// A column that is not nested, in some row groups.
pub(super) struct OneColumn {
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) pages: Pages,
    pub(super) groups: Range<usize>,
    pub(super) leaf: usize,
}

impl OneColumn {
    /// Opens the column, which has the number `index` among all.
    pub(super) fn open(
        self,
        index: usize,
        batch_size: usize,
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader> {
        let levels = self.levels(index)?;
        ParquetRecordBatchReader::try_new_with_row_groups(&levels, &self, batch_size, selection)
    }

    fn levels(&self, index: usize) -> Result<FieldLevels> {
        let schema = self.metadata.parquet_schema();
        let (root, fields) = (schema.root_schema(), self.metadata.schema().fields());
        let missing = || ParquetError::General(format!("column {index} is missing"));
        let column = root.get_fields().get(index).ok_or_else(missing)?;
        let field = fields.get(index).ok_or_else(missing)?;
        let root = Type::group_type_builder(root.name()).with_fields(vec![column.clone()]).build()?;
        let schema = SchemaDescriptor::new(Arc::new(root));
        parquet_to_arrow_field_levels(&schema, ProjectionMask::all(), Some(&Fields::from(vec![field.clone()])))
    }
}

impl RowGroups for OneColumn {
    fn num_rows(&self) -> usize {
        self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).fold(0, usize::saturating_add)
    }

    fn column_chunks(&self, index: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(Chunks {
            metadata: self.metadata.clone(),
            pages: Arc::new(self.pages.clone()),
            groups: self.groups.clone(),
            leaf: self.leaf.saturating_add(index),
            text: Arc::new(AtomicU64::new(MAX_TEXT)),
        }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.metadata().row_groups().get(self.groups.clone()).into_iter().flatten())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }
}

/// The readers of the row groups.
struct Chunks {
    metadata: ArrowReaderMetadata,
    pages: Arc<Pages>,
    groups: Range<usize>,
    leaf: usize,
    /// The number of bytes that texts may repeat now.
    text: Arc<AtomicU64>,
}

impl Iterator for Chunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, file) = (self.groups.next()?, self.metadata.metadata());
        let group = file.row_groups().get(number)?;
        let open = || {
            let missing = || ParquetError::General(format!("row group {number} has no such column"));
            let chunk = group.columns().get(self.leaf).ok_or_else(missing)?;
            let rows = usize::try_from(group.num_rows())?;
            let locations = file.page_index_for_row_group(number).page_locations(self.leaf).cloned();
            let pages = SerializedPageReader::new(self.pages.clone(), chunk, rows, locations)?;
            let (column, text) = (chunk.column_descr_ptr(), self.text.clone());
            Ok(Box::new(CheckedPages { pages, rows, column, lengths: Vec::new(), text }) as _)
        };
        Some(open())
    }
}

impl PageIterator for Chunks {}

/// The pages of a column in a row group.
struct CheckedPages {
    pages: SerializedPageReader<Pages>,
    /// Number of rows of the row group.
    rows: usize,
    column: ColumnDescPtr,
    /// The lengths of the texts of the dictionary, if one is long.
    lengths: Vec<u32>,
    text: Arc<AtomicU64>,
}

impl CheckedPages {
    fn check(&mut self, page: Option<Page>) -> Result<Option<Page>> {
        let Some(page) = page else { return Ok(None) };
        let count = page.num_values() as usize;
        let refused = |reason: String| Err(ParquetError::General(reason));
        if page.is_dictionary_page() {
            let width = match self.column.physical_type() {
                StoredType::INT64 | StoredType::DOUBLE => 8,
                StoredType::INT96 => 12,
                StoredType::BOOLEAN => 1,
                StoredType::FIXED_LEN_BYTE_ARRAY => usize::try_from(self.column.type_length()).unwrap_or(0).max(1),
                StoredType::INT32 | StoredType::FLOAT | StoredType::BYTE_ARRAY => 4,
            };
            let bytes = page.buffer().len();
            return match count > bytes / width {
                true => refused(format!("a dictionary claims {count} values in {bytes} bytes")),
                false => {
                    let is_text = self.column.physical_type() == StoredType::BYTE_ARRAY;
                    self.lengths = if is_text { long_texts(page.buffer(), count)? } else { Vec::new() };
                    Ok(Some(page))
                }
            };
        }
        if count > self.rows {
            return refused(format!("a page claims {count} values in a row group of {} rows", self.rows));
        }
        let has_prefixes = page.encoding() == Encoding::DELTA_BYTE_ARRAY;
        if has_prefixes || page.encoding() == Encoding::DELTA_LENGTH_BYTE_ARRAY {
            let bytes = self.values_of(&page).unwrap_or_default();
            let most = count.min(bytes.len().saturating_mul(MAX_RATIO).max(MIN_COUNT));
            let first = after_packed(&bytes, most);
            let lengths = if has_prefixes { first.and_then(|rest| after_packed(rest, most)) } else { first };
            if lengths.is_none() {
                return refused(format!("the lengths in a page of {count} values are damaged"));
            }
            if has_prefixes && bytes.len() as u64 > ROW_TEXT {
                let mut repeated = 0_u64;
                each_packed(&bytes, most, |prefix| repeated += u64::from(prefix.unsigned_abs()));
                self.repeat(count, repeated)?;
            }
        }
        if !self.lengths.is_empty() && matches!(page.encoding(), Encoding::RLE_DICTIONARY | PLAIN_DICTIONARY) {
            self.repeat(count, self.repeated(&page).unwrap_or(0))?;
        }
        Ok(Some(page))
    }

    /// Returns the number of bytes of the texts that the indices in a page stand for.
    fn repeated(&self, page: &Page) -> Option<u64> {
        let (bytes, mut left, mut sum) = (self.values_of(page)?, page.num_values() as usize, 0_u64);
        let mut runs = Runs::new(bytes.slice(1..), *bytes.first()?)?;
        let length = |index: u32| self.lengths.get(index as usize).map_or(0, |&length| u64::from(length));
        while left > 0 {
            // There are fewer indices than values if some are null.
            let Some(indices) = runs.next(left) else { break };
            match indices {
                Integers::Repeated(index, count) => {
                    sum = sum.saturating_add(length(index).saturating_mul(count as u64));
                    left = left.saturating_sub(count);
                }
                Integers::Each(indices) => {
                    sum = indices.iter().fold(sum, |sum, &index| sum.saturating_add(length(index)));
                    left = left.saturating_sub(indices.len());
                }
            }
        }
        Some(sum)
    }

    /// Checks the bytes of texts that a page of `count` rows repeats: the rows of a step are in memory together.
    fn repeat(&self, count: usize, bytes: u64) -> Result<()> {
        let room = self.text.load(Relaxed).saturating_add(ROW_TEXT.saturating_mul(count as u64)).min(MAX_TEXT);
        match room.checked_sub(bytes) {
            Some(room) => {
                self.text.store(room, Relaxed);
                Ok(())
            }
            None => Err(ParquetError::General(format!("a page of {count} values repeats {bytes} bytes of strings"))),
        }
    }

    /// Returns the bytes after the definition levels of a page, which has no others.
    fn values_of(&self, page: &Page) -> Option<Bytes> {
        if self.column.max_rep_level() > 0 || self.column.max_def_level() > 1 {
            return None; // never: a nested column, which is not an element type
        }
        let bytes = page.buffer();
        let levels = match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                usize::try_from(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)).ok()?
            }
            _ if self.column.max_def_level() == 0 => 0,
            Page::DataPage { def_level_encoding: Encoding::RLE, .. } => {
                usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()?.checked_add(4)?
            }
            _ => (page.num_values() as usize).div_ceil(8), // one bit each
        };
        (levels <= bytes.len()).then(|| bytes.slice(levels..))
    }
}

/// Returns the lengths of the texts of a dictionary, or none if all are short.
fn long_texts(mut bytes: &[u8], count: usize) -> Result<Vec<u32>> {
    let mut lengths = Vec::new();
    lengths.try_reserve_exact(count).map_err(|_| ParquetError::General("out of memory".to_owned()))?;
    for _ in 0..count {
        let Some((length, rest)) = bytes.split_first_chunk() else { break };
        let length = u32::from_le_bytes(*length);
        let Some((_, rest)) = rest.split_at_checked(length as usize) else { break };
        lengths.push(length);
        bytes = rest;
    }
    let is_long = lengths.iter().any(|&length| u64::from(length) > ROW_TEXT);
    Ok(if is_long { lengths } else { Vec::new() })
}

/// Visits integers that were found with [`after_packed`].
fn each_packed(bytes: &[u8], most: usize, mut visit: impl FnMut(i32)) -> Option<()> {
    let mut rest = bytes;
    let (block, parts, count) = (varint(&mut rest)?, varint(&mut rest)?, varint(&mut rest)?);
    let part = usize::try_from(block.checked_div(parts)?).ok()?;
    let (parts, count) = (usize::try_from(parts).ok()?, usize::try_from(count).ok()?.min(most));
    let mut value = zigzag(varint(&mut rest)?) as i32;
    let mut left = count;
    if count > 0 {
        visit(value);
        left -= 1;
    }
    while left > 0 {
        let least = zigzag(varint(&mut rest)?) as i32;
        let (widths, after) = rest.split_at_checked(parts)?;
        rest = after;
        for &width in widths.iter().filter(|&&width| width <= 32) {
            let (packed, after) = rest.split_at_checked(part.checked_mul(width.into())? / 8)?;
            for index in 0..part.min(left) {
                let bit = index * usize::from(width);
                let mut word = [0; 8];
                let near = packed.get(bit / 8..).unwrap_or_default();
                let near = &near[..near.len().min(8)];
                word[..near.len()].copy_from_slice(near);
                let difference = (u64::from_le_bytes(word) >> (bit % 8)) & ((1 << width) - 1);
                value = value.wrapping_add(least).wrapping_add(difference as i32);
                visit(value);
            }
            if left == 0 {
                break;
            }
            left = left.saturating_sub(part);
            rest = after;
        }
    }
    Some(())
}

/// Returns the bytes after at most `most` integers in the encoding `DELTA_BINARY_PACKED`.
fn after_packed(mut bytes: &[u8], most: usize) -> Option<&[u8]> {
    let mut number = || {
        let value = varint(&mut bytes)?;
        usize::try_from(value).ok().filter(|_| value <= i32::MAX as u64)
    };
    let (block, parts, count) = (number()?, number()?, number()?);
    varint(&mut bytes)?; // the first value
    let part = block.checked_div(parts)?;
    if count > most || part == 0 && count > 1 {
        return None;
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        varint(&mut bytes)?; // the least difference
        let (widths, rest) = bytes.split_at_checked(parts)?;
        bytes = rest;
        for &width in widths {
            if left == 0 {
                break; // the widths of the parts that are missing are arbitrary
            }
            left = left.saturating_sub(part);
            bytes = bytes.split_at_checked(part.checked_mul(width.into())? / 8)?.1;
        }
    }
    Some(bytes)
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        self.check(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.pages.take_deferred_dictionary()?;
        self.check(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_integers_end_where_their_blocks_do() {
        // 128 values in a block, 4 parts of 32, 3 values; the first is 7; the least difference is 1, of 8 bits each.
        let head = [0x80, 0x01, 0x04, 0x03, 0x0e, 0x02, 8, 99, 0, 0];
        let bytes = [&head[..], &[0; 32], b"end"].concat();
        assert_eq!(after_packed(&bytes, 3), Some(&b"end"[..]));
        assert_eq!(after_packed(&bytes, 2), None);
        let mut found = Vec::new();
        each_packed(&bytes, 3, |value| found.push(value));
        assert_eq!(found, [7, 8, 9]);
        let mut bytes = bytes;
        bytes[10..12].copy_from_slice(&[3, 200]);
        each_packed(&bytes, 3, |value| found.push(value));
        assert_eq!(found[3..], [7, 11, 212]);
        assert_eq!(after_packed(&bytes[..40], 3), None);
        assert_eq!(after_packed(&[0x80, 0x01, 0x04, 0x01, 0x0e, 5], 1), Some(&[5][..]));
        for claimed in [[0x80, 0x01, 0x00, 0x03], [0x00, 0x04, 0x03, 0x00], [0xff, 0xff, 0xff, 0xff]] {
            assert_eq!(after_packed(&[&claimed[..], &[0; 99]].concat(), 9), None);
        }
    }
}
