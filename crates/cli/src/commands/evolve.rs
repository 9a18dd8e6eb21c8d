//! `evolve`: attributes come and go, enumerations grow.

use std::io::Write;

use talavera::{Array, Attribute};

use super::schema::filter::list_from_text;
use crate::args::EvolveArgs;
use crate::error::Error;
use crate::field_text;
use crate::value::Shape;

pub(crate) fn run(args: &EvolveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let filters = list_from_text(&args.filters).map_err(|reason| Error::usage(format!("--filters: {reason}")))?;
    let added = args.add.iter().map(|text| {
        let attribute = field_text::attribute("--add", text)?;
        Ok(Attribute { filters: filters.clone(), ..attribute })
    });
    let added = added.collect::<Result<Vec<_>, Error>>()?;
    if added.is_empty() && args.drop.is_empty() && args.extend.is_empty() {
        return Err(Error::usage("say what to change: --add NAME:TYPE, --drop NAME or --extend ENUMERATION=VALUE,VALUE"));
    }
    let array = args.place.target().open_array()?;
    // Dropped first, an attribute may come back as another one.
    let mut evolve = args.drop.iter().fold(array.evolve(), talavera::Evolve::drop_attribute);
    evolve = added.into_iter().fold(evolve, talavera::Evolve::add_attribute);
    for text in &args.extend {
        let (name, values) = extension(&array, text)?;
        evolve = evolve.extend_enumeration(name, values);
    }
    if let Some(timestamp) = args.when.timestamp {
        evolve = evolve.at(timestamp);
    }
    let schema = evolve.commit()?;
    writeln!(out, "the schema is now {schema}")?;
    Ok(())
}

/// The name of an enumeration, and values to be added to it.
fn extension<'a>(array: &Array, text: &'a str) -> Result<(&'a str, Vec<Vec<u8>>), Error> {
    let usage = |reason: String| Error::usage(format!("--extend {text}: {reason}"));
    let (name, values) = text.split_once('=').ok_or_else(|| usage("write ENUMERATION=VALUE,VALUE".to_owned()))?;
    let enumeration = array.enumeration(name)?;
    let shape = Shape::of_cells(enumeration.datatype(), enumeration.cell_val_num());
    let value = |text: &str| {
        let mut bytes = Vec::new();
        shape.append_text(&mut bytes, text).map(|()| bytes)
    };
    Ok((name, values.split(',').map(value).collect::<Result<_, _>>().map_err(usage)?))
}
