//! Results of all rows: the same bits, whoever computes them.

use numeric_table::{Partial, prelude::*, shards::Shards};
use test_support::{SmallNumber, for_each_element};

use crate::manifests::by_hand;
use crate::support::{Trace, counted_parts, counting, fast, folded, in_columns, save_parts, text};

/// Files of so many bytes that they have several units, which are computed in parallel; and small ones among them.
fn large(folder: &std::path::Path) -> Shards {
    for (index, rows) in [3, 1_500_000, 0, 700, 1_000_000].into_iter().enumerate() {
        let values: Vec<u8> = (0..rows * 5).map(|value| (value * 7 % 251) as u8).collect();
        let table = Table::from_array(values, Shape { rows, columns: 5 }).unwrap();
        let table = if index == 4 { table.to_layout(DataLayout::ColumnMajor).unwrap() } else { table };
        table.save_with(folder.join(format!("{index}.ntb")), fast()).unwrap();
    }
    Shards::open(folder).unwrap()
}

#[test]
fn a_result_is_that_of_each_file_merged_in_order_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let shards = large(folder.path());
    let expected = folded(&shards);
    assert_eq!(expected.rows, 2_500_703);
    assert_eq!(shards.reduce(&Trace::default()).unwrap(), expected);
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| shards.reduce(&Trace::default())).unwrap(), expected);
    }
    #[cfg(feature = "mmap")]
    {
        // SAFETY: nobody else knows the files.
        assert_eq!(unsafe { shards.reduce_mapped(&Trace::default()) }.unwrap(), expected);
    }
    // What the prototype has counted already does not matter.
    assert_eq!(shards.reduce(&Trace { rows: 7, sum: 1.0, tree: 3 }).unwrap(), expected);
}

#[test]
fn the_result_of_a_file_is_that_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let shards = large(folder.path());
    for (shard, file) in shards.files().enumerate() {
        let table = files::load(file.path).unwrap();
        let expected = Trace::default().compute_over(&*table).unwrap();
        assert_eq!(shards.reduce_shard(shard, &Trace::default()).unwrap(), expected);
    }
    let past = shards.reduce_shard(5, &Trace::default());
    assert!(past.as_ref().is_err_and(|error| matches!(
        error.kind(),
        ErrorKind::OutOfRange { what: "shards", range, count: 5, .. } if range.start == 5
    )));
}

#[test]
fn files_of_every_element_type_are_reduced() {
    fn check<T: SmallNumber>() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::from_array(T::counting(12), Shape { rows: 4, columns: 3 }).unwrap();
        table.save_with(folder.path().join("a.ntb"), fast()).unwrap();
        let found = Shards::open(folder.path()).unwrap().reduce(&Trace::default()).unwrap();
        assert_eq!((found.rows, found.sum.round()), (4, 7.0)); // 66 tenths
    }
    for_each_element!(check);
}

#[test]
fn small_and_empty_shapes_are_reduced() {
    for (parts, columns) in [(&[0][..], 0), (&[0], 3), (&[4], 0), (&[1], 1), (&[0, 0, 2, 0], 2), (&[1; 300], 1)] {
        let folder = tempfile::tempdir().unwrap();
        counted_parts(folder.path(), parts, columns);
        let shards = Shards::open(folder.path()).unwrap();
        let found = shards.reduce(&Trace::default()).unwrap();
        assert_eq!(found, folded(&shards));
        assert_eq!(found.rows, parts.iter().sum::<usize>() as u64);
    }
}

#[test]
fn other_kinds_of_tables_are_reduced_as_homogeneous_ones_are() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let tables = [counting(0, 50, 3), counting(150, 7, 3)];
    save_parts(one.path(), &tables);
    for (table, name) in tables.iter().zip(["a.ntb", "b.ntb"]) {
        in_columns(table).save_with(other.path().join(name), fast()).unwrap();
    }
    let [one, other] = [one.path(), other.path()].map(|folder| Shards::open(folder).unwrap().reduce(&Trace::default()));
    assert_eq!(one.unwrap(), other.unwrap());
}

#[test]
fn an_error_of_the_result_names_the_first_file() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[3; 40], 2);
    let bad = Table::from_rows(&[[1.0_f64, 2.0], [-1.0, 0.0]]).unwrap();
    [30, 17, 18].iter().for_each(|&index: &usize| bad.save_with(&paths[index], fast()).unwrap());
    let shards = Shards::from_paths(&paths).unwrap();
    let found = shards.reduce(&Trace::default());
    assert!(found.as_ref().is_err_and(|error| error.path() == Some(paths[17].as_path())), "{found:?}");
    assert_eq!(text(found), format!("{}: -1 at position 2 of a block", paths[17].display()));
}

#[test]
fn a_result_may_keep_what_it_is_given() {
    /// Keeps a share of every block's memory.
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Keeps(#[serde(skip)] Vec<numeric_table::Array<f64>>);
    impl Partial for Keeps {
        const NAME: &'static str = "keeps";
        fn new_like(&self) -> Result<Self, Error> {
            Ok(Self(Vec::new()))
        }
        fn update(&mut self, rows: &dyn NumericTable) -> Result<(), Error> {
            let table = rows.downcast_ref::<Table<f64>>().expect("a block of a homogeneous file");
            self.0.push(table.array()?.clone());
            Ok(())
        }
        fn merge(&mut self, other: &Self) -> Result<(), Error> {
            self.0.extend(other.0.iter().cloned());
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    counted_parts(folder.path(), &[150_000, 2, 150_000], 1);
    let kept = Shards::open(folder.path()).unwrap().reduce(&Keeps(Vec::new())).unwrap().0;
    let values: Vec<f64> = kept.iter().flat_map(|array| array.as_slice().to_vec()).collect();
    assert_eq!(values, (0..300_002).map(f64::from).collect::<Vec<_>>());
}

/// A trace that is said to take so many bytes.
#[derive(Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Stated<const BYTES: usize>(Trace);

impl<const BYTES: usize> Partial for Stated<BYTES> {
    const NAME: &'static str = "stated";

    fn new_like(&self) -> Result<Self, Error> {
        Ok(Self::default())
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<(), Error> {
        self.0.update(rows)
    }

    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.0.merge(&other.0)
    }

    fn size_in_bytes(&self) -> usize {
        BYTES
    }
}

/// The first result that is large, and the last one that is not.
type Large = Stated<65_537>;
type Small = Stated<65_536>;

#[test]
fn files_are_divided_into_runs_by_their_number_and_the_size_of_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shards.ntm");
    for (files, large, small) in [
        (1, 1, 1),
        (4096, 1, 1),
        (4097, 2, 1),
        (8192, 2, 1),
        (8193, 4, 1),
        (16_384, 4, 1),
        (16_385, 8, 2),
        (100_003, 32, 8),
    ] {
        std::fs::write(&path, manifest_of(files)).unwrap();
        let shards = Shards::open(&path).unwrap();
        let expected = |length: usize| (0..files).step_by(length).map(move |start| start..files.min(start + length));
        assert!(shards.runs(&Large::default()).eq(expected(large)), "{files} files");
        assert!(shards.runs(&Small::default()).eq(expected(small)), "{files} files");
        assert!(shards.runs(&Large::default()).len() <= 4096 && shards.runs(&Small::default()).len() <= 16_384);
    }
}

/// A manifest of so many files, of which there are none.
fn manifest_of(files: usize) -> Vec<u8> {
    let names: Vec<String> = (0..files).map(|file| format!("{file}.ntb")).collect();
    let records: Vec<_> = names.iter().map(|name| (&**name, 1, 4132, 0, 0)).collect();
    by_hand(files as u64, &records)
}

#[test]
fn the_results_of_a_run_are_merged_before_those_of_different_runs() {
    let folder = tempfile::tempdir().unwrap();
    let paths = counted_parts(folder.path(), &[1, 2, 3], 1);
    let shards = Shards::from_paths((0..4099).map(|index| &paths[index % 3])).unwrap();
    let own: Vec<Large> = (0..3).map(|shard| shards.reduce_shard(shard, &Large::default()).unwrap()).collect();
    let mut expected = Trace::default();
    for start in (0..4099).step_by(2) {
        let mut run = own[start % 3].0.clone();
        if start + 1 < 4099 {
            run.merge(&own[(start + 1) % 3].0).unwrap();
        }
        if start == 4096 {
            assert_eq!(shards.reduce_shards(4096..4098, &Large::default()).unwrap().0, run);
        }
        expected.merge(&run).unwrap();
    }
    assert_eq!(expected.rows, 1366 * 6 + 1);
    assert_ne!(expected.tree, folded(&shards).tree); // of single files
    assert_eq!(shards.reduce(&Large::default()).unwrap().0, expected);
}
