//! Sending a whole table to a device: in blocks of rows, so that little memory is needed beside the table there.

use numeric_table::convert::ConversionPolicy;
use numeric_table::internal::RowSource;
use numeric_table::{DataLayout, Element, Shape};

use super::{RowStream, StreamOptions, StreamSlot};
use crate::memory::ExecutionMemory;
use crate::{ArrayHandle, HandleError, Kernels};

/// The most bytes of the values of a block, unless a row has more.
const BLOCK_BYTES: usize = 64 << 20;

/// One block is packed while the other one is copied.
const SLOTS: usize = 2;

/// Sends all rows of a source to a device, in the layout of the source.
pub(crate) fn send_all<U: Element, D: Kernels>(
    source: Box<dyn RowSource + '_>,
    device: &D,
    policy: ConversionPolicy,
) -> Result<ArrayHandle<U, D>, HandleError> {
    send_in_blocks(source, device, policy, BLOCK_BYTES)
}

/// Sends all rows in blocks of a number of bytes.
fn send_in_blocks<U: Element, D: Kernels>(
    source: Box<dyn RowSource + '_>,
    device: &D,
    policy: ConversionPolicy,
    bytes: usize,
) -> Result<ArrayHandle<U, D>, HandleError> {
    let (shape, layout) = (source.shape(), source.data_layout());
    let count = shape.element_count_of(U::TYPE)?;
    let row_bytes = shape.columns.saturating_mul(size_of::<U>()).max(1);
    let rows = (bytes / row_bytes).max(1);
    let options = StreamOptions { rows, slots: SLOTS, layout, policy, ..Default::default() };
    if D::Memory::IS_SHARED || rows >= shape.rows {
        return send_at_once(source, device, StreamOptions { rows: shape.rows.max(1), slots: 1, ..options });
    }
    let mut values = ArrayHandle::empty(device);
    values.prepare_for_output(count)?;
    let mut stream = RowStream::<U, D>::new(source, device, options)?;
    while let Some(block) = stream.next()? {
        let (from, from_layout) = turned(block.shape(), layout);
        let (to, to_layout) = turned(shape, layout);
        let (from, to) = ((block.view(), from, from_layout), (values.prepare_in_place()?, to, to_layout));
        device.convert_into_columns::<U, U>(from, to, block.row_range().start, ConversionPolicy::Saturate)?;
    }
    stream.finish()?;
    Ok(values)
}

/// Returns the shape and the layout of the transposed table, whose columns are the rows. It has the same memory.
fn turned(shape: Shape, layout: DataLayout) -> (Shape, DataLayout) {
    let layout = match layout {
        DataLayout::RowMajor => DataLayout::ColumnMajor,
        DataLayout::ColumnMajor => DataLayout::RowMajor,
    };
    (Shape { rows: shape.columns, columns: shape.rows }, layout)
}

/// Sends all rows as one block, which becomes the table.
fn send_at_once<U: Element, D: Kernels>(
    source: Box<dyn RowSource + '_>,
    device: &D,
    options: StreamOptions,
) -> Result<ArrayHandle<U, D>, HandleError> {
    let mut stream = RowStream::new(source, device, options)?;
    stream.next()?;
    device.synchronize()?;
    let Some(StreamSlot { mut values, .. }) = stream.slots.pop() else { return Ok(ArrayHandle::empty(device)) };
    if !D::Memory::IS_SHARED {
        values.release_control()?; // what was packed
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use numeric_table::internal::HasRows;
    use numeric_table::prelude::*;
    use numeric_table::{CsrNumericTable, RowMergedNumericTable, SoaNumericTable, table::by_ref};

    use super::super::counting::Counting;
    use super::*;
    use crate::{DeviceAdapter, EmulatedDevice};

    const ROWS: usize = 23;

    /// Rows of one, of two and of no values, and one that is full.
    fn sparse() -> CsrNumericTable {
        let columns = |row: usize| match row {
            11 => (0..40).collect(),
            _ => (0..row % 3).map(|at| (row * 7 % 20 + at * 13) as i64).collect::<Vec<_>>(),
        };
        let mut offsets = vec![0];
        offsets.extend((0..ROWS).scan(0, |end, row| {
            *end += columns(row).len() as i64;
            Some(*end)
        }));
        let indices: Vec<i64> = (0..ROWS).flat_map(columns).collect();
        let values: Vec<f32> = (0..indices.len()).map(|at| if at == 5 { -0.0 } else { at as f32 + 1.5 }).collect();
        CsrNumericTable::try_new(Shape { rows: ROWS, columns: 40 }, offsets, indices, values).unwrap()
    }

    /// Columns of several types, one after another.
    fn mixed() -> SoaNumericTable {
        let mut table = SoaNumericTable::new();
        table.push_column("a", (0..ROWS as u8).collect::<Vec<_>>()).unwrap();
        table.push_column("b", (0..ROWS as i16).map(|row| -300 * row).collect::<Vec<_>>()).unwrap();
        let wide = |row| if row == 20 { f64::NAN } else { row as f64 * 0.1 };
        table.push_column("c", (0..ROWS).map(wide).collect::<Vec<_>>()).unwrap();
        table
    }

    /// Sends tables of both layouts, also those whose values cross as they are, and narrower.
    fn for_each_table(check: impl Fn(&dyn NumericTable)) {
        check(&sparse());
        check(&mixed());
        check(&RowMergedNumericTable::new(vec![by_ref(&mixed()), by_ref(&mixed())]).unwrap());
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            check(&test_support::tables::numbered::<i16>(ROWS, 3, layout));
        }
    }

    /// The bits of all values.
    fn bits<U: Element>(values: &ArrayHandle<U, impl Kernels>) -> Vec<u8> {
        bytemuck::cast_slice(values.read_portal().unwrap()).to_vec()
    }

    fn send<U: Element, D: Kernels>(
        table: &dyn NumericTable,
        device: &D,
        bytes: usize,
    ) -> Result<ArrayHandle<U, D>, HandleError> {
        send_in_blocks(table.row_source(), device, ConversionPolicy::Checked, bytes)
    }

    #[test]
    fn blocks_of_every_size_are_the_table_that_one_block_is() {
        fn check<U: Element>(table: &dyn NumericTable) {
            let whole = EmulatedDevice::new();
            let expected = send::<U, _>(table, &whole, usize::MAX).unwrap();
            assert_eq!(expected.len(), table.shape().rows * table.shape().columns);
            let once = whole.stats().uploads;
            assert_eq!(once.calls, 1);
            let row = table.shape().columns * size_of::<U>();
            for rows in [0, 1, 2, 7, 22, 23, 45, 46, 100] {
                let device = Counting::new();
                let found = send::<U, _>(table, &device, rows * row).unwrap();
                assert_eq!(bits(&found), bits(&expected), "{rows} rows, {}", U::TYPE);
                let (stats, blocks) = (device.emulated().stats(), table.shape().rows.div_ceil(rows.max(1)));
                assert_eq!(stats.uploads.calls, blocks);
                // Each block of sparse rows has an offset more; blocks that are dense cross as such.
                assert!(stats.uploads.bytes <= once.bytes + blocks * row + blocks, "{stats:?}");
                if blocks > SLOTS {
                    // For each slot: what crosses and a quarter, and, if some blocks are dense, those.
                    let block = rows.max(1) * row;
                    assert!(device.staged().1 <= SLOTS * (2 * block + 2 * block + 64), "{rows} rows");
                }
                drop(found);
                assert_eq!(device.emulated().live_bytes(), 0);
            }
        }
        for_each_table(|table| {
            check::<f32>(table);
            check::<f64>(table);
        });
    }

    #[test]
    fn a_table_in_one_block_is_packed_in_what_crosses() {
        for table in [&sparse() as &dyn NumericTable, &mixed()] {
            let device = Counting::new();
            send::<f64, _>(table, &device, usize::MAX).unwrap();
            let bytes = device.emulated().stats().uploads.bytes;
            assert_eq!(device.staged().1, bytes.next_multiple_of(size_of::<u64>()));
        }
    }

    #[test]
    fn a_fault_in_any_block_leaves_nothing() {
        let faults: [fn(&EmulatedDevice, usize); 3] =
            [EmulatedDevice::fail_allocation, EmulatedDevice::fail_upload, EmulatedDevice::fail_kernel];
        for_each_table(|table| {
            let block = 5 * table.shape().columns * size_of::<f64>();
            let expected = bits(&send::<f64, _>(table, &EmulatedDevice::new(), usize::MAX).unwrap());
            for (kind, fail) in faults.into_iter().enumerate() {
                let mut failures = 0;
                for after in 0..40 {
                    let device = EmulatedDevice::new();
                    fail(&device, after);
                    match send::<f64, _>(table, &device, block) {
                        Ok(found) => assert_eq!(bits(&found), expected, "fault {kind} after {after}"),
                        Err(_) => failures += 1,
                    }
                    assert_eq!(device.live_bytes(), 0, "fault {kind} after {after}");
                    let _ = device.synchronize(); // reports a kernel that failed
                    device.fail_allocation(1000); // not this one again
                    device.fail_upload(1000);
                    device.fail_kernel(1000);
                    assert_eq!(bits(&send::<f64, _>(table, &device, block).unwrap()), expected);
                }
                // An allocation that fails is tried again, after idle memory has been freed.
                assert!(failures >= if kind == 0 { 2 } else { 5 }, "fault {kind}: {failures}");
            }
        });
    }

    #[test]
    fn a_refused_value_has_its_place_in_the_table() {
        for row in 0..ROWS {
            let mut mixed = SoaNumericTable::new();
            let values = |wrong: f64| (0..ROWS).map(|at| if at == row { wrong } else { 1.0 }).collect::<Vec<_>>();
            mixed.push_column("a", values(1.0)).unwrap();
            mixed.push_column("b", values(300.0)).unwrap();
            mixed.push_column("c", vec![1_u8; ROWS]).unwrap();
            mixed.push_column("d", values(-1.0)).unwrap();
            let offsets: Vec<i64> = (0..=ROWS as i64).collect();
            let shape = Shape { rows: ROWS, columns: 40 };
            let sparse = CsrNumericTable::try_new(shape, offsets, vec![7; ROWS], values(300.0)).unwrap();
            for (table, column) in [(&mixed as &dyn NumericTable, 1), (&sparse, 7)] {
                let text = |bytes| send::<u8, _>(table, &EmulatedDevice::new(), bytes).unwrap_err().to_string();
                let expected = text(usize::MAX);
                assert!(expected.contains(&format!("300 at row {row}, column {column} ")), "{expected}");
                for rows in [1, 5, 22] {
                    assert_eq!(text(rows * table.shape().columns), expected);
                }
            }
        }
    }
}
