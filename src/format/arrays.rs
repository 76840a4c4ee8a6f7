//! Files of tables that consist of several arrays, which are all kinds except the homogeneous one.
//!
//! `README.md` specifies the bytes. The header of such a file contains the type and the length of each array, which
//! determine their positions. The kind of table defines the meaning of the arrays: see `crate::table::content`.

use std::ops::Range;

use super::file::TableFile;
use super::header::{EncodedHeader, Features, Fields, refusal};
use super::preamble::{Major, Preamble};
use super::values::{FileValues, skip};
use crate::array::AnyArray;
use crate::base::element::{ElementType, match_element};
#[cfg(doc)]
use crate::base::error::ErrorKind;
use crate::base::error::{Error, Result};
use crate::base::progress::Meter;
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::base::trace::{self, CopyKind};
use crate::dictionary::DataDictionary;
use crate::storage::checksum::RunSums;
use crate::storage::output::PayloadWriter;
use crate::storage::output::{Lines, for_each_piece};
use crate::storage::position::Sink;
use crate::storage::zeroed;
use crate::table::content::{Content, FoundContent};

/// Arrays begin at multiples of this, relative to the first value of the file.
const ALIGNMENT: u64 = 64;

/// Bytes of a header after the kind's name: rows, columns, the number of settings, the number of arrays, and the flag
/// and the number of columns of the dictionary. An array takes [`ARRAY_BYTES`], a setting 8.
const START_BYTES: usize = 4 * 8 + 1 + 8;
const ARRAY_BYTES: usize = 1 + 8;

/// The type, the position and the number of the values of an array.
#[derive(Clone, Copy, Debug)]
struct Place {
    element: ElementType,
    position: u64,
    count: u64,
}

impl Place {
    fn end(&self) -> u64 {
        self.position + self.count * self.element.size_in_bytes() as u64
    }
}

/// Lays out arrays one after the other. `None` if they exceed the maximum length of a file.
fn places(arrays: impl Iterator<Item = (ElementType, u64)>) -> Option<Vec<Place>> {
    let mut end = 0_u64;
    let place = |(element, count): (ElementType, u64)| {
        let position = end.checked_next_multiple_of(ALIGNMENT)?;
        end = count.checked_mul(element.size_in_bytes() as u64)?.checked_add(position)?;
        Some(Place { element, position, count })
    };
    arrays.map(place).collect()
}

fn length_of(places: &[Place]) -> u64 {
    places.last().map_or(0, Place::end)
}

/// The layout of a file to be written.
pub(super) struct ArraysPlan<'t> {
    content: Content<'t>,
    places: Vec<Place>,
    pub(super) header: EncodedHeader,
    pub(super) preamble: Preamble,
}

impl<'t> ArraysPlan<'t> {
    /// Lays out a file.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if the header or the file is too long; [`ErrorKind::OutOfMemory`].
    pub(super) fn new(content: Content<'t>, chunk_size: u32) -> Result<Self> {
        let content = content.with_bitmaps()?;
        let header = encode(&content)?;
        let arrays = content.values.iter().map(|values| (values.element_type(), values.len() as u64));
        let places =
            places(arrays).ok_or_else(|| Error::format(0, "the arrays exceed the maximum length of a file"))?;
        let preamble = Preamble::new(&header, length_of(&places), chunk_size)?;
        Ok(Self { content, places, header, preamble })
    }

    /// Reads a range of the bytes of the values. It must begin and end at multiples of 64 or at the end of the values.
    pub(super) fn read(&self, range: Range<u64>, mut take: impl FnMut(&[u8])) -> Result<()> {
        let (mut at, first) = (range.start, self.places.partition_point(|place| place.end() <= range.start));
        for (values, place) in self.content.values.iter().zip(&self.places).skip(first) {
            let start = place.position.min(range.end);
            if at < start {
                take(&zeroed((start - at) as usize)?); // less than 64
                at = start;
            }
            let end = place.end().min(range.end);
            if at == range.end || at >= end {
                continue;
            }
            let size = place.element.size_in_bytes() as u64;
            let run = ((at - place.position) / size) as usize..((end - place.position) / size) as usize;
            for_each_piece(values, place.element, run, &mut |bytes| {
                take(bytes);
                Ok(())
            })?;
            if end == place.end() {
                values.check_unchanged(place.element)?;
            }
            at = end;
        }
        Ok(())
    }

    /// Writes all arrays, with zeros between them.
    pub(super) fn write<S: Sink>(&self, payload: &PayloadWriter<'_, S>) -> Result<Vec<RunSums>> {
        let (mut runs, mut end) = (Vec::new(), 0);
        for (values, place) in self.content.values.iter().zip(&self.places) {
            runs.push(payload.write_zeros(end..place.position)?);
            runs.extend(payload.write_unchanged(values, place.element, place.position)?);
            end = place.end();
        }
        Ok(runs)
    }
}

fn encode(content: &Content<'_>) -> Result<EncodedHeader> {
    let Content { kind, shape, settings, dictionary, values, .. } = content; // `values` has the bitmaps
    let numbers = settings.len().saturating_mul(8).saturating_add(values.len().saturating_mul(ARRAY_BYTES));
    let append = |bytes: &mut Vec<u8>| {
        for number in [shape.rows as u64, shape.columns as u64, settings.len() as u64].iter().chain(settings) {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((values.len() as u64).to_le_bytes());
        for values in values {
            bytes.push(values.element_type().id());
            bytes.extend((values.len() as u64).to_le_bytes());
        }
    };
    EncodedHeader::new(*kind, START_BYTES.saturating_add(numbers), append, dictionary, true)
}

/// A decoded header.
///
/// Invariant: the arrays fill the values of the file, and the features can be decoded.
#[derive(Debug)]
pub(super) struct ArraysHeader {
    shape: Shape,
    settings: Vec<u64>,
    places: Vec<Place>,
    features: Features,
    /// The complete header.
    bytes: Vec<u8>,
}

impl ArraysHeader {
    /// Decodes a header from position `start`. Allocates at most four times the size of the header.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first broken rule; [`ErrorKind::OutOfMemory`].
    pub(super) fn decode(bytes: Vec<u8>, start: usize, major: Major, payload_length: u64) -> Result<Self> {
        let mut fields = Fields { bytes: &bytes, at: start, major };
        let (rows, columns) = (fields.number()?, fields.number()?);
        let settings = fields.list(8, |fields| fields.number())?;
        let arrays_at = fields.at;
        let arrays = fields.list(ARRAY_BYTES, |fields| Ok((fields.element_type()?, fields.number()?)))?;
        let flag_at = fields.at;
        let (is_uniform, count) = (fields.byte()?, fields.number()?);
        let features = Features::new(is_uniform, count, &fields).map_err(|reason| refusal(flag_at, reason))?;
        if count != columns {
            let reason = format!("the dictionary describes {count} columns instead of {columns}");
            return Err(refusal(flag_at + 1, reason));
        }
        features.check(&bytes, None)?;
        let places = places(arrays.into_iter()).filter(|places| length_of(places) == payload_length);
        let places = places.ok_or_else(|| {
            refusal(arrays_at, format!("the arrays do not take the {payload_length} bytes that the file holds"))
        })?;
        let size = |size: u64| {
            usize::try_from(size)
                .map_err(|_| refusal(start, format!("{rows} x {columns} values are too many for this machine")))
        };
        let shape = Shape { rows: size(rows)?, columns: size(columns)? };
        if places.iter().any(|place| usize::try_from(place.end()).is_err()) {
            return Err(refusal(arrays_at, "the arrays are too long for this machine".to_owned()));
        }
        Ok(Self { shape, settings, places, features, bytes })
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Builds the dictionary.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn dictionary(&self) -> Result<DataDictionary> {
        self.features.dictionary(&self.bytes, self.shape.columns, None)
    }

    /// Returns the arrays: the type, the position among the values, and the number of values of each, which fits the
    /// integer range of this machine.
    pub(super) fn arrays(&self) -> impl Iterator<Item = (ElementType, u64, usize)> {
        self.places.iter().map(|place| (place.element, place.position, place.count as usize))
    }

    /// Combines the header with its arrays, which were read elsewhere and match in number, types and lengths.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn with_arrays(&self, arrays: Vec<AnyArray>) -> Result<FoundContent> {
        let mut settings = with_room(self.settings.len())?;
        settings.extend_from_slice(&self.settings);
        Ok(FoundContent { shape: self.shape, settings, dictionary: self.dictionary()?, arrays, gaps: Vec::new() })
    }

    /// Reads all arrays and compares their checksums.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    pub(super) fn load(self, file: &TableFile, meter: Option<&Meter>) -> Result<FoundContent> {
        let (mut arrays, mut runs, mut end) = (Vec::new(), Vec::new(), 0);
        for place in &self.places {
            runs.push(skip(file, end..place.position, meter)?);
            let values = FileValues { file, element_type: place.element, position: place.position, meter };
            match_element!(place.element, T => {
                let (array, sums) = values.load::<T>(place.count as usize)?; // `decode` has checked it
                trace::record(CopyKind::Loaded, array.size_in_bytes());
                arrays.push(AnyArray::new(array));
                runs.extend(sums);
            });
            end = place.end();
        }
        file.check_sums(runs)?;
        self.with_arrays(arrays)
    }
}
