//! An open table file of any kind, in which everything except the values has been checked: its rows, and the data that
//! a table of many files records about it.

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
    /// The table is homogeneous, and rows are read when they are needed.
    File(TableReader),
    /// The rows are in memory.
    Table(Box<dyn NumericTable>),
}

impl OpenedTable {
    /// Opens a file. O(columns).
    ///
    /// # Errors
    /// The errors of [`TableReader::open`], but every kind of table is accepted.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let content = FileContent::open(path)?;
        let dictionary = match &content {
            FileContent::Homogeneous(file, header) => header.dictionary(file.element_type)?,
            FileContent::Arrays(_, header, _) => header.dictionary()?,
        };
        Ok(Self { content, dictionary })
    }

    /// Returns whether a newer version of the library wrote a file that [`open`](Self::open) refuses. The checksum of
    /// its beginning matches, so it is not damaged.
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

    /// Returns the checksum of the checksums of the values as stored in the file; 0 if it has none. Reads 4 bytes for
    /// each.
    ///
    /// # Errors
    /// The errors of reading the file.
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

    /// Compares all values with their checksums before they are used.
    ///
    /// # Errors
    /// [`ErrorKind::Format`](crate::ErrorKind::Format) if there are values without checksums;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(crate) fn compare_values(&mut self) -> Result<()> {
        self.content.compare_values(true)
    }

    /// Compares all checksums. Returns whether there are any.
    ///
    /// # Errors
    /// The errors of [`verify`](crate::files::verify).
    pub(crate) fn verify(&self, meter: Option<&Meter>) -> Result<bool> {
        self.content.verify(meter)
    }

    /// Returns the rows. A homogeneous table is read when rows are needed; any other is loaded now.
    ///
    /// # Errors
    /// The errors of [`files::load`](crate::files::load).
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
