//! Every call fails once, in turn: no loss, no leak, a clear error, and the next attempt works.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use numeric_table::{ErrorKind, files};

use super::jobs::{Done, Found, JOBS, Job, Promise};
use super::shim::{Call, Fault, Orders, Plan, Seen, watch};
use super::{alone, effort, listing};

/// Returns the faults to try for a call: errors of a failing disk, errors that the call's manual page lists, and short or
/// interrupted calls, which are not errors.
fn faults(call: Call) -> Vec<Fault> {
    use libc::{EACCES, EDQUOT, EINTR, EINVAL, EIO, EMFILE, ENODEV, ENOLCK, ENOMEM, ENOSPC, EOPNOTSUPP, EPERM, EXDEV};
    let errors: &[i32] = match call {
        Call::Open => &[EIO, EACCES, EMFILE, ENOSPC, EINTR],
        Call::Read | Call::ReadAt | Call::Truncate => &[EIO, EINTR],
        Call::Write | Call::WriteAt | Call::WriteMany => &[EIO, ENOSPC, EDQUOT, EINTR],
        Call::Sync | Call::SyncData => &[EIO, ENOSPC, EDQUOT, EINVAL, EINTR],
        Call::Allocate => &[EIO, ENOSPC, EOPNOTSUPP, EINTR],
        Call::CopyRange => &[EIO, ENOSPC, EXDEV, EOPNOTSUPP, EINTR],
        Call::Map | Call::Advise => &[ENOMEM, ENODEV],
        Call::Rename => &[EIO, ENOSPC, EACCES, EXDEV],
        Call::Lock => &[ENOLCK, EOPNOTSUPP, EIO, EINTR],
        Call::Mode => &[EPERM, EIO],
        Call::Status | Call::FileStatus | Call::ReadLink | Call::RealPath | Call::MakeDirectory => &[EIO, EACCES],
        _ => &[EIO],
    };
    let may_be_short = matches!(call, Call::Read | Call::ReadAt | Call::Write | Call::WriteAt | Call::CopyRange);
    errors.iter().map(|&error| Fault::Error(error)).chain(may_be_short.then_some(Fault::Short)).collect()
}

/// Descriptors and mappings of files in a folder that this program has.
fn held(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(|item| fs::read_link(item.ok()?.path()).ok());
    let mut held: Vec<String> = links.map(|path| path.to_string_lossy().into_owned()).collect();
    held.extend(fs::read_to_string("/proc/self/maps").unwrap().lines().map(str::to_owned));
    held.retain(|name| name.contains(folder));
    held
}

struct Files {
    before: BTreeSet<String>,
    after: BTreeSet<String>,
}

/// Checks what one failure has left. Returns whether the job failed.
fn check(job: &Job, folder: &Path, plan: Plan, done: &Done, files: &Files) -> bool {
    let what = format!("{}: {plan:?}: {done:?}", job.name);
    assert_eq!(held(folder), [""; 0], "{what}: a descriptor or a mapping leaks");
    let found = (job.read)(folder);
    let now = listing(folder);
    let names = |path: &String| path.replace(folder.to_str().unwrap(), "");
    let mut now: BTreeSet<String> = now.iter().map(names).collect();
    // A lock whose state is unknown is not removed: another program may hold it. It is empty, and listed.
    now.retain(|name| !name.ends_with(".lock") || !is_leftover(folder, name));
    match done {
        Ok(()) => {
            if job.promise != Promise::Reads {
                assert_eq!(now, files.after, "{what}");
            }
            assert!(matches!(found, Ok(Found::New)) || (job.read as usize == nothing_is_read()), "{what}: {found:?}");
            return false;
        }
        Err(error) => {
            let text = error.to_string();
            let is_named =
                error.path().is_some_and(|path| path.starts_with(folder) && text.contains(path.to_str().unwrap()));
            assert!(is_named, "{what}: no path: {text}");
            if let (Fault::Error(number), ErrorKind::Io { source }) = (plan.fault, error.kind()) {
                let reason = std::io::Error::from_raw_os_error(number).to_string();
                let is_clear = source.raw_os_error() == Some(number) || text.contains(&reason);
                assert!(is_clear, "{what}: another reason: {text}");
            }
        }
    }
    assert!(plan.fault != Fault::Short && plan.fault != Fault::Error(libc::EINTR), "{what}: this is not a failure");
    let allowed: BTreeSet<String> = files.before.union(&files.after).cloned().collect();
    assert!(now.is_subset(&allowed), "{what}: left behind: {:?}", now.difference(&allowed));
    match job.promise {
        Promise::Atomic => {
            assert!(files.before.is_subset(&now) || job.name == "remove leftovers", "{what}: a file is lost: {now:?}");
            let is_old = matches!(found, Ok(Found::Old | Found::Nothing));
            // The name is there, but may not be on the disk: this is documented.
            let is_new = matches!(found, Ok(Found::New)) && matches!(plan.call, Call::Sync);
            assert!(is_old || is_new, "{what}: {found:?}");
        }
        Promise::InPlace => assert!(!matches!(found, Ok(Found::Other)), "{what}: {found:?}"),
        Promise::Reads => assert_eq!(now, files.before, "{what}"),
    }
    true
}

/// Whether a file is listed as left behind, and can be removed.
fn is_leftover(folder: &Path, name: &str) -> bool {
    let path = folder.join(name.trim_start_matches('/'));
    let left = files::leftovers(path.parent().unwrap()).unwrap();
    left.into_iter().any(|left| left.path() == path && left.size_in_bytes() == 0 && left.remove().unwrap())
}

fn nothing_is_read() -> usize {
    JOBS.iter().find(|job| job.name == "read").unwrap().read as usize
}

fn names(folder: &Path) -> BTreeSet<String> {
    listing(folder).iter().map(|path| path.replace(folder.to_str().unwrap(), "")).collect()
}

/// Lets every call of a job fail. Returns the numbers of failures and of errors.
fn fail_each(job: &Job) -> (usize, usize) {
    let folder = job.folder();
    let before = names(folder.path());
    let (done, Seen { counts, .. }) = watch(folder.path(), Orders::default(), || (job.run)(folder.path()));
    done.unwrap();
    let files = Files { before, after: names(folder.path()) };
    let (mut failures, mut errors) = (0, 0);
    for (&call, &count) in &counts {
        // Threads share the calls of large jobs, so that their number varies.
        let last = if job.is_large() { count.min(4 * effort()) } else { count };
        for (number, fault) in (0..last).flat_map(|number| faults(call).into_iter().map(move |fault| (number, fault))) {
            let (folder, plan) = (job.folder(), Plan { call, number, fault });
            let orders = Orders { plan: Some(plan), ..Orders::default() };
            let (done, seen) = watch(folder.path(), orders, || (job.run)(folder.path()));
            assert!(seen.has_failed || job.is_large(), "{}: {plan:?} was not reached", job.name);
            failures += usize::from(seen.has_failed);
            if check(job, folder.path(), plan, &done, &files) {
                errors += 1;
                if matches!((job.read)(folder.path()), Ok(Found::New)) && job.name.contains("shards") {
                    continue; // they are there, and are not written a second time
                }
                (job.run)(folder.path()).unwrap_or_else(|error| panic!("{}: {plan:?}: again: {error}", job.name));
                let found = (job.read)(folder.path());
                assert!(matches!(found, Ok(Found::New | Found::Nothing)), "{}: {plan:?}: again: {found:?}", job.name);
            }
        }
    }
    println!("{}: {counts:?}", job.name);
    (failures, errors)
}

fn fail_each_of(is_chosen: fn(&Job) -> bool) {
    let _alone = alone();
    for job in JOBS.iter().filter(|job| is_chosen(job)) {
        let (failures, errors) = fail_each(job);
        println!(
            "{failures} calls of \"{}\" failed: {errors} errors, and {} that did no harm",
            job.name,
            failures - errors
        );
    }
}

#[test]
fn every_call_of_a_save_may_fail() {
    fail_each_of(|job| job.promise != Promise::Reads && !job.is_large() && !job.name.contains("shards"));
}

#[test]
fn every_call_of_saving_many_files_may_fail() {
    fail_each_of(|job| job.promise != Promise::Reads && job.name.contains("shards"));
}

#[test]
fn every_call_of_reading_and_mapping_may_fail() {
    fail_each_of(|job| job.promise == Promise::Reads && !job.is_large());
}

#[test]
fn every_call_of_several_threads_may_fail() {
    fail_each_of(Job::is_large);
}
