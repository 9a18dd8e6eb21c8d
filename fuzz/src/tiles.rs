//! Tiles with any filters, and generic tiles.

use talavera_codec::{Limits, Reader};
use talavera_filter::{FilterList, FilterSpec};
use talavera_pipeline::{
    ChunkTable, EncryptionKey, GenericTile, GenericTileHeader, Pipeline, TileFormat, TypeFlow, is_empty_tile,
};

use crate::input::Input;
use crate::{LIMIT_BYTES, encoded, stable};

/// The key of whatever is encrypted here, and of the encrypted arrays among the fixtures.
pub const KEY: &[u8; 32] = b"0123456789abcdeF0123456789abcdeF";

/// A tile and its chunk table.
///
/// ```text
/// input := u8 version; u8 datatype; u16 cell bytes; u8 flags; u16 cells; u16 length; filter list; tile
/// flags: 1 encrypted, 2 strings and offsets, 4 the field's datatype for every filter, 8 the one that filters hand on
/// ```
pub fn tile(data: &[u8]) {
    let mut input = Input::new(data);
    let (version, datatype) = (input.version(), input.datatype());
    let format = TileFormat { datatype, cell_bytes: usize::from(input.u16()), version };
    let flags = input.u8();
    let cells = usize::from(input.u16());
    let Ok(list) = FilterList::decode(&mut Reader::new(input.bytes())) else { return };
    let key = (flags & 1 != 0).then(|| EncryptionKey::new(*KEY));
    let Ok(pipeline) = Pipeline::new(&list, format, key.as_ref()) else { return };
    let pipeline = match flags & 12 {
        4 => pipeline.with_type_flow(TypeFlow::FieldType),
        8 => pipeline.with_type_flow(TypeFlow::HandedOn),
        _ => pipeline,
    };
    assert_eq!(pipeline.format().datatype, datatype);
    let (_, _) = (pipeline.is_empty(), pipeline.writes_strings());
    let bytes = input.rest();
    let Some(original_bytes) = look_at(bytes) else { return };
    if flags & 2 != 0 {
        strings(&pipeline, bytes, cells, original_bytes);
    } else {
        plain(&pipeline, &list, bytes, original_bytes);
    }
}

/// Calls every accessor of the chunk table; the bytes of the tile, if there are not too many.
fn look_at(tile: &[u8]) -> Option<usize> {
    let _ = is_empty_tile(tile);
    let mut r = Reader::new(tile);
    while ChunkTable::decode_next(&mut r).is_ok_and(|table| table.tile_bytes() > 0) {}
    let table = ChunkTable::decode(tile).ok()?;
    assert_eq!(table.tile_bytes(), tile.len());
    assert_eq!(table.iter().map(|chunk| chunk.original_bytes).sum::<usize>(), table.original_bytes());
    assert_eq!(table.iter().count(), table.len());
    assert!(table.iter().all(|chunk| tile.get(chunk.data.clone()).is_some() && tile.get(chunk.metadata.clone()).is_some()));
    Some(table.original_bytes()).filter(|bytes| *bytes as u64 <= LIMIT_BYTES)
}

fn plain(pipeline: &Pipeline, list: &FilterList, tile: &[u8], original_bytes: usize) {
    let mut cells = vec![0; original_bytes];
    if pipeline.decode_tile(tile, &mut cells).is_err() {
        return;
    }
    let Ok(again) = pipeline.encode_tile(&cells) else { return };
    let mut back = vec![0; cells.len()];
    pipeline.decode_tile(&again, &mut back).expect("what was encoded is decoded");
    let is_lossy = |filter: &FilterSpec| matches!(filter, FilterSpec::FloatScale { .. } | FilterSpec::Webp { .. });
    assert!(back == cells || list.filters.iter().any(is_lossy), "cells changed on their way");
}

fn strings(pipeline: &Pipeline, tile: &[u8], cells: usize, original_bytes: usize) {
    let (mut values, mut offsets) = (vec![0; original_bytes], Vec::new());
    if pipeline.decode_strings(tile, cells, &mut values, &mut offsets).is_err() {
        return;
    }
    assert_eq!(offsets.len(), cells, "there are as many offsets as cells");
    offsets.push(values.len() as u64);
    let _ = pipeline.encode_var_tile(&values, &offsets);
    let Ok(again) = pipeline.encode_strings(&values, &offsets) else { return };
    let (mut back, mut starts) = (vec![0; values.len()], Vec::new());
    pipeline.decode_strings(&again, cells, &mut back, &mut starts).expect("what was encoded is decoded");
    starts.push(values.len() as u64);
    assert!(back == values && starts == offsets, "strings changed on their way");
}

/// A generic tile; input: u8, whether there is a key; the tile.
pub fn generic_tile(data: &[u8]) {
    let mut input = Input::new(data);
    let key = (input.u8() & 1 != 0).then(|| EncryptionKey::new(*KEY));
    let bytes = input.rest();
    let Ok(header) = GenericTileHeader::decode(&mut Reader::new(bytes)) else { return };
    stable(&header, |header| encoded(|w| header.encode(w)), |bytes| GenericTileHeader::decode(&mut Reader::new(bytes)));
    let Ok((payload, len)) = GenericTile::decode(bytes, key.as_ref(), &Limits::new(LIMIT_BYTES)) else { return };
    assert!(len <= bytes.len(), "a tile ends within its bytes");
    assert_eq!(payload.len() as u64, header.tile_bytes);
    let again = GenericTile::encode(&payload, header.version, key.as_ref()).expect("a payload is encoded");
    let (back, len) = GenericTile::decode(&again, key.as_ref(), &Limits::new(2 * LIMIT_BYTES)).expect("and decoded");
    assert!(back == payload && len == again.len(), "a payload changed on its way");
}
