//! The steps of a publication that differ on Unix: modes, and what a rename does.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;

use super::Staged;
use crate::fs::directory::Status;

const PRIVATE_FILE: u32 = 0o600;

/// Read, write and execute bits; the special bits of a replaced file are not kept.
const KEPT_BITS: u32 = 0o777;

/// Makes the staged file, which must not exist, for the owner alone. The file to replace does not
/// matter before the content is written.
pub(super) fn create_file(staged: &Staged<'_>, _replaces: bool) -> io::Result<File> {
    let file = staged.staging.create_file(staged.file_name)?;
    file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    Ok(file)
}

/// Gives the staged file the mode of the file that it replaces.
pub(super) fn restore_mode(file: &File, replaced: &Status) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(replaced.mode & KEPT_BITS))
}

/// Gives the staged file the name of the target.
pub(super) fn replace(staged: &Staged<'_>, _existed: bool) -> io::Result<()> {
    let Staged { parent, name, .. } = staged;
    staged.staging.rename(staged.file_name, parent, name)
}
