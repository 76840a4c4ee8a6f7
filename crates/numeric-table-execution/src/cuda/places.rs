//! Where memory lies: what the driver knows about an address, and memory that the program and the device access.

use std::ffi::{c_uint, c_void};

use super::api::{Address, Code};
use super::objects::{Context, PORTABLE};

/// Attributes of devices: `CUdevice_attribute`.
const HAS_MANAGED: c_uint = 83;
const HAS_CONCURRENT_MANAGED: c_uint = 89;
/// Managed memory is accessible from every device.
const GLOBAL: c_uint = 1;

/// Attributes of addresses: `CUpointer_attribute`. They are integers, of 8, 4 or fewer bytes.
const MEMORY_TYPE: c_uint = 2;
const DEVICE_ADDRESS: c_uint = 3;
const IS_MANAGED: c_uint = 8;
const DEVICE_ORDINAL: c_uint = 9;
const IS_PLAIN: c_uint = 10;
const RANGE_START: c_uint = 11;
const RANGE_SIZE: c_uint = 12;
const POOL: c_uint = 17;

/// The driver's attributes of an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// `CUmemorytype`: 1 is memory of the program, and 2 of a device. 0 is memory that the driver does not know.
    pub(super) memory_type: u32,
    pub(super) is_managed: bool,
    pub(super) ordinal: i32,
    /// The address by which a device accesses the memory.
    pub(super) device_address: Address,
    /// The first address of the allocation, and its number of bytes.
    pub(super) start: Address,
    pub(super) bytes: u64,
}

impl Context {
    /// Returns what the driver knows about an address, which may be any number.
    pub(super) fn place(&self, address: Address) -> Result<Place, Code> {
        let asked = [MEMORY_TYPE, DEVICE_ADDRESS, IS_MANAGED, DEVICE_ORDINAL, RANGE_START, RANGE_SIZE];
        let [memory_type, device_address, is_managed, ordinal, start, bytes] =
            self.pointer_attributes(asked, address)?;
        Ok(Place {
            memory_type: memory_type as u32,
            is_managed: is_managed as u32 != 0,
            ordinal: ordinal as u32 as i32,
            device_address,
            start,
            bytes,
        })
    }

    /// Returns whether memory was mapped piece by piece, by `cuMemMap`: then what follows may belong to it too.
    pub(super) fn is_mapped(&self, address: Address) -> Result<bool, Code> {
        let [is_plain, pool] = self.pointer_attributes([IS_PLAIN, POOL], address)?;
        Ok(is_plain as u32 == 0 && pool == 0)
    }

    fn pointer_attributes<const N: usize>(&self, asked: [c_uint; N], address: Address) -> Result<[u64; N], Code> {
        self.enter()?;
        let mut found = [0_u64; N];
        let mut places = found.each_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>());
        // SAFETY: both arrays have as many elements, and live until the call returns. Each attribute is an integer of
        // at most eight bytes. The driver does not access the memory at the address.
        unsafe {
            (self.driver.pointer_attributes)(N as c_uint, asked.as_ptr(), places.as_mut_ptr(), address).check()?;
        }
        Ok(found)
    }

    /// Returns whether there is managed memory, and whether the program and the device may use it at the same time.
    pub(super) fn has_managed(&self) -> Result<(bool, bool), Code> {
        Ok((self.attribute(HAS_MANAGED)? != 0, self.attribute(HAS_CONCURRENT_MANAGED)? != 0))
    }

    /// Allocates managed memory.
    pub(super) fn allocate_managed(&self, bytes: usize) -> Result<Address, Code> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the integer lives until the call returns.
        unsafe { (self.driver.allocate_managed)(&mut address, bytes, GLOBAL) }.check()?;
        Ok(address)
    }

    /// Allocates memory of the program that every device can access.
    pub(super) fn allocate_pinned(&self, bytes: usize) -> Result<Address, Code> {
        self.enter()?;
        let mut address = std::ptr::null_mut();
        // SAFETY: the pointer lives until the call returns.
        unsafe { (self.driver.allocate_pinned)(&mut address, bytes, PORTABLE) }.check()?;
        Ok(address.expose_provenance() as Address)
    }

    /// Frees memory of the program.
    ///
    /// # Safety
    /// [`allocate_pinned`](Self::allocate_pinned) of this context gave the address. Nothing uses the memory, now or
    /// later.
    pub(super) unsafe fn free_pinned(&self, address: Address) -> Result<(), Code> {
        self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { (self.driver.free_pinned)(std::ptr::with_exposed_provenance_mut(address as usize)) }.check()
    }
}
