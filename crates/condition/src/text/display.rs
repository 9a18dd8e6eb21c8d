//! Conditions as text, which is read back as the same condition.

use std::fmt::{Display, Formatter, Result, Write};

use super::lexer::{Word, is_name_part, is_name_start};
use crate::{Combination, Literal, QueryCondition};

impl Display for QueryCondition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Compare { field, comparison, value } => {
                write_name(f, field)?;
                write!(f, " {} {value}", comparison.symbol())
            }
            Self::In { field, negated, values } => {
                write_name(f, field)?;
                f.write_str(if *negated { " not in (" } else { " in (" })?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index > 0 { ", " } else { "" })?;
                }
                f.write_char(')')
            }
            Self::IsNull { field } => {
                write_name(f, field)?;
                f.write_str(" is null")
            }
            Self::IsNotNull { field } => {
                write_name(f, field)?;
                f.write_str(" is not null")
            }
            Self::Combine { combination, children } => write_combination(f, *combination, children),
            Self::Constant(holds) => write!(f, "{holds}"),
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) if value.is_nan() => f.write_str("nan"),
            // The debug form always shows a point or an exponent, and as many digits as tell floats apart.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(text) => write_quoted(f, '\'', text),
            Self::Bytes(bytes) => {
                f.write_str("x'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('\'')
            }
        }
    }
}

/// AND binds closer than OR, so only a combination within AND needs parentheses, and one within its like, which would
/// otherwise be read as a part of it. Of nothing, AND is true and OR false.
fn write_combination(f: &mut Formatter<'_>, combination: Combination, children: &[QueryCondition]) -> Result {
    let (between, of_nothing) = match combination {
        Combination::And => (" and ", "true"),
        Combination::Or => (" or ", "false"),
    };
    if children.is_empty() {
        return f.write_str(of_nothing);
    }
    for (index, child) in children.iter().enumerate() {
        f.write_str(if index > 0 { between } else { "" })?;
        match only_part(child) {
            QueryCondition::Combine { combination: own, children }
                if !children.is_empty() && (combination == Combination::And || *own == combination) =>
            {
                write!(f, "({child})")?;
            }
            _ => write!(f, "{child}")?,
        }
    }
    Ok(())
}

/// What a combination of a single condition comes to.
fn only_part(mut condition: &QueryCondition) -> &QueryCondition {
    while let QueryCondition::Combine { children, .. } = condition
        && let [child] = children.as_slice()
    {
        condition = child;
    }
    condition
}

fn write_name(f: &mut Formatter<'_>, name: &str) -> Result {
    let plain = name.starts_with(is_name_start) && name.chars().all(is_name_part) && Word::from_text(name).is_none();
    if plain { f.write_str(name) } else { write_quoted(f, '"', name) }
}

fn write_quoted(f: &mut Formatter<'_>, quote: char, content: &str) -> Result {
    f.write_char(quote)?;
    for char in content.chars() {
        if char == quote {
            f.write_char(quote)?;
        }
        f.write_char(char)?;
    }
    f.write_char(quote)
}
