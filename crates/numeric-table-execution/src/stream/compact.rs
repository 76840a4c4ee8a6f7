//! Blocks that cross in another form than dense rows, if it has fewer bytes: the stored cells of sparse rows, and columns
//! in types of their own. The device makes the dense block of them.
//!
//! The bytes of a block cross at once. Values that are wider than those of the block are converted while they are
//! packed, so that no form has more bytes than it needs; column indices and row offsets cross in the narrowest type that
//! has them all.

use std::ops::Range;

use numeric_table::array::AnySliceMut;
use numeric_table::convert::{ConversionPolicy, convert_slice_over};
use numeric_table::internal::{RowSource, StoredCells, match_element, parallel};
use numeric_table::{Array, DataLayout, Element, ElementType, Error, Shape};

use super::{Convert, RowStream, StreamOptions, StreamSlot, as_values, cross, first_refused};
use crate::device_table::is_refused_value;
use crate::kernels::{Numbers, SparseRows, narrowest};
use crate::memory::ExecutionMemory;
use crate::transport::Engine;
use crate::{DeviceAdapter, HandleError, Kernels, View};

/// How a block crosses, and where its parts are among the bytes.
enum Compact<'s> {
    /// Stored cells: values, column indices, row offsets.
    Cells(StoredCells<'s>, [Part; 3]),
    /// Ranges of columns, each in one type and column by column.
    Columns(Vec<(Range<usize>, Part)>),
}

/// Some values of one type among the bytes of a block.
#[derive(Clone)]
struct Part {
    element: ElementType,
    count: usize,
    first: usize,
}

impl Part {
    fn new(element: ElementType, count: usize) -> Self {
        Self { element, count, first: 0 }
    }

    fn bytes(&self) -> Range<usize> {
        self.first..self.first + self.count * self.element.size_in_bytes() // counted in `place`
    }

    /// Returns the view of these bytes.
    fn of<'v, D: DeviceAdapter>(&self, bytes: &View<'v, u8, D>) -> View<'v, u8, D> {
        D::Memory::part(bytes.clone(), self.bytes())
    }

    /// Returns the view of these values, which are of type `T`.
    fn values<'v, T: Element, D: DeviceAdapter>(&self, bytes: &View<'v, u8, D>) -> Result<View<'v, T, D>, HandleError> {
        D::Memory::cast::<u8, T>(self.of::<D>(bytes)).ok_or(HandleError::NoValidData) // never: it is aligned
    }
}

/// Places parts one after another, those of the widest values first, so that all are aligned without gaps. Returns the
/// number of bytes, or `None` if no `usize` has it.
fn place<'p>(parts: impl Iterator<Item = &'p mut Part>) -> Option<usize> {
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.element.size_in_bytes()));
    parts.into_iter().try_fold(0_usize, |first, part| {
        part.first = first;
        first.checked_add(part.count.checked_mul(part.element.size_in_bytes())?)
    })
}

/// Returns the type in which values cross that are stored in one type and become another.
fn crossing_type(stored: ElementType, target: ElementType, convert: Convert) -> ElementType {
    let is_narrower = stored.size_in_bytes() < target.size_in_bytes();
    if is_narrower || convert == Convert::Execution { stored } else { target }
}

impl<'s> Compact<'s> {
    /// Returns the form of a block of values of type `target`, and its number of bytes, if there is one of less than
    /// `dense` bytes.
    fn of(
        source: &'s dyn RowSource,
        rows: &Range<usize>,
        target: ElementType,
        convert: Convert,
        dense: usize,
    ) -> Result<Option<(Self, usize)>, Error> {
        let is_less = |&bytes: &usize| bytes < dense;
        if let Some(cells) = source.stored_cells(rows) {
            let (count, columns) = (cells.values().len(), source.shape().columns);
            let mut parts = [
                Part::new(crossing_type(cells.values().element_type(), target, convert), count),
                Part::new(narrowest(columns.saturating_sub(1)), count),
                Part::new(narrowest(count), rows.len() + 1),
            ];
            let bytes = place(parts.iter_mut()).filter(is_less);
            return Ok(bytes.map(|bytes| (Self::Cells(cells, parts), bytes)));
        }
        let Some(columns) = source.column_types(rows)? else { return Ok(None) };
        let part = |(columns, stored): (Range<usize>, _)| {
            let count = columns.len().checked_mul(rows.len())?;
            Some((columns, Part::new(crossing_type(stored, target, convert), count)))
        };
        let Some(mut columns) = columns.into_iter().map(part).collect::<Option<Vec<_>>>() else { return Ok(None) };
        let bytes = place(columns.iter_mut().map(|(_, part)| part)).filter(is_less);
        Ok(bytes.map(|bytes| (Self::Columns(columns), bytes)))
    }

    /// Writes the bytes of the block, of values of `U`. Returns whether the source could read them.
    fn pack<U: Element>(
        &self,
        source: &dyn RowSource,
        rows: &Range<usize>,
        bytes: &mut [u8],
        policy: ConversionPolicy,
    ) -> Result<bool, Error> {
        match self {
            Self::Cells(cells, [values, indices, offsets]) => {
                pack_values::<U>(cells, values.element, &mut bytes[values.bytes()], policy)?;
                for (numbers, part) in [(cells.indices(), indices), (cells.offsets(), offsets)] {
                    let bytes = &mut bytes[part.bytes()];
                    // Each number is one of its type: that is how the type was chosen.
                    match part.element {
                        ElementType::U8 => pack_with(bytes, |at, to| numbers.copy_as(at, to, |number| number as u8)),
                        ElementType::U16 => pack_with(bytes, |at, to| numbers.copy_as(at, to, |number| number as u16)),
                        ElementType::U32 => pack_with(bytes, |at, to| numbers.copy_as(at, to, |number| number as u32)),
                        _ => pack_with(bytes, |at, to| numbers.copy_as(at, to, |number| number as u64)),
                    }
                }
            }
            Self::Columns(all) => {
                for (columns, part) in all {
                    let length = rows.len() * part.element.size_in_bytes();
                    for (column, room) in columns.clone().zip(bytes[part.bytes()].chunks_exact_mut(length.max(1))) {
                        let is_read = match_element!(part.element, W => {
                            let target = AnySliceMut::new(bytemuck::cast_slice_mut::<u8, W>(room));
                            source.read_column(rows, column, target, policy)?
                        });
                        if !is_read {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Makes the dense block of the bytes, which have crossed.
    fn widen<U: Element, D: Kernels>(
        &self,
        slot: &mut StreamSlot<U, D>,
        device: &D,
        shape: Shape,
        options: &StreamOptions,
    ) -> Result<(), HandleError> {
        let StreamSlot { crossing, values: block, cells: converted, .. } = slot;
        let bytes = crossing.prepare_for_input()?;
        let (count, layout) = (shape.element_count()?, options.layout);
        match self {
            Self::Cells(_, [values, indices, offsets]) => {
                let values = if values.element == U::TYPE {
                    values.values::<U, D>(&bytes)?
                } else {
                    let output = converted.prepare_for_output(values.count)?;
                    match_element!(values.element, S => {
                        device.convert(values.values::<S, D>(&bytes)?, output, options.policy)?
                    });
                    converted.prepare_for_input()?
                };
                let [offsets, indices] = [offsets, indices].map(|part| {
                    let (bytes, width) = (part.of::<D>(&bytes), part.element.size_in_bytes());
                    Numbers::<D> { bytes, width }
                });
                let from = SparseRows::of_numbers(offsets, indices, values, true)?;
                device.sparse_to_dense(from, (block.prepare_for_output(count)?, shape, layout))
            }
            Self::Columns(all) => {
                block.prepare_for_output(count)?;
                for (columns, part) in all {
                    let output = (block.prepare_in_place()?, shape, layout);
                    let from = Shape { columns: columns.len(), ..shape };
                    match_element!(part.element, S => {
                        let from = (part.values::<S, D>(&bytes)?, from, DataLayout::ColumnMajor);
                        device.convert_into_columns(from, output, columns.start, options.policy)?;
                    });
                }
                Ok(())
            }
        }
    }
}

/// Writes stored values as they are, or as `U`.
fn pack_values<U: Element>(
    cells: &StoredCells<'_>,
    element: ElementType,
    bytes: &mut [u8],
    policy: ConversionPolicy,
) -> Result<(), Error> {
    let stored = cells.values();
    if bytes.is_empty() {
        return Ok(());
    }
    match_element!(stored.element_type(), S => {
        let values = stored.downcast::<S>().unwrap_or_default(); // it is their type
        if S::TYPE == element {
            let values: &[u8] = bytemuck::cast_slice(values);
            pack_with(bytes, |at, to: &mut [u8]| to.copy_from_slice(&values[at..at + to.len()]));
            return Ok(());
        }
        convert_slice_over(values, bytemuck::cast_slice_mut::<u8, U>(bytes), policy)
    })
}

/// Calls `work` with values of bytes, and the index of the first one, in parallel if that pays.
fn pack_with<W: Element>(bytes: &mut [u8], work: impl Fn(usize, &mut [W]) + Sync) {
    if !bytes.is_empty() {
        parallel::for_each_chunk_mut(bytemuck::cast_slice_mut::<u8, W>(bytes), &work);
    }
}

impl<U: Element, D: Kernels> RowStream<'_, U, D> {
    /// Sends a block in another form than dense rows, if that has fewer bytes, and makes the dense block of it on the
    /// device. Returns whether it did.
    pub(super) fn send_compact(&mut self, index: usize, rows: &Range<usize>) -> Result<bool, HandleError> {
        if D::Memory::IS_SHARED || self.options.convert == Convert::Control {
            return Ok(false);
        }
        let Self { source, device, options, slots, watch, crossing: dense_type, .. } = self;
        let (source, slot) = (&**source, &mut slots[index]);
        let shape = Shape { rows: rows.len(), columns: source.shape().columns };
        let dense =
            shape.element_count_of(dense_type.unwrap_or(U::TYPE))? * dense_type.unwrap_or(U::TYPE).size_in_bytes();
        let Some((form, bytes)) = Compact::of(source, rows, U::TYPE, options.convert, dense)? else { return Ok(false) };
        let refused = |error: HandleError| match error {
            HandleError::Library(error) if is_refused_value(&error) => {
                first_refused::<U>(source, rows, options.policy).unwrap_or(error.into())
            }
            error => error,
        };
        let is_packed = watch.pack(|| {
            let mut staging = as_values::<u64>(slot.crossing.replace_container(Array::new()).unwrap_or_default());
            device.queue().wait(Engine::Control, slot.copied);
            let words = bytes.div_ceil(size_of::<u64>());
            if staging.len() < words || !staging.has_mutable_data() {
                drop(staging); // both never exist at once
                // Blocks differ in their number of bytes: a little more, so that few of them need other memory.
                let more = if rows.len() < source.shape().rows { words / 4 } else { 0 };
                staging = device.staging(words + more)?;
            }
            let room: &mut [u8] = bytemuck::cast_slice_mut(staging.mutable_data()?);
            let packed = form.pack::<U>(source, rows, &mut room[..bytes], options.policy);
            slot.crossing.replace_container(staging.reinterpret::<u8>()?);
            slot.crossing.truncate(bytes);
            let is_packed = packed.map_err(|error| refused(error.into()))?;
            device.queue().packed(bytes);
            Ok::<_, HandleError>(is_packed)
        })?;
        if !is_packed {
            return Ok(false);
        }
        watch.copy(|| cross(device, &slot.crossing, &mut slot.copied, slot.free))?;
        watch.kernel(|| form.widen(slot, device, shape, options)).map_err(refused)?;
        Ok(true)
    }
}
