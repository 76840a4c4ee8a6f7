//! Files that go to Python's NumPy and come from it, if there is one.

use std::fs;
use std::process::Command;

use numeric_table::npy;
use numeric_table::prelude::*;
use test_support::bits::special_values;
use test_support::for_each_element;
use test_support::tables::{LAYOUTS, shape, values_of};

use super::{Table, bytes_of, has_no_bf16, numpy_name, write};

/// Runs a script. Returns what it prints, or nothing if there is no NumPy. The environment variable
/// `NUMERIC_TABLE_PYTHON` names another interpreter than `python3`.
pub(super) fn run_numpy(script: &str, arguments: &[&str]) -> Option<String> {
    let python = std::env::var("NUMERIC_TABLE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_numpy = Command::new(&python).args(["-c", "import numpy"]).output().is_ok_and(|run| run.status.success());
    if !has_numpy {
        println!("skipped: {python} has no NumPy");
        return None;
    }
    let run = Command::new(&python).args(["-c", script]).args(arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8(run.stdout).unwrap())
}

#[test]
fn numpy_loads_what_is_written_bit_for_bit() {
    const SCRIPT: &str = "
import sys, numpy as np
for path in sys.argv[1:]:
    a, m = np.load(path), np.load(path, mmap_mode='r')
    assert a.tobytes() == m.tobytes() and a.dtype == m.dtype and a.flags.aligned and m.flags.aligned
    print(a.dtype.str, a.flags.c_contiguous, a.flags.f_contiguous, *a.shape, 'x' + a.tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut expected) = (Vec::new(), Vec::new());
    let mut save = |bytes: Vec<u8>, line: String| {
        let path = folder.path().join(format!("{}.npy", paths.len()));
        fs::write(&path, bytes).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
        expected.push(line);
    };
    for_each_element!(T => {
        if has_no_bf16::<T>() {
            for layout in LAYOUTS {
                let values = special_values::<T>()[..9].to_vec();
                let table = Table::from_array_with_layout(values, shape(3, 3), layout).unwrap();
                let order = if size_of::<T>() == 1 { "|" } else { "<" };
                let name = format!("{order}{}", numpy_name::<T>());
                let is_c = layout == DataLayout::RowMajor;
                for rows in [0..3, 1..3, 0..0] {
                    let slice = table.slice_rows(rows.clone()).unwrap();
                    let hex: String = bytes_of(&values_of(&slice)).iter().map(|byte| format!("{byte:02x}")).collect();
                    let both = rows.is_empty();
                    let [c, f] = [is_c || both, !is_c || both].map(|is| if is { "True" } else { "False" });
                    save(write(&slice), format!("{name} {c} {f} {} 3 x{hex}", rows.len()));
                }
            }
        }
    });
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    if let Some(printed) = run_numpy(SCRIPT, &arguments) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_numpy_saves_is_loaded_bit_for_bit() {
    const SCRIPT: &str = "
import os, sys, numpy as np
random = np.random.default_rng(7)
for name in 'f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8'.split():
    for order in '<>':
        dtype = np.dtype(order + name)
        a = np.frombuffer(random.bytes(40 * dtype.itemsize), dtype).reshape(8, 5)
        kinds = [a, a.T, a[2:7, 1:4], a[::2, ::-1], a[3], a[:, :1], a[:0], a[:, 4]]
        for kind, b in enumerate(kinds):
            path = os.path.join(sys.argv[1], f'{name}{ord(order)}{kind}.npy')
            np.save(path, b)
            rows, columns = b.shape if b.ndim == 2 else (len(b), 1)
            big = b.astype(b.dtype.newbyteorder('<')) if name[0] != 'f' else b.view('V' + name[1]) if order == '<' \\
                else np.ascontiguousarray(b).view(dtype.str.replace('f', 'u')).astype('<u' + name[1])
            print(path, rows, columns, 'x' + big.tobytes('C').hex())
";
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = run_numpy(SCRIPT, &[folder.path().to_str().unwrap()]) else { return };
    let mut count = 0;
    for line in printed.lines() {
        let [path, rows, columns, hex] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let table = npy::load(path).unwrap();
        assert_eq!(table.shape(), shape(rows.parse().unwrap(), columns.parse().unwrap()), "{path}");
        let found: String = for_each_value_hex(&*table);
        assert_eq!(format!("x{found}"), hex, "{path}");
        count += 1;
    }
    assert_eq!(count, 11 * 2 * 8);
}

/// The little-endian bytes of all values, row by row.
fn for_each_value_hex(table: &dyn NumericTable) -> String {
    let mut hex = String::new();
    for_each_element!(T => {
        if let Some(table) = table.downcast_ref::<Table<T>>() {
            for value in values_of(table) {
                let mut bytes = bytes_of(&[value]).to_vec();
                if cfg!(target_endian = "big") {
                    bytes.reverse();
                }
                hex.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
            }
        }
    });
    hex
}
