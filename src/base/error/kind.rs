//! What can go wrong, each kind with its facts.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::cause::{Difference, SparseFault, Unsolvable};
use crate::base::copy::CopyReason;
use crate::base::element::ElementType;
use crate::base::mode::{BlockKind, ReadWriteMode};
use crate::base::shape::Shape;
use crate::base::text::label;
use crate::base::value::AnyValue;

/// What went wrong, with what was asked for and what the limit is: [`Error::kind`](super::Error::kind) returns it.
///
/// Kinds are grouped by what a caller can do about them. The file is [`Error::path`](super::Error::path), the row and
/// the column are [`Error::place`](super::Error::place), and what helps is [`Error::hints`](super::Error::hints).
///
/// # Examples
/// ```
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.0_f32, 2.0], [3.0, 4.0]])?;
/// let error = table.rows::<f64>(1..3).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::RowsOutOfRange { row_count: 2, .. }));
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    // What was asked for does not exist.
    /// A range of rows does not lie inside the table, or runs backwards.
    #[error("rows {}..{} are out of range: the table has {row_count} rows", rows.start, rows.end)]
    RowsOutOfRange {
        /// The rows that were asked for.
        rows: Range<usize>,
        /// The number of rows that the table has.
        row_count: usize,
    },
    /// A column index is not below the number of columns.
    #[error("column {column} is out of range: the table has {column_count} columns")]
    ColumnOutOfRange {
        /// The column that was asked for.
        column: usize,
        /// The number of columns that the table has.
        column_count: usize,
    },
    /// Elements, columns, categories or files that are asked for do not exist, or their range runs backwards.
    #[error("{} out of range: there are {count} {what}", asked(what, range))]
    OutOfRange {
        /// What is asked for, in the plural: `elements`, `columns`, `categories`, `shards`.
        what: &'static str,
        /// The range that was asked for; of one index, from it to the next.
        range: Range<usize>,
        /// How many there are.
        count: usize,
    },
    /// No column, array or element type has the name.
    #[error("no {what} has the name {name:?}{near}")]
    UnknownName {
        /// What was looked for: `column`, `array`, `element type`.
        what: &'static str,
        /// The name, shortened if it is long.
        name: String,
        /// Names that are similar, in words; empty if there are none.
        near: String,
    },
    // Memory and limits.
    /// The system refused to allocate the memory: [`Error::refused_bytes`](super::Error::refused_bytes) returns how
    /// much.
    #[error("out of memory")]
    OutOfMemory,
    /// A shape needs more bytes than can be addressed.
    #[error(
        "a table of {shape}{} values is larger than memory can be",
        element.map_or(String::new(), |of| format!(" {of}"))
    )]
    SizeOverflow {
        /// The shape that was asked for; an array counts as one column.
        shape: Shape,
        /// The element type, if one is known.
        element: Option<ElementType>,
    },
    /// A number is larger than this library, a format or a counter can hold.
    #[error("{found} {what} are more than the limit of {limit}")]
    LimitExceeded {
        /// What is counted, in the plural: `columns`, `counted rows`.
        what: &'static str,
        /// The number that was needed.
        found: u128,
        /// The largest number that is allowed.
        limit: u64,
    },
    // Numbers of values.
    /// An array holds fewer or more values than the shape needs; none of them is dropped silently.
    #[error(
        "the array is too {}: it has {have} values and the shape needs {need}",
        if have < need { "short" } else { "long" }
    )]
    ArrayLength {
        /// The number of values in the array.
        have: usize,
        /// The number of values that the shape needs.
        need: usize,
    },
    /// Two slices that must have the same length do not.
    #[error("lengths differ: {found} values were given for {expected}")]
    LengthMismatch {
        /// The number of values that were needed.
        expected: usize,
        /// The number of values that were given.
        found: usize,
    },
    /// A slice of rows ends in the middle of a row.
    #[error("{values} values are not whole rows of {columns} columns")]
    NotWholeRows {
        /// The number of values that were given.
        values: usize,
        /// The number of values in a row.
        columns: usize,
    },
    /// Two tables that must have the same shape do not.
    #[error("shapes differ: {found} was given for {expected}")]
    ShapeMismatch {
        /// The shape that was needed.
        expected: Shape,
        /// The shape that was given.
        found: Shape,
    },
    /// A row or a column that is copied into a new table has another number of values than the first one.
    #[error("{what} {index}{} has {found} values, and the first has {expected}", in_brackets(name.as_deref()))]
    UnequalLengths {
        /// What has the values: `row` or `column`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its name, if it has one, shortened if it is long.
        name: Option<String>,
        /// The number of values of the first one.
        expected: usize,
        /// The number of values of this one.
        found: usize,
    },
    /// A result needs more rows than there are.
    #[error("{rows} rows are too few: {needed} are needed")]
    TooFewRows {
        /// The number of rows.
        rows: u64,
        /// The least number that is enough.
        needed: u64,
    },
    // Arguments.
    /// A number that an algorithm is to use is not one that it can use.
    #[error("{name} is {value}: {allowed}")]
    ParameterOutOfRange {
        /// What the number is, in words.
        name: Cow<'static, str>,
        /// The number.
        value: f64,
        /// Which numbers are allowed, in words.
        allowed: Cow<'static, str>,
    },
    /// An option for reading or writing a CSV file contradicts another one, or the file.
    #[error("bad option for a CSV file: {reason}")]
    CsvOption {
        /// Which option is bad, and why.
        reason: String,
    },
    // Values.
    /// A value does not fit under the policy in force. It is the first such value in row-major order.
    #[error("the value {value} at row {row}, column {column} is not representable as {target}")]
    ValueNotRepresentable {
        /// The row of the value, in the table (or the index, in a slice).
        row: usize,
        /// The column of the value, in the table (0 in a slice).
        column: usize,
        /// The value that does not fit.
        value: AnyValue,
        /// The element type that it does not fit.
        target: ElementType,
    },
    /// A value is not one that an algorithm can use.
    #[error("the value {value} at row {row}, column {column} {reason}")]
    ValueNotAllowed {
        /// The row, in the table; of rows that are added, among these.
        row: usize,
        /// The column.
        column: usize,
        /// The value.
        value: f64,
        /// What is wrong with it, and which values are allowed.
        reason: String,
    },
    /// A value other than zero is written to a cell that a sparse or triangular matrix does not store. It is the first
    /// such cell in row-major order.
    #[error(
        "the cell at row {row}, column {column} is not stored{}: only zero can be written to it",
        value.map_or(String::new(), |value| format!(", and the value is {value}"))
    )]
    NotStored {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// The value that it was to get, if it is known.
        value: Option<AnyValue>,
    },
    /// Two cells that are one in a symmetric matrix are given values that differ as the matrix stores them. It is the
    /// first such pair in row-major order.
    #[error(
        "the value {value} at row {row}, column {column} differs from {mirrored} at row {}, column {}: the matrix is \
         symmetric",
        mirror.0, mirror.1
    )]
    UnequalMirror {
        /// The row of the cell above the diagonal.
        row: usize,
        /// The column of that cell.
        column: usize,
        /// The value of that cell.
        value: AnyValue,
        /// The row and the column of the cell below the diagonal.
        mirror: (usize, usize),
        /// The value of that cell.
        mirrored: AnyValue,
    },
    /// The values of a column, or of all, do not determine the result that was asked for.
    #[error("{reason}")]
    NotSolvable {
        /// What is wrong with them.
        cause: Unsolvable,
        /// The first such column, if it is one.
        column: Option<usize>,
        /// The condition number of the features, or a lower bound of it, where it is the reason.
        condition: Option<f64>,
        /// What is wrong with the values, in words.
        reason: String,
    },
    // Tables that do not fit.
    /// Tables that are joined, or are one table in several files, do not fit the first of them.
    #[error("table {table} does not fit{}: {reason}", if *table == 0 { "" } else { " the first" })]
    UnequalTables {
        /// The index of the table.
        table: usize,
        /// The first column that differs, if one does.
        column: Option<usize>,
        /// What differs.
        difference: Difference,
        /// What differs, in words.
        reason: String,
    },
    /// Partial results that are merged were made with other parameters.
    #[error("partial results cannot be merged: {reason}")]
    NotCombinable {
        /// What differs.
        reason: String,
    },
    /// A dictionary has another number of features than the table has columns, or another element type.
    #[error(
        "the dictionary describes {features} features and the table has {columns} columns of {element}{}",
        found.map(|(feature, found)| format!("; feature {feature} is {found}")).unwrap_or_default()
    )]
    DictionaryMismatch {
        /// The number of features in the dictionary.
        features: usize,
        /// The number of columns in the table.
        columns: usize,
        /// The element type of the table.
        element: ElementType,
        /// The first feature with another element type, and that type.
        found: Option<(usize, ElementType)>,
    },
    // Types.
    /// Columns have different element types where one type is needed.
    #[error("column {column} has values of {found} and column 0 of {first}, and one element type is needed")]
    MixedElementTypes {
        /// The first column of another type.
        column: usize,
        /// The type of column 0.
        first: ElementType,
        /// The type of that column.
        found: ElementType,
    },
    /// Values of one element type were given where another is stored.
    #[error(
        "the element type{} is {found}, not {expected}",
        column.map_or(String::new(), |column| format!(" of column {column}"))
    )]
    ElementTypeMismatch {
        /// The element type that was needed.
        expected: ElementType,
        /// The element type that was found.
        found: ElementType,
        /// The column, if it is about one.
        column: Option<usize>,
    },
    /// Another library or format has no such element type.
    #[error("{target} has no element type {element}: convert the table first")]
    UnsupportedElementType {
        /// The element type of the table.
        element: ElementType,
        /// The library or format, by its name.
        target: &'static str,
    },
    /// An archive or a file holds a table of another kind.
    #[error("the table is of kind {found}, not {expected}")]
    TableKindMismatch {
        /// The name of the kind that was asked for.
        expected: &'static str,
        /// The name of the kind that is there.
        found: &'static str,
    },
    // State of a table.
    /// The table has rows, but no memory yet.
    #[error("the table has rows but no memory is allocated for them")]
    NotAllocated,
    /// A column of a structure of arrays has no values yet.
    #[error("column {column} has no values yet")]
    ColumnNotSet {
        /// The first such column that was asked for.
        column: usize,
    },
    /// The table cannot be changed, or not in this way.
    #[error("the table is read-only, or cannot be changed in this way")]
    ReadOnlyTable,
    /// The table has no piece of memory for a value, and does not override how it is read or written.
    #[error("the value at row {row}, column {column} does not lie in memory")]
    NotInMemory {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An implementation of [`NumericTable`](crate::NumericTable) returned a piece of memory that does not cover the
    /// value that was asked for.
    #[error(
        "the piece for row {row}, column {column} covers rows {}..{}, columns {}..{}",
        rows.start, rows.end, columns.start, columns.end
    )]
    MisplacedPiece {
        /// The row that was asked for.
        row: usize,
        /// The column that was asked for.
        column: usize,
        /// The rows of the piece.
        rows: Range<usize>,
        /// The columns of the piece.
        columns: Range<usize>,
    },
    // Blocks.
    /// A writable block is outstanding; the table is leased to it until it is released or dropped.
    #[error("a writable block of rows {}..{} is outstanding", rows.start, rows.end)]
    BlockOutstanding {
        /// The rows that the outstanding block covers.
        rows: Range<usize>,
    },
    /// A block is released on a table that it was not taken from.
    #[error("the block belongs to another table")]
    WrongTable,
    /// A descriptor holds no block, or a block of column values where rows are released, or the other way round.
    #[error("{}", held(*found, *expected))]
    WrongBlockKind {
        /// The kind that the call releases.
        expected: BlockKind,
        /// The kind that the descriptor holds; `None` if it holds no block.
        found: Option<BlockKind>,
    },
    /// A block that was taken for reading is written.
    #[error("the block is not writable: its mode is {mode}")]
    NotWritable {
        /// The mode that the block was taken with.
        mode: ReadWriteMode,
    },
    // Memory of others.
    /// The memory may not be written: its owner lends it for reading only, or other arrays share it.
    #[error(
        "the array's data is {}",
        if *owner_count > 1 { format!("shared by {owner_count} owners") } else { "immutable".to_owned() }
    )]
    ImmutableData {
        /// The number of arrays that share the memory, this one included; 1 if it is lent for reading only.
        owner_count: usize,
    },
    /// A copy is needed, but the policy forbids it.
    #[error("a copy is needed, and was forbidden: {reason}")]
    CopyRequired {
        /// Why the copy is needed.
        reason: CopyReason,
    },
    /// Values do not lie in memory as a call needs them, which would have to copy them.
    #[error("{reason}")]
    MemoryLayout {
        /// How they lie, and what is needed.
        reason: String,
    },
    /// The row offsets and column indices of a sparse table contradict each other, or its shape.
    #[error("{reason}")]
    SparseStructure {
        /// What is wrong.
        fault: SparseFault,
        /// The row, if it is known.
        row: Option<usize>,
        /// The position among the indices, if one of them is wrong.
        position: Option<usize>,
        /// What is wrong and what is allowed, in words.
        reason: String,
    },
    /// Records do not have the fields that a table of them needs.
    #[error("{reason}")]
    RecordLayout {
        /// The first column that is concerned, if one is.
        column: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// Columns of an array of structures are the same bytes of a record, so that they cannot be written.
    #[error("columns {first} and {second} have bytes of a record in common, so they cannot be written")]
    OverlappingFields {
        /// The first column.
        first: usize,
        /// The other column.
        second: usize,
    },
    // Files and other libraries.
    /// The system failed to read or write a file, or a reader or writer that the caller passed in has failed.
    #[error("{source}")]
    Io {
        /// The error of the system.
        source: io::Error,
    },
    /// A file cannot be replaced atomically: the file system cannot rename, or the old file is a mount point.
    /// [`SaveOptions::in_place`](crate::SaveOptions::in_place) overwrites it instead.
    #[error("the file cannot be replaced at once, only written in place: {source}")]
    RenameUnsupported {
        /// The error of the system.
        source: io::Error,
    },
    /// An archive or a file is damaged, or is not in a format of this library.
    #[error("bad format at byte {offset}: {reason}")]
    Format {
        /// The position in bytes where the damage was found.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A field or a line of a text file (CSV, svmlight, MatrixMarket) is not what the format or the table needs. It is
    /// the first such place in the file.
    #[error(
        "line {line}{}{}: {text:?} {reason}",
        byte.map_or(String::new(), |byte| format!(", byte {byte}")),
        of_column(*column, name.as_deref())
    )]
    Text {
        /// The line of the file, counted from 1. Of a quoted field that spans several lines it is the first.
        line: u64,
        /// The position in that line, in bytes, counted from 1, where it is known.
        byte: Option<u64>,
        /// The column of the file, counted from 0; `None` if the error is about the whole line.
        column: Option<usize>,
        /// The name of that column, if it has one, cut to at most 40 characters.
        name: Option<String>,
        /// The text that is there, cut to at most 40 characters; empty at the end of a line or of the file.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not the one that shards were opened with, or that their manifest means: it was replaced.
    #[error("the file was replaced: its {part} is {found}, and should be {expected}")]
    ShardChanged {
        /// What differs, in words: `size in bytes`, `number of rows`, `checksum of the header`, `checksum of the
        /// values`.
        part: &'static str,
        /// What it was.
        expected: u64,
        /// What it is now.
        found: u64,
    },
    /// Another library or format has no place for something that a table holds, or the other way round.
    #[error("{target}{}: {}", what_of(*column, name.as_deref()), label(reason, REASON_LIMIT))]
    Unsupported {
        /// The library or format, by its name.
        target: &'static str,
        /// The row, if it is about one.
        row: Option<usize>,
        /// The column, counted from 0, if it is about one.
        column: Option<usize>,
        /// The name of that column or array, shortened if it is long.
        name: Option<String>,
        /// What cannot be expressed. Rows of Arrow are counted in the batch or array that it names.
        reason: String,
    },
    /// Another library that was called has failed: Arrow, or an object store. `source` is its error, of the version
    /// that this crate is built with: `source.downcast_ref::<object_store::Error>()`.
    #[error("{reason}")]
    Foreign {
        /// What the library says, in words.
        reason: String,
        /// The error of the library, of its own type.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The caller's own error, returned by a closure that the caller passed in: made by
    /// [`Error::other`](super::Error::other).
    #[error(transparent)]
    Other {
        /// The caller's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Terminal columns that a foreign name takes in a message at most, escapes included.
const LABEL_LIMIT: usize = 40;

/// Terminal columns that a reason with foreign names in it takes in a message at most.
const REASON_LIMIT: usize = 300;

/// Returns the part of a message that names a column; empty if it is about none.
fn of_column(column: Option<usize>, name: Option<&str>) -> String {
    column.map_or(String::new(), |column| format!(", column {column}{}", in_brackets(name)))
}

/// Returns the part of a message that names a column, an array or a word of another library.
fn what_of(column: Option<usize>, name: Option<&str>) -> String {
    match column {
        Some(column) => format!(" column {column}{}", in_brackets(name)),
        None => {
            let name = name.filter(|name| !name.is_empty());
            name.map_or(String::new(), |name| format!(" {:?}", label(name, LABEL_LIMIT)))
        }
    }
}

/// Returns a name in brackets; empty if there is none.
fn in_brackets(name: Option<&str>) -> String {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(String::new(), |name| format!(" ({})", label(name, LABEL_LIMIT)))
}

/// Returns what was asked for, in words.
fn asked(what: &str, range: &Range<usize>) -> String {
    match range.end.checked_sub(range.start) {
        Some(1) => format!("index {} is", range.start),
        _ => format!("{what} {}..{} are", range.start, range.end),
    }
}

/// Returns what a descriptor holds where another kind of block is released, in words.
fn held(found: Option<BlockKind>, expected: BlockKind) -> String {
    match found {
        Some(found) => format!("the descriptor holds {found}, not {expected}"),
        None => "the descriptor holds no block".to_owned(),
    }
}
