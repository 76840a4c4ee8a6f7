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

        /// The bytes of `bincode::serde`.
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
#[cfg_attr(docsrs, doc(cfg(feature = "bincode")))]
impl<Context> Decode<Context> for Box<dyn NumericTable> {
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        Ok(Compat::decode(decoder)?.0)
    }
}
