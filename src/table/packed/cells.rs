//! The values of a packed matrix as a table: the code that both kinds share.
//!
//! Cells that are contiguous in the packed array are converted directly from and to it. For reading, so are columns
//! that are contiguous there: they are transposed in registers. All others go through tiles, which are gathered from
//! the packed array, and scattered into it after writing. The public types are in `packed`.
//! Invariant: the array has as many values as `packing` stores.

use std::ops::Range;

use super::packing::{BecomeSame, OtherHalf, Packing, SIDE, TILE, Triangle, check_pairs};
use super::parts::{Part, TALL};
use crate::array::AnyArray;
use crate::base::element::{Element, ElementType, match_element, match_width};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::parallel;
use crate::base::range;
use crate::base::trace::{self, CopyKind};
use crate::base::value::AnyValue;
use crate::convert::kernel::{self, OldValues};
use crate::convert::{ConversionPolicy, WriteRule};
use crate::dictionary::{DataDictionary, Feature};
use crate::table::tiling::{earlier, new_values};
use crate::table::{
    DataLayout, MemoryStatus, NumericTable, Piece, PieceMut, Region, Rejected, Shape, TableId, TableView, TableViewMut,
    Target, Token,
};
use crate::window::{AnyRows, AnySlice, AnySliceMut, AnyWindow, AnyWindowMut, Bits};

/// A packed array with one half of a matrix.
pub(super) struct Packed {
    id: TableId,
    pub(super) packing: Packing,
    pub(super) array: AnyArray,
    dictionary: DataDictionary,
    status: MemoryStatus,
}

impl Packed {
    fn new(packing: Packing, array: AnyArray, status: MemoryStatus) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(array.element_type()), packing.dimension());
        Self { id: TableId::new(), packing, array, dictionary, status }
    }

    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`], with the array.
    pub(super) fn of_array(
        array: AnyArray,
        triangle: Triangle,
        order: DataLayout,
        other: OtherHalf,
    ) -> Result<Self, Rejected<AnyArray>> {
        match Packing::of_length(array.len(), triangle, order, other) {
            Ok(packing) => Ok(Self::new(packing, array, MemoryStatus::UserAllocated)),
            Err(error) => Err(Rejected::new(array, error)),
        }
    }

    /// Marks the memory of the matrix as allocated by the library.
    pub(super) fn made_by_the_library(self) -> Self {
        Self { status: MemoryStatus::InternallyAllocated, ..self }
    }

    pub(super) fn zeros(
        dimension: usize,
        element: ElementType,
        triangle: Triangle,
        order: DataLayout,
        other: OtherHalf,
    ) -> Result<Self> {
        let packing = Packing::of_dimension(dimension, element, triangle, order, other)?;
        Ok(Self::new(packing, AnyArray::zeros(element, packing.count())?, MemoryStatus::InternallyAllocated))
    }

    /// Returns another matrix on the same memory.
    pub(super) fn share(&self, packing: Packing) -> Self {
        Self { dictionary: self.dictionary.clone(), ..Self::new(packing, self.array.clone(), self.status) }
    }

    /// Returns the same matrix, packed in another way. Shares the memory if its values are in the same positions.
    pub(super) fn repacked(&self, triangle: Triangle, order: DataLayout) -> Result<Self> {
        let (old, new) = (self.packing, self.packing.with(triangle, order));
        if new == old || (new.other == OtherHalf::Mirrored && new.begins_at_zero() == old.begins_at_zero()) {
            return Ok(self.share(new));
        }
        let element = self.array.element_type();
        let mut array = AnyArray::zeros(element, new.count())?;
        match_width!(element, B => {
            let (from, to) = (self.array.as_slice().bits::<B>(), array.need_mutable_data()?.into_bits::<B>());
            let mut tile = [B::default(); SIDE * SIDE];
            for_each_square(old.dimension(), |rows, columns| {
                let region = match triangle {
                    Triangle::Upper => Region { rows, columns },
                    Triangle::Lower => Region { rows: columns, columns: rows },
                };
                let tile = &mut tile[..region.rows.len() * region.columns.len()];
                old.gather(from, &region, tile);
                new.scatter(to, &region, tile);
            });
        });
        trace::record(CopyKind::Gathered, array.len() * element.size_in_bytes());
        let dictionary = self.dictionary.clone();
        Ok(Self { dictionary, ..Self::new(new, array, MemoryStatus::InternallyAllocated) })
    }

    /// Copies one half of a square table. The other half must have the values that the matrix implies.
    pub(super) fn of_table(
        table: &dyn NumericTable,
        triangle: Triangle,
        order: DataLayout,
        other: OtherHalf,
    ) -> Result<Self> {
        let (shape, element) = (table.shape(), table.one_type()?);
        if shape.rows != shape.columns {
            return Err(Error::new(ErrorKind::ShapeMismatch {
                expected: Shape { columns: shape.rows, ..shape },
                actual: shape,
            }));
        }
        let mut new = Self::zeros(shape.rows, element, triangle, order, other)?;
        let values = new.array.need_mutable_data()?;
        match_width!(element, B => copy_half(table, new.packing, element, values.into_bits::<B>()))?;
        table.dictionary().check_count(shape.columns, || Some(element))?;
        new.dictionary = table.dictionary().with_element_type(element)?; // no value is missing
        trace::record(CopyKind::Gathered, new.array.len() * element.size_in_bytes());
        Ok(new)
    }

    pub(super) fn values<T: Element>(&self) -> Result<&[T]> {
        values(&self.array)
    }

    pub(super) fn values_mut<T: Element>(&mut self) -> Result<&mut [T]> {
        values_mut(&mut self.array)
    }

    pub(super) fn set<T: Element>(&mut self, row: usize, column: usize, value: T) -> Result<()> {
        let cell = Region::of_cell(self.shape(), row, column)?;
        let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };
        self.write_region(&cell, AnySlice::new(&[value]), rule)
    }

    pub(super) fn value_at(&self, row: usize, column: usize) -> Result<AnyValue> {
        Region::of_cell(self.shape(), row, column)?;
        match_element!(self.array.element_type(), T => {
            let values = values::<T>(&self.array)?;
            Ok(self.packing.index_of(row, column).map_or(T::default(), |index| values[index]).into())
        })
    }
}

fn values<T: Element>(array: &AnyArray) -> Result<&[T]> {
    let values =
        array.downcast_ref::<T>().ok_or_else(|| Error::element_type_mismatch(T::TYPE, array.element_type()))?;
    Ok(values)
}

fn values_mut<T: Element>(array: &mut AnyArray) -> Result<&mut [T]> {
    let found = array.element_type();
    array.downcast_mut::<T>().ok_or_else(|| Error::element_type_mismatch(T::TYPE, found))?.need_mutable_data()
}

/// Calls `work` with the rows and columns of squares that cover the diagonal and the cells to its right, from top to
/// bottom, and from left to right.
fn for_each_square(dimension: usize, mut work: impl FnMut(Range<usize>, Range<usize>)) {
    for rows in range::cut(0..dimension, SIDE) {
        range::cut(rows.start..dimension, SIDE).for_each(|columns| work(rows.clone(), columns));
    }
}

/// Copies the stored half of a table, tile by tile.
///
/// # Errors
/// Those of reading the table; [`ErrorKind::AsymmetricValue`], [`ErrorKind::NotStored`] for the first invalid cell in
/// row-major order.
fn copy_half<B: Bits>(
    table: &dyn NumericTable,
    packing: Packing,
    element: ElementType,
    values: &mut [B],
) -> Result<()> {
    let read = |region: &Region, tile: &mut [B]| {
        let tile = AnySliceMut::of_bits(tile, element);
        let target = Target::new(tile, region.shape(), ConversionPolicy::Saturate)?;
        table.read_region(region, target.allow_partial_write())
    };
    let (dimension, mut tile, mut mirror) = (packing.dimension(), [B::default(); TILE], [B::default(); TILE]);
    for first in (0..dimension).step_by(SIDE) {
        let rows = first..dimension.min(first + SIDE);
        let start = if packing.other == OtherHalf::Mirrored { first } else { 0 };
        let (mut outcome, as_it_is): (_, BecomeSame<'_>) = (Ok(()), &|_, _, _| false);
        for column in (start..dimension).step_by(SIDE) {
            let region = Region { rows: rows.clone(), columns: column..dimension.min(column + SIDE) };
            let (height, width) = (region.rows.len(), region.columns.len());
            let (tile, mirror) = (&mut tile[..height * width], &mut mirror[..height * width]);
            read(&region, tile)?;
            let found = match packing.other {
                OtherHalf::Zero => packing.check_new(&region, AnySlice::of_bits(tile, element), as_it_is),
                OtherHalf::Mirrored => {
                    read(&Region { rows: region.columns.clone(), columns: rows.clone() }, mirror)?;
                    let value = |row: usize, at: usize| tile[(row - first) * width + at - column];
                    let mirrored = |row: usize, at: usize| mirror[(at - column) * height + row - first];
                    check_pairs(&rows, &region.columns, element, (value, mirrored), as_it_is)
                }
            };
            outcome = earlier(outcome, found);
            packing.scatter(values, &region, tile);
        }
        outcome?;
    }
    Ok(())
}

/// Up to this number of values, a region does not use a complete tile: initializing it would cost too much.
const FEW: usize = 256;

/// Returns a buffer for every tile of a region.
fn tile_for<'t, B: Bits>(region: &Region, few: &'t mut [B; FEW], many: &'t mut Option<[B; TILE]>) -> &'t mut [B] {
    let count = region.rows.len().saturating_mul(region.columns.len());
    if count <= FEW { few } else { many.insert([B::default(); TILE]) }
}

/// The work on a window on the values of a part.
type Work<'w> = &'w mut dyn FnMut(AnyWindow<'_>, &Region) -> Result<()>;

/// Calls `work` with a window on the values of each part of a region. Returns the earliest error.
fn for_each_window(packing: &Packing, values: AnySlice<'_>, region: &Region, work: Work<'_>) -> Result<()> {
    let element = values.element_type();
    match_width!(element, B => for_each_window_of(packing, (values.bits::<B>(), element), region, work))
}

/// Returns a window on the values of a part, in the packed array or in the buffer.
fn window_of<'w, B: Bits>(
    packing: &Packing,
    (values, element): (&'w [B], ElementType),
    part: &Part,
    buffer: &'w mut [B],
) -> AnyWindow<'w> {
    let (region, shape) = (part.region(), part.region().shape());
    let values = match part {
        Part::Run(run) => &values[packing.span_of_run(run)],
        Part::Columns(_) | Part::Tile(_) => {
            let tile = &mut buffer[..shape.rows * shape.columns];
            packing.gather(values, region, tile);
            tile
        }
    };
    AnyWindow::of_rows(AnySlice::of_bits(values, element), shape.rows, shape.columns)
}

fn for_each_window_of<B: Bits>(
    packing: &Packing,
    (values, element): (&[B], ElementType),
    region: &Region,
    work: Work<'_>,
) -> Result<()> {
    let (mut few, mut many, mut outcome) = ([B::default(); FEW], None, Ok(()));
    let tile = tile_for(region, &mut few, &mut many);
    packing.for_each_part(region, |part| {
        let result = work(window_of(packing, (values, element), &part, tile), part.region());
        if result.is_err() {
            outcome = earlier(std::mem::replace(&mut outcome, Ok(())), result);
        }
    });
    outcome
}

/// Reads a band of rows into rows of its shape, whose old values are lost. Returns the earliest error.
fn read_band<B: Bits>(
    packing: &Packing,
    (values, element): (&[B], ElementType),
    band: &Region,
    mut target: AnyRows<'_>,
    policy: ConversionPolicy,
) -> Result<()> {
    let (mut few, mut many, mut outcome) = ([B::default(); FEW], None, Ok(()));
    let tile = tile_for(band, &mut few, &mut many);
    let mut read_window = |part: &Part, target: AnyRows<'_>| {
        let window = window_of(packing, (values, element), part, tile);
        let result = kernel::read_rows(window, target, policy, part.region().origin(), OldValues::Lost);
        if result.is_err() {
            outcome = earlier(std::mem::replace(&mut outcome, Ok(())), result);
        }
    };
    packing.for_each_part_to_read(band, |part| {
        let Some(place) = band.place_of(part.region()) else { return }; // never: a part is inside
        let mut target = target.cut(place.rows, place.columns);
        let Part::Columns(region) = &part else { return read_window(&part, target) };
        if read_columns(packing, AnySlice::of_bits(values, element), region, target.reborrow(), policy) {
            return;
        }
        packing.for_each_part(region, |part| {
            let Some(place) = region.place_of(part.region()) else { return }; // never
            read_window(&part, target.cut(place.rows, place.columns));
        });
    });
    outcome
}

/// Reads the columns of a part from the packed array. Returns `false` if the policy rejects a value.
fn read_columns(
    packing: &Packing,
    values: AnySlice<'_>,
    part: &Region,
    target: AnyRows<'_>,
    policy: ConversionPolicy,
) -> bool {
    let start_of = |column| packing.span(column, &part.rows).start; // a column line
    let mut starts = [0; SIDE];
    for (start, column) in starts.iter_mut().zip(part.columns.clone()) {
        *start = start_of(column);
    }
    let next = packing.columns_after(part).take(SIDE).map(start_of);
    kernel::read_lines(values, &starts[..part.columns.len()], next, target, policy)
}

fn read(packing: &Packing, values: AnySlice<'_>, region: &Region, target: Target<'_>) -> Result<()> {
    let Target { values: rows, policy, old } = target;
    let (count, element) = (region.rows.len(), rows.element_type());
    let tasks = parallel::task_count(rows.size_in_bytes().saturating_mul(2)); // every value is read and written
    let mut policy = policy;
    if old == OldValues::Kept && policy != ConversionPolicy::Saturate {
        let bands = parallel::cut(region.clone(), count, tasks, |band, rows| band.split_at_row(band.rows.start + rows));
        let check = |band: Region| {
            let mut check =
                |window: AnyWindow<'_>, part: &Region| kernel::check(window, element, policy, part.origin());
            for_each_window(packing, values, &band, &mut check)
        };
        parallel::map(bands, check).into_iter().fold(Ok(()), earlier)?;
        policy = ConversionPolicy::Saturate;
    }
    let step = parallel::step_of_height(TALL, count, tasks);
    let bands = parallel::cut_by((region.clone(), rows), count, step, |(band, target), rows| {
        let ((first, rest), (head, tail)) = (band.split_at_row(band.rows.start + rows), target.split_at(true, rows));
        ((first, head), (rest, tail))
    });
    let stored = values.element_type();
    let read = |(band, target): (Region, AnyRows<'_>)| {
        match_width!(stored, B => {
            let values = (values.bits::<B>(), stored);
            read_band(packing, values, &band, target, policy)
        })
    };
    parallel::map(bands, read).into_iter().fold(Ok(()), earlier)
}

/// Returns whether writing either of two values over the old one stores the same value. Values that do not fit are
/// saturated. Zeros that are not stored have no sign.
fn become_same<T: Element>(old: T, pair: [AnySlice<'_>; 2], other: OtherHalf, rule: WriteRule) -> bool {
    let [left, right] = pair.map(|new| {
        let mut value = [old];
        let window = AnyWindowMut::of_rows(AnySliceMut::new(&mut value), 1, 1);
        kernel::write_checked(window, AnyWindow::of_rows(new, 1, 1), rule);
        value[0]
    });
    match other {
        OtherHalf::Mirrored => left.is_same(right),
        OtherHalf::Zero => left == right,
    }
}

/// Writes values that have been checked.
fn write(packing: &Packing, values: AnySliceMut<'_>, region: &Region, new: AnyWindow<'_>, rule: WriteRule) {
    let element = values.element_type();
    match_width!(element, B => write_bits(packing, (values.into_bits::<B>(), element), region, new, rule));
}

fn write_bits<B: Bits>(
    packing: &Packing,
    (values, element): (&mut [B], ElementType),
    region: &Region,
    new: AnyWindow<'_>,
    rule: WriteRule,
) {
    let (mut few, mut many) = ([B::default(); FEW], None);
    let tile = tile_for(region, &mut few, &mut many);
    packing.for_each_part(region, |part| {
        let there = part.region();
        let Some(place) = region.place_of(there) else { return };
        let (new, shape) = (new.cut(place.rows, place.columns), there.shape());
        let put = |values: &mut [B]| {
            let window = AnyWindowMut::of_rows(AnySliceMut::of_bits(values, element), shape.rows, shape.columns);
            kernel::write_checked(window, new, rule);
        };
        match part {
            Part::Run(ref run) => put(&mut values[packing.span_of_run(run)]),
            Part::Columns(ref place) | Part::Tile(ref place) => {
                let tile = &mut tile[..shape.rows * shape.columns];
                packing.gather(values, place, tile);
                put(tile);
                packing.scatter(values, place, tile);
            }
        }
    });
}

impl NumericTable for Packed {
    fn shape(&self) -> Shape {
        self.packing.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn uniform_type(&self) -> Option<ElementType> {
        Some(self.array.element_type())
    }

    fn data_layout(&self) -> DataLayout {
        self.packing.order
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.status
    }

    fn own_dictionary(&mut self, _: Token) -> Option<&mut DataDictionary> {
        Some(&mut self.dictionary)
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        let Some((line, span)) = self.packing.line_around(row, column) else { return Ok(None) };
        match_element!(self.array.element_type(), T => {
            let Some(array) = self.array.downcast_ref::<T>() else { return Ok(None) }; // never: it is its type
            let view = TableView::new(&array[span.clone()], line.shape(), DataLayout::RowMajor)?;
            Ok(Some(Piece::of_array(line.rows.start, line.columns.start, view, array, span.start)))
        })
    }

    /// The stored line around a cell. There are no [`pieces_mut`](Self::pieces_mut): they would not cover the table.
    fn piece_mut(&mut self, row: usize, column: usize) -> Result<Option<PieceMut<'_>>> {
        let Some((line, span)) = self.packing.line_around(row, column) else { return Ok(None) };
        match_element!(self.array.element_type(), T => {
            let values = &mut self.values_mut::<T>()?[span];
            let view = TableViewMut::new(values, line.shape(), DataLayout::RowMajor)?;
            Ok(Some(PieceMut::new(line.rows.start, line.columns.start, view)))
        })
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        target.check(region, self.shape())?;
        read(&self.packing, self.array.as_slice(), region, target)
    }

    fn write_region(&mut self, region: &Region, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        region.check(self.shape())?;
        let (packing, new) = (self.packing, new_values(region, values)?);
        if values.is_empty() {
            return Ok(());
        }
        let stored = self.array.as_slice();
        let become_same = |row: usize, column: usize, pair: [AnySlice<'_>; 2]| {
            let index = packing.index_of(row, column);
            match_element!(stored.element_type(), T => {
                let old = index.map_or(T::default(), |index| stored.as_slice::<T>()[index]);
                become_same(old, pair, packing.other, rule)
            })
        };
        let mut check = |old: AnyWindow<'_>, part: &Region| match region.place_of(part) {
            Some(place) => kernel::check_write(old, new.cut(place.rows, place.columns), rule, part.origin()),
            None => Ok(()), // never: a part is inside
        };
        let permitted = for_each_window(&packing, stored, region, &mut check);
        earlier(permitted, packing.check_new(region, values, &become_same))?;
        write(&packing, self.array.need_mutable_data()?, region, new, rule);
        Ok(())
    }

    fn check_region_writable(&mut self, _: &Region, _: Token) -> Result<()> {
        Ok(())
    }
}
