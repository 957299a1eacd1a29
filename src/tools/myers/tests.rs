use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn runs(old: &[u8], new: &[u8]) -> Vec<Run> {
    common_runs(old.len(), new.len(), 0, |i, j| old[i] == new[j], u64::MAX).unwrap()
}

fn run(old: usize, new: usize, len: usize) -> Run {
    Run { old, new, len }
}

/// Length of a longest common subsequence, by the table of all prefixes.
fn longest(old: &[u8], new: &[u8]) -> usize {
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

/// The greedy search with every row kept whole and no path given up at an edge of the grid. A row
/// holds for each diagonal where its run starts and ends and which diagonal it came from.
fn plain(old: &[u8], new: &[u8]) -> Vec<Run> {
    let (n, m) = (old.len() as i64, new.len() as i64);
    let mut rows: Vec<BTreeMap<i64, (i64, i64, i64)>> = Vec::new();
    while rows
        .last()
        .is_none_or(|row| row.get(&(n - m)).is_none_or(|end| end.1 < n))
    {
        let d = rows.len() as i64;
        let mut row = BTreeMap::new();
        for k in (-d..=d).step_by(2) {
            let below = |k: i64| rows.last().and_then(|row| row.get(&k)).map(|end| end.1);
            let removed = below(k - 1).map(|x| (x + 1, k - 1)).filter(|x| x.0 <= n);
            let added = below(k + 1).map(|x| (x, k + 1)).filter(|x| x.0 - k <= m);
            let start = (d == 0).then_some((0, 0));
            let Some((from, source)) = start.or(match (removed, added) {
                (Some(x), Some(y)) if x.0 > y.0 => Some(x),
                (x, y) => y.or(x),
            }) else {
                continue;
            };
            let mut to = from;
            while to < n && to - k < m && old[to as usize] == new[(to - k) as usize] {
                to += 1;
            }
            row.insert(k, (from, to, source));
        }
        rows.push(row);
    }
    let mut found = Vec::new();
    let mut k = n - m;
    for row in rows.iter().rev() {
        let (from, to, source) = row[&k];
        if to > from {
            found.push(run(
                from as usize,
                (from - k) as usize,
                (to - from) as usize,
            ));
        }
        k = source;
    }
    found.reverse();
    found
}

fn check(old: &[u8], new: &[u8], runs: &[Run]) {
    let (mut i, mut j) = (0, 0);
    for run in runs {
        assert!(run.len > 0 && run.old >= i && run.new >= j);
        assert!(
            (run.old, run.new) != (i, j) || (i, j) == (0, 0),
            "runs that touch are one run"
        );
        assert_eq!(
            old[run.old..run.old + run.len],
            new[run.new..run.new + run.len]
        );
        (i, j) = (run.old + run.len, run.new + run.len);
    }
    assert!(i <= old.len() && j <= new.len());
}

#[test]
fn empty_and_equal_sequences() {
    assert_eq!(runs(b"", b""), []);
    assert_eq!(runs(b"", b"abc"), []);
    assert_eq!(runs(b"abc", b""), []);
    assert_eq!(runs(b"abc", b"xyz"), []);
    assert_eq!(runs(b"abc", b"abc"), [run(0, 0, 3)]);
}

#[test]
fn edits_come_as_late_as_possible() {
    assert_eq!(runs(b"prrrq", b"prrrrq"), [run(0, 0, 4), run(4, 5, 1)]);
    assert_eq!(runs(b"prrrrq", b"prrrq"), [run(0, 0, 4), run(5, 4, 1)]);
}

#[test]
fn removals_come_first() {
    assert_eq!(runs(b"axb", b"ayb"), [run(0, 0, 1), run(2, 2, 1)]);
    // Either letter of a swap could stay; the removal leads as far as the addition would.
    assert_eq!(runs(b"xy", b"yx"), [run(1, 0, 1)]);
}

#[test]
fn gives_up_behind_the_budget() {
    let old: Vec<u8> = (0..200).collect();
    let new: Vec<u8> = (0..200).rev().collect();
    let search = |budget| common_runs(200, 200, 0, |i, j| old[i] == new[j], budget);
    let enough = (0..)
        .map(|power| 1u64 << power)
        .find(|&budget| search(budget).is_some())
        .unwrap();
    assert!(enough > 10_000 && enough < 200_000, "{enough}");
    assert_eq!(search(enough / 4), None);
    assert_eq!(search(0), None);
    assert_eq!(search(enough), search(u64::MAX));
}

#[test]
fn the_way_along_equal_elements_counts() {
    // Two sequences of coins: at nearly every point a few of them agree by chance.
    let mut state = 1u32;
    let mut toss = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 31
    };
    let (old, new): (Vec<u32>, Vec<u32>) = (
        (0..2000).map(&mut toss).collect(),
        (0..2000).map(&mut toss).collect(),
    );
    let search = |budget| common_runs(2000, 2000, 0, |i, j| old[i] == new[j], budget);
    let common: usize = search(u64::MAX).unwrap().iter().map(|run| run.len).sum();
    let rows = 2 * (2000 - common as u64) + 1;
    assert_eq!(search(rows * (rows + 1) / 2), None);
    assert!(search(rows * (rows + 1) * 3).is_some());
}

#[test]
fn every_pair_on_the_way_counts() {
    // Few elements differ, so that the runs are long, but too many for the budget.
    let mut state = 1u32;
    let mut toss = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state < u32::MAX / 30
    };
    let (old, new): (Vec<bool>, Vec<bool>) = (
        (0..20_000).map(&mut toss).collect(),
        (0..20_000).map(&mut toss).collect(),
    );
    let mut pairs = 0;
    let same = |i: usize, j: usize| {
        pairs += u64::from(old[i] == new[j]);
        old[i] == new[j]
    };
    assert_eq!(common_runs(20_000, 20_000, 0, same, 50_000), None);
    assert!(pairs > 10_000 && pairs <= 90_000 + 20_000, "{pairs}");
}

#[test]
fn long_scripts_need_no_stack() {
    let new: Vec<usize> = (0..300_000).filter(|i| i % 3 > 0).collect();
    let found = common_runs(300_000, new.len(), 0, |i, j| i == new[j], 1 << 22);
    assert_eq!(found, None);
    let far = common_runs(1_000_000, 999_000, 0, |i, j| i == j + j / 999 + 1, u64::MAX).unwrap();
    assert_eq!(far.iter().map(|run| run.len).sum::<usize>(), 999_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn short_sequences_keep_the_most(
        old in prop::collection::vec(0..4u8, 0..24),
        new in prop::collection::vec(0..4u8, 0..24),
    ) {
        let found = runs(&old, &new);
        check(&old, &new, &found);
        prop_assert_eq!(found.iter().map(|run| run.len).sum::<usize>(), longest(&old, &new));
        prop_assert_eq!(found, plain(&old, &new));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]

    #[test]
    fn scripts_of_many_blocks_are_the_same_as_with_all_rows_kept(
        old in prop::collection::vec(0..40u8, 100..400),
        new in prop::collection::vec(0..40u8, 100..400),
    ) {
        let found = runs(&old, &new);
        check(&old, &new, &found);
        prop_assert_eq!(found.iter().map(|run| run.len).sum::<usize>(), longest(&old, &new));
        prop_assert_eq!(found, plain(&old, &new));
    }
}
