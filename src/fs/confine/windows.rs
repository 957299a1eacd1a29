//! Roots on Windows.

use std::io;
use std::path::{Path, PathBuf};

/// What is left of `key` behind `root`, by whole components, in which case does not count.
pub(super) fn strip_root(key: &Path, root: &Path) -> Option<PathBuf> {
    if !root.is_absolute() {
        return None;
    }
    let mut rest = key.components();
    for component in root.components() {
        let same = rest
            .next()?
            .as_os_str()
            .eq_ignore_ascii_case(component.as_os_str());
        if !same {
            return None;
        }
    }
    Some(rest.as_path().to_owned())
}

/// Stable Rust tells no identity; a canonical path is one as far as it goes.
pub(super) fn identity_of(_path: &Path) -> io::Result<Option<()>> {
    Ok(None)
}
