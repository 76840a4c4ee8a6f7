//! The model of filling missing values.

use std::ops::Range;

use numeric_table::prelude::*;

use super::super::number::Number;
use super::sheet::{Cell, Expected, Fault, Sheet, is_nan};

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Value(ElementType, Number),
    Previous,
    Next,
    Mean,
    Median,
}

impl Sheet {
    /// Returns the sheet with the missing values of columns filled, and how many were. A mean of floats is approximate.
    pub(super) fn filled(&self, columns: Range<usize>, how: How) -> Expected<(Self, usize)> {
        let (mut new, mut count) = (self.clone(), 0);
        for column in columns {
            let cells = self.column(column);
            let Some(first) = cells.iter().position(Option::is_none) else { continue };
            let element = self.types[column];
            let all = match how {
                How::Value(from, value) if from == element || value.fits(element) => {
                    Some(if from == element { value } else { value.saturate(element) })
                }
                How::Value(..) => return Err(vec![Fault::Value(first, column)]),
                How::Mean => mean(&cells).map(|value| value.saturate(element)),
                How::Median => median(&cells).map(|value| value.saturate(element)),
                How::Previous | How::Next => None,
            };
            for (row, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.is_none()) {
                debug_assert!(cell.is_none());
                let filled = match how {
                    How::Previous => cells[..row].iter().rev().find_map(|cell| *cell),
                    How::Next => cells[row..].iter().find_map(|cell| *cell),
                    _ => all,
                };
                count += usize::from(filled.is_some());
                new.cells[row][column] = filled;
            }
        }
        Ok((new, count))
    }
}

fn numbers(cells: &[Cell]) -> Vec<Number> {
    cells.iter().flatten().copied().filter(|&number| !is_nan(number)).collect()
}

/// Of integers: rounded to the nearest one, halves away from zero.
fn mean(cells: &[Cell]) -> Option<Number> {
    let numbers = numbers(cells);
    let count = numbers.len() as i128;
    let (mut integers, mut floats, mut is_float) = (0_i128, 0.0, false);
    for number in &numbers {
        match number {
            Number::Integer(value) => integers += value,
            Number::Float(value) => {
                floats += value;
                is_float = true;
            }
        }
    }
    match count {
        0 => None,
        _ if is_float => Some(Number::Float(floats / count as f64)),
        _ => {
            let (whole, rest) = (integers.div_euclid(count), integers.rem_euclid(count));
            let is_up = 2 * rest > count || (2 * rest == count && integers > 0);
            Some(Number::Integer(whole + i128::from(is_up)))
        }
    }
}

fn median(cells: &[Cell]) -> Option<Number> {
    let mut numbers = numbers(cells);
    numbers.sort_by(|one, other| match (one, other) {
        (Number::Integer(one), Number::Integer(other)) => one.cmp(other),
        (Number::Float(one), Number::Float(other)) => one.total_cmp(other),
        _ => unreachable!("a column has one type"),
    });
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    Some(match (numbers[middle - 1], upper) {
        (Number::Integer(lower), Number::Integer(upper)) => Number::Integer((lower + upper).div_euclid(2)),
        (Number::Float(lower), Number::Float(upper)) => Number::Float(lower / 2.0 + upper / 2.0),
        _ => unreachable!("a column has one type"),
    })
}
