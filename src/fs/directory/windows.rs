//! Directory handles on Windows.
//!
//! A handle that does not share deletion keeps its directory, and all directories above it, from
//! being renamed or removed while it is open. So a path that was right once the handle was had
//! stays right, and names are used by path.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_SHARE_READ, FILE_SHARE_WRITE,
};

use super::{Links, Status};

/// Opens the directory at the absolute `path`, in which no component may be a link.
pub fn open_without_links(path: &Path) -> io::Result<Directory> {
    let opened = Directory::open(path)?;
    if opened.path == path {
        Ok(opened)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

/// Opens the directory at the relative `path` below `base`, in which no component may be a link.
pub fn open_beneath(base: &Directory, path: &Path) -> io::Result<Directory> {
    open_without_links(&base.path.join(path))
}

/// A directory that cannot be moved while this value lives.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _handle: File,
}

impl Directory {
    /// Opens the directory at `path`, links followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = OpenOptions::new()
            .read(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)?;
        Ok(Directory {
            path: std::fs::canonicalize(path)?,
            _handle: handle,
        })
    }

    /// Opens a directory in this one; a link is none.
    pub fn open_directory(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path_of(name);
        let opened = Directory::open(&path)?;
        if opened.path == path {
            Ok(opened)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Makes a directory; it inherits the access control list of this one.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<()> {
        std::fs::create_dir(self.path_of(name))
    }

    /// Makes a directory as [`Directory::make_directory`] does, and opens it.
    pub fn make_private_directory(&self, name: &OsStr) -> io::Result<Self> {
        self.make_directory(name)?;
        let opened = self.open_directory(name);
        if opened.is_err() {
            // The first error is the one to report.
            let _ = self.remove_directory(name);
        }
        opened
    }

    /// The status of what a name names.
    pub fn status(&self, name: &OsStr, links: Links) -> io::Result<Status> {
        let path = self.path_of(name);
        let meta = match links {
            Links::Follow => std::fs::metadata(path),
            Links::Keep => std::fs::symlink_metadata(path),
        };
        meta.map(|meta| Status::of(&meta))
    }

    /// Opens a file for reading.
    pub fn open_file(&self, name: &OsStr, links: Links) -> io::Result<File> {
        let path = self.path_of(name);
        if links == Links::Keep && std::fs::symlink_metadata(&path)?.is_symlink() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        File::open(path)
    }

    /// Makes a file, which must not exist, and opens it for writing.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        let path = self.path_of(name);
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    /// Gives a file the name `to` in another directory, whatever has it now.
    pub fn rename(&self, name: &OsStr, directory: &Directory, to: &OsStr) -> io::Result<()> {
        std::fs::rename(self.path_of(name), directory.path_of(to))
    }

    /// Gives a file the second name `to` in another directory if nothing has it.
    pub fn link(&self, name: &OsStr, directory: &Directory, to: &OsStr) -> io::Result<()> {
        std::fs::hard_link(self.path_of(name), directory.path_of(to))
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.path_of(name))
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_dir(self.path_of(name))
    }

    /// The path of a name in this directory.
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }
}
