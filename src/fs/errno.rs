//! How a failure of the system becomes a failure of the contract.
//!
//! The reader of a message is a model or a user: it gets the path as they spelled it and the text
//! that Node has for the error number, never a path of our own.
//!
//! Contract: provider §7 and §14.

use std::io;

use crate::contract::{Code, FsError, SystemCause};

#[cfg(unix)]
#[path = "errno/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "errno/windows.rs"]
mod platform;

/// Name and text of an error number, as Node gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Such as `ELOOP`.
    pub name: &'static str,
    /// Such as `too many symbolic links encountered`.
    pub text: &'static str,
}

const UNKNOWN: Description = Description {
    name: "UNKNOWN",
    text: "unknown error",
};

/// Name and text of the error number behind `error`.
pub fn describe(error: &io::Error) -> Description {
    platform::describe(error).unwrap_or(UNKNOWN)
}

/// `<NAME>: <text>` of an error, for messages that carry a reason of their own.
pub fn reason(error: &io::Error) -> String {
    if is_nul_in_path(error) {
        return "path contains a NUL byte".to_owned();
    }
    let Description { name, text } = describe(error);
    format!("{name}: {text}")
}

/// The failure of `cannot <verb> "<display>"` for a system error; `syscall` names the operation
/// for `cause`.
///
/// EACCES and EPERM are `PermissionDenied`, ENOENT and ENOTDIR `NotFound`, all others `IoError`.
///
/// Contract: provider §14.
pub fn failure(verb: &str, display: &str, error: &io::Error, syscall: &'static str) -> FsError {
    let (code, why) = match describe(error).name {
        "EACCES" | "EPERM" => (Code::PermissionDenied, "permission denied".to_owned()),
        "ENOENT" | "ENOTDIR" => (Code::NotFound, "not found".to_owned()),
        _ => (Code::IoError, reason(error)),
    };
    FsError {
        cause: cause(error, syscall),
        ..cannot(code, verb, display, &why)
    }
}

/// A failure `cannot <verb> "<display>": <why>` without a system error behind it.
pub fn cannot(code: Code, verb: &str, display: &str, why: &str) -> FsError {
    FsError::new(code, format!("cannot {verb} \"{display}\": {why}"))
}

/// The system error as `cause`, if `error` came from the system at all.
pub fn cause(error: &io::Error, syscall: &'static str) -> Option<SystemCause> {
    let errno = error.raw_os_error()?;
    Some(SystemCause {
        code: describe(error).name,
        errno,
        syscall,
    })
}

/// Whether the error says that there is nothing at the path (ENOENT, ENOTDIR).
pub fn is_absent(error: &io::Error) -> bool {
    matches!(describe(error).name, "ENOENT" | "ENOTDIR")
}

/// Whether the error of opening a path without links says that a link, or something else that is
/// no directory, stands in the way now.
pub fn is_other_way(error: &io::Error) -> bool {
    matches!(
        describe(error).name,
        "ELOOP" | "ENOTDIR" | "EXDEV" | "EAGAIN"
    ) || error.kind() == io::ErrorKind::NotADirectory
}

/// `std` refuses such paths itself, without an error number.
fn is_nul_in_path(error: &io::Error) -> bool {
    error.raw_os_error().is_none() && error.kind() == io::ErrorKind::InvalidInput
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_byte_is_named() {
        let error = std::fs::metadata("a\0b").unwrap_err();
        let failure = failure("stat", "a\0b", &error, "stat");
        assert_eq!(failure.code, Code::IoError);
        assert_eq!(
            failure.message,
            "cannot stat \"a\0b\": path contains a NUL byte"
        );
        assert_eq!(failure.cause, None);
    }

    #[test]
    fn an_error_without_a_number_is_unknown() {
        let error = io::Error::other("whatever");
        assert_eq!(
            failure("read", "/x", &error, "read").message,
            "cannot read \"/x\": UNKNOWN: unknown error"
        );
    }
}
