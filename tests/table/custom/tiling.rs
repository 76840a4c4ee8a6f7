//! Random tilings against a plain vector: whatever the pieces are, a table is its values.

use std::ops::Range;

use numeric_table::array::{AnySlice, AnySliceMut};
use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::spi::{Piece, PieceMut, Region, TableId, Target};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseResult;

use super::Result;

/// Whole numbers that every type of at least 32 bits holds exactly; narrower types hold some of them.
const NUMBERS: [i64; 11] = [-70_000, -129, -128, -1, 0, 1, 100, 127, 200, 256, 70_000];

/// Types of the tiles, and of the blocks.
trait Whole: Element {
    fn clamped(number: i64) -> Self;
    fn number(self) -> i64;

    fn holds(number: i64) -> bool {
        Self::clamped(number).number() == number
    }
}

macro_rules! whole {
    ($($T:ty)*) => {
        $(impl Whole for $T {
            fn clamped(number: i64) -> Self {
                number.clamp(<$T>::MIN as i64, <$T>::MAX as i64) as Self
            }

            fn number(self) -> i64 {
                self as i64
            }
        })*
    };
}
whole!(u8 i8 i16 i64 f32 f64);

const TYPES: usize = 6;

/// A tile, and what its type holds.
struct Tile {
    region: Region,
    table: Box<dyn NumericTable>,
    holds: fn(i64) -> bool,
    clamped: fn(i64) -> i64,
}

impl Tile {
    fn new<T: Whole>(region: Region, layout: DataLayout) -> Self {
        // A part of a larger table: column-major tiles have gaps between their columns.
        let shape = Shape { rows: region.rows.len() + 2, ..region.shape() };
        let table = HomogenNumericTable::<T>::new_with_layout(shape, AllocationFlag::DoAllocate, layout).unwrap();
        let table = Box::new(table.slice_rows(1..shape.rows - 1).unwrap());
        Self { region, table, holds: T::holds, clamped: |number| T::clamped(number).number() }
    }
}

const TILES: [fn(Region, DataLayout) -> Tile; TYPES] =
    [Tile::new::<u8>, Tile::new::<i8>, Tile::new::<i16>, Tile::new::<i64>, Tile::new::<f32>, Tile::new::<f64>];

/// Tiles in a grid, or as bricks in walls. Its dictionary knows one type for each column, that of the tile on top.
struct Tiling {
    id: TableId,
    shape: Shape,
    dictionary: DataDictionary,
    tiles: Vec<Tile>,
    is_reversed: bool,
}

impl Tiling {
    fn tile(&self, row: usize, column: usize) -> Option<&Tile> {
        self.tiles.iter().find(|tile| tile.region.rows.contains(&row) && tile.region.columns.contains(&column))
    }
}

impl NumericTable for Tiling {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn piece(&self, row: usize, column: usize) -> Result<Option<Piece<'_>>> {
        let Some(Tile { region, table, .. }) = self.tile(row, column) else { return Ok(None) };
        let (first_row, first_column) = (region.rows.start, region.columns.start);
        Ok(table.piece(row - first_row, column - first_column)?.map(|piece| piece.moved(first_row, first_column)))
    }

    fn pieces_mut(&mut self) -> Result<Vec<PieceMut<'_>>> {
        let mut pieces = Vec::new();
        for Tile { region, table, .. } in &mut self.tiles {
            let of_tile = table.pieces_mut()?.into_iter();
            pieces.extend(of_tile.map(|piece| piece.moved(region.rows.start, region.columns.start)));
        }
        if self.is_reversed {
            pieces.reverse(); // they come in any order
        }
        Ok(pieces)
    }
}

/// What is done to a table: with numbers that are taken in turn, for an element type.
#[derive(Clone, Debug)]
struct Call {
    kind: usize,
    element: usize,
    rows: [Index; 2],
    columns: [Index; 2],
    keep_unchanged: bool,
    numbers: Vec<i64>,
}

fn call() -> impl Strategy<Value = Call> {
    let numbers = prop::collection::vec(prop::sample::select(&NUMBERS[..]), 1..20);
    let ranges = (any::<[Index; 2]>(), any::<[Index; 2]>());
    (0..7_usize, 0..TYPES, ranges, any::<bool>(), numbers).prop_map(
        |(kind, element, (rows, columns), keep_unchanged, numbers)| Call {
            kind,
            element,
            rows,
            columns,
            keep_unchanged,
            numbers,
        },
    )
}

fn range(ends: [Index; 2], length: usize) -> Range<usize> {
    let [one, other] = ends.map(|end| end.index(length + 1));
    one.min(other)..one.max(other)
}

/// A table and what its values should be, row by row.
struct World {
    table: Tiling,
    model: Vec<i64>,
}

type Outcome = Result<(), (usize, usize)>;

/// Where a value was refused.
fn outcome(result: Result<()>) -> Outcome {
    result.map_err(|error| match error.into_kind() {
        ErrorKind::ValueNotRepresentable { row, column, .. } => (row, column),
        other => panic!("{other:?}"),
    })
}

impl World {
    fn places(&self, region: &Region) -> Vec<(usize, usize)> {
        region.rows.clone().flat_map(|row| region.columns.clone().map(move |column| (row, column))).collect()
    }

    fn at(&self, (row, column): (usize, usize)) -> i64 {
        self.model[row * self.table.shape.columns + column]
    }

    /// Writes numbers into a region of the model, all or none.
    fn write<U: Whole>(&mut self, region: &Region, new: &[U], keep_unchanged: bool) -> Outcome {
        let mut changed = self.model.clone();
        for (place, &new) in self.places(region).into_iter().zip(new) {
            let is_kept = keep_unchanged && U::clamped(self.at(place)) == new;
            if !is_kept {
                if !(self.table.tile(place.0, place.1).unwrap().holds)(new.number()) {
                    return Err(place);
                }
                changed[place.0 * self.table.shape.columns + place.1] = new.number();
            }
        }
        self.model = changed;
        Ok(())
    }

    fn check(&self) -> TestCaseResult {
        prop_assert_eq!(&self.table.rows::<i64>(..).unwrap()[..], &self.model[..]);
        Ok(())
    }

    fn read<U: Whole>(&self, region: &Region) -> TestCaseResult {
        let places = self.places(region);
        let expected: Vec<U> = places.iter().map(|&place| U::clamped(self.at(place))).collect();
        let refused = places.iter().copied().find(|&place| !U::holds(self.at(place)));
        let read = |values: &mut [U], policy| {
            let target = Target::new(AnySliceMut::new(values), region.shape(), policy).unwrap();
            outcome(self.table.read_region(region, target))
        };
        let mut values = vec![U::clamped(77); places.len()];
        prop_assert_eq!(read(&mut values, ConversionPolicy::Checked), refused.map_or(Ok(()), Err));
        let untouched = vec![U::clamped(77); places.len()];
        prop_assert_eq!(&values, if refused.is_some() { &untouched } else { &expected });
        prop_assert_eq!(read(&mut values, ConversionPolicy::Saturate), Ok(()));
        prop_assert_eq!(&values, &expected);
        if *region == (Region { columns: 0..self.table.shape.columns, ..region.clone() }) {
            prop_assert_eq!(&self.table.rows::<U>(region.rows.clone()).unwrap()[..], &expected[..]);
        }
        for column in region.columns.clone() {
            let expected: Vec<U> = region.rows.clone().map(|row| U::clamped(self.at((row, column)))).collect();
            prop_assert_eq!(&self.table.column::<U>(column, region.rows.clone()).unwrap()[..], &expected[..]);
            prop_assert_eq!(
                region.rows.clone().map(|row| self.table.value::<U>(row, column).unwrap()).collect::<Vec<_>>(),
                expected
            );
        }
        Ok(())
    }

    /// Changes every other value of blocks of rows, and says what came of each.
    fn write_blocks<U: Whole>(&mut self, rows_per_block: usize, numbers: &[i64], in_parallel: bool) -> TestCaseResult {
        let edit = |block: Result<BlockMut<'_, U>>| {
            let mut block = block?;
            let first = block.row_offset() * block.column_count();
            for index in (0..block.len()).filter(|index| (first + index) % 2 == 0) {
                block[index] = U::clamped(numbers[(first + index) % numbers.len()]);
            }
            let edited = block.to_vec();
            Ok((block.release(), edited))
        };
        let results: Vec<(Result<()>, Vec<U>)> = if in_parallel {
            #[cfg(feature = "rayon")]
            {
                use rayon::iter::ParallelIterator;
                self.table.par_row_blocks_mut::<U>(rows_per_block).unwrap().map(edit).collect::<Result<_>>().unwrap()
            }
            #[cfg(not(feature = "rayon"))]
            self.table.row_blocks_mut::<U>(rows_per_block).unwrap().map(edit).collect::<Result<_>>().unwrap()
        } else {
            self.table.row_blocks_mut::<U>(rows_per_block).unwrap().map(edit).collect::<Result<_>>().unwrap()
        };
        let Shape { rows, columns } = self.table.shape;
        prop_assert_eq!(results.len(), rows.div_ceil(rows_per_block));
        for (index, (result, edited)) in results.into_iter().enumerate() {
            let rows = index * rows_per_block..rows.min((index + 1) * rows_per_block);
            let expected = self.write(&Region { rows, columns: 0..columns }, &edited, true);
            prop_assert_eq!(outcome(result), expected, "block {}", index);
        }
        Ok(())
    }

    fn run<U: Whole>(&mut self, call: &Call) -> TestCaseResult {
        let Shape { rows, columns } = self.table.shape;
        let mut region = Region { rows: range(call.rows, rows), columns: range(call.columns, columns) };
        let numbers = call.numbers.iter().map(|&number| U::clamped(number)).cycle();
        match call.kind {
            0 => self.read::<U>(&region)?,
            1 => {
                region.columns = 0..columns;
                self.read::<U>(&region)?;
            }
            2 => {
                let new: Vec<U> = numbers.take(region.shape().element_count().unwrap()).collect();
                let rule = WriteRule { policy: ConversionPolicy::Checked, keep_unchanged: call.keep_unchanged };
                let written = outcome(self.table.write_region(&region, AnySlice::new(&new), rule));
                prop_assert_eq!(written, self.write(&region, &new, call.keep_unchanged));
            }
            3 => {
                let mut block = self.table.rows_mut::<U>(region.rows.clone()).unwrap();
                block.iter_mut().zip(numbers).for_each(|(value, number)| *value = number);
                let edited = block.to_vec();
                let released = outcome(block.release());
                prop_assert_eq!(released, self.write(&Region { columns: 0..columns, ..region }, &edited, true));
            }
            4 => {
                let place = (call.rows[0].index(rows), call.columns[0].index(columns));
                let types = self.table.tiles.iter().filter(|tile| tile.region.columns.contains(&place.1));
                // The type of a column is one: where it is not, only a number that all hold has an outcome.
                let of_place = self.table.tile(place.0, place.1).unwrap().holds;
                let mut candidates = numbers.take(call.numbers.len()).map(U::number);
                let number = candidates.find(|&number| types.clone().all(|tile| (tile.holds)(number))).unwrap_or(1);
                prop_assert!(of_place(number));
                self.table.set_value(place.0, place.1, U::clamped(number)).unwrap();
                self.model[place.0 * columns + place.1] = number;
            }
            5 => self.write_blocks::<U>(call.rows[1].index(rows) + 1, &call.numbers, false)?,
            _ => self.write_blocks::<U>(call.rows[1].index(rows) + 1, &call.numbers, true)?,
        }
        self.check()
    }
}

const RUNS: [fn(&mut World, &Call) -> TestCaseResult; TYPES] =
    [World::run::<u8>, World::run::<i8>, World::run::<i16>, World::run::<i64>, World::run::<f32>, World::run::<f64>];

fn cuts(lengths: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let next = |&length: &usize| {
        end += length;
        end - length..end
    };
    lengths.iter().map(next).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_tiling_is_the_values_that_it_shows(
        heights in prop::collection::vec(1..40_usize, 1..5),
        widths in prop::collection::vec(1..6_usize, 1..5),
        kinds in prop::collection::vec((0..TYPES, any::<bool>()), 16),
        are_bricks: bool,
        is_reversed: bool,
        has_types_of_columns: bool,
        numbers in prop::collection::vec(prop::sample::select(&NUMBERS[..]), 1..50),
        calls in prop::collection::vec(call(), 1..12),
    ) {
        let mut tiles = Vec::new();
        for (j, columns) in cuts(&widths).into_iter().enumerate() {
            let mut heights = heights.clone();
            if are_bricks {
                let first = j % heights.len();
                heights.rotate_left(first);
            }
            for (i, rows) in cuts(&heights).into_iter().enumerate() {
                let (element, is_column_major) = kinds[4 * i + j];
                let element = if has_types_of_columns { kinds[j].0 } else { element };
                let layout = if is_column_major { DataLayout::ColumnMajor } else { DataLayout::RowMajor };
                tiles.push(TILES[element](Region { rows, columns: columns.clone() }, layout));
            }
        }
        let shape = Shape { rows: heights.iter().sum(), columns: widths.iter().sum() };
        let on_top = tiles.iter().filter(|tile| tile.region.rows.start == 0);
        let of_tile = |tile: &Tile| tile.table.dictionary().iter().cloned().collect::<Vec<_>>();
        let dictionary = on_top.flat_map(of_tile).collect();
        let mut table = Tiling { id: TableId::new(), shape, dictionary, tiles, is_reversed };
        let mut model = Vec::new();
        for (index, &number) in numbers.iter().cycle().take(shape.rows * shape.columns).enumerate() {
            let (row, column) = (index / shape.columns, index % shape.columns);
            let tile = table.tiles.iter_mut()
                .find(|tile| tile.region.rows.contains(&row) && tile.region.columns.contains(&column)).unwrap();
            let number = (tile.clamped)(number);
            tile.table.set_value(row - tile.region.rows.start, column - tile.region.columns.start, number).unwrap();
            model.push(number);
        }
        let mut world = World { table, model };
        world.check()?;
        for call in &calls {
            RUNS[call.element](&mut world, call)?;
        }
    }
}
