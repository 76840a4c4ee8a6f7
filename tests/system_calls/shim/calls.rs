//! The calls themselves, under the names that the C library has for them. What is not watched goes to the system.
//!
//! Each has the signature of `libc`; those with a variable number of arguments take the longest list: on both processors
//! such arguments are passed like others, and one that the caller did not give is not used.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::{AT_FDCWD, iovec, mode_t, off64_t, size_t, ssize_t};

use super::{Call, Event, Fault, IS_WATCHED, Open, Ordering, State, state};

fn fail(error: c_int) -> c_long {
    // SAFETY: the address is that of this thread's error number.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Calls the system.
macro_rules! system {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are those that the caller gave for the same call.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}

/// Calls the function of this name in the C library, which the one in this file hides.
macro_rules! next {
    ($name:literal as $signature:ty, $($argument:expr),*) => {{
        // SAFETY: the name ends with a zero; the library has a function of this name and signature, which gets the
        // caller's arguments.
        unsafe {
            let next = libc::dlsym(libc::RTLD_NEXT, $name.as_ptr());
            std::mem::transmute::<*mut c_void, $signature>(next)($($argument),*)
        }
    }};
}

/// Borrows the state, if anything is watched.
fn with<R>(look: impl FnOnce(&mut State) -> Option<R>) -> Option<R> {
    if IS_WATCHED.load(Ordering::Relaxed) { state().as_mut().and_then(look) } else { None }
}

/// Returns a watched path.
fn watched(state: &State, path: *const c_char) -> Option<PathBuf> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's path ends with a zero.
    let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()));
    path.starts_with(&state.folder).then(|| path.to_owned())
}

fn on_path(call: Call, path: *const c_char) -> Option<Fault> {
    with(|state| watched(state, path).and_then(|_| state.fault(call)))
}

fn on_file(call: Call, file: c_int) -> Option<Fault> {
    with(|state| if state.open.contains_key(&file) { state.fault(call) } else { None })
}

/// A call that only succeeds or fails.
macro_rules! plain {
    ($fault:expr, $call:expr) => {
        match $fault {
            Some(Fault::Error(error)) => fail(error) as _,
            _ => $call as _,
        }
    };
}

#[unsafe(no_mangle)]
extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    if let Some(Fault::Error(error)) = on_path(Call::Open, path) {
        return fail(error) as c_int;
    }
    let exists = flags & libc::O_CREAT == 0 || with(|state| watched(state, path)).is_none() || {
        let mut found = std::mem::MaybeUninit::<libc::statx>::uninit();
        system!(SYS_statx, AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW, 0, found.as_mut_ptr()) == 0
    };
    let file = system!(SYS_openat, AT_FDCWD, path, flags, mode as c_uint) as c_int;
    if file >= 0 {
        with(|state| {
            let path = watched(state, path)?;
            let is_directory = is_directory(&path);
            let number = if is_directory { 0 } else { state.file_at(&path) };
            if !is_directory {
                state.record(|_| match exists {
                    true => Event::Find { path: path.clone(), file: number },
                    false => Event::Create { path: path.clone(), file: number },
                });
                if flags & libc::O_TRUNC != 0 {
                    state.record(|_| Event::Truncate { file: number, length: 0 });
                }
            }
            state.open.insert(file, Open { path, file: number, is_directory })
        });
    }
    file
}

#[unsafe(no_mangle)]
extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    open64(path, flags, mode)
}

/// Asks the system, and not the calls of this file: they are locked.
fn is_directory(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_bytes()) else { return false };
    let mut found = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let status = system!(SYS_statx, AT_FDCWD, path.as_ptr(), 0, libc::STATX_TYPE, found.as_mut_ptr());
    // SAFETY: zeros are a valid value, and the call writes one if it succeeds.
    let mode = unsafe { found.assume_init() }.stx_mode;
    status == 0 && u32::from(mode) & libc::S_IFMT == libc::S_IFDIR
}

#[unsafe(no_mangle)]
extern "C" fn close(file: c_int) -> c_int {
    let fault = on_file(Call::Close, file);
    with(|state| state.open.remove(&file));
    let closed = system!(SYS_close, file); // as the system does, also if it reports an error
    match fault {
        Some(Fault::Error(error)) => fail(error) as c_int,
        _ => closed as c_int,
    }
}

#[unsafe(no_mangle)]
extern "C" fn read(file: c_int, to: *mut c_void, count: size_t) -> ssize_t {
    let fault = on_file(Call::Read, file);
    let count = if fault == Some(Fault::Short) { count.min(1) } else { count };
    plain!(fault, system!(SYS_read, file, to, count))
}

#[unsafe(no_mangle)]
extern "C" fn pread64(file: c_int, to: *mut c_void, count: size_t, offset: off64_t) -> ssize_t {
    let fault = on_file(Call::ReadAt, file);
    let count = if fault == Some(Fault::Short) { count.min(1) } else { count };
    plain!(fault, system!(SYS_pread64, file, to, count, offset))
}

/// Decides how many bytes of a watched file are written. `None` if the file is not watched.
fn writing(call: Call, file: c_int, count: usize) -> Option<Result<usize, c_int>> {
    with(|state| {
        state.open.get(&file)?;
        Some(match state.fault(call) {
            Some(Fault::Error(error)) => Err(error),
            fault => {
                let count = if fault == Some(Fault::Short) { count.min(1) } else { count };
                let taken = state.take_room(count);
                if taken == 0 && count > 0 { Err(libc::ENOSPC) } else { Ok(taken) }
            }
        })
    })
}

/// Records bytes that were written, from where they were written or copied.
fn record_bytes(file: c_int, offset: u64, bytes: impl FnOnce() -> Vec<u8>) {
    with(|state| {
        let number = state.open.get(&file)?.file;
        state.record(|_| Event::Write { file: number, offset, bytes: bytes() });
        Some(())
    });
}

/// Copies bytes that the caller has written.
///
/// # Safety
/// That many bytes can be read at the address.
unsafe fn copied(bytes: *const c_void, count: ssize_t) -> Vec<u8> {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize) }.to_vec()
}

#[unsafe(no_mangle)]
extern "C" fn write(file: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    match writing(Call::Write, file, count) {
        None => system!(SYS_write, file, bytes, count) as ssize_t,
        Some(Err(error)) => fail(error) as ssize_t,
        Some(Ok(count)) => {
            let offset = system!(SYS_lseek, file, 0, libc::SEEK_CUR) as u64;
            let written = system!(SYS_write, file, bytes, count) as ssize_t;
            if written > 0 {
                // SAFETY: the system has just read them.
                record_bytes(file, offset, || unsafe { copied(bytes, written) });
            }
            written
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    match writing(Call::WriteMany, file, usize::MAX) {
        None => system!(SYS_writev, file, parts, count) as ssize_t,
        Some(Err(error)) => fail(error) as ssize_t,
        // SAFETY: there are `count` parts. Writing only the first one is allowed.
        Some(Ok(_)) => match unsafe { std::slice::from_raw_parts(parts, count as usize) }.first() {
            Some(first) => write(file, first.iov_base, first.iov_len),
            None => 0,
        },
    }
}

#[unsafe(no_mangle)]
extern "C" fn pwrite64(file: c_int, bytes: *const c_void, count: size_t, offset: off64_t) -> ssize_t {
    match writing(Call::WriteAt, file, count) {
        None => system!(SYS_pwrite64, file, bytes, count, offset) as ssize_t,
        Some(Err(error)) => fail(error) as ssize_t,
        Some(Ok(count)) => {
            let written = system!(SYS_pwrite64, file, bytes, count, offset) as ssize_t;
            if written > 0 {
                // SAFETY: the system has just read them.
                record_bytes(file, offset as u64, || unsafe { copied(bytes, written) });
            }
            written
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut off64_t,
    to: c_int,
    to_offset: *mut off64_t,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    match writing(Call::CopyRange, to, count) {
        None => system!(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags) as ssize_t,
        Some(Err(error)) => fail(error) as ssize_t,
        Some(Ok(count)) => {
            let copied = system!(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags) as ssize_t;
            if copied > 0 && !to_offset.is_null() {
                // SAFETY: the system has read and written it.
                let end = unsafe { *to_offset } as u64;
                let start = end - copied as u64;
                record_bytes(to, start, || {
                    let mut bytes = vec![0_u8; copied as usize];
                    system!(SYS_pread64, to, bytes.as_mut_ptr(), bytes.len(), start);
                    bytes
                });
            }
            copied
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn lseek64(file: c_int, offset: off64_t, whence: c_int) -> off64_t {
    plain!(on_file(Call::Seek, file), system!(SYS_lseek, file, offset, whence))
}

fn synchronise(call: Call, file: c_int) -> c_int {
    if let Some(Fault::Error(error)) = on_file(call, file) {
        return fail(error) as c_int;
    }
    // The disk itself is never waited for: no test of this program needs it.
    with(|state| {
        let open = state.open.get(&file)?;
        let (path, number) = (open.path.clone(), open.file);
        let event = if open.is_directory { Event::SyncDirectory { path } } else { Event::Sync { file: number } };
        state.record(|_| event);
        Some(())
    });
    0
}

#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    synchronise(Call::Sync, file)
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    synchronise(Call::SyncData, file)
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate64(file: c_int, length: off64_t) -> c_int {
    if let Some(Fault::Error(error)) = on_file(Call::Truncate, file) {
        return fail(error) as c_int;
    }
    let status = system!(SYS_ftruncate, file, length);
    if status == 0 {
        with(|state| {
            let number = state.open.get(&file)?.file;
            state.record(|_| Event::Truncate { file: number, length: length as u64 });
            Some(())
        });
    }
    status as c_int
}

#[unsafe(no_mangle)]
extern "C" fn fallocate64(file: c_int, mode: c_int, offset: off64_t, length: off64_t) -> c_int {
    let fault = on_file(Call::Allocate, file);
    let room = with(|state| state.open.get(&file).and(state.room));
    match fault {
        Some(Fault::Error(error)) => fail(error) as c_int,
        // Not every file system can reserve room: writing has to find that there is none.
        _ if room.is_some() => fail(libc::EOPNOTSUPP) as c_int,
        _ => system!(SYS_fallocate, file, mode, offset, length) as c_int,
    }
}

#[unsafe(no_mangle)]
extern "C" fn mmap64(
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off64_t,
) -> *mut c_void {
    if let Some(Fault::Error(error)) = on_file(Call::Map, file) {
        fail(error);
        return libc::MAP_FAILED;
    }
    let start = system!(SYS_mmap, address, length, protection, flags, file, offset) as usize;
    if start as isize > 0 {
        with(|state| {
            state.open.get(&file)?;
            state.maps.push((start, start + length));
            Some(())
        });
    }
    start as *mut c_void
}

fn on_map(call: Call, address: *mut c_void) -> Option<Fault> {
    with(|state| {
        let address = address as usize;
        let is_mapped = state.maps.iter().any(|&(start, end)| (start..end).contains(&address));
        if is_mapped { state.fault(call) } else { None }
    })
}

#[unsafe(no_mangle)]
extern "C" fn munmap(address: *mut c_void, length: size_t) -> c_int {
    with(|state| {
        let mapped = state.maps.iter().position(|&(start, _)| start == address as usize)?;
        Some(state.maps.swap_remove(mapped))
    });
    system!(SYS_munmap, address, length) as c_int
}

#[unsafe(no_mangle)]
extern "C" fn msync(address: *mut c_void, length: size_t, flags: c_int) -> c_int {
    plain!(on_map(Call::SyncMap, address), system!(SYS_msync, address, length, flags))
}

#[unsafe(no_mangle)]
extern "C" fn madvise(address: *mut c_void, length: size_t, advice: c_int) -> c_int {
    plain!(on_map(Call::Advise, address), system!(SYS_madvise, address, length, advice))
}

/// A call that changes names.
fn renaming(call: Call, path: *const c_char, system: impl FnOnce() -> c_long, event: impl FnOnce(&mut State)) -> c_int {
    if let Some(Fault::Error(error)) = on_path(call, path) {
        return fail(error) as c_int;
    }
    let status = system();
    if status == 0 {
        with(|state| watched(state, path).map(|_| event(state)));
    }
    status as c_int
}

#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let renamed = || system!(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    renaming(Call::Rename, from, renamed, |state| {
        let (Some(from), Some(to)) = (watched(state, from), watched(state, to)) else { return };
        let file = state.file_at(&from);
        state.files.remove(&from);
        state.files.insert(to.clone(), file);
        state.record(|_| Event::Rename { from, to });
    })
}

#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    renaming(
        Call::Unlink,
        path,
        || system!(SYS_unlinkat, AT_FDCWD, path, 0),
        |state| {
            let Some(path) = watched(state, path) else { return };
            state.files.remove(&path);
            state.record(|_| Event::Unlink { path });
        },
    )
}

#[unsafe(no_mangle)]
extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    renaming(
        Call::MakeDirectory,
        path,
        || system!(SYS_mkdirat, AT_FDCWD, path, mode as c_uint),
        |state| {
            let Some(path) = watched(state, path) else { return };
            state.record(|_| Event::MakeDirectory { path });
        },
    )
}

#[unsafe(no_mangle)]
extern "C" fn linkat(
    from_folder: c_int,
    from: *const c_char,
    to_folder: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let linked = || system!(SYS_linkat, from_folder, from, to_folder, to, flags);
    renaming(Call::Link, to, linked, |state| {
        let (Some(from), Some(to)) = (watched(state, from), watched(state, to)) else { return };
        let file = state.file_at(&from);
        state.files.insert(to.clone(), file);
        state.record(|_| Event::Link { from, to });
    })
}

#[unsafe(no_mangle)]
extern "C" fn statx(file: c_int, path: *const c_char, flags: c_int, mask: c_uint, found: *mut libc::statx) -> c_int {
    // SAFETY: a path that is not null ends with a zero.
    let is_of_file = !path.is_null() && unsafe { *path } == 0;
    let fault = if is_of_file { on_file(Call::FileStatus, file) } else { on_path(Call::Status, path) };
    plain!(fault, system!(SYS_statx, file, path, flags, mask, found))
}

#[unsafe(no_mangle)]
extern "C" fn flock(file: c_int, operation: c_int) -> c_int {
    plain!(on_file(Call::Lock, file), system!(SYS_flock, file, operation))
}

#[unsafe(no_mangle)]
extern "C" fn fchmod(file: c_int, mode: mode_t) -> c_int {
    plain!(on_file(Call::Mode, file), system!(SYS_fchmod, file, mode as c_uint))
}

#[unsafe(no_mangle)]
extern "C" fn readlink(path: *const c_char, to: *mut c_char, count: size_t) -> ssize_t {
    plain!(on_path(Call::ReadLink, path), system!(SYS_readlinkat, AT_FDCWD, path, to, count))
}

#[unsafe(no_mangle)]
extern "C" fn fstatfs64(file: c_int, found: *mut libc::statfs64) -> c_int {
    plain!(on_file(Call::SystemStatus, file), system!(SYS_fstatfs, file, found))
}

#[unsafe(no_mangle)]
extern "C" fn opendir(path: *const c_char) -> *mut c_void {
    if let Some(Fault::Error(error)) = on_path(Call::OpenDirectory, path) {
        fail(error);
        return std::ptr::null_mut();
    }
    let stream = next!(c"opendir" as extern "C" fn(*const c_char) -> *mut c_void, path);
    with(|state| watched(state, path).map(|_| state.streams.push(stream as usize)));
    stream
}

#[unsafe(no_mangle)]
extern "C" fn readdir64(stream: *mut c_void) -> *mut c_void {
    let fault =
        with(|state| if state.streams.contains(&(stream as usize)) { state.fault(Call::ReadDirectory) } else { None });
    if let Some(Fault::Error(error)) = fault {
        fail(error);
        return std::ptr::null_mut();
    }
    next!(c"readdir64" as extern "C" fn(*mut c_void) -> *mut c_void, stream)
}

#[unsafe(no_mangle)]
extern "C" fn closedir(stream: *mut c_void) -> c_int {
    with(|state| {
        state.streams.retain(|&open| open != stream as usize);
        Some(())
    });
    next!(c"closedir" as extern "C" fn(*mut c_void) -> c_int, stream)
}

#[unsafe(no_mangle)]
extern "C" fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    if let Some(Fault::Error(error)) = on_path(Call::RealPath, path) {
        fail(error);
        return std::ptr::null_mut();
    }
    next!(c"realpath" as extern "C" fn(*const c_char, *mut c_char) -> *mut c_char, path, to)
}
