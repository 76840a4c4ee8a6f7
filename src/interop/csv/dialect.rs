//! Options for the variety of files in use: comments after fields, decimal commas, compressed files, and whether all
//! rows decide the kinds of columns. Also checks that the special characters do not contradict each other.

use super::input::MemoryLimits;
use super::syntax::Syntax;
use super::{CsvOptions, CsvSample, bad_option};
use crate::base::error::Result;
#[cfg(doc)]
use crate::csv::{CsvColumnKind, CsvSource};
use crate::interop::text::numerals::{Numerals, THOUSANDS};

impl CsvOptions {
    /// Sets the character that begins a comment at the beginning of a line or after a field, even without a space
    /// before it. The rest of the line is ignored. In quotes it is an ordinary character. A line of spaces and a
    /// comment is treated like a line of spaces.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let text = b"# masses\n1,2 # of May\n3,4#, 5\n\"6\",7\n";
    /// let source = CsvSource::from_bytes_with(&text[..], CsvOptions::new().inline_comment(b'#'))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1.0, 2.0, 3.0, 4.0, 6.0, 7.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn inline_comment(self, comment: u8) -> Self {
        Self { comment: Some(comment), is_inline: true, ..self }
    }

    /// Sets the decimal separator of all numbers: `'.'`, the default, or `','`. Numbers with the other one are then
    /// errors, unless it [separates thousands](Self::thousands). It must not be the delimiter.
    ///
    /// It does not affect numbers in the options themselves or functions of [`CsvColumnKind::custom`].
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let options = CsvOptions::new().delimiter(b';').decimal(',').thousands('.');
    /// let load = |text: &'static [u8]| CsvSource::from_bytes_with(text, options.clone())?.load::<f64>();
    /// assert_eq!(load(b"1.234,5;-0,25\n")?.as_slice()?, [1234.5, -0.25]);
    /// let error = load(b"1,5;2\n1.5;2\n").unwrap_err(); // neither 1.5 nor 15
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 2, column 0: \"1.5\" is not a number: expected ',' before the decimals and '.' between \
    ///      groups of three digits"
    /// );
    /// let error = CsvSource::from_bytes_with(&b"1,5\n"[..], CsvOptions::new().decimal(',')).unwrap_err();
    /// assert!(error.to_string().contains("',' cannot be both delimiter and decimal separator"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn decimal(self, decimal: char) -> Self {
        Self { decimal, ..self }
    }

    /// Sets the character that may separate groups of three digits in the integer part of all numbers: `'.'`, `','`, a
    /// space, `'\''`, `'’'` (U+2019), or a no-break space (U+00A0 or U+202F). Groups of other lengths are errors, and
    /// so is a first group that begins with 0, as in `0.123`. The delimiter can also be the thousands separator, within
    /// quotes.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let source = CsvSource::from_bytes_with(&b"\"1,234.5\",7\n"[..], CsvOptions::new().thousands(','))?;
    /// assert_eq!(source.load::<f64>()?.as_slice()?, [1234.5, 7.0]);
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn thousands(self, separator: char) -> Self {
        Self { thousands: Some(separator), ..self }
    }

    /// Sets which rows decide the kinds of columns that have no explicit kind, and the column types in tables of
    /// [`CsvSource::load_typed`]. All rows by default. A later value that does not fit is an error with its line
    /// number: a word among numbers, a number among words, a fraction among integers, or, among integers, a missing
    /// value that would become NaN.
    ///
    /// Categories are always collected from the whole file, so columns of words require a scan of it, unless
    /// [`categories`](Self::categories) sets them.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSample, CsvSource};
    /// let options = CsvOptions::new().sample(CsvSample::First(2));
    /// let source = CsvSource::from_bytes_with(&b"code\nA\nB\n7\n"[..], options)?;
    /// let error = source.load::<u8>().unwrap_err();
    /// assert!(error.to_string().starts_with("line 4, column 0 (code): \"7\" is a number"));
    /// # Ok::<(), numeric_table::Error>(())
    /// ```
    pub fn sample(self, sample: CsvSample) -> Self {
        Self { sample, ..self }
    }

    /// Limits the size of the text of a compressed file, which is decompressed into memory, in bytes; 1 GiB by default.
    /// A longer text is an error and takes no more memory than a few times the limit, including zstd's window: a file
    /// of a kilobyte may claim a terabyte. [`max_decompression_ratio`](Self::max_decompression_ratio) is a second
    /// limit.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::CsvOptions;
    /// let options = CsvOptions::new().max_decompressed_bytes(16 << 30);
    /// ```
    pub fn max_decompressed_bytes(self, bytes: u64) -> Self {
        Self { memory: MemoryLimits { decompressed: bytes, ..self.memory }, ..self }
    }

    /// Limits the bytes of decompressed text per byte of a compressed file; 128 by default, ten times the usual ratio
    /// of tables of numbers. A higher ratio is an error, unless the text has at most 4 MiB. With `u64::MAX`, only
    /// [`max_decompressed_bytes`](Self::max_decompressed_bytes) applies.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::CsvOptions;
    /// let options = CsvOptions::new().max_decompression_ratio(1000); // mostly zeros
    /// ```
    pub fn max_decompression_ratio(self, ratio: u64) -> Self {
        Self { memory: MemoryLimits { ratio, ..self.memory }, ..self }
    }

    /// Limits the bytes that are read into memory from a source that is not a file with a known size: a pipe, a device,
    /// a file of `/proc`, or a reader; 1 GiB by default. More bytes are an error, since a device may never end.
    /// Compressed bytes are counted before decompression.
    ///
    /// # Examples
    /// ```
    /// # use numeric_table::csv::{CsvOptions, CsvSource};
    /// let endless = std::io::repeat(b'7');
    /// let error = CsvSource::from_reader_with(endless, CsvOptions::new().max_buffered_bytes(1 << 20)).unwrap_err();
    /// assert!(error.to_string().contains("is more than the limit of 1048576 bytes"));
    /// ```
    pub fn max_buffered_bytes(self, bytes: u64) -> Self {
        Self { memory: MemoryLimits { buffered: bytes, ..self.memory }, ..self }
    }

    /// Returns the spelling of numbers. [`syntax`](Self::syntax) checks that its separators are valid.
    pub(super) fn numerals(&self) -> Numerals {
        Numerals { decimal: if self.decimal == ',' { b',' } else { b'.' }, thousands: self.thousands }
    }

    /// Checks that the special characters differ from one another, and do not occur in numbers unless they belong
    /// there.
    pub(super) fn syntax(&self) -> Result<Syntax> {
        let special = [("delimiter", Some(self.delimiter)), ("quote", self.quote), ("comment", self.comment)];
        for (index, &(name, byte)) in special.iter().enumerate() {
            let Some(byte) = byte else { continue };
            let in_numbers = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
            if !byte.is_ascii() || in_numbers || matches!(byte, b'\n' | b'\r') {
                return Err(bad_option(format!("{:?} cannot be the {name}", char::from(byte))));
            }
            if let Some((other, _)) = special[..index].iter().find(|(_, other)| *other == Some(byte)) {
                return Err(bad_option(format!("{:?} cannot be both {other} and {name}", char::from(byte))));
            }
            if name == "quote" && matches!(byte, b' ' | b'\t') {
                return Err(bad_option("a space cannot be the quote"));
            }
        }
        self.check_separators(&special)?;
        if matches!(self.sample, CsvSample::First(0) | CsvSample::Spread(0)) {
            return Err(bad_option("a sample must have at least one row"));
        }
        let mut syntax = Syntax::new(self.delimiter, self.quote, self.comment, self.is_inline);
        syntax.most_bytes = self.max_record_bytes;
        Ok(syntax)
    }

    /// Checks the separators in numbers. The thousands separator may be the delimiter, which is ordinary text in
    /// quotes.
    fn check_separators(&self, special: &[(&str, Option<u8>)]) -> Result<()> {
        let Self { decimal, thousands, .. } = *self;
        if !matches!(decimal, '.' | ',') {
            return Err(bad_option(format!("{decimal:?} cannot be the decimal separator: only '.' and ',' can")));
        }
        if let Some(thousands) = thousands.filter(|thousands| !THOUSANDS.contains(thousands)) {
            return Err(bad_option(format!("{thousands:?} cannot be the thousands separator: only {THOUSANDS:?} can")));
        }
        if thousands == Some(decimal) {
            return Err(bad_option(format!("{decimal:?} cannot be both decimal separator and thousands separator")));
        }
        for (name, separator) in [("decimal separator", Some(decimal)), ("thousands separator", thousands)] {
            let is_same = |byte: &Option<u8>| byte.is_some() && byte.map(char::from) == separator;
            let Some((other, _)) = special.iter().find(|(_, byte)| is_same(byte)) else { continue };
            let may_be_quoted = name == "thousands separator" && *other == "delimiter" && self.quote.is_some();
            if let Some(separator) = separator.filter(|_| !may_be_quoted) {
                return Err(bad_option(format!("{separator:?} cannot be both {other} and {name}")));
            }
        }
        Ok(())
    }
}
