//! More and more tables as one.

use numeric_table::prelude::*;
use numeric_table::table::{
    by_mut, by_ref,
    spi::{Lease, Lend, Piece, PieceMut, Region, TableId},
};
use numeric_table::{MergedNumericTable, RowMergedNumericTable, statistics::BasicStatistics};

use super::meter::{
    Cost::{Each, Fixed},
    check, count_call,
};
use super::{Call, begin_with, check_all, every_second};

const LEAST: usize = 40;

/// Two rows or columns that count how often anybody asks for them, and lend their memory.
struct Counted(Table<f32>);

impl NumericTable for Counted {
    fn shape(&self) -> Shape {
        count_call();
        self.0.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        count_call();
        self.0.dictionary()
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>, Error> {
        count_call();
        self.0.piece(row, column)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>, Error> {
        count_call();
        self.0.pieces_mut()
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for Counted {
    fn check_block_writable(&mut self) -> Result<(), Error> {
        count_call();
        self.0.check_block_writable()
    }

    fn lend_region(&mut self, region: &Region, as_type: Option<ElementType>, lease: &mut Lease) -> Result<bool, Error> {
        count_call();
        self.0.lend_region(region, as_type, lease)
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<(), Error> {
        count_call();
        self.0.take_back(lease)
    }
}

fn part<'t>(rows: usize, columns: usize) -> Box<dyn NumericTable + 't> {
    Box::new(Counted(Table::full(Shape { rows, columns }, 1.0_f32).unwrap()))
}

/// Tables of two rows each, end to end.
pub(crate) fn stacked<'t>(tables: usize) -> RowMergedNumericTable<'t> {
    RowMergedNumericTable::new((0..tables).map(|_| part(2, 2))).unwrap()
}

/// The same, with a column of another table beside them: no row lies in one table alone.
fn stacked_beside_another<'t>(tables: usize) -> MergedNumericTable<'t> {
    let stacked = Box::new(stacked(tables)) as Box<dyn NumericTable>;
    MergedNumericTable::new([stacked, part(2 * tables, 1)]).unwrap()
}

/// The rows that lie in the tables in the middle.
fn middle(table: &(dyn NumericTable + '_)) -> std::ops::Range<usize> {
    let row = table.row_count() / 4 * 2;
    row - 1..row + 1
}

const CALLS: &[Call] = &[
    ("facts", Fixed, |table| {
        let _ = (table.shape(), table.dictionary().len(), table.id(), table.kind(), table.data_layout());
        let _ = (table.column_type(1).unwrap(), table.uniform_type());
    }),
    ("data_memory_status, Debug, check_writable", Each, |table| {
        let _ = (table.data_memory_status(), format!("{table:?}"));
        table.check_writable().unwrap();
    }),
    ("head, tail, select_rows, select_columns, drop_columns", Fixed, |table| {
        drop((table.head(2).unwrap(), table.tail(2).unwrap(), table.select_rows(1..table.row_count()).unwrap()));
        drop((table.select_columns([1, 0]).unwrap(), table.drop_columns([1]).unwrap(), by_ref(table)));
        drop((table.hstack(&[&*table]).unwrap(), table.vstack(&[&*table]).unwrap()));
    }),
    ("one value", Fixed, |table| {
        let row = middle(table).start;
        assert_eq!(table.value::<u8>(row, 1).unwrap(), 1);
        table.set_value(row, 1, 1_u8).unwrap();
        table.set_value(row, 1, 1.0_f32).unwrap();
    }),
    ("rows of one table", Fixed, |table| {
        let row = middle(table).start;
        drop((table.rows::<f32>(row..row + 1).unwrap(), table.rows::<f64>(row..row + 1).unwrap()));
        table.rows_mut::<f32>(row..row + 1).unwrap().release().unwrap();
        table.update_rows::<f64, _>(row..row + 1, begin_with(1.0)).unwrap();
    }),
    ("rows of two tables, read", Fixed, |table| {
        drop((table.rows::<f32>(middle(table)).unwrap(), table.column::<f64>(1, middle(table)).unwrap()));
        let mut block = BlockDescriptor::<f64>::new();
        assert_eq!(table.read_rows(middle(table), &mut block).unwrap()[0], 1.0);
        drop(table.select_rows(middle(table)).unwrap().to_table().unwrap());
    }),
    ("rows of two tables, updated", Fixed, |table| {
        table.update_rows::<f64, _>(middle(table), begin_with(1.0)).unwrap();
        table.update_rows_in_place::<f32, _>(middle(table), begin_with(1.0)).unwrap();
        table.update_column::<f64, _>(1, middle(table), begin_with(1.0)).unwrap();
    }),
    ("rows of two tables, written", Fixed, |table| {
        table.rows_mut::<f32>(middle(table)).unwrap().release().unwrap();
        table.column_mut::<f64>(1, middle(table)).unwrap().release().unwrap();
    }),
    ("rows of two tables through a descriptor", Fixed, |table| {
        let (first, mut block) = (middle(table).start, BlockDescriptor::<f64>::new());
        table.get_block_of_rows(first, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
        table.release_block_of_rows(&mut block).unwrap();
        table.get_block_of_rows(first, 2, ReadWriteMode::WriteOnly, &mut block).unwrap();
        block.as_mut_slice().unwrap().fill(1.0);
        table.release_block_of_rows(&mut block).unwrap();
    }),
    ("a block that is lent", Fixed, |table| {
        let (first, mut block) = (middle(table).start, BlockDescriptor::<f32>::new());
        table.get_block_of_column_values(1, first, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
        table.release_block_of_column_values(&mut block).unwrap();
    }),
    ("blocks that are lent at the same time", Fixed, |table| {
        let rows = [1, table.row_count() / 2 + 1, table.row_count() - 1];
        let mut blocks = rows.map(|row| {
            let mut block = BlockDescriptor::<f32>::new();
            table.get_block_of_rows(row, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
            block
        });
        for block in &mut blocks {
            table.release_block_of_rows(block).unwrap();
        }
    }),
    ("all blocks of two tables", Each, |table| {
        for first in (1..table.row_count() - 1).step_by(2) {
            table.update_rows::<f64, _>(first..first + 2, begin_with(1.0)).unwrap();
            table.rows_mut::<f32>(first..first + 2).unwrap().release().unwrap();
        }
    }),
    ("row_blocks", Each, |table| {
        assert_eq!(table.row_blocks::<f64>(3).unwrap().filter(Result::is_ok).count(), table.row_count().div_ceil(3));
    }),
    ("row_blocks_mut", Each, |table| {
        for block in table.row_blocks_mut::<f64>(3).unwrap() {
            let mut block = block.unwrap();
            block.fill(1.0);
            block.release().unwrap();
        }
    }),
    ("row_blocks_mut, skipped", Each, |table| {
        let count = table.row_count().div_ceil(3);
        let last = table.row_blocks_mut::<f64>(3).unwrap().nth(count - 1).unwrap().unwrap();
        assert_eq!(last.row_range().end, last.row_offset() + last.row_count());
        last.discard();
        let last = table.row_blocks_mut::<f64>(3).unwrap().last().unwrap().unwrap();
        assert_eq!(last.row_range().start, 3 * (count - 1));
        last.discard();
        assert_eq!(table.row_blocks_mut::<f64>(3).unwrap().count(), count);
    }),
    ("update_row_blocks", Each, |table| {
        table.update_row_blocks::<f64>(3, begin_with(1.0)).unwrap();
    }),
    ("fill", Each, |table| table.fill(1_u8).unwrap()),
    ("all rows", Each, |table| {
        table.rows_mut::<f64>(..).unwrap().release().unwrap();
        table.update_rows::<f32, _>(.., begin_with(1.0)).unwrap();
        drop((table.to_table().unwrap(), table.to_columns().unwrap(), table.convert::<f64>().unwrap()));
    }),
    ("take_rows, filter_rows, sort_by", Each, |table| {
        let rows = table.row_count();
        drop((table.take_rows(&every_second(rows)).unwrap(), table.filter_rows(&vec![true; rows]).unwrap()));
        drop((table.filter_rows_by::<f64>(|row| row[0] > 0.0).unwrap(), table.sort_by(1).unwrap()));
        drop((table.sample_rows(9, 1).unwrap(), table.shuffle_rows(1).unwrap(), table.split_rows(0.5, 1).unwrap()));
    }),
    ("display, to_bytes, BasicStatistics", Each, |table| {
        drop((table.to_string(), table.to_bytes().unwrap(), BasicStatistics::compute(table).unwrap()));
    }),
    ("names", Fixed, |table| {
        table.set_names((0..table.column_count()).map(|column| column.to_string())).unwrap();
        table.rename("1", "2").unwrap();
    }),
];

#[test]
fn calls_on_many_tables_end_to_end_cost_what_their_pages_say() {
    check_all(LEAST, |tables| Box::new(stacked(tables)), CALLS);
}

#[test]
fn calls_on_many_tables_end_to_end_and_one_beside_them_cost_what_their_pages_say() {
    check_all(LEAST, |tables| Box::new(stacked_beside_another(tables)), CALLS);
}

#[test]
fn calls_on_tables_end_to_end_of_tables_end_to_end_cost_what_their_pages_say() {
    let make = |tables| {
        let halves = [stacked(tables / 2), stacked(tables / 2)].map(|half| Box::new(half) as Box<dyn NumericTable>);
        Box::new(RowMergedNumericTable::new(halves).unwrap()) as Box<dyn NumericTable>
    };
    check_all(LEAST, make, CALLS);
}

#[test]
fn tables_are_joined_in_linear_time() {
    let whole = Table::full(Shape { rows: 2, columns: 2 }, 1.0_f32).unwrap();
    check(
        "push",
        Each,
        LEAST,
        |_| (),
        |(), tables| {
            let (mut rows, mut columns) = (stacked(1), MergedNumericTable::new([part(2, 2)]).unwrap());
            for _ in 0..tables {
                rows.push(by_ref(&whole)).unwrap();
                columns.push(by_ref(&whole)).unwrap();
            }
            assert_eq!((rows.into_tables().len(), columns.tables().len()), (tables + 1, tables + 1));
        },
    );
    check(
        "vstack, hstack",
        Each,
        LEAST,
        |_| (),
        |(), tables| {
            let others: Vec<&dyn NumericTable> = (0..tables).map(|_| &whole as &dyn NumericTable).collect();
            drop(whole.vstack(&others).unwrap());
            drop(whole.hstack(&others).unwrap());
            drop(whole.vstack_unified(&others).unwrap());
        },
    );
}

/// A table that shows another one from its second row on, and does not say so to what it lends.
struct Below<'t>(Box<dyn NumericTable + 't>);

impl NumericTable for Below<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.0.row_count() - 1, ..self.0.shape() }
    }

    fn dictionary(&self) -> &DataDictionary {
        self.0.dictionary()
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for Below<'_> {
    fn lend_region(&mut self, region: &Region, as_type: Option<ElementType>, lease: &mut Lease) -> Result<bool, Error> {
        let rows = region.rows.start + 1..region.rows.end + 1;
        self.0.lender_mut().unwrap().lend_region(&Region { rows, ..region.clone() }, as_type, lease)
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<(), Error> {
        self.0.lender_mut().unwrap().take_back(lease)
    }
}

#[test]
fn memory_returns_to_the_table_that_lent_it_however_tables_are_nested() {
    let mut table = RowMergedNumericTable::new([
        part(3, 2),
        Box::new(Below(Box::new(stacked(4)))),
        Box::new(RowMergedNumericTable::new([part(1, 2), Box::new(stacked(3))]).unwrap()),
    ])
    .unwrap();
    let rows = table.row_count();
    let mut blocks = Vec::new();
    // One row of each table, the last one first.
    for row in [0, 3, 4, 6, 8, 10, 11, 13, 15].into_iter().rev() {
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_rows(row, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
        assert!(block.is_zero_copy(), "{row}");
        block.as_mut_slice().unwrap().fill(row as f32);
        blocks.push(block);
    }
    blocks.rotate_left(4);
    for block in &mut blocks {
        table.release_block_of_rows(block).unwrap();
    }
    assert_eq!(rows, 3 + 7 + 7);
    let [first, _, last] = &table.into_tables()[..] else { panic!("three tables") };
    assert_eq!(first.column::<f32>(1, ..).unwrap()[..], [0.0, 1.0, 1.0]);
    assert_eq!(last.column::<f32>(1, ..).unwrap()[..], [10.0, 11.0, 1.0, 13.0, 1.0, 15.0, 1.0]);
}

#[test]
fn a_table_that_is_borrowed_again_and_again_is_read_and_written_as_one_that_is_borrowed_once() {
    const TIMES: usize = 200_000; // calls within calls that no stack has room for
    let mut whole = Table::full(Shape { rows: 2, columns: 2 }, 1.0_f32).unwrap();
    whole.set_names(["a", "b"]).unwrap();
    let mut table: &'static mut dyn NumericTable = Box::leak(Box::new(whole));
    for _ in 0..TIMES {
        table = Box::leak(by_mut(table));
    }
    table.set_value(0, 1, 2_u8).unwrap();
    table
        .update_rows::<f64, _>(1.., |block| {
            block.fill(3.0);
            Ok(())
        })
        .unwrap();
    table.rename("b", "c").unwrap();
    let mut table: &'static dyn NumericTable = table;
    for _ in 0..TIMES {
        table = Box::leak(by_ref(table));
    }
    assert_eq!(table.rows::<f32>(..).unwrap()[..], [1.0, 2.0, 3.0, 3.0]);
    assert!(table.names().eq([Some("a"), Some("c")]));
    assert_eq!(RowMergedNumericTable::new([by_ref(table)]).unwrap().value::<u8>(1, 1).unwrap(), 3);
    let mut table = by_mut(Box::leak(by_ref(table)));
    assert!(table.set_value(0, 0, 9_u8).is_err_and(|error| matches!(error.kind(), ErrorKind::ReadOnlyTable)));
}
