//! The new text in the place of the matches, with the line breaks of its surroundings.
//!
//! A line break of the new text takes the style of the first break in the text that it replaces;
//! if there is none, of the break nearest to the match, the one before it at equal distance; in a
//! file without any, LF. Contract: provider §10 and decision D11.

use std::borrow::Cow;
use std::ops::Range;

use super::matching::Match;

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Lf,
    Crlf,
}

/// The new text in both styles.
pub(super) struct NewText<'a> {
    lf: &'a [u8],
    /// The same as `lf` if that has no break.
    crlf: Cow<'a, [u8]>,
}

impl<'a> NewText<'a> {
    /// From the new text in LF form. A CR of its own stays.
    pub fn of(lf: &'a [u8]) -> Self {
        let mut ends = memchr::memchr_iter(b'\n', lf).peekable();
        if ends.peek().is_none() {
            return NewText {
                lf,
                crlf: Cow::Borrowed(lf),
            };
        }
        let mut crlf = Vec::with_capacity(lf.len() + lf.len() / 16);
        let mut start = 0;
        for end in ends {
            crlf.extend_from_slice(&lf[start..end]);
            crlf.extend_from_slice(b"\r\n");
            start = end + 1;
        }
        crlf.extend_from_slice(&lf[start..]);
        NewText {
            lf,
            crlf: Cow::Owned(crlf),
        }
    }

    fn has_breaks(&self) -> bool {
        matches!(self.crlf, Cow::Owned(_))
    }

    fn styled(&self, style: Style) -> &[u8] {
        match style {
            Style::Lf => self.lf,
            Style::Crlf => &self.crlf,
        }
    }
}

/// The LF form of the file with the matches replaced by `new` (LF form).
pub(super) fn replace_lf(lf: &[u8], matches: &[Match], new: &[u8]) -> Vec<u8> {
    let removed: usize = matches.iter().map(|found| found.lf.len()).sum();
    let mut replaced = Vec::with_capacity(lf.len() - removed + matches.len() * new.len());
    let mut kept = 0;
    for found in matches {
        replaced.extend_from_slice(&lf[kept..found.lf.start]);
        replaced.extend_from_slice(new);
        kept = found.lf.end;
    }
    replaced.extend_from_slice(&lf[kept..]);
    replaced
}

/// The pieces that make the new file: what lies between the matches of `raw`, and the new text.
pub(super) fn pieces<'a>(raw: &'a [u8], matches: &[Match], new: &'a NewText<'_>) -> Vec<&'a [u8]> {
    let mut pieces = Vec::with_capacity(2 * matches.len() + 1);
    let mut breaks = Breaks::new(raw);
    let mut kept = 0;
    for found in matches {
        let style = if new.has_breaks() {
            breaks.style_at(&found.raw)
        } else {
            Style::Lf
        };
        pieces.push(&raw[kept..found.raw.start]);
        pieces.push(new.styled(style));
        kept = found.raw.end;
    }
    pieces.push(&raw[kept..]);
    pieces
}

/// Finds the breaks around ascending places of a file. What was found for one place is kept for
/// the next, so that no stretch of the file is searched more than once in either direction.
struct Breaks<'a> {
    raw: &'a [u8],
    /// Position of the LF of the last break before `searched`.
    before: Option<usize>,
    searched: usize,
    /// Position of the LF of the first break at or behind the last place; the length of the file
    /// if there is none.
    after: Option<usize>,
}

impl<'a> Breaks<'a> {
    fn new(raw: &'a [u8]) -> Self {
        Breaks {
            raw,
            before: None,
            searched: 0,
            after: None,
        }
    }

    fn style_at(&mut self, place: &Range<usize>) -> Style {
        if let Some(at) = memchr::memchr(b'\n', &self.raw[place.clone()]) {
            return self.style_of(place.start + at);
        }
        let before = self.last_before(place.start);
        let after = self.first_from(place.end);
        match (before, after) {
            (None, None) => Style::Lf,
            (Some(at), None) | (None, Some(at)) => self.style_of(at),
            (Some(before), Some(after)) => {
                let distance_before = place.start - (before + 1);
                let distance_after = self.start_of(after) - place.end;
                let nearest = if distance_after < distance_before {
                    after
                } else {
                    before
                };
                self.style_of(nearest)
            }
        }
    }

    fn last_before(&mut self, place: usize) -> Option<usize> {
        if let Some(at) = memchr::memrchr(b'\n', &self.raw[self.searched..place]) {
            self.before = Some(self.searched + at);
        }
        self.searched = place;
        self.before
    }

    fn first_from(&mut self, place: usize) -> Option<usize> {
        let known = self.after.filter(|&at| at >= place);
        let after = known.unwrap_or_else(|| {
            memchr::memchr(b'\n', &self.raw[place..]).map_or(self.raw.len(), |at| place + at)
        });
        self.after = Some(after);
        (after < self.raw.len()).then_some(after)
    }

    /// Where the break with its LF at `lf` begins.
    fn start_of(&self, lf: usize) -> usize {
        if self.style_of(lf) == Style::Crlf {
            lf - 1
        } else {
            lf
        }
    }

    fn style_of(&self, lf: usize) -> Style {
        if self.raw[..lf].ends_with(b"\r") {
            Style::Crlf
        } else {
            Style::Lf
        }
    }
}

#[cfg(test)]
mod tests;
