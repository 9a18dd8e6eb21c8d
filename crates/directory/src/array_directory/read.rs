//! One listing pass over an array folder.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use talavera_storage::{Entry, ObjectPath, Storage, StorageExt};
use talavera_types::FormatVersion;

use super::{ArrayDirectory, DeleteContent, DeleteFile, DeleteKind, FragmentFolder, FragmentVacuum, SchemaFile};
use crate::error::in_file;
use crate::lines::read_file;
use crate::metadata_folder::{MetadataFolder, list_known, named_file};
use crate::paths::{
    ARRAY_SCHEMA, COMMITS, ENUMERATIONS, FRAGMENT_META, FRAGMENT_METADATA, FRAGMENTS, GROUP_MARKER, LABELS, LOCK, META, SCHEMA,
};
use crate::{
    ArrayPaths, CommitRecord, CommitsFile, ConsolidatedCommits, DirectoryError, IgnoreFile, IgnoreList, NamedFile,
    TimestampedName, VacuumFile, split_extension,
};

pub(super) fn read(storage: &dyn Storage, root: &ObjectPath) -> Result<ArrayDirectory, DirectoryError> {
    let entries = storage.list(root)?;
    let mut found = Found::default();
    found.sort_root(root, &entries)?;
    let (folder, files) = list_known(storage, root, &entries, SCHEMA)?;
    found.sort_schemas(&folder, &files)?;
    let (folder, files) = list_known(storage, root, &entries, COMMITS)?;
    found.sort_commits(&folder, &files)?;
    let (folder, files) = list_known(storage, root, &entries, FRAGMENT_META)?;
    found.sort_footers(&folder, &files)?;
    let (folder, files) = list_known(storage, root, &entries, META)?;
    let read_vacuum = |path, name| VacuumFile::read(storage, root, path, name);
    let metadata = MetadataFolder::read(&folder, files, &mut found.ignored, read_vacuum)?;

    let ignore_files = found.ignores.drain(..).map(|file| read_ignore_file(storage, file)).collect::<Result<Vec<_>, _>>()?;
    let commits_files =
        found.consolidated.drain(..).map(|file| read_commits_file(storage, file)).collect::<Result<Vec<_>, _>>()?;
    let vacuums = found.vacuums.drain(..).map(|file| read_vacuum_file(storage, root, file)).collect::<Result<Vec<_>, _>>()?;
    let consolidated = consolidated_commits(&commits_files, &ignore_files);
    let deletes = deletes(&commits_files, found.deletes);

    let mut fragments = Vec::new();
    for folder in found.folders {
        match root_fragment(storage, folder, &found.ok_files, &consolidated)? {
            Ok(fragment) => fragments.push(fragment),
            Err(uncommitted) => found.ignored.push(uncommitted),
        }
    }
    let paths = ArrayPaths::new(root.clone());
    fragments.extend(commits_folder_fragments(&paths, &found.wrt_files, &consolidated, &mut found.ignored)?);
    Ok(ArrayDirectory {
        paths,
        schemas: found.schemas,
        fragments,
        vacuums,
        deletes,
        metadata,
        consolidated_footers: found.footers,
        commits_files,
        ignore_files,
        consolidated,
        ignored: found.ignored,
    })
}

/// What the names in the folders are.
#[derive(Default)]
struct Found {
    schemas: Vec<SchemaFile>,
    /// Folders in the root that are named like fragments.
    folders: Vec<NamedFile>,
    /// Fragments with an `.ok` file in the root.
    ok_files: HashSet<TimestampedName>,
    /// Fragments with a `.wrt` file.
    wrt_files: BTreeSet<TimestampedName>,
    consolidated: Vec<NamedFile>,
    ignores: Vec<NamedFile>,
    vacuums: Vec<NamedFile>,
    deletes: Vec<(NamedFile, DeleteKind)>,
    footers: Vec<NamedFile>,
    ignored: Vec<ObjectPath>,
}

impl Found {
    fn sort_root(&mut self, root: &ObjectPath, entries: &[Entry]) -> Result<(), DirectoryError> {
        for entry in entries {
            let path = root.join(&entry.name)?;
            if entry.is_folder() {
                match entry.name.parse() {
                    Ok(name) => self.folders.push(NamedFile { name, path }),
                    Err(_) if KNOWN_FOLDERS.contains(&entry.name.as_str()) => {}
                    Err(_) => self.ignored.push(path),
                }
                continue;
            }
            match named_file(entry) {
                Some((name, Some("ok"))) => {
                    self.ok_files.insert(name);
                }
                Some((name, Some("vac"))) => self.vacuums.push(NamedFile { name, path }),
                Some((name, Some("meta"))) => self.footers.push(NamedFile { name, path }),
                _ if entry.name == ARRAY_SCHEMA => self.schemas.push(SchemaFile { name: None, path }),
                _ if [LOCK, GROUP_MARKER].contains(&entry.name.as_str()) => {}
                _ => self.ignored.push(path),
            }
        }
        Ok(())
    }

    fn sort_schemas(&mut self, folder: &ObjectPath, entries: &[Entry]) -> Result<(), DirectoryError> {
        for entry in entries {
            let path = folder.join(&entry.name)?;
            match named_file(entry) {
                Some((name, None)) => self.schemas.push(SchemaFile { name: Some(name), path }),
                _ if entry.is_folder() && entry.name == ENUMERATIONS => {}
                _ => self.ignored.push(path),
            }
        }
        Ok(())
    }

    fn sort_commits(&mut self, folder: &ObjectPath, entries: &[Entry]) -> Result<(), DirectoryError> {
        for entry in entries {
            let path = folder.join(&entry.name)?;
            let Some((name, extension)) = named_file(entry) else {
                self.ignored.push(path);
                continue;
            };
            match extension {
                Some("wrt") => {
                    self.wrt_files.insert(name);
                }
                Some("con") => self.consolidated.push(NamedFile { name, path }),
                Some("ign") => self.ignores.push(NamedFile { name, path }),
                Some("vac") => self.vacuums.push(NamedFile { name, path }),
                Some("del") => self.deletes.push((NamedFile { name, path }, DeleteKind::Delete)),
                Some("upd") => self.deletes.push((NamedFile { name, path }, DeleteKind::Update)),
                _ => self.ignored.push(path),
            }
        }
        Ok(())
    }

    fn sort_footers(&mut self, folder: &ObjectPath, entries: &[Entry]) -> Result<(), DirectoryError> {
        for entry in entries {
            let path = folder.join(&entry.name)?;
            match named_file(entry) {
                Some((name, Some("meta"))) => self.footers.push(NamedFile { name, path }),
                _ => self.ignored.push(path),
            }
        }
        Ok(())
    }
}

fn read_ignore_file(storage: &dyn Storage, NamedFile { name, path }: NamedFile) -> Result<IgnoreFile, DirectoryError> {
    let list = IgnoreList::decode(&read_file(storage, &path)?).map_err(in_file(&path))?;
    Ok(IgnoreFile { name, path, list })
}

fn read_commits_file(storage: &dyn Storage, NamedFile { name, path }: NamedFile) -> Result<CommitsFile, DirectoryError> {
    let commits = ConsolidatedCommits::decode(&read_file(storage, &path)?).map_err(in_file(&path))?;
    Ok(CommitsFile { name, path, commits })
}

fn read_vacuum_file(storage: &dyn Storage, root: &ObjectPath, file: NamedFile) -> Result<FragmentVacuum, DirectoryError> {
    let version = version_of(&file.name, &file.path)?;
    Ok(FragmentVacuum { file: VacuumFile::read(storage, root, file.path, file.name)?, version })
}

/// Lines must be equal to the letter for an ignore file to take one back.
fn consolidated_commits(commits: &[CommitsFile], ignores: &[IgnoreFile]) -> BTreeSet<String> {
    let ignored: HashSet<&str> = ignores.iter().flat_map(|file| &file.list.paths).map(String::as_str).collect();
    let lines = commits.iter().flat_map(|file| &file.commits.records).map(CommitRecord::path);
    lines.filter(|line| !ignored.contains(line)).map(str::to_owned).collect()
}

/// Those in `.con` files, which ignore files do not touch, and those in files of their own, each once.
fn deletes(commits: &[CommitsFile], files: Vec<(NamedFile, DeleteKind)>) -> Vec<DeleteFile> {
    let mut deletes = BTreeMap::new();
    for (NamedFile { name, path }, kind) in files {
        let marker = format!("{COMMITS}/{}", path.name());
        deletes.insert(marker.clone(), DeleteFile { marker, name, kind, content: DeleteContent::File(path) });
    }
    for record in commits.iter().flat_map(|file| &file.commits.records) {
        if let CommitRecord::Condition { path, file } = record
            && let Some((name, kind)) = delete_name(path)
        {
            let content = DeleteContent::Embedded(file.clone());
            deletes.insert(path.clone(), DeleteFile { marker: path.clone(), name, kind, content });
        }
    }
    let mut deletes: Vec<_> = deletes.into_values().collect();
    deletes.sort_by_key(DeleteFile::timestamp);
    deletes
}

fn delete_name(line: &str) -> Option<(TimestampedName, DeleteKind)> {
    let (name, extension) = split_extension(line.strip_prefix(COMMITS)?.strip_prefix('/')?);
    let kind = match extension? {
        "del" => DeleteKind::Delete,
        "upd" => DeleteKind::Update,
        _ => return None,
    };
    Some((name.parse().ok()?, kind))
}

/// A fragment of version 11 or older, or the path of a folder that is not committed as one.
fn root_fragment(
    storage: &dyn Storage,
    NamedFile { name, path }: NamedFile,
    ok_files: &HashSet<TimestampedName>,
    consolidated: &BTreeSet<String>,
) -> Result<Result<FragmentFolder, ObjectPath>, DirectoryError> {
    let has_commit_file = ok_files.contains(&name);
    let is_consolidated_commit = consolidated.contains(&name.with_extension("ok"));
    let version = match name.fragment_version() {
        Ok(version) => version,
        Err(source) if has_commit_file || is_consolidated_commit => {
            return Err(DirectoryError::UnsupportedVersion { path, source });
        }
        Err(_) => return Ok(Err(path)),
    };
    let is_committed = if version.has_commits_folder() {
        false
    } else if version.has_commit_files() {
        has_commit_file || is_consolidated_commit
    } else {
        storage.exists(&path.join(FRAGMENT_METADATA)?)?
    };
    Ok(if is_committed { Ok(FragmentFolder { name, path, version, has_commit_file, is_consolidated_commit }) } else { Err(path) })
}

/// The fragments of version 12 and later: first those in `.con` files, then the others, each ascending by name.
fn commits_folder_fragments(
    paths: &ArrayPaths,
    wrt_files: &BTreeSet<TimestampedName>,
    consolidated: &BTreeSet<String>,
    ignored: &mut Vec<ObjectPath>,
) -> Result<Vec<FragmentFolder>, DirectoryError> {
    let consolidated_name = |line: &String| -> Option<TimestampedName> {
        line.strip_prefix(COMMITS)?.strip_prefix('/')?.strip_suffix(".wrt")?.parse().ok()
    };
    let in_files: Vec<TimestampedName> = consolidated.iter().filter_map(consolidated_name).collect();
    let known: HashSet<&TimestampedName> = in_files.iter().collect();
    let others = wrt_files.iter().filter(|name| !known.contains(name)).map(|name| (name, false));

    let mut fragments = Vec::new();
    for (name, is_consolidated_commit) in in_files.iter().map(|name| (name, true)).chain(others) {
        let commit = paths.commits_file(name, "wrt")?;
        let version = version_of(name, &commit)?;
        if !version.has_commits_folder() {
            ignored.push(commit);
            continue;
        }
        let path = paths.fragment(name, version)?;
        let has_commit_file = wrt_files.contains(name);
        fragments.push(FragmentFolder { name: name.clone(), path, version, has_commit_file, is_consolidated_commit });
    }
    Ok(fragments)
}

fn version_of(name: &TimestampedName, path: &ObjectPath) -> Result<FormatVersion, DirectoryError> {
    name.fragment_version().map_err(|source| DirectoryError::UnsupportedVersion { path: path.clone(), source })
}

/// Folders of an array that mean something, and that of a group in the same place.
const KNOWN_FOLDERS: [&str; 7] = [SCHEMA, COMMITS, FRAGMENTS, FRAGMENT_META, META, LABELS, crate::paths::GROUP];
