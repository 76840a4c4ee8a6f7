//! Byte order of values in files and in memory.

/// Converts the bytes of values from native to little-endian order or back. Does nothing on little-endian machines.
pub(crate) fn swap_if_big_endian(bytes: &mut [u8], element_size: usize) {
    if cfg!(target_endian = "big") {
        swap(bytes, element_size);
    }
}

/// Reverses the bytes of each value, which converts from big-endian to little-endian order or back.
pub(crate) fn swap(bytes: &mut [u8], element_size: usize) {
    match element_size {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|value| value.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|value| value.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|value| value.reverse()),
        _ => {}
    }
}
