//! Columns beside those of a table, without a copy, and tables that own what another one shows.
//!
//! Columns of one table are in `part`; tables side by side in `merged`.

use super::borrow::by_ref;
use super::part::TablePart;
use super::tiling::copy_of;
use super::{HomogenNumericTable, MemoryStatus, MergedNumericTable, NumericTable, Refused, Region, SoaNumericTable};
use crate::array::AnyArray;
use crate::base::element::match_element;
use crate::base::error::{Error, Result};
use crate::base::room::with_room;
use crate::convert::ConversionPolicy;
use crate::dictionary::{DataDictionary, Feature};

impl<'t> dyn NumericTable + 't {
    /// Returns the table with one more column, after the last one; or in the place of the first one that has its name.
    /// Nothing is copied: the table is borrowed, the array becomes a part of the result. `to_table` copies both.
    ///
    /// Source: polars `with_columns`.
    ///
    /// # Errors
    /// The array, with [`Error::LengthMismatch`] if it has not one value for each row; [`Error::TooDeep`] of a column
    /// beside a column, 64 times over; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let mut table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.0], [3.0, 4.0]])?;
    /// table.set_names(["width", "height"])?;
    /// let areas: Vec<f32> = table.rows::<f32>(..)?.iter_rows().map(|row| row[0] * row[1]).collect();
    /// let table = table.as_dyn().with_column("area", areas)?;
    /// assert_eq!(table.rows::<f32>(..)?[..], [1.5, 2.0, 3.0, 3.0, 4.0, 12.0]);
    /// let table = table.as_dyn().with_column("width", vec![7_u8, 8])?;
    /// assert_eq!(table.column_names(), [Some("width"), Some("height"), Some("area")]);
    /// assert_eq!(table.rows::<f32>(1..)?[..], [8.0, 4.0, 12.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_column(
        &self,
        name: impl Into<String>,
        array: impl Into<AnyArray>,
    ) -> Result<MergedNumericTable<'_>, Refused<AnyArray>> {
        let array = array.into();
        self.with_feature(Feature::new(array.element_type()).named(name), array)
    }

    /// Like `with_column`, with all that is known of the column. Its element type becomes that of the array; without a
    /// name, it stands after the last one.
    ///
    /// # Errors
    /// Those of `with_column`.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{table::Refused, prelude::*};
    /// let table = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let species = Feature::new(ElementType::U8).named("species").categorical(3);
    /// let labelled = table.as_dyn().with_feature(species.clone(), vec![0_u8, 2])?;
    /// assert_eq!(labelled.category_count(2)?, Some(3));
    /// let Refused { given, error } = table.as_dyn().with_feature(species, vec![0_u8, 1, 2]).unwrap_err();
    /// assert_eq!((given.len(), error.to_string().as_str()), (3, "lengths differ: 3 values were given for 2"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_feature(
        &self,
        feature: Feature,
        array: impl Into<AnyArray>,
    ) -> Result<MergedNumericTable<'_>, Refused<AnyArray>> {
        let array = array.into();
        self.beside(feature, array.clone()).map_err(|error| Refused::new(array, error))
    }

    fn beside(&self, feature: Feature, array: AnyArray) -> Result<MergedNumericTable<'_>> {
        let (shape, found) = (self.shape(), array.len());
        if found != shape.rows {
            return Err(Error::LengthMismatch { expected: shape.rows, found });
        }
        let replaced = feature.name.as_deref().and_then(|name| self.dictionary().index_of(name));
        let new = table_of(feature, array);
        match replaced {
            Some(column) => with_replaced(self, [(column, new)]),
            None => MergedNumericTable::new([by_ref(self), new]),
        }
    }

    /// Returns this table and others side by side: its columns, then those of the first other one, and so on. Nothing
    /// is copied, and the tables are borrowed; `to_table` copies them. Several columns may have one name: it is then
    /// that of the first.
    ///
    /// Source: NumPy `hstack`.
    ///
    /// # Errors
    /// [`Error::UnequalRows`]; [`Error::TooDeep`], [`Error::SizeOverflow`], [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let features = HomogenNumericTable::from_rows(&[[5.1_f32, 3.5], [4.9, 3.0]])?;
    /// let labels = HomogenNumericTable::from_rows(&[[0_u8], [2]])?;
    /// let both = features.as_dyn().hstack([labels.as_dyn()])?;
    /// assert_eq!(both.rows::<f32>(1..)?[..], [4.9, 3.0, 2.0]);
    /// let owned: Box<dyn NumericTable> = both.as_dyn().to_table()?;
    /// assert_eq!((owned.column_type(2)?, owned.value::<i32>(1, 2)?), (ElementType::U8, 2));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn hstack<'s>(
        &'s self,
        others: impl IntoIterator<Item = &'s (dyn NumericTable + 's)>,
    ) -> Result<MergedNumericTable<'s>> {
        MergedNumericTable::new(std::iter::once(by_ref(self)).chain(others.into_iter().map(by_ref)))
    }

    /// Copies what the table shows into one that owns it, whatever it consists of: homogeneous and row-major if all
    /// columns have one type; otherwise a structure of arrays. The dictionary is kept. O(values), by several threads if
    /// there are many.
    ///
    /// Memory that is one array already, or an array for each column, is shared, as clones share it.
    ///
    /// # Errors
    /// Those of reading all of the table; [`Error::SizeOverflow`], [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2, 3], [4, 5, 6]])?;
    /// let corner: Box<dyn NumericTable> = table.as_dyn().tail(1)?.select_columns([2, 0])?.as_dyn().to_table()?;
    /// drop(table);
    /// assert_eq!(corner.rows::<u8>(..)?[..], [6, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_table(&self) -> Result<Box<dyn NumericTable>> {
        if let Some(element) = self.uniform_type() {
            return match_element!(element, T => {
                Ok(Box::new(HomogenNumericTable::<T>::of_table(self, ConversionPolicy::Saturate)?))
            });
        }
        Ok(Box::new(self.to_columns()?))
    }

    /// Copies the columns into a structure of arrays, each in its own type. The dictionary is kept. O(values), by
    /// several threads if there are many. A column that is an array already is shared, as clones share it.
    ///
    /// # Errors
    /// Those of reading all of the table; [`Error::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::prelude::*;
    /// let table = HomogenNumericTable::from_rows(&[[1_u8, 2], [3, 4]])?;
    /// let mut columns = table.as_dyn().to_columns()?;
    /// columns.push_column("sum", vec![3_u16, 7])?;
    /// assert_eq!((columns.column_as::<u8>(1)?, columns.column_type(2)?), (&[2, 4][..], ElementType::U16));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_columns(&self) -> Result<SoaNumericTable> {
        let (shape, dictionary) = (self.shape(), self.dictionary().clone());
        dictionary.check_count(shape.columns, || self.uniform_type())?;
        let mut columns = with_room(shape.columns)?;
        for (column, feature) in dictionary.iter().enumerate() {
            let (region, element) = (Region { rows: 0..shape.rows, columns: column..column + 1 }, feature.element_type);
            columns.push(match self.array_of(&region, element)? {
                // What a user's kind of table lends is not trusted.
                Some((array, range)) if array.element_type() == element => match range.len() {
                    found if found == shape.rows => array.slice(range)?,
                    found => return Err(Error::LengthMismatch { expected: shape.rows, found }),
                },
                _ => copy_of(self, &region, element, ConversionPolicy::Saturate)?,
            });
        }
        Ok(SoaNumericTable::of_arrays(dictionary, shape.rows, columns, MemoryStatus::InternallyAllocated))
    }
}

/// Returns a table of one column.
fn table_of<'t>(feature: Feature, array: AnyArray) -> Box<dyn NumericTable + 't> {
    let (rows, feature) = (array.len(), Feature { element_type: array.element_type(), ..feature });
    let dictionary = DataDictionary::uniform(feature, 1);
    Box::new(SoaNumericTable::of_arrays(dictionary, rows, vec![array], MemoryStatus::UserAllocated))
}

/// Returns a table with some columns, in ascending order, replaced by tables of one column.
fn with_replaced<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: impl IntoIterator<Item = (usize, Box<dyn NumericTable + 't>)>,
) -> Result<MergedNumericTable<'t>> {
    let shape = table.shape();
    let part = |columns| {
        let part = TablePart::new(table, Region { rows: 0..shape.rows, columns })?;
        Ok::<_, Error>(Box::new(part) as Box<dyn NumericTable + 't>)
    };
    let (mut parts, mut next) = (Vec::new(), 0);
    for (column, new) in columns {
        if next < column {
            parts.push(part(next..column)?);
        }
        parts.push(new);
        next = column + 1;
    }
    if next < shape.columns {
        parts.push(part(next..shape.columns)?);
    }
    MergedNumericTable::new(parts)
}

/// Returns a table with arrays in the place of some columns, in ascending order; the table itself if there are none.
pub(super) fn with_columns_replaced<'t>(
    table: &'t (dyn NumericTable + 't),
    columns: Vec<(usize, Feature, AnyArray)>,
) -> Result<Box<dyn NumericTable + 't>> {
    if columns.is_empty() {
        return Ok(by_ref(table));
    }
    let new = columns.into_iter().map(|(column, feature, array)| (column, table_of(feature, array)));
    Ok(Box::new(with_replaced(table, new)?))
}
