//! Why a schema, or a use of it, is refused (22-semantics §11).

use talavera_filter::FilterError;
use talavera_types::{Datatype, FormatVersion};

/// Why a schema, or a use of one, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A part of a schema breaks a rule of the format.
    #[error("{field}: {rule}")]
    Invalid {
        /// The part, with its name: `attribute "a"`.
        field: String,
        /// The rule that it breaks.
        rule: Rule,
    },
    /// A part of a schema that its format version cannot store.
    #[error("{field}: format version {version} cannot store it")]
    Unsupported {
        /// The part, with its name.
        field: String,
        /// The format version of the schema.
        version: FormatVersion,
    },
    /// Something was asked for by a name that the schema does not have.
    #[error("{field}: not in the schema")]
    NotFound {
        /// What was asked for, with its name.
        field: String,
    },
    /// Cells outside the domain.
    #[error("{field}: the range is not in the domain")]
    OutOfDomain {
        /// The dimension, with its name.
        field: String,
    },
    /// A number of cells or tiles that 64 bits cannot hold.
    #[error("{field}: more than 64 bits can count")]
    Overflow {
        /// What was counted.
        field: String,
    },
}

/// A rule that schemas keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A domain has at least one dimension.
    #[error("a domain has at least one dimension")]
    NoDimensions,
    /// Dimensions are integers, floats, dates, times or STRING_ASCII.
    #[error("a dimension cannot be {0}")]
    DimensionDatatype(Datatype),
    /// All but string dimensions have a domain, of their datatype.
    #[error("a dimension of {0} needs a domain of this datatype")]
    DomainDatatype(Datatype),
    /// String dimensions have neither domain nor tile extent.
    #[error("a string dimension has neither domain nor tile extent")]
    StringDomain,
    /// A domain's low end is at most its high end, and neither is NaN.
    #[error("the low end of the domain is above its high end")]
    DomainReversed,
    /// Floating-point domains end in finite numbers.
    #[error("the domain is not finite")]
    DomainInfinite,
    /// An integer domain leaves out at least one value of its type.
    #[error("the domain is the full range of its datatype")]
    DomainFull,
    /// A tile extent has the datatype of its dimension.
    #[error("the tile extent is not of the dimension's datatype")]
    TileExtentDatatype,
    /// A tile extent is positive and at most as large as the domain.
    #[error("the tile extent is not within 1 and the size of the domain")]
    TileExtentSize,
    /// The high end of the last tile is a value of the datatype.
    #[error("the last tile ends above the largest value of the datatype")]
    LastTile,
    /// Dense arrays have tile extents.
    #[error("a dimension of a dense array needs a tile extent")]
    DenseTileExtent,
    /// Dimensions of dense arrays are integers, dates or times, all of one type.
    #[error("dimensions of a dense array are integers, dates or times, all of one type")]
    DenseDimensions,
    /// Dense arrays have at least one attribute.
    #[error("a dense array has at least one attribute")]
    DenseWithoutAttributes,
    /// Dense arrays hold each cell once.
    #[error("a dense array cannot allow duplicates")]
    DenseDuplicates,
    /// The Hilbert order is for sparse arrays.
    #[error("only sparse arrays have Hilbert order")]
    DenseHilbert,
    /// The Hilbert order takes at most sixteen dimensions.
    #[error("Hilbert order takes at most 16 dimensions")]
    HilbertDimensions,
    /// Tiles are in row-major or column-major order.
    #[error("tile order is row-major or col-major")]
    TileOrder,
    /// Cells are in row-major, column-major or Hilbert order.
    #[error("cell order is row-major, col-major or hilbert")]
    CellOrder,
    /// A data tile holds at least one cell.
    #[error("capacity is at least 1")]
    Capacity,
    /// Attributes, dimensions and labels have names of their own.
    #[error("the name is taken")]
    DuplicateName,
    /// Names of new attributes do not start with two underscores.
    #[error("names that start with `__` are reserved")]
    ReservedName,
    /// Cells of ANY are of variable length.
    #[error("cells of ANY are of variable length")]
    AnyIsVar,
    /// A fill value is one cell; for variable-length cells, at least one byte.
    #[error("a fill value has {expected} bytes, not {found}")]
    FillSize {
        /// Bytes of the fill value.
        found: usize,
        /// Bytes of a cell; 1, the least, for variable-length cells.
        expected: usize,
    },
    /// Ordered attributes are in dense arrays of one dimension, not nullable, and of one value or string in a cell.
    #[error("an ordered attribute is of a dense array of one dimension, not nullable and one value or string a cell")]
    OrderedAttribute,
    /// A dimension label labels a dimension of the array.
    #[error("the label's dimension does not exist")]
    LabelDimension,
    /// A dimension label is increasing or decreasing.
    #[error("a label is increasing or decreasing")]
    LabelOrder,
    /// Attributes refer to enumerations of the schema.
    #[error("the enumeration is not in the schema")]
    EnumerationUnknown,
    /// Attributes with an enumeration hold one integer in a cell.
    #[error("an attribute with an enumeration holds one integer in a cell")]
    EnumerationDatatype,
    /// The largest value of an attribute's type is above the number of values of its enumeration.
    #[error("the attribute's datatype cannot number {0} values")]
    EnumerationTooLarge(usize),
    /// An enumeration in use cannot be dropped.
    #[error("an attribute uses the enumeration")]
    EnumerationInUse,
    /// The values of an enumeration differ from one another.
    #[error("a value occurs twice")]
    EnumerationDuplicate,
    /// The data and offsets of an enumeration agree with its cells.
    #[error("data and offsets do not cut into values")]
    EnumerationShape,
    /// An extension starts with all that was there before and adds at least one value.
    #[error("is not an extension")]
    EnumerationExtension,
    /// A current domain has one range for each dimension.
    #[error("the current domain needs one valid range of its datatype for each dimension")]
    CurrentDomainRanges,
    /// A current domain lies in the domain.
    #[error("the current domain is not in the domain")]
    CurrentDomainOutside,
    /// A current domain only grows.
    #[error("the current domain can only grow")]
    CurrentDomainShrinks,
    /// RLE and DICTIONARY of strings come first.
    #[error("RLE and DICTIONARY of strings come first in a filter list")]
    StringFilterFirst,
    /// WEBP takes UINT8 attributes of dense arrays of two dimensions.
    #[error("WEBP takes UINT8 attributes of dense arrays of two dimensions")]
    Webp,
    /// A filter refuses what comes to it.
    #[error(transparent)]
    Filter(#[from] FilterError),
}

impl Rule {
    /// The rule as broken by `field`.
    #[cold]
    pub(crate) fn broken_by(self, field: impl Into<String>) -> SchemaError {
        SchemaError::Invalid { field: field.into(), rule: self }
    }
}
