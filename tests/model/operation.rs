//! One call, with its arguments, and how random ones are made.

use std::ops::Range;

use numeric_table::block::BlockKind;
use numeric_table::prelude::*;
use proptest::prelude::{Just, Strategy, any, prop};
use proptest::prop_oneof;

use super::number::{ELEMENTS, Number};
use super::real::{Cut, End};
use super::state::Table;

/// Places for tables.
pub(crate) const TABLES: usize = 4;

/// Places for descriptors, and the types that they have at first.
pub(crate) const BLOCKS: [ElementType; 4] = [ElementType::F64, ElementType::F32, ElementType::I32, ElementType::U8];

/// Rows to ask for.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// Inside of the table: both numbers are taken modulo what it has.
    Inside(usize, usize),
    Exactly(Range<usize>),
}

impl Rows {
    pub(crate) fn of(&self, table: &Table) -> Range<usize> {
        match self {
            Self::Inside(one, other) => {
                let end = table.shape.rows.saturating_add(1);
                let (one, other) = (one % end, other % end);
                one.min(other)..one.max(other)
            }
            Self::Exactly(rows) => rows.clone(),
        }
    }
}

/// A column to ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Inside of the table, if it has columns: the number is taken modulo them.
    Inside(usize),
    Exactly(usize),
}

impl Column {
    pub(crate) fn of(self, table: &Table) -> usize {
        match self {
            Self::Inside(column) => column % table.shape.columns.max(1),
            Self::Exactly(column) => column,
        }
    }
}

/// Which columns of a block to ask for: all, or one.
pub(crate) type Columns = Option<Column>;

pub(crate) fn cut(columns: Columns, table: &Table) -> Cut {
    columns.map_or(Cut::AllColumns, |column| Cut::Column(column.of(table)))
}

/// Where an array comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Vec,
    OwnerMut,
    Shared,
    Static,
}

/// An array of the user: as long as needed, and some more, or less.
#[derive(Clone, Debug)]
pub(crate) struct UserArray {
    pub(crate) source: Source,
    pub(crate) extra: isize,
    pub(crate) may_have_spare_rows: bool,
    pub(crate) values: Vec<Number>,
}

#[derive(Clone, Debug)]
pub(crate) enum Origin {
    New(AllocationFlag),
    Full(Number),
    Rows(Vec<Number>),
    Dictionary,
    Array(UserArray),
}

pub(crate) type Edits = Vec<(usize, Number)>;

/// One call. `table`, `from` and `to` are places for tables, `block` for descriptors. An empty place stands for one
/// that is not, if there is one.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Create {
        to: usize,
        element: ElementType,
        shape: Shape,
        layout: DataLayout,
        origin: Origin,
    },
    CreateOnArrayOf {
        from: usize,
        to: usize,
        shape: Shape,
        layout: DataLayout,
        may_have_spare_rows: bool,
    },
    Clone {
        from: usize,
        to: usize,
    },
    SliceRows {
        from: usize,
        to: usize,
        rows: Rows,
    },
    ToLayout {
        from: usize,
        to: usize,
        layout: DataLayout,
    },
    Convert {
        from: usize,
        to: usize,
        element: ElementType,
    },
    ThroughArchive {
        from: usize,
        to: usize,
    },
    DropTable {
        table: usize,
    },
    Resize {
        table: usize,
        rows: usize,
    },
    SetArray {
        table: usize,
        rows: usize,
        array: UserArray,
    },
    SetDictionary {
        table: usize,
        more_columns: usize,
        element: Option<ElementType>,
        name: String,
    },
    ResetDictionary {
        table: usize,
    },
    FreeDataMemory {
        table: usize,
    },
    AllocateDataMemory {
        table: usize,
    },
    EditSlice {
        table: usize,
        edits: Edits,
    },
    Read {
        table: usize,
        element: ElementType,
        columns: Columns,
        rows: Rows,
    },
    Write {
        table: usize,
        element: ElementType,
        columns: Columns,
        rows: Rows,
        edits: Edits,
        end: End,
    },
    Value {
        table: usize,
        element: ElementType,
        row: Rows,
        column: Column,
    },
    SetValue {
        table: usize,
        element: ElementType,
        row: Rows,
        column: Column,
        value: Number,
    },
    Assign {
        table: usize,
        element: ElementType,
        value: Number,
    },
    Get {
        table: usize,
        block: usize,
        columns: Columns,
        rows: Rows,
        mode: ReadWriteMode,
    },
    ReadRows {
        table: usize,
        block: usize,
        rows: Rows,
    },
    EditBlock {
        block: usize,
        edits: Edits,
    },
    /// On the table that the block is from, if that is still there, and as what it is. This and the others that end or
    /// edit a block take a descriptor that holds one, if they can.
    Release {
        block: usize,
    },
    ReleaseOn {
        table: usize,
        block: usize,
        kind: BlockKind,
    },
    ReplaceBlock {
        block: usize,
        element: ElementType,
        policy: Option<ConversionPolicy>,
    },
}

fn rows() -> impl Strategy<Value = Rows> + Clone {
    let number = prop_oneof![20 => 0_usize..9, 1 => usize::MAX - 1..=usize::MAX];
    prop_oneof![
        5 => (0_usize..9, 0_usize..9).prop_map(|(one, other)| Rows::Inside(one, other)),
        1 => (number.clone(), number).prop_map(|(start, end)| Rows::Exactly(start..end)),
    ]
}

fn column() -> impl Strategy<Value = Column> + Clone {
    prop_oneof![
        15 => (0_usize..4).prop_map(Column::Inside),
        1 => prop_oneof![0_usize..5, Just(usize::MAX)].prop_map(Column::Exactly),
    ]
}

fn columns() -> impl Strategy<Value = Columns> + Clone {
    prop_oneof![3 => Just(None), 2 => column().prop_map(Some)]
}

fn element() -> impl Strategy<Value = ElementType> + Clone {
    prop::sample::select(ELEMENTS)
}

fn layout() -> impl Strategy<Value = DataLayout> + Clone {
    prop_oneof![3 => Just(DataLayout::RowMajor), 2 => Just(DataLayout::ColumnMajor)]
}

fn shape() -> impl Strategy<Value = Shape> + Clone {
    (0_usize..6, prop_oneof![1 => 0_usize..1, 12 => 1_usize..4]).prop_map(|(rows, columns)| Shape { rows, columns })
}

fn value() -> impl Strategy<Value = Number> + Clone {
    prop_oneof![2 => prop::sample::select(Number::TAME), 3 => prop::sample::select(Number::WILD)]
}

fn edits() -> impl Strategy<Value = Edits> + Clone {
    let tame = prop::sample::select(Number::TAME);
    let calm = prop::collection::vec((0_usize..16, tame), 0..5);
    let any = prop::collection::vec((0_usize..16, value()), 1..5);
    prop_oneof![1 => calm, 2 => any]
}

fn user_array() -> impl Strategy<Value = UserArray> + Clone {
    let source = prop_oneof![Just(Source::Vec), Just(Source::OwnerMut), Just(Source::Shared), Just(Source::Static)];
    let length = prop_oneof![
        3 => (Just(0), any::<bool>()),
        3 => (prop_oneof![2 => Just(6), 1 => 1_isize..9], Just(true)),
        1 => (prop_oneof![-2_isize..0, 1_isize..9], any::<bool>()),
    ];
    let values = prop::collection::vec(value(), 1..6);
    (source, length, values).prop_map(|(source, (extra, may_have_spare_rows), values)| UserArray {
        source,
        extra,
        may_have_spare_rows,
        values,
    })
}

pub(crate) fn creation() -> impl Strategy<Value = Operation> + Clone {
    let origin = prop_oneof![
        2 => Just(Origin::New(AllocationFlag::DoAllocate)),
        1 => Just(Origin::New(AllocationFlag::DoNotAllocate)),
        1 => value().prop_map(Origin::Full),
        3 => prop::collection::vec(value(), 1..6).prop_map(Origin::Rows),
        1 => Just(Origin::Dictionary),
        6 => user_array().prop_map(Origin::Array),
    ];
    (0..TABLES, element(), shape(), layout(), origin)
        .prop_map(|(to, element, shape, layout, origin)| Operation::Create { to, element, shape, layout, origin })
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    use Operation as O;
    let table = || 0..TABLES;
    let block = || 0..BLOCKS.len();
    let row_count = || prop_oneof![24 => 0_usize..9, 1 => usize::MAX - 1..=usize::MAX];
    let end = prop_oneof![
        4 => Just(End::Release),
        1 => Just(End::Discard),
        1 => Just(End::Drop),
        2 => Just(End::Correct),
    ];
    let mode = prop_oneof![
        2 => Just(ReadWriteMode::ReadOnly),
        1 => Just(ReadWriteMode::WriteOnly),
        3 => Just(ReadWriteMode::ReadWrite),
    ];
    let kind = prop_oneof![Just(BlockKind::Rows), Just(BlockKind::ColumnValues)];
    let policy = prop_oneof![
        2 => Just(None),
        1 => Just(Some(ConversionPolicy::Saturate)),
        1 => Just(Some(ConversionPolicy::Checked)),
    ];
    prop_oneof![
        3 => creation(),
        1 => (table(), table(), shape(), layout(), any::<bool>()).prop_map(
            |(from, to, shape, layout, may_have_spare_rows)| {
                O::CreateOnArrayOf { from, to, shape, layout, may_have_spare_rows }
            }
        ),
        3 => (table(), table()).prop_map(|(from, to)| O::Clone { from, to }),
        3 => (table(), table(), rows()).prop_map(|(from, to, rows)| O::SliceRows { from, to, rows }),
        2 => (table(), table(), layout()).prop_map(|(from, to, layout)| O::ToLayout { from, to, layout }),
        2 => (table(), table(), element()).prop_map(|(from, to, element)| O::Convert { from, to, element }),
        1 => (table(), table()).prop_map(|(from, to)| O::ThroughArchive { from, to }),
        1 => table().prop_map(|table| O::DropTable { table }),
        5 => (table(), row_count()).prop_map(|(table, rows)| O::Resize { table, rows }),
        2 => (table(), 0_usize..7, user_array()).prop_map(|(table, rows, array)| O::SetArray { table, rows, array }),
        1 => (table(), prop_oneof![4 => 0_usize..1, 1 => 1_usize..2], prop::option::weighted(0.2, element()), "[a-c]")
            .prop_map(|(table, more_columns, element, name)| O::SetDictionary { table, more_columns, element, name }),
        1 => table().prop_map(|table| O::ResetDictionary { table }),
        1 => table().prop_map(|table| O::FreeDataMemory { table }),
        1 => table().prop_map(|table| O::AllocateDataMemory { table }),
        2 => (table(), edits()).prop_map(|(table, edits)| O::EditSlice { table, edits }),
        2 => (table(), element(), columns(), rows())
            .prop_map(|(table, element, columns, rows)| O::Read { table, element, columns, rows }),
        5 => (table(), element(), columns(), rows(), edits(), end)
            .prop_map(|(table, element, columns, rows, edits, end)| {
                O::Write { table, element, columns, rows, edits, end }
            }),
        1 => (table(), element(), rows(), column())
            .prop_map(|(table, element, row, column)| O::Value { table, element, row, column }),
        2 => (table(), element(), rows(), column(), value())
            .prop_map(|(table, element, row, column, value)| O::SetValue { table, element, row, column, value }),
        1 => (table(), element(), value()).prop_map(|(table, element, value)| O::Assign { table, element, value }),
        10 => (table(), block(), columns(), rows(), mode)
            .prop_map(|(table, block, columns, rows, mode)| O::Get { table, block, columns, rows, mode }),
        2 => (table(), block(), rows()).prop_map(|(table, block, rows)| O::ReadRows { table, block, rows }),
        8 => (block(), edits()).prop_map(|(block, edits)| O::EditBlock { block, edits }),
        6 => block().prop_map(|block| O::Release { block }),
        1 => (table(), block(), kind).prop_map(|(table, block, kind)| O::ReleaseOn { table, block, kind }),
        3 => (block(), element(), policy)
            .prop_map(|(block, element, policy)| O::ReplaceBlock { block, element, policy }),
    ]
}
