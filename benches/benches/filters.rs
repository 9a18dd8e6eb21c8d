//! Each filter alone, on one chunk of 64 KiB and of 1 MiB: throughput in bytes of cells.

#![allow(missing_docs, clippy::unwrap_used, reason = "benches document themselves by their names, and fail by panicking")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use talavera_codec::Limits;
use talavera_filter::{Chunk, EncodedChunk, Filter, FilterContext, StringFilter, WebpFormat};
use talavera_types::{Datatype, FormatVersion};

/// A filter with the kind of cells that it is made for.
struct Subject {
    name: &'static str,
    cells: Cells,
    filter: Box<dyn Filter>,
}

/// What the cells are like.
#[derive(Clone, Copy)]
enum Cells {
    /// Readings that drift slowly, with noise in the low bits.
    U32,
    /// Numbers that only grow.
    AscendingU64,
    /// Quarters.
    F64,
    /// Runs of equal bytes.
    RunsU8,
    /// A picture of soft gradients, four bytes a pixel.
    Pixels,
}

const SIZES: [(&str, usize); 2] = [("64KiB", 64 << 10), ("1MiB", 1 << 20)];

fn subjects(bytes: usize) -> Vec<Subject> {
    let any = Datatype::Any;
    let (y_extent, x_extent) = if bytes > 64 << 10 { (512, 2048) } else { (128, 512) };
    let webp = talavera_filter_webp::Webp { quality: 100.0, format: WebpFormat::Rgba, lossless: true, y_extent, x_extent };
    let scale = talavera_filter_float_scale::FloatScale { scale: 0.25, offset: 0.0, byte_width: 4 };
    let windows = talavera_filter_bit_width_reduction::BitWidthReduction { max_window_bytes: 256 };
    let ascending = talavera_filter_positive_delta::PositiveDelta { max_window_bytes: 1024 };
    vec![
        Subject::new("gzip", Cells::U32, talavera_filter_gzip::Gzip { level: -1 }),
        Subject::new("zstd", Cells::U32, talavera_filter_zstd::Zstd { level: 3 }),
        Subject::new("lz4", Cells::U32, talavera_filter_lz4::Lz4),
        Subject::new("rle", Cells::RunsU8, talavera_filter_rle::Rle),
        Subject::new("bzip2", Cells::U32, talavera_filter_bzip2::Bzip2 { level: 1 }),
        Subject::new("double_delta", Cells::AscendingU64, talavera_filter_double_delta::DoubleDelta { reinterpret: any }),
        Subject::new("bit_width_reduction", Cells::U32, windows),
        Subject::new("bitshuffle", Cells::U32, talavera_filter_bitshuffle::Bitshuffle),
        Subject::new("byteshuffle", Cells::U32, talavera_filter_byteshuffle::Byteshuffle),
        Subject::new("byteshuffle", Cells::F64, talavera_filter_byteshuffle::Byteshuffle),
        Subject::new("positive_delta", Cells::AscendingU64, ascending),
        Subject::new("aes_256_gcm", Cells::U32, talavera_filter_aes_256_gcm::Aes256Gcm::new(&[7; 32])),
        Subject::new("md5", Cells::U32, talavera_filter_md5::ChecksumMd5),
        Subject::new("sha256", Cells::U32, talavera_filter_sha256::ChecksumSha256),
        Subject::new("float_scale", Cells::F64, scale),
        Subject::new("xor", Cells::U32, talavera_filter_xor::Xor),
        Subject::new("webp", Cells::Pixels, webp),
        Subject::new("delta", Cells::U32, talavera_filter_delta::Delta { reinterpret: any }),
    ]
}

impl Subject {
    fn new(name: &'static str, cells: Cells, filter: impl Filter + 'static) -> Self {
        Self { name, cells, filter: Box::new(filter) }
    }
}

impl Cells {
    fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::AscendingU64 => "u64",
            Self::F64 => "f64",
            Self::RunsU8 | Self::Pixels => "u8",
        }
    }

    fn datatype(self) -> Datatype {
        match self {
            Self::U32 => Datatype::UInt32,
            Self::AscendingU64 => Datatype::UInt64,
            Self::F64 => Datatype::Float64,
            Self::RunsU8 | Self::Pixels => Datatype::UInt8,
        }
    }

    fn cell_bytes(self) -> usize {
        self.datatype().size()
    }

    /// As many bytes of cells, the same each time.
    fn bytes(self, bytes: usize) -> Vec<u8> {
        let mut noise = Noise(1);
        let count = u32::try_from(bytes / self.cell_bytes()).unwrap();
        match self {
            Self::U32 => (0..count).flat_map(|i| (1_000_000 + i / 4 + noise.below(1 << 10)).to_le_bytes()).collect(),
            Self::AscendingU64 => {
                let mut sum = 1u64 << 40;
                let mut next = || {
                    sum += u64::from(noise.below(200));
                    sum
                };
                (0..count).flat_map(|_| next().to_le_bytes()).collect()
            }
            Self::F64 => (0..count).flat_map(|_| (f64::from(noise.below(1 << 16)) / 4.0).to_le_bytes()).collect(),
            Self::RunsU8 => {
                let mut value = 0;
                (0..count)
                    .map(|_| {
                        value = if noise.below(16) == 0 { noise.byte() } else { value };
                        value
                    })
                    .collect()
            }
            Self::Pixels => (0..count).flat_map(|i| [i / 997 % 256, i / 31 % 256]).take(bytes).flat_map(u8::try_from).collect(),
        }
    }
}

/// The same numbers each time: xorshift.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

fn filters(criterion: &mut Criterion) {
    for (size, bytes) in SIZES {
        for subject in subjects(bytes) {
            let cells = subject.cells.bytes(bytes);
            assert_eq!(cells.len(), bytes);
            let limits = Limits::new(1 << 32);
            let cx = FilterContext {
                datatype: subject.cells.datatype(),
                cell_bytes: subject.cells.cell_bytes(),
                version: FormatVersion::DEFAULT,
                limits: &limits,
            };
            let encoded = subject.filter.encode(Chunk::new(&cells), &cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            let mut decoded = vec![0; bytes];
            let mut group = criterion.benchmark_group(format!("{}/{}/{size}", subject.name, subject.cells.name()));
            group.throughput(Throughput::Bytes(bytes as u64));
            group.bench_function("encode", |b| b.iter(|| subject.filter.encode(Chunk::new(black_box(&cells)), &cx).unwrap()));
            group.bench_function("decode", |b| {
                b.iter(|| {
                    let limits = Limits::new(1 << 32);
                    let cx = FilterContext { limits: &limits, ..cx };
                    subject.filter.decode_into(EncodedChunk::new(black_box(&metadata), &data), &cx, &mut decoded).unwrap();
                });
            });
            assert!(decoded == cells, "{}: what was decoded is not what was encoded", subject.name);
        }
    }
}

/// The filters that take strings and offsets together, on words out of a small vocabulary; RLE has them sorted.
fn string_filters(criterion: &mut Criterion) {
    let vocabulary = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "isle", "jade", "knoll"];
    let subjects: [(&str, bool, Box<dyn StringFilter>); 2] = [
        ("rle", true, Box::new(talavera_filter_rle::Rle)),
        ("dictionary", false, Box::new(talavera_filter_dictionary::Dictionary)),
    ];
    for (size, bytes) in SIZES {
        for (name, sorted, filter) in &subjects {
            let mut noise = Noise(2);
            let mut words: Vec<&str> = (0..bytes / 5).map(|_| vocabulary[usize::from(noise.byte()) % vocabulary.len()]).collect();
            if *sorted {
                words.sort_unstable();
            }
            let values = words.concat().into_bytes();
            let mut offsets: Vec<u64> = vec![0];
            for word in &words {
                offsets.push(offsets[offsets.len() - 1] + word.len() as u64);
            }
            let limits = Limits::new(1 << 32);
            let version = FormatVersion::DEFAULT;
            let cx = FilterContext { datatype: Datatype::StringAscii, cell_bytes: 1, version, limits: &limits };
            let encoded = filter.encode_strings(&values, &offsets, &cx).unwrap();
            let (metadata, data) = (encoded.metadata.concat(), encoded.data.concat());
            let (mut decoded, mut starts) = (vec![0; values.len()], Vec::new());
            let mut group = criterion.benchmark_group(format!("{name}/ascii/{size}"));
            group.throughput(Throughput::Bytes(values.len() as u64));
            group.bench_function("encode", |b| b.iter(|| filter.encode_strings(black_box(&values), &offsets, &cx).unwrap()));
            group.bench_function("decode", |b| {
                b.iter(|| {
                    starts.clear();
                    let limits = Limits::new(1 << 32);
                    let cx = FilterContext { limits: &limits, ..cx };
                    let chunk = EncodedChunk::new(black_box(&metadata), &data);
                    filter.decode_strings(chunk, &cx, words.len(), &mut decoded, &mut starts).unwrap();
                });
            });
            assert!(decoded == values, "{name}: what was decoded is not what was encoded");
        }
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20)
}

criterion_group! {
    name = benches;
    config = short();
    targets = filters, string_filters
}
criterion_main!(benches);
