//! Calls that the crates of this workspace use and that no promise about versions covers. Do not use them elsewhere.
//!
//! The list is kept as short as it can be: a call that other libraries need as well is public instead.

pub use crate::base::element::match_element;
pub use crate::base::number::{Exact, Loss};
pub use crate::convert::level::{Level, LongLoop};
pub use crate::serde::numbers::Numbers;
pub use crate::serde::{refused, remember};
pub use crate::table::tiling::lent_or_read;

/// Work that is divided among the threads of the caller's pool.
pub mod parallel {
    pub use crate::base::parallel::{map, task_count};
}
