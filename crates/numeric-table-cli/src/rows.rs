//! `head`, `tail`, `sample` and `rows`.

use std::collections::HashSet;
use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;

use numeric_table::{DataDictionary, NumericTable, TableConversion, TableSelection};
use serde_json::{Map, Value};

use crate::args::{Choice, HeadArgs, RowsArgs, SampleArgs};
use crate::cells::{Cell, cells_of, is_text, names_of};
use crate::choice::Chooser;
use crate::failure::{Failure, Outcome};
use crate::input::{Block, Input};
use crate::print::Grid;

/// The most rows of a table that is aligned as a whole.
const MOST: usize = 10_000;

/// Prints rows: as lines of JSON at once, or as a table with the numbers of the rows.
struct Rows {
    json: bool,
    names: Vec<String>,
    /// Names that differ: those of JSON.
    keys: Vec<String>,
    grid: Grid,
    count: usize,
    has_printed: bool,
}

/// Returns the names, and after one that is repeated, the number of its column.
fn distinct(names: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let is_new: Vec<bool> = names.iter().map(|name| seen.insert(name)).collect();
    let keys = names.iter().zip(is_new).enumerate();
    keys.map(|(column, (name, is_new))| if is_new { name.clone() } else { format!("{name} (column {column})") })
        .collect()
}

impl Rows {
    fn new(json: bool, dictionary: &DataDictionary) -> Self {
        let names = names_of(dictionary);
        let grid = Self::grid(&names, dictionary);
        let keys = distinct(&names);
        Self { json, names, keys, grid, count: 0, has_printed: false }
    }

    fn grid(names: &[String], dictionary: &DataDictionary) -> Grid {
        let words = dictionary.iter().enumerate().filter(|(_, feature)| is_text(feature));
        let grid = Grid::new([String::new()].into_iter().chain(names.iter().cloned()));
        grid.left(words.map(|(column, _)| column + 1))
    }

    /// Adds rows, whose numbers in the file are given.
    fn add(&mut self, block: &dyn NumericTable, numbers: impl Iterator<Item = usize>) -> Outcome {
        let mut out = self.json.then(|| std::io::BufWriter::new(std::io::stdout().lock()));
        for (cells, number) in cells_of(block)?.into_iter().zip(numbers) {
            match &mut out {
                Some(out) => {
                    let row: Map<String, Value> = self.keys.iter().cloned().zip(cells.iter().map(Cell::json)).collect();
                    serde_json::to_writer(&mut *out, &row).map_err(std::io::Error::from)?;
                    writeln!(out)?;
                }
                None => {
                    let mut line = vec![Cell::Number(number.to_string())];
                    line.extend(cells);
                    self.grid.push(line);
                    self.count += 1;
                }
            }
        }
        if let Some(mut out) = out {
            out.flush()?;
        }
        if self.count >= MOST {
            self.print(block.dictionary())?;
        }
        Ok(())
    }

    fn print(&mut self, dictionary: &DataDictionary) -> Outcome {
        let grid = std::mem::replace(&mut self.grid, Self::grid(&self.names, dictionary));
        (self.count, self.has_printed) = (0, true);
        grid.print()
    }

    fn finish(mut self, dictionary: &DataDictionary) -> Outcome {
        if !self.json && (self.count > 0 || !self.has_printed) {
            self.print(dictionary)?;
        }
        Ok(())
    }
}

/// Prints rows of a range, up to a number of rows that are kept.
fn show(input: &Input, choice: &Choice, range: Range<usize>, most: usize, json: bool) -> Outcome {
    let dictionary = input.dictionary()?;
    let chooser = Chooser::new(choice, &dictionary)?;
    let dictionary = chooser.dictionary(&dictionary);
    let mut rows = Rows::new(json, &dictionary);
    let (mut first, mut left) = (range.start, most);
    let end = if chooser.has_filter() { range.end } else { range.end.min(range.start.saturating_add(most)) };
    for block in input.rows(range.start..end)? {
        let block = block?;
        let here = first..first + block.shape().rows;
        first = here.end;
        let numbers: Vec<usize> = match chooser.kept(&*block)? {
            None => here.take(left).collect(),
            Some(kept) => here.zip(kept).filter(|(_, is_kept)| *is_kept).map(|(row, _)| row).take(left).collect(),
        };
        left -= numbers.len();
        let at: Vec<usize> = numbers.iter().map(|row| row - (first - block.shape().rows)).collect();
        let block = chooser.columns_of(block.take_rows(&at)?)?;
        rows.add(&*block, numbers.into_iter())?;
        if left == 0 {
            break;
        }
    }
    rows.finish(&dictionary)
}

pub(crate) fn head(args: &HeadArgs, json: bool) -> Outcome {
    let beginning = match args.choice.r#where {
        None => Input::open_beginning(&args.input, args.rows)?,
        Some(_) => None,
    };
    let input = match beginning {
        Some(input) => input,
        None => Input::open(&args.input)?,
    };
    show(&input, &args.choice, 0..usize::MAX, args.rows, json)
}

pub(crate) fn range(args: &RowsArgs, json: bool) -> Outcome {
    let range = parse_range(&args.range)?;
    let input = Input::open(&args.input)?;
    if let Some(count) = input.known_rows()
        && range.start > count
    {
        let rows = crate::print::count(count, "row");
        return Err(Failure::usage(format!("{}: the file has {rows}, and none from {} on", input.name, range.start)));
    }
    show(&input, &args.choice, range, usize::MAX, json)
}

fn parse_range(text: &str) -> Outcome<Range<usize>> {
    let wrong = || Failure::usage(format!("{text:?} is no range of rows: write `100..120`, `100..`, `..20` or `7`"));
    let number = |text: &str, default| if text.is_empty() { Ok(default) } else { text.parse().map_err(|_| wrong()) };
    let range = match text.split_once("..") {
        Some((start, end)) => number(start, 0)?..number(end, usize::MAX)?,
        None => {
            let row: usize = text.parse().map_err(|_| wrong())?;
            row..row.saturating_add(1)
        }
    };
    if range.start > range.end { Err(wrong()) } else { Ok(range) }
}

pub(crate) fn tail(args: &HeadArgs, json: bool) -> Outcome {
    let input = Input::open(&args.input)?;
    let dictionary = input.dictionary()?;
    let chooser = Chooser::new(&args.choice, &dictionary)?;
    if let (Some(count), false) = (input.known_rows(), chooser.has_filter()) {
        return show(&input, &args.choice, count.saturating_sub(args.rows)..count, args.rows, json);
    }
    // The last rows of the blocks so far, with their numbers.
    let mut last: VecDeque<(Block, Vec<usize>)> = VecDeque::new();
    let (mut count, mut first) = (0, 0);
    for block in input.blocks()? {
        let block = block?;
        let here = first..first + block.shape().rows;
        first = here.end;
        let mut numbers: Vec<usize> = match chooser.kept(&*block)? {
            None => here.clone().collect(),
            Some(kept) => here.clone().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(row, _)| row).collect(),
        };
        numbers.drain(..numbers.len().saturating_sub(args.rows));
        let at: Vec<usize> = numbers.iter().map(|row| row - here.start).collect();
        count += numbers.len();
        last.push_back((chooser.columns_of(block.take_rows(&at)?)?, numbers));
        while last.front().is_some_and(|(_, numbers)| count - numbers.len() >= args.rows) {
            count -= last.pop_front().map_or(0, |(_, numbers)| numbers.len());
        }
    }
    let dictionary = chooser.dictionary(&dictionary);
    let mut rows = Rows::new(json, &dictionary);
    let mut skipped = count.saturating_sub(args.rows);
    for (block, numbers) in last {
        let here = skipped.min(numbers.len());
        skipped -= here;
        rows.add(&*block.select_rows(here..)?.to_table()?, numbers.into_iter().skip(here))?;
    }
    rows.finish(&dictionary)
}

/// Two passes: the first counts the rows that are kept, the second takes those that were chosen.
pub(crate) fn sample(args: &SampleArgs, json: bool) -> Outcome {
    let input = Input::open(&args.input)?;
    let dictionary = input.dictionary()?;
    let chooser = Chooser::new(&args.choice, &dictionary)?;
    let count = match (input.known_rows(), chooser.has_filter()) {
        (Some(count), false) => count,
        _ => {
            let mut count = 0;
            for block in input.blocks()? {
                let block = block?;
                count += match chooser.kept(&*block)? {
                    None => block.shape().rows,
                    Some(kept) => kept.into_iter().filter(|is_kept| *is_kept).count(),
                };
            }
            count
        }
    };
    let chosen = choose(count, args.rows.min(count), args.seed);
    let dictionary = chooser.dictionary(&dictionary);
    let mut rows = Rows::new(json, &dictionary);
    let (mut next, mut seen, mut first) = (0, 0, 0);
    for block in input.blocks()? {
        if next == chosen.len() {
            break;
        }
        let block = block?;
        let here = first..first + block.shape().rows;
        first = here.end;
        let kept = chooser.kept(&*block)?;
        let mut at = Vec::new();
        for row in here.clone().filter(|row| kept.as_ref().is_none_or(|kept| kept[row - here.start])) {
            if chosen.get(next) == Some(&seen) {
                at.push(row - here.start);
                next += 1;
            }
            seen += 1;
        }
        let block = chooser.columns_of(block.take_rows(&at)?)?;
        rows.add(&*block, at.into_iter().map(|row| row + here.start))?;
    }
    rows.finish(&dictionary)
}

/// Returns distinct numbers below `count`, in order: Floyd's algorithm.
fn choose(count: usize, how_many: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut chosen = std::collections::BTreeSet::new();
    for last in count - how_many..count {
        let row = ((u128::from(random()) * (last as u128 + 1)) >> 64) as usize;
        if !chosen.insert(row) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_distinct_rows_in_order_and_every_row_can_be_chosen() {
        for (count, how_many) in [(0, 0), (1, 1), (10, 3), (1000, 1000)] {
            let chosen = choose(count, how_many, 5);
            assert_eq!(chosen.len(), how_many);
            assert!(chosen.is_sorted_by(|one, other| one < other) && chosen.iter().all(|&row| row < count));
        }
        let seen: std::collections::BTreeSet<usize> = (0..200).flat_map(|seed| choose(10, 3, seed)).collect();
        assert_eq!(seen.len(), 10);
    }

    #[test]
    fn ranges_have_ends_or_not() {
        assert_eq!(parse_range("3..5").unwrap(), 3..5);
        assert_eq!(parse_range("3..").unwrap(), 3..usize::MAX);
        assert_eq!(parse_range("..5").unwrap(), 0..5);
        assert_eq!(parse_range("7").unwrap(), 7..8);
        for wrong in ["5..3", "a..b", "-1", "", "1...2"] {
            assert!(parse_range(wrong).is_err(), "{wrong}");
        }
    }
}
