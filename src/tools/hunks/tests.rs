use proptest::prelude::*;

use super::super::myers::{Run, common_runs};
use super::script::{apply, large_script, small_script};
use super::*;

/// Old and new text of each hunk, cut out of the UTF-16 forms.
fn texts(before: &str, after: &str) -> Vec<(Option<String>, String)> {
    let (old, new) = (units(before), units(after));
    hunks(before.as_bytes(), after.as_bytes(), DEFAULT_BUDGET)
        .into_iter()
        .map(|hunk| {
            let cut = |text: &[u16], range| String::from_utf16(&text[range]).unwrap();
            (hunk.old.map(|range| cut(&old, range)), cut(&new, hunk.new))
        })
        .collect()
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn hunk(old: &str, new: &str) -> (Option<String>, String) {
    (Some(old.to_owned()), new.to_owned())
}

/// Lines `s<first>` to `s<last>`, some of them replaced.
fn numbered(first: u32, last: u32, replaced: &[u32]) -> String {
    let line = |n| {
        if replaced.contains(&n) {
            format!("new{n}\n")
        } else {
            format!("s{n}\n")
        }
    };
    (first..=last).map(line).collect()
}

#[test]
fn texts_without_lines() {
    assert_eq!(texts("", ""), []);
    assert_eq!(texts("x\ny\n", "x\ny\n"), []);
    assert_eq!(texts("", "x\ny\n"), [(None, "x\ny".to_owned())]);
    assert_eq!(texts("", "\n"), [(None, String::new())]);
    assert_eq!(texts("x\ny\n", ""), [hunk("x\ny", "")]);
}

#[test]
fn the_final_newline_counts() {
    assert_eq!(texts("z\n", "z"), [hunk("z", "z")]);
    assert_eq!(texts("z", "z\n"), [hunk("z", "z")]);
    assert_eq!(texts("a\nz", "a\nz\nb"), [hunk("a\nz", "a\nz\nb")]);
}

#[test]
fn an_insertion_has_context_and_old_text() {
    let before = numbered(1, 11, &[]);
    let after = format!("{}N\n{}", numbered(1, 5, &[]), numbered(6, 11, &[]));
    assert_eq!(
        texts(&before, &after),
        [hunk("s3\ns4\ns5\ns6\ns7\ns8", "s3\ns4\ns5\nN\ns6\ns7\ns8")]
    );
}

#[test]
fn seven_unchanged_lines_split_and_six_do_not() {
    let before = numbered(1, 20, &[]);
    let cut = |first, last, replaced: &[u32]| {
        numbered(first, last, replaced)
            .trim_end_matches('\n')
            .to_owned()
    };
    assert_eq!(
        texts(&before, &numbered(1, 20, &[4, 12])),
        [
            hunk(&cut(1, 7, &[]), &cut(1, 7, &[4])),
            hunk(&cut(9, 15, &[]), &cut(9, 15, &[12])),
        ]
    );
    assert_eq!(
        texts(&before, &numbered(1, 20, &[4, 11])),
        [hunk(&cut(1, 14, &[]), &cut(1, 14, &[4, 11]))]
    );
}

#[test]
fn changes_in_a_run_of_equal_lines_come_at_its_end() {
    let run = |count| format!("p\n{}q\n", "r\n".repeat(count));
    assert_eq!(
        texts(&run(8), &run(9)),
        [hunk("r\nr\nr\nq", "r\nr\nr\nr\nq")]
    );
    assert_eq!(
        texts(&run(9), &run(8)),
        [hunk("r\nr\nr\nr\nq", "r\nr\nr\nq")]
    );
}

#[test]
fn only_newlines_end_lines_and_positions_are_in_utf16_units() {
    let before = "é\u{1F600}\u{2028}a\rb\r\n1\n2\n3\nx";
    assert_eq!(
        texts(before, &before.replace("x", "y")),
        [hunk("1\n2\n3\nx", "1\n2\n3\ny")]
    );
    let found = hunks(
        before.as_bytes(),
        before.replace('x', "y").as_bytes(),
        DEFAULT_BUDGET,
    );
    assert_eq!(
        found,
        [Hunk {
            old: Some(9..16),
            new: 9..16
        }]
    );
    let lone = b"\xED\xA0\x80\n1\n2\n3\n\xED\xB0\x80";
    let found = hunks(lone, b"\xED\xA0\x80\n1\n2\n3\n", DEFAULT_BUDGET);
    assert_eq!(
        found,
        [Hunk {
            old: Some(2..9),
            new: 2..7
        }]
    );
}

#[test]
fn without_budget_one_hunk_spans_all_differences() {
    let before = numbered(1, 60, &[]);
    let after = [
        (1, 9),
        (30, 30),
        (11, 29),
        (50, 50),
        (31, 49),
        (10, 10),
        (51, 60),
    ]
    .map(|(first, last)| numbered(first, last, &[]))
    .concat();
    let found = hunks(before.as_bytes(), after.as_bytes(), 10);
    let span = numbered(1, 6, &[]).len()..numbered(1, 53, &[]).len() - 1;
    assert_eq!(
        found,
        [Hunk {
            old: Some(span.clone()),
            new: span
        }]
    );
    assert_eq!(
        hunks(before.as_bytes(), after.as_bytes(), DEFAULT_BUDGET).len(),
        3
    );
}

#[test]
fn large_rewrites_keep_what_is_shared() {
    let lines = |name: &str| {
        (0..3000)
            .map(|n| format!("{name}{n}\n"))
            .collect::<Vec<_>>()
    };
    let (mut old, mut new) = (lines("old"), lines("new"));
    for at in (0..3000).step_by(100) {
        old[at] = format!("both{at}\n");
        new[at] = format!("both{at}\n");
    }
    let (before, after) = (old.concat(), new.concat());
    let mut sides = Sides::new(before.as_bytes(), after.as_bytes());
    assert_eq!(small_script(&mut sides, 1 << 19), None);
    assert!(large_script(&mut sides, 1000).is_some());
    script::mark(&mut sides, DEFAULT_BUDGET);
    assert_eq!(
        sides.old.changed.iter().filter(|&&changed| changed).count(),
        2970
    );
    assert_eq!(
        sides.new.changed.iter().filter(|&&changed| changed).count(),
        2970
    );
}

#[test]
fn small_changes_do_not_look_at_the_rest_of_the_texts() {
    let before = numbered(1, 100_000, &[]);
    let after = numbered(1, 100_000, &[50, 80, 90]);
    let mut sides = Sides::new(before.as_bytes(), after.as_bytes());
    assert_eq!((sides.old.len(), sides.new.len()), (44, 44));
    script::mark(&mut sides, DEFAULT_BUDGET);
    assert!(sides.old.len() < 50, "{}", sides.old.len());
    assert_eq!(
        hunks(before.as_bytes(), after.as_bytes(), DEFAULT_BUDGET).len(),
        3
    );
}

#[test]
fn different_lines_of_one_digest_leave_all_lines_marked() {
    let mut sides = Sides::new(b"a\nb\nc\n", b"x\nb\ny\n");
    apply(
        &mut sides,
        &[
            Run {
                old: 1,
                new: 1,
                len: 1,
            },
            Run {
                old: 2,
                new: 2,
                len: 1,
            },
        ],
    );
    assert_eq!(sides.old.changed, [true; 3]);
    apply(
        &mut sides,
        &[Run {
            old: 1,
            new: 1,
            len: 1,
        }],
    );
    assert_eq!(sides.old.changed, [true, false, true]);
}

/// Lines with their newline.
fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The hunks of two whole texts, line by line and with nothing left out beforehand.
fn reference(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let (old, new) = (split(before), split(after));
    let same = |i: usize, j: usize| old[i] == new[j];
    let runs = common_runs(old.len(), new.len(), 0, same, u64::MAX).unwrap();
    // For each row of a unified diff the lines above it, and whether it is a change.
    let mut rows = Vec::new();
    let (mut i, mut j) = (0, 0);
    for run in runs.into_iter().chain([Run {
        old: old.len(),
        new: new.len(),
        len: 0,
    }]) {
        rows.extend((i..run.old).map(|i| (i, j, true)));
        rows.extend((j..run.new).map(|j| (run.old, j, true)));
        rows.extend((0..run.len).map(|at| (run.old + at, run.new + at, false)));
        (i, j) = (run.old + run.len, run.new + run.len);
    }
    rows.push((i, j, false));
    let near = |at: usize| {
        rows[at.saturating_sub(3)..rows.len().min(at + 4)]
            .iter()
            .any(|&(_, _, change)| change)
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < rows.len() {
        let start = at;
        while at + 1 < rows.len() && near(at) {
            at += 1;
        }
        if at > start {
            let ((i, j, _), (k, l, _)) = (rows[start], rows[at]);
            let old = (i < k).then(|| range(&old, i, k));
            found.push(Hunk {
                old,
                new: range(&new, j, l),
            });
        }
        at += usize::from(at + 1 < rows.len() && at == start);
    }
    found
}

/// The one hunk that stands for all from the first to the last difference.
fn whole(before: &[u8], after: &[u8]) -> Hunk {
    let (old, new) = (split(before), split(after));
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let behind = rest.take_while(|(a, b)| a == b).count().saturating_sub(3);
    let start = start.saturating_sub(3);
    let (old_end, new_end) = (old.len() - behind, new.len() - behind);
    let old = (start < old_end).then(|| range(&old, start, old_end));
    Hunk {
        old,
        new: range(&new, start, new_end),
    }
}

/// The UTF-16 range of some lines, without the last newline.
fn range(lines: &[&[u8]], from: usize, to: usize) -> Range<usize> {
    let start = utf16_len(&lines[..from].concat());
    let text = lines[from..to].concat();
    start..start + utf16_len(text.strip_suffix(b"\n").unwrap_or(&text))
}

/// Puts the new text of each hunk in the place of its old one.
fn patched(before: &str, after: &str, hunks: &[Hunk]) -> Vec<u16> {
    let (old, new) = (units(before), units(after));
    let mut text = Vec::new();
    let mut at = 0;
    for hunk in hunks {
        let range = hunk.old.clone().unwrap_or(0..0);
        assert!(range.start >= at && range.end >= range.start, "ascending");
        text.extend_from_slice(&old[at..range.start]);
        assert_eq!(
            text.len(),
            hunk.new.start,
            "unchanged lines before a hunk are equally long"
        );
        text.extend_from_slice(&new[hunk.new.clone()]);
        at = range.end;
    }
    let (old_rest, new_rest) = (
        &old[at..],
        &new[hunks.last().map_or(0, |hunk| hunk.new.end)..],
    );
    if old_rest != new_rest {
        // Only a hunk that ends with both texts may differ in the newline it leaves out.
        assert!(
            [old_rest, new_rest]
                .iter()
                .all(|rest| rest.is_empty() || *rest == [0x0A])
        );
    }
    text.extend_from_slice(new_rest);
    text
}

fn check_sides(before: &[u8], after: &[u8], sides: &mut Sides) -> Result<(), TestCaseError> {
    sides.extend();
    let kept = |side: &Side| -> Vec<Vec<u8>> {
        let lines = (0..side.len()).filter(|&at| !side.changed[at]);
        lines.map(|at| side.lines(at, 1).to_vec()).collect()
    };
    prop_assert_eq!(kept(&sides.old), kept(&sides.new));
    let (old, new) = (split(before), split(after));
    let changed: usize = [&sides.old, &sides.new]
        .map(|side| side.changed.iter().filter(|&&changed| changed).count())
        .iter()
        .sum();
    prop_assert_eq!(changed, old.len() + new.len() - 2 * longest(&old, &new));
    for side in [&sides.old, &sides.new] {
        let mut at = 0;
        while at < side.len() {
            let end = at + changed_from(side, at);
            if end > at && end < side.len() {
                prop_assert_ne!(side.lines(at, 1), side.lines(end, 1), "could slide on");
            }
            at = end + 1;
        }
    }
    Ok(())
}

/// Length of a longest common subsequence, by the table of all prefixes.
fn longest(old: &[&[u8]], new: &[&[u8]]) -> usize {
    let mut above = vec![0; new.len() + 1];
    for a in old {
        let mut row = vec![0; new.len() + 1];
        for (j, b) in new.iter().enumerate() {
            row[j + 1] = if a == b {
                above[j] + 1
            } else {
                above[j + 1].max(row[j])
            };
        }
        above = row;
    }
    above[new.len()]
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["", "a", "b", "\r", "é", "\u{1F600}x", "}"]),
        1 => Just("once"),
    ]
    .prop_flat_map(|text| {
        if text == "once" {
            (0..1000u32).prop_map(|n| format!("once {n}\n")).boxed()
        } else {
            Just(format!("{text}\n")).boxed()
        }
    })
}

/// Two texts: the second is the first one with some stretches replaced, or another one.
fn pair() -> impl Strategy<Value = (String, String)> {
    let edit = (
        any::<prop::sample::Index>(),
        0..6usize,
        prop::collection::vec(line(), 0..6),
    );
    let edited = (
        prop::collection::vec(line(), 0..60),
        prop::collection::vec(edit, 0..5),
    );
    let edited = edited.prop_map(|(lines, edits)| {
        let mut new = lines.clone();
        for (at, removed, added) in edits {
            let at = at.index(new.len() + 1);
            new.splice(at..new.len().min(at + removed), added);
        }
        (lines.concat(), new.concat())
    });
    let text = || prop::collection::vec(line(), 0..25).prop_map(|lines| lines.concat());
    let texts = prop_oneof![3 => edited, 1 => (text(), text())];
    (texts, any::<(bool, bool)>()).prop_map(|((mut old, mut new), (cut_old, cut_new))| {
        for (text, cut) in [(&mut old, cut_old), (&mut new, cut_new)] {
            if cut {
                text.pop();
            }
        }
        (old, new)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn hunks_are_those_of_the_whole_texts((before, after) in pair()) {
        let found = hunks(before.as_bytes(), after.as_bytes(), DEFAULT_BUDGET);
        prop_assert_eq!(found, reference(before.as_bytes(), after.as_bytes()));
    }

    #[test]
    fn hunks_lead_from_one_text_to_the_other((before, after) in pair(), budget in 0..200u64) {
        for budget in [budget, DEFAULT_BUDGET] {
            let found = hunks(before.as_bytes(), after.as_bytes(), budget);
            prop_assert_eq!(found.is_empty(), before == after);
            prop_assert_eq!(
                patched(&before, &after, &found),
                units(&after)
            );
            for hunk in &found {
                prop_assert_eq!(hunk.old.is_none(), before.is_empty());
            }
            let (before, after) = (before.as_bytes(), after.as_bytes());
            if found != reference(before, after) {
                prop_assert_eq!(found, [whole(before, after)]);
            }
        }
    }

    #[test]
    fn the_small_search_is_shortest_and_as_late_as_can_be((before, after) in pair()) {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        prop_assume!(before != after);
        let mut sides = Sides::new(before, after);
        let runs = small_script(&mut sides, u64::MAX).unwrap();
        apply(&mut sides, &runs);
        check_sides(before, after, &mut sides)?;
    }

    #[test]
    fn the_large_search_is_shortest_and_as_late_as_can_be((before, after) in pair()) {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        prop_assume!(before != after);
        let mut sides = Sides::new(before, after);
        let runs = large_script(&mut sides, u64::MAX).unwrap();
        apply(&mut sides, &runs);
        check_sides(before, after, &mut sides)?;
    }
}
