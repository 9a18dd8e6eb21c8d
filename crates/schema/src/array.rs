//! The array schema (array schema, "Array Schema"; 03-schema §1).

use talavera_codec::{DecodeError, DecodeErrorKind, Limits, Reader, Writer};
use talavera_filter::FilterList;
use talavera_types::{ArrayType, FormatVersion, Layout};

use crate::{Attribute, Dimension, DimensionLabel, Domain, NdRange, Rule, current_domain};

/// The schema of an array: the payload of a schema file's generic tile.
///
/// A schema does not store its own name and timestamp; they are in the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct ArraySchema {
    /// The format version, which decides the layout of everything else.
    pub version: FormatVersion,
    /// Whether every cell of the domain has a value, or only those written.
    pub array_type: ArrayType,
    /// Whether a sparse array may hold several cells with the same coordinates.
    pub allows_dups: bool,
    /// The order of space tiles.
    pub tile_order: Layout,
    /// The order of cells in a tile.
    pub cell_order: Layout,
    /// Cells of a data tile of a sparse fragment.
    pub capacity: u64,
    /// The filters of dimensions without filters of their own, and of the times of cells.
    pub coords_filters: FilterList,
    /// The filters of offsets.
    pub offsets_filters: FilterList,
    /// The filters of validity.
    pub validity_filters: FilterList,
    /// The dimensions.
    pub domain: Domain,
    /// The attributes; their order is that of field indices.
    pub attributes: Vec<Attribute>,
    /// The labels of dimensions.
    pub labels: Vec<DimensionLabel>,
    /// The enumerations that attributes refer to, in no particular order.
    pub enumerations: Vec<EnumerationReference>,
    /// The part of the domain that cells may be in, if it is not all.
    pub current_domain: Option<NdRange>,
}

/// Which file holds an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumerationReference {
    /// The name by which attributes refer to the enumeration.
    pub name: String,
    /// The name of the file in `__schema/__enumerations`.
    pub file_name: String,
}

/// A field of an array by its index among its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// An index into [`ArraySchema::attributes`].
    Attribute(usize),
    /// An index into [`Domain::dimensions`].
    Dimension(usize),
}

impl ArraySchema {
    /// The attribute with this name, and its index; the first, should there be several.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<(usize, &Attribute)> {
        self.attributes.iter().enumerate().find(|(_, attribute)| attribute.name == name)
    }

    /// The dimension with this name, and its index.
    #[must_use]
    pub fn dimension(&self, name: &str) -> Option<(usize, &Dimension)> {
        self.domain.dimension(name)
    }

    /// The attribute or dimension with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Field> {
        let attribute = self.attribute(name).map(|(index, _)| Field::Attribute(index));
        attribute.or_else(|| self.dimension(name).map(|(index, _)| Field::Dimension(index)))
    }

    /// The label with this name.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&DimensionLabel> {
        self.labels.iter().find(|label| label.name == name)
    }

    /// The file of the enumeration with this name.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&EnumerationReference> {
        self.enumerations.iter().find(|enumeration| enumeration.name == name)
    }

    /// The filters of a dimension's coordinates: its own, or the coordinates' if it has none. `None` if there is no
    /// such dimension.
    ///
    /// A dimension is stored unfiltered beside filtered ones by a list of the one filter
    /// [`FilterSpec::None`](talavera_filter::FilterSpec::None).
    ///
    /// A schema of a version that zips coordinates lends its dimensions nothing: later libraries, adding fragments with a
    /// file for each dimension to such an array, leave those files unfiltered.
    #[must_use]
    pub fn dimension_filters(&self, dimension: usize) -> Option<&FilterList> {
        let own = &self.domain.dimensions.get(dimension)?.filters;
        let inherits = own.is_empty() && self.version.has_dimension_fields();
        Some(if inherits { &self.coords_filters } else { own })
    }

    /// Whether the array is dense.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.array_type == ArrayType::Dense
    }

    /// Whether cells are in Hilbert order.
    #[must_use]
    pub fn is_hilbert(&self) -> bool {
        self.cell_order == Layout::Hilbert
    }

    /// Reads a schema, all of `payload`.
    ///
    /// Everything that arithmetic on the schema relies on is checked, and nothing that a library has written is
    /// refused; [`ArraySchema::validate`] checks the stricter rules for new schemas.
    ///
    /// # Errors
    /// A [`DecodeError`] with the field and its place for damaged bytes, unsupported versions and unusable schemas.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let version = FormatVersion::decode(&mut r, "array schema version")?;
        let allows_dups = if version.has_allows_dups() { r.bool("allows duplicates")? } else { false };
        let array_type = ArrayType::decode(&mut r, "array type")?;
        let tile_order = decode_tile_order(&mut r)?;
        let cell_order = Layout::decode(&mut r, "cell order")?;
        let capacity = decode_capacity(&mut r)?;
        let coords_filters = FilterList::decode(&mut r)?;
        let offsets_filters = FilterList::decode(&mut r)?;
        let validity_filters = if version.has_validity() { FilterList::decode(&mut r)? } else { FilterList::new(Vec::new()) };
        let domain = Domain::decode(&mut r, version)?;
        let attributes = decode_attributes(&mut r, version)?;
        let labels = if version.has_dimension_labels() { decode_labels(&mut r, &domain)? } else { Vec::new() };
        let enumerations = if version.has_enumerations() { decode_enumerations(&mut r)? } else { Vec::new() };
        let current_domain = if version.has_current_domain() { current_domain::decode(&mut r, &domain)? } else { None };
        r.finish("array schema")?;
        let schema = Self {
            version,
            array_type,
            allows_dups,
            tile_order,
            cell_order,
            capacity,
            coords_filters,
            offsets_filters,
            validity_filters,
            domain,
            attributes,
            labels,
            enumerations,
            current_domain,
        };
        schema.check_loaded().map_err(|rule| DecodeErrorKind::Refused { reason: rule.to_string() }.at("array schema", 0))?;
        Ok(schema)
    }

    /// Writes the schema in the layout of its own version. What that version cannot store is left out;
    /// [`ArraySchema::validate`] finds it.
    pub fn encode(&self, w: &mut Writer) {
        let version = self.version;
        version.encode(w);
        if version.has_allows_dups() {
            w.bool(self.allows_dups);
        }
        self.array_type.encode(w);
        self.tile_order.encode(w);
        self.cell_order.encode(w);
        w.u64(self.capacity);
        self.coords_filters.encode(w, version);
        self.offsets_filters.encode(w, version);
        if version.has_validity() {
            self.validity_filters.encode(w, version);
        }
        self.domain.encode(w, version);
        w.len_u32(self.attributes.len());
        for attribute in &self.attributes {
            attribute.encode(w, version);
        }
        if version.has_dimension_labels() {
            w.len_u32(self.labels.len());
            for label in &self.labels {
                label.encode(w);
            }
        }
        if version.has_enumerations() {
            w.len_u32(self.enumerations.len());
            for enumeration in &self.enumerations {
                enumeration.encode(w);
            }
        }
        if version.has_current_domain() {
            current_domain::encode(self.current_domain.as_ref(), w, &self.domain);
        }
    }

    /// The rules that tie fields together and that reading relies on (03-schema §12).
    fn check_loaded(&self) -> Result<(), Rule> {
        let dimensions = &self.domain.dimensions;
        if self.is_hilbert() && self.is_dense() {
            return Err(Rule::DenseHilbert);
        }
        if self.is_hilbert() && dimensions.len() > crate::hilbert::MAX_DIMENSIONS {
            return Err(Rule::HilbertDimensions);
        }
        if self.is_dense() && dimensions.iter().any(|dimension| dimension.is_var() || dimension.datatype.is_float()) {
            return Err(Rule::DenseDimensions);
        }
        if self.is_dense() && self.attributes.is_empty() {
            return Err(Rule::DenseWithoutAttributes);
        }
        Ok(())
    }
}

impl EnumerationReference {
    /// The lengths of both names.
    const MIN_BYTES: u64 = 8;

    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let name = r.string_u32("enumeration name")?;
        let file_name = r.string_u32("enumeration file name")?;
        Ok(Self { name, file_name })
    }

    fn encode(&self, w: &mut Writer) {
        w.string_u32(&self.name);
        w.string_u32(&self.file_name);
    }
}

fn decode_tile_order(r: &mut Reader<'_>) -> Result<Layout, DecodeError> {
    let before = r.clone();
    match Layout::decode(r, "tile order")? {
        order @ (Layout::RowMajor | Layout::ColMajor) => Ok(order),
        order => Err(before.invalid("tile order", order.code().into(), "row-major (0) or col-major (1)")),
    }
}

/// Cells are cut into tiles by division by the capacity.
fn decode_capacity(r: &mut Reader<'_>) -> Result<u64, DecodeError> {
    let before = r.clone();
    match r.u64("capacity")? {
        0 => Err(before.invalid("capacity", 0, "a number of cells")),
        capacity => Ok(capacity),
    }
}

fn decode_attributes(r: &mut Reader<'_>, version: FormatVersion) -> Result<Vec<Attribute>, DecodeError> {
    let limits = Limits::new(Attribute::MAX_DEFAULT_FILL_BYTES);
    let count = r.count_u32("attribute count", Attribute::MIN_BYTES)?;
    (0..count).map(|_| Attribute::decode(r, version, &limits)).collect()
}

fn decode_labels(r: &mut Reader<'_>, domain: &Domain) -> Result<Vec<DimensionLabel>, DecodeError> {
    let count = r.count_u32("label count", DimensionLabel::MIN_BYTES)?;
    (0..count).map(|_| DimensionLabel::decode(r, domain.dimensions.len())).collect()
}

fn decode_enumerations(r: &mut Reader<'_>) -> Result<Vec<EnumerationReference>, DecodeError> {
    let count = r.count_u32("enumeration count", EnumerationReference::MIN_BYTES)?;
    (0..count).map(|_| EnumerationReference::decode(r)).collect()
}
