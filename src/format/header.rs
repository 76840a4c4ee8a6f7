//! The header of a homogeneous table's file, after the kind's name: element type, layout, shape, and columns.
//!
//! `README.md` specifies the bytes. Decoding allocates nothing. The dictionary may be larger in memory than in the
//! file; [`HomogeneousHeader::dictionary`] builds it after everything else has been checked.

use std::ops::Deref;

use super::kind::append_kind;
use super::preamble::{HEADER_LIMIT, KIND_LIMIT, Major, PREAMBLE_BYTES};
use crate::base::element::ElementType;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::base::shape::Shape;
use crate::dictionary::{
    Categories, CategoriesView, DataDictionary, EncodedLabels, Feature, FeatureType, FeatureView, from_views,
};
use crate::table::{DataLayout, TableKind};

/// Number of bytes before the features: element id, layout, rows, columns, the flag for one feature of all columns, and
/// the number of features.
const START_BYTES: usize = 1 + 1 + 8 + 8 + 1 + 8;

/// The description of a table without its values.
#[derive(Debug)]
pub(super) struct HomogeneousHeader {
    pub(super) element_type: ElementType,
    pub(super) layout: DataLayout,
    pub(super) shape: Shape,
    bytes: Vec<u8>,
    /// Invariant: they can be decoded to the end of `bytes`, and their number of columns is that of the shape.
    features: Features,
}

/// An encoded header, including the kind's name.
#[derive(Debug)]
pub(super) struct EncodedHeader {
    bytes: Vec<u8>,
    /// The lowest version whose readers support everything in the header.
    pub(super) major: Major,
}

impl EncodedHeader {
    /// Creates a header whose bytes before the features come from `append`, which writes at most `room` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] if it would exceed [`HEADER_LIMIT`]; [`ErrorKind::OutOfMemory`].
    pub(super) fn new(
        kind: TableKind,
        room: usize,
        append: impl FnOnce(&mut Vec<u8>),
        dictionary: &DataDictionary,
        have_types: bool,
    ) -> Result<Self> {
        let major = match dictionary.has_nullable() {
            true => Major::WithGaps,
            false if dictionary.has_labels() => Major::WithWords,
            false => Major::WithKind,
        };
        let records = dictionary.listed().map(|feature| size_of_record(feature, have_types, major));
        let room = KIND_LIMIT + check_room(records.fold(room, usize::saturating_add))?;
        let mut bytes = with_room(room)?;
        append_kind(&mut bytes, kind);
        append(&mut bytes);
        append_dictionary(&mut bytes, dictionary, have_types, major);
        Ok(Self { bytes, major })
    }
}

impl Deref for EncodedHeader {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Encodes a header with at most [`HEADER_LIMIT`] bytes after the kind's name.
///
/// # Errors
/// [`ErrorKind::Format`] if it would be longer; [`ErrorKind::OutOfMemory`].
pub(super) fn encode(
    element_type: ElementType,
    layout: DataLayout,
    shape: Shape,
    dictionary: &DataDictionary,
) -> Result<EncodedHeader> {
    let append = |bytes: &mut Vec<u8>| {
        bytes.extend([element_type.id(), layout as u8]);
        bytes.extend((shape.rows as u64).to_le_bytes());
        bytes.extend((shape.columns as u64).to_le_bytes());
    };
    EncodedHeader::new(TableKind::HOMOGENEOUS, START_BYTES, append, dictionary, false)
}

/// Appends a dictionary: a flag, the number of columns, and the features. Each feature follows its type if types may
/// differ.
fn append_dictionary(bytes: &mut Vec<u8>, dictionary: &DataDictionary, have_types: bool, major: Major) {
    bytes.push(dictionary.is_uniform().into());
    bytes.extend((dictionary.len() as u64).to_le_bytes());
    for feature in dictionary.listed() {
        bytes.extend(have_types.then_some(feature.element_type.id()));
        append_record(bytes, feature, major);
    }
}

/// Returns the size in bytes of a header without the kind's name, unless it exceeds the limit.
///
/// # Errors
/// [`ErrorKind::Format`].
fn check_room(room: usize) -> Result<usize> {
    if room > HEADER_LIMIT {
        let reason =
            format!("the dictionary would take {room} bytes, but the header of a file has room for {HEADER_LIMIT}");
        return Err(Error::format(PREAMBLE_BYTES as u64, reason));
    }
    Ok(room)
}

/// Precedes an optional value and marks whether it is present. A number of categories followed by labels has a separate
/// flag.
const NONE: u8 = 0;
const SOME: u8 = 1;
const WITH_WORDS: u8 = 2;

/// Appends a feature: name, feature type, categories, and from version 4 on whether it is nullable.
fn append_record(bytes: &mut Vec<u8>, feature: &Feature, major: Major) {
    let append_option = |bytes: &mut Vec<u8>, flag: u8, number: Option<usize>| {
        bytes.push(number.map_or(NONE, |_| flag));
        bytes.extend(number.into_iter().flat_map(|number| (number as u64).to_le_bytes()));
    };
    let name = feature.name.as_deref();
    append_option(bytes, SOME, name.map(str::len));
    bytes.extend(name.unwrap_or_default().bytes());
    bytes.push(feature.feature_type.id());
    let categories = feature.categories.as_ref();
    let flag = if categories.is_some_and(Categories::has_labels) { WITH_WORDS } else { SOME };
    append_option(bytes, flag, feature.category_count());
    if let Some(categories) = categories {
        EncodedLabels::append(bytes, categories);
    }
    bytes.extend(major.has_gaps().then_some(u8::from(feature.nullable)));
}

fn size_of_record(feature: &Feature, has_type: bool, major: Major) -> usize {
    let name = feature.name.as_ref().map_or(1, |name| 1 + 8 + name.len());
    let categories = feature.categories.as_ref().map_or(1, |words| 1 + 8 + EncodedLabels::size_of(words));
    usize::from(has_type) + 1 + name + categories + usize::from(major.has_gaps())
}

impl HomogeneousHeader {
    /// Decodes a header of a version from position `start`, and checks it against the length of the payload.
    ///
    /// # Errors
    /// [`ErrorKind::Format`] with the first broken rule.
    pub(super) fn decode(bytes: Vec<u8>, start: usize, major: Major, payload_length: u64) -> Result<Self> {
        let mut fields = Fields { bytes: &bytes, at: start, major };
        let element_type = fields.element_type()?;
        let (layout, rows, columns) = (fields.byte()?, fields.number()?, fields.number()?);
        let (is_uniform, count) = (fields.byte()?, fields.number()?);
        let layout = match layout {
            0 => DataLayout::RowMajor,
            1 => DataLayout::ColumnMajor,
            _ => return Err(refusal(start + 1, format!("unknown layout: {layout}"))),
        };
        let features = Features::new(is_uniform, count, &fields).map_err(|reason| refusal(start + 18, reason))?;
        features.check(&bytes, Some(element_type))?;
        let shape =
            check_shape(element_type, rows, columns, payload_length).map_err(|reason| refusal(start + 2, reason))?;
        if count != columns {
            return Err(refusal(start + 19, format!("the dictionary describes {count} columns instead of {columns}")));
        }
        Ok(Self { element_type, layout, shape, features, bytes })
    }

    /// Builds the dictionary for columns of `element_type`. Allocates at most 6.5 times the size of the header, or 8.5
    /// times if categories have labels.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn dictionary(&self, element_type: ElementType) -> Result<DataDictionary> {
        self.features.dictionary(&self.bytes, self.shape.columns, Some(element_type))
    }
}

/// The position of the features in a header, which extend to its end: one for all columns, or one for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    is_uniform: bool,
    /// The number of columns that they describe.
    count: u64,
    /// The position of the first feature.
    at: usize,
    major: Major,
}

impl Features {
    /// Creates the features described by a flag and a count, which have just been read. The error is a reason.
    pub(super) fn new(is_uniform: u8, count: u64, after: &Fields<'_>) -> Result<Self, String> {
        match is_uniform {
            0 | 1 => Ok(Self { is_uniform: is_uniform == 1, count, at: after.at, major: after.major }),
            _ => Err(format!("the flag for one feature of all columns is {is_uniform}, not 0 or 1")),
        }
    }

    fn records<'a>(&self, header: &'a [u8], element_type: Option<ElementType>) -> FeatureRecords<'a> {
        let left = if self.is_uniform { 1 } else { self.count };
        FeatureRecords { fields: Fields { bytes: header, at: self.at, major: self.major }, left, element_type }
    }

    /// Checks that the features can be decoded, up to the end of the header. Takes as much memory as the lengths of the
    /// labels of one feature.
    ///
    /// # Errors
    /// [`ErrorKind::Format`], [`ErrorKind::OutOfMemory`].
    pub(super) fn check(&self, header: &[u8], element_type: Option<ElementType>) -> Result<()> {
        let mut records = self.records(header, element_type);
        while let Some(record) = records.next() {
            if let Some(CategoriesView::Encoded(words)) = record?.categories {
                words.check_distinct().map_err(|error| match error.kind() {
                    ErrorKind::ParameterOutOfRange { .. } => {
                        refusal(records.fields.at, format!("the header is damaged: {error}"))
                    }
                    _ => error,
                })?;
            }
        }
        let end = records.fields.at;
        match header.len() - end {
            0 => Ok(()),
            rest => Err(refusal(end, format!("bytes after the last feature: {rest}"))),
        }
    }

    /// Builds the dictionary for the given number of columns, after [`check`](Self::check).
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub(super) fn dictionary(
        &self,
        header: &[u8],
        columns: usize,
        element_type: Option<ElementType>,
    ) -> Result<DataDictionary> {
        let mut records = self.records(header, element_type);
        if !self.is_uniform {
            return from_views(records, |error| error);
        }
        match records.next() {
            Some(feature) => Ok(DataDictionary::uniform(feature?.to_feature()?, columns)),
            None => Err(ends_early(self.at)),
        }
    }
}

/// The features of a header, one after the other.
#[derive(Clone)]
struct FeatureRecords<'a> {
    fields: Fields<'a>,
    left: u64,
    /// The type of all columns. `None` if each feature begins with its own type.
    element_type: Option<ElementType>,
}

impl<'a> Iterator for FeatureRecords<'a> {
    type Item = Result<FeatureView<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let element_type = match self.element_type {
            Some(element) => Ok(element),
            None => self.fields.element_type(),
        };
        Some(element_type.and_then(|element| self.fields.feature(element)))
    }
}

/// The rest of a header, starting at position `at`.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// The version of the file.
    pub(super) major: Major,
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| ends_early(self.at))?;
        self.at += taken.len();
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    /// Reads the id of an element type.
    pub(super) fn element_type(&mut self) -> Result<ElementType> {
        let start = self.at;
        let id = self.byte()?;
        ElementType::from_id(id)
            .ok_or_else(|| refusal(start, format!("unknown element type: {id}; a newer library may know it")))
    }

    /// Reads a number of items, followed by that number of items of at least `size` bytes each.
    pub(super) fn list<I>(&mut self, size: usize, read: impl Fn(&mut Self) -> Result<I>) -> Result<Vec<I>> {
        let start = self.at;
        let (count, room) = (self.number()?, (self.bytes.len() - self.at) / size);
        let count = usize::try_from(count).ok().filter(|&count| count <= room).ok_or_else(|| ends_early(start))?;
        let mut items = with_room(count)?;
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn optional_number(&mut self) -> Result<Option<u64>> {
        let start = self.at;
        match self.byte()? {
            NONE => Ok(None),
            SOME => self.number().map(Some),
            other => {
                Err(refusal(start, format!("the header is damaged: an optional value has flag {other}, not 0 or 1")))
            }
        }
    }

    fn feature(&mut self, element_type: ElementType) -> Result<FeatureView<'a>> {
        let start = self.at;
        let name = match self.optional_number()? {
            Some(length) => Some(self.text(length)?),
            None => None,
        };
        let kind = self.byte()?;
        let categories = self.categories()?;
        let feature_type =
            FeatureType::from_id(kind).ok_or_else(|| refusal(start, format!("unknown feature type: {kind}")))?;
        let nullable = if self.major.has_gaps() { self.flag()? } else { false };
        Ok(FeatureView { name, element_type, feature_type, categories, nullable })
    }

    /// Reads whether a column is nullable.
    fn flag(&mut self) -> Result<bool> {
        let start = self.at;
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => {
                Err(refusal(start, format!("the header is damaged: a nullable column has flag {other}, not 0 or 1")))
            }
        }
    }

    fn categories(&mut self) -> Result<Option<CategoriesView<'a>>> {
        let start = self.at;
        if self.major.has_words() && self.bytes.get(start) == Some(&WITH_WORDS) {
            self.at += 1;
            let count = self.number()?;
            let words = EncodedLabels::new(count, &self.bytes[self.at..]).map_err(|at| {
                refusal(self.at + at, "the header is damaged: the label of a category is not UTF-8".to_owned())
            })?;
            self.at += words.size();
            return Ok(Some(CategoriesView::Encoded(words)));
        }
        let on_this_machine = |count: u64| match usize::try_from(count) {
            Ok(count) => Ok(CategoriesView::Count(count)),
            Err(_) => Err(refusal(start, format!("{count} categories are more than this machine can count"))),
        };
        self.optional_number()?.map(on_this_machine).transpose()
    }

    fn text(&mut self, length: u64) -> Result<&'a str> {
        let start = self.at;
        let text = str::from_utf8(self.take(length)?);
        text.map_err(|error| {
            refusal(start + error.valid_up_to(), "the header is damaged: the name of a column is not UTF-8".to_owned())
        })
    }
}

/// Checks that the values of a shape have the length of the payload. The error is a reason.
fn check_shape(element_type: ElementType, rows: u64, columns: u64, payload_length: u64) -> Result<Shape, String> {
    let described = format_args!("{rows} x {columns} {element_type} values").to_string();
    let size = element_type.size_in_bytes() as u64;
    match rows.checked_mul(columns).and_then(|count| count.checked_mul(size)) {
        None => return Err(format!("{described} are more than can be counted")),
        Some(need) if need != payload_length => {
            return Err(format!("{described} take {need} bytes, but the file holds {payload_length}"));
        }
        Some(_) => {}
    }
    let too_large = || format!("{described} are too large for this machine");
    let size = |size: u64| usize::try_from(size).map_err(|_| too_large());
    let shape = Shape { rows: size(rows)?, columns: size(columns)? };
    shape.element_count_of(element_type).map_err(|_| too_large())?;
    Ok(shape)
}

/// Returns the error for a header that ends too early.
pub(super) fn ends_early(at: usize) -> Error {
    refusal(at, "the header ends within a field".to_owned())
}

/// Returns the error for a position in the header.
pub(super) fn refusal(at: usize, reason: String) -> Error {
    Error::format((PREAMBLE_BYTES + at) as u64, reason)
}
