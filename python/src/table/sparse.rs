//! Sparse tables made from others: converted, sliced, stacked, compared. They stay sparse.

use std::collections::HashMap;

use numeric_table::table::{CsrParts, Rejected};
use numeric_table::{
    AnyArray, Array, ConversionPolicy, ConversionReport, CsrNumericTable, DataDictionary, Element, ElementType, Error,
    ErrorKind, HomogenNumericTable, NumericTable, Result, Shape, TableCombination, TableSelection,
};

use crate::base::element::with_type;

/// Returns a table as a sparse one, if it is one.
pub(crate) fn of(table: &dyn NumericTable) -> Option<&CsrNumericTable> {
    table.downcast_ref::<CsrNumericTable>()
}

/// Creates a table from parts, which are checked, and a dictionary.
pub(crate) fn described(shape: Shape, parts: CsrParts, dictionary: DataDictionary) -> Result<CsrNumericTable> {
    let CsrParts { offsets, indices, values } = parts;
    let mut table = CsrNumericTable::try_new(shape, offsets, indices, values).map_err(Rejected::into_error)?;
    table.set_dictionary(dictionary)?;
    Ok(table)
}

/// Converts the stored values: offsets and indices are shared.
pub(crate) fn converted(
    table: &CsrNumericTable,
    element: ElementType,
    policy: ConversionPolicy,
) -> Result<CsrNumericTable> {
    let values = with_type!(element, T => {
        AnyArray::new(Array::copy_of(table.sparse_rows_with::<T>(.., policy)?.values())?)
    });
    let parts = CsrParts { values, ..table.clone().into_parts() };
    described(table.shape(), parts, table.dictionary().with_element_type(element)?)
}

/// The number of bytes of the values, the indices and the offsets.
pub(crate) fn bytes(table: &CsrNumericTable) -> usize {
    let bytes = |element: ElementType, count: usize| element.size_in_bytes().saturating_mul(count);
    let (offsets, indices, values) = (table.offsets(), table.indices(), table.values());
    bytes(offsets.element_type(), offsets.len())
        .saturating_add(bytes(indices.element_type(), indices.len()))
        .saturating_add(bytes(values.element_type(), values.len()))
}

/// Returns a vector with capacity for the given number of items, or the error of the allocation.
pub(crate) fn room<V>(count: usize) -> Result<Vec<V>> {
    let mut vector = Vec::new();
    let bytes = count.saturating_mul(size_of::<V>());
    vector.try_reserve_exact(count).map_err(|_| Error::out_of_memory(bytes))?;
    Ok(vector)
}

fn push<V>(vector: &mut Vec<V>, item: V) -> Result<()> {
    if vector.len() == vector.capacity() {
        let bytes = vector.len().saturating_mul(2).saturating_mul(size_of::<V>());
        vector.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
    }
    vector.push(item);
    Ok(())
}

/// Rows that are being assembled: the end of each row, and the columns of the values.
struct Rows {
    ends: Vec<usize>,
    columns: Vec<usize>,
}

impl Rows {
    fn finish(self, shape: Shape, values: AnyArray, dictionary: DataDictionary) -> Result<CsrNumericTable> {
        let Self { ends, columns } = self;
        let is_small = shape.columns.max(columns.len()) <= i32::MAX as usize; // SciPy's rule
        let numbers = |first: Option<usize>, numbers: Vec<usize>| -> Result<AnyArray> {
            let count = numbers.len() + usize::from(first.is_some());
            let numbers = first.into_iter().chain(numbers);
            // None is larger than the length of a vector, or than the number of columns, which Python can represent.
            Ok(if is_small {
                let mut all = room::<i32>(count)?;
                all.extend(numbers.map(|number| number as i32));
                all.into()
            } else {
                let mut all = room::<i64>(count)?;
                all.extend(numbers.map(|number| number as i64));
                all.into()
            })
        };
        let parts = CsrParts { offsets: numbers(Some(0), ends)?, indices: numbers(None, columns)?, values };
        described(shape, parts, dictionary)
    }
}

/// Returns some columns, in the requested order.
pub(crate) fn select_columns(table: &CsrNumericTable, chosen: &[usize]) -> Result<CsrNumericTable> {
    let whole: &dyn NumericTable = table;
    let dictionary = whole.select_columns(chosen)?.dictionary().clone();
    let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, &column) in chosen.iter().enumerate() {
        places.entry(column).or_default().push(place);
    }
    let shape = Shape { rows: table.shape().rows, columns: chosen.len() };
    with_type!(table.values().element_type(), T => {
        let block = table.sparse_rows::<T>(..)?;
        let mut rows = Rows { ends: room(shape.rows)?, columns: Vec::new() };
        let (mut values, mut entries) = (Vec::new(), Vec::new());
        for (indices, stored) in block.iter_rows() {
            entries.clear();
            for (column, &value) in indices.iter().zip(stored) {
                for &place in places.get(&column).map_or(&[][..], Vec::as_slice) {
                    push(&mut entries, (place, value))?;
                }
            }
            entries.sort_unstable_by_key(|&(place, _)| place);
            for &(place, value) in &entries {
                push(&mut rows.columns, place)?;
                push(&mut values, value)?;
            }
            rows.ends.push(values.len());
        }
        rows.finish(shape, values.into(), dictionary)
    })
}

/// Stacks tables of one element type vertically or horizontally. `None` if some of them are not sparse, or have another
/// type.
pub(crate) fn stack(tables: &[&dyn NumericTable], is_vertical: bool) -> Result<Option<CsrNumericTable>> {
    let parts: Option<Vec<&CsrNumericTable>> = tables.iter().map(|table| of(*table)).collect();
    let Some(parts) = parts else { return Ok(None) };
    let Some((first, others)) = tables.split_first() else { return Ok(None) };
    let element = parts[0].values().element_type();
    if parts.iter().any(|part| part.values().element_type() != element) {
        return Ok(None);
    }
    // The library's checks, and its dictionary.
    let (shape, dictionary) = if is_vertical {
        let stacked = first.vstack(others)?;
        (stacked.shape(), stacked.dictionary().clone())
    } else {
        let stacked = first.hstack(others)?;
        (stacked.shape(), stacked.dictionary().clone())
    };
    let too_many = || Error::new(ErrorKind::SizeOverflow { shape, element: Some(element) });
    let stored = parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(part.nnz())).ok_or_else(too_many)?;
    with_type!(element, T => {
        let mut rows = Rows { ends: room(shape.rows)?, columns: room(stored)? };
        let mut values = room::<T>(stored)?;
        let blocks = parts.iter().map(|part| part.sparse_rows::<T>(..)).collect::<Result<Vec<_>>>()?;
        let mut add = |block: usize, row: usize, offset: usize| {
            let (indices, stored) = blocks[block].row(row);
            rows.columns.extend(indices.iter().map(|column| column + offset));
            values.extend_from_slice(stored);
            values.len()
        };
        if is_vertical {
            for (block, part) in parts.iter().enumerate() {
                for row in 0..part.shape().rows {
                    let end = add(block, row, 0);
                    rows.ends.push(end);
                }
            }
        } else {
            for row in 0..shape.rows {
                let mut offset = 0;
                let mut end = 0;
                for (block, part) in parts.iter().enumerate() {
                    end = add(block, row, offset);
                    offset += part.shape().columns;
                }
                rows.ends.push(end);
            }
        }
        Ok(Some(rows.finish(shape, values.into(), dictionary)?))
    })
}

/// Compares tables of one shape and one dictionary by value: cells that are not stored are zero. NaN equals NaN.
pub(crate) fn are_equal(one: &CsrNumericTable, two: &CsrNumericTable) -> Result<bool> {
    with_type!(one.values().element_type(), T => {
        let (one, two) = (one.sparse_rows::<T>(..)?, two.sparse_rows::<T>(..)?);
        Ok(one.iter_rows().zip(two.iter_rows()).all(|((one, values), (two, others))| {
            let one = one.iter().zip(values.iter().copied());
            let two = two.iter().zip(others.iter().copied());
            rows_are_equal(one, two)
        }))
    })
}

fn rows_are_equal<T: Element>(one: impl Iterator<Item = (usize, T)>, two: impl Iterator<Item = (usize, T)>) -> bool {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    let zero = T::default();
    let (mut one, mut two) = (one.peekable(), two.peekable());
    loop {
        // The next column of either, and its two values.
        let column = match (one.peek(), two.peek()) {
            (None, None) => return true,
            (Some(&(a, _)), Some(&(b, _))) => a.min(b),
            (Some(&(column, _)), None) | (None, Some(&(column, _))) => column,
        };
        let a = one.next_if(|&(at, _)| at == column).map_or(zero, |(_, value)| value);
        let b = two.next_if(|&(at, _)| at == column).map_or(zero, |(_, value)| value);
        if a != b && !(is_nan(&a) && is_nan(&b)) {
            return false;
        }
    }
}

/// Reports the losses of a conversion: of the stored values only, since all types have zero.
pub(crate) fn report(table: &CsrNumericTable, element: ElementType) -> Result<ConversionReport> {
    let shape = Shape { rows: table.nnz(), columns: 1 };
    let mut found = with_type!(table.values().element_type(), S => {
        let values = table.values().downcast_ref::<S>().cloned().unwrap_or_default();
        let values = HomogenNumericTable::from_array(values, shape)?;
        with_type!(element, T => values.conversion_report::<T>())
    })?;
    let Shape { rows, columns } = table.shape();
    found.values = rows.saturating_mul(columns);
    found.first = found.first.and_then(|(position, _)| {
        let row = table.offsets().iter().skip(1).position(|end| end > position)?;
        Some((row, table.indices().get(position)?))
    });
    Ok(found)
}
