//! Directories of Windows.

use std::io;
use std::path::{Path, PathBuf};

use crate::contract::Info;
use crate::fs::metadata::info_of;

/// A directory by its path.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn open(path: &str) -> io::Result<Self> {
        if !std::fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Directory(Path::new(path).to_owned()))
    }

    /// The names of the children, lossily decoded.
    pub(super) fn names(&mut self) -> io::Result<Vec<String>> {
        std::fs::read_dir(&self.0)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    /// Metadata of a child, links not followed.
    pub(super) fn probe(&self, name: &str) -> io::Result<Info> {
        Ok(info_of(&std::fs::symlink_metadata(self.0.join(name))?))
    }
}
