//! Footers of many fragments in one file: consolidated fragment metadata page.

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

/// The footers of many fragments, in the payload of one generic tile.
///
/// Take a footer from here only if its version is the one in the fragment's name and [`Footer::decode_all`] accepts it;
/// otherwise read the fragment's own file. The reason is a fault of released libraries: a fragment of version 11 written by
/// 2.7 enters this file 8 bytes longer than was counted, so that every later offset points 8 bytes too low.
///
/// The file commits nothing: it may name fragments that are gone, and leave out others.
///
/// [`Footer::decode_all`]: crate::Footer::decode_all
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsolidatedFooters<'a> {
    /// One entry per fragment, in file order.
    pub footers: Vec<ConsolidatedFooter<'a>>,
}

/// A fragment's footer in a [`ConsolidatedFooters`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsolidatedFooter<'a> {
    /// The name of the fragment's folder; up to version 8 its absolute URI at the time of writing.
    pub name: String,
    /// The footer without the length behind it, up to where the next one is said to begin. Its offsets count in the
    /// fragment's own file.
    pub bytes: &'a [u8],
}

impl ConsolidatedFooter<'_> {
    /// The name of the fragment's folder, which is unique: the last part of [`name`](Self::name).
    ///
    /// Absolute URIs lead nowhere once an array has moved; this still finds the fragment.
    #[must_use]
    pub fn folder(&self) -> &str {
        let name = self.name.strip_suffix('/').unwrap_or(&self.name);
        name.rsplit('/').next().unwrap_or(name)
    }
}

impl<'a> ConsolidatedFooters<'a> {
    /// Reads the payload: a 32-bit count; name and offset in this payload of each; the footers. (The format's page mentions
    /// neither the count nor that the offsets count before filtering.)
    ///
    /// Where one footer ends is only known from where the next begins, so the last one reaches to the end of the payload.
    ///
    /// # Errors
    /// When count or names do not match the bytes, or an offset descends, leaves the payload or points before the footers.
    pub fn decode(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(payload);
        let count = r.count_u32("consolidated footer count", 16)?;
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            let name = r.string_u64("fragment name")?;
            let at = r.offset();
            let offset = r.u64("footer offset")?;
            entries.push((name, offset, at));
        }
        let first = r.offset();
        let mut footers = Vec::with_capacity(count);
        let mut end = payload.len() as u64;
        for (name, offset, at) in entries.into_iter().rev() {
            if offset < first || offset > end {
                let expected = "an offset among the footers, in the order of the names";
                return Err(DecodeErrorKind::Invalid { found: offset, expected }.at("footer offset", at));
            }
            let mut at_footer = Reader::new(payload);
            at_footer.bytes(offset, "footer offset")?;
            let bytes = at_footer.bytes(end - offset, "footer")?;
            footers.push(ConsolidatedFooter { name, bytes });
            end = offset;
        }
        footers.reverse();
        Ok(Self { footers })
    }

    /// Writes what [`ConsolidatedFooters::decode`] reads. Offsets follow from the bytes themselves.
    ///
    /// # Panics
    /// For 2³² fragments or more.
    pub fn encode(&self, w: &mut Writer) {
        let entries: usize = self.footers.iter().map(|footer| 16 + footer.name.len()).sum();
        let mut offset = 4 + entries;
        w.len_u32(self.footers.len());
        for footer in &self.footers {
            w.string_u64(&footer.name);
            w.len_u64(offset);
            offset += footer.bytes.len();
        }
        for footer in &self.footers {
            w.bytes(footer.bytes);
        }
    }

    /// The bytes of the footer of the fragment in this folder. Looks at the names one by one.
    #[must_use]
    pub fn footer_bytes(&self, folder: &str) -> Option<&'a [u8]> {
        self.footers.iter().find(|footer| footer.folder() == folder).map(|footer| footer.bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use talavera_testkit::laws;

    use super::*;
    use crate::test_support::encoded;

    const PAYLOAD: &[u8] = &[
        2, 0, 0, 0, // two fragments
        1, 0, 0, 0, 0, 0, 0, 0, b'a', // named a
        39, 0, 0, 0, 0, 0, 0, 0, // footer at 39
        2, 0, 0, 0, 0, 0, 0, 0, b'/', b'b', // named /b
        41, 0, 0, 0, 0, 0, 0, 0, // footer at 41
        5, 6, // footer of a
        7, 8, 9, // footer of /b
    ];

    #[test]
    fn a_footer_reaches_to_the_next_and_is_found_by_folder() {
        let footers = ConsolidatedFooters::decode(PAYLOAD).unwrap();
        assert_eq!(footers.footer_bytes("a"), Some(&[5, 6][..]));
        assert_eq!(footers.footer_bytes("b"), Some(&[7, 8, 9][..]));
        assert_eq!(footers.footer_bytes("/b"), None);
        assert_eq!(encoded(|w| footers.encode(w)), PAYLOAD);
    }

    #[test]
    fn offsets_outside_the_footers_are_refused() {
        for offset in [0, 38, 42, 45, 255] {
            let mut payload = PAYLOAD.to_vec();
            payload[13] = offset;
            let result = ConsolidatedFooters::decode(&payload);
            assert_eq!(result.unwrap_err().field, "footer offset", "{offset}");
        }
    }

    #[test]
    fn prefixes_that_end_before_the_last_footer_are_errors() {
        for len in 0..41 {
            assert!(ConsolidatedFooters::decode(&PAYLOAD[..len]).is_err(), "{len}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

        #[test]
        fn what_was_encoded_is_decoded(footers in proptest::collection::vec(("[a-z/]{0,9}", any::<[u8; 3]>()), 0..5)) {
            let footers = footers.iter().map(|(name, bytes)| ConsolidatedFooter { name: name.clone(), bytes });
            let value = ConsolidatedFooters { footers: footers.collect() };
            let bytes = encoded(|w| value.encode(w));
            prop_assert_eq!(ConsolidatedFooters::decode(&bytes).unwrap(), value.clone());
            laws::flipped_bits_do_not_panic(&bytes, Vec::clone, |bytes| {
                ConsolidatedFooters::decode(bytes).map(|footers| encoded(|w| footers.encode(w)))
            });
        }
    }
}
