//! The edit: find a text, put another in its place, publish. Only the bytes that matched change.
//!
//! ```text
//!  open, fstat (type, version) -> read -> UTF-8
//!    -> matching  where the old text occurs, CRLF and LF being equal
//!    -> splice    the new text with the line breaks of its surroundings
//!    -> publish
//! ```
//!
//! Contract: provider §10 and decisions D11, D13, D18, D19.

mod matching;
mod splice;

use std::borrow::Cow;
use std::fs::File;

use tokio_util::sync::CancellationToken;

use self::matching::Match;
use crate::contract::{Code, EditOutcome, EditRequest, FileType, FsError, Target};
use crate::fs::directory::Status;
use crate::fs::place::Place;
use crate::fs::{errno, metadata, open, publish, read, write};
use crate::text::{Text, to_lf, utf16_len, without_bom};

const VERB: &str = "edit";

/// Replaces `edit.old` by `edit.new` in `target`. Must run while the caller holds the mutation
/// lock of the target's key. `expected` is the version that the file must have, `None` edits any.
///
/// Everything outside the matches stays as it is, byte-order mark and line breaks included; line
/// breaks in the new text take the style of their surroundings.
///
/// Errors, in the order of the checks: `StaleVersion` (absent, or another version),
/// `NotRegularFile`, `Aborted`, `TooLarge`, `NotText`, `EditNotFound`, `AmbiguousEdit`, then those
/// of [`publish::publish`]. A failure of the system is `PermissionDenied`, `NotFound` or `IoError`.
///
/// Contract: provider §10.
pub fn edit_text(
    target: &Target,
    place: &mut Place,
    edit: &EditRequest,
    expected: Option<&str>,
    cancel: &CancellationToken,
) -> Result<EditOutcome, FsError> {
    let (mut file, status) = open_expected(target, place, expected)?;
    let mut bytes = read_content(target, &mut file, &status, cancel)?;
    let raw = without_bom(&bytes);
    let mark = bytes.len() - raw.len();
    let before = to_lf(raw);
    check_length(target, units(&before))?;

    let old = edit.old.to_lf();
    let matches = find(target, raw, &before, &old, edit.replace_all)?;
    let new = edit.new.to_lf();
    check_length(target, units_after(&before, &old, &new, matches.len()))?;

    let after = splice::replace_lf(&before, &matches, &new);
    let stored = edit.new.to_utf8();
    let stored = to_lf(&stored);
    let stored = splice::NewText::of(&stored);
    let mut chunks = vec![&bytes[..mark]];
    chunks.extend(splice::pieces(raw, &matches, &stored));
    let existing = Some(&status);
    publish::publish(target, place, &chunks, existing, false, VERB, cancel)?;

    drop(chunks);
    // A file without CRLF is its own LF form; the mark is all that has to go.
    let normalised = if let Cow::Owned(normalised) = before {
        Some(normalised)
    } else {
        None
    };
    let before = normalised.unwrap_or_else(|| {
        bytes.drain(..mark);
        bytes
    });
    Ok(EditOutcome {
        version: write::version_after(target, place, VERB)?,
        before: Text::from_valid(before),
        after: Text::from_valid(after),
    })
}

/// Opens the file and checks that it is the one that the caller means.
fn open_expected(
    target: &Target,
    place: &Place,
    expected: Option<&str>,
) -> Result<(File, Status), FsError> {
    let changed = || {
        let why = "file changed since it was read";
        errno::cannot(Code::StaleVersion, VERB, &target.display, why)
    };
    let (file, status) = open::open_place(target, place, VERB)?.ok_or_else(changed)?;
    if status.info.kind != FileType::File {
        return Err(open::not_regular(target, VERB));
    }
    match expected {
        Some(version) if status.info.version != version => Err(changed()),
        _ => Ok((file, status)),
    }
}

/// Reads the whole file, which must be text.
fn read_content(
    target: &Target,
    file: &mut File,
    status: &Status,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, FsError> {
    metadata::check(cancel, VERB)?;
    let fewest_units = |bytes: u64| usize::try_from(bytes.div_ceil(3)).unwrap_or(usize::MAX);
    let size = status.info.size.unwrap_or(0);
    check_length(target, fewest_units(size))?;
    let bytes = read::read_all(file, size, cancel)
        .map_err(|error| errno::failure(VERB, &target.display, &error, "read"))?
        .ok_or_else(|| FsError::aborted(VERB))?;
    let not_text = |why| errno::cannot(Code::NotText, VERB, &target.display, why);
    if read::is_binary(&bytes) {
        return Err(not_text("binary file"));
    }
    check_length(target, fewest_units(bytes.len() as u64))?;
    if simdutf8::basic::from_utf8(&bytes).is_err() {
        return Err(not_text("invalid UTF-8 text"));
    }
    Ok(bytes)
}

/// The matches to replace: all of them, or the only one.
fn find(
    target: &Target,
    raw: &[u8],
    lf: &[u8],
    old: &[u8],
    replace_all: bool,
) -> Result<Vec<Match>, FsError> {
    let not_found = |message: String| FsError::new(Code::EditNotFound, message);
    if old.is_empty() {
        return Err(not_found(
            "old_string must be a non-empty string".to_owned(),
        ));
    }
    let path = &target.display;
    let matches = matching::find_all(raw, lf, old);
    match matches.len() {
        0 => Err(not_found(format!("old_string was not found in \"{path}\""))),
        1 => Ok(matches),
        _ if replace_all => Ok(matches),
        count => Err(FsError::new(
            Code::AmbiguousEdit,
            format!(
                "old_string matched {count} times in \"{path}\"; provide a more specific \
                 old_string or set replace_all to true"
            ),
        )),
    }
}

/// Fails for texts that JavaScript could not hold as a string.
fn check_length(target: &Target, units: usize) -> Result<(), FsError> {
    let limit = read::MAX_STRING_UNITS;
    if units <= limit {
        return Ok(());
    }
    let why = format!("content exceeds the {limit}-character limit");
    Err(errno::cannot(Code::TooLarge, VERB, &target.display, &why))
}

/// Units of a text, or its bytes where these are within the limit already.
fn units(text: &[u8]) -> usize {
    if text.len() <= read::MAX_STRING_UNITS {
        text.len()
    } else {
        utf16_len(text)
    }
}

/// [`units`] of `before` with `count` times `old` replaced by `new`, which need not exist yet.
fn units_after(before: &[u8], old: &[u8], new: &[u8], count: usize) -> usize {
    let after = |len: fn(&[u8]) -> usize| {
        let kept = len(before).saturating_sub(count.saturating_mul(len(old)));
        kept.saturating_add(count.saturating_mul(len(new)))
    };
    let bytes = after(<[u8]>::len);
    if bytes <= read::MAX_STRING_UNITS {
        bytes
    } else {
        after(utf16_len)
    }
}

#[cfg(test)]
mod tests;
