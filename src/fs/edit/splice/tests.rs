use proptest::prelude::*;

use super::super::matching;
use super::*;
use crate::text::to_lf;

/// The file after replacing every `old` by `new`, all in the way of an edit.
fn edited(raw: &str, old: &str, new: &str) -> String {
    let raw = raw.as_bytes();
    let matches = matching::find_all(raw, &to_lf(raw), &to_lf(old.as_bytes()));
    let new = to_lf(new.as_bytes());
    let new = NewText::of(&new);
    String::from_utf8(pieces(raw, &matches, &new).concat()).unwrap()
}

#[test]
fn edge_74_to_79_only_the_match_changes() {
    assert_eq!(edited("h\r\ni\r\nj", "i", "I\nK"), "h\r\nI\r\nK\r\nj");
    assert_eq!(edited("h\r\ni\nj", "j", "J"), "h\r\ni\nJ");
    assert_eq!(edited("h\r\ni\r\nj\nk", "k", "K"), "h\r\ni\r\nj\nK");
    assert_eq!(edited("h\r\r\ni\r\r\nj", "j", "J"), "h\r\r\ni\r\r\nJ");
    let late = format!("a\n{}z", "b\r\n".repeat(40));
    assert_eq!(
        edited(&late, "z", "Z\n"),
        format!("a\n{}Z\r\n", "b\r\n".repeat(40))
    );
}

#[test]
fn edge_82_a_break_without_neighbours_is_lf() {
    assert_eq!(edited("h\ri", "\r", "\n"), "h\ni");
    assert_eq!(edited("hi", "i", "a\r\nb"), "ha\nb");
}

#[test]
fn the_first_break_of_the_match_decides() {
    assert_eq!(edited("a\r\nb\nc\n", "a\nb\nc", "x\ny\nz"), "x\r\ny\r\nz\n");
    assert_eq!(
        edited("q\r\na\nb\r\nc\r\n", "a\nb\nc", "x\ny\nz"),
        "q\r\nx\ny\nz\r\n"
    );
    assert_eq!(edited("\r\na\r\n", "\n", "\n\n"), "\r\n\r\na\r\n\r\n");
}

#[test]
fn else_the_nearest_break_decides() {
    assert_eq!(edited("a\r\n..x.\nb", "x", "1\n2"), "a\r\n..1\n2.\nb");
    assert_eq!(edited("a\r\n.x..\nb", "x", "1\n2"), "a\r\n.1\r\n2..\nb");
    assert_eq!(edited("a\n..x.\r\nb", "x", "1\n2"), "a\n..1\r\n2.\r\nb");
}

#[test]
fn at_equal_distance_the_break_before_decides() {
    assert_eq!(edited("a\r\n.x.\nb", "x", "1\n2"), "a\r\n.1\r\n2.\nb");
    assert_eq!(edited("a\n.x.\r\nb", "x", "1\n2"), "a\n.1\n2.\r\nb");
    assert_eq!(edited("\nx\r\n", "x", "\n"), "\n\n\r\n");
}

#[test]
fn a_cr_of_its_own_in_the_new_text_stays() {
    assert_eq!(
        edited("a\r\nx", "x", "1\r2\r\n3\r\r\n4"),
        "a\r\n1\r2\r\n3\r\r\n4"
    );
    assert_eq!(edited("a\nx", "x", "1\r2\r\n3"), "a\n1\r2\n3");
}

#[test]
fn each_match_has_its_own_surroundings() {
    assert_eq!(
        edited("x\r\n\nx\r\n\n\nx", "x", "1\n2"),
        "1\r\n2\r\n\n1\n2\r\n\n\n1\n2"
    );
}

/// The style by looking at every break of the file.
fn style_slowly(raw: &[u8], place: &Range<usize>) -> Style {
    let mut breaks: Vec<(Range<usize>, Style)> = Vec::new();
    for (at, _) in raw.iter().enumerate().filter(|&(_, &byte)| byte == b'\n') {
        let crlf = at > 0 && raw[at - 1] == b'\r';
        let style = if crlf { Style::Crlf } else { Style::Lf };
        breaks.push((at - usize::from(crlf)..at + 1, style));
    }
    let inside = breaks
        .iter()
        .find(|(at, _)| place.start <= at.start && at.end <= place.end);
    let nearest = || {
        // The first of equals is the one before.
        breaks.iter().min_by_key(|(at, _)| {
            if at.end <= place.start {
                place.start - at.end
            } else {
                at.start - place.end
            }
        })
    };
    inside
        .or_else(nearest)
        .map_or(Style::Lf, |&(_, style)| style)
}

proptest! {
    #[test]
    fn the_style_is_that_of_a_slow_search(raw in "[ab\r\n]{0,40}", old in "[ab\r\n]{1,2}") {
        let raw = raw.as_bytes();
        let matches = matching::find_all(raw, &to_lf(raw), &to_lf(old.as_bytes()));
        let mut breaks = Breaks::new(raw);
        for found in matches {
            prop_assert_eq!(breaks.style_at(&found.raw), style_slowly(raw, &found.raw));
        }
    }

    #[test]
    fn what_did_not_match_is_kept_byte_by_byte(
        raw in "[ab\r\n]{0,40}",
        old in "[ab\r\n]{1,3}",
        new in "[xy\r\n]{0,4}",
    ) {
        let raw = raw.as_bytes();
        let matches = matching::find_all(raw, &to_lf(raw), &to_lf(old.as_bytes()));
        let new = new.replace("\r\n", "\n");
        let crlf = new.replace('\n', "\r\n");
        let text = NewText::of(new.as_bytes());
        let pieces = pieces(raw, &matches, &text);
        prop_assert_eq!(pieces.len(), 2 * matches.len() + 1);
        let mut kept = 0;
        for (found, pair) in matches.iter().zip(pieces.chunks(2)) {
            prop_assert_eq!(pair[0], &raw[kept..found.raw.start]);
            let style = style_slowly(raw, &found.raw);
            let expected = if style == Style::Crlf { &crlf } else { &new };
            prop_assert_eq!(std::str::from_utf8(pair[1]).unwrap(), expected.as_str());
            kept = found.raw.end;
        }
        prop_assert_eq!(*pieces.last().unwrap(), &raw[kept..]);
    }

    // A CR that comes to stand before an LF would make another break of the two, so there is no
    // CR but those of CRLFs here.
    #[test]
    fn the_lf_form_is_that_of_a_plain_replacement(
        lines in "[ab\n]{0,30}",
        crlf: Vec<bool>,
        old in "[ab\n]{1,3}",
        new in "[xy\n]{0,4}",
    ) {
        let mut styles = crlf.into_iter().chain(std::iter::repeat(false));
        let mut raw = String::new();
        for c in lines.chars() {
            if c == '\n' && styles.next() == Some(true) {
                raw.push('\r');
            }
            raw.push(c);
        }
        let expected = lines.replace(&old, &new);
        let result = edited(&raw, &old, &new);
        prop_assert_eq!(to_lf(result.as_bytes()).into_owned(), expected.as_bytes());
        let matches = matching::find_all(raw.as_bytes(), lines.as_bytes(), old.as_bytes());
        let after = replace_lf(lines.as_bytes(), &matches, new.as_bytes());
        prop_assert_eq!(after, expected.as_bytes());
    }
}
