//! Reading columns and arrays with their masks: the array `x.mask` of truth values says which values of `x` are
//! missing.

use std::io::{Read, Seek};

use super::failure::{failed, within};
use super::names::MASK;
use super::reader::{NpzReader, placed};
use crate::array::{AnyArray, Validity};
use crate::base::element::{Element, match_element};
use crate::base::error::{Error, ErrorKind, Hint, Result};
use crate::base::number::Exact;
use crate::base::room::filled;
use crate::base::shape::Shape;
use crate::base::text::excerpt;
use crate::dictionary::Feature;
use crate::interop::npy::header::AnyHeader;
use crate::interop::npy::parts::{MaskHeader, read_mask};
use crate::table::{DataLayout, HomogenNumericTable, NumericTable, SoaNumericTable};

/// Number of truth values that are read at a time.
const PIECE: usize = 4 << 10;

impl<R: Read + Seek> NpzReader<R> {
    /// Loads arrays of one dimension, or of one column, as the columns of a table, with their names and types. If the
    /// file has an array `x.mask` of truth values, as users of `numpy.ma` save them, it is the mask of the column `x`:
    /// values whose mask is true are missing, and a value under it is never read. A single truth value applies to all
    /// values.
    ///
    /// # Errors
    /// Those of [`load_any`](Self::load_any); [`ErrorKind::Format`] if an array has several columns, if its number of
    /// values differs from that of the first (checked before any values are read), if an array with the name of a mask
    /// has values of another type or another number of them, or if all arrays together are larger than the options
    /// allow.
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{AnyArray, SoaNumericTable, npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("flows.npz");
    /// let columns = [("port", AnyArray::from(vec![80_u16, 443])), ("start", AnyArray::from(vec![0.5_f64, 1.5]))];
    /// npz::save_columns(&path, &SoaNumericTable::from_columns(columns)?)?;
    /// let table = NpzReader::open(&path)?.load_columns(["start"])?;
    /// assert_eq!((table.shape(), table.column_slice::<f64>(0)?), (Shape { rows: 2, columns: 1 }, &[0.5, 1.5][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_columns<N: AsRef<str>>(&mut self, names: impl IntoIterator<Item = N>) -> Result<SoaNumericTable> {
        let names: Vec<N> = names.into_iter().collect();
        let (mut left, mut first) = (self.max_bytes, None);
        for name in &names {
            let name = name.as_ref();
            let rows = self.with_array(name, &mut left, |array| match array.numbers()?.shape {
                Shape { rows, columns: 1 } => Ok(rows),
                Shape { columns, .. } => {
                    let reason = format!("an array of {columns} columns is not one column: `load` reads it");
                    Err(Error::format(0, reason))
                }
            })?;
            match *first.get_or_insert((name, rows)) {
                (_, expected) if rows == expected => {}
                (other, expected) => {
                    let other = excerpt(other.as_bytes());
                    let reason = format!("it has {rows} values, but the array {other:?} has {expected}");
                    return Err(placed(within(Error::format(0, reason), name), self.path.as_deref()));
                }
            }
            if let Some(mask) = self.mask_of(name) {
                self.with_member(&mask, &mut left, |member, entry| {
                    Mask::of_column(member, entry.size, rows).map(drop)
                })?;
            }
        }
        let (mut left, mut table) = (self.max_bytes, SoaNumericTable::new());
        for name in &names {
            let name = name.as_ref();
            let array = self.with_array(name, &mut left, |array| {
                let element = array.numbers()?.element_type;
                match_element!(element, T => Ok(AnyArray::new(array.read::<T>()?.into_array()?)))
            })?;
            let rows = array.len();
            let validity = match self.mask_of(name) {
                Some(mask) => self.with_member(&mask, &mut left, |member, entry| {
                    Mask::of_column(member, entry.size, rows)?.validity(member)
                })?,
                None => None,
            };
            let feature = Feature::new(array.element_type()).named(name);
            table.push_nullable(feature, array, validity)?;
        }
        Ok(table)
    }

    /// Loads all arrays as the columns of a table, in the order of the file, as [`load_columns`](Self::load_columns)
    /// does. Masks of other arrays are not columns.
    ///
    /// # Errors
    /// Those of [`load_columns`](Self::load_columns).
    ///
    /// # Examples
    /// ```
    /// use numeric_table::{SoaNumericTable, npz::{self, NpzReader}, prelude::*};
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("columns.npz");
    /// npz::save_columns(&path, &SoaNumericTable::from_columns([("z", vec![1_i16, 2]), ("a", vec![3, 4])])?)?;
    /// let table = NpzReader::open(&path)?.load_all_columns()?;
    /// assert_eq!(table.rows::<i16>(..)?[..], [1, 3, 2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "npz")))]
    pub fn load_all_columns(&mut self) -> Result<SoaNumericTable> {
        let is_mask = |name: &&str| name.strip_suffix(MASK).is_some_and(|masked| self.places.contains_key(masked));
        let names: Vec<String> = self.names().filter(|name| !is_mask(name)).map(str::to_owned).collect();
        self.load_columns(names)
    }

    /// Returns the name of the mask of an array, if the file has one.
    fn mask_of(&self, name: &str) -> Option<String> {
        let mask = format!("{name}{MASK}");
        self.places.contains_key(&mask).then_some(mask)
    }

    /// Replaces the masked values of an array by NaN. An array with the name of a mask that is not one of truth values is
    /// left alone.
    ///
    /// # Errors
    /// [`ErrorKind::MissingValue`] if the type has no NaN; [`ErrorKind::Format`] for a mask of another shape; those of
    /// reading the mask.
    pub(super) fn apply_mask<T: Element>(
        &mut self,
        name: &str,
        table: &mut HomogenNumericTable<T>,
        left: &mut u64,
    ) -> Result<()> {
        let Some(mask) = self.mask_of(name) else { return Ok(()) };
        let (shape, layout) = (table.shape(), table.data_layout());
        self.with_member(&mask, left, |member, entry| {
            let Some(mask) = Mask::read(member, entry.size, shape)? else { return Ok(()) };
            let (mask_layout, values) = (mask.layout, table.as_mut_slice()?);
            mask.for_each(member, |index| {
                let (row, column) = match mask_layout {
                    DataLayout::RowMajor => (index / shape.columns, index % shape.columns),
                    DataLayout::ColumnMajor => (index % shape.rows, index / shape.rows),
                };
                if !T::TYPE.is_float() {
                    let keep = Hint::new("load_columns", "keeps missing values of arrays of one dimension");
                    let nan = Hint::new("load_cast", "reads them as NaN if the type is a floating-point one");
                    return Err(Error::new(ErrorKind::MissingValue { row, column }).with_hint(keep).with_hint(nan));
                }
                let place = match layout {
                    DataLayout::RowMajor => row * shape.columns + column,
                    DataLayout::ColumnMajor => column * shape.rows + row,
                };
                values[place] = T::nearest(Exact::Float(f64::NAN));
                Ok(())
            })
        })
    }

    /// Checks that an array of structures has no mask. Arrays of numbers with the name of a mask are none.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the name of the array; those of opening the mask.
    pub(super) fn check_unmasked(&mut self, name: &str, left: &mut u64) -> Result<()> {
        let Some(mask) = self.mask_of(name) else { return Ok(()) };
        let is_mask = self.with_member(&mask, left, |member, _| match AnyHeader::read(member, &failed) {
            Ok(AnyHeader::Numbers(_)) => Ok(false),
            Ok(AnyHeader::Records(_)) => Ok(true),
            // Truth values, or structures of them.
            Err(error) if matches!(error.kind(), ErrorKind::Format { .. }) => Ok(true),
            Err(error) => Err(error),
        })?;
        if !is_mask {
            return Ok(());
        }
        let reason = format!(
            "an array of structures cannot be read with its mask, {}: fill its missing values, and save it without \
             the mask; in Python: x.filled(0)",
            excerpt(mask.as_bytes())
        );
        Err(Error::unsupported(".npz file", None, Some(excerpt(name.as_bytes())), reason))
    }
}

/// A mask whose header has been read.
struct Mask {
    /// Number of values that it masks.
    count: usize,
    layout: DataLayout,
    /// Number of bytes before the truth values.
    position: usize,
    /// Whether a single truth value applies to all values.
    is_single: bool,
}

impl Mask {
    /// Reads the header of the mask of an array of the given shape, in a member of `size` bytes. Returns `None` if the
    /// array is not one of truth values.
    fn read(member: &mut impl Read, size: u64, shape: Shape) -> Result<Option<Self>> {
        let Some(MaskHeader { shape: found, layout, length: position }) = read_mask(member, &failed)? else {
            return Ok(None);
        };
        if let Some(found) = found.filter(|found| *found != shape) {
            let reason = format!("the mask has {found} truth values, but the array that it masks has {shape} values");
            return Err(Error::format(position as u64, reason));
        }
        let mask = Self { count: shape.element_count()?, layout, position, is_single: found.is_none() };
        let count = mask.truth_count();
        let end = (position as u64).saturating_add(count as u64);
        match size == end {
            true => Ok(Some(mask)),
            false => Err(Error::format(size.min(end), format!("{count} truth values end at byte {end}, not {size}"))),
        }
    }

    /// Reads the header of the mask of a column of `rows` values, as [`read`](Self::read) does.
    fn of_column(member: &mut impl Read, size: u64, rows: usize) -> Result<Self> {
        Self::read(member, size, Shape { rows, columns: 1 })?.ok_or_else(|| {
            let reason = "it has the name of a mask, so it must be an array of truth values; in Python: a.astype('?')";
            Error::format(0, reason)
        })
    }

    /// Returns the number of truth values.
    fn truth_count(&self) -> usize {
        if self.is_single { 1 } else { self.count }
    }

    /// Reads the truth values. Calls `visit` with the index of each value that is masked.
    fn for_each(&self, member: &mut impl Read, mut visit: impl FnMut(usize) -> Result<()>) -> Result<()> {
        let (mut room, mut done) = ([0; PIECE], 0);
        let count = self.truth_count();
        while done < count {
            let piece = &mut room[..PIECE.min(count - done)];
            member.read_exact(piece).map_err(failed)?;
            if let Some(place) = piece.iter().position(|&byte| byte > 1) {
                let reason = format!("{} is not a truth value, which is 0 or 1", piece[place]);
                return Err(Error::format((self.position + done + place) as u64, reason));
            }
            for (place, _) in piece.iter().enumerate().filter(|(_, byte)| **byte == 1) {
                match self.is_single {
                    true => (0..self.count).try_for_each(&mut visit)?,
                    false => visit(done + place)?,
                }
            }
            done += piece.len();
        }
        Ok(())
    }

    /// Reads the truth values. Returns which values are present; `None` if all are.
    fn validity(&self, member: &mut impl Read) -> Result<Option<Validity>> {
        let mut bits = filled(self.count.div_ceil(8), u8::MAX)?;
        self.for_each(member, |index| {
            bits[index / 8] &= !(1 << (index % 8));
            Ok(())
        })?;
        Ok(Some(Validity::new(bits, 0, self.count)?).filter(Validity::has_missing))
    }
}
