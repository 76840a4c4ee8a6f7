// Standardizing the columns of a table in place, and the means and deviations for it, from moments on the device.
//
// Semantics, equal to those of `crate::kernels::standardize` bit for bit:
// - The mean and the population standard deviation are those of `ColumnStatistics`. If a part of a sum is not finite,
//   the sum of the scaled moments counts, which are not read otherwise.
// - A value becomes `(value - mean) / deviation`, computed in f64 and rounded once. A deviation of 0 divides by 1. A
//   difference beyond the range of f64 is computed at half its size.
// - A NaN keeps its bits. Every other NaN that is written is the positive one without payload.
// Nothing here may be contracted: products that are added are `__dmul_rn`.

namespace {

__device__ __forceinline__ f64 plain_nan(f64 number) {
    return is_nan(number) ? from_bits<f64>(0x7FF8000000000000ull) : number;
}

/// 2^600.
__device__ __forceinline__ f64 up() { return from_bits<f64>(u64(1023 + 600) << 52); }

/// `(high + low) * 2^(600 * scale)`: `Double` of the library, for sums that are finite.
struct Scaled {
    Double parts;
    int scale;
};

/// Returns the same number at the smallest scale.
__device__ __forceinline__ Scaled normal(Scaled number) {
    while (number.scale > 0 && !is_infinite(__dmul_rn(number.parts.high, up()))) {
        number = {{__dmul_rn(number.parts.high, up()), __dmul_rn(number.parts.low, up())}, number.scale - 1};
    }
    return number;
}

__device__ __forceinline__ f64 value_of(Scaled number) {
    f64 value = number.parts.high + number.parts.low;
    for (int i = 0; i < number.scale; ++i) {
        value = __dmul_rn(value, up());
    }
    return value;
}

/// Returns a sum, of the scaled moments if it overflowed in the plain ones.
__device__ __forceinline__ Scaled sum_of(Double plain, const Double &scaled, int scale) {
    const bool is_plain = plain.high - plain.high == 0 && plain.low - plain.low == 0;
    const Double parts = is_plain ? plain : Double{scaled.high, scaled.low};
    return normal({quick_two_sum(parts.high, parts.low), is_plain ? 0 : scale});
}

__device__ __forceinline__ Scaled divided(Scaled number, f64 divisor) {
    return normal({quotient(number.parts, divisor), number.scale});
}

__device__ __forceinline__ f64 mean_of(const Moments &plain, const Moments &scaled) {
    const f64 infinity = from_bits<f64>(0x7FF0000000000000ull);
    if (plain.positive_infinities > 0 || plain.negative_infinities > 0) {
        return plain.negative_infinities == 0 ? infinity
            : plain.positive_infinities == 0  ? -infinity
                                              : infinity - infinity;
    }
    return value_of(divided(sum_of(plain.sum, scaled.sum, 1), f64(plain.finite)));
}

__device__ __forceinline__ f64 deviation_of(const Moments &plain, const Moments &scaled) {
    if (plain.positive_infinities > 0 || plain.negative_infinities > 0) {
        return from_bits<f64>(0x7FF8000000000000ull);
    }
    const Scaled variance = divided(sum_of(plain.centered, scaled.centered, 2), f64(plain.finite));
    const f64 root = __dsqrt_rn(variance.parts.high + variance.parts.low);
    const f64 odd = variance.scale % 2 == 0 ? 1 : from_bits<f64>(u64(1023 + 300) << 52);
    return value_of(normal({{__dmul_rn(root, odd), 0}, variance.scale / 2}));
}

template <typename T>
__device__ __forceinline__ T standardized(T value, const f64 *__restrict__ mean_and_deviation) {
    const f64 number = converted<f64>(value), mean = mean_and_deviation[0], deviation = mean_and_deviation[1];
    const f64 divisor = deviation == 0 ? 1 : deviation, difference = number - mean;
    f64 result = __ddiv_rn(difference, divisor);
    if (is_infinite(difference)) {
        result = __dmul_rn(2, __ddiv_rn(__dmul_rn(number, 0.5) - __dmul_rn(mean, 0.5), divisor));
    }
    return is_nan(number) ? value : converted<T>(plain_nan(result));
}

/// A thread takes groups of up to four values, and steps through the columns without dividing. With `COMPACT`, it takes
/// values one by one.
template <typename T>
__device__ __forceinline__ void standardize(T *values, size_t rows, size_t columns, int is_column_major,
                                            const f64 *__restrict__ means_and_deviations) {
    constexpr int VALUES = AT_ONCE == 1 ? 1 : 16 / sizeof(T) < 4 ? 16 / sizeof(T) : 4;
    const size_t count = rows * columns, line = is_column_major ? rows : columns;
    if (count == 0) {
        return;
    }
    const size_t misplaced = reinterpret_cast<size_t>(values) / sizeof(T) % VALUES;
    const size_t wanted = misplaced == 0 ? 0 : VALUES - misplaced, head = wanted < count ? wanted : count;
    const size_t groups = (count - head) / VALUES, grouped = groups * VALUES, step = index_step();
    Walk walk(head + first_index() * VALUES, step * VALUES, line);
    for (size_t group = first_index(); group < groups; group += step) {
        Group<T, VALUES> from, to;
        from.load(values + head + group * VALUES);
        to.clear();
        size_t outer = walk.outer, inner = walk.inner;
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            to.set(i, standardized(from.get(i), means_and_deviations + 2 * (is_column_major ? outer : inner)));
            if (++inner == line) {
                inner = 0;
                ++outer;
            }
        }
        to.store(values + head + group * VALUES);
        walk.advance();
    }
    if constexpr (VALUES > 1) { // before the first group, and behind the last one
        for (size_t single = first_index(); single < count - grouped; single += step) {
            const size_t place = single < head ? single : single + grouped;
            const size_t column = is_column_major ? place / line : place % line;
            values[place] = standardized(values[place], means_and_deviations + 2 * column);
        }
    }
}

} // namespace

/// `means_and_deviations(plain, scaled, columns, out)`: two numbers for each column.
extern "C" __global__ void __launch_bounds__(THREADS)
means_and_deviations(const Moments *__restrict__ plain, const Moments *__restrict__ scaled, size_t columns,
                     f64 *__restrict__ out) {
    for (size_t column = first_index(); column < columns; column += index_step()) {
        out[2 * column] = plain_nan(mean_of(plain[column], scaled[column]));
        out[2 * column + 1] = plain_nan(deviation_of(plain[column], scaled[column]));
    }
}

/// `standardize_T(values, rows, columns, is_column_major, means_and_deviations)`.
#define KERNEL(T) \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    standardize_##T(T *values, size_t rows, size_t columns, int is_column_major, \
                    const f64 *__restrict__ means_and_deviations) { \
        standardize(values, rows, columns, is_column_major, means_and_deviations); \
    }

KERNEL(f16)
KERNEL(bf16)
KERNEL(f32)
KERNEL(f64)
