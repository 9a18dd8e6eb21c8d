//! Laws of whole pipelines: what is encoded comes back, and damaged tiles are errors or values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use talavera_filter::{FilterList, FilterSpec};
use talavera_pipeline::{EncryptionKey, Pipeline, TileFormat};
use talavera_types::{Datatype, FormatVersion};

/// Any filter that gives back what it took. (SCALE_FLOAT rounds, WEBP wants images, DICTIONARY strings.)
fn filter() -> impl Strategy<Value = FilterSpec> {
    let reinterpret = prop::sample::select(&[Datatype::Any, Datatype::Int16, Datatype::UInt64, Datatype::Blob][..]);
    prop_oneof![
        Just(FilterSpec::None),
        Just(FilterSpec::Gzip { level: 1 }),
        Just(FilterSpec::Zstd { level: -1 }),
        Just(FilterSpec::Lz4 { level: -1 }),
        Just(FilterSpec::Rle { level: -1 }),
        Just(FilterSpec::Bzip2 { level: 1 }),
        reinterpret.clone().prop_map(|reinterpret| FilterSpec::DoubleDelta { level: -1, reinterpret }),
        reinterpret.prop_map(|reinterpret| FilterSpec::Delta { level: -1, reinterpret }),
        (0u32..300).prop_map(|max_window_bytes| FilterSpec::BitWidthReduction { max_window_bytes }),
        (0u32..300).prop_map(|max_window_bytes| FilterSpec::PositiveDelta { max_window_bytes }),
        Just(FilterSpec::Bitshuffle),
        Just(FilterSpec::Byteshuffle),
        Just(FilterSpec::ChecksumMd5),
        Just(FilterSpec::ChecksumSha256),
        Just(FilterSpec::Xor),
    ]
}

fn format() -> impl Strategy<Value = TileFormat> {
    (prop::sample::select(Datatype::ALL), 1usize..4, 1u32..=23).prop_map(|(datatype, values, version)| TileFormat {
        datatype,
        cell_bytes: values * datatype.size(),
        version: FormatVersion::new(version).unwrap(),
    })
}

/// Bytes with structure: small steps, runs, and noise.
fn cells() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..600),
        vec(0u8..3, 0..600),
        (0u64..5000, 0u64..9, 0u64..100)
            .prop_map(|(start, step, count)| { (0..count).flat_map(|cell| (start + step * cell).to_le_bytes()).collect() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1500, ..Default::default() })]

    #[test]
    fn what_a_pipeline_encodes_it_decodes(filters in vec(filter(), 0..5), format in format(), cells in cells(), encrypted: bool) {
        let key = encrypted.then(|| EncryptionKey::new([9; 32]));
        let pipeline = Pipeline::new(&FilterList::new(filters), format, key.as_ref()).unwrap();
        let cells = &cells[..cells.len() / format.cell_bytes * format.cell_bytes];
        // A filter may refuse cells, but not write what does not come back.
        if let Ok(tile) = pipeline.encode_tile(cells) {
            let mut decoded = vec![0; cells.len()];
            pipeline.decode_tile(&tile, &mut decoded).unwrap();
            prop_assert_eq!(decoded, cells);
        }
    }

    #[test]
    fn damaged_tiles_are_errors_or_values(
        filters in vec(filter(), 0..4),
        format in format(),
        cells in cells(),
        at: prop::sample::Index,
        mask in 1u8..,
        len: prop::sample::Index,
    ) {
        let pipeline = Pipeline::new(&FilterList::new(filters), format, None).unwrap();
        let cells = &cells[..cells.len() / format.cell_bytes * format.cell_bytes];
        if let Ok(mut tile) = pipeline.encode_tile(cells) {
            let mut decoded = vec![0; cells.len()];
            prop_assert!(pipeline.decode_tile(&tile[..len.index(tile.len())], &mut decoded).is_err());
            let at = at.index(tile.len());
            tile[at] ^= mask;
            drop(pipeline.decode_tile(&tile, &mut decoded));
        }
    }

    #[test]
    fn strings_of_any_bytes_come_back(
        strings in vec(vec(97u8..100, 0..5), 0..80),
        dictionary: bool,
        behind in vec(filter(), 0..3),
    ) {
        let first = if dictionary { FilterSpec::Dictionary { level: -1 } } else { FilterSpec::Rle { level: -1 } };
        let filters = std::iter::once(first).chain(behind).collect();
        let format = TileFormat { datatype: Datatype::StringUtf8, cell_bytes: 1, version: FormatVersion::DEFAULT };
        let pipeline = Pipeline::new(&FilterList::new(filters), format, None).unwrap();
        let values = strings.concat();
        let mut offsets = vec![0];
        offsets.extend(strings.iter().scan(0, |end, string| { *end += string.len() as u64; Some(*end) }));
        if let Ok(tile) = pipeline.encode_strings(&values, &offsets) {
            let (mut decoded, mut starts) = (vec![0; values.len()], vec![]);
            pipeline.decode_strings(&tile, strings.len(), &mut decoded, &mut starts).unwrap();
            prop_assert_eq!(decoded, values);
            prop_assert_eq!(starts.as_slice(), &offsets[..strings.len()]);
        }
    }
}
