//! Cells read through the facade are those that the reference implementation reads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]
#![allow(clippy::excessive_precision, reason = "FLOAT32 values as the reference prints them")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use talavera::{Array, ArrayBuilder, CancelToken, Cells, Error, NdRange, Order, QueryCondition, Range, TIMESTAMPS_FIELD};

/// INT32 fill.
const FILL: i32 = i32::MIN;

fn array(name: &str) -> Array {
    Array::open(format!("tests/data/{name}")).unwrap()
}

/// A line for each cell, with the bytes of all its fields.
fn text_of(cells: &Cells) -> Vec<String> {
    let row = |cell| {
        cells.fields().map(move |(name, buffer)| format!("{name}={:?};", buffer.cell(cell).filter(|_| !buffer.is_null(cell))))
    };
    (0..cells.len()).map(|cell| row(cell).collect()).collect()
}

#[test]
fn ranges_of_a_dense_array_are_a_cross_product_in_the_order_added() {
    let array = array("dense_2d_overlap");
    let count = array.read().range("y", 1..=6).range("x", 1..=7).values::<i32>("count").unwrap();
    assert_eq!(count.len(), 42);
    assert_eq!(count[..8], [921486184, -1904289009, 1233635459, -288455958, 1878059853, -443961003, 714242246, 50989491]);
    // Rows 6 and 2; columns 3 to 4 and 1.
    let read = array.read().ranges("y", [6, 2]).range("x", 3..=4).range("x", 1);
    let count = read.values::<i32>("count").unwrap();
    assert_eq!(count, [219593652, -102885132, FILL, -688574576, -2104063334, 50989491]);
}

#[test]
fn a_dense_array_is_read_in_the_order_asked_for() {
    let array = array("dense_2d_overlap");
    let read = |order| array.read().range("y", 1..=6).range("x", 1..=7).order(order).values::<i32>("count").unwrap();
    let (rows, columns, global) = (read(Order::RowMajor), read(Order::ColMajor), read(Order::Global));
    assert_eq!(rows, read(Order::Unordered));
    assert_eq!(columns[..7], [921486184, 50989491, 1956595792, 995990478, FILL, FILL, -1904289009]);
    assert!((0..6).all(|y| (0..7).all(|x| rows[y * 7 + x] == columns[x * 6 + y])));
    // The first tile is three rows of four.
    assert_eq!(global[..4], rows[..4]);
    assert_eq!(global[4..8], rows[7..11]);
    assert_eq!(global[8..12], rows[14..18]);
}

#[test]
fn ranges_may_leave_their_ends_to_the_domain() {
    let array = array("dense_1d_int32_v3");
    let a = array.read().values::<i32>("a").unwrap();
    assert_eq!(a.len(), 20);
    assert_eq!(a[..3], [-2118491911, -935046792, -157531474]);
    let dimension = array.schema().domain.dimensions[0].name.clone();
    let read = || array.read();
    assert_eq!(read().range(&dimension, ..=3).values::<i32>("a").unwrap(), a[..3]);
    assert_eq!(read().range(&dimension, ..3).values::<i32>("a").unwrap(), a[..2]);
    assert_eq!(read().range(&dimension, 19_u8..).values::<i32>("a").unwrap(), a[18..]);
    assert_eq!(read().range(0, 7_i64).values::<i32>("a").unwrap(), a[6..7]);
    assert_eq!(read().within(&NdRange(vec![Range::Signed(2, 4)])).values::<i32>("a").unwrap(), a[1..4]);
}

#[test]
fn fields_without_a_name_are_named_by_nothing() {
    let array = array("dense_anonymous_v5");
    let values = array.read().range(1, 1..=2).range("r", 1).values::<f64>("").unwrap();
    assert_eq!(values, [-5407.493588060191, 8724.442465036998]);
}

#[test]
fn ranges_of_strings_and_bytes_select_cells() {
    let array = array("sparse_string_dim");
    let ids = |read: talavera::Read<'_>| -> Vec<String> {
        let cells = read.order(Order::RowMajor).cells().unwrap();
        cells.strings("id").unwrap().map(|id| id.unwrap().to_owned()).collect()
    };
    assert_eq!(ids(array.read().range("id", "pqkjtno"..="qntmq")), ["pqkjtno", "qn", "qntmq"]);
    assert_eq!(ids(array.read().range("id", ..="10oy 1C")), ["0Bwui", "1", "10oy 1C"]);
    assert_eq!(ids(array.read().range("id", b"wv"..=b"zz")), ["wv", "x"]);
    // The union of ranges, sorted, whatever the order they were added in.
    assert_eq!(ids(array.read().ranges("id", ["x", "k", "none", "k"])), ["k", "x"]);
    assert_eq!(ids(array.read()).len(), 25);
    let v = array.read().range("id", "qn").values::<i32>("v").unwrap();
    assert_eq!(v, [-482657095]);
}

#[test]
fn ranges_of_floats_select_cells() {
    let array = array("sparse_float_dims");
    let read =
        array.read().range("lon", -66.83567583660161..=141.05439362934095).range("lat", -47.92095814268809..=32.33948110994221);
    let cells = read.order(Order::RowMajor).cells().unwrap();
    let v = cells.values::<f32>("v").unwrap();
    assert_eq!(v, [-103.1054916381836, 8705.3427734375, 7506.3876953125, 2698.10693359375, 6500.9375, 788.4951782226562]);
    let point = array.read().range("lat", -48..-45).range("lon", 0..).fields(["lon"]).cells().unwrap();
    let mut lon = point.values::<f64>("lon").unwrap().to_vec();
    lon.sort_by(f64::total_cmp);
    assert_eq!(lon, [10.861587475146138, 160.95487066552403]);
}

#[test]
fn nulls_are_none() {
    let array = array("sparse_nullable");
    let read = || array.read().range("x", 32..=66).range("y", 23..=69).order(Order::RowMajor);
    let i = read().nullable_values::<i32>("i").unwrap();
    assert_eq!(i, [None, Some(-1299954753), None, Some(-2123522570), None, None, Some(1043465230)]);
    let cells = read().fields(["s", "vi", "x"]).cells().unwrap();
    let s: Vec<_> = cells.strings("s").unwrap().collect();
    assert_eq!(s, [Some("qCwyd"), None, Some("Akohw sA"), None, None, Some("hh wrpcv"), None]);
    let vi: Vec<_> = cells.bytes("vi").unwrap().map(|bytes| bytes.map(<[u8]>::len)).collect();
    assert_eq!(vi, [None, None, None, Some(2), Some(8), None, Some(0)]);
    assert_eq!(cells.names().collect::<Vec<_>>(), ["s", "vi", "x"]);
    assert_eq!(cells.nullable_values::<i64>("x").unwrap().flatten().sum::<i64>(), 32 + 40 + 42 + 43 + 47 + 59 + 66);
    assert_eq!(cells.into_fields().len(), 3);
}

#[test]
fn cells_of_several_values_come_one_behind_the_other() {
    let array = array("dense_fixed_multi");
    let cells = array.read().range("d", 4..=5).cells().unwrap();
    assert_eq!(cells.values::<i16>("pair").unwrap(), [6336, -17281, -9847, -579]);
    assert_eq!(cells.strings("code").unwrap().collect::<Vec<_>>(), [Some("dbfe"), Some("edbb")]);
    let error = array.read().values::<i16>("pair").unwrap_err();
    assert_eq!(error.to_string(), "field 'pair' has several values in a cell");
}

#[test]
fn enumerations_name_the_values_of_attributes() {
    let array = array("enumerations_dense");
    let name = array.schema().attribute("c").unwrap().1.enumeration.as_deref().unwrap();
    let colors = array.enumeration(name).unwrap();
    let color = |index: i8| colors.value(usize::try_from(index).ok()?);
    let c: Vec<_> = array.read().range("d", 8..=11).values::<i8>("c").unwrap().into_iter().map(color).collect();
    assert_eq!(c, [Some(&b"blue"[..]), Some(b""), Some(b"green"), None]);
    assert!(array.enumeration("flavors").is_err());
}

#[test]
fn what_does_not_fit_is_said_before_anything_is_read() {
    let array = array("dense_2d_overlap");
    let check =
        |read: talavera::Read<'_>, expected: &str| assert_eq!(read.values::<i32>("count").unwrap_err().to_string(), expected);
    check(array.read().range("z", 1), "the array has no dimension 'z'");
    check(array.read().range(2, 1), "the array has no dimension 2");
    check(array.read().range("y", 0.5), "dimension 'y' is INT64; floats cannot be a range of it");
    check(array.read().range("y", 3..3), "dimension 'y': the range [3, 2] is empty");
    // The first mistake counts.
    check(array.read().range("y", "a").range("z", 1), "dimension 'y' is INT64; strings cannot be a range of it");
    assert!(array.read().range("y", 1..=8).cells().is_err(), "out of the domain");
    let mistyped = array.read().values::<i32>("temp").unwrap_err();
    assert_eq!(mistyped.to_string(), "field 'temp' holds FLOAT64, which cannot be read as i32");
    assert!(matches!(array.read().values::<i32>("none").unwrap_err(), Error::UnknownField { field } if field == "none"));
    let cells = array.read().fields(["temp"]).cells().unwrap();
    assert!(matches!(cells.values::<i32>("count"), Err(Error::UnknownField { .. })));
    assert!(matches!(cells.strings("temp").err(), Some(Error::ValueType { wanted: "text", .. })));
}

#[test]
fn cells_of_another_shape_than_one_value_are_refused() {
    let array = array("sparse_nullable");
    let error = array.read().values::<i32>("i").unwrap_err();
    assert_eq!(error.to_string(), "field 'i' may hold nulls; read nullable values");
    let error = array.read().nullable_values::<i16>("vi").unwrap_err();
    assert_eq!(error.to_string(), "field 'vi' has cells of variable length");
}

#[test]
fn batches_together_are_the_whole() {
    for name in ["dense_2d_overlap", "sparse_string_dim", "sparse_overwrite", "sparse_nullable"] {
        let array = array(name);
        for order in [Order::RowMajor, Order::ColMajor] {
            let whole = text_of(&array.read().order(order).cells().unwrap());
            let mut counts = Vec::new();
            for limit in (9..=24).map(|bits| 1_u64 << bits) {
                let batches: Result<Vec<_>, _> = array.read().order(order).memory_limit(limit).batches().unwrap().collect();
                let batches = match batches {
                    // Even one tile is too much.
                    Err(error) if error.is_over_budget() && limit < 1 << 16 => continue,
                    batches => batches.unwrap(),
                };
                assert!(batches.iter().all(|batch| !batch.is_empty()), "{name}");
                assert_eq!(batches.iter().flat_map(text_of).collect::<Vec<_>>(), whole, "{name} {order:?} {limit}");
                counts.push(batches.len());
            }
            assert_eq!(counts.last(), Some(&1), "{name}");
            assert!(counts[0] > 1, "{name} {order:?}: {counts:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for name in ["dense_2d_overlap", "sparse_string_dim", "sparse_overwrite", "sparse_nullable"] {
        let read = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let array = Array::options().pool(Arc::new(pool)).open(format!("tests/data/{name}")).unwrap();
            [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered]
                .map(|order| array.read().order(order).cells().unwrap())
        };
        let one = read(1);
        for threads in [2, 4] {
            assert!(one.iter().zip(&read(threads)).all(|(a, b)| text_of(a) == text_of(b)), "{name}, {threads} threads");
        }
    }
}

#[test]
fn an_array_is_read_by_several_threads_at_once() {
    let array = array("sparse_overwrite");
    let read = |array: &Array| text_of(&array.read().order(Order::Global).cells().unwrap());
    let expected = read(&array);
    let threads: Vec<_> = (0..4).map(|_| array.clone()).map(|array| std::thread::spawn(move || read(&array))).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn a_cancelled_read_stops() {
    let array = array("sparse_overwrite");
    let token = CancelToken::new();
    token.cancel();
    assert!(array.read().cancel(token.clone()).cells().unwrap_err().is_cancelled());
    let mut batches = array.read().cancel(token).batches().unwrap();
    assert!(batches.next().unwrap().unwrap_err().is_cancelled());
    assert!(batches.next().is_none(), "after an error there is nothing more");
}

#[test]
fn a_result_beyond_the_memory_limit_is_refused() {
    for name in ["dense_2d_overlap", "sparse_overwrite"] {
        let array = array(name);
        let error = array.read().memory_limit(64).cells().unwrap_err();
        assert!(error.is_over_budget() && !error.is_cancelled(), "{name}: {error}");
        assert!(array.read().memory_limit(1 << 20).cells().is_ok(), "{name}");
    }
}

#[test]
fn progress_ends_with_all_tiles() {
    let array = array("dense_2d_overlap");
    let (tiles, calls) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (seen_tiles, seen_calls) = (Arc::clone(&tiles), Arc::clone(&calls));
    let tell = move |progress: talavera::Progress| {
        tiles.fetch_max(progress.tiles, Ordering::Relaxed);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    array.read().fields(["count"]).on_progress(tell).cells().unwrap();
    let (tiles, calls) = (seen_tiles.load(Ordering::Relaxed), seen_calls.load(Ordering::Relaxed));
    assert!(tiles > 0 && tiles == calls, "{tiles} tiles, {calls} calls");
}

#[test]
fn the_times_of_cells_can_be_read() {
    let array = array("sparse_string_dim");
    let cells = array.read().fields(["id", TIMESTAMPS_FIELD]).range("id", "0"..="1cib").order(Order::RowMajor).cells().unwrap();
    assert_eq!(cells.values::<u64>(TIMESTAMPS_FIELD).unwrap(), [1010, 1010, 1010, 1020]);
    assert_eq!(array.read().range("id", "1cib").values::<u64>(TIMESTAMPS_FIELD).unwrap(), [1020]);
}

#[test]
fn conditions_name_the_values_of_enumerations_in_dense_and_sparse_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let colors = || {
        let values = ["red", "green", "blue"];
        talavera::enumeration("colors", talavera::Datatype::StringUtf8, talavera::CellValNum::Var, true, values).unwrap()
    };
    let indices = [0_u8, 1, 2, 1, 0];
    for (sparse, builder) in [(false, ArrayBuilder::dense()), (true, ArrayBuilder::sparse())] {
        let path = folder.path().join(sparse.to_string());
        let builder = builder.dimension("x", 1..=5_i64, 5).enumerated_attribute::<u8>("color", colors());
        let array = builder.create(&path).unwrap();
        let write = array.write().column("color", &indices);
        let write = if sparse { write.column("x", &[1_i64, 2, 3, 4, 5]) } else { write };
        write.commit().unwrap();
        let array = array.reopen().unwrap();
        let checks: [(&str, &[u8]); 5] = [
            ("color = 'green'", &[1, 1]),
            ("color in ('red', 'blue')", &[0, 2, 0]),
            // Ordered as in the enumeration, not as text.
            ("color >= 'green'", &[1, 2, 1]),
            ("color = 'violet'", &[]),
            ("color != 'violet' and x > 3", &[1, 0]),
        ];
        for (text, expected) in checks {
            let read = array.read().condition(QueryCondition::from_text(text).unwrap()).order(Order::RowMajor);
            let found = read.values::<u8>("color").unwrap();
            // A dense result keeps its shape: other cells are the fill value.
            let found: Vec<u8> = found.into_iter().filter(|&index| sparse || index != u8::MAX).collect();
            assert_eq!(found, expected, "{text}, sparse: {sparse}");
        }
    }
}

#[test]
fn points_must_have_a_coordinate_for_each_dimension() {
    let array = array("sparse_overwrite");
    let error = array.read().points([vec![7_i64, 47, 1]]).cells().unwrap_err();
    assert_eq!(error.to_string(), "a point has 3 coordinates, the array 2 dimensions");
    assert!(array.read().points(std::iter::empty::<[i64; 2]>()).cells().unwrap().is_empty());
}
