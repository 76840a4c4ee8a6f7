//! The content of a file by the kind of its table: the only place where the name of a kind selects a reader.
//!
//! A new kind needs a variant of [`FileContent`], with its own header and its own way to read values, and an arm in
//! [`FileContent::open`]. The compiler then lists the code that has to handle the variant.

use std::path::Path;

use super::file::TableFile;
use super::header::{HomogeneousHeader, ends_early, refusal};
use super::homogeneous::HomogeneousFile;
use super::preamble::PREAMBLE_BYTES;
use crate::base::error::Result;
use crate::table::TableKind;

const HOMOGENEOUS: &str = TableKind::HOMOGENEOUS.name();

/// Positions of the kind's name in a file: of its length, and of its bytes.
const LENGTH_AT: u64 = PREAMBLE_BYTES as u64;
const NAME_AT: u64 = LENGTH_AT + 1;

/// An open file, checked in everything but its values, and its header.
pub(super) enum FileContent {
    Homogeneous(HomogeneousFile, HomogeneousHeader),
}

impl FileContent {
    /// Opens a file and checks everything but its values. Allocates only the bytes of its header, from which the
    /// dictionary can be built.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Format`](crate::Error::Format),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn open(path: &Path) -> Result<Self> {
        Self::open_known(path).map_err(|error| error.in_file(path))
    }

    fn open_known(path: &Path) -> Result<Self> {
        let (file, header) = TableFile::open(path)?;
        let (kind, start) = if file.names_kind() { read_kind(&header)? } else { (HOMOGENEOUS, 0) };
        match kind {
            HOMOGENEOUS => {
                let header = HomogeneousHeader::decode(header, start, file.payload_length())?;
                Ok(Self::Homogeneous(HomogeneousFile::new(file, &header), header))
            }
            _ => Err(TableKind::unknown(kind, NAME_AT)),
        }
    }
}

/// Reads the name at the beginning of a header; returns it, and the position of the rest of the header.
fn read_kind(header: &[u8]) -> Result<(&str, usize)> {
    let (&length, rest) = header.split_first().ok_or_else(|| ends_early(0))?;
    let length = TableKind::check_length(length.into(), LENGTH_AT)?;
    let name = rest.get(..length).ok_or_else(|| {
        let left = rest.len();
        refusal(0, format!("the name of the table's kind has {length} bytes, and the header ends after {left} of them"))
    })?;
    Ok((TableKind::check_name(name, NAME_AT)?, 1 + length))
}

/// Appends the length and the bytes of a kind's name, with which a header begins.
pub(super) fn append_kind(header: &mut Vec<u8>, kind: TableKind) {
    header.push(kind.name().len() as u8); // no name is longer than the limit
    header.extend(kind.name().bytes());
}
