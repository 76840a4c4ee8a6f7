//! The nearest of all centroids in vectors of AVX2: what the loops of `nearest` find, bit for bit.
//!
//! Written out, because compilers make single numbers of the vectors of such loops, or not, as the code around them
//! happens to be. With AVX-512 the loops of `nearest` are faster.

use std::arch::x86_64::{
    __m256d, _CMP_LT_OQ, _mm256_blendv_pd, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_fmadd_pd, _mm256_min_pd,
    _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setzero_pd, _mm256_sub_pd,
};

use bytemuck::cast;

use super::nearest::{Centroids, LANES, Lanes};
use crate::convert::level::Level;

/// Number of centroids that are compared together with eight rows: as many distances as stay in registers.
const GROUP: usize = 4;

/// Eight lanes.
type Vectors = [__m256d; 2];

/// Finds the nearest centroids of eight rows, and the squared distances to them, if this is the way at the level.
#[inline]
pub(super) fn find(level: Level, lanes: &[Lanes], centroids: &Centroids) -> Option<([u32; LANES], Lanes)> {
    // SAFETY: the machine has the instructions (invariant of `Level`).
    (level.has_avx2() && !level.has_avx512()).then(|| unsafe { find_with_avx2(lanes, centroids) })
}

#[target_feature(enable = "avx2,fma")]
fn find_with_avx2(lanes: &[Lanes], centroids: &Centroids) -> ([u32; LANES], Lanes) {
    let (columns, count) = (centroids.columns(), centroids.count());
    let (mut best, mut index) = ([_mm256_set1_pd(f64::INFINITY); 2], [_mm256_setzero_pd(); 2]);
    for first in (0..count).step_by(GROUP) {
        // In place of centroids past the end, the last one once more: it is not nearer than itself.
        let row = |place: usize| &centroids.values()[(first + place).min(count - 1) * columns..][..columns];
        let found = squared_distances(lanes, [row(0), row(1), row(2), row(3)]);
        for (place, found) in found.into_iter().enumerate() {
            let place = _mm256_castsi256_pd(_mm256_set1_epi64x((first + place) as i64));
            for half in 0..2 {
                let is_nearer = _mm256_cmp_pd::<_CMP_LT_OQ>(found[half], best[half]);
                best[half] = _mm256_min_pd(found[half], best[half]); // the best, if one of them is NaN
                index[half] = _mm256_blendv_pd(index[half], place, is_nearer);
            }
        }
    }
    (cast::<Vectors, [u64; LANES]>(index).map(|index| index as u32), cast(best))
}

/// Returns the squared distances of eight rows from centroids.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn squared_distances(lanes: &[Lanes], centroids: [&[f64]; GROUP]) -> [Vectors; GROUP] {
    let mut sums = [[_mm256_setzero_pd(); 2]; GROUP];
    for (column, values) in lanes.iter().enumerate() {
        let values: Vectors = cast(*values);
        for (sums, centroid) in sums.iter_mut().zip(centroids) {
            let centre = _mm256_set1_pd(centroid[column]);
            for (sum, value) in sums.iter_mut().zip(values) {
                let apart = _mm256_sub_pd(value, centre);
                *sum = _mm256_fmadd_pd(apart, apart, *sum);
            }
        }
    }
    sums
}
