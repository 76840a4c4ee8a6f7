//! Results that were bytes, or text, and are results again.

use super::*;

struct RoundTrip;

impl Check for RoundTrip {
    fn check<P: Partial + Clone + Debug>(&mut self, result: P, table: &dyn NumericTable) {
        let bytes = result.to_bytes().unwrap();
        let mut back = P::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes().unwrap(), bytes);
        let packed: P = rmp_serde::from_slice(&rmp_serde::to_vec(&result).unwrap()).unwrap();
        assert_eq!(packed.to_bytes().unwrap(), bytes);
        let text = serde_json::to_string(&result).unwrap();
        let read: P = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);

        let (mut all, mut other) = (result.clone(), result.clone());
        Partial::merge(&mut other, &back).unwrap();
        Partial::merge(&mut back, &result).unwrap();
        Partial::merge(&mut all, &result).unwrap();
        for mut merged in [back, other] {
            assert_eq!(merged.to_bytes().unwrap(), all.to_bytes().unwrap());
            merged.update_table(table).unwrap();
            let mut all = all.clone();
            all.update_table(table).unwrap();
            assert_eq!(merged.to_bytes().unwrap(), all.to_bytes().unwrap());
        }
    }
}

#[test]
fn a_result_that_was_bytes_merges_to_the_same_bits() {
    let mut random = Random::new(16);
    for (rows, columns) in [(0, 3), (1, 1), (2, 9), (40, 17), (5000, 2)] {
        for_each_result(&random_table(&mut random, rows, columns), &mut RoundTrip);
    }
}
