//! Options for reading CSV files.

use std::sync::Arc;

use super::input::MemoryLimits;
use super::{CsvColumnKind, CsvColumns, CsvHeader, CsvMissing, CsvSample, CsvTrailing, RECORD_BYTES};
use crate::base::element::ElementType;
use crate::convert::ConversionPolicy;
#[cfg(doc)]
use crate::{FeatureType, csv::CsvSource};

/// Options for reading a CSV file.
///
/// Blank lines are ignored. So are lines of spaces and tabs, except in a file of one column, where each is a missing
/// value. Spaces and tabs around an unquoted field are not part of it. A quote within a field that does not begin with
/// one is an ordinary character. Lines end with LF, CRLF or CR.
///
/// Records, columns and categories have limits, set by the methods `max_..`. A file that exceeds one, by mistake or
/// malice, is rejected with an error before the excess is in memory.
///
/// A number is any text that Python's `float` accepts, including spaces around it, except for underscores and digits
/// that are not ASCII: `-1.5e-3`, `.5`, `+7.`, `nan`, `-Infinity` in upper or lower case. It becomes the nearest value
/// of the requested type, rounded once, for any number of digits. [`decimal`](Self::decimal) and
/// [`thousands`](Self::thousands) select other spellings.
///
/// # Examples
/// ```
/// use numeric_table::{csv::{CsvMissing, CsvOptions, CsvSource}, prelude::*};
/// let text = b"# measured in May\nlength;width;name\n1.5;?;\"a;b\"\n2.5;3;c\n";
/// let options = CsvOptions::new()
///     .delimiter(b';')
///     .comment(b'#')
///     .missing_texts(["?"])
///     .missing(CsvMissing::Nan)
///     .columns(["width", "length"]);
/// let table = CsvSource::from_bytes_with(&text[..], options)?.load::<f32>()?;
/// assert_eq!(table.as_slice()?[1..], [1.5, 3.0, 2.5]);
/// # Ok::<(), numeric_table::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct CsvOptions {
    pub(super) delimiter: u8,
    pub(super) quote: Option<u8>,
    pub(super) comment: Option<u8>,
    pub(super) is_inline: bool,
    pub(super) decimal: char,
    pub(super) thousands: Option<char>,
    pub(super) sample: CsvSample,
    pub(super) header: CsvHeader,
    pub(super) trailing: CsvTrailing,
    pub(super) kept: CsvColumns,
    pub(super) dropped: Vec<CsvColumns>,
    pub(super) kinds: Vec<(CsvColumns, CsvColumnKind)>,
    pub(super) categories: Vec<(CsvColumns, Arc<[String]>)>,
    pub(super) missing_texts: Vec<String>,
    pub(super) missing_texts_in: Vec<(CsvColumns, Vec<String>)>,
    pub(super) missing_numbers: Vec<f64>,
    pub(super) missing_numbers_in: Vec<(CsvColumns, Vec<f64>)>,
    pub(super) quoted_missing: bool,
    pub(super) missing: Vec<(CsvColumns, CsvMissing)>,
    pub(super) policy: ConversionPolicy,
    pub(super) element_type: ElementType,
    pub(super) column_types: Vec<(CsvColumns, ElementType)>,
    pub(super) max_record_bytes: usize,
    pub(super) memory: MemoryLimits,
    pub(super) max_columns: usize,
    pub(super) max_categories: Option<usize>,
}

impl CsvOptions {
    /// The strings that mean a missing value by default.
    pub(super) const MISSING_TEXTS: [&str; 2] = ["", "NA"];

    /// The strings that mean a missing value by default in pandas' `read_csv`, for
    /// [`missing_texts`](Self::missing_texts). Written words that equal one of them are in quotes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let options = CsvOptions::new().missing_texts(CsvOptions::PANDAS_MISSING_TEXTS);
    /// let table = CsvSource::from_bytes_with(&b"a,b\n1,n/a\nNaN,red\n"[..], options)?.load_typed()?;
    /// assert_eq!((table.missing_count("a")?, table.missing_count("b")?), (1, 1));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub const PANDAS_MISSING_TEXTS: [&str; 19] = [
        "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
        "NULL", "NaN", "None", "n/a", "nan", "null",
    ];

    /// Creates the default options:
    ///
    /// * commas separate fields, `"` quotes them, and comments are off;
    /// * the first record is the header if it looks like one;
    /// * all columns are read, and the fields of each decide its kind;
    /// * empty fields and `NA` are missing values: they stay missing in columns of [`CsvSource::load_typed`], and are
    ///   errors elsewhere;
    /// * a record has at most 256 MiB; a file at most 64 Ki columns; a column at most 1 Mi categories, or 4096 if each
    ///   becomes a column;
    /// * in memory, the text of a pipe or a reader has at most 1 GiB, and decompressed text at most 1 GiB and at most
    ///   128 bytes per compressed byte.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"1,2\n"[..], CsvOptions::new())?; // like `CsvSource::from_bytes`
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn new() -> Self {
        Self {
            delimiter: b',',
            quote: Some(b'"'),
            comment: None,
            is_inline: false,
            decimal: '.',
            thousands: None,
            sample: CsvSample::All,
            header: CsvHeader::Automatic,
            trailing: CsvTrailing::Automatic,
            kept: CsvColumns::All,
            dropped: Vec::new(),
            kinds: Vec::new(),
            categories: Vec::new(),
            missing_texts: Self::MISSING_TEXTS.map(str::to_owned).into(),
            missing_texts_in: Vec::new(),
            missing_numbers: Vec::new(),
            missing_numbers_in: Vec::new(),
            quoted_missing: false,
            missing: Vec::new(),
            policy: ConversionPolicy::Exact,
            element_type: ElementType::F64,
            column_types: Vec::new(),
            max_record_bytes: RECORD_BYTES,
            memory: MemoryLimits { buffered: 1 << 30, decompressed: 1 << 30, ratio: 128 },
            max_columns: 1 << 16,
            max_categories: None,
        }
    }

    /// Sets the character that separates fields: an ASCII character that does not occur in numbers.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"1\t2\n"[..], CsvOptions::new().delimiter(b'\t'))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn delimiter(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// Sets the character that quotes fields, or `None` for no quoting. Within quotes, delimiters and line ends are
    /// ordinary characters, and two consecutive quotes stand for one.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"'1','2'\n"[..], CsvOptions::new().quote(Some(b'\'')))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn quote(self, quote: Option<u8>) -> Self {
        Self { quote, ..self }
    }

    /// Sets the character that begins a comment: lines that begin with it are ignored. Elsewhere in a line it is an
    /// ordinary character, unless it is set by [`inline_comment`](Self::inline_comment).
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"1,2\n# 3,4\n"[..], CsvOptions::new().comment(b'#'))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn comment(self, comment: u8) -> Self {
        Self { comment: Some(comment), is_inline: false, ..self }
    }

    /// Sets whether the first record holds the names of the columns.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvHeader, CsvOptions, CsvSource}, prelude::*};
    /// let source = CsvSource::from_bytes_with(&b"red\nblue\n"[..], CsvOptions::new().header(CsvHeader::No))?;
    /// assert_eq!(source.load::<u8>()?.as_slice()?, [0, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn header(self, header: CsvHeader) -> Self {
        Self { header, ..self }
    }

    /// Sets whether lines end in a delimiter without a field after it.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource, CsvTrailing};
    /// let options = CsvOptions::new().trailing_delimiter(CsvTrailing::Yes);
    /// let source = CsvSource::from_bytes_with(&b"1,2,\n3,4,\n5,6"[..], options)?;
    /// assert_eq!(source.load::<u8>()?.as_slice()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn trailing_delimiter(self, trailing: CsvTrailing) -> Self {
        Self { trailing, ..self }
    }

    /// Selects the columns of the table and their order. Fields of other columns are not examined.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"1,oops,3\n"[..], CsvOptions::new().columns([2, 0]))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [3.0, 1.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn columns(self, columns: impl Into<CsvColumns>) -> Self {
        Self { kept: columns.into(), ..self }
    }

    /// Excludes columns. Source: DAAL's `ColumnFilter`.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"id,a,b\n7,1,2\n"[..], CsvOptions::new().exclude_columns("id"))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn exclude_columns(mut self, columns: impl Into<CsvColumns>) -> Self {
        self.dropped.push(columns.into());
        self
    }

    /// Sets the kind of columns. A later call overrides earlier ones. A column without an explicit kind must not mix
    /// numbers and words: see [`CsvColumnKind::Automatic`].
    ///
    /// [`CsvSource::row_blocks`] reads the file only once if each column either is set to be one of numbers or has a
    /// number in its first 100 rows.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvColumnKind, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().kind(.., CsvColumnKind::Continuous).kind(1, CsvColumnKind::Categorical);
    /// let source = CsvSource::from_bytes_with(&b"1,20\n2,10\n"[..], options)?;
    /// assert_eq!(source.load::<u8>()?.as_slice()?, [1, 0, 2, 1]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn kind(mut self, columns: impl Into<CsvColumns>, kind: CsvColumnKind) -> Self {
        self.kinds.push((columns.into(), kind));
        self
    }

    /// Sets the categories of columns, in the order of their indices. Any other word is an error. A column of kind
    /// [`CsvColumnKind::Automatic`] becomes categorical.
    ///
    /// Set the categories found in one file to give the same words the same indices in another file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvHeader, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().header(CsvHeader::No).categories(0, ["low", "mid", "high"]);
    /// let source = CsvSource::from_bytes_with(&b"high\nlow\n"[..], options)?;
    /// assert_eq!(source.load::<u8>()?.as_slice()?, [2, 0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn categories<S: Into<String>>(
        mut self,
        columns: impl Into<CsvColumns>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        self.categories.push((columns.into(), names.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets the treatment of missing values in all columns. A later [`missing_in`](Self::missing_in) overrides it for
    /// some of them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"1,NA\n"[..], CsvOptions::new().missing(CsvMissing::Value(0.0)))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 0.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing(self, missing: CsvMissing) -> Self {
        self.missing_in(.., missing)
    }

    /// Sets the treatment of missing values in some columns. A later call overrides earlier ones.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvMissing, CsvOptions, CsvSource};
    /// let options = CsvOptions::new().missing_in(1, CsvMissing::Value(0.0));
    /// let load = |text: &'static [u8]| CsvSource::from_bytes_with(text, options.clone())?.load::<f64>();
    /// assert_eq!(load(b"1,NA\n")?.as_slice()?, [1.0, 0.0]);
    /// assert!(load(b"NA,1\n").is_err());
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn missing_in(mut self, columns: impl Into<CsvColumns>, missing: CsvMissing) -> Self {
        self.missing.push((columns.into(), missing));
        self
    }

    /// Sets the treatment of numbers that the element type of the table cannot represent.
    ///
    /// | policy | integers | floats |
    /// | --- | --- | --- |
    /// | `Exact` (default) | a fraction, NaN, or out of range is an error | rounded to nearest even; a finite number that would become infinite is an error |
    /// | `Checked` | truncated toward zero; NaN or out of range is an error | like `Exact` |
    /// | `Saturate` | truncated and clamped; NaN becomes 0 | rounded to nearest even; overflow becomes infinity |
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let text = &b"1.9,300\n"[..];
    /// let load = |policy| CsvSource::from_bytes_with(text, CsvOptions::new().policy(policy))?.load::<u8>();
    /// assert_eq!(load(ConversionPolicy::Saturate)?.as_slice()?, [1, 255]);
    /// assert!(load(ConversionPolicy::Checked).unwrap_err().to_string().contains("column 1"));
    /// assert!(load(ConversionPolicy::Exact).unwrap_err().to_string().contains("column 0"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn policy(self, policy: ConversionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Sets the element type of tables loaded by [`CsvSource::load_any`]; `f64` by default.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let options = CsvOptions::new().element_type(ElementType::I64);
    /// let table = CsvSource::from_bytes_with(&b"9007199254740993\n"[..], options)?.load_any()?;
    /// assert_eq!(table.value::<i64>(0, 0)?, 9_007_199_254_740_993); // no f64 holds this
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn element_type(self, element_type: ElementType) -> Self {
        Self { element_type, ..self }
    }

    /// Sets the element type of columns in tables loaded by [`CsvSource::load_typed`], instead of the type that suits
    /// their fields. In a one-hot encoding, it is the type of all its columns. A later call overrides earlier ones.
    /// Numbers that the type does not hold are treated according to the [policy](Self::policy), by default as errors.
    /// # Examples
    /// ```
    /// # use numeric_table::{csv::{CsvOptions, CsvSource}, prelude::*};
    /// let load = |text: &'static [u8]| {
    ///     let options = CsvOptions::new().column_type("age", ElementType::U8);
    ///     CsvSource::from_bytes_with(text, options)?.load_typed()
    /// };
    /// let table = load(b"age,size\n31,1.75\n")?;
    /// assert_eq!((table.column_type(0)?, table.column_type(1)?), (ElementType::U8, ElementType::F64));
    /// let error = load(b"age,size\n31,1.75\n310,1.8\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 3, column 0 (age): \"310\" is not representable as u8");
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn column_type(mut self, columns: impl Into<CsvColumns>, element_type: ElementType) -> Self {
        self.column_types.push((columns.into(), element_type));
        self
    }

    /// Limits the number of bytes of a record, including its line end; 256 MiB by default. A longer record is an error
    /// before it is in memory: after a quote that is never closed, the rest of the file is one record. Comments have
    /// the same limit.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let options = CsvOptions::new().max_record_bytes(8);
    /// let error = CsvSource::from_bytes_with(&b"1,2\n\"3,4\n5,6\n7,8\n"[..], options)?.load::<f64>().unwrap_err();
    /// assert!(error.to_string().starts_with("line 2: \"\\\"3,4\" begins a record of more than 8 bytes"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn max_record_bytes(self, bytes: usize) -> Self {
        Self { max_record_bytes: bytes, ..self }
    }

    /// Limits the number of columns of the file; 64 Ki by default. More columns are an error, found before their
    /// descriptions are in memory: a column takes a few hundred bytes there, but perhaps only two in the file.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let error = CsvSource::from_bytes_with(&b"1,2,3\n"[..], CsvOptions::new().max_columns(2)).unwrap_err();
    /// assert!(error.to_string().starts_with("line 1: \"1,2,3\" begins a record of more than 2 fields"));
    /// ```
    pub fn max_columns(self, columns: usize) -> Self {
        Self { max_columns: columns, ..self }
    }

    /// Limits the number of categories that are found in a column and kept in memory. By default 1 Mi, and 4096 under
    /// [`CsvColumnKind::OneHot`], where each becomes a column. More categories are an error. Categories set by the
    /// caller are not counted.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"word\nred\nblue\ngrey\n"[..], CsvOptions::new().max_categories(2))?;
    /// let error = source.load::<u8>().unwrap_err();
    /// assert!(error.to_string().starts_with("line 4, column 0 (word): \"grey\" is one category more than 2"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn max_categories(self, categories: usize) -> Self {
        Self { max_categories: Some(categories), ..self }
    }
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self::new()
    }
}
