//! Copies in the background: values that go ahead, events, and results that stream back.

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::stream::{ResultStream, StreamOptions, StreamRows};
use numeric_table_execution::transport::{Engine, Event};
use numeric_table_execution::*;
use test_support::tables::{LAYOUTS, assert_fault, numbered, numbers};

/// Numbers of values: none, few, and more than a piece of any device.
const COUNTS: [usize; 5] = [0, 1, 7, 1000, 300_000];

fn values(count: usize, first: i32) -> Array<i32> {
    (first..).take(count).collect()
}

fn doubled<D: Kernels>(device: &D, handle: &ArrayHandle<i32, D>) -> Vec<f64> {
    let mut wide = ArrayHandle::<f64, _>::empty(device);
    let output = wide.prepare_for_output(handle.len()).unwrap();
    device.convert(handle.prepare_for_input().unwrap(), output, Default::default()).unwrap();
    wide.read_portal().unwrap().to_vec()
}

pub(crate) fn values_that_go_ahead_are_waited_for<D: Kernels>(device: &D) {
    for count in COUNTS {
        let array = values(count, 5);
        let expected: Vec<f64> = array.iter().map(|&value| f64::from(value)).collect();
        let handle = ArrayHandle::from_container(device, array.clone());
        let before = device.stats();
        handle.prefetch(&[]).unwrap();
        let again = handle.prefetch(&[]).unwrap();
        let uploads = (device.stats() - before).uploads.bytes;
        assert_eq!(uploads, if <D::Memory as ExecutionMemory>::IS_SHARED { 0 } else { count * 4 });
        // By a kernel that reads, of the handle or of a clone of it; by one that writes; and by the program.
        assert_eq!(doubled(device, &handle.clone()), expected);
        assert_eq!(doubled(device, &handle), expected);
        device.queue().wait(Engine::Control, again);
        assert!(device.queue().is_complete(again));

        let mut written = ArrayHandle::from_container(device, array.clone());
        written.prefetch(&[]).unwrap();
        written.set_values(0, &array[..count.min(1)]).unwrap();
        assert_eq!(written.read_portal().unwrap(), &array[..]);
        let mut replaced = ArrayHandle::from_container(device, array.clone());
        replaced.prefetch(&[]).unwrap();
        device.fill(replaced.prepare_for_output(count).unwrap(), 3).unwrap();
        assert_eq!(replaced.read_portal().unwrap(), vec![3; count]);
        let dropped = ArrayHandle::from_container(device, array.clone());
        dropped.prefetch(&[]).unwrap();
        drop(dropped);
        assert_eq!(array, values(count, 5));
    }
    assert_fault!(ArrayHandle::<i32, D>::empty(device).prefetch(&[]), HandleError::NoValidData);
}

pub(crate) fn what_went_ahead_is_written_in_place<D: Kernels>(device: &D) {
    let mut handle = ArrayHandle::from_container(device, values(5000, 0));
    for round in 0..4 {
        let address = handle.read_portal().unwrap().as_ptr();
        handle.prefetch(&[]).unwrap();
        assert_eq!(doubled(device, &handle)[7], f64::from(7 + round));
        let values = handle.write_portal().unwrap();
        assert_eq!(values.as_ptr(), address); // nobody reads it any more, so that it was not copied
        values.iter_mut().for_each(|value| *value += 1);
    }
    // One thread sends it ahead, and another one, which has not been told, launches kernels.
    for _ in 0..20 {
        let handle = ArrayHandle::from_container(device, values(5000, 3));
        let barrier = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                handle.prefetch(&[]).unwrap();
            });
            for is_clone in [false, true] {
                let (handle, barrier) = (&handle, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let found = if is_clone { doubled(device, &handle.clone()) } else { doubled(device, handle) };
                    assert!((3..).zip(&found).all(|(i, &value)| value == f64::from(i)));
                });
            }
        });
    }
}

pub(crate) fn events_are_taken_and_returned<D: Kernels>(device: &D) {
    let count = 100_000;
    let handles: Vec<_> = (0..4).map(|i| ArrayHandle::from_container(device, values(count, i * 1000))).collect();
    let mut event = Event::DONE;
    let mut events = Vec::new();
    for handle in &handles {
        event = handle.prefetch(&[event]).unwrap();
        events.push(event);
    }
    for (i, handle) in (0..).zip(&handles) {
        let mut wide = ArrayHandle::<i64, _>::empty(device);
        let converted = device.submit(&events, |device| {
            let (input, output) = (handle.prepare_for_input()?, wide.prepare_for_output(count)?);
            device.convert(input, output, Default::default())
        });
        let converted = converted.unwrap();
        let mut bytes = ArrayHandle::<u8, _>::empty(device);
        let last = device.submit(&[converted, events[0]], |device| {
            device.convert(wide.prepare_for_input()?, bytes.prepare_for_output(count)?, Default::default())
        });
        let last = last.unwrap();
        device.queue().wait(Engine::Control, last);
        assert!([last, converted, events[3]].iter().all(|&event| device.queue().is_complete(event)));
        let expected = values(count, i * 1000);
        assert!(wide.read_portal().unwrap().iter().zip(&expected[..]).all(|(&a, &b)| a == i64::from(b)));
        assert_eq!(bytes.read_portal().unwrap()[255.min(count - 1)], 255);
    }
    let refused = device.submit(&[], |_| Err(HandleError::NoValidData));
    assert_fault!(refused, HandleError::NoValidData);
    // An event that no device has made is complete: nobody waits for ever.
    assert!(device.queue().is_complete(Event(u64::MAX)));
    device.queue().wait(Engine::Control, Event(u64::MAX));
    device.submit(&[Event(u64::MAX), Event(u64::MAX - 1)], |_| Ok(())).unwrap();
    device.synchronize().unwrap();
}

pub(crate) fn results_come_back_once_and_in_order<D: Kernels>(device: &D) {
    const COLUMNS: usize = 3;
    let mut none = ResultStream::<u8, _, _>::new(device, 0, 2, |_, values| {
        assert!(values.is_empty());
        Ok(())
    });
    for rows in [0..3, 3..3, 0..usize::MAX, 0..usize::MAX] {
        none.push(rows, |_| Ok(())).unwrap();
    }
    assert_eq!(none.finish().unwrap(), usize::MAX);
    let mut huge = ResultStream::<u64, _, _>::new(device, 9, 2, |_, _| Ok(()));
    assert_fault!(huge.push(0..usize::MAX, |_| Ok(())), HandleError::Library(_) | HandleError::LengthOverflow);
    huge.push(0..0, |_| Ok(())).unwrap();
    assert_eq!(huge.finish().unwrap(), 0);
    for total in [0, 1, 13, 30] {
        for (rows, slots) in [(1, 3), (5, 1), (4, 2), (7, 9), (999, 0)] {
            for layout in LAYOUTS {
                let table = numbered::<i16>(total, COLUMNS, layout);
                let options = StreamOptions { rows, slots, ..Default::default() };
                let mut taken: Vec<f32> = Vec::new();
                let mut next = 0;
                let mut results = ResultStream::<f32, _, _>::new(device, COLUMNS, slots, |rows, values| {
                    assert_eq!((rows.start, values.len()), (next, rows.len() * COLUMNS));
                    next = rows.end;
                    taken.extend_from_slice(values);
                    Ok(())
                });
                let before = device.stats();
                let mut stream = table.stream_rows::<i16, D>(device, options).unwrap();
                while let Some(block) = stream.next().unwrap() {
                    let compute =
                        |output: ViewMut<'_, f32, D>| device.convert(block.view(), output, Default::default());
                    results.push(block.row_range(), compute).unwrap();
                }
                assert_eq!(results.finish().unwrap(), total);
                assert_eq!(results.finish().unwrap(), total);
                drop(results);
                assert_eq!(taken, numbers::<f32>(COLUMNS, 0..total));
                let shared = <D::Memory as ExecutionMemory>::IS_SHARED;
                let crossed = if shared { 0 } else { total * COLUMNS * 4 };
                assert_eq!((device.stats() - before).downloads.bytes, crossed);
            }
        }
    }
}

pub(crate) fn results_that_are_not_taken_are_kept<D: Kernels>(device: &D) {
    let (mut refusals, mut taken) = (3, Vec::new());
    let mut results = ResultStream::<i32, _, _>::new(device, 1, 2, |rows: Range<usize>, values: &[i32]| {
        if rows.start == 2 && refusals > 0 {
            refusals -= 1;
            return Err(Error::other("full").into());
        }
        taken.push((rows.start, values.to_vec()));
        Ok(())
    });
    let (mut next, mut failures) = (0_i32, 0);
    while next < 6 {
        let (first, fails) = (next as usize, next == 4 && failures < 5);
        let pushed = results.push(first..first + 1, |output| {
            device.fill(output, next * 10)?;
            if fails { Err(Error::other("no").into()) } else { Ok(()) }
        });
        match pushed {
            Ok(()) => next += 1,
            Err(error) => {
                failures += 1;
                assert_eq!(error.to_string(), if failures <= 3 { "full" } else { "no" });
            }
        }
    }
    assert_eq!(failures, 5);
    assert_eq!(results.finish().unwrap(), 6);
    drop(results);
    let starts: Vec<usize> = taken.iter().map(|&(start, _)| start).collect();
    assert_eq!(starts, [0, 1, 2, 3, 4, 5]);
    assert!((0..).zip(&taken).all(|(i, (_, values))| values[..] == [i * 10]));
}
