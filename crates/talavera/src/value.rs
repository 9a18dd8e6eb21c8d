//! Rust types that cells can be read as.

use talavera_engine::FieldBuffer;
use talavera_types::{CellValNum, Datatype, Native};

/// A Rust number that holds the values of some datatypes: `i8` to `u64`, `f32`, `f64`.
///
/// Dates and times are `i64`; booleans, bytes and one-byte text are `u8`; UTF-16 is `u16`, UTF-32 `u32`.
pub trait Value: Native + sealed::Sealed {
    #[doc(hidden)]
    fn of(buffer: &FieldBuffer) -> Option<&[Self]>;

    /// Whether values of this datatype can be read as this type.
    #[must_use]
    fn holds(datatype: Datatype) -> bool {
        Self::of(&FieldBuffer::empty(datatype, CellValNum::ONE, false)).is_some()
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! value {
    ($($type:ty)*) => {$(
        impl sealed::Sealed for $type {}

        impl Value for $type {
            fn of(buffer: &FieldBuffer) -> Option<&[Self]> {
                buffer.values().ok()
            }
        }
    )*};
}

value! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_datatype_is_held_by_exactly_one_type() {
        for &datatype in Datatype::ALL {
            let holds = [
                i8::holds(datatype),
                i16::holds(datatype),
                i32::holds(datatype),
                i64::holds(datatype),
                u8::holds(datatype),
                u16::holds(datatype),
                u32::holds(datatype),
                u64::holds(datatype),
                f32::holds(datatype),
                f64::holds(datatype),
            ];
            assert_eq!(holds.iter().filter(|&&holds| holds).count(), 1, "{datatype}");
        }
        assert!(i64::holds(Datatype::DateTimeDay) && u8::holds(Datatype::StringUtf8));
    }
}
