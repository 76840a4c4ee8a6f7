//! The header of a `.npy` file: its first bytes and the dictionary after them.
//!
//! Decoding trusts no value in the file: computations with the shape of a decoded [`NpyHeader`] cannot overflow.
//! Source: NumPy Enhancement Proposal 1, and `numpy/lib/format.py`.

use std::io::{self, Read};

use super::literal::{Literal, LiteralParser, LiteralRefusal};
use super::records::{RecordFields, RecordHeader, record_fields, row_count};
use crate::base::copy::CopyReason;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::shape::Shape;
use crate::table::DataLayout;

const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// In files that NumPy writes, the values begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// The longest header that version 1 allows, or that NumPy writes for plain numbers.
const LENGTH_LIMIT: usize = u16::MAX as usize;
/// NumPy reserves room for this number of digits, so that an array can grow in its file.
const DIGITS: usize = 21;

/// The description of one array of numbers, with one or two dimensions.
///
/// Invariant: the size in bytes of the values fits the address space of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) struct NpyHeader {
    pub(in crate::interop) element_type: ElementType,
    pub(super) is_big_endian: bool,
    pub(in crate::interop) layout: DataLayout,
    pub(in crate::interop) shape: Shape,
    /// Number of bytes before the values.
    pub(super) length: usize,
}

impl NpyHeader {
    /// Reads the header of an array of numbers from the start of a file or stream, and no bytes after it.
    ///
    /// # Errors
    /// Those of [`AnyHeader::read`]; [`ErrorKind::Format`] for an array of structures.
    pub(in crate::interop) fn read(source: &mut impl Read, failed: &dyn Fn(std::io::Error) -> Error) -> Result<Self> {
        match AnyHeader::read(source, failed)? {
            AnyHeader::Numbers(header) => Ok(header),
            AnyHeader::Records(header) => {
                let reason = "a structured array has values of several types in one row";
                let hint = Hint::new("AosNumericTable::load_npy", "reads it");
                Err(Error::format(header.descr_at as u64, reason).with_hint(hint))
            }
        }
    }

    /// Returns the size in bytes of all values.
    pub(super) fn payload_length(&self) -> usize {
        // Cannot overflow, by the invariant.
        self.shape.rows * self.shape.columns * self.element_type.size_in_bytes()
    }

    /// Checks that the values end where the file ends.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(in crate::interop) fn check_file_length(&self, real_length: u64) -> Result<()> {
        let described = format!("{} {} values", self.shape, self.element_type);
        check_length(self.length, self.payload_length(), &described, real_length)
    }

    /// Checks that the values have the expected type. `converter` is the name of the call that accepts other types.
    pub(in crate::interop) fn check_type(&self, expected: ElementType, converter: Option<&'static str>) -> Result<()> {
        match self.element_type {
            found if found == expected => Ok(()),
            found => {
                let error = Error::element_type_mismatch(expected, found);
                Err(match converter {
                    Some(call) => error.with_hint(Hint::new(call, "converts")),
                    None => error,
                })
            }
        }
    }

    /// Returns the reason why the values cannot be used in place at an address; `None` if they can, or there are none.
    pub(super) fn copy_reason(&self, address: usize) -> Option<CopyReason> {
        let size = self.element_type.size_in_bytes();
        if self.payload_length() == 0 {
            return None;
        }
        if size > 1 && self.is_big_endian != cfg!(target_endian = "big") {
            return Some(CopyReason::ByteOrder);
        }
        // Every element type is aligned to its size, or less.
        (!address.is_multiple_of(size)).then_some(CopyReason::Alignment)
    }

    /// Returns the header of a little-endian array, identical to NumPy's byte by byte.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedElementType`] for `bf16`.
    pub(in crate::interop) fn encode(element_type: ElementType, layout: DataLayout, shape: Shape) -> Result<Vec<u8>> {
        let descr = code(element_type)?;
        let Shape { rows, columns } = shape;
        // One row, one column, and arrays without values have both orders: NumPy calls that C order.
        let is_fortran = layout == DataLayout::ColumnMajor && rows > 1 && columns > 1;
        let (order, growing) = if is_fortran { ("True", columns) } else { ("False", rows) };
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}");
        encode_text(text, growing)
    }
}

/// The description of one array: of numbers, or of structures.
#[derive(Debug)]
pub(in crate::interop) enum AnyHeader {
    Numbers(NpyHeader),
    Records(RecordHeader),
}

/// The type in a header.
enum Descr {
    Number((ElementType, bool)),
    /// The fields, and their position in the text.
    Fields(RecordFields, usize),
}

impl AnyHeader {
    /// Reads a header from the start of a file or stream, and no bytes after it.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the reason and the position; `failed` for an error of `source`.
    pub(in crate::interop) fn read(source: &mut impl Read, failed: &dyn Fn(std::io::Error) -> Error) -> Result<Self> {
        let Dictionary { text, start, is_utf8 } = Dictionary::read(source, failed)?;
        Self::parse(&text, start, is_utf8)
    }

    /// Parses the text of a header, which begins at `start` in the file.
    fn parse(text: &[u8], start: usize, is_utf8: bool) -> Result<Self> {
        let refuse = |LiteralRefusal { at, reason }| Error::format((start + at) as u64, reason);
        let (mut descr, mut order, mut shape) = (None, None, None);
        let entries = LiteralParser::new(text).dictionary(|key, value, at| match (key, value) {
            (b"descr", Literal::Text(text)) => put(&mut descr, element(text).map(Descr::Number), key, at),
            (b"descr", Literal::List(fields)) => {
                put(&mut descr, Ok(Descr::Fields(record_fields(&fields, is_utf8)?, at)), key, at)
            }
            (b"fortran_order", Literal::Flag(flag)) => put(&mut order, Ok(flag), key, at),
            (b"shape", Literal::Tuple(sizes)) => put(&mut shape, Ok((sizes, at)), key, at),
            (b"descr" | b"fortran_order" | b"shape", _) => {
                Err(LiteralRefusal { at, reason: format!("invalid value for '{}'", key.escape_ascii()) })
            }
            _ => {
                Err(LiteralRefusal { at, reason: format!("unknown key '{}'", key[..key.len().min(32)].escape_ascii()) })
            }
        });
        entries.map_err(refuse)?;
        let (Some(descr), Some(is_fortran), Some((sizes, at))) = (descr, order, shape) else {
            let reason = "'descr', 'fortran_order' or 'shape' is missing".to_owned();
            return Err(Error::format(start as u64, reason));
        };
        let refuse_shape = |reason| refuse(LiteralRefusal { at, reason });
        let (element_type, is_big_endian) = match descr {
            Descr::Number(number) => number,
            Descr::Fields(fields, descr_at) => {
                let rows = row_count(&sizes).map_err(refuse_shape)?;
                let header = RecordHeader { fields, rows, length: start + text.len(), descr_at: start + descr_at };
                header.check_size().map_err(|reason| Error::format(start as u64, reason))?;
                return Ok(Self::Records(header));
            }
        };
        let shape = shape_of(&sizes).map_err(refuse_shape)?;
        shape.element_count_of(element_type).map_err(|_| {
            Error::format(start as u64, format!("{shape} {element_type} values are too large for this machine"))
        })?;
        let layout = if is_fortran { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let length = start + text.len();
        Ok(Self::Numbers(NpyHeader { element_type, is_big_endian, layout, shape, length }))
    }
}

/// The text of a header, a dictionary.
pub(super) struct Dictionary {
    pub(super) text: Vec<u8>,
    /// Its position in the file.
    pub(super) start: usize,
    pub(super) is_utf8: bool,
}

impl Dictionary {
    /// Reads the first bytes of a file or stream, and the text.
    ///
    /// # Errors
    /// [`ErrorKind::Format`]; `failed` for an error of `source`.
    pub(super) fn read(source: &mut impl Read, failed: &dyn Fn(std::io::Error) -> Error) -> Result<Self> {
        let mut start = [0; 12];
        fill(source, &mut start[..8], 0, check_magic, failed)?;
        let size = match start[6..8] {
            [1, 0] => 2,
            [2 | 3, 0] => 4,
            _ => {
                let (major, minor) = (start[6], start[7]);
                let reason = format!("version {major}.{minor} is unknown: supported are 1.0, 2.0 and 3.0");
                return Err(Error::format(6, reason));
            }
        };
        fill(source, &mut start[8..8 + size], 8, |_| Ok(()), failed)?;
        // Little-endian; absent bytes are zero.
        let [.., a, b, c, d] = start;
        let text_length = u32::from_le_bytes([a, b, c, d]) as usize;
        if text_length > LENGTH_LIMIT {
            let reason = format!("a header of {text_length} bytes is longer than that of any array of numbers");
            return Err(Error::format(8, reason));
        }
        let mut text = vec![0; text_length];
        fill(source, &mut text, (8 + size) as u64, |_| Ok(()), failed)?;
        Ok(Self { text, start: 8 + size, is_utf8: start[6] == 3 })
    }
}

/// Checks that values that begin at byte `start` of a file end where the file ends.
///
/// # Errors
/// [`ErrorKind::Format`].
pub(super) fn check_length(start: usize, length: usize, described: &str, real_length: u64) -> Result<()> {
    let end = start as u64 + length as u64;
    if real_length < end {
        let reason = format!("the file is cut off: {described} end at byte {end}, but it has {real_length}");
        return Err(Error::format(real_length, reason));
    }
    if real_length > end {
        let reason = format!("bytes after the array: {}; {described} end at byte {end}", real_length - end);
        return Err(Error::format(end, reason).with_hint(Hint::new("read_npy", "reads several arrays from one file")));
    }
    Ok(())
}

/// Returns a header with the given text of its dictionary, identical to NumPy's byte by byte. `growing` is the length
/// of the axis that may grow in the file.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`].
pub(super) fn encode_text(mut text: String, growing: usize) -> Result<Vec<u8>> {
    let room = DIGITS.saturating_sub(growing.to_string().len());
    let (version, size) = if text.is_ascii() { (1, 2) } else { (3, 4) };
    let start = 8 + size;
    let length = (start + text.len() + room + 1).next_multiple_of(ALIGNMENT) - start;
    if length > LENGTH_LIMIT {
        return Err(Error::limit("bytes of a header (use shorter names)", length, LENGTH_LIMIT));
    }
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    let mut bytes = [&MAGIC[..], &[version, 0]].concat();
    bytes.extend(&(length as u32).to_le_bytes()[..size]);
    bytes.extend(text.as_bytes());
    Ok(bytes)
}

/// Returns the name of a type in a header.
///
/// # Errors
/// [`ErrorKind::UnsupportedElementType`] for `bf16`.
pub(super) fn code(element: ElementType) -> Result<&'static str> {
    Ok(match element {
        ElementType::F16 => "<f2",
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
        ElementType::I8 => "|i1",
        ElementType::I16 => "<i2",
        ElementType::I32 => "<i4",
        ElementType::I64 => "<i8",
        ElementType::U8 => "|u1",
        ElementType::U16 => "<u2",
        ElementType::U32 => "<u4",
        ElementType::U64 => "<u8",
        ElementType::Bf16 => return Err(Error::new(ErrorKind::UnsupportedElementType { element, target: "NumPy" })),
    })
}

/// Fills a buffer from a position in the file. Calls `check` with the bytes that could be read before checking the
/// length.
pub(super) fn fill(
    source: &mut impl Read,
    buffer: &mut [u8],
    position: u64,
    check: impl FnOnce(&[u8]) -> Result<()>,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<()> {
    let mut count = 0;
    while count < buffer.len() {
        match source.read(&mut buffer[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    check(&buffer[..count])?;
    if count < buffer.len() {
        let reason = "it is cut off within its header".to_owned();
        return Err(Error::format(position + count as u64, reason));
    }
    Ok(())
}

/// Checks that a file begins with [`MAGIC`]. If it does not, the error names the probable format of the file.
fn check_magic(start: &[u8]) -> Result<()> {
    if start.starts_with(&MAGIC) {
        return Ok(());
    }
    let reason = match start {
        [] => "it is empty",
        _ if MAGIC.starts_with(start) => {
            let reason = "it is cut off within its first 6 bytes".to_owned();
            return Err(Error::format(start.len() as u64, reason));
        }
        [0x89, b'N', b'T', b'B', ..] => {
            let error = Error::format(0, "this is a table file of this library");
            return Err(error.with_hint(Hint::new("load_any", "reads it")));
        }
        [b'P', b'K', 3, 4, ..] => {
            let error = Error::format(0, "this is a zip file, perhaps .npz");
            return Err(error.with_hint(Hint::new("NpzReader", "reads those")));
        }
        [0x1f, 0x8b, ..] => "this is compressed with gzip: decompress it first",
        [0x80, 2..=5, ..] => "this is a Python pickle, which is never loaded because it could run code",
        _ => "this is not a .npy file",
    };
    Err(Error::format(0, reason))
}

pub(super) fn put<T>(
    slot: &mut Option<T>,
    value: Result<T, String>,
    key: &[u8],
    at: usize,
) -> Result<(), LiteralRefusal> {
    let value = value.map_err(|reason| LiteralRefusal { at, reason })?;
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(LiteralRefusal { at, reason: format!("the key '{}' occurs twice", key.escape_ascii()) }),
    }
}

/// Converts dimensions to a shape: two are rows and columns; one is a single column.
pub(super) fn shape_of(sizes: &[u64]) -> Result<Shape, String> {
    let size = |size: u64| usize::try_from(size).map_err(|_| format!("{size} is more than this machine can count"));
    match *sizes {
        [rows, columns] => Ok(Shape { rows: size(rows)?, columns: size(columns)? }),
        [rows] => Ok(Shape { rows: size(rows)?, columns: 1 }),
        [] => Err("an array of 0 dimensions is one number, not a table; in Python: a.reshape(1, 1)".to_owned()),
        _ => Err(format!(
            "an array of {} dimensions is not a table, which has 2; in Python: a.reshape(len(a), -1)",
            sizes.len()
        )),
    }
}

/// Returns the element type, and whether its bytes are big-endian.
pub(super) fn element(descr: &[u8]) -> Result<(ElementType, bool), String> {
    let (order, code) = match descr {
        [order @ (b'<' | b'>' | b'=' | b'|'), code @ ..] => (Some(*order), code),
        code => (None, code),
    };
    let element_type = match code {
        b"f2" => ElementType::F16,
        b"f4" => ElementType::F32,
        b"f8" => ElementType::F64,
        b"i1" => ElementType::I8,
        b"i2" => ElementType::I16,
        b"i4" => ElementType::I32,
        b"i8" => ElementType::I64,
        b"u1" => ElementType::U8,
        b"u2" => ElementType::U16,
        b"u4" => ElementType::U32,
        b"u8" => ElementType::U64,
        _ => return Err(refusal(descr, code)),
    };
    match order {
        _ if element_type.size_in_bytes() == 1 => Ok((element_type, false)),
        Some(b'<') => Ok((element_type, false)),
        Some(b'>') => Ok((element_type, true)),
        _ => Err(format!("the type '{}' does not specify its byte order", descr.escape_ascii())),
    }
}

/// Describes a type that tables do not support.
fn refusal(descr: &[u8], code: &[u8]) -> String {
    let what = match code {
        b"b1" => "truth values; in Python: a.astype('u1')",
        b"V2" => "raw bytes; if they are bfloat16, in Python: a.astype('f4')",
        [b'f', ..] => "long floats, which differ between machines; in Python: a.astype('f8')",
        [b'c', ..] => "complex numbers; in Python: a.real and a.imag",
        [b'O', ..] => "Python objects, which are never loaded because they could run code",
        [b'S' | b'a' | b'U', ..] => "text",
        [b'M' | b'm', ..] => "dates or durations; in Python: a.astype('i8')",
        [b'V', ..] => "raw bytes",
        _ => "a type that NumPy does not write for numbers",
    };
    format!("the type '{}' is not supported by tables: {what}", descr[..descr.len().min(32)].escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a string as if 10 bytes preceded it, as in a file.
    fn parse(text: &str) -> Result<NpyHeader> {
        match AnyHeader::parse(text.as_bytes(), 10, false)? {
            AnyHeader::Numbers(header) => Ok(header),
            AnyHeader::Records(_) => panic!("structures"),
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for &element_type in ElementType::ALL {
            for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
                for shape in [Shape::new(3, 2), Shape::new(0, usize::MAX), Shape::new(1 << (usize::BITS - 9), 1)] {
                    let Ok(bytes) = NpyHeader::encode(element_type, layout, shape) else {
                        assert_eq!(element_type, ElementType::Bf16);
                        continue;
                    };
                    assert!(bytes.len().is_multiple_of(64) && bytes.ends_with(b" \n"));
                    let header = NpyHeader::read(&mut &bytes[..], &|source| Error::stream(source)).unwrap();
                    let length = bytes.len();
                    let layout = if shape == Shape::new(3, 2) { layout } else { DataLayout::RowMajor };
                    assert_eq!(header, NpyHeader { element_type, is_big_endian: false, layout, shape, length });
                }
            }
        }
    }

    #[test]
    fn keys_stand_in_any_order_and_python_2_wrote_long_numbers() {
        let header = parse("{ \"shape\":(3L , 2L) , 'fortran_order':True,'descr' : '>i2' }").unwrap();
        assert_eq!(header.shape, Shape::new(3, 2));
        assert!(header.is_big_endian && header.layout == DataLayout::ColumnMajor);
        assert_eq!(parse("{'descr': 'u1', 'fortran_order': False, 'shape': (7,)}").unwrap().shape, Shape::new(7, 1));
    }
}
