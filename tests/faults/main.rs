//! The peer's 69 known faults (DAAL and oneDAL, by source text), each made impossible here: one small test per fault
//! that has a counterpart in this library. The test's comment has the number, and says what the fault is. And the
//! faults that were found and mended here: `regressions`.
//!
//! | fault | cannot be written: why |
//! | --- | --- |
//! | 17 | constructors take no status of an earlier call; they return a `Result` |
//! | 22 | a cost, not a result: one conversion call per block is what `benches/` measures |
//! | 23 | a cost, not a result: columns are gathered in blocks, and `value` allocates nothing; see `benches/` |
//! | 24 | every feature has one of the 12 element types: there is no "other" to run off a table with |
//! | 29 | tables have no normalisation flag and carry no statistics that could go stale |
//! | 36 | there is no archive object to copy: an archive is a `Vec<u8>` |
//! | 37 | there is no cached pointer to an archive: each `to_bytes` returns its own `Vec` |
//! | 38 | there is no caller's buffer to be too small: `to_bytes` returns a `Vec` |
//! | 49 | the peer has no tests of tables: a fault of its repository, not of a result |
//! | 53 | row ranges are unsigned: there are no negative ends to mean anything |
//! | 62 | there is no untyped `get_data`; `AnySlice::downcast` to another type is `None` (fault 66) |
//! | 69 | the peer's own test fixture writes past an array |

mod archives;
mod arrays;
mod bounds_and_lifetimes;
mod conversion;
mod dictionaries;
mod onedal;
mod other_kinds;
mod regressions;
