//! Array and group metadata: page 05-other-files, "Array / group metadata files".

use std::collections::BTreeMap;

use talavera_codec::{DecodeError, Reader, Writer};
use talavera_types::Datatype;

use crate::DirectoryError;

/// A value of array or group metadata: any number of elements of one datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataValue {
    datatype: Datatype,
    count: u32,
    bytes: Vec<u8>,
}

impl MetadataValue {
    /// The value whose elements, little-endian and back to back, are `bytes`; none at all is a value, too.
    ///
    /// # Errors
    /// [`DirectoryError::InvalidMetadata`] for ANY, for bytes that are not whole elements, or for 2³² elements or more.
    pub fn new(datatype: Datatype, bytes: Vec<u8>) -> Result<Self, DirectoryError> {
        let invalid = |reason| DirectoryError::InvalidMetadata { what: "value", reason };
        if datatype == Datatype::Any {
            return Err(invalid("cannot be of type ANY"));
        }
        if !bytes.len().is_multiple_of(datatype.size()) {
            return Err(invalid("does not hold a whole number of elements"));
        }
        let count = u32::try_from(bytes.len() / datatype.size()).map_err(|_| invalid("has too many elements"))?;
        Ok(Self { datatype, count, bytes })
    }

    /// The datatype of the elements; never ANY.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How many elements there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The elements, little-endian and back to back.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = r.clone();
        let datatype = Datatype::decode(r, "metadata value type")?;
        if datatype == Datatype::Any {
            return Err(start.invalid("metadata value type", datatype.code().into(), "a datatype other than ANY"));
        }
        let count = r.u32("metadata value count")?;
        let bytes = r.bytes(u64::from(count) * datatype.size() as u64, "metadata value")?.to_vec();
        Ok(Self { datatype, count, bytes })
    }

    fn encode(&self, w: &mut Writer) {
        self.datatype.encode(w);
        w.u32(self.count);
        w.bytes(&self.bytes);
    }
}

/// What one file holds: the changes of one session, a value or a deletion for each key, ascending by key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataFile {
    changes: BTreeMap<Vec<u8>, Option<MetadataValue>>,
}

impl MetadataFile {
    /// Reads the payload of the file's generic tile.
    ///
    /// When a key comes twice, the later change counts.
    ///
    /// # Errors
    /// When a change is cut off, or its datatype is unknown.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let mut changes = BTreeMap::new();
        while !r.is_empty() {
            let key = r.bytes_u32("metadata key")?.to_vec();
            let is_deleted = r.bool("metadata deletion")?;
            let value = if is_deleted { None } else { Some(MetadataValue::decode(&mut r)?) };
            changes.insert(key, value);
        }
        Ok(Self { changes })
    }

    /// Writes the payload of the file's generic tile.
    pub fn encode(&self, w: &mut Writer) {
        for (key, value) in &self.changes {
            w.bytes_u32(key);
            w.bool(value.is_none());
            if let Some(value) = value {
                value.encode(w);
            }
        }
    }

    /// Sets a key, which may be empty.
    ///
    /// # Errors
    /// [`DirectoryError::InvalidMetadata`] for a key of 4 GiB or more.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: MetadataValue) -> Result<(), DirectoryError> {
        self.change(key.into(), Some(value))
    }

    /// Deletes a key, whether it is known or not.
    ///
    /// # Errors
    /// As [`MetadataFile::put`].
    pub fn delete(&mut self, key: impl Into<Vec<u8>>) -> Result<(), DirectoryError> {
        self.change(key.into(), None)
    }

    /// The changes, ascending by key; `None` deletes.
    pub fn changes(&self) -> impl ExactSizeIterator<Item = (&[u8], Option<&MetadataValue>)> {
        self.changes.iter().map(|(key, value)| (key.as_slice(), value.as_ref()))
    }

    /// Whether nothing changes; such a file is not written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn change(&mut self, key: Vec<u8>, value: Option<MetadataValue>) -> Result<(), DirectoryError> {
        if u32::try_from(key.len()).is_err() {
            return Err(DirectoryError::InvalidMetadata { what: "key", reason: "is too long" });
        }
        self.changes.insert(key, value);
        Ok(())
    }
}

/// The metadata of an array or group at a time: values by key, ascending by the bytes of the keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArrayMetadata {
    values: BTreeMap<Vec<u8>, MetadataValue>,
}

impl ArrayMetadata {
    /// What the files leave, applied in the order of
    /// [`ArrayDirectory::metadata_files`](crate::ArrayDirectory::metadata_files).
    #[must_use]
    pub fn replay(files: impl IntoIterator<Item = MetadataFile>) -> Self {
        let mut metadata = Self::default();
        for file in files {
            metadata.apply(file);
        }
        metadata
    }

    /// Applies the changes of one more file.
    pub fn apply(&mut self, file: MetadataFile) {
        for (key, value) in file.changes {
            match value {
                Some(value) => self.values.insert(key, value),
                None => self.values.remove(&key),
            };
        }
    }

    /// The file that sets all this at once: what consolidation writes.
    #[must_use]
    pub fn to_file(&self) -> MetadataFile {
        MetadataFile { changes: self.values.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect() }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&MetadataValue> {
        self.values.get(key.as_ref())
    }

    /// Keys and values, ascending by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &MetadataValue)> {
        self.values.iter().map(|(key, value)| (key.as_slice(), value))
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use talavera_codec::DecodeErrorKind;

    use super::*;

    #[rustfmt::skip]
    const EXAMPLE: &[u8] = &[
        1, 0, 0, 0, b'k', // key
        0, // not deleted
        0, // INT32
        2, 0, 0, 0, // two elements
        1, 0, 0, 0, 2, 0, 0, 0,
        1, 0, 0, 0, b'x', // key
        1, // deleted
    ];

    fn value(datatype: Datatype, bytes: &[u8]) -> MetadataValue {
        MetadataValue::new(datatype, bytes.to_vec()).unwrap()
    }

    fn encoded(file: &MetadataFile) -> Vec<u8> {
        let mut w = Writer::new();
        file.encode(&mut w);
        w.into_vec()
    }

    #[test]
    fn a_file_is_values_and_deletions() {
        let file = MetadataFile::decode(EXAMPLE).unwrap();
        let mut made = MetadataFile::default();
        made.delete("x").unwrap();
        made.put("k", value(Datatype::Int32, &[1, 0, 0, 0, 2, 0, 0, 0])).unwrap();
        assert_eq!(file, made);
        assert_eq!(encoded(&made), EXAMPLE);
        assert_eq!(
            file.changes().map(|(key, value)| (key, value.map(MetadataValue::count))).collect::<Vec<_>>(),
            [(b"k".as_slice(), Some(2)), (b"x".as_slice(), None),]
        );
    }

    #[test]
    fn later_files_replace_and_delete() {
        let file = |changes: &[(&str, Option<u8>)]| {
            let mut file = MetadataFile::default();
            for (key, byte) in changes {
                match byte {
                    Some(byte) => file.put(*key, value(Datatype::UInt8, &[*byte])).unwrap(),
                    None => file.delete(*key).unwrap(),
                }
            }
            file
        };
        let files = [
            file(&[("a", Some(1)), ("b", Some(1))]),
            file(&[("a", Some(2)), ("b", None), ("never", None)]),
            file(&[("", Some(3))]),
        ];
        let metadata = ArrayMetadata::replay(files);
        assert_eq!(metadata.len(), 2);
        assert_eq!(metadata.get("a").unwrap().bytes(), [2]);
        assert_eq!(metadata.get("").unwrap().bytes(), [3]);
        assert!(metadata.get("b").is_none());
        assert_eq!(ArrayMetadata::replay([metadata.to_file()]), metadata);
    }

    #[test]
    fn a_value_of_no_elements_is_a_value() {
        let empty = value(Datatype::StringUtf8, &[]);
        let mut file = MetadataFile::default();
        file.put("k", empty.clone()).unwrap();
        assert_eq!(ArrayMetadata::replay([MetadataFile::decode(&encoded(&file)).unwrap()]).get("k"), Some(&empty));
    }

    #[test]
    fn values_that_the_format_cannot_hold_are_refused() {
        assert!(MetadataValue::new(Datatype::Any, vec![1]).is_err());
        assert!(MetadataValue::new(Datatype::Int32, vec![1, 2, 3]).is_err());
        let any = [0, 0, 0, 0, 0, 17, 0, 0, 0, 0];
        assert_eq!(
            MetadataFile::decode(&any).unwrap_err().to_string(),
            "metadata value type: 17 is not a datatype other than ANY (at byte 5)"
        );
    }

    #[test]
    fn a_declared_length_is_refused_before_anything_is_allocated() {
        let huge = [0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff];
        let error = MetadataFile::decode(&huge).unwrap_err();
        assert_eq!(error.kind, DecodeErrorKind::Truncated { needed: 8 * u64::from(u32::MAX), left: 0 });
    }

    fn change() -> impl Strategy<Value = (Vec<u8>, Option<MetadataValue>)> {
        let datatypes: Vec<_> = Datatype::ALL.iter().copied().filter(|datatype| *datatype != Datatype::Any).collect();
        let value =
            (prop::sample::select(datatypes), prop::collection::vec(any::<u8>(), 0..4)).prop_map(|(datatype, elements)| {
                let bytes = elements.iter().flat_map(|byte| vec![*byte; datatype.size()]).collect();
                MetadataValue::new(datatype, bytes).unwrap()
            });
        (prop::collection::vec(any::<u8>(), 0..5), prop::option::of(value))
    }

    fn file(changes: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = MetadataFile> {
        prop::collection::btree_map(change().prop_map(|(key, _)| key), change().prop_map(|(_, value)| value), changes)
            .prop_map(|changes| MetadataFile { changes })
    }

    talavera_testkit::decoder_laws! {
        // The payload ends where its changes do, so the law of prefixes holds for one change only.
        mod change_laws {
            value: MetadataFile = file(1..=1),
            encode: encoded,
            decode: |bytes: &[u8]| match bytes {
                [] => Err(DecodeErrorKind::NotUtf8.at("nothing", 0)),
                bytes => MetadataFile::decode(bytes),
            },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_prefix_is_an_error_or_the_changes_that_are_whole_in_it(file in file(0..5)) {
            let bytes = encoded(&file);
            prop_assert_eq!(&MetadataFile::decode(&bytes).unwrap(), &file);
            for len in 0..bytes.len() {
                if let Ok(prefix) = MetadataFile::decode(&bytes[..len]) {
                    prop_assert!(prefix.changes.len() < file.changes.len());
                    prop_assert_eq!(encoded(&prefix), &bytes[..len]);
                }
            }
        }
    }
}
