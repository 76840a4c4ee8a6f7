//! A table file of any kind that has been opened and checked in everything but its values: what a table of many files
//! needs to know of each, and its rows.

use std::path::Path;

use super::file::TableFile;
use super::kind::FileContent;
use super::reader::TableReader;
use crate::base::error::Result;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::dictionary::DataDictionary;
use crate::table::NumericTable;

/// An open file, and the description of its columns.
pub(crate) struct OpenedTable {
    content: FileContent,
    dictionary: DataDictionary,
}

/// The rows of a file.
pub(crate) enum StoredRows {
    /// They are read when they are wanted: the table is homogeneous.
    File(TableReader),
    /// They are in memory.
    Table(Box<dyn NumericTable>),
}

impl OpenedTable {
    /// Opens a file: O(columns).
    ///
    /// # Errors
    /// Those of [`TableReader::open`]; every kind of table is accepted.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let content = FileContent::open(path)?;
        let dictionary = match &content {
            FileContent::Homogeneous(file, header) => header.dictionary(file.element_type)?,
            FileContent::Arrays(_, header, _) => header.dictionary()?,
        };
        Ok(Self { content, dictionary })
    }

    /// Returns whether a newer version of the library wrote a file that [`open`](Self::open) refuses: the checksums of
    /// its beginning match, so that it is not damaged.
    pub(crate) fn is_newer(path: &Path) -> bool {
        TableFile::open(path).is_ok() || TableFile::has_newer_version(path).unwrap_or(false)
    }

    pub(crate) fn shape(&self) -> Shape {
        match &self.content {
            FileContent::Homogeneous(file, _) => file.shape,
            FileContent::Arrays(_, header, _) => header.shape(),
        }
    }

    pub(crate) fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn file(&self) -> &TableFile {
        self.content.file()
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn file_length(&self) -> u64 {
        self.file().preamble().file_length
    }

    /// Returns the size of the values in bytes.
    pub(crate) fn payload_length(&self) -> u64 {
        self.file().payload_length()
    }

    pub(crate) fn header_checksum(&self) -> u32 {
        self.file().preamble().header_checksum
    }

    /// Returns the checksum of the checksums of the values, as they are in the file; 0 if it has none. Reads 4 bytes
    /// for each.
    ///
    /// # Errors
    /// Those of reading the file.
    pub(crate) fn values_checksum(&self) -> Result<u32> {
        if !self.file().has_checksums() {
            return Ok(0);
        }
        let (mut sums, mut hasher) = (self.file().stored_sums(0)?, crc32fast::Hasher::new());
        for _ in 0..self.file().preamble().chunk_count() {
            hasher.update(&sums.next()?);
        }
        Ok(hasher.finalize())
    }

    /// Has all values compared with their checksums before they are read.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](crate::ErrorKind::Format) if there are values and no checksums of them;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(crate) fn compare_values(&mut self) -> Result<()> {
        self.content.compare_values(true)
    }

    /// Compares all checksums; returns whether there are any.
    ///
    /// # Errors
    /// Those of [`verify`](crate::verify).
    pub(crate) fn verify(&self, meter: Option<&Meter>) -> Result<bool> {
        self.content.verify(meter)
    }

    /// Returns the rows: of a homogeneous table to be read when they are wanted, of any other loaded at once.
    ///
    /// # Errors
    /// Those of [`load_any`](crate::load_any).
    pub(crate) fn into_rows(self) -> Result<StoredRows> {
        match self.content {
            FileContent::Homogeneous(file, _) => Ok(StoredRows::File(TableReader::of(file, self.dictionary))),
            other => other.load(None).map(StoredRows::Table),
        }
    }

    #[cfg(feature = "mmap")]
    pub(super) fn into_parts(self) -> (FileContent, DataDictionary) {
        (self.content, self.dictionary)
    }
}
