//! The three laws of a pair of encoder and decoder.

use std::fmt::Debug;

/// What was encoded is decoded.
///
/// # Panics
/// When it is not; that is how a test fails.
#[expect(clippy::panic, reason = "a test helper fails by panicking")]
pub fn round_trip<T: PartialEq + Debug, E: Debug>(
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, E>,
) {
    match decode(&encode(value)) {
        Ok(decoded) => assert_eq!(&decoded, value, "a value changed on its way"),
        Err(error) => panic!("what was encoded is refused: {error:?}"),
    }
}

/// Every shorter prefix of what was encoded is an error.
///
/// # Panics
/// When one is not.
pub fn shorter_prefixes_are_errors<T: Debug, E>(
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, E>,
) {
    let bytes = encode(value);
    for len in 0..bytes.len() {
        let prefix = bytes.get(..len).unwrap_or_default();
        assert!(decode(prefix).is_err(), "the first {len} of {} bytes were taken for a whole value", bytes.len());
    }
}

/// Every single flipped bit is an error or a value, never a panic.
pub fn flipped_bits_do_not_panic<T, E>(value: &T, encode: impl Fn(&T) -> Vec<u8>, decode: impl Fn(&[u8]) -> Result<T, E>) {
    let mut bytes = encode(value);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let flip = |bytes: &mut Vec<u8>| {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            };
            flip(&mut bytes);
            drop(decode(&bytes));
            flip(&mut bytes);
        }
    }
}

/// States the three laws as property tests in a module.
///
/// ```
/// talavera_testkit::decoder_laws! {
///     mod number_laws {
///         value: u32 = proptest::num::u32::ANY,
///         encode: |value: &u32| value.to_le_bytes().to_vec(),
///         decode: |bytes: &[u8]| <[u8; 4]>::try_from(bytes).map(u32::from_le_bytes),
///     }
/// }
/// ```
#[macro_export]
macro_rules! decoder_laws {
    (mod $name:ident { value: $value:ty = $strategy:expr, encode: $encode:expr, decode: $decode:expr $(,)? }) => {
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the expressions may need none of them")]
            use super::*;

            proptest::proptest! {
                #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

                #[test]
                fn what_was_encoded_is_decoded(value in $strategy) {
                    $crate::laws::round_trip::<$value, _>(&value, $encode, $decode);
                }

                #[test]
                fn every_shorter_prefix_is_an_error(value in $strategy) {
                    $crate::laws::shorter_prefixes_are_errors::<$value, _>(&value, $encode, $decode);
                }

                #[test]
                fn every_flipped_bit_is_an_error_or_a_value(value in $strategy) {
                    $crate::laws::flipped_bits_do_not_panic::<$value, _>(&value, $encode, $decode);
                }
            }
        }
    };
}

/// States the laws of a pair that appends the encoded form of cells to a vector and exactly fills cells from it: the three
/// of [`decoder_laws!`](crate::decoder_laws), and that a wrong declared length is an error, that bytes of any origin do not
/// panic, and that what was in the output stays. `cells` is a strategy of exactly `bytes` bytes.
///
/// ```
/// talavera_testkit::cells_laws! {
///     mod copy_laws {
///         cells: proptest::collection::vec(proptest::num::u8::ANY, 8), bytes: 8,
///         encode: |cells: &[u8], out: &mut Vec<u8>| out.extend_from_slice(cells),
///         decode: |bytes: &[u8], cells: &mut [u8]| match bytes.len() == cells.len() {
///             true => Ok(cells.copy_from_slice(bytes)),
///             false => Err("another length"),
///         },
///     }
/// }
/// ```
#[macro_export]
macro_rules! cells_laws {
    (mod $name:ident { cells: $cells:expr, bytes: $bytes:expr, encode: $encode:expr, decode: $decode:expr $(,)? }) => {
        #[cfg(test)]
        mod $name {
            #[allow(unused_imports, reason = "the expressions may need none of them")]
            use super::*;

            fn encoded(cells: &[u8]) -> Vec<u8> {
                let mut out = Vec::new();
                $encode(cells, &mut out);
                out
            }

            $crate::decoder_laws! {
                mod decoder {
                    value: Vec<u8> = $cells,
                    encode: |cells: &Vec<u8>| encoded(cells),
                    decode: |bytes: &[u8]| {
                        let mut cells = vec![0; $bytes];
                        $decode(bytes, &mut cells).map(|()| cells)
                    },
                }
            }

            proptest::proptest! {
                #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

                #[test]
                fn a_wrong_declared_length_is_an_error(cells in $cells, len in 0usize..300) {
                    let decoded = $decode(&encoded(&cells), &mut vec![0; len]);
                    proptest::prop_assert_eq!(decoded.is_ok(), len == $bytes);
                }

                #[test]
                fn bytes_of_any_origin_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), len in 0usize..300) {
                    let _ = $decode(&bytes, &mut vec![0; len]);
                }

                #[test]
                fn what_was_in_the_output_stays(cells in $cells) {
                    let alone = encoded(&cells);
                    let mut out = alone.clone();
                    $encode(&cells, &mut out);
                    proptest::prop_assert_eq!(out, [alone.clone(), alone].concat());
                }
            }
        }
    };
}
