//! What means a missing value: strings and numbers, in all columns or in some.

use std::sync::Arc;

use super::columns::Names;
use super::{CsvColumns, CsvOptions};
use crate::base::element::Element;
use crate::base::error::Result;
use crate::convert::{ConversionPolicy, cast};
use crate::interop::text::moment::Moment;
use crate::interop::text::number::value;

impl CsvOptions {
    /// Sets the strings that mean a missing value. By default, these are the empty string and `NA`; `[]` for none.
    ///
    /// In columns of numbers and dates, which have no words, such a string means a missing value even in quotes. In
    /// columns of words, a quoted one is a word, unless [`quoted_missing`](Self::quoted_missing) is set: `""` is the
    /// empty word, and an empty field is missing. A column that contains only such strings, some of them in quotes, is
    /// a column of words.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().missing_texts(["-999"]).missing(CsvMissing::SkipRow);
    /// let source = CsvSource::from_bytes_with(&b"1,2\n-999,4\n"[..], options)?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_texts<S: Into<String>>(self, texts: impl IntoIterator<Item = S>) -> Self {
        Self { missing_texts: texts.into_iter().map(Into::into).collect(), ..self }
    }

    /// Adds strings that mean a missing value in some columns, besides [`missing_texts`](Self::missing_texts).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().missing_texts_in("b", ["0"]).missing(CsvMissing::SkipRow);
    /// let source = CsvSource::from_bytes_with(&b"a,b\n0,2\n1,0\n"[..], options)?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [0.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_texts_in<S: Into<String>>(
        mut self,
        columns: impl Into<CsvColumns>,
        texts: impl IntoIterator<Item = S>,
    ) -> Self {
        self.missing_texts_in.push((columns.into(), texts.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets numbers that mean a missing value, however they are written: `-999.0` also in `-999` and `-9.99e2`. By
    /// default, there are none. In columns that are set to be categorical, such a field is a word.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().missing_numbers([-999.0]).missing(CsvMissing::SkipRow);
    /// let source = CsvSource::from_bytes_with(&b"1,2\n-999,4\n5,-999.00\n"[..], options)?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_numbers(self, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { missing_numbers: numbers.into_iter().collect(), ..self }
    }

    /// Adds numbers that mean a missing value in some columns, besides [`missing_numbers`](Self::missing_numbers).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().missing_numbers_in(1, [-999.0]).missing(CsvMissing::SkipRow);
    /// let source = CsvSource::from_bytes_with(&b"1,-999.00\n-999,4\n"[..], options)?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [-999.0, 4.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_numbers_in(
        mut self,
        columns: impl Into<CsvColumns>,
        numbers: impl IntoIterator<Item = f64>,
    ) -> Self {
        self.missing_numbers_in.push((columns.into(), numbers.into_iter().collect()));
        self
    }

    /// Sets whether, in columns of words, a string that means a missing value does so even in quotes, as in files that
    /// quote every field. Off by default.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let text = b"colour\n\"red\"\n\"\"\n";
    /// let options = CsvOptions::new().missing(CsvMissing::SkipRow);
    /// let rows = |options| -> numeric_table::Result<Vec<u8>> {
    ///     Ok(CsvSource::from_bytes_with(&text[..], options)?.load()?.as_slice()?.to_vec())
    /// };
    /// assert_eq!(rows(options.clone())?, [0, 1]); // "red" and the empty word
    /// assert_eq!(rows(options.quoted_missing(true))?, [0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn quoted_missing(self, is_missing: bool) -> Self {
        Self { quoted_missing: is_missing, ..self }
    }
}

/// What means a missing value in a column.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    pub(super) texts: Arc<[String]>,
    /// Numbers, except in columns that are set to be ones of words.
    pub(super) numbers: Arc<[f64]>,
}

impl Markers {
    /// Returns those of all columns, and those of each column.
    pub(super) fn resolve(options: &CsvOptions, names: &Names<'_>, columns: usize) -> Result<(Self, Vec<Self>)> {
        let texts = options.missing_texts.iter().cloned().collect();
        let all = Self { texts, numbers: options.missing_numbers.iter().copied().collect() };
        let mut each = vec![all.clone(); columns];
        for (columns, texts) in &options.missing_texts_in {
            for column in columns.resolve(names)? {
                each[column].texts = each[column].texts.iter().chain(texts).cloned().collect();
            }
        }
        for (columns, numbers) in &options.missing_numbers_in {
            for column in columns.resolve(names)? {
                each[column].numbers = each[column].numbers.iter().chain(numbers).copied().collect();
            }
        }
        Ok((all, each))
    }

    /// Returns whether two are the same, in the same memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.texts, &other.texts) && Arc::ptr_eq(&self.numbers, &other.numbers)
    }

    /// Returns whether a string means a missing value, unless it is a word in quotes.
    pub(super) fn has_text(&self, text: &[u8]) -> bool {
        self.texts.iter().any(|missing| missing.as_bytes() == text)
    }

    /// Returns the numbers of a type that mean a missing value, except NaN.
    pub(super) fn numbers_of<T: Element>(&self) -> impl Iterator<Item = T> {
        let texts = self.texts.iter().filter_map(|text| value::<T>(text.as_bytes(), ConversionPolicy::Exact).ok());
        let numbers = texts.chain(self.numbers.iter().map(|&number| cast::<f64, T>(number)));
        numbers.filter(|number| !cast::<T, f64>(*number).is_nan())
    }

    /// Returns whether one of them is a finite number, read under a policy.
    pub(super) fn have_numbers(&self, policy: ConversionPolicy) -> bool {
        let is_finite = |text: &String| value::<f64>(text.as_bytes(), policy).is_ok_and(f64::is_finite);
        !self.numbers.is_empty() || self.texts.iter().any(is_finite)
    }

    /// Returns whether one of them is a point in time.
    pub(super) fn have_times(&self) -> bool {
        self.texts.iter().any(|text| Moment::read(text.as_bytes()).is_ok())
    }
}
