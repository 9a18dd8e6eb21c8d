//! Minimum, maximum, sum and null count of every field over the whole fragment: fragment page, "Fragment
//! Min/Max/Sum/Null Count".

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::Datatype;

use crate::{FieldLayout, Sum};

/// The statistics of all fields, in index order. In files from version 12 on, whatever the format's page says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FragmentStatistics {
    /// One entry per field.
    pub fields: Vec<FieldStatistics>,
}

/// The statistics of one field over all tiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldStatistics {
    /// The minimum in the bytes of the datatype; empty where the field has none.
    pub min: Vec<u8>,
    /// The maximum in the bytes of the datatype; empty where the field has none.
    pub max: Vec<u8>,
    /// The sum, as the 8 bytes stored; 0 where the field has none, and always for CHAR.
    pub sum_bits: u64,
    /// Null cells.
    pub null_count: u64,
}

impl FragmentStatistics {
    /// Reads the payload of a generic tile: the fields of `layout` one behind the other.
    ///
    /// # Errors
    /// When the payload ends early or goes on.
    pub fn decode(payload: &[u8], layout: FieldLayout) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let fields = layout.fields().map(|_| FieldStatistics::decode(&mut r)).collect::<Result<_, _>>()?;
        r.finish("fragment statistics")?;
        Ok(Self { fields })
    }

    /// Writes what [`FragmentStatistics::decode`] reads.
    pub fn encode(&self, w: &mut Writer) {
        for field in &self.fields {
            field.encode(w);
        }
    }
}

impl FieldStatistics {
    /// Reads one field.
    ///
    /// # Errors
    /// When the bytes end early.
    pub fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let min = r.bytes_u64("fragment minimum")?.to_vec();
        let max = r.bytes_u64("fragment maximum")?.to_vec();
        let sum_bits = r.u64("fragment sum")?;
        let null_count = r.u64("fragment null count")?;
        Ok(Self { min, max, sum_bits, null_count })
    }

    /// Writes one field.
    pub fn encode(&self, w: &mut Writer) {
        w.bytes_u64(&self.min);
        w.bytes_u64(&self.max);
        w.u64(self.sum_bits);
        w.u64(self.null_count);
    }

    /// The sum, if a field with this datatype has one.
    #[must_use]
    pub fn sum(&self, datatype: Datatype) -> Option<Sum> {
        Sum::from_bits(self.sum_bits, datatype)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn a_field_is_minimum_maximum_sum_and_null_count() {
        let bytes = [
            1, 0, 0, 0, 0, 0, 0, 0, 10, // minimum 10
            1, 0, 0, 0, 0, 0, 0, 0, 12, // maximum 12
            22, 0, 0, 0, 0, 0, 0, 0, // sum 22
            1, 0, 0, 0, 0, 0, 0, 0, // one null cell
        ];
        let statistics = FieldStatistics::decode(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(statistics, FieldStatistics { min: vec![10], max: vec![12], sum_bits: 22, null_count: 1 });
        assert_eq!(statistics.sum(Datatype::UInt8), Some(Sum::Unsigned(22)));
    }

    prop_compose! {
        fn field_statistics()(
            min in proptest::collection::vec(any::<u8>(), 0..5),
            max in proptest::collection::vec(any::<u8>(), 0..5),
            sum_bits: u64,
            null_count: u64,
        ) -> FieldStatistics {
            FieldStatistics { min, max, sum_bits, null_count }
        }
    }

    talavera_testkit::decoder_laws! {
        mod field_laws {
            value: FieldStatistics = field_statistics(),
            encode: |value: &FieldStatistics| encoded(|w| value.encode(w)),
            decode: |bytes: &[u8]| FieldStatistics::decode(&mut Reader::new(bytes)),
        }
    }
}
