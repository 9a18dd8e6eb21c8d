//! The domain: all dimensions (array schema, "Domain"; 03-schema §2).

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::{Datatype, FormatVersion};

use crate::Dimension;
use crate::dimension::decode_datatype;

/// The dimensions of an array, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    /// The dimensions; a decoded or validated schema has at least one.
    pub dimensions: Vec<Dimension>,
}

impl Domain {
    /// The dimension with this name, and its index; the first, should there be several.
    #[must_use]
    pub fn dimension(&self, name: &str) -> Option<(usize, &Dimension)> {
        self.dimensions.iter().enumerate().find(|(_, dimension)| dimension.name == name)
    }

    /// Whether all dimensions have one datatype.
    #[must_use]
    pub fn is_homogeneous(&self) -> bool {
        self.dimensions.iter().zip(self.dimensions.iter().skip(1)).all(|(a, b)| a.datatype == b.datatype)
    }

    /// Whether some dimension is a string.
    #[must_use]
    pub fn has_var_dimension(&self) -> bool {
        self.dimensions.iter().any(Dimension::is_var)
    }

    /// Reads the domain.
    ///
    /// # Errors
    /// As [`Dimension::decode`], and for no dimensions at all.
    pub fn decode(r: &mut Reader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        let mut datatype = Datatype::Int32;
        if !version.has_dimension_fields() {
            datatype = decode_datatype(r, "domain datatype")?;
        }
        let before = r.clone();
        let count = r.count_u32("dimension count", Dimension::MIN_BYTES)?;
        if count == 0 {
            return Err(before.invalid("dimension count", 0, "a number of dimensions"));
        }
        let dimensions = (0..count).map(|_| Dimension::decode(r, version, datatype)).collect::<Result<_, _>>()?;
        Ok(Self { dimensions })
    }

    /// Writes the domain as schemas of `version` store it: without fields of their own, dimensions share the datatype
    /// of the first.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion) {
        if !version.has_dimension_fields() {
            self.dimensions.first().map_or(Datatype::Int32, |first| first.datatype).encode(w);
        }
        w.len_u32(self.dimensions.len());
        for dimension in &self.dimensions {
            dimension.encode(w, version);
        }
    }
}
