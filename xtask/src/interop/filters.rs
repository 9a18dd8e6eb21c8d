//! Random filter lists that the reference takes and reads back, and what they ask of the cells.

use talavera_filter::{FilterList, FilterSpec, WebpFormat};
use talavera_types::{Datatype, FormatVersion};

use crate::fixtures::random::Random;

/// What goes through the filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The values of an attribute, of variable length or not.
    Attribute { var: bool },
    /// The coordinates of one dimension; `ascending` within each tile or not.
    Dimension { ascending: bool },
    /// The coordinates of dimensions without filters of their own, and the times of consolidated cells.
    Coordinates,
    /// Offsets, which ascend within each tile.
    Offsets,
    /// Validity.
    Validity,
}

/// What a filter list asks of the cells, so that the reference can write them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Demands {
    /// All values equal, and zero in dense arrays, whose tiles are filled up with zeros: deltas may not be negative.
    pub(super) constant: bool,
    /// Small numbers: the reference refuses second differences of more than 64 bits.
    pub(super) tame: bool,
    /// No cell without values, because of chunks of no bytes: see [`survives_empty`].
    pub(super) nonempty: bool,
    /// What is read is not what was written.
    pub(super) lossy: bool,
}

pub(super) fn demands(filters: &FilterList, datatype: Datatype, var: bool) -> Demands {
    let mut demands = Demands { nonempty: var && !survives_empty(filters, is_text(datatype)), ..Demands::default() };
    for filter in &filters.filters {
        match filter {
            FilterSpec::PositiveDelta { .. } => demands.constant = true,
            FilterSpec::DoubleDelta { reinterpret, .. } => {
                let element = if *reinterpret == Datatype::Any { datatype } else { *reinterpret };
                demands.tame |= element.size() == 8;
            }
            FilterSpec::FloatScale { .. } => demands.lossy = true,
            // Lossless images keep no colour where they are transparent.
            FilterSpec::Webp { lossless, format, .. } => {
                demands.lossy |= !lossless || matches!(format, WebpFormat::Rgba | WebpFormat::Bgra);
            }
            _ => {}
        }
    }
    demands
}

fn is_text(datatype: Datatype) -> bool {
    matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8)
}

/// Whether the reference writes and reads back a chunk of no bytes. It divides by zero in windows, reads no such chunk back
/// from deltas (11-filters, BIT_WIDTH_REDUCTION; 10-tile-chunks §3.3), and none that a filter hands on empty to anything but
/// a compressor; encryption comes behind all of them.
fn survives_empty(filters: &FilterList, text: bool) -> bool {
    let compresses = |filter: &FilterSpec| match filter {
        FilterSpec::Gzip { .. } | FilterSpec::Zstd { .. } | FilterSpec::Lz4 { .. } | FilterSpec::Bzip2 { .. } => true,
        FilterSpec::Rle { .. } | FilterSpec::Dictionary { .. } => text,
        _ => false,
    };
    let checks = |filter: &FilterSpec| matches!(filter, FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256);
    let compressor = filters.filters.iter().position(compresses);
    let before = compressor.and_then(|at| filters.filters.get(..at)).unwrap_or(&filters.filters);
    before.iter().all(checks)
        || compressor.is_some()
            && matches!(before, [FilterSpec::Byteshuffle | FilterSpec::Bitshuffle | FilterSpec::Xor | FilterSpec::Rle { .. }])
}

/// Up to three filters.
pub(super) fn list(random: &mut Random, version: FormatVersion, role: Role, datatype: Datatype) -> FilterList {
    let text = is_text(datatype);
    loop {
        let list = any_list(random, version, role, datatype);
        // The strings of a tile may all be empty.
        let strings = role == Role::Coordinates || (text && matches!(role, Role::Dimension { .. }));
        if !strings || survives_empty(&list, text) {
            return list;
        }
    }
}

fn any_list(random: &mut Random, version: FormatVersion, role: Role, datatype: Datatype) -> FilterList {
    let count = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3][random.below(10)];
    let mut filters: Vec<FilterSpec> = Vec::new();
    let mut input = datatype;
    // Behind some filters nothing fits.
    for _ in 0..100 {
        if filters.len() == count {
            break;
        }
        let filter = one(random, datatype);
        if !fits(&filters, &filter, role, datatype, version) {
            continue;
        }
        let Ok(output) = filter.output_datatype(input) else { continue };
        if version.hands_datatype_on() {
            input = output;
        }
        filters.push(filter);
    }
    let mut list = FilterList::new(filters);
    if random.chance(8) {
        // The one value that means something: a whole tile in one chunk (10-tile-chunks §3.2).
        list.max_chunk_bytes = 0;
    }
    list
}

fn one(random: &mut Random, datatype: Datatype) -> FilterSpec {
    use Datatype as D;
    let level = i32::try_from(random.below(10)).unwrap_or(0);
    let level = if random.chance(30) { -1 } else { level };
    let reinterpret = if random.chance(60) {
        D::Any
    } else {
        let smaller = [D::Int8, D::UInt8, D::Int16, D::UInt16, D::Int32, D::UInt32, D::Int64, D::UInt64];
        let fitting: Vec<D> = smaller.into_iter().filter(|it| datatype.size().is_multiple_of(it.size())).collect();
        *random.pick(&fitting)
    };
    // A filter before may make values of eight bytes, of which a window has to hold one.
    let window = u32::try_from(datatype.size() << random.below(11)).unwrap_or(256).max(8);
    match random.below(16) {
        0 => FilterSpec::Gzip { level },
        1 => FilterSpec::Zstd { level: if random.chance(20) { -7 } else { level } },
        2 => FilterSpec::Lz4 { level },
        3 => FilterSpec::Rle { level },
        4 => FilterSpec::Bzip2 { level: level.max(1) },
        5 => FilterSpec::DoubleDelta { level: -1, reinterpret },
        6 => FilterSpec::BitWidthReduction { max_window_bytes: window },
        7 => FilterSpec::Bitshuffle,
        8 => FilterSpec::Byteshuffle,
        9 => FilterSpec::PositiveDelta { max_window_bytes: window },
        10 => FilterSpec::ChecksumMd5,
        11 => FilterSpec::ChecksumSha256,
        12 => FilterSpec::Dictionary { level: -1 },
        13 => FilterSpec::FloatScale {
            scale: *random.pick(&[1.0, 0.5, 0.1, 3.0]),
            offset: *random.pick(&[0.0, 10.0, -3.5]),
            byte_width: *random.pick(&[1, 2, 4, 8]),
        },
        14 => FilterSpec::Xor,
        _ => FilterSpec::Delta { level: -1, reinterpret },
    }
}

/// Whether a filter may follow these; the schema's own rules are asked besides.
fn fits(before: &[FilterSpec], filter: &FilterSpec, role: Role, datatype: Datatype, version: FormatVersion) -> bool {
    let text = is_text(datatype) && matches!(role, Role::Attribute { var: true } | Role::Dimension { .. } | Role::Coordinates);
    let changes_datatype = |filter: &FilterSpec| {
        matches!(
            filter,
            FilterSpec::FloatScale { .. } | FilterSpec::Xor | FilterSpec::DoubleDelta { .. } | FilterSpec::Delta { .. }
        )
    };
    // The reference reads versions before 20 as if each filter handed its datatype on, which they do not (10-tile-chunks §7).
    if !version.hands_datatype_on() && before.iter().any(changes_datatype) {
        return false;
    }
    // These take values, and lose or refuse what is left of bytes that are no whole number of them (11-filters §0).
    let whole_values = |before: &[FilterSpec]| {
        before.iter().all(|filter| {
            matches!(
                filter,
                FilterSpec::None
                    | FilterSpec::ChecksumMd5
                    | FilterSpec::ChecksumSha256
                    | FilterSpec::Byteshuffle
                    | FilterSpec::Bitshuffle
                    | FilterSpec::FloatScale { .. }
                    | FilterSpec::Xor
            )
        })
    };
    match filter {
        FilterSpec::Rle { .. } if text => before.is_empty() && role != Role::Coordinates,
        // These would have to encode the metadata of filters before them, which is no whole number of values.
        FilterSpec::Rle { .. } => before.is_empty(),
        FilterSpec::Delta { .. } | FilterSpec::DoubleDelta { .. } => {
            // Strings may be empty throughout a tile, and the bits of floats differ by more than 64 bits hold.
            let dimension = matches!(role, Role::Dimension { .. });
            // Nor hold they the differences of numbers on both sides of zero, taken without their signs.
            let unsigned = matches!(filter, FilterSpec::DoubleDelta { reinterpret: Datatype::UInt64, .. });
            let unfit = datatype.is_string()
                || (datatype.is_float() && matches!(filter, FilterSpec::DoubleDelta { .. }))
                || (unsigned && datatype != Datatype::UInt64);
            // Nor those of the bits of NaN, which fills up tiles, and of other numbers.
            let filled = datatype == Datatype::Float64 && matches!(filter, FilterSpec::DoubleDelta { .. });
            before.is_empty() && role != Role::Coordinates && !filled && !(dimension && unfit)
        }
        FilterSpec::Dictionary { .. } => text && before.is_empty() && role != Role::Coordinates,
        FilterSpec::Xor => whole_values(before),
        // A checksum of what is then changed does not match.
        FilterSpec::FloatScale { .. } => {
            let checked = |filter: &FilterSpec| matches!(filter, FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256);
            whole_values(before) && matches!(role, Role::Attribute { .. }) && !before.iter().any(checked)
        }
        FilterSpec::PositiveDelta { .. } => {
            before.is_empty() && matches!(role, Role::Offsets | Role::Attribute { .. } | Role::Dimension { ascending: true })
        }
        // Its windows are whole values, and none at all of what a compressor made smaller than a value.
        FilterSpec::BitWidthReduction { .. } => whole_values(before) && role != Role::Coordinates,
        _ => true,
    }
}
