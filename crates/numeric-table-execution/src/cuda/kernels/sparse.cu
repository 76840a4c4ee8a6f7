// Writing sparse rows as a dense table, which holds zeros before. Values are moved as bits: there is one kernel for each
// width in bytes, the last part of its name.
//
// Every kernel takes blocks of `THREADS` threads in one dimension, any number of them. Pointers need the alignment of
// their elements only. Offsets and indices may be any numbers: nothing is read behind the values, and nothing is
// written outside of the table.

namespace {

/// The number at a place among unsigned numbers of 1, 2, 4 or 8 bytes.
__device__ __forceinline__ u64 number_at(const void *numbers, int width, u64 place) {
    switch (width) {
    case 1: return static_cast<const u8 *>(numbers)[place];
    case 2: return static_cast<const u16 *>(numbers)[place];
    case 4: return static_cast<const u32 *>(numbers)[place];
    default: return static_cast<const u64 *>(numbers)[place];
    }
}

/// A row is read by `lanes` threads side by side: a power of two, at most 32.
template <typename T>
__device__ __forceinline__ void sparse_to_dense(const void *__restrict__ offsets, int offset_width,
                                                const void *__restrict__ indices, int index_width,
                                                const T *__restrict__ values, size_t count, size_t rows,
                                                size_t columns, size_t lanes, int is_column_major,
                                                T *__restrict__ out, u64 *refused) {
    const size_t lane = first_index() % lanes, step = index_step() / lanes;
    const size_t down = is_column_major ? 1 : columns, right = is_column_major ? rows : 1;
    for (size_t row = first_index() / lanes; row < rows; row += step) {
        const u64 start = number_at(offsets, offset_width, row), wanted = number_at(offsets, offset_width, row + 1);
        const u64 end = wanted < count ? wanted : count;
        if (refused != nullptr && (start > wanted || wanted > count)) {
            refuse(4 * row, refused);
        }
        if (start >= end) {
            continue;
        }
        for (u64 place = start + lane; place < end; place += lanes) {
            const u64 column = number_at(indices, index_width, place);
            if (column < columns) {
                out[row * down + column * right] = values[place];
            }
            if (refused != nullptr) {
                if (column >= columns) {
                    refuse(4 * row + 1, refused);
                } else if (place > start && number_at(indices, index_width, place - 1) >= column) {
                    refuse(4 * row + 2, refused);
                }
            }
        }
    }
}

} // namespace

/// `sparse_to_dense_W(offsets, offset_width, indices, index_width, values, count, rows, columns, lanes, is_column_major,
/// out, refused)`: the values of row `i` are those from place `offsets[i]` to place `offsets[i + 1]` of `count` values,
/// and `indices` has the column of each. There are `rows + 1` offsets.
///
/// `refused` becomes the smallest of four times a row and what is wrong with it: 0, its offsets descend or are more than
/// `count`; 1, an index is not below `columns`; 2, its indices do not ascend. It must hold ULLONG_MAX before. Without
/// the address of one, nothing is reported.
#define KERNELS(type, width) \
    extern "C" __global__ void __launch_bounds__(THREADS) \
    sparse_to_dense_##width(const void *__restrict__ offsets, int offset_width, const void *__restrict__ indices, \
                            int index_width, const type *__restrict__ values, size_t count, size_t rows, \
                            size_t columns, size_t lanes, int is_column_major, type *__restrict__ out, \
                            u64 *refused) { \
        sparse_to_dense(offsets, offset_width, indices, index_width, values, count, rows, columns, lanes, \
                        is_column_major, out, refused); \
    }
KERNELS(u8, 1)
KERNELS(u16, 2)
KERNELS(u32, 4)
KERNELS(u64, 8)
