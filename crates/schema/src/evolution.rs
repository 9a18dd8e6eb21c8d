//! Schema evolution (21-semantics §9).

use crate::{ArraySchema, Attribute, Enumeration, EnumerationReference, NdRange, Rule, SchemaError, validate};

/// A change of a schema, to be stored as one more schema of the array.
///
/// Attributes and enumerations come and go, enumerations and the current domain grow. Dimensions, orders, capacity,
/// labels and the filters of what stays never change. Of adding and dropping one name, the last call counts.
#[derive(Debug, Clone, Default)]
pub struct SchemaEvolution {
    enumerations_to_add: Vec<Added>,
    enumerations_to_extend: Vec<Added>,
    attributes_to_add: Vec<Attribute>,
    attributes_to_drop: Vec<String>,
    enumerations_to_drop: Vec<String>,
    current_domain: Option<NdRange>,
}

/// An enumeration that comes or grows.
#[derive(Debug, Clone)]
struct Added {
    reference: EnumerationReference,
    value_count: usize,
}

impl SchemaEvolution {
    /// No change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute behind those that are there. Fields are matched between schemas by name: if the array once
    /// had an attribute of this name and type, its old cells appear again.
    #[must_use]
    pub fn add_attribute(mut self, attribute: Attribute) -> Self {
        self.attributes_to_drop.retain(|name| *name != attribute.name);
        self.attributes_to_add.push(attribute);
        self
    }

    /// Drops an attribute.
    #[must_use]
    pub fn drop_attribute(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.attributes_to_add.retain(|attribute| attribute.name != name);
        self.attributes_to_drop.push(name);
        self
    }

    /// Adds an enumeration, whose file has to be written beside.
    #[must_use]
    pub fn add_enumeration(mut self, enumeration: &Enumeration) -> Self {
        self.enumerations_to_drop.retain(|name| name != enumeration.name());
        self.enumerations_to_add.push(Added::new(enumeration));
        self
    }

    /// Replaces the enumeration `old` by `new`, whose file has to be written beside.
    ///
    /// # Errors
    /// [`SchemaError::Invalid`] unless `new` extends `old`.
    pub fn extend_enumeration(mut self, old: &Enumeration, new: &Enumeration) -> Result<Self, SchemaError> {
        new.check_extends(old)?;
        self.enumerations_to_extend.push(Added::new(new));
        Ok(self)
    }

    /// Drops an enumeration; its file stays for older schemas. One that does not exist is ignored.
    #[must_use]
    pub fn drop_enumeration(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.enumerations_to_add.retain(|enumeration| enumeration.reference.name != name);
        self.enumerations_to_extend.retain(|enumeration| enumeration.reference.name != name);
        self.enumerations_to_drop.push(name);
        self
    }

    /// Gives the array a current domain, or a larger one.
    #[must_use]
    pub fn expand_current_domain(mut self, current_domain: NdRange) -> Self {
        self.current_domain = Some(current_domain);
        self
    }

    /// The changed schema, in the format version of the old one.
    ///
    /// # Errors
    /// [`SchemaError`] when what is to be added is there already, what is to be dropped or extended is not, an
    /// enumeration in use would be dropped, the current domain would shrink, or the result breaks a rule for arrays.
    /// Rules that only the unchanged parts break are left alone: the array exists.
    pub fn apply(&self, schema: &ArraySchema) -> Result<ArraySchema, SchemaError> {
        let mut new = schema.clone();
        self.grow_enumerations(&mut new)?;
        new.attributes.extend(self.attributes_to_add.iter().cloned());
        validate::names(&new)?;
        for name in &self.attributes_to_drop {
            let field = || format!("attribute {name:?}");
            let (index, _) = new.attribute(name).ok_or_else(|| SchemaError::NotFound { field: field() })?;
            new.attributes.remove(index);
        }
        self.drop_enumerations(&mut new)?;
        self.grow_current_domain(&mut new)?;
        validate::array(&new)?;
        for attribute in &self.attributes_to_add {
            validate::attribute(&new, attribute)?;
            validate::attribute_filters(&new, attribute)?;
            self.check_value_count(attribute)?;
        }
        Ok(new)
    }

    fn grow_enumerations(&self, new: &mut ArraySchema) -> Result<(), SchemaError> {
        new.enumerations.extend(self.enumerations_to_add.iter().map(|added| added.reference.clone()));
        for Added { reference, .. } in &self.enumerations_to_extend {
            let found = new.enumerations.iter_mut().find(|enumeration| enumeration.name == reference.name);
            let not_found = || SchemaError::NotFound { field: format!("enumeration {:?}", reference.name) };
            reference.file_name.clone_into(&mut found.ok_or_else(not_found)?.file_name);
        }
        Ok(())
    }

    fn drop_enumerations(&self, new: &mut ArraySchema) -> Result<(), SchemaError> {
        for name in &self.enumerations_to_drop {
            if new.attributes.iter().any(|attribute| attribute.enumeration.as_ref() == Some(name)) {
                return Err(Rule::EnumerationInUse.broken_by(format!("enumeration {name:?}")));
            }
            new.enumerations.retain(|enumeration| enumeration.name != *name);
        }
        Ok(())
    }

    fn grow_current_domain(&self, new: &mut ArraySchema) -> Result<(), SchemaError> {
        let Some(larger) = &self.current_domain else { return Ok(()) };
        if new.current_domain.as_ref().is_some_and(|smaller| !larger.contains(smaller)) {
            return Err(Rule::CurrentDomainShrinks.broken_by("current domain"));
        }
        new.current_domain = Some(larger.clone());
        validate::current_domain(new)
    }

    /// The number of values is known of the enumerations that come with this change.
    fn check_value_count(&self, attribute: &Attribute) -> Result<(), SchemaError> {
        let known = self.enumerations_to_add.iter().chain(&self.enumerations_to_extend);
        for added in known.filter(|added| attribute.enumeration.as_ref() == Some(&added.reference.name)) {
            validate::enumeration_size(attribute, added.value_count)?;
        }
        Ok(())
    }
}

impl Added {
    fn new(enumeration: &Enumeration) -> Self {
        Self { reference: EnumerationReference::to(enumeration), value_count: enumeration.len() }
    }
}

#[cfg(test)]
mod tests;
