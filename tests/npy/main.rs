//! NumPy's files: golden ones are read, what is written is what NumPy writes, and nothing is copied that need not be.
//!
//! The golden files in `data/golden/npy` were made by NumPy, with the script that lies there.

#![cfg(feature = "npy")]

mod copies;
mod golden_files;
#[cfg(feature = "mmap")]
mod maps;
#[cfg(feature = "npz")]
mod npz;
mod numpy;
mod round_trips;
#[cfg(target_pointer_width = "64")] // 32 bits align `f64` to 4
mod structured;

use numeric_table::prelude::*;

type Table<T> = HomogenNumericTable<T>;

/// What NumPy calls the type.
fn numpy_name<T: Element>() -> String {
    let kind = if T::TYPE.is_float() {
        "f"
    } else if T::TYPE.is_signed() {
        "i"
    } else {
        "u"
    };
    format!("{kind}{}", size_of::<T>())
}

fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn has_no_bf16<T: Element>() -> bool {
    T::TYPE != ElementType::Bf16
}

fn write<T: Element>(table: &Table<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.write_npy(&mut bytes).unwrap();
    bytes
}

/// The bytes of a file of one row, with a header that says so.
fn by_hand(descr: &str, fortran: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let header = format!("{text:<117}\n");
    [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), values].concat()
}

/// What is in both orders is read as row-major.
fn layout_in_file<T: Element>(table: &Table<T>) -> DataLayout {
    let is_in_both_orders = table.row_count() < 2 || table.column_count() < 2;
    if is_in_both_orders { DataLayout::RowMajor } else { table.data_layout() }
}
