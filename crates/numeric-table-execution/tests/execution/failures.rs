//! What fails leaves valid what was valid; a full device frees what it can do without; a lost one takes only its own.
//!
//! On the emulated device, which fails on demand.

use numeric_table::prelude::*;
use numeric_table_execution::emulated::EmulatedSpeed;
use numeric_table_execution::memory::ExecutionMemory;
use numeric_table_execution::stream::{ResultStream, StreamOptions, StreamRows};
use numeric_table_execution::transport::Engine;
use numeric_table_execution::*;
use test_support::tables::assert_fault;

/// A handle whose values are 7, 7, 7, on the device only.
fn result(device: &EmulatedDevice) -> ArrayHandle<i32, EmulatedDevice> {
    let mut handle = ArrayHandle::empty(device);
    device.fill(handle.prepare_for_output(3).unwrap(), 7).unwrap();
    handle
}

fn input(device: &EmulatedDevice) -> ArrayHandle<i32, EmulatedDevice> {
    ArrayHandle::from_container(device, Array::from(vec![1, 2, 3]))
}

fn sides<T: Element, C: Container<T>>(handle: &ArrayHandle<T, EmulatedDevice, C>) -> (bool, bool) {
    (handle.is_on_host(), handle.is_on_device())
}

#[test]
fn a_failed_upload_leaves_control_valid_and_nothing_on_the_device() {
    type Call = fn(&mut ArrayHandle<i32, EmulatedDevice>) -> Result<(), HandleError>;
    let calls: [Call; 3] = [
        |handle| handle.prepare_for_input().map(drop),
        |handle| handle.prepare_in_place().map(|_| ()),
        |handle| handle.release_control(),
    ];
    for call in calls {
        for arm in [EmulatedDevice::fail_upload, EmulatedDevice::fail_allocation] {
            let device = EmulatedDevice::new();
            let mut handle = input(&device);
            arm(&device, 0);
            assert_fault!(call(&mut handle), HandleError::Device(_) | HandleError::DeviceAlloc { bytes: 12, .. });
            assert_eq!(sides(&handle), (true, false));
            assert_eq!(device.stats().uploads, TransferTotals::default());
            call(&mut handle).unwrap();
            assert_eq!(handle.read_portal().unwrap(), [1, 2, 3]);
        }
    }
}

#[test]
fn a_failed_download_leaves_the_execution_copy_valid() {
    type Call = fn(&mut ArrayHandle<i32, EmulatedDevice>) -> Result<Vec<i32>, HandleError>;
    let calls: [Call; 6] = [
        |handle| handle.read_portal().map(<[i32]>::to_vec),
        |handle| handle.write_portal().map(|values| values.to_vec()),
        |handle| {
            let mut values = [0; 3];
            handle.copy_into(&mut values).map(|()| values.to_vec())
        },
        |handle| handle.get_values(&[0, 1, 2]),
        |handle| handle.release_execution().and_then(|()| handle.copy_of()),
        |handle| handle.clone().into_container().map(|array| array.to_vec()),
    ];
    for call in calls {
        let device = EmulatedDevice::new();
        let mut handle = result(&device);
        device.fail_download(0);
        assert_fault!(call(&mut handle), HandleError::Device(_));
        assert_eq!(sides(&handle), (false, true));
        assert_eq!(call(&mut handle).unwrap(), [7; 3]);
    }
}

#[test]
fn a_table_that_a_device_has_no_memory_to_standardize_is_as_it_was() {
    let (mut failures, mut successes) = (0, 0);
    for bytes in (16..640).step_by(8) {
        let device = EmulatedDevice::new().with_capacity(bytes);
        let table = HomogenNumericTable::from_rows(&[[1.0_f32, 7.0], [3.0, 7.0]]).unwrap();
        let mut there = table.to_device::<f32, _>(&device).unwrap();
        let twin = there.clone();
        match there.standardize() {
            Ok(()) => {
                successes += 1;
                assert_eq!(there.to_table().unwrap().as_slice().unwrap(), [-1.0, 0.0, 1.0, 0.0]);
            }
            Err(error) => {
                failures += 1;
                assert!(matches!(error, HandleError::DeviceAlloc { .. }), "{error}");
                assert_eq!(there.to_table().unwrap(), table);
            }
        }
        assert_eq!(twin.to_table().unwrap(), table);
        drop((there, twin));
        assert_eq!(device.live_bytes(), 0);
    }
    assert!(failures > 10 && successes > 10, "{failures} {successes}");
}

/// As every kernel that fails.
#[test]
fn a_kernel_that_fails_while_a_table_is_standardized_is_reported_later() {
    for after in 0..3 {
        let device = EmulatedDevice::new();
        let table = HomogenNumericTable::from_rows(&[[1.0_f32, 7.0], [3.0, 7.0]]).unwrap();
        let mut there = table.to_device::<f32, _>(&device).unwrap();
        device.fail_kernel(after);
        let result = there.standardize().and_then(|()| device.synchronize());
        assert_fault!(result, HandleError::EarlierFault(_));
        there.standardize().unwrap();
        there.to_table().unwrap();
    }
}

trait CopyOf {
    fn copy_of(&self) -> Result<Vec<i32>, HandleError>;
}

impl CopyOf for ArrayHandle<i32, EmulatedDevice> {
    fn copy_of(&self) -> Result<Vec<i32>, HandleError> {
        self.read_portal().map(<[i32]>::to_vec)
    }
}

#[test]
fn a_failed_allocation_changes_nothing() {
    let device = EmulatedDevice::new();
    // Output.
    for (mut handle, values) in [(input(&device), [1, 2, 3]), (result(&device), [7; 3])] {
        let before = sides(&handle);
        device.fail_allocation(0);
        assert_fault!(handle.prepare_for_output(100), HandleError::DeviceAlloc { bytes: 400, free: None });
        assert_eq!((sides(&handle), handle.len()), (before, 3));
        assert_eq!(handle.copy_of().unwrap(), values);
    }
    // A copy that is detached from a clone, on the device only, and on both sides.
    for is_on_both in [false, true] {
        let device = EmulatedDevice::new(); // with nothing that could be freed
        let (handle, values) = if is_on_both { (input(&device), [1, 2, 3]) } else { (result(&device), [7; 3]) };
        handle.prepare_for_input().unwrap();
        let mut clone = handle.clone();
        let before = sides(&clone);
        device.fail_allocation(0);
        assert_fault!(clone.prepare_in_place(), HandleError::DeviceAlloc { bytes: 12, .. });
        assert_eq!((sides(&clone), sides(&handle)), (before, before));
        device.fill(clone.prepare_in_place().unwrap(), 9).unwrap();
        assert_eq!((clone.copy_of().unwrap(), handle.copy_of().unwrap()), (vec![9; 3], values.to_vec()));
    }
}

/// A container that refuses memory on demand.
#[derive(Clone, Default)]
struct Stubborn {
    values: Vec<i32>,
    refuses: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl Container<i32> for Stubborn {
    fn values(&self) -> &[i32] {
        &self.values
    }

    fn values_mut(&mut self) -> Result<&mut [i32], HandleError> {
        Ok(&mut self.values)
    }

    fn allocate(&mut self, count: usize) -> Result<(), HandleError> {
        match self.refuses.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err(HandleError::HostAlloc { bytes: 4 * count }),
            false => self.values.allocate(count),
        }
    }

    fn truncate(&mut self, count: usize) {
        self.values.truncate(count);
    }

    fn release(&mut self) {
        self.values = Vec::new();
    }
}

fn a_refused_control_allocation_changes_nothing_on<D: DeviceAdapter + Kernels>(device: &D) {
    let refuses = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
    let container = Stubborn { values: vec![1, 2, 3], refuses: refuses.clone() };
    let mut handle = ArrayHandle::from_container(device, container);
    let set = |value| refuses.store(value, std::sync::atomic::Ordering::SeqCst);
    set(true);
    if <D::Memory as ExecutionMemory>::IS_SHARED {
        assert_fault!(handle.prepare_for_output(5), HandleError::HostAlloc { bytes: 20 });
        assert_eq!(handle.read_portal().unwrap(), [1, 2, 3]);
    } else {
        device.fill(handle.prepare_for_output(5).unwrap(), 7).unwrap();
        assert_fault!(handle.read_portal(), HandleError::HostAlloc { bytes: 20 });
        assert!(handle.is_on_device() && !handle.is_on_host());
        set(false);
        assert_eq!(handle.read_portal().unwrap(), [7; 5]);
    }
}

#[test]
fn a_refused_control_allocation_changes_nothing() {
    a_refused_control_allocation_changes_nothing_on(&HostSerial);
    a_refused_control_allocation_changes_nothing_on(&HostParallel);
    a_refused_control_allocation_changes_nothing_on(&EmulatedDevice::new());
}

#[test]
fn a_kernel_that_fails_later_is_reported_when_somebody_waits() {
    let device = EmulatedDevice::new();
    device.fail_kernel(0);
    let handle = result(&device);
    assert_fault!(device.synchronize(), HandleError::EarlierFault(DeviceError::Earlier { .. }));
    device.synchronize().unwrap(); // once
    assert!(handle.is_on_device());

    device.fail_kernel(0);
    let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]]).unwrap();
    let mut stream = table.stream_rows::<i32, _>(&device, StreamOptions::default()).unwrap();
    let block = stream.next().unwrap().unwrap();
    let mut copy = DeviceArray::allocate(&device, 4).unwrap();
    device.convert::<i32, i32>(block.view(), copy.view_mut().unwrap(), Default::default()).unwrap();
    assert_fault!(stream.finish(), HandleError::EarlierFault(_));
}

#[test]
fn a_lost_device_leaves_the_control_copies() {
    let device = EmulatedDevice::new();
    let (on_host, on_both, mut only_there) = (input(&device), input(&device), result(&device));
    on_both.prepare_for_input().unwrap();
    let clone = only_there.clone();
    let view = on_both.prepare_for_input().unwrap();
    device.lose();
    let mut output = ArrayHandle::<i32, EmulatedDevice>::empty(&device);
    assert_fault!(output.prepare_for_output(1), HandleError::DeviceLost);
    for mut handle in [on_host, on_both.clone()] {
        assert_fault!(handle.prepare_for_input(), HandleError::DeviceLost);
        assert_fault!(handle.prepare_in_place(), HandleError::DeviceLost);
        assert_fault!(handle.prepare_for_output(3), HandleError::DeviceLost);
        assert_fault!(handle.release_control(), HandleError::DeviceLost);
        assert_eq!(sides(&handle), (true, false));
        handle.write_portal().unwrap()[0] = 9;
        assert_eq!(handle.copy_of().unwrap(), [9, 2, 3]);
        handle.release_execution().unwrap();
        assert_eq!(handle.into_container().unwrap()[..], [9, 2, 3]);
    }
    drop(view);
    assert_eq!(sides(&only_there), (false, false));
    assert_fault!(only_there.release_execution(), HandleError::DeviceLost); // it cannot be saved
    assert_fault!(only_there.copy_of(), HandleError::NoValidData);
    assert_fault!(clone.prepare_for_input(), HandleError::NoValidData);
    assert_fault!(clone.get_values(&[0]), HandleError::NoValidData);
    assert_fault!(clone.into_container(), HandleError::NoValidData);
    assert_fault!(device.synchronize(), HandleError::DeviceLost);
    // A handle can begin anew with control data.
    only_there.discard();
    assert_eq!(only_there.len(), 0);
}

#[test]
fn a_full_device_frees_copies_that_control_has_too_and_nothing_else() {
    let device = EmulatedDevice::new().with_capacity(36); // three handles of three values
    let (cached, used) = (input(&device), input(&device));
    cached.prepare_for_input().unwrap();
    let view = used.prepare_for_input().unwrap();
    let only_there = result(&device);
    assert_eq!(device.live_bytes(), 36);
    let mut output = ArrayHandle::<i32, _>::empty(&device);
    device.fill(output.prepare_for_output(3).unwrap(), 5).unwrap(); // in the place of `cached`
    assert_eq!((sides(&cached), sides(&used), sides(&only_there)), ((true, false), (true, true), (false, true)));
    // Now nothing is idle.
    assert_fault!(cached.prepare_for_input(), HandleError::DeviceAlloc { bytes: 12, free: Some(0) });
    let mut doubled = vec![0; 3];
    let mut copy = output.clone();
    assert_fault!(copy.prepare_in_place(), HandleError::DeviceAlloc { .. });
    drop(copy);
    // What a view looks at is still there.
    device.convert(view, output.prepare_in_place().unwrap(), Default::default()).unwrap();
    output.copy_into(&mut doubled).unwrap();
    assert_eq!(doubled, [1, 2, 3]);
    // Once nobody looks, the copy is idle.
    cached.prepare_for_input().unwrap();
    assert_eq!((sides(&cached), sides(&used)), ((true, true), (true, false)));
    assert_eq!((only_there.copy_of().unwrap(), cached.copy_of().unwrap()), (vec![7; 3], vec![1, 2, 3]));
}

#[test]
fn copies_that_clones_share_and_blocks_without_content_are_idle_too() {
    let device = EmulatedDevice::new().with_capacity(24);
    let one = input(&device);
    one.prepare_for_input().unwrap();
    let other = one.clone();
    let mut spare = input(&device);
    spare.prepare_for_input().unwrap();
    spare.write_portal().unwrap()[0] = 9; // its block is kept for the next time
    assert_eq!(device.live_bytes(), 24);
    let mut output = ArrayHandle::<i32, _>::empty(&device);
    output.prepare_for_output(6).unwrap(); // needs all of it
    assert_eq!(device.live_bytes(), 24);
    assert_eq!([&one, &other, &spare].map(sides), [(true, false); 3]);
    output.discard();
    assert_eq!(device.live_bytes(), 0);
    assert_eq!((one.copy_of().unwrap(), spare.copy_of().unwrap()), (vec![1, 2, 3], vec![9, 2, 3]));
}

#[test]
fn a_result_that_was_read_is_idle_and_one_that_was_not_is_kept() {
    let device = EmulatedDevice::new().with_capacity(24);
    let (read, unread) = (result(&device), result(&device));
    read.read_portal().unwrap();
    input(&device).prepare_for_input().unwrap();
    assert_eq!((sides(&read), sides(&unread)), ((true, false), (false, true)));
}

#[test]
fn views_of_another_device_are_refused() {
    let (here, there) = (EmulatedDevice::new(), EmulatedDevice::new());
    let (foreign, mut own) = (input(&there), ArrayHandle::<i32, _>::empty(&here));
    let view = foreign.prepare_for_input().unwrap();
    let output = own.prepare_for_output(3).unwrap();
    assert_fault!(here.convert(view.clone(), output, Default::default()), HandleError::WrongDevice);
    let output = own.prepare_for_output(3).unwrap();
    assert_fault!(there.convert(view, output, Default::default()), HandleError::WrongDevice);
    let clone = here.clone(); // the same device
    clone.fill(own.prepare_for_output(3).unwrap(), 1).unwrap();
    assert_eq!(own.copy_of().unwrap(), [1; 3]);
}

#[test]
fn whoever_skips_a_copy_reads_nonsense() {
    let device = EmulatedDevice::new();
    let mut handle = ArrayHandle::from_container(&device, Array::from(vec![1_u64; 100]));
    for _ in 0..2 {
        // A fresh block, and the same one recycled.
        handle.prepare_for_output(100).unwrap();
        let ones = handle.clone().into_container().unwrap().iter().filter(|&&value| value == 1).count();
        assert_eq!(ones, 0);
        device.fill(handle.prepare_for_output(100).unwrap(), 1).unwrap();
    }
    assert_eq!(device.stats().allocations.calls, 1);
}

#[test]
fn everything_is_freed_in_the_end() {
    let device = EmulatedDevice::new();
    let handle = input(&device);
    let clones = [handle.clone(), result(&device)];
    let view = handle.prepare_for_input().unwrap();
    let kept = view.clone();
    drop(view);
    drop(kept);
    let table = HomogenNumericTable::from_rows(&[[1, 2], [3, 4]]).unwrap().to_device::<i64, _>(&device).unwrap();
    assert!(device.live_bytes() > 0);
    drop((handle, clones, table));
    assert_eq!(device.live_bytes(), 0);
}

/// Computes ones, twos and threes, and returns what arrives.
fn stream_of_results(device: &EmulatedDevice, fault: impl FnOnce(&EmulatedDevice)) -> (Vec<i32>, Vec<HandleError>) {
    let (mut taken, mut errors, mut fault) = (Vec::new(), Vec::new(), Some(fault));
    let mut results = ResultStream::<i32, _, _>::new(device, 2, 2, |_, values| {
        taken.extend_from_slice(values);
        Ok(())
    });
    for block in 0..3 {
        if block == 1
            && let Some(fault) = fault.take()
        {
            fault(device);
        }
        let push = |results: &mut ResultStream<_, _, _>| {
            results.push(block..block + 1, |output| device.fill(output, block as i32 + 1))
        };
        if let Err(error) = push(&mut results) {
            errors.push(error);
            errors.extend(push(&mut results).err());
        }
    }
    for _ in 0..2 {
        errors.extend(results.finish().err());
    }
    drop(results);
    (taken, errors)
}

#[test]
fn a_kernel_that_fails_in_a_stream_of_results_is_told_once() {
    let (_, errors) = stream_of_results(&EmulatedDevice::new(), |device| device.fail_kernel(0));
    assert!(matches!(errors[..], [HandleError::EarlierFault(_)]), "{errors:?}");
}

#[test]
fn results_whose_copy_fails_are_copied_again() {
    for after in 0..2 {
        let (taken, errors) = stream_of_results(&EmulatedDevice::new(), |device| device.fail_download(after));
        assert_eq!(taken, [1, 1, 2, 2, 3, 3]);
        assert!(matches!(errors[..], [HandleError::Device(_)]), "{errors:?}");
    }
}

#[test]
fn results_of_a_lost_device_are_not_made_up() {
    let (taken, errors) = stream_of_results(&EmulatedDevice::new(), EmulatedDevice::lose);
    assert_eq!(taken, [1, 1]); // arrived before
    assert!(!errors.is_empty() && errors.iter().all(|error| matches!(error, HandleError::DeviceLost)), "{errors:?}");
}

#[test]
fn work_waits_for_the_events_that_it_names_and_for_no_others() {
    // A byte takes a nanosecond to cross, and a kernel one for each byte.
    let clock = EmulatedSpeed { control: u64::MAX, copy: 1_000_000_000, compute: 1_000_000_000 };
    for (names_it, total) in [(true, 2000), (false, 1000)] {
        let device = EmulatedDevice::new().with_speed(clock);
        let (array, mut other) = (Array::from(vec![0_u8; 1000]), ArrayHandle::<u8, _>::empty(&device));
        let ahead = ArrayHandle::from_container(&device, array);
        let copied = ahead.prefetch(&[]).unwrap();
        let after = if names_it { &[copied][..] } else { &[] };
        let filled = device.submit(after, |device| device.fill(other.prepare_for_output(1000)?, 7)).unwrap();
        assert!(!device.queue().is_complete(filled));
        assert_eq!(device.queue().times().unwrap().total.as_nanos(), total);
        device.queue().wait(Engine::Control, filled);
        assert!(device.queue().is_complete(filled));
    }
    // A copy that comes after a kernel.
    let device = EmulatedDevice::new().with_speed(clock);
    let mut other = ArrayHandle::<u8, _>::empty(&device);
    let filled = device.submit(&[], |device| device.fill(other.prepare_for_output(500)?, 7)).unwrap();
    ArrayHandle::from_container(&device, Array::from(vec![0_u8; 1000])).prefetch(&[filled]).unwrap();
    assert_eq!(device.queue().times().unwrap().total.as_nanos(), 1500);
}

/// Keys that control has, and values that only the device has.
#[test]
fn a_sort_that_fails_leaves_keys_and_values_as_they_were() {
    type Fail = fn(&EmulatedDevice, usize);
    let fails: [Fail; 3] =
        [EmulatedDevice::fail_kernel, EmulatedDevice::fail_allocation, |device, after| device.fail_upload(after)];
    for fail in fails {
        let mut after = 0;
        loop {
            let device = EmulatedDevice::new();
            let mut keys = ArrayHandle::from_container(&device, vec![3_i16, 1, 2]);
            let mut values = ArrayHandle::<f64, _>::empty(&device);
            let tenths = ArrayHandle::from_container(&device, vec![0.3_f64, 0.1, 0.2]);
            let room = values.prepare_for_output(3).unwrap();
            device.convert(tenths.prepare_for_input().unwrap(), room, Default::default()).unwrap();
            drop(tenths); // nothing idle makes room
            let clone = keys.clone();
            fail(&device, after);
            let sorted = device.sort_by_key(&mut keys, &mut values);
            let is_sorted = sorted.is_ok();
            assert!(!is_sorted || device.synchronize().is_ok());
            let _ = device.synchronize(); // reports a kernel that made another one refuse its results
            let expected = if is_sorted { ([1, 2, 3], [0.1, 0.2, 0.3]) } else { ([3, 1, 2], [0.3, 0.1, 0.2]) };
            assert_eq!(
                (keys.read_portal().unwrap(), values.read_portal().unwrap()),
                (&expected.0[..], &expected.1[..])
            );
            assert_eq!(clone.read_portal().unwrap(), [3, 1, 2]);
            if is_sorted {
                break;
            }
            after += 1;
        }
        assert!(after > 0);
    }
}
