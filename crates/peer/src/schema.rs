//! A schema as plain data: what an array is created from, and what is read back from one.

use std::ops::RangeInclusive;

use crate::column::bytes_of;
use crate::{ArrayType, Datatype, FilterList, LabelOrder, Layout, Range, Scalar};

/// The number of values per cell that stands for a variable number.
pub const VAR: u32 = u32::MAX;

/// One dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// Its datatype; `STRING_ASCII` dimensions are of variable length.
    pub datatype: Datatype,
    /// Its domain; `None` for strings.
    pub domain: Option<Range>,
    /// The tile extent's bytes, where it has one.
    pub extent: Option<Vec<u8>>,
    /// Its filters; `None` for the library's default.
    pub filters: Option<FilterList>,
}

impl Dimension {
    /// A dimension of fixed length with a tile extent.
    #[must_use]
    pub fn new<T: Scalar>(name: &str, datatype: Datatype, domain: RangeInclusive<T>, extent: T) -> Self {
        Self { name: name.into(), datatype, domain: Some(domain.into()), extent: Some(bytes_of(&[extent])), filters: None }
    }

    /// A dimension of strings.
    #[must_use]
    pub fn string(name: &str) -> Self {
        Self { name: name.into(), datatype: Datatype::StringAscii, domain: None, extent: None, filters: None }
    }

    /// Values per cell: 1, or [`VAR`] for strings.
    #[must_use]
    pub fn cell_val_num(&self) -> u32 {
        if self.datatype == Datatype::StringAscii { VAR } else { 1 }
    }

    /// The same dimension with these filters.
    #[must_use]
    pub fn filtered(self, filters: FilterList) -> Self {
        Self { filters: Some(filters), ..self }
    }
}

/// What cells hold that were never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillValue {
    /// The bytes of one cell.
    pub value: Vec<u8>,
    /// Whether such a cell counts as valid; only for nullable attributes.
    pub valid: bool,
}

/// One attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name; may be empty.
    pub name: String,
    /// Its datatype.
    pub datatype: Datatype,
    /// Values per cell, or [`VAR`].
    pub cell_val_num: u32,
    /// Whether cells may be null.
    pub nullable: bool,
    /// Its fill value; `None` for the library's default.
    pub fill: Option<FillValue>,
    /// Its filters; `None` for the library's default.
    pub filters: Option<FilterList>,
    /// The name of its enumeration.
    pub enumeration: Option<String>,
}

impl Attribute {
    /// An attribute with one value per cell.
    #[must_use]
    pub fn new(name: &str, datatype: Datatype) -> Self {
        Self { name: name.into(), datatype, cell_val_num: 1, nullable: false, fill: None, filters: None, enumeration: None }
    }

    /// The same attribute with cells of variable length.
    #[must_use]
    pub fn var(self) -> Self {
        Self { cell_val_num: VAR, ..self }
    }

    /// The same attribute, nullable.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// The same attribute with these filters.
    #[must_use]
    pub fn filtered(self, filters: FilterList) -> Self {
        Self { filters: Some(filters), ..self }
    }
}

/// The list of values that an attribute's numbers stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// Its name.
    pub name: String,
    /// The datatype of its values.
    pub datatype: Datatype,
    /// Values per member, or [`VAR`].
    pub cell_val_num: u32,
    /// Whether the order of the members means something.
    pub ordered: bool,
    /// The bytes of each member.
    pub values: Vec<Vec<u8>>,
}

/// A dimension label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Index of the dimension it labels.
    pub dimension: u32,
    /// Its name.
    pub name: String,
    /// The order of its values.
    pub order: LabelOrder,
    /// The datatype of its values.
    pub datatype: Datatype,
    /// Values per label, or [`VAR`]; ignored when an array is created.
    pub cell_val_num: u32,
    /// The label array's path below the array; ignored when an array is created.
    pub path: String,
    /// The attribute of the label array that holds the values; ignored when an array is created.
    pub attribute: String,
}

/// An array schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Dense or sparse.
    pub array_type: ArrayType,
    /// The order of cells within a tile.
    pub cell_order: Layout,
    /// The order of tiles.
    pub tile_order: Layout,
    /// Cells per data tile of a sparse fragment; `None` for the library's default.
    pub capacity: Option<u64>,
    /// Whether coordinates may repeat.
    pub allows_dups: bool,
    /// Filters of coordinates; `None` for the library's default. Likewise the next two.
    pub coords_filters: Option<FilterList>,
    /// Filters of offsets.
    pub offsets_filters: Option<FilterList>,
    /// Filters of validity.
    pub validity_filters: Option<FilterList>,
    /// The dimensions.
    pub dimensions: Vec<Dimension>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The enumerations; read back are those that an attribute names.
    pub enumerations: Vec<Enumeration>,
    /// The dimension labels.
    pub labels: Vec<Label>,
    /// The current domain, one range per dimension.
    pub current_domain: Option<Vec<Range>>,
    /// The format version, where the release tells it; ignored when an array is created.
    pub format_version: Option<u32>,
}

impl Schema {
    /// A dense array in row-major order.
    #[must_use]
    pub fn dense(dimensions: Vec<Dimension>, attributes: Vec<Attribute>) -> Self {
        Self {
            array_type: ArrayType::Dense,
            cell_order: Layout::RowMajor,
            tile_order: Layout::RowMajor,
            capacity: None,
            allows_dups: false,
            coords_filters: None,
            offsets_filters: None,
            validity_filters: None,
            dimensions,
            attributes,
            enumerations: Vec::new(),
            labels: Vec::new(),
            current_domain: None,
            format_version: None,
        }
    }

    /// A sparse array in row-major order.
    #[must_use]
    pub fn sparse(dimensions: Vec<Dimension>, attributes: Vec<Attribute>) -> Self {
        Self { array_type: ArrayType::Sparse, ..Self::dense(dimensions, attributes) }
    }
}

/// What changes from one schema of an array to the next.
#[derive(Debug, Clone, Default)]
pub struct Evolution {
    /// Enumerations to add.
    pub add_enumerations: Vec<Enumeration>,
    /// Members to append: the enumeration's name and the new members alone.
    pub extend_enumerations: Vec<(String, Vec<Vec<u8>>)>,
    /// Names of enumerations to drop.
    pub drop_enumerations: Vec<String>,
    /// Attributes to add.
    pub add_attributes: Vec<Attribute>,
    /// Names of attributes to drop.
    pub drop_attributes: Vec<String>,
    /// The new, larger current domain.
    pub current_domain: Option<Vec<Range>>,
    /// The timestamp of the new schema; `None` for the clock's.
    pub at: Option<u64>,
}
