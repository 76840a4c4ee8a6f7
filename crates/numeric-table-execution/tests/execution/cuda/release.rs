//! When memory is given back: never while work may use it, and not because other memory was.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use numeric_table::array::MemoryKind;
use numeric_table::prelude::*;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::*;

use super::adopted::{Calls, adopt};
use super::other::Other;
use super::{Alone, LONELY, need_device};

/// Waits until something is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn tensor(device: &Cuda, value: i32) -> cuda::DlTensor {
    let shape = Shape { rows: 100, columns: 3 };
    let handle = DeviceArray::full(device, 300, value).unwrap().into_handle();
    DeviceTable::from_handle(handle, shape, DataLayout::RowMajor).unwrap().into_dlpack().unwrap()
}

/// Adopts memory whose deleter reports that it has begun, and then waits.
fn adopt_slowly(device: &Cuda, address: u64, calls: &Calls) -> (DeviceArray<i32, Cuda>, Receiver<()>, Sender<()>) {
    let (has_begun, begun) = channel();
    let (end, may_end) = channel::<()>();
    let deleter = calls.deleter();
    let delete = move || {
        has_begun.send(()).unwrap();
        let _ = may_end.recv_timeout(Duration::from_secs(60)); // also if the test has failed
        deleter();
    };
    // SAFETY: the memory is freed after the deleter was called, and no work on it is going on.
    let array = unsafe { DeviceArray::from_raw(device, address, 300, MemoryKind::Device, delete, &[]) };
    (array.unwrap(), begun, end)
}

/// As while another library captures a stream: what the consumer has started may not have ended.
#[test]
fn an_exported_tensor_stays_while_the_driver_refuses_to_wait_for_the_device() {
    let Some(alone) = Alone::wait() else { return };
    let device = alone.open();
    let [first, second] = [tensor(&device, 1), tensor(&device, 2)];
    let refused = |fake: super::Fake| (fake.control)(17, LONELY, 1);
    let blocks = || alone.fake.alive(LONELY)[0];
    let (before, earlier) = (blocks(), refused(alone.fake));
    let setting = alone.fake.refuse_synchronizing(LONELY);
    drop(first);
    wait_until("two attempts", || refused(alone.fake) >= earlier + 2);
    drop(second);
    // Other memory is given back in the meantime.
    let (other, calls) = (Other::new(LONELY), Calls::default());
    let address = other.values(&[1_i32; 300]);
    drop(adopt::<i32>(&device, address, 300, &calls));
    calls.wait(1);
    other.free(address);
    let later = refused(alone.fake);
    wait_until("another attempt", || refused(alone.fake) > later);
    assert_eq!(blocks(), before);
    drop(setting);
    wait_until("both are freed", || blocks() == before - 2);
    drop((device, other));
    alone.check();
}

#[test]
fn a_lost_device_frees_exported_tensors() {
    let Some(alone) = Alone::wait() else { return };
    let device = alone.open();
    let tensor = tensor(&device, 1);
    alone.fake.lose(LONELY, 0);
    let mut array = DeviceArray::<u8, _>::allocate(&device, 10);
    let _ = array.as_mut().map(|array| array.view_mut().map(|view| device.fill(view, 1)));
    assert!(device.synchronize().is_err());
    drop(tensor);
    drop((array, device));
    alone.check_alive();
}

#[test]
fn a_deleter_that_waits_does_not_delay_others() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other) = (alone.open(), Other::new(LONELY));
    let [slow, quick] = [Calls::default(), Calls::default()];
    let addresses: Vec<u64> = (0..8).map(|_| other.values(&[1_i32; 300])).collect();
    let blocks = alone.fake.alive(LONELY)[0];
    let tensor = tensor(&device, 5);
    let waiting: Vec<_> = addresses[..5].iter().map(|&address| adopt_slowly(&device, address, &slow)).collect();
    let rest: Vec<_> = addresses[5..].iter().map(|&address| adopt::<i32>(&device, address, 300, &quick)).collect();
    let ends: Vec<_> = waiting
        .into_iter()
        .map(|(array, begun, end)| {
            drop(array);
            begun.recv_timeout(Duration::from_secs(20)).unwrap();
            end
        })
        .collect();
    drop((rest, tensor));
    quick.wait(3);
    wait_until("the tensor is freed", || alone.fake.alive(LONELY)[0] == blocks);
    assert_eq!(slow.now(), 0);
    drop(ends);
    slow.wait(5);
    addresses.iter().for_each(|&address| other.free(address));
    drop((device, other));
    alone.check();
}

/// More than are called at a time.
#[test]
fn many_deleters_are_called_once() {
    need_device!();
    let (device, other, calls) = (Cuda::new(0).unwrap(), Other::new(0), Calls::default());
    let address = other.values(&[1_i32; 300]);
    for _ in 0..300 {
        drop(adopt::<i32>(&device, address, 300, &calls));
    }
    calls.wait(300);
    other.free(address);
}
