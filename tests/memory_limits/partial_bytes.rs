//! Damaged bytes of a partial result, and how much memory reading them takes.

use numeric_table::Partial;
use test_support::bits::Random;

use super::counting::measured;

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

/// Checks that reading the bytes of a result, and damaged ones, takes at most 4 times their size plus 1 MiB.
pub(crate) fn check<P: Partial>(honest: &P) {
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
