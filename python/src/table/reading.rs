//! Reading a table while other Python threads run: locks, regions, columns, rows.
//!
//! No thread waits for a lock while it is attached to the interpreter, none acquires a lock while it holds one, and no
//! user code runs while a lock is held.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use numeric_table::internal::record_read;
use numeric_table::table::spi::{Region, TableKind, Target, array_of};
use numeric_table::{
    Array, BlockAccess, ConversionPolicy, DataDictionary, DataLayout, Element, ElementType, Error, ErrorKind,
    HomogenNumericTable, MissingValues, NumericTable, Shape, SoaNumericTable, TableConversion, TableDescription,
    TableSelection, array::AnySliceMut, interop::CopyReason,
};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::base::element::{self, with_type};
use crate::base::error::{OrRaise, TableError, TableIndexError, exception, exception_in, with_advice};
use crate::base::share::Share;
use crate::table::Table;
use crate::table::choose;
use crate::table::describe;
use crate::table::gaps;
use crate::table::sparse;

pub(crate) type Reading<'t> = RwLockReadGuard<'t, Box<dyn NumericTable>>;

/// The type to read values in, and the policy for values that it cannot represent.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) element: ElementType,
    pub(crate) policy: ConversionPolicy,
    /// Whether the caller has stated neither, and the values have several types.
    is_found: bool,
}

impl Wanted {
    /// Evaluates the caller's arguments. `found` is the type of the values, or the type found for several types, and
    /// `is_uniform` states whether they have one type. Values that a found type cannot represent are refused, unless
    /// the caller states otherwise.
    pub(crate) fn new(
        stated: Option<ElementType>,
        policy: Option<&str>,
        found: impl FnOnce() -> PyResult<ElementType>,
        is_uniform: bool,
    ) -> PyResult<Self> {
        let is_found = stated.is_none() && policy.is_none() && !is_uniform;
        let policy = match policy {
            Some(policy) => policy_of(policy)?,
            None if is_found => ConversionPolicy::Exact,
            None => ConversionPolicy::Saturate,
        };
        Ok(Self { element: stated.map_or_else(found, Ok)?, policy, is_found })
    }

    /// Skips the check of each value if the found type can represent all values of the columns' types.
    pub(crate) fn of_columns(self, dictionary: &DataDictionary) -> Self {
        match self.is_found && !describe::may_lose(dictionary, self.element) {
            true => Self { policy: ConversionPolicy::Saturate, ..self },
            false => self,
        }
    }

    /// Adds advice to the error of a refused value, for a caller who has stated nothing.
    pub(crate) fn advise(&self, error: PyErr) -> PyErr {
        if !self.is_found {
            return error;
        }
        let name = element::name(self.element);
        with_advice(error, &format_args!("pass dtype={name:?} to round"))
    }

    /// Reads rows of a table, with all of its columns.
    pub(crate) fn rows(&self, py: Python<'_>, table: &dyn NumericTable, rows: Range<usize>) -> PyResult<Share> {
        Table::rows_of(py, table, rows, self.element, self.policy).map_err(|error| self.advise(error))
    }
}

/// Returns the type that a caller states, if any.
pub(crate) fn stated(dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Option<ElementType>> {
    dtype.filter(|dtype| !dtype.is_none()).map(element::of_object).transpose()
}

/// A table that does not change.
pub(crate) enum Steady<'t> {
    Own(Box<dyn NumericTable>),
    Locked(Reading<'t>),
}

impl Steady<'_> {
    pub(crate) fn table(&self) -> &dyn NumericTable {
        match self {
            Self::Own(table) => &**table,
            Self::Locked(table) => &***table,
        }
    }
}

impl Table {
    pub(crate) fn new(table: Box<dyn NumericTable>) -> Self {
        Self(RwLock::new(table))
    }

    /// Borrows the table for reading. While this waits, other Python threads run.
    pub(crate) fn read(&self, py: Python<'_>) -> Reading<'_> {
        loop {
            match self.0.try_read() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => py.detach(|| drop(self.0.read())),
            }
        }
    }

    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, Box<dyn NumericTable>> {
        loop {
            match self.0.try_write() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| drop(self.0.write().unwrap_or_else(PoisonError::into_inner)))
                }
            }
        }
    }

    /// Reads a region of rows and all columns. Shares the memory if it has the right type and order, otherwise converts
    /// the values while other Python threads run.
    pub(crate) fn rows_of(
        py: Python<'_>,
        table: &dyn NumericTable,
        rows: Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> PyResult<Share> {
        let region = Region { rows, columns: 0..table.column_count() };
        region.check(table.shape()).or_raise()?;
        with_type!(element, T => read::<T>(py, table, &region, policy))
    }

    /// Returns a share of all values: in their own order if they are of this type, otherwise row by row.
    pub(crate) fn all(&self, py: Python<'_>, element: ElementType) -> PyResult<Share> {
        self.all_by(py, Wanted { element, policy: ConversionPolicy::Saturate, is_found: false })
    }

    /// Like [`all`](Self::all), for a type and a policy.
    pub(crate) fn all_by(&self, py: Python<'_>, wanted: Wanted) -> PyResult<Share> {
        let table = self.read(py);
        with_type!(wanted.element, T => if let Some(table) = table.downcast_ref::<HomogenNumericTable<T>>() {
            return share_of(table);
        });
        wanted.rows(py, &**table, 0..table.row_count())
    }

    /// Returns whether all values are shared without a copy.
    pub(crate) fn is_shared(&self, py: Python<'_>, element: ElementType) -> PyResult<bool> {
        let table = self.read(py);
        let is_homogeneous = with_type!(element, T => table.downcast_ref::<HomogenNumericTable<T>>().is_some());
        let Shape { rows, columns } = table.shape();
        let region = Region { rows: 0..rows, columns: 0..columns };
        Ok(is_homogeneous || array_of(&**table, &region, element).or_raise()?.is_some())
    }

    /// Returns the reason why not all values can be shared.
    pub(crate) fn reason(&self, py: Python<'_>) -> CopyReason {
        match sparse::of(&**self.read(py)) {
            Some(_) => CopyReason::Layout,
            None => CopyReason::ElementType,
        }
    }

    /// Returns the type of all values, or one that can represent those of all columns.
    pub(crate) fn common_type(&self, py: Python<'_>) -> PyResult<ElementType> {
        let dictionary = {
            let table = self.read(py);
            if let Some(element) = table.uniform_type() {
                return Ok(element);
            }
            table.dictionary().clone()
        };
        common_type(py, &dictionary)
    }

    /// Returns the type to read values in: the one that the caller states, or one for the values of all columns.
    pub(crate) fn wanted(
        &self,
        py: Python<'_>,
        dtype: Option<&Bound<'_, PyAny>>,
        policy: Option<&str>,
    ) -> PyResult<Wanted> {
        let is_uniform = self.read(py).uniform_type().is_some();
        Wanted::new(stated(dtype)?, policy, || self.common_type(py), is_uniform)
    }

    /// Returns the index of a column that is given by its name, or by its index from either end.
    pub(crate) fn column_index(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<usize> {
        choose::column(py, self, key)
    }

    pub(crate) fn column_count(&self, py: Python<'_>) -> usize {
        self.read(py).column_count()
    }

    pub(crate) fn len(&self, py: Python<'_>) -> usize {
        self.read(py).row_count()
    }

    /// Returns the number of bytes of all values.
    pub(crate) fn bytes(&self, py: Python<'_>) -> usize {
        let table = self.read(py);
        if let Some(sparse) = sparse::of(&**table) {
            return sparse::bytes(sparse);
        }
        let row = table.dictionary().iter().map(|feature| feature.element_type.size_in_bytes()).sum::<usize>();
        row.saturating_mul(table.row_count())
    }

    /// Returns a column as a NumPy array.
    pub(crate) fn column_array<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        policy: ConversionPolicy,
    ) -> PyResult<Bound<'py, PyAny>> {
        let column = self.column_index(py, key)?;
        let wanted = dtype.map(element::of_object).transpose()?;
        let table = self.read(py);
        let element = match wanted {
            Some(element) => element,
            None => table.column_type(column).or_raise()?,
        };
        let region = Region { rows: 0..table.row_count(), columns: column..column + 1 };
        let share = with_type!(element, T => read::<T>(py, &**table, &region, policy)?);
        drop(table);
        share.into_numpy(py)?.call_method1("reshape", (-1,))
    }

    pub(crate) fn taken(&self, py: Python<'_>, rows: &[usize]) -> PyResult<Self> {
        let table = self.read(py);
        let table = &**table;
        py.detach(|| table.take_rows(rows)).or_raise().map(Self::new)
    }

    /// Returns a copy of the table in new memory.
    pub(crate) fn duplicate(&self, py: Python<'_>) -> PyResult<Box<dyn NumericTable>> {
        let table = self.snapshot(py)?;
        if let Some(element) = table.uniform_type() {
            with_type!(element, T => if let Some(whole) = table.downcast_ref::<HomogenNumericTable<T>>() {
                let copy = || {
                    let count = whole.shape().element_count()?;
                    let array = Array::copy_of(&whole.array()?[..count])?;
                    HomogenNumericTable::from_array_with_layout(array, whole.shape(), whole.data_layout())?
                        .with_dictionary(whole.dictionary().clone())
                };
                return Ok(Box::new(py.detach(copy).or_raise()?));
            });
        }
        let rows = places(0..table.row_count())?;
        py.detach(|| table.take_rows(&rows)).or_raise()
    }

    /// Returns the table in its current state, without a lock: shares its memory, O(columns).
    pub(crate) fn snapshot(&self, py: Python<'_>) -> PyResult<Box<dyn NumericTable>> {
        let table = self.read(py);
        let table = &**table;
        if table.uniform_type().is_some() {
            return snapshot_of(table).or_raise();
        }
        py.detach(|| snapshot_of(table)).or_raise()
    }

    /// Returns the table for interruptible work: in its current state, with no lock held, if its kind shares its
    /// memory. A table of another kind (mapped files end to end) stays locked during the work.
    pub(crate) fn steady(&self, py: Python<'_>) -> PyResult<Steady<'_>> {
        const SHARING: [TableKind; 3] = [TableKind::HOMOGENEOUS, TableKind::STRUCTURE_OF_ARRAYS, TableKind::CSR];
        let table = self.read(py);
        if !SHARING.contains(&table.kind()) {
            return Ok(Steady::Locked(table));
        }
        drop(table);
        self.snapshot(py).map(Steady::Own)
    }

    pub(crate) fn sliced(&self, py: Python<'_>, rows: Range<usize>) -> PyResult<Self> {
        let table = self.read(py);
        if let Some(sparse) = sparse::of(&**table) {
            return Ok(Self::new(Box::new(py.detach(|| sparse.slice_rows(rows)).or_raise()?)));
        }
        if let Some(element) = table.uniform_type() {
            with_type!(element, T => if let Some(table) = table.downcast_ref::<HomogenNumericTable<T>>() {
                return Ok(Self::new(Box::new(table.slice_rows(rows).or_raise()?)));
            });
        }
        let table = &**table;
        py.detach(|| owned(&*table.select_rows(rows)?, table)).or_raise().map(Self::new)
    }
}

/// Returns a table that owns the values of `shown`, which is a view of `of`. For a structure of arrays, returns one
/// that shares its columns.
pub(crate) fn owned(shown: &dyn NumericTable, of: &dyn NumericTable) -> numeric_table::Result<Box<dyn NumericTable>> {
    match of.downcast_ref::<SoaNumericTable>() {
        Some(_) => Ok(Box::new(shown.to_columns()?)),
        None => shown.to_table(),
    }
}

/// Returns a separate table with the same values, which shares the memory of a homogeneous one.
pub(crate) fn snapshot_of(table: &dyn NumericTable) -> numeric_table::Result<Box<dyn NumericTable>> {
    if let Some(sparse) = sparse::of(table) {
        return Ok(Box::new(sparse.clone()));
    }
    if let Some(columns) = table.downcast_ref::<SoaNumericTable>() {
        return Ok(Box::new(columns.clone()));
    }
    if let Some(element) = table.uniform_type() {
        with_type!(element, T => if let Some(table) = table.downcast_ref::<HomogenNumericTable<T>>() {
            return Ok(Box::new(table.slice_rows(..)?));
        });
    }
    table.to_table()
}

/// Returns a share of all values, in their own order.
pub(crate) fn share_of<T: Element>(table: &HomogenNumericTable<T>) -> PyResult<Share> {
    let array = table.array().or_raise()?;
    let count = table.shape().element_count().or_raise()?;
    Ok(Share::table(array.slice(..count).or_raise()?, table.shape(), table.data_layout()))
}

/// Returns the type of all columns, or one that can represent their values.
pub(crate) fn common_type(py: Python<'_>, dictionary: &DataDictionary) -> PyResult<ElementType> {
    if let Some(element) = dictionary.uniform_type() {
        return Ok(element);
    }
    let types = dictionary.iter().map(|feature| element::dtype(py, feature.element_type));
    let types = types.collect::<PyResult<Vec<_>>>()?;
    if types.is_empty() {
        return Ok(ElementType::F64);
    }
    element::of_object(&py.import("numpy")?.call_method1("result_type", PyTuple::new(py, types)?)?)
}

/// Converts a table to one type. A sparse table stays sparse. A table with missing values has one array per column.
pub(crate) fn converted(
    table: &dyn NumericTable,
    element: ElementType,
    policy: ConversionPolicy,
) -> numeric_table::Result<Box<dyn NumericTable>> {
    match sparse::of(table) {
        Some(sparse) => Ok(Box::new(sparse::converted(sparse, element, policy)?)),
        None if table.has_missing()? => Ok(Box::new(gaps::converted(table, element, policy)?)),
        None => with_type!(element, T => Ok(Box::new(table.convert_with::<T>(policy)?))),
    }
}

/// Reads a region row by row.
pub(crate) fn read<T: Element>(
    py: Python<'_>,
    table: &dyn NumericTable,
    region: &Region,
    policy: ConversionPolicy,
) -> PyResult<Share> {
    let shape = region.shape();
    if let Some((array, range)) = array_of(table, region, T::TYPE).or_raise()?
        && let Some(array) = array.downcast::<T>()
    {
        return Ok(Share::table(array.slice(range).or_raise()?, shape, DataLayout::RowMajor));
    }
    let read = || {
        if region.columns == (0..table.column_count()) {
            return table.rows_with::<T>(region.rows.clone(), policy)?.into_array(); // does not zero the memory first
        }
        let mut values = Array::<T>::zeros(shape.element_count()?)?;
        if !shape.is_empty() {
            table.read_region(
                region,
                Target::new(AnySliceMut::new(values.mutable_data()?), shape, policy)?.allow_partial_write(),
            )?;
            record_read(table, region, T::TYPE);
        }
        Ok(values)
    };
    // A block of a few rows takes less time than detaching from the interpreter.
    const LITTLE: usize = 4096;
    let is_little = shape.element_count().or_raise()? <= LITTLE;
    let values = if is_little { read() } else { py.detach(read) };
    let values = values.map_err(|error| exception_in(error, table.dictionary()))?;
    Ok(Share::table(values, shape, DataLayout::RowMajor))
}

/// Refuses a region of a table that is not stored in a type, row by row, so that it must be copied.
pub(crate) fn require_shared(
    table: &dyn NumericTable,
    rows: Range<usize>,
    columns: Range<usize>,
    element: ElementType,
) -> PyResult<()> {
    let region = Region { rows, columns };
    region.check(table.shape()).or_raise()?;
    if array_of(table, &region, element).or_raise()?.is_some() {
        return Ok(());
    }
    let is_stored = region.columns.clone().all(|column| table.column_type(column).is_ok_and(|of| of == element));
    let reason = if is_stored { CopyReason::Layout } else { CopyReason::ElementType };
    Err(exception(Error::new(ErrorKind::CopyRequired { reason })))
}

/// Returns a NumPy array of values: writable, in new memory, if a caller states `copy=True`; otherwise read-only.
pub(crate) fn numpy_of(py: Python<'_>, share: Share, copy: Option<bool>) -> PyResult<Bound<'_, PyAny>> {
    let array = share.into_numpy(py)?;
    if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
}

/// Checks the numbers of rows and columns. They can exceed Python's limit only for a table without values.
pub(crate) fn check_shape(shape: Shape) -> PyResult<()> {
    let is_small = |count: usize| isize::try_from(count).is_ok();
    if is_small(shape.rows) && is_small(shape.columns) {
        return Ok(());
    }
    Err(TableError::new_err(format!("{shape} exceeds Python's limits")))
}

/// Parses the order of values.
pub(crate) fn layout_of(order: &str) -> PyResult<DataLayout> {
    match order {
        "C" => Ok(DataLayout::RowMajor),
        "F" => Ok(DataLayout::ColumnMajor),
        _ => Err(TableError::new_err(format!("an order is 'C' or 'F', not {order:?}"))),
    }
}

/// Returns the name of the order of values.
pub(crate) fn order_of(layout: DataLayout) -> &'static str {
    if layout == DataLayout::RowMajor { "C" } else { "F" }
}

/// Returns a policy by its name.
pub(crate) fn policy_of(name: &str) -> PyResult<ConversionPolicy> {
    match name {
        "saturate" => Ok(ConversionPolicy::Saturate),
        "checked" => Ok(ConversionPolicy::Checked),
        "exact" => Ok(ConversionPolicy::Exact),
        _ => Err(TableError::new_err(format!("a policy is 'saturate', 'checked' or 'exact', not {name:?}"))),
    }
}

/// Collects row numbers.
pub(crate) fn places(rows: impl ExactSizeIterator<Item = usize>) -> PyResult<Vec<usize>> {
    listed(rows, "rows")
}

/// Collects items for each row or column, and checks the allocation.
pub(crate) fn listed<V>(items: impl ExactSizeIterator<Item = V>, what: &str) -> PyResult<Vec<V>> {
    let mut list = Vec::new();
    let too_many = |_| PyMemoryError::new_err(format!("{} {what} are too many to list", items.len()));
    list.try_reserve_exact(items.len()).map_err(too_many)?;
    list.extend(items);
    Ok(list)
}

/// Returns the position of an item that is counted from either end.
pub(crate) fn index(place: isize, count: usize, what: &str) -> PyResult<usize> {
    let from_start = if place < 0 { place.checked_add_unsigned(count) } else { Some(place) };
    let found = from_start.and_then(|place| usize::try_from(place).ok()).filter(|&place| place < count);
    found.ok_or_else(|| TableIndexError::new_err(format!("there is no {what} {place}: the table has {count}")))
}
