//! Dictionaries, and the values of enumerations, as cells.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use talavera::{CellBytes, Datatype, Enumeration, FieldBuffer};

use super::{Target, bytes};
use crate::Error;

/// The indices of a column's values in the enumeration of an attribute. A column that is no dictionary is one whose values
/// are all told.
pub(super) fn indices(target: &Target, enumeration: &Enumeration, column: &ArrayRef) -> Result<FieldBuffer, Error> {
    let (keys, values) = match column.data_type() {
        DataType::Dictionary(..) => (keys(column), column.as_any_dictionary().values().clone()),
        _ => ((0..column.len()).map(|cell| column.is_valid(cell).then_some(cell)).collect(), column.clone()),
    };
    let of_values = Target::of_values(&target.name, enumeration.datatype(), enumeration.cell_val_num());
    let values = bytes::cells(&of_values, &values)?.finish(&of_values)?;
    let find = |value| values.cell(value).filter(|_| !values.is_null(value)).map(|bytes| enumeration.index_of(bytes));
    let found: Vec<Option<Option<usize>>> = (0..values.len()).map(find).collect();
    let size = target.datatype.size();
    let mut data = Vec::with_capacity(keys.len().saturating_mul(size));
    let mut validity = Vec::with_capacity(keys.len());
    for (cell, key) in keys.iter().enumerate() {
        let index = match key.and_then(|key| found.get(key).copied().flatten()) {
            Some(Some(index)) => Some(index_bytes(target, index)?),
            Some(None) => {
                let enumeration = enumeration.name().to_owned();
                return Err(Error::UnknownValue { field: target.name.clone(), cell, enumeration });
            }
            None => None,
        };
        validity.push(u8::from(index.is_some()));
        match index {
            Some(index) => data.extend_from_slice(index.get(..size).unwrap_or_default()),
            None => data.extend_from_slice(missing(target, enumeration, cell)?),
        }
    }
    let validity = target.nullable.then_some(validity);
    let cells = FieldBuffer::new(target.datatype, target.cell_val_num, CellBytes::copied(&data), None, validity);
    Ok(cells.map_err(talavera::Error::from)?)
}

/// The cells of a dictionary, each with its value.
pub(super) fn looked_up(target: &Target, column: &ArrayRef) -> Result<FieldBuffer, Error> {
    let of_values = Target::of_values(&target.name, target.datatype, target.cell_val_num);
    let values = bytes::cells(&of_values, column.as_any_dictionary().values())?.finish(&of_values)?;
    let fixed = target.cell_bytes();
    let (mut data, mut offsets, mut validity) = (Vec::new(), vec![0], Vec::new());
    for (cell, key) in keys(column).into_iter().enumerate() {
        match key.filter(|&key| !values.is_null(key)).and_then(|key| values.cell(key)) {
            Some(bytes) => data.extend_from_slice(bytes),
            None if target.nullable => data.resize(data.len().saturating_add(fixed.unwrap_or(0)), 0),
            None => return Err(Error::NullCell { field: target.name.clone(), cell }),
        }
        validity.push(u8::from(key.is_some_and(|key| !values.is_null(key))));
        offsets.push(data.len() as u64);
    }
    let (offsets, validity) = (fixed.is_none().then_some(offsets), target.nullable.then_some(validity));
    let cells = FieldBuffer::new(target.datatype, target.cell_val_num, CellBytes::copied(&data), offsets, validity);
    Ok(cells.map_err(talavera::Error::from)?)
}

/// Which value each cell of a dictionary has; none for nulls.
fn keys(column: &ArrayRef) -> Vec<Option<usize>> {
    let dictionary = column.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; column.len()];
    }
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    keys.map(|(cell, key)| column.is_valid(cell).then_some(key)).collect()
}

/// An index, little-endian, if the attribute's datatype can hold it.
fn index_bytes(target: &Target, index: usize) -> Result<[u8; 8], Error> {
    use Datatype as D;
    let is_signed = matches!(target.datatype, D::Int8 | D::Int16 | D::Int32 | D::Int64);
    let bits = u32::try_from(target.datatype.size() * 8).unwrap_or(u64::BITS) - u32::from(is_signed);
    match u64::try_from(index) {
        Ok(index) if index.checked_shr(bits).unwrap_or(0) == 0 => Ok(index.to_le_bytes()),
        _ => Err(Error::cells(&target.name, "the enumeration has more values than the attribute can number")),
    }
}

/// What stands for a cell without a value: anything under a null; else the fill value, if it is the index of nothing, as
/// reading shows such indices.
fn missing<'a>(target: &'a Target, enumeration: &Enumeration, cell: usize) -> Result<&'a [u8], Error> {
    const ZERO: [u8; 8] = [0; 8];
    if target.nullable {
        return Ok(ZERO.get(..target.datatype.size()).unwrap_or(&ZERO));
    }
    let fill = target.fill_value.as_deref().unwrap_or_default();
    let mut index = [0; 8];
    if let Some(low) = index.get_mut(..fill.len()) {
        low.copy_from_slice(fill);
    }
    // A negative fill value is a large number here.
    let is_index = usize::try_from(u64::from_le_bytes(index)).is_ok_and(|index| index < enumeration.len());
    if is_index || fill.len() != target.datatype.size() {
        return Err(Error::NullCell { field: target.name.clone(), cell });
    }
    Ok(fill)
}
