//! One call, with its arguments, and how random ones are made.

use std::ops::Range;

use numeric_table::prelude::*;
use proptest::prelude::{Just, Strategy, any, prop};
use proptest::prop_oneof;

use super::super::number::{ELEMENTS, Number};
use super::fill::How;

/// Places for tables.
pub(super) const TABLES: usize = 3;

/// Rows to ask for: taken modulo what there is, unless the first number says that they are as they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows(usize, usize);

impl Rows {
    const EXACTLY: usize = 1000;

    pub(super) fn of(self, rows: usize) -> Range<usize> {
        if self.0 >= Self::EXACTLY {
            return self.0 - Self::EXACTLY..self.1;
        }
        let (one, other) = (self.0 % (rows + 1), self.1 % (rows + 1));
        one.min(other)..one.max(other)
    }

    pub(super) fn inside(self, rows: usize) -> Range<usize> {
        Self(self.0 % Self::EXACTLY, self.1).of(rows)
    }
}

/// A column: taken modulo the number of columns, or the first that does not exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column(usize);

impl Column {
    pub(super) fn of(self, columns: usize) -> usize {
        if self.0 == usize::MAX { columns } else { self.0 % columns }
    }

    pub(super) fn inside(self, columns: usize) -> usize {
        self.0 % columns
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Columns,
    Homogeneous,
    /// Side by side, cut at a column; the right table is homogeneous if it can be.
    SideBySide(usize, bool),
    EndToEnd(usize, bool),
}

#[derive(Clone, Debug)]
pub(super) struct Creation {
    pub(super) kind: Kind,
    pub(super) rows: usize,
    pub(super) types: Vec<ElementType>,
    pub(super) values: Vec<Number>,
    /// Which columns are nullable, and which cells are missing, in turn.
    pub(super) nullable: u8,
    pub(super) gaps: u64,
}

pub(super) type Edits = Vec<(usize, Number)>;

#[derive(Clone, Debug)]
pub(super) enum Call {
    Create(Creation),
    Read {
        element: ElementType,
        policy: ConversionPolicy,
        column: Option<Column>,
        rows: Rows,
    },
    Update {
        element: ElementType,
        column: Option<Column>,
        rows: Rows,
        edits: Edits,
    },
    Lend {
        element: ElementType,
        mode: ReadWriteMode,
        column: Option<Column>,
        rows: Rows,
        edits: Edits,
    },
    SetValue {
        element: ElementType,
        row: usize,
        column: Column,
        value: Number,
    },
    Fill {
        element: ElementType,
        value: Number,
    },
    SetMissing {
        row: usize,
        column: Column,
    },
    SetMissingWhere {
        column: Column,
        bits: u64,
    },
    FillMissing {
        columns: Rows,
        how: How,
    },
    DropMissing {
        columns: Rows,
    },
    Append {
        element: ElementType,
        rows: usize,
        values: Vec<Number>,
        is_row: bool,
    },
    AppendTable {
        other: usize,
    },
    Resize {
        rows: usize,
    },
    Clone {
        to: usize,
    },
    Take {
        rows: Vec<usize>,
    },
    Filter {
        bits: u64,
    },
    Sort {
        column: Column,
    },
    Sample {
        count: usize,
        seed: u64,
        shuffles: bool,
    },
    StackBelow {
        other: usize,
    },
    StackBeside {
        other: usize,
    },
    ToColumns,
    ToTable,
    SetColumn {
        column: Column,
        element: ElementType,
        values: Vec<Number>,
        gaps: Option<u64>,
    },
    WithNullable {
        element: ElementType,
        values: Vec<Number>,
        gaps: u64,
    },
    RemoveColumn {
        column: Column,
    },
    ResetDictionary,
    /// Looks at some rows and columns through a view, and copies them if `keeps`.
    View {
        rows: Rows,
        columns: Vec<usize>,
        element: ElementType,
        keeps: bool,
    },
}

fn value() -> impl Strategy<Value = Number> + Clone {
    let nan = Just(Number::Float(f64::NAN));
    prop_oneof![4 => prop::sample::select(Number::TAME), 4 => prop::sample::select(Number::WILD), 2 => nan]
}

fn values() -> impl Strategy<Value = Vec<Number>> + Clone {
    prop::collection::vec(value(), 1..9)
}

fn element() -> impl Strategy<Value = ElementType> + Clone {
    prop::sample::select(ELEMENTS)
}

fn rows() -> impl Strategy<Value = Rows> + Clone {
    prop_oneof![
        9 => (0_usize..140, 0_usize..140).prop_map(|(one, other)| Rows(one, other)),
        1 => (0_usize..9, 0_usize..9).prop_map(|(start, end)| Rows(Rows::EXACTLY + start, end)),
    ]
}

fn column() -> impl Strategy<Value = Column> + Clone {
    prop_oneof![15 => (0_usize..12).prop_map(Column), 1 => Just(Column(usize::MAX))]
}

fn gaps() -> impl Strategy<Value = u64> + Clone {
    prop_oneof![4 => any::<u64>(), 2 => (any::<u64>(), any::<u64>()).prop_map(|(one, other)| one & other), 1 => Just(0)]
}

pub(super) fn creation() -> impl Strategy<Value = Creation> + Clone {
    let kind = prop_oneof![
        4 => Just(Kind::Columns),
        1 => Just(Kind::Homogeneous),
        2 => (0_usize..5, any::<bool>()).prop_map(|(cut, is_plain)| Kind::SideBySide(cut, is_plain)),
        2 => (0_usize..70, any::<bool>()).prop_map(|(cut, is_plain)| Kind::EndToEnd(cut, is_plain)),
    ];
    let rows = prop_oneof![10 => 0_usize..8, 1 => 62_usize..68, 1 => 126_usize..131];
    let one_type = element().prop_flat_map(|element| prop::collection::vec(Just(element), 1..4));
    let types = prop_oneof![2 => prop::collection::vec(element(), 1..5), 1 => one_type];
    (kind, rows, types, values(), any::<u8>(), gaps())
        .prop_map(|(kind, rows, types, values, nullable, gaps)| Creation { kind, rows, types, values, nullable, gaps })
}

/// One call on a table. An empty place stands for nothing.
pub(super) fn call() -> impl Strategy<Value = (usize, Call)> {
    let edits = || prop::collection::vec((0_usize..200, value()), 0..6);
    let some_column = || prop_oneof![1 => Just(None), 1 => column().prop_map(Some)];
    let policy =
        prop::sample::select(&[ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact][..]);
    let mode = prop::sample::select(&[ReadWriteMode::ReadOnly, ReadWriteMode::ReadWrite, ReadWriteMode::WriteOnly][..]);
    let how = prop_oneof![
        3 => (element(), value()).prop_map(|(element, value)| How::Value(element, value.saturate(element))),
        1 => Just(How::Previous),
        1 => Just(How::Next),
        1 => Just(How::Mean),
        1 => Just(How::Median),
    ];
    let at = || 0..TABLES;
    let reading = prop_oneof![
        4 => (element(), policy, some_column(), rows())
            .prop_map(|(element, policy, column, rows)| Call::Read { element, policy, column, rows }),
        3 => (rows(), prop::collection::vec(0_usize..12, 1..5), element(), any::<bool>())
            .prop_map(|(rows, columns, element, keeps)| Call::View { rows, columns, element, keeps }),
    ];
    let writing = prop_oneof![
        6 => (element(), some_column(), rows(), edits())
            .prop_map(|(element, column, rows, edits)| Call::Update { element, column, rows, edits }),
        6 => (element(), mode, some_column(), rows(), edits())
            .prop_map(|(element, mode, column, rows, edits)| Call::Lend { element, mode, column, rows, edits }),
        4 => (element(), 0_usize..9, column(), value())
            .prop_map(|(element, row, column, value)| Call::SetValue { element, row, column, value }),
        1 => (element(), value()).prop_map(|(element, value)| Call::Fill { element, value }),
        4 => (0_usize..9, column()).prop_map(|(row, column)| Call::SetMissing { row, column }),
        3 => (column(), gaps()).prop_map(|(column, bits)| Call::SetMissingWhere { column, bits }),
        4 => (rows(), how).prop_map(|(columns, how)| Call::FillMissing { columns, how }),
    ];
    let growing = prop_oneof![
        4 => (element(), 0_usize..4, values(), any::<bool>())
            .prop_map(|(element, rows, values, is_row)| Call::Append { element, rows, values, is_row }),
        2 => at().prop_map(|other| Call::AppendTable { other }),
        2 => (0_usize..9).prop_map(|rows| Call::Resize { rows }),
        4 => (column(), element(), values(), prop::option::of(gaps()))
            .prop_map(|(column, element, values, gaps)| Call::SetColumn { column, element, values, gaps }),
        1 => column().prop_map(|column| Call::RemoveColumn { column }),
        1 => Just(Call::ResetDictionary),
    ];
    let copying = prop_oneof![
        1 => creation().prop_map(Call::Create),
        3 => at().prop_map(|to| Call::Clone { to }),
        2 => prop::collection::vec(0_usize..140, 0..9).prop_map(|rows| Call::Take { rows }),
        2 => any::<u64>().prop_map(|bits| Call::Filter { bits }),
        2 => rows().prop_map(|columns| Call::DropMissing { columns }),
        4 => column().prop_map(|column| Call::Sort { column }),
        1 => (0_usize..9, any::<u64>(), any::<bool>())
            .prop_map(|(count, seed, shuffles)| Call::Sample { count, seed, shuffles }),
        2 => at().prop_map(|other| Call::StackBelow { other }),
        2 => at().prop_map(|other| Call::StackBeside { other }),
        2 => (element(), values(), gaps())
            .prop_map(|(element, values, gaps)| Call::WithNullable { element, values, gaps }),
        1 => Just(Call::ToColumns),
        1 => Just(Call::ToTable),
    ];
    (at(), prop_oneof![2 => reading, 5 => writing, 2 => growing, 2 => copying])
}
