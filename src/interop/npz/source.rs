//! The data from which the array of a member is written: a table of one type, a column of a table, or records.
//!
//! Invalid input is rejected when a source is created, before anything is written.

use super::archive::{Archive, Member};
use super::names::{self, ENDING, MASK};
use crate::array::{Array, Validity};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::range;
use crate::base::shape::Shape;
use crate::base::text::excerpt;
use crate::convert::ConversionPolicy;
use crate::interop::gaps::refuse_missing;
use crate::interop::npy::header::NpyHeader;
use crate::interop::npy::parts::{encode_mask, encode_vector};
use crate::interop::npy::write_records;
use crate::lines::AnyLines;
use crate::storage::byte_order::swap_if_big_endian;
use crate::storage::output::{Lines, Output, for_each_piece};
use crate::storage::position::Sink;
use crate::storage::{PIECE_BYTES, zeroed};
use crate::table::aos::{AosNumericTable, RecordLayout};
use crate::table::content::{Column, Values};
use crate::table::{NumericTable, Region, TableDescription, Target, missing};
use crate::window::AnySliceMut;

/// The largest number of columns that become fields or separate arrays.
const COLUMN_LIMIT: usize = 1 << 16;

/// An array to write: its name, its header, and the source of its values.
pub(super) struct Source<'t> {
    pub(super) name: String,
    header: Vec<u8>,
    /// The number of bytes of the values.
    pub(super) bytes: u64,
    values: SourceValues<'t>,
}

enum SourceValues<'t> {
    Numbers(ElementType, AnyLines<'t>),
    Column(Values<'t>),
    /// A column with missing values, which are written as zeros.
    Nullable(Column<'t>, Validity),
    /// Which values of a column are missing.
    Mask(Validity),
    Records(&'t AosNumericTable, RecordLayout),
    Fields(&'t (dyn NumericTable + 't), RecordLayout),
}

impl<'t> Source<'t> {
    /// Creates the source of an array of numbers, or of an array of structures if the columns differ in type. Missing
    /// values become NaN in columns of floating-point numbers if `to_nan` is set.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], also for other missing values; those of a table that cannot be read; those of
    /// [`records`](Self::records) and [`ErrorKind::UnsupportedElementType`].
    pub(super) fn of(name: &str, table: &'t (dyn NumericTable + 't), to_nan: bool) -> Result<Self> {
        let element = match table.one_type() {
            Ok(element) => element,
            Err(error) => match error.kind() {
                ErrorKind::MixedElementTypes { .. } => return Self::records(name, table, to_nan),
                _ => return Err(error),
            },
        };
        refuse_missing(table, ".npz file", to_nan)?;
        let lines = AnyLines::in_order(table)?;
        let (layout, shape) = (lines.layout(), lines.table_shape());
        let header = NpyHeader::encode(element, layout, shape)?;
        let bytes = (shape.element_count_of(element)? * element.size_in_bytes()) as u64;
        Self::new(name, header, bytes, SourceValues::Numbers(element, lines))
    }

    /// Creates the source of an array of structures.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`]; [`ErrorKind::RecordLayout`] for a table without columns;
    /// [`ErrorKind::LimitExceeded`]; [`ErrorKind::UnsupportedElementType`].
    pub(super) fn records(name: &str, table: &'t (dyn NumericTable + 't), to_nan: bool) -> Result<Self> {
        refuse_missing(table, ".npz file", to_nan)?;
        let (rows, values) = match table.downcast_ref::<AosNumericTable>() {
            Some(records) => {
                (records.row_count(), SourceValues::Records(records, write_records::file_layout(records)?))
            }
            None => (table.shape().rows, SourceValues::Fields(table, aligned_layout(table)?)),
        };
        let (SourceValues::Records(_, layout) | SourceValues::Fields(_, layout)) = &values else {
            return Err(Error::record_layout(None, "a record must have at least one byte")); // never: one of both exists
        };
        if layout.is_empty() {
            return Err(Error::record_layout(None, "a record must have at least one byte"));
        }
        let header = write_records::encode(layout, rows)?;
        let bytes = Shape { rows, columns: layout.size() }.element_count()? as u64;
        Self::new(name, header, bytes, values)
    }

    /// Creates the sources of one array for each column, named after the column, or `f` and the index if it has no
    /// name, and of a mask after each column with missing values.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], [`ErrorKind::LimitExceeded`], [`ErrorKind::UnsupportedElementType`].
    pub(super) fn columns(table: &'t (dyn NumericTable + 't)) -> Result<Vec<Self>> {
        let (Shape { rows, columns }, dictionary) = (table.shape(), table.dictionary());
        dictionary.check_count(columns, || None)?;
        check_column_count(columns)?;
        let mut sources = Vec::new();
        for (column, feature) in dictionary.iter().enumerate() {
            let element = feature.element_type;
            let numbered = || format!("f{column}");
            let name = feature.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(numbered);
            if name.strip_suffix(MASK).is_some_and(|masked| dictionary.index_of(masked).is_some()) {
                return Err(refused(&name, "it is that of the mask of another column"));
            }
            let values = Column { table, column, element, rows };
            let bytes = (Shape { rows, columns: 1 }.element_count_of(element)? * element.size_in_bytes()) as u64;
            let header = encode_vector(element, rows)?;
            let validity = match dictionary.is_nullable(column) {
                true => missing::bitmap_of(table, column, rows)?,
                false => None,
            };
            let Some(validity) = validity else {
                sources.push(Self::new(&name, header, bytes, SourceValues::Column(Values::Column(values)))?);
                continue;
            };
            sources.push(Self::new(&name, header, bytes, SourceValues::Nullable(values, validity.clone()))?);
            let mask = SourceValues::Mask(validity);
            sources.push(Self::new(&format!("{name}{MASK}"), encode_mask(rows)?, rows as u64, mask)?);
        }
        Ok(sources)
    }

    fn new(name: &str, header: Vec<u8>, bytes: u64, values: SourceValues<'t>) -> Result<Self> {
        names::check(name).map_err(|reason| refused(name, reason))?;
        Ok(Self { name: name.to_owned(), header, bytes, values })
    }

    /// Writes the member.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; those of a table that cannot be read or has changed.
    pub(super) fn write(&self, archive: &mut Archive, output: &Output<'_, impl Sink>, compressed: bool) -> Result<()> {
        let size = self.header.len() as u64 + self.bytes;
        archive.member(output, &format!("{}{ENDING}", self.name), size, compressed, |member| {
            member.write(&self.header)?;
            match &self.values {
                SourceValues::Numbers(element, lines) => write_lines(member, lines, *element),
                SourceValues::Column(values) => write_lines(member, values, values.element_type()),
                SourceValues::Nullable(column, validity) => write_present(member, column, validity),
                SourceValues::Mask(validity) => write_mask(member, validity),
                SourceValues::Records(table, layout) => {
                    write_records::for_each_piece(table, layout, |bytes| member.write_values(bytes))
                }
                SourceValues::Fields(table, layout) => write_fields(member, *table, layout, self.bytes),
            }
        })
    }
}

/// Returns the error for a name that an array cannot have.
pub(super) fn refused(name: &str, reason: &'static str) -> Error {
    Error::unsupported(
        ".npz file",
        None,
        Some(excerpt(name.as_bytes())),
        format!("no array can have this name: {reason}"),
    )
}

fn check_column_count(columns: usize) -> Result<()> {
    match columns > COLUMN_LIMIT {
        true => Err(Error::limit("columns", columns, COLUMN_LIMIT)),
        false => Ok(()),
    }
}

/// Returns a layout with a field for each column, in column order, aligned as in C.
fn aligned_layout(table: &dyn NumericTable) -> Result<RecordLayout> {
    let (columns, dictionary) = (table.shape().columns, table.dictionary());
    dictionary.check_count(columns, || None)?;
    check_column_count(columns)?;
    let (mut offsets, mut end, mut alignment) = (Vec::new(), 0_usize, 1);
    for feature in dictionary.iter() {
        let size = feature.element_type.size_in_bytes();
        let offset = end.next_multiple_of(size);
        offsets.push(offset);
        (end, alignment) = (offset + size, alignment.max(size));
    }
    let start = RecordLayout::new(end.next_multiple_of(alignment));
    dictionary.iter().zip(offsets).try_fold(start, |layout, (feature, offset)| layout.feature(feature.clone(), offset))
}

fn write_lines(member: &mut Member<'_>, lines: &dyn Lines, element: ElementType) -> Result<()> {
    let count = lines.shape().element_count_of(element)?;
    for_each_piece(lines, element, 0..count, &mut |bytes| member.write_values(bytes))?;
    lines.check_unchanged(element)
}

/// Writes the values of a column, piece by piece, and zeros for missing ones.
fn write_present(member: &mut Member<'_>, column: &Column<'_>, validity: &Validity) -> Result<()> {
    let &Column { element, rows, .. } = column;
    let in_piece = PIECE_BYTES / element.size_in_bytes();
    for piece in range::cut(0..rows, in_piece) {
        let array = column.array_of(&piece)?;
        match_element!(element, T => {
            let mut values = Array::duplicate(array.as_slice().as_slice::<T>())?;
            let values = values.mutable_data()?;
            for row in validity.slice(piece)?.missing_rows() {
                values[row] = T::default();
            }
            let bytes = bytemuck::cast_slice_mut::<T, u8>(values);
            swap_if_big_endian(bytes, size_of::<T>());
            member.write_values(bytes)?;
        });
    }
    column.check_unchanged()
}

/// Writes a truth value for each row: whether its value is missing.
fn write_mask(member: &mut Member<'_>, validity: &Validity) -> Result<()> {
    let (mut flags, mut bytes) = (vec![false; PIECE_BYTES.min(validity.len())], Vec::new());
    for first in (0..validity.len()).step_by(PIECE_BYTES) {
        let flags = &mut flags[..PIECE_BYTES.min(validity.len() - first)];
        validity.write_flags(first, flags);
        bytes.clear();
        bytes.extend(flags.iter().map(|&is_present| u8::from(!is_present)));
        member.write_values(&bytes)?;
    }
    Ok(())
}

/// Writes the rows of a table as records, piece by piece. Each column is read and copied to its field. The bytes
/// between the fields are zero.
fn write_fields(member: &mut Member<'_>, table: &dyn NumericTable, layout: &RecordLayout, bytes: u64) -> Result<()> {
    let size = layout.size();
    let rows = usize::try_from(bytes).unwrap_or(usize::MAX) / size;
    let in_piece = (PIECE_BYTES / size).max(1);
    let mut room = zeroed(in_piece.min(rows).saturating_mul(size))?;
    for piece in range::cut(0..rows, in_piece) {
        let records = &mut room[..piece.len() * size];
        for (column, (feature, offset)) in layout.fields().enumerate() {
            let region = Region { rows: piece.clone(), columns: column..column + 1 };
            match_element!(feature.element_type, T => put_column::<T>(table, &region, records, size, offset)?);
        }
        member.write_values(records)?;
    }
    let dictionary = table.dictionary();
    let is_unchanged = table.shape() == Shape { rows, columns: layout.len() }
        && layout.fields().zip(dictionary.iter()).all(|((field, _), now)| field.element_type == now.element_type);
    match is_unchanged {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::ShapeMismatch {
            expected: Shape { rows, columns: layout.len() },
            actual: table.shape(),
        })),
    }
}

/// Copies the values of a column into records of `size` bytes, from byte `offset` of each record, in little-endian
/// order.
fn put_column<T: Element>(
    table: &dyn NumericTable,
    region: &Region,
    records: &mut [u8],
    size: usize,
    offset: usize,
) -> Result<()> {
    let mut values = Array::<T>::zeros(region.rows.len())?;
    let values = values.mutable_data()?;
    let target = Target::new(AnySliceMut::new(values), region.shape(), ConversionPolicy::Saturate)?;
    table.read_region(region, target.allow_partial_write())?;
    let bytes = bytemuck::cast_slice_mut::<T, u8>(values);
    swap_if_big_endian(bytes, size_of::<T>());
    for (record, value) in records.chunks_exact_mut(size).zip(bytes.chunks_exact(size_of::<T>())) {
        record[offset..offset + size_of::<T>()].copy_from_slice(value);
    }
    Ok(())
}
