//! One module for each command.

pub(crate) mod fragments;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod meta;
pub(crate) mod read;
pub(crate) mod scan;
pub(crate) mod schema;
