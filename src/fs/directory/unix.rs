//! Directory handles on Unix systems.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::{Links, Status};
use crate::fs::metadata::info_of_stat;

/// A handle that need not be read from: where the system knows such, the right to search the
/// directory is enough.
#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A directory that stays the same whatever happens to its path.
#[derive(Debug)]
pub struct Directory(OwnedFd);

impl Directory {
    /// Opens the directory at `path`, links followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Directory(rustix::fs::open(path, DIRECTORY, Mode::empty())?))
    }

    /// Opens a directory in this one; a link is none.
    pub fn open_directory(&self, name: &OsStr) -> io::Result<Self> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let handle = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        Ok(Directory(handle))
    }

    /// Makes a directory with the usual rights.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from(0o777))?)
    }

    /// Makes a directory for the owner alone, and opens it. Where that fails, none is left.
    pub fn make_private_directory(&self, name: &OsStr) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.0, name, Mode::from(0o700))?;
        let opened = self.open_directory(name).and_then(Directory::made_private);
        if opened.is_err() {
            // The first error is the one to report.
            let _ = self.remove_directory(name);
        }
        opened
    }

    /// Gives the owner back what an odd umask has taken. The right to open a handle was not needed.
    fn made_private(self) -> io::Result<Self> {
        #[allow(
            clippy::useless_conversion,
            reason = "the width differs between systems"
        )]
        let mode = u32::from(rustix::fs::fstat(&self.0)?.st_mode) & 0o777;
        if mode & 0o077 != 0 {
            // Somebody has put another directory in the place of the one that was made.
            return Err(rustix::io::Errno::EXIST.into());
        }
        if mode != 0o700 {
            set_private_mode(&self.0)?;
        }
        Ok(self)
    }

    /// The status of what a name names.
    pub fn status(&self, name: &OsStr, links: Links) -> io::Result<Status> {
        let stat = rustix::fs::statat(&self.0, name, at_flags(links))?;
        Ok(Status {
            info: info_of_stat(&stat),
            #[allow(
                clippy::useless_conversion,
                reason = "the width differs between systems"
            )]
            mode: u32::from(stat.st_mode),
        })
    }

    /// Whether the two handles are of the same directory.
    #[cfg(test)]
    pub fn is_same(&self, other: &Directory) -> io::Result<bool> {
        let (one, two) = (rustix::fs::fstat(&self.0)?, rustix::fs::fstat(&other.0)?);
        Ok((one.st_dev, one.st_ino) == (two.st_dev, two.st_ino))
    }

    /// Opens a file for reading; pipes and devices do not block.
    pub fn open_file(&self, name: &OsStr, links: Links) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if links == Links::Keep {
            flags |= OFlags::NOFOLLOW;
        }
        let handle = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        Ok(File::from(handle))
    }

    /// Makes a file, which must not exist, for the owner alone, and opens it for writing.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.0, name, flags, Mode::from(0o600))?;
        Ok(File::from(handle))
    }

    /// Gives a file the name `to` in another directory, whatever has it now.
    pub fn rename(&self, name: &OsStr, directory: &Directory, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &directory.0, to)?)
    }

    /// Gives a file the second name `to` in another directory if nothing has it.
    pub fn link(&self, name: &OsStr, directory: &Directory, to: &OsStr) -> io::Result<()> {
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(&self.0, name, &directory.0, to, flags)?)
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

/// A handle that is not open for reading has its mode set through its name among the descriptors.
#[cfg(target_os = "linux")]
fn set_private_mode(directory: &OwnedFd) -> io::Result<()> {
    let name = format!("/proc/self/fd/{}", directory.as_raw_fd());
    Ok(rustix::fs::chmod(name, Mode::from(0o700))?)
}

#[cfg(not(target_os = "linux"))]
fn set_private_mode(directory: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::fchmod(directory, Mode::from(0o700))?)
}

fn at_flags(links: Links) -> AtFlags {
    match links {
        Links::Follow => AtFlags::empty(),
        Links::Keep => AtFlags::SYMLINK_NOFOLLOW,
    }
}

/// Opens the directory at the absolute `path`, in which no component may be a link.
pub fn open_without_links(path: &Path) -> io::Result<Directory> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = in_one_step::open_without_links(path) {
        return opened;
    }
    let root = Directory::open(Path::new("/"))?;
    walk_beneath(&root, path.strip_prefix("/").unwrap_or(path))
}

/// Opens the directory at the relative `path` below `base`. No component may be a link, so the
/// way cannot lead out.
pub fn open_beneath(base: &Directory, path: &Path) -> io::Result<Directory> {
    // An empty path names the base itself.
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    #[cfg(target_os = "linux")]
    if let Some(opened) = in_one_step::open_beneath(base, path) {
        return opened;
    }
    walk_beneath(base, path)
}

/// [`open_beneath`] for systems that cannot do it in one step: each component from the handle of
/// the one before.
fn walk_beneath(base: &Directory, path: &Path) -> io::Result<Directory> {
    let mut directory = base.open_directory(OsStr::new("."))?;
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => directory = directory.open_directory(name)?,
            _ => return Err(rustix::io::Errno::XDEV.into()),
        }
    }
    Ok(directory)
}

#[cfg(target_os = "linux")]
mod in_one_step {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    use rustix::io::Errno;

    use super::{DIRECTORY, Directory};

    /// False once the system has refused the call itself.
    static AVAILABLE: AtomicBool = AtomicBool::new(true);

    pub(super) fn open_without_links(path: &Path) -> Option<io::Result<Directory>> {
        open(CWD, path, ResolveFlags::NO_SYMLINKS)
    }

    pub(super) fn open_beneath(base: &Directory, path: &Path) -> Option<io::Result<Directory>> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        open(base.0.as_fd(), path, resolve)
    }

    /// `None` where the system lacks the call, or a filter of system calls forbids it.
    fn open(
        base: BorrowedFd<'_>,
        path: &Path,
        resolve: ResolveFlags,
    ) -> Option<io::Result<Directory>> {
        if !AVAILABLE.load(Ordering::Relaxed) {
            return None;
        }
        match openat2(base, path, DIRECTORY, Mode::empty(), resolve) {
            Ok(handle) => Some(Ok(Directory(handle))),
            // A filter may answer EPERM, which can also be the directory's own: the walk tells.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
                if openat2(base, ".", DIRECTORY, Mode::empty(), resolve).is_err() {
                    AVAILABLE.store(false, Ordering::Relaxed);
                }
                None
            }
            Err(error) => Some(Err(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// `root/a/b`, a link `root/inner` to `a`, a link `root/out` to a directory beside `root`.
    fn scene() -> (tempfile::TempDir, Directory) {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("root/a/b")).unwrap();
        std::fs::create_dir(at("beside")).unwrap();
        std::fs::write(at("root/file"), "").unwrap();
        symlink("a", at("root/inner")).unwrap();
        symlink(at("beside"), at("root/out")).unwrap();
        let root = Directory::open(&at("root")).unwrap();
        (dir, root)
    }

    #[test]
    fn both_ways_open_the_same_and_refuse_the_same() {
        let (dir, root) = scene();
        for (path, opens) in [
            ("", true),
            (".", true),
            ("a", true),
            ("a/b", true),
            ("inner", false),
            ("inner/b", false),
            ("out", false),
            ("..", false),
            ("a/../../beside", false),
            ("file", false),
            ("absent", false),
        ] {
            let path = Path::new(path);
            let ways = [open_beneath(&root, path), walk_beneath(&root, path)];
            for opened in ways {
                assert_eq!(opened.is_ok(), opens, "{path:?}: {opened:?}");
                if let Ok(opened) = opened {
                    let plain = Directory::open(&dir.path().join("root").join(path)).unwrap();
                    assert!(opened.is_same(&plain).unwrap());
                }
            }
        }
    }

    #[test]
    fn an_absolute_path_may_have_no_link() {
        let (dir, _) = scene();
        let real = dir.path().canonicalize().unwrap();
        assert!(open_without_links(&real.join("root/a")).is_ok());
        assert!(open_without_links(&real.join("root/inner/b")).is_err());
    }

    #[test]
    fn a_private_directory_is_made_new_and_for_the_owner() {
        let (_dir, root) = scene();
        let name = OsStr::new("private");
        root.make_private_directory(name).unwrap();
        assert_eq!(root.status(name, Links::Keep).unwrap().mode & 0o777, 0o700);
        assert!(root.make_private_directory(name).is_err());
        assert!(root.make_private_directory(OsStr::new("out")).is_err());
    }

    #[test]
    fn a_directory_that_is_not_the_one_that_was_made_keeps_its_mode() {
        let (_dir, root) = scene();
        let before = root.status(OsStr::new("a"), Links::Keep).unwrap().mode;
        let other = root.open_directory(OsStr::new("a")).unwrap();
        assert!(other.made_private().is_err());
        assert_eq!(
            root.status(OsStr::new("a"), Links::Keep).unwrap().mode,
            before
        );
    }

    #[test]
    fn a_handle_stays_with_its_directory() {
        let (dir, root) = scene();
        let inside = open_beneath(&root, Path::new("a/b")).unwrap();
        std::fs::rename(dir.path().join("root/a"), dir.path().join("root/moved")).unwrap();
        symlink(dir.path().join("beside"), dir.path().join("root/a")).unwrap();
        inside.create_file(OsStr::new("f")).unwrap();
        assert!(dir.path().join("root/moved/b/f").exists());
        assert_eq!(
            std::fs::read_dir(dir.path().join("beside"))
                .unwrap()
                .count(),
            0
        );
    }
}
