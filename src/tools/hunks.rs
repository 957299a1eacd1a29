//! The hunks that show what a write or an edit changed (contract: hunks).
//!
//! Two texts are compared by lines, which end at `\n` only and include it: a line with and one
//! without it differ. The script is a shortest one; if that takes too much work, the texts are
//! taken to differ from their first to their last difference, which is valid, only less exact.
//!
//! Text is UTF-8 in which a lone surrogate may stand as the three bytes it would have as a code
//! point. Positions in hunks are in UTF-16 units, for the string on the JavaScript side.

use std::ops::Range;

use crate::text::utf16_len;

mod script;
mod sides;
#[cfg(test)]
mod tests;

use sides::{Side, Sides};

/// Unchanged lines that a hunk shows before and behind its changes.
const CONTEXT: usize = 3;

/// Work that the search for the shortest script may take, in steps. A step takes about 3 ns on a
/// common server processor, so that the search ends after some 20 ms: long enough for 3,400 edits
/// of lines that both texts have (lines that only one of them has do not count), short enough for
/// a tool call. It is a number of steps, not a time, so that a diff does not depend on the load.
pub const DEFAULT_BUDGET: u64 = 6_000_000;

/// Changes that lie close together, with the unchanged lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines in the old text, in UTF-16 units, without the last line's `\n`. `None` if it has
    /// no old line at all, which is so only if the old text is empty.
    pub old: Option<Range<usize>>,
    /// Its lines in the new text, likewise. Empty if it has no new line.
    pub new: Range<usize>,
}

/// Compares two texts. `budget` bounds the work, see [`DEFAULT_BUDGET`]; reading the texts does not
/// count. The hunks are in ascending order and do not overlap; equal texts have none.
pub fn hunks(before: &[u8], after: &[u8], budget: u64) -> Vec<Hunk> {
    if before == after {
        return Vec::new();
    }
    let mut sides = Sides::new(before, after);
    script::mark(&mut sides, budget);
    for _ in 0..CONTEXT {
        sides.extend();
    }
    let mut old_offsets = Offsets::new(sides.old.text());
    let mut new_offsets = Offsets::new(sides.new.text());
    let mut hunks = Vec::new();
    for change in with_context(changes(&sides), &sides) {
        let new = new_offsets.units(sides.new.bytes(&change.new));
        let old = old_offsets.units(sides.old.bytes(&change.old));
        hunks.push(Hunk {
            old: (!change.old.is_empty()).then_some(old),
            new,
        });
    }
    hunks
}

/// Lines of the old text that lines of the new one stand for.
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// The changes between unchanged lines, joined where at most twice the context lies between them.
fn changes(sides: &Sides) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < sides.old.len() || j < sides.new.len() {
        let old = i..i + changed_from(&sides.old, i);
        let new = j..j + changed_from(&sides.new, j);
        let behind = sides.old.changed[old.end..]
            .iter()
            .zip(&sides.new.changed[new.end..]);
        let unchanged = behind.take_while(|&(&old, &new)| !old && !new).count();
        (i, j) = (old.end + unchanged, new.end + unchanged);
        if old.is_empty() && new.is_empty() {
            continue;
        }
        match changes.last_mut() {
            Some(last) if old.start - last.old.end <= 2 * CONTEXT => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => changes.push(Change { old, new }),
        }
    }
    changes
}

/// How many lines from `start` are changed.
fn changed_from(side: &Side, start: usize) -> usize {
    side.changed[start..]
        .iter()
        .take_while(|&&changed| changed)
        .count()
}

fn with_context(mut changes: Vec<Change>, sides: &Sides) -> Vec<Change> {
    for change in &mut changes {
        let before = change.old.start.min(CONTEXT);
        let behind = (sides.old.len() - change.old.end).min(CONTEXT);
        change.old = change.old.start - before..change.old.end + behind;
        change.new = change.new.start - before..change.new.end + behind;
    }
    changes
}

/// Turns ascending positions in bytes into UTF-16 units, reading the text once.
struct Offsets<'t> {
    text: &'t [u8],
    bytes: usize,
    units: usize,
}

impl<'t> Offsets<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            bytes: 0,
            units: 0,
        }
    }

    fn units(&mut self, bytes: Range<usize>) -> Range<usize> {
        self.advance(bytes.start)..self.advance(bytes.end)
    }

    fn advance(&mut self, bytes: usize) -> usize {
        self.units += utf16_len(&self.text[self.bytes..bytes]);
        self.bytes = bytes;
        self.units
    }
}
