//! Finds the nearest centroids with AVX2 vectors. The results are those of the loops of `nearest`, bit for bit.
//!
//! The loops are written with intrinsics, because whether a compiler vectorizes them depends on the surrounding code.
//! With AVX-512 the loops of `nearest` are faster.

use std::arch::x86_64::{
    __m256d, _CMP_LT_OQ, _mm256_blendv_pd, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_fmadd_pd, _mm256_min_pd,
    _mm256_permute2f128_pd, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setzero_pd, _mm256_sub_pd, _mm256_unpackhi_pd,
    _mm256_unpacklo_pd,
};

use bytemuck::cast;
use numeric_table::internal::Level;

use crate::nearest::{Centroids, LANES, Lanes};

/// The number of centroids that are compared together with eight rows: their distances stay in registers.
const GROUP: usize = 4;

/// Eight lanes.
type Vectors = [__m256d; 2];

/// Finds the nearest centroids of up to eight rows and the squared distances to them, if AVX2 is the level. The results
/// of missing rows are arbitrary. `rows` and `lanes` are buffers for eight rows.
#[inline]
pub(crate) fn find<T: Copy + Into<f64>>(
    level: Level,
    values: &[T],
    centroids: &Centroids,
    rows: &mut [f64],
    lanes: &mut [Lanes],
) -> Option<([u32; LANES], Lanes)> {
    // SAFETY: the machine has the instructions (invariant of `Level`).
    (level.has_avx2() && !level.has_avx512()).then(|| unsafe { find_with_avx2(values, centroids, rows, lanes) })
}

#[target_feature(enable = "avx2,fma")]
fn find_with_avx2<T: Copy + Into<f64>>(
    values: &[T],
    centroids: &Centroids,
    rows: &mut [f64],
    lanes: &mut [Lanes],
) -> ([u32; LANES], Lanes) {
    for (converted, &value) in rows.iter_mut().zip(values) {
        *converted = value.into();
    }
    turn(rows, lanes);
    find_among_all(lanes, centroids)
}

/// Transposes eight rows into columns of eight lanes: squares of four rows and four columns, then the remaining
/// columns.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn turn(rows: &[f64], lanes: &mut [Lanes]) {
    let columns = lanes.len();
    for (half, rows) in rows.chunks_exact(4 * columns).enumerate() {
        let row = |row: usize| &rows[row * columns..][..columns];
        let rows = [row(0), row(1), row(2), row(3)];
        let (squares, rest) = lanes.as_chunks_mut::<4>();
        for (place, square) in squares.iter_mut().enumerate() {
            let line = |row: usize| -> __m256d { cast(rows[row].as_chunks::<4>().0[place]) };
            let (a, b, c, d) = (line(0), line(1), line(2), line(3));
            let (ab_even, cd_even) = (_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
            let (ab_odd, cd_odd) = (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
            let turned = [
                _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
                _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
            ];
            for (lanes, turned) in square.iter_mut().zip(turned) {
                lanes.as_chunks_mut::<4>().0[half] = cast(turned);
            }
        }
        let done = columns - rest.len();
        for (lanes, column) in rest.iter_mut().zip(done..) {
            lanes.as_chunks_mut::<4>().0[half] = [rows[0][column], rows[1][column], rows[2][column], rows[3][column]];
        }
    }
}

/// Finds the nearest centroids of eight rows.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn find_among_all(lanes: &[Lanes], centroids: &Centroids) -> ([u32; LANES], Lanes) {
    let (columns, count) = (centroids.columns(), centroids.count());
    let (mut best, mut index) = ([_mm256_set1_pd(f64::INFINITY); 2], [_mm256_setzero_pd(); 2]);
    for first in (0..count).step_by(GROUP) {
        // Past the end, the last centroid is repeated: it is not nearer than itself.
        let row = |place: usize| &centroids.values()[(first + place).min(count - 1) * columns..][..columns];
        let found = squared_distances(lanes, [row(0), row(1), row(2), row(3)]);
        for (place, found) in found.into_iter().enumerate() {
            let place = _mm256_castsi256_pd(_mm256_set1_epi64x((first + place) as i64));
            for half in 0..2 {
                let is_nearer = _mm256_cmp_pd::<_CMP_LT_OQ>(found[half], best[half]);
                best[half] = _mm256_min_pd(found[half], best[half]); // `best` if one of them is NaN
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
    let [a, b, c, d] = centroids;
    for ((((values, a), b), c), d) in lanes.iter().zip(a).zip(b).zip(c).zip(d) {
        let values: Vectors = cast(*values);
        for (sums, centre) in sums.iter_mut().zip([a, b, c, d]) {
            let centre = _mm256_set1_pd(*centre);
            for (sum, value) in sums.iter_mut().zip(values) {
                let apart = _mm256_sub_pd(value, centre);
                *sum = _mm256_fmadd_pd(apart, apart, *sum);
            }
        }
    }
    sums
}
