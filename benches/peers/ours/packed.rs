//! Blocks of rows of a symmetric matrix that stores one half. Recent releases of DAAL have no such matrix, so the rival
//! is a plain loop.

use std::hint::black_box;

use numeric_table::prelude::*;
use numeric_table::table::Rejected;
use numeric_table::{PackedSymmetricMatrix, table::Triangle};

use crate::kinds::{check, name, walk};
use crate::measure::Bench;
use crate::memory_copy::{MemoryCopy, parallel_parts};
use crate::plain::{Plain, plain_loop, sample_values};

const ROWS: usize = 256;

pub(crate) fn run(bench: &mut Bench) -> Result<(), Error> {
    read::<f32>(bench)?;
    read::<f64>(bench)
}

/// Reads a matrix with the number of cells that a large job has values: 4096 x 4096.
fn read<U: Element>(bench: &mut Bench) -> Result<(), Error>
where
    f32: Plain<U>,
{
    let job = name::<U>("packed/symmetric/f32", Some(ROWS));
    if !bench.wants(&job) {
        return Ok(());
    }
    let dimension = bench.values().isqrt();
    let packed = sample_values::<f32>(start(dimension))?;
    let mut matrix = PackedSymmetricMatrix::from_packed(packed.clone(), Triangle::Lower, DataLayout::RowMajor)
        .map_err(Rejected::into_error)?;
    let expected = |row: usize, column: usize| packed[start(row.max(column)) + row.min(column)];
    check::<U>(&job, &mut matrix, ROWS, |row, column| expected(row, column).into());

    let mut target = Array::<U>::zeros(ROWS * dimension)?;
    let target = target.mutable_data()?;
    for first in (0..dimension).step_by(ROWS) {
        unpack(&packed, dimension, first, target);
        for (index, &found) in target.iter().enumerate() {
            let (row, column) = (first + index / dimension, index % dimension);
            assert!(found == expected(row, column).plain(), "{job}: the plain loop at row {row}, column {column}");
        }
    }
    let (blocks, mut block) = (dimension / ROWS, BlockDescriptor::<U>::new());
    let mut copy = MemoryCopy::moving(ROWS * dimension * (size_of::<f32>() + size_of::<U>()))?;
    bench.compare(
        &job,
        1,
        &mut [
            ("ours", &mut || {
                walk(&mut matrix, ROWS, ReadWriteMode::ReadOnly, &mut block, &mut |block| {
                    black_box(block.as_slice());
                });
            }),
            ("loop", &mut || {
                for first in (0..dimension).step_by(ROWS) {
                    unpack(black_box(&packed), dimension, first, target);
                    black_box(&mut *target);
                }
            }),
            ("memcpy", &mut copy.contender(blocks, parallel_parts())?),
        ],
    );
    Ok(())
}

/// The index of the first packed value of a row.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

/// Writes rows of the full matrix from row `first` on: the stored part of each, then its column below the diagonal.
fn unpack<U: Element>(packed: &[f32], dimension: usize, first: usize, target: &mut [U])
where
    f32: Plain<U>,
{
    for (row, target) in (first..).zip(target.chunks_exact_mut(dimension)) {
        let (stored, mirrored) = target.split_at_mut(row + 1);
        plain_loop(&packed[start(row)..start(row + 1)], stored);
        for (column, target) in (row + 1..).zip(mirrored) {
            *target = packed[start(column) + row].plain();
        }
    }
}
