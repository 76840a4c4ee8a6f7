//! What a trace records of imports and exports: nothing where memory is shared.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int16Array, RecordBatch};
use numeric_table::SoaNumericTable;
use numeric_table::interop::CopyPolicy;
use numeric_table::prelude::*;
use numeric_table::trace::{CopyKind, copies_of};
use numeric_table_arrow::prelude::*;

#[test]
fn shared_columns_are_not_copied_and_others_are_exchanged() {
    let columns = [
        ("a", Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0])) as ArrayRef),
        ("b", Arc::new(Int16Array::from(vec![1, 2, 3])) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let (table, report) = copies_of(|| SoaNumericTable::from_record_batches([&batch], ArrowOptions::new()).unwrap());
    assert!(report.is_empty(), "{report}");
    let (_, report) = copies_of(|| table.to_record_batch().unwrap());
    assert!(report.is_empty(), "{report}");
    let converted = || ArrowOptions::new().convert(ConversionPolicy::Checked);
    let always = || ArrowOptions::new().copy(CopyPolicy::Always);
    let (_, report) = copies_of(|| SoaNumericTable::from_record_batches([&batch], always()).unwrap());
    assert_eq!((report.of(CopyKind::Exchanged).bytes, report.total().count), (3 * 6, 2));
    let (whole, report) = copies_of(|| HomogenNumericTable::<f64>::from_record_batches([&batch], converted()).unwrap());
    assert_eq!((report.of(CopyKind::Exchanged).bytes, report.total().bytes), (3 * 16, 3 * 16));
    let (_, report) = copies_of(|| whole.to_record_batch().unwrap());
    assert_eq!((report.total().count, report.total().bytes), (1, 3 * 16)); // row-major: gathered once
}
