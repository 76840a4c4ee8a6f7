//! What belongs to a trace: nesting, ends in any order, hooks, reports.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, Trace, TraceContext, copies_of};

use super::{NOTHING, listed, set};
use CopyKind::Requested;

fn copy(bytes: usize) {
    Array::copy_of(&vec![1_u8; bytes]).unwrap();
}

#[test]
fn an_inner_trace_reports_to_the_outer_ones() {
    copy(1);
    let outer = Trace::start();
    copy(2);
    let inner = Trace::start();
    copy(3);
    assert_eq!((listed(&outer.report()), listed(&inner.report())), (vec![(Requested, 2, 5)], vec![(Requested, 1, 3)]));
    assert_eq!(listed(&inner.finish()), [(Requested, 1, 3)]);
    copy(4);
    assert_eq!(listed(&outer.finish()), [(Requested, 3, 9)]);
    copy(5);
}

#[test]
fn traces_end_in_any_order_and_on_any_thread() {
    let (first, second, third) = (Trace::start(), Trace::start(), Trace::start());
    copy(1);
    let first = std::thread::spawn(move || first.finish()).join().unwrap();
    copy(2);
    drop(third);
    copy(4);
    second.close();
    copy(8);
    second.close();
    assert_eq!((first.total().bytes, second.report().total().bytes), (1, 7));
    assert_eq!(listed(&copies_of(|| copy(3)).1), [(Requested, 1, 3)]);
    for _ in 0..100 {
        let outer = Trace::start();
        std::mem::forget(outer); // stays open
    }
    assert_eq!(copies_of(|| copy(3)).1.total().bytes, 3);
}

#[test]
fn a_trace_that_replaces_another_does_not_keep_it() {
    struct Owned(Arc<()>);
    let (alive, mut trace) = (Arc::new(()), Trace::start());
    for _ in 0..10 {
        let owned = Owned(Arc::clone(&alive));
        trace = Trace::with_hook(move |_| assert!(Arc::strong_count(&owned.0) > 0));
        copy(1);
    }
    assert_eq!(trace.report().total().bytes, 1);
    assert!(Arc::strong_count(&alive) < 4, "{}", Arc::strong_count(&alive));
}

#[test]
fn a_hook_receives_each_copy_and_its_own_are_not_recorded() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&events);
    let outer = Trace::start();
    let trace = Trace::with_hook(move |event| {
        copy(100);
        received.lock().unwrap().push((event.kind(), event.bytes(), event.to_string()));
    });
    copy(2);
    copy(0); // copies of nothing are none
    copy(3);
    assert_eq!(listed(&trace.finish()), [(Requested, 2, 5)]);
    assert_eq!(listed(&outer.finish()), [(Requested, 2, 5)]);
    let event = |bytes| (Requested, bytes, format!("requested: {bytes} bytes"));
    assert_eq!(*events.lock().unwrap(), [event(2), event(3)]);
}

#[test]
fn a_hook_that_panics_disturbs_nothing_until_the_trace_is_finished() {
    let mut table = HomogenNumericTable::from_rows(&[[1_i16, 2], [3, 4]]).unwrap();
    let outer = Trace::start();
    let trace = Trace::with_hook(|event| panic!("{event}"));
    table.update_rows::<f64, _>(.., set(7.0)).unwrap();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(table.as_slice().unwrap(), [7, 2, 3, 4]);
    assert_eq!(trace.report().total().bytes, 2 * (32 + 16));
    let panic = catch_unwind(AssertUnwindSafe(|| trace.finish())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "converted: 32 bytes"); // the first one
    assert_eq!(outer.finish().total().count, 4);
    drop(Trace::with_hook(|_| panic!("never called")));
    let dropped = Trace::with_hook(|event| panic!("{event}"));
    copy(1);
    drop(dropped); // only `finish` resumes the panic
}

#[test]
fn a_trace_ends_when_the_call_panics() {
    let thrown = catch_unwind(|| {
        copies_of(|| {
            copy(1);
            panic!("on purpose");
        })
    });
    assert!(thrown.is_err());
    assert_eq!(listed(&copies_of(|| copy(2)).1), [(Requested, 1, 2)]);
}

#[test]
fn a_report_lists_the_kinds_that_occurred() {
    let ((), report) = copies_of(|| {
        copy(1_234_567);
        copy(1);
    });
    let lines = ["copies of values     count           bytes", "requested                2         1234568"];
    assert_eq!(report.to_string(), format!("{}\n{}\ntotal                    2         1234568", lines[0], lines[1]));
    let empty = copies_of(|| ()).1;
    assert!(empty.is_empty() && empty == Default::default() && !report.is_empty());
    assert_eq!(empty.to_string(), format!("{}\ntotal                    0               0", lines[0]));
    assert_eq!(listed(&empty), NOTHING);
    let names: std::collections::HashSet<_> = CopyKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), CopyKind::ALL.len());
    assert!(CopyKind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
}

#[test]
fn a_context_is_that_of_the_thread_that_took_it() {
    let outside = TraceContext::current();
    let trace = Trace::start();
    let inside = TraceContext::current();
    outside.run(|| copy(1)); // for no trace
    inside.run(|| copy(2));
    let (_, report) = copies_of(|| inside.run(|| copy(4))); // not for the inner trace
    assert!(report.is_empty());
    let thread = std::thread::spawn(move || {
        copy(8);
        inside.run(|| {
            copy(16);
            outside.run(|| copy(32));
        });
        let thrown = catch_unwind(AssertUnwindSafe(|| inside.run(|| panic!("on purpose"))));
        copy(64);
        thrown.is_err()
    });
    assert!(thread.join().unwrap());
    assert_eq!(trace.finish().total().bytes, 2 + 4 + 16);
}
