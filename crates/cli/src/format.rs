//! The forms that cells are written in.

pub(crate) mod arrow;
pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod table;
