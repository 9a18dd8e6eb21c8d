//! What DELTA and DOUBLE_DELTA share: which elements they take.
//!
//! Source: the format's filter-pipeline page and 11-filters, "DELTA" and "DOUBLE_DELTA".

use talavera_types::{Datatype, FilterType};

use crate::{FilterContext, FilterError};

/// The datatype to take elements for; `Any` takes them for what they are.
#[must_use]
pub fn reinterpreted(reinterpret: Datatype, cx: &FilterContext<'_>) -> Datatype {
    if reinterpret == Datatype::Any { cx.datatype } else { reinterpret }
}

/// Bytes of an element: those of a value, but 1 for text in any encoding. Floats have no differences.
#[must_use]
pub fn element_bytes(datatype: Datatype) -> Option<usize> {
    match datatype {
        _ if datatype.is_float() => None,
        _ if datatype.is_string() => Some(1),
        _ => Some(datatype.size()),
    }
}

/// As [`element_bytes`], with the error of a filter for floats.
///
/// # Errors
/// [`FilterError::Unsupported`] for floats.
pub fn require_element_bytes(filter: FilterType, datatype: Datatype) -> Result<usize, FilterError> {
    element_bytes(datatype).ok_or_else(|| FilterError::unsupported(filter, format!("it does not take {datatype}")))
}
