//! Random cells.

use std::collections::HashSet;

use talavera_codec::Writer;
use talavera_engine::{CellBytes, FieldBuffer};
use talavera_schema::{ArraySchema, Attribute, Coordinate, Dimension, NdRange, Range};
use talavera_types::{CellValNum, Datatype, DatatypeClass};

use super::filters::{self, Demands};
use super::schema::ends;
use crate::Failure;
use crate::fixtures::random::Random;

/// Named fields, as a write takes them.
pub(super) type Fields = Vec<(String, FieldBuffer)>;

/// Coordinates that cells are drawn from: few, so that fragments meet.
pub(super) struct Pools(Vec<Vec<Vec<u8>>>);

/// A field from the bytes of each cell.
pub(super) fn field(
    datatype: Datatype,
    cell_val_num: CellValNum,
    cells: &[Vec<u8>],
    validity: Option<Vec<u8>>,
) -> Result<FieldBuffer, Failure> {
    let offsets = cell_val_num.is_var().then(|| {
        let ends = cells.iter().scan(0u64, |end, cell| {
            *end += cell.len() as u64;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    });
    Ok(FieldBuffer::new(datatype, cell_val_num, CellBytes::copied(&cells.concat()), offsets, validity)?)
}

/// Random cells of an attribute.
pub(super) fn of_attribute(
    random: &mut Random,
    schema: &ArraySchema,
    attribute: &Attribute,
    count: usize,
) -> Result<FieldBuffer, Failure> {
    let demands = filters::demands(&attribute.filters, attribute.datatype, attribute.is_var());
    let source = Values::random(random, attribute.datatype, demands, schema.is_dense());
    let most = if count > 2000 { 6 } else { *random.pick(&[3, 8, 8, 40]) };
    let least = usize::from(demands.nonempty);
    let runs = random.chance(25);
    let mut cells: Vec<Vec<u8>> = Vec::with_capacity(count);
    while cells.len() < count {
        let values = attribute.cell_val_num.fixed().map_or_else(|| random.range(least, most), |values| values as usize);
        let cell: Vec<u8> = (0..values).flat_map(|_| source.next(random)).collect();
        let repeated = if runs { random.range(1, 12) } else { 1 };
        cells.extend(std::iter::repeat_n(cell, repeated));
    }
    cells.truncate(count);
    let validity = attribute.nullable.then(|| {
        let nulls = *random.pick(&[0, 10, 50, 100]);
        // Whatever is not zero is a value, and kept as it is.
        let valid = if random.chance(10) { [1, 2, 255] } else { [1, 1, 1] };
        (0..count).map(|_| if random.chance(nulls) { 0 } else { *random.pick(&valid) }).collect()
    });
    field(attribute.datatype, attribute.cell_val_num, &cells, validity)
}

/// Where values come from.
struct Values {
    datatype: Datatype,
    kind: Kind,
}

enum Kind {
    Constant(Vec<u8>),
    /// Numbers below this.
    Small(usize),
    Letters,
    Extremes,
    Any,
}

impl Values {
    fn random(random: &mut Random, datatype: Datatype, demands: Demands, dense: bool) -> Self {
        let kind = if demands.constant {
            Kind::Constant(if dense { vec![0; datatype.size()] } else { small(random, datatype, 100) })
        } else if demands.tame {
            Kind::Small(1000)
        } else {
            match (datatype.class(), random.below(10)) {
                _ if datatype == Datatype::Bool => Kind::Small(2),
                (_, 0) => Kind::Constant(random.bytes(datatype.size())),
                (DatatypeClass::Text, 1..7) => Kind::Letters,
                (_, 1..4) => Kind::Small(100),
                (_, 4..7) => Kind::Extremes,
                _ => Kind::Any,
            }
        };
        Self { datatype, kind }
    }

    fn next(&self, random: &mut Random) -> Vec<u8> {
        let size = self.datatype.size();
        match &self.kind {
            Kind::Constant(value) => value.clone(),
            Kind::Small(end) => small(random, self.datatype, *end),
            Kind::Letters => vec![*random.pick(b"aabcde fgh\0")],
            Kind::Extremes => extreme(random, self.datatype),
            Kind::Any => random.bytes(size),
        }
    }
}

/// A number from 0 up, of floats from 1 up: between 0 and 1 their bits jump too far for double differences.
fn small(random: &mut Random, datatype: Datatype, end: usize) -> Vec<u8> {
    let number = random.below(end);
    let value = u16::try_from(number).unwrap_or(0);
    match datatype {
        Datatype::Float32 => f32::from(value + 1).to_le_bytes().to_vec(),
        Datatype::Float64 => f64::from(value + 1).to_le_bytes().to_vec(),
        _ => number.to_le_bytes().into_iter().take(datatype.size()).collect(),
    }
}

fn extreme(random: &mut Random, datatype: Datatype) -> Vec<u8> {
    let floats =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.5, -2.25, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324];
    let single =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1.5, -2.25, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45];
    let size = datatype.size();
    match datatype {
        Datatype::Float32 => random.pick(&single).to_le_bytes().to_vec(),
        Datatype::Float64 => random.pick(&floats).to_le_bytes().to_vec(),
        _ => {
            let mut value = vec![*random.pick(&[0, 0, 0xff, 0xff, 1, 0x80]); size];
            if let (Some(last), true) = (value.last_mut(), random.chance(50)) {
                *last = *random.pick(&[0, 0x7f, 0x80, 0xff]);
            }
            value
        }
    }
}

impl Pools {
    pub(super) fn random(random: &mut Random, schema: &ArraySchema, large: bool) -> Self {
        let of_dimension = |(index, dimension): (usize, &Dimension)| {
            let current = schema.current_domain.as_ref().and_then(|current| current.0.get(index));
            let bounds = current.or(dimension.domain.as_ref());
            let count = if large { 30_000 } else { *random.pick(&[1, 4, 12, 40, 200]) };
            (0..count).map(|_| coordinate(random, dimension, bounds)).collect()
        };
        Self(schema.domain.dimensions.iter().enumerate().map(of_dimension).collect())
    }

    /// One coordinate of a dimension.
    pub(super) fn pick(&self, random: &mut Random, dimension: usize) -> Vec<u8> {
        random.pick(&self.0[dimension]).clone()
    }
}

/// A coordinate within the bounds. NaN is never one: it has no place in an order. Neither is -0.0, which has the place of
/// 0.0 and is another coordinate. Nor have strings bytes above 127, which the reference writes before all others
/// (20-semantics §2.2).
fn coordinate(random: &mut Random, dimension: &Dimension, bounds: Option<&Range>) -> Vec<u8> {
    let mut w = Writer::new();
    match bounds {
        None => return string(random),
        Some(Range::String(low, high)) => {
            let drawn = string(random);
            let within = **low <= *drawn && *drawn <= **high;
            return if within { drawn } else { random.pick(&[low, high]).to_vec() };
        }
        Some(Range::Float32(low, high)) => {
            let [a, b] = random.next().to_le_bytes().first_chunk::<2>().copied().unwrap_or_default().map(f32::from);
            let part = (a + b / 256.0) / 256.0;
            let value = match random.below(8) {
                0 => *low,
                1 => *high,
                _ => (low + (high - low) * part).clamp(*low, *high),
            };
            w.f32(if value == 0.0 { 0.0 } else { value });
        }
        Some(Range::Float64(low, high)) => {
            let [a, b] = random.next().to_le_bytes().first_chunk::<2>().copied().unwrap_or_default().map(f64::from);
            let part = (a + b / 256.0) / 256.0;
            let value = match random.below(8) {
                0 => *low,
                1 => *high,
                _ => (low + (high - low) * part).clamp(*low, *high),
            };
            w.f64(if value == 0.0 { 0.0 } else { value });
        }
        Some(range) => {
            let (low, high) = ends(range).unwrap_or((0, 0));
            let value = match random.below(8) {
                0 => low,
                1 => high,
                2..4 => random.wide(low, high.min(low + 20)),
                _ => random.wide(low, high),
            };
            let coordinate = match range {
                Range::Unsigned(..) => Coordinate::Unsigned(value.try_into().unwrap_or(0)),
                _ => Coordinate::Signed(value.try_into().unwrap_or(0)),
            };
            coordinate.encode(&mut w, dimension.datatype);
        }
    }
    w.into_vec()
}

fn string(random: &mut Random) -> Vec<u8> {
    let length = *random.pick(&[0, 1, 1, 2, 3, 5, 9, 20]);
    let letters = *random.pick(&[&b"ab"[..], b"abcdefghijklmnopqrstuvwxyz", b"a\0\x7f Z"]);
    (0..length).map(|_| *random.pick(letters)).collect()
}

/// Cells of a sparse array, no two with the same coordinates unless `repeats`.
pub(super) fn sparse(
    random: &mut Random,
    schema: &ArraySchema,
    pools: &Pools,
    count: usize,
    repeats: bool,
) -> Result<Fields, Failure> {
    let dimensions = &schema.domain.dimensions;
    let mut seen = HashSet::new();
    let mut cells = Vec::new();
    for _ in 0..count {
        let cell: Vec<Vec<u8>> = (0..dimensions.len()).map(|dimension| pools.pick(random, dimension)).collect();
        if repeats || seen.insert(cell.clone()) {
            cells.push(cell);
        }
    }
    let mut fields = Vec::new();
    for (index, dimension) in dimensions.iter().enumerate() {
        let column: Vec<Vec<u8>> = cells.iter().map(|cell| cell[index].clone()).collect();
        fields.push((dimension.name.clone(), field(dimension.datatype, dimension.cell_val_num(), &column, None)?));
    }
    for attribute in &schema.attributes {
        fields.push((attribute.name.clone(), of_attribute(random, schema, attribute, cells.len())?));
    }
    Ok(fields)
}

/// A box of a dense array that may be written, and its cells.
pub(super) fn dense(random: &mut Random, schema: &ArraySchema) -> Result<(NdRange, Fields), Failure> {
    let whole = whole(schema);
    let subarray = if random.chance(20) { whole } else { part_of(random, schema, &whole) };
    let count = subarray.0.iter().filter_map(Range::cell_count).product::<u64>();
    let count = usize::try_from(count)?;
    let fields =
        schema.attributes.iter().map(|attribute| Ok((attribute.name.clone(), of_attribute(random, schema, attribute, count)?)));
    let fields = fields.collect::<Result<_, Failure>>()?;
    Ok((subarray, fields))
}

/// All that may be written: the current domain, else the domain.
pub(super) fn whole(schema: &ArraySchema) -> NdRange {
    let domains = schema.domain.dimensions.iter().map(|dimension| dimension.domain.clone());
    let domain = || domains.map(|domain| domain.unwrap_or(Range::String(Box::default(), Box::default()))).collect();
    schema.current_domain.clone().unwrap_or_else(|| NdRange(domain()))
}

/// A box within a box of integers.
pub(super) fn part_of(random: &mut Random, schema: &ArraySchema, whole: &NdRange) -> NdRange {
    let part = |(dimension, range): (&Dimension, &Range)| {
        let (low, high) = ends(range).unwrap_or((0, 0));
        let (a, b) = (random.wide(low, high), random.wide(low, high));
        super::schema::integers(dimension.datatype, a.min(b), a.max(b))
    };
    NdRange(schema.domain.dimensions.iter().zip(&whole.0).map(part).collect())
}
