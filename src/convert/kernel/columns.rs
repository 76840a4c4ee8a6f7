//! Columns that lie apart, converted side by side into rows.
//!
//! A few rows of all columns are copied to a scratch buffer, where they are one window, and go the way of column-major
//! tables from there: transposed in registers, then converted in long runs. Converting each column by itself into every
//! n-th place of the rows takes three times as long.

use std::ops::Range;

use super::pair::Pair;
use super::store::Store;
use super::tiles::{Scratch, dense};
use crate::convert::ConversionPolicy;
use crate::convert::level::Level;
use crate::window::{AnyRoom, AnyRows, AnySlice, AnyWindow};

/// The largest number of columns that are converted together: whole cache lines of the rows, and of the columns.
const TOGETHER: usize = 64;

/// Converts columns of one element type into the columns of rows. Returns whether the policy permits every value; if
/// not, it is not known which are written.
///
/// Panics unless there are as many columns as the rows have, each contiguous and with as many values as there are rows.
pub(crate) fn read_columns(columns: &[AnyWindow<'_>], mut target: AnyRows<'_>, policy: ConversionPolicy) -> bool {
    let Some(first) = columns.first() else { return true };
    let (element, count) = (first.element_type(), target.rows());
    assert_eq!(columns.len(), target.columns(), "as many columns as the rows have");
    let fits =
        |column: &AnyWindow<'_>| column.element_type() == element && (column.rows(), column.columns()) == (count, 1);
    assert!(columns.iter().all(fits), "columns of one type, as long as there are rows");
    let pair = Pair::of(element, target.element_type());
    let policy = if pair.needs_check(policy) { policy } else { ConversionPolicy::Saturate };
    let store = Store { pair, policy, level: Level::chosen(), is_streaming: false };
    let (mut beside, mut transposed, mut is_permitted) = (Scratch::new(), Scratch::new(), true);
    for (group, first) in columns.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
        let height = (Scratch::capacity(element) / group.len()).max(1);
        for row in (0..count).step_by(height) {
            let rows = row..count.min(row + height);
            let values = side_by_side(group, rows.clone(), beside.room(element, group.len() * rows.len()));
            let window = AnyWindow::of_rows(values, group.len(), rows.len()).transposed();
            let mut target = target.cut(rows, first..first + group.len());
            is_permitted &= store.put_rows(dense(window, &mut transposed), &mut target);
        }
    }
    is_permitted
}

/// Copies rows of columns, one column after the other, into room for exactly so many values.
fn side_by_side<'r>(columns: &[AnyWindow<'_>], rows: Range<usize>, mut room: AnyRoom<'r>) -> AnySlice<'r> {
    assert_eq!(columns.len() * rows.len(), room.len(), "as many elements as values");
    let (count, mut rest) = (rows.len(), room.reborrow());
    for column in columns {
        let Some(values) = column.cut(rows.clone(), 0..1).as_slice() else { unreachable!("a contiguous column") };
        let (part, later) = rest.split_at(count);
        AnyRows::new(part, 1, count).copy_from_slice(values);
        rest = later;
    }
    // SAFETY: the room is as long as all columns together, and each has been written after the one before it.
    unsafe { room.assume_init() }
}
