//! The kernels that every device has.

mod algorithms;
mod run;
#[forbid(unsafe_code)]
pub(super) mod source;
mod sparse;
mod standardize;

use std::ops::Range;

use numeric_table::convert::ConversionPolicy;
use numeric_table::table::spi::Region;
use numeric_table::{DataLayout, Element, ElementType, Shape, table::TableView};
use source::{Form, MERGE_ENTRY, Move, THREADS, convert_entry, group_rows, memory_entry, statistics_entry};

use super::launch::{Argument, Geometry};
use super::memory::{CudaBuffer, OUTSIDE};
use super::modules::Unit;
use super::strided::extent;
use super::{Cuda, CudaTransport};
use crate::kernels::{SparseRows, check_columns, check_count, check_moments, check_region, check_rows, no_element};
use crate::memory::{DeviceView, DeviceViewMut, ExecutionMemory, SeparateMemory};
use crate::transport::Transport;
use crate::{DeviceError, HandleError, Kernels};

/// Blocks of a kernel for each multiprocessor, at most: as many as can run at once. All kernels take any number.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// Blocks of a transpose for each multiprocessor, at most: many more than can run at once, so that none waits long for
/// the last ones, and so few that they often have several tiles, and share what a block computes once.
const TILES_PER_MULTIPROCESSOR: u32 = 128;

impl Cuda {
    /// Returns how a kernel runs whose threads take one item after another.
    pub(super) fn over(&self, items: usize) -> Geometry {
        self.on_blocks(items.div_ceil(THREADS as usize), BLOCKS_PER_MULTIPROCESSOR)
    }

    /// Returns how a conversion of contiguous values runs: each thread takes two groups of 16 bytes of the wider type,
    /// and ends. So those that run last have little left to do.
    fn over_values<S, T>(&self, count: usize) -> Geometry {
        let values_of_a_block = THREADS as usize * 32 / size_of::<S>().max(size_of::<T>());
        self.on_blocks(count.div_ceil(values_of_a_block), u32::MAX)
    }

    /// Returns how a transpose runs: with about as many blocks as there are tiles. A block without one costs little.
    fn over_tiles<T>(&self, count: usize) -> Geometry {
        self.on_blocks(count.div_ceil((32 << 10) / size_of::<T>()), TILES_PER_MULTIPROCESSOR)
    }

    /// Returns the geometry of a kernel: the given number of blocks, limited by the multiprocessors and the driver.
    fn on_blocks(&self, blocks: usize, most_per_multiprocessor: u32) -> Geometry {
        let most = self.modules.multiprocessors().saturating_mul(most_per_multiprocessor).min(i32::MAX as u32);
        let blocks = u32::try_from(blocks).unwrap_or(most).clamp(1, most);
        Geometry { blocks: (blocks, 1, 1), threads: (THREADS, 1, 1), shared_bytes: 0 }
    }

    /// Copies values at strides into row-major order. The shape is not empty, and its last value is inside the view.
    pub(super) fn gather_strided<T: Element>(
        &self,
        input: &DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        [row_stride, column_stride]: [usize; 2],
        mut output: DeviceViewMut<'_, T, CudaTransport>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        check_count::<T, Self>(&output, shape.element_count()?)?;
        if extent(shape, [row_stride, column_stride])? > input.len() {
            return Err(OUTSIDE.into());
        }
        let (from, sizes) = ([row_stride, column_stride], [shape.rows, shape.columns]);
        let mut arguments = vec![read(input)];
        arguments.extend(from.map(number));
        let geometry = self.over(output.len());
        arguments.push(write(&mut output));
        arguments.extend([shape.columns, 1].into_iter().chain(sizes).map(number));
        let (unit, name) = (Unit::Convert(T::TYPE, T::TYPE), convert_entry(Form::Strided, T::TYPE, T::TYPE));
        // SAFETY: the parameters of the kernel are these and those of the refusal; it reads values up to the last one
        // of the shape, which is inside the view, and writes one for each of them.
        unsafe { self.run_conversion(unit, &name, geometry, ConversionPolicy::Saturate, arguments) }.map(|_| ())
    }

    /// Computes the moments of the columns of a table that is not empty.
    fn moments_of<T: Element>(
        &self,
        input: &DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        is_scaled: bool,
        output: &mut DeviceViewMut<'_, u64, CudaTransport>,
    ) -> Result<(), HandleError> {
        let Shape { rows, columns } = shape;
        let [row_stride, column_stride] = strides(layout, shape);
        let group = group_rows(rows, columns, row_stride == 1);
        let groups = rows.div_ceil(group);
        let bytes = groups.checked_mul(size_of::<u64>() * output.len()).ok_or(HandleError::LengthOverflow)?;
        let mut parts = CudaBuffer::allocate(self.streams(), bytes)?;
        let mut arguments = [
            read(input),
            number(row_stride),
            number(column_stride),
            number(rows),
            number(columns),
            number(group),
            number(usize::from(is_scaled)),
            Argument::Write(&mut parts, 0..bytes),
        ];
        let geometry = self.over(groups.saturating_mul(columns).saturating_mul(THREADS as usize));
        // SAFETY: the parameters of the kernel are these; it reads all values, and writes the moments of each column of
        // each group.
        unsafe { self.run(Unit::Statistics(T::TYPE), &statistics_entry(T::TYPE), geometry, &mut arguments) }?;

        let mut arguments = [Argument::Read(&parts, 0..bytes), number(groups), number(columns), write(output)];
        let geometry = self.over(columns.saturating_mul(THREADS as usize));
        // SAFETY: the parameters of the kernel are these; it reads all moments, and writes those of each column.
        unsafe { self.run(Unit::Merge, MERGE_ENTRY, geometry, &mut arguments) }
    }

    /// Returns the error about a value that a kernel has refused: the one at a place of a view, which is at a position
    /// in a table.
    fn refusal<S: Element, T: Element>(
        &self,
        input: &DeviceView<'_, S, CudaTransport>,
        place: usize,
        (row, column): (usize, usize),
        policy: ConversionPolicy,
    ) -> HandleError {
        let mut value = [S::default()];
        let first = input.byte_range().start.saturating_add(place.saturating_mul(size_of::<S>()));
        let range = first..first.saturating_add(size_of::<S>());
        let bytes = bytemuck::cast_slice_mut(&mut value);
        if let Err(error) = self.space.transport().download(input.buffer(), range, bytes) {
            return error.into();
        }
        let view = TableView::new(&value, Shape { rows: 1, columns: 1 }, DataLayout::RowMajor);
        match view.and_then(|view| view.check_conversion::<T>(policy)) {
            Err(error) => error.moved(row, column).into(),
            Ok(()) => DeviceError::Failed { code: 0, what: "a conversion that refused a value wrongly" }.into(),
        }
    }
}

/// Returns the distances of rows and of columns, in values.
fn strides(layout: DataLayout, shape: Shape) -> [usize; 2] {
    match layout {
        DataLayout::RowMajor => [shape.columns, 1],
        DataLayout::ColumnMajor => [1, shape.rows],
    }
}

/// Returns the argument of a view that a kernel reads.
fn read<'v, T: Element>(view: &'v DeviceView<'_, T, CudaTransport>) -> Argument<'v> {
    Argument::Read(view.buffer(), view.byte_range())
}

/// Returns the argument of a view that a kernel writes.
fn write<'v, T: Element>(view: &'v mut DeviceViewMut<'_, T, CudaTransport>) -> Argument<'v> {
    let range = view.byte_range();
    Argument::Write(view.buffer(), range)
}

impl Kernels for Cuda {
    fn fill<T: Element>(&self, mut output: DeviceViewMut<'_, T, CudaTransport>, value: T) -> Result<(), HandleError> {
        output.check(&self.space)?;
        self.fill_view(&mut output, value)
    }

    fn convert<S: Element, T: Element>(
        &self,
        input: DeviceView<'_, S, CudaTransport>,
        mut output: DeviceViewMut<'_, T, CudaTransport>,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        let count = input.len();
        check_count::<T, Self>(&output, count)?;
        if count == 0 {
            return Ok(());
        }
        if S::TYPE == T::TYPE {
            return Ok(output.buffer().start_copy(input.buffer(), &input.byte_range())?);
        }
        let unit = Unit::Convert(S::TYPE, T::TYPE);
        let arguments = vec![read(&input), write(&mut output), number(count)];
        let name = convert_entry(Form::Contiguous, S::TYPE, T::TYPE);
        let geometry = self.over_values::<S, T>(count);
        // SAFETY: the parameters of `convert` are these and those of the refusal; it reads and writes `count` values.
        let refused = unsafe { self.run_conversion(unit, &name, geometry, policy, arguments) }?;
        refused.map_or(Ok(()), |place| Err(self.refusal::<S, T>(&input, place, (place, 0), policy)))
    }

    fn convert_region<S: Element, T: Element>(
        &self,
        (input, shape, layout): (DeviceView<'_, S, CudaTransport>, Shape, DataLayout),
        region: &Region,
        (mut output, order): (DeviceViewMut<'_, T, CudaTransport>, DataLayout),
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        check_region::<S, T, Self>(&input, shape, region, &output)?;
        let Shape { rows, columns } = region.shape();
        if output.is_empty() {
            return Ok(());
        }
        let [row_stride, column_stride] = strides(layout, shape);
        let first = region.rows.start * row_stride + region.columns.start * column_stride;
        let count = (rows - 1) * row_stride + (columns - 1) * column_stride + 1;
        let part = SeparateMemory::<CudaTransport>::part(input, first..first + count);

        // A refused value is found by its place in row-major order. So values that lie column by column are taken as
        // those of the turned table only if none can be refused.
        let is_vector = rows == 1 || columns == 1;
        let is_by_rows = layout == DataLayout::RowMajor || is_vector;
        let is_plain = count == output.len() && (is_by_rows || policy == ConversionPolicy::Saturate);
        let (form, sizes, geometry) = match is_plain {
            true if S::TYPE == T::TYPE && (layout == order || is_vector) => {
                return Ok(output.buffer().start_copy(part.buffer(), &part.byte_range())?);
            }
            true if layout == order || is_vector => (Form::Contiguous, vec![count], self.over_values::<S, T>(count)),
            true if is_by_rows => (Form::Transposed, vec![rows, columns], self.over_tiles::<T>(count)),
            true => (Form::Transposed, vec![columns, rows], self.over_tiles::<T>(count)),
            false => (Form::Strided, vec![rows, columns], self.over(output.len())),
        };
        let (mut arguments, [to_row, to_column]) = (vec![read(&part)], strides(order, region.shape()));
        match form {
            Form::Strided => {
                arguments.extend([row_stride, column_stride].map(number));
                arguments.push(write(&mut output));
                arguments.extend([to_row, to_column].map(number));
            }
            _ => arguments.push(write(&mut output)),
        }
        arguments.extend(sizes.into_iter().map(number));
        let (unit, name) = (Unit::Convert(S::TYPE, T::TYPE), convert_entry(form, S::TYPE, T::TYPE));
        // SAFETY: the parameters of the kernel are these and those of the refusal; it reads values of the part, and
        // writes one for each place of the region.
        let refused = unsafe { self.run_conversion(unit, &name, geometry, policy, arguments) }?;
        refused.map_or(Ok(()), |index| {
            let (row, column) = (index / columns, index % columns);
            let origin = (region.rows.start + row, region.columns.start + column);
            Err(self.refusal::<S, T>(&part, row * row_stride + column * column_stride, origin, policy))
        })
    }

    fn convert_into_columns<S: Element, T: Element>(
        &self,
        from: (DeviceView<'_, S, CudaTransport>, Shape, DataLayout),
        to: (DeviceViewMut<'_, T, CudaTransport>, Shape, DataLayout),
        first_column: usize,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        self.place_columns(from, to, first_column, policy)
    }

    fn sparse_to_dense<T: Element>(
        &self,
        from: SparseRows<'_, T, Self>,
        to: (DeviceViewMut<'_, T, CudaTransport>, Shape, DataLayout),
    ) -> Result<(), HandleError> {
        self.scatter_rows(from, to)
    }

    fn gather_columns<T: Element>(
        &self,
        input: DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        columns: &[usize],
        mut output: DeviceViewMut<'_, T, CudaTransport>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        check_columns::<T, Self>(&input, shape, columns, &output)?;
        if output.is_empty() {
            return Ok(());
        }
        let chosen = bytemuck::cast_slice(columns);
        let mut indices = CudaBuffer::allocate(self.streams(), chosen.len())?;
        self.space.transport().upload(chosen, &mut indices, 0)?;
        let count = output.len();
        let mut arguments = [
            read(&input),
            number(shape.rows),
            number(shape.columns),
            number(usize::from(layout == DataLayout::ColumnMajor)),
            Argument::Read(&indices, 0..chosen.len()),
            number(columns.len()),
            write(&mut output),
        ];
        // SAFETY: the parameters of `gather_columns` are these; all columns are there, and it writes one value for each
        // of them and each row.
        unsafe { self.run(Unit::Memory, &memory_entry(Move::GatherColumns, T::TYPE), self.over(count), &mut arguments) }
    }

    fn gather_rows<T: Element>(
        &self,
        input: DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        rows: Range<usize>,
        mut output: DeviceViewMut<'_, T, CudaTransport>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        check_rows::<T, Self>(&input, shape, &rows, &output)?;
        let count = output.len();
        if count == 0 {
            return Ok(());
        }
        if layout == DataLayout::RowMajor {
            let first = input.byte_range().start + rows.start * shape.columns * size_of::<T>();
            return Ok(output.buffer().start_copy(input.buffer(), &(first..first + count * size_of::<T>()))?);
        }
        let mut arguments = [
            read(&input),
            number(shape.rows),
            number(shape.columns),
            number(1), // in columns
            number(rows.start),
            number(rows.len()),
            write(&mut output),
        ];
        // SAFETY: the parameters of `gather_rows` are these; all rows are there, and it writes their values.
        unsafe { self.run(Unit::Memory, &memory_entry(Move::GatherRows, T::TYPE), self.over(count), &mut arguments) }
    }

    fn count_up(
        &self,
        mut output: DeviceViewMut<'_, i64, CudaTransport>,
        start: i64,
        step: i64,
    ) -> Result<(), HandleError> {
        output.check(&self.space)?;
        let count = output.len();
        if count == 0 {
            return Ok(());
        }
        let name = memory_entry(Move::CountUp, ElementType::I64);
        let [start, step] = [start, step].map(|number| Argument::Number(number as u64));
        let mut arguments = [write(&mut output), number(count), start, step];
        // SAFETY: the parameters of `count_up` are these; it writes `count` values of this width.
        unsafe { self.run(Unit::Memory, &name, self.over(count), &mut arguments) }
    }

    fn gather<T: Element>(
        &self,
        input: DeviceView<'_, T, CudaTransport>,
        indices: DeviceView<'_, u64, CudaTransport>,
        mut output: DeviceViewMut<'_, T, CudaTransport>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        indices.check(&self.space)?;
        output.check(&self.space)?;
        let count = indices.len();
        check_count::<T, Self>(&output, count)?;
        if count == 0 {
            return Ok(());
        }
        let mut refused = self.nothing_refused()?;
        let geometry = self.over(count);
        let mut arguments = [
            read(&input),
            number(input.len()),
            read(&indices),
            number(count),
            write(&mut output),
            Argument::Write(&mut refused, 0..size_of::<u64>()),
        ];
        // SAFETY: the parameters of `gather` are these; it reads `count` indices and the values at those that are less
        // than the number of values, and writes `count` values of this width and one number.
        unsafe { self.run(Unit::Memory, &memory_entry(Move::Gather, T::TYPE), geometry, &mut arguments) }?;
        let Some(place) = self.refused(&refused)? else { return Ok(()) };
        let mut index = [0; size_of::<u64>()];
        let first = indices.byte_range().start.saturating_add((place as usize).saturating_mul(size_of::<u64>()));
        self.space.transport().download(indices.buffer(), first..first.saturating_add(size_of::<u64>()), &mut index)?;
        Err(no_element(u64::from_le_bytes(index), input.len()).into())
    }

    fn moments<T: Element>(
        &self,
        input: DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        outputs: [DeviceViewMut<'_, u64, CudaTransport>; 2],
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        outputs.iter().try_for_each(|output| output.check(&self.space))?;
        check_moments::<T, Self>(&input, shape, &outputs)?;
        let [mut plain, scaled] = outputs;
        if shape.is_empty() {
            return self.fill(plain, 0); // of no values; the sums are zero, and so the others do not count
        }
        self.moments_of(&input, shape, layout, false, &mut plain)?;
        match T::TYPE {
            // No sum of other types overflows.
            ElementType::F64 => self.moments_of(&input, shape, layout, true, &mut { scaled }),
            _ => Ok(()),
        }
    }

    fn means_and_deviations(
        &self,
        moments: [DeviceView<'_, u64, CudaTransport>; 2],
        output: DeviceViewMut<'_, f64, CudaTransport>,
    ) -> Result<(), HandleError> {
        self.means_and_deviations_of(moments, output)
    }

    fn standardize<T: Element>(
        &self,
        values: DeviceViewMut<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        means_and_deviations: DeviceView<'_, f64, CudaTransport>,
    ) -> Result<(), HandleError> {
        self.standardize_values(values, shape, layout, means_and_deviations)
    }
}

/// Returns the argument of a number.
fn number<'v>(number: usize) -> Argument<'v> {
    Argument::Number(number as u64)
}
