//! Arrays of structures.

use std::fs;

use numeric_table::prelude::*;
use numeric_table::{AosNumericTable, impl_record, interop::CopyPolicy, npy, table::RecordLayout};
use test_support::tables::{assert_error, shape};

use super::Table;
use super::golden_files::golden_path;
use super::numpy::run_numpy;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    categ: i32,
    value: f64,
}
impl_record!(Point { x, y, categ, value });

fn points() -> Vec<Point> {
    [(0.5, -1.25, 1, 100.125), (2.5, -3.25, 2, 200.25), (4.5, -5.25, 2, 350.375)]
        .map(|(x, y, categ, value)| Point { x, y, categ, value })
        .to_vec()
}

fn written(table: &AosNumericTable) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_npy(&mut bytes).unwrap();
    bytes
}

fn names(table: &dyn NumericTable) -> Vec<String> {
    table.dictionary().iter().map(|feature| feature.name.clone().unwrap()).collect()
}

/// A table from a file and from a stream, which must be the same.
fn golden(name: &str) -> AosNumericTable {
    let (path, bytes) = (golden_path(name), fs::read(golden_path(name)).unwrap());
    let table = AosNumericTable::load_npy(&path).unwrap();
    let any = [npy::load(&path).unwrap(), npy::read(&bytes[..]).unwrap()];
    let stream = AosNumericTable::read_npy(&bytes[..]).unwrap();
    for other in any.iter().map(|any| any.downcast_ref().unwrap()).chain([&stream]) {
        let other: &AosNumericTable = other;
        assert_eq!((other.layout(), other.shape()), (table.layout(), table.shape()));
        assert_eq!(other.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..]);
        assert_eq!(other.data_memory_status(), MemoryStatus::InternallyAllocated);
    }
    table
}

fn header(descr: &str, rows: &str) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {rows}, }}\n");
    [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn aligned_structures_are_the_records_that_they_were() {
    let table = golden("structures_aligned");
    assert_eq!(table.layout(), RecordLayout::of::<Point>());
    assert_eq!(table.records::<Point>().unwrap(), points());
    let mine = AosNumericTable::from_records(points()).unwrap();
    let golden = fs::read(golden_path("structures_aligned")).unwrap();
    let found = written(&mine);
    assert_eq!(found[..192], golden[..192]); // the header
    let padding = |index: usize| index >= 192 && (12..16).contains(&((index - 192) % 24));
    assert!((192..golden.len()).all(|index| if padding(index) {
        found[index] == 0
    } else {
        found[index] == golden[index]
    }));
    let none = super::structured::golden("structures_none");
    assert_eq!((none.shape(), none.layout()), (shape(0, 4), RecordLayout::of::<Point>()));
    let empty = AosNumericTable::from_records(Vec::<Point>::new()).unwrap();
    assert_eq!(written(&empty), fs::read(golden_path("structures_none")).unwrap());
}

#[test]
fn packed_structures_with_arrays_of_both_byte_orders_become_aligned() {
    let table = golden("structures_packed");
    assert_eq!(names(&table), ["kind", "value", "v[0]", "v[1]", "v[2]", "m[0]", "m[1]", "m[2]", "m[3]", "half"]);
    for row in 0..3 {
        let i = row as f64;
        let expected = [i, i + 0.5, i + 1.0, i + 2.0, i + 3.0, i, -i, i + 7.0, i + 8.0, i / 4.0];
        assert_eq!(table.rows::<f64>(row..row + 1).unwrap()[..], expected);
    }
    let offsets = table.layout().fields().map(|(_, offset)| offset).collect::<Vec<_>>();
    assert_eq!((offsets, table.layout().size()), (vec![0, 8, 16, 20, 24, 28, 30, 32, 34, 36], 40));
    let back = AosNumericTable::read_npy(&written(&table)[..]).unwrap();
    assert_eq!(back.layout(), table.layout());
    assert_eq!(back.rows::<f64>(..).unwrap()[..], table.rows::<f64>(..).unwrap()[..]);
}

#[test]
fn gaps_and_names_of_any_alphabet_are_kept() {
    let table = golden("structures_gaps");
    assert_eq!((names(&table), table.layout().size()), (vec!["a".to_owned(), "it's".to_owned()], 16));
    assert_eq!((table.layout().offset(0).unwrap(), table.layout().offset(1).unwrap()), (4, 12));
    assert_eq!(table.rows::<i32>(..).unwrap()[..], [1, -1, 2, -2]);
    assert_eq!(written(&table), fs::read(golden_path("structures_gaps")).unwrap());
    for name in ["structures_names", "structures_latin1"] {
        assert_eq!(names(&golden(name)), ["a", "ä"]);
        let back = AosNumericTable::read_npy(&written(&golden(name))[..]).unwrap();
        assert_eq!(back.layout(), golden(name).layout());
    }
}

#[test]
fn a_structure_is_refused_where_one_number_is_asked_for_and_the_other_way_round() {
    let path = golden_path("structures_aligned");
    let bytes = fs::read(&path).unwrap();
    for error in [
        Table::<f32>::load_npy(&path).map(drop),
        Table::<f32>::load_npy_cast(&path).map(drop),
        Table::<f32>::read_npy(&bytes[..]).map(drop),
        Table::<f32>::from_npy(bytes.clone(), CopyPolicy::IfNeeded).map(drop),
    ] {
        assert_error!(error, ErrorKind::Format { offset: 20, .. }, "`AosNumericTable::load_npy` reads it");
    }
    let numbers = AosNumericTable::load_npy(golden_path("f4_c_v1"));
    assert!(numbers.as_ref().is_err_and(|error| matches!(
        error.kind(),
        ErrorKind::Format { .. } if error.to_string().contains("`HomogenNumericTable::load_npy`")
    ) && error.path().is_some()));
}

#[test]
fn fields_that_no_column_can_be_are_refused_by_name() {
    for (name, words) in [
        ("refused_nested", "a structure within a structure"),
        ("refused_title", "a title besides its name"),
        ("refused_field_of_text", "field 'b': the type '|S3' is not supported by tables: text"),
        ("refused_field_of_objects", "field 'b': the type '|O' is not supported by tables: Python objects"),
        ("refused_field_of_truth", "field 'b': the type '|b1' is not supported by tables: truth values"),
        ("refused_structures_in_two_dimensions", "2 dimensions is not a table; in Python: a.reshape(-1)"),
    ] {
        let bytes = fs::read(golden_path(name)).unwrap();
        for error in [
            AosNumericTable::load_npy(golden_path(name)).map(drop),
            AosNumericTable::read_npy(&bytes[..]).map(drop),
            npy::load(golden_path(name)).map(drop),
            npy::read(&bytes[..]).map(drop),
        ] {
            assert_error!(error, ErrorKind::Format { offset: 10..200, reason, .. } if reason.contains(words));
        }
    }
}

#[test]
fn hostile_headers_are_errors_and_ask_for_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.npy");
    let deep = format!("[{}]", "(".repeat(60_000));
    let many = format!("[{}]", "('','<f4'),".repeat(5900));
    for (descr, rows, words) in [
        ("[]", "(1,)", "records without bytes"),
        ("[('', '|V0')]", "(1,)", "records without bytes"),
        ("[('a', '<f4', (0,))]", "(1,)", "records without bytes"),
        ("[('a', '<f4', (4000000000000,))]", "(0,)", "more than 65536 columns"),
        ("[('a', '<f4', (18446744073709551615, 3))]", "(0,)", "too large for this machine"),
        (
            "[('', '|V9223372036854775807'), ('', '|V9223372036854775807'), ('a', '<f4'), ('', '|V9')]",
            "(0,)",
            "too large",
        ),
        ("[('', '|V9223372036854775807'), ('a', '<f4')]", "(1,)", "too large for this machine"),
        ("[('', '|V99999999999999999999')]", "(1,)", "too large"),
        ("[('', '|V-1')]", "(1,)", "too large"),
        ("[('a', '|V4')]", "(1,)", "field 'a': the type '|V4' is not supported by tables: raw bytes"),
        ("[('a', '=f4')]", "(1,)", "does not specify its byte order"),
        ("[('a', '<f4'), ('', '|V999999999999')]", "(1,)", "the file is cut off"),
        ("[('a', '<f4')]", "(1000000000000,)", "the file is cut off"),
        ("[('a', '<f4')]", "()", "one record, not a table"),
        (&deep, "(1,)", "a title"),
        (&many, "(1,)", "the file is cut off"),
    ] {
        let bytes = header(descr, rows);
        fs::write(&path, &bytes).unwrap();
        assert_error!(AosNumericTable::load_npy(&path), ErrorKind::Format { reason, .. } if reason.contains(words));
        assert_error!(npy::load(&path).map(drop), ErrorKind::Format { reason, .. } if reason.contains(words));
        let stream_words = words.replace("the file is cut off", "the stream ends");
        assert_error!(
            AosNumericTable::read_npy(&bytes[..]),
            ErrorKind::Format { reason, .. } if reason.contains(&stream_words)
        );
    }
    // Cut off anywhere.
    let whole = fs::read(golden_path("structures_packed")).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_error!(AosNumericTable::load_npy(&path), ErrorKind::Format { .. });
        assert_error!(AosNumericTable::read_npy(&whole[..length]), ErrorKind::Format { .. });
    }
    fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
    assert_error!(AosNumericTable::load_npy(&path), ErrorKind::Format { .. }, "bytes after the array: 1");
}

#[test]
fn fields_without_names_get_those_of_numpy() {
    let bytes = [header("[('', '|u1'), ('', '|V1'), ('', '<u2')]", "(2,)"), vec![1, 9, 2, 0, 3, 9, 4, 0]].concat();
    let table = AosNumericTable::read_npy(&bytes[..]).unwrap();
    assert_eq!(names(&table), ["f0", "f2"]);
    assert_eq!(table.rows::<u8>(..).unwrap()[..], [1, 2, 3, 4]);
    let layout = RecordLayout::new(8).feature(Feature::new(ElementType::U8), 0).unwrap();
    let layout = layout.field("", ElementType::F32, 4).unwrap();
    let table = AosNumericTable::zeros(&layout, 1).unwrap();
    assert_eq!(names(&AosNumericTable::read_npy(&written(&table)[..]).unwrap()), ["f0", "f1"]);
}

#[test]
fn names_and_types_that_numpy_does_not_have_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("refused.npy");
    let table = |names: &[&str]| {
        let start = RecordLayout::new(8 * names.len());
        let mut fields = names.iter().enumerate();
        let layout = fields.try_fold(start, |layout, (index, name)| layout.field(*name, ElementType::F64, 8 * index));
        AosNumericTable::zeros(&layout.unwrap(), 1).unwrap()
    };
    for names in [&["a", "a"][..], &["a", "b\\"], &["a", "b\n"], &["a", "'\""], &["f1", ""], &["v", "v[0]"]] {
        let refused = table(names).save_npy(&path);
        assert_error!(refused, ErrorKind::Unsupported { target: "NumPy", column: Some(1), .. });
    }
    let half = RecordLayout::new(2).field("h", ElementType::Bf16, 0).unwrap();
    let refused = AosNumericTable::zeros(&half, 1).unwrap().save_npy(&path);
    assert_error!(refused, ErrorKind::UnsupportedElementType { element: ElementType::Bf16, target: "NumPy" });
    let long = "x".repeat(70_000);
    assert_error!(
        table(&[&long]).save_npy(&path),
        ErrorKind::LimitExceeded { what: "bytes of a header (use shorter names)", limit: 65_535, .. }
    );
    assert!(!path.exists());
    table(&["v[0]", "v[1]", "w[1]", "u[0]"]).save_npy(&path).unwrap();
    assert_eq!(names(&AosNumericTable::load_npy(&path).unwrap()), ["v[0]", "v[1]", "w[1]", "u[0]"]);
}

/// More records than are read at a time.
fn many(layout: &RecordLayout) -> AosNumericTable {
    let mut table = AosNumericTable::zeros(layout, 100_000).unwrap();
    let columns = layout.len();
    table
        .update_rows::<u8, _>(.., |block| {
            block.iter_mut().enumerate().for_each(|(index, value)| *value = ((index / columns + index) % 100) as u8);
            Ok(())
        })
        .unwrap();
    table
}

#[test]
fn columns_out_of_the_order_of_their_offsets_are_written_in_the_order_of_the_columns() {
    let layout = RecordLayout::new(24).field("b", ElementType::F64, 8).unwrap().field("a", ElementType::U8, 0).unwrap();
    let table = many(&layout);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.npy");
    table.save_npy(&path).unwrap();
    let back = AosNumericTable::load_npy(&path).unwrap();
    assert_eq!((names(&back), back.layout().size()), (vec!["b".to_owned(), "a".to_owned()], 16));
    assert_eq!(back.rows::<u8>(..).unwrap()[..], table.rows::<u8>(..).unwrap()[..]);
    assert_eq!(fs::read(&path).unwrap(), written(&table));
    // Overlapping ones are written one after the other.
    let layout =
        RecordLayout::new(4).field("word", ElementType::U32, 0).unwrap().field("half", ElementType::U16, 0).unwrap();
    let table = AosNumericTable::from_record_bytes(vec![1, 0, 0, 0], &layout).unwrap();
    let back = AosNumericTable::read_npy(&written(&table)[..]).unwrap();
    assert_eq!(back.rows::<u32>(..).unwrap()[..], table.rows::<u32>(..).unwrap()[..]);
}

#[test]
fn many_packed_records_are_loaded_from_files_and_streams() {
    let layout = RecordLayout::new(32).field("kind", ElementType::U8, 0).unwrap();
    let layout = layout.array("v", ElementType::F64, 8, 2).unwrap().field("last", ElementType::I16, 24).unwrap();
    let table = many(&layout);
    let rows = table.rows::<f64>(..).unwrap();
    let packed = rows.chunks(4).flat_map(|row| {
        [&[row[0] as u8][..], &row[1].to_le_bytes(), &row[2].to_be_bytes(), &(row[3] as i16).to_be_bytes()].concat()
    });
    let descr = "[('kind', '|u1'), ('v', '<f8'), ('w', '>f8'), ('last', '>i2')]";
    let bytes = [header(descr, "(100000,)"), packed.collect()].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packed.npy");
    fs::write(&path, &bytes).unwrap();
    for table in [AosNumericTable::load_npy(&path).unwrap(), AosNumericTable::read_npy(&bytes[..]).unwrap()] {
        assert_eq!(table.layout().size(), 32);
        assert_eq!(table.rows::<f64>(..).unwrap()[..], rows[..]);
    }
}

#[test]
fn numpy_loads_structures_with_their_names_and_offsets() {
    const SCRIPT: &str = "
import sys, numpy as np
for path in sys.argv[1:]:
    a = np.load(path)
    fields = [(name, a.dtype.fields[name][0].str, a.dtype.fields[name][0].shape, a.dtype.fields[name][1]) for name in a.dtype.names]
    print(len(a), a.dtype.itemsize, fields, [row.tolist() for row in a][:2])
";
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    AosNumericTable::from_records(points()).unwrap().save_npy(path("points")).unwrap();
    let types = ElementType::ALL.iter().filter(|&&element| element != ElementType::Bf16);
    let (mut layout, mut offset) = (RecordLayout::new(100), 0_usize);
    for &element in types {
        offset = offset.next_multiple_of(element.size_in_bytes());
        layout = layout.field(format!("ä'{element}"), element, offset).unwrap();
        offset += element.size_in_bytes() + 1;
    }
    let layout = layout.array("v", ElementType::F32, 92, 2).unwrap();
    AosNumericTable::zeros(&layout, 1).unwrap().save_npy(path("all")).unwrap(); // 100 is no multiple of 8: aligned first
    let Some(printed) = run_numpy(SCRIPT, &[&path("points"), &path("all")]) else { return };
    let lines = printed.lines().collect::<Vec<_>>();
    let expected = "3 24 [('x', '<f4', (), 0), ('y', '<f4', (), 4), ('categ', '<i4', (), 8), ('value', '<f8', (), 16)] \
                    [(0.5, -1.25, 1, 100.125), (2.5, -3.25, 2, 200.25)]";
    assert_eq!(lines[0], expected);
    let aligned = layout.aligned().unwrap();
    assert!(lines[1].starts_with(&format!("1 {} [", aligned.size())), "{}", lines[1]);
    for (feature, offset) in aligned.fields().take(11) {
        let name = feature.name.as_deref().unwrap();
        assert!(
            lines[1].contains(&format!("(\"{name}\", ")) && lines[1].contains(&format!(", (), {offset})")),
            "{name}"
        );
    }
    assert!(lines[1].contains(&format!("('v', '|V8', (2,), {})", aligned.offset(11).unwrap())), "{}", lines[1]);
}

#[test]
fn structures_that_numpy_saves_are_loaded_value_for_value() {
    const SCRIPT: &str = "
import os, sys, numpy as np
random = np.random.default_rng(5)
kinds = ['<f4', '>f8', 'u1', '<i2', '>u4', '<f2', '>i8', 'i1', '<u8', '>u2', '<i4', '<f8']
for case in range(24):
    chosen = [kinds[i] for i in random.permutation(12)[:1 + case % 7]]
    fields = [(f'n{i}', kind, (2,)) if random.random() < 0.3 else (f'n{i}', kind) for i, kind in enumerate(chosen)]
    a = np.zeros(5, np.dtype(fields, align=case % 2 == 0))
    for field in fields:
        a[field[0]] = random.integers(0, 100, a[field[0]].shape)
    path = os.path.join(sys.argv[1], f'{case}.npy')
    np.save(path, a)
    print(path, *[int(x) for row in a for name in a.dtype.names for x in np.atleast_1d(row[name])])
";
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = run_numpy(SCRIPT, &[folder.path().to_str().unwrap()]) else { return };
    assert_eq!(printed.lines().count(), 24);
    for line in printed.lines() {
        let mut words = line.split(' ');
        let table = npy::load(words.next().unwrap()).unwrap();
        let expected = words.map(|word| word.parse().unwrap()).collect::<Vec<i64>>();
        assert_eq!(table.rows::<i64>(..).unwrap()[..], expected, "{line}");
    }
}
