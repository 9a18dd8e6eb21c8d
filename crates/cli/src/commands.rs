//! One module for each command, or for a few that are alike.

pub(crate) mod count;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod evolve;
pub(crate) mod explain;
pub(crate) mod fragments;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod meta;
pub(crate) mod objects;
pub(crate) mod part;
pub(crate) mod read;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod stats;
pub(crate) mod write;
