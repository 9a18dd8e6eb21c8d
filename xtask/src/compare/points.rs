//! S2 and S3: points with real coordinates, in Hilbert order.

use talavera_filter::FilterSpec;
use talavera_schema::{ArraySchema, Attribute, Dimension, Range};
use talavera_types::{ArrayType, Datatype, Layout};

use super::arrays::{Fields, Subject};
use super::bound::Bound;
use super::cells::{Random, filtered, filtered_dimension, hundredths, values, zstd};
use super::row::{Question, Reading, Row, Writing};
use crate::Failure;

const POINTS: usize = 5_000_000;
const RETURNS: usize = 10_000_000;

const S2: Subject = Subject { name: "s2", schema: places, cells: |_| place_cells(), writes: 1 };
const S3: Subject = Subject { name: "s3", schema: lidar, cells: |_| lidar_cells(), writes: 1 };

pub(super) fn rows() -> Vec<Row> {
    let mut random = Random(17);
    let boxes = (0..40).map(|_| {
        let (x, y) = (random.unit() * 340.0 - 180.0, random.unit() * 170.0 - 90.0);
        let ranges = vec![vec![Range::Float64(x, x + 18.0)], vec![Range::Float64(y, y + 9.0)]];
        Question::whole(Layout::Unordered, 1 << 20).ranges(ranges)
    });
    let boxes = Reading::new(S2, boxes.collect());
    let whole = |subject, bytes| Reading::new(subject, vec![Question::whole(Layout::Unordered, bytes)]).bound(Bound::Decode);
    vec![
        Row::new("S2w", "sparse 5 M points in Hilbert order, zstd 3: write", Writing { subject: S2 }),
        Row::new("S2b", "the same: 40 boxes", boxes),
        Row::new("S2u", "read whole, unordered", whole(S2, POINTS * 8)),
        Row::new("S3w", "10 M lidar points in Hilbert order, float-scale + delta + …: write", Writing { subject: S3 }),
        Row::new("S3r", "the same: read whole, unordered", whole(S3, RETURNS * 8)),
    ]
}

fn dimension(name: &str, low: f64, high: f64, filters: Vec<FilterSpec>) -> Dimension {
    filtered_dimension(Dimension::new(name, Datatype::Float64, Range::Float64(low, high), None), filters)
}

fn builder(capacity: u64) -> talavera_schema::ArraySchemaBuilder {
    ArraySchema::builder(ArrayType::Sparse).cell_order(Layout::Hilbert).allows_dups(true).capacity(capacity)
}

fn places() -> Result<ArraySchema, Failure> {
    let builder = builder(10_000).dimension(dimension("longitude", -180.0, 180.0, vec![zstd(3)]));
    let builder = builder.dimension(dimension("latitude", -90.0, 90.0, vec![zstd(3)]));
    let builder = builder.attribute(filtered(Attribute::new("height", Datatype::Float32), vec![zstd(3)]));
    Ok(builder.attribute(filtered(Attribute::new("kind", Datatype::Int32), vec![zstd(3)])).build()?)
}

fn place_cells() -> Result<Fields, Failure> {
    let mut random = Random(19);
    let mut coordinate = |width: f64| values(Datatype::Float64, POINTS, || (random.unit() * width - width / 2.0).to_le_bytes());
    let (longitude, latitude) = (coordinate(360.0)?, coordinate(180.0)?);
    let mut height = || f32::from(u16::try_from(random.below_u32(9000)).unwrap_or(0)).to_le_bytes();
    let height = values(Datatype::Float32, POINTS, &mut height)?;
    let kind = values(Datatype::Int32, POINTS, || random.below_u32(12).to_le_bytes())?;
    let names = ["longitude", "latitude", "height", "kind"].map(str::to_owned);
    Ok(names.into_iter().zip([longitude, latitude, height, kind]).collect())
}

fn lidar() -> Result<ArraySchema, Failure> {
    let any = Datatype::Any;
    let coordinates = || {
        let scale = FilterSpec::FloatScale { scale: 0.01, offset: 0.0, byte_width: 4 };
        vec![scale, FilterSpec::Delta { level: -1, reinterpret: any }, FilterSpec::Bitshuffle, zstd(7)]
    };
    let numbers = || {
        let reduced = FilterSpec::BitWidthReduction { max_window_bytes: 256 };
        vec![FilterSpec::Delta { level: -1, reinterpret: any }, reduced, zstd(7)]
    };
    let mut builder = builder(100_000);
    for (name, high) in [("X", 1000.0), ("Y", 1000.0), ("Z", 200.0)] {
        builder = builder.dimension(dimension(name, 0.0, high, coordinates()));
    }
    for name in ["Intensity", "ReturnNumber", "PointSourceId"] {
        builder = builder.attribute(filtered(Attribute::new(name, Datatype::UInt16), numbers()));
    }
    Ok(builder.build()?)
}

/// Points as a scanner gives them: line by line across ten strips, over rolling ground, to the centimetre.
fn lidar_cells() -> Result<Fields, Failure> {
    let strip_points = u32::try_from(RETURNS / 10)?;
    let along = move |point: u32| f64::from(point % strip_points) / f64::from(strip_points) * 999.0;
    let across = move |point: u32| f64::from(point / strip_points) * 99.0 + f64::from(point % 500) * 0.2;
    let mut random = Random(23);
    let mut coordinate = |at: &dyn Fn(u32) -> f64, noise: f64| {
        let mut point = 0;
        values(Datatype::Float64, RETURNS, || {
            point += 1;
            hundredths(at(point - 1) + random.unit() * noise).to_le_bytes()
        })
    };
    let x = coordinate(&along, 0.2)?;
    let y = coordinate(&across, 0.2)?;
    let z = coordinate(&|point| 50.0 + 20.0 * (along(point) / 100.0).sin() + 10.0 * (across(point) / 70.0).cos(), 2.0)?;
    let mut number = |of: &dyn Fn(u32, u32) -> u32| {
        let mut point = 0;
        values(Datatype::UInt16, RETURNS, || {
            point += 1;
            u16::try_from(of(point - 1, random.below_u32(1 << 16))).unwrap_or(0).to_le_bytes()
        })
    };
    let intensity = number(&|_, random| 200 + random % 1000)?;
    let return_number = number(&|_, random| 1 + (random % 16) / 12)?;
    let source = number(&|point, _| point / strip_points)?;
    let names = ["X", "Y", "Z", "Intensity", "ReturnNumber", "PointSourceId"].map(str::to_owned);
    Ok(names.into_iter().zip([x, y, z, intensity, return_number, source]).collect())
}
