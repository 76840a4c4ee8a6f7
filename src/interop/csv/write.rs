//! Writing tables as CSV: the shortest digits that are read back as the same values, formatted in parallel.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use super::form::Form;
use super::{CsvWriteOptions, WEIGHT};
use crate::array::Array;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::shape::Shape;
use crate::convert::ConversionPolicy;
use crate::files::output::Lines;
use crate::files::replace::replace;
use crate::lines::AnyLines;
use crate::table::{HomogenNumericTable, NumericTable, Region, Target};
use crate::window::AnySliceMut;

/// Number of values that one task formats at a time.
const VALUES: usize = 32 << 10;

/// The path of a caller's writer in errors.
const WRITER: &str = "(writer)";

impl<T: Element> HomogenNumericTable<T> {
    /// Writes the table as a CSV file, which atomically replaces an old one, as [`save`](Self::save) does. Every value
    /// is read back bit for bit, except for the payload of a NaN.
    ///
    /// The number of columns is recorded only by the lines: a table without rows becomes an empty file, unless it has a
    /// header.
    ///
    /// # Errors
    /// [`Error::CsvShape`] for rows without columns, which would leave no trace, and for a header of more than 256 MiB,
    /// which many columns need even without names; [`Error::Io`] with `path`; [`Error::RenameUnsupported`];
    /// [`Error::NotAllocated`]; [`Error::BlockOutstanding`]; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvSource, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[0.1_f32, f32::INFINITY], [-0.0, 1e-40]])?;
    /// table.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"0.1,inf\n-0,1e-40\n");
    /// assert_eq!(CsvSource::open(&path)?.load::<f32>()?, table);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_csv_with(path, CsvWriteOptions::new())
    }

    /// Writes the table as [`write_csv`](Self::write_csv) does, with options.
    ///
    /// # Errors
    /// Those of [`write_csv`](Self::write_csv); [`Error::CsvOption`] if an option does not fit the table, or a value is
    /// not an index of the words that the dictionary or the options state for its column.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?;
    /// table.write_csv_with(&path, CsvWriteOptions::new().header(true))?;
    /// assert_eq!(std::fs::read(&path)?, b",\n1,2\n3,4\n"); // the columns have no names
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_with(&self, path: impl AsRef<Path>, options: CsvWriteOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.write_csv_with(path, options)
    }

    /// Writes the table as [`write_csv_with`](Self::write_csv_with) does, to any writer. After an error, some of the
    /// table may have been written.
    ///
    /// # Errors
    /// Those of [`write_csv_with`](Self::write_csv_with), with `(writer)` as the path of [`Error::Io`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// let mut text = Vec::new();
    /// HomogenNumericTable::from_rows(&[[1, 2], [3, 4]])?.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n3,4\n");
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_to(&self, writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        let table: &dyn NumericTable = self;
        table.write_csv_to(writer, options)
    }
}

impl dyn NumericTable + '_ {
    /// Writes a table of any kind as a CSV file, as [`HomogenNumericTable::write_csv`] does. Columns may have different
    /// element types: the values of each are written with the digits that its type needs.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv`]; [`Error::ShapeMismatch`], [`Error::ElementTypeMismatch`] if the
    /// table changed while it was read; [`Error::DictionaryMismatch`], [`Error::SizeOverflow`] if its answers
    /// contradict each other.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let columns = [("id", AnyArray::from(vec![i64::MAX])), ("share", AnyArray::from(vec![0.1_f32]))];
    /// let table: Box<dyn NumericTable> = Box::new(SoaNumericTable::from_columns(columns)?);
    /// table.write_csv(&path)?;
    /// assert_eq!(std::fs::read(&path)?, b"id,share\n9223372036854775807,0.1\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_csv_with(path, CsvWriteOptions::new())
    }

    /// Writes a table of any kind as a CSV file with options, as [`HomogenNumericTable::write_csv_with`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv_with`] and of `write_csv` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.csv");
    /// let table: &dyn NumericTable = &HomogenNumericTable::from_rows(&[[1_i16, 2]])?;
    /// table.write_csv_with(&path, CsvWriteOptions::new().delimiter(b';'))?;
    /// assert_eq!(std::fs::read(&path)?, b"1;2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_with(&self, path: impl AsRef<Path>, options: CsvWriteOptions) -> Result<()> {
        let path = path.as_ref();
        with_text(self, &options, |text| {
            replace(path, &options.save, |mut file| write(&mut file, text, path, &counter(text, &options)))
        })
    }

    /// Writes a table of any kind to any writer, as [`HomogenNumericTable::write_csv_to`] does.
    ///
    /// # Errors
    /// Those of [`HomogenNumericTable::write_csv_to`] and of `write_csv` of a table of any kind.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{CsvWriteOptions, prelude::*};
    /// let (mut text, table) = (Vec::new(), HomogenNumericTable::from_rows(&[[1_i16, 2]])?);
    /// let table: &dyn NumericTable = &table;
    /// table.write_csv_to(&mut text, CsvWriteOptions::new())?;
    /// assert_eq!(text, b"1,2\n");
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "csv")))]
    pub fn write_csv_to(&self, mut writer: impl Write, options: CsvWriteOptions) -> Result<()> {
        with_text(self, &options, |text| write(&mut writer, text, Path::new(WRITER), &counter(text, &options)))
    }
}

/// Begins to count the rows that are written, for the progress callback.
fn counter(text: &dyn Text, options: &CsvWriteOptions) -> impl Fn(usize) + use<> {
    let row_bytes = text.row_bytes();
    let in_bytes = move |rows: usize| row_bytes.saturating_mul(rows as u64);
    let meter = Meter::start(options.save.hook(), in_bytes(text.form().shape.rows));
    move |rows| meter.add(in_bytes(rows))
}

/// Calls `write` with the text of a table.
fn with_text(
    table: &(dyn NumericTable + '_),
    options: &CsvWriteOptions,
    write: impl FnOnce(&dyn Text) -> Result<()>,
) -> Result<()> {
    let (lines, dictionary) = (AnyLines::by_rows(table)?, table.dictionary());
    match table.one_type() {
        Ok(element) => match_element!(element, T => {
            let shape = Lines::<T>::shape(&lines);
            shape.element_count_of(T::TYPE)?;
            dictionary.check(shape.columns, T::TYPE)?;
            write(&RowText::<T> { lines: &lines, form: Form::new(shape, dictionary, options)? })
        }),
        Err(Error::MixedElementTypes { .. }) => write(&ColumnText::new(table, options)?),
        Err(error) => Err(error),
    }
}

/// Writes all lines; `name` is the path of the target in errors. Nothing is written before the first lines are
/// formatted.
fn write(writer: &mut dyn Write, text: &dyn Text, name: &Path, done: &dyn Fn(usize)) -> Result<()> {
    let failed = |source| Error::Io { path: name.to_owned(), source };
    let form = text.form();
    let Shape { rows, columns } = form.shape;
    let step = (VALUES / columns.max(1)).max(1);
    let mut chunks = (0..rows).step_by(step).map(|start| start..rows.min(start + step));
    // As many chunks at a time as there are tasks; their texts are in memory together.
    let bytes = form.shape.element_count()?.saturating_mul(size_of::<f64>());
    let wave = parallel::task_count(bytes.saturating_mul(WEIGHT)).max(1);
    let mut header = &form.header[..];
    loop {
        let chunks: Vec<Range<usize>> = chunks.by_ref().take(wave).collect();
        let is_last = chunks.len() < wave;
        let count: usize = chunks.iter().map(Range::len).sum();
        let texts = parallel::map(chunks, |rows| text.rows(rows)).into_iter().collect::<Result<Vec<_>>>()?;
        writer.write_all(std::mem::take(&mut header)).map_err(failed)?;
        texts.iter().try_for_each(|text| writer.write_all(text)).map_err(failed)?;
        done(count);
        if is_last {
            break;
        }
    }
    text.check_unchanged()?;
    writer.flush().map_err(failed)
}

/// A table as text.
trait Text: Sync {
    fn form(&self) -> &Form;
    /// The size of a row in bytes, in the types of its columns.
    fn row_bytes(&self) -> u64;
    /// Formats the lines of some rows.
    fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>>;
    /// Checks that the table still is what it was when the text was created.
    fn check_unchanged(&self) -> Result<()>;
}

/// A table of one type, formatted row by row.
struct RowText<'a, T> {
    lines: &'a dyn Lines<T>,
    form: Form,
}

impl<T: Element> Text for RowText<'_, T> {
    fn form(&self) -> &Form {
        &self.form
    }

    fn row_bytes(&self) -> u64 {
        (self.form.shape.columns as u64).saturating_mul(size_of::<T>() as u64)
    }

    fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let (first, columns) = (rows.start, self.form.shape.columns);
        let mut copy;
        let range = first * columns..rows.end * columns;
        let values = match self.lines.as_slice() {
            Some(values) => &values[range],
            None => {
                copy = Array::zeros(range.len())?;
                self.lines.read(range, copy.mutable_data()?)?;
                &copy[..]
            }
        };
        let mut text = room(values.len())?;
        for (row, values) in values.chunks_exact(columns).enumerate() {
            let mut spellings = self.form.spellings.iter().peekable();
            for (column, &value) in values.iter().enumerate() {
                let spelling = spellings.next_if(|(known, _)| *known == column).map(|(_, spelling)| spelling);
                self.form.push(value, spelling, (first + row, column), &mut text)?;
                text.push(self.form.delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(text)
    }

    fn check_unchanged(&self) -> Result<()> {
        self.lines.check_unchanged()
    }
}

/// A table of columns of several types, each formatted by itself.
struct ColumnText<'a> {
    table: &'a (dyn NumericTable + 'a),
    form: Form,
    types: Vec<ElementType>,
}

/// The texts of one column in some rows: all of them together, and where each ends.
type ColumnFields = (Vec<u8>, Vec<usize>);

impl<'a> ColumnText<'a> {
    fn new(table: &'a (dyn NumericTable + 'a), options: &CsvWriteOptions) -> Result<Self> {
        let (shape, dictionary) = (table.shape(), table.dictionary());
        shape.element_count_of(ElementType::F64)?; // the widest
        let types: Vec<ElementType> = dictionary.iter().map(|feature| feature.element_type).collect();
        if types.len() != shape.columns {
            let element = types.first().copied().unwrap_or(ElementType::F64);
            let (features, columns) = (types.len(), shape.columns);
            return Err(Error::DictionaryMismatch { features, columns, element, found: None });
        }
        Ok(Self { table, form: Form::new(shape, dictionary, options)?, types })
    }

    /// Formats the values of a column in some rows.
    fn fields<T: Element>(&self, column: usize, rows: &Range<usize>) -> Result<ColumnFields> {
        let region = Region { rows: rows.clone(), columns: column..column + 1 };
        let mut values = Array::<T>::zeros(rows.len())?;
        let target = AnySliceMut::new(values.mutable_data()?);
        let target = Target::new(target, region.shape(), ConversionPolicy::Saturate)?;
        self.table.read_region(&region, target.over())?;
        let known = self.form.spellings.binary_search_by_key(&column, |(known, _)| *known);
        let spelling = known.ok().map(|index| &self.form.spellings[index].1);
        let (mut text, mut ends) = (room(values.len())?, Vec::new());
        for (row, &value) in values.iter().enumerate() {
            self.form.push(value, spelling, (rows.start + row, column), &mut text)?;
            ends.push(text.len());
        }
        Ok((text, ends))
    }
}

impl Text for ColumnText<'_> {
    fn form(&self) -> &Form {
        &self.form
    }

    fn row_bytes(&self) -> u64 {
        self.types.iter().fold(0, |sum: u64, element| sum.saturating_add(element.size_in_bytes() as u64))
    }

    fn rows(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let fields = |(column, &element)| match_element!(element, T => self.fields::<T>(column, &rows));
        let columns = self.types.iter().enumerate().map(fields).collect::<Result<Vec<ColumnFields>>>()?;
        let mut text = room(rows.len() * columns.len())?;
        for row in 0..rows.len() {
            for (fields, ends) in &columns {
                let start = if row == 0 { 0 } else { ends[row - 1] };
                text.extend_from_slice(&fields[start..ends[row]]);
                text.push(self.form.delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(text)
    }

    fn check_unchanged(&self) -> Result<()> {
        let (expected, found) = (self.form.shape, self.table.shape());
        if found != expected {
            return Err(Error::ShapeMismatch { expected, found });
        }
        let mut types = self.types.iter().zip(self.table.dictionary().iter());
        match types.find(|(expected, feature)| feature.element_type != **expected) {
            Some((&expected, feature)) => Err(Error::element_type_mismatch(expected, feature.element_type)),
            None => Ok(()),
        }
    }
}

/// Allocates text for a number of values.
fn room(values: usize) -> Result<Vec<u8>> {
    let (mut text, bytes) = (Vec::new(), values.saturating_mul(8));
    text.try_reserve(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(text)
}
