//! Arrow's C interface: the only place that reads and checks schemas, arrays and streams of other libraries.
//!
//! A capsule holds C structures with pointers, and no lengths of memory. Before a pointer is followed, their contents
//! are compared with the requirements of their type. Arrow's checking builder builds the arrays: text is UTF-8, offsets
//! ascend, keys of dictionaries have values, counts of nulls are right. The interface does not contain the length of
//! memory. The exporting library guarantees that it holds as many values as the array has, and as many bytes as the
//! last offset.
//!
//! Metadata entries that are not UTF-8 are dropped one by one: types, names and all other metadata stay.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use numeric_table::{Error, ErrorKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::base::error::{TableError, exception};

/// The limit on the nesting of types.
const DEEPEST: usize = 32;

/// `ArrowSchema`, as the interface defines it.
#[repr(C)]
struct CSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const u8,
    flags: i64,
    n_children: i64,
    children: *const *const CSchema,
    dictionary: *const CSchema,
    release: *const c_void,
    _private_data: *const c_void,
}

/// `ArrowArray`, as the interface defines it.
#[repr(C)]
struct CArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const u8,
    children: *const *const CArray,
    dictionary: *const CArray,
    _release: *const c_void,
    _private_data: *const c_void,
}

const _: () = assert!(size_of::<CSchema>() == size_of::<FFI_ArrowSchema>());
const _: () = assert!(size_of::<CArray>() == size_of::<FFI_ArrowArray>());

/// The content of a capsule: the field of all arrays, and the arrays, which are valid.
pub(crate) struct Arrays {
    pub(crate) field: Field,
    pub(crate) arrays: Vec<ArrayData>,
}

/// Reads the data that an object exports through Arrow's PyCapsules, a stream or one array; `None` if it has neither
/// method. `check` sees the field before any array is read.
///
/// # Errors
/// `TableError` for arrays that are not valid, with the column; the exception of the object's own method, or of
/// `check`.
pub(crate) fn arrays(data: &Bound<'_, PyAny>, check: impl FnOnce(&Field) -> PyResult<()>) -> PyResult<Option<Arrays>> {
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        return of_stream(&capsule, check).map(Some);
    }
    if data.hasattr("__arrow_c_array__")? {
        let capsules: (Bound<'_, PyAny>, Bound<'_, PyAny>) = data.call_method0("__arrow_c_array__")?.extract()?;
        return of_array(&capsules.0, &capsules.1, check).map(Some);
    }
    Ok(None)
}

fn content(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<NonNull<c_void>> {
    let wrong = |_| PyTypeError::new_err(format!("{} is not a capsule", capsule.get_type()));
    capsule.cast::<PyCapsule>().map_err(wrong)?.pointer_checked(Some(name))
}

fn of_array(
    schema: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
    check: impl FnOnce(&Field) -> PyResult<()>,
) -> PyResult<Arrays> {
    let pointer = content(schema, c"arrow_schema")?.cast::<FFI_ArrowSchema>();
    // SAFETY: a capsule of this name holds a schema, which lives as long as the capsule: until the end of this call.
    let field = field_of(unsafe { pointer.as_ref() }).map_err(refused)?;
    check(&field)?;
    let pointer = content(array, c"arrow_array")?.cast::<FFI_ArrowArray>();
    // SAFETY: a capsule of this name holds an array, which is moved out: what remains says that it was released.
    let array = unsafe { FFI_ArrowArray::from_raw(pointer.as_ptr()) };
    if array.is_released() {
        return Err(TableError::new_err("the array of the capsule has already been consumed"));
    }
    let array = schema.py().detach(|| imported(array, &field, None)).map_err(exception)?;
    Ok(Arrays { field, arrays: vec![array] })
}

fn of_stream(capsule: &Bound<'_, PyAny>, check: impl FnOnce(&Field) -> PyResult<()>) -> PyResult<Arrays> {
    let py = capsule.py();
    let pointer = content(capsule, c"arrow_array_stream")?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream, which is moved out: what remains says that it was released.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let (Some(_), Some(get_schema), Some(get_next)) = (stream.release(), stream.get_schema(), stream.get_next()) else {
        return Err(TableError::new_err("the stream of the capsule has already been consumed"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and the function is its own; the schema is written over, and owns nothing
    // yet.
    let code = py.detach(|| unsafe { get_schema(&raw mut stream, &raw mut schema) });
    if code != 0 {
        return Err(refused(reason_of(&mut stream, code)));
    }
    let field = field_of(&schema).map_err(refused)?;
    drop(schema);
    check(&field)?;
    let arrays = py.detach(|| {
        let mut arrays = Vec::new();
        loop {
            let mut array = FFI_ArrowArray::empty();
            // SAFETY: as above, for an array.
            let code = unsafe { get_next(&raw mut stream, &raw mut array) };
            if code != 0 {
                return Err(refused(reason_of(&mut stream, code)));
            }
            if array.is_released() {
                return Ok(arrays); // the end
            }
            let valid = imported(array, &field, Some(arrays.len())).map_err(exception)?;
            arrays.push(valid);
        }
    })?;
    Ok(Arrays { field, arrays })
}

/// Returns the stream's message about its last call, which has failed.
fn reason_of(stream: &mut FFI_ArrowArrayStream, code: i32) -> String {
    let Some(get_last_error) = stream.get_last_error() else { return format!("its stream ends with error {code}") };
    // SAFETY: the stream is not released, and its last call has failed: then it may be asked.
    let text = unsafe { get_last_error(&raw mut *stream) };
    if text.is_null() {
        return format!("its stream ends with error {code}");
    }
    // SAFETY: the text is the stream's, ends with a zero, and lives until the next call.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    format!("its stream ends with error {code}: {text}")
}

fn refused(reason: String) -> PyErr {
    TableError::new_err(format!("Arrow data cannot be read: {reason}"))
}

/// Reads a schema. Invalid content is an error, except for metadata that is not UTF-8, which is dropped.
fn field_of(schema: &FFI_ArrowSchema) -> Result<Field, String> {
    // SAFETY: both are `ArrowSchema` of the interface, which fixes the order of its fields.
    let raw = unsafe { &*ptr::from_ref(schema).cast::<CSchema>() };
    if raw.release.is_null() {
        return Err("its schema has already been released".to_owned());
    }
    check_schema(raw, 0)?;
    let field = field_of_checked(raw);
    field.map_err(|(column, reason)| match column {
        Some(column) => format!("column {column}: {reason}"),
        None => reason,
    })
}

/// An error, and the index of the column that it concerns, if known.
type AtColumn = (Option<usize>, String);

fn field_of_checked(raw: &CSchema) -> Result<Field, AtColumn> {
    let is_struct = text(raw.format).is_ok_and(|format| format == "+s") && raw.dictionary.is_null();
    let data_type = if is_struct {
        // Field by field: a field whose metadata is not UTF-8 is still a field.
        let mut fields = Vec::new();
        for column in 0..raw.n_children as usize {
            // SAFETY: `check_schema` has found as many children, none of which is null.
            let child = unsafe { &**raw.children.add(column) };
            fields.push(field_of_checked(child).map_err(|(_, reason)| (Some(column), reason))?);
        }
        DataType::Struct(Fields::from(fields))
    } else {
        // SAFETY: as in `field_of`.
        let schema = unsafe { &*ptr::from_ref(raw).cast::<FFI_ArrowSchema>() };
        DataType::try_from(schema).map_err(|error| (None, error.to_string()))?
    };
    let metadata = metadata_of(raw.metadata).map_err(|reason| (None, reason))?;
    let name = if raw.name.is_null() { Ok("") } else { text(raw.name) };
    let field = Field::new(name.map_err(|reason| (None, reason))?, data_type, raw.flags & 2 != 0);
    Ok(field.with_dict_is_ordered(raw.flags & 1 != 0).with_metadata(metadata))
}

fn text<'t>(pointer: *const c_char) -> Result<&'t str, String> {
    if pointer.is_null() {
        return Err("a type has no format".to_owned());
    }
    // SAFETY: it is not null, and the interface says that it ends with a zero and lives as long as its schema, which is
    // longer than what is made of it: callers copy it.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| format!("the name {:?} is not UTF-8", bytes.to_string_lossy()))
}

/// Checks everything that Arrow's own reading of a schema asserts.
fn check_schema(raw: &CSchema, depth: usize) -> Result<(), String> {
    let format = text(raw.format)?;
    if depth > DEEPEST {
        return Err(format!("types are nested more than {DEEPEST} levels deep"));
    }
    if !raw.name.is_null() {
        text(raw.name)?;
    }
    let least = match format {
        "+l" | "+L" | "+vl" | "+vL" | "+m" => 1,
        "+r" => 2,
        _ if format.starts_with("+w:") => 1,
        _ => 0,
    };
    let count =
        usize::try_from(raw.n_children).ok().filter(|&count| count >= least && (count == 0 || !raw.children.is_null()));
    let count = count.ok_or_else(|| format!("a type {format:?} has {} children", raw.n_children))?;
    for index in 0..count {
        // SAFETY: the list is not null, and the interface says that it has so many pointers.
        let child = unsafe { *raw.children.add(index) };
        // SAFETY: if it is not null, it is a schema that lives as long as its parent.
        let child =
            unsafe { child.as_ref() }.ok_or_else(|| format!("child {index} of a type {format:?} is missing"))?;
        check_schema(child, depth + 1)
            .map_err(|reason| if depth == 0 { format!("column {index}: {reason}") } else { reason })?;
    }
    // SAFETY: if it is not null, it is a schema that lives as long as this one.
    if let Some(dictionary) = unsafe { raw.dictionary.as_ref() } {
        if !matches!(format, "c" | "C" | "s" | "S" | "i" | "I" | "l" | "L") {
            return Err(format!("keys of a dictionary have the type {format:?}, which is not an integer type"));
        }
        check_schema(dictionary, depth + 1)?;
    }
    Ok(())
}

/// Returns the metadata, without the entries that are not UTF-8.
fn metadata_of(pointer: *const u8) -> Result<HashMap<String, String>, String> {
    let mut metadata = HashMap::new();
    if pointer.is_null() {
        return Ok(metadata);
    }
    let mut rest = pointer;
    let mut take = |count: usize| {
        // SAFETY: the interface says that metadata is a count of entries, and of each a length, as many bytes, a length
        // and as many bytes: `rest` is at the beginning of one of these, and `count` is its length.
        let bytes = unsafe { std::slice::from_raw_parts(rest, count) };
        // SAFETY: as above: what follows begins there.
        rest = unsafe { rest.add(count) };
        bytes
    };
    fn number(bytes: &[u8]) -> Result<usize, String> {
        let number = bytes.try_into().map(i32::from_ne_bytes).ok().and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| "metadata of a negative length".to_owned())
    }
    for _ in 0..number(take(4))? {
        let length = number(take(4))?;
        let key = take(length);
        let length = number(take(4))?;
        let value = take(length);
        if let (Ok(key), Ok(value)) = (str::from_utf8(key), str::from_utf8(value)) {
            metadata.insert(key.to_owned(), value.to_owned());
        }
    }
    Ok(metadata)
}

/// Takes an array, checked in full. `batch` is its number in a stream.
fn imported(array: FFI_ArrowArray, field: &Field, batch: Option<usize>) -> Result<ArrayData, Error> {
    let owner = Arc::new(array);
    // SAFETY: both are `ArrowArray` of the interface, which fixes the order of its fields.
    let raw = unsafe { &*Arc::as_ptr(&owner).cast::<CArray>() };
    valid(raw, field.data_type(), &owner).map_err(|(column, reason)| {
        let name = match (column, field.data_type()) {
            (Some(column), DataType::Struct(fields)) => fields.get(column).map_or("", |field| field.name().as_str()),
            _ => field.name(),
        };
        let reason = match batch {
            Some(batch) if batch > 0 => format!("in batch {batch}: {reason}"),
            _ => reason,
        };
        let (column, name) = (Some(column.unwrap_or(0)), Some(name.to_owned()));
        Error::new(ErrorKind::Unsupported { target: "Arrow", row: None, column, name, reason })
    })
}

fn valid(raw: &CArray, data_type: &DataType, owner: &Arc<FFI_ArrowArray>) -> Result<ArrayData, AtColumn> {
    let whole = |reason| (None, reason);
    let parts = Parts::of(raw, owner).map_err(whole)?;
    let (mut buffers, mut children) = (Vec::new(), Vec::new());
    match data_type {
        DataType::Boolean => {
            parts.expect(data_type, 2, 0).map_err(whole)?;
            buffers.push(parts.values(1, parts.end.div_ceil(8)).map_err(whole)?);
        }
        DataType::Null => {
            parts.expect(data_type, 0, 0).map_err(whole)?; // there is no bitmap: all values are missing
            let array = ArrayData::builder(DataType::Null).len(parts.length).offset(parts.offset).build();
            return array.map_err(|error| whole(error.to_string()));
        }
        DataType::Utf8 => buffers = parts.text(data_type, size_of::<i32>()).map_err(whole)?,
        DataType::LargeUtf8 => buffers = parts.text(data_type, size_of::<i64>()).map_err(whole)?,
        DataType::Utf8View => buffers = parts.views(data_type).map_err(whole)?,
        DataType::Dictionary(key, value) => {
            parts.expect(data_type, 2, 0).map_err(whole)?;
            buffers.push(parts.numbers(key).map_err(whole)?);
            // SAFETY: if it is not null, it is an array that lives as long as its owner.
            let dictionary = unsafe { raw.dictionary.as_ref() };
            let dictionary = dictionary.ok_or_else(|| whole("keys of a dictionary that is missing".to_owned()))?;
            children.push(
                valid(dictionary, value, owner)
                    .map_err(|(_, reason)| (None, format!("in its dictionary: {reason}")))?,
            );
        }
        DataType::FixedSizeList(item, length) => {
            parts.expect(data_type, 1, 1).map_err(whole)?;
            let count = usize::try_from(*length).ok().and_then(|length| parts.end.checked_mul(length));
            count.ok_or_else(|| whole(format!("{} lists of {length} values", parts.end)))?;
            children.push(valid(parts.child(0).map_err(whole)?, item.data_type(), owner)?);
        }
        DataType::Struct(fields) => {
            parts.expect(data_type, 1, fields.len()).map_err(whole)?;
            for (column, field) in fields.iter().enumerate() {
                let child = parts
                    .child(column)
                    .and_then(|child| valid(child, field.data_type(), owner).map_err(|(_, reason)| reason));
                let child = child.map_err(|reason| (Some(column), reason))?;
                if child.len() < parts.end {
                    let reason = format!("{} values, but the table has {} rows", child.len(), parts.end);
                    return Err((Some(column), reason));
                }
                children.push(child);
            }
        }
        _ => {
            parts.expect(data_type, 2, 0).map_err(whole)?;
            buffers.push(parts.numbers(data_type).map_err(whole)?);
        }
    }
    if raw.dictionary.is_null() == matches!(data_type, DataType::Dictionary(..)) {
        return Err(whole(format!("a dictionary, but {data_type} has none")));
    }
    let array = ArrayData::builder(data_type.clone())
        .len(parts.length)
        .offset(parts.offset)
        .null_bit_buffer(parts.validity().map_err(whole)?)
        .buffers(buffers)
        .child_data(children)
        .align_buffers(true)
        .build()
        .map_err(|error| whole(error.to_string()))?;
    match usize::try_from(raw.null_count) {
        Ok(said) if said != array.null_count() => {
            Err(whole(format!("{said} nulls are declared, but there are {}", array.null_count())))
        }
        _ => Ok(array),
    }
}

/// An array of the interface, whose numbers are counts.
struct Parts<'a> {
    raw: &'a CArray,
    owner: &'a Arc<FFI_ArrowArray>,
    length: usize,
    offset: usize,
    /// The number of values from the beginning of the memory.
    end: usize,
    buffer_count: usize,
    child_count: usize,
}

impl<'a> Parts<'a> {
    fn of(raw: &'a CArray, owner: &'a Arc<FFI_ArrowArray>) -> Result<Self, String> {
        let count = |number: i64, what: &str| usize::try_from(number).map_err(|_| format!("{what} is {number}"));
        let (length, offset) = (count(raw.length, "its length")?, count(raw.offset, "its offset")?);
        // No memory is longer; one more is the number of offsets.
        let end = length.checked_add(offset).filter(|&end| end < isize::MAX as usize);
        let end = end.ok_or_else(|| format!("{length} values from {offset} on exceed the address space"))?;
        let (buffers, children) = (count(raw.n_buffers, "its buffers")?, count(raw.n_children, "its children")?);
        if (buffers > 0 && raw.buffers.is_null()) || (children > 0 && raw.children.is_null()) {
            return Err("a list of buffers or children is missing".to_owned());
        }
        Ok(Self { raw, owner, length, offset, end, buffer_count: buffers, child_count: children })
    }

    fn expect(&self, data_type: &DataType, buffers: usize, children: usize) -> Result<(), String> {
        if (self.buffer_count, self.child_count) == (buffers, children) {
            return Ok(());
        }
        let (b, c) = (self.buffer_count, self.child_count);
        Err(format!("{b} buffers and {c} children, but {data_type} has {buffers} and {children}"))
    }

    fn child(&self, index: usize) -> Result<&'a CArray, String> {
        // SAFETY: the caller has compared the number of children; the list is not null, and the interface says that it
        // has so many pointers. What is not null is an array that lives as long as its owner.
        unsafe { (*self.raw.children.add(index)).as_ref() }.ok_or_else(|| "its array is missing".to_owned())
    }

    fn pointer(&self, index: usize) -> *const u8 {
        // SAFETY: callers have compared the number of buffers; the list is not null, and the interface says that it has
        // so many pointers.
        unsafe { *self.raw.buffers.add(index) }
    }

    /// Takes a buffer of a number of bytes.
    fn values(&self, index: usize, bytes: usize) -> Result<Buffer, String> {
        if bytes == 0 {
            return Ok(MutableBuffer::new(0).into()); // its pointer may be anything
        }
        let start = self.pointer(index).cast_mut();
        let start = NonNull::new(start).ok_or_else(|| format!("buffer {index} of {bytes} bytes is missing"))?;
        if bytes > isize::MAX as usize || (start.as_ptr() as usize).checked_add(bytes).is_none() {
            return Err(format!("buffer {index} of {bytes} bytes exceeds the address space"));
        }
        // SAFETY: the interface says that there are so many bytes, which are not written while the owner lives: this
        // holds it.
        Ok(unsafe { Buffer::from_custom_allocation(start, bytes, self.owner.clone()) })
    }

    fn numbers(&self, data_type: &DataType) -> Result<Buffer, String> {
        let width = data_type.primitive_width().ok_or_else(|| format!("{data_type} is not a type of tables"))?;
        let bytes =
            self.end.checked_mul(width).ok_or_else(|| format!("{} values exceed the address space", self.end))?;
        self.values(1, bytes)
    }

    fn validity(&self) -> Result<Option<Buffer>, String> {
        if self.end == 0 || self.pointer(0).is_null() {
            return match self.raw.null_count {
                nulls if nulls > 0 => Err(format!("{nulls} nulls are declared without a bitmap")),
                _ => Ok(None),
            };
        }
        self.values(0, self.end.div_ceil(8)).map(Some)
    }

    /// Offsets of 4 or 8 bytes, and the text up to the last one.
    fn text(&self, data_type: &DataType, width: usize) -> Result<Vec<Buffer>, String> {
        self.expect(data_type, 3, 0)?;
        if self.end == 0 {
            return Ok(vec![self.values(1, 0)?, self.values(2, 0)?]); // the only offset may be missing
        }
        let count = (self.end + 1).checked_mul(width).ok_or_else(|| format!("{} texts", self.end))?;
        let offsets = self.values(1, count)?;
        let last = match *offsets[count - width..].as_ref() {
            [a, b, c, d] => i64::from(i32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => i64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            _ => -1, // never: `width` is one of these
        };
        let bytes = usize::try_from(last).map_err(|_| format!("its last offset is {last}"))?;
        Ok(vec![offsets, self.values(2, bytes)?])
    }

    /// Views of 16 bytes, and the buffers that they are of, whose lengths are in the last one.
    fn views(&self, data_type: &DataType) -> Result<Vec<Buffer>, String> {
        let texts = self.buffer_count.checked_sub(3).filter(|_| self.child_count == 0);
        let texts = texts.ok_or_else(|| format!("{} buffers are too few for {data_type}", self.buffer_count))?;
        let bytes = self.end.checked_mul(size_of::<u128>()).ok_or_else(|| format!("{} views", self.end))?;
        let mut buffers = vec![self.values(1, bytes)?];
        let lengths = self.values(self.buffer_count - 1, texts.saturating_mul(size_of::<i64>()))?;
        for (index, length) in lengths.as_chunks::<8>().0.iter().enumerate() {
            let length = i64::from_ne_bytes(*length);
            let bytes = usize::try_from(length).map_err(|_| format!("buffer {index} of text is of {length} bytes"))?;
            buffers.push(self.values(index + 2, bytes)?);
        }
        Ok(buffers)
    }
}
