//! What the kernels do, in Rust, on bytes: numbers are those of the library's own conversion.

use bytemuck::{Pod, cast_slice};
use numeric_table::convert::convert_slice;
use numeric_table::{ConversionPolicy, DataLayout, Element, ElementType, ErrorKind, Shape, bf16, f16};
use numeric_table_execution::{HostSerial, Kernels};

use crate::device::Device;
use crate::module::Kernel;
use crate::sparse;
use crate::{Answer, INVALID_VALUE};

/// Evaluates the body with `T` as the Rust type of an element type.
macro_rules! with_type {
    ($element:expr, $T:ident => $body:expr) => {
        with_type! { @ $element, $T, $body;
            F32 f32, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, Bf16 bf16 }
    };
    (@ $element:expr, $T:ident, $body:expr; $($name:ident $native:ty),*) => {
        match $element {
            $(ElementType::$name => { type $T = $native; $body })*
            _ => Err(INVALID_VALUE),
        }
    };
}

/// Runs a kernel with its arguments, in their order.
pub(crate) fn run(device: &Device, kernel: Kernel, arguments: &[u64]) -> Answer {
    match (kernel, arguments) {
        (Kernel::Convert(source, target), &[input, output, count, policy, refused]) => {
            let shape = (1, size(count)?);
            let places = Places { rows: [0, 0], columns: [1, 1] };
            convert(device, [source, target], [input, output], shape, places, [policy, refused])
        }
        (Kernel::ConvertTransposed(source, target), &[input, output, rows, columns, policy, refused]) => {
            let places = Places { rows: [columns as i64, 1], columns: [1, rows as i64] };
            let shape = (size(rows)?, size(columns)?);
            convert(device, [source, target], [input, output], shape, places, [policy, refused])
        }
        (Kernel::ConvertStrided(source, target), &[input, a, b, output, c, d, rows, columns, policy, refused]) => {
            let places = Places { rows: [a as i64, c as i64], columns: [b as i64, d as i64] };
            let shape = (size(rows)?, size(columns)?);
            convert(device, [source, target], [input, output], shape, places, [policy, refused])
        }
        (Kernel::Fill(width), &[output, count, value]) => {
            let value = &value.to_le_bytes()[..width];
            let fill = |bytes: &mut [u8]| bytes.chunks_exact_mut(width).for_each(|place| place.copy_from_slice(value));
            device.write(output, bytes_of(size(count)?, width)?, fill)
        }
        (Kernel::GatherColumns(width), &[input, rows, columns, is_column_major, selected, count, output]) => {
            let (rows, columns, count) = (size(rows)?, size(columns)?, size(count)?);
            let selected = device.read(selected, bytes_of(count, 8)?)?;
            let selected: Vec<usize> = values(&selected).iter().map(|&index: &u64| index as usize).collect();
            let mut order = Vec::with_capacity(count * rows);
            match is_column_major as u32 {
                0 => (0..rows).for_each(|row| order.extend(selected.iter().map(|column| row * columns + column))),
                _ => selected.iter().for_each(|column| order.extend((0..rows).map(|row| column * rows + row))),
            }
            pick(device, width, [input, output], rows * columns, order.into_iter())
        }
        (Kernel::GatherRows(width), &[input, rows, columns, is_column_major, first, count, output]) => {
            let (rows, columns) = (size(rows)?, size(columns)?);
            let chosen = size(first)?..size(first)? + size(count)?;
            let places: Vec<usize> = match is_column_major as u32 {
                0 => (chosen.start * columns..chosen.end * columns).collect(),
                _ => (0..columns).flat_map(|column| chosen.clone().map(move |row| column * rows + row)).collect(),
            };
            pick(device, width, [input, output], rows * columns, places.into_iter())
        }
        (Kernel::CountUp(width), &[output, count, start, step]) => {
            device.write(output, bytes_of(size(count)?, width)?, |bytes| {
                for (place, index) in bytes.chunks_exact_mut(width).zip(0_u64..) {
                    let value = start.wrapping_add(step.wrapping_mul(index));
                    place.copy_from_slice(&value.to_le_bytes()[..width]);
                }
            })
        }
        (Kernel::Gather(width), &[input, in_count, indices, count, output, refused]) => {
            let indices: Vec<u64> = values(&device.read(indices, bytes_of(size(count)?, 8)?)?);
            let source = device.read(input, bytes_of(size(in_count)?, width)?)?;
            let mut found = vec![0; bytes_of(indices.len(), width)?];
            let mut first_refused = u64::MAX;
            for (place, (&index, value)) in indices.iter().zip(found.chunks_exact_mut(width)).enumerate() {
                match index < in_count {
                    true => value.copy_from_slice(&source[size(index)? * width..][..width]),
                    false => first_refused = first_refused.min(place as u64),
                }
            }
            device.write(output, found.len(), |bytes| bytes.copy_from_slice(&found))?;
            refuse(device, refused, first_refused)
        }
        (Kernel::SparseToDense(width), arguments) => sparse::to_dense(device, width, arguments),
        (Kernel::Statistics(element), &[input, _, column_stride, rows, columns, group, is_scaled, moments]) => {
            let shape = Shape { rows: size(rows)?, columns: size(columns)? };
            let layout = if column_stride == 1 { DataLayout::RowMajor } else { DataLayout::ColumnMajor };
            let groups = shape.rows.div_ceil(size(group)?.max(1));
            let words = with_type!(element, T => statistics::<T>(device, input, shape, layout))?;
            // All rows are in the first group here: merging takes that.
            device.write(moments, bytes_of(groups * words[0].len(), 8)?, |bytes| {
                let (first, others) = bytes.split_at_mut(8 * words[0].len());
                first.copy_from_slice(cast_slice(&words[(is_scaled as u32 != 0) as usize]));
                others.fill(0);
            })
        }
        (Kernel::Merge, &[moments, groups, columns, merged]) => {
            let bytes = bytes_of(size(columns)?, 8 * WORDS)?;
            let found = device.read(moments, bytes_of(bytes, size(groups)?)?)?;
            device.write(merged, bytes, |place| place.copy_from_slice(&found[..bytes]))
        }
        (Kernel::Deviations, &[plain, scaled, columns, output]) => {
            let columns = size(columns)?;
            let words = |from| Answer::Ok(values::<u64>(&device.read(from, bytes_of(columns, 8 * WORDS)?)?));
            let (plain, scaled, mut found) = (words(plain)?, words(scaled)?, vec![0.0; bytes_of(columns, 2)?]);
            HostSerial.means_and_deviations([&plain, &scaled], &mut found).map_err(|_| INVALID_VALUE)?;
            device.write(output, bytes_of(columns, 16)?, |bytes| bytes.copy_from_slice(cast_slice(&found)))
        }
        (Kernel::Standardize(element), &[values, rows, columns, is_column_major, pairs]) => {
            let shape = Shape { rows: size(rows)?, columns: size(columns)? };
            let layout = if is_column_major as u32 == 0 { DataLayout::RowMajor } else { DataLayout::ColumnMajor };
            with_type!(element, T => standardize::<T>(device, values, shape, layout, pairs))
        }
        (Kernel::Algorithm(algorithm), arguments) => algorithm.run(device, arguments),
        _ => Err(INVALID_VALUE),
    }
}

/// Number of words of the moments of a column.
const WORDS: usize = 10;

/// The moments of the columns of a table, plain and scaled: those of a device of the library's own.
fn statistics<T: Element>(device: &Device, input: u64, shape: Shape, layout: DataLayout) -> Answer<[Vec<u64>; 2]> {
    let count = bytes_of(shape.rows, shape.columns)?;
    let stored: Vec<T> = values(&device.read(input, bytes_of(count, size_of::<T>())?)?);
    let [mut plain, mut scaled] = [(); 2].map(|()| vec![0; WORDS * shape.columns]);
    HostSerial.moments(&stored[..], shape, layout, [&mut plain, &mut scaled]).map_err(|_| INVALID_VALUE)?;
    Ok([plain, scaled])
}

/// Standardizes a table in place.
fn standardize<T: Element>(device: &Device, address: u64, shape: Shape, layout: DataLayout, pairs: u64) -> Answer {
    let pairs: Vec<f64> = values(&device.read(pairs, bytes_of(shape.columns, 16)?)?);
    let bytes = bytes_of(bytes_of(shape.rows, shape.columns)?, size_of::<T>())?;
    let mut table: Vec<T> = values(&device.read(address, bytes)?);
    HostSerial.standardize(&mut table[..], shape, layout, &pairs[..]).map_err(|_| INVALID_VALUE)?;
    device.write(address, bytes, |place| place.copy_from_slice(cast_slice(&table)))
}

/// Notes what a kernel refuses, unless it has refused something before that.
pub(crate) fn refuse(device: &Device, refused: u64, first_refused: u64) -> Answer {
    device.write(refused, 8, |bytes| {
        let before = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        bytes.copy_from_slice(&before.min(first_refused).to_le_bytes());
    })
}

pub(crate) fn size(number: u64) -> Answer<usize> {
    usize::try_from(number).map_err(|_| INVALID_VALUE)
}

pub(crate) fn bytes_of(count: usize, width: usize) -> Answer<usize> {
    count.checked_mul(width).ok_or(INVALID_VALUE)
}

/// A copy of bytes as values: theirs may not be aligned.
fn values<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytemuck::pod_collect_to_vec(bytes)
}

/// Copies the values at some places, in that order.
fn pick(
    device: &Device,
    width: usize,
    [input, output]: [u64; 2],
    count: usize,
    order: impl Iterator<Item = usize>,
) -> Answer {
    let source = device.read(input, bytes_of(count, width)?)?;
    let mut picked = Vec::with_capacity(source.len());
    for place in order {
        picked.extend_from_slice(source.get(place * width..(place + 1) * width).ok_or(INVALID_VALUE)?);
    }
    device.write(output, picked.len(), |bytes| bytes.copy_from_slice(&picked))
}

/// Strides of the input and of the output.
#[derive(Clone, Copy)]
struct Places {
    rows: [i64; 2],
    columns: [i64; 2],
}

impl Places {
    /// The place of a cell on a side: 0 is the input.
    fn of(self, side: usize, row: usize, column: usize) -> i64 {
        row as i64 * self.rows[side] + column as i64 * self.columns[side]
    }

    /// The first and the last place on a side.
    fn range(self, side: usize, (rows, columns): (usize, usize)) -> (i64, i64) {
        let corners = [(0, 0), (rows - 1, 0), (0, columns - 1), (rows - 1, columns - 1)];
        let places = corners.map(|(row, column)| self.of(side, row, column));
        (places.into_iter().min().unwrap_or(0), places.into_iter().max().unwrap_or(0))
    }
}

fn convert(
    device: &Device,
    [source, target]: [ElementType; 2],
    addresses: [u64; 2],
    shape: (usize, usize),
    places: Places,
    policy: [u64; 2],
) -> Answer {
    with_type!(source, S => with_type!(target, T => convert_as::<S, T>(device, addresses, shape, places, policy)))
}

fn convert_as<S: Element, T: Element>(
    device: &Device,
    [input, output]: [u64; 2],
    shape: (usize, usize),
    places: Places,
    [policy, refused]: [u64; 2],
) -> Answer {
    let (rows, columns) = shape;
    let count = bytes_of(rows, columns)?;
    if count == 0 {
        return Ok(());
    }
    let policy = match policy as u32 {
        0 => ConversionPolicy::Saturate,
        1 => ConversionPolicy::Checked,
        2 => ConversionPolicy::Exact,
        _ => return Err(INVALID_VALUE),
    };
    let cells = || (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let (first, last) = places.range(0, shape);
    let start = input.wrapping_add_signed(first * size_of::<S>() as i64);
    let stored: Vec<S> = values(&device.read(start, bytes_of((last - first + 1) as usize, size_of::<S>())?)?);
    let from: Vec<S> = cells().map(|(row, column)| stored[(places.of(0, row, column) - first) as usize]).collect();

    let mut to = vec![T::default(); count];
    let refusal = convert_slice(&from, &mut to, policy);
    if let Err(error) = &refusal {
        let ErrorKind::ValueNotRepresentable { row, .. } = error.kind() else { return Err(INVALID_VALUE) };
        let index = *row as u64;
        let keep_least = |bytes: &mut [u8]| {
            let old = bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
            bytes.copy_from_slice(&old.min(index).to_le_bytes());
        };
        device.write(refused, size_of::<u64>(), keep_least)?;
        // Refused values are written as well.
        convert_slice(&from, &mut to, ConversionPolicy::Saturate).map_err(|_| INVALID_VALUE)?;
    }

    let (first, last) = places.range(1, shape);
    let start = output.wrapping_add_signed(first * size_of::<T>() as i64);
    device.write(start, bytes_of((last - first + 1) as usize, size_of::<T>())?, |bytes| {
        for ((row, column), value) in cells().zip(&to) {
            let at = (places.of(1, row, column) - first) as usize * size_of::<T>();
            bytes[at..at + size_of::<T>()].copy_from_slice(cast_slice(std::slice::from_ref(value)));
        }
    })
}
