//! Random conditions and aggregates, with several ranges, to both engines.
//!
//! What the reference does otherwise than it should is left out by rules, each with its reason; docs/correctness.md tells
//! what is answered instead.

use talavera_condition::{Comparison, Literal, QueryCondition, field};
use talavera_engine::{Aggregate, AggregateValue, Batch, FieldBuffer, OpenArray, ReadQuery, TimeWindow};
use talavera_peer::{self as peer, Column, Mode, Operator, Window};
use talavera_schema::{ArraySchema, Attribute, FilterList};
use talavera_types::{CellValNum, Datatype, DatatypeClass, Layout, with_datatype};

use super::cells::{self, Pools};
use super::engines::Place;
use super::questions::{Answer, Question};
use super::translate;
use crate::Failure;
use crate::fixtures::random::Random;

/// A condition as both engines take it.
type Both = (QueryCondition, peer::Condition);

/// Asks an array for cells under a condition, and for aggregates of them.
///
/// # Errors
/// With what differs; also when just one engine refuses.
pub(super) fn ask(random: &mut Random, place: &Place, pools: &Pools) -> Result<Answer, Failure> {
    let array = place.open(TimeWindow::ALL)?;
    let schema = array.schema();
    let mut question = Question::random(random, schema, pools, 0);
    question.window = (0, None);
    question.fields = None;
    if schema.is_dense() {
        // In another order than that of the cells of a tile, the reference tests the coordinates of other cells; and in global
        // order it refuses conditions together with several ranges.
        question.layout = schema.cell_order;
    }
    let all = array.query().fields(names(schema)).layout(Layout::RowMajor).read()?;
    let condition = if random.chance(85) { condition(random, &array, &all, 2)? } else { None };
    eprintln!("{question:?} where {}", condition.as_ref().map_or_else(String::new, |(ours, _)| ours.to_string()));
    let mut query = question.query(&array)?;
    let mut read = question.for_peer(schema)?;
    if let Some((ours, theirs)) = condition.clone() {
        query = query.condition(ours);
        read.condition = Some(theirs);
    }
    let asked = |what: &str| {
        let condition = condition.as_ref().map_or_else(String::new, |(ours, _)| format!(" where {ours}"));
        format!("{question:?}{condition}: {what}")
    };
    let ours = query.clone().read().map(|batch| translate::columns(&batch.fields)).map_err(Failure::from);
    let theirs = place.context.open(&place.uri(), Mode::Read, Window::default());
    let theirs = theirs.and_then(|array| array.read(&read)).map_err(Failure::from);
    let answer = question.agree(schema, ours, theirs).map_err(|error| asked(&error.to_string()))?;
    if let Answer::Same(_) = answer {
        let cells = query.clone().fields(names(schema)).read()?;
        if !schema.is_dense() {
            read.layout = peer::Layout::Unordered;
        }
        for _ in 0..3 {
            let Some((aggregate, name)) = aggregate(random, schema, condition.is_some(), &cells) else { continue };
            compare_aggregate(&aggregate, name.as_deref(), query.clone(), place, &read)
                .map_err(|error| asked(&error.to_string()))?;
        }
    }
    Ok(answer)
}

fn names(schema: &ArraySchema) -> Vec<String> {
    let dimensions = schema.domain.dimensions.iter().map(|dimension| dimension.name.clone());
    dimensions.chain(schema.attributes.iter().map(|attribute| attribute.name.clone())).collect()
}

/// A condition with up to so many levels of combinations; none where no field has one.
fn condition(random: &mut Random, array: &OpenArray, cells: &Batch, levels: usize) -> Result<Option<Both>, Failure> {
    if levels > 0 && random.chance(55) {
        let first = condition(random, array, cells, levels - 1)?;
        if random.chance(25) {
            return Ok(first.map(|(ours, theirs)| (ours.negate(), peer::Condition::Not(Box::new(theirs)))));
        }
        let second = condition(random, array, cells, levels - 1)?;
        let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
        return Ok(Some(match random.chance(50) {
            true => (first.0 & second.0, first.1.and(second.1)),
            false => (first.0 | second.0, first.1.or(second.1)),
        }));
    }
    let schema = array.schema();
    let names = names(schema);
    for _ in 0..10 {
        let name = random.pick(&names);
        if let Some(test) = test(random, array, cells, name)? {
            return Ok(Some(test));
        }
    }
    Ok(None)
}

/// A test of a field; none where the reference has no such test.
fn test(random: &mut Random, array: &OpenArray, cells: &Batch, name: &str) -> Result<Option<Both>, Failure> {
    let schema = array.schema();
    let attribute = schema.attribute(name).map(|(_, attribute)| attribute);
    if attribute.is_some_and(|attribute| attribute.nullable) && random.chance(25) {
        let not = random.chance(50);
        let ours = if not { field(name).is_not_null() } else { field(name).is_null() };
        let operator = if not { Operator::NotEqual } else { Operator::Equal };
        let theirs = peer::Condition::Compare { field: name.into(), operator, value: None, use_enumeration: true };
        return Ok(Some((ours, theirs)));
    }
    if let Some(enumeration) = attribute.and_then(|attribute| attribute.enumeration.as_deref()) {
        return label_test(random, array, name, enumeration).map(Some);
    }
    let Some(column) = cells.field(name) else { return Ok(None) };
    let (datatype, cell_val_num) = (column.datatype(), column.cell_val_num());
    let single = cell_val_num == CellValNum::ONE;
    let number = single && !matches!(datatype.class(), DatatypeClass::Text | DatatypeClass::Opaque);
    let text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8) && cell_val_num.is_var();
    // Of text of a fixed length it compares the first character alone (21-semantics §6.1), but members of a list whole.
    let members_only = datatype == Datatype::Char && !single && !cell_val_num.is_var();
    if !(number || text || members_only) {
        return Ok(None);
    }
    let value = |random: &mut Random| value(random, schema, attribute, column);
    if members_only || random.chance(30) {
        let mut values = Vec::new();
        for _ in 0..random.range(1, 5) {
            values.push(value(random)?);
        }
        values.sort();
        values.dedup();
        let negated = random.chance(40);
        let literals = values.iter().cloned().map(Literal::Bytes);
        let ours = if negated { field(name).is_not_in(literals) } else { field(name).is_in(literals) };
        return Ok(Some((ours, peer::Condition::Member { field: name.into(), values, negated })));
    }
    let (comparison, operator) = *random.pick(&OPERATORS);
    let value = value(random)?;
    Ok(Some((field(name).compare(comparison, Literal::Bytes(value.clone())), peer::Condition::compare(name, operator, value))))
}

const OPERATORS: [(Comparison, Operator); 6] = [
    (Comparison::Lt, Operator::Less),
    (Comparison::Le, Operator::LessOrEqual),
    (Comparison::Gt, Operator::Greater),
    (Comparison::Ge, Operator::GreaterOrEqual),
    (Comparison::Eq, Operator::Equal),
    (Comparison::Ne, Operator::NotEqual),
];

/// A test of labels. Labels without an order have no more and no less: the reference compares their places.
fn label_test(random: &mut Random, array: &OpenArray, name: &str, enumeration: &str) -> Result<Both, Failure> {
    let enumeration = array.enumeration(enumeration)?;
    let label = enumeration.value(random.below(enumeration.len())).unwrap_or_default().to_vec();
    let operators = if enumeration.ordered() { &OPERATORS[..] } else { &OPERATORS[4..] };
    let (comparison, operator) = *random.pick(operators);
    let ours = field(name).compare(comparison, Literal::Bytes(label.clone()));
    Ok((ours, peer::Condition::compare(name, operator, label)))
}

/// A value that some cell has, or any.
fn value(
    random: &mut Random,
    schema: &ArraySchema,
    attribute: Option<&Attribute>,
    column: &FieldBuffer,
) -> Result<Vec<u8>, Failure> {
    let any = column.is_empty() || random.chance(10);
    if let Some(attribute) = attribute.filter(|_| any) {
        return Ok(cells::of_attribute(random, schema, attribute, 1)?.cell(0).unwrap_or_default().to_vec());
    }
    let bytes = column.cell_bytes().unwrap_or(0);
    Ok(column.cell(random.below(column.len())).map_or_else(|| vec![0; bytes], <[u8]>::to_vec))
}

/// An aggregate that both engines answer alike, of these cells; none where what was drawn is left out.
fn aggregate(random: &mut Random, schema: &ArraySchema, conditional: bool, cells: &Batch) -> Option<(Aggregate, Option<String>)> {
    if random.chance(20) {
        // The reference counts all cells of a dense array, whatever the condition.
        return (!(schema.is_dense() && conditional)).then_some((Aggregate::Count, None));
    }
    let name = random.pick(&names(schema)).clone();
    let column = cells.field(&name)?;
    let (datatype, single) = (column.datatype(), column.cell_val_num() == CellValNum::ONE);
    let class = datatype.class();
    let number = single && datatype != Datatype::Bool && !matches!(class, DatatypeClass::Text | DatatypeClass::Opaque);
    let text = datatype == Datatype::StringAscii && column.cell_val_num().is_var();
    let nullable = column.validity().is_some();
    let drawn = random.below(5);
    let field = || name.clone();
    // It takes the statistics of tiles for true, and writes some of them wrong (04-fragment-metadata §8): null counts and
    // bounds of text in dense fragments, null counts of other text and bytes, bounds of text that holds a NUL.
    let bounded_text = text && !schema.is_dense() && !column.data().contains(&0);
    if !number && !bounded_text {
        return None;
    }
    // Where a filter loses digits, its statistics are of other cells than those that it reads.
    let attribute_filters = schema.attribute(&name).map(|(_, attribute)| &attribute.filters);
    let dimension = schema.domain.dimensions.iter().position(|dimension| dimension.name == name);
    let filters = attribute_filters.or_else(|| schema.dimension_filters(dimension?));
    if filters.is_some_and(FilterList::is_lossy) {
        return None;
    }
    let sizes = Sizes::of(column);
    let aggregate = match drawn {
        0 if nullable => Aggregate::NullCount(field()),
        // A sum that is over is over in another way, see docs/correctness.md, and infinities count as that.
        1 if number && sizes.sum_fits => Aggregate::Sum(field()),
        // The reference divides by the cells of whole tiles where one was written in part.
        2 if number && sizes.sum_fits && !schema.is_dense() => Aggregate::Mean(field()),
        // NaN replaces bounds, and infinities are taken for no value at all.
        3 if !sizes.special => Aggregate::Min(field()),
        4 if !sizes.special => Aggregate::Max(field()),
        _ => return None,
    };
    Some((aggregate, Some(name)))
}

/// How large numbers are.
struct Sizes {
    /// No sum of some of them leaves its type, and none is infinite.
    sum_fits: bool,
    /// Some are NaN or infinite.
    special: bool,
}

impl Sizes {
    fn of(column: &FieldBuffer) -> Self {
        let datatype = column.datatype();
        if !datatype.is_float() {
            return Self { sum_fits: magnitude(column) < 9e18, special: false };
        }
        let values = (0..column.len()).filter_map(|cell| float(datatype, column.cell(cell)?));
        let infinite = values.clone().any(f64::is_infinite);
        let special = infinite || values.clone().any(f64::is_nan);
        Self { sum_fits: !infinite && magnitude(column) < 1e300, special }
    }
}

/// The sum of the absolute values of all cells that are numbers.
fn magnitude(column: &FieldBuffer) -> f64 {
    let value = |cell| number(column.datatype(), column.cell(cell)?);
    (0..column.len()).filter_map(value).filter(|value| !value.is_nan()).map(f64::abs).sum()
}

fn float(datatype: Datatype, bytes: &[u8]) -> Option<f64> {
    if datatype.is_float() { number(datatype, bytes) } else { None }
}

#[expect(clippy::allow_attributes, reason = "only some of the types lose precision")]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::unnecessary_cast,
    reason = "the size of numbers is asked for"
)]
fn number(datatype: Datatype, bytes: &[u8]) -> Option<f64> {
    use talavera_types::Native;
    with_datatype!(datatype, T => T::read_le(bytes).map(|value| value as f64))
}

fn compare_aggregate(
    aggregate: &Aggregate,
    name: Option<&str>,
    query: ReadQuery<'_>,
    place: &Place,
    read: &peer::Read,
) -> Result<(), Failure> {
    let asked = match aggregate {
        Aggregate::Sum(_) => peer::Aggregate::Sum,
        Aggregate::Min(_) => peer::Aggregate::Min,
        Aggregate::Max(_) => peer::Aggregate::Max,
        Aggregate::Mean(_) => peer::Aggregate::Mean,
        Aggregate::NullCount(_) => peer::Aggregate::NullCount,
        _ => peer::Aggregate::Count,
    };
    eprintln!("{aggregate:?}");
    let cells = query.clone().fields(name).read()?;
    let column = name.and_then(|name| cells.field(name));
    let ours = query.aggregate([aggregate.clone()])?;
    let array = place.context.open(&place.uri(), Mode::Read, Window::default())?;
    let theirs = array.aggregate(read, asked, name)?;
    let datatype = column.map_or(Datatype::UInt64, FieldBuffer::datatype);
    let scale = column.map_or(0.0, magnitude);
    match ours.first() {
        Some(ours) if same(aggregate, ours, &theirs, datatype, scale) => Ok(()),
        Some(ours) if name.is_some_and(|name| contradicts_itself(aggregate, ours, &array, read, name, datatype, scale)) => {
            eprintln!("the reference's {theirs:?} is not that of its own cells");
            Ok(())
        }
        ours => Err(format!("{aggregate:?} is {ours:?}, the peer's {theirs:?}").into()),
    }
}

/// Whether it is our sum that the cells have which the reference itself gives under the same condition. Its sums and means
/// of nullable fields are now and then those of other cells, and not the same each time.
fn contradicts_itself(
    aggregate: &Aggregate,
    ours: &AggregateValue,
    array: &peer::Array,
    read: &peer::Read,
    name: &str,
    datatype: Datatype,
    scale: f64,
) -> bool {
    let read = peer::Read { fields: Some(vec![name.to_owned()]), ..read.clone() };
    let Ok(columns) = array.read(&read) else { return false };
    let Some((_, Column { data, validity: Some(validity), .. })) = columns.into_iter().next() else { return false };
    let Some(cells) = data.chunks(datatype.size()).map(|bytes| integer(datatype, bytes)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let valid: Vec<i128> = cells.iter().zip(&validity).filter(|(_, valid)| **valid != 0).map(|(cell, _)| *cell).collect();
    let sum: i128 = valid.iter().sum();
    match (aggregate, ours) {
        (Aggregate::Sum(_), AggregateValue::Signed(value)) => i128::from(*value) == sum,
        (Aggregate::Sum(_), AggregateValue::Unsigned(value)) => i128::from(*value) == sum,
        #[expect(clippy::cast_precision_loss, reason = "a mean is compared to nine digits")]
        (Aggregate::Mean(_), AggregateValue::Float(value)) => (value - sum as f64 / valid.len() as f64).abs() <= scale * 1e-9,
        _ => false,
    }
}

/// The number in these bytes; none for floats and what is no number.
fn integer(datatype: Datatype, bytes: &[u8]) -> Option<i128> {
    match talavera_schema::Coordinate::from_le_bytes(datatype, bytes)? {
        talavera_schema::Coordinate::Signed(value) => Some(value.into()),
        talavera_schema::Coordinate::Unsigned(value) => Some(value.into()),
        _ => None,
    }
}

/// Whether an answer is that of the reference, whose buffers hold zeros, nothing or NaN where there is no value.
fn same(aggregate: &Aggregate, ours: &AggregateValue, theirs: &Column, datatype: Datatype, scale: f64) -> bool {
    if theirs.validity.as_deref() == Some(&[0]) {
        return *ours == AggregateValue::Null;
    }
    let of_field = matches!(aggregate, Aggregate::Min(_) | Aggregate::Max(_));
    let answer = match aggregate {
        Aggregate::Mean(_) => Datatype::Float64,
        _ if of_field => datatype,
        Aggregate::Sum(_) if datatype.is_float() => Datatype::Float64,
        Aggregate::Sum(_) if datatype.class() == DatatypeClass::Signed => Datatype::Int64,
        _ => Datatype::UInt64,
    };
    let bytes = theirs.data.as_slice();
    match ours {
        // In dense arrays also what its fold of a tile that holds nothing but nulls starts with.
        AggregateValue::Null => {
            let inner = bytes.split_last().map_or(&[][..], |(_, inner)| inner);
            let limit = inner.iter().all(|byte| *byte == 0xff) || inner.iter().all(|byte| *byte == 0);
            limit || datatype.is_float() || number(answer, bytes).is_some_and(f64::is_nan)
        }
        AggregateValue::Text(text) => bytes == &**text,
        AggregateValue::Unsigned(value) => bytes == value.to_le_bytes().get(..answer.size()).unwrap_or_default(),
        AggregateValue::Signed(value) => bytes == value.to_le_bytes().get(..answer.size()).unwrap_or_default(),
        AggregateValue::Float(value) => number(answer, bytes)
            .is_some_and(|found| found == *value || found.is_nan() && value.is_nan() || (found - value).abs() <= scale * 1e-9),
        _ => false,
    }
}
