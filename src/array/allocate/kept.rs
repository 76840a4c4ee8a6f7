//! Freed maps for later blocks.

use std::sync::{Mutex, OnceLock, TryLockError};

use memmap2::{MmapMut, UncheckedAdvice};

use super::LARGE_BLOCK;

/// The largest number of bytes that are kept on any machine, and of maps.
const MAX_BYTES: usize = 1 << 30;
const MAX_MAPS: usize = 8;

/// The largest number of bytes in maps below [`LARGE_BLOCK`] that are kept, and of these maps.
const MAX_MEDIUM_BYTES: usize = 16 << 20;
const MAX_MEDIUM_MAPS: usize = 16;

/// Large maps stay in memory up to this fraction of the bytes that are kept. The pages of others are offered to the
/// system, which takes 4 to 16 % of the time that it takes to write them.
const RESIDENT_FRACTION: usize = 16;

/// Returns the largest number of bytes that are kept: an eighth of the machine's memory, at most [`MAX_BYTES`].
pub(super) fn max_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let [pages, page] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| {
            // SAFETY: the call reads no memory of this process. It returns -1 if the system does not know.
            usize::try_from(unsafe { libc::sysconf(name) }).unwrap_or(0)
        });
        (pages.saturating_mul(page) / 8).min(MAX_BYTES)
    })
}

/// A map that nothing uses any more.
struct Kept {
    map: MmapMut,
    /// Whether the system may take the pages back.
    is_offered: bool,
}

impl Kept {
    fn is_large(&self) -> bool {
        self.map.len() >= LARGE_BLOCK
    }

    /// Returns whether the map is a large one whose pages the system cannot take back.
    fn is_resident(&self) -> bool {
        self.is_large() && !self.is_offered
    }

    /// Lets the system take the pages back. Unmaps them and returns `None` if it cannot.
    fn offer(self) -> Option<Self> {
        // SAFETY: nothing uses the contents, which the system may replace by zeros until a page is written again: a
        // map is taken only for memory that counts as uninitialized.
        unsafe { self.map.unchecked_advise(UncheckedAdvice::Free) }.ok()?;
        Some(Self { is_offered: true, ..self })
    }
}

/// The oldest one is first. A thread never waits for the lock: a fork may have copied it while another thread held
/// it.
static MAPS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Calls `work` with the maps, unless another thread uses them.
fn with_maps<R>(work: impl FnOnce(&mut Vec<Kept>) -> R) -> Option<R> {
    match MAPS.try_lock() {
        Ok(mut maps) => Some(work(&mut maps)),
        Err(TryLockError::Poisoned(poisoned)) => Some(work(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Returns the shortest kept map of at least `bytes` bytes, unless it is much longer. Of several, the one that was
/// kept last: it is the most likely one to be in the cache. Its contents are arbitrary.
pub(super) fn take(bytes: usize) -> Option<MmapMut> {
    with_maps(|maps| {
        let fits = bytes..=bytes.saturating_add(bytes / 4);
        let fitting = maps.iter().enumerate().rev().filter(|(_, kept)| fits.contains(&kept.map.len()));
        let (at, _) = fitting.min_by_key(|(_, kept)| kept.map.len())?;
        Some(maps.remove(at).map)
    })?
}

/// Keeps a map that nothing uses any more, and unmaps older ones if there are too many.
pub(super) fn put(map: MmapMut) {
    let is_large = map.len() >= LARGE_BLOCK;
    // Smaller maps are made only while the process is not limited. If it is limited later, the kept ones are unmapped
    // when a block of their size needs a new map, or an allocation fails. Here, two calls of the system for each
    // block would take longer than many a conversion.
    if map.len() > max_bytes() || (is_large && is_limited()) {
        return;
    }
    let kept = Kept { map, is_offered: false };
    let new = if is_large && kept.map.len() > max_resident_bytes() { kept.offer() } else { Some(kept) };
    if let Some(new) = new {
        offer(add(usize::MAX, new));
    }
}

/// Lets the system take back the pages of all large maps: a new map may need them.
pub(super) fn offer_all() {
    offer(with_maps(|maps| take_residents(maps, 0)).unwrap_or_default());
}

/// Returns the largest number of bytes in large maps that the system cannot take back.
pub(super) fn max_resident_bytes() -> usize {
    max_bytes() / RESIDENT_FRACTION
}

/// Maps that were taken out one after the other, each with its place at that time.
type Taken = [Option<(usize, Kept)>; MAX_MAPS];

/// Offers maps to the system, and adds them at their places. Nothing finds them meanwhile; each is unmapped instead if
/// another thread uses the list when it is added.
fn offer(taken: Taken) {
    for (at, resident) in taken.into_iter().rev().flatten() {
        if let Some(offered) = resident.offer() {
            add(at, offered);
        }
    }
}

/// Adds a map at a place, or at the end. Unmaps the oldest ones, without the lock, if there are too many. Returns those
/// that should be offered to the system.
fn add(at: usize, new: Kept) -> Taken {
    let (is_large, mut residents) = (new.is_large(), Taken::default());
    let mut surplus = with_maps(|maps| {
        // Once for all: a block that is freed need not find memory.
        let additional = (MAX_MAPS + MAX_MEDIUM_MAPS + 1).saturating_sub(maps.len()).max(1);
        if maps.try_reserve_exact(additional).is_err() {
            return Some(new);
        }
        maps.insert(at.min(maps.len()), new);
        let surplus = take_surplus(maps, is_large);
        if is_large {
            residents = take_residents(maps, max_resident_bytes());
        }
        surplus
    });
    while let Some(Some(map)) = surplus {
        drop(map);
        surplus = with_maps(|maps| take_surplus(maps, is_large));
    }
    residents
}

/// Takes the oldest map of the large or of the other ones if there are too many.
fn take_surplus(maps: &mut Vec<Kept>, is_large: bool) -> Option<Kept> {
    let (max_maps, max_bytes) = if is_large { (MAX_MAPS, max_bytes()) } else { (MAX_MEDIUM_MAPS, MAX_MEDIUM_BYTES) };
    take_oldest(maps, max_maps, max_bytes, |kept| kept.is_large() == is_large).map(|(_, kept)| kept)
}

/// Takes the oldest large maps that stay in memory, until those that are left have at most the given size.
fn take_residents(maps: &mut Vec<Kept>, max_bytes: usize) -> Taken {
    std::array::from_fn(|_| take_oldest(maps, MAX_MAPS, max_bytes, Kept::is_resident))
}

/// Takes the oldest one of some maps if there are too many, or if they have too many bytes. Returns its place too.
fn take_oldest(
    maps: &mut Vec<Kept>,
    max_maps: usize,
    max_bytes: usize,
    is_counted: impl Fn(&Kept) -> bool,
) -> Option<(usize, Kept)> {
    let counted = || maps.iter().filter(|kept| is_counted(kept));
    let (count, bytes) = (counted().count(), counted().map(|kept| kept.map.len()).sum::<usize>());
    let oldest = maps.iter().position(&is_counted)?;
    (count > max_maps || bytes > max_bytes).then(|| (oldest, maps.remove(oldest)))
}

/// Returns whether the address space or the data of this process are limited: kept maps would be missing for others.
pub(super) fn is_limited() -> bool {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter().any(|resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is that of a local variable, which the call writes.
        let status = unsafe { libc::getrlimit(resource, &raw mut limit) };
        status != 0 || limit.rlim_cur != libc::RLIM_INFINITY
    })
}

/// Unmaps all kept maps. Returns whether there were any.
pub(super) fn clear() -> bool {
    let mut count = 0;
    // Each is unmapped without the lock. The list stays: a call that fails frees no memory that another thread took.
    while count < MAX_MAPS + MAX_MEDIUM_MAPS
        && let Some(Some(_map)) = with_maps(Vec::pop)
    {
        count += 1;
    }
    count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_large_maps_are_taken_until_few_stay_in_memory() {
        let kept = |pages: usize, is_offered| {
            let map = memmap2::MmapOptions::new().len(LARGE_BLOCK + (pages << 12)).map_anon().unwrap();
            Kept { map, is_offered }
        };
        let medium = memmap2::MmapOptions::new().len(1 << 20).map_anon().unwrap();
        let mut maps = vec![kept(0, true), kept(1, false), Kept { map: medium, is_offered: false }];
        maps.extend([kept(2, false), kept(3, true), kept(4, false)]);
        let lengths = |maps: &[Kept]| maps.iter().map(|kept| kept.map.len()).collect::<Vec<_>>();
        let before = lengths(&maps);
        assert!(take_residents(&mut maps, 3 * LARGE_BLOCK + (7 << 12)).iter().all(Option::is_none));
        let taken = take_residents(&mut maps, LARGE_BLOCK + (4 << 12));
        assert_eq!(lengths(&maps), [0, 2, 4, 5].map(|at| before[at]));
        let found = taken.iter().flatten().map(|(at, kept)| (*at, kept.map.len())).collect::<Vec<_>>();
        assert_eq!(found, [(1, before[1]), (2, before[3])]);
        for (at, kept) in taken.into_iter().rev().flatten() {
            maps.insert(at, kept); // as they are added again
        }
        assert_eq!(lengths(&maps), before);
        assert_eq!(take_residents(&mut maps, 0).iter().flatten().count(), 3);
    }
}
