//! A small, strict parser for the dictionary in the header of a `.npy` file, which is a Python literal.
//!
//! It accepts only what NumPy writes there: one dictionary with strings as keys. Its values are strings, `True` and
//! `False`, tuples of integers (Python 2 wrote `3L`), and lists of fields. Fields do not nest, so the parser does not
//! recurse. Nothing is ever evaluated.

/// The largest number of dimensions of a NumPy array.
const DIMENSION_LIMIT: usize = 64;

/// The value of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Literal<'a> {
    Text(&'a [u8]),
    Flag(bool),
    Tuple(Vec<u64>),
    /// A single number, as in `(3)`.
    Number,
    /// Any other list, whose elements are not read.
    Unread,
    /// The fields of structures.
    List(Vec<LiteralField<'a>>),
}

/// A field of structures: `('name', 'type')`, or `('name', 'type', (sizes))`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiteralField<'a> {
    pub(super) name: &'a [u8],
    pub(super) code: &'a [u8],
    /// The lengths of a field that is an array.
    pub(super) sizes: Vec<u64>,
    /// Position of the field in the text.
    pub(super) at: usize,
}

/// An error at a position in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiteralRefusal {
    pub(super) at: usize,
    pub(super) reason: String,
}

/// A parser at a position in the text.
pub(super) struct LiteralParser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> LiteralParser<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Parses the whole text as one dictionary. Calls `entry` with each key, its value, and the position of the value.
    /// `entry` may reject the value.
    pub(super) fn dictionary(
        mut self,
        mut entry: impl FnMut(&'a [u8], Literal<'a>, usize) -> Result<(), LiteralRefusal>,
    ) -> Result<(), LiteralRefusal> {
        self.expect(b'{', "a dictionary")?;
        while self.peek() != Some(b'}') {
            let key = self.string("a key")?;
            self.expect(b':', "':'")?;
            self.skip_space();
            let (at, value) = (self.at, self.value()?);
            entry(key, value, at)?;
            if self.peek() == Some(b',') {
                self.at += 1;
            } else if self.peek() != Some(b'}') {
                return Err(self.unexpected("',' or '}'"));
            }
        }
        self.at += 1;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("nothing after the dictionary")),
        }
    }

    fn value(&mut self) -> Result<Literal<'a>, LiteralRefusal> {
        match self.peek() {
            Some(b'\'' | b'"' | b'u') => self.string("a string").map(Literal::Text),
            Some(b'(') => self.tuple(),
            Some(b'[') if self.begins_fields() => self.fields().map(Literal::List),
            Some(b'[') => Ok(Literal::Unread),
            Some(b'0'..=b'9') => self.number().map(|_| Literal::Number),
            Some(b'T') if self.takes(b"True") => Ok(Literal::Flag(true)),
            Some(b'F') if self.takes(b"False") => Ok(Literal::Flag(false)),
            _ => Err(self.unexpected("a string, True, False or a tuple")),
        }
    }

    fn tuple(&mut self) -> Result<Literal<'a>, LiteralRefusal> {
        self.at += 1;
        let mut numbers = Vec::new();
        let mut ends_with_comma = false;
        while self.peek() != Some(b')') {
            if numbers.len() == DIMENSION_LIMIT {
                return Err(self.refusal(format!("more than {DIMENSION_LIMIT} dimensions, which is NumPy's limit")));
            }
            numbers.push(self.number()?);
            ends_with_comma = self.peek() == Some(b',');
            if ends_with_comma {
                self.at += 1;
            } else if self.peek() != Some(b')') {
                return Err(self.unexpected("',' or ')'"));
            }
        }
        self.at += 1;
        Ok(if numbers.len() == 1 && !ends_with_comma { Literal::Number } else { Literal::Tuple(numbers) })
    }

    /// Returns whether the next bracket is followed by a field or by nothing.
    fn begins_fields(&self) -> bool {
        let mut rest = self.text[self.at + 1..].iter().filter(|byte| !byte.is_ascii_whitespace());
        matches!(rest.next(), Some(b'(' | b']'))
    }

    fn fields(&mut self) -> Result<Vec<LiteralField<'a>>, LiteralRefusal> {
        self.at += 1;
        let mut fields = Vec::new();
        while self.peek() != Some(b']') {
            fields.push(self.field()?);
            if self.peek() == Some(b',') {
                self.at += 1;
            } else if self.peek() != Some(b']') {
                return Err(self.unexpected("',' or ']'"));
            }
        }
        self.at += 1;
        Ok(fields)
    }

    fn field(&mut self) -> Result<LiteralField<'a>, LiteralRefusal> {
        self.skip_space();
        let at = self.at;
        self.expect(b'(', "a field")?;
        if self.peek() == Some(b'(') {
            return Err(self.refusal("a field that has a title besides its name".to_owned()));
        }
        let name = self.string("the name of a field")?;
        self.expect(b',', "','")?;
        if self.peek() == Some(b'[') {
            return Err(self.refusal("a structure within a structure".to_owned()));
        }
        let code = self.string("the type of a field")?;
        let mut sizes = Vec::new();
        if self.peek() == Some(b',') {
            self.at += 1;
            if self.peek() == Some(b'(') {
                let start = self.at;
                sizes = match self.tuple()? {
                    Literal::Tuple(sizes) => sizes,
                    _ => return Err(LiteralRefusal { at: start, reason: "expected a tuple".to_owned() }),
                };
            }
        }
        self.expect(b')', "')'")?;
        Ok(LiteralField { name, code, sizes, at })
    }

    fn number(&mut self) -> Result<u64, LiteralRefusal> {
        self.skip_space();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (text, start) = (&self.text[self.at..self.at + digits], self.at);
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        match (text, number) {
            ([] | [b'0', _, ..], _) => Err(self.unexpected("a whole number")),
            (_, None) => Err(self.refusal("a number is too large".to_owned())),
            (_, Some(number)) => {
                self.at = start + digits + usize::from(self.text.get(start + digits) == Some(&b'L'));
                Ok(number)
            }
        }
    }

    fn string(&mut self, what: &str) -> Result<&'a [u8], LiteralRefusal> {
        self.skip_space();
        if self.text.get(self.at) == Some(&b'u') && matches!(self.text.get(self.at + 1), Some(b'\'' | b'"')) {
            self.at += 1;
        }
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.unexpected(what)),
        };
        let text = &self.text[self.at + 1..];
        let Some(length) = text.iter().position(|&byte| byte == quote) else {
            return Err(self.refusal("a string is not closed".to_owned()));
        };
        let text = &text[..length];
        if text.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r')) {
            return Err(self.refusal("a string with a backslash or a line end, which NumPy does not write".to_owned()));
        }
        self.at += length + 2;
        Ok(text)
    }

    fn takes(&mut self, word: &[u8]) -> bool {
        let is_next = self.text[self.at..].starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), LiteralRefusal> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(what));
        }
        self.at += 1;
        Ok(())
    }

    /// Returns the next byte that is not a space, without consuming it.
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')).count();
    }

    fn unexpected(&self, expected: &str) -> LiteralRefusal {
        let found = match self.text.get(self.at) {
            Some(&byte) => format!("'{}'", byte.escape_ascii()),
            None => "the end".to_owned(),
        };
        self.refusal(format!("expected {expected}, found {found}"))
    }

    fn refusal(&self, reason: String) -> LiteralRefusal {
        LiteralRefusal { at: self.at, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut entries = Vec::new();
        let result = LiteralParser::new(text.as_bytes()).dictionary(|key, value, _| {
            entries.push((String::from_utf8_lossy(key).into_owned(), format!("{value:?}")));
            Ok(())
        });
        result.map(|()| entries).map_err(|refusal| format!("{}: {}", refusal.at, refusal.reason))
    }

    fn value(text: &str) -> Result<String, String> {
        parse(&format!("{{'k': {text}}}")).map(|mut entries| entries.remove(0).1)
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let good = [
            ("'<f4'", "Text([60, 102, 52])"),
            ("u\"a'b\"", "Text([97, 39, 98])"),
            ("''", "Text([])"),
            ("True", "Flag(true)"),
            ("\t False \r\n", "Flag(false)"),
            ("()", "Tuple([])"),
            ("(3,)", "Tuple([3])"),
            ("( 3L , 18446744073709551615L , )", "Tuple([3, 18446744073709551615])"),
            ("(0, 10)", "Tuple([0, 10])"),
            ("(3)", "Number"),
            ("[]", "List([])"),
            ("[('x', '<f4')]", "List([LiteralField { name: [120], code: [60, 102, 52], sizes: [], at: 7 }])"),
            (
                "[ ( 'x' ,'u1', ( 2,3 ) ), ]",
                "List([LiteralField { name: [120], code: [117, 49], sizes: [2, 3], at: 8 }])",
            ),
            ("3L", "Number"),
        ];
        for (text, expected) in good {
            assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(parse(" { } \n"), Ok(vec![]));
        assert_eq!(parse("{'a':True,\"b\":False,}").unwrap().len(), 2);
    }

    #[test]
    fn everything_else_is_refused_where_it_stands() {
        let bad = [
            ("", "0: expected a dictionary, found the end"),
            ("[]", "0: expected a dictionary, found '['"),
            ("{", "1: expected a key, found the end"),
            ("{a: 1}", "1: expected a key, found 'a'"),
            ("{'a' 1}", "5: expected ':', found '1'"),
            ("{'a': }", "6: expected a string, True, False or a tuple, found '}'"),
            ("{'a': Truely}", "10: expected ',' or '}', found 'l'"),
            ("{'a': true}", "6: expected a string, True, False or a tuple, found 't'"),
            ("{'a': 'b}", "6: a string is not closed"),
            ("{'a': '\\x3c'}", "6: a string with a backslash or a line end, which NumPy does not write"),
            ("{'a': (1 2)}", "9: expected ',' or ')', found '2'"),
            ("{'a': (-1,)}", "7: expected a whole number, found '-'"),
            ("{'a': (,)}", "7: expected a whole number, found ','"),
            ("{'a': (07,)}", "7: expected a whole number, found '0'"),
            ("{'a': (1.0,)}", "8: expected ',' or ')', found '.'"),
            ("{'a': ((1,),)}", "7: expected a whole number, found '('"),
            ("{'a': (18446744073709551616,)}", "7: a number is too large"),
            ("{'a': (1,", "9: expected a whole number, found the end"),
            ("{'a': __import__('os')}", "6: expected a string, True, False or a tuple, found '_'"),
            ("{'a': True} x", "12: expected nothing after the dictionary, found 'x'"),
            ("{'a': True}\0", "11: expected nothing after the dictionary, found '\\x00'"),
            ("{'a': [1]}", "6: expected ',' or '}', found '['"),
            ("{'a': [('x', 'u1'), 1]}", "20: expected a field, found '1'"),
            ("{'a': [('x')]}", "11: expected ',', found ')'"),
            ("{'a': [('x', [('y', 'u1')])]}", "13: a structure within a structure"),
            ("{'a': [(('t', 'x'), 'u1')]}", "8: a field that has a title besides its name"),
            ("{'a': [('x', 'u1', 3)]}", "19: expected ')', found '3'"),
            ("{'a': [('x', 'u1', (3))]}", "19: expected a tuple"),
            ("{'a': [('x', 'u1') ('y', 'u1')]}", "19: expected ',' or ']', found '('"),
            ("{'a': [('x', 'u1')", "18: expected ',' or ']', found the end"),
            ("{,}", "1: expected a key, found ','"),
            ("{'a': 'b' 'c'}", "10: expected ',' or '}', found '\\''"),
        ];
        for (text, expected) in bad {
            assert_eq!(parse(text).unwrap_err(), expected, "{text}");
        }
        let many = format!("{{'a': ({})}}", "1,".repeat(65));
        assert!(parse(&many).unwrap_err().contains("more than 64 dimensions"));
    }
}
