//! Tables from CSV files, and CSV files from tables.

#![cfg(feature = "csv")]

mod load;
mod mistakes;
mod odd_files;
mod python;
mod write;
