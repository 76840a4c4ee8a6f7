//! Tables from objects of Python and other libraries, and the other way round.

#[forbid(unsafe_code)]
pub(crate) mod arrow;
pub(crate) mod capsules;
pub(crate) mod dlpack;
#[forbid(unsafe_code)]
pub(crate) mod frames;
#[forbid(unsafe_code)]
pub(crate) mod scipy;
#[forbid(unsafe_code)]
pub(crate) mod sequences;
pub(crate) mod source;
