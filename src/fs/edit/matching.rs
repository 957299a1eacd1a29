//! Where a text occurs in a file, CRLF and LF being equal.
//!
//! The search runs over the LF form, in which each CRLF is one LF; so no match can begin or end
//! between the CR and the LF of one break, nor see its CR. Contract: provider §10 and decision
//! D11.

use std::ops::Range;

use memchr::memmem;

/// One occurrence, as positions in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    /// Where it is in the file (behind the byte-order mark).
    pub raw: Range<usize>,
    /// Where it is in the LF form.
    pub lf: Range<usize>,
}

/// All occurrences of `needle`, which is not empty and in LF form, in the file `raw` with the LF
/// form `lf`: left to right, without overlaps.
pub(super) fn find_all(raw: &[u8], lf: &[u8], needle: &[u8]) -> Vec<Match> {
    let mut to_raw = Positions::new(raw, raw.len() != lf.len());
    memmem::find_iter(lf, needle)
        .map(|start| {
            let end = start + needle.len();
            let raw = to_raw.advance(start)..to_raw.advance(end);
            Match {
                raw,
                lf: start..end,
            }
        })
        .collect()
}

/// Turns ascending positions of the LF form into those of the file.
struct Positions<'a> {
    breaks: Option<memmem::FindIter<'a, 'static>>,
    /// Position in the file of the CRLF that was not passed yet.
    next: Option<usize>,
    /// CRLFs before the last position, each a byte shorter in the LF form.
    passed: usize,
}

impl<'a> Positions<'a> {
    fn new(raw: &'a [u8], has_crlf: bool) -> Self {
        let mut breaks = has_crlf.then(|| memmem::find_iter(raw, b"\r\n"));
        let next = breaks.as_mut().and_then(Iterator::next);
        Positions {
            breaks,
            next,
            passed: 0,
        }
    }

    /// The position in the file. That of a break is the position of its CR.
    fn advance(&mut self, lf: usize) -> usize {
        while let Some(at) = self.next
            && at - self.passed < lf
        {
            self.passed += 1;
            self.next = self.breaks.as_mut().and_then(Iterator::next);
        }
        lf + self.passed
    }
}

#[cfg(test)]
#[allow(
    clippy::single_range_in_vec_init,
    reason = "a list of one match is meant"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::to_lf;

    fn found(raw: &str, needle: &str) -> Vec<Range<usize>> {
        let matches = find_all(raw.as_bytes(), &to_lf(raw.as_bytes()), needle.as_bytes());
        matches.into_iter().map(|found| found.raw).collect()
    }

    #[test]
    fn edge_80_a_break_matches_either_form() {
        assert_eq!(found("h\r\ni", "h\ni"), [0..4]);
        assert_eq!(found("h\ni", "h\ni"), [0..3]);
        assert_eq!(found("\r\na\n\r\n", "\n"), [0..2, 3..4, 4..6]);
    }

    #[test]
    fn edge_81_the_cr_of_a_crlf_cannot_be_seen() {
        assert!(found("h\r\ni", "\r").is_empty());
        assert_eq!(found("h\ri", "\r"), [1..2]);
        assert_eq!(found("h\r\r\ni", "\r"), [1..2]);
        assert_eq!(found("h\r\r\ni", "\r\n"), [1..4]);
        assert!(found("h\r\ni", "\r\n").is_empty());
    }

    #[test]
    fn edge_83_matches_do_not_overlap() {
        assert_eq!(found("ooo", "oo"), [0..2]);
        assert_eq!(found("oooo", "oo"), [0..2, 2..4]);
    }

    /// The atoms of a file: a CRLF is one.
    fn atoms(raw: &[u8]) -> Vec<Range<usize>> {
        let mut atoms = Vec::new();
        let mut at = 0;
        while at < raw.len() {
            let len = if raw[at..].starts_with(b"\r\n") { 2 } else { 1 };
            atoms.push(at..at + len);
            at += len;
        }
        atoms
    }

    /// The same by comparing atom by atom.
    fn found_slowly(raw: &[u8], needle: &[u8]) -> Vec<Range<usize>> {
        let atoms = atoms(raw);
        let seen: Vec<u8> = atoms.iter().map(|atom| raw[atom.end - 1]).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at + needle.len() <= seen.len() {
            if seen[at..].starts_with(needle) {
                found.push(atoms[at].start..atoms[at + needle.len() - 1].end);
                at += needle.len();
            } else {
                at += 1;
            }
        }
        found
    }

    proptest! {
        #[test]
        fn the_search_equals_a_slow_one(raw in "[ab\r\n]{0,30}", needle in "[ab\r\n]{1,4}") {
            let needle = to_lf(needle.as_bytes()).into_owned();
            let lf = to_lf(raw.as_bytes());
            let matches = find_all(raw.as_bytes(), &lf, &needle);
            let places: Vec<_> = matches.iter().map(|found| found.raw.clone()).collect();
            prop_assert_eq!(&places, &found_slowly(raw.as_bytes(), &needle));
            for found in matches {
                prop_assert_eq!(&lf[found.lf], needle.as_slice());
            }
        }
    }
}
