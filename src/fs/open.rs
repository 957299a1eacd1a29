//! Opening a target once, so that type, version and content are those of one and the same file.
//!
//! Contract: provider §6, §10.

use std::fs::{File, Metadata};
use std::io;

use crate::contract::{Code, FileType, FsError, Target};
use crate::fs::directory::Status;
use crate::fs::errno;
use crate::fs::place::Place;

#[cfg(unix)]
#[path = "open/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "open/windows.rs"]
mod platform;

/// Opens a path for reading, whatever it names: pipes and devices do not block, a terminal does
/// not become the process's own, a directory opens as well.
pub fn open_for_read(path: &str) -> io::Result<File> {
    platform::options().read(true).open(path)
}

/// Opens a target and takes its metadata from the descriptor; `None` if it is absent. The type is
/// the caller's to judge.
///
/// Errors: `NotRegularFile` for what cannot be opened because it is special; else the system's.
///
/// Contract: provider §6.
pub fn open_target(target: &Target, verb: &str) -> Result<Option<(File, Metadata)>, FsError> {
    let file = match open_for_read(&target.key) {
        Ok(file) => file,
        Err(error) if errno::is_absent(&error) => return Ok(None),
        Err(error) => return Err(not_opened(target, verb, &error, is_special(&target.key))),
    };
    match file.metadata() {
        Ok(meta) => Ok(Some((file, meta))),
        Err(error) => Err(errno::failure(verb, &target.display, &error, "fstat")),
    }
}

/// Opens a target in its place, as [`open_target`] does by its path.
pub fn open_place(
    target: &Target,
    place: &Place,
    verb: &str,
) -> Result<Option<(File, Status)>, FsError> {
    let special = || {
        let status = place.status().ok().flatten();
        status.is_some_and(|status| status.info.kind != FileType::File)
    };
    let file = match place.open() {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(None),
        Err(error) => return Err(not_opened(target, verb, &error, special())),
    };
    match file.metadata() {
        Ok(meta) => Ok(Some((file, Status::of(&meta)))),
        Err(error) => Err(errno::failure(verb, &target.display, &error, "fstat")),
    }
}

/// The failure to open what is there. Sockets cannot be opened, directories and pipes only with
/// permission: that they are `special` is the better answer.
fn not_opened(target: &Target, verb: &str, error: &io::Error, special: bool) -> FsError {
    if special {
        let cause = errno::cause(error, "open");
        return FsError {
            cause,
            ..not_regular(target, verb)
        };
    }
    errno::failure(verb, &target.display, error, "open")
}

/// The failure for a target of another type than a regular file.
pub fn not_regular(target: &Target, verb: &str) -> FsError {
    errno::cannot(
        Code::NotRegularFile,
        verb,
        &target.display,
        "not a regular file",
    )
}

fn is_special(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| !meta.is_file())
}
