//! Conditions that consolidation has already turned into delete metadata: fragment page, "Tile Processed Conditions".

use talavera_codec::{DecodeError, Reader, Writer};

/// The delete conditions that a consolidated fragment has taken into account, ascending by time.
///
/// [`DeleteConditionIndex`](crate::FieldId::DeleteConditionIndex) counts in this list. Each is the path of a commit file
/// relative to the array, `__commits/<name>.del`; the format's page says the file's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessedConditions {
    /// Paths relative to the array.
    pub conditions: Vec<String>,
}

impl ProcessedConditions {
    /// Reads the payload of a generic tile: a 64-bit count, then the paths.
    ///
    /// # Errors
    /// When the count or a length does not match the bytes, or a path is not UTF-8.
    pub fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let count = r.count_u64("processed condition count", 8)?;
        let conditions = (0..count).map(|_| r.string_u64("processed condition")).collect::<Result<_, _>>()?;
        r.finish("processed conditions")?;
        Ok(Self { conditions })
    }

    /// Writes what [`ProcessedConditions::decode`] reads.
    pub fn encode(&self, w: &mut Writer) {
        w.len_u64(self.conditions.len());
        for condition in &self.conditions {
            w.string_u64(condition);
        }
    }

    /// Whether the condition in this commit file, relative to the array, has been taken into account.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.conditions.iter().any(|condition| condition == path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::encoded;

    #[test]
    fn conditions_are_paths_behind_their_length() {
        let payload = [
            &[1, 0, 0, 0, 0, 0, 0, 0][..], // one condition
            &[15, 0, 0, 0, 0, 0, 0, 0],    // of fifteen bytes
            b"__commits/x.del",
        ]
        .concat();
        let processed = ProcessedConditions::decode(&payload).unwrap();
        assert!(processed.contains("__commits/x.del") && !processed.contains("x.del"));
    }

    prop_compose! {
        fn processed()(conditions in proptest::collection::vec("[a-zé_/.]{0,8}", 0..4)) -> ProcessedConditions {
            ProcessedConditions { conditions }
        }
    }

    talavera_testkit::decoder_laws! {
        mod laws {
            value: ProcessedConditions = processed(),
            encode: |value: &ProcessedConditions| encoded(|w| value.encode(w)),
            decode: ProcessedConditions::decode,
        }
    }
}
