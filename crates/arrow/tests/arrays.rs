//! Record batches hold the cells that the reference implementation reads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::Cursor;

use arrow_array::cast::AsArray as _;
use arrow_array::types::*;
use arrow_array::{Array as _, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use talavera::{Array, Order, TIMESTAMPS_FIELD};
use talavera_arrow::{ArrowOptions, Conversion, Error, ReadExt, metadata, record_batch, schema, write_ipc_stream};

const FIXTURES: [&str; 9] = [
    "dense_datetime",
    "dense_fixed_multi",
    "dense_time_types",
    "dense_utf_strings",
    "enumerations_dense",
    "enumerations_sparse_evolved",
    "sparse_nullable",
    "types_bool",
    "types_geom",
];

fn array(name: &str) -> Array {
    Array::open(format!("tests/data/{name}")).unwrap()
}

/// All cells of these fields, row-major.
fn whole(name: &str, fields: &[&str]) -> RecordBatch {
    let array = array(name);
    let conversion = Conversion::new(&array, fields, &ArrowOptions::default()).unwrap();
    array.read().order(Order::RowMajor).record_batch(&conversion).unwrap()
}

fn strings(batch: &RecordBatch, column: usize) -> Vec<Option<&str>> {
    batch.column(column).as_string::<i64>().iter().collect()
}

/// The values of a dictionary's cells, nulls as none.
fn dictionary_text<K: ArrowDictionaryKeyType>(batch: &RecordBatch, column: usize) -> Vec<Option<&str>> {
    batch.column(column).as_dictionary::<K>().downcast_dict::<arrow_array::LargeStringArray>().unwrap().into_iter().collect()
}

#[test]
fn nulls_of_all_shapes_come_through() {
    let batch = whole("sparse_nullable", &["x", "i", "s", "vi", "all_null"]);
    assert_eq!(batch.num_rows(), 24);
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values()[..6], [14, 19, 23, 23, 24, 30]);
    let i: Vec<_> = batch.column(1).as_primitive::<Int32Type>().iter().take(4).collect();
    assert_eq!(i, [Some(1_213_196_044), None, Some(-908_854_360), Some(-442_392_757)]);
    assert_eq!(strings(&batch, 2)[..6], [None, None, Some("Akt"), None, None, Some("wjyutsqy")]);
    assert_eq!(strings(&batch, 2)[18..22], [Some("emp2"), Some(""), None, Some("")]);
    let vi = batch.column(3).as_list::<i64>();
    assert_eq!(vi.value(1).as_primitive::<Int16Type>().values()[..], [12305, 17519]);
    assert!(vi.is_null(2) && vi.is_valid(17) && vi.value(17).is_empty());
    assert_eq!(batch.column(4).null_count(), 24);
}

#[test]
fn enumerated_attributes_are_dictionaries_and_unknown_indices_null() {
    let batch = whole("enumerations_dense", &["c", "s", "f"]);
    let schema = batch.schema();
    assert_eq!(schema.field(0).data_type().to_string(), "Dictionary(Int8, LargeUtf8)");
    assert_eq!(schema.field(1).data_type().to_string(), "Dictionary(UInt16, Int32)");
    assert_eq!(schema.field(2).data_type().to_string(), "Dictionary(Int32, Float64)");
    let ordered: Vec<_> = schema.fields().iter().map(|field| field.dict_is_ordered()).collect();
    assert_eq!(ordered, [Some(false), Some(true), Some(false)]);
    // Indices 3 1 3 0 1 0 0 3 2 1, then two fill values.
    let colors = dictionary_text::<Int8Type>(&batch, 0);
    assert_eq!(colors[..4], [Some("blue"), Some("green"), Some("blue"), Some("red")]);
    assert_eq!(colors[8..], [Some(""), Some("green"), None, None]);
    let sizes = batch.column(1).as_dictionary::<UInt16Type>();
    let sizes: Vec<_> = sizes.downcast_dict::<arrow_array::Int32Array>().unwrap().into_iter().collect();
    let wanted = [Some(1), Some(5), Some(10), None, Some(1), Some(50), None, None, None, Some(100), None, None];
    assert_eq!(sizes, wanted);
    let pairs = batch.column(2).as_dictionary::<Int32Type>().values().as_primitive::<Float64Type>().clone();
    assert_eq!(pairs.values()[..], [0.5, 1.25, -3.0]);
    let field = schema.field(0);
    assert!(field.is_nullable(), "what the enumeration does not have is null");
    assert_eq!(field.metadata()[metadata::NULLABLE], "false");
    assert_eq!(field.metadata()[metadata::ENUMERATION], "colors");
    assert_eq!(field.metadata()[metadata::ENUMERATION_DATATYPE], "STRING_ASCII");
    assert_eq!(field.metadata()[metadata::DATATYPE], "INT8");
}

#[test]
fn enumerations_added_later_and_indices_alone_can_be_read() {
    let batch = whole("enumerations_sparse_evolved", &["x", "y", "a", "b"]);
    let kinds = dictionary_text::<UInt8Type>(&batch, 2);
    assert_eq!(kinds[..5], [Some("añ"), Some("añ"), Some("c✓"), Some("b"), Some("b")]);
    let later = dictionary_text::<Int16Type>(&batch, 3);
    assert_eq!(later[5..8], [Some("lo"), Some("hi"), Some("lo")]);

    let array = array("enumerations_sparse_evolved");
    let options = ArrowOptions { enumerations_as_indices: true, ..ArrowOptions::default() };
    let conversion = Conversion::all(&array, &options).unwrap();
    let batch = array.read().order(Order::RowMajor).record_batch(&conversion).unwrap();
    assert_eq!(batch.column(2).as_primitive::<UInt8Type>().values()[..6], [0, 0, 2, 1, 1, 2]);
    assert_eq!(batch.schema().field(2).metadata()[metadata::ENUMERATION], "kinds");
}

#[test]
fn dates_and_the_dimensions_of_dense_arrays_are_read_when_asked_for() {
    let batch = whole("dense_datetime", &["when", "ns", "mo"]);
    assert_eq!(batch.column(0).as_primitive::<Date32Type>().values()[..3], [100, 101, 102]);
    assert_eq!(batch.column(1).as_primitive::<TimestampNanosecondType>().values()[..4], [35, 72, 94, 97]);
    assert_eq!(batch.column(2).as_primitive::<Int64Type>().values()[..3], [7347, 9142, 9680]);
    let schema = batch.schema();
    assert_eq!(*schema.field(1).data_type(), DataType::Timestamp(TimeUnit::Nanosecond, None));
    assert_eq!(schema.field(2).metadata()[metadata::DATATYPE], "DATETIME_MONTH");
    assert_eq!(schema.field(0).metadata()[metadata::ROLE], "dimension");
}

#[test]
fn times_booleans_and_text_of_every_width_come_through() {
    let batch = whole("dense_time_types", &["h", "us"]);
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values()[..2], [7313, 6396]);
    assert_eq!(batch.column(1).as_primitive::<Time64MicrosecondType>().value(1), 856_703_219_137);

    let batch = whole("types_bool", &["b", "nb"]);
    assert_eq!(batch.column(0).as_boolean().iter().take(5).collect::<Vec<_>>(), [0, 1, 0, 1, 1].map(|b| Some(b == 1)));
    assert_eq!(batch.column(1).as_boolean().iter().take(3).collect::<Vec<_>>(), [Some(true), None, Some(false)]);

    let fields = ["string_utf8", "string_utf16", "string_utf32", "string_ucs2", "string_ucs4"];
    let batch = whole("dense_utf_strings", &fields);
    let second: Vec<_> = (0..5).map(|column| strings(&batch, column)[1].unwrap()).collect();
    assert_eq!(second, ["éuλ", "好abλλbé", "好b", "a", "λλa"]);
}

#[test]
fn geometries_and_cells_of_several_values_come_through() {
    let batch = whole("types_geom", &["wkb", "wkt"]);
    assert_eq!(batch.column(0).as_binary::<i64>().value(0), [0x8e, 0x3b, 0xdf, 0xd2]);
    assert_eq!(strings(&batch, 1)[..3], [Some("ngrvy"), Some(""), Some("mABhg")]);

    let batch = whole("dense_fixed_multi", &["vec", "code", "pair"]);
    let vec = batch.column(0).as_fixed_size_list().value(1);
    assert_eq!(vec.as_primitive::<Float32Type>().values()[..], [7_788.693, 8_106.797_4, 8_365.854]);
    assert_eq!(batch.column(1).as_fixed_size_binary().value(2), b"ggdc");
    assert_eq!(batch.column(2).as_fixed_size_list().value(10).as_primitive::<Int16Type>().values()[..], [i16::MIN; 2]);
    assert_eq!(batch.schema().field(0).metadata()[metadata::CELL_VAL_NUM], "3");
}

#[test]
fn cells_and_offsets_of_a_read_are_not_copied() {
    let array = array("sparse_nullable");
    let cells = array.read().fields(["x", "s"]).cells().unwrap();
    let x = cells.field("x").unwrap().data().as_ptr();
    let text = cells.field("s").unwrap().data().as_ptr();
    let offsets = cells.field("s").unwrap().offsets().unwrap().as_ptr();
    let batch = record_batch(&array, cells, &ArrowOptions::default()).unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values().as_ptr().cast(), x);
    assert_eq!(batch.column(1).as_string::<i64>().value_data().as_ptr(), text);
    assert_eq!(batch.column(1).as_string::<i64>().value_offsets().as_ptr().cast(), offsets);
}

#[test]
fn streams_read_back_are_what_was_written() {
    for name in FIXTURES {
        let array = array(name);
        let conversion = Conversion::all(&array, &ArrowOptions::default()).unwrap();
        let read = || array.read().order(Order::RowMajor).record_batches(&conversion).unwrap();
        let mut stream = Vec::new();
        let cells = write_ipc_stream(read(), &mut stream).unwrap();
        let reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
        assert_eq!(reader.schema(), *conversion.schema(), "{name}: names, types, order of dictionaries and metadata");
        let back = reader.map(Result::unwrap).collect::<Vec<_>>();
        assert_eq!(back, read().map(Result::unwrap).collect::<Vec<_>>(), "{name}");
        assert_eq!(back.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, cells, "{name}");
        let ordered = |batch: &RecordBatch| batch.schema().fields().iter().map(|f| f.dict_is_ordered()).collect::<Vec<_>>();
        let wanted: Vec<_> = conversion.schema().fields().iter().map(|field| field.dict_is_ordered()).collect();
        assert!(back.iter().all(|batch| ordered(batch) == wanted), "{name}");
    }
}

#[test]
fn a_result_without_cells_is_a_stream_of_the_schema_alone() {
    let array = array("sparse_nullable");
    let conversion = Conversion::all(&array, &ArrowOptions::default()).unwrap();
    let batches = array.read().range("x", 1..=1).record_batches(&conversion).unwrap();
    let mut stream = Vec::new();
    assert_eq!(write_ipc_stream(batches, &mut stream).unwrap(), 0);
    let mut reader = StreamReader::try_new(Cursor::new(stream), None).unwrap();
    assert_eq!(reader.schema(), *conversion.schema());
    assert!(reader.next().is_none());
    let whole = array.read().range("x", 1..=1).record_batch(&conversion).unwrap();
    assert_eq!((whole.num_rows(), whole.num_columns()), (0, 6));
}

#[test]
fn batches_are_the_whole_in_pieces_and_end_at_the_limit() {
    let array = array("dense_datetime");
    let conversion = Conversion::new(&array, ["when", "as"], &ArrowOptions::default()).unwrap();
    let whole = array.read().record_batch(&conversion).unwrap();
    let batches = |limit| {
        let batches = array.read().memory_limit(4096).record_batches(&conversion).unwrap().limit(limit);
        assert_eq!(batches.schema(), conversion.schema());
        batches.map(Result::unwrap).collect::<Vec<_>>()
    };
    for limit in [0, 1, 7, 15, 16, 17] {
        let mut start = 0;
        for batch in batches(limit) {
            assert_eq!(batch, whole.slice(start, batch.num_rows()));
            start += batch.num_rows();
        }
        assert_eq!(start, limit.min(16));
    }
}

#[test]
fn the_times_of_cells_are_a_field() {
    let array = array("sparse_nullable");
    let schema = schema(&array, [TIMESTAMPS_FIELD, "y"], &ArrowOptions::default()).unwrap();
    assert_eq!(*schema.field(0).data_type(), DataType::UInt64);
    assert_eq!(schema.field(0).metadata()[metadata::ROLE], "timestamps");
    let batch = whole("sparse_nullable", &[TIMESTAMPS_FIELD]);
    assert!(batch.column(0).as_primitive::<UInt64Type>().values().iter().all(|time| [1010, 1020].contains(time)));
}

#[test]
fn other_fields_than_those_of_the_conversion_are_refused() {
    let array = array("sparse_nullable");
    let options = ArrowOptions::default();
    let error = Conversion::new(&array, ["z"], &options).unwrap_err();
    assert_eq!(error.to_string(), "there is no field 'z'");
    let conversion = Conversion::new(&array, ["i"], &options).unwrap();
    let cells = |field: &str| array.read().fields([field]).cells().unwrap();
    assert!(matches!(conversion.record_batch(cells("s")), Err(Error::UnknownField { field }) if field == "s"));
    assert!(conversion.record_batch(array.read().cells().unwrap()).is_err());
    // A field of the same name in another array.
    let other = self::array("types_bool");
    let conversion = Conversion::new(&other, ["b"], &options).unwrap();
    let evolved = self::array("enumerations_sparse_evolved");
    assert!(matches!(conversion.record_batch(evolved.read().fields(["b"]).cells().unwrap()), Err(Error::Cells { .. })));
}

#[test]
fn errors_keep_their_kind_through_arrow() {
    let array = array("sparse_nullable");
    let conversion = Conversion::all(&array, &ArrowOptions::default()).unwrap();
    let token = talavera::CancelToken::new();
    token.cancel();
    let mut batches = array.read().cancel(token).record_batches(&conversion).unwrap();
    let error: ArrowError = batches.next().unwrap().unwrap_err();
    assert!(matches!(Error::from(error), Error::Array(error) if error.is_cancelled()));
    assert!(batches.next().is_none(), "nothing comes after an error");
}
