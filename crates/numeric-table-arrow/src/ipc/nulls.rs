//! The numbers of nulls in a file, compared with the bitmaps of its columns.
//!
//! The `arrow-ipc` crate ignores the bitmap of a column that claims to have no nulls, and refuses any other number that
//! is wrong. A number that is 0 is therefore replaced by that of the bitmap, unless the bitmap is compressed.

use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_ipc::{Buffer as BufferPlace, FieldNode, RecordBatch};
use arrow_schema::{DataType, UnionMode};
use numeric_table::Result;

use super::check::{damaged, read};
use crate::input::Input;

/// The positions of wrong numbers in a file, in increasing order, and the right ones.
pub(super) type NullCounts = Vec<(u64, i64)>;

/// A record batch in a file.
pub(super) struct BatchPlace<'a> {
    pub(super) input: &'a Input,
    pub(super) batch: RecordBatch<'a>,
    /// The message that has the batch, and its position.
    pub(super) message: &'a [u8],
    pub(super) start: u64,
    /// The position of the buffers.
    pub(super) body: u64,
    /// Whether unions have bitmaps.
    pub(super) is_old: bool,
}

impl BatchPlace<'_> {
    /// Counts the nulls of columns that claim to have none.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](numeric_table::ErrorKind::Format) for negative numbers.
    pub(super) fn count_nulls<'t>(
        &self,
        types: impl Iterator<Item = &'t DataType>,
        found: &mut NullCounts,
    ) -> Result<()> {
        let nodes = self.batch.nodes().into_iter().flatten();
        for node in nodes.clone() {
            if node.null_count() < 0 {
                return Err(damaged(self.start, format!("a column claims {} nulls", node.null_count())));
            }
        }
        if self.batch.compression().is_some() {
            return Ok(());
        }
        let mut columns = Columns {
            nodes,
            buffers: self.batch.buffers().into_iter().flatten(),
            view_counts: self.batch.variadicBufferCounts().into_iter().flatten(),
            is_old: self.is_old,
        };
        for data_type in types {
            let mut count = |node: &FieldNode, bitmap: &BufferPlace| self.count(node, bitmap, found);
            if columns.each(data_type, &mut count)?.is_none() {
                break; // parts are missing, which the crate reports
            }
        }
        Ok(())
    }

    fn count(&self, node: &FieldNode, bitmap: &BufferPlace, found: &mut NullCounts) -> Result<()> {
        let (Ok(rows), Ok(length)) = (usize::try_from(node.length()), usize::try_from(bitmap.length())) else {
            return Ok(()); // the crate reports it
        };
        let (bytes, start) = (rows.div_ceil(8), u64::try_from(bitmap.offset()).unwrap_or(u64::MAX));
        if node.null_count() != 0 || rows == 0 || length < bytes {
            return Ok(());
        }
        let bits = read(self.input, self.body.saturating_add(start), bytes)?;
        let nulls = rows - BooleanBuffer::new(Buffer::from(bits), 0, rows).count_set_bits();
        if nulls > 0 {
            // The number is the second half of the node, which is a part of the message.
            let at = std::ptr::from_ref(node).addr().saturating_sub(self.message.as_ptr().addr()) as u64 + 8;
            found.push((self.start + at, i64::try_from(nulls).unwrap_or(i64::MAX)));
        }
        Ok(())
    }
}

/// The parts of a batch that are not visited, in the order of the columns.
struct Columns<N, B, V> {
    nodes: N,
    buffers: B,
    view_counts: V,
    is_old: bool,
}

impl<'a, N, B, V> Columns<N, B, V>
where
    N: Iterator<Item = &'a FieldNode>,
    B: Iterator<Item = &'a BufferPlace>,
    V: Iterator<Item = i64>,
{
    /// Visits a column and those within it, each with its bitmap. Returns `None` if parts are missing.
    fn each(
        &mut self,
        data_type: &DataType,
        visit: &mut dyn FnMut(&FieldNode, &BufferPlace) -> Result<()>,
    ) -> Result<Option<()>> {
        use DataType::{
            Binary, BinaryView, FixedSizeList, LargeBinary, LargeList, LargeListView, LargeUtf8, List, ListView, Map,
            Null, RunEndEncoded, Struct, Union, Utf8, Utf8View,
        };
        let Some(node) = self.nodes.next() else { return Ok(None) };
        // The number of buffers, of which the first is the bitmap.
        let count = match data_type {
            Null | RunEndEncoded(..) => 0,
            Union(_, mode) => {
                let count = 1 + usize::from(self.is_old) + usize::from(*mode == UnionMode::Dense);
                if self.buffers.by_ref().take(count).count() < count {
                    return Ok(None);
                }
                0
            }
            Struct(_) | FixedSizeList(..) => 1,
            Utf8 | Binary | LargeUtf8 | LargeBinary | ListView(_) | LargeListView(_) => 3,
            Utf8View | BinaryView => {
                let views = self.view_counts.next().and_then(|count| usize::try_from(count).ok());
                let Some(views) = views else { return Ok(None) };
                views.saturating_add(2)
            }
            _ => 2,
        };
        if count > 0 {
            let Some(bitmap) = self.buffers.next() else { return Ok(None) };
            visit(node, bitmap)?;
            if self.buffers.by_ref().take(count - 1).count() < count - 1 {
                return Ok(None);
            }
        }
        let mut inner: Vec<&DataType> = Vec::new();
        match data_type {
            List(field)
            | LargeList(field)
            | Map(field, _)
            | ListView(field)
            | LargeListView(field)
            | FixedSizeList(field, _) => inner.push(field.data_type()),
            Struct(fields) => inner.extend(fields.iter().map(|field| field.data_type())),
            RunEndEncoded(ends, values) => inner.extend([ends.data_type(), values.data_type()]),
            Union(fields, _) => inner.extend(fields.iter().map(|(_, field)| field.data_type())),
            _ => {}
        }
        for data_type in inner {
            if self.each(data_type, visit)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }
}

/// Replaces wrong numbers in bytes of a file that begin at `start`.
pub(super) fn correct(bytes: &mut [u8], start: u64, counts: &[(u64, i64)]) {
    for &(at, count) in in_range(start, bytes.len(), counts) {
        for (place, byte) in (at..).zip(count.to_le_bytes()) {
            let index = place.checked_sub(start).and_then(|index| usize::try_from(index).ok());
            if let Some(target) = index.and_then(|index| bytes.get_mut(index)) {
                *target = byte;
            }
        }
    }
}

/// Returns the wrong numbers that overlap `length` bytes of a file.
pub(super) fn in_range(start: u64, length: usize, counts: &[(u64, i64)]) -> &[(u64, i64)] {
    let first = counts.partition_point(|&(at, _)| at.saturating_add(8) <= start);
    let end = counts.partition_point(|&(at, _)| at < start.saturating_add(length as u64));
    counts.get(first..end).unwrap_or_default()
}
