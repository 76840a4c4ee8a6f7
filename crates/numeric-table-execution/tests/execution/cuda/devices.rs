//! Devices, several of them, their threads, and their memory when it is full.

use std::sync::Barrier;
use std::thread;

use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::stream::{Convert, StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::bits::Random;
use test_support::tables::assert_fault;

use super::{Alone, LONELY, Slow, need_device, one_at_a_time};

#[test]
fn without_a_driver_a_device_is_unavailable() {
    // Of this number there is none anywhere; without a driver, there is none at all.
    for number in [usize::MAX, 1 << 31, 1000] {
        assert_fault!(Cuda::new(number), HandleError::Device(DeviceError::Unavailable { .. }));
    }
    let _guard = one_at_a_time();
    match Cuda::count() {
        Ok(count) => assert_eq!(Cuda::all().unwrap().len(), count),
        Err(error) => {
            assert!(matches!(error, HandleError::Device(DeviceError::Unavailable { .. })), "{error:?}");
            assert!(error.to_string().ends_with("is missing"), "{error}");
            assert_fault!(Cuda::all(), HandleError::Device(DeviceError::Unavailable { .. }));
        }
    }
}

#[test]
fn a_device_says_what_it_is() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    assert_eq!((device.id().to_string(), device.clone().id()), ("cuda 0".to_owned(), device.id()));
    assert!(!device.name().unwrap().is_empty());
    let (free, all) = device.memory_info().unwrap();
    assert!(0 < free && free <= all);
}

#[test]
fn each_device_has_its_own_values_and_refuses_views_of_others() {
    need_device!();
    let _guard = one_at_a_time();
    let mut devices = Cuda::all().unwrap();
    devices.extend(Cuda::all().unwrap()); // the same devices are others, each with its own streams
    let handles: Vec<_> =
        (0..).zip(&devices).map(|(i, device)| ArrayHandle::from_container(device, vec![i; 1000])).collect();
    for _ in 0..3 {
        // In turn, on one thread, whose context is then always another device's.
        for ((i, device), handle) in (0..).zip(&devices).zip(&handles) {
            let mut wide = ArrayHandle::<f64, _>::empty(device);
            let (from, to) = (handle.prepare_for_input().unwrap(), wide.prepare_for_output(1000).unwrap());
            device.convert(from, to, Default::default()).unwrap();
            assert_eq!(wide.read_portal().unwrap(), [f64::from(i); 1000]);
        }
    }
    for (i, device) in devices.iter().enumerate() {
        let foreign = handles[(i + 1) % handles.len()].prepare_for_input().unwrap();
        let mut output = ArrayHandle::<i32, _>::empty(device);
        let output = output.prepare_for_output(1000).unwrap();
        assert_fault!(device.convert(foreign, output, Default::default()), HandleError::WrongDevice);
    }
}

#[test]
fn threads_have_handles_on_one_device() {
    need_device!();
    let (device, barrier) = (Cuda::new(0).unwrap(), Barrier::new(8));
    let shared = ArrayHandle::from_container(&device, Array::from((0..5000).collect::<Vec<i32>>()));
    thread::scope(|scope| {
        for number in 0..8 {
            let (device, barrier, shared) = (&device, &barrier, &shared);
            scope.spawn(move || {
                barrier.wait();
                let mut random = Random::quiet(number);
                for _ in 0..30 {
                    let count = 1 + random.below(20_000);
                    let own = ArrayHandle::from_container(device, vec![number as i16; count]);
                    let mut sum = ArrayHandle::<f32, _>::empty(device);
                    let (from, to) = (own.prepare_for_input().unwrap(), sum.prepare_for_output(count).unwrap());
                    device.convert(from, to, Default::default()).unwrap();
                    let mut copy = shared.clone();
                    if random.below(2) == 0 {
                        device.fill(copy.prepare_in_place().unwrap(), number as i32).unwrap();
                        assert_eq!(copy.get_values(&[0, 4999]).unwrap(), [number as i32; 2]);
                    } else {
                        assert_eq!(copy.get_values(&[7, 4999]).unwrap(), [7, 4999]);
                    }
                    drop(own);
                    assert!(sum.into_container().unwrap().iter().all(|&value| value == number as f32));
                }
            });
        }
    });
    assert_eq!(shared.into_container().unwrap()[4999], 4999);
}

#[test]
fn a_thread_that_has_not_used_the_device_launches_kernels() {
    need_device!();
    let _guard = one_at_a_time();
    let devices = Cuda::all().unwrap();
    let mut handles: Vec<_> = devices.iter().map(ArrayHandle::<u16, _>::empty).collect();
    let outputs: Vec<_> = handles.iter_mut().map(|handle| handle.prepare_for_output(10).unwrap()).collect();
    thread::scope(|scope| {
        let launch = || devices.iter().zip(outputs).for_each(|(device, output)| device.fill(output, 5).unwrap());
        scope.spawn(launch);
    });
    assert!(handles.iter().all(|handle| handle.read_portal().unwrap() == [5; 10]));
}

#[test]
fn threads_read_a_block_that_is_then_written() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    for round in 0..60 {
        let mut input = ArrayHandle::from_container(&device, vec![round; 4000]);
        let outputs: Vec<_> = thread::scope(|scope| {
            let (device, input) = (&device, &input);
            let launch = |_| {
                scope.spawn(move || {
                    let mut output = ArrayHandle::<i64, _>::empty(device);
                    let to = output.prepare_for_output(4000).unwrap();
                    device.convert(input.prepare_for_input().unwrap(), to, Default::default()).unwrap();
                    output
                })
            };
            let threads: Vec<_> = (0..4).map(launch).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // The kernels may still be reading.
        input.write_portal().unwrap().fill(-1);
        input.prepare_for_input().unwrap();
        if round % 2 == 0 {
            drop(input);
        }
        for output in outputs {
            assert_eq!(output.into_container().unwrap()[..], [i64::from(round); 4000]);
        }
    }
}

#[test]
fn a_full_device_frees_idle_copies_and_says_what_is_free() {
    let Some(alone) = Alone::wait() else { return };
    let limit = alone.fake.limit(LONELY, 1 << 20);
    let device = alone.open();
    let quarter = || vec![3_u8; 1 << 18];
    let handles: Vec<_> = (0..3).map(|_| ArrayHandle::from_container(&device, quarter())).collect();
    handles.iter().for_each(|handle| drop(handle.prepare_for_input().unwrap()));
    let mut large = ArrayHandle::<u8, _>::empty(&device);
    device.fill(large.prepare_for_output(3 << 18).unwrap(), 7).unwrap(); // in the place of all copies
    assert!(handles.iter().all(|handle| !handle.is_on_device() && handle.is_on_host()));
    // Now nothing is idle.
    let view = handles[0].prepare_for_input().unwrap();
    let mut other = ArrayHandle::<u8, _>::empty(&device);
    assert_fault!(other.prepare_for_output(1), HandleError::DeviceAlloc { bytes: 1, free: Some(0) });
    drop(view);
    other.prepare_for_output(1).unwrap();
    assert_eq!((large.get_values(&[0]).unwrap(), handles[0].get_values(&[0]).unwrap()), (vec![7], vec![3]));
    drop((large, other, handles, device));
    drop(limit);
    alone.check();
}

#[test]
fn what_is_dropped_in_any_order_is_freed() {
    let Some(alone) = Alone::wait() else { return };
    for order in 0..6 {
        let device = alone.open();
        let mut handle = ArrayHandle::from_container(&device, device.pinned::<f32>(100_000).unwrap());
        handle.write_portal().unwrap().fill(1.5);
        let table =
            HomogenNumericTable::full_with_layout(Shape { rows: 5000, columns: 3 }, 2_i16, DataLayout::ColumnMajor)
                .unwrap();
        let options = StreamOptions { rows: 700, ..Default::default() };
        let mut stream = table.stream_rows::<f32, _>(&device, options).unwrap();
        let block = stream.next().unwrap().unwrap();
        let mut wide = ArrayHandle::<f64, _>::empty(&device);
        let to = wide.prepare_for_output(block.shape().element_count().unwrap()).unwrap();
        device.convert(block.view(), to, Default::default()).unwrap();
        let view = handle.prepare_for_input().unwrap();
        let mut twice = DeviceArray::<f64, _>::allocate(&device, 100_000).unwrap();
        device.convert(view, twice.view_mut().unwrap(), Default::default()).unwrap();
        match order {
            0 => drop((device, stream, wide, handle, twice)),
            1 => drop((stream, handle, wide, twice, device)),
            2 => drop((handle, device, twice, stream, wide)),
            3 => drop((wide, twice, stream, device, handle)),
            4 => thread::spawn(move || drop((device, wide, handle, twice))).join().unwrap(),
            _ => {
                stream.finish().unwrap();
                drop((twice, device, handle));
                assert_eq!(wide.get_values(&[0]).unwrap(), [2.0]);
            }
        }
    }
    alone.check();
}

#[test]
fn rows_that_are_streamed_are_those_of_the_table() {
    need_device!();
    let device = Cuda::new(0).unwrap();
    for (layout, rows, slots) in [
        (DataLayout::RowMajor, 1, 2),
        (DataLayout::RowMajor, 64, 3),
        (DataLayout::ColumnMajor, 7, 3),
        (DataLayout::ColumnMajor, 300, 1),
    ] {
        let values: Vec<i16> = (0..999 * 3).map(|value| (value % 30_011) as i16).collect();
        let table =
            HomogenNumericTable::from_array_with_layout(Array::from(values), Shape { rows: 999, columns: 3 }, layout)
                .unwrap();
        for convert in [Convert::Auto, Convert::Control] {
            let options = StreamOptions { rows, slots, convert, ..Default::default() };
            let mut stream = table.stream_rows::<f32, _>(&device, options).unwrap();
            let mut results = Vec::new();
            while let Some(block) = stream.next().unwrap() {
                // Results are read only when all blocks have gone.
                let mut result = DeviceArray::<f64, _>::allocate(&device, block.view().len()).unwrap();
                device.convert(block.view(), result.view_mut().unwrap(), Default::default()).unwrap();
                results.push((block.row_range(), result));
            }
            stream.finish().unwrap();
            for (rows, result) in results {
                assert_eq!(result.to_array().unwrap()[..], table.rows::<f64>(rows.clone()).unwrap()[..], "{rows:?}");
            }
        }
    }
}

/// Blocks of many sizes are written, read, copied and dropped, without waiting in between.
#[test]
fn random_work_has_the_results_of_its_order() {
    need_device!();
    let _slow = Slow::start();
    for seed in 0..30 {
        let (device, mut random) = (Cuda::new(0).unwrap(), Random::quiet(seed));
        let mut arrays: Vec<(ArrayHandle<i32, Cuda>, i32, usize)> = Vec::new();
        for step in 0..40 {
            let fresh = |count: usize| {
                let mut handle = ArrayHandle::empty(&device);
                device.fill(handle.prepare_for_output(count).unwrap(), step).unwrap();
                (handle, step, count)
            };
            if arrays.len() < 2 {
                arrays.push(fresh(1 + random.below(3000)));
                continue;
            }
            let (a, b) = (random.below(arrays.len()), random.below(arrays.len()));
            match random.below(6) {
                0 => arrays.push(fresh(1 + random.below(3000))),
                1 => drop(arrays.swap_remove(a)),
                2 => {
                    let copy = (arrays[a].0.clone(), arrays[a].1, arrays[a].2);
                    arrays.push(copy);
                }
                3 => {
                    arrays[a].0.write_portal().unwrap().fill(step);
                    arrays[a].1 = step;
                }
                4 => {
                    device.fill(arrays[a].0.prepare_in_place().unwrap(), step).unwrap();
                    arrays[a].1 = step;
                }
                _ if a != b => {
                    let [from, to] = arrays.get_disjoint_mut([a, b]).unwrap();
                    let output = to.0.prepare_for_output(from.2).unwrap();
                    device.convert(from.0.prepare_for_input().unwrap(), output, Default::default()).unwrap();
                    (to.1, to.2) = (from.1, from.2);
                }
                _ => drop(arrays[a].0.prepare_for_input().unwrap()),
            }
        }
        for (handle, value, count) in arrays {
            assert_eq!(handle.into_container().unwrap()[..], vec![value; count], "seed {seed}");
        }
    }
}
