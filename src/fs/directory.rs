//! An open directory, and what a mutation does with the names in it.
//!
//! A path is walked anew at every use, and may lead elsewhere each time. A handle stays with its
//! directory, so everything that is done relative to it happens in that directory.
//!
//! Names here are single components.

use std::fs::Metadata;

use crate::contract::Info;
use crate::fs::metadata::info_of;

#[cfg(unix)]
#[path = "directory/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "directory/windows.rs"]
mod platform;

pub use platform::{Directory, open_beneath, open_without_links};

/// Whether a link at the last component leads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// To what it names.
    Follow,
    /// No: it is itself what is meant.
    Keep,
}

/// What a mutation has to know of a file that is there.
#[derive(Clone, Debug)]
pub struct Status {
    /// Version, kind and size.
    pub info: Info,
    /// Permission and special bits.
    #[cfg(unix)]
    pub mode: u32,
}

impl Status {
    /// The status that the metadata of an open file tells.
    pub fn of(meta: &Metadata) -> Self {
        Status {
            info: info_of(meta),
            #[cfg(unix)]
            mode: std::os::unix::fs::MetadataExt::mode(meta),
        }
    }
}
