//! Which cells and fields to read: the arguments that `read` and `scan` share, checked against an array.

use std::sync::Arc;

use talavera::{Array, ArraySchema, Enumeration, Field, FieldBuffer, Order, QueryCondition, Range, Read, ReadPart};

use crate::args::{OrderArg, SelectionArgs};
use crate::error::Error;
use crate::value::Shape;
use crate::{condition, range};

/// Cells and fields of an array, in an order.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// The ranges asked for, for each dimension.
    pub(crate) ranges: Vec<Vec<Range>>,
    /// What the cells have to fulfil.
    pub(crate) condition: Option<QueryCondition>,
    /// The fields to read, in order.
    pub(crate) fields: Vec<FieldView>,
    /// The order asked for.
    pub(crate) order: Option<OrderArg>,
    /// The memory that the read may take, in bytes, where a limit was given.
    pub(crate) memory: Option<u64>,
    /// The most cells of a batch, where that was given.
    pub(crate) batch_rows: Option<usize>,
    /// The part that says which cells, if one does.
    pub(crate) part: Option<Arc<ReadPart>>,
}

/// The memory for reads that come as a whole, unless another limit was asked for.
const WHOLE_BYTES: u64 = 8 << 30;

/// A field to be shown.
#[derive(Debug, Clone)]
pub(crate) struct FieldView {
    /// Its name.
    pub(crate) name: String,
    /// Whether it is a dimension.
    pub(crate) is_dimension: bool,
    /// The values that its cells stand for, where these are to be shown.
    pub(crate) enumeration: Option<Arc<Enumeration>>,
}

/// The cells of a field, and how to show them.
#[derive(Clone, Copy)]
pub(crate) struct FieldCells<'a> {
    buffer: &'a FieldBuffer,
    shape: Shape,
    enumeration: Option<&'a Enumeration>,
}

impl Selection {
    /// What the arguments ask of the array. Without --fields these are its attributes, behind its dimensions if
    /// `with_coords`.
    ///
    /// # Errors
    /// [`Error::Usage`] for names and values that do not fit the array.
    pub(crate) fn new(args: &SelectionArgs, array: &Array, with_coords: bool) -> Result<Self, Error> {
        let schema = array.schema();
        let ranges = range::of_arguments(&args.cells, array)?;
        let fields = field_names(args, schema, with_coords && !args.no_coords)?;
        let is_dimension = |name: &str| schema.attribute(name).is_none() && schema.dimension(name).is_some();
        let view = |name: String| FieldView { is_dimension: is_dimension(&name), name, enumeration: None };
        Ok(Self {
            ranges,
            condition: args.cells.condition.as_deref().map(condition::from_text).transpose()?,
            fields: fields.into_iter().map(view).collect(),
            order: args.order,
            memory: args.cells.memory,
            batch_rows: args.batch_rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX)),
            part: None,
        })
    }

    /// The cells and fields of a part, of the array that was opened by it.
    ///
    /// # Errors
    /// When the part is not one of the array.
    pub(crate) fn of_part(part: ReadPart, args: &SelectionArgs, array: &Array) -> Result<Self, Error> {
        drop(array.read_part(&part)?);
        let args = SelectionArgs { fields: part.fields().to_vec(), ..args.clone() };
        Ok(Self { part: Some(Arc::new(part)), ..Self::new(&args, array, true)? })
    }

    /// Shows the values of enumerations where the cells hold indices.
    ///
    /// # Errors
    /// When an enumeration cannot be read.
    pub(crate) fn with_enumerations(mut self, array: &Array) -> Result<Self, Error> {
        for field in self.fields.iter_mut().filter(|field| !field.is_dimension) {
            let attribute = array.schema().attribute(&field.name);
            if let Some(name) = attribute.and_then(|(_, attribute)| attribute.enumeration.as_deref()) {
                field.enumeration = Some(array.enumeration(name)?);
            }
        }
        Ok(self)
    }

    /// The read of these cells, in this order unless another one was asked for.
    pub(crate) fn read<'a>(&self, array: &'a Array, default_order: Order) -> Read<'a> {
        // A part that was found fit for the array stays so.
        let part = self.part.as_ref().and_then(|part| array.read_part(part).ok());
        let mut read = part.unwrap_or_else(|| {
            let ranges = self.ranges.iter().enumerate();
            let read = ranges.fold(array.read(), |read, (dimension, ranges)| read.ranges(dimension, ranges));
            let names = self.fields.iter().map(|field| field.name.as_str());
            let read = read.fields(names).order(self.order.map_or(default_order, OrderArg::order));
            match &self.condition {
                Some(condition) => read.condition(condition.clone()),
                None => read,
            }
        });
        if let Some(rows) = self.batch_rows {
            read = read.batch_rows(rows);
        }
        match self.memory {
            Some(bytes) => read.memory_limit(bytes),
            None => read,
        }
    }

    /// The same read, if it is not to come in batches.
    ///
    /// # Errors
    /// [`Error::Usage`] for a dense read that cannot fit into the memory limit: a domain may have more cells than any
    /// memory holds.
    pub(crate) fn read_whole<'a>(&self, array: &'a Array, default_order: Order) -> Result<Read<'a>, Error> {
        let limit = self.memory.unwrap_or(WHOLE_BYTES);
        let bytes = if array.schema().is_dense() { self.dense_bytes(array.schema()) } else { Some(0) };
        if bytes.is_none_or(|bytes| bytes > limit) {
            let reason = "narrow --range, name fewer --fields, raise --memory, or read --format csv";
            return Err(Error::usage(format!("the cells do not fit into {limit} bytes of memory: {reason}")));
        }
        Ok(self.read(array, default_order).memory_limit(limit))
    }

    /// The ranges of a dense read along each dimension: those asked for, else the current domain, else the domain.
    pub(crate) fn dense_ranges<'a>(&'a self, schema: &'a ArraySchema) -> impl Iterator<Item = Vec<&'a Range>> {
        self.ranges.iter().zip(&schema.domain.dimensions).enumerate().map(|(index, (ranges, dimension))| {
            let current = schema.current_domain.as_ref().and_then(|current| current.0.get(index));
            let whole = current.or(dimension.domain.as_ref());
            if ranges.is_empty() { whole.into_iter().collect() } else { ranges.iter().collect() }
        })
    }

    /// Bytes that a dense result takes at least; none where they cannot be counted.
    fn dense_bytes(&self, schema: &ArraySchema) -> Option<u64> {
        /// An offset.
        const VAR_BYTES: usize = 8;
        let bytes = self.fields.iter().map(|field| match schema.field(&field.name) {
            Some(Field::Attribute(index)) => schema.attributes.get(index).and_then(|a| a.cell_bytes()).unwrap_or(VAR_BYTES),
            _ => schema.dimension(&field.name).and_then(|(_, d)| d.cell_bytes()).unwrap_or(VAR_BYTES),
        });
        u64::try_from(bytes.sum::<usize>()).ok()?.checked_mul(self.dense_cells(schema)?)
    }

    /// Cells of a dense result; none where they cannot be counted.
    pub(crate) fn dense_cells(&self, schema: &ArraySchema) -> Option<u64> {
        let along =
            |ranges: Vec<&Range>| ranges.into_iter().try_fold(0_u64, |cells, range| cells.checked_add(range.cell_count()?));
        self.dense_ranges(schema).try_fold(1_u64, |product, ranges| product.checked_mul(along(ranges)?))
    }
}

impl FieldView {
    /// The cells of this field in a result.
    pub(crate) fn cells<'a>(&'a self, cells: &'a talavera::Cells) -> Option<FieldCells<'a>> {
        let buffer = cells.field(&self.name)?;
        let shape = Shape::of_cells(buffer.datatype(), buffer.cell_val_num());
        Some(FieldCells { buffer, shape, enumeration: self.enumeration.as_deref() })
    }
}

impl FieldCells<'_> {
    /// One cell as JSON, as it is stored or as the value that it stands for.
    pub(crate) fn json(&self, cell: usize) -> serde_json::Value {
        self.shown(cell).map_or(serde_json::Value::Null, |(shape, bytes)| shape.json(bytes))
    }

    /// Appends one cell as text; says whether there was one rather than a null.
    pub(crate) fn write_text(&self, out: &mut String, cell: usize) -> bool {
        let shown = self.shown(cell);
        if let Some((shape, bytes)) = shown {
            shape.write_text(out, bytes);
        }
        shown.is_some()
    }

    /// Whether cells are shown as single numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.enumeration.map_or(self.shape, of_values).is_numeric()
    }

    /// The order of two cells as stored; null comes first.
    pub(crate) fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        match (self.stored(a), self.stored(b)) {
            (Some(a), Some(b)) => self.shape.compare(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        }
    }

    fn stored(&self, cell: usize) -> Option<&[u8]> {
        if self.buffer.is_null(cell) { None } else { self.buffer.cell(cell) }
    }

    /// The bytes to show and what they are; none for nulls and for indices that no value has.
    fn shown(&self, cell: usize) -> Option<(Shape, &[u8])> {
        let bytes = self.stored(cell)?;
        let Some(enumeration) = self.enumeration else { return Some((self.shape, bytes)) };
        let index = crate::value::Num::from_le_bytes(self.shape.datatype, bytes)?.index()?;
        Some((of_values(enumeration), enumeration.value(index)?))
    }
}

fn of_values(enumeration: &Enumeration) -> Shape {
    Shape::of_cells(enumeration.datatype(), enumeration.cell_val_num())
}

fn field_names(args: &SelectionArgs, schema: &ArraySchema, with_coords: bool) -> Result<Vec<String>, Error> {
    let known = |name: &str| schema.field(name).is_some() || (name == talavera::TIMESTAMPS_FIELD && !schema.is_dense());
    let dimensions = schema.domain.dimensions.iter().map(|dimension| &dimension.name);
    let attributes = schema.attributes.iter().map(|attribute| &attribute.name);
    if args.fields.is_empty() {
        return Ok(dimensions.filter(|_| with_coords).chain(attributes).cloned().collect());
    }
    // A name with a comma in it is one name.
    let names = args.fields.iter().flat_map(|names| if known(names) { vec![&**names] } else { names.split(',').collect() });
    let names: Vec<_> = names.map(str::to_owned).collect();
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let there: Vec<_> = dimensions.chain(attributes).map(|name| format!("'{name}'")).collect();
        return Err(Error::usage(format!("--fields: there is no field '{unknown}'; the array has {}", there.join(", "))));
    }
    match names.iter().enumerate().find(|(index, name)| names.iter().skip(index + 1).any(|other| other == *name)) {
        Some((_, twice)) => Err(Error::usage(format!("--fields: '{twice}' is named twice"))),
        None => Ok(names),
    }
}
