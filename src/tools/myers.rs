//! The shortest edit script between two sequences (E. W. Myers, "An O(ND) Difference Algorithm and
//! Its Variations", 1986), within a bound on the work.
//!
//! The greedy forward search is used, and the script is the one that its furthest points spell out:
//! each edit comes as late as the equal elements before it allow, and where the furthest points of
//! both neighbours are equally far, a removal is preferred. That is the choice of the common line
//! diffs of the JavaScript world, so scripts agree with theirs even where several are shortest.
//!
//! Only every 64th row of the search is kept. The way back runs through a block of rows at a time,
//! computed again from the kept row below it, and only as far aside as the end of the way can see.
//! That takes no recursion, at most as many steps again, and little memory: four bytes for every 64
//! steps, and so no more than the bound allows.

#[cfg(test)]
mod tests;

/// Distance of the rows that are kept.
const BLOCK: usize = 64;

/// Stands for a diagonal that no path has reached: behind every real position.
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
/// `same(i, j)` tells whether element `i` of the old and `j` of the new sequence are equal. Returns
/// the runs of equal elements in ascending order; everything outside of them is removed or added,
/// and no script does with less. Returns `None` if it took more than `budget` steps, a step being
/// one point of the search or one comparison; as many comparisons as there are elements are free.
pub fn common_runs(
    old_len: usize,
    new_len: usize,
    same: impl Fn(usize, usize) -> bool,
    budget: u64,
) -> Option<Vec<Run>> {
    let old = i32::try_from(old_len).ok()?;
    let new = i32::try_from(new_len).ok()?;
    old.checked_add(new)?.checked_add(3)?;
    let mut search = Search {
        old,
        new,
        same,
        furthest: vec![0; old_len + new_len + 3],
        spans: Vec::new(),
        kept: Vec::new(),
    };
    search.forward(budget)?;
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
    fn diagonals(self) -> impl Iterator<Item = i32> {
        (self.lo..=self.hi).step_by(2)
    }

    fn intersect(self, other: Self) -> Self {
        Self {
            lo: self.lo.max(other.lo),
            hi: self.hi.min(other.hi),
        }
    }
}

struct Search<F> {
    old: i32,
    new: i32,
    same: F,
    /// For each diagonal the furthest old position of the last two rows.
    furthest: Vec<i32>,
    /// For each row its diagonals.
    spans: Vec<Span>,
    /// For each `BLOCK`th row the furthest positions, in the order of its diagonals.
    kept: Vec<Vec<i32>>,
}

impl<F: Fn(usize, usize) -> bool> Search<F> {
    /// Searches row by row until one reaches the end of both sequences.
    fn forward(&mut self, budget: u64) -> Option<()> {
        let free = self.old as u64 + self.new as u64;
        let mut points = 0;
        let mut compared = 0;
        let mut span = Span { lo: 0, hi: 0 };
        let mut before = Span { lo: 0, hi: -1 };
        loop {
            // Paths that have come to an edge of the grid need not be passed on outwards.
            let mut next = Span {
                lo: span.lo - 1,
                hi: span.hi + 1,
            };
            for diagonal in span.diagonals() {
                let from = self.branch(before, diagonal);
                let to = self.follow(from, diagonal);
                *self.cell(diagonal) = to;
                points += 1;
                compared += (to - from) as u64;
                if points + compared.saturating_sub(free) > budget {
                    return None;
                }
                let at_bottom = to - diagonal == self.new;
                if at_bottom {
                    next.lo = diagonal + 1;
                }
                if to == self.old {
                    next.hi = diagonal - 1;
                    span.hi = diagonal;
                    if at_bottom {
                        self.spans.push(span);
                        return Some(());
                    }
                    break;
                }
            }
            if self.spans.len().is_multiple_of(BLOCK) {
                let row = span
                    .diagonals()
                    .map(|diagonal| *self.cell(diagonal))
                    .collect();
                self.kept.push(row);
            }
            self.spans.push(span);
            before = span;
            span = next;
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
                let below = &block[row - 1 - first];
                let (from, next) = step(below.get(diagonal - 1), below.get(diagonal + 1), diagonal);
                push_run(&mut runs, from, to, diagonal);
                row -= 1;
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
        for (diagonal, to) in self.spans[first].diagonals().zip(kept) {
            *self.cell(diagonal) = to;
        }
        let mut rows = Vec::with_capacity(end - first);
        for row in first..end {
            let reach = (end - row) as i32;
            let seen = Span {
                lo: diagonal - reach,
                hi: diagonal + reach,
            };
            let span = self.spans[row].intersect(seen);
            if row > first {
                for diagonal in span.diagonals() {
                    let from = self.branch(self.spans[row - 1], diagonal);
                    *self.cell(diagonal) = self.follow(from, diagonal);
                }
            }
            let cells = span
                .diagonals()
                .map(|diagonal| *self.cell(diagonal))
                .collect();
            rows.push(Row { span, cells });
        }
        rows
    }

    /// Where a path enters a diagonal from the row before, whose diagonals are `before`.
    fn branch(&self, before: Span, diagonal: i32) -> i32 {
        if before.lo > before.hi {
            return 0;
        }
        let at = self.index(diagonal);
        let left = if diagonal > before.lo {
            self.furthest[at - 1]
        } else {
            NONE
        };
        let right = if diagonal < before.hi {
            self.furthest[at + 1]
        } else {
            NONE
        };
        step(left, right, diagonal).0
    }

    /// How far equal elements lead from old position `from` along a diagonal.
    fn follow(&self, from: i32, diagonal: i32) -> i32 {
        let end = self.old.min(self.new + diagonal);
        let mut to = from;
        while to < end && (self.same)(to as usize, (to - diagonal) as usize) {
            to += 1;
        }
        to
    }

    fn index(&self, diagonal: i32) -> usize {
        (diagonal + self.new + 1) as usize
    }

    fn cell(&mut self, diagonal: i32) -> &mut i32 {
        let at = self.index(diagonal);
        &mut self.furthest[at]
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
