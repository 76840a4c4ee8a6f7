//! NumPy files, sparse tables and `ndarray`: masks, refusals, and NaN where it is asked for.

use numeric_table::prelude::*;

use super::one;

/// Two columns of one type, `count` with a gap in row 1, or `share` of floating-point numbers with a gap in row 2.
#[cfg(any(feature = "npy", feature = "ndarray"))]
fn floats() -> numeric_table::SoaNumericTable {
    let mut table = one([Some(1.5_f64), Some(2.5), None]);
    table.push_optional("b", [Some(f64::NAN), Some(4.5), Some(5.5)]).unwrap();
    table
}

#[cfg(feature = "npy")]
mod npy {
    use numeric_table::files::SaveOptions;
    use test_support::tables::assert_error;

    use super::*;

    #[test]
    fn a_npy_file_refuses_gaps_by_name_or_gets_nan() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array.npy");
        let error = floats().save_npy(&path).unwrap_err();
        assert_error!(
            Err::<(), _>(error),
            ErrorKind::Unsupported { target: "NumPy", row: Some(2), column: Some(0), .. },
            "the value in row 2 is missing"
        );
        assert!(!path.exists());
        let error = floats().write_npy(Vec::new()).unwrap_err().to_string();
        for call in ["fill_missing", "drop_missing_rows", "SaveOptions::missing_to_nan"] {
            assert!(error.contains(&format!("`{call}`")), "{error}");
        }
        let nan = || SaveOptions::new().missing_to_nan(true);
        floats().save_npy_with(&path, nan()).unwrap();
        let table = HomogenNumericTable::<f64>::load_npy(&path).unwrap();
        let values = table.as_slice().unwrap();
        assert!(values[4].is_nan() && values[1].is_nan());
        assert_eq!([values[0], values[2], values[3], values[5]], [1.5, 2.5, 4.5, 5.5]);
        // No NaN among integers, whatever is asked for. The old file stays.
        let before = std::fs::read(&path).unwrap();
        let error = one([Some(1_i16), None]).save_npy_with(&path, nan()).unwrap_err();
        assert_error!(Err::<(), _>(error), ErrorKind::Unsupported { row: Some(1), column: Some(0), .. });
        assert_eq!(std::fs::read(&path).unwrap(), before);
        // Rows without gaps are written.
        floats().select_rows(0..2).unwrap().save_npy(&path).unwrap();
        assert_eq!(HomogenNumericTable::<f64>::load_npy(&path).unwrap().row_count(), 2);
    }
}

#[cfg(feature = "npz")]
mod npz {
    use std::io::Cursor;

    use numeric_table::SoaNumericTable;
    use numeric_table::array::Validity;
    use numeric_table::files::SaveOptions;
    use numeric_table::npz::{self, NpzOptions, NpzReader, NpzWriter};
    use test_support::bits::{Random, is_same};
    use test_support::for_each_element;
    use test_support::tables::assert_error;

    use super::super::optional;
    use super::*;

    /// A zip file of stored members.
    fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let checksum = |bytes: &[u8]| {
            !bytes.iter().fold(u32::MAX, |sum, &byte| {
                (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 })
            })
        };
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let start = file.len() as u32;
            let (sum, size, length) = (checksum(bytes), bytes.len() as u32, name.len() as u16);
            let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            common.extend([sum, size, size].iter().flat_map(|number| number.to_le_bytes()));
            common.extend(length.to_le_bytes());
            common.extend([0, 0]);
            file.extend(b"PK\x03\x04");
            file.extend(&common);
            file.extend(name.as_bytes());
            file.extend(bytes);
            directory.extend(b"PK\x01\x02\x14\0");
            directory.extend(&common);
            directory.extend([0; 10]);
            directory.extend(start.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (start, size, count) = (file.len() as u32, directory.len() as u32, members.len() as u16);
        file.extend(directory);
        file.extend(b"PK\x05\x06\0\0\0\0");
        file.extend([count, count].iter().flat_map(|number| number.to_le_bytes()));
        file.extend([size, start].iter().flat_map(|number| number.to_le_bytes()));
        file.extend([0, 0]);
        file
    }

    /// A `.npy` file of a type and a shape, as NumPy writes it.
    fn npy(descr: &str, is_fortran: bool, shape: &str, values: &[u8]) -> Vec<u8> {
        described(&format!("'{descr}'"), is_fortran, shape, values)
    }

    fn described(descr: &str, is_fortran: bool, shape: &str, values: &[u8]) -> Vec<u8> {
        let order = if is_fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(values);
        file
    }

    fn reader(members: &[(&str, Vec<u8>)]) -> NpzReader<Cursor<Vec<u8>>> {
        NpzReader::new(Cursor::new(zip(members)), NpzOptions::new()).unwrap()
    }

    #[test]
    fn columns_of_every_type_come_back_with_their_gaps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("columns.npz");
        let mut random = Random::new(7);
        for rows in [0, 1, 7, 8, 65, 5000] {
            let mut table = SoaNumericTable::new();
            let mut names = Vec::new();
            for_each_element!(T => if T::TYPE != ElementType::Bf16 {
                for one_in in [1, 2, usize::MAX] {
                    let flags: Vec<bool> = (0..rows).map(|_| random.below(one_in) != 0).collect();
                    let name = format!("{}/{one_in}", T::TYPE);
                    names.push(name.clone());
                    if flags.contains(&false) {
                        names.push(format!("{name}.mask"));
                    }
                    let feature = Feature::new(T::TYPE).named(name);
                    let validity = Validity::from_flags(&flags).unwrap();
                    table.push_nullable(feature, random.values::<T>(rows), Some(validity)).unwrap();
                }
            });
            for is_compressed in [true, false] {
                let mut writer = NpzWriter::create_with(&path, NpzOptions::new().compressed(is_compressed)).unwrap();
                writer.add_columns(&table).unwrap();
                writer.finish().unwrap();
                assert!(NpzReader::open(&path).unwrap().names().eq(names.iter().map(String::as_str)));
                let back = npz::load_columns(&path).unwrap();
                assert_eq!(back.dictionary(), table.dictionary());
                for column in 0..table.column_count() {
                    for_each_element!(T => if table.column_type(column).unwrap() == T::TYPE {
                        let (found, expected) = (optional::<T>(&back, column), optional::<T>(&table, column));
                        assert!(found.iter().zip(&expected).all(|pair| match pair {
                            (Some(found), Some(expected)) => is_same(*found, *expected),
                            (found, expected) => found.is_none() && expected.is_none(),
                        }));
                        let (values, _) = back.nullable_column(column).unwrap();
                        let values = values.downcast_ref::<T>().unwrap();
                        let are_zeros = values.iter().zip(&found).all(|(value, found)| {
                            found.is_some() || is_same(*value, T::default())
                        });
                        assert!(are_zeros, "what a gap hides is not written");
                    });
                }
            }
        }
    }

    #[test]
    fn a_mask_is_what_numpy_users_save() {
        let mut table = one([Some(5_i16), None, Some(7)]);
        table.push_optional("b", [Some(0.5_f32), Some(1.5), Some(2.5)]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("columns.npz");
        let mut writer = NpzWriter::create_with(&path, NpzOptions::new().compressed(false)).unwrap();
        writer.add_columns(&table).unwrap();
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let header = b"{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }";
        let start = bytes.windows(header.len()).position(|window| window == header).unwrap();
        let end = start + bytes[start..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!(bytes[end..end + 3], [0, 1, 0], "true is missing");
        let mut reader = NpzReader::open(&path).unwrap();
        assert!(reader.names().eq(["a", "a.mask", "b"]));
        let selected = reader.load_columns(["b", "a"]).unwrap();
        assert_eq!(
            (selected.missing_count(0).unwrap(), optional::<i16>(&selected, 1)),
            (0, vec![Some(5), None, Some(7)])
        );
        // A table whose columns may have gaps and have none is written as before.
        let plain = SoaNumericTable::from_columns([("a", vec![1_u8, 2])]).unwrap();
        let [first, second] = ["one.npz", "other.npz"].map(|name| folder.path().join(name));
        npz::save_columns(&first, &plain).unwrap();
        npz::save_columns(&second, &one([Some(1_u8), Some(2)])).unwrap();
        assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
        // Names that a reader would take for masks.
        let confusing = SoaNumericTable::from_columns([("a", vec![1_u8]), ("a.mask", vec![2])]).unwrap();
        assert_error!(npz::save_columns(&path, &confusing), ErrorKind::Unsupported { .. }, "mask of another column");
        let alone = SoaNumericTable::from_columns([("x.mask", vec![1_u8])]).unwrap();
        npz::save_columns(&path, &alone).unwrap();
        assert_eq!(npz::load_columns(&path).unwrap().column_slice::<u8>(0).unwrap(), [1]);
    }

    #[test]
    fn masks_of_a_wrong_type_or_shape_are_errors() {
        let values = || npy("|u1", false, "(3,)", &[1, 2, 3]);
        let refused = |mask: Vec<u8>, expected: &str| {
            let error = reader(&[("a.npy", values()), ("a.mask.npy", mask)]).load_all_columns().unwrap_err();
            let text = error.to_string();
            assert!(matches!(error.kind(), ErrorKind::Format { .. }), "{text}");
            assert!(text.contains("a.mask.npy") && text.contains(expected), "{text}");
        };
        refused(npy("|u1", false, "(3,)", &[0, 1, 0]), "must be an array of truth values");
        refused(npy("<i8", false, "(3,)", &[0; 24]), "must be an array of truth values");
        refused(
            npy("|b1", false, "(2,)", &[0, 1]),
            "the mask has 2 x 1 truth values, but the array that it masks has 3 x 1 values",
        );
        refused(npy("|b1", false, "(1, 3)", &[0, 1, 0]), "the mask has 1 x 3 truth values");
        refused(npy("|b1", false, "(3, 1, 1)", &[0, 1, 0]), "3 dimensions");
        refused(npy("|b1", false, "(3,)", &[0, 1]), "3 truth values end at byte");
        refused(npy("|b1", false, "(3,)", &[0, 1, 0, 0]), "3 truth values end at byte");
        refused(npy("|b1", false, "(3,)", &[0, 2, 0]), "2 is not a truth value");
        refused(npy("|b1", false, &format!("({}, 2)", usize::MAX), &[0, 1, 0]), "truth values");
        let table = reader(&[("a.mask.npy", npy("|b1", false, "(3, 1)", &[0, 1, 0])), ("a.npy", values())]);
        let table = { table }.load_all_columns().unwrap();
        assert_eq!(optional::<u8>(&table, 0), [Some(1), None, Some(3)]);
        for (all, expected) in [(0, [Some(1), Some(2), Some(3)]), (1, [None; 3])] {
            let nomask = npy("|b1", false, "()", &[all]);
            let table = reader(&[("a.npy", values()), ("a.mask.npy", nomask)]).load_all_columns().unwrap();
            assert_eq!(optional::<u8>(&table, 0), expected, "numpy.ma.nomask");
        }
    }

    #[test]
    fn an_array_with_a_mask_is_read_with_nan_and_never_with_what_is_masked() {
        let floats = [1.5_f32, 2.5, 3.5, 4.5, 5.5, 6.5];
        let bytes: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
        for (is_fortran, mask_is_fortran) in [(false, false), (false, true), (true, false), (true, true)] {
            let flags = [0, 0, 0, 0, 0, 1]; // in row 1, column 2, in both orders
            let x = npy("<f4", is_fortran, "(2, 3)", &bytes);
            let mask = npy("|b1", mask_is_fortran, "(2, 3)", &flags);
            let mut file = reader(&[("x.npy", x), ("x.mask.npy", mask)]);
            for table in [file.load::<f32>("x").unwrap(), file.load_cast::<f32>("x").unwrap()] {
                assert!(table.value::<f32>(1, 2).unwrap().is_nan());
                assert!(table.rows::<f32>(0..1).unwrap().iter().all(|value| !value.is_nan()));
            }
            assert!(file.load_any("x").unwrap().value::<f64>(1, 2).unwrap().is_nan());
            assert_error!(file.load_cast::<i32>("x"), ErrorKind::MissingValue { row: 1, column: 2 });
        }
        let flags = [0, 1, 0, 0, 0, 0]; // by columns: row 1, column 0; by rows: row 0, column 1
        let numbers = || npy("|i1", false, "(2, 3)", &[1, 2, 3, 4, 5, 6]);
        let masked =
            |is_fortran| reader(&[("x.npy", numbers()), ("x.mask.npy", npy("|b1", is_fortran, "(2, 3)", &flags))]);
        assert_error!(masked(true).load::<i8>("x"), ErrorKind::MissingValue { row: 1, column: 0 });
        assert_error!(masked(false).load_any("x"), ErrorKind::MissingValue { row: 0, column: 1 }, "load_columns");
        assert!(masked(true).load_cast::<f64>("x").unwrap().value::<f64>(1, 0).unwrap().is_nan());
        // An array of another type only shares the name. A mask of another shape is an error, and so is a damaged one.
        for other in [npy("|u1", false, "(2, 3)", &flags), npy("<f8", false, "(1, 1, 1)", &[0; 8])] {
            let table = reader(&[("x.npy", numbers()), ("x.mask.npy", other)]).load::<i8>("x").unwrap();
            assert_eq!(table.as_slice().unwrap(), [1, 2, 3, 4, 5, 6]);
        }
        for wrong in
            [npy("|b1", false, "(6,)", &flags), npy("|b1", false, "(2, 3)", &flags[1..]), b"\x93NUMPY".to_vec()]
        {
            let error = reader(&[("x.npy", numbers()), ("x.mask.npy", wrong)]).load::<i8>("x").unwrap_err();
            assert_error!(Err::<(), _>(error), ErrorKind::Format { .. }, "x.mask.npy");
        }
        let all = || reader(&[("x.npy", numbers()), ("x.mask.npy", npy("|b1", false, "()", &[1]))]);
        assert_error!(all().load::<i8>("x"), ErrorKind::MissingValue { row: 0, column: 0 });
        assert!(all().load_cast::<f32>("x").unwrap().as_slice().unwrap().iter().all(|value| value.is_nan()));
    }

    #[test]
    fn an_array_of_structures_with_a_mask_is_refused_by_name() {
        for records in ["[('a', '|u1'), ('b', '|i1')]", "[('a', '|u1'), ('b', '|u1')]"] {
            let values = || described(records, false, "(2,)", &[1, 2, 3, 4]);
            let truths = described("[('a', '|b1'), ('b', '|b1')]", false, "(2,)", &[0, 1, 0, 0]);
            for mask in [npy("|b1", false, "(2,)", &[0, 1]), truths] {
                let error = reader(&[("x.npy", values()), ("x.mask.npy", mask)]).load_any("x").unwrap_err();
                let text = error.to_string();
                assert!(matches!(error.kind(), ErrorKind::Unsupported { .. }), "{text}");
                assert!(text.contains("\"x\"") && text.contains("x.mask"), "{text}");
            }
            // Numbers only share the name.
            let other = npy("|u1", false, "(2,)", &[0, 1]);
            let table = reader(&[("x.npy", values()), ("x.mask.npy", other)]).load_any("x").unwrap();
            assert_eq!(table.rows::<i32>(..).unwrap()[..], [1, 2, 3, 4]);
        }
    }

    #[test]
    fn arrays_of_several_columns_refuse_gaps_by_name_or_get_nan() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arrays.npz");
        let mut mixed = floats();
        mixed.push_column("c", vec![1_u8, 2, 3]).unwrap();
        let mut counts = one([Some(1_u8), None, Some(3)]);
        counts.push_column("c", vec![0.5_f32; 3]).unwrap();
        let mut writer = NpzWriter::create(&path).unwrap();
        for table in [&floats() as &dyn NumericTable, &mixed] {
            for result in [writer.add("x", table).map(drop), writer.add_records("x", table).map(drop)] {
                assert_error!(
                    result,
                    ErrorKind::Unsupported { row: Some(2), column: Some(0), .. },
                    "SaveOptions::missing_to_nan"
                );
            }
        }
        writer.add("full", &*floats().select_rows(0..2).unwrap()).unwrap();
        writer.finish().unwrap();
        assert_error!(npz::save(&path, &[("x", &floats())]), ErrorKind::Unsupported { .. });
        assert!(NpzReader::open(&path).unwrap().names().eq(["full"]), "the old file stays");

        let nan = || NpzOptions::new().save(SaveOptions::new().missing_to_nan(true));
        npz::save_with(&path, &[("x", &floats()), ("mixed", &mixed)], nan()).unwrap();
        let mut file = NpzReader::open(&path).unwrap();
        assert!(file.load::<f64>("x").unwrap().value::<f64>(2, 0).unwrap().is_nan());
        assert!(file.load_any("mixed").unwrap().value::<f64>(2, 0).unwrap().is_nan());
        assert_error!(
            npz::save_with(&path, &[("x", &counts)], nan()),
            ErrorKind::Unsupported { row: Some(1), column: Some(0), .. }
        );
    }
}

#[test]
fn a_sparse_table_is_read_as_a_type_and_has_nan_or_refuses() {
    use numeric_table::CsrNumericTable;
    use test_support::tables::assert_error;
    let counts = one([Some(0_i64), None, Some(3)]);
    assert_error!(CsrNumericTable::from_dense::<i64>(&counts), ErrorKind::MissingValue { row: 1, column: 0 });
    let sparse = CsrNumericTable::from_dense::<f64>(&counts).unwrap();
    assert!(sparse.value::<f64>(1, 0).unwrap().is_nan());
    #[cfg(feature = "sparse-files")]
    {
        let mut text = Vec::new();
        sparse.write_mtx(&mut text).unwrap();
        assert_eq!(text, b"%%MatrixMarket matrix coordinate real general\n3 1 2\n2 1 NaN\n3 1 3\n");
    }
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_views_show_nan_or_refuse() {
    use test_support::tables::assert_error;
    let table = floats();
    let block = table.rows::<f64>(..).unwrap();
    let array = block.as_ndarray().unwrap();
    assert!(array[(2, 0)].is_nan() && array[(0, 1)].is_nan() && array[(2, 1)] == 5.5);
    assert!(!block.is_zero_copy());
    assert_error!(one([Some(1_i32), None]).rows::<i32>(..), ErrorKind::MissingValue { row: 1, column: 0 });
    assert_error!(table.column_slice::<f64>(0), ErrorKind::MissingValue { row: 2, column: 0 });
}
