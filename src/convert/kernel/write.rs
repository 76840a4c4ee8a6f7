//! Writing: conversion of row-major values of any type into a window of a table.
//!
//! Writing is all or nothing, so it takes two passes: the first checks that the policy permits every change, the second
//! writes. A new value is not a change if it has the same bits that the window's value converts to. So nothing that the
//! block's type cannot hold is lost, neither digits nor NaN payloads.

use super::few::{self, FewPairs};
use super::pair::Pair;
use super::read::permits_window;
use super::tiles::{Scratch, Tile, dense, first_in_row_order, tiles};
use super::{Origin, Scalar};
use crate::base::element::{ElementType, match_element, match_width};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::number::Number;
use crate::base::parallel;
use crate::base::value::AnyValue;
use crate::convert::WriteRule;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnySlice, AnyWindow, AnyWindowMut, Geometry};

/// Converts values, row by row, into a window, all or nothing.
///
/// # Errors
/// [`ErrorKind::LengthMismatch`]; [`ErrorKind::ValueNotRepresentable`] for the first changed value in row-major order
/// that the policy rejects.
pub(crate) fn write(mut window: AnyWindowMut<'_>, source: AnySlice<'_>, rule: WriteRule, origin: Origin) -> Result<()> {
    let Geometry { rows, columns, .. } = window.geometry();
    let (expected, found) = (rows * columns, source.len());
    if found != expected {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
    }
    if source.len() <= few::MOST
        && let Ok(old) = window.reborrow().into_slice()
        && let Some(pairs) = FewPairs::of(old.element_type(), source.element_type())
        && pairs.write(old, &source, rule)
    {
        return Ok(());
    }
    let new = AnyWindow::of_rows(source, rows, columns);
    check_write(window.as_window(), new, rule, origin)?;
    write_checked(window, new, rule);
    Ok(())
}

/// Checks that values may be written into a window of their shape.
///
/// # Errors
/// [`ErrorKind::ValueNotRepresentable`] for the first changed value in row-major order that the policy rejects.
pub(crate) fn check_write(old: AnyWindow<'_>, new: AnyWindow<'_>, rule: WriteRule, origin: Origin) -> Result<()> {
    assert!(old.rows() == new.rows() && old.columns() == new.columns(), "the shapes are the same");
    if new.geometry().is_empty() || new.element_type() == old.element_type() {
        return Ok(());
    }
    let columns = new.columns();
    let writer = Writer::new(old.element_type(), new.element_type(), rule);
    let (old, new) = match new.as_slice() {
        Some(values) => {
            let old = old.in_long_rows();
            (old, AnyWindow::of_rows(values, old.rows(), old.columns()))
        }
        None => (old, new),
    };
    writer.check(old, new, columns, origin)
}

/// Converts values into a window of their shape under `Saturate`. [`check_write`] has permitted them.
pub(crate) fn write_checked(window: AnyWindowMut<'_>, new: AnyWindow<'_>, rule: WriteRule) {
    let Geometry { rows, columns, .. } = window.geometry();
    assert!(rows == new.rows() && columns == new.columns(), "the shapes are the same");
    if new.geometry().is_empty() {
        return;
    }
    if new.element_type() == window.element_type() {
        return window.copy_from(new); // equal types are copied bit for bit, NaNs too
    }
    let writer = Writer::new(window.element_type(), new.element_type(), rule);
    let bytes = new.size_in_bytes() + window.as_window().size_in_bytes();
    let part = match new.as_slice() {
        Some(values) => {
            let window = window.in_long_rows();
            let new = AnyWindow::of_rows(values, window.geometry().rows, window.geometry().columns);
            Update { new, window }
        }
        None => Update { new, window },
    };
    match parallel::task_count(bytes) {
        1 => writer.write(part),
        tasks => drop(parallel::map(part.cut(tasks), |part| writer.write(part))),
    }
}

/// A window, and the values to write into it.
struct Update<'w, 's> {
    window: AnyWindowMut<'w>,
    new: AnyWindow<'s>,
}

impl Update<'_, '_> {
    /// Cuts across the longer side.
    fn cut(self, tasks: usize) -> Vec<Self> {
        let (is_tall, length) = (self.new.is_tall(), self.new.length());
        parallel::cut(self, length, tasks, |rest, length| {
            let (window, window_rest) = rest.window.split_at(is_tall, length);
            let (new, new_rest) = rest.new.split_at(is_tall, length);
            (Self { window, new }, Self { window: window_rest, new: new_rest })
        })
    }
}

pub(super) struct Writer<'p> {
    /// The pair that converts the table's type to the block's. `store` is the opposite one.
    show: &'p Pair,
    store: &'p Pair,
    level: Level,
    rule: WriteRule,
}

/// Scratch buffers for one tile: old values, old values as the block shows them, and new values.
pub(super) struct Forms {
    pub(super) old: Scratch,
    pub(super) shown: Scratch,
    pub(super) new: Scratch,
    pub(super) is_changed: [bool; Self::CAPACITY],
}

impl Forms {
    /// The number of values of a tile. All its forms together fit the first-level cache.
    pub(super) const CAPACITY: usize = 512;

    pub(super) const fn new() -> Self {
        Self { old: Scratch::new(), shown: Scratch::new(), new: Scratch::new(), is_changed: [false; Self::CAPACITY] }
    }
}

impl Writer<'_> {
    pub(super) fn new(old_type: ElementType, new_type: ElementType, rule: WriteRule) -> Self {
        let (show, store) = (Pair::of(old_type, new_type), Pair::of(new_type, old_type));
        Self { show, store, level: Level::chosen(), rule }
    }

    /// Checks that the policy permits every value that will be written.
    fn check(&self, old: AnyWindow<'_>, new: AnyWindow<'_>, columns: usize, origin: Origin) -> Result<()> {
        if !self.store.needs_check(self.rule.policy) {
            return Ok(());
        }
        // Usually all new values are permitted, whether changed or not.
        if permits_window(new, self.store, self.rule.policy) {
            return Ok(());
        }
        let mut forms = Forms::new();
        let find = |tile: &Tile| self.first_refused_change(old, new, tile, &mut forms);
        match first_in_row_order(old.geometry(), Forms::CAPACITY, find) {
            Some((index, value)) => Err(Scalar::of(self.store.target()).refusal(value, origin.at(index, columns))),
            None => Ok(()),
        }
    }

    /// Returns the first change in a tile, row by row, that the policy rejects: its index in the tile, and the value.
    fn first_refused_change(
        &self,
        old: AnyWindow<'_>,
        new: AnyWindow<'_>,
        tile: &Tile,
        forms: &mut Forms,
    ) -> Option<(usize, AnyValue)> {
        let Forms { old: old_scratch, shown, new: new_scratch, is_changed } = forms;
        let new = dense(new.cut(tile.rows.clone(), tile.columns.clone()), new_scratch);
        if self.store.permits(self.level, self.rule.policy, new) {
            return None;
        }
        let old = old.cut(tile.rows.clone(), tile.columns.clone());
        let room = shown.room(new.element_type(), new.len());
        if self.mark(dense(old, old_scratch), new, room, is_changed) == 0 {
            return None;
        }
        let (scalar, policy) = (Scalar::of(self.store.target()), self.rule.policy);
        match_element!(new.element_type(), U => {
            let changes = new.as_slice::<U>().iter().zip(&*is_changed).enumerate();
            let refused = changes.filter(|(_, (_, is_changed))| **is_changed);
            let mut refused = refused.filter(|(_, (value, _))| !policy.permits(scalar.loss(**value)));
            refused.next().map(|(index, (&value, _))| (index, value.into()))
        })
    }

    /// Writes the changes of one part.
    fn write(&self, part: Update<'_, '_>) {
        let Update { mut window, new } = part;
        let mut forms = Forms::new();
        let mut converted = Scratch::new();
        for tile in tiles(window.geometry(), Forms::CAPACITY) {
            let Forms { old, shown, new: new_scratch, is_changed } = &mut forms;
            let window = window.reborrow().cut(tile.rows.clone(), tile.columns.clone());
            let new = dense(new.cut(tile.rows, tile.columns), new_scratch);
            let old = dense(window.as_window(), old);
            let changes = self.mark(old, new, shown.room(new.element_type(), new.len()), is_changed);
            if changes == 0 {
                continue;
            }
            let converted = self.store.convert(self.level, new, converted.room(self.store.target(), new.len()));
            if changes == new.len() {
                window.copy_from_slice(converted);
            } else {
                window.copy_marked(converted, is_changed);
            }
        }
    }

    /// Returns whether values that have not changed are left alone.
    pub(super) fn keeps_unchanged(&self) -> bool {
        self.rule.keep_unchanged
    }

    /// Converts a few new values into the type of the old ones.
    pub(super) fn stored<'s>(&self, new: AnySlice<'_>, scratch: &'s mut Scratch) -> AnySlice<'s> {
        self.store.convert(self.level, new, scratch.room(self.store.target(), new.len()))
    }

    /// Returns a few values in the type of the old ones: the new ones where marked, the old ones elsewhere.
    pub(super) fn blend<'s>(
        &self,
        old: AnySlice<'_>,
        stored: AnySlice<'_>,
        is_changed: &[bool],
        scratch: &'s mut Scratch,
    ) -> AnySlice<'s> {
        let room = scratch.room(self.store.target(), stored.len());
        match_width!(self.store.target(), Bits => choose::<Bits>(old, stored, is_changed, room))
    }

    /// Converts the only value of a slice into a window of one value. Panics if the window has another number; callers
    /// have cut it.
    pub(super) fn write_one(&self, window: AnyWindowMut<'_>, new: AnySlice<'_>) {
        match window.into_slice() {
            Ok(place) => self.store.convert_one(new, 0, place.into_room()),
            Err(_) => unreachable!("one value is contiguous"),
        }
    }

    /// Marks the new values to be written and returns their number. If it is zero, the marks are unspecified. `shown`
    /// is room for the old values in the type of the new ones.
    pub(super) fn mark(
        &self,
        old: AnySlice<'_>,
        new: AnySlice<'_>,
        shown: AnyRoom<'_>,
        is_changed: &mut [bool],
    ) -> usize {
        let is_changed = &mut is_changed[..new.len()];
        if !self.rule.keep_unchanged {
            is_changed.fill(true);
            return new.len();
        }
        let shown = self.show.convert(self.level, old, shown);
        if shown.bytes() == new.bytes() {
            return 0; // most often
        }
        match_element!(new.element_type(), U => mark_changes::<U>(self.level, shown.as_slice(), new.as_slice(), is_changed))
    }
}

/// Copies the marked values of `new`, and the others of `old`. Panics if the types, the widths or the lengths differ.
fn choose<'s, Bits: Copy>(
    old: AnySlice<'_>,
    new: AnySlice<'_>,
    is_new: &[bool],
    mut room: AnyRoom<'s>,
) -> AnySlice<'s> {
    let (element, count) = (room.element_type(), room.len());
    assert!(old.element_type() == element && new.element_type() == element, "values of one type");
    assert!(element.size_in_bytes() == size_of::<Bits>(), "the width");
    assert!(old.len() == count && new.len() == count && is_new.len() == count, "as many values as elements");
    let (old, new, to) = (old.as_ptr().cast::<Bits>(), new.as_ptr().cast::<Bits>(), room.as_mut_ptr().cast::<Bits>());
    // SAFETY: `index` is below the three lengths, so that each pointer is to an element; elements have the width of
    // `Bits`, which is their alignment, and any bits of one may be copied as an integer. Every element of the room is
    // written; it overlaps with no other borrow.
    unsafe {
        for (index, &is_new) in is_new.iter().enumerate() {
            let (old, new) = (*old.add(index), *new.add(index));
            *to.add(index) = if is_new { new } else { old };
        }
        room.assume_init()
    }
}

fn mark_changes<U: Number>(level: Level, shown: &[U], new: &[U], is_changed: &mut [bool]) -> usize {
    level.run(|| {
        let mut changes = 0_u16; // at most `Forms::CAPACITY`
        for ((is_changed, &new), &shown) in is_changed.iter_mut().zip(new).zip(shown) {
            *is_changed = !shown.is_same(new);
            changes += u16::from(*is_changed);
        }
        usize::from(changes)
    })
}
