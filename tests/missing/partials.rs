//! Groups, and partial results that count missing values: merged, and as bytes in every form.

use numeric_table::prelude::*;
use numeric_table::statistics::{
    BasicStatistics, ColumnStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, HistogramBins,
    MissingCategories, QuantileSketch,
};
use numeric_table::{Partial, SoaNumericTable};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::statistics::{PATTERNS, Pattern};

/// A category, with gaps, and two other columns, of which one has gaps.
fn grouped(rows: usize, categories: Pattern, values: Pattern) -> SoaNumericTable {
    grouped_rows(&(0..rows).collect::<Vec<_>>(), categories, values)
}

/// Some rows of such a table.
fn grouped_rows(rows: &[usize], categories: Pattern, values: Pattern) -> SoaNumericTable {
    let mut table = SoaNumericTable::new();
    let all = || rows.iter().copied();
    let category = |row: usize| categories.is_present(row).then_some((row * 7919 % 5 % 3) as u8);
    table.push_optional("c0", all().map(category)).unwrap();
    let value = |row: usize| values.is_present(row).then_some(((row * 7919 % 1013) as f64).sqrt());
    table.push_optional("c1", all().map(value)).unwrap();
    table.push_column("c2", all().map(|row| (row * 31 % 101) as i64).collect::<Vec<_>>()).unwrap();
    table
}

/// The rows that are present in every pattern.
fn complete(rows: usize, patterns: &[Pattern]) -> Vec<usize> {
    (0..rows).filter(|&row| patterns.iter().all(|pattern| pattern.is_present(row))).collect()
}

fn printed(column: &ColumnStatistics, missing: u64) -> String {
    format!("{column:?}").replace("missing: 0", &format!("missing: {missing}"))
}

#[test]
fn groups_leave_out_rows_without_a_category_and_missing_values_of_each_column() {
    for rows in [1, 64, 1000, 16_000] {
        for categories in PATTERNS {
            for values in [Pattern::Tenth, Pattern::Runs, Pattern::All] {
                let table = grouped(rows, categories, values);
                let groups = GroupStatistics::compute(&table, 0, 3).unwrap();
                let with_category = grouped_rows(&complete(rows, &[categories]), categories, values);
                assert_eq!(groups.missing_rows(), (rows - with_category.row_count()) as u64);
                assert_eq!((groups.row_count(), groups.skipped_rows()), (with_category.row_count() as u64, 0));
                let both = grouped_rows(&complete(rows, &[categories, values]), categories, values);
                let all = GroupStatistics::compute(&with_category, 0, 3).unwrap();
                let present = GroupStatistics::compute(&both, 0, 3).unwrap();
                assert_eq!(groups.row_counts(), all.row_counts());
                for category in 0..3 {
                    let (found, expected) = (groups.column(category, 2).unwrap(), all.column(category, 2).unwrap());
                    assert_eq!(printed(found, 0), printed(expected, 0));
                    let (found, expected) = (groups.column(category, 1).unwrap(), present.column(category, 1).unwrap());
                    let missing = groups.row_count_of(category).unwrap() - expected.count();
                    assert_eq!(printed(found, 0), printed(expected, missing), "{rows} {categories:?} {values:?}");
                }
            }
        }
    }
}

#[test]
fn missing_categories_are_a_group_of_their_own_on_request() {
    let table = grouped(3000, Pattern::Tenth, Pattern::Half);
    let empty = GroupStatistics::for_table(&table, 0, 3).unwrap().missing(MissingCategories::Group).unwrap();
    let groups = empty.compute_over(&table).unwrap();
    assert_eq!((groups.category_count(), groups.row_count(), groups.missing_rows()), (4, 3000, 0));
    let missing: Vec<usize> = (0..3000).filter(|&row| !Pattern::Tenth.is_present(row)).collect();
    assert_eq!(groups.row_count_of(3).unwrap(), missing.len() as u64);
    let sum: i64 = missing.iter().map(|row| (row * 31 % 101) as i64).sum();
    assert_eq!(groups.column(3, 2).unwrap().sum(), sum as f64);
    assert_eq!(groups.column(3, 0).unwrap().missing_count(), missing.len() as u64);
    assert_eq!(groups.column(3, 0).unwrap().nan_count(), 0);
    let both = missing.iter().filter(|&&row| !Pattern::Half.is_present(row)).count() as u64;
    assert_eq!(groups.column(3, 1).unwrap().missing_count(), both);
    assert!(groups.to_string().contains("missing"));
    assert!(groups.means().unwrap().value::<f64>(3, 0).unwrap().is_nan());

    // NaN as a category: an error, skipped and counted apart, or in the same group.
    let mut table = SoaNumericTable::new();
    table.push_optional("key", [Some(0.0), None, Some(f64::NAN), Some(1.0), None]).unwrap();
    let empty = GroupStatistics::for_table(&table, 0, 2).unwrap();
    let error = empty.compute_over(&table).unwrap_err();
    assert!(error.to_string().starts_with("the value NaN at row 2, column 0 is missing"), "{error}");
    let skipped = empty.clone().missing(MissingCategories::Skip).unwrap().compute_over(&table).unwrap();
    assert_eq!((skipped.row_count(), skipped.skipped_rows(), skipped.missing_rows()), (2, 1, 2));
    let grouped = empty.missing(MissingCategories::Group).unwrap().compute_over(&table).unwrap();
    let group = grouped.column(2, 0).unwrap();
    assert_eq!((grouped.row_count_of(2).unwrap(), group.missing_count(), group.nan_count()), (3, 2, 1));
    assert!(skipped.clone().missing(MissingCategories::Group).is_err()); // rows were added
}

/// Checks the bytes of a result in every form.
fn check<P: Partial>(result: &P, versions: [u32; 2]) {
    let bytes = result.to_bytes().unwrap();
    assert_eq!([P::VERSION, result.version()], versions);
    assert_eq!(u32::from_le_bytes(bytes[12..16].try_into().unwrap()), versions[1]);
    let back = P::from_bytes(&bytes).unwrap();
    assert_eq!(back.to_bytes().unwrap(), bytes);
    for count in (0..bytes.len()).step_by(5) {
        assert!(P::from_bytes(&bytes[..count]).is_err());
    }
    // The same content with the version of results without missing values.
    let mut older = bytes[..bytes.len() - 4].to_vec();
    older[12..16].copy_from_slice(&versions[0].to_le_bytes());
    let sum = crc32fast::hash(&older);
    older.extend(sum.to_le_bytes());
    assert!(P::from_bytes(&older).is_err() == (versions[0] != versions[1]));

    let same = |back: P| assert_eq!(back.to_bytes().unwrap(), bytes);
    same(serde_json::from_str(&serde_json::to_string(result).unwrap()).unwrap());
    same(rmp_serde::from_slice(&rmp_serde::to_vec(result).unwrap()).unwrap());
    same(rmp_serde::from_slice(&rmp_serde::to_vec_named(result).unwrap()).unwrap());
    let mut cbor = Vec::new();
    ciborium::into_writer(result, &mut cbor).unwrap();
    same(ciborium::from_reader(&cbor[..]).unwrap());
    let config = bincode::config::standard();
    let binary = bincode::serde::encode_to_vec((result, 7_u8), config).unwrap();
    let (back, used): ((P, u8), _) = bincode::serde::decode_from_slice(&binary, config).unwrap();
    assert_eq!((used, back.1), (binary.len(), 7));
    same(back.0);
}

/// Checks a result of a table with gaps, one without, and a merged one.
fn check_both<P: Partial>(empty: &P, table: &SoaNumericTable, versions: [u32; 2]) -> P {
    let rows = complete(1000, &[Pattern::Tenth, Pattern::Half]);
    let filled = grouped_rows(&rows, Pattern::Tenth, Pattern::Half);
    check(&empty.compute_over(&filled).unwrap(), [versions[0]; 2]);
    check(empty, [versions[0]; 2]);
    let part = |rows| empty.compute_over(&*table.select_rows(rows).unwrap()).unwrap();
    let (mut first, rest) = (part(0..700), part(700..1000));
    check(&first, versions);
    first.merge(&P::from_bytes(&rest.to_bytes().unwrap()).unwrap()).unwrap();
    check(&first, versions);
    first
}

#[test]
fn partial_results_keep_their_counts_in_every_form() {
    let table = grouped(1000, Pattern::Tenth, Pattern::Half);
    let missing = |column| table.missing_count(column).unwrap() as u64;
    let basic = check_both(&BasicStatistics::new(3).unwrap(), &table, [1, 2]);
    assert_eq!([0, 1, 2].map(|column| basic.column(column).unwrap().missing_count()), [missing(0), missing(1), 0]);
    let bins = HistogramBins::uniform(0.0, 9.0, 3).unwrap();
    let histogram = check_both(&Histogram::new(3, &bins).unwrap(), &table, [2, 3]);
    assert_eq!(histogram.column(1).unwrap().missing_count(), missing(1));
    let sketch = check_both(&QuantileSketch::with_capacity(3, 16).unwrap(), &table, [2, 3]);
    assert_eq!((sketch.missing_count(0).unwrap(), sketch.missing_count(2).unwrap()), (missing(0), 0));
    let groups = check_both(&GroupStatistics::new(3, 0, 3).unwrap(), &table, [2, 3]);
    assert_eq!((groups.missing_rows(), groups.row_count()), (missing(0), 1000 - missing(0)));
    let complete = complete(1000, &[Pattern::Tenth, Pattern::Half]).len() as u64;
    let covariance = check_both(&Covariance::new(3).unwrap(), &table, [1, 2]);
    assert_eq!((covariance.row_count(), covariance.missing_rows()), (complete, 1000 - complete));
    let gram = check_both(&GramMatrix::new(3).unwrap(), &table, [1, 2]);
    assert_eq!((gram.row_count(), gram.missing_rows()), (complete, 1000 - complete));
}

#[test]
fn a_column_keeps_its_counts_by_itself() {
    fn forms<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
        assert_eq!(&serde_json::from_str::<T>(&serde_json::to_string(value).unwrap()).unwrap(), value);
        assert_eq!(&rmp_serde::from_slice::<T>(&rmp_serde::to_vec(value).unwrap()).unwrap(), value);
        let mut cbor = Vec::new();
        ciborium::into_writer(value, &mut cbor).unwrap();
        assert_eq!(&ciborium::from_reader::<T, _>(&cbor[..]).unwrap(), value);
        let config = bincode::config::standard();
        let binary = bincode::serde::encode_to_vec(value, config).unwrap();
        assert_eq!(&bincode::serde::decode_from_slice::<T, _>(&binary, config).unwrap().0, value);
    }
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.5), None, Some(-2.0), None]).unwrap();
    table.push_optional("b", [None::<f64>, None, None, None]).unwrap();
    table.push_optional("c", [Some(f64::NAN), Some(f64::INFINITY), None, Some(0.0)]).unwrap();
    table.push_column("d", vec![1, 2, 3, 4]).unwrap();
    let statistics = BasicStatistics::compute(&table).unwrap();
    statistics.per_column().iter().for_each(forms);
    forms(&statistics.per_column().to_vec()); // one after another, without lengths
    let text = |column: usize| serde_json::to_string(&statistics.per_column()[column]).unwrap();
    assert!(text(0).ends_with(r#","missing":2}"#) && !text(3).contains("missing"));
    let bins = HistogramBins::uniform(0.0, 9.0, 3).unwrap();
    Histogram::compute(&table, &bins).unwrap().per_column().iter().for_each(forms);
}

/// What a library from before missing values reads.
#[derive(Serialize, Deserialize)]
struct Older(u64);

impl Partial for Older {
    const NAME: &'static str = "basic-statistics";

    fn new_like(&self) -> numeric_table::Result<Self> {
        Ok(Self(0))
    }

    fn update(&mut self, _: &dyn NumericTable) -> numeric_table::Result<()> {
        Ok(())
    }

    fn merge(&mut self, _: &Self) -> numeric_table::Result<()> {
        Ok(())
    }
}

#[test]
fn older_libraries_refuse_results_with_missing_values_by_their_version() {
    let table = grouped(10, Pattern::Half, Pattern::Half);
    let bytes = BasicStatistics::compute(&table).unwrap().to_bytes().unwrap();
    let error = Older::from_bytes(&bytes).err().unwrap().to_string();
    assert!(
        error.contains(r#"the partial result "basic-statistics" has version 2, but this program reads version 1"#),
        "{error}"
    );
}

#[test]
fn counts_that_lie_are_refused() {
    let mut table = SoaNumericTable::new();
    table.push_optional("a", [Some(1.5), None, Some(-2.0), None]).unwrap();
    let statistics = BasicStatistics::compute(&table).unwrap();
    let text = serde_json::to_string(&statistics).unwrap();
    let lies = [
        (r#""missing":2"#, r#""missing":3"#),
        (r#""missing":2"#, r#""missing":18446744073709551615"#),
        (r#""missing":2"#, r#""least":1.0,"missing":0"#),
    ];
    for (truth, lie) in lies {
        assert!(text.contains(truth), "{text}");
        assert!(serde_json::from_str::<BasicStatistics>(&text.replace(truth, lie)).is_err(), "{lie}");
    }
    let covariance = Covariance::compute(&table).unwrap();
    let text = serde_json::to_string(&covariance).unwrap();
    let more = text.replace("\"rows\":2", "\"rows\":18446744073709551615");
    assert!(more != text && serde_json::from_str::<Covariance>(&more).is_err());
}

#[test]
fn shards_with_gaps_are_reduced_as_their_tables_are() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [(100, Pattern::Tenth), (1, Pattern::All), (64, Pattern::Half)];
    let tables = tables.map(|(rows, pattern)| grouped(rows, pattern, Pattern::Runs));
    for (number, table) in tables.iter().enumerate() {
        table.save(folder.path().join(format!("{number}.ntb"))).unwrap();
    }
    let shards = numeric_table::shards::Shards::open(folder.path()).unwrap();
    fn same<P: Partial>(shards: &numeric_table::shards::Shards, tables: &[SoaNumericTable], empty: &P) {
        let mut expected = empty.new_like().unwrap();
        tables.iter().for_each(|table| expected.merge(&empty.compute_over(table).unwrap()).unwrap());
        assert_eq!(shards.reduce(empty).unwrap().to_bytes().unwrap(), expected.to_bytes().unwrap());
        assert_eq!(expected.version(), P::NEWEST_VERSION);
    }
    same(&shards, &tables, &BasicStatistics::new(3).unwrap());
    same(&shards, &tables, &QuantileSketch::new(3).unwrap());
    same(&shards, &tables, &Covariance::new(3).unwrap());
    same(&shards, &tables, &GroupStatistics::new(3, 0, 3).unwrap());
}
