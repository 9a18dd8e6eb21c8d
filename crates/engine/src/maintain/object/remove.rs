//! Removing whole arrays and groups.

use std::collections::BTreeSet;

use talavera_directory::{ArrayPaths, GroupDirectory, NameForm, TimeWindow, TimestampedName, object_type, split_extension};
use talavera_storage::{Entry, ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::maintain::create::LOCK;
use crate::maintain::group::read_members;
use crate::open::OLD_SCHEMA;
use crate::{EngineOptions, Error};

/// Removes the array at `root`: everything that belongs to it, commits first and schemas last. Files of others stay, and
/// then the folder too.
///
/// Removed halfway, the array still opens, with fewer cells, and can be removed again.
///
/// # Errors
/// [`Error::NotFound`] when there is no array; the errors of storage.
pub fn remove_array(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    check_type(storage, root, ObjectType::Array)?;
    let mut own: Vec<_> = storage.list(root)?.into_iter().filter(belongs_to_array).collect();
    own.sort_by_cached_key(|entry| match entry.name.as_str() {
        "__commits" => 0,
        name if name.ends_with(".ok") => 0,
        "__schema" | OLD_SCHEMA => 2,
        _ => 1,
    });
    for entry in own {
        delete(storage, root, &entry)?;
    }
    delete_if_empty(storage, root)
}

/// Removes the group at `root`: its list of members and its metadata. Everything else in its folder stays, and then the
/// folder too.
///
/// With `is_recursive`, all arrays and groups that are members, and members of members, are removed before, wherever they
/// lie; those that do not exist are passed over.
///
/// # Errors
/// [`Error::NotFound`] when there is no group; damaged or encrypted files, and members in other stores, when
/// `is_recursive`, before anything is removed; the errors of storage.
pub fn remove_group(storage: &dyn Storage, root: &ObjectPath, is_recursive: bool, options: &EngineOptions) -> Result<(), Error> {
    check_type(storage, root, ObjectType::Group)?;
    if !is_recursive {
        return remove_own_files(storage, root);
    }
    // Innermost last, so backwards no group goes before its members. Groups may contain themselves.
    let members = members_below(storage, root, options)?;
    for (path, object_type) in members.iter().rev() {
        match object_type {
            ObjectType::Array => remove_array(storage, path)?,
            _ => remove_own_files(storage, path)?,
        }
    }
    Ok(())
}

/// Removes the array or group at `root` with everything in its folder, whoever it belongs to.
///
/// # Errors
/// [`Error::NotFound`] when there is neither; the errors of storage.
pub fn remove_object(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    match object_type(storage, root)? {
        Some(_) => Ok(storage.delete_folder(root)?),
        None => Err(Error::NotFound { path: root.clone(), wanted: "array or group" }),
    }
}

fn check_type(storage: &dyn Storage, root: &ObjectPath, wanted: ObjectType) -> Result<(), Error> {
    if object_type(storage, root)? == Some(wanted) {
        return Ok(());
    }
    let wanted = if wanted == ObjectType::Array { "array" } else { "group" };
    Err(Error::NotFound { path: root.clone(), wanted })
}

/// Whether an entry of an array's folder is the array's: its folders, and before version 12 its fragments, their commit and
/// vacuum files and consolidated footers.
fn belongs_to_array(entry: &Entry) -> bool {
    let is_fragment = |name: &str| name.parse().is_ok_and(|_: TimestampedName| true);
    if entry.is_folder() {
        return ArrayPaths::FOLDERS.contains(&entry.name.as_str()) || is_fragment(&entry.name);
    }
    let (name, extension) = split_extension(&entry.name);
    let is_ranged = |name: TimestampedName| name.form() != NameForm::UuidFirst;
    let of_fragment = matches!(extension, Some("ok" | "vac" | "meta")) && name.parse().is_ok_and(is_ranged);
    of_fragment || entry.name == OLD_SCHEMA || entry.name == LOCK
}

fn remove_own_files(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    for folder in ["__meta", "__group"] {
        storage.delete_folder(&root.join(folder)?)?;
    }
    storage.delete(&root.join("__tiledb_group.tdb")?)?;
    delete_if_empty(storage, root)
}

/// The group and what is in it at any depth, each once, groups before their members.
fn members_below(
    storage: &dyn Storage,
    root: &ObjectPath,
    options: &EngineOptions,
) -> Result<Vec<(ObjectPath, ObjectType)>, Error> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root.clone()]);
    let mut waiting = vec![root.clone()];
    while let Some(path) = waiting.pop() {
        let Some(found_type) = object_type(storage, &path)? else { continue };
        if found_type == ObjectType::Group {
            let directory = GroupDirectory::read(storage, &path)?;
            let members = read_members(storage, &directory.details(TimeWindow::ALL), options)?;
            for member in members.members() {
                let member = member.resolve(storage, &path)?;
                if seen.insert(member.clone()) {
                    waiting.push(member);
                }
            }
        }
        found.push((path, found_type));
    }
    Ok(found)
}

fn delete(storage: &dyn Storage, root: &ObjectPath, entry: &Entry) -> Result<(), Error> {
    let path = root.join(&entry.name)?;
    let deleted = if entry.is_folder() { storage.delete_folder(&path) } else { storage.delete(&path) };
    Ok(deleted?)
}

fn delete_if_empty(storage: &dyn Storage, root: &ObjectPath) -> Result<(), Error> {
    if !root.is_root() && storage.list(root)?.is_empty() {
        storage.delete_folder(root)?;
    }
    Ok(())
}
