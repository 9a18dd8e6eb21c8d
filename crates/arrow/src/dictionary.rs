//! Enumerated attributes as dictionaries.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{Array as _, ArrayRef, DictionaryArray, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use talavera::{CellBytes, Datatype, Enumeration, FieldBuffer};

use crate::cells::{Parts, scalars, to_arrow};
use crate::shape::{Form, Shape};
use crate::{ArrowOptions, Error};

/// The type of the keys for such an attribute; none when its cells cannot be indices.
pub(crate) fn key_type(shape: &Shape) -> Option<DataType> {
    let single = shape.form == Form::Single;
    match shape.datatype {
        Datatype::Bool if single => Some(DataType::UInt8),
        datatype if single && datatype.is_integer() => Some(shape.value.clone()),
        _ => None,
    }
}

/// All values of an enumeration.
pub(crate) fn enumeration_values(enumeration: &Enumeration, options: &ArrowOptions) -> Result<ArrayRef, Error> {
    let (name, datatype, cell_val_num) = (enumeration.name(), enumeration.datatype(), enumeration.cell_val_num());
    let shape = Shape::new(datatype, cell_val_num, options);
    let shape = shape.ok_or_else(|| Error::cells(name, "a value is longer than Arrow can count"))?;
    let data = enumeration.data();
    // The last value of an enumeration ends with the data; no offset says so.
    let offsets = enumeration.offsets().map(|starts| starts.iter().copied().chain([data.len() as u64]).collect());
    let buffer = FieldBuffer::new(datatype, cell_val_num, CellBytes::copied(data), offsets, None);
    to_arrow(name, &shape, buffer.map_err(talavera::Error::from)?)
}

/// Indices as a dictionary of `values`.
pub(crate) fn to_dictionary(field: &str, buffer: FieldBuffer, values: &ArrayRef) -> Result<ArrayRef, Error> {
    let datatype = buffer.datatype();
    let Parts { data, nulls, .. } = Parts::new(field, buffer)?;
    match datatype {
        Datatype::Int8 => dictionary::<Int8Type>(scalars(&data), nulls, values),
        Datatype::Int16 => dictionary::<Int16Type>(scalars(&data), nulls, values),
        Datatype::Int32 => dictionary::<Int32Type>(scalars(&data), nulls, values),
        Datatype::Int64 => dictionary::<Int64Type>(scalars(&data), nulls, values),
        Datatype::UInt8 | Datatype::Bool => dictionary::<UInt8Type>(scalars(&data), nulls, values),
        Datatype::UInt16 => dictionary::<UInt16Type>(scalars(&data), nulls, values),
        Datatype::UInt32 => dictionary::<UInt32Type>(scalars(&data), nulls, values),
        Datatype::UInt64 => dictionary::<UInt64Type>(scalars(&data), nulls, values),
        _ => Err(Error::cells(field, "an enumeration needs integers for indices")),
    }
}

/// Indices that the enumeration does not have are missing values, so they become null; fill values are like that.
fn dictionary<K: ArrowDictionaryKeyType>(
    keys: arrow_buffer::ScalarBuffer<K::Native>,
    nulls: Option<NullBuffer>,
    values: &ArrayRef,
) -> Result<ArrayRef, Error> {
    let known = |key: &K::Native| key.to_usize().is_some_and(|key| key < values.len());
    let nulls = if keys.iter().all(known) {
        nulls
    } else {
        let known = BooleanBuffer::collect_bool(keys.len(), |cell| keys.get(cell).is_some_and(known));
        NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::new(known)))
    };
    let keys = PrimitiveArray::<K>::try_new(keys, nulls)?;
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(values))?))
}
