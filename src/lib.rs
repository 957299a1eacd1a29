//! The native file engine of the DeepSeek Harness.
//!
//! ```text
//!  plugin/*.ts     Cordis plugins: registration, schemas, events; no file logic
//!        |
//!  node            what JavaScript sees: classes, functions, callbacks, errors, cancellation;
//!        |         the only room that knows Node-API
//!  tools           the executors of `read`, `write` and `edit`, generic over Provider and Hooks;
//!        |         windows and diffs
//!  fs              the local provider: identity, versions, text, listing, publication, edits
//!        |
//!  contract, text  what the rooms say to each other, and the form in which text travels
//! ```
//!
//! Arrows point down only. `ARCHITECTURE.md` walks a `read` and an `edit` through the rooms.
#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod contract;
mod fs;
mod memory;
// Test builds do not register the exports, so the compiler sees no use of them.
#[cfg_attr(test, allow(dead_code))]
mod node;
mod text;
mod tools;
