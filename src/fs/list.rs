//! Directory listings.
//!
//! Contract: provider §7.

use std::io;
use std::path::MAIN_SEPARATOR;

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FileType, FsError, Info, Target};
use crate::fs::metadata::{check, info_of};
use crate::fs::{errno, identity, lexical};

#[cfg(unix)]
#[path = "list/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "list/windows.rs"]
mod platform;

/// A child of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name; bytes that are not UTF-8 are replaced by U+FFFD.
    pub name: String,
    /// Its kind; of a link, the kind of what it leads to. Never `Symlink`.
    pub kind: FileType,
    /// Its target key.
    pub key: String,
    /// Its version, unless it is absent (a link that leads nowhere, a child that vanished).
    pub version: Option<String>,
    /// Its size in bytes, of regular files only.
    pub size: Option<u64>,
}

/// Children by name, each with its own result.
pub type Children = Vec<(String, Result<Listed, FsError>)>;

/// The children of a directory by name, in the order of their bytes. A child that cannot be
/// described fails alone: the caller sorts, and reports the first that failed in that order.
///
/// Errors: `Aborted` (`list aborted`), `NotDirectory`, else the system's, as
/// `cannot list "<display>"`.
///
/// Contract: provider §7.
pub fn list_dir(target: &Target, cancel: &CancellationToken) -> Result<Children, FsError> {
    let failed =
        |error: &io::Error, syscall| errno::failure("list", &target.display, error, syscall);
    let mut directory =
        platform::Directory::open(&target.key).map_err(|error| not_opened(target, &error))?;
    let mut prefix =
        identity::real_path(&target.key).map_err(|error| failed(&error, "realpath"))?;
    if !prefix.ends_with(MAIN_SEPARATOR) {
        prefix.push(MAIN_SEPARATOR);
    }
    let mut names = directory
        .names()
        .map_err(|error| failed(&error, "scandir"))?;
    // Names that a collation takes for equal stay in this order, as in Node's own listing.
    names.sort_unstable();
    let mut children = Vec::with_capacity(names.len());
    for name in names {
        check(cancel, "list")?;
        let child = describe(&directory, &prefix, &name, &target.display);
        children.push((name, child));
    }
    check(cancel, "list")?;
    Ok(children)
}

/// `O_DIRECTORY` says ENOTDIR for a file as well as for a path below one.
fn not_opened(target: &Target, error: &io::Error) -> FsError {
    let cannot = |code, why| errno::cannot(code, "list", &target.display, why);
    let exists = std::fs::metadata(&target.key).is_ok();
    match errno::describe(error).name {
        "ENOTDIR" if exists => cannot(Code::NotDirectory, "not a directory"),
        // An absent directory is an answer, not a failure of the system.
        "ENOTDIR" | "ENOENT" => cannot(Code::NotFound, "not found"),
        _ => errno::failure("list", &target.display, error, "scandir"),
    }
}

/// One probe for a child that is no link; only links are followed by path.
fn describe(
    directory: &platform::Directory,
    prefix: &str,
    name: &str,
    parent: &str,
) -> Result<Listed, FsError> {
    let path = format!("{prefix}{name}");
    let failed =
        |error: &io::Error| errno::failure("list", &lexical::join(parent, name), error, "stat");
    match directory.probe(name) {
        Ok(info) if info.kind == FileType::Symlink => {
            let key = identity::canonical_key(&path).map_err(|error| {
                let display = lexical::join(parent, name);
                // The words of a failed resolution here are those of the original.
                if errno::is_absent(&error) {
                    identity::unresolved(&display, &error)
                } else {
                    errno::failure("list", &display, &error, "realpath")
                }
            })?;
            match std::fs::metadata(&key) {
                Ok(meta) => Ok(listed(name, key, Some(info_of(&meta)))),
                Err(error) if errno::is_absent(&error) => Ok(listed(name, key, None)),
                Err(error) => Err(failed(&error)),
            }
        }
        Ok(info) => Ok(listed(name, path, Some(info))),
        Err(error) if errno::is_absent(&error) => Ok(listed(name, path, None)),
        Err(error) => Err(failed(&error)),
    }
}

fn listed(name: &str, key: String, info: Option<Info>) -> Listed {
    let name = name.to_owned();
    match info {
        Some(Info {
            version,
            kind,
            size,
        }) => {
            let size = size.filter(|_| kind == FileType::File);
            Listed {
                name,
                kind,
                key,
                version: Some(version),
                size,
            }
        }
        None => Listed {
            name,
            kind: FileType::Other,
            key,
            version: None,
            size: None,
        },
    }
}
