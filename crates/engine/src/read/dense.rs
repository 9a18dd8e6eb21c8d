//! Reads the cells of dense arrays: overlapping fragments in time order, fill values where none wrote.
//!
//! A read is cut into pieces, one per tile and range. The fragments that reach into a piece are laid over each other,
//! older ones first; those wholly hidden by a newer one are not even read. Tiles are decoded in parallel, each straight
//! into its own part of the result.
//!
//! Source: 20-semantics §1.

mod explain;
mod fixed;
pub(crate) mod layout;
pub(crate) mod overlay;
mod split;
mod statistics;
mod total;
mod var;

use std::collections::HashMap;

use rayon::prelude::*;
use talavera_condition::{Bitmap, BoundCondition, FieldView};
use talavera_fragment::FieldId;
use talavera_schema::Attribute;
use talavera_types::{CellValNum, Layout};

use self::fixed::{FixedField, Stream};
use self::layout::{Axis, ResultShape};
use self::overlay::{DenseFragment, Grid, SparseCell};
pub(crate) use self::split::Windows;
use super::field::{ReadField, attribute_in_fragment};
use super::tile::FieldReader;
use crate::budget::Job;
use crate::{CellBytes, EngineOptions, Error, FieldBuffer, OpenArray};

/// The ranges of a dense read: per dimension, in the order asked for, first and last cell counted from the low corner of
/// the domain.
pub(crate) type CellRanges = Vec<Vec<(u64, u64)>>;

/// The least that a cell of variable length takes in memory: its offset.
const VAR_CELL_BYTES: u64 = 8;

/// A read of a dense array.
pub(crate) struct DenseRead<'r> {
    array: &'r OpenArray,
    fragments: Vec<DenseFragment<'r>>,
    pub(crate) grid: Grid,
    options: &'r EngineOptions,
    job: &'r Job,
}

impl<'r> DenseRead<'r> {
    pub(crate) fn new(array: &'r OpenArray, job: &'r Job) -> Result<Self, Error> {
        let grid = Grid::new(array.schema())?;
        let fragment =
            |fragment: &'r crate::Fragment| DenseFragment::new(fragment, &grid, || sparse_coordinates(array, fragment, job));
        let fragments = array.fragments().iter().map(fragment).collect::<Result<_, _>>()?;
        Ok(Self { array, fragments, grid, options: array.options(), job })
    }

    /// The numbers of the fragments that may have cells in these ranges, ascending.
    pub(crate) fn fragments_in(&self, ranges: &CellRanges) -> Vec<usize> {
        let hull: Option<Vec<(u64, u64)>> = ranges.iter().map(|ranges| ranges.iter().copied().reduce(hull_of)).collect();
        let Some(hull) = hull else { return Vec::new() };
        let meets = |fragment: &DenseFragment<'_>| fragment.meets(&hull);
        self.fragments.iter().enumerate().filter(|(_, fragment)| meets(fragment)).map(|(number, _)| number).collect()
    }

    /// The fields over these ranges, in `layout`. Where a condition does not hold, attributes are their fill values.
    pub(crate) fn read(
        &self,
        ranges: &CellRanges,
        layout: Layout,
        fields: &[ReadField],
        condition: Option<&BoundCondition>,
    ) -> Result<Vec<FieldBuffer>, Error> {
        self.check_size(ranges, fields)?;
        let shapes = self.shapes(ranges, layout)?;
        let cells = shapes.iter().try_fold(0_usize, |cells, shape| cells.checked_add(shape.cells));
        let cells = cells.ok_or_else(|| Error::invalid("the result has more cells than memory can hold"))?;
        let mut buffers = fields.iter().map(|field| self.read_field(&shapes, cells, *field)).collect::<Result<Vec<_>, _>>()?;
        if let Some(condition) = condition {
            let matches = self.evaluate(condition, &shapes, cells)?;
            for (buffer, field) in buffers.iter_mut().zip(fields) {
                if let ReadField::Attribute(index) = field {
                    self.fill_others(buffer, *index, &matches);
                }
            }
        }
        Ok(buffers)
    }

    /// The cells of a result for which a condition holds.
    fn evaluate(&self, condition: &BoundCondition, shapes: &[ResultShape], cells: usize) -> Result<Bitmap, Error> {
        let mut columns = HashMap::new();
        for name in condition.fields() {
            let field = ReadField::named(self.array.schema(), name)?;
            let column = self.read_field(shapes, cells, field)?;
            // Where no fragment has the attribute its fill value is not compared: nothing holds there.
            let present = if column.validity().is_some() { None } else { self.presence(shapes, cells, field)? };
            columns.insert(name, (column, present));
        }
        let view = |name: &str| {
            let (column, present) = columns.get(name)?;
            Some(FieldView { data: column.data(), offsets: column.offsets(), validity: column.validity().or(present.as_deref()) })
        };
        let mut matches = Bitmap::new(cells, true);
        condition.evaluate(cells, view, &mut matches)?;
        Ok(matches)
    }

    /// For each cell whether a fragment wrote the attribute; none when all fragments have it.
    fn presence(&self, shapes: &[ResultShape], cells: usize, field: ReadField) -> Result<Option<Vec<u8>>, Error> {
        let ReadField::Attribute(index) = field else { return Ok(None) };
        let Some(attribute) = self.array.schema().attributes.get(index) else { return Ok(None) };
        let readers = self.readers(attribute)?;
        if readers.iter().all(Option::is_some) {
            return Ok(None);
        }
        let mut present = vec![0; cells];
        let field = FixedField { readers: &readers, stream: Stream::Presence, cell_bytes: 1, fill: &[0] };
        self.read_shapes(shapes, &field, &mut present)?;
        Ok(Some(present))
    }

    /// Puts the fill value where a condition does not hold.
    fn fill_others(&self, buffer: &mut FieldBuffer, attribute: usize, matches: &Bitmap) {
        if let Some(attribute) = self.array.schema().attributes.get(attribute) {
            buffer.fill_where(|cell| !matches.get(cell), &attribute.fill_value, attribute.fill_validity.into());
        }
    }

    /// Refuses a result that no memory holds before its geometry, itself as large as its tiles are many, is laid out.
    fn check_size(&self, ranges: &CellRanges, fields: &[ReadField]) -> Result<(), Error> {
        let along = |ranges: &Vec<(u64, u64)>| {
            ranges.iter().fold(0_u64, |cells, (first, last)| cells.saturating_add((last - first).saturating_add(1)))
        };
        let cells = ranges.iter().map(along).fold(1_u64, u64::saturating_mul);
        let bytes = cells.saturating_mul(super::query::cell_bytes(self.array, fields, VAR_CELL_BYTES)?);
        self.job.reserve("the result", bytes)?;
        CellBytes::check_available("the result", usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// One shape for the whole result; in global order one for each tile, in the order of tiles.
    fn shapes(&self, ranges: &CellRanges, layout: Layout) -> Result<Vec<ResultShape>, Error> {
        let axes = |ranges: &CellRanges| -> Result<Vec<Axis>, Error> {
            ranges.iter().zip(&self.grid.extents).map(|(ranges, &extent)| Axis::new(ranges, extent)).collect()
        };
        if layout != Layout::GlobalOrder {
            return Ok(vec![ResultShape::new(axes(ranges)?, layout != Layout::ColMajor)?]);
        }
        if ranges.iter().any(|ranges| ranges.len() != 1) {
            return Err(Error::invalid("a dense read in global order takes one range per dimension"));
        }
        let tiles = ResultShape::new(axes(ranges)?, true)?.pieces();
        let mut tiles: Vec<_> = tiles.into_iter().map(|piece| (piece.tile, piece.source)).collect();
        if !self.grid.tiles_row_major() {
            tiles.sort_by(|(a, _), (b, _)| a.iter().rev().cmp(b.iter().rev()));
        }
        let shape = |(_, cells): (Vec<u64>, layout::CellBox)| {
            let ranges = cells.start.iter().zip(&cells.len).map(|(&start, &len)| vec![(start, start + (len - 1))]).collect();
            ResultShape::new(axes(&ranges)?, self.grid.cells_row_major())
        };
        tiles.into_iter().map(shape).collect()
    }

    fn read_field(&self, shapes: &[ResultShape], cells: usize, field: ReadField) -> Result<FieldBuffer, Error> {
        match field {
            ReadField::Attribute(index) => {
                let attribute = self.array.schema().attributes.get(index);
                let attribute = attribute.ok_or_else(|| Error::invalid(format!("the array has no attribute {index}")))?;
                self.read_attribute(shapes, cells, attribute)
            }
            ReadField::Dimension(dimension) => self.coordinates(shapes, cells, dimension),
            ReadField::Timestamps => Err(Error::invalid("cells of dense arrays have no timestamps")),
        }
    }

    /// What reads the attribute in each fragment; none where the fragment does not have it.
    fn readers(&self, attribute: &Attribute) -> Result<Vec<Option<FieldReader<'r>>>, Error> {
        let reader = |fragment: &DenseFragment<'r>| {
            let index = attribute_in_fragment(&fragment.fragment.schema, attribute, self.options);
            let open = |index| FieldReader::new(fragment.fragment, FieldId::Attribute(index), self.array.storage(), self.options);
            index.map(open).transpose()
        };
        self.fragments.iter().map(reader).collect()
    }

    fn read_attribute(&self, shapes: &[ResultShape], cells: usize, attribute: &Attribute) -> Result<FieldBuffer, Error> {
        let readers = self.readers(attribute)?;
        let validity = match attribute.nullable {
            true => {
                let mut validity = vec![0; cells];
                let fill = [attribute.fill_validity.into()];
                let field = FixedField { readers: &readers, stream: Stream::Validity, cell_bytes: 1, fill: &fill };
                self.read_shapes(shapes, &field, &mut validity)?;
                Some(validity)
            }
            false => None,
        };
        let (data, offsets) = match attribute.cell_bytes() {
            Some(cell_bytes) => {
                let bytes = cells.checked_mul(cell_bytes).ok_or_else(|| Error::invalid("the result does not fit into memory"))?;
                let _reserved = self.job.reserve("cells", bytes as u64)?;
                let mut data = CellBytes::try_zeroed("cells", bytes)?;
                let field = FixedField { readers: &readers, stream: Stream::Cells, cell_bytes, fill: &attribute.fill_value };
                self.read_shapes(shapes, &field, &mut data)?;
                (data, None)
            }
            None => {
                let (data, offsets) = self.read_var_shapes(shapes, &readers, &attribute.fill_value)?;
                (data, Some(offsets))
            }
        };
        FieldBuffer::new(attribute.datatype, attribute.cell_val_num, data, offsets, validity)
    }

    fn read_shapes(&self, shapes: &[ResultShape], field: &FixedField<'_, '_>, result: &mut [u8]) -> Result<(), Error> {
        let mut rest = result;
        let mut parts = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(shape.cells * field.cell_bytes);
            parts.push((shape, part));
            rest = behind;
        }
        parts.into_par_iter().try_for_each(|(shape, part)| self.read_fixed(shape, field, part))
    }

    fn read_var_shapes(
        &self,
        shapes: &[ResultShape],
        readers: &[Option<FieldReader<'_>>],
        fill: &[u8],
    ) -> Result<(CellBytes, Vec<u64>), Error> {
        if let [shape] = shapes {
            return self.read_var(shape, readers, fill);
        }
        let (mut data, mut offsets) = (Vec::new(), vec![0]);
        for shape in shapes {
            let (part, part_offsets) = self.read_var(shape, readers, fill)?;
            let start = data.len() as u64;
            offsets.extend(part_offsets.iter().skip(1).map(|offset| start + offset));
            data.extend_from_slice(&part);
        }
        Ok((CellBytes::copied(&data), offsets))
    }

    /// The coordinates of the cells along one dimension, in the order of the result.
    fn coordinates(&self, shapes: &[ResultShape], cells: usize, dimension: usize) -> Result<FieldBuffer, Error> {
        let schema_dimension = self.array.schema().domain.dimensions.get(dimension);
        let datatype = schema_dimension.map(|dimension| dimension.datatype);
        let datatype = datatype.ok_or_else(|| Error::invalid(format!("the array has no dimension {dimension}")))?;
        let size = datatype.size();
        let mut data = CellBytes::try_zeroed("coordinates", cells.saturating_mul(size))?;
        let mut target = data.chunks_exact_mut(size);
        for shape in shapes {
            shape.for_each_coordinate(dimension, |cell| {
                let bits = self.grid.coordinate(dimension, cell).to_le_bytes();
                if let (Some(target), Some(bits)) = (target.next(), bits.get(..size)) {
                    target.copy_from_slice(bits);
                }
            });
        }
        FieldBuffer::new(datatype, CellValNum::ONE, data, None, None)
    }

    /// One cell of a sparse fragment of a dense array.
    fn sparse_cell(&self, field: &FixedField<'_, '_>, reader: &FieldReader<'_>, cell: &SparseCell) -> Result<Vec<u8>, Error> {
        let tile = self.read_sparse_tile(reader, cell.tile)?;
        let bytes = match field.stream {
            Stream::Cells => tile.cell(cell.index),
            Stream::Validity => tile.validity().and_then(|validity| validity.get(cell.index..=cell.index)),
            Stream::Presence => Some(&[1][..]),
        };
        Ok(bytes.unwrap_or(field.fill).to_vec())
    }

    fn read_sparse_tile(&self, reader: &FieldReader<'_>, tile: u64) -> Result<FieldBuffer, Error> {
        reader.read(tile, reader.fragment().tile_cells(tile), self.job)
    }
}

fn hull_of(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The coordinates of a sparse fragment of a dense array, tile by tile.
fn sparse_coordinates(array: &OpenArray, fragment: &crate::Fragment, job: &Job) -> Result<Vec<(u64, Vec<FieldBuffer>)>, Error> {
    let columns = super::coordinates::CoordinateReader::new(fragment, array.storage(), array.options())?;
    (0..fragment.footer.sparse_tile_count).map(|tile| Ok((tile, columns.read(tile, job)?))).collect()
}
