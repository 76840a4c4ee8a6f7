//! Damaged and invented bytes of partial results: reading them takes at most 4 times their size plus 1 MiB of memory.

use numeric_table::{
    BasicStatistics, Covariance, GaussianNaiveBayes, GramMatrix, GroupStatistics, Histogram, HistogramBins, KMeansStep,
    LinearRegression, NaiveBayes, Partial, QuantileSketch, prelude::*,
};
use test_support::bits::Random;

use super::counting::measured;
use super::scratch::alone;

/// The bytes of a partial result whose own part, which `bytes` ends with, lies; the checksum is right.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn read_within_limits<P: Partial>(bytes: &[u8]) -> bool {
    let limit = 4 * bytes.len() + (1 << 20);
    let name = || format!("{} of {} bytes", P::NAME, bytes.len());
    let (result, peak, largest) = measured(&name, || P::from_bytes(bytes));
    assert!(peak <= limit && largest <= limit, "{}: {peak} bytes at once, {largest} for one request", name());
    result.is_ok()
}

fn check<P: Partial>(honest: &P) {
    let bytes = honest.to_bytes().unwrap();
    assert!(read_within_limits::<P>(&bytes), "{}", P::NAME);
    let (start, body) = (24 + P::NAME.len(), &bytes[..bytes.len() - 4]);
    let mut random = Random::new(33);
    let rounds = if bytes.len() > 100_000 { 6 } else { 300 };
    for round in 0..rounds {
        let mut changed = body.to_vec();
        let places = changed.len() - start;
        let at = start + if round < rounds / 2 { round * 8 % places.min(150) } else { random.below(places) };
        let claim = [u64::MAX, 1 << 62, 1 << 40, 1 << 31, 1 << 24, 0][random.below(6)].to_le_bytes();
        let room = claim.len().min(changed.len() - at);
        changed[at..at + room].copy_from_slice(&claim[..room]);
        read_within_limits::<P>(&signed(changed));
        read_within_limits::<P>(&signed(body[..at].to_vec()));
    }
}

#[test]
fn reading_a_partial_result_takes_at_most_four_times_its_bytes() {
    let _alone = alone();
    for columns in [1, 3, 30_000] {
        check(&BasicStatistics::new(columns).unwrap());
        check(&QuantileSketch::new(columns).unwrap());
        check(&Histogram::new(columns, &HistogramBins::uniform(0.0, 1.0, 1).unwrap()).unwrap());
        let bins = (0..columns).map(|_| HistogramBins::with_edges([0.0, 1.0]).unwrap());
        check(&Histogram::with_bins(bins).unwrap());
        check(&GroupStatistics::new(2, 0, columns).unwrap());
        check(&GroupStatistics::new(columns, 0, 1).unwrap());
    }
    for columns in [1, 9, 300, 1000] {
        check(&Covariance::new(columns).unwrap());
        check(&GramMatrix::new(columns).unwrap());
        check(&LinearRegression::new(columns - 1, 1).unwrap());
    }
    for (columns, many) in [(2, 1), (2, 30_000), (3, 5), (30_000, 1), (300, 100)] {
        check(&NaiveBayes::new(columns, 1, many).unwrap());
        check(&GaussianNaiveBayes::new(columns, 1, many).unwrap());
        let centroids =
            HomogenNumericTable::from_array(vec![1.0; many * columns], Shape { rows: many, columns }).unwrap();
        check(&KMeansStep::new(&centroids).unwrap());
    }
    // One value on the last of many levels, in each of many columns.
    let mut sketch = QuantileSketch::with_capacity(3, 2).unwrap();
    sketch.update(&(0..3 << 12).map(f64::from).collect::<Vec<_>>()).unwrap();
    for _ in 0..40 {
        sketch.merge(&sketch.clone()).unwrap();
    }
    check(&sketch);
    let names = (0..2000).map(|column| Feature::new(ElementType::F64).named(format!("{column}"))).collect();
    let table = HomogenNumericTable::from_array(vec![1.0; 2000], Shape { rows: 1, columns: 2000 }).unwrap();
    check(&BasicStatistics::of(&table.described_by(names).unwrap()).unwrap());
}
