//! An array on host and device: a two-step computation on three devices, and the bytes copied in each step.
//!
//! Step 1 computes the mean of each column, step 2 the distance of each row from the means. The table is *input*, the
//! means are *intermediate* (the program never reads them), the distances are the *result*. Devices that share the
//! program's memory copy nothing. For the device with its own memory, the table is copied once, and the distances are
//! copied back.
//!
//! ```text
//! cargo run --release -p more-examples --example control_and_execution
//! ```

#[path = "../common/mod.rs"]
mod common;

use common::{heading, load};
use numeric_table::prelude::*;
use numeric_table_execution::{
    ArrayHandle, DeviceAdapter, EmulatedDevice, HostParallel, HostSerial, Launch, TransferStats, TransferTotals,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let table: HomogenNumericTable<f32> = load("wine.csv")?.convert()?;
    println!("wine.csv: {} of {}, {} bytes", table.shape(), table.element_type(), table.array()?.size_in_bytes());
    let shared = [run(&HostSerial, &table)?, run(&HostParallel, &table)?];
    let separate = EmulatedDevice::new();
    let distances = run(&separate, &table)?;

    heading("All three devices");
    println!("the same distances: {}", if shared.iter().all(|found| *found == distances) { "yes" } else { "no" });
    let (input, result) = (table.array()?.size_in_bytes(), distances.size_in_bytes());
    let least = [TransferTotals { calls: 1, bytes: input }, TransferTotals { calls: 2, bytes: result + 4 }];
    let TransferStats { uploads, downloads, .. } = separate.stats();
    println!("what crossed to and from the separate one: {uploads}; {downloads}");
    if [uploads, downloads] != least || shared.iter().any(|found| *found != distances) {
        return Err("more has crossed than had to, or the results differ".into());
    }
    let (row, farthest) = distances.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).ok_or("there are no rows")?;
    println!("farthest from the means: row {row}, at {farthest:.1}");
    Ok(())
}

/// Computes the distances on a device, with the same code for all devices.
fn run<D: Launch>(device: &D, table: &HomogenNumericTable<f32>) -> Result<Array<f32>> {
    heading(&device.id().to_string());
    println!("{:<34}{:>16}{:>16}{:>16}", "", "bytes up", "bytes down", "on the device");
    let mut seen = device.stats();
    let mut line = |what: &str| {
        let now = device.stats();
        let TransferStats { uploads, downloads, duplicates, .. } = now - seen;
        println!("{what:<34}{:>16}{:>16}{:>16}", uploads.bytes, downloads.bytes, duplicates.bytes);
        seen = now;
    };
    let Shape { rows, columns } = table.shape();

    let input = ArrayHandle::from_container(device, table.clone().into_array()?); // shares the table's memory
    let mut means = ArrayHandle::<f32, _>::empty(device);
    let mut distances = ArrayHandle::<f32, _>::empty(device);
    line("make the handles");

    let output = means.prepare_for_output(columns)?;
    device.launch([input.prepare_for_input()?], output, columns, |items, [values], means| {
        for (column, mean) in items.zip(means) {
            let sum: f64 = values.iter().skip(column).step_by(columns).map(|&value| f64::from(value)).sum();
            *mean = (sum / rows as f64) as f32;
        }
    })?;
    line("step 1: means of the columns");

    let inputs = [input.prepare_for_input()?, means.prepare_for_input()?];
    device.launch(inputs, distances.prepare_for_output(rows)?, rows, |items, [values, means], distances| {
        for (row, distance) in values.chunks(columns).skip(items.start).zip(distances) {
            let squares = row.iter().zip(means).map(|(value, mean)| f64::from(value - mean).powi(2));
            *distance = squares.sum::<f64>().sqrt() as f32;
        }
    })?;
    line("step 2: distances of the rows");

    let one = distances.get_values(&[rows / 2])?;
    line("look at one distance");
    let all = distances.read_portal()?;
    line("look at all of them");
    if all[rows / 2] != one[0] {
        return Err("one value differs from itself".into());
    }
    let result = distances.into_container()?;
    line("take the result");
    Ok(result)
}
