//! Real paths on Windows.

use std::io;
use std::path::Path;

/// Without the prefix of verbatim paths, which Node does not show.
pub(super) fn real_path(path: &Path) -> io::Result<String> {
    let real = std::fs::canonicalize(path)?.to_string_lossy().into_owned();
    if let Some(share) = real.strip_prefix(r"\\?\UNC\") {
        return Ok(format!(r"\\{share}"));
    }
    Ok(real.strip_prefix(r"\\?\").unwrap_or(&real).to_owned())
}

/// Windows reports mere absence below a file.
pub(super) fn require_directory(real: &str) -> io::Result<()> {
    if std::fs::metadata(real)?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}
