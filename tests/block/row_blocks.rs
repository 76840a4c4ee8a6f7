//! A table in blocks of rows, for reading and for writing, on one thread and on several.

use numeric_table::prelude::*;
use test_support::tables::*;

use DataLayout::RowMajor;

#[test]
fn row_blocks_end_with_a_short_one() {
    for layout in LAYOUTS {
        let table = numbered::<u8>(7, 2, layout);
        for (rows_per_block, starts) in [(3, &[0, 3, 6][..]), (7, &[0]), (8, &[0]), (usize::MAX, &[0])] {
            let blocks: Vec<_> = table.row_blocks::<f32>(rows_per_block).unwrap().map(Result::unwrap).collect();
            let found: Vec<_> = blocks.iter().map(|block| (block.row_offset(), block.row_count())).collect();
            let expected: Vec<_> = starts.iter().map(|&start| (start, rows_per_block.min(7 - start))).collect();
            assert_eq!(found, expected);
            assert_eq!(blocks.iter().flat_map(|block| block.to_vec()).collect::<Vec<_>>(), numbers::<f32>(2, 0..7));
        }
    }
}

#[test]
fn row_blocks_are_counted_and_walked_backwards() {
    let table = numbered::<u8>(7, 2, RowMajor);
    let mut blocks = table.row_blocks::<u8>(3).unwrap();
    assert_eq!(blocks.len(), 3);
    assert_eq!(blocks.next_back().unwrap().unwrap().row_range(), 6..7);
    assert_eq!(blocks.len(), 2);
}

#[test]
fn blocks_of_no_rows_are_refused() {
    let mut table = numbered::<u8>(7, 2, RowMajor);
    assert_error!(table.row_blocks::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
    assert_error!(table.row_blocks_mut::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
    #[cfg(feature = "rayon")]
    {
        assert_error!(table.par_row_blocks::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
        assert_error!(table.par_row_blocks_mut::<f32>(0), ErrorKind::ParameterOutOfRange { .. }, "rows of a block");
    }
    assert_eq!(values_of(&table), numbers::<u8>(2, 0..7));
}

#[test]
fn mutable_row_blocks_cover_every_row_once() {
    for layout in LAYOUTS {
        for rows_per_block in [1, 2, 3, 7, 8, usize::MAX] {
            let mut table = numbered::<u8>(7, 2, layout);
            let mut next_row = 0_usize;
            for block in table.row_blocks_mut::<f32>(rows_per_block).unwrap() {
                let mut block = block.unwrap();
                assert_eq!(block.row_range(), next_row..next_row.saturating_add(rows_per_block).min(7));
                next_row = block.row_range().end;
                block.iter_mut().for_each(|value| *value += 10.0);
                block.release().unwrap();
            }
            assert_eq!(next_row, 7);
            assert_eq!(values_of(&table), (11..25).collect::<Vec<u8>>());
        }
    }
}

#[test]
fn mutable_row_blocks_are_held_side_by_side() {
    for layout in LAYOUTS {
        let mut table = numbered::<u8>(4, 2, layout);
        let mut blocks: Vec<_> = table.row_blocks_mut::<u8>(2).unwrap().map(Result::unwrap).collect();
        blocks[1].fill(9);
        let first = blocks[0].to_vec();
        blocks[1][0] = first[0];
        drop(blocks);
        assert_eq!(values_of(&table), [1, 2, 3, 4, 1, 9, 9, 9]);
    }
}

#[test]
fn mutable_row_blocks_of_the_stored_type_are_the_memory() {
    let mut table = numbered::<u8>(5, 2, RowMajor);
    let place = address(table.as_slice().unwrap());
    let places: Vec<usize> =
        table.row_blocks_mut::<u8>(2).unwrap().map(|block| address(&block.unwrap()) - place).collect();
    assert_eq!(places, [0, 4, 8]);
}

#[cfg(feature = "rayon")]
mod parallel {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use rayon::iter::{IndexedParallelIterator, ParallelIterator};
    use test_support::sized;

    const ROWS: usize = sized(1003, 53);

    /// Rows of 3 columns; the value at a position is `(31 * row + 7 * column) % 101`.
    fn table(layout: DataLayout) -> HomogenNumericTable<i32> {
        let array = Array::from_fn(3 * ROWS, |i| match layout {
            RowMajor => value(i / 3, i % 3),
            _ => value(i % ROWS, i / ROWS),
        });
        HomogenNumericTable::from_array_with_layout(array.unwrap(), shape(ROWS, 3), layout).unwrap()
    }

    fn value(row: usize, column: usize) -> i32 {
        ((31 * row + 7 * column) % 101) as i32
    }

    fn in_pools(work: impl Fn() + Sync) {
        for threads in [1, 2, 7] {
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work);
        }
    }

    #[test]
    fn parallel_row_blocks_show_the_rows_in_order_for_every_number_of_threads() {
        for layout in LAYOUTS {
            let table = table(layout);
            let expected: Vec<f64> =
                (0..ROWS).flat_map(|row| (0..3).map(move |column| f64::from(value(row, column)))).collect();
            in_pools(|| {
                for rows_per_block in [1, 10, 1000, ROWS, usize::MAX] {
                    let blocks = table.par_row_blocks::<f64>(rows_per_block).unwrap();
                    assert_eq!(blocks.len(), ROWS.div_ceil(rows_per_block));
                    let found: Vec<Vec<f64>> = blocks.map(|block| block.unwrap().to_vec()).collect();
                    assert_eq!(found.concat(), expected);
                }
            });
        }
    }

    #[test]
    fn parallel_writers_write_the_same_table_for_every_number_of_threads() {
        for layout in LAYOUTS {
            in_pools(|| {
                for rows_per_block in [1, 10, 1000, ROWS, usize::MAX] {
                    let mut table = table(layout);
                    let blocks = table.par_row_blocks_mut::<f64>(rows_per_block).unwrap();
                    blocks
                        .try_for_each(|block| {
                            let mut block = block?;
                            let first = block.row_offset();
                            block
                                .iter_rows_mut()
                                .enumerate()
                                .for_each(|(row, values)| values[1] += (first + row) as f64);
                            block.release()
                        })
                        .unwrap();
                    let expected = |row, column| value(row, column) + if column == 1 { row as i32 } else { 0 };
                    let view = table.view().unwrap();
                    assert!(
                        (0..ROWS)
                            .all(|row| (0..3).all(|column| view.value(row, column) == Some(expected(row, column))))
                    );
                }
            });
        }
    }

    #[test]
    fn parallel_writers_of_the_stored_type_write_in_place() {
        in_pools(|| {
            let mut table = table(RowMajor);
            let place = address(table.as_slice().unwrap());
            table.par_row_blocks_mut::<i32>(64).unwrap().for_each(|block| {
                let mut block = block.unwrap();
                assert!(block.is_zero_copy());
                block.fill(5);
            });
            assert_eq!((address(table.as_slice().unwrap()), values_of(&table)), (place, vec![5; 3 * ROWS]));
        });
    }

    #[test]
    fn parallel_blocks_know_their_index() {
        let mut table = table(RowMajor);
        in_pools(|| {
            let table = &table;
            let blocks = table.par_row_blocks::<i32>(10).unwrap().enumerate();
            assert!(blocks.map(|(index, block)| block.unwrap().row_offset() == 10 * index).all(|is_right| is_right));
        });
        let blocks = table.par_row_blocks_mut::<i32>(10).unwrap().enumerate().rev();
        assert!(blocks.map(|(index, block)| block.unwrap().row_offset() == 10 * index).all(|is_right| is_right));
    }

    #[test]
    fn an_empty_table_has_no_parallel_blocks() {
        let mut table = HomogenNumericTable::<f32>::default();
        assert_eq!(table.par_row_blocks::<f64>(1).unwrap().count(), 0);
        assert_eq!(table.par_row_blocks_mut::<f64>(1).unwrap().count(), 0);
        assert_eq!(table.par_row_blocks_mut::<f32>(usize::MAX).unwrap().len(), 0);
    }
}
