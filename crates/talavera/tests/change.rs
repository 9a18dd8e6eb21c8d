//! Arrays and groups are evolved, deleted from, annotated, moved and removed through the facade.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::path::Path;

use talavera::{
    Array, ArrayBuilder, Attribute, CellValNum, Datatype, Group, MetadataValue, NdRange, ObjectType, OpenOptions, Order, Range,
    WalkOrder, copy, enumeration, field, list, object_type, remove, remove_group, rename, walk,
};

fn sparse(path: &Path) -> Array {
    let array = ArrayBuilder::sparse().dimension("x", 0..=99_i64, 10).nullable_attribute::<i32>("v").create(path).unwrap();
    array.write().column("x", &[1_i64, 2, 3]).nullable("v", &[Some(10), None, Some(30)]).commit().unwrap();
    array.reopen().unwrap()
}

#[test]
fn attributes_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let array = sparse(folder.path());
    let later = u64::MAX / 4;
    let colors = enumeration("colors", Datatype::StringUtf8, CellValNum::Var, true, ["red", "green"]).unwrap();
    let color = Attribute { enumeration: Some("colors".into()), ..Attribute::new("color", Datatype::UInt8) };
    let evolve = array.evolve().add_enumeration(colors).add_attribute(color).drop_attribute("v");
    evolve.at(later).commit().unwrap();
    let evolved = Array::options().at(later).open(folder.path()).unwrap();
    assert_eq!(evolved.read().values::<u8>("color").unwrap(), [255; 3]);
    // A write goes by the newest schema, whenever the array was opened.
    assert!(array.write().column("x", &[4_i64]).nullable("v", &[Some(1)]).commit().is_err());
    array.write().column("x", &[4_i64]).column("color", &[1_u8]).at(later).commit().unwrap();
    let evolved = Array::options().at(later).open(folder.path()).unwrap();
    assert_eq!(evolved.read().order(Order::RowMajor).values::<u8>("color").unwrap(), [255, 255, 255, 1]);
    evolved.evolve().extend_enumeration("colors", ["blue"]).at(later + 1).commit().unwrap();
    let evolved = Array::options().at(later + 1).open(folder.path()).unwrap();
    assert_eq!(evolved.enumeration("colors").unwrap().values().collect::<Vec<_>>(), [&b"red"[..], b"green", b"blue"]);
    assert!(array.reopen().unwrap().schema().attribute("v").is_some(), "earlier readers see the earlier schema");
}

#[test]
fn changes_that_break_a_rule_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let array = sparse(folder.path());
    let refused = |evolve: talavera::Evolve<'_>| evolve.commit().unwrap_err().to_string();
    assert!(refused(array.evolve().drop_attribute("none")).contains("attribute \"none\": not in the schema"));
    assert!(refused(array.evolve().add_attribute(Attribute::new("v", Datatype::Int8))).contains("the name is taken"));
    assert!(!refused(array.evolve().extend_enumeration("none", ["a"])).is_empty());
    assert!(!refused(array.evolve().expand_current_domain(NdRange(vec![Range::Signed(0, 1000)]))).is_empty());
    assert_eq!(array.upgrade().unwrap(), None, "a new array has the version of new arrays");
    assert_eq!(array.reopen().unwrap().all_schemas().unwrap().len(), 1);
}

#[test]
fn deleted_cells_are_gone_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let array = sparse(folder.path());
    assert!(array.delete(field("v").gt(20)).strict().commit().is_err(), "nulls would go, too");
    array.delete(field("x").ge(3)).strict().commit().unwrap();
    assert_eq!(array.read().cells().unwrap().len(), 3, "an array is a snapshot");
    assert_eq!(array.reopen().unwrap().read().nullable_values::<i32>("v").unwrap(), [Some(10), None]);
    let condition = talavera::QueryCondition::from_text("v >= 10").unwrap();
    array.delete(condition).commit().unwrap();
    assert!(array.reopen().unwrap().read().cells().unwrap().is_empty());
    assert!(array.delete(field("none").eq(1)).commit().unwrap_err().to_string().contains("'none' does not exist"));
}

#[test]
fn metadata_of_every_kind_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let array = sparse(folder.path());
    let day = MetadataValue::new(Datatype::DateTimeDay, 7_i64.to_le_bytes().to_vec()).unwrap();
    let edit = array.edit_metadata().put("int", 5).put("text", "naïve").put("empty", "").put("list", vec![1.5, 2.5]);
    edit.put("yes", 1_u8).put("day", day.clone()).put(b"\xff".to_vec(), 1_u8).put("gone", 1).delete("gone").commit().unwrap();
    array.edit_metadata().delete("int").at(u64::MAX / 4).commit().unwrap();
    array.edit_metadata().commit().unwrap();
    let array = array.reopen().unwrap();
    let metadata = array.metadata().unwrap();
    assert_eq!(metadata.len(), 7);
    let shape = |key: &str| metadata.get(key).map(|value| (value.datatype(), value.count()));
    assert_eq!(shape("int"), Some((Datatype::Int32, 1)));
    assert_eq!(shape("text"), Some((Datatype::StringUtf8, 6)));
    assert_eq!(shape("empty"), Some((Datatype::StringUtf8, 0)));
    assert_eq!(shape("list"), Some((Datatype::Float64, 2)));
    assert_eq!((shape("yes"), metadata.get("day")), (Some((Datatype::UInt8, 1)), Some(&day)));
    let later = Array::options().at(u64::MAX / 4).open(folder.path()).unwrap();
    assert!(later.metadata().unwrap().get("int").is_none());
}

#[test]
fn members_come_go_and_change_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let group = Group::create(path("group")).unwrap();
    sparse(&path("group/inside"));
    sparse(&path("outside"));
    let keys = |group: &Group| group.members().map(|member| member.key().to_owned()).collect::<Vec<_>>();
    let outside = format!("file://{}", path("outside").display());
    group.edit().add_member("inside").add_absolute(&outside, Some("far")).at(10).commit().unwrap();
    let group = group.reopen().unwrap();
    assert_eq!(keys(&group), ["far", "inside"]);
    assert_eq!(group.open_array(group.member("far").unwrap()).unwrap().read().cells().unwrap().len(), 3);
    let edit = group.edit().rename("far", "near").remove("inside");
    edit.add_unseen("s3://bucket/array", None, ObjectType::Array).at(20).commit().unwrap();
    assert_eq!(keys(&group.reopen().unwrap()), ["near", "s3://bucket/array"]);
    assert_eq!(keys(&OpenOptions::new().at(10).open_group(path("group")).unwrap()), ["far", "inside"]);
    assert!(group.reopen().unwrap().edit().remove("nobody").commit().is_err());
    assert!(group.edit().add_member("nothing").commit().is_err());
    assert!(Group::create(path("group")).unwrap_err().is_already_there());
    group.edit_metadata().put("k", 1).at(10).commit().unwrap();
    assert_eq!(group.reopen().unwrap().metadata().get("k").unwrap().bytes(), 1_i32.to_le_bytes());
}

#[test]
fn arrays_and_groups_move_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let group = Group::create(path("group")).unwrap();
    sparse(&path("group/a"));
    group.edit().add_member("a").commit().unwrap();
    copy(path("group"), path("copy")).unwrap();
    rename(path("group"), path("moved")).unwrap();
    let found = |name: &str| object_type(path(name)).unwrap();
    assert_eq!([found("group"), found("copy"), found("moved")], [None, Some(ObjectType::Group), Some(ObjectType::Group)]);
    let names = |order| walk(folder.path(), order).unwrap().into_iter().map(|object| object.path).collect::<Vec<_>>();
    assert_eq!(names(WalkOrder::Pre), [path("copy"), path("copy/a"), path("moved"), path("moved/a")]);
    assert_eq!(names(WalkOrder::Post), [path("copy/a"), path("copy"), path("moved/a"), path("moved")]);
    assert!(copy(path("copy"), path("moved")).is_err(), "something is there");
    assert!(rename(path("copy"), path("copy/inside")).is_err());
    assert!(remove(path("group")).unwrap_err().is_not_found());
    remove(path("copy/a")).unwrap();
    remove_group(path("moved"), true, &OpenOptions::new()).unwrap();
    assert_eq!(list(folder.path()).unwrap().len(), 1);
    let moved = Group::open(path("copy")).unwrap();
    assert!(moved.open_array(moved.member("a").unwrap()).unwrap_err().is_not_found());
    // A path that climbs is followed before the new folder is made.
    ArrayBuilder::dense().dimension("x", 1..=2_u8, 1).attribute::<u8>("a").create(path("copy/../late")).unwrap();
    assert_eq!(found("late"), Some(ObjectType::Array));
}
