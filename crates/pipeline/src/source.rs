//! Where the bytes of a tile come from that is encoded.

/// The bytes of a tile, from the first to the last.
///
/// A tile whose cells lie apart is put together chunk by chunk, so that it is never whole in memory: a chunk stays in the
/// core's cache until its filters have run.
pub trait TileSource {
    /// Bytes of the tile.
    fn bytes(&self) -> usize;

    /// The next `len` bytes, fewer only where the tile ends. Where they do not lie side by side, they are put together in
    /// `room`, which holds anything before.
    fn next<'a>(&'a mut self, len: usize, room: &'a mut Vec<u8>) -> &'a [u8];
}

impl TileSource for &[u8] {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn next<'a>(&'a mut self, len: usize, _room: &'a mut Vec<u8>) -> &'a [u8] {
        let (next, rest) = self.split_at(len.min(self.len()));
        *self = rest;
        next
    }
}
