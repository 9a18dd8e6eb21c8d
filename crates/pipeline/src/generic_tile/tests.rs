use super::*;

/// Array metadata that libtiledb 2.8 wrote: a generic tile in a file of its own.
#[rustfmt::skip]
const PLAIN: [u8; 118] = [
    0x0c, 0x00, 0x00, 0x00, // version
    0x42, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // persisted size
    0x19, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // size
    0x04, // datatype CHAR
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // cell size
    0x00, // encryption type
    0x12, 0x00, 0x00, 0x00, // filter pipeline size
    0x00, 0x00, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, // max chunk size, filter count
    0x01, 0x05, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, // GZIP, 5 bytes of options, level 1
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // chunk count
    0x19, 0x00, 0x00, 0x00, 0x1e, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, // original, filtered, metadata lengths
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x1e, 0x00, 0x00, 0x00, // 0 and 1 parts, 25 bytes in 30
    0x78, 0x01, 0x63, 0x61, 0x60, 0x60, 0x48, 0x4a, 0x2d, 0x49, 0x64, 0x60, 0x63, 0x04, 0xb2, 0x38, 0x59, 0x81, 0x44, 0x7a, // zlib stream
    0x62, 0x6e, 0x6e, 0x22, 0x23, 0x00, 0x28, 0xea, 0x03, 0xba,
];
const PLAIN_PAYLOAD: &[u8] = b"\x04\0\0\0beta\0\x06\x01\0\0\0\t\x05\0\0\0gamma\x01";

/// Array metadata of an encrypted array, by the same release.
#[rustfmt::skip]
const ENCRYPTED: [u8; 195] = [
    0x0c, 0x00, 0x00, 0x00, // version
    0x8a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // persisted size
    0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // size
    0x04, // datatype CHAR
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // cell size
    0x01, // encryption type
    0x17, 0x00, 0x00, 0x00, // filter pipeline size
    0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x00, 0x00, // max chunk size, filter count
    0x01, 0x05, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, // GZIP
    0x0b, 0x00, 0x00, 0x00, 0x00, // AES_256_GCM, no options
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, // chunk count
    0x13, 0x00, 0x00, 0x00, 0x26, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, 0x00, // original, filtered, metadata lengths
    0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0xb1, 0xc2, 0x76, 0x1e, // 1 and 1 parts, each with lengths, IV and tag
    0xb0, 0x7b, 0xe1, 0x44, 0xd3, 0x86, 0x91, 0x4a, 0x0e, 0x74, 0x25, 0x60, 0x6e, 0xa9, 0x5c, 0x6c, 0x47, 0xac, 0x93, 0xeb,
    0xb2, 0x17, 0x89, 0xde, 0x16, 0x00, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00, 0xc4, 0xfe, 0xd4, 0xea, 0x16, 0xbd, 0xbd, 0xee,
    0x81, 0x45, 0x2c, 0x83, 0x93, 0xd9, 0x97, 0x3f, 0xce, 0xff, 0x12, 0x31, 0x9e, 0x90, 0x9f, 0x3f, 0x4a, 0x5f, 0x1e, 0x6c,
    0x9e, 0x6b, 0x50, 0xb5, 0x24, 0x49, 0x1a, 0x0d, 0xdb, 0x68, 0x38, 0x91, 0x61, 0xa2, 0xd9, 0xfc, 0x12, 0xb4, 0x00, 0x81, // ciphertexts
    0x47, 0x05, 0x26, 0x8f, 0x12, 0xc1, 0xb1, 0xa3, 0xba, 0x67, 0x47, 0x57, 0xf8, 0xe4, 0x3d, 0xf1, 0x23, 0xf8,
];
const ENCRYPTED_PAYLOAD: &[u8] = b"\x01\x00\x00\x00k\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00";

fn key() -> EncryptionKey {
    EncryptionKey::new(*b"0123456789abcdeF0123456789abcdeF")
}

fn limits() -> Limits {
    Limits::new(1 << 20)
}

#[test]
fn a_header_is_read_field_by_field_and_written_back() {
    let mut r = Reader::new(&PLAIN);
    let header = GenericTileHeader::decode(&mut r).unwrap();
    let expected = GenericTileHeader {
        version: FormatVersion::new(12).unwrap(),
        persisted_bytes: 66,
        tile_bytes: 25,
        datatype: Datatype::Char,
        cell_bytes: 1,
        encryption: EncryptionType::None,
        filters: FilterList::new(vec![FilterSpec::Gzip { level: 1 }]),
    };
    assert_eq!(header, expected);
    let mut w = Writer::new();
    header.encode(&mut w);
    assert_eq!(w.as_slice(), &PLAIN[..52]);
    assert_eq!(r.offset(), 52);
}

#[test]
fn a_generic_tile_is_unwrapped_and_others_may_follow() {
    let two = [PLAIN, PLAIN].concat();
    let (payload, consumed) = GenericTile::decode(&two, None, &limits()).unwrap();
    assert_eq!((payload.as_slice(), consumed), (PLAIN_PAYLOAD, PLAIN.len()));
}

#[test]
fn an_encrypted_generic_tile_is_unwrapped_with_its_key() {
    let (payload, consumed) = GenericTile::decode(&ENCRYPTED, Some(&key()), &limits()).unwrap();
    assert_eq!((payload.as_slice(), consumed), (ENCRYPTED_PAYLOAD, ENCRYPTED.len()));
}

#[test]
fn a_missing_a_needless_and_a_wrong_key_are_told_apart() {
    let message = |bytes: &[u8], key: Option<&EncryptionKey>| GenericTile::decode(bytes, key, &limits()).unwrap_err().to_string();
    let missing = "tile is encrypted with AES_256_GCM but given key is for NO_ENCRYPTION";
    let needless = "tile is encrypted with NO_ENCRYPTION but given key is for AES_256_GCM";
    assert_eq!(message(&ENCRYPTED, None), missing);
    assert_eq!(message(&PLAIN, Some(&key())), needless);
    let wrong = GenericTile::decode(&ENCRYPTED, Some(&EncryptionKey::new([1; 32])), &limits()).unwrap_err();
    assert!(matches!(wrong, GenericTileError::WrongKey { .. }), "{wrong}");
}

#[test]
fn an_encrypted_tile_whose_pipeline_does_not_encrypt_is_refused() {
    let mut tile = PLAIN;
    tile[29] = 1; // Encryption type.
    let error = GenericTile::decode(&tile, Some(&key()), &limits()).unwrap_err();
    assert_eq!(error.to_string(), "tile is encrypted with AES_256_GCM but its pipeline holds no encryption filter");
}

#[test]
fn the_payload_is_charged_before_it_is_allocated() {
    let error = GenericTile::decode(&PLAIN, None, &Limits::new(24)).unwrap_err();
    assert_eq!(error.to_string(), "generic tile size: 25 bytes exceed the limit of 24 (at byte 0)");
    let mut tile = PLAIN;
    tile[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = GenericTile::decode(&tile, None, &Limits::new(u64::MAX)).unwrap_err();
    assert_eq!(error.to_string(), format!("the chunks hold 25 bytes, expected {}", u64::MAX));
}

#[test]
fn cells_of_no_bytes_are_refused() {
    let mut tile = PLAIN;
    tile[21..29].fill(0);
    assert!(GenericTile::decode(&tile, None, &limits()).is_err());
}

#[test]
fn a_tile_without_filters_is_read() {
    let filters = FilterList::new(vec![]);
    let header = GenericTileHeader {
        version: FormatVersion::DEFAULT,
        persisted_bytes: 23,
        tile_bytes: 3,
        datatype: Datatype::Char,
        cell_bytes: 1,
        encryption: EncryptionType::None,
        filters,
    };
    let mut w = Writer::new();
    header.encode(&mut w);
    w.bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', b'c']);
    let (payload, _) = GenericTile::decode(w.as_slice(), None, &limits()).unwrap();
    assert_eq!(payload, b"abc");
}

#[test]
fn a_new_tile_has_the_header_and_the_cut_of_the_reference() {
    let tile = GenericTile::encode(PLAIN_PAYLOAD, FormatVersion::new(12).unwrap(), None).unwrap();
    // From the size to the original length of the chunk; compressed lengths differ.
    assert_eq!(tile[12..64], PLAIN[12..64]);
    let payload = vec![7; 142_288];
    let tile = GenericTile::encode(&payload, FormatVersion::DEFAULT, None).unwrap();
    let mut r = Reader::new(&tile);
    GenericTileHeader::decode(&mut r).unwrap();
    assert_eq!(ChunkTable::decode(r.rest()).unwrap().len(), 3);
    assert_eq!(GenericTile::decode(&tile, None, &limits()).unwrap(), (payload, tile.len()));
}

#[test]
fn every_shorter_prefix_is_an_error() {
    for tile in [PLAIN.as_slice(), &ENCRYPTED] {
        let key = Some(key()).filter(|_| tile.len() == ENCRYPTED.len());
        for len in 0..tile.len() {
            assert!(GenericTile::decode(&tile[..len], key.as_ref(), &limits()).is_err(), "the first {len} bytes");
        }
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_a_value() {
    for at in 0..PLAIN.len() {
        for bit in 0..8 {
            let mut tile = PLAIN;
            tile[at] ^= 1 << bit;
            drop(GenericTile::decode(&tile, None, &limits()));
        }
    }
    for at in 0..ENCRYPTED.len() {
        let mut tile = ENCRYPTED;
        tile[at] ^= 1;
        drop(GenericTile::decode(&tile, Some(&key()), &limits()));
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 64, ..Default::default() })]

    #[test]
    fn what_was_encoded_is_decoded(payload: Vec<u8>, encrypted: bool, number in 1u32..=23) {
        let key = encrypted.then(key);
        let tile = GenericTile::encode(&payload, FormatVersion::new(number).unwrap(), key.as_ref()).unwrap();
        let (decoded, consumed) = GenericTile::decode(&tile, key.as_ref(), &limits()).unwrap();
        proptest::prop_assert_eq!(decoded, payload);
        proptest::prop_assert_eq!(consumed, tile.len());
    }
}
