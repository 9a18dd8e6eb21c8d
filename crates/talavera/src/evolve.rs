//! Changing the schema of an array (21-semantics §9).

use talavera_engine::{EvolveOptions, enumeration_file_name, evolve_array};
use talavera_schema::{Attribute, Enumeration, NdRange, SchemaEvolution};

use crate::{Array, BinaryCell, Error};

/// A change of the newest schema of an array: built up, then committed as one more schema.
///
/// ```
/// use talavera::{ArrayBuilder, Attribute, CellValNum, Datatype, enumeration};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("array");
/// let kinds = enumeration("kinds", Datatype::StringUtf8, CellValNum::Var, false, ["oak", "elm"])?;
/// let builder = ArrayBuilder::sparse().dimension("x", 0..=99_i32, 10).attribute::<f64>("old");
/// let array = builder.enumerated_attribute::<u8>("kind", kinds).create(&path)?;
/// array
///     .evolve()
///     .drop_attribute("old")
///     .add_attribute(Attribute { nullable: true, ..Attribute::new("new", Datatype::Int32) })
///     .extend_enumeration("kinds", ["fir"])
///     .at(4102444800000)
///     .commit()?;
///
/// let array = talavera::Array::options().at(4102444800000).open(&path)?;
/// assert!(array.schema().attribute("old").is_none());
/// assert_eq!(array.enumeration("kinds")?.index_of(b"fir"), Some(2));
/// # Ok::<(), talavera::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a change does nothing until it is committed"]
pub struct Evolve<'a> {
    array: &'a Array,
    /// The change, or what went wrong first in asking for it.
    change: Result<SchemaEvolution, Error>,
    enumerations: Vec<Enumeration>,
    timestamp: Option<u64>,
}

impl<'a> Evolve<'a> {
    pub(crate) fn new(array: &'a Array) -> Self {
        Self { array, change: Ok(SchemaEvolution::new()), enumerations: Vec::new(), timestamp: None }
    }

    /// Adds an attribute. Cells that are there already have its fill value.
    pub fn add_attribute(self, attribute: Attribute) -> Self {
        self.with(|change| Ok(change.add_attribute(attribute)))
    }

    /// Drops an attribute. Readers of earlier times still see it.
    pub fn drop_attribute(self, name: impl Into<String>) -> Self {
        self.with(|change| Ok(change.drop_attribute(name)))
    }

    /// Adds an enumeration; see [`enumeration`](crate::enumeration).
    pub fn add_enumeration(mut self, enumeration: Enumeration) -> Self {
        self = self.with(|change| Ok(change.add_enumeration(&enumeration)));
        self.enumerations.push(enumeration);
        self
    }

    /// Adds values behind those of an enumeration that the array has; the indices of old values stay what they are.
    pub fn extend_enumeration<C: BinaryCell>(mut self, name: &str, values: impl IntoIterator<Item = C>) -> Self {
        let extended = self.extended(name, values);
        match extended {
            Ok((old, new)) => {
                self = self.with(|change| Ok(change.extend_enumeration(&old, &new)?));
                self.enumerations.push(new);
                self
            }
            Err(error) => self.with(|_| Err(error)),
        }
    }

    /// Drops an enumeration that no attribute uses any more.
    pub fn drop_enumeration(self, name: impl Into<String>) -> Self {
        self.with(|change| Ok(change.drop_enumeration(name)))
    }

    /// Gives the array a current domain, or a larger one.
    pub fn expand_current_domain(self, current_domain: NdRange) -> Self {
        self.with(|change| Ok(change.expand_current_domain(current_domain)))
    }

    /// The time of the new schema in milliseconds since 1970; now without this. Readers of earlier times go by the schemas
    /// before.
    pub fn at(mut self, timestamp_ms: u64) -> Self {
        self.timestamp = Some(timestamp_ms);
        self
    }

    /// Stores the new schema and returns its name.
    ///
    /// # Errors
    /// When the change breaks a rule, when the new schema would not be the newest, when enumerations do not fit, and when
    /// storage fails.
    pub fn commit(self) -> Result<String, Error> {
        let array = self.array.engine();
        let options = EvolveOptions { engine: array.options().clone(), timestamp: self.timestamp };
        Ok(evolve_array(array.storage(), array.root(), &self.change?, &self.enumerations, &options)?)
    }

    fn extended<C: BinaryCell>(
        &self,
        name: &str,
        values: impl IntoIterator<Item = C>,
    ) -> Result<(std::sync::Arc<Enumeration>, Enumeration), Error> {
        let values: Vec<C> = values.into_iter().collect();
        let old = self.array.enumeration(name)?;
        let new = old.extended(enumeration_file_name()?, values.iter().map(|value| value.binary().unwrap_or_default()))?;
        Ok((old, new))
    }

    fn with(mut self, change: impl FnOnce(SchemaEvolution) -> Result<SchemaEvolution, Error>) -> Self {
        self.change = self.change.and_then(change);
        self
    }
}
