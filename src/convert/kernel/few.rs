//! Writing a few values, most often one row with one changed value.
//!
//! The values are converted as the block showed them, and compared as integers of their width. Only those that differ
//! are checked, converted back and stored, so that a row costs one short loop and a few single values.

use std::mem::MaybeUninit;

use super::pair::Pair;
use crate::base::element::{ElementType, match_width};
use crate::convert::WriteRule;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnySlice, AnySliceMut, Bits};

/// The largest number of values: one bit each.
pub(super) const MOST: usize = 64;

/// The largest number of changes that are checked and converted one by one.
pub(super) const SINGLE: u32 = 8;

/// The number of bytes that are compared at a time.
const STEP: usize = 64;

/// Memory for [`MOST`] values of any type. Unlike that of a tile, it takes no more than a page of the stack, so that
/// entering a function with two of them is cheap.
#[repr(align(64))]
struct FewScratch([MaybeUninit<u8>; MOST * size_of::<u64>()]);

impl FewScratch {
    const fn new() -> Self {
        Self([MaybeUninit::uninit(); MOST * size_of::<u64>()])
    }

    /// Borrows room for `count` elements. Panics if they do not fit; callers have compared.
    fn room(&mut self, element: ElementType, count: usize) -> AnyRoom<'_> {
        assert!(count <= MOST, "the elements fit");
        AnyRoom::of_bytes(&mut self.0, element, count)
    }
}

/// The pair that shows the values of a table in another type, and the one that stores them.
///
/// Invariant: the types of `store` are those of `show`, exchanged.
#[derive(Clone, Copy)]
pub(crate) struct FewPairs {
    show: &'static Pair,
    store: &'static Pair,
}

impl FewPairs {
    /// Returns the pairs for a stored type and a block's type; `None` if they are the same. They are constants if the
    /// types are.
    #[inline(always)]
    pub(crate) fn of(stored: ElementType, shown: ElementType) -> Option<Self> {
        (stored != shown).then(|| Self { show: Pair::of(stored, shown), store: Pair::of(shown, stored) })
    }

    /// Writes a few values of a block over the same number of old ones if the policy permits all changes. Returns
    /// whether it did; if not, nothing is written, and [`write`](super::write) then finds the reason. A new value is
    /// not a change if it has the same bits that the old one converts to.
    ///
    /// `new` is a reference, so that callers need not copy a slice that they have just put together: reading two words
    /// at once that were written one by one stalls the processor.
    #[inline(always)]
    pub(crate) fn write(self, old: AnySliceMut<'_>, new: &AnySlice<'_>, rule: WriteRule) -> bool {
        let has_types = self.store.is_of(new.element_type(), old.element_type());
        // SAFETY: the types and the lengths have been compared; the invariant.
        has_types && new.len() <= MOST && new.len() == old.len() && unsafe { self.write_few(old, new, rule) }
    }

    /// Does what [`write`](Self::write) does.
    ///
    /// # Safety
    /// The values must have the types of the pairs, and the lengths must be equal, at most [`MOST`].
    #[inline(never)]
    unsafe fn write_few(self, old: AnySliceMut<'_>, new: &AnySlice<'_>, rule: WriteRule) -> bool {
        let Self { show, store } = self;
        let level = Level::chosen();
        let changes = match rule.keep_unchanged {
            // SAFETY: the caller's promise.
            true => unsafe { changes(show, level, old.as_slice(), *new) },
            false => u64::MAX.checked_shr((MOST - new.len()) as u32).unwrap_or(0),
        };
        if changes & changes.wrapping_sub(1) == 0 {
            let place = changes.trailing_zeros() as usize;
            // SAFETY: the caller's promise; the place of a change is below the two lengths.
            return changes == 0 || unsafe { store.convert_one_permitted(rule.policy, new, place, old) }; // most often
        }
        write_several(old, *new, changes, (level, store), rule)
    }
}

/// Writes several of the values, those that have a one in `changes`, if the policy permits them.
#[inline(never)]
fn write_several(
    old: AnySliceMut<'_>,
    new: AnySlice<'_>,
    changes: u64,
    (level, store): (Level, &Pair),
    rule: WriteRule,
) -> bool {
    let changed = changes.count_ones();
    if store.needs_check(rule.policy) {
        let permits = |level, values| store.permits(level, rule.policy, values);
        let is_permitted = match changed <= SINGLE {
            true => places(changes).all(|place| permits(Level::BASELINE, new.range(place..place + 1))),
            false => permits(level, new), // those that have not changed are permitted, most often
        };
        if !is_permitted {
            return false;
        }
    }
    if changed <= SINGLE {
        let mut room = old.into_room();
        places(changes).for_each(|place| store.convert_one(new, place, room.reborrow()));
    } else if changed as usize == new.len() {
        store.convert(level, new, old.into_room());
    } else {
        let mut converted = FewScratch::new();
        let converted = store.convert(level, new, converted.room(store.target(), new.len()));
        match_width!(store.target(), B => {
            let (from, to) = (converted.bits::<B>(), old.into_bits::<B>());
            places(changes).for_each(|place| to[place] = from[place]);
        });
    }
    true
}

/// Returns a bit for each new value that differs from the old one as the block showed it.
///
/// # Safety
/// `show` must be the pair of the two types, and the lengths equal, at most [`MOST`].
unsafe fn changes(show: &Pair, level: Level, old: AnySlice<'_>, new: AnySlice<'_>) -> u64 {
    let mut shown = FewScratch::new();
    let mut room = shown.room(new.element_type(), new.len());
    // SAFETY: the caller's promise; then all of the room is initialized.
    let shown = unsafe {
        show.convert_unchecked(level, old, room.reborrow());
        room.assume_init()
    };
    match_width!(new.element_type(), B => differences::<B>(shown.bits(), new.bits()))
}

/// Returns a bit for each pair of values with different bits. There are at most [`MOST`] values of either.
fn differences<B: Bits>(one: &[B], other: &[B]) -> u64 {
    let (one_steps, _) = bytemuck::cast_slice::<B, u8>(one).as_chunks::<STEP>();
    let (other_steps, _) = bytemuck::cast_slice::<B, u8>(other).as_chunks::<STEP>();
    let (mut marks, mut place) = (0, 0);
    for (one, other) in one_steps.iter().zip(other_steps) {
        let mut bytes = unequal_bytes(one, other);
        while bytes != 0 {
            let value = bytes.trailing_zeros() as usize / size_of::<B>();
            marks |= 1 << (place + value);
            bytes &= u64::MAX.checked_shl(((value + 1) * size_of::<B>()) as u32).unwrap_or(0);
        }
        place += STEP / size_of::<B>();
    }
    if let (Some(one), Some(other)) = (one.get(place..), other.get(place..)) {
        for (one, other) in one.iter().zip(other) {
            marks |= u64::from(one != other) << place;
            place += 1;
        }
    }
    marks
}

/// Returns a bit for each pair of bytes that differ.
#[cfg(target_arch = "x86_64")]
#[inline]
fn unequal_bytes(one: &[u8; STEP], other: &[u8; STEP]) -> u64 {
    use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8};
    let (one, other): ([__m128i; 4], [__m128i; 4]) = (bytemuck::cast(*one), bytemuck::cast(*other));
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let equal = [0, 1, 2, 3].map(|part| _mm_cmpeq_epi8(one[part], other[part]));
        let all = _mm_and_si128(_mm_and_si128(equal[0], equal[1]), _mm_and_si128(equal[2], equal[3]));
        if _mm_movemask_epi8(all) == 0xFFFF {
            return 0; // most often
        }
        let bits = equal.map(|part| u64::from(_mm_movemask_epi8(part) as u16));
        !(bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48)
    }
}

/// Returns a bit for each pair of bytes that differ.
#[cfg(not(target_arch = "x86_64"))]
fn unequal_bytes(one: &[u8; STEP], other: &[u8; STEP]) -> u64 {
    if one == other {
        return 0; // most often
    }
    let pairs = one.iter().zip(other).enumerate();
    pairs.fold(0, |marks, (place, (one, other))| marks | u64::from(one != other) << place)
}

/// Returns the positions of the ones, from the lowest.
fn places(mut marks: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (marks != 0).then(|| marks.trailing_zeros() as usize);
        marks &= marks.wrapping_sub(1);
        place
    })
}
