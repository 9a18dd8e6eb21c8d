//! `--condition TEXT`.

use talavera::QueryCondition;

use crate::error::Error;

/// The condition that a text spells.
///
/// # Errors
/// [`Error::Usage`] that points at the place of what was not expected.
pub(crate) fn from_text(text: &str) -> Result<QueryCondition, Error> {
    QueryCondition::from_text(text).map_err(|error| Error::usage(format!("--condition:\n{}", error.caret(text))))
}
