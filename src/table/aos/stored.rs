//! Records in files and archives: their bytes, with zeros where no column is, and the places of the columns. Records
//! are copied before they are written, because padding bytes must not be read.

use std::ops::Range;

use super::{AosNumericTable, RecordLayout, bytes_of};
use crate::array::{AnyArray, Array};
use crate::base::element::match_element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::Feature;
use crate::table::content::{Content, FoundContent, Stored, Values, refusal};
use crate::table::{NumericTable, TableKind};

impl Stored for AosNumericTable {
    const KIND: TableKind = TableKind::ARRAY_OF_STRUCTURES;

    fn content(&self) -> Result<Content<'_>> {
        let (kind, shape, layout, dictionary) = (Self::KIND, self.shape(), self.layout(), self.dictionary().clone());
        check_overlap(&layout)?;
        let mut bytes = Array::<u8>::zeros(bytes_of(shape.rows, &layout)?)?;
        let records = bytes.need_mutable_data()?;
        let mut settings = vec![layout.size() as u64];
        self.put_records(0..shape.rows, &layout, records)?;
        settings.extend(layout.fields().map(|(_, offset)| offset as u64));
        Ok(Content {
            kind,
            shape,
            settings,
            dictionary,
            values: vec![Values::Array(AnyArray::new(bytes))],
            gaps: Vec::new(),
        })
    }

    fn from_content(mut found: FoundContent) -> Result<Self> {
        let [bytes] = found.take_arrays(Self::KIND)?;
        let bytes = bytes.downcast::<u8>().map_err(|other| {
            refusal(Self::KIND, format_args!("records must be bytes, not {}", other.element_type()))
        })?;
        let (size, offsets) = found.settings.split_first().unwrap_or((&0, &[]));
        if offsets.len() != found.dictionary.len() {
            let (offsets, columns) = (offsets.len(), found.dictionary.len());
            return Err(refusal(Self::KIND, format_args!("{offsets} offsets for {columns} columns")));
        }
        let on_this_machine = |number: u64| {
            usize::try_from(number)
                .map_err(|_| refusal(Self::KIND, format_args!("{number} is not an offset in a record")))
        };
        let mut layout = RecordLayout::new(on_this_machine(*size)?);
        for (feature, &offset) in found.dictionary.iter().zip(offsets) {
            layout = layout.feature(Feature::new(feature.element_type), on_this_machine(offset)?)?;
        }
        if layout.size() == 0 {
            return Err(Error::record_layout(None, "a record must have at least one byte"));
        }
        if !bytes.len().is_multiple_of(layout.size()) {
            return Err(Error::record_layout(
                None,
                format!("{} bytes do not divide into records of {} bytes", bytes.len(), layout.size()),
            ));
        }
        // Records that are not aligned would be copied into larger ones, and a file could demand any amount of memory.
        if !layout.is_aligned() {
            return Err(refusal(Self::KIND, "a field is not aligned to its size"));
        }
        check_overlap(&layout)?;
        let bytes = with_native_fields(bytes, &layout)?;
        Self::of_own(bytes, &layout, layout.overlap())
    }
}

/// Checks that the byte order of the fields can be reversed between file and memory.
///
/// # Errors
/// [`ErrorKind::OverlappingFields`], on big-endian machines only: bytes of two fields cannot be reversed for both.
fn check_overlap(layout: &RecordLayout) -> Result<()> {
    match layout.overlap() {
        Some((first, second)) if cfg!(target_endian = "big") => {
            Err(Error::new(ErrorKind::OverlappingFields { first, second }))
        }
        _ => Ok(()),
    }
}

impl AosNumericTable {
    /// Copies the values of a range of rows into records of a layout with the same columns, in little-endian order as
    /// in files. Other bytes are unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::NotInMemory`].
    pub(crate) fn put_records(&self, rows: Range<usize>, layout: &RecordLayout, records: &mut [u8]) -> Result<()> {
        for (column, (feature, offset)) in layout.fields().enumerate() {
            let piece = self
                .piece(rows.start, column)?
                .ok_or_else(|| Error::new(ErrorKind::NotInMemory { row: rows.start, column }))?;
            let place = column - piece.region().columns.start;
            match_element!(feature.element_type, T => {
                let Some(view) = piece.view::<T>() else { continue }; // never: the dictionary has the types
                for (record, row) in records.chunks_exact_mut(layout.size()).zip(rows.clone()) {
                    if let Some(value) = view.value(row, place) {
                        let field = &mut record[offset..offset + size_of::<T>()];
                        field.copy_from_slice(bytemuck::bytes_of(&value));
                        if cfg!(target_endian = "big") {
                            field.reverse();
                        }
                    }
                }
            });
        }
        Ok(())
    }
}

/// Converts the fields of little-endian records to the byte order of this machine.
fn with_native_fields(mut bytes: Array<u8>, layout: &RecordLayout) -> Result<Array<u8>> {
    if cfg!(target_endian = "big") {
        for record in bytes.need_mutable_data()?.chunks_exact_mut(layout.size()) {
            for (feature, offset) in layout.fields() {
                record[offset..offset + feature.element_type.size_in_bytes()].reverse();
            }
        }
    }
    Ok(bytes)
}
