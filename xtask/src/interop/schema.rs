//! Random schemas.

use std::num::NonZeroU32;

use talavera_engine::enumeration_file_name;
use talavera_filter::{FilterSpec, WebpFormat};
use talavera_schema::{ArraySchema, Attribute, Dimension, Enumeration, FilterList, NdRange, Range, TileExtent};
use talavera_types::{ArrayType, CellValNum, Datatype, DatatypeClass, FormatVersion, Layout};

use super::filters::{self, Role};
use crate::Failure;
use crate::fixtures::random::Random;

/// What an array is made from.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) schema: ArraySchema,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) key: Option<[u8; 32]>,
    /// Few attributes and many cells.
    pub(super) large: bool,
}

/// What may be in a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) version: FormatVersion,
    pub(super) may_be_encrypted: bool,
    /// Whether dimensions of arrays in Hilbert order may go without tiles. The library keeps them so only when told the
    /// order before the domain.
    pub(super) null_extents: bool,
    /// The highest number of a datatype that the reader knows.
    pub(super) last_datatype: u8,
    /// Whether the reader knows images; what was published of 2.12 does not.
    pub(super) webp: bool,
    /// Whether the reader can be told filters for validity.
    pub(super) validity_filters: bool,
    /// Whether the reader is only to read what it writes itself.
    pub(super) twin_alone: bool,
}

impl Subject {
    pub(super) fn random(random: &mut Random, bounds: Bounds) -> Result<Self, Failure> {
        let key = random.chance(if bounds.may_be_encrypted { 12 } else { 0 });
        let key = key.then(|| std::array::from_fn(|_| b'a' + u8::try_from(random.below(26)).unwrap_or(0)));
        let mut refusal = None;
        for _ in 0..200 {
            let large = random.chance(4);
            let enumerations =
                if random.chance(12) && bounds.version.has_enumerations() { vec![enumeration(random)?] } else { Vec::new() };
            match schema(random, bounds, large, &enumerations) {
                Ok(schema) => return Ok(Self { schema, enumerations, key, large }),
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.map_or_else(|| "no schema".into(), |error| format!("no schema: {error}").into()))
    }
}

fn schema(
    random: &mut Random,
    bounds: Bounds,
    large: bool,
    enumerations: &[Enumeration],
) -> Result<ArraySchema, talavera_schema::SchemaError> {
    let version = bounds.version;
    let dense = random.chance(45);
    let mut builder = ArraySchema::builder(if dense { ArrayType::Dense } else { ArrayType::Sparse }).version(version);
    let orders = [Layout::RowMajor, Layout::RowMajor, Layout::ColMajor];
    let image = dense && !large && random.chance(5) && version.has_xor_and_webp_filters() && bounds.webp;
    let cell_order = match image {
        true => Layout::RowMajor,
        false if !dense && random.chance(25) => Layout::Hilbert,
        false => *random.pick(&orders),
    };
    builder = builder.tile_order(*random.pick(&orders)).cell_order(cell_order);
    let dimensions = if image { image_dimensions(random) } else { dimensions(random, dense, large, cell_order, bounds) };
    let current_domain = (!image && random.chance(12) && version.has_current_domain())
        .then(|| NdRange(dimensions.iter().map(|dimension| part_of(random, dimension)).collect()));
    let line = dimensions.len() == 1 && cell_order != Layout::Hilbert;
    for mut dimension in dimensions {
        if !image && random.chance(40) {
            let role = Role::Dimension { ascending: line && !dense };
            dimension.filters = filters::list(random, version, role, dimension.datatype);
            if dimension.filters.is_empty() {
                // That is the same as none of its own.
                dimension.filters = FilterList::new(Vec::new());
            }
        }
        builder = builder.dimension(dimension);
    }
    if let Some(current_domain) = current_domain {
        builder = builder.current_domain(current_domain);
    }
    if !dense {
        builder = builder.allows_dups(random.chance(35));
        builder = builder.capacity(if large { 10_000 } else { random.range(1, 200) as u64 });
    }
    let least = usize::from(dense || random.chance(90));
    let names = ["a", "b", "c with space", "ü", "e/f"];
    let version_has_names = version.names_files_by_index();
    let count = if large { 1 } else { random.range(least, 5) };
    for (index, special) in names.into_iter().enumerate().take(count) {
        let name = if version_has_names && random.chance(20) { special.to_owned() } else { format!("a{index}") };
        builder = builder.attribute(attribute(random, bounds, name));
    }
    for enumeration in enumerations {
        let datatype = *random.pick(&[Datatype::Int32, Datatype::UInt8, Datatype::Int64, Datatype::UInt16]);
        let attribute = Attribute::new(format!("of {}", enumeration.name()), datatype);
        let attribute = Attribute { enumeration: Some(enumeration.name().to_owned()), ..attribute };
        builder = builder.enumeration(enumeration).attribute(attribute);
    }
    // The reference notes the size of images for the last attribute of bytes alone.
    if image {
        let attribute = image_attribute(&builder, random);
        builder = builder.attribute(attribute);
    }
    if random.chance(40) {
        builder = builder.coords_filters(filters::list(random, version, Role::Coordinates, Datatype::UInt64));
    }
    if random.chance(50) {
        builder = builder.offsets_filters(filters::list(random, version, Role::Offsets, Datatype::UInt64));
    }
    if random.chance(if bounds.validity_filters { 50 } else { 0 }) {
        builder = builder.validity_filters(filters::list(random, version, Role::Validity, Datatype::UInt8));
    }
    builder.build()
}

fn enumeration(random: &mut Random) -> Result<Enumeration, Failure> {
    let name = "colours".to_owned();
    let file = enumeration_file_name()?;
    Ok(if random.chance(60) {
        let words = ["red", "", "green", "blue", "dark blue", "white"];
        let count = random.range(1, words.len());
        let data = words[..count].concat().into_bytes();
        let starts = words.iter().scan(0u64, |at, word| {
            let start = *at;
            *at += word.len() as u64;
            Some(start)
        });
        let offsets = starts.take(count).collect();
        Enumeration::new(name, file, Datatype::StringUtf8, CellValNum::Var, random.chance(50), data, Some(offsets))?
    } else {
        let data = (0..random.range(1, 20)).flat_map(|value| (value as u64 * 7).to_le_bytes()).collect();
        Enumeration::new(name, file, Datatype::Int64, CellValNum::ONE, random.chance(50), data, None)?
    })
}

pub(super) fn attribute(random: &mut Random, bounds: Bounds, name: String) -> Attribute {
    loop {
        let datatype = *random.pick(Datatype::ALL);
        if datatype.code() > bounds.last_datatype {
            continue;
        }
        let cell_val_num = match random.below(100) {
            _ if datatype == Datatype::Any => CellValNum::Var,
            0..50 => CellValNum::ONE,
            50..65 => {
                let values = u32::try_from(random.range(2, 4)).unwrap_or(2);
                NonZeroU32::new(values).map_or(CellValNum::ONE, CellValNum::Fixed)
            }
            _ => CellValNum::Var,
        };
        let mut attribute = Attribute::with_cell_val_num(name.clone(), datatype, cell_val_num);
        attribute.nullable = random.chance(35);
        attribute.filters = filters::list(random, bounds.version, Role::Attribute { var: attribute.is_var() }, datatype);
        let demands = filters::demands(&attribute.filters, datatype, attribute.is_var());
        // Fill values go through the filters only when the reference consolidates.
        if random.chance(35) {
            let values = cell_val_num.fixed().map_or_else(|| random.range(1, 5), |values| values as usize);
            let value = if demands.constant || demands.tame { vec![0; datatype.size()] } else { random.bytes(datatype.size()) };
            attribute.fill_value = value.repeat(values);
            attribute.fill_validity = attribute.nullable && random.chance(50);
        }
        return attribute;
    }
}

/// A dense 2-D array of unsigned bytes is needed for images; rows are rows of pixels.
fn image_dimensions(random: &mut Random) -> Vec<Dimension> {
    let axis = |random: &mut Random, name: &str, step: u64| {
        let extent = step * random.range(1, 6) as u64;
        let high = extent * random.range(1, 3) as u64;
        Dimension::new(name, Datatype::UInt32, Range::Unsigned(1, high), Some(TileExtent::Integer(extent)))
    };
    vec![axis(random, "y", 1), axis(random, "x", 12)]
}

fn image_attribute(builder: &talavera_schema::ArraySchemaBuilder, random: &mut Random) -> Attribute {
    let extents = builder.clone().build().map(|schema| {
        let extent = |dimension: &Dimension| match dimension.tile_extent {
            Some(TileExtent::Integer(extent)) => u16::try_from(extent).unwrap_or(0),
            _ => 0,
        };
        schema.domain.dimensions.iter().map(extent).collect::<Vec<_>>()
    });
    let extents = extents.unwrap_or_default();
    let extent = |index: usize| extents.get(index).copied().unwrap_or(0);
    let format = *random.pick(&[WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra]);
    let webp = FilterSpec::Webp {
        quality: *random.pick(&[100.0, 40.0]),
        format,
        lossless: random.chance(60),
        y_extent: extent(0),
        x_extent: extent(1),
    };
    Attribute { filters: FilterList::new(vec![webp]), ..Attribute::new("pixels", Datatype::UInt8) }
}

fn dimensions(random: &mut Random, dense: bool, large: bool, cell_order: Layout, bounds: Bounds) -> Vec<Dimension> {
    let count = if large { 1 } else { random.range(1, 3) };
    let fit = |datatype: &&Datatype| datatype.is_dimension_type() && !(dense && (datatype.is_float() || datatype.is_string()));
    let fitting: Vec<Datatype> =
        Datatype::ALL.iter().filter(fit).filter(|datatype| datatype.code() <= bounds.last_datatype).copied().collect();
    let usual = [Datatype::StringAscii, Datatype::Float64, Datatype::Float32, Datatype::Int32, Datatype::UInt64, Datatype::Int8];
    let draw = |random: &mut Random| {
        if !dense && random.chance(60) { *random.pick(&usual) } else { *random.pick(&fitting) }
    };
    let first = draw(random);
    let mixed = !dense && random.chance(50);
    // Elsewhere the whole domain would become one tile.
    let no_tiles = cell_order == Layout::Hilbert && bounds.null_extents;
    (0..count)
        .map(|index| {
            let name = ["x", "y", "z"][index];
            let datatype = if mixed { draw(random) } else { first };
            match datatype.class() {
                DatatypeClass::Text => Dimension::string(name),
                DatatypeClass::Float => float_dimension(random, name, datatype, no_tiles),
                _ if dense => dense_dimension(random, name, datatype, count, large),
                _ => sparse_dimension(random, name, datatype, no_tiles),
            }
        })
        .collect()
}

/// A dimension of not too many cells, anywhere that its datatype reaches.
fn dense_dimension(random: &mut Random, name: &str, datatype: Datatype, count: usize, large: bool) -> Dimension {
    let most: i128 = [300, 22, 9][count - 1];
    let (least, most) = if large { (9_000, 30_000) } else { (1, most) };
    let (lowest, highest) = limits(datatype);
    // The last tile may not reach beyond the datatype, so half of a narrow one is enough.
    let most = most.min((highest - lowest) / 3);
    let width = random.wide(most.min(least), most);
    let extent = random.wide(1, width);
    let low = low_end(random, lowest, highest - 2 * width);
    integer_dimension(name, datatype, low, low + width - 1, Some(extent))
}

fn sparse_dimension(random: &mut Random, name: &str, datatype: Datatype, no_tiles: bool) -> Dimension {
    let (lowest, highest) = limits(datatype);
    let width = *random.pick(&[5, 60, 1000, 100_000, 1 << 40]);
    let width = random.wide(1, width.min((highest - lowest) / 3));
    let extent = if random.chance(40) { random.wide(1, width) } else { random.wide(1, width.min(20)) };
    let low = low_end(random, lowest, highest - 2 * width);
    let extent = (!no_tiles || random.chance(30)).then_some(extent);
    integer_dimension(name, datatype, low, low + width - 1, extent)
}

fn low_end(random: &mut Random, lowest: i128, highest: i128) -> i128 {
    let low = match random.below(10) {
        0..3 => 0,
        3..5 => 1,
        5..8 => random.wide(-50, -1),
        8 => random.wide(lowest, highest),
        _ => lowest,
    };
    low.clamp(lowest, highest)
}

fn integer_dimension(name: &str, datatype: Datatype, low: i128, high: i128, extent: Option<i128>) -> Dimension {
    let extent = extent.and_then(|extent| u64::try_from(extent).ok()).map(TileExtent::Integer);
    Dimension::new(name, datatype, integers(datatype, low, high), extent)
}

/// A range of integers; what does not fit becomes zero.
pub(super) fn integers(datatype: Datatype, low: i128, high: i128) -> Range {
    match datatype.class() {
        DatatypeClass::Unsigned => Range::Unsigned(low.try_into().unwrap_or(0), high.try_into().unwrap_or(0)),
        _ => Range::Signed(low.try_into().unwrap_or(0), high.try_into().unwrap_or(0)),
    }
}

/// The least and greatest value of a datatype.
fn limits(datatype: Datatype) -> (i128, i128) {
    let bits = 8 * datatype.size();
    match datatype.class() {
        DatatypeClass::Unsigned => (0, (1 << bits) - 1),
        _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    }
}

fn float_dimension(random: &mut Random, name: &str, datatype: Datatype, no_tiles: bool) -> Dimension {
    let (low, high) = *random.pick(&[(0.0f32, 1.0f32), (-1000.5, 1000.25), (-1e30, 1e30), (1e-6, 1e6), (-8.0, -1.0)]);
    let part = *random.pick(&[1.0f32, 0.5, 0.1, 0.013]);
    let extent = (!no_tiles || random.chance(30)).then_some((high - low) * part);
    if datatype == Datatype::Float32 {
        return Dimension::new(name, datatype, Range::Float32(low, high), extent.map(TileExtent::Float32));
    }
    let extent = extent.map(|extent| TileExtent::Float64(extent.into()));
    Dimension::new(name, datatype, Range::Float64(low.into(), high.into()), extent)
}

/// Both ends of a range of integers.
pub(super) fn ends(range: &Range) -> Option<(i128, i128)> {
    match *range {
        Range::Signed(low, high) => Some((low.into(), high.into())),
        Range::Unsigned(low, high) => Some((low.into(), high.into())),
        _ => None,
    }
}

/// A part of the domain of a dimension.
fn part_of(random: &mut Random, dimension: &Dimension) -> Range {
    let Some(domain) = &dimension.domain else { return Range::String(Box::from(*b"b"), Box::from(*b"t")) };
    match (ends(domain), domain) {
        (Some((low, high)), _) => {
            let low = random.wide(low, high);
            integers(dimension.datatype, low, random.wide(low, high))
        }
        (None, Range::Float32(low, high)) => Range::Float32(*low, low + (high - low) * 0.7),
        (None, Range::Float64(low, high)) => Range::Float64(*low, low + (high - low) * 0.7),
        (None, other) => other.clone(),
    }
}
