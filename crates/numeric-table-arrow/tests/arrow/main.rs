//! Tables as Arrow's arrays, and tables of Arrow's arrays; and what every format keeps beside Arrow.

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
