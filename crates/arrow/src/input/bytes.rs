//! Cells of every shape, without enumerations and dictionaries.

use std::borrow::Cow;

use arrow_array::cast::AsArray as _;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array as _, ArrayRef, GenericByteArray, GenericListArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use talavera::{CellBytes, Datatype, FieldBuffer};

use super::values::values;
use super::{Target, column_type};
use crate::Error;
use crate::shape::is_bytes;

/// Cells before they belong to a field.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) data: CellBytes,
    /// Where cells start, in bytes, and one more.
    pub(super) offsets: Option<Vec<u64>>,
    pub(super) nulls: Option<NullBuffer>,
    pub(super) count: usize,
}

impl Cells {
    /// The cells as those of a field, with validity where it has some; nulls only there.
    pub(super) fn finish(self, target: &Target) -> Result<FieldBuffer, Error> {
        let Self { data, offsets, nulls, count } = self;
        let null = nulls.as_ref().filter(|nulls| nulls.null_count() > 0).and_then(|nulls| nulls.iter().position(|valid| !valid));
        if let (false, Some(cell)) = (target.nullable, null) {
            return Err(Error::NullCell { field: target.name.clone(), cell });
        }
        let validity = || nulls.map_or_else(|| vec![1; count], |nulls| nulls.iter().map(u8::from).collect());
        let validity = target.nullable.then(validity);
        let cells = FieldBuffer::new(target.datatype, target.cell_val_num, data, offsets, validity);
        Ok(cells.map_err(talavera::Error::from)?)
    }
}

/// The cells of a column.
pub(super) fn cells(target: &Target, column: &ArrayRef) -> Result<Cells, Error> {
    let nulls = column.nulls().cloned();
    let count = column.len();
    if *column.data_type() == DataType::Null && target.nullable {
        let offsets = target.cell_val_num.is_var().then(|| vec![0; count + 1]);
        let data = CellBytes::zeroed(count.saturating_mul(target.cell_bytes().unwrap_or(0)));
        return Ok(Cells { data, offsets, nulls: Some(NullBuffer::new_null(count)), count });
    }
    if is_byte_cells(column.data_type()) {
        return byte_cells(target, column, nulls);
    }
    let (data, offsets) = match (column.data_type(), target.cell_val_num.fixed()) {
        (DataType::FixedSizeList(..), _) => fixed_list(target, column)?,
        (DataType::List(_), None) => list(target, column.as_list::<i32>())?,
        (DataType::LargeList(_), None) => list(target, column.as_list::<i64>())?,
        (_, Some(1)) => (values(target, column)?, None),
        (found, _) => return Err(column_type(target, found)),
    };
    // A missing day is a value of its own, where the field has no nulls.
    let is_day = matches!(column.data_type(), DataType::Date32 | DataType::Date64) && target.has_not_a_time();
    let nulls = if is_day && !target.nullable { None } else { nulls };
    Ok(Cells { data, offsets, nulls, count })
}

fn is_byte_cells(data_type: &DataType) -> bool {
    data_type.is_string() || data_type.is_binary()
}

/// Text, or bytes, of any length.
fn byte_cells(target: &Target, column: &ArrayRef, nulls: Option<NullBuffer>) -> Result<Cells, Error> {
    let is_text = column.data_type().is_string();
    let wide = target.datatype.size() > 1;
    if !(is_bytes(target.datatype) || (wide && is_text && target.datatype.is_string())) {
        return Err(column_type(target, column.data_type()));
    }
    let count = column.len();
    if let (false, None) = (wide, target.cell_val_num.fixed()) {
        let whole = match column.data_type() {
            DataType::Utf8 => Some(slices(column.as_string::<i32>())),
            DataType::LargeUtf8 => Some(slices(column.as_string::<i64>())),
            DataType::Binary => Some(slices(column.as_binary::<i32>())),
            DataType::LargeBinary => Some(slices(column.as_binary::<i64>())),
            _ => None,
        };
        if let Some((data, offsets)) = whole {
            return Ok(Cells { data, offsets: Some(offsets), nulls, count });
        }
    }
    let (mut data, mut offsets) = (Vec::new(), vec![0]);
    for cell in 0..count {
        let bytes = if column.is_null(cell) { None } else { Some(cell_of(target, column, cell)?) };
        match (bytes, target.cell_bytes()) {
            (Some(bytes), Some(expected)) if bytes.len() != expected => {
                return Err(Error::CellLength { field: target.name.clone(), cell, found: bytes.len(), expected });
            }
            (Some(bytes), _) => data.extend_from_slice(&bytes),
            (None, Some(bytes)) => data.resize(data.len().saturating_add(bytes), 0),
            (None, None) => {}
        }
        offsets.push(data.len() as u64);
    }
    let offsets = target.cell_val_num.is_var().then_some(offsets);
    Ok(Cells { data: CellBytes::copied(&data), offsets, nulls, count })
}

/// The bytes of one cell as the field stores them.
fn cell_of<'a>(target: &Target, column: &'a ArrayRef, cell: usize) -> Result<Cow<'a, [u8]>, Error> {
    let text: &str = match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(cell),
        DataType::LargeUtf8 => column.as_string::<i64>().value(cell),
        DataType::Utf8View => column.as_string_view().value(cell),
        DataType::Binary => return Ok(column.as_binary::<i32>().value(cell).into()),
        DataType::LargeBinary => return Ok(column.as_binary::<i64>().value(cell).into()),
        DataType::BinaryView => return Ok(column.as_binary_view().value(cell).into()),
        DataType::FixedSizeBinary(_) => return Ok(column.as_fixed_size_binary().value(cell).into()),
        found => return Err(column_type(target, found)),
    };
    Ok(match target.datatype {
        // UCS-2 and UCS-4 are written as the text that reading takes them for.
        Datatype::StringUtf16 | Datatype::StringUcs2 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Datatype::StringUtf32 | Datatype::StringUcs4 => text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        _ => text.as_bytes().into(),
    })
}

/// The bytes of all cells, and where each starts.
fn slices<T: ByteArrayType>(array: &GenericByteArray<T>) -> (CellBytes, Vec<u64>) {
    let offsets = array.offsets();
    let (first, last) = ends(offsets);
    let data = array.value_data().get(first..last).unwrap_or_default();
    (CellBytes::copied(data), starts(offsets, 1))
}

/// The offsets in bytes, from 0.
fn starts<O: OffsetSizeTrait>(offsets: &[O], size: usize) -> Vec<u64> {
    let (first, _) = ends(offsets);
    offsets.iter().map(|offset| (offset.as_usize().saturating_sub(first) * size) as u64).collect()
}

fn ends<O: OffsetSizeTrait>(offsets: &[O]) -> (usize, usize) {
    let end = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    (end(offsets.first()), end(offsets.last()))
}

fn list<O: OffsetSizeTrait>(target: &Target, list: &GenericListArray<O>) -> Result<(CellBytes, Option<Vec<u64>>), Error> {
    let offsets = list.offsets();
    let (first, last) = ends(offsets);
    let items = list.values().slice(first, last - first);
    let owner = |item: usize| offsets.partition_point(|start| start.as_usize() <= item + first).saturating_sub(1);
    check_items(target, &items, list.nulls(), owner)?;
    Ok((values(target, &items)?, Some(starts(offsets, target.datatype.size()))))
}

/// Cells of so many values, also as cells of any length.
fn fixed_list(target: &Target, column: &ArrayRef) -> Result<(CellBytes, Option<Vec<u64>>), Error> {
    let list = column.as_fixed_size_list();
    let length = usize::try_from(list.value_length()).unwrap_or(0);
    let wanted = target.cell_val_num.fixed();
    if wanted.is_some_and(|wanted| usize::try_from(wanted) != Ok(length)) {
        return Err(column_type(target, column.data_type()));
    }
    let first = usize::try_from(list.value_offset(0)).unwrap_or(0);
    let items = list.values().slice(first, length * list.len());
    check_items(target, &items, list.nulls(), |item| item.checked_div(length).unwrap_or(0))?;
    let size = length * target.datatype.size();
    let offsets = wanted.is_none().then(|| (0..=list.len()).map(|cell| (cell * size) as u64).collect());
    Ok((values(target, &items)?, offsets))
}

/// Values in a cell cannot be null one by one, but days can be missing. Under a null cell stands anything.
fn check_items(
    target: &Target,
    items: &ArrayRef,
    nulls: Option<&NullBuffer>,
    owner: impl Fn(usize) -> usize,
) -> Result<(), Error> {
    let Some(missing) = items.nulls().filter(|missing| missing.null_count() > 0 && !target.has_not_a_time()) else {
        return Ok(());
    };
    let stray = |item: &usize| missing.is_null(*item) && nulls.is_none_or(|nulls| nulls.is_valid(owner(*item)));
    match (0..items.len()).find(stray) {
        Some(item) => Err(Error::NullCell { field: target.name.clone(), cell: owner(item) }),
        None => Ok(()),
    }
}
