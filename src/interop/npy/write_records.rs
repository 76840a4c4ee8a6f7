//! Arrays of structures as `.npy` files and streams.
//!
//! Values are copied field by field, and the bytes between them are written as zeros: padding is never read.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use super::header::{code, encode_text};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::base::range;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::dictionary::Feature;
use crate::storage::options::SaveOptions;
use crate::storage::output::Output;
use crate::storage::replace::replace;
use crate::storage::{PIECE_BYTES, zeroed};
use crate::table::TableDescription;
use crate::table::aos::{AosNumericTable, RecordLayout};

impl AosNumericTable {
    /// Saves the table as a NumPy file of an array of structures, which atomically replaces an old one, as
    /// [`TableOutput::save`](crate::TableOutput::save) does.
    ///
    /// Each column becomes a field with its name. As in NumPy, a column without a name is named `f` and its index.
    /// Adjacent columns `v[0]`, `v[1]` ... become one array field `v`. The offsets are those of the records, and
    /// padding is written as zeros. If the columns are not in the order of their offsets, or overlap, the file has
    /// aligned fields in the order of the columns, because NumPy supports no other order. Only the names of the
    /// dictionary are kept.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`; [`ErrorKind::Unsupported`] for a name that NumPy cannot read
    /// or that two columns share; [`ErrorKind::LimitExceeded`]; otherwise those of
    /// [`TableOutput::save`](crate::TableOutput::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, npy, prelude::*, table::RecordLayout};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("records.npy");
    /// let layout = RecordLayout::new(16).field("kind", ElementType::U8, 0)?.field("value", ElementType::F64, 8)?;
    /// AosNumericTable::zeros(&layout, 2)?.save_npy(&path)?; // numpy.load("records.npy")["value"]
    /// let table = npy::load(&path)?;
    /// assert_eq!(table.dictionary().index_of("value"), Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_npy_with(path, SaveOptions::new())
    }

    /// Saves the table as [`save_npy`](Self::save_npy) does, with options. The option for checksums has no effect,
    /// because the format has none.
    ///
    /// # Errors
    /// Those of [`save_npy`](Self::save_npy).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, files::SaveOptions, prelude::*, table::RecordLayout};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("records.npy");
    /// let layout = RecordLayout::new(4).field("x", ElementType::F32, 0)?;
    /// AosNumericTable::zeros(&layout, 2)?.save_npy_with(&path, SaveOptions::new().durable(false))?;
    /// assert_eq!(AosNumericTable::load_npy(&path)?.row_count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let (layout, path) = (file_layout(self)?, path.as_ref());
        let header = encode(&layout, self.row_count())?;
        let bytes = Shape { rows: self.row_count(), columns: layout.size() }.element_count()? as u64;
        replace(path, &options, |sink| {
            let output = Output { sink, path };
            let meter = Meter::start(options.hook(), bytes);
            let mut position = header.len() as u64;
            output.reserve(position + bytes)?;
            for_each_piece(self, &layout, |piece| {
                output.write(piece, position)?;
                position += piece.len() as u64;
                meter.add(piece.len() as u64);
                Ok(())
            })?;
            output.write(&header, 0) // last, so that an incomplete file is never taken for an array
        })?;
        trace::record_long(CopyKind::Saved, bytes);
        Ok(())
    }

    /// Writes the table to a stream, in the format of [`save_npy`](Self::save_npy).
    ///
    /// # Errors
    /// Those of [`save_npy`](Self::save_npy), with [`ErrorKind::Io`] for errors of the stream.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// let layout = RecordLayout::new(8).field("kind", ElementType::U8, 0)?.field("value", ElementType::F32, 4)?;
    /// let mut bytes = Vec::new();
    /// AosNumericTable::zeros(&layout, 2)?.write_npy(&mut bytes)?;
    /// let header = b"{'descr': [('kind', '|u1'), ('', '|V3'), ('value', '<f4')], 'fortran_order': False, 'shape': (2,), }";
    /// assert!(bytes[10..].starts_with(header));
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn write_npy(&self, mut sink: impl Write) -> Result<()> {
        let layout = file_layout(self)?;
        let failed = |source| Error::stream(source);
        sink.write_all(&encode(&layout, self.row_count())?).map_err(failed)?;
        for_each_piece(self, &layout, |piece| sink.write_all(piece).map_err(failed))?;
        sink.flush().map_err(failed)?;
        trace::record(CopyKind::Saved, self.row_count() * layout.size());
        Ok(())
    }
}

/// Returns the layout of the records in a file: the table's layout, if its columns are in the order of their offsets.
pub(in crate::interop) fn file_layout(table: &AosNumericTable) -> Result<RecordLayout> {
    let layout = table.layout();
    let mut end = 0;
    let is_ordered = layout.fields().all(|(feature, offset)| {
        let is_after = offset >= end;
        end = offset + feature.element_type.size_in_bytes();
        is_after
    });
    if is_ordered {
        return Ok(layout);
    }
    let (mut places, mut end, mut alignment) = (Vec::new(), 0_usize, 1);
    for (feature, _) in layout.fields() {
        let size = feature.element_type.size_in_bytes();
        let offset = end.next_multiple_of(size);
        places.push((feature.clone(), offset));
        (end, alignment) = (offset + size, alignment.max(size));
    }
    let start = RecordLayout::new(end.next_multiple_of(alignment));
    places.into_iter().try_fold(start, |layout, (feature, offset)| layout.feature(feature, offset))
}

/// Returns the header of a file.
///
/// # Errors
/// [`ErrorKind::UnsupportedElementType`], [`ErrorKind::Unsupported`], [`ErrorKind::LimitExceeded`].
pub(in crate::interop) fn encode(layout: &RecordLayout, rows: usize) -> Result<Vec<u8>> {
    let fields = layout.fields().collect::<Vec<_>>();
    let (mut items, mut names, mut end, mut column) = (Vec::new(), HashSet::new(), 0, 0);
    let gap = |items: &mut Vec<String>, length: usize| {
        if length > 0 {
            items.push(format!("('', '|V{length}')"));
        }
    };
    while column < fields.len() {
        let (feature, offset) = fields[column];
        let (name, width) = match array(&fields[column..]) {
            Some((name, width)) => (name.to_owned(), Some(width)),
            None => {
                (feature.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("f{column}")), None)
            }
        };
        let refused = |reason| Error::unsupported("NumPy", Some(column), Some(name.chars().take(40).collect()), reason);
        let quoted = quote(&name).map_err(refused)?;
        if !names.insert(name.clone()) {
            return Err(refused("another column has the same name"));
        }
        gap(&mut items, offset - end);
        let (element, size) = (code(feature.element_type)?, feature.element_type.size_in_bytes());
        items.push(match width {
            Some(width) => format!("({quoted}, '{element}', ({width},))"),
            None => format!("({quoted}, '{element}')"),
        });
        end = offset + size * width.unwrap_or(1);
        column += width.unwrap_or(1);
    }
    gap(&mut items, layout.size() - end);
    let text = format!("{{'descr': [{}], 'fortran_order': False, 'shape': ({rows},), }}", items.join(", "));
    encode_text(text, rows)
}

/// Returns the name and the length of the array that the first columns form: adjacent columns `v[0]`, `v[1]` ...
fn array<'f>(fields: &[(&'f Feature, usize)]) -> Option<(&'f str, usize)> {
    let (first, start) = *fields.first()?;
    let name = first.name.as_deref()?.strip_suffix("[0]").filter(|name| !name.is_empty())?;
    let size = first.element_type.size_in_bytes();
    let goes_on = |&(index, &(feature, offset)): &(usize, &(&Feature, usize))| {
        let rest = feature.name.as_deref().and_then(|own| own.strip_prefix(name));
        let is_next = rest.is_some_and(|rest| rest == format!("[{index}]"));
        is_next && feature.element_type == first.element_type && offset == start + index * size
    };
    Some((name, fields.iter().enumerate().take_while(goes_on).count()))
}

/// Returns a name in Python syntax.
fn quote(name: &str) -> Result<String, &'static str> {
    if name.chars().any(|character| character.is_control() || character == '\\') {
        return Err("it has a control character or a backslash");
    }
    match (name.contains('\''), name.contains('"')) {
        (false, _) => Ok(format!("'{name}'")),
        (true, false) => Ok(format!("\"{name}\"")),
        (true, true) => Err("it has both kinds of quotation marks"),
    }
}

/// Calls `take` with the bytes of the records as written to files, piece by piece.
pub(in crate::interop) fn for_each_piece(
    table: &AosNumericTable,
    layout: &RecordLayout,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (rows, size) = (table.row_count(), layout.size());
    let in_piece = (PIECE_BYTES / size.max(1)).max(1);
    let mut room = zeroed(in_piece.min(rows).saturating_mul(size))?;
    for piece in range::cut(0..rows, in_piece) {
        let bytes = &mut room[..piece.len() * size];
        table.put_records(piece, layout, bytes)?;
        take(bytes)?;
    }
    Ok(())
}
