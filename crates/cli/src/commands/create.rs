//! `create`: a new array by a schema.

use std::io::{Read, Write};
use std::path::Path;

use talavera::CreateOptions;

use super::schema::from_json;
use crate::args::{CreateArgs, Place, When};
use crate::error::Error;

pub(crate) fn run(args: &CreateArgs, out: &mut dyn Write) -> Result<(), Error> {
    let text = read_text(&args.schema)?;
    let in_file = |error| match error {
        Error::Usage(reason) => Error::Usage(format!("--schema {}: {reason}", args.schema.display())),
        error => error,
    };
    let (schema, enumerations) = from_json::schema(&text).map_err(in_file)?;
    let options = options(&args.place, &args.when)?;
    let options = enumerations.into_iter().fold(options, CreateOptions::enumeration);
    options.create(&args.place.uri, &schema)?;
    writeln!(out, "made {} array {}", schema.array_type.name(), args.place.uri)?;
    Ok(())
}

/// How to create an array at this place, at this time.
///
/// # Errors
/// When the place is not a local one, and when its key file cannot be read.
pub(crate) fn options(place: &Place, when: &When) -> Result<CreateOptions, Error> {
    let target = place.target();
    target.check_scheme()?;
    let mut options = CreateOptions::new();
    if let Some(key) = target.key()? {
        options = options.key_bytes(&key)?;
    }
    if let Some(timestamp) = when.timestamp {
        options = options.at(timestamp);
    }
    Ok(options)
}

fn read_text(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    read.map_err(|source| Error::File { path: path.to_owned(), source })
}
