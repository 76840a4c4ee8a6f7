//! Bytes that nobody wrote: refused with a reason, or a result of which everything can be called.

use super::*;

/// Puts the checksum at the end right.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Reads bytes; of a result, everything is called. Returns whether there was one.
fn call_all<P: Tested>(bytes: &[u8]) -> bool {
    let mut result = match P::from_bytes(bytes) {
        Ok(result) => result,
        Err(error) => {
            assert!(error.to_string().len() > 20);
            return false;
        }
    };
    let copy = result.clone();
    for _ in 0..3 {
        result.call_everything();
        let bytes = bytes_of(&result);
        assert_eq!(bytes_of(&P::from_bytes(&bytes).unwrap()), bytes);
        let text = serde_json::to_string(&result).unwrap();
        serde_json::from_str::<P>(&text).unwrap();
        let before = bytes_of(&result);
        let other = result.clone();
        if Partial::merge(&mut result, &other).is_err() {
            assert_eq!(bytes_of(&result), before);
        }
        let _ = Partial::merge(&mut result, &copy);
        for columns in 1..5 {
            let before = bytes_of(&result);
            if result.update(&random_table(&mut Random::quiet(9), 5, columns)).is_err() {
                assert_eq!(bytes_of(&result), before);
            }
        }
        let _ = result.new_like().map(|empty| empty.call_everything());
    }
    true
}

fn check<P: Tested>(rows: usize, columns: usize, times: usize) {
    let mut random = Random::new(26);
    let honest = bytes_of(&P::of_table(&random_table(&mut random, rows, columns)));
    assert!(call_all::<P>(&honest));
    let start = 24 + P::NAME.len();
    for end in start..honest.len() - 4 {
        assert!(!call_all::<P>(&signed(honest[..end].iter().chain(&[0; 4]).copied().collect())));
    }
    let special =
        [0_u64, 1, 2, 1 << 31, 1 << 62, u64::MAX, f64::MAX.to_bits(), f64::NAN.to_bits(), 1 << 63, 0x7ff << 52];
    for _ in 0..times {
        let mut bytes = honest.clone();
        for _ in 0..1 + random.below(3) {
            let at = start + random.below(bytes.len() - 4 - start);
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.next() as u8,
                2 => {
                    let value = special[random.below(special.len())].to_le_bytes();
                    let room = (bytes.len() - 4 - at).min(8);
                    bytes[at..at + room].copy_from_slice(&value[..room]);
                }
                _ => {
                    let from = start + random.below(bytes.len() - 4 - start);
                    let count = random.below(17).min(bytes.len() - 4 - at.max(from));
                    bytes.copy_within(from..from + count, at);
                }
            }
        }
        call_all::<P>(&signed(bytes));
    }
}

#[test]
fn changed_bytes_are_refused_or_a_result_of_which_everything_can_be_called() {
    for_each_result!(P => {
        check::<P>(3, 2, 1000);
        check::<P>(150, 3, 300);
    });
}

/// Changes a field of the text of a result, and returns why it is refused.
#[track_caller]
fn refusal<P: Tested>(path: &str, value: serde_json::Value) -> String {
    let table = random_table(&mut Random::quiet(4), 200, 2);
    let mut text = serde_json::to_value(P::of_table(&table)).unwrap();
    *text.pointer_mut(path).unwrap() = value;
    serde_json::from_value::<P>(text).unwrap_err().to_string()
}

#[test]
fn what_contradicts_itself_is_refused_with_a_reason() {
    use serde_json::json;
    let cases = [
        (refusal::<BasicStatistics>("/rows", json!(199)), "does not have one value in each of 199 rows"),
        (refusal::<BasicStatistics>("/columns/0/finite", json!(u64::MAX)), "does not have one value in each"),
        (refusal::<BasicStatistics>("/columns/0/nan", json!(u64::MAX)), "more values than can be counted"),
        (refusal::<BasicStatistics>("/columns/0/minimum", json!(5.0)), "extremes of a column cannot be values"),
        (refusal::<BasicStatistics>("/columns/0/maximum", json!("NaN")), "extremes of a column cannot be values"),
        (
            refusal::<BasicStatistics>("/columns/0/centered", json!([-1.0, 0.0, 0])),
            "deviations of a column are negative",
        ),
        (refusal::<BasicStatistics>("/columns/0/sum", json!([1.0, 0.0, 2147483647])), "is not a valid sum"),
        (refusal::<BasicStatistics>("/columns/0/sum", json!([1.0, 0.0, -1])), "is not a valid sum"),
        (refusal::<BasicStatistics>("/columns/0/sum", json!([1.0, 2.0, 0])), "is not a valid sum"),
        (refusal::<BasicStatistics>("/columns/0/sum", json!([1e308, 0.0, 4])), "larger than any sum of values"),
        (refusal::<BasicStatistics>("/columns", json!([])), "the dictionary describes 2 columns instead of 0"),
        (refusal::<Covariance>("/rows", json!(0)), "there are no rows, but sums that are not zero"),
        (refusal::<Covariance>("/products", json!([1.0, 2.0])), "2 sums of products do not match 2 columns"),
        (refusal::<Covariance>("/means/0", json!([1e308, 0.0, 4])), "larger than any mean"),
        (refusal::<Covariance>("/dictionary/each", json!([])), "the dictionary describes 0 columns instead of 2"),
        (refusal::<Histogram>("/rows", json!(1)), "does not have one value in each of 1 rows"),
        (refusal::<Histogram>("/dictionary/each", json!([])), "the dictionary describes 0 columns instead of 2"),
        (refusal::<Histogram>("/columns/0/bins", json!(null)), "no previous column"),
        (refusal::<Histogram>("/columns/0/counts", json!([1, 2])), "does not have one count for each bin"),
        (refusal::<Histogram>("/columns/0/above", json!(u64::MAX)), "more values than can be counted"),
        (
            refusal::<Histogram>("/columns/0/bins/edges/1", json!(-9.0)),
            "edge 1 is -9: edges must ascend, and the previous one is",
        ),
        (refusal::<Histogram>("/columns/0/bins/edges/1", json!(1.0)), "do not make bins of equal width"),
        (refusal::<QuantileSketch>("/capacity", json!(3)), "capacity of a level is odd or 0"),
        (refusal::<QuantileSketch>("/capacity", json!(4)), "more values than the sketch, or than its capacity"),
        (refusal::<QuantileSketch>("/rows", json!(3)), "does not have one value in each of 3 rows"),
        (refusal::<QuantileSketch>("/over", json!([1])), "does not have one number of each kind"),
        (refusal::<QuantileSketch>("/minima/0", json!("NaN")), "has extremes, or one with values has none"),
        (refusal::<QuantileSketch>("/minima/0", json!(1.0)), "is not between the extremes"),
        (refusal::<QuantileSketch>("/values", json!([])), "more values than the sketch"),
        (refusal::<QuantileSketch>("/levels/0", json!(u64::MAX)), "more levels than there are"),
        (refusal::<QuantileSketch>("/levels/0", json!(4)), "more levels than its number of values allows"),
        (refusal::<QuantileSketch>("/lengths/0", json!(0)), "do not add up to their count"),
        (refusal::<GroupStatistics>("/by", json!(2)), "is out of range"),
        (refusal::<GroupStatistics>("/column_count", json!(0)), "is out of range"),
        (
            refusal::<GroupStatistics>("/column_count", json!(3)),
            "is not the number of categories times the number of columns",
        ),
        (refusal::<GroupStatistics>("/rows/0", json!(u64::MAX)), "more rows than can be counted"),
        (refusal::<GroupStatistics>("/rows/0", json!(0)), "does not have one value in each row of a category"),
        (refusal::<GroupStatistics>("/dictionary/each", json!([])), "the dictionary describes 0 columns"),
        (refusal::<GroupStatistics>("/skipped", json!(5)), "rows are skipped although missing categories are not"),
        (refusal::<GroupStatistics>("/missing", json!("Never")), "unknown variant `Never`"),
        (refusal::<QuantileSketch>("/dictionary/each", json!([])), "the dictionary describes 0 columns instead of 2"),
    ];
    let mut text = serde_json::to_value(QuantileSketch::new(1).unwrap()).unwrap();
    text["over"] = json!([1]);
    let unhalved = serde_json::from_value::<QuantileSketch>(text).unwrap_err().to_string();
    for (found, expected) in cases.into_iter().chain([(unhalved, "errors without halved levels")]) {
        assert!(found.contains(expected), "{found:?} is not {expected:?}");
    }
}
