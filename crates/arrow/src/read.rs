//! Reads that give record batches.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use talavera::{Cells, Read};

use crate::{Conversion, Error};

/// Record batches from a read.
pub trait ReadExt<'a>: sealed::Sealed {
    /// The result in batches that follow each other in its order, none of them empty. The read gives the fields of the
    /// conversion, whichever it was asked for before.
    ///
    /// # Errors
    /// As [`Read::batches`].
    fn record_batches(self, conversion: &Conversion) -> Result<RecordBatches<'a>, Error>;

    /// The whole result as one batch.
    ///
    /// # Errors
    /// As [`Read::cells`] and [`Conversion::record_batch`].
    fn record_batch(self, conversion: &Conversion) -> Result<RecordBatch, Error>;
}

/// Record batches that are read as they are asked for.
///
/// As an iterator its errors are Arrow's, which other crates expect; `Error::from` gives back what lies in them, and
/// [`RecordBatches::next_batch`] never hides it. After an error there are no more batches.
pub struct RecordBatches<'a> {
    conversion: Conversion,
    cells: Box<dyn Iterator<Item = Result<Cells, talavera::Error>> + Send + 'a>,
    /// Cells that may still be given.
    left: usize,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for talavera::Read<'_> {}
}

impl<'a> ReadExt<'a> for Read<'a> {
    fn record_batches(self, conversion: &Conversion) -> Result<RecordBatches<'a>, Error> {
        Ok(RecordBatches::new(conversion, self.fields(conversion.names()).batches()?))
    }

    fn record_batch(self, conversion: &Conversion) -> Result<RecordBatch, Error> {
        conversion.record_batch(self.fields(conversion.names()).cells()?)
    }
}

impl<'a> RecordBatches<'a> {
    /// The record batches of results that come from elsewhere: watched, or filtered. They must have the fields of the
    /// conversion in its order.
    pub fn new<I>(conversion: &Conversion, cells: I) -> Self
    where
        I: IntoIterator<Item = Result<Cells, talavera::Error>>,
        I::IntoIter: Send + 'a,
    {
        Self { conversion: conversion.clone(), cells: Box::new(cells.into_iter()), left: usize::MAX }
    }

    /// Ends after so many cells, in the middle of a batch if need be. What lies behind them is not read.
    #[must_use]
    pub fn limit(mut self, cells: usize) -> Self {
        self.left = self.left.min(cells);
        self
    }

    /// The Arrow schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.conversion.schema()
    }

    /// The next batch; none behind the last.
    ///
    /// # Errors
    /// What is wrong with storage and files, and as [`Conversion::record_batch`].
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let batch = self.cells.next().map(|cells| self.conversion.record_batch(cells?)).transpose();
        let Ok(Some(batch)) = batch else {
            self.left = 0;
            return batch;
        };
        let rows = batch.num_rows().min(self.left);
        self.left -= rows;
        Ok(Some(if rows < batch.num_rows() { batch.slice(0, rows) } else { batch }))
    }
}

impl Iterator for RecordBatches<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl std::iter::FusedIterator for RecordBatches<'_> {}

impl RecordBatchReader for RecordBatches<'_> {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(self.conversion.schema())
    }
}

impl std::fmt::Debug for RecordBatches<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordBatches").field("conversion", &self.conversion).field("left", &self.left).finish_non_exhaustive()
    }
}
