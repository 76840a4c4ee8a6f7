//! Sparse tables: files of other programs.
//!
//! The golden files in `data/golden/sparse` were made by SciPy and scikit-learn, with the script that lies there.

#[cfg(any(feature = "sparse-files", feature = "npz"))]
mod golden_files;
#[cfg(feature = "sparse-files")]
mod matrix_market;
#[cfg(feature = "npz")]
mod npz;
#[cfg(all(feature = "sparse-files", feature = "npz"))]
mod python;
#[cfg(feature = "sparse-files")]
mod svmlight;

use numeric_table::{CsrNumericTable, prelude::*};

/// Offsets, indices and values of a table of `T`.
type Parts<T> = (Vec<usize>, Vec<usize>, Vec<T>);

fn parts_of<T: Element>(table: &CsrNumericTable) -> Parts<T> {
    let values = table.values_slice::<T>().unwrap().to_vec();
    (table.offsets().iter().collect(), table.indices().iter().collect(), values)
}

/// All cells, row by row.
#[cfg(feature = "sparse-files")]
fn dense(table: &CsrNumericTable) -> Vec<f64> {
    table.rows::<f64>(..).unwrap().to_vec()
}

/// Four rows and five columns, the second row and the last column empty: the matrix of the golden files.
#[cfg(any(feature = "sparse-files", feature = "npz"))]
fn golden<T: test_support::SmallNumber>() -> CsrNumericTable {
    let (offsets, indices) = (vec![0_i32, 2, 2, 3, 5], vec![0_i32, 3, 1, 0, 2]);
    let values: Vec<T> = (1..=5).map(T::small).collect();
    CsrNumericTable::try_new(Shape { rows: 4, columns: 5 }, offsets, indices, values).unwrap()
}

/// The message of an error, without a path.
#[cfg(any(feature = "sparse-files", feature = "npz"))]
#[track_caller]
fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(error) => error.to_string(),
    }
}
