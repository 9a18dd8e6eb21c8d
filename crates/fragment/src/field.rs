//! The fields of a fragment and their index in every list of its metadata: fragment page, "Footer", and the table of
//! data files.

use std::num::NonZeroU32;

use talavera_schema::ArraySchema;
use talavera_types::{CellValNum, Datatype, FormatVersion};

/// A field of a fragment: something with data files and metadata of its own.
///
/// Attribute and dimension numbers count in the fragment's own schema, which may be older than the array's latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldId {
    /// The attribute with this index in the schema.
    Attribute(usize),
    /// All dimensions zipped, `__coords`. From version 5 on it has entries in every list, but no file.
    Coordinates,
    /// The dimension with this index in the schema; a field of its own from version 5 on.
    Dimension(usize),
    /// When each cell was written, `__timestamps`: milliseconds since 1970 as `u64`.
    Timestamps,
    /// When each cell was deleted, `__delete_timestamps`: milliseconds since 1970 as `u64`, all ones where it was not.
    DeleteTimestamps,
    /// Which processed condition deleted each cell, `__delete_condition_index`: `u64`, all ones where none did.
    DeleteConditionIndex,
}

impl FieldId {
    /// What the cells of the field are made of, or `None` for an attribute or dimension that `schema` does not have.
    ///
    /// For `__coords` this is one value per dimension, of the first dimension's datatype.
    #[must_use]
    pub fn shape(self, schema: &ArraySchema) -> Option<FieldShape> {
        let dimensions = &schema.domain.dimensions;
        match self {
            Self::Attribute(index) => schema.attributes.get(index).map(|attribute| FieldShape {
                datatype: attribute.datatype,
                cell_val_num: attribute.cell_val_num,
                nullable: attribute.nullable,
            }),
            Self::Coordinates => {
                let values = u32::try_from(dimensions.len()).ok().and_then(NonZeroU32::new)?;
                Some(FieldShape::required(dimensions.first()?.datatype, CellValNum::Fixed(values)))
            }
            Self::Dimension(index) => dimensions.get(index).map(|dimension| {
                let cell_val_num = if dimension.is_var() { CellValNum::Var } else { CellValNum::ONE };
                FieldShape::required(dimension.datatype, cell_val_num)
            }),
            Self::Timestamps | Self::DeleteTimestamps | Self::DeleteConditionIndex => {
                Some(FieldShape::required(Datatype::UInt64, CellValNum::ONE))
            }
        }
    }
}

/// What the cells of a field are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldShape {
    /// The datatype of a value.
    pub datatype: Datatype,
    /// Values in a cell.
    pub cell_val_num: CellValNum,
    /// Whether a cell may be null.
    pub nullable: bool,
}

impl FieldShape {
    /// Bytes of a cell, or `None` where cells differ in length.
    #[must_use]
    pub fn cell_bytes(self) -> Option<u64> {
        let values = self.cell_val_num.fixed()?;
        Some(u64::from(values) * self.datatype.size() as u64)
    }

    fn required(datatype: Datatype, cell_val_num: CellValNum) -> Self {
        Self { datatype, cell_val_num, nullable: false }
    }
}

/// Which fields a fragment has, in the order of the lists in its metadata: attributes, `__coords`, dimensions (from
/// version 5 on), then timestamps and delete metadata where the footer says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldLayout {
    attributes: usize,
    dimensions: usize,
    has_timestamps: bool,
    has_delete_metadata: bool,
}

impl FieldLayout {
    /// The fields of a fragment of `version` with this schema. A flag counts only where the version knows it:
    /// `has_timestamps` from version 14 on, `has_delete_metadata` from version 15 on.
    #[must_use]
    pub fn new(version: FormatVersion, schema: &ArraySchema, has_timestamps: bool, has_delete_metadata: bool) -> Self {
        Self {
            attributes: schema.attributes.len(),
            dimensions: if version.has_dimension_fields() { schema.domain.dimensions.len() } else { 0 },
            has_timestamps: has_timestamps && version.has_cell_timestamps(),
            has_delete_metadata: has_delete_metadata && version.has_delete_metadata(),
        }
    }

    /// Whether the fragment stores when each cell was written.
    #[must_use]
    pub fn has_timestamps(self) -> bool {
        self.has_timestamps
    }

    /// Whether the fragment stores when and by which condition each cell was deleted.
    #[must_use]
    pub fn has_delete_metadata(self) -> bool {
        self.has_delete_metadata
    }

    /// The number of fields.
    #[must_use]
    pub fn count(self) -> usize {
        self.attributes + 1 + self.dimensions + usize::from(self.has_timestamps) + 2 * usize::from(self.has_delete_metadata)
    }

    /// The number of fields that come before the first one which cannot be of variable length: lists about variable
    /// lengths leave `__coords` out in versions 1 to 4.
    pub(crate) fn var_count(self, version: FormatVersion) -> usize {
        if version.has_dimension_fields() { self.count() } else { self.attributes }
    }

    /// The index of a field in the lists, or `None` for one that the fragment does not have.
    #[must_use]
    pub fn index(self, field: FieldId) -> Option<usize> {
        let first_dimension = self.attributes + 1;
        let timestamps = first_dimension + self.dimensions;
        let delete_timestamps = timestamps + usize::from(self.has_timestamps);
        match field {
            FieldId::Attribute(index) => (index < self.attributes).then_some(index),
            FieldId::Coordinates => Some(self.attributes),
            FieldId::Dimension(index) => (index < self.dimensions).then(|| first_dimension + index),
            FieldId::Timestamps => self.has_timestamps.then_some(timestamps),
            FieldId::DeleteTimestamps => self.has_delete_metadata.then_some(delete_timestamps),
            FieldId::DeleteConditionIndex => self.has_delete_metadata.then_some(delete_timestamps + 1),
        }
    }

    /// All fields in index order.
    pub fn fields(self) -> impl Iterator<Item = FieldId> {
        let attributes = (0..self.attributes).map(FieldId::Attribute);
        let dimensions = (0..self.dimensions).map(FieldId::Dimension);
        let timestamps = self.has_timestamps.then_some(FieldId::Timestamps);
        let deletes = [FieldId::DeleteTimestamps, FieldId::DeleteConditionIndex];
        let deletes = deletes.into_iter().filter(move |_| self.has_delete_metadata);
        attributes.chain([FieldId::Coordinates]).chain(dimensions).chain(timestamps).chain(deletes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_the_index_at_which_it_is_listed() {
        for (has_timestamps, has_delete_metadata) in [(false, false), (true, false), (false, true), (true, true)] {
            let layout = FieldLayout { attributes: 2, dimensions: 3, has_timestamps, has_delete_metadata };
            let indices: Vec<_> = layout.fields().map(|field| layout.index(field).unwrap()).collect();
            assert_eq!(indices, (0..layout.count()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn fields_that_a_fragment_lacks_have_no_index() {
        let layout = FieldLayout { attributes: 1, dimensions: 0, has_timestamps: false, has_delete_metadata: false };
        assert_eq!(layout.count(), 2);
        for field in [FieldId::Attribute(1), FieldId::Dimension(0), FieldId::Timestamps, FieldId::DeleteConditionIndex] {
            assert_eq!(layout.index(field), None, "{field:?}");
        }
    }
}
