//! Tables of tensors: at any strides, and by DLPack in both directions.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use numeric_table::prelude::*;
use numeric_table::trace::copies_of;
use numeric_table_execution::cuda::{Cuda, DlTensor};
use numeric_table_execution::*;
use test_support::tables::assert_fault;

use super::other::Other;
use super::{Alone, LONELY, Slow, need_device};

#[test]
fn values_at_any_strides_are_a_table() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    let values: Vec<i32> = (0..60).collect();
    for (rows, columns, strides, is_in_place) in [
        (6, 10, [10, 1], true),
        (6, 10, [1, 6], true),
        (6, 9, [10, 1], false),
        (10, 6, [6, 1], true),
        (5, 6, [12, 2], false),
        (5, 3, [1, 20], false),
        (4, 3, [0, 1], false),
        (4, 3, [0, 0], false),
        (60, 1, [1, 7], true),
        (1, 60, [7, 1], true),
        (30, 1, [2, 1], false),
        (1, 1, [99, 99], true),
        (0, 5, [99, 99], true),
    ] {
        let array = DeviceArray::from_slice(&device, &values).unwrap();
        let address = array.as_raw().unwrap().address();
        let shape = Shape { rows, columns };
        let table = DeviceTable::from_strided(array, shape, strides).unwrap();
        let expected: Vec<i32> = (0..rows)
            .flat_map(|row| (0..columns).map(move |column| (row * strides[0] + column * strides[1]) as i32))
            .collect();
        let found = table.to_table().unwrap();
        assert_eq!(found.rows::<i32>(..).unwrap()[..], expected, "{shape:?}, {strides:?}");
        let raw = table.into_dlpack().unwrap();
        assert_eq!(address_of(&raw) == address, is_in_place, "{shape:?}, {strides:?}");
    }
    for (rows, columns, strides) in [(6, 11, [10, 1]), (61, 1, [1, 1]), (2, 2, [usize::MAX, 1]), (3, 1, [30, 1])] {
        let array = DeviceArray::from_slice(&device, &values).unwrap();
        assert_fault!(
            DeviceTable::from_strided(array, Shape { rows, columns }, strides),
            HandleError::Library(_) | HandleError::LengthOverflow
        );
    }
}

/// `DLTensor` and `DLManagedTensorVersioned`, written out once more.
#[repr(C)]
#[derive(Clone)]
struct Tensor {
    data: u64,
    device: [i32; 2],
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Returns the address of the first value of a tensor, as a consumer reads it.
fn address_of(tensor: &DlTensor) -> u64 {
    let text = format!("{tensor:?}");
    let rest = text.split("address: 0x").nth(1).unwrap();
    u64::from_str_radix(rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap(), 16).unwrap()
}

/// What a tensor of another library owns.
struct Context {
    deleted: Arc<AtomicUsize>,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
}

unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: both were leaked by `produce`, and this is called once.
    unsafe {
        let managed = Box::from_raw(managed);
        let context = Box::from_raw(managed.context.cast::<Context>());
        context.deleted.fetch_add(1, SeqCst);
    }
}

unsafe extern "C" fn delete_plain(managed: *mut Managed) {
    // SAFETY: as above.
    unsafe {
        let managed = Box::from_raw(managed);
        let context = Box::from_raw(managed.context.cast::<Context>());
        context.deleted.fetch_add(1, SeqCst);
    }
}

/// A tensor of `f32` of another library.
pub(super) struct Producer {
    address: u64,
    deleted: Arc<AtomicUsize>,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    device: [i32; 2],
    dtype: (u8, u8, u16),
    version: Option<u32>,
    flags: u64,
    byte_offset: u64,
}

impl Producer {
    pub(super) fn new(address: u64, shape: &[i64]) -> Self {
        let (shape, device) = (shape.to_vec(), [2, 0]);
        let (deleted, dtype, version) = (Arc::default(), (2, 32, 1), Some(1));
        Self { address, deleted, shape, strides: None, device, dtype, version, flags: 0, byte_offset: 0 }
    }

    fn tensor(&self) -> Result<DlTensor, HandleError> {
        let Self { deleted, shape, strides, .. } = self;
        let context = Context { deleted: deleted.clone(), shape: shape.clone(), strides: strides.clone() };
        let context = Box::leak(Box::new(context));
        let (code, bits, lanes) = self.dtype;
        let tensor = Tensor {
            data: self.address,
            device: self.device,
            dimensions: shape.len() as i32,
            code,
            bits,
            lanes,
            shape: context.shape.as_ptr(),
            strides: context.strides.as_ref().map_or(std::ptr::null(), |strides| strides.as_ptr()),
            byte_offset: self.byte_offset,
        };
        let context = std::ptr::from_mut(context).cast();
        let Some(version) = self.version else {
            let managed = Managed { tensor, context, deleter: Some(delete_plain) };
            // SAFETY: the tensor is given away.
            return unsafe { DlTensor::from_raw(Box::into_raw(Box::new(managed)).cast()) };
        };
        let (version, deleter) = ([version, 7], Some(delete_versioned as unsafe extern "C" fn(*mut Versioned)));
        let managed = Versioned { version, context, deleter, flags: self.flags, tensor };
        // SAFETY: the tensor is given away.
        unsafe { DlTensor::from_raw_versioned(Box::into_raw(Box::new(managed)).cast()) }
    }

    pub(super) fn table(&self, device: &Cuda) -> Result<DeviceTable<f32, Cuda>, HandleError> {
        // SAFETY: the memory is freed after the deleter was called, and no work on it is going on.
        unsafe { DeviceTable::from_dlpack(device, self.tensor()?, &[]) }
    }

    /// Waits until the tensor was deleted, once.
    pub(super) fn check_deleted(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.deleted.load(SeqCst) == 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
        assert_eq!(self.deleted.load(SeqCst), 1);
    }
}

#[test]
fn a_tensor_becomes_a_table_and_goes_back_with_the_same_address() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other) = (alone.open(), Other::new(LONELY));
    let address = other.values(&(0..12).map(|i| i as f32 + 0.5).collect::<Vec<_>>());
    let before = [7, 8].map(|what| (alone.fake.control)(what, LONELY, 0));
    for (version, shape, strides) in [
        (Some(1), vec![4, 3], None),
        (None, vec![4, 3], Some(vec![3, 1])),
        (Some(1), vec![3, 4], Some(vec![1, 3])),
        (Some(1), vec![12], Some(vec![1])),
        (None, vec![12], None),
    ] {
        let producer = Producer { device: [2, LONELY], version, strides, ..Producer::new(address, &shape) };
        let mut table = producer.table(&device).unwrap();
        assert_eq!(table.shape().rows, shape[0] as usize);
        let bytes = table.convert::<u8>(ConversionPolicy::Saturate).unwrap(); // column-major tables stay as they are
        device.convert(bytes.view().unwrap(), table.view_mut().unwrap(), Default::default()).unwrap();
        // SAFETY: the stream is alive.
        unsafe { table.make_wait(other.stream) }.unwrap();
        let tensor = table.into_dlpack().unwrap();
        assert_eq!((address_of(&tensor), tensor.is_read_only()), (address, false));
        assert_eq!(producer.deleted.load(SeqCst), 0);
        drop(tensor); // the consumer deletes it
        producer.check_deleted();
    }
    assert_eq!([7, 8].map(|what| (alone.fake.control)(what, LONELY, 0)), before);
    assert_eq!(other.read::<f32>(address, 12), (0..12).map(|i| i as f32).collect::<Vec<_>>());
    other.free(address);
    drop((device, other));
    alone.check();
}

#[test]
fn a_tensor_is_standardized_in_place_and_goes_back_with_the_same_address() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other) = (alone.open(), Other::new(LONELY));
    for (shape, strides) in [(vec![4, 3], vec![3, 1]), (vec![3, 4], vec![1, 3]), (vec![12], vec![1])] {
        let values: Vec<f32> = (0..12).map(|i| (i * i) as f32 + 0.5).collect();
        let address = other.values(&values);
        let before = [7, 8].map(|what| (alone.fake.control)(what, LONELY, 0));
        let stats = device.stats();
        let producer =
            Producer { device: [2, LONELY], strides: Some(strides.clone()), ..Producer::new(address, &shape) };
        let (tensor, copies) = copies_of(|| {
            let mut table = producer.table(&device).unwrap();
            table.standardize().unwrap();
            // SAFETY: the stream is alive.
            unsafe { table.make_wait(other.stream) }.unwrap();
            table.into_dlpack().unwrap()
        });
        assert_eq!((address_of(&tensor), tensor.is_read_only()), (address, false));
        let crossed = device.stats() - stats;
        assert_eq!((crossed.uploads, crossed.downloads, crossed.duplicates), Default::default());
        assert!(copies.is_empty(), "{copies}");
        assert_eq!([7, 8].map(|what| (alone.fake.control)(what, LONELY, 0)), before);
        drop(tensor);
        producer.check_deleted();

        let layout = if strides.len() == 2 && strides[0] == 1 { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
        let shape = Shape { rows: shape[0] as usize, columns: *shape.get(1).unwrap_or(&1) as usize };
        let table = HomogenNumericTable::from_array_with_layout(Array::from(values), shape, layout).unwrap();
        let mut expected = table.to_device::<f32, _>(&HostSerial).unwrap();
        expected.standardize().unwrap();
        let found = other.read::<f32>(address, 12);
        assert_eq!(found, expected.to_table().unwrap().as_slice().unwrap());
        other.free(address);
    }
    drop((device, other));
    alone.check();
}

/// Memory that must not be written is copied on the device, and stays as it was.
#[test]
fn a_read_only_tensor_is_standardized_in_a_copy_on_the_device() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[1.0_f32, 2.0, 3.0, 4.0]);
    let producer = Producer { flags: 1, ..Producer::new(address, &[2, 2]) };
    let mut table = producer.table(&device).unwrap();
    let stats = device.stats();
    table.standardize().unwrap();
    let crossed = device.stats() - stats;
    assert_eq!((crossed.uploads.bytes, crossed.downloads.bytes, crossed.duplicates.bytes), (0, 0, 16));
    assert_eq!(table.to_table().unwrap().as_slice().unwrap(), [-1.0, -1.0, 1.0, 1.0]);
    drop(table);
    producer.check_deleted();
    assert_eq!(other.read::<f32>(address, 4), [1.0, 2.0, 3.0, 4.0]);
    other.free(address);
}

#[test]
fn read_only_tensors_and_tensors_with_gaps_are_copied_before_they_are_written() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let read_only = Producer { flags: 1, ..Producer::new(address, &[2, 3]) };
    let gaps = Producer { strides: Some(vec![3, 2]), ..Producer::new(address, &[2, 2]) };
    let behind = Producer { byte_offset: 8, ..Producer::new(address, &[2, 2]) };
    for (producer, expected, is_kept) in [
        (&read_only, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], true),
        (&gaps, vec![1.0, 3.0, 4.0, 6.0], true),
        (&behind, vec![3.0, 4.0, 5.0, 6.0], false),
    ] {
        let mut table = producer.table(&device).unwrap();
        assert_eq!(table.to_table().unwrap().as_slice().unwrap(), expected);
        let clone = table.clone().into_dlpack().unwrap();
        assert!(clone.is_read_only()); // its values are shared
        drop(clone);
        device.fill(table.view_mut().unwrap(), 9.0).unwrap();
        drop(table);
        producer.check_deleted();
        if is_kept {
            assert_eq!(other.read::<f32>(address, 6), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
    }
    other.free(address);
}

#[test]
fn tensors_that_are_no_table_of_this_device_are_refused_and_deleted() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[1.0_f32; 12]);
    let new = || Producer::new(address, &[4, 3]);
    let here = [0.0_f32; 12];
    for (producer, part) in [
        (Producer { version: Some(2), ..new() }, "tensors of version 2"),
        (Producer { version: Some(0), ..new() }, "tensors of version 0"),
        (Producer { shape: vec![], ..new() }, "tensors of 0 dimensions"),
        (Producer { shape: vec![2, 2, 3], ..new() }, "tensors of 3 dimensions"),
        (Producer { shape: vec![-4, 3], ..new() }, "the size -4"),
        (Producer { strides: Some(vec![-3, 1]), ..new() }, "the stride -3"),
        (Producer { strides: Some(vec![i64::MAX, 1]), ..new() }, "more bytes than can be addressed"),
        (Producer { shape: vec![i64::MAX, i64::MAX], ..new() }, "more bytes than can be addressed"),
        (Producer { shape: vec![4, 100_000_000_000], ..new() }, "were claimed, and the allocation there has"),
        (Producer { device: [1, 0], ..new() }, "memory of the device type 1"),
        (Producer { device: [10, 0], ..new() }, "memory of the device type 10"),
        (Producer { device: [2, 5], ..new() }, "was claimed to be on device 0, and is on device 5"),
        (Producer { device: [3, 0], ..new() }, "was claimed as Pinned, and is Device"),
        (Producer { device: [13, 0], ..new() }, "was claimed as Shared, and is Device"),
        (Producer { dtype: (0, 32, 1), ..new() }, "the element type is i32, not f32"),
        (Producer { dtype: (2, 32, 4), ..new() }, "lanes: 4"),
        (Producer { dtype: (5, 64, 1), ..new() }, "code: 5"),
        (Producer { byte_offset: 2, shape: vec![2, 3], ..new() }, "is not a multiple of 4 bytes"),
        (Producer { byte_offset: u64::MAX, ..new() }, "more bytes than can be addressed"),
        (Producer { address: here.as_ptr() as u64, ..new() }, "was claimed as Device, and is Host"),
        (Producer { address: 0, ..new() }, "was claimed as Device, and is Host"),
    ] {
        let error = producer.table(&device).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
        assert_eq!(producer.deleted.load(SeqCst), 1, "{part}"); // before the call returns
    }
    for empty in [vec![0, 3], vec![4, 0], vec![0]] {
        let producer = Producer { address: 0, shape: empty, ..new() };
        let table = producer.table(&device).unwrap();
        assert!(table.to_table().unwrap().as_slice().unwrap().is_empty());
        drop(table);
        producer.check_deleted();
    }
    // SAFETY: null is refused.
    let none =
        unsafe { [DlTensor::from_raw(std::ptr::null_mut()), DlTensor::from_raw_versioned(std::ptr::null_mut())] };
    none.into_iter().for_each(|none| assert_fault!(none, HandleError::Library(_)));
    other.free(address);
}

/// The consumer deletes a tensor while its own work, in its own stream, still reads it.
#[test]
fn the_memory_of_an_exported_tensor_is_used_again_after_the_work_of_its_consumer() {
    need_device!();
    let _slow = Slow::start();
    for round in 0..20 {
        let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
        let twin = other.allocate(4 * 3000);
        let array = DeviceArray::full(&device, 3000, round).unwrap();
        let shape = Shape { rows: 1000, columns: 3 };
        let table = DeviceTable::from_strided(array, shape, [3, 1]).unwrap();
        // SAFETY: the stream is alive.
        unsafe { table.make_wait(other.stream) }.unwrap();
        let tensor = table.into_dlpack().unwrap();
        other.copy(twin, address_of(&tensor), 4 * 3000);
        drop(tensor);
        assert_eq!(other.read::<i32>(twin, 3000), [round; 3000]);
        other.free(twin);
    }
}

/// A producer makes the stream that it is given wait, and needs no event.
#[test]
fn the_stream_for_producers_orders_what_they_write() {
    need_device!();
    let _slow = Slow::start();
    for round in 0..20 {
        let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
        let (address, twin) = (other.values(&[0.0_f32; 3000]), other.values(&[round as f32; 3000]));
        let producer = Producer { shape: vec![1000, 3], ..Producer::new(address, &[]) };
        other.copy(address, twin, 4 * 3000); // is going on
        other.make_wait(device.exchange_stream());
        let table = producer.table(&device).unwrap();
        assert!(table.to_table().unwrap().as_slice().unwrap().iter().all(|&value| value == round as f32));
        drop(table);
        producer.check_deleted();
        [address, twin].into_iter().for_each(|address| other.free(address));
    }
}

/// A full device frees copies of values that the program has too, but not the memory of a tensor.
#[test]
fn the_memory_of_a_tensor_is_not_freed_for_others() {
    let Some(alone) = Alone::wait() else { return };
    let limit = alone.fake.limit(LONELY, 1 << 20);
    let device = alone.open();
    let handle = ArrayHandle::from_container(&device, Array::from(vec![1.5_f32; 1000]));
    let table = DeviceTable::from_handle(handle, Shape { rows: 500, columns: 2 }, DataLayout::RowMajor).unwrap();
    // SAFETY: the stream is alive as long as the device.
    unsafe { table.make_wait(device.exchange_stream()) }.unwrap();
    let tensor = table.into_dlpack().unwrap();
    let free = device.memory_info().unwrap().0;
    assert_fault!(DeviceArray::<u8, _>::allocate(&device, free + 1), HandleError::DeviceAlloc { .. });
    // SAFETY: the tensor is one of this crate, and nothing else uses its memory.
    let table = unsafe { DeviceTable::<f32, _>::from_dlpack(&device, tensor, &[]) }.unwrap();
    assert_eq!(table.to_table().unwrap().as_slice().unwrap(), [1.5; 1000]);
    drop((table, device));
    drop(limit);
    alone.check();
}

#[test]
fn tables_without_values_whose_size_is_no_number_of_dlpack_are_refused() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    for (rows, is_good) in [(i64::MAX as usize, true), (i64::MAX as usize + 1, false), (usize::MAX, false)] {
        for (rows, columns) in [(rows, 0), (0, rows)] {
            for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
                let handle = DeviceArray::<f32, _>::allocate(&device, 0).unwrap().into_handle();
                let tensor = DeviceTable::from_handle(handle, Shape { rows, columns }, layout).unwrap().into_dlpack();
                match is_good {
                    true => assert_eq!(address_of(&tensor.unwrap()), 0),
                    false => assert_fault!(tensor, HandleError::LengthOverflow),
                }
            }
        }
    }
}
