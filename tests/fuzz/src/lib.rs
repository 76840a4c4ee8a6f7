//! What the targets share: tables of a type that is known at run time only, compared bit for bit.

use std::path::{Path, PathBuf};

use numeric_table::prelude::*;
use numeric_table::{
    HomogenNumericTable, Partial,
    files::{self, SaveOptions},
};

/// `with_element!(element_type, T => body)`: the body, compiled for each element type `T`, chosen at run time.
#[macro_export]
macro_rules! with_element {
    ($element_type:expr, $T:ident => $body:expr) => {
        $crate::with_element! {
            @ $element_type, $T, $body;
            f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 numeric_table::f16 numeric_table::bf16
        }
    };
    (@ $element_type:expr, $T:ident, $body:expr; $($native:ty)*) => {
        match $element_type {
            $(found if found == <$native as numeric_table::Element>::TYPE => {
                type $T = $native;
                $body
            })*
            other => panic!("{other} is new: add it to the list"),
        }
    };
}

/// The table behind the trait.
pub fn table_of<'t, T: Element>(table: &'t (dyn NumericTable + 'static)) -> &'t HomogenNumericTable<T> {
    table.downcast_ref().expect("a homogeneous table of the type that it says it has")
}

/// The bytes of all values, in the order of the table's layout.
pub fn bytes_of<T: Element>(table: &HomogenNumericTable<T>) -> &[u8] {
    bytemuck::cast_slice(table.as_slice().expect("a table that was read has all its values in one piece"))
}

/// Makes sure that two tables are the same: what they say of themselves, and every bit of every value.
#[track_caller]
pub fn assert_same<T: Element>(left: &HomogenNumericTable<T>, right: &HomogenNumericTable<T>) {
    assert_eq!((left.shape(), left.data_layout()), (right.shape(), right.data_layout()));
    // Without `nullable`, which conversions drop: a homogeneous table has all its values.
    let [mine, its] = [left, right].map(|table| table.dictionary().with_element_type(T::TYPE).expect("small"));
    assert_eq!(mine, its);
    assert_eq!(bytes_of(left), bytes_of(right));
}

/// Makes sure that a table of any kind is the same after it was an archive, and can be looked at. Returns the archive,
/// which has all that the table consists of.
#[track_caller]
pub fn check_same_again(table: &dyn NumericTable) -> Vec<u8> {
    let bytes = table.to_bytes().expect("a table that was read can be written");
    let again = files::from_bytes(&bytes).expect("what was written can be read");
    assert_eq!((again.kind(), again.shape()), (table.kind(), table.shape()));
    assert!(again.dictionary() == table.dictionary());
    assert!(again.to_bytes().expect("a table that was read can be written") == bytes);
    let Shape { rows, columns } = table.shape();
    if let (Some(row), Some(column)) = (rows.checked_sub(1), columns.checked_sub(1)) {
        let last = table.value::<f64>(row, column).expect("the value is there");
        assert_eq!(last.to_bits(), again.value::<f64>(row, column).expect("the value is there").to_bits());
    }
    if rows.checked_mul(columns).is_some_and(|count| count < 1 << 16) {
        let [mine, its] = [table, &*again].map(|table| table.rows::<f64>(..).expect("the rows are there").to_vec());
        assert_eq!(bytemuck::cast_slice::<f64, u8>(&mine), bytemuck::cast_slice::<f64, u8>(&its));
    }
    bytes
}

/// What a call says of bytes that it refuses: always what is wrong with them, and where.
#[track_caller]
pub fn refusal<T>(result: Result<T, Error>) -> (u64, String) {
    match result.map_err(Error::into_kind) {
        Ok(_) => panic!("it was accepted, and by another call refused"),
        Err(ErrorKind::Format { offset, reason, .. }) => (offset, reason),
        Err(other) => panic!("not an error of the bytes: {other:?}"),
    }
}

/// A folder of this process, in memory where the system has such a place.
pub fn folder_in_memory() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    tempfile::Builder::new().prefix("numeric-table-fuzz-").tempdir_in(parent).expect("a folder can be made")
}

/// Saves the files that the seeds of manifests list, of the same columns, and returns their paths.
///
/// # Errors
/// Those of saving.
pub fn files_of_manifests(folder: &Path) -> Result<[PathBuf; 3], Error> {
    let paths = ["a.ntb", "b.ntb", "c.ntb"].map(|name| folder.join(name));
    for (index, path) in paths.iter().enumerate() {
        let shape = Shape { rows: index * 5, columns: 2 };
        let table = HomogenNumericTable::from_fn(shape, |row, column| (row * 2 + column) as f32)?;
        table.save_with(path, SaveOptions::new().durable(false))?;
    }
    Ok(paths)
}

/// The bytes of a partial result whose own part is given: with a head and a checksum that are right.
pub fn partial_bytes<P: Partial>(own: &[u8]) -> Vec<u8> {
    let mut bytes = partial_head::<P>();
    bytes.extend(own);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// What the bytes of a partial result begin with, before its own part.
pub fn partial_head<P: Partial>() -> Vec<u8> {
    let mut bytes = b"NUMPART\n\x01\0\0\0".to_vec();
    bytes.extend(P::VERSION.to_le_bytes());
    bytes.extend((P::NAME.len() as u64).to_le_bytes());
    bytes.extend(P::NAME.as_bytes());
    bytes
}
