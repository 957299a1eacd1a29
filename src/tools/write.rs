//! The `write` tool: a whole file, created or replaced. Contract: tools §5.

use super::check_path;
use super::hunks::{DEFAULT_BUDGET, Hunk, hunks};
use crate::contract::{Hooks, Observation, Operation, Outcome, Provider};
use crate::text::Text;

/// The arguments of one call, as the model sent them.
#[derive(Clone, Debug)]
pub struct WriteArguments {
    /// Path as given.
    pub path: String,
    /// Base of relative paths; `None` leaves it to the provider.
    pub cwd: Option<String>,
    /// The whole new content.
    pub content: Text,
}

/// What a call did.
#[derive(Debug)]
pub struct WriteResult {
    /// Absolute path as spelled.
    pub path: String,
    /// Created or replaced.
    pub operation: Operation,
    /// Former text, where there was one to compare with.
    pub before: Option<Text>,
    /// New text.
    pub after: Text,
    /// The difference of the two; empty without a former text.
    pub hunks: Vec<Hunk>,
}

/// Creates or replaces a file under the guard that the harness decides.
pub async fn write<P: Provider, H: Hooks>(
    provider: &P,
    hooks: &H,
    arguments: WriteArguments,
) -> Outcome<WriteResult> {
    check_path(&arguments.path)?;
    let authorization = hooks.authorize().await?;
    let cwd = authorization.base.or(arguments.cwd);
    let target = provider.resolve(&arguments.path, cwd.as_deref()).await?;
    let intent = hooks.write_intent(&target).await?;
    let outcome = provider
        .write_text(
            &target,
            arguments.content,
            intent,
            authorization.confinement,
        )
        .await
        .map_err(|failure| hooks.explain(failure))?;
    hooks.observed(&target, Observation::Present(outcome.version));
    let changes = match &outcome.before {
        Some(before) => hunks(before.as_bytes(), outcome.after.as_bytes(), DEFAULT_BUDGET),
        None => Vec::new(),
    };
    Ok(WriteResult {
        path: target.display,
        operation: outcome.operation,
        before: outcome.before,
        after: outcome.after,
        hunks: changes,
    })
}
