//! Deleting cells by a condition (21-semantics §7).

use talavera_condition::QueryCondition;
use talavera_engine::{DeleteOptions, OpenArray, delete_cells};

use crate::Error;

/// A deletion of the cells of a sparse array for which a condition holds: built up, then committed.
///
/// It takes cells that were written before or at its time; readers of earlier times still see them. Values of enumerated
/// attributes are labels, not indices.
///
/// ```
/// use talavera::{ArrayBuilder, field};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// let array = ArrayBuilder::sparse().dimension("x", 0..=99_i32, 10).attribute::<f64>("v").create(&path)?;
/// array.write().column("x", &[1, 2, 3]).column("v", &[0.5, 1.5, 2.5]).commit()?;
/// array.reopen()?.delete(field("x").eq(2) | field("v").gt(2.0)).commit()?;
/// assert_eq!(array.reopen()?.read().values::<i32>("x")?, [1]);
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a deletion does nothing until it is committed"]
pub struct Delete<'a> {
    array: &'a OpenArray,
    condition: QueryCondition,
    options: DeleteOptions,
}

impl<'a> Delete<'a> {
    pub(crate) fn new(array: &'a OpenArray, condition: QueryCondition) -> Self {
        Self { array, condition, options: DeleteOptions::default() }
    }

    /// The time of the deletion in milliseconds since 1970; now without this.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.options.timestamp = Some(timestamp_ms);
        self
    }

    /// Refuses a deletion that would take cells which its condition does not name.
    ///
    /// What is stored is the condition of the cells to keep, and nothing compares with a null, with NaN, or with a field
    /// that a fragment does not have; so all readers take such cells for deleted.
    pub fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    /// Writes the deletion, as one file.
    ///
    /// # Errors
    /// For dense arrays and format versions before 16; for null tests, unknown fields and labels, and values that do not
    /// fit; for what [`Delete::strict`] refuses; when storage fails.
    pub fn commit(self) -> Result<(), Error> {
        Ok(delete_cells(self.array, &self.condition, &self.options)?)
    }
}
