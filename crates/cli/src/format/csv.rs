//! Comma-separated values.

use std::io::Write;

use talavera::Cells;

use crate::error::Error;
use crate::selection::FieldView;

/// Writes batches of cells as lines.
pub(crate) struct CsvWriter<'a> {
    lines: csv::Writer<&'a mut dyn Write>,
    fields: &'a [FieldView],
    null: &'a str,
}

impl<'a> CsvWriter<'a> {
    /// Writes the names of the fields.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn new(out: &'a mut dyn Write, fields: &'a [FieldView], null: &'a str) -> Result<Self, Error> {
        let mut lines = csv::Writer::from_writer(out);
        lines.write_record(fields.iter().map(|field| field.name.as_str()))?;
        Ok(Self { lines, fields, null })
    }

    /// Writes the first `count` cells of a batch.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn write(&mut self, cells: &Cells, count: usize) -> Result<(), Error> {
        let fields: Vec<_> = self.fields.iter().filter_map(|field| field.cells(cells)).collect();
        let mut text = String::new();
        for cell in 0..count.min(cells.len()) {
            for field in &fields {
                text.clear();
                if field.write_text(&mut text, cell) {
                    self.lines.write_field(&text)?;
                } else {
                    self.lines.write_field(self.null)?;
                }
            }
            self.lines.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        Ok(self.lines.flush()?)
    }
}
