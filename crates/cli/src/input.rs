//! Files with cells: which form they have, and their cells as the fields of an array.

pub(crate) mod arrow;
pub(crate) mod csv;

use std::path::Path;

use talavera::{Coordinate, FieldBuffer, Range};

use crate::error::Error;

/// The form of a file with cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// Comma-separated values with a header.
    Csv,
    /// An Arrow IPC stream or file.
    Arrow,
    /// Parquet.
    Parquet,
}

impl InputFormat {
    /// The form that the name of a file tells.
    ///
    /// # Errors
    /// [`Error::Usage`] for other names.
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "csv" => Ok(Self::Csv),
            "arrow" | "arrows" | "ipc" | "feather" => Ok(Self::Arrow),
            "parquet" | "pq" => Ok(Self::Parquet),
            _ => Err(Error::usage(format!("{}: the name must end in .csv, .arrow or .parquet", path.display()))),
        }
    }
}

/// The lowest and highest of some coordinates; none when there are none, or none that compare.
pub(crate) fn bounds(buffer: &FieldBuffer) -> Option<Range> {
    let coordinate = |cell| Coordinate::from_le_bytes(buffer.datatype(), buffer.cell(cell)?);
    let (mut low, mut high) = (coordinate(0)?, coordinate(0)?);
    for cell in 1..buffer.len() {
        let coordinate = coordinate(cell)?;
        if coordinate < low {
            low = coordinate;
        }
        if coordinate > high {
            high = coordinate;
        }
    }
    Range::new(low, high)
}
