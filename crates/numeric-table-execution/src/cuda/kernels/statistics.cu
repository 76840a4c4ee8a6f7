// Statistics of the columns of a table, in one pass over it: `SOURCE` is the type of its values.
//
// `ENTRY(statistics)` computes the moments of each column of each group of rows, and `statistics_merge` merges the
// groups. Results depend on the values, the shape and the layout only, not on the number of blocks.
//
// Semantics, which are those of `ColumnStatistics`:
// - NaN is counted, and otherwise ignored. Infinities are counted by their sign; extremes and sums are those of the
//   finite values.
// - Values of 64-bit integers are rounded to f64 first, those of other types are exact.
// - `sum` has about 106 bits, `centered` is the sum of squared deviations from the mean. Both are 0 without finite
//   values; `centered` is 0 if all finite values are equal, and never negative.
// - If a sum overflows f64, a part of it is not finite. Then the same kernels with `is_scaled` compute the sums of
//   values times 2^-600 (extremes are not scaled): `sum` is to be multiplied by 2^600, and `centered` by 2^1200. Only
//   values of type f64 are that large: for other types `is_scaled` does nothing.
//
// What differs from the CPU:
// - The order in which values are added: so the last digits may differ, and of extremes that are zero, the sign.
// - Sums of integers of up to 32 bits are exact within a thread. Others are as on the CPU: the rounding error of each
//   addition is added up.
// - Deviations of up to 256 values are those from the mean of the first 8 or 16 of them, not from their mean. Since
//   those are values of the column, the difference to the mean cannot be large beside the deviations: at most 5 of the
//   53 bits are lost, in data whose first values are far from all others. Integers of up to 16 bits lose nothing.
#ifdef SOURCE

namespace {

/// Largest number of columns of a block; the number of values of a thread that are added up before they are merged.
enum { PANEL = 64, SEGMENT = 256 };

/// The type that a minimum is kept in.
template <typename S> struct Ordered { typedef S Type; };
template <> struct Ordered<f16> { typedef f32 Type; };
template <> struct Ordered<bf16> { typedef f32 Type; };

template <typename S> __device__ __forceinline__ typename Ordered<S>::Type ordered(S value) {
    if constexpr (Element<S>::HALF) {
        return widened(value);
    } else {
        return value;
    }
}

template <typename S> __device__ __forceinline__ bool is_finite(S value) {
    if constexpr (Element<S>::FLOAT) {
        const auto number = ordered(value);
        return number - number == 0;
    } else {
        return true;
    }
}

/// Values of one column that one thread adds up.
template <typename S> struct Segment {
    typedef typename Ordered<S>::Type Extreme;
    enum {
        IS_SMALL = !Element<S>::FLOAT && sizeof(S) <= 2,
        IS_WHOLE = !Element<S>::FLOAT && sizeof(S) <= 4,
    };
    u32 finite = 0;
    Extreme minimum = last(false), maximum = last(true);
    i64 whole = 0; // sums of integers
    u64 whole_squares = 0;
    f64 sum = 0, rest = 0; // and of others, with the rounding errors
    f64 shift = 0, deviation = 0, squares = 0;

    /// Returns the largest number, or the smallest one.
    __device__ __forceinline__ static Extreme last(bool is_smallest) {
        if constexpr (Element<S>::FLOAT) {
            const f32 infinity = from_bits<f32>(0x7F800000u);
            return is_smallest ? -infinity : infinity;
        } else {
            return is_smallest ? Element<S>::min() : Element<S>::max();
        }
    }

    __device__ __forceinline__ static f64 number(S value, int is_scaled) {
        if constexpr (Same<S, f64>::VALUE) {
            return is_scaled ? __dmul_rn(value, from_bits<f64>(u64(1023 - 600) << 52)) : value;
        } else {
            return f64(ordered(value));
        }
    }

    /// Adds a finite value. The shift must be set.
    __device__ __forceinline__ void add(S value, int is_scaled) {
        const Extreme extreme = ordered(value);
        minimum = extreme < minimum ? extreme : minimum;
        maximum = extreme > maximum ? extreme : maximum;
        ++finite;
        if constexpr (IS_SMALL) {
            const i32 small = value;
            whole += small;
            whole_squares += u64(u32(small < 0 ? -small : small)) * u32(small < 0 ? -small : small);
            return;
        } else {
            const f64 exact = number(value, is_scaled);
            if constexpr (IS_WHOLE) {
                whole += value;
            } else {
                const Double all = two_sum(sum, exact);
                sum = all.high;
                rest += all.low;
            }
            const f64 difference = exact - shift;
            deviation += difference;
            squares = __fma_rn(difference, difference, squares);
        }
    }

    __device__ __forceinline__ Moments moments() const {
        Moments all = no_moments();
        if (finite == 0) {
            return all;
        }
        all.finite = finite;
        all.minimum = f64(minimum);
        all.maximum = f64(maximum);
        const f64 count = f64(finite);
        if constexpr (IS_WHOLE) {
            // Of at most 2^8 values of 32 bits: less than 2^53.
            all.sum = {f64(whole), 0};
        } else {
            all.sum = two_sum(sum, rest);
        }
        if constexpr (IS_SMALL) {
            // Exact, below 2^49, and rounded once.
            all.centered = {__ddiv_rn(f64(whole_squares * finite - u64(whole * whole)), count), 0};
        } else {
            const f64 centered = __fma_rn(-deviation, __ddiv_rn(deviation, count), squares);
            // Not `< 0`: what is not finite must stay so.
            all.centered = {minimum == maximum || centered < 0 ? 0 : centered, 0};
        }
        return all;
    }
};

/// Adds up values of one column, `stride` apart: `count` of them, at most `SEGMENT`.
template <typename S>
__device__ __forceinline__ void add_segment(const S *__restrict__ values, size_t stride, u32 count, int is_scaled,
                                            Moments &all) {
    constexpr u32 BATCH = sizeof(S) == 8 ? 8 : 16;
    Segment<S> segment;
    Moments others = no_moments();
    for (u32 first = 0; first < count; first += BATCH) {
        bool is_plain = first + BATCH <= count;
        if (is_plain) {
            S batch[BATCH];
#pragma unroll
            for (u32 i = 0; i < BATCH; ++i) {
                batch[i] = values[(first + i) * stride];
            }
#pragma unroll
            for (u32 i = 0; i < BATCH; ++i) {
                is_plain &= is_finite(batch[i]);
            }
            if (is_plain) {
                if (!Segment<S>::IS_SMALL && segment.finite == 0) {
                    f64 sum = 0;
#pragma unroll
                    for (u32 i = 0; i < BATCH; ++i) {
                        sum += Segment<S>::number(batch[i], is_scaled);
                    }
                    segment.shift = __dmul_rn(sum, 1.0 / BATCH);
                }
#pragma unroll
                for (u32 i = 0; i < BATCH; ++i) {
                    segment.add(batch[i], is_scaled);
                }
            }
        }
        if (!is_plain) {
            // Values that are not finite, or the last ones: read again, one by one.
            const u32 end = first + BATCH < count ? first + BATCH : count;
            if (!Segment<S>::IS_SMALL && segment.finite == 0) {
                f64 sum = 0, finite = 0;
#pragma unroll 1
                for (u32 i = first; i < end; ++i) {
                    const S value = values[i * stride];
                    if (is_finite(value)) {
                        sum += Segment<S>::number(value, is_scaled);
                        finite += 1;
                    }
                }
                segment.shift = finite == 0 ? 0 : __ddiv_rn(sum, finite);
            }
#pragma unroll 1
            for (u32 i = first; i < end; ++i) {
                const S value = values[i * stride];
                if (is_finite(value)) {
                    segment.add(value, is_scaled);
                } else if constexpr (Element<S>::FLOAT) {
                    const auto number = ordered(value);
                    others.nan += is_nan(number);
                    others.positive_infinities += number > 0;
                    others.negative_infinities += number < 0;
                }
            }
        }
    }
    merge(all, segment.moments());
    merge(all, others);
}

} // namespace

/// `statistics_S(in, row_stride, column_stride, rows, columns, group_rows, is_scaled, moments)`: strides in values.
/// `moments` has room for those of `columns` columns of each group of `group_rows` rows, one group after the other; the
/// last group may have fewer rows. There should be about 256 rows for each thread of a column: 256 * 256 if rows are
/// contiguous in a column, otherwise 256 * (256 / columns).
///
/// Threads of a block are side by side along up to `PANEL` columns, or along the rows if `row_stride` is 1.
extern "C" __global__ void __launch_bounds__(THREADS)
ENTRY(statistics)(const SOURCE *__restrict__ in, size_t row_stride, size_t column_stride, size_t rows, size_t columns,
                  size_t group_rows, int is_scaled, Moments *__restrict__ moments) {
    __shared__ Moments results[THREADS];
    if (rows == 0 || columns == 0) {
        return;
    }
    const size_t most = row_stride == 1 ? 1 : PANEL, panels = (columns + most - 1) / most;
    const u32 panel = u32((columns + panels - 1) / panels), lanes = THREADS / panel;
    const size_t across = (columns + panel - 1) / panel, groups = (rows + group_rows - 1) / group_rows;
    const u32 lane = threadIdx.x / panel;
    for (Walk walk(blockIdx.x, gridDim.x, across); walk.outer < groups; walk.advance()) {
        const size_t column = walk.inner * panel + threadIdx.x % panel, first = walk.outer * group_rows;
        const size_t count = rows - first < group_rows ? rows - first : group_rows;
        const bool is_used = lane < lanes && column < columns;
        results[threadIdx.x] = no_moments(); // here and not in registers, of which the loop needs most
        if (is_used && lane < count) {
            const SOURCE *const values = in + first * row_stride + column * column_stride;
            for (size_t row = lane; row < count; row += size_t(SEGMENT) * lanes) {
                const size_t left = (count - row + lanes - 1) / lanes;
                const u32 length = u32(left < SEGMENT ? left : size_t(SEGMENT));
                add_segment(values + row * row_stride, row_stride * lanes, length, is_scaled, results[threadIdx.x]);
            }
        }
        merge_threads(results + threadIdx.x, lane, lanes, panel);
        if (is_used && lane == 0) {
            moments[walk.outer * columns + column] = results[threadIdx.x];
        }
        __syncthreads();
    }
}

#else

/// `statistics_merge(moments, groups, columns, merged)`: merges the groups of each column, from first to last. One
/// block does one column at a time.
extern "C" __global__ void __launch_bounds__(THREADS)
statistics_merge(const Moments *__restrict__ moments, size_t groups, size_t columns, Moments *__restrict__ merged) {
    __shared__ Moments results[THREADS];
    const size_t run = (groups + THREADS - 1) / THREADS;
    for (size_t column = blockIdx.x; column < columns; column += gridDim.x) {
        Moments all = no_moments();
        for (size_t i = 0; i < run; ++i) {
            const size_t group = threadIdx.x * run + i;
            if (group < groups) {
                merge(all, moments[group * columns + column]);
            }
        }
        results[threadIdx.x] = all;
        merge_threads(results + threadIdx.x, threadIdx.x, THREADS, 1);
        if (threadIdx.x == 0) {
            all = results[0];
            if (all.minimum == all.maximum) {
                all.centered = {0, 0};
            }
            merged[column] = all;
        }
        __syncthreads();
    }
}

#endif
