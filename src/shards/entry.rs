//! One file of a table: the data recorded about it, and the check that it has not changed.

use std::path::PathBuf;

use super::Shards;
use crate::base::error::{Error, ErrorKind, Result};
use crate::dictionary::{Categories, DataDictionary, Feature};
use crate::format::OpenedTable;

/// The data recorded about a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The path. Paths from a manifest begin with the folder of the manifest.
    pub(super) path: PathBuf,
    pub(super) rows: usize,
    /// The size of the file.
    pub(super) bytes: u64,
    pub(super) header_checksum: u32,
    /// The checksum of the checksums of the file's values; 0 if it has none.
    pub(super) values_checksum: u32,
}

/// An opened file and the description of its columns.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) entry: Entry,
    pub(super) dictionary: DataDictionary,
}

impl Described {
    /// Opens a file and describes it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    pub(super) fn open(path: PathBuf) -> Result<Self> {
        let opened = OpenedTable::open(&path)?;
        let entry = Entry {
            rows: opened.shape().rows,
            bytes: opened.file_length(),
            header_checksum: opened.header_checksum(),
            values_checksum: opened.values_checksum()?,
            path,
        };
        Ok(Self { entry, dictionary: opened.dictionary().clone() })
    }
}

/// How closely a file is compared with its recorded data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Everything that does not depend on the values.
    Description,
    /// Also the checksums of the values, as stored in the file.
    Values,
}

impl Shards {
    /// Opens a file and compares it with its recorded data. O(columns); with values, also 4 bytes for each of their
    /// checksums.
    ///
    /// # Errors
    /// [`ErrorKind::ShardChanged`]; [`ErrorKind::UnequalTables`] if the columns differ; [`ErrorKind::Io`];
    /// [`ErrorKind::Format`], also if values are to be compared and the file has no checksums of them;
    /// [`ErrorKind::OutOfMemory`]. All except the last name the file.
    pub(super) fn open_shard(&self, shard: usize, check: Check) -> Result<OpenedTable> {
        let entry = &self.entries[shard];
        let mut opened = OpenedTable::open(&entry.path).map_err(|error| error.in_file(&entry.path))?;
        let changed = |part, expected: u64, found: u64| match expected == found {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::ShardChanged { part, expected, actual: found }).in_file(&entry.path)),
        };
        changed("size in bytes", entry.bytes, opened.file_length())?;
        changed("number of rows", entry.rows as u64, opened.shape().rows as u64)?;
        let same = check_same(&self.dictionary, shard, opened.dictionary())
            .and_then(|()| check_nullable(&self.dictionary, shard, opened.dictionary()));
        same.map_err(|error| error.in_file(&entry.path))?;
        changed("checksum of the header", entry.header_checksum.into(), opened.header_checksum().into())?;
        if self.is_verified || check == Check::Values {
            changed("checksum of the values", entry.values_checksum.into(), opened.values_checksum()?.into())?;
        }
        if self.is_verified {
            opened.compare_values().map_err(|error| error.in_file(&entry.path))?;
        }
        Ok(opened)
    }
}

/// Checks that a table has exactly the columns of the first one. O(columns).
///
/// # Errors
/// [`ErrorKind::UnequalTables`] with the index of the table.
pub(super) fn check_same(first: &DataDictionary, table: usize, other: &DataDictionary) -> Result<()> {
    if first == other {
        return Ok(());
    }
    let (expected, found) = (first.len(), other.len());
    if expected != found {
        return Err(Error::unequal_columns(table, expected, found));
    }
    for (column, mine, theirs) in first.pairs(other) {
        let (expected, found) = (mine.element_type, theirs.element_type);
        if expected != found {
            return Err(Error::unequal_types(table, column, expected, found));
        }
    }
    for (column, mine, theirs) in first.pairs(other) {
        if mine != theirs && !differ_in_gaps(mine, theirs) {
            return Err(difference(first, table, column, mine, theirs));
        }
    }
    Ok(())
}

/// Checks that only columns that are nullable in the table are nullable in one of its files.
///
/// # Errors
/// [`ErrorKind::UnequalTables`].
pub(super) fn check_nullable(all: &DataDictionary, table: usize, other: &DataDictionary) -> Result<()> {
    if other.has_nullable() && all != other {
        let mut pairs = all.pairs(other);
        if let Some((column, ..)) = pairs.find(|(_, mine, theirs)| theirs.nullable && !mine.nullable) {
            return Err(Error::unequal_features(table, column, "nullability"));
        }
    }
    Ok(())
}

/// Returns whether two features that are not equal differ only in whether values may be missing. One file may have gaps
/// in a column where another one has none.
fn differ_in_gaps(mine: &Feature, theirs: &Feature) -> bool {
    let Feature { name, element_type, feature_type, categories, nullable: _ } = mine;
    *name == theirs.name
        && *element_type == theirs.element_type
        && *feature_type == theirs.feature_type
        && *categories == theirs.categories
}

/// Returns an error that describes how a column differs from the column of the first table.
fn difference(first: &DataDictionary, table: usize, column: usize, mine: &Feature, theirs: &Feature) -> Error {
    let unequal = |part| Error::unequal_features(table, column, part);
    if mine.name != theirs.name {
        return match theirs.name.as_deref() {
            Some(name) if first.index_of(name).is_some() => Error::named_elsewhere(table, column, name),
            _ => unequal("name"),
        };
    }
    if mine.feature_type != theirs.feature_type {
        return unequal("feature type");
    }
    let has_labels = |feature: &Feature| feature.categories.as_ref().is_some_and(Categories::has_labels);
    match has_labels(mine) || has_labels(theirs) {
        true => Error::unequal_categories(table, column),
        false => unequal("number of categories"),
    }
}
