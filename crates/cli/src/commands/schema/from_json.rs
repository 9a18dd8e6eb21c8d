//! The schema that JSON describes: the inverse of what `schema --json` writes.

mod node;

use std::num::NonZeroU32;

use talavera::{
    ArraySchema, ArrayType, Attribute, CellValNum, DataOrder, Datatype, Dimension, DimensionLabel, Enumeration, FilterList,
    FilterSpec, FilterType, FormatVersion, Layout, NdRange, Range, TileExtent,
};

use self::node::{Entries, Node};
use crate::error::Error;
use crate::value::{Num, Shape, is_signed};

/// Reads a schema and its enumerations, whose files get new names.
///
/// What is left out gets the default of new arrays; a dimension without filters has the coordinates'. Unknown keys are
/// refused.
///
/// # Errors
/// [`Error::Usage`] with the place of what is wrong; for a schema that breaks a rule, its own error.
pub(crate) fn schema(text: &str) -> Result<(ArraySchema, Vec<Enumeration>), Error> {
    let value = serde_json::from_str(text).map_err(|error| Error::usage(format!("no JSON: {error}")))?;
    let root = Node::root(&value).entries(&[
        "array_type",
        "format_version",
        "cell_order",
        "tile_order",
        "capacity",
        "allows_dups",
        "coords_filters",
        "offsets_filters",
        "validity_filters",
        "dims",
        "attrs",
        "enumerations",
        "current_domain",
        "dimension_labels",
    ])?;
    let array_type = root.required("array_type")?.named("dense or sparse", ArrayType::from_name)?;
    let mut builder = ArraySchema::builder(array_type);
    if let Some(version) = root.optional("format_version") {
        builder = builder.version(format_version(&version)?);
    }
    if let Some(order) = root.optional("cell_order") {
        builder = builder.cell_order(order.named("row-major, col-major or hilbert", Layout::from_name)?);
    }
    if let Some(order) = root.optional("tile_order") {
        builder = builder.tile_order(order.named("row-major or col-major", Layout::from_name)?);
    }
    if let Some(capacity) = root.optional("capacity") {
        builder = builder.capacity(capacity.unsigned()?);
    }
    if let Some(allows_dups) = root.optional("allows_dups") {
        builder = builder.allows_dups(allows_dups.boolean()?);
    }
    let mut coords_filters = FilterList::new(vec![FilterSpec::Zstd { level: -1 }]);
    if let Some(filters) = root.optional("coords_filters") {
        coords_filters = filter_list(&filters)?;
        builder = builder.coords_filters(coords_filters.clone());
    }
    if let Some(filters) = root.optional("offsets_filters") {
        builder = builder.offsets_filters(filter_list(&filters)?);
    }
    if let Some(filters) = root.optional("validity_filters") {
        builder = builder.validity_filters(filter_list(&filters)?);
    }
    let dimensions: Vec<_> =
        root.required("dims")?.list()?.iter().map(|node| dimension(node, &coords_filters)).collect::<Result<_, _>>()?;
    let attributes: Vec<_> = root.list_or_none("attrs")?.iter().map(attribute).collect::<Result<_, Error>>()?;
    let enumerations: Vec<_> = match root.optional("enumerations") {
        Some(node) => node.pairs()?.iter().map(|(name, node)| enumeration(name, node)).collect::<Result<_, Error>>()?,
        None => Vec::new(),
    };
    if let Some(node) = root.optional("current_domain") {
        builder = builder.current_domain(current_domain(&node, &dimensions)?);
    }
    let images = attributes_of_images(attributes, &dimensions);
    builder = dimensions.into_iter().fold(builder, talavera::ArraySchemaBuilder::dimension);
    builder = images.into_iter().fold(builder, talavera::ArraySchemaBuilder::attribute);
    for (number, node) in root.list_or_none("dimension_labels")?.iter().enumerate() {
        builder = builder.label(label(number, node)?);
    }
    builder = enumerations.iter().fold(builder, talavera::ArraySchemaBuilder::enumeration);
    let schema = builder.build().map_err(|error| Error::usage(error.to_string()))?;
    Ok((schema, enumerations))
}

fn format_version(node: &Node<'_>) -> Result<FormatVersion, Error> {
    let number = u32::try_from(node.unsigned()?).ok().and_then(|number| FormatVersion::new(number).ok());
    number
        .filter(|version| version.can_be_created())
        .ok_or_else(|| node.refused("new arrays cannot be of this format version; leave it out for the usual one"))
}

fn dimension(node: &Node<'_>, coords_filters: &FilterList) -> Result<Dimension, Error> {
    let entries = node.entries(&["name", "type", "cell_val_num", "domain", "tile", "filters"])?;
    let name = entries.required("name")?.text()?;
    let datatype = datatype(&entries)?;
    let mut dimension = match entries.optional("domain") {
        Some(domain) => {
            let tile = entries.optional("tile").map(|tile| tile_extent(&tile, datatype)).transpose()?;
            Dimension::new(name, datatype, range(&domain, datatype)?, tile)
        }
        None if datatype == Datatype::StringAscii => Dimension::string(name),
        None => return Err(node.refused(format!("a dimension of {datatype} needs a \"domain\", [low, high]"))),
    };
    if let Some(node) = entries.optional("filters") {
        let filters = filter_list(&node)?;
        dimension.filters = match (filters.is_empty(), filters == *coords_filters) {
            // The coordinates' filters are those of dimensions that have none.
            (_, true) => FilterList::new(Vec::new()),
            (true, _) if !coords_filters.is_empty() => FilterList::new(vec![FilterSpec::None]),
            _ => filters,
        };
    }
    Ok(dimension)
}

fn attribute(node: &Node<'_>) -> Result<Attribute, Error> {
    let entries = node.entries(&["name", "type", "cell_val_num", "nullable", "fill", "fill_valid", "filters", "enumeration"])?;
    let name = entries.required("name")?.text()?;
    let datatype = datatype(&entries)?;
    let mut attribute = match entries.optional("cell_val_num") {
        Some(node) => Attribute::with_cell_val_num(name, datatype, cell_val_num(&node)?),
        None => Attribute::new(name, datatype),
    };
    if let Some(nullable) = entries.optional("nullable") {
        attribute.nullable = nullable.boolean()?;
    }
    if let Some(fill) = entries.optional("fill") {
        let shape = Shape::of_cells(datatype, attribute.cell_val_num);
        attribute.fill_value = bytes(&fill, shape)?;
    }
    if let Some(valid) = entries.optional("fill_valid") {
        attribute.fill_validity = valid.boolean()?;
    }
    if let Some(filters) = entries.optional("filters") {
        attribute.filters = filter_list(&filters)?;
    }
    if let Some(enumeration) = entries.optional("enumeration") {
        attribute.enumeration = Some(enumeration.text()?.to_owned());
    }
    Ok(attribute)
}

/// Images have the size of a space tile, which the JSON tells of the dimensions only.
fn attributes_of_images(mut attributes: Vec<Attribute>, dimensions: &[Dimension]) -> Vec<Attribute> {
    let extent = |index: usize| match dimensions.get(index)?.tile_extent? {
        TileExtent::Integer(extent) => u16::try_from(extent).ok(),
        _ => None,
    };
    for filter in attributes.iter_mut().flat_map(|attribute| &mut attribute.filters.filters) {
        if let FilterSpec::Webp { y_extent, x_extent, .. } = filter {
            (*y_extent, *x_extent) = (extent(0).unwrap_or(0), extent(1).unwrap_or(0));
        }
    }
    attributes
}

fn enumeration(name: &str, node: &Node<'_>) -> Result<Enumeration, Error> {
    let entries = node.entries(&["type", "cell_val_num", "ordered", "values"])?;
    let datatype = datatype(&entries)?;
    let text = datatype.is_string() || datatype == Datatype::Char;
    let cell_val_num = match entries.optional("cell_val_num") {
        Some(node) => cell_val_num(&node)?,
        None if text => CellValNum::Var,
        None => CellValNum::ONE,
    };
    let ordered = entries.optional("ordered").map_or(Ok(false), |ordered| ordered.boolean())?;
    let shape = Shape::of_cells(datatype, cell_val_num);
    let values = entries.required("values")?.list()?;
    let values = values.iter().map(|value| bytes(value, shape)).collect::<Result<Vec<_>, _>>()?;
    let file_name = talavera::enumeration_file_name().map_err(talavera::Error::from)?;
    let values = values.iter().map(Vec::as_slice);
    let made = Enumeration::from_values(name, file_name, datatype, cell_val_num, ordered, values);
    made.map_err(|error| node.refused(error.to_string()))
}

fn label(number: usize, node: &Node<'_>) -> Result<DimensionLabel, Error> {
    // The array of a label follows from the array's own schema.
    let entries = node.entries(&["name", "dim", "attr", "order", "type", "cell_val_num", "uri", "array"])?;
    let dimension = entries.required("dim")?;
    let index = u32::try_from(dimension.unsigned()?).map_err(|_| dimension.refused("is the index of a dimension"))?;
    let order = entries.required("order")?.named("increasing or decreasing", DataOrder::from_name)?;
    let mut label = DimensionLabel::internal(number, index, entries.required("name")?.text()?, order, datatype(&entries)?);
    if let Some(attribute) = entries.optional("attr") {
        attribute.text()?.clone_into(&mut label.attribute);
    }
    if let Some(node) = entries.optional("cell_val_num") {
        label.cell_val_num = cell_val_num(&node)?;
    }
    if let Some(uri) = entries.optional("uri") {
        uri.text()?.clone_into(&mut label.uri);
    }
    Ok(label)
}

fn current_domain(node: &Node<'_>, dimensions: &[Dimension]) -> Result<NdRange, Error> {
    let ranges = node.list()?;
    if ranges.len() != dimensions.len() {
        let (found, expected) = (ranges.len(), dimensions.len());
        return Err(node.refused(format!("has {found} ranges, there are {expected} dimensions")));
    }
    let ranges = ranges.iter().zip(dimensions).map(|(node, dimension)| range(node, dimension.datatype));
    Ok(NdRange(ranges.collect::<Result<_, _>>()?))
}

fn datatype(entries: &Entries<'_>) -> Result<Datatype, Error> {
    entries.required("type")?.named("the name of a datatype, such as INT32, FLOAT64 or STRING_UTF8", Datatype::from_name)
}

fn cell_val_num(node: &Node<'_>) -> Result<CellValNum, Error> {
    if node.text().is_ok_and(|text| text == "var") {
        return Ok(CellValNum::Var);
    }
    let values = node.unsigned().ok().and_then(|values| NonZeroU32::new(u32::try_from(values).ok()?));
    let values = values.filter(|values| values.get() != u32::MAX);
    values.map(CellValNum::Fixed).ok_or_else(|| node.refused("is not the number of values in a cell, or \"var\""))
}

/// Ends of a range: numbers, text, or `{"hex": …}`.
fn range(node: &Node<'_>, datatype: Datatype) -> Result<Range, Error> {
    let ends = node.list()?;
    let [low, high] = ends.as_slice() else { return Err(node.refused("is not [low, high]")) };
    let (low_bytes, high_bytes) = (bytes(low, Shape::one(datatype))?, bytes(high, Shape::one(datatype))?);
    let coordinate = |bytes| talavera::Coordinate::from_le_bytes(datatype, bytes);
    let range = coordinate(&low_bytes).zip(coordinate(&high_bytes)).and_then(|(low, high)| Range::new(low, high));
    range.ok_or_else(|| node.refused(format!("no dimension can be of {datatype}")))
}

fn bytes(node: &Node<'_>, shape: Shape) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    shape.append_json(&mut bytes, node.value()).map_err(|reason| node.refused(reason))?;
    Ok(bytes)
}

/// An extent, which the reference shows as a number of the dimension's own type.
fn tile_extent(node: &Node<'_>, datatype: Datatype) -> Result<TileExtent, Error> {
    let mut extent = bytes(node, Shape::one(if is_signed(datatype) { signed(datatype) } else { datatype }))?;
    let number = Num::from_le_bytes(datatype, &extent);
    extent.resize(8, 0);
    let bits = extent.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    match number {
        Some(Num::Float32(extent)) => Ok(TileExtent::Float32(extent)),
        Some(Num::Float64(extent)) => Ok(TileExtent::Float64(extent)),
        Some(_) if bits > 0 => Ok(TileExtent::Integer(bits)),
        _ => Err(node.refused("a tile has at least one value")),
    }
}

/// The plain integer as wide as dates and times, whose extents are no dates.
fn signed(datatype: Datatype) -> Datatype {
    Datatype::signed_of_size(datatype.size()).unwrap_or(datatype)
}

fn filter_list(node: &Node<'_>) -> Result<FilterList, Error> {
    let entries = node.entries(&["max_chunk_size", "filters"])?;
    let filters = entries.required("filters")?.list()?.iter().map(filter).collect::<Result<_, Error>>()?;
    let mut list = FilterList::new(filters);
    if let Some(bytes) = entries.optional("max_chunk_size") {
        list.max_chunk_bytes = u32::try_from(bytes.unsigned()?).map_err(|_| bytes.refused("is more than 32 bits hold"))?;
    }
    Ok(list)
}

fn filter(node: &Node<'_>) -> Result<FilterSpec, Error> {
    let keys = ["type", "level", "reinterpret", "window", "bytewidth", "factor", "offset", "quality", "format", "lossless"];
    let entries = node.entries(&keys)?;
    let filter_type =
        entries.required("type")?.named("the name of a filter, such as ZSTD or BYTESHUFFLE", FilterType::from_name)?;
    super::filter::with_options(filter_type, |key| entries.optional(key).map(|node| node.value().clone()))
        .map_err(|reason| node.refused(reason))
}
