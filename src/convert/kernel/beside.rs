//! Windows that are separate in memory but adjacent in a table, read and written together.
//!
//! Columns are transposed in registers, directly into rows of their type or into a scratch buffer from which long runs
//! of values are converted. Rows of several windows are copied line by line.

use std::ops::Range;

use super::few::SINGLE;
use super::pair::Pair;
use super::read::{convert_window, permits_window};
use super::requesting::may_save_time;
use super::store::Store;
use super::tiles::{Scratch, TileScratch, dense};
use super::transpose::{Columns, TOGETHER};
use super::write::{Forms, Writer, write_checked};
use crate::base::cache::{LINE, SECOND_LEVEL, prefetch};
use crate::base::element::ElementType;
use crate::base::range;
use crate::convert::level::Level;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnyRows, AnySlice, AnyWindow, AnyWindowMut};

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
/// With the number of rows of the table, the values behind columns of several types are requested: those of later
/// blocks, most often. This needs a table that the second-level cache does not hold, and a processor where it [saves
/// time](Level::requests_columns).
///
/// Panics unless [`are_read_together`] holds for each window and the next, and together they have the shape of the
/// rows.
pub(crate) fn read_beside(
    windows: &[AnyWindow<'_>],
    mut target: AnyRows<'_>,
    policy: ConversionPolicy,
    rows_of_table: Option<usize>,
) -> bool {
    let Some(first) = windows.first() else { return true };
    let (count, element) = (target.rows(), target.element_type());
    if !first.is_column() && first.element_type() == element {
        target.copy_beside(windows, 0);
        return true;
    }
    let (mut is_permitted, mut width) = (true, 0);
    for (group, columns) in groups(windows) {
        width = columns.end;
        let mut target = target.cut(0..count, columns);
        is_permitted &= match group {
            [only] => convert_window(*only, target, Pair::of(only.element_type(), element), policy),
            _ if group[0].is_column() => read_columns(group, &mut target, policy, rows_of_table),
            _ => read_rows_beside(group, &mut target, policy),
        };
    }
    assert_eq!(width, target.columns(), "as many columns"); // other differences panic above
    is_permitted
}

fn store_of(pair: &'static Pair, policy: ConversionPolicy) -> Store<'static> {
    let policy = if pair.needs_check(policy) { policy } else { ConversionPolicy::Saturate };
    Store { pair, policy, level: Level::chosen(), is_streaming: false }
}

/// Converts rows of windows of one type.
fn read_rows_beside(windows: &[AnyWindow<'_>], target: &mut AnyRows<'_>, policy: ConversionPolicy) -> bool {
    let (element, count, width) = (windows[0].element_type(), target.rows(), target.columns());
    let store = store_of(Pair::of(element, target.element_type()), policy);
    let (mut is_permitted, mut scratch) = (true, Scratch::new());
    for rows in range::cut(0..count, Scratch::capacity(element) / width) {
        let mut room = scratch.room(element, width * rows.len());
        AnyRows::new(room.reborrow(), rows.len(), width).copy_beside(windows, rows.start);
        // SAFETY: the windows together have the columns of the room's rows, and all of their rows have been copied.
        let values = unsafe { room.assume_init() };
        is_permitted &= store.put_rows(values, &mut target.cut(rows, 0..width));
    }
    is_permitted
}

/// Converts columns, before or after they are combined into rows: while their values are of the smaller size.
fn read_columns(
    columns: &[AnyWindow<'_>],
    target: &mut AnyRows<'_>,
    policy: ConversionPolicy,
    rows_of_table: Option<usize>,
) -> bool {
    let element = columns[0].element_type();
    let is_of_one_type = columns.iter().all(|column| column.element_type() == element);
    if !is_of_one_type || element.size_in_bytes() > target.element_type().size_in_bytes() {
        return read_each_column(columns, target, policy, rows_of_table);
    }
    read_together(&columns_of(columns.iter().copied(), element, target.rows()), target, policy)
}

/// Converts columns of one type into rows. Returns whether the policy permits every value, as [`read_beside`] does.
///
/// Panics if the shapes differ; callers have checked.
pub(crate) fn read_together(columns: &Columns<'_>, target: &mut AnyRows<'_>, policy: ConversionPolicy) -> bool {
    put_columns(columns, 0..target.rows(), target, policy)
}

/// The largest number of lines that [`read_lines`] transposes at a time. Lines whose distance is close to a power of
/// two share a set of the first-level cache, which has eight places or more.
const LINES_TOGETHER: usize = 16;

/// Converts lines of one slice into the columns of a target, one line for each column and one value for each row. A
/// line begins at each of the given indices. Returns whether the policy permits every value. If not, the target's
/// contents are unspecified.
///
/// Lines are far from each other, so the processor does not prefetch them. The function requests the lines after those
/// that it transposes next. Rows of the target are far from each other too, so a tile is combined in a buffer, and each
/// row is written at once.
///
/// Panics if there are more than [`TOGETHER`] lines, if their number is not that of the columns, or if one is not
/// inside the slice.
pub(crate) fn read_lines(
    values: AnySlice<'_>,
    starts: &[usize],
    next_starts: impl Iterator<Item = usize>,
    mut target: AnyRows<'_>,
    policy: ConversionPolicy,
) -> bool {
    let (element, length, width) = (values.element_type(), target.rows(), target.columns());
    assert!(starts.len() == width && width <= TOGETHER, "a line for each column");
    let store = store_of(Pair::of(element, target.element_type()), policy);
    let together = (LINE / element.size_in_bytes()).min(LINES_TOGETHER);
    let (mut is_permitted, mut scratch) = (true, TileScratch::new());
    let mut next = starts.iter().copied().chain(next_starts).skip((2 * together).min(width));
    for rows in range::cut(0..length, TileScratch::capacity(element) / width.max(1)) {
        let (count, is_first) = (rows.len(), rows.start == 0);
        let mut room = scratch.room(element, count * width);
        let mut tile = AnyRows::new(room.reborrow(), count, width);
        for columns in range::cut(0..width, together) {
            if is_first {
                next.by_ref().take(columns.len()).for_each(|start| values.fetch::<SECOND_LEVEL>(start..start + length));
            }
            let mut lines = Columns::new(element, count);
            starts[columns.clone()]
                .iter()
                .for_each(|&start| lines.push(values.range(start + rows.start..start + rows.end)));
            lines.put_rows(0..count, tile.cut(0..count, columns));
        }
        // SAFETY: the lines have written all columns of the tile's rows.
        let tile = unsafe { room.assume_init() };
        let mut target = target.cut(rows, 0..width);
        match element == target.element_type() {
            true => target.copy_from_slice(tile),
            false => is_permitted &= store.put_rows(tile, &mut target),
        }
    }
    is_permitted
}

/// Combines some rows of columns of one type into rows, and converts these.
#[inline]
fn put_columns(columns: &Columns<'_>, rows: Range<usize>, target: &mut AnyRows<'_>, policy: ConversionPolicy) -> bool {
    let (count, width, element) = (target.rows(), target.columns(), columns.element_type());
    if element == target.element_type() {
        columns.put_rows(rows, target.reborrow());
        return true;
    }
    let store = store_of(Pair::of(element, target.element_type()), policy);
    let (mut is_permitted, mut scratch) = (true, Scratch::new());
    for band in range::cut(0..count, Scratch::capacity(element) / width.max(1)) {
        let values = columns.dense_rows(rows.start + band.start..rows.start + band.end, &mut scratch);
        is_permitted &= store.put_rows(values, &mut target.cut(band, 0..width));
    }
    is_permitted
}

/// The distance in bytes from the values of a column that are converted to those that are requested.
const AHEAD: usize = 4 << 10;

/// Converts each column separately and combines the results into rows.
fn read_each_column(
    columns: &[AnyWindow<'_>],
    target: &mut AnyRows<'_>,
    policy: ConversionPolicy,
    rows_of_table: Option<usize>,
) -> bool {
    let (element, count, width) = (target.element_type(), target.rows(), target.columns());
    let row_bytes = || columns.iter().map(|column| column.element_type().size_in_bytes()).sum();
    let is_worthwhile = |rows: usize| may_save_time(target.size_in_bytes(), || rows.saturating_mul(row_bytes()));
    let requests = Level::chosen().requests_columns() && rows_of_table.is_some_and(is_worthwhile);
    let (mut is_permitted, mut scratch) = (true, Scratch::new());
    for rows in range::cut(0..count, Scratch::capacity(element) / width) {
        let mut rest = scratch.room(element, rows.len() * width);
        let mut converted = Columns::new(element, rows.len());
        for column in columns {
            let values = values_of(column, &rows);
            if requests {
                let bytes = values.len() * values.element_type().size_in_bytes();
                prefetch::<SECOND_LEVEL>(values.as_ptr().wrapping_add(AHEAD), bytes);
            }
            if values.element_type() == element {
                converted.push(values); // equal types are copied bit for bit, NaNs too
                continue;
            }
            let (mut room, later) = rest.split_at(rows.len());
            is_permitted &= store_of(Pair::of(values.element_type(), element), policy).put(values, room.reborrow());
            // SAFETY: `put` has written every element.
            converted.push(unsafe { room.assume_init() });
            rest = later;
        }
        converted.put_rows(0..rows.len(), target.cut(rows, 0..width));
    }
    is_permitted
}

/// Returns windows that are columns of one type.
fn columns_of<'w>(windows: impl Iterator<Item = AnyWindow<'w>>, element: ElementType, length: usize) -> Columns<'w> {
    let mut columns = Columns::new(element, length);
    windows.for_each(|window| match window.as_slice() {
        Some(values) => columns.push(values),
        None => unreachable!("a contiguous column"),
    });
    columns
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
    let [mut scratch, mut stored, mut blended] = [const { Scratch::new() }; 3];
    let mut bands = range::cut(0..new.rows(), Forms::CAPACITY / width);
    if new.element_type() == element {
        for rows in bands {
            let values = dense(new.cut(rows.clone(), 0..width), &mut forms.new);
            put_as_windows(windows, rows, values, width, &mut scratch); // bit for bit, NaNs too
        }
        return;
    }
    while let Some((rows, changes)) = next_change(windows, new, &writer, &mut bands, &mut forms) {
        let Forms { old, new: new_scratch, is_changed, .. } = &mut forms;
        let values = dense(new.cut(rows.clone(), 0..width), new_scratch);
        let is_changed = &is_changed[..values.len()];
        if changes <= SINGLE as usize && windows[0].as_window().is_column() {
            for (index, _) in is_changed.iter().enumerate().filter(|(_, is_changed)| **is_changed) {
                let (row, column) = (rows.start + index / width, index % width);
                writer.write_one(windows[column].reborrow().cut(row..row + 1, 0..1), values.range(index..index + 1));
            }
            continue;
        }
        let mut values = writer.stored(values, &mut stored);
        if changes < values.len() {
            let old = as_rows(windows.iter().map(AnyWindowMut::as_window), rows.clone(), width, old);
            values = writer.blend(old, values, is_changed, &mut blended);
        }
        put_as_windows(windows, rows, values, width, &mut scratch);
    }
}

/// Finds the next band of rows with values to write, and marks these. Returns the band and the number of marks.
fn next_change(
    windows: &[AnyWindowMut<'_>],
    new: AnyWindow<'_>,
    writer: &Writer<'_>,
    bands: &mut impl Iterator<Item = Range<usize>>,
    Forms { old, shown, new: new_scratch, is_changed }: &mut Forms,
) -> Option<(Range<usize>, usize)> {
    let (element, width) = (windows[0].element_type(), new.columns());
    if !writer.keeps_unchanged() {
        let rows = bands.next()?;
        let count = rows.len() * width;
        is_changed[..count].fill(true);
        return Some((rows, count));
    }
    let windows = windows.iter().map(AnyWindowMut::as_window);
    let are_columns = windows.clone().all(|window| window.is_column());
    let columns = are_columns.then(|| columns_of(windows.clone(), element, new.rows()));
    bands.find_map(|rows| {
        let new = dense(new.cut(rows.clone(), 0..width), new_scratch);
        let old = match &columns {
            Some(columns) => columns.dense_rows(rows.clone(), old),
            None => as_rows(windows.clone(), rows.clone(), width, old),
        };
        let changes = writer.mark(old, new, shown.room(new.element_type(), new.len()), is_changed);
        (changes > 0).then_some((rows, changes))
    })
}

/// Copies dense rows into windows of their type.
fn put_as_windows(
    windows: &mut [AnyWindowMut<'_>],
    rows: Range<usize>,
    values: AnySlice<'_>,
    width: usize,
    transposed: &mut Scratch,
) {
    let values = AnyWindow::of_rows(values, rows.len(), width);
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
fn as_rows<'w, 's>(
    windows: impl Iterator<Item = AnyWindow<'w>> + Clone,
    rows: Range<usize>,
    width: usize,
    scratch: &'s mut Scratch,
) -> AnySlice<'s> {
    let Some(first) = windows.clone().next() else { unreachable!("at least one window") };
    let (element, count) = (first.element_type(), rows.len());
    if first.is_column() {
        return columns_of(windows, element, first.rows()).dense_rows(rows, scratch);
    }
    let mut room = scratch.room(element, width * count);
    AnyRows::new(room.reborrow(), count, width).copy_each(windows, rows.start);
    // SAFETY: the windows together have the columns of the room's rows, and all of their rows have been copied.
    unsafe { room.assume_init() }
}
