// Reductions and scans of values of any type: sums, minima and maxima.
//
// The order of additions is fixed, so that results are the same for any number of blocks, and those of the CPU, bit for
// bit: 16 values that follow one another are a run, 16 runs a group, and 16 groups a block, of 4096 values; 256 blocks
// are a range. Runs add up their values, groups the sums of their runs, and so on, each in order, beginning with 0. A
// total of a scan is (that of the ranges before) + ((that of the blocks before, in the range) + (... + that of the values
// in the run)).
//
// Sums of f16, bf16 and f32 are kept as f32, those of f64 as f64; a sum that is NaN becomes the NaN that Rust has as a
// constant. Everything else is kept as 64 bits: sums of integers modulo 2^64, of which the lowest bits count, and
// minima and maxima as numbers of the same order; NaN is ignored.
//
// Every kernel takes blocks of `THREADS` threads in one dimension, any number of them, and no dynamic shared memory.

namespace {

/// Values of a run, runs of a group, groups of a block; values of a block.
enum { RUN = 16, BLOCK = RUN * RUN * RUN };
enum { SUM = 0, MINIMUM = 1, MAXIMUM = 2 };

/// Where a value lies in shared memory, so that threads that read a run each do not wait for one another.
__device__ __forceinline__ u32 padded(u32 index) { return index + index / RUN; }
enum { PADDED_BLOCK = BLOCK + BLOCK / RUN, PADDED_RUNS = THREADS + THREADS / RUN };

/// What a reduction of nothing is, which changes nothing that it is combined with.
template <typename A> __device__ __forceinline__ A nothing(u32 operation) {
    return A(operation == MINIMUM ? ~u64(0) : 0);
}
template <> __device__ __forceinline__ f32 nothing<f32>(u32) { return 0; }
template <> __device__ __forceinline__ f64 nothing<f64>(u32) { return 0; }

__device__ __forceinline__ f32 combined(f32 one, f32 other, u32) { return one + other; }
__device__ __forceinline__ f64 combined(f64 one, f64 other, u32) { return one + other; }
__device__ __forceinline__ u64 combined(u64 one, u64 other, u32 operation) {
    if (operation == SUM) {
        return one + other;
    }
    return (operation == MINIMUM) == (other < one) ? other : one;
}

/// Returns a value as it is kept.
template <typename A>
__device__ __forceinline__ A taken(const void *__restrict__ in, size_t index, u32 type, u32 operation) {
    const Kind kind(type);
    const u64 bits = bits_at(in, index, kind.width);
    if (operation == SUM) {
        return bits;
    }
    return kind.is_nan(bits) ? nothing<u64>(operation) : ordered(bits, kind);
}
template <> __device__ __forceinline__ f64 taken<f64>(const void *__restrict__ in, size_t index, u32, u32) {
    return static_cast<const f64 *>(in)[index];
}
template <> __device__ __forceinline__ f32 taken<f32>(const void *__restrict__ in, size_t index, u32 type, u32) {
    switch (type) {
    case TYPE_F16: return widened(static_cast<const f16 *>(in)[index]);
    case TYPE_BF16: return widened(static_cast<const bf16 *>(in)[index]);
    default: return static_cast<const f32 *>(in)[index];
    }
}

/// Writes a result as a value.
__device__ __forceinline__ void give(u64 result, void *__restrict__ out, size_t index, u32 type, u32 operation) {
    const Kind kind(type);
    if (operation != SUM) {
        // Of nothing: the last value of the type, or an infinity.
        const u64 top = kind.is_float ? kind.infinity | kind.sign : kind.mask();
        const u64 bottom = kind.is_float ? ~(kind.infinity | kind.sign) & kind.mask() : 0;
        result = result > top ? top : result < bottom ? bottom : result;
        result = unordered(result, kind);
    }
    set_bits(out, index, kind.width, result);
}
__device__ __forceinline__ void give(f64 result, void *__restrict__ out, size_t index, u32, u32) {
    static_cast<f64 *>(out)[index] = is_nan(result) ? from_bits<f64>(0x7FF8000000000000ull) : result;
}
__device__ __forceinline__ void give(f32 result, void *__restrict__ out, size_t index, u32 type, u32) {
    result = is_nan(result) ? from_bits<f32>(0x7FC00000u) : result;
    switch (type) {
    case TYPE_F16: static_cast<f16 *>(out)[index] = narrowed<f16>(result); break;
    case TYPE_BF16: static_cast<bf16 *>(out)[index] = narrowed<bf16>(result); break;
    default: static_cast<f32 *>(out)[index] = result;
    }
}

/// Values of a block, and the sums of its runs and groups, in shared memory.
template <typename A> struct Block {
    A values[PADDED_BLOCK];
    A runs[PADDED_RUNS];
    A groups[RUN];

    /// Loads the values of a block; behind the last one, those that change nothing. Then adds up the runs. All threads
    /// of the block must call it, and none may still use what is replaced, except for groups.
    __device__ __forceinline__ void load(const void *__restrict__ in, size_t first, size_t count, u32 type,
                                         u32 operation) {
#pragma unroll AT_ONCE
        for (u32 i = 0; i < RUN; ++i) {
            const u32 place = i * THREADS + threadIdx.x;
            values[padded(place)] = first + place < count ? taken<A>(in, first + place, type, operation)
                                                           : nothing<A>(operation);
        }
        __syncthreads();
        A sum = nothing<A>(operation);
#pragma unroll AT_ONCE
        for (u32 i = 0; i < RUN; ++i) {
            sum = combined(sum, values[padded(threadIdx.x * RUN + i)], operation);
        }
        runs[padded(threadIdx.x)] = sum;
        __syncthreads();
    }

    /// Adds up a number of results, which are padded if they are those of runs; replaces each by the sum of those
    /// before it.
    __device__ __forceinline__ static A add_up(A *results, u32 operation) {
        A sum = nothing<A>(operation);
#pragma unroll AT_ONCE
        for (u32 i = 0; i < RUN; ++i) {
            const A result = results[i];
            results[i] = sum;
            sum = combined(sum, result, operation);
        }
        return sum;
    }
};

template <typename A>
__device__ __forceinline__ void reduce(const void *__restrict__ in, size_t count, u32 type, u32 operation,
                                       A *__restrict__ sums) {
    __shared__ Block<A> block;
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    for (size_t index = blockIdx.x; index < blocks; index += gridDim.x) {
        block.load(in, index * BLOCK, count, type, operation);
        if (threadIdx.x < RUN) {
            block.groups[threadIdx.x] = block.add_up(block.runs + threadIdx.x * (RUN + 1), operation);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            sums[index] = block.add_up(block.groups, operation);
        }
    }
}

template <typename A>
__device__ __forceinline__ void combine(const A *__restrict__ sums, size_t count, size_t range, u32 operation,
                                        A *__restrict__ before, A *__restrict__ totals) {
    __shared__ A values[THREADS], of_earlier[THREADS];
    const size_t ranges = (count + range - 1) / range;
    for (size_t index = blockIdx.x; index < ranges; index += gridDim.x) {
        const size_t end = count - index * range < range ? count : (index + 1) * range;
        A sum = nothing<A>(operation); // of the first thread
        for (size_t first = index * range; first < end; first += THREADS) {
            const size_t place = first + threadIdx.x;
            values[threadIdx.x] = place < end ? sums[place] : nothing<A>(operation);
            __syncthreads();
            if (threadIdx.x == 0) {
#pragma unroll AT_ONCE
                for (u32 i = 0; i < THREADS; ++i) {
                    of_earlier[i] = sum;
                    sum = combined(sum, values[i], operation);
                }
            }
            __syncthreads();
            if (before != nullptr && place < end) {
                before[place] = of_earlier[threadIdx.x];
            }
        }
        if (threadIdx.x == 0) {
            totals[index] = sum;
        }
    }
}

template <typename A>
__device__ __forceinline__ void scan(const void *__restrict__ in, size_t count, u32 type, u32 operation,
                                     int is_exclusive, const A *__restrict__ before,
                                     const A *__restrict__ before_range, size_t range, void *__restrict__ out) {
    __shared__ Block<A> block;
    const size_t blocks = (count + BLOCK - 1) / BLOCK;
    for (size_t index = blockIdx.x; index < blocks; index += gridDim.x) {
        block.load(in, index * BLOCK, count, type, operation);
        if (threadIdx.x < RUN) {
            block.groups[threadIdx.x] = block.add_up(block.runs + threadIdx.x * (RUN + 1), operation);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            block.add_up(block.groups, operation);
        }
        __syncthreads();
        const A of_runs = block.runs[padded(threadIdx.x)], of_groups = block.groups[threadIdx.x / RUN];
        const A of_blocks = before[index], of_ranges = before_range[index / range];
        A sum = nothing<A>(operation);
#pragma unroll AT_ONCE
        for (u32 i = 0; i < RUN; ++i) {
            A &place = block.values[padded(threadIdx.x * RUN + i)];
            const A next = combined(sum, place, operation);
            A total = combined(of_runs, is_exclusive ? sum : next, operation);
            total = combined(of_groups, total, operation);
            total = combined(of_blocks, total, operation);
            place = combined(of_ranges, total, operation);
            sum = next;
        }
        __syncthreads();
#pragma unroll AT_ONCE
        for (u32 i = 0; i < RUN; ++i) {
            const u32 place = i * THREADS + threadIdx.x;
            if (index * BLOCK + place < count) {
                give(block.values[padded(place)], out, index * BLOCK + place, type, operation);
            }
        }
        __syncthreads();
    }
}

} // namespace

/// Each is there for results that are kept as 64 bits, `words`, as `f32` and as `f64`. `operation`: 0 is a sum, 1 the
/// minimum, 2 the maximum.
///
/// `reduce_A(in, count, type, operation, sums)`: the sum of each block of 4096 values.
///
/// `combine_A(sums, count, range, operation, before, totals)`: of each range of `range` sums, the sum of those before
/// each, if `before` is not null, and that of all.
///
/// `scan_A(in, count, type, operation, is_exclusive, before, before_range, range, out)`: the total up to each value,
/// with or without it. `before` has the sum of the blocks before each in its range of `range` blocks, `before_range`
/// that of the ranges before.
#define KERNELS(type, name) \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    reduce_##name(const void *__restrict__ in, size_t count, u32 kind, u32 operation, type *__restrict__ sums) { \
        reduce(in, count, kind, operation, sums); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    combine_##name(const type *__restrict__ sums, size_t count, size_t range, u32 operation, \
                   type *__restrict__ before, type *__restrict__ totals) { \
        combine(sums, count, range, operation, before, totals); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    scan_##name(const void *__restrict__ in, size_t count, u32 kind, u32 operation, int is_exclusive, \
                const type *__restrict__ before, const type *__restrict__ before_range, size_t range, \
                void *__restrict__ out) { \
        scan(in, count, kind, operation, is_exclusive, before, before_range, range, out); \
    }
KERNELS(u64, words)
KERNELS(f32, f32)
KERNELS(f64, f64)
