//! Managed and pinned memory, of this library and of others.

use numeric_table::array::MemoryKind;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::*;
use test_support::tables::assert_fault;

use super::adopted::Calls;
use super::other::Other;
use super::{Alone, LONELY, need_device};

/// The values, in place if the program can access them.
pub(super) fn values_of<T: Element>(array: &mut DeviceArray<T, Cuda>) -> Result<Vec<T>, HandleError> {
    match array.host_slice().map(<[T]>::to_vec) {
        Err(HandleError::Device(DeviceError::Unavailable { .. })) if array.memory_kind() == MemoryKind::Shared => {
            Ok(array.to_array()?.to_vec())
        }
        values => values,
    }
}

#[test]
fn managed_and_pinned_memory_is_that_of_both_sides() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    for kind in [MemoryKind::Shared, MemoryKind::Pinned] {
        let mut array = DeviceArray::full_with_kind(&device, 1000, 1.5_f32, kind).unwrap();
        assert_eq!(array.memory_kind(), kind);
        assert_eq!(values_of(&mut array).unwrap(), [1.5; 1000]);
        if array.host_slice().is_err() {
            continue; // one side at a time may use managed memory of this device
        }
        array.host_slice_mut().unwrap()[999] = 300.0;
        let mut bytes = DeviceArray::<u8, _>::allocate_with_kind(&device, 1000, kind).unwrap();
        device.convert(array.view().unwrap(), bytes.view_mut().unwrap(), Default::default()).unwrap();
        assert_eq!(bytes.host_slice().unwrap()[998..], [1, 255]);
        let mut clone = array.clone();
        clone.host_slice_mut().unwrap().fill(2.0); // a copy, of the same kind
        assert_eq!((clone.memory_kind(), array.host_slice().unwrap()[0]), (kind, 1.5));
        assert_eq!(array.to_array().unwrap()[998..], [1.5, 300.0]);
        let mut no_values = DeviceArray::<f64, _>::allocate_with_kind(&device, 0, kind).unwrap();
        assert!(no_values.host_slice().unwrap().is_empty());
        let stats = device.stats();
        let shape = Shape { rows: 500, columns: 2 };
        let table = DeviceTable::from_handle(array.into_handle(), shape, DataLayout::RowMajor).unwrap();
        assert_eq!(table.convert::<i16>(Default::default()).unwrap().shape(), shape);
        assert_eq!((device.stats() - stats).uploads.bytes, 0);
    }
    let mut plain = DeviceArray::full(&device, 10, 1_u8).unwrap();
    assert_fault!(plain.host_slice(), HandleError::Device(DeviceError::Unavailable { .. }));
    let host = DeviceArray::<u8, _>::allocate_with_kind(&device, 10, MemoryKind::Host);
    assert_fault!(host, HandleError::Device(DeviceError::Unavailable { .. }));

    // Of another library.
    let (managed, pinned) = (other.allocate_managed(4000), other.allocate_pinned(4000));
    for (address, kind) in [(managed, MemoryKind::Shared), (pinned, MemoryKind::Pinned)] {
        // SAFETY: the memory is freed at the end.
        let mut array =
            unsafe { DeviceArray::<i32, _>::from_raw_mut(&device, address, 1000, kind, calls.deleter(), &[]) }.unwrap();
        device.fill(array.mutable_view().unwrap(), 7).unwrap();
        assert_eq!((array.memory_kind(), values_of(&mut array).unwrap()), (kind, vec![7; 1000]));
    }
    calls.wait(2);
    other.free(managed);
    other.free_pinned(pinned);

    // Registered memory of the program.
    let mut values = vec![3_i16; 5000];
    let address = values.as_mut_ptr() as u64;
    if let Ok(registered) = device.register(&values) {
        // SAFETY: the values are registered until the deleter was called, and only read.
        let array = unsafe {
            DeviceArray::<i16, _>::from_raw(&device, address, 5000, MemoryKind::Pinned, calls.deleter(), &[])
        };
        let mut wide = DeviceArray::<i64, _>::allocate(&device, 5000).unwrap();
        device.convert(array.unwrap().view().unwrap(), wide.view_mut().unwrap(), Default::default()).unwrap();
        assert_eq!(wide.to_array().unwrap()[..], [3; 5000]);
        calls.wait(3);
        drop(registered);
    }
}

#[test]
fn there_is_never_more_managed_memory_than_is_free() {
    let Some(alone) = Alone::wait() else { return };
    let limit = alone.fake.limit(LONELY, 1 << 20);
    let device = alone.open();
    let half = || DeviceArray::<u8, _>::allocate_with_kind(&device, 1 << 19, MemoryKind::Shared);
    let (a, b) = (half().unwrap(), half().unwrap());
    assert_fault!(half(), HandleError::DeviceAlloc { bytes: 524_288, free: Some(0) });
    drop(a);
    half().unwrap(); // in the place of the one that is being freed
    let idle = ArrayHandle::from_container(&device, vec![1_u8; 1000]);
    idle.prepare_for_input().unwrap();
    drop(b);
    let whole = DeviceArray::<u8, _>::allocate_with_kind(&device, 1 << 20, MemoryKind::Shared).unwrap();
    assert!(!idle.is_on_device()); // freed for it
    drop((whole, idle, device));
    drop(limit);
    alone.check();
}
