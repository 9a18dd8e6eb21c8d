//! A fragment that is being written: data files tile by tile, then its metadata, then its commit file.

use std::sync::Arc;

use rayon::prelude::*;
use talavera_codec::Writer;
use talavera_directory::{ArrayPaths, TimestampedName};
use talavera_fragment::{
    DataFile, DataPart, FieldEntry, FieldId, FieldLayout, FieldShape, FieldStatistics, Footer, FragmentStatistics,
    ProcessedConditions, RTree, TileMinMax, TileNullCounts, TileOffsets, TileSizes, TileSums, ValueSize, stored_statistics,
};
use talavera_pipeline::GenericTile;
use talavera_schema::{ArraySchema, NdRange};
use talavera_storage::{ObjectPath, Storage, StorageExt};
use talavera_types::FormatVersion;

use super::data_file::DataFileWriter;
use super::encode::{EncodedTile, FieldEncoder};
use super::in_order::in_order;
use super::statistics::{TileStatistics, of_fragment};
use super::tile::{FieldTile, Tile};
use crate::{EngineOptions, Error};

/// A fragment that nobody sees yet. Dropped before [`FragmentWriter::commit`], nothing of it stays.
pub(crate) struct FragmentWriter {
    storage: Arc<dyn Storage>,
    options: EngineOptions,
    schema: Arc<ArraySchema>,
    schema_name: String,
    name: TimestampedName,
    version: FormatVersion,
    folder: ObjectPath,
    commit_file: ObjectPath,
    encoders: Vec<FieldEncoder>,
    /// The data files of each encoder's field.
    files: Vec<FieldFiles>,
    mbrs: Vec<NdRange>,
    tiles: u64,
    last_tile_cells: u64,
    committed: bool,
}

/// The data files of one field and the lists about its tiles.
#[derive(Default)]
struct FieldFiles {
    fixed: Option<DataFileWriter>,
    var: Option<DataFileWriter>,
    validity: Option<DataFileWriter>,
    offsets: Vec<u64>,
    var_offsets: Vec<u64>,
    var_sizes: Vec<u64>,
    validity_offsets: Vec<u64>,
    statistics: Vec<TileStatistics>,
}

impl FragmentWriter {
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        options: EngineOptions,
        root: &ObjectPath,
        schema: (Arc<ArraySchema>, String),
        name: TimestampedName,
    ) -> Result<Self, Error> {
        let (schema, schema_name) = schema;
        let version = schema.version.for_new_fragments();
        let paths = ArrayPaths::new(root.clone());
        let folder = paths.fragment(&name, version)?;
        let commit_file =
            paths.commit(&name, version)?.ok_or_else(|| Error::invalid("fragments of this version cannot be written"))?;
        let dimensions = if schema.is_dense() { 0 } else { schema.domain.dimensions.len() };
        let attributes = (0..schema.attributes.len()).map(FieldId::Attribute);
        let ids = attributes.chain((0..dimensions).map(FieldId::Dimension));
        let encoder = |field| FieldEncoder::new(&schema, field, version, options.key.as_ref());
        let encoders = ids.map(encoder).collect::<Result<Vec<_>, _>>()?;
        let files = encoders.iter().map(|_| FieldFiles::default()).collect();
        storage.create_folder(&folder)?;
        Ok(Self {
            storage,
            options,
            schema,
            schema_name,
            name,
            version,
            folder,
            commit_file,
            encoders,
            files,
            mbrs: Vec::new(),
            tiles: 0,
            last_tile_cells: 0,
            committed: false,
        })
    }

    /// The fields that a tile has, in their order.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = FieldId> {
        self.encoders.iter().map(|encoder| encoder.field)
    }

    /// Makes tiles from their sources and encodes them, all in parallel, and appends them to the data files.
    pub(crate) fn append<'c, S: Sync>(
        &mut self,
        sources: &[S],
        make: impl Fn(&S) -> Result<Tile<'c>, Error> + Sync,
    ) -> Result<(), Error> {
        let encoders = &self.encoders;
        let encode = |source: &S, shared: bool| {
            let tile = make(source)?;
            let encode = |(encoder, cells): (&FieldEncoder, FieldTile<'_>)| encoder.encode(cells, shared);
            let fields: Result<Vec<_>, Error> = match shared {
                true => encoders.par_iter().zip(tile.fields()).map(encode).collect(),
                false => encoders.iter().zip(tile.fields()).map(encode).collect(),
            };
            Ok((fields?, tile.cells() as u64, tile.mbr))
        };
        let place = Place { storage: &*self.storage, folder: &self.folder, version: self.version, schema: &self.schema };
        let take = |(fields, cells, mbr): (Vec<EncodedTile>, u64, Option<NdRange>)| {
            place.write(encoders, &mut self.files, fields)?;
            self.mbrs.extend(mbr);
            self.tiles += 1;
            self.last_tile_cells = cells;
            Ok(())
        };
        in_order(sources, encode, take)
    }

    /// The ranges that hold all cells appended to a sparse fragment.
    pub(crate) fn bounds(&self) -> Option<NdRange> {
        let (first, rest) = self.mbrs.split_first()?;
        let mut all = first.clone();
        rest.iter().for_each(|mbr| all.union_with(mbr));
        Some(all)
    }

    /// Makes everything durable and then visible; gives the fragment's name.
    pub(crate) fn commit(mut self, non_empty_domain: NdRange) -> Result<String, Error> {
        let sizes = self.files.iter_mut().map(FieldFiles::finish).collect::<Result<Vec<_>, _>>()?;
        let metadata = self.metadata(non_empty_domain, &sizes)?;
        let path = self.folder.join("__fragment_metadata.tdb")?;
        self.storage.write(&path, &metadata)?;
        self.storage.write(&self.commit_file, &[])?;
        self.committed = true;
        Ok(self.name.as_str().to_owned())
    }

    /// The metadata file: a generic tile for each list, then the footer (04-fragment-metadata §1).
    fn metadata(&self, non_empty_domain: NdRange, sizes: &[FileSizes]) -> Result<Vec<u8>, Error> {
        let (version, schema) = (self.version, &*self.schema);
        let layout = FieldLayout::new(version, schema, false, false);
        let mut file = Sections { bytes: Writer::new(), version, options: &self.options, path: &self.folder };
        let rtree = file.section(|w| RTree::build(self.mbrs.clone()).encode(w, version, &schema.domain))?;
        let mut entries = vec![FieldEntry::default(); layout.count()];
        let written = || self.encoders.iter().zip(&self.files).zip(sizes);
        let written = |id| written().find(|((encoder, _), _)| encoder.field == id);
        let files: Vec<Option<Written<'_>>> =
            layout.fields().map(|id| written(id).map(|((encoder, files), sizes)| Written { encoder, files, sizes })).collect();
        for (entry, files) in entries.iter_mut().zip(&files) {
            if let Some(Written { sizes, .. }) = files {
                entry.file_bytes = sizes.fixed;
                entry.var_file_bytes = sizes.var;
                entry.validity_file_bytes = sizes.validity;
            }
        }
        let zeros = vec![0; usize::try_from(self.tiles).unwrap_or(usize::MAX)];
        let list = |files: &Option<Written<'_>>, list: fn(&FieldFiles) -> &Vec<u64>| {
            files.map(|written| list(written.files).clone()).filter(|list| !list.is_empty()).unwrap_or_else(|| zeros.clone())
        };
        for (entry, files) in entries.iter_mut().zip(&files) {
            entry.tile_offsets = file.section(|w| TileOffsets(list(files, |field| &field.offsets)).encode(w))?;
        }
        for (entry, files) in entries.iter_mut().zip(&files) {
            entry.tile_var_offsets = file.section(|w| TileOffsets(list(files, |field| &field.var_offsets)).encode(w))?;
        }
        for (entry, files) in entries.iter_mut().zip(&files) {
            entry.tile_var_sizes = file.section(|w| TileSizes(list(files, |field| &field.var_sizes)).encode(w))?;
        }
        if version.has_validity() {
            for (entry, files) in entries.iter_mut().zip(&files) {
                entry.tile_validity_offsets =
                    file.section(|w| TileOffsets(list(files, |field| &field.validity_offsets)).encode(w))?;
            }
        }
        if version.has_tile_statistics() {
            self.tile_statistics(&mut file, &mut entries, &files)?;
        }
        let fragment_statistics = match version.has_fragment_statistics() {
            true => Some(file.section(|w| self.fragment_statistics(&files).encode(w))?),
            false => None,
        };
        // Version 15 has the tile, but no offset for it in the footer.
        let conditions =
            if version.has_delete_metadata() { Some(file.section(|w| ProcessedConditions::default().encode(w))?) } else { None };
        let dense = schema.is_dense();
        let footer = Footer {
            version,
            schema_name: version.has_schema_folder().then(|| self.schema_name.clone()),
            dense,
            non_empty_domain: Some(non_empty_domain),
            sparse_tile_count: if dense { 0 } else { self.tiles },
            last_tile_cells: self.last_tile_cells,
            layout,
            fields: entries,
            rtree,
            fragment_statistics,
            processed_conditions: conditions.filter(|_| version.has_processed_conditions()),
            optional_sections: Vec::new(),
        };
        footer.encode_at_end(&mut file.bytes, schema);
        Ok(file.bytes.into_vec())
    }

    fn tile_statistics(
        &self,
        file: &mut Sections<'_>,
        entries: &mut [FieldEntry],
        files: &[Option<Written<'_>>],
    ) -> Result<(), Error> {
        let layout = FieldLayout::new(self.version, &self.schema, false, false);
        let bounds = |field: FieldId, files: &Option<Written<'_>>, value: fn(&TileStatistics) -> &Vec<u8>| {
            let stored = files.filter(|written| written.encoder.stored.min_max);
            match stored {
                Some(Written { encoder, files, .. }) => {
                    let values = files.statistics.iter().map(|tile| value(tile).as_slice());
                    TileMinMax::new(ValueSize::of(encoder.shape), values).unwrap_or_else(|_| TileMinMax::none())
                }
                None if files.is_none() => self.bounds_without_files(field),
                None => TileMinMax::none(),
            }
        };
        for ((entry, files), field) in entries.iter_mut().zip(files).zip(layout.fields()) {
            entry.mins = file.section(|w| bounds(field, files, |tile| &tile.min).encode(w))?;
        }
        for ((entry, files), field) in entries.iter_mut().zip(files).zip(layout.fields()) {
            entry.maxes = file.section(|w| bounds(field, files, |tile| &tile.max).encode(w))?;
        }
        for ((entry, files), field) in entries.iter_mut().zip(files).zip(layout.fields()) {
            if files.is_none() && stored_statistics(&self.schema, field, self.schema.is_dense()).sum {
                entry.sums = file.section(|w| TileSums(vec![0; usize::try_from(self.tiles).unwrap_or(0)]).encode(w))?;
                continue;
            }
            let sums = files.filter(|written| written.encoder.stored.sum);
            let sums = sums.map(|written| written.files.statistics.iter().map(|tile| tile.sum_bits).collect());
            entry.sums = file.section(|w| TileSums(sums.unwrap_or_default()).encode(w))?;
        }
        for (entry, files) in entries.iter_mut().zip(files) {
            let counts = files.filter(|written| written.encoder.stored.null_count);
            let counts = counts.map(|written| written.files.statistics.iter().map(|tile| tile.null_count).collect());
            entry.null_counts = file.section(|w| TileNullCounts(counts.unwrap_or_default()).encode(w))?;
        }
        Ok(())
    }

    /// The bounds of a field without files: for the zipped coordinates zeros, as other writers have them.
    fn bounds_without_files(&self, field: FieldId) -> TileMinMax {
        let shape = field.shape(&self.schema).filter(|_| field == FieldId::Coordinates);
        let bytes = shape.and_then(FieldShape::cell_bytes).unwrap_or(0);
        let zeros = vec![0; usize::try_from(bytes).unwrap_or(0)];
        let values = (0..if bytes > 0 { self.tiles } else { 0 }).map(|_| zeros.as_slice());
        TileMinMax::new(if bytes > 0 { ValueSize::Fixed(bytes) } else { ValueSize::Var }, values)
            .unwrap_or_else(|_| TileMinMax::none())
    }

    fn fragment_statistics(&self, files: &[Option<Written<'_>>]) -> FragmentStatistics {
        let layout = FieldLayout::new(self.version, &self.schema, false, false);
        let of_field = |(files, field): (&Option<Written<'_>>, FieldId)| match files {
            Some(Written { encoder, files, .. }) => of_fragment(encoder.shape, encoder.stored, &files.statistics),
            None => {
                let first = self.schema.domain.dimensions.first().filter(|_| field == FieldId::Coordinates);
                let zero = vec![0; first.map_or(0, |dimension| dimension.datatype.size())];
                FieldStatistics { min: zero.clone(), max: zero, ..FieldStatistics::default() }
            }
        };
        FragmentStatistics { fields: files.iter().zip(layout.fields()).map(of_field).collect() }
    }
}

impl Drop for FragmentWriter {
    fn drop(&mut self) {
        if !self.committed {
            self.files.clear();
            // Nobody sees the folder; what cannot be removed now is as good as gone.
            let _ = self.storage.delete_folder(&self.folder);
        }
    }
}

/// Where the data files of a fragment lie.
struct Place<'w> {
    storage: &'w dyn Storage,
    folder: &'w ObjectPath,
    version: FormatVersion,
    schema: &'w ArraySchema,
}

impl Place<'_> {
    /// Appends the fields of a tile to the data files.
    fn write(&self, encoders: &[FieldEncoder], files: &mut [FieldFiles], tile: Vec<EncodedTile>) -> Result<(), Error> {
        for ((encoder, files), encoded) in encoders.iter().zip(files).zip(tile) {
            let create = |part: DataPart| -> Result<DataFileWriter, Error> {
                let file = DataFile { field: encoder.field, part };
                let name = file.name(self.version, self.schema).unwrap_or_default();
                Ok(DataFileWriter::new(self.storage.create_file(&self.folder.join(&name)?)?))
            };
            files.append(encoded, create)?;
        }
        Ok(())
    }
}

/// A field that has data files.
#[derive(Clone, Copy)]
struct Written<'w> {
    encoder: &'w FieldEncoder,
    files: &'w FieldFiles,
    sizes: &'w FileSizes,
}

/// Bytes of the data files of a field.
#[derive(Debug, Clone, Copy, Default)]
struct FileSizes {
    fixed: u64,
    var: u64,
    validity: u64,
}

impl FieldFiles {
    /// Appends a tile; a file begins with the first tile that has something for it.
    fn append(&mut self, tile: EncodedTile, create: impl Fn(DataPart) -> Result<DataFileWriter, Error>) -> Result<(), Error> {
        let write = |file: &mut Option<DataFileWriter>, part: DataPart, bytes: &[u8]| match file {
            Some(file) => file.append(bytes),
            None => file.insert(create(part)?).append(bytes),
        };
        self.offsets.push(write(&mut self.fixed, DataPart::Fixed, &tile.fixed)?);
        if let Some(var) = &tile.var {
            self.var_offsets.push(write(&mut self.var, DataPart::Var, var)?);
            self.var_sizes.push(tile.var_bytes);
        }
        if let Some(validity) = &tile.validity {
            self.validity_offsets.push(write(&mut self.validity, DataPart::Validity, validity)?);
        }
        self.statistics.push(tile.statistics);
        Ok(())
    }

    fn finish(&mut self) -> Result<FileSizes, Error> {
        let finish = |file: &mut Option<DataFileWriter>| file.take().map_or(Ok(0), DataFileWriter::finish);
        Ok(FileSizes { fixed: finish(&mut self.fixed)?, var: finish(&mut self.var)?, validity: finish(&mut self.validity)? })
    }
}

/// A metadata file that grows section by section.
struct Sections<'s> {
    bytes: Writer,
    version: FormatVersion,
    options: &'s EngineOptions,
    path: &'s ObjectPath,
}

impl Sections<'_> {
    /// Appends a generic tile and gives its offset.
    fn section(&mut self, payload: impl FnOnce(&mut Writer)) -> Result<u64, Error> {
        let mut w = Writer::new();
        payload(&mut w);
        let tile = GenericTile::encode(w.as_slice(), self.version, self.options.key.as_ref());
        let tile = tile.map_err(|source| Error::GenericTile { path: self.path.clone(), source })?;
        let offset = self.bytes.len() as u64;
        self.bytes.bytes(&tile);
        Ok(offset)
    }
}
