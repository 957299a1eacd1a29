//! Which file a path names: all spellings of a file, and all links to it, share one key.
//!
//! Contract: provider §3, tools §8.

use std::io;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FsError, Target};
use crate::fs::metadata::check;
use crate::fs::{errno, lexical};
use crate::text;

#[cfg(unix)]
#[path = "identity/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "identity/windows.rs"]
mod platform;

/// The target that `path` names. A relative path starts at `cwd`, else at `default_base`.
///
/// Errors: `Aborted` before and after the probe; `NotFound` for a blank path and for a path below
/// what is not a directory; else the system's, as `cannot resolve "<display>"`.
///
/// Contract: provider §3.
pub fn resolve(
    default_base: &str,
    path: &str,
    cwd: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Target, FsError> {
    if text::is_blank(path) {
        return Err(FsError::new(
            Code::NotFound,
            "file_path must be a non-empty string",
        ));
    }
    let display = lexical::resolve(cwd.unwrap_or(default_base), path)
        .map_err(|error| errno::failure("resolve", path, &error, "uv_cwd"))?;
    let key = canonical_key(&display).map_err(|error| unresolved(&display, &error))?;
    check(cancel, "resolve")?;
    Ok(Target { key, display })
}

/// The key of an absolute path without `.` and `..`: its real path or, where the path is absent,
/// the real path of the nearest ancestor that exists with the rest behind it.
///
/// Errors: the system's, except absence; ENOTDIR where an ancestor is not a directory.
///
/// Contract: provider §3 steps 5 and 7.
pub fn canonical_key(absolute: &str) -> io::Result<String> {
    let path = Path::new(absolute);
    for (levels, ancestor) in path.ancestors().enumerate() {
        match platform::real_path(ancestor) {
            Ok(real) if levels == 0 => return Ok(real),
            Ok(real) => {
                platform::require_directory(&real)?;
                let missing = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
                return Ok(Path::new(&real)
                    .join(missing)
                    .to_string_lossy()
                    .into_owned());
            }
            Err(error) if errno::describe(&error).name == "ENOENT" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(absolute.to_owned())
}

/// The failure to resolve `display`.
///
/// Contract: provider §3 steps 6 and 8.
pub(super) fn unresolved(display: &str, error: &io::Error) -> FsError {
    if errno::describe(error).name != "ENOTDIR" {
        return errno::failure("resolve", display, error, "realpath");
    }
    let why = "a parent path segment is not a directory";
    errno::cannot(Code::NotFound, "resolve", display, why)
}

/// The base directory of a session for `path`. Where `..` is involved it is the real directory,
/// so that `..` leads to its real parent; where there is none, or it cannot be told, `cwd` as
/// spelled.
///
/// Contract: tools §8.
pub fn session_base(cwd: Option<String>, path: &str) -> Option<String> {
    let cwd = cwd?;
    if !climbs(&cwd) && !climbs(path) {
        return Some(cwd);
    }
    Some(platform::real_path(Path::new(&cwd)).unwrap_or(cwd))
}

/// Whether a segment is `..`; both separators count on every system.
fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|segment| segment == "..")
}

/// The real path of something that exists, all links followed.
pub(super) fn real_path(path: &str) -> io::Result<String> {
    platform::real_path(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_9_a_blank_path_names_nothing() {
        let failure = resolve("/", " \t ", None, &CancellationToken::new()).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert_eq!(failure.message, "file_path must be a non-empty string");
    }

    #[test]
    fn edge_13_a_cancelled_call_is_aborted() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let failure = resolve("/", ".", None, &cancel).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (Code::Aborted, "resolve aborted")
        );
    }

    #[test]
    fn only_whole_segments_climb() {
        for path in ["..", "../a", "a/..", "a\\..\\b", "/a/../b"] {
            assert!(climbs(path), "{path}");
        }
        for path in ["", "a..", "..a", "...", "a/..b/c"] {
            assert!(!climbs(path), "{path}");
        }
    }
}
