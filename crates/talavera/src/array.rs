//! An open array.

use std::path::Path;
use std::sync::Arc;

use talavera_engine::{ArrayMetadata, OpenArray, TimeWindow};
use talavera_schema::{ArraySchema, Enumeration, NdRange};

use crate::{Error, FragmentInfo, OpenOptions, Read};

/// An array, opened at a moment in time.
///
/// It is a snapshot: what is written later is not noticed, and reading fragments that somebody has vacuumed since fails.
/// Clones share everything, and any number of threads may read at once.
///
/// ```
/// use talavera::Array;
///
/// let array = Array::open("tests/data/dense_2d_overlap")?;
/// let names: Vec<_> = array.schema().attributes.iter().map(|attribute| &attribute.name).collect();
/// assert_eq!(names, ["temp", "count"]);
/// assert_eq!(array.non_empty_domain().unwrap().0[0].to_string(), "[1, 6]");
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Array {
    open: Arc<OpenArray>,
}

impl Array {
    pub(crate) fn new(open: OpenArray) -> Self {
        Self { open: Arc::new(open) }
    }

    /// Opens the array in a local folder as it is now. [`Array::options`] opens it otherwise: at another time, with a key.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        OpenOptions::new().open(path)
    }

    /// How to open: time, key, threads, limits, storage.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// A question to the array: which cells, which fields, in which order.
    pub fn read(&self) -> Read<'_> {
        Read::new(&self.open)
    }

    /// The schema that readers go by: the newest at the time of opening.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        self.open.schema()
    }

    /// All schemas that the array ever had, oldest first, with their file names.
    ///
    /// # Errors
    /// When a schema file cannot be read.
    pub fn all_schemas(&self) -> Result<Vec<(String, Arc<ArraySchema>)>, Error> {
        Ok(self.open.all_schemas()?)
    }

    /// The fragments that are visible, older ones first.
    pub fn fragments(&self) -> impl ExactSizeIterator<Item = FragmentInfo> {
        self.open.fragments().iter().map(FragmentInfo::new)
    }

    /// Names of the fragments that consolidation has replaced and vacuuming has not removed yet.
    pub fn fragments_to_vacuum(&self) -> impl ExactSizeIterator<Item = &str> {
        self.open.fragments_to_vacuum()
    }

    /// The ranges that hold all cells of the visible fragments, one for each dimension; none when there are no fragments.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<NdRange> {
        self.open.non_empty_domain()
    }

    /// Keys and values that users keep with the array. Read from storage when first asked for.
    ///
    /// # Errors
    /// When a metadata file cannot be read.
    pub fn metadata(&self) -> Result<&ArrayMetadata, Error> {
        Ok(self.open.metadata()?)
    }

    /// The values of an enumeration, by its name; see [`Attribute::enumeration`](crate::Attribute::enumeration). Read
    /// from storage when first asked for.
    ///
    /// # Errors
    /// When the schema has no such enumeration, and when its file cannot be read.
    pub fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>, Error> {
        Ok(self.open.enumeration(name)?)
    }

    /// The times that the array was opened at.
    #[must_use]
    pub fn window(&self) -> TimeWindow {
        self.open.window()
    }

    /// The array as the engine has it, with everything that this type leaves out.
    #[must_use]
    pub fn engine(&self) -> &OpenArray {
        &self.open
    }
}
