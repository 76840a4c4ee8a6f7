//! The program as its users run it.

mod checks;
mod convert;
mod csv;
mod hostile;
mod page;
mod rows;
mod stats;
mod support;
#[cfg(unix)]
mod terminal;
