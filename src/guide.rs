//! Guides: tasks with complete programs, guarantees and costs.
//!
//! | page | about |
//! | --- | --- |
//! | [`how_do_i`] | list of the "How do I ..." pages |
//! | [`read_a_csv`] | How do I read a CSV file? |
//! | [`add_a_column`] | How do I add a column? |
//! | [`cut_and_combine_tables`] | How do I cut, filter, sample and combine tables? |
//! | [`stream_a_large_file`] | How do I stream a file larger than memory? |
//! | [`many_files`] | How do I keep a table in many files? |
//! | [`compute_statistics`] | How do I compute statistics? |
//! | [`write_a_kernel`] | How do I write a kernel over blocks of rows? |
//! | [`share_memory_with_ndarray`] | How do I share memory with `ndarray`? |
//! | [`choose_a_kind_of_table`] | How do I choose a kind of table? |
//! | [`write_a_kind_of_table`] | How do I write my own kind of table? |
//! | [`missing_values`] | How do I work with missing values? |
//! | [`handle_errors`] | How do I handle errors? |
//! | [`programs`] | complete programs compared with NumPy and polars: k-means, least squares, streams, threads |
//! | [`tour`] | reading any element type as any other, the kinds of tables, printing, devices |
//! | [`guarantees`] | numbers, writing back, sharing, memory, errors |
//! | [`table_files`] | saving, loading, mapping and streaming `.ntb` files, and their guarantees |
//! | [`formats`] | CSV, NumPy, sparse files, `ndarray`, archives |
//! | [`cost`] | copies, passes, threads, debug builds |
//! | [`coming_from_daal`] | DAAL and oneDAL call by call |
//!
//! These modules contain the pages of the folder `docs`. They exist in the documentation only.
//!
//! # In the repository
//!
//! The pages mention files that the package does not contain: the examples and their output (`examples/README.md`), the
//! benchmarks and their results (`benches/README.md`), the crates for many machines (`distributed`), the fuzzers
//! (`tests/fuzz`), the golden files (`data/golden`).

/// The link targets of the pages in this documentation.
macro_rules! links {
    () => {
        "
[arrow]: https://docs.rs/numeric-table-arrow
[read-a-csv]: crate::guide::read_a_csv
[add-a-column]: crate::guide::add_a_column
[cut-and-combine-tables]: crate::guide::cut_and_combine_tables
[stream-a-large-file]: crate::guide::stream_a_large_file
[many-files]: crate::guide::many_files
[read-from-object-storage]: https://docs.rs/numeric-table-object-store
[compute-statistics]: crate::guide::compute_statistics
[learn-from-many-files]: https://docs.rs/numeric-table-learning
[write-a-kernel]: crate::guide::write_a_kernel
[use-a-gpu]: https://docs.rs/numeric-table-execution
[share-memory-with-ndarray]: crate::guide::share_memory_with_ndarray
[choose-a-kind-of-table]: crate::guide::choose_a_kind_of_table
[write-a-kind-of-table]: crate::guide::write_a_kind_of_table
[missing-values]: crate::guide::missing_values
[formats what-each-format-keeps]: crate::guide::formats#what-each-format-keeps
[trait MissingValues]: crate::MissingValues
[handle-errors]: crate::guide::handle_errors
[programs]: crate::guide::programs
[tour]: crate::guide::tour
[guarantees]: crate::guide::guarantees
[table-files]: crate::guide::table_files
[formats]: crate::guide::formats
[cost]: crate::guide::cost
[coming-from-daal]: crate::guide::coming_from_daal
[guarantees archives-and-json]: crate::guide::guarantees#archives-and-json
[table-files mapping]: crate::guide::table_files#mapping
[many-files compared]: crate::guide::many_files#what-is-compared-when
[many-files killed]: crate::guide::many_files#after-a-program-was-killed
[table-files what-you-can-rely-on]: crate::guide::table_files#what-you-can-rely-on
[benches]: crate::guide#in-the-repository
[CHANGELOG]: https://docs.rs/crate/numeric-table/latest/source/CHANGELOG.md
[data golden read_ntb]: crate::guide#in-the-repository
[distributed mpi]: crate::guide#in-the-repository
[examples control_and_execution]: crate::guide#in-the-repository
[examples device_pipeline]: crate::guide#in-the-repository
[examples csv_files]: crate::guide#in-the-repository
[examples dynamic_tables]: crate::guide#in-the-repository
[examples kinds]: crate::guide#in-the-repository
[examples parquet]: crate::guide#in-the-repository
[examples row_blocks]: crate::guide#in-the-repository
[examples serialize]: crate::guide#in-the-repository
[examples shared_array]: crate::guide#in-the-repository
[examples table_file]: crate::guide#in-the-repository
[execution]: https://docs.rs/numeric-table-execution
[format]: https://docs.rs/crate/numeric-table/latest/source/src/format/README.md
[shards]: https://docs.rs/crate/numeric-table/latest/source/src/shards/README.md
[table numeric_table]: crate::NumericTable
[tests fuzz]: crate::guide#in-the-repository
[tests copy_policy]: crate::interop::CopyPolicy

"
    };
}

/// A module for each page. The link definitions that come first override the page's own, so that links into the
/// repository lead to this documentation instead.
macro_rules! pages {
    ($($(#[$attribute:meta])? $name:ident $file:literal)*) => {$(
        $(#[$attribute])?
        #[doc = links!()]
        #[doc = include_str!(concat!("../docs/", $file))]
        pub mod $name {}
    )*};
}

pages! {
    how_do_i "how-do-i/README.md"
    read_a_csv "how-do-i/read-a-csv.md"
    add_a_column "how-do-i/add-a-column.md"
    cut_and_combine_tables "how-do-i/cut-and-combine-tables.md"
    stream_a_large_file "how-do-i/stream-a-large-file.md"
    many_files "how-do-i/many-files.md"
    compute_statistics "how-do-i/compute-statistics.md"
    write_a_kernel "how-do-i/write-a-kernel.md"
    share_memory_with_ndarray "how-do-i/share-memory-with-ndarray.md"
    choose_a_kind_of_table "how-do-i/choose-a-kind-of-table.md"
    write_a_kind_of_table "how-do-i/write-a-kind-of-table.md"
    missing_values "how-do-i/missing-values.md"
    handle_errors "how-do-i/handle-errors.md"
    programs "programs.md"
    tour "tour.md"
    guarantees "guarantees.md"
    table_files "table-files.md"
    formats "formats.md"
    cost "cost.md"
    coming_from_daal "coming-from-daal.md"
}
