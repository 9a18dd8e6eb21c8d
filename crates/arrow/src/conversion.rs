//! The conversion of the fields of an array: made once, used for every batch.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use talavera::{Array, ArraySchema, CellValNum, Cells, Datatype, FieldBuffer, TIMESTAMPS_FIELD};

use crate::dictionary::{enumeration_values, key_type, to_dictionary};
use crate::shape::Shape;
use crate::{Error, cells, metadata};

/// What differs from the table of the crate's page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ArrowOptions {
    /// Text of variable length becomes LargeBinary; text of two and four bytes a character LargeList of UInt16 and UInt32.
    /// Nothing is checked or converted.
    pub strings_as_binary: bool,
    /// Enumerated attributes become the indices that are stored.
    pub enumerations_as_indices: bool,
    /// DATETIME_DAY becomes Int64: any date fits, and not-a-time is a number.
    pub days_as_integers: bool,
}

/// How the cells of some fields of an array become record batches.
///
/// Enumerations are read when it is made; after that it touches no storage, and batches of one conversion share their
/// dictionaries. Clones are cheap.
///
/// ```
/// use talavera_arrow::{ArrowOptions, Conversion};
///
/// let array = talavera::Array::open("tests/data/enumerations_sparse_evolved")?;
/// let conversion = Conversion::all(&array, &ArrowOptions::default())?;
/// assert_eq!(conversion.names().collect::<Vec<_>>(), ["x", "y", "a", "b"]);
/// assert_eq!(conversion.schema().field(2).data_type().to_string(), "Dictionary(UInt8, LargeUtf8)");
/// # Ok::<(), talavera_arrow::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Conversion {
    schema: SchemaRef,
    fields: Arc<[FieldConversion]>,
}

/// How the cells of one field become an Arrow array.
#[derive(Debug)]
struct FieldConversion {
    shape: Shape,
    /// The values of the enumeration, for attributes that become dictionaries.
    dictionary: Option<ArrayRef>,
}

/// A field as the array's schema has it.
struct ArrayField<'a> {
    role: &'static str,
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
    enumeration: Option<&'a str>,
}

/// The Arrow schema of these fields of an array: attributes, dimensions, and
/// [`TIMESTAMPS_FIELD`](talavera::TIMESTAMPS_FIELD) of sparse arrays.
///
/// # Errors
/// As [`Conversion::new`].
pub fn schema<S: AsRef<str>>(
    array: &Array,
    fields: impl IntoIterator<Item = S>,
    options: &ArrowOptions,
) -> Result<SchemaRef, Error> {
    Ok(Conversion::new(array, fields, options)?.schema)
}

/// A result of an array as one record batch. For several batches, make one [`Conversion`].
///
/// # Errors
/// As [`Conversion::new`] and [`Conversion::record_batch`].
pub fn record_batch(array: &Array, cells: Cells, options: &ArrowOptions) -> Result<RecordBatch, Error> {
    Conversion::new(array, cells.names(), options)?.record_batch(cells)
}

impl Conversion {
    /// The conversion of these fields: attributes, dimensions, and [`TIMESTAMPS_FIELD`](talavera::TIMESTAMPS_FIELD) of
    /// sparse arrays.
    ///
    /// # Errors
    /// [`Error::UnknownField`]; [`Error::Cells`] for cells of more than 2³¹ - 1 values; and when an enumeration cannot be
    /// read or converted.
    pub fn new<S: AsRef<str>>(array: &Array, fields: impl IntoIterator<Item = S>, options: &ArrowOptions) -> Result<Self, Error> {
        let converted = fields.into_iter().map(|name| FieldConversion::new(array, name.as_ref(), options));
        let (fields, conversions): (Vec<_>, Vec<_>) = converted.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Ok(Self { schema: Arc::new(Schema::new(fields)), fields: conversions.into() })
    }

    /// The conversion of what a read without named fields gives: all attributes and, of a sparse array, all dimensions
    /// before them.
    ///
    /// # Errors
    /// As [`Conversion::new`].
    pub fn all(array: &Array, options: &ArrowOptions) -> Result<Self, Error> {
        let schema = array.schema();
        let dimensions = schema.domain.dimensions.iter().filter(|_| !schema.is_dense()).map(|dimension| &dimension.name);
        Self::new(array, dimensions.chain(schema.attributes.iter().map(|attribute| &attribute.name)), options)
    }

    /// The Arrow schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The names of the fields, to ask a read for.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.schema.fields().iter().map(|field| field.name().as_str())
    }

    /// Cells as a record batch, which takes over their memory. The cells must have these fields in this order.
    ///
    /// # Errors
    /// [`Error::NotText`] and [`Error::DayRange`] for values that the Arrow type cannot hold; [`Error::UnknownField`] and
    /// [`Error::Cells`] for cells of other fields.
    pub fn record_batch(&self, cells: Cells) -> Result<RecordBatch, Error> {
        let rows = RecordBatchOptions::new().with_row_count(Some(cells.len()));
        let buffers = cells.into_fields();
        if buffers.len() != self.fields.len() {
            return Err(Error::Cells { field: String::new(), reason: "the cells have another number of fields" });
        }
        let convert = |((name, buffer), (field, conversion)): ((String, FieldBuffer), (&Arc<Field>, &FieldConversion))| {
            if name == *field.name() { conversion.convert(&name, buffer) } else { Err(Error::UnknownField { field: name }) }
        };
        let pairs = buffers.into_iter().zip(self.schema.fields().iter().zip(self.fields.iter()));
        let arrays = pairs.map(convert).collect::<Result<Vec<_>, _>>()?;
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &rows)?)
    }
}

impl FieldConversion {
    fn new(array: &Array, name: &str, options: &ArrowOptions) -> Result<(Field, Self), Error> {
        let of_array = ArrayField::named(array.schema(), name)?;
        let shape = Shape::new(of_array.datatype, of_array.cell_val_num, options);
        let shape = shape.ok_or_else(|| Error::cells(name, "a cell has more values than Arrow can count"))?;
        let mut metadata = of_array.metadata();
        let (mut data_type, mut ordered, mut dictionary) = (shape.data_type(), false, None);
        let mut nullable = of_array.nullable || shape.cell_may_be_missing();
        let key = key_type(&shape).filter(|_| !options.enumerations_as_indices);
        if let (Some(enumeration), Some(key)) = (of_array.enumeration, key) {
            let enumeration = array.enumeration(enumeration)?;
            let values = enumeration_values(&enumeration, options)?;
            data_type = DataType::Dictionary(Box::new(key), Box::new(values.data_type().clone()));
            metadata.insert(metadata::ENUMERATION_DATATYPE.to_owned(), enumeration.datatype().to_string());
            (ordered, nullable, dictionary) = (enumeration.ordered(), true, Some(values));
        }
        let field = Field::new(name, data_type, nullable).with_dict_is_ordered(ordered).with_metadata(metadata);
        Ok((field, Self { shape, dictionary }))
    }

    fn convert(&self, name: &str, buffer: FieldBuffer) -> Result<ArrayRef, Error> {
        if (buffer.datatype(), buffer.cell_val_num()) != (self.shape.datatype, self.shape.cell_val_num) {
            return Err(Error::cells(name, "the cells are not of the datatype that the conversion is for"));
        }
        match &self.dictionary {
            Some(values) => to_dictionary(name, buffer, values),
            None => cells::to_arrow(name, &self.shape, buffer),
        }
    }
}

impl<'a> ArrayField<'a> {
    /// The field that a read means by this name.
    fn named(schema: &'a ArraySchema, name: &str) -> Result<Self, Error> {
        if name == TIMESTAMPS_FIELD && !schema.is_dense() {
            let (datatype, cell_val_num) = (Datatype::UInt64, CellValNum::ONE);
            return Ok(Self { role: "timestamps", datatype, cell_val_num, nullable: false, enumeration: None });
        }
        if let Some((_, attribute)) = schema.attribute(name) {
            let (datatype, cell_val_num, nullable) = (attribute.datatype, attribute.cell_val_num, attribute.nullable);
            let enumeration = attribute.enumeration.as_deref();
            return Ok(Self { role: "attribute", datatype, cell_val_num, nullable, enumeration });
        }
        if let Some((_, dimension)) = schema.dimension(name) {
            let (datatype, cell_val_num) = (dimension.datatype, dimension.cell_val_num());
            return Ok(Self { role: "dimension", datatype, cell_val_num, nullable: false, enumeration: None });
        }
        Err(Error::UnknownField { field: name.to_owned() })
    }

    fn metadata(&self) -> HashMap<String, String> {
        let values = self.cell_val_num.fixed().map_or_else(|| "var".to_owned(), |values| values.to_string());
        let mut metadata = HashMap::from([
            (metadata::DATATYPE.to_owned(), self.datatype.to_string()),
            (metadata::CELL_VAL_NUM.to_owned(), values),
            (metadata::NULLABLE.to_owned(), self.nullable.to_string()),
            (metadata::ROLE.to_owned(), self.role.to_owned()),
        ]);
        if let Some(enumeration) = self.enumeration {
            metadata.insert(metadata::ENUMERATION.to_owned(), enumeration.to_owned());
        }
        metadata
    }
}
