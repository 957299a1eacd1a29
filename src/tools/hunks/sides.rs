//! The lines of two texts, as far as a diff has to look at them.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::CONTEXT;

/// Two texts without most of what they have in common at their start and end.
pub(super) struct Sides<'t> {
    pub(super) old: Side<'t>,
    pub(super) new: Side<'t>,
    /// How many lines at the start are known to be equal: what the first hunk needs as context.
    pub(super) lead: usize,
    /// How many lines at the end are known to be equal and have been split.
    pub(super) trail: usize,
    /// Bytes behind them that are equal whole lines and have not been split.
    rest: usize,
}

/// The lines of one text. A line includes its `\n`; the last one may have none.
pub(super) struct Side<'t> {
    text: &'t [u8],
    /// Where each line starts, and behind them where the last one ends, in bytes.
    starts: Vec<usize>,
    /// For each line a digest: equal for equal lines, and hardly ever for others.
    pub(super) keys: Vec<u64>,
    /// For each line whether it is removed, or added.
    pub(super) changed: Vec<bool>,
}

impl<'t> Sides<'t> {
    /// Splits the lines from the first to the last difference, and `CONTEXT` equal ones before
    /// them. They count as changed until told otherwise.
    pub(super) fn new(before: &'t [u8], after: &'t [u8]) -> Self {
        let same = line_start(before, common_prefix(before, after));
        let tail = common_tail(&before[same..], &after[same..]);
        let mut start = same;
        let mut lead = 0;
        while lead < CONTEXT && start > 0 {
            start = line_start(before, start - 1);
            lead += 1;
        }
        let mut sides = Self {
            old: Side::new(before, start..before.len() - tail),
            new: Side::new(after, start..after.len() - tail),
            lead,
            trail: 0,
            rest: tail,
        };
        sides.old.changed[..lead].fill(false);
        sides.new.changed[..lead].fill(false);
        sides
    }

    /// Splits one more line of the equal end, on both sides. Tells whether there is one.
    pub(super) fn extend(&mut self) -> bool {
        let rest = self.rest();
        if rest.is_empty() {
            return false;
        }
        let len = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        self.old.push(len, false);
        self.new.push(len, false);
        self.trail += 1;
        self.rest -= len;
        true
    }

    /// How many lines of the equal end have not been split.
    pub(super) fn count_rest(&self) -> usize {
        let rest = self.rest();
        let open = rest.last().is_some_and(|&last| last != b'\n');
        memchr_iter(b'\n', rest).count() + usize::from(open)
    }

    fn rest(&self) -> &'t [u8] {
        let text = self.old.text;
        &text[text.len() - self.rest..]
    }
}

impl<'t> Side<'t> {
    fn new(text: &'t [u8], range: Range<usize>) -> Self {
        let core = &text[range.clone()];
        let lines = memchr_iter(b'\n', core).count() + 1;
        let mut side = Self {
            text,
            starts: Vec::with_capacity(lines + 1),
            keys: Vec::with_capacity(lines),
            changed: Vec::with_capacity(lines),
        };
        side.starts.push(range.start);
        let mut start = range.start;
        let ends = memchr_iter(b'\n', core).map(|at| range.start + at + 1);
        let open = core.last().is_some_and(|&last| last != b'\n');
        for end in ends.chain(open.then_some(range.end)) {
            side.push(end - start, true);
            start = end;
        }
        side
    }

    /// Takes the next `len` bytes as a line.
    fn push(&mut self, len: usize, changed: bool) {
        let start = self.starts[self.changed.len()];
        self.starts.push(start + len);
        self.keys.push(key(&self.text[start..start + len]));
        self.changed.push(changed);
    }

    pub(super) fn len(&self) -> usize {
        self.changed.len()
    }

    /// The bytes of `len` lines from `start`, as far as they have been split.
    pub(super) fn lines(&self, start: usize, len: usize) -> &'t [u8] {
        let split = self.changed.len();
        &self.text[self.starts[start.min(split)]..self.starts[(start + len).min(split)]]
    }

    /// Marks `len` lines from `start` as unchanged, as far as they have been split.
    pub(super) fn keep(&mut self, start: usize, len: usize) {
        let split = self.changed.len();
        self.changed[start.min(split)..(start + len).min(split)].fill(false);
    }

    pub(super) fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The bytes of some lines, without the last one's `\n`.
    pub(super) fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let range = self.starts[lines.start]..self.starts[lines.end];
        let newline = self.text[range.clone()].last() == Some(&b'\n');
        range.start..range.end - usize::from(newline)
    }
}

/// Where the line starts that the byte at `at` belongs to, or would belong to.
fn line_start(text: &[u8], at: usize) -> usize {
    memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1)
}

/// How many bytes at the start of two texts are equal.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 1024;
    let blocks = a
        .chunks_exact(BLOCK)
        .zip(b.chunks_exact(BLOCK))
        .take_while(|(x, y)| x == y);
    let equal = blocks.count() * BLOCK;
    equal
        + a[equal..]
            .iter()
            .zip(&b[equal..])
            .take_while(|(x, y)| x == y)
            .count()
}

/// How many bytes at the end of two texts are equal whole lines.
fn common_tail(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 1024;
    let blocks = a
        .rchunks_exact(BLOCK)
        .zip(b.rchunks_exact(BLOCK))
        .take_while(|(x, y)| x == y);
    let equal = blocks.count() * BLOCK;
    let (rest_a, rest_b) = (&a[..a.len() - equal], &b[..b.len() - equal]);
    let more = rest_a
        .iter()
        .rev()
        .zip(rest_b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let equal = equal + more;
    let starts_line = |text: &[u8]| {
        text[..text.len() - equal]
            .last()
            .is_none_or(|&b| b == b'\n')
    };
    if starts_line(a) && starts_line(b) {
        return equal;
    }
    memchr(b'\n', &a[a.len() - equal..]).map_or(0, |at| equal - at - 1)
}

/// A digest of a line: its words of eight bytes, each multiplied in and folded to a word.
fn key(line: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, rest) = line.as_chunks::<8>();
    let state = words.iter().fold(line.len() as u64, |state, word| {
        fold(state, u64::from_le_bytes(*word))
    });
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(fold(state, u64::from_le_bytes(last)), FACTOR)
}
