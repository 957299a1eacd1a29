//! Metadata of targets and paths, and the version token.
//!
//! Contract: provider §5.

use std::fs::Metadata;

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FileType, FsError, Info, Target};
use crate::fs::{errno, lexical};
use crate::text;

#[cfg(unix)]
#[path = "metadata/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "metadata/windows.rs"]
mod platform;

#[cfg(unix)]
pub(super) use platform::info_of_stat;

/// Version, kind and size (bytes, present for every kind) from metadata of the system.
///
/// The version is `dev:ino:size:mtimeNs:ctimeNs`, decimal, times in nanoseconds since 1970.
///
/// Contract: provider §5.
pub fn info_of(meta: &Metadata) -> Info {
    let kind = match meta.file_type() {
        kind if kind.is_file() => FileType::File,
        kind if kind.is_dir() => FileType::Directory,
        kind if kind.is_symlink() => FileType::Symlink,
        _ => FileType::Other,
    };
    Info {
        version: platform::version_of(meta),
        kind,
        size: Some(meta.len()),
    }
}

/// Metadata of a target, links followed; `None` if it is absent.
///
/// Errors: `Aborted` after the probe, else the system's as `cannot stat "<display>"`.
///
/// Contract: provider §5.
pub fn stat(target: &Target, cancel: &CancellationToken) -> Result<Option<Info>, FsError> {
    let found = present(std::fs::metadata(&target.key), &target.display, "stat")?;
    check(cancel, "stat")?;
    Ok(found)
}

/// Metadata of a path, the last component not followed if it is a link; `None` if it is absent.
/// A relative path starts at `cwd`, else at `default_base`.
///
/// Errors: `Aborted` after the probe, `NotFound` for a blank path, else the system's
/// as `cannot stat "<display>"`.
///
/// Contract: provider §5.
pub fn lstat(
    default_base: &str,
    path: &str,
    cwd: Option<&str>,
    cancel: &CancellationToken,
) -> Result<Option<Info>, FsError> {
    if text::is_blank(path) {
        return Err(FsError::new(
            Code::NotFound,
            "file_path must be a non-empty string",
        ));
    }
    let display = lexical::resolve(cwd.unwrap_or(default_base), path)
        .map_err(|error| errno::failure("stat", path, &error, "uv_cwd"))?;
    let found = present(std::fs::symlink_metadata(&display), &display, "lstat")?;
    check(cancel, "lstat")?;
    Ok(found)
}

/// Fails with `<verb> aborted` once the call is cancelled.
pub fn check(cancel: &CancellationToken, verb: &str) -> Result<(), FsError> {
    if cancel.is_cancelled() {
        Err(FsError::aborted(verb))
    } else {
        Ok(())
    }
}

fn present(
    probed: std::io::Result<Metadata>,
    display: &str,
    syscall: &'static str,
) -> Result<Option<Info>, FsError> {
    match probed {
        Ok(meta) => Ok(Some(info_of(&meta))),
        Err(error) if errno::is_absent(&error) => Ok(None),
        Err(error) => Err(errno::failure("stat", display, &error, syscall)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn target(path: &Path) -> Target {
        let path = path.to_str().unwrap().to_owned();
        Target {
            key: path.clone(),
            display: path,
        }
    }

    #[test]
    fn kinds_and_sizes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "abc").unwrap();
        let cancel = CancellationToken::new();
        let info = stat(&target(&file), &cancel).unwrap().unwrap();
        assert_eq!((info.kind, info.size), (FileType::File, Some(3)));
        let info = stat(&target(dir.path()), &cancel).unwrap().unwrap();
        assert_eq!(info.kind, FileType::Directory);
        assert!(info.size.is_some());
        assert_eq!(
            stat(&target(&dir.path().join("absent")), &cancel).unwrap(),
            None
        );
        assert_eq!(stat(&target(&file.join("below")), &cancel).unwrap(), None);
    }

    #[test]
    fn a_call_that_was_cancelled_meanwhile_is_aborted() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let failure = stat(&target(Path::new("/")), &cancel).unwrap_err();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (Code::Aborted, "stat aborted")
        );
        let failure = lstat("/", ".", None, &cancel).unwrap_err();
        assert_eq!(failure.message, "lstat aborted");
    }

    #[test]
    fn lstat_needs_a_path() {
        let failure = lstat("/", " \t", None, &CancellationToken::new()).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert_eq!(failure.message, "file_path must be a non-empty string");
    }
}
