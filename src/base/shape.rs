//! The shape of a table: its numbers of rows (observations) and columns (features).
//!
//! The fields are named so that they cannot be swapped (DAAL's constructors take columns first, oneDAL's rows first).
//! Every product of the two is checked here and only here.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::element::{Element, ElementType};
use crate::base::error::{Error, ErrorKind, Result};

/// Rows (observations) and columns (features) of a table.
///
/// # Examples
/// ```
/// use numeric_table::Shape;
/// let shape = Shape { rows: 150, columns: 4 };
/// assert_eq!(shape.element_count()?, 600);
/// assert_eq!(shape.to_string(), "150 x 4");
/// assert!(Shape { rows: usize::MAX, columns: 2 }.element_count().is_err());
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// The number of rows: observations.
    pub rows: usize,
    /// The number of columns: features.
    pub columns: usize,
}

impl Shape {
    /// Creates a shape, like the struct literal.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Shape;
    /// assert_eq!(Shape::new(3, 2), Shape { rows: 3, columns: 2 });
    /// ```
    pub const fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns }
    }

    /// Returns the number of values: rows times columns.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`] if the product does not fit in memory even with one byte per value.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Shape;
    /// assert_eq!(Shape { rows: 3, columns: 2 }.element_count()?, 6);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    #[inline]
    pub fn element_count(self) -> Result<usize> {
        match self.rows.checked_mul(self.columns) {
            Some(count) if count <= isize::MAX as usize => Ok(count),
            _ => Err(Error::new(ErrorKind::SizeOverflow { shape: self, element: None })),
        }
    }

    /// Returns the number of values after checking that this number of values of type `element` can be addressed.
    ///
    /// # Errors
    /// [`ErrorKind::SizeOverflow`] if the values would take more than `isize::MAX` bytes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, Shape};
    /// let shape = Shape { rows: 1 << 40, columns: 1 << 20 };
    /// assert!(shape.element_count_of(ElementType::U8).is_ok());
    /// assert!(shape.element_count_of(ElementType::F64).is_err());
    /// ```
    #[inline]
    pub fn element_count_of(self, element: ElementType) -> Result<usize> {
        let count = self.element_count().ok();
        match count.and_then(|count| Some((count, count.checked_mul(element.size_in_bytes())?))) {
            Some((count, bytes)) if bytes <= isize::MAX as usize => Ok(count),
            _ => Err(Error::new(ErrorKind::SizeOverflow { shape: self, element: Some(element) })),
        }
    }

    /// Checks that `have` is the number of values of this shape, for values of `T`. Returns that number.
    pub(crate) fn check_length<T: Element>(self, have: usize) -> Result<usize> {
        let need = self.element_count_of(T::TYPE)?;
        match have.cmp(&need) {
            Ordering::Less => Err(Error::new(ErrorKind::ArrayLength { have, need })),
            Ordering::Equal => Ok(need),
            Ordering::Greater => Err(Error::new(ErrorKind::ArrayLength { have, need })),
        }
    }

    /// Returns whether the shape has no values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::Shape;
    /// assert!(Shape { rows: 5, columns: 0 }.is_empty());
    /// ```
    pub const fn is_empty(self) -> bool {
        self.rows == 0 || self.columns == 0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.rows, self.columns)
    }
}
