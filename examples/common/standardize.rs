//! What `pipeline` does to its table, and `distributions` draws: every continuous column gets mean 0 and deviation 1.

use numeric_table::{BasicStatistics, ColumnStatistics, RowBlockMut, prelude::*};
#[cfg(feature = "rayon")]
use rayon::iter::ParallelIterator;

/// Rows that one task works on: few, so that even 150 rows make several blocks.
const ROWS_PER_BLOCK: usize = 32;

/// Gives every continuous column mean 0 and deviation 1, in parallel, in `f64` blocks on the memory of the table.
pub(crate) fn standardize(table: &mut HomogenNumericTable<f32>, statistics: &BasicStatistics) -> Result<(), Error> {
    let columns = table.dictionary().iter().zip(statistics.columns());
    let scales = columns.map(|(feature, column)| match feature.feature_type {
        FeatureType::Continuous => (column.mean(), scale(column)),
        _ => (0.0, 1.0), // changes nothing, and so nothing is written
    });
    let scales: Vec<(f64, f64)> = scales.collect();

    #[cfg(feature = "rayon")]
    let blocks = table.par_row_blocks_mut::<f64>(ROWS_PER_BLOCK)?;
    #[cfg(not(feature = "rayon"))]
    let mut blocks = table.row_blocks_mut::<f64>(ROWS_PER_BLOCK)?;

    blocks.try_for_each(|block| standardize_block(block?, &scales))
}

fn standardize_block(mut block: RowBlockMut<f64>, scales: &[(f64, f64)]) -> Result<(), Error> {
    for row in block.iter_rows_mut() {
        row.iter_mut().zip(scales).for_each(|(value, (mean, scale))| *value = (*value - mean) / scale);
    }
    block.release() // back to f32, the whole block or nothing
}

/// What to divide by: a column of equal values is only moved to 0.
fn scale(column: &ColumnStatistics) -> f64 {
    let deviation = column.population_standard_deviation();
    if deviation > 0.0 { deviation } else { 1.0 }
}
