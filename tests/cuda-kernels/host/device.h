// What CUDA C++ has and C++ has not, for compiling the text of the kernels for a CPU.
//
// Intrinsics are defined by what NVIDIA documents of them, each in a line or two. Those that round toward zero begin
// with the nearest number. None of them is given NaN by the kernels, except where `x != x` is asked first.
#ifndef DEVICE_H
#define DEVICE_H

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct Index { unsigned x; };
extern thread_local Index blockIdx, threadIdx, gridDim;

/// Returns when all threads of the block have come here. Only kernels that are launched with switches may call it.
extern "C" void next_thread();
inline void __syncthreads() { next_thread(); }

inline unsigned long long atomicMin(unsigned long long *at, unsigned long long value) {
    const unsigned long long old = *at;
    *at = value < old ? value : old;
    return old;
}

inline unsigned atomicAdd(unsigned *at, unsigned value) { return (*at += value) - value; }
inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value) { return (*at += value) - value; }

// What the lanes of a warp exchange. All threads of a block must call these together, which kernels need not on a
// device. They wait a second time, so that nothing is replaced before all have read it.
inline unsigned long long *of_threads() {
    static thread_local unsigned long long values[256];
    return values;
}
inline void __syncwarp() { next_thread(); }
template <typename Read> inline unsigned long long exchanged(unsigned long long mine, Read read) {
    of_threads()[threadIdx.x] = mine;
    next_thread();
    const unsigned long long result = read(of_threads() + threadIdx.x / 32 * 32);
    next_thread();
    return result;
}
inline unsigned __ballot_sync(unsigned, bool is_set) {
    return exchanged(is_set, [](const unsigned long long *lanes) {
        unsigned all = 0;
        for (unsigned lane = 0; lane < 32; ++lane) all |= unsigned(lanes[lane]) << lane;
        return all;
    });
}
inline unsigned __match_any_sync(unsigned, unsigned value) {
    return exchanged(value, [=](const unsigned long long *lanes) {
        unsigned all = 0;
        for (unsigned lane = 0; lane < 32; ++lane) all |= unsigned(lanes[lane] == value) << lane;
        return all;
    });
}
inline unsigned long long __shfl_up_sync(unsigned, unsigned long long value, unsigned step) {
    const unsigned lane = threadIdx.x % 32;
    return exchanged(value, [=](const unsigned long long *lanes) { return lane < step ? value : lanes[lane - step]; });
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned long long)a * b >> 32; }

template <typename To, typename From> inline To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}
inline unsigned __float_as_uint(float value) { return same_bits<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return same_bits<float>(bits); }
inline long long __double_as_longlong(double value) { return same_bits<long long>(value); }
inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }

/// Truncates and clamps: `end` is the first float beyond the range, which `last` may not be.
template <typename T> inline T saturated(double value, double begin, double end, T least, T last) {
    return value <= begin ? least : value >= end ? last : T(value);
}
inline int __double2int_rz(double value) { return saturated<int>(value, -0x1p31, 0x1p31, INT_MIN, INT_MAX); }
inline unsigned __double2uint_rz(double value) { return saturated<unsigned>(value, 0, 0x1p32, 0, UINT_MAX); }
inline long long __double2ll_rz(double value) {
    return saturated<long long>(value, -0x1p63, 0x1p63, LLONG_MIN, LLONG_MAX);
}
inline unsigned long long __double2ull_rz(double value) {
    return saturated<unsigned long long>(value, 0, 0x1p64, 0, ULLONG_MAX);
}
inline int __float2int_rz(float value) { return __double2int_rz(value); }
inline unsigned __float2uint_rz(float value) { return __double2uint_rz(value); }
inline long long __float2ll_rz(float value) { return __double2ll_rz(value); }
inline unsigned long long __float2ull_rz(float value) { return __double2ull_rz(value); }

inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double value) { return sqrt(value); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __double2float_rn(double value) { return float(value); }
inline float __double2float_rz(double value) {
    const float nearest = float(value);
    return fabs(double(nearest)) > fabs(value) ? nextafterf(nearest, 0) : nearest;
}
/// Both are integers of less than 80 bits, so that the comparison is exact.
inline float toward_zero(float nearest, __int128 value) {
    return fabsf(nearest) > 0x1p62f
        ? ((__int128)nearest < 0 ? -(__int128)nearest : (__int128)nearest) > (value < 0 ? -value : value)
            ? nextafterf(nearest, 0) : nearest
        : (long long)fabsf(nearest) > (value < 0 ? -value : value) ? nextafterf(nearest, 0) : nearest;
}
inline float __int2float_rz(int value) { return toward_zero(float(value), value); }
inline float __uint2float_rz(unsigned value) { return toward_zero(float(value), value); }
inline float __ll2float_rz(long long value) { return toward_zero(float(value), value); }
inline float __ull2float_rz(unsigned long long value) { return toward_zero(float(value), value); }

// `cvt.rn.f16.f32` and `cvt.f32.f16`: by exact arithmetic in f64. A unit in the last place of a number below 2^-14 is
// 2^-24; rounding to an integer is to nearest, ties to even.
inline unsigned short nearest_f16(float value) {
    const unsigned sign = __float_as_uint(value) >> 16 & 0x8000u;
    const double magnitude = fabs(double(value));
    if (magnitude >= 65520) {
        return sign | 0x7C00u; // half a unit above the largest number, and beyond
    }
    const int unit = magnitude < 0x1p-14 ? -24 : ilogb(magnitude) - 10;
    const double units = nearbyint(ldexp(magnitude, -unit));
    // A carry goes into the exponent.
    return sign | (unsigned(unit + 24) << 10) + unsigned(units);
}
inline float value_of_f16(unsigned short bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 0x03FF;
    const float magnitude = exponent == 31 ? INFINITY
        : exponent == 0                    ? ldexpf(float(fraction), -24)
                                           : ldexpf(float(fraction | 0x0400), exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

#endif
