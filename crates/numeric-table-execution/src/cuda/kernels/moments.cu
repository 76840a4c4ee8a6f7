// Statistics of one column of some rows, and merging them: `ColumnStatistics` in CUDA C++, with sums of twice the
// precision of f64. Unlike those of `Double`, the sums have no larger range: one that overflows is not finite.
#ifndef NUMERIC_TABLE_MOMENTS
#define NUMERIC_TABLE_MOMENTS

/// `high + low`, where `low` is less than a unit in the last place of `high`. Source: Dekker 1971, Knuth's two-sum.
struct Double {
    f64 high, low;
};

__device__ __forceinline__ Double two_sum(f64 a, f64 b) {
    const f64 sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

/// The magnitude of `a` must not be less than that of `b`.
__device__ __forceinline__ Double quick_two_sum(f64 a, f64 b) {
    const f64 sum = a + b;
    return {sum, b - (sum - a)};
}

__device__ __forceinline__ Double plus(Double a, Double b) {
    const Double high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
    const Double sum = quick_two_sum(high.high, high.low + low.high);
    return quick_two_sum(sum.high, sum.low + low.low);
}

__device__ __forceinline__ Double quotient(Double number, f64 divisor) {
    const f64 nearest = __ddiv_rn(number.high, divisor);
    const f64 rest = __fma_rn(-nearest, divisor, number.high) + number.low;
    return quick_two_sum(nearest, __ddiv_rn(rest, divisor));
}

/// What `ColumnStatistics` has, in its order: ten numbers of 8 bytes. Without finite values the minimum is infinity and
/// the maximum negative infinity.
struct Moments {
    u64 finite, nan, positive_infinities, negative_infinities;
    f64 minimum, maximum;
    Double sum, centered;
};

__device__ __forceinline__ Moments no_moments() {
    const f64 infinity = from_bits<f64>(0x7FF0000000000000ull);
    return {0, 0, 0, 0, infinity, -infinity, {0, 0}, {0, 0}};
}

/// Merges the statistics of further values. Source: Chan, Golub, LeVeque 1979.
__device__ __forceinline__ void merge(Moments &all, const Moments &more) {
    if (all.finite == 0) {
        all.sum = more.sum;
        all.centered = more.centered;
    } else if (more.finite > 0) {
        const f64 mine = f64(all.finite), theirs = f64(more.finite), both = mine + theirs;
        const Double mean = quotient(all.sum, mine), other = quotient(more.sum, theirs);
        const Double delta = plus(other, {-mean.high, -mean.low});
        const f64 distance = delta.high + delta.low;
        const f64 weighted = __dmul_rn(distance, __dmul_rn(__ddiv_rn(mine, both), theirs));
        all.centered = plus(plus(all.centered, more.centered), {__dmul_rn(distance, weighted), 0});
        all.sum = plus(all.sum, more.sum);
    }
    all.minimum = more.minimum < all.minimum ? more.minimum : all.minimum;
    all.maximum = more.maximum > all.maximum ? more.maximum : all.maximum;
    all.finite += more.finite;
    all.nan += more.nan;
    all.positive_infinities += more.positive_infinities;
    all.negative_infinities += more.negative_infinities;
}

/// Merges the results of `count` threads, which are `stride` apart in shared memory, into the first one: neighbours,
/// then pairs, and so on, always in the same order. All threads of the block must call it.
__device__ __forceinline__ void merge_threads(Moments *mine, u32 index, u32 count, u32 stride) {
    for (u32 step = 1; step < count; step *= 2) {
        __syncthreads();
        if (index % (2 * step) == 0 && index + step < count) {
            merge(*mine, mine[step * stride]);
        }
    }
    __syncthreads();
}

#endif
