//! Enumerations (enumeration page; 03-schema §6).

use std::ops::Range;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_types::{CellValNum, Datatype};

use crate::{Rule, SchemaError};

/// The enumeration file's own version.
const VERSION: u32 = 0;

/// A list of distinct values that the cells of an attribute are indices into.
///
/// The specification leaves out the two names that every library writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    name: String,
    path_name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    ordered: bool,
    data: Vec<u8>,
    offsets: Option<Vec<u64>>,
    /// Indices in the order of the values' bytes, to find a value by.
    sorted: Vec<usize>,
}

impl Enumeration {
    /// The enumeration of the values in `data`: one after the other, or from each of `offsets` to the next if they are
    /// of variable length.
    ///
    /// `path_name` is the name of its file, `__<32 hexadecimal digits>_0`.
    ///
    /// # Errors
    /// [`SchemaError::Invalid`] when data and offsets do not cut into values, or when a value occurs twice.
    pub fn new(
        name: impl Into<String>,
        path_name: impl Into<String>,
        datatype: Datatype,
        cell_val_num: CellValNum,
        ordered: bool,
        data: Vec<u8>,
        offsets: Option<Vec<u64>>,
    ) -> Result<Self, SchemaError> {
        let (name, path_name) = (name.into(), path_name.into());
        let enumeration = Self { name, path_name, datatype, cell_val_num, ordered, data, offsets, sorted: Vec::new() };
        let field = format!("enumeration {:?}", enumeration.name);
        enumeration.checked().map_err(|rule| rule.broken_by(field))
    }

    /// The enumeration of these values, which are concatenated; otherwise as [`Enumeration::new`].
    ///
    /// # Errors
    /// As [`Enumeration::new`].
    pub fn from_values<'a>(
        name: impl Into<String>,
        path_name: impl Into<String>,
        datatype: Datatype,
        cell_val_num: CellValNum,
        ordered: bool,
        values: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, SchemaError> {
        let (mut data, mut offsets) = (Vec::new(), Vec::new());
        for value in values {
            offsets.push(data.len() as u64);
            data.extend_from_slice(value);
        }
        let offsets = cell_val_num.is_var().then_some(offsets);
        Self::new(name, path_name, datatype, cell_val_num, ordered, data, offsets)
    }

    /// This enumeration with more values behind its own, in a new file.
    ///
    /// # Errors
    /// As [`Enumeration::new`], and when there is no value to add.
    pub fn extended<'a>(
        &'a self,
        path_name: impl Into<String>,
        values: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, SchemaError> {
        let all = self.values().chain(values);
        let new = Self::from_values(&*self.name, path_name, self.datatype, self.cell_val_num, self.ordered, all)?;
        new.check_extends(self)?;
        Ok(new)
    }

    /// The name by which attributes refer to it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its file.
    #[must_use]
    pub fn path_name(&self) -> &str {
        &self.path_name
    }

    /// The datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How many values of the datatype make a value of the enumeration.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Whether the order of the values means something, so that cells may be compared by index.
    #[must_use]
    pub fn ordered(&self) -> bool {
        self.ordered
    }

    /// All values, one after the other.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Where each value starts in the data, in bytes; `None` if all are of one size.
    #[must_use]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_deref()
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The bytes of the value with this index.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<&[u8]> {
        self.data.get(self.place(index)?)
    }

    /// The bytes of all values, by index.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|index| self.value(index).unwrap_or_default())
    }

    /// The index of the value with these bytes.
    #[must_use]
    pub fn index_of(&self, value: &[u8]) -> Option<usize> {
        let found = self.sorted.binary_search_by(|&index| self.value(index).unwrap_or_default().cmp(value));
        self.sorted.get(found.ok()?).copied()
    }

    /// Whether this enumeration has the name and kind of `old`, all its values at their indices, and at least one more.
    #[must_use]
    pub fn extends(&self, old: &Self) -> bool {
        let alike = self.name == old.name
            && self.datatype == old.datatype
            && self.cell_val_num == old.cell_val_num
            && self.ordered == old.ordered;
        alike && self.len() > old.len() && self.values().zip(old.values()).all(|(new, old)| new == old)
    }

    /// As [`Enumeration::extends`], with an error for no.
    pub(crate) fn check_extends(&self, old: &Self) -> Result<(), SchemaError> {
        if self.extends(old) {
            return Ok(());
        }
        Err(Rule::EnumerationExtension.broken_by(format!("enumeration {:?}", self.name)))
    }

    /// Reads an enumeration, all of `payload`: that of its file's generic tile.
    ///
    /// # Errors
    /// A [`DecodeError`] for damaged bytes, data and offsets that do not cut into values, and a value that occurs twice.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let version = r.u32("enumeration version")?;
        if version != VERSION {
            return Err(DecodeErrorKind::Invalid { found: version.into(), expected: "0" }.at("enumeration version", 0));
        }
        let name = r.string_u32("enumeration name")?;
        let path_name = r.string_u32("enumeration path name")?;
        let datatype = Datatype::decode(&mut r, "enumeration datatype")?;
        let cell_val_num = CellValNum::decode(&mut r, "enumeration cell val num")?;
        let ordered = r.bool("enumeration ordered")?;
        let at_data = r.offset();
        let data = r.bytes_u64("enumeration data")?.to_vec();
        let offsets = if cell_val_num.is_var() { Some(decode_offsets(&mut r)?) } else { None };
        r.finish("enumeration")?;
        let enumeration = Self { name, path_name, datatype, cell_val_num, ordered, data, offsets, sorted: Vec::new() };
        let refused = |rule: Rule| DecodeErrorKind::Refused { reason: rule.to_string() }.at("enumeration data", at_data);
        enumeration.checked().map_err(refused)
    }

    /// Writes the enumeration.
    pub fn encode(&self, w: &mut Writer) {
        w.u32(VERSION);
        w.string_u32(&self.name);
        w.string_u32(&self.path_name);
        self.datatype.encode(w);
        self.cell_val_num.encode(w);
        w.bool(self.ordered);
        w.bytes_u64(&self.data);
        if let Some(offsets) = &self.offsets {
            w.u64(offsets.len() as u64 * 8);
            w.u64s(offsets);
        }
    }

    /// Checks that data and offsets cut into distinct values, and sorts these.
    fn checked(mut self) -> Result<Self, Rule> {
        let count = self.count().ok_or(Rule::EnumerationShape)?;
        let mut sorted = (0..count).collect::<Vec<_>>();
        let value = |index: &usize| self.place(*index).and_then(|place| self.data.get(place));
        if sorted.iter().any(|index| value(index).is_none()) {
            return Err(Rule::EnumerationShape);
        }
        sorted.sort_unstable_by(|a, b| value(a).cmp(&value(b)));
        if sorted.iter().zip(sorted.iter().skip(1)).any(|(a, b)| value(a) == value(b)) {
            return Err(Rule::EnumerationDuplicate);
        }
        self.sorted = sorted;
        Ok(self)
    }

    /// The number of values, if data and offsets agree with the cells.
    fn count(&self) -> Option<usize> {
        match (&self.offsets, self.value_bytes()) {
            (Some(offsets), None) => Some(offsets.len()),
            (None, Some(bytes)) => self.data.len().is_multiple_of(bytes).then(|| self.data.len() / bytes),
            _ => None,
        }
    }

    /// Bytes of a value; `None` if they differ.
    fn value_bytes(&self) -> Option<usize> {
        usize::try_from(self.cell_val_num.fixed()?).ok()?.checked_mul(self.datatype.size())
    }

    /// Where in the data a value is.
    fn place(&self, index: usize) -> Option<Range<usize>> {
        let Some(offsets) = &self.offsets else {
            let bytes = self.value_bytes()?;
            let start = index.checked_mul(bytes)?;
            return Some(start..start.checked_add(bytes)?);
        };
        let start = usize::try_from(*offsets.get(index)?).ok()?;
        let end = offsets.get(index.checked_add(1)?).map_or(Ok(self.data.len()), |end| usize::try_from(*end)).ok()?;
        Some(start..end)
    }
}

fn decode_offsets(r: &mut Reader<'_>) -> Result<Vec<u64>, DecodeError> {
    let before = r.clone();
    let bytes = r.u64("enumeration offsets size")?;
    if !bytes.is_multiple_of(8) {
        return Err(before.invalid("enumeration offsets size", bytes, "a multiple of 8"));
    }
    r.u64s(bytes / 8, "enumeration offsets")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(values: &[&str]) -> Result<Enumeration, SchemaError> {
        let values = values.iter().map(|value| value.as_bytes());
        Enumeration::from_values("colours", "__0_0", Datatype::StringUtf8, CellValNum::Var, false, values)
    }

    #[test]
    fn values_are_found_by_index_and_indices_by_value() {
        let enumeration = colours(&["red", "", "green"]).unwrap();
        assert_eq!(enumeration.offsets(), Some(&[0, 3, 3][..]));
        assert_eq!(enumeration.values().collect::<Vec<_>>(), [&b"red"[..], b"", b"green"]);
        assert_eq!(enumeration.value(3), None);
        assert_eq!(
            ["red", "", "green", "blue"].map(|value| enumeration.index_of(value.as_bytes())),
            [Some(0), Some(1), Some(2), None]
        );
    }

    #[test]
    fn values_that_occur_twice_are_refused() {
        assert_eq!(colours(&["red", "red"]).unwrap_err().to_string(), "enumeration \"colours\": a value occurs twice");
    }

    #[test]
    fn data_that_does_not_cut_into_values_is_refused() {
        let make = |cell_val_num, data: &[u8], offsets| {
            Enumeration::new("e", "__0_0", Datatype::Int16, cell_val_num, true, data.to_vec(), offsets)
        };
        assert!(make(CellValNum::ONE, &[1, 0, 2, 0], None).is_ok());
        assert!(make(CellValNum::ONE, &[1, 0, 2], None).is_err());
        assert!(make(CellValNum::ONE, &[1, 0], Some(vec![0])).is_err());
        assert!(make(CellValNum::Var, &[1, 0], None).is_err());
        assert!(make(CellValNum::Var, &[1, 0, 2, 0], Some(vec![0, 5])).is_err());
        assert!(make(CellValNum::Var, &[1, 0, 2, 0], Some(vec![2, 0])).is_err());
        assert!(make(CellValNum::Var, &[], Some(vec![])).unwrap().is_empty());
    }

    #[test]
    fn extensions_start_with_all_that_was_there() {
        let old = colours(&["red", "green"]).unwrap();
        let new = old.extended("__1_0", [&b"blue"[..]]).unwrap();
        assert!(new.extends(&old) && !old.extends(&new) && !old.extends(&old));
        assert_eq!((new.name(), new.path_name(), new.len()), ("colours", "__1_0", 3));
        assert!(!colours(&["red", "green2", "blue"]).unwrap().extends(&old));
        assert!(old.extended("__1_0", []).is_err());
        assert!(old.extended("__1_0", [&b"red"[..]]).is_err());
    }
}
