//! Windows that are separate in memory but adjacent in a table, read and written together.
//!
//! A number of rows of all windows are copied to a scratch buffer, where they form one row-major window, and are
//! converted as such in long runs. Converting each window separately into its place in every row takes three times as
//! long, and writing them one by one takes five times as long.

use std::ops::Range;

use super::pair::Pair;
use super::read::{convert_window, permits_window};
use super::store::Store;
use super::tiles::{Scratch, dense};
use super::write::{Forms, Writer, write_checked};
use crate::base::element::match_width;
use crate::convert::level::Level;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnyRoom, AnyRows, AnySlice, AnyWindow, AnyWindowMut};

/// The largest number of columns that are processed together: entire cache lines of the rows and of the columns.
const TOGETHER: usize = 64;

/// Returns whether two adjacent windows with the same rows can be read together.
pub(crate) fn are_read_together(left: &AnyWindow<'_>, right: &AnyWindow<'_>) -> bool {
    match (left.is_column(), right.is_column()) {
        (true, true) => true,
        (false, false) => left.has_rows() && right.has_rows() && left.element_type() == right.element_type(),
        _ => false,
    }
}

/// Returns whether two adjacent windows with the same rows can be written together.
pub(crate) fn are_written_together(left: &AnyWindow<'_>, right: &AnyWindow<'_>) -> bool {
    left.element_type() == right.element_type() && are_read_together(left, right)
}

/// Converts adjacent windows into rows. Returns whether the policy permits every value. If not, the target's contents
/// are unspecified.
///
/// Panics unless [`are_read_together`] holds for each window and the next, and together they have the shape of the
/// rows.
pub(crate) fn read_beside(windows: &[AnyWindow<'_>], mut target: AnyRows<'_>, policy: ConversionPolicy) -> bool {
    check_shapes(windows, target.rows(), target.columns());
    let (count, target_type) = (target.rows(), target.element_type());
    let (mut is_permitted, mut scratches) = (true, [const { Scratch::new() }; 2]);
    for (group, columns) in groups(windows) {
        let mut target = target.cut(0..count, columns);
        let element = group[0].element_type();
        is_permitted &= match group {
            [only] => convert_window(*only, target, Pair::of(element, target_type), policy),
            _ if group.iter().all(|window| window.element_type() == element) => {
                read_of_one_type(group, &mut target, policy, &mut scratches)
            }
            _ => read_of_several_types(group, &mut target, policy, &mut scratches),
        };
    }
    is_permitted
}

fn store_of(pair: &'static Pair, policy: ConversionPolicy) -> Store<'static> {
    let policy = if pair.needs_check(policy) { policy } else { ConversionPolicy::Saturate };
    Store { pair, policy, level: Level::chosen(), is_streaming: false }
}

/// Combines the windows into rows and converts those.
fn read_of_one_type(
    windows: &[AnyWindow<'_>],
    target: &mut AnyRows<'_>,
    policy: ConversionPolicy,
    scratches: &mut [Scratch; 2],
) -> bool {
    let (element, count, width) = (windows[0].element_type(), target.rows(), target.columns());
    if element == target.element_type() && !windows[0].is_column() {
        let mut first = 0;
        for window in windows {
            target.cut(0..count, first..first + window.columns()).copy_from(*window);
            first += window.columns();
        }
        return true;
    }
    let (store, mut is_permitted) = (store_of(Pair::of(element, target.element_type()), policy), true);
    for rows in bands(count, Scratch::capacity(element) / width) {
        let values = as_rows(windows, rows.clone(), width, scratches);
        is_permitted &= store.put_rows(values, &mut target.cut(rows, 0..width));
    }
    is_permitted
}

/// Converts each column separately and combines the results into rows.
fn read_of_several_types(
    columns: &[AnyWindow<'_>],
    target: &mut AnyRows<'_>,
    policy: ConversionPolicy,
    [beside, transposed]: &mut [Scratch; 2],
) -> bool {
    let (element, count, width) = (target.element_type(), target.rows(), target.columns());
    let mut is_permitted = true;
    for rows in bands(count, Scratch::capacity(element) / width) {
        let mut room = beside.room(element, rows.len() * width);
        let mut rest = room.reborrow();
        for column in columns {
            let store = store_of(Pair::of(column.element_type(), element), policy);
            let (now, later) = rest.split_at(rows.len());
            is_permitted &= store.put(values_of(column, &rows), now);
            rest = later;
        }
        // SAFETY: the room is as long as all columns together, and each has been written after the one before it.
        let values = unsafe { room.assume_init() };
        let window = AnyWindow::of_rows(values, width, rows.len()).transposed();
        target.cut(rows, 0..width).copy_from_slice(dense(window, transposed));
    }
    is_permitted
}

/// Checks that values may be written into adjacent windows. Returns `false` if this is unknown.
pub(crate) fn permits_beside(windows: &[AnyWindow<'_>], new: AnyWindow<'_>, rule: WriteRule) -> bool {
    check_shapes(windows, new.rows(), new.columns());
    windows.first().is_none_or(|first| {
        let store = Pair::of(new.element_type(), first.element_type());
        let is_of_one_type = windows.iter().all(|window| window.element_type() == first.element_type());
        is_of_one_type && (!store.needs_check(rule.policy) || permits_window(new, store, rule.policy))
    })
}

/// Converts rows into adjacent windows under `Saturate`. The caller has checked that the values are permitted.
///
/// Panics unless [`are_written_together`] holds for each window and the next, and together they have the shape of the
/// rows.
pub(crate) fn write_beside(windows: &mut [AnyWindowMut<'_>], new: AnyWindow<'_>, rule: WriteRule) {
    let shown = windows.iter().map(|window| window.as_window()).collect::<Vec<_>>();
    check_shapes(&shown, new.rows(), new.columns());
    let ranges = groups(&shown).map(|(group, columns)| (group.len(), columns)).collect::<Vec<_>>();
    let mut rest = windows;
    for (count, columns) in ranges {
        let (group, later) = rest.split_at_mut(count);
        let new = new.cut(0..new.rows(), columns);
        match group {
            [only] => write_checked(only.reborrow(), new, rule),
            _ => write_group(group, new, rule),
        }
        rest = later;
    }
}

fn write_group(windows: &mut [AnyWindowMut<'_>], new: AnyWindow<'_>, rule: WriteRule) {
    let (element, width) = (windows[0].element_type(), new.columns());
    let writer = Writer::new(element, new.element_type(), rule);
    let mut forms = Forms::new();
    let (mut scratches, mut blended) = ([const { Scratch::new() }; 2], [const { Scratch::new() }; 2]);
    for rows in bands(new.rows(), Forms::CAPACITY / width) {
        let shown = windows.iter().map(|window| window.as_window()).collect::<Vec<_>>();
        let Forms { shown: shown_scratch, new: new_scratch, is_changed, .. } = &mut forms;
        let values = dense(new.cut(rows.clone(), 0..width), new_scratch);
        let values = match new.element_type() == element {
            true => values, // equal types are copied bit for bit, NaNs too
            false => {
                let old = as_rows(&shown, rows.clone(), width, &mut scratches);
                match writer.blend(old, values, shown_scratch, is_changed, &mut blended) {
                    Some(blended) => blended,
                    None => continue, // nothing has changed
                }
            }
        };
        drop(shown);
        put_as_windows(windows, rows, AnyWindow::of_rows(values, values.len() / width, width), &mut scratches[0]);
    }
}

/// Copies rows into windows of their type.
fn put_as_windows(
    windows: &mut [AnyWindowMut<'_>],
    rows: Range<usize>,
    values: AnyWindow<'_>,
    transposed: &mut Scratch,
) {
    if windows[0].as_window().is_column() {
        let values = dense(values.transposed(), transposed);
        for (column, window) in windows.iter_mut().enumerate() {
            let values = values.range(column * rows.len()..(column + 1) * rows.len());
            window.reborrow().cut(rows.clone(), 0..1).copy_from_slice(values);
        }
        return;
    }
    let mut first = 0;
    for window in windows {
        let columns = window.geometry().columns;
        let part = values.cut(0..rows.len(), first..first + columns);
        window.reborrow().cut(rows.clone(), 0..columns).copy_from(part);
        first += columns;
    }
}

/// Returns groups of windows that are processed together, with their column ranges. A wide window forms its own group.
fn groups<'g, 'w>(windows: &'g [AnyWindow<'w>]) -> impl Iterator<Item = (&'g [AnyWindow<'w>], Range<usize>)> {
    let (mut rest, mut column) = (windows, 0);
    std::iter::from_fn(move || {
        let mut width = rest.first()?.columns();
        let fits = |window: &&AnyWindow<'_>| {
            width += window.columns();
            width <= TOGETHER
        };
        let count = 1 + rest[1..].iter().take_while(fits).count();
        let (group, later) = rest.split_at(count);
        let columns = column..column + group.iter().map(AnyWindow::columns).sum::<usize>();
        (rest, column) = (later, columns.end);
        Some((group, columns))
    })
}

/// Cuts rows into bands of at most `height` rows, and at least one row.
fn bands(count: usize, height: usize) -> impl Iterator<Item = Range<usize>> {
    let height = height.max(1);
    (0..count).step_by(height).map(move |row| row..count.min(row + height))
}

fn check_shapes(windows: &[AnyWindow<'_>], rows: usize, columns: usize) {
    assert!(windows.iter().all(|window| window.rows() == rows), "as many rows");
    assert_eq!(windows.iter().map(AnyWindow::columns).sum::<usize>(), columns, "as many columns");
    assert!(windows.windows(2).all(|pair| are_read_together(&pair[0], &pair[1])), "windows of one kind");
}

fn values_of<'w>(column: &AnyWindow<'w>, rows: &Range<usize>) -> AnySlice<'w> {
    match column.cut(rows.clone(), 0..1).as_slice() {
        Some(values) => values,
        None => unreachable!("a contiguous column"),
    }
}

/// Returns rows of windows of one type as dense rows of `width` values.
fn as_rows<'s>(
    windows: &[AnyWindow<'s>],
    rows: Range<usize>,
    width: usize,
    [beside, transposed]: &'s mut [Scratch; 2],
) -> AnySlice<'s> {
    let (element, count) = (windows[0].element_type(), rows.len());
    let mut room = beside.room(element, width * count);
    if !windows[0].is_column() {
        let (mut all, mut first) = (AnyRows::new(room.reborrow(), count, width), 0);
        for window in windows {
            let columns = window.columns();
            all.cut(0..count, first..first + columns).copy_from(window.cut(rows.clone(), 0..columns));
            first += columns;
        }
        // SAFETY: the windows together have the columns of the room's rows, and all of their rows have been copied.
        return unsafe { room.assume_init() };
    }
    if count == 1 {
        return match_width!(element, Bits => one_row::<Bits>(windows, rows.start, room));
    }
    let mut rest = room.reborrow();
    for column in windows {
        let (part, later) = rest.split_at(count);
        AnyRows::new(part, 1, count).copy_from_slice(values_of(column, &rows));
        rest = later;
    }
    // SAFETY: the room is as long as all columns together, and each has been written after the one before it.
    let values = unsafe { room.assume_init() };
    dense(AnyWindow::of_rows(values, width, count).transposed(), transposed)
}

/// Copies one value of each column, as integers of their width. Panics if a width, a length or the row does not match.
fn one_row<'s, Bits: Copy>(columns: &[AnyWindow<'_>], row: usize, mut room: AnyRoom<'s>) -> AnySlice<'s> {
    let element = room.element_type();
    assert!(element.size_in_bytes() == size_of::<Bits>() && room.len() == columns.len(), "a value of each column");
    let to = room.as_mut_ptr().cast::<Bits>();
    for (index, column) in columns.iter().enumerate() {
        assert!(column.element_type() == element && column.is_column() && row < column.rows(), "the row is there");
        // SAFETY: a column's element of that row is so many elements from its first one (`is_column`); the room has one
        // for each column. Both are aligned for elements of this width, and any bits of one are an integer.
        unsafe { *to.add(index) = *column.as_ptr().cast::<Bits>().add(row) }
    }
    // SAFETY: an element has been written for each column, as many as the room has.
    unsafe { room.assume_init() }
}
