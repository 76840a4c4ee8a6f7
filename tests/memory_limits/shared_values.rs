//! What shares the values of a table with another library takes no memory that grows with the table.
//!
//! The large table is smaller than what the library takes from the system directly, so that a copy would be counted.

use ndarray::Array2;
use numeric_table::{interop::CopyPolicy, prelude::*};
use test_support::test_name;

use super::counting::measured;

/// Set in the process that the test runs in.
const CHILD: &str = "NUMERIC_TABLE_SHARED_VALUES_TEST";

const ROWS: [usize; 2] = [10, 100_000];

/// Makes a call on a small and on a large table; both must take the same memory, and little.
fn check<I>(call: &str, make: impl Fn(Shape) -> I, pass: impl Fn(I)) {
    let peaks = ROWS.map(|rows| {
        let input = make(Shape { rows, columns: 4 });
        measured(&|| call.to_owned(), || pass(input)).1
    });
    // The numbers in a header may be longer, or shorter.
    assert!(peaks[0].abs_diff(peaks[1]) < 64 && peaks[1] < 16 << 10, "{call}: {peaks:?} bytes");
}

fn table(layout: DataLayout) -> impl Fn(Shape) -> HomogenNumericTable<f32> {
    move |shape| HomogenNumericTable::full_with_layout(shape, 1.5, layout).unwrap()
}

#[test]
fn what_is_not_copied_takes_no_memory_that_grows_with_the_table() {
    // In a process of its own, where the test harness allocates nothing meanwhile: few bytes are counted here.
    if std::env::var_os(CHILD).is_none() {
        let test = test_name!("what_is_not_copied_takes_no_memory_that_grows_with_the_table");
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert!(output.status.success() && printed[0].contains("1 passed"), "{}", printed.concat());
        return;
    }
    let rows = table(DataLayout::RowMajor);
    let array = |shape: Shape| Array2::from_elem((shape.rows, shape.columns), 1.5_f32);

    // What a copy would take is seen.
    let (_, copy, _) =
        measured(&|| "copy".to_owned(), || rows(Shape { rows: ROWS[1], columns: 4 }).to_ndarray().unwrap());
    assert!(copy >= ROWS[1] * 16, "{copy} bytes");

    check("a view as an ndarray", &rows, |table| assert!(table.view().unwrap().as_ndarray().is_ok()));
    check("a table from an ndarray", array, |array| drop(HomogenNumericTable::from_ndarray(array).unwrap()));
    check(
        "a table from a shared ndarray",
        |shape| (array(shape).into_shared(), array(shape).into_shared()),
        |(one, other)| drop((HomogenNumericTable::from_ndarray(one.clone()).unwrap(), one, other)),
    );
    check(
        "an ndarray from a table",
        |shape| HomogenNumericTable::from_ndarray(array(shape)).unwrap(),
        |table| drop(table.try_into_ndarray().unwrap()),
    );
    let file = |shape: Shape| {
        let mut bytes = Vec::new();
        rows(shape).write_npy(&mut bytes).unwrap();
        Array::copy_of(&bytes).unwrap()
    };
    check("a table from an .npy file in memory", file, |bytes| {
        drop(HomogenNumericTable::<f32>::from_npy(bytes, CopyPolicy::Never).unwrap());
    });

    #[cfg(feature = "mmap")]
    check(
        "a table on a mapped .npy file",
        |shape| {
            let file = tempfile::NamedTempFile::new().unwrap();
            rows(shape).save_npy(file.path()).unwrap();
            file
        },
        // SAFETY: nobody else knows the file, and nobody writes to it.
        |file| drop(unsafe { HomogenNumericTable::<f32>::map_npy_with(file.path(), CopyPolicy::Never) }.unwrap()),
    );
}
