//! Copies to a device that are started ahead: no kernel begins before the copy that it reads.

use shuttle::sync::Arc;
use shuttle::sync::atomic::Ordering::SeqCst;
use shuttle::thread;

use super::check;
use crate::device::Device;
use crate::handle::ahead::Handle;

#[test]
fn kernels_wait_for_a_copy_that_any_thread_has_started() {
    check("prefetch beside kernels", || {
        let (handle, device) = (Arc::new(Handle::default()), Arc::new(Device::default()));
        let start = |work: fn(&Handle, &Device)| {
            let (handle, device) = (handle.clone(), device.clone());
            thread::spawn(move || work(&handle, &device))
        };
        let threads = [
            start(|handle, device| handle.prefetch(device)),
            start(|handle, device| handle.prefetch(device)),
            start(|handle, device| {
                let copy = handle.use_on(device);
                assert!(device.0.compute.load(SeqCst) >= copy, "a kernel began before the copy");
            }),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_clone_waits_for_the_copy_of_the_handle_that_it_came_from() {
    check("clone beside prefetch", || {
        let (handle, device) = (Arc::new(Handle::default()), Arc::new(Device::default()));
        let (beside, same) = (handle.clone(), device.clone());
        let starting = thread::spawn(move || beside.prefetch(&same));
        let clone = handle.share(&device);
        let copy = clone.use_on(&device);
        assert!(device.0.compute.load(SeqCst) >= copy, "a kernel of the clone began before the copy");
        starting.join().unwrap();
        handle.finish(&device);
        assert!(device.0.control.load(SeqCst) >= 1 || copy == 0, "the values may be written while they are copied");
    });
}
