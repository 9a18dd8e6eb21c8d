//! The text form of conditions: `q > 5 and cat in ('a', 'b') and z is not null`.
//!
//! ```text
//! condition = and-part { "or" and-part }
//! and-part  = not-part { "and" not-part }
//! not-part  = "not" not-part | "(" condition ")" | "true" | "false" | test
//! test      = name ("<" | "<=" | ">" | ">=" | "=" | "==" | "!=" | "<>") value
//!           | name ["not"] "in" "(" [value { "," value }] ")"
//!           | name "is" ["not"] "null"
//! name      = letters, digits, "_", not starting with a digit | '"' any but '"', or '""' for it '"'
//! value     = number | "nan" | "inf" | "-inf" | "true" | "false"
//!           | "'" any but "'", or "''" for it "'" | "x'" two hexadecimal digits for each byte "'"
//! ```
//!
//! Words are known in any case. A name that is one of the words stands in double quotes.

mod display;
mod lexer;

use self::lexer::{Lexer, Symbol, Token, Word};
use crate::{Combination, Comparison, Literal, QueryCondition};

/// Where and why text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found} (at byte {offset})")]
pub struct TextError {
    /// Bytes from the start of the text to what was found.
    pub offset: usize,
    /// What could have stood there.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

impl TextError {
    /// The line of `text` that the error is in, and below it a caret under the place.
    ///
    /// ```
    /// use talavera_condition::QueryCondition;
    ///
    /// let text = "q > 5 and cat is 7";
    /// let error = QueryCondition::from_text(text).unwrap_err();
    /// assert_eq!(error.caret(text), "q > 5 and cat is 7\n                 ^ expected 'null' or 'not null', found 7");
    /// ```
    #[must_use]
    pub fn caret(&self, text: &str) -> String {
        let before = text.get(..self.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let column = before.get(line_start..).map_or(0, |part| part.chars().count());
        format!("{line}\n{:column$}^ expected {}, found {}", "", self.expected, self.found)
    }
}

impl QueryCondition {
    /// The condition that `text` describes, such as `q > 5 and not (cat in ('a', 'b') or z is null)`.
    ///
    /// Dates and times are written as text in ISO form; they become numbers when the condition is bound to a field of
    /// such a datatype. `not` is pushed down to the tests, as by [`negate`](Self::negate). What
    /// [`Display`](std::fmt::Display) writes is read back as the same condition.
    ///
    /// # Errors
    /// [`TextError`] with the place of what was not expected, or of the level that is nested too deep.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        let mut parser = Parser { lexer: Lexer::new(text), depth: 0 };
        let condition = parser.condition()?;
        match parser.lexer.next()? {
            (_, Token::End) => Ok(condition),
            (offset, token) => Err(token.unexpected(offset, "'and', 'or' or the end")),
        }
    }
}

impl std::str::FromStr for QueryCondition {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::from_text(text)
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    depth: usize,
}

impl Parser<'_> {
    fn condition(&mut self) -> Result<QueryCondition, TextError> {
        let mut condition = self.and_part()?;
        while self.lexer.take(&Token::Word(Word::Or))? {
            condition = condition.combine(Combination::Or, self.and_part()?);
        }
        Ok(condition)
    }

    fn and_part(&mut self) -> Result<QueryCondition, TextError> {
        let mut condition = self.not_part()?;
        while self.lexer.take(&Token::Word(Word::And))? {
            condition = condition.combine(Combination::And, self.not_part()?);
        }
        Ok(condition)
    }

    fn not_part(&mut self) -> Result<QueryCondition, TextError> {
        let (offset, token) = self.lexer.next()?;
        self.depth += 1;
        if self.depth >= QueryCondition::MAX_DEPTH {
            return Err(token.unexpected(offset, "fewer levels of parentheses and 'not'"));
        }
        let part = match token {
            Token::Word(Word::Not) => self.not_part()?.negate(),
            Token::Symbol(Symbol::Open) => {
                let condition = self.condition()?;
                self.expect(Symbol::Close, "')', 'and' or 'or'")?;
                condition
            }
            Token::Word(Word::True) => QueryCondition::Constant(true),
            Token::Word(Word::False) => QueryCondition::Constant(false),
            Token::Name(name) => self.test(name)?,
            token => return Err(token.unexpected(offset, "a field name, '(' or 'not'")),
        };
        self.depth -= 1;
        Ok(part)
    }

    fn test(&mut self, field: String) -> Result<QueryCondition, TextError> {
        let (offset, token) = self.lexer.next()?;
        match token {
            Token::Symbol(Symbol::Comparison(comparison)) => self.compare(field, comparison),
            Token::Word(Word::Is) => self.null_test(field),
            Token::Word(Word::In) => self.members(field, false),
            Token::Word(Word::Not) => match self.lexer.next()? {
                (_, Token::Word(Word::In)) => self.members(field, true),
                (offset, token) => Err(token.unexpected(offset, "'in'")),
            },
            token => Err(token.unexpected(offset, "a comparison, 'in', 'not in' or 'is'")),
        }
    }

    fn compare(&mut self, field: String, comparison: Comparison) -> Result<QueryCondition, TextError> {
        let (offset, token) = self.lexer.next_value()?;
        let value = literal(token).map_err(|token| token.unexpected(offset, VALUE))?;
        Ok(QueryCondition::Compare { field, comparison, value })
    }

    fn null_test(&mut self, field: String) -> Result<QueryCondition, TextError> {
        let negated = self.lexer.take(&Token::Word(Word::Not))?;
        match self.lexer.next()? {
            (_, Token::Word(Word::Null)) if negated => Ok(QueryCondition::IsNotNull { field }),
            (_, Token::Word(Word::Null)) => Ok(QueryCondition::IsNull { field }),
            (offset, token) => Err(token.unexpected(offset, if negated { "'null'" } else { "'null' or 'not null'" })),
        }
    }

    fn members(&mut self, field: String, negated: bool) -> Result<QueryCondition, TextError> {
        self.expect(Symbol::Open, "'('")?;
        let mut values = Vec::new();
        if self.lexer.take(&Token::Symbol(Symbol::Close))? {
            return Ok(QueryCondition::In { field, negated, values });
        }
        loop {
            let (offset, token) = self.lexer.next_value()?;
            values.push(literal(token).map_err(|token| token.unexpected(offset, VALUE))?);
            match self.lexer.next()? {
                (_, Token::Symbol(Symbol::Comma)) => {}
                (_, Token::Symbol(Symbol::Close)) => return Ok(QueryCondition::In { field, negated, values }),
                (offset, token) => return Err(token.unexpected(offset, "',' or ')'")),
            }
        }
    }

    fn expect(&mut self, symbol: Symbol, expected: &'static str) -> Result<(), TextError> {
        match self.lexer.next()? {
            (_, Token::Symbol(found)) if found == symbol => Ok(()),
            (offset, token) => Err(token.unexpected(offset, expected)),
        }
    }
}

fn literal(token: Token) -> Result<Literal, Token> {
    match token {
        Token::Value(literal) => Ok(literal),
        Token::Word(Word::True) => Ok(Literal::Bool(true)),
        Token::Word(Word::False) => Ok(Literal::Bool(false)),
        token => Err(token),
    }
}

const VALUE: &str = "a number, 'text', true, false or x'bytes'";

#[cfg(test)]
mod tests;
