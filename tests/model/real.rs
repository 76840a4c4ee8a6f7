//! The tables and descriptors under test, with their element types forgotten.

use std::ops::Range;

use numeric_table::prelude::*;
use numeric_table::{AnyArray, block::BlockKind};

use super::number::{Number, Typed, with_type};

type Result<T> = numeric_table::Result<T>;

/// Which values of a table a block shows, rows aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    AllColumns,
    Column(usize),
}

impl Cut {
    pub(crate) fn kind(self) -> BlockKind {
        match self {
            Self::AllColumns => BlockKind::Rows,
            Self::Column(_) => BlockKind::ColumnValues,
        }
    }
}

/// How a block that borrows its table ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Release,
    Discard,
    Drop,
    /// `write_back`; if that is refused, every value is made zero, which always fits; then `release`.
    Correct,
}

/// What a block shows before anybody writes it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) values: Vec<Number>,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
    pub(crate) is_zero_copy: bool,
}

pub(crate) type AnyTable = Box<dyn RealTable>;

/// A homogeneous table of one of the types that tables have here.
pub(crate) trait RealTable {
    fn get(&self) -> &dyn NumericTable;
    fn get_mut(&mut self) -> &mut dyn NumericTable;
    /// All values, row by row.
    fn values(&self) -> Result<Vec<Number>>;
    fn array(&self) -> Result<AnyArray>;
    fn shares_memory_with(&self, array: &AnyArray) -> bool;
    fn share(&self) -> AnyTable;
    fn slice_rows(&self, rows: Range<usize>) -> Result<AnyTable>;
    fn to_layout(&self, layout: DataLayout) -> Result<AnyTable>;
    fn convert(&self, element: ElementType) -> Result<AnyTable>;
    fn through_archive(&self) -> Result<AnyTable>;
    fn set_array(&mut self, array: AnyArray, rows: usize, may_have_spare_rows: bool) -> Result<()>;
    fn free_data_memory(&mut self) -> Result<()>;
    fn allocate_data_memory(&mut self) -> Result<()>;
    fn edit_slice(&mut self, edits: &[(usize, Number)]) -> Result<()>;
}

impl<T: Typed> RealTable for HomogenNumericTable<T> {
    fn get(&self) -> &dyn NumericTable {
        self
    }

    fn get_mut(&mut self) -> &mut dyn NumericTable {
        self
    }

    fn values(&self) -> Result<Vec<Number>> {
        let view = self.view()?;
        let Shape { rows, columns } = view.shape();
        let rows = if columns == 0 { 0 } else { rows }; // too many to walk over, maybe
        let positions = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Ok(positions.map(|(row, column)| view.value(row, column).expect("inside").number()).collect())
    }

    fn array(&self) -> Result<AnyArray> {
        Ok(AnyArray::new(self.array()?.clone()))
    }

    fn shares_memory_with(&self, array: &AnyArray) -> bool {
        let mine = self.array().expect("allocated, and not leased");
        array.downcast_ref::<T>().is_some_and(|array| mine.shares_memory_with(array))
    }

    fn share(&self) -> AnyTable {
        Box::new(self.clone())
    }

    fn slice_rows(&self, rows: Range<usize>) -> Result<AnyTable> {
        Ok(Box::new(self.slice_rows(rows)?))
    }

    fn to_layout(&self, layout: DataLayout) -> Result<AnyTable> {
        Ok(Box::new(self.to_layout(layout)?))
    }

    fn convert(&self, element: ElementType) -> Result<AnyTable> {
        with_type!(element, U => Ok(Box::new(self.convert::<U>()?)))
    }

    fn through_archive(&self) -> Result<AnyTable> {
        Ok(Box::new(Self::from_bytes(&self.to_bytes()?)?))
    }

    fn set_array(&mut self, array: AnyArray, rows: usize, may_have_spare_rows: bool) -> Result<()> {
        let array = array.downcast::<T>().expect("made for this table");
        if may_have_spare_rows { self.set_array_with_spare_rows(array, rows) } else { self.set_array(array, rows) }
    }

    fn free_data_memory(&mut self) -> Result<()> {
        self.free_data_memory()
    }

    fn allocate_data_memory(&mut self) -> Result<()> {
        self.allocate_data_memory()
    }

    fn edit_slice(&mut self, edits: &[(usize, Number)]) -> Result<()> {
        edit(self.as_mut_slice()?, edits);
        Ok(())
    }
}

/// A descriptor of one of the types that blocks have here.
pub(crate) trait RealBlock {
    fn get(
        &mut self,
        table: &mut dyn NumericTable,
        cut: Cut,
        first_row: usize,
        row_count: usize,
        mode: ReadWriteMode,
    ) -> Result<()>;
    fn read_rows(&mut self, table: &dyn NumericTable, rows: Range<usize>) -> Result<Vec<Number>>;
    fn release(&mut self, table: &mut dyn NumericTable, kind: BlockKind) -> Result<()>;
    fn edit(&mut self, edits: &[(usize, Number)]) -> Result<()>;
    fn shown(&self) -> Shown;
    fn mode(&self) -> Option<ReadWriteMode>;
    fn capacity(&self) -> usize;
}

impl<U: Typed> RealBlock for BlockDescriptor<U> {
    fn get(
        &mut self,
        table: &mut dyn NumericTable,
        cut: Cut,
        first_row: usize,
        row_count: usize,
        mode: ReadWriteMode,
    ) -> Result<()> {
        match cut {
            Cut::AllColumns => table.get_block_of_rows(first_row, row_count, mode, self),
            Cut::Column(column) => table.get_block_of_column_values(column, first_row, row_count, mode, self),
        }
    }

    fn read_rows(&mut self, table: &dyn NumericTable, rows: Range<usize>) -> Result<Vec<Number>> {
        Ok(numbers(table.read_rows(rows, self)?))
    }

    fn release(&mut self, table: &mut dyn NumericTable, kind: BlockKind) -> Result<()> {
        match kind {
            BlockKind::Rows => table.release_block_of_rows(self),
            _ => table.release_block_of_column_values(self),
        }
    }

    fn edit(&mut self, edits: &[(usize, Number)]) -> Result<()> {
        edit(self.as_mut_slice()?, edits);
        Ok(())
    }

    fn shown(&self) -> Shown {
        let (row, column) = (self.row_offset(), self.column_offset());
        Shown {
            values: numbers(self.as_slice()),
            rows: row..row + self.row_count(),
            columns: column..column + self.column_count(),
            is_zero_copy: self.is_zero_copy(),
        }
    }

    fn mode(&self) -> Option<ReadWriteMode> {
        self.mode()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }
}

pub(crate) fn new_table(
    element: ElementType,
    shape: Shape,
    flag: AllocationFlag,
    layout: DataLayout,
) -> Result<AnyTable> {
    with_type!(element, T => Ok(Box::new(HomogenNumericTable::<T>::new_with_layout(shape, flag, layout)?)))
}

pub(crate) fn full_table(element: ElementType, shape: Shape, value: Number, layout: DataLayout) -> Result<AnyTable> {
    with_type!(element, T => Ok(Box::new(HomogenNumericTable::full_with_layout(shape, T::from_number(value), layout)?)))
}

pub(crate) fn table_from_dictionary(element: ElementType, dictionary: DataDictionary) -> Result<AnyTable> {
    with_type!(element, T => Ok(Box::new(HomogenNumericTable::<T>::from_dictionary(dictionary)?)))
}

/// Copies rows of `COLUMNS` values each.
pub(crate) fn table_from_rows<const COLUMNS: usize>(element: ElementType, values: &[Number]) -> Result<AnyTable> {
    with_type!(element, T => {
        let values: Vec<T> = values.iter().map(|&value| T::from_number(value)).collect();
        let (rows, _) = values.as_chunks::<COLUMNS>();
        Ok(Box::new(HomogenNumericTable::from_rows(rows)?))
    })
}

/// `may_have_spare_rows` counts in row-major tables only.
pub(crate) fn table_from_array(
    array: AnyArray,
    shape: Shape,
    layout: DataLayout,
    may_have_spare_rows: bool,
) -> Result<AnyTable> {
    with_type!(array.element_type(), T => {
        let array = array.downcast::<T>().expect("its own type");
        Ok(Box::new(match layout {
            DataLayout::RowMajor if may_have_spare_rows => {
                HomogenNumericTable::from_array_with_spare_rows(array, shape)?
            }
            _ => HomogenNumericTable::from_array_with_layout(array, shape, layout)?,
        }))
    })
}

pub(crate) fn new_block(element: ElementType, policy: Option<ConversionPolicy>) -> Box<dyn RealBlock> {
    with_type!(element, U => match policy {
        None => Box::new(BlockDescriptor::<U>::new()),
        Some(policy) => Box::new(BlockDescriptor::<U>::with_policy(policy)),
    })
}

pub(crate) fn read(table: &dyn NumericTable, element: ElementType, cut: Cut, rows: Range<usize>) -> Result<Shown> {
    macro_rules! shown {
        ($block:expr) => {{
            let block = $block?;
            Shown {
                values: numbers(&block),
                rows: block.row_range(),
                columns: columns_of(cut, block.column_count()),
                is_zero_copy: block.is_zero_copy(),
            }
        }};
    }
    with_type!(element, U => Ok(match cut {
        Cut::AllColumns => shown!(table.rows::<U>(rows)),
        Cut::Column(column) => shown!(table.column::<U>(column, rows)),
    }))
}

/// What a writable block showed, what its first writing back gave, and what ending it gave.
pub(crate) type Written = (Shown, Result<()>, Result<()>);

pub(crate) fn write(
    table: &mut dyn NumericTable,
    element: ElementType,
    cut: Cut,
    rows: Range<usize>,
    edits: &[(usize, Number)],
    end: End,
) -> Result<Written> {
    macro_rules! written {
        ($block:expr) => {{
            let mut block = $block?;
            let shown = Shown {
                values: numbers(&block),
                rows: block.row_range(),
                columns: columns_of(cut, block.column_count()),
                is_zero_copy: block.is_zero_copy(),
            };
            edit(&mut block, edits);
            let (mut first, mut last) = (Ok(()), Ok(()));
            match end {
                End::Release => last = block.release(),
                End::Discard => block.discard(),
                End::Drop => drop(block),
                End::Correct => {
                    first = block.write_back();
                    if first.is_err() {
                        block.fill(Typed::from_number(Number::zero(element)));
                    }
                    last = block.release();
                }
            }
            (shown, first, last)
        }};
    }
    with_type!(element, U => Ok(match cut {
        Cut::AllColumns => written!(table.rows_mut::<U>(rows)),
        Cut::Column(column) => written!(table.column_mut::<U>(column, rows)),
    }))
}

pub(crate) fn value(table: &dyn NumericTable, element: ElementType, row: usize, column: usize) -> Result<Number> {
    with_type!(element, U => Ok(table.value::<U>(row, column)?.number()))
}

pub(crate) fn set_value(
    table: &mut dyn NumericTable,
    element: ElementType,
    row: usize,
    column: usize,
    value: Number,
) -> Result<()> {
    with_type!(element, U => table.set_value(row, column, U::from_number(value)))
}

pub(crate) fn assign(table: &mut dyn NumericTable, element: ElementType, value: Number) -> Result<()> {
    with_type!(element, U => table.fill(U::from_number(value)))
}

fn columns_of(cut: Cut, count: usize) -> Range<usize> {
    match cut {
        Cut::AllColumns => 0..count,
        Cut::Column(column) => column..column + count,
    }
}

fn numbers<U: Typed>(values: &[U]) -> Vec<Number> {
    values.iter().map(|value| value.number()).collect()
}

/// Writes values; positions past the end count on from the start.
fn edit<U: Typed>(values: &mut [U], edits: &[(usize, Number)]) {
    for &(position, value) in edits {
        if !values.is_empty() {
            let position = position % values.len();
            values[position] = U::from_number(value.saturate(U::TYPE));
        }
    }
}
