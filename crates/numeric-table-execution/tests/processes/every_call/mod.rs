//! Every call that takes a table to a device, on tables of extreme shapes: each returns, with a value or with an error,
//! soon and in little memory.

mod calls;
#[path = "../../../../../tests/processes/every_call/suite.rs"]
mod suite;
