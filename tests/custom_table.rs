//! A new kind of table implements the primitives of `NumericTable`, and nothing else: two are made here, and everything
//! that `BlockAccess` offers is tried on them.
//!
//! `Stacked` is one table on top of another: its rows lie in two pieces of memory, so that a block may or may not be
//! one of them. `Ramp` has no memory at all: it computes its values, and nobody can write them. Both leave all
//! conversion to a `HomogenNumericTable` of the values concerned.
//! Semantics: the pages of `NumericTable`, `RegionMut`, `Lease` and `BlockAccess`.

use std::marker::PhantomData;
use std::ops::Range;

use numeric_table::convert::WriteRule;
use numeric_table::prelude::*;
use numeric_table::table::{Lease, Region, RegionMut, TableId};
use numeric_table::{AnyArray, AnyArrayRef, AnySlice, AnySliceMut, AnyValue, BasicStatistics, SaveOptions, load_any};

type Result<T, E = Error> = std::result::Result<T, E>;

fn whole(shape: Shape) -> Region {
    Region { rows: 0..shape.rows, columns: 0..shape.columns }
}

/// Turns positions in a part of a table into positions in the table.
fn moved(error: Error, row_offset: usize, column_offset: usize) -> Error {
    match error {
        Error::ValueNotRepresentable { row, column, value, target } => {
            Error::ValueNotRepresentable { row: row + row_offset, column: column + column_offset, value, target }
        }
        Error::BlockOutstanding { rows } => {
            Error::BlockOutstanding { rows: rows.start + row_offset..rows.end + row_offset }
        }
        other => other,
    }
}

fn typed<T: Element>(array: AnyArray) -> Array<T> {
    array.downcast().unwrap_or_else(|other| panic!("asked for {}, got {}", T::TYPE, other.element_type()))
}

/// A table of the values of a region.
fn table_of<T: Element>(values: Vec<T>, region: &Region) -> Result<HomogenNumericTable<T>> {
    HomogenNumericTable::from_array(values, region.shape())
}

/// One table on top of another, of the same type and number of columns.
struct Stacked<T: Element> {
    id: TableId,
    head: HomogenNumericTable<T>,
    tail: HomogenNumericTable<T>,
}

impl<T: Element> Stacked<T> {
    fn new(head: HomogenNumericTable<T>, tail: HomogenNumericTable<T>) -> Self {
        assert_eq!(head.column_count(), tail.column_count());
        Self { id: TableId::new(), head, tail }
    }

    /// The parts of a region, each as a region of its table.
    fn parts(&self, region: &Region) -> [Region; 2] {
        let (seam, Region { rows, columns }) = (self.head.row_count(), region.clone());
        [
            Region { rows: rows.start.min(seam)..rows.end.min(seam), columns: columns.clone() },
            Region { rows: rows.start.saturating_sub(seam)..rows.end.saturating_sub(seam), columns },
        ]
    }

    /// Makes sure that no block is out, and the region is inside.
    fn check(&self, region: &Region) -> Result<()> {
        self.head.view()?;
        self.tail.view().map_err(|error| moved(error, self.head.row_count(), 0))?;
        region.check(self.shape())
    }

    fn table_of(&self, region: &Region) -> Result<HomogenNumericTable<T>> {
        self.check(region)?;
        let [head, tail] = self.parts(region);
        let head = self.head.copy_region(&head, T::TYPE, ConversionPolicy::Saturate)?;
        let tail = self.tail.copy_region(&tail, T::TYPE, ConversionPolicy::Saturate)?;
        table_of([&typed::<T>(head)[..], &typed(tail)].concat(), region)
    }

    fn cut_mut(&mut self, region: &Region) -> Result<StackedRegion<'_, T>> {
        let [head, tail] = self.parts(region);
        let (head, tail) = (self.head.region_mut(&head)?, self.tail.region_mut(&tail)?);
        Ok(StackedRegion { region: region.clone(), head, tail, element: PhantomData })
    }
}

impl<T: Element> NumericTable for Stacked<T> {
    fn shape(&self) -> Shape {
        Shape { rows: self.head.row_count() + self.tail.row_count(), columns: self.head.column_count() }
    }

    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn data_layout(&self) -> DataLayout {
        self.head.data_layout()
    }

    fn data_memory_status(&self) -> MemoryStatus {
        self.head.data_memory_status()
    }

    fn dictionary(&self) -> &DataDictionary {
        self.head.dictionary()
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        self.head.set_dictionary(dictionary)
    }

    fn reset_dictionary(&mut self) {
        self.head.reset_dictionary();
    }

    /// Rows come and go at the end.
    fn resize(&mut self, rows: usize) -> Result<()> {
        self.check(&Region::default())?;
        self.tail.resize(rows.saturating_sub(self.head.row_count()))?;
        self.head.resize(rows.min(self.head.row_count()))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        self.table_of(&whole(self.shape()))?.to_bytes()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn borrow_region(&self, region: &Region) -> Result<Option<AnySlice<'_>>> {
        self.check(region)?;
        match self.parts(region) {
            [head, tail] if tail.rows.is_empty() => self.head.borrow_region(&head),
            [head, tail] if head.rows.is_empty() => self.tail.borrow_region(&tail),
            _ => Ok(None),
        }
    }

    fn array_of_region(&self, region: &Region) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        self.check(region)?;
        match self.parts(region) {
            [head, tail] if tail.rows.is_empty() => self.head.array_of_region(&head),
            [head, tail] if head.rows.is_empty() => self.tail.array_of_region(&tail),
            _ => Ok(None),
        }
    }

    fn read_region(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        let table = self.table_of(region)?;
        let read = table.read_region(&whole(table.shape()), target, policy);
        read.map_err(|error| moved(error, region.rows.start, region.columns.start))
    }

    fn copy_region(&self, region: &Region, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        let table = self.table_of(region)?;
        let copy = table.copy_region(&whole(table.shape()), element_type, policy);
        copy.map_err(|error| moved(error, region.rows.start, region.columns.start))
    }

    fn region_mut(&mut self, region: &Region) -> Result<Box<dyn RegionMut<'_> + '_>> {
        self.check(region)?;
        Ok(Box::new(self.cut_mut(region)?))
    }

    /// Blocks that are written in place are lent by the part that they lie in.
    fn lend_region(&mut self, region: &Region, in_place: bool, lease: &mut Lease) -> Result<()> {
        self.check(region)?;
        match self.parts(region) {
            _ if !in_place => {
                lease.reset(region);
                Ok(())
            }
            [head, tail] if tail.rows.is_empty() => self.head.lend_region(&head, true, lease),
            [head, tail] if head.rows.is_empty() => self.tail.lend_region(&tail, true, lease),
            _ => Err(Error::NotContiguous),
        }
    }

    fn take_back(&mut self, lease: &mut Lease) -> Result<()> {
        if lease.is_empty() {
            return Ok(());
        }
        self.head.take_back(lease).or_else(|_| self.tail.take_back(lease))
    }
}

/// A region of a `Stacked`: what of it lies in either part.
struct StackedRegion<'t, T> {
    region: Region,
    head: Box<dyn RegionMut<'t> + 't>,
    tail: Box<dyn RegionMut<'t> + 't>,
    element: PhantomData<T>,
}

impl<T: Element> StackedRegion<'_, T> {
    fn table(&self) -> Result<HomogenNumericTable<T>> {
        let head = self.head.copy(T::TYPE, ConversionPolicy::Saturate)?;
        let tail = self.tail.copy(T::TYPE, ConversionPolicy::Saturate)?;
        table_of([&typed::<T>(head)[..], &typed(tail)].concat(), &self.region)
    }

    /// Changes a copy of the values, all or nothing, and writes it, which cannot fail.
    fn update(&mut self, change: impl FnOnce(Box<dyn RegionMut<'_> + '_>) -> Result<()>) -> Result<()> {
        let mut table = self.table()?;
        let changed = change(table.region_mut(&whole(self.region.shape()))?);
        changed.map_err(|error| moved(error, self.region.rows.start, self.region.columns.start))?;
        let (head, tail) = table.as_slice()?.split_at(self.head.region().shape().element_count()?);
        let rule = WriteRule { policy: ConversionPolicy::Saturate, keep_unchanged: false };
        self.head.write(AnySlice::new(head), rule)?;
        self.tail.write(AnySlice::new(tail), rule)
    }
}

impl<'t, T: Element> RegionMut<'t> for StackedRegion<'t, T> {
    fn region(&self) -> Region {
        self.region.clone()
    }

    fn element_type(&self) -> ElementType {
        T::TYPE
    }

    fn into_slice(self: Box<Self>) -> Result<AnySliceMut<'t>, Box<dyn RegionMut<'t> + 't>> {
        let Self { region, head, tail, element } = *self;
        if tail.region().rows.is_empty() {
            return head.into_slice().map_err(|head| Box::new(Self { region, head, tail, element }) as _);
        }
        if head.region().rows.is_empty() {
            return tail.into_slice().map_err(|tail| Box::new(Self { region, head, tail, element }) as _);
        }
        Err(Box::new(Self { region, head, tail, element }))
    }

    fn copy(&self, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        let table = self.table()?;
        let copy = table.copy_region(&whole(table.shape()), element_type, policy);
        copy.map_err(|error| moved(error, self.region.rows.start, self.region.columns.start))
    }

    fn write(&mut self, values: AnySlice<'_>, rule: WriteRule) -> Result<()> {
        self.update(|mut region| region.write(values, rule))
    }

    fn fill(&mut self, value: AnyValue, policy: ConversionPolicy) -> Result<()> {
        self.update(|mut region| region.fill(value, policy))
    }

    fn split_at_row(self: Box<Self>, rows: usize) -> (Box<dyn RegionMut<'t> + 't>, Box<dyn RegionMut<'t> + 't>) {
        let Self { region, head, tail, element } = *self;
        let rows = rows.min(region.rows.len());
        let middle = region.rows.start + rows;
        let first = Region { rows: region.rows.start..middle, ..region.clone() };
        let second = Region { rows: middle..region.rows.end, ..region };
        let rows_of_tail = rows.saturating_sub(head.region().rows.len());
        let (first_head, second_head) = head.split_at_row(rows);
        let (first_tail, second_tail) = tail.split_at_row(rows_of_tail);
        (
            Box::new(Self { region: first, head: first_head, tail: first_tail, element }),
            Box::new(Self { region: second, head: second_head, tail: second_tail, element }),
        )
    }
}

/// The whole numbers from 0 on, row by row. They are computed, and nobody can write them.
struct Ramp {
    id: TableId,
    shape: Shape,
    dictionary: DataDictionary,
    /// What it lends in place of any region, if that is not nothing.
    lie: Option<Vec<f64>>,
}

impl Ramp {
    fn new(shape: Shape) -> Self {
        let dictionary = DataDictionary::uniform(Feature::new(ElementType::I32), shape.columns);
        Self { id: TableId::new(), shape, dictionary, lie: None }
    }

    fn table_of(&self, region: &Region) -> Result<HomogenNumericTable<i32>> {
        region.check(self.shape)?;
        let columns = self.shape.columns;
        let row = |row: usize| region.columns.clone().map(move |column| (row * columns + column) as i32);
        table_of(region.rows.clone().flat_map(row).collect(), region)
    }
}

impl NumericTable for Ramp {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn element_type(&self) -> ElementType {
        ElementType::I32
    }

    fn data_layout(&self) -> DataLayout {
        DataLayout::RowMajor
    }

    fn data_memory_status(&self) -> MemoryStatus {
        MemoryStatus::NotAllocated
    }

    fn dictionary(&self) -> &DataDictionary {
        &self.dictionary
    }

    fn set_dictionary(&mut self, dictionary: DataDictionary) -> Result<()> {
        let (features, columns, element) = (dictionary.len(), self.shape.columns, ElementType::I32);
        let found =
            dictionary.iter().map(|feature| feature.element_type).enumerate().find(|&(_, found)| found != element);
        if features != columns || found.is_some() {
            return Err(Error::DictionaryMismatch { features, columns, element, found });
        }
        self.dictionary = dictionary;
        Ok(())
    }

    fn reset_dictionary(&mut self) {
        self.dictionary = DataDictionary::uniform(Feature::new(ElementType::I32), self.shape.columns);
    }

    fn resize(&mut self, rows: usize) -> Result<()> {
        self.shape.rows = rows;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        self.table_of(&whole(self.shape))?.to_bytes()
    }

    fn id(&self) -> TableId {
        self.id
    }

    fn borrow_region(&self, region: &Region) -> Result<Option<AnySlice<'_>>> {
        region.check(self.shape)?;
        Ok(self.lie.as_deref().map(AnySlice::new))
    }

    fn array_of_region(&self, region: &Region) -> Result<Option<(AnyArrayRef<'_>, Range<usize>)>> {
        region.check(self.shape)?;
        Ok(None)
    }

    fn read_region(&self, region: &Region, target: AnySliceMut<'_>, policy: ConversionPolicy) -> Result<()> {
        let table = self.table_of(region)?;
        let read = table.read_region(&whole(table.shape()), target, policy);
        read.map_err(|error| moved(error, region.rows.start, region.columns.start))
    }

    fn copy_region(&self, region: &Region, element_type: ElementType, policy: ConversionPolicy) -> Result<AnyArray> {
        let table = self.table_of(region)?;
        let copy = table.copy_region(&whole(table.shape()), element_type, policy);
        copy.map_err(|error| moved(error, region.rows.start, region.columns.start))
    }

    fn region_mut(&mut self, region: &Region) -> Result<Box<dyn RegionMut<'_> + '_>> {
        region.check(self.shape)?;
        Err(Error::ImmutableData)
    }
}

/// `[[1, 2], [3, 4]]` on top of `[[5, 6], [7, 8], [9, 10]]`.
fn stacked<T: Element + From<u8>>() -> Stacked<T> {
    let row = |first: u8| [T::from(first), T::from(first + 1)];
    let head = HomogenNumericTable::from_rows(&[row(1), row(3)]).unwrap();
    let tail = HomogenNumericTable::from_rows(&[row(5), row(7), row(9)]).unwrap();
    Stacked::new(head, tail)
}

/// All values, whatever kind of table it is.
fn values_of<U: Element>(table: &dyn NumericTable) -> Vec<U> {
    table.rows::<U>(0..table.row_count()).unwrap().to_vec()
}

#[test]
fn any_kind_of_table_is_saved_as_a_homogeneous_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.ntb");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 70_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        table.save_with(&path, SaveOptions::new().durable(false)).unwrap();
        let loaded = load_any(&path).unwrap();
        assert_eq!((loaded.shape(), loaded.element_type()), (table.shape(), table.element_type()));
        assert_eq!(values_of::<f64>(&*loaded), values_of::<f64>(table));
    }
}

#[test]
fn rows_across_the_seam_come_from_both_parts() {
    let table = stacked::<i16>();
    assert_eq!(&table.rows::<f64>(1..4).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn rows_across_the_seam_are_a_copy_even_if_the_type_is_the_stored_one() {
    let table = stacked::<i16>();
    let block = table.rows::<i16>(1..3).unwrap();
    assert_eq!((&block[..], block.is_zero_copy()), (&[3, 4, 5, 6][..], false));
}

#[test]
fn rows_of_one_part_are_its_memory() {
    let table = stacked::<i16>();
    for (rows, address) in [(0..2, table.head.as_slice().unwrap()), (3..5, &table.tail.as_slice().unwrap()[2..])] {
        let block = table.rows::<i16>(rows).unwrap();
        assert!(block.is_zero_copy());
        assert_eq!(block.as_ptr(), address.as_ptr());
    }
}

#[test]
fn columns_run_across_the_seam() {
    let table = stacked::<i16>();
    assert_eq!(&table.column::<f32>(1, 0..5).unwrap()[..], [2.0, 4.0, 6.0, 8.0, 10.0]);
}

#[test]
fn row_blocks_walk_across_the_seam() {
    let table = stacked::<u8>();
    let blocks: Vec<Vec<f32>> = table.row_blocks(2).unwrap().map(|block| block.unwrap().to_vec()).collect();
    assert_eq!(blocks, [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0], vec![9.0, 10.0]]);
}

#[test]
fn rows_that_the_table_does_not_have_are_refused() {
    let table = stacked::<u8>();
    assert!(matches!(table.rows::<u8>(4..6), Err(Error::RowsOutOfRange { row_count: 5, .. })));
}

#[test]
fn a_converted_block_is_written_back_into_both_parts() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<f64>(1..3).unwrap();
    block.iter_mut().for_each(|value| *value *= 10.0);
    block.release().unwrap();
    assert_eq!(table.head.as_slice().unwrap(), [1, 2, 30, 40]);
    assert_eq!(table.tail.as_slice().unwrap(), [50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_block_of_one_part_is_written_in_place() {
    let mut table = stacked::<i32>();
    let mut block = table.rows_mut::<i32>(2..3).unwrap();
    assert!(block.is_zero_copy());
    block.fill(0);
    block.discard(); // nothing to write back
    assert_eq!(values_of::<i32>(&table), [1, 2, 3, 4, 0, 0, 7, 8, 9, 10]);
}

#[test]
fn a_column_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    table.column_mut::<i64>(0, 1..4).unwrap().fill(0);
    assert_eq!(values_of::<u8>(&table), [1, 2, 0, 4, 0, 6, 0, 8, 9, 10]);
}

#[test]
fn an_update_across_the_seam_writes_both_parts_or_neither() {
    let mut table = stacked::<u8>();
    let double = |block: &mut RowBlockMut<'_, i32>| {
        block.iter_mut().for_each(|value| *value *= 2);
        Ok(block.row_count())
    };
    assert_eq!(table.update_rows(1..4, double).unwrap(), 3);
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
    for value in [256_i64, -1] {
        let refused = table.update_column::<i64, _>(1, .., |column| {
            column.fill(7);
            column[3] = value;
            Ok(())
        });
        assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    }
    let given_up = table.update_rows::<u8, ()>(0..2, |block| {
        block.fill(0); // rows of one part, which could be written in place
        Err(Error::other("given up"))
    });
    assert!(matches!(given_up, Err(Error::Other { .. })), "{given_up:?}");
    assert_eq!(values_of::<u8>(&table), [1, 2, 6, 8, 10, 12, 14, 16, 9, 10]);
}

#[test]
fn an_update_of_a_table_that_takes_no_writer_is_an_error() {
    let mut table = Ramp::new(Shape { rows: 2, columns: 2 });
    assert!(
        table
            .update_rows::<i32, _>(.., |block| {
                block.fill(0);
                Ok(())
            })
            .is_err()
    );
    assert!(table.update_row_blocks::<f64>(1, |_| Ok(())).is_err());
}

#[test]
fn a_refused_value_in_the_second_part_leaves_the_first_unchanged() {
    let mut table = stacked::<u8>();
    let mut block = table.rows_mut::<i32>(1..4).unwrap();
    block.fill(100);
    block[5] = 256;
    let refused = block.release();
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_value_nobody_changed_survives_in_both_parts() {
    let big = (1_i64 << 53) + 1; // no f64 holds this
    let rows = HomogenNumericTable::from_rows(&[[big, 1]]).unwrap();
    let mut table = Stacked::new(rows.clone(), rows);
    let mut block = table.rows_mut::<f64>(0..2).unwrap();
    (block[1], block[3]) = (7.0, 8.0);
    block.release().unwrap();
    assert_eq!(values_of::<i64>(&table), [big, 7, big, 8]);
}

#[test]
fn writable_row_blocks_are_disjoint_across_the_seam() {
    let mut table = stacked::<i16>();
    let blocks: Vec<_> = table.row_blocks_mut::<f32>(3).unwrap().map(Result::unwrap).collect();
    for (i, mut block) in blocks.into_iter().enumerate() {
        block.iter_mut().for_each(|value| *value += 100.0 * (i + 1) as f32);
        block.release().unwrap();
    }
    assert_eq!(values_of::<i16>(&table), [101, 102, 103, 104, 105, 106, 207, 208, 209, 210]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_writers_write_both_parts() {
    use rayon::iter::ParallelIterator;
    let mut table = stacked::<i16>();
    let blocks = table.par_row_blocks_mut::<i64>(1).unwrap();
    let written = blocks.try_for_each(|block| {
        let mut block = block?;
        block.iter_mut().for_each(|value| *value = -*value);
        block.release()
    });
    assert!(written.is_ok());
    assert_eq!(values_of::<i16>(&table), [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10]);
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_readers_read_both_parts() {
    use rayon::iter::ParallelIterator;
    let table = stacked::<u8>();
    let sums = table.par_row_blocks::<f64>(2).unwrap().map(|block| block.map(|block| block.iter().sum::<f64>()));
    assert_eq!(sums.collect::<Result<Vec<_>>>().unwrap(), [10.0, 26.0, 19.0]);
}

#[test]
fn a_descriptor_reads_across_the_seam_into_a_buffer_that_it_keeps() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f32>::new();
    let mut values = Vec::new();
    for first_row in (0..5).step_by(3) {
        table.get_block_of_rows(first_row, 3, ReadWriteMode::ReadOnly, &mut block).unwrap();
        values.extend_from_slice(block.as_slice());
        table.release_block_of_rows(&mut block).unwrap();
    }
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    assert_eq!(block.capacity(), 6);
}

#[test]
fn a_block_taken_for_reading_keeps_what_it_showed() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(2, 1, ReadWriteMode::ReadOnly, &mut block).unwrap();
    assert!(block.is_zero_copy());
    table.assign(0).unwrap();
    assert_eq!(block.as_slice(), [5, 6]);
    assert_eq!(values_of::<u8>(&table), [0; 10]);
}

#[test]
fn a_converted_descriptor_is_written_back_into_both_parts() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 2, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[30.0, 40.0, 50.0, 60.0]);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 40, 50, 60, 7, 8, 9, 10]);
}

#[test]
fn a_descriptor_can_be_corrected_after_a_refused_value() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<i32>::new();
    table.get_block_of_column_values(1, 1, 3, ReadWriteMode::WriteOnly, &mut block).unwrap();
    block.as_mut_slice().unwrap().copy_from_slice(&[40, 60, -1]);
    let refused = table.release_block_of_column_values(&mut block);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
    block.as_mut_slice().unwrap()[2] = 80;
    table.release_block_of_column_values(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 40, 5, 60, 7, 80, 9, 10]);
}

#[test]
fn a_descriptor_writes_one_part_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 9, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(block.is_zero_copy());
    block.as_mut_slice().unwrap().fill(0);
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 3, 4, 5, 6, 0, 0, 0, 0]);
}

#[test]
fn a_table_that_lends_nothing_is_used_while_a_converted_block_is_out() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<f64>::new();
    table.get_block_of_rows(1, 3, ReadWriteMode::ReadWrite, &mut block).unwrap();
    block.as_mut_slice().unwrap()[0] = 30.0;
    table.set_value(4, 1, 100).unwrap();
    table.release_block_of_rows(&mut block).unwrap();
    assert_eq!(values_of::<u8>(&table), [1, 2, 30, 4, 5, 6, 7, 8, 9, 100]);
}

#[test]
fn every_other_access_is_refused_while_a_part_is_written_in_place() {
    let mut table = stacked::<u8>();
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(3, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(matches!(table.rows::<u8>(0..1), Err(Error::BlockOutstanding { rows }) if rows == (3..4)));
    drop(block);
    assert_eq!(&table.rows::<u8>(0..1).unwrap()[..], [1, 2]);
}

#[test]
fn a_block_is_released_only_where_it_was_taken() {
    let (mut table, mut other) = (stacked::<u8>(), stacked::<u8>());
    let mut block = BlockDescriptor::<f32>::new();
    table.get_block_of_rows(0, 5, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert!(matches!(other.release_block_of_rows(&mut block), Err(Error::WrongTable)));
    assert!(matches!(table.release_block_of_column_values(&mut block), Err(Error::WrongBlockKind { .. })));
    table.release_block_of_rows(&mut block).unwrap();
}

#[test]
fn single_values_are_read_and_written_on_either_side_of_the_seam() {
    let mut table = stacked::<u8>();
    table.set_value(1, 1, 40.0).unwrap();
    table.set_value(2, 0, 50_i64).unwrap();
    assert_eq!((table.value::<f64>(1, 1).unwrap(), table.value::<u16>(2, 0).unwrap()), (40.0, 50));
}

#[test]
fn a_value_that_does_not_fit_names_its_position_in_the_table() {
    let mut table = stacked::<u8>();
    let refused = table.set_value(3, 1, 300);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 1, .. })), "{refused:?}");
}

#[test]
fn a_value_that_cannot_be_read_names_its_position_in_the_table() {
    let table = Stacked::new(
        HomogenNumericTable::from_rows(&[[1.0], [2.0]]).unwrap(),
        HomogenNumericTable::from_rows(&[[3.0], [f64::NAN]]).unwrap(),
    );
    let refused = table.rows_with::<i32>(1..4, ConversionPolicy::Checked);
    assert!(matches!(refused, Err(Error::ValueNotRepresentable { row: 3, column: 0, .. })), "{refused:?}");
}

#[test]
fn a_generated_table_gives_blocks_of_any_type() {
    let table = Ramp::new(Shape { rows: 4, columns: 3 });
    assert_eq!(&table.rows::<f64>(1..3).unwrap()[..], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(&table.rows::<i32>(1..2).unwrap()[..], [3, 4, 5]);
    assert_eq!(&table.column::<u8>(2, 0..4).unwrap()[..], [2, 5, 8, 11]);
    assert_eq!(table.value::<f32>(3, 2).unwrap(), 11.0);
}

#[test]
fn any_kind_of_table_has_statistics_and_is_printed() {
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 5, columns: 2 }));
    let tables: [(&dyn NumericTable, f64, &str); 2] = [
        (&stacked, 1.0, "5 x 2 i16, row major\n   0   1\n0  1   2\n1  3   4\n2  5   6\n3  7   8\n4  9  10"),
        (&ramp, 0.0, "5 x 2 i32, row major\n   0  1\n0  0  1\n1  2  3\n2  4  5\n3  6  7\n4  8  9"), // and no memory
    ];
    for (table, first, text) in tables {
        let statistics = BasicStatistics::of(table).unwrap();
        for (column, first) in statistics.columns().iter().zip([first, first + 1.0]) {
            assert_eq!((column.minimum(), column.maximum(), column.mean()), (first, first + 8.0, first + 4.0));
            assert_eq!(column.variance(), 10.0);
        }
        assert_eq!(table.to_string(), text);
    }
}

#[cfg(feature = "npy")]
#[test]
fn any_kind_of_table_is_written_as_a_numpy_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array.npy");
    let (stacked, ramp) = (stacked::<i16>(), Ramp::new(Shape { rows: 200_000, columns: 3 }));
    let tables: [&dyn NumericTable; 2] = [&stacked, &ramp];
    for table in tables {
        let mut bytes = Vec::new();
        table.write_npy(&mut bytes).unwrap();
        table.save_npy_with(&path, SaveOptions::new().durable(false)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        let copy = numeric_table::read_npy_any(&bytes[..]).unwrap();
        assert_eq!((copy.shape(), copy.element_type()), (table.shape(), table.element_type()));
        assert_eq!(values_of::<f64>(&*copy), values_of::<f64>(table));
    }
}

#[test]
fn statistics_of_a_table_that_lends_too_few_values_are_refused() {
    let mut table = Ramp::new(Shape { rows: 5, columns: 2 });
    for lie in [vec![], vec![1.0], vec![f64::NAN], vec![1.0; 11]] {
        let found = lie.len();
        table.lie = Some(lie);
        let refused = BasicStatistics::of(&table);
        assert!(matches!(refused, Err(Error::LengthMismatch { expected: 10, found: f }) if f == found), "{refused:?}");
    }
}

#[test]
fn a_generated_table_is_read_through_a_descriptor_that_keeps_its_buffer() {
    let table = Ramp::new(Shape { rows: 4, columns: 3 });
    let mut block = BlockDescriptor::<i32>::new();
    for row in 0..4 {
        let first = 3 * row as i32;
        assert_eq!(table.read_rows(row..row + 1, &mut block).unwrap(), [first, first + 1, first + 2]);
    }
    assert_eq!(block.capacity(), 3);
}

#[test]
fn a_generated_table_refuses_every_writer() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 3 });
    assert!(matches!(table.rows_mut::<i32>(0..1), Err(Error::ImmutableData)));
    assert!(matches!(table.column_mut::<f64>(0, 0..1), Err(Error::ImmutableData)));
    assert!(matches!(table.set_value(0, 0, 1), Err(Error::ImmutableData)));
    assert!(matches!(table.assign(1), Err(Error::ImmutableData)));
    assert!(table.row_blocks_mut::<f32>(2).is_err());
}

#[test]
fn a_descriptor_holds_nothing_after_a_refused_get() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 3 });
    let mut block = BlockDescriptor::<f64>::new();
    let refused = table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block);
    assert!(matches!(refused, Err(Error::ImmutableData)));
    assert!(matches!(table.release_block_of_rows(&mut block), Err(Error::NoBlock)));
}

#[test]
fn a_pipeline_holds_any_kind_of_table() {
    let mut tables: Vec<Box<dyn NumericTable>> = vec![
        Box::new(stacked::<u8>()),
        Box::new(Ramp::new(Shape { rows: 5, columns: 2 })),
        Box::new(HomogenNumericTable::full(Shape { rows: 5, columns: 2 }, 1.0_f32).unwrap()),
    ];
    let sums = tables.iter().map(|table| values_of::<f64>(&**table).iter().sum::<f64>()).collect::<Vec<_>>();
    assert_eq!(sums, [55.0, 45.0, 10.0]);
    let mut block = BlockDescriptor::<f32>::new();
    for table in &mut tables {
        table.get_block_of_rows(1, 2, ReadWriteMode::ReadOnly, &mut block).unwrap();
        assert_eq!((block.row_count(), block.column_count(), block.row_offset()), (2, 2, 1));
        table.release_block_of_rows(&mut block).unwrap();
        table.resize(3).unwrap();
        assert_eq!(table.shape(), Shape { rows: 3, columns: 2 });
    }
}

#[test]
fn what_a_custom_table_archives_is_read_as_a_homogeneous_one() {
    let table: Box<dyn NumericTable> = Box::new(stacked::<u8>());
    let copy = HomogenNumericTable::<u8>::from_bytes(&table.to_bytes().unwrap()).unwrap();
    assert_eq!(copy.as_slice().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn what_every_table_derives_from_its_dictionary_works_for_a_custom_one() {
    let mut table = Ramp::new(Shape { rows: 4, columns: 2 });
    let features = ["kind", "size"].map(|name| Feature::new(ElementType::I32).named(name).categorical(3));
    table.set_dictionary(features.into_iter().collect()).unwrap();
    assert_eq!(table.feature_type(1).unwrap(), FeatureType::Categorical);
    assert_eq!(table.category_count(0).unwrap(), Some(3));
}
