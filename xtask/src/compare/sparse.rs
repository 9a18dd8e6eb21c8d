//! S1 and F1: a matrix with few cells, like single-cell expression, in one fragment and in a thousand.

use talavera_engine::OpenArray;
use talavera_filter::FilterSpec;
use talavera_peer::{Condition, Mode, Operator, Window};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_types::{ArrayType, Datatype, Layout};

use super::arrays::{Fields, Subject};
use super::bound::Bound;
use super::cells::{Random, filtered, filtered_dimension, values, zstd};
use super::row::{Engine, Question, Reading, Row, Turn, Work, Writing, context, uri};
use crate::Failure;

const ROWS: i64 = 131_072;
const COLUMNS: i64 = 32_768;
const CELLS: usize = 20_000_000;
const FRAGMENT_CELLS: usize = 1000;
const FRAGMENTS: u64 = 1000;

const S1: Subject = Subject { name: "s1", schema, cells: |write| cells(CELLS, write), writes: 1 };
const F1: Subject = Subject { name: "f1", schema, cells: |write| cells(FRAGMENT_CELLS, write), writes: FRAGMENTS };

pub(super) fn rows() -> Result<Vec<Row>, Failure> {
    let whole = |layout| Reading::new(S1, vec![Question::whole(layout, CELLS * 8)]).bound(Bound::Decode);
    let one = |question| Reading::new(S1, vec![question]);
    let single = |row| Range::Signed(row, row);
    let mut random = Random(13);
    let some: Vec<i64> = (0..2000).map(|_| i64::from(random.below_u32(131_072))).collect();
    let each = some.iter().map(|&row| Question::whole(Layout::Unordered, 1 << 14).ranges(vec![vec![single(row)], Vec::new()]));
    let together = vec![some.iter().map(|&row| single(row)).collect(), Vec::new()];
    let large = Condition::compare("soma_data", Operator::Greater, 20.0_f32.to_ne_bytes());
    // As wide along both dimensions as makes a tenth of the domain.
    let tenth = vec![vec![Range::Signed(20_000, 61_447)], vec![Range::Signed(1000, 11_361)]];
    Ok(vec![
        Row::new("S1w", "sparse 20 M cells, zstd 3: write from random order", Writing { subject: S1 }),
        Row::new("S1u", "the same: read whole, unordered", whole(Layout::Unordered)),
        Row::new("S1r", "read whole, row-major", whole(Layout::RowMajor)),
        Row::new("S1g", "read whole, global order", whole(Layout::GlobalOrder)),
        Row::new("S1s", "2,000 single rows, a read each", Reading::new(S1, each.collect())),
        Row::new("S1m", "2,000 single rows, in one read", one(Question::whole(Layout::Unordered, 4 << 20).ranges(together))),
        Row::new(
            "S1c",
            "condition `soma_data > 20`",
            one(Question::whole(Layout::Unordered, CELLS * 8).condition("soma_data > 20", large)?),
        ),
        Row::new("S1b", "a box of 10 %, row-major", one(Question::whole(Layout::RowMajor, CELLS).ranges(tenth))),
    ])
}

pub(super) fn fragment_rows() -> Vec<Row> {
    // A hundredth of the domain.
    let box_ranges = vec![vec![Range::Signed(40_000, 53_106)], vec![Range::Signed(10_000, 13_276)]];
    let read = |question| Reading::new(F1, vec![question]);
    vec![
        Row::new("F1o", "1,000 fragments of 1,000 cells: open", Opening { ask: Ask::Nothing }),
        Row::new("F1n", "open and ask for the non-empty domain", Opening { ask: Ask::NonEmptyDomain }),
        Row::new("F1r", "open and read all, unordered", read(Question::whole(Layout::Unordered, 8_000_000))),
        Row::new("F1b", "open and read 1 %, unordered", read(Question::whole(Layout::Unordered, 800_000).ranges(box_ranges))),
    ]
}

fn schema() -> Result<ArraySchema, Failure> {
    let dimension = |name: &str, cells: i64, filters: Vec<FilterSpec>| {
        let extent = Some(TileExtent::Integer(2048));
        filtered_dimension(Dimension::new(name, Datatype::Int64, Range::Signed(0, cells - 1), extent), filters)
    };
    let shuffled = || vec![FilterSpec::Byteshuffle, zstd(3)];
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(100_000);
    let builder = builder.dimension(dimension("soma_dim_0", ROWS, vec![zstd(3)]));
    let builder = builder.dimension(dimension("soma_dim_1", COLUMNS, shuffled()));
    Ok(builder.attribute(filtered(Attribute::new("soma_data", Datatype::Float32), shuffled())).build()?)
}

/// Cells in random order, no coordinate twice; the values are counts, an eighth of them above 20.
fn cells(cells: usize, seed: u64) -> Result<Fields, Failure> {
    /// Coordinates are places in a walk through the whole domain by a step that has no factor in common with it.
    const STEP: u64 = 2_654_435_761;
    const DOMAIN: u64 = 131_072 * 32_768;
    let mut random = Random(seed);
    let start = random.next() % DOMAIN;
    let coordinates = |of: fn(u64) -> u64| {
        let mut place = start;
        values(Datatype::Int64, cells, move || {
            place = (place + STEP) % DOMAIN;
            of(place).to_le_bytes()
        })
    };
    let count = || {
        let bits = random.next() | 1;
        let count = u16::try_from(u64::from(bits.leading_zeros()) * 7 + bits % 7).unwrap_or(0);
        f32::from(count).to_le_bytes()
    };
    Ok(vec![
        ("soma_dim_0".to_owned(), coordinates(|place| place / 32_768)?),
        ("soma_dim_1".to_owned(), coordinates(|place| place % 32_768)?),
        ("soma_data".to_owned(), values(Datatype::Float32, cells, count)?),
    ])
}

/// Opens the array of many fragments.
struct Opening {
    ask: Ask,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    Nothing,
    NonEmptyDomain,
}

impl Work for Opening {
    fn prepare(&self, engine: Engine) -> Result<Turn, Failure> {
        F1.make()?;
        let ask = self.ask;
        if engine == Engine::Ours {
            return Ok(Box::new(move || {
                let array = F1.open()?;
                if ask == Ask::Nothing {
                    return Ok(0);
                }
                let domain = OpenArray::non_empty_domain(&array).ok_or("no cells")?;
                let ends = domain.0.iter().map(|range| match range {
                    Range::Signed(low, high) => u64::try_from(low + high).unwrap_or(0),
                    _ => 0,
                });
                Ok(ends.sum())
            }));
        }
        let (context, uri) = (context()?, uri(&F1.folder())?);
        Ok(Box::new(move || {
            let array = context.open(&uri, Mode::Read, Window::default())?;
            if ask == Ask::Nothing {
                return Ok(0);
            }
            let domain = array.non_empty_domain()?.ok_or("no cells")?;
            let end = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
            Ok(domain.iter().map(|range| end(&range.low) + end(&range.high)).sum())
        }))
    }
}
