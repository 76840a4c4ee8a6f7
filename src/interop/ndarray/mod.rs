//! `ndarray`: views of tables and row blocks, tables from arrays, and arrays from tables.
//!
//! | from | to | copies |
//! | --- | --- | --- |
//! | a view of a table, a block of rows | `ArrayView2`, `ArrayViewMut2` | never |
//! | `Array2`, `ArcArray2`, `CowArray`, views | a table | as the [`CopyPolicy`] says; if nobody says, only if need be |
//! | a table | `Array2` | `to_ndarray` always, `try_into_ndarray` never: `ndarray` can only own a `Vec` |
//!
//! `source`: what arrays tables can be made of; `methods`: methods for 0.17; `versions`: the work, for 0.17 and 0.16, as
//! conversions by `TryFrom`, which is how 0.16 is reached.

#[cfg(feature = "ndarray")]
mod methods;
mod source;
mod versions;

pub use source::NdarraySource;
