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
        let bytes = self.runs.iter().map(|run| run.len() * cell_bytes).sum();
        RunSource { data, cell_bytes, runs: self.runs.iter(), rest: 0..0, bytes, look }
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
                assert!(given == expected && seen == expected, "chunks of {len} bytes");
            }
        }
    }
}
