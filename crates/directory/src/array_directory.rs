//! An array folder: page 01-layout, from "When is a fragment committed?" to "What upstream ignores".

mod read;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use talavera_storage::{ObjectPath, Storage, StorageError};
use talavera_types::FormatVersion;

use crate::metadata_folder::MetadataFolder;
use crate::paths::commit_line;
use crate::{ArrayPaths, CommitsFile, DirectoryError, IgnoreFile, NamedFile, TimeWindow, TimestampedName, VacuumFile};

/// What lies in an array folder, at the moment it was listed.
///
/// Everything below is answered from that listing: what others write or remove later is not seen.
#[derive(Debug, Clone)]
pub struct ArrayDirectory {
    paths: ArrayPaths,
    schemas: Vec<SchemaFile>,
    /// Committed ones, in the order in which equal times are resolved.
    fragments: Vec<FragmentFolder>,
    vacuums: Vec<FragmentVacuum>,
    deletes: Vec<DeleteFile>,
    metadata: MetadataFolder,
    consolidated_footers: Vec<NamedFile>,
    commits_files: Vec<CommitsFile>,
    ignore_files: Vec<IgnoreFile>,
    consolidated: BTreeSet<String>,
    ignored: Vec<ObjectPath>,
}

/// A schema of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFile {
    /// The name; `None` for `__array_schema.tdb`, which is older than all others.
    pub name: Option<TimestampedName>,
    /// Where it is.
    pub path: ObjectPath,
}

/// A committed fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentFolder {
    /// Its name.
    pub name: TimestampedName,
    /// Its folder.
    pub path: ObjectPath,
    /// The format version that the name tells; see [`TimestampedName::fragment_version`].
    pub version: FormatVersion,
    /// Whether it has a `.wrt` or `.ok` file of its own.
    pub has_commit_file: bool,
    /// Whether a `.con` file commits it, and no `.ign` file says otherwise.
    pub is_consolidated_commit: bool,
}

/// A vacuum file of fragments, with the version that its name tells.
#[derive(Debug, Clone)]
struct FragmentVacuum {
    file: VacuumFile,
    version: FormatVersion,
}

/// What a reader at some time sees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VisibleFragments {
    /// Ascending by start; later ones win where cells meet.
    pub fragments: Vec<FragmentFolder>,
    /// Those that were consolidated into others and not yet removed, in the same order.
    pub to_vacuum: Vec<FragmentFolder>,
}

/// A delete or update of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteFile {
    /// The path relative to the array, by which fragments remember that they processed it.
    pub marker: String,
    /// The name; its start is the time of the delete.
    pub name: TimestampedName,
    /// Whether cells go or change.
    pub kind: DeleteKind,
    /// Where the condition is.
    pub content: DeleteContent,
}

/// Whether a condition deletes or updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteKind {
    /// A `.del` file.
    Delete,
    /// An `.upd` file.
    Update,
}

/// Where the generic tile with a condition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteContent {
    /// In a file of its own.
    File(ObjectPath),
    /// In a `.con` file, which has been read.
    Embedded(Bytes),
}

impl ArrayDirectory {
    /// Lists the array at `root` and reads its `.con`, `.ign` and `.vac` files.
    ///
    /// The requests: one list for the root and for each of its folders that exist, one read for each of those files, and
    /// one size for each fragment of format version 4 or older. A folder that is no array is an array without schemas.
    ///
    /// # Errors
    /// [`DirectoryError::Storage`] when the store fails, [`DirectoryError::Corrupt`] for a file that was read,
    /// [`DirectoryError::UnsupportedVersion`] for a committed fragment that is too new.
    pub fn read(storage: &dyn Storage, root: &ObjectPath) -> Result<Self, DirectoryError> {
        read::read(storage, root)
    }

    /// Where things lie in this array.
    #[must_use]
    pub fn paths(&self) -> &ArrayPaths {
        &self.paths
    }

    /// All schemas, oldest first: `__array_schema.tdb`, then the others in the order of their names as text.
    #[must_use]
    pub fn schemas(&self) -> &[SchemaFile] {
        &self.schemas
    }

    /// The schema that a reader at the time `end` goes by: the last whose times are not later, or else the first.
    /// `None` when there is no array.
    ///
    /// Text order is not the order of numbers when these differ in digits; the reference takes text, so all must.
    #[must_use]
    pub fn latest_schema(&self, end: u64) -> Option<&SchemaFile> {
        let is_older = |schema: &&SchemaFile| schema.name.as_ref().is_none_or(|name| name.end() <= end);
        self.schemas.iter().rfind(is_older).or_else(|| self.schemas.first())
    }

    /// The schema that writers and schema evolution go by: the last, at whatever time.
    #[must_use]
    pub fn newest_schema(&self) -> Option<&SchemaFile> {
        self.schemas.last()
    }

    /// All committed fragments, hidden or not.
    #[must_use]
    pub fn committed_fragments(&self) -> &[FragmentFolder] {
        &self.fragments
    }

    /// The fragments that a reader of `window` sees, and those it would see if they were not consolidated.
    ///
    /// `array_is_dense` is the array type of the latest schema: it decides whether a fragment that is partly in the
    /// window is read.
    #[must_use]
    pub fn select(&self, window: TimeWindow, array_is_dense: bool) -> VisibleFragments {
        let is_in = |name: &TimestampedName, version: FormatVersion| {
            let partially = !array_is_dense && version.overlaps_time_window_partially();
            if partially { window.overlaps(name) } else { window.contains(name) }
        };
        let applicable = self.vacuums.iter().filter(|vacuum| is_in(&vacuum.file.name, vacuum.version));
        let hidden: HashSet<&ObjectPath> = applicable.flat_map(|vacuum| &vacuum.file.hidden).collect();
        let in_window = self.fragments.iter().filter(|fragment| is_in(&fragment.name, fragment.version)).cloned();
        let (mut to_vacuum, mut fragments): (Vec<_>, Vec<_>) = in_window.partition(|fragment| hidden.contains(&fragment.path));
        // Stable: equal starts keep the order of the listing.
        fragments.sort_by_key(|fragment| fragment.name.start());
        to_vacuum.sort_by_key(|fragment| fragment.name.start());
        VisibleFragments { fragments, to_vacuum }
    }

    /// The deletes and updates wholly in `window`, ascending by time.
    #[must_use]
    pub fn deletes(&self, window: TimeWindow) -> Vec<&DeleteFile> {
        self.deletes.iter().filter(|delete| window.contains(&delete.name)).collect()
    }

    /// The metadata files to apply, in order, without those that consolidation replaced.
    #[must_use]
    pub fn metadata_files(&self, window: TimeWindow) -> Vec<&NamedFile> {
        self.metadata.select(window)
    }

    /// All files of consolidated footers, ascending by name. They commit nothing and may name fragments that are gone.
    #[must_use]
    pub fn consolidated_footers(&self) -> &[NamedFile] {
        &self.consolidated_footers
    }

    /// Where the enumerations are, which only schemas name.
    ///
    /// # Errors
    /// [`StorageError::InvalidPath`] when the name leads out of the folder.
    pub fn enumeration(&self, name: &str) -> Result<ObjectPath, StorageError> {
        self.paths.enumeration(name)
    }

    /// The vacuum files of fragments.
    pub fn vacuum_files(&self) -> impl ExactSizeIterator<Item = &VacuumFile> {
        self.vacuums.iter().map(|vacuum| &vacuum.file)
    }

    /// The vacuum files of array metadata.
    #[must_use]
    pub fn metadata_vacuum_files(&self) -> &[VacuumFile] {
        self.metadata.vacuums()
    }

    /// The `.con` files.
    #[must_use]
    pub fn commits_files(&self) -> &[CommitsFile] {
        &self.commits_files
    }

    /// The `.ign` files.
    #[must_use]
    pub fn ignore_files(&self) -> &[IgnoreFile] {
        &self.ignore_files
    }

    /// What all `.con` files commit, less what the `.ign` files take back: paths relative to the array, ascending.
    #[must_use]
    pub fn consolidated_commits(&self) -> &BTreeSet<String> {
        &self.consolidated
    }

    /// What was found under names that mean nothing here, and fragments of format version 11 or older that were never
    /// committed.
    #[must_use]
    pub fn ignored(&self) -> &[ObjectPath] {
        &self.ignored
    }
}

impl FragmentFolder {
    /// The path of the commit file relative to the array, as `.con` and `.ign` files spell it; `None` before version 5.
    #[must_use]
    pub fn commit_line(&self) -> Option<String> {
        commit_line(&self.name, self.version)
    }
}

impl DeleteFile {
    /// The time of the delete, in milliseconds since 1970: cells written at or before it are affected.
    #[must_use]
    pub fn timestamp(&self) -> u64 {
        self.name.start()
    }
}
