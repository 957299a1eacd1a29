//! The window of a text that one `read` call returns (contract: reads, window algorithm).
//!
//! The text arrives in chunks and is scanned to its end, so that the number of lines is exact. Only
//! the selected lines are kept: what lies before or behind them costs one newline count, and a long
//! line keeps no more than can be shown.
//!
//! Text is UTF-8 in which a lone surrogate may stand as the three bytes it would have as a code
//! point. Lengths of lines are in UTF-16 units, sizes are in bytes. Lines end at `\n` only.

use memchr::{memchr, memchr_iter};

use crate::text::utf16_len;

#[cfg(test)]
mod tests;

/// Whole blocks of this many bytes are counted before anybody looks for a line in them: small
/// enough to stay in the cache for a second look, large enough to count at full speed.
const COUNT_BLOCK: usize = 64 * 1024;

/// What one call asks for.
#[derive(Clone, Copy, Debug)]
pub struct WindowLimits {
    /// Number of the first line to select, 1-based.
    pub offset: u64,
    /// How many lines are selected at most.
    pub limit: u64,
    /// UTF-16 units that are kept of a line; a longer line is truncated and marked.
    pub max_line_units: usize,
    /// How many bytes the selected lines may have, the newlines that join them included.
    pub max_bytes: usize,
}

/// The selected lines of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The selected lines, joined by `\n`. No line holds a `\n`.
    pub text: Vec<u8>,
    /// How many lines are selected. Tells no line from one empty line.
    pub line_count: u64,
    /// How many lines the whole text has. A last segment without `\n` counts if it is not empty.
    pub total_lines: u64,
    /// Whether a line within the limit was left out because it exceeded the bytes.
    pub overflowed: bool,
}

impl Window {
    /// Whether `offset` (1-based) lies behind the last line, which is an error of the call. An
    /// empty text may be read from line 1.
    pub fn offset_out_of_range(&self, offset: u64) -> bool {
        !self.overflowed && offset > self.total_lines && !(self.total_lines == 0 && offset == 1)
    }
}

/// Builds a [`Window`] from the chunks of a text.
pub struct WindowBuilder {
    limits: WindowLimits,
    /// The selected lines so far; the bytes of the open line follow them, behind their `\n`.
    text: Vec<u8>,
    /// The line that is being kept, if the end of the text seen so far lies inside a line to be
    /// selected.
    open: Option<OpenLine>,
    line_count: u64,
    newlines: u64,
    /// Whether the text seen so far ends inside a line.
    ends_in_line: bool,
    overflowed: bool,
}

/// The kept part of a line whose end has not come yet: the tail of the builder's text.
struct OpenLine {
    /// Length of the builder's text without this line and the `\n` before it.
    before: usize,
    /// Where in the builder's text the line starts.
    start: usize,
    /// Units kept, at most one more than may be shown: it takes that one to tell a line that is too
    /// long.
    units: usize,
    /// End in the builder's text of the most characters whose units may be shown.
    cut: usize,
    /// Whether characters were left out, and with them every later one.
    clipped: bool,
}

impl WindowBuilder {
    /// Starts at the beginning of a text.
    pub fn new(limits: WindowLimits) -> Self {
        Self {
            limits,
            text: Vec::new(),
            open: None,
            line_count: 0,
            newlines: 0,
            ends_in_line: false,
            overflowed: false,
        }
    }

    /// Takes the next part of the text. A chunk must not end inside a character, except between the
    /// two halves of a surrogate pair that stand as three bytes each; they count as the one
    /// character.
    pub fn push(&mut self, chunk: &[u8]) {
        let Some(&last) = chunk.last() else { return };
        let mut rest = self.join_pair(chunk);
        rest = self.skip_to_offset(rest);
        while !rest.is_empty() && self.selecting() {
            rest = match memchr(b'\n', rest) {
                Some(end) => {
                    self.keep(&rest[..end]);
                    self.end_line();
                    self.newlines += 1;
                    &rest[end + 1..]
                }
                None => {
                    self.keep(rest);
                    &[]
                }
            };
        }
        self.newlines += count_newlines(rest);
        self.ends_in_line = last != b'\n';
    }

    /// Ends the text.
    pub fn finish(mut self) -> Window {
        if self.open.is_some() {
            self.end_line();
        }
        Window {
            text: self.text,
            line_count: self.line_count,
            total_lines: self.newlines + u64::from(self.ends_in_line),
            overflowed: self.overflowed,
        }
    }

    /// Whether further lines may be selected.
    fn selecting(&self) -> bool {
        !self.overflowed && self.line_count < self.limits.limit
    }

    /// Counts the lines before the window. Returns what of the chunk belongs to the first selected
    /// or a later line.
    fn skip_to_offset<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let mut rest = chunk;
        while !rest.is_empty() {
            let missing = self
                .limits
                .offset
                .saturating_sub(1)
                .saturating_sub(self.newlines);
            if missing == 0 {
                break;
            }
            let block = &rest[..rest.len().min(COUNT_BLOCK)];
            let found = count_newlines(block);
            if found < missing {
                self.newlines += found;
                rest = &rest[block.len()..];
            } else {
                let nth = memchr_iter(b'\n', block).nth(missing as usize - 1);
                self.newlines += missing;
                rest = &rest[nth.map_or(block.len(), |at| at + 1)..];
            }
        }
        rest
    }

    /// Keeps what may be needed of the next part of a line to be selected; `part` holds no `\n`.
    fn keep(&mut self, part: &[u8]) {
        let max = self.limits.max_line_units;
        let line = self.open.get_or_insert_with(|| {
            let before = self.text.len();
            if self.line_count > 0 {
                self.text.push(b'\n');
            }
            let start = self.text.len();
            OpenLine {
                before,
                start,
                units: 0,
                cut: start,
                clipped: false,
            }
        });
        let base = self.text.len();
        let mut taken = 0;
        // No text has more units than bytes, so most lines fit without a look at their characters.
        if !line.clipped && part.len().saturating_add(line.units) <= max {
            taken = part.len();
            line.units += utf16_len(part);
            line.cut = base + taken;
        }
        while taken < part.len() && !line.clipped {
            let (bytes, units) = character_size(part[taken]);
            if line.units + units > max.saturating_add(1) {
                line.clipped = true;
                break;
            }
            taken = part.len().min(taken + bytes);
            line.units += units;
            if line.units <= max {
                line.cut = base + taken;
            }
        }
        // What may be shown is shown, except for one CR: a line this long cannot fit any more.
        if line.cut > self.limits.max_bytes.saturating_add(1) {
            self.overflow();
        } else {
            self.text.extend_from_slice(&part[..taken]);
        }
    }

    /// Ends the open line, if it is still kept: selects it if it fits.
    fn end_line(&mut self) {
        let Some(line) = &self.open else { return };
        let max = self.limits.max_line_units;
        let has_return = self.text[line.start..].last() == Some(&b'\r');
        if line.clipped || line.units - usize::from(has_return) > max {
            self.text.truncate(line.cut);
            self.text
                .extend_from_slice(truncation_marker(max).as_bytes());
        } else if has_return {
            self.text.pop();
        }
        if self.text.len() > self.limits.max_bytes {
            self.overflow();
        } else {
            self.line_count += 1;
            self.open = None;
        }
    }

    /// Drops the open line and ends the selection.
    fn overflow(&mut self) {
        if let Some(line) = self.open.take() {
            self.text.truncate(line.before);
        }
        self.overflowed = true;
    }

    /// Joins a surrogate pair whose halves are the end of the kept text and the start of the chunk.
    /// Returns what is left of the chunk.
    fn join_pair<'c>(&mut self, chunk: &'c [u8]) -> &'c [u8] {
        let Some(line) = self.open.as_mut().filter(|line| !line.clipped) else {
            return chunk;
        };
        let ([.., 0xED, a @ 0xA0..=0xAF, b], [0xED, c @ 0xB0..=0xBF, d, rest @ ..]) =
            (&self.text[line.start..], chunk)
        else {
            return chunk;
        };
        let high = u32::from(a & 0x0F) << 6 | u32::from(b & 0x3F);
        let low = u32::from(c & 0x0F) << 6 | u32::from(d & 0x3F);
        let joined =
            char::from_u32(0x1_0000 + (high << 10 | low)).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.text.truncate(self.text.len() - 3);
        line.units -= 1;
        line.cut = line.cut.min(self.text.len());
        self.keep(joined.encode_utf8(&mut [0; 4]).as_bytes());
        rest
    }
}

/// What replaces the end of a line of more than `max` units.
fn truncation_marker(max: usize) -> String {
    format!("... (line truncated to {max} chars)")
}

fn count_newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Bytes and UTF-16 units of the character that starts with `first`.
fn character_size(first: u8) -> (usize, usize) {
    match first {
        0..=0x7F => (1, 1),
        0x80..=0xDF => (2, 1),
        0xE0..=0xEF => (3, 1),
        0xF0..=0xFF => (4, 2),
    }
}
