//! The text of the CUDA kernels, compiled by a C++ compiler for the CPU, and the rule that they must follow.

/// The element types, where the rule expects them.
#[cfg(not(test))] // as the rule: its own tests are beside it, where this crate cannot name them
pub mod base {
    /// The element types.
    pub mod element {
        use crate::number::Number;

        /// An element type that has the rule.
        pub trait Element: Number + Default + std::fmt::Debug {
            /// The type, as the library names it.
            const TYPE: numeric_table::ElementType;
        }

        macro_rules! elements {
            ($($native:ty)*) => {$(
                impl Element for $native {
                    const TYPE: numeric_table::ElementType = <$native as numeric_table::Element>::TYPE;
                }
            )*};
        }
        elements!(i8 u8 i16 u16 i32 u32 i64 u64 half::f16 half::bf16 f32 f64);
    }
}

/// The scalar rule of conversion: the library's file.
#[cfg(not(test))]
#[path = "../../src/base/number.rs"]
#[rustfmt::skip] // it is formatted where it is
#[allow(dead_code, reason = "what only the library uses")]
pub mod number;

mod emulator;

pub use emulator::{Emulator, Kernel};
