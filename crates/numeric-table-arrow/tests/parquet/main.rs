//! Parquet files: what is written, read in every way, refused, damaged, and written by other libraries.

mod common;
mod damaged;
mod encodings;
mod files;
mod foreign;
mod options;
mod pages;
mod property;
mod round_trip;
mod rows;
