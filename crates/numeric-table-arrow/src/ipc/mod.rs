//! Files and streams in Arrow's IPC format as tables, and tables as such files (feature `ipc`). Feather, version 2, is
//! the same format.
//!
//! ```
//! use numeric_table::prelude::*;
//! use numeric_table_arrow::ipc::{IpcSource, save_ipc};
//! # let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("table.arrow");
//! let table = HomogenNumericTable::from_rows(&[[1.5_f32, 10.0], [2.5, 20.0], [3.5, 30.0]])?;
//! save_ipc(&path, &table)?;
//! assert_eq!(IpcSource::open(&path)?.load::<f32>()?, table);
//! # Ok::<(), numeric_table::Error>(())
//! ```
//!
//! Buffers may be compressed with LZ4 or Zstandard. Sizes in a file are compared with its length before memory is
//! allocated. A panic of the `arrow-ipc` crate becomes an [`ErrorKind::Foreign`](numeric_table::ErrorKind::Foreign),
//! unless the program is built to abort at panics; the panic hook reports it first.

mod batches;
mod check;
mod nulls;
mod source;
mod write;

pub use self::source::IpcSource;
pub use self::write::{IpcCompression, IpcWriteOptions, save_ipc, save_ipc_blocks, save_ipc_with};
