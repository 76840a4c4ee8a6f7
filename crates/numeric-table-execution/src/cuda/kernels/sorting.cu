// Sorting, selecting and counting values of any type: a radix sort of indices by keys, copies of chosen values, and
// histograms.
//
// Every kernel takes blocks of `THREADS` threads in one dimension, any number of them, and no dynamic shared memory.
// Arrays are divided into parts of `span` values: each is the work of one block at a time. Results do not depend on it.
// Types are numbers, and pointers need the alignment of their elements only. Input and output must not overlap.
//
// The sort goes digit by digit, from the lowest: each digit has 8 bits. For each digit, `digit_counts` counts the
// digits of each part, `offsets` adds up the counts of the parts before, and `digit_scatter` moves keys and indices. It
// keeps the order of equal digits: so the sort is stable, and its result is the only one possible.
// Source: Satish, Harris, Garland 2009, "Designing efficient sorting algorithms for manycore GPUs"; ranks in a warp by
// matching, as in CUB.

namespace {

/// Values of a digit; keys of a thread, and of a block, that are moved together, of which a part has a multiple.
enum { DIGITS = 256, ITEMS = AT_ONCE == 1 ? 4 : 8, TILE = ITEMS * THREADS };
/// Values of a thread that are selected together.
enum { CHOICES = AT_ONCE };
/// Largest number of bins that a block counts in shared memory.
enum { LOCAL_BINS = 2048 };

template <typename K> __device__ __forceinline__ u32 digit_of(K key, u32 shift) { return u32(key >> shift) & 255u; }

/// The end of a part.
__device__ __forceinline__ size_t end_of(size_t part, size_t span, size_t count) {
    return count - part * span < span ? count : (part + 1) * span;
}

template <typename K>
__device__ __forceinline__ void sort_keys(const void *__restrict__ in, size_t count, u32 type, K *__restrict__ keys) {
    const Kind kind(type);
    for (size_t i = first_index(); i < count; i += index_step()) {
        keys[i] = K(sort_key(bits_at(in, i, kind.width), kind));
    }
}

template <typename K>
__device__ __forceinline__ void digit_counts(const K *__restrict__ keys, size_t count, u32 shift, size_t span,
                                             size_t parts, u64 *__restrict__ counts) {
    __shared__ u32 found[DIGITS];
    for (size_t part = blockIdx.x; part < parts; part += gridDim.x) {
        found[threadIdx.x] = 0;
        __syncthreads();
        const size_t end = end_of(part, span, count);
        for (size_t i = part * span + threadIdx.x; i < end; i += THREADS) {
            atomicAdd(found + digit_of(keys[i], shift), 1u);
        }
        __syncthreads();
        counts[threadIdx.x * parts + part] = found[threadIdx.x];
    }
}

template <typename K>
__device__ __forceinline__ void digit_scatter(const K *__restrict__ keys, const u64 *__restrict__ indices, size_t count,
                                              u32 shift, size_t span, size_t parts, const u64 *__restrict__ before,
                                              const u64 *__restrict__ totals, K *__restrict__ sorted_keys,
                                              u64 *__restrict__ sorted_indices) {
    __shared__ K tile_keys[TILE];
    __shared__ u64 tile_indices[TILE];
    __shared__ u32 ranks[WARPS][DIGITS]; // keys of each digit in a warp; then, in the warps before it
    __shared__ u32 starts[DIGITS]; // where those of a digit begin in the tile
    __shared__ u64 targets[DIGITS]; // where the next one of a digit goes
    __shared__ u64 of_warps[WARPS];
    const u32 warp = warp_of_thread();
    u64 all;
    for (size_t part = blockIdx.x; part < parts; part += gridDim.x) {
        targets[threadIdx.x] =
            sum_before(totals[threadIdx.x], of_warps, all) + before[threadIdx.x * parts + part];
        const size_t end = end_of(part, span, count);
        for (size_t first = part * span; first < end; first += TILE) {
            const u32 used = end - first < TILE ? u32(end - first) : u32(TILE);
#pragma unroll AT_ONCE
            for (u32 i = 0; i < WARPS; ++i) {
                ranks[i][threadIdx.x] = 0;
            }
            __syncthreads();

            // A warp takes a run of keys, one from each group of 32 lanes after the other, so that their order is that
            // of items, then lanes. Behind the end are keys with the last digit: they come after all others.
            K mine[ITEMS];
            u32 rank[ITEMS];
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) {
                const u32 place = (warp * ITEMS + i) * LANES + lane_of_thread();
                mine[i] = place < used ? keys[first + place] : K(~K(0));
            }
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) {
                const u32 digit = digit_of(mine[i], shift), peers = __match_any_sync(ALL_LANES, digit);
                const u32 earlier = __popc(peers & lanes_before()), found = ranks[warp][digit];
                __syncwarp();
                if (earlier == 0) {
                    ranks[warp][digit] = found + __popc(peers);
                }
                __syncwarp();
                rank[i] = found + earlier;
            }
            __syncthreads();

            u32 in_tile = 0;
#pragma unroll AT_ONCE
            for (u32 i = 0; i < WARPS; ++i) {
                const u32 found = ranks[i][threadIdx.x];
                ranks[i][threadIdx.x] = in_tile;
                in_tile += found;
            }
            starts[threadIdx.x] = u32(sum_before(in_tile, of_warps, all));
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) {
                const u32 digit = digit_of(mine[i], shift);
                const u32 slot = starts[digit] + ranks[warp][digit] + rank[i];
                const u32 place = (warp * ITEMS + i) * LANES + lane_of_thread();
                tile_keys[slot] = mine[i];
                tile_indices[slot] = place >= used ? 0 : indices == nullptr ? first + place : indices[first + place];
            }
            __syncthreads();

            // Neighbours in the tile are mostly neighbours in the output.
            for (u32 slot = threadIdx.x; slot < used; slot += THREADS) {
                const K key = tile_keys[slot];
                const u32 digit = digit_of(key, shift);
                const u64 to = targets[digit] + (slot - starts[digit]);
                sorted_indices[to] = tile_indices[slot];
                if (sorted_keys != nullptr) {
                    sorted_keys[to] = key;
                }
            }
            __syncthreads();
            targets[threadIdx.x] += in_tile;
        }
        __syncthreads();
    }
}

/// Whether a value is copied: by its flag, or, without flags, if it differs from the one before it.
__device__ __forceinline__ bool is_chosen(const void *__restrict__ in, const u8 *__restrict__ flags, size_t index,
                                          const Kind &kind) {
    if (flags != nullptr) {
        return flags[index] != 0;
    }
    return index == 0
        || sort_key(bits_at(in, index, kind.width), kind) != sort_key(bits_at(in, index - 1, kind.width), kind);
}

/// Returns a value as f64, as all conversions do.
__device__ __forceinline__ f64 number_at(const void *__restrict__ in, size_t index, u32 type) {
    switch (type) {
    case TYPE_F32: return converted<f64>(static_cast<const f32 *>(in)[index]);
    case TYPE_F64: return static_cast<const f64 *>(in)[index];
    case TYPE_I32: return converted<f64>(static_cast<const i32 *>(in)[index]);
    case TYPE_U32: return converted<f64>(static_cast<const u32 *>(in)[index]);
    case TYPE_I64: return converted<f64>(static_cast<const i64 *>(in)[index]);
    case TYPE_U64: return converted<f64>(static_cast<const u64 *>(in)[index]);
    case TYPE_I8: return converted<f64>(static_cast<const i8 *>(in)[index]);
    case TYPE_U8: return converted<f64>(static_cast<const u8 *>(in)[index]);
    case TYPE_I16: return converted<f64>(static_cast<const i16 *>(in)[index]);
    case TYPE_U16: return converted<f64>(static_cast<const u16 *>(in)[index]);
    case TYPE_F16: return converted<f64>(static_cast<const f16 *>(in)[index]);
    default: return converted<f64>(static_cast<const bf16 *>(in)[index]);
    }
}

} // namespace

/// `sort_keys_W(in, count, type, keys)`: the numbers that values are sorted by, in 4 bytes, or in 8 for values of 8.
///
/// `digit_counts_W(keys, count, shift, span, parts, counts)`: how often each digit, the 8 bits from `shift` on, is in
/// each part. `counts` has a row for each digit: one number for each part. `span` is below 2^32.
///
/// `digit_scatter_W(keys, indices, count, shift, span, parts, before, totals, sorted_keys, sorted_indices)`: sorts by
/// one digit. `span` is a multiple of 2048, except in the only part; `before` and `totals` are what `offsets` makes of the
/// counts. Without `indices`, they are 0, 1, 2 and so on. Without `sorted_keys`, keys are not written.
#define KERNELS(type, width) \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    sort_keys_##width(const void *__restrict__ in, size_t count, u32 kind, type *__restrict__ keys) { \
        sort_keys(in, count, kind, keys); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    digit_counts_##width(const type *__restrict__ keys, size_t count, u32 shift, size_t span, size_t parts, \
                         u64 *__restrict__ counts) { \
        digit_counts(keys, count, shift, span, parts, counts); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    digit_scatter_##width(const type *__restrict__ keys, const u64 *__restrict__ indices, size_t count, u32 shift, \
                          size_t span, size_t parts, const u64 *__restrict__ before, \
                          const u64 *__restrict__ totals, type *__restrict__ sorted_keys, \
                          u64 *__restrict__ sorted_indices) { \
        digit_scatter(keys, indices, count, shift, span, parts, before, totals, sorted_keys, sorted_indices); \
    }
KERNELS(u32, 4)
KERNELS(u64, 8)

/// `offsets(counts, rows, parts, totals)`: replaces each count of a row by the sum of those before it in the row, and
/// writes the sum of each row.
extern "C" __global__ void __launch_bounds__(THREADS)
offsets(u64 *__restrict__ counts, size_t rows, size_t parts, u64 *__restrict__ totals) {
    __shared__ u64 of_warps[WARPS];
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        u64 sum = 0;
        for (size_t first = 0; first < parts; first += THREADS) {
            const size_t part = first + threadIdx.x;
            u64 all;
            const u64 before = sum_before(part < parts ? counts[row * parts + part] : 0, of_warps, all);
            if (part < parts) {
                counts[row * parts + part] = sum + before;
            }
            sum += all;
        }
        if (threadIdx.x == 0) {
            totals[row] = sum;
        }
    }
}

/// `select_counts(in, flags, count, type, span, parts, counts)`: the number of chosen values of each part: those whose
/// flag is not 0; without flags, those that differ from the value before them.
extern "C" __global__ void __launch_bounds__(THREADS)
select_counts(const void *__restrict__ in, const u8 *__restrict__ flags, size_t count, u32 type, size_t span,
              size_t parts, u64 *__restrict__ counts) {
    __shared__ u64 of_warps[WARPS];
    const Kind kind(type);
    for (size_t part = blockIdx.x; part < parts; part += gridDim.x) {
        const size_t end = end_of(part, span, count);
        u64 found = 0, all;
        for (size_t i = part * span + threadIdx.x; i < end; i += THREADS) {
            found += is_chosen(in, flags, i, kind);
        }
        sum_before(found, of_warps, all);
        if (threadIdx.x == 0) {
            counts[part] = all;
        }
    }
}

/// `select_copy(in, flags, count, type, span, parts, before, out, room)`: copies the chosen values in their order:
/// those of a part to the places from `before` on, which `offsets` makes of the counts, and none beyond `room`.
extern "C" __global__ void __launch_bounds__(THREADS)
select_copy(const void *__restrict__ in, const u8 *__restrict__ flags, size_t count, u32 type, size_t span,
            size_t parts, const u64 *__restrict__ before, void *__restrict__ out, size_t room) {
    __shared__ u64 of_warps[WARPS];
    const Kind kind(type);
    for (size_t part = blockIdx.x; part < parts; part += gridDim.x) {
        const size_t end = end_of(part, span, count);
        u64 target = before[part];
        for (size_t first = part * span; first < end; first += CHOICES * THREADS) {
            // The values of a warp follow one another, as in the sort.
            u32 chosen[CHOICES], found = 0;
#pragma unroll
            for (u32 i = 0; i < CHOICES; ++i) {
                const size_t place = first + (warp_of_thread() * CHOICES + i) * LANES + lane_of_thread();
                chosen[i] = __ballot_sync(ALL_LANES, place < end && is_chosen(in, flags, place, kind));
                found += __popc(chosen[i]);
            }
            u64 all;
            // All lanes have the count of their warp: one of them adds it.
            u64 to = sum_before(lane_of_thread() == 0 ? found : 0, of_warps, all);
            to = target + to - (lane_of_thread() == 0 ? 0 : found);
#pragma unroll
            for (u32 i = 0; i < CHOICES; ++i) {
                const size_t place = first + (warp_of_thread() * CHOICES + i) * LANES + lane_of_thread();
                const u64 own = to + __popc(chosen[i] & lanes_before());
                if ((chosen[i] >> lane_of_thread() & 1u) != 0 && own < room) {
                    set_bits(out, own, kind.width, bits_at(in, place, kind.width));
                }
                to += __popc(chosen[i]);
            }
            target += all;
        }
    }
}

/// `histogram(in, count, type, edges, bins, counts)`: adds the number of values from each of `bins + 1` ascending edges
/// on and below the next one to `counts`; the last bin also has those that are the last edge. A block must have less
/// than 2^32 values.
extern "C" __global__ void __launch_bounds__(THREADS)
histogram(const void *__restrict__ in, size_t count, u32 type, const f64 *__restrict__ edges, size_t bins,
          u64 *__restrict__ counts) {
    __shared__ u32 local[LOCAL_BINS];
    const bool is_local = bins <= LOCAL_BINS;
    for (u32 bin = threadIdx.x; is_local && bin < bins; bin += THREADS) {
        local[bin] = 0;
    }
    __syncthreads();
    for (size_t i = first_index(); i < count; i += index_step()) {
        const f64 value = number_at(in, i, type);
        // The number of edges up to the value: none for NaN.
        size_t low = 0, high = bins + 1;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (edges[middle] <= value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        const size_t bin = value == edges[bins] ? bins : low;
        if (bin == 0 || bin > bins) {
            continue;
        }
        if (is_local) {
            atomicAdd(local + (bin - 1), 1u);
        } else {
            atomicAdd(counts + (bin - 1), u64(1));
        }
    }
    __syncthreads();
    for (u32 bin = threadIdx.x; is_local && bin < bins; bin += THREADS) {
        if (local[bin] != 0) {
            atomicAdd(counts + bin, u64(local[bin]));
        }
    }
}
