//! New arrays, field by field.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use talavera_schema::{
    ArraySchema, ArraySchemaBuilder, Attribute, Coordinate, Dimension, Enumeration, FilterList, FilterSpec, Range, TileExtent,
};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::{ArrayType, Datatype};

use crate::{Array, CreateOptions, Error, Value};

/// A new array: fields with the types of Rust values, then [`ArrayBuilder::create`].
///
/// It puts together an [`ArraySchemaBuilder`], which has the defaults and [`ArrayBuilder::with`] the rest.
///
/// ```
/// use talavera::{ArrayBuilder, CellValNum, Datatype, FilterSpec, enumeration};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// let kinds = enumeration("kinds", Datatype::StringUtf8, CellValNum::Var, false, ["oak", "elm"])?;
/// let array = ArrayBuilder::sparse()
///     .dimension("x", -180.0..=180.0, 10.0)
///     .dimension("y", -90.0..=90.0, 10.0)
///     .attribute::<f32>("height")
///     .filters([FilterSpec::Byteshuffle, FilterSpec::Zstd { level: 5 }])
///     .enumerated_attribute::<u8>("kind", kinds)
///     .string_attribute("note")
///     .with(|schema| schema.allows_dups(true).capacity(1000))
///     .create(&path)?;
/// assert_eq!(array.schema().attributes[1].enumeration.as_deref(), Some("kinds"));
/// assert_eq!(array.enumeration("kinds")?.len(), 2);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until the array is created"]
pub struct ArrayBuilder {
    schema: ArraySchemaBuilder,
    /// The field added last, which may still get filters.
    last: Option<Part>,
    options: CreateOptions,
}

#[derive(Debug, Clone)]
enum Part {
    Dimension(Dimension),
    Attribute(Attribute),
}

impl ArrayBuilder {
    /// An array with a value for every cell of its domain.
    pub fn dense() -> Self {
        Self::new(ArrayType::Dense)
    }

    /// An array of those cells that are written.
    pub fn sparse() -> Self {
        Self::new(ArrayType::Sparse)
    }

    fn new(array_type: ArrayType) -> Self {
        Self { schema: ArraySchema::builder(array_type), last: None, options: CreateOptions::new() }
    }

    /// Adds a dimension of numbers, with all values it can have and the width of a space tile.
    pub fn dimension<T: Value>(self, name: impl Into<String>, domain: RangeInclusive<T>, tile_extent: T) -> Self {
        let (low, high) = domain.into_inner();
        // What cannot be a domain or an extent is a dimension that the schema refuses, with its name.
        let domain = range(low, high).unwrap_or(Range::Signed(1, 0));
        self.add_dimension(Dimension::new(name, T::DATATYPE, domain, Some(extent(tile_extent))))
    }

    /// Adds a dimension of strings, for sparse arrays.
    pub fn string_dimension(self, name: impl Into<String>) -> Self {
        self.add_dimension(Dimension::string(name))
    }

    /// Adds any dimension: dates, for example.
    pub fn add_dimension(self, dimension: Dimension) -> Self {
        self.add(Part::Dimension(dimension))
    }

    /// Adds an attribute with one number in a cell.
    pub fn attribute<T: Value>(self, name: impl Into<String>) -> Self {
        self.add_attribute(Attribute::new(name, T::DATATYPE))
    }

    /// Adds an attribute with one number in a cell, or a null.
    pub fn nullable_attribute<T: Value>(self, name: impl Into<String>) -> Self {
        self.add_attribute(Attribute { nullable: true, ..Attribute::new(name, T::DATATYPE) })
    }

    /// Adds an attribute of UTF-8 text of any length.
    pub fn string_attribute(self, name: impl Into<String>) -> Self {
        self.add_attribute(Attribute::var(name, Datatype::StringUtf8))
    }

    /// Adds an attribute whose cells are the indices of values of an enumeration, and the enumeration.
    pub fn enumerated_attribute<T: Value>(self, name: impl Into<String>, enumeration: Enumeration) -> Self {
        let attribute = Attribute::new(name, T::DATATYPE);
        let attribute = Attribute { enumeration: Some(enumeration.name().to_owned()), ..attribute };
        self.add_enumeration(enumeration).add_attribute(attribute)
    }

    /// Adds any attribute.
    pub fn add_attribute(self, attribute: Attribute) -> Self {
        self.add(Part::Attribute(attribute))
    }

    /// Adds an enumeration.
    pub fn add_enumeration(mut self, enumeration: Enumeration) -> Self {
        self.schema = self.schema.enumeration(&enumeration);
        self.options = self.options.enumeration(enumeration);
        self
    }

    /// The filters of the dimension or attribute added last.
    pub fn filters(mut self, filters: impl IntoIterator<Item = FilterSpec>) -> Self {
        let filters = FilterList::new(filters.into_iter().collect());
        match &mut self.last {
            Some(Part::Dimension(dimension)) => dimension.filters = filters,
            Some(Part::Attribute(attribute)) => attribute.filters = filters,
            None => {}
        }
        self
    }

    /// Sets what the array as a whole has: orders, capacity, the filters of offsets, the format version.
    pub fn with(mut self, change: impl FnOnce(ArraySchemaBuilder) -> ArraySchemaBuilder) -> Self {
        self.schema = change(self.schema);
        self
    }

    /// Sets the key and the time of the array. Enumerations that the options hold are added to those of the builder.
    pub fn options(mut self, options: CreateOptions) -> Self {
        self.options = self.options.and(options);
        self
    }

    /// The schema, once checked.
    ///
    /// # Errors
    /// When it breaks a rule.
    pub fn schema(self) -> Result<ArraySchema, Error> {
        Ok(self.finish().0.build()?)
    }

    /// Creates the array in a local folder, given as a path or as a `file://` URI, and opens it.
    ///
    /// # Errors
    /// As [`CreateOptions::create`].
    pub fn create(self, path: impl AsRef<Path>) -> Result<Array, Error> {
        let (schema, options) = self.finish();
        options.create(path, &schema.build()?)
    }

    /// Creates the array at `root` in any storage, and opens it.
    ///
    /// # Errors
    /// As [`CreateOptions::create`].
    pub fn create_in(self, storage: Arc<dyn Storage>, root: ObjectPath) -> Result<Array, Error> {
        let (schema, options) = self.finish();
        options.create_in(storage, root, &schema.build()?)
    }

    fn add(mut self, part: Part) -> Self {
        self.push_last();
        self.last = Some(part);
        self
    }

    fn push_last(&mut self) {
        let schema = self.schema.clone();
        self.schema = match self.last.take() {
            Some(Part::Dimension(dimension)) => schema.dimension(dimension),
            Some(Part::Attribute(attribute)) => schema.attribute(attribute),
            None => schema,
        };
    }

    fn finish(mut self) -> (ArraySchemaBuilder, CreateOptions) {
        self.push_last();
        (self.schema, self.options)
    }
}

/// The range between two numbers.
fn range<T: Value>(low: T, high: T) -> Option<Range> {
    let (low, high) = (T::to_cell_bytes(&[low]), T::to_cell_bytes(&[high]));
    Range::new(Coordinate::from_le_bytes(T::DATATYPE, &low)?, Coordinate::from_le_bytes(T::DATATYPE, &high)?)
}

/// The extent of so many values. What is not positive is 0, which every schema refuses.
fn extent<T: Value>(width: T) -> TileExtent {
    let bytes = T::to_cell_bytes(&[width]);
    match Coordinate::from_le_bytes(T::DATATYPE, &bytes) {
        Some(Coordinate::Float32(width)) => TileExtent::Float32(width),
        Some(Coordinate::Float64(width)) => TileExtent::Float64(width),
        Some(Coordinate::Signed(width)) => TileExtent::Integer(u64::try_from(width).unwrap_or(0)),
        Some(Coordinate::Unsigned(width)) => TileExtent::Integer(width),
        _ => TileExtent::Integer(0),
    }
}
