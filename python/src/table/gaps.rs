//! Missing values of the package's tables: marked, filled, dropped, converted and refused. `missing` has the methods.

use numeric_table::table::spi::Region;
use numeric_table::{
    AnyArray, AnyValue, ConversionPolicy, DataDictionary, ElementType, Error, ErrorKind, Feature, FeatureType,
    MissingValues, NumericTable, Result, SoaNumericTable, TableConversion, TableDescription, TableSelection,
    array::Validity,
    dictionary::Categories,
    table::{FillMissing, Rejected},
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::base::element::with_type;
use crate::base::error::TableError;
use crate::table::reading::snapshot_of;
use crate::table::sparse;
use crate::table::together::values_of;

/// The number of values that are looked at for NaN at a time.
const VALUES: usize = 1 << 14;

/// A replacement for the missing values of a column.
#[derive(Clone)]
pub(crate) enum Fill {
    By(FillMissing),
    Label(String),
    /// A label, which the column gets if it does not have it.
    NewLabel(String),
}

impl Fill {
    /// Returns whether it is computed or a number, which mean nothing in a column of words or dates.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::By(FillMissing::Value(_) | FillMissing::Mean | FillMissing::Median))
    }

    /// Parses a number or a label.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(label) = value.cast::<PyString>() {
            return Ok(Self::Label(label.to_string()));
        }
        let number = if value.is_instance_of::<PyBool>() {
            AnyValue::from(u8::from(value.extract::<bool>()?))
        } else if value.is_instance_of::<PyFloat>() {
            AnyValue::from(value.extract::<f64>()?)
        } else if let Ok(number) = value.extract::<i64>() {
            AnyValue::from(number)
        } else if let Ok(number) = value.extract::<u64>() {
            AnyValue::from(number)
        } else if value.is_instance_of::<PyInt>() {
            return Err(TableError::new_err(format!("{value} is too large for the values of a table")));
        } else {
            let other = |_| PyTypeError::new_err(format!("{} is not a number or a label", value.get_type()));
            AnyValue::from(value.extract::<f64>().map_err(other)?)
        };
        Ok(Self::By(FillMissing::Value(number)))
    }

    /// Returns the replacement for a column whose first gap is in a row.
    fn for_column(&self, dictionary: &DataDictionary, column: usize, row: usize) -> Result<FillMissing> {
        let feature = dictionary.feature(column)?;
        match self {
            Self::Label(label) | Self::NewLabel(label) => {
                let categories = feature.categories.as_ref();
                let code = categories.and_then(|categories| categories.labels().position(|other| other == label));
                let reason = || match feature.feature_type {
                    FeatureType::Ordinal => {
                        format!("{label:?} is not a label of the column, whose labels are in an order")
                    }
                    _ => format!("{label:?} is not a label of the column: fillna({{name: {label:?}}}) adds it"),
                };
                code.map(|code| FillMissing::value(code as u64)).ok_or_else(|| refused(feature, row, column, reason()))
            }
            &Self::By(FillMissing::Value(value)) => {
                let labels = feature.categories.as_ref().filter(|categories| categories.has_labels());
                let index = value.convert::<u64>(ConversionPolicy::Exact).ok();
                if let Some(labels) = labels
                    && index.is_none_or(|index| index >= labels.len() as u64)
                {
                    let count = labels.len();
                    let reason =
                        format!("{value} is not one of the {count} labels of the column, nor the index of one");
                    return Err(refused(feature, row, column, reason));
                }
                if !feature.element_type.is_float() {
                    // A fraction would be truncated.
                    let exact =
                        with_type!(feature.element_type, T => value.convert::<T>(ConversionPolicy::Exact).map(drop));
                    exact.map_err(|error| error.moved(row, column))?;
                }
                Ok(FillMissing::Value(value))
            }
            &Self::By(fill) => Ok(fill),
        }
    }
}

/// Returns a column of categories with one more label; `None` if it has the label, or cannot get one.
fn with_label(feature: &Feature, label: &str) -> Result<Option<Feature>> {
    let Some(categories) = feature.categories.as_ref().filter(|categories| categories.has_labels()) else {
        return Ok(None);
    };
    if feature.feature_type == FeatureType::Ordinal || categories.index_of(label).is_some() {
        return Ok(None);
    }
    let code = AnyValue::from(categories.len() as u64);
    let holds = |element: ElementType| with_type!(element, T => code.convert::<T>(ConversionPolicy::Exact).is_ok());
    let wider = [feature.element_type, ElementType::U16, ElementType::U32, ElementType::U64];
    let element_type = wider.into_iter().find(|&element| holds(element)).unwrap_or(feature.element_type);
    let categories = Some(Categories::from_labels(categories.labels().chain([label]))?);
    Ok(Some(Feature { element_type, categories, ..feature.clone() }))
}

/// Returns the error of a column whose first gap, in a row, cannot be filled.
fn refused(feature: &Feature, row: usize, column: usize, reason: String) -> Error {
    let (row, column, name) = (Some(row), Some(column), feature.name.clone());
    Error::new(ErrorKind::Unsupported { target: "fillna", row, column, name, reason })
}

/// Sets the flags of a column's rows, which are 0, to 1 where a value is missing, or NaN if that counts.
pub(crate) fn mark(table: &dyn NumericTable, column: usize, counts_nan: bool, flags: &mut [u8]) -> Result<()> {
    if let Some(validity) = table.column_validity(column)? {
        for (rows, is_present) in validity.runs() {
            if !is_present && let Some(flags) = flags.get_mut(rows) {
                flags.fill(1);
            }
        }
    }
    let element = table.column_type(column)?;
    if !counts_nan || !element.is_float() {
        return Ok(());
    }
    for (block, flags) in flags.chunks_mut(VALUES).enumerate() {
        let rows = block * VALUES..block * VALUES + flags.len();
        let region = Region { rows, columns: column..column + 1 };
        with_type!(element, T => {
            for (flag, value) in flags.iter_mut().zip(values_of::<T>(table, &region)?) {
                *flag |= u8::from(value.partial_cmp(&value).is_none()); // NaN
            }
        });
    }
    Ok(())
}

/// Returns the flags of a column's rows: 1 where a value is missing or NaN.
fn na_of(table: &dyn NumericTable, column: usize) -> Result<Vec<u8>> {
    let rows = table.row_count();
    let mut flags = numeric_table::internal::filled(rows, 0)?;
    mark(table, column, true, &mut flags)?;
    Ok(flags)
}

/// Returns a table in which values replace missing ones and NaN. Values that are left keep their kind.
pub(crate) fn filled(table: &dyn NumericTable, fills: &[(usize, Fill)]) -> Result<Box<dyn NumericTable>> {
    let rows = table.row_count();
    let mut new: Option<SoaNumericTable> = None;
    for (column, fill) in fills {
        let flags = na_of(table, *column)?;
        let Some(first) = flags.iter().position(|&flag| flag != 0) else { continue };
        if sparse::of(table).is_some() {
            let reason = "a sparse table with NaN; fill the values of to_scipy()".to_owned();
            return Err(refused(table.dictionary().feature(*column)?, first, *column, reason));
        }
        let (mut values, before) = table.column_with_validity(*column, ..)?;
        let mut feature = table.dictionary().feature(*column)?.clone();
        let mut is_new = false;
        if let Fill::NewLabel(label) = fill
            && let Some(wider) = with_label(&feature, label)?
        {
            is_new = true;
            if wider.element_type != feature.element_type {
                let (one, element) = (table.select_columns(*column..*column + 1)?, wider.element_type);
                values = converted(&one, element, ConversionPolicy::Exact)?.nullable_column(0)?.0.clone();
            }
            feature = wider;
        }
        let fill = fill.for_column(&DataDictionary::uniform(feature.clone(), 1), 0, first);
        let fill = fill.map_err(|error| error.moved(0, *column))?;
        let present = Validity::from_fn(rows, |row| flags.get(row) == Some(&0))?;
        let mut one = SoaNumericTable::new();
        one.push_nullable(feature.clone(), values, Some(present)).map_err(Rejected::into_error)?;
        one.fill_missing(0, fill).map_err(|error| error.moved(0, *column))?;
        let (values, left) = one.nullable_column(0)?;
        let left = match (left, before) {
            (Some(left), Some(before)) => {
                let is_present = |row| left.is_present(row) != Some(false) || before.is_present(row) != Some(false);
                Some(Validity::from_fn(rows, is_present)?)
            }
            _ => None, // those that are left are NaN
        };
        let columns = match &mut new {
            Some(columns) => columns,
            none => none.insert(table.to_columns()?),
        };
        columns.set_nullable_column(*column, values.clone(), left).map_err(Rejected::into_error)?;
        if is_new {
            let mut dictionary = columns.dictionary().clone();
            dictionary.set_feature(*column, feature)?;
            columns.set_dictionary(dictionary)?;
        }
    }
    match new {
        None => snapshot_of(table),
        Some(columns) if table.downcast_ref::<SoaNumericTable>().is_some() => Ok(Box::new(columns)),
        Some(columns) => columns.to_table(),
    }
}

/// Copies the rows in which no value of the given columns is missing or NaN.
pub(crate) fn dropped(table: &dyn NumericTable, columns: &[usize]) -> Result<Box<dyn NumericTable>> {
    let rows = table.row_count();
    let mut is_kept = numeric_table::internal::filled(rows, true)?;
    for &column in columns {
        for (is_kept, flag) in is_kept.iter_mut().zip(na_of(table, column)?) {
            *is_kept &= flag == 0;
        }
    }
    if is_kept.iter().all(|&is_kept| is_kept) {
        return snapshot_of(table);
    }
    table.filter_rows(&is_kept)
}

/// Returns a table in which missing values are zeros.
pub(crate) fn with_zeros(table: &dyn NumericTable) -> Result<SoaNumericTable> {
    let mut columns = table.to_columns()?;
    columns.fill_missing(.., FillMissing::value(0_u8))?;
    Ok(columns)
}

/// Converts a table with missing values to one type. It has one array per column, and the same values are missing.
pub(crate) fn converted(
    table: &dyn NumericTable,
    element: ElementType,
    policy: ConversionPolicy,
) -> Result<SoaNumericTable> {
    let without = with_zeros(table)?;
    let values: Vec<(AnyArray, Option<Validity>)> = with_type!(element, T => {
        let converted = without.convert_with::<T>(policy)?.to_columns()?;
        let column = |column| Ok((converted.array(column)?.clone(), table.column_validity(column)?));
        (0..table.column_count()).map(column).collect::<Result<_>>()?
    });
    let mut columns = SoaNumericTable::new();
    for (column, (values, validity)) in values.into_iter().enumerate() {
        let feature = table.dictionary().feature(column)?.clone();
        columns.push_nullable(feature, values, validity).map_err(Rejected::into_error)?;
    }
    Ok(columns)
}

/// Refuses a table with missing values, for a purpose that has none.
pub(crate) fn refuse(table: &dyn NumericTable, target: &'static str) -> Result<()> {
    if !table.dictionary().has_nullable() {
        return Ok(());
    }
    let rows = table.row_count();
    for column in 0..table.column_count() {
        let validity = table.column_validity(column)?;
        if let Some(row) = validity.and_then(|validity| validity.first_missing(0..rows)) {
            let (row, name) = (Some(row), table.dictionary().feature(column)?.name.clone());
            let reason = "a missing value: fillna replaces missing values, dropna leaves such rows out".to_owned();
            return Err(Error::new(ErrorKind::Unsupported { target, row, column: Some(column), name, reason }));
        }
    }
    Ok(())
}
