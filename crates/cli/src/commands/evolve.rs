//! `evolve`: attributes and enumerations come and go, enumerations and the current domain grow.

use std::io::Write;

use talavera::{Array, Attribute, CellValNum, Datatype, Enumeration, NdRange};

use super::schema::filter::list_from_text;
use crate::args::EvolveArgs;
use crate::error::Error;
use crate::value::Shape;
use crate::{field_text, range};

pub(crate) fn run(args: &EvolveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let filters = list_from_text(&args.filters).map_err(|reason| Error::usage(format!("--filters: {reason}")))?;
    let added = args.add.iter().map(|text| Ok(Attribute { filters: filters.clone(), ..attribute(text)? }));
    let added = added.collect::<Result<Vec<_>, Error>>()?;
    let enumerations = args.add_enumeration.iter().map(|text| enumeration(text)).collect::<Result<Vec<_>, _>>()?;
    let named = [&args.drop, &args.drop_enumeration, &args.extend, &args.expand];
    if added.is_empty() && enumerations.is_empty() && named.iter().all(|names| names.is_empty()) {
        return Err(Error::usage(
            "say what to change: --add NAME:TYPE, --drop NAME, --extend ENUMERATION=VALUE,VALUE, --add-enumeration \
             NAME:TYPE=VALUE,VALUE, --drop-enumeration NAME or --expand DIM=LO..HI",
        ));
    }
    let array = args.place.target().open_array()?;
    let mut evolve = enumerations.into_iter().fold(array.evolve(), talavera::Evolve::add_enumeration);
    // Dropped first, an attribute may come back as another one.
    evolve = args.drop.iter().fold(evolve, talavera::Evolve::drop_attribute);
    evolve = args.drop_enumeration.iter().fold(evolve, talavera::Evolve::drop_enumeration);
    evolve = added.into_iter().fold(evolve, talavera::Evolve::add_attribute);
    for text in &args.extend {
        let (name, values) = extension(&array, text)?;
        evolve = evolve.extend_enumeration(name, values);
    }
    if !args.expand.is_empty() {
        evolve = evolve.expand_current_domain(current_domain(&array, &args.expand)?);
    }
    if let Some(timestamp) = args.when.timestamp {
        evolve = evolve.at(timestamp);
    }
    let schema = evolve.commit()?;
    writeln!(out, "the schema is now {schema}")?;
    Ok(())
}

/// The attribute of `NAME:TYPE[?]`, or of `NAME:TYPE[?]=ENUMERATION`.
fn attribute(text: &str) -> Result<Attribute, Error> {
    let described = text.rfind(':').unwrap_or(0);
    let equals = text.get(described..).and_then(|described| described.find('='));
    let Some((field, name)) = equals.and_then(|at| text.split_at_checked(described + at)) else {
        return field_text::attribute("--add", text);
    };
    let enumeration = name.strip_prefix('=').map(str::to_owned);
    Ok(Attribute { enumeration, ..field_text::attribute("--add", field)? })
}

/// The enumeration of `NAME:TYPE=VALUE,VALUE`, unordered.
fn enumeration(text: &str) -> Result<Enumeration, Error> {
    let usage = |reason: String| Error::usage(format!("--add-enumeration {text}: {reason}"));
    let (field, values) = text.split_once('=').unwrap_or((text, ""));
    let Attribute { name, datatype, cell_val_num, .. } = field_text::attribute("--add-enumeration", field)?;
    let values = values_of(datatype, cell_val_num, values).map_err(usage)?;
    Ok(talavera::enumeration(name, datatype, cell_val_num, false, values)?)
}

/// The name of an enumeration, and values to be added to it.
fn extension<'a>(array: &Array, text: &'a str) -> Result<(&'a str, Vec<Vec<u8>>), Error> {
    let usage = |reason: String| Error::usage(format!("--extend {text}: {reason}"));
    let (name, values) = text.split_once('=').ok_or_else(|| usage("write ENUMERATION=VALUE,VALUE".to_owned()))?;
    let enumeration = array.enumeration(name)?;
    Ok((name, values_of(enumeration.datatype(), enumeration.cell_val_num(), values).map_err(usage)?))
}

/// The values in a text, divided by commas; an empty text has none.
fn values_of(datatype: Datatype, cell_val_num: CellValNum, text: &str) -> Result<Vec<Vec<u8>>, String> {
    let shape = Shape::of_cells(datatype, cell_val_num);
    let value = |text: &str| {
        let mut bytes = Vec::new();
        shape.append_text(&mut bytes, text).map(|()| bytes)
    };
    text.split(',').filter(|_| !text.is_empty()).map(value).collect()
}

/// The current domain of an array, or its domain where it has none, with the ranges of these arguments in their place.
fn current_domain(array: &Array, arguments: &[String]) -> Result<NdRange, Error> {
    let schema = array.schema();
    let domain = schema.domain.dimensions.iter().map(|dimension| dimension.domain.clone());
    let mut ranges: Vec<_> = match &schema.current_domain {
        Some(current) => current.0.iter().cloned().map(Some).collect(),
        None => domain.collect(),
    };
    for text in arguments {
        let (dimension, range) = range::from_argument("--expand", text, schema, schema.current_domain.as_ref())?;
        if let Some(target) = ranges.get_mut(dimension) {
            *target = Some(range);
        }
    }
    let named = ranges.into_iter().zip(&schema.domain.dimensions);
    let ranges = named.map(|(range, dimension)| {
        let missing = || Error::usage(format!("--expand: dimension '{}' has no domain; say its range, too", dimension.name));
        range.ok_or_else(missing)
    });
    Ok(NdRange(ranges.collect::<Result<_, _>>()?))
}
