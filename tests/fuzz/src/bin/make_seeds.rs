//! Makes the seeds in `corpus/` from the golden files: `cargo run --release --bin make_seeds`.

use std::error::Error;
use std::fs;
use std::path::Path;

use numeric_table::{DataDictionary, DataLayout, Element, Feature, HomogenNumericTable, NumericTable, Shape, load_any};
use numeric_table_fuzz::{table_of, with_element};

type Table<T> = HomogenNumericTable<T>;
type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// First bytes of inputs of `table_file`: all is repaired; a file is made, with chunks of 16 bytes.
const REPAIRED: u8 = 31;
const LAID_OUT: u8 = 32 + 16;

fn main() -> Result {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (files, archives) = (root.join("corpus/table_file"), root.join("corpus/archive"));
    for entry in fs::read_dir(root.join("../../data/golden/v1"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "ntb") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = fs::read(&path)?;
        let any = load_any(&path)?;
        fs::write(files.join(format!("laid_out_{name}.seed")), laid_out(&file))?;
        if matches!(&*name, "f32_row_major" | "u8_column_major") {
            fs::write(files.join(format!("repaired_{name}.seed")), [&[REPAIRED], &file[..]].concat())?;
        }
        let archive = with_element!(any.element_type(), T => table_of::<T>(&*any).to_bytes())?;
        fs::write(archives.join(format!("{name}.seed")), archive)?;
    }
    // What the golden files have none of: tables without values, and without a dictionary of their own.
    let shape = |rows, columns| Shape { rows, columns };
    for (name, shape) in
        [("nothing", shape(0, 0)), ("no_rows", shape(0, 3)), ("no_columns", shape(3, 0)), ("tall", shape(40, 1))]
    {
        for layout in [DataLayout::RowMajor, DataLayout::ColumnMajor] {
            let table = Table::full_in(shape, 1.5_f32, layout)?;
            save(
                &table,
                &files,
                &archives,
                &format!("{name}_{}", if layout == DataLayout::RowMajor { "rows" } else { "columns" }),
            )?;
        }
    }
    let mut one = Table::from_rows(&[[7_u16]])?;
    one.set_dictionary(DataDictionary::uniform(Feature::new(u16::TYPE).named("one").categorical(9), 1))?;
    save(&one, &files, &archives, "one")
}

fn save<T: Element>(table: &Table<T>, files: &Path, archives: &Path, name: &str) -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.ntb");
    table.save(&path)?;
    fs::write(files.join(format!("laid_out_{name}.seed")), laid_out(&fs::read(&path)?))?;
    fs::write(archives.join(format!("{name}.seed")), table.to_bytes()?)?;
    Ok(())
}

/// Header and values of an honest file, as `table_file` takes them.
fn laid_out(file: &[u8]) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| file[at + i])) as usize;
    let header = &file[64..64 + (number(8) >> 32)]; // the upper half of bytes 8 to 16
    let values = &file[number(16)..number(16) + number(24)];
    [&[LAID_OUT], &(header.len() as u16).to_le_bytes()[..], header, values].concat()
}
