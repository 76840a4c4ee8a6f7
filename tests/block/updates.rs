//! Writing through closures: what is written, what is not when a closure fails or panics, and that no error is lost.
//!
//! Semantics: the page of `BlockUpdate`.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

use numeric_table::prelude::*;
use test_support::tables::*;
use test_support::{SmallNumber, for_each_element};

use DataLayout::{ColumnMajor, RowMajor};

type Result<T> = numeric_table::Result<T>;

/// An error of the caller's own.
fn given_up<R>() -> Result<R> {
    Err(Error::other("given up"))
}

fn assert_given_up<R: std::fmt::Debug>(result: Result<R>) {
    assert_error!(result, ErrorKind::Other { source } if source.to_string() == "given up");
}

/// The ways to fill rows 1 and 2, or column 1 of them, with 9 and to end with what the second argument returns.
type Filler = fn(&mut dyn NumericTable, fn() -> Result<u8>) -> Result<u8>;

fn fill_rows<U: SmallNumber>(table: &mut dyn NumericTable, end: fn() -> Result<u8>) -> Result<u8> {
    table.update_rows::<U, _>(1..3, |block| {
        block.fill(U::small(9));
        end()
    })
}

fn fill_column<U: SmallNumber>(table: &mut dyn NumericTable, end: fn() -> Result<u8>) -> Result<u8> {
    table.update_column::<U, _>(1, 1..3, |column| {
        column.fill(U::small(9));
        end()
    })
}

fn fill_rows_in_place<U: SmallNumber>(table: &mut dyn NumericTable, end: fn() -> Result<u8>) -> Result<u8> {
    table.update_rows_in_place::<U, _>(1..3, |block| {
        block.fill(U::small(9));
        end()
    })
}

fn fill_column_in_place<U: SmallNumber>(table: &mut dyn NumericTable, end: fn() -> Result<u8>) -> Result<u8> {
    table.update_column_in_place::<U, _>(1, 1..3, |column| {
        column.fill(U::small(9));
        end()
    })
}

/// Fillers, each with what a 4 x 2 table of 1 to 8 shows afterwards.
fn fillers<U: SmallNumber>() -> [(Filler, [u8; 8]); 4] {
    const ROWS: [u8; 8] = [1, 2, 9, 9, 9, 9, 7, 8];
    const COLUMN: [u8; 8] = [1, 2, 3, 9, 5, 9, 7, 8];
    [
        (fill_rows::<U>, ROWS),
        (fill_column::<U>, COLUMN),
        (fill_rows_in_place::<U>, ROWS),
        (fill_column_in_place::<U>, COLUMN),
    ]
}

const BEFORE: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Does something in every way, of the stored type and of another, in both layouts.
fn in_every_way(work: impl Fn(HomogenNumericTable<u8>, Filler, [u8; 8], bool)) {
    for layout in LAYOUTS {
        for (i, (fill, after)) in fillers::<u8>().into_iter().enumerate() {
            let is_in_place = i == 2 && layout == RowMajor || i == 3 && layout == ColumnMajor;
            work(numbered(4, 2, layout), fill, after, is_in_place);
        }
        for (fill, after) in fillers::<f64>() {
            work(numbered(4, 2, layout), fill, after, false);
        }
    }
}

// --- what is written -----------------------------------------------------------------------------------------------

#[test]
fn an_update_writes_what_its_closure_edited_and_returns_what_it_returned() {
    in_every_way(|mut table, fill, after, _| {
        assert_eq!(fill(&mut table, || Ok(17)).unwrap(), 17);
        assert_eq!(values_of(&table), after);
    });
}

fn is_updated_as_every_type<T: SmallNumber>() {
    fn as_another<T: SmallNumber, U: SmallNumber>() {
        for layout in LAYOUTS {
            for (fill, after) in fillers::<U>() {
                let mut table = numbered::<T>(4, 2, layout);
                fill(&mut table, || Ok(0)).unwrap();
                assert_eq!(values_of(&table), after.map(T::small));
            }
        }
    }
    for_each_element!(U => as_another::<T, U>());
}

#[test]
fn a_table_of_every_type_is_updated_as_every_type() {
    for_each_element!(is_updated_as_every_type);
}

#[test]
fn an_update_shows_the_values_and_the_place_of_its_block() {
    let mut table = numbered::<u8>(4, 2, RowMajor);
    table
        .update_rows::<f32, _>(1..3, |block| {
            assert_eq!((&block[..], block.row_range(), block.column_count()), (&[3.0, 4.0, 5.0, 6.0][..], 1..3, 2));
            assert_eq!((block.row(1), block.row_offset()), (&[5.0, 6.0][..], 1));
            Ok(())
        })
        .unwrap();
    table
        .update_column::<u8, _>(1, 2.., |column| {
            assert_eq!((&column[..], column.row_range(), column.column_offset()), (&[6, 8][..], 2..4, 1));
            Ok(())
        })
        .unwrap();
}

#[test]
fn only_an_update_in_place_hands_out_the_memory_of_the_table() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let rows = |block: &mut BlockMut<'_, u8>| Ok(block.is_zero_copy());
        let column = |column: &mut BlockMut<'_, u8>| Ok(column.is_zero_copy());
        assert!(!table.update_rows(.., rows).unwrap() && !table.update_column(0, .., column).unwrap());
        assert_eq!(table.update_rows_in_place(.., rows).unwrap(), layout == RowMajor);
        assert_eq!(table.update_column_in_place(0, .., column).unwrap(), layout == ColumnMajor);
        assert!(!table.update_rows_in_place::<f32, _>(.., |block| Ok(block.is_zero_copy())).unwrap());
    }
}

#[test]
fn every_kind_of_range_means_its_rows() {
    let mut table = numbered::<u8>(4, 1, RowMajor);
    let mut rows =
        |rows: (Bound<usize>, Bound<usize>)| table.update_rows::<f32, _>(rows, |block| Ok(block.row_range()));
    use Bound::{Excluded, Included, Unbounded};
    assert_eq!(rows((Unbounded, Unbounded)).unwrap(), 0..4);
    assert_eq!(rows((Included(1), Unbounded)).unwrap(), 1..4);
    assert_eq!(rows((Unbounded, Included(2))).unwrap(), 0..3);
    assert_eq!(rows((Excluded(0), Excluded(2))).unwrap(), 1..2);
    assert_eq!(table.update_column_in_place::<f32, _>(0, 1..=2, |column| Ok(column.row_range())).unwrap(), 1..3);
}

#[test]
fn an_update_of_no_values_calls_its_closure_once() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        for rows in [0..0, 1..1, 3..3] {
            assert_eq!(table.update_rows::<u8, _>(rows.clone(), |block| Ok(block.len())).unwrap(), 0);
            assert_eq!(table.update_rows_in_place::<f32, _>(rows.clone(), |block| Ok(block.len())).unwrap(), 0);
            assert_eq!(table.update_column::<f32, _>(1, rows.clone(), |column| Ok(column.len())).unwrap(), 0);
            assert_eq!(table.update_column_in_place::<u8, _>(1, rows, |column| Ok(column.len())).unwrap(), 0);
        }
        for (rows, columns) in [(0, 3), (3, 0), (0, 0)] {
            let flag = AllocationFlag::DoAllocate;
            let mut table = HomogenNumericTable::<u8>::new_with_layout(shape(rows, columns), flag, layout).unwrap();
            assert_eq!(table.update_rows::<f64, _>(.., |block| Ok(block.row_count())).unwrap(), rows);
        }
    }
}

#[test]
fn a_value_nobody_changed_survives_an_update() {
    let big = (1_i64 << 53) + 1; // no f64 holds this
    let mut table = HomogenNumericTable::from_rows(&[[big, 1]]).unwrap();
    table
        .update_rows::<f64, _>(.., |block| {
            block[1] = 7.0;
            Ok(())
        })
        .unwrap();
    assert_eq!(table.as_slice().unwrap(), [big, 7]);
}

#[test]
fn an_update_of_the_stored_type_writes_every_bit() {
    let payload = f64::from_bits(0x7ff8_0000_0000_1234);
    let mut table = HomogenNumericTable::from_rows(&[[0.0_f64, f64::NAN]]).unwrap();
    table
        .update_rows::<f64, _>(.., |block| {
            block.copy_from_slice(&[-0.0, payload]);
            Ok(())
        })
        .unwrap();
    let bits: Vec<u64> = table.as_slice().unwrap().iter().map(|value| value.to_bits()).collect();
    assert_eq!(bits, [(-0.0_f64).to_bits(), payload.to_bits()]);
}

// --- errors, and who sees them -------------------------------------------------------------------------------------

#[test]
fn an_update_whose_closure_fails_leaves_the_table_as_it_was() {
    in_every_way(|mut table, fill, after, is_in_place| {
        let before = state_of(&table);
        assert_given_up(fill(&mut table, given_up));
        if is_in_place {
            assert_eq!(values_of(&table), after); // as its page says
        } else {
            assert_eq!(state_of(&table), before);
        }
    });
}

#[test]
fn an_update_whose_closure_panics_leaves_the_table_as_it_was_and_usable() {
    in_every_way(|mut table, fill, after, is_in_place| {
        let result = catch_unwind(AssertUnwindSafe(|| fill(&mut table, || panic!("in the closure"))));
        assert_eq!(*result.unwrap_err().downcast_ref::<&str>().unwrap(), "in the closure");
        assert_eq!(values_of(&table), if is_in_place { after } else { BEFORE });
        assert_eq!(fill(&mut table, || Ok(5)).unwrap(), 5); // nothing is leased
        assert_eq!(values_of(&table), after);
    });
}

#[test]
fn an_update_that_fails_copies_no_shared_memory() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let clone = table.clone();
        assert_given_up(fill_rows::<u8>(&mut table, given_up));
        assert_given_up(fill_column::<f32>(&mut table, given_up));
        let refuse = |values: &mut [f64]| {
            values.fill(300.0);
            Ok(())
        };
        assert!(table.update_rows::<f64, _>(.., |block| refuse(block)).is_err());
        assert!(table.update_row_blocks::<f64>(2, |block| refuse(block)).is_err());
        assert!(table.update_column::<f64, _>(1, .., |column| refuse(column)).is_err());
        assert!(table.array().unwrap().shares_memory_with(clone.array().unwrap()));
    }
}

#[test]
fn a_clone_does_not_see_an_update() {
    in_every_way(|mut table, fill, after, _| {
        let clone = table.clone();
        let mut block = BlockDescriptor::<u8>::new();
        clone.read_rows(0..4, &mut block).unwrap();
        fill(&mut table, || Ok(0)).unwrap();
        assert_eq!((values_of(&table), values_of(&clone)), (after.to_vec(), BEFORE.to_vec()));
        assert_eq!(block.as_slice(), BEFORE);
    });
}

#[test]
fn a_value_that_does_not_fit_is_an_error_and_nothing_is_written() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let before = state_of(&table);
        let set = |values: &mut [f64]| {
            values.fill(9.0);
            values[values.len() - 1] = 300.0;
            Ok(())
        };
        let results = [
            table.update_rows::<f64, _>(1..3, |block| set(block)),
            table.update_rows_in_place::<f64, _>(1..3, |block| set(block)),
            table.update_column::<f64, _>(1, 1..3, |column| set(column)),
            table.update_column_in_place::<f64, _>(1, 1..3, |column| set(column)),
        ];
        for result in results {
            assert_error!(result, ErrorKind::ValueNotRepresentable { row: 2, column: 1, target: ElementType::U8, .. });
        }
        assert_eq!(state_of(&table), before);
    }
}

#[test]
fn a_block_that_is_written_back_within_an_update_that_fails_is_not_in_the_table() {
    let mut table = numbered::<u8>(4, 2, RowMajor);
    assert_given_up(table.update_rows::<f64, ()>(.., |block| {
        block.fill(9.0);
        block.write_back()?;
        given_up()
    }));
    assert_eq!(values_of(&table), BEFORE);
}

#[test]
fn an_update_of_rows_or_a_column_outside_does_not_call_its_closure() {
    use Bound::{Excluded, Included, Unbounded};
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(3, 2, layout);
        let outside = [
            (Included(0), Excluded(4)),
            (Included(4), Unbounded),
            (Included(2), Excluded(1)),
            (Unbounded, Included(3)),
            (Unbounded, Included(usize::MAX)),
            (Excluded(usize::MAX), Unbounded),
            (Included(usize::MAX), Included(usize::MAX)),
        ];
        for rows in outside {
            assert_error!(table.update_rows::<u8, ()>(rows, |_| panic!("called")), ErrorKind::RowsOutOfRange { .. });
            assert_error!(
                table.update_rows_in_place::<f64, ()>(rows, |_| panic!("called")),
                ErrorKind::RowsOutOfRange { .. }
            );
            assert_error!(
                table.update_column::<f64, ()>(0, rows, |_| panic!("called")),
                ErrorKind::RowsOutOfRange { .. }
            );
            assert_error!(
                table.update_column_in_place::<u8, ()>(0, rows, |_| panic!("called")),
                ErrorKind::RowsOutOfRange { .. }
            );
        }
        for column in [2, usize::MAX] {
            let expected = (column, 2);
            for result in [
                table.update_column::<u8, ()>(column, .., |_| panic!("called")),
                table.update_column_in_place::<f64, ()>(column, .., |_| panic!("called")),
            ] {
                assert_error!(
                    result,
                    ErrorKind::ColumnOutOfRange { column, column_count } if (*column, *column_count) == expected
                );
            }
        }
    }
    let mut endless = HomogenNumericTable::<u8>::new(shape(usize::MAX, 0), AllocationFlag::DoAllocate).unwrap();
    assert_error!(endless.update_rows::<u8, ()>(..=usize::MAX, |_| panic!("called")), ErrorKind::RowsOutOfRange { .. });
    assert_eq!(endless.update_rows::<u8, _>(.., |block| Ok(block.row_count())).unwrap(), usize::MAX);
}

#[test]
fn an_update_while_a_block_is_out_does_not_call_its_closure() {
    in_every_way(|mut table, fill, _, _| {
        let mut block = BlockDescriptor::<f32>::new();
        table.get_block_of_rows(0, 1, ReadWriteMode::ReadWrite, &mut block).unwrap();
        assert_error!(fill(&mut table, || panic!("called")), ErrorKind::BlockOutstanding { rows } if *rows == (0..1));
        assert_error!(table.update_row_blocks::<u8>(1, |_| panic!("called")), ErrorKind::BlockOutstanding { .. });
        table.release_block_of_rows(&mut block).unwrap();
        assert_eq!(values_of(&table), BEFORE);
    });
}

#[test]
fn an_update_of_a_table_without_memory_does_not_call_its_closure() {
    let mut table = HomogenNumericTable::<u8>::new(shape(4, 2), AllocationFlag::DoNotAllocate).unwrap();
    for (fill, _) in fillers::<f32>().into_iter().chain(fillers::<u8>()) {
        assert_error!(fill(&mut table, || panic!("called")), ErrorKind::NotAllocated);
    }
    assert_error!(table.update_row_blocks::<u8>(2, |_| panic!("called")), ErrorKind::NotAllocated);
}

#[test]
fn an_error_of_the_callers_own_comes_out_of_an_update() {
    let mut table = numbered::<u8>(2, 2, RowMajor);
    let parse = |text: &'static str| {
        move |block: &mut BlockMut<'_, u8>| {
            block[0] = text.parse().map_err(Error::other)?;
            Ok(())
        }
    };
    let Err(ErrorKind::Other { source }) = table.update_rows(.., parse("256")).map_err(Error::into_kind) else {
        panic!("no error")
    };
    assert_eq!(source.downcast_ref::<std::num::ParseIntError>().unwrap().to_string(), source.to_string());
    table.update_rows(.., parse("255")).unwrap();
    assert_eq!(values_of(&table), [255, 2, 3, 4]);
}

// --- blocks of rows ------------------------------------------------------------------------------------------------

/// One of the two ways to update blocks of rows.
type BlockUpdater =
    fn(&mut dyn NumericTable, usize, &(dyn Fn(&mut BlockMut<'_, f32>) -> Result<()> + Sync)) -> Result<()>;

const ONE_BY_ONE: BlockUpdater = |table, rows, edit| table.update_row_blocks::<f32>(rows, edit);
#[cfg(feature = "rayon")]
const IN_PARALLEL: BlockUpdater = |table, rows, edit| table.par_update_row_blocks::<f32>(rows, edit);

/// Every way to update blocks of rows, with every number of threads.
fn with_every_updater(work: impl Fn(BlockUpdater) + Sync) {
    work(ONE_BY_ONE);
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| work(IN_PARALLEL));
    }
}

#[test]
fn every_block_of_rows_is_updated_once() {
    with_every_updater(|update| {
        for layout in LAYOUTS {
            for rows_per_block in [1, 2, 3, 7, 8, usize::MAX] {
                let mut table = numbered::<u8>(7, 3, layout);
                update(&mut table, rows_per_block, &|block| {
                    assert!(block.row_count() <= rows_per_block && block.row_range().end <= 7);
                    block.iter_mut().for_each(|value| *value += 100.0);
                    Ok(())
                })
                .unwrap();
                let expected: Vec<u8> = (101..122).collect();
                assert_eq!(values_of(&table), expected);
            }
        }
    });
}

#[test]
fn blocks_that_fail_stay_as_they_were_and_the_first_error_in_the_order_of_rows_comes_out() {
    with_every_updater(|update| {
        for layout in LAYOUTS {
            let mut table = numbered::<u8>(8, 1, layout);
            let result = update(&mut table, 2, &|block| {
                block.iter_mut().for_each(|value| *value *= 10.0);
                match block.row_offset() {
                    6 => given_up(),
                    2 => {
                        block[1] = 256.0;
                        Ok(())
                    }
                    _ => Ok(()),
                }
            });
            assert_error!(result, ErrorKind::ValueNotRepresentable { row: 3, column: 0, .. });
            assert_eq!(values_of(&table), [10, 20, 3, 4, 50, 60, 7, 8]);
        }
    });
}

#[test]
fn a_panic_in_a_block_of_rows_leaves_that_block_as_it_was_and_the_table_usable() {
    with_every_updater(|update| {
        for layout in LAYOUTS {
            let mut table = numbered::<u8>(6, 1, layout);
            let result = catch_unwind(AssertUnwindSafe(|| {
                update(&mut table, 2, &|block| {
                    block.fill(9.0);
                    assert_ne!(block.row_offset(), 2, "in the closure");
                    Ok(())
                })
            }));
            assert!(result.is_err());
            assert_eq!(values_of(&table)[2..4], [3, 4]);
            update(&mut table, 1, &|block| {
                block.fill(7.0);
                Ok(())
            })
            .unwrap();
            assert_eq!(values_of(&table), [7; 6]);
        }
    });
}

#[test]
fn blocks_of_rows_of_the_stored_type_are_all_or_nothing_as_well() {
    for layout in LAYOUTS {
        let edit = |block: &mut BlockMut<'_, u8>| {
            block.fill(9);
            if block.row_offset() == 1 { given_up() } else { Ok(()) }
        };
        let mut table = numbered::<u8>(3, 2, layout);
        assert_given_up(table.update_row_blocks(1, edit));
        assert_eq!(values_of(&table), [9, 9, 3, 4, 9, 9]);
        #[cfg(feature = "rayon")]
        {
            let mut table = numbered::<u8>(3, 2, layout);
            assert_given_up(table.par_update_row_blocks(1, edit));
            assert_eq!(values_of(&table), [9, 9, 3, 4, 9, 9]);
        }
    }
}

#[test]
fn a_clone_does_not_see_an_update_of_blocks() {
    with_every_updater(|update| {
        let mut table = numbered::<u8>(4, 2, RowMajor);
        let clone = table.clone();
        update(&mut table, 1, &|block| {
            block.fill(0.0);
            Ok(())
        })
        .unwrap();
        assert_eq!((values_of(&table), values_of(&clone)), (vec![0; 8], BEFORE.to_vec()));
    });
}

#[test]
fn an_update_in_blocks_of_no_rows_is_refused_and_a_table_of_no_rows_has_no_block() {
    with_every_updater(|update| {
        let mut table = numbered::<u8>(4, 2, RowMajor);
        assert_error!(
            update(&mut table, 0, &|_| panic!("called")),
            ErrorKind::ParameterOutOfRange { .. },
            "rows of a block"
        );
        table.resize(0).unwrap();
        update(&mut table, 3, &|_| panic!("called")).unwrap();
        update(&mut HomogenNumericTable::<u8>::default(), 3, &|_| panic!("called")).unwrap();
    });
}

#[cfg(feature = "rayon")]
#[test]
fn a_parallel_update_while_a_block_is_out_does_not_call_its_closure() {
    let mut table = numbered::<u8>(4, 2, RowMajor);
    let mut block = BlockDescriptor::<u8>::new();
    table.get_block_of_rows(0, 4, ReadWriteMode::ReadWrite, &mut block).unwrap();
    assert_error!(table.par_update_row_blocks::<u8>(1, |_| panic!("called")), ErrorKind::BlockOutstanding { .. });
    let mut unallocated = HomogenNumericTable::<u8>::new(shape(4, 2), AllocationFlag::DoNotAllocate).unwrap();
    assert_error!(unallocated.par_update_row_blocks::<u8>(1, |_| panic!("called")), ErrorKind::NotAllocated);
}
