//! The positions of columns in records, as parameters of windows.
//!
//! Invariant of [`Places`]: the record has at least one byte, and each place lies inside it; its offset, the size of
//! the record, and the distance to its neighbor in a group are multiples of the size of its values.

use super::{Record, RecordLayout};
use crate::base::element::ElementType;
#[cfg(target_arch = "x86_64")]
use crate::convert::kernel::RecordLoop;
use crate::window::Geometry;

/// The place of a column in a record, and its group: adjacent columns of one type, at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) element: ElementType,
    pub(super) offset: usize,
    /// The first column of the group.
    pub(super) first: usize,
    /// The number of columns of the group.
    pub(super) width: usize,
    /// The distance in bytes between columns of the group.
    distance: usize,
}

/// The places of all columns.
#[derive(Debug)]
pub(super) struct Places {
    size: usize,
    all: Vec<Place>,
    overlap: Option<(usize, usize)>,
    /// The loop over whole records, if there is one. Its fields are these places.
    #[cfg(target_arch = "x86_64")]
    whole: Option<RecordLoop>,
}

impl Places {
    /// Returns the places of a layout, if it is aligned and the size of its records is not zero. `overlap` comes from a
    /// layout that the caller knows, which may be a different one.
    pub(super) fn new(layout: &RecordLayout, overlap: Option<(usize, usize)>) -> Option<Self> {
        if layout.size() == 0 || !layout.is_aligned() {
            return None;
        }
        let places = layout.fields().enumerate().map(|(first, (feature, offset))| {
            let element = feature.element_type;
            Place { element, offset, first, width: 1, distance: element.size_in_bytes() }
        });
        let mut all = places.collect::<Vec<_>>();
        let mut start = 0;
        while start < all.len() {
            let width = group(&all[start..]);
            if width > 1 {
                let distance = all[start + 1].offset - all[start].offset;
                for place in &mut all[start..start + width] {
                    (place.first, place.width, place.distance) = (start, width, distance);
                }
            }
            start += width;
        }
        Some(Self {
            size: layout.size(),
            overlap: overlap.or_else(|| layout.overlap()),
            #[cfg(target_arch = "x86_64")]
            whole: RecordLoop::new(all.iter().map(|place| (place.element, place.offset)), layout.size()),
            all,
        })
    }

    /// Returns the loop that converts all places of a record at once, if there is one.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn whole(&self) -> Option<&RecordLoop> {
        self.whole.as_ref()
    }

    /// Returns the size of a record in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns the places of all columns.
    pub(super) fn all(&self) -> &[Place] {
        &self.all
    }

    /// Returns the first place of each group.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Place> {
        self.all.iter().enumerate().filter(|&(column, place)| place.first == column).map(|(_, place)| place)
    }

    /// Returns two columns that must not be written because they share bytes.
    pub(super) fn overlap(&self) -> Option<(usize, usize)> {
        self.overlap
    }

    /// Returns the largest alignment that a place needs, in bytes.
    pub(super) fn alignment(&self) -> usize {
        self.all.iter().map(|place| place.element.size_in_bytes()).max().unwrap_or(1)
    }

    /// Returns the offset in the record of the first value of a place's group, and the window of the group, for the
    /// given number of rows.
    pub(super) fn window(&self, place: &Place, rows: usize) -> (usize, Geometry) {
        let size = place.element.size_in_bytes();
        let (row_stride, column_stride) = (self.size / size, place.distance / size);
        (self.all[place.first].offset, Geometry { rows, columns: place.width, row_stride, column_stride })
    }

    /// Returns whether a record of this type has the same fields in the same places, and otherwise only padding.
    pub(super) fn are_of<P: Record>(&self) -> bool {
        if !P::IS_WHOLE || self.size != size_of::<P>() || self.overlap.is_some() {
            return false;
        }
        let sorted = |mut fields: Vec<(usize, ElementType)>| {
            fields.sort_unstable_by_key(|&(offset, _)| offset);
            fields
        };
        let mine = self.all.iter().map(|place| (place.offset, place.element)).collect();
        let theirs = P::FIELDS.iter().flat_map(|field| {
            let element = field.element_type();
            (0..field.len()).map(move |index| (field.offset() + index * element.size_in_bytes(), element))
        });
        sorted(mine) == sorted(theirs.collect())
    }

    /// Returns whether a record has bytes that belong to no field.
    pub(super) fn have_gaps(&self) -> bool {
        self.all.iter().map(|place| place.element.size_in_bytes()).sum::<usize>() < self.size
    }
}

/// Returns the length of the longest prefix of places of one type, at equal distances, without overlap.
fn group(places: &[Place]) -> usize {
    let Some(first) = places.first() else { return 0 };
    let distance = |pair: &[Place]| pair[1].offset.checked_sub(pair[0].offset);
    let Some(between) = places.get(..2).and_then(distance) else { return 1 };
    if between < first.element.size_in_bytes() {
        return 1;
    }
    let goes_on = |pair: &&[Place]| pair[1].element == first.element && distance(pair) == Some(between);
    1 + places.windows(2).take_while(goes_on).count()
}
