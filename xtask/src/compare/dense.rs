//! D1 to D7: dense arrays.

use talavera_filter::FilterSpec;
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_types::{ArrayType, Datatype, Layout};

use super::arrays::{Fields, Subject};
use super::bound::Bound;
use super::cells::{Random, filtered, hundredths, values, zstd};
use super::row::{Question, Reading, Row, Writing};
use crate::Failure;

/// Rows and columns of D1 to D6.
const SIDE: i64 = 8192;
const SIDE_BYTES: usize = 8192 * 8192 * 8;
/// Rows and columns of D7.
const IMAGE_SIDE: i64 = 16384;

const D1: Subject =
    Subject { name: "d1", schema: || floats(vec![FilterSpec::Byteshuffle, zstd(5)]), cells: |_| float_cells(), writes: 1 };
const D2: Subject = Subject { name: "d2", schema: || floats(Vec::new()), cells: |_| float_cells(), writes: 1 };
const D3: Subject = Subject {
    name: "d3",
    schema: || floats(vec![FilterSpec::Bitshuffle, FilterSpec::Lz4 { level: -1 }]),
    cells: |_| float_cells(),
    writes: 1,
};
const D4: Subject =
    Subject { name: "d4", schema: || floats(vec![FilterSpec::Gzip { level: 6 }]), cells: |_| float_cells(), writes: 1 };
const D7: Subject = Subject { name: "d7", schema: image, cells: |_| image_cells(), writes: 1 };

pub(super) fn rows() -> Vec<Row> {
    let whole = |subject, layout| Reading::new(subject, vec![Question::whole(layout, SIDE_BYTES)]);
    let window = |low: (i64, i64), side: i64| {
        vec![vec![Range::Signed(low.0, low.0 + side - 1)], vec![Range::Signed(low.1, low.1 + side - 1)]]
    };
    let windows = |count, of: i64, side: i64, bytes: usize| {
        let mut random = Random(5);
        let mut corner = move || i64::from(random.below_u32(u32::try_from(of - side).unwrap_or(1)));
        let question = |_| Question::whole(Layout::RowMajor, bytes).ranges(window((corner(), corner()), side));
        (0..count).map(question).collect()
    };
    let small = windows(100, SIDE, 256, 256 * 256 * 8);
    let large = windows(200, IMAGE_SIDE, 1024, 1024 * 1024 * 3);
    vec![
        Row::new("D1r", "dense 537 MB, byteshuffle + zstd 5: read whole", whole(D1, Layout::RowMajor).bound(Bound::Decode)),
        Row::new("D1w", "the same: write whole", Writing { subject: D1 }),
        Row::new("D2r", "dense 537 MB, no filter: read whole", whole(D2, Layout::RowMajor).bound(Bound::ReadAndCopy)),
        Row::new("D2w", "the same: write whole", Writing { subject: D2 }),
        Row::new("D3r", "dense 537 MB, bitshuffle + lz4: read whole", whole(D3, Layout::RowMajor).bound(Bound::Decode)),
        Row::new("D3w", "the same: write whole", Writing { subject: D3 }),
        Row::new("D4r", "dense 537 MB, gzip 6: read whole", whole(D4, Layout::RowMajor).bound(Bound::Decode)),
        Row::new("D4w", "the same: write whole", Writing { subject: D4 }),
        Row::new("D5", "100 windows of 256 × 256 of D1", Reading::new(D1, small)),
        Row::new("D6", "D1 read whole, column-major", whole(D1, Layout::ColMajor).bound(Bound::Decode)),
        Row::new("D7", "image 805 MB, zstd 1: 200 windows of 1024 × 1024", Reading::new(D7, large)),
    ]
}

fn dimension(name: &str, cells: i64, extent: u64) -> Dimension {
    Dimension::new(name, Datatype::Int64, Range::Signed(0, cells - 1), Some(TileExtent::Integer(extent)))
}

fn floats(filters: Vec<FilterSpec>) -> Result<ArraySchema, Failure> {
    let builder = ArraySchema::builder(ArrayType::Dense).dimension(dimension("y", SIDE, 512));
    let builder = builder.dimension(dimension("x", SIDE, 512));
    Ok(builder.attribute(filtered(Attribute::new("a", Datatype::Float64), filters)).build()?)
}

/// Smooth along a row, with two decimals, as measurements are.
fn float_cells() -> Result<Fields, Failure> {
    let mut random = Random(7);
    let mut level = 0.0_f64;
    let cells = values(Datatype::Float64, SIDE_BYTES / 8, || {
        level += random.unit() - 0.5;
        hundredths(level).to_le_bytes()
    })?;
    Ok(vec![("a".to_owned(), cells)])
}

fn image() -> Result<ArraySchema, Failure> {
    let builder = ArraySchema::builder(ArrayType::Dense).dimension(dimension("y", IMAGE_SIDE, 1024));
    let builder = builder.dimension(dimension("x", IMAGE_SIDE, 1024)).dimension(dimension("colour", 3, 3));
    Ok(builder.attribute(filtered(Attribute::new("value", Datatype::UInt8), vec![zstd(1)])).build()?)
}

/// Pixels that differ little from their neighbours, as those of scanned slides.
fn image_cells() -> Result<Fields, Failure> {
    let mut random = Random(11);
    let (mut bits, mut left) = (0_u64, 0_u32);
    let mut level = 128_u8;
    let pixels = usize::try_from(IMAGE_SIDE * IMAGE_SIDE * 3)?;
    let cells = values(Datatype::UInt8, pixels, || {
        if left == 0 {
            (bits, left) = (random.next(), 16);
        }
        // One of sixteen steps: mostly none, sometimes up or down.
        level = match bits & 15 {
            0 => level.wrapping_add(1),
            1 => level.wrapping_sub(1),
            2 => level.wrapping_add(3),
            3 => level.wrapping_sub(3),
            _ => level,
        };
        (bits, left) = (bits >> 4, left - 1);
        [level]
    })?;
    Ok(vec![("value".to_owned(), cells)])
}
