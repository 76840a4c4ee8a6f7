//! Rows that are all different and are computed while they stream: more of them than the device has memory for.
//!
//! `device --distinct 300` streams 300 GiB of `f32` through the device, which computes their statistics, and compares
//! the mean of a column with its formula.

use std::time::Instant;

use numeric_table::prelude::*;
use numeric_table::table::spi::{Region, TableId, Target};
use numeric_table_execution::cuda::Cuda;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::{DeviceStatistics, HandleError};

use crate::COLUMNS;

/// The numbers of the first column repeat after this number of rows: the largest that `f32` counts to.
const CYCLE: usize = 1 << 24;

/// A table of computed rows.
struct Computed {
    id: TableId,
    dictionary: DataDictionary,
    rows: usize,
}

/// The number of the row in its cycle, the number of the cycle, and numbers that look random.
fn value(row: usize, column: usize) -> f32 {
    match column {
        0 => (row % CYCLE) as f32,
        1 => (row / CYCLE) as f32,
        _ => ((row * COLUMNS + column).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32,
    }
}

impl NumericTable for Computed {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows, columns: COLUMNS }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<(), Error> {
        region.check(self.shape())?;
        target.fill_with(region, value)
    }
}

/// Streams the given number of GiB of rows.
pub(crate) fn stream(device: &Cuda, gib: usize) -> Result<(), HandleError> {
    let bytes = gib << 30;
    let rows = bytes / (COLUMNS * size_of::<f32>());
    let dictionary = DataDictionary::uniform(Feature::new(ElementType::F32), COLUMNS);
    let table = Computed { id: TableId::new(), dictionary, rows };
    let start = Instant::now();
    let mut statistics = DeviceStatistics::new(device, COLUMNS);
    let options = StreamOptions { rows: 1 << 20, ..StreamOptions::default() };
    let mut stream = table.stream_rows::<f32, _>(device, options)?;
    while let Some(block) = stream.next()? {
        statistics.update_block(&block)?;
    }
    let stats = stream.finish()?;
    let seconds = start.elapsed().as_secs_f64();

    let sum_below = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let sum = (rows / CYCLE) as f64 * sum_below(CYCLE) + sum_below(rows % CYCLE);
    let (found, expected) = (statistics.finish()?.per_column()[0].mean(), sum / rows as f64);
    assert!((found - expected).abs() <= 1e-12 * expected, "{found}, not {expected}");
    assert_eq!(stats.rows, rows);
    println!("statistics/distinct_{gib}_GiB {:.3} ms {:.1} GB/s", seconds * 1e3, bytes as f64 / seconds / 1e9);
    println!("# {stats}");
    Ok(())
}
