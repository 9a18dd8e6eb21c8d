//! New schemas, with the reference's defaults (03-schema §1).

use talavera_filter::{FilterList, FilterSpec};
use talavera_types::{ArrayType, FormatVersion, Layout};

use crate::{
    ArraySchema, Attribute, Dimension, DimensionLabel, Domain, Enumeration, EnumerationReference, NdRange, Range, Rule,
    SchemaError, TileExtent, validate,
};

/// A schema in the making.
///
/// Unless told otherwise: the default format version, row-major tiles and cells, a capacity of 10000, coordinates and
/// offsets under ZSTD, validity under RLE.
#[derive(Debug, Clone)]
pub struct ArraySchemaBuilder {
    schema: ArraySchema,
    value_counts: Vec<usize>,
}

impl ArraySchema {
    /// Cells of a data tile unless told otherwise.
    pub const DEFAULT_CAPACITY: u64 = 10_000;

    /// Begins a new schema.
    #[must_use]
    pub fn builder(array_type: ArrayType) -> ArraySchemaBuilder {
        let zstd = FilterList::new(vec![FilterSpec::Zstd { level: -1 }]);
        let schema = Self {
            version: FormatVersion::DEFAULT,
            array_type,
            allows_dups: false,
            tile_order: Layout::RowMajor,
            cell_order: Layout::RowMajor,
            capacity: Self::DEFAULT_CAPACITY,
            coords_filters: zstd.clone(),
            offsets_filters: zstd,
            validity_filters: FilterList::new(vec![FilterSpec::Rle { level: -1 }]),
            domain: Domain { dimensions: Vec::new() },
            attributes: Vec::new(),
            labels: Vec::new(),
            enumerations: Vec::new(),
            current_domain: None,
        };
        ArraySchemaBuilder { schema, value_counts: Vec::new() }
    }
}

impl ArraySchemaBuilder {
    /// The format version to write.
    #[must_use]
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.schema.version = version;
        self
    }

    /// Whether several cells may have the same coordinates; sparse arrays only.
    #[must_use]
    pub fn allows_dups(mut self, allows_dups: bool) -> Self {
        self.schema.allows_dups = allows_dups;
        self
    }

    /// The order of space tiles, row-major or column-major.
    #[must_use]
    pub fn tile_order(mut self, tile_order: Layout) -> Self {
        self.schema.tile_order = tile_order;
        self
    }

    /// The order of cells in a tile: row-major, column-major, or Hilbert for sparse arrays.
    #[must_use]
    pub fn cell_order(mut self, cell_order: Layout) -> Self {
        self.schema.cell_order = cell_order;
        self
    }

    /// Cells of a data tile of a sparse fragment, at least 1.
    #[must_use]
    pub fn capacity(mut self, capacity: u64) -> Self {
        self.schema.capacity = capacity;
        self
    }

    /// The filters of dimensions that have none of their own.
    #[must_use]
    pub fn coords_filters(mut self, filters: FilterList) -> Self {
        self.schema.coords_filters = filters;
        self
    }

    /// The filters of offsets.
    #[must_use]
    pub fn offsets_filters(mut self, filters: FilterList) -> Self {
        self.schema.offsets_filters = filters;
        self
    }

    /// The filters of validity.
    #[must_use]
    pub fn validity_filters(mut self, filters: FilterList) -> Self {
        self.schema.validity_filters = filters;
        self
    }

    /// One more dimension.
    #[must_use]
    pub fn dimension(mut self, dimension: Dimension) -> Self {
        self.schema.domain.dimensions.push(dimension);
        self
    }

    /// One more attribute.
    #[must_use]
    pub fn attribute(mut self, attribute: Attribute) -> Self {
        self.schema.attributes.push(attribute);
        self
    }

    /// One more dimension label; its array has to be created beside.
    #[must_use]
    pub fn label(mut self, label: DimensionLabel) -> Self {
        self.schema.labels.push(label);
        self
    }

    /// One more enumeration; its file has to be written beside.
    #[must_use]
    pub fn enumeration(mut self, enumeration: &Enumeration) -> Self {
        self.schema.enumerations.push(EnumerationReference::to(enumeration));
        self.value_counts.push(enumeration.len());
        self
    }

    /// The part of the domain that cells may be in for now.
    #[must_use]
    pub fn current_domain(mut self, current_domain: NdRange) -> Self {
        self.schema.current_domain = Some(current_domain);
        self
    }

    /// The schema, once checked. Dimensions without a tile extent get the whole domain as one tile, except in Hilbert
    /// order.
    ///
    /// # Errors
    /// As [`ArraySchema::validate`]; also for attributes whose names start with `__`, and for attributes that cannot
    /// number the values of their enumeration.
    pub fn build(mut self) -> Result<ArraySchema, SchemaError> {
        if !self.schema.is_hilbert() {
            self.schema.domain.dimensions.iter_mut().for_each(fill_tile_extent);
        }
        self.schema.validate()?;
        for attribute in &self.schema.attributes {
            if attribute.name.starts_with("__") {
                return Err(Rule::ReservedName.broken_by(validate::attribute_field(attribute)));
            }
            for (enumeration, &count) in self.schema.enumerations.iter().zip(&self.value_counts) {
                if attribute.enumeration.as_ref() == Some(&enumeration.name) {
                    validate::enumeration_size(attribute, count)?;
                }
            }
        }
        Ok(self.schema)
    }
}

impl EnumerationReference {
    /// The reference to an enumeration.
    #[must_use]
    pub fn to(enumeration: &Enumeration) -> Self {
        Self { name: enumeration.name().to_owned(), file_name: enumeration.path_name().to_owned() }
    }
}

/// Makes the whole domain one tile. A domain too large for that is refused later, for its size.
fn fill_tile_extent(dimension: &mut Dimension) {
    let Some(domain) = &dimension.domain else { return };
    let width = match *domain {
        Range::Float32(low, high) => Some(TileExtent::Float32(high - low)),
        Range::Float64(low, high) => Some(TileExtent::Float64(high - low)),
        _ => domain.cell_count().map(TileExtent::Integer),
    };
    dimension.tile_extent = dimension.tile_extent.or(width);
}
