//! Rows selected by number or by flag, into new memory.

use std::hint::black_box;

use numeric_table::prelude::*;

use crate::measure::Bench;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    for columns in [16, 1] {
        of_type::<f64>(bench, "f64", columns)?;
        of_type::<f32>(bench, "f32", columns)?;
    }
    Ok(())
}

/// The number of rows: 1 Mi of 16 columns, 10 Mi of one.
fn row_count(bench: &Bench, columns: usize) -> usize {
    if columns == 1 { bench.values() / 16 * 10 } else { bench.values() / columns }
}

/// Returns every row number once, in an order that looks random: a linear congruential generator modulo a power of two,
/// without the numbers past the end.
pub(crate) fn shuffled(rows: usize) -> Vec<usize> {
    let (mut order, modulus) = (Vec::with_capacity(rows), rows.next_power_of_two());
    let mut row = 1;
    while order.len() < rows {
        row = (row * 0x9E37_79B1 + 0x7F4A_7C15) % modulus;
        if row < rows {
            order.push(row);
        }
    }
    order
}

/// Returns flags that look random and select half of the rows.
fn flags(rows: usize) -> Vec<bool> {
    (0..rows as u64).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33 & 1 == 1).collect()
}

fn of_type<T: Element + From<u8> + PartialEq>(bench: &mut Bench, name: &str, columns: usize) -> Result<(), Error> {
    let layouts = [("row_major", DataLayout::RowMajor), ("column_major", DataLayout::ColumnMajor)];
    for (layout_name, layout) in layouts.into_iter().take(if columns == 1 { 1 } else { 2 }) {
        let place = match columns {
            1 => format!("{name}/1_column"),
            _ => format!("{name}/{columns}_columns/{layout_name}"),
        };
        let jobs =
            ["take/random", "take/sorted", "filter/random", "filter/runs"].map(|job| format!("rows_{job}/{place}"));
        if !jobs.iter().any(|job| bench.wants(job)) {
            continue;
        }
        let rows = row_count(bench, columns);
        let value = |row: usize, column: usize| T::from(((row * 7 + column) % 251) as u8);
        let table = HomogenNumericTable::from_fn(Shape { rows, columns }, value)?.to_layout(layout)?;
        let random = shuffled(rows);
        let sorted = (0..rows).step_by(2).collect::<Vec<_>>();
        let half = flags(rows);
        let runs = (0..rows).map(|row| row / 100 % 2 == 0).collect::<Vec<_>>();
        let kept = |flags: &[bool]| (0..rows).filter(|&row| flags[row]).collect::<Vec<_>>();
        let of_runs = |numbers: &[usize], taken: Box<dyn NumericTable>, job: &str| -> Result<(), Error> {
            assert_eq!(taken.shape(), Shape { rows: numbers.len(), columns }, "{job}");
            for at in (0..numbers.len()).step_by(997) {
                let row = taken.rows::<T>(at..at + 1)?;
                assert!((0..columns).all(|column| row[column] == value(numbers[at], column)), "{job}: row {at}");
            }
            Ok(())
        };
        of_runs(&random, table.take_rows(&random)?, &jobs[0])?;
        of_runs(&sorted, table.take_rows(&sorted)?, &jobs[1])?;
        of_runs(&kept(&half), table.filter_rows(&half)?, &jobs[2])?;
        of_runs(&kept(&runs), table.filter_rows(&runs)?, &jobs[3])?;
        let take = |numbers: &[usize]| drop(black_box(table.take_rows(numbers).expect("the rows exist")));
        let filter = |flags: &[bool]| drop(black_box(table.filter_rows(flags).expect("a flag for each row")));
        let mut runs: [(&str, &mut dyn FnMut()); 4] = [
            (&jobs[0], &mut || take(&random)),
            (&jobs[1], &mut || take(&sorted)),
            (&jobs[2], &mut || filter(&half)),
            (&jobs[3], &mut || filter(&runs)),
        ];
        for (job, run) in &mut runs {
            if bench.wants(job) {
                bench.compare(job, 1, &mut [("ours", *run)]);
            }
        }
    }
    Ok(())
}
