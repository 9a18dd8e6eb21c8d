use proptest::prelude::*;
use talavera_storage::LocalStorage;

use super::*;

#[rustfmt::skip]
const EXAMPLE: &[u8] = &[
    2, 0, 0, 0, // group version
    2, 0, 0, 0, 0, 0, 0, 0, // two members
    2, 0, 0, 0, // member version
    1, // a group
    1, // relative
    3, 0, 0, 0, 0, 0, 0, 0, b's', b'u', b'b', // uri
    0, // no name
    0, // not deleted
    2, 0, 0, 0, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, b's', b'u', b'b',
    1, // a name
    1, 0, 0, 0, 0, 0, 0, 0, b'S', // name
    1, // deleted
];

fn member(uri: &str, name: Option<&str>) -> GroupMember {
    GroupMember { object_type: ObjectType::Array, is_relative: true, uri: uri.to_owned(), name: name.map(str::to_owned) }
}

fn record(member: GroupMember, is_deleted: bool) -> GroupRecord {
    GroupRecord { version: GroupVersion::V2, member, is_deleted }
}

fn encoded(details: &GroupDetails) -> Vec<u8> {
    let mut w = Writer::new();
    details.encode(&mut w);
    w.into_vec()
}

fn keys(group: &Group) -> Vec<&str> {
    group.members().map(GroupMember::key).collect()
}

#[test]
fn a_file_is_members_and_removals() {
    let details = GroupDetails::decode(EXAMPLE).unwrap();
    assert_eq!(details.version, GroupVersion::V2);
    assert_eq!(details.records[0].member.key(), "sub");
    assert_eq!((details.records[1].member.key(), details.records[1].is_deleted), ("S", true));
    assert_eq!(encoded(&details), EXAMPLE);
}

#[test]
fn changes_are_applied_one_by_one_and_a_list_replaces_all() {
    let (a, b, c) = (member("a", None), member("a", Some("b")), member("c", Some("c")));
    let file = |version, records| GroupDetails { version, records };
    let first = file(GroupVersion::V2, vec![record(a.clone(), false), record(b.clone(), false)]);
    let second = file(GroupVersion::V2, vec![record(b, true), record(c.clone(), false)]);
    let group = Group::replay([first.clone(), second]);
    assert_eq!(keys(&group), ["a", "c"]);
    let list = file(GroupVersion::V1, vec![record(c.clone(), false)]);
    assert_eq!(keys(&Group::replay([first, list])), ["c"]);

    let details = group.to_details(GroupVersion::V2, &[member("gone", None)]);
    assert_eq!(details.records.len(), 3);
    assert_eq!(Group::replay([details]), group);
    let list = group.to_details(GroupVersion::V1, &[member("gone", None)]);
    assert_eq!(Group::replay([GroupDetails::decode(&encoded(&list)).unwrap()]), group);
}

#[test]
fn a_new_member_replaces_one_of_its_name() {
    let records = |uri| GroupDetails { version: GroupVersion::V2, records: vec![record(member(uri, Some("n")), false)] };
    let group = Group::replay([records("old"), records("new")]);
    assert_eq!(group.get("n").unwrap().uri, "new");
}

#[test]
fn members_lie_below_the_group_or_at_their_address() {
    let storage = LocalStorage::new("/data").unwrap();
    let group = ObjectPath::new("groups/g").unwrap();
    assert_eq!(member("x/y", None).resolve(&storage, &group).unwrap().as_str(), "groups/g/x/y");
    assert!(member("../x", None).resolve(&storage, &group).is_err());
    let absolute = |uri| GroupMember { is_relative: false, ..member(uri, None) };
    assert_eq!(absolute("file:///data/z").resolve(&storage, &group).unwrap().as_str(), "z");
    for foreign in ["s3://bucket/z", "file:///elsewhere/z", "z", ""] {
        assert!(matches!(absolute(foreign).resolve(&storage, &group), Err(DirectoryError::ForeignMember { .. })), "{foreign}");
    }
}

#[test]
fn an_impossible_member_count_is_refused_before_anything_is_reserved() {
    let bytes = [2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert!(matches!(GroupDetails::decode(&bytes).unwrap_err().kind, DecodeErrorKind::Count { count: u64::MAX, .. }));
}

fn any_record() -> impl Strategy<Value = GroupRecord> {
    let object_type = prop::sample::select(ObjectType::ALL);
    let version = prop::sample::select(vec![GroupVersion::V1, GroupVersion::V2]);
    (version, object_type, any::<bool>(), ".{0,6}", prop::option::of(".{0,6}"), any::<bool>()).prop_map(
        |(version, object_type, is_relative, uri, name, is_deleted)| GroupRecord {
            version,
            member: GroupMember { object_type, is_relative, uri, name },
            is_deleted: is_deleted && version == GroupVersion::V2,
        },
    )
}

talavera_testkit::decoder_laws! {
    mod details_laws {
        value: GroupDetails = (prop::bool::ANY, prop::collection::vec(any_record(), 0..4)).prop_map(|(changes, records)| {
            GroupDetails { version: if changes { GroupVersion::V2 } else { GroupVersion::V1 }, records }
        }),
        encode: encoded,
        decode: GroupDetails::decode,
    }
}
