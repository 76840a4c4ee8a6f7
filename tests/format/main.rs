//! Tables in files and archives, and as serde sees them.

mod appended_tables;
mod arrays;
mod copied_rows;
mod damaged_kinds;
mod file_statistics;
mod gaps;
mod golden_files;
mod golden_kinds;
mod golden_partials;
#[cfg(all(unix, feature = "rayon"))]
mod in_memory;
mod in_place;
#[cfg(feature = "rayon")]
mod parallel_blocks;
mod progress;
mod serialization;
mod support;
mod table_files;
mod table_streams;
mod words;
mod written_in_any_way;
