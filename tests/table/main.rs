//! Tables: the life cycle of a homogeneous one, its dictionary, its statistics and its text, the other
//! kinds of tables, and kinds that are not the library's.
//!
//! What is asked for is what DAAL asks of its numeric tables: to initialise, operate, deinitialise. Where DAAL or
//! oneDAL does otherwise, the comment of the test says so.

mod constructors;
mod conversion;
mod counting;
mod covariance;
mod custom;
mod dictionary;
mod display;
mod equality;
mod every_call;
mod every_shape;
mod extreme_shapes;
mod extreme_values;
mod fickle;
mod gram;
mod groups;
mod growing;
mod growing_columns;
mod histograms;
mod kinds;
mod memory;
mod names;
mod onedal;
mod partials;
mod parts;
mod quantiles;
mod resize;
mod rows_that_appear;
mod set_array;
mod sorting;
mod stacking;
mod statistics;
mod statistics_progress;
mod status;
mod surgery;
mod taking;
