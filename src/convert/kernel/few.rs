//! Writing a few values, most often one row with one changed value.
//!
//! The values are converted as the block showed them, and compared as integers of their width. Only those that differ
//! are checked, converted back and stored, so that a row costs one short loop and a few single values.

use std::mem::MaybeUninit;
use std::ops::Range;

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
const STEP: usize = 32;

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

/// Writes a few values of another type over the same number of old ones if the policy permits all changes. Returns
/// whether it did; if not, nothing is written, and [`write`](super::write) then finds the reason. A new value is not a
/// change if it has the same bits that the old one converts to.
///
/// `new` is a reference, so that callers need not copy a slice that they have just put together: reading two words at
/// once that were written one by one stalls the processor.
pub(crate) fn write_few(old: AnySliceMut<'_>, new: &AnySlice<'_>, rule: WriteRule) -> bool {
    let count = new.len();
    if count > MOST || count != old.len() || new.element_type() == old.element_type() {
        return false;
    }
    let level = Level::chosen();
    let store = Pair::of(new.element_type(), old.element_type());
    let changes = match rule.keep_unchanged {
        true => changes(level, old.as_slice(), *new),
        false => u64::MAX.checked_shr((MOST - count) as u32).unwrap_or(0),
    };
    if changes & changes.wrapping_sub(1) == 0 {
        return changes == 0 || write_one(old, *new, changes.trailing_zeros() as usize, store, rule); // most often
    }
    write_several(old, *new, changes, (level, store), rule)
}

/// Writes one of the values, if the policy permits it.
#[inline]
fn write_one(old: AnySliceMut<'_>, new: AnySlice<'_>, place: usize, store: &Pair, rule: WriteRule) -> bool {
    // Loops for wide vectors only take longer to call.
    let is_permitted =
        !store.needs_check(rule.policy) || store.permits(Level::BASELINE, rule.policy, new.range(place..place + 1));
    if is_permitted {
        store.convert_one(new, place, old.into_room());
    }
    is_permitted
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
fn changes(level: Level, old: AnySlice<'_>, new: AnySlice<'_>) -> u64 {
    let mut shown = FewScratch::new();
    let show = Pair::of(old.element_type(), new.element_type());
    let shown = show.convert(level, old, shown.room(new.element_type(), new.len()));
    match_width!(new.element_type(), B => differences::<B>(shown, new))
}

/// Returns a bit for each pair of values with different bits. There are at most [`MOST`] values of either.
fn differences<B: Bits>(one: AnySlice<'_>, other: AnySlice<'_>) -> u64 {
    let (one, other, step) = (one.bits::<B>(), other.bits::<B>(), STEP / size_of::<B>());
    let (one_steps, _) = bytemuck::cast_slice::<B, u8>(one).as_chunks::<STEP>();
    let (other_steps, _) = bytemuck::cast_slice::<B, u8>(other).as_chunks::<STEP>();
    let mark = |places: Range<usize>| {
        let pairs = one[places.clone()].iter().zip(&other[places.clone()]).zip(places);
        pairs.fold(0, |marks, ((one, other), place)| marks | (u64::from(one != other) << place))
    };
    let steps = one_steps.iter().zip(other_steps).enumerate();
    let unequal = steps.filter(|(_, (one, other))| one != other);
    let marks = unequal.fold(0, |marks, (at, _)| marks | mark(at * step..(at + 1) * step));
    marks | mark(one_steps.len() * step..one.len())
}

/// Returns the positions of the ones, from the lowest.
fn places(mut marks: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (marks != 0).then(|| marks.trailing_zeros() as usize);
        marks &= marks.wrapping_sub(1);
        place
    })
}
