//! MatrixMarket files (`.mtx`): a header, the size, and a line for each entry.
//!
//! | header | read as |
//! | --- | --- |
//! | `coordinate`, `array` | the entries; all values except zeros |
//! | `real`, `double`, `integer`, `unsigned-integer`, `pattern` | numbers; `pattern`: the value 1 |
//! | `general`, `symmetric`, `skew-symmetric` | the entries; for the symmetric ones, with the other half added |
//!
//! Complex numbers and Hermitian matrices are rejected with an error that names them.
//!
//! * `header`: the first lines; `parse`: from lines to entries; `mirror`: the other half of symmetric matrices; `read`,
//!   `write`: the public interface; `options`: options for reading.
//!
//! Source: Boisvert, Pozo, Remington: The Matrix Market exchange formats, NISTIR 5935. Where it leaves a choice, the
//! reader follows SciPy.
//! Invariant: no memory is allocated for a size that a header claims before it has been compared with the actual data.

mod header;
mod mirror;
mod options;
mod parse;
mod read;
mod write;

pub use options::MatrixMarketOptions;
