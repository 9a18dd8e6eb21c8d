//! One-byte codes without arithmetic of their own: the tables of the schema, filter-pipeline and group pages.

use crate::on_disk::on_disk;

on_disk! {
    /// Whether an array holds a value for every cell of its domain or only for those written.
    pub enum ArrayType, "an array type" {
        /// Every cell of the domain has a value, at least the fill value.
        Dense = 0 "dense",
        /// Only cells that were written exist.
        Sparse = 1 "sparse",
    }
}

on_disk! {
    /// An order of cells or tiles.
    pub enum Layout, "a layout" {
        /// The last dimension varies fastest.
        RowMajor = 0 "row-major",
        /// The first dimension varies fastest.
        ColMajor = 1 "col-major",
        /// Tiles in tile order, cells within a tile in cell order.
        GlobalOrder = 2 "global-order",
        /// No promise.
        Unordered = 3 "unordered",
        /// Along the Hilbert curve; a cell order of sparse arrays only.
        Hilbert = 4 "hilbert",
    }
}

on_disk! {
    /// The order in which the values of an attribute or label are promised to be.
    pub enum DataOrder, "a data order" {
        /// No promise.
        Unordered = 0 "unordered",
        /// Each value above the one before.
        Increasing = 1 "increasing",
        /// Each value below the one before.
        Decreasing = 2 "decreasing",
    }
}

on_disk! {
    /// The filters of the format, by their number in a filter list.
    pub enum FilterType, "a filter" {
        /// Nothing happens; stands for an explicitly empty list.
        None = 0 "NONE",
        /// zlib streams.
        Gzip = 1 "GZIP",
        /// Zstandard frames.
        Zstd = 2 "ZSTD",
        /// LZ4 blocks.
        Lz4 = 3 "LZ4",
        /// Runs of equal cells, or of equal strings.
        Rle = 4 "RLE",
        /// bzip2 streams.
        Bzip2 = 5 "BZIP2",
        /// Differences of differences in as few bits as the largest needs.
        DoubleDelta = 6 "DOUBLE_DELTA",
        /// Integers less their window's minimum, in fewer bytes.
        BitWidthReduction = 7 "BIT_WIDTH_REDUCTION",
        /// Bits of equal weight side by side.
        Bitshuffle = 8 "BITSHUFFLE",
        /// Bytes of equal weight side by side.
        Byteshuffle = 9 "BYTESHUFFLE",
        /// Differences of ascending integers.
        PositiveDelta = 10 "POSITIVE_DELTA",
        /// Encryption; appended by the pipeline, never in a schema.
        Aes256Gcm = 11 "AES_256_GCM",
        /// An MD5 digest beside the data.
        ChecksumMd5 = 12 "CHECKSUM_MD5",
        /// A SHA-256 digest beside the data.
        ChecksumSha256 = 13 "CHECKSUM_SHA256",
        /// Strings as numbers into a dictionary.
        Dictionary = 14 "DICTIONARY",
        /// Floats as scaled integers.
        FloatScale = 15 "SCALE_FLOAT",
        /// Each element xor the one before.
        Xor = 16 "XOR",
        /// Retired; written by 2.13 and 2.14 only, refused by name by everything since.
        Bitsort = 17 "BITSORT",
        /// WebP images. The format's filter page says 17, its pipeline page and every library 18.
        Webp = 18 "WEBP",
        /// Differences.
        Delta = 19 "DELTA",
    }
}

on_disk! {
    /// The byte that repeats the kind of compressor in a compressor's options; not the number of the filter.
    pub enum Compressor, "a compressor" {
        /// No compression.
        None = 0 "NONE",
        /// See [`FilterType::Gzip`].
        Gzip = 1 "GZIP",
        /// See [`FilterType::Zstd`].
        Zstd = 2 "ZSTD",
        /// See [`FilterType::Lz4`].
        Lz4 = 3 "LZ4",
        /// See [`FilterType::Rle`].
        Rle = 4 "RLE",
        /// See [`FilterType::Bzip2`].
        Bzip2 = 5 "BZIP2",
        /// See [`FilterType::DoubleDelta`].
        DoubleDelta = 6 "DOUBLE_DELTA",
        /// See [`FilterType::Dictionary`].
        Dictionary = 7 "DICTIONARY",
        /// See [`FilterType::Delta`].
        Delta = 8 "DELTA",
    }
}

on_disk! {
    /// How the bytes of a generic tile are encrypted.
    pub enum EncryptionType, "an encryption type" {
        /// Not at all.
        None = 0 "NO_ENCRYPTION",
        /// AES-256 in Galois/counter mode.
        Aes256Gcm = 1 "AES_256_GCM",
    }
}

on_disk! {
    /// What a group member is.
    pub enum ObjectType, "an object type" {
        /// Nothing was there when the member was added.
        Invalid = 0 "INVALID",
        /// A group.
        Group = 1 "GROUP",
        /// An array.
        Array = 2 "ARRAY",
    }
}
