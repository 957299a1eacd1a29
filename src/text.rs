//! Text as it travels through the crate: UTF-8 bytes, in which a lone surrogate that came from
//! JavaScript is kept in its three-byte form (WTF-8), so that nothing is lost on the way through.

use std::borrow::Cow;

use crate::memory;

/// A text. Bytes are valid UTF-8, except that surrogates without a partner may stand in it as
/// `ED A0..BF xx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Vec<u8>);

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
/// Bytes that are converted at once.
const STEP: usize = 64 << 10;

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Text {
    /// Takes bytes that are known to be valid text.
    pub fn from_valid(bytes: Vec<u8>) -> Self {
        Text(bytes)
    }

    /// Converts the UTF-16 units of a JavaScript string.
    pub fn from_utf16(units: &[u16]) -> Self {
        let well_formed = encoding_rs::mem::utf16_valid_up_to(units);
        if well_formed < units.len() {
            return Text(encode_with_surrogates(units));
        }
        // Three bytes a unit is the most that UTF-8 needs; ASCII needs one.
        let mut bytes = memory::zeroed(units.len());
        let mut read_total = 0;
        let mut written_total = 0;
        loop {
            let (read, written) = encoding_rs::mem::convert_utf16_to_utf8_partial(
                &units[read_total..],
                &mut bytes[written_total..],
            );
            read_total += read;
            written_total += written;
            if read_total == units.len() {
                bytes.truncate(written_total);
                return Text(bytes);
            }
            bytes.resize(written_total + (units.len() - read_total) * 3, 0);
        }
    }

    /// The bytes, as described at the type.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, given away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The text with each lone surrogate replaced by U+FFFD, as a file stores it.
    pub fn to_utf8(&self) -> Cow<'_, [u8]> {
        if simdutf8::basic::from_utf8(&self.0).is_ok() {
            return Cow::Borrowed(&self.0);
        }
        let mut stored = Vec::with_capacity(self.0.len());
        let mut rest = self.0.as_slice();
        while let Some(at) = surrogate_position(rest) {
            stored.extend_from_slice(&rest[..at]);
            stored.extend_from_slice(REPLACEMENT);
            rest = &rest[at + 3..];
        }
        stored.extend_from_slice(rest);
        Cow::Owned(stored)
    }

    /// The text with every CRLF turned into LF, in one pass (CR CR LF becomes CR LF).
    pub fn to_lf(&self) -> Cow<'_, [u8]> {
        to_lf(&self.0)
    }

    /// The text with every CRLF turned into LF, in one pass (CR CR LF becomes CR LF).
    pub fn into_lf(self) -> Text {
        match to_lf(&self.0) {
            Cow::Owned(normalised) => Text(normalised),
            Cow::Borrowed(_) => self,
        }
    }

    /// The UTF-16 units of the text.
    pub fn to_utf16(&self) -> Vec<u16> {
        if let Ok(valid) = simdutf8::basic::from_utf8(&self.0) {
            return units_of(valid);
        }
        let mut units = memory::with_capacity(self.0.len());
        let mut rest = self.0.as_slice();
        while let Some(at) = surrogate_position(rest) {
            units.extend(valid_str(&rest[..at]).encode_utf16());
            let unit =
                0xD000 | u16::from(rest[at + 1] & 0x3F) << 6 | u16::from(rest[at + 2] & 0x3F);
            units.push(unit);
            rest = &rest[at + 3..];
        }
        units.extend(valid_str(rest).encode_utf16());
        units
    }
}

/// The UTF-16 units of a text. Made in steps that stay in the processor's cache: the converter wants
/// room for one unit a byte, of which text that is not ASCII leaves most untouched.
fn units_of(text: &str) -> Vec<u16> {
    let mut units = memory::with_capacity(text.len());
    let mut step_units = vec![0; text.len().min(STEP) + 1];
    let mut rest = text;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(whole_characters(
            rest.as_bytes().get(..STEP).unwrap_or(rest.as_bytes()),
        ));
        let written = encoding_rs::mem::convert_str_to_utf16(step, &mut step_units);
        units.extend_from_slice(&step_units[..written]);
        rest = behind;
    }
    // Whoever keeps the units accounts for all of their memory.
    units.shrink_to_fit();
    units
}

/// Turns every CRLF into LF, in one pass.
pub fn to_lf(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memmem::find(bytes, b"\r\n") else {
        return Cow::Borrowed(bytes);
    };
    let mut normalised = memory::with_capacity(bytes.len());
    normalised.extend_from_slice(&bytes[..first]);
    let mut start = first;
    while let Some(at) = memchr::memmem::find(&bytes[start + 1..], b"\r\n") {
        normalised.extend_from_slice(&bytes[start + 1..start + 1 + at]);
        start += 1 + at;
    }
    normalised.extend_from_slice(&bytes[start + 1..]);
    Cow::Owned(normalised)
}

/// Drops one leading byte-order mark.
pub fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BOM).unwrap_or(bytes)
}

/// Whether the text has nothing but white space, as JavaScript's `trim` sees it.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(c, '\u{9}'..='\u{D}' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}')
            || matches!(
                c,
                '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}'
            )
    })
}

/// Number of UTF-16 units of a text that does not start or end inside a character.
pub fn utf16_len(bytes: &[u8]) -> usize {
    // Every byte that starts a character is a unit; a four-byte character is two. Summed up in
    // bytes first, of which a vector register holds many; two units a byte at most.
    let units = |byte: &u8| u8::from(byte & 0xC0 != 0x80) + u8::from(*byte >= 0xF0);
    bytes
        .chunks(127)
        .map(|block| usize::from(block.iter().map(units).sum::<u8>()))
        .sum()
}

/// Length of `bytes` without a character at the end that more bytes might complete.
pub fn whole_characters(bytes: &[u8]) -> usize {
    for (behind, &byte) in bytes.iter().rev().take(3).enumerate() {
        let width = match byte {
            0x80..=0xBF => continue,
            0x00..=0x7F => 1,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
        };
        return if width > behind + 1 {
            bytes.len() - behind - 1
        } else {
            bytes.len()
        };
    }
    bytes.len()
}

fn valid_str(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Position of the first surrogate in three-byte form.
fn surrogate_position(bytes: &[u8]) -> Option<usize> {
    // ED starts U+D000..U+DFFF; from A0 on its second byte makes a surrogate.
    memchr::memchr_iter(0xED, bytes).find(|&at| bytes.get(at + 1).is_some_and(|&b| b >= 0xA0))
}

fn encode_with_surrogates(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(units.len() * 3);
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                bytes.extend_from_slice(&[
                    0xED,
                    0x80 | (unit >> 6 & 0x3F) as u8,
                    0x80 | (unit & 0x3F) as u8,
                ]);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_units_survive_the_round_trip(units: Vec<u16>) {
            prop_assert_eq!(Text::from_utf16(&units).to_utf16(), units);
        }

        #[test]
        fn stored_form_is_what_javascript_encodes(units: Vec<u16>) {
            let expected = String::from_utf16_lossy(&units);
            let text = Text::from_utf16(&units);
            prop_assert_eq!(text.to_utf8().into_owned(), expected.into_bytes());
            prop_assert_eq!(utf16_len(text.as_bytes()), units.len());
        }

        #[test]
        fn lf_form_equals_a_plain_replacement(text in "[a\r\n]{0,40}") {
            let expected = text.replace("\r\n", "\n").into_bytes();
            prop_assert_eq!(to_lf(text.as_bytes()).into_owned(), expected);
        }
    }

    #[test]
    fn a_large_text_is_converted_whole() {
        for start in ["", "a", "ab"] {
            let text = format!("{start}{}", "文".repeat(STEP));
            let units = Text::from_valid(text.clone().into_bytes()).to_utf16();
            assert!(units == text.encode_utf16().collect::<Vec<_>>());
        }
    }

    #[test]
    fn units_are_counted_across_blocks_and_for_lone_surrogates() {
        assert_eq!(utf16_len(b"\xED\xA0\x80"), 1);
        assert_eq!(utf16_len("é\u{1F600}".repeat(1000).as_bytes()), 3000);
        assert_eq!(utf16_len(&[0xF0; 300]), 600);
    }

    #[test]
    fn blank_follows_javascript_trim() {
        assert!(is_blank(""));
        assert!(is_blank(" \t\r\n\u{B}\u{C}\u{A0}\u{FEFF}\u{3000}"));
        assert!(!is_blank("\u{85}"));
        assert!(!is_blank("\u{200B}"));
    }

    #[test]
    fn one_mark_is_dropped() {
        assert_eq!(without_bom(b"\xEF\xBB\xBF\xEF\xBB\xBFk"), b"\xEF\xBB\xBFk");
        assert_eq!(without_bom(b"k"), b"k");
    }
}
