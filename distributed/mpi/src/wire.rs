//! Messages: values in their own MPI type, and bytes of any length.

use bytemuck::Pod;
use half::{bf16, f16};
use mpi::Tag;
use mpi::datatype::Equivalence;
use mpi::point_to_point::{Destination, Source};
use numeric_table::{Element, Error, Result};

/// Maximum number of values in one message: MPI counts with 32 bits.
pub(crate) const MOST: usize = 1 << 28;

/// An element type with its MPI type: `MPI_FLOAT` for `f32` and so on; `f16` and `bf16` are sent as `MPI_UINT16_T`.
pub trait Transfer: Element + Pod + Wire {}

impl<T: Element + Pod + Wire> Transfer for T {}

/// The type with which MPI sends the values of an element type. All 12 element types implement it.
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

/// Sends values directly from their memory, in messages of at most 2^28 values.
pub(crate) fn send<T: Transfer>(to: &impl Destination, tag: Tag, values: &[T]) {
    for part in bytemuck::cast_slice::<T, T::Sent>(values).chunks(MOST) {
        to.send_with_tag(part, tag);
    }
}

/// Receives values directly into their memory. The sender must send the same number.
pub(crate) fn receive<T: Transfer>(from: &impl Source, tag: Tag, values: &mut [T]) {
    for part in bytemuck::cast_slice_mut::<T, T::Sent>(values).chunks_mut(MOST) {
        from.receive_into_with_tag(part, tag);
    }
}

/// Sends the messages that [`receive`] waits for, without values, when there are none after all.
pub(crate) fn send_nothing<T: Transfer>(to: &impl Destination, tag: Tag, count: usize) {
    for _ in 0..count.div_ceil(MOST) {
        to.send_with_tag(&[] as &[T::Sent], tag);
    }
}

/// Number of bytes in a message of [`send_bytes`], small enough for any stack.
const PART_BYTES: usize = 32 << 10;

/// Sends the number of bytes, then the bytes.
pub(crate) fn send_bytes(to: &impl Destination, tag: Tag, bytes: &[u8]) {
    to.send_with_tag(&(bytes.len() as u64), tag);
    bytes.chunks(PART_BYTES).for_each(|part| to.send_with_tag(part, tag));
}

/// Receives the bytes sent by [`send_bytes`]. If memory for them cannot be allocated, they are received and discarded,
/// so that no process waits forever.
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
