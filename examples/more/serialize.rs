//! Arrays, dictionaries and tables as bytes and as JSON, and the errors for damaged bytes.
//!
//! ```text
//! cargo run --release -p more-examples --example serialize
//! ```

#[path = "../common/mod.rs"]
mod common;

use common::{heading, load};
use numeric_table::{f16, files, prelude::*};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    print_parts()?;
    print_sizes()?;
    print_specials()?;
    print_damage()
}

/// Converts an array, a dictionary and a table to both formats and back: `to_bytes` is for tables, serde for all three.
fn print_parts() -> Result<()> {
    heading("iris.csv as f32: there and back");
    let table = load("iris.csv")?.convert::<f32>()?;
    println!("{:<24}{:>14}{:>14}  both equal to the original", "part", "bytes", "JSON, bytes");
    print_part("array of 600 values", table.array()?)?;
    print_part("dictionary of 4 features", table.dictionary())?;
    print_part("table of 150 x 4", &table)?;

    let copy = HomogenNumericTable::<f32>::from_bytes(&table.to_bytes()?)?;
    println!("to_bytes and from_bytes: {} bytes, equal: {}", table.to_bytes()?.len(), copy == table);
    println!("\nthe dictionary as JSON begins with\n{:.120}...", serde_json::to_string(table.dictionary())?);
    Ok(())
}

fn print_part<P: Serialize + DeserializeOwned + PartialEq>(name: &str, part: &P) -> Result<()> {
    let bytes = bincode::serde::encode_to_vec(part, bincode::config::legacy())?;
    let json = serde_json::to_string(part)?;
    let (from_bytes, _): (P, usize) = bincode::serde::decode_from_slice(&bytes, bincode::config::legacy())?;
    let from_json: P = serde_json::from_str(&json)?;
    let equal = from_bytes == *part && from_json == *part;
    println!("{name:<24}{:>14}{:>14}  {}", bytes.len(), json.len(), if equal { "yes" } else { "no" });
    Ok(())
}

/// Compares the sizes of the same numbers as text and as archives.
fn print_sizes() -> Result<()> {
    heading("Sizes in bytes");
    println!(
        "{:<20}{:<14}{:<6}{:>10}{:>10}{:>10}{:>10}",
        "data", "shape", "type", "values", "archive", "JSON", "lossless"
    );
    print_size::<f32>("iris.csv")?;
    print_size::<f64>("wine.csv")?;
    print_size::<f16>("breast_cancer.csv")?;
    print_size::<u8>("digits.csv")
}

fn print_size<T: Element>(file: &str) -> Result<()> {
    let numbers = load(file)?;
    let table = numbers.convert::<T>()?;
    let (archive, json) = (table.to_bytes()?, serde_json::to_vec(&table)?);
    println!(
        "{file:<20}{:<14}{:<6}{:>10}{:>10}{:>10}{:>10}",
        table.shape().to_string(),
        T::TYPE,
        table.array()?.size_in_bytes(),
        archive.len(),
        json.len(),
        if numbers.conversion_report::<T>()?.is_lossless() { "yes" } else { "no" },
    );
    Ok(())
}

/// Shows NaN and infinities, which JSON does not support.
fn print_specials() -> Result<()> {
    heading("Values that JSON has no numbers for");
    let table = HomogenNumericTable::from_rows(&[[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.1]])?;
    let json = serde_json::to_string(table.array()?)?;
    let back: Array<f32> = serde_json::from_str(&json)?;
    println!("values  {:?}\nJSON    {json}\nback    {back:?}", table.array()?);
    Ok(())
}

/// Damages an archive in typical ways. Damage inside a value is not detected, since the result is also a value.
fn print_damage() -> Result<()> {
    heading("Damaged archives of a table of 150 x 4 of f32, and the answers to them");
    let table = load("iris.csv")?.convert::<f32>()?;
    let archive = table.to_bytes()?;
    let flipped = |position: usize| {
        let mut bytes = archive.clone();
        bytes[position] ^= 0x40;
        bytes
    };
    print_answer(&archive, "none", &archive)?;
    print_answer(&archive, "empty", &[])?;
    print_answer(&archive, "cut to half", &archive[..archive.len() / 2])?;
    print_answer(&archive, "last byte missing", &archive[..archive.len() - 1])?;
    print_answer(&archive, "one byte too many", &[&archive[..], &[0]].concat())?;
    print_answer(&archive, "bit flipped in the magic", &flipped(0))?;
    print_answer(&archive, "bit flipped in the version", &flipped(8))?;
    print_answer(&archive, "bit flipped in the type", &flipped(40))?;
    print_answer(&archive, "bit flipped in the row count", &flipped(57))?;
    print_answer(&archive, "bit flipped in the last value", &flipped(archive.len() - 1))?;
    print_answer(&archive, "JSON instead", &serde_json::to_vec(&table)?)?;
    if let Err(error) = HomogenNumericTable::<f64>::from_bytes(&archive) {
        println!("{:<31}{error}", "none, asked for as f64");
    }
    Ok(())
}

/// Returns the name of the type of all columns.
fn type_of(table: &dyn NumericTable) -> &'static str {
    table.uniform_type().map_or("mixed", ElementType::name)
}

fn print_answer(original: &[u8], damage: &str, bytes: &[u8]) -> Result<()> {
    match files::from_bytes(bytes) {
        Ok(table) if table.to_bytes()? == original => println!("{damage:<31}read: the same table"),
        Ok(table) => println!("{damage:<31}read: another table of {} of {}", table.shape(), type_of(&*table)),
        Err(error) => println!("{damage:<31}{error}"),
    }
    Ok(())
}
