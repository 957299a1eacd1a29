//! The steps of a publication that differ on Unix: modes, and what a rename does.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// Read, write and execute bits; the special bits of a replaced file are not kept.
const KEPT_BITS: u32 = 0o777;

/// Makes the staging directory, for the owner alone from the start.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_DIRECTORY).create(path)
}

/// Gives the owner back what the umask may have taken.
pub(super) fn restrict_directory(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(PRIVATE_DIRECTORY))
}

/// Makes the staged file, which must not exist, for the owner alone. The file to replace does not
/// matter before the content is written.
pub(super) fn create_file(path: &Path, _replaced: Option<(&Path, &Metadata)>) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE_FILE)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    Ok(file)
}

/// Gives the staged file the mode of the file that it replaces.
pub(super) fn restore_mode(file: &File, replaced: &Metadata) -> io::Result<()> {
    let mode = replaced.permissions().mode() & KEPT_BITS;
    file.set_permissions(Permissions::from_mode(mode))
}

/// Gives the staged file the name `key`.
pub(super) fn replace(staged: &Path, key: &Path, _existed: bool) -> io::Result<()> {
    std::fs::rename(staged, key)
}
