use proptest::prelude::*;

use super::*;

const DEFAULTS: WindowLimits = WindowLimits {
    offset: 1,
    limit: 2000,
    max_line_units: 2000,
    max_bytes: 51_200,
};

fn window(text: &str, limits: WindowLimits) -> Window {
    let mut builder = WindowBuilder::new(limits);
    builder.push(text.as_bytes());
    builder.finish()
}

fn lines(window: &Window) -> Vec<String> {
    if window.line_count == 0 {
        assert!(window.text.is_empty());
        return Vec::new();
    }
    let text = String::from_utf8(window.text.clone()).unwrap();
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    assert_eq!(lines.len() as u64, window.line_count);
    lines
}

/// WTF-8 of UTF-16 units: pairs become one character, other surrogates three bytes.
fn wtf8(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(character) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Err(lone) => {
                let unit = lone.unpaired_surrogate();
                bytes.push(0xED);
                bytes.push(0x80 | (unit >> 6 & 0x3F) as u8);
                bytes.push(0x80 | (unit & 0x3F) as u8);
            }
        }
    }
    bytes
}

/// The algorithm of the contract over a whole text.
fn reference(text: &[u16], limits: WindowLimits) -> Window {
    let mut all: Vec<&[u16]> = text.split(|&unit| unit == 0x0A).collect();
    if all.last().is_some_and(|line| line.is_empty()) {
        all.pop();
    }
    let mut selected: Vec<Vec<u8>> = Vec::new();
    let mut sum = 0;
    let mut overflowed = false;
    for (index, &line) in all.iter().enumerate() {
        let number = index as u64 + 1;
        if overflowed || number < limits.offset || selected.len() as u64 >= limits.limit {
            continue;
        }
        let line = line.strip_suffix(&[0x0D]).unwrap_or(line);
        let max = limits.max_line_units;
        let shown = if line.len() > max {
            let splits =
                (0xD800..0xDC00).contains(&line[max - 1]) && (0xDC00..0xE000).contains(&line[max]);
            let mut shown = wtf8(&line[..max - usize::from(splits)]);
            shown.extend_from_slice(format!("... (line truncated to {max} chars)").as_bytes());
            shown
        } else {
            wtf8(line)
        };
        let cost = shown.len() + usize::from(!selected.is_empty());
        if sum + cost > limits.max_bytes {
            overflowed = true;
        } else {
            sum += cost;
            selected.push(shown);
        }
    }
    Window {
        text: selected.join(&b'\n'),
        line_count: selected.len() as u64,
        total_lines: all.len() as u64,
        overflowed,
    }
}

#[test]
fn counts_lines_by_newline_only() {
    assert_eq!(window("", DEFAULTS).total_lines, 0);
    assert_eq!(lines(&window("\n", DEFAULTS)), [""]);
    assert_eq!(lines(&window("u\nv", DEFAULTS)), ["u", "v"]);
    assert_eq!(lines(&window("u\nv\n", DEFAULTS)), ["u", "v"]);
    assert_eq!(
        lines(&window("u\r\nv\r\r\nw\rx", DEFAULTS)),
        ["u", "v\r", "w\rx"]
    );
    assert_eq!(lines(&window("\r", DEFAULTS)), [""]);
    assert_eq!(
        lines(&window("a\u{2028}b\u{85}c\u{b}d\u{c}e", DEFAULTS)).len(),
        1
    );
}

#[test]
fn selects_from_the_offset_up_to_the_limit() {
    let text: String = (1..=12).map(|n| format!("{n}\n")).collect();
    let middle = window(
        &text,
        WindowLimits {
            offset: 5,
            limit: 3,
            ..DEFAULTS
        },
    );
    assert_eq!(lines(&middle), ["5", "6", "7"]);
    assert_eq!(middle.total_lines, 12);
    let end = window(
        &text,
        WindowLimits {
            offset: 11,
            limit: 9,
            ..DEFAULTS
        },
    );
    assert_eq!(lines(&end), ["11", "12"]);
    let behind = window(
        &text,
        WindowLimits {
            offset: 13,
            ..DEFAULTS
        },
    );
    assert_eq!(lines(&behind), Vec::<String>::new());
    assert!(behind.offset_out_of_range(13));
    assert!(!end.offset_out_of_range(11));
}

#[test]
fn an_empty_text_is_in_range_from_line_one_only() {
    let empty = window("", DEFAULTS);
    assert!(!empty.offset_out_of_range(1));
    assert!(empty.offset_out_of_range(2));
}

#[test]
fn truncates_long_lines() {
    let marker = "... (line truncated to 2000 chars)";
    let fits = "x".repeat(2000);
    assert_eq!(
        lines(&window(&format!("{fits}y"), DEFAULTS)),
        [format!("{fits}{marker}")]
    );
    assert_eq!(
        lines(&window(&format!("{fits}\r\n"), DEFAULTS)).concat(),
        fits
    );
    assert_eq!(
        lines(&window(&format!("{fits}\r"), DEFAULTS)).concat(),
        fits
    );
    for hidden in ["\rHIDDEN\nnext", "\r\r\nnext", "\rH\r\nnext"] {
        assert_eq!(
            lines(&window(&format!("{fits}{hidden}"), DEFAULTS)),
            [format!("{fits}{marker}"), "next".into()]
        );
    }
}

#[test]
fn never_cuts_a_pair() {
    let before = "x".repeat(1999);
    assert_eq!(
        lines(&window(&format!("{before}\u{1F600}more"), DEFAULTS)),
        [format!("{before}... (line truncated to 2000 chars)")]
    );
    assert_eq!(
        lines(&window(&format!("{before}\u{1F600}"), DEFAULTS)).len(),
        1
    );
    let whole = format!("{}\u{1F600}", "x".repeat(1998));
    assert_eq!(lines(&window(&whole, DEFAULTS)).concat(), whole);
}

#[test]
fn joins_a_pair_that_chunks_split() {
    let limits = WindowLimits {
        max_line_units: 2,
        ..DEFAULTS
    };
    for (chunks, text) in [
        (vec![&b"\xED\xA0\xBD"[..], b"\xED\xB8\x80"], "\u{1F600}"),
        (
            vec![b"x\xED\xA0\xBD", b"\xED\xB8\x80"],
            "x... (line truncated to 2 chars)",
        ),
        (
            vec![b"xy\xED\xA0\xBD", b"\xED\xB8\x80"],
            "xy... (line truncated to 2 chars)",
        ),
    ] {
        let mut builder = WindowBuilder::new(limits);
        chunks.into_iter().for_each(|chunk| builder.push(chunk));
        let window = builder.finish();
        assert_eq!(lines(&window), [text]);
        assert_eq!(window.total_lines, 1);
    }
}

#[test]
fn stops_at_the_bytes() {
    let full = format!("{}\n", "z".repeat(1023)).repeat(50);
    let over = window(&format!("{full}e"), DEFAULTS);
    assert_eq!(
        (over.line_count, over.total_lines, over.overflowed),
        (50, 51, true)
    );
    assert_eq!(over.text.len(), 51_199);
    let exact = window(&format!("{full}\n"), DEFAULTS);
    assert_eq!(
        (exact.line_count, exact.text.len(), exact.overflowed),
        (51, 51_200, false)
    );
    let wide = window(&format!("{}\n", "é".repeat(600)).repeat(60), DEFAULTS);
    assert_eq!((wide.line_count, wide.total_lines), (42, 60));
    let none = window(
        "aaa\nb",
        WindowLimits {
            max_bytes: 2,
            ..DEFAULTS
        },
    );
    assert_eq!(
        (none.line_count, none.total_lines, none.overflowed),
        (0, 2, true)
    );
    assert!(!none.offset_out_of_range(9));
}

#[test]
fn keeps_no_more_of_a_line_than_can_be_shown() {
    let chunk = vec![b'x'; 1 << 20];
    let mut shown = WindowBuilder::new(DEFAULTS);
    let mut unlimited = WindowBuilder::new(WindowLimits {
        max_line_units: usize::MAX,
        ..DEFAULTS
    });
    for _ in 0..64 {
        shown.push(&chunk);
        unlimited.push(&chunk);
        assert!(shown.text.capacity() <= 4096);
        assert!(unlimited.text.capacity() <= 1 << 20);
    }
    let shown = shown.finish();
    assert_eq!((shown.line_count, shown.total_lines), (1, 1));
    let unlimited = unlimited.finish();
    assert_eq!((unlimited.line_count, unlimited.overflowed), (0, true));
}

fn unit() -> impl Strategy<Value = u16> {
    prop_oneof![
        3 => Just(0x0A),
        2 => Just(0x0D),
        3 => Just(0x78),
        2 => prop_oneof![Just(0xE9), Just(0x20AC), Just(0x2028)],
        2 => 0xD83D..0xD83Fu16,
        2 => 0xDE00..0xDE02u16,
    ]
}

/// Texts of units that are drawn one by one, with runs that are longer than a line may be.
fn text() -> impl Strategy<Value = Vec<u16>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(unit(), 0..12),
        1 => (unit(), 0..20usize).prop_map(|(unit, count)| vec![unit; count]),
        1 => (0..12usize).prop_map(|count| [0xD83D, 0xDE00].repeat(count)),
        1 => (0..20usize).prop_map(|count| [vec![0x78; count], vec![0x0D, 0x0A]].concat()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn agrees_with_the_whole_text_algorithm(
        text in text(),
        offset in 1..12u64,
        limit in 1..10u64,
        max_line_units in 1..14usize,
        max_bytes in prop_oneof![1..80usize, 80..600usize],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let limits = WindowLimits { offset, limit, max_line_units, max_bytes };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let mut builder = WindowBuilder::new(limits);
        let mut from = 0;
        for to in cuts.into_iter().chain([text.len()]) {
            builder.push(&wtf8(&text[from..to]));
            from = to;
        }
        prop_assert_eq!(builder.finish(), reference(&text, limits));
    }

    #[test]
    fn finds_far_offsets_across_blocks(
        width in 0..40usize,
        count in 3000..9000u64,
        offset in 1..9000u64,
        chunk in 1..200_000usize,
    ) {
        let text = format!("{}\n", "x".repeat(width)).repeat(count as usize);
        let limits = WindowLimits { offset, limit: 2, ..DEFAULTS };
        let mut builder = WindowBuilder::new(limits);
        text.as_bytes().chunks(chunk).for_each(|chunk| builder.push(chunk));
        let window = builder.finish();
        prop_assert_eq!(window.total_lines, count);
        prop_assert_eq!(window.line_count, (count + 1).saturating_sub(offset).min(2));
        prop_assert_eq!(window.offset_out_of_range(offset), offset > count);
    }
}
