//! The kernel that writes sparse rows as a dense table.

use crate::device::Device;
use crate::kernels::{bytes_of, refuse, size};
use crate::{Answer, INVALID_VALUE};

/// Unsigned numbers of a width.
struct Numbers {
    bytes: Vec<u8>,
    width: usize,
}

impl Numbers {
    fn read(device: &Device, address: u64, width: u64, count: usize) -> Answer<Self> {
        let width = size(width & 0xFFFF_FFFF)?;
        if ![1, 2, 4, 8].contains(&width) || !address.is_multiple_of(width as u64) {
            return Err(INVALID_VALUE);
        }
        Ok(Self { bytes: device.read(address, bytes_of(count, width)?)?, width })
    }

    fn at(&self, index: usize) -> u64 {
        let mut wide = [0; 8];
        wide[..self.width].copy_from_slice(&self.bytes[index * self.width..][..self.width]);
        u64::from_le_bytes(wide)
    }
}

/// The arguments are those of `sparse_to_dense_W`.
pub(crate) fn to_dense(device: &Device, width: usize, arguments: &[u64]) -> Answer {
    let &[
        offsets,
        offset_width,
        indices,
        index_width,
        values,
        count,
        rows,
        columns,
        lanes,
        is_column_major,
        out,
        refused,
    ] = arguments
    else {
        return Err(INVALID_VALUE);
    };
    let (count, rows, columns) = (size(count)?, size(rows)?, size(columns)?);
    if ![1, 2, 4, 8, 16, 32].contains(&lanes) {
        return Err(INVALID_VALUE);
    }
    let offsets = Numbers::read(device, offsets, offset_width, rows + 1)?;
    let indices = Numbers::read(device, indices, index_width, count)?;
    let values = device.read(values, bytes_of(count, width)?)?;
    let (mut first_refused, mut cells) = (u64::MAX, Vec::new());
    for row in 0..rows {
        let (start, end) = (offsets.at(row), offsets.at(row + 1));
        let mut refuse = |fault: u64| first_refused = first_refused.min(4 * row as u64 + fault);
        if start > end || end > count as u64 {
            refuse(0);
        }
        let mut before = None;
        for place in start..end.min(count as u64) {
            let column = indices.at(place as usize);
            if column >= columns as u64 {
                refuse(1);
            } else if before.is_some_and(|before| before >= column) {
                refuse(2);
            }
            before = Some(column);
            if column < columns as u64 {
                let column = column as usize;
                let is_by_rows = is_column_major as u32 == 0;
                cells.push((place as usize, if is_by_rows { row * columns + column } else { column * rows + row }));
            }
        }
    }
    device.write(out, bytes_of(bytes_of(rows, columns)?, width)?, |bytes| {
        for (place, cell) in cells {
            bytes[cell * width..][..width].copy_from_slice(&values[place * width..][..width]);
        }
    })?;
    if refused == 0 {
        return Ok(());
    }
    refuse(device, refused, first_refused)
}
