//! The rule for standardizing values, on slices in the program's memory. All devices give the same bits.

use numeric_table::convert::{ConversionPolicy, convert_slice};
use numeric_table::internal::{PLAIN_NAN, plain_nan};
use numeric_table::statistics::{BasicStatistics, ColumnStatistics};
use numeric_table::{DataLayout, Element, ElementType, Error, ErrorKind, Shape};

use super::{check_count, check_length};
#[cfg(doc)]
use crate::Kernels;
use crate::memory::ExecutionMemory;
use crate::{DeviceAdapter, HandleError, View, ViewMut};

/// Number of values that are converted at once, on the stack.
const BLOCK: usize = 256;

/// Returns the mean and the population standard deviation of a column.
pub(crate) fn mean_and_deviation(column: &ColumnStatistics) -> [f64; 2] {
    [column.mean(), column.population_standard_deviation()].map(plain_nan)
}

/// Returns the same of the moments that a device writes.
pub(super) fn mean_and_deviation_of_words(plain: &[u64], scaled: &[u64]) -> [f64; 2] {
    let rows = plain.iter().take(4).fold(0_u64, |sum, &count| sum.wrapping_add(count));
    let found = BasicStatistics::from_words(plain, scaled, rows);
    found.and_then(|found| found.per_column().first().map(mean_and_deviation)).unwrap_or([PLAIN_NAN; 2])
}

/// Standardizes contiguous values of a table, from the one at place `first` on. There are two numbers for each column
/// of the shape.
pub(super) fn standardize_part<T: Element>(
    values: &mut [T],
    first: usize,
    shape: Shape,
    layout: DataLayout,
    means_and_deviations: &[f64],
) -> Result<(), Error> {
    if values.is_empty() {
        return Ok(());
    }
    let (pairs, _) = means_and_deviations.as_chunks::<2>();
    let is_row_major = layout == DataLayout::RowMajor;
    let line = if is_row_major { shape.columns } else { shape.rows };
    let (mut outer, mut inner) = (first / line, first % line);
    let [mut numbers, mut results] = [[0.0; BLOCK]; 2];
    let mut rounded = [T::default(); BLOCK];
    for values in values.chunks_mut(BLOCK) {
        let (numbers, results) = (&mut numbers[..values.len()], &mut results[..values.len()]);
        convert_slice(values, numbers, ConversionPolicy::Saturate)?;
        let mut done = 0;
        while done < numbers.len() {
            let end = numbers.len().min(done + (line - inner));
            let run = results[done..end].iter_mut().zip(&numbers[done..end]);
            match is_row_major {
                true => {
                    run.zip(&pairs[inner..]).for_each(|((result, &number), &of)| *result = standardized(number, of))
                }
                false => run.for_each(|(result, &number)| *result = standardized(number, pairs[outer])),
            }
            inner += end - done;
            done = end;
            if inner == line {
                (outer, inner) = (outer + 1, 0);
            }
        }
        let rounded = &mut rounded[..values.len()];
        convert_slice(results, rounded, ConversionPolicy::Saturate)?;
        for ((value, &rounded), number) in values.iter_mut().zip(rounded.iter()).zip(numbers.iter()) {
            *value = if number.is_nan() { *value } else { rounded };
        }
    }
    Ok(())
}

fn standardized(number: f64, [mean, deviation]: [f64; 2]) -> f64 {
    let divisor = if deviation == 0.0 { 1.0 } else { deviation };
    let difference = number - mean;
    plain_nan(match difference.is_infinite() {
        true => 2.0 * ((0.5 * number - 0.5 * mean) / divisor),
        false => difference / divisor,
    })
}

/// Checks that values of a type can be standardized.
pub(crate) fn check_standardized(element: ElementType) -> Result<(), HandleError> {
    if element.is_float() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::UnsupportedElementType { element, target: "a standardized table" }).into())
}

/// Checks the arguments of [`Kernels::standardize`], and returns the number of values.
pub(crate) fn check_standardize<T: Element, D: DeviceAdapter>(
    values: &ViewMut<'_, T, D>,
    shape: Shape,
    means_and_deviations: &View<'_, f64, D>,
) -> Result<usize, HandleError> {
    check_standardized(T::TYPE)?;
    let count = shape.element_count()?;
    check_count::<T, D>(values, count)?;
    check_words::<f64, D>(means_and_deviations, shape.columns, 2)?;
    Ok(count)
}

/// Checks the arguments of [`Kernels::means_and_deviations`], and returns the number of columns.
pub(crate) fn check_deviations<D: DeviceAdapter>(
    moments: &[View<'_, u64, D>; 2],
    output: &ViewMut<'_, f64, D>,
) -> Result<usize, HandleError> {
    let have = <D::Memory as ExecutionMemory>::count_mut(output);
    let columns = have / 2;
    moments.iter().try_for_each(|words| check_words::<u64, D>(words, columns, BasicStatistics::WORDS))?;
    check_count::<f64, D>(output, columns * 2)?;
    Ok(columns)
}

/// Checks that a view has the given number of values for each column.
fn check_words<T: Element, D: DeviceAdapter>(
    view: &View<'_, T, D>,
    columns: usize,
    each: usize,
) -> Result<(), HandleError> {
    check_length::<T, D>(view, columns.checked_mul(each).ok_or(HandleError::LengthOverflow)?)
}
