//! Cancellation of one call.

use napi::bindgen_prelude::ClassInstance;
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

/// Cancels the call that it was handed to. A job looks at it between steps and chunks; what has
/// been published stays.
#[napi]
#[derive(Default)]
pub struct Cancellation {
    token: CancellationToken,
}

#[napi]
impl Cancellation {
    /// A cancellation for one call.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the call; once is enough.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.token.cancel();
    }
}

/// The token of an optional cancellation; without one, a token that nobody cancels.
pub fn token_of(cancel: Option<ClassInstance<'_, Cancellation>>) -> CancellationToken {
    cancel.map_or_else(CancellationToken::new, |cancel| cancel.token.clone())
}
