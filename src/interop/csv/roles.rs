//! The roles of the columns of a file: the options, resolved for its columns.

use std::ops::Range;
use std::sync::Arc;

use super::categories::Categories;
use super::columns::{Custom, Names};
use super::markers::Markers;
use super::syntax::{Field, Syntax};
use super::{CsvColumnKind, CsvMissing, CsvOptions, bad_option};
use crate::base::element::{Element, ElementType};
use crate::base::error::Result;
use crate::base::number::Exact;
use crate::convert::{ConversionPolicy, cast};
use crate::dictionary::{Categories as Words, DataDictionary, Feature, TimeUnit};
use crate::interop::text::number::{value, value_of};
use crate::interop::text::numerals::Numerals;

/// The evidence so far about a column whose kind is automatic.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// Nothing: all are missing.
    Nothing,
    /// All are words.
    Words,
    /// At least one is a number, the first of them at this position. All must then be numbers.
    Number { place: u64, text: String },
    /// All are words, and the only column has this character in every line: it is probably the delimiter.
    Separated(u8),
}

/// The role of one column of the file.
#[derive(Clone, Debug)]
pub(super) struct ColumnRole {
    pub(super) name: Option<String>,
    pub(super) kind: CsvColumnKind,
    pub(super) shown: Shown,
    pub(super) missing: CsvMissing,
    pub(super) markers: Markers,
    /// The categories, if it is a column of words and they are known.
    pub(super) categories: Option<Arc<Categories>>,
    pub(super) is_kept: bool,
    /// The element type that the options set, for tables with columns of several types.
    pub(super) element: Option<ElementType>,
    /// Whether the options set its kind.
    pub(super) is_stated: bool,
    /// Whether its kind was open and the sampled rows have decided it for all.
    pub(super) is_sampled: bool,
    /// The limit of its categories, if the options set one.
    most_categories: Option<usize>,
}

impl ColumnRole {
    /// Returns whether the file must be scanned for its words, because it is or seems to be a column of words.
    pub(super) fn wants_words(&self) -> bool {
        let seems_words = self.is_open() && matches!(self.shown, Shown::Words);
        self.is_kept && self.categories.is_none() && (self.is_words() || seems_words)
    }

    /// Returns whether a missing value skips its row.
    pub(super) fn may_skip(&self) -> bool {
        self.is_kept && self.missing == CsvMissing::SkipRow
    }

    /// Returns whether a scan of the file has to examine its fields.
    pub(super) fn is_watched(&self) -> bool {
        self.is_open() || self.wants_words() || self.may_skip()
    }

    /// Returns whether the file must be scanned to determine its kind.
    pub(super) fn is_open(&self) -> bool {
        self.is_kept && matches!(self.kind, CsvColumnKind::Automatic)
    }

    /// Returns the largest number of categories that may be found in it. In a one-hot encoding, each category is a
    /// column of the table.
    pub(super) fn most_categories(&self) -> usize {
        const INDICES: usize = 1 << 20;
        const ONE_HOT: usize = 1 << 12;
        self.most_categories.unwrap_or(if matches!(self.kind, CsvColumnKind::OneHot) { ONE_HOT } else { INDICES })
    }

    /// Returns whether its fields are taken for words.
    pub(super) fn is_words(&self) -> bool {
        matches!(self.kind, CsvColumnKind::Categorical | CsvColumnKind::OneHot)
    }

    /// Returns whether its fields become categories.
    fn holds_words(&self) -> bool {
        self.is_words() || self.categories.is_some()
    }

    /// Returns the number of columns of the table that it becomes.
    fn width(&self) -> usize {
        match &self.categories {
            Some(categories) if matches!(self.kind, CsvColumnKind::OneHot) => categories.names.len(),
            _ => 1,
        }
    }
}

/// Whether a record is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skips {
    No,
    Yes,
    /// That depends on the kinds of columns: see [`Roles::is_undecided`].
    Undecided,
}

/// The roles of all columns of a file.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    pub(super) columns: Vec<ColumnRole>,
    /// The columns of the table, in table order.
    pub(super) kept: Vec<usize>,
    /// What means a missing value in columns without markers of their own.
    markers: Markers,
    /// Whether strings that mean a missing value do so in columns of words even in quotes.
    quoted_missing: bool,
    pub(super) numerals: Numerals,
}

impl Roles {
    /// Resolves the options for the columns of a file.
    pub(super) fn new(names: Vec<Option<String>>, options: &CsvOptions) -> Result<Self> {
        let count = names.len();
        let by_name = Names::new(&names);
        let mut is_dropped = vec![false; count];
        for columns in &options.dropped {
            columns.resolve(&by_name)?.into_iter().for_each(|column| is_dropped[column] = true);
        }
        let mut kept = options.kept.resolve(&by_name)?;
        kept.retain(|&column| !is_dropped[column]);
        let mut is_kept = vec![false; count];
        for &column in &kept {
            if std::mem::replace(&mut is_kept[column], true) {
                return Err(bad_option(format!("column {column} was requested twice")));
            }
        }
        let mut kinds = vec![CsvColumnKind::Automatic; count];
        for (columns, kind) in &options.kinds {
            columns.resolve(&by_name)?.into_iter().for_each(|column| kinds[column] = kind.clone());
        }
        let mut missing = vec![CsvMissing::Keep; count];
        for (columns, policy) in &options.missing {
            columns.resolve(&by_name)?.into_iter().for_each(|column| missing[column] = *policy);
        }
        let mut elements = vec![None; count];
        for (columns, element) in &options.column_types {
            columns.resolve(&by_name)?.into_iter().for_each(|column| elements[column] = Some(*element));
        }
        let mut categories = vec![None; count];
        for (columns, words) in &options.categories {
            let stated: Arc<Categories> = Arc::new(Categories::of(words)?);
            if stated.names.len() < words.len() {
                return Err(bad_option("a category occurs twice"));
            }
            for column in columns.resolve(&by_name)? {
                match kinds[column] {
                    CsvColumnKind::Automatic => kinds[column] = CsvColumnKind::Categorical,
                    CsvColumnKind::Categorical | CsvColumnKind::OneHot => {}
                    _ => {
                        return Err(bad_option(format!(
                            "column {column} is not categorical, but has categories in the options"
                        )));
                    }
                }
                categories[column] = Some(stated.clone());
            }
        }
        let (markers, of_each) = Markers::resolve(options, &by_name, count)?;
        let missing = missing.into_iter().zip(of_each);
        let parts = names.into_iter().zip(kinds).zip(missing).zip(categories).zip(is_kept).zip(elements);
        let columns = parts.map(|(((((name, kind), (missing, markers)), categories), is_kept), element)| ColumnRole {
            name,
            is_stated: !matches!(kind, CsvColumnKind::Automatic),
            kind,
            shown: Shown::Nothing,
            missing,
            markers,
            categories,
            is_kept,
            element,
            is_sampled: false,
            most_categories: options.max_categories,
        });
        let (quoted_missing, numerals) = (options.quoted_missing, options.numerals());
        Ok(Self { columns: columns.collect(), kept, markers, quoted_missing, numerals })
    }

    /// Returns whether everything that depends on the fields of the file is known.
    pub(super) fn are_settled(&self) -> bool {
        !self.columns.iter().any(|column| column.is_open() || column.wants_words())
    }

    /// Makes all open columns continuous.
    pub(super) fn into_numbers(mut self) -> Self {
        for column in self.columns.iter_mut().filter(|column| column.is_open()) {
            column.kind = CsvColumnKind::Continuous;
        }
        self
    }

    /// Returns whether rows may be skipped.
    pub(super) fn may_skip(&self) -> bool {
        self.columns.iter().any(ColumnRole::may_skip)
    }

    /// Returns whether a field of a column means a missing value. In quotes it does not, if the column is one of words
    /// or its kind is not known yet.
    pub(super) fn is_missing(&self, column: usize, field: &Field<'_>) -> bool {
        let column = &self.columns[column];
        let may_be_word = || field.is_quoted && !self.quoted_missing && (column.holds_words() || column.is_open());
        self.means_missing(column, field) && !may_be_word()
    }

    /// Returns whether fields that are not known yet decide if a field is a word or means a missing value. Those are
    /// the fields of its column or, if the row would be skipped, the fields of all columns of open kind. While any kind
    /// is open, the kinds that the first rows have shown make no difference, so the result does not depend on the
    /// number of those rows.
    pub(super) fn is_undecided(&self, column: usize, field: &Field<'_>) -> bool {
        let column = &self.columns[column];
        if !field.is_quoted || self.quoted_missing || !self.means_missing(column, field) {
            return false;
        }
        let may_skip = column.is_kept && !column.is_stated && column.missing == CsvMissing::SkipRow;
        column.is_open() || (may_skip && !column.holds_words() && self.columns.iter().any(ColumnRole::is_open))
    }

    /// Returns whether a field means a missing value, unless it is a word in quotes.
    fn means_missing(&self, column: &ColumnRole, field: &Field<'_>) -> bool {
        column.markers.has_text(field.text) || self.is_missing_number(column, field)
    }

    /// Returns whether a field is a number that means a missing value.
    fn is_missing_number(&self, column: &ColumnRole, field: &Field<'_>) -> bool {
        let is_word = || column.is_stated && column.is_words();
        let read = |plain: &[u8]| value::<f64>(plain, ConversionPolicy::Saturate).ok();
        let number = || self.numerals.read(field.number_text(), read).flatten();
        let numbers = &column.markers.numbers;
        !numbers.is_empty() && !is_word() && number().is_some_and(|number| numbers.contains(&number))
    }

    /// Returns the number of columns of the table.
    pub(super) fn width(&self) -> usize {
        self.kept.iter().fold(0, |width, &column| width.saturating_add(self.columns[column].width()))
    }

    /// Returns, for each kept column, the end of the range of table columns that it becomes.
    pub(super) fn ends(&self) -> Vec<usize> {
        let mut end = 0_usize;
        let width = |&column: &usize| {
            end = end.saturating_add(self.columns[column].width());
            end
        };
        self.kept.iter().map(width).collect()
    }

    /// Lays out the columns of the table. Returns how each column of the file is processed, and the number of columns
    /// of the table. Open columns are taken for numbers.
    pub(super) fn actions(&self) -> (Vec<Action>, usize) {
        let mut actions = vec![Action::Ignore; self.columns.len()];
        let mut target = 0_usize;
        for &index in &self.kept {
            let column = &self.columns[index];
            actions[index] = match (&column.kind, column.categories.clone()) {
                (CsvColumnKind::Custom(custom), _) => Action::Custom { target, convert: custom.0.clone() },
                (CsvColumnKind::OneHot, Some(categories)) => Action::OneHot { target, categories },
                (_, Some(categories)) => {
                    let are_plain = !column.markers.texts.iter().any(|text| categories.has(text.as_bytes()));
                    Action::Category { target, categories, are_plain }
                }
                (CsvColumnKind::Time(unit), None) => Action::Time { target, unit: *unit },
                _ if self.numerals.is_plain() => Action::Number { target },
                _ => Action::Numeral { target },
            };
            target = target.saturating_add(column.width());
        }
        (actions, target)
    }

    /// Returns whether a record whose fields end at `ends` is skipped because a value is missing.
    pub(super) fn skips(
        &self,
        syntax: &Syntax,
        bytes: &[u8],
        start: usize,
        ends: &[usize],
        scratch: &mut Vec<u8>,
    ) -> Skips {
        let (mut at, mut skips) = (start, Skips::No);
        for ((index, column), &end) in self.columns.iter().enumerate().zip(ends) {
            let start = std::mem::replace(&mut at, end + 1);
            if column.may_skip() {
                let field = syntax.field_between(bytes, start, end, scratch);
                if self.is_undecided(index, &field) {
                    skips = Skips::Undecided;
                } else if self.is_missing(index, &field) {
                    return Skips::Yes;
                }
            }
        }
        skips
    }

    /// Creates the dictionary of the table. Column `i` of the file becomes values of type `of_column(i).0`, some of
    /// which are missing if `of_column(i).1`.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(super) fn dictionary(&self, of_column: &dyn Fn(usize) -> (ElementType, bool)) -> Result<DataDictionary> {
        let mut features = Vec::new();
        for &index in &self.kept {
            let (column, (element_type, nullable)) = (&self.columns[index], of_column(index));
            let feature = Feature { name: column.name.clone(), nullable, ..Feature::new(element_type) };
            match (&column.kind, &column.categories) {
                (CsvColumnKind::OneHot, Some(categories)) => {
                    let prefix = column.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
                    let names = categories.names.iter().map(|word| format!("{prefix}{word}"));
                    let feature = |name| Feature { nullable, ..Feature::new(element_type).named(name).categorical(2) };
                    features.extend(names.map(feature));
                }
                (_, Some(categories)) => features.push(feature.categorical(Words::of_distinct(&categories.names)?)),
                (CsvColumnKind::Ordinal, None) => features.push(feature.ordinal()),
                (CsvColumnKind::Time(unit), None) => features.push(feature.time(*unit)),
                _ => features.push(feature),
            }
        }
        Ok(match features.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => {
                DataDictionary::uniform(first.clone(), features.len())
            }
            _ => DataDictionary::from_features(features),
        })
    }
}

/// The treatment of missing values in a table of `T`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gap<T> {
    Error,
    NoNan,
    Skip,
    Value(T),
}

/// The conversion of the fields of one column.
#[derive(Clone)]
pub(super) enum Action {
    Ignore,
    Number {
        target: usize,
    },
    /// A number with its own decimal or thousands separator.
    Numeral {
        target: usize,
    },
    Time {
        target: usize,
        unit: TimeUnit,
    },
    Category {
        target: usize,
        categories: Arc<Categories>,
        /// Whether none of them can also mean a missing value.
        are_plain: bool,
    },
    OneHot {
        target: usize,
        categories: Arc<Categories>,
    },
    Custom {
        target: usize,
        convert: Arc<Custom>,
    },
}

impl Action {
    /// Returns the columns of the table that the column becomes.
    pub(super) fn targets(&self) -> Range<usize> {
        match self {
            Self::Ignore => 0..0,
            Self::Number { target }
            | Self::Numeral { target }
            | Self::Time { target, .. }
            | Self::Category { target, .. }
            | Self::Custom { target, .. } => *target..*target + 1,
            Self::OneHot { target, categories } => *target..*target + categories.names.len(),
        }
    }

    /// Returns whether the fields are numbers.
    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Number { .. } | Self::Numeral { .. })
    }
}

/// The conversion of the fields of all columns, in a table of `T`.
pub(super) struct RowPlan<'r, T> {
    pub(super) roles: &'r Roles,
    /// One for each column of the file.
    pub(super) columns: Vec<(Action, Gap<T>)>,
    pub(super) width: usize,
    /// The numbers of `T` that mean a missing value in any column.
    pub(super) missing_numbers: Vec<T>,
    pub(super) may_skip: bool,
}

impl<'r, T: Element> RowPlan<'r, T> {
    /// Lays out the columns of the table.
    pub(super) fn new(roles: &'r Roles) -> Result<Self> {
        let (actions, width) = roles.actions();
        let mut columns = vec![(Action::Ignore, Gap::Error); roles.columns.len()];
        for ((column, action), role) in columns.iter_mut().zip(actions).zip(&roles.columns) {
            if role.is_kept {
                *column = (action, gap(role.missing)?);
            }
        }
        let own = roles.columns.iter().map(|column| &column.markers).filter(|own| !own.is(&roles.markers));
        let mut missing_numbers = Vec::new(); // each once: every number of the file is compared with all of them
        for number in std::iter::once(&roles.markers).chain(own).flat_map(Markers::numbers_of::<T>) {
            if !missing_numbers.contains(&number) {
                missing_numbers.push(number);
            }
        }
        Ok(Self { roles, columns, width, missing_numbers, may_skip: roles.may_skip() })
    }
}

pub(super) fn gap<T: Element>(missing: CsvMissing) -> Result<Gap<T>> {
    Ok(match missing {
        CsvMissing::Keep | CsvMissing::Error => Gap::Error,
        CsvMissing::SkipRow => Gap::Skip,
        CsvMissing::Nan if T::TYPE.is_float() => Gap::Value(cast(f64::NAN)),
        CsvMissing::Nan => Gap::NoNan,
        CsvMissing::Value(value) => match value_of(value, ConversionPolicy::Exact) {
            Some(value) => Gap::Value(value),
            None => {
                return Err(bad_option(format!("{} does not hold {value}, which replaces missing values", T::TYPE)));
            }
        },
    })
}

/// Returns the largest index that a type represents together with all smaller ones.
pub(super) fn largest_index<T: Element>() -> usize {
    let largest = match T::TYPE {
        ElementType::F64 => 1 << 53,
        ElementType::F32 => 1 << 24,
        ElementType::F16 => 1 << 11,
        ElementType::Bf16 => 1 << 8,
        _ => match T::nearest(Exact::Integer(i128::MAX)).exact() {
            Exact::Integer(largest) => largest,
            Exact::Float(_) => 0, // not for integer types
        },
    };
    usize::try_from(largest).unwrap_or(usize::MAX)
}
