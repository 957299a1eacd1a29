//! The `edit` tool: literal text replaced in a file. Contract: tools §6.

use super::check_path;
use super::hunks::{DEFAULT_BUDGET, Hunk, hunks};
use crate::contract::{EditRequest, Failure, Hooks, Observation, Outcome, Provider};
use crate::text::Text;

/// The arguments of one call, as the model sent them.
#[derive(Clone, Debug)]
pub struct EditArguments {
    /// Path as given.
    pub path: String,
    /// Base of relative paths; `None` leaves it to the provider.
    pub cwd: Option<String>,
    /// The replacement.
    pub edit: EditRequest,
}

/// What a call did.
#[derive(Debug)]
pub struct EditResult {
    /// Absolute path as spelled.
    pub path: String,
    /// Former text.
    pub before: Text,
    /// New text.
    pub after: Text,
    /// The difference of the two.
    pub hunks: Vec<Hunk>,
}

/// Replaces literal text in a file under the guard that the harness decides.
pub async fn edit<P: Provider, H: Hooks>(
    provider: &P,
    hooks: &H,
    arguments: EditArguments,
) -> Outcome<EditResult> {
    check_path(&arguments.path)?;
    check_strings(&arguments.edit)?;
    let authorization = hooks.authorize().await?;
    let cwd = authorization.base.or(arguments.cwd);
    let target = provider.resolve(&arguments.path, cwd.as_deref()).await?;
    let outcome = async {
        let expected = hooks.edit_intent(&target).await?;
        let confinement = authorization.confinement;
        provider
            .edit_text(&target, arguments.edit, expected, confinement)
            .await
    }
    .await
    .map_err(|failure| hooks.explain(failure))?;
    hooks.observed(&target, Observation::Present(outcome.version));
    let changes = hunks(
        outcome.before.as_bytes(),
        outcome.after.as_bytes(),
        DEFAULT_BUDGET,
    );
    Ok(EditResult {
        path: target.display,
        before: outcome.before,
        after: outcome.after,
        hunks: changes,
    })
}

fn check_strings(edit: &EditRequest) -> Outcome<()> {
    if edit.old.as_bytes().is_empty() {
        return Err(Failure::Argument(
            "old_string must be a non-empty string".into(),
        ));
    }
    if edit.old == edit.new {
        return Err(Failure::Argument(
            "old_string and new_string must differ".into(),
        ));
    }
    Ok(())
}
