//! The text of the kernels, one translation unit for each pair of element types, and the names of their entries.
//!
//! A unit is a few definitions and the text that all units share, so that a compiler at run time reads one string. The
//! texts are CUDA C++17: `number.cu`, the conversion rule; `words.cu`, accesses of several values; `order.cu`, values of
//! types that are known at run time; `convert.cu`, `memory.cu`, `sparse.cu`, `statistics.cu`, `standardize.cu`,
//! `sorting.cu` and `reductions.cu`, the kernels with their arguments. Nothing here calls a device.
//!
//! Every kernel takes blocks of [`THREADS`] threads in one dimension, any number of blocks, and no dynamic shared
//! memory. Results do not depend on the number of blocks.

use std::ffi::CStr;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use numeric_table::ElementType;

/// Number of threads of a block, for every kernel.
pub(crate) const THREADS: u32 = 256;

/// Options of the compiler. Fast math must stay off: results would not be those of the CPU.
pub(crate) const OPTIONS: [&CStr; 2] = [c"--gpu-architecture=compute_75", c"--std=c++17"];

const NUMBER: &str = include_str!("number.cu");
const WORDS: &str = include_str!("words.cu");
const CONVERT: &str = include_str!("convert.cu");
const MEMORY: &str = include_str!("memory.cu");
const SPARSE: &str = include_str!("sparse.cu");
const MOMENTS: &str = include_str!("moments.cu");
const STATISTICS: &str = include_str!("statistics.cu");
const STANDARDIZE: &str = include_str!("standardize.cu");
const ORDER: &str = include_str!("order.cu");
const SORTING: &str = include_str!("sorting.cu");
const REDUCTIONS: &str = include_str!("reductions.cu");

/// The kernels of one pair of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Contiguous values: `(in, out, count, policy, refused)`.
    Contiguous,
    /// A table with any strides: `(in, in_row_stride, in_column_stride, out, out_row_stride, out_column_stride, rows,
    /// columns, policy, refused)`.
    Strided,
    /// From row-major to column-major order: `(in, out, rows, columns, policy, refused)`.
    Transposed,
}

impl Form {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Contiguous, Self::Strided, Self::Transposed];

    const fn name(self) -> &'static str {
        match self {
            Self::Contiguous => "convert",
            Self::Strided => "convert_strided",
            Self::Transposed => "convert_transposed",
        }
    }
}

/// Returns the name of the unit of a pair: `f32_i8`. Pairs of equal types move bits: types of one width share a unit.
pub(crate) fn convert_unit(source: ElementType, target: ElementType) -> String {
    let (source, target) = names(source, target);
    format!("{source}_{target}")
}

/// Returns the text of the unit of a pair.
pub(crate) fn convert_source(source: ElementType, target: ElementType) -> String {
    let (source, target) = names(source, target);
    let head =
        format!("#define SOURCE {source}\n#define TARGET {target}\n#define ENTRY(name) name##_{source}_{target}\n\n");
    [&head, NUMBER, WORDS, CONVERT].concat()
}

/// Returns the name of a kernel of a pair: `convert_strided_f32_i8`.
pub(crate) fn convert_entry(form: Form, source: ElementType, target: ElementType) -> String {
    format!("{}_{}", form.name(), convert_unit(source, target))
}

/// Returns the text of the unit `memory`, which has a kernel of each [`Move`] for each width of values.
pub(crate) fn memory_source() -> String {
    [NUMBER, WORDS, MEMORY].concat()
}

/// The tasks of the kernels of the unit `memory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// `(out, count, bits)`: the value is the lowest bytes of the 64 bits.
    Fill,
    /// `(in, rows, columns, is_column_major, selected, selected_count, out)`: `selected` is an array on the device.
    GatherColumns,
    /// `(in, rows, columns, is_column_major, first, count, out)`.
    GatherRows,
    /// `(out, count, start, step)`: the lowest bytes of the results.
    CountUp,
    /// `(in, in_count, indices, count, out, refused)`: the indices have 64 bits.
    Gather,
}

#[cfg(test)]
impl Move {
    pub(crate) const ALL: [Self; 5] = [Self::Fill, Self::GatherColumns, Self::GatherRows, Self::CountUp, Self::Gather];
}

/// Returns the name of a kernel for values of a type: `fill_4`.
pub(crate) fn memory_entry(what: Move, element: ElementType) -> String {
    let name = match what {
        Move::Fill => "fill",
        Move::GatherColumns => "gather_columns",
        Move::GatherRows => "gather_rows",
        Move::CountUp => "count_up",
        Move::Gather => "gather",
    };
    format!("{name}_{}", element.size_in_bytes())
}

/// Returns the text of the unit `sparse`, which has a kernel for each width of values: `(offsets, offset_width, indices,
/// index_width, values, count, rows, columns, lanes, is_column_major, out, refused)`.
pub(crate) fn sparse_source() -> String {
    [NUMBER, WORDS, SPARSE].concat()
}

/// Returns the name of the kernel of the unit `sparse` for values of a type: `sparse_to_dense_4`.
pub(crate) fn sparse_entry(element: ElementType) -> String {
    format!("sparse_to_dense_{}", element.size_in_bytes())
}

/// Returns the text of the unit `statistics_S`: a kernel of the moments of groups of rows,
/// `(in, row_stride, column_stride, rows, columns, group_rows, is_scaled, moments)`, whose name is that of the unit.
pub(crate) fn statistics_source(source: ElementType) -> String {
    let head = format!("#define SOURCE {source}\n#define ENTRY(name) name##_{source}\n\n");
    [&head, NUMBER, WORDS, MOMENTS, STATISTICS].concat()
}

/// Returns the name of the kernel and of the unit of a type: `statistics_f32`.
pub(crate) fn statistics_entry(source: ElementType) -> String {
    format!("statistics_{source}")
}

/// The name of the unit, and of its kernel, that merges the moments of groups: `(moments, groups, columns, merged)`.
pub(crate) const MERGE_ENTRY: &str = "statistics_merge";

/// Returns the text of the unit [`MERGE_ENTRY`].
pub(crate) fn merge_source() -> String {
    [NUMBER, WORDS, MOMENTS, STATISTICS].concat()
}

/// The name of the unit that standardizes, of each type of floating-point numbers.
pub(crate) const STANDARDIZE_UNIT: &str = "standardize";

/// The name of its kernel of means and deviations: `(plain, scaled, columns, means_and_deviations)`.
pub(crate) const DEVIATIONS_ENTRY: &str = "means_and_deviations";

/// Returns the name of its kernel for values of a type: `standardize_f32`, with `(values, rows, columns,
/// is_column_major, means_and_deviations)`.
pub(crate) fn standardize_entry(element: ElementType) -> String {
    format!("{STANDARDIZE_UNIT}_{element}")
}

/// Returns the text of the unit [`STANDARDIZE_UNIT`].
pub(crate) fn standardize_source() -> String {
    [NUMBER, WORDS, MOMENTS, STANDARDIZE].concat()
}

/// Largest number of columns that the threads of a block share in a row-major table, and the number of rows that a
/// thread adds up at once: as `statistics.cu` has them.
const PANEL: usize = 64;
const SEGMENT: usize = 256;
/// Largest number of blocks' results: a few for each place for a block that a large device has. More rows than these
/// have go to each block.
const RESULTS: usize = 8192;

/// Returns the number of rows of a group, so that all of a device's threads have work, and few results are merged.
/// Depends on the shape and the layout only, and so do results. `is_column_major`: rows are contiguous in a column.
pub(crate) fn group_rows(rows: usize, columns: usize, is_column_major: bool) -> usize {
    let most = if is_column_major { 1 } else { PANEL };
    let panels = columns.div_ceil(most).max(1);
    let panel = columns.div_ceil(panels).max(1);
    let unit = THREADS as usize / panel * SEGMENT;
    let units = rows.div_ceil(unit).max(1);
    unit.saturating_mul(units.div_ceil((RESULTS / panels).max(1)))
}

/// A multiple of the number of keys that a block of threads sorts at a time, and the number of values of a digit: as
/// `sorting.cu` has them.
pub(crate) const SORT_TILE: usize = 8 * THREADS as usize;
pub(crate) const DIGITS: usize = 256;

/// Returns the text of the unit `sorting`: kernels for values of any type.
pub(crate) fn sorting_source() -> String {
    [NUMBER, WORDS, ORDER, SORTING].concat()
}

/// Returns the text of the unit `reductions`: kernels for values of any type.
pub(crate) fn reductions_source() -> String {
    [NUMBER, WORDS, ORDER, REDUCTIONS].concat()
}

/// The kernels of the unit `sorting`.
#[cfg(test)]
pub(crate) const SORTING_ENTRIES: [&str; 10] = [
    "sort_keys_4",
    "sort_keys_8",
    "digit_counts_4",
    "digit_counts_8",
    "digit_scatter_4",
    "digit_scatter_8",
    "offsets",
    "select_counts",
    "select_copy",
    "histogram",
];

/// The kernels of the unit `reductions`.
#[cfg(test)]
pub(crate) const REDUCTIONS_ENTRIES: [&str; 9] = [
    "reduce_words",
    "reduce_f32",
    "reduce_f64",
    "combine_words",
    "combine_f32",
    "combine_f64",
    "scan_words",
    "scan_f32",
    "scan_f64",
];

/// Returns the names and texts of all units, which are compiled in advance for machines without a compiler.
#[cfg(test)]
pub(crate) fn units() -> Vec<(String, String)> {
    let all = ElementType::ALL;
    let mut units: Vec<(String, String)> = Vec::new();
    for (&source, &target) in all.iter().flat_map(|source| all.iter().map(move |target| (source, target))) {
        let name = convert_unit(source, target);
        if units.iter().all(|(other, _)| *other != name) {
            units.push((name, convert_source(source, target)));
        }
    }
    units.push(("memory".into(), memory_source()));
    units.push(("sparse".into(), sparse_source()));
    units.extend(all.iter().map(|&source| (statistics_entry(source), statistics_source(source))));
    units.push((MERGE_ENTRY.into(), merge_source()));
    units.push((STANDARDIZE_UNIT.into(), standardize_source()));
    units.push(("sorting".into(), sorting_source()));
    units.push(("reductions".into(), reductions_source()));
    units
}

/// Returns a unit that was compiled in advance, by `make_ptx.py`: for machines with a driver and without a compiler.
pub(crate) fn ptx(name: &str) -> Option<String> {
    static ALL: OnceLock<Option<String>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut text = String::new();
        GzDecoder::new(&include_bytes!("ptx.gz")[..]).read_to_string(&mut text).ok()?;
        Some(text)
    });
    let (_, rest) = all.as_ref()?.split_once(&format!("//// {name}\n"))?;
    Some(rest.split("//// ").next()?.to_owned())
}

fn names(source: ElementType, target: ElementType) -> (&'static str, &'static str) {
    match (source == target, source.size_in_bytes()) {
        (false, _) => (source.name(), target.name()),
        (true, 1) => ("u8", "u8"),
        (true, 2) => ("u16", "u16"),
        (true, 4) => ("u32", "u32"),
        (true, _) => ("u64", "u64"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the entries that a text defines, in order.
    fn entries(text: &str, unit: &str) -> Vec<String> {
        let names =
            text.lines().filter_map(|line| line.strip_prefix("ENTRY(")).filter_map(|line| line.split(')').next());
        names.map(|name| format!("{name}_{unit}")).collect()
    }

    #[test]
    fn a_unit_defines_the_entries_of_its_pair() {
        for &source in ElementType::ALL {
            for &target in ElementType::ALL {
                let expected = Form::ALL.map(|form| convert_entry(form, source, target));
                let found = entries(&convert_source(source, target), &convert_unit(source, target));
                assert_eq!(found, expected, "{source} to {target}");
            }
        }
    }

    #[test]
    fn pairs_of_equal_types_share_the_unit_of_their_width() {
        assert_eq!(convert_unit(ElementType::F32, ElementType::F32), "u32_u32");
        assert_eq!(convert_unit(ElementType::Bf16, ElementType::Bf16), "u16_u16");
        assert_eq!(convert_unit(ElementType::Bf16, ElementType::F16), "bf16_f16");
        let all = ElementType::ALL.iter().flat_map(|&s| ElementType::ALL.iter().map(move |&t| convert_unit(s, t)));
        assert_eq!(all.collect::<std::collections::BTreeSet<_>>().len(), 136);
    }

    #[test]
    fn units_of_statistics_memory_and_sparse_rows_define_their_entries() {
        for &element in ElementType::ALL {
            assert_eq!(entries(&statistics_source(element), &element.to_string()), [statistics_entry(element)]);
            for what in Move::ALL {
                let entry = memory_entry(what, element);
                let (name, width) = entry.rsplit_once('_').unwrap();
                assert!(memory_source().contains(&format!("{name}_##width(")), "{entry}");
                assert!(memory_source().lines().any(|line| line.starts_with("KERNELS(") && line.contains(width)));
            }
        }
        for &element in ElementType::ALL {
            let width = format!(", {})", element.size_in_bytes());
            assert_eq!(sparse_entry(element), format!("sparse_to_dense_{}", element.size_in_bytes()));
            assert!(sparse_source().contains("sparse_to_dense_##width("));
            assert!(sparse_source().lines().any(|line| line.starts_with("KERNELS(") && line.ends_with(&width)));
        }
        assert!(merge_source().contains(&format!("\n{MERGE_ENTRY}(")));
        assert!(standardize_source().contains(&format!("\n{DEVIATIONS_ENTRY}(")));
        for element in ElementType::ALL.iter().filter(|element| element.is_float()) {
            assert!(standardize_source().contains(&format!("\nKERNEL({element})\n")));
            assert_eq!(standardize_entry(*element), format!("standardize_{element}"));
        }
        let texts = [(sorting_source(), &SORTING_ENTRIES[..]), (reductions_source(), &REDUCTIONS_ENTRIES)];
        for (text, entries) in texts {
            for entry in entries {
                let (name, kind) = entry.rsplit_once('_').unwrap_or((entry, ""));
                let is_alone = text.contains(&format!("\n{entry}("));
                let is_one_of_some = text.contains(&format!(" {name}_##")) && text.contains(&format!(", {kind})\n"));
                assert!(is_alone || is_one_of_some, "{entry}");
            }
        }
        assert_eq!(units().len(), 136 + 2 + ElementType::ALL.len() + 2 + 2);
    }

    #[test]
    fn groups_are_few_and_not_small() {
        for is_column_major in [false, true] {
            for columns in [0, 1, 16, 17, 64, 65, 100, 100_000] {
                for rows in [0, 1, 1000, 1_000_000, 10_000_000_000_u64 as usize, usize::MAX / 2] {
                    let group = group_rows(rows, columns, is_column_major);
                    let panels = if is_column_major { columns } else { columns.div_ceil(PANEL) };
                    assert!(group >= SEGMENT && rows.div_ceil(group) * panels <= RESULTS.max(panels));
                }
            }
        }
        assert_eq!(group_rows(1_000_000, 16, false), 16 * 256);
        assert_eq!(group_rows(1_000_000, 16, true), 256 * 256);
    }

    #[test]
    fn the_texts_and_this_file_agree_on_numbers() {
        assert!(WORDS.contains(&format!("#define THREADS {THREADS}\n")));
        assert!(STATISTICS.contains(&format!("PANEL = {PANEL}, SEGMENT = {SEGMENT} ")));
        let items = SORT_TILE / THREADS as usize;
        let sizes =
            format!("DIGITS = {DIGITS}, ITEMS = AT_ONCE == 1 ? {} : {items}, TILE = ITEMS * THREADS ", items / 2);
        assert!(SORTING.contains(&sizes));
        assert!(REDUCTIONS.contains("RUN = 16, BLOCK = RUN * RUN * RUN "));
    }

    #[test]
    fn every_unit_was_compiled_in_advance_from_these_texts() {
        for (name, text) in units() {
            let ptx = ptx(&name).unwrap();
            assert!(ptx.starts_with(".version 8.0") && ptx.contains(".entry") && !text.is_empty(), "{name}");
        }
        assert_eq!(ptx("f32_f32"), None);
        let texts =
            [NUMBER, WORDS, CONVERT, MEMORY, SPARSE, MOMENTS, STATISTICS, STANDARDIZE, ORDER, SORTING, REDUCTIONS];
        let crc = crc32fast::hash(texts.concat().as_bytes());
        assert!(ptx(&format!("sources {crc:08x}")).is_some(), "run make_ptx.py: the texts have changed");
    }
}
