//! Arrays that a sequence of the program prepares, which may be wrong.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use numeric_table_execution::sequence::{Cast, Sequence};
use numeric_table_execution::*;
use test_support::tables::assert_fault;

/// A sequence that prepares arrays of wrong lengths, and on another device.
struct Wrong<'d, D> {
    values: Vec<i32>,
    other: &'d D,
    /// The number of arrays that were prepared.
    calls: AtomicUsize,
}

impl<D: Kernels> Sequence for Wrong<'_, D> {
    type Value = i32;

    fn count(&self) -> usize {
        self.values.len()
    }

    fn read(&self, first: usize, target: &mut [i32]) -> Result<(), HandleError> {
        self.values.as_slice().read(first, target)
    }

    fn prepare<E: Kernels>(&self, device: &E, count: usize) -> Result<DeviceArray<i32, E>, HandleError> {
        let other = (self.other as &dyn Any).downcast_ref::<E>().unwrap();
        match self.calls.fetch_add(1, Relaxed) {
            0 => DeviceArray::zeros(device, count - 1),
            1 => DeviceArray::zeros(device, count + 1),
            2 => DeviceArray::zeros(device, 0),
            3 => DeviceArray::from_slice(other, &self.values[..count]),
            _ => DeviceArray::from_slice(device, &self.values[..count]),
        }
    }
}

/// Checks two devices of a kind.
pub(crate) fn check<D: Kernels>(device: &D, other: &D) {
    let values = vec![5, 6, 7, 8];
    let sequence = Wrong { values: values.clone(), other, calls: AtomicUsize::new(0) };
    let handle = ArrayHandle::from_sequence(device, &sequence);
    for have in [3, 5, 0] {
        match handle.prepare_for_input().map(drop) {
            Err(HandleError::LengthMismatch { have: found, want: 4 }) => assert_eq!(found, have),
            result => panic!("{result:?}"),
        }
        assert_eq!((handle.is_on_host(), handle.is_on_device()), (true, false));
    }
    assert_fault!(handle.prepare_for_input(), HandleError::WrongDevice);
    assert_eq!((handle.is_on_host(), handle.is_on_device()), (true, false));
    let seen = |handle: &ArrayHandle<i32, D, _>| {
        let mut copy = DeviceArray::<i32, D>::allocate(device, 4).unwrap();
        device.convert(handle.prepare_for_input().unwrap(), copy.view_mut().unwrap(), Default::default()).unwrap();
        copy.to_array().unwrap().to_vec()
    };
    assert_eq!((seen(&handle), handle.read_portal().unwrap()), (values.clone(), &values[..]));
    assert_eq!(sequence.calls.swap(0, Relaxed), 5);
    // Another sequence is made of this one.
    let wide = ArrayHandle::from_sequence(device, Cast::<_, i64>::new(&sequence));
    for _ in 0..4 {
        assert!(wide.prepare_for_input().is_err());
        assert!(!wide.is_on_device());
    }
    wide.prepare_for_input().unwrap();
    assert_eq!(wide.read_portal().unwrap(), [5, 6, 7, 8]);
}

#[test]
fn prepared_arrays_of_other_lengths_and_devices_are_refused() {
    check(&EmulatedDevice::new(), &EmulatedDevice::new());
}

#[test]
#[cfg(feature = "cuda")]
fn prepared_arrays_of_other_lengths_and_devices_are_refused_on_cuda() {
    if crate::cuda::is_there() {
        let [device, other] = [(); 2].map(|()| numeric_table_execution::cuda::Cuda::new(0).unwrap());
        check(&device, &other);
    }
}
