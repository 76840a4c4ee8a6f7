//! Damaged and invented `.npy` files: whatever reads one returns, with a table that fits the file or an error with a
//! reason, and a read that fails takes at most twice the real size plus 1 MiB of memory.

use std::fs;
use std::path::Path;

use numeric_table::{interop::CopyPolicy, npy, prelude::*};
use test_support::bits::Random;

use super::counting::measured;
use super::scratch::Scratch;

type Table<T> = HomogenNumericTable<T>;

impl Scratch {
    /// Reads a file in every way. All must agree. Returns the error, if it is one.
    #[track_caller]
    fn read(&self, bytes: &[u8], name: &str) -> Option<(u64, String)> {
        let _ = fs::remove_file(&self.path); // some file systems bring a file to the disk that is written over
        fs::write(&self.path, bytes).unwrap();
        let loaded = in_limits(bytes, name, &|| npy::load(&self.path));
        let converted = in_limits(bytes, name, &|| Ok(Box::new(Table::<u8>::load_npy_cast(&self.path)?)));
        let streamed = in_limits(bytes, name, &|| npy::read(bytes));
        let shared =
            |policy| in_limits(bytes, name, &|| Ok(Box::new(Table::<i16>::from_npy(Array::copy_of(bytes)?, policy)?)));
        let shared = [shared(CopyPolicy::IfNeeded), shared(CopyPolicy::Always)];
        let named = loaded.as_ref().err().and_then(Error::path).map(Path::to_owned);
        match loaded.map_err(Error::into_kind) {
            Ok(table) => {
                let (shape, element_type) = (table.shape(), table.uniform_type().unwrap());
                assert!(shape.element_count().unwrap() * element_type.size_in_bytes() <= bytes.len(), "{name}");
                assert_eq!([converted.unwrap().shape(), streamed.unwrap().shape()], [shape; 2], "{name}");
                for shared in shared {
                    match shared {
                        Ok(shared) => assert_eq!(shared.shape(), shape, "{name}"),
                        Err(error) => {
                            assert!(matches!(error.kind(), ErrorKind::ElementTypeMismatch { .. }), "{name}: {error}")
                        }
                    }
                }
                None
            }
            Err(ErrorKind::Format { offset, reason, .. }) => {
                let text = Error::new(ErrorKind::Format { offset, reason: reason.clone() }).to_string();
                let converted = converted.unwrap_err();
                assert_eq!((named.as_deref(), converted.path()), (Some(&*self.path), Some(&*self.path)), "{name}");
                assert_eq!(converted.message().to_string(), format!("{}: {text}", self.path.display()), "{name}");
                for shared in shared {
                    assert_eq!(shared.unwrap_err().message().to_string(), text, "{name}");
                }
                // A stream may go on past the array, and ends only when it is asked for more.
                if let Err(error) = streamed {
                    let at_end = reason.contains("cut off") && error.to_string().contains("the stream ends");
                    assert!(at_end || error.message().to_string() == text, "{name}: {error} is not {text}");
                } else {
                    assert!(reason.contains("bytes after the array"), "{name}: {reason}");
                }
                Some((offset, reason))
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
    }

    /// Reads a file that must be refused, with a reason that contains some words.
    #[track_caller]
    fn refused(&self, bytes: &[u8], name: &str, words: &str) -> u64 {
        let Some((offset, reason)) = self.read(bytes, name) else { panic!("{name}: it was accepted") };
        assert!(reason.contains(words), "{name}: {reason:?} says nothing of {words:?}");
        assert!(offset <= bytes.len() as u64, "{name}: {offset}");
        offset
    }
}

type Read<'a> = &'a dyn Fn() -> Result<Box<dyn NumericTable>, Error>;

#[track_caller]
fn in_limits(bytes: &[u8], name: &str, read: Read<'_>) -> Result<Box<dyn NumericTable>, Error> {
    let limit = 2 * bytes.len() + (1 << 20);
    let (result, peak, largest) = measured(&|| name.to_owned(), read);
    assert!(peak <= limit && largest <= limit, "{name}: {peak} bytes at once, {largest} for one request");
    result
}

fn honest() -> Vec<u8> {
    let mut bytes = Vec::new();
    Table::from_rows(&[[1_i16, 2], [3, 4], [5, 6]]).unwrap().write_npy(&mut bytes).unwrap();
    bytes
}

/// What a structure of at most 65,536 columns takes besides its values.
const DESCRIPTION: usize = 16 << 20;

#[test]
fn structures_that_lie_take_no_more_than_their_description() {
    let scratch = Scratch::new();
    let many = format!("[{}]", "('','u1'),".repeat(6000));
    for (descr, rows, is_read) in [
        ("[('a', '<f4', (65536,))]", "0", true),
        ("[('a', 'u1', (256, 256)), ('', '|V3')]", "0", true),
        ("[('a', 'u1', (65537,))]", "0", false),
        ("[('a', '<f8', (4294967296, 4294967296))]", "0", false),
        ("[('a', 'u1'), ('', '|V1099511627776')]", "1", false),
        ("[('a', 'u1')]", "1099511627776", false),
        ("[('a', 'u1'), ('b', '>f8')]", "1099511627776", false),
        (&many, "0", true),
        (&many, "4294967296", false),
    ] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({rows},), }}");
        let bytes = with_text(&text, 0);
        fs::write(&scratch.path, &bytes).unwrap();
        for read in [&(|| npy::load(&scratch.path)) as Read<'_>, &|| npy::read(&bytes[..])] {
            let name = &text[..text.len().min(80)];
            let (result, peak, _) = measured(&|| name.to_owned(), read);
            assert_eq!(result.is_ok(), is_read, "{name}");
            assert!(peak <= 2 * bytes.len() + DESCRIPTION, "{name}: {peak} bytes at once");
        }
    }
}

/// A file with any text in its header, and some bytes of values.
fn with_text(text: &str, values: usize) -> Vec<u8> {
    let text = format!("{text:<117}\n");
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], text.as_bytes(), &vec![1; values]].concat()
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let scratch = Scratch::new();
    let bytes = honest();
    for length in 0..bytes.len() {
        let words = match length {
            0 => "it is empty",
            1..6 => "cut off within its first 6 bytes",
            6..128 => "cut off within its header",
            _ => "cut off: 3 x 2 i16 values end at byte 140",
        };
        assert_eq!(scratch.refused(&bytes[..length], &format!("cut at {length}"), words), length as u64);
    }
    assert_eq!(scratch.refused(&[&bytes[..], &[0]].concat(), "one more", "bytes after the array: 1"), 140);
}

#[test]
fn any_byte_of_the_header_may_be_anything() {
    let scratch = Scratch::new();
    let bytes = honest();
    let mut accepted = 0;
    for at in 0..128 {
        for value in (0..=255).filter(|value| at < 75 || value % 16 == 0) {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let result = scratch.read(&damaged, &format!("byte {at} is {value}"));
            accepted += usize::from(result.is_none());
            if at < 8 && damaged != bytes && (at, value) != (6, 2) && (at, value) != (6, 3) {
                assert!(result.is_some(), "byte {at} is {value}");
            }
        }
    }
    assert!(accepted > 75, "the honest file alone is accepted that often");
}

#[test]
fn lengths_that_lie_are_refused() {
    let scratch = Scratch::new();
    let bytes = honest();
    for (length, words) in
        [(0_u16, "found the end"), (117, "bytes after the array"), (200, "cut off"), (u16::MAX, "cut off")]
    {
        let mut lie = bytes.clone();
        lie[8..10].copy_from_slice(&length.to_le_bytes());
        scratch.refused(&lie, &format!("{length} bytes"), words);
    }
    for version in [2, 3] {
        for (length, words) in
            [(u32::MAX, "longer than that of any array"), (65_536, "longer than"), (65_535, "cut off")]
        {
            let lie = [b"\x93NUMPY", &[version, 0][..], &length.to_le_bytes(), &bytes[10..]].concat();
            scratch.refused(&lie, &format!("version {version}, {length} bytes"), words);
        }
        let right = [b"\x93NUMPY", &[version, 0][..], &118_u32.to_le_bytes(), &bytes[10..]].concat();
        assert_eq!(scratch.read(&right, "the right length"), None);
    }
    for version in [[0, 0], [1, 1], [4, 0], [0, 1], [255, 255]] {
        let lie = [b"\x93NUMPY", &version[..], &bytes[8..]].concat();
        assert_eq!(scratch.refused(&lie, "version", "is unknown: supported are 1.0, 2.0 and 3.0"), 6);
    }
}

#[test]
fn headers_that_lie_are_refused() {
    let scratch = Scratch::new();
    let lies = [
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (4, 2), }", "cut off: 4 x 2 i16 values end at byte 144"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }", "bytes after the array: 4"),
        ("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }", "cut off: 3 x 2 i32 values"),
        ("{'descr': '<u1', 'fortran_order': False, 'shape': (1152921504606846976, 1), }", "cut off"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "too large for this machine"),
        (
            "{'descr': '<i8', 'fortran_order': False, 'shape': (18446744073709551615, 1), }",
            "too large for this machine",
        ),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (18446744073709551616, 1), }", "too large"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (-3, -2), }", "found '-'"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (6), }", "invalid value for 'shape'"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': [3, 2], }", "invalid value for 'shape'"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (), }", "0 dimensions"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2, 1), }", "3 dimensions"),
        ("{'descr': '<i2', 'fortran_order': 0, 'shape': (3, 2), }", "invalid value for 'fortran_order'"),
        ("{'descr': (3,), 'fortran_order': False, 'shape': (3, 2), }", "invalid value for 'descr'"),
        ("{'descr': 'i2', 'fortran_order': False, 'shape': (3, 2), }", "does not specify its byte order"),
        ("{'descr': '=i2', 'fortran_order': False, 'shape': (3, 2), }", "does not specify its byte order"),
        ("{'descr': '<i3', 'fortran_order': False, 'shape': (3, 2), }", "'<i3' is not supported by tables"),
        ("{'descr': '', 'fortran_order': False, 'shape': (3, 2), }", "'' is not supported by tables"),
        ("{'descr': '<f16', 'fortran_order': False, 'shape': (3, 2), }", "long floats"),
        ("{'descr': '<V2', 'fortran_order': False, 'shape': (3, 2), }", "if they are bfloat16"),
        ("{'descr': '<i2', 'fortran_order': False, }", "is missing"),
        ("{}", "is missing"),
        ("{'descr': '<i2', 'shape': (3, 2), 'descr': '<i2', 'fortran_order': False}", "'descr' occurs twice"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), 'x': True}", "unknown key 'x'"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), } + 1", "expected nothing after the dictionary"),
        ("exit()", "expected a dictionary, found 'e'"),
        ("", "expected a dictionary, found the end"),
    ];
    for (text, words) in lies {
        scratch.refused(&with_text(text, 12), text, words);
    }
    let long = format!("{{'{}': 1}}", "k\x1b".repeat(5000));
    let offset = scratch.refused(&with_text(&long, 12), "a long key", "unknown key");
    let Some((_, reason)) = scratch.read(&with_text(&long, 12), "a long key") else { panic!() };
    assert!(offset > 10_000 && reason.len() < 200 && !reason.contains('\x1b'), "{reason}");
    // Shapes without values are ordinary, whatever their other side.
    for shape in ["(0, 9223372036854775807)", "(9223372036854775807, 0)", "(0,)"] {
        let text = format!("{{'descr': '<i2', 'fortran_order': True, 'shape': {shape}}}");
        assert_eq!(scratch.read(&with_text(&text, 0), &text), None);
    }
}

#[test]
fn a_stream_that_promises_much_costs_what_it_has() {
    let _scratch = Scratch::new();
    for given in [0, 12, 100_000, 5_000_000] {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1125899906842624, 1), }";
        let bytes = with_text(text, given);
        let error = in_limits(&bytes, text, &|| npy::read(&bytes[..])).unwrap_err();
        assert!(error.to_string().contains("1125899906842624 x 1 f64 values"), "{error}");
    }
}

#[test]
fn files_of_others_are_called_what_they_are() {
    let scratch = Scratch::new();
    let table = Table::from_rows(&[[1_i16]]).unwrap();
    table.save(&scratch.path).unwrap();
    let ours = fs::read(&scratch.path).unwrap();
    let files: [(&[u8], &str); 6] = [
        (&ours, "a table file of this library"),
        (b"PK\x03\x04\x14\0\0\0\0\0", "perhaps .npz"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
        (b"\x80\x04\x95\x05\0\0\0\0\0\0\0N.", "never loaded"),
        (b"5.1,3.5,1.4,0.2,setosa\n", "not a .npy file"),
        (&honest()[1..], "not a .npy file"),
    ];
    for (bytes, words) in files {
        assert_eq!(scratch.refused(bytes, words, words), 0);
    }
}

#[test]
fn random_damage_never_does_more_than_be_seen() {
    let scratch = Scratch::new();
    let mut random = Random::new(6);
    let pieces = [
        "'descr'", "'<i2'", "'>i2'", "'|u1'", "{", "}", "(", ")", ",", ":", "3", "2", "L", "True", "'shape'", " ", "[",
        "'", "\\",
    ];
    for round in 0..3000 {
        let mut text = String::from("{'descr': '<i2', 'fortran_order': False, 'shape': (3, 2), }");
        for _ in 0..=random.below(3) {
            let at = random.below(text.len() + 1);
            let end = text.len().min(at + random.below(8));
            text.replace_range(at..end, pieces[random.below(pieces.len())]);
        }
        scratch.read(&with_text(&text, 12), &format!("round {round}: {text}"));
    }
}
