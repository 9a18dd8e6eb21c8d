//! The laws of the filter: what was encoded is decoded, in whatever place of a pipeline; less is an error; a flipped bit
//! is an error or a value; and no bytes make it panic.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "the numbers fit single precision")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use talavera_filter::{Chunk, Filter};
use talavera_filter_float_scale::FloatScale;
use talavera_testkit::filters::with_context;
use talavera_types::Datatype;

const WIDTHS: &[u64] = &[1, 2, 4, 8];

/// A filter, the datatype it sees and cells that it takes: floats that stand on its steps.
fn chunks() -> impl Strategy<Value = (FloatScale, Datatype, Vec<u8>)> {
    (any::<bool>(), select(WIDTHS), -4..5i32, -100..100i16, vec(any::<i8>(), 0..30)).prop_map(
        |(double, byte_width, exponent, offset, numbers)| {
            let (scale, offset) = (2f64.powi(exponent), f64::from(offset));
            let floats = numbers.iter().map(|number| f64::from(*number) * scale + offset);
            // Few bits are set, so single precision holds the same numbers.
            let cells = if double {
                floats.flat_map(f64::to_le_bytes).collect()
            } else {
                floats.flat_map(|x| (x as f32).to_le_bytes()).collect()
            };
            let datatype = if double { Datatype::Float64 } else { Datatype::Float32 };
            (FloatScale { scale, offset, byte_width }, datatype, cells)
        },
    )
}

talavera_testkit::filter_laws! {
    mod laws { chunks: chunks(), flipped_bits: every_flipped_bit_is_an_error_or_a_value }
}

#[test]
fn options_and_datatypes_that_cannot_be_are_refused_by_name() {
    let encode = |filter: FloatScale, datatype| {
        with_context(datatype, |cx| filter.encode(Chunk::new(&[0; 8]), cx).unwrap_err().to_string())
    };
    let filter = FloatScale::default();
    let width = encode(FloatScale { byte_width: 3, ..filter }, Datatype::Float32);
    assert_eq!(width, "SCALE_FLOAT is not supported: a byte width of 3; 1, 2, 4 and 8 are");
    assert_eq!(encode(filter, Datatype::Int16), "SCALE_FLOAT is not supported: it does not take INT16");
    let scale = encode(FloatScale { scale: 0.0, ..filter }, Datatype::Float32);
    assert_eq!(scale, "SCALE_FLOAT cannot encode: a scale of 0 and an offset of 0; they must be normal and finite");
}
