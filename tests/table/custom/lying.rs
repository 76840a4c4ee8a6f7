//! Kinds of tables that are wrong about themselves: an error, or some values, but never a panic, nor a half-written
//! target.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::{
    by_mut,
    spi::{Lease, Lend, Piece, PieceMut, Region, TableId, Target},
};
use numeric_table::{
    CsrNumericTable, RowMergedNumericTable,
    array::{AnyArrayRef, AnySlice, AnySliceMut},
    files::SaveOptions,
    statistics::{BasicStatistics, Covariance, Quantiles},
};

use test_support::tables::{assert_error, shape};

use super::Result;

/// Where a piece says that it is, how large it is, and of which type.
#[derive(Clone, Copy, Debug)]
struct Answer {
    row: usize,
    column: usize,
    shape: Shape,
    is_integer: bool,
}

impl Answer {
    fn rows(&self) -> Range<usize> {
        self.row..self.row.saturating_add(self.shape.rows)
    }

    fn columns(&self) -> Range<usize> {
        self.column..self.column.saturating_add(self.shape.columns)
    }
}

fn at(row: usize, column: usize, (rows, columns): (usize, usize)) -> Answer {
    Answer { row, column, shape: shape(rows, columns), is_integer: false }
}

const ROWS: usize = 4;
const COLUMNS: usize = 3;
const WHOLE: Region = Region { rows: 0..ROWS, columns: 0..COLUMNS };

/// A table of 4 x 3 `f64` whose pieces are what it is told to say, whatever it is asked about.
struct Liar {
    id: TableId,
    dictionary: DataDictionary,
    answers: Vec<Option<Answer>>,
    /// Whether they are given in turn, again and again; else the first one that covers the place asked for, or any.
    is_fickle: bool,
    asked: AtomicUsize,
    answers_mut: Vec<Answer>,
    floats: Vec<f64>,
    integers: Vec<i32>,
}

impl Liar {
    fn new(answers: impl Into<Vec<Option<Answer>>>, answers_mut: impl Into<Vec<Answer>>) -> Self {
        Self {
            id: TableId::new(),
            dictionary: DataDictionary::uniform(Feature::new(ElementType::F64), COLUMNS),
            answers: answers.into(),
            is_fickle: false,
            asked: AtomicUsize::new(0),
            answers_mut: answers_mut.into(),
            floats: (0..1000).map(f64::from).collect(),
            integers: (0..1000).collect(),
        }
    }

    /// Tells the truth.
    fn honest() -> Self {
        let whole = at(0, 0, (ROWS, COLUMNS));
        Self::new([Some(whole)], [whole])
    }
}

impl NumericTable for Liar {
    fn shape(&self) -> Shape {
        WHOLE.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        let covers = |answer: &Answer| answer.rows().contains(&row) && answer.columns().contains(&column);
        let index = match self.is_fickle {
            true => self.asked.fetch_add(1, Ordering::Relaxed) % self.answers.len(),
            false => self.answers.iter().position(|answer| answer.as_ref().is_some_and(covers)).unwrap_or(0),
        };
        let Some(Answer { row, column, shape, is_integer }) = self.answers[index] else { return Ok(None) };
        let count = shape.element_count()?;
        Ok(Some(if is_integer {
            Piece::new(row, column, TableView::new(&self.integers[..count], shape, DataLayout::RowMajor)?)
        } else {
            Piece::new(row, column, TableView::new(&self.floats[..count], shape, DataLayout::RowMajor)?)
        }))
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        let (mut floats, mut integers) = (&mut self.floats[..], &mut self.integers[..]);
        let piece = |&Answer { row, column, shape, is_integer }: &Answer| {
            let count = shape.element_count()?;
            Ok(if is_integer {
                let (values, rest) = std::mem::take(&mut integers).split_at_mut(count);
                integers = rest;
                PieceMut::new(row, column, TableViewMut::new(values, shape, DataLayout::RowMajor)?)
            } else {
                let (values, rest) = std::mem::take(&mut floats).split_at_mut(count);
                floats = rest;
                PieceMut::new(row, column, TableViewMut::new(values, shape, DataLayout::RowMajor)?)
            })
        };
        self.answers_mut.iter().map(piece).collect()
    }
}

const CHECKED: WriteRule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: false };

fn read<U: Element>(table: &Liar, values: &mut [U], policy: ConversionPolicy) -> Result<()> {
    table.read_region(&WHOLE, Target::new(AnySliceMut::new(values), WHOLE.shape(), policy)?)
}

/// Everything that reads all values: the results, and how many values there were.
fn readings(table: &Liar) -> Vec<(&'static str, Result<usize>)> {
    let table_dyn: &dyn NumericTable = table;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (mut floats, mut bytes) = ([-7.0; 12], [7_u8; 12]);
    let results = vec![
        ("rows", table.rows::<f64>(..).map(|block| block.len())),
        ("converted rows", table.rows::<i16>(..).map(|block| block.len())),
        ("checked rows", table.rows_with::<u8>(.., ConversionPolicy::Checked).map(|block| block.len())),
        ("row blocks", table.row_blocks::<f32>(4).and_then(|blocks| blocks.map(|block| Ok(block?.len())).sum())),
        ("descriptor", table.read_rows(.., &mut BlockDescriptor::<f32>::new()).map(<[f32]>::len)),
        ("read_region", read(table, &mut floats, ConversionPolicy::Saturate).map(|()| 12)),
        ("checked read_region", read(table, &mut bytes, ConversionPolicy::Checked).map(|()| 12)),
        ("statistics", BasicStatistics::compute(table_dyn).map(|_| 12)),
        ("archive", table_dyn.to_bytes().map(|_| 12)),
        ("file", table_dyn.save_with(&path, SaveOptions::new().durable(false)).map(|()| 12)),
        #[cfg(feature = "npy")]
        ("npy", table_dyn.write_npy(&mut Vec::new()).map(|()| 12)),
        #[cfg(feature = "csv")]
        ("csv", table_dyn.write_csv_to(&mut Vec::new(), numeric_table::csv::CsvWriteOptions::new()).map(|()| 12)),
    ];
    let _ = (table_dyn.to_string(), format!("{table_dyn:?}"));
    for (name, result) in &results {
        match (*name, result) {
            ("read_region", Err(_)) => assert_eq!(floats, [-7.0; 12]),
            ("checked read_region", Err(_)) => assert_eq!(bytes, [7; 12]),
            (_, Ok(count)) => assert_eq!(*count, 12, "{name}"),
            _ => {}
        }
    }
    results
}

/// Everything that writes all values.
fn writings(table: &mut Liar) -> Vec<(&'static str, Result<()>)> {
    let mut descriptor = BlockDescriptor::<f32>::new();
    let mut same = BlockDescriptor::<f64>::new();
    let mut results = vec![
        ("write_region", table.write_region(&WHOLE, AnySlice::new(&[-1.0; 12]), CHECKED)),
        ("converted write_region", table.write_region(&WHOLE, AnySlice::new(&[-1_i8; 12]), CHECKED)),
        (
            "rows_mut",
            table.rows_mut::<f64>(..).and_then(|mut block| {
                block.fill(-1.0);
                block.release()
            }),
        ),
        (
            "converted rows_mut",
            table.rows_mut::<i16>(..).and_then(|mut block| {
                block.fill(-1);
                block.release()
            }),
        ),
        (
            "update",
            table.update_rows::<f32, _>(.., |block| {
                block.fill(-1.0);
                Ok(())
            }),
        ),
        ("fill", table.fill(-1.0)),
    ];
    let get = table.get_block_of_rows(0, ROWS, ReadWriteMode::WriteOnly, &mut descriptor);
    results.push((
        "descriptor",
        get.and_then(|()| {
            descriptor.as_mut_slice()?.fill(-1.0);
            table.release_block_of_rows(&mut descriptor)
        }),
    ));
    let get = table.get_block_of_rows(0, ROWS, ReadWriteMode::ReadWrite, &mut same);
    results.push((
        "descriptor of the type",
        get.and_then(|()| {
            same.as_mut_slice()?.fill(-1.0);
            table.release_block_of_rows(&mut same)
        }),
    ));
    results
}

/// Everything that writes all values by way of pieces alone, block by block.
fn block_writings(table: &mut Liar) -> Vec<(&'static str, Result<()>)> {
    let blocks = table.row_blocks_mut::<f32>(3).and_then(|blocks| {
        blocks.into_iter().try_for_each(|block| {
            let mut block = block?;
            block.fill(-1.0);
            block.release()
        })
    });
    vec![
        ("row blocks", blocks),
        #[cfg(feature = "rayon")]
        (
            "parallel row blocks",
            table.par_update_row_blocks::<f32>(2, |block| {
                let _: () = block.fill(-1.0);
                Ok(())
            }),
        ),
    ]
}

#[test]
fn an_honest_table_is_read_and_written() {
    let mut table = Liar::honest();
    for (name, result) in readings(&table) {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    for (name, result) in writings(&mut table).into_iter().chain(block_writings(&mut table)) {
        assert!(result.is_ok(), "{name}: {result:?}");
        assert_eq!(table.floats[11], -1.0, "{name}");
    }
}

#[test]
fn a_piece_that_does_not_cover_the_place_asked_for_is_refused() {
    const LAST: usize = usize::MAX;
    let elsewhere = [
        at(0, 0, (0, 0)),
        at(0, 0, (4, 0)),
        at(0, 0, (0, 3)),
        at(1, 0, (3, 3)),
        at(0, 1, (4, 2)),
        at(4, 0, (4, 3)),
        at(0, 3, (4, 3)),
        at(LAST, LAST, (1, 1)),
        at(LAST - 1, 0, (4, 3)),
    ];
    for answer in elsewhere {
        let mut table = Liar::new([Some(answer)], Liar::honest().answers_mut);
        for (name, result) in readings(&table) {
            assert!(
                result
                    .as_ref()
                    .is_err_and(|error| matches!(error.kind(), ErrorKind::MisplacedPiece { row: 0, column: 0, .. })),
                "{answer:?}, {name}: {result:?}"
            );
        }
        for (name, result) in writings(&mut table) {
            let is_misplaced = result
                .as_ref()
                .is_err_and(|error| matches!(error.kind(), ErrorKind::MisplacedPiece { row: 0, column: 0, .. }));
            assert!(is_misplaced || matches!(name, "fill" | "descriptor"), "{answer:?}, {name}: {result:?}");
        }
    }
}

#[test]
fn a_piece_that_is_the_answer_to_every_question_is_refused_where_it_ends() {
    for (answer, place) in [(at(0, 0, (2, 3)), (2, 0)), (at(0, 0, (4, 2)), (0, 2)), (at(0, 0, (1, 1)), (0, 1))] {
        let mut table = Liar::new([Some(answer)], Liar::honest().answers_mut);
        for (name, result) in readings(&table) {
            let is_it = result.as_ref().is_err_and(|error| {
                matches!(
                    error.kind(),
                    ErrorKind::MisplacedPiece { row, column, .. } if (*row, *column) == place
                )
            });
            assert!(is_it, "{answer:?}, {name}: {result:?}");
        }
        let before = table.floats.clone();
        assert_error!(
            table.write_region(&WHOLE, AnySlice::new(&[-1.0; 12]), CHECKED),
            ErrorKind::MisplacedPiece { .. }
        );
        assert_eq!(table.floats, before);
    }
    let table = Liar::new([Some(at(0, 0, (2, 3)))], []);
    assert_eq!(&table.rows::<f32>(..2).unwrap()[..], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn a_piece_beyond_the_tables_shape_shows_no_more_than_the_table_has() {
    let large = at(0, 0, (50, 20));
    let mut table = Liar::new([Some(large)], [large]);
    for (name, result) in readings(&table) {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    assert_eq!(&table.rows::<f64>(3..).unwrap()[..], [60.0, 61.0, 62.0]);
    assert_error!(table.rows::<f64>(..5), ErrorKind::RowsOutOfRange { row_count: 4, .. });
    assert_error!(table.rows::<f32>(4..5), ErrorKind::RowsOutOfRange { row_count: 4, .. });
    assert_error!(
        table.read_rows(3..5, &mut BlockDescriptor::<f64>::new()),
        ErrorKind::RowsOutOfRange { row_count: 4, .. }
    );
    assert_error!(table.rows_mut::<f64>(..5), ErrorKind::RowsOutOfRange { row_count: 4, .. });
    assert_error!(table.column::<f64>(3, ..), ErrorKind::ColumnOutOfRange { column: 3, .. });
    assert_error!(table.set_value(4, 0, 1.0), ErrorKind::RowsOutOfRange { .. });
    for (name, result) in writings(&mut table).into_iter().chain(block_writings(&mut table)) {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    let is_outside = |index: usize| index / 20 >= ROWS || index % 20 >= COLUMNS;
    assert!((0..1000).filter(|&index| is_outside(index)).all(|index| table.floats[index] == index as f64));
}

/// The first two columns in a piece, and the last one.
fn in_two() -> [Option<Answer>; 2] {
    [Some(at(0, 0, (4, 2))), Some(at(0, 2, (4, 1)))]
}

#[test]
fn pieces_for_writing_that_do_not_cover_the_region_are_refused() {
    let wrong: [&[Answer]; 6] = [
        &[],
        &[at(0, 0, (4, 2))],
        &[at(0, 0, (2, 3))],
        &[at(1, 0, (4, 3))],
        &[at(0, 0, (4, 2)), at(0, 3, (4, 1))],
        &[at(usize::MAX, usize::MAX, (4, 3))],
    ];
    for answers in wrong {
        let mut table = Liar::new(in_two(), answers);
        let before = table.floats.clone();
        let written = table.write_region(&WHOLE, AnySlice::new(&[-1.0; 12]), CHECKED);
        assert_error!(written, ErrorKind::NotInMemory { row: 0, column: 0 });
        for (name, result) in block_writings(&mut table) {
            assert!(
                result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::NotInMemory { .. })),
                "{answers:?}, {name}: {result:?}"
            );
        }
        assert_eq!(table.floats, before);
        let mut table = Liar::new(Liar::honest().answers, answers);
        for (name, result) in writings(&mut table).into_iter().chain(block_writings(&mut table)) {
            let is_refused = result.as_ref().is_err_and(|error| {
                matches!(
                    error.kind(),
                    ErrorKind::NotInMemory { .. }
                        | ErrorKind::MisplacedPiece { .. }
                        | ErrorKind::ReadOnlyTable
                        | ErrorKind::MemoryLayout { .. }
                )
            });
            assert!(is_refused, "{answers:?}, {name}: {result:?}");
        }
        assert_eq!(table.floats, before);
    }
}

#[test]
fn pieces_for_writing_that_overlap_are_refused() {
    let twice: [&[Answer]; 4] = [
        &[at(0, 0, (2, 3)), at(0, 0, (2, 3))],
        &[at(0, 0, (4, 3)), at(0, 0, (4, 3))],
        &[at(0, 0, (4, 2)), at(0, 1, (4, 1))],
        &[at(0, 0, (3, 3)), at(2, 0, (1, 3))],
    ];
    for answers in twice {
        let mut table = Liar::new(in_two(), answers);
        let before = table.floats.clone();
        for (name, result) in block_writings(&mut table) {
            assert!(
                result.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::NotInMemory { .. })),
                "{answers:?}, {name}: {result:?}"
            );
        }
        assert_eq!(table.floats, before);
        let mut table = Liar::new(Liar::honest().answers, answers);
        let _ = (writings(&mut table), block_writings(&mut table)); // no panic
    }
}

#[test]
fn a_table_whose_pieces_change_between_calls_leaves_a_target_as_it_was_or_fills_it() {
    let integers = Answer { is_integer: true, ..at(0, 0, (4, 3)) };
    let answers = [
        None,
        Some(at(0, 0, (4, 3))),
        Some(integers),
        Some(at(0, 0, (4, 2))),
        Some(at(0, 2, (4, 1))),
        Some(at(0, 0, (2, 3))),
        Some(at(2, 0, (2, 3))),
        Some(at(3, 3, (5, 5))),
        Some(at(0, 0, (40, 20))),
    ];
    let lists: [&[Answer]; 5] = [
        &[at(0, 0, (4, 3))],
        &[integers],
        &[at(0, 0, (4, 2)), Answer { is_integer: true, ..at(0, 2, (4, 1)) }],
        &[at(0, 0, (1, 1))],
        &[at(0, 0, (40, 20))],
    ];
    for first in 0..answers.len() {
        for second in 0..answers.len() {
            for third in 0..answers.len() {
                let turns = [answers[first], answers[second], answers[third]];
                let mut table = Liar::new(turns, lists[(first + second + third) % lists.len()]);
                table.is_fickle = true;
                if (first + third) % 4 == 0 {
                    let _ = readings(&table); // which looks at the targets
                }
                let (mut floats, mut bytes) = ([-7.0; 12], [7_u8; 12]);
                if read(&table, &mut floats, ConversionPolicy::Saturate).is_err() {
                    assert_eq!(floats, [-7.0; 12], "{turns:?}");
                }
                if read(&table, &mut bytes, ConversionPolicy::Checked).is_err() {
                    assert_eq!(bytes, [7; 12], "{turns:?}");
                }
                let _ = (writings(&mut table), block_writings(&mut table));
            }
        }
    }
}

#[test]
fn pieces_of_another_type_than_the_table_says_are_converted() {
    let integers = Answer { is_integer: true, ..at(0, 0, (4, 3)) };
    let mut table = Liar::new([Some(integers)], [integers]);
    assert_eq!(table.rows::<f64>(3..).unwrap()[..], [9.0, 10.0, 11.0]);
    let mut block = table.rows_mut::<f64>(..).unwrap();
    block.fill(1e300);
    assert_error!(
        block.release(),
        ErrorKind::ValueNotRepresentable { row: 0, column: 0, target: ElementType::I32, .. }
    );
    assert_error!(table.set_value(1, 1, 1e300), ErrorKind::ValueNotRepresentable { row: 1, column: 1, .. });
    assert_error!(table.fill(1e300), ErrorKind::ValueNotRepresentable { row: 0, column: 0, .. });
    assert!(table.integers.iter().copied().eq(0..1000));
}

#[test]
fn a_piece_for_writing_of_another_type_than_the_one_for_reading_is_refused() {
    let as_integers = |answer: Answer| Answer { is_integer: true, ..answer };
    let whole = at(0, 0, (4, 3));
    let tall = [at(0, 0, (4, 1)), at(0, 1, (2, 2)), at(2, 1, (2, 2))]; // read in two bands
    let tilings: [(Vec<Answer>, Vec<Answer>); 5] = [
        (vec![whole], vec![as_integers(whole)]),
        (vec![at(0, 0, (4, 2)), at(0, 2, (4, 1))], vec![at(0, 0, (4, 2)), as_integers(at(0, 2, (4, 1)))]),
        (vec![at(0, 0, (2, 3)), at(2, 0, (2, 3))], vec![as_integers(whole)]),
        (tall.to_vec(), vec![at(0, 0, (4, 1)), at(0, 1, (2, 2)), as_integers(at(2, 1, (2, 2)))]),
        (tall.to_vec(), vec![as_integers(at(0, 0, (4, 1))), at(0, 1, (4, 2))]),
    ];
    for (reading, writing) in tilings {
        let mut table = Liar::new(reading.into_iter().map(Some).collect::<Vec<_>>(), writing);
        for value in [1e300, 0.5] {
            let written = table.write_region(&WHOLE, AnySlice::new(&[value; 12]), CHECKED);
            assert_error!(
                written,
                ErrorKind::ElementTypeMismatch { expected: ElementType::F64, actual: ElementType::I32, .. }
            );
        }
        let mut below = HomogenNumericTable::from_rows(&[[0.0_f64; 3]]).unwrap();
        let mut both = RowMergedNumericTable::new([by_mut(&mut table), by_mut(&mut below)]).unwrap();
        let rows = Region { rows: 0..5, columns: 0..3 };
        let written = both.write_region(&rows, AnySlice::new(&[1e300; 15]), CHECKED);
        assert_error!(written, ErrorKind::ElementTypeMismatch { .. });
        drop(both);
        assert_eq!(below.as_slice().unwrap(), [0.0; 3]);
        assert!(table.integers.iter().copied().eq(0..1000));
        assert!(table.floats.iter().copied().eq((0..1000).map(f64::from)));
    }
}

#[test]
fn one_value_that_a_piece_of_another_type_refuses_is_in_no_piece() {
    let pieces = [at(0, 0, (4, 2)), Answer { is_integer: true, ..at(0, 2, (4, 1)) }];
    let mut table = Liar::new(pieces.map(Some), pieces);
    assert_error!(table.fill(1e300), ErrorKind::ValueNotRepresentable { row: 0, column: 2, .. });
    assert!(table.floats.iter().copied().eq((0..1000).map(f64::from)));
}

/// Lends slices of one row less, or of one value more, than it is asked for.
struct FalseSlices {
    table: HomogenNumericTable<f64>,
    are_long: bool,
}

impl FalseSlices {
    fn range(&self, region: &Region) -> Range<usize> {
        let count = region.shape().element_count().unwrap();
        0..if self.are_long { count + 1 } else { count.saturating_sub(COLUMNS) }
    }
}

impl NumericTable for FalseSlices {
    fn shape(&self) -> Shape {
        Shape { rows: ROWS, ..self.table.shape() }
    }

    fn dictionary(&self) -> &DataDictionary {
        self.table.dictionary()
    }

    fn id(&self) -> TableId {
        self.table.id()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        self.table.piece(row, column)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.table.pieces_mut()
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for FalseSlices {
    fn slice_of(&self, region: &Region, _: ElementType) -> Result<Option<AnySlice<'_>>> {
        Ok(Some(AnySlice::new(&self.table.as_slice()?[self.range(region)])))
    }

    fn slice_of_mut(&mut self, region: &Region, _: ElementType) -> Result<Option<AnySliceMut<'_>>> {
        let range = self.range(region);
        Ok(Some(AnySliceMut::new(&mut self.table.as_mut_slice()?[range])))
    }
}

#[test]
fn slices_that_are_too_long_or_too_short_are_refused() {
    for (are_long, count) in [(false, 9), (true, 13)] {
        let table = HomogenNumericTable::full(shape(ROWS + 1, COLUMNS), 5.0).unwrap();
        let mut table = FalseSlices { table, are_long };
        let refused = table.rows::<f64>(..);
        assert!(
            refused.as_ref().is_err_and(
                |error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 12, actual: found } if *found == count)
            ),
            "{refused:?}"
        );
        let refused = BasicStatistics::compute(&table);
        assert!(
            refused.as_ref().is_err_and(
                |error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 12, actual: found } if *found == count)
            ),
            "{refused:?}"
        );
        let all: [Result<()>; 5] = [
            table.filter_rows_by(|row: &[f64]| row[0] > 0.0).map(drop),
            table.take_rows(&[3, 0]).map(drop),
            table.filter_rows(&[true; ROWS]).map(drop),
            Covariance::compute(&table).map(drop),
            Quantiles::compute(&table, &[0.5]).map(drop),
        ];
        for refused in all {
            assert!(
                refused.as_ref().is_err_and(
                    |error| matches!(error.kind(), ErrorKind::LengthMismatch { expected: 12, actual: found } if *found == count)
                ),
                "{refused:?}"
            );
        }
        assert_error!(table.rows_mut::<f64>(..), ErrorKind::LengthMismatch { expected: 12, .. });
        table.set_value(1, 1, -1.0).unwrap(); // by way of a piece
        assert_eq!(table.table.as_slice().unwrap()[..5], [5.0, 5.0, 5.0, 5.0, -1.0]);
    }
}

/// Lends slices and arrays of `f64`, whatever it is asked for.
struct FalseTypes {
    table: HomogenNumericTable<f64>,
    dictionary: DataDictionary,
}

impl NumericTable for FalseTypes {
    fn shape(&self) -> Shape {
        self.table.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.table.id()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        self.table.read_region(region, target)
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }
}

impl Lend for FalseTypes {
    fn slice_of(&self, region: &Region, _: ElementType) -> Result<Option<AnySlice<'_>>> {
        self.table.slice_of(region, ElementType::F64)
    }

    fn array_of(&self, region: &Region, _: ElementType) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        self.table.array_of(region, ElementType::F64)
    }
}

#[test]
fn what_is_lent_in_another_type_is_read_instead() {
    let table = HomogenNumericTable::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
    let table = FalseTypes { table, dictionary: DataDictionary::uniform(Feature::new(ElementType::I16), 1) };
    let table: &dyn NumericTable = &table;
    let found = [
        table.take_rows(&[2, 0]).unwrap(),
        table.filter_rows(&[false, true, true]).unwrap(),
        table.filter_rows_by(|row: &[i16]| row[0] < 3).unwrap(),
        Box::new(table.to_columns().unwrap()),
    ];
    for (found, expected) in found.iter().zip([&[3_i16, 1][..], &[2, 3], &[1, 2], &[1, 2, 3]]) {
        assert_eq!(
            (found.column_type(0).unwrap(), &found.column::<i16>(0, ..).unwrap()[..]),
            (ElementType::I16, expected)
        );
    }
}

/// Has more rows than the sparse table that it says it is.
struct FalseSparse(CsrNumericTable);

impl NumericTable for FalseSparse {
    fn shape(&self) -> Shape {
        Shape { rows: self.0.row_count() + 2, ..self.0.shape() }
    }

    fn dictionary(&self) -> &DataDictionary {
        self.0.dictionary()
    }

    fn id(&self) -> TableId {
        self.0.id()
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        self.0.as_any()
    }

    fn read_region(&self, region: &Region, target: Target<'_>) -> Result<()> {
        target.fill_with(region, |row, _| row as f64)
    }
}

#[test]
fn rows_of_a_table_that_is_no_other_table_are_its_own() {
    let sparse = CsrNumericTable::try_new(shape(2, 1), vec![0, 1, 1], vec![0], vec![5.0]).unwrap();
    let table = FalseSparse(sparse);
    let taken = table.take_rows(&[3, 0]).unwrap();
    assert_eq!(taken.column::<f64>(0, ..).unwrap()[..], [3.0, 0.0]);
    let kept = table.filter_rows(&[false, true, true, true]).unwrap();
    assert_eq!(kept.column::<f64>(0, ..).unwrap()[..], [1.0, 2.0, 3.0]);
}

/// Lends other memory than it is asked for, or none, and says that it is the right one.
struct FalseLender {
    table: HomogenNumericTable<f64>,
    lends: Option<Region>,
}

impl NumericTable for FalseLender {
    fn shape(&self) -> Shape {
        self.table.shape()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.table.dictionary()
    }

    fn id(&self) -> TableId {
        self.table.id()
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        self.table.piece(row, column)
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        self.table.pieces_mut()
    }

    fn lender(&self) -> Option<&dyn Lend> {
        Some(self)
    }

    fn lender_mut(&mut self) -> Option<&mut dyn Lend> {
        Some(self)
    }
}

impl Lend for FalseLender {
    fn lend_region(&mut self, _: &Region, in_place: Option<ElementType>, lease: &mut Lease) -> Result<bool> {
        if let Some(region) = &self.lends {
            self.table.lend_region(region, in_place, lease)?;
        }
        Ok(true)
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        self.table.take_back(lease)
    }
}

#[test]
fn memory_that_is_not_what_was_to_be_lent_is_no_panic() {
    for lends in [None, Some(Region { rows: 0..1, columns: 0..3 }), Some(Region { rows: 0..4, columns: 0..1 })] {
        for mode in [ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly] {
            let table = HomogenNumericTable::full(WHOLE.shape(), 5.0).unwrap();
            let mut table = FalseLender { table, lends: lends.clone() };
            let mut block = BlockDescriptor::<f64>::new();
            if table.get_block_of_rows(1, 2, mode, &mut block).is_ok() {
                assert!(block.as_slice().len() <= 12);
                let _ = block.as_mut_slice().map(|values| values.fill(1.0));
                let _ = format!("{block:?}");
                let _ = table.release_block_of_rows(&mut block);
            }
            drop(block);
            assert!(table.table.as_slice().unwrap().iter().all(|&value| value == 5.0 || value == 1.0));
            let mut block = BlockDescriptor::<i16>::new();
            if table.get_block_of_rows(1, 2, mode, &mut block).is_ok() {
                let _ = block.as_mut_slice().map(|values| values.fill(1));
                let _ = table.release_block_of_rows(&mut block);
            }
        }
    }
}

/// A table of no columns and very many rows, which says that it has one.
#[cfg(feature = "rayon")]
struct OneColumnOfNone(DataDictionary, TableId);

#[cfg(feature = "rayon")]
impl NumericTable for OneColumnOfNone {
    fn shape(&self) -> Shape {
        Shape { rows: usize::MAX, columns: 0 }
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.0
    }

    fn id(&self) -> TableId {
        self.1
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        Ok(Vec::new())
    }
}

#[cfg(feature = "rayon")]
#[test]
fn a_parallel_update_of_no_values_ends_whatever_the_number_of_columns_is_said_to_be() {
    let mut table = OneColumnOfNone(DataDictionary::uniform(Feature::new(ElementType::U8), 1), TableId::new());
    table.par_update_row_blocks::<f64>(1, |_| panic!("there is no value")).unwrap();
}
