//! The kernels that every device has.

#[forbid(unsafe_code)]
pub(super) mod source;

use std::ops::Range;

use cudarc::driver::CudaFunction;

use super::launch::{Argument, Geometry, launch};
use super::memory::CudaBuffer;
use super::modules::Unit;
use super::{Cuda, CudaTransport};
use crate::base::element::{Element, ElementType};

use crate::convert::ConversionPolicy;
use crate::convert::check_value;
use crate::convert::kernel::Origin;
use crate::execution::kernels::{check_columns, check_count, check_moments, check_rows, check_table};
use crate::execution::{DeviceError, DeviceView, DeviceViewMut, HandleError, Kernels, Transport};
use crate::table::{DataLayout, Shape};
use source::{Form, MERGE_ENTRY, Move, THREADS, convert_entry, group_rows, memory_entry, statistics_entry};

/// Blocks of a kernel for each multiprocessor, at most: as many as can run at once. All kernels take any number.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 8;

/// Blocks of a transpose for each multiprocessor, at most: many more than can run at once, so that none waits long for
/// the last ones, and so few that they often have several tiles, and share what a block computes once.
const TILES_PER_MULTIPROCESSOR: usize = 128;

/// What `refused` holds while no value has been refused.
const NONE: u64 = u64::MAX;

impl Cuda {
    /// Returns how a kernel runs whose threads take one item after another.
    pub(super) fn over(&self, items: usize) -> Geometry {
        let most = self.modules.multiprocessors().saturating_mul(BLOCKS_PER_MULTIPROCESSOR);
        let blocks = u32::try_from(items.div_ceil(THREADS as usize)).unwrap_or(most).clamp(1, most);
        Geometry { blocks: (blocks, 1, 1), threads: (THREADS, 1, 1), shared_bytes: 0 }
    }

    /// Returns how a kernel runs whose blocks each take so many items, and then end: so that those of a device which
    /// are the last ones have little left to do.
    fn once_over(items: usize, items_of_a_block: usize, most: usize) -> Geometry {
        let most = most.min(i32::MAX as usize);
        let blocks = u32::try_from(items.div_ceil(items_of_a_block).clamp(1, most)).unwrap_or(1);
        Geometry { blocks: (blocks, 1, 1), threads: (THREADS, 1, 1), shared_bytes: 0 }
    }

    /// Runs a kernel of a conversion, which may refuse values. Returns the index of the first value that it refused, if
    /// it did; under a policy that refuses nothing, without waiting.
    ///
    /// # Safety
    /// Those of [`launch`]; the last two parameters, the policy and where a refused index goes, are added here.
    unsafe fn run_conversion(
        &self,
        unit: Unit,
        name: &str,
        geometry: Geometry,
        policy: ConversionPolicy,
        arguments: Vec<Argument<'_>>,
    ) -> Result<Option<u64>, HandleError> {
        let function = self.modules.function(self.streams(), unit, name)?;
        let mode = number(match policy {
            ConversionPolicy::Saturate => 0,
            ConversionPolicy::Checked => 1,
            ConversionPolicy::Exact => 2,
        });
        if policy == ConversionPolicy::Saturate {
            // SAFETY: the caller's promise; no index is written under this policy.
            unsafe { self.launch_with(&function, geometry, arguments, [mode, number(0)]) }?;
            return Ok(None);
        }
        let transport = self.space.transport();
        let mut refused = CudaBuffer::allocate(self.streams(), size_of::<u64>())?;
        transport.upload(&NONE.to_le_bytes(), &mut refused, 0)?;
        let place = Argument::Write(&mut refused, 0..size_of::<u64>());
        // SAFETY: the caller's promise; the block has room for an index.
        unsafe { self.launch_with(&function, geometry, arguments, [mode, place]) }?;
        let mut index = [0; size_of::<u64>()];
        transport.download(&refused, 0..size_of::<u64>(), &mut index)?;
        let index = u64::from_le_bytes(index);
        Ok((index != NONE).then_some(index))
    }

    /// Launches a kernel with two more arguments.
    ///
    /// # Safety
    /// Those of [`launch`].
    unsafe fn launch_with<'a>(
        &self,
        function: &CudaFunction,
        geometry: Geometry,
        mut arguments: Vec<Argument<'a>>,
        last: [Argument<'a>; 2],
    ) -> Result<(), DeviceError> {
        arguments.extend(last);
        // SAFETY: the caller's promise.
        unsafe { launch(self.streams(), function, geometry, &mut arguments) }
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
        let (row_stride, column_stride) = match layout {
            DataLayout::RowMajor => (columns, 1),
            DataLayout::ColumnMajor => (1, rows),
        };
        let group = group_rows(rows, columns, row_stride == 1);
        let groups = rows.div_ceil(group);
        let bytes = groups.checked_mul(size_of::<u64>() * output.len()).ok_or(HandleError::LengthOverflow)?;
        let mut parts = CudaBuffer::allocate(self.streams(), bytes)?;
        let function = self.modules.function(self.streams(), Unit::Statistics(T::TYPE), &statistics_entry(T::TYPE))?;
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
        unsafe { launch(self.streams(), &function, geometry, &mut arguments) }?;

        let function = self.modules.function(self.streams(), Unit::Merge, MERGE_ENTRY)?;
        let mut arguments = [Argument::Read(&parts, 0..bytes), number(groups), number(columns), write(output)];
        let geometry = self.over(columns.saturating_mul(THREADS as usize));
        // SAFETY: the parameters of the kernel are these; it reads all moments, and writes those of each column.
        Ok(unsafe { launch(self.streams(), &function, geometry, &mut arguments) }?)
    }

    /// Returns the error about a value that a kernel has refused.
    fn refusal<S: Element, T: Element>(
        &self,
        input: &DeviceView<'_, S, CudaTransport>,
        index: u64,
        policy: ConversionPolicy,
    ) -> HandleError {
        let mut value = [S::default()];
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let first = input.byte_range().start.saturating_add(place.saturating_mul(size_of::<S>()));
        let range = first..first.saturating_add(size_of::<S>());
        let bytes = bytemuck::cast_slice_mut(&mut value);
        if let Err(error) = self.space.transport().download(input.buffer(), range, bytes) {
            return error.into();
        }
        let origin = Origin { row: place, ..Origin::default() };
        match check_value(value[0], T::TYPE, policy, origin) {
            Err(error) => error.into(),
            Ok(()) => DeviceError::Failed { code: 0, what: "a conversion that refused a value wrongly" }.into(),
        }
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
        let count = output.len();
        if count == 0 {
            return Ok(());
        }
        let mut bits = [0; size_of::<u64>()];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let function = self.modules.function(self.streams(), Unit::Memory, &memory_entry(Move::Fill, T::TYPE))?;
        let value = Argument::Number(u64::from_ne_bytes(bits));
        let mut arguments = [write(&mut output), number(count), value];
        // SAFETY: the parameters of `fill` are these; it writes `count` values of this width.
        Ok(unsafe { launch(self.streams(), &function, self.over(count), &mut arguments) }?)
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
        // A thread has two groups of 16 bytes of the wider type.
        let values = THREADS as usize * 32 / size_of::<S>().max(size_of::<T>());
        let geometry = Self::once_over(count, values, usize::MAX);
        // SAFETY: the parameters of `convert` are these and those of the refusal; it reads and writes `count` values.
        let refused = unsafe { self.run_conversion(unit, &name, geometry, policy, arguments) }?;
        refused.map_or(Ok(()), |index| Err(self.refusal::<S, T>(&input, index, policy)))
    }

    fn transpose<T: Element>(
        &self,
        input: DeviceView<'_, T, CudaTransport>,
        shape: Shape,
        mut output: DeviceViewMut<'_, T, CudaTransport>,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        let count = check_table::<T, Self>(&input, shape)?;
        check_count::<T, Self>(&output, count)?;
        if count == 0 {
            return Ok(());
        }
        let name = convert_entry(Form::Transposed, T::TYPE, T::TYPE);
        let [rows, columns] = [shape.rows, shape.columns].map(number);
        let arguments = vec![read(&input), write(&mut output), rows, columns];
        let unit = Unit::Convert(T::TYPE, T::TYPE);
        // About the size of a tile: a block without one costs little.
        let most = self.modules.multiprocessors() as usize * TILES_PER_MULTIPROCESSOR;
        let geometry = Self::once_over(count, (32 << 10) / size_of::<T>(), most);
        // SAFETY: the parameters of the kernel are these and those of the refusal; it reads and writes all values.
        unsafe { self.run_conversion(unit, &name, geometry, ConversionPolicy::Saturate, arguments) }?;
        Ok(())
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
        let function =
            self.modules.function(self.streams(), Unit::Memory, &memory_entry(Move::GatherColumns, T::TYPE))?;
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
        // SAFETY: the parameters of `gather_columns` are these; all columns are there, and it writes one value for each of
        // them and each row.
        Ok(unsafe { launch(self.streams(), &function, self.over(count), &mut arguments) }?)
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
        let function = self.modules.function(self.streams(), Unit::Memory, &memory_entry(Move::GatherRows, T::TYPE))?;
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
        Ok(unsafe { launch(self.streams(), &function, self.over(count), &mut arguments) }?)
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
}

/// Returns the argument of a number.
fn number<'v>(number: usize) -> Argument<'v> {
    Argument::Number(number as u64)
}
