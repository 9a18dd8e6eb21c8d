//! `meta`: the metadata of an array or group, to look at and to change.

use std::io::Write;

use serde_json::{Value, json};
use talavera::{ArrayMetadata, MetadataEdit, MetadataValue};

use crate::args::{MetaArgs, MetaChange, Place, Target, When};
use crate::error::Error;
use crate::field_text;
use crate::format::json::write_value;
use crate::format::table::{shortened, write_table};
use crate::target::Object;
use crate::value::Shape;

pub(crate) fn run(args: &MetaArgs, out: &mut dyn Write) -> Result<(), Error> {
    match (&args.change, &args.target) {
        (Some(MetaChange::Put { place, key, datatype, value, when }), _) => {
            let value = value_of(datatype, value)?;
            change(place, when, |edit| edit.put(key.as_str(), value))?;
            writeln!(out, "set {key}")?;
        }
        (Some(MetaChange::Delete { place, key, when }), _) => {
            change(place, when, |edit| edit.delete(key.as_str()))?;
            writeln!(out, "deleted {key}")?;
        }
        (None, Some(target)) => show(target, args.json, out)?,
        (None, None) => return Err(Error::usage("which array or group? write `talavera meta URI`")),
    }
    Ok(())
}

/// The value that a text spells.
fn value_of(datatype: &str, text: &str) -> Result<MetadataValue, Error> {
    let datatype = field_text::datatype(datatype).map_err(Error::usage)?;
    let mut bytes = Vec::new();
    Shape::list(datatype).append_text(&mut bytes, text).map_err(Error::usage)?;
    MetadataValue::new(datatype, bytes).map_err(|error| Error::usage(error.to_string()))
}

fn change(place: &Place, when: &When, edit: impl for<'a> FnOnce(MetadataEdit<'a>) -> MetadataEdit<'a>) -> Result<(), Error> {
    let at = |edit: MetadataEdit<'_>| match when.timestamp {
        Some(timestamp) => edit.at(timestamp).commit(),
        None => edit.commit(),
    };
    match place.target().open()? {
        Object::Array(array) => at(edit(array.edit_metadata())),
        Object::Group(group) => at(edit(group.edit_metadata())),
    }?;
    Ok(())
}

fn show(target: &Target, as_json: bool, out: &mut dyn Write) -> Result<(), Error> {
    match target.open()? {
        Object::Array(array) => write(array.metadata()?, as_json, out),
        Object::Group(group) => write(group.metadata(), as_json, out),
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
