//! Record batches become cells, and come back as they were.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Int16Builder, LargeListBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use talavera::{
    Array, ArrayBuilder, ArrayType, Attribute, CellValNum, Datatype, FieldBuffer, MemoryStorage, ObjectPath, Order, Range,
    TileExtent, enumeration,
};
use talavera_arrow::{
    ArrowOptions, Attributes, Conversion, Dictionaries, Error, Import, ImportDimension, ImportOptions, ReadExt, WriteExt,
    read_ipc, read_ipc_stream, schema_from_arrow, write_ipc_stream,
};

fn create(builder: ArrayBuilder) -> Array {
    builder.create_in(Arc::new(MemoryStorage::new()), ObjectPath::root()).unwrap()
}

fn read(array: &Array) -> RecordBatch {
    let conversion = Conversion::all(array, &ArrowOptions::default()).unwrap();
    array.read().order(Order::RowMajor).record_batch(&conversion).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The dimensions that an array has, to make the same from a batch.
fn dimensions(array: &Array) -> Vec<ImportDimension> {
    let domain = &array.schema().domain;
    let one = |dimension: &talavera::Dimension| ImportDimension {
        datatype: Some(dimension.datatype),
        domain: dimension.domain.clone(),
        tile_extent: dimension.tile_extent,
        ..ImportDimension::new(&dimension.name)
    };
    domain.dimensions.iter().map(one).collect()
}

#[test]
fn what_was_read_makes_the_same_array_again() {
    for name in [
        "dense_datetime",
        "dense_fixed_multi",
        "dense_time_types",
        "dense_utf_strings",
        "enumerations_dense",
        "enumerations_sparse_evolved",
        "sparse_nullable",
        "types_bool",
        "types_geom",
    ] {
        let original = Array::open(format!("tests/data/{name}")).unwrap();
        let cells = read(&original);
        let mut options = ImportOptions::new(original.schema().array_type, dimensions(&original));
        options.dictionaries.add(&cells).unwrap();
        let allows_dups = original.schema().allows_dups;
        let builder = schema_from_arrow(&cells.schema(), &options).unwrap().with(|schema| schema.allows_dups(allows_dups));
        let array = create(builder);
        for (made, wanted) in array.schema().attributes.iter().zip(&original.schema().attributes) {
            let shape = |attribute: &Attribute| {
                let attribute = attribute.clone();
                (attribute.name, attribute.datatype, attribute.cell_val_num, attribute.nullable, attribute.enumeration)
            };
            assert_eq!(shape(made), shape(wanted), "{name}");
        }
        let import = Import::new(&array).unwrap();
        array.write().record_batch(&import, &cells).unwrap().commit().unwrap();
        let back = read(&array.reopen().unwrap());
        assert_eq!(back.num_rows(), cells.num_rows(), "{name}");
        for (field, (found, wanted)) in cells.schema().fields().iter().zip(back.columns().iter().zip(cells.columns())) {
            assert_eq!(found, wanted, "{name}, {}", field.name());
        }
        assert_eq!(back.schema(), cells.schema(), "{name}");
    }
}

#[test]
fn a_stream_is_imported_batch_by_batch_or_at_once() {
    let original = Array::open("tests/data/sparse_nullable").unwrap();
    let conversion = Conversion::all(&original, &ArrowOptions::default()).unwrap();
    let batches = |order| original.read().order(order).memory_limit(8192).record_batches(&conversion).unwrap();
    let mut stream = Vec::new();
    write_ipc_stream(batches(Order::RowMajor), &mut stream).unwrap();
    let mut file = Vec::new();
    let mut writer = FileWriter::try_new(&mut file, conversion.schema()).unwrap();
    batches(Order::RowMajor).for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap();
    drop(writer);
    let options = ImportOptions::new(ArrayType::Sparse, dimensions(&original));
    for source in [read_ipc_stream(Cursor::new(stream.clone())), read_ipc(Cursor::new(stream)), read_ipc(Cursor::new(file))] {
        let source = source.unwrap();
        let array = create(schema_from_arrow(&source.schema(), &options).unwrap());
        let import = Import::new(&array).unwrap();
        array.write().record_batches(&import, source).unwrap().commit().unwrap();
        assert_eq!(read(&array.reopen().unwrap()), read(&original));
    }
    let array = create(schema_from_arrow(conversion.schema(), &options).unwrap());
    let import = Import::new(&array).unwrap();
    let writer = array.writer().unwrap();
    let mut stream = writer.stream();
    for batch in batches(Order::Global) {
        stream.append(writer.columns().record_batch(&import, &batch.unwrap()).unwrap()).unwrap();
    }
    stream.finish().unwrap();
    assert_eq!(read(&array.reopen().unwrap()), read(&original));
    assert!(read_ipc(Cursor::new(b"neither".to_vec())).is_err());
}

/// The cells of one column as those of an attribute.
fn convert(attribute: &Attribute, column: ArrayRef) -> Result<FieldBuffer, Error> {
    let import = Import::of_attributes(std::slice::from_ref(attribute), &[]);
    Ok(import.fields(&batch(vec![(&attribute.name, column)]))?.pop().unwrap().1)
}

#[test]
fn columns_of_other_types_that_hold_the_same_are_taken() {
    let words = [Some("ab"), None, Some(""), Some("λ")];
    let text = Attribute { nullable: true, ..Attribute::var("s", Datatype::StringUtf8) };
    let large = convert(&text, Arc::new(LargeStringArray::from(words.to_vec()))).unwrap();
    assert_eq!(large.offsets().unwrap(), [0, 2, 2, 2, 4]);
    assert_eq!(large.validity().unwrap(), [1, 0, 1, 1]);
    assert_eq!(convert(&text, Arc::new(StringArray::from(words.to_vec()))).unwrap(), large);
    assert_eq!(convert(&text, Arc::new(StringViewArray::from(words.to_vec()))).unwrap(), large);
    let bytes: Vec<_> = words.iter().map(|word| word.map(str::as_bytes)).collect();
    assert_eq!(convert(&text, Arc::new(BinaryArray::from(bytes.clone()))).unwrap(), large);
    assert_eq!(convert(&text, Arc::new(BinaryViewArray::from(bytes))).unwrap(), large);
    let keys = DictionaryArray::<Int8Type>::from_iter(words);
    assert_eq!(convert(&text, Arc::new(keys)).unwrap(), large);

    let wide = Attribute { nullable: true, ..Attribute::var("s", Datatype::StringUtf16) };
    let cells = convert(&wide, Arc::new(StringArray::from(words.to_vec()))).unwrap();
    assert_eq!((cells.cell(0).unwrap(), cells.cell(3).unwrap()), (&b"a\0b\0"[..], &[0xbb, 0x03][..]));

    let list = |values: Vec<Option<Vec<Option<i16>>>>| ListArray::from_iter_primitive::<Int16Type, _, _>(values);
    let numbers = Attribute { nullable: true, ..Attribute::var("v", Datatype::Int16) };
    let some = |values: &[i16]| Some(values.iter().copied().map(Some).collect());
    let sliced = list(vec![some(&[9]), some(&[1, 2]), None, some(&[])]).slice(1, 3);
    let cells = convert(&numbers, Arc::new(sliced)).unwrap();
    assert_eq!((cells.values::<i16>().unwrap(), cells.offsets().unwrap()), (&[1, 2][..], &[0, 4, 4, 4][..]));

    let seconds = Attribute::new("t", Datatype::TimeSec);
    let cells = convert(&seconds, Arc::new(Time32SecondArray::from(vec![5, 6]))).unwrap();
    assert_eq!(cells.values::<i64>().unwrap(), [5, 6]);
    let days = Attribute::new("d", Datatype::DateTimeDay);
    let cells = convert(&days, Arc::new(Date64Array::from(vec![Some(2 * 86_400_000), None]))).unwrap();
    assert_eq!(cells.values::<i64>().unwrap(), [2, i64::MIN], "a missing day is not-a-time, as reading shows it");
    let stamps = TimestampMillisecondArray::from(vec![7]).with_timezone("+01:00");
    assert_eq!(convert(&Attribute::new("t", Datatype::DateTimeMs), Arc::new(stamps)).unwrap().values::<i64>().unwrap(), [7]);
    let none = convert(&text, Arc::new(NullArray::new(2))).unwrap();
    assert!(none.is_null(0) && none.is_null(1));
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let check = |attribute: &Attribute, column: ArrayRef, expected: &str| {
        assert_eq!(convert(attribute, column).unwrap_err().to_string(), expected);
    };
    let int = Attribute::new("a", Datatype::Int32);
    check(&int, Arc::new(Int64Array::from(vec![1])), "column 'a': Int64 cannot become INT32");
    check(&int, Arc::new(StringArray::from(vec!["1"])), "column 'a': Utf8 cannot become INT32");
    let nulls = Arc::new(Int32Array::from(vec![Some(1), None]));
    check(&int, nulls, "column 'a', cell 1: a null, and the field is not nullable");
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)]), Some(vec![Some(2), None])]);
    check(&int, Arc::new(list.clone()), "column 'a': List(Int32) cannot become INT32");
    let ints = Attribute::var("a", Datatype::Int32);
    check(&ints, Arc::new(list), "column 'a', cell 1: a null, and the field is not nullable");
    let three = CellValNum::Fixed(3.try_into().unwrap());
    let code = Attribute::with_cell_val_num("a", Datatype::Char, three);
    let words = Arc::new(StringArray::from(vec!["abc", "ab"]));
    check(&code, words, "column 'a', cell 1: 2 bytes, and the cells of the field have 3");
    let triple = Attribute::with_cell_val_num("a", Datatype::Int32, three);
    let pairs = FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), Some(2)])], 2);
    check(&triple, Arc::new(pairs), "column 'a': FixedSizeList(2 x Int32) cannot become INT32 × 3");
    let seconds = Arc::new(TimestampSecondArray::from(vec![1]));
    check(&Attribute::new("a", Datatype::DateTimeMs), seconds, "column 'a': Timestamp(s) cannot become DATETIME_MS");
    let date = Arc::new(Date64Array::from(vec![1]));
    check(&Attribute::new("a", Datatype::DateTimeDay), date, "field 'a': a date is no whole day");
}

#[test]
fn columns_are_those_of_the_array() {
    let ints = || Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let dense = create(ArrayBuilder::dense().dimension("x", 1..=2_i32, 2).attribute::<i32>("a"));
    let import = Import::new(&dense).unwrap();
    let refused = |columns| import.fields(&batch(columns)).unwrap_err().to_string();
    assert_eq!(refused(vec![("b", ints())]), "there is no field 'b'");
    let coordinates = "column 'x': the cells of a dense array are written by ranges, without coordinates";
    assert_eq!(refused(vec![("x", ints()), ("a", ints())]), coordinates);
    dense.write().record_batch(&import, &batch(vec![("a", ints())])).unwrap().commit().unwrap();
    assert_eq!(dense.reopen().unwrap().read().values::<i32>("a").unwrap(), [1, 2]);
    let sparse = create(ArrayBuilder::sparse().dimension("x", 1..=2_i32, 2).attribute::<i32>("a"));
    let import = Import::new(&sparse).unwrap();
    let missing = sparse.write().record_batch(&import, &batch(vec![("a", ints())])).unwrap().commit().unwrap_err();
    assert_eq!(missing.to_string(), "no cells for 'x'");
    let nulls = Arc::new(Int32Array::from(vec![Some(1), None]));
    assert!(matches!(import.fields(&batch(vec![("x", nulls)])), Err(Error::NullCell { cell: 1, .. })));
    let uneven = [batch(vec![("a", ints())]), batch(vec![("x", ints())])].map(Ok::<_, Error>);
    assert!(matches!(import.fields_of_all(uneven), Err(Error::Cells { .. })));
}

#[test]
fn enumerated_attributes_take_indices_dictionaries_and_values() {
    let colors = || enumeration("colors", Datatype::StringUtf8, CellValNum::Var, false, ["red", "green", "blue"]).unwrap();
    let make = |nullable| {
        let color = Attribute { nullable, enumeration: Some("colors".into()), ..Attribute::new("c", Datatype::Int8) };
        let builder = ArrayBuilder::dense().dimension("x", 1..=4_i32, 2).add_enumeration(colors());
        Import::new(&create(builder.add_attribute(color))).unwrap()
    };
    let import = make(true);
    let indices = |import: &Import, column: ArrayRef| {
        let cells = import.fields(&batch(vec![("c", column)]))?.pop().unwrap().1;
        let index = |cell| (!cells.is_null(cell)).then(|| cells.values::<i8>().unwrap()[cell]);
        Ok::<_, Error>((0..cells.len()).map(index).collect::<Vec<_>>())
    };
    let words = [Some("blue"), None, Some("red"), Some("blue")];
    let wanted = [Some(2), None, Some(0), Some(2)];
    assert_eq!(indices(&import, Arc::new(DictionaryArray::<UInt16Type>::from_iter(words))).unwrap(), wanted);
    assert_eq!(indices(&import, Arc::new(StringArray::from(words.to_vec()))).unwrap(), wanted);
    assert_eq!(indices(&import, Arc::new(Int8Array::from(wanted.to_vec()))).unwrap(), wanted);
    let unknown = DictionaryArray::<Int32Type>::from_iter(["red", "pink"]);
    let message = "column 'c', cell 1: the value is not in enumeration 'colors', which has to be extended before";
    assert_eq!(indices(&import, Arc::new(unknown.clone())).unwrap_err().to_string(), message);
    assert_eq!(indices(&import, Arc::new(unknown.slice(0, 1))).unwrap(), [Some(0)], "values that no cell has do not matter");
    // The fill value is the index of nothing, and reads as null.
    let strict = make(false);
    assert_eq!(indices(&strict, Arc::new(DictionaryArray::<Int8Type>::from_iter(words))).unwrap()[1], Some(i8::MIN));
    assert!(matches!(indices(&strict, Arc::new(Int8Array::from(wanted.to_vec()))), Err(Error::NullCell { cell: 1, .. })));
    let empty = DictionaryArray::<Int8Type>::new(Int8Array::new_null(2), Arc::new(StringArray::from(Vec::<&str>::new())));
    assert_eq!(indices(&import, Arc::new(empty)).unwrap(), [None, None]);
}

#[test]
fn dictionaries_of_several_batches_make_one_enumeration() {
    let column = |words: &[&str]| Arc::new(DictionaryArray::<Int32Type>::from_iter(words.iter().copied())) as ArrayRef;
    let batches = [batch(vec![("c", column(&["b", "a", "b"]))]), batch(vec![("c", column(&["c", "a"]))])];
    let mut dictionaries = Dictionaries::new();
    batches.iter().for_each(|batch| dictionaries.add(batch).unwrap());
    let schema = batches[0].schema();
    let made = Attributes::new(schema.fields().iter().map(AsRef::as_ref), &dictionaries).unwrap();
    assert_eq!(made.enumerations[0].values().collect::<Vec<_>>(), [b"b", b"a", b"c"]);
    let import = Import::of_attributes(&made.attributes, &made.enumerations);
    let fields = import.fields_of_all(batches.into_iter().map(Ok::<_, Error>)).unwrap();
    assert_eq!(fields[0].1.values::<i32>().unwrap(), [0, 1, 0, 2, 1]);
    // Without values there is no enumeration, and the attribute is that of the values.
    let plain = Attributes::new(schema.fields().iter().map(AsRef::as_ref), &Dictionaries::new()).unwrap();
    assert_eq!((plain.attributes[0].datatype, plain.enumerations.len()), (Datatype::StringUtf8, 0));
}

#[test]
fn columns_become_dimensions_and_attributes() {
    let field = |name: &str, data_type, nullable| Field::new(name, data_type, nullable);
    let schema = Schema::new(vec![
        field("id", DataType::LargeUtf8, false),
        field("n", DataType::Int32, false),
        field("u", DataType::UInt8, false),
        field("f", DataType::Float64, true),
        field("bytes", DataType::FixedSizeBinary(4), false),
        field("vec", DataType::new_fixed_size_list(DataType::Float32, 3, false), false),
        field("when", DataType::Date64, false),
        field("half", DataType::Float16, false),
    ]);
    let make = |columns: usize, names: &[&str]| {
        let schema = Schema::new(schema.fields()[..columns].to_vec());
        let dimensions = names.iter().map(|name| ImportDimension::new(*name));
        schema_from_arrow(&schema, &ImportOptions::new(ArrayType::Sparse, dimensions)).map(|builder| builder.schema().unwrap())
    };
    let made = make(7, &["id", "n", "u"]).unwrap();
    let domains: Vec<_> = made.domain.dimensions.iter().map(|d| (d.datatype, d.domain.clone(), d.tile_extent)).collect();
    assert_eq!(domains[0], (Datatype::StringAscii, None, None));
    let integers = Range::Signed((-i32::MAX).into(), (i32::MAX - 10_000).into());
    assert_eq!(domains[1], (Datatype::Int32, Some(integers), Some(TileExtent::Integer(10_000))));
    assert_eq!(domains[2], (Datatype::UInt8, Some(Range::Unsigned(0, 239)), Some(TileExtent::Integer(16))));
    let attributes: Vec<_> = made.attributes.iter().map(|a| (a.datatype, a.cell_val_num.fixed(), a.nullable)).collect();
    let wanted = [
        (Datatype::Float64, Some(1), true),
        (Datatype::Blob, Some(4), false),
        (Datatype::Float32, Some(3), false),
        (Datatype::DateTimeMs, Some(1), false),
    ];
    assert_eq!(attributes, wanted);
    let refused = |columns, names: &[&str]| make(columns, names).unwrap_err().to_string();
    assert_eq!(refused(8, &["id"]), "column 'half': Float16 has no counterpart in an array");
    assert_eq!(refused(7, &["none"]), "dimension 'none' has no column");
    assert_eq!(refused(7, &["f"]), "dimension 'f' needs a domain");
    assert_eq!(refused(7, &["vec"]), "dimension 'vec' has a column that does not hold one number, date or string in a cell");
}

/// Columns of most shapes, of the types that reading gives.
fn columns() -> impl Strategy<Value = RecordBatch> {
    let row = (any::<Option<i32>>(), any::<f64>(), any::<Option<String>>(), any::<Option<Vec<i16>>>(), any::<[f32; 2]>());
    let rows = prop::collection::vec((row, any::<Option<bool>>(), any::<Vec<u8>>(), 0..3_usize), 1..30);
    (rows, any::<prop::sample::Index>()).prop_map(|(rows, start)| {
        let mut lists = LargeListBuilder::new(Int16Builder::new()).with_field(Field::new("item", DataType::Int16, false));
        let mut pairs =
            FixedSizeListBuilder::new(Float32Builder::new(), 2).with_field(Field::new("item", DataType::Float32, false));
        for ((_, _, _, list, pair), ..) in &rows {
            lists.append_option(list.as_ref().map(|list| list.iter().copied().map(Some)));
            pairs.values().append_slice(pair);
            pairs.append(true);
        }
        let words = rows.iter().map(|(.., word)| ["b", "", "a"][*word]);
        let columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("int", Arc::new(Int32Array::from_iter(rows.iter().map(|row| row.0.0))), true),
            ("float", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.0.1))), false),
            ("text", Arc::new(LargeStringArray::from_iter(rows.iter().map(|row| row.0.2.as_ref()))), true),
            ("list", Arc::new(lists.finish()), true),
            ("pair", Arc::new(pairs.finish()), false),
            ("bool", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| row.1))), true),
            ("bytes", Arc::new(LargeBinaryArray::from_iter_values(rows.iter().map(|row| &row.2))), false),
            ("word", Arc::new(words.collect::<DictionaryArray<Int8Type>>()), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let start = start.index(rows.len());
        batch.slice(start, rows.len() - start)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn batches_come_back_as_they_were(cells in columns()) {
        let last = i64::try_from(cells.num_rows()).unwrap() - 1;
        let row = ImportDimension {
            datatype: Some(Datatype::Int64),
            domain: Some(Range::Signed(0, last)),
            tile_extent: Some(TileExtent::Integer(1 + last.unsigned_abs() / 2)),
            ..ImportDimension::new("row")
        };
        let mut options = ImportOptions::new(ArrayType::Dense, [row]);
        options.dictionaries.add(&cells).unwrap();
        let array = create(schema_from_arrow(&cells.schema(), &options).unwrap());
        let import = Import::new(&array).unwrap();
        array.write().record_batch(&import, &cells).unwrap().commit().unwrap();
        let back = read(&array.reopen().unwrap());
        for (name, wanted) in cells.schema().fields().iter().map(|field| field.name()).zip(cells.columns()) {
            let found = back.column_by_name(name).unwrap();
            if name == "word" {
                let text = |column: &ArrayRef| import.fields(&batch(vec![("word", column.clone())])).unwrap();
                prop_assert_eq!(text(found), text(wanted));
            } else {
                prop_assert_eq!(found, wanted, "{}", name);
            }
        }
        // What a slice becomes is a slice of what the whole becomes.
        let half = cells.num_rows() / 2;
        let parts = [cells.slice(0, half), cells.slice(half, cells.num_rows() - half)].map(Ok::<_, Error>);
        prop_assert_eq!(import.fields_of_all(parts).unwrap(), import.fields(&cells).unwrap());
    }
}
