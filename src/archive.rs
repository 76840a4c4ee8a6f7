//! Archives of tables in memory: DAAL's `serialize` and `deserialize`, through serde.
//!
//! An archive is the encoding (little-endian, fixed-width integers, `u64` lengths: see `encode`) of a header followed
//! by data. The header contains a magic number, the version and the kind of the table. The data of a
//! homogeneous table are its element type and the table as `serde.rs` writes it; for other kinds, they are the output
//! of `serde/content.rs`. Version 1 has no kind: its tables are homogeneous. Version 3 is written if categories have
//! labels, and version 4 if a column is nullable. All versions stay readable. Decoding borrows: it allocates nothing
//! before lengths, types and the shape have been checked against the actual number of bytes. Table files have a
//! different format: see [`crate::format`].

mod decode;
mod encode;
mod failure;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::decode::Decoder;
use self::encode::Encoder;
use self::failure::Failure;
use crate::array::vector_with_room;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::dictionary::DataDictionary;
use crate::serde::content::FoundTable;
use crate::serde::dictionary::size_of_texts;
use crate::serde::take_refusal;
use crate::table::content::{self, Content, Form, Stored, with_stored_kinds};
use crate::table::{HomogenNumericTable, NumericTable, TableConversion, TableKind};

/// `NUMTABLE`: the first eight bytes.
const MAGIC: u64 = u64::from_le_bytes(*b"NUMTABLE");
/// The newest version, in which values can be missing.
const VERSION: u32 = 4;
/// The version that is written if categories have labels but no column is nullable.
const VERSION_WITHOUT_GAPS: u32 = 3;
/// The version that is written if no category has labels and no column is nullable.
const VERSION_WITHOUT_WORDS: u32 = 2;
/// The oldest version that can be read. All versions from this one to [`VERSION`] can be read.
const OLDEST_VERSION: u32 = 1;

/// Returns the version in which a table with this dictionary is written: the lowest one that can represent it.
fn version_of(dictionary: &DataDictionary) -> u32 {
    match dictionary.has_nullable() {
        true => VERSION,
        false if dictionary.has_labels() => VERSION_WITHOUT_GAPS,
        false => VERSION_WITHOUT_WORDS,
    }
}

/// Positions in an archive of the version, and of the length and the bytes of the kind's name. In version 1, the
/// element type is at the position of that length.
const VERSION_AT: usize = 8;
const KIND_AT: usize = 12;
const KIND_NAME_AT: usize = KIND_AT + 8;

const HOMOGENEOUS: &str = TableKind::HOMOGENEOUS.name();

/// The beginning of the archive of a homogeneous table.
#[derive(Serialize)]
struct ArchiveHeader {
    magic: u64,
    version: u32,
    kind: &'static str,
    element_type: ElementType,
}

/// The content of an archive by the kind of its table. A new kind needs an entry in the list of
/// `crate::table::content`, but none here.
enum ArchiveContent {
    Homogeneous {
        element_type: ElementType,
        /// The position of the table in the archive.
        start: usize,
    },
    /// A table of the kind with this name, which consists of arrays. It begins with the name.
    Arrays(&'static str),
}

impl ArchiveContent {
    /// Reads everything before the table.
    fn open(bytes: &[u8]) -> Result<Self> {
        let (kind, start) = match read_version(bytes)? {
            1 => (HOMOGENEOUS, KIND_AT),
            _ => read_kind(bytes)?,
        };
        match kind {
            HOMOGENEOUS => {
                let (element_type, consumed) = decode(bytes, start)?;
                Ok(Self::Homogeneous { element_type, start: start + consumed })
            }
            _ => match content::stored_kind(kind) {
                Some(kind) => Ok(Self::Arrays(kind)),
                None => Err(TableKind::unknown(kind, KIND_NAME_AT as u64)),
            },
        }
    }
}

impl ArchiveContent {
    /// Returns the error for an archive that holds a different kind of table than expected.
    fn is_no(&self, expected: TableKind) -> Error {
        let found = match self {
            Self::Homogeneous { .. } => HOMOGENEOUS,
            Self::Arrays(kind) => kind,
        };
        Error::new(ErrorKind::TableKindMismatch { expected: expected.name(), actual: found })
    }
}

/// The beginning of any other archive. The rest begins with the name of the kind.
#[derive(Serialize)]
struct ArraysHeader {
    magic: u64,
    version: u32,
}

/// Writes the archive of a table that consists of arrays.
fn write_arrays(content: &Content<'_>) -> Result<Vec<u8>> {
    let sizes = content.values.iter().map(|values| values.len().saturating_mul(values.element_type().size_in_bytes()));
    let bitmaps = content.gaps.len().saturating_mul(content.shape.rows.div_ceil(8) + 64);
    let header = ArraysHeader { magic: MAGIC, version: version_of(&content.dictionary) };
    encode(sizes.fold(256_usize.saturating_add(bitmaps), usize::saturating_add), &(header, content))
}

/// Reads the content of an archive of a table that consists of arrays. Only its length has been checked.
fn read_arrays(bytes: &[u8]) -> Result<FoundTable<'_>> {
    let (table, consumed) = decode(bytes, KIND_AT)?;
    check_end(bytes, KIND_AT + consumed)?;
    trace::record(CopyKind::Loaded, bytes.len());
    Ok(table)
}

/// Checks that nothing follows the table.
fn check_end(bytes: &[u8], end: usize) -> Result<()> {
    match bytes.len() - end {
        0 => Ok(()),
        rest => Err(Error::format(end as u64, format!("bytes after the table: {rest}"))),
    }
}

macro_rules! stored_kinds {
    ($(($Kind:ty, $name:literal, $example:literal)),*) => {$(
        impl $Kind {
            /// Reads a table from an archive. The content is checked like data from a caller.
            ///
            /// # Errors
            /// [`ErrorKind::Format`] with the reason and the position; [`ErrorKind::TableKindMismatch`] if it holds
            /// another kind of table; [`ErrorKind::OutOfMemory`].
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*};")]
            #[doc = concat!("let table = ", $example, ";")]
            #[doc = concat!("let back = ", $name, "::from_bytes(&table.to_bytes()?)?;")]
            /// assert_eq!(back.rows::<f64>(..)?[..], table.rows::<f64>(..)?[..]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                match ArchiveContent::open(bytes)? {
                    ArchiveContent::Arrays(kind) if kind == <Self as Stored>::KIND.name() => {
                        read_arrays(bytes)?.into_content()?.into_kind()
                    }
                    other => Err(other.is_no(<Self as Stored>::KIND)),
                }
            }
        }
    )*};
}
with_stored_kinds!(stored_kinds);

impl<T: Element> HomogenNumericTable<T> {
    /// Writes the table to an archive in memory.
    ///
    /// # Errors
    /// The errors of [`TableOutput::to_bytes`](crate::TableOutput::to_bytes).
    fn archive(&self) -> Result<Vec<u8>> {
        self.view()?;
        let listed = self.dictionary().listed();
        let texts: usize = listed.clone().map(size_of_texts).sum();
        let room = self.shape().element_count()? * size_of::<T>() + listed.len() * 32 + texts + 256;
        let header = ArchiveHeader {
            magic: MAGIC,
            version: version_of(self.dictionary()),
            kind: HOMOGENEOUS,
            element_type: T::TYPE,
        };
        encode(room, &(header, self))
    }

    /// Reads a table from an archive, which must hold `T` and end after the table. Copies the values once.
    ///
    /// Safe with untrusted bytes: allocates at most twice their size plus 1 MiB, and 3.5 times the size of a dictionary
    /// whose categories have labels. Source: DAAL `deserialize`, which checks neither the format nor the type.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the reason; [`ErrorKind::ElementTypeMismatch`]; [`ErrorKind::TableKindMismatch`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let bytes = HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_bytes()?;
    /// let error = HomogenNumericTable::<i32>::from_bytes(&bytes).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }));
    /// let error = HomogenNumericTable::<i16>::from_bytes(&bytes[..20]).unwrap_err();
    /// assert!(matches!(error.kind(), ErrorKind::Format { .. }));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (element_type, start) = match ArchiveContent::open(bytes)? {
            ArchiveContent::Homogeneous { element_type, start } => (element_type, start),
            other => return Err(other.is_no(TableKind::HOMOGENEOUS)),
        };
        if element_type != T::TYPE {
            return Err(Error::element_type_mismatch(T::TYPE, element_type));
        }
        Self::from_bytes_after_header(bytes, start)
    }

    fn from_bytes_after_header(bytes: &[u8], start: usize) -> Result<Self> {
        let (table, consumed): (Self, usize) = decode(bytes, start)?;
        check_end(bytes, start + consumed)?;
        trace::record(CopyKind::Loaded, bytes.len());
        Ok(table)
    }
}

/// Writes a table of any kind to an archive in memory.
///
/// # Errors
/// The errors of [`TableOutput::to_bytes`](crate::TableOutput::to_bytes).
pub(crate) fn to_bytes(table: &(dyn NumericTable + '_)) -> Result<Vec<u8>> {
    let bytes = match Content::of(table)? {
        Form::Arrays(content) => write_arrays(&content),
        Form::OneType(element, _) => match_element!(element, T => {
            match table.downcast_ref::<HomogenNumericTable<T>>() {
                Some(table) => table.archive(),
                None => table.convert::<T>()?.archive(),
            }
        }),
    }?;
    trace::record(CopyKind::Saved, bytes.len());
    Ok(bytes)
}

/// Reads a table from an archive, with the kind and the element types of the archive.
///
/// # Errors
/// The errors of [`HomogenNumericTable::from_bytes`], but any element type and any kind is accepted.
///
/// # Examples
/// ```
/// use numeric_table::{files, prelude::*};
/// let bytes = HomogenNumericTable::from_rows(&[[1_i16, 2]])?.to_bytes()?;
/// let table = files::from_bytes(&bytes)?;
/// assert_eq!((table.uniform_type(), &table.rows::<f64>(0..1)?[..]), (Some(ElementType::I16), &[1.0, 2.0][..]));
/// # Ok::<(), numeric_table::Error>(())
/// ```
pub fn from_bytes(bytes: &[u8]) -> Result<Box<dyn NumericTable>> {
    match ArchiveContent::open(bytes)? {
        ArchiveContent::Homogeneous { element_type, start } => match_element!(element_type, T => {
            Ok(HomogenNumericTable::<T>::from_bytes_after_header(bytes, start)?.into_dyn())
        }),
        ArchiveContent::Arrays(_) => read_arrays(bytes)?.into_table(),
    }
}

/// Reads and checks the magic number and the version.
fn read_version(bytes: &[u8]) -> Result<u32> {
    let starts_well = bytes.get(..8).is_some_and(|magic| magic == MAGIC.to_le_bytes());
    if !starts_well {
        return Err(Error::format(0, "this is not an archive of a numeric table"));
    }
    let (version, _) = decode(bytes, VERSION_AT)?;
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        let advice = if version > VERSION { "; a newer version of the library reads it" } else { "" };
        let reason = format!(
            "the archive has version {version}, and this library reads versions {OLDEST_VERSION} to {VERSION}{advice}"
        );
        return Err(Error::format(VERSION_AT as u64, reason));
    }
    Ok(version)
}

/// Reads the name of the table's kind. Returns the name and the position after it.
fn read_kind(bytes: &[u8]) -> Result<(&str, usize)> {
    let (length, _) = decode(bytes, KIND_AT)?;
    let end = KIND_NAME_AT + TableKind::check_length(length, KIND_AT as u64)?;
    let name = bytes.get(KIND_NAME_AT..end).ok_or_else(|| cut_off(bytes, end - bytes.len()))?;
    Ok((TableKind::check_name(name, KIND_NAME_AT as u64)?, end))
}

/// Encodes a value into a buffer with an initial capacity of `room` bytes.
///
/// # Errors
/// [`ErrorKind::Format`] if its `Serialize` fails; [`ErrorKind::OutOfMemory`].
pub(crate) fn encode(room: usize, value: &impl Serialize) -> Result<Vec<u8>> {
    let mut archive = vector_with_room(room)?;
    take_refusal(); // clears that of an earlier encoding
    match value.serialize(Encoder::new(&mut archive)) {
        Ok(()) => Ok(archive),
        Err(Failure::Refused(error)) => Err(error),
        Err(failure) => Err(take_refusal().unwrap_or_else(|| Error::format(0, failure.to_string()))),
    }
}

/// Returns the error for an archive that ends too early.
pub(crate) fn cut_off(bytes: &[u8], missing: usize) -> Error {
    Error::format(bytes.len() as u64, Failure::End { missing }.to_string())
}

/// Decodes from a position; returns the value and the number of bytes consumed.
pub(crate) fn decode<'a, D: Deserialize<'a>>(bytes: &'a [u8], start: usize) -> Result<(D, usize)> {
    take_refusal(); // clears that of an earlier decoding
    let mut decoder = Decoder::new(&bytes[start..]);
    let failure = match D::deserialize(&mut decoder) {
        Ok(value) => return Ok((value, bytes.len() - start - decoder.remaining())),
        Err(failure) => failure,
    };
    Err(match (take_refusal(), failure) {
        (Some(refusal), _) => refusal,
        (None, Failure::End { missing }) => cut_off(bytes, missing),
        (None, failure) => Error::format(start as u64, failure.to_string()),
    })
}
