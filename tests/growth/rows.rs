//! Tables of more and more rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use numeric_table::prelude::*;
use numeric_table::table::{
    by_ref,
    spi::{Piece, PieceMut, Region, TableId, Target},
};
use numeric_table::{
    AosNumericTable, CsrNumericTable, PackedSymmetricMatrix, SoaNumericTable,
    statistics::BasicStatistics,
    table::{RecordLayout, Triangle},
};

use super::meter::{
    Cost::{Each, Fixed},
    check, count_call,
};
use super::{Call, begin_with, check_all, every_second};

const LEAST: usize = 60;

const COLUMNS: usize = 3;

fn homogeneous(rows: usize, layout: DataLayout) -> Table<f32> {
    let mut table = Table::full_with_layout(Shape { rows, columns: COLUMNS }, 1.0_f32, layout).unwrap();
    table.set_names(["a", "b", "c"]).unwrap();
    table
}

fn arrays(rows: usize) -> SoaNumericTable {
    let table = homogeneous(rows, DataLayout::RowMajor);
    let mut table = table.to_columns().unwrap();
    table.set_column(1, vec![1_u8; rows]).unwrap();
    table
}

fn records(rows: usize) -> AosNumericTable {
    let mut layout = RecordLayout::new(16);
    for (name, element, offset) in [("a", ElementType::F32, 0), ("b", ElementType::U8, 4), ("c", ElementType::F64, 8)] {
        layout = layout.field(name, element, offset).unwrap();
    }
    AosNumericTable::zeros(&layout, rows).unwrap()
}

/// A table of one piece that counts who asks for it.
struct Counted {
    table: Table<f32>,
    is_writable: bool,
}

impl NumericTable for Counted {
    fn shape(&self) -> Shape {
        count_call();
        self.table.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        count_call();
        self.table.dictionary()
    }

    fn id(&self) -> TableId {
        self.table.id()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>, Error> {
        count_call();
        self.table.piece(row, column)
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<(), Error> {
        count_call();
        self.table.read_region(region, target)
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<(), Error> {
        self.table.set_dictionary(dictionary)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>, Error> {
        count_call();
        if self.is_writable { self.table.pieces_mut() } else { Err(Error::new(ErrorKind::ReadOnlyTable)) }
    }
}

fn counted(rows: usize) -> Counted {
    Counted { table: homogeneous(rows, DataLayout::RowMajor), is_writable: true }
}

/// What any kind of table does.
const CALLS: &[Call] = &[
    ("facts", Fixed, |table| {
        let _ = (table.shape(), table.dictionary().len(), table.id(), table.kind(), table.data_layout());
        let _ = (table.column_type(1).unwrap(), table.uniform_type(), table.data_memory_status(), format!("{table:?}"));
    }),
    ("head, tail, select_rows, select_columns, drop_columns", Fixed, |table| {
        drop((table.head(2).unwrap(), table.tail(2).unwrap(), table.select_rows(1..table.row_count()).unwrap()));
        drop((table.select_columns(["c", "a"]).unwrap(), table.drop_columns([1]).unwrap(), by_ref(table)));
    }),
    ("hstack, vstack, vstack_unified", Fixed, |table| {
        drop((table.hstack(&[&*table]).unwrap(), table.vstack(&[&*table]).unwrap()));
        drop(table.vstack_unified(&[&*table]).unwrap());
    }),
    ("with_column", Each, |table| {
        drop(table.with_column("new", vec![1_u8; table.row_count()]).unwrap());
        drop(table.with_column("a", vec![1_u8; table.row_count()]).unwrap());
    }),
    ("names", Fixed, |table| {
        table.rename("a", "d").unwrap();
        table.set_names(["a", "b", "c"]).unwrap();
        assert_eq!((table.column_index("b").unwrap(), table.names().len()), (1, COLUMNS));
        let dictionary = table.dictionary().clone();
        table.set_dictionary(dictionary).unwrap();
    }),
    ("one value", Fixed, |table| {
        let (row, column) = (table.row_count() - 2, 1);
        let value = table.value::<f64>(row, column).unwrap();
        table.set_value(row, column, value).unwrap();
    }),
    ("one row", Fixed, |table| {
        let row = table.row_count() / 2;
        drop((table.rows::<f64>(row..row + 1).unwrap(), table.rows::<f32>(row..row + 1).unwrap()));
        table.rows_mut::<f64>(row..row + 1).unwrap().release().unwrap();
        table.update_rows::<f64, _>(row..row + 1, begin_with(2.0)).unwrap();
        table.update_rows_in_place::<f32, _>(row..row + 1, begin_with(2.0)).unwrap();
        table.update_column::<f64, _>(1, row..row + 1, begin_with(3.0)).unwrap();
        drop(table.column_named::<f64>("b", row..row + 1).unwrap());
    }),
    ("one row through a descriptor", Fixed, |table| {
        let row = table.row_count() / 2;
        let (mut block, mut column) = (BlockDescriptor::<f64>::new(), BlockDescriptor::<u8>::new());
        table.get_block_of_rows(row, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
        table.get_block_of_column_values(1, row, 1, ReadWriteMode::ReadWrite, &mut column).unwrap();
        table.release_block_of_column_values(&mut column).unwrap();
        table.read_rows(row..row + 1, &mut block).unwrap();
        table.read_column(1, row..row + 1, &mut column).unwrap();
    }),
    ("blocks that are skipped", Fixed, |table| {
        let blocks = || table.row_blocks::<f64>(1).unwrap();
        let count = table.row_count();
        assert_eq!(blocks().nth(count - 1).unwrap().unwrap().row_range(), count - 1..count);
        assert_eq!(blocks().nth_back(count - 1).unwrap().unwrap().row_range(), 0..1);
        assert_eq!(blocks().rev().nth(count - 2).unwrap().unwrap().row_range(), 1..2);
        assert_eq!(blocks().last().unwrap().unwrap().row_range(), count - 1..count);
        assert_eq!(blocks().skip(count - 3).take(2).count(), 2);
        assert_eq!((blocks().count(), blocks().len(), blocks().size_hint()), (count, count, (count, Some(count))));
        assert!(blocks().nth(count).is_none() && blocks().nth_back(usize::MAX).is_none());
        assert_eq!(blocks().step_by(count / 2).count(), 2);
    }),
    ("all blocks", Each, |table| {
        assert_eq!(table.row_blocks::<f64>(1).unwrap().filter(Result::is_ok).count(), table.row_count());
        assert_eq!(table.row_blocks::<f64>(1).unwrap().rev().filter(Result::is_ok).count(), table.row_count());
    }),
    ("rows one by one", Each, |table| {
        for row in 0..table.row_count() {
            table.set_value(row, 0, 2_u8).unwrap();
            table.rows_mut::<f64>(row..row + 1).unwrap().release().unwrap();
        }
    }),
    ("update_row_blocks", Each, |table| table.update_row_blocks::<f64>(1, begin_with(1.0)).unwrap()),
    ("fill", Each, |table| table.fill(2_u8).unwrap()),
    ("whole columns and rows", Each, |table| {
        drop((table.rows::<f64>(..).unwrap(), table.column::<u8>(1, ..).unwrap()));
        table.column_mut::<f64>(1, ..).unwrap().release().unwrap();
        table.update_rows::<f64, _>(.., begin_with(1.0)).unwrap();
    }),
    ("to_table, to_columns, convert", Each, |table| {
        drop((table.to_table().unwrap(), table.to_columns().unwrap(), table.convert::<f64>().unwrap()));
    }),
    ("take_rows, filter_rows", Each, |table| {
        let rows = table.row_count();
        drop((table.take_rows(&every_second(rows)).unwrap(), table.filter_rows(&vec![true; rows]).unwrap()));
        drop(table.filter_rows_by::<f64>(|row| row[0] > 0.0).unwrap());
        drop(table.filter_by_column::<f64>("b", |value| value > 0.0).unwrap());
    }),
    ("sort_by", Each, |table| drop(table.sort_by("b").unwrap())),
    ("sample_rows, shuffle_rows, split_rows", Each, |table| {
        drop((table.sample_rows(9, 1).unwrap(), table.shuffle_rows(1).unwrap(), table.split_rows(0.5, 1).unwrap()));
        drop(table.split_rows_by("b", 0.5, 1).unwrap());
    }),
    ("display", Fixed, |table| drop(table.head(2).unwrap().to_string())),
    ("to_bytes", Each, |table| drop(table.to_bytes().unwrap())),
    ("BasicStatistics", Each, |table| drop(BasicStatistics::compute(table).unwrap())),
];

#[cfg(feature = "rayon")]
#[test]
fn blocks_of_many_rows_for_several_threads_cost_what_their_pages_say() {
    use rayon::iter::ParallelIterator;

    let calls: &[Call] = &[
        ("count", Fixed, |table| {
            assert_eq!(table.par_row_blocks::<f64>(1).unwrap().count(), table.row_count());
        }),
        ("all blocks", Each, |table| {
            let blocks = table.par_row_blocks::<f64>(2).unwrap().filter(Result::is_ok);
            assert_eq!(blocks.count(), table.row_count().div_ceil(2));
            let blocks = table.par_row_blocks_mut::<f64>(2).unwrap().map(|block| block?.release());
            assert_eq!(blocks.filter(Result::is_ok).count(), table.row_count().div_ceil(2));
        }),
        ("par_update_row_blocks", Each, |table| {
            table.par_update_row_blocks::<f64>(1, begin_with(1.0)).unwrap();
        }),
    ];
    // All work is done, and so measured, on this thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().unwrap();
    pool.install(|| {
        check_all(LEAST, |rows| Box::new(homogeneous(rows, DataLayout::RowMajor)), calls);
        check_all(LEAST, |rows| Box::new(arrays(rows)), calls);
        check_all(LEAST, |rows| Box::new(counted(rows)), calls);
        check_all(LEAST, |tables| Box::new(super::tables::stacked(tables)), &calls[1..]);
    });
}

#[test]
fn calls_on_a_homogeneous_table_of_many_rows_cost_what_their_pages_say() {
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        check_all(LEAST, |rows| Box::new(homogeneous(rows, layout)), CALLS);
    }
}

#[test]
fn calls_on_arrays_of_many_rows_cost_what_their_pages_say() {
    check_all(LEAST, |rows| Box::new(arrays(rows)), CALLS);
}

#[test]
fn calls_on_many_records_cost_what_their_pages_say() {
    check_all(LEAST, |rows| Box::new(records(rows)), CALLS);
}

#[test]
fn calls_on_a_kind_of_table_that_counts_them_cost_what_their_pages_say() {
    check_all(LEAST, |rows| Box::new(counted(rows)), CALLS);
}

#[test]
fn rows_that_are_added_one_by_one_are_copied_a_few_times_only() {
    fn grown(table: &mut dyn NumericTable, rows: usize) {
        for count in 1..=rows {
            table.resize(count).unwrap();
        }
        for _ in 0..rows {
            table.resize(rows / 2).unwrap(); // fewer rows keep their memory
            table.resize(rows / 2 + 1).unwrap();
        }
    }
    for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
        check("resize", Each, LEAST, |_| (), |(), rows| grown(&mut homogeneous(0, layout), rows));
        check(
            "push_row",
            Each,
            LEAST,
            |_| (),
            |(), rows| {
                let mut table = homogeneous(0, layout);
                (0..rows).for_each(|_| table.push_row(&[1_u8, 2, 3]).unwrap());
                (0..rows).for_each(|_| table.append_table(&homogeneous(1, layout)).unwrap());
            },
        );
    }
    check("resize of arrays", Each, LEAST, |_| (), |(), rows| grown(&mut arrays(0), rows));
    check("resize of records", Each, LEAST, |_| (), |(), rows| grown(&mut records(0), rows));
    let sparse = || {
        let shape = Shape { rows: 0, columns: COLUMNS };
        CsrNumericTable::try_new(shape, vec![0], Vec::<i32>::new(), vec![0.0; 0]).unwrap()
    };
    check("resize of sparse rows", Each, LEAST, |_| (), |(), rows| grown(&mut sparse(), rows));
    check(
        "rows of arrays and sparse rows",
        Each,
        LEAST,
        |_| (),
        |(), rows| {
            let (mut table, mut sparse) = (arrays(0), sparse());
            for _ in 0..rows {
                table.push_row(&[1_u8, 2, 3]).unwrap();
                sparse.push_row(&[1], &[2.5]).unwrap();
            }
        },
    );
}

#[test]
fn a_kind_of_table_that_refuses_is_asked_before_the_closure_of_the_first_block() {
    let mut table = Counted { is_writable: false, ..counted(50) };
    let calls = AtomicUsize::new(0);
    let edit = |block: &mut BlockMut<'_, f64>| {
        calls.fetch_add(1, Ordering::Relaxed);
        block.fill(7.0);
        Ok(())
    };
    assert!(table.update_row_blocks(1, edit).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    #[cfg(feature = "rayon")]
    assert!(table.par_update_row_blocks(1, edit).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
    let shown = table.head(50).unwrap();
    assert_eq!((calls.into_inner(), shown.rows::<f32>(..).unwrap().iter().all(|&value| value == 1.0)), (0, true));
}

/// A square table with one value in each row.
fn sparse_square(side: usize) -> CsrNumericTable {
    let (offsets, indices) = ((0..=side as i64).collect::<Vec<_>>(), (0..side as i64).rev().collect::<Vec<_>>());
    CsrNumericTable::try_new(Shape { rows: side, columns: side }, offsets, indices, vec![2.5_f32; side]).unwrap()
}

#[test]
fn a_sparse_table_is_made_of_a_sparse_one_without_a_look_at_its_zeros() {
    check("from_dense", Each, LEAST, sparse_square, |table, side| {
        let copy = CsrNumericTable::from_dense::<f64>(table).unwrap();
        assert_eq!((copy.nnz(), copy.value::<f64>(1, side - 2).unwrap()), (side, 2.5));
    });
    check("transpose", Each, LEAST, sparse_square, |table, _| drop(table.transpose().unwrap()));
    check("one row of a sparse table", Fixed, LEAST, sparse_square, |table, side| {
        drop(table.column::<f64>(side - 1, 0..9).unwrap());
        assert_eq!(table.value::<f64>(side / 2, 0).unwrap(), 0.0);
    });
}

#[test]
fn cells_of_half_a_matrix_are_found_in_constant_time() {
    let make = |side: usize| {
        PackedSymmetricMatrix::zeros(side, ElementType::F32, Triangle::Lower, DataLayout::RowMajor).unwrap()
    };
    check("one cell", Fixed, 10, make, |table, side| {
        table.set_value(side - 1, 2, 3.0_f32).unwrap();
        assert_eq!(table.value::<f32>(2, side - 1).unwrap(), 3.0);
        assert_eq!(table.rows::<f32>(1..2).unwrap().len(), side);
    });
}
