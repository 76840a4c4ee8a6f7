//! The rows of a table in the order of one or several columns.
//!
//! Values become integers that ascend with them. Above the bits of the row number, each item has the leading bits of
//! its integer, from the highest bit in which any two differ: `base/radix` sorts the items. Integers with more such
//! bits than fit are compared again among the few items that are equal so far. Rows whose value is missing are moved
//! behind all others, and not sorted: their values are never compared. Several columns are sorted one after another,
//! from the last to the first, each sort stable.
//! Semantics: NumPy `argsort(kind="stable")`, and -0.0 equals 0.0. Missing values: pandas `na_position="last"`.

use super::take::column_of;
use super::tiling::{copy_of, lent_slice};
use super::{NumericTable, TableDescription, missing};
use crate::array::{Array, Validity};
use crate::base::count::same_count;
use crate::base::element::{Element, ElementType, match_element};
use crate::base::error::{Error, Result};
use crate::base::number::Exact;
use crate::base::room::{filled, with_room};
use crate::base::{parallel, radix};
use crate::convert::ConversionPolicy;
use crate::dictionary::Categories;
use crate::window::AnySlice;

/// The order of the values of a column. NaN comes after all numbers in any of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    pub(super) is_descending: bool,
    /// Whether categories are in the order of their labels, if they have labels.
    pub(super) is_by_label: bool,
}

/// The rows of a table in ascending order of a column's values, missing ones last. Equal values, and missing ones, are
/// in the order of their rows.
pub(super) struct Sorted {
    /// The row number in the lowest `row_bits` bits, and above it a part of the integer. Equal integers follow each
    /// other.
    items: Array<u64>,
    /// The number of items whose value is present. The others follow, with unspecified integers.
    present: usize,
    row_bits: u32,
    /// The integer of each row, if an item has not all bits in which they differ.
    keys: Option<Array<u64>>,
}

/// Row numbers, in half of the memory if they fit.
pub(super) enum Rows {
    Short(Array<u32>),
    Long(Vec<usize>),
}

impl Rows {
    /// Returns the rows in the order of several columns: the first one decides, the next ones among equal rows. Equal
    /// rows keep their order.
    pub(super) fn by(table: &(dyn NumericTable + '_), columns: &[(usize, Order)]) -> Result<Self> {
        let mut rows: Option<Self> = None;
        for &(column, order) in columns.iter().rev() {
            let (keys, validity) = keys_of(table, column, order)?;
            rows = Some(match rows {
                None => Sorted::of(keys, validity)?.into_rows()?,
                Some(rows) => rows.sorted_by(&keys, validity.as_ref())?,
            });
        }
        if let Some(rows) = rows {
            return Ok(rows);
        }
        let count = table.shape().rows;
        let mut all = with_room(count)?;
        all.extend(0..count);
        Ok(Self::Long(all))
    }

    fn len(&self) -> usize {
        match self {
            Self::Short(rows) => rows.len(),
            Self::Long(rows) => rows.len(),
        }
    }

    fn at(&self, place: usize) -> usize {
        match self {
            Self::Short(rows) => rows[place] as usize,
            Self::Long(rows) => rows[place],
        }
    }

    /// Sorts these rows by the keys of all rows. Equal ones keep their order among these.
    fn sorted_by(self, keys: &[u64], validity: Option<&Validity>) -> Result<Self> {
        same_count(self.len(), keys.len())?; // a user's kind of table may change its answer
        let moved = Array::from_fn(keys.len(), |place| keys[self.at(place)])?;
        let is_present = |validity: &Validity, place| validity.is_present(self.at(place)).unwrap_or_default();
        let validity = validity.map(|validity| Validity::from_fn(keys.len(), |place| is_present(validity, place)));
        let mut places = Sorted::of(moved, validity.transpose()?)?.into_rows()?;
        match &mut places {
            Self::Short(places) => parallel::for_each_chunk_mut(places.mutable_data()?, &|_, chunk| {
                chunk.iter_mut().for_each(|place| *place = self.at(*place as usize) as u32); // rows are as many
            }),
            Self::Long(places) => parallel::for_each_chunk_mut(places, &|_, chunk| {
                chunk.iter_mut().for_each(|place| *place = self.at(*place));
            }),
        }
        Ok(places)
    }
}

/// The rows of equal values.
pub(super) struct Class<'s> {
    items: &'s [u64],
    row_bits: u32,
    is_missing: bool,
}

impl Class<'_> {
    /// Returns whether these are the rows whose value is missing.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of a row, by its place in the class.
    pub(super) fn row(&self, place: usize) -> usize {
        row_of(self.items[place], self.row_bits)
    }
}

impl Sorted {
    /// Sorts the rows. Needs 16 bytes for each row, or 24 if integers differ in many bits.
    pub(super) fn by(table: &(dyn NumericTable + '_), column: usize, order: Order) -> Result<Self> {
        let (keys, validity) = keys_of(table, column, order)?;
        Self::of(keys, validity)
    }

    /// Sorts the rows by the integer of each. Rows whose value is missing come last.
    pub(super) fn of(mut keys: Array<u64>, validity: Option<Validity>) -> Result<Self> {
        if let Some(validity) = &validity {
            hide_missing(keys.mutable_data()?, validity);
        }
        let count = keys.len();
        let row_bits = usize::BITS - count.saturating_sub(1).leading_zeros();
        let window = Window::of(varying(&keys), u64::BITS - row_bits);
        let (mut items, keys) = match window.is_exact {
            true => {
                parallel::for_each_chunk_mut(keys.mutable_data()?, &|offset, chunk| {
                    (offset..).zip(chunk).for_each(|(row, item)| *item = window.pack(*item, row, row_bits));
                });
                (keys, None)
            }
            false => (Array::from_fn(count, |row| window.pack(keys[row], row, row_bits))?, Some(keys)),
        };
        // `full` may use memory again that was freed before, and that the system need not clear. `zeros` takes no
        // memory until it is written, and here it is not.
        let is_sorted = window.bits == 0 && validity.is_none();
        let mut spare = if is_sorted { Array::zeros(count)? } else { Array::full(count, 0)? };
        let (packed, spare) = (items.mutable_data()?, spare.mutable_data()?);
        let present = validity.map_or(count, |validity| move_missing_to_end(packed, spare, &validity));
        sort(&mut packed[..present], &mut spare[..present], row_bits, window, keys.as_deref());
        Ok(Self { items, present, row_bits, keys })
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the row numbers, in order.
    fn into_rows(self) -> Result<Rows> {
        let Self { items, row_bits, keys, .. } = self;
        drop(keys);
        let row = |place: usize| row_of(items[place], row_bits);
        if row_bits <= u32::BITS {
            return Array::from_fn(items.len(), |place| row(place) as u32).map(Rows::Short); // has that many bits
        }
        let mut rows = filled(items.len(), 0)?;
        parallel::for_each_chunk_mut(&mut rows, &|offset, chunk| {
            (offset..).zip(chunk).for_each(|(place, target)| *target = row(place));
        });
        Ok(Rows::Long(rows))
    }

    /// Calls `work` with the rows of each value, in ascending order of the values, and then with those whose value is
    /// missing.
    pub(super) fn try_for_each_class(&self, mut work: impl FnMut(Class<'_>) -> Result<()>) -> Result<()> {
        let row_bits = self.row_bits;
        let is_same = |&one: &u64, &other: &u64| match &self.keys {
            Some(keys) => keys[row_of(one, row_bits)] == keys[row_of(other, row_bits)],
            None => prefix(one, row_bits) == prefix(other, row_bits),
        };
        let (present, missing) = self.items.split_at(self.present);
        present.chunk_by(is_same).try_for_each(|items| work(Class { items, row_bits, is_missing: false }))?;
        match missing.is_empty() {
            true => Ok(()),
            false => work(Class { items: missing, row_bits, is_missing: true }),
        }
    }
}

/// The bits of integers that items have.
#[derive(Clone, Copy)]
struct Window {
    /// The lowest bit.
    start: u32,
    bits: u32,
    /// Whether integers differ in no other bits.
    is_exact: bool,
}

impl Window {
    /// Returns the highest bits in which integers differ, given all of these, at most the given number.
    fn of(varying: u64, most: u32) -> Self {
        let (end, last) = (u64::BITS - varying.leading_zeros(), varying.trailing_zeros());
        let start = end.saturating_sub(most).max(last.min(end));
        Self { start, bits: end - start, is_exact: last >= start }
    }

    fn pack(self, key: u64, row: usize, row_bits: u32) -> u64 {
        let part = match self.bits {
            0 => 0,
            bits => (key >> self.start) & (u64::MAX >> (u64::BITS - bits)),
        };
        part.checked_shl(row_bits).unwrap_or(0) | row as u64
    }
}

/// Returns the bits above those of the row number.
fn prefix(item: u64, row_bits: u32) -> u64 {
    item.checked_shr(row_bits).unwrap_or(0)
}

fn row_of(item: u64, row_bits: u32) -> usize {
    (item & !u64::MAX.checked_shl(row_bits).unwrap_or(0)) as usize // was a `usize`
}

/// Sorts items whose rows ascend. `keys` are the integers of all rows, needed if the window is not exact.
fn sort(items: &mut [u64], spare: &mut [u64], row_bits: u32, window: Window, keys: Option<&[u64]>) {
    radix::sort(items, spare, row_bits, row_bits + window.bits);
    if let Some(keys) = keys.filter(|_| !window.is_exact) {
        let is_same = |one, other| prefix(one, row_bits) == prefix(other, row_bits);
        radix::for_each_run(items, spare, is_same, |run, spare| {
            let key = |item: u64| keys[row_of(item, row_bits)];
            let first = key(run[0]);
            let varying = run.iter().fold(0, |varying, &item| varying | (key(item) ^ first));
            let window = Window::of(varying, u64::BITS - row_bits);
            for item in &mut *run {
                *item = window.pack(key(*item), row_of(*item, row_bits), row_bits);
            }
            sort(run, spare, row_bits, window, Some(keys));
        });
    }
}

/// Returns the bits in which any two integers differ.
fn varying(keys: &[u64]) -> u64 {
    let Some(&first) = keys.first() else { return 0 };
    let parts = parallel::cut(keys, keys.len(), parallel::task_count(size_of_val(keys)), <[u64]>::split_at);
    let found = parallel::map(parts, |keys| keys.iter().fold(0, |varying, &key| varying | (key ^ first)));
    found.into_iter().fold(0, |all, varying| all | varying)
}

/// Replaces the integers of missing values by that of a present one, so that no two integers differ because of them.
fn hide_missing(keys: &mut [u64], validity: &Validity) {
    let present = validity.runs().find(|(_, is_present)| *is_present);
    let key = present.and_then(|(rows, _)| keys.get(rows.start).copied()).unwrap_or_default();
    for (rows, _) in validity.runs().filter(|(_, is_present)| !is_present) {
        keys[rows].fill(key);
    }
}

/// Moves the items of missing values, one for each row, to the end. Both groups stay in order. Returns the number of
/// the other items. The spare memory must be as large.
fn move_missing_to_end(items: &mut [u64], spare: &mut [u64], validity: &Validity) -> usize {
    let (mut present, mut missing) = (0, 0);
    for (rows, is_present) in validity.runs() {
        let count = rows.len();
        if is_present {
            items.copy_within(rows, present);
            present += count;
        } else {
            spare[missing..missing + count].copy_from_slice(&items[rows]);
            missing += count;
        }
    }
    items[present..].copy_from_slice(&spare[..missing]);
    present
}

/// Returns an integer for each value of a column, and which of them are present; `None` if all are.
pub(super) fn keys_of(
    table: &(dyn NumericTable + '_),
    column: usize,
    order: Order,
) -> Result<(Array<u64>, Option<Validity>)> {
    let (shape, element) = (table.shape(), table.column_type(column)?);
    let feature = table.dictionary().feature(column).ok().filter(|_| order.is_by_label);
    let categories = feature.and_then(|feature| feature.categories.as_ref());
    let ranks = categories.map(ranks_of).transpose()?.flatten();
    let integers = |values| integers_of(values, ranks.as_deref(), order.is_descending);
    if table.dictionary().is_nullable(column) {
        let (array, validity) = missing::column_of(table, column, &(0..shape.rows), element)?;
        return Ok((integers(array.as_slice())?, validity));
    }
    let all = column_of(shape, column);
    let copy = match lent_slice(table, &all, element)? {
        Some(_) => None,
        None => Some(copy_of(table, &all, element, ConversionPolicy::Saturate)?),
    };
    let values = match &copy {
        Some(copy) => copy.as_slice(),
        None => lent_slice(table, &all, element)?.ok_or_else(Error::not_contiguous)?,
    };
    Ok((integers(values)?, None))
}

/// Returns the rank of each category among the sorted labels; `None` for categories without labels.
fn ranks_of(categories: &Categories) -> Result<Option<Vec<u64>>> {
    if !categories.has_labels() {
        return Ok(None);
    }
    let mut labels = with_room(categories.len())?;
    labels.extend(categories.labels().enumerate());
    labels.sort_unstable_by_key(|&(_, label)| label); // no two are equal
    let mut ranks = filled(labels.len(), 0)?;
    (0..).zip(labels).for_each(|(rank, (category, _))| ranks[category] = rank);
    Ok(Some(ranks))
}

fn integers_of(values: AnySlice<'_>, ranks: Option<&[u64]>, is_descending: bool) -> Result<Array<u64>> {
    match_element!(values.element_type(), T => {
        let values = values.as_slice::<T>();
        match (ranks, is_descending) {
            (None, false) => Array::from_fn(values.len(), |row| key(values[row])),
            (None, true) => Array::from_fn(values.len(), |row| descending(key(values[row]), values[row])),
            (Some(ranks), false) => Array::from_fn(values.len(), |row| ranked(values[row], ranks)),
            (Some(ranks), true) => {
                Array::from_fn(values.len(), |row| descending(ranked(values[row], ranks), values[row]))
            }
        }
    })
}

/// Returns the rank of a category; after all ranks a value that is not a category, and after it NaN.
fn ranked<T: Element>(value: T, ranks: &[u64]) -> u64 {
    match value.exact() {
        Exact::Float(value) if value.is_nan() => u64::MAX,
        value => value.index().and_then(|category| ranks.get(category).copied()).unwrap_or(ranks.len() as u64),
    }
}

/// Returns a number that sorts in the opposite order, except that NaN stays the last.
fn descending<T: Element>(key: u64, value: T) -> u64 {
    match value.exact() {
        Exact::Float(value) if value.is_nan() => u64::MAX,
        _ => !key, // of a float, never that of NaN
    }
}

/// Returns a number that sorts like the values of one type: NaN after all others, and -0.0 like 0.0.
fn key<T: Element>(value: T) -> u64 {
    const SIGN: u64 = 1 << 63;
    match value.exact() {
        Exact::Integer(integer) if T::TYPE == ElementType::U64 => integer as u64,
        Exact::Integer(integer) => integer as i64 as u64 ^ SIGN,
        Exact::Float(float) if float.is_nan() => u64::MAX, // above that of infinity
        Exact::Float(float) => match (float + 0.0).to_bits() {
            bits if bits & SIGN == 0 => bits | SIGN,
            bits => !bits,
        },
    }
}
