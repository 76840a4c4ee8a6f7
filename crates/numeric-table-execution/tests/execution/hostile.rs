//! Containers, transports and devices of other people that misbehave: no panic of the library's own, and no data lost
//! but theirs.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use numeric_table::prelude::*;
use numeric_table_execution::closures::BytesKernel;
use numeric_table_execution::emulated::EmulatedTransport;
use numeric_table_execution::memory::{SeparateMemory, SeparateSpace};
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::transport::{Engine, Event, Queue, StageTimes, Transport};
use numeric_table_execution::*;
use test_support::tables::{LAYOUTS, assert_fault};

type Hook = Mutex<Option<Box<dyn FnOnce() + Send>>>;

/// A device's memory that does what a test wants at its next call of a kind.
#[derive(Default)]
struct Hooked {
    at_is_lost: Hook,
    at_duplicate: Hook,
    is_lost: AtomicBool,
}

fn run(hook: &Hook) {
    let work = hook.lock().unwrap().take();
    if let Some(work) = work {
        work();
    }
}

impl Transport for Hooked {
    type Buffer = Vec<u8>;
    fn allocate(&self, bytes: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(vec![0; bytes])
    }
    fn upload(&self, source: &[u8], target: &mut Vec<u8>, at: usize) -> Result<(), DeviceError> {
        target[at..at + source.len()].copy_from_slice(source);
        Ok(())
    }
    fn download(&self, source: &Vec<u8>, range: Range<usize>, target: &mut [u8]) -> Result<(), DeviceError> {
        target.copy_from_slice(&source[range]);
        Ok(())
    }
    fn duplicate(&self, source: &Vec<u8>, bytes: usize) -> Result<Vec<u8>, DeviceError> {
        run(&self.at_duplicate);
        Ok(source[..bytes].to_vec())
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn is_lost(&self) -> bool {
        run(&self.at_is_lost);
        self.is_lost.load(SeqCst)
    }
}

#[derive(Clone)]
struct Device(Arc<SeparateSpace<Hooked>>);

impl DeviceAdapter for Device {
    type Memory = SeparateMemory<Hooked>;
    fn memory(&self) -> Self::Memory {
        SeparateMemory::new(&self.0)
    }
    fn id(&self) -> DeviceId {
        DeviceId { kind: "hooked", index: 0 }
    }
}

/// A handle whose values are 1, 2, 3, on the device only.
fn only_there(device: &Device) -> ArrayHandle<u8, Device> {
    let mut handle = ArrayHandle::from_container(device, Array::from(vec![1, 2, 3]));
    handle.release_control().unwrap();
    handle
}

#[test]
fn a_transport_that_panics_leaves_the_only_copy() {
    let device = Device(SeparateSpace::new(Hooked::default()));
    let mut handle = only_there(&device);
    let clone = handle.clone();
    *device.0.transport().at_duplicate.lock().unwrap() = Some(Box::new(|| panic!("on purpose")));
    assert!(catch_unwind(AssertUnwindSafe(|| handle.prepare_in_place().map(drop))).is_err());
    assert_eq!((handle.is_on_host(), handle.is_on_device()), (false, true));
    drop(clone);
    assert_eq!(handle.read_portal().unwrap(), [1, 2, 3]);
}

/// A container that panics whenever memory is allocated, or when it first retires.
struct Panics {
    values: Vec<i32>,
    on_allocation: bool,
    on_retirement: bool,
}

impl Container<i32> for Panics {
    fn values(&self) -> &[i32] {
        &self.values
    }

    fn values_mut(&mut self) -> Result<&mut [i32], HandleError> {
        Ok(&mut self.values)
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        assert!(!self.on_allocation, "on purpose");
        self.values.allocate(count)
    }

    fn truncate(&mut self, count: usize) {
        self.values.truncate(count);
    }

    fn release(&mut self) {}

    fn retire(&mut self) {
        assert!(!std::mem::take(&mut self.on_retirement), "on purpose");
    }
}

#[test]
fn a_container_that_panics_leaves_the_handle_usable() {
    let device = EmulatedDevice::new();
    let container = Panics { values: vec![1, 2], on_allocation: true, on_retirement: false };
    let mut handle = ArrayHandle::from_container(&device, container);
    device.fill(handle.prepare_for_output(2).unwrap(), 7).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| handle.read_portal().map(<[i32]>::len)));
    assert!(panic.is_err());
    assert_eq!(handle.get_values(&[1]).unwrap(), [7]);
    assert_eq!((handle.is_on_host(), handle.is_on_device()), (false, true));
    device.fill(handle.prepare_in_place().unwrap(), 8).unwrap();
    assert_eq!(handle.get_values(&[0, 1]).unwrap(), [8, 8]);
}

#[test]
fn a_container_that_panics_when_it_retires_is_not_lost() {
    let device = EmulatedDevice::new();
    let container = Panics { values: vec![1, 2, 3], on_allocation: false, on_retirement: true };
    let mut handle = ArrayHandle::from_container(&device, container);
    assert!(catch_unwind(AssertUnwindSafe(|| handle.prepare_in_place().map(drop))).is_err());
    assert_eq!(handle.get_values(&[1]).unwrap(), [2]);
    assert_eq!(handle.read_portal().unwrap(), [1, 2, 3]);
    assert_eq!(handle.into_container().unwrap().values, [1, 2, 3]);
}

#[test]
fn containers_of_other_lengths_than_promised_are_refused() {
    /// Shows and returns at most the given number of values.
    struct Short(Vec<i32>, Arc<Mutex<[usize; 2]>>);
    impl Container<i32> for Short {
        fn values(&self) -> &[i32] {
            &self.0[..self.0.len().min(self.1.lock().unwrap()[0])]
        }
        fn values_mut(&mut self) -> Result<&mut [i32], HandleError> {
            let most = self.0.len().min(self.1.lock().unwrap()[1]);
            Ok(&mut self.0[..most])
        }
        fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
            self.0.allocate(count)
        }
        fn truncate(&mut self, count: usize) {
            self.0.truncate(count);
        }
        fn release(&mut self) {
            self.0 = Vec::new();
        }
    }
    fn check<D: Kernels>(device: &D) {
        for limits in [[0, 9], [9, 0], [2, 2], [0, 0]] {
            for call in 0..9 {
                for on_device in [false, true] {
                    let most = Arc::new(Mutex::new([9, 9]));
                    let mut handle = ArrayHandle::from_container(device, Short(vec![1, 2, 3], most.clone()));
                    if on_device {
                        device.fill(handle.prepare_for_output(3).unwrap(), 7).unwrap();
                    }
                    *most.lock().unwrap() = limits;
                    match call {
                        0 => drop(handle.prepare_for_input().map(|_| ())),
                        1 => drop(handle.prepare_in_place().map(|_| ())),
                        2 => drop(handle.prepare_for_output(3).and_then(|view| device.fill(view, 8))),
                        3 => drop(handle.read_portal().map(<[i32]>::len)),
                        4 => drop(handle.write_portal().map(|values| values.len())),
                        5 => drop(handle.copy_into(&mut [0; 3])),
                        6 => drop(handle.release_execution()),
                        7 => drop(handle.release_control()),
                        _ => drop(handle.get_values(&[2])),
                    }
                    *most.lock().unwrap() = [9, 9];
                    drop(handle.read_portal().map(<[i32]>::len));
                    device.fill(handle.prepare_for_output(4).unwrap(), 9).unwrap(); // it is usable in any case
                    assert_eq!(handle.read_portal().unwrap(), [9; 4], "call {call} of {limits:?}");
                    drop(handle.into_container());
                }
            }
        }
    }
    check(&HostSerial);
    check(&EmulatedDevice::new());
}

#[test]
fn values_that_come_to_control_just_before_the_device_is_lost_are_seen() {
    let device = Device(SeparateSpace::new(Hooked::default()));
    let handle = Arc::new(only_there(&device));
    // As another thread might, between two looks: it reads, and the device is lost.
    let (other, space) = (handle.clone(), device.0.clone());
    let reads = Box::new(move || {
        other.read_portal().unwrap();
        space.transport().is_lost.store(true, SeqCst);
    });
    *device.0.transport().at_is_lost.lock().unwrap() = Some(reads);
    assert_eq!(handle.get_values(&[1]).unwrap(), [2]);
    assert_eq!((handle.is_on_host(), handle.is_on_device()), (true, false));
}

#[test]
fn exchanged_buffers_and_places_outside_are_refused() {
    let device = EmulatedDevice::new();
    let (mut long, mut short) = (ArrayHandle::<u64, _>::empty(&device), ArrayHandle::<u64, _>::empty(&device));
    {
        let (mut one, mut other) = (long.prepare_for_output(100).unwrap(), short.prepare_for_output(1).unwrap());
        std::mem::swap(one.buffer(), other.buffer());
    }
    let outside = DeviceError::Failed { code: 3, what: "an access outside of a block" };
    let is_outside = |error: HandleError| matches!(error, HandleError::Device(error) if error == outside);
    assert!(is_outside(long.read_portal().unwrap_err()));
    assert!(is_outside(device.fill(long.prepare_in_place().unwrap(), 7).unwrap_err()));
    let clone = long.clone();
    assert!(is_outside(long.prepare_in_place().map(|_| ()).unwrap_err()));
    drop(clone);
    assert_eq!(short.read_portal().unwrap().len(), 1);

    let heap = EmulatedTransport::default();
    let mut buffer = heap.allocate(3).unwrap();
    for at in [3, usize::MAX] {
        assert_eq!(heap.upload(&[1], &mut buffer, at), Err(outside));
        assert_eq!(heap.download(&buffer, at..at, &mut [0]), Err(outside));
    }
    assert_eq!(heap.duplicate(&buffer, 4).map(drop), Err(outside));
}

/// The emulated device, with another queue.
#[derive(Clone)]
struct Queued<Q>(EmulatedDevice, Arc<Q>);

impl<Q: Queue + Clone + 'static> DeviceAdapter for Queued<Q> {
    type Memory = <EmulatedDevice as DeviceAdapter>::Memory;
    fn memory(&self) -> Self::Memory {
        self.0.memory()
    }
    fn id(&self) -> DeviceId {
        self.0.id()
    }
    fn queue(&self) -> &dyn Queue {
        &*self.1
    }
}

impl<Q: Queue + Clone + 'static> Launch for Queued<Q> {
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
fn a_block_that_was_freed_and_cannot_cross_again_is_not_skipped() {
    /// Once a block has been copied, another handle needs the device's memory, and the next copy fails.
    #[derive(Clone)]
    struct Evicts(EmulatedDevice, Arc<AtomicBool>);
    impl Queue for Evicts {
        fn record(&self, engine: Engine) -> Event {
            if engine == Engine::Copy && !self.1.swap(true, SeqCst) {
                assert!(ArrayHandle::<u8, _>::empty(&self.0).prepare_for_output(1000).is_err());
                self.0.fail_upload(0);
            }
            Event::DONE
        }
    }
    let device = EmulatedDevice::new().with_capacity(999);
    let device = Queued(device.clone(), Arc::new(Evicts(device, Arc::default())));
    let table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap();
    let mut stream = table.stream_rows::<i16, _>(&device, StreamOptions { rows: 2, ..Default::default() }).unwrap();
    assert_fault!(stream.next().map(|_| ()), HandleError::Device(_));
    assert_eq!(stream.next().unwrap().unwrap().row_range(), 0..2);
    assert_eq!(stream.next().unwrap().unwrap().row_range(), 2..3);
    assert!(stream.next().unwrap().is_none());
    assert_eq!(stream.finish().unwrap().rows, 3);
}

#[test]
fn a_clock_that_runs_backwards_is_survived() {
    #[derive(Clone, Default)]
    struct Backwards(Arc<AtomicBool>);
    impl Queue for Backwards {
        fn times(&self) -> Option<StageTimes> {
            let time = std::time::Duration::from_secs(u64::from(!self.0.swap(true, SeqCst)));
            Some(StageTimes { pack: time, copy: time, kernel: time, total: time })
        }
    }
    let device = Queued(EmulatedDevice::new(), Arc::new(Backwards::default()));
    let table = HomogenNumericTable::from_rows(&[[1_i16, 2]]).unwrap();
    let stream = table.stream_rows::<i16, _>(&device, StreamOptions::default()).unwrap();
    assert_eq!(stream.finish().unwrap().times, StageTimes::default());
}

#[test]
fn slots_are_made_when_they_are_needed() {
    let shape = Shape { rows: usize::MAX, columns: 0 };
    let table = HomogenNumericTable::<f32>::new(shape, AllocationFlag::DoAllocate).unwrap();
    let options = StreamOptions { rows: 1, slots: usize::MAX, ..Default::default() };
    let mut stream = table.stream_rows::<f64, _>(&EmulatedDevice::new(), options).unwrap();
    for row in 0..5 {
        assert_eq!(stream.next().unwrap().unwrap().row_range(), row..row + 1);
    }
    assert_eq!(stream.finish().unwrap().blocks, 5);
}

#[test]
fn a_table_on_a_device_may_have_room_for_more() {
    fn check<D: Kernels>(device: &D) {
        for layout in LAYOUTS {
            let mut handle = ArrayHandle::<i32, D>::from_container(device, Array::from((0..10).collect::<Vec<_>>()));
            handle.truncate(6);
            let table = DeviceTable::from_handle(handle, Shape { rows: 3, columns: 2 }, layout).unwrap();
            assert_eq!(table.to_table().unwrap().into_array().unwrap()[..], [0, 1, 2, 3, 4, 5]);
            let row = table.download_rows::<i16>(2..3).unwrap().into_array().unwrap();
            assert_eq!(row[..], if layout == DataLayout::RowMajor { [4, 5] } else { [2, 5] });
            let reversed = Range { start: 2, end: 1 };
            assert_fault!(
                table.download_rows::<i32>(reversed),
                HandleError::Library(error) if matches!(error.kind(), ErrorKind::RowsOutOfRange { .. })
            );
        }
    }
    check(&HostSerial);
    check(&EmulatedDevice::new());
}
