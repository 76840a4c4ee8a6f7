#![doc = include_str!("../docs/overview.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[forbid(unsafe_code)]
mod adapter;
#[forbid(unsafe_code)]
mod algorithms;
#[forbid(unsafe_code)]
mod container;
#[forbid(unsafe_code)]
mod control;
#[cfg(feature = "cuda")]
#[cfg_attr(docsrs, doc(cfg(feature = "cuda")))]
pub mod cuda; // in some files
#[forbid(unsafe_code)]
mod detached;
#[forbid(unsafe_code)]
mod device_array;
#[forbid(unsafe_code)]
mod device_table;
#[forbid(unsafe_code)]
mod error;
#[forbid(unsafe_code)]
mod handle;
#[forbid(unsafe_code)]
mod host;
#[forbid(unsafe_code)]
mod kernels;
#[forbid(unsafe_code)]
mod launch;
#[forbid(unsafe_code)]
pub mod memory;
#[forbid(unsafe_code)]
mod separate;
#[forbid(unsafe_code)]
pub mod sequence;
#[forbid(unsafe_code)]
mod space;
#[forbid(unsafe_code)]
mod standardize;
#[forbid(unsafe_code)]
mod statistics;
#[forbid(unsafe_code)]
mod stats;
#[forbid(unsafe_code)]
pub mod stream;
#[forbid(unsafe_code)]
pub mod transport;

pub use crate::adapter::{DeviceAdapter, DeviceId, View, ViewMut};
pub use crate::algorithms::{Algorithms, ClosureAlgorithms, Reduction};
pub use crate::container::Container;
pub use crate::detached::EmulatedDevice;
pub use crate::device_array::DeviceArray;
pub use crate::device_table::{DeviceTable, ToDevice};
pub use crate::error::{DeviceError, HandleError, MemoryMismatch};
pub use crate::handle::ArrayHandle;
pub use crate::host::{HostParallel, HostSerial};
pub use crate::kernels::{Kernels, SparseRows};
pub use crate::launch::Launch;
pub use crate::statistics::DeviceStatistics;
pub use crate::stats::{TransferStats, TransferTotals};

/// The arguments and results of closures that run on a device: the types in the signature of [`Launch::launch`].
pub mod closures {
    pub use crate::launch::{BytesKernel, Input, Inputs, KernelResult, Output, Outputs};
}

/// The parts of the emulated device [`EmulatedDevice`]: its clock, and its memory.
pub mod emulated {
    pub use crate::detached::{EmulatedBuffer, EmulatedSpeed, EmulatedTransport};
}

#[cfg(any(doc, doctest))]
#[doc = "[benches]: https://docs.rs/numeric-table/latest/numeric_table/guide/#in-the-repository"]
#[doc = "[examples device_pipeline]: https://docs.rs/numeric-table/latest/numeric_table/guide/#in-the-repository"]
#[doc = "[examples shared_array_on_device]: https://docs.rs/numeric-table/latest/numeric_table/guide/#in-the-repository"]
#[doc = "[execution]: crate"]
#[doc = ""]
#[doc = include_str!("../docs/use-a-gpu.md")]
pub mod use_a_gpu {}

/// The README's program, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
