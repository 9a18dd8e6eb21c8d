//! Folders and their way to the disk.

use std::fs;
use std::io;
use std::path::Path;

/// Makes a folder and those above it; each new name is forced to the disk when `durable`.
pub(super) fn create_folders(folder: &Path, durable: bool) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent, durable)?;
    }
    match fs::create_dir(folder) {
        Ok(()) if durable => sync_folder_of(folder),
        Ok(()) => Ok(()),
        // Somebody else was faster.
        Err(_) if folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Forces the names in the folder above `local` to the disk.
#[cfg(unix)]
pub(super) fn sync_folder_of(local: &Path) -> io::Result<()> {
    local.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

/// Elsewhere folders cannot be opened, and their names need no such care.
#[cfg(not(unix))]
pub(super) fn sync_folder_of(_local: &Path) -> io::Result<()> {
    Ok(())
}
