//! Files that go to SciPy and scikit-learn and come from them, if there are any.

use std::fs;
use std::process::Command;

use numeric_table::{
    CsrNumericTable,
    prelude::*,
    sparse::{LabeledRows, SvmlightIndices, SvmlightOptions},
};
use test_support::SmallNumber;

use super::{golden, parts_of};

/// Runs a script. Returns what it prints, or nothing if a package is missing. The environment variable
/// `NUMERIC_TABLE_PYTHON` names another interpreter than `python3`.
fn run(package: &str, script: &str, arguments: &[&str]) -> Option<String> {
    let python = std::env::var("NUMERIC_TABLE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", &format!("import {package}")]).output();
    if !found.is_ok_and(|run| run.status.success()) {
        println!("skipped: {python} has no {package}");
        return None;
    }
    let run = Command::new(&python).args(["-c", script]).args(arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8(run.stdout).unwrap())
}

#[test]
fn scipy_loads_what_is_written() {
    const SCRIPT: &str = "
import sys
from scipy import io, sparse
for path in sys.argv[1:]:
    m = sparse.load_npz(path) if path.endswith('npz') else io.mmread(path).tocsr()
    assert m.format == 'csr' and m.has_canonical_format
    print(m.dtype, m.shape, m.indptr.tolist(), m.indices.tolist(), m.data.tolist())
";
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut expected) = (Vec::new(), Vec::new());
    let mut add = |name: String, line: String| {
        paths.push(folder.path().join(name).to_str().unwrap().to_owned());
        expected.push(line);
        paths.last().unwrap().clone()
    };
    fn check<T: SmallNumber>(add: &mut impl FnMut(String, String) -> String, numpy: &str) {
        let line = |numpy: &str| {
            let values = if numpy.starts_with('f') { "[1.0, 2.0, 3.0, 4.0, 5.0]" } else { "[1, 2, 3, 4, 5]" };
            format!("{numpy} (4, 5) [0, 2, 2, 3, 5] [0, 3, 1, 0, 2] {values}")
        };
        let table = golden::<T>();
        table.save_npz(add(format!("{numpy}.npz"), line(numpy))).unwrap();
        let field = if numpy.starts_with('f') { "float64" } else { "int64" };
        table.save_mtx(add(format!("{numpy}.mtx"), line(field))).unwrap();
    }
    check::<f32>(&mut add, "float32");
    check::<f64>(&mut add, "float64");
    check::<i8>(&mut add, "int8");
    check::<u16>(&mut add, "uint16");
    check::<i64>(&mut add, "int64");
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    if let Some(printed) = run("scipy", SCRIPT, &paths) {
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn what_scipy_saves_is_loaded() {
    const SCRIPT: &str = "
import os, sys, numpy as np
from scipy import io, sparse
random = np.random.default_rng(7)
for number in range(6):
    m = sparse.random(30 + number, 17, 0.1 * number, 'csr', rng=random)
    path = os.path.join(sys.argv[1], str(number))
    sparse.save_npz(path + '.npz', m if number % 2 else m.tocsc(), compressed=number % 3 != 0)
    io.mmwrite(path + '.mtx', m, precision=17)
    print(path, *m.shape, ','.join(value.hex() for value in m.toarray().ravel().tolist()))
";
    let folder = tempfile::tempdir().unwrap();
    let Some(printed) = run("scipy", SCRIPT, &[folder.path().to_str().unwrap()]) else { return };
    assert_eq!(printed.lines().count(), 6);
    for line in printed.lines() {
        let [path, rows, columns, cells] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let npz = CsrNumericTable::load_npz(format!("{path}.npz")).unwrap();
        let mtx = CsrNumericTable::load_mtx::<f64>(format!("{path}.mtx")).unwrap();
        let expected = Shape { rows: rows.parse().unwrap(), columns: columns.parse().unwrap() };
        assert_eq!([npz.shape(), mtx.shape()], [expected; 2]);
        assert_eq!(parts_of::<f64>(&npz), parts_of::<f64>(&mtx));
        let hex = |value: &f64| match *value {
            0.0 => "0x0.0p+0".to_owned(),
            // Python's `float.hex` of a positive normal number.
            value => {
                let bits = value.to_bits();
                format!("0x1.{:013x}p{:+}", bits & ((1 << 52) - 1), (bits >> 52) as i64 - 1023)
            }
        };
        let found: Vec<String> = npz.rows::<f64>(..).unwrap().iter().map(hex).collect();
        assert_eq!(found.join(","), cells);
    }
}

#[test]
fn scikit_learn_and_this_library_say_the_same_of_svmlight_files() {
    const SCRIPT: &str = "
import sys
from sklearn.datasets import load_svmlight_file
for path in sys.argv[1:]:
    for zero_based in [True, False, 'auto']:
        try:
            x, y, q = load_svmlight_file(path, zero_based=zero_based, query_id=True)
            print(x.shape, x.indptr.tolist(), x.indices.tolist(), x.data.tolist(), y.tolist(), q.tolist())
        except ValueError:
            print('refused')
";
    let texts = [
        "1 1:2 3:4\n-1 2:0.5\n",
        "1 0:2 3:4\n# comment\n\n-1 2:0.5 # more\n",
        "1 qid:3 1:2\n2 qid:4 1:1e-3\n",
        "1 3:2 1:4\n",
        "1 1:2 1:4\n",
        "1 1:a\n",
        "x 1:2\n",
        "1 2\n",
        "1 -1:2\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let path = folder.path().join(format!("{number}.svm"));
        fs::write(&path, text).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
    }
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    let Some(printed) = run("sklearn", SCRIPT, &arguments) else { return };
    let mut lines = printed.lines();
    for (path, text) in paths.iter().zip(texts) {
        for indices in [SvmlightIndices::FromZero, SvmlightIndices::FromOne, SvmlightIndices::Automatic] {
            let read = LabeledRows::load_with::<f64>(path, SvmlightOptions::new().indices(indices));
            let told = match read {
                Err(_) => "refused".to_owned(),
                Ok(data) => {
                    let (table, (offsets, indices, values)) = (&data.features, parts_of::<f64>(&data.features));
                    let labels = data.labels.array().unwrap().to_vec();
                    let queries = data.queries.map(|queries| queries.to_vec()).unwrap_or_default();
                    let Shape { rows, columns } = table.shape();
                    format!("({rows}, {columns}) {offsets:?} {indices:?} {values:?} {labels:?} {queries:?}")
                }
            };
            assert_eq!(lines.next(), Some(&told[..]), "{text:?} {indices:?}");
        }
    }
}
