//! Which lines are removed and which are added.

use std::collections::HashSet;

use super::super::myers::{Run, common_runs};
use super::sides::{Side, Sides};

/// How much of the budget the first search may use: enough for about a thousand edits, and little
/// time lost if there are more.
const FIRST_SEARCH: u64 = 1 << 19;

/// Marks the lines of a shortest edit script; all lines from the first to the last difference, if
/// it is not found within the budget.
pub(super) fn mark(sides: &mut Sides, budget: u64) {
    let first = FIRST_SEARCH.min(budget);
    let runs = small_script(sides, first).or_else(|| large_script(sides, budget - first));
    if let Some(runs) = runs {
        apply(sides, &runs);
    }
}

/// Marks all lines outside of the runs, and only them. Lines are compared by digest, so the runs
/// are checked first: if one holds different lines of the same digest, all lines stay marked.
pub(super) fn apply(sides: &mut Sides, runs: &[Run]) {
    if !runs.iter().all(|run| is_true(sides, run)) {
        return;
    }
    for side in [&mut sides.old, &mut sides.new] {
        side.changed[sides.lead..].fill(true);
    }
    for run in runs {
        sides.old.keep(run.old, run.len);
        sides.new.keep(run.new, run.len);
    }
}

fn is_true(sides: &Sides, run: &Run) -> bool {
    sides.old.lines(run.old, run.len) == sides.new.lines(run.new, run.len)
}

/// Finds the unchanged lines if the difference is small, which is the usual case. Of the equal end
/// of the texts only the lines are split that can have a part in the choice of the script.
pub(super) fn small_script(sides: &mut Sides, budget: u64) -> Option<Vec<Run>> {
    let lead = sides.lead;
    let rest = sides.count_rest();
    let (old_len, new_len) = (sides.old.len() - lead + rest, sides.new.len() - lead + rest);
    let same = |i: usize, j: usize| {
        let (i, j) = (lead + i, lead + j);
        while i >= sides.old.len() || j >= sides.new.len() {
            sides.extend();
        }
        sides.old.keys[i] == sides.new.keys[j]
    };
    let mut runs = common_runs(old_len, new_len, rest, same, budget)?;
    for run in &mut runs {
        run.old += lead;
        run.new += lead;
    }
    Some(runs)
}

/// Finds the unchanged lines if the difference is large. Lines that are on one side only belong to
/// every script and are left out beforehand.
pub(super) fn large_script(sides: &mut Sides, budget: u64) -> Option<Vec<Run>> {
    while sides.extend() {}
    let old = shared_lines(&sides.old, &sides.new, sides.lead);
    let new = shared_lines(&sides.new, &sides.old, sides.lead);
    let old_keys: Vec<u64> = old.iter().map(|&index| sides.old.keys[index]).collect();
    let new_keys: Vec<u64> = new.iter().map(|&index| sides.new.keys[index]).collect();
    let (a, b) = (old_keys.as_slice(), new_keys.as_slice());
    let same = |i: usize, j: usize| a[i] == b[j];
    let runs = common_runs(old.len(), new.len(), sides.trail, same, budget)?;
    let lines = runs
        .iter()
        .flat_map(|run| (0..run.len).map(|at| (run.old + at, run.new + at)));
    Some(joined(lines.map(|(i, j)| (old[i], new[j]))))
}

/// Runs of the lines whose indices in both sides follow each other.
fn joined(lines: impl Iterator<Item = (usize, usize)>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (old, new) in lines {
        match runs.last_mut() {
            Some(run) if (run.old + run.len, run.new + run.len) == (old, new) => run.len += 1,
            _ => runs.push(Run { old, new, len: 1 }),
        }
    }
    runs
}

/// The indices of the lines of a side, behind the lead, that the other side has too.
fn shared_lines(side: &Side, other: &Side, lead: usize) -> Vec<usize> {
    let others: HashSet<u64> = other.keys[lead..].iter().copied().collect();
    (lead..side.len())
        .filter(|&index| others.contains(&side.keys[index]))
        .collect()
}
