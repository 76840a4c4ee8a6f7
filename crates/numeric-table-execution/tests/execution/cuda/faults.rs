//! If the driver refuses a call, valid copies remain valid, and nothing leaks; a lost device leaves the program's
//! copies.

use std::thread;

use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::*;
use test_support::tables::assert_fault;

use super::{Alone, INVALID_VALUE, LONELY, Slow};

type Result<T> = std::result::Result<T, HandleError>;

const COUNT: usize = 4_000;

/// Work of every kind, and the values that must be valid after any failure.
struct Work {
    device: Cuda,
    plain: ArrayHandle<i32, Cuda, Vec<i32>>,
    pinned: ArrayHandle<i32, Cuda>,
    result: ArrayHandle<f64, Cuda>,
    table: HomogenNumericTable<i16>,
}

impl Work {
    fn new(device: Cuda) -> Self {
        let mut array = device.pinned::<i32>(COUNT).unwrap();
        array.mutable_data().unwrap().fill(2);
        let mut result = ArrayHandle::empty(&device);
        device.fill(result.prepare_for_output(COUNT).unwrap(), 3.0).unwrap();
        Self {
            plain: ArrayHandle::from_container(&device, vec![1; COUNT]),
            pinned: ArrayHandle::from_container(&device, array),
            result,
            table: HomogenNumericTable::full_with_layout(
                Shape { rows: 100, columns: 4 },
                4_i16,
                DataLayout::ColumnMajor,
            )
            .unwrap(),
            device,
        }
    }

    /// Work that changes no handle of this.
    fn run(&self) -> Result<()> {
        let mut wide = ArrayHandle::<f32, _>::empty(&self.device);
        for input in [self.plain.prepare_for_input()?, self.pinned.prepare_for_input()?] {
            self.device.convert(input, wide.prepare_for_output(COUNT)?, ConversionPolicy::Checked)?;
        }
        assert_eq!(wide.read_portal()?, [2.0; COUNT]);
        let mut values = vec![0.0; COUNT];
        self.result.copy_into(&mut values)?;
        assert_eq!(values, [3.0; COUNT]);
        let mut clone = self.result.clone();
        self.device.fill(clone.prepare_in_place()?, 5.0)?;
        let (shape, columns) = (Shape { rows: COUNT / 4, columns: 4 }, [3, 0]);
        let mut chosen = DeviceArray::<i32, _>::allocate(&self.device, COUNT / 2)?;
        let input = self.plain.prepare_for_input()?;
        self.device.gather_columns(input, shape, DataLayout::RowMajor, &columns, chosen.view_mut()?)?;
        assert_eq!(chosen.to_array()?[..], [1; COUNT / 2]);
        let borrowed = vec![7_i32; 1000];
        if let Ok(registered) = self.device.register(&borrowed) {
            ArrayHandle::from_container(&self.device, registered).prepare_for_input()?;
        }
        let options = StreamOptions { rows: 30, ..Default::default() };
        let mut stream = self.table.stream_rows::<f32, _>(&self.device, options)?;
        while let Some(block) = stream.next()? {
            let mut copy = DeviceArray::<f32, _>::allocate(&self.device, block.view().len())?;
            self.device.convert(block.view(), copy.view_mut()?, Default::default())?;
            assert!(copy.to_array()?.iter().all(|&value| value == 4.0));
        }
        stream.finish()?;
        self.device.synchronize()?;
        clone.read_portal().map(|values| assert_eq!(values, [5.0; COUNT]))
    }

    fn check(&self) {
        assert_eq!(self.plain.read_portal().unwrap(), [1; COUNT]);
        assert_eq!(self.pinned.read_portal().unwrap(), [2; COUNT]);
        let mut values = vec![0.0; COUNT];
        self.result.copy_into(&mut values).unwrap();
        assert_eq!(values, [3.0; COUNT]);
    }
}

/// Unless the kernel that writes was started: then all of its values are written.
#[test]
fn a_call_of_the_driver_that_fails_leaves_a_table_as_it_was_or_standardizes_it() {
    let Some(alone) = Alone::wait() else { return };
    for is_shared in [false, true] {
        let (mut first, mut unchanged) = (0, 0);
        loop {
            let device = alone.open();
            let values = DeviceArray::from_slice(&device, &[1.0_f64, 7.0, 3.0, 7.0]).unwrap();
            let mut table = DeviceTable::from_strided(values, Shape { rows: 2, columns: 2 }, [2, 1]).unwrap();
            let twin = is_shared.then(|| table.clone());
            alone.fake.fail("", first, INVALID_VALUE);
            let result = table.standardize();
            let has_failed = alone.fake.has_failed();
            let found = table.to_table().unwrap();
            if let Some(twin) = twin {
                assert_eq!(twin.to_table().unwrap().as_slice().unwrap(), [1.0, 7.0, 3.0, 7.0]);
            }
            match result {
                Ok(()) => assert_eq!(found.as_slice().unwrap(), [-1.0, 0.0, 1.0, 0.0], "call {first}"),
                Err(HandleError::Device(DeviceError::Failed { .. }) | HandleError::DeviceAlloc { .. }) => {
                    unchanged += usize::from(found.as_slice().unwrap() == [1.0, 7.0, 3.0, 7.0]);
                    let is_whole = [[1.0, 7.0, 3.0, 7.0], [-1.0, 0.0, 1.0, 0.0]]
                        .contains(&found.as_slice().unwrap().try_into().unwrap());
                    assert!(is_whole, "call {first}: {found}");
                }
                Err(error) => panic!("call {first}: {error}"),
            }
            first += 1;
            if !has_failed {
                break;
            }
        }
        assert!(unchanged > 10, "{unchanged} of {first}");
    }
    alone.check();
}

/// A code that no version of the driver has yet.
const UNKNOWN_CODE: u32 = 99_999;

#[test]
fn a_call_of_the_driver_that_fails_loses_nothing() {
    let Some(alone) = Alone::wait() else { return };
    for code in [INVALID_VALUE, UNKNOWN_CODE] {
        let mut first = 0;
        loop {
            let work = Work::new(alone.open());
            alone.fake.fail("", first, code);
            let result = work.run();
            if !alone.fake.has_failed() {
                result.unwrap();
                work.check();
                break;
            }
            match result {
                Ok(()) | Err(HandleError::DeviceAlloc { .. }) => {}
                Err(HandleError::Device(DeviceError::Failed { code: found, .. })) => {
                    assert_eq!(found, code, "call {first}");
                }
                Err(error) => panic!("call {first}: {error:?}"),
            }
            work.check();
            work.run().unwrap_or_else(|error| panic!("after call {first}: {error}"));
            drop(work);
            alone.check();
            first += 1;
        }
        eprintln!("{first} calls");
        assert!(first > 100);
        alone.check();
    }
}

#[test]
fn opening_a_device_fails_with_the_code_and_leaves_nothing() {
    let Some(alone) = Alone::wait() else { return };
    for code in [INVALID_VALUE, UNKNOWN_CODE] {
        for first in 0.. {
            alone.fake.fail("", first, code);
            let device = Cuda::new(LONELY as usize);
            if !alone.fake.has_failed() {
                device.unwrap();
                assert!(first > 10, "{first} calls");
                break;
            }
            match device {
                Ok(device) => drop(device),
                Err(HandleError::Device(DeviceError::Failed { code: found, .. })) => assert_eq!(found, code),
                Err(error) => panic!("call {first}: {error:?}"),
            }
            alone.check();
        }
    }
    alone.check_alive();
}

#[test]
fn a_registration_that_is_refused_or_fails_to_end_is_no_error() {
    let Some(alone) = Alone::wait() else { return };
    let work = Work::new(alone.open());
    for function in ["cuMemHostRegister_v2", "cuMemHostUnregister", "cuEventDestroy_v2", "cuMemFreeAsync"] {
        alone.fake.fail(function, 0, INVALID_VALUE);
        work.run().unwrap_or_else(|error| panic!("{function}: {error}"));
        alone.fake.has_failed();
        work.check();
    }
    drop(work);
    alone.check();
}

/// The driver does not say whether a copy has ended, while only the copy has a share of its memory.
#[test]
fn memory_is_kept_until_its_copy_is_known_to_have_ended() {
    let Some(alone) = Alone::wait() else { return };
    let slow = Slow::start();
    for round in 0..20 {
        let device = alone.open(); // each time with other streams that are slow
        let options = StreamOptions { rows: 10_000, ..Default::default() };
        let table = |value| {
            let mut array = device.pinned::<i32>(30_000).unwrap();
            array.mutable_data().unwrap().fill(value);
            HomogenNumericTable::from_array(array, Shape { rows: 10_000, columns: 3 }).unwrap()
        };
        let copy = |table: &HomogenNumericTable<i32>| {
            let mut stream = table.stream_rows::<i32, _>(&device, options).unwrap();
            let block = stream.next().unwrap().unwrap();
            let mut copy = DeviceArray::<i32, _>::allocate(&device, 30_000).unwrap();
            device.convert(block.view(), copy.view_mut().unwrap(), Default::default()).unwrap();
            copy
        };
        let (first, second) = (table(round), table(-round));
        let from_first = copy(&first);
        drop(first);
        alone.fake.fail("cuEventQuery", 0, INVALID_VALUE);
        let from_second = copy(&second);
        alone.fake.has_failed();
        assert!(from_first.to_array().unwrap().iter().all(|&value| value == round));
        assert!(from_second.to_array().unwrap().iter().all(|&value| value == -round));
    }
    drop(slow);
    alone.check();
}

/// What was only on the device is gone; the rest is where it was.
fn check_after_loss(work: &mut Work) {
    assert_fault!(work.device.synchronize(), HandleError::DeviceLost | HandleError::EarlierFault(_));
    assert_fault!(work.device.synchronize(), HandleError::DeviceLost);
    assert_eq!(work.plain.read_portal().unwrap(), [1; COUNT]);
    assert_eq!(work.pinned.read_portal().unwrap(), [2; COUNT]);
    assert!(!work.plain.is_on_device() && !work.pinned.is_on_device());
    work.plain.write_portal().unwrap()[0] = 8;
    assert_fault!(work.plain.prepare_for_input(), HandleError::DeviceLost);
    assert_fault!(work.plain.prepare_for_output(1), HandleError::DeviceLost);
    assert_fault!(work.result.read_portal(), HandleError::NoValidData);
    assert_eq!(work.plain.read_portal().unwrap()[0], 8);
    work.plain.write_portal().unwrap()[0] = 1;
}

#[test]
fn a_device_that_is_lost_in_the_middle_leaves_the_copies_of_the_program() {
    let Some(alone) = Alone::wait() else { return };
    let mut losses = 0;
    for after in 0..60 {
        let mut work = Work::new(alone.open());
        work.device.synchronize().unwrap();
        alone.fake.lose(LONELY, after);
        match work.run() {
            Ok(()) => break, // there is no more work than that
            Err(HandleError::EarlierFault(_) | HandleError::DeviceLost | HandleError::NoValidData) => {}
            Err(error) => panic!("{after}: {error:?}"),
        }
        check_after_loss(&mut work);
        assert!(work.device.pinned::<f32>(10).unwrap().iter().all(|&value| value == 0.0)); // ordinary memory
        drop(work);
        // All that had a share of it is gone, and it can be opened again.
        alone.check_alive();
        losses += 1;
    }
    assert!(losses > 10, "{losses}");
    Work::new(alone.open()).run().unwrap();
    alone.check();
}

#[test]
fn threads_that_lose_a_device_together_keep_their_values() {
    let Some(alone) = Alone::wait() else { return };
    for after in [0, 3, 10, 40, 100] {
        let device = alone.open();
        alone.fake.lose(LONELY, after + 4 * 3);
        thread::scope(|scope| {
            for _ in 0..4 {
                let device = &device;
                scope.spawn(move || {
                    let values: Vec<i32> = (0..COUNT as i32).collect();
                    let handle = ArrayHandle::from_container(device, values.clone());
                    let outcome = (0..50).try_for_each(|_| {
                        let mut copy = ArrayHandle::<i64, _>::empty(device);
                        let to = copy.prepare_for_output(COUNT)?;
                        device.convert(handle.prepare_for_input()?, to, Default::default())?;
                        copy.read_portal().map(|found| assert_eq!(found[COUNT - 1], COUNT as i64 - 1))
                    });
                    assert_fault!(
                        outcome,
                        HandleError::DeviceLost | HandleError::EarlierFault(_) | HandleError::NoValidData
                    );
                    assert_eq!(handle.read_portal().unwrap(), values);
                });
            }
        });
        assert_fault!(device.synchronize(), HandleError::DeviceLost);
        drop(device);
        alone.check_alive();
    }
    alone.check();
}
