//! The beginning of a table file that is stored elsewhere: the complete description, decoded from its first bytes.
//!
//! The rules are the same as for files: "Rules for readers" in `README.md`. The caller fetches the bytes.

use std::ops::Range;

use super::header::HomogeneousHeader;
use super::kind::{HOMOGENEOUS, Header, table_of};
use super::preamble::{PREAMBLE_BYTES, Preamble};
use crate::array::AnyArray;
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::storage::checksum::{RunSums, merge};
use crate::table::{DataLayout, NumericTable, TableKind};

/// The description of a file, in which everything except the values has been checked.
#[derive(Debug)]
pub struct Front {
    preamble: Preamble,
    header: Header,
    dictionary: DataDictionary,
}

/// The position and the type of the values of a homogeneous table.
#[derive(Clone, Copy, Debug)]
pub struct StoredValues {
    /// Their element type.
    pub element_type: ElementType,
    /// Their order in the file.
    pub layout: DataLayout,
    /// Number of rows and columns.
    pub shape: Shape,
    /// The position of the first one in the file.
    pub offset: u64,
}

impl Front {
    /// Returns the length of the beginning of a file of `real_length` bytes. `start` contains at least 64 bytes of it,
    /// or the complete file if it is shorter.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first rule that is broken.
    pub fn length(start: &[u8], real_length: u64) -> Result<usize> {
        Ok(PREAMBLE_BYTES + Preamble::decode(start, real_length)?.header_length as usize)
    }

    /// Decodes the beginning of a file of `real_length` bytes. `start` has at least the [`length`](Self::length) of the
    /// beginning.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first rule that is broken; [`ErrorKind::OutOfMemory`].
    pub fn decode(start: &[u8], real_length: u64) -> Result<Self> {
        let preamble = Preamble::decode(start, real_length)?;
        let end = PREAMBLE_BYTES + preamble.header_length as usize;
        let found = start.get(PREAMBLE_BYTES..end).unwrap_or_default();
        preamble.check_header(found)?;
        let mut header = with_room(found.len())?;
        header.extend_from_slice(found);
        let header = Header::decode(&preamble, header)?;
        let dictionary = match &header {
            Header::Homogeneous(header) => header.dictionary(header.element_type)?,
            Header::Arrays(_, header) => header.dictionary()?,
        };
        Ok(Self { preamble, header, dictionary })
    }

    /// Returns the number of rows and columns.
    pub fn shape(&self) -> Shape {
        match &self.header {
            Header::Homogeneous(header) => header.shape,
            Header::Arrays(_, header) => header.shape(),
        }
    }

    /// Borrows the description of the columns.
    pub fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Returns the values of a homogeneous table; `None` of any other.
    pub fn values(&self) -> Option<StoredValues> {
        match &self.header {
            &Header::Homogeneous(HomogeneousHeader { element_type, layout, shape, .. }) => {
                Some(StoredValues { element_type, layout, shape, offset: self.preamble.payload_offset })
            }
            Header::Arrays(..) => None,
        }
    }

    /// Returns the values of a homogeneous table.
    ///
    /// # Errors
    /// [`ErrorKind::TableKindMismatch`].
    pub fn homogeneous(&self) -> Result<StoredValues> {
        let expected = TableKind::HOMOGENEOUS.name();
        self.values().ok_or_else(|| Error::new(ErrorKind::TableKindMismatch { expected, actual: self.kind() }))
    }

    fn kind(&self) -> &'static str {
        match self.header {
            Header::Homogeneous(_) => HOMOGENEOUS,
            Header::Arrays(kind, _) => kind,
        }
    }

    /// Returns the arrays of a table that is not homogeneous: the type, the position among the values, and the number
    /// of values of each.
    pub fn arrays(&self) -> impl Iterator<Item = (ElementType, u64, usize)> {
        let header = match &self.header {
            Header::Homogeneous(_) => None,
            Header::Arrays(_, header) => Some(header),
        };
        header.into_iter().flat_map(|header| header.arrays())
    }

    /// Creates a table from its arrays.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if they do not form a table of its kind; [`ErrorKind::OutOfMemory`].
    pub fn table_of(&self, arrays: Vec<AnyArray>) -> Result<Box<dyn NumericTable>> {
        match &self.header {
            Header::Homogeneous(_) => self.homogeneous().and(Err(Error::no_tables())),
            Header::Arrays(kind, header) => table_of(kind, header.with_arrays(arrays)?),
        }
    }

    /// Returns where the bytes of all values are in the file.
    pub fn payload(&self) -> Range<u64> {
        self.preamble.payload_offset..self.preamble.payload_end()
    }

    /// Returns the number of bytes of values per checksum; 0 if there are none.
    pub fn chunk_size(&self) -> u32 {
        self.preamble.chunk_size
    }

    /// Returns where the checksums are, and how many words of 4 bytes: first 2 with their number, then each of them.
    pub fn sums(&self) -> (u64, u64) {
        (self.preamble.checksums_offset(), 2 + self.preamble.chunk_count())
    }

    /// Compares the checksums of all values with those in the file, given as the words of [`sums`](Self::sums).
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first damaged chunk.
    pub fn check_sums(&self, runs: Vec<RunSums>, stated: &[u32]) -> Result<()> {
        let (count, sums) = match stated {
            [low, high, sums @ ..] => (u64::from(*low) | u64::from(*high) << 32, sums),
            _ => (0, stated),
        };
        self.preamble.check_count(count)?;
        let mut stated = sums.iter().zip(0..);
        merge(runs, |found| match stated.next() {
            Some((&sum, _)) if sum == found => Ok(()),
            Some((_, chunk)) => Err(self.preamble.damaged(chunk)),
            None => Err(self.preamble.damaged(count.saturating_sub(1))),
        })
    }
}
