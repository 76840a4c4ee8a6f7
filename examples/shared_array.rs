//! oneDAL's usage example for `array`: shared ownership, immutable and mutable data, copy on request.
//!
//! Run it with `cargo run --release --example shared_array`.

use numeric_table::{Array, Error};

static DATA: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

fn main() -> Result<(), Error> {
    // dal::array<float>::wrap(data, data_count): the user's memory, immutable, not copied.
    let arr_data = Array::from(&DATA[..]);
    // dal::array<float>::full(queue, data_count, 1.0f): the library's own memory, filled with ones.
    let arr_ones = Array::full(DATA.len(), 1.0_f32)?;
    println!("Is arr_data mutable: {}", arr_data.has_mutable_data()); // false
    println!("Is arr_ones mutable: {}", arr_ones.has_mutable_data()); // true

    // dal::array<float> arr_mdata = arr_data: no copy, the two share ownership of the data.
    let mut arr_mdata = arr_data.clone();
    println!("arr_mdata elements count: {}", arr_mdata.len()); // 4
    println!("Is arr_mdata mutable: {}", arr_mdata.has_mutable_data()); // false

    // arr_mdata.need_mutable_data(queue): copies, because the data is immutable; arr_data still refers to the user's
    // memory.
    arr_mdata.need_mutable_data()?;
    println!("Is arr_data mutable: {}", arr_data.has_mutable_data()); // false
    println!("Is arr_mdata mutable: {}", arr_mdata.has_mutable_data()); // true

    // arr_mdata.get_mutable_data() and arr_ones.get_data(), added element by element.
    for (value, one) in arr_mdata.mutable_data()?.iter_mut().zip(&arr_ones) {
        *value += one;
    }

    // arr_mdata[i]: indexing and iterating as with any slice.
    let values: Vec<String> = arr_mdata.iter().map(f32::to_string).collect();
    println!("arr_mdata values: {}", values.join(", ")); // 2, 3, 4, 5
    Ok(())
}
