//! Arrays and groups as the command makes and changes them, read back by the command.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

/// A folder of its own, in which command lines are run.
struct Sandbox(TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_talavera")).current_dir(self.path()).args(arguments).output().unwrap()
    }

    /// What a command line writes, which must succeed without a word about errors.
    fn written(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit status of a command line that fails, and what it says about that.
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments:?}");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn csv(&self, array: &str) -> String {
        self.written(&["read", array, "--format", "csv"])
    }
}

const SPARSE: &str = r#"{"array_type": "sparse", "capacity": 3,
 "dims": [{"name": "id", "type": "STRING_ASCII"}, {"name": "x", "type": "INT32", "domain": [-10, 10], "tile": 5}],
 "attrs": [
  {"name": "v", "type": "FLOAT32", "nullable": true, "filters": {"filters": [{"type": "BYTESHUFFLE"}, {"type": "ZSTD"}]}},
  {"name": "day", "type": "DATETIME_DAY"},
  {"name": "s", "type": "STRING_UTF8", "cell_val_num": "var"},
  {"name": "rgb", "type": "UINT8", "cell_val_num": 3},
  {"name": "kind", "type": "INT8", "enumeration": "kinds"}],
 "enumerations": {"kinds": {"type": "STRING_UTF8", "values": ["oak", "elm"]}}}"#;

const DENSE: &str = r#"{"array_type": "dense",
 "dims": [{"name": "y", "type": "INT16", "domain": [1, 4], "tile": 2}, {"name": "x", "type": "INT16", "domain": [1, 3], "tile": 2}],
 "attrs": [{"name": "a", "type": "INT32", "fill": -1}]}"#;

const CELLS: &str = "id,x,v,day,s,rgb,kind\n\
                     a,-1,0.5,2020-05-03,one,\"[1, 2, 3]\",0\n\
                     a,2,,2020-05-04,\"two, too\",\"[4, 5, 6]\",1\n\
                     b,0,NaN,1969-12-31,,\"[0, 0, 255]\",0\n";

fn sparse(sandbox: &Sandbox) {
    sandbox.file("schema.json", SPARSE);
    assert_eq!(
        sandbox.written(&["create", "sparse", "--schema", "schema.json", "--timestamp", "1"]),
        "made sparse array sparse\n"
    );
}

fn dense(sandbox: &Sandbox) {
    sandbox.file("schema.json", DENSE);
    sandbox.written(&["create", "dense", "--schema", "schema.json"]);
}

#[test]
fn cells_written_as_csv_are_read_as_the_same_csv() {
    let sandbox = Sandbox::new();
    sparse(&sandbox);
    sandbox.file("cells.csv", CELLS);
    let told = sandbox.written(&["write", "sparse", "--input", "cells.csv", "--timestamp", "1970-01-01T00:00:05"]);
    assert!(told.starts_with("wrote 3 cells as __5000_5000_"), "{told}");
    assert_eq!(sandbox.csv("sparse"), CELLS);
    assert_eq!(sandbox.written(&["count", "sparse"]), "3\n");
    assert_eq!(sandbox.written(&["read", "sparse", "--timestamps", "..4999", "--format", "csv"]).lines().count(), 1);
}

#[test]
fn values_of_enumerations_may_stand_for_their_indices() {
    let sandbox = Sandbox::new();
    sparse(&sandbox);
    let cells = CELLS.replace(",0\n", ",oak\n").replace(",1\n", ",elm\n");
    sandbox.file("cells.csv", &cells);
    sandbox.written(&["write", "sparse", "--input", "cells.csv", "--enum-values"]);
    assert_eq!(sandbox.written(&["read", "sparse", "--format", "csv", "--enum-values"]), cells);
    sandbox.file("more.csv", &cells.replace("oak", "fir"));
    let (status, error) = sandbox.refused(&["write", "sparse", "--input", "more.csv", "--enum-values"]);
    assert_eq!(
        (status, error.as_str()),
        (1, "error: more.csv: line 2: column 'kind': 'fir' is no value of the enumeration 'kinds'\n")
    );
    sandbox.written(&["evolve", "sparse", "--extend", "kinds=fir,ash"]);
    sandbox.written(&["write", "sparse", "--input", "more.csv", "--enum-values"]);
    assert!(sandbox.written(&["read", "sparse", "--format", "csv", "--enum-values"]).contains(",fir\n"));
}

#[test]
fn arrow_streams_come_back_into_an_array() {
    let sandbox = Sandbox::new();
    sparse(&sandbox);
    dense(&sandbox);
    sandbox.file("cells.csv", CELLS);
    sandbox.written(&["write", "sparse", "--input", "cells.csv"]);
    sandbox.file("dense.csv", "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    sandbox.written(&["write", "dense", "--input", "dense.csv"]);
    for name in ["sparse", "dense"] {
        let (json, copy, cells) = (format!("{name}.json"), format!("{name}2"), format!("{name}.arrow"));
        sandbox.file(&json, &sandbox.written(&["schema", name, "--json"]));
        sandbox.written(&["create", &copy, "--schema", &json]);
        sandbox.written(&["read", name, "--format", "arrow", "--output", &cells]);
        sandbox.written(&["write", &copy, "--input", &cells]);
        assert_eq!(sandbox.csv(&copy), sandbox.csv(name));
        let imported = format!("{name}3");
        sandbox.written(&["import", &cells, &imported]);
        assert_eq!(sandbox.written(&["count", &imported]), sandbox.written(&["count", name]));
    }
}

#[test]
fn a_part_of_a_dense_array_is_written_by_ranges_or_coordinates() {
    let sandbox = Sandbox::new();
    dense(&sandbox);
    sandbox.file("part.csv", "a\n1\n2\n3\n4\n");
    let ranges = ["--range", "y=2..3", "--range", "x=1..2"];
    sandbox.written(&[&["write", "dense", "--input", "part.csv", "--order", "col-major"], &ranges[..]].concat());
    let read = |order| sandbox.written(&[&["read", "dense", "--format", "csv", "--order", order], &ranges[..]].concat());
    assert_eq!(read("row-major"), "y,x,a\n2,1,1\n2,2,3\n3,1,2\n3,2,4\n");
    sandbox.file("more.csv", "y,x,a\n4,2,5\n4,3,6\n");
    sandbox.written(&["write", "dense", "--input", "more.csv"]);
    assert_eq!(sandbox.written(&["read", "dense", "--range", "y=4", "--format", "csv"]), "y,x,a\n4,1,-1\n4,2,5\n4,3,6\n");

    sandbox.file("turned.csv", "y,x,a\n4,3,5\n4,2,6\n");
    let (status, error) = sandbox.refused(&["write", "dense", "--input", "turned.csv"]);
    assert!(status == 2 && error.contains("cell 1: coordinate 3 of dimension 'x' does not follow in row-major order"), "{error}");
    let (status, error) = sandbox.refused(&["write", "dense", "--input", "part.csv"]);
    assert!(status == 2 && error.contains("has 12 cells"), "{error}");
    let (status, error) = sandbox.refused(&["write", "dense", "--input", "part.csv", "--range", "z=1"]);
    assert!(status == 2 && error.contains("the array's dimensions are 'y', 'x'"), "{error}");
}

#[test]
fn equal_coordinates_are_refused_unless_the_last_is_to_stay() {
    let sandbox = Sandbox::new();
    sandbox.file("a.csv", "id,v\na,1\nb,2\na,3\n");
    let (status, error) = sandbox.refused(&["import", "a.csv", "array", "--index", "id"]);
    assert_eq!(status, 2, "{error}");
    assert!(!sandbox.path().join("array").exists(), "a failed import leaves nothing behind");
    sandbox.written(&["import", "a.csv", "several", "--index", "id", "--allow-duplicates"]);
    assert_eq!(sandbox.written(&["count", "several"]), "3\n");
    sandbox.file("b.csv", "id,v\nz,0\n");
    sandbox.written(&["import", "b.csv", "single", "--index", "id"]);
    assert_eq!(sandbox.refused(&["write", "single", "--input", "a.csv"]).0, 2);
    sandbox.written(&["write", "single", "--input", "a.csv", "--duplicates", "keep-last"]);
    assert_eq!(sandbox.csv("single"), "id,v\na,3\nb,2\nz,0\n");
}

#[test]
fn an_import_finds_the_datatypes_of_csv_columns() {
    let sandbox = Sandbox::new();
    let lines = "when,n,f,flag,zip,note\n2020-01-01,1,0.5,true,01067,a\n2020-01-02,,2,false,10115,\n";
    sandbox.file("a.csv", lines);
    sandbox.written(&["import", "a.csv", "rows", "--type", "f:FLOAT32", "--filters", "n=zstd:3", "--tile", "1"]);
    let schema = sandbox.written(&["schema", "rows"]);
    for line in ["__row      UINT64  0..1    1", "when       DATETIME_DAY", "n          INT64", "f          FLOAT32"] {
        assert!(schema.contains(line), "{line}\n{schema}");
    }
    assert!(schema.contains("ZSTD (level 3)"), "{schema}");
    let body = sandbox.written(&["read", "rows", "--no-coords", "--format", "csv"]);
    assert_eq!(body, lines.replace("true", "1").replace("false", "0").replace(",2,0,", ",2.0,0,"));

    sandbox.written(&["import", "a.csv", "index", "--index", "when,zip", "--tile", "when=7"]);
    let schema = sandbox.written(&["schema", "index"]);
    assert!(schema.contains("when       DATETIME_DAY  2020-01-01..2020-01-02  2     DOUBLE_DELTA > ZSTD"), "{schema}");
    let found = sandbox.written(&["read", "index", "--range", "zip=01067", "--fields", "when,f", "--format", "csv"]);
    assert_eq!(found, "when,f\n2020-01-01,0.5\n");
}

#[test]
fn parquet_is_imported_and_written() {
    let sandbox = Sandbox::new();
    let columns: [(&str, ArrayRef); 3] = [
        ("x", Arc::new(Int64Array::from(vec![3, 1, 2]))),
        ("v", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.5)]))),
        ("s", Arc::new(StringArray::from(vec!["drei", "eins", "zwei"]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(sandbox.path().join("a.parquet")).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    sandbox.written(&["import", "a.parquet", "array", "--index", "x"]);
    assert_eq!(sandbox.csv("array"), "x,v,s\n1,,eins\n2,2.5,zwei\n3,0.5,drei\n");
    sandbox.written(&["write", "array", "--input", "a.parquet"]);
    assert_eq!(sandbox.written(&["count", "array"]), "3\n");
    sandbox.file("b.parquet", "none");
    let (status, error) = sandbox.refused(&["import", "b.parquet", "other"]);
    assert!(status == 1 && error.starts_with("error: b.parquet: "), "{error}");
}

#[test]
fn conditions_choose_the_cells_of_reads_and_counts() {
    let sandbox = Sandbox::new();
    sparse(&sandbox);
    sandbox.file("cells.csv", CELLS);
    sandbox.written(&["write", "sparse", "--input", "cells.csv"]);
    let read = |condition| sandbox.written(&["read", "sparse", "--fields", "x", "--format", "csv", "--condition", condition]);
    assert_eq!(read("v < 1"), "x\n-1\n");
    assert_eq!(read("v is null or kind in ('oak') and x >= 0"), "x\n2\n0\n");
    assert_eq!(read("day >= '2020-05-04'"), "x\n2\n");
    assert_eq!(sandbox.written(&["count", "sparse", "--condition", "not kind = 'elm'"]), "2\n");
    assert!(sandbox.written(&["scan", "sparse", "--condition", "x = 2"]).starts_with("cells:            1\n"));

    let (status, error) = sandbox.refused(&["read", "sparse", "--condition", "v < 1 and kind is 7"]);
    let expected = "error: --condition:\nv < 1 and kind is 7\n                  ^ expected 'null' or 'not null', found 7\n";
    assert_eq!((status, error.as_str()), (2, expected));
    let (status, error) = sandbox.refused(&["count", "sparse", "--condition", "w = 1"]);
    assert!(status == 2 && error.contains("field 'w' does not exist"), "{error}");
}

#[test]
fn deleted_cells_are_gone_from_their_time_on() {
    let sandbox = Sandbox::new();
    sparse(&sandbox);
    sandbox.file("cells.csv", CELLS);
    sandbox.written(&["write", "sparse", "--input", "cells.csv", "--timestamp", "10"]);
    let (status, error) = sandbox.refused(&["delete", "sparse", "--condition", "v < 1", "--strict", "--timestamp", "20"]);
    assert_eq!(status, 2, "{error}");
    sandbox.written(&["delete", "sparse", "--condition", "x = 2", "--timestamp", "20"]);
    assert_eq!(sandbox.written(&["count", "sparse"]), "2\n");
    assert_eq!(sandbox.written(&["count", "sparse", "--timestamps", "..19"]), "3\n");
}

#[test]
fn attributes_come_and_go() {
    let sandbox = Sandbox::new();
    dense(&sandbox);
    sandbox.file("all.csv", "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    sandbox.written(&["write", "dense", "--input", "all.csv"]);
    sandbox.written(&["evolve", "dense", "--add", "b:STRING_UTF8?", "--drop", "a"]);
    assert_eq!(
        sandbox.written(&["read", "dense", "--range", "y=1", "--format", "csv", "--null", "-"]),
        "y,x,b\n1,1,-\n1,2,-\n1,3,-\n"
    );
    let (status, error) = sandbox.refused(&["evolve", "dense", "--drop", "a"]);
    assert!(status == 2 && error.contains("attribute \"a\""), "{error}");
    let (status, error) = sandbox.refused(&["evolve", "dense"]);
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: say what to change: --add NAME:TYPE, --drop NAME, --extend ENUMERATION=VALUE,VALUE, --add-enumeration \
             NAME:TYPE=VALUE,VALUE, --drop-enumeration NAME or --expand DIM=LO..HI\n"
        )
    );
}

#[test]
fn enumerations_and_the_current_domain_evolve() {
    let sandbox = Sandbox::new();
    dense(&sandbox);
    let schema = |sandbox: &Sandbox| -> serde_json::Value {
        serde_json::from_str(&sandbox.written(&["schema", "dense", "--json"])).unwrap()
    };
    sandbox.written(&["evolve", "dense", "--add-enumeration", "trees:STRING_UTF8=oak,elm", "--add", "tree:UINT8=trees"]);
    sandbox.file("all.csv", "a,tree\n1,oak\n2,elm\n3,oak\n4,oak\n5,oak\n6,oak\n7,oak\n8,oak\n9,oak\n10,oak\n11,oak\n12,elm\n");
    sandbox.written(&["write", "dense", "--input", "all.csv", "--enum-values"]);
    let read = ["read", "dense", "--range", "y=1", "--range", "x=1..2", "--format", "csv", "--enum-values"];
    assert_eq!(sandbox.written(&read), "y,x,a,tree\n1,1,1,oak\n1,2,2,elm\n");
    let (status, error) = sandbox.refused(&["evolve", "dense", "--drop-enumeration", "trees"]);
    assert!(status == 2 && error.contains("trees"), "{error}");
    sandbox.written(&["evolve", "dense", "--drop", "tree"]);
    sandbox.written(&["evolve", "dense", "--drop-enumeration", "trees"]);
    assert!(!schema(&sandbox).to_string().contains("trees"));

    sandbox.written(&["evolve", "dense", "--expand", "y=1..2"]);
    assert_eq!(schema(&sandbox)["current_domain"][0], serde_json::json!([1, 2]));
    sandbox.written(&["evolve", "dense", "--expand", "y=1..4"]);
    assert_eq!(schema(&sandbox)["current_domain"][0], serde_json::json!([1, 4]));
    let (status, error) = sandbox.refused(&["evolve", "dense", "--expand", "y=1..3"]);
    assert!(status == 2 && error.contains("current domain"), "{error}");
}

#[test]
fn metadata_are_set_and_deleted() {
    let sandbox = Sandbox::new();
    dense(&sandbox);
    sandbox.written(&["group", "create", "group"]);
    for object in ["dense", "group"] {
        sandbox.written(&["meta", "put", object, "unit", "STRING_UTF8", "m/s", "--timestamp", "10"]);
        sandbox.written(&["meta", "put", object, "corner", "int32", "-1,2", "--timestamp", "11"]);
        let shown = sandbox.written(&["meta", object, "--json"]);
        assert!(shown.contains(r#""value": [-1,2]"#), "{shown}");
        sandbox.written(&["meta", "delete", object, "corner", "--timestamp", "12"]);
        assert_eq!(sandbox.written(&["meta", object]), "key   type         count  value\nunit  STRING_UTF8      3  m/s\n");
    }
    let (status, error) = sandbox.refused(&["meta", "put", "dense", "n", "INT8", "300"]);
    assert_eq!((status, error.as_str()), (2, "error: '300' is not a value of INT8\n"));
    assert_eq!(sandbox.refused(&["meta"]).0, 2);
}

#[test]
fn groups_have_members_and_objects_move() {
    let sandbox = Sandbox::new();
    dense(&sandbox);
    sandbox.written(&["group", "create", "group"]);
    sandbox.written(&["mv", "dense", "group/one"]);
    sandbox.written(&["cp", "group/one", "group/two"]);
    sandbox.written(&["group", "add", "group", "one", "--name", "first"]);
    sandbox.written(&["group", "add", "group", "two"]);
    assert_eq!(sandbox.written(&["ls", "group"]), "type   name   path\narray  first  one\narray         two\n");
    sandbox.written(&["group", "remove", "group", "two"]);
    assert_eq!(sandbox.written(&["ls", "group"]), "type   name   path\narray  first  one\n");

    let (status, error) = sandbox.refused(&["group", "add", "group", "three"]);
    assert!(status == 1 && error.contains("there is no"), "{error}");
    let (status, error) = sandbox.refused(&["rm", "group"]);
    assert!(status == 2 && error.contains("is a group with a member: --recursive"), "{error}");
    let (status, error) = sandbox.refused(&["cp", "group/one", "group/two"]);
    assert!(status == 2 && error.contains("help: choose another place"), "{error}");
    sandbox.written(&["rm", "group", "--recursive"]);
    assert!(!sandbox.path().join("group/one").exists());
    assert_eq!(sandbox.written(&["rm", "group/two"]), "removed group/two\n");
    let (status, error) = sandbox.refused(&["rm", "group/two"]);
    assert!(status == 1 && error.starts_with("error: group/two: there is no array or group here\nhelp: "), "{error}");
}

#[test]
fn encrypted_arrays_are_made_and_written_with_their_key() {
    let sandbox = Sandbox::new();
    sandbox.file("schema.json", DENSE);
    sandbox.file("key", "0123456789abcdeF0123456789abcdeF\n");
    sandbox.file("part.csv", "y,x,a\n4,2,5\n4,3,6\n");
    let key = ["--key-file", "key"];
    sandbox.written(&[&["create", "secret", "--schema", "schema.json"], &key[..]].concat());
    sandbox.written(&[&["write", "secret", "--input", "part.csv"], &key[..]].concat());
    assert_eq!(sandbox.written(&[&["count", "secret"], &key[..]].concat()), "12\n");
    assert!(sandbox.refused(&["count", "secret"]).1.contains("--key-file"));
}

#[test]
fn errors_name_the_place_in_a_schema_or_file() {
    let sandbox = Sandbox::new();
    let check = |json: &str, expected: &str| {
        sandbox.file("schema.json", json);
        let (status, error) = sandbox.refused(&["create", "array", "--schema", "schema.json"]);
        assert_eq!((status, error), (2, format!("error: --schema schema.json: {expected}\n")));
        assert!(!sandbox.path().join("array").exists());
    };
    check("{", "no JSON: EOF while parsing an object at line 1 column 1");
    check("{}", "the schema: \"array_type\" is missing");
    check(
        &SPARSE.replace("FLOAT32", "REAL"),
        "attrs[0].type: \"REAL\" is not the name of a datatype, such as INT32, FLOAT64 or STRING_UTF8",
    );
    check(&SPARSE.replace("[-10, 10]", "[-10, \"ten\"]"), "dims[1].domain[1]: \"ten\" is not a value of INT32");
    check(
        &SPARSE.replace("\"ZSTD\"", "\"ZSTD\", \"level\": \"x\""),
        "attrs[0].filters.filters[1]: level \"x\" is not a whole number",
    );
    check(&SPARSE.replace("\"elm\"", "\"oak\""), "enumerations.kinds: enumeration \"kinds\": a value occurs twice");
    check(
        &DENSE.replace("\"fill\"", "\"fil\""),
        "attrs[0]: there is no key \"fil\"; the keys are name, type, cell_val_num, nullable, fill, fill_valid, filters, enumeration",
    );
    sparse(&sandbox);
    let refused = |cells: &str| {
        sandbox.file("cells.csv", cells);
        sandbox.refused(&["write", "sparse", "--input", "cells.csv"])
    };
    let line = "error: cells.csv: line 3: column 'x': 'two' is not a value of INT32\n";
    assert_eq!(refused(&CELLS.replace("a,2,", "a,two,")), (1, line.to_owned()));
    assert_eq!(refused("id,x\na,1\n").1, "error: cells.csv: there is no column 'v'\n");
    assert_eq!(refused("id,who\na,1\n").1, "error: the array has no field 'who'\n");
    let (status, error) = refused(&CELLS.replace("a,2,", "a,200,"));
    assert!(status == 2 && error.contains("200"), "{error}");
    let (status, error) = sandbox.refused(&["write", "sparse", "--input", "cells.txt"]);
    assert_eq!((status, error.as_str()), (2, "error: cells.txt: the name must end in .csv, .arrow or .parquet\n"));
    let (status, error) = sandbox.refused(&["create", "sparse", "--schema", "schema.json"]);
    assert!(status == 2 && error.contains("already exists here\nhelp: choose another place"), "{error}");
}
