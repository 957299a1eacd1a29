//! The whole-file write: check the guard, keep the former text for the diff, publish.
//!
//! Contract: provider §9.

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FileType, FsError, Operation, Target, WriteIntent, WriteOutcome};
use crate::fs::directory::Status;
use crate::fs::place::Place;
use crate::fs::{basis, errno, open, publish};
use crate::text::Text;

const VERB: &str = "write";

/// Creates `target` or replaces its content, with `content` stored verbatim (lone surrogates as
/// U+FFFD). Must run while the caller holds the mutation lock of the target's key.
///
/// `intent` is the guard, `None` writes unconditionally. `diff_basis_max` is the limit in bytes,
/// exclusive, of both sides for `before` of the outcome to be captured.
///
/// Errors, in the order of the checks: `NotRegularFile`; `StaleVersion` or `NotObserved` by the
/// guard; `Aborted`; those of [`publish::publish`]. A failure of the system is `PermissionDenied`,
/// `NotFound` or `IoError`.
///
/// Contract: provider §9.
pub fn write_text(
    target: &Target,
    place: &mut Place,
    content: Text,
    intent: Option<&WriteIntent>,
    diff_basis_max: u64,
    cancel: &CancellationToken,
) -> Result<WriteOutcome, FsError> {
    let existing = probe(target, place)?;
    check_guard(target, existing.as_ref(), intent)?;

    let stored = content.to_utf8();
    let comparable = existing.is_some() && (stored.len() as u64) < diff_basis_max;
    let before = if comparable {
        basis::capture(place, diff_basis_max, cancel)?
    } else {
        None
    };

    let no_replace = intent == Some(&WriteIntent::CreateIfAbsent);
    publish::publish(
        target,
        place,
        &[&stored],
        existing.as_ref(),
        no_replace,
        VERB,
        cancel,
    )?;

    Ok(WriteOutcome {
        operation: if existing.is_some() {
            Operation::Update
        } else {
            Operation::Create
        },
        version: version_after(target, place, VERB)?,
        before,
        after: content.into_lf(),
    })
}

/// The version of a target that was just published: `missing:<key>` if somebody has removed it
/// since. It is asked of the name, as the rename has changed the time of the file itself.
///
/// Errors: `PermissionDenied`, `IoError` where the file cannot be looked at any more.
///
/// Contract: provider §9 step 7.
pub fn version_after(target: &Target, place: &Place, verb: &str) -> Result<String, FsError> {
    match place.status() {
        Ok(Some(status)) => Ok(status.info.version),
        Ok(None) => Ok(format!("missing:{}", target.key)),
        Err(error) => Err(errno::failure(verb, &target.display, &error, "stat")),
    }
}

/// The file to replace, `None` if there is none.
fn probe(target: &Target, place: &Place) -> Result<Option<Status>, FsError> {
    match place.status() {
        Ok(Some(status)) if status.info.kind != FileType::File => {
            Err(open::not_regular(target, VERB))
        }
        Ok(status) => Ok(status),
        Err(error) => Err(errno::failure(VERB, &target.display, &error, "stat")),
    }
}

fn check_guard(
    target: &Target,
    existing: Option<&Status>,
    intent: Option<&WriteIntent>,
) -> Result<(), FsError> {
    match (intent, existing) {
        (None, _) | (Some(WriteIntent::CreateIfAbsent), None) => Ok(()),
        (Some(WriteIntent::CreateIfAbsent), Some(_)) => Err(publish::not_observed(target)),
        (Some(WriteIntent::ReplaceIfVersion(_)), None) => {
            Err(stale(target, "file no longer exists"))
        }
        (Some(WriteIntent::ReplaceIfVersion(version)), Some(status)) => {
            if status.info.version == *version {
                Ok(())
            } else {
                Err(stale(target, "file changed since it was read"))
            }
        }
    }
}

fn stale(target: &Target, why: &str) -> FsError {
    errno::cannot(Code::StaleVersion, VERB, &target.display, why)
}

#[cfg(test)]
mod tests;
