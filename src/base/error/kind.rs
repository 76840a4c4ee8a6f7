//! The kinds of errors, each with its facts.

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

/// What went wrong, with the requested value and the limit. Returned by [`Error::kind`](super::Error::kind).
///
/// Kinds are grouped by how a caller can respond. [`Error::path`](super::Error::path) returns the file,
/// [`Error::place`](super::Error::place) the row and column, and [`Error::hints`](super::Error::hints) possible
/// remedies.
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
    // What the caller requested does not exist.
    /// A range of rows is outside the table or runs backwards.
    #[error("rows {}..{} are out of range: the table has {row_count} rows", rows.start, rows.end)]
    RowsOutOfRange {
        /// The requested rows.
        rows: Range<usize>,
        /// The number of rows of the table.
        row_count: usize,
    },
    /// A column index is out of range.
    #[error("column {column} is out of range: the table has {column_count} columns")]
    ColumnOutOfRange {
        /// The requested column.
        column: usize,
        /// The number of columns of the table.
        column_count: usize,
    },
    /// Requested elements, columns, categories or files do not exist, or their range runs backwards.
    #[error("{} out of range: there are {count} {what}", asked(what, range))]
    OutOfRange {
        /// The requested items, in the plural: `elements`, `columns`, `categories`, `shards`.
        what: &'static str,
        /// The requested range; a single index `i` is the range `i..i + 1`.
        range: Range<usize>,
        /// The number that exist.
        count: usize,
    },
    /// No column, array or element type has the name.
    #[error("no {what} has the name {name:?}{near}")]
    UnknownName {
        /// The kind of the missing item: `column`, `array`, `element type`.
        what: &'static str,
        /// The name, truncated if it is long.
        name: String,
        /// Similar names, as text; empty if there are none.
        near: String,
    },
    // Memory and limits.
    /// The system refused to allocate memory. [`Error::refused_bytes`](super::Error::refused_bytes) returns the number
    /// of bytes.
    #[error("out of memory")]
    OutOfMemory,
    /// A shape needs more bytes than can be addressed.
    #[error(
        "a table of {shape}{} values exceeds the address space",
        element.map_or(String::new(), |of| format!(" {of}"))
    )]
    SizeOverflow {
        /// The requested shape; an array counts as one column.
        shape: Shape,
        /// The element type, if it is known.
        element: Option<ElementType>,
    },
    /// A number is larger than this library, a format or a counter supports.
    #[error("{actual} {what} exceed the limit of {limit}")]
    LimitExceeded {
        /// The counted items, in the plural: `columns`, `counted rows`.
        what: &'static str,
        /// The number that was needed.
        actual: u128,
        /// The largest number allowed.
        limit: u64,
    },
    // Numbers of values.
    /// An array has fewer or more values than the shape needs. Values are never dropped silently.
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
    #[error("lengths differ: got {actual} values, expected {expected}")]
    LengthMismatch {
        /// The number of values that was needed.
        expected: usize,
        /// The number of values that was given.
        actual: usize,
    },
    /// A slice of rows ends in the middle of a row.
    #[error("{values} values do not form complete rows of {columns} columns")]
    NotWholeRows {
        /// The number of values that was given.
        values: usize,
        /// The number of values in a row.
        columns: usize,
    },
    /// Two tables that must have the same shape do not.
    #[error("shapes differ: got {actual}, expected {expected}")]
    ShapeMismatch {
        /// The shape that was needed.
        expected: Shape,
        /// The shape that was given.
        actual: Shape,
    },
    /// A row or column copied into a new table has a different number of values than the first one.
    #[error("{what} {index}{} has {actual} values, but the first has {expected}", in_brackets(name.as_deref()))]
    UnequalLengths {
        /// The place of the values: `row` or `column`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its name, if it has one, truncated if it is long.
        name: Option<String>,
        /// The number of values of the first row or column.
        expected: usize,
        /// The number of values of this row or column.
        actual: usize,
    },
    /// There are too few rows to compute a result.
    #[error("{rows} rows are too few: {needed} are needed")]
    TooFewRows {
        /// The number of rows.
        rows: u64,
        /// The smallest sufficient number of rows.
        needed: u64,
    },
    // Arguments.
    /// A parameter of an algorithm is outside its allowed range.
    #[error("{name} is {value}: {allowed}")]
    ParameterOutOfRange {
        /// The parameter, described in words.
        name: Cow<'static, str>,
        /// The value that was given.
        value: f64,
        /// The allowed values, in words.
        allowed: Cow<'static, str>,
    },
    /// An option for reading or writing a CSV file contradicts another option or the file.
    #[error("invalid CSV option: {reason}")]
    CsvOption {
        /// Which option is bad, and why.
        reason: String,
    },
    // Values.
    /// A value cannot be represented under the policy in force. It is the first such value in row-major order.
    #[error("the value {value} at row {row}, column {column} is not representable as {target}")]
    ValueNotRepresentable {
        /// The row of the value in the table, or its index in a slice.
        row: usize,
        /// The column of the value in the table; 0 in a slice.
        column: usize,
        /// The value that cannot be represented.
        value: AnyValue,
        /// The element type that cannot represent it.
        target: ElementType,
    },
    /// A value is missing where one is needed. Floating-point types read it as NaN; other types have no such value.
    #[error("the value at row {row}, column {column} is missing")]
    MissingValue {
        /// The row of the value.
        row: usize,
        /// The column of the value.
        column: usize,
    },
    /// An algorithm cannot use a value.
    #[error("the value {value} at row {row}, column {column} {reason}")]
    ValueNotAllowed {
        /// The row in the table, or among the rows being added.
        row: usize,
        /// The column.
        column: usize,
        /// The value.
        value: f64,
        /// The reason, and the allowed values.
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
        /// The value that was to be written, if it is known.
        value: Option<AnyValue>,
    },
    /// Two mirrored cells of a symmetric matrix are given values that differ when stored. It is the first such pair in
    /// row-major order.
    #[error(
        "the value {value} at row {row}, column {column} differs from {mirrored} at row {}, column {}: the matrix is \
         symmetric",
        mirror.0, mirror.1
    )]
    AsymmetricValue {
        /// The row of the cell above the diagonal.
        row: usize,
        /// The column of the cell above the diagonal.
        column: usize,
        /// The value of the cell above the diagonal.
        value: AnyValue,
        /// The row and the column of the cell below the diagonal.
        mirror: (usize, usize),
        /// The value of the cell below the diagonal.
        mirrored: AnyValue,
    },
    /// The values of one column, or of all columns, do not determine the requested result.
    #[error("{reason}")]
    NotSolvable {
        /// Why they do not.
        cause: Unsolvable,
        /// The first such column, if the error is about one column.
        column: Option<usize>,
        /// The condition number of the features or a lower bound of it, if it is the reason.
        condition: Option<f64>,
        /// The reason, in words.
        reason: String,
    },
    // Tables that do not match.
    /// A table does not match the first of several tables that are joined or stored as one.
    #[error("table {table} {}: {reason}", if *table == 0 { "does not fit" } else { "does not match table 0" })]
    UnequalTables {
        /// The index of the table.
        table: usize,
        /// The first column that differs, if one does.
        column: Option<usize>,
        /// What differs.
        difference: Difference,
        /// The difference, in words.
        reason: String,
    },
    /// Partial results to merge were made with different parameters.
    #[error("partial results cannot be merged: {reason}")]
    NotCombinable {
        /// What differs.
        reason: String,
    },
    /// A dictionary and a table differ in the number of columns or in an element type.
    #[error(
        "the dictionary describes {features} features and the table has {columns} columns of {element}{}",
        actual.map(|(feature, actual)| format!("; feature {feature} is {actual}")).unwrap_or_default()
    )]
    DictionaryMismatch {
        /// The number of features in the dictionary.
        features: usize,
        /// The number of columns in the table.
        columns: usize,
        /// The element type of the table.
        element: ElementType,
        /// The first feature with a different element type, and that type.
        actual: Option<(usize, ElementType)>,
    },
    // Types.
    /// Columns have different element types where a single type is needed.
    #[error("column {column} is {actual} and column 0 is {expected}: one element type is needed")]
    MixedElementTypes {
        /// The first column of a different type.
        column: usize,
        /// The type of column 0.
        expected: ElementType,
        /// The type of that column.
        actual: ElementType,
    },
    /// The element type of the given values differs from the stored one.
    #[error(
        "the element type{} is {actual}, not {expected}",
        column.map_or(String::new(), |column| format!(" of column {column}"))
    )]
    ElementTypeMismatch {
        /// The expected element type.
        expected: ElementType,
        /// The actual element type.
        actual: ElementType,
        /// The column, if the error is about one.
        column: Option<usize>,
    },
    /// Another library or format does not have the element type.
    #[error("{target} has no element type {element}: convert the table first")]
    UnsupportedElementType {
        /// The element type of the table.
        element: ElementType,
        /// The name of the library or format.
        target: &'static str,
    },
    /// An archive or a file holds a different kind of table.
    #[error("the table is of kind {actual}, not {expected}")]
    TableKindMismatch {
        /// The name of the requested kind.
        expected: &'static str,
        /// The name of the kind that was found.
        actual: &'static str,
    },
    // State of a table.
    /// The table has rows but no memory yet.
    #[error("the table has rows but no memory is allocated for them")]
    NotAllocated,
    /// A column of a structure of arrays has no values yet.
    #[error("column {column} has no values yet")]
    ColumnNotSet {
        /// The first requested column without values.
        column: usize,
    },
    /// The table cannot be changed at all, or not in the requested way.
    #[error("the table is read-only, or cannot be changed in this way")]
    ReadOnlyTable,
    /// The table has no piece of memory for a value, and does not override how the value is read or written.
    #[error("the value at row {row}, column {column} is not stored in memory")]
    NotInMemory {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An implementation of [`NumericTable`](crate::NumericTable) returned a piece of memory that does not cover the
    /// requested value.
    #[error(
        "the piece for row {row}, column {column} covers rows {}..{}, columns {}..{}",
        rows.start, rows.end, columns.start, columns.end
    )]
    MisplacedPiece {
        /// The requested row.
        row: usize,
        /// The requested column.
        column: usize,
        /// The rows of the piece.
        rows: Range<usize>,
        /// The columns of the piece.
        columns: Range<usize>,
    },
    // Blocks.
    /// A writable block is outstanding. The table is leased to it until the block is released or dropped.
    #[error("a writable block of rows {}..{} is outstanding", rows.start, rows.end)]
    BlockOutstanding {
        /// The rows that the outstanding block covers.
        rows: Range<usize>,
    },
    /// A block is released on a table other than its own.
    #[error("the block belongs to another table")]
    WrongTable,
    /// A descriptor holds no block, or its block is of a different kind than the call releases.
    #[error("{}", held(*actual, *expected))]
    WrongBlockKind {
        /// The kind that the call releases.
        expected: BlockKind,
        /// The kind that the descriptor holds; `None` if it holds no block.
        actual: Option<BlockKind>,
    },
    /// A block taken for reading is written.
    #[error("the block is not writable: its mode is {mode}")]
    NotWritable {
        /// The mode that the block was taken with.
        mode: ReadWriteMode,
    },
    // External memory.
    /// The memory cannot be written because its owner lends it read-only, or because other arrays share it.
    #[error(
        "the array's data is {}",
        if *owner_count > 1 { format!("shared by {owner_count} owners") } else { "immutable".to_owned() }
    )]
    ImmutableData {
        /// The number of arrays that share the memory, including this one; 1 if the memory is read-only.
        owner_count: usize,
    },
    /// A copy is needed, but the policy does not allow it.
    #[error("a copy is needed but not allowed: {reason}")]
    CopyRequired {
        /// Why the copy is needed.
        reason: CopyReason,
    },
    /// The memory layout of the values does not suit a call, which would have to copy them.
    #[error("{reason}")]
    MemoryLayout {
        /// The actual layout and the required one.
        reason: String,
    },
    /// The row offsets and column indices of a sparse table contradict each other or the shape.
    #[error("{reason}")]
    SparseStructure {
        /// The reason.
        fault: SparseFault,
        /// The row, if it is known.
        row: Option<usize>,
        /// The position in the indices, if one of them is wrong.
        position: Option<usize>,
        /// The reason and the allowed values, in words.
        reason: String,
    },
    /// Records do not have the fields that a table needs.
    #[error("{reason}")]
    RecordLayout {
        /// The first column concerned, if there is one.
        column: Option<usize>,
        /// The reason.
        reason: String,
    },
    /// Columns of an array of structures share bytes of a record, so they cannot be written.
    #[error("columns {first} and {second} share bytes of a record, so they cannot be written")]
    OverlappingFields {
        /// The first column.
        first: usize,
        /// The other column.
        second: usize,
    },
    // Files and other libraries.
    /// The system failed to read or write a file, or a reader or writer passed in by the caller failed.
    #[error("{source}")]
    Io {
        /// The error reported by the system.
        source: io::Error,
    },
    /// A file cannot be replaced atomically: the file system cannot rename, or the old file is a mount point.
    /// [`SaveOptions::in_place`](crate::files::SaveOptions::in_place) overwrites it instead.
    #[error("the file cannot be replaced atomically, only written in place: {source}")]
    RenameUnsupported {
        /// The error reported by the system.
        source: io::Error,
    },
    /// An archive or a file is damaged, or its format does not belong to this library.
    #[error("bad format at byte {offset}: {reason}")]
    Format {
        /// The byte offset of the damage.
        offset: u64,
        /// The reason.
        reason: String,
    },
    /// A field or a line of a text file (CSV, svmlight, MatrixMarket) does not match the format or the table. It is the
    /// first such place in the file.
    #[error(
        "line {line}{}{}: {text:?} {reason}",
        byte.map_or(String::new(), |byte| format!(", byte {byte}")),
        of_column(*column, name.as_deref())
    )]
    Text {
        /// The line of the file, counted from 1. For a quoted field that spans several lines, the first of them.
        line: u64,
        /// The position in that line in bytes, counted from 1, if it is known.
        byte: Option<u64>,
        /// The column of the file, counted from 0; `None` if the error is about the whole line.
        column: Option<usize>,
        /// The name of that column, if it has one, truncated to 40 characters.
        name: Option<String>,
        /// The text found there, truncated to 40 characters; empty at the end of a line or of the file.
        text: String,
        /// The reason.
        reason: String,
    },
    /// A file differs from the one that shards were opened with, or that their manifest lists: it was replaced.
    #[error("the file was replaced: its {part} is {actual}, and should be {expected}")]
    ShardChanged {
        /// What differs, in words: `size in bytes`, `number of rows`, `checksum of the header`, `checksum of the
        /// values`.
        part: &'static str,
        /// The previous value.
        expected: u64,
        /// The current value.
        actual: u64,
    },
    /// Another library or format cannot express something that a table holds, or vice versa.
    #[error("{target}{}: {}", what_of(*column, name.as_deref()), label(reason, REASON_LIMIT))]
    Unsupported {
        /// The name of the library or format.
        target: &'static str,
        /// The row, if the error is about one.
        row: Option<usize>,
        /// The column, counted from 0, if the error is about one.
        column: Option<usize>,
        /// The name of that column or array, truncated if it is long.
        name: Option<String>,
        /// What cannot be expressed. Rows of Arrow data are counted within the batch or array that the reason names.
        reason: String,
    },
    /// A call of another library, such as Arrow or an object store, failed. `source` is the library's own error type,
    /// in the version that the program is built with: `source.downcast_ref::<object_store::Error>()`.
    #[error("{reason}")]
    Foreign {
        /// The message of the library.
        reason: String,
        /// The error of the library, as its own type.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The caller's own error, returned by a closure and made by [`Error::other`](super::Error::other).
    #[error(transparent)]
    Other {
        /// The caller's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The maximum width of a foreign name in a message, in terminal columns, including escapes.
const LABEL_LIMIT: usize = 40;

/// The maximum width of a reason that contains foreign names, in terminal columns.
const REASON_LIMIT: usize = 300;

/// Returns the part of a message that names a column; empty if the message is not about a column.
fn of_column(column: Option<usize>, name: Option<&str>) -> String {
    column.map_or(String::new(), |column| format!(", column {column}{}", in_brackets(name)))
}

/// Returns the part of a message that names a column, an array or a term of another library.
fn what_of(column: Option<usize>, name: Option<&str>) -> String {
    match column {
        Some(column) => format!(" column {column}{}", in_brackets(name)),
        None => {
            let name = name.filter(|name| !name.is_empty());
            name.map_or(String::new(), |name| format!(" {:?}", label(name, LABEL_LIMIT)))
        }
    }
}

/// Returns a name in parentheses; empty if the name is missing.
fn in_brackets(name: Option<&str>) -> String {
    let name = name.filter(|name| !name.is_empty());
    name.map_or(String::new(), |name| format!(" ({})", label(name, LABEL_LIMIT)))
}

/// Returns the requested index or range, in words.
fn asked(what: &str, range: &Range<usize>) -> String {
    match range.end.checked_sub(range.start) {
        Some(1) => format!("index {} is", range.start),
        _ => format!("{what} {}..{} are", range.start, range.end),
    }
}

/// Returns what a descriptor holds when a different kind of block is released, in words.
fn held(found: Option<BlockKind>, expected: BlockKind) -> String {
    match found {
        Some(found) => format!("the descriptor holds {found}, not {expected}"),
        None => "the descriptor holds no block".to_owned(),
    }
}
