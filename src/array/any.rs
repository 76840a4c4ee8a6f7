//! Values whose element type is known only at run time: one enum variant per element type.
//!
//! This is what the primitives of [`NumericTable`](crate::table::NumericTable) speak, so that the trait can be used
//! as `dyn`. `new` forgets a type, `downcast` remembers it; both are free.

use std::fmt;

use super::Array;
use crate::convert::rule::Exact;
use crate::element::{Element, ElementType, with_elements};

/// Forgets and remembers the element type; implemented once per type by the macro below.
pub trait Erase: Sized {
    fn erase_value(self) -> AnyValue;
    fn erase_slice(slice: &[Self]) -> AnySlice<'_>;
    fn erase_slice_mut(slice: &mut [Self]) -> AnySliceMut<'_>;
    fn erase_array(array: Array<Self>) -> AnyArray;
    fn restore_slice(any: AnySlice<'_>) -> Option<&[Self]>;
    fn restore_slice_mut(any: AnySliceMut<'_>) -> Option<&mut [Self]>;
    fn restore_array(any: AnyArray) -> Result<Array<Self>, AnyArray>;
    fn restore_array_ref(any: &AnyArray) -> Option<&Array<Self>>;
    fn restore_array_mut(any: &mut AnyArray) -> Option<&mut Array<Self>>;
}

macro_rules! define_any {
    (() [$(($variant:ident, $native:ty, $name:literal, $id:literal))*]) => {
        /// One value of any element type; an error shows the offender with it, digits and all.
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

        /// A borrowed slice of any element type.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::AnySlice;
        /// let any = AnySlice::new(&[1.5_f32, 2.5]);
        /// assert_eq!(any.downcast::<f32>(), Some(&[1.5_f32, 2.5][..]));
        /// assert_eq!(any.downcast::<f64>(), None);
        /// ```
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum AnySlice<'a> {
            $(#[doc = concat!("Values of `", $name, "`.")] $variant(&'a [$native]),)*
        }

        /// A mutably borrowed slice of any element type.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::AnySliceMut;
        /// let mut values = [1_u8, 2];
        /// AnySliceMut::new(&mut values).downcast::<u8>().unwrap()[0] = 7;
        /// assert_eq!(values, [7, 2]);
        /// ```
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum AnySliceMut<'a> {
            $(#[doc = concat!("Values of `", $name, "`.")] $variant(&'a mut [$native]),)*
        }

        /// A shared array of any element type.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::{AnyArray, Array};
        /// let any = AnyArray::new(Array::from(vec![1_u16, 2]));
        /// assert_eq!(any.len(), 2);
        /// assert!(any.downcast::<u16>().is_ok());
        /// ```
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyArray {
            $(#[doc = concat!("An array of `", $name, "`.")] $variant(Array<$native>),)*
        }

        impl AnyValue {
            /// Gives the element type of the value.
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }
        }

        impl fmt::Display for AnyValue {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$variant(value) => write_number(*value, f),)* }
            }
        }

        impl<'a> AnySlice<'a> {
            /// Gives the element type of the values.
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(slice) => slice.len(),)* }
            }
        }

        impl<'a> AnySliceMut<'a> {
            /// Gives the element type of the values.
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(slice) => slice.len(),)* }
            }
        }

        impl AnyArray {
            /// Gives the element type of the values.
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(array) => array.count(),)* }
            }

            /// Borrows the values.
            pub fn as_slice(&self) -> AnySlice<'_> {
                match self { $(Self::$variant(array) => AnySlice::$variant(array),)* }
            }
        }

        $(
            impl Erase for $native {
                fn erase_value(self) -> AnyValue {
                    AnyValue::$variant(self)
                }
                fn erase_slice(slice: &[Self]) -> AnySlice<'_> {
                    AnySlice::$variant(slice)
                }
                fn erase_slice_mut(slice: &mut [Self]) -> AnySliceMut<'_> {
                    AnySliceMut::$variant(slice)
                }
                fn erase_array(array: Array<Self>) -> AnyArray {
                    AnyArray::$variant(array)
                }
                fn restore_slice(any: AnySlice<'_>) -> Option<&[Self]> {
                    match any { AnySlice::$variant(slice) => Some(slice), _ => None }
                }
                fn restore_slice_mut(any: AnySliceMut<'_>) -> Option<&mut [Self]> {
                    match any { AnySliceMut::$variant(slice) => Some(slice), _ => None }
                }
                fn restore_array(any: AnyArray) -> Result<Array<Self>, AnyArray> {
                    match any { AnyArray::$variant(array) => Ok(array), other => Err(other) }
                }
                fn restore_array_ref(any: &AnyArray) -> Option<&Array<Self>> {
                    match any { AnyArray::$variant(array) => Some(array), _ => None }
                }
                fn restore_array_mut(any: &mut AnyArray) -> Option<&mut Array<Self>> {
                    match any { AnyArray::$variant(array) => Some(array), _ => None }
                }
            }
        )*
    };
}
with_elements! { define_any () }

/// Writes very large and very small floats with an exponent, everything else as it is.
fn write_number<T: Element>(value: T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.exact() {
        Exact::Float(float) if float.is_finite() && float != 0.0 && !(1e-5..1e16).contains(&float.abs()) => {
            // The shortest digits of an f32 are not those of the f64 that is equal to it.
            if T::TYPE == ElementType::F64 { write!(f, "{float:e}") } else { write!(f, "{:e}", float as f32) }
        }
        _ => fmt::Display::fmt(&value, f),
    }
}

impl<T: Element> From<T> for AnyValue {
    fn from(value: T) -> Self {
        value.erase_value()
    }
}

impl<'a> AnySlice<'a> {
    /// Forgets the element type of a slice.
    pub fn new<T: Element>(slice: &'a [T]) -> Self {
        T::erase_slice(slice)
    }

    /// Gives the slice back, if its element type is `T`.
    pub fn downcast<T: Element>(self) -> Option<&'a [T]> {
        T::restore_slice(self)
    }

    /// Tells whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> AnySliceMut<'a> {
    /// Forgets the element type of a slice.
    pub fn new<T: Element>(slice: &'a mut [T]) -> Self {
        T::erase_slice_mut(slice)
    }

    /// Gives the slice back, if its element type is `T`.
    pub fn downcast<T: Element>(self) -> Option<&'a mut [T]> {
        T::restore_slice_mut(self)
    }

    /// Tells whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl AnyArray {
    /// Forgets the element type of an array.
    pub fn new<T: Element>(array: Array<T>) -> Self {
        T::erase_array(array)
    }

    /// Gives the array back, if its element type is `T`, or itself if not.
    ///
    /// # Errors
    /// The array as it was, if its element type is not `T`.
    pub fn downcast<T: Element>(self) -> Result<Array<T>, Self> {
        T::restore_array(self)
    }

    /// Borrows the array, if its element type is `T`.
    pub fn downcast_ref<T: Element>(&self) -> Option<&Array<T>> {
        T::restore_array_ref(self)
    }

    /// Borrows the array mutably, if its element type is `T`.
    pub fn downcast_mut<T: Element>(&mut self) -> Option<&mut Array<T>> {
        T::restore_array_mut(self)
    }

    /// Tells whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
