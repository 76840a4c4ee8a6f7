//! A table as many files: opening, reading, reducing, manifests, writers.

mod damage;
mod manifests;
mod opening;
#[cfg(unix)]
mod processes;
mod reading;
mod reducing;
mod resuming;
mod saving;
mod support;
mod twice;
mod verification;
mod writing;
