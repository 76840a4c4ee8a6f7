//! The content of a file by the kind of its table. Only here does the name of a kind select a reader.
//!
//! A new kind needs an entry in the list of `crate::table::content`, but none here.

use std::path::Path;

use super::arrays::ArraysHeader;
use super::file::TableFile;
use super::header::{HomogeneousHeader, ends_early, refusal};
use super::homogeneous::HomogeneousFile;
use super::load::load_stored;
use super::preamble::{PREAMBLE_BYTES, Preamble};
use super::values::verify;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::progress::Meter;
use crate::table::content::{self, FoundContent, Stored};
use crate::table::{NumericTable, TableKind};

pub(super) const HOMOGENEOUS: &str = TableKind::HOMOGENEOUS.name();

/// Positions of the kind's name in a file: of its length and of its bytes.
const LENGTH_AT: u64 = PREAMBLE_BYTES as u64;
const NAME_AT: u64 = LENGTH_AT + 1;

/// A decoded header of a homogeneous table or of any other kind.
#[derive(Debug)]
pub(super) enum Header {
    Homogeneous(HomogeneousHeader),
    /// A table of the kind with this name, which consists of arrays.
    Arrays(&'static str, ArraysHeader),
}

impl Header {
    /// Decodes the header of a file.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first broken rule; [`ErrorKind::OutOfMemory`].
    pub(super) fn decode(preamble: &Preamble, header: Vec<u8>) -> Result<Self> {
        let (kind, start) = if preamble.names_kind() { read_kind(&header)? } else { (HOMOGENEOUS, 0) };
        let &Preamble { major, payload_length, .. } = preamble;
        match kind {
            HOMOGENEOUS => HomogeneousHeader::decode(header, start, major, payload_length).map(Self::Homogeneous),
            _ => {
                let known = content::stored_kind(kind).ok_or_else(|| TableKind::unknown(kind, NAME_AT))?;
                Ok(Self::Arrays(known, ArraysHeader::decode(header, start, major, payload_length)?))
            }
        }
    }
}

/// An open file and its header, in which everything except the values has been checked.
pub(super) enum FileContent {
    Homogeneous(HomogeneousFile, HomogeneousHeader),
    /// A table of the kind with this name, which consists of arrays.
    Arrays(&'static str, ArraysHeader, TableFile),
}

impl FileContent {
    /// Opens a file and checks everything except its values. Allocates only the bytes of the header, from which the
    /// dictionary can be built.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), [`ErrorKind::Format`](crate::ErrorKind::Format),
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_known(path).map_err(|error| error.in_file(path))
    }

    fn open_known(path: &Path) -> Result<Self> {
        let (file, header) = TableFile::open(path)?;
        Ok(match Header::decode(file.preamble(), header)? {
            Header::Homogeneous(header) => Self::Homogeneous(HomogeneousFile::new(file, &header), header),
            Header::Arrays(kind, header) => Self::Arrays(kind, header, file),
        })
    }

    /// Returns the file of a homogeneous table and its header.
    ///
    /// # Errors
    /// [`ErrorKind::TableKindMismatch`](crate::ErrorKind::TableKindMismatch).
    pub(super) fn homogeneous(self) -> Result<(HomogeneousFile, HomogeneousHeader)> {
        match self {
            Self::Homogeneous(file, header) => Ok((file, header)),
            Self::Arrays(found, _, file) => Err(mismatch(TableKind::HOMOGENEOUS, found, &file)),
        }
    }

    /// Loads the table, of any kind.
    ///
    /// # Errors
    /// The errors of reading the file; [`ErrorKind::Format`](crate::ErrorKind::Format) if the content is not a valid
    /// table of its kind.
    pub(super) fn load(self, meter: Option<&Meter>) -> Result<Box<dyn NumericTable>> {
        match self {
            Self::Homogeneous(file, header) => load_stored(&file, |element| header.dictionary(element), meter),
            Self::Arrays(kind, header, file) => {
                table_of(kind, header.load(&file, meter)?).map_err(|error| error.in_file(file.path()))
            }
        }
    }

    /// Loads the table, which must be of the kind `K`.
    ///
    /// # Errors
    /// The errors of [`load`](Self::load); [`ErrorKind::TableKindMismatch`](crate::ErrorKind::TableKindMismatch).
    pub(super) fn load_kind<K: Stored>(self) -> Result<K> {
        match self {
            Self::Arrays(kind, header, file) if kind == K::KIND.name() => {
                let table = header.load(&file, None)?.into_kind();
                table.map_err(|error| error.in_file(file.path()))
            }
            Self::Arrays(found, _, file) => Err(mismatch(K::KIND, found, &file)),
            Self::Homogeneous(file, _) => Err(mismatch(K::KIND, HOMOGENEOUS, &file.parts)),
        }
    }

    /// Compares all checksums. Returns whether there are any.
    pub(super) fn verify(&self, meter: Option<&Meter>) -> Result<bool> {
        verify(self.file(), meter)
    }

    /// Sets whether all values are compared with their checksums before they are used.
    ///
    /// # Errors
    /// The errors of [`TableFile::compare_values`].
    pub(super) fn compare_values(&mut self, is_wanted: bool) -> Result<()> {
        match self {
            Self::Homogeneous(file, _) => file.parts.compare_values(is_wanted),
            Self::Arrays(.., file) => file.compare_values(is_wanted),
        }
    }

    /// Borrows the file without its kind.
    pub(super) fn file(&self) -> &TableFile {
        match self {
            Self::Homogeneous(file, _) => &file.parts,
            Self::Arrays(.., file) => file,
        }
    }
}

/// Reads the name at the beginning of a header. Returns the name and the position of the rest of the header.
fn read_kind(header: &[u8]) -> Result<(&str, usize)> {
    let (&length, rest) = header.split_first().ok_or_else(|| ends_early(0))?;
    let length = TableKind::check_length(length.into(), LENGTH_AT)?;
    let name = rest.get(..length).ok_or_else(|| {
        let left = rest.len();
        refusal(0, format!("the name of the table's kind has {length} bytes, but the header ends after {left} of them"))
    })?;
    Ok((TableKind::check_name(name, NAME_AT)?, 1 + length))
}

/// Creates a table from its deserialized content.
///
/// # Errors
/// [`ErrorKind::Format`] if the content is not a valid table of its kind.
pub(super) fn table_of(kind: &str, content: FoundContent) -> Result<Box<dyn NumericTable>> {
    content.into_table(kind).unwrap_or_else(|| Err(TableKind::unknown(kind, NAME_AT)))
}

fn mismatch(expected: TableKind, found: &'static str, file: &TableFile) -> Error {
    Error::new(ErrorKind::TableKindMismatch { expected: expected.name(), actual: found }).in_file(file.path())
}

/// Appends the length and the bytes of a kind's name. A header begins with them.
pub(super) fn append_kind(header: &mut Vec<u8>, kind: TableKind) {
    header.push(kind.name().len() as u8); // no name is longer than the limit
    header.extend(kind.name().bytes());
}
