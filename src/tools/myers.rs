//! The shortest edit script between two sequences (E. W. Myers, "An O(ND) Difference Algorithm and
//! Its Variations", 1986), within a bound on the work.
//!
//! This is the greedy forward search, and the script is the one that its furthest points spell out:
//! each edit comes as late as the equal elements before it allow, and where the points of both
//! neighbours are equally far, a removal is preferred. That is the choice of the common JavaScript
//! line diffs, so scripts agree with theirs even where several are shortest.
//!
//! Only every 64th row of the search is kept. The way back runs through a block of rows at a time,
//! computed again from the kept row below it, and only as far aside as the end of the way can see.
//! That takes no recursion, no more steps than the search itself took, and little memory: four
//! bytes for 64 steps, so that a bound on the work is one on the memory too.

#[cfg(test)]
mod tests;

/// Distance of the rows that are kept.
const BLOCK: usize = 64;

/// What it costs, in steps, to find equal elements on a path, beside the elements: the processor
/// guesses that there are none, and most often is right.
const RUN_COST: u64 = 4;

/// Stands for the point of a diagonal that no path has reached: behind every real one.
const NONE: i32 = -1;

/// A run of equal elements: `len` of them from `old` in the old and from `new` in the new sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index of the first element in the old sequence.
    pub old: usize,
    /// Index of the first element in the new sequence.
    pub new: usize,
    /// Number of elements, at least one.
    pub len: usize,
}

/// Finds a longest common subsequence of two sequences of `old_len` and `new_len` elements.
///
/// The last `tail` elements of both are known to be equal. `same(i, j)` tells whether element `i`
/// of the old and `j` of the new sequence are; it is not asked about the tail, beyond what the
/// search has to know to make the same choices as without that knowledge.
///
/// Returns the runs of equal elements in ascending order; everything outside of them is removed or
/// added, and no script does with less. Returns `None` if that took more than `budget` steps, a
/// step being one point of the search or one pair of equal elements on its paths, and a run of them
/// four more; as many steps of the latter kinds as there are elements are free. The way back is not
/// counted.
pub fn common_runs(
    old_len: usize,
    new_len: usize,
    tail: usize,
    same: impl FnMut(usize, usize) -> bool,
    budget: u64,
) -> Option<Vec<Run>> {
    let old = i32::try_from(old_len).ok()?;
    let new = i32::try_from(new_len).ok()?;
    old.checked_add(new)?.checked_add(3)?;
    let mut search = Search {
        old,
        new,
        end: old - i32::try_from(tail).ok()?,
        same,
        furthest: vec![0; old_len + new_len + 3],
        spans: Vec::new(),
        kept: Vec::new(),
    };
    let free = old_len as u64 + new_len as u64;
    search.forward(Work { budget, free })?;
    Some(search.backward())
}

/// The diagonals of one row, every second one from `lo` to `hi`. A diagonal is the old position
/// minus the new one; the points of row `d` are reached with `d` edits.
#[derive(Clone, Copy)]
struct Span {
    lo: i32,
    hi: i32,
}

impl Span {
    fn len(self) -> usize {
        ((self.hi - self.lo) / 2 + 1) as usize
    }

    fn intersect(self, other: Self) -> Self {
        Self {
            lo: self.lo.max(other.lo),
            hi: self.hi.min(other.hi),
        }
    }
}

/// How a row ended.
enum Outcome {
    /// Short of the end; the diagonals of the next row.
    Next(Span),
    /// With a path at the end of both sequences, but for the equal tail.
    Arrived,
    /// With the budget used up.
    Exhausted,
}

/// What the search may still do.
struct Work {
    budget: u64,
    /// Steps along equal elements that do not count.
    free: u64,
}

impl Work {
    /// Takes steps off the budget. Tells whether there were so many.
    fn spend(&mut self, steps: u64) -> bool {
        let left = self.budget.checked_sub(steps);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }

    /// Accounts for steps along equal elements. Tells whether the budget allows them.
    fn walk(&mut self, steps: u64) -> bool {
        let free = self.free.min(steps);
        self.free -= free;
        self.spend(steps - free)
    }
}

struct Search<F> {
    old: i32,
    new: i32,
    /// Old position on the last diagonal from where on all is equal.
    end: i32,
    same: F,
    /// For each diagonal the furthest old position of the last two rows.
    furthest: Vec<i32>,
    /// For each row its diagonals.
    spans: Vec<Span>,
    /// For each `BLOCK`th row the furthest positions, in the order of its diagonals.
    kept: Vec<Vec<i32>>,
}

impl<F: FnMut(usize, usize) -> bool> Search<F> {
    /// Searches row by row until one reaches the end of both sequences.
    fn forward(&mut self, mut work: Work) -> Option<()> {
        // The first row is entered like the others, from a point that an addition leads on from.
        let mut before = Span { lo: 1, hi: 1 };
        let mut span = Span { lo: 0, hi: 0 };
        loop {
            let outcome = self.row(before, &mut span, &mut work);
            if self.spans.len().is_multiple_of(BLOCK) {
                self.kept.push(self.cells(span));
            }
            self.spans.push(span);
            match outcome {
                Outcome::Next(next) => (before, span) = (span, next),
                Outcome::Arrived => return Some(()),
                Outcome::Exhausted => return None,
            }
        }
    }

    /// Computes the furthest points of the row `span` from those of the row `before`. Drops what of
    /// the row lies behind a point at the end of the old sequence: it cannot matter any more.
    fn row(&mut self, before: Span, span: &mut Span, work: &mut Work) -> Outcome {
        let mut at = self.index(span.lo);
        if span.lo - 1 < before.lo {
            self.furthest[at - 1] = NONE;
        }
        if span.hi + 1 > before.hi {
            self.furthest[at + 2 * span.len() - 1] = NONE;
        }
        let last = self.old - self.new;
        // Paths that have come to an edge of the grid need not be passed on outwards.
        let mut next = Span {
            lo: span.lo - 1,
            hi: span.hi + 1,
        };
        let mut diagonal = span.lo;
        while diagonal <= span.hi {
            // The further of both neighbours, as `step` chooses it.
            let from = self.furthest[at + 1].max(self.furthest[at - 1] + 1);
            let edge = self.old.min(self.new + diagonal);
            let end = if diagonal == last { self.end } else { edge };
            let mut to = from;
            while to < end && (self.same)(to as usize, (to - diagonal) as usize) {
                to += 1;
            }
            self.furthest[at] = to;
            if to > from && !work.walk(RUN_COST + (to - from) as u64) {
                return Outcome::Exhausted;
            }
            if to >= end {
                if diagonal == last {
                    return Outcome::Arrived;
                }
                if to - diagonal == self.new {
                    next.lo = diagonal + 1;
                } else {
                    next.hi = diagonal - 1;
                    span.hi = diagonal;
                }
            }
            diagonal += 2;
            at += 2;
        }
        if work.spend(span.len() as u64) {
            Outcome::Next(next)
        } else {
            Outcome::Exhausted
        }
    }

    /// Walks from the end back to the start and collects the runs.
    fn backward(&mut self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut row = self.spans.len() - 1;
        let mut diagonal = self.old - self.new;
        let mut to = self.old;
        while row > 0 {
            let first = (row - 1) / BLOCK * BLOCK;
            let block = self.block(first, row, diagonal);
            while row > first {
                row -= 1;
                let below = &block[row - first];
                let (from, next) = step(below.get(diagonal - 1), below.get(diagonal + 1), diagonal);
                push_run(&mut runs, from, to, diagonal);
                diagonal = next;
                to = below.get(diagonal);
            }
        }
        push_run(&mut runs, 0, to, diagonal);
        runs.reverse();
        runs
    }

    /// Computes the rows from `first`, which is kept, to the one below `end` again, as far as they
    /// have a part in the point of row `end` on `diagonal`.
    fn block(&mut self, first: usize, end: usize, diagonal: i32) -> Vec<Row> {
        let kept = std::mem::take(&mut self.kept[first / BLOCK]);
        let mut at = self.index(self.spans[first].lo);
        for to in kept {
            self.furthest[at] = to;
            at += 2;
        }
        let mut unbounded = Work {
            budget: u64::MAX,
            free: u64::MAX,
        };
        let mut rows = Vec::with_capacity(end - first);
        for row in first..end {
            let reach = (end - row) as i32;
            let seen = Span {
                lo: diagonal - reach,
                hi: diagonal + reach,
            };
            let mut span = self.spans[row].intersect(seen);
            if row > first {
                self.row(self.spans[row - 1], &mut span, &mut unbounded);
            }
            rows.push(Row {
                span,
                cells: self.cells(span),
            });
        }
        rows
    }

    fn cells(&self, span: Span) -> Vec<i32> {
        let at = self.index(span.lo);
        self.furthest[at..]
            .iter()
            .step_by(2)
            .take(span.len())
            .copied()
            .collect()
    }

    fn index(&self, diagonal: i32) -> usize {
        (diagonal + self.new + 1) as usize
    }
}

/// A part of a row, kept for the way back.
struct Row {
    span: Span,
    cells: Vec<i32>,
}

impl Row {
    fn get(&self, diagonal: i32) -> i32 {
        let inside = diagonal >= self.span.lo && diagonal <= self.span.hi;
        if inside {
            self.cells[((diagonal - self.span.lo) / 2) as usize]
        } else {
            NONE
        }
    }
}

/// One edit onto `diagonal`: a removal from the furthest point of the diagonal to the left, or an
/// addition from that of the diagonal to the right. Returns the old position after the edit and the
/// diagonal it came from.
fn step(left: i32, right: i32, diagonal: i32) -> (i32, i32) {
    if left < right {
        (right, diagonal + 1)
    } else {
        (left + 1, diagonal - 1)
    }
}

/// Adds the run from old position `from` to `to` on a diagonal, if there is one.
fn push_run(runs: &mut Vec<Run>, from: i32, to: i32, diagonal: i32) {
    if to > from {
        let new = (from - diagonal) as usize;
        runs.push(Run {
            old: from as usize,
            new,
            len: (to - from) as usize,
        });
    }
}
