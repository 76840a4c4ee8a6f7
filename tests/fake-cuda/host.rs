//! Memory of the program that is registered.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::control::{refuses_pages, violation};
use crate::device::devices;
use crate::{ALREADY_REGISTERED, Answer, ILLEGAL_ADDRESS, INVALID_VALUE, NOT_PERMITTED, NOT_REGISTERED, lock};

/// By their first address.
static REGISTERED: Mutex<BTreeMap<usize, Arc<Registration>>> = Mutex::new(BTreeMap::new());

/// A range of the program's memory.
pub(crate) struct Registration {
    first: usize,
    count: usize,
    device: usize,
    /// Number of copies that have not ended.
    pending: AtomicUsize,
}

/// A copy from or to registered memory that has been asked for, and has not ended.
pub(crate) struct Pending(Arc<Registration>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.pending.fetch_sub(1, SeqCst);
    }
}

pub(crate) fn count(device: usize) -> usize {
    lock(&REGISTERED).values().filter(|registration| registration.device == device).count()
}

pub(crate) fn register(first: usize, count: usize, device: usize) -> Answer {
    if first == 0 || count == 0 || first.checked_add(count).is_none() {
        return Err(INVALID_VALUE);
    }
    if refuses_pages() {
        return Err(NOT_PERMITTED);
    }
    let mut registered = lock(&REGISTERED);
    let before = registered.range(..first + count).next_back();
    if before.is_some_and(|(_, registration)| registration.first + registration.count > first) {
        return Err(ALREADY_REGISTERED);
    }
    registered.insert(first, Arc::new(Registration { first, count, device, pending: AtomicUsize::new(0) }));
    Ok(())
}

pub(crate) fn unregister(first: usize) -> Answer {
    let registration = lock(&REGISTERED).remove(&first).ok_or(NOT_REGISTERED)?;
    // A device that has failed makes no copies, but still has to throw them away.
    if registration.pending.load(SeqCst) > 0 && devices().iter().all(|device| device.check().is_ok()) {
        violation("memory is unregistered while a copy of it is going on");
    }
    Ok(())
}

/// Begins a copy, if all bytes of a range are registered.
pub(crate) fn begin(first: usize, count: usize) -> Option<Pending> {
    let registered = lock(&REGISTERED);
    let (_, registration) = registered.range(..=first).next_back()?;
    let at = first - registration.first;
    if at > registration.count || count > registration.count - at {
        return None;
    }
    registration.pending.fetch_add(1, SeqCst);
    Some(Pending(registration.clone()))
}

/// Returns the first address of a registered range, its number of bytes and its device, if an address is inside.
pub(crate) fn place(address: usize) -> Option<(usize, usize, usize)> {
    let registered = lock(&REGISTERED);
    let (&first, registration) = registered.range(..=address).next_back()?;
    (address - first < registration.count).then_some((first, registration.count, registration.device))
}

/// Returns whether all bytes of a range are registered.
pub(crate) fn has(first: usize, count: usize) -> bool {
    begin(first, count).is_some()
}

/// Reads registered memory, as a kernel does.
pub(crate) fn read(first: usize, count: usize) -> Option<Vec<u8>> {
    let _pending = begin(first, count)?;
    // SAFETY: the bytes are memory of the program, which keeps it, and does not write it, until the work has ended.
    Some(unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(first), count) }.to_vec())
}

/// Writes registered memory, as a kernel does.
pub(crate) fn write(first: usize, bytes: &[u8]) {
    if let Some(_pending) = begin(first, bytes.len()) {
        let target = std::ptr::with_exposed_provenance_mut::<u8>(first);
        // SAFETY: as above; nothing else uses it.
        unsafe { target.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}

impl Pending {
    /// Lets the copy be made, unless the memory is not registered any more: then it may not be there.
    pub(crate) fn go(self, copy: impl FnOnce()) -> Answer {
        let registered = lock(&REGISTERED);
        let is_registered = registered.get(&self.0.first).is_some_and(|found| Arc::ptr_eq(found, &self.0));
        if !is_registered {
            return Err(ILLEGAL_ADDRESS);
        }
        drop(registered);
        copy();
        Ok(())
    }
}
