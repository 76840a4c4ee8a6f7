//! The categories of a column: their number and their labels.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::room::with_room;
use crate::base::text::excerpt;

/// The categories of a column: their number and, if known, their labels. The values of the column are indices of
/// categories.
///
/// All labels are distinct. Lists of the same labels in different orders are not equal, because their indices mean
/// different categories. Cloning shares the labels: O(1).
///
/// Source: DAAL `getNumberOfCategories`, which has no labels, and pandas `Categorical`, which has.
///
/// # Examples
/// ```
/// use numeric_table::{dictionary::Categories, prelude::*};
/// let colours = Categories::from_labels(["red", "green", "blue"])?;
/// assert_eq!((colours.len(), colours.label(2), colours.index_of("green")), (3, Some("blue"), Some(1)));
///
/// let mut table = HomogenNumericTable::from_rows(&[[2_u8], [0], [2]])?;
/// table.set_dictionary([Feature::new(ElementType::U8).named("colour").categorical(colours)].into_iter().collect())?;
/// assert!(table.to_string().ends_with("0          blue\n1           red\n2          blue"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Categories(Kind);

#[derive(Clone)]
enum Kind {
    Count(usize),
    /// Invariant: there is at least one label, and all labels are distinct.
    Labels(Arc<Labels>),
}

/// Labels, stored one after the other.
#[derive(Default)]
struct Labels {
    text: String,
    /// The end of each label in the text. Invariant: character boundaries in non-descending order.
    ends: Vec<usize>,
}

impl Labels {
    /// Adds a label.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    fn push(&mut self, label: &str) -> Result<()> {
        let bytes = self.text.len().saturating_add(label.len());
        self.text.try_reserve(label.len()).map_err(|_| Error::out_of_memory(bytes))?;
        let bytes = self.ends.len().saturating_add(1).saturating_mul(size_of::<usize>());
        self.ends.try_reserve(1).map_err(|_| Error::out_of_memory(bytes))?;
        self.text.push_str(label);
        self.ends.push(self.text.len());
        Ok(())
    }

    fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    /// Creates categories of the labels if they are distinct.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if two labels are equal; [`ErrorKind::OutOfMemory`].
    fn finish_checked(mut self) -> Result<Categories> {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        let mut indices = with_room(self.ends.len())?;
        indices.extend(0..self.ends.len());
        let label = |index| self.get(index).unwrap_or_default().as_bytes();
        match repeated(indices, &label) {
            Some((first, second)) => Err(refusal(label(first), first, second)),
            None => Ok(self.finish()),
        }
    }

    /// Creates categories of the labels, which must be distinct.
    fn finish(self) -> Categories {
        if self.ends.is_empty() { Categories::new(0) } else { Categories(Kind::Labels(Arc::new(self))) }
    }
}

/// Returns the positions of two equal labels, the smaller position first.
fn repeated<'a>(mut positions: Vec<usize>, label: &dyn Fn(usize) -> &'a [u8]) -> Option<(usize, usize)> {
    positions.sort_unstable_by(|&one, &other| in_order(label, one, other));
    positions.windows(2).find(|pair| label(pair[0]) == label(pair[1])).map(|pair| (pair[0], pair[1]))
}

/// Compares labels, and the positions of equal labels. Not inlined, because sorting calls it at hundreds of places.
#[inline(never)]
fn in_order<'a>(label: &dyn Fn(usize) -> &'a [u8], one: usize, other: usize) -> Ordering {
    label(one).cmp(label(other)).then(one.cmp(&other))
}

/// Returns the error of a label that has two indices.
fn refusal(label: &[u8], first: usize, second: usize) -> Error {
    Error::new(ErrorKind::ParameterOutOfRange {
        name: format!("the index of category {:?}", excerpt(label)).into(),
        value: second as f64,
        allowed: format!("the label already has the index {first}").into(),
    })
}

impl Categories {
    /// Creates categories without labels.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::dictionary::Categories;
    /// let grades = Categories::new(6);
    /// assert_eq!((grades.len(), grades.label(0)), (6, None));
    /// ```
    pub const fn new(count: usize) -> Self {
        Self(Kind::Count(count))
    }

    /// Creates categories with copies of the given labels. The first label has index 0. O(labels log labels).
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`] if two labels are equal; [`ErrorKind::OutOfMemory`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, dictionary::Categories};
    /// assert_eq!(Categories::from_labels(["low", "high"])?.index_of("high"), Some(1));
    /// let error = Categories::from_labels(["low", "high", "low"]).unwrap_err();
    /// assert_eq!(error.to_string(), r#"the index of category "low" is 2: the label already has the index 0"#);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_labels<W: AsRef<str>>(labels: impl IntoIterator<Item = W>) -> Result<Self> {
        Self::try_from_labels(labels.into_iter().map(Ok), |error| error)
    }

    /// Creates categories from an iterator of labels that can fail.
    ///
    /// # Errors
    /// The first error of the iterator; the errors of [`from_labels`](Self::from_labels), passed through `refuse`.
    pub(crate) fn try_from_labels<W: AsRef<str>, E>(
        labels: impl Iterator<Item = Result<W, E>>,
        refuse: impl Fn(Error) -> E,
    ) -> Result<Self, E> {
        let mut list = Labels::default();
        for label in labels {
            list.push(label?.as_ref()).map_err(&refuse)?;
        }
        list.finish_checked().map_err(refuse)
    }

    /// Creates categories with labels that are known to be distinct.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    #[cfg(feature = "csv")]
    pub(crate) fn of_distinct(labels: &[String]) -> Result<Self> {
        let (mut text, bytes) = (String::new(), labels.iter().map(String::len).sum());
        text.try_reserve_exact(bytes).map_err(|_| Error::out_of_memory(bytes))?;
        let mut list = Labels { text, ends: with_room(labels.len())? };
        labels.iter().try_for_each(|label| list.push(label))?;
        Ok(list.finish())
    }

    /// Returns the number of categories. All indices are less than it.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::dictionary::Categories;
    /// assert_eq!(Categories::new(3).len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Count(count) => *count,
            Kind::Labels(labels) => labels.ends.len(),
        }
    }

    /// Returns whether the number of categories is zero.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::dictionary::Categories;
    /// assert!(Categories::new(0).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the labels are known.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, dictionary::Categories};
    /// assert!(Categories::from_labels(["yes", "no"])?.has_labels() && !Categories::new(2).has_labels());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn has_labels(&self) -> bool {
        matches!(self.0, Kind::Labels(_))
    }

    /// Returns the label of a category, if it is known. O(1).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, dictionary::Categories};
    /// let answers = Categories::from_labels(["yes", "no"])?;
    /// assert_eq!((answers.label(1), answers.label(2)), (Some("no"), None));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn label(&self, index: usize) -> Option<&str> {
        self.list()?.get(index)
    }

    /// Returns the labels in the order of their indices, or an empty iterator if they are unknown.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, dictionary::Categories};
    /// assert_eq!(Categories::from_labels(["yes", "no"])?.labels().collect::<Vec<_>>(), ["yes", "no"]);
    /// assert_eq!(Categories::new(2).labels().len(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        let list = self.list();
        (0..list.map_or(0, |list| list.ends.len()))
            .map(move |index| list.and_then(|list| list.get(index)).unwrap_or(""))
    }

    /// Returns the index of a label. O(labels). To look up many labels, collect [`labels`](Self::labels) into a map.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{Error, dictionary::Categories};
    /// let answers = Categories::from_labels(["yes", "no"])?;
    /// assert_eq!((answers.index_of("no"), answers.index_of("maybe")), (Some(1), None));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn index_of(&self, label: &str) -> Option<usize> {
        self.labels().position(|known| known == label)
    }

    pub(crate) fn view(&self) -> CategoriesView<'_> {
        match &self.0 {
            Kind::Count(count) => CategoriesView::Count(*count),
            Kind::Labels(_) => CategoriesView::Shared(self),
        }
    }

    fn list(&self) -> Option<&Labels> {
        match &self.0 {
            Kind::Count(_) => None,
            Kind::Labels(labels) => Some(labels),
        }
    }
}

/// Categories without labels.
impl From<usize> for Categories {
    fn from(count: usize) -> Self {
        Self::new(count)
    }
}

impl PartialEq for Categories {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Count(mine), Kind::Count(theirs)) => mine == theirs,
            (Kind::Labels(mine), Kind::Labels(theirs)) => {
                Arc::ptr_eq(mine, theirs) || (mine.ends == theirs.ends && mine.text == theirs.text)
            }
            _ => false,
        }
    }
}

impl Eq for Categories {}

impl Hash for Categories {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        if let Kind::Labels(labels) = &self.0 {
            (&labels.ends, &labels.text).hash(state);
        }
    }
}

/// Formats the number of categories, or the labels.
impl fmt::Debug for Categories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Count(count) => f.debug_tuple("Categories").field(count).finish(),
            Kind::Labels(_) => f.debug_list().entries(self.labels()).finish(),
        }
    }
}

/// Borrowed categories of a file, an archive, or a [`Categories`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum CategoriesView<'a> {
    Count(usize),
    /// Categories with labels.
    Shared(&'a Categories),
    Encoded(EncodedLabels<'a>),
}

impl<'a> CategoriesView<'a> {
    pub(crate) fn to_categories(self) -> Result<Categories> {
        match self {
            Self::Count(count) => Ok(Categories::new(count)),
            Self::Shared(categories) => Ok(categories.clone()),
            Self::Encoded(labels) => labels.to_categories(),
        }
    }
}

impl PartialEq for CategoriesView<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Count(mine), Self::Count(theirs)) => mine == theirs,
            (Self::Shared(mine), Self::Shared(theirs)) => mine == theirs,
            (Self::Encoded(mine), Self::Encoded(theirs)) => mine == theirs,
            (Self::Shared(mine), Self::Encoded(theirs)) | (Self::Encoded(theirs), Self::Shared(mine)) => {
                mine.labels().eq(theirs.iter())
            }
            _ => false,
        }
    }
}

impl Eq for CategoriesView<'_> {}

/// Labels as stored in files and archives: for each, its length as a little-endian `u64`, followed by its bytes.
///
/// Invariant: `bytes` contains exactly `count` labels of UTF-8, at least one. They are distinct once that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EncodedLabels<'a> {
    count: usize,
    bytes: &'a [u8],
}

/// The size in bytes of the length of a label.
const LENGTH_BYTES: usize = 8;

impl<'a> EncodedLabels<'a> {
    /// Reads `count` labels from the beginning of `bytes`. An error is the position of the fault.
    pub(crate) fn new(count: u64, bytes: &'a [u8]) -> Result<Self, usize> {
        let most = bytes.len() / LENGTH_BYTES;
        let count = usize::try_from(count).ok().filter(|&count| count > 0 && count <= most).ok_or(0_usize)?;
        let mut at = 0;
        for _ in 0..count {
            let (label, end) = first_label(&bytes[at..]).ok_or(at)?;
            std::str::from_utf8(label).map_err(|error| at + LENGTH_BYTES + error.valid_up_to())?;
            at += end;
        }
        Ok(Self { count, bytes: &bytes[..at] })
    }

    pub(crate) fn size(self) -> usize {
        self.bytes.len()
    }

    /// Checks that the labels are distinct. Needs as much memory as their lengths.
    ///
    /// # Errors
    /// [`ErrorKind::ParameterOutOfRange`], [`ErrorKind::OutOfMemory`].
    pub(crate) fn check_distinct(self) -> Result<()> {
        let mut starts = with_room(self.count)?;
        starts.extend(self.starts());
        let label = |start| self.label_at(start).map_or(&[][..], |(label, _)| label);
        let Some((first, second)) = repeated(starts, &label) else { return Ok(()) };
        let index = |start| self.starts().take_while(|&other| other < start).count();
        Err(refusal(label(first), index(first), index(second)))
    }

    /// Returns the start of each label.
    fn starts(self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next;
            next += self.label_at(start)?.1;
            Some(start)
        })
    }

    fn label_at(self, start: usize) -> Option<(&'a [u8], usize)> {
        first_label(&self.bytes[start..])
    }

    fn iter(self) -> impl Iterator<Item = &'a str> {
        self.starts().map_while(move |start| std::str::from_utf8(self.label_at(start)?.0).ok()) // the invariant
    }

    fn to_categories(self) -> Result<Categories> {
        let mut labels = Labels::default();
        let text = self.bytes.len() - self.count * LENGTH_BYTES;
        labels.text.try_reserve_exact(text).map_err(|_| Error::out_of_memory(text))?;
        labels.ends = with_room(self.count)?;
        for label in self.iter() {
            labels.push(label)?;
        }
        Ok(labels.finish())
    }

    /// Returns the size in bytes of encoded labels.
    pub(crate) fn size_of(categories: &Categories) -> usize {
        categories.labels().map(|label| LENGTH_BYTES + label.len()).sum()
    }

    /// Appends labels to bytes that have enough capacity.
    pub(crate) fn append(bytes: &mut Vec<u8>, categories: &Categories) {
        for label in categories.labels() {
            bytes.extend((label.len() as u64).to_le_bytes());
            bytes.extend(label.bytes());
        }
    }
}

/// Returns the first label in the bytes and its end.
fn first_label(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    Some((rest.get(..length)?, LENGTH_BYTES + length))
}
