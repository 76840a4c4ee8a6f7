//! Kernels that write into a part of a dense table: sparse rows, and columns.

use numeric_table::convert::ConversionPolicy;
use numeric_table::{DataLayout, Element, Shape};

use super::source::{Form, Move, convert_entry, memory_entry, sparse_entry};
use super::{number, read, strides, write};
use crate::HandleError;
use crate::cuda::launch::Argument;
use crate::cuda::modules::Unit;
use crate::cuda::{Cuda, CudaTransport};
use crate::kernels::{Numbers, SparseRows, check_into_columns, wrong_row};
use crate::memory::{DeviceView, DeviceViewMut};

/// Returns the number of threads that read a row side by side: about as many as it has values, a power of two.
fn lanes(values: usize, rows: usize) -> usize {
    (values / rows.max(1)).clamp(1, 32).next_power_of_two()
}

impl Cuda {
    /// Sets all values of a view to one value.
    pub(super) fn fill_view<T: Element>(
        &self,
        output: &mut DeviceViewMut<'_, T, CudaTransport>,
        value: T,
    ) -> Result<(), HandleError> {
        let count = output.len();
        if count == 0 {
            return Ok(());
        }
        let mut bits = [0; size_of::<u64>()];
        bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let value = Argument::Number(u64::from_ne_bytes(bits));
        let mut arguments = [write(output), number(count), value];
        // SAFETY: the parameters of `fill` are these; it writes `count` values of this width.
        unsafe { self.run(Unit::Memory, &memory_entry(Move::Fill, T::TYPE), self.over(count), &mut arguments) }
    }

    /// Writes sparse rows as a dense table.
    pub(super) fn scatter_rows<T: Element>(
        &self,
        from: SparseRows<'_, T, Self>,
        (mut output, shape, layout): (DeviceViewMut<'_, T, CudaTransport>, Shape, DataLayout),
    ) -> Result<(), HandleError> {
        let SparseRows { offsets, indices, values, is_checked } = &from;
        offsets.bytes.check(&self.space)?;
        indices.bytes.check(&self.space)?;
        values.check(&self.space)?;
        output.check(&self.space)?;
        from.check(&output, shape)?;
        let count = values.len();
        self.fill_view(&mut output, T::default())?;
        if shape.rows == 0 || (*is_checked && count == 0) {
            return Ok(());
        }
        let mut refused = (!*is_checked).then(|| self.nothing_refused()).transpose()?;
        let lanes = lanes(count, shape.rows);
        let geometry = self.over(shape.rows.saturating_mul(lanes));
        let numbers = |numbers: &Numbers<'_, Self>| number(numbers.width);
        let mut arguments = [
            read(&offsets.bytes),
            numbers(offsets),
            read(&indices.bytes),
            numbers(indices),
            read(values),
            number(count),
            number(shape.rows),
            number(shape.columns),
            number(lanes),
            number(usize::from(layout == DataLayout::ColumnMajor)),
            write(&mut output),
            refused.as_mut().map_or(number(0), |refused| Argument::Write(refused, 0..size_of::<u64>())),
        ];
        // SAFETY: the parameters of `sparse_to_dense` are these; it reads an offset more than there are rows, and as
        // many indices as values, and checks both before it writes a value, inside the table, or one number.
        unsafe { self.run(Unit::Sparse, &sparse_entry(T::TYPE), geometry, &mut arguments) }?;
        let Some(refused) = refused else { return Ok(()) };
        match self.refused(&refused)? {
            None => Ok(()),
            Some(found) => Err(wrong_row((found / 4) as usize, (found % 4) as usize, count, shape.columns).into()),
        }
    }

    /// Converts a table into columns of another.
    pub(super) fn place_columns<S: Element, T: Element>(
        &self,
        (input, shape, layout): (DeviceView<'_, S, CudaTransport>, Shape, DataLayout),
        (mut output, all, order): (DeviceViewMut<'_, T, CudaTransport>, Shape, DataLayout),
        first_column: usize,
        policy: ConversionPolicy,
    ) -> Result<(), HandleError> {
        input.check(&self.space)?;
        output.check(&self.space)?;
        check_into_columns::<S, T, Self>(&input, shape, &output, all, first_column)?;
        if shape.is_empty() {
            return Ok(());
        }
        let Shape { rows, columns } = shape;
        let ([row_stride, column_stride], [to_row, to_column]) = (strides(layout, shape), strides(order, all));
        let range = output.byte_range();
        let first = range.start + first_column * to_column * size_of::<T>();
        let place = first..range.end;
        let unit = Unit::Convert(S::TYPE, T::TYPE);
        // The first refused value is that in row-major order.
        let is_ordered = columns == 1 || policy == ConversionPolicy::Saturate;
        let is_plain = layout == DataLayout::ColumnMajor && order == DataLayout::ColumnMajor && is_ordered;
        let (form, geometry) = match is_plain {
            true => (Form::Contiguous, self.over_values::<S, T>(input.len())),
            false => (Form::Strided, self.over(input.len())),
        };
        let mut arguments = vec![read(&input)];
        let target = Argument::Write(output.buffer(), place);
        match is_plain {
            true => arguments.extend([target, number(rows * columns)]),
            false => {
                arguments.extend([row_stride, column_stride].map(number));
                arguments.push(target);
                arguments.extend([to_row, to_column, rows, columns].map(number));
            }
        }
        let name = convert_entry(form, S::TYPE, T::TYPE);
        // SAFETY: the parameters of the kernel are these and those of the refusal; it reads all values, and writes one
        // for each place of the columns, which are inside the table.
        let refused = unsafe { self.run_conversion(unit, &name, geometry, policy, arguments) }?;
        refused.map_or(Ok(()), |index| {
            let (row, column) = (index / columns, index % columns);
            let place = row * row_stride + column * column_stride;
            Err(self.refusal::<S, T>(&input, place, (row, first_column + column), policy))
        })
    }
}
