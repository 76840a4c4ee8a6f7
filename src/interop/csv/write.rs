//! Writing tables as CSV: the shortest digits that are read back as the same values, formatted in parallel.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::form::Form;
use super::{CsvWriteOptions, WEIGHT};
use crate::array::{AnyArray, Array};
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::progress::Meter;
use crate::base::range;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::convert::ConversionPolicy;
use crate::lines::AnyLines;
use crate::storage::output::Lines;
use crate::storage::replace::replace;
use crate::table::{NumericTable, Region, Target, missing};
use crate::window::AnySliceMut;

/// Number of values that one task formats at a time.
const VALUES: usize = 32 << 10;

/// Writes a table of any kind as a CSV file.
///
/// # Errors
/// Those of [`TableOutput::write_csv_with`](crate::TableOutput::write_csv_with).
pub(crate) fn write_csv(table: &(dyn NumericTable + '_), path: &Path, options: &CsvWriteOptions) -> Result<()> {
    with_text(table, options, |text| {
        replace(path, &options.save, |mut file| write(&mut file, text, Some(path), &counter(text, options)))
    })
}

/// Writes a table of any kind as CSV to a writer.
///
/// # Errors
/// Those of [`TableOutput::write_csv_to`](crate::TableOutput::write_csv_to).
pub(crate) fn write_csv_to(
    table: &(dyn NumericTable + '_),
    writer: &mut dyn Write,
    options: &CsvWriteOptions,
) -> Result<()> {
    with_text(table, options, |text| write(writer, text, None, &counter(text, options)))
}

/// Starts counting the rows written, for the progress callback.
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
        Ok(_) if dictionary.has_nullable() => write(&ColumnText::new(table, options)?),
        Ok(element) => {
            let shape = lines.shape();
            shape.element_count_of(element)?;
            dictionary.check(shape.columns, element)?;
            write(&RowText { lines: &lines, element, form: Form::new(shape, dictionary, options)? })
        }
        Err(error) => match error.kind() {
            ErrorKind::MixedElementTypes { .. } => write(&ColumnText::new(table, options)?),
            _ => Err(error),
        },
    }
}

/// Writes all lines. `path` is the target's path in errors. Nothing is written before the first lines are formatted.
fn write(writer: &mut dyn Write, text: &dyn Text, path: Option<&Path>, done: &dyn Fn(usize)) -> Result<()> {
    let failed = |source| Error::stream(source).in_some_file(path);
    let form = text.form();
    let Shape { rows, columns } = form.shape;
    let chunks = range::cut(0..rows, VALUES / columns.max(1));
    let bytes = form.shape.element_count()?.saturating_mul(size_of::<f64>());
    let mut header = &form.header[..];
    let old = Mutex::new(Vec::new()); // texts that have been written, whose memory is used again
    let pool = || old.lock().unwrap_or_else(PoisonError::into_inner);
    let format = |rows: Range<usize>| {
        let old = pool().pop().unwrap_or_default();
        Ok((rows.len(), text.rows(rows, old)?))
    };
    parallel::in_order(chunks, bytes.saturating_mul(WEIGHT), usize::MAX, format, |(rows, text)| {
        writer.write_all(std::mem::take(&mut header)).map_err(failed)?;
        writer.write_all(&text).map_err(failed)?;
        pool().push(text);
        done(rows);
        Ok(())
    })?;
    if rows == 0 {
        writer.write_all(header).map_err(failed)?;
        done(0);
    }
    text.check_unchanged()?;
    writer.flush().map_err(failed)?;
    trace::record_long(CopyKind::Saved, text.row_bytes().saturating_mul(rows as u64));
    Ok(())
}

/// A table as text.
trait Text: Sync {
    fn form(&self) -> &Form;
    /// The size of a row in bytes, in the types of its columns.
    fn row_bytes(&self) -> u64;
    /// Formats the lines of some rows. `old` is a text that is not needed any more.
    fn rows(&self, rows: Range<usize>, old: Vec<u8>) -> Result<Vec<u8>>;
    /// Checks that the table has not changed since the text was created.
    fn check_unchanged(&self) -> Result<()>;
}

/// A table of one type, formatted row by row.
struct RowText<'a> {
    lines: &'a dyn Lines,
    element: ElementType,
    form: Form,
}

impl RowText<'_> {
    /// Formats complete rows of values as lines. The first line is row `first` of the table.
    fn lines_of<T: Element>(&self, values: &[T], first: usize, old: Vec<u8>) -> Result<Vec<u8>> {
        let (columns, mut text) = (self.form.shape.columns, room(values.len(), old)?);
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
}

impl Text for RowText<'_> {
    fn form(&self) -> &Form {
        &self.form
    }

    fn row_bytes(&self) -> u64 {
        (self.form.shape.columns as u64).saturating_mul(self.element.size_in_bytes() as u64)
    }

    fn rows(&self, rows: Range<usize>, old: Vec<u8>) -> Result<Vec<u8>> {
        let (first, columns) = (rows.start, self.form.shape.columns);
        let range = first * columns..rows.end * columns;
        let mut copy;
        let values = match self.lines.as_slice(self.element) {
            Some(values) => values.range(range),
            None => {
                copy = AnyArray::zeros(self.element, range.len())?;
                self.lines.read(range, copy.need_mutable_data()?)?;
                copy.as_slice()
            }
        };
        match_element!(self.element, T => self.lines_of(values.as_slice::<T>(), first, old))
    }

    fn check_unchanged(&self) -> Result<()> {
        self.lines.check_unchanged(self.element)
    }
}

/// A table of columns of several types, or with missing values, each formatted separately.
struct ColumnText<'a> {
    table: &'a (dyn NumericTable + 'a),
    form: Form,
    types: Vec<ElementType>,
}

/// Appends the value of a column in one row of a chunk.
type PushCell<'c> = Box<dyn Fn(usize, &mut Vec<u8>) -> Result<()> + 'c>;

impl<'a> ColumnText<'a> {
    fn new(table: &'a (dyn NumericTable + 'a), options: &CsvWriteOptions) -> Result<Self> {
        let (shape, dictionary) = (table.shape(), table.dictionary());
        shape.element_count_of(ElementType::F64)?; // the widest
        let types: Vec<ElementType> = dictionary.iter().map(|feature| feature.element_type).collect();
        if types.len() != shape.columns {
            let element = types.first().copied().unwrap_or(ElementType::F64);
            let (features, columns) = (types.len(), shape.columns);
            return Err(Error::new(ErrorKind::DictionaryMismatch { features, columns, element, actual: None }));
        }
        Ok(Self { table, form: Form::new(shape, dictionary, options)?, types })
    }

    /// Reads the values of a column in some rows. Returns the function that formats them.
    fn column<'c, T: Element>(&'c self, column: usize, rows: &Range<usize>) -> Result<PushCell<'c>> {
        let known = self.form.spellings.binary_search_by_key(&column, |(known, _)| *known);
        let spelling = known.ok().map(|index| &self.form.spellings[index].1);
        let first = rows.start;
        if self.table.dictionary().is_nullable(column) {
            let (values, validity) = missing::column_of(self.table, column, rows, T::TYPE)?;
            return Ok(Box::new(move |row, text| {
                match validity.as_ref().is_none_or(|validity| validity.is_present(row) == Some(true)) {
                    true => {
                        let values = values.as_slice().as_slice::<T>();
                        self.form.push(values[row], spelling, (first + row, column), text)
                    }
                    false => {
                        self.form.push_missing(spelling, text);
                        Ok(())
                    }
                }
            }));
        }
        let region = Region { rows: rows.clone(), columns: column..column + 1 };
        let mut values = Array::<T>::zeros(rows.len())?;
        let target = AnySliceMut::new(values.mutable_data()?);
        let target = Target::new(target, region.shape(), ConversionPolicy::Saturate)?;
        self.table.read_region(&region, target.allow_partial_write())?;
        Ok(Box::new(move |row, text| self.form.push(values[row], spelling, (first + row, column), text)))
    }

    /// Formats the lines of some rows until a value cannot be formatted.
    fn lines_of(&self, columns: &[PushCell<'_>], rows: usize, old: Vec<u8>) -> Result<Vec<u8>> {
        let mut text = room(rows.saturating_mul(columns.len()), old)?;
        for row in 0..rows {
            for push in columns {
                push(row, &mut text)?;
                text.push(self.form.delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        Ok(text)
    }
}

/// Returns the first error in the first column that has one.
fn first_error(columns: &[PushCell<'_>], rows: usize) -> Result<()> {
    let mut text = Vec::new();
    for push in columns {
        for row in 0..rows {
            text.clear();
            push(row, &mut text)?;
        }
    }
    Ok(())
}

impl Text for ColumnText<'_> {
    fn form(&self) -> &Form {
        &self.form
    }

    fn row_bytes(&self) -> u64 {
        self.types.iter().fold(0, |sum: u64, element| sum.saturating_add(element.size_in_bytes() as u64))
    }

    fn rows(&self, rows: Range<usize>, old: Vec<u8>) -> Result<Vec<u8>> {
        let mut columns = Vec::new();
        for (column, &element) in self.types.iter().enumerate() {
            match match_element!(element, T => self.column::<T>(column, &rows)) {
                Ok(push) => columns.push(push),
                Err(error) => return first_error(&columns, rows.len()).and(Err(error)),
            }
        }
        self.lines_of(&columns, rows.len(), old).or_else(|error| first_error(&columns, rows.len()).and(Err(error)))
    }

    fn check_unchanged(&self) -> Result<()> {
        let (expected, found) = (self.form.shape, self.table.shape());
        if found != expected {
            return Err(Error::new(ErrorKind::ShapeMismatch { expected, actual: found }));
        }
        let mut types = self.types.iter().zip(self.table.dictionary().iter());
        match types.find(|(expected, feature)| feature.element_type != **expected) {
            Some((&expected, feature)) => Err(Error::element_type_mismatch(expected, feature.element_type)),
            None => Ok(()),
        }
    }
}

/// Returns an empty text with room for a number of values of usual length, in the memory of an old text.
fn room(values: usize, old: Vec<u8>) -> Result<Vec<u8>> {
    let (mut text, bytes) = (old, values.saturating_mul(8));
    text.clear();
    text.try_reserve(bytes).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(text)
}
