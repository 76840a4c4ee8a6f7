//! Reading and writing over pieces: the default methods of every kind of table.
//!
//! A region is first cut into parts, each inside one piece. Parts beside each other are processed in bands of a few
//! rows, so that the row-major side stays in the first-level cache while the columns are copied; the bands of a large
//! region are spread over several threads.
//! Invariant: all values are checked before any is written that the caller can see.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::piece::{Piece, PieceMut};
use super::{NumericTable, Region, Target};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::base::parallel;
use crate::base::value::AnyValue;
use crate::convert::kernel::{self, OldValues};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnyRows, AnySlice, AnyWindow, AnyWindowMut};

/// Bytes of a band of parts beside each other: half of a small first-level cache.
const BAND_BYTES: usize = 16 << 10;

/// The least number of rows of such a band, so that each part of it is worth a call.
const LEAST_ROWS: usize = 32;

/// A region inside one piece, and its values.
pub(super) struct Within<W> {
    region: Region,
    window: W,
}

/// A region inside one piece, for reading.
pub(super) type Part<'t> = Within<AnyWindow<'t>>;

/// A region inside one piece, for writing.
type PartMut<'t> = Within<AnyWindowMut<'t>>;

/// The function that looks up the pieces of a table.
pub(super) type LookUp<'l, 't> = &'l dyn Fn(usize, usize) -> Result<Option<Piece<'t>>>;

/// Cuts a region into parts, ordered from top to bottom, and from left to right among those with the same rows.
pub(super) fn parts<'t>(look_up: LookUp<'_, 't>, region: &Region) -> Result<Vec<Part<'t>>> {
    let mut parts: Vec<Part<'t>> = Vec::new();
    let mut row = if region.columns.is_empty() { region.rows.end } else { region.rows.start };
    while row < region.rows.end {
        let (first, mut end, mut column) = (parts.len(), region.rows.end, region.columns.start);
        while column < region.columns.end {
            let piece = look_up(row, column)?.ok_or(Error::NotInMemory { row, column })?;
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
    Error::MisplacedPiece { row, column, rows: piece.rows.clone(), columns: piece.columns.clone() }
}

/// Returns the one of two results whose value is earlier in row-major order; any other error has priority.
pub(super) fn earlier(mine: Result<()>, theirs: Result<()>) -> Result<()> {
    let place = |result: &Result<()>| match result {
        Err(Error::ValueNotRepresentable { row, column, .. }) => (1, *row, *column),
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
        return kernel::read_rows(window, target.values, target.policy, region.origin(), target.old);
    }
    read_many(&|row, column| table.piece(row, column), region, target)
}

/// Reads a region that is not inside one piece.
#[inline(never)]
fn read_many(look_up: LookUp<'_, '_>, region: &Region, target: Target<'_>) -> Result<()> {
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
    let tasks = parallel::task_count(values.size_in_bytes().saturating_mul(2)); // what is written is read as well
    let bands = parallel::cut((region.rows.clone(), values), region.rows.len(), tasks, |(rows, values), count| {
        let middle = rows.start + count;
        let (head, tail) = values.split_at(true, count);
        ((rows.start..middle, head), (middle..rows.end, tail))
    });
    let read = |(rows, values)| read_band(parts, &Region { rows, columns: region.columns.clone() }, values, policy);
    parallel::map(bands, read).into_iter().fold(Ok(()), earlier)
}

/// Reads rows of a region, whose parts have all of its values.
fn read_band(mut parts: &[Part<'_>], band: &Region, values: AnyRows<'_>, policy: ConversionPolicy) -> Result<()> {
    let row_bytes = values.columns() * values.element_type().size_in_bytes();
    let mut reader = BandReader { band, values, policy, columns: Vec::new(), run: Region::default(), outcome: Ok(()) };
    for_each_in_band(&mut parts, band, row_bytes, |parts, index, common| {
        let Part { region, window } = &parts[index];
        if let Some(source) = region.place_of(common) {
            reader.add(window.cut(source.rows, source.columns), common);
        }
    });
    reader.read_run();
    reader.outcome
}

/// Reads the parts of a band. Columns of one type beside each other that lie apart in memory are read together.
struct BandReader<'b, 't, 'v> {
    band: &'b Region,
    values: AnyRows<'v>,
    policy: ConversionPolicy,
    /// Columns that wait to be read: contiguous, and of one type.
    columns: Vec<AnyWindow<'t>>,
    /// The region that they are.
    run: Region,
    outcome: Result<()>,
}

impl<'t> BandReader<'_, 't, '_> {
    fn add(&mut self, window: AnyWindow<'t>, region: &Region) {
        let is_column = window.columns() == 1 && window.as_slice().is_some();
        let goes_on = self.columns.last().is_some_and(|last| {
            last.element_type() == window.element_type()
                && self.run.rows == region.rows
                && self.run.columns.end == region.columns.start
        });
        if !is_column || !goes_on {
            self.read_run();
        }
        match is_column {
            true if goes_on => self.run.columns.end = region.columns.end,
            true => self.run = region.clone(),
            false => return self.read(window, region),
        }
        self.columns.push(window);
    }

    /// Reads the columns that wait.
    fn read_run(&mut self) {
        let columns = std::mem::take(&mut self.columns);
        if columns.len() > 1
            && let Some(place) = self.band.place_of(&self.run)
            && kernel::read_columns(&columns, self.values.cut(place.rows, place.columns), self.policy)
        {
            return;
        }
        // One column; or a value is refused, and this names it.
        for (window, column) in columns.into_iter().zip(self.run.columns.clone()) {
            let region = Region { rows: self.run.rows.clone(), columns: column..column + 1 };
            self.read(window, &region);
        }
    }

    fn read(&mut self, window: AnyWindow<'_>, region: &Region) {
        let Some(place) = self.band.place_of(region) else { return };
        let target = self.values.cut(place.rows, place.columns);
        let read = kernel::read_rows(window, target, self.policy, region.origin(), OldValues::Lost);
        if read.is_err() {
            self.outcome = earlier(std::mem::replace(&mut self.outcome, Ok(())), read);
        }
    }
}

/// Calls `work` for the intersection of each part with each band of a region: with the parts, the part's index, and the
/// intersection. The parts are in the order of [`parts`].
fn for_each_in_band<P: AsRef<[Within<W>]>, W>(
    parts: &mut P,
    band: &Region,
    row_bytes: usize,
    mut work: impl FnMut(&mut P, usize, &Region),
) {
    let is_wide = |Within { region, .. }: &Within<W>| {
        region.columns.start <= band.columns.start && region.columns.end >= band.columns.end
    };
    let height = match parts.as_ref().iter().all(is_wide) {
        true => band.rows.len(),
        false => (BAND_BYTES / row_bytes.max(1)).max(LEAST_ROWS),
    };
    let mut first = 0;
    for row in band.rows.clone().step_by(height.max(1)) {
        let low = Region { rows: row..band.rows.end.min(row.saturating_add(height)), columns: band.columns.clone() };
        while parts.as_ref().get(first).is_some_and(|part| part.region.rows.end <= low.rows.start) {
            first += 1;
        }
        for index in first..parts.as_ref().len() {
            let part = &parts.as_ref()[index].region;
            if part.rows.start >= low.rows.end {
                break;
            }
            let common = part.common(&low);
            if !common.shape().is_empty() {
                work(parts, index, &common);
            }
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
    if let Some(piece) = table.piece(region.rows.start, region.columns.start)?
        && let Some(window) = piece.window_of(region)
    {
        return kernel::to_array(window, element_type, policy, region.origin());
    }
    new_array(region, element_type, policy, &|target| table.read_region(region, target))
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
    read(Target::new(array.need_mutable_data()?, shape, policy)?.over())?;
    Ok(array)
}

/// Checks that row-major values may be written into a region that is not inside one piece.
#[inline(never)]
pub(super) fn check_write(
    look_up: LookUp<'_, '_>,
    region: &Region,
    values: AnySlice<'_>,
    rule: WriteRule,
) -> Result<()> {
    let parts = parts(look_up, region).map_err(|error| match error {
        Error::NotInMemory { .. } => Error::ReadOnlyTable, // values that are not in memory need an override
        other => other,
    })?;
    check_parts(&parts, region, values, rule)
}

fn check_parts(parts: &[Part<'_>], region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
    let new = new_values(region, values)?;
    let check = |part: &Part<'_>| match region.place_of(&part.region) {
        Some(place) => kernel::check_write(part.window, new.cut(place.rows, place.columns), rule, part.region.origin()),
        None => Ok(()),
    };
    parts.iter().map(check).fold(Ok(()), earlier)
}

/// Returns row-major values as a window with the shape of a region.
#[inline]
pub(super) fn new_values<'s>(region: &Region, values: AnySlice<'s>) -> Result<AnyWindow<'s>> {
    let (expected, found) = (region.shape().element_count()?, values.len());
    if expected != found {
        return Err(Error::LengthMismatch { expected, found });
    }
    Ok(AnyWindow::of_rows(values, region.rows.len(), region.columns.len()))
}

/// A region of a table, borrowed for writing: its parts. Splitting it makes disjoint regions, which may be sent to
/// different threads.
pub(crate) struct RegionMut<'t> {
    region: Region,
    parts: Parts<'t>,
}

enum Parts<'t> {
    One(AnyWindowMut<'t>),
    Many(Vec<PartMut<'t>>),
}

/// Returns whether two parts, sorted by their first rows and with values each, have a place in common.
fn overlap(parts: &[PartMut<'_>]) -> bool {
    // The parts that have the row which has been reached: their columns are disjoint, or the answer is known.
    let mut columns = BTreeMap::new();
    let mut ends = BinaryHeap::new();
    for PartMut { region, .. } in parts {
        while let Some(&Reverse((end, column))) = ends.peek()
            && end <= region.rows.start
        {
            ends.pop();
            columns.remove(&column);
        }
        let before = columns.range(..region.columns.end).next_back();
        if before.is_some_and(|(_, &end)| end > region.columns.start) {
            return true;
        }
        columns.insert(region.columns.start, region.columns.end);
        ends.push(Reverse((region.rows.end, region.columns.start)));
    }
    false
}

impl<'t> RegionMut<'t> {
    /// Returns a region of a piece, if it is inside.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_piece(piece: PieceMut<'t>, region: &Region) -> Option<Self> {
        Some(Self { region: region.clone(), parts: Parts::One(piece.into_window_of(region)?) })
    }

    /// Returns a region of the pieces of a table.
    ///
    /// # Errors
    /// [`Error::NotInMemory`] if they do not cover it, or overlap in it.
    pub(crate) fn of_pieces(pieces: Vec<PieceMut<'t>>, region: &Region) -> Result<Self> {
        let (mut parts, mut covered) = (Vec::new(), 0_usize);
        for piece in pieces {
            let common = piece.region().common(region);
            let count = common.shape().element_count()?;
            if count > 0
                && let Some(window) = piece.into_window_of(&common)
            {
                covered = covered.saturating_add(count);
                parts.push(PartMut { region: common, window });
            }
        }
        parts.sort_by_key(|part| (part.region.rows.start, part.region.columns.start));
        if covered != region.shape().element_count()? || overlap(&parts) {
            return Err(Error::NotInMemory { row: region.rows.start, column: region.columns.start });
        }
        Ok(Self::of_parts(region.clone(), parts))
    }

    fn of_parts(region: Region, mut parts: Vec<PartMut<'t>>) -> Self {
        let parts = match parts.pop() {
            Some(PartMut { region: only, window }) if parts.is_empty() && only == region => Parts::One(window),
            last => {
                parts.extend(last);
                Parts::Many(parts)
            }
        };
        Self { region, parts }
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Returns the values as one slice, if they are of type `U` and contiguous in row-major order.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn into_slice<U: Element>(self) -> Result<&'t mut [U], Self> {
        let Self { region, parts } = self;
        match parts {
            Parts::Many(_) if region.shape().is_empty() => Ok(&mut []),
            Parts::Many(_) => Err(Self { region, parts }),
            Parts::One(window) => window
                .downcast::<U>()
                .and_then(|window| window.into_slice().map_err(AnyWindowMut::new))
                .map_err(|window| Self { region, parts: Parts::One(window) }),
        }
    }

    /// Converts the values, row by row, into new memory.
    pub(crate) fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        match &self.parts {
            Parts::One(window) => kernel::to_array(window.as_window(), element_type, policy, self.region.origin()),
            Parts::Many(parts) => {
                let parts = as_parts(parts);
                new_array(&self.region, element_type, policy, &|target| read_parts(&parts, &self.region, target))
            }
        }
    }

    /// Converts values, row by row, into the region: all of them or none.
    pub(crate) fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        match &mut self.parts {
            Parts::One(window) => kernel::write(window.reborrow(), values, rule, self.region.origin()),
            Parts::Many(parts) => {
                check_parts(&as_parts(parts), &self.region, values, rule)?;
                self.write_checked(values, rule)
            }
        }
    }

    /// Like [`write`](Self::write), for values that have been checked.
    pub(crate) fn write_checked(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let (new, region) = (new_values(&self.region, values)?, &self.region);
        match &mut self.parts {
            Parts::One(window) => kernel::write_checked(window.reborrow(), new, rule),
            Parts::Many(parts) => {
                let row_bytes = new.columns() * new.element_type().size_in_bytes();
                for_each_in_band(parts, region, row_bytes, |parts, index, common| {
                    let part = &mut parts[index];
                    if let (Some(from), Some(to)) = (region.place_of(common), part.region.place_of(common)) {
                        let window = part.window.reborrow().cut(to.rows, to.columns);
                        kernel::write_checked(window, new.cut(from.rows, from.columns), rule);
                    }
                });
            }
        }
        Ok(())
    }

    /// Writes one value to every position, or nothing if a part refuses it.
    pub(crate) fn fill(&mut self, value: AnyValue, policy: ConversionPolicy) -> Result<()> {
        fn fill(
            window: AnyWindowMut<'_>,
            region: &Region,
            value: AnyValue,
            policy: ConversionPolicy,
            is_written: bool,
        ) -> Result<()> {
            match_element!(window.element_type(), T => {
                let value = kernel::value_as::<T>(value, policy, region.origin())?;
                if is_written && let Ok(window) = window.downcast::<T>() {
                    window.fill(value);
                }
                Ok(())
            })
        }
        match &mut self.parts {
            Parts::One(window) => fill(window.reborrow(), &self.region, value, policy, true),
            Parts::Many(parts) => [false, true].into_iter().try_for_each(|is_written| {
                let mut parts = parts.iter_mut();
                parts.try_for_each(|part| fill(part.window.reborrow(), &part.region, value, policy, is_written))
            }),
        }
    }

    /// Splits into the first `rows` rows and the rest; if there are fewer rows, the first part has them all.
    pub(crate) fn split_at_row(self, rows: usize) -> (Self, Self) {
        let Self { region, parts } = self;
        let middle = region.rows.start + rows.min(region.rows.len());
        let (head, tail) = region.split_at_row(middle);
        match parts {
            Parts::One(window) => {
                let (first, rest) = window.split_at(true, middle - region.rows.start);
                (Self { region: head, parts: Parts::One(first) }, Self { region: tail, parts: Parts::One(rest) })
            }
            Parts::Many(parts) => {
                let (mut above, mut below) = (Vec::new(), Vec::new());
                for PartMut { region, window } in parts {
                    if region.rows.end <= middle {
                        above.push(PartMut { region, window });
                    } else if region.rows.start >= middle {
                        below.push(PartMut { region, window });
                    } else {
                        let (first, rest) = window.split_at(true, middle - region.rows.start);
                        let (upper, lower) = region.split_at_row(middle);
                        above.push(PartMut { region: upper, window: first });
                        below.push(PartMut { region: lower, window: rest });
                    }
                }
                (Self::of_parts(head, above), Self::of_parts(tail, below))
            }
        }
    }
}

fn as_parts<'p>(parts: &'p [PartMut<'_>]) -> Vec<Part<'p>> {
    parts.iter().map(|part| Part { region: part.region.clone(), window: part.window.as_window() }).collect()
}
