//! Attributes (array schema, "Attribute"; 03-schema §4).

use talavera_codec::{DecodeError, DecodeErrorKind, Limits, Reader, Writer};
use talavera_filter::FilterList;
use talavera_types::{CellValNum, DataOrder, Datatype, FormatVersion};

/// An attribute of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// The name; may be empty.
    pub name: String,
    /// The datatype of its values.
    pub datatype: Datatype,
    /// How many values make a cell.
    pub cell_val_num: CellValNum,
    /// The filters of its values; empty means none.
    pub filters: FilterList,
    /// The cell, little-endian, that stands where nothing was written: one cell, or any bytes if cells are of variable
    /// length.
    pub fill_value: Vec<u8>,
    /// Whether cells may be null.
    pub nullable: bool,
    /// Whether the fill value is a value; otherwise it is null. Stored, without effect, for other attributes too.
    pub fill_validity: bool,
    /// The order that values are promised to be in.
    pub order: DataOrder,
    /// The name of the enumeration that values are indices into.
    pub enumeration: Option<String>,
}

impl Attribute {
    /// Name length, datatype, values in a cell and the head of the filter list.
    pub(crate) const MIN_BYTES: u64 = 17;
    /// The default fill values that one schema may ask for in all, in bytes. Old versions store none, so that no byte of
    /// the schema vouches for the size of a cell.
    pub(crate) const MAX_DEFAULT_FILL_BYTES: u64 = 16 << 20;

    /// An attribute of one value in a cell (ANY: any number), without filters, not nullable, with the default fill.
    #[must_use]
    pub fn new(name: impl Into<String>, datatype: Datatype) -> Self {
        let cell_val_num = if datatype == Datatype::Any { CellValNum::Var } else { CellValNum::ONE };
        Self::with_cell_val_num(name, datatype, cell_val_num)
    }

    /// An attribute with cells of variable length, otherwise as [`Attribute::new`].
    #[must_use]
    pub fn var(name: impl Into<String>, datatype: Datatype) -> Self {
        Self::with_cell_val_num(name, datatype, CellValNum::Var)
    }

    /// An attribute of so many values in a cell, otherwise as [`Attribute::new`].
    #[must_use]
    pub fn with_cell_val_num(name: impl Into<String>, datatype: Datatype, cell_val_num: CellValNum) -> Self {
        Self {
            name: name.into(),
            datatype,
            cell_val_num,
            filters: FilterList::new(Vec::new()),
            fill_value: Self::default_fill(datatype, cell_val_num),
            nullable: false,
            fill_validity: false,
            order: DataOrder::Unordered,
            enumeration: None,
        }
    }

    /// The fill value that an attribute has unless it is given another: the datatype's, once for each value of a cell,
    /// once for cells of variable length.
    #[must_use]
    pub fn default_fill(datatype: Datatype, cell_val_num: CellValNum) -> Vec<u8> {
        datatype.default_fill().repeat(cell_val_num.fixed().unwrap_or(1).try_into().unwrap_or(1))
    }

    /// Whether cells are of variable length.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.cell_val_num.is_var()
    }

    /// Bytes of a cell; `None` if cells are of variable length.
    #[must_use]
    pub fn cell_bytes(&self) -> Option<usize> {
        usize::try_from(self.cell_val_num.fixed()?).ok()?.checked_mul(self.datatype.size())
    }

    /// Reads an attribute; default fill values are charged to `limits`.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, for codes that stand for nothing, and for a fill value that is not one cell.
    pub fn decode(r: &mut Reader<'_>, version: FormatVersion, limits: &Limits) -> Result<Self, DecodeError> {
        let name = r.string_u32("attribute name")?;
        let datatype = Datatype::decode(r, "attribute datatype")?;
        let cell_val_num = CellValNum::decode(r, "attribute cell val num")?;
        let filters = FilterList::decode(r)?;
        let fill_value = if version.has_fill_value() {
            decode_fill_value(r, datatype, cell_val_num)?
        } else {
            limits.charge("default fill value", cell_size(datatype, cell_val_num))?;
            Self::default_fill(datatype, cell_val_num)
        };
        let (mut nullable, mut fill_validity) = (false, false);
        if version.has_validity() {
            nullable = r.bool("nullable")?;
            fill_validity = r.bool("fill value validity")?;
        }
        let mut order = DataOrder::Unordered;
        if version.has_data_order() {
            order = DataOrder::decode(r, "attribute order")?;
        }
        let mut enumeration = None;
        if version.has_enumerations() {
            enumeration = Some(r.string_u32("attribute enumeration name")?).filter(|name| !name.is_empty());
        }
        Ok(Self { name, datatype, cell_val_num, filters, fill_value, nullable, fill_validity, order, enumeration })
    }

    /// Writes the attribute as schemas of `version` store it.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion) {
        w.string_u32(&self.name);
        self.datatype.encode(w);
        self.cell_val_num.encode(w);
        self.filters.encode(w, version);
        if version.has_fill_value() {
            w.bytes_u64(&self.fill_value);
        }
        if version.has_validity() {
            w.bool(self.nullable);
            w.bool(self.fill_validity);
        }
        if version.has_data_order() {
            self.order.encode(w);
        }
        if version.has_enumerations() {
            w.string_u32(self.enumeration.as_deref().unwrap_or_default());
        }
    }
}

/// Bytes of a cell, or of one value where cells are of variable length.
fn cell_size(datatype: Datatype, cell_val_num: CellValNum) -> u64 {
    u64::from(cell_val_num.fixed().unwrap_or(1)) * datatype.size() as u64
}

fn decode_fill_value(r: &mut Reader<'_>, datatype: Datatype, cell_val_num: CellValNum) -> Result<Vec<u8>, DecodeError> {
    let offset = r.offset();
    let fill_value = r.bytes_u64("fill value")?;
    let (found, expected) = (fill_value.len() as u64, cell_size(datatype, cell_val_num));
    let fits = if cell_val_num.is_var() { found > 0 } else { found == expected };
    if fits { Ok(fill_value.to_vec()) } else { Err(DecodeErrorKind::Mismatch { found, expected }.at("fill value size", offset)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_no_byte_vouches_for_are_limited() {
        // "a", UINT64, 2³² - 2 values in a cell, no filters: a default fill of 32 GiB in version 5.
        let bytes = [1, 0, 0, 0, b'a', 10, 0xfe, 0xff, 0xff, 0xff, 0, 0, 1, 0, 0, 0, 0, 0];
        let limits = Limits::new(Attribute::MAX_DEFAULT_FILL_BYTES);
        let error = Attribute::decode(&mut Reader::new(&bytes), FormatVersion::new(5).unwrap(), &limits).unwrap_err();
        assert_eq!(error.field, "default fill value");
    }

    #[test]
    fn default_fills_repeat_for_each_value_of_a_cell() {
        let three = CellValNum::Fixed(std::num::NonZeroU32::new(3).unwrap());
        assert_eq!(Attribute::default_fill(Datatype::Int16, three), [0, 0x80, 0, 0x80, 0, 0x80]);
        assert_eq!(Attribute::default_fill(Datatype::Int16, CellValNum::Var), [0, 0x80]);
        assert_eq!(Attribute::new("a", Datatype::Any).cell_bytes(), None);
    }
}
