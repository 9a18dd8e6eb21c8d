//! Sparse cells: ordered, cut into tiles of the array's capacity.

use std::borrow::Cow;

use talavera_fragment::FieldId;
use talavera_schema::{ArraySchema, Coordinate, NdRange, Range};
use talavera_types::{Datatype, Layout, with_datatype};

use super::check::{Cells, check_in_current_domain, check_in_domain};
use super::fragment::FragmentWriter;
use super::query::Duplicates;
use super::tile::Tile;
use crate::order::CellOrder;
use crate::read::sparse::sort::Sorted;
use crate::read::sparse::tiles::{CellRef, Kept, SparseTile, WriteTimes};
use crate::{Error, FieldBuffer};

/// The places of all cells in global order, duplicates treated as asked.
pub(crate) fn ordered(schema: &ArraySchema, cells: &Cells<'_>, duplicates: Duplicates) -> Result<Vec<u32>, Error> {
    let count =
        u32::try_from(cells.count).map_err(|_| Error::invalid("a write takes at most 2^32 cells; write more in several"))?;
    let order = CellOrder::new(schema, Layout::GlobalOrder)?;
    let coordinates = cells.buffers.get(schema.attributes.len()..).unwrap_or_default();
    check_in_domain(schema, coordinates)?;
    let borrowed = coordinates.iter().map(|column| Cow::Borrowed(&**column)).collect();
    places(&as_tile(borrowed, count), &order, duplicates).map_err(|repeated| {
        Error::invalid(format!(
            "duplicate coordinates {} are not allowed",
            coordinates_text(schema, coordinates, repeated.cell())
        ))
    })
}

/// The places of the cells of a tile in order, or a cell that is there twice and must not be.
fn places(tile: &SparseTile<'_>, order: &CellOrder, duplicates: Duplicates) -> Result<Vec<u32>, CellRef> {
    /// Cells that are sorted at once: the numbers that sort them take memory beside the cells.
    const SORTED_CELLS: usize = 8 << 20;
    /// Parts at most, as all cells are looked at for each.
    const MOST_PARTS: usize = 4;
    let parts = (tile.cells as usize).div_ceil(SORTED_CELLS).min(MOST_PARTS);
    let mut places = Vec::with_capacity(tile.cells as usize);
    Sorted::for_each_part(std::slice::from_ref(tile), order, parts, |sorted| {
        if duplicates == Duplicates::Allow || !sorted.repeats() {
            sorted.collect_into(&mut places, |cell| place(&cell));
            return Ok(());
        }
        let mut repeated = None;
        sorted.for_each_group(|group| match (group, duplicates) {
            ([first, _, ..], Duplicates::Refuse) => repeated = repeated.or(Some(*first)),
            // Which of them stays is not promised; the last one written is what a caller expects.
            _ => places.extend(group.iter().max().map(place)),
        });
        repeated.map_or(Ok(()), Err)
    })?;
    Ok(places)
}

/// Coordinates as one tile, so that what orders a read orders a write.
pub(crate) fn as_tile(coordinates: Vec<Cow<'_, FieldBuffer>>, cells: u32) -> SparseTile<'_> {
    SparseTile { fragment: 0, tile: 0, cells, coordinates, kept: Kept::All, visible: None, times: WriteTimes::Same(0) }
}

#[expect(clippy::cast_possible_truncation, reason = "a cell's number has 32 bits")]
fn place(cell: &CellRef) -> u32 {
    cell.cell() as u32
}

/// The coordinates of a cell as text, for messages.
pub(crate) fn coordinates_text(schema: &ArraySchema, coordinates: &[Cow<'_, FieldBuffer>], cell: usize) -> String {
    let values = schema.domain.dimensions.iter().zip(coordinates).map(|(dimension, column)| {
        let value = column.cell(cell).and_then(|bytes| Coordinate::from_le_bytes(dimension.datatype, bytes));
        value.map_or_else(String::new, |value| value.to_string())
    });
    format!("({})", values.collect::<Vec<_>>().join(", "))
}

/// Cuts the cells at these places into tiles and appends them; the last tile may be short.
pub(crate) fn append(writer: &mut FragmentWriter, schema: &ArraySchema, cells: &Cells<'_>, places: &[u32]) -> Result<(), Error> {
    let capacity = usize::try_from(schema.capacity).unwrap_or(usize::MAX).max(1);
    let fields: Vec<FieldId> = writer.fields().collect();
    let runs: Vec<&[u32]> = places.chunks(capacity).collect();
    let tile = |run: &&[u32]| -> Result<Tile<'_>, Error> {
        let pick = |buffer: &Cow<'_, FieldBuffer>| buffer.pick(run.iter().map(|&place| place as usize));
        let buffers: Vec<FieldBuffer> = cells.buffers.iter().map(pick).collect();
        let mbr = mbr(schema, &fields, &buffers)?;
        Ok(Tile::gathered(buffers, run.len(), std::iter::once(0..run.len()).collect(), Some(mbr)))
    };
    writer.append(&runs, tile)
}

/// Checks the bounds of all cells and makes the fragment visible.
pub(crate) fn commit(writer: FragmentWriter, schema: &ArraySchema) -> Result<String, Error> {
    let bounds = writer.bounds().ok_or_else(|| Error::invalid("a fragment without cells cannot be written"))?;
    check_in_current_domain(schema, &bounds)?;
    writer.commit(bounds)
}

/// The least and greatest coordinate of a tile along each dimension.
fn mbr(schema: &ArraySchema, fields: &[FieldId], buffers: &[FieldBuffer]) -> Result<NdRange, Error> {
    let mut ranges = Vec::with_capacity(schema.domain.dimensions.len());
    for (field, buffer) in fields.iter().zip(buffers) {
        let FieldId::Dimension(dimension) = field else { continue };
        let datatype = schema.domain.dimensions.get(*dimension).map(|dimension| dimension.datatype);
        let range = datatype.and_then(|datatype| bounds(buffer, datatype));
        ranges.push(range.ok_or_else(|| Error::invalid("a tile without cells has no bounds"))?);
    }
    Ok(NdRange(ranges))
}

/// The least and greatest value; a NaN in first place stays, as comparisons with it fail.
fn bounds(buffer: &FieldBuffer, datatype: Datatype) -> Option<Range> {
    let coordinate = |bytes| Coordinate::from_le_bytes(datatype, bytes);
    if buffer.offsets().is_some() {
        let first = buffer.cell(0)?;
        let (low, high) = (1..buffer.len()).filter_map(|cell| buffer.cell(cell)).fold((first, first), |(low, high), text| {
            (if text < low { text } else { low }, if text > high { text } else { high })
        });
        return Range::new(coordinate(low)?, coordinate(high)?);
    }
    with_datatype!(datatype, T => {
        let values = buffer.bytes().as_values::<T>();
        let first = *values.first()?;
        let (low, high) = values.iter().fold((first, first), |(low, high), &value| {
            (if value < low { value } else { low }, if value > high { value } else { high })
        });
        Range::new(coordinate(&low.to_le_bytes())?, coordinate(&high.to_le_bytes())?)
    })
}
