//! Calls that the crates of this workspace use and that no promise about versions covers. Do not use them elsewhere.
//!
//! The list is kept as short as it can be: a call that other libraries need as well is public instead.
