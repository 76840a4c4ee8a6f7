//! Reading, mapping and writing NumPy's `.npy` files.
//!
//! | file | table |
//! | --- | --- |
//! | versions 1.0, 2.0, 3.0 | written as 1.0, identical to NumPy's byte for byte |
//! | `f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8` | the element types `f16` ... `u64`; `bf16` cannot be written |
//! | little-endian, big-endian | big-endian values are converted while they are read; files are written little-endian |
//! | C order, Fortran order | row-major, column-major; one row, one column or no values have both orders and are written as C |
//! | two dimensions; one dimension | rows and columns; one column |
//! | structures, in one dimension | an array of structures, with the names of the fields |
//!
//! Everything else is rejected with a reason: booleans, complex numbers, text, nested structures, and arrays of no
//! dimension or more than two. Pickles are never loaded. Except for structures, the format has no column names: only
//! values are kept.
//!
//! `literal` and `header`: the header of a file; `values`: reading many values; `read`, `write`, `map`: the public
//! interface; `records` and `write_records`: arrays of structures; `parts`: the other arrays that make up a sparse
//! matrix.
//!
//! Invariant: no memory is allocated or mapped for a size that a header claims before it has been compared with the
//! actual length of the file. From a stream, at most twice the number of bytes read from it, plus 1 MiB, is allocated.
//! The description of at most 65,536 columns of structures comes on top of both.

#[forbid(unsafe_code)]
pub(super) mod header;
#[forbid(unsafe_code)]
mod literal;
#[cfg(feature = "mmap")]
mod map;
#[cfg(feature = "npz")]
#[forbid(unsafe_code)]
pub(super) mod parts;
#[forbid(unsafe_code)]
mod read;
#[forbid(unsafe_code)]
pub(super) mod records;
#[forbid(unsafe_code)]
pub(super) mod values;
#[forbid(unsafe_code)]
mod write;
#[forbid(unsafe_code)]
pub(super) mod write_records;

pub use read::{load_any, read_any};
pub(crate) use write::{save_npy, write_npy};
