//! Atomic publication: the new content is staged beside the target, synced, and takes the name of
//! the target in one step. Readers see the old file or the new one, never a part. All of it is
//! relative to the handle of the target's directory (`place`).
//!
//! ```text
//!  parents -> staging directory (0700) -> file (0600) -> content, fsync -> mode
//!          -> rename onto the target, or hard link where nothing may be replaced -> clean
//! ```
//!
//! The staging directory goes away whatever happens, and no message names it.
//!
//! Contract: provider §11.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FileType, FsError, Target};
use crate::fs::directory::{Directory, Status};
use crate::fs::place::Place;
use crate::fs::{errno, open};

#[cfg(unix)]
#[path = "publish/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "publish/windows.rs"]
mod platform;

/// Bytes that are written between two looks at the cancellation.
const STEP: usize = 1 << 20;

/// Slices below this size are gathered, so that an edit with many small pieces does not cost a
/// system call for each.
const GATHER: usize = 64 * 1024;

/// Publishes `chunks`, one after the other, as the content of `target`, whose place is `place`.
///
/// `existing` is the status of the file to replace; a new file has mode 0600, a replaced one
/// keeps the former `mode & 0777`. With `no_replace` the target must not exist at the moment of
/// publication. `verb` is for the messages ("write", "edit"). Missing parents are made and stay.
///
/// Errors: `Aborted` ("write aborted", for every verb) up to the last step before the name is
/// taken; with `no_replace` `NotRegularFile`, `NotObserved` and `IoError` where the name is taken
/// or cannot be given; else `PermissionDenied`, `NotFound` or `IoError` by the system. `NotFound`
/// with both reasons if, after a failure, the staging directory cannot be removed either. An error
/// of closing the staged file is not seen: it was synced before.
///
/// Contract: provider §11.
pub fn publish(
    target: &Target,
    place: &mut Place,
    chunks: &[&[u8]],
    existing: Option<&Status>,
    no_replace: bool,
    verb: &str,
    cancel: &CancellationToken,
) -> Result<(), FsError> {
    Publication {
        target,
        chunks,
        existing,
        no_replace,
        verb,
        cancel,
    }
    .run(place, &System)
}

/// The refusal to replace a file that the caller has not seen.
///
/// Contract: provider §9 step 4, §11.
pub fn not_observed(target: &Target) -> FsError {
    let path = &target.display;
    let message = format!("cannot overwrite existing \"{path}\" without reading it first");
    FsError::new(Code::NotObserved, message)
}

/// The staged content, and the directory and name that it is for.
struct Staged<'a> {
    parent: &'a Directory,
    name: &'a OsStr,
    staging: &'a Directory,
    staging_name: &'a OsStr,
    file_name: &'a OsStr,
}

/// The steps that only a fault can make fail; tests put faults in their place.
trait Steps {
    /// Gives the staged file the name of the target, whatever has it now.
    fn replace(&self, staged: &Staged<'_>, existed: bool) -> io::Result<()> {
        platform::replace(staged, existed)
    }

    /// Gives the staged file the name of the target if nothing has it.
    fn link(&self, staged: &Staged<'_>) -> io::Result<()> {
        let Staged { parent, name, .. } = staged;
        staged.staging.link(staged.file_name, parent, name)
    }

    /// Removes the staging directory and what is left in it.
    fn clean(&self, staged: &Staged<'_>) -> io::Result<()> {
        let remove = || staged.parent.remove_directory(staged.staging_name);
        // After a rename nothing is left in it.
        let removed = remove().or_else(|_| {
            // What matters is whether the directory goes.
            let _ = staged.staging.remove_file(staged.file_name);
            remove()
        });
        match removed {
            Err(error) if !errno::is_absent(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

/// The steps as the system does them.
struct System;

impl Steps for System {}

struct Publication<'a> {
    target: &'a Target,
    chunks: &'a [&'a [u8]],
    existing: Option<&'a Status>,
    no_replace: bool,
    verb: &'a str,
    cancel: &'a CancellationToken,
}

impl Publication<'_> {
    fn run<S: Steps>(&self, place: &mut Place, steps: &S) -> Result<(), FsError> {
        self.check_cancel()?;
        place
            .ensure_parent()
            .map_err(|error| self.failure(&error, "mkdir"))?;
        self.check_cancel()?;
        let place = &*place;
        let parent = place
            .parent()
            .map_err(|error| self.failure(&error, "mkdir"))?;
        let staging_name = staging_name(place.name());
        let staging = parent
            .make_private_directory(&staging_name)
            .map_err(|error| self.failure(&error, "mkdir"))?;
        let staged = Staged {
            parent,
            name: place.name(),
            staging: &staging,
            staging_name: &staging_name,
            file_name: &staged_name(place.name()),
        };

        let published = self.stage_and_take_name(steps, &staged, place);
        match (published, steps.clean(&staged)) {
            // The content is in place; what is left behind is no reason to call that a failure.
            (Ok(()), _) => Ok(()),
            (Err(failure), Ok(())) => Err(failure),
            (Err(failure), Err(error)) => Err(cleanup_failed(failure, &error)),
        }
    }

    fn stage_and_take_name<S: Steps>(
        &self,
        steps: &S,
        staged: &Staged<'_>,
        place: &Place,
    ) -> Result<(), FsError> {
        let file = platform::create_file(staged, self.existing.is_some())
            .map_err(|error| self.failure(&error, "open"))?;
        self.write_content(&file)?;
        file.sync_all()
            .map_err(|error| self.failure(&error, "fsync"))?;
        if let Some(status) = self.existing {
            platform::restore_mode(&file, status)
                .map_err(|error| self.failure(&error, "fchmod"))?;
        }
        drop(file);
        self.check_cancel()?;

        if self.no_replace {
            return steps
                .link(staged)
                .map_err(|error| self.link_failure(place, &error));
        }
        steps
            .replace(staged, self.existing.is_some())
            .map_err(|error| self.failure(&error, "rename"))
    }

    fn write_content(&self, file: &File) -> Result<(), FsError> {
        let mut out = BufWriter::with_capacity(GATHER, file);
        let mut unchecked = STEP;
        for piece in self.chunks.iter().flat_map(|chunk| chunk.chunks(STEP)) {
            if unchecked + piece.len() > STEP {
                self.check_cancel()?;
                unchecked = 0;
            }
            unchecked += piece.len();
            out.write_all(piece)
                .map_err(|error| self.failure(&error, "write"))?;
        }
        out.flush().map_err(|error| self.failure(&error, "write"))?;
        self.check_cancel()
    }

    /// What it means that the name could not be given without replacing anything.
    fn link_failure(&self, place: &Place, error: &io::Error) -> FsError {
        let target = self.target;
        let io_error = |reason: &io::Error| {
            errno::cannot(
                Code::IoError,
                self.verb,
                &target.display,
                &errno::reason(reason),
            )
        };
        let failure = match place.status_of_name() {
            Ok(status) if status.info.kind != FileType::File => {
                open::not_regular(target, self.verb)
            }
            Ok(_) => not_observed(target),
            Err(probe) if !errno::is_absent(&probe) => io_error(&probe),
            // Whoever had the name has given it up meanwhile, but it was taken.
            Err(_) if error.kind() == io::ErrorKind::AlreadyExists => not_observed(target),
            Err(_) => io_error(error),
        };
        FsError {
            cause: errno::cause(error, "link"),
            ..failure
        }
    }

    fn failure(&self, error: &io::Error, syscall: &'static str) -> FsError {
        errno::failure(self.verb, &self.target.display, error, syscall)
    }

    fn check_cancel(&self) -> Result<(), FsError> {
        if self.cancel.is_cancelled() {
            Err(FsError::aborted("write"))
        } else {
            Ok(())
        }
    }
}

fn cleanup_failed(failure: FsError, error: &io::Error) -> FsError {
    let FsError { message, cause, .. } = failure;
    let reason = errno::reason(error);
    let message = format!("write failed ({message}) and temp cleanup failed ({reason})");
    FsError {
        code: Code::NotFound,
        message,
        cause,
    }
}

/// `.<name>.<process>.<random UUID>.tmpdir`.
fn staging_name(name: &OsStr) -> OsString {
    let mut staging = OsString::from(".");
    staging.push(name);
    staging.push(format!(".{}.{}.tmpdir", std::process::id(), random_uuid()));
    staging
}

fn staged_name(name: &OsStr) -> OsString {
    let mut staged = name.to_owned();
    staged.push(".tmp");
    staged
}

/// A version 4 UUID. The name only has to be new, which the exclusive mkdir ensures; each
/// [`RandomState`] has keys of its own, from the system's random numbers.
fn random_uuid() -> String {
    let random = || u128::from(RandomState::new().hash_one(std::process::id()));
    let bits = random() << 64 | random();
    let version = 0x4u128 << 76;
    let variant = 0x2u128 << 62;
    let bits = bits & !(0xFu128 << 76 | 0x3u128 << 62) | version | variant;
    let hex = format!("{bits:032x}");
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

#[cfg(test)]
mod tests;
