//! Sequences that arrange the values of other sequences.

use numeric_table::convert::{ConversionPolicy, convert_slice};

use super::pack::visit;
use super::{Sequence, outside, pack, packed_bytes, range_of};
use crate::device_table::in_rows_from;
use crate::{DeviceArray, HandleError, Kernels};

/// Number of bytes of values that a device may have all of, to choose a few of them.
const FEW: usize = 1 << 20;

/// Sequences end to end: columns of a structure of arrays, or the values of several tables. Long runs of values cross
/// from where they lie; others are packed.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::Chunked;
/// let device = EmulatedDevice::new();
/// let (first, second) = (vec![1_i16, 2], vec![3, 4, 5]);
/// let both = ArrayHandle::from_sequence(&device, Chunked::new(vec![&first[..], &second])?);
/// both.prepare_for_input()?;
/// assert_eq!((device.stats().uploads.bytes, both.read_portal()?), (10, &[1, 2, 3, 4, 5][..]));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chunked<S> {
    parts: Vec<S>,
    /// The index after the last value of each part.
    ends: Vec<usize>,
}

impl<S: Sequence> Chunked<S> {
    /// Creates a sequence of the values of all parts.
    ///
    /// # Errors
    /// [`HandleError::LengthOverflow`].
    ///
    /// # Examples
    /// See the type.
    pub fn new(parts: Vec<S>) -> Result<Self, HandleError> {
        let mut ends = Vec::with_capacity(parts.len());
        let mut end = 0_usize;
        for part in &parts {
            end = end.checked_add(part.count()).ok_or(HandleError::LengthOverflow)?;
            ends.push(end);
        }
        Ok(Self { parts, ends })
    }

    /// Returns the place in `parts` of the value at an index, and the index of the first value of that part.
    fn part_of(&self, index: usize) -> Option<(&S, usize)> {
        let place = self.ends.partition_point(|&end| end <= index);
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        Some((self.parts.get(place)?, start))
    }
}

impl<S: Sequence> Sequence for Chunked<S> {
    type Value = S::Value;

    fn count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn read(&self, first: usize, target: &mut [S::Value]) -> Result<(), HandleError> {
        let range = range_of(first, target.len(), self.count())?;
        let (mut index, mut rest) = (first, target);
        while !rest.is_empty() {
            let (part, start) = self.part_of(index).ok_or_else(|| outside(range.clone(), self.count()))?;
            let length = rest.len().min(start.saturating_add(part.count()).saturating_sub(index)).max(1);
            let (values, others) = rest.split_at_mut(length);
            part.read(index - start, values)?;
            (index, rest) = (index + length, others);
        }
        Ok(())
    }

    fn run(&self, first: usize) -> &[S::Value] {
        self.part_of(first).map_or(&[], |(part, start)| part.run(first - start))
    }
}

/// The values of one sequence at the indices that another one has: values in another order, repeated values, the points
/// of cells. A device gathers them, if fewer bytes cross for the values and the indices than for the result; otherwise
/// they are packed. They are packed too if the values on the device would take more memory than the result, and more
/// than 1 MiB: if a thousand of a billion computed values are chosen, the thousand cross.
///
/// Indices are of any element type; of floating-point types, they must be whole numbers.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, DeviceAdapter, EmulatedDevice};
/// use numeric_table_execution::sequence::{Counting, Permuted};
/// let device = EmulatedDevice::new();
/// let (points, cells) = ([1.5_f64, 2.5, 3.5], vec![0_u8, 1, 1, 2, 2, 0, 0, 1]);
/// let of_cells = ArrayHandle::from_sequence(&device, Permuted::new(&points[..], cells));
/// of_cells.prepare_for_input()?;
/// assert_eq!(device.stats().uploads.bytes, 24 + 8); // instead of 64
/// assert_eq!(of_cells.read_portal()?, [1.5, 2.5, 2.5, 3.5, 3.5, 1.5, 1.5, 2.5]);
///
/// let backwards = Permuted::new(&points[..], Counting::new(2, -1, 3)?);
/// assert_eq!(ArrayHandle::from_sequence(&device, backwards).read_portal()?, [3.5, 2.5, 1.5]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Permuted<V, I> {
    values: V,
    indices: I,
}

impl<V: Sequence, I: Sequence> Permuted<V, I> {
    /// Creates a sequence of the values at some indices. Each index is checked when it is read.
    ///
    /// # Examples
    /// An index that is too large:
    /// ```
    /// use numeric_table_execution::{ArrayHandle, HostSerial};
    /// use numeric_table_execution::sequence::Permuted;
    /// let values = ArrayHandle::from_sequence(&HostSerial, Permuted::new(&[1_i32, 2][..], &[0_u32, 2][..]));
    /// assert_eq!(
    ///     values.prepare_for_input().unwrap_err().to_string(),
    ///     "index 2 is out of range: there are 2 elements"
    /// );
    /// ```
    pub fn new(values: V, indices: I) -> Self {
        Self { values, indices }
    }

    /// Returns the number of bytes that cross if a device gathers the values; `None` if it packs them.
    fn bytes_to_gather<D: Kernels>(&self, count: usize) -> Option<usize> {
        let size = size_of::<V::Value>();
        let room = count.saturating_mul(size).max(FEW);
        if self.values.count().checked_mul(size).is_none_or(|bytes| bytes > room) {
            return None;
        }
        let values = self.values.bytes_to_copy::<D>(self.values.count());
        let bytes = values.saturating_add(self.indices.bytes_to_copy::<D>(count));
        (bytes < packed_bytes::<V::Value, D>(count)).then_some(bytes)
    }
}

impl<V: Sequence, I: Sequence> Sequence for Permuted<V, I> {
    type Value = V::Value;

    fn count(&self) -> usize {
        self.indices.count()
    }

    fn read(&self, first: usize, target: &mut [V::Value]) -> Result<(), HandleError> {
        const AT_ONCE: usize = 256;
        let count = self.values.count();
        let values = self.values.run(0);
        visit(&self.indices, first, target.len(), |offset, indices| {
            for (part, indices) in indices.chunks(AT_ONCE).enumerate() {
                let (offset, mut places) = (offset + part * AT_ONCE, [0_u64; AT_ONCE]);
                let places = &mut places[..indices.len()];
                convert_slice(indices, places, ConversionPolicy::Exact)
                    .map_err(|error| in_rows_from(first + offset, error))?;
                for (target, &place) in target[offset..].iter_mut().zip(places.iter()) {
                    let place = usize::try_from(place).unwrap_or(usize::MAX);
                    match values.get(place) {
                        Some(&value) => *target = value,
                        None if place < count => self.values.read(place, std::slice::from_mut(target))?,
                        None => return Err(outside(place..place.saturating_add(1), count)),
                    }
                }
            }
            Ok(())
        })
    }

    fn bytes_to_copy<D: Kernels>(&self, count: usize) -> usize {
        self.bytes_to_gather::<D>(count).unwrap_or_else(|| packed_bytes::<V::Value, D>(count))
    }

    fn prepare<D: Kernels>(&self, device: &D, count: usize) -> Result<DeviceArray<V::Value, D>, HandleError> {
        if self.bytes_to_gather::<D>(count).is_none() {
            return pack(self, device, count);
        }
        let stored = self.indices.prepare(device, count)?;
        let mut indices = DeviceArray::<u64, D>::allocate(device, count)?;
        device.convert(stored.view()?, indices.view_mut()?, ConversionPolicy::Exact)?;
        let values = self.values.prepare(device, self.values.count())?;
        let mut gathered = DeviceArray::allocate(device, count)?;
        device.gather(values.view()?, indices.view()?, gathered.view_mut()?)?;
        Ok(gathered)
    }
}

/// The first values of some sequences, then their second values, and so on: vectors whose components are the sequences.
/// They are packed.
///
/// # Examples
/// ```
/// use numeric_table_execution::{ArrayHandle, EmulatedDevice};
/// use numeric_table_execution::sequence::{Constant, Sequence, Zipped};
/// let x = [1.0_f32, 2.0];
/// let parts: [&dyn Sequence<Value = f32>; 2] = [&&x[..], &Constant::new(0.5, 2)];
/// let vectors = ArrayHandle::from_sequence(&EmulatedDevice::new(), Zipped::new(parts)?);
/// assert_eq!(vectors.read_portal()?, [1.0, 0.5, 2.0, 0.5]);
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Zipped<S, const PARTS: usize> {
    parts: [S; PARTS],
    /// The number of values of all parts together.
    count: usize,
}

impl<S: Sequence, const PARTS: usize> Zipped<S, PARTS> {
    /// Creates a sequence of the values of all parts in turn.
    ///
    /// # Errors
    /// [`HandleError::LengthMismatch`] if the parts have different numbers of values; [`HandleError::LengthOverflow`].
    ///
    /// # Examples
    /// See the type.
    pub fn new(parts: [S; PARTS]) -> Result<Self, HandleError> {
        let length = parts.first().map_or(0, S::count);
        if let Some(other) = parts.iter().find(|part| part.count() != length) {
            return Err(HandleError::LengthMismatch { have: other.count(), want: length });
        }
        let count = length.checked_mul(PARTS).ok_or(HandleError::LengthOverflow)?;
        Ok(Self { parts, count })
    }
}

impl<S: Sequence, const PARTS: usize> Sequence for Zipped<S, PARTS> {
    type Value = S::Value;

    fn count(&self) -> usize {
        self.count
    }

    fn read(&self, first: usize, target: &mut [S::Value]) -> Result<(), HandleError> {
        let end = range_of(first, target.len(), self.count)?.end;
        for (place, part) in self.parts.iter().enumerate() {
            // Value `index` of this part has index `index * PARTS + place`.
            let start = first.saturating_sub(place).div_ceil(PARTS);
            let length = end.saturating_sub(place).div_ceil(PARTS).saturating_sub(start);
            visit(part, start, length, |offset, values| {
                let from = (start + offset) * PARTS + place - first;
                let target = target[from..].iter_mut().step_by(PARTS);
                target.zip(values).for_each(|(target, &value)| *target = value);
                Ok(())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use numeric_table::Element;

    use super::*;

    /// Reads every part of a sequence.
    fn check<S: Sequence<Value: Element>>(sequence: &S, expected: &[S::Value]) {
        assert_eq!(sequence.count(), expected.len());
        for first in 0..=expected.len() {
            for end in first..=expected.len() {
                let mut values = vec![S::Value::default(); end - first];
                sequence.read(first, &mut values).unwrap();
                assert_eq!(values, expected[first..end], "{first}..{end}");
            }
            let run = sequence.run(first);
            assert_eq!(run, &expected[first..first + run.len()]);
        }
        let mut one = [S::Value::default()];
        for first in [expected.len(), expected.len() + 1, usize::MAX] {
            assert!(sequence.read(first, &mut one).is_err());
            assert!(sequence.run(first).is_empty());
        }
    }

    #[test]
    fn every_part_of_every_arrangement_can_be_read() {
        let values: Vec<i32> = (0..11).collect();
        check(&&values[..], &values);
        let chunks = [&values[..3], &[], &values[3..4], &values[4..], &[]];
        check(&Chunked::new(chunks.to_vec()).unwrap(), &values);
        check(&Chunked::<&[i32]>::new(Vec::new()).unwrap(), &[]);
        let indices = [10_u8, 0, 3, 3, 7];
        check(&Permuted::new(&values[..], &indices[..]), &[10, 0, 3, 3, 7]);
        let from_chunks = Permuted::new(Chunked::new(chunks.to_vec()).unwrap(), &indices[..]);
        check(&from_chunks, &[10, 0, 3, 3, 7]);
        check(&Zipped::new([&values[..3], &values[5..8], &values[8..]]).unwrap(), &[0, 5, 8, 1, 6, 9, 2, 7, 10]);
        check(&Zipped::<&[i32], 0>::new([]).unwrap(), &[]);
    }
}
