//! Reading and writing over pieces: the default methods of every kind of table.
//!
//! A region is first split into parts, each inside one piece. Parts side by side are processed in bands of a few rows,
//! so that the row-major side stays in the first-level cache while the columns are copied. The bands of a large region
//! are distributed over several threads.
//! Invariant: all values are checked before any is written that the caller can see.

use std::ops::Range;

#[cfg(doc)]
use super::Lend;
use super::piece::Piece;
use super::{NumericTable, Region, Target, lend, record_read};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::convert::kernel::{self, OldValues};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnyRows, AnySlice, AnySliceMut, AnyWindow, AnyWindowMut};

/// The size in bytes of a band of parts side by side: half of a small first-level cache.
const BAND_BYTES: usize = 16 << 10;

/// The smallest number of rows of such a band, so that each part of it is worth a call.
const MIN_ROWS: usize = 32;

/// The initial capacity for parts, if there may be that many: the parts of a row of a typical table.
const EXPECTED: usize = 64;

/// A region inside one piece, and its values.
pub(super) struct Within<W> {
    pub(super) region: Region,
    pub(super) window: W,
}

/// A region inside one piece, for reading.
pub(super) type Part<'t> = Within<AnyWindow<'t>>;

/// The function that looks up the pieces of a table.
pub(super) type LookUp<'l, 't> = &'l dyn Fn(usize, usize) -> Result<Option<Piece<'t>>>;

/// Splits a region into parts, ordered from top to bottom, and from left to right among those with the same rows.
pub(super) fn parts<'t>(look_up: LookUp<'_, 't>, region: &Region) -> Result<Vec<Part<'t>>> {
    let mut parts: Vec<Part<'t>> = Vec::with_capacity(region.columns.len().min(EXPECTED));
    let mut row = if region.columns.is_empty() { region.rows.end } else { region.rows.start };
    while row < region.rows.end {
        let (first, mut end, mut column) = (parts.len(), region.rows.end, region.columns.start);
        while column < region.columns.end {
            let piece = look_up(row, column)?.ok_or_else(|| Error::new(ErrorKind::NotInMemory { row, column }))?;
            let rest = Region { rows: row..region.rows.end, columns: column..region.columns.end };
            let common = piece.region().common(&rest);
            let is_there = common.rows.start == row && common.columns.start == column && !common.shape().is_empty();
            let window = piece.window_of(&common).filter(|_| is_there);
            let window = window.ok_or_else(|| misplaced(row, column, piece.region()))?;
            (end, column) = (end.min(common.rows.end), common.columns.end);
            parts.push(Part { region: common, window });
        }
        for part in &mut parts[first..] {
            part.region.rows.end = end;
            part.window = part.window.cut(0..end - row, 0..part.window.columns());
        }
        row = end;
    }
    Ok(parts)
}

pub(super) fn misplaced(row: usize, column: usize, piece: &Region) -> Error {
    Error::new(ErrorKind::MisplacedPiece { row, column, rows: piece.rows.clone(), columns: piece.columns.clone() })
}

/// Returns the one of two results whose value comes first in row-major order, `mine` for the same cell. Any other error
/// has priority.
pub(super) fn earlier(mine: Result<()>, theirs: Result<()>) -> Result<()> {
    let place = |result: &Result<()>| match result.as_ref().map_err(Error::kind) {
        Err(
            ErrorKind::ValueNotRepresentable { row, column, .. }
            | ErrorKind::MissingValue { row, column }
            | ErrorKind::NotStored { row, column, .. }
            | ErrorKind::AsymmetricValue { row, column, .. },
        ) => (1, *row, *column),
        Err(_) => (0, 0, 0),
        Ok(()) => (2, 0, 0),
    };
    if place(&theirs) < place(&mine) { theirs } else { mine }
}

/// Reads a region of any table that has pieces.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn read<N: NumericTable + ?Sized>(table: &N, region: &Region, target: Target<'_>) -> Result<()> {
    target.check(region, table.shape())?;
    if let Some(piece) = table.piece(region.rows.start, region.columns.start)?
        && let Some(window) = piece.window_of(region)
    {
        let memory = || piece.size_in_bytes();
        return kernel::read_rows_of(memory, window, target.values, target.policy, region.origin(), target.old);
    }
    read_by(&|row, column| table.piece(row, column), region, target)
}

/// Reads a region that is not inside one piece, given the pieces.
#[inline(never)]
pub(super) fn read_by(look_up: LookUp<'_, '_>, region: &Region, target: Target<'_>) -> Result<()> {
    read_parts(&parts(look_up, region)?, region, target)
}

pub(super) fn read_parts(parts: &[Part<'_>], region: &Region, target: Target<'_>) -> Result<()> {
    let Target { values, policy, old } = target;
    if region.shape().is_empty() {
        return Ok(());
    }
    let policy = match old {
        OldValues::Kept => {
            let check =
                |part: &Part<'_>| kernel::check(part.window, values.element_type(), policy, part.region.origin());
            parts.iter().map(check).fold(Ok(()), earlier)?;
            ConversionPolicy::Saturate
        }
        OldValues::Lost => policy,
    };
    let tasks = parallel::task_count(values.size_in_bytes().saturating_mul(2)); // every value is read and written
    if tasks == 1 {
        return read_band(parts, region, values, policy);
    }
    let bands = parallel::cut((region.rows.clone(), values), region.rows.len(), tasks, |(rows, values), count| {
        let middle = rows.start + count;
        let (head, tail) = values.split_at(true, count);
        ((rows.start..middle, head), (middle..rows.end, tail))
    });
    let read = |(rows, values)| read_band(parts, &Region { rows, columns: region.columns.clone() }, values, policy);
    parallel::map(bands, read).into_iter().fold(Ok(()), earlier)
}

/// Reads a band of a region, given parts that cover the region.
fn read_band(parts: &[Part<'_>], band: &Region, mut values: AnyRows<'_>, policy: ConversionPolicy) -> Result<()> {
    let height = height_of(parts, band, values.columns() * values.element_type().size_in_bytes());
    let (mut outcome, mut windows) = (Ok(()), Vec::with_capacity(parts.len().min(EXPECTED)));
    for_each_run(parts, band, height, kernel::are_read_together, |run, common| {
        let Some(place) = band.place_of(common) else { return };
        if run.len() > 1 {
            windows.clear();
            windows.extend(run.clone().filter_map(|part| parts[part].window_of(common)));
            let target = values.cut(place.rows, place.columns);
            if kernel::read_beside(&windows, target, policy, None) {
                return;
            }
        }
        // One part; or a value is refused, and this names it.
        for part in run {
            let Some(window) = parts[part].window_of(common) else { continue };
            let region = parts[part].region.common(common);
            let Some(place) = band.place_of(&region) else { continue };
            let target = values.cut(place.rows, place.columns);
            let read = kernel::read_rows(window, target, policy, region.origin(), OldValues::Lost);
            if read.is_err() {
                outcome = earlier(std::mem::replace(&mut outcome, Ok(())), read);
            }
        }
    });
    outcome
}

impl<W: Windowed> Within<W> {
    /// Returns the intersection with the rows of a region, in all columns of this part.
    fn window_of(&self, region: &Region) -> Option<AnyWindow<'_>> {
        let place = self.region.place_of(&self.region.common(region))?;
        Some(self.window.as_window().cut(place.rows, place.columns))
    }
}

/// A window of a part, for reading.
pub(super) trait Windowed {
    fn as_window(&self) -> AnyWindow<'_>;
}

impl Windowed for AnyWindow<'_> {
    fn as_window(&self) -> AnyWindow<'_> {
        *self
    }
}

impl Windowed for AnyWindowMut<'_> {
    fn as_window(&self) -> AnyWindow<'_> {
        self.as_window()
    }
}

/// Returns the height of the bands in which parts of a region are processed.
pub(super) fn height_of<W>(parts: &[Within<W>], band: &Region, row_bytes: usize) -> usize {
    let is_wide = |Within { region, .. }: &Within<W>| {
        region.columns.start <= band.columns.start && region.columns.end >= band.columns.end
    };
    match parts.iter().all(is_wide) {
        true => band.rows.len(),
        false => (BAND_BYTES / row_bytes.max(1)).max(MIN_ROWS),
    }
}

/// Calls `work` for each band of a region with runs of adjacent parts that are processed together: the indices of the
/// parts, and their region of the band. The parts are in the order of [`parts`].
pub(super) fn for_each_run<W: Windowed>(
    parts: &[Within<W>],
    band: &Region,
    height: usize,
    are_together: impl Fn(&AnyWindow<'_>, &AnyWindow<'_>) -> bool,
    mut work: impl FnMut(Range<usize>, &Region),
) {
    let mut first = 0;
    for row in band.rows.clone().step_by(height.max(1)) {
        let low = Region { rows: row..band.rows.end.min(row.saturating_add(height)), columns: band.columns.clone() };
        while parts.get(first).is_some_and(|part| part.region.rows.end <= low.rows.start) {
            first += 1;
        }
        let (mut run, mut common, mut last) = (first..first, Region::default(), None);
        for (index, part) in parts.iter().enumerate().skip(first) {
            if part.region.rows.start >= low.rows.end {
                break;
            }
            let here = part.region.common(&low);
            if here.shape().is_empty() {
                continue;
            }
            let window = part.window_of(&low);
            let goes_on = run.end == index
                && !run.is_empty()
                && (&common.rows, common.columns.end) == (&here.rows, here.columns.start)
                && last.zip(window).is_some_and(|(left, right)| are_together(&left, &right));
            last = window;
            if goes_on {
                (run.end, common.columns.end) = (index + 1, here.columns.end);
                continue;
            }
            if !run.is_empty() {
                work(run, &common);
            }
            (run, common) = (index..index + 1, here);
        }
        if !run.is_empty() {
            work(run, &common);
        }
    }
}

/// Reads a region of any table into new memory.
pub(crate) fn copy_of<N: NumericTable + ?Sized>(
    table: &N,
    region: &Region,
    element_type: ElementType,
    policy: ConversionPolicy,
) -> Result<AnyArray> {
    region.check(table.shape())?;
    region.shape().element_count_of(element_type)?;
    let piece = table.piece(region.rows.start, region.columns.start)?;
    let array = match piece.as_ref().and_then(|piece| piece.window_of(region)) {
        Some(window) => kernel::to_array(window, element_type, policy, region.origin()),
        None => new_array(region, element_type, policy, &|target| table.read_region(region, target)),
    }?;
    record_read(table, region, element_type);
    Ok(array)
}

/// Borrows the values of a region from the table, if they are of type `element` and contiguous. Does not trust the
/// memory that a user's kind of table returns.
///
/// # Errors
/// Those of [`Lend::slice_of`]; [`ErrorKind::LengthMismatch`] if the number of values is not the number of cells.
pub(crate) fn lent_slice<'t, N: NumericTable + ?Sized>(
    table: &'t N,
    region: &Region,
    element: ElementType,
) -> Result<Option<AnySlice<'t>>> {
    let lent = lend::slice_of(table, region, element)?.filter(|values| values.element_type() == element);
    lent.map(|values| new_values(region, values).map(|_| values)).transpose()
}

/// Returns the values of a region as `T`, row by row: borrowed from the table if possible, otherwise converted into the
/// buffer that `room` returns. With [`ConversionPolicy::Saturate`], values that do not fit are rounded.
///
/// # Errors
/// Those of [`slice_of`](crate::table::spi::slice_of), of `room` and of reading the table.
pub fn lent_or_read<'a, T: Element>(
    table: &'a dyn NumericTable,
    region: &Region,
    room: impl FnOnce() -> Result<&'a mut [T]>,
) -> Result<&'a [T]> {
    if let Some(values) = lent_slice(table, region, T::TYPE)?.and_then(AnySlice::downcast::<T>) {
        return Ok(values);
    }
    let room = room()?;
    let target = Target::new(AnySliceMut::new(&mut *room), region.shape(), ConversionPolicy::Saturate)?;
    table.read_region(region, target.allow_partial_write())?;
    record_read(table, region, T::TYPE);
    Ok(room)
}

/// Returns an array of a region's values, which `read` supplies.
pub(super) fn new_array(
    region: &Region,
    element_type: ElementType,
    policy: ConversionPolicy,
    read: &dyn Fn(Target<'_>) -> Result<()>,
) -> Result<AnyArray> {
    let shape = region.shape();
    let mut array = AnyArray::zeros(element_type, shape.element_count_of(element_type)?)?;
    read(Target::new(array.need_mutable_data()?, shape, policy)?.allow_partial_write())?;
    Ok(array)
}

/// Checks that row-major values may be written into a region that is not inside one piece. Returns the types for which
/// they were checked, in the order of [`parts`].
#[inline(never)]
pub(super) fn check_write(
    look_up: LookUp<'_, '_>,
    region: &Region,
    values: AnySlice<'_>,
    rule: WriteRule,
) -> Result<Vec<Within<ElementType>>> {
    let parts = parts(look_up, region).map_err(|error| match error.kind() {
        // Values that are not in memory need an override.
        ErrorKind::NotInMemory { .. } => Error::new(ErrorKind::ReadOnlyTable),
        _ => error,
    })?;
    check_parts(&parts, region, values, rule)?;
    let types = parts.into_iter().map(|Part { region, window }| Within { region, window: window.element_type() });
    Ok(types.collect())
}

/// Checks that a piece for writing has the type for which the values were checked: a user's kind of table may lie.
#[inline]
pub(super) fn check_type(expected: ElementType, found: ElementType) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::element_type_mismatch(expected, found)) }
}

/// Like [`check_type`], for a part of a region: `checked` is the result of [`check_write`] for the region.
pub(super) fn check_types(checked: &[Within<ElementType>], part: &Region, found: ElementType) -> Result<()> {
    // The parts are in bands with the same rows, from top to bottom, and in each from left to right.
    let mut rest = &checked[checked.partition_point(|other| other.region.rows.end <= part.rows.start)..];
    while let Some(Within { region: Region { rows, .. }, .. }) =
        rest.first().filter(|other| other.region.rows.start < part.rows.end)
    {
        let (band, below) = rest.split_at(rest.partition_point(|other| other.region.rows.start == rows.start));
        let from = band.partition_point(|other| other.region.columns.end <= part.columns.start);
        let mut beside = band[from..].iter().take_while(|other| other.region.columns.start < part.columns.end);
        beside.try_for_each(|other| check_type(other.window, found))?;
        rest = below;
    }
    Ok(())
}

pub(super) fn check_parts(parts: &[Part<'_>], region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
    let new = new_values(region, values)?;
    let check = |part: &Part<'_>| match region.place_of(&part.region) {
        Some(place) => kernel::check_write(part.window, new.cut(place.rows, place.columns), rule, part.region.origin()),
        None => Ok(()),
    };
    let (mut outcome, mut windows) = (Ok(()), Vec::new());
    for_each_run(parts, region, region.rows.len(), kernel::are_written_together, |run, common| {
        if let Some(place) = region.place_of(common) {
            windows.clear();
            windows.extend(run.clone().filter_map(|part| parts[part].window_of(common)));
            if kernel::permits_beside(&windows, new.cut(place.rows, place.columns), rule) {
                return;
            }
        }
        // Unless the refused value is one that has not changed, this names it.
        outcome = parts[run].iter().map(check).fold(std::mem::replace(&mut outcome, Ok(())), earlier);
    });
    outcome
}

/// Returns row-major values as a window with the shape of a region.
#[inline]
pub(super) fn new_values<'s>(region: &Region, values: AnySlice<'s>) -> Result<AnyWindow<'s>> {
    let (expected, found) = (region.shape().element_count()?, values.len());
    if expected != found {
        return Err(Error::new(ErrorKind::LengthMismatch { expected, actual: found }));
    }
    Ok(AnyWindow::of_rows(values, region.rows.len(), region.columns.len()))
}
