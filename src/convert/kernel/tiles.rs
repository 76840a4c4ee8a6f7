//! Iteration over a window in tiles that fit the first-level cache, each as a dense slice in row-major order.
//!
//! A window with contiguous elements is cut into slices. For other windows, each tile is copied to a scratch buffer. A
//! tile is large enough in both directions to use every cache line fully while it is cached, both of the source and of
//! a target written row by row. So memory is fetched only once for any strides.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::pair::COUNT_CHUNK;
use super::transpose::{Transposable, transpose};
use crate::base::element::{ElementType, match_width};
use crate::window::{AnyRoom, AnySlice, AnyWindow, Geometry};

/// The size of a tile in bytes: together with its result, half of a small first-level cache.
const TILE_BYTES: usize = 8 << 10;

/// The smallest number of rows and columns of a tile, if the window has them: a cache line, for any element size.
const MIN_SIDE: usize = 64;

/// Memory for one tile, aligned like a cache line.
#[repr(align(64))]
pub(super) struct ScratchOf<const BYTES: usize>([MaybeUninit<u8>; BYTES]);

/// Memory for a tile that is read and written in the first-level cache.
pub(super) type Scratch = ScratchOf<TILE_BYTES>;

/// Memory for a tile of lines that are far from each other, for rows that are far from each other.
pub(super) type TileScratch = ScratchOf<{ 32 << 10 }>;

impl<const BYTES: usize> ScratchOf<BYTES> {
    pub(super) const fn new() -> Self {
        Self([MaybeUninit::uninit(); BYTES])
    }

    /// Returns the number of elements that fit.
    pub(super) const fn capacity(element: ElementType) -> usize {
        let count = BYTES / element.size_in_bytes();
        if count < COUNT_CHUNK { count } else { COUNT_CHUNK }
    }

    /// Borrows room for `count` elements. Panics if they do not fit; callers have cut.
    pub(super) fn room(&mut self, element: ElementType, count: usize) -> AnyRoom<'_> {
        assert!(count <= Self::capacity(element), "the elements fit");
        AnyRoom::of_bytes(&mut self.0, element, count)
    }
}

/// The rows and columns of a part of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// Returns the tiles of a window, of at most `capacity` elements each. They form bands of rows from top to bottom, each
/// from left to right.
pub(super) fn tiles(geometry: Geometry, capacity: usize) -> impl Iterator<Item = Tile> {
    let Geometry { rows, columns, column_stride, .. } = geometry;
    // Rows without columns may be too many to count.
    let (rows, columns) = if geometry.is_empty() { (0, 0) } else { (rows, columns) };
    let is_along_rows = column_stride == 1;
    let width = if is_along_rows { columns.min(capacity) } else { columns.min(MIN_SIDE.min(capacity)) }.max(1);
    let height = (capacity / width).clamp(1, rows.max(1));
    let width = (capacity / height).clamp(1, columns.max(1)); // few rows leave room for more columns
    (0..rows).step_by(height).flat_map(move |row| {
        let band = row..rows.min(row + height);
        (0..columns)
            .step_by(width)
            .map(move |column| Tile { rows: band.clone(), columns: column..columns.min(column + width) })
    })
}

/// Returns the first value in row-major order for which `find` succeeds, and its index. `find` searches one tile, row
/// by row, and returns the index within it.
pub(super) fn first_in_row_order<V>(
    geometry: Geometry,
    capacity: usize,
    mut find: impl FnMut(&Tile) -> Option<(usize, V)>,
) -> Option<(usize, V)> {
    for tile in tiles(geometry, capacity) {
        if find(&tile).is_none() {
            continue;
        }
        // It is in this band of rows, but not left of the tile: that part has been searched.
        for row in tile.rows {
            for column in (tile.columns.start..geometry.columns).step_by(capacity) {
                let columns = column..geometry.columns.min(column + capacity);
                if let Some((index, value)) = find(&Tile { rows: row..row + 1, columns }) {
                    return Some((row * geometry.columns + column + index, value));
                }
            }
        }
    }
    None
}

/// Returns the elements of a small window as a dense row-major slice, either in place or copied to the scratch buffer.
pub(super) fn dense<'s>(window: AnyWindow<'s>, scratch: &'s mut Scratch) -> AnySlice<'s> {
    match window.as_slice() {
        Some(values) => values,
        None => {
            let room = scratch.room(window.element_type(), window.rows() * window.columns());
            match_width!(window.element_type(), Width => gather::<Width>(window, room))
        }
    }
}

/// Copies a window, row by row, as integers of the elements' width. Panics if widths or lengths differ.
fn gather<'r, B: Transposable>(window: AnyWindow<'_>, mut room: AnyRoom<'r>) -> AnySlice<'r> {
    let Geometry { rows, columns, row_stride, column_stride } = window.geometry();
    assert!(
        window.element_type() == room.element_type() && window.element_type().size_in_bytes() == size_of::<B>(),
        "the width"
    );
    assert_eq!(rows * columns, room.len(), "as many elements as positions");
    let (from, to) = (window.as_ptr().cast::<B>(), room.as_mut_ptr().cast::<B>());
    // SAFETY: `row < rows` and `column < columns` everywhere below. So each source offset is that of an element of the
    // window, and each target index is below `rows * columns`, the length of the room; every one of those is written.
    // Any bits of an element may be copied as an integer of its width; both pointers are aligned for the element, whose
    // alignment is its width.
    unsafe {
        if row_stride == 1 {
            transpose(|column| from.add(column * column_stride), to, columns, rows, columns);
        } else if column_stride == 1 {
            for row in 0..rows {
                std::ptr::copy_nonoverlapping(from.add(row * row_stride), to.add(row * columns), columns);
            }
        } else {
            for row in 0..rows {
                let (from, to) = (from.add(row * row_stride), to.add(row * columns));
                for column in 0..columns {
                    *to.add(column) = *from.add(column * column_stride);
                }
            }
        }
        room.assume_init()
    }
}
