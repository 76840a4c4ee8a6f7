//! Every public call that takes a table, on tables of extreme shapes: each returns, with a value or with an error, soon
//! and in little memory.
//!
//! The parent starts itself once for each call, as a child with a limit of memory and one of time; the child goes
//! through all shapes and says before each one which it is, so that a failure names the call and the shape.

mod calls;
mod suite;
mod tools;
