//! The options of a stream, and its counts and times at the end.

use std::fmt;

use numeric_table::DataLayout;
use numeric_table::convert::ConversionPolicy;

use crate::TransferStats;
use crate::transport::StageTimes;

/// The side on which a stream converts values.
///
/// # Examples
/// ```
/// use numeric_table_execution::stream::Convert;
/// assert_eq!(Convert::default(), Convert::Auto);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Convert {
    /// On the side where fewer bytes are transferred: on the device if the requested type is wider.
    ///
    /// Rows of a [`CsrNumericTable`](numeric_table::CsrNumericTable) cross as their stored cells, and columns of several
    /// types each in its own type, if that is fewer bytes: rows of tables in memory that are streamed in their order.
    /// Rows at indices, of [`stream_rows_at`](super::StreamRows::stream_rows_at), cross as dense ones; so do selected
    /// columns of a sparse table, and sparse tables in a merged one.
    #[default]
    Auto,
    /// In the program, while a block is packed. All rows cross as dense ones.
    Control,
    /// On the device, after a block has been copied. If memory is shared, this is in the program too.
    Execution,
}

/// Options for streaming a table.
///
/// # Examples
/// ```
/// use numeric_table_execution::stream::StreamOptions;
/// let options = StreamOptions { rows: 1000, ..StreamOptions::default() };
/// assert_eq!(options.slots, 3); // one is packed, one is copied, one is processed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// Number of rows in a block; the last one may have fewer.
    pub rows: usize,
    /// Number of blocks in flight; at least one. With three, all stages can work at the same time.
    pub slots: usize,
    /// The side on which values are converted.
    pub convert: Convert,
    /// The order of the values in a block. Columns are made of a row-major source's rows by the device, unless values
    /// are converted in the program.
    pub layout: DataLayout,
    /// The conversion policy.
    pub policy: ConversionPolicy,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            rows: 65_536,
            slots: 3,
            convert: Convert::default(),
            layout: DataLayout::RowMajor,
            policy: ConversionPolicy::Saturate,
        }
    }
}

/// Counts and times of a stream.
///
/// # Examples
/// See [`StreamRows`](crate::stream::StreamRows).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStats {
    /// Number of blocks.
    pub blocks: usize,
    /// Number of rows.
    pub rows: usize,
    /// The allocations and copies of the device in the meantime, including other work.
    pub transfers: TransferStats,
    /// The time of each stage: on the device's own clock, or wall-clock time.
    pub times: StageTimes,
}

impl fmt::Display for StreamStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { blocks, rows, transfers, times: StageTimes { pack, copy, kernel, total } } = self;
        write!(f, "{blocks} blocks, {rows} rows, {} bytes up; ", transfers.uploads.bytes)?;
        write!(f, "pack {pack:.2?}, copy {copy:.2?}, kernel {kernel:.2?}, in all {total:.2?}")
    }
}
