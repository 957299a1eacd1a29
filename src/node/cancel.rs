//! Cancellation of one call.

use napi::Env;
use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

use super::environment;
use crate::contract::{Code, Failure, FsError, Outcome};

/// Cancels the call that it was handed to. A job looks at it between steps and chunks; what has
/// been published stays.
#[napi]
pub struct Cancellation {
    token: CancellationToken,
}

#[napi]
impl Cancellation {
    /// A cancellation for one call.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: &Env) -> napi::Result<Self> {
        Ok(Cancellation {
            token: environment::call_token(env)?,
        })
    }

    /// Cancels the call; once is enough.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.token.cancel();
    }
}

/// The token of an optional cancellation; without one, only the end of the environment cancels.
pub fn token_of(
    env: &Env,
    cancel: Option<ClassInstance<'_, Cancellation>>,
) -> napi::Result<CancellationToken> {
    match cancel {
        Some(cancel) => Ok(cancel.token.clone()),
        None => environment::call_token(env),
    }
}

/// The work, unless the call is cancelled by now.
pub fn unless_cancelled_before<T, F>(
    cancel: &CancellationToken,
    verb: &'static str,
    work: F,
) -> impl Future<Output = Outcome<T>> + use<T, F>
where
    F: Future<Output = Outcome<T>>,
{
    let cancelled = cancel.is_cancelled();
    async move {
        if cancelled {
            return Err(FsError::aborted(verb).into());
        }
        work.await
    }
}

/// The outcome of work that changes nothing, unless the call was cancelled before it settled. What
/// was said of the content (that it is no text) counts no more either.
pub fn unless_cancelled<T>(
    cancel: &CancellationToken,
    verb: &str,
    outcome: Outcome<T>,
) -> Outcome<T> {
    let of_content = match &outcome {
        Ok(_) => true,
        Err(Failure::Fs(error)) => error.code == Code::NotText,
        Err(_) => false,
    };
    if of_content && cancel.is_cancelled() {
        return Err(FsError::aborted(verb).into());
    }
    outcome
}
