//! `ndarray`: views of tables and row blocks, tables from arrays, and arrays from tables.
//!
//! | from | to | copies |
//! | --- | --- | --- |
//! | a view of a table, a block of rows | `ArrayView2`, `ArrayViewMut2` | never |
//! | `Array2`, `ArcArray2`, `CowArray`, views | a table | by [`CopyPolicy`]; by default only if needed |
//! | a table | `Array2` | `to_ndarray`: always; `try_into_ndarray`: never, since `ndarray` can own only a `Vec` |
//!
//! `source`: arrays that can become tables; `methods`: methods; `conversions`: their implementation, as `TryFrom`
//! conversions.

mod conversions;
#[cfg(feature = "ndarray")]
mod methods;
mod source;

pub use source::NdarraySource;
