//! Paths as text: what Node's `path.resolve` and `path.join` make of them. Nothing here looks at
//! the disk, except for the working directory of the process where a base is relative.
//!
//! Contract: provider §3 step 4, §7.

use std::io;

#[cfg(unix)]
#[path = "lexical/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "lexical/windows.rs"]
mod platform;

/// The absolute path that `path` names from `base`: `.`, `..`, repeated and trailing separators
/// are taken out, links are not consulted. A base that is relative or empty starts at the working
/// directory of the process.
///
/// Errors: the system's, if that directory is needed and gone.
pub fn resolve(base: &str, path: &str) -> io::Result<String> {
    platform::resolve(base, path)
}

/// The path of `name` within `directory`, normalised.
pub fn join(directory: &str, name: &str) -> String {
    platform::join(directory, name)
}

/// The working directory of the process.
fn working_directory() -> io::Result<String> {
    Ok(std::env::current_dir()?.to_string_lossy().into_owned())
}
