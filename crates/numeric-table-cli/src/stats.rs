//! `stats` and `corr`: summaries of files of any size, a block of rows at a time.

use numeric_table::statistics::{
    BasicStatistics, ColumnStatistics, Covariance, GroupStatistics, MissingCategories, QuantileSketch,
};
use numeric_table::{
    BlockAccess, DataDictionary, ElementType, Feature, FeatureType, MissingValues, NumericTable, Partial, Result,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::args::{CorrArgs, StatsArgs};
use crate::cells::{Cell, cells_of, is_words, names_of};
use crate::choice::Chooser;
use crate::columns;
use crate::failure::{Failure, Outcome};
use crate::input::{Block, Input};
use crate::print::{self, Grid, count, grouped, number, short};
use crate::progress::Progress;

/// The number of bars of a small histogram.
const BARS: usize = 12;
/// The most groups of a column without labels.
const GROUPS: f64 = 100_000.0;

/// What one pass over the rows finds.
#[derive(Serialize, Deserialize)]
struct Summary {
    basic: BasicStatistics,
    sketch: QuantileSketch,
    /// How often each category of the columns of words appears.
    counts: Vec<Option<Vec<u64>>>,
}

impl Summary {
    fn new(dictionary: &DataDictionary) -> Result<Self> {
        let counts = dictionary.iter().map(|feature| is_words(feature).then(Vec::new));
        Ok(Self {
            basic: BasicStatistics::new(dictionary.len())?,
            sketch: QuantileSketch::new(dictionary.len())?,
            counts: counts.collect(),
        })
    }
}

impl Partial for Summary {
    const NAME: &'static str = "ntable summary";

    fn new_like(&self) -> Result<Self> {
        let counts = self.counts.iter().map(|counts| counts.as_ref().map(|_| Vec::new())).collect();
        Ok(Self { basic: self.basic.new_like()?, sketch: self.sketch.new_like()?, counts })
    }

    fn update(&mut self, rows: &dyn NumericTable) -> Result<()> {
        self.basic.update(rows)?;
        self.sketch.update(rows)?;
        for (column, counts) in self.counts.iter_mut().enumerate() {
            let Some(counts) = counts else { continue };
            let validity = rows.column_validity(column)?;
            for (row, value) in rows.column::<f64>(column, ..)?.iter().enumerate() {
                let is_present = validity.as_ref().is_none_or(|validity| validity.is_present(row) == Some(true));
                if is_present && *value >= 0.0 && *value < f64::from(u32::MAX) {
                    let index = *value as usize;
                    if counts.len() <= index {
                        counts.resize(index + 1, 0);
                    }
                    counts[index] += 1;
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        self.basic.merge(&other.basic)?;
        self.sketch.merge(&other.sketch)?;
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            if let (Some(counts), Some(more)) = (counts, more) {
                counts.resize(counts.len().max(more.len()), 0);
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
        }
        Ok(())
    }
}

/// Adds up the blocks that are chosen. Returns the dictionary of the last of them too, which has all labels.
fn reduce<P: Partial>(
    input: &Input,
    chooser: &Chooser,
    what: &str,
    quiet: bool,
    mut sum: P,
    dictionary: DataDictionary,
) -> Outcome<(P, DataDictionary)> {
    let (progress, mut dictionary) = (Progress::new(what, input, quiet), dictionary);
    for block in input.blocks()? {
        let block = block?;
        let rows = block.shape().rows;
        let block: Block = chooser.apply(block)?;
        if block.shape().rows > 0 {
            sum.merge(&sum.new_like()?.compute_over(&*block)?)?;
        }
        dictionary = block.dictionary().clone();
        progress.add(rows);
    }
    Ok((sum, dictionary))
}

pub(crate) fn run(args: &StatsArgs, json: bool, quiet: bool) -> Outcome {
    let input = Input::open_all(&args.input)?;
    let all = input.dictionary()?;
    if let Some(group) = &args.by {
        return by_group(args, group, &input, &all, json, quiet);
    }
    let quantiles = quantiles(&args.quantiles)?;
    let chooser = Chooser::new(&args.choice, &all)?;
    let dictionary = chooser.dictionary(&all);
    let (summary, dictionary) = reduce(&input, &chooser, "summarizing", quiet, Summary::new(&dictionary)?, dictionary)?;
    let columns: Vec<Column<'_>> = dictionary
        .iter()
        .zip(names_of(&dictionary))
        .enumerate()
        .map(|(column, (feature, name))| Column { summary: &summary, feature, name, column })
        .collect();
    if json {
        let columns = columns.iter().map(|column| column.json(&quantiles)).collect::<Result<Vec<_>>>()?;
        return print::json(&json!({ "rows": summary.basic.row_count(), "columns": columns }));
    }
    print::note(&count(summary.basic.row_count(), "row"))?;
    let mut titles: Vec<String> = ["column", "count", "missing", "mean", "std", "min"].map(str::to_owned).to_vec();
    titles.extend(quantiles.iter().map(|quantile| format!("{}%", short(quantile * 100.0))));
    titles.extend(["max", "values"].map(str::to_owned));
    let last = titles.len() - 1;
    let mut grid = Grid::new(titles).left([0, last]);
    for column in &columns {
        grid.push(column.line(&quantiles)?);
    }
    grid.print()
}

fn quantiles(list: &[f64]) -> Outcome<Vec<f64>> {
    match list.iter().find(|quantile| !(0.0..=1.0).contains(*quantile)) {
        Some(wrong) => Err(Failure::usage(format!("--quantiles: {wrong} is not between 0 and 1"))),
        None => Ok(list.to_vec()),
    }
}

/// One column of a summary.
struct Column<'a> {
    summary: &'a Summary,
    feature: &'a Feature,
    name: String,
    column: usize,
}

impl Column<'_> {
    fn basic(&self) -> &ColumnStatistics {
        &self.summary.basic.per_column()[self.column]
    }

    /// Returns how many values are in each of some bins of the same width from the minimum to the maximum.
    fn histogram(&self, bars: usize) -> Result<Vec<u64>> {
        let (low, high) = (self.basic().minimum(), self.basic().maximum());
        if let Some(counts) = &self.summary.counts[self.column] {
            return Ok(counts.iter().copied().take(bars).collect());
        }
        if self.basic().count() == 0 || !low.is_finite() || !high.is_finite() {
            return Ok(Vec::new());
        }
        if low == high {
            return Ok(vec![self.basic().count()]);
        }
        let mut counts = Vec::new();
        let mut before = 0;
        for bar in 1..=bars {
            let end = low + (high - low) * (bar as f64 / bars as f64);
            let rank = if bar == bars { self.basic().count() } else { self.summary.sketch.rank(self.column, end)? };
            counts.push(rank.saturating_sub(before));
            before = rank.max(before);
        }
        Ok(counts)
    }

    fn line(&self, quantiles: &[f64]) -> Result<Vec<Cell>> {
        let basic = self.basic();
        let missing = basic.missing_count() + basic.nan_count();
        let mut line =
            vec![Cell::Text(self.name.clone()), Cell::Number(grouped(basic.count())), Cell::Number(grouped(missing))];
        let empty = || Cell::Text(String::new());
        if let Some(counts) = &self.summary.counts[self.column] {
            line.resize_with(5 + quantiles.len() + 2, empty);
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_by_key(|&index| std::cmp::Reverse(counts[index]));
            let words = order.iter().take(3).filter_map(|&index| {
                self.feature.label(index).map(|label| format!("{label} {}", grouped(counts[index])))
            });
            let words: Vec<String> = words.collect();
            let more = if counts.len() > 3 { ", ..." } else { "" };
            let all = count(self.feature.category_count().unwrap_or(0), "word");
            let text = format!("{all}: {}{more}", words.join(", "));
            line.push(Cell::Text(text));
            return Ok(line);
        }
        if basic.count() == 0 {
            line.resize_with(5 + quantiles.len() + 3, empty);
            return Ok(line);
        }
        let mut numbers = vec![basic.minimum()];
        numbers.extend(self.summary.sketch.quantiles(self.column, quantiles)?);
        numbers.push(basic.maximum());
        let is_time = matches!(self.feature.feature_type, FeatureType::Time(_));
        let spread = if is_time { String::new() } else { short(basic.standard_deviation()) };
        let mean = self.shown(&[basic.mean()])?;
        line.extend(mean.into_iter().chain([Cell::Text(spread)]));
        line.extend(self.shown(&numbers)?);
        line.push(Cell::Text(bars(&self.histogram(BARS)?)));
        Ok(line)
    }

    /// Returns numbers as cells: dates where the column holds dates.
    fn shown(&self, numbers: &[f64]) -> Result<Vec<Cell>> {
        if !matches!(self.feature.feature_type, FeatureType::Time(_)) {
            return Ok(numbers.iter().map(|&number| Cell::Number(short(number))).collect());
        }
        let feature = Feature { nullable: false, ..self.feature.clone() };
        let whole: Vec<i64> = numbers.iter().map(|number| number.round() as i64).collect();
        let feature = Feature { element_type: ElementType::I64, ..feature };
        let mut table = numeric_table::SoaNumericTable::new();
        table.push_feature(feature, whole)?;
        Ok(cells_of(&table)?.into_iter().flatten().collect())
    }

    fn json(&self, quantiles: &[f64]) -> Result<Value> {
        let basic = self.basic();
        let mut column = json!({
            "name": self.name,
            "type": self.feature.element_type.to_string(),
            "count": basic.count(),
            "missing": basic.missing_count(),
            "nan": basic.nan_count(),
        });
        if let Some(counts) = &self.summary.counts[self.column] {
            let labels = counts.iter().enumerate().map(|(index, &count)| {
                (self.feature.label(index).map_or_else(|| index.to_string(), str::to_owned), json!(count))
            });
            column["counts"] = Value::Object(labels.collect::<Map<_, _>>());
            return Ok(column);
        }
        if basic.count() > 0 {
            let found = self.summary.sketch.quantiles(self.column, quantiles)?;
            let pairs = quantiles.iter().zip(found).map(|(quantile, value)| (quantile.to_string(), number(value)));
            column["mean"] = number(basic.mean());
            column["standard_deviation"] = number(basic.standard_deviation());
            column["minimum"] = number(basic.minimum());
            column["maximum"] = number(basic.maximum());
            column["sum"] = number(basic.sum());
            column["quantiles"] = Value::Object(pairs.collect());
            column["histogram"] = json!(self.histogram(BARS)?);
        }
        Ok(column)
    }
}

/// Returns bars of eight heights. Bins with few values keep a low bar; empty ones have none.
fn bars(counts: &[u64]) -> String {
    const BARS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &u64| match count {
        0 => ' ',
        count => BARS[((u128::from(count) * 8).div_ceil(u128::from(most)) as usize).clamp(1, 8) - 1],
    };
    counts.iter().map(bar).collect()
}

/// Statistics of each group of rows.
fn by_group(args: &StatsArgs, group: &str, input: &Input, all: &DataDictionary, json: bool, quiet: bool) -> Outcome {
    let by = columns::one(group, all)?;
    let chosen = if args.choice.columns.is_empty() {
        (0..all.len()).filter(|&column| column != by).collect()
    } else {
        let mut chosen = columns::choose(&args.choice.columns, all)?;
        chosen.retain(|&column| column != by);
        chosen
    };
    let indices = [by].into_iter().chain(chosen).map(|column| column.to_string()).collect();
    let choice = crate::args::Choice { columns: indices, ..args.choice.clone() };
    let chooser = Chooser::of_indices(&choice, all)?;
    let dictionary = chooser.dictionary(all);
    let count = category_count(input, &chooser, &dictionary, group, quiet)?;
    let sum = GroupStatistics::new(dictionary.len(), 0, count)?.missing(MissingCategories::Group)?;
    let (groups, dictionary) = reduce(input, &chooser, "grouping", quiet, sum, dictionary)?;
    let names = names_of(&dictionary);
    let category = dictionary.feature(0)?;
    let label = |index: usize| match index {
        index if index >= count => Cell::Missing,
        index => {
            category.label(index).map_or_else(|| Cell::Number(index.to_string()), |label| Cell::Text(label.to_owned()))
        }
    };
    let shown: Vec<usize> = (0..groups.category_count())
        .filter(|&index| groups.row_counts().get(index).is_some_and(|&rows| rows > 0))
        .collect();
    let numbers: Vec<usize> =
        (1..names.len()).filter(|&column| dictionary.feature(column).is_ok_and(|feature| !is_words(feature))).collect();
    if json {
        let mut list = Vec::new();
        for index in shown {
            let mut columns = Vec::new();
            for &column in &numbers {
                let basic = groups.column(index, column)?;
                columns.push(json!({
                    "name": names[column], "count": basic.count(),
                    "missing": basic.missing_count(), "nan": basic.nan_count(),
                    "mean": number(basic.mean()), "standard_deviation": number(basic.standard_deviation()),
                    "minimum": number(basic.minimum()), "maximum": number(basic.maximum()), "sum": number(basic.sum()),
                }));
            }
            list.push(json!({ "group": label(index).json(), "rows": groups.row_count_of(index)?, "columns": columns }));
        }
        return print::json(&json!({ "by": names[0], "rows": groups.row_count(), "groups": list }));
    }
    let titles = ["rows", "column", "count", "mean", "std", "min", "max"].map(str::to_owned);
    let is_word = category.label(0).is_some();
    let mut grid =
        Grid::new([names[0].clone()].into_iter().chain(titles)).left(is_word.then_some(0).into_iter().chain([2]));
    for index in shown {
        for (position, &column) in numbers.iter().enumerate() {
            let basic = groups.column(index, column)?;
            let first = position == 0;
            let empty = || Cell::Text(String::new());
            let mut line = vec![
                if first { label(index) } else { empty() },
                if first { Cell::Number(grouped(groups.row_count_of(index)?)) } else { empty() },
                Cell::Text(names[column].clone()),
                Cell::Number(grouped(basic.count())),
            ];
            let values = [basic.mean(), basic.standard_deviation(), basic.minimum(), basic.maximum()];
            line.extend(values.map(|value| if basic.count() == 0 { empty() } else { Cell::Number(short(value)) }));
            grid.push(line);
        }
    }
    grid.print()
}

/// Returns the number of categories: that of the labels, or one more than the largest number, which a first pass finds.
fn category_count(
    input: &Input,
    chooser: &Chooser,
    dictionary: &DataDictionary,
    name: &str,
    quiet: bool,
) -> Outcome<usize> {
    if let Some(count) = dictionary.feature(0)?.category_count().filter(|&count| count > 0) {
        return Ok(count);
    }
    let basic = BasicStatistics::new(dictionary.len())?;
    let (basic, last) = reduce(input, chooser, "looking for groups", quiet, basic, dictionary.clone())?;
    if let Some(count) = last.feature(0)?.category_count() {
        return Ok(count.max(1)); // labels that are known only now
    }
    let column = &basic.per_column()[0];
    if column.count() == 0 {
        return Ok(1);
    }
    if column.minimum() < 0.0 || column.maximum() >= GROUPS {
        let (low, high) = (short(column.minimum()), short(column.maximum()));
        return Err(Failure::usage(format!(
            "--by {name}: groups are words, or whole numbers from 0 to {GROUPS}, and the column has {low} to {high}"
        )));
    }
    Ok(column.maximum() as usize + 1)
}

/// Correlations, or covariances, of all pairs of columns of numbers.
pub(crate) fn corr(args: &CorrArgs, json: bool, quiet: bool) -> Outcome {
    let input = Input::open_all(&args.input)?;
    let all = input.dictionary()?;
    let chooser = Chooser::new(&args.choice, &all)?;
    let dictionary = chooser.dictionary(&all);
    let chooser = if args.choice.columns.is_empty() {
        let numbers = (0..all.len()).filter(|&column| all.feature(column).is_ok_and(|feature| !is_words(feature)));
        let columns = numbers.map(|column| column.to_string()).collect();
        Chooser::of_indices(&crate::args::Choice { columns, ..args.choice.clone() }, &all)?
    } else {
        if let Some(words) = dictionary.iter().position(is_words) {
            let name = &names_of(&dictionary)[words];
            return Err(Failure::usage(format!("{name:?} holds words, which have no correlation")));
        }
        chooser
    };
    let dictionary = chooser.dictionary(&all);
    let (sum, _) =
        reduce(&input, &chooser, "correlating", quiet, Covariance::new(dictionary.len())?, dictionary.clone())?;
    let matrix = if args.covariance { sum.covariance()? } else { sum.correlation()? };
    let names = names_of(&dictionary);
    let values = matrix.rows::<f64>(..)?;
    if json {
        let rows: Vec<Vec<Value>> =
            values.chunks(names.len().max(1)).map(|row| row.iter().map(|&value| number(value)).collect()).collect();
        let kind = if args.covariance { "covariance" } else { "correlation" };
        return print::json(&json!({
            "columns": names, "rows": sum.row_count(), "rows_with_missing": sum.missing_rows(), kind: rows,
        }));
    }
    let mut grid = Grid::new([String::new()].into_iter().chain(names.iter().cloned())).left([0]);
    for (name, row) in names.iter().zip(values.chunks(names.len().max(1))) {
        let cells = row.iter().map(|&value| match args.covariance {
            true => Cell::Number(short(value)),
            false => Cell::Number(format!("{value:.3}")),
        });
        grid.push([Cell::Text(name.clone())].into_iter().chain(cells).collect());
    }
    grid.print()?;
    if sum.missing_rows() > 0 {
        print::note(&format!("without {} with missing values", count(sum.missing_rows(), "row")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_every_bin_that_has_values() {
        assert_eq!(bars(&[0, 1, 4, 1000]), " \u{2581}\u{2581}\u{2588}");
        assert_eq!(bars(&[]), "");
        assert_eq!(bars(&[u64::MAX, u64::MAX / 2]), "\u{2588}\u{2584}");
    }
}
