//! Error numbers of Windows, under the names that libuv gives them.

use std::io::{self, ErrorKind};

use super::Description;

const ERROR_SHARING_VIOLATION: i32 = 32;
const ERROR_LOCK_VIOLATION: i32 = 33;
const ERROR_INVALID_NAME: i32 = 123;
const ERROR_DIRECTORY: i32 = 267;
const ERROR_CANT_RESOLVE_FILENAME: i32 = 1921;

/// Name and text of the number, if there is one for it.
pub(super) fn describe(error: &io::Error) -> Option<Description> {
    // Without a number, where this crate made the error, its kind tells.
    let (name, text) = match error.raw_os_error().unwrap_or_default() {
        ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION => ("EBUSY", "resource busy or locked"),
        ERROR_INVALID_NAME | ERROR_DIRECTORY => ("ENOENT", "no such file or directory"),
        ERROR_CANT_RESOLVE_FILENAME => ("ELOOP", "too many symbolic links encountered"),
        _ => by_kind(error.kind())?,
    };
    Some(Description { name, text })
}

fn by_kind(kind: ErrorKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        ErrorKind::PermissionDenied => ("EPERM", "operation not permitted"),
        ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
        ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", "directory not empty"),
        ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        ErrorKind::ResourceBusy => ("EBUSY", "resource busy or locked"),
        ErrorKind::InvalidFilename => ("ENAMETOOLONG", "name too long"),
        ErrorKind::CrossesDevices => ("EXDEV", "cross-device link not permitted"),
        ErrorKind::InvalidInput => ("EINVAL", "invalid argument"),
        ErrorKind::OutOfMemory => ("ENOMEM", "not enough memory"),
        _ => return None,
    })
}
