use talavera_codec::Writer;
use talavera_storage::{CountingStorage, MemoryStorage, StorageExt};

use super::*;
use crate::{CommitRecord, ConsolidatedCommits};

/// A store with files of the given contents in the array `array`.
fn storage<'a>(files: impl IntoIterator<Item = (String, &'a [u8])>) -> MemoryStorage {
    let storage = MemoryStorage::new();
    for (file, bytes) in files {
        storage.write(&root().join(&file).unwrap(), bytes).unwrap();
    }
    storage
}

fn root() -> ObjectPath {
    ObjectPath::new("array").unwrap()
}

fn read(storage: &dyn Storage) -> ArrayDirectory {
    ArrayDirectory::read(storage, &root()).unwrap()
}

/// `__t1_t2_uuid`, with a UUID of one repeated character.
fn base(t1: u64, t2: u64, uuid: char) -> String {
    format!("__{t1}_{t2}_{}", uuid.to_string().repeat(32))
}

fn fragment(t1: u64, t2: u64, uuid: char, version: u32) -> String {
    format!("{}_{version}", base(t1, t2, uuid))
}

fn wrt(name: &str) -> (String, &'static [u8]) {
    (format!("__commits/{name}.wrt"), b"")
}

/// The empty file that stands for a whole fragment in the root.
fn in_root(name: &str) -> (String, &'static [u8]) {
    (format!("{name}/__fragment_metadata.tdb"), b"")
}

fn names(fragments: &[FragmentFolder]) -> Vec<&str> {
    fragments.iter().map(|fragment| fragment.name.as_str()).collect()
}

fn con(records: Vec<CommitRecord>) -> Vec<u8> {
    let mut w = Writer::new();
    ConsolidatedCommits { records }.encode(&mut w);
    w.into_vec()
}

fn commit(line: String) -> CommitRecord {
    CommitRecord::Fragment(line)
}

#[test]
fn fragments_of_every_version_are_committed_in_their_own_way() {
    let uuid = "a".repeat(32);
    let (v2, v4, v5, v11, v22) = (
        format!("__{uuid}_10"),
        base(20, 20, 'b'),
        fragment(30, 30, 'c', 5),
        fragment(40, 40, 'd', 11),
        fragment(50, 50, 'e', 22),
    );
    let uncommitted = [
        format!("__{uuid}_11/__coords.tdb"),
        format!("{}/a.tdb", base(21, 21, 'b')),
        format!("{}/a.tdb", fragment(31, 31, 'c', 5)),
    ];
    let mut files = vec![in_root(&v2), in_root(&v4), in_root(&v5), in_root(&v11), wrt(&v22)];
    files.extend([
        (format!("{v5}.ok"), b"".as_slice()),
        (format!("{v11}.ok"), b"any content"),
        ("__array_schema.tdb".to_owned(), b""),
    ]);
    files.extend(uncommitted.clone().map(|file| (file, b"".as_slice())));
    files.push((format!("{}/a0.tdb", fragment(60, 60, 'f', 22)), b""));
    let storage = storage(files);
    let directory = read(&storage);
    let visible = directory.select(TimeWindow::ALL, true);
    assert_eq!(names(&visible.fragments), [&v2, &v4, &v5, &v11, &v22].map(String::as_str));
    let versions: Vec<_> = visible.fragments.iter().map(|fragment| fragment.version.number()).collect();
    assert_eq!(versions, [2, 4, 5, 11, 22]);
    assert_eq!(visible.fragments[4].path.as_str(), format!("array/__fragments/{v22}"));
    assert_eq!(visible.fragments[3].commit_line(), Some(format!("{v11}.ok")));
    assert_eq!(visible.fragments[1].commit_line(), None);
    assert_eq!(directory.ignored().len(), 4);
}

#[test]
fn a_dense_array_reads_what_is_wholly_in_the_window_and_a_sparse_one_what_overlaps_since_version_15() {
    let (old, new) = (fragment(10, 30, 'a', 14), fragment(10, 30, 'b', 15));
    let directory = read(&storage([wrt(&old), wrt(&new)]));
    let visible = |start, end, dense| {
        let visible = directory.select(TimeWindow { start, end }, dense);
        visible.fragments.iter().map(|fragment| fragment.version.number()).collect::<Vec<_>>()
    };
    for (start, end) in [(0, 29), (11, 40), (15, 20)] {
        assert_eq!(visible(start, end, true), [0; 0], "{start} to {end}");
        assert_eq!(visible(start, end, false), [15], "{start} to {end}");
    }
    for dense in [true, false] {
        assert_eq!(visible(10, 30, dense), [14, 15]);
        assert_eq!(visible(0, 9, dense), [0; 0]);
        assert_eq!(visible(31, 99, dense), [0; 0]);
        assert_eq!(visible(20, 15, dense), [0; 0], "an empty window");
    }
}

#[test]
fn vacuum_files_hide_what_they_list_even_when_nothing_replaces_it() {
    let (a, b, old, new) =
        (fragment(10, 10, 'a', 22), fragment(20, 20, 'b', 22), fragment(5, 5, 'c', 11), fragment(10, 20, 'd', 22));
    let lines = format!("/__fragments/{a}\nfile:///elsewhere/__fragments/{b}\n/{old}\n/__fragments/never");
    let files = [
        wrt(&a),
        wrt(&b),
        in_root(&old),
        (format!("{old}.ok"), b"".as_slice()),
        (format!("__commits/{new}.vac"), lines.as_bytes()),
    ];
    let store = storage(files);
    let visible = read(&store).select(TimeWindow::ALL, true);
    assert_eq!(names(&visible.fragments), [""; 0]);
    assert_eq!(names(&visible.to_vacuum), [&old, &a, &b].map(String::as_str));

    // Before the consolidated fragment its sources are seen.
    let visible = read(&store).select(TimeWindow::until(15), true);
    assert_eq!(names(&visible.fragments), [&old, &a].map(String::as_str));
    // In a sparse array the vacuum file applies as soon as the fragment overlaps.
    let visible = read(&store).select(TimeWindow::until(15), false);
    assert_eq!((names(&visible.fragments), visible.to_vacuum.len()), (vec![], 2));
}

#[test]
fn consolidated_commits_commit_unless_ignored_to_the_letter() {
    let (a, b, old, c) =
        (fragment(10, 10, 'f', 22), fragment(10, 10, 'e', 22), fragment(10, 10, 'a', 11), fragment(10, 10, 'b', 22));
    let records = [format!("__commits/{a}.wrt"), format!("__commits/{b}.wrt"), format!("{old}.ok"), "nonsense".to_owned()];
    let con = con(records.into_iter().map(commit).collect());
    let ign = format!("__commits/{b}.wrt\n/__commits/{a}.wrt\n");
    let name = base(10, 10, '0');
    let files = [
        in_root(&old),
        wrt(&c),
        wrt(&a),
        (format!("__commits/{name}_22.con"), con.as_slice()),
        (format!("__commits/{name}_23.ign"), ign.as_bytes()),
    ];
    let directory = read(&storage(files));
    let visible = directory.select(TimeWindow::ALL, true);
    // Equal times: the root, then what `.con` files commit, then the rest, each by name.
    assert_eq!(names(&visible.fragments), [&old, &a, &c].map(String::as_str));
    let commits: Vec<_> = visible.fragments.iter().map(|f| (f.has_commit_file, f.is_consolidated_commit)).collect();
    assert_eq!(commits, [(false, true), (true, true), (true, false)]);
    assert_eq!((directory.commits_files().len(), directory.ignore_files().len()), (1, 1));

    // A commit file is not ignored.
    let files = [wrt(&b), (format!("__commits/{name}_23.ign"), ign.as_bytes())];
    assert_eq!(read(&storage(files)).select(TimeWindow::ALL, true).fragments.len(), 1);
}

#[test]
fn fragments_sort_by_start_alone_and_keep_the_order_of_names_when_equal() {
    let fragments = [fragment(20, 20, 'a', 22), fragment(10, 99, 'b', 22), fragment(10, 10, 'c', 22), fragment(9, 100, 'd', 22)];
    let directory = read(&storage(fragments.iter().map(|name| wrt(name))));
    let expected = [3, 2, 1, 0].map(|at: usize| fragments[at].as_str());
    assert_eq!(names(&directory.select(TimeWindow::ALL, true).fragments), expected);
}

#[test]
fn schemas_are_chosen_in_text_order() {
    let files =
        ["__array_schema.tdb".to_owned(), format!("__schema/{}", base(9, 9, 'a')), format!("__schema/{}", base(10, 10, 'b'))];
    let store = storage(files.clone().map(|file| (file, b"schema".as_slice())));
    store.write(&root().join("__schema/__enumerations/__x_0").unwrap(), b"").unwrap();
    store.write(&root().join("__schema/.DS_Store").unwrap(), b"").unwrap();
    let directory = read(&store);
    let latest = |end| directory.latest_schema(end).unwrap().path.relative_to(&root()).unwrap().to_owned();
    assert_eq!((latest(0), latest(8)), (files[0].clone(), files[0].clone()));
    assert_eq!(latest(9), files[1]);
    // The text `__9` is after `__10`.
    assert_eq!(latest(10), files[1]);
    assert_eq!(directory.newest_schema(), directory.schemas().last());
    assert_eq!(directory.schemas().len(), 3);
    assert_eq!(directory.ignored().len(), 1);
    assert!(read(&MemoryStorage::new()).latest_schema(5).is_none());

    let only = read(&storage([(format!("__schema/{}", base(9, 9, 'a')), b"schema".as_slice())]));
    assert_eq!(only.latest_schema(3), only.schemas().first(), "data may be older than the schema");
}

#[test]
fn deletes_come_from_files_and_from_consolidated_commits_once() {
    let (a, b, c) = (fragment(30, 30, 'a', 22), fragment(20, 20, 'b', 22), fragment(10, 10, 'c', 22));
    let del = |name: &str| CommitRecord::Condition { path: format!("__commits/{name}.del"), file: Bytes::from_static(b"\ntile") };
    let con = con(vec![del(&a), del("../../x"), del(&b)]);
    // An ignore file takes back commits, not conditions.
    let ign = format!("__commits/{a}.del\n");
    let files = [
        (format!("__commits/{}_22.con", base(1, 2, '0')), con.as_slice()),
        (format!("__commits/{}_22.ign", base(1, 2, '0')), ign.as_bytes()),
        (format!("__commits/{a}.del"), b"tile"),
        (format!("__commits/{c}.upd"), b"tile"),
    ];
    let directory = read(&storage(files));
    let deletes = directory.deletes(TimeWindow::ALL);
    let summary: Vec<_> = deletes.iter().map(|delete| (delete.timestamp(), delete.kind, delete.marker.clone())).collect();
    assert_eq!(
        summary,
        [
            (10, DeleteKind::Update, format!("__commits/{c}.upd")),
            (20, DeleteKind::Delete, format!("__commits/{b}.del")),
            (30, DeleteKind::Delete, format!("__commits/{a}.del")),
        ]
    );
    assert_eq!(deletes[0].content, DeleteContent::File(root().join(&format!("__commits/{c}.upd")).unwrap()));
    assert_eq!(deletes[2].content, DeleteContent::Embedded(Bytes::from_static(b"\ntile")));
    assert_eq!(directory.deletes(TimeWindow { start: 11, end: 20 }).len(), 1);
}

#[test]
fn metadata_files_come_in_order_without_those_that_were_consolidated() {
    let [a, b, merged, late] = [base(10, 10, 'f'), base(9, 9, 'b'), base(9, 10, 'c'), base(20, 20, 'd')];
    let vac = format!("/__meta/{a}\n/__meta/{b}\n");
    let files = [
        (format!("__meta/{a}"), b"".as_slice()),
        (format!("__meta/{b}"), b""),
        (format!("__meta/{merged}"), b""),
        (format!("__meta/{late}"), b""),
        (format!("__meta/{merged}.vac"), vac.as_bytes()),
        (format!("__meta/{late}.tmp"), b""),
        ("__meta/foo".to_owned(), b""),
    ];
    let directory = read(&storage(files));
    let files = |window| directory.metadata_files(window).iter().map(|file| file.name.to_string()).collect::<Vec<_>>();
    assert_eq!(files(TimeWindow::ALL), [merged.clone(), late]);
    assert_eq!(files(TimeWindow::until(9)), [b]);
    assert_eq!(files(TimeWindow::until(10)), [merged]);
    assert_eq!(files(TimeWindow { start: 10, end: 19 }), [a]);
    assert_eq!(directory.ignored().len(), 2);
    assert_eq!(directory.metadata_vacuum_files().len(), 1);
}

#[test]
fn consolidated_footers_lie_in_the_root_or_in_their_folder() {
    let (old, new) = (fragment(1, 2, 'a', 9), fragment(1, 2, 'b', 22));
    let files = [
        (format!("{old}.meta"), b"".as_slice()),
        (format!("__fragment_meta/{new}.meta"), b""),
        ("__fragment_meta/foo".to_owned(), b""),
        (format!("__fragment_meta/{new}.tmp"), b""),
    ];
    let directory = read(&storage(files));
    assert_eq!(directory.consolidated_footers().len(), 2);
    assert_eq!(directory.ignored().len(), 2);
}

#[test]
fn strangers_are_skipped_and_remembered() {
    let strangers = [
        "README.md",
        "a_b",
        ".DS_Store",
        "__foo_bar/x",
        "__9_5_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_5/x",
        "__commits/foo",
        "__commits/foo.txt",
        "__commits/.tmp",
        "__commits/folder/x",
        "__meta/foo",
        "__meta/.DS_Store",
        "__schema/foo",
        "__fragment_meta/foo.meta",
    ];
    let known = ["__lock.tdb", "__labels/l0/__schema/x", "__fragments/whatever", "__tiledb_group.tdb", "__group/x"];
    let directory = read(&storage(strangers.iter().chain(&known).map(|file| ((*file).to_owned(), b"".as_slice()))));
    assert_eq!(directory.ignored().len(), strangers.len(), "{:?}", directory.ignored());
    assert_eq!(directory.select(TimeWindow::ALL, false), VisibleFragments::default());
    assert!(directory.schemas().is_empty());
}

#[test]
fn files_named_like_folders_are_not_listed() {
    let directory =
        read(&storage(["__commits", "__meta", "__schema", "__fragment_meta"].map(|file| (file.to_owned(), b"".as_slice()))));
    assert!(directory.schemas().is_empty());
    assert_eq!(directory.ignored().len(), 4);
}

#[test]
fn corrupt_text_files_are_errors_that_name_the_file() {
    let name = fragment(1, 2, 'a', 22);
    for (file, bytes) in [
        (format!("__commits/{name}.con"), b"cut off".as_slice()),
        (format!("__commits/{name}.con"), b"x.del\n\xff\xff\xff\xff\xff\xff\xff\xff"),
        (format!("__commits/{name}.ign"), b"\xff\n"),
        (format!("__commits/{name}.vac"), b"no slash\n"),
        (format!("__commits/{name}.vac"), b"/__fragments/..\n"),
        (format!("__meta/{}.vac", base(1, 2, 'a')), b"\xff"),
        (format!("{}.vac", fragment(1, 2, 'a', 5)), b"\xff"),
    ] {
        let error = ArrayDirectory::read(&storage([(file.clone(), bytes)]), &root()).unwrap_err();
        assert!(matches!(error, DirectoryError::Corrupt { .. }), "{file}: {error}");
        assert!(error.to_string().starts_with(&format!("/array/{file}: ")), "{error}");
    }
}

#[test]
fn a_committed_fragment_of_an_unknown_version_is_an_error() {
    for version in [24, u32::MAX] {
        let name = fragment(1, 2, 'a', version);
        let error = ArrayDirectory::read(&storage([wrt(&name)]), &root()).unwrap_err();
        assert!(matches!(error, DirectoryError::UnsupportedVersion { .. }), "{error}");
        assert_eq!(read(&storage([in_root(&name)])).ignored().len(), 1, "not committed, so just a folder");
    }
}

#[test]
fn opening_lists_each_folder_once_and_reads_small_files_only() {
    let fragments: Vec<_> = (0..100).map(|time| fragment(time, time, 'a', 22)).collect();
    let con = con(fragments[..50].iter().map(|name| commit(format!("__commits/{name}.wrt"))).collect());
    let store = storage(fragments[50..].iter().map(|name| wrt(name)));
    store.write(&root().join(&format!("__commits/{}_22.con", base(0, 49, 'c'))).unwrap(), &con).unwrap();
    store.write(&root().join(&format!("__schema/{}", base(0, 0, 'a'))).unwrap(), b"schema").unwrap();
    let storage = CountingStorage::new(store);
    assert_eq!(read(&storage).select(TimeWindow::ALL, true).fragments.len(), 100);
    let requests = storage.take();
    assert_eq!((requests.lists, requests.reads, requests.sizes), (3, 1, 0), "the root, the schemas, the commits; one file");
}
