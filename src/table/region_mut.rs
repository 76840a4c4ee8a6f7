//! Regions of a table borrowed for writing, and operations on their parts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::piece::PieceMut;
use super::tiling::{
    Part, Within, check_parts, check_type, check_types, check_write, for_each_run, height_of, misplaced, new_array,
    new_values, read_parts,
};
use super::{NumericTable, Region, Token};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::trace::{self, CopyKind};
use crate::base::value::AnyValue;
use crate::convert::kernel;
use crate::convert::{ConversionPolicy, WriteRule};
use crate::window::{AnySlice, AnyWindow, AnyWindowMut};

/// A region inside one piece, for writing.
type PartMut<'t> = Within<AnyWindowMut<'t>>;

/// A region of a table, borrowed for writing, as a list of parts. Splitting it makes disjoint regions, which can be
/// sent to different threads.
pub(crate) struct RegionMut<'t> {
    region: Region,
    parts: Parts<'t>,
}

enum Parts<'t> {
    One(AnyWindowMut<'t>),
    Many(VecDeque<PartMut<'t>>),
}

/// Returns whether any two non-empty parts, sorted by their first rows, overlap.
fn overlap(parts: &[PartMut<'_>]) -> bool {
    // The parts that contain the current row. Their columns are disjoint, or the result is already known.
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
    /// Returns a region of a piece, if it lies inside.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of_piece(piece: PieceMut<'t>, region: &Region) -> Option<Self> {
        Some(Self { region: region.clone(), parts: Parts::One(piece.into_window_of(region)?) })
    }

    /// Assembles a region from the pieces of a table.
    ///
    /// # Errors
    /// [`ErrorKind::NotInMemory`] if the pieces do not cover the region, or overlap in it.
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
            return Err(Error::new(ErrorKind::NotInMemory { row: region.rows.start, column: region.columns.start }));
        }
        Ok(Self::of_parts(region.clone(), parts.into()))
    }

    fn of_parts(region: Region, mut parts: VecDeque<PartMut<'t>>) -> Self {
        let parts = match parts.pop_back() {
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

    /// Converts the values, row by row, to new memory.
    pub(crate) fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        let array = match &self.parts {
            Parts::One(window) => kernel::to_array(window.as_window(), element_type, policy, self.region.origin()),
            Parts::Many(parts) => {
                let parts = as_parts(parts);
                new_array(&self.region, element_type, policy, &|target| read_parts(&parts, &self.region, target))
            }
        }?;
        if trace::is_on() {
            trace::record(self.kind_of_copy(element_type), array.len() * element_type.size_in_bytes());
        }
        Ok(array)
    }

    /// Returns what a copy of the values counts as in a trace.
    #[cold]
    fn kind_of_copy(&self, element_type: ElementType) -> CopyKind {
        let (is_stored, is_contiguous) = match &self.parts {
            Parts::One(window) => (window.element_type() == element_type, window.as_window().as_slice().is_some()),
            Parts::Many(parts) => (parts.iter().all(|part| part.window.element_type() == element_type), false),
        };
        match (is_stored, is_contiguous) {
            (false, _) => CopyKind::Converted,
            (true, true) => CopyKind::Staged,
            (true, false) => CopyKind::Gathered,
        }
    }

    /// Converts values, row by row, into the region, all or nothing.
    pub(crate) fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        match &mut self.parts {
            Parts::One(window) => kernel::write(window.reborrow(), values, rule, self.region.origin()),
            Parts::Many(parts) => {
                check_parts(&as_parts(parts), &self.region, values, rule)?;
                self.write_checked(values, rule)
            }
        }
    }

    /// Like [`write`](Self::write), for values that were checked against the types of the pieces for reading.
    ///
    /// # Errors
    /// [`ErrorKind::ElementTypeMismatch`] if the type of a part differs from the type that was checked. Nothing is
    /// written.
    pub(super) fn write_as_checked(
        &mut self,
        checked: &[Within<ElementType>],
        values: AnySlice<'_>,
        rule: WriteRule,
    ) -> Result<()> {
        match &self.parts {
            Parts::One(window) => check_types(checked, &self.region, window.element_type()),
            Parts::Many(parts) => {
                let mut parts = parts.iter();
                parts.try_for_each(|part| check_types(checked, &part.region, part.window.element_type()))
            }
        }?;
        self.write_checked(values, rule)
    }

    /// Like [`write`](Self::write), for values that have been checked.
    pub(crate) fn write_checked(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        let new = new_values(&self.region, values)?;
        match (&mut self.parts, parallel::task_count(new.size_in_bytes().saturating_mul(2))) {
            (Parts::One(window), _) => kernel::write_checked(window.reborrow(), new, rule),
            (Parts::Many(_), 1) => self.write_band(new, rule),
            (Parts::Many(parts), tasks) => {
                let parts = parts
                    .iter_mut()
                    .map(|PartMut { region, window }| PartMut { region: region.clone(), window: window.reborrow() });
                let whole = RegionMut::of_parts(self.region.clone(), parts.collect());
                let bands = parallel::cut((whole, new), new.rows(), tasks, |(region, new), count| {
                    let ((head, tail), (first, rest)) = (region.split_at_row(count), new.split_at(true, count));
                    ((head, first), (tail, rest))
                });
                parallel::map(bands, |(mut band, new)| band.write_band(new, rule));
            }
        }
        Ok(())
    }

    /// Writes values of the region's shape that have been checked.
    fn write_band(&mut self, new: AnyWindow<'_>, rule: WriteRule) {
        let region = &self.region;
        let parts = match &mut self.parts {
            Parts::One(window) => return kernel::write_checked(window.reborrow(), new, rule),
            Parts::Many(parts) => parts.make_contiguous(),
        };
        let height = height_of(parts, region, new.columns() * new.element_type().size_in_bytes());
        let mut runs = Vec::new();
        for_each_run(parts, region, height, kernel::are_written_together, |run, common| {
            runs.push((run, common.clone()));
        });
        for (run, common) in runs {
            let Some(from) = region.place_of(&common) else { continue };
            let windows = parts[run].iter_mut().filter_map(|PartMut { region, window }| {
                let to = region.place_of(&region.common(&common))?;
                Some(window.reborrow().cut(to.rows, to.columns))
            });
            kernel::write_beside(&mut windows.collect::<Vec<_>>(), new.cut(from.rows, from.columns), rule);
        }
    }

    /// Writes one value to every position, or to none if a part refuses it.
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

    /// Splits the region into the first `rows` rows and the rest. If it has fewer rows, the first part has all of them.
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
                // Parts are in the order of their first rows: those below the middle stay in place.
                let (mut above, mut cut, mut below) = (VecDeque::new(), Vec::new(), parts);
                while let Some(PartMut { region, window }) = below.pop_front() {
                    if region.rows.start >= middle {
                        below.push_front(PartMut { region, window });
                        break;
                    }
                    if region.rows.end <= middle {
                        above.push_back(PartMut { region, window });
                        continue;
                    }
                    let (first, rest) = window.split_at(true, middle - region.rows.start);
                    let (upper, lower) = region.split_at_row(middle);
                    above.push_back(PartMut { region: upper, window: first });
                    cut.push(PartMut { region: lower, window: rest });
                }
                cut.into_iter().rev().for_each(|part| below.push_front(part));
                (Self::of_parts(head, above), Self::of_parts(tail, below))
            }
        }
    }
}

/// Writes values into a region of any table that has pieces, all or nothing.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn write<N: NumericTable + ?Sized>(
    table: &mut N,
    region: &Region,
    values: AnySlice<'_>,
    rule: WriteRule,
) -> Result<()> {
    region.check(table.shape())?;
    let new = new_values(region, values)?;
    let (row, column) = (region.rows.start, region.columns.start);
    if let Some(piece) = table.piece(row, column)?
        && let Some(window) = piece.window_of(region)
    {
        kernel::check_write(window, new, rule, region.origin())?;
        if new.geometry().is_empty() {
            return Ok(());
        }
        let checked = window.element_type();
        let piece = table.piece_mut(row, column)?.ok_or_else(|| Error::new(ErrorKind::ReadOnlyTable))?;
        let covered = piece.region().clone();
        let window = piece.into_window_of(region).ok_or_else(|| misplaced(row, column, &covered))?;
        check_type(checked, window.element_type())?;
        kernel::write_checked(window, new, rule);
        return Ok(());
    }
    let checked = check_write(&|row, column| table.piece(row, column), region, values, rule)?;
    if new.geometry().is_empty() {
        return Ok(());
    }
    let pieces = table.pieces_around(region, Token::new())?;
    RegionMut::of_pieces(pieces, region)?.write_as_checked(&checked, values, rule)
}

fn as_parts<'p>(parts: &'p VecDeque<PartMut<'_>>) -> Vec<Part<'p>> {
    parts.iter().map(|part| Part { region: part.region.clone(), window: part.window.as_window() }).collect()
}
