//! The command as it is run: what it writes, where, and with which exit status.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::Read;
use std::process::{Command, Output, Stdio};

/// The key of `dense_encrypted`.
const KEY: &str = "0123456789abcdeF0123456789abcdeF";

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_talavera"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What a command line writes, which must succeed without a word about errors.
fn written(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit status of a command line that fails, and what it says about that.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn check(arguments: &[&str], expected: &[&str]) {
    assert_eq!(written(arguments).lines().collect::<Vec<_>>(), expected, "{arguments:?}");
}

#[test]
fn a_table_sets_numbers_to_the_right_and_counts_the_cells() {
    check(
        &["read", "dense_2d_overlap", "--range", "y=2", "--range", "x=3..5"],
        &[
            "y  x                temp        count",
            "2  3   7342.040347293394   -688574576",
            "2  4   859.8497699361742  -2104063334",
            "2  5  -2268.229323958233   -724248193",
            "3 cells",
        ],
    );
    check(
        &["read", "sparse_nullable", "--limit", "3"],
        &[
            " x   y           i  s     vi                           all_null",
            "14  99  1213196044  null  [4840, 25257, 22982, 25938]      null",
            "19  15        null  null  [12305, 17519]                   null",
            "23   8  -908854360  Akt   null                             null",
            "first 3 cells",
        ],
    );
}

#[test]
fn a_table_of_many_cells_shows_both_ends() {
    let table = written(&["read", "dense_2d_overlap", "--fields", "y,x,count"]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 20 + 1 + 20 + 1);
    assert_eq!(lines[20], "3  2   -319924449");
    assert_eq!(lines[21], "…  …            …");
    assert_eq!(lines[22], "5  8   1113443298");
    assert_eq!(lines[41], "7  9  -2147483648");
    assert_eq!(lines[42], "63 cells");
    // Columns first, the ends are other ones.
    let table = written(&["read", "dense_2d_overlap", "--fields", "y,x,count", "--order", "col-major"]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!((lines[20], lines[22], lines[42]), ("6  3    219593652", "2  7   -868844977", "63 cells"));
}

#[test]
fn csv_has_a_header_coordinates_and_a_word_for_null() {
    check(
        &["read", "dense_2d_overlap", "--range", "y=1..2", "--range", "x=1..2", "--order", "col-major", "--format", "csv"],
        &[
            "y,x,temp,count",
            "1,1,2968.105242623449,921486184",
            "2,1,5035.4975255853315,50989491",
            "1,2,2682.856023925635,-1904289009",
            "2,2,-7712.217046051148,-488864144",
        ],
    );
    check(
        &["read", "dense_2d_overlap", "--range", "y=..2", "--range", "x=9", "--no-coords", "--format", "csv"],
        &["temp,count", "5090.547099387981,-1787798166", "-3635.4686586905864,-890223463"],
    );
    check(
        &["read", "sparse_nullable", "--format", "csv", "--null", "NULL", "--limit", "2", "--fields", "x,i,s,vi"],
        &["x,i,s,vi", "14,1213196044,NULL,\"[4840, 25257, 22982, 25938]\"", "19,NULL,NULL,\"[12305, 17519]\""],
    );
}

#[test]
fn json_of_dense_cells_has_a_layout_and_no_coordinates() {
    check(
        &["read", "dense_2d_overlap", "--range", "y=2", "--range", "x=3..4", "--format", "json", "--timestamps", "..1015"],
        &[
            "{",
            " \"at\": 1015,",
            " \"layout\": \"row-major\",",
            " \"subarray\": [[2,2],[3,4]],",
            " \"count\": 2,",
            " \"attrs\": {",
            "  \"temp\": [1211.4406165803866,-8758.755949210863],",
            "  \"count\": [-1127631803,-1032653559]",
            " }",
            "}",
        ],
    );
}

#[test]
fn json_of_sparse_cells_is_sorted_by_their_coordinates() {
    check(
        &["read", "sparse_string_dim", "--range", "id=\"3\"..\"A\"", "--format", "json"],
        &[
            "{",
            " \"at\": null,",
            " \"subarray\": [[\"3\",\"A\"]],",
            " \"count\": 1,",
            " \"dims\": {",
            "  \"id\": [\"3\"]",
            " },",
            " \"attrs\": {",
            "  \"v\": [365530695],",
            "  \"s\": [\"ttisc \"]",
            " }",
            "}",
        ],
    );
}

#[test]
fn enumerations_are_shown_as_indices_or_values() {
    let arguments = ["read", "enumerations_sparse_evolved", "--range", "x=22..33", "--format", "csv"];
    check(&arguments, &["x,y,a,b", "22,79,0,0", "30,90,2,0", "33,41,1,0"]);
    let values = [&arguments[..], &["--enum-values"]].concat();
    check(&values, &["x,y,a,b", "22,79,añ,lo", "30,90,c✓,lo", "33,41,b,lo"]);
}

#[test]
fn dates_are_read_and_written_as_iso_dates_except_in_json() {
    let date = "a=1969-12-31T23:59:59.999991079";
    check(
        &["read", "sparse_datetime_dims", "--range", date, "--format", "csv"],
        &["a,b,v,n", "1969-12-31T23:59:59.999991079,1970-01-01T00:00:00.000000116,1970-01-02T06:16:07.470995,63002822"],
    );
    let json = written(&["read", "sparse_datetime_dims", "--range", date, "--format", "json", "--fields", "a,n"]);
    assert!(json.contains("\"a\": [-8921]\n"), "{json}");
}

#[test]
fn arrow_goes_to_a_file_as_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.arrows");
    let arguments = ["read", "sparse_nullable", "--format", "arrow", "--output", path.to_str().unwrap()];
    assert_eq!(written(&arguments), "");
    let stream = std::fs::read(path).unwrap();
    // Every message begins with four 0xff, and so does the end mark, which has no length.
    assert_eq!(stream[..4], [0xff; 4]);
    assert_eq!(stream[stream.len() - 8..], [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let arguments = |threads| ["read", "sparse_string_dim", "--format", "json", "--threads", threads];
    assert_eq!(written(&arguments("1")), written(&arguments("4")));
}

#[test]
fn info_says_in_short_what_there_is() {
    check(
        &["info", "sparse_string_dim"],
        &[
            "sparse array, format version 22",
            "dimensions:        id",
            "attributes:        v, s",
            "non-empty domain:  id=\"0Bwui\"..\"x\"",
            "fragments:         2",
            "cells stored:      29",
            "bytes of data:     1660",
            "written:           1970-01-01T00:00:01.010..1970-01-01T00:00:01.020",
            "metadata:          0 keys",
        ],
    );
    check(&["info", "group_members", "--json"], &["{\"kind\":\"group\",\"members\":2,\"metadata\":2}"]);
}

#[test]
fn the_schema_is_shown_with_filters_and_enumerations() {
    check(
        &["schema", "enumerations_sparse_evolved"],
        &[
            "sparse array, format version 22",
            "cells row-major, tiles row-major, 6 cells a tile, duplicates refused",
            "",
            "dimension  type   domain  tile  filters",
            "x          INT64  1..100  10    ZSTD",
            "y          INT64  1..100  20    ZSTD",
            "",
            "attribute  type   fill  enumeration",
            "a          UINT8  255   kinds",
            "b          INT16  0     later",
            "",
            "enumeration  type          ordered  count  values",
            "kinds        STRING_UTF8            3      añ, b, c✓",
            "later        STRING_ASCII  yes      3      lo, mid, hi",
            "",
        ],
    );
}

#[test]
fn fragments_are_listed_oldest_first() {
    check(
        &["fragments", "dense_2d_overlap"],
        &[
            "fragment                                         version  written                  kind   cells  bytes  \
             non-empty domain",
            "__1010_1010_6da3fd0c1dea4dd3611c335b1a808719_22       22  1970-01-01T00:00:01.010  dense     72    985  \
             y=1..4 x=1..9",
            "__1020_1020_106e71fab45107caca1842771965c0d4_22       22  1970-01-01T00:00:01.020  dense     48    716  \
             y=2..6 x=3..8",
        ],
    );
}

#[test]
fn members_of_groups_and_objects_in_folders_are_listed() {
    check(&["ls", "group_members"], &["type   name  path", "array  one   first", "group  two   sub"]);
    let below = written(&["ls", "group_members", "--recursive", "--json"]);
    let paths = below.lines().filter_map(|line| Some(line.split_once("\"path\":")?.1));
    assert_eq!(paths.collect::<Vec<_>>(), ["\"first\"},", "\"sub\"},", "\"sub/second\"}"]);
    assert!(written(&["ls", "."]).contains("array        dense_2d_overlap\n"));
}

#[test]
fn metadata_are_shown_with_their_types() {
    let table = written(&["meta", "metadata_types"]);
    assert!(table.contains("k_uint64                 UINT64            2  [13077867708431191276, 12202705548807764950]\n"));
    let json = written(&["meta", "metadata_types", "--json"]);
    assert!(json.contains(" \"utf8\": {\"type\":\"STRING_UTF8\",\"num\":11,\"value\":\"grüße ✓\"}\n"));
}

#[test]
fn a_scan_counts_what_it_throws_away() {
    let totals = written(&["scan", "dense_2d_overlap"]);
    let starts = ["cells:            63", "bytes on disk:    ", "bytes in memory:  756", "seconds:          0."];
    assert_eq!(totals.lines().count(), starts.len());
    for (line, start) in totals.lines().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
}

#[test]
fn stats_are_a_line_for_each_field() {
    let arguments = ["stats", "dense_2d_overlap", "--range", "y=2..3", "--range", "x=3..4", "--fields", "y,count"];
    let table = [
        "field  type   nulls          min        max          sum           mean",
        "y      INT64                   2          3           10            2.5",
        "count  INT32         -2104063334  972920282  -2994445715  -748611428.75",
        "4 cells",
    ];
    assert_eq!(written(&arguments).lines().collect::<Vec<_>>(), table);
    let json = written(&["stats", "dense_2d_overlap", "--fields", "count", "--condition", "count < -2000000000", "--json"]);
    let entries =
        [" \"cells\": 2,", "\"min\": -2104063334,", "\"max\": -2073253985,", "\"sum\": -4177317319,", "\"mean\": -2088658659.5"];
    assert!(entries.iter().all(|entry| json.contains(entry)), "{json}");
}

#[test]
fn uris_of_files_are_paths() {
    let uri = concat!("file://", env!("CARGO_MANIFEST_DIR"), "/tests/data/dense_2d_overlap");
    assert_eq!(written(&["info", uri]), written(&["info", "dense_2d_overlap"]));
}

#[test]
fn encrypted_arrays_need_their_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, key: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, key).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let right = file("right", &format!("{KEY}\n"));
    let lines = written(&["read", "dense_encrypted", "--key-file", &right, "--limit", "1", "--format", "csv"]);
    assert_eq!(lines, "r,c,v,s\n1,1,-1675.8625091232643,kh\n");

    let (status, error) = refused(&["read", "dense_encrypted"]);
    assert_eq!(status, 1);
    assert!(error.contains("dense_encrypted/__schema/") && error.contains("encrypted with AES_256_GCM"), "{error}");
    assert!(error.ends_with("help: give the array's own key of 32 bytes with --key-file\n"), "{error}");

    let wrong = file("wrong", "0123456789abcdeF0123456789abcdeG");
    let (status, error) = refused(&["read", "dense_encrypted", "--key-file", &wrong]);
    assert!(status == 1 && error.contains("wrong encryption key or altered tile"), "{error}");

    let short = file("short", "0123");
    let (status, error) = refused(&["read", "dense_encrypted", "--key-file", &short]);
    assert_eq!((status, error), (2, format!("error: --key-file {short}: a key has 32 bytes, the file has 4\n")));
}

#[test]
fn errors_name_what_is_wrong_and_what_would_fit() {
    let (status, error) = refused(&["read", "nowhere"]);
    assert!(status == 1 && error.contains("nowhere: there is no array here\nhelp: `talavera ls`"), "{error}");
    let (status, error) = refused(&["ls", "nowhere"]);
    assert!(status == 1 && error.contains("nowhere: there is no folder here"), "{error}");
    let checks = [
        (&["--range", "z=1"][..], "error: --range z=1: there is no such dimension; the array's dimensions are 'y', 'x'\n"),
        (&["--range", "y=a..b"], "error: --range y=a..b: 'a' is not a value of INT64\n"),
        (&["--range", "y=0..9"], "error: the range [0, 9] of dimension 'y' reaches out of the domain [1, 7]\n"),
        (&["--fields", "tmp"], "error: --fields: there is no field 'tmp'; the array has 'y', 'x', 'temp', 'count'\n"),
        (&["--fields", "x,x"], "error: --fields: 'x' is named twice\n"),
    ];
    for (arguments, expected) in checks {
        let arguments = [&["read", "dense_2d_overlap"], arguments].concat();
        assert_eq!(refused(&arguments), (2, expected.to_owned()));
    }
    assert_eq!(refused(&["info", "s3://bucket/array"]).0, 2);
    assert_eq!(refused(&["read", "dense_2d_overlap", "--order", "best"]).0, 2);
    assert_eq!(refused(&["read"]).0, 2);
    assert_eq!(run(&["read", "--help"]).status.code(), Some(0));
}

#[test]
fn a_result_that_does_not_fit_into_memory_is_refused() {
    // 63 cells of 12 bytes fit into a MiB; 12 000 times as many do not.
    assert!(written(&["read", "dense_2d_overlap", "--format", "json", "--memory", "1MiB"]).contains("\"count\": 63"));
    let many = std::iter::repeat_n(["--range", "y=1..7"], 12_000).flatten();
    let (status, error) = refused(
        &["read", "dense_2d_overlap", "--format", "json", "--memory", "1MiB"].into_iter().chain(many).collect::<Vec<_>>(),
    );
    assert!(status == 2 && error.contains("do not fit into 1048576 bytes of memory: narrow --range"), "{error}");
}

#[test]
fn ranges_may_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ranges");
    std::fs::write(&file, "x=7\n\nx=13..19\ny=..50\n").unwrap();
    let file = file.to_str().unwrap();
    let same = ["read", "sparse_overwrite", "--format", "csv", "--range", "x=7", "--range", "x=13..19", "--range", "y=..50"];
    assert_eq!(written(&["read", "sparse_overwrite", "--format", "csv", "--ranges-from", file]), written(&same));
    assert_eq!(written(&["count", "sparse_overwrite", "--ranges-from", file, "--memory", "64MB"]), "3\n");
    std::fs::write(file, "x=7\nx=a..b\n").unwrap();
    let (status, error) = refused(&["count", "sparse_overwrite", "--ranges-from", file]);
    assert!(status == 1 && error.contains("line 2: 'a' is not a value of INT64"), "{status} {error}");
}

#[test]
fn a_plan_names_fragments_and_costs() {
    let plan = written(&["explain", "dense_2d_overlap", "--range", "y=7", "--fields", "count"]);
    assert!(plan.contains("hidden by newer fragments") || plan.contains("outside of the ranges"), "{plan}");
    let json: serde_json::Value =
        serde_json::from_str(&written(&["explain", "sparse_overwrite", "--range", "x=1..50", "--json"])).unwrap();
    assert!(json["total"]["tiles"].as_u64().unwrap() > 0 && json["fragments"].as_array().unwrap().len() > 1, "{json}");
}

#[test]
fn the_parts_of_a_read_together_print_what_the_read_prints() {
    for array in ["dense_2d_overlap", "sparse_overwrite", "sparse_string_dim"] {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().to_str().unwrap();
        let listed = written(&["split", array, "--parts", "3", "--output", output]);
        let mut lines: Vec<String> = Vec::new();
        for line in listed.lines() {
            let (file, _) = line.split_once(": ").unwrap();
            lines.extend(written(&["read", array, "--part", file, "--format", "csv"]).lines().skip(1).map(str::to_owned));
        }
        let whole = written(&["read", array, "--format", "csv"]);
        let mut expected: Vec<&str> = whole.lines().skip(1).collect();
        expected.sort_unstable();
        lines.sort_unstable();
        assert_eq!(lines, expected, "{array}");
    }
    let (status, error) = refused(&["read", "sparse_overwrite", "--part", "Cargo.toml"]);
    assert!(status == 1 && error.contains("Cargo.toml"), "{error}");
}

#[test]
fn a_damaged_file_is_named_with_the_field_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("array/__schema");
    std::fs::create_dir_all(&schema).unwrap();
    std::fs::write(schema.join("__1_1_00000000000000000000000000000001"), [22, 0, 0, 0, 1]).unwrap();
    let (status, error) = refused(&["info", folder.path().join("array").to_str().unwrap()]);
    assert_eq!(status, 1);
    assert!(error.contains("array/__schema/__1_1_00000000000000000000000000000001: "), "{error}");
    assert!(error.contains("needs 8 bytes, 1 left (at byte 4)"), "{error}");
}

#[test]
fn output_that_nobody_reads_any_more_ends_in_silence() {
    // Wide enough for the pipe to fill up before the command is done.
    let wide = "n".repeat(100_000);
    for format in ["csv", "json", "arrow", "table"] {
        let arguments = ["read", "sparse_nullable", "--format", format, "--null", &wide];
        let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!((child.wait().unwrap().code(), error.as_str()), (Some(0), ""), "{format}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let (status, error) = refused(&["read", "dense_2d_overlap", "--output", "nowhere/cells"]);
    assert!(status == 1 && error.starts_with("error: nowhere/cells: "), "{error}");
}
