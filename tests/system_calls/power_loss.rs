//! Power that fails at every moment: what had not been synchronized may be lost, in part or entirely.
//!
//! The disk is assumed to promise as little as POSIX does. The bytes of a file are certain once the file is
//! synchronized; before, each sector of each write may be on the disk or not, and so may a new length. A name is certain
//! once its directory is synchronized; before, the disk has the first few changes of names in that directory, or none.
//! Names may arrive before bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use test_support::bits::Random;

use super::jobs::{Found, JOBS, Job, Promise};
use super::shim::{Event, Orders, watch};
use super::{alone, effort};

const SECTOR: usize = 512;

/// How much of what is not certain a disk has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Luck {
    Nothing,
    /// All names and no bytes.
    Names,
    /// All bytes and no names.
    Bytes,
    Everything,
    Random(usize),
}

/// A file on the disk: what is certain, and what is not.
#[derive(Clone, Debug, Default)]
struct OnDisk {
    bytes: Vec<u8>,
    pending: Vec<Event>,
}

#[derive(Clone, Debug, Default)]
struct Disk {
    files: BTreeMap<usize, OnDisk>,
    names: BTreeMap<PathBuf, usize>,
    directories: Vec<PathBuf>,
    /// Changes of names that are not certain.
    pending: Vec<Event>,
}

/// The directory whose names a change concerns.
fn directory_of(event: &Event) -> &Path {
    match event {
        Event::Create { path, .. } | Event::MakeDirectory { path } | Event::Unlink { path } => path.parent().unwrap(),
        Event::Rename { to, .. } | Event::Link { to, .. } => to.parent().unwrap(),
        _ => unreachable!("{event:?} changes no names"),
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, new: &[u8]) {
    if bytes.len() < offset + new.len() {
        bytes.resize(offset + new.len(), 0);
    }
    bytes[offset..offset + new.len()].copy_from_slice(new);
}

impl OnDisk {
    /// Brings the chosen sectors of what is pending to the disk.
    fn settle(&mut self, mut is_kept: impl FnMut() -> bool) {
        for event in std::mem::take(&mut self.pending) {
            match event {
                Event::Truncate { length, .. } if is_kept() => self.bytes.resize(length as usize, 0),
                Event::Write { offset, bytes, .. } => {
                    let mut at = offset as usize;
                    let end = at + bytes.len();
                    while at < end {
                        let next = (at + 1).next_multiple_of(SECTOR).min(end);
                        if is_kept() {
                            put(&mut self.bytes, at, &bytes[at - offset as usize..next - offset as usize]);
                        }
                        at = next;
                    }
                }
                _ => {}
            }
        }
    }
}

impl Disk {
    fn of(folder: &Path) -> Self {
        let mut disk = Self { directories: vec![folder.to_owned()], ..Self::default() };
        let mut known = 0;
        for path in super::listing(folder).into_iter().map(PathBuf::from) {
            if path.is_dir() {
                disk.directories.push(path);
            } else {
                known += 1;
                let number = usize::MAX - known; // far from those of the events
                disk.files.insert(number, OnDisk { bytes: fs::read(&path).unwrap(), pending: Vec::new() });
                disk.names.insert(path, number);
            }
        }
        disk
    }

    fn change_names(&mut self, event: &Event) {
        match event {
            Event::Create { path, file } => drop(self.names.insert(path.clone(), *file)),
            Event::MakeDirectory { path } => self.directories.push(path.clone()),
            Event::Unlink { path } => drop(self.names.remove(path)),
            Event::Rename { from, to } => {
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            Event::Link { from, to } => {
                if let Some(&file) = self.names.get(from) {
                    self.names.insert(to.clone(), file);
                }
            }
            _ => {}
        }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Find { path, file } => {
                // A file of before gets the number that the events have for it.
                if let Some(number) = self.names.get_mut(path).filter(|number| **number > usize::MAX / 2) {
                    let old = std::mem::replace(number, *file);
                    let content = self.files.remove(&old).unwrap();
                    self.files.insert(*file, content);
                }
            }
            Event::Write { file, .. } | Event::Truncate { file, .. } => {
                self.files.entry(*file).or_default().pending.push(event.clone());
            }
            Event::Sync { file } => self.files.entry(*file).or_default().settle(|| true),
            Event::SyncDirectory { path } => {
                let (certain, pending): (Vec<Event>, Vec<Event>) =
                    std::mem::take(&mut self.pending).into_iter().partition(|event| directory_of(event) == path);
                self.pending = pending;
                certain.iter().for_each(|event| self.change_names(event));
            }
            names => self.pending.push(names.clone()),
        }
    }

    /// What the disk has after the power failed.
    fn fail(mut self, luck: Luck) -> Self {
        let mut random = Random::quiet(if let Luck::Random(seed) = luck { seed as u64 } else { 0 });
        let mut pending: BTreeMap<PathBuf, Vec<Event>> = BTreeMap::new();
        for event in std::mem::take(&mut self.pending) {
            pending.entry(directory_of(&event).to_owned()).or_default().push(event);
        }
        for events in pending.into_values() {
            let kept = match luck {
                Luck::Nothing | Luck::Bytes => 0,
                Luck::Names | Luck::Everything => events.len(),
                Luck::Random(_) => random.below(events.len() + 1),
            };
            events[..kept].iter().for_each(|event| self.change_names(event));
        }
        for file in self.files.values_mut() {
            let share = random.below(5); // of four
            file.settle(|| match luck {
                Luck::Nothing | Luck::Names => false,
                Luck::Bytes | Luck::Everything => true,
                Luck::Random(_) => random.below(4) < share,
            });
        }
        self
    }

    /// Writes the content of the disk to another folder.
    fn write(&self, from: &Path, to: &Path) {
        let place = |path: &Path| to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to).unwrap();
        let mut directories = self.directories.clone();
        directories.sort();
        for directory in directories.iter().filter(|directory| place(directory).parent().unwrap().is_dir()) {
            fs::create_dir_all(place(directory)).unwrap();
        }
        for (path, number) in self.names.iter().filter(|(path, _)| place(path).parent().unwrap().is_dir()) {
            let content = self.files.get(number).map_or(&[][..], |file| &file.bytes);
            fs::write(place(path), content).unwrap();
        }
    }
}

/// Lets the power fail at every moment of a job. Returns the number of disks that were looked at.
fn fail_everywhere(job: &Job) -> usize {
    let folder = job.folder();
    let (from, rebuilt) = (folder.path(), tempfile::tempdir_in(folder.path().parent().unwrap()).unwrap());
    let old = (job.read)(from).unwrap();
    let mut disk = Disk::of(from);
    let orders = Orders { records: true, ..Orders::default() };
    let (done, seen) = watch(from, orders, || (job.run)(from));
    done.unwrap();
    let random = (0..40 * effort()).map(Luck::Random);
    let lucks: Vec<Luck> =
        [Luck::Nothing, Luck::Names, Luck::Bytes, Luck::Everything].into_iter().chain(random).collect();
    let mut looked_at = 0;
    for moment in 0..=seen.events.len() {
        if moment > 0 {
            disk.apply(&seen.events[moment - 1]);
        }
        let is_done = moment == seen.events.len();
        for &luck in &lucks {
            let to = rebuilt.path().join("disk");
            disk.clone().fail(luck).write(from, &to);
            let found = (job.read)(&to);
            let what = format!("{}: moment {moment} of {}, {luck:?}: {found:?}", job.name, seen.events.len());
            match (job.is_durable, &found) {
                (true, Ok(found)) if is_done => assert_eq!(*found, Found::New, "{what}: {:?}", seen.events),
                (_, Ok(Found::Other)) => panic!("{what}: wrong values"),
                (_, Ok(found)) => {
                    let is_new_file = job.promise == Promise::InPlace && *found == Found::Nothing;
                    assert!(*found == old || *found == Found::New || is_new_file, "{what}");
                }
                (false, Err(_)) => {}
                (true, Err(_)) => assert!(job.promise == Promise::InPlace && !is_done, "{what}: not readable"),
            }
            fs::remove_dir_all(&to).unwrap();
            looked_at += 1;
        }
    }
    looked_at
}

#[test]
fn power_that_fails_at_any_moment_leaves_the_old_or_the_new_table() {
    let _alone = alone();
    let is_chosen = |job: &&Job| job.promise != Promise::Reads && !job.is_large() && !job.name.contains("left");
    for job in JOBS.iter().filter(is_chosen).filter(|job| job.name != "save through a link") {
        println!("{} points at which the power failed in \"{}\"", fail_everywhere(job), job.name);
    }
}
