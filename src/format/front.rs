//! The beginning of a table file that is elsewhere: all that it says of itself, decoded from its first bytes.
//!
//! The rules are those of files: "Rules for readers" in `README.md`. Bytes are fetched by others.

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
use crate::files::checksum::{RunSums, merge};
use crate::table::{DataLayout, NumericTable, TableKind};

/// What a file says of itself, checked in everything but its values.
#[derive(Debug)]
pub(crate) struct Front {
    preamble: Preamble,
    header: Header,
    dictionary: DataDictionary,
}

/// Where the values of a homogeneous table are, and what they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredValues {
    pub(crate) element_type: ElementType,
    pub(crate) layout: DataLayout,
    pub(crate) shape: Shape,
    /// The position of the first one in the file.
    pub(crate) offset: u64,
}

impl Front {
    /// Returns how many of the first bytes of a file of `real_length` bytes are its beginning. `start` has at least 64
    /// of them, or all if there are fewer.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first rule that is broken.
    pub(crate) fn length(start: &[u8], real_length: u64) -> Result<usize> {
        Ok(PREAMBLE_BYTES + Preamble::decode(start, real_length)?.header_length as usize)
    }

    /// Decodes the beginning of a file of `real_length` bytes: at least as many bytes as [`length`](Self::length)
    /// returns.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first rule that is broken; [`ErrorKind::OutOfMemory`].
    pub(crate) fn decode(start: &[u8], real_length: u64) -> Result<Self> {
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

    pub(crate) fn shape(&self) -> Shape {
        match &self.header {
            Header::Homogeneous(header) => header.shape,
            Header::Arrays(_, header) => header.shape(),
        }
    }

    pub(crate) fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    /// Returns the values of a homogeneous table; `None` of any other.
    pub(crate) fn values(&self) -> Option<StoredValues> {
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
    pub(crate) fn homogeneous(&self) -> Result<StoredValues> {
        let expected = TableKind::HOMOGENEOUS.name();
        self.values().ok_or_else(|| Error::new(ErrorKind::TableKindMismatch { expected, found: self.kind() }))
    }

    fn kind(&self) -> &'static str {
        match self.header {
            Header::Homogeneous(_) => HOMOGENEOUS,
            Header::Arrays(kind, _) => kind,
        }
    }

    /// Returns the arrays of a table that is not homogeneous: the type, the position among the values, and the number
    /// of values of each.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (ElementType, u64, usize)> {
        let header = match &self.header {
            Header::Homogeneous(_) => None,
            Header::Arrays(_, header) => Some(header),
        };
        header.into_iter().flat_map(|header| header.arrays())
    }

    /// Makes a table of its arrays.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if they are no table of its kind; [`ErrorKind::OutOfMemory`].
    pub(crate) fn table_of(&self, arrays: Vec<AnyArray>) -> Result<Box<dyn NumericTable>> {
        match &self.header {
            Header::Homogeneous(_) => self.homogeneous().and(Err(Error::no_tables())),
            Header::Arrays(kind, header) => table_of(kind, header.with_arrays(arrays)?),
        }
    }

    /// Returns where the bytes of all values are in the file.
    pub(crate) fn payload(&self) -> Range<u64> {
        self.preamble.payload_offset..self.preamble.payload_end()
    }

    /// Returns the number of bytes of values per checksum; 0 if there are none.
    pub(crate) fn chunk_size(&self) -> u32 {
        self.preamble.chunk_size
    }

    /// Returns where the checksums are, and how many words of 4 bytes: first 2 with their number, then each of them.
    pub(crate) fn sums(&self) -> (u64, u64) {
        (self.preamble.checksums_offset(), 2 + self.preamble.chunk_count())
    }

    /// Compares the checksums of all values with those that the file states: the words of [`sums`](Self::sums).
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first damaged chunk.
    pub(crate) fn check_sums(&self, runs: Vec<RunSums>, stated: &[u32]) -> Result<()> {
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
