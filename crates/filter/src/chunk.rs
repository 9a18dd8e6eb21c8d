//! What travels through a pipeline: the bytes of one chunk and the metadata that filters put beside them.

use std::borrow::Cow;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader};

use crate::Buffers;

/// Pieces of bytes that later filters treat one by one.
///
/// A filter may cut what it writes into parts, and the filter behind it handles each part alone; on disk they stand
/// back to back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts<'a>(Vec<Cow<'a, [u8]>>);

impl<'a> Parts<'a> {
    /// No parts.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// One part.
    #[must_use]
    pub fn one(part: impl Into<Cow<'a, [u8]>>) -> Self {
        Self(vec![part.into()])
    }

    /// The same parts behind one more.
    #[must_use]
    pub fn behind(mut self, first: impl Into<Cow<'a, [u8]>>) -> Self {
        self.0.insert(0, first.into());
        self
    }

    /// How many parts there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Bytes of all parts together.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.0.iter().map(|part| part.len()).sum()
    }

    /// The parts in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// As a filter hands on a list that it does not change: without any bytes, it has no parts.
    ///
    /// The reference passes lists on as views and an empty view counts as none, which the framing of later filters
    /// shows (10-tile-chunks §6).
    #[must_use]
    pub fn passed_on(self) -> Self {
        if self.total_bytes() == 0 { Self::none() } else { self }
    }

    /// Leaves the buffers of parts that nobody reads any more.
    pub fn give_back(self, buffers: &Buffers) {
        self.0.into_iter().for_each(|part| buffers.give_back(part));
    }

    /// All parts back to back, without a copy where there is only one.
    #[must_use]
    pub fn concat(mut self) -> Cow<'a, [u8]> {
        match self.0.len() {
            1 => self.0.swap_remove(0),
            _ => Cow::Owned(self.0.concat()),
        }
    }
}

/// A chunk on its way to disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// What the filters so far wrote beside the data, newest first.
    pub metadata: Parts<'a>,
    /// The cells as the filters so far left them.
    pub data: Parts<'a>,
}

impl<'a> Chunk<'a> {
    /// A chunk of cells that no filter has touched.
    #[must_use]
    pub fn new(cells: &'a [u8]) -> Self {
        Self { metadata: Parts::none(), data: Parts::one(cells) }
    }

    /// The chunk as a filter hands it on that does nothing to it, by [`Parts::passed_on`].
    #[must_use]
    pub fn passed_on(self) -> Self {
        Self { metadata: self.metadata.passed_on(), data: self.data.passed_on() }
    }
}

/// A chunk on its way from disk: parts stand back to back, and only the filter that wrote them knows their lengths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncodedChunk<'a> {
    /// What the filters still to be undone wrote beside the data, newest first.
    pub metadata: Cow<'a, [u8]>,
    /// The data as those filters left it.
    pub data: Cow<'a, [u8]>,
}

impl<'a> EncodedChunk<'a> {
    /// A chunk as it stands on disk.
    #[must_use]
    pub fn new(metadata: &'a [u8], data: &'a [u8]) -> Self {
        Self { metadata: Cow::Borrowed(metadata), data: Cow::Borrowed(data) }
    }

    /// The chunk without the first `len` bytes of its metadata, which a filter has consumed.
    #[must_use]
    pub fn consume_metadata(self, len: usize) -> Self {
        let metadata = match self.metadata {
            Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(len..).unwrap_or_default()),
            Cow::Owned(mut bytes) => {
                bytes.drain(..len.min(bytes.len()));
                Cow::Owned(bytes)
            }
        };
        Self { metadata, data: self.data }
    }

    /// Copies what is left when all filters are undone.
    ///
    /// # Errors
    /// A [`DecodeError`] when metadata is left, or there are more or fewer bytes than `cells` holds.
    pub fn copy_into(&self, cells: &mut [u8]) -> Result<(), DecodeError> {
        Reader::new(&self.metadata).finish("chunk metadata")?;
        if self.data.len() != cells.len() {
            let kind = DecodeErrorKind::Mismatch { found: self.data.len() as u64, expected: cells.len() as u64 };
            return Err(kind.at("chunk data length", 0));
        }
        cells.copy_from_slice(&self.data);
        Ok(())
    }
}
