//! The executors of the model-facing tools: arguments, provider calls in their order, outcome.
//!
//! One executor a tool serves every provider and every harness: it is generic over
//! [`Provider`](crate::contract::Provider) and [`Hooks`](crate::contract::Hooks). Contract: tools.

mod edit;
mod hunks;
mod myers;
mod read;
mod window;
mod write;

pub use edit::{EditArguments, edit};
pub use hunks::{DEFAULT_BUDGET, Hunk, hunks};
pub use read::{ReadArguments, ReadLimits, read};
pub use write::{WriteArguments, write};

use crate::contract::{Failure, Outcome};
use crate::text::is_blank;

/// Refuses a path of nothing but white space, as every tool does first.
fn check_path(path: &str) -> Outcome<()> {
    if is_blank(path) {
        return Err(Failure::Argument(
            "file_path must be a non-empty string".into(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod testing;
