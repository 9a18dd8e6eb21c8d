//! Dimension labels (array schema, "Dimension Label"; 03-schema §8).

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::{CellValNum, DataOrder, Datatype};

/// A label of a dimension: a dense array of one dimension whose values stand for the dimension's.
///
/// The specification's table of these fields has another order, and domain fields that no library writes.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionLabel {
    /// The index of the dimension that is labelled.
    pub dimension: u32,
    /// The name, apart from those of attributes and dimensions.
    pub name: String,
    /// Whether the URI is relative to the array.
    pub relative: bool,
    /// Where the label's array is.
    pub uri: String,
    /// The attribute of the label's array that holds the values.
    pub attribute: String,
    /// The order of the values, increasing or decreasing.
    pub order: DataOrder,
    /// The datatype of the values.
    pub datatype: Datatype,
    /// How many values of the datatype make a label.
    pub cell_val_num: CellValNum,
    /// Whether the label's array belongs to somebody else.
    pub external: bool,
}

impl DimensionLabel {
    /// Everything but the bytes of names and URI.
    pub(crate) const MIN_BYTES: u64 = 28;

    /// The label as a new array gets it: its `number`th label, counted from 0, in an array of its own below.
    #[must_use]
    pub fn internal(number: usize, dimension: u32, name: impl Into<String>, order: DataOrder, datatype: Datatype) -> Self {
        Self {
            dimension,
            name: name.into(),
            relative: true,
            uri: format!("__labels/l{number}"),
            attribute: "label".to_owned(),
            order,
            datatype,
            cell_val_num: if datatype == Datatype::StringAscii { CellValNum::Var } else { CellValNum::ONE },
            external: false,
        }
    }

    /// Reads a label of one of `dimension_count` dimensions.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, for codes that stand for nothing, for a dimension that does not exist and
    /// for a label without order.
    pub fn decode(r: &mut Reader<'_>, dimension_count: usize) -> Result<Self, DecodeError> {
        let dimension = decode_dimension(r, dimension_count)?;
        let name = r.string_u32("label name")?;
        let relative = r.bool("label relative uri")?;
        let uri = r.string_u64("label uri")?;
        let attribute = r.string_u32("label attribute name")?;
        let order = decode_order(r)?;
        let datatype = Datatype::decode(r, "label datatype")?;
        let cell_val_num = CellValNum::decode(r, "label cell val num")?;
        let external = r.bool("label is external")?;
        Ok(Self { dimension, name, relative, uri, attribute, order, datatype, cell_val_num, external })
    }

    /// Writes the label.
    pub fn encode(&self, w: &mut Writer) {
        w.u32(self.dimension);
        w.string_u32(&self.name);
        w.bool(self.relative);
        w.string_u64(&self.uri);
        w.string_u32(&self.attribute);
        self.order.encode(w);
        self.datatype.encode(w);
        self.cell_val_num.encode(w);
        w.bool(self.external);
    }
}

fn decode_dimension(r: &mut Reader<'_>, dimension_count: usize) -> Result<u32, DecodeError> {
    let offset = r.offset();
    let found = r.u32("label dimension index")?;
    if u64::from(found) < dimension_count as u64 {
        return Ok(found);
    }
    let kind = DecodeErrorKind::Invalid { found: found.into(), expected: "the index of a dimension" };
    Err(kind.at("label dimension index", offset))
}

fn decode_order(r: &mut Reader<'_>) -> Result<DataOrder, DecodeError> {
    let before = r.clone();
    match DataOrder::decode(r, "label order")? {
        DataOrder::Unordered => Err(before.invalid("label order", 0, "increasing or decreasing")),
        order => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_bytes_of_the_reference() {
        // `lab` on dimension 0, increasing, FLOAT64 (03-schema §11).
        let mut bytes = vec![0, 0, 0, 0, 3, 0, 0, 0];
        bytes.extend(b"lab\x01\x0b\0\0\0\0\0\0\0__labels/l0\x05\0\0\0label");
        bytes.extend([1, 3, 1, 0, 0, 0, 0]);
        let label = DimensionLabel::internal(0, 0, "lab", DataOrder::Increasing, Datatype::Float64);
        let mut w = Writer::new();
        label.encode(&mut w);
        assert_eq!(w.as_slice(), bytes);
        assert_eq!(DimensionLabel::decode(&mut Reader::new(&bytes), 1).unwrap(), label);
        assert_eq!(DimensionLabel::decode(&mut Reader::new(&bytes), 0).unwrap_err().field, "label dimension index");
    }
}
