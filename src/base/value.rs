//! One value whose element type is known only at run time.

use std::fmt;

use super::element::{Element, ElementType, with_elements};
use super::number::Exact;

macro_rules! define_any_value {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        /// One value of any element type. Errors use it to show the offending value with full precision.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::{AnyValue, ElementType};
        /// let value = AnyValue::from((1_i64 << 53) + 1);
        /// assert_eq!(value.to_string(), "9007199254740993");
        /// assert_eq!(value.element_type(), ElementType::I64);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum AnyValue {
            $(#[doc = concat!("One `", $name, "`.")] $variant($native),)*
        }

        impl AnyValue {
            /// Returns the element type of the value.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnyValue, ElementType};
            /// assert_eq!(AnyValue::from(2.5_f32).element_type(), ElementType::F32);
            /// ```
            #[inline]
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }
        }

        impl fmt::Display for AnyValue {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$variant(value) => write_number(*value, f),)* }
            }
        }

        $(
            impl ToAny for $native {
                #[inline]
                fn to_any(self) -> AnyValue {
                    AnyValue::$variant(self)
                }
            }
        )*
    };
}
with_elements! { define_any_value () }

impl<T: Element> From<T> for AnyValue {
    fn from(value: T) -> Self {
        value.to_any()
    }
}

/// A value of a known type that [`AnyValue`] can hold.
pub trait ToAny {
    fn to_any(self) -> AnyValue;
}

/// `match_value!(any, value => body)`: compiles `body` for each element type, with `value` of that type.
macro_rules! match_value {
    ((@arms $any:expr, $value:ident, $body:expr) [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        match $any { $($crate::base::value::AnyValue::$variant($value) => $body,)* }
    };
    ($any:expr, $value:ident => $body:expr) => {
        $crate::base::element::with_elements! { match_value (@arms $any, $value, $body) }
    };
}
pub(crate) use match_value;

/// Formats very large and very small floats with an exponent, and everything else without.
fn write_number<T: Element>(value: T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.exact() {
        Exact::Float(float) if float.is_finite() && float != 0.0 && !(1e-5..1e16).contains(&float.abs()) => {
            // The shortest digits of an f32 are not those of the equal f64.
            if T::TYPE == ElementType::F64 { write!(f, "{float:e}") } else { write!(f, "{:e}", float as f32) }
        }
        _ => fmt::Display::fmt(&value, f),
    }
}
