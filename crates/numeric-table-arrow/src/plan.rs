//! The import plan: the columns to import from a schema and their types, and the batches and struct arrays to import.

use arrow_array::{Array as ArrowArray, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields};
use numeric_table::internal::match_element;
use numeric_table::{
    ConversionPolicy, DataDictionary, ElementType, Error, ErrorKind, FeatureType, Result, Shape,
    dictionary::Categories, error::Difference,
};

use crate::chunks::{Chunk, ChunkColumn, Whole, counted, is_nan};
use crate::decimal::{is_decimal, is_integer};
use crate::error::{unequal, unsupported};
use crate::options::ArrowOptions;
use crate::schema::{had_type, is_time_of, times_follow, to_dictionary, was_nullable};
use crate::types::{element_type, no_element_type};
use crate::words::{Refusal, Words, is_words};

/// Rows of all columns that are in memory together: a record batch, or a struct array.
pub(crate) struct Part<'a> {
    pub(crate) fields: &'a Fields,
    pub(crate) columns: &'a [ArrayRef],
    /// The number of the first of the columns.
    pub(crate) first_column: usize,
    /// The rows that are null in all columns.
    pub(crate) nulls: Option<&'a NullBuffer>,
    pub(crate) rows: usize,
    /// The row of the table that the first row is, if errors count from there and not from the beginning of the part.
    pub(crate) first_row: Option<usize>,
}

impl<'a> Part<'a> {
    pub(crate) fn of_batch(batch: &'a RecordBatch) -> Self {
        let fields = batch.schema_ref().fields();
        Self { fields, columns: batch.columns(), first_column: 0, nulls: None, rows: batch.num_rows(), first_row: None }
    }

    pub(crate) fn of_structs(array: &'a StructArray) -> Self {
        Self {
            fields: array.fields(),
            columns: array.columns(),
            first_column: 0,
            nulls: array.nulls(),
            rows: array.len(),
            first_row: None,
        }
    }

    /// Returns the column with a number in the schema.
    pub(crate) fn column(&self, index: usize) -> Option<&'a ArrayRef> {
        self.columns.get(index.checked_sub(self.first_column)?)
    }
}

/// One column of the table.
struct PlannedColumn {
    /// Its number in the schema.
    index: usize,
    /// The type that the caller set.
    asked: Option<ElementType>,
    /// The type of its values. `None`: the smallest type that holds the indices of its words.
    own: Option<ElementType>,
    /// Its words so far, if it has words.
    words: Option<Words>,
    /// Whether it has nulls so far.
    has_nulls: bool,
}

/// The columns of a table, and their positions in the schema.
pub(crate) struct Plan<'o> {
    pub(crate) options: &'o ArrowOptions,
    /// The columns of the schema.
    all: Fields,
    columns: Vec<PlannedColumn>,
    /// The name of a part in errors.
    kind: &'static str,
    /// Whether more parts, and more words, may follow.
    pub(crate) grows: bool,
}

/// Consecutive parts, and their position among all parts.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) parts: &'a [Part<'a>],
    /// The number of parts before these, and of all parts; `count` is more than one if the number is unknown.
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl<'a> Parts<'a> {
    pub(crate) fn all(parts: &'a [Part<'a>]) -> Self {
        Self { parts, first: 0, count: parts.len() }
    }
}

impl<'o> Plan<'o> {
    /// Chooses the columns of a schema.
    ///
    /// # Errors
    /// Those of a choice of columns; [`ErrorKind::Unsupported`] for a chosen column whose type tables do not support.
    pub(crate) fn new(all: &Fields, options: &'o ArrowOptions, kind: &'static str) -> Result<Self> {
        let names = to_dictionary(all, |_| ElementType::F64, |_| false);
        let chosen = match &options.columns {
            None => std::iter::once(0..all.len()).collect(),
            Some(columns) => columns.ranges_in(&names)?,
        };
        let mut columns = Vec::new();
        for index in chosen.into_iter().flatten() {
            // A user may have implemented the choice.
            let out = || Error::new(ErrorKind::ColumnOutOfRange { column: index, column_count: all.len() });
            let field = all.get(index).ok_or_else(out)?;
            let words = is_words(field.data_type()).then(Words::default);
            let own = match field.data_type() {
                _ if words.is_some() => had_type(field),
                DataType::Null => Some(ElementType::F64),
                data_type => own_type(data_type),
            };
            if words.is_none() && own.is_none() {
                let place = ChunkPlace { fields: all, kind, index: 0, count: 1 };
                return Err(place.refused(index, no_element_type(field.data_type())));
            }
            columns.push(PlannedColumn { index, asked: None, own, words, has_nulls: false });
        }
        for (key, element) in &options.types {
            let index = key.column_in(&names)?;
            columns.iter_mut().filter(|column| column.index == index).for_each(|column| column.asked = Some(*element));
        }
        Ok(Self { options, all: all.clone(), columns, kind, grows: false })
    }

    /// Returns the plan of a table that has only one of the columns, without the words so far.
    #[cfg(feature = "parquet")]
    pub(crate) fn only(&self, column: usize) -> Self {
        let columns = self.columns.get(column).map(|column| {
            let words = column.words.as_ref().map(|_| Words::default());
            PlannedColumn { words, has_nulls: false, ..*column }
        });
        Self { options: self.options, all: self.all.clone(), columns: columns.into_iter().collect(), ..*self }
    }

    /// Returns the positions in the schema of the columns of the table.
    pub(crate) fn indices(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.columns.iter().map(|column| column.index)
    }

    /// Returns the number of columns of the table.
    pub(crate) fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Returns whether columns have words.
    pub(crate) fn has_labels(&self) -> bool {
        self.columns.iter().any(|column| column.words.is_some())
    }

    /// Returns the number and the name of the first column of words.
    #[cfg(feature = "parquet")]
    pub(crate) fn first_words(&self) -> Option<(usize, &str)> {
        let column = self.columns.iter().find(|column| column.words.is_some())?;
        Some((column.index, self.all.get(column.index)?.name()))
    }

    /// Restricts columns of words to the words of a dictionary.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn set_words(&mut self, dictionary: &DataDictionary) -> Result<()> {
        for (column, feature) in self.columns.iter_mut().zip(dictionary.iter()) {
            if let Some(words) = &mut column.words {
                *words = Words::of(feature.categories.as_ref().unwrap_or(&Categories::new(0)))?;
            }
        }
        Ok(())
    }

    /// Returns whether the type of the first column depends on the number of its words.
    pub(crate) fn starts_with_words(&self) -> bool {
        self.columns.first().is_some_and(|column| column.words.is_some() && column.asked.or(column.own).is_none())
    }

    /// Returns the type of a column in a table whose columns have their own.
    pub(crate) fn type_of(&self, column: usize) -> ElementType {
        self.columns.get(column).map_or(ElementType::F64, |column| self.type_of_planned(column))
    }

    fn type_of_planned(&self, column: &PlannedColumn) -> ElementType {
        let known = column.asked.or(column.own);
        let is_nan = self.options.null.is_some_and(is_nan);
        known.unwrap_or_else(|| match &column.words {
            Some(_) if column.has_nulls && is_nan && !self.grows => ElementType::F64, // which has a NaN for them
            Some(_) if is_nan && self.grows => ElementType::F64, // which has one for those that may follow
            Some(words) if !self.grows => words.element_type(),
            _ => ElementType::U32,
        })
    }

    /// Describes the columns of a table of one type or, with `None`, one whose columns have their own, with the words
    /// so far. Values of a column of the latter may be missing if one is so far, or if the column was exported as such.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn dictionary(&self, one: Option<ElementType>) -> Result<DataDictionary> {
        let fields: Fields = self.columns.iter().filter_map(|column| self.all.get(column.index).cloned()).collect();
        let has_gaps = |column: usize| {
            let has_nulls = self.columns.get(column).is_some_and(|column| column.has_nulls);
            has_nulls || fields.get(column).is_some_and(|field| was_nullable(field))
        };
        let is_nullable = |column| one.is_none() && self.options.null.is_none() && has_gaps(column);
        let mut dictionary = to_dictionary(&fields, |column| one.unwrap_or_else(|| self.type_of(column)), is_nullable);
        for (index, (column, field)) in self.columns.iter().zip(&fields).enumerate() {
            let Some(words) = &column.words else { continue };
            let feature = dictionary.feature(index)?.clone();
            let is_ordinal = feature.feature_type == FeatureType::Ordinal || field.dict_is_ordered() == Some(true);
            let feature = feature.categorical(words.to_categories()?);
            dictionary.set_feature(index, if is_ordinal { feature.ordinal() } else { feature })?;
        }
        Ok(dictionary)
    }

    /// Takes the columns of parts, for a table of one type or, with `None`, one whose columns have their own.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if parts differ in the number or the names of columns, or a column cannot be taken;
    /// [`ErrorKind::OutOfMemory`].
    pub(crate) fn chunks<'a>(&mut self, parts: Parts<'a>, one: Option<ElementType>) -> Result<Vec<Chunk<'a>>> {
        let mut chunks = Vec::new();
        for (index, part) in parts.parts.iter().enumerate() {
            self.check_names(part, &place(&self.all, self.kind, parts, index))?;
            let (all, kind) = (&self.all, self.kind);
            let columns = self.columns.iter_mut().map(|planned| {
                let place = || place(all, kind, parts, index);
                column_of(part, planned).map_err(|refusal| place().refused(planned.index, refusal))
            });
            chunks.push(Chunk { rows: part.rows, columns: columns.collect::<Result<_>>()? });
        }
        // All words are known now.
        for (index, (chunk, part)) in chunks.iter_mut().zip(parts.parts).enumerate() {
            for (column, planned) in chunk.columns.iter_mut().zip(&self.columns) {
                let fits = self.fit(column, part, planned, one);
                let place = || place(&self.all, self.kind, parts, index);
                fits.map_err(|reason| place().refused(planned.index, reason))?;
            }
        }
        Ok(chunks)
    }

    fn fit(
        &self,
        values: &mut ChunkColumn<'_>,
        part: &Part<'_>,
        planned: &PlannedColumn,
        one: Option<ElementType>,
    ) -> Result<(), Refusal> {
        let data_type = part.column(planned.index).map_or(&DataType::Null, |array| array.data_type());
        let asked = planned.asked.filter(|_| one.is_none()).map(|_| ConversionPolicy::Checked);
        let whole = if one.is_some() { Whole::Table } else { Whole::Column };
        let conversion = self.options.conversion.or(asked);
        let nulls = |count, first| match part.first_row {
            None => format!("{}, the first in row {first}", counted(count)),
            Some(start) => format!("nulls, the first in row {}", start + first),
        };
        match_element!(one.unwrap_or_else(|| self.type_of_planned(planned)), T => {
            values.fit::<T>(data_type, conversion, self.options.null, whole, nulls)
        })
    }

    /// Checks that columns of times have the units of the columns of a table that they are appended to.
    ///
    /// # Errors
    /// [`ErrorKind::UnequalTables`].
    pub(crate) fn check_times(&self, dictionary: &DataDictionary) -> Result<()> {
        for (column, planned) in self.columns.iter().enumerate() {
            let feature = dictionary.feature(column)?;
            if !self.all.get(planned.index).is_none_or(|field| is_time_of(field, feature)) {
                return Err(unequal(
                    1,
                    Some(column),
                    Difference::Description,
                    format!("column {column} has another feature type"),
                ));
            }
        }
        Ok(())
    }

    /// Checks that a part has the chosen columns, and no others if all are chosen.
    fn check_names(&self, part: &Part<'_>, place: &ChunkPlace<'_>) -> Result<()> {
        let (count, expected) = (part.fields.len(), self.all.len());
        if self.options.columns.is_none() && count != expected {
            let reason = format!("{count} columns, where {expected} are expected");
            return Err(place.refused(count.min(expected), reason.into()));
        }
        for &PlannedColumn { index, .. } in &self.columns {
            match (part.fields.get(index), self.all.get(index)) {
                (Some(found), Some(expected)) if found.name() == expected.name() => {
                    if !times_follow(expected, found) {
                        let (found, expected) = (found.data_type(), expected.data_type());
                        let reason = format!("a time of another unit: {found}, where {expected} is expected");
                        return Err(place.refused(index, reason.into()));
                    }
                }
                (Some(found), _) => return Err(place.refused(index, format!("its name is {}", found.name()).into())),
                (None, _) => return Err(place.refused(index, format!("there are only {count} columns").into())),
            }
        }
        Ok(())
    }
}

/// Takes the values of a column of a part.
fn column_of<'a>(part: &Part<'a>, planned: &mut PlannedColumn) -> Result<ChunkColumn<'a>, Refusal> {
    let array = part.column(planned.index).ok_or_else(|| "it is missing".to_owned())?; // never: see `check_names`
    let nulls = NullBuffer::union(part.nulls, array.nulls());
    let column = ChunkColumn::new(array.as_ref(), nulls, planned.words.as_mut())?;
    planned.has_nulls |= column.has_nulls();
    Ok(column)
}

fn place<'p>(fields: &'p Fields, kind: &'static str, parts: Parts<'_>, index: usize) -> ChunkPlace<'p> {
    ChunkPlace { fields, kind, index: parts.first.saturating_add(index), count: parts.count }
}

/// Returns the element type of an Arrow type: of the values that Arrow stores, or of the numbers that they stand for.
fn own_type(data_type: &DataType) -> Option<ElementType> {
    match data_type {
        DataType::Boolean => Some(ElementType::U8),
        _ if is_integer(data_type) => Some(ElementType::I64),
        _ if is_decimal(data_type) => Some(ElementType::F64),
        _ => element_type(data_type),
    }
}

/// One of several chunks, for errors about it.
pub(crate) struct ChunkPlace<'a> {
    /// The expected columns.
    fields: &'a Fields,
    kind: &'static str,
    index: usize,
    count: usize,
}

impl ChunkPlace<'_> {
    /// Creates an error about a column of the chunk. The reason counts rows from the beginning of the chunk.
    fn refused(&self, column: usize, refusal: Refusal) -> Error {
        let name = self.fields.get(column).map_or_else(String::new, |field| field.name().clone());
        match refusal {
            Refusal::Error(error) => error,
            Refusal::Reason(reason) => {
                unsupported(Some(column), Some(name), in_chunk(self.kind, self.index, self.count, reason))
            }
            Refusal::Hinted(reason, hint) => self.refused(column, Refusal::Reason(reason)).with_hint(hint),
        }
    }
}

/// Adds the number of the chunk to a reason, if there are several chunks.
pub(crate) fn in_chunk(kind: &str, index: usize, count: usize, reason: String) -> String {
    if count == 1 { reason } else { format!("in {kind} {index}: {reason}") }
}

/// Returns the shape of all chunks together.
pub(crate) fn whole_shape(
    mut rows: impl Iterator<Item = usize>,
    columns: usize,
    element: Option<ElementType>,
) -> Result<Shape> {
    let shape = |rows| Shape { rows, columns };
    let sum = rows.try_fold(0_usize, |sum, rows| sum.checked_add(rows));
    sum.map(shape).ok_or_else(|| Error::new(ErrorKind::SizeOverflow { shape: shape(usize::MAX), element }))
}
