//! A group folder: page 01-layout, "Groups".

use talavera_storage::{ObjectPath, Storage};

use crate::metadata_folder::{MetadataFolder, list_known, named_file};
use crate::paths::{GROUP, META};
use crate::{DirectoryError, GroupVersion, NamedFile, TimeWindow, VacuumFile};

/// What lies in a group folder.
#[derive(Debug, Clone)]
pub struct GroupDirectory {
    root: ObjectPath,
    details: Vec<NamedFile>,
    metadata: MetadataFolder,
    ignored: Vec<ObjectPath>,
}

impl GroupDirectory {
    /// Lists the group at `root` and reads its vacuum files. A folder that is no group is a group without members.
    ///
    /// # Errors
    /// [`DirectoryError::Storage`] when the store fails, [`DirectoryError::Corrupt`] for a vacuum file that is no text.
    pub fn read(storage: &dyn Storage, root: &ObjectPath) -> Result<Self, DirectoryError> {
        let entries = storage.list(root)?;
        let mut ignored = Vec::new();
        let mut details = Vec::new();
        let (folder, files) = list_known(storage, root, &entries, GROUP)?;
        for entry in files {
            let path = folder.join(&entry.name)?;
            match named_file(&entry) {
                Some((name, None)) => details.push(NamedFile { name, path }),
                _ => ignored.push(path),
            }
        }
        details.sort_by(|a, b| (a.name.start(), &a.path).cmp(&(b.name.start(), &b.path)));
        let (folder, files) = list_known(storage, root, &entries, META)?;
        let metadata =
            MetadataFolder::read(&folder, files, &mut ignored, |path, name| VacuumFile::read_literal(storage, path, name))?;
        Ok(Self { root: root.clone(), details, metadata, ignored })
    }

    /// The group folder.
    #[must_use]
    pub fn root(&self) -> &ObjectPath {
        &self.root
    }

    /// The member files to apply, in order: the newest alone when it is a list, else all.
    #[must_use]
    pub fn details(&self, window: TimeWindow) -> Vec<&NamedFile> {
        let visible: Vec<_> = self.details.iter().filter(|file| window.contains(&file.name)).collect();
        match (self.version(window), visible.last()) {
            (Some(GroupVersion::V1), Some(newest)) => vec![newest],
            _ => visible,
        }
    }

    /// What the newest member file is, by its name; `None` without one.
    ///
    /// A group keeps its version when it is written to again.
    #[must_use]
    pub fn version(&self, window: TimeWindow) -> Option<GroupVersion> {
        let newest = self.details.iter().rfind(|file| window.contains(&file.name))?;
        match newest.name.suffix() {
            None | Some(1) => Some(GroupVersion::V1),
            Some(_) => Some(GroupVersion::V2),
        }
    }

    /// The metadata files to apply, in order, without those that consolidation replaced.
    #[must_use]
    pub fn metadata_files(&self, window: TimeWindow) -> Vec<&NamedFile> {
        self.metadata.select(window)
    }

    /// The vacuum files of the metadata.
    #[must_use]
    pub fn metadata_vacuum_files(&self) -> &[VacuumFile] {
        self.metadata.vacuums()
    }

    /// What lies in the group's own folders under names that mean nothing.
    #[must_use]
    pub fn ignored(&self) -> &[ObjectPath] {
        &self.ignored
    }
}

#[cfg(test)]
mod tests {
    use talavera_storage::{MemoryStorage, StorageExt};

    use super::*;

    fn base(time: u64, uuid: char) -> String {
        format!("__{time}_{time}_{}", uuid.to_string().repeat(32))
    }

    fn read(files: &[(String, String)]) -> GroupDirectory {
        let storage = MemoryStorage::new();
        let root = ObjectPath::new("group").unwrap();
        for (file, content) in files {
            storage.write(&root.join(file).unwrap(), content.as_bytes()).unwrap();
        }
        GroupDirectory::read(&storage, &root).unwrap()
    }

    fn check(names: &[String], window: TimeWindow, version: Option<GroupVersion>, expected: &[&String]) {
        let files: Vec<_> = names.iter().map(|name| (format!("__group/{name}"), String::new())).collect();
        let directory = read(&files);
        let details = directory.details(window);
        let details: Vec<_> = details.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((directory.version(window), details), (version, expected.iter().map(|name| name.as_str()).collect()));
    }

    #[test]
    fn of_lists_the_newest_counts_and_of_changes_all() {
        let [a, b] = [base(10, 'f'), base(9, 'a')];
        check(&[a.clone(), b.clone()], TimeWindow::ALL, Some(GroupVersion::V1), &[&a]);
        check(&[a.clone(), b.clone()], TimeWindow::until(9), Some(GroupVersion::V1), &[&b]);
        let newer = format!("{}_1", base(11, 'a'));
        check(&[a.clone(), newer.clone()], TimeWindow::ALL, Some(GroupVersion::V1), &[&newer]);
        let [c, d] = [format!("{}_2", base(10, 'f')), format!("{}_2", base(9, 'a'))];
        check(&[c.clone(), d.clone()], TimeWindow::ALL, Some(GroupVersion::V2), &[&d, &c]);
        check(&[c.clone(), d.clone()], TimeWindow { start: 10, end: 10 }, Some(GroupVersion::V2), &[&c]);
        check(&[c, d], TimeWindow::until(8), None, &[]);
        check(&[], TimeWindow::ALL, None, &[]);
    }

    #[test]
    fn vacuum_lines_of_a_moved_group_hide_nothing() {
        let names = |lines: String| {
            let file = |name: String| (format!("__meta/{name}"), String::new());
            let vacuum = (format!("__meta/{}.vac", base(5, 'c')), lines);
            let directory = read(&[file(base(5, 'a')), file(base(5, 'c')), vacuum]);
            assert_eq!(directory.metadata_vacuum_files().len(), 1);
            directory.metadata_files(TimeWindow::ALL).len()
        };
        assert_eq!(names(format!("mem://group/__meta/{}\n", base(5, 'a'))), 1);
        assert_eq!(names(format!("mem://elsewhere/__meta/{}\n", base(5, 'a'))), 2);
        assert_eq!(names("no address at all\n".to_owned()), 2);
    }

    #[test]
    fn strangers_are_skipped_and_remembered() {
        let files = ["__group/foo", "__group/.DS_Store", "__meta/foo", "member/__schema/x", "__tiledb_group.tdb"];
        let directory = read(&files.map(|file| (file.to_owned(), String::new())));
        assert_eq!(directory.ignored().len(), 3);
        assert!(directory.details(TimeWindow::ALL).is_empty());
    }
}
