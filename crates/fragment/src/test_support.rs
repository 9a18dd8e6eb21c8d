//! What the unit tests of several modules share.

use talavera_codec::Writer;
use talavera_schema::{ArraySchema, Attribute, Dimension, Domain, Range};
use talavera_types::{ArrayType, Datatype, FormatVersion, Layout};

/// What a function writes.
pub(crate) fn encoded(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    write(&mut w);
    w.into_vec()
}

pub(crate) fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

/// A dimension of numbers from 1 to 100.
pub(crate) fn int_dimension(name: &str) -> Dimension {
    Dimension::new(name, Datatype::Int32, Range::Signed(1, 100), None)
}

pub(crate) fn domain(dimensions: Vec<Dimension>) -> Domain {
    Domain { dimensions }
}

/// A schema with these dimensions and attributes, whatever a real one would allow.
pub(crate) fn schema(array_type: ArrayType, dimensions: Vec<Dimension>, attributes: Vec<Attribute>) -> ArraySchema {
    let filters = || Attribute::new("", Datatype::UInt8).filters;
    ArraySchema {
        version: FormatVersion::DEFAULT,
        array_type,
        allows_dups: false,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: 10,
        coords_filters: filters(),
        offsets_filters: filters(),
        validity_filters: filters(),
        domain: domain(dimensions),
        attributes,
        labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: None,
    }
}
