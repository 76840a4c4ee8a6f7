#![doc = include_str!("README.md")]

#[forbid(unsafe_code)]
mod adapter;
#[forbid(unsafe_code)]
mod container;
#[forbid(unsafe_code)]
mod control;
#[cfg(feature = "cuda")]
mod cuda;
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
mod memory;
#[forbid(unsafe_code)]
mod separate;
#[forbid(unsafe_code)]
mod space;
#[forbid(unsafe_code)]
mod statistics;
#[forbid(unsafe_code)]
mod stats;
#[forbid(unsafe_code)]
mod stream;
#[forbid(unsafe_code)]
mod transport;

pub use adapter::{DeviceAdapter, DeviceId, View, ViewMut};
pub use container::Container;
pub use control::ControlSlot;
#[cfg(feature = "cuda")]
pub use cuda::{
    Cuda, CudaBuffer, CudaCompileError, CudaGrid, CudaKernel, CudaLaunch, CudaProgram, CudaTransport, Registered,
};
pub use detached::{Clock, Detached, DetachedBuffer, DetachedTransport};
pub use device_array::DeviceArray;
pub use device_table::DeviceTable;
pub use error::{DeviceError, HandleError};
pub use handle::ArrayHandle;
pub use host::{Rayon, Serial};
pub use kernels::Kernels;
pub use launch::{BytesKernel, Input, Inputs, KernelResult, Launch, Output, Outputs};
pub use memory::{ExecutionMemory, SharedMemory};
pub use separate::SeparateMemory;
pub use space::{DeviceView, DeviceViewMut, SeparateSpace};
pub use statistics::DeviceStatistics;
pub use stats::{Traffic, TransferStats};
pub use stream::{Convert, ResultStream, RowStream, StreamBlock, StreamOptions, StreamRows, StreamStats};
pub use transport::{Arriving, Engine, Event, Queue, StageTimes, Transport};
