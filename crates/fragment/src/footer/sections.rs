//! The part of a footer that has one number per field: sizes of files and offsets of lists.

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::FormatVersion;

use crate::{FieldEntry, FieldId, FieldLayout, Footer, OptionalSection};

/// A list that fragment metadata holds for each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldSection {
    /// A [`TileOffsets`](crate::TileOffsets): the file of cells, or of offsets.
    TileOffsets,
    /// A [`TileOffsets`](crate::TileOffsets): the file of variable-length values.
    TileVarOffsets,
    /// A [`TileSizes`](crate::TileSizes): variable-length values.
    TileVarSizes,
    /// A [`TileOffsets`](crate::TileOffsets): the validity file.
    TileValidityOffsets,
    /// A [`TileMinMax`](crate::TileMinMax).
    Mins,
    /// A [`TileMinMax`](crate::TileMinMax).
    Maxes,
    /// A [`TileSums`](crate::TileSums).
    Sums,
    /// A [`TileNullCounts`](crate::TileNullCounts).
    NullCounts,
}

impl Footer {
    /// The offset of a list of a field, or `None` where the version has no such list or the fragment no such field.
    #[must_use]
    pub fn section(&self, section: FieldSection, field: FieldId) -> Option<u64> {
        use FieldSection as S;
        let index = self.layout.index(field)?;
        let is_var_index = index < self.layout.var_count(self.version);
        let entry = self.fields.get(index)?;
        let (exists, offset) = match section {
            S::TileOffsets => (true, entry.tile_offsets),
            S::TileVarOffsets => (is_var_index, entry.tile_var_offsets),
            S::TileVarSizes => (is_var_index, entry.tile_var_sizes),
            S::TileValidityOffsets => (self.version.has_validity(), entry.tile_validity_offsets),
            S::Mins => (self.version.has_tile_statistics(), entry.mins),
            S::Maxes => (self.version.has_tile_statistics(), entry.maxes),
            S::Sums => (self.version.has_tile_statistics(), entry.sums),
            S::NullCounts => (self.version.has_tile_statistics(), entry.null_counts),
        };
        (exists && self.version.has_footer()).then_some(offset)
    }

    /// Where the section at `offset` ends at the latest: where the next one begins that the footer points to, or at
    /// `footer_offset`. Generic tiles know their own length; this bounds a read that has not seen it yet.
    ///
    /// In version 15 a section may end before: the processed conditions lie behind it, and nothing points there.
    #[must_use]
    pub fn section_end(&self, offset: u64, footer_offset: u64) -> u64 {
        self.offsets().filter(|other| *other > offset).fold(footer_offset, u64::min)
    }

    fn offsets(&self) -> impl Iterator<Item = u64> {
        let of_fields = self.fields.iter().flat_map(|entry| {
            [
                entry.tile_offsets,
                entry.tile_var_offsets,
                entry.tile_var_sizes,
                entry.tile_validity_offsets,
                entry.mins,
                entry.maxes,
                entry.sums,
                entry.null_counts,
            ]
        });
        let of_sections = self.optional_sections.iter().flat_map(|section| match section {
            OptionalSection::GlobalOrderBounds { mins, maxes } => [mins.as_slice(), maxes.as_slice()],
            OptionalSection::Unknown { .. } => [&[][..]; 2],
        });
        let single = [Some(self.rtree), self.fragment_statistics, self.processed_conditions];
        of_fields.chain(of_sections.flatten().copied()).chain(single.into_iter().flatten())
    }
}

impl FieldEntry {
    pub(crate) fn decode_sizes(
        r: &mut Reader<'_>,
        fields: &mut [Self],
        version: FormatVersion,
        layout: FieldLayout,
    ) -> Result<(), DecodeError> {
        let (all, var) = (layout.count(), layout.var_count(version));
        decode_each(r, fields, all, "file sizes", |entry| &mut entry.file_bytes)?;
        decode_each(r, fields, var, "file var sizes", |entry| &mut entry.var_file_bytes)?;
        if version.has_validity() {
            decode_each(r, fields, all, "file validity sizes", |entry| &mut entry.validity_file_bytes)?;
        }
        Ok(())
    }

    pub(crate) fn encode_sizes(w: &mut Writer, fields: &[Self], version: FormatVersion, layout: FieldLayout) {
        let (all, var) = (layout.count(), layout.var_count(version));
        encode_each(w, fields, all, |entry| entry.file_bytes);
        encode_each(w, fields, var, |entry| entry.var_file_bytes);
        if version.has_validity() {
            encode_each(w, fields, all, |entry| entry.validity_file_bytes);
        }
    }

    pub(crate) fn decode_offsets(
        r: &mut Reader<'_>,
        fields: &mut [Self],
        version: FormatVersion,
        layout: FieldLayout,
    ) -> Result<(), DecodeError> {
        let (all, var) = (layout.count(), layout.var_count(version));
        decode_each(r, fields, all, "tile offsets offsets", |entry| &mut entry.tile_offsets)?;
        decode_each(r, fields, var, "tile var offsets offsets", |entry| &mut entry.tile_var_offsets)?;
        decode_each(r, fields, var, "tile var sizes offsets", |entry| &mut entry.tile_var_sizes)?;
        if version.has_validity() {
            decode_each(r, fields, all, "tile validity offsets offsets", |entry| &mut entry.tile_validity_offsets)?;
        }
        if version.has_tile_statistics() {
            decode_each(r, fields, all, "mins offsets", |entry| &mut entry.mins)?;
            decode_each(r, fields, all, "maxes offsets", |entry| &mut entry.maxes)?;
            decode_each(r, fields, all, "sums offsets", |entry| &mut entry.sums)?;
            decode_each(r, fields, all, "null counts offsets", |entry| &mut entry.null_counts)?;
        }
        Ok(())
    }

    pub(crate) fn encode_offsets(w: &mut Writer, fields: &[Self], version: FormatVersion, layout: FieldLayout) {
        let (all, var) = (layout.count(), layout.var_count(version));
        encode_each(w, fields, all, |entry| entry.tile_offsets);
        encode_each(w, fields, var, |entry| entry.tile_var_offsets);
        encode_each(w, fields, var, |entry| entry.tile_var_sizes);
        if version.has_validity() {
            encode_each(w, fields, all, |entry| entry.tile_validity_offsets);
        }
        if version.has_tile_statistics() {
            encode_each(w, fields, all, |entry| entry.mins);
            encode_each(w, fields, all, |entry| entry.maxes);
            encode_each(w, fields, all, |entry| entry.sums);
            encode_each(w, fields, all, |entry| entry.null_counts);
        }
    }
}

/// Reads one number for each of the first `count` fields.
fn decode_each(
    r: &mut Reader<'_>,
    fields: &mut [FieldEntry],
    count: usize,
    field: &'static str,
    number: impl Fn(&mut FieldEntry) -> &mut u64,
) -> Result<(), DecodeError> {
    for entry in fields.iter_mut().take(count) {
        *number(entry) = r.u64(field)?;
    }
    Ok(())
}

/// Writes one number for each of the first `count` fields, 0 where there is no entry.
fn encode_each(w: &mut Writer, fields: &[FieldEntry], count: usize, number: impl Fn(&FieldEntry) -> u64) {
    for index in 0..count {
        w.u64(fields.get(index).map_or(0, &number));
    }
}
