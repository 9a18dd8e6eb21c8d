//! What is refused before anything is written: fields that the array does not have or that are missing, cells of another
//! type, lengths that disagree, coordinates out of the domain (22-semantics §11).

use std::borrow::Cow;

use talavera_fragment::{FieldId, FieldShape};
use talavera_schema::{ArraySchema, Coordinate, NdRange};
use talavera_types::Datatype;

use crate::order::{OrderKey, key_bounds, order_keys, range_keys};
use crate::{Error, FieldBuffer};

/// The buffers of a write in the order of its fields, and how many cells they have.
#[derive(Debug)]
pub(crate) struct Cells<'c> {
    pub(crate) buffers: Vec<Cow<'c, FieldBuffer>>,
    pub(crate) count: usize,
}

/// The fields of a write: every attribute and, of sparse cells, every dimension.
pub(crate) fn fields(schema: &ArraySchema) -> Vec<(FieldId, String)> {
    let attributes = schema.attributes.iter().enumerate();
    let attributes = attributes.map(|(index, attribute)| (FieldId::Attribute(index), attribute.name.clone()));
    let dimensions = schema.domain.dimensions.iter().enumerate().filter(|_| !schema.is_dense());
    let dimensions = dimensions.map(|(index, dimension)| (FieldId::Dimension(index), dimension.name.clone()));
    attributes.chain(dimensions).collect()
}

impl<'c> Cells<'c> {
    /// Puts the buffers of a caller into the order of the array's fields.
    pub(crate) fn new(schema: &ArraySchema, given: &'c [(String, FieldBuffer)]) -> Result<Self, Error> {
        let mut given: Vec<&(String, FieldBuffer)> = given.iter().collect();
        let mut buffers = Vec::new();
        let mut count: Option<(usize, String)> = None;
        for (id, name) in fields(schema) {
            let at = given.iter().position(|(given, _)| *given == name);
            let (_, buffer) =
                at.map(|at| given.swap_remove(at)).ok_or_else(|| Error::invalid(format!("no cells for '{name}'")))?;
            let shape = id.shape(schema).ok_or_else(|| Error::invalid(format!("the array has no field '{name}'")))?;
            check_shape(&name, shape, buffer)?;
            match &count {
                Some((cells, first)) if *cells != buffer.len() => {
                    let found = buffer.len();
                    return Err(Error::invalid(format!("'{name}' has {found} cells, '{first}' has {cells}")));
                }
                _ => count = Some((buffer.len(), name)),
            }
            buffers.push(Cow::Borrowed(buffer));
        }
        if let Some((name, _)) = given.first() {
            return Err(Error::invalid(format!("the array has no field '{name}', or cells for it were given twice")));
        }
        Ok(Self { buffers, count: count.map_or(0, |(count, _)| count) })
    }
}

fn check_shape(name: &str, shape: FieldShape, buffer: &FieldBuffer) -> Result<(), Error> {
    if buffer.datatype() != shape.datatype || buffer.cell_val_num() != shape.cell_val_num {
        return Err(Error::invalid(format!(
            "'{name}' takes cells of {} {:?}, not of {} {:?}",
            shape.datatype,
            shape.cell_val_num,
            buffer.datatype(),
            buffer.cell_val_num()
        )));
    }
    match (shape.nullable, buffer.validity().is_some()) {
        (true, false) => Err(Error::invalid(format!("'{name}' is nullable; its cells come with validity"))),
        (false, true) => Err(Error::invalid(format!("'{name}' is not nullable; its cells come without validity"))),
        _ => Ok(()),
    }
}

/// Whether every coordinate lies in the domain. Strings have none, and NaN passes as it does in the reference.
pub(crate) fn check_in_domain(schema: &ArraySchema, coordinates: &[Cow<'_, FieldBuffer>]) -> Result<(), Error> {
    for (dimension, column) in schema.domain.dimensions.iter().zip(coordinates) {
        let Some(domain) = &dimension.domain else { continue };
        let Some((low, high)) = range_keys(domain) else { continue };
        let (least, greatest) = number_keys(dimension.datatype);
        let bounds = key_bounds(dimension.datatype, column.bytes());
        if bounds.is_none_or(|(first, last)| low <= first && last <= high) {
            continue;
        }
        let outside = |key: &u64| !(low..=high).contains(key) && (least..=greatest).contains(key);
        if let Some(cell) = order_keys(dimension.datatype, column.bytes()).iter().position(outside) {
            let value = column.cell(cell).and_then(|bytes| Coordinate::from_le_bytes(dimension.datatype, bytes));
            let value = value.map_or_else(String::new, |value| value.to_string());
            return Err(Error::invalid(format!(
                "cell {cell}: coordinate {value} is out of domain {domain} of dimension '{}'",
                dimension.name
            )));
        }
    }
    Ok(())
}

/// The least and greatest order key of a number; those of NaN lie beyond.
fn number_keys(datatype: Datatype) -> (u64, u64) {
    match datatype {
        Datatype::Float32 => (f32::NEG_INFINITY.order_key(), f32::INFINITY.order_key()),
        Datatype::Float64 => (f64::NEG_INFINITY.order_key(), f64::INFINITY.order_key()),
        _ => (0, u64::MAX),
    }
}

/// Whether cells in these bounds lie in the current domain, if the array has one.
pub(crate) fn check_in_current_domain(schema: &ArraySchema, bounds: &NdRange) -> Result<(), Error> {
    let Some(current) = &schema.current_domain else { return Ok(()) };
    for ((dimension, current), bounds) in schema.domain.dimensions.iter().zip(&current.0).zip(&bounds.0) {
        if !current.contains(bounds) {
            return Err(Error::invalid(format!(
                "cells are written in {bounds} of dimension '{}', out of the current domain {current}",
                dimension.name
            )));
        }
    }
    Ok(())
}
