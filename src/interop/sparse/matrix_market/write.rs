//! MatrixMarket files from tables.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use crate::base::element::{Element, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::interop::sparse::chunks::write;
use crate::interop::sparse::pieces::reserve;
use crate::interop::text::digits::push;
use crate::storage::options::SaveOptions;
use crate::storage::replace::replace;
use crate::table::NumericTable;
use crate::table::csr::CsrNumericTable;
use crate::table::csr::index::Indices;

impl CsrNumericTable {
    /// Saves the table as a MatrixMarket file, `coordinate real general` or `coordinate integer general`, which
    /// atomically replaces an old one, as [`TableOutput::save`](crate::TableOutput::save) does. Every stored value,
    /// including zeros, is read back bit for bit, except for the payload of a NaN. Names of columns are lost, because
    /// the format cannot store them.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::RenameUnsupported`]; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.mtx");
    /// let shape = Shape { rows: 2, columns: 4 };
    /// CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5_f32, -0.1, 3.0])?.save_mtx(&path)?;
    /// let text = "%%MatrixMarket matrix coordinate real general\n2 4 3\n1 1 1.5\n1 4 -0.1\n2 2 3\n";
    /// assert_eq!(std::fs::read_to_string(&path)?, text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn save_mtx(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_mtx_with(path, SaveOptions::new())
    }

    /// Saves the table as [`save_mtx`](Self::save_mtx) does, with options. The options for progress and checksums have
    /// no effect.
    ///
    /// # Errors
    /// Those of [`save_mtx`](Self::save_mtx).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, files::SaveOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("matrix.mtx");
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// table.save_mtx_with(&path, SaveOptions::new().durable(false))?;
    /// assert_eq!(CsrNumericTable::load_mtx::<u8>(&path)?.get(0, 3)?, Some(7_u8.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn save_mtx_with(&self, path: impl AsRef<Path>, options: SaveOptions) -> Result<()> {
        let path = path.as_ref();
        replace(path, &options, |mut file| self.write_mtx_as(&mut file, Some(path)))
    }

    /// Writes the table to any writer, in the format of [`save_mtx`](Self::save_mtx). After an error, part of it may
    /// have been written.
    ///
    /// # Errors
    /// Those of [`save_mtx`](Self::save_mtx), and [`ErrorKind::Io`] of the writer without a path.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*};
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![7_u8])?;
    /// let mut text = Vec::new();
    /// table.write_mtx(&mut text)?;
    /// assert_eq!(text, b"%%MatrixMarket matrix coordinate integer general\n1 4 1\n1 4 7\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "sparse-files")))]
    pub fn write_mtx(&self, mut writer: impl Write) -> Result<()> {
        self.write_mtx_as(&mut writer, None)
    }

    fn write_mtx_as(&self, writer: &mut dyn Write, path: Option<&Path>) -> Result<()> {
        let Shape { rows, columns } = self.shape();
        let (offsets, indices) = (self.offsets(), self.indices());
        match_element!(self.values().element_type(), T => {
            let values = self.values_slice::<T>()?;
            let field = if T::TYPE.is_float() { "real" } else { "integer" };
            let entries = values.len();
            let head = format!("%%MatrixMarket matrix coordinate {field} general\n{rows} {columns} {entries}\n");
            write(writer, path, head.as_bytes(), offsets, rows, |rows| text(offsets, indices, values, rows))
        })?;
        trace::record(CopyKind::Saved, self.size_of_arrays());
        Ok(())
    }
}

/// Formats the lines of some rows.
fn text<T: Element>(offsets: Indices<'_>, indices: Indices<'_>, values: &[T], rows: Range<usize>) -> Result<Vec<u8>> {
    const ROOM: usize = 24; // approximate bytes of a line
    let positions = offsets.at(rows.start)..offsets.at(rows.end);
    let mut text = Vec::new();
    reserve(&mut text, positions.len().saturating_mul(ROOM))?;
    for row in rows {
        let positions = offsets.at(row)..offsets.at(row + 1);
        for (position, &value) in positions.clone().zip(&values[positions]) {
            // Row and column indices are below their counts, so adding one does not overflow.
            push(row as u64 + 1, &mut text);
            text.push(b' ');
            push(indices.at(position) as u64 + 1, &mut text);
            text.push(b' ');
            push(value, &mut text);
            text.push(b'\n');
        }
    }
    Ok(text)
}
