//! Tables with named columns as files of one-dimensional arrays, and back.

use std::path::Path;

use super::NpzOptions;
use super::reader::NpzReader;
use super::source::Source;
#[cfg(doc)]
use super::writer::NpzWriter;
use super::writer::save_sources;
#[cfg(doc)]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::table::{NumericTable, SoaNumericTable};

/// Saves a table of any kind as a compressed file with a one-dimensional array for each column, named after the column,
/// as [`NpzWriter::add_columns`] does. The file atomically replaces an old one.
///
/// # Errors
/// Those of [`NpzWriter::add_columns`] and [`NpzWriter::finish`].
///
/// # Examples
/// ```
/// use numeric_table::{AnyArray, SoaNumericTable, npz, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("flows.npz");
/// let columns = [("port", AnyArray::from(vec![80_u16, 443])), ("start", AnyArray::from(vec![0.5_f64, 1.5]))];
/// npz::save_columns(&path, &SoaNumericTable::from_columns(columns)?)?; // numpy.load("flows.npz")["port"]
/// assert_eq!(npz::load_columns(&path)?.column_slice::<f64>(1)?, [0.5, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub fn save_columns(path: impl AsRef<Path>, table: &dyn NumericTable) -> Result<()> {
    save_sources(path.as_ref(), &Source::columns(table)?, &NpzOptions::new())
}

/// Loads all arrays of a file as the columns of one table, with their names and types and in the order of the file, as
/// [`NpzReader::load_columns`] does for selected arrays.
///
/// # Errors
/// Those of [`NpzReader::open`] and [`NpzReader::load_columns`].
///
/// # Examples
/// ```
/// use numeric_table::{SoaNumericTable, npz, prelude::*};
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("columns.npz");
/// npz::save_columns(&path, &SoaNumericTable::from_columns([("a", vec![1_i16, 2]), ("b", vec![3, 4])])?)?;
/// let table = npz::load_columns(&path)?;
/// assert!(table.dictionary().names().eq([Some("a"), Some("b")]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
pub fn load_columns(path: impl AsRef<Path>) -> Result<SoaNumericTable> {
    NpzReader::open(path)?.load_all_columns()
}
