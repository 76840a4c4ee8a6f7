//! A table streamed to a device in blocks of rows, while packing, copying and kernels overlap.
//!
//! The device is the emulated one with the speeds of a graphics card on its virtual clock, so that the times below are
//! the same on every machine. The last lines stream the same table to host memory, which needs no copies.
//!
//! ```text
//! cargo run --release -p more-examples --example stream_rows
//! ```

#[path = "../common/mod.rs"]
mod common;

use common::{heading, load};
use numeric_table::prelude::*;
use numeric_table_execution::emulated::EmulatedSpeed;
use numeric_table_execution::stream::{Convert, StreamOptions, StreamRows, StreamStats};
use numeric_table_execution::transport::StageTimes;
use numeric_table_execution::{ArrayHandle, EmulatedDevice, HostParallel, Launch};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Bytes per second: a core that packs, a link, and device memory.
const CARD: EmulatedSpeed = EmulatedSpeed { control: 8_000_000_000, copy: 12_000_000_000, compute: 40_000_000_000 };

const ROWS_PER_BLOCK: usize = 128;

fn main() -> Result<()> {
    let by_rows: HomogenNumericTable<u8> = load("digits.csv")?.convert_with(ConversionPolicy::Exact)?;
    let by_columns = by_rows.to_layout(DataLayout::ColumnMajor)?;
    println!("digits.csv: {} of {}, in blocks of {ROWS_PER_BLOCK} rows", by_rows.shape(), by_rows.element_type());
    let expected = sums(&by_rows)?;

    heading("Asked for as f32, on a device with memory of its own");
    println!("{:<42}{:>9}{:>9}{:>9}{:>9}{:>11}", "", "pack", "copy", "kernels", "total", "bytes up");
    let run = |what: &str, table: &HomogenNumericTable<u8>, slots: usize, convert: Convert| -> Result<StreamStats> {
        let options = StreamOptions { rows: ROWS_PER_BLOCK, slots, convert, ..Default::default() };
        let (stats, found) = stream(&EmulatedDevice::new().with_speed(CARD), table, options)?;
        line(what, &stats);
        if found == expected { Ok(stats) } else { Err("the sums are not those of the table".into()) }
    };
    let one = run("column-major, one slot", &by_columns, 1, Convert::Auto)?;
    run("column-major, two slots", &by_columns, 2, Convert::Auto)?;
    let three = run("column-major, three slots", &by_columns, 3, Convert::Auto)?;
    run("the same, converted before it crosses", &by_columns, 3, Convert::Control)?;
    run("row-major, which need not be packed", &by_rows, 3, Convert::Auto)?;
    let StageTimes { pack, copy, kernel, .. } = three.times;
    println!("one after the other, the stages of three slots would take {:.1?}", pack + copy + kernel);

    heading("The same on the program's own memory");
    let options = StreamOptions { rows: ROWS_PER_BLOCK, ..Default::default() };
    let (stats, found) = stream(&HostParallel, &by_rows, options)?;
    println!("{stats}");
    println!("the same sums: {}", if found == expected { "yes" } else { "no" });
    if three.times.total < one.times.total && found == expected { Ok(()) } else { Err("nothing overlaps".into()) }
}

fn line(what: &str, stats: &StreamStats) {
    let StageTimes { pack, copy, kernel, total } = stats.times;
    let [pack, copy, kernel, total] =
        [pack, copy, kernel, total].map(|time| format!("{:.1} us", time.as_secs_f64() * 1e6));
    println!("{what:<42}{pack:>9}{copy:>9}{kernel:>9}{total:>9}{:>11}", stats.transfers.uploads.bytes);
}

/// Sums the columns on the device, block by block.
fn stream<D: Launch>(
    device: &D,
    table: &HomogenNumericTable<u8>,
    options: StreamOptions,
) -> Result<(StreamStats, Vec<f32>)> {
    let columns = table.column_count();
    let mut sums = ArrayHandle::from_container(device, vec![0.0_f32; columns]);
    sums.release_control()?; // they stay on the device from now on
    let mut stream = table.stream_rows::<f32, _>(device, options)?;
    while let Some(block) = stream.next()? {
        device.launch([block.view()], sums.prepare_in_place()?, columns, |items, [values], sums| {
            for row in values.chunks(columns) {
                sums.iter_mut().zip(&row[items.clone()]).for_each(|(sum, value)| *sum += value);
            }
        })?;
    }
    let stats = stream.finish()?;
    Ok((stats, sums.into_container()?))
}

fn sums(table: &HomogenNumericTable<u8>) -> Result<Vec<f32>> {
    let mut sums = vec![0.0; table.column_count()];
    for row in table.rows::<f32>(0..table.row_count())?.iter_rows() {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    Ok(sums)
}
