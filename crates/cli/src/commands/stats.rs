//! `stats`: aggregates of the fields of an array.

use std::io::Write;

use serde_json::{Map, Value, json};
use talavera::{Aggregate, AggregateValue, Array, CellValNum, Datatype, Field, Order};

use crate::args::{SelectionArgs, StatsArgs};
use crate::error::Error;
use crate::format::json::write_value;
use crate::format::table::{shortened, write_table};
use crate::progress::Meter;
use crate::selection::Selection;
use crate::value::Shape;

/// A field and what is asked of it.
struct Line {
    name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
    /// The answers, each with its aggregate.
    answers: Vec<(Aggregate, AggregateValue)>,
}

pub(crate) fn run(args: &StatsArgs, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    let selection_args = SelectionArgs { cells: args.cells.clone(), fields: args.fields.clone(), ..SelectionArgs::default() };
    let selection = Selection::new(&selection_args, &array, true)?;
    let mut lines: Vec<Line> = selection.fields.iter().map(|field| Line::new(&array, &field.name)).collect();
    let asked: Vec<Vec<Aggregate>> = lines.iter().map(Line::aggregates).collect();
    let all = std::iter::once(Aggregate::Count).chain(asked.iter().flatten().cloned());
    let meter = Meter::new(true);
    let mut answers = meter.follow(selection.read(&array, Order::Unordered)).aggregate(all)?.into_iter();
    meter.finish();
    let cells = answers.next();
    for (line, asked) in lines.iter_mut().zip(asked) {
        line.answers = asked.into_iter().zip(&mut answers).collect();
    }
    let cells = if let Some(AggregateValue::Unsigned(cells)) = cells { cells } else { 0 };
    if args.json {
        let fields: Map<String, Value> = lines.iter().map(|line| (line.name.clone(), line.json())).collect();
        return Ok(write_value(out, &json!({ "cells": cells, "fields": fields }))?);
    }
    let header = ["field", "type", "nulls", "min", "max", "sum", "mean"];
    let numeric = [false, false, true, true, true, true, true];
    write_table(out, header.map(str::to_owned).to_vec(), lines.iter().map(Line::texts).collect(), &numeric)?;
    writeln!(out, "{cells} {}", if cells == 1 { "cell" } else { "cells" })?;
    Ok(())
}

impl Line {
    fn new(array: &Array, name: &str) -> Self {
        let schema = array.schema();
        let (datatype, cell_val_num, nullable) = match schema.field(name) {
            Some(Field::Attribute(index)) => schema.attributes.get(index).map(|a| (a.datatype, a.cell_val_num, a.nullable)),
            Some(Field::Dimension(index)) => {
                schema.domain.dimensions.get(index).map(|dimension| (dimension.datatype, dimension.cell_val_num(), false))
            }
            None => None,
        }
        .unwrap_or((Datatype::UInt64, CellValNum::ONE, false));
        Self { name: name.to_owned(), datatype, cell_val_num, nullable, answers: Vec::new() }
    }

    /// What can be asked of the field. Nobody wants the sum of dates.
    fn aggregates(&self) -> Vec<Aggregate> {
        let name = || self.name.clone();
        let mut all = vec![Aggregate::Min(name()), Aggregate::Max(name()), Aggregate::NullCount(name())];
        if !self.datatype.is_datetime() {
            all.extend([Aggregate::Sum(name()), Aggregate::Mean(name())]);
        }
        all.retain(|aggregate| match aggregate {
            Aggregate::NullCount(_) => self.nullable,
            aggregate => aggregate.applies_to(self.datatype, self.cell_val_num),
        });
        all
    }

    fn json(&self) -> Value {
        let entry = |(aggregate, value): &(Aggregate, AggregateValue)| {
            let json = match self.stored(aggregate, value) {
                Some((datatype, bytes)) => Shape::one(datatype).json(&bytes),
                None => Value::Null,
            };
            (column(aggregate).1.to_owned(), json)
        };
        let entries = self.answers.iter().map(entry);
        std::iter::once(("type".to_owned(), self.datatype.name().into())).chain(entries).collect::<Map<_, _>>().into()
    }

    fn texts(&self) -> Vec<String> {
        let mut texts = vec![shortened(&self.name), self.datatype.name().to_owned()];
        texts.resize(7, String::new());
        for (aggregate, value) in &self.answers {
            let mut text = String::new();
            match self.stored(aggregate, value) {
                Some((datatype, bytes)) => Shape::one(datatype).write_text(&mut text, &bytes),
                None => text.push_str("null"),
            }
            if let Some(target) = texts.get_mut(column(aggregate).0) {
                *target = shortened(&text);
            }
        }
        texts
    }

    /// An answer as the bytes of a value: minimum and maximum as the field stores them.
    fn stored(&self, aggregate: &Aggregate, value: &AggregateValue) -> Option<(Datatype, Vec<u8>)> {
        let as_field = matches!(aggregate, Aggregate::Min(_) | Aggregate::Max(_));
        let (wide, bytes) = match value {
            AggregateValue::Unsigned(value) => (Datatype::UInt64, value.to_le_bytes().to_vec()),
            AggregateValue::Signed(value) => (Datatype::Int64, value.to_le_bytes().to_vec()),
            AggregateValue::Float(value) if as_field && self.datatype == Datatype::Float32 => {
                #[expect(clippy::cast_possible_truncation, reason = "it was a 32-bit float")]
                let value = *value as f32;
                (Datatype::Float32, value.to_le_bytes().to_vec())
            }
            AggregateValue::Float(value) => (Datatype::Float64, value.to_le_bytes().to_vec()),
            AggregateValue::Text(text) => return Some((self.datatype, text.to_vec())),
            _ => return None,
        };
        // The low bytes of an integer are the integer, where it fits.
        let stored = || bytes.get(..self.datatype.size()).unwrap_or(&bytes).to_vec();
        Some(if as_field { (self.datatype, stored()) } else { (wide, bytes.clone()) })
    }
}

/// The column and the name of an aggregate.
fn column(aggregate: &Aggregate) -> (usize, &'static str) {
    match aggregate {
        Aggregate::NullCount(_) => (2, "nulls"),
        Aggregate::Min(_) => (3, "min"),
        Aggregate::Max(_) => (4, "max"),
        Aggregate::Sum(_) => (5, "sum"),
        _ => (6, "mean"),
    }
}
