//! The former text of a file that a write is about to replace, for the diff of the result.
//!
//! A basis is a courtesy: whatever is in its way (size, type, binary content, an error) makes it
//! absent, and never makes the write fail. Only a cancellation does.
//!
//! Contract: provider §9 (diff basis).

use std::fs::File;

use tokio_util::sync::CancellationToken;

use crate::contract::FsError;
use crate::fs::place::Place;
use crate::fs::read;
use crate::text::{Text, to_lf, without_bom};

/// The text of the file at `place` without its byte-order mark and with LF line breaks; `None` where it
/// cannot serve as a basis. `limit` is in bytes and exclusive.
///
/// Errors: `Aborted` ("read aborted").
///
/// Contract: provider §9 (diff basis).
pub fn capture(
    place: &Place,
    limit: u64,
    cancel: &CancellationToken,
) -> Result<Option<Text>, FsError> {
    if cancel.is_cancelled() {
        return Err(FsError::aborted("read"));
    }
    let Ok(Some(mut file)) = place.open() else {
        return Ok(None);
    };
    let Ok(meta) = file.metadata() else {
        return Ok(None);
    };
    if !meta.is_file() || meta.len() >= limit {
        return Ok(None);
    }
    let bytes = read_steadily(&mut file, meta.len(), cancel)?;
    Ok(bytes.and_then(text_of))
}

/// All bytes of a file of `size` bytes; `None` if it has another size by now or cannot be read.
fn read_steadily(
    file: &mut File,
    size: u64,
    cancel: &CancellationToken,
) -> Result<Option<Vec<u8>>, FsError> {
    // One byte more than the size shows a file that grows.
    match read::read_up_to(file, size, size + 1, |_| false, cancel) {
        Ok(Some(bytes)) => Ok((bytes.len() as u64 == size).then_some(bytes)),
        Ok(None) => Err(FsError::aborted("read")),
        Err(_) => Ok(None),
    }
}

fn text_of(mut bytes: Vec<u8>) -> Option<Text> {
    if memchr::memchr(0, &bytes).is_some() || simdutf8::basic::from_utf8(&bytes).is_err() {
        return None;
    }
    let text = without_bom(&bytes);
    if memchr::memmem::find(text, b"\r\n").is_some() {
        return Some(Text::from_valid(to_lf(text).into_owned()));
    }
    let mark = bytes.len() - text.len();
    bytes.drain(..mark);
    Some(Text::from_valid(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Target;

    fn basis(content: &[u8], limit: u64) -> Option<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, content).unwrap();
        let key = path.to_str().unwrap().to_owned();
        let target = Target {
            display: key.clone(),
            key,
        };
        let text = capture(
            &Place::of(&target).unwrap(),
            limit,
            &CancellationToken::new(),
        )
        .unwrap();
        text.map(|text| text.as_bytes().to_vec())
    }

    #[test]
    fn edge_58_the_mark_is_dropped_and_breaks_are_lf() {
        assert_eq!(basis(b"\xEF\xBB\xBF1", 9).as_deref(), Some(&b"1"[..]));
        assert_eq!(
            basis(b"\xEF\xBB\xBFa\r\nb\rc", 99).as_deref(),
            Some(&b"a\nb\rc"[..])
        );
        assert_eq!(basis(b"", 9).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn edge_59_what_is_no_text_is_no_basis() {
        assert_eq!(basis(b"a\xFF", 99), None);
        let mut late = vec![b'-'; 9000];
        late.push(0);
        assert_eq!(basis(&late, 10_000), None);
    }

    #[test]
    fn edge_60_the_limit_is_exclusive() {
        assert_eq!(basis(b"12345", 6).as_deref(), Some(&b"12345"[..]));
        assert_eq!(basis(b"123456", 6), None);
    }

    #[test]
    fn more_than_one_step_is_read_whole() {
        let step = 1 << 20;
        for size in [step - 1, step, step + 1, 3 * step] {
            let content = vec![b'x'; size as usize];
            assert_eq!(basis(&content, size + 1).as_deref(), Some(&content[..]));
        }
    }

    #[test]
    fn a_file_of_another_size_is_no_basis() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "12345").unwrap();
        for size in [4, 6] {
            let mut file = File::open(&path).unwrap();
            let bytes = read_steadily(&mut file, size, &CancellationToken::new()).unwrap();
            assert_eq!(bytes, None);
        }
    }

    #[test]
    fn what_is_absent_or_no_file_is_no_basis() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["absent", "."] {
            let key = dir.path().join(name).to_str().unwrap().to_owned();
            let target = Target {
                display: key.clone(),
                key,
            };
            assert_eq!(
                capture(&Place::of(&target).unwrap(), 99, &CancellationToken::new()).unwrap(),
                None
            );
        }
    }

    #[test]
    fn a_cancellation_is_the_only_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "12345").unwrap();
        let key = path.to_str().unwrap().to_owned();
        let target = Target {
            display: key.clone(),
            key,
        };
        let cancel = CancellationToken::new();
        cancel.cancel();
        let error = capture(&Place::of(&target).unwrap(), 99, &cancel).unwrap_err();
        assert_eq!(error.message, "read aborted");
        // It comes first: what is too large to be a basis is no reason to go on.
        assert!(capture(&Place::of(&target).unwrap(), 5, &cancel).is_err());
    }
}
