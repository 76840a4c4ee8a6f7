//! The program as its users run it.

mod convert;
mod hostile;
mod page;
mod rows;
mod stats;
mod support;
#[cfg(unix)]
mod terminal;
