//! Files that go to Python's NumPy and come from it, if there is one.

use numeric_table::prelude::*;
use numeric_table::{
    AnyArray, AosNumericTable, SoaNumericTable,
    npz::{NpzReader, NpzWriter},
    table::RecordLayout,
};
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, shape, values_of};

use super::options;
use crate::numpy::run_numpy;
use crate::{Table, bytes_of, has_no_bf16, numpy_name};

#[test]
fn numpy_loads_what_is_written_bit_for_bit() {
    const SCRIPT: &str = "
import sys, zipfile, numpy as np
for path in sys.argv[1:]:
    assert zipfile.ZipFile(path).testzip() is None
    with np.load(path) as file:
        for name in file.files:
            a = file[name]
            if a.dtype.names: # padding is not copied
                print(name, a.dtype.itemsize, *(f'{field}={a[field].tolist()}' for field in a.dtype.names))
            else:
                print(name, a.dtype.str, *a.shape, 'x' + a.tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut expected) = (Vec::new(), Vec::new());
    for is_compressed in [false, true] {
        let path = folder.path().join(format!("{is_compressed}.npz"));
        let mut writer = NpzWriter::create_with(&path, options().compressed(is_compressed)).unwrap();
        for_each_element!(T => if has_no_bf16::<T>() {
            for (index, layout) in LAYOUTS.into_iter().enumerate() {
                let table = Table::from_array_with_layout(special_values::<T>()[..9].to_vec(), shape(3, 3), layout).unwrap();
                let (array, order) = (format!("größe/{}{index}", T::TYPE), if size_of::<T>() == 1 { "|" } else { "<" });
                writer.add(&array, &table).unwrap();
                let hex: String = bytes_of(&values_of(&table)).iter().map(|byte| format!("{byte:02x}")).collect();
                expected.push(format!("{array} {order}{} 3 3 x{hex}", numpy_name::<T>()));
            }
        });
        let columns = [("a", AnyArray::from(vec![1_u8, 2])), ("長さ", AnyArray::from(vec![0.5_f32, -0.5]))];
        let soa = SoaNumericTable::from_columns(columns).unwrap();
        writer.add_columns(&soa).unwrap().add_records("records", &soa).unwrap();
        let layout = RecordLayout::new(8).field("v[0]", ElementType::I16, 2).unwrap();
        let layout = layout.field("v[1]", ElementType::I16, 4).unwrap();
        let mut aos = AosNumericTable::zeros(&layout, 1).unwrap();
        aos.set_value(0, 1, 7).unwrap();
        writer.add_records("aos", &aos).unwrap();
        writer.finish().unwrap();
        expected.extend(["a |u1 2 x0102", "長さ <f4 2 x0000003f000000bf"].map(str::to_owned));
        expected.extend(["records 8 a=[1, 2] 長さ=[0.5, -0.5]", "aos 8 v=[[0, 7]]"].map(str::to_owned));
        paths.push(path);
    }
    let arguments: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    if let Some(printed) = run_numpy(SCRIPT, &arguments) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_numpy_saves_is_loaded_bit_for_bit() {
    const SCRIPT: &str = "
import os, sys, numpy as np
random = np.random.default_rng(7)
arrays = {}
for name in 'f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8'.split():
    for order in '<>':
        dtype = np.dtype(order + name)
        a = np.frombuffer(random.bytes(40 * dtype.itemsize), dtype).reshape(8, 5)
        for kind, b in enumerate([a, a.T, a[3], a[:0]]):
            arrays[f'{name}{ord(order)}/{kind}'] = b
for save in [np.savez, np.savez_compressed]:
    save(os.path.join(sys.argv[1], save.__name__ + '.npz'), **arrays)
for name, b in arrays.items():
    rows, columns = b.shape if b.ndim == 2 else (len(b), 1)
    unsigned = np.ascontiguousarray(b).view(b.dtype.str.replace('f', 'u')) # no conversion of floats
    print(name, rows, columns, 'x' + unsigned.astype(unsigned.dtype.newbyteorder('<')).tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = run_numpy(SCRIPT, &[folder.path().to_str().unwrap()]) else { return };
    for file in ["savez.npz", "savez_compressed.npz"] {
        let mut file = NpzReader::open(folder.path().join(file)).unwrap();
        assert_eq!((file.len(), printed.lines().count()), (88, 88));
        for line in printed.lines() {
            let [name, rows, columns, hex] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let expected = shape(rows.parse().unwrap(), columns.parse().unwrap());
            let described = file.describe(name).unwrap();
            assert_eq!(described.shape, expected, "{name}");
            let table = file.load_any(name).unwrap();
            assert_eq!((table.shape(), table.uniform_type()), (expected, described.dictionary.uniform_type()));
            let mut found = String::from("x");
            for_each_element!(T => if let Some(table) = table.downcast_ref::<Table<T>>() {
                for value in values_of(table) {
                    let mut bytes = bytes_of(&[value]).to_vec();
                    if cfg!(target_endian = "big") {
                        bytes.reverse();
                    }
                    found.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
                }
            });
            assert_eq!(found, hex, "{name}");
        }
    }
}
