//! Where a metadata file keeps its footer: fragment page, note on the footer's size.

use talavera_schema::ArraySchema;
use talavera_types::FormatVersion;

use crate::FieldLayout;

/// Where the footer is in a metadata file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FooterLocation {
    /// The last bytes of the file, this many.
    Last(u64),
    /// The last 8 bytes of the file are the footer's length in bytes, and the footer lies right before them.
    LengthInLastEightBytes,
}

impl FooterLocation {
    /// Where the footer of a fragment is, by the version in the fragment's name (which stands for 3 as well, if it is 4);
    /// `None` for versions 1 and 2, which have none.
    ///
    /// From version 10 on `schema` has no say, so any schema of the array will do; before, it is `__array_schema.tdb`.
    #[must_use]
    pub fn of(name_version: FormatVersion, schema: &ArraySchema) -> Option<Self> {
        let dimensions = &schema.domain.dimensions;
        if !name_version.has_footer() {
            return None;
        }
        if name_version.has_footer_length() || dimensions.iter().any(|dimension| dimension.is_var()) {
            return Some(Self::LengthInLastEightBytes);
        }
        let layout = FieldLayout::new(name_version, schema, false, false);
        let (fields, var_fields) = (layout.count() as u64, layout.var_count(name_version) as u64);
        // Version, two flags, number of tiles and of cells in the last tile.
        let head = 4 + 1 + 1 + 8 + 8;
        let domain: u64 = dimensions.iter().map(|dimension| 2 * dimension.datatype.size() as u64).sum();
        // Sizes and tile offsets of files; sizes, tile offsets and tile sizes of variable-length ones; the same of validity.
        let mut numbers = 2 * fields + 3 * var_fields;
        if name_version.has_validity() {
            numbers += 2 * fields;
        }
        let rtree = 1;
        Some(Self::Last(head + domain + 8 * (numbers + rtree)))
    }

    /// Where the footer begins and ends in a file of `file_bytes`, given its last 8 bytes; `None` if it does not fit.
    #[must_use]
    pub fn range(self, file_bytes: u64, last_eight: [u8; 8]) -> Option<std::ops::Range<u64>> {
        let (end, length) = match self {
            Self::Last(length) => (file_bytes, length),
            Self::LengthInLastEightBytes => (file_bytes.checked_sub(8)?, u64::from_le_bytes(last_eight)),
        };
        Some(end.checked_sub(length)?..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_beyond_the_file_has_no_range() {
        let length = FooterLocation::LengthInLastEightBytes;
        assert_eq!(length.range(100, [12, 0, 0, 0, 0, 0, 0, 0]), Some(80..92));
        assert_eq!(length.range(100, [93, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(length.range(100, [0xff; 8]), None);
        assert_eq!(length.range(7, [0; 8]), None);
        assert_eq!(FooterLocation::Last(30).range(100, [0; 8]), Some(70..100));
        assert_eq!(FooterLocation::Last(101).range(100, [0; 8]), None);
    }
}
