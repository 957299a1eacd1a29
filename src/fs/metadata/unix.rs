//! The version token on Unix systems.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::Stat;

use crate::contract::{FileType, Info};

pub(super) fn version_of(meta: &Metadata) -> String {
    let mtime = nanoseconds(meta.mtime(), meta.mtime_nsec());
    let ctime = nanoseconds(meta.ctime(), meta.ctime_nsec());
    token(meta.dev(), meta.ino(), meta.len(), mtime, ctime)
}

/// The same as `info_of`, from the system's own record.
#[allow(
    clippy::unnecessary_cast,
    reason = "the widths of the fields differ between systems"
)]
pub(in crate::fs) fn info_of_stat(stat: &Stat) -> Info {
    let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => FileType::File,
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        _ => FileType::Other,
    };
    let size = stat.st_size as u64;
    let mtime = nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64);
    let ctime = nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64);
    let version = token(stat.st_dev as u64, stat.st_ino as u64, size, mtime, ctime);
    Info {
        version,
        kind,
        size: Some(size),
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

fn token(dev: u64, ino: u64, size: u64, mtime: i128, ctime: i128) -> String {
    format!("{dev}:{ino}:{size}:{mtime}:{ctime}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tokio_util::sync::CancellationToken;

    use crate::contract::Code;
    use crate::fs::metadata::{info_of, lstat};

    use super::*;

    #[test]
    fn both_records_give_the_same_token() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        let stat = rustix::fs::stat(&path).unwrap();
        assert_eq!(info_of(&meta), info_of_stat(&stat));
        let fields: Vec<i128> = info_of(&meta)
            .version
            .split(':')
            .map(|field| field.parse().unwrap())
            .collect();
        assert_eq!(fields[..3], [meta.dev().into(), meta.ino().into(), 3]);
        let since_1970 = meta
            .modified()
            .unwrap()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        assert_eq!(fields[3], since_1970.as_nanos() as i128);
        assert_eq!(fields.len(), 5);
    }

    #[test]
    fn times_before_1970_are_one_negative_number() {
        assert_eq!(nanoseconds(-1, 500_000_000), -500_000_000);
    }

    #[test]
    fn a_change_of_the_mode_changes_the_token() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        let before = info_of(&std::fs::metadata(&path).unwrap());
        // The clock of the file system ticks every few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(30));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_ne!(
            before.version,
            info_of(&std::fs::metadata(&path).unwrap()).version
        );
    }

    #[test]
    fn edge_19_to_21_lstat_does_not_follow_the_last_component() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().to_str().unwrap();
        let cancel = CancellationToken::new();
        symlink("absent", dir.path().join("ghost")).unwrap();
        let info = lstat(base, "ghost", None, &cancel).unwrap().unwrap();
        assert_eq!((info.kind, info.size), (FileType::Symlink, Some(6)));
        std::fs::write(dir.path().join("leaf"), "").unwrap();
        assert_eq!(lstat(base, "leaf/x", None, &cancel).unwrap(), None);
        symlink(".", dir.path().join("dl")).unwrap();
        let info = lstat("/", "dl/", Some(base), &cancel).unwrap().unwrap();
        assert_eq!(info.kind, FileType::Symlink);
    }

    #[test]
    fn other_failures_are_typed() {
        let cancel = CancellationToken::new();
        let failure = lstat("/", &"n".repeat(256), None, &cancel).unwrap_err();
        assert_eq!(failure.code, Code::IoError);
        assert!(failure.message.ends_with("\": ENAMETOOLONG: name too long"));
    }
}
