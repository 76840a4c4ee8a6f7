//! The content of tables: the numbers and arrays that archives and files store, and from which they restore tables.
//!
//! A kind of table that has its own name in files implements [`Stored`], which returns its content and checks what a
//! file supplies. Homogeneous tables have an older encoding, in the modules of archives and files. Any other table is
//! stored as a homogeneous table, or as a structure of arrays if its columns differ in type.

mod gaps;

use std::ops::Range;

use super::tiling;
use super::{
    DataLayout, HomogenNumericTable, MemoryStatus, NumericTable, Region, Shape, SoaNumericTable, TableDescription,
    TableKind, missing,
};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::convert::ConversionPolicy;
use crate::dictionary::{DataDictionary, Feature};

/// The content of a table.
pub(crate) struct Content<'t> {
    pub(crate) kind: TableKind,
    pub(crate) shape: Shape,
    /// The parameters that the kind needs besides the shape. Each kind defines its own.
    pub(crate) settings: Vec<u64>,
    pub(crate) dictionary: DataDictionary,
    pub(crate) values: Vec<Values<'t>>,
    /// The columns with missing values, in order: see [`gaps`].
    pub(crate) gaps: missing::ColumnGaps,
}

/// Values of one type in the content of a table.
pub(crate) enum Values<'t> {
    Array(AnyArray),
    Column(Column<'t>),
    /// A column with missing values. Reading returns unspecified values for these.
    Nullable(Column<'t>),
}

/// A column of a table, which is read on demand, with its element type at the time of creation.
pub(crate) struct Column<'t> {
    pub(crate) table: &'t (dyn NumericTable + 't),
    pub(crate) column: usize,
    pub(crate) element: ElementType,
    pub(crate) rows: usize,
}

impl Column<'_> {
    /// Returns some rows in the column's type, shared if possible. The values of missing rows are unspecified.
    ///
    /// # Errors
    /// Those of reading the table; [`ErrorKind::ElementTypeMismatch`] and [`ErrorKind::LengthMismatch`] if a user's
    /// kind of table contradicts itself.
    pub(crate) fn array_of(&self, rows: &Range<usize>) -> Result<AnyArray> {
        Ok(missing::column_of(self.table, self.column, rows, self.element)?.0)
    }

    /// Checks that the table still has the column as described.
    ///
    /// # Errors
    /// [`ErrorKind::LengthMismatch`], [`ErrorKind::ElementTypeMismatch`].
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let (rows, element) = (self.table.shape().rows, self.table.column_type(self.column)?);
        match rows == self.rows {
            true if element == self.element => Ok(()),
            true => Err(Error::element_type_mismatch(self.element, element)),
            false => Err(Error::new(ErrorKind::LengthMismatch { expected: self.rows, actual: rows })),
        }
    }
}

impl Values<'_> {
    pub(crate) fn element_type(&self) -> ElementType {
        match self {
            Self::Array(array) => array.element_type(),
            Self::Column(column) | Self::Nullable(column) => column.element,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::Column(column) | Self::Nullable(column) => column.rows,
        }
    }

    /// Returns the values as an array: a share of the table's, or a copy.
    ///
    /// # Errors
    /// Those of reading the table.
    pub(crate) fn to_array(&self) -> Result<AnyArray> {
        match self {
            Self::Array(array) => Ok(array.clone()),
            Self::Nullable(column) => column.array_of(&(0..column.rows)),
            &Self::Column(Column { table, column, element, rows }) => {
                let region = Region { rows: 0..rows, columns: column..column + 1 };
                tiling::copy_of(table, &region, element, ConversionPolicy::Saturate)
            }
        }
    }
}

/// The form in which a table is stored.
pub(crate) enum Form<'t> {
    /// As a homogeneous table of this type, described by this dictionary of the table.
    OneType(ElementType, &'t DataDictionary),
    Arrays(Content<'t>),
}

impl<'t> Content<'t> {
    /// Returns the form in which a table is stored. Queries its type and its dictionary once, since a user's own
    /// kind may answer differently the next time.
    ///
    /// # Errors
    /// Those of a table that cannot be read: a column is not set, or a writable block of it is outstanding.
    pub(crate) fn of(table: &'t (dyn NumericTable + 't)) -> Result<Form<'t>> {
        macro_rules! of_kinds {
            ($(($Kind:ty, $($page:tt)*)),*) => {
                $(if let Some(table) = table.downcast_ref::<$Kind>() {
                    return table.content().map(Form::Arrays);
                })*
            };
        }
        with_stored_kinds!(of_kinds);
        let (element, dictionary) = (table.uniform_type(), table.dictionary());
        match element.filter(|&element| !gaps::may_have(table, dictionary, element)) {
            Some(element) => Ok(Form::OneType(element, dictionary)),
            None => Self::of_columns(table, dictionary.clone()).map(Form::Arrays),
        }
    }

    /// Like [`of`](Self::of), for all tables. The content of a homogeneous table is its values, with its layout as the
    /// setting.
    ///
    /// # Errors
    /// Those of [`of`](Self::of); [`ErrorKind::OutOfMemory`].
    pub(crate) fn of_any(table: &'t (dyn NumericTable + 't)) -> Result<Self> {
        let (element, dictionary) = match Self::of(table)? {
            Form::Arrays(content) => return Ok(content),
            Form::OneType(element, dictionary) => (element, dictionary.clone()),
        };
        let (shape, layout) = (table.shape(), table.data_layout());
        let whole = Region::whole(shape);
        dictionary.check(shape.columns, element)?;
        let in_order = table.piece(0, 0)?.and_then(|piece| piece.any_array_of(&whole, element, layout));
        let (layout, array) = match in_order {
            Some((array, range)) => (layout, array.slice(range)?),
            None => (DataLayout::RowMajor, tiling::copy_of(table, &whole, element, ConversionPolicy::Saturate)?),
        };
        let (settings, values) = (vec![layout as u64], vec![Values::Array(array)]);
        Ok(Self { kind: TableKind::HOMOGENEOUS, shape, settings, dictionary, values, gaps: Vec::new() })
    }

    /// Returns the columns of a table of any kind, as those of a structure of arrays.
    fn of_columns(table: &'t (dyn NumericTable + 't), dictionary: DataDictionary) -> Result<Self> {
        let shape = table.shape();
        let columns = dictionary.iter().enumerate().take(shape.columns);
        let values_of = |(column, feature): (_, &Feature)| {
            let column = Column { table, column, element: feature.element_type, rows: shape.rows };
            if feature.nullable { Values::Nullable(column) } else { Values::Column(column) }
        };
        let values = columns.map(values_of).collect();
        dictionary.check_count(shape.columns, || None)?;
        let gaps = missing::columns_with_missing(table, shape, &dictionary)?;
        Ok(Self { kind: TableKind::STRUCTURE_OF_ARRAYS, shape, settings: Vec::new(), dictionary, values, gaps })
    }
}

/// The content of a table as read from a file. Only the lengths of the arrays have been checked.
pub(crate) struct FoundContent {
    pub(crate) shape: Shape,
    pub(crate) settings: Vec<u64>,
    pub(crate) dictionary: DataDictionary,
    pub(crate) arrays: Vec<AnyArray>,
    /// The columns with missing values that are not stored as bitmaps.
    pub(crate) gaps: missing::ColumnGaps,
}

impl FoundContent {
    /// Returns the arrays, whose number must be that of the kind.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(super) fn take_arrays<const N: usize>(&mut self, kind: TableKind) -> Result<[AnyArray; N]> {
        let arrays = std::mem::take(&mut self.arrays);
        let found = arrays.len();
        arrays.try_into().map_err(|_| refusal(kind, format_args!("{found} arrays, but this kind has {N}")))
    }

    /// Returns the settings, whose number must be that of the kind.
    ///
    /// # Errors
    /// [`ErrorKind::Format`].
    pub(super) fn settings<const N: usize>(&self, kind: TableKind) -> Result<[u64; N]> {
        let found = self.settings.len();
        let settings = self.settings[..].try_into();
        settings.map_err(|_| refusal(kind, format_args!("{found} settings, but this kind has {N}")))
    }

    /// Restores a homogeneous table, of the type of its values.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the content is invalid.
    fn into_homogeneous(mut self) -> Result<Box<dyn NumericTable>> {
        let kind = TableKind::HOMOGENEOUS;
        let layout = match self.settings(kind)? {
            [0] => DataLayout::RowMajor,
            [1] => DataLayout::ColumnMajor,
            [other] => return Err(refusal(kind, format_args!("unknown layout: {other}"))),
        };
        let ([array], shape) = (self.take_arrays(kind)?, self.shape);
        fn table<T: Element>(
            array: AnyArray,
            shape: Shape,
            layout: DataLayout,
            dictionary: DataDictionary,
        ) -> Result<Box<dyn NumericTable>> {
            let (expected, found) = (shape.element_count_of(T::TYPE)?, array.len());
            let other = |array: AnyArray| Error::element_type_mismatch(T::TYPE, array.element_type());
            let array = array.downcast::<T>().map_err(other)?;
            if expected != found {
                return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
            }
            Ok(HomogenNumericTable::internal(array, shape, layout).with_dictionary(dictionary)?.into_dyn())
        }
        match_element!(array.element_type(), T => table::<T>(array, shape, layout, self.dictionary))
            .map_err(|error| as_format(kind, error))
    }

    /// Restores the table, of the kind with this name. `None` if the name is unknown.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the content is invalid; [`ErrorKind::OutOfMemory`].
    pub(crate) fn into_table(self, kind: &str) -> Option<Result<Box<dyn NumericTable>>> {
        if kind == TableKind::HOMOGENEOUS.name() {
            return Some(self.into_homogeneous());
        }
        macro_rules! of_kinds {
            ($(($Kind:ty, $($page:tt)*)),*) => {
                $(if kind == <$Kind>::KIND.name() {
                    return Some(self.into_kind::<$Kind>().map(|table| Box::new(table) as Box<dyn NumericTable>));
                })*
            };
        }
        with_stored_kinds!(of_kinds);
        None
    }

    /// Restores a table of a known kind.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the content is invalid; [`ErrorKind::OutOfMemory`].
    pub(crate) fn into_kind<K: Stored>(self) -> Result<K> {
        let (shape, dictionary) = (self.shape, self.dictionary.clone());
        let mut table = K::from_content(self).map_err(|error| as_format(K::KIND, error))?;
        if table.shape() != shape {
            let found = table.shape();
            return Err(refusal(K::KIND, format_args!("the stated shape is {shape}, but the values have {found}")));
        }
        table.set_dictionary(dictionary).map_err(|error| as_format(K::KIND, error))?;
        Ok(table)
    }
}

/// Returns the name of a kind whose tables are stored as [`Content`]. `None` if the name is unknown.
pub(crate) fn stored_kind(name: &str) -> Option<&'static str> {
    macro_rules! of_kinds {
        ($(($Kind:ty, $($page:tt)*)),*) => { [$(<$Kind>::KIND.name()),*].into_iter().find(|known| *known == name) };
    }
    with_stored_kinds!(of_kinds)
}

/// Returns the error for content that is not valid for a kind of table.
pub(super) fn refusal(kind: TableKind, reason: impl std::fmt::Display) -> Error {
    Error::format(0, format!("this is not a valid {kind} table: {reason}"))
}

/// Converts the error of a kind that refuses the content into a format error.
fn as_format(kind: TableKind, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Format { .. } | ErrorKind::OutOfMemory => error,
        _ => refusal(kind, error),
    }
}

/// A kind of table that has its own name in archives and files.
pub(crate) trait Stored: NumericTable + Sized + 'static {
    /// The name.
    const KIND: TableKind;

    /// Returns the content of the table.
    ///
    /// # Errors
    /// Those of a table that cannot be read.
    fn content(&self) -> Result<Content<'_>>;

    /// Creates a table from untrusted content. Checks all of it except the dictionary, which is set afterwards.
    ///
    /// # Errors
    /// The reason why the content is invalid; [`ErrorKind::OutOfMemory`].
    fn from_content(found: FoundContent) -> Result<Self>;
}

/// Passes the list of kinds of tables that have their own names in archives and files to a macro, each with its name
/// and an expression that creates one, for the pages of its methods. A new kind needs an entry here.
macro_rules! with_stored_kinds {
    ($callback:ident) => {
        $callback! {
            (
                crate::table::SoaNumericTable,
                "SoaNumericTable",
                r#"SoaNumericTable::from_columns([("a", vec![1_u8, 2])])?"#
            ),
            (
                crate::table::AosNumericTable,
                "AosNumericTable",
                r#"AosNumericTable::zeros(&numeric_table::table::RecordLayout::new(8).field("a", ElementType::U16, 4)?, 3)?"#
            ),
            (
                crate::table::CsrNumericTable,
                "CsrNumericTable",
                "CsrNumericTable::try_new(Shape { rows: 1, columns: 9 }, vec![0, 1], vec![4], vec![1.5])?"
            ),
            (
                crate::table::PackedSymmetricMatrix,
                "PackedSymmetricMatrix",
                "PackedSymmetricMatrix::from_lapack(numeric_table::table::Triangle::Lower, vec![1, 2, 3])?"
            ),
            (
                crate::table::PackedTriangularMatrix,
                "PackedTriangularMatrix",
                "PackedTriangularMatrix::from_lapack(numeric_table::table::Triangle::Lower, vec![1, 2, 3])?"
            )
        }
    };
}
pub(crate) use with_stored_kinds;

impl Stored for SoaNumericTable {
    const KIND: TableKind = TableKind::STRUCTURE_OF_ARRAYS;

    fn content(&self) -> Result<Content<'_>> {
        let columns = 0..self.shape().columns;
        let values = columns.map(|column| Ok(Values::Array(self.nullable_column(column)?.0.clone())));
        let values = values.collect::<Result<_>>()?;
        let (shape, dictionary) = (self.shape(), self.dictionary().clone());
        let gaps = missing::columns_with_missing(self, shape, &dictionary)?;
        Ok(Content { kind: Self::KIND, shape, settings: Vec::new(), dictionary, values, gaps })
    }

    fn from_content(mut found: FoundContent) -> Result<Self> {
        if found.dictionary.has_nullable() {
            found.take_bitmaps()?;
        }
        let [] = found.settings(Self::KIND)?;
        if found.arrays.len() != found.shape.columns {
            let (count, columns) = (found.arrays.len(), found.shape.columns);
            return Err(refusal(Self::KIND, format_args!("{count} arrays for {columns} columns")));
        }
        let (expected, arrays) = (found.shape.rows, found.arrays);
        if let Some(array) = arrays.iter().find(|array| array.len() != expected) {
            return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: array.len() }));
        }
        let plain = arrays.iter().enumerate().map(|(column, array)| Feature {
            nullable: found.dictionary.is_nullable(column),
            ..Feature::new(array.element_type())
        });
        let mut table = Self::of_arrays(plain.collect(), expected, arrays, MemoryStatus::InternallyAllocated);
        table.set_gaps(found.gaps)?;
        Ok(table)
    }
}
