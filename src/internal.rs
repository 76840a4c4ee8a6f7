//! Calls that the crates of this workspace use and that no promise about versions covers. Do not use them elsewhere.
//!
//! The list is kept as short as it can be: a call that other libraries need as well is public instead.

pub use crate::array::unique::UniqueArray;
pub use crate::base::count::{rows_after, same_count};
pub use crate::base::element::match_element;
pub use crate::base::number::{Exact, Loss, PLAIN_NAN, plain_nan};
pub use crate::base::progress::{Hook, Meter};
pub use crate::base::range::resolve;
pub use crate::base::room::{filled, with_room};
pub use crate::base::trace::record;
pub use crate::convert::level::{Level, LongLoop};
pub use crate::format::rows::{ColumnTypes, HasRows, RowSource};
pub use crate::format::{Arriving, FileParts, Front, StoredValues};
pub use crate::serde::numbers::Numbers;
pub use crate::serde::{refused, remember};
pub use crate::statistics::group::values::with_values;
pub use crate::storage::checksum::RunSums;
pub use crate::storage::replace::replace_file;
pub use crate::table::csr::cells::StoredCells;
pub use crate::table::distinct::{DistinctValues, distinct_values};
pub use crate::table::missing::{columns_with_missing, complete_rows};
pub use crate::table::record_read;
pub use crate::table::tiling::lent_or_read;

/// Work that is divided among the threads of the caller's pool.
pub mod parallel {
    pub use crate::base::parallel::{fixed_share, for_each_chunk_mut, in_order, map, map_fixed, serially, task_count};
}
