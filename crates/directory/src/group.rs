//! Groups and their member files: pages 01-layout, "Groups", and 05-other-files, "Group member files".

use std::collections::BTreeMap;

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_storage::{ObjectPath, Storage};
use talavera_types::ObjectType;

use crate::DirectoryError;

/// The version of a member file or of one member in it; not the version of the array format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupVersion {
    /// A file holds all members, and the newest file counts.
    V1 = 1,
    /// A file holds changes, and all files count.
    V2 = 2,
}

impl GroupVersion {
    /// The number on disk and in names.
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    fn decode(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let offset = r.offset();
        match r.u32(field)? {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            found => Err(DecodeErrorKind::Invalid { found: found.into(), expected: "1 or 2" }.at(field, offset)),
        }
    }

    fn encode(self, w: &mut Writer) {
        w.u32(self.number());
    }
}

/// What one member file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDetails {
    /// Whether the records are all members or changes.
    pub version: GroupVersion,
    /// The records, in no particular order.
    pub records: Vec<GroupRecord>,
}

/// A member in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRecord {
    /// The version of this record; new libraries write records of version 2 into files of version 1.
    pub version: GroupVersion,
    /// The member.
    pub member: GroupMember,
    /// Whether the member was removed. Only records of version 2 can say so.
    pub is_deleted: bool,
}

/// An array or group that belongs to a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// What it was when it was added.
    pub object_type: ObjectType,
    /// Whether the address is relative to the group.
    pub is_relative: bool,
    /// The address: a path below the group, or with a scheme.
    pub uri: String,
    /// The name in the group.
    pub name: Option<String>,
}

impl GroupDetails {
    /// Reads the payload of the file's generic tile.
    ///
    /// # Errors
    /// When a version or object type is unknown, or the payload is cut off or too long.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let version = GroupVersion::decode(&mut r, "group version")?;
        let count = r.count_u64("group member count", GroupRecord::MIN_BYTES)?;
        let records = (0..count).map(|_| GroupRecord::decode(&mut r)).collect::<Result<_, _>>()?;
        r.finish("group")?;
        Ok(Self { version, records })
    }

    /// Writes the payload of the file's generic tile.
    pub fn encode(&self, w: &mut Writer) {
        self.version.encode(w);
        w.len_u64(self.records.len());
        for record in &self.records {
            record.encode(w);
        }
    }
}

impl GroupRecord {
    const MIN_BYTES: u64 = 4 + 1 + 1 + 8 + 1;

    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = GroupVersion::decode(r, "group member version")?;
        let object_type = ObjectType::decode(r, "group member type")?;
        let is_relative = r.bool("group member relative")?;
        let uri = r.string_u64("group member uri")?;
        let has_name = r.bool("group member name set")?;
        let name = if has_name { Some(r.string_u64("group member name")?) } else { None };
        let is_deleted = if version == GroupVersion::V2 { r.bool("group member deleted")? } else { false };
        Ok(Self { version, member: GroupMember { object_type, is_relative, uri, name }, is_deleted })
    }

    fn encode(&self, w: &mut Writer) {
        self.version.encode(w);
        self.member.object_type.encode(w);
        w.bool(self.member.is_relative);
        w.string_u64(&self.member.uri);
        w.bool(self.member.name.is_some());
        if let Some(name) = &self.member.name {
            w.string_u64(name);
        }
        if self.version == GroupVersion::V2 {
            w.bool(self.is_deleted);
        }
    }
}

impl GroupMember {
    /// What the member is known by: its name, or else its address.
    #[must_use]
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }

    /// Where the member is, seen from the group at `group`. A relative address follows the group when it is moved.
    ///
    /// # Errors
    /// [`DirectoryError::ForeignMember`] for an address outside of the store; [`DirectoryError::Storage`] for a relative
    /// one that leads out of the group.
    pub fn resolve(&self, storage: &dyn Storage, group: &ObjectPath) -> Result<ObjectPath, DirectoryError> {
        if self.is_relative {
            return Ok(group.join(&self.uri)?);
        }
        storage.path_of_uri(&self.uri).ok_or_else(|| DirectoryError::ForeignMember { uri: self.uri.clone() })
    }
}

/// The members of a group at a time, ascending by key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    members: BTreeMap<String, GroupMember>,
}

impl Group {
    /// What the files leave, applied in the order of [`GroupDirectory::details`](crate::GroupDirectory::details).
    #[must_use]
    pub fn replay(files: impl IntoIterator<Item = GroupDetails>) -> Self {
        let mut group = Self::default();
        for file in files {
            group.apply(file);
        }
        group
    }

    /// Applies one more file: a list replaces all members, changes are applied one by one.
    pub fn apply(&mut self, file: GroupDetails) {
        if file.version == GroupVersion::V1 {
            self.members.clear();
        }
        for record in file.records {
            if record.is_deleted {
                self.members.remove(record.member.key());
            } else {
                self.members.insert(record.member.key().to_owned(), record.member);
            }
        }
    }

    /// The file that a session leaves: all members, and those it removed when the version can say so.
    #[must_use]
    pub fn to_details(&self, version: GroupVersion, removed: &[GroupMember]) -> GroupDetails {
        let live = self.members.values().map(|member| (member, false));
        let gone = removed.iter().filter(|_| version == GroupVersion::V2).map(|member| (member, true));
        let record = |(member, is_deleted): (&GroupMember, bool)| GroupRecord { version, member: member.clone(), is_deleted };
        GroupDetails { version, records: gone.chain(live).map(record).collect() }
    }

    /// The member of a key: its name, or its address when it has none.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&GroupMember> {
        self.members.get(key)
    }

    /// Members, ascending by key.
    pub fn members(&self) -> impl ExactSizeIterator<Item = &GroupMember> {
        self.members.values()
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

#[cfg(test)]
mod tests;
