//! Copying the values of a sequence: by all threads to the program's memory, and in pieces to a device.

use numeric_table::Array;
use numeric_table::internal::parallel;

use super::{Sequence, range_of};
use crate::memory::ExecutionMemory;
use crate::{DeviceAdapter, DeviceArray, HandleError};

/// Bytes of the values that are packed before they cross. Longer runs cross from where they lie.
const PIECE: usize = 4 << 20;

/// Number of values in the buffers of sequences that change values.
const AT_ONCE: usize = 512;

/// Copies the first `count` values of a sequence to a device, in pieces: all threads pack a piece, which then crosses.
/// Long runs of values are not packed.
///
/// For implementers of [`Sequence::prepare`].
///
/// # Errors
/// Those of [`Sequence::prepare`].
///
/// # Examples
/// ```
/// use numeric_table_execution::sequence::{Constant, pack};
/// use numeric_table_execution::{DeviceAdapter, EmulatedDevice};
/// let device = EmulatedDevice::new();
/// let packed = pack(&Constant::new(1.5_f32, 9), &device, 3)?;
/// assert_eq!((&packed.to_array()?[..], device.stats().uploads.bytes), (&[1.5; 3][..], 12));
/// # Ok::<(), numeric_table_execution::HandleError>(())
/// ```
pub fn pack<S: Sequence + ?Sized, D: DeviceAdapter>(
    sequence: &S,
    device: &D,
    count: usize,
) -> Result<DeviceArray<S::Value, D>, HandleError> {
    range_of(0, count, sequence.count())?;
    if D::Memory::IS_SHARED {
        return DeviceArray::from_array(device, device.in_program(|| to_array(sequence, count))?);
    }
    let mut values = DeviceArray::allocate(device, count)?;
    let most = PIECE / size_of::<S::Value>();
    let mut staging = Array::<S::Value>::new();
    let mut first = 0;
    while first < count {
        let rest = count - first;
        let run = sequence.run(first);
        let run = &run[..run.len().min(rest)];
        if run.len() >= rest.min(most) {
            values.copy_from_host(first, run)?;
            first += run.len();
            continue;
        }
        let length = rest.min(most);
        if staging.len() < length {
            staging = Array::zeros(length)?;
        }
        let staged = &mut staging.mutable_data()?[..length];
        read_all(sequence, first, staged)?;
        device.queue().packed(size_of_val(staged));
        values.copy_from_host(first, staged)?;
        first += length;
    }
    Ok(values)
}

/// Returns the first values of a sequence as an array, whose pages the threads that read them touch first.
pub(super) fn to_array<S: Sequence + ?Sized>(sequence: &S, count: usize) -> Result<Array<S::Value>, HandleError> {
    range_of(0, count, sequence.count())?;
    let mut values = Array::zeros(count)?;
    if count > 0 {
        read_all(sequence, 0, values.mutable_data()?)?;
    }
    Ok(values)
}

/// Reads values from index `first` on, with all threads.
pub(super) fn read_all<S: Sequence + ?Sized>(
    sequence: &S,
    first: usize,
    target: &mut [S::Value],
) -> Result<(), HandleError> {
    let share = parallel::fixed_share(target.len(), size_of_val(target).saturating_mul(2)).max(1);
    let pieces = target.chunks_mut(share).enumerate().map(|(index, piece)| (first + index * share, piece)).collect();
    parallel::map_fixed(pieces, |(first, piece)| sequence.read(first, piece)).into_iter().collect()
}

/// Calls `work` with some values at a time, and the offset of the first of them from `first`.
pub(super) fn visit<S: Sequence + ?Sized>(
    sequence: &S,
    first: usize,
    count: usize,
    mut work: impl FnMut(usize, &[S::Value]) -> Result<(), HandleError>,
) -> Result<(), HandleError> {
    range_of(first, count, sequence.count())?;
    let mut buffer = [S::Value::default(); AT_ONCE];
    let mut done = 0;
    while done < count {
        let length = (count - done).min(AT_ONCE);
        let run = sequence.run(first + done);
        match run.get(..length) {
            Some(_) => {
                let run = &run[..run.len().min(count - done)];
                work(done, run)?;
                done += run.len();
            }
            None => {
                let values = &mut buffer[..length];
                sequence.read(first + done, values)?;
                work(done, values)?;
                done += length;
            }
        }
    }
    Ok(())
}
