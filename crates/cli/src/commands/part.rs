//! `split`: a read cut into parts, and the files that they are kept in.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use talavera::{Order, ReadPart, SplitBy};

use crate::args::SplitArgs;
use crate::error::Error;
use crate::selection::Selection;

pub(crate) fn run(args: &SplitArgs, out: &mut dyn Write) -> Result<(), Error> {
    let array = args.target.open_array()?;
    let selection = Selection::new(&args.selection, &array, true)?;
    let by = match (args.parts, args.part_memory) {
        (Some(parts), _) => SplitBy::Parts(parts),
        (None, bytes) => SplitBy::Bytes(bytes.unwrap_or(u64::MAX)),
    };
    let parts = selection.read(&array, Order::Unordered).split(by)?;
    let Some(folder) = &args.output else {
        for part in &parts {
            serde_json::to_writer(&mut *out, part)?;
            writeln!(out)?;
        }
        return Ok(());
    };
    for (number, part) in parts.iter().enumerate() {
        let path = folder.join(format!("part-{number}.json"));
        let file_error = |source| Error::File { path: path.clone(), source };
        let mut file = BufWriter::new(File::create(&path).map_err(file_error)?);
        serde_json::to_writer(&mut file, part).map_err(|error| file_error(error.into()))?;
        file.flush().map_err(file_error)?;
        let count = part.cells();
        let about = if count.exact { "" } else { "at most " };
        writeln!(out, "{}: {about}{} cells", path.display(), count.cells)?;
    }
    Ok(())
}

/// Reads the part in a file.
///
/// # Errors
/// When the file cannot be read, and when it holds no part.
pub(super) fn load(path: &Path) -> Result<ReadPart, Error> {
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let part = serde_json::from_reader(BufReader::new(file));
    part.map_err(|error| Error::Input { path: path.to_owned(), reason: format!("this is no part that `split` made: {error}") })
}
