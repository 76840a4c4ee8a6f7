//! Records whose type the compiler knows, and their fields that are columns.
//!
//! Invariant of [`Record`]: its list of fields is true of the type. Only [`impl_record!`](crate::impl_record)
//! implements it. The macro infers everything from the type, or checks it against the type at compile time.

use super::layout::COLUMN_LIMIT;
use crate::base::element::{Element, ElementType};

/// The largest alignment of a record in bytes: that of the memory that the library allocates.
const ALIGNMENT_LIMIT: usize = 64;

/// A structure of numbers whose fields are the columns of an [`AosNumericTable`](crate::AosNumericTable).
///
/// Implemented by [`impl_record!`](crate::impl_record), without `unsafe` in the user's program.
///
/// # Safety
/// Each field that is listed must be a field of the type, with that element type, number of values and offset, aligned
/// to its size, as the size of the record must be; no two may have a byte in common. If
/// [`IS_WHOLE`](Self::IS_WHOLE), all other bytes must be padding.
///
/// # Examples
/// ```
/// use numeric_table::{AosNumericTable, prelude::*, table::Record};
/// #[derive(Clone, Copy)]
/// struct Flow {
///     bytes: f32,
///     is_open: bool,
/// }
/// numeric_table::impl_record!(Flow { bytes, .. });
/// assert_eq!((Flow::FIELDS.len(), Flow::IS_WHOLE), (1, false));
///
/// fn first_column<P: Record>(records: Vec<P>) -> Result<Vec<f64>, Error> {
///     Ok(AosNumericTable::from_records(records)?.column(0, ..)?.to_vec())
/// }
/// assert_eq!(first_column(vec![Flow { bytes: 1.5, is_open: true }])?, [1.5]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record: it is not known which of its fields are columns",
    label = "not a record",
    note = "`numeric_table::impl_record!({Self} {{ field, another }});` makes a `Copy` structure of numbers a record"
)]
pub unsafe trait Record: Copy + Send + Sync + 'static {
    /// The fields that are columns, in the order of the columns.
    const FIELDS: &'static [RecordField];

    /// Whether all fields are listed, so that any bytes are a valid record, and zeros too.
    const IS_WHOLE: bool;
}

/// A field of a [`Record`]: its name, element type, offset and number of values.
///
/// # Examples
/// ```
/// use numeric_table::{ElementType, table::Record};
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Flow {
///     bytes: f32,
///     ports: [u16; 2],
/// }
/// numeric_table::impl_record!(Flow { bytes, ports });
/// let [_, ports] = Flow::FIELDS else { panic!("two fields") };
/// assert_eq!((ports.name(), ports.element_type(), ports.offset(), ports.len()), ("ports", ElementType::U16, 4, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordField {
    name: &'static str,
    element: ElementType,
    offset: usize,
    count: usize,
}

impl RecordField {
    /// Returns the field that `place` points to, and infers its type. For `impl_record!` only.
    #[doc(hidden)]
    pub const fn of<P, V: FieldValue>(name: &'static str, offset: usize, place: fn(&P) -> *const V) -> Self {
        let _ = place;
        Self { name, element: V::ELEMENT, offset, count: V::COUNT }
    }

    /// Fails to compile if the fields of a record cannot be columns. For `impl_record!` only.
    #[doc(hidden)]
    pub const fn check<P: Record>() {
        assert!(size_of::<P>() > 0, "a record needs at least one byte");
        assert!(align_of::<P>() <= ALIGNMENT_LIMIT, "a record may be aligned to 64 bytes at most");
        let (mut index, mut columns) = (0, 0);
        while index < P::FIELDS.len() {
            let RecordField { element, offset, count, .. } = P::FIELDS[index];
            let size = element.size_in_bytes();
            assert!(
                offset.is_multiple_of(size) && size_of::<P>().is_multiple_of(size),
                "a field must be aligned to its size, and the size of the record a multiple of it: `#[repr(align(8))]` helps"
            );
            columns += count;
            index += 1;
        }
        assert!(columns <= COLUMN_LIMIT, "a record has at most 65,536 columns");
    }

    /// Returns the name. The columns of an array are named `name[0]`, `name[1]` ...
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::Record};
    /// # #[derive(Clone, Copy)] #[repr(C)] struct Flow { bytes: f32, ports: [u16; 2] }
    /// # numeric_table::impl_record!(Flow { bytes, ports });
    /// assert_eq!(Flow::FIELDS[0].name(), "bytes");
    /// ```
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the type of the values.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::Record};
    /// # #[derive(Clone, Copy)] #[repr(C)] struct Flow { bytes: f32, ports: [u16; 2] }
    /// # numeric_table::impl_record!(Flow { bytes, ports });
    /// assert_eq!(Flow::FIELDS[0].element_type(), ElementType::F32);
    /// ```
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Returns the number of bytes from the beginning of the record.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::Record};
    /// # #[derive(Clone, Copy)] #[repr(C)] struct Flow { bytes: f32, ports: [u16; 2] }
    /// # numeric_table::impl_record!(Flow { bytes, ports });
    /// assert_eq!(Flow::FIELDS[1].offset(), 4);
    /// ```
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the number of values, which is the number of columns: 1, or the length of an array.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{ElementType, table::Record};
    /// # #[derive(Clone, Copy)] #[repr(C)] struct Flow { bytes: f32, ports: [u16; 2] }
    /// # numeric_table::impl_record!(Flow { bytes, ports });
    /// assert_eq!(Flow::FIELDS[1].len(), 2);
    /// ```
    #[expect(clippy::len_without_is_empty, reason = "a field without values is no special case")]
    pub const fn len(&self) -> usize {
        self.count
    }
}

/// A type that a field of a [`Record`] may have: a number of any element type, or an array of such numbers.
///
/// # Examples
/// ```
/// use numeric_table::{ElementType, table::FieldValue};
/// assert_eq!((<[f32; 3]>::ELEMENT, <[f32; 3]>::COUNT), (ElementType::F32, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` cannot be a column",
    label = "neither one of the 12 element types nor an array of them",
    note = "leave it out, and write `..` after the other fields",
    note = "the element types are `f32`, `f64`, `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16` and `bf16`"
)]
pub trait FieldValue: sealed::Sealed {
    /// The type of the values.
    const ELEMENT: ElementType;
    /// The number of values.
    const COUNT: usize;
}

impl<T: Element> FieldValue for T {
    const ELEMENT: ElementType = T::TYPE;
    const COUNT: usize = 1;
}

impl<V: FieldValue, const LENGTH: usize> FieldValue for [V; LENGTH] {
    const ELEMENT: ElementType = V::ELEMENT;
    const COUNT: usize = LENGTH * V::COUNT;
}

mod sealed {
    use super::FieldValue;
    use crate::base::element::Element;

    /// Not nameable outside this module, which seals [`FieldValue`].
    pub trait Sealed {}

    impl<T: Element> Sealed for T {}

    impl<V: FieldValue, const LENGTH: usize> Sealed for [V; LENGTH] {}
}

/// Makes a structure a [`Record`]: `impl_record!(Flow { bytes, port })`, in the form of a pattern.
///
/// List all fields, in the order of the columns. As in a pattern, `..` at the end leaves out fields that are not
/// columns. A table of such records cannot grow, since the values of those fields would be unknown. The macro infers
/// the types of the fields, or checks them if you write them. A field that is an array of numbers becomes one column
/// per number, named `name[0]`, `name[1]` ...; nested arrays are numbered consecutively.
///
/// The structure must be `Copy`. `#[repr(C)]` is not necessary: the macro uses the offsets that the compiler has
/// chosen. Padding between fields is never read. A packed structure, whose fields are not aligned, does not compile.
///
/// # Examples
/// ```
/// #![forbid(unsafe_code)]
/// use numeric_table::{AosNumericTable, prelude::*};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Flow {
///     bytes: f32,
///     port: u16,
///     start: f64,
/// }
/// numeric_table::impl_record!(Flow { bytes: f32, port: u16, start: f64 });
///
/// let table = AosNumericTable::from_records(vec![Flow { bytes: 1.5, port: 80, start: 0.25 }])?;
/// assert_eq!(table.rows::<f64>(..)?[..], [1.5, 80.0, 0.25]);
/// # Ok::<(), Error>(())
/// ```
///
/// A field whose type differs from the stated one does not compile:
/// ```compile_fail,E0308
/// #[derive(Clone, Copy)]
/// struct Flow {
///     bytes: f32,
/// }
/// numeric_table::impl_record!(Flow { bytes: u32 });
/// ```
///
/// Neither does a field whose type no column can have:
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Flow {
///     is_open: bool,
/// }
/// numeric_table::impl_record!(Flow { is_open });
/// ```
///
/// Neither does a field that only dereferences to a number:
/// ```compile_fail,E0308
/// #[derive(Clone, Copy)]
/// struct Meters(f32);
/// impl std::ops::Deref for Meters {
///     type Target = f32;
///     fn deref(&self) -> &f32 {
///         &self.0
///     }
/// }
/// #[derive(Clone, Copy)]
/// struct Road {
///     length: Meters,
/// }
/// numeric_table::impl_record!(Road { length: f32 });
/// ```
///
/// Fields can be left out only explicitly, by `..`:
/// ```compile_fail,E0027
/// #[derive(Clone, Copy)]
/// struct Flow {
///     bytes: f32,
///     is_open: bool,
/// }
/// numeric_table::impl_record!(Flow { bytes }); // `impl_record!(Flow { bytes, .. })` compiles
/// ```
///
/// The macro cannot hide fields that are left out:
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Flow {
///     bytes: u8,
///     is_open: bool,
/// }
/// numeric_table::impl_record!(@implement Flow, true, [bytes], [..]);
/// ```
///
/// ```compile_fail
/// # #[derive(Clone, Copy)] #[repr(C)] struct Flow { bytes: u8, is_open: bool }
/// numeric_table::impl_record!(@implement Flow, [bytes], [is_open: _]);
/// ```
///
/// Packed structures, unions and types with drop glue do not compile either:
/// ```compile_fail,E0793
/// #[derive(Clone, Copy)]
/// #[repr(C, packed)]
/// struct Flow {
///     port: u16,
///     bytes: f32,
/// }
/// numeric_table::impl_record!(Flow { port, bytes });
/// ```
///
/// ```compile_fail,E0133
/// #[derive(Clone, Copy)]
/// union Either {
///     port: u16,
///     bytes: f32,
/// }
/// numeric_table::impl_record!(Either { bytes, .. });
/// ```
///
/// ```compile_fail,E0277
/// struct Flow {
///     bytes: f32,
///     name: String,
/// }
/// numeric_table::impl_record!(Flow { bytes, .. });
/// ```
#[macro_export]
macro_rules! impl_record {
    ($Record:path { $($field:ident $(: $type:ty)?),+ $(,)? }) => {
        $crate::impl_record!(@implement $Record, [$($field $(: $type)?),+], []);
    };
    ($Record:path { $($field:ident $(: $type:ty)?),+, .. }) => {
        $crate::impl_record!(@implement $Record, [$($field $(: $type)?),+], [..]);
    };
    (@is_whole) => { true };
    (@is_whole ..) => { false };
    (@implement $Record:path, [$($field:ident $(: $type:ty)?),+], [$($rest:tt)*]) => {
        const _: () = {
            // The pattern has each field once, and all fields unless it ends with `..`.
            const _: fn($Record) = |record| {
                let $Record { $($field: _,)+ $($rest)* } = record;
            };
            // A union or a packed structure does not allow the reference; the pointer has exactly the stated type.
            const _: fn(&$Record) = |record| {
                $(
                    let _ = &record.$field;
                    $(let _: *const $type = &raw const record.$field;)?
                )+
            };
            // SAFETY: `offset_of!` has the place of the type's own field, so `record.$field` is that field and no
            // other that a dereference leads to; its type is inferred from a raw pointer, which nothing coerces. It is
            // a number or an array of numbers by the bound of `FieldValue`. The pattern above has all fields, each
            // once, unless the rest is `..`, and `IS_WHOLE` false: any other rest does not compile. `check` has the
            // sizes.
            unsafe impl $crate::table::Record for $Record {
                const FIELDS: &'static [$crate::table::RecordField] = &[$(
                    $crate::table::RecordField::of(
                        $crate::__core::stringify!($field),
                        $crate::__core::mem::offset_of!($Record, $field),
                        |record: &$Record| &raw const record.$field,
                    ),
                )+];
                const IS_WHOLE: bool = $crate::impl_record!(@is_whole $($rest)*);
            }
            const _: () = $crate::table::RecordField::check::<$Record>();
        };
    };
}
