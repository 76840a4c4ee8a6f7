// Values as unsigned numbers of the same order, types that are known at run time only, and sums over the threads of a
// block.
#ifndef NUMERIC_TABLE_ORDER
#define NUMERIC_TABLE_ORDER

enum { LANES = 32, WARPS = THREADS / LANES };
#define ALL_LANES 0xFFFFFFFFu

/// Element types, by their numbers: `ElementType::id`.
enum {
    TYPE_F32 = 0, TYPE_F64 = 1, TYPE_I32 = 2, TYPE_U32 = 3, TYPE_I64 = 4, TYPE_U64 = 5, TYPE_I8 = 6, TYPE_U8 = 7,
    TYPE_I16 = 8, TYPE_U16 = 9, TYPE_F16 = 16, TYPE_BF16 = 17,
};

/// What is known of an element type. All threads have the same one, so that a branch on it costs little.
struct Kind {
    u32 width; // in bytes
    bool is_float, is_signed; // signed: of integers
    u64 sign; // the highest bit
    u64 infinity; // the bits of infinity, of a float

    __device__ __forceinline__ explicit Kind(u32 type) {
        width = type == TYPE_I8 || type == TYPE_U8 ? 1 : type >= TYPE_I16 ? 2 : 4;
        width = type == TYPE_F64 || type == TYPE_I64 || type == TYPE_U64 ? 8 : width;
        is_float = type <= TYPE_F64 || type >= TYPE_F16;
        is_signed = !is_float && type % 2 == 0;
        sign = u64(1) << (8 * width - 1);
        infinity = type == TYPE_F32 ? 0x7F800000ull : type == TYPE_F16 ? 0x7C00ull : 0x7F80ull;
        infinity = type == TYPE_F64 ? 0x7FF0000000000000ull : infinity;
    }

    /// All bits of a value.
    __device__ __forceinline__ u64 mask() const { return sign | (sign - 1); }

    __device__ __forceinline__ bool is_nan(u64 bits) const { return is_float && (bits & (sign - 1)) > infinity; }
};

/// Returns the bits of a value; the others are 0.
__device__ __forceinline__ u64 bits_at(const void *__restrict__ values, size_t index, u32 width) {
    switch (width) {
    case 1: return static_cast<const u8 *>(values)[index];
    case 2: return static_cast<const u16 *>(values)[index];
    case 4: return static_cast<const u32 *>(values)[index];
    default: return static_cast<const u64 *>(values)[index];
    }
}

/// Sets a value to the lowest bits.
__device__ __forceinline__ void set_bits(void *__restrict__ values, size_t index, u32 width, u64 bits) {
    switch (width) {
    case 1: static_cast<u8 *>(values)[index] = u8(bits); break;
    case 2: static_cast<u16 *>(values)[index] = u16(bits); break;
    case 4: static_cast<u32 *>(values)[index] = u32(bits); break;
    default: static_cast<u64 *>(values)[index] = bits;
    }
}

/// Returns a number that is smaller than that of another value exactly if the value is: -0 is below 0, and NaN is
/// below all numbers, or above.
__device__ __forceinline__ u64 ordered(u64 bits, const Kind &kind) {
    if (kind.is_float) {
        return bits & kind.sign ? ~bits & kind.mask() : bits | kind.sign;
    }
    return kind.is_signed ? bits ^ kind.sign : bits;
}

/// Returns the bits of the value of a number that `ordered` has returned.
__device__ __forceinline__ u64 unordered(u64 number, const Kind &kind) {
    if (kind.is_float) {
        return number & kind.sign ? number ^ kind.sign : ~number & kind.mask();
    }
    return kind.is_signed ? number ^ kind.sign : number;
}

/// Returns the number that a value is sorted by: as `ordered`, but -0 is equal to 0, and NaNs are equal to one another
/// and above all numbers.
__device__ __forceinline__ u64 sort_key(u64 bits, const Kind &kind) {
    if (kind.is_nan(bits)) {
        return kind.mask();
    }
    return ordered(kind.is_float && bits == kind.sign ? 0 : bits, kind);
}

__device__ __forceinline__ u32 lane_of_thread() { return threadIdx.x % LANES; }
__device__ __forceinline__ u32 warp_of_thread() { return threadIdx.x / LANES; }

/// The lanes before that of this thread.
__device__ __forceinline__ u32 lanes_before() { return (1u << lane_of_thread()) - 1; }

/// Returns the sum of the numbers of the threads before this one, and that of all. All threads of a block must call it;
/// `of_warps` has room for `WARPS` numbers in shared memory. Threads have waited for one another when it returns.
__device__ __forceinline__ u64 sum_before(u64 mine, u64 *of_warps, u64 &all) {
    u64 sum = mine;
#pragma unroll AT_ONCE
    for (u32 step = 1; step < LANES; step *= 2) {
        const u64 other = __shfl_up_sync(ALL_LANES, sum, step);
        sum += lane_of_thread() >= step ? other : 0;
    }
    if (lane_of_thread() == LANES - 1) {
        of_warps[warp_of_thread()] = sum;
    }
    __syncthreads();
    u64 before = sum - mine;
    all = 0;
#pragma unroll AT_ONCE
    for (u32 warp = 0; warp < WARPS; ++warp) {
        const u64 of_warp = of_warps[warp];
        before += warp < warp_of_thread() ? of_warp : 0;
        all += of_warp;
    }
    __syncthreads();
    return before;
}

#endif
