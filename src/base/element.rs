//! The 12 element types.
//!
//! This is the only place that lists them. All other code is generic over [`Element`], or is written once in a macro
//! that receives the list from `with_elements!`. The numbers 0 to 9 are DAAL's `IndexNumType`.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use crate::base::error::{Error, ErrorKind};

/// Passes the list of element types to a macro: `with_elements!(callback (arguments))` expands to
/// `callback!((arguments) [(Variant, type, "name", id) ...])`.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_elements {
    ($callback:ident $arguments:tt) => {
        $callback! {
            $arguments [
                (F32, f32, "f32", 0)
                (F64, f64, "f64", 1)
                (I32, i32, "i32", 2)
                (U32, u32, "u32", 3)
                (I64, i64, "i64", 4)
                (U64, u64, "u64", 5)
                (I8, i8, "i8", 6)
                (U8, u8, "u8", 7)
                (I16, i16, "i16", 8)
                (U16, u16, "u16", 9)
                (F16, $crate::f16, "f16", 16)
                (Bf16, $crate::bf16, "bf16", 17)
            ]
        }
    };
}
pub(crate) use __with_elements as with_elements;

/// `match_element!(element_type, T => body)`: compiles `body` for each element type `T` and chooses one of them at run
/// time.
#[doc(hidden)]
#[macro_export]
macro_rules! __match_element {
    ((@arms $element_type:expr, $T:ident, $body:expr) [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        match $element_type {
            $($crate::ElementType::$variant => { type $T = $native; $body })*
            #[allow(unreachable_patterns)] // reachable in the eyes of other crates
            other => unreachable!("{other} is not listed"),
        }
    };
    ($element_type:expr, $T:ident => $body:expr) => {
        $crate::__with_elements! { match_element (@arms $element_type, $T, $body) }
    };
}
pub use __match_element as match_element;

/// `match_width!(element_type, Bits => body)`: compiles `body` for an unsigned integer `Bits` of each element width,
/// and chooses that of the given type at run time.
macro_rules! match_width {
    ($element_type:expr, $Bits:ident => $body:expr) => {
        match $element_type.size_in_bytes() {
            1 => {
                type $Bits = u8;
                $body
            }
            2 => {
                type $Bits = u16;
                $body
            }
            4 => {
                type $Bits = u32;
                $body
            }
            8 => {
                type $Bits = u64;
                $body
            }
            size => unreachable!("no element type has {size} bytes"),
        }
    };
}
pub(crate) use match_width;

macro_rules! define_element_type {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        /// The type of the values in a table, known at run time.
        ///
        /// The discriminants 0 to 9 are DAAL's `IndexNumType` numbers. They are written to files and never reused.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::{Element, ElementType};
        /// assert_eq!(<f32 as Element>::TYPE, ElementType::F32);
        /// assert_eq!(ElementType::F32.size_in_bytes(), 4);
        /// assert_eq!("bf16".parse::<ElementType>()?, ElementType::Bf16);
        /// assert_eq!(ElementType::from_id(8), Some(ElementType::I16)); // DAAL_INT16_S
        /// # Ok::<(), numeric_table::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`")] $variant = $id,)*
        }

        impl ElementType {
            /// All element types, in the order of their ids.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant),*];

            /// Returns the element type with the given id, if there is one.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::ElementType;
            /// assert_eq!(ElementType::from_id(1), Some(ElementType::F64));
            /// assert_eq!(ElementType::from_id(10), None); // DAAL_OTHER_T
            /// ```
            pub const fn from_id(id: u8) -> Option<Self> {
                match id { $($id => Some(Self::$variant),)* _ => None }
            }

            /// Returns the Rust name: `"f32"`, `"bf16"`.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::ElementType;
            /// assert_eq!(ElementType::Bf16.name(), "bf16");
            /// ```
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the size of one value in bytes.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::ElementType;
            /// assert_eq!(ElementType::F16.size_in_bytes(), 2);
            /// ```
            pub const fn size_in_bytes(self) -> usize {
                match self { $(Self::$variant => size_of::<$native>(),)* }
            }
        }

        $(
            impl sealed::Sealed for $native {}
            impl Element for $native {
                const TYPE: ElementType = ElementType::$variant;
            }
        )*
    };
}
with_elements! { define_element_type () }

impl ElementType {
    /// Returns the id used in files: DAAL's `IndexNumType` for the ten types that DAAL has.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ElementType;
    /// assert_eq!(ElementType::U16.id(), 9);
    /// ```
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The number of element types.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// Returns the index in [`ALL`](Self::ALL): the id without the gap between 9 and 16.
    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        let id = self as usize;
        if id < Self::F16 as usize { id } else { id - Self::F16 as usize + Self::U16 as usize + 1 }
    }

    /// Returns whether this is a floating-point type.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ElementType;
    /// assert!(ElementType::Bf16.is_float() && !ElementType::U8.is_float());
    /// ```
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::Bf16)
    }

    /// Returns whether the type can represent negative values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::ElementType;
    /// assert!(ElementType::F16.is_signed() && ElementType::I8.is_signed() && !ElementType::U8.is_signed());
    /// ```
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.iter().find(|element| element.name() == name);
        known.copied().ok_or_else(|| {
            Error::new(ErrorKind::UnknownName {
                what: "element type",
                name: name.chars().take(32).collect(),
                near: String::new(),
            })
        })
    }
}

/// A number that a table can hold: `f32 f64 i8 i16 i32 i64 u8 u16 u32 u64` and `half`'s `f16 bf16`.
///
/// Sealed. Generic code over two element types, `S: Element, D: Element`, can convert one into the other without
/// further bounds, because the list of types is complete.
///
/// # Examples
/// ```
/// use numeric_table::{Element, convert::cast};
/// fn double<T: Element>(value: T) -> T {
///     cast(2.0 * cast::<T, f64>(value))
/// }
/// assert_eq!(double(21_u8), 42);
/// assert_eq!(double(200_u8), 255); // saturates
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type: a table cannot hold it",
    label = "not one of the 12 element types",
    note = "the element types are `f32`, `f64`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16` and `bf16`",
    note = "instead of `usize` use `u64` or `i64`, instead of `bool` use `u8`, instead of `i128` use `f64` or `i64`"
)]
pub trait Element:
    Copy + Default + PartialEq + PartialOrd + Debug + Display + Send + Sync + sealed::Sealed + 'static
{
    /// The element type of the values.
    const TYPE: ElementType;
}

mod sealed {
    use crate::base::number::Number;
    use crate::base::value::ToAny;

    /// The capabilities of every element type inside this crate. Not nameable outside of it, which seals
    /// [`super::Element`].
    pub trait Sealed: bytemuck::Pod + Number + ToAny {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_index_num_types_of_daal() {
        let daal = ["f32", "f64", "i32", "u32", "i64", "u64", "i8", "u8", "i16", "u16"];
        for (id, name) in daal.iter().enumerate() {
            assert_eq!(ElementType::from_id(id as u8).map(ElementType::name), Some(*name));
        }
    }

    #[test]
    fn names_and_ids_lead_back_to_the_type() {
        for &element in ElementType::ALL {
            assert_eq!(element.name().parse::<ElementType>().ok(), Some(element));
            assert_eq!(ElementType::from_id(element.id()), Some(element));
            assert_eq!(format!("{element:>5}").len(), 5);
        }
        assert_eq!(ElementType::ALL.len(), 12);
        assert!(ElementType::ALL.iter().enumerate().all(|(index, element)| element.index() == index));
        assert!((0..=255).filter_map(ElementType::from_id).count() == 12);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_stays_short() {
        let error = "x".repeat(10_000).parse::<ElementType>().unwrap_err();
        assert!(error.to_string().len() < 80);
    }
}
