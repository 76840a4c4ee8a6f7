//! What a handle promises besides the table of copies.

use std::sync::Barrier;
use std::thread;

use numeric_table::Array;
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::*;

/// What crosses: on a device that shares memory, nothing.
fn crossing<D: DeviceAdapter>(calls: usize, bytes: usize) -> TransferTotals {
    if <D::Memory as ExecutionMemory>::IS_SHARED { TransferTotals::default() } else { TransferTotals { calls, bytes } }
}

pub(crate) fn sixteen_threads_make_one_upload<D: DeviceAdapter + Kernels>(device: &D) {
    let handle = ArrayHandle::from_container(device, (0..1000).collect::<Vec<i32>>());
    let barrier = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                let view = handle.prepare_for_input().unwrap();
                let mut sum = ArrayHandle::<f64, D>::empty(device);
                device.convert(view, sum.prepare_for_output(1000).unwrap(), Default::default()).unwrap();
                assert_eq!(sum.get_values(&[7]).unwrap(), [7.0]);
            });
        }
    });
    assert_eq!(device.stats().uploads, crossing::<D>(1, 4000));
}

pub(crate) fn threads_that_read_a_result_make_one_download<D: DeviceAdapter + Kernels>(device: &D) {
    let mut handle = ArrayHandle::<i32, D>::empty(device);
    device.fill(handle.prepare_for_output(1000).unwrap(), 7).unwrap();
    let barrier = Barrier::new(16);
    thread::scope(|scope| {
        for i in 0..16 {
            let (handle, barrier) = (&handle, &barrier);
            scope.spawn(move || {
                barrier.wait();
                if i % 4 == 0 {
                    handle.prepare_for_input().unwrap(); // while it moves from one side to both
                }
                assert_eq!(handle.read_portal().unwrap(), [7; 1000]);
                assert_eq!(handle.clone().read_portal().unwrap(), [7; 1000]);
            });
        }
    });
    assert_eq!(device.stats().downloads, crossing::<D>(1, 4000));
    assert_eq!(device.stats().uploads, TransferTotals::default());
}

pub(crate) fn intermediate_data_never_crosses<D: DeviceAdapter + Kernels>(device: &D) {
    let input = ArrayHandle::from_container(device, vec![1.9_f64, -3.0]);
    let (mut one, mut two) = (ArrayHandle::<f32, D>::empty(device), ArrayHandle::<i16, D>::empty(device));
    let policy = Default::default();
    device.convert(input.prepare_for_input().unwrap(), one.prepare_for_output(2).unwrap(), policy).unwrap();
    device.convert(one.prepare_for_input().unwrap(), two.prepare_for_output(2).unwrap(), policy).unwrap();
    assert_eq!(two.into_container().unwrap()[..], [1, -3]);
    let stats = device.stats();
    assert_eq!((stats.uploads, stats.downloads), (crossing::<D>(1, 16), crossing::<D>(1, 4)));
    assert_eq!(stats.duplicates, TransferTotals::default());
}

pub(crate) fn every_kind_of_container_can_be_wrapped<D: DeviceAdapter + Kernels>(device: &D) {
    let mut values = [1_u16, 2, 3];
    let address = values.as_ptr();
    let shared = ArrayHandle::from_container(device, &values[..]);
    shared.prepare_for_input().unwrap();
    assert_eq!(shared.read_portal().unwrap().as_ptr(), address);

    let mut lent = ArrayHandle::from_container(device, &mut values[..]);
    assert!(matches!(lent.prepare_for_output(2), Err(HandleError::FixedSize { have: 3, want: 2 })));
    device.fill(lent.prepare_for_output(3).unwrap(), 7).unwrap();
    lent.truncate(2);
    assert_eq!(lent.into_container().unwrap(), [7, 7]);
    assert_eq!(values[..2], [7, 7]); // written back where they came from

    let vec = vec![1_u16, 2, 3];
    let address = vec.as_ptr();
    let mut owned = ArrayHandle::from_container(device, vec);
    device.fill(owned.prepare_in_place().unwrap(), 9).unwrap();
    let vec = owned.into_container().unwrap();
    assert_eq!((vec.as_ptr(), &vec[..]), (address, &[9; 3][..])); // the very same memory

    let array = Array::from(vec);
    let mut sharing = ArrayHandle::from_container(device, array.clone());
    device.fill(sharing.prepare_for_output(5).unwrap(), 4).unwrap();
    assert_eq!((&sharing.into_container().unwrap()[..], &array[..]), (&[4; 5][..], &[9; 3][..]));
}

pub(crate) fn no_values_are_values_and_cross_as_nothing<D: DeviceAdapter + Kernels>(device: &D) {
    let mut handle = ArrayHandle::from_container(device, Vec::<f64>::new());
    handle.prepare_for_input().unwrap();
    device.fill(handle.prepare_in_place().unwrap(), 1.0).unwrap();
    assert!(handle.clone_of_values().is_empty());
    device.fill(handle.prepare_for_output(0).unwrap(), 1.0).unwrap();
    assert!(handle.get_values(&[]).unwrap().is_empty());
    handle.release_control().unwrap();
    handle.release_execution().unwrap();
    assert!(handle.into_container().unwrap().is_empty());
    assert_eq!(device.stats(), TransferStats::default());
}

trait CloneOfValues<T> {
    fn clone_of_values(&self) -> Vec<T>;
}

impl<T: numeric_table::Element, D: DeviceAdapter, C: Container<T>> CloneOfValues<T> for ArrayHandle<T, D, C> {
    fn clone_of_values(&self) -> Vec<T> {
        self.read_portal().unwrap().to_vec()
    }
}

pub(crate) fn counts_that_no_memory_holds_are_refused<D: DeviceAdapter + Kernels>(device: &D) {
    let mut handle = ArrayHandle::from_container(device, Array::from(vec![1.0_f64, 2.0]));
    for count in [usize::MAX, usize::MAX / 8 + 1, isize::MAX as usize / 8 + 1] {
        assert!(matches!(handle.prepare_for_output(count), Err(HandleError::LengthOverflow)));
    }
    let mut vec = ArrayHandle::from_container(device, vec![1.0_f64, 2.0]);
    if cfg!(target_pointer_width = "64") {
        // With 32 bits, the most are 2 GiB, which may be there.
        let most = isize::MAX as usize / 8;
        for refused in [handle.prepare_for_output(most).map(drop), vec.prepare_for_output(most).map(drop)] {
            let is_memory = matches!(refused, Err(HandleError::HostAlloc { .. } | HandleError::DeviceAlloc { .. }));
            assert!(is_memory, "{refused:?}");
        }
    }
    assert_eq!((handle.read_portal().unwrap(), vec.read_portal().unwrap()), (&[1.0, 2.0][..], &[1.0, 2.0][..]));
}

pub(crate) fn a_write_through_one_clone_is_not_seen_by_the_other<D: DeviceAdapter + Kernels>(device: &D) {
    let original = ArrayHandle::from_container(device, Array::from(vec![1_i64, 2, 3]));
    original.prepare_for_input().unwrap();
    let mut written = [original.clone(), original.clone(), original.clone()];
    device.fill(written[0].prepare_for_output(3).unwrap(), 4).unwrap();
    device.fill(written[1].prepare_in_place().unwrap(), 5).unwrap();
    written[2].write_portal().unwrap().fill(6);
    let values = written.each_ref().map(|handle| handle.clone_of_values());
    assert_eq!(values, [[4; 3], [5; 3], [6; 3]]);
    assert_eq!(original.clone_of_values(), [1, 2, 3]);
    assert_eq!(device.stats().uploads, crossing::<D>(1, 24));
    assert_eq!(device.stats().duplicates, crossing::<D>(1, 24)); // the in-place one
}

pub(crate) fn an_array_on_one_side_copies_what_it_is_told<D: DeviceAdapter + Kernels>(device: &D) {
    let mut array = DeviceArray::from_slice(device, &[1_i16, 2, 3, 4]).unwrap();
    let copy = array.clone();
    array.copy_from_host(1, &[20, 30]).unwrap();
    let mut part = [0; 2];
    array.copy_to_host(2..4, &mut part).unwrap();
    assert_eq!(part, [30, 4]);
    assert_eq!(copy.to_array().unwrap()[..], [1, 2, 3, 4]);
    assert!(array.copy_to_host(2..4, &mut [0; 3]).is_err() && array.copy_to_host(3..5, &mut part).is_err());
    assert!(array.copy_from_host(3, &[0, 0]).is_err() && array.copy_from_host(usize::MAX, &[0, 0]).is_err());
    let stats = device.stats();
    assert_eq!((stats.uploads, stats.downloads), (crossing::<D>(2, 12), crossing::<D>(2, 12)));
    assert_eq!(stats.duplicates, crossing::<D>(1, 8)); // because the copy shared it
    assert_eq!(array.into_handle().clone_of_values(), [1, 20, 30, 4]);
}

pub(crate) fn handles_can_be_sent_and_shared<D: DeviceAdapter>(_device: &D) {
    fn check<V: Send + Sync>() {}
    check::<ArrayHandle<f32, D>>();
    check::<ArrayHandle<f32, D, &mut [f32]>>();
    check::<DeviceArray<f32, D>>();
    check::<DeviceTable<f32, D>>();
    check::<HandleError>();
    check::<View<'_, f32, D>>();
}
