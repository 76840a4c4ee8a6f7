//! Device tables of any element type.

use std::ops::Range;

use numeric_table::{
    ConversionPolicy, DataLayout, Element, ElementType, HomogenNumericTable, NumericTable, Shape, TableConversion,
    statistics::BasicStatistics,
};
use numeric_table_execution::cuda::{Cuda, CudaArrayInterface, CudaOrder, DlTensor};
use numeric_table_execution::{DeviceAdapter, DeviceStatistics, DeviceTable, HandleError, ToDevice};

use crate::base::element::with_type;

type Result<V> = std::result::Result<V, HandleError>;
pub(crate) type AnyValues = Box<dyn DeviceValues>;

/// A device table, whose element type is known at run time.
pub(crate) trait DeviceValues: Send + Sync {
    fn cuda(&self) -> &Cuda;
    fn element(&self) -> ElementType;
    fn dimensions(&self) -> Shape;
    fn order(&self) -> DataLayout;
    /// Returns a new table, converted on the device.
    fn converted(&self, element: ElementType, layout: DataLayout, policy: ConversionPolicy) -> Result<AnyValues>;
    /// Returns a new table of some of the columns.
    fn selected(&self, columns: &[usize]) -> Result<AnyValues>;
    /// Copies rows to the program's memory.
    fn downloaded(
        &self,
        rows: Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> Result<Box<dyn NumericTable>>;
    fn summarized(&self) -> Result<BasicStatistics>;
    /// Standardizes each column in place, by its own statistics or the given ones.
    fn standardized(&mut self, statistics: Option<&BasicStatistics>) -> Result<()>;
    fn into_tensor(self: Box<Self>) -> Result<DlTensor>;
    /// Makes later work of a stream wait until it may read and write the values.
    fn before(&self, stream: Stream) -> Result<()>;
    /// Makes later work on the values wait for the work that a stream has now.
    fn after(&self, stream: Stream) -> Result<()>;
}

/// A stream of another library that is alive: a handle of the driver, or 1, the legacy default stream, or 2, that of
/// the calling thread.
#[derive(Clone, Copy)]
pub(crate) struct Stream(usize);

impl Stream {
    /// The stream in which libraries work, unless the program asks for another one.
    pub(crate) const DEFAULT: Self = Self(1);

    /// # Safety
    /// The handle is that of a stream of the primary context of the device, as far as calls with it go, and the stream
    /// is alive until they return.
    pub(crate) unsafe fn new(handle: usize) -> Self {
        Self(handle)
    }

    /// Returns the stream of the library that producers of tensors make wait.
    pub(crate) fn exchange(device: &Cuda) -> Self {
        Self(device.exchange_stream()) // as alive as the device
    }
}

impl<T: Element> DeviceValues for DeviceTable<T, Cuda> {
    fn cuda(&self) -> &Cuda {
        self.device()
    }

    fn element(&self) -> ElementType {
        T::TYPE
    }

    fn dimensions(&self) -> Shape {
        self.shape()
    }

    fn order(&self) -> DataLayout {
        self.data_layout()
    }

    fn converted(&self, element: ElementType, layout: DataLayout, policy: ConversionPolicy) -> Result<AnyValues> {
        with_type!(element, U => Ok(Box::new(self.convert_with_layout::<U>(layout, policy)?)))
    }

    fn selected(&self, columns: &[usize]) -> Result<AnyValues> {
        Ok(Box::new(self.select_columns(columns)?))
    }

    fn downloaded(
        &self,
        rows: Range<usize>,
        element: ElementType,
        policy: ConversionPolicy,
    ) -> Result<Box<dyn NumericTable>> {
        with_type!(element, U => Ok(Box::new(self.download_rows_with::<U>(rows, policy)?)))
    }

    fn summarized(&self) -> Result<BasicStatistics> {
        let mut statistics = DeviceStatistics::new(self.device(), self.shape().columns);
        statistics.update(self.view()?, self.shape(), self.data_layout())?;
        statistics.finish()
    }

    fn standardized(&mut self, statistics: Option<&BasicStatistics>) -> Result<()> {
        match statistics {
            Some(statistics) => self.standardize_with(statistics),
            None => self.standardize(),
        }
    }

    fn into_tensor(self: Box<Self>) -> Result<DlTensor> {
        self.into_dlpack()
    }

    fn before(&self, Stream(stream): Stream) -> Result<()> {
        // SAFETY: a `Stream` is alive.
        unsafe { self.make_wait(stream) }
    }

    fn after(&self, Stream(stream): Stream) -> Result<()> {
        // SAFETY: a `Stream` is alive.
        unsafe { self.wait_for(CudaOrder::Stream(stream)) }
    }
}

/// Copies a table to a device, as values of a type: in its own layout, or the given one. Values are converted on the
/// side where fewer bytes are transferred.
pub(crate) fn uploaded(
    table: &dyn NumericTable,
    element: ElementType,
    layout: Option<DataLayout>,
    policy: ConversionPolicy,
    device: &Cuda,
) -> Result<AnyValues> {
    let own = table.uniform_type().filter(|own| own.size_in_bytes() < element.size_in_bytes());
    let transferred = own.unwrap_or(element);
    with_type!(transferred, T => {
        let values: AnyValues = match table.downcast_ref::<HomogenNumericTable<T>>() {
            Some(table) => Box::new(table.to_device::<T, _>(device)?),
            None => Box::new(table.convert_with::<T>(policy)?.to_device::<T, _>(device)?),
        };
        let layout = layout.unwrap_or(values.order());
        if (transferred, values.order()) == (element, layout) {
            return Ok(values);
        }
        values.converted(element, layout, policy)
    })
}

/// Creates a table of a tensor, without a copy unless there are gaps between its values.
///
/// # Safety
/// That of [`DeviceTable::from_dlpack`].
pub(crate) unsafe fn adopted(device: &Cuda, tensor: DlTensor) -> Result<AnyValues> {
    let element = tensor.element_type().unwrap_or(ElementType::F32); // which then reports the type
    // SAFETY: the caller's promise.
    with_type!(element, T => Ok(Box::new(unsafe { DeviceTable::<T, _>::from_dlpack(device, tensor, &[]) }?)))
}

/// Creates a table of an array of the CUDA array interface, as [`adopted`] does.
///
/// # Safety
/// That of [`DeviceTable::from_array_interface`].
pub(crate) unsafe fn of_interface(
    device: &Cuda,
    element: ElementType,
    interface: &CudaArrayInterface,
    deleter: impl FnOnce() + Send + 'static,
) -> Result<AnyValues> {
    with_type!(element, T => {
        // SAFETY: the caller's promise.
        Ok(Box::new(unsafe { DeviceTable::<T, _>::from_array_interface(device, interface, deleter) }?))
    })
}

/// Waits for all work of a device.
pub(crate) fn finish(device: &Cuda) -> Result<()> {
    device.synchronize()
}
