//! The R-tree over the minimum bounding rectangles of a sparse fragment's tiles: fragment page, "R-Tree".

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_schema::{Domain, NdRange};
use talavera_types::{Datatype, FormatVersion};

/// A tree of minimum bounding rectangles (MBRs): one leaf per tile in tile order, and above each level one that unites
/// every `fanout` neighbours, up to a single root. Dense fragments have an empty one.
#[derive(Debug, Clone, PartialEq)]
pub struct RTree {
    fanout: u32,
    levels: Vec<Vec<NdRange>>,
}

/// How far a question covers an MBR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// No cell in it can be meant.
    None,
    /// Some cells in it may be meant.
    Partial,
    /// Every cell in it is meant.
    Full,
}

/// A tile that a question meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileCover {
    /// The tile's index.
    pub tile: usize,
    /// Whether every cell of the tile is meant; if not, each has to be looked at.
    pub full: bool,
}

impl RTree {
    /// Neighbours under one parent in every tree that libraries write.
    pub const FANOUT: u32 = 10;

    /// The tree over these leaves, one per tile in tile order.
    #[must_use]
    pub fn build(leaves: Vec<NdRange>) -> Self {
        let mut levels = Vec::new();
        let mut level = leaves;
        while level.len() > 1 {
            let parents = level.chunks(Self::FANOUT as usize).filter_map(union).collect();
            levels.push(std::mem::replace(&mut level, parents));
        }
        if !level.is_empty() {
            levels.push(level);
        }
        levels.reverse();
        Self { fanout: Self::FANOUT, levels }
    }

    /// Reads the payload of a generic tile: fanout, number of levels, and the MBRs of each level from the root down. In
    /// versions 3 and 4 the number of dimensions and their datatype are there as well.
    ///
    /// # Errors
    /// When counts do not match the bytes or each other: every level must have one MBR for every `fanout` of the next, and
    /// the first a single one. Other readers find nothing in a tree that is built otherwise.
    pub fn decode(payload: &[u8], version: FormatVersion, domain: &Domain) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        if !version.has_dimension_fields() {
            expect(&mut r, "R-tree dim num", domain.dimensions.len() as u64, |r, field| r.u32(field).map(u64::from))?;
        }
        let at_fanout = r.clone();
        let fanout = r.u32("R-tree fanout")?;
        if fanout < 2 {
            return Err(at_fanout.invalid("R-tree fanout", fanout.into(), "at least 2"));
        }
        if let (false, Some(datatype)) = (version.has_dimension_fields(), datatype(domain)) {
            expect(&mut r, "R-tree datatype", datatype.code().into(), |r, field| r.u8(field).map(u64::from))?;
        }
        let level_count = r.count_u32("R-tree level num", 8)?;
        let mut levels: Vec<Vec<NdRange>> = Vec::with_capacity(level_count);
        let mbr_bytes = mbr_bytes(domain);
        for _ in 0..level_count {
            let offset = r.offset();
            let mbr_count = r.count_u64("R-tree level mbr num", mbr_bytes)?;
            let parents = mbr_count.div_ceil(fanout as usize);
            let found = levels.last().map_or(1, Vec::len);
            if mbr_count == 0 || parents != found && !levels.is_empty() || levels.is_empty() && mbr_count != 1 {
                let expected = "a number of MBRs that fits under the level above";
                return Err(DecodeErrorKind::Invalid { found: mbr_count as u64, expected }.at("R-tree level mbr num", offset));
            }
            levels.push((0..mbr_count).map(|_| NdRange::decode(&mut r, domain, "MBR")).collect::<Result<_, _>>()?);
        }
        r.finish("R-tree")?;
        Ok(Self { fanout, levels })
    }

    /// Writes what [`RTree::decode`] reads.
    pub fn encode(&self, w: &mut Writer, version: FormatVersion, domain: &Domain) {
        if !version.has_dimension_fields() {
            w.len_u32(domain.dimensions.len());
        }
        w.u32(self.fanout);
        if let (false, Some(datatype)) = (version.has_dimension_fields(), datatype(domain)) {
            datatype.encode(w);
        }
        w.len_u32(self.levels.len());
        for level in &self.levels {
            w.len_u64(level.len());
            for mbr in level {
                mbr.encode(w, domain);
            }
        }
    }

    /// The MBR of each tile, in tile order; empty for a dense fragment.
    #[must_use]
    pub fn leaves(&self) -> &[NdRange] {
        self.levels.last().map_or(&[], Vec::as_slice)
    }

    /// The levels from the root down to the leaves.
    #[must_use]
    pub fn levels(&self) -> &[Vec<NdRange>] {
        &self.levels
    }

    /// The tiles with cells that may be meant, ascending. `cover` is asked for MBRs from the root down; where it answers
    /// [`Cover::None`] or [`Cover::Full`], nothing below is asked.
    #[must_use]
    pub fn search(&self, cover: impl Fn(&NdRange) -> Cover) -> Vec<TileCover> {
        let mut found = vec![TileCover { tile: 0, full: false }];
        let fanout = usize::try_from(self.fanout).unwrap_or(usize::MAX);
        for (depth, level) in self.levels.iter().enumerate() {
            let width = if depth == 0 { 1 } else { fanout };
            let mut next = Vec::with_capacity(found.len());
            for parent in found {
                let first = parent.tile.saturating_mul(width);
                for (index, mbr) in level.iter().enumerate().skip(first).take(width) {
                    let answer = if parent.full { Cover::Full } else { cover(mbr) };
                    if answer != Cover::None {
                        next.push(TileCover { tile: index, full: answer == Cover::Full });
                    }
                }
            }
            found = next;
        }
        if self.levels.is_empty() { Vec::new() } else { found }
    }

    /// The tiles with cells that may lie in a range, ascending; `full` where all of them do.
    ///
    /// An MBR that bounds nothing (NaN, or ends the wrong way round) rules nothing out.
    #[must_use]
    pub fn tiles_intersecting(&self, range: &NdRange) -> Vec<TileCover> {
        self.search(|mbr| match mbr {
            mbr if !mbr.is_valid() => Cover::Partial,
            mbr if range.contains(mbr) => Cover::Full,
            mbr if range.intersects(mbr) => Cover::Partial,
            _ => Cover::None,
        })
    }
}

impl Default for RTree {
    /// The empty tree of a dense fragment.
    fn default() -> Self {
        Self { fanout: Self::FANOUT, levels: Vec::new() }
    }
}

/// The least number of bytes that an MBR takes.
pub(crate) fn mbr_bytes(domain: &Domain) -> u64 {
    let range_bytes = |var: bool, size: usize| if var { 16 } else { 2 * size as u64 };
    domain.dimensions.iter().map(|dimension| range_bytes(dimension.is_var(), dimension.datatype.size())).sum()
}

fn union(mbrs: &[NdRange]) -> Option<NdRange> {
    let (first, rest) = mbrs.split_first()?;
    let mut union = first.clone();
    for mbr in rest {
        union.union_with(mbr);
    }
    Some(union)
}

fn datatype(domain: &Domain) -> Option<Datatype> {
    domain.dimensions.first().map(|dimension| dimension.datatype)
}

fn expect(
    r: &mut Reader<'_>,
    field: &'static str,
    expected: u64,
    read: impl Fn(&mut Reader<'_>, &'static str) -> Result<u64, DecodeError>,
) -> Result<(), DecodeError> {
    let offset = r.offset();
    match read(r, field)? {
        found if found == expected => Ok(()),
        found => Err(DecodeErrorKind::Mismatch { found, expected }.at(field, offset)),
    }
}

#[cfg(test)]
mod tests;
