//! Dimensions (array schema, "Dimension"; 03-schema §3).

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_filter::FilterList;
use talavera_types::{CellValNum, Datatype, FormatVersion};

use crate::coordinate::unsigned_le;
use crate::{Coordinate, Range};

/// A dimension of a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// The name; may be empty.
    pub name: String,
    /// The datatype of its coordinates.
    pub datatype: Datatype,
    /// The filters of its coordinates; empty means those of [`ArraySchema::coords_filters`](crate::ArraySchema), see
    /// [`ArraySchema::dimension_filters`](crate::ArraySchema::dimension_filters).
    pub filters: FilterList,
    /// All values that coordinates may have; `None` for strings, which may have any.
    pub domain: Option<Range>,
    /// The width of a space tile; `None` for strings, and where none was given before Hilbert order.
    pub tile_extent: Option<TileExtent>,
}

/// The width of a space tile along one dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TileExtent {
    /// For integers, dates and times: a number of values. An extent that a signed type shows as negative counts as the
    /// unsigned number of the same bits; this is how the reference calculates with it.
    Integer(u64),
    /// For FLOAT32.
    Float32(f32),
    /// For FLOAT64.
    Float64(f64),
}

impl Dimension {
    /// Name length, two ends of a one-byte domain and the flag of the extent.
    pub(crate) const MIN_BYTES: u64 = 7;

    /// A dimension of numbers, dates or times with the coordinates' filters. Without an extent, [`crate::ArraySchemaBuilder`]
    /// makes the whole domain one tile.
    #[must_use]
    pub fn new(name: impl Into<String>, datatype: Datatype, domain: Range, tile_extent: Option<TileExtent>) -> Self {
        let filters = FilterList::new(Vec::new());
        Self { name: name.into(), datatype, filters, domain: Some(domain), tile_extent }
    }

    /// A dimension of strings with the coordinates' filters.
    #[must_use]
    pub fn string(name: impl Into<String>) -> Self {
        let filters = FilterList::new(Vec::new());
        Self { name: name.into(), datatype: Datatype::StringAscii, filters, domain: None, tile_extent: None }
    }

    /// Whether coordinates are of variable length: strings are, numbers are not.
    #[must_use]
    pub fn is_var(&self) -> bool {
        self.datatype == Datatype::StringAscii
    }

    /// How many values make a coordinate: one, or any number for strings.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        if self.is_var() { CellValNum::Var } else { CellValNum::ONE }
    }

    /// Bytes of a coordinate; `None` for strings.
    #[must_use]
    pub fn cell_bytes(&self) -> Option<usize> {
        (!self.is_var()).then(|| self.datatype.size())
    }

    /// The space tile along this dimension that a coordinate of a sparse cell lies in, counted from the low end of the
    /// domain (20-semantics §2.2).
    ///
    /// `None` where the dimension has no tiles (strings, null extents) and for coordinates of another kind. Integers
    /// are subtracted as unsigned numbers; floats give the whole part of `(value - low) / extent`, at least 0.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the whole part is wanted, and floats outside of u64 become its nearest value"
    )]
    pub fn tile_index(&self, coordinate: Coordinate<'_>) -> Option<u64> {
        let low = self.domain.as_ref()?.low();
        match (coordinate, low, self.tile_extent?) {
            (Coordinate::Float32(value), Coordinate::Float32(low), TileExtent::Float32(extent)) => {
                Some(((value - low) / extent).trunc() as u64)
            }
            (Coordinate::Float64(value), Coordinate::Float64(low), TileExtent::Float64(extent)) => {
                Some(((value - low) / extent).trunc() as u64)
            }
            (Coordinate::Signed(_), Coordinate::Signed(_), TileExtent::Integer(extent))
            | (Coordinate::Unsigned(_), Coordinate::Unsigned(_), TileExtent::Integer(extent)) => {
                coordinate.integer_bits()?.wrapping_sub(low.integer_bits()?).checked_div(extent)
            }
            _ => None,
        }
    }

    /// Reads a dimension; before dimensions had datatypes of their own, they had the domain's.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes and for what later arithmetic could not bear: a datatype that dimensions
    /// cannot have, a reversed domain or one with NaN, an extent of zero.
    pub fn decode(r: &mut Reader<'_>, version: FormatVersion, domain_datatype: Datatype) -> Result<Self, DecodeError> {
        let name = r.string_u32("dimension name")?;
        let mut datatype = domain_datatype;
        let mut filters = FilterList::new(Vec::new());
        if version.has_dimension_fields() {
            datatype = decode_datatype(r, "dimension datatype")?;
            check_cell_val_num(r, datatype)?;
            filters = FilterList::decode(r)?;
            check_domain_size(r, datatype)?;
        }
        let domain = decode_domain(r, datatype)?;
        let null_tile_extent = r.bool("null tile extent")?;
        let tile_extent = if null_tile_extent { None } else { Some(TileExtent::decode(r, datatype)?) };
        Ok(Self { name, datatype, filters, domain, tile_extent })
    }

    /// Writes the dimension as schemas of `version` store it.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion) {
        w.string_u32(&self.name);
        if version.has_dimension_fields() {
            self.datatype.encode(w);
            self.cell_val_num().encode(w);
            self.filters.encode(w, version);
            w.u64(domain_bytes(self.datatype));
        }
        if let (false, Some(domain)) = (self.is_var(), &self.domain) {
            domain.encode(w, self.datatype);
        }
        w.bool(self.tile_extent.is_none());
        if let Some(tile_extent) = self.tile_extent {
            tile_extent.encode(w, self.datatype);
        }
    }
}

impl TileExtent {
    /// Reads the extent of a dimension of `datatype`.
    ///
    /// # Errors
    /// A [`DecodeError`] for zero, for a negative float or NaN, and for dimensions that have no extent. A float extent
    /// of 0 is what the reference stores for a domain of one value.
    pub fn decode(r: &mut Reader<'_>, datatype: Datatype) -> Result<Self, DecodeError> {
        const FIELD: &str = "tile extent";
        let offset = r.offset();
        let extent = match datatype {
            Datatype::Float32 => Self::Float32(r.f32(FIELD)?),
            Datatype::Float64 => Self::Float64(r.f64(FIELD)?),
            Datatype::StringAscii => return Err(r.invalid(FIELD, 0, "absent, as strings have no tiles")),
            _ => Self::Integer(unsigned_le(r.bytes(datatype.size() as u64, FIELD)?)),
        };
        match extent {
            Self::Integer(0) => Err(DecodeErrorKind::Invalid { found: 0, expected: "a tile extent" }.at(FIELD, offset)),
            Self::Float32(extent) if extent.is_nan() || extent < 0.0 => Err(refused_extent(extent.into(), offset)),
            Self::Float64(extent) if extent.is_nan() || extent < 0.0 => Err(refused_extent(extent, offset)),
            extent => Ok(extent),
        }
    }

    /// Writes the extent of a dimension of `datatype`.
    pub fn encode(&self, w: &mut Writer, datatype: Datatype) {
        match *self {
            Self::Integer(extent) => Coordinate::Unsigned(extent).encode(w, datatype),
            Self::Float32(extent) => w.f32(extent),
            Self::Float64(extent) => w.f64(extent),
        }
    }
}

/// Reads a datatype that dimensions can have.
pub(crate) fn decode_datatype(r: &mut Reader<'_>, field: &'static str) -> Result<Datatype, DecodeError> {
    let before = r.clone();
    let datatype = Datatype::decode(r, field)?;
    if datatype.is_dimension_type() {
        return Ok(datatype);
    }
    Err(before.invalid(field, datatype.code().into(), "a datatype of dimensions"))
}

/// Coordinates hold one value, strings any number; the field says nothing else.
fn check_cell_val_num(r: &mut Reader<'_>, datatype: Datatype) -> Result<(), DecodeError> {
    const FIELD: &str = "dimension cell val num";
    let offset = r.offset();
    let found = CellValNum::decode(r, FIELD)?;
    if found.is_var() == (datatype == Datatype::StringAscii) && matches!(found.fixed(), None | Some(1)) {
        return Ok(());
    }
    let found = found.fixed().unwrap_or(u32::MAX).into();
    Err(DecodeErrorKind::Invalid { found, expected: "1, or variable for STRING_ASCII" }.at(FIELD, offset))
}

fn check_domain_size(r: &mut Reader<'_>, datatype: Datatype) -> Result<(), DecodeError> {
    let offset = r.offset();
    let found = r.u64("domain size")?;
    let expected = domain_bytes(datatype);
    if found == expected { Ok(()) } else { Err(DecodeErrorKind::Mismatch { found, expected }.at("domain size", offset)) }
}

/// Bytes of a stored domain: two values, and none for strings.
fn domain_bytes(datatype: Datatype) -> u64 {
    if datatype == Datatype::StringAscii { 0 } else { 2 * datatype.size() as u64 }
}

fn decode_domain(r: &mut Reader<'_>, datatype: Datatype) -> Result<Option<Range>, DecodeError> {
    if datatype == Datatype::StringAscii {
        return Ok(None);
    }
    let offset = r.offset();
    let domain = Range::decode(r, datatype, "dimension domain")?;
    if domain.is_valid() {
        return Ok(Some(domain));
    }
    let reason = format!("from {:?} to {:?} there is no value", domain.low(), domain.high());
    Err(DecodeErrorKind::Refused { reason }.at("dimension domain", offset))
}

#[cold]
fn refused_extent(extent: f64, offset: u64) -> DecodeError {
    DecodeErrorKind::Refused { reason: format!("{extent} is not a tile extent") }.at("tile extent", offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_tiles_count_whole_extents_from_the_low_end() {
        let dimension = Dimension::new("x", Datatype::Float64, Range::Float64(-1.0, 1.0), Some(TileExtent::Float64(0.5)));
        let tile = |value| dimension.tile_index(Coordinate::Float64(value)).unwrap();
        assert_eq!([tile(-1.0), tile(-0.6), tile(-0.5), tile(0.99), tile(1.0)], [0, 0, 1, 3, 4]);
        assert_eq!([tile(f64::NAN), tile(-7.0), tile(f64::INFINITY)], [0, 0, u64::MAX]);
        assert_eq!(dimension.tile_index(Coordinate::Float32(0.0)), None);
    }

    #[test]
    fn integer_tiles_count_across_the_whole_of_a_signed_type() {
        let domain = Range::Signed(i64::MIN, i64::MAX - 1);
        let dimension = Dimension::new("x", Datatype::Int64, domain, Some(TileExtent::Integer(1 << 62)));
        let tile = |value| dimension.tile_index(Coordinate::Signed(value)).unwrap();
        assert_eq!([tile(i64::MIN), tile(-1), tile(0), tile(i64::MAX - 1)], [0, 1, 2, 3]);
    }

    #[test]
    fn string_dimensions_have_no_tiles() {
        assert_eq!(Dimension::string("s").tile_index(Coordinate::String(b"a")), None);
    }

    #[test]
    fn an_extent_of_zero_is_refused_with_its_place() {
        // Domain [1, 4] of INT32, extent present: 0.
        let bytes = [1, 0, 0, 0, b'd', 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0];
        let version = FormatVersion::new(4).unwrap();
        let error = Dimension::decode(&mut Reader::new(&bytes), version, Datatype::Int32).unwrap_err();
        assert_eq!(error.to_string(), "tile extent: 0 is not a tile extent (at byte 14)");
    }

    #[test]
    fn a_reversed_domain_is_refused() {
        let bytes = [0, 0, 0, 0, 4, 1, 1];
        let version = FormatVersion::new(4).unwrap();
        let error = Dimension::decode(&mut Reader::new(&bytes), version, Datatype::UInt8).unwrap_err();
        assert_eq!((error.field, error.offset), ("dimension domain", 4));
    }
}
