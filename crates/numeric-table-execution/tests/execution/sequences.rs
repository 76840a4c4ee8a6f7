//! Sequences on a device that fails, that is full, or that is lost.

use numeric_table_execution::sequence::*;
use numeric_table_execution::*;
use test_support::tables::assert_fault;

type Device = EmulatedDevice;

/// Arms a failure after each number of successful calls until a call succeeds with it armed; returns how many failed.
fn fail_each<S: Sequence<Value = f64>>(sequence: &S, expected: &[f64], arm: fn(&Device, usize)) -> usize {
    for after in 0..100 {
        let device = Device::new();
        let handle = ArrayHandle::from_sequence(&device, sequence);
        arm(&device, after);
        let result = handle.prepare_for_input().map(drop);
        if result.is_ok() {
            return after;
        }
        assert_fault!(result, HandleError::Device(_) | HandleError::DeviceAlloc { .. });
        assert_eq!((handle.is_on_host(), handle.is_on_device(), device.live_bytes()), (true, false, 0));
        handle.prepare_for_input().unwrap(); // once only
        let mut copy = DeviceArray::<f64, Device>::allocate(&device, expected.len()).unwrap();
        let view = handle.prepare_for_input().unwrap();
        device.convert(view, copy.view_mut().unwrap(), Default::default()).unwrap();
        assert_eq!(copy.to_array().unwrap()[..], *expected);
        drop((handle, copy));
        assert_eq!(device.live_bytes(), 0);
    }
    unreachable!("it fails forever")
}

#[test]
fn every_failure_leaves_nothing_behind() {
    let points = [1.5_f32, 2.5, 3.5];
    let corners: Vec<u8> = (0..30).map(|i| i % 3).collect();
    let gathered = Permuted::new(Cast::<_, f64>::new(&points[..]), &corners[..]);
    let expected: Vec<f64> = corners.iter().map(|&corner| f64::from(points[usize::from(corner)])).collect();
    assert_eq!(fail_each(&gathered, &expected, Device::fail_upload), 2); // points and corners
    // Corners twice, points twice, and the result.
    assert_eq!(fail_each(&gathered, &expected, Device::fail_allocation), 5);

    let changed = Transformed::new(Constant::new(2_u8, 30), f64::from);
    assert_eq!(fail_each(&changed, &[2.0; 30], Device::fail_upload), 0);
    assert_eq!(fail_each(&changed, &[2.0; 30], Device::fail_allocation), 2);

    let chunks = Chunked::new(vec![&expected[..10], &expected[10..]]).unwrap();
    assert_eq!(fail_each(&chunks, &expected, Device::fail_upload), 1); // short chunks are packed
    assert_eq!(fail_each(&chunks, &expected, Device::fail_allocation), 1);
}

#[test]
fn a_copy_that_can_be_made_again_is_freed_for_others() {
    let device = Device::new().with_capacity(1000);
    let handle = ArrayHandle::from_sequence(&device, Constant::new(1.5_f64, 100));
    handle.prepare_for_input().unwrap();
    let mut other = ArrayHandle::<u8, _>::empty(&device);
    device.fill(other.prepare_for_output(900).unwrap(), 7).unwrap();
    assert!(!handle.is_on_device());
    assert_fault!(handle.prepare_for_input(), HandleError::DeviceAlloc { bytes: 800, .. });
    assert_eq!(other.read_portal().unwrap(), [7; 900]);
    drop(other);
    // Not while a kernel may read it.
    let view = handle.prepare_for_input().unwrap();
    assert_fault!(DeviceArray::<u8, _>::allocate(&device, 900), HandleError::DeviceAlloc { bytes: 900, .. });
    drop(view);
    DeviceArray::<u8, _>::allocate(&device, 900).unwrap();
}

#[test]
fn a_lost_device_loses_no_sequence() {
    let device = Device::new();
    let handle = ArrayHandle::from_sequence(&device, Counting::indices(3));
    handle.prepare_for_input().unwrap();
    device.lose();
    assert_fault!(handle.prepare_for_input(), HandleError::DeviceLost);
    assert_eq!(handle.read_portal().unwrap(), [0, 1, 2]);
    assert_eq!(handle.get_values(&[2]).unwrap(), [2]);
}

#[test]
fn clones_share_copies_and_slices() {
    let device = Device::new();
    let values = [1_i16, 2, 3];
    let original = ArrayHandle::from_sequence(&device, Cast::<_, f64>::new(&values[..]));
    original.prepare_for_input().unwrap();
    let mut copy = original.clone();
    copy.prepare_for_input().unwrap();
    assert_eq!(device.stats().uploads.bytes, 6);
    assert_ne!(copy.read_portal().unwrap().as_ptr(), original.read_portal().unwrap().as_ptr());
    assert_eq!(original.clone().read_portal().unwrap().as_ptr(), original.read_portal().unwrap().as_ptr());
    copy.release_execution().unwrap();
    copy.truncate(2);
    copy.prepare_for_input().unwrap();
    assert_eq!((device.stats().uploads.bytes, copy.read_portal().unwrap()), (10, &[1.0, 2.0][..]));
    copy.discard();
    assert_fault!(copy.read_portal(), HandleError::NoValidData);
    assert_fault!(copy.prepare_for_input(), HandleError::NoValidData);
    assert_fault!(copy.copy_into(&mut []), HandleError::NoValidData);
    assert_eq!(original.read_portal().unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn what_was_written_for_a_slice_is_counted() {
    let handle = ArrayHandle::from_sequence(&HostParallel, Constant::new(1.5_f32, 10));
    assert_eq!(handle.container().unwrap().size_in_bytes(), 0);
    let address = handle.prepare_for_input().unwrap().as_ptr();
    assert_eq!(handle.container().unwrap().size_in_bytes(), 40);
    assert_eq!(handle.read_portal().unwrap().as_ptr(), address); // once
    // A sequence that is a slice needs no other.
    let values = [1_u8, 2, 3];
    let handle = ArrayHandle::from_sequence(&HostSerial, &values[..]);
    assert_eq!(handle.prepare_for_input().unwrap().as_ptr(), values.as_ptr());
    assert_eq!(handle.container().unwrap().size_in_bytes(), 0);
}

/// What is read without a slice of the values, on more than one thread's share of them.
#[test]
fn the_serial_device_reads_sequences_on_the_calling_thread() {
    const COUNT: usize = 1 << 20;
    let threads = std::sync::Mutex::new(std::collections::HashSet::new());
    let values = FromFn::new(COUNT, |index| {
        threads.lock().unwrap().insert(std::thread::current().id());
        index as f64
    });
    let handle = ArrayHandle::from_sequence(&HostSerial, values);
    let mut copy = vec![0.0; COUNT];
    handle.copy_into(&mut copy).unwrap();
    assert!(copy.iter().enumerate().all(|(index, &value)| value == index as f64));
    handle.copy_to(&mut &mut copy[..]).unwrap();
    handle.get_values(&(0..COUNT).collect::<Vec<_>>()).unwrap();
    assert_eq!(threads.lock().unwrap().iter().copied().collect::<Vec<_>>(), [std::thread::current().id()]);
}
