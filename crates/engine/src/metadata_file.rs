//! Files that are one generic tile, and generic tiles inside a file.

use std::ops::Range;

use bytes::Bytes;
use talavera_codec::Limits;
use talavera_pipeline::{GenericTile, GenericTileError};
use talavera_storage::{ObjectPath, Storage};

use crate::{EngineOptions, Error};

/// Reads a file that is one generic tile and gives its payload.
pub(crate) fn read_file(storage: &dyn Storage, path: &ObjectPath, options: &EngineOptions) -> Result<Vec<u8>, Error> {
    let bytes = storage.read(path, options.metadata_limit_bytes)?;
    unwrap_whole(&bytes, path, options)
}

/// The payload of bytes that are one generic tile.
pub(crate) fn unwrap_whole(bytes: &Bytes, path: &ObjectPath, options: &EngineOptions) -> Result<Vec<u8>, Error> {
    let (payload, used) = decode(bytes, path, options)?;
    if used < bytes.len() {
        let left = (bytes.len() - used) as u64;
        let kind = talavera_codec::DecodeErrorKind::Trailing { left };
        return Err(Error::Corrupt { path: path.clone(), source: kind.at("generic tile", used as u64) });
    }
    Ok(payload)
}

/// Reads the generic tile that lies in this range of a file; other bytes may follow it there.
pub(crate) fn read_section(
    storage: &dyn Storage,
    path: &ObjectPath,
    range: Range<u64>,
    options: &EngineOptions,
) -> Result<Vec<u8>, Error> {
    let bytes = storage.read_range(path, range)?;
    unwrap_first(&bytes, path, options)
}

fn decode(bytes: &[u8], path: &ObjectPath, options: &EngineOptions) -> Result<(Vec<u8>, usize), Error> {
    let limits = Limits::new(options.metadata_limit_bytes);
    let wrap = |source: GenericTileError| Error::GenericTile { path: path.clone(), source };
    GenericTile::decode(bytes, options.key.as_ref(), &limits).map_err(wrap)
}

/// The payload of the generic tile at the front of `bytes`.
pub(crate) fn unwrap_first(bytes: &[u8], path: &ObjectPath, options: &EngineOptions) -> Result<Vec<u8>, Error> {
    decode(bytes, path, options).map(|(payload, _)| payload)
}
