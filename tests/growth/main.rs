//! No call on a table costs more than its page says when there are more rows, columns or tables: each is measured with
//! n, 10 n and 100 n of them.
//!
//! What counts is work and not time, see `meter`.

mod columns;
mod meter;
mod outputs;
mod rows;
mod tables;

use numeric_table::BlockMut;
use numeric_table::prelude::*;

use self::meter::{Cost, STEPS, Work, assert_growth};

/// A call on any table.
type Call = (&'static str, Cost, fn(&mut (dyn NumericTable + '_)));

/// Measures calls on tables of three sizes, and compares. The calls leave the tables as large as they are.
fn check_all<'t>(least: usize, make: impl Fn(usize) -> Box<dyn NumericTable + 't>, calls: &[Call]) {
    let mut tables = STEPS.map(|step| make(least * step));
    for &(what, cost, call) in calls {
        let works = tables.each_mut().map(|table| Work::of(table, |table| call(&mut **table)));
        assert_growth(what, cost, works);
    }
}

/// Returns every second number below a limit.
fn every_second(limit: usize) -> Vec<usize> {
    (0..limit).step_by(2).collect()
}

/// Returns an edit that sets the first value of a block.
fn begin_with<U: Element>(value: U) -> impl Fn(&mut BlockMut<'_, U>) -> Result<(), Error> {
    move |block| {
        block[0] = value;
        Ok(())
    }
}
