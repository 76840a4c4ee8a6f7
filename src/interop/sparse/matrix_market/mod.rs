//! MatrixMarket files (`.mtx`): a header, the size, and a line for each entry.
//!
//! | header | read as |
//! | --- | --- |
//! | `coordinate`, `array` | the entries; all values but zeros |
//! | `real`, `double`, `integer`, `unsigned-integer`, `pattern` | numbers; the value 1 |
//! | `general`, `symmetric`, `skew-symmetric` | as it is; with the other half added |
//!
//! Complex numbers, and with them Hermitian matrices, are refused by name.
//!
//! * `header`: the first lines; `parse`: from lines to entries; `mirror`: the other half of symmetric matrices; `read`,
//!   `write`: the public interface; `options`: options for reading.
//!
//! Source: Boisvert, Pozo, Remington: The Matrix Market exchange formats, NISTIR 5935; what it leaves open is as SciPy
//! does it.
//! Invariant: no memory is allocated for a size that a header claims before it has been compared with what is there.

mod header;
mod mirror;
mod options;
mod parse;
mod read;
mod write;

pub use options::MatrixMarketOptions;
