//! Writing tables as svmlight files.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::{LabeledRows, SvmlightIndices};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::trace::{self, CopyKind};
use crate::interop::sparse::chunks::write;
use crate::interop::sparse::pieces::reserve;
use crate::interop::text::digits::push;
use crate::storage::options::SaveOptions;
use crate::storage::replace::replace;
use crate::table::TableDescription;
use crate::table::csr::index::Indices;

impl LabeledRows {
    /// Saves the rows as an svmlight file, which atomically replaces an old one, as
    /// [`TableOutput::save`](crate::TableOutput::save) does. Indices are counted from one. Every stored value,
    /// including zeros, is read back bit for bit, except for the payload of a NaN. The number of columns is not
    /// recorded.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a row that would become a blank line; [`ErrorKind::LengthMismatch`] if the number
    /// of labels or queries differs from the number of rows; [`ErrorKind::Io`] with `path`;
    /// [`ErrorKind::RenameUnsupported`];
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::LabeledRows};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data.svm");
    /// let data = LabeledRows::read::<f32>(&b"+1.00 1:0.50 3:2e0 # comment\n"[..])?;
    /// data.save(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"1 1:0.5 3:2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, SvmlightIndices::FromOne, SaveOptions::new())
    }

    /// Saves the rows as [`save`](Self::save) does, with a base for the indices and options.
    /// [`Automatic`](SvmlightIndices::Automatic) counts from one. The options for progress and checksums have no
    /// effect.
    ///
    /// # Errors
    /// Those of [`save`](Self::save).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::SaveOptions, prelude::*, sparse::{LabeledRows, SvmlightIndices}};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data.svm");
    /// let data = LabeledRows::read::<f32>(&b"1 1:0.5\n"[..])?;
    /// data.save_with(&path, SvmlightIndices::FromZero, SaveOptions::new().durable(false))?;
    /// assert_eq!(std::fs::read(&path)?, b"1 0:0.5\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_with(&self, path: impl AsRef<Path>, indices: SvmlightIndices, options: SaveOptions) -> Result<()> {
        let path = path.as_ref();
        replace(path, &options, |mut file| self.write_as(&mut file, Some(path), indices))
    }

    /// Writes the rows to any writer, in the format of [`save`](Self::save). After an error, part of them may have been
    /// written.
    ///
    /// # Errors
    /// Those of [`save`](Self::save), and [`ErrorKind::Io`] of the writer without a path.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::LabeledRows};
    /// let mut text = Vec::new();
    /// LabeledRows::read::<f32>(&b"1 qid:2 1:0.5\n"[..])?.write(&mut text)?;
    /// assert_eq!(text, b"1 qid:2 1:0.5\n");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn write(&self, mut writer: impl Write) -> Result<()> {
        self.write_as(&mut writer, None, SvmlightIndices::FromOne)
    }

    fn write_as(&self, writer: &mut dyn Write, path: Option<&Path>, indices: SvmlightIndices) -> Result<()> {
        self.check()?;
        let table = &self.features;
        let (offsets, rows) = (table.offsets(), table.row_count());
        let rows_of = Lines { data: self, offsets, indices: table.indices(), counts_from: indices };
        match_element!(table.values().element_type(), T => {
            let values = table.values_slice::<T>()?;
            write(writer, path, &[], offsets, rows, |rows| rows_of.text(values, rows))
        })?;
        trace::record(CopyKind::Saved, table.size_of_arrays());
        Ok(())
    }
}

/// The parts of the lines, except for the values.
struct Lines<'a> {
    data: &'a LabeledRows,
    offsets: Indices<'a>,
    indices: Indices<'a>,
    counts_from: SvmlightIndices,
}

impl Lines<'_> {
    /// Formats the lines of some rows.
    fn text<T: Element>(&self, values: &[T], rows: Range<usize>) -> Result<Vec<u8>> {
        const ROOM: usize = 16; // approximate bytes of an index and a value
        let entries = self.offsets.at(rows.end) - self.offsets.at(rows.start);
        let mut text = Vec::new();
        reserve(&mut text, rows.len().saturating_add(entries).saturating_mul(ROOM))?;
        for row in rows {
            let start = text.len();
            for (at, &label) in self.data.labels.row(row).iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                push(label, &mut text);
            }
            if let Some(queries) = &self.data.queries {
                text.extend_from_slice(if text.len() > start { b" qid:" } else { b"qid:" });
                push(queries[row], &mut text);
            }
            let positions = self.offsets.at(row)..self.offsets.at(row + 1);
            for (position, &value) in positions.clone().zip(&values[positions]) {
                if text.len() > start {
                    text.push(b' ');
                }
                // Below the number of columns, so adding one does not overflow.
                let first = u64::from(self.counts_from != SvmlightIndices::FromZero);
                push(self.indices.at(position) as u64 + first, &mut text);
                text.push(b':');
                push(value, &mut text);
            }
            if text.len() == start {
                return Err(Error::new(ErrorKind::Unsupported {
                    target: "svmlight",
                    row: Some(row),
                    column: None,
                    name: None,
                    reason: format!("row {row} has no label, no query and no values, which leaves a blank line"),
                }));
            }
            text.push(b'\n');
        }
        Ok(text)
    }
}
