//! The fields of a read, and where a fragment keeps them.

use talavera_schema::{ArraySchema, Attribute};
use talavera_types::{CellValNum, Datatype};

use crate::{EngineOptions, Error};

/// The name of the special field that holds when each cell was written, in milliseconds since 1970.
pub const TIMESTAMPS_FIELD: &str = "__timestamps";

/// A field of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadField {
    /// The attribute with this index in the opened schema.
    Attribute(usize),
    /// The dimension with this index.
    Dimension(usize),
    /// When the cells were written.
    Timestamps,
}

/// What the cells of a field of a result are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultShape {
    pub(crate) datatype: Datatype,
    pub(crate) cell_val_num: CellValNum,
    pub(crate) nullable: bool,
}

impl ReadField {
    /// The field with this name in the opened schema.
    pub(crate) fn named(schema: &ArraySchema, name: &str) -> Result<Self, Error> {
        if name == TIMESTAMPS_FIELD && !schema.is_dense() {
            return Ok(Self::Timestamps);
        }
        if let Some((index, _)) = schema.attribute(name) {
            return Ok(Self::Attribute(index));
        }
        if let Some((index, _)) = schema.dimension(name) {
            return Ok(Self::Dimension(index));
        }
        let attributes = schema.attributes.iter().map(|attribute| attribute.name.as_str());
        let dimensions = schema.domain.dimensions.iter().map(|dimension| dimension.name.as_str());
        let known: Vec<_> = dimensions.chain(attributes).map(|name| format!("'{name}'")).collect();
        Err(Error::invalid(format!("there is no field '{name}'; the array has {}", known.join(", "))))
    }

    /// What its cells are.
    pub(crate) fn shape(self, schema: &ArraySchema) -> Result<ResultShape, Error> {
        let missing = || Error::invalid(format!("the array has no field {self:?}"));
        Ok(match self {
            Self::Attribute(index) => {
                let attribute = schema.attributes.get(index).ok_or_else(missing)?;
                ResultShape { datatype: attribute.datatype, cell_val_num: attribute.cell_val_num, nullable: attribute.nullable }
            }
            Self::Dimension(index) => {
                let dimension = schema.domain.dimensions.get(index).ok_or_else(missing)?;
                ResultShape { datatype: dimension.datatype, cell_val_num: dimension.cell_val_num(), nullable: false }
            }
            Self::Timestamps => ResultShape { datatype: Datatype::UInt64, cell_val_num: CellValNum::ONE, nullable: false },
        })
    }
}

/// The index that an attribute of the opened schema has in the schema of a fragment; none where the fragment does not
/// have it, or has another attribute of that name (decision 13 of 22-semantics: bytes are not reinterpreted, unless the
/// caller asks for it).
pub(crate) fn attribute_in_fragment(fragment: &ArraySchema, attribute: &Attribute, options: &EngineOptions) -> Option<usize> {
    let (index, own) = fragment.attribute(&attribute.name)?;
    let same = own.datatype == attribute.datatype && own.cell_val_num == attribute.cell_val_num;
    let same_size = own.cell_bytes().is_some() && own.cell_bytes() == attribute.cell_bytes();
    (own.nullable == attribute.nullable && (same || same_size && options.reinterpret_retyped)).then_some(index)
}
