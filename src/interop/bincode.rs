//! `Encode`, `Decode` and `BorrowDecode` of bincode 2, through serde, so that types that derive them can hold arrays,
//! dictionaries and tables.
//!
//! The bytes are those of [`bincode::serde`] in the caller's configuration. Archives
//! ([`to_bytes`](crate::TableOutput::to_bytes)) have an encoding of their own and do not need this feature.

use bincode::de::{BorrowDecode, BorrowDecoder, Decode, Decoder};
use bincode::enc::{Encode, Encoder};
use bincode::error::{DecodeError, EncodeError};
use bincode::serde::{BorrowCompat, Compat};

use crate::array::Array;
use crate::base::element::{Element, ElementType};
use crate::base::shape::Shape;
use crate::dictionary::{DataDictionary, Feature};
use crate::table::content::with_stored_kinds;
use crate::table::{HomogenNumericTable, NumericTable};

macro_rules! through_serde {
    ($([$($generic:tt)*] $Type:ty),* $(,)?) => {$(
        /// The bytes of `bincode::serde`.
        #[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
        impl<$($generic)*> Encode for $Type {
            fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
                BorrowCompat(self).encode(encoder)
            }
        }

        /// The bytes of `bincode::serde`. bincode allocates the lengths that it reads: decode untrusted bytes with a
        /// limit (`with_limit`), or borrow from them (`borrow_decode_from_slice`).
        #[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
        impl<Context, $($generic)*> Decode<Context> for $Type {
            fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
                Ok(Compat::decode(decoder)?.0)
            }
        }

        /// The bytes of `bincode::serde`.
        #[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
        impl<'de, Context, $($generic)*> BorrowDecode<'de, Context> for $Type {
            fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
                Ok(BorrowCompat::borrow_decode(decoder)?.0)
            }
        }
    )*};
}
through_serde!([] ElementType, [] Shape, [] Feature, [] DataDictionary);
through_serde!([T: Element] Array<T>, [T: Element] HomogenNumericTable<T>);

macro_rules! stored_kinds {
    ($(($Kind:ty, $($page:tt)*)),*) => {
        through_serde!($([] $Kind),*);
    };
}
with_stored_kinds!(stored_kinds);

/// The bytes of `bincode::serde`, with the name of the kind.
#[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
impl Encode for dyn NumericTable + '_ {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        BorrowCompat(self).encode(encoder)
    }
}

/// The kind is that of the table that was encoded.
///
/// # Untrusted bytes
/// bincode allocates the lengths that it reads, and a wrong one aborts the program. With a limit, it is an error. Other
/// types can also be borrowed from the bytes, which copies nothing before it is checked.
/// ```
/// use bincode::{borrow_decode_from_slice, config, decode_from_slice, encode_to_vec};
/// use numeric_table::prelude::*;
/// let table = HomogenNumericTable::from_rows(&[[1.5_f32, 2.5]])?;
/// let any: &dyn NumericTable = &table;
/// let mut bytes = encode_to_vec(any, config::legacy()).unwrap();
/// let limited = config::legacy().with_limit::<{ 1 << 20 }>();
/// assert_eq!(decode_from_slice::<Box<dyn NumericTable>, _>(&bytes, limited).unwrap().0.shape(), table.shape());
/// bytes[..8].fill(0xff); // the length of a text
/// assert!(decode_from_slice::<Box<dyn NumericTable>, _>(&bytes, limited).is_err());
///
/// let mut bytes = encode_to_vec(&table, config::legacy()).unwrap();
/// bytes[..8].fill(0xff);
/// assert!(borrow_decode_from_slice::<HomogenNumericTable<f32>, _>(&bytes, config::legacy()).is_err());
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
impl<Context> Decode<Context> for Box<dyn NumericTable> {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Compat::decode(decoder)?.0)
    }
}
