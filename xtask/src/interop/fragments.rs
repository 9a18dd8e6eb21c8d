//! The metadata of two fragments that hold the same cells, field by field.

use std::fmt::Debug;

use talavera_codec::Limits;
use talavera_engine::{OpenArray, TimeWindow};
use talavera_fragment::{
    FieldId, FieldSection, FieldShape, Footer, FragmentStatistics, ProcessedConditions, RTree, Sum, TileMinMax, TileNullCounts,
    TileOffsets, TileSizes, TileSums, ValueSize, float_bounds_are_exact,
};
use talavera_pipeline::GenericTile;
use talavera_schema::{ArraySchema, TileGrid};
use talavera_types::{CellValNum, Datatype, DatatypeClass};

use super::engines::Place;
use crate::Failure;

/// Compares the only fragments of two arrays.
pub(super) fn compare(ours: &Place, theirs: &Place) -> Result<(), Failure> {
    let (a, b) = (Metadata::read(ours)?, Metadata::read(theirs)?);
    same("dense", &a.footer.dense, &b.footer.dense)?;
    same("non-empty domain", &a.footer.non_empty_domain, &b.footer.non_empty_domain)?;
    same("sparse tile count", &a.footer.sparse_tile_count, &b.footer.sparse_tile_count)?;
    same("last tile cells", &a.footer.last_tile_cells, &b.footer.last_tile_cells)?;
    same("fields", &a.footer.layout, &b.footer.layout)?;
    same("R-tree", &a.rtree()?, &b.rtree()?)?;
    same("processed conditions", &a.processed_conditions()?, &b.processed_conditions()?)?;
    for field in a.footer.layout.fields() {
        a.same_field(&b, field).map_err(|difference| format!("{}: {difference}", name(&a.schema, field)))?;
    }
    a.same_statistics(&b)
}

/// The metadata file of a fragment.
struct Metadata {
    place: String,
    schema: ArraySchema,
    footer: Footer,
    file: Vec<u8>,
    key: Option<talavera_engine::EncryptionKey>,
}

impl Metadata {
    fn read(place: &Place) -> Result<Self, Failure> {
        let array: OpenArray = place.open(TimeWindow::ALL)?;
        let [fragment] = array.fragments() else { return Err("not one fragment".into()) };
        let path = place.folder.join("__fragments").join(fragment.name()).join("__fragment_metadata.tdb");
        Ok(Self {
            place: path.to_string_lossy().into_owned(),
            schema: fragment.schema().clone(),
            footer: fragment.footer().clone(),
            file: std::fs::read(path)?,
            key: place.key(),
        })
    }

    /// The payload of the generic tile at an offset.
    fn tile(&self, offset: u64) -> Result<Vec<u8>, Failure> {
        let bytes = usize::try_from(offset).ok().and_then(|offset| self.file.get(offset..));
        let bytes = bytes.ok_or_else(|| format!("{}: no byte {offset}", self.place))?;
        Ok(GenericTile::decode(bytes, self.key.as_ref(), &Limits::new(1 << 30))?.0)
    }

    fn section(&self, section: FieldSection, field: FieldId) -> Result<Vec<u8>, Failure> {
        self.tile(self.footer.section(section, field).ok_or("a section is missing")?)
    }

    fn rtree(&self) -> Result<RTree, Failure> {
        Ok(RTree::decode(&self.tile(self.footer.rtree)?, self.footer.version, &self.schema.domain)?)
    }

    fn processed_conditions(&self) -> Result<Option<ProcessedConditions>, Failure> {
        let payload = self.footer.processed_conditions.map(|offset| self.tile(offset)).transpose()?;
        Ok(payload.map(|payload| ProcessedConditions::decode(&payload)).transpose()?)
    }

    fn tiles(&self, field: FieldId) -> Result<usize, Failure> {
        Ok(TileOffsets::decode(&self.section(FieldSection::TileOffsets, field)?)?.len())
    }

    fn same_field(&self, other: &Self, field: FieldId) -> Result<(), Failure> {
        use FieldSection as S;
        // Where tiles lie depends on how well they were compressed; how many there are does not.
        for section in [S::TileOffsets, S::TileVarOffsets, S::TileValidityOffsets] {
            let count = |of: &Self| -> Result<usize, Failure> { Ok(TileOffsets::decode(&of.section(section, field)?)?.len()) };
            same("tiles with offsets", &count(self)?, &count(other)?)?;
        }
        let sizes = |of: &Self| -> Result<TileSizes, Failure> { Ok(TileSizes::decode(&of.section(S::TileVarSizes, field)?)?) };
        same("tile var sizes", &sizes(self)?, &sizes(other)?)?;
        let wrong = Wrong::of(&self.schema, field, self.footer.dense, self.tiles(field)?);
        let size = field.shape(&self.schema).map_or(ValueSize::Var, ValueSize::of);
        let (empty, sums) = (self.valueless_tiles(field)?, self.sums(field)?.0);
        let doubtful = |tile: usize| empty.contains(&tile) || sums.get(tile).is_some_and(|sum| self.order_decides(field, *sum));
        if !wrong.bounds {
            for (section, what) in [(S::Mins, "mins"), (S::Maxes, "maxes")] {
                let bounds =
                    |of: &Self| -> Result<TileMinMax, Failure> { Ok(TileMinMax::decode(&of.section(section, field)?, size)?) };
                let (ours, theirs) = (bounds(self)?, bounds(other)?);
                same(&format!("number of {what}"), &ours.len(), &theirs.len())?;
                for tile in (0..ours.len()).filter(|&tile| !doubtful(tile)) {
                    same(&format!("{what} of tile {tile}"), &ours.value(tile), &theirs.value(tile))?;
                }
            }
        }
        if !self.stops(other, field)? {
            same_sums(&self.schema, field, &self.sums(field)?.0, &other.sums(field)?.0)?;
        }
        if !wrong.null_counts {
            let counts = |of: &Self| -> Result<TileNullCounts, Failure> {
                Ok(TileNullCounts::decode(&of.section(S::NullCounts, field)?)?)
            };
            same("null counts", &counts(self)?, &counts(other)?)?;
        }
        Ok(())
    }

    /// Tiles of a sparse fragment without a value. The bounds of such tiles mean nothing, and those of the last one depend
    /// on how the reference was given the cells.
    fn valueless_tiles(&self, field: FieldId) -> Result<Vec<usize>, Failure> {
        let counts = TileNullCounts::decode(&self.section(FieldSection::NullCounts, field)?)?.0;
        let last = counts.len().saturating_sub(1);
        let cells = |tile: usize| if tile == last { self.footer.last_tile_cells } else { self.schema.capacity };
        let empty = |(tile, nulls): (usize, &u64)| (!self.footer.dense && *nulls == cells(tile)).then_some(tile);
        Ok(counts.iter().enumerate().filter_map(empty).collect())
    }

    /// Whether bounds may depend on the order in which cells are looked at: NaN replaces what was found before it. The reference
    /// goes through a dense tile by the runs of cells that it was given.
    fn order_decides(&self, field: FieldId, sum: u64) -> bool {
        self.footer.dense && is_float(&self.schema, field) && !float_bounds_are_exact(f64::from_bits(sum))
    }

    fn sums(&self, field: FieldId) -> Result<TileSums, Failure> {
        Ok(TileSums::decode(&self.section(FieldSection::Sums, field)?)?)
    }

    /// Whether a sum stops, or stopped on the way, at the bound of its type in a dense fragment. The reference goes on
    /// behind each run of cells that it was given at once.
    fn stops(&self, other: &Self, field: FieldId) -> Result<bool, Failure> {
        let Some(shape) = field.shape(&self.schema).filter(|_| self.footer.dense) else { return Ok(false) };
        let exact = |bits: u64| Sum::from_bits(bits, shape.datatype).is_none_or(Sum::is_exact);
        let sums_are_exact = self.sums(field)?.0.iter().chain(&other.sums(field)?.0).all(|bits| exact(*bits));
        Ok(!sums_are_exact || (shape.datatype.class() == DatatypeClass::Signed && self.may_overflow(field)?))
    }

    /// Whether the sum of some cells of a tile may be beyond the greatest or the least number although that of all is not.
    fn may_overflow(&self, field: FieldId) -> Result<bool, Failure> {
        let Some(domain) = &self.footer.non_empty_domain else { return Ok(false) };
        let cells = TileGrid::new(&self.schema, domain)?.cells_per_tile();
        let large = |bytes: &[u8]| {
            let number = bytes.try_into().map(i64::from_le_bytes).unwrap_or(0);
            number.unsigned_abs() > i64::MAX.unsigned_abs() / cells.max(1)
        };
        let bounds = |section| -> Result<bool, Failure> {
            let bounds = TileMinMax::decode(&self.section(section, field)?, ValueSize::Fixed(8))?;
            Ok((0..bounds.len()).any(|tile| bounds.value(tile).is_some_and(large)))
        };
        let eight = field.shape(&self.schema).and_then(FieldShape::cell_bytes) == Some(8);
        Ok(eight && (bounds(FieldSection::Mins)? || bounds(FieldSection::Maxes)?))
    }

    fn same_statistics(&self, other: &Self) -> Result<(), Failure> {
        let statistics = |of: &Self| -> Result<FragmentStatistics, Failure> {
            let payload = of.tile(of.footer.fragment_statistics.ok_or("no statistics")?)?;
            Ok(FragmentStatistics::decode(&payload, of.footer.layout)?)
        };
        let (a, b) = (statistics(self)?, statistics(other)?);
        for ((field, a), b) in self.footer.layout.fields().zip(&a.fields).zip(&b.fields) {
            let name = name(&self.schema, field);
            let wrong = Wrong::of(&self.schema, field, self.footer.dense, self.tiles(field)?);
            let doubtful = self.sums(field)?.0.iter().any(|sum| self.order_decides(field, *sum));
            if !wrong.bounds && !wrong.fragment_bounds && !doubtful {
                same(&format!("{name}: minimum of the fragment"), &a.min, &b.min)?;
                same(&format!("{name}: maximum of the fragment"), &a.max, &b.max)?;
            }
            if !self.stops(other, field)? {
                same_sums(&self.schema, field, &[a.sum_bits], &[b.sum_bits])
                    .map_err(|difference| format!("{name}: of the fragment: {difference}"))?;
            }
            if !wrong.null_counts {
                same(&format!("{name}: nulls of the fragment"), &a.null_count, &b.null_count)?;
            }
        }
        Ok(())
    }
}

/// What the reference writes wrongly about a field; there ours are right (04-fragment-metadata §8).
struct Wrong {
    bounds: bool,
    fragment_bounds: bool,
    null_counts: bool,
}

impl Wrong {
    fn of(schema: &ArraySchema, field: FieldId, dense: bool, tiles: usize) -> Self {
        let nothing = Self { bounds: false, fragment_bounds: false, null_counts: false };
        let (FieldId::Attribute(_), Some(shape)) = (field, field.shape(schema)) else { return nothing };
        let text = shape.datatype.class() == DatatypeClass::Text;
        let var = shape.cell_val_num.is_var();
        let has_bounds = text || (shape.cell_val_num == CellValNum::ONE && shape.datatype.class() != DatatypeClass::Opaque);
        let wide_text = matches!(
            shape.datatype,
            Datatype::StringUtf8 | Datatype::StringUtf16 | Datatype::StringUtf32 | Datatype::StringUcs2 | Datatype::StringUcs4
        );
        Self {
            // Text of variable length in dense arrays: with nulls, and where there are more attributes than tiles.
            bounds: dense && text && var && (shape.nullable || schema.attributes.len() > tiles),
            // Nullable text of fixed length, when a tile is all null.
            fragment_bounds: text && !var && shape.nullable,
            // Nothing is counted in fields of variable length and wide text without bounds, and the same cells several
            // times in dense arrays.
            null_counts: shape.nullable && ((!has_bounds && (var || wide_text || dense)) || (dense && text && var)),
        }
    }
}

fn is_float(schema: &ArraySchema, field: FieldId) -> bool {
    field.shape(schema).is_some_and(|shape| shape.datatype.class() == DatatypeClass::Float)
}

/// Sums; those of floats in the last digits depend on the order of adding, which for dense tiles is that of the runs of
/// cells that the reference was given.
fn same_sums(schema: &ArraySchema, field: FieldId, a: &[u64], b: &[u64]) -> Result<(), Failure> {
    let float = is_float(schema, field);
    let close = |(a, b): (&u64, &u64)| {
        let (x, y) = (f64::from_bits(*a), f64::from_bits(*b));
        a == b || (float && ((x.is_nan() && y.is_nan()) || (x - y).abs() <= x.abs() * 1e-12))
    };
    if a.len() == b.len() && a.iter().zip(b).all(close) { Ok(()) } else { same("sums", &a, &b) }
}

fn name(schema: &ArraySchema, field: FieldId) -> String {
    match field {
        FieldId::Attribute(index) => schema.attributes.get(index).map_or(String::new(), |attribute| {
            format!("attribute {:?} of {} {:?}", attribute.name, attribute.datatype, attribute.cell_val_num)
        }),
        other => format!("{other:?}"),
    }
}

fn same<T: PartialEq + Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), Failure> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: ours {ours:?}, the peer's {theirs:?}").into()) }
}
