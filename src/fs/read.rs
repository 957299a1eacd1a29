//! Whole-file reads.
//!
//! Contract: provider §6.

use std::fs::{File, Metadata};
use std::io;

use tokio_util::sync::CancellationToken;

use crate::contract::{Code, FsError, Target};
use crate::fs::metadata::check;
use crate::fs::{errno, open};
use crate::memory;
use crate::text::{self, Text};

#[cfg(unix)]
#[path = "read/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "read/windows.rs"]
mod platform;

/// The longest JavaScript string, in UTF-16 units.
pub const MAX_STRING_UNITS: usize = 536_870_888;

/// Bytes beyond which a text has more than [`MAX_STRING_UNITS`] units: none takes more than three.
pub const MAX_TEXT_BYTES: usize = 3 * MAX_STRING_UNITS;

/// How many bytes from the start of a file decide whether it is binary.
pub const BINARY_SAMPLE: usize = 8192;

/// Between two looks at the token at most this many bytes are read.
const STEP: usize = 1 << 20;

/// What is read at once of a file that claims to be empty, as those of procfs do. Some of them
/// give their content to the first read only.
pub(super) const UNKNOWN_SIZE: usize = 64 << 10;

/// The text of a target, one leading byte-order mark dropped.
///
/// Errors: `Aborted` (`read aborted`), `NotFound`, `NotRegularFile`; `NotText` for a NUL in the
/// first [`BINARY_SAMPLE`] bytes or for bytes that are not UTF-8; `TooLarge` beyond
/// [`MAX_STRING_UNITS`]; else the system's, as `cannot read "<display>"`.
///
/// Contract: provider §6.
pub fn read_text(target: &Target, cancel: &CancellationToken) -> Result<Text, FsError> {
    let (mut file, meta) = open_regular(target)?;
    if meta.len() > MAX_TEXT_BYTES as u64 {
        return Err(beyond_string(&target.display));
    }
    let bytes = read_all(&mut file, meta.len(), cancel)
        .map_err(|error| errno::failure("read", &target.display, &error, "read"))?
        .ok_or_else(|| FsError::aborted("read"))?;
    check(cancel, "read")?;
    decode(bytes, &target.display, MAX_STRING_UNITS)
}

/// The bytes of a target, `max` of them at most (inclusive).
///
/// Errors: as [`read_text`], without `NotText`; `TooLarge` where there are more than `max` bytes.
///
/// Contract: provider §6.
pub fn read_bytes(
    target: &Target,
    max: u64,
    cancel: &CancellationToken,
) -> Result<Vec<u8>, FsError> {
    let (mut file, meta) = open_regular(target)?;
    let too_large = |what: &str| {
        let why = format!("{what} exceeds the {max}-byte limit");
        errno::cannot(Code::TooLarge, "read", &target.display, &why)
    };
    if meta.len() > max {
        return Err(too_large(&format!("{} bytes", meta.len())));
    }
    let bytes = read_up_to(
        &mut file,
        meta.len(),
        max.saturating_add(1),
        |_| false,
        cancel,
    )
    .map_err(|error| errno::failure("read", &target.display, &error, "read"))?
    .ok_or_else(|| FsError::aborted("read"))?;
    check(cancel, "read")?;
    if bytes.len() as u64 > max {
        return Err(too_large("content"));
    }
    Ok(bytes)
}

/// The text from the present position of `file` to its end; `None` once the call is cancelled.
/// `size_hint`, in bytes, is what is probably there; more and less are read as well. Stops early
/// where the start says that it is binary, and one byte beyond [`MAX_TEXT_BYTES`]: what claims to
/// be empty may have no end.
///
/// Errors: the system's.
pub fn read_all(
    file: &mut File,
    size_hint: u64,
    cancel: &CancellationToken,
) -> io::Result<Option<Vec<u8>>> {
    read_up_to(
        file,
        size_hint,
        MAX_TEXT_BYTES as u64 + 1,
        is_binary,
        cancel,
    )
}

/// Whether the start of a file, or all of it, says that it is binary.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(BINARY_SAMPLE)]).is_some()
}

/// The failure for binary content.
pub(super) fn binary(display: &str) -> FsError {
    errno::cannot(Code::NotText, "read", display, "binary file")
}

/// The failure for content that is not UTF-8.
pub(super) fn invalid_text(display: &str) -> FsError {
    errno::cannot(Code::NotText, "read", display, "invalid UTF-8 text")
}

fn open_regular(target: &Target) -> Result<(File, Metadata), FsError> {
    let Some((file, meta)) = open::open_target(target, "read")? else {
        return Err(errno::cannot(
            Code::NotFound,
            "read",
            &target.display,
            "not found",
        ));
    };
    if !meta.is_file() {
        return Err(open::not_regular(target, "read"));
    }
    Ok((file, meta))
}

fn decode(mut bytes: Vec<u8>, display: &str, max_units: usize) -> Result<Text, FsError> {
    if is_binary(&bytes) {
        return Err(binary(display));
    }
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(beyond_string(display));
    }
    if simdutf8::basic::from_utf8(&bytes).is_err() {
        return Err(invalid_text(display));
    }
    let mark = bytes.len() - text::without_bom(&bytes).len();
    if mark > 0 {
        bytes.drain(..mark);
    }
    // There are never more units than bytes.
    if bytes.len() > max_units && text::utf16_len(&bytes) > max_units {
        return Err(beyond_string(display));
    }
    Ok(Text::from_valid(bytes))
}

fn beyond_string(display: &str) -> FsError {
    let why = format!("content exceeds the {MAX_STRING_UNITS}-character limit");
    errno::cannot(Code::TooLarge, "read", display, &why)
}

/// The bytes from the present position of `file`, at most `limit` of them; `None` once the call is
/// cancelled. Stops early once what was read is `enough`.
pub(super) fn read_up_to(
    file: &mut File,
    size_hint: u64,
    limit: u64,
    enough: impl Fn(&[u8]) -> bool,
    cancel: &CancellationToken,
) -> io::Result<Option<Vec<u8>>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // One byte more than announced, so that the end shows without growing.
    let mut bytes = memory::with_capacity(capacity_for(size_hint).min(limit));
    while bytes.len() < limit {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len().max(UNKNOWN_SIZE));
        }
        let most = bytes.capacity().min(limit) - bytes.len();
        match platform::append(file, &mut bytes, most.min(STEP)) {
            Ok(0) => break,
            Ok(_) if enough(&bytes) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(bytes))
}

/// Bytes to provide for a file of `size`. A size that no text can have is not believed.
fn capacity_for(size: u64) -> usize {
    match usize::try_from(size) {
        Ok(0) => UNKNOWN_SIZE,
        Ok(size) => size.min(3 * MAX_STRING_UNITS) + 1,
        Err(_) => UNKNOWN_SIZE,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    struct Sample {
        _dir: tempfile::TempDir,
        path: PathBuf,
        target: Target,
    }

    fn sample(content: &[u8]) -> Sample {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b");
        std::fs::write(&path, content).unwrap();
        let key = path.to_str().unwrap().to_owned();
        Sample {
            _dir: dir,
            path,
            target: Target {
                key,
                display: "/shown".to_owned(),
            },
        }
    }

    fn text_of(content: &[u8]) -> Result<Vec<u8>, (Code, String)> {
        read_text(&sample(content).target, &CancellationToken::new())
            .map(|text| text.as_bytes().to_vec())
            .map_err(|failure| (failure.code, failure.message))
    }

    #[test]
    fn edge_27_one_mark_is_dropped() {
        assert_eq!(text_of(b"\xEF\xBB\xBFhi").unwrap(), b"hi");
        assert_eq!(
            text_of(b"\xEF\xBB\xBF\xEF\xBB\xBFhi").unwrap(),
            b"\xEF\xBB\xBFhi"
        );
        assert_eq!(text_of(b"").unwrap(), b"");
    }

    #[test]
    fn edge_31_and_32_only_the_start_tells_binary() {
        let mut content = vec![b'-'; 8192];
        content.push(0);
        assert_eq!(text_of(&content).unwrap(), content);
        content.remove(0);
        let binary = (
            Code::NotText,
            "cannot read \"/shown\": binary file".to_owned(),
        );
        assert_eq!(text_of(&content), Err(binary.clone()));
        assert_eq!(text_of(b"\xFF\0"), Err(binary));
    }

    #[test]
    fn edge_34_invalid_text() {
        let invalid = (
            Code::NotText,
            "cannot read \"/shown\": invalid UTF-8 text".to_owned(),
        );
        for content in [
            &b"a\xE2\x82"[..],
            b"\xED\xA0\x80",
            b"\xC0\xAF",
            b"\xF4\x90\x80\x80",
        ] {
            assert_eq!(text_of(content), Err(invalid.clone()));
        }
    }

    #[test]
    fn edge_36_and_37_absent_targets_and_directories() {
        let cancel = CancellationToken::new();
        let mut sample = sample(b"");
        std::fs::remove_file(&sample.path).unwrap();
        let failure = read_text(&sample.target, &cancel).unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert_eq!(failure.message, "cannot read \"/shown\": not found");
        sample.target.key = std::env::temp_dir().to_str().unwrap().to_owned();
        let failure = read_text(&sample.target, &cancel).unwrap_err();
        assert_eq!(failure.code, Code::NotRegularFile);
        assert_eq!(
            failure.message,
            "cannot read \"/shown\": not a regular file"
        );
    }

    #[test]
    fn edge_38_the_byte_limit_is_inclusive() {
        let cancel = CancellationToken::new();
        let sample = sample(b"\0\xFFabc");
        assert_eq!(
            read_bytes(&sample.target, 5, &cancel).unwrap(),
            b"\0\xFFabc"
        );
        assert_eq!(
            read_bytes(&sample.target, u64::MAX, &cancel).unwrap().len(),
            5
        );
        let failure = read_bytes(&sample.target, 4, &cancel).unwrap_err();
        assert_eq!(failure.code, Code::TooLarge);
        assert_eq!(
            failure.message,
            "cannot read \"/shown\": 5 bytes exceeds the 4-byte limit"
        );
    }

    #[test]
    fn edge_41_a_cancelled_call_is_aborted() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let sample = sample(b"x");
        assert_eq!(
            read_text(&sample.target, &cancel).unwrap_err().message,
            "read aborted"
        );
        assert_eq!(
            read_bytes(&sample.target, 1, &cancel).unwrap_err().message,
            "read aborted"
        );
        let mut file = File::open(&sample.path).unwrap();
        assert_eq!(read_all(&mut file, 1, &cancel).unwrap(), None);
    }

    #[test]
    fn a_wrong_size_does_no_harm() {
        let content: Vec<u8> = (0..200_000_u32).map(|i| (i % 255) as u8 + 1).collect();
        let sample = sample(&content);
        for hint in [0, 1, 1000, 199_999, 200_000, 1 << 20] {
            let mut file = File::open(&sample.path).unwrap();
            let read = read_all(&mut file, hint, &CancellationToken::new())
                .unwrap()
                .unwrap();
            assert!(read == content, "{hint}");
        }
    }

    #[test]
    fn a_file_that_grew_is_cut_at_the_limit() {
        let sample = sample(b"0123456789");
        let mut file = File::open(&sample.path).unwrap();
        let read = read_up_to(&mut file, 2, 4, |_| false, &CancellationToken::new())
            .unwrap()
            .unwrap();
        assert_eq!(read, b"0123");
    }

    #[test]
    fn a_binary_start_ends_the_reading() {
        let mut content = vec![b'-'; 4 * STEP];
        content[10] = 0;
        let sample = sample(&content);
        let mut file = File::open(&sample.path).unwrap();
        let read = read_all(&mut file, 0, &CancellationToken::new());
        assert!(read.unwrap().unwrap().len() <= STEP);
    }

    #[test]
    fn texts_beyond_a_string_are_too_large() {
        // Two units and four bytes a character.
        let content = "\u{1F600}".repeat(3).into_bytes();
        assert!(decode(content.clone(), "/shown", 6).is_ok());
        let failure = decode(content, "/shown", 5).unwrap_err();
        assert_eq!(failure.code, Code::TooLarge);
        let expected = "cannot read \"/shown\": content exceeds the 536870888-character limit";
        assert_eq!(failure.message, expected);

        let sparse = sample(b"");
        let file = File::options().write(true).open(&sparse.path).unwrap();
        file.set_len(3 * MAX_STRING_UNITS as u64 + 1).unwrap();
        let failure = read_text(&sparse.target, &CancellationToken::new()).unwrap_err();
        assert_eq!(failure.message, expected);
    }
}
