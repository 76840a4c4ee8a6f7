//! What `pipeline` does to its table, and `distributions` draws: every continuous column gets mean 0 and deviation 1.

use numeric_table::{BasicStatistics, ColumnStatistics, prelude::*};

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

    let standardize_block = |block: &mut BlockMut<'_, f64>| {
        for row in block.iter_rows_mut() {
            row.iter_mut().zip(&scales).for_each(|(value, (mean, scale))| *value = (*value - mean) / scale);
        }
        Ok(()) // back to f32, the whole block or nothing
    };
    #[cfg(feature = "rayon")]
    return table.par_update_row_blocks(ROWS_PER_BLOCK, standardize_block);
    #[cfg(not(feature = "rayon"))]
    return table.update_row_blocks(ROWS_PER_BLOCK, standardize_block);
}

/// What to divide by: a column of equal values is only moved to 0.
fn scale(column: &ColumnStatistics) -> f64 {
    let deviation = column.population_standard_deviation();
    if deviation > 0.0 { deviation } else { 1.0 }
}
