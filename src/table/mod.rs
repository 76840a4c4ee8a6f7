//! Numeric tables: rows are observations, columns are features. Here is what a kind of table of one's own is made of, beside
//! [`NumericTable`]; what everybody uses is at the root of the crate.
//!
//! What every kind of table can do is in `numeric_table`. What a table consists of, is in `piece`; what is written once over
//! pieces, in `tiling`; where values go that are read, in `target`. The homogeneous table is in `homogen`, borrowed windows in
//! `view`, rectangles of a table in `region`, what a table can be found in in `state`, and how memory is lent to a writable
//! block in `lease`. Blocks themselves are in `block`.
//! Semantics: DAAL `NumericTable`; seed "Generic Interfaces", life cycle of a numeric table.

mod downcast;
#[forbid(unsafe_code)]
pub(crate) mod homogen;
#[forbid(unsafe_code)]
mod lease;
#[forbid(unsafe_code)]
pub(crate) mod numeric_table;
#[forbid(unsafe_code)]
mod piece;
#[forbid(unsafe_code)]
mod region;
#[forbid(unsafe_code)]
pub(crate) mod state;
#[forbid(unsafe_code)]
mod target;
#[forbid(unsafe_code)]
mod tiling;
#[forbid(unsafe_code)]
pub(crate) mod view;

pub use lease::Lease;
pub use piece::{Piece, PieceMut};
pub use region::Region;
pub(crate) use region::rows_of;
pub use state::{TableId, TableKind};
pub use target::Target;
pub(crate) use tiling::{RegionMut, copy_of};

// At the root of the crate for everybody else: each has one path.
pub(crate) use self::homogen::HomogenNumericTable;
pub(crate) use self::numeric_table::NumericTable;
pub(crate) use self::state::{AllocationFlag, DataLayout, MemoryStatus};
pub(crate) use self::view::{TableView, TableViewMut};
pub(crate) use crate::base::shape::Shape;
