//! Roots on Unix systems.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::fs::errno;

/// What is left of `key` behind `root`, by whole components.
pub(super) fn strip_root(key: &Path, root: &Path) -> Option<PathBuf> {
    let is_root = root.is_absolute();
    is_root.then(|| key.strip_prefix(root).ok().map(Path::to_owned))?
}

/// Device and inode of what is at `path`; `None` if nothing is.
pub(super) fn identity_of(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match std::fs::metadata(path) {
        Ok(meta) => Ok(Some((meta.dev(), meta.ino()))),
        Err(error) if errno::is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
