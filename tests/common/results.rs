//! Tables and checks for the tests of results that are merged.

use std::path::Path;

use numeric_table::{CsrNumericTable, MergedNumericTable, Partial, RowMergedNumericTable, SoaNumericTable, prelude::*};

use crate::bits::Random;

/// A file of `data`: its numbers, row by row, and the words of its last column.
pub fn data(name: &str) -> (HomogenNumericTable<f64>, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let (numbers, word) = line.rsplit_once(',').unwrap();
        rows.push(numbers.split(',').map(|number| number.parse().unwrap()).collect::<Vec<f64>>());
        words.push(word.to_owned());
    }
    (HomogenNumericTable::from_row_iter(rows).unwrap(), words)
}

/// The same values in every kind of table.
pub fn kinds(table: &HomogenNumericTable<f64>) -> Vec<Box<dyn NumericTable>> {
    let cut = table.row_count() / 3;
    let columns = table.column_count();
    let dictionary = table.dictionary().clone();
    let mut soa =
        SoaNumericTable::from_dictionary(dictionary, table.row_count(), AllocationFlag::DoNotAllocate).unwrap();
    for column in 0..columns {
        soa.set_column(column, table.column::<f64>(column, ..).unwrap().to_vec()).unwrap();
    }
    let rows = [table.slice_rows(..cut).unwrap(), table.slice_rows(cut..).unwrap()];
    let rows = rows.map(|part| Box::new(part) as Box<dyn NumericTable>);
    let one: Box<dyn NumericTable> = Box::new(table.clone());
    vec![
        Box::new(table.clone()),
        Box::new(table.to_layout(DataLayout::ColumnMajor).unwrap()),
        Box::new(soa),
        Box::new(CsrNumericTable::from_dense::<f64>(table).unwrap()),
        Box::new(RowMergedNumericTable::new(rows).unwrap()),
        Box::new(MergedNumericTable::new(vec![one]).unwrap()),
    ]
}

/// The bytes of a result, which are equal if and only if all of it is.
pub fn bytes<P: Partial>(result: &P) -> Vec<u8> {
    result.to_bytes().unwrap()
}

/// Checks what every result promises: bytes lead back to it, an error adds nothing, and the number of threads changes
/// no bit. The table has values for it.
pub fn check_promises<P: Partial>(empty: &P, table: &dyn NumericTable) {
    let found = empty.compute_over(table).unwrap();
    assert_ne!(bytes(&found), bytes(empty));
    assert_eq!(bytes(&P::from_bytes(&bytes(&found)).unwrap()), bytes(&found));
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(bytes(&serde_json::from_str::<P>(&text).unwrap()), bytes(&found));
    assert_eq!(bytes(&found.new_like().unwrap()), bytes(empty));
    let mut again = empty.new_like().unwrap();
    again.merge(&found).unwrap();
    assert_eq!(bytes(&again), bytes(&found));
    let one_more = table.select_columns((0..table.column_count()).chain([0]).collect::<Vec<_>>()).unwrap();
    let expected = table.column_count();
    crate::tables::assert_error!(
        again.update(&one_more),
        ErrorKind::LengthMismatch { expected: e, actual: f } if *e == expected && *f == expected + 1
    );
    again.update(&*table.select_rows(0..0).unwrap()).unwrap();
    assert_eq!(bytes(&again), bytes(&found));
}

/// The result of a call in pools of one and of four threads, which must be equal.
pub fn with_any_threads<R: PartialEq + std::fmt::Debug + Send>(work: impl Fn() -> R + Sync) -> R {
    let [one, four] = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work)
    });
    assert_eq!(one, four);
    one
}

/// The bytes at the end of all results: the checksum of everything before.
const SUM_BYTES: usize = 4;

/// Changes the bytes of a result in many ways, and uses what is read of them; returns how often something was.
pub fn change<P: Partial>(result: &P, mut try_it: impl FnMut(P)) -> usize {
    let bytes = result.to_bytes().unwrap();
    let body = 24 + P::NAME.len()..bytes.len() - SUM_BYTES;
    let mut random = Random::new(16);
    let mut read = 0;
    for round in 0..20_000 {
        let mut changed = bytes[..body.end].to_vec();
        for _ in 0..1 + random.below(3) {
            let at = body.start + random.below(body.len());
            match round % 4 {
                0 => changed[at] = random.below(256) as u8,
                1 => changed[at] ^= 1 << random.below(8),
                2 => {
                    // A whole number, in place of another one.
                    let at = body.start + (at - body.start) / 8 * 8;
                    let number = [0, 1, 2, 3, u64::MAX, u64::MAX / 2, 1 << 31, f64::NAN.to_bits()][random.below(8)];
                    let end = (at + 8).min(body.end);
                    changed[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
                }
                _ => changed.truncate(at.max(body.start)),
            }
        }
        changed.extend(crc32fast::hash(&changed).to_le_bytes());
        if let Ok(result) = P::from_bytes(&changed) {
            read += 1;
            try_it(result);
        }
    }
    read
}
