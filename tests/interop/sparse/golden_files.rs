//! Files that SciPy and scikit-learn have made.

use std::path::{Path, PathBuf};

use numeric_table::{CsrNumericTable, prelude::*};
use test_support::SmallNumber;

use super::{golden, message, parts_of};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/golden/sparse").join(name)
}

#[track_caller]
fn assert_golden<T: SmallNumber>(table: &CsrNumericTable, name: &str) {
    assert_eq!(table.shape(), Shape { rows: 4, columns: 5 }, "{name}");
    assert_eq!(parts_of::<T>(table), parts_of::<T>(&golden::<T>()), "{name}");
}

#[cfg(feature = "npz")]
mod npz {
    use super::*;

    fn load(name: &str) -> CsrNumericTable {
        CsrNumericTable::load_npz(path(name)).unwrap()
    }

    #[test]
    fn a_matrix_of_every_type_is_read_in_that_type() {
        fn check<T: SmallNumber>(name: &str) {
            let name = format!("csr_{name}.npz");
            let table = load(&name);
            assert_golden::<T>(&table, &name);
            assert_eq!(table.indices().element_type(), ElementType::I32);
        }
        check::<f32>("f4");
        check::<f64>("f8");
        check::<i8>("i1");
        check::<i16>("i2");
        check::<i32>("i4");
        check::<i64>("i8");
        check::<u8>("u1");
        check::<u16>("u2");
        check::<u32>("u4");
        check::<u64>("u8");
    }

    #[test]
    fn stored_big_endian_and_transposed_matrices_are_the_same() {
        for name in ["csr_stored.npz", "csr_big_endian.npz", "csr_array.npz", "csc.npz", "csr_wide_indices.npz"] {
            assert_golden::<f64>(&load(name), name);
        }
        assert_eq!(load("csr_wide_indices.npz").indices().element_type(), ElementType::I64);
    }

    #[test]
    fn indices_are_sorted_and_cells_that_occur_twice_are_summed() {
        let table = load("csr_unsorted.npz");
        assert_eq!(parts_of::<f64>(&table), (vec![0, 2, 2, 3, 4], vec![0, 3, 1, 2], vec![2.0, 1.0, 3.0, 9.0]));
    }

    #[test]
    fn what_a_sparse_table_cannot_hold_is_refused_by_name() {
        for (name, reason) in [
            ("refused_coo.npz", "the format is \"coo\", but only csr and csc can be read; in Python: a.tocsr()"),
            ("refused_bool.npz", "in \"data.npy\": the type '|b1' is not supported by tables: truth values"),
            ("refused_complex.npz", "in \"data.npy\": the type '<c16' is not supported by tables: complex numbers"),
            ("refused_no_matrix.npz", "the member \"format.npy\" is missing"),
        ] {
            let message = message(CsrNumericTable::load_npz(path(name)));
            assert!(message.contains(reason) && message.contains(name), "{message}");
        }
    }
}

#[cfg(feature = "sparse-files")]
mod text {
    use numeric_table::sparse::{LabeledRows, SvmlightIndices, SvmlightOptions};

    use super::super::dense;
    use super::*;

    fn load<T: Element>(name: &str) -> CsrNumericTable {
        CsrNumericTable::load_mtx::<T>(path(name)).unwrap()
    }

    #[test]
    fn matrix_market_files_of_every_field_are_read() {
        assert_golden::<f64>(&load::<f64>("real.mtx"), "real.mtx");
        assert_golden::<i8>(&load::<i8>("integer.mtx"), "integer.mtx");
        assert_golden::<u16>(&load::<u16>("unsigned.mtx"), "unsigned.mtx");
        assert_golden::<f32>(&load::<f32>("array.mtx"), "array.mtx");
        let pattern = load::<u8>("pattern.mtx");
        assert_eq!(parts_of::<u8>(&pattern), (vec![0, 2, 2, 3, 5], vec![0, 3, 1, 0, 2], vec![1; 5]));
    }

    #[test]
    fn symmetric_files_become_both_halves() {
        let symmetric = [1.5, 0.0, 2.0, 0.0, 0.0, -3.0, 2.0, -3.0, 4.0];
        let skew = [0.0, 0.0, -2.5, 0.0, 0.0, 3.0, 2.5, -3.0, 0.0];
        for (name, expected) in [
            ("symmetric.mtx", symmetric),
            ("array_symmetric.mtx", symmetric),
            ("skew.mtx", skew),
            ("array_skew.mtx", skew),
        ] {
            assert_eq!(dense(&load::<f64>(name)), expected, "{name}");
        }
    }

    #[test]
    fn complex_and_hermitian_files_are_refused_by_name() {
        let complex = message(CsrNumericTable::load_mtx::<f64>(path("refused_complex.mtx")));
        assert!(complex.ends_with(
            r#"line 1, byte 34: "complex" values are not supported by tables: save the real and the imaginary part"#
        ));
        assert!(message(CsrNumericTable::load_mtx::<f64>(path("refused_hermitian.mtx"))).contains("\"complex\""));
    }

    #[test]
    fn svmlight_files_of_scikit_learn_are_read() {
        let labels = [1.0, -1.0, 0.5, 2.0];
        let with = |name: &str, indices| {
            let options = SvmlightOptions::new().column_count(5).indices(indices);
            LabeledRows::load_with::<f64>(path(name), options).unwrap()
        };
        for (name, indices) in [
            ("from_one.svm", SvmlightIndices::FromOne),
            ("from_one.svm", SvmlightIndices::Automatic),
            ("from_zero.svm", SvmlightIndices::FromZero),
            ("from_zero.svm", SvmlightIndices::Automatic),
            ("queries.svm", SvmlightIndices::FromOne),
        ] {
            let data = with(name, indices);
            assert_golden::<f64>(&data.features, name);
            assert_eq!(data.labels.array().unwrap()[..], labels, "{name}");
            let queries = data.queries.map(|queries| queries.to_vec());
            assert_eq!(queries, (name == "queries.svm").then(|| vec![7, 7, -8, 9]));
        }
        assert!(LabeledRows::load::<f64>(path("from_zero.svm")).is_err());
    }

    #[test]
    fn sets_of_labels_are_read() {
        let data =
            LabeledRows::load_with::<f64>(path("sets.svm"), SvmlightOptions::new().column_count(5).multilabel(true))
                .unwrap();
        assert_golden::<f64>(&data.features, "sets.svm");
        let labels: Vec<&[f64]> = (0..4).map(|row| data.labels.row(row)).collect();
        assert_eq!(labels, [&[0.0, 2.0][..], &[1.0], &[], &[0.0, 1.0, 2.0]]);
    }
}
