//! Invented files of several arrays: what they claim takes no memory, and what they become is limited by the caller.

use std::io::{Cursor, Read, Write};

use numeric_table::{
    npz::{NpzOptions, NpzReader},
    prelude::*,
};

use super::counting::measured;
use super::scratch::alone;

/// What any call may take besides a multiple of the file: buffers, and the state of the decompressor.
const ROOM: usize = 2 << 20;

/// A zip file of members of some bytes, by a method and with a size that the directory claims.
fn zip(members: &[(&str, &[u8], u16, u64)]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, method, claimed) in members {
        let mut fields = Vec::new();
        for word in [45_u16, 0, *method, 0, 0x21] {
            fields.extend(word.to_le_bytes());
        }
        fields.extend(checksum(bytes, *method).to_le_bytes());
        fields.extend([0xFF; 8]);
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend(20_u16.to_le_bytes());
        let extra = [&b"\x01\0\x10\0"[..], &claimed.to_le_bytes(), &(bytes.len() as u64).to_le_bytes()].concat();
        let start = (zip.len() as u32).to_le_bytes();
        zip.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), &extra, bytes].concat());
        directory.extend([b"PK\x01\x02\x14\0", &fields[..], &[0; 10], &start, name.as_bytes(), &extra].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let [start, length] = [zip.len(), directory.len()].map(|number| (number as u32).to_le_bytes());
    [&zip[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, &length, &start, &[0, 0]].concat()
}

/// The checksum of a member; of compressed bytes that are damaged, of those that come before.
fn checksum(bytes: &[u8], method: u16) -> u32 {
    let mut whole = Vec::new();
    if method == 8 {
        let _ = flate2::read::DeflateDecoder::new(bytes).read_to_end(&mut whole);
    }
    crc32fast::hash(if method == 8 { &whole } else { bytes })
}

fn npy(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    [b"\x93NUMPY\x01\0\x76\0", format!("{text:<117}\n").as_bytes()].concat()
}

/// Deflates an array of so many zeros.
fn deflated(header: &[u8], zeros: usize) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(header).unwrap();
    encoder.write_all(&vec![0; zeros]).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn sizes_that_arrays_only_claim_take_no_memory() {
    let _alone = alone();
    let records = "[('a', '<f8'), ('b', '<f4', (1000,))]";
    for (header, size) in [
        (npy("'|u1'", "(1099511627776,)"), 1_u64 << 40),
        (npy("'<f8'", "(100000000, 2)"), 1_600_000_000),
        (npy(records, "(300000,)"), 300_000 * 4008),
    ] {
        let bytes = deflated(&header, 100);
        for (method, stored) in [(0, &header[..]), (8, &bytes[..])] {
            let file = zip(&[("x.npy", stored, method, header.len() as u64 + size)]);
            let (result, peak, _) = measured(&|| format!("{size} by {method}"), || {
                NpzReader::new(Cursor::new(&file), NpzOptions::new())?.load_any("x").map(drop)
            });
            assert!(result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. })), "{result:?}");
            assert!(peak < 2 * file.len() + ROOM, "{peak} bytes for {size} by {method}");
        }
    }
}

/// Compressed bytes that could become what is claimed, and end before they do.
#[test]
fn bytes_that_end_too_early_take_a_multiple_of_those_that_came() {
    let _alone = alone();
    let header = npy("'<f4'", "(25000000,)");
    let came = 10 << 20;
    let bytes = [deflated(&header, came), vec![0xFF; 100_000]].concat(); // not a deflated stream from there on
    let file = zip(&[("x.npy", &bytes, 8, 128 + 100_000_000)]);
    let (result, peak, _) = measured(&|| "early".into(), || {
        NpzReader::new(Cursor::new(&file), NpzOptions::new())?.load::<f32>("x").map(drop)
    });
    assert!(result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::Format { .. })), "{result:?}");
    assert!(peak < 2 * came + file.len() + ROOM, "{peak} bytes");
}

#[test]
fn what_is_compressed_becomes_at_most_what_the_caller_allows() {
    let _alone = alone();
    let bytes = deflated(&npy("'|u1'", "(50000000,)"), 50_000_000);
    let file = zip(&[("x.npy", &bytes, 8, 128 + 50_000_000)]);
    assert!(file.len() < 60_000);
    for limit in [0, 1 << 20, 50_000_127] {
        let (result, peak, _) = measured(&|| limit.to_string(), || {
            NpzReader::new(Cursor::new(&file), NpzOptions::new().max_bytes(limit))?.load::<u8>("x").map(drop)
        });
        assert!(result.unwrap_err().to_string().contains("`NpzOptions::max_bytes` sets the limit"));
        assert!(peak < file.len() + ROOM, "{peak}");
    }
    let mut reader = NpzReader::new(Cursor::new(&file), NpzOptions::new()).unwrap();
    let (described, peak, _) = measured(&|| "described".into(), || reader.describe("x").unwrap().shape);
    assert!(described == Shape { rows: 50_000_000, columns: 1 } && peak < ROOM, "{peak}");
    let (loaded, peak, _) = measured(&|| "loaded".into(), || reader.load::<u8>("x").unwrap());
    assert!(loaded.row_count() == 50_000_000 && peak < 101_000_000 + ROOM, "{peak}");
}

/// A stored array is read into its place: nothing is allocated twice.
#[test]
fn a_stored_array_takes_its_own_size() {
    let _alone = alone();
    let bytes = [npy("'<f8'", "(1000000, 3)"), vec![0; 24_000_000]].concat();
    let file = zip(&[("x.npy", &bytes, 0, bytes.len() as u64)]);
    let (result, peak, _) = measured(&|| "stored".into(), || {
        NpzReader::new(Cursor::new(&file), NpzOptions::new()).unwrap().load::<f64>("x").unwrap()
    });
    assert!(result.row_count() == 1_000_000 && peak < 24_000_000 + ROOM, "{peak}");
}

#[test]
fn directories_of_anything_take_a_multiple_of_the_file() {
    let _alone = alone();
    let names: Vec<String> = (0..60_000).map(|index| format!("{index}.npy")).collect();
    let members: Vec<(&str, &[u8], u16, u64)> = names.iter().map(|name| (&**name, &[][..], 0, 0)).collect();
    let file = zip(&members);
    let (result, peak, _) = measured(&|| "many".into(), || {
        NpzReader::new(Cursor::new(&file), NpzOptions::new()).map(|reader| reader.len())
    });
    assert_eq!(result.unwrap(), 60_000);
    assert!(peak < 5 * file.len() + ROOM, "{peak} bytes for {}", file.len());
    let mut end = b"PK\x05\x06\0\0\0\0\xFF\xFF\xFF\xFF".to_vec();
    end.extend([0; 10]);
    let (result, peak, _) =
        measured(&|| "none".into(), || NpzReader::new(Cursor::new(&end), NpzOptions::new()).map(drop));
    assert!(result.is_err() && peak < ROOM);
}
