use super::*;
use talavera_filter::WebpFormat;

fn format(datatype: Datatype, number: u32) -> TileFormat {
    TileFormat { datatype, cell_bytes: datatype.size(), version: FormatVersion::new(number).unwrap() }
}

fn pipeline(filters: Vec<FilterSpec>, format: TileFormat) -> Pipeline {
    Pipeline::new(&FilterList::new(filters), format, None).unwrap()
}

fn seen(pipeline: &Pipeline) -> Vec<Datatype> {
    pipeline.stages.iter().map(|stage| stage.datatype).collect()
}

const RLE: FilterSpec = FilterSpec::Rle { level: -1 };
const DICTIONARY: FilterSpec = FilterSpec::Dictionary { level: -1 };
const BIT_WIDTH: FilterSpec = FilterSpec::BitWidthReduction { max_window_bytes: 256 };

#[test]
fn an_empty_pipeline_copies() {
    let pipeline = pipeline(vec![], format(Datatype::Int32, 22));
    let tile = pipeline.encode_tile(&[1, 2, 3, 4]).unwrap();
    // Chunk count; original, filtered, metadata lengths; data.
    assert_eq!(tile, [1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    let mut cells = [0; 4];
    pipeline.decode_tile(&tile, &mut cells).unwrap();
    assert_eq!(cells, [1, 2, 3, 4]);
    assert!(pipeline.is_empty());
}

#[test]
fn a_tile_of_another_size_than_known_is_refused() {
    let pipeline = pipeline(vec![], format(Datatype::UInt8, 22));
    let tile = pipeline.encode_tile(&[1, 2, 3, 4]).unwrap();
    let error = pipeline.decode_tile(&tile, &mut [0; 5]).unwrap_err();
    assert_eq!(error.to_string(), "the chunks hold 4 bytes, expected 5");
}

#[test]
fn metadata_that_no_filter_asks_for_are_refused() {
    let pipeline = pipeline(vec![FilterSpec::None], format(Datatype::UInt8, 22));
    let tile = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 9];
    let error = pipeline.decode_tile(&tile, &mut [0]).unwrap_err();
    assert_eq!(error.to_string(), "chunk 0: NONE: chunk metadata: 1 bytes left over (at byte 0)");
}

#[test]
fn a_chunk_without_cells_is_empty_whatever_its_data() {
    let pipeline = pipeline(vec![FilterSpec::Delta { level: -1, reinterpret: Datatype::Any }], format(Datatype::Int32, 22));
    let tile = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 9, 9, 9];
    pipeline.decode_tile(&tile, &mut []).unwrap();
}

#[test]
fn the_datatype_is_handed_on_from_version_20() {
    let filters = || vec![FilterSpec::FloatScale { scale: 1.0, offset: 0.0, byte_width: 4 }, BIT_WIDTH, FilterSpec::Xor];
    let old = pipeline(filters(), format(Datatype::Float64, 19));
    assert_eq!(seen(&old), [Datatype::Float64; 3]);
    assert_eq!(seen(&old.with_type_flow(TypeFlow::HandedOn)), [Datatype::Float64, Datatype::Int32, Datatype::Int32]);
    let new = pipeline(filters(), format(Datatype::Float64, 20));
    assert_eq!(seen(&new), [Datatype::Float64, Datatype::Int32, Datatype::Int32]);
    assert_eq!(seen(&new.with_type_flow(TypeFlow::FieldType)), [Datatype::Float64; 3]);
}

#[test]
fn strings_are_stored_with_their_offsets_from_the_version_of_their_filter_on() {
    let check = |filter: FilterSpec, datatype, versions: [u32; 2]| {
        let [without, with] = versions;
        assert!(!pipeline(vec![filter.clone()], format(datatype, without)).writes_strings(), "{filter:?} {datatype} {without}");
        assert!(pipeline(vec![filter.clone()], format(datatype, with)).writes_strings(), "{filter:?} {datatype} {with}");
    };
    check(RLE, Datatype::StringAscii, [11, 12]);
    check(RLE, Datatype::StringUtf8, [16, 17]);
    check(DICTIONARY, Datatype::StringAscii, [12, 13]);
    check(DICTIONARY, Datatype::StringUtf8, [16, 17]);
    for datatype in [Datatype::Char, Datatype::Blob, Datatype::Int32, Datatype::StringUtf16] {
        assert!(!pipeline(vec![RLE], format(datatype, 22)).writes_strings());
    }
    assert!(!pipeline(vec![FilterSpec::None, RLE], format(Datatype::StringAscii, 22)).takes_strings());
}

#[test]
fn strings_and_offsets_come_back_together() {
    for filter in [RLE, DICTIONARY] {
        let pipeline = pipeline(vec![filter, FilterSpec::Byteshuffle], format(Datatype::StringAscii, 22));
        let tile = pipeline.encode_strings(b"aabbb", &[0, 2, 2, 5, 5]).unwrap();
        let (mut values, mut offsets) = ([0; 5], vec![]);
        pipeline.decode_strings(&tile, 4, &mut values, &mut offsets).unwrap();
        assert_eq!((&values, offsets.as_slice()), (b"aabbb", [0, 2, 2, 5].as_slice()));
        assert!(pipeline.decode_strings(&tile, 5, &mut values, &mut offsets).is_err());
        assert!(pipeline.decode_strings(&tile, 4, &mut [0; 4], &mut offsets).is_err());
    }
}

#[test]
fn empty_strings_all_start_where_the_first_does() {
    let pipeline = pipeline(vec![RLE], format(Datatype::StringAscii, 22));
    let tile = pipeline.encode_strings(b"", &[0, 0, 0]).unwrap();
    let mut offsets = vec![];
    pipeline.decode_strings(&tile, 2, &mut [], &mut offsets).unwrap();
    assert_eq!(offsets, [0, 0]);
    assert!(pipeline.decode_strings(&tile, usize::MAX, &mut [], &mut offsets).is_err());
}

#[test]
fn offsets_that_do_not_ascend_over_the_cells_are_refused() {
    let pipeline = pipeline(vec![RLE], format(Datatype::StringAscii, 22));
    for offsets in [&[0, 3, 2, 4][..], &[0, 2], &[0, 5], &[1, 4], &[]] {
        assert!(pipeline.encode_var_tile(b"abcd", offsets).is_err());
        assert!(pipeline.encode_strings(b"abcd", offsets).is_err());
    }
}

#[test]
fn a_maximum_chunk_size_of_zero_makes_one_chunk() {
    let list = FilterList { max_chunk_bytes: 0, filters: vec![] };
    let pipeline = Pipeline::new(&list, format(Datatype::UInt8, 22), None).unwrap();
    let cells = vec![7; 70_000];
    assert_eq!(crate::ChunkTable::decode(&pipeline.encode_tile(&cells).unwrap()).unwrap().len(), 1);
}

#[test]
fn chunks_that_leave_a_gap_are_refused() {
    let pipeline = pipeline(vec![], format(Datatype::UInt8, 22));
    assert!(pipeline.encode_chunks(&[0; 10], &[0..4, 5..10]).is_err());
    assert!(pipeline.encode_chunks(&[0; 10], &[0..4, 4..9]).is_err());
    assert!(pipeline.encode_chunks(&[0; 10], &[0..4, 4..11]).is_err());
    assert!(pipeline.encode_chunks(&[0; 10], &[0..4, 4..10]).is_ok());
}

#[test]
fn a_retired_filter_and_a_missing_key_are_refused_by_name() {
    let build = |filter| Pipeline::new(&FilterList::new(vec![filter]), format(Datatype::UInt8, 22), None).unwrap_err();
    assert_eq!(build(FilterSpec::Bitsort).to_string(), "BITSORT is not supported: it was retired after two releases");
    #[cfg(feature = "encryption")]
    assert_eq!(build(FilterSpec::Aes256Gcm), PipelineError::MissingKey);
    #[cfg(not(feature = "zstd"))]
    assert!(build(FilterSpec::Zstd { level: 1 }).to_string().starts_with("ZSTD is not supported"));
}

#[test]
fn an_image_may_be_larger_than_its_chunk() {
    let webp =
        |y_extent, x_extent| FilterSpec::Webp { quality: 100.0, format: WebpFormat::Rgb, lossless: true, y_extent, x_extent };
    assert_eq!(image_bytes(&webp(5, 24)), 120);
    assert!(image_bytes(&webp(0, 0)) > 1 << 20);
    assert_eq!(image_bytes(&RLE), 0);
}

#[test]
fn a_few_damaged_bytes_cannot_ask_for_much_memory() {
    let pipeline = pipeline(vec![RLE, FilterSpec::Byteshuffle], format(Datatype::UInt8, 22));
    assert!(pipeline.limits(100).left() < 2 << 20);
    assert!(pipeline.limits(usize::MAX).left() > 1 << 62);
}
