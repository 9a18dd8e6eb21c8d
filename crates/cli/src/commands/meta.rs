//! `meta`: the metadata of an array or group.

use std::io::Write;

use serde_json::{Value, json};
use talavera::{ArrayMetadata, MetadataValue};

use crate::args::Described;
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::{shortened, write_table};
use crate::target::Object;
use crate::value::Shape;

pub(crate) fn run(args: &Described, out: &mut dyn Write) -> Result<(), Error> {
    match args.target.open()? {
        Object::Array(array) => write(array.metadata()?, args.json, out),
        Object::Group(group) => write(group.metadata(), args.json, out),
    }
}

fn write(metadata: &ArrayMetadata, as_json: bool, out: &mut dyn Write) -> Result<(), Error> {
    if as_json {
        let object: Value = metadata.iter().map(|(key, value)| (key_text(key), json(value))).collect();
        return Ok(write_value(out, &object)?);
    }
    let lines = metadata.iter().map(|(key, value)| {
        let mut text = String::new();
        Shape::list(value.datatype()).write_text(&mut text, value.bytes());
        vec![shortened(&key_text(key)), value.datatype().name().to_owned(), value.count().to_string(), shortened(&text)]
    });
    let header = ["key", "type", "count", "value"].map(str::to_owned).to_vec();
    write_table(out, header, lines.collect(), &[false, false, true, false])
}

/// The reference counts a value without elements as one, of nothing.
fn json(value: &MetadataValue) -> Value {
    let elements = Shape::list(value.datatype()).json(value.bytes());
    let (count, elements) = if value.count() == 0 { (1, Value::Null) } else { (value.count(), elements) };
    json!({ "type": value.datatype().name(), "num": count, "value": elements })
}

fn key_text(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}
