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
    fn borrow_array(array: &Array<Self>) -> AnyArrayRef<'_>;
    fn restore_borrowed(any: AnyArrayRef<'_>) -> Option<&Array<Self>>;
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

        /// A borrowed array of any element type.
        ///
        /// # Examples
        /// ```
        /// use numeric_table::{AnyArrayRef, Array};
        /// let array = Array::from(vec![1_u16, 2]);
        /// assert!(AnyArrayRef::new(&array).downcast::<u16>().is_some());
        /// ```
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum AnyArrayRef<'a> {
            $(#[doc = concat!("An array of `", $name, "`.")] $variant(&'a Array<$native>),)*
        }

        impl AnyValue {
            /// Gives the element type of the value.
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

        impl<'a> AnySlice<'a> {
            /// Gives the element type of the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnySlice, ElementType};
            /// assert_eq!(AnySlice::new(&[1_i16, 2, 3]).element_type(), ElementType::I16);
            /// ```
            #[inline]
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::AnySlice;
            /// assert_eq!(AnySlice::new(&[1_i16, 2, 3]).len(), 3); // values, not bytes
            /// ```
            #[inline]
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(slice) => slice.len(),)* }
            }
        }

        impl<'a> AnySliceMut<'a> {
            /// The address of the first value.
            #[inline]
            pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
                match self { $(Self::$variant(slice) => slice.as_mut_ptr().cast(),)* }
            }

            /// Gives the element type of the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnySliceMut, ElementType};
            /// assert_eq!(AnySliceMut::new(&mut [1_u64, 2]).element_type(), ElementType::U64);
            /// ```
            #[inline]
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::AnySliceMut;
            /// assert_eq!(AnySliceMut::new(&mut [1_u64, 2, 3]).len(), 3); // values, not bytes
            /// ```
            #[inline]
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(slice) => slice.len(),)* }
            }
        }

        impl AnyArray {
            /// Gives the element type of the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnyArray, Array, ElementType};
            /// let any = AnyArray::new(Array::from(vec![1.5_f64, 2.5]));
            /// assert_eq!(any.element_type(), ElementType::F64);
            /// ```
            #[inline]
            pub const fn element_type(&self) -> ElementType {
                match self { $(Self::$variant(_) => ElementType::$variant,)* }
            }

            /// Counts the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnyArray, Array};
            /// let any = AnyArray::new(Array::from(vec![1.5_f64, 2.5, 3.5]));
            /// assert_eq!(any.len(), 3); // values, not bytes
            /// ```
            #[inline]
            pub const fn len(&self) -> usize {
                match self { $(Self::$variant(array) => array.count(),)* }
            }

            /// Borrows the values.
            ///
            /// # Examples
            /// ```
            /// # use numeric_table::{AnyArray, Array};
            /// let any = AnyArray::new(Array::from(vec![7_u16, 8, 9]));
            /// assert_eq!(any.as_slice().downcast::<u16>(), Some(&[7_u16, 8, 9][..]));
            /// ```
            pub fn as_slice(&self) -> AnySlice<'_> {
                match self { $(Self::$variant(array) => AnySlice::$variant(array),)* }
            }
        }

        $(
            impl Erase for $native {
                fn erase_value(self) -> AnyValue {
                    AnyValue::$variant(self)
                }
                #[inline(always)]
                fn erase_slice(slice: &[Self]) -> AnySlice<'_> {
                    AnySlice::$variant(slice)
                }
                #[inline(always)]
                fn erase_slice_mut(slice: &mut [Self]) -> AnySliceMut<'_> {
                    AnySliceMut::$variant(slice)
                }
                #[inline(always)]
                fn borrow_array(array: &Array<Self>) -> AnyArrayRef<'_> {
                    AnyArrayRef::$variant(array)
                }
                #[inline(always)]
                fn restore_borrowed(any: AnyArrayRef<'_>) -> Option<&Array<Self>> {
                    match any { AnyArrayRef::$variant(array) => Some(array), _ => None }
                }
                #[inline(always)]
                fn erase_array(array: Array<Self>) -> AnyArray {
                    AnyArray::$variant(array)
                }
                #[inline(always)]
                fn restore_slice(any: AnySlice<'_>) -> Option<&[Self]> {
                    match any { AnySlice::$variant(slice) => Some(slice), _ => None }
                }
                #[inline(always)]
                fn restore_slice_mut(any: AnySliceMut<'_>) -> Option<&mut [Self]> {
                    match any { AnySliceMut::$variant(slice) => Some(slice), _ => None }
                }
                #[inline(always)]
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
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySlice, ElementType};
    /// let values = vec![1_i8, -2, 3];
    /// assert_eq!(AnySlice::new(&values).element_type(), ElementType::I8);
    /// ```
    #[inline(always)]
    pub fn new<T: Element>(slice: &'a [T]) -> Self {
        T::erase_slice(slice)
    }

    /// Gives the slice back, if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::AnySlice;
    /// let any = AnySlice::new(&[1_i8, -2, 3]);
    /// assert_eq!(any.downcast::<i8>(), Some(&[1_i8, -2, 3][..]));
    /// assert_eq!(any.downcast::<u8>(), None); // same size, another type
    /// ```
    #[inline(always)]
    pub fn downcast<T: Element>(self) -> Option<&'a [T]> {
        T::restore_slice(self)
    }

    /// Tells whether there are no values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::AnySlice;
    /// assert!(AnySlice::new::<f32>(&[]).is_empty());
    /// assert!(!AnySlice::new(&[0.0_f32]).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> AnySliceMut<'a> {
    /// Forgets the element type of a slice.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnySliceMut, ElementType};
    /// let mut values = vec![1_u32, 2, 3];
    /// assert_eq!(AnySliceMut::new(&mut values).element_type(), ElementType::U32);
    /// ```
    #[inline(always)]
    pub fn new<T: Element>(slice: &'a mut [T]) -> Self {
        T::erase_slice_mut(slice)
    }

    /// Gives the slice back, if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::AnySliceMut;
    /// let mut values = [1_u32, 2, 3];
    /// assert!(AnySliceMut::new(&mut values).downcast::<i32>().is_none());
    /// AnySliceMut::new(&mut values).downcast::<u32>().unwrap()[2] = 30;
    /// assert_eq!(values, [1, 2, 30]);
    /// ```
    #[inline(always)]
    pub fn downcast<T: Element>(self) -> Option<&'a mut [T]> {
        T::restore_slice_mut(self)
    }

    /// Tells whether there are no values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::AnySliceMut;
    /// assert!(AnySliceMut::new::<f32>(&mut []).is_empty());
    /// assert!(!AnySliceMut::new(&mut [0.0_f32]).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> AnyArrayRef<'a> {
    /// Forgets the element type of a borrowed array.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArrayRef, Array};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// assert!(AnyArrayRef::new(&array).downcast::<u64>().is_none());
    /// ```
    #[inline(always)]
    pub fn new<T: Element>(array: &'a Array<T>) -> Self {
        T::borrow_array(array)
    }

    /// Gives the array back, if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArrayRef, Array};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// assert_eq!(AnyArrayRef::new(&array).downcast::<i64>().unwrap().count(), 3);
    /// ```
    #[inline(always)]
    pub fn downcast<T: Element>(self) -> Option<&'a Array<T>> {
        T::restore_borrowed(self)
    }
}

impl AnyArray {
    /// Forgets the element type of an array.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let array = Array::from(vec![1_i64, 2, 3]);
    /// let any = AnyArray::new(array.clone());
    /// assert!(any.downcast_ref::<i64>().unwrap().shares_memory_with(&array)); // nothing is copied
    /// ```
    #[inline(always)]
    pub fn new<T: Element>(array: Array<T>) -> Self {
        T::erase_array(array)
    }

    /// Gives the array back, if its element type is `T`, or itself if not.
    ///
    /// # Errors
    /// The array as it was, if its element type is not `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// let any = any.downcast::<u64>().unwrap_err(); // given back as it was
    /// assert_eq!(any.downcast::<i64>().unwrap()[..], [1, 2, 3]);
    /// ```
    #[inline(always)]
    pub fn downcast<T: Element>(self) -> Result<Array<T>, Self> {
        T::restore_array(self)
    }

    /// Borrows the array, if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// assert_eq!(any.downcast_ref::<i64>().unwrap()[..], [1, 2, 3]);
    /// assert!(any.downcast_ref::<f64>().is_none());
    /// ```
    pub fn downcast_ref<T: Element>(&self) -> Option<&Array<T>> {
        T::restore_array_ref(self)
    }

    /// Borrows the array mutably, if its element type is `T`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// let mut any = AnyArray::new(Array::from(vec![1_i64, 2, 3]));
    /// any.downcast_mut::<i64>().unwrap().mutable_data()?[2] = 30;
    /// assert_eq!(any.downcast::<i64>().unwrap()[..], [1, 2, 30]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn downcast_mut<T: Element>(&mut self) -> Option<&mut Array<T>> {
        T::restore_array_mut(self)
    }

    /// Tells whether there are no values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{AnyArray, Array};
    /// assert!(AnyArray::new(Array::<u8>::from(vec![])).is_empty());
    /// assert!(!AnyArray::new(Array::from(vec![0_u8])).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
