//! Memory of the program that is registered: arrays that stay so, and slices for the time of a borrow.

use std::thread;

use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::*;

use super::{Alone, Slow, need_device};

const COUNT: usize = 300_000;

/// A copy of what kernels see.
fn seen<T: Element, C: Container<T>>(device: &Cuda, handle: &ArrayHandle<T, Cuda, C>) -> Vec<T> {
    let mut copy = ArrayHandle::<T, _, Vec<T>>::empty(device);
    let to = copy.prepare_for_output(handle.len()).unwrap();
    device.convert(handle.prepare_for_input().unwrap(), to, Default::default()).unwrap();
    copy.into_container().unwrap()
}

#[test]
fn pinned_arrays_hold_zeros_and_then_values() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    assert!(device.pinned::<f64>(0).unwrap().is_empty());
    assert!(device.pinned::<f64>(usize::MAX / 4).is_err());
    let mut array = device.pinned::<i32>(COUNT).unwrap();
    assert!(array.iter().all(|&value| value == 0));
    array.mutable_data().unwrap().iter_mut().zip(0..).for_each(|(place, value)| *place = value);
    let handle = ArrayHandle::from_container(&device, array.clone());
    assert_eq!(seen(&device, &handle), array[..]);
    // A result goes to such memory.
    let mut result = ArrayHandle::from_container(&device, device.pinned::<i32>(COUNT).unwrap());
    device.fill(result.prepare_in_place().unwrap(), 9).unwrap();
    assert_eq!(result.read_portal().unwrap(), [9; COUNT]);
    drop(device); // before the memory
    assert_eq!((array[77], result.into_container().unwrap()[COUNT - 1]), (77, 9));
}

#[test]
fn the_source_of_an_upload_can_be_written_again() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    let mut array = device.pinned::<i32>(COUNT).unwrap();
    let mut ordinary = vec![0; COUNT];
    for round in 0..10 {
        array.mutable_data().unwrap().fill(round);
        ordinary.fill(round);
        let (pinned, other) =
            (ArrayHandle::from_container(&device, &array[..]), ArrayHandle::from_container(&device, &ordinary[..]));
        pinned.prepare_for_input().unwrap();
        other.prepare_for_input().unwrap();
        let (pinned, other) = (pinned.clone(), other.clone()); // the values on the device, without a wait
        let registered = device.register(&ordinary).unwrap();
        let third = ArrayHandle::from_container(&device, registered);
        third.prepare_for_input().unwrap();
        assert_eq!(seen(&device, &third), [round; COUNT]);
        assert_eq!((seen(&device, &pinned), seen(&device, &other)), (vec![round; COUNT], vec![round; COUNT]));
    }
}

#[test]
fn a_registered_slice_is_read_only_and_is_not_shared_after_the_borrow() {
    let Some(alone) = Alone::wait() else { return };
    let device = alone.open();
    let mut values = vec![1_u16; COUNT];
    let mut handle = ArrayHandle::from_container(&device, device.register(&values).unwrap());
    assert!(matches!(handle.prepare_for_output(COUNT), Err(HandleError::ReadOnly)));
    assert_eq!(seen(&device, &handle), [1; COUNT]);
    assert_eq!(alone.fake.alive(super::LONELY)[2], 2); // and a block of staging, for what came back
    drop(handle);
    values.fill(2);
    let registered = device.register(&values).unwrap();
    let again = device.register(&values[10..20]).unwrap(); // is registered already, for a while
    drop(registered);
    let handle = ArrayHandle::from_container(&device, again);
    assert_eq!(seen(&device, &handle), [2; 10]);
    drop((handle, device));
    alone.check();
}

/// Rows of a table are copied while another thread registers and unregisters its values.
#[test]
fn memory_is_unregistered_after_the_copies_of_others() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other) = (alone.open(), Cuda::new(0).unwrap());
    let values: Array<f32> = (0..60_000).map(|value| value as f32).collect::<Vec<_>>().into();
    let table = HomogenNumericTable::from_array(values.clone(), Shape { rows: 20_000, columns: 3 }).unwrap();
    for round in 0..20 {
        let registered = if round % 2 == 0 { &other } else { &device }.register(&values[..]).unwrap();
        let options = StreamOptions { rows: 5000, slots: 4, ..Default::default() };
        let mut stream = table.stream_rows::<f32, _>(&device, options).unwrap();
        let mut results = Vec::new();
        let mut registered = Some(registered);
        while let Some(block) = stream.next().unwrap() {
            let mut result = DeviceArray::<f64, _>::allocate(&device, block.view().len()).unwrap();
            device.convert(block.view(), result.view_mut().unwrap(), Default::default()).unwrap();
            results.push(result);
            if results.len() == 2 {
                registered = None; // two copies at least may be going on
            }
        }
        drop((registered, stream));
        let all: Vec<f64> = results.iter().flat_map(|result| result.to_array().unwrap().to_vec()).collect();
        assert!(all.iter().zip(&values[..]).all(|(&found, &value)| found == f64::from(value)));
    }
    drop((device, other));
    alone.check();
}

#[test]
fn the_last_owner_of_a_pinned_array_can_go_while_it_is_copied() {
    let Some(alone) = Alone::wait() else { return };
    let slow = Slow::start();
    for round in 0..10 {
        let device = alone.open();
        let mut array = device.pinned::<i32>(30_000).unwrap();
        array.mutable_data().unwrap().fill(round);
        let table = HomogenNumericTable::from_array(array, Shape { rows: 10_000, columns: 3 }).unwrap();
        let options = StreamOptions { rows: 4000, ..Default::default() };
        let mut stream = table.stream_rows::<i32, _>(&device, options).unwrap();
        let mut results = Vec::new();
        while let Some(block) = stream.next().unwrap() {
            let mut result = DeviceArray::<i32, _>::allocate(&device, block.view().len()).unwrap();
            device.convert(block.view(), result.view_mut().unwrap(), Default::default()).unwrap();
            results.push(result);
        }
        drop(stream);
        drop(table); // only the copies that are going on have a share of it
        for result in results {
            assert!(result.to_array().unwrap().iter().all(|&value| value == round));
        }
    }
    drop(slow);
    alone.check();
}

#[test]
fn pages_that_are_refused_are_copied_as_others_are() {
    let Some(alone) = Alone::wait() else { return };
    let refused = alone.fake.refuse_pages();
    let device = alone.open();
    let mut array = device.pinned::<i32>(COUNT).unwrap();
    array.mutable_data().unwrap().fill(5);
    let handle = ArrayHandle::from_container(&device, array);
    assert_eq!(seen(&device, &handle), [5; COUNT]);
    assert!(device.register(&[1, 2, 3]).is_err());
    assert!(device.register(&[0_u8; 0]).is_ok());
    assert_eq!(alone.fake.alive(super::LONELY)[2], 0);
    drop(refused);
    device.register(&[1, 2, 3]).unwrap();
    drop((handle, device));
    alone.check();
}

#[test]
fn large_values_cross_in_pieces_of_every_length() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    const PIECE: usize = 8 << 20;
    thread::scope(|scope| {
        for count in [PIECE - 1, PIECE + 1, 5 * PIECE + 77] {
            let device = &device;
            scope.spawn(move || {
                let values: Vec<u8> = (0..count).map(|i| (i % 251) as u8).collect();
                let handle = ArrayHandle::from_container(device, &values[..]);
                assert!(seen(device, &handle) == values, "{count}");
                let mut part = vec![0; count - 3];
                let array = DeviceArray::from_slice(device, &values).unwrap();
                array.copy_to_host(2..count - 1, &mut part).unwrap();
                assert!(part == values[2..count - 1]);
            });
        }
    });
}
