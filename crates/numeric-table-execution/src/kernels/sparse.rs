//! Sparse rows as a kernel sees them, and their kernel for devices that run closures.

use numeric_table::error::SparseFault;
use numeric_table::{DataLayout, Element, ElementType, Error, ErrorKind, Shape};

use super::check_count;
use crate::memory::ExecutionMemory;
use crate::{DeviceAdapter, HandleError, Launch, View, ViewMut};

/// Views of sparse rows in the memory of a device: row offsets, column indices and values, as those of a
/// [`CsrNumericTable`](numeric_table::CsrNumericTable).
///
/// The values of row `i` are those from position `offsets[i]` to position `offsets[i + 1]`. The offsets ascend, up to
/// the number of values; the indices of a row ascend and are below the number of columns. The numbers have any integer
/// type, and are read as unsigned.
///
/// # Examples
/// See [`Kernels::sparse_to_dense`](crate::Kernels::sparse_to_dense).
pub struct SparseRows<'v, T: Element, D: DeviceAdapter> {
    pub(crate) offsets: Numbers<'v, D>,
    pub(crate) indices: Numbers<'v, D>,
    /// Invariant: as many as there are indices.
    pub(crate) values: View<'v, T, D>,
    /// Whether the numbers are known to be right, so that no kernel need report wrong ones.
    pub(crate) is_checked: bool,
}

/// Unsigned integers whose width is known only at run time.
pub(crate) struct Numbers<'v, D: DeviceAdapter> {
    pub(crate) bytes: View<'v, u8, D>,
    /// The number of bytes of each: 1, 2, 4 or 8.
    pub(crate) width: usize,
}

impl<'v, D: DeviceAdapter> Numbers<'v, D> {
    /// Returns the numbers of a view; `what` names them in the error.
    fn of<N: Element>(view: View<'v, N, D>, what: &str) -> Result<Self, HandleError> {
        if N::TYPE.is_float() {
            let reason = format!("the {what} are {}: expected integers", N::TYPE);
            let (fault, row, position) = (SparseFault::Type, None, None);
            return Err(Error::new(ErrorKind::SparseStructure { fault, row, position, reason }).into());
        }
        let bytes = D::Memory::cast::<N, u8>(view).ok_or(HandleError::NoValidData)?; // bytes are always aligned
        Ok(Self { bytes, width: size_of::<N>() })
    }

    /// Returns the number of numbers.
    pub(crate) fn len(&self) -> usize {
        <D::Memory as ExecutionMemory>::count(&self.bytes) / self.width
    }
}

impl<'v, T: Element, D: DeviceAdapter> SparseRows<'v, T, D> {
    /// Takes the views of the row offsets, one more than there are rows, of the column indices, and of the values.
    ///
    /// # Errors
    /// [`ErrorKind::SparseStructure`] in [`HandleError::Library`] if offsets or indices are not integers;
    /// [`HandleError::LengthMismatch`] without offsets, or if there are more or fewer indices than values.
    ///
    /// # Examples
    /// See [`Kernels::sparse_to_dense`](crate::Kernels::sparse_to_dense).
    pub fn new<O: Element, I: Element>(
        offsets: View<'v, O, D>,
        indices: View<'v, I, D>,
        values: View<'v, T, D>,
    ) -> Result<Self, HandleError> {
        Self::of_numbers(Numbers::of(offsets, "row offsets")?, Numbers::of(indices, "column indices")?, values, false)
    }

    /// Takes views of numbers; `is_checked`: they are known to be right.
    pub(crate) fn of_numbers(
        offsets: Numbers<'v, D>,
        indices: Numbers<'v, D>,
        values: View<'v, T, D>,
        is_checked: bool,
    ) -> Result<Self, HandleError> {
        if offsets.len() == 0 {
            return Err(HandleError::LengthMismatch { have: 0, want: 1 });
        }
        let (have, want) = (indices.len(), <D::Memory as ExecutionMemory>::count(&values));
        if have != want {
            return Err(HandleError::LengthMismatch { have, want });
        }
        Ok(Self { offsets, indices, values, is_checked })
    }

    /// Checks that there are as many offsets as a table of a shape needs, and that an output has room for its values.
    pub(crate) fn check(&self, output: &ViewMut<'_, T, D>, shape: Shape) -> Result<(), HandleError> {
        let (have, want) = (self.offsets.len(), shape.rows.checked_add(1).ok_or(HandleError::LengthOverflow)?);
        if have != want {
            return Err(HandleError::LengthMismatch { have, want });
        }
        check_count::<T, D>(output, shape.element_count()?)
    }
}

impl<T: Element, D: DeviceAdapter> std::fmt::Debug for SparseRows<'_, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offsets, indices, values, is_checked: _ } = self;
        f.debug_struct("SparseRows")
            .field("offsets", &offsets.len())
            .field("offset_bytes", &offsets.width)
            .field("index_bytes", &indices.width)
            .field("values", values)
            .finish()
    }
}

/// Returns the narrowest unsigned type that has a number.
pub(crate) fn narrowest(max: usize) -> ElementType {
    match max {
        0..=0xFF => ElementType::U8,
        0x100..=0xFFFF => ElementType::U16,
        0x1_0000..=0xFFFF_FFFF => ElementType::U32,
        _ => ElementType::U64,
    }
}

/// The faults of a row, in the order in which they are reported.
const FAULTS: [SparseFault; 3] = [SparseFault::Offsets, SparseFault::OutOfRange, SparseFault::NotAscending];

/// Returns the error about a row of sparse rows: `fault` is an index of [`FAULTS`].
pub(crate) fn wrong_row(row: usize, fault: usize, values: usize, columns: usize) -> Error {
    let reason = match fault {
        0 => format!("the offsets of row {row} descend, or are more than the number of values, {values}"),
        1 => format!("row {row} has a column index that is not below the number of columns, {columns}"),
        _ => format!("the column indices of row {row} do not ascend"),
    };
    let fault = FAULTS[fault.min(2)];
    Error::new(ErrorKind::SparseStructure { fault, row: Some(row), position: None, reason })
}

/// Offsets and indices as a closure sees them.
struct Pattern<'s> {
    offsets: &'s [u8],
    offset_width: usize,
    indices: &'s [u8],
    index_width: usize,
}

/// Returns the number at an index of numbers of a width, and the largest number past their end.
fn number_at(bytes: &[u8], width: usize, index: usize) -> usize {
    let mut wide = [0; size_of::<u64>()];
    let Some(bytes) = index.checked_mul(width).and_then(|first| bytes.get(first..)?.get(..width)) else {
        return usize::MAX;
    };
    if cfg!(target_endian = "little") {
        wide[..width].copy_from_slice(bytes)
    } else {
        wide[8 - width..].copy_from_slice(bytes)
    }
    usize::try_from(u64::from_ne_bytes(wide)).unwrap_or(usize::MAX)
}

impl Pattern<'_> {
    fn column(&self, position: usize) -> usize {
        number_at(self.indices, self.index_width, position)
    }

    fn ends(&self, row: usize) -> [usize; 2] {
        [row, row + 1].map(|row| number_at(self.offsets, self.offset_width, row))
    }

    /// Calls `put` with the column and the value of each cell of a row.
    fn for_each<T: Element>(&self, row: usize, values: &[T], mut put: impl FnMut(usize, T)) {
        let [start, end] = self.ends(row);
        let found = values.get(start..end.min(values.len())).unwrap_or_default();
        for (position, &value) in (start..).zip(found) {
            put(self.column(position), value);
        }
    }

    /// Checks a row of a table of the given number of columns.
    fn check(&self, row: usize, columns: usize) -> Result<(), Error> {
        let (count, [start, end]) = (self.indices.len() / self.index_width, self.ends(row));
        let wrong = |fault| Err(wrong_row(row, fault, count, columns));
        if start > end || end > count {
            return wrong(0);
        }
        let found = (start..end).map(|position| self.column(position));
        if found.clone().any(|column| column >= columns) {
            return wrong(1);
        }
        if found.is_sorted_by(|before, column| before < column) { Ok(()) } else { wrong(2) }
    }
}

/// The kernel [`Kernels::sparse_to_dense`](super::Kernels::sparse_to_dense) of a device that runs closures.
pub(super) fn sparse_to_dense<T: Element, D: Launch>(
    device: &D,
    from: SparseRows<'_, T, D>,
    (output, shape, layout): (ViewMut<'_, T, D>, Shape, DataLayout),
) -> Result<(), HandleError> {
    from.check(&output, shape)?;
    let SparseRows { offsets, indices, values, is_checked } = from;
    let (offset_width, index_width) = (offsets.width, indices.width);
    if !is_checked {
        let inputs = (offsets.bytes.clone(), indices.bytes.clone());
        device.launch(inputs, (), shape.rows, |mut rows, (offsets, indices), ()| {
            let pattern = Pattern { offsets, offset_width, indices, index_width };
            rows.try_for_each(|row| pattern.check(row, shape.columns))
        })?;
    }
    // A line of the output is a row, or a column.
    let lines = if layout == DataLayout::RowMajor { shape.rows } else { shape.columns };
    let inputs = (offsets.bytes, indices.bytes, values);
    device.launch(inputs, output, lines, |lines, (offsets, indices, values), target| {
        let pattern = Pattern { offsets, offset_width, indices, index_width };
        target.fill(T::default());
        match layout {
            DataLayout::RowMajor => {
                for (row, line) in lines.zip(target.chunks_exact_mut(shape.columns.max(1))) {
                    pattern.for_each(row, values, |column, value| {
                        line.get_mut(column).into_iter().for_each(|place| *place = value);
                    });
                }
            }
            DataLayout::ColumnMajor => {
                for row in 0..shape.rows {
                    pattern.for_each(row, values, |column, value| {
                        if lines.contains(&column) {
                            target[(column - lines.start) * shape.rows + row] = value;
                        }
                    });
                }
            }
        }
    })
}
