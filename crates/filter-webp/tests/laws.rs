//! The laws of the filter: what was written is read, in whatever place of a pipeline; less is an error; sizes are held
//! against limits; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_codec::Limits;
use talavera_filter::{Buffers, Chunk, EncodedChunk, Filter, FilterContext, FilterError, Parts, WebpFormat};
use talavera_filter_webp::Webp;
use talavera_types::{Datatype, FormatVersion};

const FORMATS: &[WebpFormat] = &[WebpFormat::Rgb, WebpFormat::Bgr, WebpFormat::Rgba, WebpFormat::Bgra];

fn with_limit<R>(limit: u64, check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    let limits = Limits::new(limit);
    check(&FilterContext {
        datatype: Datatype::UInt8,
        cell_bytes: 1,
        version: FormatVersion::DEFAULT,
        limits: &limits,
        buffers: &Buffers::new(),
    })
}

fn with_context<R>(check: impl FnOnce(&FilterContext<'_>) -> R) -> R {
    with_limit(1 << 20, check)
}

fn webp(format: WebpFormat, width: u16, height: u16) -> Webp {
    let pixel_bytes = if matches!(format, WebpFormat::Rgb | WebpFormat::Bgr) { 3 } else { 4 };
    Webp { quality: 100.0, format, lossless: true, y_extent: height, x_extent: width * pixel_bytes }
}

/// A filter and the pixels of one image.
fn images() -> impl Strategy<Value = (Webp, Vec<u8>)> {
    (select(FORMATS), 1..12u16, 1..12u16).prop_flat_map(|(format, width, height)| {
        let filter = webp(format, width, height);
        let bytes = usize::from(filter.x_extent) * usize::from(filter.y_extent);
        (Just(filter), vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], bytes))
    })
}

fn encode(filter: &Webp, cells: &[u8], cx: &FilterContext<'_>) -> (Vec<u8>, Vec<u8>) {
    let encoded = filter.encode(Chunk::new(cells), cx).unwrap();
    (encoded.metadata.concat().into_owned(), encoded.data.concat().into_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read((filter, cells) in images(), before in vec(any::<u8>(), 1..20)) {
        with_context(|cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let mut out = vec![0xaa; cells.len()];
            filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut out).unwrap();
            prop_assert_eq!(&out, &cells);
            let chunk = Chunk { metadata: Parts::one(&*before), data: Parts::one(&*cells) };
            let metadata = filter.encode(chunk, cx).unwrap().metadata.concat();
            prop_assert_eq!(filter.decode(EncodedChunk::new(&metadata, &data), cx).unwrap(), EncodedChunk::new(&before, &cells));
            Ok(())
        })?;
    }

    #[test]
    fn a_chunk_may_hold_only_the_front_of_an_image((filter, cells) in images(), len in 0..400usize) {
        with_context(|cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            let mut out = vec![0xaa; len];
            let decoded = filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut out);
            if len > cells.len() {
                prop_assert!(decoded.is_err());
            } else {
                prop_assert_eq!(&out[..], &cells[..len]);
            }
            Ok(())
        })?;
    }

    #[test]
    fn less_metadata_or_data_is_an_error((filter, cells) in images()) {
        with_context(|cx| {
            let (metadata, data) = encode(&filter, &cells, cx);
            for (metadata, data) in (0..metadata.len())
                .map(|len| (&metadata[..len], &data[..]))
                .chain((0..data.len()).map(|len| (&metadata[..], &data[..len])))
            {
                prop_assert!(filter.decode(EncodedChunk::new(metadata, data), cx).is_err());
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_flipped_bit_is_an_error_or_an_image((filter, cells) in images()) {
        let (metadata, data) = with_context(|cx| encode(&filter, &cells, cx));
        let mut both = [metadata.clone(), data].concat();
        for at in 0..both.len() {
            for bit in 0..8 {
                both[at] ^= 1 << bit;
                let (metadata, data) = both.split_at(metadata.len());
                with_context(|cx| drop(filter.decode(EncodedChunk::new(metadata, data), cx)));
                both[at] ^= 1 << bit;
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic((filter, _) in images(), data in vec(any::<u8>(), 0..60)) {
        // One image of so many bytes.
        let metadata = [1u32, u32::try_from(data.len()).unwrap()].map(u32::to_le_bytes).concat();
        let image = [b"RIFF\x34\0\0\0WEBPVP8 ".as_slice(), &data].concat();
        with_context(|cx| {
            drop(filter.decode(EncodedChunk::new(&metadata, &data), cx));
            let metadata = [1u32, u32::try_from(image.len()).unwrap()].map(u32::to_le_bytes).concat();
            drop(filter.decode(EncodedChunk::new(&metadata, &image), cx));
        });
    }
}

/// Pixels whose colours change slowly from row to row and from column to column.
fn gradient(width: u8, height: u8) -> Vec<u8> {
    (0..height).flat_map(|y| (0..width).flat_map(move |x| [x * 4, y * 4, 128])).collect()
}

#[test]
fn lossy_images_come_back_nearly_as_they_were() {
    let pixels = gradient(40, 30);
    let far = |quality: f32| {
        let filter = Webp { lossless: false, quality, ..webp(WebpFormat::Rgb, 40, 30) };
        with_context(|cx| {
            let chunk = filter.encode(Chunk::new(&pixels), cx).unwrap();
            let (metadata, data) = (chunk.metadata.concat(), chunk.data.concat());
            let mut cells = vec![0; pixels.len()];
            filter.decode_into(EncodedChunk::new(&metadata, &data), cx, &mut cells).unwrap();
            let differences = cells.iter().zip(&pixels).map(|(a, b)| u32::from(a.abs_diff(*b)));
            (data.len(), differences.sum::<u32>() / (40 * 30 * 3))
        })
    };
    let (best, worst) = (far(100.0), far(5.0));
    assert!(best.1 <= 2 && worst.1 <= 12, "{best:?} {worst:?}");
    assert!(worst.0 < best.0, "less quality takes less room: {best:?} {worst:?}");
}

#[test]
fn a_quality_out_of_bounds_is_refused() {
    let filter = Webp { lossless: false, quality: f32::NAN, ..webp(WebpFormat::Rgb, 2, 2) };
    let error = with_context(|cx| filter.encode(Chunk::new(&[0; 12]), cx).unwrap_err());
    assert_eq!(error.to_string(), "WEBP cannot encode: a quality of NaN; 0 to 100 are possible");
}

#[test]
fn extents_that_do_not_fit_the_cells_are_refused() {
    let refused = |filter: Webp| {
        let error = with_context(|cx| filter.encode(Chunk::new(&[0; 12]), cx).unwrap_err());
        assert!(matches!(error, FilterError::InvalidInput { .. }), "{error}");
    };
    refused(webp(WebpFormat::Rgb, 2, 3));
    refused(webp(WebpFormat::Rgba, 2, 2));
    refused(Webp { x_extent: 0, y_extent: 0, ..webp(WebpFormat::Rgb, 2, 2) });
    refused(Webp { x_extent: 4, y_extent: 3, ..webp(WebpFormat::Rgb, 2, 2) });
    refused(Webp { format: WebpFormat::None, ..webp(WebpFormat::Rgb, 2, 2) });
}

#[test]
fn an_image_larger_than_the_limit_is_refused_before_memory_is_taken() {
    let filter = webp(WebpFormat::Rgba, 10, 10);
    let (metadata, data) = with_context(|cx| encode(&filter, &[9; 400], cx));
    with_limit(700, |cx| {
        // 400 bytes for the decoder and 400 for the pixels.
        let error = filter.decode(EncodedChunk::new(&metadata, &data), cx).unwrap_err();
        assert_eq!(error.to_string(), "WEBP: webp pixels: 800 bytes exceed the limit of 700 (at byte 0)");
    });
    with_limit(399, |cx| {
        let error = filter.decode(EncodedChunk::new(&metadata, &data), cx).unwrap_err();
        assert_eq!(error.to_string(), "WEBP: webp image: 400 bytes exceed the limit of 399 (at byte 0)");
    });
}

#[test]
fn a_frame_of_another_size_than_its_image_is_refused_before_it_is_decoded() {
    // An extended image of one pixel around a lossy frame of 16383 × 16383.
    let image = [
        b"RIFF\x26\0\0\0WEBP".as_slice(),
        b"VP8X\x0a\0\0\0\x10\0\0\0\0\0\0\0\0\0",
        b"VP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a\xff\x3f\xff\x3f",
    ]
    .concat();
    let metadata = [1u32, u32::try_from(image.len()).unwrap()].map(u32::to_le_bytes).concat();
    let error = with_context(|cx| webp(WebpFormat::Rgb, 1, 1).decode(EncodedChunk::new(&metadata, &image), cx).unwrap_err());
    assert_eq!(error.to_string(), "WEBP: webp frame size: is 16383, expected 1 (at byte 44)");
}
