//! Whole tiles through the filter lists of real arrays: throughput in bytes of cells.

#![allow(missing_docs, clippy::unwrap_used, reason = "benches document themselves by their names, and fail by panicking")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use talavera_benches::Cells;
use talavera_filter::{FilterList, FilterSpec};
use talavera_pipeline::{Pipeline, TileFormat};
use talavera_types::{Datatype, FormatVersion};

/// Bytes of a tile: 512 by 512 cells of eight bytes.
const TILE_BYTES: usize = 2 << 20;

fn lists() -> Vec<(&'static str, Cells, Vec<FilterSpec>)> {
    let reinterpret = Datatype::Any;
    let (zstd, lz4) = (FilterSpec::Zstd { level: 5 }, FilterSpec::Lz4 { level: -1 });
    let (delta, double_delta) =
        (FilterSpec::Delta { level: -1, reinterpret }, FilterSpec::DoubleDelta { level: -1, reinterpret });
    let widths = FilterSpec::BitWidthReduction { max_window_bytes: 256 };
    vec![
        ("none", Cells::F64, vec![]),
        ("byteshuffle", Cells::F64, vec![FilterSpec::Byteshuffle]),
        ("byteshuffle+zstd", Cells::F64, vec![FilterSpec::Byteshuffle, zstd.clone()]),
        ("bitshuffle+lz4", Cells::F64, vec![FilterSpec::Bitshuffle, lz4]),
        ("double_delta+zstd", Cells::U64, vec![double_delta, zstd.clone()]),
        ("delta+bit_width_reduction+zstd", Cells::U64, vec![delta, widths, zstd]),
    ]
}

fn tiles(criterion: &mut Criterion) {
    for (name, cells, filters) in lists() {
        let (datatype, version) = (cells.datatype(), FormatVersion::DEFAULT);
        let format = TileFormat { datatype, cell_bytes: datatype.size(), version };
        let pipeline = Pipeline::new(&FilterList { filters, max_chunk_bytes: 64 << 10 }, format, None).unwrap();
        let cells = cells.bytes(TILE_BYTES);
        let tile = pipeline.encode_tile(&cells).unwrap();
        let mut decoded = vec![0; cells.len()];
        pipeline.decode_tile(&tile, &mut decoded).unwrap();
        assert!(decoded == cells, "{name}: what was decoded is not what was encoded");
        let mut group = criterion.benchmark_group(format!("tile/{name}"));
        group.throughput(Throughput::Bytes(cells.len() as u64));
        group.bench_function("encode", |b| b.iter(|| pipeline.encode_tile(black_box(&cells)).unwrap()));
        group.bench_function("decode", |b| b.iter(|| pipeline.decode_tile(black_box(&tile), &mut decoded).unwrap()));
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20)
}

criterion_group! {
    name = benches;
    config = short();
    targets = tiles
}
criterion_main!(benches);
