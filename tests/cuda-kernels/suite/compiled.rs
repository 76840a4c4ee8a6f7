//! The units that are compiled in advance.

use std::io::Read;

use crate::source::{self, Form, Move, convert_entry, memory_entry, sparse_entry, statistics_entry};

const FILE: &[u8] = include_bytes!("../../../crates/numeric-table-execution/src/cuda/kernels/ptx.gz");
const TEXTS: [&str; 11] = [
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/number.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/words.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/convert.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/memory.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/sparse.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/moments.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/statistics.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/standardize.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/order.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/sorting.cu"),
    include_str!("../../../crates/numeric-table-execution/src/cuda/kernels/reductions.cu"),
];

#[test]
fn the_compiled_units_are_those_of_the_texts() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(FILE).read_to_string(&mut text).unwrap();
    let crc = format!("//// sources {:08x}\n", crc32fast::hash(TEXTS.concat().as_bytes()));
    let units = text.strip_prefix(&crc).expect("the texts have changed: run make_ptx.py");
    let mut found: Vec<(&str, &str)> = units.split("//// ").skip(1).filter_map(|unit| unit.split_once('\n')).collect();
    let mut expected: Vec<String> = source::units().into_iter().map(|(name, _)| name).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert!(found.iter().map(|(name, _)| name).eq(&expected));
    let has = |unit: &str, entry: &str| {
        let at = found.binary_search_by_key(&unit, |(name, _)| name).unwrap();
        assert!(found[at].1.contains(&format!(".visible .entry {entry}(")), "{entry}");
    };
    for &source in numeric_table::ElementType::ALL {
        for &target in numeric_table::ElementType::ALL {
            let unit = source::convert_unit(source, target);
            Form::ALL.iter().for_each(|&form| has(&unit, &convert_entry(form, source, target)));
        }
        Move::ALL.iter().for_each(|&what| has("memory", &memory_entry(what, source)));
        has("sparse", &sparse_entry(source));
        has(&statistics_entry(source), &statistics_entry(source));
    }
    has(source::MERGE_ENTRY, source::MERGE_ENTRY);
    has(source::STANDARDIZE_UNIT, source::DEVIATIONS_ENTRY);
    for &element in numeric_table::ElementType::ALL.iter().filter(|element| element.is_float()) {
        has(source::STANDARDIZE_UNIT, &source::standardize_entry(element));
    }
    source::SORTING_ENTRIES.iter().for_each(|entry| has("sorting", entry));
    source::REDUCTIONS_ENTRIES.iter().for_each(|entry| has("reductions", entry));
    assert!(FILE.len() < 448 << 10);
}
