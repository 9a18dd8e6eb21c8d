//! `--range DIM=LO..HI` as a range of a dimension.

use std::io::{BufRead, BufReader};

use talavera::{Array, ArraySchema, Coordinate, Datatype, Dimension, NdRange, Range};

use crate::args::CellArgs;
use crate::error::Error;
use crate::value::{datetime, is_signed};

/// The separator between the ends of a range.
const DOTS: &str = "..";

/// All ranges that arguments name, for each dimension of an array.
///
/// # Errors
/// [`Error::Usage`] as [`from_text`], and for labels that there are not; when the file of ranges cannot be read.
pub(crate) fn of_arguments(args: &CellArgs, array: &Array) -> Result<Vec<Vec<Range>>, Error> {
    let schema = array.schema();
    let non_empty = array.non_empty_domain();
    let mut ranges = vec![Vec::new(); schema.domain.dimensions.len()];
    let mut add = |(dimension, range): (usize, Range)| {
        if let Some(ranges) = ranges.get_mut(dimension) {
            ranges.push(range);
        }
    };
    for text in &args.ranges {
        add(from_text(text, schema, non_empty.as_ref())?);
    }
    for text in &args.label_ranges {
        add(of_labels(text, array)?);
    }
    if let Some(path) = &args.ranges_from {
        let file_error = |source| Error::File { path: path.clone(), source };
        let file = BufReader::new(std::fs::File::open(path).map_err(file_error)?);
        for (number, line) in (1..).zip(file.lines()) {
            let line = line.map_err(file_error)?;
            if line.is_empty() {
                continue;
            }
            let in_line = |reason: String| Error::Input { path: path.clone(), reason: format!("line {number}: {reason}") };
            add(of_text(&line, schema, non_empty.as_ref()).map_err(in_line)?);
        }
    }
    Ok(ranges)
}

/// The range of indices whose labels a text spells, with the index of their dimension.
fn of_labels(text: &str, array: &Array) -> Result<(usize, Range), Error> {
    let usage = |reason: String| Error::usage(format!("--label-range {text}: {reason}"));
    let (name, ends) = text.split_once('=').ok_or_else(|| usage("write LABEL=LO..HI".to_owned()))?;
    if array.schema().label(name).is_none() {
        let names: Vec<_> = array.schema().labels.iter().map(|label| format!("'{}'", label.name)).collect();
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(usage(format!("there is no such dimension label; the array has {there}")));
    }
    let labels = array.labels(name)?;
    let span = labels.span();
    let range = along(ends, labels.label().datatype, span.as_ref()).map_err(usage)?;
    Ok((labels.dimension(), labels.indices_of(&range).map_err(talavera::Error::from)?))
}

/// The range that a text spells, with the index of its dimension.
///
/// An end that is left out is that of the domain, or of the cells there are where the dimension has no domain.
///
/// # Errors
/// [`Error::Usage`] for an unknown dimension, and for ends that are no values of its datatype.
pub(crate) fn from_text(text: &str, schema: &ArraySchema, non_empty: Option<&NdRange>) -> Result<(usize, Range), Error> {
    from_argument("--range", text, schema, non_empty)
}

/// The range that the text of an argument spells, as [`from_text`].
///
/// # Errors
/// As [`from_text`].
pub(crate) fn from_argument(
    argument: &str,
    text: &str,
    schema: &ArraySchema,
    non_empty: Option<&NdRange>,
) -> Result<(usize, Range), Error> {
    of_text(text, schema, non_empty).map_err(|reason| Error::usage(format!("{argument} {text}: {reason}")))
}

fn of_text(text: &str, schema: &ArraySchema, non_empty: Option<&NdRange>) -> Result<(usize, Range), String> {
    let (index, dimension, ends) = split_dimension(text, schema)?;
    let whole = dimension.domain.as_ref().or_else(|| non_empty?.0.get(index));
    Ok((index, along(ends, dimension.datatype, whole)?))
}

/// The range that the text of its ends spells.
fn along(ends: &str, datatype: Datatype, whole: Option<&Range>) -> Result<Range, String> {
    let read = |ends: (&str, &str)| read_ends(ends, datatype, whole);
    match splits(ends, datatype).as_slice() {
        [] => read((ends, ends)),
        [one] => read(*one),
        // Several pairs of dots: the ends tell which of them is meant.
        several => {
            let mut readable = several.iter().filter_map(|ends| read(*ends).ok().filter(Range::is_valid));
            match (readable.next(), readable.next()) {
                (Some(range), None) => Ok(range),
                _ => Err("'..' occurs several times: put strings in double quotes, and write floats like 1.0".to_owned()),
            }
        }
    }
}

/// The dimension with the longest name that the text starts with, and what follows the equals sign.
fn split_dimension<'a, 'b>(text: &'a str, schema: &'b ArraySchema) -> Result<(usize, &'b Dimension, &'a str), String> {
    let dimensions = schema.domain.dimensions.iter().enumerate();
    let matching = dimensions.filter_map(|(index, dimension)| {
        let ends = text.strip_prefix(dimension.name.as_str())?.strip_prefix('=')?;
        Some((index, dimension, ends))
    });
    matching.max_by_key(|(_, dimension, _)| dimension.name.len()).ok_or_else(|| {
        let names: Vec<_> = schema.domain.dimensions.iter().map(|dimension| format!("'{}'", dimension.name)).collect();
        let reason = if text.contains('=') { "there is no such dimension" } else { "write DIM=LO..HI" };
        format!("{reason}; the array's dimensions are {}", names.join(", "))
    })
}

/// Every way to cut a text at two dots; where one of the ends is a string in quotes, only the way that it asks for.
fn splits(ends: &str, datatype: Datatype) -> Vec<(&str, &str)> {
    let strings = datatype == Datatype::StringAscii;
    if strings && is_quoted(ends) {
        return Vec::new();
    }
    let cuts = ends.char_indices().filter_map(|(at, _)| Some((ends.get(..at)?, ends.get(at..)?.strip_prefix(DOTS)?)));
    let cuts: Vec<_> = cuts.collect();
    match cuts.iter().find(|(low, high)| strings && (is_quoted(low) || is_quoted(high))) {
        Some(quoted) => vec![*quoted],
        None => cuts,
    }
}

/// Where a string that starts with a quote ends.
fn closing_quote(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('"')?;
    Some(inner.find('"')? + 2)
}

fn is_quoted(text: &str) -> bool {
    text.len() >= 2 && text.starts_with('"') && closing_quote(text) == Some(text.len())
}

fn read_ends((low, high): (&str, &str), datatype: Datatype, whole: Option<&Range>) -> Result<Range, String> {
    let (low, high) = (End::from_text(low, datatype)?, End::from_text(high, datatype)?);
    // With no cells and no domain, any bounds will do.
    let nothing = End::String(Vec::new());
    let lowest = whole.map_or_else(|| nothing.clone(), |range| End::of(range.low()));
    let highest = whole.map_or_else(|| nothing.clone(), |range| End::of(range.high()));
    let (low_or, high_or) = (low.unwrap_or(lowest), high.unwrap_or(highest));
    let range = Range::new(low_or.coordinate(), high_or.coordinate()).filter(|range| range.is_of(datatype));
    range.ok_or_else(|| format!("the ends are not values of {datatype}"))
}

/// One end of a range.
#[derive(Debug, Clone)]
enum End {
    Signed(i64),
    Unsigned(u64),
    Float32(f32),
    Float64(f64),
    String(Vec<u8>),
}

impl End {
    /// The value that a text spells; `None` for an end that is left open.
    fn from_text(text: &str, datatype: Datatype) -> Result<Option<Self>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let no_number = |_| format!("'{text}' is not a value of {datatype}");
        Ok(Some(match datatype {
            Datatype::StringAscii => Self::String(string_bytes(text)?),
            Datatype::Float32 => Self::Float32(text.parse().map_err(|_| no_number(()))?),
            Datatype::Float64 => Self::Float64(text.parse().map_err(|_| no_number(()))?),
            _ if datatype.is_datetime() || datatype.is_time() => Self::Signed(datetime::number(datatype, text)?),
            _ if is_signed(datatype) => Self::Signed(text.parse().map_err(|_| no_number(()))?),
            _ => Self::Unsigned(text.parse().map_err(|_| no_number(()))?),
        }))
    }

    fn of(coordinate: Coordinate<'_>) -> Self {
        match coordinate {
            Coordinate::Signed(value) => Self::Signed(value),
            Coordinate::Unsigned(value) => Self::Unsigned(value),
            Coordinate::Float32(value) => Self::Float32(value),
            Coordinate::Float64(value) => Self::Float64(value),
            Coordinate::String(bytes) => Self::String(bytes.to_vec()),
        }
    }

    fn coordinate(&self) -> Coordinate<'_> {
        match self {
            Self::Signed(value) => Coordinate::Signed(*value),
            Self::Unsigned(value) => Coordinate::Unsigned(*value),
            Self::Float32(value) => Coordinate::Float32(*value),
            Self::Float64(value) => Coordinate::Float64(*value),
            Self::String(bytes) => Coordinate::String(bytes),
        }
    }
}

/// The bytes of a string coordinate: one for each character up to U+00FF, as they are shown.
fn string_bytes(text: &str) -> Result<Vec<u8>, String> {
    let inner = if is_quoted(text) { text.get(1..text.len() - 1).unwrap_or(text) } else { text };
    let byte = |character: char| {
        u8::try_from(u32::from(character)).map_err(|_| format!("'{character}' has no place in a STRING_ASCII coordinate"))
    };
    inner.chars().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use talavera::{ArrayType, Attribute};

    use super::*;

    fn schema(dimensions: Vec<Dimension>) -> ArraySchema {
        let mut builder = ArraySchema::builder(ArrayType::Sparse);
        for dimension in dimensions {
            builder = builder.dimension(dimension);
        }
        builder.attribute(Attribute::new("v", Datatype::Int32)).build().unwrap()
    }

    fn numbers(datatype: Datatype, domain: Range) -> ArraySchema {
        schema(vec![Dimension::new("x", datatype, domain, None)])
    }

    fn check(schema: &ArraySchema, text: &str, expected: Range) {
        assert_eq!(from_text(text, schema, None).unwrap().1, expected, "{text}");
    }

    fn refused(schema: &ArraySchema, text: &str) -> String {
        from_text(text, schema, None).unwrap_err().to_string()
    }

    #[test]
    fn numbers_may_be_negative_and_ends_left_out() {
        let schema = numbers(Datatype::Int8, Range::Signed(-100, 100));
        check(&schema, "x=-5..-3", Range::Signed(-5, -3));
        check(&schema, "x=..3", Range::Signed(-100, 3));
        check(&schema, "x=3..", Range::Signed(3, 100));
        check(&schema, "x=..", Range::Signed(-100, 100));
        check(&schema, "x=-7", Range::Signed(-7, -7));
    }

    #[test]
    fn floats_may_have_points_of_their_own() {
        let schema = numbers(Datatype::Float64, Range::Float64(-10.0, 10.0));
        check(&schema, "x=-1.5..1e0", Range::Float64(-1.5, 1.0));
        check(&schema, "x=.5...75", Range::Float64(0.5, 0.75));
        check(&schema, "x=1...2", Range::Float64(1.0, 2.0));
    }

    #[test]
    fn dates_are_written_as_iso_dates_or_numbers() {
        let schema = numbers(Datatype::DateTimeDay, Range::Signed(0, 100_000));
        check(&schema, "x=1970-01-02..1970-02-01", Range::Signed(1, 31));
        check(&schema, "x=1..31", Range::Signed(1, 31));
    }

    #[test]
    fn strings_that_hold_dots_are_quoted() {
        let schema = schema(vec![Dimension::string("id")]);
        let string = |low: &[u8], high: &[u8]| Range::String(low.into(), high.into());
        check(&schema, "id=a..b", string(b"a", b"b"));
        check(&schema, "id=a", string(b"a", b"a"));
        check(&schema, "id=\"a..b\"..\"c..d\"", string(b"a..b", b"c..d"));
        check(&schema, "id=a..\"c..d\"", string(b"a", b"c..d"));
        check(&schema, "id=\"a..b\"", string(b"a..b", b"a..b"));
        check(&schema, "id=..b", string(b"", b"b"));
        check(&schema, "id=\"\"..b", string(b"", b"b"));
        check(&schema, "id=é..ÿ", string(&[0xe9], &[0xff]));
        assert!(refused(&schema, "id=a..b..c").contains("double quotes"));
        assert!(refused(&schema, "id=€").contains("'€' has no place"));
    }

    #[test]
    fn an_open_end_without_a_domain_is_that_of_the_cells() {
        let schema = schema(vec![Dimension::string("id")]);
        let cells = NdRange(vec![Range::String((*b"b").into(), (*b"x").into())]);
        let (_, range) = from_text("id=c..", &schema, Some(&cells)).unwrap();
        assert_eq!(range, Range::String((*b"c").into(), (*b"x").into()));
    }

    #[test]
    fn names_may_hold_equals_signs() {
        let dimension = |name| Dimension::new(name, Datatype::Int8, Range::Signed(0, 9), None);
        let schema = schema(vec![dimension("a"), dimension("a=b")]);
        assert_eq!(from_text("a=b=1..2", &schema, None).unwrap(), (1, Range::Signed(1, 2)));
        assert_eq!(from_text("a=1..2", &schema, None).unwrap(), (0, Range::Signed(1, 2)));
    }

    #[test]
    fn errors_name_the_argument_and_what_would_fit() {
        let schema = numbers(Datatype::UInt8, Range::Unsigned(0, 9));
        assert_eq!(refused(&schema, "y=1..2"), "--range y=1..2: there is no such dimension; the array's dimensions are 'x'");
        assert_eq!(refused(&schema, "1..2"), "--range 1..2: write DIM=LO..HI; the array's dimensions are 'x'");
        assert_eq!(refused(&schema, "x=-1..2"), "--range x=-1..2: '-1' is not a value of UINT8");
        assert_eq!(refused(&schema, "x=1..256"), "--range x=1..256: the ends are not values of UINT8");
    }
}
