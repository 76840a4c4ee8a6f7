//! Tables as `.npy` files and streams.

use std::io::Write;
use std::path::Path;

use super::header::NpyHeader;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::files::options::SaveOptions;
use crate::files::output::{Lines, Output, PayloadWriter, for_each_piece};
use crate::files::replace::replace;
use crate::lines::AnyLines;
use crate::table::{HomogenNumericTable, NumericTable};

/// The content of a file to be written.
struct NpyContent<'a, T> {
    /// The values in the order of the file.
    lines: &'a dyn Lines<T>,
    header: Vec<u8>,
}

impl<T: Element> HomogenNumericTable<T> {
    /// Saves the values of the table as a NumPy file, which atomically replaces an old one, as [`save`](Self::save)
    /// does. A column-major table is written in Fortran order, unless it has one row or one column: those have both
    /// orders, which NumPy calls C order. The dictionary is lost: the format has no place for it.
    ///
    /// # Errors
    /// [`Error::UnsupportedElementType`] for `bf16`, which NumPy does not support; otherwise those of
    /// [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table = HomogenNumericTable::from_rows(&[[1.5_f32, f32::INFINITY], [-0.0, 4.0]])?;
    /// table.save_npy(&path)?; // numpy.load("array.npy")
    /// assert_eq!(HomogenNumericTable::load_npy(&path)?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_npy_with(path, SaveOptions::new())
    }

    /// Saves the values as [`save_npy`](Self::save_npy) does, with options. The option for checksums has no effect: the
    /// format has none.
    ///
    /// # Errors
    /// Those of [`save_npy`](Self::save_npy).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// table.slice_rows(1..2)?.save_npy_with(&path, SaveOptions::new().durable(false))?; // one row
    /// assert_eq!(HomogenNumericTable::<u8>::load_npy(&path)?.as_slice()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.save_npy_with(path, options)
    }

    /// Writes the table to a stream, in the format of [`save_npy`](Self::save_npy). Several tables may be written in
    /// sequence.
    ///
    /// # Errors
    /// [`Error::Stream`] for errors of the stream; [`Error::UnsupportedElementType`] for `bf16`;
    /// [`Error::NotAllocated`]; [`Error::BlockOutstanding`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut bytes = Vec::new();
    /// table.write_npy(&mut bytes)?;
    /// assert!(bytes.starts_with(b"\x93NUMPY\x01\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }"));
    /// assert_eq!(bytes[128..], [1, 2, 3, 4]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn write_npy(&self, sink: impl Write) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.write_npy(sink)
    }
}

impl dyn NumericTable + '_ {
    /// Saves a table of any kind whose columns have one element type as a NumPy file, as
    /// [`HomogenNumericTable::save_npy`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::save_npy`]; [`Error::MixedElementTypes`]; [`Error::ShapeMismatch`],
    /// [`Error::ElementTypeMismatch`] if the table changed while it was read; [`Error::SizeOverflow`] if its answers
    /// contradict each other.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{load_npy_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.save_npy(&path)?;
    /// assert_eq!(load_npy_any(&path)?.value::<i16>(0, 1)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_npy_with(path, SaveOptions::new())
    }

    /// Saves a table of any kind as a NumPy file with options, as [`HomogenNumericTable::save_npy_with`] does.
    ///
    /// # Errors
    /// Those of `save_npy` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SaveOptions, load_npy_any, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("array.npy");
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// table.save_npy_with(&path, SaveOptions::new().durable(false))?;
    /// assert_eq!(load_npy_any(&path)?.value::<i16>(0, 1)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn save_npy_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let lines = AnyLines::in_order(self)?;
        match_element!(self.one_type()?, T => save(path.as_ref(), &content::<T>(&lines)?, &options))
    }

    /// Writes a table of any kind to a stream, as [`HomogenNumericTable::write_npy`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_npy`], and those of `save_npy` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, read_npy_any};
    /// let table: Box<dyn NumericTable> = Box::new(HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// let mut bytes = Vec::new();
    /// table.write_npy(&mut bytes)?;
    /// assert_eq!(read_npy_any(&bytes[..])?.shape(), table.shape());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npy")))]
    pub fn write_npy(&self, sink: impl Write) -> Result<()> {
        let lines = AnyLines::in_order(self)?;
        match_element!(self.one_type()?, T => write(sink, &content::<T>(&lines)?))
    }
}

fn content<'a, T: Element>(lines: &'a AnyLines<'_>) -> Result<NpyContent<'a, T>> {
    Ok(NpyContent { lines, header: NpyHeader::encode(T::TYPE, lines.layout(), lines.table_shape())? })
}

/// Returns the number of values and their size in bytes.
fn sizes<T: Element>(content: &NpyContent<'_, T>) -> Result<(usize, u64)> {
    let count = content.lines.shape().element_count_of(T::TYPE)?;
    Ok((count, (count * size_of::<T>()) as u64))
}

/// Saves a file. Its first bytes are written last, so that an incomplete file is never taken for an array.
fn save<T: Element>(path: &Path, content: &NpyContent<'_, T>, options: &SaveOptions) -> Result<()> {
    let (_, bytes) = sizes(content)?;
    replace(path, options, |sink| {
        let output = Output { sink, path };
        let meter = Meter::start(options.hook(), bytes);
        let offset = content.header.len() as u64;
        output.begin(offset + bytes)?;
        PayloadWriter { output: &output, offset, chunk_size: 0, meter: Some(&meter) }.write(content.lines, 0)?;
        content.lines.check_unchanged()?;
        output.write(&content.header, 0)
    })
}

fn write<T: Element>(mut sink: impl Write, content: &NpyContent<'_, T>) -> Result<()> {
    let (count, _) = sizes(content)?;
    let failed = |source| Error::Stream { source };
    sink.write_all(&content.header).map_err(failed)?;
    for_each_piece(content.lines, 0..count, |bytes| sink.write_all(bytes).map_err(failed))?;
    content.lines.check_unchanged()?;
    sink.flush().map_err(failed)
}
