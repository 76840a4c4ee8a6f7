//! The slot of a lease: a block that is dropped by another thread, while tables look, wait, are cloned and dropped.

use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

use super::check;
use crate::table::lease::{Lease, Lender};

#[test]
fn a_dropped_lease_brings_the_memory_back_to_its_table_and_all_clones() {
    check("drop a lease beside clones", || {
        let mut lender = Lender::new(vec![1, 2]);
        let mut lease = Lease::new();
        lender.lend(&mut lease).unwrap();
        let early = lender.share();
        let dropping = thread::spawn(move || {
            lease.values_mut::<u8>().unwrap()[0] = 9;
            drop(lease);
        });
        let lender = Arc::new(lender);
        let beside = lender.clone();
        let cloning = thread::spawn(move || {
            let late = beside.share();
            if let Some(values) = beside.values() {
                assert_eq!(values, [9, 2]);
            }
            late
        });
        if let Some(values) = lender.values() {
            assert_eq!(values, [9, 2]);
        }
        let late = cloning.join().unwrap();
        dropping.join().unwrap();
        for table in [&*lender, &early, &late] {
            assert_eq!(table.values().unwrap(), [9, 2]);
        }
    });
}

#[test]
fn tables_that_are_dropped_while_they_wait_leave_the_memory_to_the_others() {
    check("drop tables that wait", || {
        let mut lender = Lender::new(vec![1, 2]);
        let mut lease = Lease::new();
        lender.lend(&mut lease).unwrap();
        let (kept, gone) = (lender.share(), lender.share());
        let threads = [
            thread::spawn(move || drop(lease)),
            thread::spawn(move || drop(gone)),
            thread::spawn(move || drop(lender)),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(kept.values().unwrap(), [1, 2]);
    });
}

#[test]
fn memory_that_is_taken_back_is_shared_with_clones_that_wait() {
    check("take back beside clones", || {
        let mut lender = Lender::new(vec![1, 2]);
        let mut lease = Lease::new();
        lender.lend(&mut lease).unwrap();
        let clone = Arc::new(lender.share());
        let (looks, clones) = (clone.clone(), clone.clone());
        let looking = thread::spawn(move || looks.values().is_none_or(|values| values == [7, 2]));
        let cloning = thread::spawn(move || clones.share());
        lease.values_mut::<u8>().unwrap()[0] = 7;
        lender.take_back(&mut lease).unwrap();
        assert!(lender.write(1, 5));
        lender.lend(&mut lease).unwrap(); // again, while the clones may not have looked
        assert!(looking.join().unwrap());
        assert_eq!(cloning.join().unwrap().values().unwrap(), [7, 2]);
        assert_eq!(clone.values().unwrap(), [7, 2]);
        drop(lease);
        assert_eq!(lender.values().unwrap(), [7, 5]);
    });
}
