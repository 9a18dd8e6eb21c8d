//! Words, names, values and symbols of the text form.

use super::TextError;
use crate::{Comparison, Literal};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Word(Word),
    Name(String),
    Value(Literal),
    Symbol(Symbol),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    And,
    Or,
    Not,
    In,
    Is,
    Null,
    True,
    False,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    Open,
    Close,
    Comma,
    Comparison(Comparison),
}

/// Cuts the front off the text, token by token.
pub(super) struct Lexer<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Word {
    const ALL: [(&'static str, Self); 8] = [
        ("and", Self::And),
        ("or", Self::Or),
        ("not", Self::Not),
        ("in", Self::In),
        ("is", Self::Is),
        ("null", Self::Null),
        ("true", Self::True),
        ("false", Self::False),
    ];

    /// The word that `text` is in any case.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, word)| *word)
    }
}

impl Token {
    /// The error for this token at `offset`.
    pub(super) fn unexpected(self, offset: usize, expected: &'static str) -> TextError {
        let found = match self {
            Self::Word(word) => {
                let text = Word::ALL.iter().find(|(_, other)| *other == word).map_or("", |(text, _)| text);
                format!("'{text}'")
            }
            Self::Name(name) => format!("the name {name}"),
            Self::Value(value) => value.to_string(),
            Self::Symbol(Symbol::Open) => "'('".to_owned(),
            Self::Symbol(Symbol::Close) => "')'".to_owned(),
            Self::Symbol(Symbol::Comma) => "','".to_owned(),
            Self::Symbol(Symbol::Comparison(comparison)) => format!("'{}'", comparison.symbol()),
            Self::End => "the end".to_owned(),
        };
        TextError { offset, expected, found }
    }
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, rest: text }
    }

    /// The next token and its place, where a field name may stand.
    pub(super) fn next(&mut self) -> Result<(usize, Token), TextError> {
        let offset = self.skip_space();
        let Some(first) = self.rest.chars().next() else { return Ok((offset, Token::End)) };
        let token = match first {
            '"' => Token::Name(self.quoted('"', offset)?),
            _ if is_name_start(first) => {
                let name = self.take_while(is_name_part);
                Word::from_text(name).map_or_else(|| Token::Name(name.to_owned()), Token::Word)
            }
            '\'' | '-' | '0'..='9' => return self.next_value(),
            _ => Token::Symbol(self.symbol(first, offset)?),
        };
        Ok((offset, token))
    }

    /// The next token and its place, where a value may stand: `nan`, `inf` and `x'…'` are no names there.
    pub(super) fn next_value(&mut self) -> Result<(usize, Token), TextError> {
        let offset = self.skip_space();
        for (text, value) in [("nan", f64::NAN), ("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY)] {
            if let Some(rest) = strip_word(self.rest, text) {
                self.rest = rest;
                return Ok((offset, Token::Value(Literal::Float(value))));
            }
        }
        if let Some(hex) = self.rest.strip_prefix(['x', 'X']).filter(|hex| hex.starts_with('\'')) {
            self.rest = hex;
            let digits = self.quoted('\'', offset)?;
            let bytes = bytes_from_hex(&digits).ok_or(TextError {
                offset,
                expected: "two hexadecimal digits for each byte",
                found: format!("x'{digits}'"),
            })?;
            return Ok((offset, Token::Value(Literal::Bytes(bytes))));
        }
        match self.rest.chars().next() {
            Some('\'') => Ok((offset, Token::Value(Literal::Text(self.quoted('\'', offset)?)))),
            Some('-' | '0'..='9') => Ok((offset, Token::Value(self.number(offset)?))),
            _ => self.next(),
        }
    }

    /// Takes the next token if it is `token`.
    pub(super) fn take(&mut self, token: &Token) -> Result<bool, TextError> {
        let before = self.rest;
        let found = self.next()?.1 == *token;
        if !found {
            self.rest = before;
        }
        Ok(found)
    }

    fn skip_space(&mut self) -> usize {
        self.rest = self.rest.trim_start();
        self.text.len() - self.rest.len()
    }

    fn take_while(&mut self, part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|char| !part(char)).unwrap_or(self.rest.len());
        let (head, rest) = self.rest.split_at(end);
        self.rest = rest;
        head
    }

    /// What stands between two quotes; a doubled quote stands for one.
    fn quoted(&mut self, quote: char, offset: usize) -> Result<String, TextError> {
        let mut content = String::new();
        let mut rest = self.rest.strip_prefix(quote).unwrap_or(self.rest);
        while let Some((part, behind)) = rest.split_once(quote) {
            content.push_str(part);
            match behind.strip_prefix(quote) {
                Some(behind) => {
                    content.push(quote);
                    rest = behind;
                }
                None => {
                    self.rest = behind;
                    return Ok(content);
                }
            }
        }
        Err(TextError { offset, expected: "a closing quote", found: "none".to_owned() })
    }

    fn number(&mut self, offset: usize) -> Result<Literal, TextError> {
        let text = self.rest;
        let sign = if self.rest.starts_with('-') { 1 } else { 0 };
        let mut end = sign + digits(text, sign);
        let mut float = false;
        if text.get(end..).is_some_and(|rest| rest.starts_with('.')) && digits(text, end + 1) > 0 {
            end += 1 + digits(text, end + 1);
            float = true;
        }
        if text.get(end..).is_some_and(|rest| rest.starts_with(['e', 'E'])) {
            let signed = end + 1 + usize::from(text.get(end + 1..).is_some_and(|rest| rest.starts_with(['+', '-'])));
            if digits(text, signed) > 0 {
                end = signed + digits(text, signed);
                float = true;
            }
        }
        let (number, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let literal = if float { number.parse().map(Literal::Float).ok() } else { number.parse().map(Literal::Int).ok() };
        // A letter right behind the last digit would be read as the next word.
        let glued = rest.starts_with(|next: char| is_name_part(next) || next == '.');
        match literal {
            Some(literal) if !glued => {
                self.rest = rest;
                Ok(literal)
            }
            _ => {
                let found = self.take_while(|next| is_name_part(next) || matches!(next, '-' | '+' | '.'));
                Err(TextError { offset, expected: "a number of at most 127 bits, or a float", found: found.to_owned() })
            }
        }
    }

    fn symbol(&mut self, first: char, offset: usize) -> Result<Symbol, TextError> {
        for (text, symbol) in SYMBOLS {
            if let Some(rest) = self.rest.strip_prefix(text) {
                self.rest = rest;
                return Ok(*symbol);
            }
        }
        Err(TextError { offset, expected: "a name, a value, a comparison, '(' , ')' or ','", found: format!("{first:?}") })
    }
}

pub(super) fn is_name_start(first: char) -> bool {
    first.is_alphabetic() || first == '_'
}

pub(super) fn is_name_part(part: char) -> bool {
    part.is_alphanumeric() || part == '_'
}

/// How many digits `text` has from byte `start` on.
fn digits(text: &str, start: usize) -> usize {
    text.bytes().skip(start).take_while(u8::is_ascii_digit).count()
}

/// What follows `word`, in any case, if that ends there.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    (head.eq_ignore_ascii_case(word) && !rest.starts_with(is_name_part)).then_some(rest)
}

fn bytes_from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect())?
}

/// Longer ones first, so that `<` does not hide `<=`.
const SYMBOLS: &[(&str, Symbol)] = &[
    ("<=", Symbol::Comparison(Comparison::Le)),
    (">=", Symbol::Comparison(Comparison::Ge)),
    ("==", Symbol::Comparison(Comparison::Eq)),
    ("!=", Symbol::Comparison(Comparison::Ne)),
    ("<>", Symbol::Comparison(Comparison::Ne)),
    ("<", Symbol::Comparison(Comparison::Lt)),
    (">", Symbol::Comparison(Comparison::Gt)),
    ("=", Symbol::Comparison(Comparison::Eq)),
    ("(", Symbol::Open),
    (")", Symbol::Close),
    (",", Symbol::Comma),
];
