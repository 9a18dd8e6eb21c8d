//! Arrays and groups written by libraries of every format version, as the current one sees them.
//!
//! They lie beside the checkout; where they do not, the tests say so and pass.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use talavera_directory::{
    ArrayDirectory, ArrayMetadata, Group, GroupDetails, GroupDirectory, MetadataFile, NamedFile, TimeWindow, object_type,
};
use talavera_storage::{LocalStorage, ObjectPath, Storage};
use talavera_types::ObjectType;

/// The folder of each case and what is expected of it.
fn cases() -> Vec<(PathBuf, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folders = |path: &Path| -> Vec<PathBuf> {
        let mut folders: Vec<_> = std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        folders
    };
    let legacy = folders(&root.join("legacy")).into_iter().flat_map(|version| folders(&version));
    let cases: Vec<_> = legacy
        .chain(folders(&root.join("upstream")))
        .filter_map(|case| {
            let expected = std::fs::read(case.join("expected.json")).ok()?;
            Some((case, serde_json::from_slice(&expected).unwrap()))
        })
        .collect();
    if cases.is_empty() {
        println!("no arrays of other libraries beside the checkout, nothing checked");
    }
    cases
}

/// Calls `check` with each object in each case, the inner ones of groups too.
fn for_each(kind: &str, mut check: impl FnMut(&LocalStorage, &ObjectPath, &Map<String, Value>, &str)) {
    let mut checked = 0;
    for (case, expected) in cases() {
        let storage = LocalStorage::new(&case).unwrap();
        let outer = expected.as_object().unwrap();
        let mut objects = vec![(String::new(), outer)];
        if let Some(inner) = outer.get("objects").and_then(Value::as_object) {
            objects.extend(inner.iter().map(|(path, object)| (path.clone(), object.as_object().unwrap())));
        }
        let root = ObjectPath::new(outer["kind"].as_str().unwrap()).unwrap();
        for (path, object) in objects {
            if object["kind"] == kind {
                check(&storage, &root.join(&path).unwrap(), object, &format!("{}: {path:?}", case.display()));
                checked += 1;
            }
        }
    }
    println!("{checked} objects checked");
}

/// The payload of a file that is one generic tile, compressed by GZIP or not at all; `None` when it is encrypted.
fn payload(storage: &LocalStorage, path: &ObjectPath) -> Option<Vec<u8>> {
    let file = storage.read(path, 1 << 20).unwrap();
    let number = |at: usize| usize::try_from(u32::from_le_bytes(file[at..at + 4].try_into().unwrap())).unwrap();
    if file[29] != 0 {
        return None;
    }
    let mut at = 34 + number(30);
    let (has_filter, chunks) = (number(38) > 0, number(at));
    at += 8;
    let mut payload = Vec::new();
    for _ in 0..chunks {
        let (filtered_bytes, metadata_bytes) = (number(at + 4), number(at + 8));
        let data = at + 12 + metadata_bytes;
        let data = &file[data..data + filtered_bytes];
        if has_filter {
            flate2::read::ZlibDecoder::new(data).read_to_end(&mut payload).unwrap();
        } else {
            payload.extend_from_slice(data);
        }
        at += 12 + metadata_bytes + filtered_bytes;
    }
    Some(payload)
}

fn payloads(storage: &LocalStorage, files: Vec<&NamedFile>) -> Option<Vec<Vec<u8>>> {
    files.into_iter().map(|file| payload(storage, &file.path)).collect()
}

fn check_metadata(storage: &LocalStorage, files: Vec<&NamedFile>, expected: &Value, case: &str) {
    let Some(payloads) = payloads(storage, files) else {
        return;
    };
    let metadata = ArrayMetadata::replay(payloads.iter().map(|payload| MetadataFile::decode(payload).unwrap()));
    let found: Vec<_> = metadata
        .iter()
        // The reference tells a count of one for a value without elements.
        .map(|(key, value)| (std::str::from_utf8(key).unwrap(), value.datatype().name(), u64::from(value.count().max(1))))
        .collect();
    let mut expected: Vec<_> = expected
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.as_str(), value["type"].as_str().unwrap(), value["num"].as_u64().unwrap()))
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected, "{case}");
}

#[test]
fn visible_fragments_are_those_that_the_reference_sees() {
    for_each("array", |storage, path, expected, case| {
        assert_eq!(object_type(storage, path).unwrap(), Some(ObjectType::Array), "{case}");
        let directory = ArrayDirectory::read(storage, path).unwrap();
        assert!(directory.ignored().is_empty(), "{case}: {:?}", directory.ignored());
        let Some(fragments) = expected.get("fragments").and_then(Value::as_array) else {
            return;
        };
        let visible = directory.select(TimeWindow::ALL, expected["schema"]["array_type"] == "dense");
        let found: Vec<_> = visible.fragments.iter().map(|fragment| fragment.name.as_str()).collect();
        let names: Vec<_> = fragments.iter().map(|fragment| fragment["name"].as_str().unwrap()).collect();
        assert_eq!(found, names, "{case}");
        for (fragment, expected) in visible.fragments.iter().zip(fragments) {
            let times = [fragment.name.start(), fragment.name.end()].map(Value::from);
            assert_eq!(expected["timestamps"].as_array().unwrap(), &times, "{case}");
            // The names of versions 1 and 3 tell the version after.
            let version = expected["format_version"].as_u64().unwrap();
            assert!([version, version + 1].contains(&fragment.version.number().into()), "{case}");
            assert!(storage.size(&fragment.path.join("__fragment_metadata.tdb").unwrap()).is_ok(), "{case}");
        }
        let to_vacuum: Vec<_> = visible.to_vacuum.iter().map(|fragment| Value::from(fragment.name.as_str())).collect();
        let expected_to_vacuum = expected.get("to_vacuum").and_then(Value::as_array).cloned().unwrap_or_default();
        assert_eq!(to_vacuum, expected_to_vacuum, "{case}");
    });
}

#[test]
fn there_are_as_many_schemas_as_the_reference_sees() {
    for_each("array", |storage, path, expected, case| {
        let directory = ArrayDirectory::read(storage, path).unwrap();
        let schemas = expected["schema_file_versions"].as_array().unwrap();
        assert_eq!(directory.schemas().len(), schemas.len(), "{case}");
        assert_eq!(directory.latest_schema(u64::MAX), directory.newest_schema(), "{case}");
    });
}

#[test]
fn array_metadata_is_what_the_reference_reads_at_every_time() {
    for_each("array", |storage, path, expected, case| {
        let directory = ArrayDirectory::read(storage, path).unwrap();
        if let Some(metadata) = expected.get("metadata") {
            check_metadata(storage, directory.metadata_files(TimeWindow::ALL), metadata, case);
        }
        for entry in expected.get("metadata_history").and_then(Value::as_array).into_iter().flatten() {
            let window = TimeWindow::until(entry["at"].as_u64().unwrap());
            check_metadata(storage, directory.metadata_files(window), &entry["metadata"], case);
        }
    });
}

#[test]
fn groups_have_the_members_and_metadata_that_the_reference_reads() {
    for_each("group", |storage, path, expected, case| {
        assert_eq!(object_type(storage, path).unwrap(), Some(ObjectType::Group), "{case}");
        let directory = GroupDirectory::read(storage, path).unwrap();
        assert!(directory.ignored().is_empty(), "{case}: {:?}", directory.ignored());
        check_metadata(storage, directory.metadata_files(TimeWindow::ALL), &expected["metadata"], case);
        let files = payloads(storage, directory.details(TimeWindow::ALL)).unwrap();
        let group = Group::replay(files.iter().map(|payload| GroupDetails::decode(payload).unwrap()));
        let root = ObjectPath::new("group").unwrap();
        let mut found: Vec<_> = group
            .members()
            .map(|member| {
                let place = member.resolve(storage, path).unwrap();
                let kind = object_type(storage, &place).unwrap().unwrap();
                assert_eq!(kind, member.object_type, "{case}");
                (member.name.clone(), kind.name().to_lowercase(), place.relative_to(&root).unwrap().to_owned())
            })
            .collect();
        found.sort();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut members: Vec<_> = expected["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|member| (text(&member["name"]), text(&member["type"]).unwrap(), text(&member["path"]).unwrap()))
            .collect();
        members.sort();
        assert_eq!(found, members, "{case}");
    });
}
