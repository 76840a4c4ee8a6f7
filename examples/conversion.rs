//! Effects and losses of conversions: three policies and the report, on real data and on edge values.
//!
//! ```text
//! cargo run --release --example conversion
//! ```

mod common;

use common::{heading, load};
use numeric_table::convert::try_cast;
use numeric_table::{bf16, f16, prelude::*};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const POLICIES: [ConversionPolicy; 3] =
    [ConversionPolicy::Saturate, ConversionPolicy::Checked, ConversionPolicy::Exact];

fn main() -> Result<()> {
    let wine = load("wine.csv")?; // 178 x 13, stored as f64
    println!("wine.csv: {} of {}", wine.shape(), wine.element_type());
    print_reports(&wine)?;
    print_outcomes(&wine)?;
    POLICIES.into_iter().for_each(print_edges);
    print_untouched()
}

/// Counts the values that would lose precision, without a copy.
fn print_reports(wine: &HomogenNumericTable<f64>) -> Result<()> {
    heading("What converting a column would lose: values of 178");
    println!("{:<18}{:<6}{:>13}{:>13}{:>10}  first loss", "column", "to", "above range", "inexact", "kept");
    for name in ["proline", "magnesium", "hue"] {
        let column = wine.dictionary().index_of(name).ok_or("the column is missing")?;
        print_report::<u8>(wine, column)?;
        print_report::<i16>(wine, column)?;
        print_report::<f16>(wine, column)?;
        print_report::<bf16>(wine, column)?;
    }
    Ok(())
}

fn print_report<U: Element>(wine: &HomogenNumericTable<f64>, column: usize) -> Result<()> {
    let name = wine.dictionary().feature(column)?.name.as_deref().unwrap_or_default();
    let report = wine.view()?.slice_columns(column..column + 1)?.conversion_report::<U>();
    let kept = report.values - report.lost();
    let first = report.first.map_or("none".to_owned(), |(row, _)| format!("row {row}"));
    println!("{name:<18}{:<6}{:>13}{:>13}{kept:>10}  {first}", U::TYPE, report.above_range, report.inexact);
    Ok(())
}

/// Converts a column under each policy. An error names the first rejected value and its position.
fn print_outcomes(wine: &HomogenNumericTable<f64>) -> Result<()> {
    heading("Proline of the first wine, 1065, under each policy; a refusal is of the whole column");
    println!("{:<10}{:<6}outcome", "policy", "to");
    for policy in POLICIES {
        print_outcome::<u8>(wine, policy);
        print_outcome::<i16>(wine, policy);
        print_outcome::<f16>(wine, policy);
        print_outcome::<bf16>(wine, policy);
    }
    let exact = wine.convert_with::<f32>(ConversionPolicy::Exact);
    println!("the whole table to f32, exact: {}", exact.map_or_else(|error| error.to_string(), |_| "done".to_owned()));
    println!("the whole table to u8: {}", wine.conversion_report::<u8>()?);
    Ok(())
}

fn print_outcome<U: Element>(wine: &HomogenNumericTable<f64>, policy: ConversionPolicy) {
    match wine.column_with::<U>(12, 0..wine.row_count(), policy) {
        Ok(column) => println!("{policy:<10}{:<6}{}", U::TYPE, column[0]),
        Err(error) => println!("{policy:<10}{:<6}refused: {error}", U::TYPE),
    }
}

/// Prints the results of one policy for values at the ends of the types' ranges.
fn print_edges(policy: ConversionPolicy) {
    heading(&format!("Edge values under the policy \"{policy}\""));
    println!("{:<14}{:>8}{:>12}{:>21}{:>13}{:>20}{:>22}", "value", "u8", "i32", "i64", "f16", "f32", "f64");
    print_edge("1.5", 1.5_f64, policy);
    print_edge("-0.9", -0.9_f64, policy);
    print_edge("-1", -1.0_f64, policy);
    print_edge("NaN", f64::NAN, policy);
    print_edge("infinity", f64::INFINITY, policy);
    print_edge("65520", 65520.0_f64, policy);
    print_edge("2^63", 2.0_f64.powi(63), policy);
    print_edge("1e39", 1e39_f64, policy);
    print_edge("1e-40", 1e-40_f64, policy);
    print_edge("2^53+1 (i64)", (1_i64 << 53) + 1, policy);
    print_edge("2^63-1 (i64)", i64::MAX, policy);
}

fn print_edge<S: Element>(name: &str, value: S, policy: ConversionPolicy) {
    println!(
        "{name:<14}{:>8}{:>12}{:>21}{:>13}{:>20}{:>22}",
        converted::<S, u8>(value, policy),
        converted::<S, i32>(value, policy),
        converted::<S, i64>(value, policy),
        converted::<S, f16>(value, policy),
        converted::<S, f32>(value, policy),
        converted::<S, f64>(value, policy),
    );
}

fn converted<S: Element, D: Element>(value: S, policy: ConversionPolicy) -> String {
    try_cast::<S, D>(value, policy).map_or("refused".to_owned(), |value| format!("{value:?}"))
}

/// No `f64` equals 2^53+1. The value survives a block of `f64` as long as the block does not change it.
fn print_untouched() -> Result<()> {
    heading("Writing back what nobody changed");
    let big = (1_i64 << 53) + 1;
    let mut table = HomogenNumericTable::from_rows(&[[big, big], [1, 2]])?;
    println!("{:<38}{:>18}{:>18}{:>4}{:>4}", "table of i64", big, big, 1, 2);

    let mut block = table.rows_mut::<f64>(0..2)?;
    block[1] += 2.0;
    block[2] *= 10.0;
    println!(
        "{:<38}{:>18}{:>18}{:>4}{:>4}",
        "block of f64: second + 2, third x 10", block[0], block[1], block[2], block[3]
    );
    block.release()?;
    let stored = table.as_slice()?;
    println!("{:<38}{:>18}{:>18}{:>4}{:>4}", "table after release", stored[0], stored[1], stored[2], stored[3]);
    println!("the first value is still 2^53+1: {}", if stored[0] == big { "yes" } else { "no" });
    Ok(())
}
