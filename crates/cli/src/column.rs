//! The cells of a field in the making, from texts.

use std::sync::Arc;

use talavera::{ArraySchema, Attribute, CellBytes, CellValNum, Datatype, Enumeration, FieldBuffer};

use crate::error::Error;
use crate::value::{Num, Shape};

/// The cells of one field, as they are read from texts one by one.
#[derive(Debug)]
pub(crate) struct Column {
    name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    /// The values that texts stand for, where they are not indices.
    enumeration: Option<Arc<Enumeration>>,
    /// What stands under a null.
    fill: Vec<u8>,
    data: Vec<u8>,
    /// Where each cell starts, if cells differ in length.
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
    count: usize,
}

impl Column {
    /// No cells yet of an attribute or dimension.
    ///
    /// # Errors
    /// [`Error::Usage`] when the array has no such field.
    pub(crate) fn of_field(schema: &ArraySchema, name: &str) -> Result<Self, Error> {
        if let Some((_, attribute)) = schema.attribute(name) {
            return Ok(Self::of_attribute(attribute));
        }
        match schema.dimension(name) {
            Some((_, dimension)) => Ok(Self::new(name, dimension.datatype, dimension.cell_val_num(), false)),
            None => Err(Error::usage(format!("the array has no field '{name}'"))),
        }
    }

    /// No cells yet of an attribute.
    pub(crate) fn of_attribute(attribute: &Attribute) -> Self {
        Self::new(&attribute.name, attribute.datatype, attribute.cell_val_num, attribute.nullable)
    }

    fn new(name: &str, datatype: Datatype, cell_val_num: CellValNum, nullable: bool) -> Self {
        let is_var = cell_val_num.is_var();
        Self {
            name: name.to_owned(),
            datatype,
            cell_val_num,
            enumeration: None,
            fill: if is_var { Vec::new() } else { Attribute::default_fill(datatype, cell_val_num) },
            data: Vec::new(),
            offsets: is_var.then(Vec::new),
            validity: nullable.then(Vec::new),
            count: 0,
        }
    }

    /// Takes texts for values of the enumeration rather than for indices.
    pub(crate) fn with_enumeration(mut self, enumeration: Arc<Enumeration>) -> Self {
        self.enumeration = Some(enumeration);
        self
    }

    /// The name of the field.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether cells may be null.
    pub(crate) fn is_nullable(&self) -> bool {
        self.validity.is_some()
    }

    /// Appends the cell that a text spells.
    ///
    /// # Errors
    /// A sentence that says why it is none.
    pub(crate) fn push_text(&mut self, text: &str) -> Result<(), String> {
        let start = self.data.len();
        let appended = match self.enumeration.clone() {
            Some(enumeration) => self.append_index(&enumeration, text),
            None => Shape::of_cells(self.datatype, self.cell_val_num).append_text(&mut self.data, text),
        };
        let found = self.data.len().saturating_sub(start);
        let wrong_size = !self.cell_val_num.is_var() && found != self.fill.len();
        let checked = match appended {
            Ok(()) if wrong_size => {
                let (found, expected) = (found / self.datatype.size(), self.fill.len() / self.datatype.size());
                Err(format!("'{text}' has {found} values, a cell has {expected}"))
            }
            appended => appended,
        };
        if checked.is_err() {
            self.data.truncate(start);
            return checked;
        }
        self.end_cell(start, 1);
        Ok(())
    }

    /// Appends a null.
    ///
    /// # Errors
    /// When cells cannot be null.
    pub(crate) fn push_null(&mut self) -> Result<(), String> {
        if !self.is_nullable() {
            return Err("is null, which its cells cannot be".to_owned());
        }
        let start = self.data.len();
        self.data.extend_from_slice(&self.fill);
        self.end_cell(start, 0);
        Ok(())
    }

    /// The cells.
    ///
    /// # Errors
    /// None that these texts could cause.
    pub(crate) fn finish(mut self) -> Result<(String, FieldBuffer), Error> {
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.data.len() as u64);
        }
        let data = CellBytes::copied(&self.data);
        let buffer = FieldBuffer::new(self.datatype, self.cell_val_num, data, self.offsets, self.validity);
        Ok((self.name, buffer.map_err(talavera::Error::from)?))
    }

    fn end_cell(&mut self, start: usize, valid: u8) {
        if let Some(offsets) = &mut self.offsets {
            offsets.push(start as u64);
        }
        if let Some(validity) = &mut self.validity {
            validity.push(valid);
        }
        self.count += 1;
    }

    fn append_index(&mut self, enumeration: &Enumeration, text: &str) -> Result<(), String> {
        let mut value = Vec::new();
        Shape::of_cells(enumeration.datatype(), enumeration.cell_val_num()).append_text(&mut value, text)?;
        let index = enumeration.index_of(&value);
        let index = index.ok_or_else(|| format!("'{text}' is no value of the enumeration '{}'", enumeration.name()))?;
        let index = if crate::value::is_signed(self.datatype) {
            Num::Signed(i64::try_from(index).unwrap_or(i64::MAX))
        } else {
            Num::Unsigned(index as u64)
        };
        index.append(&mut self.data, self.datatype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_with_offsets_and_validity_as_their_field_has_them() {
        let mut attribute = Attribute::var("s", Datatype::StringUtf8);
        attribute.nullable = true;
        let mut column = Column::of_attribute(&attribute);
        column.push_text("ab").unwrap();
        column.push_null().unwrap();
        column.push_text("").unwrap();
        let (name, buffer) = column.finish().unwrap();
        assert_eq!((name.as_str(), buffer.data(), buffer.validity()), ("s", &b"ab"[..], Some(&[1, 0, 1][..])));
        assert_eq!((0..3).map(|cell| buffer.cell(cell)).collect::<Vec<_>>(), [Some(&b"ab"[..]), Some(b""), Some(b"")]);
    }

    #[test]
    fn a_refused_text_leaves_no_bytes_behind() {
        let three = CellValNum::Fixed(3.try_into().unwrap());
        let mut column = Column::of_attribute(&Attribute::with_cell_val_num("a", Datatype::Int8, three));
        assert_eq!(column.push_text("[1, 2]").unwrap_err(), "'[1, 2]' has 2 values, a cell has 3");
        assert!(column.push_text("1, 2, x").is_err() && column.push_null().is_err());
        column.push_text("1,2,3").unwrap();
        assert_eq!(column.finish().unwrap().1.data(), [1, 2, 3]);
    }

    #[test]
    fn texts_may_be_values_of_an_enumeration() {
        let values = [&b"red"[..], b"green"];
        let enumeration = Enumeration::from_values("c", "f", Datatype::StringUtf8, CellValNum::Var, false, values).unwrap();
        let mut column = Column::of_attribute(&Attribute::new("a", Datatype::Int16)).with_enumeration(Arc::new(enumeration));
        column.push_text("green").unwrap();
        assert_eq!(column.push_text("blue").unwrap_err(), "'blue' is no value of the enumeration 'c'");
        assert_eq!(column.finish().unwrap().1.data(), [1, 0]);
    }
}
