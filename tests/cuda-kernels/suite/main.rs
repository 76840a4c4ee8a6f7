//! The CUDA kernels, compiled for the CPU, against the library's rules.
//!
//! Without a C++ compiler nothing is tested, which is printed. `CUDA_KERNELS_VALUES` is the number of random values for
//! each pair of types of more than 16 bits.

mod algorithms;
mod compiled;
mod convert;
mod memory;
mod sparse;
mod standardize;
mod statistics;
mod support;
mod tables;

#[path = "../../../crates/numeric-table-execution/src/cuda/kernels/source.rs"]
#[allow(dead_code, reason = "what only the library uses")]
mod source;
