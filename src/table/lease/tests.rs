use super::*;
use crate::base::error::ErrorKind;

fn lend(values: Vec<u8>) -> (Memory<Array<u8>>, Lease) {
    let (mut memory, mut lease) = (Memory::new(Array::from(values)), Lease::new());
    lend_all(&mut memory, &mut lease);
    (memory, lease)
}

fn lend_all(memory: &mut Memory<Array<u8>>, lease: &mut Lease) {
    let count = memory.array().unwrap().len();
    memory.lend(&Region { rows: 0..count, columns: 0..1 }, Some(0..count), lease).unwrap();
}

#[track_caller]
fn assert_out(memory: &Memory<Array<u8>>, count: usize) {
    assert!(
        memory
            .array()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::BlockOutstanding { rows } if *rows == (0..count)))
    );
}

#[test]
fn memory_comes_back_whole_when_the_lease_is_dropped() {
    let (memory, mut lease) = lend(vec![1, 2]);
    assert_out(&memory, 2);
    lease.values_mut::<u8>().unwrap()[0] = 9;
    drop(lease);
    assert_eq!(memory.array().unwrap()[..], [9, 2]);
    assert!(memory.array().unwrap().has_mutable_data());
}

#[test]
fn memory_that_is_taken_back_is_the_tables_own_and_the_lease_is_used_again() {
    let (mut memory, mut lease) = lend(vec![1, 2]);
    let slot = Arc::as_ptr(lease.slot.as_ref().unwrap());
    for value in 3..6 {
        lease.values_mut::<u8>().unwrap()[1] = value;
        memory.take_back(&mut lease).unwrap();
        assert!(lease.is_empty() && lease.values::<u8>().is_none());
        assert_eq!(memory.array().unwrap()[..], [1, value]);
        assert!(memory.array().unwrap().has_mutable_data());
        lend_all(&mut memory, &mut lease);
        assert_eq!(Arc::as_ptr(lease.slot.as_ref().unwrap()), slot);
    }
}

#[test]
fn an_empty_lease_or_that_of_another_table_is_not_taken_back() {
    let (mut memory, mut lease) = lend(vec![1]);
    let (mut other, mut lease_of_other) = lend(vec![2]);
    assert!(memory.take_back(&mut Lease::new()).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    assert!(memory.take_back(&mut lease_of_other).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    let mut clone = memory.share();
    assert!(clone.take_back(&mut lease).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    memory.take_back(&mut lease).unwrap();
    assert!(memory.take_back(&mut lease).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongTable)));
    other.take_back(&mut lease_of_other).unwrap();
    assert_eq!((memory.array().unwrap()[0], other.array().unwrap()[0], clone.array().unwrap()[0]), (1, 2, 1));
}

#[test]
fn tables_that_wait_share_what_comes_back_either_way() {
    for is_dropped in [true, false] {
        let (mut memory, mut lease) = lend(vec![1, 2]);
        let (second, third) = (memory.share(), memory.share());
        assert_out(&second, 2);
        lease.values_mut::<u8>().unwrap()[0] = 7;
        if is_dropped {
            drop(lease);
        } else {
            memory.take_back(&mut lease).unwrap();
        }
        drop(third); // without an access
        assert_eq!(memory.array().unwrap()[..], [7, 2]);
        assert_eq!(second.array().unwrap()[..], [7, 2]);
        assert_eq!(memory.array().unwrap().owner_count(), 2, "dropped: {is_dropped}");
        assert!(memory.array().unwrap().shares_memory_with(second.array().unwrap()));
    }
}

#[test]
fn a_table_lends_again_while_a_clone_still_has_its_share_to_fetch() {
    let (mut memory, mut lease) = lend(vec![1]);
    let mut clone = memory.share();
    memory.take_back(&mut lease).unwrap();
    *memory.array_mut().unwrap() = Array::from(vec![1]); // detached, as in a table that is about to lend
    lend_all(&mut memory, &mut lease);
    lease.values_mut::<u8>().unwrap()[0] = 5;
    assert_eq!(clone.array().unwrap()[..], [1]);
    let mut lease_of_clone = Lease::new();
    lend_all(&mut clone, &mut lease_of_clone);
    memory.take_back(&mut lease).unwrap();
    clone.take_back(&mut lease_of_clone).unwrap();
    assert_eq!((memory.array().unwrap()[0], clone.array().unwrap()[0]), (5, 1));
}

#[test]
fn memory_that_nobody_waits_for_is_freed() {
    struct SharedBytes(Arc<[u8; 2]>);

    impl AsRef<[u8]> for SharedBytes {
        fn as_ref(&self) -> &[u8] {
            &self.0[..]
        }
    }
    let owner = Arc::new([1_u8, 2]);
    for drops_table_first in [true, false] {
        let mut memory = Memory::new(Array::from_owner(SharedBytes(Arc::clone(&owner))));
        let mut lease = Lease::new();
        memory.lend(&Region::default(), None, &mut lease).unwrap();
        assert_eq!(Arc::strong_count(&owner), 2);
        if drops_table_first {
            drop(memory);
            drop(lease);
        } else {
            drop(lease);
            assert_eq!(Arc::strong_count(&owner), 2);
            drop(memory);
        }
        assert_eq!(Arc::strong_count(&owner), 1);
    }
}
