//! Opening on Unix systems.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

/// `O_NONBLOCK | O_NOCTTY`; `O_CLOEXEC` is `std`'s own.
pub(super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // Both flags are low bits on every system.
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    options
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use crate::contract::{Code, Target};
    use crate::fs::open::open_target;

    fn target(path: &std::path::Path) -> Target {
        let path = path.to_str().unwrap().to_owned();
        Target {
            key: path.clone(),
            display: path,
        }
    }

    #[test]
    fn pipes_and_directories_open_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        for path in [pipe.as_path(), dir.path()] {
            let (_, meta) = open_target(&target(path), "read").unwrap().unwrap();
            assert!(!meta.is_file());
        }
    }

    #[test]
    fn a_socket_is_not_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let _listener = UnixListener::bind(&path).unwrap();
        let failure = open_target(&target(&path), "edit").unwrap_err();
        assert_eq!(failure.code, Code::NotRegularFile);
        assert_eq!(
            failure.message,
            format!("cannot edit \"{}\": not a regular file", path.display())
        );
    }

    #[test]
    fn an_absent_target_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let absent = target(&dir.path().join("absent"));
        assert!(open_target(&absent, "read").unwrap().is_none());
    }
}
