//! Dimensions of index columns: the domain is that of the data.

use talavera::{CellValNum, Datatype, Dimension, FieldBuffer, Range, TileExtent};

use crate::error::Error;
use crate::input::bounds;
use crate::value::is_signed;

/// Values of a tile of whole numbers, unless it is given.
const TILE: u64 = 10_000;

/// The dimension that holds these cells, and the cells as its coordinates.
///
/// # Errors
/// [`Error::Usage`] for nulls, and for cells that cannot be coordinates.
pub(super) fn of_cells(name: &str, cells: FieldBuffer, tile: Option<u64>) -> Result<(Dimension, FieldBuffer), Error> {
    let usage = |reason: String| Error::usage(format!("--index: column '{name}' {reason}"));
    if let Some(row) = (0..cells.len()).find(|&cell| cells.is_null(cell)) {
        return Err(usage(format!("is null in row {}, and coordinates cannot be", row + 1)));
    }
    let (datatype, cell_val_num) = (cells.datatype(), cells.cell_val_num());
    let text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char) && cell_val_num.is_var();
    if !text && (!datatype.is_dimension_type() || cell_val_num != CellValNum::ONE) {
        return Err(usage(format!("holds {datatype}, which no dimension can")));
    }
    let datatype = if text { Datatype::StringAscii } else { datatype };
    let (data, offsets, _) = cells.into_parts();
    let cells = FieldBuffer::new(datatype, cell_val_num, data, offsets, None).map_err(talavera::Error::from)?;
    if text {
        return Ok((Dimension::string(name), cells));
    }
    let domain = bounds(&cells).filter(Range::is_valid);
    let domain = domain.ok_or_else(|| usage("has no values, or NaN, so that the dimension has no domain".to_owned()))?;
    let extent = domain.cell_count().map(|width| extent(&domain, datatype, width, tile.unwrap_or(TILE)));
    Ok((Dimension::new(name, datatype, domain, extent.map(TileExtent::Integer)), cells))
}

/// The extent asked for, unless the last tile would then reach beyond the datatype: one tile then.
fn extent(domain: &Range, datatype: Datatype, width: u64, asked: u64) -> u64 {
    let extent = asked.clamp(1, width);
    let last = u128::from(width).next_multiple_of(extent.into()) - 1;
    let unused_bits = 64_u32.saturating_sub(u32::try_from(8 * datatype.size()).unwrap_or(64));
    let (low, high) = match *domain {
        Range::Signed(low, _) if is_signed(datatype) => (i128::from(low), i128::from(i64::MAX >> unused_bits)),
        Range::Unsigned(low, _) => (i128::from(low), i128::from(u64::MAX >> unused_bits)),
        _ => return extent,
    };
    if i128::try_from(last).is_ok_and(|last| low + last <= high) { extent } else { width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_tile_that_the_datatype_cannot_hold_makes_one_tile() {
        assert_eq!(extent(&Range::Signed(0, 99), Datatype::Int8, 100, 30), 30);
        assert_eq!(extent(&Range::Signed(28, 127), Datatype::Int8, 100, 30), 100);
        assert_eq!(extent(&Range::Unsigned(5, 7), Datatype::UInt64, 3, 10_000), 3);
    }
}
