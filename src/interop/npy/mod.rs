//! NumPy's `.npy` files: read, mapped and written.
//!
//! | file | table |
//! | --- | --- |
//! | versions 1.0, 2.0, 3.0 | written as 1.0, as NumPy writes numbers, byte for byte |
//! | `f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8` | the element types `f16` ... `u64`; `bf16` cannot be written |
//! | little-endian, big-endian | turned round while it is read; written little-endian |
//! | C order, Fortran order | row-major, column-major; one row, one column and nothing at all are in both: written as C |
//! | two dimensions; one | rows and columns; one column |
//!
//! Everything else is refused with a reason: truth values, complex numbers, text, structures, arrays of no dimension or
//! more than two. Pickles are never looked into. The format has no names of columns: only values travel.
//!
//! `literal` and `header`: what a file says about itself; `values`: reading many values; `read`, `write`, `map`: what
//! callers ask for.
//!
//! Invariant: no memory is taken, or mapped, for anything that a header claims before it has been compared with the real
//! length of the file; from a stream, no more than twice what has come out of it, and 1 MiB.

#[forbid(unsafe_code)]
mod header;
#[forbid(unsafe_code)]
mod literal;
#[cfg(feature = "mmap")]
mod map;
#[forbid(unsafe_code)]
mod read;
#[forbid(unsafe_code)]
mod values;
#[forbid(unsafe_code)]
mod write;

pub use read::{load_npy_any, read_npy_any};
