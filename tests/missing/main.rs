//! Missing values: a table goes through every call and comes back with the same values and the same gaps.

mod columns;
mod files;
mod partials;
mod statistics;
mod table;
