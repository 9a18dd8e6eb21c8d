//! The field that a column is for.

use std::sync::Arc;

use arrow_schema::DataType;
use talavera::{Attribute, CellValNum, Datatype, Dimension, Enumeration};

use super::values::is_same_bits;

/// A field of an array that a column is for.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) datatype: Datatype,
    pub(crate) cell_val_num: CellValNum,
    pub(crate) nullable: bool,
    /// The fill value of an attribute, which may stand for a missing value; none for dimensions.
    pub(crate) fill_value: Option<Vec<u8>>,
    pub(crate) enumeration: Option<Arc<Enumeration>>,
}

impl Target {
    pub(crate) fn of_attribute(attribute: &Attribute, enumeration: Option<Arc<Enumeration>>) -> Self {
        Self {
            name: attribute.name.clone(),
            datatype: attribute.datatype,
            cell_val_num: attribute.cell_val_num,
            nullable: attribute.nullable,
            fill_value: Some(attribute.fill_value.clone()),
            enumeration,
        }
    }

    pub(crate) fn of_dimension(dimension: &Dimension) -> Self {
        Self {
            name: dimension.name.clone(),
            datatype: dimension.datatype,
            cell_val_num: dimension.cell_val_num(),
            nullable: false,
            fill_value: None,
            enumeration: None,
        }
    }

    /// Cells of this kind that may be null: what the values of dictionaries and enumerations are converted as.
    pub(crate) fn of_values(name: &str, datatype: Datatype, cell_val_num: CellValNum) -> Self {
        Self { name: name.to_owned(), datatype, cell_val_num, nullable: true, fill_value: None, enumeration: None }
    }

    /// Whether a column of this type holds the indices of an enumerated attribute as they are stored.
    pub(crate) fn takes_indices(&self, data_type: &DataType) -> bool {
        data_type.is_integer() && is_same_bits(data_type, self.datatype)
    }

    /// Bytes of a cell, where all have the same length.
    pub(crate) fn cell_bytes(&self) -> Option<usize> {
        usize::try_from(self.cell_val_num.fixed()?).ok()?.checked_mul(self.datatype.size())
    }

    /// Whether not-a-time may stand for a null, as reading shows it.
    pub(crate) fn has_not_a_time(&self) -> bool {
        self.datatype == Datatype::DateTimeDay && self.fill_value.is_some()
    }
}

/// For errors: `INT32`, `FLOAT32 × 3`, `STRING_UTF8 × any`.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.cell_val_num.fixed() {
            Some(1) => write!(f, "{}", self.datatype),
            Some(values) => write!(f, "{} × {values}", self.datatype),
            None => write!(f, "{} × any", self.datatype),
        }
    }
}
