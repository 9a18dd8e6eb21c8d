//! T1 and V1: a table with text and nulls, and variant calls under keys of text.

use talavera_engine::FieldBuffer;
use talavera_filter::{FilterList, FilterSpec};
use talavera_peer::{Condition, Operator};
use talavera_schema::{ArraySchema, Attribute, Dimension, Range, TileExtent};
use talavera_types::{ArrayType, Datatype, Layout};

use super::arrays::{Fields, Subject};
use super::cells::{Random, filtered, filtered_dimension, text, values, zstd};
use super::row::{Question, Reading, Row, Writing};
use crate::Failure;

const RECORDS: usize = 3_000_000;
const SAMPLES: usize = 1000;
const CALLS: usize = 2000;

const T1: Subject = Subject { name: "t1", schema: table, cells: |_| table_cells(), writes: 1 };
const V1: Subject = Subject { name: "v1", schema: variants, cells: |_| variant_cells(), writes: 1 };

pub(super) fn rows() -> Result<Vec<Row>, Failure> {
    // Offsets take 8 bytes a cell, the longest text, an id, 14.
    let whole = || Question::whole(Layout::Unordered, RECORDS * 16);
    let category = Condition::compare("category", Operator::Equal, *b"category-07");
    let category = whole().condition("category == 'category-07'", category)?;
    let mut random = Random(29);
    let regions = (0..100).map(|_| {
        let contig = contig(random.below_u32(22));
        let low = u64::from(random.below_u32(240_000_000));
        let ranges = vec![vec![Range::String(contig.clone(), contig)], vec![Range::Unsigned(low, low + 1_000_000)], Vec::new()];
        Question::whole(Layout::Unordered, 1 << 18).ranges(ranges)
    });
    Ok(vec![
        Row::new("T1w", "table of 3 M records: write", Writing { subject: T1 }),
        Row::new("T1r", "the same: read all", Reading::new(T1, vec![whole()])),
        Row::new("T1c", "condition on the category", Reading::new(T1, vec![category])),
        Row::new("V1w", "2 M variant calls: write", Writing { subject: V1 }),
        Row::new("V1r", "the same: 100 regions", Reading::new(V1, regions.collect())),
    ])
}

fn table() -> Result<ArraySchema, Failure> {
    let index = Dimension::new("index", Datatype::Int64, Range::Signed(0, 1 << 31), Some(TileExtent::Integer(2048)));
    let double_delta = FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any };
    let dictionary = FilterSpec::Dictionary { level: -1 };
    let mut value = filtered(Attribute::new("value", Datatype::Int32), vec![zstd(3)]);
    value.nullable = true;
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(100_000);
    let builder = builder.dimension(filtered_dimension(index, vec![double_delta, zstd(3)]));
    let builder = builder.attribute(filtered(Attribute::var("id", Datatype::StringAscii), vec![zstd(3)]));
    let builder = builder.attribute(filtered(Attribute::var("category", Datatype::StringAscii), vec![dictionary, zstd(3)]));
    Ok(builder.attribute(value).build()?)
}

fn table_cells() -> Result<Fields, Failure> {
    let mut random = Random(31);
    let mut index = 0_u64;
    let indices = values(Datatype::Int64, RECORDS, || {
        index += 1;
        (index - 1).to_le_bytes()
    })?;
    let ids = text(RECORDS, |bytes| bytes.extend_from_slice(format!("ID{:012}", random.below_u32(1 << 30)).as_bytes()))?;
    let categories = text(RECORDS, |bytes| bytes.extend_from_slice(format!("category-{:02}", random.below_u32(20)).as_bytes()))?;
    let numbers = values(Datatype::Int32, RECORDS, || random.below_u32(100_000).to_le_bytes())?;
    let validity = (0..RECORDS).map(|_| u8::from(random.below_u32(10) > 0)).collect();
    let (datatype, cell_val_num) = (numbers.datatype(), numbers.cell_val_num());
    let numbers =
        FieldBuffer::new(datatype, cell_val_num, talavera_engine::CellBytes::copied(numbers.data()), None, Some(validity))?;
    let names = ["index", "id", "category", "value"].map(str::to_owned);
    Ok(names.into_iter().zip([indices, ids, categories, numbers]).collect())
}

fn variants() -> Result<ArraySchema, Failure> {
    // Whole tiles in one chunk, as stores of variants ask for.
    let whole = |filters| FilterList { max_chunk_bytes: 0, ..FilterList::new(filters) };
    let mut contig = Dimension::string("contig");
    contig.filters = whole(vec![FilterSpec::Rle { level: -1 }]);
    let domain = Range::Unsigned(0, u64::from(u32::MAX) - 2);
    let mut position = Dimension::new("position", Datatype::UInt32, domain, Some(TileExtent::Integer(u64::from(u32::MAX) - 1)));
    let double_delta = FilterSpec::DoubleDelta { level: -1, reinterpret: Datatype::Any };
    position.filters = whole(vec![double_delta, zstd(3), FilterSpec::ChecksumSha256]);
    let mut sample = Dimension::string("sample");
    sample.filters = whole(vec![FilterSpec::Dictionary { level: -1 }, zstd(3)]);
    let mut alleles = Attribute::var("alleles", Datatype::StringAscii);
    alleles.filters = whole(vec![zstd(3)]);
    let builder = ArraySchema::builder(ArrayType::Sparse).capacity(10_000).allows_dups(true);
    let builder = builder.offsets_filters(whole(vec![zstd(3)]));
    Ok(builder.dimension(contig).dimension(position).dimension(sample).attribute(alleles).build()?)
}

/// Calls sample by sample, each in the order of positions, as they are loaded.
fn variant_cells() -> Result<Fields, Failure> {
    let cells = SAMPLES * CALLS;
    let mut random = Random(37);
    let per_contig = u32::try_from(CALLS / 20)?;
    let mut calls = 0..;
    let contigs = text(cells, |bytes| bytes.extend_from_slice(&contig(next(&mut calls) / per_contig)))?;
    let (mut calls, mut at) = (0.., 0);
    let positions = values(Datatype::UInt32, cells, || {
        // Sites that many samples share: multiples of a hundred.
        at = if next(&mut calls).is_multiple_of(per_contig) { 0 } else { at };
        at += 100 * (1 + random.below_u32(48_000));
        at.to_le_bytes()
    })?;
    let mut cell = 0_usize;
    let samples = text(cells, |bytes| {
        bytes.extend_from_slice(format!("HG{:05}", cell / CALLS).as_bytes());
        cell += 1;
    })?;
    let alleles = text(cells, |bytes| {
        let of = |random: u32| ["A,C", "A,G", "C,T", "G,A", "G,T", "T,C", "AT,A", "C,CAG"].get(random as usize).copied();
        bytes.extend_from_slice(of(random.below_u32(8)).unwrap_or("A,T").as_bytes());
    })?;
    let names = ["contig", "position", "sample", "alleles"].map(str::to_owned);
    Ok(names.into_iter().zip([contigs, positions, samples, alleles]).collect())
}

/// Which call of its sample the next cell is.
fn next(calls: &mut std::ops::RangeFrom<usize>) -> u32 {
    calls.next().and_then(|cell| u32::try_from(cell % CALLS).ok()).unwrap_or(0)
}

fn contig(index: u32) -> Box<[u8]> {
    format!("chr{}", index % 22 + 1).into_bytes().into()
}
