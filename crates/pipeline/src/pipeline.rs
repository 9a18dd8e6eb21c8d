//! A filter list made to run: the format's filter-pipeline page and 10-tile-chunks §6 and §7.

mod decode;
mod encode;

pub use encode::EncodedPart;

use talavera_codec::Limits;
use talavera_filter::{Buffers, Filter, FilterContext, FilterList, FilterSpec, StringFilter};
use talavera_types::{Datatype, FilterType, FormatVersion};

use crate::{EncryptionKey, PipelineError, registry};

/// What the tiles of one data file hold, as far as filters need to know it (10-tile-chunks §2).
///
/// | file | datatype | bytes of a cell |
/// | --- | --- | --- |
/// | fixed-length cells | the field's | values per cell × size of the datatype |
/// | variable-length cells | the field's | size of the datatype |
/// | offsets, timestamps | UINT64 | 8 |
/// | validity | UINT8 | 1 |
/// | zipped coordinates | the dimensions' | dimensions × size of the datatype |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileFormat {
    /// The datatype that the first filter sees.
    pub datatype: Datatype,
    /// Bytes of one cell; what RLE counts in, and what no chunk of fixed-length cells cuts.
    pub cell_bytes: usize,
    /// The format version of the fragment.
    pub version: FormatVersion,
}

/// Which datatype the filters behind the first one see (10-tile-chunks §7).
///
/// A library that hands datatypes on and appends to an array of a version that does not writes fragments that claim the
/// old version and follow the new rule. Nothing in them tells; whoever meets such a fragment overrides the rule here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TypeFlow {
    /// As the format version says.
    #[default]
    ByVersion,
    /// Each filter sees the datatype of the field.
    FieldType,
    /// Each filter sees the datatype that the filter before it hands on.
    HandedOn,
}

/// The filters of one data file, ready to decode and encode its tiles.
///
/// A pipeline holds no state between calls and may be shared by threads.
#[derive(Debug)]
pub struct Pipeline {
    format: TileFormat,
    stages: Vec<Stage>,
    whole_tile_chunks: bool,
    image_bytes: u64,
}

/// One filter at its place in a pipeline.
#[derive(Debug)]
struct Stage {
    spec: FilterSpec,
    filter: Box<dyn Filter>,
    /// The datatype that the filter sees.
    datatype: Datatype,
}

impl Pipeline {
    /// Makes the filters of `list` ready for tiles of this format. With a key, encryption is appended, unless the list
    /// names it already, as those of generic tiles do.
    ///
    /// # Errors
    /// [`PipelineError::Unsupported`] for a filter that is retired or was switched off at build time,
    /// [`PipelineError::MissingKey`] for a list that names encryption without a key,
    /// [`PipelineError::InvalidInput`] for cells of 0 bytes.
    pub fn new(list: &FilterList, format: TileFormat, key: Option<&EncryptionKey>) -> Result<Self, PipelineError> {
        if format.cell_bytes == 0 {
            return Err(PipelineError::invalid_input("cells of 0 bytes cannot be filtered"));
        }
        let mut specs = list.filters.clone();
        if key.is_some() && !list.contains(FilterType::Aes256Gcm) {
            specs.push(FilterSpec::Aes256Gcm);
        }
        let stages = specs
            .into_iter()
            .map(|spec| Ok(Stage { filter: registry::filter(&spec, key)?, datatype: format.datatype, spec }))
            .collect::<Result<Vec<_>, PipelineError>>()?;
        let whole_tile_chunks = list.max_chunk_bytes == 0 || list.contains(FilterType::Webp);
        let image_bytes = list.filters.iter().map(image_bytes).max().unwrap_or(0);
        Ok(Self { format, stages, whole_tile_chunks, image_bytes }.with_type_flow(TypeFlow::ByVersion))
    }

    /// The same pipeline with another rule for the datatypes that filters see.
    #[must_use]
    pub fn with_type_flow(mut self, flow: TypeFlow) -> Self {
        let hands_on = match flow {
            TypeFlow::ByVersion => self.format.version.hands_datatype_on(),
            TypeFlow::FieldType => false,
            TypeFlow::HandedOn => true,
        };
        let mut datatype = self.format.datatype;
        for stage in &mut self.stages {
            stage.datatype = datatype;
            if hands_on {
                // A datatype that the filter does not take is refused where a schema is made. Data that exist are read:
                // the filter passes such cells through, or refuses them when it runs.
                datatype = stage.spec.output_datatype(datatype).unwrap_or(datatype);
            }
        }
        self
    }

    /// What the pipeline was made for.
    #[must_use]
    pub fn format(&self) -> TileFormat {
        self.format
    }

    /// Whether bytes pass through unchanged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Whether the first filter can take strings and their offsets together.
    ///
    /// Reading, that is done exactly where the offsets tile is empty ([`is_empty_tile`](crate::is_empty_tile)); writing,
    /// where [`Pipeline::writes_strings`] says so.
    #[must_use]
    pub fn takes_strings(&self) -> bool {
        self.string_stage().is_some()
    }

    /// Whether tiles of variable-length cells are written by [`Pipeline::encode_strings`], with empty offsets tiles:
    /// text of one byte a unit, from the version on in which its filter takes offsets (10-tile-chunks §4).
    #[must_use]
    pub fn writes_strings(&self) -> bool {
        let TileFormat { datatype, version, .. } = self.format;
        let first = self.string_stage().map(|(_, stage, _)| stage.spec.filter_type());
        match (datatype, first) {
            (Datatype::StringAscii, Some(FilterType::Rle)) => version.has_ascii_rle(),
            (Datatype::StringAscii, Some(FilterType::Dictionary)) => version.has_ascii_dictionary(),
            (Datatype::StringUtf8, Some(_)) => version.has_utf8_rle_and_dictionary(),
            _ => false,
        }
    }

    /// The first filter if it takes strings, its stage, and the stages behind it.
    fn string_stage(&self) -> Option<(&dyn StringFilter, &Stage, &[Stage])> {
        let (first, rest) = self.stages.split_first()?;
        Some((first.filter.as_string_filter()?, first, rest))
    }

    fn context<'a>(&self, stage: &Stage, limits: &'a Limits, buffers: &'a Buffers) -> FilterContext<'a> {
        let TileFormat { cell_bytes, version, .. } = self.format;
        FilterContext { datatype: stage.datatype, cell_bytes, version, limits, buffers }
    }
}

thread_local! {
    /// What the chunks of one thread hand on: the next chunk finds the memory that the one before has warmed.
    static BUFFERS: Buffers = const { Buffers::new() };
}

/// The most bytes that the images of a filter have; an image may be larger than its chunk.
///
/// Where a schema has several image attributes the reference stores the extents of the last only and zeros for the
/// others; then a round number has to do.
fn image_bytes(spec: &FilterSpec) -> u64 {
    const WITHOUT_EXTENTS: u64 = 256 << 20;
    match spec {
        FilterSpec::Webp { y_extent: 0, .. } | FilterSpec::Webp { x_extent: 0, .. } => WITHOUT_EXTENTS,
        FilterSpec::Webp { y_extent, x_extent, .. } => u64::from(*y_extent) * u64::from(*x_extent),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
