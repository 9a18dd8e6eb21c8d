//! The filters with cells that they are made for, and a way to run them as a pipeline does.

use std::error::Error;

use talavera_codec::Limits;
use talavera_filter::{Buffers, Chunk, EncodedChunk, Filter, FilterContext, StringFilter, WebpFormat};
use talavera_types::{Datatype, FormatVersion};

use crate::{Cells, Codec};

/// A filter, cells and what it makes of them.
#[derive(Debug)]
pub struct Subject {
    /// The filter's place among the filters, from 1.
    pub number: u8,
    /// The filter's name.
    pub name: &'static str,
    /// What the cells are like.
    pub cells: Cells,
    filter: Box<dyn Filter>,
    codec: Option<Codec>,
    chunks: Vec<Piece>,
    /// Of the codec alone.
    encoded: Vec<u8>,
    offsets: Vec<u64>,
    buffers: Buffers,
}

/// A chunk in its three forms.
#[derive(Debug)]
struct Piece {
    cells: Vec<u8>,
    /// The start of each string and the end of the last; empty where there are no strings.
    offsets: Vec<u64>,
    metadata: Vec<u8>,
    data: Vec<u8>,
    /// As the codec alone encodes it.
    by_codec: Vec<u8>,
}

type Failure = Box<dyn Error>;

/// Bytes of a chunk.
pub const CHUNK_BYTES: usize = 64 << 10;

/// All filters, each with `bytes` of cells in chunks of [`CHUNK_BYTES`], filtered once.
///
/// # Errors
/// A filter that refuses its cells, or does not bring them back.
pub fn all(bytes: usize) -> Result<Vec<Subject>, Failure> {
    let reinterpret = Datatype::Any;
    let key = &[7; 32];
    // A chunk of pixels.
    let (y_extent, x_extent) = (128u16, 512u16);
    let webp = talavera_filter_webp::Webp { quality: 100.0, format: WebpFormat::Rgba, lossless: true, y_extent, x_extent };
    let scale = talavera_filter_float_scale::FloatScale { scale: 0.25, offset: 0.0, byte_width: 4 };
    let double_delta = talavera_filter_double_delta::DoubleDelta { reinterpret };
    let delta = talavera_filter_delta::Delta { reinterpret };
    let widths = talavera_filter_bit_width_reduction::BitWidthReduction::default();
    let positive = talavera_filter_positive_delta::PositiveDelta::default();
    let subjects = [
        Subject::new(1, "gzip", Cells::U32, talavera_filter_gzip::Gzip { level: 6 }).beside(Codec::gzip(6)),
        Subject::new(2, "zstd", Cells::U32, talavera_filter_zstd::Zstd { level: 3 }).beside(Codec::zstd(3)?),
        Subject::new(3, "lz4", Cells::U32, talavera_filter_lz4::Lz4).beside(Codec::lz4()),
        Subject::new(4, "rle", Cells::Runs, talavera_filter_rle::Rle),
        Subject::new(4, "rle", Cells::SortedWords, talavera_filter_rle::Rle),
        Subject::new(5, "bzip2", Cells::U32, talavera_filter_bzip2::Bzip2 { level: 1 }).beside(Codec::bzip2(1)),
        Subject::new(6, "double_delta", Cells::U32, double_delta),
        Subject::new(6, "double_delta", Cells::U64, double_delta),
        Subject::new(7, "bit_width_reduction", Cells::U32, widths),
        Subject::new(7, "bit_width_reduction", Cells::U64, widths),
        Subject::new(8, "bitshuffle", Cells::U32, talavera_filter_bitshuffle::Bitshuffle),
        Subject::new(8, "bitshuffle", Cells::F64, talavera_filter_bitshuffle::Bitshuffle),
        Subject::new(9, "byteshuffle", Cells::U32, talavera_filter_byteshuffle::Byteshuffle),
        Subject::new(9, "byteshuffle", Cells::F64, talavera_filter_byteshuffle::Byteshuffle),
        Subject::new(10, "positive_delta", Cells::U64, positive),
        Subject::new(11, "aes_256_gcm", Cells::U32, talavera_filter_aes_256_gcm::Aes256Gcm::new(key))
            .beside(Codec::aes_256_gcm(key)),
        Subject::new(12, "md5", Cells::U32, talavera_filter_md5::ChecksumMd5).beside(Codec::md5()),
        Subject::new(13, "sha256", Cells::U32, talavera_filter_sha256::ChecksumSha256).beside(Codec::sha256()),
        Subject::new(14, "dictionary", Cells::Words, talavera_filter_dictionary::Dictionary),
        Subject::new(15, "float_scale", Cells::F64, scale),
        Subject::new(16, "xor", Cells::U32, talavera_filter_xor::Xor),
        Subject::new(16, "xor", Cells::U64, talavera_filter_xor::Xor),
        Subject::new(17, "webp", Cells::Pixels, webp).beside(Codec::webp(u32::from(x_extent) / 4, y_extent.into())),
        Subject::new(18, "delta", Cells::U32, delta),
        Subject::new(18, "delta", Cells::U64, delta),
    ];
    subjects.into_iter().map(|subject| subject.with_cells(bytes)).collect()
}

impl Subject {
    fn new(number: u8, name: &'static str, cells: Cells, filter: impl Filter + 'static) -> Self {
        let (chunks, encoded, offsets) = (Vec::new(), Vec::new(), Vec::new());
        Self { number, name, cells, filter: Box::new(filter), codec: None, chunks, encoded, offsets, buffers: Buffers::new() }
    }

    fn beside(self, codec: Codec) -> Self {
        Self { codec: Some(codec), ..self }
    }

    /// Cuts cells into chunks, encodes them, and sees that they come back.
    fn with_cells(mut self, bytes: usize) -> Result<Self, Failure> {
        let cells = self.cells;
        let mut pieces: Vec<Piece> = match cells {
            Cells::Words | Cells::SortedWords => {
                cells.words(bytes).chunks(CHUNK_BYTES / 5).map(|words| Piece::new(words.concat().as_bytes(), words)).collect()
            }
            _ => cells.bytes(bytes).chunks(CHUNK_BYTES).map(|cells| Piece::new(cells, &[])).collect(),
        };
        for piece in &mut pieces {
            let limits = Limits::new(u64::MAX);
            let encoded = self.encode_piece(piece, &limits)?;
            let (metadata, data) = (encoded.metadata.concat().into_owned(), encoded.data.concat().into_owned());
            (piece.metadata, piece.data) = (metadata, data);
            if let Some(codec) = &mut self.codec {
                codec.encode(&piece.cells, &mut piece.by_codec)?;
            }
        }
        self.chunks = pieces;
        let mut decoded = vec![0; self.bytes()];
        self.decode(&mut decoded)?;
        if decoded != self.chunks.iter().map(|piece| piece.cells.as_slice()).collect::<Vec<_>>().concat() {
            return Err(format!("{}: what was decoded is not what was encoded", self.name).into());
        }
        Ok(self)
    }

    /// Bytes of all cells.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(|piece| piece.cells.len()).sum()
    }

    /// Encodes every chunk.
    ///
    /// # Errors
    /// None, since the chunks were encoded before.
    pub fn encode(&self) -> Result<(), Failure> {
        let limits = Limits::new(u64::MAX);
        for piece in &self.chunks {
            std::hint::black_box(self.encode_piece(piece, &limits)?).data.give_back(&self.buffers);
        }
        Ok(())
    }

    /// Decodes every chunk into `cells`, which is as long as all of them.
    ///
    /// # Errors
    /// None, since the chunks were decoded before.
    pub fn decode(&mut self, cells: &mut [u8]) -> Result<(), Failure> {
        let mut rest = cells;
        for piece in &self.chunks {
            let (target, behind) = rest.split_at_mut_checked(piece.cells.len()).ok_or("too little room")?;
            rest = behind;
            let limits = Limits::new(u64::MAX);
            let chunk = EncodedChunk::new(&piece.metadata, &piece.data);
            match strings(&*self.filter, piece) {
                Some(strings) => {
                    self.offsets.clear();
                    let cells = piece.offsets.len().saturating_sub(1);
                    strings.decode_strings(
                        chunk,
                        &context(self.cells, &limits, &self.buffers),
                        cells,
                        target,
                        &mut self.offsets,
                    )?;
                }
                None => self.filter.decode_into(chunk, &context(self.cells, &limits, &self.buffers), target)?,
            }
        }
        Ok(())
    }

    /// Encodes every chunk by the codec alone; says no where the filter is its own codec.
    ///
    /// # Errors
    /// None, since the chunks were encoded before.
    pub fn encode_by_codec(&mut self) -> Result<bool, Failure> {
        let Some(codec) = &mut self.codec else { return Ok(false) };
        for piece in &self.chunks {
            codec.encode(&piece.cells, &mut self.encoded)?;
        }
        Ok(true)
    }

    /// Decodes every chunk by the codec alone; says no where the filter is its own codec.
    ///
    /// # Errors
    /// None, since the codec encoded the chunks.
    pub fn decode_by_codec(&mut self, cells: &mut [u8]) -> Result<bool, Failure> {
        let Some(codec) = &mut self.codec else { return Ok(false) };
        let mut rest = cells;
        for piece in &self.chunks {
            let (target, behind) = rest.split_at_mut_checked(piece.cells.len()).ok_or("too little room")?;
            rest = behind;
            // A digest is of the cells.
            let encoded = if piece.by_codec.len() < 64 { &piece.cells } else { &piece.by_codec };
            codec.decode(encoded, target)?;
        }
        Ok(true)
    }

    /// Copies every chunk.
    pub fn copy(&self, cells: &mut [u8]) {
        let mut rest = cells;
        for piece in &self.chunks {
            let Some((target, behind)) = rest.split_at_mut_checked(piece.cells.len()) else { return };
            target.copy_from_slice(std::hint::black_box(&piece.cells));
            rest = behind;
        }
    }

    fn encode_piece<'a>(&self, piece: &'a Piece, limits: &Limits) -> Result<Chunk<'a>, Failure> {
        let cx = context(self.cells, limits, &self.buffers);
        match strings(&*self.filter, piece) {
            Some(strings) => Ok(strings.encode_strings(&piece.cells, &piece.offsets, &cx)?),
            None => Ok(self.filter.encode(Chunk::new(std::hint::black_box(&piece.cells)), &cx)?),
        }
    }
}

/// The filter as one of strings, where the chunk holds some.
fn strings<'f>(filter: &'f dyn Filter, piece: &Piece) -> Option<&'f dyn StringFilter> {
    filter.as_string_filter().filter(|_| !piece.offsets.is_empty())
}

fn context<'a>(cells: Cells, limits: &'a Limits, buffers: &'a Buffers) -> FilterContext<'a> {
    let datatype = cells.datatype();
    FilterContext { datatype, cell_bytes: datatype.size(), version: FormatVersion::DEFAULT, limits, buffers }
}

impl Piece {
    fn new(cells: &[u8], words: &[&str]) -> Self {
        let mut offsets = Vec::new();
        if !words.is_empty() {
            offsets.push(0);
            let lengths = words.iter().map(|word| word.len() as u64);
            offsets.extend(lengths.scan(0, |end, length| {
                *end += length;
                Some(*end)
            }));
        }
        Self { cells: cells.to_vec(), offsets, metadata: Vec::new(), data: Vec::new(), by_codec: Vec::new() }
    }
}
