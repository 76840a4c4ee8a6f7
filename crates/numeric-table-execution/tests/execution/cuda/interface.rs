//! Tables of arrays by the CUDA array interface, which says less about the memory than DLPack does.

use numeric_table::array::MemoryKind;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::{Cuda, CudaArrayInterface};
use numeric_table_execution::*;

use super::adopted::Calls;
use super::need_device;
use super::other::Other;
use super::tensors::Producer;

#[test]
fn arrays_of_the_cuda_array_interface_are_tables() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[1_i16, 2, 3, 4, 5, 6]);
    let calls = Calls::default();
    let read = |interface: &CudaArrayInterface| {
        // SAFETY: the memory is freed at the end, and nothing writes it.
        let table = unsafe { DeviceTable::<i16, _>::from_array_interface(&device, interface, calls.deleter()) };
        table.and_then(|table| Ok((table.shape(), table.to_table()?.rows::<i16>(..)?.to_vec())))
    };
    let new = |shape: &[i64]| CudaArrayInterface {
        address,
        is_read_only: true,
        typestr: "<i2".into(),
        shape: shape.to_vec(),
        strides: None,
        stream: Some(other.stream),
    };
    let wide = Shape { rows: 2, columns: 3 };
    assert_eq!(read(&new(&[2, 3])).unwrap(), (wide, vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(read(&new(&[6])).unwrap().0, Shape { rows: 6, columns: 1 });
    let columns =
        CudaArrayInterface { strides: Some(vec![2, 4]), is_read_only: false, stream: Some(1), ..new(&[2, 3]) };
    assert_eq!(read(&columns).unwrap(), (wide, vec![1, 3, 5, 2, 4, 6]));
    let gaps = CudaArrayInterface { strides: Some(vec![4]), stream: None, ..new(&[3]) };
    assert_eq!(read(&gaps).unwrap().1, [1, 3, 5]);
    for (interface, part) in [
        (CudaArrayInterface { typestr: "<f4".into(), ..new(&[3]) }, "the element type is f32, not i16"),
        (CudaArrayInterface { typestr: ">i2".into(), ..new(&[3]) }, "the type >i2"),
        (CudaArrayInterface { typestr: "<c8".into(), ..new(&[3]) }, "the type <c8"),
        (CudaArrayInterface { stream: Some(0), ..new(&[3]) }, "the stream 0"),
        (CudaArrayInterface { strides: Some(vec![3]), ..new(&[3]) }, "a stride of 3 bytes"),
        (CudaArrayInterface { strides: Some(vec![-2]), ..new(&[3]) }, "the stride -1"),
        (CudaArrayInterface { strides: Some(vec![2]), ..new(&[2, 3]) }, "1 strides"),
        (new(&[1, 2, 3]), "arrays of 3 dimensions"),
        (new(&[]), "arrays of 0 dimensions"),
        (new(&[100_000_000_000]), "were claimed"),
    ] {
        let error = read(&interface).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
    }
    calls.wait(14);
    other.free(address);
}

/// Not every producer says that its memory is managed, and the CUDA array interface has no kinds.
#[test]
fn memory_that_is_labelled_as_the_devices_may_be_of_another_kind() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let (managed, pinned) = (other.allocate_managed(48), other.allocate_pinned(48));
    let calls = Calls::default();
    for (address, kind) in [(managed, MemoryKind::Shared), (pinned, MemoryKind::Pinned)] {
        let producer = Producer::new(address, &[4, 3]);
        let tensor = producer.table(&device).unwrap();
        let interface = CudaArrayInterface {
            address,
            is_read_only: false,
            typestr: "<f4".into(),
            shape: vec![12],
            strides: None,
            stream: None,
        };
        let mut handle = tensor.into_handle();
        assert_eq!(handle.memory_kind(), kind);
        device.fill(handle.prepare_in_place().unwrap(), 1.5).unwrap();
        device.synchronize().unwrap();
        // SAFETY: the memory is freed at the end, and the first array does not use it any more.
        let table =
            unsafe { DeviceTable::<f32, _>::from_array_interface(&device, &interface, calls.deleter()) }.unwrap();
        assert_eq!(table.to_table().unwrap().as_slice().unwrap(), [1.5; 12]);
        let tensor = table.into_dlpack().unwrap();
        assert!(format!("{tensor:?}").contains(if kind == MemoryKind::Shared { "kind: 13" } else { "kind: 3" }));
        drop((tensor, handle));
        producer.check_deleted();
    }
    calls.wait(2);
    other.free(managed);
    other.free_pinned(pinned);
}

#[test]
fn strides_of_axes_with_one_place_do_not_matter() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[1_i16, 2, 3, 4, 5, 6]);
    for (shape, strides, expected) in [
        (vec![1, 3], vec![3, 2], vec![1, 2, 3]),
        (vec![3, 1], vec![2, -5], vec![1, 2, 3]),
        (vec![1, 3], vec![i64::MAX, 4], vec![1, 3, 5]),
        (vec![1, 1], vec![-1, 1], vec![1]),
        (vec![1], vec![-7], vec![1]),
        (vec![0, 3], vec![1, 1], vec![]),
        (vec![3, 0], vec![-1, i64::MIN], vec![]),
    ] {
        let (typestr, is_read_only, strides) = ("<i2".into(), true, Some(strides));
        let interface = CudaArrayInterface { address, is_read_only, typestr, shape, strides, stream: None };
        // SAFETY: the memory is freed at the end, after all work, and nothing writes it.
        let table = unsafe { DeviceTable::<i16, _>::from_array_interface(&device, &interface, || ()) };
        let table = table.unwrap_or_else(|error| panic!("{interface:?}: {error}"));
        assert_eq!(table.to_table().unwrap().rows::<i16>(..).unwrap()[..], expected, "{interface:?}");
    }
    device.synchronize().unwrap();
    other.free(address);
}
