//! Rust types that cells can be read as and written from.

use talavera_engine::{CellBytes, FieldBuffer};
use talavera_types::{CellValNum, Datatype, Native};

/// A Rust number that holds the values of some datatypes: `i8` to `u64`, `f32`, `f64`.
///
/// Dates and times are `i64`; booleans, bytes and one-byte text are `u8`; UTF-16 is `u16`, UTF-32 `u32`.
pub trait Value: Native + sealed::Sealed {
    /// The datatype of this name: `INT8` to `UINT64`, `FLOAT32`, `FLOAT64`.
    const DATATYPE: Datatype;

    #[doc(hidden)]
    fn of(buffer: &FieldBuffer) -> Option<&[Self]>;

    #[doc(hidden)]
    fn to_cell_bytes(values: &[Self]) -> CellBytes;

    /// Whether values of this datatype can be read as this type, and written from it.
    #[must_use]
    fn holds(datatype: Datatype) -> bool {
        Self::of(&FieldBuffer::empty(datatype, CellValNum::ONE, false)).is_some()
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! value {
    ($($type:ty: $datatype:ident)*) => {$(
        impl sealed::Sealed for $type {}

        impl Value for $type {
            const DATATYPE: Datatype = Datatype::$datatype;

            fn of(buffer: &FieldBuffer) -> Option<&[Self]> {
                buffer.values().ok()
            }

            fn to_cell_bytes(values: &[Self]) -> CellBytes {
                let mut bytes = CellBytes::zeroed(size_of_val(values));
                for (target, value) in bytes.chunks_exact_mut(size_of::<Self>()).zip(values) {
                    target.copy_from_slice(&value.to_le_bytes());
                }
                bytes
            }
        }
    )*};
}

value! {
    i8: Int8
    i16: Int16
    i32: Int32
    i64: Int64
    u8: UInt8
    u16: UInt16
    u32: UInt32
    u64: UInt64
    f32: Float32
    f64: Float64
}

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
        assert!(i32::holds(i32::DATATYPE) && f64::holds(f64::DATATYPE));
        assert!(i64::holds(Datatype::DateTimeDay) && u8::holds(Datatype::StringUtf8));
    }
}
