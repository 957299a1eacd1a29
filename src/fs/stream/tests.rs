use std::future::Future;
use std::io::Write;

use proptest::prelude::*;
use tempfile::NamedTempFile;

use crate::contract::{Code, Failure};

use super::*;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn saved(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

fn opened(file: &NamedTempFile, chunk: usize, cancel: &CancellationToken) -> FileText {
    let file = file.reopen().unwrap();
    let meta = file.metadata().unwrap();
    FileText::new(file, meta, "/shown".to_owned(), chunk, cancel.clone())
}

/// The chunks up to the end, or up to the failure.
fn drained(text: &mut FileText) -> (Vec<Vec<u8>>, Option<String>) {
    run(async {
        let mut chunks = Vec::new();
        loop {
            match text.next().await {
                Ok(Some(chunk)) => chunks.push(chunk.to_vec()),
                Ok(None) => return (chunks, None),
                Err(failure) => return (chunks, Some(failure.to_string())),
            }
        }
    })
}

fn streamed(content: &[u8], chunk: usize) -> Result<Vec<u8>, String> {
    let file = saved(content);
    let (chunks, failure) = drained(&mut opened(&file, chunk, &CancellationToken::new()));
    failure.map_or(Ok(chunks.concat()), Err)
}

const INVALID: &str = "cannot read \"/shown\": invalid UTF-8 text";
const BINARY: &str = "cannot read \"/shown\": binary file";

proptest! {
    #[test]
    fn chunks_are_text_and_lose_nothing(text in "[a\u{e9}\u{20ac}\u{1F600}\u{FEFF}\n]{0,300}") {
        let file = saved(text.as_bytes());
        let (chunks, failure) = drained(&mut opened(&file, 64, &CancellationToken::new()));
        prop_assert_eq!(failure, None);
        prop_assert!(chunks.iter().all(|chunk| std::str::from_utf8(chunk).is_ok()));
        prop_assert_eq!(chunks.concat(), text::without_bom(text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_judged_as_a_whole(start in "[a\u{20ac}]{0,70}", bytes: Vec<u8>) {
        let content = [start.as_bytes(), &bytes].concat();
        let expected = if content.contains(&0) {
            Err(BINARY.to_owned())
        } else if std::str::from_utf8(&content).is_err() {
            Err(INVALID.to_owned())
        } else {
            Ok(text::without_bom(&content).to_vec())
        };
        prop_assert_eq!(streamed(&content, 1 << 20), expected.clone());
        let in_pieces = streamed(&content, 64);
        // In pieces a fault may show before a NUL of a later piece.
        prop_assert_eq!(in_pieces.is_err(), expected.is_err());
        if expected.is_ok() || expected == Err(INVALID.to_owned()) {
            prop_assert_eq!(in_pieces, expected);
        }
    }
}

#[test]
fn only_the_start_tells_binary() {
    let mut content = vec![b'-'; 8192];
    content.push(0);
    for chunk in [100, 8192, 8193, 1 << 20] {
        assert_eq!(streamed(&content, chunk).unwrap(), content);
        assert_eq!(streamed(&content[1..], chunk).unwrap_err(), BINARY);
    }
}

#[test]
fn a_cut_character_at_the_end_is_invalid() {
    for length in [1, 62, 63, 64, 65, 128] {
        let content = [&vec![b'a'; length][..], b"\xE2\x82"].concat();
        assert_eq!(streamed(&content, 64).unwrap_err(), INVALID, "{length}");
    }
}

#[test]
fn a_late_fault_comes_after_the_chunks_before_it() {
    let content = [&vec![b'a'; 100][..], b"\xFF"].concat();
    let mut text = opened(&saved(&content), 64, &CancellationToken::new());
    let (chunks, failure) = drained(&mut text);
    assert_eq!(
        (chunks.concat(), failure.as_deref()),
        (vec![b'a'; 64], Some(INVALID))
    );
    assert_eq!(drained(&mut text), (vec![], None));
}

#[test]
fn a_small_file_is_one_chunk() {
    let content = vec![b'a'; 5000];
    let (chunks, _) = drained(&mut opened(
        &saved(&content),
        1 << 20,
        &CancellationToken::new(),
    ));
    assert_eq!(chunks, [content]);
    assert_eq!(streamed(b"", 1 << 20).unwrap(), b"");
    assert_eq!(streamed(b"\xEF\xBB\xBF", 1 << 20).unwrap(), b"");
}

#[test]
fn a_growing_file_is_read_to_its_end() {
    let mut file = saved(b"one");
    let mut text = opened(&file, 1 << 20, &CancellationToken::new());
    file.write_all(&[b'x'; 500]).unwrap();
    let (chunks, failure) = drained(&mut text);
    assert_eq!((chunks.concat().len(), failure), (503, None));
    assert!(!run(text.is_settled()).unwrap());
    let mut again = opened(&file, 1 << 20, &CancellationToken::new());
    assert_eq!(drained(&mut again).0.concat().len(), 503);
    assert!(run(again.is_settled()).unwrap());
}

#[test]
fn cancelling_ends_the_text() {
    let cancel = CancellationToken::new();
    let mut text = opened(&saved(&[b'a'; 200]), 64, &cancel);
    assert_eq!(run(text.next()).unwrap().map(<[u8]>::len), Some(64));
    cancel.cancel();
    let Err(Failure::Fs(failure)) = run(text.next()) else {
        panic!("not aborted")
    };
    assert_eq!(
        (failure.code, failure.message.as_str()),
        (Code::Aborted, "read aborted")
    );
}
