#![doc = include_str!("README.md")]

mod adapter;
mod container;
mod control;
mod detached;
mod device_array;
mod device_table;
mod error;
mod handle;
mod host;
mod kernels;
mod memory;
mod separate;
mod space;
mod stats;
mod stream;
mod transport;

pub use adapter::{DeviceAdapter, DeviceId, View, ViewMut};
pub use container::Container;
pub use control::ControlSlot;
pub use detached::{Clock, Detached, DetachedBuffer, DetachedTransport};
pub use device_array::DeviceArray;
pub use device_table::DeviceTable;
pub use error::{DeviceError, HandleError};
pub use handle::ArrayHandle;
pub use host::{Rayon, Serial};
pub use kernels::{Kernels, Launch};
pub use memory::{ExecutionMemory, SharedMemory};
pub use separate::SeparateMemory;
pub use space::{DeviceView, DeviceViewMut, SeparateSpace};
pub use stats::{Traffic, TransferStats};
pub use stream::{Convert, RowStream, StreamBlock, StreamOptions, StreamStats};
pub use transport::{Engine, Event, Queue, StageTimes, Transport};
