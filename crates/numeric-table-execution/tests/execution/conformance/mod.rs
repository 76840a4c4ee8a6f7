//! What every device must do, be its memory shared or separate. A new device is tested by one line at the end of this
//! file.

pub(crate) mod algorithms;
mod background;
mod closures;
mod compact;
mod facade;
mod kernels;
mod model;
mod placed;
mod prepared;
mod repeated;
mod sequences;
mod standardize;
mod statistics;
mod tables;

pub(crate) fn environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}

/// Tests a device: `conformance!(name, how to make one)`, and whether there is one, if that is not certain.
macro_rules! conformance {
    ($name:ident, $make:expr) => {
        conformance!($name, $make, true);
    };
    ($name:ident, $make:expr, $is_there:expr) => {
        conformance! { @ $name, $make, $is_there;
            algorithms: reductions_and_scans_have_one_order values_are_copied_by_flags_and_where_they_differ
                values_are_sorted_by_keys values_are_counted_between_edges values_of_every_type_are_counted;
            background: values_that_go_ahead_are_waited_for what_went_ahead_is_written_in_place
                events_are_taken_and_returned results_come_back_once_and_in_order results_that_are_not_taken_are_kept;
            compact: sparse_rows_cross_as_their_cells every_pair_of_types_is_the_dense_one odd_sparse_tables_cross
                refused_values_of_sparse_and_mixed_rows_are_those_of_dense_ones
                columns_of_several_types_cross_in_their_own tables_of_every_kind_go_there
                large_tables_go_there_in_blocks;
            facade: sixteen_threads_make_one_upload threads_that_read_a_result_make_one_download
                intermediate_data_never_crosses every_kind_of_container_can_be_wrapped
                no_values_are_values_and_cross_as_nothing counts_that_no_memory_holds_are_refused
                a_write_through_one_clone_is_not_seen_by_the_other an_array_on_one_side_copies_what_it_is_told
                handles_can_be_sent_and_shared;
            kernels: all_pairs_convert_as_slices_do regions_are_cut_turned_and_converted_at_once tables_are_turned_and_columns_and_rows_chosen
                large_arrays_are_filled_and_converted_whole views_that_do_not_fit_together_are_refused;
            placed: columns_are_converted_into_a_larger_table sparse_rows_on_a_device_become_dense_ones;
            repeated: chosen_rows_cross_once_for_each_block chosen_rows_that_are_refused_are_named
                results_of_unknown_number_grow_up_to_a_bound;
            sequences: sequences_cross_as_their_table_says arranged_values_cross_alone columns_of_tables_cross_alone
                large_sequences_are_packed_in_pieces results_are_scattered results_go_to_columns_of_tables sixteen_threads_read_a_sequence_once
                sequences_of_any_length_are_refused_or_read refused_values_are_named_on_every_side
                a_closure_that_panics_leaves_the_handle_as_it_was random_sequences_are_those_of_a_model;
            standardize: every_value_is_standardized_by_the_rule means_and_deviations_are_those_of_the_program
                a_table_is_standardized_in_place_and_nothing_crosses columns_without_deviation_become_zero
                rows_are_standardized_by_the_statistics_of_others integers_and_wrong_lengths_are_not_standardized;
            statistics: statistics_of_every_type_are_those_of_the_program statistics_keep_their_digits
                statistics_of_a_stream_are_those_of_its_blocks;
            tables: tables_go_there_and_rows_come_back a_dictionary_travels_and_tables_without_values_too
                a_refused_value_is_named_at_its_place_in_the_table a_stream_lends_every_row_once_and_in_order;
        }
    };
    (@ $name:ident, $make:expr, $is_there:expr; $($module:ident: $($test:ident)*;)*) => {
        mod $name {
            #[test]
            fn random_sequences_of_calls_copy_what_the_table_says() {
                if $is_there {
                    super::model::check(&|| $make);
                }
            }

            #[test]
            fn outputs_of_another_device_are_refused() {
                if $is_there {
                    super::algorithms::outputs_of_another_device_keep_their_values(&$make, &$make);
                }
            }

            $($(
                #[test]
                fn $test() {
                    if $is_there {
                        super::$module::$test(&$make);
                    }
                }
            )*)*
        }
    };
}

/// Tests a device that runs Rust closures.
macro_rules! launches {
    ($($name:ident: $make:expr;)*) => {
        $(#[test]
        fn $name() {
            kernels::closures_see_whole_inputs_and_whole_items(&$make);
            kernels::closures_take_views_of_any_types_and_say_what_went_wrong(&$make);
            closures::check(&$make);
        })*
    };
}

conformance!(serial, numeric_table_execution::HostSerial);
conformance!(rayon, numeric_table_execution::HostParallel);
conformance!(detached, numeric_table_execution::EmulatedDevice::new());
conformance!(
    detached_slow,
    numeric_table_execution::EmulatedDevice::new().with_copy_delay(std::time::Duration::from_millis(1))
);
#[cfg(feature = "cuda")]
conformance!(cuda, numeric_table_execution::cuda::Cuda::new(0).unwrap(), crate::cuda::is_there());

launches! {
    closures_on_serial: numeric_table_execution::HostSerial;
    closures_on_rayon: numeric_table_execution::HostParallel;
    closures_on_detached: numeric_table_execution::EmulatedDevice::new();
}
