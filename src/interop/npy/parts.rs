//! Arrays that are not tables but parts of sparse matrices or of columns: one-dimensional arrays, short strings, and
//! masks of truth values.

use std::io::Read;

use super::header::{Dictionary, code, encode_text, fill, put, shape_of};
use super::literal::{Literal, LiteralParser, LiteralRefusal};
use crate::base::element::ElementType;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::shape::Shape;
use crate::table::DataLayout;

/// The longest name, in characters.
const NAME_LIMIT: usize = 64;

/// Returns the header of a little-endian array of one dimension.
///
/// # Errors
/// [`ErrorKind::UnsupportedElementType`] for `bf16`.
pub(in crate::interop) fn encode_vector(element_type: ElementType, length: usize) -> Result<Vec<u8>> {
    encode_described(code(element_type)?, length)
}

/// Returns the header of an array of one dimension.
///
/// # Errors
/// None: the header is short.
fn encode_described(descr: impl std::fmt::Display, length: usize) -> Result<Vec<u8>> {
    encode_text(format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({length},), }}"), length)
}

/// Returns a short text of ASCII characters as an array of no dimension: header and text.
///
/// # Errors
/// None: the header is short.
pub(in crate::interop) fn encode_name(name: &str) -> Result<Vec<u8>> {
    let length = name.len();
    let mut bytes = encode_text(format!("{{'descr': '|S{length}', 'fortran_order': False, 'shape': (), }}"), 0)?;
    bytes.extend_from_slice(name.as_bytes());
    Ok(bytes)
}

/// Reads an array of no dimension that is a short text, such as the name of a format. Returns its ASCII characters.
///
/// # Errors
/// [`ErrorKind::Format`]; `failed` for an error of `source`.
pub(in crate::interop) fn read_name(
    source: &mut impl Read,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<String> {
    let Dictionary { text, start, .. } = Dictionary::read(source, failed)?;
    let refuse = |LiteralRefusal { at, reason }| Error::format((start + at) as u64, reason);
    let mut width = None;
    let entries = LiteralParser::new(&text).dictionary(|key, value, at| match (key, value) {
        (b"descr", Literal::Text([b'|' | b'<' | b'>' | b'=', kind @ (b'S' | b'U'), digits @ ..])) => {
            let length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<usize>().ok());
            match length.filter(|&length| length <= NAME_LIMIT) {
                Some(length) => put(&mut width, Ok(if *kind == b'U' { 4 * length } else { length }), key, at),
                None => Err(LiteralRefusal { at, reason: "a text that is too long for a name".into() }),
            }
        }
        (b"shape", Literal::Tuple(sizes)) if sizes.is_empty() => Ok(()),
        (b"fortran_order", Literal::Flag(_)) => Ok(()),
        _ => Err(LiteralRefusal { at, reason: "this is not a single text".into() }),
    });
    entries.map_err(refuse)?;
    let Some(width) = width else { return Err(Error::format(start as u64, "'descr' is missing")) };
    let mut bytes = vec![0; width];
    fill(source, &mut bytes, (start + text.len()) as u64, |_| Ok(()), failed)?;
    // A wide character has zeros around it.
    Ok(bytes.into_iter().filter(|&byte| byte != 0).map(char::from).collect())
}

/// The description of an array of truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::interop) struct MaskHeader {
    /// The shape; `None` for a single truth value.
    pub(in crate::interop) shape: Option<Shape>,
    pub(in crate::interop) layout: DataLayout,
    /// Number of bytes before the values.
    pub(in crate::interop) length: usize,
}

/// Returns the header of an array of truth values of one dimension.
///
/// # Errors
/// None: the header is short.
pub(in crate::interop) fn encode_mask(length: usize) -> Result<Vec<u8>> {
    encode_described("|b1", length)
}

/// Reads the header of an array of truth values, with at most two dimensions. Returns `None` for an array of another
/// type.
///
/// # Errors
/// [`ErrorKind::Format`]; `failed` for an error of `source`.
pub(in crate::interop) fn read_mask(
    source: &mut impl Read,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<Option<MaskHeader>> {
    let Dictionary { text, start, .. } = Dictionary::read(source, failed)?;
    let refuse = |LiteralRefusal { at, reason }| Error::format((start + at) as u64, reason);
    let (mut is_bool, mut order, mut shape) = (None, None, None);
    let entries = LiteralParser::new(&text).dictionary(|key, value, at| match (key, value) {
        (b"descr", Literal::Text(b"|b1" | b"b1" | b"?" | b"|?")) => put(&mut is_bool, Ok(true), key, at),
        (b"descr", Literal::Text(_) | Literal::List(_)) => put(&mut is_bool, Ok(false), key, at),
        (b"fortran_order", Literal::Flag(flag)) => put(&mut order, Ok(flag), key, at),
        (b"shape", Literal::Tuple(sizes)) => put(&mut shape, Ok((sizes, at)), key, at),
        _ => Err(LiteralRefusal { at, reason: "this is not the header of an array".into() }),
    });
    entries.map_err(refuse)?;
    let (Some(is_bool), Some(is_fortran), Some((sizes, at))) = (is_bool, order, shape) else {
        return Err(Error::format(start as u64, "'descr', 'fortran_order' or 'shape' is missing"));
    };
    if !is_bool {
        return Ok(None);
    }
    let shape = match &sizes[..] {
        [] => None,
        sizes => Some(shape_of(sizes).map_err(|reason| refuse(LiteralRefusal { at, reason }))?),
    };
    let layout = if is_fortran { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
    Ok(Some(MaskHeader { shape, layout, length: start + text.len() }))
}
