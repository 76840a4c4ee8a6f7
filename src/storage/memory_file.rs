//! Writing to a new in-memory file (tmpfs) from several threads at the same time.
//!
//! The system serializes writes to one file: `pwrite` locks it, and saving into memory spends most of its time under
//! that lock, where the system finds pages for the file. Page faults of a shared mapping take no such lock, but twice
//! the time. A thread that finds the lock free therefore uses `pwrite`, and a thread that would have to wait for it
//! copies through the mapping. A single thread never maps anything.
//!
//! Writing to a page of a mapped file that the system has no room for would kill the program (`SIGBUS`). Pages are
//! therefore not written to before `MADV_POPULATE_WRITE` has succeeded for them. If it fails, the rest is left to
//! `pwrite`, which reports the error. A populated page stays available only if the bytes of the file lie in memory like
//! those of the program (where both may be swapped out), and if no other program truncates the file. Both hold for the
//! new file of a replacement, which does not have its final name yet, on tmpfs. On other file systems a page can be
//! written to disk in between, and the next access can fail with the disk. On ext4, writing through the mapping also
//! takes twice as long as `pwrite`, and the disk is slower than both.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Mutex, PoisonError, TryLockError};

use memmap2::{Advice, MmapOptions, MmapRaw, UncheckedAdvice};

use super::system::{TMPFS, file_system};
use crate::base::parallel;

/// Bytes whose pages are requested at a time, and returned to the system when they are written. They are still in the
/// processor's cache then, and a saving thread takes no more memory. Smaller pieces are left to the system.
const STEP: usize = 256 << 10;

/// Mode bits: users other than the owner may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A new in-memory file and its mapping.
#[derive(Debug)]
pub(super) struct MemoryFile {
    /// Held by the thread that uses `pwrite`.
    seat: Mutex<()>,
    /// The whole file. Nothing reads it, and only `copy` writes to it.
    map: MmapRaw,
    /// The bytes of the mapping that threads are writing to. No two ranges overlap.
    claimed: Mutex<Vec<Range<usize>>>,
}

impl MemoryFile {
    /// Extends a new file to `length` bytes and maps it, if it is in memory and large enough for several threads. No
    /// other program may have the file open, and it must not be truncated while it is written to.
    ///
    /// # Errors
    /// An error if there is not enough space.
    pub(super) fn begin(file: &File, length: u64) -> io::Result<Option<Self>> {
        let Ok(size) = usize::try_from(length) else { return Ok(None) };
        if parallel::task_count(size) == 1 || file.metadata()?.mode() & WRITABLE_BY_OTHERS != 0 {
            return Ok(None);
        }
        let Some(system) = file_system(file).ok().filter(|system| system.kind == TMPFS) else { return Ok(None) };
        // `fallocate` would find the pages for all of the file, one after the other, while the threads wait.
        let free = system.free_blocks.saturating_mul(system.block_size);
        if system.blocks > 0 && length > free {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let Ok(()) = file.set_len(length) else { return Ok(None) };
        let map = MmapOptions::new().len(size).map_raw(file).ok(); // no room for addresses, or an old system
        Ok(map.map(|map| Self { seat: Mutex::new(()), map, claimed: Mutex::default() }))
    }

    /// Writes all bytes at a position of `file`, which must be the file that this was made for.
    pub(super) fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let seat = match self.seat.try_lock() {
            Ok(seat) => Some(seat),
            Err(TryLockError::Poisoned(seat)) => Some(seat.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if seat.is_some() {
            return file.write_all_at(bytes, offset);
        }
        let done = self.copy(bytes, offset);
        if done == bytes.len() {
            return Ok(());
        }
        let _seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all_at(&bytes[done..], offset + done as u64)
    }

    /// Copies bytes through the mapping, beginning with the first, and returns their number. Copies only part of them
    /// if the system refuses pages, and none if they are few or outside of the file, or if another thread copies to the
    /// same place.
    fn copy(&self, bytes: &[u8], offset: u64) -> usize {
        let range = usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(bytes.len())?));
        let range = range.filter(|range| bytes.len() >= STEP && range.end <= self.map.len());
        let Some(claim) = range.and_then(|range| Claim::new(&self.claimed, range)) else { return 0 };
        let mut done = 0;
        for part in bytes.chunks(STEP) {
            let at = claim.range.start + done;
            if self.map.advise_range(Advice::PopulateWrite, at, part.len()).is_err() {
                break;
            }
            // SAFETY: `at..at + part.len()` lies in the claimed range, and that in the mapping, which was compared
            // above. No reference to the mapping exists, so `part` is elsewhere. No other thread writes to these
            // bytes through the mapping: claims do not overlap, and this one is held until the loop has ended.
            unsafe { self.map.as_mut_ptr().add(at).copy_from_nonoverlapping(part.as_ptr(), part.len()) };
            // SAFETY: the mapping is shared with a file, which keeps the bytes; they come back when they are touched.
            let _ = unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, at, part.len()) };
            done += part.len();
        }
        done
    }
}

/// The right to write to some bytes of the mapping, until it is dropped.
struct Claim<'a> {
    claimed: &'a Mutex<Vec<Range<usize>>>,
    range: Range<usize>,
}

impl<'a> Claim<'a> {
    /// Claims a non-empty range; `None` if a part of it is already claimed, or if memory is exhausted.
    fn new(claimed: &'a Mutex<Vec<Range<usize>>>, range: Range<usize>) -> Option<Self> {
        let mut all = claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|other| range.start < other.end && other.start < range.end) || all.try_reserve(1).is_err() {
            return None;
        }
        all.push(range.clone());
        Some(Self { claimed, range })
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut all = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|range| *range != self.range); // there is one: claims do not overlap
    }
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    const LENGTH: usize = 8 << 20;

    /// Creates a new in-memory file, if there is a file system for it, and maps it if possible.
    fn try_begin(length: usize) -> Option<(File, Option<MemoryFile>)> {
        let folder = tempfile::tempdir_in("/dev/shm").ok()?;
        let path = folder.path().join("file");
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path).unwrap();
        file_system(&file).ok().filter(|system| system.kind == TMPFS)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let memory = pool.install(|| MemoryFile::begin(&file, length as u64)).unwrap();
        Some((file, memory))
    }

    /// Creates a large in-memory file, if there is a file system for it and the system can populate pages.
    fn begin() -> Option<(File, MemoryFile)> {
        let (file, memory) = try_begin(LENGTH)?;
        let memory = memory.expect("a large file in memory is mapped");
        memory.map.advise_range(Advice::PopulateWrite, 0, STEP).ok()?;
        Some((file, memory))
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|i| (i * 7 + i / 251) as u8 | 1).collect()
    }

    #[test]
    fn a_thread_that_finds_the_file_taken_writes_the_same_bytes() {
        let Some((file, memory)) = begin() else {
            return eprintln!("skipped: there is no file system in memory");
        };
        let seat = memory.seat.lock().unwrap(); // bytes that cannot be copied would wait forever
        for (offset, count) in [(0, STEP), (4096, STEP + 1), (5, 3 * STEP - 1), (LENGTH - STEP, STEP)] {
            file.set_len(0).unwrap();
            file.set_len(LENGTH as u64).unwrap();
            memory.write_at(&file, &bytes(count), offset as u64).unwrap();
            let mut found = vec![0; LENGTH];
            file.read_exact_at(&mut found, 0).unwrap();
            assert!(found[offset..offset + count] == bytes(count), "{count} bytes at {offset}");
            assert!(found[..offset].iter().chain(&found[offset + count..]).all(|&byte| byte == 0), "{offset}");
        }
        drop(seat);
        assert!(memory.claimed.lock().unwrap().is_empty());
    }

    #[test]
    fn nothing_is_copied_outside_of_the_file_or_where_another_thread_copies() {
        let Some((_file, memory)) = begin() else {
            return eprintln!("skipped: there is no file system in memory");
        };
        let bytes = bytes(STEP);
        for offset in [LENGTH as u64 - STEP as u64 + 1, LENGTH as u64, u64::MAX, u64::MAX - STEP as u64] {
            assert_eq!(memory.copy(&bytes, offset), 0, "{offset}");
        }
        assert_eq!(memory.copy(&bytes[1..], 0), 0, "little is left to the system");
        let claim = Claim::new(&memory.claimed, STEP..2 * STEP).unwrap();
        for (offset, expected) in [(0, STEP), (1, 0), (STEP, 0), (2 * STEP - 1, 0), (2 * STEP, STEP)] {
            assert_eq!(memory.copy(&bytes, offset as u64), expected, "{offset}");
        }
        drop(claim);
        assert_eq!(memory.copy(&bytes, STEP as u64), STEP);
    }

    #[test]
    fn pages_that_cannot_be_had_are_not_touched() {
        let Some((file, memory)) = begin() else {
            return eprintln!("skipped: there is no file system in memory");
        };
        file.set_len(STEP as u64).unwrap(); // an access past it would be a signal
        assert_eq!(memory.copy(&bytes(3 * STEP), 0), STEP);
        file.set_len(0).unwrap();
        file.set_len(STEP as u64).unwrap();
        let seat = memory.seat.lock().unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| memory.write_at(&file, &bytes(3 * STEP), 0));
            let mut last = [0];
            while last == [0] || !memory.claimed.lock().unwrap().is_empty() {
                file.read_exact_at(&mut last, STEP as u64 - 1).unwrap(); // until it has copied what it can
            }
            drop(seat);
            writer.join().unwrap().unwrap();
        });
        let mut found = vec![0; 3 * STEP];
        file.read_exact_at(&mut found, 0).unwrap();
        assert!(found == bytes(3 * STEP));
    }

    #[test]
    fn only_large_files_that_others_cannot_write_are_mapped() {
        use std::os::unix::fs::PermissionsExt;
        assert!(try_begin(crate::base::parallel::MIN_BYTES - 1).is_none_or(|(_, memory)| memory.is_none()));
        let file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile()).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(0o620)).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert!(pool.install(|| MemoryFile::begin(&file, LENGTH as u64)).unwrap().is_none());
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
