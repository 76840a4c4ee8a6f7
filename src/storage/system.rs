//! Calls of Linux that the standard library does not have.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// Retries a call that a signal interrupted.
fn retried(mut call: impl FnMut() -> i64) -> io::Result<i64> {
    loop {
        match call() {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            value => return Ok(value),
        }
    }
}

/// Returns a number of bytes as the system takes it.
fn offset(bytes: u64) -> io::Result<i64> {
    i64::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

/// Allocates disk space for the first `length` bytes of a file, whose length stays as it is.
pub(super) fn allocate(file: &File, length: u64) -> io::Result<()> {
    let length = offset(length)?;
    if cfg!(miri) {
        return Ok(()); // Miri does not have this call, which only makes a full disk fail sooner
    }
    // SAFETY: the descriptor is open as long as `file` is borrowed; the call takes no addresses.
    let call = || unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, length) };
    retried(|| call().into()).map(drop)
}

/// Copies up to `count` bytes between positions of two files, and returns how many; their own positions stay.
pub(super) fn copy_file_range(source: &File, from: u64, target: &File, to: u64, count: usize) -> io::Result<usize> {
    let (mut from, mut to) = (offset(from)?, offset(to)?);
    let copied = retried(|| {
        // SAFETY: both descriptors are open as long as the files are borrowed, and both addresses are those of local
        // variables, which the call may change.
        let copied =
            unsafe { libc::copy_file_range(source.as_raw_fd(), &mut from, target.as_raw_fd(), &mut to, count, 0) };
        copied as i64
    })?;
    Ok(copied as usize)
}

/// The file system type of tmpfs (`TMPFS_MAGIC` in `linux/magic.h`).
pub(super) const TMPFS: u64 = 0x0102_1994;

/// A file system: its type, the size of a block in bytes, and its numbers of all and of free blocks.
pub(super) struct FileSystem {
    pub(super) kind: u64,
    pub(super) block_size: u64,
    #[cfg_attr(not(feature = "mmap"), allow(dead_code))] // only files in memory need it
    pub(super) blocks: u64,
    pub(super) free_blocks: u64,
}

/// Returns the file system that a file is on.
pub(super) fn file_system(file: &File) -> io::Result<FileSystem> {
    let mut found = MaybeUninit::<libc::statfs64>::uninit();
    // SAFETY: the descriptor is open as long as `file` is borrowed, and `found` has room for what the call writes.
    retried(|| unsafe { libc::fstatfs64(file.as_raw_fd(), found.as_mut_ptr()) }.into())?;
    // SAFETY: the call succeeded, so it has written all of it.
    let found = unsafe { found.assume_init() };
    Ok(FileSystem {
        kind: found.f_type as u64,
        block_size: found.f_bsize as u64,
        blocks: found.f_blocks,
        free_blocks: found.f_bavail,
    })
}

/// Returns whether a file is on a disk that has at least `bytes` free bytes. Files in memory are on none: reserved pages
/// would be charged at once, and a reservation beyond a limit of the file size would end the program.
pub(super) fn is_on_disk_with(file: &File, bytes: u64) -> bool {
    file_system(file)
        .is_ok_and(|system| system.kind != TMPFS && system.free_blocks.saturating_mul(system.block_size) >= bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_reserved_and_bytes_are_copied_between_positions() {
        let (source, target) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        std::io::Write::write_all(&mut &source, b"0123456789").unwrap();
        match allocate(&target, 1 << 20) {
            Ok(()) => assert_eq!(target.metadata().unwrap().len(), 0),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Unsupported),
        }
        assert_eq!(allocate(&target, u64::MAX).unwrap_err().raw_os_error(), Some(libc::EFBIG));
        match copy_file_range(&source, 2, &target, 1, 100) {
            Ok(copied) => {
                assert_eq!((copied, target.metadata().unwrap().len()), (8, 9));
                let mut bytes = [9; 9];
                std::os::unix::fs::FileExt::read_exact_at(&target, &mut bytes, 0).unwrap();
                assert_eq!(&bytes, b"\x0023456789");
            }
            Err(error) => assert!(matches!(error.raw_os_error(), Some(libc::EXDEV | libc::ENOSYS | libc::EOPNOTSUPP))),
        }
    }

    #[test]
    fn a_file_system_has_a_type_and_blocks() {
        let system = file_system(&tempfile::tempfile().unwrap()).unwrap();
        assert!(system.kind != 0 && system.block_size > 0 && system.free_blocks <= system.blocks.max(1));
    }
}
