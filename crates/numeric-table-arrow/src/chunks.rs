//! Columns in chunks, and their assembly into the memory of a table.

use std::ops::Range;

use arrow_array::Array as ArrowArray;
use arrow_array::cast::AsArray;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use numeric_table::convert::convert_slice_over;
use numeric_table::internal::parallel::{map, task_count};
use numeric_table::internal::{match_element, record};
use numeric_table::trace::CopyKind;
use numeric_table::{
    AllocationFlag, AnyArray, AnyValue, Array, ConversionPolicy, DataLayout, Element, ElementType, Error, ErrorKind,
    HomogenNumericTable, Result, Shape,
    array::{AnySlice, Validity},
    error::Hint,
    table::{TableView, TableViewMut},
};

use crate::decimal::{Decimals, is_integer};
use crate::error::type_mismatch;
use crate::gaps::of_nulls;
use crate::types::{no_element_type, values};
use crate::words::{Refusal, Words, is_words};

/// Number of bytes of columns that are converted to rows at a time, so that they stay in the processor's cache.
const TILE_BYTES: usize = 128 << 10;
/// Number of bytes of rows that are made of columns at a time, in the cache next to the processor, and the least number
/// of rows.
const BLOCK_BYTES: usize = 8 << 10;
const MIN_BLOCK: usize = 8;
/// Least number of rows that are converted at a time.
const TILE_ROWS: usize = 16;

/// The position of the first of some values in a table, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) row: usize,
    pub(crate) column: usize,
}

/// Some rows of all columns.
pub(crate) struct Chunk<'a> {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<ChunkColumn<'a>>,
}

/// The values of one column in one chunk.
pub(crate) struct ChunkColumn<'a> {
    values: Source<'a>,
    /// Where the nulls are, if there are any.
    nulls: Option<Validity>,
    /// The value that replaces them. Without one, they stay missing.
    null: Option<AnyValue>,
    /// The policy of conversions.
    policy: ConversionPolicy,
}

/// The destination of values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// A table of one element type.
    Table,
    /// A column of a table whose columns have their own types.
    Column,
}

impl Whole {
    /// Returns its name in errors.
    fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Column => "column",
        }
    }
}

/// Where the values of a column come from.
enum Source<'a> {
    /// Arrow's memory.
    Shared(AnySlice<'a>),
    Decimals(Decimals<'a>),
    /// Booleans, as 0 and 1, and indices of words: numbers that can have any type.
    Made(AnyArray),
}

impl<'a> ChunkColumn<'a> {
    /// Takes the values of an array of numbers, or of values that become numbers.
    ///
    /// # Errors
    /// The reason why a table cannot hold them; [`ErrorKind::OutOfMemory`].
    pub(crate) fn new(
        array: &'a dyn ArrowArray,
        mut nulls: Option<NullBuffer>,
        words: Option<&mut Words>,
    ) -> Result<Self, Refusal> {
        let source = match (values(array), Decimals::of(array)?) {
            (Some(values), _) => Source::Shared(values),
            (_, Some(decimals)) => Source::Decimals(decimals),
            _ => match (array.as_boolean_opt(), words.filter(|_| is_words(array.data_type()))) {
                (Some(array), _) => Source::Made(bytes_of(array.values())?),
                (_, Some(words)) => {
                    let (indices, all_nulls) = words.indices(array, nulls)?;
                    nulls = all_nulls;
                    Source::Made(indices)
                }
                _ if *array.data_type() == DataType::Null => {
                    let values = Source::Made(Array::<u8>::zeros(array.len())?.into());
                    let nulls = Some(Validity::all_missing(array.len())?).filter(Validity::has_missing);
                    return Ok(Self { values, nulls, null: None, policy: ConversionPolicy::Exact });
                }
                _ => return Err(no_element_type(array.data_type())),
            },
        };
        let nulls = nulls.as_ref().map(of_nulls).transpose()?.flatten();
        Ok(Self { values: source, nulls, null: None, policy: ConversionPolicy::Exact })
    }

    /// Takes indices of words as values.
    pub(crate) fn of_indices(indices: &'a AnyArray) -> Self {
        let values = Source::Shared(indices.as_slice());
        Self { values, nulls: None, null: None, policy: ConversionPolicy::Exact }
    }

    /// Checks that `whole`, a table or a column of `T`, can hold the values, under the policy that `conversion` names.
    /// `describe` describes nulls by their number and the index of the first. Both are for errors.
    ///
    /// # Errors
    /// The reason why the table cannot hold them.
    pub(crate) fn fit<T: Element>(
        &mut self,
        data_type: &DataType,
        conversion: Option<ConversionPolicy>,
        null: Option<AnyValue>,
        whole: Whole,
        describe: impl Fn(usize, usize) -> String,
    ) -> Result<(), Refusal> {
        let other = match &self.values {
            Source::Shared(values) => Some(values.element_type().to_string()),
            Source::Decimals(_) if is_integer(data_type) => Some(ElementType::I64.to_string()),
            Source::Decimals(_) => Some(data_type.to_string()),
            Source::Made(_) => None,
        };
        match (other, conversion) {
            (None, _) => {}
            (Some(_), Some(policy)) => self.policy = policy,
            (Some(found), None) if found == T::TYPE.name() => {}
            // The type of a column of decimals, if the caller sets none.
            (Some(_), None) if whole == Whole::Column && self.is_decimal() && T::TYPE == ElementType::F64 => {
                self.policy = ConversionPolicy::Checked;
            }
            (Some(found), None) => {
                let reason =
                    format!("{found} values in a {} of {}, and no conversion was requested", whole.name(), T::TYPE);
                return Err(Refusal::Hinted(reason, Hint::new("ArrowOptions::convert", "converts them")));
            }
        }
        let Some(nulls) = &self.nulls else { return Ok(()) };
        let what = || describe(nulls.missing_count(), nulls.first_missing(0..nulls.len()).unwrap_or(0));
        let null = match null {
            Some(null) => null,
            None if whole == Whole::Column => return Ok(()), // they stay missing
            None => {
                let hint = Hint::new("ArrowOptions::nulls_to_nan", "reads them as NaN");
                return Err(Refusal::Hinted(format!("{}, and no NaN was requested for them", what()), hint));
            }
        };
        self.null = Some(null);
        let rounds = if T::TYPE.is_float() { ConversionPolicy::Checked } else { ConversionPolicy::Exact };
        if null.convert::<T>(rounds).is_ok() || null.convert::<T>(ConversionPolicy::Exact).is_ok() {
            return Ok(());
        }
        let element = T::TYPE;
        let reason = match is_nan(null) {
            true => {
                format!("{}, and {element} has no NaN for them: fill them first, or choose a type of floats", what())
            }
            false => format!("{}, and {element} does not hold {null}, which stands for them", what()),
        };
        Err(reason.into())
    }

    /// Returns the values if they are those of a table of `T` as they are.
    fn ready<T: Element>(&self) -> Option<&'a [T]> {
        match &self.values {
            Source::Shared(values) if self.nulls.is_none() => values.downcast::<T>(),
            _ => None,
        }
    }

    fn is_decimal(&self) -> bool {
        matches!(self.values, Source::Decimals(_))
    }

    pub(crate) fn has_nulls(&self) -> bool {
        self.nulls.is_some()
    }

    /// Returns where values stay missing: where the nulls are, if nothing [replaces](Self::fit) them.
    pub(crate) fn gaps(&self) -> Option<&Validity> {
        self.nulls.as_ref().filter(|_| self.null.is_none())
    }

    /// Copies values, and the value that replaces nulls. `origin` is the position of the first value, for errors. The
    /// copies of values that stay missing are arbitrary.
    fn read<T: Element>(&self, rows: Range<usize>, target: &mut [T], origin: Origin) -> Result<()> {
        let Some(nulls) = &self.nulls else {
            return self.convert(rows, target, origin);
        };
        let null: T = self.null.map_or(Ok(T::default()), |null| null.convert(ConversionPolicy::Saturate))?;
        let (start, nulls) = (rows.start, nulls.slice(rows.clone())?);
        // All at once is much faster than many short runs; but the values of nulls may be refused.
        let is_done = self.convert(rows, target, origin).is_ok();
        if is_done && self.null.is_none() {
            return Ok(());
        }
        for (run, is_present) in nulls.runs() {
            if !is_present {
                target[run].fill(null);
            } else if !is_done {
                let origin = Origin { row: origin.row + run.start, ..origin };
                self.convert(start + run.start..start + run.end, &mut target[run], origin)?;
            }
        }
        Ok(())
    }

    fn convert<T: Element>(&self, rows: Range<usize>, target: &mut [T], origin: Origin) -> Result<()> {
        match &self.values {
            Source::Shared(values) => convert(*values, rows, target, self.policy, origin),
            Source::Made(values) => convert(values.as_slice(), rows, target, self.policy, origin),
            Source::Decimals(decimals) => decimals.read(rows, target, self.policy, origin),
        }
    }
}

/// Copies columns into rows, a few rows at a time, so that they stay in the processor's cache.
fn interleave<T: Element>(columns: &[&[T]], target: &mut [T]) {
    let width = columns.len().max(1);
    let step = (BLOCK_BYTES / (width * size_of::<T>())).max(MIN_BLOCK);
    for (index, block) in target.chunks_mut(width * step).enumerate() {
        for (column, values) in columns.iter().enumerate() {
            for (row, value) in block.chunks_exact_mut(width).zip(&values[index * step..]) {
                row[column] = *value;
            }
        }
    }
}

/// Returns a number of nulls in words.
pub(crate) fn counted(nulls: usize) -> String {
    if nulls == 1 { "1 null".to_owned() } else { format!("{nulls} nulls") }
}

/// Returns whether a value is NaN.
pub(crate) fn is_nan(value: AnyValue) -> bool {
    value.convert::<f64>(ConversionPolicy::Saturate).is_ok_and(f64::is_nan)
}

/// Returns booleans as 0 and 1.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
fn bytes_of(values: &BooleanBuffer) -> Result<AnyArray> {
    let mut bytes = Array::<u8>::zeros(values.len())?;
    for (byte, is_true) in bytes.mutable_data()?.iter_mut().zip(values) {
        *byte = is_true.into();
    }
    Ok(bytes.into())
}

fn convert<T: Element>(
    values: AnySlice<'_>,
    rows: Range<usize>,
    target: &mut [T],
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    match_element!(values.element_type(), S => {
        let mismatch = || type_mismatch(S::TYPE, values.element_type());
        let values = &values.downcast::<S>().ok_or_else(mismatch)?[rows];
        convert_slice_over(values, target, policy).map_err(|error| error.moved(origin.row, origin.column))
    })
}

/// Concatenates columns of chunks.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] with the first refused value in row-major order; [`ErrorKind::SizeOverflow`];
/// [`ErrorKind::OutOfMemory`].
pub(crate) fn assemble<T: Element>(
    chunks: &[Chunk<'_>],
    columns: Range<usize>,
    rows: usize,
    layout: DataLayout,
) -> Result<Array<T>> {
    let shape = Shape { rows, columns: columns.len() };
    let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
    fill_all(chunks, columns, rows, array.mutable_data()?, layout)?;
    Ok(array)
}

/// Concatenates all columns of chunks into a table of a shape and a layout, which has the same number of values.
/// `columns` is the number of columns of a chunk: a chunk of lists has all values in one.
///
/// # Errors
/// Those of [`assemble`].
pub(crate) fn assemble_table<T: Element>(
    chunks: &[Chunk<'_>],
    columns: usize,
    shape: Shape,
    layout: DataLayout,
) -> Result<HomogenNumericTable<T>> {
    let mut table = HomogenNumericTable::new_with_layout(shape, AllocationFlag::DoAllocate, layout)?;
    if !shape.is_empty() {
        let values = table.as_mut_slice()?;
        fill_all(chunks, 0..columns, values.len() / columns, values, layout)?; // some columns, or it would be empty
    }
    Ok(table)
}

/// Concatenates columns of chunks, which have `rows` rows together.
fn fill_all<T: Element>(
    chunks: &[Chunk<'_>],
    columns: Range<usize>,
    rows: usize,
    values: &mut [T],
    layout: DataLayout,
) -> Result<()> {
    let room = match layout {
        _ if values.is_empty() => return Ok(()),
        DataLayout::RowMajor => Room::Rows(values),
        DataLayout::ColumnMajor => Room::Columns(values.chunks_exact_mut(rows).collect()),
    };
    fill(chunks, columns, room, 0)
}

/// Room for all rows of some columns of chunks.
pub(crate) enum Room<'t, T> {
    /// Row by row.
    Rows(&'t mut [T]),
    /// Each column by itself.
    Columns(Vec<&'t mut [T]>),
}

/// Copies columns of chunks into the room for them. The first row becomes row `row` of the table.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] with the first refused value in row-major order; [`ErrorKind::OutOfMemory`].
pub(crate) fn fill<T: Element>(
    chunks: &[Chunk<'_>],
    columns: Range<usize>,
    room: Room<'_, T>,
    row: usize,
) -> Result<()> {
    let count: usize = match &room {
        Room::Rows(rows) => rows.len(),
        Room::Columns(lanes) => lanes.iter().map(|lane| lane.len()).sum(),
    };
    fill_by(task_count(count * size_of::<T>()) > 1, chunks, columns, room, row)?;
    record(CopyKind::Exchanged, count * size_of::<T>());
    Ok(())
}

/// Copies columns of chunks as [`fill`] does, on several threads if the caller says so.
///
/// # Errors
/// Those of [`fill`].
pub(crate) fn fill_by<T: Element>(
    is_parallel: bool,
    chunks: &[Chunk<'_>],
    columns: Range<usize>,
    room: Room<'_, T>,
    row: usize,
) -> Result<()> {
    let work = |piece: ChunkPart<'_, '_, T>| piece.read().err();
    let pieces = match room {
        _ if columns.is_empty() => return Ok(()),
        Room::Rows(rest) => rows_of(chunks, columns, rest, row),
        Room::Columns(lanes) => columns_of(chunks, columns, lanes, row),
    };
    let errors: Vec<Option<Error>> = match is_parallel {
        false => pieces.into_iter().map(work).collect(),
        true => map(pieces, work),
    };
    errors.into_iter().flatten().min_by_key(place).map_or(Ok(()), Err)
}

/// Returns the position of a refused value; `None`, which sorts first, for other errors.
fn place(error: &Error) -> Option<(usize, usize)> {
    match error.kind() {
        ErrorKind::ValueNotRepresentable { row, column, .. } => Some((*row, *column)),
        _ => None,
    }
}

/// Some rows of some columns, and the target of their values.
struct ChunkPart<'t, 'c, T> {
    chunk: &'c Chunk<'c>,
    /// Rows of the chunk.
    rows: Range<usize>,
    columns: Range<usize>,
    /// The row of the table that the first row becomes.
    row: usize,
    /// The target of the values, row by row.
    target: &'t mut [T],
}

/// Divides room for rows into pieces of consecutive ones.
fn rows_of<'t, 'c, T>(
    chunks: &'c [Chunk<'c>],
    columns: Range<usize>,
    mut rest: &'t mut [T],
    mut row: usize,
) -> Vec<ChunkPart<'t, 'c, T>> {
    let step = (TILE_BYTES / size_of::<T>() / columns.len()).max(TILE_ROWS);
    let mut pieces = Vec::new();
    for chunk in chunks {
        for start in (0..chunk.rows).step_by(step) {
            let rows = start..chunk.rows.min(start + step);
            let (target, tail) = rest.split_at_mut(rows.len() * columns.len());
            let count = rows.len();
            pieces.push(ChunkPart { chunk, rows, columns: columns.clone(), row, target });
            (rest, row) = (tail, row + count);
        }
    }
    pieces
}

/// Divides room for columns into pieces of one column and one chunk.
fn columns_of<'t, 'c, T>(
    chunks: &'c [Chunk<'c>],
    columns: Range<usize>,
    lanes: Vec<&'t mut [T]>,
    first: usize,
) -> Vec<ChunkPart<'t, 'c, T>> {
    let mut pieces = Vec::new();
    for (column, mut rest) in columns.zip(lanes) {
        let mut row = first;
        for chunk in chunks {
            let (target, tail) = rest.split_at_mut(chunk.rows);
            pieces.push(ChunkPart { chunk, rows: 0..chunk.rows, columns: column..column + 1, row, target });
            (rest, row) = (tail, row + chunk.rows);
        }
    }
    pieces
}

impl<'c, T: Element> ChunkPart<'_, 'c, T> {
    fn read(self) -> Result<()> {
        let Self { chunk, rows, columns, row, target } = self;
        if let [column] = &chunk.columns[columns.clone()] {
            return column.read(rows, target, Origin { row, column: columns.start });
        }
        let ready = |column: &ChunkColumn<'c>| column.ready::<T>().and_then(|values| values.get(rows.clone()));
        if let Some(lanes) = chunk.columns[columns.clone()].iter().map(ready).collect::<Option<Vec<&[T]>>>() {
            interleave(&lanes, target);
            return Ok(());
        }
        let shape = Shape { rows: rows.len(), columns: columns.len() };
        let mut target = TableViewMut::new(target, shape, DataLayout::RowMajor)?;
        // Some columns at a time, if even a few rows of all columns exceed a tile.
        let step = (TILE_BYTES / size_of::<T>() / shape.rows).clamp(1, shape.columns);
        let mut tile = Array::<T>::zeros(shape.rows * step)?;
        let mut errors = Vec::new();
        for first in (0..shape.columns).step_by(step) {
            let some = first..shape.columns.min(first + step);
            let tile_shape = Shape { columns: some.len(), ..shape };
            let by_columns = &mut tile.mutable_data()?[..tile_shape.element_count()?];
            for (index, lane) in some.clone().zip(by_columns.chunks_exact_mut(shape.rows)) {
                let column = columns.start + index;
                errors.extend(chunk.columns[column].read(rows.clone(), lane, Origin { row, column }).err());
            }
            let by_columns = TableView::new(by_columns, tile_shape, DataLayout::ColumnMajor)?;
            target.reborrow().slice_columns(some)?.copy_from(by_columns)?;
        }
        errors.into_iter().min_by_key(place).map_or(Ok(()), Err)
    }
}
