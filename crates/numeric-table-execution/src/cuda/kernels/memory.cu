// Filling, counting, gathering, and copying columns and rows of a table. Values are moved as bits: there is one kernel for each width in
// bytes, the last part of its name.
//
// Every kernel takes blocks of `THREADS` threads in one dimension, any number of them. Input and output must not
// overlap, and pointers need the alignment of their elements only. Indices of columns and rows are not checked.

namespace {

template <typename T> __device__ __forceinline__ void fill(T *out, size_t count, T value) {
    constexpr int VALUES = 16 / sizeof(T);
    const size_t misplaced = reinterpret_cast<size_t>(out) / sizeof(T) % VALUES;
    const size_t wanted = misplaced == 0 ? 0 : VALUES - misplaced, head = wanted < count ? wanted : count;
    const size_t groups = (count - head) / VALUES, grouped = groups * VALUES;
    Group<T, VALUES> group;
    group.clear();
#pragma unroll
    for (int i = 0; i < VALUES; ++i) {
        group.set(i, value);
    }
    for (size_t i = first_index(); i < groups; i += index_step()) {
        group.store(out + head + i * VALUES);
    }
    for (size_t i = first_index(); i < count - grouped; i += index_step()) {
        out[i < head ? i : i + grouped] = value;
    }
}

template <typename T> __device__ __forceinline__ void count_up(T *out, size_t count, u64 start, u64 step) {
    for (size_t i = first_index(); i < count; i += index_step()) {
        out[i] = T(start + step * i);
    }
}

template <typename T>
__device__ __forceinline__ void gather_indices(const T *__restrict__ in, size_t in_count,
                                               const u64 *__restrict__ indices, size_t count, T *__restrict__ out,
                                               u64 *refused) {
    const size_t step = index_step();
    for (size_t first = first_index(); first < count; first += AT_ONCE * step) {
        u64 chosen[AT_ONCE];
        T values[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            chosen[i] = first + i * step < count ? indices[first + i * step] : 0;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                if (chosen[i] < in_count) {
                    values[i] = in[chosen[i]];
                } else {
                    values[i] = T(0);
                    refuse(first + i * step, refused);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                out[first + i * step] = values[i];
            }
        }
    }
}

/// Writes `outer * inner` values in order, each from the place that `from(outer, inner)` returns.
template <typename T, typename From>
__device__ __forceinline__ void gather(const T *__restrict__ in, T *__restrict__ out, size_t outer, size_t inner,
                                       From from) {
    const size_t count = outer * inner, step = index_step();
    if (count == 0) {
        return;
    }
    Walk walk(first_index(), step, inner);
    for (size_t first = first_index(); first < count; first += AT_ONCE * step) {
        T values[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                values[i] = in[from(walk.outer, walk.inner)];
            }
            walk.advance();
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (first + i * step < count) {
                out[first + i * step] = values[i];
            }
        }
    }
}

template <typename T>
__device__ __forceinline__ void gather_columns(const T *__restrict__ in, size_t rows, size_t columns,
                                               int is_column_major, const size_t *__restrict__ selected,
                                               size_t selected_count, T *__restrict__ out) {
    if (is_column_major) {
        gather(in, out, selected_count, rows, [=](size_t column, size_t row) { return selected[column] * rows + row; });
    } else {
        gather(in, out, rows, selected_count,
               [=](size_t row, size_t column) { return row * columns + selected[column]; });
    }
}

template <typename T>
__device__ __forceinline__ void gather_rows(const T *__restrict__ in, size_t rows, size_t columns, int is_column_major,
                                            size_t first, size_t count, T *__restrict__ out) {
    if (is_column_major) {
        gather(in, out, columns, count, [=](size_t column, size_t row) { return column * rows + first + row; });
    } else {
        gather(in, out, count, columns, [=](size_t row, size_t column) { return (first + row) * columns + column; });
    }
}

} // namespace

/// `fill_W(out, count, bits)`: the value is the lowest bytes of `bits`.
///
/// `gather_columns_W(in, rows, columns, is_column_major, selected, selected_count, out)`: `selected` are the indices of
/// the columns, in memory of the device. The output is a table of `rows` rows and `selected_count` columns in the same
/// layout.
///
/// `gather_rows_W(in, rows, columns, is_column_major, first, count, out)`: the output is a table of the rows from
/// `first` to `first + count`, in the same layout.
///
/// `count_up_W(out, count, start, step)`: the lowest bytes of `start + i * step`, modulo 2^64.
///
/// `gather_W(in, in_count, indices, count, out, refused)`: the values at `count` indices of 64 bits. `refused` becomes
/// the smallest place of an index that is not less than `in_count`; it must hold ULLONG_MAX before. A zero is written
/// for such an index.
#define KERNELS(type, width) \
    extern "C" __global__ void __launch_bounds__(THREADS) fill_##width(type *out, size_t count, u64 bits) { \
        fill(out, count, type(bits)); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    gather_columns_##width(const type *__restrict__ in, size_t rows, size_t columns, int is_column_major, \
                           const size_t *__restrict__ selected, size_t selected_count, type *__restrict__ out) { \
        gather_columns(in, rows, columns, is_column_major, selected, selected_count, out); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    gather_rows_##width(const type *__restrict__ in, size_t rows, size_t columns, int is_column_major, size_t first, \
                        size_t count, type *__restrict__ out) { \
        gather_rows(in, rows, columns, is_column_major, first, count, out); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    count_up_##width(type *out, size_t count, u64 start, u64 step) { \
        count_up(out, count, start, step); \
    } \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    gather_##width(const type *__restrict__ in, size_t in_count, const u64 *__restrict__ indices, size_t count, \
                   type *__restrict__ out, u64 *refused) { \
        gather_indices(in, in_count, indices, count, out, refused); \
    }
KERNELS(u8, 1)
KERNELS(u16, 2)
KERNELS(u32, 4)
KERNELS(u64, 8)
