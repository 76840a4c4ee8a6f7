//! The header of a table file: element type, layout, shape, and what the columns mean.
//!
//! bincode's `legacy` encoding. Decoding borrows from the bytes and takes no memory; the dictionary, which may be larger in
//! memory than in the file, is built by [`Header::dictionary`] when everything else has turned out to be right.

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use bincode::error::DecodeError;
use serde::{Deserialize, Serialize};

use super::preamble::{HEADER_LIMIT, PREAMBLE_BYTES};
use crate::dictionary::feature::try_to_string;
use crate::dictionary::{DataDictionary, Feature, FeatureType};
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::table::DataLayout;

const CODEC: Configuration<LittleEndian, Fixint, Limit<HEADER_LIMIT>> =
    bincode::config::legacy().with_limit::<HEADER_LIMIT>();

/// Element id, layout, rows, columns; whether one feature serves all columns, number of features.
type Start = (u8, u8, u64, u64, u8, u64);
/// Name, feature type, number of categories.
type Record<'a> = (Option<&'a str>, u8, Option<u64>);

/// What a table is, but for its values.
#[derive(Clone, Debug)]
pub(super) struct Header<'a> {
    pub(super) element_type: ElementType,
    pub(super) layout: DataLayout,
    pub(super) shape: Shape,
    is_uniform: bool,
    /// Encoded features: one if uniform, else one per column. Invariant: they have been decoded once.
    records: &'a [u8],
}

/// Encodes a header.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(super) fn encode(
    element_type: ElementType,
    layout: DataLayout,
    shape: Shape,
    dictionary: &DataDictionary,
) -> Result<Vec<u8>> {
    let stored = dictionary.stored();
    let names: usize = stored.iter().map(|feature| feature.name.as_ref().map_or(0, String::len)).sum();
    let room = 64 + stored.len() * 32 + names;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(room).map_err(|_| Error::OutOfMemory { bytes: room })?;
    let Shape { rows, columns } = shape;
    let start: Start = (
        element_type.id(),
        layout as u8,
        rows as u64,
        columns as u64,
        dictionary.is_uniform().into(),
        dictionary.len() as u64,
    );
    append(&mut bytes, start)?;
    for feature in stored {
        let categories = feature.category_count.map(|count| count as u64);
        let record: Record<'_> = (feature.name.as_deref(), feature.feature_type as u8, categories);
        append(&mut bytes, record)?;
    }
    Ok(bytes)
}

fn append(bytes: &mut Vec<u8>, value: impl Serialize) -> Result<()> {
    match bincode::serde::encode_into_std_write(value, bytes, CODEC) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::format(PREAMBLE_BYTES as u64, error.to_string())),
    }
}

impl<'a> Header<'a> {
    /// Decodes a header and makes sure that it fits the length of the payload.
    ///
    /// # Errors
    /// [`Error::Format`] with the first rule that is broken.
    pub(super) fn decode(bytes: &'a [u8], payload_length: u64) -> Result<Self> {
        let mut at = 0;
        let (element, layout, rows, columns, is_uniform, count): Start = take(bytes, &mut at)?;
        let element_type = ElementType::from_id(element)
            .ok_or_else(|| refusal(0, format!("unknown element type: {element}; a newer library may know it")))?;
        let layout = match layout {
            0 => DataLayout::RowMajor,
            1 => DataLayout::ColumnMajor,
            _ => return Err(refusal(1, format!("unknown layout: {layout}"))),
        };
        if is_uniform > 1 {
            return Err(refusal(18, format!("{is_uniform} does not tell whether one feature serves all columns")));
        }
        let is_uniform = is_uniform == 1;
        let start_of_records = at;
        for _ in 0..if is_uniform { 1 } else { count } {
            let position = at;
            let (_, kind, categories) = take::<Record<'_>>(bytes, &mut at)?;
            if FeatureType::from_id(kind).is_none() {
                return Err(refusal(position, format!("unknown feature type: {kind}")));
            }
            if let Some(categories) = categories.filter(|&count| usize::try_from(count).is_err()) {
                return Err(refusal(position, format!("{categories} categories are more than this machine can count")));
            }
        }
        if at < bytes.len() {
            return Err(refusal(at, format!("bytes behind the last feature: {}", bytes.len() - at)));
        }
        let shape = check_shape(element_type, rows, columns, payload_length)?;
        if count != columns {
            return Err(refusal(19, format!("the dictionary describes {count} columns, and there are {columns}")));
        }
        Ok(Self { element_type, layout, shape, is_uniform, records: &bytes[start_of_records..] })
    }

    /// Builds the dictionary.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn dictionary(&self) -> Result<DataDictionary> {
        let count = self.shape.columns;
        let stored = if self.is_uniform { 1 } else { count };
        let mut features = Vec::new();
        let bytes = stored.saturating_mul(size_of::<Feature>());
        features.try_reserve_exact(stored).map_err(|_| Error::OutOfMemory { bytes })?;
        let mut at = 0;
        for _ in 0..stored {
            let (name, kind, categories) = take::<Record<'_>>(self.records, &mut at)?;
            let name = name.map(try_to_string).transpose()?;
            // `decode` has made sure of both.
            let feature_type = FeatureType::from_id(kind).unwrap_or_default();
            let category_count = categories.map(|count| count as usize);
            features.push(Feature { name, element_type: self.element_type, feature_type, category_count });
        }
        match features.pop() {
            Some(feature) if self.is_uniform => Ok(DataDictionary::uniform(feature, count)),
            last => Ok(DataDictionary::from_features(features.into_iter().chain(last))),
        }
    }
}

/// Makes sure that the values of a shape are the payload.
fn check_shape(element_type: ElementType, rows: u64, columns: u64, payload_length: u64) -> Result<Shape> {
    let described = format_args!("{rows} x {columns} {element_type} values").to_string();
    let size = element_type.size_in_bytes() as u64;
    match rows.checked_mul(columns).and_then(|count| count.checked_mul(size)) {
        None => return Err(refusal(2, format!("{described} are more than can be counted"))),
        Some(need) if need != payload_length => {
            return Err(refusal(2, format!("{described} take {need} bytes, and the file holds {payload_length}")));
        }
        Some(_) => {}
    }
    let too_large = || refusal(2, format!("{described} are too large for this machine"));
    let size = |size: u64| usize::try_from(size).map_err(|_| too_large());
    let shape = Shape { rows: size(rows)?, columns: size(columns)? };
    shape.element_count_of(element_type).map_err(|_| too_large())?;
    Ok(shape)
}

/// Decodes one value and moves on.
fn take<'a, D: Deserialize<'a>>(bytes: &'a [u8], at: &mut usize) -> Result<D> {
    match bincode::serde::borrow_decode_from_slice(&bytes[*at..], CODEC) {
        Ok((value, consumed)) => {
            *at += consumed;
            Ok(value)
        }
        Err(DecodeError::UnexpectedEnd { .. } | DecodeError::LimitExceeded) => {
            Err(refusal(*at, "the header ends within a field".to_owned()))
        }
        Err(error) => Err(refusal(*at, format!("the header is damaged: {error}"))),
    }
}

/// A refusal at a position in the header.
fn refusal(at: usize, reason: String) -> Error {
    Error::format((PREAMBLE_BYTES + at) as u64, reason)
}
