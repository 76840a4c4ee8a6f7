//! Tables from svmlight files.

use std::io::Read;
use std::path::Path;

use super::parse::{QUERY_MISSING, QUERY_UNEXPECTED, Rows, rows};
use super::{SvmlightIndices, SvmlightLabels, SvmlightOptions};
use crate::array::Array;
use crate::base::element::Element;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::interop::sparse::collected::Collected;
use crate::interop::sparse::pieces::{Local, Refusal, Text, extend, reserve};
use crate::table::TableDescription;
use crate::table::csr::CsrNumericTable;

/// The contents of an svmlight file: a sparse table of features, and the labels and queries of its rows.
///
/// ```text
/// +1 qid:3 1:0.43 3:0.12 9284:0.2 # label, query, then index and value of each non-zero cell
/// -1 qid:3 2:1e-3
/// ```
///
/// Blank lines, and the text after a `#`, are skipped. Numbers are read as in CSV files: to the nearest value of the
/// element type, rounded once. A zero in the file is stored.
///
/// Source: SVM-light, LIBSVM, and scikit-learn's `load_svmlight_file`. A file without values has no columns here, but
/// one column there. SVM-light's `sid` and `cost` are not read.
///
/// # Examples
/// ```
/// use numeric_table::{prelude::*, sparse::LabeledRows};
/// let data = LabeledRows::read::<f32>(&b"+1 1:0.5 3:2 # comment\n\n-1 2:1e3\n"[..])?;
/// assert_eq!(data.features.shape(), Shape { rows: 2, columns: 3 });
/// assert_eq!(data.features.values_slice::<f32>()?, [0.5, 2.0, 1000.0]);
/// assert_eq!(data.labels.array().unwrap()[..], [1.0, -1.0]);
/// assert!(data.queries.is_none());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LabeledRows {
    /// The features: a row for each line that is not blank, with `u32` indices, or `u64` if some index requires it.
    pub features: CsrNumericTable,
    /// The labels of the rows.
    pub labels: SvmlightLabels,
    /// The queries of the rows (`qid`), for ranking; `None` if the rows have none.
    pub queries: Option<Array<i64>>,
}

impl LabeledRows {
    /// Combines a table and its labels, to be saved without queries.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of labels differs from the number of rows.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, sparse::LabeledRows};
    /// let shape = Shape { rows: 2, columns: 4 };
    /// let table = CsrNumericTable::try_new(shape, vec![0, 2, 3], vec![0, 3, 1], vec![1.5_f32, 2.5, 3.5])?;
    /// assert!(LabeledRows::new(table.clone(), vec![1.0]).is_err());
    /// let mut text = Vec::new();
    /// LabeledRows::new(table, vec![1.0, -1.0])?.write(&mut text)?;
    /// assert_eq!(text, b"1 1:1.5 4:2.5\n-1 2:3.5\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(features: CsrNumericTable, labels: impl Into<SvmlightLabels>) -> Result<Self> {
        let new = Self { features, labels: labels.into(), queries: None };
        new.check().map(|()| new)
    }

    /// Adds the queries of the rows.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`] if the number of queries differs from the number of rows.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsrNumericTable, prelude::*, sparse::LabeledRows};
    /// let table = CsrNumericTable::try_new(Shape { rows: 1, columns: 4 }, vec![0, 1], vec![3], vec![1.5])?;
    /// let mut text = Vec::new();
    /// LabeledRows::new(table, vec![2.0])?.with_queries(vec![7])?.write(&mut text)?;
    /// assert_eq!(text, b"2 qid:7 4:1.5\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_queries(self, queries: impl Into<Array<i64>>) -> Result<Self> {
        let new = Self { queries: Some(queries.into()), ..self };
        new.check().map(|()| new)
    }

    /// Loads a file with values of type `T`, in parallel, in pieces. The text is never in memory as a whole, and any
    /// file allocates at most about 30 times its size.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] with `path`; [`ErrorKind::Text`] for the first invalid line;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::LabeledRows};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data.svm");
    /// std::fs::write(&path, "1 1:0.5\n0 x:2\n")?;
    /// let error = LabeledRows::load::<f32>(&path).unwrap_err();
    /// assert!(error.to_string().ends_with(r#"data.svm: line 2, byte 3: "x" is not a whole number"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load<T: Element>(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_with::<T>(path, SvmlightOptions::new())
    }

    /// Loads a file as [`load`](Self::load) does, with options.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::{LabeledRows, SvmlightOptions}};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("data.svm");
    /// std::fs::write(&path, "1,2 1:0.5\n")?;
    /// let data = LabeledRows::load_with::<f32>(&path, SvmlightOptions::new().multilabel(true))?;
    /// assert_eq!(data.labels.row(0), [1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_with<T: Element>(path: impl AsRef<Path>, options: SvmlightOptions) -> Result<Self> {
        read::<T>(Text::open(path.as_ref())?, &options)
    }

    /// Reads from bytes in memory or any reader, to its end.
    ///
    /// # Errors
    /// Those of [`load`](Self::load), with [`ErrorKind::Io`] for errors of the reader.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::LabeledRows};
    /// let data = LabeledRows::read::<i32>(&b"3 qid:1 2:7\n5 qid:2 1:8\n"[..])?;
    /// assert_eq!(data.queries.unwrap()[..], [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn read<T: Element>(reader: impl Read) -> Result<Self> {
        Self::read_with::<T>(reader, SvmlightOptions::new())
    }

    /// Reads as [`read`](Self::read) does, with options.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{prelude::*, sparse::{LabeledRows, SvmlightIndices, SvmlightOptions}};
    /// let options = SvmlightOptions::new().indices(SvmlightIndices::FromZero);
    /// assert_eq!(LabeledRows::read_with::<i32>(&b"3 0:7\n"[..], options)?.features.column_count(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn read_with<T: Element>(reader: impl Read, options: SvmlightOptions) -> Result<Self> {
        read::<T>(Text::new(reader), &options)
    }

    /// Checks that all parts have the same number of rows.
    pub(super) fn check(&self) -> Result<()> {
        let expected = self.features.row_count();
        let queries = self.queries.as_ref().map_or(expected, |queries| queries.len());
        for found in [self.labels.row_count(), queries] {
            if found != expected {
                return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
            }
        }
        Ok(())
    }
}

fn read<T: Element>(mut text: Text<impl Read>, options: &SvmlightOptions) -> Result<LabeledRows> {
    let mut whole = Whole::<T>::new();
    loop {
        let pieces = text.wave(None)?;
        if pieces.is_empty() {
            return whole.finish(&text, options);
        }
        let parsed = parallel::map(pieces, |piece| (rows::<T>(&piece, options), piece.line));
        for (rows, line) in parsed {
            let added = rows.and_then(|rows| whole.add(rows, line, options));
            added.map_err(|refusal| refusal.into_error(line, text.path()))?;
        }
    }
}

/// The rows of all pieces so far.
struct Whole<T> {
    offsets: Vec<u64>,
    indices: Collected,
    values: Vec<T>,
    labels: Vec<f64>,
    label_ends: Vec<usize>,
    queries: Vec<i64>,
    /// Whether an index is 0.
    has_zero: bool,
    /// The largest index.
    largest: Option<u64>,
    /// The number of the first line of a piece, and a position in that piece: the first index that is past the last
    /// column if the base is zero.
    edge: Option<(u64, Local)>,
}

impl<T: Element> Whole<T> {
    fn new() -> Self {
        Self {
            offsets: vec![0],
            indices: Collected::new(),
            values: Vec::new(),
            labels: Vec::new(),
            label_ends: Vec::new(),
            queries: Vec::new(),
            has_zero: false,
            largest: None,
            edge: None,
        }
    }

    /// Appends the rows of the next piece, whose first line has the number `line`.
    fn add(&mut self, rows: Rows<T>, line: u64, options: &SvmlightOptions) -> Result<(), Refusal> {
        let Some(first) = rows.first else { return Ok(()) };
        let is_same = self.offsets.len() == 1 || self.queries.is_empty() == rows.queries.is_empty();
        if !is_same {
            let reason = if rows.queries.is_empty() { QUERY_MISSING } else { QUERY_UNEXPECTED };
            return Err(Local { reason: reason.to_owned(), ..first }.into());
        }
        let start = self.values.len() as u64;
        reserve(&mut self.offsets, rows.ends.len())?;
        self.offsets.extend(rows.ends.iter().map(|&end| start + end as u64));
        self.indices.extend(&rows.indices)?;
        extend(&mut self.values, &rows.values)?;
        let labels = self.labels.len();
        reserve(&mut self.label_ends, rows.label_ends.len())?;
        self.label_ends.extend(rows.label_ends.iter().map(|&end| labels + end));
        extend(&mut self.labels, &rows.labels)?;
        extend(&mut self.queries, &rows.queries)?;
        if options.indices == SvmlightIndices::Automatic {
            self.has_zero |= rows.indices.contains(&0);
            self.edge = self.edge.take().or(rows.edge.map(|place| (line, place)));
        }
        self.largest = self.largest.max(rows.indices.iter().copied().max());
        Ok(())
    }

    fn finish(mut self, text: &Text<impl Read>, options: &SvmlightOptions) -> Result<LabeledRows> {
        if options.indices == SvmlightIndices::Automatic {
            match self.edge {
                Some((line, place)) if self.has_zero => return Err(place.into_error(line, text.path())),
                _ if self.has_zero => {}
                _ => {
                    self.indices.count_from_zero();
                    self.largest = self.largest.map(|index| index - 1);
                }
            }
        }
        // The largest index has been checked to be below the largest number of columns, which is a `usize`.
        let columns = options.columns.unwrap_or(self.largest.map_or(0, |index| index as usize + 1));
        let shape = Shape { rows: self.offsets.len() - 1, columns };
        let (offsets, indices) = (Array::from(self.offsets), self.indices.into_array());
        let features = CsrNumericTable::try_new(shape, offsets, indices, self.values)?;
        trace::record(CopyKind::Loaded, features.size_of_arrays());
        let labels = match options.is_multilabel {
            true => SvmlightLabels::from_sets(self.labels, self.label_ends),
            false => self.labels.into(),
        };
        let queries = (!self.queries.is_empty()).then(|| self.queries.into());
        Ok(LabeledRows { features, labels, queries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Outcome = Result<(Vec<usize>, Vec<usize>, Vec<f64>, Vec<f64>, usize), String>;

    fn outcome(text: &[u8], size: usize, options: &SvmlightOptions) -> Outcome {
        let data = read::<f64>(Text::new(text).with_pieces_of(size), options).map_err(|error| error.to_string())?;
        let table = &data.features;
        let (offsets, indices) = (table.offsets().iter().collect(), table.indices().iter().collect());
        let values = table.values_slice::<f64>().unwrap().to_vec();
        Ok((offsets, indices, values, data.labels.array().unwrap().to_vec(), table.column_count()))
    }

    #[test]
    fn a_file_is_the_same_wherever_it_is_cut() {
        let texts = [
            "1 1:2 3:4\n# only a comment\n\n-1\n0.5 2:1e3 # more\r\n7 9:1",
            "1 qid:1 1:2\n2 qid:1 3:4\n3 5:6\n",
            "1 1:2\n2 qid:1 3:4\n",
            "1 1:2\n2 3:4\n3 x:6\n",
            "1 1:2\n2 7:4\n3 0:6\n",
            "1 1:2\n2 0:4\n3 7:6\n",
        ];
        for text in texts {
            let automatic = SvmlightOptions::new().indices(SvmlightIndices::Automatic).column_count(7);
            for options in [SvmlightOptions::new(), automatic] {
                let expected = outcome(text.as_bytes(), 1 << 20, &options);
                for size in 1..40 {
                    assert_eq!(outcome(text.as_bytes(), size, &options), expected, "{text:?} in pieces of {size}");
                }
            }
        }
    }

    #[test]
    fn an_index_that_is_past_the_end_once_a_zero_is_found_is_named() {
        let options = SvmlightOptions::new().indices(SvmlightIndices::Automatic).column_count(7);
        let error = outcome(b"1 1:2\n2 7:4\n3 0:6\n", 4, &options).unwrap_err();
        assert_eq!(error, r#"line 2, byte 3: "7" is past the last column, whose index is 6"#);
        assert!(outcome(b"1 1:2\n2 7:4\n3 1:6\n", 4, &options).is_ok());
    }
}
