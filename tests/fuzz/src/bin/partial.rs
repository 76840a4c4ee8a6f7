//! Bytes of partial results: what is accepted can be written and is read again, is merged with itself and with a result
//! without rows, and that is read again too.
//!
//! The checksum and the name would stop almost every mutation: an input is a byte that says which result it is of, and
//! the result's own bytes; the rest is made. From 128 on the rest is taken as it is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use numeric_table::{
    Partial,
    statistics::{BasicStatistics, Covariance, GramMatrix, GroupStatistics, Histogram, QuantileSketch},
};
use numeric_table_fuzz::{partial_bytes, refusal};
use numeric_table_learning::{GaussianNaiveBayes, KMeansStep, LinearRegression, NaiveBayes};

fuzz_target!(|data: &[u8]| {
    let Some((&first, own)) = data.split_first() else { return };
    let check = [
        check::<BasicStatistics>,
        check::<Covariance>,
        check::<GramMatrix>,
        check::<Histogram>,
        check::<QuantileSketch>,
        check::<GroupStatistics>,
        check::<KMeansStep>,
        check::<LinearRegression>,
        check::<NaiveBayes>,
        check::<GaussianNaiveBayes>,
    ];
    check[usize::from(first % 128) % check.len()](own, first >= 128);
});

fn check<P: Partial>(own: &[u8], is_whole: bool) {
    let found = if is_whole { P::from_bytes(own) } else { P::from_bytes(&partial_bytes::<P>(own)) };
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            refusal(Err::<(), _>(error));
            return;
        }
    };
    let same = again(&found);
    let empty = found.new_like().unwrap();
    again(&empty);
    let _ = found.size_in_bytes();
    // A number of rows may be more than can be counted twice: that is an error, and nothing else is left behind.
    for mut sum in [again(&found), empty] {
        let merged = sum.merge(&same);
        again(&sum);
        if merged.is_ok() {
            let _ = sum.merge(&same);
            again(&sum);
        }
    }
}

/// Returns the result of the bytes of a result, which are the same as those that it was made of.
fn again<P: Partial>(found: &P) -> P {
    let bytes = found.to_bytes().unwrap();
    let read = P::from_bytes(&bytes).unwrap();
    assert!(read.to_bytes().unwrap() == bytes);
    assert!(P::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    read
}
