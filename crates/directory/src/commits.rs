//! Consolidated commits and ignore files: page 05-other-files, "Consolidated commits" and "Ignore files".

use bytes::Bytes;
use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};
use talavera_storage::ObjectPath;

use crate::TimestampedName;
use crate::lines::{decode_lines, encode_lines, line};

/// What a `.con` file holds: commits that need no files of their own any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConsolidatedCommits {
    /// The records in the order of the file.
    pub records: Vec<CommitRecord>,
}

/// One commit in a `.con` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitRecord {
    /// A fragment, by the path of its `.wrt` or `.ok` file relative to the array, without a slash in front.
    Fragment(String),
    /// A delete or update, with all that its file held.
    Condition {
        /// The path of the `.del` or `.upd` file relative to the array.
        path: String,
        /// The bytes of the file: one generic tile.
        file: Bytes,
    },
}

impl CommitRecord {
    /// The path relative to the array.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Fragment(path) | Self::Condition { path, .. } => path,
        }
    }
}

impl ConsolidatedCommits {
    /// Reads a whole file. Records of deletes share the memory of `file`.
    ///
    /// # Errors
    /// When a record is cut off, its path is empty, longer than 64 KiB or no UTF-8.
    pub fn decode(file: &Bytes) -> Result<Self, DecodeError> {
        let mut r = Reader::new(file);
        let mut records = Vec::new();
        while !r.is_empty() {
            records.push(CommitRecord::decode(&mut r, file)?);
        }
        Ok(Self { records })
    }

    /// Writes a whole file.
    pub fn encode(&self, w: &mut Writer) {
        for record in &self.records {
            record.encode(w);
        }
    }
}

impl CommitRecord {
    fn decode(r: &mut Reader<'_>, file: &Bytes) -> Result<Self, DecodeError> {
        let offset = r.offset();
        let path = line(r, "commit path")?.to_owned();
        if path.is_empty() {
            return Err(DecodeErrorKind::Refused { reason: "is empty".to_owned() }.at("commit path", offset));
        }
        if !is_condition(&path) {
            return Ok(Self::Fragment(path));
        }
        let condition = r.bytes_u64("commit condition")?;
        Ok(Self::Condition { path, file: file.slice_ref(condition) })
    }

    fn encode(&self, w: &mut Writer) {
        w.bytes(self.path().as_bytes());
        w.u8(b'\n');
        if let Self::Condition { file, .. } = self {
            w.bytes_u64(file);
        }
    }
}

/// What an `.ign` file holds: fragments that no `.con` file commits any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IgnoreList {
    /// Paths of commit files, spelled exactly as in a `.con` file.
    pub paths: Vec<String>,
}

impl IgnoreList {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When a line is longer than 64 KiB or no UTF-8.
    pub fn decode(file: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self { paths: decode_lines(file, "ignored commit path")? })
    }

    /// Writes a whole file.
    pub fn encode(&self, w: &mut Writer) {
        encode_lines(&self.paths, w);
    }
}

/// A `.con` file of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitsFile {
    /// Its name.
    pub name: TimestampedName,
    /// Where it is.
    pub path: ObjectPath,
    /// What it holds.
    pub commits: ConsolidatedCommits,
}

/// An `.ign` file of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Its name.
    pub name: TimestampedName,
    /// Where it is.
    pub path: ObjectPath,
    /// What it holds.
    pub list: IgnoreList,
}

/// The format's page gives updates a payload as well, which the reference implementation neither writes nor reads.
fn is_condition(path: &str) -> bool {
    path.ends_with(".del") || path.ends_with(".upd")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(commits: &ConsolidatedCommits) -> Vec<u8> {
        let mut w = Writer::new();
        commits.encode(&mut w);
        w.into_vec()
    }

    fn decode(bytes: &[u8]) -> Result<ConsolidatedCommits, DecodeError> {
        ConsolidatedCommits::decode(&Bytes::copy_from_slice(bytes))
    }

    fn commits() -> impl Strategy<Value = ConsolidatedCommits> {
        let name = "[a-z0-9_/]{1,20}";
        let record = prop_oneof![
            name.prop_map(|name| CommitRecord::Fragment(name + ".wrt")),
            (name, prop::collection::vec(any::<u8>(), 0..30))
                .prop_map(|(name, file)| CommitRecord::Condition { path: name + ".del", file: file.into() }),
        ];
        prop::collection::vec(record, 0..6).prop_map(|records| ConsolidatedCommits { records })
    }

    #[test]
    fn a_delete_may_hold_line_feeds_and_is_followed_by_the_next_record_at_once() {
        let file = b"__commits/a.wrt\n__commits/b.del\n\x03\0\0\0\0\0\0\0\n\n\n__c.ok\n";
        let commits = decode(file).unwrap();
        let condition = CommitRecord::Condition { path: "__commits/b.del".to_owned(), file: Bytes::from_static(b"\n\n\n") };
        assert_eq!(
            commits.records,
            [CommitRecord::Fragment("__commits/a.wrt".to_owned()), condition, CommitRecord::Fragment("__c.ok".to_owned())]
        );
        assert_eq!(encoded(&commits), file);
    }

    #[test]
    fn hostile_files_are_errors() {
        let huge = b"x.del\n\xff\xff\xff\xff\xff\xff\xff\xff";
        assert!(matches!(decode(huge).unwrap_err().kind, DecodeErrorKind::Truncated { needed: u64::MAX, .. }));
        assert!(decode(b"\n").is_err());
        assert!(decode(b"a.wrt").is_err(), "no line feed");
        assert_eq!(decode(b"\xff\xfe.wrt\n").unwrap_err().kind, DecodeErrorKind::NotUtf8);
        assert!(matches!(decode(&vec![b'a'; 1 << 20]).unwrap_err().kind, DecodeErrorKind::Limit { .. }));
    }

    #[test]
    fn an_ignore_file_is_lines() {
        let list = IgnoreList::decode(b"__commits/a.wrt\n\nb.ok").unwrap();
        assert_eq!(list.paths, ["__commits/a.wrt", "b.ok"]);
        let mut w = Writer::new();
        list.encode(&mut w);
        assert_eq!(w.as_slice(), b"__commits/a.wrt\nb.ok\n");
    }

    talavera_testkit::decoder_laws! {
        // The file ends where its records do, so the law of prefixes holds for one record only.
        mod record_laws {
            value: ConsolidatedCommits = commits().prop_filter_map("one record", |commits| {
                let record = commits.records.into_iter().next()?;
                Some(ConsolidatedCommits { records: vec![record] })
            }),
            encode: encoded,
            decode: |bytes: &[u8]| if bytes.is_empty() { Err(DecodeErrorKind::NotUtf8.at("nothing", 0)) } else { decode(bytes) },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_prefix_is_an_error_or_the_records_that_are_whole_in_it(commits in commits()) {
            let bytes = encoded(&commits);
            prop_assert_eq!(&decode(&bytes).unwrap(), &commits);
            for len in 0..bytes.len() {
                if let Ok(prefix) = decode(&bytes[..len]) {
                    prop_assert!(prefix.records.len() < commits.records.len());
                    prop_assert_eq!(encoded(&prefix), &bytes[..len]);
                }
            }
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode(&bytes);
            let _ = IgnoreList::decode(&bytes);
        }
    }
}
