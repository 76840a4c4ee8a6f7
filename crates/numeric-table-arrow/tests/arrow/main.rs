//! Tables as arrays of Arrow and back, and the properties that every format keeps.

mod copies;
mod copy_policy;
mod doors;
mod every_kind;
mod export;
mod homogeneous;
mod mixed;
mod refused;
mod stream;
mod types;
mod words;
