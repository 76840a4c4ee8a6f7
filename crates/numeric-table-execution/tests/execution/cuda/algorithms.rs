//! Algorithms on CUDA devices: what only these have.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use numeric_table_execution::*;
use test_support::bits::Random;
use test_support::tables::assert_fault;

use super::adopted::{Calls, adopt};
use super::other::Other;
use super::{Alone, INVALID_VALUE, LONELY, need_device};
use crate::conformance::algorithms::outputs_of_another_device_keep_their_values;

const COUNT: usize = 5000;

/// Keys, and the values that belong to them.
fn pairs() -> (Vec<f32>, Vec<u16>) {
    let mut random = Random::quiet(61);
    (0..COUNT).map(|_| random.below(2000) as u16).map(|value| (f32::from(value) - 1000.0, value)).unzip()
}

#[test]
fn a_call_of_the_driver_that_fails_leaves_keys_and_values_as_they_were() {
    let Some(alone) = Alone::wait() else { return };
    let (all_keys, all_values) = pairs();
    let mut first = 0;
    loop {
        let device = alone.open();
        let mut keys = ArrayHandle::from_container(&device, all_keys.clone());
        let mut values = ArrayHandle::from_container(&device, all_values.clone());
        keys.prepare_for_input().unwrap();
        values.prepare_in_place().unwrap(); // the only copy
        alone.fake.fail("", first, INVALID_VALUE);
        let result = device.sort_by_key(&mut keys, &mut values);
        let has_failed = alone.fake.has_failed();
        if result.is_err() {
            assert_eq!(keys.read_portal().unwrap(), all_keys);
            assert_eq!(values.read_portal().unwrap(), all_values);
        } else {
            assert!(keys.read_portal().unwrap().is_sorted() && values.read_portal().unwrap().is_sorted());
        }
        drop((keys, values, device));
        alone.check();
        if !has_failed {
            result.unwrap();
            break;
        }
        first += 1;
    }
    assert!(first > 50, "{first} calls");
}

#[test]
fn a_device_without_the_temporary_memory_refuses_before_it_writes() {
    let Some(alone) = Alone::wait() else { return };
    let (all_keys, all_values) = pairs();
    let device = alone.open();
    let mut keys = ArrayHandle::from_container(&device, all_keys.clone());
    let mut values = ArrayHandle::from_container(&device, all_values.clone());
    let mut order = ArrayHandle::<u64, _, Vec<u64>>::empty(&device);
    device.fill(order.prepare_for_output(COUNT).unwrap(), 7).unwrap();
    keys.prepare_for_input().unwrap();
    values.prepare_for_input().unwrap();
    for room in [0, 70_000, 100_000, 140_000] {
        let _limit = alone.fake.limit(LONELY, room);
        assert_fault!(
            device.sort_indices(keys.prepare_for_input().unwrap(), &mut order),
            HandleError::DeviceAlloc { .. }
        );
        assert_fault!(device.sort_by_key(&mut keys, &mut values), HandleError::DeviceAlloc { .. });
    }
    assert_eq!(order.read_portal().unwrap(), [7; COUNT]);
    assert_eq!((keys.read_portal().unwrap(), values.read_portal().unwrap()), (&all_keys[..], &all_values[..]));
    device.sort_by_key(&mut keys, &mut values).unwrap();
    assert!(keys.read_portal().unwrap().is_sorted() && values.read_portal().unwrap().is_sorted());
    drop((keys, values, order, device));
    alone.check();
}

#[test]
fn memory_of_another_library_is_sorted_in_place() {
    need_device!();
    let (device, other, calls) = (cuda(), Other::new(0), Calls::default());
    let (all_keys, all_values) = pairs();
    let addresses = (other.values(&all_keys), other.values(&all_values));
    {
        let mut keys = adopt::<f32>(&device, addresses.0, COUNT, &calls).into_handle();
        let mut values = adopt::<u16>(&device, addresses.1, COUNT, &calls).into_handle();
        device.sort_by_key(&mut keys, &mut values).unwrap();
        device.synchronize().unwrap();
    }
    calls.wait(2);
    let (keys, values) = (other.read::<f32>(addresses.0, COUNT), other.read::<u16>(addresses.1, COUNT));
    assert!(keys.is_sorted() && values.is_sorted());
    assert!(keys.iter().zip(&values).all(|(&key, &value)| key == f32::from(value) - 1000.0));
    other.free(addresses.0);
    other.free(addresses.1);
}

/// Whether keys are sorted in place depends on the clone, which goes away at any moment of the call.
#[test]
fn keys_are_sorted_while_another_thread_drops_a_clone_of_them() {
    need_device!();
    let (device, other, calls) = (cuda(), Other::new(0), Calls::default());
    // So few that the end of the call, where the clone matters, is much of it.
    let (all_keys, all_values) = ([3_u8, 2, 1, 0], [3_u16, 2, 1, 0]);
    let rounds = 600;
    let addresses: Vec<_> = (0..rounds).map(|_| (other.values(&all_keys), other.values(&all_values))).collect();
    let (mut length, mut unsorted) = (Duration::ZERO, 0);
    for (round, &(of_keys, of_values)) in addresses.iter().enumerate() {
        let mut keys = adopt::<u8>(&device, of_keys, 4, &calls).into_handle();
        let mut values = adopt::<u16>(&device, of_values, 4, &calls).into_handle();
        let clone = keys.clone();
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            let (start, pause) = (&start, length.mul_f64(0.5 + (round % 50) as f64 / 80.0));
            scope.spawn(move || {
                start.wait();
                let moment = Instant::now() + pause;
                while Instant::now() < moment {}
                drop(clone);
            });
            start.wait();
            let now = Instant::now();
            device.sort_by_key(&mut keys, &mut values).unwrap();
            length = if round == 0 { now.elapsed() } else { (length * 3 + now.elapsed()) / 4 };
        });
        let (keys, values) = (keys.read_portal().unwrap(), values.read_portal().unwrap());
        unsorted += usize::from(!keys.is_sorted() || !values.is_sorted());
    }
    calls.wait(2 * rounds);
    for (of_keys, of_values) in addresses {
        other.free(of_keys);
        other.free(of_values);
    }
    assert_eq!(unsorted, 0, "of {rounds}");
}

fn cuda() -> cuda::Cuda {
    cuda::Cuda::new(0).unwrap()
}

#[test]
fn views_of_another_device_are_refused() {
    need_device!();
    let Ok(second) = cuda::Cuda::new(1) else { return };
    let device = cuda();
    outputs_of_another_device_keep_their_values(&device, &second);
    let there = ArrayHandle::from_container(&second, vec![1_u8, 2]);
    let here = ArrayHandle::from_container(&device, vec![1_u8, 2]);
    let (there, here) = (|| there.prepare_for_input().unwrap(), || here.prepare_for_input().unwrap());
    let (mut bytes, mut words) = (ArrayHandle::<u8, _>::empty(&device), ArrayHandle::<u64, _>::empty(&device));
    assert_fault!(device.reduce(there(), Reduction::Sum), HandleError::WrongDevice);
    assert_fault!(device.scan_inclusive(there(), Reduction::Sum, &mut bytes), HandleError::WrongDevice);
    assert_fault!(device.scan_exclusive(there(), Reduction::Sum, &mut bytes), HandleError::WrongDevice);
    assert_fault!(device.copy_flagged(there(), here(), &mut bytes), HandleError::WrongDevice);
    assert_fault!(device.copy_flagged(here(), there(), &mut bytes), HandleError::WrongDevice);
    assert_fault!(device.unique(there(), &mut bytes), HandleError::WrongDevice);
    assert_fault!(device.sort_indices(there(), &mut words), HandleError::WrongDevice);
    assert_fault!(device.histogram(there(), &[0.0, 1.0], &mut words), HandleError::WrongDevice);
}
