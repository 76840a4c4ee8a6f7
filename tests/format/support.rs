//! What the tests of files share.

use std::path::PathBuf;

use numeric_table::{files::SaveOptions, prelude::*};

pub(crate) type Table<T> = HomogenNumericTable<T>;

/// As fast as can be: the tests do not cut the power.
pub(crate) fn fast() -> SaveOptions {
    SaveOptions::new().durable(false)
}

/// The name of a table file in a folder that goes away.
pub(crate) fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    (folder, path)
}

/// A file with another header, and the checksums that belong to it.
pub(crate) fn with_header(file: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut file = file.to_vec();
    let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let mut header = file[64..64 + length].to_vec();
    change(&mut header);
    file[64..4096].fill(0);
    file[64..64 + header.len()].copy_from_slice(&header);
    file[12..16].copy_from_slice(&(header.len() as u32).to_le_bytes());
    file[40..44].copy_from_slice(&crc32fast::hash(&header).to_le_bytes());
    let sum = crc32fast::hash(&file[..60]);
    file[60..64].copy_from_slice(&sum.to_le_bytes());
    file
}
