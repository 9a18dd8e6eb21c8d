//! Names and small records in array and group folders.

use bytes::Bytes;
use talavera_directory::{
    ArrayMetadata, ConsolidatedCommits, Group, GroupDetails, IgnoreList, MetadataFile, TimeWindow, TimestampedName, VacuumList,
    split_extension,
};
use talavera_storage::ObjectPath;

use crate::{encoded, stable};

/// A file of consolidated commits; input: the file.
pub fn consolidated_commits(data: &[u8]) {
    let decode = |bytes: &[u8]| ConsolidatedCommits::decode(&Bytes::copy_from_slice(bytes));
    let Ok(commits) = decode(data) else { return };
    let commits = stable(&commits, |commits| encoded(|w| commits.encode(w)), decode);
    for record in &commits.records {
        let (name, _) = split_extension(record.path());
        let _ = name.rsplit('/').next().map(str::parse::<TimestampedName>);
    }
}

/// An ignore file; input: the file.
pub fn ignore_list(data: &[u8]) {
    let Ok(list) = IgnoreList::decode(data) else { return };
    stable(&list, |list| encoded(|w| list.encode(w)), IgnoreList::decode);
}

/// A vacuum file; input: the file.
pub fn vacuum_list(data: &[u8]) {
    let Ok(list) = VacuumList::decode(data) else { return };
    let list = stable(&list, |list| encoded(|w| list.encode(w)), VacuumList::decode);
    if let Ok(root) = ObjectPath::new("folder/array")
        && let Ok(paths) = list.resolve(&root)
    {
        assert!(paths.iter().all(|path| path.relative_to(&root).is_some()), "a vacuum file reaches out of its array");
    }
}

/// A timestamped name; input: the name.
pub fn timestamped_name(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (stem, extension) = split_extension(text);
    let Ok(name) = stem.parse::<TimestampedName>() else { return };
    assert_eq!(name.as_str(), stem);
    assert_eq!(name.to_string().parse().ok(), Some(name.clone()), "a name changed on its way");
    let _ = (name.form(), name.suffix(), name.fragment_version(), name.with_extension(extension.unwrap_or("wrt")));
    assert!(name.start() <= name.end() || !TimeWindow::until(0).contains(&name));
    let _ = (TimeWindow::ALL.contains(&name), TimeWindow::ALL.overlaps(&name));
}

/// A metadata file of an array or group; input: the payload.
pub fn array_metadata(data: &[u8]) {
    let Ok(file) = MetadataFile::decode(data) else { return };
    let file = stable(&file, |file| encoded(|w| file.encode(w)), MetadataFile::decode);
    assert_eq!(file.changes().count() == 0, file.is_empty());
    for (_, value) in file.changes() {
        let _ = value.map(|value| (value.datatype(), value.count(), value.bytes().len()));
    }
    let metadata = ArrayMetadata::replay([file.clone(), file]);
    assert!(metadata.iter().all(|(key, value)| metadata.get(key) == Some(value)));
    let again = ArrayMetadata::replay([metadata.to_file()]);
    assert_eq!(again.len(), metadata.len(), "metadata changed on its way");
}

/// A group details file; input: the payload.
pub fn group_details(data: &[u8]) {
    let Ok(details) = GroupDetails::decode(data) else { return };
    let details = stable(&details, |details| encoded(|w| details.encode(w)), GroupDetails::decode);
    let version = details.version;
    let _ = version.number();
    let group = Group::replay([details.clone(), details]);
    assert!(group.members().all(|member| group.get(member.key()) == Some(member)));
    assert_eq!(group.len() == 0, group.is_empty());
    let removed: Vec<_> = group.members().take(1).cloned().collect();
    let again = group.to_details(version, &removed);
    stable(&again, |details| encoded(|w| details.encode(w)), GroupDetails::decode);
}
