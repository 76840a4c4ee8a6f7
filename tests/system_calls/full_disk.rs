//! A disk that gets full at every byte of a save: an error, the old file, and nothing else.

use std::path::Path;

use numeric_table::ErrorKind;

use super::jobs::{Found, JOBS, Job, Promise};
use super::shim::{Event, Orders, watch};
use super::{alone, effort, listing};

/// The number of bytes that a job writes.
fn bytes_of(job: &Job) -> u64 {
    let folder = job.folder();
    let orders = Orders { records: true, ..Orders::default() };
    let (done, seen) = watch(folder.path(), orders, || (job.run)(folder.path()));
    done.unwrap();
    let bytes = |event: &Event| if let Event::Write { bytes, .. } = event { bytes.len() as u64 } else { 0 };
    seen.events.iter().map(bytes).sum()
}

fn check(job: &Job, folder: &Path, room: u64, old: Found) {
    let before = listing(folder);
    let orders = Orders { room: Some(room), ..Orders::default() };
    let (done, _) = watch(folder, orders, || (job.run)(folder));
    let what = format!("{} with room for {room} bytes: {done:?}", job.name);
    let error = done.as_ref().expect_err(&what);
    let is_full = matches!(error.kind(), ErrorKind::Io { source } if source.raw_os_error() == Some(libc::ENOSPC));
    assert!(is_full && error.path().is_some_and(|path| path.starts_with(folder)), "{what}");
    let found = (job.read)(folder);
    match job.promise {
        Promise::InPlace => assert!(!matches!(found, Ok(Found::Other | Found::New)), "{what}: {found:?}"),
        _ => assert!(found.as_ref().is_ok_and(|&found| found == old), "{what}: {found:?}"),
    }
    let is_temporary = |path: &String| path.ends_with(".tmp") || path.ends_with(".lock");
    let after = listing(folder);
    assert!(before.is_subset(&after) && !after.iter().any(is_temporary), "{what}: {after:?}");
}

fn fill_for(is_chosen: fn(&Job) -> bool) {
    let _alone = alone();
    let may_fill = |job: &&Job| job.promise != Promise::Reads && job.name != "remove leftovers" && !job.is_large();
    for job in JOBS.iter().filter(may_fill).filter(|job| is_chosen(job)) {
        let total = bytes_of(job);
        // Every byte of one format; of others, as many as there is time for.
        let step = if job.name == "save" || effort() > 1 { 1 } else { 37 };
        let mut folder = job.folder();
        let old = (job.read)(folder.path()).unwrap();
        for room in (0..total).step_by(step).chain(total.saturating_sub(9)..total) {
            check(job, folder.path(), room, old);
            if job.promise == Promise::InPlace || job.name.contains("shards") {
                folder = job.folder();
            }
        }
        (job.run)(folder.path()).unwrap();
        assert!(matches!((job.read)(folder.path()), Ok(Found::New)), "{}: with room", job.name);
        println!(
            "{} points at which the disk got full in \"{}\", of {total} bytes",
            total.div_ceil(step as u64),
            job.name
        );
    }
}

#[test]
fn a_disk_that_gets_full_at_any_byte_leaves_the_old_table() {
    fill_for(|job| !job.name.contains("shards"));
}

#[test]
fn a_disk_that_gets_full_at_any_byte_leaves_the_old_files() {
    fill_for(|job| job.name.contains("shards"));
}
