//! The order of the bytes of a value, in files and on this machine.

/// Turns the bytes of values from this machine's order into little-endian, or back. Nothing to do on most machines.
pub(crate) fn swap_if_big_endian(bytes: &mut [u8], element_size: usize) {
    if cfg!(target_endian = "big") {
        swap(bytes, element_size);
    }
}

/// Turns the bytes of values from big-endian into little-endian order, or back.
pub(crate) fn swap(bytes: &mut [u8], element_size: usize) {
    match element_size {
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|value| value.reverse()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|value| value.reverse()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|value| value.reverse()),
        _ => {}
    }
}
