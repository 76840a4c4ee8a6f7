//! Random sequences of everything that can be done to tables and blocks, against a simple model.
//!
//! After each call the outcome, every table and every descriptor are compared with what the model says: shapes,
//! memory status, dictionaries, values bit for bit, who shares memory with whom, leases, and which errors apply.
//! The model is in `state` and `block`, its conversions in `number`, the calls in `operation`, the things under test in
//! `real`. Tables of every other kind are in `kinds`, with a plainer model in `grid`.
//! Semantics: as the pages of `NumericTable`, `HomogenNumericTable`, `BlockAccess` and `BlockDescriptor` state them.
//!
//! `NUMERIC_TABLE_SEQUENCES` sets the number of sequences, `NUMERIC_TABLE_SEED` the seed, which is printed. A sequence
//! that fails is printed in its shortest form.

mod block;
mod gaps;
mod grid;
mod kinds;
mod number;
mod operation;
mod real;
mod state;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;
use std::sync::Arc;

use numeric_table::prelude::*;
use numeric_table::{AnyArray, block::BlockKind};
use proptest::prelude::{Just, Strategy, any, prop};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestCaseResult, TestError, TestRunner};
use proptest::{prop_assert, prop_assert_eq, prop_oneof};

use block::Block;
use number::{Number, Typed, with_type};
use operation::{BLOCKS, Operation, Origin, Source, TABLES, UserArray, creation, cut, operation};
use real::{AnyTable, Cut, End, RealBlock};
use state::{Expected, Fault, Memory, Table};

/// What is under test, each with its model.
struct World {
    tables: [Option<(AnyTable, Table)>; TABLES],
    blocks: [(Box<dyn RealBlock>, Block); BLOCKS.len()],
}

impl World {
    fn new() -> Self {
        let blocks = BLOCKS.map(|element| (real::new_block(element, None), Block::new(element, None)));
        Self { tables: [const { None }; TABLES], blocks }
    }

    fn apply(&mut self, operation: &Operation) -> TestCaseResult {
        use Operation as O;
        match operation.clone() {
            O::Create { to, element, shape, layout, origin } => {
                let (real, model) = create(element, shape, layout, origin);
                self.put(to, real, model)?;
            }
            O::CreateOnArrayOf { from, to, shape, layout, may_have_spare_rows: spare } => {
                let Some((real, model)) = &self.tables[self.preferably_filled(from)] else { return Ok(()) };
                let Some((array, memory)) = agree(real.array(), model.array())? else { return Ok(()) };
                let model = Table::from_array(model.element, shape, layout, memory, spare);
                self.put(to, real::table_from_array(array, shape, layout, spare), model)?;
            }
            O::Clone { from, to } => {
                self.derive(from, to, |real, model| (Ok(real.share()), Ok(model.share())))?;
            }
            O::SliceRows { from, to, rows } => self.derive(from, to, |real, model| {
                let rows = rows.of(model);
                (real.slice_rows(rows.clone()), model.slice_rows(rows))
            })?,
            O::ToLayout { from, to, layout } => {
                self.derive(from, to, |real, model| (real.to_layout(layout), model.to_layout(layout)))?;
            }
            O::Convert { from, to, element } => {
                self.derive(from, to, |real, model| (real.convert(element), model.convert(element)))?;
            }
            O::ThroughArchive { from, to } => {
                self.derive(from, to, |real, model| (real.through_archive(), model.through_archive()))?;
            }
            O::DropTable { table } => self.tables[table] = None,
            O::Resize { table, rows } => self.change(table, |real, model| {
                (real.get_mut().resize(rows), model.resize(rows)) //
            })?,
            O::SetArray { table, rows, array } => self.change(table, |real, model| {
                let spare = array.may_have_spare_rows;
                let (array, memory) = user_array_of(model.element, rows * model.shape.columns, array);
                (real.set_array(array, rows, spare), model.set_array(memory, rows, spare))
            })?,
            O::SetDictionary { table, more_columns, element, name } => self.change(table, |real, model| {
                let (element, columns) = (element.unwrap_or(model.element), model.shape.columns + more_columns);
                let dictionary = DataDictionary::uniform(Feature::new(element).named(name.clone()), columns);
                (real.get_mut().set_dictionary(dictionary), model.set_dictionary(element, columns, name))
            })?,
            O::ResetDictionary { table } => self.change(table, |real, model| {
                model.name = None;
                (real.get_mut().reset_dictionary(), Ok(()))
            })?,
            O::FreeDataMemory { table } => {
                self.change(table, |real, model| (real.free_data_memory(), model.free_data_memory()))?;
            }
            O::AllocateDataMemory { table } => {
                self.change(table, |real, model| (real.allocate_data_memory(), model.allocate_data_memory()))?;
            }
            O::EditSlice { table, edits } => {
                self.change(table, |real, model| (real.edit_slice(&edits), model.edit_slice(&edits)))?;
            }
            O::Read { table, element, columns, rows } => self.look(table, |real, model| {
                let (cut, rows) = (cut(columns, model), rows.of(model));
                (real::read(real, element, cut, rows.clone()), model.read(element, cut, rows))
            })?,
            O::Write { table, element, columns, rows, edits, end } => {
                let Some((real, model)) = &mut self.tables[self.preferably_filled(table)] else { return Ok(()) };
                let (cut, rows) = (cut(columns, model), rows.of(model));
                let real = real::write(real.get_mut(), element, cut, rows.clone(), &edits, end);
                let expected = write(model, element, cut, rows, &edits, end);
                if let Some(((shown, first, last), (expected, first_expected, last_expected))) = agree(real, expected)?
                {
                    prop_assert_eq!(shown, expected);
                    agree(first, first_expected)?;
                    agree(last, last_expected)?;
                }
            }
            O::Value { table, element, row, column } => self.look(table, |real, model| {
                let (row, column) = (row.of(model).start, column.of(model));
                (real::value(real, element, row, column), model.value(element, row, column))
            })?,
            O::SetValue { table, element, row, column, value } => self.change(table, |real, model| {
                let (row, column, value) = (row.of(model).start, column.of(model), value.saturate(element));
                let changed = real::set_value(real.get_mut(), element, row, column, value);
                (changed, model.set_value(element, row, column, value))
            })?,
            O::Assign { table, element, value } => self.change(table, |real, model| {
                let value = value.saturate(element);
                (real::assign(real.get_mut(), element, value), model.assign(element, value))
            })?,
            O::Get { table, block, columns, rows, mode } => {
                let Some((real, model)) = &mut self.tables[self.preferably_filled(table)] else { return Ok(()) };
                let (cut, rows) = (cut(columns, model), rows.of(model));
                let (first, count) = (rows.start, rows.end.saturating_sub(rows.start));
                let (real_block, model_block) = &mut self.blocks[block];
                let got = real_block.get(real.get_mut(), cut, first, count, mode);
                agree(got, model_block.get(model, cut, first, count, mode))?;
            }
            O::ReadRows { table, block, rows } => {
                let Some((real, model)) = &self.tables[self.preferably_filled(table)] else { return Ok(()) };
                let (real_block, model_block) = &mut self.blocks[block];
                let rows = rows.of(model);
                let read = real_block.read_rows(real.get(), rows.clone());
                if let Some((values, expected)) = agree(read, model_block.read_rows(model, rows))? {
                    prop_assert_eq!(values, expected);
                }
            }
            O::EditBlock { block, edits } => {
                let (real, model) = &mut self.blocks[self.preferably_held(block)];
                agree(real.edit(&edits), model.edit(&edits))?;
            }
            O::Release { block } => {
                let block = self.preferably_held(block);
                let held = &self.blocks[block].1;
                let is_owner = |table: &Option<(_, Table)>| table.as_ref().is_some_and(|(_, table)| held.is_of(table));
                let owner = self.tables.iter().position(is_owner);
                if let (Some(table), Some(kind)) = (owner, held.kind()) {
                    self.release(table, block, kind)?;
                }
            }
            O::ReleaseOn { table, block, kind } => {
                self.release(self.preferably_filled(table), self.preferably_held(block), kind)?
            }
            O::ReplaceBlock { block, element, policy } => {
                self.blocks[block] = (real::new_block(element, policy), Block::new(element, policy));
            }
        }
        Ok(())
    }

    fn put(
        &mut self,
        to: usize,
        real: numeric_table::Result<AnyTable>,
        model: Expected<Table>,
    ) -> Result<(), TestCaseError> {
        if let Some(table) = agree(real, model)? {
            self.tables[to] = Some(table);
        }
        Ok(())
    }

    /// Makes a table from a table.
    fn derive(
        &mut self,
        from: usize,
        to: usize,
        call: impl FnOnce(&AnyTable, &Table) -> (numeric_table::Result<AnyTable>, Expected<Table>),
    ) -> TestCaseResult {
        let Some((real, model)) = &self.tables[self.preferably_filled(from)] else { return Ok(()) };
        let (real, model) = call(real, model);
        self.put(to, real, model)
    }

    fn change(
        &mut self,
        table: usize,
        call: impl FnOnce(&mut AnyTable, &mut Table) -> (numeric_table::Result<()>, Expected<()>),
    ) -> TestCaseResult {
        let Some((real, model)) = &mut self.tables[self.preferably_filled(table)] else { return Ok(()) };
        let (real, model) = call(real, model);
        agree(real, model).map(drop)
    }

    fn look<V: std::fmt::Debug + PartialEq>(
        &self,
        table: usize,
        call: impl FnOnce(&dyn NumericTable, &Table) -> (numeric_table::Result<V>, Expected<V>),
    ) -> TestCaseResult {
        let Some((real, model)) = &self.tables[self.preferably_filled(table)] else { return Ok(()) };
        let (real, model) = call(real.get(), model);
        if let Some((value, expected)) = agree(real, model)? {
            prop_assert_eq!(value, expected);
        }
        Ok(())
    }

    /// A place with a table, if there is one.
    fn preferably_filled(&self, table: usize) -> usize {
        let filled: Vec<usize> = (0..TABLES).filter(|&table| self.tables[table].is_some()).collect();
        if filled.is_empty() { table } else { filled[table % filled.len()] }
    }

    /// A descriptor that holds a block, if there is one.
    fn preferably_held(&self, block: usize) -> usize {
        let held: Vec<usize> = (0..BLOCKS.len()).filter(|&block| self.blocks[block].1.mode().is_some()).collect();
        if held.is_empty() { block } else { held[block % held.len()] }
    }

    fn release(&mut self, table: usize, block: usize, kind: BlockKind) -> TestCaseResult {
        let Some((real, model)) = &mut self.tables[table] else { return Ok(()) };
        let (real_block, model_block) = &mut self.blocks[block];
        agree(real_block.release(real.get_mut(), kind), model_block.release(model, kind)).map(drop)
    }

    fn check(&self) -> TestCaseResult {
        for (i, table) in self.tables.iter().enumerate() {
            let Some((real, model)) = table else { continue };
            check_table(real, model).map_err(|error| TestCaseError::fail(format!("table {i}: {error}")))?;
        }
        for (i, (real, model)) in self.blocks.iter().enumerate() {
            check_block(&**real, model).map_err(|error| TestCaseError::fail(format!("block {i}: {error}")))?;
        }
        self.check_sharing()
    }

    fn check_sharing(&self) -> TestCaseResult {
        let tables = self.tables.iter().flatten();
        let tables: Vec<_> = tables.filter(|(_, model)| !model.is_leased() && model.is_allocated()).collect();
        for (i, (mine, my_model)) in tables.iter().enumerate() {
            for (other, other_model) in &tables[..i] {
                let array = other.array().map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(mine.shares_memory_with(&array), my_model.shares_memory_with(other_model), "sharing");
            }
        }
        Ok(())
    }
}

/// Makes sure that a call returned what the model says, or one of the errors that apply. Returns both values, if any.
fn agree<R, M>(real: numeric_table::Result<R>, expected: Expected<M>) -> Result<Option<(R, M)>, TestCaseError> {
    match (real.map_err(Fault::from), expected) {
        (Ok(value), Ok(expected)) => Ok(Some((value, expected))),
        (Ok(_), Err(faults)) => Err(TestCaseError::fail(format!("it succeeded instead of one of {faults:?}"))),
        (Err(fault), Ok(_)) => Err(TestCaseError::fail(format!("it failed: {fault:?}"))),
        (Err(fault), Err(faults)) => {
            prop_assert!(faults.contains(&fault), "it failed with {fault:?} instead of one of {faults:?}");
            Ok(None)
        }
    }
}

fn check_table(real: &AnyTable, model: &Table) -> TestCaseResult {
    let table = real.get();
    prop_assert_eq!(table.shape(), model.shape);
    prop_assert_eq!((table.row_count(), table.column_count()), (model.shape.rows, model.shape.columns));
    prop_assert_eq!(table.uniform_type(), Some(model.element));
    prop_assert_eq!(table.data_layout(), model.layout);
    prop_assert_eq!(table.data_memory_status(), model.status);
    prop_assert_eq!(table.dictionary().len(), model.shape.columns);
    for feature in table.dictionary().iter() {
        prop_assert_eq!((feature.element_type, &feature.name), (model.element, &model.name));
    }
    if let Some((values, expected)) = agree(real.values(), model.values())? {
        prop_assert_eq!(values, expected);
    }
    Ok(())
}

fn check_block(real: &dyn RealBlock, model: &Block) -> TestCaseResult {
    prop_assert_eq!(real.mode(), model.mode());
    prop_assert_eq!(real.shown(), model.shown());
    prop_assert_eq!(real.capacity(), model.capacity);
    Ok(())
}

fn create(
    element: ElementType,
    shape: Shape,
    layout: DataLayout,
    origin: Origin,
) -> (numeric_table::Result<AnyTable>, Expected<Table>) {
    let count = shape.rows * shape.columns;
    let on_library_memory = |shape, layout, values| {
        Ok(Table::new(element, shape, layout, Memory::new(values, true), MemoryStatus::InternallyAllocated))
    };
    match origin {
        Origin::New(flag) => {
            let model = match flag {
                AllocationFlag::DoAllocate => Table::zeros(element, shape, layout),
                AllocationFlag::DoNotAllocate => Table::unallocated(element, shape, layout),
            };
            (real::new_table(element, shape, flag, layout), Ok(model))
        }
        Origin::Full(value) => {
            let value = value.saturate(element);
            (real::full_table(element, shape, value, layout), on_library_memory(shape, layout, vec![value; count]))
        }
        Origin::Rows(values) => {
            let values = repeated(element, &values, count);
            let real = match shape.columns {
                1 => real::table_from_rows::<1>(element, &values),
                2 => real::table_from_rows::<2>(element, &values),
                _ => real::table_from_rows::<3>(element, &values),
            };
            let shape = if shape.columns == 0 { Shape { rows: 0, columns: 3 } } else { shape };
            (real, on_library_memory(shape, DataLayout::RowMajor, values))
        }
        Origin::Dictionary => {
            let dictionary = DataDictionary::uniform(Feature::new(element), shape.columns);
            let shape = Shape { rows: 0, ..shape };
            let model = Table::unallocated(element, shape, DataLayout::RowMajor);
            (real::table_from_dictionary(element, dictionary), Ok(model))
        }
        Origin::Array(array) => {
            let spare = array.may_have_spare_rows;
            let (array, memory) = user_array_of(element, count, array);
            let real = real::table_from_array(array, shape, layout, spare);
            (real, Table::from_array(element, shape, layout, memory, spare))
        }
    }
}

fn repeated(element: ElementType, values: &[Number], count: usize) -> Vec<Number> {
    values.iter().cycle().take(count).map(|value| value.saturate(element)).collect()
}

/// Makes an array for `need` values, and its model.
fn user_array_of(element: ElementType, need: usize, array: UserArray) -> (AnyArray, Memory) {
    let count = need.saturating_add_signed(array.extra);
    let values = repeated(element, &array.values, count);
    with_type!(element, T => {
        let typed: Vec<T> = values.iter().map(|&value| T::from_number(value)).collect();
        match array.source {
            Source::Vec => (AnyArray::new(Array::from(typed)), Memory::new(values, true)),
            Source::OwnerMut => (AnyArray::new(Array::from_owner_mut(typed)), Memory::new(values, true)),
            Source::Shared => (AnyArray::new(Array::from(Arc::<[T]>::from(typed))), Memory::new(values, false)),
            Source::Static => {
                let pool = &T::POOL[..count];
                let values = pool.iter().map(|value| value.number()).collect();
                (AnyArray::new(Array::from(pool)), Memory::new(values, false))
            }
        }
    })
}

/// What the model shows, and expects of writing back and of ending the block.
type Written = (real::Shown, Expected<()>, Expected<()>);

fn write(
    table: &mut Table,
    element: ElementType,
    cut: Cut,
    rows: Range<usize>,
    edits: &[(usize, Number)],
    end: End,
) -> Expected<Written> {
    let (shown, region) = table.write(element, cut, rows)?;
    let mut values = shown.values.clone();
    state::edit(&mut values, edits, element);
    let back = |values: &[Number]| table.write_back(&region, values, element, ConversionPolicy::Checked, true);
    let is_written = shown.is_zero_copy || !matches!(end, End::Discard);
    let first = if is_written { back(&values) } else { Ok(()) };
    Ok(match end {
        End::Release => (shown, Ok(()), first),
        End::Discard | End::Drop => (shown, Ok(()), Ok(())),
        End::Correct => {
            let zeros = vec![Number::zero(element); values.len()];
            let last = if first.is_err() { back(&zeros) } else { Ok(()) };
            (shown, first, last)
        }
    })
}

fn run(creations: &[Operation], operations: &[Operation], looks_always: bool) -> TestCaseResult {
    let mut world = World::new();
    for (i, operation) in creations.iter().chain(operations).enumerate() {
        let checked = world.apply(operation).and_then(|()| if looks_always { world.check() } else { Ok(()) });
        checked.map_err(|error| TestCaseError::fail(format!("operation {i}, {operation:?}: {error}")))?;
    }
    world.check()?;
    world.blocks = World::new().blocks; // drops whatever is held, and with it every lease
    world.check()
}

fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}

/// Runs a test on random sequences, as many as the environment says. One that fails is printed in its shortest form.
fn run_sequences<S: Strategy>(sequences: &S, test: impl Fn(&S::Value) -> TestCaseResult) {
    let count =
        from_environment("NUMERIC_TABLE_SEQUENCES").unwrap_or(if cfg!(debug_assertions) { 2_000 } else { 10_000 });
    let seed = from_environment("NUMERIC_TABLE_SEED").unwrap_or_else(|| RandomState::new().build_hasher().finish());
    eprintln!("{count} sequences, NUMERIC_TABLE_SEED={seed}");
    let config = Config {
        cases: count.try_into().expect("at most 2^32"),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    match TestRunner::new(config).run(sequences, |sequence| test(&sequence)) {
        Ok(()) => {}
        Err(TestError::Fail(reason, sequence)) => panic!("NUMERIC_TABLE_SEED={seed}: {reason}\n{sequence:#?}"),
        Err(error) => panic!("NUMERIC_TABLE_SEED={seed}: {error}"),
    }
}

#[test]
fn random_sequences_of_calls_do_what_the_model_says() {
    // Looking at a table that waits for a block to come back is what fetches its memory: so not all sequences look.
    let sequence = (
        prop::collection::vec(creation(), 1..4),
        prop::collection::vec(operation(), 1..40),
        prop_oneof![4 => Just(true), 1 => any::<bool>()],
    );
    run_sequences(&sequence, |(creations, operations, looks_always)| run(creations, operations, *looks_always));
}
