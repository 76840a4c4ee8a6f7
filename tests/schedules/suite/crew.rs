//! The threads that help a call, and results that are delivered in order.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

use super::check;
use crate::base::ahead::call_in_order;
use crate::base::crew::call_share;

#[test]
fn every_index_is_worked_on_once_and_nobody_works_when_the_call_has_ended() {
    check("share", || {
        for takes_own in [false, true] {
            let done: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
            let inside = AtomicUsize::new(0);
            call_share(4, 3, takes_own, &|index| {
                inside.fetch_add(1, SeqCst);
                thread::yield_now();
                done[index].fetch_add(1, SeqCst);
                inside.fetch_sub(1, SeqCst);
            });
            assert_eq!(inside.load(SeqCst), 0);
            assert!(done.iter().all(|done| done.load(SeqCst) == 1));
        }
    });
}

#[test]
fn calls_within_calls_end() {
    check("share within share", || {
        let sum = AtomicUsize::new(0);
        call_share(2, 2, false, &|outer| {
            call_share(3, 2, false, &|inner| {
                sum.fetch_add(outer * 10 + inner, SeqCst);
            });
        });
        assert_eq!(sum.load(SeqCst), 3 * 10 + 2 * 3);
    });
}

#[test]
fn results_are_put_in_order_and_at_most_the_window_is_in_flight() {
    check("in_order", || {
        let taken = AtomicUsize::new(0);
        let mut put = 0;
        let pieces = (0..6).inspect(|_| {
            taken.fetch_add(1, SeqCst);
        });
        let work = |piece: usize| {
            thread::yield_now();
            Ok(piece * 2)
        };
        let done = call_in_order(pieces, 3, 2, work, |result| {
            assert_eq!(result, put * 2);
            assert!(taken.load(SeqCst) <= put + 2);
            put += 1;
            Ok(())
        });
        assert!(done.is_ok() && put == 6);
    });
}

#[test]
fn the_first_failure_in_order_is_that_of_the_call() {
    check("in_order with failures", || {
        let inside = AtomicUsize::new(0);
        let work = |piece: usize| {
            inside.fetch_add(1, SeqCst);
            thread::yield_now();
            inside.fetch_sub(1, SeqCst);
            if piece >= 2 { Err(piece) } else { Ok(piece) }
        };
        let mut put = Vec::new();
        let done = call_in_order(0..6, 3, 4, work, |result| {
            put.push(result);
            Ok(())
        });
        assert_eq!((done, put), (Err(2), vec![0, 1]));
        assert_eq!(inside.load(SeqCst), 0);
    });
}
