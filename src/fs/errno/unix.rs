//! Error numbers of Unix systems.

use std::io;

use rustix::io::Errno;

use super::Description;

/// Name and text of the number, if Node has one for it.
pub(super) fn describe(error: &io::Error) -> Option<Description> {
    let number = error.raw_os_error()?;
    TABLE
        .iter()
        .find(|(errno, ..)| errno.raw_os_error() == number)
        .map(|&(_, name, text)| Description { name, text })
}

/// What file operations can give; the common ones first.
const TABLE: &[(Errno, &str, &str)] = &[
    (Errno::NOENT, "ENOENT", "no such file or directory"),
    (Errno::NOTDIR, "ENOTDIR", "not a directory"),
    (Errno::ACCESS, "EACCES", "permission denied"),
    (Errno::PERM, "EPERM", "operation not permitted"),
    (Errno::EXIST, "EEXIST", "file already exists"),
    (Errno::LOOP, "ELOOP", "too many symbolic links encountered"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG", "name too long"),
    (Errno::NOSPC, "ENOSPC", "no space left on device"),
    (Errno::ROFS, "EROFS", "read-only file system"),
    (Errno::BUSY, "EBUSY", "resource busy or locked"),
    (Errno::ISDIR, "EISDIR", "illegal operation on a directory"),
    (Errno::MFILE, "EMFILE", "too many open files"),
    (Errno::NFILE, "ENFILE", "file table overflow"),
    (Errno::IO, "EIO", "i/o error"),
    (Errno::XDEV, "EXDEV", "cross-device link not permitted"),
    (Errno::NOTEMPTY, "ENOTEMPTY", "directory not empty"),
    (Errno::FBIG, "EFBIG", "file too large"),
    (Errno::MLINK, "EMLINK", "too many links"),
    (Errno::TXTBSY, "ETXTBSY", "text file is busy"),
    (Errno::NXIO, "ENXIO", "no such device or address"),
    (Errno::NODEV, "ENODEV", "no such device"),
    (Errno::INVAL, "EINVAL", "invalid argument"),
    (Errno::NOMEM, "ENOMEM", "not enough memory"),
    (Errno::NOSYS, "ENOSYS", "function not implemented"),
    (
        Errno::OPNOTSUPP,
        "ENOTSUP",
        "operation not supported on socket",
    ),
    (
        Errno::NOTSUP,
        "ENOTSUP",
        "operation not supported on socket",
    ),
    (
        Errno::OVERFLOW,
        "EOVERFLOW",
        "value too large for defined data type",
    ),
    (Errno::AGAIN, "EAGAIN", "resource temporarily unavailable"),
    (Errno::INTR, "EINTR", "interrupted system call"),
    (Errno::BADF, "EBADF", "bad file descriptor"),
    (Errno::SPIPE, "ESPIPE", "invalid seek"),
    (Errno::PIPE, "EPIPE", "broken pipe"),
    (
        Errno::FAULT,
        "EFAULT",
        "bad address in system call argument",
    ),
    (Errno::TIMEDOUT, "ETIMEDOUT", "connection timed out"),
    (Errno::CANCELED, "ECANCELED", "operation canceled"),
    (Errno::NOTCONN, "ENOTCONN", "socket is not connected"),
    (Errno::ILSEQ, "EILSEQ", "illegal byte sequence"),
];

#[cfg(test)]
mod tests {
    use crate::contract::{Code, SystemCause};
    use crate::fs::errno::{failure, is_absent};

    use super::*;

    #[test]
    fn permission_and_absence_have_words_of_their_own() {
        for (errno, code, message) in [
            (
                Errno::ACCESS,
                Code::PermissionDenied,
                "cannot read \"/x\": permission denied",
            ),
            (
                Errno::PERM,
                Code::PermissionDenied,
                "cannot read \"/x\": permission denied",
            ),
            (
                Errno::NOENT,
                Code::NotFound,
                "cannot read \"/x\": not found",
            ),
            (
                Errno::NOTDIR,
                Code::NotFound,
                "cannot read \"/x\": not found",
            ),
        ] {
            let failure = failure("read", "/x", &errno.into(), "open");
            assert_eq!((failure.code, failure.message.as_str()), (code, message));
        }
    }

    #[test]
    fn others_carry_the_text_of_node() {
        let failure = failure("write", "/x", &Errno::NOSPC.into(), "write");
        assert_eq!(failure.code, Code::IoError);
        assert_eq!(
            failure.message,
            "cannot write \"/x\": ENOSPC: no space left on device"
        );
        let cause = SystemCause {
            code: "ENOSPC",
            errno: Errno::NOSPC.raw_os_error(),
            syscall: "write",
        };
        assert_eq!(failure.cause, Some(cause));
    }

    #[test]
    fn only_absence_is_absent() {
        assert!(is_absent(&Errno::NOENT.into()));
        assert!(is_absent(&Errno::NOTDIR.into()));
        assert!(!is_absent(&Errno::LOOP.into()));
    }
}
