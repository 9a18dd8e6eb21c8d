use std::num::NonZeroU32;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, BooleanArray};
use proptest::prelude::*;
use talavera::{CellBytes, CellValNum, Datatype};

use super::*;
use crate::ArrowOptions;

const BINARY: ArrowOptions = ArrowOptions { strings_as_binary: true, enumerations_as_indices: false, days_as_integers: false };
const INTEGERS: ArrowOptions = ArrowOptions { strings_as_binary: false, enumerations_as_indices: false, days_as_integers: true };

fn fixed(values: u32) -> CellValNum {
    CellValNum::Fixed(NonZeroU32::new(values).unwrap())
}

fn buffer(
    datatype: Datatype,
    cell_val_num: CellValNum,
    data: &[u8],
    offsets: Option<&[u64]>,
    validity: Option<&[u8]>,
) -> FieldBuffer {
    let (offsets, validity) = (offsets.map(<[u64]>::to_vec), validity.map(<[u8]>::to_vec));
    FieldBuffer::new(datatype, cell_val_num, CellBytes::copied(data), offsets, validity).unwrap()
}

fn converted(options: &ArrowOptions, buffer: FieldBuffer) -> Result<ArrayRef, Error> {
    let shape = Shape::new(buffer.datatype(), buffer.cell_val_num(), options).unwrap();
    let array = to_arrow("a", &shape, buffer)?;
    assert_eq!(*array.data_type(), shape.data_type(), "an array is of the type that its schema says");
    Ok(array)
}

/// The array of cells without offsets and validity.
fn plain(datatype: Datatype, cell_val_num: CellValNum, data: &[u8]) -> ArrayRef {
    converted(&ArrowOptions::default(), buffer(datatype, cell_val_num, data, None, None)).unwrap()
}

fn days(days: &[i64]) -> Vec<u8> {
    days.iter().flat_map(|day| day.to_le_bytes()).collect()
}

#[test]
fn every_datatype_has_the_arrow_type_of_the_table() {
    use DataType as A;
    use Datatype as D;
    let check = |datatype: D, single: A, var: A| {
        let options = ArrowOptions::default();
        assert_eq!(Shape::new(datatype, CellValNum::ONE, &options).unwrap().data_type(), single, "{datatype}");
        assert_eq!(Shape::new(datatype, CellValNum::Var, &options).unwrap().data_type(), var, "{datatype}");
    };
    let list = |value: A, nullable| A::new_large_list(value, nullable);
    for &datatype in Datatype::ALL {
        let value = match datatype {
            D::StringAscii | D::StringUtf8 | D::GeomWkt => {
                check(datatype, A::FixedSizeBinary(1), A::LargeUtf8);
                continue;
            }
            D::Char | D::Any | D::Blob | D::GeomWkb => {
                check(datatype, A::FixedSizeBinary(1), A::LargeBinary);
                continue;
            }
            D::StringUtf16 | D::StringUcs2 => {
                check(datatype, A::UInt16, A::LargeUtf8);
                continue;
            }
            D::StringUtf32 | D::StringUcs4 => {
                check(datatype, A::UInt32, A::LargeUtf8);
                continue;
            }
            D::DateTimeDay => {
                check(datatype, A::Date32, list(A::Date32, true));
                continue;
            }
            D::Int8 => A::Int8,
            D::Int16 => A::Int16,
            D::Int32 => A::Int32,
            D::UInt8 => A::UInt8,
            D::UInt16 => A::UInt16,
            D::UInt32 => A::UInt32,
            D::UInt64 => A::UInt64,
            D::Float32 => A::Float32,
            D::Float64 => A::Float64,
            D::Bool => A::Boolean,
            D::DateTimeSec => A::Timestamp(TimeUnit::Second, None),
            D::DateTimeMs => A::Timestamp(TimeUnit::Millisecond, None),
            D::DateTimeUs => A::Timestamp(TimeUnit::Microsecond, None),
            D::DateTimeNs => A::Timestamp(TimeUnit::Nanosecond, None),
            D::TimeSec => A::Duration(TimeUnit::Second),
            D::TimeMs => A::Duration(TimeUnit::Millisecond),
            D::TimeUs => A::Time64(TimeUnit::Microsecond),
            D::TimeNs => A::Time64(TimeUnit::Nanosecond),
            _ => A::Int64,
        };
        check(datatype, value.clone(), list(value, false));
    }
}

#[test]
fn the_memory_of_cells_and_offsets_is_taken_over() {
    let words = buffer(Datatype::Int32, CellValNum::Var, &[7; 12], Some(&[0, 4, 12]), None);
    let (data, offsets) = (words.data().as_ptr(), words.offsets().unwrap().as_ptr());
    let array = converted(&ArrowOptions::default(), words).unwrap();
    let list = array.as_list::<i64>();
    assert_eq!(list.offsets()[..], [0, 1, 3]);
    assert_eq!(list.offsets().as_ptr().cast(), offsets);
    assert_eq!(list.values().as_primitive::<Int32Type>().values().as_ptr().cast(), data);

    let text = buffer(Datatype::StringUtf8, CellValNum::Var, b"abcde", Some(&[0, 2, 5]), None);
    let (data, offsets) = (text.data().as_ptr(), text.offsets().unwrap().as_ptr());
    let array = converted(&ArrowOptions::default(), text).unwrap();
    assert_eq!(array.as_string::<i64>().value_data().as_ptr(), data);
    assert_eq!(array.as_string::<i64>().value_offsets().as_ptr().cast(), offsets);
}

#[test]
fn booleans_and_validity_become_bits() {
    // Any byte but 0 is true, and is a value.
    let cells = buffer(Datatype::Bool, CellValNum::ONE, &[0, 1, 2, 1], None, Some(&[1, 0, 255, 1]));
    let array = converted(&ArrowOptions::default(), cells).unwrap();
    assert_eq!(*array.as_boolean(), BooleanArray::from(vec![Some(false), None, Some(true), Some(true)]));
}

#[test]
fn cells_of_several_values_are_lists_and_of_several_bytes_bytes() {
    let array = plain(Datatype::UInt16, fixed(2), &[1, 0, 2, 0, 3, 0, 4, 0]);
    assert_eq!(array.len(), 2);
    assert_eq!(array.as_fixed_size_list().value(1).as_primitive::<UInt16Type>().values()[..], [3, 4]);
    let array = plain(Datatype::Char, fixed(3), b"abcdef");
    assert_eq!(array.as_fixed_size_binary().value(1), b"def");
    let array = plain(Datatype::Bool, fixed(2), &[0, 1]);
    assert!(array.as_fixed_size_list().value(0).as_boolean().value(1));
}

#[test]
fn days_are_narrowed_and_not_a_time_is_null() {
    let array = plain(Datatype::DateTimeDay, CellValNum::ONE, &days(&[-1, i64::MIN, 20_000]));
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [Some(-1), None, Some(20_000)]);
    let array = plain(Datatype::DateTimeDay, fixed(2), &days(&[1, i64::MIN]));
    assert_eq!(array.as_fixed_size_list().values().as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [Some(1), None]);
}

#[test]
fn days_of_more_than_32_bits_are_refused_with_the_cell_and_the_way_out() {
    let far = || days(&[0, 1, 2, 1 << 40]);
    let error = converted(&ArrowOptions::default(), buffer(Datatype::DateTimeDay, fixed(2), &far(), None, None)).unwrap_err();
    let message = "field 'a', cell 1: day 1099511627776 does not fit Date32; the option `days_as_integers` gives 64-bit integers";
    assert_eq!(error.to_string(), message);
    let var = buffer(Datatype::DateTimeDay, CellValNum::Var, &far(), Some(&[0, 0, 24, 24, 32]), None);
    assert!(matches!(converted(&ArrowOptions::default(), var), Err(Error::DayRange { cell: 3, .. })));
    let array = converted(&INTEGERS, buffer(Datatype::DateTimeDay, CellValNum::ONE, &far(), None, None)).unwrap();
    assert_eq!(array.as_primitive::<Int64Type>().value(3), 1 << 40);
}

#[test]
fn what_stands_under_a_null_need_not_fit() {
    let far = buffer(Datatype::DateTimeDay, CellValNum::ONE, &days(&[1 << 40, 5]), None, Some(&[0, 1]));
    let array = converted(&ArrowOptions::default(), far).unwrap();
    assert_eq!(array.as_primitive::<Date32Type>().iter().collect::<Vec<_>>(), [None, Some(5)]);

    let text = buffer(Datatype::StringUtf8, CellValNum::Var, b"\xffab", Some(&[0, 1, 3]), Some(&[0, 1]));
    let array = converted(&ArrowOptions::default(), text).unwrap();
    assert_eq!(array.as_string::<i64>().iter().collect::<Vec<_>>(), [None, Some("ab")]);

    // Half a surrogate pair, then "a".
    let wide = buffer(Datatype::StringUtf16, CellValNum::Var, &[0, 0xd8, 0x61, 0], Some(&[0, 2, 4]), Some(&[0, 1]));
    let array = converted(&ArrowOptions::default(), wide).unwrap();
    assert_eq!(array.as_string::<i64>().iter().collect::<Vec<_>>(), [None, Some("a")]);
}

#[test]
fn text_that_is_not_utf_8_is_refused_or_given_as_bytes() {
    // "é" cut in two: valid as a whole, but not cell by cell.
    let cut = || buffer(Datatype::StringAscii, CellValNum::Var, "aé".as_bytes(), Some(&[0, 2, 3]), None);
    let error = converted(&ArrowOptions::default(), cut()).unwrap_err();
    let message = "field 'a', cell 0: not valid STRING_ASCII; the option `strings_as_binary` gives the bytes as they are";
    assert_eq!(error.to_string(), message);
    assert_eq!(converted(&BINARY, cut()).unwrap().as_binary::<i64>().value(1), [0xa9]);
    // CHAR's own fill value is not UTF-8.
    let fill = buffer(Datatype::Char, CellValNum::Var, &[0x80], Some(&[0, 1]), None);
    assert_eq!(converted(&ArrowOptions::default(), fill).unwrap().as_binary::<i64>().value(0), [0x80]);
}

#[test]
fn wide_text_is_converted_and_refused_where_it_is_none() {
    let wide = |datatype, data: &[u8]| {
        let offsets = [0, data.len() as u64];
        let array = converted(&ArrowOptions::default(), buffer(datatype, CellValNum::Var, data, Some(&offsets), None))?;
        Ok::<_, Error>(array.as_string::<i64>().value(0).to_owned())
    };
    // U+1F600 as a surrogate pair, and as itself.
    assert_eq!(wide(Datatype::StringUtf16, &[0x3d, 0xd8, 0, 0xde]).unwrap(), "\u{1f600}");
    assert_eq!(wide(Datatype::StringUtf32, &[0, 0xf6, 1, 0]).unwrap(), "\u{1f600}");
    assert!(wide(Datatype::StringUcs2, &[0x3d, 0xd8]).is_err(), "half a pair");
    assert!(wide(Datatype::StringUtf16, &[0x61]).is_err(), "half a unit");
    assert!(wide(Datatype::StringUcs4, &[0, 0, 0x11, 0]).is_err(), "beyond the last character");
    let units = buffer(Datatype::StringUtf16, CellValNum::Var, &[0x3d, 0xd8], Some(&[0, 2]), None);
    assert_eq!(converted(&BINARY, units).unwrap().as_list::<i64>().value(0).as_primitive::<UInt16Type>().value(0), 0xd83d);
}

#[test]
fn offsets_that_cut_a_value_in_two_are_refused() {
    let cut = buffer(Datatype::Int32, CellValNum::Var, &[0; 8], Some(&[0, 2, 8]), None);
    assert!(matches!(converted(&ArrowOptions::default(), cut), Err(Error::Cells { .. })));
}

#[test]
fn fields_without_cells_are_arrays_without_cells() {
    for &datatype in Datatype::ALL {
        for cell_val_num in [CellValNum::ONE, fixed(3), CellValNum::Var] {
            let array = converted(&ArrowOptions::default(), FieldBuffer::empty(datatype, cell_val_num, true)).unwrap();
            assert_eq!(array.len(), 0, "{datatype}");
        }
    }
}

fn any_buffer() -> impl Strategy<Value = FieldBuffer> {
    let of_length = |(datatype, lengths, nullable): (Datatype, Vec<usize>, bool)| {
        let var = prop::collection::vec(any::<u8>(), lengths.iter().sum::<usize>());
        (Just((datatype, lengths.clone())), var, prop::collection::vec(any::<bool>(), lengths.len()), Just(nullable))
    };
    let lengths = prop::collection::vec(0..20_usize, 0..6);
    let parts = (prop::sample::select(Datatype::ALL), lengths, any::<bool>()).prop_flat_map(of_length);
    (parts, 0..4_u32).prop_map(|(((datatype, lengths), data, validity, nullable), values)| {
        let validity =
            |cells: usize| nullable.then(|| validity.iter().map(|&valid| u8::from(valid)).cycle().take(cells).collect());
        if values == 0 {
            let mut offsets = vec![0];
            offsets.extend(lengths.iter().scan(0, |end, &length| {
                *end += length as u64;
                Some(*end)
            }));
            let validity = validity(lengths.len());
            return FieldBuffer::new(datatype, CellValNum::Var, CellBytes::copied(&data), Some(offsets), validity).unwrap();
        }
        let cell = datatype.size() * values as usize;
        let cells = if nullable && lengths.is_empty() { 0 } else { data.len() / cell };
        let data = CellBytes::copied(&data[..cells * cell]);
        FieldBuffer::new(datatype, fixed(values), data, None, validity(cells)).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any cells become an array of as many cells and nulls at the same places, or an error; never a panic.
    #[test]
    fn cells_keep_their_number_and_their_nulls(buffer in any_buffer(), bits in 0..4_u8) {
        let options =
            ArrowOptions { strings_as_binary: bits & 1 != 0, enumerations_as_indices: false, days_as_integers: bits & 2 != 0 };
        let (cells, copy) = (buffer.len(), buffer.clone());
        if let Ok(array) = converted(&options, buffer) {
            prop_assert_eq!(array.len(), cells);
            let missing = array.data_type() == &DataType::Date32;
            for cell in 0..cells {
                prop_assert!(array.is_null(cell) == copy.is_null(cell) || missing);
            }
        } else {
            prop_assert!(copy.datatype() == Datatype::DateTimeDay || copy.cell_val_num().is_var());
        }
    }
}
