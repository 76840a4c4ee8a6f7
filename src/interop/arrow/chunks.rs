//! Columns in chunks, and their assembly into the memory of a table.

use std::ops::Range;

use arrow_array::Array as ArrowArray;
use arrow_buffer::NullBuffer;

use super::options::ArrowOptions;
use super::types::{element_type, no_element_type, values};
use crate::array::Array;
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, Result};
use crate::base::number::{Loss, Number};
use crate::base::parallel;
use crate::base::value::{AnyValue, match_value};
use crate::convert::kernel::Origin;
use crate::convert::{ConversionPolicy, cast};
use crate::table::{DataLayout, Shape, TableView, TableViewMut};
use crate::window::{AnySlice, AnySliceMut};

/// Number of bytes of columns that are converted to rows at a time, so that they stay in the processor's cache.
const TILE_BYTES: usize = 128 << 10;
/// Least number of rows that are converted at a time.
const TILE_ROWS: usize = 16;

/// Some rows of all columns.
pub(super) struct Chunk<'a> {
    pub(super) rows: usize,
    pub(super) columns: Vec<ChunkColumn<'a>>,
}

/// The values of one column in one chunk.
pub(super) struct ChunkColumn<'a> {
    values: AnySlice<'a>,
    /// Where the nulls are, if there are any, and the value that stands for them.
    nulls: Option<(NullBuffer, AnyValue)>,
}

impl<'a> ChunkColumn<'a> {
    /// Borrows the values of an array, if `whole`, a table or a column of `T`, can hold them. `place` describes the
    /// position of the value with an index. Both are for errors.
    ///
    /// # Errors
    /// The reason why the table cannot hold them.
    pub(super) fn new<T: Element>(
        array: &'a dyn ArrowArray,
        nulls: Option<NullBuffer>,
        options: &ArrowOptions,
        whole: &str,
        place: impl Fn(usize) -> String,
    ) -> Result<Self, String> {
        let data_type = array.data_type();
        let (Some(found), Some(values)) = (element_type(data_type), values(array)) else {
            return Err(no_element_type(data_type));
        };
        if found != T::TYPE && options.conversion.is_none() {
            return Err(format!("{found} values in a {whole} of {}, and no conversion was requested", T::TYPE));
        }
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
            return Ok(Self { values, nulls: None });
        };
        let what = || {
            let first = nulls.iter().position(|is_valid| !is_valid).unwrap_or(0);
            format!("{} nulls, the first in {}", nulls.null_count(), place(first))
        };
        let null = options.null.ok_or_else(|| format!("{}, and no NaN was requested for them", what()))?;
        match match_value!(null, value => T::loss(value.exact())) {
            Loss::None => {}
            Loss::Inexact if T::TYPE.is_float() => {}
            Loss::NanToInteger => return Err(format!("{}, and {} has no NaN for them", what(), T::TYPE)),
            _ => return Err(format!("{}, and {} does not hold {null}, which stands for them", what(), T::TYPE)),
        }
        Ok(Self { values, nulls: Some((nulls, null)) })
    }

    pub(super) fn has_nulls(&self) -> bool {
        self.nulls.is_some()
    }

    /// Copies values, and what stands for nulls. `origin` is the position of the first value, for errors.
    fn read<T: Element>(
        &self,
        rows: Range<usize>,
        target: &mut [T],
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<()> {
        let Some((nulls, null)) = &self.nulls else {
            return convert(self.values, rows, target, policy, origin);
        };
        let null: T = match_value!(*null, value => cast(value));
        let (start, count, nulls) = (rows.start, rows.len(), nulls.slice(rows.start, rows.len()));
        // All at once is much faster than many short runs; but the values of nulls may be refused.
        let is_done = convert(self.values, rows, target, policy, origin).is_ok();
        let mut end = 0;
        for (first, next) in nulls.valid_slices().chain([(count, count)]) {
            target[end..first].fill(null);
            if !is_done {
                let origin = Origin { row: origin.row + first, ..origin };
                convert(self.values, start + first..start + next, &mut target[first..next], policy, origin)?;
            }
            end = next;
        }
        Ok(())
    }
}

fn convert<T: Element>(
    values: AnySlice<'_>,
    rows: Range<usize>,
    target: &mut [T],
    policy: ConversionPolicy,
    origin: Origin,
) -> Result<()> {
    match_element!(values.element_type(), S => {
        let mismatch = Error::element_type_mismatch(S::TYPE, values.element_type());
        let values = &values.downcast::<S>().ok_or(mismatch)?[rows];
        let shape = Shape { rows: values.len(), columns: 1 };
        TableView::new(values, shape, DataLayout::RowMajor)?.read_over(AnySliceMut::new(target), policy, origin)
    })
}

/// Concatenates chunks of the same columns.
///
/// # Errors
/// [`Error::ValueNotRepresentable`] with the first refused value in row-major order; [`Error::SizeOverflow`];
/// [`Error::OutOfMemory`].
pub(super) fn assemble<T: Element>(
    chunks: &[Chunk<'_>],
    shape: Shape,
    layout: DataLayout,
    options: &ArrowOptions,
) -> Result<Array<T>> {
    let mut array = Array::<T>::zeros(shape.element_count_of(T::TYPE)?)?;
    if shape.is_empty() {
        return Ok(array);
    }
    let policy = options.conversion.unwrap_or(ConversionPolicy::Exact);
    let rest = array.mutable_data()?;
    let work = |piece: ChunkPart<'_, '_, T>| piece.read(policy).err();
    let pieces = match layout {
        DataLayout::RowMajor => rows(chunks, shape, rest),
        DataLayout::ColumnMajor => columns(chunks, shape, rest),
    };
    let errors: Vec<Option<Error>> = match parallel::task_count(shape.element_count()? * size_of::<T>()) {
        1 => pieces.into_iter().map(work).collect(),
        _ => parallel::map(pieces, work),
    };
    match errors.into_iter().flatten().min_by_key(place) {
        Some(error) => Err(error),
        None => Ok(array),
    }
}

/// Returns the position of a refused value; `None`, which sorts first, for other errors.
fn place(error: &Error) -> Option<(usize, usize)> {
    match error {
        Error::ValueNotRepresentable { row, column, .. } => Some((*row, *column)),
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

/// Divides a row-major table into pieces of consecutive rows.
fn rows<'t, 'c, T>(chunks: &'c [Chunk<'c>], shape: Shape, mut rest: &'t mut [T]) -> Vec<ChunkPart<'t, 'c, T>> {
    let step = (TILE_BYTES / size_of::<T>() / shape.columns).max(TILE_ROWS);
    let (mut pieces, mut row) = (Vec::new(), 0);
    for chunk in chunks {
        for start in (0..chunk.rows).step_by(step) {
            let rows = start..chunk.rows.min(start + step);
            let (target, tail) = rest.split_at_mut(rows.len() * shape.columns);
            let count = rows.len();
            pieces.push(ChunkPart { chunk, rows, columns: 0..shape.columns, row, target });
            (rest, row) = (tail, row + count);
        }
    }
    pieces
}

/// Divides a column-major table into pieces of its columns.
fn columns<'t, 'c, T>(chunks: &'c [Chunk<'c>], shape: Shape, mut rest: &'t mut [T]) -> Vec<ChunkPart<'t, 'c, T>> {
    let mut pieces = Vec::new();
    for column in 0..shape.columns {
        let mut row = 0;
        for chunk in chunks {
            let (target, tail) = rest.split_at_mut(chunk.rows);
            pieces.push(ChunkPart { chunk, rows: 0..chunk.rows, columns: column..column + 1, row, target });
            (rest, row) = (tail, row + chunk.rows);
        }
    }
    pieces
}

impl<T: Element> ChunkPart<'_, '_, T> {
    fn read(self, policy: ConversionPolicy) -> Result<()> {
        let Self { chunk, rows, columns, row, target } = self;
        if let [column] = &chunk.columns[columns.clone()] {
            return column.read(rows, target, policy, Origin { row, column: columns.start });
        }
        let shape = Shape { rows: rows.len(), columns: columns.len() };
        let mut target = TableViewMut::new(target, shape, DataLayout::RowMajor)?;
        // Some columns at a time, if there are so many that even a few rows exceed a tile.
        let step = (TILE_BYTES / size_of::<T>() / shape.rows).clamp(1, shape.columns);
        let mut tile = Array::<T>::zeros(shape.rows * step)?;
        let mut errors = Vec::new();
        for first in columns.step_by(step) {
            let some = first..shape.columns.min(first + step);
            let tile_shape = Shape { columns: some.len(), ..shape };
            let by_columns = &mut tile.mutable_data()?[..tile_shape.element_count()?];
            let lanes = by_columns.chunks_exact_mut(shape.rows);
            for ((column, lane), index) in chunk.columns[some.clone()].iter().zip(lanes).zip(some.clone()) {
                errors.extend(column.read(rows.clone(), lane, policy, Origin { row, column: index }).err());
            }
            let by_columns = TableView::new(by_columns, tile_shape, DataLayout::ColumnMajor)?;
            target.reborrow().columns(some)?.copy_from(by_columns)?;
        }
        errors.into_iter().min_by_key(place).map_or(Ok(()), Err)
    }
}
