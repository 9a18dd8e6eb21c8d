//! The current domain (array schema, "Current Domain"; 03-schema §5).

use talavera_codec::{DecodeError, DecodeErrorKind, Reader, Writer};

use crate::{Domain, NdRange};

/// The current domain's own version. The specification says 1; every library writes 0 and refuses more.
const VERSION: u32 = 0;
/// A rectangle, the one type there is.
const NDRECTANGLE: u8 = 0;

/// Reads the current domain of an array over `domain`, if it has one.
pub(crate) fn decode(r: &mut Reader<'_>, domain: &Domain) -> Result<Option<NdRange>, DecodeError> {
    let before = r.clone();
    let version = r.u32("current domain version")?;
    if version != VERSION {
        return Err(before.invalid("current domain version", version.into(), "0"));
    }
    if r.bool("current domain empty")? {
        return Ok(None);
    }
    let before = r.clone();
    let kind = r.u8("current domain type")?;
    if kind != NDRECTANGLE {
        return Err(before.invalid("current domain type", kind.into(), "a rectangle (0)"));
    }
    let offset = r.offset();
    let ranges = NdRange::decode(r, domain, "current domain")?;
    if ranges.is_valid() {
        return Ok(Some(ranges));
    }
    let reason = "a range has its low end above its high end".to_owned();
    Err(DecodeErrorKind::Refused { reason }.at("current domain", offset))
}

/// Writes the current domain.
pub(crate) fn encode(current_domain: Option<&NdRange>, w: &mut Writer, domain: &Domain) {
    w.u32(VERSION);
    w.bool(current_domain.is_none());
    if let Some(ranges) = current_domain {
        w.u8(NDRECTANGLE);
        ranges.encode(w, domain);
    }
}
