//! What the tests of shards share.

use std::path::{Path, PathBuf};

use numeric_table::{Partial, Result, SoaNumericTable, files::SaveOptions, prelude::*, shards::Shards};
use serde::{Deserialize, Serialize};

/// As fast as can be: the tests do not cut the power.
pub(crate) fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

/// A table of consecutive numbers from `first` on.
pub(crate) fn counting(first: usize, rows: usize, columns: usize) -> Table<f64> {
    let values: Vec<f64> = (first..first + rows * columns).map(|value| value as f64).collect();
    Table::from_array(values, Shape { rows, columns }).unwrap()
}

/// Saves tables as `part-0000.ntb` and so on.
pub(crate) fn save_parts(folder: &Path, tables: &[Table<f64>]) -> Vec<PathBuf> {
    let paths = (0..tables.len()).map(|index| folder.join(format!("part-{index:04}.ntb")));
    let save = |(table, path): (&Table<f64>, PathBuf)| {
        table.save_with(&path, fast()).unwrap();
        path
    };
    tables.iter().zip(paths).map(save).collect()
}

/// Files of these numbers of rows, whose values count on from file to file.
pub(crate) fn counted_parts(folder: &Path, rows: &[usize], columns: usize) -> Vec<PathBuf> {
    let mut first = 0;
    let tables = rows.iter().map(|&rows| {
        let table = counting(first, rows, columns);
        first += rows * columns;
        table
    });
    save_parts(folder, &tables.collect::<Vec<_>>())
}

/// The same table as columns of an array each.
pub(crate) fn in_columns(table: &Table<f64>) -> SoaNumericTable {
    let columns = (0..table.shape().columns).map(|column| {
        let values: Vec<f64> = (0..table.shape().rows).map(|row| table.value(row, column).unwrap()).collect();
        (String::new(), values)
    });
    let mut columns = SoaNumericTable::from_columns(columns).unwrap();
    columns.set_dictionary(table.dictionary().clone()).unwrap();
    columns
}

pub(crate) fn text<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

/// A result that shows which rows were added and merged, in which order and groups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trace {
    pub(crate) rows: u64,
    /// A sum whose last bits depend on the order.
    pub(crate) sum: f64,
    /// A number that depends on every block, every merge, and their order.
    pub(crate) tree: u64,
}

impl Trace {
    fn mix(&mut self, value: u64) {
        self.tree = (self.tree.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Partial for Trace {
    const NAME: &'static str = "trace";

    fn new_like(&self) -> Result<Self> {
        Ok(Self::default())
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        let block = rows.rows::<f64>(..)?;
        if let Some(place) = block.iter().position(|&value| value == -1.0) {
            return Err(Error::other(format!("-1 at position {place} of a block")));
        }
        self.rows += rows.shape().rows as u64;
        self.mix(rows.shape().rows as u64);
        for &value in block.iter() {
            self.sum += value * 0.1;
        }
        self.mix(self.sum.to_bits());
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.rows += other.rows;
        self.sum += other.sum;
        self.mix(other.tree);
        Ok(())
    }
}

/// What a reduce must be: each file's result, merged in order.
pub(crate) fn folded(shards: &Shards) -> Trace {
    let mut all = Trace::default();
    for shard in 0..shards.shard_count() {
        all.merge(&shards.reduce_shard(shard, &Trace::default()).unwrap()).unwrap();
    }
    all
}
