// The conversion rule for one value: `crate::base::number` in CUDA C++, equal to it bit for bit.
//
// The C++ that a compiler for CPUs reads is the same, except for the few intrinsics that it does not have: a header for
// tests defines those. Nothing here may be compiled with fast math, or so that subnormals are flushed to zero.
//
// The half types are structures of their bits. Every value of theirs is an f32 exactly, NaN included: so they are
// converted as that f32. Rounding to them is done once: wider numbers are first rounded *to odd* as an f32 (toward
// zero, with the last bit set if anything was cut off), after which a second rounding still knows on which side of a
// tie the number was.
#ifndef NUMERIC_TABLE_NUMBER
#define NUMERIC_TABLE_NUMBER

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };

/// Policies: `ConversionPolicy` as a number. `SATURATE` refuses nothing.
enum { SATURATE = 0, CHECKED = 1, EXACT = 2 };

/// What is known of an element type: constants as enumerators and functions, which take no memory on a device.
template <typename T> struct Element;

#define CONSTANT static __device__ __forceinline__ constexpr

#define INTEGER(type, bits_type, width, is_signed) \
    template <> struct Element<type> { \
        typedef bits_type Bits; \
        enum { FLOAT = 0, HALF = 0, SIGNED = is_signed, DIGITS = width - is_signed }; \
        CONSTANT type min() { return is_signed ? type(u64(1) << (width - 1)) : type(0); } \
        CONSTANT type max() { return type(~u64(0) >> (64 - DIGITS)); } \
        /* The first number beyond the range: a power of two, so that every float type has it. */ \
        CONSTANT f64 end() { return f64(u64(1) << (DIGITS - 1)) * 2; } \
        CONSTANT f64 begin() { return is_signed ? -end() : 0; } \
    };
INTEGER(i8, u8, 8, 1)
INTEGER(u8, u8, 8, 0)
INTEGER(i16, u16, 16, 1)
INTEGER(u16, u16, 16, 0)
INTEGER(i32, u32, 32, 1)
INTEGER(u32, u32, 32, 0)
INTEGER(i64, u64, 64, 1)
INTEGER(u64, u64, 64, 0)

#define FLOAT(type, bits_type, digits, is_half) \
    template <> struct Element<type> { \
        typedef bits_type Bits; \
        enum { FLOAT = 1, HALF = is_half, SIGNED = 1, DIGITS = digits }; \
    };
FLOAT(f16, u16, 11, 1)
FLOAT(bf16, u16, 8, 1)
FLOAT(f32, u32, 24, 0)
FLOAT(f64, u64, 53, 0)

template <typename A, typename B> struct Same { enum { VALUE = 0 }; };
template <typename A> struct Same<A, A> { enum { VALUE = 1 }; };

/// What can happen to values of one type in another.
template <typename S, typename T> struct Pair {
    typedef Element<S> From;
    typedef Element<T> To;
    enum {
        FROM_DIGITS = From::DIGITS, // of one type, so that they can be compared
        TO_DIGITS = To::DIGITS,
        WIDENS = int(FROM_DIGITS) <= int(TO_DIGITS),
        /// No value is refused by any policy.
        LOSSLESS = Same<S, T>::VALUE
            || (To::FLOAT && !From::FLOAT && WIDENS)
            || (!To::FLOAT && !From::FLOAT && WIDENS && (To::SIGNED || !From::SIGNED))
            || (To::FLOAT && From::FLOAT && WIDENS && !To::HALF),
        /// No value is refused by `CHECKED`: of all targets that are floats, only f16 ends below 2^64.
        FITS = LOSSLESS || (Same<S, f16>::VALUE && Same<T, bf16>::VALUE)
            || (To::FLOAT && !From::FLOAT && !(Same<T, f16>::VALUE && FROM_DIGITS >= 16)),
    };
};

__device__ __forceinline__ u8 bits_of(i8 value) { return u8(value); }
__device__ __forceinline__ u8 bits_of(u8 value) { return value; }
__device__ __forceinline__ u16 bits_of(i16 value) { return u16(value); }
__device__ __forceinline__ u16 bits_of(u16 value) { return value; }
__device__ __forceinline__ u16 bits_of(f16 value) { return value.bits; }
__device__ __forceinline__ u16 bits_of(bf16 value) { return value.bits; }
__device__ __forceinline__ u32 bits_of(i32 value) { return u32(value); }
__device__ __forceinline__ u32 bits_of(u32 value) { return value; }
__device__ __forceinline__ u32 bits_of(f32 value) { return __float_as_uint(value); }
__device__ __forceinline__ u64 bits_of(i64 value) { return u64(value); }
__device__ __forceinline__ u64 bits_of(u64 value) { return value; }
__device__ __forceinline__ u64 bits_of(f64 value) { return u64(__double_as_longlong(value)); }

template <typename T> __device__ __forceinline__ T from_bits(typename Element<T>::Bits bits) {
    if constexpr (Element<T>::HALF) {
        return T{bits};
    } else if constexpr (Same<T, f32>::VALUE) {
        return __uint_as_float(bits);
    } else if constexpr (Same<T, f64>::VALUE) {
        return __longlong_as_double(i64(bits));
    } else {
        return T(bits);
    }
}

__device__ __forceinline__ bool is_nan(f32 value) { return value != value; }
__device__ __forceinline__ bool is_nan(f64 value) { return value != value; }
__device__ __forceinline__ bool is_infinite(f32 value) { return (bits_of(value) & 0x7FFFFFFFu) == 0x7F800000u; }
__device__ __forceinline__ bool is_infinite(f64 value) {
    return (bits_of(value) & 0x7FFFFFFFFFFFFFFFull) == 0x7FF0000000000000ull;
}

/// Truncates a number that is not NaN, and clamps it.
template <typename T> __device__ __forceinline__ T truncated(f32 value) {
    if constexpr (Same<T, u32>::VALUE) {
        return __float2uint_rz(value);
    } else if constexpr (Same<T, i64>::VALUE) {
        return __float2ll_rz(value);
    } else if constexpr (Same<T, u64>::VALUE) {
        return __float2ull_rz(value);
    } else {
        return T(min(max(__float2int_rz(value), i32(Element<T>::min())), i32(Element<T>::max())));
    }
}
template <typename T> __device__ __forceinline__ T truncated(f64 value) {
    if constexpr (Same<T, u32>::VALUE) {
        return __double2uint_rz(value);
    } else if constexpr (Same<T, i64>::VALUE) {
        return __double2ll_rz(value);
    } else if constexpr (Same<T, u64>::VALUE) {
        return __double2ull_rz(value);
    } else {
        return T(min(max(__double2int_rz(value), i32(Element<T>::min())), i32(Element<T>::max())));
    }
}

/// Clamps an integer.
template <typename T, typename S> __device__ __forceinline__ T clamped(S value) {
    typedef Element<S> From;
    typedef Element<T> To;
    if constexpr (From::SIGNED && (!To::SIGNED || int(To::DIGITS) < int(From::DIGITS))) {
        value = value < S(To::min()) ? S(To::min()) : value;
    }
    if constexpr (int(To::DIGITS) < int(From::DIGITS)) {
        value = value > S(To::max()) ? S(To::max()) : value;
    }
    return T(value);
}

/// Rounds to odd. NaN stays NaN.
__device__ __forceinline__ f32 to_odd(f64 value) {
    const f32 toward_zero = __double2float_rz(value);
    return from_bits<f32>(bits_of(toward_zero) | u32(f64(toward_zero) != value));
}
__device__ __forceinline__ f32 to_odd(i32 value) {
    const f32 toward_zero = __int2float_rz(value);
    return from_bits<f32>(bits_of(toward_zero) | u32(__float2int_rz(toward_zero) != value));
}
__device__ __forceinline__ f32 to_odd(u32 value) {
    const f32 toward_zero = __uint2float_rz(value);
    return from_bits<f32>(bits_of(toward_zero) | u32(__float2uint_rz(toward_zero) != value));
}
__device__ __forceinline__ f32 to_odd(i64 value) {
    const f32 toward_zero = __ll2float_rz(value);
    return from_bits<f32>(bits_of(toward_zero) | u32(__float2ll_rz(toward_zero) != value));
}
__device__ __forceinline__ f32 to_odd(u64 value) {
    const f32 toward_zero = __ull2float_rz(value);
    return from_bits<f32>(bits_of(toward_zero) | u32(__float2ull_rz(toward_zero) != value));
}

/// Returns the bits of the f16 nearest to a number that is not NaN, ties to even, with subnormals.
__device__ __forceinline__ u16 nearest_f16(f32 value);
/// Returns the f32 equal to the f16 of these bits, which is not NaN.
__device__ __forceinline__ f32 value_of_f16(u16 bits);
#ifdef __CUDACC__
__device__ __forceinline__ u16 nearest_f16(f32 value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
__device__ __forceinline__ f32 value_of_f16(u16 bits) {
    f32 value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
#endif

/// Returns the f32 equal to a half. A NaN keeps its sign and its payload, and becomes quiet.
__device__ __forceinline__ f32 widened(f16 value) {
    const u32 bits = value.bits;
    const u32 nan = (bits & 0x8000u) << 16 | 0x7FC00000u | (bits & 0x03FFu) << 13;
    return (bits & 0x7FFFu) > 0x7C00u ? from_bits<f32>(nan) : value_of_f16(value.bits);
}
__device__ __forceinline__ f32 widened(bf16 value) {
    const u32 bits = value.bits;
    return from_bits<f32>((bits | ((bits & 0x7FFFu) > 0x7F80u ? 0x0040u : 0u)) << 16);
}

/// Rounds to nearest, ties to even. A NaN keeps its sign and the leading bits of its payload, and becomes quiet.
template <typename T> __device__ __forceinline__ T narrowed(f32 value) {
    const u32 bits = bits_of(value);
    if constexpr (Same<T, f16>::VALUE) {
        const u32 nan = (bits >> 16 & 0x8000u) | 0x7E00u | (bits >> 13 & 0x03FFu);
        return T{is_nan(value) ? u16(nan) : nearest_f16(value)};
    } else {
        // A carry goes into the exponent, up to infinity.
        const u32 rounded = (bits + (0x7FFFu + (bits >> 16 & 1u))) >> 16;
        return T{u16(is_nan(value) ? bits >> 16 | 0x0040u : rounded)};
    }
}

/// Between the float types that arithmetic has.
__device__ __forceinline__ f64 widened(f32 value) {
    const u64 bits = bits_of(value);
    const u64 nan = (bits & 0x80000000u) << 32 | 0x7FF8000000000000ull | (bits & 0x007FFFFFu) << 29;
    return is_nan(value) ? from_bits<f64>(nan) : f64(value);
}
__device__ __forceinline__ f32 narrowed_f32(f64 value) {
    const u64 bits = bits_of(value);
    const u32 nan = u32(bits >> 32 & 0x80000000u) | 0x7FC00000u | u32(bits >> 29 & 0x007FFFFFu);
    return is_nan(value) ? from_bits<f32>(nan) : __double2float_rn(value);
}

/// Converts one value as `SATURATE` does: `crate::base::number::convert`. Of the same type, its bits.
template <typename T, typename S> __device__ __forceinline__ T converted(S value) {
    typedef Element<S> From;
    typedef Element<T> To;
    if constexpr (Same<S, T>::VALUE) {
        return value;
    } else if constexpr (From::HALF) {
        return converted<T>(widened(value));
    } else if constexpr (From::FLOAT && !To::FLOAT) {
        return truncated<T>(is_nan(value) ? S(0) : value);
    } else if constexpr (Same<S, f32>::VALUE && To::HALF) {
        return narrowed<T>(value);
    } else if constexpr (Same<S, f64>::VALUE && To::HALF) {
        return narrowed<T>(is_nan(value) ? narrowed_f32(value) : to_odd(value));
    } else if constexpr (From::FLOAT && Same<T, f64>::VALUE) {
        return widened(value);
    } else if constexpr (From::FLOAT) {
        return narrowed_f32(value);
    } else if constexpr (!To::FLOAT) {
        return clamped<T>(value);
    } else if constexpr (!To::HALF) {
        return T(value); // to nearest, ties to even
    } else if constexpr (From::DIGITS <= 16) {
        return narrowed<T>(f32(value));
    } else if constexpr (Same<T, f16>::VALUE) {
        // From 65520 on all are infinite, and up to 65536 an f32 is exact.
        const S above = value < S(65536) ? value : S(65536);
        return narrowed<T>(f32(From::SIGNED && above < S(-65536) ? S(-65536) : above));
    } else {
        return narrowed<T>(to_odd(value));
    }
}

/// Returns whether an integer is exactly a finite float.
__device__ __forceinline__ bool is_equal(f32 number, i64 value) {
    return number < f32(Element<i64>::end()) && __float2ll_rz(number) == value;
}
__device__ __forceinline__ bool is_equal(f32 number, u64 value) {
    return number < f32(Element<u64>::end()) && __float2ull_rz(number) == value;
}
__device__ __forceinline__ bool is_equal(f64 number, i64 value) {
    return number < Element<i64>::end() && __double2ll_rz(number) == value;
}
__device__ __forceinline__ bool is_equal(f64 number, u64 value) {
    return number < Element<u64>::end() && __double2ull_rz(number) == value;
}
__device__ __forceinline__ bool is_equal(f32 number, i32 value) { return is_equal(number, i64(value)); }
__device__ __forceinline__ bool is_equal(f32 number, u32 value) { return is_equal(number, u64(value)); }
__device__ __forceinline__ bool is_equal(f32 number, i16 value) { return number == f32(value); }
__device__ __forceinline__ bool is_equal(f32 number, u16 value) { return number == f32(value); }
__device__ __forceinline__ bool is_equal(f32 number, i8 value) { return number == f32(value); }
__device__ __forceinline__ bool is_equal(f32 number, u8 value) { return number == f32(value); }

__device__ __forceinline__ f32 truncation(f32 value) { return truncf(value); }
__device__ __forceinline__ f64 truncation(f64 value) { return trunc(value); }

/// The result as a number of the source's type, or of a wider one; exact, except for a NaN.
template <typename S, typename T> __device__ __forceinline__ auto compared(T result) {
    if constexpr (Same<S, f64>::VALUE && Element<T>::HALF) {
        return f64(widened(result));
    } else if constexpr (Element<T>::HALF) {
        return widened(result);
    } else if constexpr (Same<S, f64>::VALUE) {
        return f64(result);
    } else {
        return result;
    }
}

/// Returns whether a policy other than `SATURATE` refuses a value, of which `result` is the conversion.
template <typename S, typename T> __device__ __forceinline__ bool refuses(S value, T result, int policy) {
    typedef Element<S> From;
    typedef Element<T> To;
    if constexpr (Pair<S, T>::LOSSLESS) {
        return false;
    } else if constexpr (From::HALF) {
        return refuses(widened(value), result, policy);
    } else if constexpr (From::FLOAT && !To::FLOAT) {
        const S whole = truncation(value);
        const bool fits = whole >= S(To::begin()) && whole < S(To::end()); // NaN does not
        return !(fits && (policy == CHECKED || whole == value));
    } else if constexpr (!From::FLOAT && !To::FLOAT) {
        return S(result) != value; // it was clamped
    } else if constexpr (!From::FLOAT) {
        const auto number = compared<S>(result);
        if (is_infinite(number)) {
            return true;
        }
        return policy == EXACT && !is_equal(number, value);
    } else {
        const auto number = compared<S>(result);
        if (policy == CHECKED) {
            return is_infinite(number) && !is_infinite(value);
        }
        return !(number == value || is_nan(value));
    }
}

#endif
