//! Missing values: a table goes through every call and comes back with the same values and the same gaps.

mod columns;
mod table;
mod text;
