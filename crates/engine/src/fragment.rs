//! A fragment of an open array: its footer, and the lists behind it, each read when it is first asked for.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use talavera_codec::DecodeErrorKind;
use talavera_fragment::{
    DataFile, DataPart, FieldId, FieldSection, Footer, FooterLocation, FragmentStatistics, ProcessedConditions, RTree,
    TileMinMax, TileNullCounts, TileOffsets, TileSizes, TileSums, ValueSize, legacy,
};
use talavera_schema::{ArraySchema, NdRange, TileGrid};
use talavera_storage::{ObjectPath, Storage, StorageError};
use talavera_types::FormatVersion;

use crate::{EngineOptions, Error, metadata_file};

/// How much of the end of a metadata file is read to find its footer; small files come whole.
const TAIL_BYTES: u64 = 16 << 10;

/// One fragment of an open array.
#[derive(Debug)]
pub struct Fragment {
    pub(crate) path: ObjectPath,
    pub(crate) name: String,
    pub(crate) timestamps: (u64, u64),
    pub(crate) schema: Arc<ArraySchema>,
    pub(crate) footer: Footer,
    metadata: MetadataFile,
    rtree: OnceLock<Arc<RTree>>,
    lists: Vec<OnceLock<Arc<FieldLists>>>,
}

/// The metadata file of a fragment, and what of it is in memory already.
#[derive(Debug)]
struct MetadataFile {
    path: ObjectPath,
    /// The whole file, where it is small.
    whole: Option<Bytes>,
    /// Where the last section ends; found out when a footer came from elsewhere.
    sections_end: OnceLock<u64>,
}

/// Where the tiles of a field lie.
#[derive(Debug, Default)]
pub(crate) struct FieldLists {
    pub(crate) offsets: TileOffsets,
    pub(crate) var_offsets: TileOffsets,
    pub(crate) var_sizes: TileSizes,
    pub(crate) validity_offsets: TileOffsets,
}

/// The statistics of a field in each tile.
#[derive(Debug)]
pub(crate) struct FieldStatisticsLists {
    pub(crate) mins: TileMinMax,
    pub(crate) maxes: TileMinMax,
    pub(crate) sums: TileSums,
    /// None where the field is not nullable or the counts are not to be believed.
    pub(crate) null_counts: Option<TileNullCounts>,
}

impl Default for FieldStatisticsLists {
    fn default() -> Self {
        Self { mins: TileMinMax::none(), maxes: TileMinMax::none(), sums: TileSums::default(), null_counts: None }
    }
}

/// Finds a schema by its file name; without one, the schema of arrays that have just one.
pub(crate) type FindSchema<'a> = dyn Fn(Option<&str>) -> Result<Arc<ArraySchema>, Error> + 'a;

/// What is needed to open a fragment.
pub(crate) struct FragmentSource<'a> {
    pub(crate) storage: &'a dyn Storage,
    pub(crate) options: &'a EngineOptions,
    pub(crate) path: &'a ObjectPath,
    pub(crate) name: &'a str,
    pub(crate) name_version: FormatVersion,
    pub(crate) timestamps: (u64, u64),
}

impl Fragment {
    /// Opens a fragment whose footer lies in its own metadata file. `schema` finds a schema by its file name.
    pub(crate) fn open(source: &FragmentSource<'_>, schema: &FindSchema<'_>) -> Result<Self, Error> {
        let path = source.path.join("__fragment_metadata.tdb")?;
        if !source.name_version.has_footer() {
            return Self::open_without_footer(source, path, schema(None)?);
        }
        let (mut tail, size) = read_tail(source.storage, &path)?;
        let tail_start = size - tail.len() as u64;
        let location = if source.name_version.has_footer_length() {
            FooterLocation::LengthInLastEightBytes
        } else {
            // Before footers named their schema there was only one.
            FooterLocation::of(source.name_version, &*schema(None)?).unwrap_or(FooterLocation::LengthInLastEightBytes)
        };
        let range = footer_range(location, &tail, size, &path)?;
        let footer_bytes = if range.start >= tail_start {
            slice(&tail, range.start - tail_start..range.end - tail_start)
        } else {
            if range.end - range.start > source.options.metadata_limit_bytes {
                let kind = DecodeErrorKind::Limit { needed: range.end - range.start, limit: source.options.metadata_limit_bytes };
                return Err(Error::Corrupt { path, source: kind.at("footer length", size) });
            }
            source.storage.read_range(&path, range.clone())?
        };
        let footer_schema = {
            let (_, name) = Footer::peek(&footer_bytes).map_err(Error::corrupt(&path))?;
            schema(name.as_deref())?
        };
        let footer = Footer::decode_all(&footer_bytes, &footer_schema).map_err(Error::corrupt(&path))?;
        let whole = if tail_start == 0 { Some(std::mem::take(&mut tail)) } else { None };
        let metadata = MetadataFile { path, whole, sections_end: OnceLock::from(range.start) };
        Self::new(source, footer_schema, footer, metadata)
    }

    /// Opens a fragment whose footer was copied into a file of consolidated footers; none when that copy is no footer of
    /// this fragment (05-other-files §3).
    pub(crate) fn open_consolidated(source: &FragmentSource<'_>, footer: &[u8], schema: &FindSchema<'_>) -> Option<Self> {
        let (version, name) = Footer::peek(footer).ok()?;
        if source.name_version.has_commit_files() && version != source.name_version {
            return None;
        }
        let schema = schema(name.as_deref()).ok()?;
        let footer = Footer::decode_all(footer, &schema).ok()?;
        let path = source.path.join("__fragment_metadata.tdb").ok()?;
        let metadata = MetadataFile { path, whole: None, sections_end: OnceLock::new() };
        Self::new(source, schema, footer, metadata).ok()
    }

    fn open_without_footer(source: &FragmentSource<'_>, path: ObjectPath, schema: Arc<ArraySchema>) -> Result<Self, Error> {
        let payload = metadata_file::read_file(source.storage, &path, source.options)?;
        // Such metadata do not say whether the fragment is dense; the coordinates' file does.
        let coordinates = source.path.join("__coords.tdb")?;
        let dense = !talavera_storage::StorageExt::exists(source.storage, &coordinates)?;
        let legacy = legacy::decode(&payload, &schema, dense).map_err(Error::corrupt(&path))?;
        let metadata = MetadataFile { path, whole: None, sections_end: OnceLock::from(0) };
        let fragment = Self::new(source, schema, legacy.footer, metadata)?;
        // The lists are all there: set once here, before anybody else has the fragment.
        let _ = fragment.rtree.set(Arc::new(legacy.rtree));
        let (mut offsets, mut var_offsets, mut var_sizes) =
            (legacy.tile_offsets.into_iter(), legacy.tile_var_offsets.into_iter(), legacy.tile_var_sizes.into_iter());
        for slot in &fragment.lists {
            let _ = slot.set(Arc::new(FieldLists {
                offsets: offsets.next().unwrap_or_default(),
                var_offsets: var_offsets.next().unwrap_or_default(),
                var_sizes: var_sizes.next().unwrap_or_default(),
                validity_offsets: TileOffsets::default(),
            }));
        }
        Ok(fragment)
    }

    fn new(source: &FragmentSource<'_>, schema: Arc<ArraySchema>, footer: Footer, metadata: MetadataFile) -> Result<Self, Error> {
        if footer.non_empty_domain.is_none() {
            let kind = DecodeErrorKind::Invalid { found: 1, expected: "0, as every fragment has cells" };
            return Err(Error::Corrupt { path: metadata.path, source: kind.at("null non-empty domain", 0) });
        }
        let lists = footer.fields.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            path: source.path.clone(),
            name: source.name.to_owned(),
            timestamps: source.timestamps,
            schema,
            footer,
            metadata,
            rtree: OnceLock::new(),
            lists,
        })
    }

    /// The name of the fragment's folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When its first and last cells were written, in milliseconds since 1970, by its name.
    #[must_use]
    pub fn timestamps(&self) -> (u64, u64) {
        self.timestamps
    }

    /// The schema it was written with.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// What its footer says.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// The ranges that hold all its cells: for a dense fragment the subarray that was written.
    #[must_use]
    pub fn non_empty_domain(&self) -> &[talavera_schema::Range] {
        self.footer.non_empty_domain.as_ref().map_or(&[], |domain: &NdRange| &domain.0)
    }

    /// Cells of a tile of a sparse fragment: the capacity of its schema, but for the last tile.
    #[must_use]
    pub fn tile_cells(&self, tile: u64) -> u64 {
        if tile.checked_add(1) == Some(self.footer.sparse_tile_count) {
            self.footer.last_tile_cells
        } else {
            self.schema.capacity
        }
    }

    /// Tiles of each field.
    pub(crate) fn tile_count(&self) -> u64 {
        if !self.footer.dense {
            return self.footer.sparse_tile_count;
        }
        let grid = self.footer.non_empty_domain.as_ref().and_then(|domain| TileGrid::new(&self.schema, domain).ok());
        grid.map_or(0, |grid| grid.tile_count())
    }

    /// The path of a data file.
    pub(crate) fn data_file(&self, field: FieldId, part: DataPart) -> Result<ObjectPath, Error> {
        let name = DataFile { field, part }.name(self.footer.version, &self.schema);
        Ok(self.path.join(&name.unwrap_or_default())?)
    }

    /// The R-tree over the tiles of a sparse fragment.
    pub(crate) fn rtree(&self, storage: &dyn Storage, options: &EngineOptions) -> Result<Arc<RTree>, Error> {
        once(&self.rtree, || {
            let payload = self.section(self.footer.rtree, storage, options)?;
            RTree::decode(&payload, self.footer.version, &self.schema.domain).map_err(Error::corrupt(&self.metadata.path))
        })
    }

    /// Where the tiles of a field lie.
    pub(crate) fn lists(&self, field: FieldId, storage: &dyn Storage, options: &EngineOptions) -> Result<Arc<FieldLists>, Error> {
        let slot = self.footer.layout.index(field).and_then(|index| self.lists.get(index));
        let slot = slot.ok_or_else(|| Error::invalid(format!("{}: the fragment has no field {field:?}", self.path)))?;
        once(slot, || {
            let Some(shape) = field.shape(&self.schema) else { return Ok(FieldLists::default()) };
            let list = |section: FieldSection, wanted: bool| -> Result<Option<Vec<u8>>, Error> {
                let offset = self.footer.section(section, field).filter(|_| wanted);
                offset.map(|offset| self.section(offset, storage, options)).transpose()
            };
            let offsets = |payload: Option<Vec<u8>>| {
                let decoded = payload.map(|payload| TileOffsets::decode(&payload)).transpose();
                decoded.map(Option::unwrap_or_default).map_err(Error::corrupt(&self.metadata.path))
            };
            let var = shape.cell_val_num.is_var();
            let sizes = list(FieldSection::TileVarSizes, var)?.map(|payload| TileSizes::decode(&payload)).transpose();
            Ok(FieldLists {
                offsets: offsets(list(FieldSection::TileOffsets, true)?)?,
                var_offsets: offsets(list(FieldSection::TileVarOffsets, var)?)?,
                var_sizes: sizes.map(Option::unwrap_or_default).map_err(Error::corrupt(&self.metadata.path))?,
                validity_offsets: offsets(list(FieldSection::TileValidityOffsets, shape.nullable)?)?,
            })
        })
    }

    /// The conditions that a consolidation has applied already; none where the fragment does not say.
    pub(crate) fn processed_conditions(
        &self,
        storage: &dyn Storage,
        options: &EngineOptions,
    ) -> Result<ProcessedConditions, Error> {
        match self.footer.processed_conditions {
            Some(offset) if self.footer.layout.has_delete_metadata() => {
                let payload = self.section(offset, storage, options)?;
                ProcessedConditions::decode(&payload).map_err(Error::corrupt(&self.metadata.path))
            }
            _ => Ok(ProcessedConditions::default()),
        }
    }

    /// Minimum, maximum, sum and null count of a field in each tile, as far as the fragment stores them.
    pub(crate) fn statistics_lists(
        &self,
        field: FieldId,
        storage: &dyn Storage,
        options: &EngineOptions,
    ) -> Result<FieldStatisticsLists, Error> {
        let Some(shape) = field.shape(&self.schema) else { return Ok(FieldStatisticsLists::default()) };
        let size = ValueSize::of(shape);
        let list = |section: FieldSection| -> Result<Option<Vec<u8>>, Error> {
            self.footer.section(section, field).map(|offset| self.section(offset, storage, options)).transpose()
        };
        let wrap = Error::corrupt(&self.metadata.path);
        let bounds = |payload: Option<Vec<u8>>| match payload {
            Some(payload) => TileMinMax::decode(&payload, size).map_err(&wrap),
            None => Ok(TileMinMax::none()),
        };
        let sums = list(FieldSection::Sums)?.map(|payload| TileSums::decode(&payload)).transpose().map_err(&wrap)?;
        let null_counts = if shape.nullable { list(FieldSection::NullCounts)? } else { None };
        Ok(FieldStatisticsLists {
            mins: bounds(list(FieldSection::Mins)?)?,
            maxes: bounds(list(FieldSection::Maxes)?)?,
            sums: sums.unwrap_or_default(),
            null_counts: null_counts.map(|payload| TileNullCounts::decode(&payload)).transpose().map_err(&wrap)?,
        })
    }

    /// Minimum, maximum, sum and null count of each field over the fragment; none before the version that stores them.
    pub(crate) fn statistics(&self, storage: &dyn Storage, options: &EngineOptions) -> Result<Option<FragmentStatistics>, Error> {
        let Some(offset) = self.footer.fragment_statistics else { return Ok(None) };
        let payload = self.section(offset, storage, options)?;
        FragmentStatistics::decode(&payload, self.footer.layout).map(Some).map_err(Error::corrupt(&self.metadata.path))
    }

    /// The payload of the generic tile at `offset`.
    fn section(&self, offset: u64, storage: &dyn Storage, options: &EngineOptions) -> Result<Vec<u8>, Error> {
        let path = &self.metadata.path;
        let sections_end = match self.metadata.sections_end.get() {
            Some(&end) => end,
            None => {
                let size = storage.size(path)?;
                *self.metadata.sections_end.get_or_init(|| size)
            }
        };
        let end = self.footer.section_end(offset, sections_end);
        if offset >= end {
            let kind = DecodeErrorKind::Invalid { found: offset, expected: "the offset of a section" };
            return Err(Error::Corrupt { path: path.clone(), source: kind.at("section offset", offset) });
        }
        if end - offset > options.metadata_limit_bytes {
            let kind = DecodeErrorKind::Limit { needed: end - offset, limit: options.metadata_limit_bytes };
            return Err(Error::Corrupt { path: path.clone(), source: kind.at("section", offset) });
        }
        match &self.metadata.whole {
            Some(whole) => metadata_file::unwrap_first(&slice(whole, offset..end), path, options),
            None => metadata_file::read_section(storage, path, offset..end, options),
        }
    }
}

/// The end of a file, and how many bytes the file has; of small files one request gets all.
fn read_tail(storage: &dyn Storage, path: &ObjectPath) -> Result<(Bytes, u64), Error> {
    match storage.read(path, TAIL_BYTES) {
        Ok(whole) => {
            let size = whole.len() as u64;
            Ok((whole, size))
        }
        Err(StorageError::TooLarge { size, .. }) => Ok((storage.read_range(path, size - size.min(TAIL_BYTES)..size)?, size)),
        Err(error) => Err(error.into()),
    }
}

/// What the cell holds, computed by the first who asks. Two who ask at once may both compute it; one result stays.
fn once<T>(cell: &OnceLock<Arc<T>>, load: impl FnOnce() -> Result<T, Error>) -> Result<Arc<T>, Error> {
    if let Some(value) = cell.get() {
        return Ok(Arc::clone(value));
    }
    let value = Arc::new(load()?);
    Ok(Arc::clone(cell.get_or_init(|| value)))
}

fn footer_range(location: FooterLocation, tail: &Bytes, size: u64, path: &ObjectPath) -> Result<Range<u64>, Error> {
    let last_eight = tail.last_chunk::<8>().copied().unwrap_or_default();
    location.range(size, last_eight).ok_or_else(|| {
        let kind = DecodeErrorKind::Invalid { found: u64::from_le_bytes(last_eight), expected: "a length within the file" };
        Error::Corrupt { path: path.clone(), source: kind.at("footer length", size.saturating_sub(8)) }
    })
}

/// Part of bytes in memory, as much of it as there is.
fn slice(bytes: &Bytes, range: Range<u64>) -> Bytes {
    let clamp = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = (clamp(range.start), clamp(range.end));
    bytes.slice(start.min(end)..end)
}
