//! JSON values that know where they stand, so that errors can say it.

use serde_json::{Map, Value};

use crate::error::Error;

/// A value, and the way to it from the root.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    path: String,
    value: &'a Value,
}

/// An object with known keys.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    path: String,
    object: &'a Map<String, Value>,
}

impl<'a> Node<'a> {
    /// The whole.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// The value itself.
    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// An error about this value.
    pub(super) fn refused(&self, reason: impl AsRef<str>) -> Error {
        let path = if self.path.is_empty() { "the schema" } else { &self.path };
        Error::usage(format!("{path}: {}", reason.as_ref()))
    }

    /// An object that has none but these keys.
    pub(super) fn entries(&self, keys: &[&str]) -> Result<Entries<'a>, Error> {
        let object = self.value.as_object().ok_or_else(|| self.refused("is not an object"))?;
        if let Some(unknown) = object.keys().find(|key| !keys.contains(&key.as_str())) {
            return Err(self.refused(format!("there is no key \"{unknown}\"; the keys are {}", keys.join(", "))));
        }
        Ok(Entries { path: self.path.clone(), object })
    }

    /// The entries of an object with any keys.
    pub(super) fn pairs(&self) -> Result<Vec<(&'a str, Self)>, Error> {
        let object = self.value.as_object().ok_or_else(|| self.refused("is not an object"))?;
        Ok(object.iter().map(|(key, value)| (key.as_str(), Self { path: below(&self.path, key), value })).collect())
    }

    /// The items of a list.
    pub(super) fn list(&self) -> Result<Vec<Self>, Error> {
        let items = self.value.as_array().ok_or_else(|| self.refused("is not a list"))?;
        let item = |(index, value)| Self { path: format!("{}[{index}]", self.path), value };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// A text.
    pub(super) fn text(&self) -> Result<&'a str, Error> {
        self.value.as_str().ok_or_else(|| self.refused("is not a text"))
    }

    /// A number that is whole and not negative.
    pub(super) fn unsigned(&self) -> Result<u64, Error> {
        self.value.as_u64().ok_or_else(|| self.refused("is not a whole number"))
    }

    /// True or false.
    pub(super) fn boolean(&self) -> Result<bool, Error> {
        self.value.as_bool().ok_or_else(|| self.refused("is not true or false"))
    }

    /// A value known by its name in the format.
    pub(super) fn named<T>(&self, expected: &str, from_name: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
        self.value.as_str().and_then(from_name).ok_or_else(|| self.refused(format!("{} is not {expected}", self.value)))
    }
}

impl<'a> Entries<'a> {
    /// The value of a key; a key with null is as one that is left out.
    pub(super) fn optional(&self, key: &str) -> Option<Node<'a>> {
        let value = self.object.get(key).filter(|value| !value.is_null())?;
        Some(Node { path: below(&self.path, key), value })
    }

    /// The value of a key that must be there.
    pub(super) fn required(&self, key: &str) -> Result<Node<'a>, Error> {
        let path = if self.path.is_empty() { "the schema" } else { &self.path };
        self.optional(key).ok_or_else(|| Error::usage(format!("{path}: \"{key}\" is missing")))
    }

    /// The items of a list, none if it is left out.
    pub(super) fn list_or_none(&self, key: &str) -> Result<Vec<Node<'a>>, Error> {
        self.optional(key).map_or(Ok(Vec::new()), |node| node.list())
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
