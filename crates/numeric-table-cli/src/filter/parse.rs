//! The text of an expression.
//!
//! ```text
//! or      = and { ("or" | "||") and }
//! and     = not { ("and" | "&&") not }
//! not     = ("not" | "!") not | "(" or ")" | test
//! test    = column "is" ["not"] "missing" | column ["not"] "in" "(" value { "," value } ")" | operand op operand
//! column  = a bare word, or any text between backquotes
//! value   = a bare word or number, or any text between quotes
//! op      = "==" | "!=" | "<" | "<=" | ">" | ">="
//! ```

use std::cmp::Ordering;

use unicode_width::UnicodeWidthStr;

/// The first and the last byte after it of a part of the text.
pub(super) type Span = (usize, usize);

/// The deepest nesting of an expression.
const DEPTH: usize = 100;

#[derive(Debug)]
pub(super) enum Node {
    /// All of them. A long chain is a list, so that its length needs no stack.
    And(Vec<Self>),
    /// One of them at least.
    Or(Vec<Self>),
    Not(Box<Self>),
    Missing((String, Span)),
    Compare((String, Span), Compare, Literal),
    In((String, Span), Vec<Literal>),
    /// Two columns, each between backquotes, or two bare words.
    Columns((String, Span), Compare, (String, Span)),
}

#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) is_quoted: bool,
    pub(super) span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Compare {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// Returns the comparison with its sides exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

/// Returns a message, the text, and a line that points at a part of it.
pub(super) fn pointed(text: &str, (start, end): Span, reason: &str) -> String {
    if text.chars().count() > 200 || text.contains(char::is_control) {
        return format!("{reason}, at character {}", text[..start].chars().count() + 1);
    }
    let (before, there) = (text[..start].width(), text[start..end].width().max(1));
    format!("{reason}\n  {text}\n  {}{}", " ".repeat(before), "^".repeat(there))
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A bare word or number.
    Bare(String),
    Quoted(String),
    /// A column between backquotes.
    Column(String),
    Compare(Compare),
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
}

/// Parses an expression. The error is the whole message.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    if parser.tokens.is_empty() {
        return Err("the expression of --where is empty".to_owned());
    }
    let node = parser.or()?;
    match parser.tokens.get(parser.next) {
        Some((_, span)) => Err(pointed(text, *span, "expected `and`, `or` or the end here")),
        None => Ok(node),
    }
}

fn tokens(text: &str) -> Result<Vec<(Token, Span)>, String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            ',' => (Token::Comma, 1),
            '"' | '\'' | '`' => {
                let inside = &rest[1..];
                let Some(end) = inside.find(first) else {
                    return Err(pointed(text, (at, at + 1), "this quote is never closed"));
                };
                let word = inside[..end].to_owned();
                (if first == '`' { Token::Column(word) } else { Token::Quoted(word) }, end + 2)
            }
            _ if rest.starts_with("==") => (Token::Compare(Compare::Equal), 2),
            _ if rest.starts_with("!=") => (Token::Compare(Compare::NotEqual), 2),
            _ if rest.starts_with("<=") => (Token::Compare(Compare::LessOrEqual), 2),
            _ if rest.starts_with(">=") => (Token::Compare(Compare::GreaterOrEqual), 2),
            '<' => (Token::Compare(Compare::Less), 1),
            '>' => (Token::Compare(Compare::Greater), 1),
            _ if rest.starts_with("&&") => (Token::And, 2),
            _ if rest.starts_with("||") => (Token::Or, 2),
            '!' => (Token::Not, 1),
            '=' => return Err(pointed(text, (at, at + 1), "write `==` to compare")),
            '&' | '|' => return Err(pointed(text, (at, at + 1), "write `and`, `or`")),
            _ => {
                let ends = |character: char| character.is_whitespace() || "()<>=!,\"'`&|".contains(character);
                let length = rest.find(ends).unwrap_or(rest.len());
                let word = &rest[..length];
                let token = match word.to_ascii_lowercase().as_str() {
                    "and" => Token::And,
                    "or" => Token::Or,
                    "not" => Token::Not,
                    _ => Token::Bare(word.to_owned()),
                };
                (token, length)
            }
        };
        found.push((token, (at, at + length)));
        at += length;
    }
    Ok(found)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn accept(&mut self, token: &Token) -> bool {
        let is_there = self.peek() == Some(token);
        self.next += usize::from(is_there);
        is_there
    }

    /// Accepts a bare word that is a word of the language here.
    fn accept_word(&mut self, word: &str) -> bool {
        let is_there = matches!(self.peek(), Some(Token::Bare(text)) if text.eq_ignore_ascii_case(word));
        self.next += usize::from(is_there);
        is_there
    }

    fn wrong<R>(&self, reason: &str) -> Result<R, String> {
        let end = (self.text.len(), self.text.len());
        let span = self.tokens.get(self.next).map_or(end, |(_, span)| *span);
        Err(pointed(self.text, span, reason))
    }

    fn or(&mut self) -> Result<Node, String> {
        self.chain(&Token::Or, Self::and, Node::Or)
    }

    fn and(&mut self) -> Result<Node, String> {
        self.chain(&Token::And, Self::not, Node::And)
    }

    /// Parses parts with a word between them. A single part stays as it is.
    fn chain(
        &mut self,
        word: &Token,
        part: fn(&mut Self) -> Result<Node, String>,
        chained: fn(Vec<Node>) -> Node,
    ) -> Result<Node, String> {
        let first = part(self)?;
        if !self.accept(word) {
            return Ok(first);
        }
        let mut nodes = vec![first, part(self)?];
        while self.accept(word) {
            nodes.push(part(self)?);
        }
        Ok(chained(nodes))
    }

    fn not(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return self.wrong("the expression is nested too deeply");
        }
        let node = if self.accept(&Token::Not) {
            Node::Not(Box::new(self.not()?))
        } else if self.accept(&Token::Open) {
            let node = self.or()?;
            if !self.accept(&Token::Close) {
                return self.wrong("expected `)` here");
            }
            node
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(node)
    }

    /// Takes an operand: whether it must be a column, its text, and whether it is in quotes.
    fn operand(&mut self) -> Result<(Token, Span), String> {
        match self.tokens.get(self.next).cloned() {
            Some((token @ (Token::Bare(_) | Token::Quoted(_) | Token::Column(_)), span)) => {
                self.next += 1;
                Ok((token, span))
            }
            _ if self.next == 0 => self.wrong("expected a column here"),
            _ => {
                let (start, end) = self.tokens[self.next - 1].1;
                self.wrong(&format!("a value is missing after `{}`", &self.text[start..end]))
            }
        }
    }

    fn test(&mut self) -> Result<Node, String> {
        let (left, span) = self.operand()?;
        let name = match &left {
            Token::Bare(text) | Token::Quoted(text) | Token::Column(text) => (text.clone(), span),
            _ => return self.wrong("expected a column here"),
        };
        if self.accept_word("is") {
            let is_not = self.accept(&Token::Not);
            if !self.accept_word("missing") && !self.accept_word("null") {
                return self.wrong("expected `missing` here");
            }
            let node = Node::Missing(name);
            return Ok(if is_not { Node::Not(Box::new(node)) } else { node });
        }
        let is_not = self.accept(&Token::Not);
        if self.accept_word("in") {
            let node = Node::In(name, self.list()?);
            return Ok(if is_not { Node::Not(Box::new(node)) } else { node });
        }
        if is_not {
            return self.wrong("expected `in` here");
        }
        let Some(Token::Compare(compare)) = self.peek().cloned() else {
            return self.wrong("expected a comparison, `is missing` or `in (...)` here");
        };
        self.next += 1;
        let (right, right_span) = self.operand()?;
        // `3 < x` and `"a" == name`: the side that must be a value is one.
        let is_value = |token: &Token| match token {
            Token::Quoted(_) => true,
            Token::Bare(text) => text.parse::<f64>().is_ok(),
            _ => false,
        };
        Ok(match (left, right) {
            (left, Token::Column(right)) if is_value(&left) => {
                Node::Compare((right, right_span), compare.turned(), literal(left, span))
            }
            (left, Token::Bare(right)) if is_value(&left) && right.parse::<f64>().is_err() => {
                Node::Compare((right, right_span), compare.turned(), literal(left, span))
            }
            (_, Token::Column(right)) => Node::Columns(name, compare, (right, right_span)),
            (_, right) => Node::Compare(name, compare, literal(right, right_span)),
        })
    }

    fn list(&mut self) -> Result<Vec<Literal>, String> {
        if !self.accept(&Token::Open) {
            return self.wrong("expected `(` here");
        }
        let mut values = Vec::new();
        loop {
            let (token, span) = self.operand()?;
            values.push(literal(token, span));
            if self.accept(&Token::Close) {
                return Ok(values);
            }
            if !self.accept(&Token::Comma) {
                return self.wrong("expected `,` or `)` here");
            }
        }
    }
}

fn literal(token: Token, span: Span) -> Literal {
    match token {
        Token::Bare(text) => Literal { text, is_quoted: false, span },
        Token::Quoted(text) | Token::Column(text) => Literal { text, is_quoted: true, span },
        _ => Literal { text: String::new(), is_quoted: false, span },
    }
}
