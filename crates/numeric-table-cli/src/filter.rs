//! `--where`: which rows to keep.
//!
//! `parse`: from text to an expression; here: the rows of a block that it keeps.
//!
//! A comparison with a missing value or NaN is neither true nor false, as in SQL: such a row is kept only if the rest
//! of the expression makes it true.

mod parse;

use std::cmp::Ordering;

use numeric_table::internal::match_element;
use numeric_table::{AnyArray, DataDictionary, ElementType, Feature, FeatureType, MissingValues, NumericTable, Result};

use self::parse::{Compare, Node};
use crate::cells::is_words;
use crate::columns;
use crate::failure::{Failure, Outcome};
use crate::moment;

/// An expression whose columns are known.
#[derive(Clone, Debug)]
pub(crate) struct Filter(Test);

#[derive(Clone, Debug)]
enum Test {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    /// Whether the column is missing, or NaN.
    Missing(usize),
    Compare(usize, Compare, Constant),
    In(usize, Vec<Constant>),
    Columns(usize, Compare, usize),
}

/// What a column is compared with.
#[derive(Clone, Debug)]
enum Constant {
    Whole(i128),
    Float(f64),
    Word(String),
}

impl Filter {
    /// Parses an expression over some columns.
    pub(crate) fn new(text: &str, dictionary: &DataDictionary) -> Outcome<Self> {
        let node = parse::parse(text).map_err(Failure::Usage)?;
        resolve(node, dictionary)
            .map(Self)
            .map_err(|(span, reason)| Failure::Usage(parse::pointed(text, span, &reason)))
    }

    /// Returns which rows of a block are kept.
    pub(crate) fn keeps(&self, block: &dyn NumericTable) -> Result<Vec<bool>> {
        Ok(self.0.look_at(block)?.into_iter().map(|found| found == Some(true)).collect())
    }
}

type Wrong = ((usize, usize), String);

fn resolve(node: Node, dictionary: &DataDictionary) -> Result<Test, Wrong> {
    let column = |(name, span): &(String, (usize, usize))| {
        columns::one(name, dictionary).map_err(|failure| (*span, failure.to_string()))
    };
    let all = |nodes: Vec<Node>| nodes.into_iter().map(|node| resolve(node, dictionary)).collect::<Result<_, _>>();
    Ok(match node {
        Node::And(nodes) => Test::And(all(nodes)?),
        Node::Or(nodes) => Test::Or(all(nodes)?),
        Node::Not(inner) => Test::Not(Box::new(resolve(*inner, dictionary)?)),
        Node::Missing(name) => Test::Missing(column(&name)?),
        Node::Columns(left, compare, right) => Test::Columns(column(&left)?, compare, column(&right)?),
        Node::Compare(name, compare, literal) => {
            let index = column(&name)?;
            Test::Compare(index, compare, constant(literal, dictionary, index)?)
        }
        Node::In(name, literals) => {
            let index = column(&name)?;
            let constants = literals.into_iter().map(|literal| constant(literal, dictionary, index));
            Test::In(index, constants.collect::<Result<_, _>>()?)
        }
    })
}

/// Returns the constant that a literal is for a column.
fn constant(literal: parse::Literal, dictionary: &DataDictionary, column: usize) -> Result<Constant, Wrong> {
    let feature = dictionary.feature(column).cloned().unwrap_or_else(|_| Feature::new(ElementType::F64));
    let parse::Literal { text, is_quoted, span } = literal;
    if let FeatureType::Time(unit) = feature.feature_type
        && let Some(units) = moment::units(&text, unit)
    {
        return Ok(Constant::Whole(units));
    }
    if is_words(&feature) {
        return Ok(Constant::Word(text));
    }
    if !is_quoted {
        if let Ok(whole) = text.parse() {
            return Ok(Constant::Whole(whole));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_nan() => {
                return Err((span, "no value equals NaN: write `is missing`, or `is not missing`".to_owned()));
            }
            Ok(number) => return Ok(Constant::Float(number)),
            Err(_) => {}
        }
    }
    let (kind, advice) = match feature.feature_type {
        FeatureType::Time(_) => ("dates", ": write it as 2024-02-29 or \"2024-02-29T12:00:00Z\"".to_owned()),
        _ if !is_quoted && columns::one(&text, dictionary).is_ok() => {
            ("numbers", format!(": to compare with the column, write `{text}` between backquotes"))
        }
        _ => ("numbers", String::new()),
    };
    let one = if kind == "dates" { "a date" } else { "a number" };
    Err((span, format!("the column holds {kind}, and {text:?} is not {one}{advice}")))
}

/// A value of a column.
enum Values {
    Whole(Vec<i128>),
    Float(Vec<f64>),
}

struct Column {
    values: Values,
    is_present: Option<Vec<bool>>,
    feature: Feature,
}

impl Column {
    fn of(block: &dyn NumericTable, column: usize) -> Result<Self> {
        let (array, validity) = block.column_with_validity(column, ..)?;
        let is_present = validity.map(|validity| validity.to_flags()).transpose()?;
        let feature = block.dictionary().feature(column)?.clone();
        Ok(Self { values: values(&array), is_present, feature })
    }

    fn is_known(&self, row: usize) -> bool {
        let is_number = match &self.values {
            Values::Whole(_) => true,
            Values::Float(values) => !values[row].is_nan(),
        };
        is_number && self.is_present.as_ref().is_none_or(|flags| flags[row])
    }

    fn label(&self, row: usize) -> Option<&str> {
        let index = match &self.values {
            Values::Whole(values) => usize::try_from(values[row]).ok()?,
            Values::Float(values) if values[row] >= 0.0 => values[row] as usize,
            Values::Float(_) => return None,
        };
        self.feature.label(index)
    }

    /// Compares a known value with a constant.
    fn order(&self, row: usize, constant: &Constant) -> Option<Ordering> {
        match (constant, &self.values) {
            (Constant::Word(word), _) => self.label(row).map(|label| label.cmp(word)),
            (Constant::Whole(number), Values::Whole(values)) => Some(values[row].cmp(number)),
            (Constant::Float(number), Values::Float(values)) => values[row].partial_cmp(number),
            (Constant::Float(number), Values::Whole(values)) => order(values[row], *number),
            (Constant::Whole(number), Values::Float(values)) => order(*number, values[row]).map(Ordering::reverse),
        }
    }
}

fn values(array: &AnyArray) -> Values {
    match_element!(array.element_type(), T => {
        let values = array.downcast_ref::<T>().map_or(&[][..], |values| values);
        match array.element_type().is_float() {
            true => Values::Float(values.iter().map(|&value| to_f64(value.into())).collect()),
            false => Values::Whole(values.iter().map(|&value| to_i128(value.into())).collect()),
        }
    })
}

fn to_f64(value: numeric_table::AnyValue) -> f64 {
    value.convert::<f64>(numeric_table::ConversionPolicy::Saturate).unwrap_or(f64::NAN)
}

fn to_i128(value: numeric_table::AnyValue) -> i128 {
    match value {
        numeric_table::AnyValue::U64(value) => value.into(),
        other => other.convert::<i64>(numeric_table::ConversionPolicy::Saturate).unwrap_or(0).into(),
    }
}

/// Compares a whole number with a float, exactly.
fn order(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() >= 1e38 {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let floor = float.floor();
    Some(whole.cmp(&(floor as i128)).then(if floor < float { Ordering::Less } else { Ordering::Equal }))
}

impl Test {
    fn look_at(&self, block: &dyn NumericTable) -> Result<Vec<Option<bool>>> {
        let rows = 0..block.shape().rows;
        Ok(match self {
            Self::And(tests) => all_of(tests, block, |found| found)?,
            // One is true unless all are false.
            Self::Or(tests) => negated(all_of(tests, block, |found| found.map(|is| !is))?),
            Self::Not(inner) => negated(inner.look_at(block)?),
            Self::Missing(column) => {
                let column = Column::of(block, *column)?;
                rows.map(|row| Some(!column.is_known(row))).collect()
            }
            Self::Compare(column, compare, constant) => {
                let column = Column::of(block, *column)?;
                let test = |row| column.order(row, constant).map(|order| compare.holds(order));
                rows.map(|row| column.is_known(row).then(|| test(row)).flatten()).collect()
            }
            Self::In(column, constants) => {
                let column = Column::of(block, *column)?;
                let is_equal = |row, constant| column.order(row, constant) == Some(Ordering::Equal);
                let test = |row| constants.iter().any(|constant| is_equal(row, constant));
                rows.map(|row| column.is_known(row).then(|| test(row))).collect()
            }
            Self::Columns(left, compare, right) => {
                let (left, right) = (Column::of(block, *left)?, Column::of(block, *right)?);
                let test = |row: usize| {
                    let order = match (left.label(row), right.label(row)) {
                        (Some(left), Some(right)) => Some(left.cmp(right)),
                        _ => match &right.values {
                            Values::Whole(values) => left.order(row, &Constant::Whole(values[row])),
                            Values::Float(values) => left.order(row, &Constant::Float(values[row])),
                        },
                    };
                    order.map(|order| compare.holds(order))
                };
                rows.map(|row| (left.is_known(row) && right.is_known(row)).then(|| test(row)).flatten()).collect()
            }
        })
    }
}

/// Returns for each row whether all tests hold, after a change of what each of them finds.
fn all_of(
    tests: &[Test],
    block: &dyn NumericTable,
    changed: impl Fn(Option<bool>) -> Option<bool>,
) -> Result<Vec<Option<bool>>> {
    let mut all = vec![Some(true); block.shape().rows];
    for test in tests {
        let found = test.look_at(block)?;
        all.iter_mut().zip(found).for_each(|(all, found)| *all = and(*all, changed(found)));
    }
    Ok(all)
}

fn negated(found: Vec<Option<bool>>) -> Vec<Option<bool>> {
    found.into_iter().map(|found| found.map(|is| !is)).collect()
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use numeric_table::SoaNumericTable;
    use numeric_table::dictionary::{Categories, TimeUnit};

    fn table() -> Result<SoaNumericTable> {
        let mut table = SoaNumericTable::new();
        let city = Feature::new(ElementType::U8).named("city").categorical(Categories::from_labels(["Oslo", "Lima"])?);
        table.push_feature(city, vec![0_u8, 1, 1, 0])?;
        table.push_optional("a b", [Some(9_007_199_254_740_993_i64), None, Some(-4), Some(3)])?;
        table.push_column("x", vec![1.5, f64::NAN, -2.0, 3.0])?;
        let day = Feature::new(ElementType::I32).named("day").time(TimeUnit::Days);
        table.push_feature(day, vec![0_i32, 19_782, 1, 2])?;
        Ok(table)
    }

    fn kept(text: &str) -> Vec<usize> {
        let table = table().unwrap();
        let filter = Filter::new(text, table.dictionary()).unwrap_or_else(|failure| panic!("{failure}"));
        let kept = filter.keeps(&table).unwrap();
        (0..4).filter(|&row| kept[row]).collect()
    }

    fn refused(text: &str) -> String {
        Filter::new(text, table().unwrap().dictionary()).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_kept_by_numbers_words_dates_and_missing_values() {
        assert_eq!(kept("x > 1"), [0, 3]);
        assert_eq!(kept("x >= 1.5 and x != 3"), [0]);
        assert_eq!(kept("city == \"Oslo\""), [0, 3]);
        assert_eq!(kept("city == Oslo or x < 0"), [0, 2, 3]);
        assert_eq!(kept("not (city in (Oslo, 'Rome'))"), [1, 2]);
        assert_eq!(kept("`a b` == 9007199254740993"), [0]);
        assert!(kept("`a b` == 9007199254740992").is_empty());
        assert_eq!(kept("`a b` > 9007199254740992.0"), [0]);
        assert_eq!(kept("`a b` is missing"), [1]);
        assert_eq!(
            kept("x is not missing && 1 == 1 or x is missing".replace("1 == 1", "x < 9").as_str()),
            [0, 1, 2, 3]
        );
        assert_eq!(kept("day >= 1970-01-02 and day < \"2024-01-01\""), [2, 3]);
        assert_eq!(kept("`a b` == `x`"), [3]);
        assert_eq!(kept("0 < x"), [0, 3]);
    }

    #[test]
    fn what_is_compared_with_a_missing_value_is_neither_true_nor_false() {
        assert_eq!(kept("x != 99"), [0, 2, 3]);
        assert_eq!(kept("not x == 99"), [0, 2, 3]);
        assert_eq!(kept("x == 99 or day == 2024-02-29"), [1]);
    }

    #[test]
    fn long_chains_need_no_stack_and_and_binds_before_or() {
        assert_eq!(kept(&vec!["x > -1"; 100_000].join(" and ")), [0, 3]);
        assert_eq!(kept(&vec!["x > 2"; 100_000].join(" or ")), [3]);
        assert_eq!(kept("x == 3 or x == 1.5 and city == Lima"), [3]);
        assert_eq!(kept("(x == 3 or x == 1.5) and city == Oslo"), [0, 3]);
        assert_eq!(kept("not x == 3 and city == Oslo"), [0]);
        assert_eq!(kept("not (x == 3 or x == 1.5)"), [2]);
    }

    #[test]
    fn huge_numbers_compare_by_their_value() {
        let digits = "9".repeat(1000);
        assert_eq!(kept(&format!("x < {digits}")), [0, 2, 3]);
        assert_eq!(kept(&format!("`a b` < {digits}")), [0, 2, 3]);
        assert_eq!(kept("`a b` > -1e400"), [0, 2, 3]);
        assert_eq!(kept(&format!("city == {digits}")), [] as [usize; 0]);
        assert_eq!(kept("city > 3"), [0, 1, 2, 3], "a column of words compares words");
    }

    #[test]
    fn errors_point_at_the_place() {
        assert_eq!(
            refused("x > 1 and citty == Oslo"),
            "no column is called \"citty\": did you mean \"city\"?\n  x > 1 and citty == Oslo\n            ^^^^^"
        );
        assert!(refused("x > 'a'").starts_with("the column holds numbers, and \"a\" is not a number\n"));
        assert!(refused("x >").starts_with("a value is missing after `>`\n"), "{}", refused("x >"));
        assert!(refused("(x > 1").contains("`)`"));
        assert!(refused("x > 1 city").contains("`and`"));
        assert!(refused("").contains("empty"));
        assert!(refused("x = 1").contains("=="), "{}", refused("x = 1"));
        assert!(refused("'open").contains("quote"));
        assert!(
            refused("x > `a b` and day > tomorrow").contains("holds dates, and \"tomorrow\" is not a date: write it")
        );
        assert!(refused("x == day").contains("write `day` between backquotes"), "{}", refused("x == day"));
        assert!(refused("x == nan").contains("is missing"));
        assert_eq!(
            refused("\u{65e5}\u{672c} == 1").lines().last().unwrap(),
            "  ^^^^",
            "wide characters take two columns of a terminal"
        );
        assert!(
            refused("x > 1 or \u{1b}[31m == 2").ends_with("at character 10"),
            "{}",
            refused("x > 1 or \u{1b}[31m == 2")
        );
        assert!(refused(&"(".repeat(100_000)).contains("nested"));
        assert!(refused(&"not ".repeat(100_000)).contains("nested"));
    }
}
