//! Opening on Windows.

use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;

/// Without it directories do not open.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options
}
