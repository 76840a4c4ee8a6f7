//! Checks of a footer and of page indexes, before the `parquet` crate allocates memory or recurses as they claim.
//!
//! The crate reads a field by its number and ignores its type. A field with a number of the format but another type is
//! therefore an error here: otherwise the crate would read other bytes than those that were checked. The schema is
//! parsed once, directly after its check, and a second one in the footer is skipped.

use std::sync::Arc;

use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::schema::types::SchemaDescriptor;
use bytes::Bytes;
#[cfg(doc)]
use numeric_table::ErrorKind;
use numeric_table::Result;

use super::input::{varint, zigzag};
use super::source::{LIBRARY, damaged, failed};
use crate::blocks::guarded;
use crate::input::Input;

/// The last bytes of a file.
const MAGIC: &[u8] = b"PAR1";
/// Maximum number of groups within groups.
const MAX_DEPTH: usize = 128;
/// Minimum number of bytes of an element of a schema, and of a row group: those of the fields that each has.
const MIN_ELEMENT: usize = 3;
const MIN_GROUP: usize = 8;
/// Maximum number of structures within a field that the `parquet` crate does not know.
const MAX_NESTED: usize = 8;

/// Types in the compact protocol of Thrift.
const BOOL: &[u8] = &[1, 2];
const BYTE: &[u8] = &[3];
const I32: &[u8] = &[5];
const I64: &[u8] = &[6];
const BINARY: &[u8] = &[8];
const LIST: &[u8] = &[9];
const STRUCT: &[u8] = &[12];

/// Why a footer is refused.
type Reason = &'static str;

const CUT_OFF: Reason = "the footer is cut off";
const UNUSUAL: Reason = "the footer has a form that no writer uses";

/// Checks the footer and returns its schema. Returns `None` for a file without a footer, whose error is that of the
/// `parquet` crate.
///
/// # Errors
/// [`ErrorKind::Format`]; [`ErrorKind::Foreign`].
pub(super) fn schema_of(input: &Input) -> Result<Option<Arc<SchemaDescriptor>>> {
    let Some(bytes) = footer_bytes(input) else { return Ok(None) };
    check_footer(&bytes).map_err(|reason| damaged(reason.to_owned()))?;
    let schema = guarded(LIBRARY, || ParquetMetaDataReader::decode_schema(&bytes))?;
    schema.map(Some).map_err(failed)
}

fn footer_bytes(input: &Input) -> Option<Bytes> {
    let end = input.length().checked_sub(8)?;
    let tail = input.bytes_at(end, 8).ok()?;
    let length = tail.first_chunk().filter(|_| tail.ends_with(MAGIC)).map(|bytes| u32::from_le_bytes(*bytes))?;
    input.bytes_at(end.checked_sub(length.into())?, length as usize).ok()
}

/// Checks the numbers in page indexes: the `parquet` crate allocates as many positions as each claims to have.
///
/// # Errors
/// [`ErrorKind::Format`].
pub(super) fn check_offset_indexes(input: &Input, metadata: &ParquetMetaData) -> Result<()> {
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let range = column.offset_index_offset().zip(column.offset_index_length());
        let Some((Ok(start), Ok(length))) = range.map(|(start, length)| (start.try_into(), usize::try_from(length)))
        else {
            continue; // there is none, or the `parquet` crate refuses it
        };
        let Ok(head) = input.bytes_at(start, length.min(8)) else { continue };
        let mut rest = &head[..];
        let count = match field(&mut rest, 0) {
            Ok((1, kind)) if LIST.contains(&kind) => list(&mut rest, STRUCT, 1).unwrap_or(usize::MAX),
            _ => continue, // the `parquet` crate refuses it
        };
        // Each position is a structure of three fields.
        if count > length / 7 {
            let name = column.column_path();
            let reason = format!("the page index of column {name} claims {count} pages in {length} bytes");
            return Err(damaged(reason));
        }
    }
    Ok(())
}

/// Checks the schema of a footer, and the number of its row groups.
fn check_footer(mut bytes: &[u8]) -> std::result::Result<(), Reason> {
    let (bytes, mut last, mut has_schema) = (&mut bytes, 0, false);
    loop {
        let (number, kind) = field(bytes, last)?;
        match (number, kind) {
            (_, 0) => return Ok(()),
            (1, kind) if I32.contains(&kind) => drop(varint(bytes).ok_or(CUT_OFF)?),
            (2, kind) if LIST.contains(&kind) => {
                check_schema(bytes)?;
                has_schema = true;
            }
            (3, kind) if I64.contains(&kind) => drop(varint(bytes).ok_or(CUT_OFF)?),
            (4, kind) if LIST.contains(&kind) && has_schema => {
                return list(bytes, STRUCT, MIN_GROUP).map(drop);
            }
            _ => return Err(UNUSUAL),
        }
        last = number;
    }
}

/// Checks the elements of a schema: the number of their children, and their depth.
fn check_schema(bytes: &mut &[u8]) -> std::result::Result<(), Reason> {
    let count = list(bytes, STRUCT, MIN_ELEMENT)?;
    let mut missing: Vec<u32> = Vec::new(); // the number of children of each open group that are to come
    for index in 0..count {
        let children = check_element(bytes)?;
        let left = count - index - 1;
        if usize::try_from(children).ok().is_none_or(|children| children > left) {
            return Err("a group of the schema claims more columns than there are");
        }
        if let Some(missing) = missing.last_mut() {
            *missing = missing.saturating_sub(1);
        }
        missing.push(children);
        while missing.pop_if(|missing| *missing == 0).is_some() {}
        if missing.len() > MAX_DEPTH {
            return Err("groups of the schema are nested more than 128 deep");
        }
    }
    Ok(())
}

/// Checks an element of a schema, and returns the number of its children.
fn check_element(bytes: &mut &[u8]) -> std::result::Result<u32, Reason> {
    let (mut last, mut children) = (0, 0);
    loop {
        let (number, kind) = field(bytes, last)?;
        let expected = match number {
            _ if kind == 0 => return Ok(children),
            4 => BINARY,
            1..=9 => I32,
            10 => STRUCT,
            _ => &[kind],
        };
        if !expected.contains(&kind) {
            return Err(UNUSUAL);
        }
        match number {
            5 => {
                let value = zigzag(varint(bytes).ok_or(CUT_OFF)?);
                children =
                    u32::try_from(value).map_err(|_| "a group of the schema has a negative number of columns")?;
            }
            10 => check_logical_type(bytes)?,
            _ => skip(bytes, kind, MAX_NESTED)?,
        }
        last = number;
    }
}

/// Checks a union of structures that the `parquet` crate reads by the numbers of their fields.
fn check_logical_type(bytes: &mut &[u8]) -> std::result::Result<(), Reason> {
    let (variant, kind) = field(bytes, 0)?;
    if !STRUCT.contains(&kind) {
        return Err(UNUSUAL);
    }
    let mut last = 0;
    loop {
        let (number, kind) = field(bytes, last)?;
        if kind == 0 {
            break;
        }
        let expected = match (variant, number) {
            (5, 1 | 2) | (18, 2) => I32,
            (7 | 8, 1) | (10, 2) => BOOL,
            (7 | 8, 2) => STRUCT,
            (10 | 16, 1) => BYTE,
            (17 | 18, 1) => BINARY,
            _ => &[kind],
        };
        if !expected.contains(&kind) {
            return Err(UNUSUAL);
        }
        skip(bytes, kind, MAX_NESTED)?;
        last = number;
    }
    match field(bytes, variant)? {
        (_, 0) => Ok(()),
        _ => Err(UNUSUAL),
    }
}

/// Reads the head of a field. Returns its number, which is more than `last`, and its type, which is 0 at the end.
fn field(bytes: &mut &[u8], last: i64) -> std::result::Result<(i64, u8), Reason> {
    let (&head, rest) = bytes.split_first().ok_or(CUT_OFF)?;
    *bytes = rest;
    let number = match (head >> 4, head & 0x0f) {
        (0, 0) => return Ok((last, 0)),
        (_, 0) => return Err(UNUSUAL),
        (0, _) => zigzag(varint(bytes).ok_or(CUT_OFF)?),
        (step, _) => last + i64::from(step),
    };
    match number > last && number <= i16::MAX.into() {
        true => Ok((number, head & 0x0f)),
        false => Err(UNUSUAL),
    }
}

/// Reads the head of a list and returns its number of items. An item has `least` bytes or more.
fn list(bytes: &mut &[u8], kind: &[u8], least: usize) -> std::result::Result<usize, Reason> {
    let (&head, rest) = bytes.split_first().ok_or(CUT_OFF)?;
    *bytes = rest;
    if head == 0 {
        return Ok(0); // some writers have no type for an empty list
    }
    let count = match head >> 4 {
        15 => varint(bytes).ok_or(CUT_OFF)?,
        count => count.into(),
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    match kind.contains(&(head & 0x0f)) {
        false => Err(UNUSUAL),
        true if least > 1 && count > bytes.len() / least => Err("the footer claims more than it has room for"),
        true => Ok(count),
    }
}

/// Skips a value of a type.
fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> std::result::Result<(), Reason> {
    let mut skip_bytes = |count: usize| {
        *bytes = bytes.split_at_checked(count).ok_or(CUT_OFF)?.1;
        Ok(())
    };
    match kind {
        1 | 2 => Ok(()), // a boolean is in its head
        3 => skip_bytes(1),
        4..=6 => varint(bytes).map(drop).ok_or(CUT_OFF),
        7 => skip_bytes(8),
        8 => {
            let length = varint(bytes).and_then(|length| usize::try_from(length).ok());
            *bytes = length.and_then(|length| bytes.split_at_checked(length)).ok_or(CUT_OFF)?.1;
            Ok(())
        }
        12 if depth > 0 => {
            let mut last = 0;
            loop {
                let (number, kind) = field(bytes, last)?;
                if kind == 0 {
                    return Ok(());
                }
                skip(bytes, kind, depth - 1)?;
                last = number;
            }
        }
        _ => Err(UNUSUAL), // no element of a schema has lists or maps
    }
}
