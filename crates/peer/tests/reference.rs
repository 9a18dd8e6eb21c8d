//! What the wrapped calls do in the real library. Without it, each test says so and passes: `cargo xtask peer` fetches it.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use talavera_peer::{
    Attribute, Column, Condition, Context, Datatype, Dimension, Enumeration, Evolution, FillValue, Filter, FilterList,
    FilterOption, FilterType, Label, LabelOrder, Layout, Library, Mode, ObjectType, Operator, PeerError, Range, Read, Schema,
    VAR, Window, Write,
};

fn library() -> Option<Library> {
    let found = Library::locate("2.30.0");
    if found.is_none() {
        eprintln!("skipped: no libtiledb; run `cargo xtask peer`");
    }
    Some(Library::open(&found?).unwrap())
}

struct Place {
    _folder: tempfile::TempDir,
    uri: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().join("array").to_string_lossy().into_owned();
        Self { _folder: folder, uri }
    }
}

fn read(context: &Context, uri: &str, window: Window, read: &Read) -> Vec<(String, Column)> {
    context.open(uri, Mode::Read, window).unwrap().read(read).unwrap()
}

fn named(name: &str, column: Column) -> (String, Column) {
    (name.into(), column)
}

#[test]
fn a_schema_is_read_back_as_it_was_created() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let zstd = Filter { filter_type: FilterType::Zstd, options: vec![FilterOption::Level(3)] };
    let scale = Filter {
        filter_type: FilterType::FloatScale,
        options: vec![
            FilterOption::FloatScaleByteWidth(4),
            FilterOption::FloatScaleFactor(0.5),
            FilterOption::FloatScaleOffset(-1.0),
        ],
    };
    let chain = FilterList { filters: vec![FilterType::Byteshuffle.into(), zstd], max_chunk_bytes: Some(1024) };
    let none = FilterList { filters: Vec::new(), max_chunk_bytes: Some(65536) };
    let fill = FillValue { value: b"gone".to_vec(), valid: true };
    let mut schema = Schema::dense(
        // Of a dimension without filters the library gives the filters of the coordinates.
        vec![
            Dimension::new("x", Datatype::Int64, 1..=100i64, 10)
                .filtered(FilterList { max_chunk_bytes: Some(512), ..chain.clone() }),
        ],
        vec![
            Attribute {
                filters: Some(chain.clone()),
                fill: Some(fill),
                ..Attribute::new("s", Datatype::StringUtf8).var().nullable()
            },
            Attribute {
                fill: Some(FillValue { value: 0u8.to_ne_bytes().to_vec(), valid: true }),
                filters: Some(none.clone()),
                enumeration: Some("colours".into()),
                ..Attribute::new("e", Datatype::UInt8)
            },
            Attribute {
                fill: Some(FillValue { value: 1.5f64.to_ne_bytes().to_vec(), valid: true }),
                filters: Some(FilterList { filters: vec![scale], max_chunk_bytes: Some(65536) }),
                ..Attribute::new("f", Datatype::Float64)
            },
        ],
    );
    schema.capacity = Some(77);
    schema.cell_order = Layout::ColMajor;
    schema.coords_filters = Some(chain.clone());
    schema.offsets_filters = Some(none);
    schema.validity_filters = Some(chain);
    schema.current_domain = Some(vec![(1..=50i64).into()]);
    schema.enumerations = vec![Enumeration {
        name: "colours".into(),
        datatype: Datatype::StringAscii,
        cell_val_num: VAR,
        ordered: true,
        values: vec![b"red".to_vec(), b"green".to_vec(), Vec::new()],
    }];
    context.create(&place.uri, &schema).unwrap();
    assert_eq!(context.object_type(&place.uri).unwrap(), ObjectType::Array);

    let found = context.open(&place.uri, Mode::Read, Window::default()).unwrap().schema().unwrap();
    assert_eq!(found, Schema { format_version: Some(22), ..schema });
}

#[test]
fn dense_cells_with_offsets_and_validity_come_back_at_each_timestamp() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let attribute = Attribute::new("s", Datatype::StringAscii).var().nullable();
    context.create(&place.uri, &Schema::dense(vec![Dimension::new("x", Datatype::Int32, 1..=4, 2)], vec![attribute])).unwrap();
    let first = Column::var(&["a", "", "ccc", "dd"]).nullable(&[1, 0, 1, 1]);
    let second = Column::var(&["new", ""]).nullable(&[1, 1]);
    for (at, range, column) in [(10, 1..=4, &first), (20, 2..=3, &second)] {
        let array = context.open(&place.uri, Mode::Write, Window::until(at)).unwrap();
        array.write(&Write::dense(Layout::RowMajor, vec![Range::from(range)], vec![named("s", column.clone())])).unwrap();
    }

    assert_eq!(read(&context, &place.uri, Window::until(10), &Read::default()), [named("s", first)]);
    let now = Column::var(&["a", "new", "", "dd"]).nullable(&[1, 1, 1, 1]);
    assert_eq!(read(&context, &place.uri, Window::default(), &Read::default()), [named("s", now)]);

    let fragments = context.fragments(&place.uri).unwrap();
    let times: Vec<_> = fragments.loaded.iter().map(|fragment| fragment.timestamps).collect();
    assert_eq!(times, [(10, 10), (20, 20)]);
    assert_eq!(fragments.loaded[1].non_empty_domain, [Range::from(2..=3)]);
}

#[test]
fn a_sparse_read_that_fits_no_buffer_is_continued_until_it_has_all_cells() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let dimensions = vec![Dimension::string("name"), Dimension::new("y", Datatype::Int16, -500..=500i16, 100)];
    let mut schema =
        Schema::sparse(dimensions, vec![Attribute::new("v", Datatype::UInt64), Attribute::new("t", Datatype::StringUtf8).var()]);
    schema.capacity = Some(16);
    context.create(&place.uri, &schema).unwrap();
    let names: Vec<_> = (0..300u64).map(|i| format!("n{:03}", i)).collect();
    let texts: Vec<_> = (0..300).map(|i| "x".repeat(i % 7)).collect();
    let y: Vec<i16> = (0..300i16).map(|i| i - 150).collect();
    let v: Vec<u64> = (0..300).collect();
    let columns = vec![
        named("name", Column::var(&names)),
        named("y", Column::fixed(&y)),
        named("v", Column::fixed(&v)),
        named("t", Column::var(&texts)),
    ];
    let array = context.open(&place.uri, Mode::Write, Window::until(1)).unwrap();
    array.write(&Write::sparse(columns.clone())).unwrap();
    array.close().unwrap();

    let small = Read { buffer_bytes: 64, ..Read::default() };
    assert_eq!(read(&context, &place.uri, Window::default(), &small), columns);

    let ranges =
        vec![vec![Range::text("n010", "n012"), Range::text("n200", "n2")], vec![(-140..=-139i16).into(), (0..=0i16).into()]];
    let some = Read { ranges, fields: Some(vec!["v".into()]), ..Read::default() };
    assert_eq!(read(&context, &place.uri, Window::default(), &some), [named("v", Column::fixed(&[10u64, 11]))]);
    let array = context.open(&place.uri, Mode::Read, Window::default()).unwrap();
    assert_eq!(array.non_empty_domain().unwrap().unwrap(), [Range::text("n000", "n299"), (-150..=149i16).into()]);
}

#[test]
fn cells_written_in_global_order_in_two_batches_are_one_fragment() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let dimension = Dimension::new("x", Datatype::UInt32, 0..=99u32, 10);
    context.create(&place.uri, &Schema::sparse(vec![dimension], vec![Attribute::new("a", Datatype::Int8)])).unwrap();
    let batch = |x: &[u32], a: &[i8]| vec![named("x", Column::fixed(x)), named("a", Column::fixed(a))];
    let array = context.open(&place.uri, Mode::Write, Window::until(1)).unwrap();
    let batches = vec![batch(&[1, 2], &[-1, -2]), batch(&[30, 99], &[-30, -99])];
    array.write(&Write { layout: Layout::GlobalOrder, subarray: Vec::new(), batches }).unwrap();

    assert_eq!(read(&context, &place.uri, Window::default(), &Read::default()), batch(&[1, 2, 30, 99], &[-1, -2, -30, -99]));
    assert_eq!(context.fragments(&place.uri).unwrap().loaded.len(), 1);
}

#[test]
fn conditions_select_and_delete_and_consolidation_keeps_what_is_left() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let dimension = Dimension::new("x", Datatype::Int32, 1..=100, 10);
    context.create(&place.uri, &Schema::sparse(vec![dimension], vec![Attribute::new("a", Datatype::Int32)])).unwrap();
    for (at, x) in [(10, [1, 2, 3]), (20, [4, 5, 6])] {
        let array = context.open(&place.uri, Mode::Write, Window::until(at)).unwrap();
        let a: Vec<i32> = x.iter().map(|x| x * 10).collect();
        array.write(&Write::sparse(vec![named("x", Column::fixed(&x)), named("a", Column::fixed(&a))])).unwrap();
    }
    let compare = |operator, value: i32| Condition::compare("a", operator, value.to_ne_bytes());
    let selected = |condition: &Condition| {
        let select = Read { condition: Some(condition.clone()), fields: Some(vec!["x".into()]), ..Read::default() };
        read(&context, &place.uri, Window::default(), &select)[0].1.values::<i32>().unwrap()
    };
    let outside = compare(Operator::Less, 20).or(compare(Operator::GreaterOrEqual, 50));
    assert_eq!(selected(&outside), [1, 5, 6]);
    assert_eq!(selected(&Condition::Not(Box::new(outside))), [2, 3, 4]);
    let values = vec![20i32.to_ne_bytes().to_vec(), 60i32.to_ne_bytes().to_vec()];
    assert_eq!(selected(&Condition::Member { field: "a".into(), values: values.clone(), negated: false }), [2, 6]);
    assert_eq!(selected(&Condition::Member { field: "a".into(), values, negated: true }), [1, 3, 4, 5]);

    let doomed = compare(Operator::Equal, 20).or(compare(Operator::Greater, 50));
    context.open(&place.uri, Mode::Delete, Window::until(30)).unwrap().delete(&doomed).unwrap();
    context.consolidate(&place.uri, &[("sm.consolidation.mode", "fragments")]).unwrap();
    assert_eq!(context.fragments(&place.uri).unwrap().to_vacuum.len(), 2);
    context.vacuum(&place.uri, &[("sm.vacuum.mode", "fragments")]).unwrap();
    assert_eq!(context.fragments(&place.uri).unwrap().to_vacuum.len(), 0);
    let x = Read { fields: Some(vec!["x".into()]), ..Read::default() };
    assert_eq!(read(&context, &place.uri, Window::default(), &x), [named("x", Column::fixed(&[1, 3, 4, 5]))]);
}

#[test]
fn an_encrypted_array_opens_only_with_its_key() {
    let Some(library) = library() else { return };
    let place = Place::new();
    let context = Context::encrypted(&library, &[], b"0123456789abcdeF0123456789abcdeF").unwrap();
    let schema =
        Schema::dense(vec![Dimension::new("x", Datatype::Int32, 1..=2, 2)], vec![Attribute::new("a", Datatype::Float32)]);
    context.create(&place.uri, &schema).unwrap();
    let cells = vec![named("a", Column::fixed(&[1.0f32, 2.0]))];
    let array = context.open(&place.uri, Mode::Write, Window::until(1)).unwrap();
    array.write(&Write::dense(Layout::RowMajor, vec![Range::from(1..=2)], cells.clone())).unwrap();
    assert_eq!(read(&context, &place.uri, Window::default(), &Read::default()), cells);
    assert_eq!(context.fragments(&place.uri).unwrap().loaded.len(), 1);

    let plain = Context::new(&library, &[]).unwrap();
    let error = plain.open(&place.uri, Mode::Read, Window::default()).unwrap_err();
    assert!(matches!(&error, PeerError::Refused { function: "tiledb_array_open", .. }), "{error}");
}

#[test]
fn metadata_of_arrays_and_groups_is_put_deleted_and_listed() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let array_uri = format!("{}/inner", place.uri);
    context.create_group(&place.uri).unwrap();
    let schema = Schema::dense(vec![Dimension::new("x", Datatype::Int32, 1..=2, 2)], vec![Attribute::new("a", Datatype::Int8)]);
    context.create(&array_uri, &schema).unwrap();
    let array = context.open(&array_uri, Mode::Write, Window::until(1)).unwrap();
    array.put_metadata("two", Datatype::Int16, Some(&[1, 0, 2, 0])).unwrap();
    array.put_metadata("none", Datatype::Int32, None).unwrap();
    assert!(array.put_metadata("odd", Datatype::Int16, Some(&[1])).is_err());
    array.close().unwrap();
    let array = context.open(&array_uri, Mode::Write, Window::until(2)).unwrap();
    array.delete_metadata("none").unwrap();
    array.close().unwrap();
    let keys = |window| {
        let entries = context.open(&array_uri, Mode::Read, window).unwrap().metadata().unwrap();
        entries.into_iter().map(|entry| (entry.key, entry.count, entry.value)).collect::<Vec<_>>()
    };
    let two = ("two".to_string(), 2, Some(vec![1, 0, 2, 0]));
    assert_eq!(keys(Window::until(1)), [("none".to_string(), 1, None), two.clone()]);
    assert_eq!(keys(Window::default()), [two]);

    let group = context.open_group(&place.uri, Mode::Write).unwrap();
    group.add_member("inner", true, Some("the array")).unwrap();
    group.put_metadata("text", Datatype::StringUtf8, Some("é".as_bytes())).unwrap();
    group.close().unwrap();
    let group = context.open_group(&place.uri, Mode::Read).unwrap();
    let members = group.members().unwrap();
    assert_eq!((members[0].name.as_deref(), members[0].object_type), (Some("the array"), ObjectType::Array));
    assert!(members[0].uri.ends_with("/inner"), "{}", members[0].uri);
    assert_eq!(group.metadata().unwrap()[0].value.as_deref(), Some("é".as_bytes()));
}

#[test]
fn evolution_adds_drops_and_extends() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let colours = |values: &[&str]| Enumeration {
        name: "colours".into(),
        datatype: Datatype::StringAscii,
        cell_val_num: VAR,
        ordered: false,
        values: values.iter().map(|value| value.as_bytes().to_vec()).collect(),
    };
    let mut schema = Schema::sparse(
        vec![Dimension::new("x", Datatype::Int32, 1..=10, 5)],
        vec![
            Attribute { enumeration: Some("colours".into()), ..Attribute::new("e", Datatype::UInt8) },
            Attribute::new("old", Datatype::Int8),
        ],
    );
    schema.enumerations = vec![colours(&["red"])];
    schema.current_domain = Some(vec![(1..=3).into()]);
    context.create(&place.uri, &schema).unwrap();
    let evolution = Evolution {
        extend_enumerations: vec![("colours".into(), vec![b"blue".to_vec()])],
        add_attributes: vec![Attribute::new("new", Datatype::Float64)],
        drop_attributes: vec!["old".into()],
        current_domain: Some(vec![(1..=7).into()]),
        ..Evolution::default()
    };
    context.evolve(&place.uri, &evolution).unwrap();

    let found = context.open(&place.uri, Mode::Read, Window::default()).unwrap().schema().unwrap();
    assert_eq!(found.enumerations, [colours(&["red", "blue"])]);
    assert_eq!(found.attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>(), ["e", "new"]);
    assert_eq!(found.current_domain, Some(vec![(1..=7).into()]));
}

#[test]
fn labels_are_written_with_the_cells_and_read_by_name() {
    let Some(library) = library() else { return };
    let (context, place) = (Context::new(&library, &[]).unwrap(), Place::new());
    let mut schema =
        Schema::dense(vec![Dimension::new("x", Datatype::Int32, 1..=3, 3)], vec![Attribute::new("a", Datatype::Int32)]);
    schema.labels = vec![Label {
        dimension: 0,
        name: "height".into(),
        order: LabelOrder::Increasing,
        datatype: Datatype::Float64,
        cell_val_num: 1,
        path: String::new(),
        attribute: String::new(),
    }];
    context.create(&place.uri, &schema).unwrap();
    let columns = vec![named("a", Column::fixed(&[7, 8, 9])), named("height", Column::fixed(&[0.5, 1.5, 2.5]))];
    let array = context.open(&place.uri, Mode::Write, Window::until(1)).unwrap();
    array.write(&Write::dense(Layout::RowMajor, vec![Range::from(1..=3)], columns.clone())).unwrap();
    array.close().unwrap();

    let array = context.open(&place.uri, Mode::Read, Window::default()).unwrap();
    assert_eq!(array.schema().unwrap().labels[0].name, "height");
    let ranges = vec![vec![Range::from(1..=3)]];
    let both = Read { fields: Some(vec!["a".into(), "height".into()]), ranges, ..Read::default() };
    assert_eq!(array.read(&both).unwrap(), columns);
}

#[test]
fn a_missing_function_and_a_second_library_are_typed_errors() {
    let Some(library) = library() else { return };
    assert!(library.has("tiledb_array_open") && !library.has("tiledb_array_open_with_key"));
    let other = Library::open(&std::env::current_exe().unwrap()).unwrap_err();
    assert!(matches!(other, PeerError::OtherLibrary { .. }), "{other}");
    assert!(matches!(Library::open(std::path::Path::new("/nowhere")), Err(PeerError::Load { .. })));
}
