//! Text: checked where it is UTF-8 already, converted where it is not.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, LargeStringArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use talavera::{Datatype, FieldBuffer};

use crate::Error;

/// Text that should be UTF-8 as it stands. What stands under a null may be anything; only if that is not UTF-8 are the
/// cells copied.
pub(crate) fn checked(
    field: &str,
    datatype: Datatype,
    offsets: OffsetBuffer<i64>,
    data: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    if let Ok(array) = LargeStringArray::try_new(offsets.clone(), data.clone(), nulls.clone()) {
        return Ok(Arc::new(array));
    }
    let mut builder = LargeStringBuilder::with_capacity(offsets.len(), data.len());
    for (cell, (start, end)) in offsets.iter().zip(offsets.iter().skip(1)).enumerate() {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(cell)) {
            builder.append_null();
            continue;
        }
        let text = data.get(start.as_usize()..end.as_usize()).and_then(|bytes| std::str::from_utf8(bytes).ok());
        builder.append_value(text.ok_or_else(|| Error::NotText { field: field.to_owned(), cell, datatype })?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Text of two or four bytes a character as UTF-8. UCS-2 is read as UTF-16, of which it is a part, and UCS-4 as UTF-32.
pub(crate) fn from_wide(field: &str, buffer: &FieldBuffer) -> Result<ArrayRef, Error> {
    let datatype = buffer.datatype();
    let mut builder = LargeStringBuilder::with_capacity(buffer.len(), buffer.data().len());
    let mut text = String::new();
    for cell in 0..buffer.len() {
        if buffer.is_null(cell) {
            builder.append_null();
            continue;
        }
        text.clear();
        let bytes = buffer.cell(cell).unwrap_or_default();
        let decoded = if datatype.size() == 2 { push_utf16(&mut text, bytes) } else { push_utf32(&mut text, bytes) };
        decoded.ok_or_else(|| Error::NotText { field: field.to_owned(), cell, datatype })?;
        builder.append_value(&text);
    }
    Ok(Arc::new(builder.finish()))
}

/// None for half a character and for a surrogate without its other half.
fn push_utf16(text: &mut String, bytes: &[u8]) -> Option<()> {
    let (units, rest) = bytes.as_chunks();
    let units = units.iter().map(|&unit| u16::from_le_bytes(unit));
    char::decode_utf16(units).try_for_each(|decoded| decoded.map(|character| text.push(character))).ok()?;
    rest.is_empty().then_some(())
}

/// None for part of a character and for numbers that are not one.
fn push_utf32(text: &mut String, bytes: &[u8]) -> Option<()> {
    let (characters, rest) = bytes.as_chunks();
    for &character in characters {
        text.push(char::from_u32(u32::from_le_bytes(character))?);
    }
    rest.is_empty().then_some(())
}
