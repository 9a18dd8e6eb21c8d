//! The schema of an array from the schema of its data.

use std::num::NonZeroU32;

use arrow_array::new_empty_array;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use talavera::{
    ArrayBuilder, ArrayType, Attribute, CellValNum, Datatype, Dimension, Enumeration, FilterList, FilterSpec, Range, TileExtent,
};

use crate::input::{Target, is_time_of_cells, to_cells};
use crate::{Dictionaries, Error, metadata};

/// What an Arrow schema does not tell about an array.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Whether the array is dense or sparse.
    pub array_type: ArrayType,
    /// The dimensions, in order. Their columns become coordinates, all others attributes.
    pub dimensions: Vec<ImportDimension>,
    /// The filters of attributes.
    pub filters: Vec<FilterSpec>,
    /// The values of dictionaries. Columns with values here become enumerated attributes, other dictionaries attributes of
    /// their values.
    pub dictionaries: Dictionaries,
}

/// A dimension of a new array.
#[derive(Debug, Clone)]
pub struct ImportDimension {
    /// The name, that of a column for sparse arrays.
    pub name: String,
    /// The datatype; none for that of the column.
    pub datatype: Option<Datatype>,
    /// The domain; none for strings, and for all integers and dates that a domain can have.
    pub domain: Option<Range>,
    /// The tile extent; without one, the whole domain is one tile.
    pub tile_extent: Option<TileExtent>,
    /// The filters; those of coordinates if there are none.
    pub filters: Vec<FilterSpec>,
}

/// The columns of a schema as attributes, with their enumerations.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// An attribute for each column, without filters.
    pub attributes: Vec<Attribute>,
    /// The enumerations that they refer to.
    pub enumerations: Vec<Enumeration>,
}

/// The array that has a place for the columns of an Arrow schema, to be created or to be changed before.
///
/// A column has the datatype that its metadata name, if its type can hold that, as reading writes them (see
/// [`metadata`]), or else that of the table of the crate's page: text is STRING_UTF8, and STRING_ASCII as a dimension, bytes
/// are BLOB, dates of 32 bits are DATETIME_DAY and of 64 bits DATETIME_MS. Columns of the times of cells are left out.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use talavera::{ArrayType, Range};
/// use talavera_arrow::{ImportDimension, ImportOptions, schema_from_arrow};
///
/// let columns = Schema::new(vec![
///     Field::new("id", DataType::Utf8, false),
///     Field::new("day", DataType::Date32, false),
///     Field::new("rain", DataType::Float32, true),
/// ]);
/// let day = ImportDimension { domain: Some(Range::Signed(0, 99_999)), ..ImportDimension::new("day") };
/// let options = ImportOptions::new(ArrayType::Sparse, [ImportDimension::new("id"), day]);
/// let schema = schema_from_arrow(&columns, &options)?.with(|schema| schema.capacity(1000)).schema()?;
/// assert!(schema.attribute("rain").unwrap().1.nullable);
/// # Ok::<(), talavera_arrow::Error>(())
/// ```
///
/// # Errors
/// [`Error::UnsupportedType`] for columns that no field can have; [`Error::Dimension`] for dimensions that are no columns
/// of a sparse array, that lack a domain, or whose columns hold no single values.
pub fn schema_from_arrow(schema: &Schema, options: &ImportOptions) -> Result<ArrayBuilder, Error> {
    let mut builder = if options.array_type == ArrayType::Dense { ArrayBuilder::dense() } else { ArrayBuilder::sparse() };
    for dimension in &options.dimensions {
        builder = builder.add_dimension(dimension.make(schema, options.array_type)?);
    }
    let is_dimension = |field: &Field| options.dimensions.iter().any(|dimension| dimension.name == *field.name());
    let fields = schema.fields().iter().filter(|field| !is_dimension(field));
    let Attributes { attributes, enumerations } = Attributes::new(fields.map(AsRef::as_ref), &options.dictionaries)?;
    builder = enumerations.into_iter().fold(builder, ArrayBuilder::add_enumeration);
    for mut attribute in attributes {
        attribute.filters = FilterList::new(options.filters.clone());
        builder = builder.add_attribute(attribute);
    }
    Ok(builder)
}

impl ImportOptions {
    /// An array with these dimensions, without filters on attributes, and without enumerations.
    #[must_use]
    pub fn new(array_type: ArrayType, dimensions: impl IntoIterator<Item = ImportDimension>) -> Self {
        let dimensions = dimensions.into_iter().collect();
        Self { array_type, dimensions, filters: Vec::new(), dictionaries: Dictionaries::new() }
    }
}

impl Attributes {
    /// The attributes that these columns would be.
    ///
    /// # Errors
    /// [`Error::UnsupportedType`] for columns that no attribute can have; [`Error::Array`] when two columns name one
    /// enumeration and have different values.
    pub fn new<'f>(fields: impl IntoIterator<Item = &'f Field>, dictionaries: &Dictionaries) -> Result<Self, Error> {
        let mut made = Self::default();
        for field in fields.into_iter().filter(|field| !is_time_of_cells(field)) {
            made.add(field, dictionaries)?;
        }
        Ok(made)
    }

    fn add(&mut self, field: &Field, dictionaries: &Dictionaries) -> Result<(), Error> {
        let nullable = match field.metadata().get(metadata::NULLABLE).map(String::as_str) {
            Some("false") => false,
            Some("true") => true,
            _ => field.is_nullable(),
        };
        let mut attribute = match (field.data_type(), dictionaries.enumeration(field)?) {
            (DataType::Dictionary(key, _), Some(enumeration)) => {
                let attribute = Attribute::new(field.name(), index_type(field, key)?);
                let attribute = Attribute { enumeration: Some(enumeration.name().to_owned()), ..attribute };
                self.add_enumeration(field, enumeration)?;
                attribute
            }
            (DataType::Dictionary(_, values), None) => {
                let (datatype, cell_val_num) = value_type_of(field, values, metadata::ENUMERATION_DATATYPE)?;
                Attribute::with_cell_val_num(field.name(), datatype, cell_val_num)
            }
            (data_type, _) => {
                let (datatype, cell_val_num) = value_type_of(field, data_type, metadata::DATATYPE)?;
                Attribute::with_cell_val_num(field.name(), datatype, cell_val_num)
            }
        };
        attribute.nullable = nullable;
        self.attributes.push(attribute);
        Ok(())
    }

    fn add_enumeration(&mut self, field: &Field, new: Enumeration) -> Result<(), Error> {
        match self.enumerations.iter().find(|known| known.name() == new.name()) {
            None => self.enumerations.push(new),
            Some(known) if known.values().eq(new.values()) && known.datatype() == new.datatype() => {}
            Some(_) => return Err(Error::cells(field.name(), "another column has other values for its enumeration")),
        }
        Ok(())
    }
}

impl ImportDimension {
    /// A dimension with the datatype of its column.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), datatype: None, domain: None, tile_extent: None, filters: Vec::new() }
    }

    /// The datatype of the dimension with the column of this field.
    ///
    /// # Errors
    /// As [`schema_from_arrow`].
    pub fn datatype_of(&self, field: &Field) -> Result<Datatype, Error> {
        let data_type = match field.data_type() {
            DataType::Dictionary(_, values) => values,
            data_type => data_type,
        };
        if data_type.is_string() {
            return Ok(Datatype::StringAscii);
        }
        match value_type_of(field, data_type, metadata::DATATYPE)? {
            (datatype, CellValNum::ONE) if datatype.is_dimension_type() => Ok(datatype),
            (Datatype::StringAscii, CellValNum::Var) => Ok(Datatype::StringAscii),
            _ => Err(self.refused("has a column that does not hold one number, date or string in a cell")),
        }
    }

    fn make(&self, schema: &Schema, array_type: ArrayType) -> Result<Dimension, Error> {
        let column = schema.fields().iter().find(|field| *field.name() == self.name);
        let datatype = match (self.datatype, column) {
            (_, None) if array_type == ArrayType::Sparse => return Err(self.refused("has no column")),
            (Some(datatype), _) => datatype,
            (None, Some(field)) => self.datatype_of(field)?,
            (None, None) => return Err(self.refused("has neither a column nor a datatype")),
        };
        let filters = FilterList::new(self.filters.clone());
        if datatype == Datatype::StringAscii {
            return Ok(Dimension { filters, ..Dimension::string(&self.name) });
        }
        let (domain, tile_extent) = match &self.domain {
            Some(domain) => (domain.clone(), self.tile_extent),
            None if array_type == ArrayType::Sparse => self.largest_domain(datatype)?,
            None => return Err(self.refused("needs a domain")),
        };
        Ok(Dimension { filters, ..Dimension::new(&self.name, datatype, domain, tile_extent) })
    }

    /// All integers but those that the last tile needs, and not-a-time.
    fn largest_domain(&self, datatype: Datatype) -> Result<(Range, Option<TileExtent>), Error> {
        let bits = u32::try_from(datatype.size() * 8).unwrap_or(u64::BITS);
        let extent = match self.tile_extent {
            Some(TileExtent::Integer(extent)) => extent,
            None if bits == 8 => 16,
            None => 10_000,
            Some(_) => return Err(self.refused("has a tile extent that is not of its datatype")),
        };
        let is_unsigned = matches!(datatype, Datatype::UInt8 | Datatype::UInt16 | Datatype::UInt32 | Datatype::UInt64);
        let domain = if datatype.is_float() {
            None
        } else if is_unsigned {
            (u64::MAX >> (u64::BITS - bits)).checked_sub(extent).map(|high| Range::Unsigned(0, high))
        } else {
            let high = i64::MAX >> (u64::BITS - bits);
            let end = i64::try_from(extent).ok().and_then(|extent| high.checked_sub(extent));
            end.map(|end| Range::Signed(-high, end))
        };
        let domain = domain.ok_or_else(|| self.refused("needs a domain"))?;
        Ok((domain, Some(TileExtent::Integer(extent))))
    }

    #[cold]
    fn refused(&self, reason: &'static str) -> Error {
        Error::Dimension { dimension: self.name.clone(), reason }
    }
}

/// The datatype of indices with keys of this type.
fn index_type(field: &Field, key: &DataType) -> Result<Datatype, Error> {
    let (datatype, _) = value_type_of(field, key, metadata::DATATYPE)?;
    Ok(datatype)
}

/// The datatype of cells of an Arrow type, and how many values they have: what the field's metadata say under `key`, if
/// such a column can become that; or else what the type is.
pub(crate) fn value_type_of(field: &Field, data_type: &DataType, key: &str) -> Result<(Datatype, CellValNum), Error> {
    let plain = plain_type(data_type);
    let told = field.metadata().get(key).and_then(|name| Datatype::from_name(name));
    let is_list = matches!(data_type, DataType::List(_) | DataType::LargeList(_));
    let values = match field.metadata().get(metadata::CELL_VAL_NUM).filter(|_| key == metadata::DATATYPE).map(String::as_str) {
        Some("var") => Some(CellValNum::Var),
        Some(values) => values.parse().ok().map(CellValNum::Fixed),
        None => None,
    };
    if let Some(datatype) = told {
        let plain_values = plain.map(|(_, values)| values);
        for cell_val_num in values.into_iter().chain(plain_values).chain(is_list.then_some(CellValNum::Var)) {
            let target = Target::of_values(field.name(), datatype, cell_val_num);
            if to_cells(&target, &new_empty_array(data_type)).is_ok() {
                return Ok((datatype, cell_val_num));
            }
        }
    }
    plain.ok_or_else(|| Error::UnsupportedType { field: field.name().clone(), data_type: data_type.to_string() })
}

/// What cells of an Arrow type are when nobody says more.
fn plain_type(data_type: &DataType) -> Option<(Datatype, CellValNum)> {
    use Datatype as D;
    let single = match data_type {
        DataType::Boolean => D::Bool,
        DataType::Int8 => D::Int8,
        DataType::Int16 => D::Int16,
        DataType::Int32 => D::Int32,
        DataType::Int64 => D::Int64,
        DataType::UInt8 => D::UInt8,
        DataType::UInt16 => D::UInt16,
        DataType::UInt32 => D::UInt32,
        DataType::UInt64 => D::UInt64,
        DataType::Float32 => D::Float32,
        DataType::Float64 => D::Float64,
        DataType::Date32 => D::DateTimeDay,
        DataType::Date64 | DataType::Timestamp(TimeUnit::Millisecond, _) => D::DateTimeMs,
        DataType::Timestamp(TimeUnit::Second, _) => D::DateTimeSec,
        DataType::Timestamp(TimeUnit::Microsecond, _) => D::DateTimeUs,
        DataType::Timestamp(TimeUnit::Nanosecond, _) => D::DateTimeNs,
        DataType::Time32(TimeUnit::Second) | DataType::Duration(TimeUnit::Second) => D::TimeSec,
        DataType::Time32(TimeUnit::Millisecond) | DataType::Duration(TimeUnit::Millisecond) => D::TimeMs,
        DataType::Time64(TimeUnit::Microsecond) | DataType::Duration(TimeUnit::Microsecond) => D::TimeUs,
        DataType::Time64(TimeUnit::Nanosecond) | DataType::Duration(TimeUnit::Nanosecond) => D::TimeNs,
        DataType::FixedSizeBinary(bytes) => return Some((D::Blob, fixed(*bytes)?)),
        data_type if data_type.is_string() => return Some((D::StringUtf8, CellValNum::Var)),
        data_type if data_type.is_binary() => return Some((D::Blob, CellValNum::Var)),
        DataType::FixedSizeList(item, values) => return Some((item_type(item)?, fixed(*values)?)),
        DataType::List(item) | DataType::LargeList(item) => return Some((item_type(item)?, CellValNum::Var)),
        _ => return None,
    };
    Some((single, CellValNum::ONE))
}

fn fixed(values: i32) -> Option<CellValNum> {
    NonZeroU32::new(u32::try_from(values).ok()?).map(CellValNum::Fixed)
}

/// The datatype of the values in a list, which must be single.
fn item_type(item: &Field) -> Option<Datatype> {
    plain_type(item.data_type()).filter(|(_, values)| *values == CellValNum::ONE).map(|(datatype, _)| datatype)
}
