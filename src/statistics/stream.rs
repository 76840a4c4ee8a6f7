//! Statistics of a table file that may be larger than memory.
//!
//! The file is divided into the same groups and blocks of rows as its table would be, and results are merged in the
//! same order. They are therefore bit-identical. A group is read tile by tile, so memory depends neither on the number
//! of rows nor on the number of columns: see [`Tiles`].

use std::ops::Range;

use super::BasicStatistics;
use super::block::BLOCK_ROWS;
use super::blocks::ViewSource;
use super::column::ColumnStatistics;
use super::moments::{GROUP_ROWS, PANEL, add_blocks, empty, merge_groups};
use crate::array::Array;
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::Result;
use crate::base::progress::Meter;
use crate::base::range::cut;
use crate::base::shape::Shape;
use crate::format::TableReader;
use crate::storage::stored::Stored;
use crate::table::{DataLayout, Region, TableView};
use crate::window::AnySliceMut;

/// Number of values of a tile, unless a larger tile makes reads longer.
const TILE: usize = 64 << 10;
/// Minimum number of columns of a tile of a row-major file, if there are enough. Each row of a tile is one read.
const ROW_VALUES: usize = 512;

impl BasicStatistics {
    /// Computes the statistics of a table file, with the names of its columns, without loading the table, which may be
    /// larger than memory.
    ///
    /// The results are bit-identical to those of [`compute`](Self::compute) on the loaded table. Reads the file once,
    /// in parallel from 4 MiB on, with a few MiB of memory for each thread. Checksums of values are not compared;
    /// [`verify`](TableReader::verify) does that. Calls the reader's progress callback.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; [`ErrorKind::Format`] if the file has become shorter since it was opened;
    /// [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{files::TableReader, prelude::*, statistics::BasicStatistics};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("table.ntb");
    /// let mut table = HomogenNumericTable::from_rows(&[[1_i16, 10], [2, 20], [3, 60]])?;
    /// table.set_dictionary(table.dictionary().with_names(["size", "weight"])?)?;
    /// table.save(&path)?;
    /// let statistics = BasicStatistics::compute_file(&TableReader::open(&path)?)?;
    /// assert_eq!((statistics.row_count(), statistics.column(1)?.mean()), (3, 30.0));
    /// assert!(statistics.to_string().contains("\nweight "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute_file(reader: &TableReader) -> Result<Self> {
        let (shape, meter) = (reader.shape(), reader.whole_meter());
        let tiles = Tiles::of(shape, reader.data_layout());
        let group = |rows, columns| tiles.group(reader, &meter, rows, columns);
        let columns = merge_groups(shape, tiles.columns, &group)?;
        Ok(Self { columns, rows: shape.rows as u64, dictionary: Some(reader.dictionary().clone()) })
    }
}

/// The largest parts of a file that are read at a time.
///
/// In a row-major file they are blocks of rows, as wide as the table or wide enough to read each row at once. In a
/// column-major file they are tall, so that the piece of each column is long. They have at most 2^19 values.
struct Tiles {
    /// A multiple of the rows of a block, or all rows.
    rows: usize,
    columns: usize,
}

impl Tiles {
    fn of(shape: Shape, layout: DataLayout) -> Self {
        let (least_rows, least_columns) = match layout {
            DataLayout::RowMajor => (BLOCK_ROWS, ROW_VALUES),
            DataLayout::ColumnMajor => (GROUP_ROWS, PANEL),
        };
        let columns = (TILE / least_rows.min(shape.rows).max(1)).max(least_columns).min(shape.columns).max(1);
        let rows = (TILE / columns / BLOCK_ROWS * BLOCK_ROWS).clamp(least_rows, GROUP_ROWS);
        Self { rows, columns }
    }

    /// Computes the statistics of some columns of a group of rows.
    fn group(
        &self,
        reader: &TableReader,
        meter: &Meter,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<ColumnStatistics>> {
        let mut statistics = empty(columns.len())?;
        let mut values = Array::<f64>::zeros(rows.len().min(self.rows) * columns.len())?;
        let mut stored = Stored::new(reader.element_type());
        for rows in cut(rows, self.rows) {
            let region = Region { rows, columns: columns.clone() };
            let (shape, count) = (region.shape(), region.shape().element_count()?);
            let values = &mut values.mutable_data()?[..count];
            reader.read_region(&region, AnySliceMut::new(values), &mut stored)?;
            let source = ViewSource(TableView::new(values, shape, DataLayout::RowMajor)?);
            add_blocks(0..shape.rows, 0..shape.columns, PANEL, &source, &mut statistics)?;
            meter.add((count * reader.element_type().size_in_bytes()) as u64);
        }
        Ok(statistics)
    }
}
