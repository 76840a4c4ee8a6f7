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
    constexpr int GROUPS = AT_ONCE > 2 ? 2 : AT_ONCE;
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

/// Bytes of a tile in shared memory, those between its lines included, and the blocks that a multiprocessor should have
/// room for: more of them would leave too little of its memory as a cache.
#define TILE_BYTES 36864
#define TILE_BLOCKS 5

/// From row-major to column-major order, by tiles in shared memory. A tile has all columns of a narrow table, all rows
/// of a short one, and otherwise up to 256 bytes of a row: so both sides are read and written in long runs.
///
/// Values are loaded in aligned groups of up to 16 bytes, and one by one where a group is not whole. A line of a tile
/// is an odd number of values apart from the next, so that threads along a column access different banks. Values of one
/// or two bytes are stored by words where a word of them is aligned.
///
/// Memory is written fastest by whole sectors of 32 bytes. If the columns begin at different places of a sector, then a
/// tile's part of each column is moved up to the start of one: for these, a tile loads `lead` more rows before its own.
///
/// With `COMPACT`, values are loaded one by one, row by row, and nothing is moved up: for less code.
template <typename S, typename T>
__device__ __forceinline__ void convert_tiles(const S *__restrict__ in, T *__restrict__ out, size_t rows,
                                              size_t columns, int policy, u64 *refused) {
    constexpr u32 WIDEST = sizeof(S) > sizeof(T) ? sizeof(S) : sizeof(T);
    constexpr u32 LOADED = AT_ONCE > 1 ? 16 / WIDEST : 1;
    constexpr u32 STORED = sizeof(T) < 4 ? 4 / sizeof(T) : 1, SECTOR = 32 / sizeof(T);
    constexpr u32 ROOM = TILE_BYTES / sizeof(T), WIDE = sizeof(T) == 1 ? 128 : 256 / sizeof(T);
    typedef Group<S, LOADED> From;
    alignas(8) __shared__ unsigned char room[TILE_BYTES];
    T *const tile = reinterpret_cast<T *>(room);
    if (rows == 0 || columns == 0) {
        return;
    }

    const u32 placed = u32(reinterpret_cast<size_t>(out) / sizeof(T));
    u32 lead = AT_ONCE == 1 || (placed | u32(rows)) % SECTOR == 0 ? 0 : SECTOR;
    u32 height = 32, width;
    if (rows <= height) {
        height = u32(rows);
        const u32 fits = (ROOM / height - 1) / 32 * 32;
        width = columns < fits ? u32(columns) : fits;
    } else {
        const size_t bands = (columns + WIDE - 1) / WIDE;
        width = bands == 1 ? u32(columns) : u32((columns + bands - 1) / bands + 7) / 8 * 8;
        height = (ROOM / (width | 1) - lead) / 32 * 32;
    }
    if (rows <= height) {
        height = u32(rows);
        lead = 0; // a tile has whole columns
    }
    const u32 pitch = width | 1;
    const size_t across = (columns + width - 1) / width, tiles = (rows + lead + height - 1) / height * across;
    for (Walk walk(blockIdx.x, gridDim.x, across); walk.outer * across + walk.inner < tiles; walk.advance()) {
        const u32 above = walk.outer == 0 ? 0 : lead;
        const size_t row = walk.outer * height - above, column = walk.inner * width;
        const u32 high = rows - row < height + above ? u32(rows - row) : height + above;
        const u32 wide = columns - column < width ? u32(columns - column) : width;
        const size_t corner = row * columns + column;

        // All values of the tile are one run in the table, or those of each of its rows are: of `pieces` aligned
        // groups, the first and the last of which may not be whole. `at` is the place of a group in its run, and wraps
        // around below zero.
        const bool is_whole = wide == columns;
        const u32 run = is_whole && LOADED > 1 ? high * wide : wide, runs = is_whole && LOADED > 1 ? 1 : high;
        const u32 phase = u32(reinterpret_cast<size_t>(in + corner) / sizeof(S)) % LOADED;
        const u32 turn = is_whole ? 0 : u32(columns) % LOADED;
        const u32 pieces = (run + (turn == 0 ? phase : LOADED - 1) + LOADED - 1) / LOADED, all = runs * pieces;
        const Divisor by_pieces(pieces), by_wide(wide);
        for (u32 first = threadIdx.x; first < all; first += AT_ONCE * THREADS) {
            keep(policy);
            From loaded[AT_ONCE];
#pragma unroll
            for (u32 k = 0; k < u32(AT_ONCE); ++k) {
                const u32 piece = first + k * THREADS, y = by_pieces.quotient(piece);
                const u32 at = (piece - y * pieces) * LOADED - (phase + y * turn) % LOADED;
                const S *const line = in + (corner + y * columns);
                if (piece < all && (LOADED == 1 || (at < run && at + LOADED <= run))) {
                    loaded[k].load(line + at);
                } else if constexpr (LOADED > 1) {
                    loaded[k].clear();
#pragma unroll
                    for (u32 i = 0; i < LOADED; ++i) {
                        if (piece < all && at + i < run) {
                            loaded[k].set(i, line[at + i]);
                        }
                    }
                }
            }
#pragma unroll
            for (u32 k = 0; k < u32(AT_ONCE); ++k) {
                const u32 piece = first + k * THREADS, y = by_pieces.quotient(piece);
                const u32 at = (piece - y * pieces) * LOADED - (phase + y * turn) % LOADED;
                const u32 down = LOADED > 1 && at < run ? by_wide.quotient(at) : 0;
                const size_t index = corner + y * columns + size_t(i64(i32(at)));
                u32 x = at - down * wide, slot = (y + down) * pitch + x;
                if (piece < all) {
#pragma unroll
                    for (u32 i = 0; i < LOADED; ++i) {
                        if (LOADED == 1 || at + i < run) {
                            tile[slot] = checked<T>(loaded[k].get(i), index + i, policy, refused);
                        }
                        ++slot;
                        if (++x == wide) {
                            x = 0;
                            slot += pitch - wide;
                        }
                    }
                }
            }
        }
        __syncthreads();

        // Column by column, in runs of `STORED` rows. A thread has one in each of up to `AT_ONCE` parts of 32 runs, and
        // the threads of a warp are side by side.
        const u32 parts = (height + STORED - 1) / STORED, lanes = parts < 32 ? parts : 32;
        const u32 places = (parts + lanes * AT_ONCE - 1) / (lanes * AT_ONCE) * lanes;
        const Divisor by_places(places);
        T *const to_corner = out + (column * rows + row);
        const u32 base = placed + u32(column) * u32(rows) + u32(walk.outer) * height;
#pragma unroll 1
        for (u32 at = threadIdx.x; at < places * wide; at += THREADS) {
            const u32 x = by_places.quotient(at), place = at - x * places;
            const u32 misplaced = lead == 0 ? 0 : (base + x * u32(rows)) % SECTOR;
            // Rows before the first one wrap around, and so are none.
            const u32 begin = (place + place / 32 * 32 * (AT_ONCE - 1)) * STORED + above - misplaced;
            T *const to = to_corner + x * rows;
            const T *const from = tile + x;
#pragma unroll
            for (u32 k = 0; k < u32(AT_ONCE); ++k) {
                const u32 y = begin + k * 32 * STORED;
                if constexpr (STORED == 1) {
                    if (y < high) {
                        to[y] = from[y * pitch];
                    }
                } else {
                    typedef Group<T, STORED> To;
                    if (y < high && y + STORED <= high && is_aligned(to + y, To::BYTES)) {
                        To group;
                        group.clear();
#pragma unroll
                        for (u32 i = 0; i < STORED; ++i) {
                            group.set(i, from[(y + i) * pitch]);
                        }
                        group.store(to + y);
                    } else {
                        for (u32 i = 0; i < STORED; ++i) {
                            if (y + i < high) {
                                to[y + i] = from[(y + i) * pitch];
                            }
                        }
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

extern "C" __global__ void __launch_bounds__(THREADS, TILE_BLOCKS)
ENTRY(convert_transposed)(const SOURCE *__restrict__ in, TARGET *__restrict__ out, size_t rows, size_t columns,
                          int policy, u64 *refused) {
    convert_tiles(in, out, rows, columns, policy, refused);
}
