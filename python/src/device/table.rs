//! `DeviceTable`: a table in the memory of a CUDA device, shared by all Python threads.
//!
//! `device` opens devices, `device_values` has tables of any element type, `tensors` exchanges their memory with other
//! libraries, `foreign` makes tables of arrays of other libraries.
//!
//! Other libraries may use the memory of a table that was made of their memory, or exported to them. Work in the legacy
//! default stream, in which they work unless the program asks for another one, is ordered with every call here: the call
//! waits for earlier work there, and later work there for the call.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use numeric_table::{
    ConversionPolicy, DataDictionary, DataLayout, ElementType, ErrorKind, Feature, NumericTable, Shape,
    statistics::BasicStatistics,
};
use numeric_table_execution::{HandleError, cuda::Cuda};
use pyo3::prelude::*;

use crate::base::error::{OrRaise, OrRaiseOfDevice, TableError};
use crate::device;
use crate::device::tensors::Owner;
use crate::device::values::{AnyValues, DeviceValues, Stream, adopted, finish};
use crate::doors::devices::PLAIN;
use crate::table::Table;
use crate::table::choose::Columns;
use crate::table::describe::renamed;

pub(crate) type Outcome<V> = Result<V, HandleError>;

/// A table of numbers in the memory of a CUDA device.
///
/// :meth:`Table.to_device` copies a table to a device, and :meth:`from_dlpack` makes one of a tensor of PyTorch, an
/// array of CuPy and the like, without a copy: both then have the same memory, and each sees what the other one writes.
/// In the other direction, ``torch.from_dlpack(table)`` and ``cupy.from_dlpack(table)`` share the memory too.
///
/// Calls of a table return as soon as their work is in the queue of the device, unless they return values. They are
/// ordered with the work of other libraries in the default stream. If a library uses the same memory in another stream,
/// call :meth:`wait_for` after it has written, and :meth:`synchronize` before it continues.
///
/// >>> import numeric_table as nt
/// >>> table = nt.Table([[1.5, 2.5], [3.5, 4.5]])
/// >>> there = table.to_device(dtype="float32")  # doctest: +SKIP
/// >>> there.select_columns([1]).rows()          # doctest: +SKIP
/// array([[2.5],
///        [4.5]], dtype=float32)
#[pyclass(frozen, module = "numeric_table", name = "DeviceTable", weakref)]
pub(crate) struct DeviceTable(RwLock<State>);

pub(crate) struct State {
    device: Cuda,
    /// `None` after the driver has failed while the memory was exported, until the next call.
    values: Option<AnyValues>,
    /// Invariant: describes the columns, with the type of the values.
    dictionary: DataDictionary,
    /// The memory, if it was exported: `values` is a table of a tensor of it.
    owner: Option<Arc<Owner>>,
    /// Whether other libraries may use the memory.
    is_shared: bool,
    is_read_only: bool,
    device_type: i32,
}

impl State {
    fn values(&self) -> Outcome<&dyn DeviceValues> {
        self.values.as_deref().ok_or(HandleError::NoValidData)
    }

    /// Returns the reason for an error: a table whose device was lost has no values.
    fn reason(&self, error: HandleError) -> HandleError {
        match error {
            HandleError::NoValidData => finish(&self.device).err().unwrap_or(error),
            _ => error,
        }
    }

    /// Does work on the values, after and before that of other libraries in the default stream.
    fn in_order<R>(&self, work: impl FnOnce(&dyn DeviceValues) -> Outcome<R>) -> Outcome<R> {
        let values = self.values()?;
        if !self.is_shared {
            return work(values);
        }
        values.after(Stream::DEFAULT)?;
        let done = work(values);
        let ordered = values.before(Stream::DEFAULT); // also if a part of the work has failed
        let done = done?;
        ordered.map(|()| done)
    }

    /// Changes the values in place. Other libraries see them in every stream when this returns.
    fn change(&mut self, work: impl FnOnce(&mut dyn DeviceValues) -> Outcome<()>) -> Outcome<()> {
        if self.is_read_only {
            return Err(numeric_table::Error::new(ErrorKind::ReadOnlyTable).into());
        }
        self.restore()?;
        if self.is_shared {
            self.values()?.after(Stream::DEFAULT)?;
        }
        let values = self.values.as_deref_mut().ok_or(HandleError::NoValidData)?;
        work(values)?;
        if self.is_shared { finish(values.cuda()) } else { Ok(()) }
    }

    /// Lends the memory to another library: later writes of the table go to the same memory.
    fn lend(&mut self) -> Outcome<Arc<Owner>> {
        if self.owner.is_none() {
            self.values()?.before(Stream::exchange(&self.device))?;
            let values = self.values.take().ok_or(HandleError::NoValidData)?;
            self.owner = Some(Owner::new(values.into_tensor()?).ok_or(HandleError::NoValidData)?);
        }
        self.restore()?;
        self.is_shared = true;
        self.owner.clone().ok_or(HandleError::NoValidData)
    }

    /// Makes a table of the memory that was exported.
    fn restore(&mut self) -> Outcome<()> {
        if let (None, Some(owner)) = (&self.values, &self.owner) {
            // SAFETY: the tensor owns the memory. Nothing else of this package uses it but tables of this state; the
            // stream for adopted memory waits for their earlier work.
            self.values = Some(unsafe { adopted(&self.device, owner.tensor()?) }?);
        }
        Ok(())
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if device::is_forked() {
            std::mem::forget(self.values.take()); // the memory is that of the parent process
        }
    }
}

impl DeviceTable {
    /// Creates a table of values that no other library uses.
    pub(crate) fn new(values: AnyValues, dictionary: DataDictionary) -> Self {
        Self(RwLock::new(State {
            device: values.cuda().clone(),
            values: Some(values),
            dictionary,
            owner: None,
            is_shared: false,
            is_read_only: false,
            device_type: PLAIN,
        }))
    }

    /// Like [`new`](Self::new), for columns without names.
    pub(crate) fn new_unnamed(values: AnyValues) -> Self {
        let feature = Feature::new(values.element());
        let dictionary = DataDictionary::uniform(feature, values.dimensions().columns);
        Self::new(values, dictionary)
    }

    /// Creates a table of the memory of another library.
    pub(crate) fn of_foreign(values: AnyValues, is_read_only: bool, device_type: i32) -> Self {
        let mut table = Self::new_unnamed(values);
        let state = table.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        (state.is_shared, state.is_read_only, state.device_type) = (true, is_read_only, device_type);
        table
    }

    /// Returns the table with a description of its columns, and other names for them, if there are any.
    pub(crate) fn described(
        mut self,
        dictionary: Option<DataDictionary>,
        names: Option<Vec<Option<String>>>,
    ) -> PyResult<Self> {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.dictionary = dictionary.unwrap_or_else(|| state.dictionary.clone());
        if let Some(names) = names {
            state.dictionary = renamed(&state.dictionary, &names).or_raise()?;
        }
        Ok(self)
    }

    /// Borrows the table for reading. While this waits, other Python threads run.
    fn read(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, State>> {
        device::check_process()?;
        loop {
            let state = self.guard(py);
            if state.values.is_some() {
                return Ok(state);
            }
            drop(state);
            let mut state = self.write(py)?;
            let state = &mut *state;
            let restore = |state: &mut State| {
                state.restore()?;
                state.values().map(|_| ())
            };
            py.detach(|| restore(state).map_err(|error| state.reason(error))).or_raise_of_device()?;
        }
    }

    fn guard(&self, py: Python<'_>) -> RwLockReadGuard<'_, State> {
        loop {
            match self.0.try_read() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => py.detach(|| drop(self.0.read())),
            }
        }
    }

    fn write(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, State>> {
        device::check_process()?;
        loop {
            match self.0.try_write() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| drop(self.0.write().unwrap_or_else(PoisonError::into_inner)))
                }
            }
        }
    }

    /// Does work on the values, while other Python threads run.
    pub(crate) fn work<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&dyn DeviceValues) -> Outcome<R> + Send,
    ) -> PyResult<R> {
        let state = self.read(py)?;
        let state = &*state;
        py.detach(|| state.in_order(work).map_err(|error| state.reason(error))).or_raise_of_device()
    }

    /// Returns the memory for another library, after the given stream has been made to wait for the table's work.
    pub(crate) fn lent(&self, py: Python<'_>, stream: Option<Stream>) -> PyResult<Arc<Owner>> {
        let mut state = self.write(py)?;
        let state = &mut *state;
        let lend = |state: &mut State| {
            let owner = state.lend()?;
            if let Some(stream) = stream {
                state.values()?.before(stream)?;
            }
            Ok(owner)
        };
        py.detach(|| lend(state).map_err(|error| state.reason(error))).or_raise_of_device()
    }

    /// Returns what does not change: the device, the type, the number of rows and columns, and their order.
    pub(crate) fn form(&self, py: Python<'_>) -> PyResult<Form> {
        let state = self.read(py)?;
        let values = state.values().or_raise_of_device()?;
        Ok(Form {
            device: state.device.clone(),
            device_type: state.device_type,
            element: values.element(),
            shape: values.dimensions(),
            layout: values.order(),
            is_read_only: state.is_read_only,
        })
    }

    pub(crate) fn dictionary(&self, py: Python<'_>) -> PyResult<DataDictionary> {
        Ok(self.read(py)?.dictionary.clone())
    }

    pub(crate) fn converted(
        &self,
        py: Python<'_>,
        element: ElementType,
        layout: DataLayout,
        policy: ConversionPolicy,
    ) -> PyResult<Self> {
        let values = self.work(py, |values| values.converted(element, layout, policy))?;
        Ok(Self::new(values, self.dictionary(py)?.with_element_type(element).or_raise()?))
    }

    pub(crate) fn downloaded(
        &self,
        py: Python<'_>,
        rows: Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> PyResult<Table> {
        let mut table: Box<dyn NumericTable> = self.work(py, |values| values.downloaded(rows, element, policy))?;
        table.set_dictionary(self.dictionary(py)?.with_element_type(element).or_raise()?).or_raise()?;
        Ok(Table::new(table))
    }

    pub(crate) fn selected(&self, py: Python<'_>, columns: &[usize]) -> PyResult<Self> {
        let dictionary = self.dictionary(py)?;
        let features = columns.iter().map(|&column| dictionary.feature(column).cloned());
        let features: DataDictionary = features.collect::<numeric_table::Result<_>>().or_raise()?;
        Ok(Self::new(self.work(py, |values| values.selected(columns))?, features))
    }

    fn changed(&self, py: Python<'_>, work: impl FnOnce(&mut dyn DeviceValues) -> Outcome<()> + Send) -> PyResult<()> {
        let mut state = self.write(py)?;
        let state = &mut *state;
        py.detach(|| state.change(work).map_err(|error| state.reason(error))).or_raise_of_device()
    }

    /// Returns the statistics, with the names of the columns.
    pub(crate) fn summary(&self, py: Python<'_>) -> PyResult<BasicStatistics> {
        let found = self.work(py, |values| values.summarized())?;
        let mut all = self.no_statistics(py)?;
        all.merge(&found).or_raise()?;
        Ok(all)
    }

    /// Returns the statistics of no rows, with the names of the columns.
    fn no_statistics(&self, py: Python<'_>) -> PyResult<BasicStatistics> {
        let named = self.downloaded(py, 0..0, self.form(py)?.element, ConversionPolicy::Saturate)?;
        let named = named.snapshot(py)?;
        BasicStatistics::compute(&*named).or_raise()
    }

    /// Standardizes the columns, by statistics of other rows if they are given: of columns with these names.
    pub(crate) fn standardized(&self, py: Python<'_>, statistics: Option<&BasicStatistics>) -> PyResult<()> {
        if let Some(statistics) = statistics {
            let (found, own) = (statistics.per_column().len(), self.count(py)?);
            if found != own {
                let text = format!("statistics of {found} columns do not standardize a table of {own} columns");
                return Err(TableError::new_err(text));
            }
            self.no_statistics(py)?.merge(statistics).or_raise()?;
            if statistics.row_count() == 0 {
                return Err(TableError::new_err("statistics of 0 rows have no means: nothing is standardized by them"));
            }
        }
        self.changed(py, |values| values.standardized(statistics))
    }

    pub(crate) fn wait(&self, py: Python<'_>, stream: Stream) -> PyResult<()> {
        let state = self.read(py)?;
        let state = &*state;
        let wait = || state.values()?.after(stream);
        py.detach(|| wait().map_err(|error| state.reason(error))).or_raise_of_device()
    }

    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let device = self.form(py)?.device;
        py.detach(|| finish(&device)).or_raise_of_device()
    }
}

impl Columns for DeviceTable {
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.read(py)?.dictionary.len())
    }

    fn named(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.read(py)?.dictionary.try_index_of(name).or_raise()
    }
}

/// What does not change about a table.
pub(crate) struct Form {
    pub(crate) device: Cuda,
    pub(crate) device_type: i32,
    pub(crate) element: ElementType,
    pub(crate) shape: Shape,
    pub(crate) layout: DataLayout,
    pub(crate) is_read_only: bool,
}
