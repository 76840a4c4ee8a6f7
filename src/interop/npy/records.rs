//! Arrays of structures: their headers, and reading their records.
//!
//! Invariant of [`RecordHeader`]: the size in bytes of all records fits the address space of this machine, and the
//! number of columns is at most [`COLUMN_LIMIT`].

use std::io::Read;
use std::path::Path;

use super::header::{AnyHeader, check_length, element};
use super::literal::{LiteralField, LiteralRefusal};
use super::values::{NpyPayload, read_parts};
use crate::array::Array;
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Hint, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::storage::open::{open_regular, read};
use crate::storage::{PIECE_BYTES, run_length, zeroed};
use crate::table::aos::{AosNumericTable, RecordLayout, Repacking};

/// The largest number of columns: a few bytes of a header can claim any number.
const COLUMN_LIMIT: usize = 1 << 16;

/// A field that becomes one or several columns.
#[derive(Debug)]
struct Field {
    name: String,
    element: ElementType,
    is_big_endian: bool,
    offset: usize,
    count: usize,
    is_array: bool,
}

/// The fields of a record, in the order of the file.
#[derive(Debug)]
pub(super) struct RecordFields {
    fields: Vec<Field>,
    size: usize,
}

/// The description of an array of structures.
#[derive(Debug)]
pub(in crate::interop) struct RecordHeader {
    pub(super) fields: RecordFields,
    pub(in crate::interop) rows: usize,
    /// Number of bytes before the records.
    pub(super) length: usize,
    /// Position of the description of the fields in the file.
    pub(super) descr_at: usize,
}

/// Reads the list of fields.
pub(super) fn record_fields(list: &[LiteralField<'_>], is_utf8: bool) -> Result<RecordFields, LiteralRefusal> {
    let (mut fields, mut size, mut columns) = (Vec::new(), 0_usize, 0_usize);
    for (index, literal) in list.iter().enumerate() {
        let refuse = |reason: String| LiteralRefusal { at: literal.at, reason };
        let name = name_of(literal.name, is_utf8).map_err(refuse)?;
        let too_large = || refuse("a field is too large for this machine".to_owned());
        let mut sizes = literal.sizes.iter().map(|&size| usize::try_from(size).ok());
        let count = sizes.try_fold(1_usize, |count, size| count.checked_mul(size?)).ok_or_else(too_large)?;
        let is_padding = name.is_empty() && literal.code.starts_with(b"|V");
        let each = match is_padding {
            true => padding(&literal.code[2..]).ok_or_else(too_large)?,
            false => {
                let in_field = |reason| refuse(format!("field '{}': {reason}", name.escape_default()));
                let (element, is_big_endian) = element(literal.code).map_err(in_field)?;
                columns = columns.saturating_add(count);
                if columns > COLUMN_LIMIT {
                    return Err(refuse(format!("more than {COLUMN_LIMIT} columns")));
                }
                let name = if name.is_empty() { format!("f{index}") } else { name };
                let is_array = !literal.sizes.is_empty();
                fields.push(Field { name, element, is_big_endian, offset: size, count, is_array });
                element.size_in_bytes()
            }
        };
        size = each.checked_mul(count).and_then(|bytes| size.checked_add(bytes)).ok_or_else(too_large)?;
    }
    Ok(RecordFields { fields, size })
}

/// Returns the number of bytes that a `V` with a number stands for.
fn padding(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

fn name_of(name: &[u8], is_utf8: bool) -> Result<String, String> {
    match is_utf8 {
        true => String::from_utf8(name.to_vec()).map_err(|_| "a name that is not UTF-8".to_owned()),
        false => Ok(name.iter().copied().map(char::from).collect()), // Latin-1: the first 256 characters
    }
}

/// Returns the number of records of a one-dimensional array.
pub(super) fn row_count(sizes: &[u64]) -> Result<usize, String> {
    match *sizes {
        [rows] => usize::try_from(rows).map_err(|_| format!("{rows} is more than this machine can count")),
        [] => Err("an array of 0 dimensions is one record, not a table; in Python: a.reshape(1)".to_owned()),
        _ => {
            let count = sizes.len();
            Err(format!("an array of structures with {count} dimensions is not a table; in Python: a.reshape(-1)"))
        }
    }
}

impl RecordHeader {
    /// Checks the sizes.
    ///
    /// # Errors
    /// The reason why they are invalid.
    pub(super) fn check_size(&self) -> Result<(), String> {
        if self.fields.size == 0 {
            return Err("records without bytes".to_owned());
        }
        let bytes = Shape { rows: self.rows, columns: self.fields.size };
        bytes.element_count().map(drop).map_err(|_| format!("{} are too large for this machine", self.described()))
    }

    fn described(&self) -> String {
        format!("{} records of {} bytes", self.rows, self.fields.size)
    }

    /// Returns the size in bytes of all records.
    fn payload_length(&self) -> usize {
        self.rows * self.fields.size // cannot overflow, by the invariant
    }

    /// Checks that the records end where the file ends.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(in crate::interop) fn check_file_length(&self, real_length: u64) -> Result<()> {
        check_length(self.length, self.payload_length(), &self.described(), real_length)
    }

    /// Returns the layout of the records in the file.
    pub(in crate::interop) fn layout(&self) -> Result<RecordLayout> {
        let start = RecordLayout::new(self.fields.size);
        self.fields.fields.iter().try_fold(start, |layout, field| match field.is_array {
            true => layout.array(&field.name, field.element, field.offset, field.count),
            false => layout.field(&*field.name, field.element, field.offset),
        })
    }
}

/// How the records of a file are converted to those of a table.
struct Plan {
    size: usize,
    /// The layout of the table.
    layout: RecordLayout,
    /// Set if the fields are not aligned in the file.
    repacking: Option<Repacking>,
    /// Offset and size of each number in the table's records whose byte order must be swapped.
    swapped: Vec<(usize, usize)>,
}

impl Plan {
    fn new(header: &RecordHeader) -> Result<Self> {
        let in_file = header.layout()?;
        let layout = if in_file.is_aligned() { in_file.clone() } else { in_file.aligned()? };
        let repacking = if in_file.is_aligned() { None } else { Some(Repacking::new(&in_file, &layout)?) };
        let is_big_endian =
            header.fields.fields.iter().flat_map(|field| std::iter::repeat_n(field.is_big_endian, field.count));
        let swapped = layout.fields().zip(is_big_endian).filter_map(|((feature, offset), is_big_endian)| {
            let size = feature.element_type.size_in_bytes();
            (size > 1 && is_big_endian != cfg!(target_endian = "big")).then_some((offset, size))
        });
        Ok(Self { size: header.fields.size, swapped: swapped.collect(), repacking, layout })
    }

    /// Converts the bytes of the table's records to native order.
    fn swap(&self, records: &mut [u8]) {
        if self.swapped.is_empty() {
            return;
        }
        for record in records.chunks_exact_mut(self.layout.size()) {
            for &(offset, size) in &self.swapped {
                record[offset..offset + size].reverse();
            }
        }
    }
}

/// Reads all records into memory allocated by the library.
fn load(header: &RecordHeader, payload: &impl NpyPayload) -> Result<AosNumericTable> {
    let plan = Plan::new(header)?;
    let (size, to_size) = (plan.size, plan.layout.size());
    let mut array = Array::<u8>::zeros(Shape { rows: header.rows, columns: to_size }.element_count()?)?;
    let in_run = (run_length(header.payload_length()) / size).max(1);
    let in_piece = (PIECE_BYTES / size).max(1);
    let runs = array.mutable_data()?.chunks_mut(in_run.saturating_mul(to_size)).enumerate().collect();
    let done = parallel::map(runs, |(index, run): (usize, &mut [u8])| {
        let mut position = index * in_run * size;
        let mut room = Vec::new();
        for piece in run.chunks_mut(in_piece.saturating_mul(to_size)) {
            let bytes = piece.len() / to_size * size;
            match &plan.repacking {
                None => payload.fetch(piece, position)?,
                Some(repacking) => {
                    if room.len() < bytes {
                        room = zeroed(bytes)?;
                    }
                    payload.fetch(&mut room[..bytes], position)?;
                    repacking.copy(&room[..bytes], piece);
                }
            }
            plan.swap(piece);
            position += bytes;
        }
        Ok(())
    });
    done.into_iter().collect::<Result<()>>()?;
    trace::record(CopyKind::Loaded, array.len());
    AosNumericTable::of_own(array, &plan.layout, None)
}

/// Reads all records from a stream, which may end too early. Allocates at most `known` bytes, the number known to be
/// available, or twice the number of bytes read so far, plus 1 MiB.
pub(in crate::interop) fn read_records(
    header: &RecordHeader,
    source: &mut impl Read,
    known: usize,
) -> Result<AosNumericTable> {
    let (plan, length) = (Plan::new(header)?, header.payload_length());
    let mut bytes = read_parts::<u8>(header.length, length, &header.described(), source, known, |_| {})?;
    if let Some(repacking) = &plan.repacking {
        let mut copy = Array::zeros(Shape { rows: header.rows, columns: plan.layout.size() }.element_count()?)?;
        repacking.par_copy(&bytes, copy.mutable_data()?);
        bytes = copy;
    }
    if !bytes.is_empty() {
        plan.swap(bytes.mutable_data()?);
    }
    trace::record(CopyKind::Loaded, bytes.len());
    AosNumericTable::of_own(bytes, &plan.layout, None)
}

/// The records of an open file.
struct RecordFile<'f> {
    file: &'f std::fs::File,
    path: &'f Path,
    start: usize,
}

impl NpyPayload for RecordFile<'_> {
    fn fetch(&self, buffer: &mut [u8], position: usize) -> Result<()> {
        read(self.file, self.path, buffer, (self.start + position) as u64)
    }
}

/// Loads the records of an open file whose header has been checked against its actual length.
pub(super) fn load_records(file: &std::fs::File, path: &Path, header: &RecordHeader) -> Result<AosNumericTable> {
    load(header, &RecordFile { file, path, start: header.length })
}

impl AosNumericTable {
    /// Loads a table from a NumPy file of an array of structures, into memory allocated by the library.
    ///
    /// Each field becomes a column. A field that is an array becomes a column per number: `v[0]`, `v[1]` ... Padding is
    /// preserved. Fields that are not aligned, the default of NumPy without `align=True`, are copied into
    /// [`aligned`](RecordLayout::aligned) records. Big-endian fields are converted.
    ///
    /// Safe with untrusted files: a failed load allocates at most twice the file's actual size, plus 16 MiB for the
    /// description of at most 65,536 columns.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Format`] with the reason and the position, for fields of text,
    /// objects, booleans or structures, more than one dimension, or an array of plain numbers;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*};
    /// #[derive(Clone, Copy, Debug, PartialEq)]
    /// #[repr(C)]
    /// struct Flow {
    ///     bytes: f32,
    ///     port: u16,
    /// }
    /// numeric_table::impl_record!(Flow { bytes, port });
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("flows.npy");
    /// AosNumericTable::from_records(vec![Flow { bytes: 1.5, port: 80 }])?.save_npy(&path)?;
    /// let table = AosNumericTable::load_npy(&path)?;
    /// assert_eq!(table.dictionary().index_of("port"), Some(1));
    /// assert_eq!(table.records::<Flow>()?, [Flow { bytes: 1.5, port: 80 }]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let in_file = |source| Error::io(path, source);
        let (file, real_length) = open_regular(path).map_err(in_file)?;
        let header = records_only(AnyHeader::read(&mut &file, &in_file)).map_err(|error| error.in_file(path))?;
        header.check_file_length(real_length).map_err(|error| error.in_file(path))?;
        load_records(&file, path, &header)
    }

    /// Reads one array of structures from a stream, and no bytes after its end.
    ///
    /// # Errors
    /// Those of [`load_npy`](Self::load_npy), with [`ErrorKind::Io`] for errors of the stream. A stream that ends too
    /// early is [`ErrorKind::Format`]; by then, at most twice the number of bytes read, plus 16 MiB, has been
    /// allocated.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AosNumericTable, prelude::*, table::RecordLayout};
    /// let layout = RecordLayout::new(8).field("x", ElementType::F32, 0)?.field("count", ElementType::U16, 4)?;
    /// let mut bytes = Vec::new();
    /// AosNumericTable::zeros(&layout, 3)?.write_npy(&mut bytes)?;
    /// assert_eq!(AosNumericTable::read_npy(&bytes[..])?.layout(), layout);
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn read_npy(mut source: impl Read) -> Result<Self> {
        let header = records_only(AnyHeader::read(&mut source, &|source| Error::stream(source)))?;
        read_records(&header, &mut source, 0)
    }
}

fn records_only(header: Result<AnyHeader>) -> Result<RecordHeader> {
    match header? {
        AnyHeader::Records(header) => Ok(header),
        AnyHeader::Numbers(_) => {
            let error = Error::format(0, "an array of numbers, not of structures");
            Err(error.with_hint(Hint::new("HomogenNumericTable::load_npy", "reads it")))
        }
    }
}
