//! Views, borrowed tables, records and the arguments of calls on tables. The kinds of tables and the traits with their
//! calls are in the root of the crate.
//!
//! | task | items |
//! | --- | --- |
//! | use borrowed values as a table | [`BorrowedTable`], [`BorrowedTableMut`] |
//! | use a borrowed slice of records as a table | [`records`], [`records_mut`]; layouts: [`Record`], [`RecordLayout`] |
//! | include a borrowed table in another one | [`by_ref`], [`by_mut`] |
//! | view the values of a homogeneous table | [`TableView`], [`TableViewMut`] |
//! | name columns in calls | [`ColumnKey`], [`ColumnChoice`] |
//! | sort by several columns | [`SortKey`] |
//! | fill missing values | [`FillMissing`]; columns with their bitmaps: [`NullableColumn`] |
//! | recover rejected arguments | [`Rejected`]; [`CsrParts`], [`CooParts`] |
//! | describe packed matrices | [`Triangle`] |
//! | write your own kind of table | [`spi`] |

// The trait is in `numeric_table`, pieces in `piece`, generic code over pieces in `tiling` and `region_mut`, rows whose
// columns are in separate memory in `across`, the targets of reads in `target`. The homogeneous table is in `homogen`,
// the structure of arrays in `soa`, the array of structures in `aos`, sparse rows in `csr`, halves of square matrices
// in `packed`, tables side by side and end to end in `merged` and `joined`, borrowed tables in `borrow`, parts of
// tables in `part`, additional columns in `beside`, tables end to end with different categories in `stack`, reordered
// rows in `take`, their loops in `gather`, the order of sorted rows in `order`, the distinct values of a column in
// `distinct`, random rows in `sample`, borrowed views in `view`, rectangles of a table in `region`, identity, layout
// and memory status in `state`, in-place lending in `lend`, memory lent to writable blocks in `lease`, the contents of
// files for each kind in `content`, and downcasts in `downcast`. Blocks are in `crate::block`. Semantics: DAAL
// `NumericTable`.

#[forbid(unsafe_code)]
mod across;
pub(crate) mod aos; // in some files
#[forbid(unsafe_code)]
mod beside;
#[forbid(unsafe_code)]
mod borrow;
#[forbid(unsafe_code)]
pub(crate) mod borrowed;
#[forbid(unsafe_code)]
pub(crate) mod calls;
#[forbid(unsafe_code)]
pub(crate) mod content;
#[forbid(unsafe_code)]
pub(crate) mod csr;
#[forbid(unsafe_code)]
pub(crate) mod distinct;
mod downcast;
#[forbid(unsafe_code)]
mod few_values;
mod gather;
#[forbid(unsafe_code)]
pub(crate) mod homogen;
#[forbid(unsafe_code)]
mod joined;
#[forbid(unsafe_code)]
mod lease;
#[forbid(unsafe_code)]
pub(crate) mod lend;
#[forbid(unsafe_code)]
pub(crate) mod merged;
#[forbid(unsafe_code)]
pub(crate) mod missing;
#[forbid(unsafe_code)]
pub(crate) mod numeric_table;
#[forbid(unsafe_code)]
mod order;
#[forbid(unsafe_code)]
pub(crate) mod packed;
#[forbid(unsafe_code)]
mod part;
#[forbid(unsafe_code)]
mod piece;
#[forbid(unsafe_code)]
mod region;
#[forbid(unsafe_code)]
mod region_mut;
#[forbid(unsafe_code)]
mod rejected;
#[forbid(unsafe_code)]
mod sample;
#[forbid(unsafe_code)]
pub(crate) mod soa;
#[forbid(unsafe_code)]
mod sort_key;
#[forbid(unsafe_code)]
mod stack;
#[forbid(unsafe_code)]
pub(crate) mod state;
#[forbid(unsafe_code)]
mod take;
#[forbid(unsafe_code)]
mod target;
#[forbid(unsafe_code)]
pub(crate) mod tiling;
#[forbid(unsafe_code)]
mod traced;
#[forbid(unsafe_code)]
pub(crate) mod view;

pub use aos::{FieldValue, Record, RecordField, RecordLayout, records, records_mut};
pub use borrow::{by_mut, by_ref};
pub use calls::AsTable;
pub(crate) use calls::{TableConversion, TableDescription, TableSelection};
pub use csr::parts::{CooParts, CsrParts};
pub(crate) use downcast::Token;
pub use homogen::FloatTable;
pub(crate) use lease::Lease;
pub(crate) use lend::{Lend, array_of};
pub use missing::FillMissing;
pub use packed::Triangle;
pub use part::{ColumnChoice, ColumnKey};
pub(crate) use piece::{Piece, PieceMut};
pub(crate) use region::Region;
pub(crate) use region::{row_bytes, rows_of};
pub(crate) use region_mut::RegionMut;
pub use rejected::Rejected;
pub use soa::NullableColumn;
pub use sort_key::SortKey;
pub(crate) use state::{TableId, TableKind};
pub(crate) use target::Target;
pub(crate) use tiling::{copy_of, lent_or_read, lent_slice};
pub use traced::record_read;
pub(crate) use traced::record_written_back;

pub mod spi {
    //! For implementers of kinds of tables, besides the trait [`NumericTable`](crate::NumericTable).
    //!
    //! | task | items |
    //! | --- | --- |
    //! | identify tables and kinds of tables | [`TableId`], [`TableKind`] |
    //! | specify a range of rows and columns | [`Region`] |
    //! | describe the memory of a table | [`Piece`], and [`PieceMut`] for writing |
    //! | supply the values of a read | [`Target`] |
    //! | lend memory in place, including to writable descriptors | [`Lend`], [`Lease`] |
    //! | borrow the memory of a region of any table | [`slice_of`], [`array_of`] |
    //!
    //! The page of [`NumericTable`](crate::NumericTable) contains a complete kind of table as an example.

    pub use super::lease::Lease;
    pub use super::lend::{Lend, array_of, slice_of};
    pub use super::piece::{Piece, PieceMut};
    pub use super::region::Region;
    pub use super::state::{TableId, TableKind};
    pub use super::target::Target;
}

// Exported only from the root of the crate.
pub(crate) use self::aos::AosNumericTable;
pub use self::borrowed::{BorrowedTable, BorrowedTableMut};
pub(crate) use self::csr::CsrNumericTable;
pub(crate) use self::homogen::HomogenNumericTable;
pub(crate) use self::merged::{MergedNumericTable, RowMergedNumericTable};
pub(crate) use self::numeric_table::NumericTable;
pub(crate) use self::packed::{PackedSymmetricMatrix, PackedTriangularMatrix};
pub(crate) use self::soa::SoaNumericTable;
pub(crate) use self::state::{AllocationFlag, DataLayout, MemoryStatus};
pub use self::view::{TableView, TableViewMut};
pub(crate) use crate::base::shape::Shape;
