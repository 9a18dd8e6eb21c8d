//! Each filter alone, on one chunk of 64 KiB and on 1 MiB in such chunks: throughput in bytes of cells.

#![allow(missing_docs, clippy::unwrap_used, reason = "benches document themselves by their names, and fail by panicking")]

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use talavera_benches::subjects::{self, CHUNK_BYTES};

const SIZES: [(&str, usize); 2] = [("64KiB", CHUNK_BYTES), ("1MiB", 1 << 20)];

fn filters(criterion: &mut Criterion) {
    for (size, bytes) in SIZES {
        for mut subject in subjects::all(bytes).unwrap() {
            let mut cells = vec![0; subject.bytes()];
            let mut group = criterion.benchmark_group(format!("{}/{}/{size}", subject.name, subject.cells.name()));
            group.throughput(Throughput::Bytes(subject.bytes() as u64));
            group.bench_function("encode", |b| b.iter(|| subject.encode().unwrap()));
            group.bench_function("decode", |b| b.iter(|| subject.decode(&mut cells).unwrap()));
            if subject.encode_by_codec().unwrap() {
                group.bench_function("codec encode", |b| b.iter(|| subject.encode_by_codec().unwrap()));
                group.bench_function("codec decode", |b| b.iter(|| subject.decode_by_codec(&mut cells).unwrap()));
            }
            group.bench_function("memcpy", |b| b.iter(|| subject.copy(&mut cells)));
        }
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20)
}

criterion_group! {
    name = benches;
    config = short();
    targets = filters
}
criterion_main!(benches);
