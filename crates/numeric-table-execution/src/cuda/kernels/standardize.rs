//! Standardizing values in place, and the means and deviations for it.

use numeric_table::{DataLayout, Element, Shape};

use super::source::{DEVIATIONS_ENTRY, standardize_entry};
use super::{number, read, write};
use crate::HandleError;
use crate::cuda::modules::Unit;
use crate::cuda::{Cuda, CudaTransport};
use crate::kernels::{check_deviations, check_standardize};
use crate::memory::{DeviceView, DeviceViewMut};

/// Number of values of the groups that a thread takes one after the other, at most.
const GROUP: usize = 4;

impl Cuda {
    pub(super) fn means_and_deviations_of(
        &self,
        moments: [DeviceView<'_, u64, CudaTransport>; 2],
        mut output: DeviceViewMut<'_, f64, CudaTransport>,
    ) -> Result<(), HandleError> {
        moments.iter().try_for_each(|words| words.check(&self.space))?;
        output.check(&self.space)?;
        let columns = check_deviations::<Self>(&moments, &output)?;
        if columns == 0 {
            return Ok(());
        }
        let [plain, scaled] = &moments;
        let mut arguments = [read(plain), read(scaled), number(columns), write(&mut output)];
        // SAFETY: the parameters of `means_and_deviations` are these; it reads the moments of these columns, and writes
        // two numbers for each of them. The lengths were compared.
        unsafe { self.run(Unit::Standardize, DEVIATIONS_ENTRY, self.over(columns), &mut arguments) }
    }

    pub(super) fn standardize_values<T: Element>(
        &self,
        mut values: DeviceViewMut<'_, T, CudaTransport>,
        shape: Shape,
        layout: DataLayout,
        means_and_deviations: DeviceView<'_, f64, CudaTransport>,
    ) -> Result<(), HandleError> {
        values.check(&self.space)?;
        means_and_deviations.check(&self.space)?;
        let count = check_standardize::<T, Self>(&values, shape, &means_and_deviations)?;
        if count == 0 {
            return Ok(());
        }
        let mut arguments = [
            write(&mut values),
            number(shape.rows),
            number(shape.columns),
            number(usize::from(layout == DataLayout::ColumnMajor)),
            read(&means_and_deviations),
        ];
        // SAFETY: the parameters of `standardize` are these; it reads and writes the values of this shape, and reads
        // two numbers of each column. The lengths were compared.
        unsafe {
            self.run(Unit::Standardize, &standardize_entry(T::TYPE), self.over(count.div_ceil(GROUP)), &mut arguments)
        }
    }
}
