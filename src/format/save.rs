//! Saving whole tables.

use std::path::Path;

use super::plan::FilePlan;
use crate::base::element::Element;
#[cfg(doc)]
use crate::base::error::Error;
use crate::base::error::Result;
use crate::files::options::SaveOptions;
use crate::files::output::Output;
use crate::files::replace::replace;
use crate::table::content::with_stored_kinds;
use crate::table::{HomogenNumericTable, NumericTable};

impl<T: Element> HomogenNumericTable<T> {
    /// Saves the table as a file, and replaces the file at `path` if there is one: shape, layout, dictionary, the
    /// values of the table (only its own rows, if it is a slice), and checksums. One pass over the values.
    ///
    /// A new file is written beside the old one, flushed to the disk, and then renamed. Whatever happens, `path` holds
    /// the complete old file or the complete new one; on an error, nothing else is left. The new file has the
    /// permissions of the old one; a symbolic link stays, and its target is replaced. A table that is mapped from
    /// `path` can be saved there: the mapping keeps the old file alive.
    ///
    /// Source: DAAL's `serialize` into a file archive, which has no checksums and is not replaced atomically.
    ///
    /// # Errors
    /// [`Error::Io`] with `path`; [`Error::RenameUnsupported`]; [`Error::NotAllocated`]; [`Error::BlockOutstanding`];
    /// [`Error::OutOfMemory`]; [`Error::Format`] if the names of the columns take more than 16 MiB. The old file is
    /// then unchanged, with one exception: if flushing the directory fails at the end, the new file is in place, and
    /// may not survive a loss of power.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// table.save(&path)?;
    /// assert_eq!(HomogenNumericTable::load(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SaveOptions::new())
    }

    /// Saves the table as [`save`](Self::save) does, with options.
    ///
    /// # Errors
    /// Those of [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("scratch.ntb");
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.slice_rows(1..2)?.save_with(&path, SaveOptions::new().durable(false))?; // one row
    /// assert_eq!(HomogenNumericTable::<u8>::load(&path)?.as_slice()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.save_with(path, options)
    }
}

impl dyn NumericTable + '_ {
    /// Saves a table of any kind, as [`HomogenNumericTable::save`] does. The file has the table's kind. A table that
    /// shows other tables, or a kind of one's own, is saved as what it shows: if its columns have one element type, as
    /// a homogeneous table, row-major unless it is one column-major piece of memory; else as a structure of arrays.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::save`]; [`Error::ColumnNotSet`]; [`Error::ShapeMismatch`],
    /// [`Error::LengthMismatch`], [`Error::ElementTypeMismatch`] if the table changed while it was read;
    /// [`Error::DictionaryMismatch`], [`Error::SizeOverflow`] if its answers contradict each other.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{load_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.save(&path)?;
    /// assert_eq!(load_any(&path)?.value::<i16>(0, 1)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SaveOptions::new())
    }

    /// Saves a table of any kind with options, as [`HomogenNumericTable::save_with`] does.
    ///
    /// # Errors
    /// Those of `save` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, load_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// table.save_with(&path, SaveOptions::new().durable(false))?;
    /// assert_eq!(load_any(&path)?.shape(), table.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let path = path.as_ref();
        let plan = FilePlan::new(self, options.chunk_size()).map_err(|error| error.in_file(path))?;
        replace(path, &options, |sink| plan.write(&Output { sink, path }, options.hook()))
    }
}

macro_rules! stored_kinds {
    ($(($Kind:ty, $name:literal, $example:literal)),*) => {$(
        impl $Kind {
            /// Saves the table as a file: whole or not at all. See [`save_with`](Self::save_with).
            ///
            /// # Errors
            /// Those of [`save_with`](Self::save_with).
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use numeric_table::{", $name, ", prelude::*};")]
            /// # let folder = tempfile::tempdir()?;
            /// let path = folder.path().join("table.ntb");
            #[doc = concat!("let table = ", $example, ";")]
            /// table.save(&path)?;
            #[doc = concat!("let back = ", $name, "::load(&path)?;")]
            /// assert_eq!(back.rows::<f64>(..)?[..], table.rows::<f64>(..)?[..]);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
                self.save_with(path, SaveOptions::new())
            }

            /// Saves the table as a file, with options, as homogeneous tables are saved
            /// ([`HomogenNumericTable::save_with`]).
            ///
            /// # Errors
            /// Those of a table that cannot be read; [`Error::Io`], [`Error::Format`] if the header is too long,
            /// [`Error::RenameUnsupported`]. The path holds what it held before.
            pub fn save_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
                let table: &dyn NumericTable = self;
                table.save_with(path, options)
            }
        }
    )*};
}
with_stored_kinds!(stored_kinds);
