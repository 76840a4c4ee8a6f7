//! Standardizing a table, for `pipeline` and `distributions`: scaling continuous columns to mean 0 and deviation 1.

use numeric_table::{
    prelude::*,
    statistics::{BasicStatistics, ColumnStatistics},
};

/// Number of rows of one task: few, so that even 150 rows make several blocks.
const ROWS_PER_BLOCK: usize = 32;

/// Scales every continuous column to mean 0 and deviation 1, in parallel, in `f64` blocks of the table.
pub(crate) fn standardize(table: &mut HomogenNumericTable<f32>, statistics: &BasicStatistics) -> Result<(), Error> {
    let columns = table.dictionary().iter().zip(statistics.per_column());
    let scales = columns.map(|(feature, column)| match feature.feature_type {
        FeatureType::Continuous => (column.mean(), scale(column)),
        _ => (0.0, 1.0), // changes nothing, so nothing is written
    });
    let scales: Vec<(f64, f64)> = scales.collect();

    let standardize_block = |block: &mut BlockMut<'_, f64>| {
        for row in block.iter_rows_mut() {
            row.iter_mut().zip(&scales).for_each(|(value, (mean, scale))| *value = (*value - mean) / scale);
        }
        Ok(()) // written back as f32, the whole block or nothing
    };
    table.par_update_row_blocks(ROWS_PER_BLOCK, standardize_block)
}

/// Returns the divisor: a column of equal values is only shifted to 0.
fn scale(column: &ColumnStatistics) -> f64 {
    let deviation = column.population_standard_deviation();
    if deviation > 0.0 { deviation } else { 1.0 }
}
