//! The cells of one field in memory: what users, the reader and writers share.

use std::ops::Range;

use talavera_types::{CellValNum, Datatype, Native};

use crate::Error;

/// Bytes whose first one lies where any value of the format may start, so that they can be seen as typed values.
#[derive(Clone, Default)]
pub struct CellBytes {
    words: Vec<u64>,
    len: usize,
}

/// The cells of one field: an attribute, a dimension, or the cells' timestamps.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldBuffer {
    datatype: Datatype,
    cell_val_num: CellValNum,
    data: CellBytes,
    offsets: Option<Vec<u64>>,
    validity: Option<Vec<u8>>,
}

impl CellBytes {
    /// `len` zero bytes.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self { words: crate::reuse::zeroed(len.div_ceil(8)), len }
    }

    /// `len` bytes without a meaning, of which the caller writes each.
    pub(crate) fn meaningless(len: usize) -> Self {
        Self { words: crate::reuse::meaningless(len.div_ceil(8)), len }
    }

    /// `len` zero bytes, for a length that a caller's question gives.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the machine has no such memory, instead of the end of the process.
    pub(crate) fn try_zeroed(what: &'static str, len: usize) -> Result<Self, Error> {
        // Zeroed memory comes untouched from the system, but cannot be asked for with an answer; so it is asked for twice.
        Self::check_available(what, len)?;
        Ok(Self::zeroed(len))
    }

    /// Whether the machine would give so much memory.
    pub(crate) fn check_available(what: &'static str, len: usize) -> Result<(), Error> {
        /// Below this, memory is there or nothing works.
        const LARGE: usize = 64 << 20;
        if len >= LARGE && Vec::<u64>::new().try_reserve_exact(len.div_ceil(8)).is_err() {
            return Err(Error::OutOfMemory { what, needed: len as u64 });
        }
        Ok(())
    }

    /// Room for `len` more bytes, for a length that files give: one that the machine does not have is not asked for.
    pub(crate) fn try_reserve(&mut self, what: &'static str, len: usize) -> Result<(), Error> {
        let reserved = self.words.try_reserve_exact(len.div_ceil(8));
        reserved.map_err(|_| Error::OutOfMemory { what, needed: len as u64 })
    }

    /// Appends the bytes of another buffer.
    fn append(&mut self, more: &Self) {
        let start = self.len;
        if start.is_multiple_of(8) {
            self.words.extend_from_slice(&more.words);
            self.len += more.len;
            return;
        }
        self.len = start + more.len;
        self.words.resize(self.len.div_ceil(8), 0);
        if let Some(target) = self.get_mut(start..) {
            target.copy_from_slice(more);
        }
    }

    /// A copy of `bytes`.
    #[must_use]
    pub fn copied(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }

    /// The memory itself, with the number of bytes of it that are used: for those who take it over without a copy.
    #[must_use]
    pub fn into_words(mut self) -> (Vec<u64>, usize) {
        (std::mem::take(&mut self.words), self.len)
    }

    /// The bytes as values.
    ///
    /// Bytes behind the last whole value are left out.
    #[must_use]
    pub fn as_values<T: Native + bytemuck::Pod>(&self) -> &[T] {
        let whole = self.len - self.len % size_of::<T>();
        self.get(..whole).map_or(&[], |bytes| bytemuck::try_cast_slice(bytes).unwrap_or(&[]))
    }
}

impl Drop for CellBytes {
    fn drop(&mut self) {
        crate::reuse::keep(std::mem::take(&mut self.words));
    }
}

impl std::ops::Deref for CellBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        bytes.get(..self.len).unwrap_or(bytes)
    }
}

impl std::ops::DerefMut for CellBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        let len = self.len.min(bytes.len());
        bytes.split_at_mut(len).0
    }
}

impl PartialEq for CellBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl std::fmt::Debug for CellBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CellBytes({} bytes)", self.len)
    }
}

impl FieldBuffer {
    /// The cells of a field from their parts.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the parts do not describe the same number of cells: offsets are the start of each cell in
    /// bytes and one more, the length of the data; validity is one byte a cell, 0 for null.
    pub fn new(
        datatype: Datatype,
        cell_val_num: CellValNum,
        data: CellBytes,
        offsets: Option<Vec<u64>>,
        validity: Option<Vec<u8>>,
    ) -> Result<Self, Error> {
        let buffer = Self { datatype, cell_val_num, data, offsets, validity };
        buffer.check().map(|()| buffer)
    }

    /// A field without cells.
    #[must_use]
    pub fn empty(datatype: Datatype, cell_val_num: CellValNum, nullable: bool) -> Self {
        let offsets = cell_val_num.is_var().then(|| vec![0]);
        Self { datatype, cell_val_num, data: CellBytes::default(), offsets, validity: nullable.then(Vec::new) }
    }

    fn check(&self) -> Result<(), Error> {
        let cells = self.len();
        let fits = match (&self.offsets, self.cell_val_num) {
            (Some(offsets), CellValNum::Var) => {
                offsets.first() == Some(&0) && offsets.is_sorted() && offsets.last() == Some(&(self.data.len() as u64))
            }
            (None, CellValNum::Fixed(_)) => self.data.len() == cells * self.cell_bytes().unwrap_or(1),
            _ => false,
        };
        if !fits || self.validity.as_ref().is_some_and(|validity| validity.len() != cells) {
            return Err(Error::invalid("data, offsets and validity of a field do not describe the same cells"));
        }
        Ok(())
    }

    /// The datatype of a value.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// The number of values in a cell.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Bytes of a cell, where all have the same length.
    #[must_use]
    pub fn cell_bytes(&self) -> Option<usize> {
        let values = usize::try_from(self.cell_val_num.fixed()?).ok()?;
        values.checked_mul(self.datatype.size())
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        match (&self.offsets, self.cell_bytes()) {
            (Some(offsets), _) => offsets.len().saturating_sub(1),
            (None, Some(bytes)) => self.data.len() / bytes.max(1),
            (None, None) => 0,
        }
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all cells, one behind the other. What stands under a null is whatever was written.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub(crate) fn bytes(&self) -> &CellBytes {
        &self.data
    }

    /// Where each cell starts in the data, in bytes, and one more: the length of the data. For cells of variable length.
    #[must_use]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_deref()
    }

    /// One byte a cell, 0 for null and anything else for a value. For nullable fields.
    #[must_use]
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_deref()
    }

    /// Whether this cell is null.
    #[must_use]
    pub fn is_null(&self, cell: usize) -> bool {
        self.validity.as_ref().and_then(|validity| validity.get(cell)).is_some_and(|&valid| valid == 0)
    }

    /// The bytes of one cell, null or not; none when there is no such cell.
    #[must_use]
    pub fn cell(&self, cell: usize) -> Option<&[u8]> {
        match &self.offsets {
            Some(offsets) => {
                let (&start, &end) = (offsets.get(cell)?, offsets.get(cell + 1)?);
                self.data.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
            }
            None => {
                let bytes = self.cell_bytes()?;
                let start = cell.checked_mul(bytes)?;
                self.data.get(start..start.checked_add(bytes)?)
            }
        }
    }

    /// The data as values of `T`, `values per cell × cells` of them.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `T` is not the Rust type of the datatype. Dates and times are `i64`, text and bytes `u8`.
    pub fn values<T: Native + bytemuck::Pod>(&self) -> Result<&[T], Error> {
        let matches =
            talavera_types::with_datatype!(self.datatype, N => std::any::TypeId::of::<N>() == std::any::TypeId::of::<T>());
        if !matches {
            return Err(Error::invalid(format!("{} cells cannot be seen as {}", self.datatype, std::any::type_name::<T>())));
        }
        Ok(self.data.as_values())
    }

    /// Replaces some cells by a fill value.
    pub(crate) fn fill_where(&mut self, replaced: impl Fn(usize) -> bool, value: &[u8], validity: u8) {
        let cells = self.len();
        if let Some(valid) = &mut self.validity {
            valid.iter_mut().enumerate().filter(|(cell, _)| replaced(*cell)).for_each(|(_, valid)| *valid = validity);
        }
        if let Some(bytes) = self.cell_bytes() {
            let all = self.data.chunks_exact_mut(bytes.max(1)).enumerate();
            all.filter(|(cell, target)| target.len() == value.len() && replaced(*cell))
                .for_each(|(_, target)| target.copy_from_slice(value));
            return;
        }
        let (mut data, mut offsets) = (Vec::with_capacity(self.data.len()), Vec::with_capacity(cells + 1));
        offsets.push(0);
        for cell in 0..cells {
            data.extend_from_slice(if replaced(cell) { value } else { self.cell(cell).unwrap_or_default() });
            offsets.push(data.len() as u64);
        }
        (self.data, self.offsets) = (CellBytes::copied(&data), Some(offsets));
    }

    /// These cells, in this order; cells that there are not are left out.
    pub(crate) fn pick(&self, cells: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let validity = self.validity.as_ref();
        let validity = validity.map(|validity| cells.clone().filter_map(|cell| validity.get(cell)).copied().collect());
        let (data, offsets) = match self.cell_bytes() {
            Some(bytes) => {
                let mut data = CellBytes::zeroed(cells.len() * bytes);
                copy_cells(&mut data, &self.data, bytes, cells);
                (data, None)
            }
            None => {
                let mut offsets = Vec::with_capacity(cells.len() + 1);
                offsets.push(0);
                let mut data = Vec::new();
                for cell in cells {
                    data.extend_from_slice(self.cell(cell).unwrap_or_default());
                    offsets.push(data.len() as u64);
                }
                (CellBytes::copied(&data), Some(offsets))
            }
        };
        Self { datatype: self.datatype, cell_val_num: self.cell_val_num, data, offsets, validity }
    }

    /// The cells of these runs, one behind the other.
    pub(crate) fn pick_runs(&self, runs: &[Range<usize>]) -> Self {
        if let [run] = runs {
            return self.slice(run.clone());
        }
        let cells: Vec<usize> = runs.iter().cloned().flatten().collect();
        self.pick(cells.iter().copied())
    }

    /// Makes room for this many cells in all, of the length that they have.
    pub(crate) fn try_reserve(&mut self, cells: usize) -> Result<(), Error> {
        const WHAT: &str = "the cells of a field";
        let out_of_memory = |_| Error::OutOfMemory { what: WHAT, needed: cells as u64 };
        if let Some(bytes) = self.cell_bytes() {
            self.data.try_reserve(WHAT, cells.saturating_mul(bytes).saturating_sub(self.data.len()))?;
        }
        if let Some(offsets) = &mut self.offsets {
            offsets.try_reserve_exact((cells + 1).saturating_sub(offsets.len())).map_err(out_of_memory)?;
        }
        if let Some(validity) = &mut self.validity {
            validity.try_reserve_exact(cells.saturating_sub(validity.len())).map_err(out_of_memory)?;
        }
        Ok(())
    }

    /// Appends the cells of another buffer of the same field.
    pub(crate) fn append(&mut self, more: &Self) {
        if let (Some(offsets), Some(more)) = (&mut self.offsets, &more.offsets) {
            let end = self.data.len() as u64;
            offsets.extend(more.iter().skip(1).map(|offset| end + offset));
        }
        if let (Some(validity), Some(more)) = (&mut self.validity, &more.validity) {
            validity.extend_from_slice(more);
        }
        self.data.append(&more.data);
    }

    /// The cells of a range that lies within them.
    pub(crate) fn slice(&self, cells: Range<usize>) -> Self {
        let validity = self.validity.as_ref().map(|validity| validity.get(cells.clone()).unwrap_or_default().to_vec());
        let offsets = self.offsets.as_ref().map(|offsets| offsets.get(cells.start..=cells.end).unwrap_or_default());
        let bytes = match (offsets, self.cell_bytes()) {
            (Some(offsets), _) => {
                let end = |offset: Option<&u64>| offset.and_then(|&offset| usize::try_from(offset).ok()).unwrap_or(0);
                end(offsets.first())..end(offsets.last())
            }
            (None, bytes) => cells.start * bytes.unwrap_or(0)..cells.end * bytes.unwrap_or(0),
        };
        let data = CellBytes::copied(self.data.get(bytes).unwrap_or_default());
        let offsets = offsets.map(|offsets| offsets.iter().map(|offset| offset - offsets.first().unwrap_or(&0)).collect());
        Self { datatype: self.datatype, cell_val_num: self.cell_val_num, data, offsets, validity }
    }

    /// The cells of this and then those of another buffer of the same field.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        let data = CellBytes::copied(&[self.data(), other.data()].concat());
        let offsets = self.offsets.as_ref().zip(other.offsets.as_ref()).map(|(first, second)| {
            let end = first.last().copied().unwrap_or(0);
            first.iter().copied().chain(second.iter().skip(1).map(|offset| end + offset)).collect()
        });
        let validity =
            self.validity.as_ref().zip(other.validity.as_ref()).map(|(first, second)| [first.as_slice(), second].concat());
        Self { datatype: self.datatype, cell_val_num: self.cell_val_num, data, offsets, validity }
    }

    /// Data, offsets and validity, for those who take the memory over.
    #[must_use]
    pub fn into_parts(self) -> (CellBytes, Option<Vec<u64>>, Option<Vec<u8>>) {
        (self.data, self.offsets, self.validity)
    }

    /// Bytes of memory that the cells take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.len() * 8);
        let validity = self.validity.as_ref().map_or(0, Vec::len);
        (self.data.len() + offsets + validity) as u64
    }
}

/// Copies cells of `cell_bytes` each to `target`, one behind the other; cells that there are not are left as they are.
pub(crate) fn copy_cells(target: &mut [u8], source: &[u8], cell_bytes: usize, cells: impl Iterator<Item = usize>) {
    /// A copy of a length that the compiler knows is a move.
    fn copy<const N: usize>(target: &mut [u8], source: &[u8], cells: impl Iterator<Item = usize>) {
        let source = source.as_chunks::<N>().0;
        for (target, cell) in target.as_chunks_mut::<N>().0.iter_mut().zip(cells) {
            if let Some(source) = source.get(cell) {
                *target = *source;
            }
        }
    }
    match cell_bytes {
        1 => copy::<1>(target, source, cells),
        2 => copy::<2>(target, source, cells),
        4 => copy::<4>(target, source, cells),
        8 => copy::<8>(target, source, cells),
        _ => {
            for (target, cell) in target.chunks_exact_mut(cell_bytes.max(1)).zip(cells) {
                let start = cell.saturating_mul(cell_bytes);
                if let Some(source) = source.get(start..start.saturating_add(cell_bytes)) {
                    target.copy_from_slice(source);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_variable_length_are_found_by_their_offsets() {
        let data = CellBytes::copied(b"abcde");
        let buffer =
            FieldBuffer::new(Datatype::StringAscii, CellValNum::Var, data, Some(vec![0, 2, 2, 5]), Some(vec![1, 1, 0])).unwrap();
        assert_eq!(buffer.len(), 3);
        assert_eq!(
            [buffer.cell(0), buffer.cell(1), buffer.cell(2), buffer.cell(3)],
            [Some(&b"ab"[..]), Some(b""), Some(b"cde"), None]
        );
        assert!(!buffer.is_null(0) && buffer.is_null(2));
    }

    #[test]
    fn parts_that_disagree_are_refused() {
        let refused = |offsets: Vec<u64>, validity| {
            let data = CellBytes::copied(b"abcde");
            FieldBuffer::new(Datatype::StringAscii, CellValNum::Var, data, Some(offsets), validity).is_err()
        };
        assert!(refused(vec![0, 6], None), "offsets beyond the data");
        assert!(refused(vec![0, 3, 2, 5], None), "offsets that fall");
        assert!(refused(vec![1, 5], None), "a first offset that is not 0");
        assert!(refused(vec![0, 5], Some(vec![1, 1])), "more validity than cells");
    }

    #[test]
    fn values_have_the_type_of_the_datatype_and_no_other() {
        let data = CellBytes::copied(&[1, 0, 0, 0, 2, 0, 0, 0]);
        let buffer = FieldBuffer::new(Datatype::Int32, CellValNum::ONE, data, None, None).unwrap();
        assert_eq!(buffer.values::<i32>().unwrap(), [1, 2]);
        assert!(buffer.values::<u32>().is_err());
    }
}
