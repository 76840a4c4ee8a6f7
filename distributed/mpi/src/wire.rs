//! What goes over the wire: values in their own MPI type, and bytes of any length.

use bytemuck::Pod;
use half::{bf16, f16};
use mpi::Tag;
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Destination, Source};
use numeric_table::{Element, Error, Result};

/// Largest number of values of one message: MPI counts with 32 bits.
pub(crate) const MOST: usize = 1 << 28;

/// An element type with its MPI type: `MPI_FLOAT` for `f32` and so on; `f16` and `bf16` are sent as `MPI_UINT16_T`.
pub trait Transfer: Element + Pod + Wire {}

impl<T: Element + Pod + Wire> Transfer for T {}

/// The type with which MPI sends the values of an element type. All 12 element types have one.
pub trait Wire {
    /// A type of the same size and alignment.
    type Sent: Equivalence + Pod;
}

macro_rules! wire {
    ($($T:ty => $Sent:ty),*) => {$(
        impl Wire for $T {
            type Sent = $Sent;
        }
    )*};
}
wire!(f32 => f32, f64 => f64, i8 => i8, i16 => i16, i32 => i32, i64 => i64, u8 => u8, u16 => u16, u32 => u32, u64 => u64,
    f16 => u16, bf16 => u16);

/// Sends values from where they are, in messages of at most 2^28 values.
pub(crate) fn send<T: Transfer>(to: &impl Destination, tag: Tag, values: &[T]) {
    for part in bytemuck::cast_slice::<T, T::Sent>(values).chunks(MOST) {
        to.send_with_tag(part, tag);
    }
}

/// Receives values, where they are to be, of which as many must have been sent.
pub(crate) fn receive<T: Transfer>(from: &impl Source, tag: Tag, values: &mut [T]) {
    for part in bytemuck::cast_slice_mut::<T, T::Sent>(values).chunks_mut(MOST) {
        from.receive_into_with_tag(part, tag);
    }
}

/// Sends as many messages as [`receive`] waits for, without values: when there are none, after all.
pub(crate) fn send_nothing<T: Transfer>(to: &impl Destination, tag: Tag, count: usize) {
    for _ in 0..count.div_ceil(MOST) {
        to.send_with_tag(&[] as &[T::Sent], tag);
    }
}

/// Number of bytes of a message of [`send_bytes`]: there is room for one on every stack.
const PART_BYTES: usize = 32 << 10;

/// Sends bytes, after their number.
pub(crate) fn send_bytes(to: &impl Destination, tag: Tag, bytes: &[u8]) {
    to.send_with_tag(&(bytes.len() as u64), tag);
    bytes.chunks(PART_BYTES).for_each(|part| to.send_with_tag(part, tag));
}

/// Receives bytes that [`send_bytes`] sent. If there is no memory for them they are received all the same, and thrown
/// away, so that nobody waits for ever.
pub(crate) fn receive_bytes(from: &impl Source, tag: Tag) -> Result<Vec<u8>> {
    let (length, _) = from.receive_with_tag::<u64>(tag);
    let count = usize::try_from(length).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(count).is_ok() {
        bytes.resize(count, 0);
        for part in bytes.chunks_mut(PART_BYTES) {
            from.receive_into_with_tag(part, tag);
        }
        return Ok(bytes);
    }
    let mut part = [0_u8; PART_BYTES];
    for _ in 0..length.div_ceil(PART_BYTES as u64) {
        from.receive_into_with_tag(&mut part[..], tag);
    }
    Err(Error::out_of_memory(count))
}
