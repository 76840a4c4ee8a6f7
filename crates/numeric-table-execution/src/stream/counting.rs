//! A device for tests, which counts the memory for packing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use numeric_table::prelude::*;
use numeric_table::{CsrNumericTable, SoaNumericTable};

use super::{StreamOptions, StreamRows};
use crate::closures::BytesKernel;
use crate::transport::Queue;
use crate::{DeviceAdapter, DeviceId, EmulatedDevice, HandleError, Launch, View, ViewMut};

/// The emulated device, which counts the allocations for packing and their bytes.
#[derive(Clone)]
pub(super) struct Counting(EmulatedDevice, Arc<[AtomicUsize; 2]>);

impl Counting {
    pub(super) fn new() -> Self {
        Self(EmulatedDevice::new(), Arc::default())
    }

    pub(super) fn emulated(&self) -> &EmulatedDevice {
        &self.0
    }

    /// Returns the number of allocations for packing, and of their bytes.
    pub(super) fn staged(&self) -> (usize, usize) {
        let [calls, bytes] = &*self.1;
        (calls.load(SeqCst), bytes.load(SeqCst))
    }
}

impl DeviceAdapter for Counting {
    type Memory = <EmulatedDevice as DeviceAdapter>::Memory;

    fn memory(&self) -> Self::Memory {
        self.0.memory()
    }

    fn id(&self) -> DeviceId {
        self.0.id()
    }

    fn queue(&self) -> &dyn Queue {
        self.0.queue()
    }

    fn staging<T: Element>(&self, count: usize) -> Result<Array<T>, HandleError> {
        let [calls, bytes] = &*self.1;
        calls.fetch_add(1, SeqCst);
        bytes.fetch_add(count * size_of::<T>(), SeqCst);
        self.0.staging(count)
    }
}

impl Launch for Counting {
    fn launch_bytes(
        &self,
        inputs: &[View<'_, u8, Self>],
        outputs: Vec<(ViewMut<'_, u8, Self>, usize)>,
        items: usize,
        kernel: &BytesKernel<'_>,
    ) -> Result<(), HandleError> {
        self.0.launch_bytes(inputs, outputs, items, kernel)
    }
}

#[test]
fn memory_for_packing_is_allocated_once_for_each_slot() {
    let (offsets, indices) = ((0..=1000_i64).collect::<Vec<_>>(), (0..1000_i64).collect::<Vec<_>>());
    let values: Vec<f32> = (1..=1000_u16).map(f32::from).collect();
    let diagonal = CsrNumericTable::try_new(Shape { rows: 1000, columns: 1000 }, offsets, indices, values).unwrap();
    let by_columns =
        HomogenNumericTable::full_with_layout(Shape { rows: 1000, columns: 3 }, 1_i16, DataLayout::ColumnMajor);
    let mut long = SoaNumericTable::new();
    long.push_column("a", (0..1000_i32).collect::<Vec<_>>()).unwrap();
    long.push_column("b", (0..1000_i16).collect::<Vec<_>>()).unwrap();
    for table in [&diagonal as &dyn NumericTable, &long, &by_columns.unwrap()] {
        let device = Counting::new();
        let mut stream =
            table.stream_rows::<f64, _>(&device, StreamOptions { rows: 10, ..Default::default() }).unwrap();
        while stream.next().unwrap().is_some() {}
        assert_eq!(stream.finish().unwrap().blocks, 100);
        assert_eq!(device.staged().0, 3);
    }
}
