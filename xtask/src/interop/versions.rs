//! Arrays that we write in each format version, read by the oldest release of the library that writes the version itself.

use talavera_types::FormatVersion;

use super::Options;
use super::run::{self, Source};
use super::schema::Bounds;
use crate::Failure;
use crate::peer;

/// Each release with the last datatype that it knows, by number.
const READERS: [(&str, u8); 16] = [
    ("2.2.2", 30),
    ("2.2.9", 30),
    ("2.3.3", 39),
    ("2.4.3", 39),
    ("2.7.2", 40),
    ("2.8.3", 40),
    ("2.9.5", 40),
    ("2.10.4", 41),
    ("2.11.3", 41),
    ("2.12.3", 41),
    ("2.14.0", 41),
    ("2.15.4", 41),
    ("2.16.3", 41),
    ("2.17.5", 41),
    ("2.19.2", 41),
    ("2.25.0", 43),
];

pub(super) fn run(options: &Options, seed: u64) -> Result<(), Failure> {
    let cases = options.cases.div_ceil(READERS.len() as u64);
    let source = |(index, (release, _)): (u64, &(&str, u8))| -> Result<Source, Failure> {
        let library = peer::fetch(&peer::find(release)?)?;
        Ok(Source { library, release: Some((*release).to_owned()), first: index * cases, count: cases })
    };
    let mut sources = (0..).zip(&READERS).map(source).collect::<Result<Vec<_>, _>>()?;
    if let Some(case) = options.case {
        // The case tells the release.
        sources.retain(|source| (source.first..source.first + source.count).contains(&case));
    }
    run::run(options, seed, &sources)
}

/// What a release can read.
pub(super) fn bounds(release: &str) -> Result<Bounds, Failure> {
    let reader = READERS.iter().find(|(reader, _)| *reader == release).ok_or("a release that is no reader")?;
    let version = FormatVersion::new(peer::find(release)?.format_version)?;
    Ok(Bounds {
        version,
        may_be_encrypted: true,
        null_extents: true,
        last_datatype: reader.1,
        webp: release != "2.12.3",
        // None before 2.7 has a function for it, and some read others wrongly.
        validity_filters: version.number() > 10,
        twin_alone: false,
    })
}
