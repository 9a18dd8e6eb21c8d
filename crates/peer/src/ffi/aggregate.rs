//! Aggregates, which releases from 2.20 on have.

use std::ptr;

use super::buffers::Buffers;
use super::query::{COMPLETED, incomplete, ranges};
use super::{Array, Context, Handle, Raw, c_string, out};
use crate::{Aggregate, Column, PeerError, Read, VAR};

/// The name under which the answer comes.
const ANSWER: &str = "answer";
/// The longest text that an answer may be.
const ANSWER_BYTES: usize = 1 << 16;

impl Array {
    /// The answer to one aggregate of the cells of a read, whose fields do not matter: one cell, with validity where the
    /// field is nullable. `field` is nothing for the count of cells.
    ///
    /// # Errors
    /// [`PeerError`] when the library refuses or has no aggregates, and for an unknown field.
    pub fn aggregate(&self, read: &Read, aggregate: Aggregate, field: Option<&str>) -> Result<Column, PeerError> {
        let schema = self.schema()?;
        let name = field.unwrap_or_default();
        let attribute = schema.attributes.iter().find(|attribute| attribute.name == name);
        let dimension = schema.dimensions.iter().find(|dimension| dimension.name == name);
        let of_values = matches!(aggregate, Aggregate::Min | Aggregate::Max);
        let is_var = attribute.map_or(dimension.is_some_and(|of| of.cell_val_num() == VAR), |of| of.cell_val_num == VAR);
        let counts = matches!(aggregate, Aggregate::Count | Aggregate::NullCount);
        let nullable = !counts && attribute.is_some_and(|attribute| attribute.nullable);
        let c = &self.context;
        let condition = read.condition.as_ref().map(|condition| c.condition_into(condition)).transpose()?;
        // Buffers of exactly one value: the library refuses longer ones.
        let datatype = attribute.map(|of| of.datatype).or(dimension.map(|of| of.datatype));
        let bytes = match (of_values, is_var) {
            (true, true) => ANSWER_BYTES,
            (true, false) => datatype.map_or(8, |datatype| datatype.size()),
            (false, _) => 8,
        };
        let mut buffers = Buffers::for_answer(ANSWER, of_values && is_var, nullable, bytes)?;
        // After the buffers, so that it is dropped before them.
        let query = self.query()?;
        // SAFETY: array, query, condition and aggregate are alive, and the buffers do not change until the query is done.
        unsafe {
            c.tiledb_query_set_layout(query.raw(), read.layout.code())?;
            let ranges = ranges(&schema, &read.ranges);
            if ranges.iter().any(|ranges| !ranges.is_empty()) {
                self.set_subarray(&query, &ranges)?;
            }
            if let Some(condition) = &condition {
                c.tiledb_query_set_condition(query.raw(), condition.raw())?;
            }
            c.ask(&query, aggregate, name)?;
            buffers.attach(c, query.raw())?;
            c.tiledb_query_submit(query.raw())?;
            let status = out(|v| c.tiledb_query_get_status(query.raw(), v))?;
            if status != COMPLETED {
                return Err(incomplete("tiledb_query_submit", status));
            }
        }
        let mut column = Column::default();
        buffers.append_to(&mut column)?;
        Ok(column)
    }
}

impl Context {
    /// Asks a query for an aggregate.
    ///
    /// # Safety
    /// The query is alive.
    unsafe fn ask(&self, query: &Handle, aggregate: Aggregate, field: &str) -> Result<(), PeerError> {
        let (field, answer) = (c_string(field)?, c_string(ANSWER)?);
        let (mut channel, mut asked): (Raw, Raw) = (ptr::null_mut(), ptr::null_mut());
        let mut operator: Raw = ptr::null_mut();
        let out = &raw mut operator;
        // SAFETY: all strings and addresses outlive the calls; channel and aggregate are freed once, behind their last use.
        // The count and the operators are constants of the library and not to be freed.
        unsafe {
            match aggregate {
                Aggregate::Count => self.tiledb_aggregate_count_get(&raw mut asked)?,
                Aggregate::Sum => self.tiledb_channel_operator_sum_get(out)?,
                Aggregate::Min => self.tiledb_channel_operator_min_get(out)?,
                Aggregate::Max => self.tiledb_channel_operator_max_get(out)?,
                Aggregate::Mean => self.tiledb_channel_operator_mean_get(out)?,
                Aggregate::NullCount => self.tiledb_channel_operator_null_count_get(out)?,
            }
            let unary = asked.is_null();
            if unary {
                self.tiledb_create_unary_aggregate(query.raw(), operator, field.as_ptr(), &raw mut asked)?;
            }
            self.tiledb_query_get_default_channel(query.raw(), &raw mut channel)?;
            let applied = self.tiledb_channel_apply_aggregate(channel, answer.as_ptr(), asked);
            self.tiledb_query_channel_free(&raw mut channel)?;
            if unary {
                self.tiledb_aggregate_free(&raw mut asked)?;
            }
            applied
        }
    }
}
