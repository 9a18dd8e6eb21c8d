//! A tile on its way into a fragment: its cells gathered, or left where the caller has them until they are encoded.

use std::ops::Range;

use talavera_pipeline::TileSource;
use talavera_schema::NdRange;

use crate::FieldBuffer;

/// A tile to be written.
pub(crate) struct Tile<'c> {
    /// Its cells field by field, in the order of [`super::fragment::FragmentWriter::fields`].
    fields: Vec<TileCells<'c>>,
    /// The cells of buffers that are left in place which are the tile's, in its order.
    runs: Vec<Range<usize>>,
    all: Range<usize>,
    /// The cells that statistics count: all but those that fill up a tile of a dense fragment.
    written: Vec<Range<usize>>,
    /// The ranges of the coordinates, in a sparse fragment.
    pub(crate) mbr: Option<NdRange>,
}

/// The cells of one field of a tile.
pub(crate) enum TileCells<'c> {
    /// They alone, side by side.
    Gathered(FieldBuffer),
    /// In a caller's buffer, of fixed length and among others.
    InPlace(&'c FieldBuffer),
}

impl<'c> Tile<'c> {
    /// A tile of gathered cells.
    pub(crate) fn gathered(fields: Vec<FieldBuffer>, cells: usize, written: Vec<Range<usize>>, mbr: Option<NdRange>) -> Self {
        let fields = fields.into_iter().map(TileCells::Gathered).collect();
        Self { fields, runs: Vec::new(), all: 0..cells, written, mbr }
    }

    /// A tile of these cells of the callers' buffers, one run behind the other.
    pub(crate) fn in_place(buffers: impl Iterator<Item = &'c FieldBuffer>, runs: Vec<Range<usize>>) -> Self {
        let cells = runs.iter().map(Range::len).sum();
        let field = |buffer: &'c FieldBuffer| match buffer.cell_bytes() {
            Some(_) => TileCells::InPlace(buffer),
            None => TileCells::Gathered(buffer.pick_runs(&runs)),
        };
        let fields = buffers.map(field).collect();
        Self { fields, runs, all: 0..cells, written: std::iter::once(0..cells).collect(), mbr: None }
    }

    /// Its cells, those that only fill it up included.
    pub(crate) fn cells(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn fields(&self) -> Vec<FieldTile<'_>> {
        let field = |cells| match cells {
            &TileCells::InPlace(buffer) => FieldTile { buffer, runs: &self.runs, written: &self.runs },
            TileCells::Gathered(buffer) => FieldTile { buffer, runs: std::slice::from_ref(&self.all), written: &self.written },
        };
        self.fields.iter().map(field).collect()
    }
}

/// The cells of one field of a tile, as runs of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct FieldTile<'t> {
    pub(crate) buffer: &'t FieldBuffer,
    /// The tile's cells, in its order.
    pub(crate) runs: &'t [Range<usize>],
    /// Those of them that statistics count.
    pub(crate) written: &'t [Range<usize>],
}

impl<'t> FieldTile<'t> {
    pub(crate) fn is_whole(&self) -> bool {
        self.runs == self.written
    }

    /// The bytes of the cells, of `cell_bytes` each, in `data`; `look` sees all of them, in order.
    pub(crate) fn source<F: FnMut(&[u8])>(&self, data: &'t [u8], cell_bytes: usize, look: F) -> RunSource<'t, F> {
        RunSource { data, cell_bytes, runs: self.runs.iter(), rest: 0..0, bytes: self.len() * cell_bytes, look }
    }

    /// The bytes of each run.
    pub(crate) fn pieces(&self, data: &'t [u8], cell_bytes: usize) -> impl Iterator<Item = &'t [u8]> {
        self.runs.iter().filter_map(move |run| data.get(run.start * cell_bytes..run.end * cell_bytes))
    }

    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Range::len).sum()
    }
}

/// Runs of cells as the bytes of a tile.
pub(crate) struct RunSource<'t, F> {
    data: &'t [u8],
    cell_bytes: usize,
    runs: std::slice::Iter<'t, Range<usize>>,
    /// What is left of a run, in bytes.
    rest: Range<usize>,
    bytes: usize,
    look: F,
}

impl<'t, F> RunSource<'t, F> {
    /// The bytes from a place on.
    pub(crate) fn skip(mut self, bytes: usize) -> Self {
        let mut left = bytes;
        while left > 0 {
            let piece = self.piece(left).len();
            if piece == 0 {
                break;
            }
            left -= piece;
        }
        self.bytes -= bytes - left;
        self
    }

    /// The next bytes that lie side by side, `most` at most; none at the end.
    fn piece(&mut self, most: usize) -> &'t [u8] {
        while self.rest.is_empty() {
            let Some(run) = self.runs.next() else { return &[] };
            self.rest = run.start * self.cell_bytes..run.end * self.cell_bytes;
        }
        let end = self.rest.end.min(self.rest.start.saturating_add(most));
        let piece = self.data.get(self.rest.start..end).unwrap_or_default();
        self.rest.start = end;
        piece
    }
}

impl<F: FnMut(&[u8])> TileSource for RunSource<'_, F> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn next<'a>(&'a mut self, len: usize, room: &'a mut Vec<u8>) -> &'a [u8] {
        /// Bytes of a run that is looked at before it is copied, so that it comes from memory while they are counted.
        const LONG: usize = 512;
        room.clear();
        let mut seen = 0;
        while room.len() < len {
            let piece = self.piece(len - room.len());
            if piece.len() == len {
                (self.look)(piece);
                return piece;
            }
            if piece.is_empty() {
                break;
            }
            if piece.len() >= LONG {
                (self.look)(room.get(seen..).unwrap_or_default());
                (self.look)(piece);
                seen = room.len() + piece.len();
            }
            room.extend_from_slice(piece);
        }
        (self.look)(room.get(seen..).unwrap_or_default());
        room
    }
}

#[cfg(test)]
mod tests {
    use talavera_types::{CellValNum, Datatype};

    use super::*;
    use crate::CellBytes;

    fn numbers(cells: usize) -> FieldBuffer {
        let bytes: Vec<u8> = (0..cells as u64).flat_map(u64::to_le_bytes).collect();
        FieldBuffer::new(Datatype::UInt64, CellValNum::ONE, CellBytes::copied(&bytes), None, None).unwrap()
    }

    #[test]
    fn cells_side_by_side_are_handed_on_without_a_copy() {
        let cells = numbers(5000);
        let runs = [0..1000, 2000..4000];
        let tile = Tile::in_place(std::iter::once(&cells), runs.into());
        let fields = tile.fields();
        let mut source = fields[0].source(cells.data(), 8, |_| ());
        let mut copied = |len: usize| {
            let mut room = Vec::new();
            let in_place = cells.data().as_ptr_range().contains(&source.next(len, &mut room).as_ptr());
            (in_place, room.len())
        };
        assert_eq!(copied(4000), (true, 0));
        assert_eq!(copied(8000), (false, 8000), "over the end of a run");
        assert_eq!(copied(8000), (true, 0));
        assert_eq!(copied(4000), (true, 0));
    }

    #[test]
    fn runs_are_handed_on_in_chunks_and_seen_once_in_order() {
        let cells = numbers(5000);
        let some = [&[(7, 4000)][..], &[(10, 11), (3, 300), (300, 302), (1000, 4999), (0, 1)], &[(0, 0)], &[]];
        for runs in some {
            let runs: Vec<Range<usize>> = runs.iter().map(|&(start, end)| start..end).collect();
            let tile = Tile::in_place(std::iter::once(&cells), runs.clone());
            let expected: Vec<u8> = runs.into_iter().flatten().flat_map(|cell| (cell as u64).to_le_bytes()).collect();
            assert_eq!(tile.cells() * 8, expected.len());
            for len in [8, 24, 1032, 4096, 65536] {
                let fields = tile.fields();
                let (mut seen, mut given, mut room) = (Vec::new(), Vec::new(), vec![7; 3]);
                let mut source = fields[0].source(cells.data(), 8, |bytes| seen.extend_from_slice(bytes));
                assert_eq!(source.bytes(), expected.len());
                while given.len() < expected.len() {
                    let wanted = len.min(expected.len() - given.len());
                    let chunk = source.next(wanted, &mut room);
                    assert_eq!(chunk.len(), wanted);
                    given.extend_from_slice(chunk);
                }
                assert!(source.next(len, &mut room).is_empty());
                let mut skipped = fields[0].source(cells.data(), 8, |_| ()).skip(len);
                let rest = expected.get(len..).unwrap_or_default();
                assert_eq!(skipped.bytes(), rest.len());
                assert!(skipped.next(rest.len(), &mut room) == rest, "behind {len} bytes");
                assert!(given == expected && seen == expected, "chunks of {len} bytes");
            }
        }
    }
}
