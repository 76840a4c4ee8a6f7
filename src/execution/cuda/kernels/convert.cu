// Conversion of values from one element type to another. Included once for each pair of types.
//
// `SOURCE` and `TARGET` are the types, and `ENTRY(name)` is the name of a kernel for them. Arguments:
// - `policy`: 0 saturates, 1 checks, 2 is exact;
// - `refused`: the smallest index, in row-major order, of a value that the policy refuses. It must hold ULLONG_MAX
//   before, and holds that afterwards if none is. Every value is written, refused ones as policy 0 does. With policy 0
//   it is neither read nor written.
// Input and output must not overlap. Pointers need the alignment of their elements only. Every kernel takes blocks of
// `THREADS` threads in one dimension, any number of them, and no dynamic shared memory. Strides are in values.

#ifndef NUMERIC_TABLE_CONVERT
#define NUMERIC_TABLE_CONVERT

/// Converts a value, and reports it if it is refused.
template <typename T, typename S>
__device__ __forceinline__ T checked(S value, size_t index, int policy, u64 *refused) {
    const T result = converted<T>(value);
    if constexpr (!Pair<S, T>::LOSSLESS) {
        if (policy > int(Pair<S, T>::FITS) && refuses(value, result, policy)) {
            refuse(index, refused);
        }
    }
    return result;
}

/// Contiguous values. Groups of values are loaded and stored whole, so that each access of a warp is contiguous: the
/// wider type has 16 bytes in a group. Values that are in no group, the first ones until both sides are aligned and the
/// last ones, are converted one by one; all are, if the sides are not aligned for the same groups.
template <typename S, typename T>
__device__ __forceinline__ void convert_all(const S *__restrict__ in, T *__restrict__ out, size_t count, int policy,
                                            u64 *refused) {
    constexpr int WIDEST = sizeof(S) > sizeof(T) ? sizeof(S) : sizeof(T);
    constexpr int VALUES = 16 / WIDEST < MOST_VALUES ? 16 / WIDEST : MOST_VALUES;
    constexpr int GROUPS = WIDEST < 4 && AT_ONCE > 2 ? 2 : AT_ONCE;
    typedef Group<S, VALUES> From;
    typedef Group<T, VALUES> To;

    const size_t misplaced = reinterpret_cast<size_t>(out) / sizeof(T) % VALUES;
    size_t head = misplaced == 0 ? 0 : VALUES - misplaced;
    if (head > count || !is_aligned(in + head, From::BYTES)) {
        head = count;
    }
    const size_t groups = (count - head) / VALUES;
    for (size_t block = size_t(blockIdx.x) * GROUPS * THREADS; block < groups;
         block += size_t(gridDim.x) * GROUPS * THREADS) {
        keep(policy);
        From from[GROUPS];
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const size_t group = block + g * THREADS + threadIdx.x;
            // Behind the last group, the last one again: loads without a branch are all under way at once.
            from[g].load(in + head + (group < groups ? group : groups - 1) * VALUES);
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const size_t group = block + g * THREADS + threadIdx.x, first = head + group * VALUES;
            To to;
            to.clear();
#pragma unroll
            for (int i = 0; i < VALUES; ++i) {
                to.set(i, converted<T>(from[g].get(i)));
            }
            if (group >= groups) {
                continue;
            }
            to.store(out + first);
            if constexpr (!Pair<S, T>::LOSSLESS) {
                if (policy > int(Pair<S, T>::FITS)) {
                    // From the last one to the first one, so that the first one stays.
                    int found = VALUES;
#pragma unroll
                    for (int i = VALUES - 1; i >= 0; --i) {
                        found = refuses(from[g].get(i), to.get(i), policy) ? i : found;
                    }
                    if (found < VALUES) {
                        refuse(first + found, refused);
                    }
                }
            }
        }
    }
    const size_t grouped = groups * VALUES, singles = count - grouped, step = index_step();
    for (size_t single = first_index(); single < singles; single += AT_ONCE * step) {
        keep(policy);
        S values[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const size_t wanted = single + i * step, place = wanted < singles ? wanted : single;
            values[i] = in[place < head ? place : place + grouped];
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const size_t wanted = single + i * step, index = wanted < head ? wanted : wanted + grouped;
            if (wanted < singles) {
                out[index] = checked<T>(values[i], index, policy, refused);
            }
        }
    }
}

/// Tables with any strides. Threads go along the axis on which the output's values are closer to one another.
template <typename S, typename T>
__device__ __forceinline__ void convert_places(const S *__restrict__ in, i64 in_row_stride, i64 in_column_stride,
                                               T *__restrict__ out, i64 out_row_stride, i64 out_column_stride,
                                               size_t rows, size_t columns, int policy, u64 *refused) {
    const size_t count = rows * columns;
    if (count == 0) {
        return;
    }
    const u64 row_distance = out_row_stride < 0 ? 0 - u64(out_row_stride) : u64(out_row_stride);
    const u64 column_distance = out_column_stride < 0 ? 0 - u64(out_column_stride) : u64(out_column_stride);
    const bool along_rows = columns > 1 && (column_distance <= row_distance || rows == 1);
    const i64 in_outer = along_rows ? in_row_stride : in_column_stride;
    const i64 in_inner = along_rows ? in_column_stride : in_row_stride;
    const i64 out_outer = along_rows ? out_row_stride : out_column_stride;
    const i64 out_inner = along_rows ? out_column_stride : out_row_stride;
    const size_t step = index_step();
    Walk walk(first_index(), step, along_rows ? columns : rows);
    for (size_t first = first_index(); first < count; first += AT_ONCE * step) {
        keep(policy);
        S values[AT_ONCE];
        i64 places[AT_ONCE];
        u64 indices[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                values[i] = in[i64(walk.outer) * in_outer + i64(walk.inner) * in_inner];
                places[i] = i64(walk.outer) * out_outer + i64(walk.inner) * out_inner;
                indices[i] = along_rows ? walk.outer * columns + walk.inner : walk.inner * columns + walk.outer;
            }
            walk.advance();
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                out[places[i]] = checked<T>(values[i], indices[i], policy, refused);
            }
        }
    }
}

/// Number of values of a tile in shared memory, those between its lines included.
#define TILE_ROOM 4352

/// From row-major to column-major order, by tiles in shared memory. A tile has all columns of a narrow table, all rows
/// of a short one, and otherwise up to 64 columns of 64 rows: so both sides are read and written in long runs.
///
/// A line of a tile is an odd number of values apart from the next, so that threads along a column access different
/// banks. Values of one or two bytes are loaded and stored by words where a word of them is contiguous and aligned.
template <typename S, typename T>
__device__ __forceinline__ void convert_tiles(const S *__restrict__ in, T *__restrict__ out, size_t rows,
                                              size_t columns, int policy, u64 *refused) {
    constexpr u32 WIDEST = sizeof(S) > sizeof(T) ? sizeof(S) : sizeof(T);
    constexpr u32 LOADED = WIDEST < 4 && AT_ONCE > 1 ? 4 / WIDEST : 1, STORED = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    alignas(8) __shared__ unsigned char room[TILE_ROOM * sizeof(T)];
    T *const tile = reinterpret_cast<T *>(room);
    if (rows == 0 || columns == 0) {
        return;
    }

    u32 height = 64, width = 64;
    if (columns <= 64) {
        width = u32(columns);
        height = TILE_ROOM / (width | 1) / 32 * 32;
        height = rows < height ? u32(rows) : height;
    } else if (rows <= 64) {
        height = u32(rows);
        const u32 fits = (TILE_ROOM / height - 1) / 32 * 32;
        width = columns < fits ? u32(columns) : fits;
    } else {
        const size_t bands = (columns + 63) / 64;
        width = u32((columns + bands - 1) / bands + 3) / 4 * 4; // words of bytes begin at multiples of four
    }
    const u32 pitch = width | 1;
    const size_t across = (columns + width - 1) / width, tiles = (rows + height - 1) / height * across;
    for (Walk walk(blockIdx.x, gridDim.x, across); walk.outer * across + walk.inner < tiles; walk.advance()) {
        const size_t row = walk.outer * height, column = walk.inner * width;
        const u32 high = rows - row < height ? u32(rows - row) : height;
        const u32 wide = columns - column < width ? u32(columns - column) : width;
        const size_t corner = row * columns + column;
        const bool is_whole = wide == columns;

        // The value `at` of the tile, row by row, is in its row `y`. What lies between two of its rows in the table,
        // and in shared memory, is added for each: so that no column is computed.
        const Divisor by_wide(wide);
        const size_t skipped = columns - wide;
        const u32 gap = pitch - wide, values = high * wide;
        for (u32 first = threadIdx.x * LOADED; first < values; first += AT_ONCE * THREADS * LOADED) {
            keep(policy);
            S loaded[AT_ONCE][LOADED];
#pragma unroll
            for (u32 k = 0; k < u32(AT_ONCE); ++k) {
                const u32 at = first + k * THREADS * LOADED, y = by_wide.quotient(at);
                const S *const from = in + corner + (at + y * skipped);
                if constexpr (LOADED == 1) {
                    if (at < values) {
                        loaded[k][0] = *from;
                    }
                } else {
                    typedef Group<S, LOADED> From;
                    const bool is_run = is_whole || at + LOADED <= (y + 1) * wide;
                    if (at + LOADED <= values && is_run && is_aligned(from, From::BYTES)) {
                        From group;
                        group.load(from);
#pragma unroll
                        for (u32 i = 0; i < LOADED; ++i) {
                            loaded[k][i] = group.get(i);
                        }
                    } else {
#pragma unroll
                        for (u32 i = 0; i < LOADED; ++i) {
                            if (at + i < values) {
                                loaded[k][i] = in[corner + (at + i + by_wide.quotient(at + i) * skipped)];
                            }
                        }
                    }
                }
            }
#pragma unroll
            for (u32 k = 0; k < u32(AT_ONCE); ++k) {
#pragma unroll
                for (u32 i = 0; i < LOADED; ++i) {
                    const u32 at = first + k * THREADS * LOADED + i, y = by_wide.quotient(at);
                    if (at < values) {
                        const size_t index = corner + (at + y * skipped);
                        tile[at + y * gap] = checked<T>(loaded[k][i], index, policy, refused);
                    }
                }
            }
        }
        __syncthreads();

        // Column by column, in runs of `STORED` rows: the run `at` is in the column `x`.
        const u32 runs = (high + STORED - 1) / STORED, column_runs = runs * STORED;
        const Divisor by_runs(runs);
        T *const to_corner = out + column * rows + row;
        const size_t other_rows = rows - column_runs; // may wrap around, and the sum wraps back
#pragma unroll AT_ONCE
        for (u32 at = threadIdx.x; at < runs * wide; at += THREADS) {
            const u32 x = by_runs.quotient(at);
            T *const to = to_corner + (at * STORED + x * other_rows);
            const T *const from = tile + (at * STORED * pitch - x * (column_runs * pitch - 1));
            if constexpr (STORED == 1) {
                *to = *from;
            } else {
                typedef Group<T, STORED> To;
                const u32 y = at * STORED - x * column_runs;
                if (y + STORED <= high && is_aligned(to, To::BYTES)) {
                    To group;
                    group.clear();
#pragma unroll
                    for (u32 i = 0; i < STORED; ++i) {
                        group.set(i, from[i * pitch]);
                    }
                    group.store(to);
                } else {
                    for (u32 i = 0; i < STORED && y + i < high; ++i) {
                        to[i] = from[i * pitch];
                    }
                }
            }
        }
        __syncthreads();
    }
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS)
ENTRY(convert)(const SOURCE *__restrict__ in, TARGET *__restrict__ out, size_t count, int policy, u64 *refused) {
    convert_all(in, out, count, policy, refused);
}

extern "C" __global__ void __launch_bounds__(THREADS)
ENTRY(convert_strided)(const SOURCE *__restrict__ in, i64 in_row_stride, i64 in_column_stride, TARGET *__restrict__ out,
                       i64 out_row_stride, i64 out_column_stride, size_t rows, size_t columns, int policy,
                       u64 *refused) {
    convert_places(in, in_row_stride, in_column_stride, out, out_row_stride, out_column_stride, rows, columns, policy,
                   refused);
}

extern "C" __global__ void __launch_bounds__(THREADS)
ENTRY(convert_transposed)(const SOURCE *__restrict__ in, TARGET *__restrict__ out, size_t rows, size_t columns,
                          int policy, u64 *refused) {
    convert_tiles(in, out, rows, columns, policy, refused);
}
