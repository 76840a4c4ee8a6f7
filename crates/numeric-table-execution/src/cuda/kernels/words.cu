// Several values at a time, places in a table without divisions, and the report of a refused value.
#ifndef NUMERIC_TABLE_WORDS
#define NUMERIC_TABLE_WORDS

/// Number of threads of a block: every kernel is written for it.
#define THREADS 256

// How many loads a thread has under way, and the largest number of values in a group. `COMPACT` is for units that are
// compiled in advance and kept: a third of the code, the same results, a little less of the bandwidth.
#ifdef COMPACT
enum { AT_ONCE = 1, MOST_VALUES = 4 };
#else
enum { AT_ONCE = 4, MOST_VALUES = 16 };
#endif

struct alignas(16) FourWords { u32 a, b, c, d; };
struct alignas(8) TwoWords { u32 a, b; };

/// Values that are loaded and stored together: `COUNT` values in 1, 2, 4, 8 or 16 bytes. In the registers, words.
template <typename T, int COUNT> struct Group {
    enum { BYTES = COUNT * int(sizeof(T)) };
    static_assert(BYTES == 1 || BYTES == 2 || BYTES == 4 || BYTES == 8 || BYTES == 16, "no such access");
    u32 words[BYTES < 4 ? 1 : BYTES / 4];

    /// The address must be a multiple of `BYTES`.
    __device__ __forceinline__ void load(const T *from) {
        if constexpr (BYTES == 16) {
            const FourWords all = *reinterpret_cast<const FourWords *>(from);
            words[0] = all.a, words[1] = all.b, words[2] = all.c, words[3] = all.d;
        } else if constexpr (BYTES == 8) {
            const TwoWords all = *reinterpret_cast<const TwoWords *>(from);
            words[0] = all.a, words[1] = all.b;
        } else if constexpr (BYTES == 4) {
            words[0] = *reinterpret_cast<const u32 *>(from);
        } else if constexpr (BYTES == 2) {
            words[0] = *reinterpret_cast<const u16 *>(from);
        } else {
            words[0] = *reinterpret_cast<const u8 *>(from);
        }
    }

    __device__ __forceinline__ void store(T *to) const {
        if constexpr (BYTES == 16) {
            *reinterpret_cast<FourWords *>(to) = FourWords{words[0], words[1], words[2], words[3]};
        } else if constexpr (BYTES == 8) {
            *reinterpret_cast<TwoWords *>(to) = TwoWords{words[0], words[1]};
        } else if constexpr (BYTES == 4) {
            *reinterpret_cast<u32 *>(to) = words[0];
        } else if constexpr (BYTES == 2) {
            *reinterpret_cast<u16 *>(to) = u16(words[0]);
        } else {
            *reinterpret_cast<u8 *>(to) = u8(words[0]);
        }
    }

    /// `index` must be known to the compiler, so that the words stay in registers.
    __device__ __forceinline__ T get(int index) const {
        typedef typename Element<T>::Bits Bits;
        if constexpr (sizeof(T) == 8) {
            return from_bits<T>(words[2 * index] | u64(words[2 * index + 1]) << 32);
        } else {
            constexpr int IN_WORD = 4 / sizeof(T), WIDTH = 8 * sizeof(T);
            return from_bits<T>(Bits(words[index / IN_WORD] >> index % IN_WORD * WIDTH));
        }
    }

    /// Sets each value once, after `clear`.
    __device__ __forceinline__ void set(int index, T value) {
        if constexpr (sizeof(T) == 8) {
            const u64 bits = bits_of(value);
            words[2 * index] = u32(bits);
            words[2 * index + 1] = u32(bits >> 32);
        } else {
            constexpr int IN_WORD = 4 / sizeof(T), WIDTH = 8 * sizeof(T);
            words[index / IN_WORD] |= u32(bits_of(value)) << index % IN_WORD * WIDTH;
        }
    }

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 &word : words) {
            word = 0;
        }
    }
};

/// Whether an address is a multiple of a power of two.
__device__ __forceinline__ bool is_aligned(const void *address, size_t bytes) {
    return (reinterpret_cast<size_t>(address) & (bytes - 1)) == 0;
}

/// The index of this thread in the grid, and the number of threads.
__device__ __forceinline__ size_t first_index() { return size_t(blockIdx.x) * THREADS + threadIdx.x; }
__device__ __forceinline__ size_t index_step() { return size_t(gridDim.x) * THREADS; }

/// Places of a table in the order of an inner axis: what a thread steps through without dividing.
struct Walk {
    size_t outer, inner;
    size_t inner_count, outer_step, inner_step;

    /// The first place is the one of `index`, and each step goes on by `step`.
    __device__ __forceinline__ Walk(size_t index, size_t step, size_t count) : inner_count(count) {
        outer = index / count, inner = index % count;
        outer_step = step / count, inner_step = step % count;
    }

    __device__ __forceinline__ void advance() {
        outer += outer_step;
        inner += inner_step;
        if (inner >= inner_count) {
            inner -= inner_count;
            ++outer;
        }
    }
};

/// Division of numbers as a multiplication: the product of a number and the divisor is less than 2^31. The factor is
/// too large by at most 1, which adds at most 2^-31 of the number to a quotient: less than the divisor's reciprocal.
struct Divisor {
    u32 divisor, factor;

    __device__ __forceinline__ explicit Divisor(u32 by) : divisor(by), factor((1u << 31) / by + 1) {}
    __device__ __forceinline__ u32 quotient(u32 number) const { return __umulhi(2 * number, factor); }
};

/// Keeps a compiler from making two copies of a loop, one of them for policy 0: so that the code has half the size.
/// The test that is left costs nothing beside the accesses.
__device__ __forceinline__ void keep(int &policy) { asm volatile("" : "+r"(policy)); }

/// Records that the value at an index was refused: `refused` keeps the smallest. It is read first, so that millions of
/// refused values do not wait for one another.
__device__ __forceinline__ void refuse(u64 index, u64 *refused) {
    if (index < *static_cast<volatile u64 *>(refused)) {
        atomicMin(refused, index);
    }
}

#endif
