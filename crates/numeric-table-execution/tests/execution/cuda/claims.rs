//! Claims about memory of other libraries, compared with what the driver reports.

use numeric_table::array::MemoryKind;
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::*;
use test_support::tables::assert_fault;

use super::adopted::{Calls, adopt};
use super::other::Other;
use super::{Alone, LONELY, need_device};

#[test]
fn claims_that_the_driver_does_not_confirm_are_refused() {
    need_device!();
    let (device, other) = (Cuda::new(0).unwrap(), Other::new(0));
    let address = other.values(&[0.5_f64; 100]);
    let managed = other.allocate_managed(800);
    let mut claims = Vec::new();
    let mut claim = |device: &Cuda, address, count, kind| {
        let calls = Calls::default();
        // SAFETY: the memory is there until the end of the test; other claims are refused.
        let array = unsafe { DeviceArray::<f64, _>::from_raw_mut(device, address, count, kind, calls.deleter(), &[]) };
        assert_eq!(calls.now(), usize::from(array.is_err())); // before the call returns
        claims.push(calls);
        array
    };
    let here = [0.0_f64; 100];
    let local = here.as_ptr() as u64;
    use MemoryKind::{Device, Host, Pinned, Shared};
    use MemoryMismatch::{Alignment, Kind, Range};
    for (address, kind, actual) in
        [(local, Device, Host), (local, Host, Host), (0, Device, Host), (1, Shared, Host), (u64::MAX, Device, Host)]
            .into_iter()
            .chain([(address, Pinned, Device), (address, Shared, Device), (address, Host, Device)])
            .chain([(managed, Device, Shared), (managed, Pinned, Shared)])
    {
        match claim(&device, address, 100, kind) {
            Err(HandleError::WrongMemory(error)) => assert_eq!(error, Kind { address, claimed: kind, actual }),
            result => panic!("{address:#x}, {kind:?}: {result:?}"),
        }
    }
    for (first, count, available) in [(address, 101, 800), (address + 8, 100, 792), (address, 1 << 40, 800)] {
        match claim(&device, first, count, Device) {
            Err(HandleError::WrongMemory(Range { address, bytes, available: found })) => {
                assert_eq!((address, bytes), (first, count * 8));
                assert!(found >= available); // the driver may have given it more
            }
            Ok(_) if count < 200 => {} // so it has
            result => panic!("{result:?}"),
        }
    }
    match claim(&device, address + 4, 3, Device) {
        Err(HandleError::WrongMemory(error)) => assert_eq!(error, Alignment { address: address + 4, alignment: 8 }),
        result => panic!("{result:?}"),
    }
    assert_fault!(claim(&device, address, usize::MAX / 4, Device), HandleError::LengthOverflow);
    assert!(claim(&device, 12345, 0, Device).unwrap().to_array().unwrap().is_empty()); // of no values, any address
    claim(&device, address + 8, 99, Device).unwrap();
    claim(&device, managed, 100, Shared).unwrap();
    claims.iter().for_each(|calls| calls.wait(1));
    other.free(address);
    other.free(managed);
}

#[test]
fn memory_of_another_device_is_refused() {
    let Some(alone) = Alone::wait() else { return };
    let (device, other, calls) = (alone.open(), Other::new(0), Calls::default());
    let address = other.values(&[1_u8; 100]);
    // SAFETY: it is refused.
    let array =
        unsafe { DeviceArray::<u8, _>::from_raw(&device, address, 100, MemoryKind::Device, calls.deleter(), &[]) };
    match array {
        Err(HandleError::WrongMemory(error)) => {
            assert_eq!(error, MemoryMismatch::Device { address, claimed: LONELY as u32, actual: 0 });
            assert!(error.to_string().contains("device 1"), "{error}");
        }
        result => panic!("{result:?}"),
    }
    calls.wait(1);
    other.free(address);
    drop((device, other));
    alone.check();
}

#[test]
fn memory_that_is_mapped_in_pieces_is_one_allocation() {
    let Some(alone) = Alone::wait() else { return };
    let (device, calls) = (alone.open(), Calls::default());
    let address = (alone.fake.control)(15, LONELY, 1024);
    let mut array = adopt::<u8>(&device, address + 512, 1024, &calls);
    device.fill(array.view_mut().unwrap(), 7).unwrap();
    assert_eq!(array.to_array().unwrap()[..], [7; 1024]);
    // SAFETY: it is refused.
    let beyond = unsafe {
        DeviceArray::<u8, _>::from_raw(&device, address + 512, 1537, MemoryKind::Device, calls.deleter(), &[])
    };
    assert_fault!(beyond, HandleError::WrongMemory(MemoryMismatch::Range { available: 1536, .. }));
    drop(array);
    calls.wait(2);
    assert_eq!([address, address + 1024].map(|piece| (alone.fake.control)(16, LONELY, piece)), [1, 1]);
    drop(device);
    alone.check();
}
