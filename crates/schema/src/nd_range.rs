//! Ranges of all dimensions: MBRs, non-empty domains, current domains (04-fragment-metadata §5).

use talavera_codec::{DecodeError, Reader, Writer};

use crate::{Coordinate, Domain, Range};

/// One range for each dimension of a domain, in order: a minimum bounding rectangle, a non-empty domain, a current
/// domain.
///
/// Two of them with different numbers of ranges neither contain nor intersect each other.
#[derive(Debug, Clone, PartialEq)]
pub struct NdRange(
    /// The ranges, one for each dimension.
    pub Vec<Range>,
);

impl NdRange {
    /// Reads one range for each dimension of `domain`.
    ///
    /// # Errors
    /// As [`Range::decode`].
    pub fn decode(r: &mut Reader<'_>, domain: &Domain, field: &'static str) -> Result<Self, DecodeError> {
        domain.dimensions.iter().map(|dimension| Range::decode(r, dimension.datatype, field)).collect::<Result<_, _>>().map(Self)
    }

    /// Writes the ranges, which must be those of `domain`.
    pub fn encode(&self, w: &mut Writer, domain: &Domain) {
        for (range, dimension) in self.0.iter().zip(&domain.dimensions) {
            range.encode(w, dimension.datatype);
        }
    }

    /// Whether each range is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.0.iter().all(Range::is_valid)
    }

    /// Whether there is one range for each dimension of `domain`, of its datatype.
    #[must_use]
    pub fn is_of(&self, domain: &Domain) -> bool {
        self.0.len() == domain.dimensions.len()
            && self.0.iter().zip(&domain.dimensions).all(|(range, dimension)| range.is_of(dimension.datatype))
    }

    /// Whether a cell lies in it, given by one coordinate for each dimension.
    #[must_use]
    pub fn contains_coordinates(&self, coordinates: &[Coordinate<'_>]) -> bool {
        self.0.len() == coordinates.len()
            && self.0.iter().zip(coordinates).all(|(range, coordinate)| range.contains_coordinate(*coordinate))
    }

    /// Whether all of `other` lies in it.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.all(other, Range::contains)
    }

    /// Whether some cell lies in both.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.all(other, Range::intersects)
    }

    /// The cells in both, if there are any.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        if self.0.len() != other.0.len() {
            return None;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a.intersection(b)).collect::<Option<_>>().map(Self)
    }

    /// Widens it so that it contains `other`.
    pub fn union_with(&mut self, other: &Self) {
        for (range, other) in self.0.iter_mut().zip(&other.0) {
            range.union_with(other);
        }
    }

    /// The number of cells of integer ranges; `None` for other ranges, and for more than 64 bits can count.
    #[must_use]
    pub fn cell_count(&self) -> Option<u64> {
        self.0.iter().try_fold(1u64, |product, range| product.checked_mul(range.cell_count()?))
    }

    fn all(&self, other: &Self, law: impl Fn(&Range, &Range) -> bool) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| law(a, b))
    }
}

impl FromIterator<Range> for NdRange {
    fn from_iter<I: IntoIterator<Item = Range>>(ranges: I) -> Self {
        Self(ranges.into_iter().collect())
    }
}
