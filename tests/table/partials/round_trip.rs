//! Results that were bytes, or text, and are results again.

use super::*;
use serde::{Deserialize, Serialize};

/// What serde reads ahead, and so calls human-readable whatever the format is.
#[derive(Serialize, Deserialize)]
struct Named<P> {
    name: String,
    #[serde(flatten)]
    result: P,
}

fn check<P: Tested>(table: &dyn NumericTable) {
    let result = P::of_table(table);
    let bytes = bytes_of(&result);
    let mut back = P::from_bytes(&bytes).unwrap();
    assert_eq!(bytes_of(&back), bytes);
    let packed: P = rmp_serde::from_slice(&rmp_serde::to_vec(&result).unwrap()).unwrap();
    assert_eq!(bytes_of(&packed), bytes);
    let mut coded = Vec::new();
    ciborium::into_writer(&result, &mut coded).unwrap();
    let mut room = vec![0; 1 << 20]; // by default, it reads strings of up to 4096 bytes
    let coded: P = ciborium::de::from_reader_with_buffer(&coded[..], &mut room).unwrap();
    assert_eq!(bytes_of(&coded), bytes);
    let named = Named { name: "it".to_owned(), result: result.clone() };
    let named: Named<P> = rmp_serde::from_slice(&rmp_serde::to_vec_named(&named).unwrap()).unwrap();
    assert_eq!((bytes_of(&named.result), &named.name[..]), (bytes.clone(), "it"));

    let text = serde_json::to_string(&result).unwrap();
    let read: P = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    read.assert_near(&result);

    let (mut all, mut other) = (result.clone(), result.clone());
    Partial::merge(&mut other, &back).unwrap();
    Partial::merge(&mut back, &result).unwrap();
    Partial::merge(&mut all, &result).unwrap();
    for mut merged in [back, other] {
        assert_eq!(bytes_of(&merged), bytes_of(&all));
        merged.update(table).unwrap();
        let mut all = all.clone();
        all.update(table).unwrap();
        assert_eq!(bytes_of(&merged), bytes_of(&all));
    }
}

#[test]
fn a_result_that_was_bytes_or_text_merges_to_the_same_bits() {
    let mut random = Random::new(16);
    for (rows, columns) in [(0, 3), (1, 1), (2, 9), (40, 17), (3000, 4)] {
        let table = random_table(&mut random, rows, columns);
        for_each_result!(P => check::<P>(&table));
    }
}

#[test]
fn the_text_of_a_result_is_readable() {
    let table = HomogenNumericTable::from_rows(&[[1.0, f64::NAN], [0.0, f64::INFINITY], [1.0, 4.0]]).unwrap();
    let text = |result: serde_json::Value| result.to_string();
    let statistics = serde_json::to_value(BasicStatistics::compute(&table).unwrap()).unwrap();
    assert_eq!(text(statistics["columns"][1]["maximum"].clone()), "4.0");
    assert_eq!(
        (text(statistics["rows"].clone()), text(statistics["columns"][0]["sum"].clone())),
        ("3".into(), "[2.0,0.0,0]".into())
    );
    let covariance = serde_json::to_value(Covariance::compute(&table).unwrap()).unwrap();
    assert_eq!(text(covariance["products"].clone()), r#"[0.6666666666666666,"NaN","NaN"]"#);
    let bins = HistogramBins::with_edges([0.0, 1.0, f64::INFINITY]).unwrap();
    assert_eq!(serde_json::to_string(&bins).unwrap(), r#"{"edges":[0.0,1.0,"Infinity"],"is_uniform":false}"#);
    let histogram = serde_json::to_value(Histogram::compute(&table, &bins).unwrap()).unwrap();
    assert_eq!(text(histogram["columns"][1].clone()), r#"{"above":0,"below":0,"bins":null,"counts":[0,2],"nan":1}"#);
    let sketch = serde_json::to_value(QuantileSketch::compute(&table).unwrap()).unwrap();
    assert_eq!(text(sketch["values"].clone()), r#"[1.0,0.0,1.0,"Infinity",4.0]"#);
}

#[test]
fn columns_and_bins_are_serialized_by_themselves() {
    let table = random_table(&mut Random::new(3), 50, 5);
    let (statistics, histogram) = (BasicStatistics::of_table(&table), Histogram::of_table(&table));
    for (column, counts) in statistics.per_column().iter().zip(histogram.per_column()) {
        let back: ColumnStatistics = serde_json::from_str(&serde_json::to_string(column).unwrap()).unwrap();
        assert_eq!(back, *column);
        let back: numeric_table::statistics::ColumnHistogram =
            serde_json::from_str(&serde_json::to_string(counts).unwrap()).unwrap();
        assert_eq!(back, *counts);
        let back: HistogramBins = serde_json::from_str(&serde_json::to_string(counts.bins()).unwrap()).unwrap();
        assert_eq!(back, *counts.bins());
    }
}

#[test]
fn neighbours_with_the_same_bins_are_stored_once() {
    let histogram = Histogram::new(100, &HistogramBins::uniform(0.0, 1.0, 1000).unwrap()).unwrap();
    let bytes = bytes_of(&histogram);
    assert!(bytes.len() < 101 * 8 * 1000 + 10_000, "{}", bytes.len());
    let back = Histogram::from_bytes(&bytes).unwrap();
    let edges = |column| back.column(column).unwrap().bins().edges().as_ptr();
    assert_eq!(edges(0), edges(99));
}

#[test]
fn bytes_of_one_kind_of_result_are_no_other() {
    let bytes = bytes_of(&Covariance::new(2).unwrap());
    let error = BasicStatistics::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.contains("\"covariance\"") && error.contains("\"basic-statistics\""), "{error}");
}
