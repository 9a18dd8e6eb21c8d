//! Edits of a fixture's files.

use talavera_codec::Limits;
use talavera_pipeline::GenericTile;
use talavera_types::FormatVersion;

use super::{Fixture, MAX_FILE_BYTES};
use crate::LIMIT_BYTES;
use crate::input::Input;

/// Takes one edit from the input and makes it.
pub(super) fn apply(fixture: &mut Fixture, input: &mut Input<'_>) {
    let (file, kind, offset) = (usize::from(input.u8()), input.u8() % 5, input.u32() as usize);
    let file = file % fixture.files.len().max(1);
    if kind == 3 {
        fixture.files.remove(file);
        // Nothing but the folder is left of an array without files.
        if fixture.files.is_empty() {
            fixture.files.push(("array/__schema/nothing".into(), Vec::new()));
        }
        return;
    }
    let key = fixture.key.clone();
    let Some((_, bytes)) = fixture.files.get_mut(file) else { return };
    let offset = offset % (bytes.len() + 1);
    match kind {
        0 => write(bytes, offset, counted(input)),
        1 => bytes.truncate(offset),
        2 if bytes.len() < MAX_FILE_BYTES => drop(bytes.splice(offset..offset, counted(input).iter().copied())),
        4 => {
            let number = usize::from(input.u8());
            let new = counted(input);
            let edit = |payload: &mut Vec<u8>| {
                let offset = offset % (payload.len() + 1);
                write(payload, offset, new);
            };
            if bytes.len() < MAX_FILE_BYTES {
                edit_payload(bytes, number, key.as_ref(), edit);
            }
        }
        _ => {}
    }
}

fn counted<'a>(input: &mut Input<'a>) -> &'a [u8] {
    let len = usize::from(input.u8());
    input.take(len)
}

fn write(bytes: &mut [u8], offset: usize, new: &[u8]) {
    bytes.iter_mut().skip(offset).zip(new).for_each(|(to, from)| *to = *from);
}

/// A generic tile as it lies in its file.
struct Place {
    offset: usize,
    len: usize,
    payload: Vec<u8>,
}

/// Edits the payload of a generic tile and puts the tile back.
///
/// The new tile has another length than the old one. A file that is nothing but the tile is written anew; in fragment
/// metadata it goes between the other tiles and the footer, and every number of the footer that was its offset is
/// changed.
fn edit_payload(
    file: &mut Vec<u8>,
    number: usize,
    key: Option<&talavera_pipeline::EncryptionKey>,
    edit: impl FnOnce(&mut Vec<u8>),
) {
    let tiles = generic_tiles(file, key);
    let Some(last) = tiles.last() else { return };
    let end = last.offset + last.len;
    let Some(tile) = tiles.get(number % tiles.len()) else { return };
    let version = file.first_chunk().and_then(|bytes| FormatVersion::new(u32::from_le_bytes(*bytes)).ok());
    let mut payload = tile.payload.clone();
    edit(&mut payload);
    let Ok(new) = GenericTile::encode(&payload, version.unwrap_or(FormatVersion::DEFAULT), key) else { return };
    if end == file.len() && tiles.len() == 1 {
        *file = new;
        return;
    }
    let (old, moved) = ((tile.offset as u64).to_le_bytes(), (end as u64).to_le_bytes());
    let mut at = end;
    while let Some(bytes) = file.get_mut(at..at + 8) {
        if bytes == old {
            bytes.copy_from_slice(&moved);
        }
        at += 1;
    }
    file.splice(end..end, new);
}

/// The generic tiles that a file begins with.
fn generic_tiles(file: &[u8], key: Option<&talavera_pipeline::EncryptionKey>) -> Vec<Place> {
    let mut tiles = Vec::new();
    let mut offset = 0;
    while let Some(rest) = file.get(offset..).filter(|rest| !rest.is_empty()) {
        match GenericTile::decode(rest, key, &Limits::new(LIMIT_BYTES)) {
            Ok((payload, len)) if len > 0 => {
                tiles.push(Place { offset, len, payload });
                offset += len;
            }
            _ => break,
        }
    }
    tiles
}
