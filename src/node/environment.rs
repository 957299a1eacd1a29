//! The end of the JavaScript environment that calls come from.
//!
//! A thread that ends takes its promises with it, but not what it queued. Nobody would learn of a
//! file that such a job still writes, so the end of the environment cancels all of its calls.

use std::cell::RefCell;

use napi::Env;
use tokio_util::sync::CancellationToken;

thread_local! {
    /// Fires at the end of this thread's environment. A thread has one environment at a time.
    static END: RefCell<Option<CancellationToken>> = const { RefCell::new(None) };
}

/// Watches for the end of `env`, once for each environment. Call it on its JavaScript thread before
/// the first call is made.
pub fn watch(env: &Env) -> napi::Result<()> {
    if END.with_borrow(Option::is_some) {
        return Ok(());
    }
    let end = CancellationToken::new();
    env.add_env_cleanup_hook(end.clone(), |end| {
        // A later environment of the same thread has an end of its own.
        END.take();
        end.cancel();
    })?;
    END.set(Some(end));
    Ok(())
}

/// A token for one call: the end of the environment cancels it too.
pub fn call_token() -> CancellationToken {
    END.with_borrow(|end| match end {
        Some(end) => end.child_token(),
        None => CancellationToken::new(),
    })
}
