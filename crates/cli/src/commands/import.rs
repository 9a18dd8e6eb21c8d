//! `import`: a new array that has the data of a file, and the schema that fits them.

mod dimension;
mod infer;
mod options;

use std::io::Write;

use talavera::{
    ArraySchema, ArrayType, Attribute, CreateOptions, Datatype, Dimension, Enumeration, FieldBuffer, Range, TileExtent,
};

use self::options::Options;
use crate::args::ImportArgs;
use crate::column::Column;
use crate::error::Error;
use crate::input::{self, InputFormat};
use crate::progress::Rows;

/// The data of a file: fields of equal length, each with the attribute that it would be.
#[derive(Debug)]
pub(crate) struct Table {
    /// What the fields are.
    pub(crate) attributes: Vec<Attribute>,
    /// The cells of each.
    pub(crate) fields: Vec<(String, FieldBuffer)>,
    /// The enumerations that attributes refer to.
    pub(crate) enumerations: Vec<Enumeration>,
}

pub(crate) fn run(args: &ImportArgs, out: &mut dyn Write) -> Result<(), Error> {
    let rows = Rows::new("reading");
    let format = InputFormat::of(&args.input)?;
    let mut table = match format {
        InputFormat::Csv => read_csv(args, &rows)?,
        InputFormat::Arrow | InputFormat::Parquet if args.types.is_empty() => input::arrow::table(&args.input, format, &rows)?,
        InputFormat::Arrow | InputFormat::Parquet => {
            return Err(Error::usage("--type: only the columns of csv can be given a datatype; this file says what they are"));
        }
    };
    let count = table.fields.first().map_or(0, |(_, cells)| cells.len());
    let options = Options::new(args, &table)?;
    let schema = if args.index.is_empty() { dense(&mut table, &options, count)? } else { sparse(&mut table, &options, args)? };
    rows.say("writing");
    let create = super::create::options(&args.place, &args.when)?;
    let create = table.enumerations.into_iter().fold(create, CreateOptions::enumeration);
    let array = create.create(&args.place.uri, &schema)?;
    let mut write = array.write().fields(table.fields);
    if let Some(timestamp) = args.when.timestamp {
        write = write.at(timestamp);
    }
    let written = write.commit();
    rows.finish();
    if written.is_err() {
        // Nothing is left of what failed; the first error is the one to tell.
        drop(talavera::remove(&args.place.uri));
    }
    let fragment = written?;
    writeln!(out, "made {} array {}", schema.array_type.name(), args.place.uri)?;
    super::write::tell(out, count, fragment.as_deref())
}

/// The name of the dimension that numbers rows.
const ROW: &str = "__row";
/// Rows of a space tile, unless it is given.
const ROW_TILE: u64 = 10_000;

fn read_csv(args: &ImportArgs, rows: &Rows) -> Result<Table, Error> {
    let names = input::csv::header(&args.input)?;
    let given = args.types.iter().map(|text| crate::field_text::attribute("--type", text)).collect::<Result<Vec<_>, _>>()?;
    if let Some(unknown) = given.iter().find(|given| !names.contains(&given.name)) {
        return Err(Error::usage(format!("--type: there is no column '{}'", unknown.name)));
    }
    let mut kinds: Vec<_> = names.iter().map(|_| infer::Kinds::default()).collect();
    if given.len() < names.len() {
        let looking = Rows::new("looking at");
        input::csv::each_line(&args.input, &looking, |record| {
            for (kinds, text) in kinds.iter_mut().zip(record) {
                kinds.see(if text == args.null { None } else { Some(text) });
            }
            Ok(())
        })?;
    }
    let attributes = names.iter().zip(kinds).map(|(name, kinds)| {
        let given = given.iter().find(|given| given.name == *name).cloned();
        given.unwrap_or_else(|| kinds.attribute(name, args.index.contains(name)))
    });
    let attributes: Vec<_> = attributes.collect();
    let columns = attributes.iter().map(Column::of_attribute).collect();
    let fields = input::csv::read(&args.input, &args.null, columns, rows)?;
    Ok(Table { attributes, fields, enumerations: Vec::new() })
}

/// A dense array with a cell for each row.
fn dense(table: &mut Table, options: &Options, count: usize) -> Result<ArraySchema, Error> {
    let last = (count as u64).checked_sub(1);
    let last = last.ok_or_else(|| Error::usage("the file has no rows: an array without cells is made by `talavera create`"))?;
    let extent = options.tile(ROW).unwrap_or(ROW_TILE).clamp(1, count as u64);
    let row = Dimension::new(ROW, Datatype::UInt64, Range::Unsigned(0, last), Some(TileExtent::Integer(extent)));
    let mut builder = ArraySchema::builder(ArrayType::Dense).dimension(row);
    for attribute in &mut table.attributes {
        attribute.filters = options.filters(&attribute.name, attribute.datatype);
        builder = builder.attribute(attribute.clone());
    }
    build(table.enumerations.iter().fold(builder, talavera::ArraySchemaBuilder::enumeration))
}

/// A sparse array whose coordinates are those of the index columns.
fn sparse(table: &mut Table, options: &Options, args: &ImportArgs) -> Result<ArraySchema, Error> {
    let mut builder = ArraySchema::builder(ArrayType::Sparse).allows_dups(args.allow_duplicates);
    if let Some(capacity) = args.capacity {
        builder = builder.capacity(capacity);
    }
    for name in &args.index {
        let at = table.attributes.iter().position(|attribute| attribute.name == *name);
        let at = at.ok_or_else(|| Error::usage(format!("--index: there is no column '{name}', or it is named twice")))?;
        let attribute = table.attributes.remove(at);
        if attribute.enumeration.is_some() {
            return Err(Error::usage(format!("--index: column '{name}' is a dictionary, which no dimension can be")));
        }
        // Fields go by name; their order does not matter.
        let Some(at) = table.fields.iter().position(|(field, _)| field == name) else { continue };
        let (_, cells) = table.fields.swap_remove(at);
        let (mut made, coordinates) = dimension::of_cells(name, cells, options.tile(name))?;
        made.filters = options.dimension_filters(&made);
        table.fields.push((name.clone(), coordinates));
        builder = builder.dimension(made);
    }
    for attribute in &mut table.attributes {
        attribute.filters = options.filters(&attribute.name, attribute.datatype);
        builder = builder.attribute(attribute.clone());
    }
    build(table.enumerations.iter().fold(builder, talavera::ArraySchemaBuilder::enumeration))
}

fn build(builder: talavera::ArraySchemaBuilder) -> Result<ArraySchema, Error> {
    builder.build().map_err(|error| Error::usage(error.to_string()))
}
