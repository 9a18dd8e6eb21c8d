//! Reads, writes and deletes.

use std::ptr;

use super::buffers::Buffers;
use super::schema_into::Members;
use super::{Array, Context, Handle, c_string, out};
use crate::column::{unzip_coordinates, zip_coordinates};
use crate::{ArrayType, Column, Condition, Mode, PeerError, Range, Read, Schema, VAR, Write};

/// The field that holds all coordinates in releases before 2.0.
const ZIPPED: &str = "__coords";
/// Buffers of a read grow up to this size before it is given up.
const LARGEST_BUFFER: usize = 1 << 30;
pub(super) const COMPLETED: i32 = 1;
const INCOMPLETE: i32 = 3;

/// The memory of cells that were written.
#[must_use = "dropping it takes its time, too"]
pub struct Written(#[expect(dead_code, reason = "held to be dropped")] Vec<Buffers>);

impl Array {
    /// Writes cells; the array is open for writing.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses.
    pub fn write(&self, write: &Write) -> Result<(), PeerError> {
        self.write_owned(write.clone()).map(drop)
    }

    /// As [`Array::write`], of cells that are not copied but taken over, for a benchmark; their memory is given back, as the
    /// library itself lets its caller keep it.
    ///
    /// # Errors
    /// As [`Array::write`].
    pub fn write_owned(&self, write: Write) -> Result<Written, PeerError> {
        let global = write.layout == crate::Layout::GlobalOrder;
        // Before the query, so that it is dropped after it.
        let mut kept = Vec::new();
        let (c, query) = (&self.context, self.query()?);
        // SAFETY: array and query are alive; `kept` holds all buffers, unchanged, until the query is finalized.
        unsafe {
            c.tiledb_query_set_layout(query.raw(), write.layout.code())?;
            if !write.subarray.is_empty() {
                self.set_subarray(&query, &write.subarray.iter().map(|range| vec![range.clone()]).collect::<Vec<_>>())?;
            }
            let last = write.batches.len().saturating_sub(1);
            for (index, batch) in write.batches.into_iter().enumerate() {
                for (name, column) in self.as_stored(batch)? {
                    kept.push(Buffers::for_write(&name, column)?);
                    if let Some(buffers) = kept.last_mut() {
                        buffers.attach(c, query.raw())?;
                    }
                }
                if global && index == last && c.library().has("tiledb_query_submit_and_finalize") {
                    c.tiledb_query_submit_and_finalize(query.raw())?;
                    return Ok(Written(kept));
                }
                c.tiledb_query_submit(query.raw())?;
            }
            let status = out(|v| c.tiledb_query_get_status(query.raw(), v))?;
            if !global && status != COMPLETED {
                return Err(incomplete("tiledb_query_submit", status));
            }
            c.tiledb_query_finalize(query.raw())?;
        }
        Ok(Written(kept))
    }

    /// Reads cells; the array is open for reading. Returns the columns in the order of the fields, each with all cells:
    /// a read that does not fit its buffers is continued.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses, a field does not exist, or one cell needs more than 1 GiB.
    pub fn read(&self, read: &Read) -> Result<Vec<(String, Column)>, PeerError> {
        let schema = self.schema()?;
        let fields = fields(&schema, read, &self.context)?;
        let mut columns = vec![Column::default(); fields.len()];
        self.submit_read(read, &schema, &fields, |buffers| {
            let mut progress = false;
            for (buffer, column) in buffers.iter().zip(&mut columns) {
                progress |= buffer.append_to(column)?;
            }
            Ok(progress)
        })?;
        for (field, column) in fields.iter().zip(&mut columns) {
            // A column without cells has its offsets and validity all the same.
            column.append(&[], field.var.then_some(&[]), field.nullable.then_some(&[]));
        }
        let named = fields.into_iter().map(|field| field.name).zip(columns).collect();
        Ok(as_dimensions(&schema, named))
    }

    /// Reads cells into the library's buffers and leaves them there: what a benchmark times. Returns the bytes read.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read_discard(&self, read: &Read) -> Result<u64, PeerError> {
        let schema = self.schema()?;
        let fields = fields(&schema, read, &self.context)?;
        let mut total = 0;
        self.submit_read(read, &schema, &fields, |buffers| {
            let bytes: u64 = buffers.iter().map(Buffers::filled).sum();
            total += bytes;
            Ok(bytes > 0)
        })?;
        Ok(total)
    }

    /// Submits a read until it is complete. `take` is given the buffers after each submission and says whether they held
    /// any cell.
    fn submit_read(
        &self,
        read: &Read,
        schema: &Schema,
        fields: &[Field],
        mut take: impl FnMut(&[Buffers]) -> Result<bool, PeerError>,
    ) -> Result<(), PeerError> {
        let c = &self.context;
        let mut buffers = Vec::new();
        for field in fields {
            buffers.push(Buffers::for_read(&field.name, field.var, field.nullable, read.buffer_bytes.max(64))?);
        }
        let condition = read.condition.as_ref().map(|condition| c.condition_into(condition)).transpose()?;
        // After the buffers, so that it is dropped before them.
        let query = self.query()?;
        // SAFETY: array, query and condition are alive; the buffers change only by `reset` and `double`, and are
        // attached again before the next submission.
        unsafe {
            c.tiledb_query_set_layout(query.raw(), read.layout.code())?;
            let ranges = ranges(schema, &read.ranges);
            if ranges.iter().any(|ranges| !ranges.is_empty()) {
                self.set_subarray(&query, &ranges)?;
            }
            if let Some(condition) = &condition {
                c.tiledb_query_set_condition(query.raw(), condition.raw())?;
            }
            loop {
                for buffer in &mut buffers {
                    buffer.reset();
                    buffer.attach(c, query.raw())?;
                }
                c.tiledb_query_submit(query.raw())?;
                let status = out(|v| c.tiledb_query_get_status(query.raw(), v))?;
                let progress = take(&buffers)?;
                match status {
                    COMPLETED => return Ok(()),
                    INCOMPLETE if progress => {}
                    INCOMPLETE if buffers.iter().all(|buffer| buffer.capacity() < LARGEST_BUFFER) => {
                        buffers.iter_mut().for_each(Buffers::double);
                    }
                    other => return Err(incomplete("tiledb_query_submit", other)),
                }
            }
        }
    }

    /// Deletes the cells for which a condition holds; the array is open for deleting.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or cannot delete (before 2.12).
    pub fn delete(&self, condition: &Condition) -> Result<(), PeerError> {
        let (c, query) = (&self.context, self.query()?);
        let condition = c.condition_into(condition)?;
        // SAFETY: array, query and condition are alive.
        unsafe {
            c.tiledb_query_set_condition(query.raw(), condition.raw())?;
            c.tiledb_query_submit(query.raw())?;
            c.tiledb_query_finalize(query.raw())
        }
    }

    pub(super) fn query(&self) -> Result<Handle, PeerError> {
        let c = &self.context;
        // SAFETY: the array is alive, and the object made is owned by the handle.
        unsafe { c.new_query(|out| c.tiledb_query_alloc(self.handle.raw(), self.mode.code(), out)) }
    }

    /// The columns as this release takes them: before 2.0 with zipped coordinates.
    fn as_stored(&self, columns: Vec<(String, Column)>) -> Result<Vec<(String, Column)>, PeerError> {
        if !zips(&self.context) {
            return Ok(columns);
        }
        let schema = self.schema()?;
        let column = |name: &str| columns.iter().find(|(of, _)| of == name).map(|(_, column)| column);
        let coordinates: Vec<_> = schema.dimensions.iter().filter_map(|dimension| column(&dimension.name)).collect();
        let attributes = columns.iter().filter(|(name, _)| schema.attributes.iter().any(|attribute| attribute.name == *name));
        let mut stored: Vec<_> = attributes.cloned().collect();
        if coordinates.len() == schema.dimensions.len() {
            stored.push((ZIPPED.into(), zip_coordinates(&coordinates, value_bytes(&schema))?));
        }
        Ok(stored)
    }

    /// Sets the ranges of a query by whichever functions the release has.
    pub(super) fn set_subarray(&self, query: &Handle, ranges: &[Vec<Range>]) -> Result<(), PeerError> {
        let (c, q) = (&self.context, query.raw());
        let dimensions = self.schema()?.dimensions;
        if ranges.len() > dimensions.len() {
            return Err(PeerError::invalid(format!("{} dimensions, {} lists of ranges", dimensions.len(), ranges.len())));
        }
        let subarray = if c.library().has("tiledb_query_set_subarray_t") && c.library().has("tiledb_subarray_alloc") {
            // SAFETY: the array is alive, and the object made is owned by the handle.
            Some(unsafe { c.new_subarray(|out| c.tiledb_subarray_alloc(self.handle.raw(), out)) }?)
        } else if self.mode == Mode::Write {
            let joined: Vec<u8> = ranges.iter().flatten().flat_map(Range::joined).collect();
            let expected: usize = dimensions.iter().map(|dimension| 2 * dimension.datatype.size()).sum();
            if joined.len() != expected {
                return Err(PeerError::invalid("a write wants one range for each dimension"));
            }
            // SAFETY: the box has two values for each dimension, checked above, and is copied.
            return unsafe { c.tiledb_query_set_subarray(q, joined.as_ptr().cast()) };
        } else {
            None
        };
        for ((index, dimension), ranges) in (0..).zip(&dimensions).zip(ranges) {
            let var = dimension.cell_val_num() == VAR;
            for Range { low, high } in ranges {
                if !var && (low.len() != dimension.datatype.size() || high.len() != dimension.datatype.size()) {
                    return Err(PeerError::invalid(format!("{}: a range of another datatype", dimension.name)));
                }
                let (l, h) = (low.as_ptr().cast(), high.as_ptr().cast());
                let (l_bytes, h_bytes) = (low.len() as u64, high.len() as u64);
                // SAFETY: query and subarray are alive; ends of fixed length are checked above, others are passed with
                // their length; all are copied.
                unsafe {
                    match (&subarray, var) {
                        (Some(s), true) => c.tiledb_subarray_add_range_var(s.raw(), index, l, l_bytes, h, h_bytes)?,
                        (Some(s), false) => c.tiledb_subarray_add_range(s.raw(), index, l, h, ptr::null())?,
                        (None, true) => c.tiledb_query_add_range_var(q, index, l, l_bytes, h, h_bytes)?,
                        (None, false) => c.tiledb_query_add_range(q, index, l, h, ptr::null())?,
                    }
                }
            }
        }
        // SAFETY: query and subarray are alive, and the query copies the subarray.
        subarray.map_or(Ok(()), |subarray| unsafe { c.tiledb_query_set_subarray_t(q, subarray.raw()) })
    }
}

impl Context {
    pub(super) fn condition_into(&self, condition: &Condition) -> Result<Handle, PeerError> {
        match condition {
            Condition::And(left, right) => self.combine(left, right, 0),
            Condition::Or(left, right) => self.combine(left, right, 1),
            Condition::Not(inner) => {
                let inner = self.condition_into(inner)?;
                // SAFETY: the condition is alive, and the object made is owned by the handle.
                unsafe { self.new_condition(|out| self.tiledb_query_condition_negate(inner.raw(), out)) }
            }
            Condition::Member { field, values, negated } => {
                let (field, members) = (c_string(field)?, Members::new(values));
                let ((data, d), (offsets, o)) = (members.data(), members.offsets());
                let (f, operator) = (field.as_ptr(), if *negated { 7 } else { 6 });
                let make = |out| {
                    // SAFETY: data and offsets are passed with their lengths and copied.
                    unsafe { self.tiledb_query_condition_alloc_set_membership(f, data, d, offsets, o, operator, out) }
                };
                // SAFETY: the object made is owned by the handle.
                unsafe { self.new_condition(make) }
            }
            Condition::Compare { field, operator, value, use_enumeration } => {
                let field = c_string(field)?;
                let (address, bytes) = match value {
                    Some(value) => (value.as_ptr().cast(), value.len() as u64),
                    None => (ptr::null(), 0),
                };
                // SAFETY: the condition is alive; the value is passed with its length and copied.
                unsafe {
                    let made = self.new_condition(|out| self.tiledb_query_condition_alloc(out))?;
                    self.tiledb_query_condition_init(made.raw(), field.as_ptr(), address, bytes, operator.code())?;
                    if !use_enumeration {
                        self.tiledb_query_condition_set_use_enumeration(made.raw(), 0)?;
                    }
                    Ok(made)
                }
            }
        }
    }

    fn combine(&self, left: &Condition, right: &Condition, combination: i32) -> Result<Handle, PeerError> {
        let (left, right) = (self.condition_into(left)?, self.condition_into(right)?);
        // SAFETY: both conditions are alive, and the object made is owned by the handle.
        unsafe { self.new_condition(|out| self.tiledb_query_condition_combine(left.raw(), right.raw(), combination, out)) }
    }
}

/// A field of a read.
struct Field {
    name: String,
    var: bool,
    nullable: bool,
}

fn zips(context: &Context) -> bool {
    context.library().version() < (2, 0, 0)
}

fn value_bytes(schema: &Schema) -> usize {
    schema.dimensions.first().map_or(1, |dimension| dimension.datatype.size())
}

/// The fields to read, as the release names them.
fn fields(schema: &Schema, read: &Read, context: &Context) -> Result<Vec<Field>, PeerError> {
    let dimensions = schema.dimensions.iter().map(|dimension| &dimension.name);
    let attributes = schema.attributes.iter().map(|attribute| &attribute.name);
    let with_dimensions = schema.array_type == ArrayType::Sparse;
    let all = || dimensions.filter(|_| with_dimensions).chain(attributes).cloned().collect();
    let names: Vec<String> = read.fields.clone().unwrap_or_else(all);
    let mut fields: Vec<Field> = Vec::new();
    for name in names {
        let is_dimension = schema.dimensions.iter().find(|dimension| dimension.name == name);
        let (var, nullable) = if let Some(attribute) = schema.attributes.iter().find(|attribute| attribute.name == name) {
            (attribute.cell_val_num == VAR, attribute.nullable)
        } else if let Some(dimension) = is_dimension {
            (dimension.cell_val_num() == VAR, false)
        } else if let Some(label) = schema.labels.iter().find(|label| label.name == name) {
            (label.cell_val_num == VAR, false)
        } else {
            return Err(PeerError::invalid(format!("no field {name:?}")));
        };
        if is_dimension.is_none() || !zips(context) {
            fields.push(Field { name, var, nullable });
        } else if fields.iter().all(|field| field.name != ZIPPED) {
            fields.push(Field { name: ZIPPED.into(), var, nullable });
        }
    }
    Ok(fields)
}

/// The ranges of a read. Dense reads want one for each dimension: by default the current domain or else the domain.
pub(super) fn ranges(schema: &Schema, asked: &[Vec<Range>]) -> Vec<Vec<Range>> {
    let mut ranges = asked.to_vec();
    if schema.array_type == ArrayType::Dense {
        ranges.resize(schema.dimensions.len().max(ranges.len()), Vec::new());
        for ((index, dimension), ranges) in schema.dimensions.iter().enumerate().zip(&mut ranges) {
            if ranges.is_empty() {
                let current = schema.current_domain.as_ref().and_then(|domain| domain.get(index));
                ranges.extend(current.or(dimension.domain.as_ref()).cloned());
            }
        }
    }
    ranges
}

/// Zipped coordinates, where there are any, as one column per dimension.
fn as_dimensions(schema: &Schema, columns: Vec<(String, Column)>) -> Vec<(String, Column)> {
    let mut split = Vec::with_capacity(columns.len());
    for (name, column) in columns {
        if name == ZIPPED {
            let parts = unzip_coordinates(&column, schema.dimensions.len(), value_bytes(schema));
            split.extend(schema.dimensions.iter().map(|dimension| dimension.name.clone()).zip(parts));
        } else {
            split.push((name, column));
        }
    }
    split
}

pub(super) fn incomplete(function: &'static str, status: i32) -> PeerError {
    PeerError::Refused { function, message: format!("the query stopped with status {status}") }
}
