//! NumPy's files of several arrays: golden ones are read, what is written is what NumPy reads, and what is damaged or
//! invented is refused.
//!
//! The golden files in `data/golden/npz` were made by NumPy, with the script that lies there.

mod columns;
mod golden_files;
mod hostile;
mod numpy;
mod round_trips;

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use numeric_table::npz::{NpzOptions, NpzReader};
use numeric_table::prelude::*;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/npz").join(name).with_extension("npz")
}

fn read(bytes: Vec<u8>) -> Result<NpzReader<Cursor<Vec<u8>>>, Error> {
    NpzReader::new(Cursor::new(bytes), NpzOptions::new())
}

fn names<R: std::io::Read + std::io::Seek>(reader: &NpzReader<R>) -> Vec<String> {
    reader.names().map(str::to_owned).collect()
}

/// Fast options, as most tests want them.
fn options() -> NpzOptions {
    NpzOptions::new().save(SaveOptions::new().durable(false))
}

/// The bytes of a `.npy` file of version 1.
fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    super::by_hand(descr, "False", shape, values)
}

/// A member of a zip file made by hand, and what the directory says of it.
#[derive(Clone)]
struct ByHand {
    name: Vec<u8>,
    bytes: Vec<u8>,
    method: u16,
    flags: u16,
    /// The size that is claimed.
    size: u64,
    /// Where it is said to begin, if not where it does.
    start: Option<u32>,
}

fn by_hand(name: &str, bytes: Vec<u8>, method: u16) -> ByHand {
    let size = bytes.len() as u64;
    ByHand { name: name.into(), bytes, method, flags: 0, size, start: None }
}

fn zip(members: &[ByHand]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for ByHand { name, bytes, method, flags, size, start } in members {
        let compressed = match method {
            8 => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            _ => bytes.clone(),
        };
        let mut fields = Vec::new();
        for word in [45_u16, *flags, *method, 0, 0x21] {
            fields.extend(word.to_le_bytes());
        }
        fields.extend(crc32fast::hash(bytes).to_le_bytes());
        fields.extend([0xFF; 8]); // both sizes are in the extra field
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend(20_u16.to_le_bytes());
        let sizes = [size.to_le_bytes(), (compressed.len() as u64).to_le_bytes()].concat();
        let extra = [&b"\x01\0\x10\0"[..], &sizes].concat();
        let at = start.unwrap_or(zip.len() as u32).to_le_bytes();
        zip.extend([b"PK\x03\x04", &fields[..], name, &extra, &compressed].concat());
        directory.extend([b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &at, name, &extra].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let [start, length] = [zip.len(), directory.len()].map(|number| (number as u32).to_le_bytes());
    [&zip[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &length, &start, &[0, 0]].concat()
}
