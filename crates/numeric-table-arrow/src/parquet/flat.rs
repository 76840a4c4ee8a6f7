//! Columns of numbers without nulls, decoded page by page.
//!
//! The `parquet` crate reads pages; [`unpack`](super::unpack) decompresses most, and this module decodes their values.
//! A dictionary is decoded once, and its indices are replaced by its values in one step. A page without a dictionary
//! that has all requested rows is shared. Only regular pages are decoded: with nulls, with other encodings, or damaged,
//! the column is left to the
//! `parquet` crate from the first row that is missing. Its values and its errors are the reference.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::parquet::basic::{Compression, Encoding, Type as StoredType};
use ::parquet::column::page::{Page, PageReader};
use ::parquet::file::reader::SerializedPageReader;
use ::parquet::file::statistics::Statistics;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use bytes::Bytes;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::Result;
use numeric_table::internal::with_room;

use super::decode::{Decoder, leaf_of};
use super::input::{Pages, Spare, ratio_of};
use super::runs::{Integers, Runs};
use super::unpack::Decompressor;

/// Numbers as Parquet stores them without a dictionary: one after another, little-endian.
pub(super) trait StoredNumber: ArrowPrimitiveType {
    const STORED: StoredType;
    /// Number of bytes of a stored number.
    const WIDTH: usize;

    /// Appends stored numbers.
    fn append(bytes: &[u8], values: &mut Vec<Self::Native>);
}

macro_rules! stored_numbers {
    ($($arrow:ident $native:ident from $stored:ident $type:ident;)*) => {
        $(impl StoredNumber for $arrow {
            const STORED: StoredType = StoredType::$type;
            const WIDTH: usize = size_of::<$stored>();

            fn append(bytes: &[u8], values: &mut Vec<$native>) {
                let numbers = bytes.as_chunks().0.iter();
                values.extend(numbers.map(|&number| $stored::from_le_bytes(number) as $native));
            }
        })*

        /// Returns a reader of a column of an Arrow type, if it is one of these.
        fn open_as(data_type: &DataType, pages: ColumnPages) -> Option<Box<dyn FlatColumn>> {
            $(if *data_type == $arrow::DATA_TYPE {
                return FlatReader::<$arrow>::open(pages);
            })*
            None
        }
    };
}

// The least bits of an integer are the value, as in the `parquet` crate.
stored_numbers! {
    Float32Type f32 from f32 FLOAT;
    Float64Type f64 from f64 DOUBLE;
    Int32Type i32 from i32 INT32;
    Int64Type i64 from i64 INT64;
    UInt32Type u32 from i32 INT32;
    UInt64Type u64 from i64 INT64;
    Int16Type i16 from i32 INT32;
    UInt16Type u16 from i32 INT32;
    Int8Type i8 from i32 INT32;
    UInt8Type u8 from i32 INT32;
}

/// A column that is decoded here.
pub(super) trait FlatColumn: Send {
    /// Decodes the next rows. Returns `None` if the `parquet` crate has to decode them, and all after them.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    fn next(&mut self, rows: usize) -> Result<Option<ArrayRef>>;
}

/// Opens a column for rows. Returns `None` if the `parquet` crate has to decode it.
pub(super) fn open(decoder: &Decoder, index: usize, rows: &Range<usize>, spare: &Spare) -> Option<Box<dyn FlatColumn>> {
    let leaf = leaf_of(&decoder.metadata, index)?;
    let column = decoder.metadata.parquet_schema().column(leaf);
    let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
    if !is_flat || decoder.starts.binary_search(&rows.start).is_err() {
        return None;
    }
    let field = decoder.metadata.schema().fields().get(index)?;
    let pages = ColumnPages {
        groups: decoder.groups(rows),
        decoder: decoder.clone(),
        leaf,
        has_levels: column.max_def_level() == 1,
        spare: spare.clone(),
        decompressor: None,
    };
    open_as(field.data_type(), pages)
}

/// The pages of a column.
struct ColumnPages {
    decoder: Decoder,
    /// The row groups that are not opened.
    groups: Range<usize>,
    leaf: usize,
    /// Whether pages have definition levels.
    has_levels: bool,
    spare: Spare,
    /// That of the previous row group.
    decompressor: Option<Decompressor>,
}

impl ColumnPages {
    /// Returns whether the footer says that all row groups have numbers of a stored type, without nulls, in an encoding
    /// of this module.
    fn are_regular(&self, stored: StoredType) -> bool {
        self.groups.clone().all(|group| {
            let group = self.decoder.metadata.metadata().row_group(group);
            let Some(chunk) = group.columns().get(self.leaf) else { return false };
            #[expect(deprecated)] // old files have it in the list, and levels in another encoding
            let is_known = |encoding| {
                use Encoding::{BIT_PACKED, PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY};
                matches!(encoding, PLAIN | PLAIN_DICTIONARY | RLE_DICTIONARY | RLE | BIT_PACKED)
            };
            let nulls = chunk.statistics().and_then(Statistics::null_count_opt).unwrap_or(0);
            nulls == 0 && chunk.column_type() == stored && chunk.encodings().all(is_known)
        })
    }

    /// Opens the next row group. Returns its pages and its number of rows.
    fn open(&mut self) -> Option<(ChunkPages, usize)> {
        let group = self.decoder.metadata.metadata().row_group(self.groups.next()?);
        let chunk = group.columns().get(self.leaf)?;
        let rows = usize::try_from(group.num_rows()).ok()?;
        let compression = chunk.compression();
        let pages = Pages::new(&self.decoder.input, ratio_of(compression), false, &self.spare);
        let (size, decompressor) = (pages.size(), Decompressor::again(self.decompressor.take(), compression));
        let open = |chunk| SerializedPageReader::new(Arc::new(pages), chunk, rows, None).ok();
        let reader = match &decompressor {
            None => open(chunk)?,
            // The pages as they are stored.
            Some(_) => open(&chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build().ok()?)?,
        };
        Some((ChunkPages { reader, size, decompressor, spare: self.spare.clone() }, rows))
    }
}

/// The pages of a column in a row group.
struct ChunkPages {
    reader: SerializedPageReader<Pages>,
    /// The size of the last page after decompression.
    size: Arc<AtomicUsize>,
    /// Decompresses pages, if the `parquet` crate does not.
    decompressor: Option<Decompressor>,
    spare: Spare,
}

impl ChunkPages {
    /// Returns the next page. Returns `None` if it is damaged, and `Some(None)` after the last.
    fn next(&mut self) -> Option<Option<Page>> {
        let Some(mut page) = self.reader.get_next_page().ok()? else { return Some(None) };
        let Some(decompressor) = &mut self.decompressor else { return Some(Some(page)) };
        let size = self.size.load(Ordering::Relaxed);
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = decompressor.page(buf, 0, size, &self.spare)?;
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed: true, .. } => {
                let head = (*def_levels_byte_len as usize).checked_add(*rep_levels_byte_len as usize)?;
                *buf = decompressor.page(buf, head, size, &self.spare)?;
            }
            Page::DataPageV2 { .. } => {}
        }
        Some(Some(page))
    }
}

/// The values of a page that are not taken.
enum PageValues {
    Plain(Bytes),
    /// Indices of the dictionary.
    Indices(Box<Runs>),
}

/// Decodes a column.
struct FlatReader<P: StoredNumber> {
    chunks: ColumnPages,
    /// The pages of the row group.
    pages: Option<ChunkPages>,
    /// Number of rows of the row group whose pages are not opened.
    unopened: usize,
    dictionary: Option<Vec<P::Native>>,
    page: PageValues,
    /// Number of rows of the page that are not taken.
    left: usize,
    /// The previous values, whose memory is reused when they are dropped elsewhere.
    last: Option<Buffer>,
}

impl<P: StoredNumber> FlatReader<P> {
    fn open(chunks: ColumnPages) -> Option<Box<dyn FlatColumn>> {
        let page = PageValues::Plain(Bytes::new());
        chunks.are_regular(P::STORED).then(|| -> Box<dyn FlatColumn> {
            Box::new(Self { chunks, pages: None, unopened: 0, dictionary: None, page, left: 0, last: None })
        })
    }

    /// Opens the next page that has values.
    fn open_page(&mut self) -> Result<Option<()>> {
        while self.left == 0 {
            if self.unopened == 0 {
                if self.close().is_none() {
                    return Ok(None);
                }
                let Some((pages, rows)) = self.chunks.open() else { return Ok(None) };
                (self.pages, self.unopened, self.dictionary) = (Some(pages), rows, None);
                continue;
            }
            let page = self.pages.as_mut().and_then(|pages| pages.next().flatten());
            let opened = match page {
                Some(Page::DictionaryPage { buf, num_values, encoding, .. }) => {
                    self.set_dictionary(&buf, num_values as usize, encoding)?
                }
                Some(page) => self.set_page(page),
                None => None,
            };
            if opened.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    fn set_dictionary(&mut self, bytes: &[u8], count: usize, encoding: Encoding) -> Result<Option<()>> {
        let is_plain = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
        let length = count.checked_mul(P::WIDTH);
        let Some(bytes) = length.and_then(|length| bytes.get(..length)).filter(|_| is_plain) else { return Ok(None) };
        let mut values = with_room(count)?;
        P::append(bytes, &mut values);
        let is_first = self.dictionary.replace(values).is_none();
        Ok(is_first.then_some(()))
    }

    fn set_page(&mut self, page: Page) -> Option<()> {
        let (count, encoding) = (page.num_values() as usize, page.encoding());
        let (levels, mut values) = match page {
            Page::DataPage { buf, .. } if !self.chunks.has_levels => (Bytes::new(), buf),
            Page::DataPage { mut buf, def_level_encoding: Encoding::RLE, .. } => {
                let length = *buf.first_chunk()?;
                let length = usize::try_from(u32::from_le_bytes(length)).ok()?.checked_add(4)?;
                let mut levels = (length <= buf.len()).then(|| buf.split_to(length))?;
                (levels.split_off(4), buf)
            }
            Page::DataPageV2 { mut buf, num_nulls: 0, num_rows, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let first = usize::try_from(rep_levels_byte_len).ok()?;
                let length = first.checked_add(usize::try_from(def_levels_byte_len).ok()?)?;
                let mut levels = (length <= buf.len()).then(|| buf.split_to(length))?;
                ((num_rows as usize == count).then(|| levels.split_off(first))?, buf)
            }
            _ => return None,
        };
        if count > self.unopened || self.chunks.has_levels && !Runs::new(levels, 1)?.are_all(count, 1) {
            return None;
        }
        self.page = match encoding {
            Encoding::PLAIN => {
                let length = count.checked_mul(P::WIDTH)?;
                PageValues::Plain((length <= values.len()).then(|| values.split_to(length))?)
            }
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                self.dictionary.as_ref()?;
                let width = *values.first()?;
                PageValues::Indices(Box::new(Runs::new(values.slice(1..), width)?))
            }
            _ => return None,
        };
        (self.left, self.unopened) = (count, self.unopened - count);
        Some(())
    }

    /// Ends a row group. Returns `None` if it has more values than rows.
    fn close(&mut self) -> Option<()> {
        let Some(mut pages) = self.pages.take() else { return Some(()) };
        while let Some(page) = pages.next()? {
            if page.is_dictionary_page() || page.num_values() > 0 {
                return None;
            }
        }
        self.chunks.decompressor = pages.decompressor;
        Some(())
    }

    /// Shares the memory of a page, if it has the next rows as a table stores them.
    fn share(&mut self, rows: usize) -> Option<ScalarBuffer<P::Native>> {
        let PageValues::Plain(bytes) = &mut self.page else { return None };
        let is_same = cfg!(target_endian = "little") && P::WIDTH == size_of::<P::Native>();
        let is_aligned = bytes.as_ptr().addr().is_multiple_of(align_of::<P::Native>());
        (is_same && is_aligned && rows <= self.left).then(|| {
            self.left -= rows;
            ScalarBuffer::new(Buffer::from(bytes.split_to(rows * P::WIDTH)), 0, rows)
        })
    }

    /// Takes values of the page. Returns `None` for irregular indices.
    fn take(&mut self, mut count: usize, values: &mut Vec<P::Native>) -> Option<()> {
        self.left -= count;
        let runs = match &mut self.page {
            PageValues::Plain(bytes) => {
                P::append(&bytes.split_to(count * P::WIDTH), values);
                return Some(());
            }
            PageValues::Indices(runs) => runs,
        };
        let dictionary = self.dictionary.as_deref()?;
        while count > 0 {
            match runs.next(count)? {
                Integers::Repeated(index, many) => {
                    let value = *dictionary.get(index as usize)?;
                    values.extend(std::iter::repeat_n(value, many));
                    count -= many;
                }
                Integers::Each(indices) => {
                    let mut is_in = true;
                    values.extend(indices.iter().map(|&index| {
                        dictionary.get(index as usize).copied().unwrap_or_else(|| {
                            is_in = false;
                            P::Native::default()
                        })
                    }));
                    count -= indices.len();
                    if !is_in {
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    fn values(&mut self, rows: usize) -> Result<Option<ScalarBuffer<P::Native>>> {
        if self.open_page()?.is_none() {
            return Ok(None);
        }
        if let Some(values) = self.share(rows) {
            return Ok(Some(values));
        }
        let last = self.last.take().and_then(|last| last.into_vec::<P::Native>().ok());
        let mut values = match last.filter(|last| last.capacity() >= rows) {
            Some(mut last) => {
                last.clear();
                last
            }
            None => with_room(rows)?,
        };
        while values.len() < rows {
            if self.open_page()?.is_none() {
                return Ok(None);
            }
            let count = self.left.min(rows - values.len());
            if self.take(count, &mut values).is_none() {
                return Ok(None);
            }
        }
        let values = ScalarBuffer::from(values);
        self.last = Some(values.inner().clone());
        Ok(Some(values))
    }
}

impl<P: StoredNumber> FlatColumn for FlatReader<P> {
    fn next(&mut self, rows: usize) -> Result<Option<ArrayRef>> {
        let Some(values) = self.values(rows)? else { return Ok(None) };
        let is_end = self.left == 0 && self.unopened == 0;
        if is_end && self.close().is_none() {
            return Ok(None);
        }
        Ok(Some(Arc::new(PrimitiveArray::<P>::new(values, None))))
    }
}
