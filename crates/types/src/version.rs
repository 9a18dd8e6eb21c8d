//! Format versions and what each changed: the one place where versions are compared.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

/// The version of the array format that a schema, fragment or tile was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion(u32);

/// A format version that this library does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("format version {found} is not supported, only {oldest} to {newest} are", oldest = FormatVersion::OLDEST, newest = FormatVersion::NEWEST)]
pub struct UnsupportedVersion {
    /// The version found.
    pub found: u32,
}

impl FormatVersion {
    /// The oldest version that is read, written by 1.4.
    pub const OLDEST: Self = Self(1);
    /// The newest version that is read; in no release yet.
    pub const NEWEST: Self = Self(23);
    /// The version that new arrays get: what libtiledb 2.30 writes.
    pub const DEFAULT: Self = Self(22);

    /// The version with this number.
    ///
    /// # Errors
    /// When it is outside [`FormatVersion::OLDEST`] to [`FormatVersion::NEWEST`].
    pub fn new(number: u32) -> Result<Self, UnsupportedVersion> {
        if (Self::OLDEST.0..=Self::NEWEST.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(UnsupportedVersion { found: number })
        }
    }

    /// The number on disk.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// Reads the 32-bit number.
    ///
    /// # Errors
    /// [`DecodeErrorKind::Invalid`] for a version that is not supported.
    pub fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let offset = r.offset();
        let found = r.u32(field)?;
        Self::new(found).map_err(|_| {
            DecodeErrorKind::Invalid { found: found.into(), expected: "a supported format version (1 to 23)" }.at(field, offset)
        })
    }

    /// Writes the 32-bit number.
    pub fn encode(self, w: &mut Writer) {
        w.u32(self.0);
    }

    /// The version that a new fragment of an array with this schema version gets: the array keeps its own from 7 on,
    /// older ones become the default (01-layout, "Mixed layouts").
    #[must_use]
    pub fn for_new_fragments(self) -> Self {
        if self.0 < 7 { Self::DEFAULT } else { self }
    }

    /// The version that a changed schema of an array with this schema version gets: the default, unless the array is newer
    /// (01-layout, "Mixed layouts").
    #[must_use]
    pub fn for_new_schemas(self) -> Self {
        self.max(Self::DEFAULT)
    }
}

impl std::fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// One row per difference between versions: the version that brought it and its name.
macro_rules! since {
    ($($(#[$doc:meta])* $version:literal => $name:ident,)*) => {
        impl FormatVersion {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(self) -> bool {
                    self.0 >= $version
                }
            )*
        }
    };
}

since! {
    /// Zipped coordinates are always split by dimension before filtering; before, only under a compressor.
    2 => always_splits_coordinates,
    /// Fragment metadata is an R-tree, a generic tile per list, and a footer; before, one generic tile.
    3 => has_footer,
    /// Fragment names end in two timestamps before the UUID; before, in UUID and timestamp.
    3 => has_timestamp_range_in_name,
    /// Each dimension is a field of its own with its datatype, filters and files; before, all are zipped in `__coords`.
    5 => has_dimension_fields,
    /// The schema says whether coordinates may repeat.
    5 => has_allows_dups,
    /// A fragment is committed by a file of its own; before, by its metadata file.
    5 => has_commit_files,
    /// Fragment names end in the format version.
    5 => has_version_in_name,
    /// Attributes store a fill value.
    6 => has_fill_value,
    /// Attributes may be nullable; validity has its own filters and files.
    7 => has_validity,
    /// New arrays can be of this version; all that is written to them later is, too.
    7 => can_be_created,
    /// Data files are named by the percent-encoded field name; before, by the name as it is.
    8 => encodes_file_names,
    /// Data files are named by field index.
    9 => names_files_by_index,
    /// Consolidated footers name fragments by folder; before, by absolute URI.
    9 => consolidates_footers_by_name,
    /// Schemas lie in `__schema`, and a footer names its own.
    10 => has_schema_folder,
    /// The footer's length always follows the footer; before, only where a dimension is a string.
    10 => has_footer_length,
    /// Arrays do without `__lock.tdb`, which libraries that write older versions cannot open an array without.
    11 => needs_no_lock_file,
    /// No chunk cuts a cell of variable length. Libraries that write older versions cut such tiles into equal chunks, none
    /// where the cells have no bytes, and cannot read others.
    11 => keeps_var_cells_whole,
    /// Fragment metadata holds minimum, maximum, sum and null count per tile.
    11 => has_tile_statistics,
    /// Fragment metadata holds minimum, maximum, sum and null count of the fragment.
    12 => has_fragment_statistics,
    /// Fragments lie in `__fragments`, commit files in `__commits`, consolidated footers in `__fragment_meta`.
    12 => has_commits_folder,
    /// RLE of variable-length ASCII takes the offsets too.
    12 => has_ascii_rle,
    /// DICTIONARY exists, for variable-length ASCII.
    13 => has_ascii_dictionary,
    /// Other filters may follow RLE of variable-length ASCII; libraries that write older versions refuse the schema.
    13 => combines_ascii_rle,
    /// Sparse cells are in global order, if no dimension is of strings; libraries that write versions 9 to 13 left those of
    /// INT16 dimensions that start below zero in another.
    14 => keeps_numbers_in_order,
    /// A fragment may store the time that each cell was written.
    14 => has_cell_timestamps,
    /// A fragment may store the time that each cell was deleted.
    15 => has_delete_metadata,
    /// A sparse fragment partly inside a time window is read cell by cell.
    15 => overlaps_time_window_partially,
    /// SCALE_FLOAT exists.
    15 => has_float_scale_filter,
    /// Statistics of dense tiles that were written in part count fill values; before, zeros and nulls.
    16 => has_exact_dense_statistics,
    /// The footer points to the processed conditions; version 15 stores them without a pointer.
    16 => has_processed_conditions,
    /// Cells are deleted by condition files.
    16 => has_deletes,
    /// XOR and WEBP exist.
    16 => has_xor_and_webp_filters,
    /// Attributes store whether their values ascend.
    17 => has_data_order,
    /// RLE and DICTIONARY of variable-length UTF-8 take the offsets too.
    17 => has_utf8_rle_and_dictionary,
    /// Schemas store dimension labels.
    18 => has_dimension_labels,
    /// Vacuum files hold relative paths.
    19 => has_relative_vacuum_paths,
    /// DELTA exists.
    19 => has_delta_filter,
    /// Schemas store enumerations.
    20 => has_enumerations,
    /// A filter sees the datatype that the filter before it hands on; before, that of the field.
    20 => hands_datatype_on,
    /// BIT_WIDTH_REDUCTION and POSITIVE_DELTA act on dates and times.
    20 => reduces_dates,
    /// DOUBLE_DELTA stores the datatype to reinterpret as.
    20 => has_double_delta_reinterpret,
    /// Schemas store a current domain.
    22 => has_current_domain,
    /// The footer ends in optional sections, with global-order bounds per tile.
    23 => has_optional_sections,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_outside_the_table_are_refused_with_both_numbers() {
        assert_eq!(FormatVersion::new(24).unwrap_err().to_string(), "format version 24 is not supported, only 1 to 23 are");
        assert!(FormatVersion::new(0).is_err());
        assert!(FormatVersion::new(u32::MAX).is_err());
    }

    #[test]
    fn arrays_keep_their_version_from_seven_on() {
        let next = |number| FormatVersion::new(number).unwrap().for_new_fragments().number();
        assert_eq!([next(1), next(6), next(7), next(22), next(23)], [22, 22, 7, 22, 23]);
    }

    #[test]
    fn changed_schemas_are_of_the_default_version_at_least() {
        let next = |number| FormatVersion::new(number).unwrap().for_new_schemas().number();
        assert_eq!([next(3), next(11), next(22), next(23)], [22, 22, 22, 23]);
    }
}
