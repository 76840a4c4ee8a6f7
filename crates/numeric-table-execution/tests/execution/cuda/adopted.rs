//! Memory of other libraries: in both directions, in order, given back once, and never believed blindly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use numeric_table::array::MemoryKind;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::{Cuda, CudaOrder};
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::*;
use test_support::bits::Random;
use test_support::tables::assert_fault;

use super::kinds::values_of;
use super::other::Other;
use super::{Alone, Fake, INVALID_VALUE, LONELY, Slow, need_device};

/// Counts the calls of deleters.
#[derive(Clone, Default)]
pub(super) struct Calls(Arc<AtomicUsize>);

impl Calls {
    pub(super) fn deleter(&self) -> impl FnOnce() + Send + 'static + use<> {
        let calls = self.0.clone();
        move || _ = calls.fetch_add(1, SeqCst)
    }

    pub(super) fn now(&self) -> usize {
        self.0.load(SeqCst)
    }

    /// Waits for this number of calls, and then a moment longer, to see that no more follow.
    pub(super) fn wait(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.now() < count && Instant::now() < deadline {
            std::thread::sleep(Duration::from_micros(100));
        }
        assert_eq!(self.now(), count);
    }
}

/// Adopts memory for reading and writing, on which no work is going on.
pub(super) fn adopt<T: Element>(device: &Cuda, address: u64, count: usize, calls: &Calls) -> DeviceArray<T, Cuda> {
    // SAFETY: tests free the memory after the deleter was called, and use it in between only when this array does not.
    unsafe { DeviceArray::from_raw_mut(device, address, count, MemoryKind::Device, calls.deleter(), &[]) }.unwrap()
}

/// The same, for reading.
fn adopt_read_only<T: Element>(device: &Cuda, address: u64, count: usize, calls: &Calls) -> DeviceArray<T, Cuda> {
    // SAFETY: as above.
    unsafe { DeviceArray::from_raw(device, address, count, MemoryKind::Device, calls.deleter(), &[]) }.unwrap()
}

/// Bytes that the fake driver has copied to the device and from it.
fn crossed(device: i32) -> Option<[u64; 2]> {
    Fake::find().map(|fake| [7, 8].map(|what| (fake.control)(what, device, 0)))
}

#[test]
fn a_tensor_becomes_a_table_is_changed_in_place_and_nothing_crosses() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let values: Vec<f64> = (0..3000).map(|i| f64::from(i) * 0.25).collect();
    let address = other.values(&values);
    {
        let stats = device.stats();
        let array = adopt::<f64>(&device, address, values.len(), &calls);
        assert_eq!((array.as_raw().unwrap().address(), array.memory_kind()), (address, MemoryKind::Device));
        let shape = Shape { rows: 1000, columns: 3 };
        let mut table = DeviceTable::from_handle(array.into_handle(), shape, DataLayout::RowMajor).unwrap();
        let small = table.convert::<i32>(ConversionPolicy::Saturate).unwrap();
        device.convert(small.view().unwrap(), table.view_mut().unwrap(), Default::default()).unwrap();
        let handle = table.into_handle();
        assert!(handle.is_on_device() && !handle.is_on_host());
        let crossing = device.stats() - stats;
        assert_eq!((crossing.uploads, crossing.downloads, crossing.duplicates), Default::default());
    }
    calls.wait(1);
    let whole: Vec<f64> = values.iter().map(|value| value.trunc()).collect();
    assert_eq!(other.read::<f64>(address, values.len()), whole);
    other.free(address);
}

/// A library may give away memory at any multiple of its values.
#[test]
fn values_are_cast_only_to_types_that_their_address_is_aligned_for() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let address = other.values(&[1_u8; 64]);
    type Memory = <Cuda as DeviceAdapter>::Memory;
    for (first, widths) in [(0, [true; 4]), (2, [true, true, false, false]), (4, [true, true, true, false])] {
        let array = adopt::<u8>(&device, address + first, 16, &calls);
        let view = || array.view().unwrap();
        let found = [
            Memory::cast::<u8, u8>(view()).is_some(),
            Memory::cast::<u8, i16>(view()).is_some(),
            Memory::cast::<u8, f32>(view()).is_some(),
            Memory::cast::<u8, f64>(view()).is_some(),
        ];
        assert_eq!(found, widths);
        let mut wide = DeviceArray::<f64, _>::allocate(&device, 15).unwrap();
        let part = Memory::part(view(), 1..16); // at an odd address
        device.convert(part, wide.view_mut().unwrap(), Default::default()).unwrap();
        assert_eq!(wide.to_array().unwrap()[..], [1.0; 15]);
    }
    calls.wait(3);
    other.free(address);
}

/// On a device that no other test uses: the driver has copied no byte between the program and the device.
#[test]
fn the_driver_has_copied_nothing_for_a_tensor_that_is_changed_in_place() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other, calls) = (alone.open(), Other::new(LONELY), Calls::default());
    let address = other.values(&[1.75_f32; 900]);
    let before = crossed(LONELY);
    let mut array = adopt::<f32>(&device, address, 900, &calls);
    let mut bytes = DeviceArray::<u8, _>::allocate(&device, 900).unwrap();
    device.convert(array.view().unwrap(), bytes.view_mut().unwrap(), Default::default()).unwrap();
    device.convert(bytes.view().unwrap(), array.mutable_view().unwrap(), Default::default()).unwrap();
    drop(array);
    calls.wait(1);
    assert_eq!(crossed(LONELY), before);
    assert_eq!(other.read::<f32>(address, 900), [1.0; 900]);
    other.free(address);
    drop((bytes, device, other));
    alone.check();
}

#[test]
fn the_first_write_to_memory_that_may_only_be_read_copies_it() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let address = other.values(&[1_i32, 2, 3, 4]);
    let mut array = adopt_read_only::<i32>(&device, address, 4, &calls);
    assert!(!array.has_mutable_data());
    assert_fault!(array.mutable_view(), HandleError::ReadOnly);
    assert_eq!(array.to_array().unwrap()[..], [1, 2, 3, 4]);
    device.fill(array.view_mut().unwrap(), 7).unwrap();
    assert_ne!(array.as_raw().unwrap().address(), address);
    assert!(array.has_mutable_data());
    calls.wait(1);
    assert_eq!(array.to_array().unwrap()[..], [7; 4]);
    assert_eq!(other.read::<i32>(address, 4), [1, 2, 3, 4]);

    // As the memory of an output, or of other values, it is not used either.
    for way in 0..3 {
        let mut handle = adopt_read_only::<i32>(&device, address, 4, &calls).into_handle();
        match way {
            0 => device.fill(handle.prepare_for_output(3).unwrap(), 9).unwrap(),
            1 => handle.set_values(0, &[5]).unwrap(),
            _ => {
                handle.write_portal().unwrap()[0] = 5;
                handle.prepare_for_input().unwrap();
            }
        }
        drop(handle);
        calls.wait(2 + way);
        assert_eq!(other.read::<i32>(address, 4), [1, 2, 3, 4]);
    }
    other.free(address);
}

#[test]
fn a_clone_of_memory_that_may_be_written_keeps_its_values() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let address = other.values(&[1_i32, 2, 3, 4]);
    let mut array = adopt::<i32>(&device, address, 4, &calls);
    let clone = array.clone();
    assert_fault!(array.mutable_view(), HandleError::ReadOnly);
    device.fill(array.view_mut().unwrap(), 7).unwrap(); // copies: the clone has the memory now
    assert_eq!(
        (array.to_array().unwrap()[..].to_vec(), clone.to_array().unwrap()[..].to_vec()),
        (vec![7; 4], vec![1, 2, 3, 4])
    );
    assert_eq!(clone.as_raw().unwrap().address(), address);
    drop(array);
    assert_eq!(calls.now(), 0);
    drop(clone);
    calls.wait(1);
    other.free(address);
}

/// Streams are slow, and nothing waits on the CPU.
#[test]
fn both_libraries_see_what_the_other_one_has_written_before() {
    need_device!();
    let _slow = Slow::start();
    for round in 0..30 {
        let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
        let (address, twin) = (other.allocate(4 * 5000), other.allocate(4 * 5000));
        other.write(twin, &[round; 5000]);
        other.copy(address, twin, 4 * 5000); // it is going on
        let event = other.event();
        let after = match round % 3 {
            0 => vec![CudaOrder::Stream(other.stream)],
            1 => vec![CudaOrder::Event(event)],
            _ => vec![CudaOrder::Event(event), CudaOrder::Stream(other.stream), CudaOrder::Stream(1)],
        };
        // SAFETY: the memory is freed after the deleter was called; all work of the other library is ordered.
        let mut array = unsafe {
            DeviceArray::<i32, _>::from_raw_mut(&device, address, 5000, MemoryKind::Device, calls.deleter(), &after)
        }
        .unwrap();
        other.destroy_event(event);
        let mut wide = DeviceArray::<i64, _>::allocate(&device, 5000).unwrap();
        device.convert(array.view().unwrap(), wide.view_mut().unwrap(), Default::default()).unwrap();
        device.fill(array.view_mut().unwrap(), -round).unwrap();

        let mut raw = array.as_raw_mut().unwrap();
        // SAFETY: the stream is alive.
        unsafe { raw.make_wait(other.stream) }.unwrap();
        other.copy(twin, address, 4 * 5000); // what was filled in
        other.write(address, &[round + 100; 5000]);
        // SAFETY: the stream is alive.
        unsafe { raw.wait_for(CudaOrder::Stream(other.stream)) }.unwrap();
        assert_eq!(array.to_array().unwrap()[..], [round + 100; 5000]);
        assert_eq!(other.read::<i32>(twin, 5000), [-round; 5000]);
        assert_eq!(wide.to_array().unwrap()[..], [i64::from(round); 5000]);

        // A read of the other library ends before a write of this one begins.
        let mut raw = array.as_raw().unwrap();
        // SAFETY: the stream is alive.
        unsafe { raw.make_wait(other.stream) }.unwrap();
        other.copy(twin, address, 4 * 5000);
        // SAFETY: the stream is alive.
        unsafe { raw.wait_for(CudaOrder::Stream(other.stream)) }.unwrap();
        drop(raw);
        device.fill(array.mutable_view().unwrap(), 1).unwrap();
        assert_eq!(other.read::<i32>(twin, 5000), [round + 100; 5000]);
        array.as_raw_mut().unwrap().wait().unwrap();
        assert_eq!(other.read::<i32>(address, 5000), [1; 5000]);

        // The memory is given back after the last kernel, though nothing waits for that.
        device.fill(array.view_mut().unwrap(), 2).unwrap();
        drop(array);
        calls.wait(1);
        assert_eq!(other.read::<i32>(address, 5000), [2; 5000]);
        other.free(address);
        other.free(twin);
    }
}

#[test]
fn work_that_was_submitted_here_comes_first() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let address = other.values(&[1_i32; 3000]);
    let mut first = adopt::<i32>(&device, address, 3000, &calls);
    let filled = device.submit(&[], |device| device.fill(first.view_mut()?, 5)).unwrap();
    // SAFETY: the same memory, after that work; the first array does not use it any more.
    let second = unsafe {
        let after = [CudaOrder::Submitted(filled)];
        DeviceArray::<i32, _>::from_raw(&device, address, 3000, MemoryKind::Device, calls.deleter(), &after)
    }
    .unwrap();
    assert_eq!(second.to_array().unwrap()[..], [5; 3000]);
    drop((first, second));
    calls.wait(2);
    other.free(address);
}

/// A deleter that uses the device, which would wait forever if a lock of it was held.
#[test]
fn a_deleter_may_use_the_device() {
    let Some(alone) = Alone::wait() else { return };
    const ROOM: usize = 1 << 16;
    let limit = alone.fake.limit(LONELY, ROOM as u64);
    let (device, other, calls) = (alone.open(), Other::new(LONELY), Calls::default());
    let addresses: Vec<u64> = (0..8).map(|_| other.values(&[1_i32; 256])).collect();
    let besides = ROOM - addresses.len() * size_of::<[i32; 256]>(); // the bytes that no tensor has
    for (way, &address) in addresses.iter().enumerate() {
        let (deleter, user) = (calls.deleter(), device.clone());
        let delete = move || {
            let handle = ArrayHandle::from_container(&user, vec![1_u8; 100]);
            handle.prepare_for_input().unwrap();
            user.synchronize().unwrap();
            deleter();
        };
        // SAFETY: the memory is freed at the end.
        let array =
            unsafe { DeviceArray::<i32, _>::from_raw(&device, address, 256, MemoryKind::Device, delete, &[]) }.unwrap();
        let mut handle = array.into_handle();
        match way {
            0 => {}
            1 => handle.discard(),
            2 => handle.release_execution().unwrap(),
            3 => _ = handle.prepare_for_output(1000).unwrap(),
            4 => handle.write_portal().unwrap().fill(3),
            5 => _ = handle.prepare_in_place().unwrap(),
            6 => {
                handle.read_portal().unwrap();
                // Only with the memory of a tensor there would be room: idle copies are freed, but this is not one. The
                // bytes that are free now are no measure: the deleter before may still give its own back.
                let whole = DeviceArray::<u8, _>::allocate(&device, besides + 1);
                assert_fault!(whole, HandleError::DeviceAlloc { .. });
                assert!(handle.is_on_device());
                assert_eq!(calls.now(), way);
            }
            _ => panic_in_deleter(&device, address),
        }
        drop(handle);
        calls.wait(way + 1);
    }
    addresses.iter().for_each(|&address| other.free(address));
    drop(limit);
    drop((device, other));
    alone.check();
}

/// Later deleters are called all the same.
fn panic_in_deleter(device: &Cuda, address: u64) {
    // SAFETY: the memory is freed later; nothing else writes it.
    let array = unsafe {
        DeviceArray::<i32, _>::from_raw(device, address, 256, MemoryKind::Device, || panic!("of a deleter"), &[])
    };
    drop(array.unwrap());
}

#[test]
fn a_deleter_is_called_once_whatever_fails() {
    let Some(alone) = Alone::wait() else { return };
    let mut first = 0;
    loop {
        let (device, other, calls) = (alone.open(), Other::new(LONELY), Calls::default());
        let address = other.values(&[3_i32; 2000]);
        let work = || -> Result<(), HandleError> {
            let after = [CudaOrder::Stream(other.stream)];
            // SAFETY: the memory is freed at the end.
            let mut array = unsafe {
                DeviceArray::<i32, _>::from_raw_mut(&device, address, 2000, MemoryKind::Device, calls.deleter(), &after)
            }?;
            let mut wide = DeviceArray::<i64, _>::allocate(&device, 2000)?;
            device.convert(array.view()?, wide.view_mut()?, Default::default())?;
            device.fill(array.clone().view_mut()?, 1)?;
            let mut raw = array.as_raw_mut()?;
            // SAFETY: the stream is alive.
            unsafe { raw.make_wait(other.stream) }?;
            // SAFETY: as above.
            unsafe { raw.wait_for(CudaOrder::Stream(other.stream)) }?;
            device.fill(array.view_mut()?, 5)?;
            for kind in [MemoryKind::Shared, MemoryKind::Pinned] {
                let mut shared = DeviceArray::<i32, _>::allocate_with_kind(&device, 2000, kind)?;
                device.convert(array.view()?, shared.view_mut()?, Default::default())?;
                assert_eq!(values_of(&mut shared)?, [5; 2000]);
            }
            assert_eq!(array.to_array()?[..], [5; 2000]);
            assert_eq!(wide.to_array()?[..], [3; 2000]);
            Ok(())
        };
        alone.fake.fail("", first, INVALID_VALUE);
        let result = work();
        let has_failed = alone.fake.has_failed();
        calls.wait(1);
        other.free(address);
        drop((device, other));
        alone.check();
        if !has_failed {
            result.unwrap();
            break;
        }
        match result {
            Ok(()) | Err(HandleError::Device(DeviceError::Failed { code: INVALID_VALUE, .. })) => {}
            Err(HandleError::DeviceAlloc { .. }) => {} // how much is free was not to be found out
            Err(error) => panic!("call {first}: {error:?}"),
        }
        first += 1;
    }
    assert!(first > 50, "{first} calls");
}

#[test]
fn a_lost_device_gives_memory_back() {
    let Some(alone) = Alone::wait() else { return };
    for after in 0..8 {
        let (device, other, calls) = (alone.open(), Other::new(LONELY), Calls::default());
        let address = other.values(&[3_i32; 2000]);
        let mut array = adopt::<i32>(&device, address, 2000, &calls);
        alone.fake.lose(LONELY, after);
        let work = (0..4).try_for_each(|value| {
            device.fill(array.view_mut()?, value)?;
            array.to_array().map(|_| ())
        });
        if after < 4 {
            assert!(work.is_err());
        }
        if after % 2 == 0 {
            let _ = device.synchronize();
        }
        drop(array);
        calls.wait(1);
        if device.synchronize().is_err() {
            // SAFETY: it is refused.
            let refused = unsafe {
                DeviceArray::<i32, _>::from_raw(&device, address, 9, MemoryKind::Device, calls.deleter(), &[])
            };
            assert_fault!(refused, HandleError::DeviceLost);
            assert_eq!(calls.now(), 2);
        }
        other.free(address);
        drop((device, other));
        alone.check_alive();
    }
    drop(alone.open());
    alone.check();
}

/// Arrays of this library and of another one, written, shared, converted and dropped without waiting in between.
#[test]
fn random_work_on_memory_of_others_has_the_results_of_its_order() {
    need_device!();
    let _slow = Slow::start();
    for seed in 0..20 {
        let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
        let mut random = Random::quiet(seed);
        const COUNT: usize = 700;
        // Of each memory of the other library, what it must contain in the end.
        let mut memory: Vec<(u64, i32)> = Vec::new();
        // An array, its value, and the memory that it writes in place.
        let mut arrays: Vec<(DeviceArray<i32, Cuda>, i32, Option<usize>)> = Vec::new();
        for step in 0..60 {
            if arrays.len() < 2 || random.below(5) == 0 {
                let address = other.allocate(4 * COUNT);
                other.write(address, &[step; COUNT]);
                let is_mutable = random.below(3) > 0;
                let (kind, after) = (MemoryKind::Device, [CudaOrder::Stream(other.stream)]);
                // SAFETY: the memory is freed at the end.
                let array = unsafe {
                    match is_mutable {
                        true => DeviceArray::from_raw_mut(&device, address, COUNT, kind, calls.deleter(), &after),
                        false => DeviceArray::from_raw(&device, address, COUNT, kind, calls.deleter(), &after),
                    }
                };
                arrays.push((array.unwrap(), step, is_mutable.then_some(memory.len())));
                memory.push((address, step));
                continue;
            }
            let (a, b) = (random.below(arrays.len()), random.below(arrays.len()));
            match random.below(7) {
                0 | 1 => {
                    let (array, value, place) = &mut arrays[a];
                    let is_in_place = array.has_mutable_data();
                    device.fill(array.view_mut().unwrap(), step).unwrap();
                    *value = step;
                    match *place {
                        Some(index) if is_in_place => memory[index].1 = step,
                        _ => *place = None, // it is a copy now
                    }
                }
                2 => {
                    let (array, value, place) = &arrays[a];
                    let clone = (array.clone(), *value, *place);
                    arrays.push(clone);
                }
                3 => drop(arrays.swap_remove(a)),
                4 if a != b => {
                    let value = arrays[a].1;
                    let source = arrays[a].0.clone();
                    let (array, its, place) = &mut arrays[b];
                    let is_in_place = array.has_mutable_data();
                    device.convert(source.view().unwrap(), array.view_mut().unwrap(), Default::default()).unwrap();
                    *its = value;
                    match *place {
                        Some(index) if is_in_place => memory[index].1 = value,
                        _ => *place = None,
                    }
                }
                5 => {
                    let (array, value, _) = &arrays[a];
                    let mut found = [0; 3];
                    array.copy_to_host(COUNT - 3.., &mut found).unwrap();
                    assert_eq!(found, [*value; 3], "seed {seed}, step {step}");
                }
                _ => {
                    let (array, value, _) = &arrays[a];
                    assert_eq!(array.to_array().unwrap()[..], [*value; COUNT], "seed {seed}, step {step}");
                }
            }
        }
        for (array, value, _) in &arrays {
            assert_eq!(array.to_array().unwrap()[..], [*value; COUNT], "seed {seed}");
        }
        drop(arrays);
        calls.wait(memory.len());
        for &(address, value) in &memory {
            assert_eq!(other.read::<i32>(address, COUNT), [value; COUNT], "seed {seed}");
            other.free(address);
        }
    }
}
