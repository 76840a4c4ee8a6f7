//! The calls: each is made on tables of any shape, and looks at what comes back.

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;

use numeric_table::prelude::*;
use numeric_table_execution::sequence::TableColumn;
use numeric_table_execution::stream::{StreamOptions, StreamRows};
use numeric_table_execution::{ArrayHandle, EmulatedDevice, HostParallel, HostSerial, Kernels, ToDevice};
use test_support::tables::LAYOUTS;

use super::suite::{Call, Table, calls};

/// How many blocks of a stream are looked at: there may be 2^64.
const FEW: usize = 3;

calls! {
    fn on_the_serial_device(table, _folder) {
        on_device(table, &HostSerial);
    }

    fn on_the_rayon_device(table, _folder) {
        on_device(table, &HostParallel);
    }

    fn on_a_detached_device(table, _folder) {
        on_device(table, &EmulatedDevice::new().with_capacity(1 << 20));
    }
}

/// Ranges of rows that lie inside of some table, and some that lie inside of none.
#[allow(clippy::reversed_empty_ranges)]
fn row_ranges(rows: usize) -> [Range<usize>; 7] {
    [0..rows, 0..0, rows..rows, rows.saturating_sub(1)..rows, 0..usize::MAX, usize::MAX..usize::MAX, 1..0]
}

fn on_device<T: Element, D: Kernels + Clone>(table: &Table<T>, device: &D) {
    let _ = black_box(table.to_device::<T, D>(device).map(|there| there.to_table()));
    if let Ok(there) = table.to_device::<f64, D>(device) {
        let Shape { rows, .. } = there.shape();
        for range in row_ranges(rows) {
            let _ = black_box(there.download_rows::<f32>(range));
        }
        for layout in LAYOUTS {
            let _ = black_box(there.to_layout(layout));
        }
        for columns in [vec![], vec![0], vec![usize::MAX], vec![0; 5]] {
            let _ = black_box(there.select_columns(&columns));
        }
        let _ = black_box(there.convert::<u8>(ConversionPolicy::Exact));
    }
    for rows in [0, 1, 1000, usize::MAX] {
        for slots in [0, 1, 3] {
            let options = StreamOptions { rows, slots, ..StreamOptions::default() };
            if let Ok(mut stream) = table.stream_rows::<f64, D>(device, options) {
                for _ in 0..FEW {
                    let _ = black_box(stream.next().map(|block| block.map(|block| block.shape())));
                }
            }
            for indices in [&[][..], &[0], &[0, 0, 1, 0], &[usize::MAX]] {
                if let Ok(mut stream) = table.stream_rows_at::<f64, D>(device, indices, options) {
                    for _ in 0..FEW {
                        let _ = black_box(stream.next().map(|block| block.map(|block| block.shape())));
                    }
                }
            }
        }
    }
    for column in [0, 1, usize::MAX] {
        if let Ok(column) = TableColumn::<f64>::new(table, column) {
            let handle = ArrayHandle::from_sequence(device, column);
            let _ = black_box(handle.prepare_for_input().map(drop));
            let _ = black_box(handle.get_values(&[0, usize::MAX]));
            let _ = black_box(handle.read_portal().map(<[f64]>::len));
        }
    }
}
